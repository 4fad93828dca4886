"""What is said in another's name where a diff does not show it: in what is left of a redacted record, in archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import codec, layout
from memento_git.work.actions import evidences, runs, settling
from tests.cheats.doors import run_of
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

BOB = "Bob <bob@example.invalid>"
NAMED = f"  gates: {{verdicts: {{quality_review: ['{BOB}']}}}}\n"
TOLD = f"1 record by {BOB} was committed by Ada"
WHY = "It held a token."
NEVER = "0123456789ab"


def phantom(doors: Doors) -> str:
    """Write a redaction of a verdict of Bob's that never was, on the run; return the event."""
    run, name = run_of(doors), f"event_{NEVER}"
    heads = [head for key in (run, f"plans:{run}") for head in doors.play.state(run).folded(key).heads]
    after = sorted(str(doors.event(head).ref) for head in heads)
    kept = {"do": "passed", "of": run, "at": doors.play.ledger.now(), "by": BOB, "after": after}
    kept |= {"gate": "quality_review"}
    doors.forge(run, "redacted", target=f"{name}@{'0' * 32}", kept=kept, reason=WHY)
    return name


def told(doors: Doors) -> dict[str, list[str]]:
    """Return what `check` tells of who committed what, by door."""
    found = {}
    for door, options, root in doors.arrivals():
        _, rows = doors.check(*options, root=root)
        found[door] = [row["message"] for row in rows if row["code"] == "C002"]
    return found


def test_a_verdict_of_anothers_that_is_nothing_but_redacted(doors: Doors) -> None:
    """Way: nobody named for the gate has said anything, and no file says that he has."""
    doors.policy(NAMED)
    phantom(doors)
    assert doors.gate("quality_review") == "passed"
    assert TOLD in doors.warned("C002")


def test_a_verdict_in_the_name_that_a_mailmap_of_the_branch_gives_its_author(doors: Doors) -> None:
    """Way: git can be told to show each commit of Ada's as one of Bob's, by a file that a branch may bring."""
    doors.policy(NAMED)
    doors.write(".mailmap", f"{BOB} <ada@example.invalid>\n")
    doors.forge(run_of(doors), "passed", by=BOB, gate="quality_review")
    assert TOLD in doors.warned("C002")


def test_a_redaction_of_such_a_redaction(doors: Doors) -> None:
    doors.policy(NAMED)
    phantom(doors)
    for _ in doors.accepted("evidence redact", target=doors.last(run_of(doors), "redacted"), reason=WHY):
        assert TOLD in doors.warned("C002")


def test_a_verdict_in_anothers_name_that_is_redacted_at_once(doors: Doors) -> None:
    """Way: the file that says who it is by is gone, and the commit that brought it is the liar's."""
    doors.policy(NAMED)
    event = doors.forge(run_of(doors), "passed", by=BOB, gate="quality_review")
    for _ in doors.accepted("evidence redact", target=event, reason=WHY):
        assert TOLD in doors.warned("C002")


def test_a_no_of_anothers_that_is_nothing_but_redacted(doors: Doors) -> None:
    """Way: what is left of an answer that nobody gave takes back the one that was given."""
    doors.policy("  release: {approvals: 1}\n")
    doors.play.proven()
    run = run_of(doors)
    doors.play.as_(BOB).do(evidences.approve, run)
    doors.landed()
    at, name = doors.play.ledger.now(), f"evidence_{NEVER}"
    kept = {"kind": "approval", "at": at, "by": BOB, "outcome": "failed", "approves": run}
    text = {"do": "redacted", "of": name, "at": at, "by": "Ada", "after": [], "target": f"{name}@{'0' * 32}"}
    folder = layout.folder_of(run, name)
    data = codec.encode({**text, "kept": kept, "reason": WHY})
    doors.write(f"{folder}/{layout.event_name(at, 'redacted', f'event_{NEVER}')}", data)
    assert TOLD in doors.warned("C002")


@pytest.mark.parametrize("landed", [True, False])
def test_an_honest_redaction_of_what_another_wrote(doors: Doors, *, landed: bool) -> None:
    """Bob judged and committed that himself; after a squash nobody can tell."""
    doors.policy(NAMED)
    event = doors.forge(run_of(doors), "passed", by=BOB, gate="quality_review")
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", BOB)
    if landed:
        doors.landed()
    doors.play.do(settling.redact_record, event, reason=WHY)
    found = told(doors)
    assert found.pop("squash") == ([] if landed else [f"{TOLD} <ada@example.invalid>"])
    assert [*found.values()] == [[]] * 4


def test_a_verdict_of_anothers_in_an_archive(doors: Doors) -> None:
    """Way: no file of the branch says who it is by."""
    doors.policy(NAMED)
    run = run_of(doors)
    path, data = doors.drafted(run, "passed", by=BOB, gate="quality_review")
    doors.packed(run, {path: data})
    assert doors.gate("quality_review") == "passed"
    assert TOLD in doors.warned("C002")


def test_a_redaction_in_an_archive(doors: Doors) -> None:
    doors.policy(NAMED)
    run = run_of(doors)
    phantom(doors)
    event = doors.last(run, "redacted")
    path, data = doors.path(event), doors.file(event).read_bytes()
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    doors.packed(run, {path: data})
    assert TOLD in doors.warned("C002")


@pytest.mark.parametrize("by", [BOB, "\u0410da <\u0430da@example.invalid>"])
def test_an_approval_of_anothers_in_an_archive(doors: Doors, by: str) -> None:
    run, name = run_of(doors), f"evidence_{NEVER}"
    about = {"approves": run, "text": doors.ref(run).digest}
    told = {"id": name, "kind": "approval", "at": doors.play.ledger.now(), "by": by, "outcome": "passed", **about}
    doors.packed(run, {layout.evidence_path(run, name): codec.encode(told)})
    if by == BOB:
        assert TOLD in doors.warned("C002")
    else:
        assert "looks like Ada" in doors.caught("C006")


@pytest.mark.parametrize("landed", [True, False])
def test_an_honest_archive_of_what_another_wrote(doors: Doors, *, landed: bool) -> None:
    """Bob judged and committed that himself, and Ada archives the run; after a squash nobody can tell."""
    doors.policy(NAMED)
    doors.play.proven()
    run = run_of(doors)
    doors.forge(run, "passed", by=BOB, gate="quality_review")
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", BOB)
    if landed:
        doors.landed()
    doors.play.do(runs.complete_run, run)
    doors.play.do(runs.archive_run, run)
    found = told(doors)
    assert found.pop("squash") == ([] if landed else [f"{TOLD} <ada@example.invalid>"])
    assert [*found.values()] == [[]] * 4


@pytest.mark.parametrize("address", ["mallory@example.invalid", "grace@example.invalid"])
def test_a_verdict_in_a_bare_name_of_the_base(doors: Doors, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Way: git's user is called as the reviewer is, and the verdict names nothing but that."""
    doors.play.as_("Grace <grace@example.invalid>").gate("plan_review", "passed")
    doors.landed()
    for name, value in {"NAME": "Grace", "EMAIL": address}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
    doors.forge(run_of(doors), "passed", gate="quality_review", by="Grace")
    found = f"Grace judged, which is the name of Grace <grace@example.invalid>, and Grace <{address}> committed it"
    for door, messages in told(doors).items():
        assert messages == ([found] if address.startswith("mallory") and door != "staged" else []), door
