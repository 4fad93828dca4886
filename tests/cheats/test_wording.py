"""Texts that somebody wrote on a branch and that say less by another's hand: history has who wrote what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import plans, runs, tasks
from tests.cheats.forging import HARD
from tests.cheats.test_terms import TASK
from tests.play import git, merge_into, take_out

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.cheats.doors import Doors

ADA, GRACE, BOB = "Ada <ada@example.invalid>", "Grace <grace@example.invalid>", "Bob <bob@example.invalid>"
SEEN = ("branch", "server", "merge")
MORE = "was made to ask more"
NOBODY = "a merge or an older commit"


def at(doors: Iterable[str], keys: str) -> set[tuple[str, str]]:
    return {(door, keys) for door in doors}


def brought(doors: Doors, **options: Any) -> str:
    """Add a task on the branch as Grace, in a commit of hers."""
    task = str(doors.play.as_(GRACE).task("Hash all passwords", **options))
    of_grace(doors)
    return task


def of_grace(doors: Doors) -> None:
    """Let the latest commit be one of Grace's."""
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", GRACE)


def told_of(doors: Doors, record: str, came: str = "was brought", by: str = ADA) -> set[tuple[str, str]]:
    """Return the doors at which `check` tells that somebody changed what Grace had written, and what of it."""
    said = f"{record} {came} by {GRACE}, and {by} changed its "
    rows = {door: doors.check(*options, root=root)[1] for door, options, root in doors.arrivals()}
    return {
        (door, row["message"].removeprefix(said))
        for door, found in rows.items() for row in found if row["message"].startswith(said)
    }  # fmt: skip


def test_a_task_that_somebody_else_brought_and_that_is_made_easy_before_its_hand_out(doors: Doors) -> None:
    """Way: with verbs alone, as nothing binds anybody before a task is handed out."""
    task = brought(doors, **TASK)
    doors.play.do(tasks.revise_task, task, title="Tidy up", commands=["true"])
    assert told_of(doors, task) == at(SEEN, "title, verify"), "it may be handed out in the next request"
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert told_of(doors, task) == at(SEEN, "title, verify")


def test_a_task_that_somebody_else_brought_and_that_is_renamed_and_called_off(doors: Doors) -> None:
    task = brought(doors)
    doors.play.do(tasks.revise_task, task, title="Tidy up")
    doors.play.do(tasks.cancel_task, task, reason="Not needed.")
    assert told_of(doors, task) == at(SEEN, "title")


def test_a_task_that_somebody_else_brought_and_that_comes_again_with_other_words(doors: Doors) -> None:
    """Way: it is deleted, and added as if it were new."""
    task = brought(doors)
    path, text = doors.path(task), doors.file(task).read_text()
    doors.remove(task)
    doors.write(path, text.replace("Hash all passwords", "Tidy up"))
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert told_of(doors, task) == at(SEEN, "title")


def test_a_task_that_is_reworded_in_a_commit_with_the_name_of_who_brought_it(doors: Doors) -> None:
    """Way, and nothing tells: git's author is typed like any other name; only a signed commit says who made it."""
    task = brought(doors)
    doors.edit(task, "Hash all passwords", "Tidy up")
    of_grace(doors)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert told_of(doors, task) == set()
    doors.sound()


def test_a_task_that_somebody_else_brought_may_ask_for_more_or_be_rewrapped(doors: Doors) -> None:
    task = brought(doors, body="It is for all\nusers of it.")
    doors.play.do(tasks.revise_task, task, criteria=[HARD], body="It is for all users\nof it.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert told_of(doors, task) == set()


def test_a_run_of_somebody_elses_that_gets_another_goal(doors: Doors) -> None:
    run = str(doors.play.as_(GRACE).run("Try argon2", constraints=["touch no production data"]))
    of_grace(doors)
    doors.edit(run, "goal: Try argon2", "goal: Hash all passwords")
    doors.edit(run, "constraints:\n- touch no production data\n", "")
    assert told_of(doors, run) == at(SEEN, "constraints, goal")


def made_harder(doors: Doors, task: str) -> None:
    """Let Grace ask more of a task, in a commit of hers."""
    doors.play.as_(GRACE).do(tasks.revise_task, task, title="Hash with argon2", criteria=[HARD, "No test is skipped."])
    of_grace(doors)


def put_back(doors: Doors, task: str, title: str = "Hash") -> None:
    doors.play.do(tasks.revise_task, task, title=title, criteria=[HARD])


def finished(doors: Doors, task: str) -> None:
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))


@pytest.mark.parametrize("landed", [False, True])
def test_what_a_reviewer_asks_more_of_a_task_is_taken_back(doors: Doors, *, landed: bool) -> None:
    """Way: with verbs alone, to the very words that it had before."""
    task = doors.play.task("Hash", criteria=[HARD])
    if landed:
        doors.landed()
    made_harder(doors, task)
    put_back(doors, task)
    finished(doors, task)
    assert told_of(doors, task, MORE) == at(SEEN, "criteria, title")


def test_what_a_reviewer_asks_more_of_a_run_is_taken_back(doors: Doors) -> None:
    run = str(doors.play.run("Hash all passwords"))
    doors.edit(run, "goal: ", "constraints:\n- touch no production data\ngoal: ")
    of_grace(doors)
    doors.edit(run, "constraints:\n- touch no production data\n", "")
    assert told_of(doors, run, MORE) == at(SEEN, "constraints")


@pytest.mark.parametrize("by", ["", GRACE, BOB])
def test_what_a_reviewer_asks_more_of_a_draft_is_taken_back(doors: Doors, by: str) -> None:
    """No way where she, or a third person, has approved what there is now."""
    plan = str(doors.play.do(plans.draft_plan, "How", "Hash them.", run=doors.play.run()))
    doors.edit(plan, "Hash them.", "Hash them.\n\nTest it with all users.")
    of_grace(doors)
    doors.edit(plan, "\n\nTest it with all users.", "")
    assert told_of(doors, plan, MORE) == at(SEEN, "text")
    (doors.play.as_(by) if by else doors.play).do(plans.approve_plan, plan)
    assert told_of(doors, plan, MORE) == (set() if by else at(SEEN, "text"))


def test_an_approval_from_before_a_reviewer_asked_more_is_no_consent(doors: Doors) -> None:
    """Way: the text is the approved one once more."""
    plan = str(doors.play.do(plans.draft_plan, "How", "Hash them.", run=doors.play.run()))
    doors.play.as_(GRACE).do(plans.approve_plan, plan)
    doors.edit(plan, "Hash them.", "Hash them.\n\nTest it with all users.")
    of_grace(doors)
    doors.edit(plan, "\n\nTest it with all users.", "")
    assert told_of(doors, plan, MORE) == at(SEEN, "text")


def test_a_draft_of_the_base_is_rewritten_and_approved(doors: Doors) -> None:
    plan = str(doors.play.as_(GRACE).do(plans.draft_plan, "How", "Hash them.", run=doors.play.run()))
    doors.landed()
    doors.edit(plan, "Hash them.", "Log them.")
    doors.play.do(plans.approve_plan, plan)
    assert told_of(doors, plan) == at((*SEEN, "squash"), "text")


@pytest.mark.parametrize("by", ["", GRACE, BOB])
def test_a_plan_that_a_reviewer_approved_is_rewritten_by_its_author(doors: Doors, by: str) -> None:
    """No way where she, or a third person, approves it as it is now."""
    plan = str(doors.play.do(plans.draft_plan, "How", "Hash them.", run=doors.play.run()))
    doors.play.as_(GRACE).do(plans.approve_plan, plan)
    doors.landed()
    doors.edit(plan, "Hash them.", "Log them.")
    (doors.play.as_(by) if by else doors.play).do(plans.approve_plan, plan)
    assert told_of(doors, plan, "was approved") == (set() if by else at((*SEEN, "squash"), "text"))


def test_a_plan_that_a_reviewer_approved_on_the_branch_is_rewritten_by_its_author(doors: Doors) -> None:
    plan = str(doors.play.do(plans.draft_plan, "How", "Hash them.", run=doors.play.run()))
    doors.play.as_(GRACE).do(plans.approve_plan, plan)
    doors.edit(plan, "Hash them.", "Log them.")
    doors.play.do(plans.approve_plan, plan)
    assert told_of(doors, plan, "was approved") == at(SEEN, "text")


def test_what_a_reviewer_put_back_is_taken_away_again(doors: Doors) -> None:
    """Way: the words were once of whoever takes them away."""
    task = doors.play.task("Hash with argon2", criteria=[HARD, "No test is skipped."])
    put_back(doors, task)
    doors.play.as_(GRACE).do(tasks.revise_task, task, title="Hash with argon2", criteria=[HARD, "No test is skipped."])
    of_grace(doors)
    put_back(doors, task)
    assert told_of(doors, task, MORE) == at(SEEN, "criteria, title")


def test_what_a_reviewer_asks_more_of_a_task_of_the_base_that_is_done(doors: Doors) -> None:
    """Way: nothing happens to it on the branch but that it is as it was."""
    task = doors.play.task("Hash", criteria=[HARD])
    finished(doors, task)
    doors.landed()
    made_harder(doors, task)
    put_back(doors, task)
    assert told_of(doors, task, MORE) == at(SEEN, "criteria, title")


def test_a_merge_that_keeps_an_older_pack_drops_what_a_reviewer_asked(doors: Doors) -> None:
    """Way: a side packs the text as it was, so that no commit brings other bytes."""
    task = doors.play.task("Hash", criteria=[HARD])
    run, path = doors.play.state(task).id, doors.path(task)
    doors.landed()
    own = git(doors.root, "branch", "--show-current")
    git(doors.root, "switch", "-qc", "packed")
    said = doors.file(task).read_bytes()
    doors.remove(task)
    doors.packed(run, {path: said})
    git(doors.root, "reset", "-q", "--soft", "HEAD~2")
    git(doors.root, "commit", "-qm", "packed")
    git(doors.root, "switch", "-q", own)
    made_harder(doors, task)
    git(doors.root, "merge", "-q", "--no-edit", "packed", check=False)
    git(doors.root, "rm", "-q", "--cached", path)
    doors.file(task).unlink(missing_ok=True)
    git(doors.root, "commit", "-qm", "merged")
    assert told_of(doors, task, MORE, NOBODY) == at(SEEN, "criteria, title")


@pytest.mark.parametrize("way", ["pick", "side"])
def test_an_older_commit_of_the_reviewers_takes_back_what_she_asked_since(doors: Doors, way: str) -> None:
    """Way: her own commit is brought once more, by itself or from a side; she is its author, and nothing is forged."""
    task = str(doors.play.as_(GRACE).task("Hash", criteria=[HARD]))
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", GRACE, "--date", "2020-01-01T00:00:00Z")
    own, old = git(doors.root, "branch", "--show-current"), git(doors.root, "rev-parse", "HEAD")
    made_harder(doors, task)
    if way == "pick":
        doors.remove(task)
        git(doors.root, "cherry-pick", old)
    else:
        git(doors.root, "checkout", old, "--", doors.path(task))
        git(doors.root, "commit", "-qm", "as it was")
        git(doors.root, "switch", "-qc", "side", f"{old}^")
        doors.play.run("Another")
        git(doors.root, "cherry-pick", old)
        merge_into(doors.root, own, "side")
    finished(doors, task)
    assert told_of(doors, task, MORE, NOBODY if way == "pick" else ADA) == at(SEEN, "criteria, title")


@pytest.mark.parametrize(
    ("kind", "old", "new", "keys"),
    [
        ("run", "goal: ", "constraints:\n- touch no production data\ngoal: ", "constraints"),
        ("task", "title: Hash", "title: Hash all", "title"),
    ],
)
def test_a_merge_brings_the_text_of_the_base_back_after_it_was_deleted(
    doors: Doors, kind: str, old: str, new: str, keys: str
) -> None:
    """Way: nobody writes what the reviewer asked away: it is deleted, and a side that began before still has it."""
    task = doors.play.task("Hash", criteria=[HARD])
    record = doors.play.state(task).id if kind == "run" else task
    doors.landed()
    own, path = git(doors.root, "branch", "--show-current"), doors.path(record)
    git(doors.root, "branch", "side")
    doors.edit(record, old, new)
    of_grace(doors)
    doors.remove(record)
    git(doors.root, "switch", "-q", "side")
    doors.play.run("Another")
    git(doors.root, "switch", "-q", own)
    git(doors.root, "merge", "-q", "--no-commit", "side")
    git(doors.root, "checkout", "side", "--", path)
    git(doors.root, "commit", "-qm", "merged")
    assert told_of(doors, record, MORE, NOBODY) == at(SEEN, keys)


def test_an_older_commit_of_a_plans_author_takes_back_what_a_reviewer_asked(doors: Doors) -> None:
    """Way: who picks that is in no text of it, and approves the plan as if it were a third person's."""
    plan = str(doors.play.as_(BOB).do(plans.draft_plan, "How", "Hash them.", run=doors.play.run()))
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", BOB, "--date", "2020-01-01T00:00:00Z")
    old = git(doors.root, "rev-parse", "HEAD")
    doors.edit(plan, "Hash them.", "Hash them.\n\nTest it with all users.")
    of_grace(doors)
    doors.remove(plan)
    git(doors.root, "cherry-pick", old)
    doors.play.do(plans.approve_plan, plan)
    assert told_of(doors, plan, MORE, NOBODY) == at(SEEN, "text")


def test_a_draft_of_the_base_is_whose_words_it_has(doors: Doors) -> None:
    """Way: a request of the reviewer's made it ask more, and the next one takes that back."""
    plan = str(doors.play.do(plans.draft_plan, "How", "Hash them.", run=doors.play.run()))
    doors.edit(plan, "Hash them.", "Hash them.\n\nTest it with all users.")
    of_grace(doors)
    doors.landed()
    doors.edit(plan, "\n\nTest it with all users.", "")
    doors.play.do(plans.approve_plan, plan)
    assert told_of(doors, plan) == at((*SEEN, "squash"), "text")


@pytest.mark.parametrize("way", ["pick", "archive"])
def test_an_approval_from_before_comes_again_after_a_reviewer_asked_more(doors: Doors, way: str) -> None:
    """Way: it is taken out and picked once more, or the run is archived, so that a later commit brings it."""
    plan = str(doors.play.do(plans.draft_plan, "How", "Hash them.", run=doors.play.run()))
    doors.play.as_(GRACE).do(plans.approve_plan, plan)
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", GRACE, "--date", "2020-01-01T00:00:00Z")
    old = git(doors.root, "rev-parse", "HEAD")
    doors.edit(plan, "Hash them.", "Hash them.\n\nTest it with all users.")
    of_grace(doors)
    doors.edit(plan, "\n\nTest it with all users.", "")
    if way == "pick":
        take_out(doors.root, git(doors.root, "show", "--format=", "--name-only", old), message="tidy")
        git(doors.root, "cherry-pick", old)
    else:
        run = doors.play.state(plan).id
        doors.play.do(runs.cancel_run, run, reason="Over.")
        doors.play.do(runs.archive_run, run)
    assert told_of(doors, plan, MORE) == at(SEEN, "text")


@pytest.mark.parametrize("author", ["Grace <ada@example.invalid>", "Ada <ada@example.invalid>", "Grace <>"])
def test_whose_words_they_are_is_asked_by_address(doors: Doors, author: str) -> None:
    """Way: git's name is set to the reviewer's, and the address stays, or is none."""
    task = doors.play.task("Hash", criteria=[HARD])
    made_harder(doors, task)
    put_back(doors, task)
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", author)
    assert told_of(doors, task, MORE, author) == at(SEEN, "criteria, title")


@pytest.mark.parametrize("landed", [False, True])
def test_what_a_reviewer_asks_more_is_dropped_by_a_merge(doors: Doors, *, landed: bool) -> None:
    """Way: no commit but the merge leaves it out."""
    task = doors.play.task("Hash", criteria=[HARD])
    if landed:
        doors.landed()
    own = git(doors.root, "branch", "--show-current")
    git(doors.root, "switch", "-qc", "reviewed")
    made_harder(doors, task)
    git(doors.root, "switch", "-q", own)
    finished(doors, task)
    git(doors.root, "merge", "-q", "--no-edit", "-s", "ours", "reviewed")
    assert told_of(doors, task, MORE) == at(SEEN, "criteria, title")


def test_who_puts_back_what_another_asked_does_not_become_its_author(doors: Doors) -> None:
    """Way: taken back, brought again in a commit of one's own, and taken back once more."""
    task = doors.play.task("Hash", criteria=[HARD])
    made_harder(doors, task)
    for _ in range(2):
        git(doors.root, "revert", "--no-edit", "HEAD")
    git(doors.root, "revert", "--no-edit", "HEAD")
    finished(doors, task)
    assert told_of(doors, task, MORE) == at(SEEN, "criteria, title")


@pytest.mark.parametrize("mine", [False, True])
def test_ones_own_words_are_taken_back_by_oneself(doors: Doors, *, mine: bool) -> None:
    """No way: also where a merge of a side of one's own has them, and where a later side goes on from them."""
    task = doors.play.task("Hash", criteria=[HARD])
    own = git(doors.root, "branch", "--show-current")
    git(doors.root, "switch", "-qc", "side")
    made_harder(doors, task)
    if mine:
        git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", ADA)
    put_back(doors, task, "Hash all")
    if not mine:
        of_grace(doors)
    git(doors.root, "switch", "-q", own)
    doors.play.run("Another")
    git(doors.root, "merge", "-q", "--no-edit", "side")
    finished(doors, task)
    assert told_of(doors, task, MORE) == set()


def test_a_task_of_somebody_elses_agent_that_comes_again_with_other_words(doors: Doors) -> None:
    """Way: none of those who committed it bears the name that it is by."""
    task = str(doors.play.as_("agent:hermes").task("Hash all passwords"))
    of_grace(doors)
    path, text = doors.path(task), doors.file(task).read_text()
    doors.remove(task)
    doors.write(path, text.replace("Hash all passwords", "Tidy up"))
    finished(doors, task)
    assert told_of(doors, task) == at(SEEN, "title")


def test_what_somebody_else_brought_comes_again_in_an_archive_with_other_words(doors: Doors) -> None:
    """Way: no commit changes the file, one takes it away, and another one packs it."""
    run = str(doors.play.as_(GRACE).run("Hash all passwords"))
    of_grace(doors)
    doors.play.do(plans.approve_plan, doors.play.do(plans.draft_plan, "How", "Hash them.", run=run))
    task = brought(doors, run=run)
    for record in (run, task):
        path, text = doors.path(record), doors.file(record).read_text()
        doors.remove(record)
        doors.packed(run, {path: text.replace("Hash all passwords", "Tidy up").encode()})
    finished(doors, task)
    assert told_of(doors, task) == at(SEEN, "title")
    assert told_of(doors, run) == at(SEEN, "goal")


def test_a_run_that_is_archived_as_it_was_is_no_cheat(doors: Doors) -> None:
    run = str(doors.play.as_(GRACE).planned("Hash all passwords"))
    of_grace(doors)
    brought(doors, run=run)
    doors.play.do(runs.cancel_run, run, reason="Over.")
    doors.play.do(runs.archive_run, run)
    doors.sound()


def test_a_task_of_the_base_that_is_reopened_may_ask_for_more(doors: Doors) -> None:
    """No cheat: a reviewer says what was missing, and the next request does it; who takes words away is told of."""
    task = doors.play.task("Hash", criteria=[HARD], body=TASK["body"])
    finished(doors, task)
    doors.landed()
    doors.play.do(tasks.reopen_task, task, reason="It has to be fast.")
    doors.play.do(tasks.revise_task, task, criteria=[HARD, "It is fast."], body=f"{TASK['body']}\n\nMeasure it.")
    doors.sound()
    doors.edit(task, TASK["body"], "A typo.")
    assert f"{task} was completed when its criteria, text changed" in doors.warned("D007")


@pytest.mark.parametrize("changed", [("title", "Hash all passwords", "Tidy up"), ("text", TASK["body"], "A typo.")])
def test_a_task_of_the_base_that_somebody_else_wrote_gets_other_words_in_a_request_before_it_is_done(
    doors: Doors, changed: tuple[str, str, str]
) -> None:
    """Way: one request gives it the words of easy work, and the next one does that; so the first one is told of."""
    task = brought(doors, body=TASK["body"])
    doors.landed()
    doors.edit(task, *changed[1:])
    message = f"{task} was pending when its {changed[0]} changed"
    rows = {door: doors.check(*options, root=root) for door, options, root in doors.arrivals()}
    told = {door for door, (_, found) in rows.items() if [row["message"] for row in found] == [message]}
    assert (told, {code for code, _ in rows.values()}) == ({*SEEN, "squash"}, {0})
    doors.landed()
    finished(doors, task)
    doors.sound()


def test_a_task_of_the_base_that_somebody_else_wrote_may_say_more(doors: Doors) -> None:
    task = brought(doors, body="It is for all\nusers of it.")
    doors.landed()
    doors.play.do(tasks.revise_task, task, body="It is for all users\nof it.\n\nAnd for guests.")
    doors.sound()
    doors.play.do(tasks.revise_task, task, criteria=[HARD])
    doors.sound()


def test_a_task_of_the_base_that_is_renamed_and_called_off(doors: Doors) -> None:
    task = doors.play.task("Review the security of it")
    doors.landed()
    doors.play.do(tasks.revise_task, task, title="Tidy up")
    doors.play.do(tasks.cancel_task, task, reason="No time.")
    assert f"{task} was pending when its title changed" in doors.warned("D007")
