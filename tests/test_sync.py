"""sync brings a branch and the remote's together without force, and touches nothing of the user's."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import fast_forward, lock, merging, publish, remotes, trees, userindex, worktree
from memento_git.ledger.git import BareRepository, GitFailed
from memento_git.ledger.git_status import UncommittedLedger
from memento_git.ledger.store import Ledger, NoLedger
from memento_git.review import branch_check
from memento_git.work.actions import dispatches, plans, runs, syncing, tasks, vetting
from memento_git.work.actions.setup import init_ledger
from tests.clones import Hub, code, hook
from tests.play import Play, git, merge_into

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memento_git.errors import MementoError
    from tests.play import Call


@pytest.fixture
def hub(play: Play) -> Hub:
    return Hub(play)


def sync(play: Play, *arguments: str, **options: Any) -> syncing.Synced:
    return syncing.sync(play.ledger, *arguments, **options)


def at(play: Play) -> tuple[str, str]:
    return git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--porcelain=v2")


def refused(play: Play, error: type[MementoError], *arguments: str, **options: Any) -> MementoError:
    """Assert that a sync is refused and has changed nothing; return the refusal."""
    before = at(play)
    with pytest.raises(error) as caught:
        sync(play, *arguments, **options)
    assert at(play) == before
    return caught.value


def test_up_to_date_ahead_and_behind(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    assert sync(ada).brought.outcome == "up_to_date"
    run = ada.planned()
    assert sync(ada).brought.outcome == "pushed"
    assert hub.head() == at(ada)[0]
    assert sync(bob).brought.outcome == "fast_forwarded"
    assert run in bob.ledger.view().runs()
    assert at(bob) == (hub.head(), "")


def test_two_sides_of_the_ledger_are_merged_and_pushed_and_nothing_is_lost(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    one, two = ada.planned("One"), bob.planned("Two")
    sync(ada)
    done = sync(bob)
    assert (done.brought.outcome, done.brought.pushes, done.trouble) == ("merged", 1, [])
    assert {one, two} <= set(bob.ledger.view().runs())
    assert at(bob) == (hub.head(), "")
    assert len(git(bob.root, "log", "-1", "--format=%P").split()) == 2
    sync(ada)
    assert at(ada)[0] == hub.head()


def test_staged_unstaged_and_untracked_work_stays_as_it_is(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    code(ada, "x = 1\n", "other.py")
    sync(ada)
    sync(bob)
    (bob.root / "staged.py").write_text("staged\n")
    git(bob.root, "add", "staged.py")
    (bob.root / "app.py").write_text("edited\n")
    (bob.root / "loose.txt").write_text("loose\n")
    before = at(bob)[1]
    ada.planned()
    code(ada, "x = 2\n", "other.py")
    sync(ada)
    bob.planned()
    assert sync(bob).brought.outcome == "merged"
    assert at(bob)[1] == before
    assert (bob.root / "other.py").read_text() == "x = 2\n"


def test_what_the_user_edited_is_never_overwritten_by_code_that_comes_in(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    code(ada, "answer = 43\n")
    sync(ada)
    (bob.root / "app.py").write_text("mine\n")
    error = refused(bob, fast_forward.ForwardRefused)
    assert "app.py" in error.message
    git(bob.root, "checkout", "app.py")
    (bob.root / "app.py").write_text("mine\n")
    git(bob.root, "add", "app.py")
    refused(bob, fast_forward.ForwardRefused)


def killing(play: Play, name: str) -> None:
    """Have the git that writes a file into the work tree be killed at it."""
    (play.root / ".git" / "info" / "attributes").write_text(f"{name} filter=killing\n")
    git(play.root, "config", "filter.killing.smudge", "kill -9 $PPID")


def test_what_a_fast_forward_that_was_killed_left_is_told_apart_from_the_users_edits(hub: Hub) -> None:
    """It was told to be committed, or to be stashed, as if it were the user's."""
    ada, bob = hub.first, hub.clone("Bob")
    for name in ("a b.py", "[A-Z].py", "z.py"):
        code(ada, "x = 1\n" * 9, name)
    code(ada, "x = 1\n", "M.py")
    sync(ada)
    sync(bob)
    for name in ("a b.py", "[A-Z].py", "z.py"):
        code(ada, "x = 2\n" * 9, name)
    sync(ada)
    for name in ("app.py", "M.py"):
        (bob.root / name).write_text("mine\n")
    (bob.root / "staged.py").write_text("staged\n")
    git(bob.root, "add", "staged.py")
    before = at(bob)
    killing(bob, "z.py")
    with pytest.raises(fast_forward.ForwardHalfDone, match="ended by signal 9"):
        sync(bob)
    lock = bob.root / ".git" / "index.lock"
    assert lock.exists()
    lock.unlink()
    (bob.root / ".git" / "info" / "attributes").unlink()
    (bob.root / "[A-Z].py").write_text("x = 2\n" * 3)
    told = refused(bob, fast_forward.ForwardHalfDone)
    assert told.message.endswith("or a part of it: [A-Z].py, a b.py")
    command = told.hint.partition("the command again: ")[2]
    subprocess.run(command, shell=True, check=True, cwd=bob.root / ".memento")
    git(bob.root, "checkout", "z.py")
    assert (at(bob), (bob.root / "M.py").read_text()) == (before, "mine\n")
    assert sync(bob).brought.outcome == "fast_forwarded"
    assert (at(bob)[1], (bob.root / "z.py").read_text()) == (before[1], "x = 2\n" * 9)


@pytest.mark.parametrize("target", ["nowhere", ".memento"])
def test_a_link_of_the_users_that_leads_to_no_file_is_an_edit_like_any_other(hub: Hub, target: str) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    for name in ("app.py", "other.py"):
        (ada.root / "link").unlink(missing_ok=True)
        (ada.root / "link").symlink_to(name)
        code(ada, f"of = {name!r}\n")
        sync(ada)
        if name == "app.py":
            sync(bob)
    (bob.root / "link").unlink()
    (bob.root / "link").symlink_to(target)
    assert "link" in refused(bob, fast_forward.ForwardRefused).message


def test_a_merge_that_was_killed_leaves_nothing_in_the_git_directory(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    ada.planned()
    sync(ada)
    bob.planned()
    shim = tmp_path / "shim" / "git"
    shim.parent.mkdir()
    kill = 'case "$*" in *read-tree*) kill -9 $PPID; exit 1; esac'
    shim.write_text(f'#!/bin/sh\n{kill}\nexec {shutil.which("git")} "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with monkeypatch.context() as killed:
        killed.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
        done = subprocess.run([sys.executable, "-m", "memento_git", "sync", "-C", str(bob.root)], check=False)
    assert done.returncode == -9
    assert [*tmp_path.glob("memento-*")]
    assert not [path for path in (bob.root / ".git" / "memento").rglob("*") if path.name.startswith(("merge", "index"))]
    assert sync(bob).brought.outcome == "merged"


def test_a_fast_forward_whose_git_is_killed_or_whose_index_is_locked_blames_no_edit(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    code(ada, "answer = 43\n")
    sync(ada)
    killing(bob, "app.py")
    with pytest.raises(GitFailed, match="ended by signal 9"):
        sync(bob)
    assert str(bob.root / ".git" / "index.lock") in refused(bob, userindex.IndexLocked).message


@pytest.mark.parametrize("fetched", [False, True])
def test_a_disk_that_takes_nothing_is_named(hub: Hub, monkeypatch: pytest.MonkeyPatch, *, fetched: bool) -> None:
    """The remote was blamed for it, or git."""
    ada, bob = hub.first, hub.clone("Bob")
    ada.planned()
    bob.planned()
    sync(ada)
    if fetched:
        git(bob.root, "fetch", "-q")
    before = at(bob)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    done = subprocess.run(
        [sys.executable, "-m", "memento_git", "sync", "-C", str(bob.root)], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )  # fmt: skip
    assert (done.returncode, "File too large" in done.stderr, "[not_writable]" in done.stderr) == (1, True, True)
    assert at(bob) == before
    assert sync(bob).brought.outcome == "merged"


def test_an_ignored_file_of_the_users_is_not_overwritten(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    code(ada, "theirs\n", "local.cfg")
    sync(ada)
    (bob.root / ".git" / "info" / "exclude").write_text("local.cfg\n")
    (bob.root / "local.cfg").write_text("mine\n")
    refused(bob, fast_forward.ForwardRefused)
    assert (bob.root / "local.cfg").read_text() == "mine\n"


@pytest.mark.parametrize("coder", ["here", "there"])
def test_code_on_one_side_and_the_ledger_on_the_other_merge(hub: Hub, coder: str) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    run = (bob if coder == "there" else ada).planned()
    code(ada if coder == "there" else bob, "answer = 43\n")
    ada.planned("Beside")
    sync(ada)
    assert sync(bob).brought.outcome == "merged"
    assert run in bob.ledger.view().runs()
    assert git(bob.root, "show", "HEAD:app.py") == (bob.root / "app.py").read_text().strip() == "answer = 43"
    assert at(bob) == (hub.head(), "")


def test_code_on_both_sides_is_refused_with_the_files_named(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    code(ada, "a\n", "a.py")
    sync(ada)
    code(bob, "b\n", "b.py")
    error = refused(bob, merging.CodeDiverged)
    assert (error.exit_code, "a.py, b.py" in error.message, "git pull" in error.hint) == (3, True, True)
    git(bob.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert sync(bob).brought.outcome == "pushed"


def test_the_same_code_on_both_sides_is_no_divergence(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    code(ada, "same\n")
    sync(ada)
    bob.planned()
    code(bob, "same\n")
    assert sync(bob).brought.outcome == "merged"


def revised(play: Play, task: str, text: str) -> None:
    play.do(tasks.revise_task, task, body=text)


def test_texts_merge_by_lines_and_those_that_do_not_are_refused(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    task = ada.planned_task(body="First.\n\nMiddle.\n\nLast.")
    sync(ada)
    sync(bob)
    revised(ada, task, "First of Ada.\n\nMiddle.\n\nLast.")
    revised(bob, task, "First.\n\nMiddle.\n\nLast of Bob.")
    sync(ada)
    assert sync(bob).brought.outcome == "merged"
    body = bob.state(task).prose(task).body
    assert "First of Ada." in body
    assert "Last of Bob." in body
    sync(ada)
    revised(ada, task, "All of Ada.")
    revised(bob, task, "All of Bob.")
    sync(ada)
    error = refused(bob, merging.MergeConflict)
    assert f"{task}/task.md" in error.message
    assert error.exit_code == 3


def test_a_text_that_merges_to_what_cannot_be_read_is_refused(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    config = ".memento/config.yaml"
    ada.commit(config, "version: 1\n\n\n# end\n", "base")
    sync(ada)
    sync(bob)
    ada.commit(config, "version: 1\npolicy: {lease: 1h}\n\n\n# end\n", "one")
    bob.commit(config, "version: 1\n\n\n# end\npolicy: {lease: 2h}\n", "two")
    sync(ada)
    assert config in refused(bob, merging.MergeConflict).message


def test_edits_of_ledger_files_that_the_merge_changes_are_refused(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    task = ada.planned_task(body="A")
    sync(ada)
    sync(bob)
    revised(ada, task, "B")
    sync(ada)
    path = next(bob.root.glob(f".memento/runs/*/tasks/*/{task}/task.md"))
    path.write_text(path.read_text() + "mine\n")
    refused(bob, UncommittedLedger)


def test_a_lost_claim_is_told_with_the_name_of_who_has_it(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    task = ada.planned_task()
    dispatch = ada.dispatch(task)
    sync(ada)
    sync(bob)
    ada.do(dispatches.claim_dispatch, dispatch)
    bob.do(dispatches.claim_dispatch, dispatch)
    sync(ada)
    done = sync(bob)
    assert [row["problem"] for row in done.trouble] == ["contested"]
    assert done.lost == [{"task_id": task, "dispatch_id": dispatch, "claimed_by": [ada.ledger.actor]}]
    assert hub.head() == at(bob)[0]
    assert sync(ada).lost == [{"task_id": task, "dispatch_id": dispatch, "claimed_by": ["Bob"]}]


def test_criss_cross_and_a_run_archived_on_one_side(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    run = ada.planned()
    task = ada.proven(body="A")
    sync(ada)
    sync(bob)
    ada.do(runs.complete_run, run)
    ada.do(runs.archive_run, run)
    sync(ada)
    revised(bob, task, "B, edited late")
    assert sync(bob).brought.outcome == "merged"
    assert bob.status(run) == "completed"
    assert "edited late" in bob.state(task).prose(task).body
    git(ada.root, "fetch", "-q")
    ada.planned("Ada")
    bob.planned("Bob")
    git(ada.root, "merge", "-q", "--no-edit", "origin/main")
    sync(ada)
    sync(bob)
    sync(ada)
    assert at(ada)[0] == hub.head()


def test_an_event_that_is_another_on_each_side_is_never_merged_by_its_lines(hub: Hub) -> None:
    ada = hub.first
    ada.planned()
    sync(ada)
    bob = hub.clone("Bob")
    name = next(ada.root.glob(".memento/runs/*/plans/*/*-approved-*.yaml")).relative_to(ada.root)
    for play in (ada, bob):
        play.commit(name, f"# {play.ledger.actor}\n{(play.root / name).read_text()}", "tampered")
    git(ada.root, "push", "-q")
    assert str(name) in refused(bob, vetting.PushUnsound).message
    with pytest.raises(merging.MergeConflict) as caught:
        syncing.together(bob.ledger, remotes.target(bob.ledger.git), push=False)
    assert str(name) in caught.value.message


def test_a_ledger_that_is_no_folder_on_one_side_is_refused(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    git(ada.root, "rm", "-rq", ".memento")
    (ada.root / ".memento").symlink_to("elsewhere")
    ada.commit_all("a link")
    git(ada.root, "push", "-q")
    bob.planned()
    assert ".memento" in refused(bob, merging.MergeConflict).message


def test_two_ledgers_that_were_made_apart_become_one(repo: Path) -> None:
    with Ledger.open(repo) as ledger:
        bare = Hub(Play(ledger))
        bob = bare.clone("Bob")
        runs_ = []
        for play in (bare.first, bob):
            init_ledger(play.ledger)
            runs_.append(play.planned())
            assert sync(play).trouble == []
        assert bob.ledger.view().runs() == sorted(runs_)
        bare.first.close()


def test_a_linked_worktree_and_a_sparse_checkout_are_synced_too(hub: Hub) -> None:
    beside = hub.first.root.parent / "linked"
    git(hub.first.root, "worktree", "add", "-q", "-b", "work", "--track", str(beside), "origin/main")
    linked = hub.first.beside(beside, "Bob")
    sparse = hub.clone("Cleo")
    git(sparse.root, "sparse-checkout", "set", "--no-cone", "/*", "!/.memento")
    assert not (sparse.root / ".memento").exists()
    made = [play.planned() for play in (hub.first, linked, sparse)]
    for play in (hub.first, linked, sparse):
        sync(play)
    sync(linked)
    assert linked.ledger.view().runs() == sparse.ledger.view().runs() == sorted(made)
    assert at(linked) == at(sparse) == (hub.head(), "")
    assert not (sparse.root / ".memento").exists()


def test_sha256_repositories_merge(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "--object-format=sha256", "hub.git")
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", "one")
    git(tmp_path / "one", "remote", "add", "origin", "../hub.git")
    with Ledger.open(tmp_path / "one") as ledger:
        init_ledger(ledger)
        sync(Play(ledger), "origin", set_upstream=True)
    git(tmp_path, "clone", "-q", "hub.git", "two")
    plays = [Play(Ledger.open(tmp_path / name, actor=name)) for name in ("one", "two")]
    for play in plays:
        play.planned()
    sync(plays[0])
    assert sync(plays[1]).brought.outcome == "merged"
    for play in plays:
        play.ledger.close()


def test_a_branch_that_the_user_left_meanwhile_is_not_touched(hub: Hub) -> None:
    bob = hub.clone("Bob")
    where = remotes.target(bob.ledger.git)
    git(bob.root, "switch", "-qc", "elsewhere")
    hub.first.planned()
    sync(hub.first)
    before = at(bob)
    with pytest.raises(publish.LedgerMoved):
        syncing.together(bob.ledger, where)
    assert at(bob) == before


def test_a_ledger_commit_that_lands_meanwhile_is_taken_along(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    bob = hub.clone("Bob")
    hub.first.planned()
    sync(hub.first)
    bob.planned()
    late: list[str] = []
    step = worktree.reached

    def meanwhile(name: str) -> None:
        if name == "index_held" and not late:
            late.append(git(bob.root, "rev-parse", "HEAD"))
            tree = git(bob.root, "rev-parse", "HEAD^{tree}")
            made = git(bob.root, "commit-tree", "-p", "HEAD", "-m", "beside", tree)
            git(bob.root, "update-ref", "refs/heads/main", made)
        step(name)

    monkeypatch.setattr(worktree, "reached", meanwhile)
    assert sync(bob).brought.outcome == "merged"
    assert "beside" in git(bob.root, "log", "--format=%s")
    assert at(bob) == (hub.head(), "")


# What is wrong is not pushed.


def tampered(play: Play) -> str:
    """Edit an event and commit that; return its path."""
    path = next(play.root.glob(".memento/runs/*/plans/*/*-approved-*.yaml"))
    play.commit(path, f"# edited\n{path.read_text()}", "tampered")
    return str(path.relative_to(play.root))


def test_errors_that_this_side_brings_are_refused_named_and_can_be_mended(hub: Hub, cli: Call) -> None:
    ada = hub.first
    ada.planned()
    sync(ada)
    before = hub.head()
    name = tampered(ada)
    error = refused(ada, vetting.PushUnsound)
    assert (name in error.message, "D001" in error.message, before[:12] in error.hint) == (True, True, True)
    assert hub.head() == before
    code, out, _ = cli("-C", str(ada.root), "sync", "--json")
    assert (code, json.loads(out)["error"]) == (1, "sync_unsound")
    assert cli("-C", str(ada.root), "check", "--base", before[:12], "--fix")[0] == 0
    assert sync(ada.beside(ada.root, "Ada")).brought.outcome == "pushed"


def test_what_is_pushed_is_judged_by_the_policy_that_the_remotes_own_line_had(hub: Hub) -> None:
    """A request weakens policy, and puts it back before it is merged; what is pushed began between the two."""
    ada, config = hub.first, hub.first.root / ".memento" / "config.yaml"
    weak = config.read_text()
    ada.planned()
    ada.commit(config, weak.replace("require: []", "require: [test]"), "tests are asked for")
    sync(ada)
    git(ada.root, "switch", "-q", "-c", "request")
    between = ada.commit(config, weak, "meanwhile")
    ada.commit(config, weak.replace("require: []", "require: [test]"), "back")
    git(ada.root, "switch", "-q", "main")
    git(ada.root, "merge", "-q", "--no-ff", "-m", "the request", "request")
    git(ada.root, "push", "-q")
    git(ada.root, "reset", "-q", "--hard", between)
    task = ada.task()
    ada.complete(ada.claimed(task), ada.evidence(task, kind="lint"))
    before = hub.head()
    error = refused(ada, vetting.PushUnsound)
    assert ("P001" in error.message, before[:12] in error.hint, hub.head()) == (True, True, before)


def test_a_run_whose_code_went_on_since_its_completion_is_pushed_as_it_was_then(hub: Hub) -> None:
    ada = hub.first
    run = ada.planned()
    sync(ada)
    ada.proven()
    ada.gate("release", "passed", evidence=[ada.evidence()])
    ada.do(runs.complete_run, run)
    end = git(ada.root, "rev-parse", "HEAD")
    ada.commit("more.py", "MORE = 1\n", "more code")

    error = refused(ada, vetting.PushUnsound)

    assert ("P004" in error.message, f": git push origin {end[:12]}:main, then" in error.hint) == (True, True)
    git(ada.root, "push", "-q", "origin", f"{end[:12]}:main")
    assert sync(ada).brought.outcome == "pushed"


def test_runs_that_were_completed_on_code_of_their_own_are_pushed_one_after_the_other(hub: Hub) -> None:
    """Each rests on a gate of its own, so that neither has seen what the other one brings."""
    ada, ends = hub.first, []
    config = ada.root / ".memento" / "config.yaml"
    ada.commit(config, config.read_text().replace("fresh: [release]", "fresh: [release, quality_review]"), "policy")
    later, sooner = sorted([ada.planned("One"), ada.planned("Two")])
    sync(ada)
    for run, gate in ((sooner, "release"), (later, "quality_review")):
        task = ada.task(run=run)
        ada.complete(ada.claimed(task), ada.evidence(task))
        ada.gate(gate, "passed", run=run, evidence=[ada.evidence(task)])
        ada.do(runs.complete_run, run)
        ends.append(git(ada.root, "rev-parse", "HEAD"))
        ada.commit(f"{run}.py", "MORE = 1\n", "more code")

    for end in ends:
        assert f": git push origin {end[:12]}:main, then" in refused(ada, vetting.PushOutrun).hint
        git(ada.root, "push", "-q", "origin", f"{end[:12]}:main")

    assert sync(ada).brought.outcome == "pushed"


def test_of_runs_with_one_gate_the_end_of_the_last_has_seen_what_the_others_brought(hub: Hub) -> None:
    ada = hub.first
    sync(ada)
    for goal in ("One", "Two"):
        run = ada.planned(goal)
        task = ada.task(run=run)
        ada.complete(ada.claimed(task), ada.evidence(task))
        ada.gate("release", "passed", run=run, evidence=[ada.evidence(task)])
        ada.do(runs.complete_run, run)
        end = git(ada.root, "rev-parse", "HEAD")
        ada.commit(f"{run}.py", "MORE = 1\n", "more code")
    assert refused(ada, vetting.PushOutrun).hint.count(" git push origin ") == 1
    git(ada.root, "push", "-q", "origin", f"{end[:12]}:main")
    assert sync(ada).brought.outcome == "pushed"


def test_what_was_wrong_when_a_run_was_completed_is_not_pushed_as_it_was_then(hub: Hub) -> None:
    ada = hub.first
    run = ada.planned()
    sync(ada)
    tampered(ada)
    ada.proven()
    ada.gate("release", "passed", evidence=[ada.evidence()])
    ada.do(runs.complete_run, run)
    ada.commit("more.py", "MORE = 1\n", "more code")
    error = refused(ada, vetting.PushUnsound)
    assert ("P004" in error.message, "git push" in error.hint) == (True, False)


def test_many_errors_are_counted_and_what_others_brought_is_told_and_blocks_nobody(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    ada.planned()
    sync(ada)
    sync(bob)
    name = tampered(ada)
    git(ada.root, "push", "-q")
    bob.planned()
    done = sync(bob)
    assert (done.brought.outcome, done.trouble) == ("merged", [])
    assert [finding.split(": ")[0] for finding in done.findings] == [name]
    sync(ada)
    for number in range(5):
        (ada.root / ".memento" / "runs" / f"run_00000000000{number}").symlink_to("elsewhere")
    ada.commit_all("links")
    assert "and 2 more" in refused(ada, vetting.PushUnsound).message


def test_a_goal_that_others_mended_and_the_completion_after_it_are_no_error_of_who_reads_them(hub: Hub) -> None:
    """On one branch they would be: what several brought, one after another, is no request of one."""
    ada, bob = hub.first, hub.clone("Bob")
    run = ada.planned("Refuse emty")
    sync(ada)
    sync(bob)
    text = ada.root / ada.state(run).prose(run).path
    ada.commit(text, text.read_text().replace("emty", "empty"), "goal")
    sync(ada)
    ada.proven()
    ada.do(runs.complete_run, run)
    sync(ada)
    assert sync(bob).findings == []


def test_a_new_branch_is_checked_against_what_the_remote_is_known_to_have(hub: Hub) -> None:
    ada = hub.first
    ada.planned()
    name = tampered(ada)
    git(ada.root, "push", "-q")
    git(ada.root, "switch", "-qc", "work")
    ada.planned("On a branch")
    assert sync(ada, "origin", set_upstream=True).brought.outcome == "pushed"
    git(ada.root, "switch", "-qc", "more")
    (ada.root / name).unlink()
    ada.commit_all("gone")
    assert name in refused(ada, vetting.PushUnsound, "origin", set_upstream=True).message
    git(ada.root, "reset", "-q", "--hard", "work")
    other = hub.bare.with_name("other.git")
    git(hub.bare.parent, "init", "-q", "--bare", str(other))
    git(ada.root, "remote", "add", "other", str(other))
    assert sync(ada, "other", set_upstream=True).brought.outcome == "pushed"
    ada.do(plans.draft_plan, "Another", "Do it.", run=ada.planned("Again"))
    ada.commit(next(ada.root.glob(".memento/runs/*/plans/*/plan.md")), "no front matter\n", "broken")
    git(ada.root, "switch", "-qc", "lone")
    git(ada.root, "update-ref", "-d", "refs/remotes/other/more")
    error = refused(ada, vetting.PushUnsound, "other", set_upstream=True)
    assert ("F001" in error.message, "--no-base" in error.hint) == (True, True)


def test_two_sides_that_disagree_are_pushed_also_after_a_sync_that_did_not_get_through(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    run = ada.run()
    one, two = (ada.do(plans.draft_plan, title, "Do it.", run=run) for title in ("One", "Two"))
    sync(ada)
    sync(bob)
    ada.do(plans.approve_plan, one)
    bob.do(plans.approve_plan, two)
    sync(ada)
    hook(hub.bare, "pre-receive", "exit 1")
    with pytest.raises(remotes.PushRejected):
        sync(bob)
    (hub.bare / "hooks" / "pre-receive").unlink()
    assert sync(bob).brought.outcome == "pushed"


# What was taken off the remote stays away.


def pasted(play: Play, hint: str, number: int = 0) -> None:
    """Run one of the git commands that a hint gives."""
    lines = re.findall(r"git (?:rebase|pull|push) [^;)]*", hint)[number].split(" && ")
    for line in lines:
        git(play.root, *shlex.split(line)[1:])


@pytest.mark.parametrize("fetched", [False, True])
@pytest.mark.parametrize("worked", [False, True])
def test_commits_that_were_taken_off_the_remote_by_force_are_not_brought_back(
    hub: Hub, *, fetched: bool, worked: bool
) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    if worked:
        sync(bob)
    code(ada, "password = 'hunter2'\n", "secret.py")
    sync(ada)
    if worked:
        sync(bob)
    else:
        git(bob.root, "reset", "-q", "--hard", "origin/main")
        git(bob.root, "pull", "-q")
    bob.planned("Beside")
    git(ada.root, "reset", "-q", "--hard", "HEAD^")
    if worked:
        ada.planned("Later")
    git(ada.root, "push", "-q", "--force")
    if fetched:
        git(bob.root, "fetch", "-q")
    before = hub.head()
    for _ in range(2):
        error = refused(bob, remotes.RemoteRewritten)
        assert (error.exit_code, hub.head()) == (3, before)
    pasted(bob, error.hint)
    assert sync(bob).brought.outcome == "pushed"
    assert "secret.py" not in git(bob.root, "log", "--name-only", "--format=", hub.head())


def test_commits_that_were_taken_off_can_be_brought_back_on_purpose(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    code(ada, "answer = 43\n")
    sync(ada)
    sync(bob)
    git(ada.root, "reset", "-q", "--hard", "HEAD^")
    ada.planned()
    git(ada.root, "push", "-q", "--force")
    pasted(bob, refused(bob, remotes.RemoteRewritten).hint, 1)
    assert sync(bob).brought.outcome == "up_to_date"
    assert git(bob.root, "show", f"{hub.head()}:app.py") == "answer = 43"


def test_a_clone_without_reflogs_refuses_what_it_saw_before_it_fetched(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob", "-c", "core.logAllRefUpdates=false")
    ada.planned()
    sync(ada)
    sync(bob)
    git(ada.root, "reset", "-q", "--hard", "HEAD^")
    git(ada.root, "push", "-q", "--force")
    bob.planned()
    refused(bob, remotes.RemoteRewritten)


def test_what_was_pushed_elsewhere_says_nothing_of_the_address_that_is_fetched_from(hub: Hub) -> None:
    bob = hub.clone("Bob")
    fork = hub.bare.with_name("fork.git")
    git(hub.bare.parent, "clone", "-q", "--bare", str(hub.bare), str(fork))
    git(bob.root, "remote", "set-url", "--push", "origin", str(fork))
    bob.planned()
    assert sync(bob).brought.outcome == "pushed"
    hub.first.planned("Upstream")
    sync(hub.first)
    assert sync(bob).brought.outcome == "merged"


def noted(play: Play, cli: Call) -> str:
    """Add a note; return its id."""
    out = cli("-C", str(play.root), "note", "add", "The launch is in May", "--key", "launch.date", "--json")[1]
    return str(json.loads(out)["note"]["id"])


def test_what_was_purged_is_not_brought_back_by_the_next_sync_of_others(hub: Hub, cli: Call) -> None:
    ada, bob, cleo = hub.first, hub.clone("Bob"), hub.clone("Cleo")
    noted(ada, cli)
    sync(ada)
    sync(bob)
    sync(cleo)
    bob.planned()
    old = hub.head()
    assert cli("-C", str(ada.root), "purge", "launch.date", "--yes")[0] == 0
    error = refused(ada, vetting.RedactionUndone)
    assert ("R001" in error.message, hub.head()) == (True, old)
    pasted(ada, error.hint)
    for play in (bob, cleo):
        pasted(play, refused(play, remotes.RemoteRewritten).hint)
    assert sync(bob).brought.outcome == "pushed"
    assert sync(cleo).brought.outcome == "fast_forwarded"
    assert git(bob.root, "log", "-S", "The launch is in May", hub.head()) == ""


def test_a_purge_beside_work_of_others_is_done_again_after_a_merge_by_hand(hub: Hub, cli: Call) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    note = noted(ada, cli)
    sync(ada)
    sync(bob)
    assert cli("-C", str(ada.root), "purge", note, "--yes")[0] == 0
    run = bob.planned()
    sync(bob)
    error = refused(ada, vetting.RedactionUndone)
    assert "memento purge" in error.hint
    pasted(ada, error.hint)
    assert cli("-C", str(ada.root), "purge", note, "--yes")[0] == 0
    pasted(ada, refused(ada, vetting.RedactionUndone).hint)
    assert git(ada.root, "log", "-S", "The launch is in May", hub.head()) == ""
    assert run in ada.ledger.view().runs()


def test_a_redaction_that_a_squash_left_alone_is_kept_by_a_merge_by_hand(hub: Hub, cli: Call) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    note = noted(bob, cli)
    git(ada.root, "fetch", "-q", str(bob.root), "main")
    git(ada.root, "merge", "-q", "--squash", "FETCH_HEAD")
    git(ada.root, "commit", "-qm", "squashed")
    assert cli("-C", str(ada.root), "note", "redact", note, "--reason", "private")[0] == 0
    sync(ada)
    pasted(bob, refused(bob, vetting.RedactionUndone).hint)
    assert cli("-C", str(bob.root), "check", "--fix")[0] == 0
    assert sync(bob).brought.outcome == "pushed"
    assert cli("-C", str(bob.root), "check", "--no-base")[0] == 0


@pytest.mark.parametrize("worked", [False, True])
@pytest.mark.parametrize("lost", [".memento", ".memento/config.yaml", "newer"])
def test_a_ledger_that_nobody_could_read_is_not_taken_in(hub: Hub, lost: str, *, worked: bool) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    ada.planned()
    sync(ada)
    sync(bob)
    if lost == "newer":
        config = ada.root / ".memento" / "config.yaml"
        config.write_text(config.read_text().replace("version: 1", "version: 99"))
    else:
        git(ada.root, "rm", "-rq", lost)
    ada.commit_all("lost")
    git(ada.root, "push", "-q")
    if worked:
        bob.planned("Beside")
    before = hub.head()
    error = refused(bob, vetting.RemoteUnreadable)
    assert (error.exit_code, hub.head(), before[:12] in error.hint) == (3, before, True)
    git(ada.root, "revert", "--no-edit", "HEAD")
    git(ada.root, "push", "-q")
    assert sync(bob).brought.outcome == ("merged" if worked else "fast_forwarded")
    assert sync(bob).findings == []


# What stands against it.


def test_without_remote_upstream_branch_or_commit(play: Play) -> None:
    refused(play, remotes.NoRemote)
    hub = Hub(play)
    refused(play, remotes.RemoteUnknown, "ext::sh -c true")
    refused(play, remotes.RemoteUnknown, "--upload-pack=x")
    refused(play, remotes.BranchNameInvalid, "origin", "a..b")
    refused(play, remotes.BranchNameInvalid, "origin", "--mirror")
    git(play.root, "switch", "-qc", "work")
    assert "memento sync origin" in refused(play, remotes.NoUpstream).hint
    assert "--branch work --set-upstream" in refused(play, remotes.RemoteBranchMissing, "origin").hint
    play.planned()
    assert sync(play, "origin", set_upstream=True).brought.outcome == "pushed"
    assert hub.head("work") == at(play)[0]
    assert sync(play).brought.outcome == "up_to_date"
    git(play.root, "switch", "-q", "--detach")
    refused(play, remotes.NotOnBranch)
    git(play.root, "switch", "-q", "--orphan", "empty")
    with pytest.raises(remotes.BranchUnborn):
        sync(play)


def test_set_upstream_binds_the_branch_whether_it_is_on_the_remote_already_or_not(hub: Hub, cli: Call) -> None:
    play = hub.first
    where = ("-C", str(play.root))
    git(play.root, "branch", "--unset-upstream")
    assert cli("sync", *where)[0] == 1
    assert cli("sync", "origin", "--set-upstream", *where)[:2] == (0, "up to date with origin/main\n")
    assert cli("sync", *where)[:2] == (0, "up to date with origin/main\n")
    git(play.root, "config", "branch.main.merge", "refs/heads/elsewhere")
    git(play.root, "config", "--add", "branch.main.merge", "refs/heads/nowhere")
    assert cli("sync", "origin", "--branch", "main", "--set-upstream", *where)[0] == 0
    assert git(play.root, "config", "--get-all", "branch.main.merge") == "refs/heads/main"
    git(play.root, "switch", "-qc", "work")
    assert cli("sync", "origin", "--set-upstream", *where)[:2] == (0, "pushed to origin/work\n")
    assert git(play.root, "rev-parse", "--abbrev-ref", "work@{upstream}") == "origin/work"


def test_a_branch_that_was_renamed_on_the_remote_is_followed_and_not_made_again(hub: Hub) -> None:
    git(hub.bare, "branch", "-m", "main", "trunk")
    hub.first.run()
    hint = refused(hub.first, remotes.RemoteBranchMissing).hint
    assert "where it was renamed, follow it: memento sync origin --branch NAME --set-upstream" in hint
    sync(hub.first, "origin", "trunk", set_upstream=True)
    hub.first.run("Another")
    assert sync(hub.first).target.branch == "trunk"
    assert git(hub.bare, "for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/trunk"


def test_a_branch_of_another_name(hub: Hub) -> None:
    git(hub.first.root, "switch", "-qc", "work")
    hub.first.planned()
    done = sync(hub.first, "origin", "main")
    assert done.brought.outcome == "pushed"
    assert hub.head() == at(hub.first)[0]


def test_a_bare_repository_a_merge_under_way_and_no_ledger(hub: Hub) -> None:
    with pytest.raises(BareRepository):
        sync(hub.first.beside(hub.bare))
    bob = hub.clone("Bob")
    (bob.root / ".git" / "MERGE_HEAD").write_text(hub.head())
    refused(bob, publish.OperationUnderWay)
    code(hub.first, "x\n")
    git(hub.first.root, "rm", "-rq", ".memento")
    hub.first.commit_all("no ledger")
    git(hub.first.root, "push", "-q")
    (bob.root / ".git" / "MERGE_HEAD").unlink()
    git(bob.root, "pull", "-q")
    refused(bob, NoLedger)


def before_the_ledger(hub: Hub) -> Play:
    """Return a clone whose branch is where it was before the ledger came."""
    clone = hub.clone("Bob")
    git(clone.root, "reset", "-q", "--hard", git(clone.root, "rev-list", "--max-parents=0", "HEAD"))
    return clone


@pytest.mark.parametrize("with_code", [False, True])
def test_a_branch_of_before_the_ledger_is_brought_to_it(hub: Hub, *, with_code: bool) -> None:
    run = hub.first.planned()
    sync(hub.first)
    bob = before_the_ledger(hub)
    if with_code:
        code(bob, "x = 1\n", "own.py")

    done = sync(bob)

    assert done.brought.outcome == ("merged" if with_code else "fast_forwarded")
    assert (done.trouble, done.lost, done.findings) == ([], [], [])
    assert bob.ledger.view().runs() == [run]


def test_what_is_not_in_order_on_the_side_with_a_ledger_is_told_where_the_other_had_none(hub: Hub) -> None:
    ada, bob = hub.first, before_the_ledger(hub)
    run = ada.planned()
    ada.do(runs.pause_run, run, reason="wait")
    git(ada.root, "switch", "-qc", "other", "HEAD~")
    ada.do(runs.cancel_run, run, reason="no")
    merge_into(ada.root, "main", "other")
    git(ada.root, "push", "-q")

    assert [row["problem"] for row in sync(bob).trouble] == ["contested"]


def test_a_remote_that_cannot_be_reached(hub: Hub) -> None:
    hub.bare.rename(hub.bare.with_name("away"))
    assert "hub.git" in refused(hub.first, remotes.RemoteUnreachable).message


@pytest.mark.parametrize("ref", ["refs/worktree/memento/fetched", "refs/remotes/origin/main"])
def test_a_lock_that_a_killed_git_left_here_is_no_fault_of_the_remote(hub: Hub, ref: str) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    bob.planned()
    sync(bob)
    left = ada.root / ".git" / f"{ref}.lock"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.touch()
    refusal = refused(ada, lock.RefLocked)
    assert f"{ref}.lock" in refusal.message
    assert "remove it" in refusal.hint
    left.unlink()
    sync(ada)


def test_a_remote_that_wants_a_password_is_not_given_one(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    git(hub.first.root, "remote", "set-url", "origin", "ssh://nobody@localhost/x.git")
    monkeypatch.setenv("GIT_SSH_COMMAND", "sh -c 'echo no password >&2; exit 255' ssh")
    told = refused(hub.first, remotes.RemoteUnreachable).message
    assert "no password; fatal: Could not read from remote repository." in told
    assert "Please make sure" not in told


def test_a_remote_that_never_answers(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remotes, "TIMEOUT", 1.0)
    monkeypatch.setenv("GIT_SSH_COMMAND", "sleep 600;")
    git(hub.first.root, "remote", "set-url", "origin", "ssh://nobody@localhost:1/x.git")
    refused(hub.first, remotes.RemoteSilent)


def test_openssh_is_asked_never_to_ask(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = hub.first.ledger
    assert remotes._ssh(ledger.git) == {"GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
    monkeypatch.setenv("GIT_SSH", "/usr/bin/plink")
    assert remotes._ssh(ledger.git) == {}
    monkeypatch.setenv("GIT_SSH_COMMAND", "/usr/bin/ssh -p 22")
    assert remotes._ssh(ledger.git) == {"GIT_SSH_COMMAND": "/usr/bin/ssh -p 22 -oBatchMode=yes"}


def test_a_shallow_clone_that_is_too_short(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob", "--depth", "1")
    bob.planned()
    ada.planned()
    ada.planned()
    sync(ada)
    git(bob.root, "fetch", "-q", "--depth", "1")
    assert "--unshallow" in refused(bob, merging.HistoryTooShort).hint
    git(bob.root, "fetch", "-q", "--unshallow")
    assert sync(bob).brought.outcome == "merged"


def test_a_shallow_clone_that_reaches_back_far_enough_merges(hub: Hub) -> None:
    bob = hub.clone("Bob", "--depth", "1")
    bob.planned()
    hub.first.planned()
    sync(hub.first)
    assert sync(bob).brought.outcome == "merged"


def test_histories_without_a_common_commit(hub: Hub) -> None:
    bob = hub.clone("Bob")
    tree = git(bob.root, "rev-parse", "HEAD^{tree}")
    git(bob.root, "reset", "-q", "--hard", git(bob.root, "commit-tree", "-m", "alone", tree))
    refused(bob, merging.HistoriesUnrelated)


def test_a_branch_that_a_server_holds_at_an_annotated_tag_is_synced(hub: Hub) -> None:
    git(hub.first.root, "tag", "-a", "v1", "-m", "v1")
    git(hub.first.root, "push", "-q", "origin", "v1")
    (hub.bare / "packed-refs").unlink(missing_ok=True)
    (hub.bare / "refs" / "heads" / "main").write_text(git(hub.first.root, "rev-parse", "v1") + "\n")
    assert sync(hub.first).brought.outcome == "up_to_date"
    hub.first.planned()
    assert sync(hub.first).brought.outcome == "pushed"
    assert hub.head() == at(hub.first)[0]


def test_a_hook_on_the_server_and_a_branch_that_is_checked_out_there(hub: Hub) -> None:
    hook(hub.bare, "pre-receive", "echo only by pull request; exit 1")
    hub.first.planned()
    error = refused(hub.first, remotes.PushRejected)
    assert "only by pull request" in error.message
    (hub.bare / "hooks" / "pre-receive").unlink()
    bob = hub.clone("Bob")
    git(hub.first.root, "remote", "add", "bob", str(bob.root))
    assert "checked out" in refused(hub.first, remotes.PushRejected, "bob").message


def test_the_users_pre_push_hook_runs_and_may_stop_it(hub: Hub) -> None:
    hub.first.planned()
    hook(hub.first.root / ".git", "pre-push", "echo tests fail >&2; exit 1")
    assert "tests fail" in refused(hub.first, remotes.PushRejected).message
    hook(hub.first.root / ".git", "pre-push", "touch ran")
    assert sync(hub.first).brought.outcome == "pushed"
    assert (hub.first.root / "ran").exists()


def test_a_hook_that_goes_into_another_repository_finds_its_files_there(hub: Hub, tmp_path: Path) -> None:
    bob = hub.clone("Bob")
    git(tmp_path, "init", "-q", "other")
    (tmp_path / "other" / "loose.txt").write_text("loose\n")
    told = tmp_path / "told"
    for name in ("pre-push", "post-merge"):
        hook(bob.root / ".git", name, f"git -C {tmp_path / 'other'} status --short >> {told}")
    code(hub.first, "1\n")
    git(hub.first.root, "push", "-q")
    assert sync(bob).brought.outcome == "fast_forwarded"
    bob.planned()
    assert sync(bob).brought.outcome == "pushed"
    assert told.read_text() == "?? loose.txt\n" * 2


def test_a_hook_or_a_filter_that_waits_is_ended(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_forward, "TIMEOUT", 2.0)
    bob = hub.clone("Bob")
    code(hub.first, "1\n")
    git(hub.first.root, "push", "-q")
    hook(bob.root / ".git", "post-merge", "sleep 600")
    assert sync(bob).brought.outcome == "fast_forwarded"
    assert at(bob) == at(hub.first)
    assert any("post-merge hook was ended after 2 s" in told for told in bob.ledger.warnings)
    hub.first.commit(".gitattributes", "*.slow filter=slow\n", "attributes")
    code(hub.first, "2\n", "a.slow")
    git(hub.first.root, "push", "-q")
    git(bob.root, "config", "filter.slow.smudge", "sleep 600")
    before = at(bob)[0]
    with pytest.raises(fast_forward.ForwardHangs, match="was ended after 2 s"):
        sync(bob)
    assert at(bob) == (before, "? .gitattributes")
    (bob.root / ".gitattributes").unlink()
    git(bob.root, "config", "filter.slow.smudge", "cat")
    (bob.root / ".git" / "hooks" / "post-merge").unlink()
    assert sync(bob).brought.outcome == "fast_forwarded"


def test_a_remote_that_moves_each_time_is_given_up_and_one_that_moves_once_is_not(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "SHORTEST", 0.001)
    bob = hub.clone("Bob")
    pusher = hub.bare.parent / "pusher"
    git(hub.bare.parent, "clone", "-q", str(hub.bare), str(pusher))
    again = f"unset $(git rev-parse --local-env-vars); cd {pusher} && git pull -q && git commit -qm x --allow-empty"
    hook(bob.root / ".git", "pre-push", f"test -e ../once && exit 0; touch ../once; {again} && git push -q")
    bob.planned()
    done = sync(bob)
    assert (done.brought.pushes, done.brought.merges) == (2, 1)
    monkeypatch.setattr(syncing, "ATTEMPTS", 3)
    hook(bob.root / ".git", "pre-push", f"{again} && git push -q")
    bob.planned()
    with pytest.raises(syncing.RemoteBusy):
        sync(bob)
    assert at(bob)[1] == ""


def test_a_remote_that_refuses_and_does_not_move_is_told_with_its_reason(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "SHORTEST", 0.001)
    monkeypatch.setattr(syncing, "LONGEST", 0.001)
    lock, tries = hub.bare / "refs" / "heads" / "main.lock", hub.bare.parent / "tries"
    hook(hub.first.root / ".git", "pre-push", f"echo once >> {tries}")
    hub.first.planned()
    lock.touch()
    error = refused(hub.first, remotes.PushRejected)
    assert "main.lock': File exists" in error.message
    assert len(tries.read_text().split()) == 3
    hook(hub.first.root / ".git", "pre-push", f"test -e {tries} || rm -f {lock}; rm -f {tries}")
    assert sync(hub.first).brought.pushes == 2


def test_the_command_tells_what_happened(hub: Hub, cli: Call) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    run = ada.run()
    one, two = (ada.do(plans.draft_plan, title, "Do it.", run=run) for title in ("One", "Two"))
    root = str(ada.root)
    assert "pushed to origin/main" in cli("-C", root, "sync")[1]
    sync(bob)
    ada.do(plans.approve_plan, one)
    bob.do(plans.approve_plan, two)
    sync(bob)
    _, out, _ = cli("-C", root, "sync")
    assert "merged with origin/main, and pushed" in out
    assert "is contested" in out
    assert "memento settle" in out
    assert "up to date" in cli("-C", root, "sync", "origin")[1]
    code(ada, "a\n", "a.py")
    git(ada.root, "push", "-q")
    code(bob, "b\n", "b.py")
    assert cli("-C", str(bob.root), "sync", "--json")[0] == 3


def test_a_merge_commit_is_signed_where_the_repository_asks_for_it(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    ada.planned()
    sync(ada)
    bob.planned()
    git(bob.root, "config", "commit.gpgSign", "true")
    git(bob.root, "config", "gpg.program", "false")
    refused(bob.beside(bob.root, "Bob"), publish.SigningFailed)


def test_a_sync_that_crashed_is_finished_by_the_next_command(hub: Hub) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    ada.planned()
    sync(ada)
    run = bob.planned()
    script = (
        "import os; from memento_git.ledger import worktree; from memento_git.cli.boundary import run;"
        "worktree.reached = lambda step: os._exit(9) if step == 'ref_moved' else None; run(['sync'])"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=bob.root, check=False).returncode == 9
    again = bob.beside(bob.root, "Bob")
    assert run in again.ledger.view().runs()
    assert at(bob)[1] == ""
    assert sync(again).brought.outcome == "pushed"


@pytest.mark.parametrize("path", ["app.py", ".memento/README.md", ".memento/new.md"])
def test_a_pipe_in_the_place_of_a_file_that_comes_in_is_an_edit_that_nobody_waits_for(hub: Hub, path: str) -> None:
    ada, bob = hub.first, hub.clone("Bob")
    (bob.root / path).unlink(missing_ok=True)
    os.mkfifo(bob.root / path)
    code(ada, "more = 1\n", path)
    git(ada.root, "push", "-q")
    line = [sys.executable, "-m", "memento_git", "sync", "-C", str(bob.root)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, path in done.stderr) == (0 if "new" in path else 1, True), done.stderr
    assert (bob.root / path).is_fifo()


def raw_tree(root: Path, lines: Iterable[str]) -> str:
    """Return a tree of what git lists, in any order."""
    parts = [line.split() for line in lines]
    data = b"".join(f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(oid) for mode, _, oid, name in parts)
    return git(root, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=data)


def turned(root: Path, tree: str) -> str:
    """Return a tree in which all folders lie in the opposite order, as git would not make it."""
    held = git(root, "ls-tree", tree)
    for oid in re.findall(" tree (.*)\t", held):
        held = held.replace(oid, turned(root, oid))
    return raw_tree(root, reversed(held.splitlines()))


@pytest.mark.parametrize("odd", ["folders out of order", "a ledger that is there twice"])
def test_what_git_cannot_compare_is_refused_before_anything_is_brought_here(hub: Hub, odd: str) -> None:
    hub.first.planned_task()
    syncing.sync(hub.first.ledger)
    bob = hub.clone("Bob")
    root, before = hub.first.root, git(bob.root, "rev-parse", "HEAD")
    ledger = git(root, "rev-parse", "HEAD:.memento")
    top = git(root, "ls-tree", "HEAD").splitlines()
    if odd == "folders out of order":
        top = [line.replace(ledger, turned(root, ledger)) for line in top]
    else:
        top += [line for line in top if ledger in line]
    commit = git(root, "commit-tree", raw_tree(root, top), "-p", "HEAD", "-m", "by hand")
    git(root, "push", "-q", "origin", f"{commit}:main")

    error = refused(bob, trees.TreeOdd)

    assert (git(bob.root, "rev-parse", "HEAD"), git(bob.root, "status", "--short")) == (before, "")
    git(bob.root, "fetch", "-q")
    git(bob.root, "reset", "-q", "--hard", "origin/main")
    made_anew = error.hint.rpartition(": ")[2]
    subprocess.run(f"{made_anew} -qm anew", shell=True, check=True, cwd=bob.root)
    assert git(bob.root, "rev-parse", "HEAD^{tree}") == git(bob.root, "rev-parse", f"{before}^{{tree}}")
    git(bob.root, "push", "-q", "origin", "main")
    git(bob.root, "switch", "-qc", "work")
    bob.task("Another")
    report = branch_check.added(bob.ledger.git, ["main"], "HEAD", "main", bob.ledger.now())
    assert [one.code for one in report.findings if one.severity == "error"] == []
