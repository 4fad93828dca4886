"""Evidence that is not there, not what was cited, or taken back: it proves nothing, and who cites it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import codec, layout
from memento_git.work.actions import dispatches, evidences, settling
from tests.play import git, take_out

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

NOBODY = "evidence_000000000000"


def test_evidence_that_never_was(doors: Doors) -> None:
    task = doors.play.task()
    claim = doors.play.claimed(task)
    doors.refused("evidence_not_found", "dispatch complete", dispatch=claim, evidence=[NOBODY])
    doors.completed(task, dispatch=claim, evidence=[f"{NOBODY}@{'0' * 32}"])
    doors.unproven(task, f"{NOBODY} is missing")
    assert f"cites {NOBODY}" in doors.caught("L002", "P001")


def test_no_evidence_at_all(doors: Doors) -> None:
    task = doors.play.task()
    claim = doors.play.claimed(task)
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[])
    without = doors.completed(task, dispatch=claim, evidence=[])
    assert doors.task(task)["status"] == "in_progress"
    doors.caught("F002", "E001")
    doors.write(doors.path(without), doors.file(without).read_text() + "evidence: []\n")
    doors.unproven(task, "no evidence was cited")
    doors.caught("P001")


def test_an_empty_file_as_evidence(doors: Doors) -> None:
    task = doors.play.task()
    doors.write("empty.log", "")
    doors.refused("evidence_file_invalid", "evidence add", kind="artifact", tasks=[task], files=["empty.log"])
    claim, evidence = doors.play.claimed(task), doors.witness(task)
    doors.write(doors.path(evidence), "")
    doors.completed(task, evidence, dispatch=claim)
    doors.unproven(task, "is missing or is not the file that was cited")
    doors.caught("F002", "L002", "P001")


def test_evidence_that_was_deleted_after_it_was_cited(doors: Doors) -> None:
    task = doors.play.proven()
    doors.landed()
    evidence = doors.play.state(task).ids("evidence")[0]
    doors.remove(evidence)
    doors.unproven(task, f"{evidence} is missing")
    assert evidence in doors.caught("D004", "L002")


def test_kept_output_that_was_deleted(doors: Doors) -> None:
    task = doors.play.proven()
    doors.landed()
    evidence = doors.play.state(task).ids("evidence")[0]
    kept = doors.file(evidence).with_suffix("") / "stdout.txt"
    take_out(doors.root, str(kept), message="tidy")
    doors.unproven(task, f"{evidence} is only reported, and witnessed is asked")
    doors.caught("D004", "V001")


@pytest.mark.parametrize("landed", [True, False])
def test_the_bytes_of_other_evidence_under_this_id(doors: Doors, landed: bool) -> None:
    task = doors.play.task()
    claim, good = doors.play.claimed(task), doors.witness(task)
    failed = doors.witness(task, "1 failed\n", command={"exit": 1}, outcome="failed")
    if landed:
        doors.landed()
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[failed])
    told = doors.file(good).read_text().replace(good, failed)
    doors.write(doors.path(failed), told)
    doors.completed(task, failed, dispatch=claim)
    doors.unproven(task, f"{failed} is only reported")
    doors.caught("V001", "P001", *(["D003"] if landed else []))


def test_evidence_that_was_edited_after_it_was_cited(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    doors.play.complete(claim, evidence)
    doors.edit(evidence, "kind: test", "kind: lint")
    doors.unproven(task, f"{evidence} is missing or is not the file that was cited")
    doors.caught("L003", "P001")


def test_a_digest_of_other_bytes(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    doors.completed(task, dispatch=claim, evidence=[f"{evidence}@{'ab' * 16}"])
    doors.unproven(task, f"{evidence} is missing or is not the file that was cited")
    doors.caught("L003", "P001")


def test_retracted_evidence(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    doors.play.do(evidences.retract, evidence, reason="It ran something else.")
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.completed(task, evidence, dispatch=claim)
    doors.unproven(task, f"{evidence} is retracted")
    doors.caught("P001")


def test_superseded_evidence(doors: Doors) -> None:
    task = doors.play.task()
    claim, old, new = doors.play.claimed(task), doors.play.evidence(task), doors.play.evidence(task, code=1)
    doors.play.do(evidences.supersede, old, new, reason="Run again.")
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[old])
    doors.completed(task, old, dispatch=claim)
    doors.unproven(task, f"{old} is superseded")
    doors.caught("P001")


def test_redacted_evidence(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    ref = str(doors.ref(evidence))
    doors.play.do(settling.redact_record, evidence, reason="It names a customer.")
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.completed(task, dispatch=claim, evidence=[ref])
    doors.unproven(task, f"{evidence} is redacted")
    doors.caught("P001")


def test_a_retraction_that_is_taken_back_by_hand(doors: Doors) -> None:
    task = doors.play.proven()
    evidence = doors.play.state(task).ids("evidence")[0]
    doors.play.do(evidences.retract, evidence, reason="It ran something else.")
    doors.landed()
    retracted = doors.last(evidence, "retracted")
    doors.refused("event_is_legal", "settle void", event=retracted, reason="I liked it.")
    doors.forge(evidence, "voided", target=retracted, reason="I liked it.")
    doors.unproven(task, f"{evidence} is retracted")
    doors.caught("T002")


def test_a_retraction_that_was_removed(doors: Doors) -> None:
    task = doors.play.proven()
    evidence = doors.play.state(task).ids("evidence")[0]
    doors.play.do(evidences.retract, evidence, reason="It ran something else.")
    doors.landed()
    doors.remove(doors.last(evidence, "retracted"))
    doors.caught("D002")


def test_evidence_of_another_run(doors: Doors) -> None:
    play = doors.play
    task = play.task()
    claim, first = play.claimed(task), play.state(task).id
    other = play.task("Elsewhere", run=play.planned("Another goal"))
    evidence = play.evidence(other)
    doors.refused("evidence_foreign", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.completed(task, dispatch=claim, evidence=[str(doors.ref(evidence))])
    assert not play.is_proven(task)
    doors.caught("L002", "P001")
    path = doors.file(evidence)
    doors.write(layout.evidence_path(first, evidence), path.read_bytes())
    assert not play.is_proven(task)
    assert f"{evidence} is in " in doors.caught("F008", "P001")


def test_evidence_of_another_task(doors: Doors) -> None:
    play = doors.play
    task, other = play.task("One"), play.task("Two")
    claim, evidence = play.claimed(task), play.evidence(other)
    doors.refused("evidence_foreign", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.completed(task, evidence, dispatch=claim)
    doors.unproven(task, f"{evidence} is evidence for another task")
    doors.caught("P001")


def test_evidence_of_another_hand_off_of_the_task(doors: Doors) -> None:
    play = doors.play
    task = play.task()
    first = play.dispatch(task, candidate=True)
    second = play.dispatch(task, candidate=True)
    play.do(dispatches.claim_dispatch, first)
    play.as_("Bob").do(dispatches.claim_dispatch, second)
    draft = evidences.witness(play.ledger, ["python3", "check.py"], kind="test", quiet=True)
    evidence = str(play.do(evidences.record_draft, draft, dispatch=first))
    doors.refused("evidence_required", "dispatch complete", actor="Bob", dispatch=second, evidence=[evidence])
    doors.completed(task, evidence, dispatch=second, by="Bob")
    doors.unproven(task, f"{evidence} came from another dispatch")
    doors.caught("P001")


def test_evidence_of_another_repository(doors: Doors, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    git(elsewhere, "init", "-q", "-b", "main")
    (elsewhere / "app.py").write_text("good\n")
    git(elsewhere, "add", ".")
    tree = git(elsewhere, "write-tree")
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.witness(task, code={"tree": tree})
    doors.play.complete(claim, evidence)
    doors.unproven(task, f"{evidence} is of other code than what was completed")
    doors.caught("P001")


def test_evidence_of_another_branch(doors: Doors) -> None:
    """The good code is tested on one branch, and the task completed on another."""
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    doors.write("app.py", "worse\n")
    doors.play.complete(claim, evidence)
    doors.unproven(task, f"{evidence} is of other code than what was completed")
    doors.caught("P001")


def test_a_completion_that_says_it_is_of_the_code_that_was_tested(doors: Doors) -> None:
    """Nobody can tell the code of a completion's moment, so a fresh gate is what looks at the code as it is."""
    doors.policy("  gates: {fresh: [final_acceptance, release]}\n")
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    saw = doors.play.state(task).evidence_named(evidence)
    doors.write("app.py", "worse\n")
    doors.completed(task, evidence, dispatch=claim, code={"tree": saw.data["code"]["tree"]})
    assert doors.task(task)["stale"]
    assert evidence in doors.warned("C001")
    doors.refused("gate_not_fresh", "gate record", gate="final_acceptance", verdict="passed", evidence=[evidence])
    assert any("asks for evidence of the code as it is" in one for one in doors.missing())
    doors.forge(doors.play.state(task).id, "passed", gate="final_acceptance", evidence=[str(doors.ref(evidence))])
    doors.caught("G003")


def test_code_that_changed_while_the_command_ran(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.witness(task, code_after={"tree": "1" * 40})
    doors.play.complete(claim, evidence)
    doors.unproven(task, f"the code changed while the command of {evidence} ran")
    doors.caught("P001")


def test_evidence_whose_path_and_id_disagree(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    path = layout.evidence_path(doors.play.state(task).id, NOBODY)
    doors.write(path, doors.file(evidence).read_bytes())
    digest = codec.digest_of(doors.file(evidence).read_bytes())
    doors.completed(task, dispatch=claim, evidence=[f"{NOBODY}@{digest}"])
    doors.unproven(task, f"{NOBODY} is missing")
    doors.caught("F003", "P001")
