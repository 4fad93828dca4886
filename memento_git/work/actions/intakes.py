"""intake: a message from outside becomes a task, once for each delivery; nothing is ever handed out by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memento_git.model.work import Prose
from memento_git.work.actions import tasks
from memento_git.work.dangers import guard
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction
    from memento_git.work.dispatch.intake import Message
    from memento_git.work.state import RunState


class Taken(NamedTuple):
    """The task of a delivery, whether it is new, and the destructive commands that its text names."""

    task: str
    created: bool
    dangers: list[dict[str, Any]]


def take_message(tx: Transaction, message: Message, *, run: str = "", **given: Any) -> Taken:
    """Add the task that a message asks for, or find the one that its delivery made before."""
    writer = RunWriter.of(tx)
    state = writer.run(run)
    known = _made_before(tx, state, message.source)
    if known:
        return Taken(known, created=False, dangers=dangers_of(writer.state(state.id), known))
    options = {key: value for key, value in given.items() if value}
    words = {"title": message.title, "body": message.body, "criteria": message.criteria}
    task = tasks.add_task(tx, run=state.id, **{**words, **options})
    prose = state.prose(task)
    source = {key: writer.text(key, value) for key, value in message.source.items()}
    writer.write(prose.path, {**prose.data, "source": source}, prose.body)
    found = dangers_of(writer.state(state.id), task)
    named = [
        f"the message names a destructive command ({row['rule']}, {row['where'].partition(', ')[2]}): {row['command']}"
        for row in found
    ]
    tx.ledger.warn(*message.notes, *named)
    return Taken(task, created=True, dangers=found)


def _made_before(tx: Transaction, state: RunState, source: dict[str, str]) -> str:
    """Return the run's task of the same delivery; only files that hold its id are decoded."""
    paths = {task: state.index.prose[task] for task in state.ids("task")}
    tx.view.fetch(list(paths.values()))
    wanted = source["delivery"].encode()
    for task, path in paths.items():
        if wanted in tx.view.contents.get(path, b"") and isinstance(found := tx.view.record(path), Prose):
            said = found.data.get("source") or {}
            if (said.get("delivery"), said.get("kind")) == (source["delivery"], source["kind"]):
                return task
    return ""


def dangers_of(state: RunState, task: str) -> list[dict[str, Any]]:
    """Return the destructive commands that a task's text names, as rows."""
    policy = state.policy
    return guard.rows(guard.dangers(policy, guard.texts_of(state.prose(task), "task")))
