"""What is redacted is gone; links to it stay valid, and it proves nothing any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.knowledge.actions.notes import add_note
from memento_git.ledger import layout
from memento_git.ledger.corrections import AlreadyRedacted
from memento_git.model.ids import WrongKind
from memento_git.review.actions import check
from memento_git.texts.typed import ReasonRequired
from memento_git.verbs import doctor
from memento_git.verbs.settling import redact_evidence, redact_note
from memento_git.work.actions import runs, settling, tasks
from memento_git.work.row_cache import base
from tests.play import add, git

if TYPE_CHECKING:
    from tests.play import Play


def story(play: Play) -> tuple[str, str, str]:
    """Return a run with a proven task, and the evidence."""
    run = play.planned()
    task = play.task()
    evidence = play.evidence(task)
    play.complete(play.claimed(task), evidence)
    return run, task, evidence


def event_of(play: Play, task: str, verb: str) -> str:
    return next(seen.event.id for seen in play.state(task).folded(task).events if seen.event.do == verb)


def path_of(play: Play, event: str) -> str:
    return play.state(event).index.events[event]


def test_redacted_evidence_is_gone_and_what_it_proved_is_unproven(play: Play) -> None:
    run, _, evidence = story(play)
    play.do(settling.redact_record, evidence, reason="a token in the output")
    assert not [path for path in play.root.glob(".memento/runs/*/evidence/*/*") if path.suffix == ".yaml"]
    row = base(play.ledger.view(), run)["tasks"][0]
    assert (row["status"], row["proven"]) == ("completed", False)
    assert row["unproven_because"] == [f"{evidence} is redacted"]
    assert not base(play.ledger.view(), run)["trouble"]
    assert git(play.root, "status", "--short") == ""


def test_redacting_evidence_twice_is_refused(play: Play) -> None:
    _, _, evidence = story(play)
    play.do(settling.redact_record, evidence, reason="secret")
    with pytest.raises(AlreadyRedacted):
        play.do(settling.redact_record, evidence, reason="secret")


@pytest.mark.parametrize("verb", ["dispatched", "claimed", "completed"])
def test_a_redacted_event_still_counts_for_what_follows_it(play: Play, verb: str) -> None:
    run, task, _ = story(play)
    play.do(settling.redact_record, event_of(play, task, verb), reason="a name in the note")
    assert play.status(task) == "completed"
    assert not base(play.ledger.view(), run)["trouble"]
    assert play.is_proven(task) is (verb != "completed")
    play.do(tasks.reopen_task, task, reason="again")
    assert play.status(task) == "pending"


def test_redacting_an_event_twice_is_refused(play: Play) -> None:
    _, task, _ = story(play)
    event = event_of(play, task, "claimed")
    play.do(settling.redact_record, event, reason="x")
    with pytest.raises(AlreadyRedacted):
        play.do(settling.redact_record, event, reason="x")


def test_free_texts_are_gone_from_every_file(play: Play, run: str) -> None:
    task = play.task()
    play.do(tasks.block_task, task, reason="wait for Xylophone")
    play.do(settling.redact_record, event_of(play, task, "blocked"), reason="a name")
    assert play.status(task) == "blocked"
    for path in play.root.glob(".memento/**/*"):
        assert not path.is_file() or b"Xylophone" not in path.read_bytes()


def test_redacting_and_going_on_in_one_change_works(play: Play) -> None:
    _, task, _ = story(play)
    event = event_of(play, task, "claimed")
    with play.ledger.transaction("both") as tx:
        settling.redact_record(tx, event, reason="x")
        tasks.reopen_task(tx, task, reason="again")
    assert play.status(task) == "pending"


@pytest.mark.parametrize("what", ["evidence", "event"])
def test_a_redacted_file_that_comes_back_by_a_merge_is_a_finding(play: Play, what: str) -> None:
    run, task, evidence = story(play)
    target = evidence if what == "evidence" else event_of(play, task, "claimed")
    before = git(play.root, "rev-parse", "HEAD")
    path = play.state(task).index.evidence.get(target) or play.state(task).index.events[target]
    play.do(settling.redact_record, target, reason="secret")
    git(play.root, "checkout", before, "--", path)
    git(play.root, "commit", "-qm", "came back")
    held = base(play.ledger.view(), run)
    assert [(finding[0], finding[1]) for finding in held["findings"]] == [("R001", path)]
    assert play.is_proven(task) is (what == "event")
    assert "git rm" in held["findings"][0][4]


def test_a_redaction_cannot_put_words_into_another_record(play: Play) -> None:
    run, task, _ = story(play)
    other = play.task("Other", run=run)
    folder = play.root / layout.folder_of(run, other)
    folder.mkdir(exist_ok=True)
    (folder / "20260101T000000000Z-redacted-000000000009.yaml").write_text(
        f"do: redacted\nof: {other}\nat: 2026-01-01T00:00:00.000Z\nby: Eve\nafter: []\n"
        f"target: event_000000000008@{'0' * 32}\nkept: {{do: reopened, of: {task}, at: '2026-01-01T00:00:00.000Z', "
        "by: Eve, after: [], reason: x}\nreason: x\n"
    )
    play.commit_all("forged")
    held = base(play.ledger.view(), run)
    (told,) = [finding for finding in held["findings"] if finding[0] == "F003"]
    assert told[4] == f"put back what it said: git log -p -- {told[1]}"
    assert play.status(task) == "completed"


def test_a_redaction_written_by_hand_cannot_rewrite_an_event_that_is_there(play: Play, run: str) -> None:
    task = play.task()
    play.do(tasks.block_task, task, reason="stuck")
    state = play.state(task)
    blocked = state.event(event_of(play, task, "blocked"))
    assert blocked is not None
    after = ", ".join(str(ref) for ref in blocked.after)
    folder = play.root / layout.folder_of(run, task)
    forged = folder / "20260101T000000000Z-redacted-000000000009.yaml"
    forged.write_text(
        f"do: redacted\nof: {task}\nat: 2026-01-01T00:00:00.000Z\nby: Eve\nafter: [{blocked.ref}]\n"
        f"target: {blocked.ref}\nkept: {{do: cancelled, of: {task}, at: '2026-01-01T00:00:00.000Z', "
        f"by: Eve, after: [{after}], reason: x}}\nreason: x\n"
    )
    play.commit_all("forged")
    assert play.status(task) == "blocked"
    assert "R001" in {finding[0] for finding in base(play.ledger.view(), run)["findings"]}
    forged.write_text(forged.read_text().replace(f"after: [{blocked.ref}]", f"after: [event_000000000001@{'0' * 32}]"))
    (play.root / blocked.path).unlink()
    play.commit_all("forged again, and the event is gone")
    assert blocked.id not in play.state(task).tombstones
    assert play.status(task) == "pending"
    assert [row["problem"] for row in base(play.ledger.view(), run)["trouble"]] == ["incomplete"]


def test_redacting_is_possible_in_a_final_run_and_makes_nothing_late(play: Play) -> None:
    run, task, _ = story(play)
    play.do(runs.complete_run, run)
    play.do(settling.redact_record, event_of(play, task, "claimed"), reason="x")
    assert play.status(run) == "completed"
    assert not play.state(run).is_late(task)


def test_the_reason_of_a_redaction_is_redacted_and_the_redaction_counts(play: Play) -> None:
    run, task, evidence = story(play)
    play.do(settling.redact_record, evidence, reason="it names Xylophone")
    play.gate("quality_review", "failed", reason="ask Xylophone")
    play.do(settling.redact_record, event_of(play, run, "failed"), reason="Xylophone again")
    for record in (evidence, run, evidence, run):
        (there,) = [name for name in play.state(run).index.events_of[record] if "-redacted-" in path_of(play, name)]
        play.do(settling.redact_record, there, reason=f"once more, {record}")
    state = play.state(run)
    assert (state.evidence_status(evidence), state.failed_gates(run)) == ("redacted", [(run, "quality_review")])
    assert len(state.redactions()) == 6
    assert not base(play.ledger.view(), run)["trouble"]
    assert (play.status(task), play.is_proven(task)) == ("completed", False)
    for path in play.root.glob(".memento/**/*"):
        assert not path.is_file() or b"Xylophone" not in path.read_bytes()


def test_what_is_redacted_and_comes_back_is_found_after_the_redaction_was_redacted(play: Play) -> None:
    run, _, evidence = story(play)
    before, path = git(play.root, "rev-parse", "HEAD"), play.state(evidence).index.evidence[evidence]
    play.do(settling.redact_record, evidence, reason="secret")
    play.do(settling.redact_record, event_of(play, evidence, "redacted"), reason="the reason said it, too")
    git(play.root, "checkout", before, "--", path)
    git(play.root, "commit", "-qm", "came back")
    held = base(play.ledger.view(), run)
    assert [(finding[0], finding[1]) for finding in held["findings"]] == [("R001", path)]


def test_redacting_takes_out_nothing_of_another_kind_also_by_its_whole_id(play: Play) -> None:
    evidence, note = play.evidence(play.planned_task()), add(play, "A fact.")
    for act, target, kind in ((redact_note, evidence, "note"), (redact_evidence, note, "evidence")):
        with pytest.raises(WrongKind, match=f"{target} is no {kind}"):
            play.do(act, target, reason="a slip")


def test_redacting_needs_a_reason(play: Play) -> None:
    _, _, evidence = story(play)
    with pytest.raises(ReasonRequired):
        play.do(settling.redact_record, evidence, reason=" ")


@pytest.mark.parametrize("mark", ["# x\n", "by: twice\n"], ids=["edited", "broken"])
def test_nobody_is_told_to_restore_what_was_redacted_and_came_back(play: Play, mark: str) -> None:
    evidence = story(play)[2]
    play.do(add_note, "It rests on that.", evidence=[evidence])
    file = play.state(evidence).index.evidence[evidence]
    said = (play.root / file).read_text()
    git(play.root, "branch", "base")
    play.do(settling.redact_record, evidence, reason="it names Xylophone")
    play.commit(file, said + mark, "a merge that kept the file")
    told = [(one.message, one.fix) for one in doctor.examine(play.ledger) if one.status == "fail"]
    for base_of in ("", "base"):
        report = check(play.ledger, base=base_of, no_base=not base_of)
        told += [(str(one), one.fix) for one in (*report.findings, *report.already)]
    assert {fix for message, fix in told if file in message} == {f"git rm {file}"}
    assert not [told for told in told if "restore" in told[1] or "put it back" in told[1] or "others now" in told[0]]
