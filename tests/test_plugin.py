"""The plugin for Hermes: the commands by name, whatever form their arguments come in, over a real ledger."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.cli.seed_names import NAMES
from memento_git.plugin import register
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Handlers = dict[str, "Callable[..., Any]"]


class Context:
    """What the plugin needs of Hermes, with what it is told of each command."""

    def __init__(self) -> None:
        self.handlers: Handlers = {}
        self.about: dict[str, dict[str, str]] = {}

    def register_command(self, name: str, handler: Callable[..., Any], **metadata: str) -> None:
        self.handlers[name] = handler
        self.about[name] = metadata


@pytest.fixture
def hermes(repo: Path) -> Callable[..., Any]:
    """Call a registered command in a repository with a ledger."""
    context = Context()
    register(context)

    def call(name: str, **values: Any) -> Any:
        return context.handlers[f"memento.{name}"]({"workspace": str(repo), **values})

    call("init")
    return call


def test_every_command_is_registered_with_its_name_and_what_it_does() -> None:
    context = Context()
    told = register(context)
    assert told == {
        "ok": True,
        "plugin": "memento",
        "registered": True,
        "commands": [f"memento.{one}" for one in NAMES],
    }
    assert list(context.handlers) == told["commands"]
    assert context.about["memento.start"]["description"] == "Same as memento run start."


def test_a_context_that_takes_no_metadata_or_no_commands_is_served_too() -> None:
    class Plain:
        def __init__(self) -> None:
            self.names: list[str] = []

        def register_command(self, name: str, _: object) -> None:
            self.names.append(name)

    plain = Plain()
    assert register(plain)["commands"] == plain.names
    assert register(object()) == {"ok": True, "plugin": "memento", "registered": False, "commands": []}


def test_the_entry_point_is_where_hermes_looks() -> None:
    (found,) = (one for one in entry_points(group="hermes_agent.plugins") if one.name == "memento")
    assert found.load().register is register


def test_a_run_goes_from_goal_to_completion_through_the_plugin(hermes: Callable[..., Any], repo: Path) -> None:
    run = hermes("start", goal="Ship it")["run"]["id"]
    plan = hermes("plan", run_id=run, title="Slice", body="Do it.")["plan"]["id"]
    assert hermes("approve-plan", run_id=run, plan_id=plan)["plan"]["status"] == "canonical"
    task = hermes("enqueue-event", run_id=run, title="X", acceptance_criteria=["it works", "it is fast"])["task"]
    assert task["acceptance_criteria"] == ["it works", "it is fast"]
    one = hermes("enqueue-event", run_id=run, title="Y", acceptance_criteria="a single one", kind="docs", risk="low")
    assert (one["task"]["acceptance_criteria"], one["task"]["kind"], one["task"]["risk"]) == (
        ["a single one"], "docs", "low",
    )  # fmt: skip
    dispatch = hermes("dispatch-task", run_id=run, task_id=task["id"], executor="hermes-profile")["dispatch_id"]
    hermes("claim-dispatch", dispatch_id=dispatch, executor="hermes-profile")
    (repo / "task.log").write_text("3 passed\n")
    git(repo, "add", "task.log")
    git(repo, "commit", "-qm", "log")
    done = hermes("complete-dispatch", dispatch_id=dispatch, executor="hermes-profile", evidence_uri="file://task.log")
    assert (done["ok"], done["task"]["status"]) == (True, "completed")
    assert hermes("status", run_id=run)["counts"]["completed"] == 1
    assert hermes("status", run_id="")["run"]["id"] == run


def test_arguments_come_as_a_mapping_as_json_or_as_words(repo: Path) -> None:
    context = Context()
    register(context)
    init, start = context.handlers["memento.init"], context.handlers["memento.start"]
    assert json.loads(init(json.dumps({"repo": str(repo)})))["ok"] is True
    words = start(f"workspace={repo} goal='Two words' allow-spike=true")
    assert isinstance(words, str)
    assert (json.loads(words)["run"]["goal"], json.loads(words)["run"]["spike"]) == ("Two words", True)
    assert start({"workspace": str(repo), "goal": "Mapped", "allow_spike": False})["run"]["spike"] is False


@pytest.mark.parametrize("given", ["{", "[1]", "goal", "goal='x", 7, {"no_such_key": "x"}, {"goal": {"a": "b"}}])
def test_arguments_that_cannot_be_read_are_refused_and_nothing_is_raised(given: Any) -> None:
    context = Context()
    register(context)
    told = context.handlers["memento.start"](given)
    answer = json.loads(told) if isinstance(given, str) else told
    assert (answer["ok"], answer["error"]) == (False, "arguments_invalid")


def test_a_refusal_is_an_answer_with_its_token(hermes: Callable[..., Any], capfd: pytest.CaptureFixture[str]) -> None:
    assert hermes("start") == {"ok": False, **{key: hermes("start")[key] for key in ("error", "message", "hint")}}
    assert hermes("start")["error"] == "goal_required"
    assert hermes("status", run_id="run_000000000000")["error"] == "run_not_found"
    assert capfd.readouterr().out == ""


def test_a_lesson_is_kept_and_found_again_and_what_passes_is_refused(hermes: Callable[..., Any]) -> None:
    run = hermes("start", goal="Ship it")["run"]["id"]
    lesson = "The repository uses pytest with xdist, and tests must not share ports."
    assert hermes("memory-writeback", run_id=run, lesson=lesson)["evidence"]["kind"] == "memory"
    assert [row["summary"] for row in hermes("memory-prefetch", query="xdist PORTS")["evidence"]] == [lesson]
    assert hermes("memory-prefetch", query="nothing of the kind")["evidence"] == []
    for volatile in (
        "Finished task_7k2m9p4x1c0d and all is well", "Fixed in commit 9a29d40 of the main branch",
        "See PR #12 for what was decided there", "The log is in /tmp/out.log on this box",
        "Tests are red right now, be careful", "Too short",
    ):  # fmt: skip
        assert hermes("memory-writeback", run_id=run, lesson=volatile)["error"] == "lesson_volatile", volatile
