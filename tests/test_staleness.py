"""What is told of evidence that saw other code: that it is stale, and what passed on this code since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import evidences
from memento_git.work.overview import overview
from memento_git.work.proof.staleness import mark_stale
from tests.play import git

if TYPE_CHECKING:
    from memento_git.model.run_rows import RunRows
    from tests.play import Play


@pytest.fixture
def first(play: Play, run: str) -> str:
    """Return a task that was proven on code that is another by now."""
    task = play.proven("First")
    play.commit("app.py", "answer = 43\n")
    return task


def told(held: RunRows, task: str) -> Any:
    row = next(row for row in held["tasks"] if row["id"] == task)
    return row["stale"], row.get("passed_since", [])


def test_what_proves_a_later_task_is_told_to_have_passed_since(play: Play, first: str) -> None:
    assert told(play.overview(), first) == (True, [])
    later = play.task("Later")
    dispatch, shown = play.claimed(later), play.evidence(later)
    assert told(play.overview(), first) == (True, []), "it proves nothing yet"
    play.complete(dispatch, shown)
    assert told(play.overview(), first) == (True, [shown])
    assert told(play.overview(), later) == (False, [])


def test_a_pass_about_some_paths_alone_is_none_of_all_code(play: Play, first: str) -> None:
    later = play.task("Later")
    dispatch = play.claimed(later)
    draft = evidences.witness(play.ledger, ["sh", "-c", "echo checked; exit 0"], kind="test", covers="app.py")
    play.complete(dispatch, play.do(evidences.record_draft, draft, tasks=[later]))
    assert told(play.overview(), first) == (True, [])


def test_a_fresh_pass_about_some_paths_does_not_hide_what_a_later_task_passed(play: Play, run: str) -> None:
    play.commit("other.py", "question = 6\n")
    task = play.task("First")
    dispatch, whole = play.claimed(task), play.evidence(task)
    draft = evidences.witness(play.ledger, ["sh", "-c", "echo checked; exit 0"], kind="test", covers="other.py")
    play.complete(dispatch, whole, play.do(evidences.record_draft, draft, tasks=[task]))
    play.commit("app.py", "answer = 43\n")
    later = play.task("Later")
    dispatch, shown = play.claimed(later), play.evidence(later)
    play.complete(dispatch, shown)
    row = next(row for row in play.overview()["evidence"] if row["id"] == whole)
    assert (row["stale"], row["passed_since"]) == (True, shown)


def test_a_pass_that_is_trusted_less_is_not_told(play: Play, first: str) -> None:
    play.proven("Later")
    held, view = play.overview(), play.ledger.view()
    rows: list[Any] = [*held["evidence"]]
    tasks: list[Any] = [*held["tasks"]]
    for trust, said in (("witnessed", 1), ("reproduced", 0)):
        rows[0]["trust_level"] = trust
        mark_stale(view, rows, tasks)
        assert (tasks[0]["id"], tasks[0]["stale"], len(tasks[0]["passed_since"])) == (first, True, said)


def test_a_union_of_several_commits_has_no_one_code(play: Play, first: str) -> None:
    git(play.root, "branch", "other", "HEAD~1")
    held = overview(play.ledger, play.ledger.view(["HEAD", "other"]), play.state(first).id)
    assert [row["stale"] for row in (*held["tasks"], *held["evidence"])] == [None, None]
