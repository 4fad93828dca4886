"""Work is completed on the terms that it was handed out on, also where all of it came with one branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.verbs import settling
from memento_git.work.actions import dispatches, selections, tasks, verifying
from memento_git.work.dispatch import terms
from memento_git.work.refusals import TermsChanged
from tests.cheats.doors import HANDS
from tests.cheats.forging import HARD, MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

TASK: dict[str, Any] = {
    "criteria": [HARD], "body": "It is for all users.", "commands": ["python3 check.py"], "kind": "security",
    "risk": "high", "files": ["auth/key.py"],
}  # fmt: skip
WHEN = "  verify:\n  - {when: {kinds: [security], risks: [high], files: ['auth/*']}, evidence: [approval]}\n"
WEAKER = [
    (f"criteria:\n- {HARD}\n", ""), ("verify:\n  commands:\n  - run:\n    - python3\n    - check.py\n", ""),
    ("It is for all users.", "It is for nobody."), ("kind: security\n", "kind: docs\n"),
    ("risk: high\n", "risk: low\n"), ("- auth/key.py\n", "- doc.md\n"), ("title: A task\n", "title: Tidy up\n"),
]  # fmt: skip
OTHER = "it was handed out on other terms"


def weakened(doors: Doors, task: str, *edits: tuple[str, str]) -> None:
    for old, new in edits:
        doors.edit(task, old, new)


def completed(doors: Doors, task: str, claim: str) -> None:
    """Complete a task on what looks like all that is asked of it, as no verb does."""
    good = doors.witness(task)
    doors.refused("terms_changed", "dispatch complete", dispatch=claim, evidence=[good])
    yes = doors.shown(task, kind="approval", approves=task, text=doors.ref(task).digest, response="yes")
    doors.completed(task, good, yes, dispatch=claim)


@pytest.mark.parametrize("edit", WEAKER)
def test_a_task_of_the_branch_that_is_weakened_after_its_hand_out(doors: Doors, edit: tuple[str, str]) -> None:
    """Way: somebody pushes a task to the branch; once it is handed out, its text asks what the work shows."""
    doors.policy(WHEN)
    task = doors.play.task(**TASK)
    claim = doors.play.claimed(task)
    weakened(doors, task, edit)
    completed(doors, task, claim)
    doors.unproven(task, OTHER)
    assert OTHER in doors.caught("P001")
    doors.refused("task_unproven", "run complete", run=doors.play.state(task).id)


def test_a_task_that_waits_at_the_base_and_is_weakened_after_its_hand_out(doors: Doors) -> None:
    task = doors.play.task(**TASK)
    doors.landed()
    claim = doors.play.claimed(task)
    weakened(doors, task, *WEAKER)
    completed(doors, task, claim)
    assert OTHER in doors.caught("D007", "P001")


@pytest.mark.parametrize("edit", [edit for edit in WEAKER if "for all" not in edit[0] and "title" not in edit[0]])
def test_a_task_that_waits_at_the_base_and_is_weakened_before_its_hand_out(doors: Doors, edit: tuple[str, str]) -> None:
    doors.policy(WHEN)
    task = doors.play.task(**TASK)
    doors.landed()
    weakened(doors, task, edit)
    assert f"{task} was pending when its" in doors.warned("D007")
    claim = doors.play.claimed(task)
    yes = doors.shown(task, kind="approval", approves=task, text=doors.ref(task).digest, response="yes")
    doors.play.complete(claim, doors.witness(task), yes)
    words = edit[0].startswith("criteria")  # words are the reviewer's, who is told; proof is not
    assert "less is asked by it" in (doors.warned("D007") if words else doors.caught("D007"))


def test_a_task_that_waits_at_the_base_may_be_weakened_on_a_branch_of_its_own(doors: Doors) -> None:
    """The honest way: that less is asked is what the branch is about, and nothing of it is done there."""
    task = doors.play.task(**TASK)
    doors.landed()
    doors.play.do(tasks.revise_task, task, title="Another", criteria=[HARD, "It is fast."], body="For all of us.")
    doors.sound()
    doors.play.do(tasks.revise_task, task, criteria=["It runs."])
    doors.warned("D007")
    doors.landed()
    doors.play.complete(doors.play.claimed(task), doors.witness(task))
    doors.sound()


def test_a_task_that_is_weakened_before_and_completed_in_a_second_pull_request(doors: Doors) -> None:
    task = doors.play.task(**TASK)
    claim = doors.play.claimed(task)
    weakened(doors, task, *WEAKER)
    doors.landed()
    completed(doors, task, claim)
    assert OTHER in doors.caught("P001")


def test_a_task_that_is_given_another_kind_after_its_hand_out(doors: Doors) -> None:
    """Way: with verbs alone policy's `when` does not see the task any more."""
    doors.policy(WHEN)
    task = doors.play.task(kind="security", risk="high", files=["auth/key.py"])
    claim, proof = doors.play.claimed(task), doors.play.evidence(task)
    for _ in doors.accepted("task revise", task=task, kind="docs"):
        with pytest.raises(TermsChanged):
            doors.play.complete(claim, proof)
    doors.completed(task, proof, dispatch=claim)
    assert OTHER in doors.caught("P001")


def test_an_acceptance_of_what_was_handed_out_on_other_terms(doors: Doors) -> None:
    task = doors.play.task(**TASK)
    claim = doors.play.claimed(task)
    weakened(doors, task, *WEAKER)
    completed(doors, task, claim)
    doors.forge(task, "accepted", text=doors.ref(task).digest, evidence=[])
    assert OTHER in doors.caught("P001")
    doors.remove(doors.last(task, "accepted"))
    assert any(OTHER in line for line in doors.play.do(verifying.verify_task, task).unmet)


def test_a_hand_out_that_is_redacted_after_its_task_was_weakened(doors: Doors) -> None:
    task = doors.play.task(**TASK)
    claim = doors.play.claimed(task)
    weakened(doors, task, *WEAKER)
    completed(doors, task, claim)
    doors.play.do(settling.redact_record, claim.replace("dispatch", "event"), reason="It named a customer.")
    assert OTHER in doors.caught("P001")


def test_a_candidate_that_was_handed_out_on_harder_terms_than_the_others(doors: Doors) -> None:
    task = doors.play.task(**TASK)
    first = doors.play.dispatch(task, candidate=True)
    doors.play.do(dispatches.claim_dispatch, first)
    weakened(doors, task, *WEAKER)
    doors.play.dispatch(task, candidate=True)
    completed(doors, task, first)
    ranked = selections.rank_candidates(doors.play.ledger.view(), task).ranked
    assert all(one.reasons for one in ranked)
    assert OTHER in doors.caught("P001")


def test_a_task_of_the_branch_that_is_revised_and_handed_out_anew_is_no_cheat(doors: Doors) -> None:
    """The honest way: whoever works on it has read what it asks."""
    task = doors.play.task(**TASK)
    claim = doors.play.claimed(task)
    doors.play.do(tasks.revise_task, task, criteria=["It runs."], kind="docs")
    doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Other terms.")
    doors.play.complete(doors.play.claimed(task), doors.witness(task))
    doors.sound()
    doors.play.do(tasks.revise_task, task, criteria=[HARD])
    doors.unproven(task, "the task's text changed after it was completed")
    doors.play.do(tasks.reopen_task, task, reason="More is asked.")
    doors.play.complete(doors.play.claimed(task), doors.witness(task))
    doors.sound()


def test_a_task_that_is_retitled_after_its_hand_out(doors: Doors) -> None:
    """Way: with verbs alone what somebody asked for, in a title and no more, is called otherwise once it is taken."""
    task = doors.play.task("Hash all passwords with argon2")
    claim, proof = doors.play.claimed(task), doors.play.evidence(task)
    for _ in doors.accepted("task revise", task=task, title="Tidy the readme"):
        with pytest.raises(TermsChanged):
            doors.play.complete(claim, proof)
    doors.completed(task, proof, dispatch=claim)
    doors.unproven(task, OTHER)
    assert OTHER in doors.caught("P001")


def test_a_title_that_is_mended_before_the_hand_out_or_handed_out_anew_is_no_cheat(doors: Doors) -> None:
    task = doors.play.task("Hahs all passwords")
    doors.play.do(tasks.revise_task, task, title="Hash all pasword")
    claim = doors.play.claimed(task)
    doors.play.do(tasks.revise_task, task, title="Hash all passwords")
    anew = doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Its title.", requeue=True)[1]
    doors.play.complete(doors.play.do(dispatches.claim_dispatch, anew), doors.play.evidence(task))
    doors.sound()


NAMELESS_TOLD = "was handed out, and the dispatch does not name all that was asked"


def test_a_hand_out_at_the_base_that_names_nothing_is_held_against_nothing(doors: Doors) -> None:
    """The honest way: what the base has is not this branch's doing."""
    task = doors.play.task(**TASK)
    told: dict[str, Any] = {"executor": "agent", "plan": doors.play.state(task).canonical, "terms": None, "asks": None}
    event = doors.forge(task, "dispatched", **told)
    claim = doors.play.do(dispatches.claim_dispatch, event.replace("event", "dispatch"))
    doors.play.do(tasks.revise_task, task, kind="docs")
    doors.landed()
    doors.play.complete(claim, doors.witness(task))
    assert doors.play.is_proven(task)
    doors.sound()


OTHERS = "0" * 32
NAMELESS: list[dict[str, Any]] = [
    {"terms": None, "asks": None}, {"terms": None}, {"asks": None}, {"asks": [OTHERS]},
]  # fmt: skip


@pytest.mark.parametrize("named", NAMELESS)
def test_a_hand_out_that_does_not_name_what_it_asks(doors: Doors, named: dict[str, Any]) -> None:
    """Way: nobody is held to a hand-out by hand, and its task becomes easy."""
    task = doors.play.task(**TASK)
    doors.landed()
    event = doors.forge(task, "dispatched", executor="agent", plan=doors.play.state(task).canonical, **named)
    claim = doors.play.do(dispatches.claim_dispatch, event.replace("event", "dispatch"))
    assert f"{task} {NAMELESS_TOLD}" in doors.caught("P008")
    if "terms" not in named:
        doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Nobody is held to it.")
    else:
        doors.play.do(tasks.revise_task, task, title="Tidy the readme")
        doors.play.complete(claim, doors.witness(task))
        assert f"{task} {NAMELESS_TOLD}" in doors.caught("P008")
        doors.play.do(tasks.reopen_task, task, reason="Nobody was held to it.")
    doors.play.claimed(task)
    doors.sound("D007")


@pytest.mark.parametrize(
    "named", [{"terms": OTHERS}, {"terms": OTHERS, "asks": None}, {"terms": OTHERS, "asks": [OTHERS]}]
)
def test_a_hand_out_that_names_the_terms_of_a_text_that_never_was(doors: Doors, named: dict[str, Any]) -> None:
    """Way: nobody can say what it asked. The verbs refuse to go on from it, so the claim is written by hand too."""
    task = doors.play.task(**TASK)
    doors.landed()
    opened = doors.forge(task, "dispatched", executor="agent", plan=doors.play.state(task).canonical, **named)
    dispatch = opened.replace("event", "dispatch")
    doors.refused("terms_changed", "dispatch claim", dispatch=dispatch)
    doors.forge(task, "claimed", dispatch=dispatch, until="2999-01-01T00:00:00.000Z")
    doors.completed(task, doors.witness(task), dispatch=dispatch)
    assert f"{task} is completed, but not proven: it was handed out on other terms" in doors.caught("P001")


def test_a_hand_out_that_names_too_little_of_a_text_which_is_another_by_now(doors: Doors) -> None:
    """Way: its terms are right, what it asks is left out, and the task is made easy after that."""
    task = doors.play.task(**TASK)
    text = doors.play.state(task).prose(task)
    few = [*terms.asks(text)[:1], terms._count(0)]
    named: dict[str, Any] = {"terms": terms.digest(text), "asks": few}
    event = doors.forge(task, "dispatched", executor="agent", plan=doors.play.state(task).canonical, **named)
    claim = doors.play.do(dispatches.claim_dispatch, event.replace("event", "dispatch"))
    doors.play.complete(claim, doors.witness(task))
    doors.play.do(tasks.revise_task, task, criteria=["It runs."], commands=["true"])
    assert NAMELESS_TOLD in doors.caught("P008")


@pytest.mark.parametrize("order", [slice(None, None, -1), slice(-1, None)])
def test_a_hand_out_that_names_what_it_asks_in_another_order(doors: Doors, order: slice) -> None:
    """Way: all of it, but proof stands where words do, or kind, risk and files; the commits have the text."""
    task = doors.play.task(**TASK)
    asks = terms.asks(doors.play.state(task).prose(task))
    turned = [*asks[order], *(one for one in asks if one not in asks[order])]
    event = doors.forge(task, "dispatched", executor="agent", plan=doors.play.state(task).canonical, asks=turned)
    claim = doors.play.do(dispatches.claim_dispatch, event.replace("event", "dispatch"))
    doors.play.complete(claim, doors.witness(task))
    doors.play.do(tasks.revise_task, task, commands=["true"])
    assert doors.play.do(verifying.verify_task, task).unmet
    repair = doors.play.do(verifying.repair_task, task)
    doors.play.complete(doors.play.claimed(repair), doors.witness(repair, command={"argv": ["true"]}))
    told = f"{repair} repairs {task}, and neither asks any more what that did when it was handed out"
    seen = {}
    for door, options, root in doors.arrivals():
        rows = doors.check(*options, root=root)[1]
        seen[door] = ("P005", "error", told) in {(row["code"], row["severity"], row["message"]) for row in rows}
    assert all(seen[door] for door in {*HANDS} - {"staged", "squash"})


def test_a_rejected_hand_out_that_does_not_name_what_it_asks(doors: Doors) -> None:
    """Way: the task is made easy before its rejection, so that its repair asks no more."""
    task = doors.play.task(**TASK)
    plan = doors.play.state(task).canonical
    event = doors.forge(task, "dispatched", executor="agent", plan=plan, terms=None, asks=None)
    claim = doors.play.do(dispatches.claim_dispatch, event.replace("event", "dispatch"))
    doors.play.complete(claim, doors.witness(task))
    doors.play.do(tasks.revise_task, task, criteria=["It runs."], commands=["true"])
    assert doors.play.do(verifying.verify_task, task).unmet
    repair = doors.play.do(verifying.repair_task, task)
    doors.play.complete(doors.play.claimed(repair), doors.witness(repair, command={"argv": ["true"]}))
    assert NAMELESS_TOLD in doors.caught("P008")


@pytest.mark.parametrize(
    "changed", [("title", "title: A task\n", "title: Tidy up\n"), ("text", TASK["body"], "A typo.")]
)
def test_a_task_that_waits_at_the_base_and_is_called_otherwise_where_it_is_done(
    doors: Doors, changed: tuple[str, str, str]
) -> None:
    """Way: its words become those of easy work before the hand-out; whoever mends a typo so is told, and no more."""
    task = doors.play.task(body=TASK["body"])
    doors.landed()
    doors.edit(task, *changed[1:])
    doors.sound()  # a text that waits may be worded anew
    claim = doors.play.claimed(task)
    assert f"{task} was pending when its {changed[0]} changed" in doors.warned("D007")  # completed in a second one
    doors.play.complete(claim, doors.play.evidence(task))
    assert f"{task} was pending when its {changed[0]} changed" in doors.warned("D007")


def test_a_warning_stops_the_request_where_the_policy_of_the_base_names_it(doors: Doors) -> None:
    """Way: the same where a team wants to stop such requests; that the branch takes the word back changes nothing."""
    doors.policy("  check: {errors: [D007]}\n")
    task = doors.play.task(body=TASK["body"])
    doors.landed()
    doors.edit(task, TASK["body"], "A typo.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert f"{task} was pending when its text changed" in doors.caught("D007")
    doors.policy("  check: {errors: []}\n", branch=WORK)
    assert "check.errors: D007 is asked no more" in doors.caught("D007", told="C003")


def waiting(doors: Doors) -> tuple[str, str]:
    """Return a task and what it waits for."""
    review = doors.play.task("Security review")
    return doors.play.task("Ship the login", depends_on=[review]), review


def handed_on(doors: Doors, task: str, review: str) -> None:
    """Hand a task out, once it has been refused, and complete it without what it waited for."""
    doors.refused("dependency_open", "dispatch create", task=task, executor="agent")
    doors.play.do(tasks.revise_task, task, depends_on=[])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.do(tasks.cancel_task, review, reason="Later.")


def test_a_task_that_waits_at_the_base_for_what_is_taken_out(doors: Doors) -> None:
    """Way: what it depends on, and is refused for, goes from its text; the diff has the title of that."""
    task, review = waiting(doors)
    doors.landed()
    doors.play.do(tasks.revise_task, task, depends_on=[review, doors.play.task("One more")])
    doors.sound()  # more may be waited for
    handed_on(doors, task, review)
    told = f"{task} was pending when its depends_on changed; it waits no more for {review} 'Security review'"
    assert told in doors.warned("D007")
    assert f"dependencies: [-{review} Security review-]" in doors.cli("diff", MAIN, "-C", str(doors.root))[1]


def test_a_task_that_was_handed_out_at_the_base_and_waits_no_more(doors: Doors) -> None:
    review = doors.play.proven("Security review")
    task = doors.play.task("Ship the login", depends_on=[review])
    claim = doors.play.claimed(task)
    doors.landed()
    doors.play.do(tasks.reopen_task, review, reason="It missed a door.")
    doors.play.do(tasks.revise_task, task, depends_on=[])
    assert f"{task} was in_progress when its depends_on changed" in doors.warned("D007")
    doors.play.complete(claim, doors.play.evidence(task))
    assert f"it waits no more for {review} 'Security review'" in doors.caught("D007")


def test_a_task_of_the_branch_that_waited_there_for_what_is_taken_out(doors: Doors) -> None:
    """Way: the same where both came with the branch, so that only its commits know of it."""
    task, review = waiting(doors)
    handed_on(doors, task, review)
    told = f"{task} was worked on, and waits no more, as it did on the branch, for {review} 'Security review'"
    seen = {}
    for door, options, root in doors.arrivals():
        code, rows = doors.check(*options, root=root)
        seen[door] = (code, any((row["code"], row["message"]) == ("D007", told) for row in rows))
    assert seen == {door: (0, door not in ("staged", "squash")) for door in HANDS}


def test_a_task_of_the_base_that_is_made_to_wait_and_waits_no_more_where_it_is_done(doors: Doors) -> None:
    """Way: it was handed out before, so nothing but its completion is the branch's."""
    task = doors.play.task("Ship the login")
    claim = doors.play.claimed(task)
    doors.landed()
    review = doors.play.task("Security review")
    doors.play.do(tasks.revise_task, task, depends_on=[review])
    doors.play.do(tasks.revise_task, task, depends_on=[])
    doors.play.complete(claim, doors.play.evidence(task))
    told = f"{task} was worked on, and waits no more, as it did on the branch, for {review} 'Security review'"
    rows = {door: doors.check(*options, root=root)[1] for door, options, root in doors.arrivals()}
    assert {door for door, found in rows.items() if told in [row["message"] for row in found]} == {
        "branch", "server", "merge",
    }  # fmt: skip


def excused(doors: Doors, task: str, review: str) -> None:
    """Bring a task that says it repairs what nobody rejected, do it, and then another, which waits for it alone."""
    easy = doors.play.task("Tidy the readme")
    path, text = doors.path(easy), doors.file(easy).read_text()
    git(doors.root, "reset", "-q", "--soft", "HEAD~")
    doors.write(path, text.replace("\n---\n", f"\nrepairs: {review}\n---\n", 1))
    doors.play.complete(doors.play.claimed(easy), doors.play.evidence(easy))
    doors.play.do(tasks.revise_task, task, depends_on=[easy])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_task_that_says_it_repairs_what_another_waits_for(doors: Doors, *, cancelled: bool) -> None:
    """Way: nobody ever rejected that, so that the made-up repair has nothing to ask."""
    task, review = waiting(doors)
    doors.landed()
    excused(doors, task, review)
    if cancelled:
        doors.play.do(tasks.cancel_task, review, reason="It is repaired.")
    assert f"it waits no more for {review} 'Security review'" in doors.warned("D007")


def test_a_task_of_the_branch_that_says_it_repairs_what_another_waited_for(doors: Doors) -> None:
    task, review = waiting(doors)
    excused(doors, task, review)
    told = {door: [row["message"] for row in doors.check(*options, root=root)[1]]
            for door, options, root in doors.arrivals()}  # fmt: skip
    seen = {door for door, rows in told.items() if any(f"for {review} 'Security review'" in row for row in rows)}
    assert seen == {*HANDS} - {"staged", "squash"}


def test_a_dependency_that_was_cancelled_at_the_base_is_taken_out(doors: Doors) -> None:
    """The honest way: `dispatch create` asks for just that."""
    task, review = waiting(doors)
    doors.play.do(tasks.cancel_task, review, reason="Nobody asks for it.")
    doors.landed()
    doors.refused("dependency_open", "dispatch create", task=task, executor="agent")
    doors.play.do(tasks.revise_task, task, depends_on=[])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.sound()


def test_a_dependency_that_was_a_mistake_or_is_done_or_repaired_is_taken_out(doors: Doors) -> None:
    """The honest way: of what is not handed out, of what is done, and of what a repair takes the place of."""
    task, review = waiting(doors)
    doors.play.do(tasks.revise_task, task, depends_on=[])
    doors.sound()
    doors.play.do(tasks.revise_task, task, depends_on=[review])
    doors.play.complete(doors.play.claimed(review), doors.play.evidence(review))
    other = doors.play.task("Another", depends_on=[review])
    doors.play.do(tasks.revise_task, task, depends_on=[])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.sound()
    doors.landed()
    doors.play.do(tasks.revise_task, other, depends_on=[])
    doors.play.do(dispatches.recover_dispatch, doors.play.claimed(other), force=True, reason="Not yet.")
    doors.sound()
    doors.play.do(tasks.revise_task, other, depends_on=[review])
    doors.play.do(tasks.revise_task, review, criteria=[HARD])
    doors.landed()
    doors.play.do(verifying.verify_task, review)
    repair = str(doors.play.do(verifying.repair_task, review))
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    doors.play.complete(doors.play.claimed(other), doors.play.evidence(other))
    doors.sound()
