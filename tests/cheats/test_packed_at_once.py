"""What came with the branch in an archive alone, as `apply` writes it in one commit, or a squash: it is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import layout
from memento_git.verbs import notes
from memento_git.work.actions import evidences, gates, runs, settling
from tests.cheats.forging import GATE, MAIN, WORK
from tests.play import git, merge_into

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cheats.doors import Doors

    Way = Callable[[Doors, str], None]

WHY = "It loses data."


def refused_and_packed(tx: Any, run: str) -> str:
    """Fail a gate of a run, call the run off and archive it, all in one commit; return the evidence that shows why."""
    shown = evidences.add_evidence(tx, "note", summary=WHY, run=run)
    gates.record_gate(tx, GATE, "failed", run=run, note=WHY)
    runs.cancel_run(tx, run, reason=WHY)
    runs.archive_run(tx, run)
    return str(shown)


def archives(doors: Doors, run: str) -> list[str]:
    return [path for path in doors.play.ledger.view().files if path.startswith(f"{layout.ARCHIVE}/{run}/")]


def by_revert(doors: Doors, run: str) -> None:
    git(doors.root, "revert", "--no-edit", "HEAD")


def by_merge(doors: Doors, run: str) -> None:
    """Let a merge keep the side from before."""
    side = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    git(doors.root, "merge", "-q", "--no-ff", "-s", "ours", "-m", "merge", side)


def by_another(doors: Doors, run: str) -> None:
    """Pack the run once more, all but what Grace said."""
    view = doors.play.ledger.view()
    names = view.index(run).events
    ours = {path for do in ("failed", "cancelled") for path in names.values() if f"-{do}-" in path}
    held = {path: view.read(path) or b"" for path in view.archived[run] if path not in ours}
    git(doors.root, "rm", "-q", *archives(doors, run))
    doors.packed(run, held)


WAYS = [by_revert, by_merge, by_another]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("landed", [False, True])
def test_a_failed_gate_that_came_in_an_archive_alone(doors: Doors, way: Way, *, landed: bool) -> None:
    """Way: no commit has the verdict in a file of its own, so that none seems to have taken it away."""
    run = doors.play.planned("Two")
    task = doors.play.task(run=run)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    if landed:
        doors.landed()
    doors.play.as_("Grace").do(refused_and_packed, run)
    failed = doors.last(run, "failed")
    way(doors, run)
    assert doors.gate(GATE, run) == "none"
    assert f"{failed} was on the branch, and " in doors.caught("D010")


def test_evidence_that_came_in_an_archive_alone_comes_again_with_other_words(doors: Doors) -> None:
    run = doors.play.planned("Two")
    shown = doors.play.as_("Grace").do(refused_and_packed, run)
    state = doors.play.state(run)
    path = state.index.evidence[shown]
    said = state.view.read(path) or b""
    by_revert(doors, run)
    doors.write(path, said.replace(WHY.encode(), b"It is good."))
    assert f"{shown} came with other words" in doors.caught("D010")


def test_what_is_packed_otherwise_is_not_taken_back(doors: Doors) -> None:
    """The honest way: an archive is unpacked again as it was, a text in it is redacted, and it is packed anew."""
    run = doors.play.planned("Two")
    doors.play.as_("Grace").do(refused_and_packed, run)
    view = doors.play.ledger.view()
    view.index(run)
    held = {path: view.read(path) or b"" for path in view.archived[run]}
    doors.play.do(settling.redact_record, doors.last(run, "failed"), reason="It names a customer.")
    doors.sound()
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    git(doors.root, "rm", "-q", *archives(doors, run))
    for path, data in held.items():
        doors.write(path, data)
    doors.sound()
    doors.play.do(runs.archive_run, run)
    doors.sound()
    git(doors.root, "branch", "-q", "side", MAIN)
    git(doors.root, "switch", "-q", "side")
    git(doors.root, "merge", "-q", "--squash", WORK)
    git(doors.root, "commit", "-qm", "squash")
    git(doors.root, "branch", "-qf", MAIN, "side")
    merge_into(doors.root, WORK, MAIN)
    doors.sound()


def test_evidence_of_a_note_that_is_retracted_in_an_archive_alone(doors: Doors) -> None:
    """Way: the retraction lies in no file of its own, and the note goes on as if its evidence held."""
    run = doors.play.planned("Two")
    task = doors.play.task(run=run)
    shown = doors.play.evidence(task)
    note = doors.play.do(notes.add_note, "The tests of the parser are fast.", evidence=[shown])
    doors.landed()
    doors.play.do(retracted_and_packed, run, shown)
    assert f"{note} rests on {shown}, which was retracted" in doors.warned("N009")


def retracted_and_packed(tx: Any, run: str, evidence: str) -> None:
    evidences.retract(tx, evidence, reason=WHY)
    runs.cancel_run(tx, run, reason=WHY)
    runs.archive_run(tx, run)
