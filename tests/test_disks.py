"""Disks that are full, read-only or another user's: the old ledger or the new one, and an error that says why."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from memento_git.knowledge.shortterm import Item, ShortTerm
from memento_git.ledger import atomic_file, git_status, worktree
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.transaction import Transaction
    from tests.play import Call, Play

WRITE: Final = """
import sys
from memento_git.errors import MementoError
from memento_git.ledger.store import Ledger
with Ledger.open(sys.argv[1]) as ledger:
    print(len(ledger.view().runs()), *ledger.warnings)
    try:
        ledger.change("put", lambda tx: tx.put(".memento/extra.md", b"x" * 3000))
    except MementoError as error:
        print(error.token, error.exit_code, error.message)
    else:
        print("written")
"""
WRITE_TWICE: Final = """
import sys
from memento_git.errors import MementoError
from memento_git.ledger.store import Ledger

def put(*words):
    for word in words:
        try:
            ledger.change("put", lambda tx: tx.put(".memento/extra.md", word * 2500))
        except MementoError as error:
            print(error.token, error.message)
        else:
            print(*ledger.warnings)

with Ledger.open(sys.argv[1]) as ledger:
    put(b"x", b"y")
    ledger.view()
    print([change.path for change in ledger.uncommitted])
    ledger.git.top.joinpath(".memento/extra.md").write_text("mine")
    put(b"z")
    ledger.view()
    print([change.path for change in ledger.uncommitted])
"""
WRITE_BELOW: Final = """
import sys
from memento_git.errors import MementoError
from memento_git.ledger.store import Ledger
from memento_git.verbs import doctor
with Ledger.open(sys.argv[1]) as ledger:
    try:
        ledger.change("put", lambda tx: [tx.put(f".memento/{name}.md", b"new") for name in ("new", "extra/new")])
    except MementoError as error:
        print(error.token, error.message)
    print(*(answer.message for answer in doctor.examine(ledger) if answer.name == "permissions"))
"""
BECOME_NOBODY: Final = """
import os, sys  # and all that is needed later, for nobody may not be allowed to read where the package lies
from memento_git.ledger import lock, publish, transaction, userindex, worktree
from memento_git.ledger.store import Ledger
from memento_git.model import types
with Ledger.open(sys.argv[1]) as ledger:
    ledger.view().runs()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
"""
WITHOUT_A_FREE_FILE: Final = """
import sys
from pathlib import Path
from memento_git.errors import MementoError
from memento_git.ledger import userindex
from memento_git.ledger.journal import Path3
from memento_git.ledger.store import Ledger

with Ledger.open(sys.argv[1]) as ledger:
    blob = ledger.git.run("rev-parse", "HEAD:app.py").decode().strip()
    Path(sys.argv[2]).mkdir()
    try:
        for number in range(2000):
            Path(sys.argv[2], str(number)).touch()
    except OSError:
        pass
    try:
        userindex.put_entries(ledger.git, [Path3("new.py", None, blob)], 0.1)
    except MementoError as error:
        print(error.message)
"""
ADD_SHORT: Final = """
import sys
from memento_git import MemoryManager
from memento_git.errors import MementoError
with MemoryManager(sys.argv[1]) as memory:
    try:
        memory.add("There is no room for it.", "short")
    except MementoError as error:
        print(error.token, error.exit_code, error.message)
"""
FIRST: Final = """
import sys
from memento_git import Memory
from memento_git.errors import MementoError
with Memory(sys.argv[1]) as memory:
    try:
        memory.store("There is no room for it.")
    except MementoError as error:
        sys.stderr.write(f"{error.token} {error.facts['path']}")
"""
WITHOUT_MEMORY: Final = """
import resource, sys
from pathlib import Path
from memento_git import __main__
from memento_git.cli import boundary
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + int(sys.argv.pop(1)), resource.RLIM_INFINITY))
__main__.main()
"""
NO_MODULE: Final = """
import resource
from pathlib import Path
from memento_git.cli import machine_errors
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 2**17, resource.RLIM_INFINITY))
try:
    with machine_errors.refusals():
        import _decimal
except machine_errors.MachineSpent as error:
    print(error.token, error.message)
"""
IN_A_SMALL_DISK: Final = """
import os, shutil, subprocess, sys
from pathlib import Path
from memento_git.errors import MementoError
from memento_git.ledger.store import Ledger

root = Path(sys.argv[1])
shutil.copytree(sys.argv[2], root, dirs_exist_ok=True, symlinks=True)
refused = landed = 0
git = lambda *words: subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
for pages in range(0, 40, 2):
    git("update-index", "-q", "--refresh")
    filler = root.parent / "filler"
    with filler.open("wb") as stream:
        free = os.statvfs(root).f_bavail - pages
        stream.write(b"x" * 4096 * max(free, 0))
    before, path = git("rev-parse", "HEAD").stdout, f".memento/extra/{pages}.md"
    with Ledger.open(root) as ledger:
        try:
            ledger.change("put", lambda tx: tx.put(path, b"x" * 3000))
        except MementoError as error:
            assert error.token == "not_writable", (pages, error.token, error.message)
            assert git("rev-parse", "HEAD").stdout == before, pages
            refused += 1
        else:
            landed += 1
    filler.unlink()
    with Ledger.open(root) as ledger:
        ledger.view()
        assert not ledger.uncommitted, (pages, ledger.uncommitted, ledger.warnings)
        assert (path in ledger.view().files) == (git("rev-parse", "HEAD").stdout != before)
    assert git("status", "--short").stdout == "", (pages, git("status", "--short").stdout)
    assert git("fsck", "--strict").returncode == 0
    assert not [name for name in os.listdir(root / ".git") if name.startswith("fast_import") or name.endswith(".lock")]
assert refused and landed, (refused, landed)
"""


@pytest.fixture(autouse=True)
def _compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a limit from cutting short what Python compiles of this checkout."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def alone(*command: str) -> list[str]:
    """Return a command that runs with mounts of its own."""
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", *command]


MAY_MOUNT: Final = (
    shutil.which("unshare") is not None
    and subprocess.run(alone("mount -t tmpfs none /mnt"), capture_output=True, check=False).returncode == 0
)
LESS: Final = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
AS_A_USER: Final = [] if os.getuid() else LESS if shutil.which("setpriv") else None


def said(command: list[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def _read_only(play: Play) -> list[str]:
    """Run a read and a write where nothing can be written; return what each said."""
    command = f"{sys.executable} -c '{WRITE}' {play.root}"
    if MAY_MOUNT:
        return said(alone(f"mount --bind {play.root} {play.root}; mount -o remount,bind,ro {play.root}; {command}"))
    if os.getuid() == 0:
        pytest.skip("root writes everywhere, and mounting is not permitted here")
    subprocess.run(["chmod", "-R", "a-w", str(play.root)], check=True)
    try:
        return said(["sh", "-c", command])
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(play.root)], check=True)


@pytest.mark.parametrize("interrupted", [False, True], ids=["whole", "interrupted"])
def test_a_read_only_file_system_is_read_and_refuses_writing(play: Play, interrupted: bool) -> None:
    play.planned()
    if interrupted:
        folder = play.root / ".git" / "memento" / "journal"
        folder.joinpath("a" * 40 + ".json").write_text("{}")
    head = git(play.root, "rev-parse", "HEAD")

    read, written = _read_only(play)

    assert read.startswith("1")
    assert ("waits to be finished" in read) == interrupted
    assert written.startswith("not_writable 1 cannot write")
    assert git(play.root, "rev-parse", "HEAD") == head


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_without_write_permission_reads_and_is_refused_writing(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.run()
    with tempfile.TemporaryDirectory() as name:  # pytest's own folder is closed to others whenever a session begins
        place = Path(name)
        place.chmod(0o755)
        root = shutil.copytree(play.root, place / "repo", symlinks=True)
        root.chmod(0o755)
        (place / "settings").write_text("[safe]\n\tdirectory = *\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(place / "settings"))

        read, written = said([sys.executable, "-c", BECOME_NOBODY + WRITE, str(root)])

    assert read == "1"
    assert written.startswith("not_writable 1")
    assert "Permission denied" in written


@pytest.mark.skipif(AS_A_USER is None, reason="root writes everywhere, and setpriv is not here to hinder it")
def test_a_closed_folder_above_the_repository_is_told_with_the_way_out_before_the_dispatch_is_made(play: Play) -> None:
    task = play.planned_task()
    before = git(play.root, "rev-parse", "HEAD")
    play.root.parent.chmod(0o555)
    try:
        done = subprocess.run(
            [*(AS_A_USER or ()), sys.executable, "-m", "memento_git", "-C", str(play.root), "--json",
             "dispatch", "run", task, "--executor", "agent", "--", "true"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        play.root.parent.chmod(0o755)
    told = json.loads(done.stdout)
    assert (done.returncode, told["error"]) == (1, "not_writable"), told
    assert told["message"].endswith(f"{play.root.parent} cannot be written")
    assert told["hint"].endswith("git config memento.worktrees FOLDER")
    assert git(play.root, "rev-parse", "HEAD") == before


@pytest.mark.skipif(AS_A_USER is None, reason="root writes everywhere, and setpriv is not here to hinder it")
@pytest.mark.parametrize("closed", [".memento", ".memento/extra", ".git/memento/tmp"])
def test_a_folder_that_may_not_be_written_is_named_before_the_branch_moves(play: Play, closed: str) -> None:
    play.ledger.change("put", lambda tx: tx.put(".memento/extra/old.md", b"old\n"))
    (play.root / closed).chmod(0o555)
    head = git(play.root, "rev-parse", "HEAD")

    written, doctor = said([*(AS_A_USER or []), sys.executable, "-c", WRITE_BELOW, str(play.root)])
    (play.root / closed).chmod(0o755)

    assert written == f"not_writable cannot write: no permission for {closed}"
    assert doctor.endswith(f"{closed} cannot be written: changes are refused")
    assert (git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--short")) == (head, "")


@contextmanager
def obstructed(play: Play, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let a file stand, once the branch has moved, where the work tree's files are written; yield it."""
    scratch = play.root / ".git" / "memento" / "tmp"

    def obstruct(step: str) -> None:
        if step == "ref_moved":
            scratch.rmdir()
            scratch.touch()

    with monkeypatch.context() as patch:
        patch.setattr(worktree, "reached", obstruct)
        yield scratch


def test_what_cannot_be_written_is_in_the_index_so_that_the_users_own_commit_keeps_it(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    with obstructed(play, monkeypatch) as scratch:
        run = play.run()
    assert "could not follow yet" in "".join(play.ledger.warnings)
    (play.root / "app.py").write_text("answer = 43\n")
    git(play.root, "add", "app.py")
    git(play.root, "commit", "-qm", "mine")

    assert git(play.root, "show", "--name-only", "--format=%s", "HEAD").split() == ["mine", "app.py"]
    assert run in play.ledger.view().runs()
    scratch.unlink()
    assert run in play.ledger.view().runs()
    assert git(play.root, "status", "--short") == ""


def test_beside_what_an_earlier_change_left_each_edit_has_the_hint_that_fits_it(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = ".memento/own.md", ".memento/other.md"

    def again(tx: Transaction) -> None:
        for path in (own, other):
            tx.put(path, b"again\n")

    play.ledger.change("put", lambda tx: tx.put(own, b"old\n"))
    play.ledger.change("put", lambda tx: tx.put(other, b"old\n"))
    with obstructed(play, monkeypatch):
        play.ledger.change("put", lambda tx: tx.put(other, b"new\n"))
    git(play.root, "rm", "-q", "--cached", own)
    with pytest.raises(git_status.RemovedLedger, match=f"not in the index: {own}$"):
        play.ledger.change("again", again)
    git(play.root, "add", own)
    (play.root / own).write_text("mine\n")
    with pytest.raises(git_status.UncommittedLedger, match=f"not committed: {own}$") as refused:
        play.ledger.change("again", again)
    assert refused.value.hint.startswith("commit them or put them back")
    git(play.root, "checkout", "HEAD", own)
    with pytest.raises(git_status.UnfinishedLedger, match=f"these files: {other}$"):
        play.ledger.change("again", again)


def test_what_a_full_disk_left_unshown_is_not_called_an_edit_and_an_edit_of_it_is(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    done = subprocess.run(
        [sys.executable, "-c", WRITE_TWICE, str(play.root)], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second, unedited, third, edited = done.stdout.splitlines()
    assert "could not follow yet" in first
    assert (
        second
        == "ledger_edited work tree or index could not follow an earlier change of these files: .memento/extra.md"
    )
    assert unedited == "[]"
    assert third == "ledger_edited ledger files have edits that are not committed: .memento/extra.md"
    assert edited == "['.memento/extra.md']"
    assert (play.root / ".memento/extra.md").read_text() == "mine"


@pytest.mark.skipif(not MAY_MOUNT, reason="a small disk needs a mount of its own")
def test_a_full_disk_leaves_the_old_ledger_or_the_new_wherever_the_space_ends(play: Play, tmp_path: Path) -> None:
    script, disk = tmp_path / "disk.py", tmp_path / "disk"
    script.write_text(IN_A_SMALL_DISK)
    disk.mkdir()

    said(alone(f"mount -t tmpfs -o size=2m none {disk}; {sys.executable} {script} {disk}/repo {play.root}"))


@pytest.mark.skipif(not MAY_MOUNT, reason="a small disk needs a mount of its own")
def test_an_index_that_a_full_disk_does_not_let_be_locked_is_not_said_to_be_held(play: Play, tmp_path: Path) -> None:
    script, disk = tmp_path / "disk.py", tmp_path / "disk"
    script.write_text(WITHOUT_A_FREE_FILE)
    disk.mkdir()

    mounted = f"mount -t tmpfs -o size=8m,nr_inodes=2000 none {disk}; cp -r {play.root} {disk}/repo"
    (told,) = said(alone(f"{mounted}; {sys.executable} {script} {disk}/repo {disk}/filler"))

    assert "cannot write: git update-index: " in told
    assert "No space left on device" in told
    assert "another git process" not in told


@pytest.mark.skipif(not MAY_MOUNT, reason="a small disk needs a mount of its own")
def test_a_run_starts_on_a_small_disk_until_a_sixteenth_of_it_is_left(play: Play, tmp_path: Path) -> None:
    command = f"{sys.executable} -m memento_git -C {tmp_path}/repo run start --json --goal"
    copied = f"mount -t tmpfs -o size=2m none {tmp_path}; cp -r . {tmp_path}/repo; {command} Small"
    filled = f"head -c $(($(stat -f -c '%a * %S' {tmp_path}) - 100000)) /dev/zero > {tmp_path}/filler; {command} Full"

    answers = said(alone(f"cd {play.root}; {copied}; {filled} || true"))

    assert [json.loads(answer)["ok"] for answer in answers] == [True, False]
    assert json.loads(answers[1])["error"] == "disk_space"


@pytest.mark.skipif(not MAY_MOUNT, reason="a small disk needs a mount of its own")
def test_a_small_disk_is_asked_for_what_policy_names_also_where_it_is_the_default(play: Play, tmp_path: Path) -> None:
    play.commit(".memento/config.yaml", "version: 1\npolicy: {preflight: {disk: 67108864}}\n", "policy")
    command = f"{sys.executable} -m memento_git -C {tmp_path}/repo run start --json --goal Small || true"
    copied = f"mount -t tmpfs -o size=2m none {tmp_path}; cp -r . {tmp_path}/repo"

    [answer] = said(alone(f"cd {play.root}; {copied}; {command}"))

    assert json.loads(answer)["error"] == "disk_space"


@pytest.mark.parametrize("limit", [16, 600, 2000, 20000])
def test_a_limit_on_file_size_refuses_or_writes_whole(play: Play, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # the interpreter would keep what it could write of a module
    head = git(play.root, "rev-parse", "HEAD")
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(play.root)], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    written = done.stdout.splitlines()[1] == "written"
    play.ledger.view()

    assert written or done.stdout.splitlines()[1].startswith("not_writable")
    assert (git(play.root, "rev-parse", "HEAD") != head) == written
    assert git(play.root, "status", "--short") == ""
    assert not list((play.root / ".git").glob("fast_import*"))
    git(play.root, "fsck", "--strict")


def test_a_limit_that_git_meets_leaves_no_lock_behind(play: Play) -> None:
    """git itself appends to the log of the branch, which is longer than all else that is written."""
    git(play.root, "config", "core.logAllRefUpdates", "true")
    for number in range(9):
        play.ledger.change("put", lambda tx, name=number: tx.put(f".memento/extra/{name}.md", b"x"))  # type: ignore[misc]
    limit = (play.root / ".git/logs/HEAD").stat().st_size
    head = git(play.root, "rev-parse", "HEAD")
    done = subprocess.run(
        [sys.executable, "-c", WRITE.replace("3000", "1"), str(play.root)], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.stdout.splitlines()[1].startswith("not_writable 1 cannot write: "), done.stdout + done.stderr
    assert "File too large" in done.stdout
    assert git(play.root, "rev-parse", "HEAD") == head
    assert [*(play.root / ".git").rglob("*.lock")] == [play.root / ".git/memento/worktree.lock"]
    git(play.root, "commit", "--allow-empty", "-qm", "mine")


def test_an_item_of_the_short_tier_that_has_no_room_is_refused_and_leaves_nothing_of_itself(play: Play) -> None:
    ring = ShortTerm(play.ledger.git, 200)
    ring.add(Item("note_000000000001", "", "Ada", "It is there. " * 20))
    before = ring.path.read_bytes()
    limit = len(before) + 40
    done = subprocess.run(
        [sys.executable, "-c", ADD_SHORT, str(play.root)], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.stdout.startswith("not_writable 1 cannot write: "), done.stdout + done.stderr
    assert ring.path.read_bytes() == before
    ring.add(Item("note_000000000002", "", "Ada", "It is there, too."))
    assert [item.id for item in ring.items()] == ["note_000000000001", "note_000000000002"]


def test_a_first_memory_on_a_disk_that_takes_no_file_names_the_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST, str(tmp_path / "mem")], capture_output=True, text=True, check=False,
        cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )  # fmt: skip
    assert done.stderr == f"folder_unusable {tmp_path / 'mem'}", done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("limit", [0, 20, 300])
def test_a_sample_that_met_a_full_disk_can_be_tried_again_where_it_was(tmp_path: Path, cli: Call, limit: int) -> None:
    words = ("sample-smoke", "--workspace", str(tmp_path / "sample"), "--json")
    done = subprocess.run(
        [sys.executable, "-m", "memento_git", *words], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert json.loads(done.stdout)["error"] == "not_writable", done.stdout
    assert not (tmp_path / "sample").exists()
    assert cli(*words)[0] == 0


def test_what_a_command_showed_where_nothing_can_be_kept_is_told_with_its_exit_code(play: Play, tmp_path: Path) -> None:
    play.run()
    limit = 4096
    script = "head -c 30000 /dev/urandom | base64; exit 3"
    done = subprocess.run(
        [sys.executable, "-m", "memento_git", "evidence", "run", "--json", "--", "sh", "-c", script],
        cwd=play.root, capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": str(tmp_path)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["error"] == "not_writable"
    assert "ended with 3, and is lost: File too large" in answer["hint"]
    assert [*(play.root / ".git" / "memento" / "drafts").glob("*"), *tmp_path.glob("memento-*/*")] == []


def test_what_cannot_be_written_after_a_change_is_told_with_the_change(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    cli("session", "start", "-C", str(play.root))
    before = git(play.root, "rev-parse", "HEAD")
    monkeypatch.setattr(atomic_file, "write", full)
    code, _, told = cli("session", "end", "--summary", "Done.", "-C", str(play.root))
    made = git(play.root, "rev-parse", "HEAD")
    assert code == 1
    assert made != before
    assert f"No space left on device, after the change was made (commit {made[:12]})" in told
    assert "see what was done before you run it again" in told


@pytest.mark.parametrize(("limit", "verb"), [(12, "evidence run -- true"), (8, "status")])
def test_a_process_that_may_open_no_more_files_is_told_so_and_of_the_limit(play: Play, limit: int, verb: str) -> None:
    play.run()
    before = git(play.root, "rev-parse", "HEAD")
    done = subprocess.run(
        [sys.executable, "-m", "memento_git", "-C", str(play.root), "--json", *verb.split()],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (done.returncode, told["error"]) == (1, "machine_spent"), told
    assert told["message"].endswith("Too many open files")
    assert "ulimit" in told["hint"]
    assert git(play.root, "rev-parse", "HEAD") == before


@pytest.mark.parametrize("room", [0, 1, 2])
def test_a_process_without_memory_says_so_and_shows_no_traceback(play: Play, room: int) -> None:
    play.run()
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_MEMORY, str(room << 20), "-C", str(play.root), "doctor"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert re.search(r"(out of memory|failed to map segment from shared object) \[machine_spent\]", done.stderr)


def test_an_extension_module_that_finds_no_memory_is_no_bug() -> None:
    done = subprocess.run([sys.executable, "-c", NO_MODULE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("machine_spent the system gives this process no more: "), done.stdout


def test_a_copy_that_does_not_fit_names_the_file_that_is_made_and_not_the_one_that_is_there(
    play: Play, tmp_path: Path
) -> None:
    play.run()
    (scratch := tmp_path / "scratch").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "memento_git", "-C", str(play.root), "--json", "evidence", "run", "--", "true"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        env={**os.environ, "TMPDIR": str(scratch)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["error"] == "file_system", told
    assert told["message"].startswith(str(scratch)), told


@pytest.mark.parametrize("module", ["work/actions/setup", "cli/main", "cli/boundary"])
def test_a_module_that_a_full_disk_cut_short_is_named_and_no_traceback_is_shown(
    play: Play, tmp_path: Path, module: str
) -> None:
    def init() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "memento_git", "-C", str(play.root), "init"],
            env={**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "kept"), "PYTHONDONTWRITEBYTECODE": ""},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert init().returncode == 0
    (compiled,) = (tmp_path / "kept").rglob(f"memento_git/{module}.*.pyc")
    compiled.write_bytes(compiled.read_bytes()[:300])
    done = init()
    assert done.returncode == 1, done.stderr
    assert f"cut short, as by a full disk: {compiled} [installation_damaged]" in done.stderr
    assert "remove that file" in done.stderr
    assert "Traceback" not in done.stderr
    compiled.unlink()
    assert init().returncode == 0


@pytest.mark.parametrize(
    ("words", "limit", "named"),
    [
        (("session", "start"), 20, ".git/memento/sessions/"), (("hook", "install"), 20, ".git/hooks/pre-commit"),
        (("guide", "--out", "skills"), 20, "skills/using-memento/SKILL.md"),
        (("evidence", "run", "--out", "out", "--", "seq", "5000"), 4096, "out/stdout.txt"),
    ],
)  # fmt: skip
def test_a_file_that_finds_no_room_is_named(play: Play, words: tuple[str, ...], limit: int, named: str) -> None:
    play.run()
    done = subprocess.run(
        [sys.executable, "-m", "memento_git", *words], cwd=play.root, capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert (done.returncode, named in done.stderr, "File too large [file_system]" in done.stderr) == (1, True, True)
