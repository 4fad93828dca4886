"""A list that is cut says how many more there are, and the hint beside it shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.ledger.git_status import UncommittedLedger
from memento_git.model.enumeration import ends, some
from memento_git.verbs import doctor
from memento_git.work.actions import tasks
from memento_git.work.refusals import RunAmbiguous
from tests.play import git

if TYPE_CHECKING:
    from tests.play import Call, Play


def test_a_cut_list_ends_with_how_many_more_there_are() -> None:
    assert some(["a", "b"], 2) == "a, b"
    assert some(["a", "b", "c", "d"], 2, "; ") == "a; b and 2 more"


def test_a_text_that_is_cut_between_its_ends_says_how_much_is_left_out() -> None:
    assert ends("x" * 40, 40) == "x" * 40
    assert ends(f"it begins with {'x' * 80} and ends", 42) == "it begins with  … 82 characters … nd ends"
    assert {len(ends("x" * size, 120)) for size in (121, 150, 1000)} <= {119, 120}


def test_edited_files_are_named_and_counted_and_the_hint_shows_the_staged_ones(play: Play) -> None:
    play.run(spike=True)
    made = [play.task(f"t{number}") for number in range(7)]
    for path in play.root.glob(".memento/runs/*/tasks/*/*/task.md"):
        path.write_text(path.read_text() + "x\n")
    (told,) = [one for one in doctor.examine(play.ledger) if one.name == "uncommitted"]
    assert told.message.endswith(" and 2 more")
    git(play.root, "add", ".memento")

    def block_all(tx: object) -> None:
        for task in made:
            tasks.block_task(tx, task, reason="x")  # type: ignore[arg-type]

    with pytest.raises(UncommittedLedger) as caught:
        play.do(block_all)
    assert caught.value.message.endswith(" and 2 more")
    command = caught.value.hint.partition("(")[2].partition(" shows")[0]
    assert git(play.root, *command.split()[1:]).count("+x") == 7


def test_more_runs_than_are_named_are_counted(play: Play) -> None:
    for number in range(7):
        play.run(f"goal {number}")
    with pytest.raises(RunAmbiguous) as caught:
        play.task()
    assert "and 2 more" in str(caught.value)


def test_more_stale_evidence_than_is_named_is_counted(play: Play, run: str, cli: Call) -> None:
    play.proven()
    for _ in range(6):
        play.proven()
    play.commit("app.py", "other\n")
    (line,) = [line for line in cli("status", "-C", str(play.root))[1].splitlines() if line.startswith("stale ")]
    assert "and 2 more: this commit" in line


def test_status_names_no_stale_evidence_that_nothing_rests_on(play: Play, cli: Call) -> None:
    def told() -> list[str]:
        return [
            line for line in cli("status", "-C", str(play.root))[1].splitlines() if line.startswith(("stale ", "unco"))
        ]

    task = play.planned_task()
    failed, seen = play.evidence(task, code=1), play.evidence(task)
    play.commit("app.py", "other\n")
    assert told() == []
    play.gate("quality_review", "passed", evidence=[seen])
    (line,) = told()
    assert (seen[:12] in line, failed[:12] in line) == (True, False)
    (play.root / "app.py").write_text("another\n")
    play.proven()
    assert [line.split()[0] for line in told()] == ["stale", "uncommitted"]
