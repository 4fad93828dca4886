"""All work of a run was proven at the base, and the branch breaks the code and ends the run on that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.review.diff_markdown import markdown
from memento_git.review.report import task_notes
from memento_git.work import answers
from memento_git.work.actions import evidences, runs, tasks
from memento_git.work.actions.comparing import compare
from memento_git.work.actions.verifying import verify_task
from memento_git.work.overview import overview
from tests.cheats.doors import run_of
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

TOLD = "is of other code than this commit's"
PASSED = "passed on this code since"


@pytest.fixture
def task(doors: Doors) -> str:
    """A task that is proven on the main branch."""
    found = doors.play.proven()
    doors.landed()
    return found


def broken(doors: Doors) -> None:
    (doors.root / "app.py").write_text("bad\n")
    doors.play.commit_all("faster")


def test_a_run_is_completed_on_code_that_the_branch_broke(doors: Doors, task: str) -> None:
    broken(doors)
    doors.sound()
    assert doors.check("--base", "main")[1] == []
    doors.play.do(runs.complete_run, run_of(doors))
    assert f"which proves {task}, {TOLD}" in doors.warned("C001")


def test_a_run_is_released_on_code_that_the_branch_broke(doors: Doors, task: str) -> None:
    broken(doors)
    doors.forge(run_of(doors), "passed", gate="release")
    assert f"which proves {task}, {TOLD}" in doors.caught("G003", told="C001")


def test_a_task_that_was_called_off_is_not_asked_for(doors: Doors, task: str) -> None:
    """No way: what does not count is not stale, nor is what was proven of the code as it is."""
    doors.play.do(tasks.reopen_task, task, reason="Not needed.")
    doors.play.do(tasks.cancel_task, task, reason="Not needed.")
    broken(doors)
    doors.play.proven("Another")
    doors.play.do(runs.complete_run, run_of(doors))
    assert [row for row in doors.check("--base", "main")[1] if row["code"] == "C001"] == []
    doors.sound()


def staled(doors: Doors, *, kind: str = "test") -> tuple[str, str]:
    """Return a task of the branch whose code went on, and another that was proven since."""
    first = doors.play.proven("First")
    broken(doors)
    second = doors.play.task("Second")
    doors.play.complete(doors.play.claimed(second), doors.play.evidence(second, kind=kind))
    return first, second


def warned(doors: Doors) -> list[str]:
    return [row["message"] for row in doors.check("--base", "main")[1] if row["code"] == "C001"]


def told_of(doors: Doors, task: str) -> tuple[bool, bool, bool]:
    """Return whether a task is told as stale, as passed since, and whether the diff calls it stale."""
    ledger = doors.play.ledger
    view = ledger.view()
    told = {row["id"]: row for row in overview(ledger, view, run_of(doors))["tasks"]}[task]
    alone = answers.shown(view, task, "task")
    assert (alone["stale"], alone["passed_since"]) == (told["stale"], told["passed_since"])
    text = markdown(compare(ledger, "main.."))
    since = bool(told["passed_since"])
    assert (PASSED in text, PASSED in "; ".join(task_notes(told, {}))) == (since,) * 2
    pieces = [answers.shown(view, name, "evidence")["passed_since"] for name in alone["proven_by"]]
    assert told["passed_since"] == (list(dict.fromkeys(pieces)) if since else [])
    return bool(told["stale"]), since, ", stale: " in text


@pytest.mark.parametrize(
    "asked", ["  require: [test]\n", "  verify: [{commands: [{run: [sh, -c, 'echo checked; exit 0'], kind: test}]}]\n"]
)
def test_what_proves_a_later_task_by_the_same_command_shows_it_of_this_one(doors: Doors, asked: str) -> None:
    """No way: the command passes for the code as it is, and the later task's completion rests on that."""
    doors.policy(asked)
    first, _ = staled(doors)
    assert warned(doors) == []
    assert told_of(doors, first) == (True, True, False)
    doors.play.do(runs.complete_run, run_of(doors))
    assert warned(doors) == []
    doors.sound()


def test_the_index_has_the_history_of_what_it_is_added_to(doors: Doors) -> None:
    """No way: so the hook does not call stale what `check` of the commit does not."""
    first, _ = staled(doors)
    doors.landed()
    doors.play.do(runs.complete_run, run_of(doors))
    for door, options, root in doors.arrivals():
        assert doors.check(*options, root=root)[1] == [], (door, first)


def test_a_later_pass_of_another_kind_shows_nothing(doors: Doors) -> None:
    first, _ = staled(doors, kind="lint")
    assert f"which proves {first}, {TOLD}" in doors.warned("C001")
    assert told_of(doors, first) == (True, False, True)


def test_a_later_pass_that_no_task_rests_on_shows_nothing(doors: Doors) -> None:
    """Way: nobody runs it again in CI, so anybody may write it by hand."""
    first, second = staled(doors)
    (doors.root / "app.py").write_text("worse\n")
    doors.play.commit_all("faster still")
    doors.play.evidence(second)
    assert sum(TOLD in one for one in warned(doors)) == 2
    assert f"which proves {first}, {TOLD}" in doors.warned("C001")


def test_a_later_pass_that_failed_on_the_same_code_since_shows_nothing(doors: Doors) -> None:
    """Way: a test fails now and then, and the run of it that passed proves another task; the next one failed."""
    first = doors.play.task("First")
    claim = doors.play.claimed(first)
    doors.play.complete(claim, _run(doors, first))
    broken(doors)
    second = doors.play.task("Second")
    doors.play.complete(doors.play.claimed(second), _run(doors, second))
    assert (warned(doors), told_of(doors, first)) == ([], (True, True, False))
    (doors.root / ".git" / "fails").touch()
    _run(doors, second)
    assert f"which proves {first}, {TOLD}" in doors.warned("C001")
    assert told_of(doors, first) == (True, False, True)
    (doors.root / ".git" / "fails").unlink()
    _run(doors, first)
    assert (warned(doors), told_of(doors, first)) == ([], (True, True, False))


def _run(doors: Doors, task: str) -> str:
    argv = ["sh", "-c", "test ! -e .git/fails"]
    draft = evidences.witness(doors.play.ledger, argv, kind="test", quiet=True)
    return str(doors.play.do(evidences.record_draft, draft, tasks=[task]))


def test_a_later_pass_on_paths_alone_shows_nothing_of_all_code(doors: Doors) -> None:
    first = doors.play.proven("First")
    broken(doors)
    second = doors.play.task("Second")
    claim = doors.play.claimed(second)
    argv = ["sh", "-c", "echo checked; exit 0"]
    draft = evidences.witness(doors.play.ledger, argv, kind="test", covers=["app.py"], quiet=True)
    doors.play.complete(claim, str(doors.play.do(evidences.record_draft, draft, tasks=[second])))
    assert f"which proves {first}, {TOLD}" in doors.warned("C001")


def test_a_pass_on_paths_alone_beside_one_of_all_code_is_not_told_as_its_pass(doors: Doors) -> None:
    """No way: the task has a fresh pass, which covers some paths alone, and the other one is of other code."""
    doors.play.commit("notes.txt", "new\n")
    task = doors.play.task("First")
    claim, whole = doors.play.claimed(task), doors.play.evidence(task)
    argv = ["sh", "-c", "echo checked; exit 0"]
    draft = evidences.witness(doors.play.ledger, argv, kind="test", covers=["notes.txt"], quiet=True)
    doors.play.complete(claim, whole, str(doors.play.do(evidences.record_draft, draft, tasks=[task])))
    broken(doors)
    told = answers.shown(doors.play.ledger.view(), whole, "evidence")
    assert (told["stale"], told["passed_since"]) == (True, None)
    doors.sound()


def test_a_pass_without_the_work_of_a_task_does_not_show_it(doors: Doors) -> None:
    """Way: the code that a task was completed on is never merged, and what passes here has not seen it."""
    first, claim = doors.play.task("First"), ""
    claim = doors.play.claimed(first)
    git(doors.root, "switch", "-qc", "apart")
    broken(doors)
    draft = evidences.witness(doors.play.ledger, ["sh", "-c", "echo checked; exit 0"], kind="test", quiet=True)
    git(doors.root, "switch", "-q", "-")
    shown = str(doors.play.do(evidences.record_draft, draft, tasks=[first]))
    doors.completed(first, shown, dispatch=claim, code=draft.data["code"])
    second = doors.play.proven("Second")
    assert doors.play.is_proven(second)
    assert [one for one in warned(doors) if f"which proves {first}, {TOLD}" in one]
    assert told_of(doors, first) == (True, False, True)
    assert f"which proves {first}, {TOLD}" in doors.warned("C001")


def test_a_later_pass_shows_nothing_of_work_that_was_never_committed(doors: Doors) -> None:
    """Way: the work lies beside what git tracks, and the code that it does track is in history."""
    doors.play.commit("app.py", "as it was\n")
    doors.landed()
    (doors.root / "feature.py").write_text("the work\n")
    first = doors.play.proven("First")
    (doors.root / "feature.py").unlink()
    broken(doors)
    doors.play.proven("Second")
    assert told_of(doors, first) == (True, True, False)
    assert f"which proves {first}, saw feature.py, which this commit does not have" in doors.warned("C007")
    doors.landed()
    doors.play.do(runs.complete_run, run_of(doors))
    doors.sound()


def test_work_that_was_accepted_where_it_landed_is_shown_by_later_passes(doors: Doors) -> None:
    """No way: a squash leaves no commit with the code of the completion, and the acceptance is of what landed."""
    first = doors.play.task("First")
    claim = doors.play.claimed(first)
    (doors.root / "scratch.py").write_text("not committed\n")
    git(doors.root, "add", "scratch.py")
    old = doors.play.evidence(first)
    doors.play.complete(claim, old)
    git(doors.root, "rm", "-qf", "scratch.py")
    broken(doors)
    landed = doors.play.evidence(first)
    assert doors.play.do(verify_task, first).accepted
    assert warned(doors) == []
    told = answers.shown(doors.play.ledger.view(), old, "evidence")
    assert (told["stale"], told["passed_since"]) == (True, landed)
    (doors.root / "app.py").write_text("worse\n")
    doors.play.commit_all("faster still")
    assert told_of(doors, first)[:2] == (True, False)
    doors.play.proven("Second")
    assert warned(doors) == []
    assert told_of(doors, first) == (True, True, False)
    doors.sound()


def test_what_was_accepted_for_one_task_shows_nothing_of_another_one_with_the_same_proof(doors: Doors) -> None:
    """Way: one run proves two tasks on code that never landed, and one of them is accepted on what did."""
    first, other = doors.play.task("First"), doors.play.task("Other")
    claims = [doors.play.claimed(task) for task in (first, other)]
    (doors.root / "scratch.py").write_text("not committed\n")
    git(doors.root, "add", "scratch.py")
    both = doors.play.evidence(first, other)
    for claim in claims:
        doors.play.complete(claim, both)
    git(doors.root, "rm", "-qf", "scratch.py")
    broken(doors)
    doors.play.evidence(first)
    assert doors.play.do(verify_task, first).accepted
    assert f"{both}, which proves {other}, {TOLD}" in doors.warned("C001")
    assert told_of(doors, other) == (True, False, True)
