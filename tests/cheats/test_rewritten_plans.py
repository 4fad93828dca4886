"""A plan that says who wrote it, and whose text somebody else wrote since, where its author may not approve it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import plans, runs
from tests.cheats.doors import HANDS
from tests.cheats.forging import WORK
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cheats.doors import Doors

BOB, EVE = "Bob <bob@example.invalid>", "Eve <eve@example.invalid>"
STRICT = "Test all of it."
CHANGED = f"is by {EVE}, was changed by Ada"


@pytest.fixture
def draft(doors: Doors) -> str:
    """A draft of Eve's on the main branch, where policy asks for another than its author."""
    doors.policy("  plan: {not_author: true}\n")
    plan = drafted(doors)
    doors.landed()
    return plan


def drafted(doors: Doors) -> str:
    """Draft a plan as Eve, in a commit of hers."""
    eve = doors.play.as_(EVE)
    plan = str(eve.do(plans.draft_plan, "Strict", STRICT, run=eve.run("Mine")))
    committed_by(doors, EVE)
    return plan


def committed_by(doors: Doors, author: str) -> None:
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", author)


def reworded(doors: Doors, plan: str, new: str = "Ship it as it is.") -> None:
    doors.edit(plan, STRICT, new)


def told_at(doors: Doors) -> set[str]:
    """Return the doors at which `check` tells of a plan that was changed."""
    rows = {door: doors.check(*options, root=root)[1] for door, options, root in doors.arrivals()}
    return {door for door, found in rows.items() if any(CHANGED in row["message"] for row in found)}


def test_a_plan_of_anothers_that_is_reworded_and_approved(doors: Doors, draft: str) -> None:
    reworded(doors, draft)
    for _ in doors.accepted("plan approve", plan=draft):
        assert f"{draft} {CHANGED} <ada@example.invalid>, and approved by Ada" in doors.warned("P003")


def test_a_plan_of_anothers_that_is_reworded_in_the_request_before(doors: Doors, draft: str) -> None:
    """Way: the approval comes when the text is the base's."""
    reworded(doors, draft)
    told = doors.warned("P003")
    assert CHANGED in told
    assert "is not approved as it is now" in told


def test_a_plan_that_was_drafted_on_the_branch(doors: Doors) -> None:
    doors.policy("  plan: {not_author: true}\n")
    plan = drafted(doors)
    reworded(doors, plan)
    doors.play.do(plans.approve_plan, plan)
    assert told_at(doors) == {"branch", "server", "merge"}  # elsewhere Ada committed what Eve wrote: C002


@pytest.mark.parametrize("packed", [False, True])
def test_a_plan_that_is_taken_away_and_comes_again_with_other_words(doors: Doors, *, packed: bool) -> None:
    """Way: no commit changes it; also in an archive that is made by hand."""
    doors.policy("  plan: {not_author: true}\n")
    plan = drafted(doors)
    path, text = doors.path(plan), doors.file(plan).read_text().replace(STRICT, "Ship it as it is.")
    run = doors.play.state(plan).id
    doors.remove(plan)
    if packed:
        doors.packed(run, {path: text.encode()})
    else:
        doors.write(path, text)
    doors.play.do(plans.approve_plan, plan)
    assert told_at(doors) == {"branch", "server", "merge"}


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("landed", [True, False])
def test_a_plan_that_a_merge_brings_back_with_other_words(doors: Doors, *, swapped: bool, landed: bool) -> None:
    """Way: a side deletes the plan, so that the merge neither adds nor edits it as all of its parents see it."""
    doors.policy("  plan: {not_author: true}\n")
    plan = drafted(doors)
    if landed:
        doors.landed()
    path, text = doors.path(plan), doors.file(plan).read_text()
    git(doors.root, "switch", "-qc", "side")
    doors.remove(plan)
    git(doors.root, "switch", "-q", WORK)
    doors.play.run("Another")
    sides = (WORK, "side")[:: -1 if swapped else 1]
    doors.adopt(doors.commit_tree(f"{WORK}^{{tree}}", *sides))
    doors.sound()  # no way: what the merge keeps are its side's words
    (doors.root / path).write_text(text.replace(STRICT, "Ship it as it is."))
    git(doors.root, "add", path)
    doors.adopt(doors.commit_tree(git(doors.root, "write-tree"), *sides))
    for _ in doors.accepted("plan approve", plan=plan):
        assert told_at(doors) == ({*HANDS} if landed else {"branch", "server", "merge"})


def test_a_plan_that_a_third_person_approved(doors: Doors, draft: str) -> None:
    """No way: whoever wrote which part of it, the approver wrote none; also where the run is archived since."""
    reworded(doors, draft)
    doors.play.as_(BOB).do(plans.approve_plan, draft)
    doors.sound()
    run = doors.play.state(draft).id
    doors.play.do(runs.cancel_run, run, reason="Over.")
    doors.play.do(runs.archive_run, run)
    doors.sound()


def test_a_plan_that_its_author_went_on_with(doors: Doors, draft: str) -> None:
    """No way: the author revises the draft, and somebody else approves it; who squashes that has changed it."""
    reworded(doors, draft, "Test most of it.")
    committed_by(doors, EVE)
    doors.play.do(plans.approve_plan, draft)
    assert told_at(doors) == {"staged", "squash"}


def test_a_plan_that_is_put_back(doors: Doors, draft: str) -> None:
    reworded(doors, draft)
    git(doors.root, "revert", "--no-edit", "HEAD")
    doors.sound()


def test_a_plan_that_a_third_person_tried_to_better_and_put_back(doors: Doors) -> None:
    """No way: what that person approves is what its author wrote."""
    doors.policy("  plan: {not_author: true}\n")
    plan = str(doors.play.do(plans.draft_plan, "Strict", STRICT, run=doors.play.run()))
    reworded(doors, plan, f"{STRICT} Twice.")
    committed_by(doors, BOB)
    git(doors.root, "revert", "--no-edit", "HEAD")
    committed_by(doors, BOB)
    doors.play.as_(BOB).do(plans.approve_plan, plan)
    doors.sound()


def test_a_plan_where_anybody_may_approve(doors: Doors) -> None:
    plan = drafted(doors)
    doors.landed()
    reworded(doors, plan)
    doors.play.do(plans.approve_plan, plan)
    doors.sound("D007")


def test_a_plan_whose_change_comes_from_the_main_branch(doors: Doors, draft: str) -> None:
    """No way: what a merge of the main branch brings was changed there."""
    git(doors.root, "switch", "-q", "main")
    reworded(doors, draft)
    git(doors.root, "switch", "-q", "work")
    doors.play.run("Other")
    git(doors.root, "merge", "-q", "--no-edit", "main")
    doors.sound()


@pytest.mark.parametrize("encoding", ["UTF-16", "IBM037"])
def test_a_plan_that_is_reworded_in_a_commit_of_an_encoding_in_which_its_author_is_nobody(
    doors: Doors, draft: str, encoding: str
) -> None:
    """Way: a hosting service shows who wrote the commit, and that it is signed; to git it is by nobody."""
    reworded(doors, draft)
    remade(doors, lambda head: f"{head}\nencoding {encoding}")
    assert git(doors.root, "log", "-1", "--format=%an <%ae>%at") == "<>"
    doors.play.do(plans.approve_plan, draft)
    assert told_at(doors) == {*HANDS}


def test_a_plan_that_is_reworded_in_a_commit_of_two_authors(doors: Doors, draft: str) -> None:
    """Way: to git the last one wrote it; the first one is who wrote the plan."""
    reworded(doors, draft)
    remade(doors, lambda head: head.replace("\nauthor ", f"\nauthor {EVE} 1 +0000\nauthor ") + "\nencoding UTF-8")
    assert git(doors.root, "log", "-1", "--format=%an") == "Ada"
    doors.play.do(plans.approve_plan, draft)
    assert told_at(doors) == {*HANDS}


def test_a_plan_that_comes_again_in_a_commit_which_names_a_parent_where_git_reads_none(doors: Doors) -> None:
    """Way: that one has the other words as well, so that the archive brings none."""
    doors.policy("  plan: {not_author: true}\n")
    plan = drafted(doors)
    path, text = doors.path(plan), doors.file(plan).read_text().replace(STRICT, "Ship it as it is.")
    run = doors.play.state(plan).id
    doors.write(path, text)
    other = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    doors.remove(plan)
    doors.packed(run, {path: text.encode()})
    remade(doors, lambda head: f"{head}\nparent {other}")
    assert other not in git(doors.root, "log", "-1", "--format=%P")
    doors.play.do(plans.approve_plan, plan)
    assert told_at(doors) == {"branch", "server", "merge"}


def remade(doors: Doors, change: Callable[[str], str]) -> None:
    """Let the last commit have other headers, be they none that git would write."""
    head, _, message = git(doors.root, "cat-file", "commit", "HEAD").partition("\n\n")
    data = f"{change(head)}\n\n{message}\n".encode()
    doors.adopt(git(doors.root, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", data=data))
