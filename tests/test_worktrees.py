"""Several checkouts of one repository: linked worktrees, submodules, sparse ones, and users who commit meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import publish, worktree
from memento_git.ledger.store import Ledger
from memento_git.work import refusals
from memento_git.work.actions import dispatches, tasks
from memento_git.work.actions.runs import start_run
from memento_git.work.actions.setup import init_ledger
from memento_git.work.overview import uncommitted
from tests.play import Play, git

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.transaction import Transaction

NEW = ".memento/extra/new.md"


def is_clean(root: Path) -> bool:
    """Tell whether users and plumbing see no difference between HEAD, index and work tree."""
    plumbing = [["diff-files", "--quiet"], ["diff-index", "--quiet", "HEAD"]]
    codes = [subprocess.run(["git", *command], cwd=root, check=False).returncode for command in plumbing]
    return git(root, "status", "--short") == "" and codes == [0, 0]


def put(play: Play, path: str = NEW, data: bytes = b"new\n") -> None:
    play.ledger.change("put", lambda tx: tx.put(path, data))


@pytest.fixture
def linked(play: Play, tmp_path: Path) -> Play:
    """A second work tree of the same repository, on a branch of its own."""
    git(play.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    return play.beside(tmp_path / "side", actor="agent:side")


def test_a_linked_worktree_moves_its_own_branch_and_refreshes_its_own_index(play: Play, linked: Play) -> None:
    main = git(play.root, "rev-parse", "main")

    run = linked.run()

    assert git(play.root, "rev-parse", "main") == main
    assert run in linked.ledger.view().runs()
    assert run not in play.ledger.view().runs()
    assert run in play.ledger.view(["HEAD", "side"]).runs()
    assert is_clean(linked.root)
    assert is_clean(play.root)


def test_worktrees_of_one_clone_exclude_each_others_claims(play: Play, linked: Play) -> None:
    play.planned()
    dispatch = play.dispatch(play.task())
    git(linked.root, "merge", "-q", "main")

    play.do(dispatches.claim_dispatch, dispatch)

    with pytest.raises(refusals.AlreadyClaimed):
        linked.do(dispatches.claim_dispatch, dispatch)
    assert is_clean(linked.root)


def test_a_claim_that_was_not_committed_frees_the_claim_again(play: Play, linked: Play) -> None:
    play.planned()
    dispatch = play.dispatch(play.task())
    git(linked.root, "merge", "-q", "main")

    def fail(tx: Transaction) -> None:
        dispatches.claim_dispatch(tx, dispatch)
        raise LookupError

    with pytest.raises(LookupError):
        play.ledger.change("claim", fail)

    assert linked.do(dispatches.claim_dispatch, dispatch) == dispatch


def test_one_branch_in_two_worktrees_takes_the_changes_of_both(play: Play, tmp_path: Path) -> None:
    git(play.root, "worktree", "add", "-q", "--force", str(tmp_path / "twin"), "main")
    twin = play.beside(tmp_path / "twin")

    first = play.run("First")
    git(twin.root, "reset", "-q", "--hard")
    second = twin.run("Second")

    assert set(twin.ledger.view().runs()) == {first, second}
    assert is_clean(twin.root)


def test_a_submodule_has_a_ledger_of_its_own(play: Play, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", "-b", "main", str(outer))
    git(outer, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(play.root), "inner")
    git(outer, "commit", "-qm", "link")
    inner = play.beside(outer / "inner")

    run = inner.run()

    assert inner.root == outer / "inner"
    assert run in inner.ledger.view().runs()
    assert is_clean(outer / "inner")
    assert not (outer / ".memento").exists()
    assert git(outer, "status", "--short") == "M inner"


@pytest.mark.parametrize("form", [["--cone"], ["--cone", "--sparse-index"], ["--no-cone"]], ids=" ".join)
def test_a_sparse_checkout_without_the_ledger_is_written_and_stays_sparse(play: Play, form: list[str]) -> None:
    (play.root / "src").mkdir()
    (play.root / "src" / "lib.py").write_text("x = 1\n")
    play.commit_all()
    run = play.planned()
    git(play.root, "sparse-checkout", "set", *form, "src")
    assert not (play.root / ".memento").exists()

    task = play.proven()
    config = play.ledger.view().read(".memento/config.yaml") or b""
    put(play, ".memento/config.yaml", config + b"# more\n")

    assert play.status(run) == "active"
    assert play.is_proven(task)
    assert is_clean(play.root)
    assert not (play.root / ".memento").exists()
    git(play.root, "sparse-checkout", "disable")
    assert is_clean(play.root)
    assert (play.root / ".memento" / "config.yaml").read_bytes().endswith(b"# more\n")


@pytest.mark.parametrize(
    "form", [["--cone", ".memento/knowledge"], ["--no-cone", "/*", "!/.memento/runs/"]], ids=lambda form: form[0]
)
def test_a_sparse_checkout_of_a_part_of_the_ledger_stays_what_it_is(play: Play, run: str, form: list[str]) -> None:
    task = play.task()
    git(play.root, "sparse-checkout", "set", *form)
    shown = {path for path in play.root.rglob("*") if path.is_file() and ".git" not in path.parts}
    assert (play.root / ".memento" / "config.yaml") in shown

    for title in ("Another title", "A third title"):
        play.do(tasks.revise_task, task, title=title)
        assert is_clean(play.root)
    play.complete(play.claimed(task), play.evidence(task))

    assert is_clean(play.root)
    assert {path for path in play.root.rglob("*") if path.is_file() and ".git" not in path.parts} == shown
    git(play.root, "sparse-checkout", "disable")
    assert is_clean(play.root)


def test_what_a_sparse_checkout_shows_is_written_there(play: Play) -> None:
    git(play.root, "sparse-checkout", "set", "--cone", ".memento/knowledge")
    put(play, ".memento/knowledge/new.md")
    put(play, ".memento/config.yaml", (play.ledger.view().read(".memento/config.yaml") or b"") + b"# more\n")

    assert is_clean(play.root)
    assert (play.root / ".memento" / "knowledge" / "new.md").exists()
    assert (play.root / ".memento" / "config.yaml").read_bytes().endswith(b"# more\n")


@pytest.mark.parametrize(
    "flags", [["--skip-worktree"], ["--assume-unchanged"], ["--skip-worktree", "--assume-unchanged"]]
)
@pytest.mark.parametrize("edited", [False, True], ids=["as it was", "edited"])
def test_a_ledger_file_that_git_is_told_not_to_look_at_is_entered_like_others(
    play: Play, flags: list[str], edited: bool
) -> None:
    put(play)
    for flag in flags:
        git(play.root, "update-index", flag, NEW)
    told = git(play.root, "ls-files", "-v", NEW)
    if edited:
        (play.root / NEW).write_bytes(b"mine\n")

    put(play, data=b"newer\n")

    assert git(play.root, "diff", "--cached", "--name-only") == ""
    assert git(play.root, "ls-files", "-v", NEW) == told
    assert (play.root / NEW).read_bytes() == (b"mine\n" if edited else b"newer\n")
    assert is_clean(play.root)


def test_a_ledger_may_be_made_in_a_sparse_checkout(repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "lib.py").write_text("x = 1\n")
    git(repo, "add", "src")
    git(repo, "commit", "-qm", "src")
    git(repo, "sparse-checkout", "set", "--cone", "src")
    with Ledger.open(repo) as ledger:
        init_ledger(ledger)
        Play(ledger).run()

    assert is_clean(repo)
    git(repo, "sparse-checkout", "reapply")
    assert is_clean(repo)


def test_a_branch_that_the_user_left_meanwhile_gets_the_change_and_the_work_tree_is_left_alone(play: Play) -> None:
    git(play.root, "branch", "other")

    def act(tx: Transaction) -> None:
        git(play.root, "switch", "-q", "other")
        tx.put(NEW, b"new\n")

    play.ledger.change("left", act)

    assert git(play.root, "show", f"main:{NEW}") == "new"
    assert git(play.root, "rev-parse", "--abbrev-ref", "HEAD") == "other"
    assert is_clean(play.root)
    assert not (play.root / NEW).exists()
    assert any("refs/heads/main" in warning for warning in play.ledger.warnings)
    before = len(play.ledger.warnings)
    play.ledger.view()
    assert len(play.ledger.warnings) == before


def test_a_rebase_that_begins_meanwhile_has_the_change_refused_for_its_abort_would_lose_it(play: Play) -> None:
    def act(tx: Transaction) -> None:
        git(play.root, "-c", "sequence.editor=sed -i 1ibreak", "rebase", "-qi", "HEAD~1")
        tx.put(NEW, b"new\n")

    put(play, ".memento/extra/old.md", b"old\n")
    head = git(play.root, "rev-parse", "main")
    with pytest.raises(publish.OperationUnderWay, match="a rebase"):
        play.ledger.change("left", act)

    assert git(play.root, "rev-parse", "main") == head
    git(play.root, "rebase", "--abort")
    assert is_clean(play.root)
    assert not list((play.root / ".git" / "memento" / "journal").glob("*"))


def test_a_rebase_that_begins_while_a_change_is_signed_has_it_refused_and_leaves_nothing_behind(play: Play) -> None:
    gpg = play.root / ".git" / "gpg"
    gpg.write_text(
        f"#!/bin/sh\nunset GIT_DIR GIT_INDEX_FILE\n"
        f"git -C '{play.root}' -c sequence.editor='sed -i 1ibreak' rebase -qi HEAD~1 >&2\n"
        "cat >/dev/null; echo signed; echo '[GNUPG:] SIG_CREATED ' >&2\n"
    )
    gpg.chmod(0o755)
    put(play)
    git(play.root, "config", "gpg.program", str(gpg))
    git(play.root, "config", "commit.gpgsign", "true")
    signing = play.beside(play.root)
    with pytest.raises(publish.OperationUnderWay, match="a rebase"):
        put(signing, ".memento/extra/more.md")

    assert not list((play.root / ".git" / "memento" / "journal").glob("*"))


def test_a_head_that_goes_while_files_are_written_takes_them_back(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    put(play, ".memento/extra/edited.md", b"old\n")
    git(play.root, "branch", "other")

    def leave(step: str) -> None:
        if step == "index_refreshed" and git(play.root, "symbolic-ref", "HEAD") == "refs/heads/main":
            git(play.root, "symbolic-ref", "HEAD", "refs/heads/other")

    def act(tx: Transaction) -> None:
        tx.put(NEW, b"new\n")
        tx.put(".memento/extra/edited.md", b"edited\n")

    monkeypatch.setattr(worktree, "reached", leave)
    play.ledger.change("left", act)

    assert git(play.root, "show", f"main:{NEW}") == "new"
    assert is_clean(play.root)
    assert not (play.root / NEW).exists()


def test_a_detached_head_that_went_to_a_branch_meanwhile_is_not_detached_again(play: Play) -> None:
    git(play.root, "switch", "-q", "--detach")

    def act(tx: Transaction) -> None:
        if git(play.root, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD":
            git(play.root, "switch", "-q", "main")
        tx.put(NEW, b"new\n")

    play.ledger.change("left", act)

    assert git(play.root, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(play.root, "show", f"main:{NEW}") == "new"
    assert is_clean(play.root)


def test_no_commit_of_the_user_starts_from_an_index_that_lacks_what_was_just_committed(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    (play.root / "staged.py").write_text("half = 1\n")
    git(play.root, "add", "staged.py")
    told = []

    def commit(step: str) -> None:
        if step == "ref_moved":
            command = ["git", "commit", "-qm", "theirs"]
            told.append(subprocess.run(command, cwd=play.root, capture_output=True, text=True, check=False).stderr)

    monkeypatch.setattr(worktree, "reached", commit)
    put(play)
    git(play.root, "commit", "-qm", "theirs")

    assert "index.lock" in told[0]
    assert {NEW, "staged.py"} <= set(git(play.root, "ls-tree", "-r", "--name-only", "HEAD").split())
    assert is_clean(play.root)


def test_what_a_commit_of_the_user_leaves_out_that_read_the_index_before_it_locked_it_is_still_there(
    play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Git reads HEAD and the index, and then takes the index: between these it waits here for our change to end."""
    hook, asked, go = tmp_path / "fsmonitor", tmp_path / "asked", tmp_path / "go"
    hook.write_text(f"#!/bin/sh\n: > {asked}\nwhile [ ! -e {go} ]; do sleep 0.05; done\nprintf 'now\\0/\\0'\n")
    hook.chmod(0o755)
    command = ["git", "-c", f"core.fsmonitor={hook}", "commit", "-qam", "theirs"]
    (play.root / "app.py").write_text("answer = 1\n")
    users = []

    def begin(step: str) -> None:
        if step == "ref_moved":
            with_preload = {**os.environ, "GIT_TEST_PRELOAD_INDEX": "1"}
            users.append(subprocess.Popen(command, cwd=play.root, env=with_preload))
            while not asked.exists():
                time.sleep(0.01)

    monkeypatch.setattr(worktree, "reached", begin)
    run = play.ledger.change("start_run", lambda tx: start_run(tx, "Goal"))
    go.touch()
    assert users[0].wait(60) == 0
    with Ledger.open(play.root) as ledger:
        assert (ledger.view().runs(), git(play.root, "show", "HEAD:app.py")) == ([], "answer = 1")
        assert [run in path for path in uncommitted(ledger)] == [True]
    git(play.root, "add", ".memento")
    git(play.root, "commit", "-qm", "back")
    assert (play.ledger.view().runs(), is_clean(play.root)) == ([run], True)


def _insist(root: Path, *arguments: str) -> None:
    """Run git as a user who tries again when another git is in the way."""
    for _ in range(200):
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        assert any(words in done.stderr for words in ("index.lock", "cannot lock ref")), done.stderr
    raise AssertionError(arguments)


@pytest.mark.parametrize("form", [["commit", "-qa"], ["commit", "-q"]], ids=["commit -a", "plain commit"])
def test_commits_of_the_user_beside_our_writers_lose_nothing_of_either(play: Play, form: list[str]) -> None:
    script = (
        "import sys\nfrom memento_git.ledger.store import Ledger\nfrom memento_git.work.actions.runs import start_run\n"
        "with Ledger.open(sys.argv[1]) as ledger:\n    for _ in range(25):\n"
        "        print(ledger.change('start_run', lambda tx: start_run(tx, 'Goal')), flush=True)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(play.root)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]

    def work() -> None:
        for number in range(25):
            (play.root / f"file{number}.py").write_text(f"x = {number}\n")
            _insist(play.root, "add", f"file{number}.py")
            (play.root / "app.py").write_text(f"answer = {number}\n")
            _insist(play.root, *form, "-m", f"theirs {number}")

    user = Thread(target=work)
    user.start()
    made = [run for writer in writers for run in writer.communicate(timeout=120)[0].split()]
    user.join()

    tracked = git(play.root, "ls-tree", "-r", "--name-only", "HEAD").split()
    assert [f"file{number}.py" in tracked for number in range(25)] == [True] * 25
    assert len(made) == 50
    assert len(set(made) - set(play.ledger.view().runs())) <= 1  # of these 50: see the test above
    git(play.root, "add", ".memento")
    git(play.root, "commit", "-qm", "what theirs left out", "--allow-empty", "--", ".memento")
    assert set(made) == set(play.ledger.view().runs())
    assert git(play.root, "status", "--short") == ("" if "-qa" in form else "M app.py")
    assert (play.root / "app.py").read_text() == "answer = 24\n"
    git(play.root, "fsck", "--strict")
