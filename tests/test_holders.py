"""Who holds a task, and until when, is told where tasks are listed, and to whoever wants it too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import claims
from memento_git.model.clock import stamp
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches

if TYPE_CHECKING:
    from tests.play import Call, Play

NOON = 4_000_000_000


@pytest.fixture
def hermes(play: Play, run: str) -> Play:
    """An agent whose clock stands still."""
    play.ledger.clock = lambda: NOON
    agent = play.as_("agent:hermes")
    agent.ledger.clock = lambda: NOON
    return agent


def until(seconds: int) -> str:
    return f"{stamp(NOON + seconds)[:16].replace('T', ' ')} UTC"


@pytest.mark.parametrize("verb", [["status"], ["task", "list"]])
@pytest.mark.parametrize("is_over", [False, True])
def test_a_list_of_tasks_tells_who_holds_each_and_until_when(
    play: Play, hermes: Play, cli: Call, verb: list[str], *, is_over: bool
) -> None:
    task = play.task("Fence")
    dispatch = play.dispatch(task, "agent:hermes")
    where = (*verb, "-C", str(play.root))
    assert "agent:hermes" not in cli(*where)[1].partition("next")[0]
    end = 1 - NOON + 60 if is_over else 60  # the command's clock is that of the machine
    hermes.ledger.clock = lambda: NOON + end - 60
    hermes.do(dispatches.claim_dispatch, dispatch, lease=60)

    told = f"Fence  agent:hermes until {until(end)}{', which is over' if is_over else ''}\n"
    assert told in cli(*where)[1]
    (row,) = json.loads(cli(*where, "--json")[1])["tasks"]
    held = {"dispatch_id": dispatch, "claimed_by": "agent:hermes", "lease_until": stamp(NOON + end), "expired": is_over}
    assert row["claims"] == [held]


def test_of_several_tries_each_holder_is_told(play: Play, hermes: Play, cli: Call) -> None:
    task = play.task("Fence")
    for who in (hermes, play):
        who.do(dispatches.claim_dispatch, play.dispatch(task, candidate=True), lease=60)
    told = cli("status", "-C", str(play.root))[1]
    assert sum(f"until {until(60)}" in part for part in told.partition("Fence")[2].partition("\n")[0].split("; ")) == 2


@pytest.mark.parametrize("by", ["events", "ref"])
def test_a_claim_that_somebody_has_is_refused_with_name_and_time(play: Play, hermes: Play, by: str) -> None:
    task = play.task()
    dispatch = play.dispatch(task)
    if by == "events":
        hermes.do(dispatches.claim_dispatch, dispatch, lease=60)
    else:
        claims.take(play.ledger.git, task, claims.Claim(dispatch, "agent:hermes", stamp(NOON + 60)), None)
    with pytest.raises(no.AlreadyClaimed) as caught:
        play.do(dispatches.claim_dispatch, dispatch)
    assert caught.value.message == f"dispatch {dispatch} is claimed by agent:hermes until {stamp(NOON + 60)}"


def test_who_claims_what_was_handed_to_another_is_told_so_once(play: Play, hermes: Play) -> None:
    dispatch = play.dispatch(play.task(), "agent:bert")
    for _ in range(2):
        hermes.do(dispatches.claim_dispatch, dispatch)
    assert hermes.ledger.warnings == [f"{dispatch} was handed to agent:bert, and agent:hermes has claimed it"]


def test_whose_it_was_meant_to_be_is_told_nothing(play: Play, hermes: Play) -> None:
    hermes.do(dispatches.claim_dispatch, play.dispatch(play.task(), "Agent:Hermes"))
    assert hermes.ledger.warnings == []


def test_who_works_on_after_the_lease_is_told_that_it_ended(play: Play, hermes: Play) -> None:
    task, beside = play.task(), play.task("Beside")
    dispatch = play.dispatch(task, "agent:hermes")
    hermes.do(dispatches.claim_dispatch, dispatch, lease=60)
    hermes.evidence(task)
    assert hermes.ledger.warnings == []
    hermes.ledger.clock = lambda: NOON + 61

    hermes.evidence(beside)
    assert hermes.ledger.warnings == []
    told = f"your lease of {dispatch} ended {stamp(NOON + 60)}: elsewhere somebody may have taken it back"
    proof = hermes.evidence(task)
    assert hermes.ledger.warnings == [f"{told}; to hold it on: memento dispatch renew {dispatch}"]
    hermes.ledger.warnings.clear()
    hermes.complete(dispatch, proof)
    assert hermes.ledger.warnings == [told]


def test_the_evidence_of_another_is_told_nothing_of_the_lease(play: Play, hermes: Play) -> None:
    task = play.task()
    hermes.do(dispatches.claim_dispatch, play.dispatch(task, "agent:hermes"), lease=60)
    play.ledger.clock = lambda: NOON + 61
    play.evidence(task)
    assert play.ledger.warnings == []


def test_evidence_run_notes_that_ones_lease_has_ended(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    dispatch = play.dispatch(task, "Ada")
    play.ledger.clock = lambda: 1_700_000_000
    play.do(dispatches.claim_dispatch, dispatch, lease=60)
    err = cli("evidence", "run", "-C", str(play.root), "--task", task, "--", "true")[2]
    assert f"note: your lease of {dispatch} ended {stamp(1_700_000_060)}: elsewhere somebody" in err
