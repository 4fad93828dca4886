"""What is said of a broken, lost or contested record is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import claims
from memento_git.verbs import doctor
from memento_git.work import refusals
from memento_git.work.actions import dispatches, plans, tasks
from tests.play import git, take_out

if TYPE_CHECKING:
    from tests.play import Call, Play


@pytest.fixture
def task(play: Play) -> str:
    made = play.planned_task("Fence")
    play.claimed(made)
    return made


def test_an_event_that_cannot_be_read_is_not_called_missing_nor_by_nobody(play: Play, cli: Call, task: str) -> None:
    (path,) = play.root.glob(f".memento/runs/*/tasks/*/{task}/*-claimed-*")
    play.commit(path, path.read_text() + "by: twice\n", "broken")
    assert "files of its events are missing or cannot be read" in cli("task", "list", "-C", str(play.root))[1]
    told = cli("settle", "-C", str(play.root))[1]
    assert "  claimed: memento settle --void event_" in told
    assert told.rstrip().endswith("memento check says how")
    assert " by :" not in told


def test_a_task_whose_text_is_lost_is_told_so_wherever_its_id_is_given(play: Play, cli: Call, task: str) -> None:
    (path,) = play.root.glob(f".memento/runs/*/tasks/*/{task}/task.md")
    take_out(play.root, str(path), message="lost")
    assert task in cli("status", "-C", str(play.root))[1]
    for words in (("show", task), ("task", "show", task), ("task", "block", task, "--reason", "x")):
        code, _, err = cli(*words, "-C", str(play.root))
        assert (code, "its text is missing" in err, "memento doctor says" in err) == (4, True, True), words
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


def test_log_says_its_order_the_same_way_twice(cli: Call) -> None:
    overview, own = cli("--help")[1], cli("log", "--help")[1]
    assert [line for line in overview.splitlines() if line.split()[:1] == ["log"] and "latest first" in line]
    assert "latest first" in own


def test_who_meets_an_expired_claim_is_told_how_to_take_it_back(play: Play, task: str) -> None:
    (dispatch,) = play.state(task).dispatches(task)
    with pytest.raises(refusals.AlreadyClaimed) as caught:
        play.as_("Bob").do(dispatches.claim_dispatch, dispatch)
    assert f"if its lease has expired: memento dispatch recover {dispatch}" in caught.value.hint


def test_the_author_of_a_plan_is_told_to_let_somebody_else_approve_it(play: Play) -> None:
    config = b"version: 1\npolicy:\n  plan: {not_author: true}\n"
    play.ledger.change("config", lambda tx: tx.put(".memento/config.yaml", config))
    play.run()
    plan = play.do(plans.draft_plan, "Plan", "Do it.")
    with pytest.raises(refusals.ApproverRefused) as caught:
        play.do(plans.approve_plan, plan)
    assert "policy asks for another than its author" in caught.value.message
    assert caught.value.hint == f"let somebody else read and approve it: memento plan approve {plan}"


def test_a_claim_that_cannot_be_read_is_told_as_that(play: Play) -> None:
    play.run()
    git(play.root, "update-ref", "refs/memento/claims/task_000000000000", "HEAD")
    (told,) = [one.message for one in doctor.examine(play.ledger) if one.name == "claims"]
    assert told == "a claim on task_000000000000 cannot be read, so nobody holds it"


@pytest.mark.parametrize("given", ["", "0" * 39 + "1"])
def test_a_claim_whose_object_is_gone_or_says_nothing_is_taken_over(play: Play, run: str, given: str) -> None:
    """Its ref would answer for nobody, and refuse everybody."""
    task = play.task("Fence")
    waiting = play.do(dispatches.create_dispatch, task, "human")
    blob = given or git(play.root, "hash-object", "-w", "--stdin", data=b"nothing")
    (play.root / ".git" / claims.REFS).mkdir(parents=True, exist_ok=True)
    (play.root / ".git" / claims.REFS / task).write_text(f"{blob}\n")

    assert claims.read(play.ledger.git, task) == claims.Claim("", "", "", blob)
    play.as_("Bob").do(dispatches.claim_dispatch, waiting)

    assert claims.read(play.ledger.git, task) == claims.listed(play.ledger.git)[task]
    assert claims.listed(play.ledger.git)[task].dispatch == waiting
