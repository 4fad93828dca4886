"""git grep over a tree: what is in it, within a time; never less than it without a word."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Broken, Misused, Refused
from memento_git.ledger import layout
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.git_errors import reason_of
from memento_git.ledger.process_groups import told_by
from memento_git.model.finding import FETCHING

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

TIMEOUT: Final = 30.0
PERL: Final = "perl"
EXTENDED: Final = "extended"
ENGINES: Final = {PERL: "-P", EXTENDED: "-E"}
LACKING: Final = b"USE_LIBPCRE"
TROUBLE: Final = (b"error: ", b"fatal: ")
SPELLED: Final = (r"\\[/xuU]", r"\\[^ -~]", r"\\$")  # in git's basic expressions what `layout.HIDING` is
OF_REGEX: Final = (
    b"fatal: -e option, ", b"fatal: command line, ", b"fatal: pcre", b"fatal: Cannot use Perl-compatible",
)  # fmt: skip


class RegexInvalid(Misused):
    token = "regex_invalid"
    sentence = "{regex!r} cannot be searched for: {problem}"
    hint_ = "write a regular expression; put \\ before a character that shall stand for itself"


class GrepTooSlow(Refused):
    token = "grep_too_slow"
    sentence = "searching for {regex!r} took more than {seconds} s"
    hint_ = "search below one folder, or for a simpler expression"


class GrepIncomplete(Broken):
    """A search that would say that a text is nowhere, while git cannot read all files."""

    token = "grep_incomplete"
    sentence = "git cannot read all that must be searched: {reason}"
    hint_ = f"{FETCHING}; git fsck shows what else is missing"


class Line(NamedTuple):
    """A line that was found: its number, and its text as git has it."""

    number: int
    text: str


class Grep:
    """One expression, searched for in one tree; Perl's syntax where this git knows it, else the extended one."""

    def __init__(self, git: Git, tree: str, regex: str, *, ignore_case: bool = False) -> None:
        if not regex or "\n" in regex or "\0" in regex:
            raise RegexInvalid(regex=regex, problem="it is searched for within one line" if regex else "it is empty")
        self.git = git
        self.tree = tree
        self.regex = regex
        self.options = ["-i"] if ignore_case else []
        self.engine = PERL

    def counts(self, folder: str = "") -> dict[str, int]:
        """Return path -> number of lines that match, of text files below a folder."""
        found = {}
        for record in self._run("-c", "--", *([folder] if folder else [])):
            path, _, count = record.partition(b"\0")
            found[os.fsdecode(path)] = int(count)
        return found

    def lines(self, paths: Sequence[str]) -> dict[str, list[Line]]:
        """Return path -> the lines that match, of a few files."""
        found: dict[str, list[Line]] = {}
        for record in self._run("-n", "--", *paths) if paths else ():
            path, number, text = record.split(b"\0", 2)
            found.setdefault(os.fsdecode(path), []).append(Line(int(number), text.decode(errors="replace")))
        return found

    def _run(self, *arguments: str) -> list[bytes]:
        """Return what git tells of each file, or each line, that matches."""
        code, out, err = self._once(*arguments)
        if code > 1 and LACKING in err and self.engine == PERL:
            self.engine = EXTENDED
            code, out, err = self._once(*arguments)
        if code > 1 and any(line.startswith(OF_REGEX) for line in err.splitlines()):
            problem = err.decode(errors="replace").strip().splitlines()[-1]
            raise RegexInvalid(regex=self.regex, problem=problem.removeprefix("fatal: "))
        _refuse_less(code, err)
        prefix = os.fsencode(f"{self.tree}:")
        return out.removeprefix(prefix).removesuffix(b"\n").split(b"\n" + prefix) if out else []

    def _once(self, kind: str, *arguments: str) -> tuple[int, bytes, bytes]:
        options = ("-z", "-I", ENGINES[self.engine], *self.options, kind, "-e", self.regex, self.tree, *arguments)
        try:
            return _run(self.git, *options, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise GrepTooSlow(regex=self.regex, seconds=round(TIMEOUT)) from None


def files(
    git: Git, tree: str, folder: str, texts: Iterable[str], *, plain: bool = True, binary: bool = True,
    partly: bool = False,
) -> list[str]:  # fmt: skip
    """Return the files below a folder of a tree, or of a pattern, in which one of some texts occurs.

    Not plain, they are git's basic expressions; partly: where git cannot read a file, the others are looked at.
    """
    kind = "--text" if binary else "-I"
    found = os.fsdecode(_found(git, tree, folder, texts, (kind, "--files-with-matches", "-z"), plain, partly))
    return [path.removeprefix(f"{tree}:") for path in found.split("\0")[:-1]]


def naming(git: Git, tree: str, folder: str, texts: Iterable[str]) -> set[str]:
    """Return the files below a folder of a tree in which one of some texts occurs, or may, spelled by escapes."""
    return {*files(git, tree, folder, texts), *files(git, tree, folder, SPELLED, plain=False)}


def lines(git: Git, tree: str, folder: str, texts: Iterable[str]) -> bytes:
    """Return the lines of files below a folder of a tree, or of a pattern, in which one of some texts occurs."""
    return _found(git, tree, folder, texts, ("--text", "-h"), plain=True, partly=False)


def firsts(git: Git, tree: str, folder: str, expression: str) -> dict[str, str]:
    """Return path -> the first line that meets one of git's basic expressions, of files below a folder of a tree."""
    found: dict[str, str] = {}
    for told in _found(git, tree, folder, [expression], ("--text", "-z"), plain=False, partly=False).split(b"\n"):
        path, _, line = os.fsdecode(told).partition("\0")
        found.setdefault(path.removeprefix(f"{tree}:"), line)
    return found


def _found(
    git: Git, tree: str, folder: str, texts: Iterable[str], options: Sequence[str], plain: bool, partly: bool
) -> bytes:  # fmt: skip
    asked = b"".join(os.fsencode(text) + b"\n" for text in texts)
    if not asked:
        return b""
    kind = ["--fixed-strings"] if plain else []
    extra = PATTERNS if folder.startswith(layout.GLOB) else None
    where = (tree, "--", *([folder] if folder else []))
    code, out, err = _run(git, *kind, *options, "-f", "-", *where, data=asked, extra=extra)
    if code not in (0, 1) or not partly:
        _refuse_less(code, err)
    return out


def _refuse_less(code: int, err: bytes) -> None:
    """Refuse an answer that is less than there is: for a file that it cannot read git says so, and goes on."""
    if code not in (0, 1) or any(line.startswith(TROUBLE) for line in err.splitlines()):
        raise GrepIncomplete(reason=reason_of(err, code))


def _run(
    git: Git, *arguments: str, data: bytes = b"", timeout: float | None = None, extra: Mapping[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    """Return exit code, stdout and stderr of one search, given some expressions; it is ended if it takes too long."""
    process = git.begin("grep", "--no-color", *arguments, extra=extra, apart=True)
    out, err = told_by(process, data, timeout)
    return process.returncode, out, err
