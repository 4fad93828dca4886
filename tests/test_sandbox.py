"""An executor that may only work in a sandbox is neither chosen nor started outside of one, whoever wishes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.model.policy import Policy
from memento_git.review.weakened import weakened
from memento_git.work.actions.pool import foresee_pool
from memento_git.work.actions.running import Order, run_dispatch
from memento_git.work.actions.starting import SandboxRequired
from memento_git.work.routing import probe
from memento_git.work.routing.executors import BUILT_IN, NO_WRAP, Executor, kept_boxed, known
from tests.hands import WRITE, config
from tests.play import Play

if TYPE_CHECKING:
    from tests.play import Call

# A sandbox of its own kind: it marks what it starts, and lets nothing begin elsewhere than in the folder it is given.
BOX = """\
import os, sys
place, argv = sys.argv[1], sys.argv[2:]
if os.path.realpath(place) != os.path.realpath(os.getcwd()):
    sys.exit("not in its folder")
os.execvpe(argv[0], argv, {**os.environ, "IN_THE_BOX": "yes"})
"""
INSIDE = f"import os; assert os.environ['IN_THE_BOX'] == 'yes'; {WRITE}"
UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--pid", "--fork")


@pytest.fixture
def box(tmp_path: Path) -> list[str]:
    """The argv of a sandbox that works."""
    (tmp_path / "box.py").write_text(BOX)
    return [sys.executable, str(tmp_path / "box.py"), "{worktree}"]


def required(play: Play, wrap: list[str] | None = None, code: str = INSIDE, **more: Any) -> None:
    """Let the table have a `caged` executor."""
    held: dict[str, Any] = {"run": [sys.executable, "-c", code], "sandbox": "required", **more}
    config(play, f"executors: {json.dumps({'caged': held | ({'wrap': wrap} if wrap else {})})}")


def routed(cli: Call, play: Play, task: str, *options: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(cli("task", "route", task, *options, "-C", str(play.root), "--json")[1])
    return told


def rejection(told: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((one for one in told["decision"]["rejected_executors"] if one["executor"] == name), None)


# The table.


def test_swe_agent_is_known_to_need_a_sandbox_and_another_command_does_not_change_that() -> None:
    assert BUILT_IN["swe-agent"].is_boxed
    assert [name for name, one in BUILT_IN.items() if one.is_boxed] == ["swe-agent"]
    changed = known(Policy(executors={"swe-agent": {"run": ["sweagent", "run", "{brief}"]}}))["swe-agent"]
    assert changed.is_boxed
    freed = known(Policy(executors={"swe-agent": {"sandbox": "none"}}))["swe-agent"]
    assert not freed.is_boxed


def test_its_command_comes_after_its_sandbox_and_both_are_filled_in() -> None:
    executor = Executor("x", ("do", "{brief}"), wrap=("box", "--bind", "{worktree}"))
    assert executor.argv({"brief": "/b", "worktree": "/w"}) == ["box", "--bind", "/w", "do", "/b"]


@pytest.mark.parametrize(("argv", "kept"), [
    (("sweagent", "run", "--x"), True), (("/opt/bin/sweagent", "run"), True), (("sweagent", "inspect"), False),
    (("codex", "exec"), False), (("sweagent",), False),
])  # fmt: skip
def test_a_command_keeps_the_sandbox_of_the_one_that_it_is(argv: tuple[str, ...], kept: bool) -> None:
    table = known(Policy(executors={"swe-agent": {"wrap": ["box"]}}))
    found, owner = kept_boxed(Executor("mine", argv), table)
    assert (found.is_boxed, found.wrap, found.name) == (kept, ("box",) if kept else (), "mine")
    assert owner == ("swe-agent" if kept else "mine")


def test_policy_that_lets_one_out_is_weaker() -> None:
    old = Policy(executors={"swe-agent": {"wrap": ["box"]}})
    assert weakened(old, Policy(executors={"swe-agent": {"sandbox": "none"}})) == [
        "executors.swe-agent.sandbox: it may work outside of one now"
    ]
    assert weakened(old, Policy(executors={"swe-agent": {"wrap": ["other"]}})) == [
        "executors.swe-agent.wrap: another sandbox now"
    ]
    assert weakened(Policy(), old) == weakened(old, old) == []


# Routing.


def test_without_a_sandbox_it_is_not_chosen_and_a_wish_does_not_change_that(play: Play, task: str, cli: Call) -> None:
    required(play)
    for name in ("caged", "swe-agent"):
        told = routed(cli, play, task)
        assert told["decision"]["selected_executor"] != name
        assert name not in told["decision"]["fallback_chain"]
        found = rejection(told, name)
        assert found is not None
        assert "sandbox" in found["rules"]
        assert NO_WRAP in found["reasons"]
        assert found["hard"]
        wished = routed(cli, play, task, "--executor", name)
        assert (wished["ok"], wished["error"]) == (False, "override_refused")
        assert wished["decision"]["user_override"]["honoured"] is False


def test_a_sandbox_that_is_not_there_or_does_not_work_is_none(
    play: Play, task: str, cli: Call, box: list[str], tmp_path: Path
) -> None:
    required(play, ["no-such-box"])
    found = rejection(routed(cli, play, task, "--no-health"), "caged")
    assert found is not None
    assert (found["rules"], found["reasons"]) == (["sandbox"], ["its sandbox no-such-box is not there"])
    required(play, [*box[:2], str(tmp_path)])
    found = rejection(routed(cli, play, task, "--executor", "caged"), "caged")
    assert found is not None
    assert found["rules"] == ["sandbox"]
    assert "exited with 1" in found["reasons"][0]


def test_with_a_sandbox_that_works_it_is_chosen_and_its_health_is_asked_inside(
    play: Play, task: str, cli: Call, box: list[str]
) -> None:
    health = [sys.executable, "-c", "import os; raise SystemExit(os.environ.get('IN_THE_BOX') != 'yes')"]
    required(play, box, health=health)
    told = routed(cli, play, task, "--executor", "caged")
    assert told["decision"]["selected_executor"] == "caged"
    required(play, box, health=[sys.executable, "-c", "raise SystemExit(3)"])
    found = rejection(routed(cli, play, task), "caged")
    assert found is not None
    assert "exited with 3" in found["reasons"][0]


def test_a_trial_of_a_sandbox_touches_nothing_of_the_checkout(play: Play, box: list[str]) -> None:
    executor = Executor("x", ("x",), sandbox="required", wrap=(*box, sys.executable, "-c", "open('trace', 'w')"))
    assert probe.boxed_ailment(executor, play.root) == ""
    assert not (play.root / "trace").exists()


# Running.


@pytest.mark.parametrize("wrap", [None, ["no-such-box"], [sys.executable, "-c", "raise SystemExit(1)"]], ids=str)
def test_it_is_not_run_without_a_sandbox_that_works(play: Play, task: str, cli: Call, wrap: list[str] | None) -> None:
    required(play, wrap)
    code, out, _ = cli("dispatch", "run", task, "--executor", "caged", "--json", "-C", str(play.root))
    assert (code, json.loads(out)["error"]) == (1, "sandbox_required")
    assert play.status(task) == "pending"
    with pytest.raises(SandboxRequired):
        run_dispatch(play.ledger, play.dispatch(task, "caged"), Order(shown=False))
    with pytest.raises(SandboxRequired):
        foresee_pool(play.ledger, Order("caged"))
    assert cli("dispatch", "work", "--executor", "caged", "-C", str(play.root))[0] == 1


def test_another_command_and_another_name_do_not_let_it_out(play: Play, task: str) -> None:
    config(play, "executors: {}")
    for order in (
        Order("swe-agent", ("sh", "-c", "true")),
        Order(argv=("sweagent", "run", "--x")),
        Order("human", ("sweagent", "run")),
    ):
        with pytest.raises(SandboxRequired) as refused:
            run_dispatch(play.ledger, task, order)
        assert NO_WRAP in refused.value.message
    assert play.status(task) == "pending"


def test_it_runs_in_its_sandbox_and_the_evidence_shows_that(play: Play, task: str, box: list[str]) -> None:
    required(play, box)
    outcome = run_dispatch(play.ledger, task, Order("caged", shown=False))
    assert outcome.status == "completed"
    assert play.is_proven(task)
    ran = play.state(task).evidence_named(outcome.evidence[0])
    assert ran.data["summary"].startswith("caged ran in its sandbox;")
    assert "box.py" in " ".join(ran.data["command"]["argv"])


def test_a_destructive_command_behind_a_sandbox_is_still_refused(play: Play, task: str, box: list[str]) -> None:
    from memento_git.work.dangers.guard import DestructiveArgv

    required(play, box)
    with pytest.raises(DestructiveArgv):
        run_dispatch(play.ledger, task, Order("caged", ("git", "push", "--force")))


def _works(argv: tuple[str, ...]) -> bool:
    try:
        return subprocess.run([*argv, "true"], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not _works(UNSHARE), reason="this machine lets nobody make namespaces")
def test_a_real_sandbox_keeps_the_network_from_an_executor(play: Play, task: str) -> None:
    look = (
        f"names = [l.split(':')[0].strip() for l in open('/proc/net/dev') if ':' in l]; assert names == ['lo']; {WRITE}"
    )
    required(play, list(UNSHARE), code=look)
    assert run_dispatch(play.ledger, task, Order("caged", shown=False)).status == "completed"
