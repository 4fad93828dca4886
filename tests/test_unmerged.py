"""Work that lies on a branch alone is told until it is merged, whichever way; code without it is not judged for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.verbs.doctor import examine
from memento_git.work import refusals as no
from memento_git.work.actions import runs, selections, verifying
from memento_git.work.actions.handover import HandoverOptions, hand_over
from tests.hands import WRITE, run
from tests.play import git
from tests.test_verifying import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play

TWICE = """
import subprocess
for text in ("half", "half\\ndone"):
    open("done.txt", "w").write(text + "\\n")
    subprocess.run(["git", "add", "done.txt"], check=True)
    subprocess.run(["git", "commit", "-qm", text[:4]], check=True)
"""


def warned(play: Play) -> list[str]:
    return [one.fix for one in examine(play.ledger) if one.name == "work trees" and one.status == "warn"]


def test_work_is_not_verified_before_it_is_merged(play: Play, task: str) -> None:
    branch = run(play, task, WRITE).branch
    before = git(play.root, "rev-parse", "HEAD")

    for act in (verify, lambda play, task: play.do(verifying.verify_task, task)):
        with pytest.raises(no.WorkUnmerged) as refused:
            act(play, task)
        assert f"git merge {branch};" in refused.value.hint
    assert git(play.root, "rev-parse", "HEAD") == before
    assert play.steps() == [f"git merge {branch}"]

    git(play.root, "merge", "-q", "--no-edit", branch)
    assert verify(play, task).accepted
    assert play.steps()[0].startswith("memento run complete")


def test_where_one_try_was_chosen_the_merge_of_another_is_not_verified(play: Play, task: str) -> None:
    lost, won = [hand_over(play.ledger, task, HandoverOptions("agent", candidate=True)).dispatch for _ in range(2)]
    other = run(play, lost, "open('done.txt', 'w').write('other\\n')").branch
    run(play, won, WRITE)
    with pytest.raises(no.WorkUnchosen, match="done 2 times") as unchosen:
        verify(play, task)
    assert f"memento dispatch select {task}" in unchosen.value.hint

    play.do(selections.select_candidate, task, dispatch=won, reason="shorter")
    git(play.root, "merge", "-q", "--no-edit", other)
    with pytest.raises(no.WorkUnmerged):
        verify(play, task)


def test_of_tries_among_which_nobody_chose_the_merge_of_any_is_verified(play: Play, task: str) -> None:
    opened = [hand_over(play.ledger, task, HandoverOptions("agent", candidate=True)).dispatch for _ in range(2)]
    tries = [run(play, one, f"open('done.txt', 'w').write({one!r})").branch for one in opened]
    git(play.root, "merge", "-q", "--no-edit", tries[0])
    assert verify(play, task).accepted


def test_a_run_that_is_completed_is_told_of_what_is_not_merged(play: Play, task: str, cli: Call) -> None:
    branch = run(play, task, WRITE).branch
    merge = f"git merge {branch}"

    out = cli("run", "complete", "-C", str(play.root))[2]
    assert merge in out
    assert play.steps()[0] == merge
    assert warned(play) == [merge]
    play.do(runs.archive_run)
    assert (play.steps(), warned(play)) == ([merge], [merge])
    git(play.root, "merge", "-q", "--no-edit", branch)
    assert (play.steps(), warned(play)) == ([], [])


def test_a_run_that_was_cancelled_wants_nothing_merged(play: Play, task: str) -> None:
    run(play, task, WRITE)
    play.do(runs.cancel_run, reason="no")
    assert [step for step in play.steps() if step.startswith("git")] == warned(play) == []


def test_work_that_was_rejected_before_its_merge_is_told_of(play: Play, task: str, monkeypatch: Any) -> None:
    branch = run(play, task, WRITE).branch
    with monkeypatch.context() as patched:
        patched.setattr(verifying, "_refuse_unmerged", lambda *_: None)
        assert not verify(play, task).accepted
    assert play.steps() == [f"git merge {branch}", f"memento task repair {task}"]


# What is merged another way is merged.


def go_on(play: Play, path: str = "other.py") -> None:
    with (play.root / path).open("a") as stream:
        stream.write("more = 1\n")
    play.commit_all("more")


def merged(play: Play, branch: str) -> None:
    git(play.root, "merge", "-q", "--no-ff", "--no-edit", branch)


def squashed(play: Play, branch: str) -> None:
    go_on(play)
    git(play.root, "merge", "-q", "--squash", branch)
    git(play.root, "commit", "-qm", "squashed")


def squashed_and_edited(play: Play, branch: str) -> None:
    squashed(play, branch)
    go_on(play, "done.txt")


def picked(play: Play, branch: str) -> None:
    go_on(play)
    git(play.root, "cherry-pick", f"main..{branch}")
    go_on(play, "done.txt")


def within_another(play: Play, branch: str) -> None:
    """Merge a branch to one for a pull request, with more work, and squash that."""
    git(play.root, "switch", "-qc", "request")
    merged(play, branch)
    go_on(play)
    git(play.root, "switch", "-q", "main")
    squashed(play, "request")


def removed(play: Play, branch: str) -> None:
    go_on(play, "done.txt")
    git(play.root, "branch", "-qD", branch)


@pytest.mark.parametrize("code", [WRITE, TWICE], ids=["one commit", "two commits"])
@pytest.mark.parametrize("way", [merged, squashed, squashed_and_edited, picked, within_another, removed])
def test_work_that_was_merged_another_way_is_verified(
    play: Play, task: str, way: Callable[[Play, str], None], code: str
) -> None:
    way(play, run(play, task, code).branch)
    objects = git(play.root, "count-objects")

    assert [step for step in play.steps() if step.startswith("git")] == []
    assert git(play.root, "count-objects") == objects, "who looks leaves nothing behind"
    assert verify(play, task).accepted
    play.do(runs.complete_run)
    assert play.ledger.warnings == []
    assert warned(play) == []


def test_git_is_asked_once_where_no_branch_is_left_to_merge(
    play: Play, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged(play, run(play, task, WRITE).branch)
    go_on(play)
    play.steps()
    asked: list[str] = []
    real = type(play.ledger.git)._run

    def noted(self: Any, *arguments: str, **options: Any) -> Any:
        asked.append(arguments[0])
        return real(self, *arguments, **options)

    monkeypatch.setattr(type(play.ledger.git), "_run", noted)
    play.steps()
    assert asked.count("for-each-ref") == 1
    assert not {"cherry", "merge-base", "commit-tree", "diff-tree"} & set(asked)
