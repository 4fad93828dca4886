"""What is said of a broken, lost or contested record is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import tasks
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Play

    Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def task(play: Play) -> str:
    play.planned()
    made = play.task("Fence")
    play.claimed(made)
    return made


def test_an_event_that_cannot_be_read_is_not_called_missing_nor_by_nobody(play: Play, cli: Call, task: str) -> None:
    (path,) = play.root.glob(f".memento/runs/*/tasks/*/{task}/*-claimed-*")
    path.write_text(path.read_text() + "by: twice\n")
    play.commit_all("broken")
    assert "files of its events are missing or cannot be read" in cli("task", "list", "-C", str(play.root))[1]
    told = cli("settle", "-C", str(play.root))[1]
    assert "  claimed: memento settle --void event_" in told
    assert " by :" not in told


def test_a_task_whose_text_is_lost_is_told_so_wherever_its_id_is_given(play: Play, cli: Call, task: str) -> None:
    (path,) = play.root.glob(f".memento/runs/*/tasks/*/{task}/task.md")
    git(play.root, "rm", "-q", str(path))
    git(play.root, "commit", "-qm", "lost")
    assert task in cli("status", "-C", str(play.root))[1]
    for words in (("show", task), ("task", "show", task), ("task", "block", task, "--reason", "x")):
        code, _, err = cli(*words, "-C", str(play.root))
        assert (code, "its text is missing" in err, "memento doctor tells" in err) == (4, True, True), words
    found = [line for line in cli("doctor", "-C", str(play.root))[1].splitlines() if "commit that: " in line]
    git(play.root, *found[0].partition("commit that: git ")[2].split())
    assert path.exists()


def test_the_reason_of_one_side_is_not_told_as_that_of_the_disagreement(play: Play, cli: Call, task: str) -> None:
    git(play.root, "branch", "other")
    play.do(tasks.cancel_task, task, reason="no need")
    git(play.root, "switch", "-q", "other")
    play.do(tasks.block_task, task, reason="no nails")
    git(play.root, "merge", "-q", "--no-edit", "main")
    assert f"“Fence” is contested (`{task}`)" in cli("report", "-C", str(play.root))[1]
    assert "reason" not in cli("task", "show", task, "-C", str(play.root))[1]
