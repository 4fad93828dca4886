"""The one door to git: a clean environment, bytes in and out, typed errors."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from memento_git.errors import Broken, Refused
from memento_git.ledger import names
from memento_git.ledger.environment import (
    IN_ONE,
    OPTIONS,
    WITH_HOOKS,
    GitMissing,
    configured,
    environment,
    git_dir_of,
    refuse_old,
)  # fmt: skip
from memento_git.ledger.git_errors import ended, is_full, reason_of
from memento_git.ledger.process_groups import told_by
from memento_git.ledger.reader import AT_ONCE, Reader, Stored
from memento_git.ledger.trees import Entry, Trees, entries
from memento_git.model.progress import Progress, untold

NO_ANSWER: Final = "what it answers is not what git answers"
AWAY: Final = b"from promisor remote"  # at the end of what git says it could not fetch
PARTIAL: Final = r"^remote\..*\.promisor$|^extensions\.partialclone$"
MADE: Final = rb"(?m)^committer .*>[ \t]*(\d+)[ \t]*[+-]\d"


class GitFailed(Broken):
    token = "git_failed"
    sentence = "git {command} failed: {reason}"
    hint_ = "memento doctor says more"


class ObjectsAway(GitFailed):
    token = "objects_away"
    sentence = "this partial clone lacks what must be read, and git {command} cannot fetch it: {reason}"
    hint_ = "make its remote reachable (try git ls-remote), then run the command again"


class CannotWrite(GitFailed):
    token = "not_writable"
    sentence = "cannot write: git {command}: {reason}"
    hint_ = "free some space or mend the permissions, then run the command again"
    exit_code = 1


class RepositoryUnreadable(Broken):
    token = "repository_unreadable"
    sentence = "git cannot open this repository: {reason}"
    hint_ = "mend what git names, until git status works, then run the command again"


class BranchUnreadable(RepositoryUnreadable):
    sentence = "{git_dir}/HEAD names a branch in whose file git reads no commit"
    hint_ = (
        "make that file readable; if a crash emptied it, remove it and give git reset --soft the second id of the last "
        "line in {git_dir}/logs/HEAD"
    )


class WorkTreeMissing(Broken):
    token = "work_tree_missing"
    sentence = "core.worktree of this repository names {path}, and there is no such folder"
    hint_ = "make that folder, or let git take the one that .git is in: git config --unset core.worktree"


class NotARepository(Refused):
    token = "not_a_repository"
    sentence = "{path} is not in a git repository"
    hint_ = "give the checkout with --workspace PATH, or make one: git init {path!q}"


class WorkspaceMissing(Refused):
    token = "workspace_missing"
    sentence = "there is no folder {path}"
    hint_ = "name a folder that is there: nothing is made for a mistyped path"


class StartGone(WorkspaceMissing):
    sentence = "the folder this was started in is gone"
    hint_ = "cd to another one, or name one by its full path: memento -C PATH"


class DubiousOwnership(Refused):
    token = "dubious_ownership"
    sentence = "git does not trust this repository: {reason}"
    hint_ = "if you trust its owner, do what git says, then run the command again"


class BareRepository(Refused):
    token = "bare_repository"
    sentence = "this repository is bare, or a git directory: the ledger can be read here, not written"
    hint_ = "write in a checkout; in a clone, then push"


class Git:
    """One repository, and the work tree in it if there is one."""

    def __init__(self, start: Path) -> None:
        if not start.is_dir():
            raise WorkspaceMissing(path=start)
        self.start = absolute(start)
        self.cwd = start
        self.extra: dict[str, str] = {}
        self.led: dict[str, str] = {}
        self.top: Path | None = None
        self.progress: Progress = untold  # what is told of a long reading
        self.trees = Trees(self)
        self.reader = Reader(self)
        answer = self._run(
            "rev-parse", "--path-format=absolute", "--is-bare-repository", "--show-object-format",
            "--git-dir", "--git-common-dir", "--show-toplevel",
        )  # fmt: skip
        lines = os.fsdecode(answer.stdout).split("\n")[:-1]
        if len(lines) > 5:  # a path of several lines
            lines = [*lines[:2], *filter(None, map(self._place, ("git-dir", "git-common-dir", "show-toplevel")))]
        if len(lines) < 4 or not Path(lines[2]).is_absolute():
            self._explain(answer)
        self.object_format = lines[1]
        self.git_dir, self.common_dir = map(Path, lines[2:4])
        self.top = Path(lines[4]) if len(lines) > 4 else None
        if self.top is not None and not self.top.is_dir():
            raise WorkTreeMissing(path=self.top)
        self.cwd = self.top or self.git_dir
        if self.top is not None and not _is_found_from(self.top, self.git_dir):
            self.led = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.top)}
        self._configured = configured(self.git_dir, self.common_dir)

    def _place(self, what: str) -> str:
        """Return one of the repository's folders, whatever characters are in its path; nothing where there is none."""
        done = self._run("rev-parse", "--path-format=absolute", f"--{what}")
        return "" if done.returncode else os.fsdecode(done.stdout).removesuffix("\n")

    def _environment(self, extra: Mapping[str, str] | None = None, *, hooks: bool = False) -> dict[str, str]:
        """Return the environment of one git command, led to this repository where its work tree does not lead there.

        The work tree stays the one that it was at first, whatever is configured meanwhile. Only then is git told, and
        hooks never are: what git starts, and goes into another repository, would take its files there.
        """
        stays = self.top is not None and not hooks and configured(self.git_dir, self.common_dir) != self._configured
        kept = {"GIT_WORK_TREE": str(self.top)} if stays else {}
        return environment({**kept, **self.led, **self.extra, **(extra or {})})

    def _explain(self, done: subprocess.CompletedProcess[bytes]) -> None:
        """Say why a repository could not be opened."""
        refuse_old(os.fsdecode(self._run("version").stdout))
        told = done.stderr.decode(errors="replace").strip()
        reason = told or (ended(done.returncode) if done.returncode else NO_ANSWER)
        if "not a git repository" in reason:
            raise NotARepository(path=self.cwd)
        if "dubious ownership" in reason or "unsafe repository" in reason:
            raise DubiousOwnership(reason=reason)
        raise RepositoryUnreadable(reason=reason)

    def _run(
        self, *arguments: str, data: bytes = b"", extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        with self._starting():
            return subprocess.run(
                ["git", *OPTIONS, *(IN_ONE if "GIT_INDEX_FILE" in {**self.extra, **(extra or {})} else ()), *arguments],
                cwd=self.cwd, env=self._environment(extra), input=data, capture_output=True,
                check=False, restore_signals=False,  # a limit on files is then git's to tell, and to tidy up after
            )  # fmt: skip

    @contextlib.contextmanager
    def _starting(self) -> Iterator[None]:
        """Refuse where there is no git, or no workspace any more."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
            if error.filename == "git":
                raise GitMissing from None
            raise WorkspaceMissing(path=self.cwd) from None

    def run(self, *arguments: str, data: bytes = b"", extra: Mapping[str, str] | None = None) -> bytes:
        """Run one git command and return what it printed; raise GitFailed with git's own words."""
        done = self._run(*arguments, data=data, extra=extra)
        return answered(arguments, done.returncode, done.stdout, done.stderr)

    def begin(
        self, *arguments: str, extra: Mapping[str, str] | None = None, apart: bool = False, hooks: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start one git command that waits for its input; apart: without our terminal, as a group of its own.

        A kill of our whole group leaves one that is apart the time to take its lock files away.
        """
        with self._starting():
            return subprocess.Popen(
                ["git", *(WITH_HOOKS if hooks else OPTIONS), *arguments],
                cwd=self.cwd, env=self._environment(extra, hooks=hooks), start_new_session=apart,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=False,
            )  # fmt: skip

    def run_apart(
        self, *arguments: str, data: bytes = b"", extra: Mapping[str, str] | None = None, timeout: float | None = None
    ) -> bytes:
        """Run one git command that must not prompt; end it and all that it started when it takes too long."""
        process = self.begin(*arguments, extra=extra, apart=True)
        out, err = told_by(process, data, timeout)
        return answered(arguments, process.returncode, out, err)

    def talk(self, *arguments: str, extra: Mapping[str, str], timeout: float) -> tuple[int, str, str]:
        """Run one git command with the user's hooks, without a prompt; return exit code, stdout, stderr.

        When it takes too long it is ended with all that it started, and TimeoutError is raised.
        """
        process = self.begin(*arguments, extra=extra, apart=True, hooks=True)
        try:
            out, err = told_by(process, b"", timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        return process.returncode, os.fsdecode(out), err.decode(errors="replace")

    def _asked(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run one git command whose failure is an answer, too; one that was killed has not said no."""
        done = self._run(*arguments)
        if done.returncode < 0:
            answered(arguments, done.returncode, done.stdout, done.stderr)
        return done

    def answer(self, *arguments: str) -> str | None:
        """Run one git command; return its one-line answer, or None where it fails."""
        done = self._asked(*arguments)
        return None if done.returncode else os.fsdecode(done.stdout).strip()

    def lines(self, *arguments: str) -> list[str]:
        """Return the lines that git prints, none where it fails; a name in them may hold any other break."""
        done = self._asked(*arguments)
        return [] if done.returncode else [line for line in os.fsdecode(done.stdout).split("\n") if line]

    def is_before(self, one: str, other: str) -> bool:
        """Tell whether a commit is an ancestor of another, or the same."""
        return self.answer("merge-base", "--is-ancestor", one, other) is not None

    def is_on(self, ref: str) -> bool:
        """Tell whether HEAD is at a branch, or (HEAD) detached; git is asked only where the file does not say it."""
        with contextlib.suppress(OSError, UnicodeError):
            if (self.git_dir / "HEAD").read_text(encoding="utf-8") == f"ref: {ref}\n":
                return True
        return (self.answer("symbolic-ref", "--quiet", "HEAD") or "HEAD") == ref

    @property
    def zero(self) -> str:
        return "0" * (64 if self.object_format == "sha256" else 40)

    @cached_property
    def is_partial(self) -> bool:
        """Tell whether this is a clone that left objects where it came from."""
        return self.answer("config", "--get-regexp", PARTIAL) is not None

    def blob_id(self, data: bytes) -> str:
        """Return the id that git gives to these bytes."""
        import hashlib

        return hashlib.new(self.object_format, b"blob %d\0" % len(data) + data).hexdigest()

    def staged(self, paths: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return path -> blob and letter (H: nothing is marked) of the index entries at these paths."""
        found: dict[str, tuple[str, str]] = {}
        asked = list(paths)
        for start in range(0, len(asked), AT_ONCE):
            text = os.fsdecode(self.run("ls-files", "-v", "-s", "-z", "--", *asked[start : start + AT_ONCE]))
            for line in text.split("\0"):
                if line:
                    head, _, path = line.partition("\t")
                    found[path] = (head.split(" ")[2], head[0])
        return found

    def commit_of(self, rev: str) -> str:
        """Return the id of the commit that a revision names; a name means the branch, also where a tag has it."""
        full = names.in_full(self, rev)
        found = self.commit(full)
        if not found:
            from memento_git.ledger import missing_ledger

            missing_ledger.refuse_revision(self, rev)
        return found

    def object_id(self, name: str) -> str | None:
        """Return the id of what a ref, or another name, leads to; None where it leads nowhere here."""
        return self.answer("rev-parse", "--verify", "--quiet", name)

    def drop_ref(self, ref: str, *was: str) -> None:
        """Delete a ref, where it is there; `was`: only while it is still at that object."""
        with contextlib.suppress(GitFailed):
            self.run_apart("update-ref", "-d", ref, *was)

    def remotes(self) -> list[str]:
        """Return the names of the remotes."""
        return self.lines("remote")

    def merge_bases(self, one: str, *others: str) -> list[str]:
        """Return the best commits that a history has in common with others; an ancestor of one is the only one."""
        return (self.answer("merge-base", "--all", one, *others) or "").split()

    def commit(self, rev: str) -> str | None:
        """Return the id of the commit that a revision names, None where it names none here; `^REV` leaves one out."""
        asked = f"{rev}^{{commit}}"
        if rev.startswith("^") or "\0" in rev:
            return None
        if not re.fullmatch(names.PLAIN, rev):
            return self.answer("rev-parse", "--verify", "--quiet", "--end-of-options", asked)
        found = self.stored([asked])[0]
        return found and found.oid

    def made_last(self, commits: Iterable[str]) -> int:
        """Return when the last of some commits was made, in seconds since 1970; what does not say it was made then."""
        heads = ((data or b"").partition(b"\n\n")[0] for data in self.objects(commits))
        return max(int(found[1]) if (found := re.search(MADE, head)) else 0 for head in heads)

    def files(self, commit: str) -> dict[str, Entry]:
        """Return path -> entry for all files of the ledger in a commit."""
        return entries(self.trees.ledger(commit).text)

    def entries(self, commit: str, *paths: str) -> dict[str, Entry]:
        """Return path -> entry of what is at these paths of a commit, of `a/` what is in `a`; else of its top."""
        found: dict[str, Entry] = {}
        for path in paths or ("",):
            found |= self.trees.at(commit, path)
        return found

    def objects(self, names: Iterable[str]) -> list[bytes | None]:
        """Return the content of each object, None where it is missing."""
        return [found and found.data for found in self.stored(names)]

    def stored(self, names: Iterable[str]) -> list[Stored | None]:
        """Return each object, None where it is missing; one process serves all calls."""
        return self.reader.read(list(names))

    def start_reader(self) -> subprocess.Popen[bytes]:
        """Start the process that gives out objects; a terminal's Ctrl-C is for us, not for it."""
        with self._starting():
            return subprocess.Popen(
                ["git", *OPTIONS, "cat-file", "--batch"],
                cwd=self.cwd, env=self._environment(), process_group=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip

    def close(self) -> None:
        """End the process that reads objects."""
        self.reader.close()

    def head(self) -> tuple[str | None, str]:
        """Return HEAD's commit (None when unborn) and the ref that a commit moves: the branch, or HEAD itself."""
        if told := names.head_in_files(self):
            return told
        lines = (self.answer("rev-parse", "HEAD", "--symbolic-full-name", "HEAD") or "").split("\n")
        if len(lines) == 2:
            return lines[0], lines[1]
        if (ref := self.answer("symbolic-ref", "--quiet", "HEAD")) is None:
            raise BranchUnreadable(git_dir=self.git_dir)
        return None, ref


def absolute(start: Path) -> Path:
    """Return a path from the root; refuse where the current folder has been removed."""
    try:
        return start.absolute()
    except FileNotFoundError:
        raise StartGone from None


def _is_found_from(top: Path, git_dir: Path) -> bool:
    """Tell whether git finds a git directory from a work tree; core.worktree may name one that knows nothing of it."""
    try:
        return git_dir_of(top).samefile(git_dir)
    except OSError:
        return False


def answered(arguments: Sequence[str], code: int, out: bytes, err: bytes) -> bytes:
    """Return what a git command printed; raise GitFailed with git's own words where it ended with an error."""
    if code:
        command = next(one for one in arguments[::2] if one not in ("-c", "-C"))
        if is_full(err.decode(errors="replace")):
            raise CannotWrite(command=command, reason=reason_of(err, code))
        if AWAY in err:
            raise ObjectsAway(command=command, reason=reason_of(err, code))
        raise GitFailed(command=command, reason=reason_of(err, code))
    return out
