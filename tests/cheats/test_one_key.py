"""One key under several names: the file of allowed signers may list them in one line, in two, or as a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import evidences, plans
from tests.cheats.forging import ADA, GRACE, MAIN
from tests.cheats.test_approval_signed import Desk
from tests.play import git
from tests.test_signatures import public

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cheats.doors import Doors

ADELE = "Adele <adele@example.invalid>"
ASKED = """\
  plan: {not_author: PLAN}
  release: {RELEASE}
  signatures: {allowed_signers: .memento/allowed_signers, ledger: ada/shop, require: {approvals: []}}
"""
LINES = (
    ["ada@example.invalid,adele@example.invalid KEY"],
    ["ada@example.invalid KEY", "adele@example.invalid KEY"],
    ["ad*@example.invalid KEY"],
)
LAPSED = (
    ['ada@example.invalid valid-before="20200101" KEY', "adele@example.invalid KEY"],
    ['ada@example.invalid namespaces="git,memento-git",valid-after="20200101Z",valid-before="20200102Z" KEY',
     "adele@example.invalid KEY"],
)  # fmt: skip


@pytest.fixture
def desk(doors: Doors, tmp_path: Path) -> Desk:
    return Desk(doors, tmp_path)


def listed(desk: Desk, lines: Sequence[str], release: str, *, plan: str = "false") -> None:
    """Let Ada's key be on the list under two names, beside Grace's; and let policy ask that of a release."""
    git(desk.doors.root, "switch", "-q", MAIN)
    ada, grace = public(desk.office.ada), public(desk.office.grace)
    desk.office.signers(*(line.replace("KEY", ada) for line in lines), f"grace@example.invalid {grace}")
    desk.back()
    desk.doors.policy(ASKED.replace("RELEASE", release).replace("PLAN", plan))


def approve(desk: Desk, run: str, by: str, key: Path) -> None:
    desk.doors.play.as_(by).do(evidences.approve, run, key=str(key))


@pytest.mark.parametrize("lines", LINES)
def test_two_approvals_with_one_key_under_two_names(desk: Desk, lines: Sequence[str]) -> None:
    """Way: a second name of one's own on the list is taken for a second person."""
    doors = desk.doors
    listed(desk, lines, "approvals: 2")
    run = doors.play.state(doors.play.proven()).id
    doors.landed()
    for name in (ADA, ADELE):
        approve(desk, run, name, desk.office.ada)
    doors.unreleased(run, "approvals: 1 of 2")
    approve(desk, run, GRACE, desk.office.grace)
    assert doors.missing(run) == []
    doors.sound()


@pytest.mark.parametrize("lines", [*LINES, *LAPSED])
def test_an_approval_of_ones_own_work_with_ones_key_under_another_name(desk: Desk, lines: Sequence[str]) -> None:
    doors = desk.doors
    listed(desk, lines, "approvals: 1, not_author: true")
    run = doors.play.state(doors.play.proven()).id
    doors.landed()
    approve(desk, run, ADELE, desk.office.ada)
    doors.unreleased(run, "approvals: 0 of 1")
    approve(desk, run, GRACE, desk.office.grace)
    assert doors.missing(run) == []
    doors.sound()


@pytest.mark.parametrize("lines", [*LINES, *LAPSED])
def test_a_plan_of_ones_own_that_is_approved_with_ones_key_under_another_name(desk: Desk, lines: Sequence[str]) -> None:
    doors = desk.doors
    listed(desk, lines, "approvals: 1", plan="true")
    plan = desk.plan()
    doors.landed()
    told = doors.refused("approver_refused", "plan approve", actor=ADELE, plan=plan, key=str(desk.office.ada))
    assert "policy asks for another than its author" in told
    desk.signs(plan, desk.office.ada, by=ADELE)
    assert "it is signed with the key of its author" in doors.caught("P003")
    doors.play.as_(GRACE).do(plans.approve_plan, plan, key=str(desk.office.grace))
    assert "P003" not in {row["code"] for row in doors.check("--base", MAIN)[1]}
