"""Signatures that were made for something else, or by somebody who may not: the record does not count as signed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout, signer
from memento_git.work.actions import dispatches, evidences, plans, runs
from memento_git.work.attest import signing
from tests.cheats.forging import ADA, GRACE, MAIN, WORK
from tests.play import git, merge_into
from tests.test_signatures import LOOSE, POLICY, Office, make_key, public

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.doors import Doors

GATE = "final_acceptance"
SIGNED = """\
  require: [approval]
  release: {approvals: 1}
  gates: {required: [release]}
  signatures: {allowed_signers: .memento/allowed_signers, ledger: ada/shop, require: {approvals: []}}
"""


class Desk:
    """A ledger whose policy demands signatures, on `main` and on the branch of who has only the agent's key."""

    def __init__(self, doors: Doors, folder: Path) -> None:
        git(doors.root, "switch", "-q", MAIN)
        self.doors, self.office = doors, Office(doors.play, folder)
        self.back()

    def back(self) -> None:
        """Let the branch have all that is on `main`."""
        merge_into(self.doors.root, WORK, MAIN)

    def plan(self, title: str = "Plan") -> str:
        """Draft a plan in a run of its own."""
        run = self.doors.play.run(title)
        return str(self.doors.play.do(plans.draft_plan, title, "Do it.", run=run))

    def approved(self, plan: str, signature: str = "", by: str = ADA) -> str:
        """Write by hand that a plan is approved, with a signature that was made elsewhere; return the event."""
        event = self.doors.forge(plan, "approved", by=by, text=self.doors.ref(plan).digest)
        if signature:
            self.paste(event, signature)
        return event

    def paste(self, record: str, signature: str) -> None:
        self.doors.write(self.doors.path(record), signing.seal(self.doors.file(record).read_bytes(), signature))

    def signature(
        self, record: str, key: Path, *, run: str = "", name: str = "", namespace: str = "", ledger: str = "ada/shop"
    ) -> str:
        """Sign a record's bytes as they are, for its place or for another one."""
        place = layout.place_of(self.doors.path(record))
        assert place is not None
        covered = signing.cover(ledger, run or place.run, name or place.id, self.doors.file(record).read_bytes())
        return signer.sign(covered, str(key), namespace or signing.NAMESPACE)

    def signs(self, plan: str, key: Path, *, by: str = ADA, **place: str) -> str:
        """Approve a plan by hand, and sign that with a key."""
        event = self.approved(plan, by=by)
        self.paste(event, self.signature(event, key, **place))
        return event

    def in_vain(self, plan: str, why: str) -> None:
        """Assert that the approval counts for nothing: nothing is handed out on it, and the branch is caught."""
        task = self.doors.play.task(run=self.doors.play.state(plan).id)
        told = self.doors.refused("signature_required", "dispatch create", task=task, executor="agent")
        assert why in told
        assert why in self.doors.caught("K001")


@pytest.fixture
def desk(doors: Doors, tmp_path: Path) -> Desk:
    return Desk(doors, tmp_path)


def lifted(desk: Desk, record: str) -> str:
    """Return the signature in a record's file."""
    found = signing.split(desk.doors.file(record).read_bytes())
    assert found is not None
    return found[1]


def test_no_signature(desk: Desk) -> None:
    plan = desk.plan()
    for actor in (ADA, "agent:hermes"):
        desk.doors.refused("signing_key_missing", "plan approve", actor=actor, plan=plan)
        desk.doors.refused("signature_required", "plan approve", actor=actor, plan=plan, key=str(desk.office.agent))
    desk.approved(plan)
    desk.in_vain(plan, "it is not signed")


def test_a_hand_out_on_an_approval_without_its_signature(desk: Desk) -> None:
    """Way: policy is loosened for the moment in which the task is handed out."""
    doors, plan = desk.doors, desk.plan()
    desk.approved(plan)
    task = doors.play.task(run=doors.play.state(plan).id)
    strict = (doors.root / layout.CONFIG).read_text()
    doors.write(layout.CONFIG, LOOSE)
    dispatch = doors.play.dispatch(task)
    doors.write(layout.CONFIG, strict)
    told = f"{task} was handed out, and plan {plan} was approved"
    assert told in doors.caught("K001")
    doors.play.do(dispatches.recover_dispatch, dispatch, force=True, reason="Not signed.")
    assert told not in doors.caught("K001"), "that is taken back; the approval is still unsigned"


def test_the_signature_of_another_event(desk: Desk) -> None:
    first, second = desk.plan("First"), desk.plan("Second")
    desk.doors.play.do(plans.approve_plan, first, key=str(desk.office.ada))
    desk.approved(second, lifted(desk, desk.doors.last(first, "approved")))
    desk.in_vain(second, "its signature is not for these bytes in this place")


def test_the_signature_of_the_same_event_under_another_id(desk: Desk) -> None:
    """All bytes are those that were signed, and only the file's name is another."""
    plan = desk.plan()
    desk.signs(plan, desk.office.ada, name="event_000000000000")
    desk.in_vain(plan, "its signature is not for these bytes in this place")


@pytest.mark.parametrize("place", [{"run": "run_000000000000"}, {"ledger": "ada/toys"}, {"ledger": ""}])
def test_the_signature_of_another_repository(desk: Desk, place: dict[str, str]) -> None:
    """One of another run, and of the same run where it was copied whole."""
    plan = desk.plan()
    desk.signs(plan, desk.office.ada, **place)
    is_unnamed = place.get("ledger") == ""
    desk.in_vain(plan, f"its signature is {'good, but names no ledger' if is_unnamed else 'not for these bytes'}")
    desk.signs(second := desk.plan("Second"), desk.office.ada)
    assert desk.doors.play.dispatch(desk.doors.play.task(run=desk.doors.play.state(second).id))


def test_a_branch_that_gives_the_ledger_the_name_of_another(desk: Desk) -> None:
    """Way: who may is asked to approve on the branch; the signature would count in the ledger of that name."""
    doors, key = desk.doors, str(desk.office.ada)
    for policy, named in ((POLICY.replace("ada/shop", "ada/bank"), "'ada/bank'"), (LOOSE, "nothing")):
        doors.write(layout.CONFIG, policy, "tidy")
        told = doors.refused("ledger_renamed", "plan approve", plan=desk.plan(), key=key)
        assert f"is named {named} here, and 'ada/shop' at refs/heads/{MAIN}" in told
    doors.refused("ledger_renamed", "gate record", gate=GATE, verdict="passed", run=doors.play.run(), key=key)
    doors.write(layout.CONFIG, POLICY, "put back")
    doors.play.do(plans.approve_plan, desk.plan(), key=key)


@pytest.mark.parametrize("leads", ["", "refs/remotes/origin/gone"])
@pytest.mark.parametrize("ref", ["refs/remotes/origin/HEAD", "refs/tags/refs/remotes/origin/HEAD"])
def test_a_branch_that_gives_the_ledger_another_name_and_is_called_like_the_trunk(
    desk: Desk, ref: str, leads: str
) -> None:
    """Way: who signs has a clone that does not know the remote's own branch, and takes that one for it."""
    doors, key = desk.doors, str(desk.office.ada)
    if leads:
        git(doors.root, "symbolic-ref", "refs/remotes/origin/HEAD", leads)
    doors.write(layout.CONFIG, POLICY.replace("ada/shop", "ada/bank"), "tidy")
    git(doors.root, "update-ref", "--no-deref", ref, WORK)
    told = doors.refused("ledger_renamed", "plan approve", plan=desk.plan(), key=key)
    assert f"'ada/shop' at refs/heads/{MAIN}" in told
    doors.write(layout.CONFIG, POLICY, "put back")
    doors.play.do(plans.approve_plan, desk.plan(), key=key)


def test_a_branch_that_brings_signatures_and_gives_the_ledger_the_name_of_another(doors: Doors, tmp_path: Path) -> None:
    """Way: the trunk asks for no signatures, and knows no name; the branch brings both, and asks who may to approve."""
    office = Office(doors.play, tmp_path)
    plan = str(doors.play.do(plans.draft_plan, "Plan", "Do it.", run=doors.play.run("Another")))
    told = doors.refused("ledger_renamed", "plan approve", plan=plan, key=str(office.ada))
    assert f"is named 'ada/shop' here, and nothing at refs/heads/{MAIN}" in told
    office.write(POLICY.replace("    ledger: ada/shop\n", ""))
    doors.play.do(plans.approve_plan, plan, key=str(office.ada))


def test_signatures_that_nothing_demands_from_before_the_ledger_had_a_name(desk: Desk) -> None:
    """The honest way: who signs of their own will names the ledger, as `doctor` tells; new ones are signed for it."""
    doors = desk.doors
    git(doors.root, "switch", "-q", MAIN)
    desk.office.write(LOOSE)
    desk.back()
    doors.play.do(plans.approve_plan, desk.plan(), key=str(desk.office.ada))
    doors.sound()
    git(doors.root, "switch", "-q", MAIN)
    desk.office.write(LOOSE.replace("{allowed", "{ledger: ada/shop, allowed"))
    desk.back()
    unnamed = ("K002", "warning", "its signature is good, but names no ledger")
    for options in ([f"--base={MAIN}"], ["--no-base"]):
        code, rows = doors.check(*options)
        told = [(row["code"], row["severity"], row["message"]) for row in rows]
        assert (code, unnamed in told) == (0, True), rows
    doors.landed()
    doors.play.task(run=(run := doors.play.state(desk.plan("Next")).id))
    doors.sound()
    assert (doors.check("--no-base")[0], doors.cli("doctor", "-C", str(doors.root))[1].count("K002")) == (0, 1)
    desk.signs(str(doors.play.do(plans.draft_plan, "Own", "Do it.", run=run)), desk.office.ada, ledger="")
    assert unnamed[2] in doors.caught("K002")


def test_a_signature_for_something_else_than_memento(desk: Desk) -> None:
    """A signature of a commit or of a file, made with the same key, is none of an approval."""
    for namespace in ("git", "file"):
        plan = desk.plan(namespace)
        desk.signs(plan, desk.office.ada, namespace=namespace)
        desk.in_vain(plan, "its signature is not for these bytes in this place")


def test_the_signature_of_an_older_text(desk: Desk) -> None:
    doors, plan = desk.doors, desk.plan()
    doors.play.do(plans.approve_plan, plan, key=str(desk.office.ada))
    old = lifted(desk, doors.last(plan, "approved"))
    task = doors.play.task(run=doors.play.state(plan).id)
    doors.edit(plan, "Do it.", "Do something else.")
    doors.refused("plan_changed", "dispatch create", task=task, executor="agent")
    doors.caught("P002")
    desk.approved(plan, old)
    desk.in_vain(plan, "its signature is not for these bytes in this place")


def test_a_letter_that_was_changed_after_signing(desk: Desk) -> None:
    doors, plan = desk.doors, desk.plan()
    doors.play.do(plans.approve_plan, plan, note="Only for the parser.", key=str(desk.office.ada))
    doors.edit(doors.last(plan, "approved"), "Only for the parser.", "For all of it.")
    desk.in_vain(plan, "its signature is not for these bytes in this place")


def test_a_key_that_is_not_allowed(desk: Desk) -> None:
    plan = desk.plan()
    desk.doors.refused("signature_required", "plan approve", plan=plan, key=str(desk.office.agent))
    desk.signs(plan, desk.office.agent)
    desk.in_vain(plan, "its key is not among the allowed signers")


def test_the_key_of_somebody_else_who_may_sign(desk: Desk) -> None:
    plan = desk.plan()
    desk.doors.refused("signature_required", "plan approve", plan=plan, key=str(desk.office.grace))
    desk.signs(plan, desk.office.grace)
    desk.in_vain(plan, "its signature is somebody else's")


def test_a_good_signature_of_somebody_whom_policy_does_not_name(desk: Desk) -> None:
    plan = desk.plan()
    desk.doors.refused("signature_required", "plan approve", actor=GRACE, plan=plan, key=str(desk.office.grace))
    desk.signs(plan, desk.office.grace, by=GRACE)
    desk.in_vain(plan, "it is signed by grace@example.invalid, and policy asks for ada@example.invalid")


def test_an_expired_key(desk: Desk) -> None:
    git(desk.doors.root, "switch", "-q", MAIN)
    desk.office.signers(f'ada@example.invalid valid-before="20200101" {public(desk.office.ada)}')
    desk.back()
    plan = desk.plan()
    desk.doors.refused("signature_required", "plan approve", plan=plan, key=str(desk.office.ada))
    desk.signs(plan, desk.office.ada)
    desk.in_vain(plan, "its key was not valid at that time")


@pytest.mark.parametrize("first", ["signed", "revoked"])
def test_a_revoked_key(desk: Desk, first: str) -> None:
    """A revoked key counts for nothing, also not for what it signed before, nor dated back to then."""
    plan = desk.plan()
    if first == "signed":
        desk.doors.play.do(plans.approve_plan, plan, key=str(desk.office.ada))
    git(desk.doors.root, "switch", "-q", MAIN)
    desk.office.revoke(desk.office.ada)
    desk.back()
    if first == "revoked":
        desk.doors.refused("signature_required", "plan approve", plan=plan, key=str(desk.office.ada))
        desk.signs(plan, desk.office.ada)
    desk.in_vain(plan, "its key is revoked")


def test_a_key_that_the_branch_lets_in_itself(desk: Desk, tmp_path: Path) -> None:
    mine = make_key(tmp_path, "mine")
    desk.office.signers(f"ada@example.invalid {public(mine)}")
    plan = desk.plan()
    desk.doors.play.do(plans.approve_plan, plan, key=str(mine))
    assert "its key is not among the allowed signers" in desk.doors.caught("K001")


@pytest.mark.parametrize(("gate", "verdict"), [(GATE, "passed"), ("release", "passed"), ("quality_review", "waived")])
def test_a_verdict_with_the_signature_of_another_verdict(desk: Desk, gate: str, verdict: str) -> None:
    doors = desk.doors
    run = doors.play.state(desk.plan()).id
    doors.play.gate("preflight_safety", "waived", run=run, reason="Seen.", key=str(desk.office.ada))
    signature = lifted(desk, doors.last(run, "waived"))
    doors.refused(
        "signing_key_missing", "gate waive" if verdict == "waived" else "gate record", gate=gate, run=run,
        **({"reason": "Seen."} if verdict == "waived" else {"verdict": verdict}),
    )  # fmt: skip
    told = {"reason": "Seen."} if verdict == "waived" else {}
    desk.paste(doors.forge(run, verdict, gate=gate, **told), signature)
    assert any(f"gate {gate} of {run} has" in one for one in doors.missing(run)) or gate == "release"
    assert "its signature is not for these bytes in this place" in doors.caught("K001")


def test_an_approval_of_a_release_with_the_signature_of_another_one(desk: Desk) -> None:
    doors = desk.doors
    one, two = (doors.play.state(desk.plan(name)).id for name in ("One", "Two"))
    given = doors.play.as_(GRACE).do(evidences.approve, one, key=str(desk.office.grace))
    doors.play.as_(GRACE)
    body = signing.split(doors.file(given).read_bytes())
    assert body is not None
    name = doors.play.ledger.new_id("evidence")
    text = body[0].decode().replace(given, name).replace(one, two)
    text = text.replace(doors.ref(one).digest, doors.ref(two).digest)
    doors.write(layout.evidence_path(two, name), signing.seal(text.encode(), body[1]))
    code, out, _ = doors.cli("gate", "release", "--run", two, "--approvals", "1", "-C", str(doors.root), "--json")
    assert (code, '"approval_count": 0' in out) == (1, True)
    assert "its signature is not for these bytes in this place" in doors.caught("K001")


def test_an_approval_of_the_base_by_a_key_that_the_branch_lets_in(desk: Desk, tmp_path: Path) -> None:
    """Way: the approval is there, and does not count; the branch changes whose signatures do, and releases on it."""
    doors, mine = desk.doors, make_key(tmp_path, "mine")
    doors.policy(SIGNED.replace("  require: [approval]\n", ""))
    run = doors.play.state(doors.play.proven()).id
    given = doors.shown(run, by=GRACE, kind="approval", approves=run, text=doors.ref(run).digest)
    desk.paste(given, desk.signature(given, mine))
    doors.landed()
    assert "approvals: 0 of 1" in doors.missing(run)
    desk.office.signers(f"grace@example.invalid {public(mine)}")
    assert [*doors.accepted("gate release", run=run)]
    assert "approvals: 0 of 1" in doors.caught("G004", told="C003")


def test_a_signed_approval_that_its_signer_does_not_stand_by_is_kept_by_a_settling_as_a_known_limit(desk: Desk) -> None:
    """Way: an approval that never landed is brought from before its signer rejected the plan, and settled for."""
    doors, plan = desk.doors, desk.plan()
    doors.landed()
    start = git(doors.root, "rev-parse", MAIN)
    doors.play.do(plans.approve_plan, plan, key=str(desk.office.ada))
    yes = doors.last(plan, "approved")
    path, data = doors.path(yes), doors.file(yes).read_bytes()
    git(doors.root, "reset", "-q", "--hard", start)
    doors.play.do(plans.reject_plan, plan, reason="No.")
    no = doors.last(plan, "rejected")
    doors.landed()
    git(doors.root, "reset", "-q", "--hard", start)
    doors.write(path, data)
    assert doors.check(f"--base={MAIN}") == (0, [])
    git(doors.root, "merge", "-q", "--no-edit", MAIN)
    assert plan in doors.caught("T001")
    doors.landed()
    for _ in doors.accepted("settle", record=plan, keep=yes, reason="She said so.", actor=GRACE):
        assert doors.play.status(plan) == "canonical"
    assert f"settles against {no}" in doors.warned("D011")


def test_a_person_who_signs_under_two_names(desk: Desk) -> None:
    doors = desk.doors
    run = doors.play.state(desk.plan()).id
    key = str(desk.office.grace)
    doors.play.as_(GRACE).do(evidences.approve, run, key=key)
    for _ in doors.accepted("evidence approve", actor="grace@example.invalid", about=run, key=key):
        code, out, _ = doors.cli("gate", "release", "--run", run, "--approvals", "2", "-C", str(doors.root), "--json")
        assert (code, '"approval_count": 1' in out) == (1, True)


def test_policy_that_asks_for_no_signature_any_more(desk: Desk) -> None:
    doors = desk.doors
    doors.write(layout.CONFIG, POLICY.partition("    require:")[0])
    plan = desk.plan()
    desk.approved(plan)
    assert "it is not signed" in doors.caught("K001")


def reviewed(desk: Desk) -> tuple[str, str, str, str, str]:
    """Return a run, a task of it, its claim, a diff of it, and a signed yes of Grace to the run."""
    doors, play = desk.doors, desk.doors.play
    doors.policy(SIGNED)
    task = play.task()
    run, claim = play.state(task).id, play.claimed(task)
    doors.write("app.py", "good\n# better\n")
    diff = str(play.do(evidences.add_evidence, "diff", diff="HEAD^..HEAD", tasks=[task]))
    yes = str(play.as_(GRACE).do(evidences.approve, run, key=str(desk.office.grace)))
    return run, task, claim, diff, yes


@pytest.mark.parametrize("kind", ["note", "approval"])
def test_a_yes_without_a_signature_that_takes_back_a_no(desk: Desk, kind: str) -> None:
    """Way: a no needs no signature, and a yes of a kind of which none is asked, or by hand, is said after it."""
    doors, play, grace = desk.doors, desk.doors.play, desk.doors.play.as_(GRACE)
    run, task, claim, diff, yes = reviewed(desk)
    play.complete(claim, play.evidence(task), yes)
    no = str(grace.do(evidences.approve, diff, prompt="Is it good?", response="no"))
    doors.landed()
    doors.shown(diff, by=GRACE, approves=diff, kind=kind, outcome="passed", **{"for": [task]})
    doors.unproven(task, f"in {no}")
    assert "approvals: 0 of 1" in doors.missing(run)
    if kind == "approval":
        doors.caught("K001")
    doors.unfinished("task_unproven", run, f"in {no}")


def test_a_no_that_a_yes_without_a_signature_takes_back_where_the_branch_asks_for_none(desk: Desk) -> None:
    """Way: the branch drops the key of policy that asks for signed approvals, and its own `status` is content."""
    doors, play, grace = desk.doors, desk.doors.play, desk.doors.play.as_(GRACE)
    run, task, claim, diff, yes = reviewed(desk)
    no = str(grace.do(evidences.approve, diff, prompt="Is it good?", response="no"))
    doors.landed()
    doors.policy("  require: [approval]\n", branch=WORK)
    grace.do(evidences.approve, diff)
    play.complete(claim, play.evidence(task), yes)
    assert play.is_proven(task)
    play.do(runs.complete_run, run)
    told = doors.caught("K001", "P001", "P004", told="C003")
    assert f"{task} is not proven" in told
    assert f"in {no}" in told
