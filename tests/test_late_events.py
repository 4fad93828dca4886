"""What comes by merge to a run that was archived meanwhile is found, told, and can be settled and archived again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import archive, codec, layout
from memento_git.review import actions as review
from memento_git.verbs import doctor
from memento_git.work.actions import dispatches, runs, settling, tasks
from memento_git.work.row_cache import base
from tests.play import Play, git, merge_into

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.play import Call


class Story:
    """A run with a proven task and an open one; main ends and archives it while another branch works on."""

    def __init__(self, play: Play, run: str) -> None:
        self.play, self.run = play, run
        self.done = play.proven("Done", body="The text.")
        self.open = play.task("Open", run=self.run)
        self.dispatch = play.dispatch(self.open)
        git(play.root, "branch", "other")

    def archived(self) -> str:
        self.play.do(runs.cancel_run, self.run, reason="enough")
        return str(self.play.do(runs.archive_run, self.run))

    def beside(self, act: Callable[[Play], object]) -> None:
        git(self.play.root, "switch", "-q", "other")
        act(self.play.as_("Bob"))
        git(self.play.root, "switch", "-q", "main")

    def merge(self) -> None:
        git(self.play.root, "merge", "-q", "--no-edit", "other")

    def row(self) -> dict[str, Any]:
        return dict(base(self.play.ledger.view(), self.run))

    def task(self, identity: str) -> dict[str, Any]:
        return next(row for row in self.row()["tasks"] if row["id"] == identity)

    def doctor(self) -> list[str]:
        return [answer.message for answer in doctor.examine(self.play.ledger) if answer.status == "fail"]

    def loose(self) -> list[str]:
        return git(self.play.root, "ls-tree", "-r", "--name-only", "HEAD", f"{layout.RUNS}/{self.run}/").split()


@pytest.fixture
def story(play: Play, run: str) -> Story:
    return Story(play, run)


def test_a_late_claim_is_folded_with_what_the_archive_holds_and_archived_beside_it(story: Story) -> None:
    story.archived()
    story.beside(lambda bob: bob.do(dispatches.claim_dispatch, story.dispatch))
    story.merge()
    assert len(story.loose()) == 1
    row = story.task(story.open)
    assert (row["status"], row["run_status"]) == ("in_progress", "cancelled")
    assert story.doctor() == []
    before = story.row()
    git(story.play.root, "branch", "before")
    story.play.do(runs.archive_run, story.run)
    found = review.check(story.play.ledger, base="before").findings
    assert [str(one) for one in found if one.severity == "error"] == []
    assert story.loose() == []
    assert len(list((story.play.root / layout.ARCHIVE / story.run).iterdir())) == 2
    assert story.row() == before
    assert story.doctor() == []


def test_late_work_of_a_whole_task_comes_with_its_evidence(story: Story) -> None:
    story.archived()

    def work(bob: Play) -> None:
        bob.do(dispatches.claim_dispatch, story.dispatch)
        bob.complete(story.dispatch, bob.evidence(story.open))

    story.beside(work)
    story.merge()
    assert story.task(story.open)["proven"] is True
    story.play.do(runs.archive_run, story.run)
    assert story.loose() == []
    assert story.task(story.open)["proven"] is True


def test_a_late_event_of_a_completed_run_makes_its_task_late_before_and_after_the_second_archive(
    play: Play, run: str
) -> None:
    task = play.proven()
    git(play.root, "branch", "other")
    play.do(runs.complete_run, run)
    play.do(runs.archive_run, run)
    git(play.root, "switch", "-q", "other")
    play.as_("Bob").do(tasks.reopen_task, task, reason="not yet")
    merge_into(play.root, "main", "other")
    for _ in range(2):
        row = base(play.ledger.view(), run)["tasks"][0]
        assert (row["late"], row["status"], row["run_status"]) == (True, "pending", "completed")
        if git(play.root, "ls-tree", "-r", "--name-only", "HEAD", f"{layout.RUNS}/"):
            play.do(runs.archive_run, run)


def test_a_late_event_without_the_archive_is_incomplete_until_the_archive_is_back(story: Story) -> None:
    path = story.archived()
    story.beside(lambda bob: bob.do(dispatches.claim_dispatch, story.dispatch))
    story.merge()
    git(story.play.root, "rm", "-q", path)
    story.play.commit_all("the archive is gone")
    assert {row["problem"] for row in story.row()["trouble"]} == {"incomplete"}
    assert any("incomplete" in told for told in story.doctor())
    assert any("its file is missing" in told for told in story.doctor())
    git(story.play.root, "checkout", "HEAD~1", "--", path)
    story.play.commit_all("restored")
    assert story.row()["trouble"] == []
    assert story.doctor() == []


def test_a_late_event_that_contests_is_settled_and_archived_again(story: Story) -> None:
    story.play.do(dispatches.claim_dispatch, story.dispatch)
    git(story.play.root, "update-ref", "-d", f"refs/memento/claims/{story.open}")
    story.archived()
    story.beside(lambda bob: bob.do(dispatches.claim_dispatch, story.dispatch))
    story.merge()
    trouble = story.row()["trouble"]
    assert [row["problem"] for row in trouble] == ["contested"]
    keep = trouble[0]["events"][0]["event"]
    story.play.do(settling.settle_record, story.open, keep, reason="first come")
    assert story.row()["trouble"] == []
    story.play.do(runs.archive_run, story.run)
    assert story.row()["trouble"] == []
    assert story.loose() == []
    assert story.doctor() == []


def test_a_late_event_that_was_settled_away_is_told_no_more(play: Play, run: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)
    proof = play.evidence(task)
    git(play.root, "branch", "other")
    play.do(dispatches.complete_dispatch, dispatch, evidence=[proof])
    play.do(runs.complete_run, run)
    play.do(runs.archive_run, run)
    git(play.root, "switch", "-q", "other")
    play.do(dispatches.fail_dispatch, dispatch, reason="not yet")
    merge_into(play.root, "main", "other")

    def codes() -> list[str]:
        return [one.code for one in review.check(play.ledger, no_base=True).findings]

    assert codes() == ["T001", "T005"]
    (trouble,) = base(play.ledger.view(), run)["trouble"]
    done, failed = (
        next(row["event"] for row in trouble["events"] if row["action"] == f"task.{do}")
        for do in ("completed", "failed")
    )
    git(play.root, "branch", "beside")
    play.do(settling.settle_record, task, failed, reason="it was not yet done")
    assert "T005" in codes()
    git(play.root, "reset", "-q", "--hard", "beside")
    play.do(settling.settle_record, task, done, reason="it was done")
    for _ in range(2):
        row = base(play.ledger.view(), run)["tasks"][0]
        assert (row["late"], row["status"], codes()) == (False, "completed", [])
        if git(play.root, "ls-tree", "-r", "--name-only", "HEAD", f"{layout.RUNS}/"):
            play.do(runs.archive_run, run)


def test_a_text_that_was_changed_late_counts_and_its_older_copy_leaves_the_archive(story: Story) -> None:
    path = story.archived()
    story.beside(lambda bob: bob.do(tasks.revise_task, story.done, body="The late text."))
    with pytest.raises(AssertionError):
        story.merge()
    prose = git(story.play.root, "ls-files", "-u", "--", layout.RUNS).split("\t")[1].split("\n")[0]
    git(story.play.root, "add", prose)
    git(story.play.root, "commit", "-q", "--no-edit")
    assert story.task(story.done)["description"].strip() == "The late text."
    assert story.task(story.done)["proven"] is False
    git(story.play.root, "branch", "before")
    story.play.do(runs.archive_run, story.run)
    found = review.check(story.play.ledger, base="before").findings
    assert [str(one) for one in found if one.severity == "error"] == []
    assert story.task(story.done)["description"].strip() == "The late text."
    assert not (story.play.root / path).exists()
    assert story.row()["findings"] == []
    assert story.doctor() == []


def archives(play: Play, run: str) -> list[Path]:
    return sorted((play.root / layout.ARCHIVE / run).iterdir())


def test_two_archives_that_hold_different_texts_are_told(story: Story) -> None:
    story.archived()
    path = archives(story.play, story.run)[0]
    files, _ = archive.unpack(path.relative_to(story.play.root).as_posix(), story.run, path.read_bytes())
    prose = next(name for name in files if name.endswith(f"{story.done}/task.md"))
    other = archive.pack({prose: files[prose] + b"more\n"})
    (story.play.root / layout.archive_path(story.run, codec.digest_of(other))).write_bytes(other)
    story.play.commit_all("another archive")
    assert [finding[0] for finding in story.row()["findings"]] == ["F006"]


def test_doctor_finds_an_archive_that_was_changed_and_a_file_that_disagrees_with_it(story: Story) -> None:
    path = story.play.root / story.archived()
    was = path.read_bytes()
    path.write_bytes(was + b"x")
    story.play.commit_all("changed")
    assert any("A001" in told for told in story.doctor())
    path.write_bytes(was)
    files, _ = archive.unpack(path.relative_to(story.play.root).as_posix(), story.run, was)
    event = next(name for name in files if "-dispatched-" in name)
    (story.play.root / event).parent.mkdir(parents=True)
    (story.play.root / event).write_bytes(files[event].replace(b"executor: agent", b"executor: other"))
    story.play.commit_all("another event of that name")
    failed = [answer for answer in doctor.examine(story.play.ledger) if answer.status == "fail"]
    assert any("F006" in answer.message for answer in failed)
    assert {answer.fix for answer in failed} == {f"git rm {event}"}
    assert {one.fix for one in review.check(story.play.ledger).findings} == {f"git rm {event}"}
    git(story.play.root, "rm", "-q", event)
    story.play.commit_all("taken out")
    assert story.doctor() == []


def test_settle_lists_late_events_until_they_are_archived_too(story: Story, cli: Call) -> None:
    story.archived()
    story.beside(lambda bob: bob.do(dispatches.claim_dispatch, story.dispatch))
    story.merge()
    root = str(story.play.root)
    (row,) = json.loads(cli("-C", root, "settle", "--json")[1])["late"]
    assert (row["run_id"], row["record"], row["action"], row["actor"]) == (story.run, story.open, "task.claimed", "Bob")
    assert row["command"] == f"memento archive {story.run}"
    shown = cli("-C", root, "settle")[1]
    assert "is late: claimed by Bob, after its run was archived: memento archive" in shown
    story.play.do(runs.archive_run, story.run)
    assert "nothing needs settling" in cli("-C", root, "settle")[1]
