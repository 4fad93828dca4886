"""What the canonical plan of the base asks is edited away, or another plan that asks less takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import plans

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

WORDS = "python3 check.py"
ASKED: dict[str, Any] = {"commands": [WORDS]}
WHOLE = "  commands:\n  - run:\n    - python3\n    - check.py\n"
TERMS = "    reports:\n    - junit.xml\n    timeout: 1m\n"
LESS = "asks less: before, the plan asks for"


@pytest.fixture
def strict(doors: Doors) -> str:
    """A canonical plan of the main branch on which a task is handed out; it asks for a command with its report."""
    run = next(iter(doors.play.ledger.view().runs()))
    plan = str(doors.play.do(plans.draft_plan, "Strict", "Do it.", run=run, **ASKED))
    doors.edit(plan, WHOLE, WHOLE + TERMS)
    approve(doors, plan)
    doors.play.claimed(doors.play.task())
    doors.landed()
    return plan


def approve(doors: Doors, plan: str) -> None:
    doors.play.do(plans.approve_plan, plan)


def lax(doors: Doors, of: str, **asks: Any) -> str:
    """Let another plan take the place of one; return it."""
    plan = str(doors.play.do(plans.draft_plan, "Lax", "Do it.", run=doors.play.state(of).id, **asks))
    approve(doors, plan)
    return plan


def emptied(doors: Doors, plan: str) -> None:
    doors.edit(plan, f"verify:\n{WHOLE}{TERMS}", "")


def test_a_plan_that_is_made_easier_and_approved_again(doors: Doors, strict: str) -> None:
    emptied(doors, strict)
    approve(doors, strict)
    assert f"{strict} changed, and {LESS} `{WORDS}`" in doors.warned("D007")


def test_a_plan_that_is_made_easier_before_an_easy_one_takes_its_place(doors: Doors, strict: str) -> None:
    emptied(doors, strict)
    easy = lax(doors, strict)
    assert f"{easy} took the place of {strict}, and {LESS} `{WORDS}`" in doors.warned("D007")


def test_a_plan_that_is_made_easier_after_it_was_rejected(doors: Doors, strict: str) -> None:
    """Way: between a rejection and the next approval no plan holds, so that nobody compares it with one."""
    doors.play.do(plans.reject_plan, strict, reason="Too much.")
    doors.landed()
    emptied(doors, strict)
    assert f"{strict} changed, and {LESS} `{WORDS}`" in doors.warned("D007")


def test_a_plan_in_the_place_of_one_that_was_rejected_before(doors: Doors, strict: str) -> None:
    doors.play.do(plans.reject_plan, strict, reason="Too much.")
    doors.landed()
    assert LESS in (lax(doors, strict) and doors.warned("D007"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    reports:\n    - junit.xml\n", ""),
        ("    timeout: 1m\n", "    timeout: 1h\n"),
        ("    timeout: 1m\n", ""),
        ("    timeout: 1m\n", "    timeout: 1m\n    kind: lint\n"),
    ],
)
def test_a_plan_that_asks_for_the_same_command_on_easier_terms(doors: Doors, strict: str, old: str, new: str) -> None:
    easy = str(doors.play.do(plans.draft_plan, "Lax", "Do it.", run=doors.play.state(strict).id, **ASKED))
    doors.edit(easy, WHOLE, WHOLE + TERMS)
    doors.edit(easy, old, new)
    approve(doors, easy)
    told = f"{LESS} `{WORDS}` as test evidence, with junit.xml, within 60 s"
    assert f"{easy} took the place of {strict}, and {told}" in doors.warned("D007")


def test_a_plan_that_asks_what_policy_asks_of_some_tasks_alone(doors: Doors) -> None:
    """Way: an entry of policy for other tasks asks the same."""
    doors.policy("  verify: [{when: {risks: [medium]}, evidence: [lint]}]\n")
    strict = lax(doors, next(iter(doors.play.ledger.view().runs())), require=["lint"])
    doors.landed()
    assert f"took the place of {strict}, and {LESS} lint evidence" in (lax(doors, strict) and doors.warned("D007"))


def test_a_plan_that_asks_as_much_or_more(doors: Doors, strict: str) -> None:
    """The honest way: a plan is worded anew, and another one asks what policy does not ask of everybody already."""
    doors.policy("  verify: [{evidence: [lint]}]\n")
    doors.edit(strict, "Do it.", "Do it well.")
    doors.edit(strict, "timeout: 1m\n", "timeout: 30s\n  evidence: [lint]\n")
    approve(doors, strict)
    doors.sound()
    doors.landed()
    more = str(doors.play.do(plans.draft_plan, "More", "Do it.", run=doors.play.state(strict).id, **ASKED))
    doors.edit(more, WHOLE, f"{WHOLE}    reports: [junit.xml, more.xml]\n    timeout: 10s\n")
    approve(doors, more)
    doors.sound()
