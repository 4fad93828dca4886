"""Files that a test saw and that nobody committed: said when the work is completed, and in the pull request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memento_git.review.actions import check
from memento_git.work.actions import evidences, runs
from tests.play import Play, git

if TYPE_CHECKING:
    from tests.play import Call

NEW = "helper.py"


@pytest.fixture
def play(play: Play, run: str) -> Play:
    """A branch of a run with a plan, and a new file of code that git does not track."""
    git(play.root, "switch", "-qc", "work")
    (play.root / NEW).write_text("answer = 7\n")
    return play


def told(play: Play, base: str = "main") -> list[str]:
    return [one.message for one in check(play.ledger, base=base).findings if one.code == "C007"]


def test_a_file_that_was_never_committed_is_told_until_it_is(play: Play) -> None:
    task = play.proven()
    (message,) = told(play)
    assert f"which proves {task}, saw {NEW}, which this commit does not have" in message
    play.commit_all()
    assert told(play) == []


def test_once_the_run_has_ended_the_fix_moves_nothing_of_it(play: Play) -> None:
    play.proven()
    play.do(runs.complete_run)
    (fix,) = [one.fix for one in check(play.ledger, base="main").findings if one.code == "C007"]
    assert fix == "commit what is needed"


def test_it_is_told_of_evidence_of_other_code_too(play: Play) -> None:
    play.proven()
    (play.root / "app.py").write_text("other = 1\n")
    git(play.root, "commit", "-qam", "code")
    assert {one.code for one in check(play.ledger, base="main").findings} == {"C001", "C007"}


def test_a_file_that_was_renamed_or_edited_before_its_commit_is_there(play: Play) -> None:
    play.proven()
    (play.root / NEW).rename(play.root / "better.py")
    play.commit_all()
    assert told(play) == []
    (play.root / NEW).write_text("answer = 8\n")
    play.proven()
    play.commit(NEW, "answer = 9\n")
    assert told(play) == []


def test_a_copy_of_what_is_committed_elsewhere_is_told(play: Play) -> None:
    (play.root / NEW).write_bytes((play.root / "app.py").read_bytes())
    play.proven()
    (message,) = told(play)
    assert f"saw {NEW}, which this commit does not have" in message
    play.commit_all()
    assert told(play) == []


def test_a_later_pass_without_it_will_do(play: Play) -> None:
    task = play.task()
    dispatch, first = play.claimed(task), play.evidence(task)
    (play.root / NEW).unlink()
    play.complete(dispatch, first, play.evidence(task))
    assert told(play) == []


def test_notes_and_evidence_of_some_paths_are_let_pass(play: Play) -> None:
    (play.root / "thoughts.txt").write_text("Perhaps.\n")
    task = play.task()
    draft = evidences.witness(play.ledger, ["true"], kind="test", covers=["app.py"], quiet=True)
    play.complete(play.claimed(task), play.do(evidences.record_draft, draft, tasks=[task]))
    assert told(play) == []
    (play.root / NEW).unlink()
    play.proven()
    assert told(play) == []


def test_of_many_untracked_files_three_are_named_and_the_rest_counted(play: Play) -> None:
    for number in range(5):
        (play.root / f"a{number}.py").write_text(f"answer = {number}\n")
    play.proven()
    (message,) = told(play)
    assert "saw a0.py, a1.py, a2.py and 3 more, which" in message


def test_who_completes_on_what_git_does_not_track_is_told(play: Play, cli: Call) -> None:
    task = play.task()
    dispatch, evidence = play.claimed(task), play.evidence(task)
    code, _, err = cli("dispatch", "complete", "-C", str(play.root), dispatch, "--evidence", evidence)
    assert code == 0
    assert f"the evidence saw what git does not track: {NEW}; commit what the work needs" in err
    code, out, _ = cli("task", "verify", "-C", str(play.root), task, "--json")
    assert code == 0
    assert NEW in str(json.loads(out)["warnings"])
    play.commit_all()
    assert NEW not in cli("task", "verify", "-C", str(play.root), play.proven())[2]


def test_whoever_completes_on_a_run_that_was_before_the_new_file_is_told(play: Play, cli: Call) -> None:
    (play.root / NEW).unlink()
    task = play.task()
    dispatch, evidence = play.claimed(task), play.evidence(task)
    (play.root / NEW).write_text("answer = 7\n")
    (play.root / "thoughts.txt").write_text("Perhaps.\n")
    err = cli("dispatch", "complete", "-C", str(play.root), dispatch, "--evidence", evidence)[2]
    assert f"the evidence did not see what git does not track: {NEW}; commit what the work needs, and run" in err
    out = cli("task", "verify", "-C", str(play.root), task, "--json")[1]
    assert f"did not see what git does not track: {NEW};" in str(json.loads(out)["warnings"])


def test_what_the_command_wrote_itself_or_evidence_of_some_paths_did_not_see_is_let_pass(play: Play) -> None:
    (play.root / NEW).unlink()
    task = play.task()
    dispatch = play.claimed(task)
    wrote = evidences.witness(play.ledger, ["touch", NEW], kind="test", quiet=True)
    play.complete(dispatch, play.do(evidences.record_draft, wrote, tasks=[task]))
    (play.root / NEW).unlink()
    task = play.task()
    draft = evidences.witness(play.ledger, ["true"], kind="test", covers=["app.py"], quiet=True)
    (play.root / NEW).write_text("answer = 7\n")
    play.complete(play.claimed(task), play.do(evidences.record_draft, draft, tasks=[task]))
    assert "did not see" not in str(play.ledger.warnings)


def test_where_evidence_names_a_part_of_what_it_saw_nothing_is_said_of_the_rest(play: Play) -> None:
    for number in range(60):
        (play.root / f"a{number:02}.py").write_text(f"answer = {number}\n")
    play.proven()
    (warning,) = (told for told in play.ledger.warnings if "the evidence" in told)
    assert "the evidence saw what git does not track: a00.py" in warning
