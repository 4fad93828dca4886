"""What nobody can read is redacted: a secret in it goes, and nothing that counted goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import codec
from memento_git.work.actions import settling
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

SECRET = "AKIAIOSFODNN7" + "EXAMPLQ"


def test_a_secret_in_an_event_that_cannot_be_read_is_redacted(doors: Doors) -> None:
    task = doors.play.task()
    told = {"do": "blocked", "of": task, "at": "2026-01-01T00:00:00.000Z", "by": ADA, "after": []}
    name = "0123456789ab"
    path = f"{doors.path(task).rpartition('/')[0]}/20260101T000000000Z-blocked-{name}.yaml"
    doors.write(path, codec.encode(told) + f"reson: Waits for {SECRET}.\n".encode())
    doors.caught("S001", "F002", "E001")
    assert [*doors.accepted("evidence redact", target=f"event_{name}", reason="A key.")]
    assert not (doors.root / path).exists()
    doors.sound()


def test_a_secret_in_evidence_that_cannot_be_read_is_redacted(doors: Doors) -> None:
    task = doors.play.task()
    shown = doors.shown(task, kind="note", nonsense=f"It is {SECRET}.")
    doors.caught("S001", "F002")
    doors.play.do(settling.redact_record, shown, reason="A key.")
    doors.sound()


def test_a_failure_that_is_made_unreadable_and_redacted(doors: Doors) -> None:
    """Way: of what cannot be read nothing is left, so neither is that the gate had failed."""
    run = run_of(doors)
    doors.play.as_("Grace").gate("implementation_review", "failed", run=run, reason="Not good.")
    failed = doors.last(run, "failed")
    doors.edit(failed, "do: failed", "do: failed\nnonsense: x")
    assert [*doors.accepted("evidence redact", target=failed, reason="A slip.")]
    assert failed in doors.caught("D010")


def test_an_event_that_nobody_could_ever_read_beside_a_copy_of_another(doors: Doors) -> None:
    """Way: what hides a copy: the event is edited, and something removed, so that the check breaks off."""
    task = doors.play.task()
    doors.play.claimed(task)
    claimed = doors.last(task, "claimed")
    broken = doors.forge(task, "blocked", nonsense="x")
    lost = doors.play.evidence(task)
    paths = [line for line in git(doors.root, "ls-files").splitlines() if line.endswith(f"-{broken[6:]}.yaml")]
    doors.landed()
    doors.write(paths[0], (doors.root / paths[0]).read_bytes() + b"more: y\n")
    doors.remove(lost)
    other = doors.play.task("Another")
    folder = doors.path(other).rpartition("/")[0]
    doors.write(f"{folder}/{doors.file(claimed).name}", doors.file(claimed).read_bytes())
    doors.caught("D004", "E001", "F008")
