"""What was redacted is still told of: a hand-off is handled like any other, evidence is listed without its content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge.actions import notes
from memento_git.knowledge.note_set import NoteSet
from memento_git.ledger.corrections import AlreadyRedacted
from memento_git.verbs.settling import redact_record
from memento_git.work.actions import dispatches, evidences, settling, tasks
from memento_git.work.overview import overview
from memento_git.work.row_cache import base
from tests.play import add, git
from tests.test_redaction import event_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.play import Call, Play


def without_words(play: Play) -> tuple[str, str, str]:
    """Return a task and its hand-off, of which only a redaction is left, and the event's id."""
    task = play.planned_task()
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


def test_a_redacted_hand_off_is_queued_again_for_nobody_by_name(play: Play) -> None:
    task, dispatch, _ = without_words(play)
    play.do(dispatches.claim_dispatch, dispatch)
    _, again = play.do(dispatches.recover_dispatch, dispatch, force=True, reason="it hangs", requeue=True)
    opened = play.state(task).event(again.replace("dispatch", "event", 1))
    assert opened is not None
    assert opened.data["executor"] == "unnamed"


def test_a_redacted_hand_off_and_its_event_are_shown(play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    task, dispatch, opened = without_words(play)
    monkeypatch.chdir(play.root)
    code, out, _ = cli("dispatch", "show", dispatch, "--json")
    assert (code, json.loads(out)["task_id"]) == (0, task)
    code, out, _ = cli("show", dispatch, "--json")
    assert (code, json.loads(out)["dispatch"]["task_id"]) == (0, task)
    code, out, _ = cli("show", opened, "--json")
    assert (code, json.loads(out)["event"]["payload"]["note"]) == (0, "[redacted]")
    assert "dispatched" in cli("log", "--record", dispatch)[1]
    with pytest.raises(AlreadyRedacted):
        play.do(settling.redact_record, opened[:14], reason="again")


def test_why_words_were_redacted_is_not_why_a_task_is_blocked(play: Play, run: str) -> None:
    task = play.task()
    play.do(tasks.block_task, task, reason="the key of Bob")
    play.do(settling.redact_record, event_of(play, task, "blocked"), reason="it names Bob")
    assert base(play.ledger.view(), run)["tasks"][0]["reason"] == "[redacted]"


def test_redacted_evidence_is_listed_with_who_and_why_and_nothing_of_it(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(play.root)
    task = play.planned_task()
    evidence = play.evidence(task)
    play.complete(play.claimed(task), evidence)
    play.do(settling.redact_record, evidence, reason="a token in its output")
    for command in (("evidence", "list"), ("status",), ("evidence", "list", "--task", task)):
        rows = json.loads(cli(*command, "--json")[1])["evidence"]
        assert [(row["id"], row["status"], row["task_ids"], row["command"]) for row in rows] == [
            (evidence, "redacted", [task], None)
        ]
        assert rows[0]["withdrawn"]["reason"] == "a token in its output"
    assert "redacted by Ada: a token in its output" in cli("evidence", "list")[1]
    assert "redacted by Ada: a token in its output" in cli("report")[1]
    assert "a token in its output" in cli("report", "--format", "html")[1]
    assert json.loads(cli("evidence", "show", evidence, "--json")[1])["evidence"] == rows[0]


def test_a_redacted_word_about_evidence_leaves_the_evidence(play: Play, run: str) -> None:
    evidence = play.evidence(play.task())
    play.do(evidences.retract, evidence, reason="Bob says that it is wrong")
    retracted = next(seen.event.id for seen in play.state(evidence).folded(evidence).events)
    play.do(settling.redact_record, retracted, reason="it names Bob")
    row = play.overview(run)["evidence"][0]
    assert row["withdrawn"] is not None
    assert (row["status"], row["withdrawn"]["reason"]) == ("retracted", "[redacted]")


def test_shared_evidence_is_shown_as_shared(play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(play.root)
    play.planned()
    task, other = play.task(), play.task("Another")
    evidence = play.evidence(task, other)
    play.complete(play.claimed(task), evidence)
    assert "shared by 2 tasks" in cli("evidence", "list")[1]
    assert "by 2 tasks" in cli("evidence", "show", evidence)[1]
    assert f"shared evidence: {evidence[:13]}" in cli("status")[1]


def put_back(play: Play, cli: Call, back: str) -> tuple[Any, tuple[str, ...]]:
    """Bring back what was redacted since `before`; return the status without it, and options to read it with."""
    git(play.root, "branch", "after")
    clean = json.loads(cli("status", "--json")[1])
    if back == "merged":
        git(play.root, "checkout", "before", "--", ".memento")
        git(play.root, "commit", "-qm", "back")
    return clean, ("--at", "before", "--at", "after") if back == "union" else ()


def assert_unsaid(cli: Call, commands: Iterable[tuple[str, ...]], at: tuple[str, ...]) -> None:
    """See that none of the commands says the redacted word, as text or as JSON."""
    for command in commands:
        for form in ((), () if "--format" in command else ("--json",)):
            assert "bluebird" not in cli(*command, *at, *form)[1], command


@pytest.mark.parametrize("back", ["merged", "union"])
def test_of_redacted_evidence_whose_file_is_back_nothing_is_shown(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch, back: str
) -> None:
    monkeypatch.chdir(play.root)
    run = play.planned()
    task = play.task()
    draft = evidences.witness(play.ledger, ["echo", "bluebird"], kind="test", quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[task], summary="about bluebird")
    play.complete(play.claimed(task), evidence)
    git(play.root, "branch", "before")
    play.do(settling.redact_record, evidence, reason="a name in its output")
    clean, at = put_back(play, cli, back)
    commands = (
        ("evidence", "show", evidence), ("show", evidence), ("evidence", "list"), ("status",), ("log",),
        ("report", "--format", "json"), ("recall", "about"), ("recall", "--kind", "evidence"), ("task", "brief", task),
    )  # fmt: skip
    assert_unsaid(cli, commands, at)
    told = json.loads(cli("status", "--json", *at)[1])
    assert (told["evidence"], told["tasks"][0]["unproven_because"]) == (
        clean["evidence"], clean["tasks"][0]["unproven_because"],
    )  # fmt: skip
    assert [one["status"] for one in overview(play.ledger, play.ledger.view(), run)["evidence"]] == ["redacted"]
    assert play.state(evidence).pieces([evidence]) == []
    with pytest.raises(AlreadyRedacted):
        play.do(settling.redact_record, evidence, reason="again")


@pytest.mark.parametrize("back", ["merged", "union"])
def test_of_a_redacted_event_whose_file_is_back_no_word_is_shown_and_it_proves_nothing(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch, back: str
) -> None:
    monkeypatch.chdir(play.root)
    play.planned()
    done, held, note = play.proven(), play.task("Another"), add(play, "Tokens live an hour.")
    play.do(tasks.block_task, held, reason="bluebird says so")
    play.do(notes.park_note, note, reason="for bluebird")
    git(play.root, "branch", "before")
    blocked, completed = event_of(play, held, "blocked"), event_of(play, done, "completed")
    parked = next(seen.event.id for seen in NoteSet(play.ledger.view()).folded(note).events)
    for event in (blocked, completed, parked):
        play.do(redact_record, event, reason="a name")
    clean, at = put_back(play, cli, back)
    commands = (
        ("status",), ("report",), ("log",), ("task", "show", held), ("show", blocked), ("show", parked),
        ("note", "show", note), ("recall", "says so"), ("recall", "--kind", "task"),
    )  # fmt: skip
    assert_unsaid(cli, commands, at)
    told = json.loads(cli("status", "--json", *at)[1])
    assert [(row["status"], row["reason"], row["proven"], row["unproven_because"]) for row in told["tasks"]] == [
        (row["status"], row["reason"], row["proven"], row["unproven_because"]) for row in clean["tasks"]
    ]
