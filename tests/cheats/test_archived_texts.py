"""Texts that change by way of an archive: packed away as they are, and another one beside it in the next request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import plans, runs, tasks
from tests.cheats.doors import run_of
from tests.cheats.forging import HARD
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cheats.doors import Doors

    Way = Callable[[Doors, str, str, bytes], str]


def packed_away(doors: Doors, record: str) -> str:
    """Put the text of a record into an archive by hand, as the first of two requests; return where it was."""
    path, said = doors.path(record), doors.file(record).read_bytes()
    git(doors.root, "rm", "-q", path)
    doors.packed(doors.play.state(record).id, {path: said})
    doors.sound()
    doors.landed()
    return path


def beside_it(doors: Doors, run: str, path: str, text: bytes) -> str:
    doors.write(path, text)
    return path


def in_a_second_archive(doors: Doors, run: str, path: str, text: bytes) -> str:
    """Pack the other text so that its archive is read before the first one."""
    first = next(name for name in doors.play.ledger.view().files if f"archive/{run}/" in name)
    for spaces in range(1, 200):
        packed = doors.packed(run, {path: text.rstrip() + b"\n" * spaces})
        if packed < first:
            return packed
        git(doors.root, "reset", "-q", "--hard", "HEAD^")
    raise AssertionError


WAYS = [beside_it, in_a_second_archive]


@pytest.mark.parametrize("way", WAYS)
def test_an_easier_text_of_a_task_whose_own_was_packed_away(doors: Doors, way: Way) -> None:
    task = doors.play.task(criteria=[HARD])
    claim = doors.play.claimed(task)
    easier = doors.file(task).read_bytes().replace(HARD.encode(), b"It runs.")
    path = packed_away(doors, task)
    brought = way(doors, doors.play.state(task).id, path, easier)
    proof = doors.play.evidence(task)
    doors.refused("terms_changed", "dispatch complete", dispatch=claim, evidence=[proof])
    doors.completed(task, proof, dispatch=claim)
    doors.unproven(task, "it was handed out on other terms")
    assert f"{task} was in_progress when its criteria" in doors.caught("D007")
    told = next(row["fix"] for row in doors.check("--base", "main")[1] if row["code"] == "D007")
    assert told == f"git rm {brought}"
    git(doors.root, *told.split()[1:])
    git(doors.root, "commit", "-qm", "as it was")
    assert doors.play.state(task).prose(task).list("criteria") == [HARD]


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_becomes_a_spike_whose_own_text_was_packed_away(doors: Doors, way: Way) -> None:
    run = doors.play.run("Two")
    task = doors.play.task(run=run)
    spike = doors.file(run).read_bytes().replace(b"\nby: ", b"\nspike: true\nby: ", 1)
    way(doors, run, packed_away(doors, run), spike)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert f"spike of {run} was None and is True" in doors.caught("D005")


def test_a_loose_copy_of_an_archived_text_and_event(doors: Doors) -> None:
    """No way: the same bytes beside the archive change nothing."""
    run = doors.play.run("Two")
    doors.play.do(runs.cancel_run, run, reason="No.")
    done = doors.last(run, "cancelled")
    files = {path: (doors.root / path).read_bytes() for path in (doors.path(run), doors.path(done))}
    doors.play.do(runs.archive_run, run)
    doors.landed()
    for path, said in files.items():
        doors.write(path, said)
    doors.sound()


def test_an_archive_on_one_side_and_a_revised_text_on_the_other(doors: Doors) -> None:
    """The honest way: a text is revised while somebody else completes and archives the run."""
    run = doors.play.run("Two")
    plan = doors.play.do(plans.draft_plan, "Plan", "Work.", run=run)
    doors.play.do(plans.approve_plan, plan)
    task = doors.play.task(run=run)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.landed()
    doors.play.do(tasks.revise_task, task, title="Another")
    git(doors.root, "switch", "-q", "main")
    doors.play.do(runs.complete_run, run)
    doors.play.do(runs.archive_run, run)
    git(doors.root, "switch", "-q", "work")
    with pytest.raises(AssertionError):
        git(doors.root, "merge", "-q", "--no-edit", "main")
    git(doors.root, "add", "--force", doors.path(task))
    git(doors.root, "commit", "-qm", "merge")
    assert f"{task} was completed when its title changed" in doors.warned("D007")


def test_an_archive_that_is_taken_back_after_policy_became_stricter(doors: Doors) -> None:
    """The honest way: what comes out of the archive as it was is older than the policy."""
    doors.play.proven()
    run = run_of(doors)
    doors.play.do(runs.complete_run, run)
    doors.play.do(runs.archive_run, run)
    doors.landed()
    doors.policy("  plan: {not_author: true}\n  gates: {required: [release]}\n")
    git(doors.root, "revert", "--no-edit", "HEAD^")
    doors.sound()
