"""A hand-off whose event was redacted is still one: it is claimed, ended, taken back and shown like any other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger.settling import AlreadyRedacted
from memento_git.work.actions import dispatches, settling, tasks
from memento_git.work.overview import base
from tests.test_redaction import event_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Play

Cli = Callable[..., tuple[int, str, str]] if TYPE_CHECKING else Any


def without_words(play: Play) -> tuple[str, str, str]:
    """Return a task and its hand-off, of which only a redaction is left, and the event's id."""
    play.planned()
    task = play.task()
    dispatch = play.dispatch(task, note="secret words")
    opened = event_of(play, task, "dispatched")
    play.do(settling.redact_record, opened, reason="a leak")
    return task, dispatch, opened


def test_a_redacted_hand_off_is_claimed_and_completed(play: Play) -> None:
    task, dispatch, _ = without_words(play)
    play.do(dispatches.claim_dispatch, dispatch)
    play.do(dispatches.renew_dispatch, dispatch[:14])
    play.complete(dispatch, play.evidence(task))
    assert play.is_proven(task)


@pytest.mark.parametrize("end", ["fail", "recover"])
def test_a_redacted_hand_off_is_failed_and_recovered(play: Play, end: str) -> None:
    task, dispatch, _ = without_words(play)
    play.do(dispatches.claim_dispatch, dispatch)
    if end == "fail":
        play.do(dispatches.fail_dispatch, dispatch, reason="too hard")
    else:
        play.do(dispatches.recover_dispatch, dispatch, force=True, reason="it hangs")
    assert play.status(task) == {"fail": "blocked", "recover": "pending"}[end]


def test_a_redacted_hand_off_and_its_event_are_shown(play: Play, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    task, dispatch, opened = without_words(play)
    monkeypatch.chdir(play.root)
    for verb in (("dispatch", "show"), ("show",)):
        code, out, _ = cli(*verb, dispatch, "--json")
        assert (code, json.loads(out)["dispatch"]["task_id"]) == (0, task)
    code, out, _ = cli("show", opened, "--json")
    assert (code, json.loads(out)["event"]["payload"]["note"]) == (0, "[redacted]")
    assert "dispatched" in cli("log", "--record", dispatch)[1]
    with pytest.raises(AlreadyRedacted):
        play.do(settling.redact_record, opened[:14], reason="again")


def test_why_words_were_redacted_is_not_why_a_task_is_blocked(play: Play) -> None:
    run = play.planned()
    task = play.task()
    play.do(tasks.block_task, task, reason="the key of Bob")
    play.do(settling.redact_record, event_of(play, task, "blocked"), reason="it names Bob")
    assert base(play.ledger.view(), run)["tasks"][0]["reason"] == "[redacted]"
