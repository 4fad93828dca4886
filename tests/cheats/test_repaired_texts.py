"""A repair is held against the task that it repairs, so that this one's own text is weakened as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import codec
from memento_git.verbs import settling
from memento_git.work.actions import dispatches, tasks, verifying
from memento_git.work.dispatch import terms
from tests.cheats.forging import HARD, MAIN, WORK
from tests.play import git, merge_into

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

WHEN = (
    "  verify:\n  - {when: {risks: [high]}, evidence: [lint]}\n"
    "  - {when: {kinds: [feature]}, commands: [{run: [make]}]}\n"
    "  - {when: {files: ['auth/*']}, trust: reproduced}\n  - {when: {risks: [low, medium]}, evidence: [test]}\n"
)
ABOUT: dict[str, Any] = {"risk": "high", "kind": "feature", "files": ["auth/key.py"]}
LESS = [
    ("risk: high\n", "risk: low\n", "policy for risk high asks for lint evidence"),
    ("kind: feature\n", "kind: chore\n", "policy for kind feature asks for `make`"),
    ("- auth/key.py\n", "- doc.md\n", "policy for files auth/* asks for reproduced evidence or better"),
]


@pytest.fixture
def rejected(doors: Doors) -> str:
    """A task of the main branch that was done, and rejected."""
    task = doors.play.task(criteria=[HARD, "It starts."], require=["test", "lint"])
    claim = doors.play.claimed(task)
    doors.play.complete(claim, doors.play.evidence(task), doors.play.evidence(task, kind="lint"))
    doors.forge(task, "rejected", unmet=[f"criterion: {HARD}"])
    doors.landed()
    return task


def weakened(doors: Doors, *names: str, old: str = "  - lint\n", new: str = "") -> None:
    for name in names:
        doors.edit(name, old, new)


@pytest.mark.parametrize(("old", "new"), [(f"- {HARD}\n", ""), ("  - lint\n", "")])
def test_a_task_that_is_weakened_with_its_repair(doors: Doors, rejected: str, old: str, new: str) -> None:
    repair = doors.play.do(verifying.repair_task, rejected)
    doors.landed()
    weakened(doors, rejected, repair, old=old, new=new)
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    assert f"{repair}, which repairs it, could ask less by it" in doors.caught("D007")


def test_a_criterion_that_becomes_another_one_with_its_repair_is_told(doors: Doors, rejected: str) -> None:
    """Way: of easy words, which nobody but people tells from the honest way: whoever mends a typo does the same."""
    repair = doors.play.do(verifying.repair_task, rejected)
    doors.landed()
    weakened(doors, rejected, repair, old=HARD, new="It runs.")
    doors.play.complete(
        doors.play.claimed(repair), doors.play.evidence(repair), doors.play.evidence(repair, kind="lint")
    )
    assert f"could ask less by it: criterion '{HARD}'" in doors.warned("D007")


def test_a_criterion_that_becomes_one_which_nobody_sees(doors: Doors, rejected: str) -> None:
    """Way: there are as many criteria as before, so that it looks like a typo that somebody mended."""
    repair = doors.play.do(verifying.repair_task, rejected)
    doors.landed()
    evidence = doors.play.evidence(repair), doors.play.evidence(repair, kind="lint")
    doors.play.complete(doors.play.claimed(repair), *evidence)
    weakened(doors, rejected, repair, old=HARD, new="\u200b")
    assert "a text is missing here" in doors.caught("F002")


def test_a_task_that_is_weakened_before_its_repair_is(doors: Doors, rejected: str) -> None:
    """Way: in the first request only the cancelled task, in the second its repair, which then asks the same."""
    repair = doors.play.do(verifying.repair_task, rejected)
    doors.landed()
    weakened(doors, rejected)
    assert f"{repair}, which repairs it, could ask less by it" in doors.caught("D007")


def test_a_task_that_is_weakened_repaired_and_done_in_one_go(doors: Doors, rejected: str) -> None:
    weakened(doors, rejected)
    repair = doors.play.do(verifying.repair_task, rejected)
    assert repair in doors.warned("D007")
    lint = doors.play.evidence(repair, kind="lint")
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair), lint)
    assert repair in doors.caught("D007")


def test_a_task_that_asks_more_or_is_called_otherwise_may_be_repaired(doors: Doors, rejected: str) -> None:
    """The honest way: what its repair is held against only grows."""
    doors.play.do(verifying.repair_task, rejected)
    doors.landed()
    doors.play.do(tasks.revise_task, rejected, title="Another", criteria=[HARD, "It starts.", "It is fast."])
    doors.sound("P005")


def unmet(doors: Doors, **about: Any) -> str:
    """Return a rejected task of the main branch, of which policy asks more than of others."""
    doors.policy(WHEN)
    task = doors.play.task(**about)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert doors.play.do(verifying.verify_task, task).unmet
    doors.landed()
    return task


@pytest.mark.parametrize(("old", "new", "told"), LESS)
def test_a_repair_of_which_policy_asks_less(doors: Doors, old: str, new: str, told: str) -> None:
    """Way: its own words ask for nothing less, and policy's `when` does not see it any more."""
    task = unmet(doors, **ABOUT)
    repair = doors.play.do(verifying.repair_task, task)
    doors.sound()
    weakened(doors, repair, old=old, new=new)
    assert f"{repair} repairs {task}, and asks less: {told}" in doors.warned("P005")
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    assert f"{repair} repairs {task}, and asks less: {told}" in doors.caught("P005")


@pytest.mark.parametrize(("old", "new", "told"), LESS)
def test_a_task_of_which_policy_asks_less_with_its_repair(doors: Doors, old: str, new: str, told: str) -> None:
    task = unmet(doors, **ABOUT)
    repair = doors.play.do(verifying.repair_task, task)
    doors.landed()
    weakened(doors, task, repair, old=old, new=new)
    assert f"{repair}, which repairs it, could ask less by it: {told}" in doors.caught("D007")


@pytest.mark.parametrize(("old", "new", "told"), LESS)
def test_a_task_of_which_policy_asks_less_after_it_was_handed_out(doors: Doors, old: str, new: str, told: str) -> None:
    """Way: the completion is of the new text, of which policy asks what it shows."""
    doors.policy(WHEN)
    about: dict[str, Any] = next({key: value} for key, value in ABOUT.items() if str(value).strip("[']") in old)
    task = doors.play.task(**about)
    claim = doors.play.claimed(task)
    doors.landed()
    weakened(doors, task, old=old, new=new)
    doors.completed(task, doors.play.evidence(task), dispatch=claim)
    doors.unproven(task, "it was handed out on other terms")
    assert f"{task} was in_progress when its {next(iter(about))} changed" in (said := doors.caught("D007", "P001"))
    assert f"less is asked by it: {told}" in said


def test_a_repair_of_which_policy_asks_as_much_or_more(doors: Doors) -> None:
    """The honest way: its files are other ones, its risk is higher, and it asks itself what policy asked before."""
    task = unmet(doors, risk="medium", kind="feature", files=["a.py"])
    repair = doors.play.do(verifying.repair_task, task)
    weakened(doors, repair, old="risk: medium\n", new="risk: high\n")
    weakened(doors, repair, old="- a.py\n", new="- b.py\n")
    weakened(doors, repair, old="kind: feature\n", new="verify:\n  evidence: [test]\n  commands: [{run: [make]}]\n")
    doors.sound()


def test_a_repair_of_a_repair_that_asked_less(doors: Doors, rejected: str) -> None:
    """Way: a repair is made easier and cancelled, and what repairs that one asks as little."""
    first = doors.play.do(verifying.repair_task, rejected)
    weakened(doors, first, old="  - lint\n", new="")
    doors.play.complete(doors.play.claimed(first), doors.play.evidence(first))
    doors.forge(first, "rejected", unmet=["It runs."])
    second = doors.play.do(verifying.repair_task, first)
    doors.landed()
    doors.play.complete(doors.play.claimed(second), doors.play.evidence(second))
    assert f"{second} repairs {rejected}, and asks less" in doors.caught("P005")


def test_a_task_that_is_reopened_after_its_rejection_and_made_easier(doors: Doors, rejected: str) -> None:
    doors.play.do(tasks.reopen_task, rejected, reason="Once more.")
    doors.landed()
    weakened(doors, rejected)
    assert f"{rejected} was rejected once, and pending when its" in doors.warned("D007")
    doors.play.complete(doors.play.claimed(rejected), doors.play.evidence(rejected))
    assert "less is asked by it" in doors.caught("D007")


OTHER = "and neither asks any more what that did when it was rejected"
TAKEN = "and neither asks any more what that did when it was handed out"
ASKED: dict[str, Any] = {"criteria": [HARD], "require": ["test", "lint"]}


def turned_down(doors: Doors, **revised: Any) -> str:
    """Return a task of the branch that was rejected for want of what it asks; perhaps revised after its completion."""
    task = doors.play.task(**ASKED)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    if revised:
        doors.play.do(tasks.revise_task, task, **revised)
    assert doors.play.do(verifying.verify_task, task).unmet
    return task


def eased(doors: Doors, task: str) -> None:
    doors.play.do(tasks.revise_task, task, criteria=["It runs."], require=["test"])


def test_a_task_of_the_branch_that_is_weakened_with_its_repair(doors: Doors) -> None:
    """Way: with verbs alone, and all on one branch, so that no text is left of what was rejected."""
    task = turned_down(doors)
    eased(doors, task)
    repair = doors.play.do(verifying.repair_task, task)
    assert f"{repair} repairs {task}, {OTHER}" in doors.warned("P005")
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    assert f"{repair} repairs {task}, {OTHER}" in doors.caught("P005")


def test_a_task_that_is_weakened_in_the_request_before_its_repair(doors: Doors) -> None:
    task = turned_down(doors)
    eased(doors, task)
    doors.landed()
    repair = doors.play.do(verifying.repair_task, task)
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    assert f"{repair} repairs {task}, {OTHER}" in doors.caught("P005")


def test_a_rejection_of_an_earlier_version_is_of_what_was_handed_out(doors: Doors) -> None:
    task = doors.play.task(**ASKED)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.forge(task, "rejected", unmet=["It needs lint evidence."])
    eased(doors, task)
    repair = doors.play.do(verifying.repair_task, task)
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    assert f"{repair} repairs {task}, {TAKEN}" in doors.caught("P005")


@pytest.mark.parametrize("revised", [{}, {"criteria": [HARD, "It is fast."], "risk": "high", "body": "For all."}])
def test_a_repair_of_what_was_rejected_as_it_is_may_ask_more(doors: Doors, revised: dict[str, Any]) -> None:
    """The honest way: the task is revised before it is rejected, if at all, and what is added later is the repair's."""
    repair = doors.play.do(verifying.repair_task, turned_down(doors, **revised))
    criteria = doors.play.state(repair).prose(repair).list("criteria")
    doors.play.do(tasks.revise_task, repair, criteria=[*criteria, "It is short."], title="Once more")
    lint = doors.play.evidence(repair, kind="lint")
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair), lint)
    doors.sound()


def repaired(doors: Doors, task: str, *more: str) -> str:
    """Repair a task, and do that on what its text asks."""
    repair: str = doors.play.do(verifying.repair_task, task)
    good = [doors.play.evidence(repair, kind=kind) for kind in ("test", *more)]
    doors.play.complete(doors.play.claimed(repair), *good)
    return repair


@pytest.mark.parametrize("named", ["terms", "asks", ""])
def test_a_rejection_by_hand_beside_the_reviewers(doors: Doors, named: str) -> None:
    """Way: two rejections agree, so nothing is contested, and the later one tells of easy work."""
    task = turned_down(doors)
    eased(doors, task)
    easy = doors.play.state(task).prose(task)
    told: dict[str, Any] = {"terms": terms.digest(easy), "asks": terms.asks(easy)}
    told = {key: value for key, value in told.items() if named in (key, "asks")}
    doors.forge(task, "rejected", sees=[doors.last(task, "completed")], unmet=["It does not run."], **told)
    repair = repaired(doors, task)
    assert f"{repair} repairs {task}, {OTHER}" in doors.caught("P005")


def test_a_rejection_that_is_redacted_with_its_hand_out(doors: Doors) -> None:
    """Way: its unmet lines are free words, and what it asked is none."""
    task = turned_down(doors)
    eased(doors, task)
    repair = repaired(doors, task)
    doors.play.do(settling.redact_record, doors.last(task, "rejected"), reason="It names a customer.")
    opened = doors.last(task, "dispatched")
    doors.play.do(settling.redact_record, opened, reason="It names a customer.")
    assert f"{repair} repairs {task}, {OTHER}" in doors.caught("P005")


def test_a_rejection_of_an_easier_text_on_another_branch_that_is_merged(doors: Doors) -> None:
    """Way: with verbs and a merge alone there are two rejections; each counts, whichever is the later one."""
    task = doors.play.task(**ASKED)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    git(doors.root, "branch", "side")
    assert doors.play.do(verifying.verify_task, task).unmet
    git(doors.root, "switch", "-q", "side")
    eased(doors, task)
    assert doors.play.do(verifying.verify_task, task).unmet
    merge_into(doors.root, WORK, "side")
    repair = repaired(doors, task)
    assert f"{repair} repairs {task}, " in doors.caught("P005")


EASIER: list[dict[str, Any]] = [
    {"criteria": []}, {"require": ["test"]}, {"kind": "chore"}, {"run": ["true"]},
]  # fmt: skip


@pytest.mark.parametrize("revised", EASIER)
def test_a_task_that_is_made_easier_between_its_completion_and_its_rejection(
    doors: Doors, revised: dict[str, Any]
) -> None:
    """Way: with verbs alone it is rejected for its changed text, and its repair asks what that text does."""
    doors.policy(WHEN)
    task = doors.play.task(**{**ASKED, "body": "It is for all.", "kind": "feature", "commands": ["python3 check.py"]})
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    text = {"commands" if key == "run" else key: value for key, value in revised.items()}
    doors.play.do(tasks.revise_task, task, **text)
    assert doors.play.do(verifying.verify_task, task).unmet
    repair = repaired(doors, task, "lint")
    assert f"{repair} repairs {task}, {TAKEN}" in doors.caught("P005")


@pytest.mark.parametrize(
    ("revised", "told"), [({"criteria": ["It is hashed."]}, "a criterion"), ({"title": "Tidy up"}, "title"),
                          ({"body": "It is for nobody."}, "text")],
)  # fmt: skip
def test_words_that_are_others_before_a_rejection_are_told(doors: Doors, revised: dict[str, Any], told: str) -> None:
    """Way: of easy words, which nobody but people tells from the honest way, a typo that is mended or a better word."""
    task = doors.play.task(**{**ASKED, "body": "It is for all."})
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.do(tasks.revise_task, task, **revised)
    assert doors.play.do(verifying.verify_task, task).unmet
    repair = repaired(doors, task, "lint")
    said = f"{repair} repairs {task}, and neither says any more what that did when it was handed out: {told}"
    assert said in doors.warned("P005")


def test_another_criterion_in_the_place_of_a_rejected_one_is_told(doors: Doors) -> None:
    """Way: in the repair alone; one that is left out is an error, and what was unmet stands for none."""
    task = turned_down(doors)
    repair = repaired(doors, task, "lint")
    doors.edit(repair, HARD, "It is hashed.")
    doors.play.do(tasks.reopen_task, repair, reason="Its words.")
    good = [doors.play.evidence(repair, kind=kind) for kind in ("test", "lint")]
    doors.play.complete(doors.play.claimed(repair), *good)
    assert f"{repair} repairs {task}, and asks less: criterion {HARD!r}" in doors.warned("P005")
    doors.edit(repair, "- It is hashed.\n", "")
    assert f"{repair} repairs {task}, and asks less: criterion {HARD!r}" in doors.caught("P005")


def test_a_repair_that_is_about_something_else(doors: Doors) -> None:
    """Way: what the task asked was all in its title and text, which its repair has none of; a word of them hides it."""
    task = doors.play.task("Hash all passwords", body="Use argon2id. No password is ever logged.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.do(tasks.revise_task, task, risk="high")
    assert doors.play.do(verifying.verify_task, task).unmet
    repair = repaired(doors, task)
    doors.play.do(tasks.reopen_task, repair, reason="Its words.")
    doors.play.do(tasks.revise_task, repair, title="Tidy the readme", body="Tidy it.")
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    assert f"{repair} repairs {task}, and has no word of it: 'Hash all passwords'" in doors.warned("P005")
    told = doors.cli("diff", MAIN, "-C", str(doors.root))[1]
    assert f"other than {task}, which it repairs: title: [-Hash all passwords-]{{+Tidy the readme+}}" in told
    assert "No password is ever logged" in told


@pytest.mark.parametrize("title", ["", "Salt them"])
def test_a_repair_with_a_title_or_a_text_of_its_own_is_no_cheat(doors: Doors, title: str) -> None:
    """The honest way: one of both is the tool's, or says by a word what the repair is about."""
    task = doors.play.task("Hash all passwords", body="Use argon2id.", require=["lint"])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert doors.play.do(verifying.verify_task, task).unmet
    repair = str(doors.play.do(verifying.repair_task, task, title=title))
    doors.play.do(tasks.revise_task, repair, body="The salt of passwords was missing." if title else "It was missing.")
    good = [doors.play.evidence(repair, kind=kind) for kind in ("test", "lint")]
    doors.play.complete(doors.play.claimed(repair), *good)
    doors.sound()


def test_a_chain_of_repairs_that_only_add_is_no_cheat(doors: Doors) -> None:
    """The honest way: what is reopened, revised to ask more and rejected again is asked by all that repairs it."""
    task = turned_down(doors)
    doors.play.do(tasks.reopen_task, task, reason="Once more.")
    doors.play.do(tasks.revise_task, task, criteria=[HARD, "It is fast."], body="For all.", require=["test", "lint"])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert doors.play.do(verifying.verify_task, task).unmet
    first = repaired(doors, task)
    criteria = doors.play.state(first).prose(first).list("criteria")
    doors.play.do(tasks.revise_task, first, criteria=[*criteria, "It is short."])
    assert doors.play.do(verifying.verify_task, first).unmet
    repaired(doors, first, "lint")
    doors.sound()


def test_a_repair_that_asks_all_of_what_a_weakened_task_asked_is_no_cheat(doors: Doors) -> None:
    task = turned_down(doors)
    repair = repaired(doors, task, "lint")
    doors.play.do(tasks.revise_task, task, criteria=[], require=["test"])
    doors.sound()
    doors.edit(repair, f"- {HARD}\n", "")
    assert f"{repair} repairs {task}, {OTHER}" in doors.caught("P001", "P005")


def done_all_the_same(doors: Doors, task: str) -> None:
    """Reopen a rejected task, ask more of it, and do it."""
    doors.play.do(tasks.reopen_task, task, reason="Once more.")
    doors.play.do(tasks.revise_task, task, criteria=[HARD, "It is fast."])
    good = [doors.play.evidence(task, kind=kind) for kind in ("test", "lint")]
    doors.play.complete(doors.play.claimed(task), *good)


def test_a_repair_that_is_cancelled_is_not_judged(doors: Doors) -> None:
    task = turned_down(doors)
    repair = doors.play.do(verifying.repair_task, task)
    doors.edit(repair, f"- {HARD}\n", "")
    assert f"{repair} repairs {task}, and asks less" in doors.warned("P005")
    doors.play.do(tasks.cancel_task, repair, reason="The first one is gone on with.")
    doors.sound()


def test_a_repair_whose_rejected_task_was_reopened_and_done_is_not_judged(doors: Doors) -> None:
    task = turned_down(doors)
    repair = repaired(doors, task, "lint")
    done_all_the_same(doors, task)
    doors.sound()
    doors.play.do(tasks.reopen_task, task, reason="Not yet.")
    assert f"{repair} repairs {task}, and asks less" in doors.caught("P005")


def of_before(doors: Doors, **told: Any) -> str:
    """Return a task of the base that versions handed out and rejected which name no single thing that is asked."""
    task = doors.play.task(**ASKED)
    known = terms.digest(doors.play.state(task).prose(task))
    plan = doors.play.state(task).canonical
    event = doors.forge(task, "dispatched", executor="agent", plan=plan, terms=known, asks=None)
    claim = doors.play.do(dispatches.claim_dispatch, event.replace("event", "dispatch"))
    doors.play.complete(claim, doors.play.evidence(task))
    doors.play.do(tasks.revise_task, task, **told)
    doors.forge(task, "rejected", unmet=["its text changed"])
    doors.landed()
    return task


@pytest.mark.parametrize("landed", [True, False])
def test_a_repair_of_what_an_earlier_version_rejected_may_ask_more(doors: Doors, landed: bool) -> None:
    """The honest way: that version told whoever asked more of a completed task to repair it."""
    task = of_before(doors, criteria=[HARD, "It is fast."])
    repair = doors.play.do(verifying.repair_task, task)
    if landed:
        doors.landed()
    good = [doors.play.evidence(repair, kind=kind) for kind in ("test", "lint")]
    doors.play.complete(doors.play.claimed(repair), *good)
    doors.sound()


def test_a_repair_of_what_an_earlier_version_rejected_is_held_against_the_commits(doors: Doors) -> None:
    task = of_before(doors, criteria=["It runs."], require=["test"])
    repair = repaired(doors, task)
    found = doors.check("--base", MAIN)[1]
    assert [row["message"] for row in found if row["code"] == "P005"] == [f"{repair} repairs {task}, {TAKEN}"]


def test_a_rejected_task_of_the_base_that_asks_more_may_be_repaired_on_one_branch(doors: Doors, rejected: str) -> None:
    """The honest way: the base has what was rejected, so that what is asked by now is compared with it."""
    doors.play.do(tasks.revise_task, rejected, criteria=[HARD, "It is fast."])
    repair = doors.play.do(verifying.repair_task, rejected)
    lint = doors.play.evidence(repair, kind="lint")
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair), lint)
    assert f"{rejected} was rejected when its criteria changed" in doors.warned("D007")


def finished(doors: Doors, task: str, *kinds: str) -> str:
    """Hand a task out, and do it on evidence of these kinds."""
    doors.play.complete(doors.play.claimed(task), *[doors.play.evidence(task, kind=kind) for kind in kinds])
    return task


@pytest.mark.parametrize(
    ("revised", "told"),
    [
        ({"criteria": ["It runs."]}, "says no more what it did when it was handed out: a criterion"),
        ({"title": "Tidy the readme"}, "says no more what it did when it was handed out: title"),
        ({"require": ["test"]}, "asks no more what it did when it was rejected"),
    ],
)
def test_a_rejected_task_of_the_branch_that_is_reopened_and_made_easier(
    doors: Doors, revised: dict[str, Any], told: str
) -> None:
    """Way: with verbs alone; only a repair was held against the rejection, and no base has the text."""
    task = turned_down(doors)
    doors.play.do(tasks.reopen_task, task, reason="Once more.")
    doors.play.do(tasks.revise_task, task, **revised)
    finished(doors, task, "test", "lint")
    assert f"{task} is done, and {told}" in doors.warned("P005")


def test_a_task_of_the_branch_that_is_taken_back_and_asks_less_proof(doors: Doors) -> None:
    """Way: it is recovered before anybody could reject it; words that are put otherwise are no way."""
    task = doors.play.task(**ASKED)
    doors.play.do(dispatches.recover_dispatch, doors.play.claimed(task), force=True, reason="Stuck.")
    doors.play.do(tasks.revise_task, task, title="Hash it", criteria=["The password is hashed with argon2."])
    finished(doors, task, "test", "lint")
    doors.sound()
    doors.play.do(tasks.reopen_task, task, reason="Once more.")
    doors.play.do(tasks.revise_task, task, require=["test"])
    finished(doors, task, "test")
    assert f"{task} is done, and asks no more what it did when it was handed out" in doors.warned("P005")


def test_a_task_that_is_taken_back_asks_less_proof_and_is_repaired(doors: Doors) -> None:
    """Way: one's own rejection, for anything; what it was handed out on before its completion counts for its repair."""
    task = doors.play.task(**ASKED)
    doors.play.do(dispatches.recover_dispatch, doors.play.claimed(task), force=True, reason="Stuck.")
    doors.play.do(tasks.revise_task, task, require=["test"])
    finished(doors, task, "test")
    doors.play.do(tasks.revise_task, task, risk="high")
    assert doors.play.do(verifying.verify_task, task).unmet
    repair = repaired(doors, task)
    assert f"{repair} repairs {task}, {TAKEN}" in doors.warned("P005")
    assert doors.check("--no-base") == (0, [])  # who puts a wrong command right does the same, and is told once


@pytest.mark.parametrize(("old", "new"), [("risk: low\n", "risk: high\n"), ("timeout: 10m\n", "timeout: 1m\n")])
def test_a_rejected_task_that_asks_more_of_what_is_no_list_may_be_repaired(doors: Doors, old: str, new: str) -> None:
    """The honest way: digests do not tell more from less there, and are a guess where no commit has the text."""
    doors.policy("  verify:\n  - {when: {kinds: [docs]}, evidence: [lint]}\n")
    task = doors.play.task(criteria=[HARD], risk="low", commands=["python3 check.py"])
    doors.edit(task, "    - check.py\n", "    - check.py\n    timeout: 10m\n")
    doors.play.complete(doors.play.claimed(task), doors.witness(task))
    doors.edit(task, f"- {HARD}\n", f"- {HARD}\n- It is fast.\n")
    assert doors.play.do(verifying.verify_task, task).unmet
    doors.edit(task, old, new)
    repair = doors.play.do(verifying.repair_task, task)
    doors.play.complete(doors.play.claimed(repair), doors.witness(repair))
    seen = {door: [row["code"] for row in doors.check(*options, root=root)[1] if row["severity"] == "error"]
            for door, options, root in doors.arrivals()}  # fmt: skip
    assert seen == {"staged": ["P005"], "branch": [], "server": [], "merge": [], "squash": ["P005"]}


def test_a_rejected_task_that_is_called_otherwise_once_it_is_cancelled(doors: Doors) -> None:
    """Way: nobody reads a cancelled text; its repair by hand says as little, and that the base says more is no help."""
    task = doors.play.task("Hash all passwords")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.do(tasks.revise_task, task, body="Use argon2id.")
    assert doors.play.do(verifying.verify_task, task).unmet
    doors.play.do(tasks.cancel_task, task, reason="Not now.")
    doors.landed()
    doors.play.do(tasks.revise_task, task, title="Tidy the readme", body="Tidy it.")
    repair = by_hand(doors, task)
    doors.sound()  # nothing is done yet
    finished(doors, repair, "test")
    assert f"{task} was rejected once, and cancelled when its title, text changed" in doors.warned("D007")


def by_hand(doors: Doors, task: str, *drop: str) -> str:
    """Write a repair that says what a task does, but for some keys."""
    own, repair = doors.play.state(task).prose(task), "task_0123456789ab"
    data = {key: value for key, value in own.data.items() if key not in drop} | {"id": repair, "repairs": task}
    doors.write(own.path.replace(f"/{task[5]}/{task}/", f"/0/{repair}/"), codec.encode_prose(data, own.body).decode())
    return repair


def test_a_rejected_task_that_is_reopened_and_asks_more(doors: Doors) -> None:
    """No way: what it asked is still asked."""
    task = turned_down(doors)
    doors.play.do(tasks.reopen_task, task, reason="Once more.")
    doors.play.do(tasks.revise_task, task, criteria=[HARD, "It is fast."], require=["test", "lint", "type"])
    finished(doors, task, "test", "lint", "type")
    doors.sound()


@pytest.mark.parametrize("end", ["", "cancelled", "failed"])
def test_a_repair_that_waits_no_more_for_what_the_rejected_task_waited_for(doors: Doors, end: str) -> None:
    """Way: written by hand, for the verb carries it over; cancelling on the branch what it waited for is none.

    What is done while its gate has failed is waited for as well.
    """
    first = doors.play.task("Look at the keys")
    task = doors.play.task("Ship it", depends_on=[first])
    if end == "failed":
        finished(doors, first, "test")
        doors.play.gate("quality_review", "failed", task=first, note="There is a hole.")
    doors.landed()
    repair = by_hand(doors, task, "depends_on")
    doors.play.do(tasks.cancel_task, task, reason=f"{repair} repairs it")
    if end == "cancelled":
        doors.play.do(tasks.cancel_task, first, reason="Not needed.")
    finished(doors, repair, "test")
    assert f"{repair} repairs {task}, and does not wait for {first}, as that did" in doors.warned("P005")


def test_a_repair_that_does_not_wait_for_what_is_done_is_no_cheat(doors: Doors) -> None:
    first = doors.play.proven("Look at the keys")
    task = doors.play.task("Ship it", depends_on=[first])
    doors.landed()
    repair = by_hand(doors, task, "depends_on")
    doors.play.do(tasks.cancel_task, task, reason=f"{repair} repairs it")
    finished(doors, repair, "test")
    doors.sound()
