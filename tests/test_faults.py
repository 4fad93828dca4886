"""What the machine refuses: locks of others, identity, signatures, disks, permissions, old or missing git."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Final

import pytest

from memento_git.cli import machine_errors
from memento_git.ledger import claims, environment, journal, lock, marks, publish, settings, userindex, worktree
from memento_git.ledger import git as door
from memento_git.ledger.store import Ledger
from memento_git.verbs import doctor
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.errors import MementoError
    from tests.play import Call, Play


def refused(play: Play, error: type[MementoError]) -> str:
    """Assert that a change is refused without having changed anything; return the message."""
    before = (git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--porcelain=v2"))
    with pytest.raises(error) as caught:
        play.run()
    assert (git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--porcelain=v2")) == before
    assert journal.pending(play.ledger.git) == []
    return str(caught.value)


def test_an_index_that_is_locked_for_a_while_is_waited_for(play: Play) -> None:
    held = play.root / ".git" / "index.lock"
    held.touch()
    timer = Timer(0.5, held.unlink)
    timer.start()
    start = time.monotonic()

    run = play.run()

    timer.join()
    assert time.monotonic() - start > 0.4
    assert run in play.ledger.view().runs()
    assert git(play.root, "status", "--short") == ""


def test_an_index_that_is_locked_for_ever_refuses_and_changes_nothing(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "INDEX_TIMEOUT", 0.2)
    held = play.root / ".git" / "index.lock"
    held.touch()

    assert "index.lock" in refused(play, userindex.IndexLocked)

    assert held.exists()
    held.unlink()
    assert play.run() in play.ledger.view().runs()


def _child(word: str) -> int:
    """Return the child of this process whose command line has a word."""
    lines = subprocess.run(["ps", "-axwwo", "ppid=,pid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in lines.splitlines()]
    return next(int(row[1]) for row in rows if row[0] == str(os.getpid()) and word in row[2].split())


def test_an_index_that_somebody_locks_after_the_branch_moved_is_mended_by_the_next_command(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = play.root / ".git" / "index.lock"

    def grab(step: str) -> None:
        if step == "ref_moved":
            os.kill(_child("update-index"), signal.SIGTERM)
            while held.exists():
                time.sleep(0.01)
            held.touch()

    with monkeypatch.context() as patch:
        patch.setattr(worktree, "TIMEOUT", 0.2)
        patch.setattr(worktree, "reached", grab)
        run = play.run()
    assert any("is committed" in warning for warning in play.ledger.warnings)
    assert run in play.ledger.view().runs()
    held.unlink()

    assert run in play.ledger.view().runs()
    assert git(play.root, "status", "--short") == ""


def test_a_branch_that_is_locked_for_ever_refuses_and_changes_nothing(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "REF_TIMEOUT", 0.2)
    held = play.root / ".git" / "refs" / "heads" / "main.lock"
    held.touch()

    assert "main.lock" in refused(play, lock.RefLocked)

    held.unlink()
    assert play.run() in play.ledger.view().runs()


def test_a_writer_that_takes_too_long_is_named(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "MENDING_TIMEOUT", 0.1)
    with (
        Ledger.open(play.root) as other, other.transaction("slow"), ThreadPoolExecutor(1) as beside,
        pytest.raises(lock.LockHeld) as caught,
    ):  # fmt: skip
        beside.submit(worktree.mend, play.ledger.git).result()

    assert f"process {os.getpid()}" in str(caught.value)


def test_a_missing_identity_is_refused_in_gits_words(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    git(play.root, "config", "user.useConfigOnly", "true")
    nobody = play.beside(play.root)

    assert "no email was given" in refused(nobody, settings.IdentityMissing)

    assert nobody.ledger.view().exists
    git(play.root, "config", "user.email", "bea@example.invalid")
    git(play.root, "config", "user.name", "Bea")
    play.beside(play.root).run()
    assert git(play.root, "log", "-1", "--format=%an <%ae>") == "Bea <bea@example.invalid>"


@pytest.mark.parametrize("how", ["empty", "unset"])
def test_a_name_that_git_would_not_take_is_not_replaced(play: Play, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
    git(play.root, "config", "user.email", "bea@example.invalid")
    git(play.root, "config", *(("user.name", "") if how == "empty" else ("user.useConfigOnly", "true")))

    told = "empty ident name" if how == "empty" else "no name was given"
    assert told in refused(play.beside(play.root), settings.IdentityMissing)


def _signer(play: Play, script: str) -> None:
    program = play.root.parent / "signer"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    git(play.root, "config", "commit.gpgSign", "true")
    git(play.root, "config", "gpg.program", str(program))


def test_a_signer_that_fails_refuses_the_change(play: Play) -> None:
    _signer(play, "exit 1")

    assert "sign" in refused(play.beside(play.root), publish.SigningFailed)


def test_a_signer_that_hangs_is_ended_with_all_that_it_started(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    told = play.root.parent / "signer.pid"
    _signer(play, f"sleep 600 & echo $! >{told}; wait")
    monkeypatch.setattr(publish, "SIGNING_TIMEOUT", 1.0)

    refused(play.beside(play.root), publish.SigningFailed)

    for _ in range(100):
        if not _runs(int(told.read_text())):
            break
        time.sleep(0.05)
    assert not _runs(int(told.read_text()))


def _runs(process: int) -> bool:
    """Tell whether a process runs, and is not a dead one that nobody has asked after."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")


def test_a_signer_finds_no_terminal_to_ask_at(play: Play) -> None:
    told = play.root.parent / "terminal"
    _signer(play, f"(: </dev/tty) 2>/dev/null && echo asked >{told}; exit 1")

    refused(play.beside(play.root), publish.SigningFailed)

    assert not told.exists()


def test_a_commit_that_is_signed_with_an_ssh_key_verifies(play: Play) -> None:
    key = play.root.parent / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", str(key)], check=True)
    allowed = play.root.parent / "allowed"
    allowed.write_text(f"ada@example.invalid {key.with_suffix('.pub').read_text()}")
    for name, value in {
        "gpg.format": "ssh", "user.signingKey": key, "commit.gpgSign": "true", "gpg.ssh.allowedSignersFile": allowed,
    }.items():  # fmt: skip
        git(play.root, "config", name, str(value))

    run = play.beside(play.root).run()

    git(play.root, "verify-commit", "HEAD")
    assert git(play.root, "log", "-1", "--format=%G? %an") == "G Ada"
    assert f"Memento-Run: {run}" in git(play.root, "log", "-1", "--format=%B")
    assert git(play.root, "status", "--short") == ""


def test_a_repository_of_another_user_is_refused_in_gits_words(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")

    with pytest.raises(door.DubiousOwnership) as caught:
        Ledger.open(play.root)

    assert f"detected dubious ownership in repository at '{play.root}'" in str(caught.value)
    assert "safe.directory" in str(caught.value)
    assert caught.value.exit_code == 1


def test_a_machine_without_git_says_so(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))

    with pytest.raises(environment.GitMissing):
        Ledger.open(play.root)


def test_a_file_system_without_locks_is_told_with_the_file(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    assert refused(play, lock.NotWritable).endswith("worktree.lock: No locks available")


KILLED_GIT: Final = """#!/bin/sh
case " $* " in *" $KILLED "*) kill -9 $$;; esac
exec {git} "$@"
"""


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what has each git with a word in its command be killed by the system, as for want of memory."""
    folder = tmp_path / "killed"
    folder.mkdir()
    program = folder / "git"
    program.write_text(KILLED_GIT.format(git=shutil.which("git")))
    program.chmod(0o755)

    def of(word: str) -> None:
        monkeypatch.setenv("KILLED", word)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return of


def test_a_git_that_was_killed_has_not_said_no(play: Play, killed: Callable[[str], None]) -> None:
    play.run()
    head = git(play.root, "rev-parse", "HEAD")
    killed("check-ref-format")
    with pytest.raises(door.GitFailed, match="check-ref-format failed: ended by signal 9"):
        marks.mark(play.ledger.git, "m1", "A mark.")
    killed("merge-base")
    with pytest.raises(door.GitFailed, match="ended by signal 9"):
        play.ledger.git.is_before(head, head)
    killed("remote")
    with pytest.raises(door.GitFailed, match="ended by signal 9"):
        play.ledger.git.remotes()
    for command in ("update-index", "update-ref", "fast-import"):
        killed(command)
        with pytest.raises(door.GitFailed, match=f"{command} failed: ended by signal 9"):
            play.run()
    killed("update-ref")
    with pytest.raises(door.GitFailed, match="update-ref failed: ended by signal 9"):
        claims.take(play.ledger.git, "task_0", claims.Claim("dispatch_0", "Ada", ""), None)
    killed("tag")
    with pytest.raises(door.GitFailed, match="tag failed: ended by signal 9"):
        marks.mark(play.ledger.git, "m1", "A mark.")


def test_a_git_that_was_killed_while_it_looks_again_is_told(play: Play, killed: Callable[[str], None]) -> None:
    play.run()
    (play.root / ".memento" / "stray.md").write_text("mine\n")
    play.ledger.view()
    play.ledger.watch.ask()
    git(play.root, "commit", "--allow-empty", "-m", "theirs")
    killed("status")
    assert [one.path for one in play.ledger.uncommitted] == [".memento/stray.md"]
    assert [told for told in play.ledger.warnings if "ended by signal 9" in told]


def test_a_git_that_was_killed_while_it_tells_edits_from_what_a_crash_left_spoils_no_answer(
    play: Play, killed: Callable[[str], None], cli: Call
) -> None:
    play.run()
    path = play.root / ".memento" / "README.md"
    journal.write(
        play.ledger.git, "a" * 40, [journal.Path3(".memento/README.md", None, git(play.root, "hash-object", str(path)))]
    )
    path.write_text("mine\n")
    killed("ls-files")
    code, _, told = cli("status", "-C", str(play.root))
    assert (code, "git cannot tell which ledger files are not committed" in told) == (0, True), told


def test_a_git_that_was_killed_when_a_library_asked_for_its_version_is_no_bug(
    play: Play, killed: Callable[[str], None]
) -> None:
    play.run()
    killed("version")
    done = subprocess.run(
        [sys.executable, "-m", "memento_git", "-C", str(play.root), "--json", "log", "--commits"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (done.returncode, told["error"]) == (4, "git_failed"), told
    assert told["message"].startswith("git version failed: ")


def test_what_the_machine_has_no_more_of_is_not_told_as_what_cannot_be_written() -> None:
    with pytest.raises(machine_errors.MachineSpent), machine_errors.refusals(), lock.writing():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "a file")


def test_a_repository_whose_git_was_killed_while_it_is_opened_says_so(
    play: Play, killed: Callable[[str], None]
) -> None:
    killed("--show-object-format")
    with pytest.raises(door.RepositoryUnreadable, match="ended by signal 9"):
        Ledger.open(play.root)


def test_a_claim_whose_git_was_killed_once_the_ref_was_set_is_taken(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late").mkdir()
    late = tmp_path / "late" / "git"
    late.write_text(
        f'#!/bin/sh\n{shutil.which("git")} "$@" || exit\ncase " $* " in *\' update-ref \'*) kill -9 $$;; esac\n'
    )
    late.chmod(0o755)
    monkeypatch.setenv("PATH", f"{late.parent}{os.pathsep}{os.environ['PATH']}")
    mine = claims.Claim("dispatch_000000000001", "agent:ada", "2027-01-01T00:00:00.000Z")
    taken = claims.take(play.ledger.git, "task_1", mine, None)
    assert taken is not None
    assert claims.read(play.ledger.git, "task_1") == taken


def test_a_claim_whose_git_was_killed_when_it_should_go_is_told_and_removed(
    play: Play, run: str, killed: Callable[[str], None]
) -> None:
    """It stayed until its lease ended, and nothing told whose work it held."""
    task, other = play.task(), play.task()
    dispatch, evidence = play.claimed(task), play.evidence(task)
    still = play.claimed(other)
    killed("update-ref -d")
    play.complete(dispatch, evidence)
    killed("nothing")
    assert {*claims.listed(play.ledger.git)} == {task, other}

    told = [one for one in doctor.examine(play.ledger) if one.name == "claims"]
    assert [(one.status, one.fix) for one in told] == [("warn", "memento doctor --fix")]
    assert f"on {task}: {dispatch} is completed" in told[0].message

    fixed = [one for one in doctor.examine(play.ledger, fix=True) if one.name == "claims"]
    assert [one.status for one in fixed] == ["ok"]
    assert [one.dispatch for one in claims.listed(play.ledger.git).values()] == [still]


@pytest.mark.parametrize("ref", ["refs/tags/memento/m1", "refs/memento/claims/task_1"])
def test_a_lock_that_a_crash_left_on_a_ref_is_told_as_a_lock(play: Play, ref: str) -> None:
    left = play.root / ".git" / f"{ref}.lock"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.touch()
    mine = claims.Claim("dispatch_000000000001", "agent:ada", "2027-01-01T00:00:00.000Z")
    of_tag = ref.startswith("refs/tags")
    act = (
        partial(marks.mark, play.ledger.git, "m1", "A mark.")
        if of_tag
        else partial(claims.take, play.ledger.git, "task_1", mine, None)
    )
    with pytest.raises(lock.RefLocked, match=f"{ref}.lock") as caught:
        act()
    assert "remove it" in caught.value.hint


OLD_GIT: Final = """#!/bin/sh
while [ "$1" = -c ]; do shift 2; done
case "$1" in
version) echo "git version 2.20.1";;
rev-parse)
    for word; do
        case "$word" in
        rev-parse) ;;
        --is-bare-repository) echo false;;
        --git-dir | --git-common-dir) echo .git;;
        --show-toplevel) pwd;;
        *) echo "$word";;
        esac
    done;;
*) exit 129;;
esac
"""


def test_a_git_that_is_too_old_says_which_is_needed(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(OLD_GIT)
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(environment.GitTooOld) as caught:
        Ledger.open(play.root)

    assert "2.20.1" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo 'git: error while loading shared libraries: libz.so.1' >&2; exit 127", "loading shared libraries"),
        ("kill -9 $$", "ended by signal 9"),
        ("exit 0", "what it answers is not what git answers"),
        (r"printf '\377\200\n\n\n\n'", "what it answers is not what git answers"),
    ],
    ids=["does-not-start", "killed", "says-nothing", "says-anything"],
)
def test_a_git_that_does_not_work_is_not_said_to_be_too_old(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\n{body}\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(door.RepositoryUnreadable) as caught:
        Ledger.open(play.root)

    assert said in caught.value.message


@pytest.mark.parametrize("command", ["status", "init", "note add Text", "check", "log"])
def test_a_branch_that_a_crash_emptied_is_not_called_one_without_a_ledger(play: Play, cli: Call, command: str) -> None:
    branch = play.root / ".git" / git(play.root, "symbolic-ref", "HEAD")
    branch.write_text("")

    code, _, err = cli(*command.split(" ", 2), "-C", str(play.root))

    assert (code, "reads no commit [repository_unreadable]" in err) == (4, True), err
    assert branch.read_text() == ""


def test_a_mistyped_workspace_is_refused_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(door.WorkspaceMissing):
        Ledger.open(tmp_path / "mistyped")
    (tmp_path / "file").touch()
    with pytest.raises(door.WorkspaceMissing):
        Ledger.open(tmp_path / "file")
    (tmp_path / "plain").mkdir()
    with pytest.raises(door.NotARepository):
        Ledger.open(tmp_path / "plain")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "plain"]


def test_a_workspace_that_goes_away_is_not_taken_for_a_missing_git(play: Play) -> None:
    gone = play.root.parent / "gone"
    play.root.rename(gone)

    with pytest.raises(door.WorkspaceMissing):
        play.ledger.view()

    gone.rename(play.root)


@pytest.mark.parametrize("times", [1, 1000], ids=["once", "always"])
def test_a_change_whose_commit_was_pruned_before_the_branch_named_it_is_made_again(
    play: Play, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Way: `git gc --prune=now` beside a change; the disk is not full, and no permission is wrong."""
    play.run()
    head, left = git(play.root, "rev-parse", "HEAD"), [times]

    def prune(step: str) -> None:
        if step == "journal_written" and left[0]:
            left[0] -= 1
            git(play.root, "prune", "--expire=now")

    monkeypatch.setattr(worktree, "reached", prune)
    if times == 1:
        assert play.run("Again") in play.ledger.view().runs()
    else:
        with pytest.raises(publish.CommitTaken, match="git gc --prune=now"):
            play.run("Again")
        assert git(play.root, "rev-parse", "HEAD") == head
    assert git(play.root, "status", "--short") == ""
    assert not journal.pending(play.ledger.git)
