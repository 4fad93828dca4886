"""Files with one id: which of them is the copy, what is said of it, and what it comes to that it is taken away."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from memento_git.ledger import codec
from memento_git.work.actions import tasks
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA, MAIN
from tests.play import take_out

if TYPE_CHECKING:
    from tests.cheats.doors import Doors, Row

GATE = "implementation_review"
COPY = "run_000000000000"
LEAVE = "leave out the commit that did this"


def rows(doors: Doors, code: str) -> list[Row]:
    return [row for row in doors.check("--base", MAIN)[1] if row["code"] == code]


def test_a_verdict_of_the_base_whose_id_another_event_has(doors: Doors) -> None:
    """Way: its file comes first by its name, so that the failure is taken for the copy, and the gate for open."""
    run = run_of(doors)
    task = doors.play.proven()
    doors.play.as_("Grace").gate(GATE, "failed", run=run, reason="Not good.")
    failed = doors.last(run, "failed")
    doors.landed()
    folder, _, name = doors.path(failed).rpartition("/")
    twin = f"{folder}/20200101T000000000Z-requested-{name[-17:]}"
    told = {"do": "requested", "of": run, "at": "2020-01-01T00:00:00.000Z", "by": ADA, "after": [], "gate": GATE}
    doors.write(twin, codec.encode(told))
    doors.forge(run, "completed", sees=[*doors.play.state(task).folded(task).heads])
    said = doors.caught("F008", "P004")
    assert f"{failed} is in {folder}/{name} too" in said
    assert f"gate {GATE} of {run} has failed" in said
    [row] = rows(doors, "F008")
    assert (row["path"], row["fix"].startswith(LEAVE)) == (twin, True)


def copied(doors: Doors) -> None:
    """Copy the folder of a run of the main branch, as a template."""
    runs = doors.root / ".memento" / "runs"
    shutil.copytree(runs / run_of(doors), runs / COPY)
    doors.play.commit_all("a template")


def test_a_run_that_is_copied_and_whose_copy_is_removed(doors: Doors) -> None:
    doors.play.proven()
    doors.landed()
    copied(doors)
    doors.caught("F008")
    assert all(row["path"].startswith(f".memento/runs/{COPY}/") for row in rows(doors, "F008"))
    take_out(doors.root, f".memento/runs/{COPY}", message="no template")
    doors.sound()


def test_a_failed_gate_of_the_branch_that_is_moved_into_another_run(doors: Doors) -> None:
    """Way: the same bytes are there, and nobody finds them where they belong."""
    other = doors.play.run("Another")
    doors.landed()
    task = doors.play.task(run=other)
    doors.play.as_("Grace").gate(GATE, "failed", task=task, reason="No.")
    failed = doors.last(task, "failed")
    old = doors.path(failed)
    new = old.replace(other, next(run for run in doors.play.ledger.view().runs() if run != other))
    data = doors.file(failed).read_bytes()
    doors.remove(old)
    doors.write(new, data)
    assert f"{failed} was on the branch" in doors.caught("D010", "F007")


def test_a_void_that_came_with_a_commit_is_left_out_with_it(doors: Doors) -> None:
    task = doors.play.task()
    doors.play.do(tasks.block_task, task, reason="It waits.")
    blocked = doors.last(task, "blocked")
    doors.forge(task, "voided", sees=[], target=blocked, reason="No.")
    doors.caught("T007")
    assert [row["fix"].startswith(LEAVE) for row in rows(doors, "T007")] == [True]
