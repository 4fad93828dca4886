"""Events that nobody may write, redacted at once: what is left of them counts, so it is judged like any other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import codec
from memento_git.ledger.event_writer import event_data
from memento_git.verbs import batch
from memento_git.work.actions import evidences, gates, plans, releases, runs, settling
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA, GATE, MAIN, WORK
from tests.play import git, merge_into
from tests.test_signatures import POLICY, Office

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cheats.doors import Doors

WHY = "A typo."
STRICT = (
    "  gates: {required: [release]}\n"
    "  release: {approvals: 1, approvers: ['Bob <bob@example.invalid>'], not_author: true}\n"
)


def redact(doors: Doors, event: str) -> None:
    """Redact an event at each door of the verb."""
    path = doors.file(event)
    for _ in doors.accepted("evidence redact", target=event, reason=WHY):
        assert not path.exists()


def _failed_evidence(doors: Doors) -> str:
    bad = doors.play.evidence(doors.play.task(), code=1)
    return doors.forge(run_of(doors), "passed", gate=GATE, evidence=[str(doors.ref(bad))])


def _verdict(doors: Doors) -> str:
    doors.policy(f"  gates: {{verdicts: {{{GATE}: [Grace]}}}}\n")
    return doors.forge(run_of(doors), "passed", gate=GATE)


def _waiver(doors: Doors) -> str:
    doors.policy("  gates: {waivers: [Grace]}\n")
    return doors.forge(run_of(doors), "waived", gate=GATE, reason="No time.")


def _not_fresh(doors: Doors) -> str:
    doors.policy(f"  gates: {{fresh: [{GATE}]}}\n")
    return doors.forge(run_of(doors), "passed", gate=GATE)


def _own_plan(doors: Doors) -> str:
    doors.policy("  plan: {not_author: true}\n")
    run = doors.play.run("Another")
    plan = doors.play.do(plans.draft_plan, "Plan", "Do it.", run=run)
    return doors.forge(plan, "approved", text=doors.ref(plan).digest)


def _open_work(doors: Doors) -> str:
    doors.play.proven("Done")
    doors.play.task("Open")
    doors.landed()
    return doors.forge(run_of(doors), "completed", sees=[])


def _missing_gate(doors: Doors) -> str:
    doors.policy(f"  gates: {{required: [{GATE}]}}\n")
    doors.play.proven()
    doors.landed()
    return doors.forge(run_of(doors), "completed")


def _no_spike(doors: Doors) -> str:
    run = doors.play.run("No plan")
    task = doors.play.task("One", run=run)
    doors.landed()
    event = doors.forge(task, "dispatched", executor="agent", spike=True)
    doors.play.do(batch.ACTIONS["dispatch claim"], event.replace("event", "dispatch"))
    return event


WAYS: dict[str, tuple[str, Callable[[Doors], str]]] = {
    "a pass on evidence that failed": ("G001", _failed_evidence),
    "a verdict by who may not": ("G002", _verdict),
    "a waiver by who may not": ("G002", _waiver),
    "a pass without fresh evidence": ("G003", _not_fresh),
    "an approval of one's own plan": ("P003", _own_plan),
    "a completion over open work": ("P004", _open_work),
    "a completion without a required gate": ("P004", _missing_gate),
    "a hand-out without a plan": ("P006", _no_spike),
}


@pytest.mark.parametrize("how", WAYS)
def test_what_nobody_may_write_and_is_redacted(doors: Doors, how: str) -> None:
    code, write = WAYS[how]
    event = write(doors)
    told = doors.caught(code)
    of = doors.event(event).of
    redact(doors, event)
    assert {*doors.caught(code).splitlines()} == {*told.splitlines()}
    redact(doors, doors.last(of, "redacted"))
    assert {*doors.caught(code).splitlines()} == {*told.splitlines()}


def test_a_release_under_a_policy_of_ones_own_that_is_redacted(doors: Doors) -> None:
    """Way: policy is weakened, the release passes, policy is put back, and the pass is redacted."""
    doors.policy(STRICT)
    doors.policy("  gates: {required: [release]}\n", branch=WORK)
    doors.play.proven()
    run = run_of(doors)
    event = doors.play.do(releases.release_run).event
    doors.policy(STRICT, branch=WORK)
    assert "approvals: 0 of 1" in doors.caught("G004")
    redact(doors, event)
    assert "approvals: 0 of 1" in doors.caught("G004")
    doors.refused("gate_fallen", "run complete", run=run)
    doors.forge(run, "completed")
    doors.caught("G004")


def test_a_void_of_what_is_legal_that_is_redacted(doors: Doors) -> None:
    """Way: a failure of the main branch is voided as if it had not been seen, and then the void is redacted."""
    run = run_of(doors)
    doors.play.gate(GATE, "passed")
    doors.play.gate(GATE, "failed")
    doors.landed()
    passed, failed = doors.last(run, "passed"), doors.last(run, "failed")
    void = doors.forge(run, "voided", sees=[], target=failed, reason="No.", absent=[str(doors.ref(passed))])
    assert failed in doors.caught("D009")
    redact(doors, void)
    assert failed in doors.caught("D009")
    redact(doors, doors.last(run, "redacted"))
    assert failed in doors.caught("D009")


def test_a_redaction_with_other_words_that_is_redacted(doors: Doors) -> None:
    """Way: what is left of a failure says that it passed, and the redaction that says so is redacted."""
    run = run_of(doors)
    doors.play.gate(GATE, "failed")
    doors.landed()
    failed = doors.last(run, "failed")
    path, data = doors.drafted(
        run, "redacted", target=str(doors.ref(failed)), reason=WHY,
        kept={**codec.redact_event(event_data(doors.event(failed))), "do": "passed"},
    )  # fmt: skip
    doors.remove(failed)
    doors.write(path, data)
    assert failed in doors.caught("D009")
    redact(doors, doors.last(run, "redacted"))
    assert failed in doors.caught("D009")


def test_an_approval_that_is_redacted_and_given_again_with_a_signature(doors: Doors, tmp_path: Path) -> None:
    """No way: what is not signed counts no more."""
    git(doors.root, "switch", "-q", MAIN)
    office = Office(doors.play, tmp_path)
    merge_into(doors.root, WORK, MAIN)
    plan = doors.play.do(plans.draft_plan, "Mine", "Do it.", run=doors.play.run("Mine"))
    redact(doors, doors.forge(plan, "approved", by=ADA, text=doors.ref(plan).digest))
    doors.play.do(plans.approve_plan, plan, key=str(office.ada))
    doors.sound()


def test_an_approval_without_a_signature_that_is_redacted(doors: Doors, tmp_path: Path) -> None:
    """Way: what is not signed is redacted, so that nobody looks for its signature."""
    git(doors.root, "switch", "-q", MAIN)
    Office(doors.play, tmp_path)
    merge_into(doors.root, WORK, MAIN)
    assert "plan_approval" in POLICY
    run = doors.play.run("Mine")
    plan = doors.play.do(plans.draft_plan, "Mine", "Do it.", run=run)
    event = doors.forge(plan, "approved", by=ADA, text=doors.ref(plan).digest)
    assert "not signed" in doors.caught("K001")
    redact(doors, event)
    assert "not signed" in doors.caught("K001")
    task = doors.play.task(run=run)
    doors.refused("signature_required", "dispatch create", task=task, executor="agent")


def test_honest_redactions_are_found_nothing_of(doors: Doors) -> None:
    """A text with a secret in it goes, whatever it is of; the story was sound and stays so."""
    play = doors.play
    task = play.proven()
    run = play.state(task).id
    play.gate(GATE, "passed", evidence=play.state(task).ids("evidence"), note="Ask 0123456789.")
    play.gate("final_acceptance", "waived", reason="Nobody is here.")
    play.do(releases.release_run, note="A name.")
    doors.landed()
    events = [(run, "passed"), (run, "waived"), (task, "claimed"), (task, "dispatched"), (run, "redacted")]
    for record, verb in events:
        play.do(settling.redact_record, doors.last(record, verb), reason=WHY)
        doors.sound()
    play.do(runs.complete_run, run, note="Another name.")
    play.do(settling.redact_record, doors.last(run, "completed"), reason=WHY)
    doors.sound()
    assert play.status(run) == "completed"


def test_an_honest_redaction_of_what_was_wrong_before_is_not_the_branchs(doors: Doors) -> None:
    """What was wrong at the base stays apart, though what is left of the event lies in another file."""
    event = _failed_evidence(doors)
    doors.landed()
    redact(doors, event)
    for _, options, root in doors.arrivals():
        code, rows = doors.check(*options, root=root)
        assert (code, [row["code"] for row in rows if row["severity"] == "error"]) == (0, [])


@pytest.mark.parametrize("how", ["retract", "supersede", "redact", "retract and redact"])
def test_a_gate_whose_evidence_is_withdrawn(doors: Doors, how: str) -> None:
    """Way: a required gate passed on evidence, and after that the evidence goes."""
    doors.policy(f"  gates: {{required: [{GATE}]}}\n")
    task, run = doors.play.proven(), run_of(doors)
    shown, other = doors.play.evidence(task), doors.play.evidence(task)
    doors.play.do(gates.record_gate, GATE, "passed", evidence=[shown])
    doors.sound()
    if how == "supersede":
        doors.play.do(evidences.supersede, shown, other, reason=WHY)
    if how.startswith("retract"):
        doors.play.do(evidences.retract, shown, reason=WHY)
    if how.endswith("redact"):
        doors.play.do(settling.redact_record, shown, reason=WHY)
    word = {"redact": "redacted", "supersede": "superseded", "retract": "retracted"}[how.rpartition(" ")[2]]
    assert f"{shown} is {word}" in doors.caught("G001")
    assert f"gate {GATE} has passed, but {shown} is {word}" in doors.refused("gate_fallen", "run complete", run=run)
    assert doors.missing(run) == [f"gate {GATE} has passed, but {shown} is {word}"]
    steps = doors.answer("status")["next"]
    assert [one["command"] for one in steps] == [f"memento gate record {GATE} passed --run {run} --evidence EVIDENCE"]
    doors.play.do(gates.record_gate, GATE, "passed", evidence=[other])
    doors.sound()
    assert doors.missing(run) == []


@pytest.mark.parametrize("how", ["redact", "retract"])
def test_a_run_that_is_completed_by_hand_on_a_gate_that_fell(doors: Doors, how: str) -> None:
    doors.policy(f"  gates: {{required: [{GATE}]}}\n")
    task, run = doors.play.proven(), run_of(doors)
    shown = doors.play.evidence(task)
    doors.play.do(gates.record_gate, GATE, "passed", evidence=[shown])
    doors.landed()
    doors.play.do({"redact": settling.redact_record, "retract": evidences.retract}[how], shown, reason=WHY)
    doors.unfinished("gate_fallen", run, f"{shown} is {how}ed")


def _grown(doors: Doors) -> None:
    """Commit code that nothing in the ledger has seen."""
    (doors.root / "more.py").write_text("good\n")
    doors.play.commit_all("more")


def test_a_fresh_gate_whose_code_has_gone_on(doors: Doors) -> None:
    """Way: the release passed, code is committed, and the run is completed in the light of that."""
    doors.policy("  gates: {required: [release], fresh: [release]}\n")
    task, run = doors.play.proven(), run_of(doors)
    doors.play.do(releases.release_run)
    doors.sound()
    _grown(doors)
    doors.caught("G003")
    told = doors.refused("gate_fallen", "run complete", run=run)
    assert "nothing that it rests on saw the code of this commit" in told
    assert [one["command"] for one in doors.answer("status")["next"]] == [f"memento evidence run --run {run} -- CMD"]
    said = [_released(doors, run, *more) for more in ((), ("--no-record",))]
    assert said[0] == said[1]
    assert "asks for evidence of the code as it is; none that proves its tasks is" in said[0][0]
    shown = doors.play.evidence(task)
    doors.play.gate("release", "passed", evidence=[shown])
    assert [_released(doors, run, *more) for more in (("--no-record",), ())] == [[], []]
    assert doors.play.do(runs.complete_run, run) == run
    doors.sound()


def test_a_fresh_gate_on_evidence_of_some_paths_alone(doors: Doors) -> None:
    """Way: what the evidence covers has not changed, and all the rest of the code has."""
    doors.policy("  gates: {fresh: [quality_review]}\n")
    task, run = doors.play.proven(), run_of(doors)
    draft = evidences.witness(doors.play.ledger, ["true"], kind="test", covers=["app.py"], quiet=True)
    shown = doors.play.do(evidences.record_draft, draft, tasks=[task])
    _grown(doors)
    asked: dict[str, Any] = {"gate": GATE, "verdict": "passed", "evidence": [shown]}
    assert "not all of the code" in doors.refused("gate_not_fresh", "gate record", run=run, **asked)
    for _ in doors.accepted("gate record", task=task, **asked):
        doors.sound("P002")
    doors.forge(run, "passed", gate=GATE, evidence=[str(doors.ref(shown))])
    assert GATE in doors.caught("G003")


def test_a_run_that_was_completed_without_its_release(doors: Doors) -> None:
    """Way: `gate release` says yes, and nothing was released."""
    task = doors.play.proven()
    run = doors.play.state(task).id
    doors.play.do(runs.complete_run, run)
    told = "the run is completed, and gate release had not passed before that"
    assert told in doors.refused("release_refused", "gate release", run=run)
    assert [_released(doors, run, *more) for more in (("--no-record",), ())] == [[told], [told]]
    doors.denied("run_not_released", "evidence", "export", "--run", run)


def _released(doors: Doors, run: str, *options: str) -> list[Any]:
    code, out, _ = doors.cli("gate", "release", "--run", run, *options, "-C", str(doors.root), "--json")
    missing: list[Any] = json.loads(out)["missing"]
    assert (code == 0) is (missing == [])
    return missing


@pytest.mark.parametrize("policy", ["  gates: {required: [release]}\n", "  release: {graph: ignore}\n"])
def test_work_that_is_completed_after_the_release(doors: Doors, policy: str) -> None:
    """Way: the run was released, then worked on, and is completed as if all of that had been released."""
    doors.policy(policy)
    doors.play.proven("One")
    run = run_of(doors)
    doors.play.do(releases.release_run)
    doors.landed()
    two = doors.play.proven("Two")
    told = doors.refused("gate_fallen", "run complete", run=run)
    assert f"it had not seen that {two} was completed" in told
    steps = doors.answer("status")["next"]
    assert [one["command"] for one in steps] == [f"memento gate release --run {run}"]
    if "required" in policy:
        doors.unfinished("gate_fallen", run, f"it had not seen that {two} was completed")
        git(doors.root, "reset", "-q", "--hard", "HEAD^")
    assert doors.play.do(releases.release_run).event
    assert doors.play.do(runs.complete_run, run) == run


def test_work_after_a_release_whose_checks_saw_other_code(doors: Doors) -> None:
    """Way: policy asks the release for a check, which succeeded on the code before the later work."""
    doors.policy("  release: {checks: [test]}\n")
    task = doors.play.proven()
    run = run_of(doors)
    head = git(doors.root, "rev-parse", "HEAD")
    check = {"provider": "github", "name": "test", "conclusion": "success", "commit": head}
    doors.witness(task, kind="ci", check=check, drop=["command"])
    assert doors.play.do(releases.release_run).event
    _grown(doors)
    assert "check test: it is stale" in doors.refused("gate_fallen", "run complete", run=run)
    steps = [one["command"] for one in doors.answer("status")["next"]]
    assert steps == [f"memento evidence check --run {run} FILE", f"memento gate release --run {run}"]


def test_a_no_that_was_redacted_and_is_redacted_again_as_nobodys(doors: Doors) -> None:
    """Way: of two redactions the earlier one would say what the answer was, and it says nothing."""
    doors.policy("  gates: {required: [release]}\n  release: {approvals: 1, approvers: [Grace]}\n")
    doors.play.proven()
    run = run_of(doors)
    grace = doors.play.as_("Grace")
    grace.do(evidences.approve, run, response="yes")
    no = grace.do(evidences.approve, run, response="no, it loses data")
    doors.play.as_(ADA)
    doors.play.do(settling.redact_record, no, reason="It names a customer.")
    why = "approval"
    first = doors.event(doors.last(no, "redacted"))
    doors.landed()
    doors.forge(
        no, "redacted", sees=[], at="2026-01-01T10:00:00.000Z", target=first.get("target"), reason=WHY,
        kept={"kind": "approval"},
    )  # fmt: skip
    assert no in doors.caught("D009")
    assert why in " ".join(doors.missing(run))
