"""A transaction is one commit of ledger files, and nothing of the user's is touched."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from memento_git.ledger import git_status, layout, settings, watch
from memento_git.ledger.git import Git
from memento_git.ledger.git_status import UncommittedLedger
from memento_git.ledger.lock import TransactionNested
from memento_git.ledger.store import Ledger
from memento_git.ledger.transaction import TransactionEnded
from memento_git.model.arguments import ArgumentInvalid
from memento_git.model.clock import ClockUnfit, seconds_of
from memento_git.work.actions import runs, tasks
from memento_git.work.actions.setup import init_ledger
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.git_future import GitFuture
    from memento_git.ledger.transaction import Transaction
    from tests.play import Call, Play


def test_a_change_leaves_staged_unstaged_and_untracked_work_alone(play: Play) -> None:
    (play.root / "staged.py").write_text("half = 1\n")
    git(play.root, "add", "staged.py")
    (play.root / "app.py").write_text("answer = 43\n")
    (play.root / "scratch.txt").write_text("notes\n")
    before = git(play.root, "status", "--short")

    play.run()

    assert git(play.root, "status", "--short") == before
    changed = git(play.root, "show", "--name-only", "--format=", "HEAD").split()
    assert all(path.startswith(".memento/") for path in changed)
    assert git(play.root, "diff", "--cached", "--name-only") == "staged.py"


def test_each_verb_is_one_commit_with_trailers(play: Play) -> None:
    before = int(git(play.root, "rev-list", "--count", "HEAD"))

    run = play.run("One goal")

    assert int(git(play.root, "rev-list", "--count", "HEAD")) == before + 1
    message = git(play.root, "log", "-1", "--format=%B")
    assert message.splitlines()[0] == f"memento: run_start {run}".replace("run_start", "start_run")
    assert f"Memento-Run: {run}" in message
    assert "Memento-Actor: Ada <ada@example.invalid>" in message


def test_many_actions_in_one_transaction_are_one_commit(play: Play) -> None:
    before = int(git(play.root, "rev-list", "--count", "HEAD"))

    with play.ledger.transaction("batch") as tx:
        run = runs.start_run(tx, "Goal")
        first = tasks.add_task(tx, "First", run=run)
        tasks.add_task(tx, "Second", run=run, depends_on=[first])

    assert int(git(play.root, "rev-list", "--count", "HEAD")) == before + 1
    assert [play.state(run).prose(task).title for task in play.state(run).ids("task")].count("Second") == 1


def test_what_is_made_in_one_transaction_keeps_its_order(play: Play) -> None:
    run = play.run()
    titles = [f"step {number}" for number in range(12)]
    with play.ledger.transaction("batch") as tx:
        for title in titles:
            tasks.add_task(tx, title, run=run)
    state = play.state(run)
    assert [state.prose(task).title for task in state.ids("task")] == titles
    made = [state.prose(task).data["at"] for task in state.ids("task")]
    assert made == sorted(set(made))
    assert seconds_of(made[-1]) - seconds_of(made[0]) < 0.02


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_can_be_changed_in_a_transaction_that_has_ended(play: Play, *, fails: bool) -> None:
    with contextlib.suppress(LookupError), play.ledger.transaction("batch") as tx:
        runs.start_run(tx, "Goal")
        if fails:
            raise LookupError
    head = git(play.root, "rev-parse", "HEAD")
    with pytest.raises(TransactionEnded):
        runs.start_run(tx, "Another goal")
    assert TransactionEnded.token == "transaction_ended"
    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_change_within_a_change_is_refused_at_once_and_the_outer_one_goes_on(play: Play) -> None:
    with Ledger.open(play.root) as other:
        for ledger in (play.ledger, other):
            with play.ledger.transaction("outer") as tx:
                run = runs.start_run(tx, "Goal")
                with pytest.raises(TransactionNested):
                    ledger.change("inner", lambda inner: runs.start_run(inner, "Another goal"))
            assert run in play.ledger.view().runs()
    assert TransactionNested.token == "transaction_nested"
    assert len(play.ledger.view().runs()) == 2


def test_the_name_of_an_action_adds_no_lines_to_the_commit_message(play: Play) -> None:
    with play.ledger.transaction("x\nMemento-Actor: evil\n\ny") as tx:
        runs.start_run(tx, "Goal")
    message = git(play.root, "log", "-1", "--format=%B").splitlines()
    assert message[0].startswith("memento: x Memento-Actor: evil y run_")
    assert [line for line in message if line.startswith("Memento-Actor")] == [
        "Memento-Actor: Ada <ada@example.invalid>"
    ]


def test_a_transaction_that_raises_writes_nothing(play: Play) -> None:
    head = git(play.root, "rev-parse", "HEAD")

    def fail(tx: Transaction) -> None:
        runs.start_run(tx, "Goal")
        raise LookupError

    with pytest.raises(LookupError):
        play.ledger.change("fail", fail)

    assert git(play.root, "rev-parse", "HEAD") == head
    assert git(play.root, "status", "--short") == ""


def test_a_change_locks_no_ref_but_the_branch(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "refs"
    monkeypatch.setenv("GIT_TRACE_REFS", str(told))
    play.run()
    monkeypatch.delenv("GIT_TRACE_REFS")
    assert "transaction" in told.read_text()
    assert "memento/scratch" not in told.read_text()


def test_a_hand_edit_of_a_file_that_a_change_relies_on_is_refused_and_kept(play: Play) -> None:
    run = play.planned()
    task = play.task()
    path = next(play.root.glob(f".memento/runs/{run}/tasks/*/{task}/task.md"))
    path.write_text(path.read_text() + "More words.\n")
    before = git(play.root, "for-each-ref"), git(play.root, "status", "--short")

    with pytest.raises(UncommittedLedger):
        play.dispatch(task)

    assert (git(play.root, "for-each-ref"), git(play.root, "status", "--short")) == before
    assert not [*(play.root / ".git" / "memento" / "journal").iterdir()]
    assert path.read_text().endswith("More words.\n")


@pytest.mark.parametrize("then", ["", "changed", "removed"])
@pytest.mark.parametrize("unborn", [False, True])
def test_what_is_staged_where_a_file_is_made_is_kept_and_the_change_refused(
    repo: Path, then: str, *, unborn: bool
) -> None:
    if unborn:
        git(repo, "checkout", "-q", "--orphan", "new")
    mine = repo / layout.README
    mine.parent.mkdir()
    mine.write_text("mine\n")
    git(repo, "add", layout.README)
    if then == "changed":
        mine.write_text("mine, too\n")
    elif then == "removed":
        mine.unlink()
    before = git(repo, "for-each-ref"), git(repo, "status", "--short"), git(repo, "ls-files", "-s")

    with Ledger.open(repo) as opened, pytest.raises(UncommittedLedger, match=r"README\.md"):
        init_ledger(opened)

    assert (git(repo, "for-each-ref"), git(repo, "status", "--short"), git(repo, "ls-files", "-s")) == before
    assert mine.exists() != (then == "removed")


def test_what_lies_in_a_commit_of_ours_is_known_without_asking_git_again(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.task(run=play.run())
    asked: list[tuple[str, ...]] = []
    run = Git.run

    def count(git: Git, *arguments: str, **options: Any) -> bytes:
        asked.append(arguments)
        return run(git, *arguments, **options)

    monkeypatch.setattr(Git, "run", count)
    task = play.task()
    play.do(tasks.cancel_task, task, reason="no need")
    with Ledger.open(play.root) as other:
        tasks_there = other.view().files
    git(play.root, "commit", "-q", "--allow-empty", "-m", "code")

    assert play.ledger.view().files == tasks_there
    listed = [words for words in asked if words[0] == "ls-tree" and "-rz" in words]
    assert listed == [], "the other finds it kept, and what the user has committed has the same tree"


def test_a_look_that_has_just_begun_serves_the_next_view_of_the_same_head_and_no_other(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.run()
    ledger = play.beside(play.root).ledger
    ledger.watch.early = True
    asked: list[tuple[str, ...]] = []
    ask = git_status.ask

    def count(git: Git, *paths: str, **options: str) -> GitFuture:
        asked.append(paths)
        return ask(git, *paths, **options)

    monkeypatch.setattr(git_status, "ask", count)
    ledger.view()
    ledger.view()
    assert len(asked) == 1
    play.run()
    asked.clear()
    ledger.view()
    assert len(asked) == 1
    monkeypatch.setattr(watch, "FRESH", 0.0)
    ledger.view()
    assert len(asked) == 2


def test_a_hand_made_file_is_announced_and_never_swept_in(play: Play) -> None:
    run = play.run()
    stray = play.root / ".memento" / "runs" / run / "notes.md"
    stray.write_text("mine\n")

    play.task(run=run)
    play.ledger.view()

    assert [change.path for change in play.ledger.uncommitted] == [f".memento/runs/{run}/notes.md"]
    assert git(play.root, "status", "--short") == f"?? .memento/runs/{run}/notes.md"


def test_a_view_that_nobody_asks_on_leaves_no_process_behind(play: Play) -> None:
    beside = psutil.Process()
    known = {child.pid for child in beside.children()}
    with Ledger.open(play.root) as ledger:
        for _ in range(3):
            ledger.view()
        (play.root / ".memento" / "stray.txt").write_text("x")
        ledger.view()
        assert [change.path for change in ledger.uncommitted] == [".memento/stray.txt"]
        ledger.view()
    assert {child.pid for child in beside.children()} <= known


def test_a_clock_that_git_reckons_no_zone_for_is_refused(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_DATE", raising=False)
    told = "Ada <ada@example.invalid> 4102444800 +5347828"  # what git itself says, and commits, in 2100
    names = {"user.email": "ada@example.invalid", "GIT_AUTHOR_IDENT": told, "GIT_COMMITTER_IDENT": told}
    with pytest.raises(ClockUnfit) as refused:
        settings.identities(play.ledger.git, names)
    assert refused.value.hint == "set the clock of this machine"
    asked = settings.identities(play.ledger.git, {})
    assert all(one.startswith("Ada <ada@example.invalid> ") for one in asked), "git tells them where nothing else does"


def test_what_is_written_by_a_change_is_not_announced_as_an_edit(play: Play) -> None:
    for number in range(5):
        play.ledger.view()
        play.run(f"Goal {number}")
        assert play.ledger.uncommitted == []


@pytest.mark.parametrize("seconds", [253402300805.0, 1e18, float("inf"), float("nan"), -1e13])
def test_a_clock_that_tells_no_time_which_can_be_written_is_refused(play: Play, seconds: float) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    with Ledger.open(play.root, clock=lambda: seconds) as ledger:
        with pytest.raises(ClockUnfit):
            ledger.view()
        with pytest.raises(ClockUnfit):
            ledger.change("run start", lambda tx: runs.start_run(tx, "Goal"))
    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_clock_that_is_beyond_what_python_tells_is_refused(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def beyond() -> float:  # from 2262 on each clock of Python's says what it says here
        time.sleep(10**10)
        return 0.0

    monkeypatch.setattr(time, "monotonic", beyond)
    code, _, err = cli("status", "-C", str(play.root))
    assert (code, "[clock_unfit]" in err) == (1, True)


def test_a_commit_that_is_dated_after_all_years_is_read(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    run = play.run()
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@253402300900 +0000")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "late")
    view = play.ledger.view(["HEAD"])
    assert (view.now <= play.ledger.now(), view.runs()) == (True, [run]), "no time that is yet to come"


@pytest.mark.parametrize("action", ["a\0b", "a\ud800b", "a\u202eb"])
def test_a_name_that_no_commit_can_bear_is_refused(play: Play, action: str) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    with pytest.raises(ArgumentInvalid, match=r"Ledger\.change"):
        play.ledger.change(action, lambda tx: runs.start_run(tx, "Goal"))
    assert git(play.root, "rev-parse", "HEAD") == head
