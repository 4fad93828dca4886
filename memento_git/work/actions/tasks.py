"""task: add revise block reopen cancel."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import layout
from memento_git.model.enumeration import many
from memento_git.model.states import DONE, TRUSTS
from memento_git.model.types import PLACE, WORD, Decimal, problem_of
from memento_git.model.work import EVIDENCE_KINDS, Prose
from memento_git.texts.typed import Reason, TextInvalid, WordUnknown, lists, refuse_not_utf8
from memento_git.work import refusals as no
from memento_git.work import remedies
from memento_git.work.dispatch import handout
from memento_git.work.proof import proofs
from memento_git.work.run_writer import RunWriter, refuse_ended

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memento_git.ledger.transaction import Transaction


MOST: Final = 3


class PathUnfit(TextInvalid):
    sentence = "{given!r} names nothing inside the repository"
    hint_ = "give the path of a file or folder from the top, such as src/app.py, without .. and not the top itself"


class CommandUnfit(TextInvalid):
    sentence = "the command {command!r:.80} cannot be taken apart: {problem}"
    hint_ = "close each quote, as for a shell: 'pytest -k \"a b\"'; what is long belongs into a script"


class CostUnfit(TextInvalid):
    sentence = "{given!r:.60} is not a cost"
    hint_ = "give a number from 0 on, with at most three decimals, such as 2.5"


class KindUnfit(TextInvalid):
    sentence = "{given!r:.60} is not the word for a kind of work"
    hint_ = "take one word of small letters, digits, - and _, such as bug-fix"


@lists
def add_task(
    tx: Transaction, title: str, *, run: str = "", body: str = "", criteria: Sequence[str] = (),
    depends_on: Sequence[str] = (), files: Sequence[str] = (), kind: str = "", risk: str = "", size: str = "",
    role: str = "", commands: Sequence[str] = (), require: Sequence[str] = (), trust: str = "",
    attempts: int | None = None, cost: str = "",
) -> str:  # fmt: skip
    """Add a task to a run; return its id. `commands` are what verification runs, each as words of a shell."""
    writer = RunWriter.of(tx)
    state = writer.run(run)
    refuse_ended(state)
    task = tx.new_id("task")
    data = {
        "id": task,
        "title": writer.text("title", title, lines=False),
        "at": tx.moment(),
        "by": tx.actor,
        "criteria": writer.texts("criterion", criteria),
        "depends_on": writer.home(state.id, depends_on)[1],
        "files": [writer.name("the name of a file", place(given)) for given in files],
        "kind": _kind(kind),
        "risk": risk,
        "size": size,
        "role": writer.optional("role", role, lines=False),
        "verify": verification(writer, commands, require, trust),
        "budget": {key: value for key, value in (("attempts", attempts), ("cost", _cost(cost))) if value is not None},
    }
    writer.write(layout.prose_path(state.id, task), data, writer.optional("body", body))
    tx.touch(state.id, task)
    return task


def _cost(given: str) -> float | None:
    if given and problem_of(Decimal("a cost"), given):
        raise CostUnfit(given=given)
    return float(given) if given else None


def verification(writer: RunWriter, commands: Sequence[str], require: Sequence[str], trust: str) -> dict[str, Any]:
    """Return what verification shall ask, as a record holds it."""
    for where, given, known in (("require", require, EVIDENCE_KINDS), ("trust", [trust] if trust else [], TRUSTS)):
        for word in given:
            if word not in known:
                raise WordUnknown(where=where, problem=f"{word!r:.60} is not one of {', '.join(known)}")
    runs = [{"run": _words(writer.text("command", command, lines=False))} for command in commands]
    asked = {"evidence": list(require), "trust": trust, "commands": runs}
    return {key: value for key, value in asked.items() if value}


def _kind(given: str) -> str:
    """Return the word for a kind of work."""
    if given and not WORD.fits(given):
        raise KindUnfit(given=given)
    return given


def _words(command: str) -> list[str]:
    """Return the words of a command as a shell would split them; refuse what a shell would do besides."""
    from memento_git.work.dangers import shell

    try:
        words, part = shlex.split(command), shell.for_shell_alone(command)
    except (ValueError, shell.TooMuch) as error:
        raise CommandUnfit(command=command, problem=str(error) or "it is too long") from None
    if part:
        raise no.CommandForShell(command=command, part=part, line=shlex.quote(f"sh -c {shlex.quote(command)}"))
    return words


def place(given: str) -> str:
    """Return a path of the repository as records hold it."""
    refuse_not_utf8(given)
    clean = given.replace("\\", "/").removeprefix("./").rstrip("/")
    if not PLACE.fits(clean):
        raise PathUnfit(given=given)
    return clean


@lists
def revise_task(
    tx: Transaction, task: str, *, title: str = "", body: str = "", criteria: Sequence[str] | None = None,
    depends_on: Sequence[str] | None = None, kind: str = "", risk: str = "", role: str = "",
    commands: Sequence[str] = (), require: Sequence[str] = (), trust: str = "",
) -> str:  # fmt: skip
    """Change a task's words in place, comments in its file kept; what was proven for the old words is unproven."""
    writer = RunWriter.of(tx)
    identity, state = writer.find(task, "task")
    refuse_ended(state)
    prose = state.prose(identity)
    changes: dict[str, Any] = {}
    if title:
        changes["title"] = writer.text("title", title, lines=False)
    for key, value in (("kind", _kind(kind)), ("risk", risk), ("role", writer.optional("role", role, lines=False))):
        changes |= {key: value} if value else {}
    if asked := verification(writer, commands, require, trust):
        changes["verify"] = {**prose.data.get("verify", {}), **asked}
    if criteria is not None:
        changes["criteria"] = writer.texts("criterion", criteria)
    if depends_on is not None:
        changes["depends_on"] = writer.home(state.id, depends_on)[1]
        graph = {
            other: found.list("depends_on")
            for other, path in state.index.prose.items()
            if isinstance(found := tx.view.record(path), Prose)
        }
        refuse_cycle({**graph, identity: changes["depends_on"]}, identity)
    writer.rewrite(prose.path, prose.data, changes, writer.optional("body", body))
    tx.touch(state.id, identity)
    handed = state.folded(identity).lanes.open_dispatches()
    unread = [why for name in handed if (why := handout.changed_terms(state, identity, name)) is not None]
    tx.ledger.warn(*(f"{why.message}; {why.hint}" for why in unread))
    return identity


def refuse_cycle(graph: Mapping[str, Sequence[str]], start: str) -> None:
    """Refuse dependencies that lead back to where they start; a cycle elsewhere is not this change's."""
    waiting, seen = [[start]], set[str]()
    while waiting:
        way = waiting.pop()
        for other in graph.get(way[-1], ()):
            if other == start:
                raise no.DependencyCycle(cycle=" -> ".join([*way, start]))
            if other not in seen:
                seen.add(other)
                waiting.append([*way, other])


def block_task(tx: Transaction, task: str, *, reason: Reason = "") -> str:
    """Say that a task cannot go on; what was handed out is withdrawn."""
    return _moved(tx, task, "blocked", "blocking a task", reason)


def reopen_task(tx: Transaction, task: str, *, reason: Reason = "") -> str:
    """Take a settled or blocked task back to pending; what its own gate refused is rejected, and repaired."""
    identity, state = RunWriter.of(tx).find(task, "task")
    if not state.is_final and state.task_status(identity) in (*DONE, "rejected"):
        for _, gate in state.failed_gates(identity):
            raise no.GateRefused(task=identity, gate=gate, how=remedies.redoing(identity))
    return _moved(tx, task, "reopened", "reopening a task", reason)


def cancel_task(tx: Transaction, task: str, *, reason: Reason = "") -> str:
    """Say that a task will not be done, and tell which tasks wait for it and what can be done for them."""
    identity = _moved(tx, task, "cancelled", "cancelling a task", reason)
    state = RunWriter.of(tx).find(identity, "task")[1]
    waiting = [other for other in proofs.dependents(state, identity) if state.task_status(other) == "pending"]
    tx.ledger.warn(*(f"{other} waits for {identity}: {proofs.leaving_out(state, other)}" for other in waiting[:MOST]))
    if waiting[MOST:]:
        tx.ledger.warn(
            f"{many(len(waiting) - MOST, 'more task waits', 'more tasks wait')} for {identity}: memento status"
        )
    return identity


def _moved(tx: Transaction, task: str, do: str, verb: str, reason: str) -> str:
    from memento_git.ledger import claims
    from memento_git.work.actions import worktrees

    writer = RunWriter.of(tx)
    identity, state = writer.find(task, "task")
    state.prose(identity)
    open_before = state.folded(identity).lanes.open_dispatches()
    for dispatch in open_before:
        worktrees.refuse_elsewhere(tx, state, identity, dispatch, but="claimed")
    writer.append(state, identity, do, reads=(state.id,), reason=writer.reason(verb, reason))
    for dispatch in open_before:
        claims.release_later(tx, identity, dispatch)
    return identity
