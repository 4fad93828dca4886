"""Signatures by real SSH keys: who may approve is held by who has a key, through every door."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.errors import MementoError
from memento_git.folding.fold import plans_of
from memento_git.knowledge.actions import notes
from memento_git.knowledge.actions.recipes import save_recipe
from memento_git.ledger import codec, layout, signer
from memento_git.ledger.store import Ledger
from memento_git.review import diff_text, signed
from memento_git.review.actions import check
from memento_git.review.diff_markdown import markdown
from memento_git.verbs import batch
from memento_git.work.actions import dispatches, evidences, gates, plans, releases, runs, settling, syncing, tasks
from memento_git.work.actions.comparing import compare
from memento_git.work.attest import signers, signing
from tests.clones import Hub
from tests.play import Play, git, merge_into
from tests.tale import BOB, PLAN, TEXT, Tale
from tests.test_candidates import Contest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memento_git.model.work import Event
    from tests.play import Call

ADA = "Ada <ada@example.invalid>"
AGENT = "agent:hermes"
POLICY = """\
version: 1
policy:
  signatures:
    allowed_signers: .memento/allowed_signers
    ledger: ada/shop
    revoked: .memento/revoked
    require: {plan_approval: [ada@example.invalid], waivers: [], final_acceptance: [ada@example.invalid], \
release: [ada@example.invalid], approvals: []}
"""
LOOSE = "version: 1\npolicy:\n  signatures: {allowed_signers: .memento/allowed_signers}\n"


def make_key(folder: Path, name: str, passphrase: str = "") -> Path:
    path = folder / name
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", str(path)], check=True
    )  # fmt: skip
    return path


def public(key: Path) -> str:
    return " ".join(Path(f"{key}.pub").read_text().split()[:2])


class Office:
    """A ledger whose policy demands signatures: Ada has a key that counts, the agent one that does not."""

    def __init__(self, play: Play, folder: Path) -> None:
        self.play, self.root = play, play.root
        self.ada, self.grace, self.agent = (make_key(folder, name) for name in ("ada", "grace", "agent"))
        self.write(POLICY)

    def signers(self, *lines: str) -> None:
        known = [f"ada@example.invalid {public(self.ada)}", f"grace@example.invalid {public(self.grace)}"]
        (self.root / ".memento" / "allowed_signers").write_text("\n".join(lines or known) + "\n")
        self.play.commit_all("signers")

    def revoke(self, *keys: Path) -> None:
        (self.root / ".memento" / "revoked").write_text("".join(f"{public(key)}\n" for key in keys))
        self.play.commit_all("revoked")

    def write(self, policy: str) -> None:
        (self.root / ".memento" / "config.yaml").write_text(policy)
        (self.root / ".memento" / "revoked").write_text("")
        self.signers()

    def plan(self) -> str:
        self.play.run()
        return str(self.play.do(plans.draft_plan, "Plan", "Do it."))

    def approved(self) -> str:
        return str(self.play.do(plans.approve_plan, self.plan(), key=str(self.ada)))

    def as_agent(self) -> Play:
        return self.play.as_(AGENT)

    def event(self, record: str, verb: str) -> Path:
        """Return the latest event file of a verb."""
        found = sorted((self.root / ".memento").rglob(f"{record}/*-{verb}-*.yaml"))
        return found[-1]

    def seen(self, path: Path) -> signing.Seen:
        """Return what the signature of a committed file comes to."""
        view = self.play.ledger.view()
        view.runs()
        record = view.record(path.relative_to(self.root).as_posix())
        assert record is not None, view.findings
        return signers.Verifier(view, view.policy()).seen(record)  # type: ignore[arg-type]


@pytest.fixture
def office(play: Play, tmp_path: Path) -> Office:
    return Office(play, tmp_path)


def refused(token: str, act: Callable[[], Any]) -> str:
    with pytest.raises(MementoError) as caught:
        act()
    assert caught.value.token == token, caught.value.message
    return caught.value.message


def test_a_signed_file_holds_its_signature_as_the_last_key_and_it_verifies_by_hand(
    office: Office, tmp_path: Path
) -> None:
    office.approved()
    path = next((office.root / ".memento").rglob("*-approved-*.yaml"))
    place = layout.place_of(path.relative_to(office.root).as_posix())
    assert place is not None
    body, _, block = path.read_text().partition("signature: |\n")
    (tmp_path / "sig").write_text("".join(line[2:] + "\n" for line in block.splitlines()))
    told = f"memento-git signature 1\nledger: ada/shop\nrun: {place.run}\nid: {place.id}\n\n{body}"
    done = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-n", "memento-git", "-I", "ada@example.invalid",
         "-f", str(office.root / ".memento" / "allowed_signers"), "-s", str(tmp_path / "sig")],
        input=told.encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert office.seen(path)[:2] == ("good", "ada@example.invalid")


def test_where_nothing_is_asked_nothing_is_signed(play: Play, run: str) -> None:
    assert "signature" not in next((play.root / ".memento").rglob("*-approved-*.yaml")).read_text()


def test_a_signed_approval_opens_the_way_to_a_release(office: Office) -> None:
    play, key = office.play, str(office.ada)
    office.approved()
    play.proven()
    run = next(iter(play.ledger.view().runs()))
    play.do(gates.record_gate, "final_acceptance", "passed", key=key)
    play.do(evidences.approve, run, key=key)
    found = play.do(releases.release_run, approvals=1, key=key)
    assert found.verdict.missing == ()
    assert found.verdict.approvers == (ADA,)
    assert play.do(runs.complete_run) == run
    assert play.status(run) == "completed"


def test_the_key_of_git_is_used_when_policy_demands(office: Office) -> None:
    git(office.root, "config", "gpg.format", "ssh")
    git(office.root, "config", "user.signingKey", f"{office.ada}")
    with Ledger.open(office.root) as ledger:
        Play(ledger).do(plans.approve_plan, office.plan())
    assert office.seen(next((office.root / ".memento").rglob("*-approved-*.yaml"))).state == "good"


def test_a_key_that_git_names_from_the_top_is_found_in_a_folder_below_as_git_finds_it(office: Office) -> None:
    git(office.root, "config", "gpg.format", "ssh")
    git(office.root, "config", "user.signingKey", f"../{office.ada.name}")
    assert office.ada.parent == office.root.parent
    plan, below = office.plan(), office.root / "below"
    below.mkdir()
    git(below, "commit", "-q", "--allow-empty", "-S", "-m", "git signs here, too")
    with Ledger.open(below) as ledger:
        Play(ledger).do(plans.approve_plan, plan)


def test_the_environment_names_a_key(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_SIGNING_KEY", str(office.ada))
    office.play.do(plans.approve_plan, office.plan())
    assert office.play.state(office.play.ledger.view().runs()[0]).canonical


# The agent tries every door.


def test_an_agent_without_a_key_approves_nothing(office: Office) -> None:
    plan, agent = office.plan(), office.as_agent()
    refused("signing_key_missing", lambda: agent.do(plans.approve_plan, plan))
    for nowhere in ("/no/such/key", "~nobody-of-that-name/key"):
        refused("signing_key_missing", functools.partial(agent.do, plans.approve_plan, plan, key=nowhere))
    for verdict, gate in (("passed", "final_acceptance"), ("waived", "quality_review"), ("waived", "release")):
        refused("signing_key_missing", functools.partial(agent.gate, gate, verdict, reason="why"))
    assert not office.play.state(plan).canonical
    assert list((office.root / ".memento").rglob("*-approved-*.yaml")) == []
    assert git(office.root, "status", "--porcelain") == ""


def test_an_agent_with_a_key_of_its_own_is_nobody(office: Office) -> None:
    plan, key = office.plan(), str(office.agent)
    message = refused("signature_required", lambda: office.as_agent().do(plans.approve_plan, plan, key=key))
    assert "not among the allowed signers" in message
    refused("signature_required", lambda: office.play.do(plans.approve_plan, plan, key=key))


def test_a_name_that_is_not_the_keys_is_somebody_elses(office: Office) -> None:
    plan, key = office.plan(), str(office.ada)
    message = refused("signature_required", lambda: office.as_agent().do(plans.approve_plan, plan, key=key))
    assert "somebody else's: it is of ada@example.invalid" in message


def test_an_allowed_signer_who_is_not_named_may_not(office: Office) -> None:
    grace = office.play.as_("Grace <grace@example.invalid>")
    message = refused("signature_required", lambda: grace.do(plans.approve_plan, office.plan(), key=str(office.grace)))
    assert "policy asks for ada@example.invalid" in message
    grace.gate("quality_review", "waived", reason="not now", key=str(office.grace))


def test_the_command_line_and_apply_are_refused_too(office: Office, cli: Call) -> None:
    plan = office.plan()
    root, agent = str(office.root), ("--actor", ADA, "--key", str(office.agent))
    for arguments in (
        ("plan", "approve", plan),
        ("gate", "record", "final_acceptance", "passed"),
        ("gate", "waive", "quality_review", "--reason", "no"),
        ("evidence", "approve", plan),
    ):
        code, out, _ = cli(*arguments, "-C", root, "--json", *agent)
        assert (code, json.loads(out)["error"]) == (1, "signature_required")
    text = f"- do: plan approve\n  plan: {plan}\n  key: {office.agent}\n"
    refused("signature_required", lambda: office.play.do(batch.apply, text.encode()))
    text = f"- do: gate waive\n  gate: release\n  reason: no\n  sign: true\n  key: {office.agent}\n"
    refused("signature_required", lambda: office.play.do(batch.apply, text.encode()))


def forged(office: Office, plan: str, signature: str = "") -> Path:
    """Write the approval of a plan by hand, in Ada's name, and commit it."""
    state = office.play.state(plan)
    folder = (office.root / layout.prose_path(state.id, plan)).parent
    path = folder / "20261122T030000000Z-approved-0123456789ab.yaml"
    text = f"do: approved\nof: {plan}\nat: 2026-11-22T03:00:00.000Z\nby: {ADA}\nafter: []\n"
    office.play.commit(path, text + f"text: {state.prose(plan).digest}\n" + signature, "by hand")
    return path


def test_a_hand_written_approval_hands_nothing_out(office: Office) -> None:
    plan = office.plan()
    forged(office, plan)
    assert office.play.state(plan).canonical == plan
    task = office.play.task()
    message = refused("signature_required", lambda: office.play.do(dispatches.create_dispatch, task, "agent"))
    assert "it is not signed" in message


def test_a_plan_that_was_approved_by_hand_can_still_be_approved_by_who_may(office: Office) -> None:
    plan = office.plan()
    forged(office, plan)
    task = office.play.task()
    office.play.do(plans.approve_plan, plan, key=str(office.ada))
    office.play.do(dispatches.create_dispatch, task, "agent")
    refused("plan_already_canonical", lambda: office.play.do(plans.approve_plan, plan, key=str(office.ada)))


def test_an_empty_name_of_a_key_is_a_mistake(office: Office, cli: Call) -> None:
    office.write(LOOSE)
    code, out, _ = cli("plan", "approve", office.plan(), "--key", "", "-C", str(office.root), "--json")
    assert (code, json.loads(out)["error"]) == (2, "usage")


def test_a_signature_does_not_serve_another_event_plan_or_run(office: Office) -> None:
    plan = office.approved()
    signature = "signature: |\n" + office.event(plan, "approved").read_text().partition("signature: |\n")[2]
    other = str(office.play.do(plans.draft_plan, "Other", "Do anything."))
    assert office.seen(forged(office, other, signature)).state == "bad"
    task = office.play.task()
    refused("record_contested", lambda: office.play.do(dispatches.create_dispatch, task, "agent"))
    office.play.do(runs.cancel_run, office.play.state(plan).id, reason="over")
    third = office.plan()
    assert office.seen(forged(office, third, signature)).state == "bad"


def test_a_signed_file_under_another_id_or_run_is_bad(office: Office) -> None:
    plan = office.approved()
    path = office.event(plan, "approved")
    copied = path.with_name(path.name[:-17] + "0123456789ab.yaml")
    copied.write_bytes(path.read_bytes())
    moved = Path(str(path).replace(office.play.state(plan).id, "run_0123456789ab"))
    moved.parent.mkdir(parents=True)
    moved.write_bytes(path.read_bytes())
    office.play.commit_all("copied")
    assert [office.seen(one).state for one in (path, copied, moved)] == ["good", "bad", "bad"]


def test_an_approval_of_before_does_not_bring_a_superseded_plan_back(office: Office) -> None:
    first = office.approved()
    second = str(office.play.do(plans.draft_plan, "Second", "Do better."))
    office.play.do(plans.approve_plan, second, key=str(office.ada))
    state = office.play.state(second)
    seen = [f"{event.id}@{event.digest}" for event in state.approving(second)]
    path = forged(office, first)
    office.play.commit(path, path.read_text().replace("after: []", f"after: [{', '.join(seen)}]"), "back to the first")
    assert office.play.state(first).canonical == first
    task = office.play.task()
    refused("signature_required", lambda: office.play.do(dispatches.create_dispatch, task, "agent"))


@pytest.mark.parametrize("kept", [True, False])
def test_a_signed_plan_that_holds_again_needs_no_new_signature(office: Office, *, kept: bool) -> None:
    play, first = office.play, office.approved()
    second = str(play.do(plans.draft_plan, "Second", "Do better."))
    task = play.task()
    git(office.root, "branch", "other")
    play.do(plans.approve_plan, second, key=str(office.ada))
    git(office.root, "switch", "-q", "other")
    play.do(plans.reject_plan, second, reason="no")
    rejection = play.state(second).folded(plans_of(play.state(second).id)).events[-1].event
    merge_into(office.root, "main", "other")
    approved = next(one.event for one in play.state(second).folded(plans_of(play.state(second).id)).events
                    if one.event.of == second and one.event.do == "approved")  # fmt: skip
    if kept:
        play.do(settling.settle_record, second, rejection.id, reason="not this one")
    else:
        play.do(settling.void_event, approved.id, reason="not this one")
    assert play.state(first).canonical == first
    assert [one.of for one in play.state(first).approving(first)] == [first]
    play.do(dispatches.create_dispatch, task, "agent")


def test_an_edit_of_the_plan_after_its_approval_is_not_signed(office: Office) -> None:
    plan = office.approved()
    path = office.root / layout.prose_path(office.play.state(plan).id, plan)
    path.write_text(path.read_text() + "\nAnd delete everything.\n")
    event = office.event(plan, "approved")
    old = re.search(r"text: (\w+)", event.read_text())
    assert old is not None
    office.play.commit(event, event.read_text().replace(old[1], codec.digest_of(path.read_bytes())), "edited both")
    assert office.seen(event).state == "bad"
    task = office.play.task()
    refused("signature_required", lambda: office.play.do(dispatches.create_dispatch, task, "agent"))


def test_a_signature_moved_to_another_actor_or_anything_after_it_is_bad(office: Office) -> None:
    plan = office.approved()
    event = office.event(plan, "approved")
    kept = event.read_text()
    for text in (
        kept.replace("by: Ada <ada@example.invalid>", "by: Grace <grace@example.invalid>"),
        kept + "note: and more\n",
        kept.replace("signature: |\n", "note: more\nsignature: |\n"),
        kept.replace("signature: |\n", "signature: |+\n"),
    ):
        assert text != kept
        office.play.commit(event, text, "tampered")
        assert office.seen(event).state == "bad"


@pytest.mark.parametrize(
    ("options", "state", "why"),
    [
        ('valid-before="20250101"', "expired", ".memento/allowed_signers:2 has it"),
        ('valid-after="20400101"', "expired", ".memento/allowed_signers:2 has it"),
        (
            'namespaces="git"', "unknown_key",
            ".memento/allowed_signers:2 has it, and does not let it sign for the namespace memento-git",
        ),
        ('valid-after="20250101",valid-before="20400101"', "good", ""),
        ('namespaces="git,memento-git"', "good", ""),
    ],
)  # fmt: skip
def test_the_options_of_allowed_signers_count_as_git_counts_them(
    office: Office, options: str, state: str, why: str
) -> None:
    plan = office.approved()
    office.signers(f"# the team\nada@example.invalid {options} {public(office.ada)}")
    assert office.seen(office.event(plan, "approved"))[::2] == (state, why)


def test_a_line_of_a_signer_that_ssh_keygen_cannot_read_is_what_a_finding_tells_to_mend(office: Office) -> None:
    plan = office.approved()
    office.signers(f'# the team\nada@example.invalid namespaces="memento-git {public(office.ada)}')
    seen = office.seen(office.event(plan, "approved"))
    assert seen.state == "unchecked"
    assert seen.why.startswith(".memento/allowed_signers:2 has its key, and ssh-keygen cannot read that line: ")
    (one,) = [one for one in check(office.play.ledger, no_base=True).findings if one.code in ("K001", "K002")]
    assert seen.why in one.message
    assert one.fix == signing.KEYS


def test_a_revoked_key_counts_no_more(office: Office) -> None:
    plan = office.approved()
    office.revoke(office.grace)
    assert office.seen(office.event(plan, "approved")).state == "good"
    office.revoke(office.ada)
    assert office.seen(office.event(plan, "approved"))[:2] == ("revoked", "ada@example.invalid")
    task = office.play.task()
    refused("signature_required", lambda: office.play.do(dispatches.create_dispatch, task, "agent"))


def test_a_list_of_revoked_keys_that_cannot_be_read_is_said_so_and_trusts_nobody(office: Office, cli: Call) -> None:
    event = office.event(office.approved(), "approved")
    path = office.root / ".memento" / "revoked"
    key = public(office.grace)
    for text, line in ((f"{key}\ngarbage\n", 2), ("SHA256:abc\n", 1), (f"\n{key.split()[1]}\n", 2)):
        office.play.commit(path, text, "unreadable")
        assert office.seen(event).state == "unchecked"
        why = f"policy names .memento/revoked, where line {line} is no public key"
        assert why in cli("check", "-C", str(office.root))[1]
        assert "canonical  Plan  unsigned\n" in cli("status", "-C", str(office.root))[1]
        told = [
            one for one in check(office.play.ledger, no_base=True).findings if "could not be checked" in one.message
        ]
        assert [(why in one.message, one.fix) for one in told] == [(True, signing.KEYS)]
    other = str(office.play.do(plans.draft_plan, "P", "B"))
    refused("signers_missing", lambda: office.play.do(plans.approve_plan, other, key=str(office.ada)))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_files_of_keys_mean_what_an_editor_shows(office: Office, mark: bytes, end: bytes) -> None:
    event = office.event(office.approved(), "approved")
    folder = office.root / ".memento"
    lines = ["", "# gone", f"{public(office.grace)} a comment", f"\t {public(office.agent)}"]
    (folder / "revoked").write_bytes(mark + b"".join(line.encode() + end for line in lines))
    signers = (folder / "allowed_signers").read_bytes().replace(b"\n", end)
    (folder / "allowed_signers").write_bytes(mark + signers)
    office.play.commit_all("by another editor")
    assert office.seen(event)[:2] == ("good", "ada@example.invalid")
    (folder / "revoked").write_bytes(mark + f"{public(office.ada)}".encode() + end)
    office.play.commit_all("revoked")
    assert office.seen(event).state == "revoked"


def test_a_krl_is_a_list_of_revoked_keys(office: Office, cli: Call) -> None:
    event = office.event(office.approved(), "approved")
    krl = office.root / ".memento" / "revoked"
    for key, state in ((office.grace, "good"), (office.ada, "revoked")):
        krl.unlink()
        subprocess.run(["ssh-keygen", "-q", "-k", "-f", str(krl), f"{key}.pub"], check=True)
        office.play.commit_all("krl")
        assert office.seen(event).state == state
    krl.write_bytes(krl.read_bytes()[:-20])
    office.play.commit_all("cut off")
    assert office.seen(event).state == "unchecked"
    why = "policy names .memento/revoked, which ssh-keygen cannot read as a KRL"
    assert why in cli("check", "-C", str(office.root))[1]


@pytest.mark.parametrize(
    ("key", "line", "why"),
    [
        ("grace", "", "its signature is somebody else's"),
        ("grace", "revoked", "its key is revoked"),
        ("ada", 'ada@example.invalid valid-before="20200101" ', "its key was not valid at that time"),
    ],
)
def test_what_nothing_demands_is_not_signed_so_that_check_would_refuse_it(
    office: Office, key: str, line: str, why: str
) -> None:
    office.write(LOOSE.replace("}", ", revoked: .memento/revoked}"))
    if line == "revoked":
        office.revoke(office.grace)
    elif line:
        office.signers(line + public(office.ada))
    play, plan, used = office.play, office.plan(), str(getattr(office, key))
    for act in (
        lambda: play.do(plans.approve_plan, plan, key=used),
        lambda: play.do(evidences.approve, play.state(plan).id, key=used),
        lambda: play.gate("quality_review", "failed", key=used),
    ):
        assert why in refused("signing_refused", act)
    play.do(plans.approve_plan, plan)


@pytest.mark.parametrize(
    ("line", "whose"),
    [
        ("*@elsewhere.invalid", ""),
        ("gr?ce@example.invalid", ""),
        ("!ada@example.invalid,*@example.invalid", ""),
        ("*@elsewhere.invalid,grace@example.invalid", "grace@example.invalid"),
    ],
)
def test_a_pattern_for_several_people_is_never_told_as_a_persons_name(office: Office, line: str, whose: str) -> None:
    event = office.event(office.approved(), "approved")
    office.signers(f"{line} {public(office.ada)}")
    assert office.seen(event)[:2] == ("other_actor", whose)
    office.revoke(office.ada)
    assert office.seen(event)[:2] == ("revoked", whose)
    other = str(office.play.do(plans.draft_plan, "P", "B"))
    message = refused("signature_required", lambda: office.play.do(plans.approve_plan, other, key=str(office.ada)))
    assert ("it is of" in message, line in message) == (bool(whose), False)


def test_a_signature_for_another_purpose_is_bad(office: Office) -> None:
    plan = office.plan()
    path = forged(office, plan)
    place = layout.place_of(path.relative_to(office.root).as_posix())
    assert place is not None
    covered = signing.cover("ada/shop", place.run, place.id, path.read_bytes())
    path.write_bytes(signing.seal(path.read_bytes(), signer.sign(covered, str(office.ada), "git")))
    office.play.commit_all("a commit's signature")
    assert office.seen(path).state == "bad"


def test_a_certificate_of_an_authority_is_a_signer(office: Office, tmp_path: Path) -> None:
    authority = make_key(tmp_path, "authority")
    subprocess.run(
        ["ssh-keygen", "-q", "-s", str(authority), "-I", "ada", "-n", "ada@example.invalid", f"{office.ada}.pub"],
        check=True,
    )
    office.signers(f"*@example.invalid cert-authority {public(authority)}")
    plan = office.plan()
    office.play.do(plans.approve_plan, plan, key=f"{office.ada}-cert.pub")
    assert office.seen(office.event(plan, "approved"))[:2] == ("good", "ada@example.invalid")
    refused("signature_required", lambda: office.play.do(plans.approve_plan, office.play.do(
        plans.draft_plan, "P", "B"), key=str(office.ada)))  # fmt: skip


@pytest.mark.parametrize("validity", ["20200101:20210101", "20400101:20410101"])
def test_a_certificate_counts_in_its_time(office: Office, tmp_path: Path, validity: str) -> None:
    authority = make_key(tmp_path, "authority")
    certify = ["ssh-keygen", "-q", "-s", str(authority), "-I", "ada", "-n", "ada@example.invalid", "-V", validity]
    subprocess.run([*certify, f"{office.ada}.pub"], check=True)
    office.signers(f"*@example.invalid cert-authority {public(authority)}")
    plan = office.plan()
    told = refused("signature_required", lambda: office.play.do(plans.approve_plan, plan, key=f"{office.ada}-cert.pub"))
    assert "not valid at that time" in told


def test_where_the_trunk_itself_names_the_ledger_first_the_way_is_to_push_it(play: Play, tmp_path: Path) -> None:
    Hub(play)
    office = Office(play, tmp_path)
    plan, key = office.plan(), str(office.ada)
    with pytest.raises(signers.LedgerRenamed) as caught:
        play.do(plans.approve_plan, plan, key=key)
    assert caught.value.hint.endswith(": memento sync")
    git(play.root, "switch", "-qc", "work", "--track")
    with pytest.raises(signers.LedgerRenamed) as caught:
        play.do(plans.approve_plan, plan, key=key)
    assert "sync" not in caught.value.hint
    git(play.root, "switch", "-q", "main")
    assert syncing.sync(play.ledger).brought.outcome == "pushed"
    play.do(plans.approve_plan, plan, key=key)


def test_files_that_policy_names_must_be_there(office: Office) -> None:
    plan = office.approved()
    event = office.event(plan, "approved")
    git(office.root, "rm", "-q", ".memento/revoked")
    office.play.commit_all("no list of revoked keys")
    assert office.seen(event).state == "unchecked"
    office.revoke()
    path = office.root / ".memento" / "allowed_signers"
    (office.root / "elsewhere").write_text(path.read_text())
    path.unlink()
    path.symlink_to("../elsewhere")
    office.play.commit_all("a link")
    assert office.seen(event).state == "unchecked"
    other = str(office.play.do(plans.draft_plan, "P", "B"))
    refused("signers_missing", lambda: office.play.do(plans.approve_plan, other, key=str(office.ada)))


def test_who_demands_signatures_and_forgets_a_file_of_keys_is_told_before_anybody_signs(
    play: Play, tmp_path: Path
) -> None:
    def told(base: str = "") -> list[str]:
        return [one.message for one in check(play.ledger, base=base, no_base=not base).findings if one.code == "K001"]

    git(play.root, "branch", "base")
    office = Office(play, tmp_path)
    assert (told(), told("base")) == ([], [])
    git(office.root, "rm", "-q", ".memento/revoked")
    play.commit_all("no list of revoked keys")
    lacks = ["policy names .memento/revoked, and there is no such file at this commit"]
    assert (told(), told("base")) == (lacks, lacks)
    git(play.root, "branch", "-f", "base")
    play.run()
    assert (told(), told("base")) == (lacks, [])


def test_where_two_plans_are_approved_each_report_says_who_signed_which(
    office: Office, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = office.play
    monkeypatch.chdir(office.root)
    office.write(LOOSE)
    play.run()
    one, other = (str(play.do(plans.draft_plan, f"Plan {name}", "Do it.")) for name in "AB")
    git(office.root, "checkout", "-qb", "side")
    play.do(plans.approve_plan, one, key=str(office.ada))
    git(office.root, "checkout", "-q", "-")
    play.as_("agent:hermes").do(plans.approve_plan, other, key=str(office.agent))
    git(office.root, "merge", "-q", "--no-edit", "side")
    bad = "signature not good: its key is not among the allowed signers"
    for form in (("status",), ("plan", "list"), ("report",), ("report", "--format", "html")):
        told = cli(*form)[1].replace("\\", "")
        assert "signed by ada@example.invalid" in told
        assert bad in told
        assert "contested" in told


def test_a_plan_whose_approval_lacks_its_signature_says_so_everywhere(
    office: Office, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was approved on a branch that is not asked for a signature, and comes to where one is asked."""
    play = office.play
    monkeypatch.chdir(office.root)
    start = git(office.root, "rev-parse", "HEAD")
    office.write(LOOSE)
    plan = str(play.do(plans.approve_plan, office.plan()))
    assert json.loads(cli("plan", "list", "--json")[1])["plans"][0]["unsigned"] == []
    office.write(POLICY)
    why = f"plan {plan} was approved without the signature it needs: it is not signed"
    assert json.loads(cli("plan", "list", "--json")[1])["plans"][0]["unsigned"] == [why]
    assert json.loads(cli("show", plan, "--json")[1])["plan"]["unsigned"] == [why]
    assert json.loads(cli("status", "--json")[1])["plans"][0]["unsigned"] == [why]
    assert "approved without the signature it needs: it is not signed" in cli("plan", "list")[1]
    assert "Plan  unsigned" in cli("status")[1]
    assert f"**unsigned**: {why}" in cli("report")[1].replace("\\_", "_")
    assert why in json.dumps(json.loads(cli("diff", f"{start}..HEAD", "--json")[1]))
    assert f"unsigned: {why}" in cli("diff", f"{start}..HEAD")[1]
    play.do(plans.approve_plan, plan, key=str(office.ada))
    assert json.loads(cli("show", plan, "--json")[1])["plan"]["unsigned"] == []
    assert "unsigned" not in cli("status")[1]


def test_an_unsigned_verdict_by_hand_completes_and_releases_nothing(office: Office) -> None:
    play = office.play
    office.approved()
    play.proven()
    office.write(LOOSE)
    play.gate("final_acceptance", "passed")
    play.gate("release", "passed")
    play.gate("quality_review", "failed")
    play.gate("quality_review", "waived", reason="no")
    office.write(POLICY)
    message = refused("signature_required", lambda: play.do(runs.complete_run))
    assert message.count("it is not signed") == 3
    verdict = play.do(releases.release_run, key=str(office.ada)).verdict
    assert len([one for one in verdict.missing if "without the signature" in one]) == 2
    task = play.task()
    refused("signature_required", lambda: play.do(dispatches.create_dispatch, task, "agent"))
    play.gate("final_acceptance", "passed", key=str(office.ada))
    play.gate("quality_review", "waived", reason="seen", key=str(office.ada))


def test_an_unsigned_pass_of_the_release_gate_is_recorded_anew(office: Office) -> None:
    play = office.play
    office.approved()
    play.proven()
    office.write(LOOSE)
    play.do(releases.release_run)
    office.write(POLICY)
    refused("signature_required", lambda: play.do(runs.complete_run))
    assert play.do(releases.release_run, key=str(office.ada)).event
    play.do(runs.complete_run)


def test_only_signed_approvals_count_for_a_release_and_a_person_once(office: Office) -> None:
    play, key = office.play, str(office.ada)
    run = play.state(office.approved()).id
    play.proven()
    office.write(LOOSE)
    for actor in (ADA, "Eve <eve@example.invalid>"):
        play.as_(actor).do(evidences.approve, run)
    office.write(POLICY)
    assert play.do(releases.release_run, approvals=1).verdict.approvers == ()
    play.as_(ADA).do(evidences.approve, run, key=key)
    play.as_("ada@example.invalid").do(evidences.approve, run, key=key)
    assert len(play.do(releases.release_run, approvals=2).verdict.approvers) == 1
    play.as_("Grace <grace@example.invalid>").do(evidences.approve, run, key=str(office.grace))
    assert len(play.do(releases.release_run, approvals=2, key=key).verdict.approvers) == 2


def test_an_unsigned_approval_proves_no_task(office: Office) -> None:
    office.write(POLICY + "  require: [approval]\n")
    play = office.play
    office.approved()
    task = play.task()
    after = play.task(depends_on=[task])
    dispatch = play.claimed(task)
    add = functools.partial(play.do, evidences.add_evidence, "approval", tasks=[task], uri="https://x.invalid/1")
    refused("signing_key_missing", lambda: add(outcome="passed"))
    refused("signing_key_missing", lambda: play.do(evidences.approve, task))
    keep = (office.root / ".memento" / "config.yaml").read_text()
    office.write(LOOSE + "  require: [approval]\n")
    unsigned = play.do(evidences.approve, task)
    play.complete(dispatch, play.evidence(task), unsigned)
    office.write(keep)
    assert play.is_proven(task)
    message = refused("signature_required", lambda: play.do(dispatches.create_dispatch, after, "agent"))
    assert f"rests on {unsigned}" in message
    play.do(tasks.cancel_task, after, reason="over")
    refused("signature_required", lambda: play.do(runs.complete_run))
    play.do(tasks.reopen_task, task, reason="unsigned")
    signed = play.do(evidences.approve, task, key=str(office.ada))
    play.complete(play.claimed(task), play.evidence(task), signed)
    play.do(runs.complete_run)


def test_only_a_signed_yes_lets_a_risky_candidate_be_chosen(office: Office) -> None:
    office.write(LOOSE)
    contest = Contest(office.play, office.play.planned())
    risky = contest.attempt("ann", {".github/workflows/ci.yml": "on: push\n"})
    office.write(LOOSE[:-2] + ", require: {approvals: []}}\n")
    state = office.play.state(contest.task)
    (diff,) = [name for name in state.ids("evidence") if (one := state.evidence(name)) and one.kind == "diff"]
    refused("signature_required", lambda: office.play.do(evidences.approve, diff, key=str(office.agent)))
    office.play.as_("eve").do(evidences.approve, diff, response="not yet")
    assert contest.select().chosen is None
    office.play.do(evidences.approve, diff, key=str(office.ada))
    assert contest.select().chosen is None
    office.signers(f"ada@example.invalid {public(office.ada)}", f"eve {public(office.agent)}")
    office.play.as_("eve").do(evidences.approve, diff, key=str(office.agent))
    assert contest.select().decision()["selected_dispatch_id"] == risky


def test_who_worked_under_a_bare_address_does_not_approve_under_the_whole_name(office: Office) -> None:
    office.write(POLICY + "  release: {not_author: true}\n")
    play = office.play
    run = play.state(office.approved()).id
    play.as_("ada@example.invalid").proven()
    play.do(evidences.approve, run, key=str(office.ada))
    assert play.do(releases.release_run, approvals=1).verdict.approvers == ()


def test_an_approval_of_a_text_that_was_edited_counts_no_more(office: Office) -> None:
    play, key = office.play, str(office.ada)
    run = play.state(office.approved()).id
    play.proven()
    play.do(evidences.approve, run, key=key)
    path = office.root / layout.prose_path(run, run)
    play.commit(path, path.read_text() + "\nAnd something else.\n", "another goal")
    assert play.do(releases.release_run, approvals=1).verdict.approvers == ()


def test_a_diff_is_judged_by_the_signers_of_its_base(office: Office) -> None:
    base = git(office.root, "rev-parse", "HEAD")
    office.signers(f"ada@example.invalid {public(office.agent)}")
    plan = office.plan()
    office.play.do(plans.approve_plan, plan, key=str(office.agent))
    path = office.event(plan, "approved").relative_to(office.root).as_posix()
    view, before = office.play.ledger.view(), office.play.ledger.view([base])
    view.runs()
    assert signed.check(view, view.commits[0], view.policy(), [path]) == []
    found = signed.check(view, base, before.policy(), [path])
    assert [(one.code, one.path, one.severity) for one in found] == [("K001", path, "error")]


def test_a_diff_tells_who_approved_a_plan_once_more(office: Office) -> None:
    plan = office.plan()
    forged(office, plan)
    base = git(office.root, "rev-parse", "HEAD")
    office.play.do(plans.approve_plan, plan, key=str(office.ada))
    held = compare(office.play.ledger, base)
    (told,) = held["runs"][0]["plans"]
    assert (told["from"], told["to"], told["approved_again"], told["unsigned"]) == ("canonical", "canonical", True, [])
    assert "canonical, approved again by Ada" in diff_text.text(held)
    assert "canonical, approved again by Ada" in markdown(held)


def test_a_branch_that_lets_its_own_key_in_is_found_by_check(office: Office) -> None:
    base = git(office.root, "rev-parse", "HEAD")
    office.signers(f"ada@example.invalid {public(office.agent)}")
    plan = office.plan()
    office.play.do(plans.approve_plan, plan, key=str(office.agent))
    found = check(office.play.ledger, base=base).findings
    assert [(one.code, one.severity) for one in found if one.code in ("K001", "C003")] == [
        ("K001", "error"), ("C003", "warning"),
    ]  # fmt: skip
    office.write(LOOSE)
    told = [one.message for one in check(office.play.ledger, base=base).findings if one.code == "C003"]
    assert any("signatures.require.plan_approval: no signature is asked now" in one for one in told)
    assert any("signatures.revoked: another file, or none" in one for one in told)


def test_check_knows_a_hand_written_approval_and_a_good_signature(office: Office) -> None:
    base = git(office.root, "rev-parse", "HEAD")
    plan = office.approved()
    assert [one for one in check(office.play.ledger, base=base).findings if one.code[0] == "K"] == []
    forged(office, plan)
    found = [one for one in check(office.play.ledger, base=base).findings if one.code[0] == "K"]
    assert [(one.code, one.severity) for one in found] == [("K001", "error")]
    found = [one for one in check(office.play.ledger, no_base=True).findings if one.code[0] == "K"]
    assert [(one.code, one.severity) for one in found] == [("K001", "warning")]


def test_an_approval_without_a_signature_is_no_fault_once_it_is_given_again_with_one(office: Office) -> None:
    base = git(office.root, "rev-parse", "HEAD")
    plan = office.plan()
    forged(office, plan)
    assert "K001" in [one.code for one in check(office.play.ledger, base=base).findings]
    office.play.do(plans.approve_plan, plan, key=str(office.ada))
    assert [one for one in check(office.play.ledger, base=base).findings if one.code[0] == "K"] == []


def test_an_approval_without_a_signature_is_not_made_good_by_that_of_other_words(office: Office) -> None:
    base = git(office.root, "rev-parse", "HEAD")
    plan = office.plan()
    path = forged(office, plan).relative_to(office.root).as_posix()
    text = office.root / layout.prose_path(office.play.state(plan).id, plan)
    office.play.commit(text, text.read_text() + "\nAnd show it.\n", "more")
    office.play.do(plans.approve_plan, plan, key=str(office.ada))
    found = [one for one in check(office.play.ledger, base=base).findings if one.code[0] == "K"]
    assert [(one.code, one.path) for one in found] == [("K001", path)]


# Keys and agents.


def test_an_encrypted_key_signs_nothing_and_asks_nothing(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    helper = tmp_path / "askpass"
    helper.write_text(f"#!/bin/sh\ntouch {asked}\necho secret\n")
    helper.chmod(0o755)
    for name, value in (("SSH_ASKPASS", str(helper)), ("DISPLAY", ":0"), ("SSH_ASKPASS_REQUIRE", "force")):
        monkeypatch.setenv(name, value)
    key = make_key(tmp_path, "locked", "secret")
    message = refused("signing_refused", lambda: office.play.do(plans.approve_plan, office.plan(), key=str(key)))
    assert "encrypted" in message
    assert not asked.exists()


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A running ssh-agent of this test; its socket has a short path, as sockets need."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("there is no ssh-agent here")
    with tempfile.TemporaryDirectory() as folder:
        start = ["ssh-agent", "-s", "-a", str(Path(folder, "agent"))]
        told = subprocess.run(start, capture_output=True, check=True, text=True).stdout
        found = dict(re.findall(r"(SSH_\w+)=([^;]+)", told))
        monkeypatch.setenv("SSH_AUTH_SOCK", found["SSH_AUTH_SOCK"])
        yield
        os.kill(int(found["SSH_AGENT_PID"]), signal.SIGTERM)


@pytest.mark.usefixtures("agent")
def test_a_key_that_an_agent_holds_signs(office: Office) -> None:
    subprocess.run(["ssh-add", "-q", str(office.ada)], check=True)
    office.ada.unlink()
    plan = office.plan()
    office.play.do(plans.approve_plan, plan, key=f"{office.ada}.pub")
    assert office.seen(office.event(plan, "approved")).state == "good"
    git(office.root, "config", "gpg.format", "ssh")
    git(office.root, "config", "user.signingKey", f"key::{public(office.ada)}")
    with Ledger.open(office.root) as ledger:
        Play(ledger).gate("release", "waived", reason="by the literal")
    assert office.seen(next((office.root / ".memento").rglob("*-waived-*.yaml"))).state == "good"


def test_a_literal_key_that_no_agent_holds_signs_nothing(office: Office) -> None:
    key = f"key::{public(office.ada)}"
    refused("signing_refused", lambda: office.play.do(plans.approve_plan, office.plan(), key=key))


def test_an_agent_that_does_not_answer_is_given_up(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    monkeypatch.setattr(signer, "SIGNING_TIMEOUT", 0.5)
    with socket.socket(socket.AF_UNIX) as silent:
        path = tmp_path.parent / "silent"
        silent.bind(str(path))
        silent.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        message = refused(
            "signing_refused", lambda: office.play.do(plans.approve_plan, office.plan(), key=str(office.ada))
        )
    assert "no answer" in message


def test_without_ssh_keygen_it_is_said_and_reading_goes_on(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = office.approved()
    other = str(office.play.do(plans.draft_plan, "P", "B"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git") or "git")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    refused("ssh_keygen_missing", lambda: office.play.do(plans.approve_plan, other, key=str(office.ada)))
    assert office.seen(office.event(plan, "approved")).state == "unchecked"
    told = [one.fix for one in check(office.play.ledger, no_base=True).findings if one.code in ("K001", "K002")]
    assert told
    assert all("where ssh-keygen is on PATH" in fix for fix in told), "nobody signs again what is signed well"


# What is shown.


def test_rows_and_lists_say_whose_signature_it_is(office: Office, cli: Call) -> None:
    plan = office.approved()
    office.play.gate("final_acceptance", "passed", key=str(office.ada))
    root = str(office.root)
    for _ in range(2):
        held = json.loads(cli("status", "-C", root, "--json")[1])
        assert [(row["signature"], row["signed_by"]) for row in held["plans"]] == [("good", "ada@example.invalid")]
        assert [(row["signature"], row["signed_by"]) for row in held["gates"]] == [("good", "ada@example.invalid")]
    for arguments in (("plan", "list"), ("gate", "list"), ("status",), ("report",)):
        assert "signed by ada@example.invalid" in cli(*arguments, "-C", root)[1], arguments
    row = json.loads(cli("plan", "show", plan, "-C", root, "--json")[1])["plan"]
    assert (row["signature"], row["approved_by"]) == ("good", ADA)
    office.revoke(office.ada)
    assert "its key is revoked" in cli("gate", "list", "-C", root)[1]


def test_what_is_kept_of_a_signature_names_no_file_that_went(office: Office, cli: Call) -> None:
    office.approved()
    office.signers(f"grace@example.invalid {public(office.grace)}")
    root = str(office.root)
    assert "no line of .memento/allowed_signers has it" in cli("status", "-C", root, "--json")[1]
    git(office.root, "mv", ".memento/allowed_signers", ".memento/keys")
    (office.root / ".memento" / "config.yaml").write_text(POLICY.replace("/allowed_signers", "/keys"))
    office.play.commit_all("another name")
    assert "no line of .memento/keys has it" in cli("status", "-C", root, "--json")[1]


def test_the_cache_decides_nothing(office: Office, cli: Call) -> None:
    plan = office.plan()
    forged(office, plan)
    path = office.event(plan, "approved")
    place = layout.place_of(path.relative_to(office.root).as_posix())
    assert place is not None
    covered = signing.cover("ada/shop", place.run, place.id, path.read_bytes())
    path.write_bytes(signing.seal(path.read_bytes(), signer.sign(covered, str(office.agent), signing.NAMESPACE)))
    office.play.commit_all("signed by the agent")
    cli("status", "-C", str(office.root))
    kept = office.root / ".git" / "memento" / "cache" / "signatures.json"
    kept.write_text(kept.read_text().replace('"unknown_key", ""', '"good", "ada@example.invalid"'))
    shown = json.loads(cli("status", "-C", str(office.root), "--json")[1])["plans"][0]
    assert shown["signature"] == "good"
    task = office.play.task()
    refused("signature_required", lambda: office.play.do(dispatches.create_dispatch, task, "agent"))


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_key_is_the_same_in_whichever_certificate(tmp_path: Path, kind: str) -> None:
    """One that signs as it is, or by a certificate for any name, is one person's."""
    authority = make_key(tmp_path, "authority")
    keys = [tmp_path / name for name in ("one", "other")]
    for key in keys:
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(key)], check=True)
    plain = [signing.key_in(signer.sign(b"text", str(key), signing.NAMESPACE)) for key in keys]
    for name in ("ada", "bob"):
        command = ["ssh-keygen", "-q", "-s", str(authority), "-I", name, "-n", name, f"{keys[0]}.pub"]
        subprocess.run(command, check=True)
        by_certificate = signer.sign(b"text", f"{keys[0]}-cert.pub", signing.NAMESPACE)
        assert signing.key_in(by_certificate) == plain[0]
    assert plain[0] != plain[1]


def test_doctor_tells_of_what_is_unsigned_and_what_is_forged(office: Office, cli: Call) -> None:
    first = office.approved()
    assert "K00" not in cli("doctor", "-C", str(office.root))[1]
    office.write(LOOSE)
    event = office.event(first, "approved")
    event.write_text(event.read_text().replace("by: Ada", "by: Ida"))
    second = str(office.play.do(plans.draft_plan, "P", "B"))
    office.play.do(evidences.approve, second)
    office.write(POLICY)
    told = [row for row in json.loads(cli("doctor", "-C", str(office.root), "--json")[1])["checks"]
            if row["name"] == "signatures"]  # fmt: skip
    kinds = [(row["status"], "not signed" in row["message"], "not for these" in row["message"]) for row in told]
    assert sorted(kinds) == [("warn", False, True), ("warn", True, False)]
    office.write(LOOSE)
    assert cli("doctor", "-C", str(office.root))[1].count("K002") == 1
    git(office.root, "rm", "-q", ".memento/allowed_signers")
    office.play.commit_all("nobody")
    assert "there is no such file" in cli("doctor", "-C", str(office.root))[1]


def test_a_tree_whose_policy_cannot_be_read_is_judged_by_the_last_one_that_can(office: Office, play: Play) -> None:
    office.write(f"{POLICY}knowledge: {{domains: [kitchen]}}\n")
    office.approved()
    play.do(notes.add_note, "Salt first.", domain="kitchen")
    cook = b"name: cook\nsteps: [{do: active, domains: [kitchen]}]\n"
    play.do(save_recipe, "cook", cook)
    assert check(play.ledger, no_base=True).findings == []
    path = office.root / ".memento" / "config.yaml"
    path.write_text(f"{path.read_text()}twice: 1\n")
    git(play.root, "add", ".memento")
    staged = check(play.ledger, staged=True).findings
    play.commit_all("broken")
    whole, added = check(play.ledger, no_base=True).findings, check(play.ledger, base="HEAD~1").findings
    (play.root / ".memento" / "recipes" / "dine.yaml").write_text(cook.decode().replace("cook", "dine"))
    git(play.root, "add", ".memento")
    beside = check(play.ledger, staged=True).findings
    assert [[one.code for one in told] for told in (staged, whole, added)] == [["F002"]] * 3
    assert [one.code for one in beside] == ["F002", "C003"]
    for told, message in (("version: 1\n", "lax for a moment"), (path.read_text(), "as broken as before")):
        path.write_text(told)
        play.commit_all(message)
    assert "kitchen" in check(play.ledger, base="HEAD~2").policy.domains, "no branch chooses what judges it"


def test_doctor_names_the_lines_of_allowed_signers_that_nobody_can_read(office: Office, cli: Call) -> None:
    event = office.event(office.approved(), "approved")
    ada = f'ada@example.invalid namespaces="memento-git" {public(office.ada)}'
    grace = public(office.grace)
    office.signers("# people", "", f"{ada} a comment", f"ida@example.invalid foo=bar {grace}", f"ida {grace[:40]}", "")
    assert office.seen(event).state == "good"
    code, out, _ = cli("doctor", "-C", str(office.root), "--json")
    told = [row["message"] for row in json.loads(out)["checks"] if "counts for nobody" in row["message"]]
    assert (code, [one.split()[0] for one in told]) == (0, [f".memento/allowed_signers:{line}" for line in (4, 5)])
    office.signers(ada)
    assert "counts for nobody" not in cli("doctor", "-C", str(office.root))[1]


def test_status_without_signatures_loads_nothing_of_them(play: Play, run: str) -> None:
    code = (
        "import sys; from memento_git.cli.boundary import run; run(['status']); "
        "print([name for name in sys.modules if name.rpartition('.')[2] in "
        "('signing', 'signer', 'signers', 'signatures', 'runners')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=play.root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_check_judges_a_branch_by_the_signers_of_its_base(office: Office, cli: Call) -> None:
    base = git(office.root, "rev-parse", "HEAD")
    office.signers(f"ada@example.invalid {public(office.agent)}")
    plan = office.plan()
    office.play.do(plans.approve_plan, plan, key=str(office.agent))
    path = office.event(plan, "approved").relative_to(office.root).as_posix()

    code, out, _ = cli("check", "--base", base, "-C", str(office.root), "--format", "json")

    found = [(one["code"], one["path"], one["severity"]) for one in json.loads(out)["findings"]]
    assert code == 5
    assert ("K001", path, "error") in found


def test_of_events_of_equal_standing_one_signature_is_enough_whichever_comes_first() -> None:
    tale = Tale()
    signed, bare = (tale.events[tale.tell("approved", PLAN, by=who, after=(), text=TEXT)] for who in (ADA, BOB))
    asked = {"require": {"plan_approval": [ADA]}}

    def seen(event: Event) -> signing.Seen:
        return signing.Seen("good", ADA) if event is signed else signing.UNSIGNED

    for candidates, told in (
        ((signed,), ""), ((signed, bare), ""), ((bare, signed), ""), ((bare,), signing.UNSIGNED.told),
        ((), "no event that stands says so"),
    ):  # fmt: skip
        assert signing.none_signed(asked, candidates, seen) == told
    assert signing.none_signed({"require": {"release": []}}, (bare,), seen) == ""
