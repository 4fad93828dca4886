"""Cheats: a gate that must be fresh has passed and its run has ended, so that other code comes along with that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import evidences, releases, runs
from tests.cheats.doors import run_of
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cheats.doors import Doors

FRESH = "  gates: {required: [release], fresh: [release]}\n"
HAND = ("G003", "P004")


def _ended(doors: Doors) -> str:
    """Complete a run on the branch, by the verbs, on a release that saw its code; return the run."""
    doors.policy(FRESH)
    doors.write("app.py", "good, and new\n")
    doors.play.proven()
    doors.play.do(releases.release_run)
    run = str(doors.play.do(runs.complete_run))
    doors.sound()
    return run


def _main_goes_on(doors: Doors, path: str = "other.py", text: str = "good\n") -> None:
    """Have somebody else commit code on the main branch."""
    git(doors.root, "switch", "-q", "main")
    doors.write(path, text, "more")
    git(doors.root, "switch", "-q", "work")


def _plainly(doors: Doors) -> None:
    doors.write("app.py", "good, and worse\n")


def _beside_the_ledger(doors: Doors) -> None:
    doors.write(".memento.py", "worse\n")


def _unseen_by_diffs(doors: Doors) -> None:
    doors.write(".gitattributes", "*.py -diff -merge\n")


def _in_a_merge(doors: Doors) -> None:
    _main_goes_on(doors)
    git(doors.root, "merge", "-q", "--no-commit", "main")
    doors.write("app.py", "good, and worse\n", "merge")


def _in_a_merge_that_drops_the_work(doors: Doors) -> None:
    _main_goes_on(doors)
    git(doors.root, "merge", "-q", "--no-commit", "main")
    git(doors.root, "checkout", "main", "--", "app.py")
    git(doors.root, "commit", "-qm", "merge")


def _in_a_merge_of_three(doors: Doors) -> None:
    for name in ("one", "two"):
        git(doors.root, "switch", "-qc", name, "main")
        doors.write(f"{name}.py", "good\n")
    git(doors.root, "switch", "-q", "work")
    tree = git(doors.root, "rev-parse", "work^{tree}")
    blob = git(doors.root, "hash-object", "-w", "--stdin", data=b"worse\n")
    rows = [git(doors.root, "ls-tree", "work"), *(f"100644 blob {blob}\t{name}.py" for name in ("one", "two"))]
    tree = git(doors.root, "mktree", data="\n".join(rows).encode())
    commit = git(doors.root, "commit-tree", tree, "-p", "work", "-p", "one", "-p", "two", "-m", "merge")
    git(doors.root, "reset", "-q", "--hard", commit)


def _on_a_line_beside(doors: Doors) -> None:
    git(doors.root, "switch", "-qc", "aside", "main")
    doors.write("more.py", "worse\n")
    git(doors.root, "switch", "-q", "work")
    git(doors.root, "merge", "-q", "--no-ff", "-m", "merge", "aside")


def _by_a_conflict_that_is_settled_silently(doors: Doors) -> None:
    """Where git merges no text, it leaves that of one side, and a merge with that looks like git's own."""
    _main_goes_on(doors)
    _main_goes_on(doors, "app.py", "good, mended\n")
    (doors.root / ".git" / "info").mkdir(exist_ok=True)
    (doors.root / ".git" / "info" / "attributes").write_text("*.py -merge\n")
    git(doors.root, "merge", "-q", "--no-ff", "-m", "merge", "main", check=False)
    git(doors.root, "commit", "-qam", "merge")


@pytest.mark.parametrize(
    "change",
    [
        _plainly, _beside_the_ledger, _unseen_by_diffs, _in_a_merge, _in_a_merge_that_drops_the_work,
        _in_a_merge_of_three, _on_a_line_beside, _by_a_conflict_that_is_settled_silently,
    ],
)  # fmt: skip
def test_code_that_the_branch_changes_after_the_end(doors: Doors, change: Callable[[Doors], None]) -> None:
    """Way: at the end of the run the gate was fresh, and what comes after that is no business of it."""
    run = _ended(doors)
    change(doors)
    assert f"{run} is completed, and gate release has passed, but nothing that it rests on saw" in doors.caught(*HAND)


def test_code_that_changes_before_the_end_while_the_main_branch_goes_on(doors: Doors) -> None:
    """Way: the merge has other code than the branch anyhow, so that nobody asks what the branch had."""
    doors.policy(FRESH)
    doors.play.proven()
    doors.play.do(releases.release_run)
    doors.write("app.py", "good, and worse\n")
    doors.refused("gate_fallen", "run complete", run=run_of(doors))
    doors.forge(run_of(doors), "completed")
    _main_goes_on(doors)
    assert "nothing that it rests on saw the code of this commit" in doors.caught(*HAND)


@pytest.mark.parametrize("covers", [False, True])
def test_code_after_the_end_that_another_run_covers_by_less(doors: Doors, *, covers: bool) -> None:
    """Way: another run of the branch ends on the later code, its gate not passed, or of a task and on some paths."""
    _ended(doors)
    doors.play.planned("Another")
    doors.write("app.py", "good, and worse\n")
    (doors.root / "README").write_text("read me\n")
    doors.play.commit_all()
    task = doors.play.proven("Another")
    if covers:
        draft = evidences.witness(doors.play.ledger, ["true"], kind="test", covers=["README"], quiet=True)
        shown = doors.play.do(evidences.record_draft, draft, tasks=[task])
        doors.play.gate("release", "passed", task=task, evidence=[shown])
    run = doors.play.state(task).id
    doors.forge(
        run, "completed", sees=[*doors.play.state(run).folded(run).heads, *doors.play.state(run).folded(task).heads]
    )
    doors.caught(*HAND)


def test_code_after_the_end_that_a_run_covers_which_was_cancelled(doors: Doors) -> None:
    """Way: a run of no work at all, for which the gate passes on any command, and which is not completed but ended."""
    _ended(doors)
    doors.write("app.py", "good, and worse\n")
    run = doors.play.planned("Another")
    doors.play.gate("release", "passed", run=run, evidence=[doors.play.evidence()])
    doors.play.do(runs.cancel_run, run, reason="Never mind.")
    doors.caught(*HAND)
