"""git grep over a tree, within a time and a size."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Misused, Refused
from memento_git.ledger.git import end_group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.git import Git

PATIENCE: Final = 30.0
PERL: Final = "perl"
EXTENDED: Final = "extended"
ENGINES: Final = {PERL: "-P", EXTENDED: "-E"}
LACKING: Final = b"USE_LIBPCRE"


class RegexInvalid(Misused):
    """An expression that git cannot search by."""

    token = "regex_invalid"
    sentence = "{regex!r} cannot be searched for: {problem}"
    hint_ = "write a regular expression; put \\ before a character that shall stand for itself"


class GrepTooSlow(Refused):
    """A search that does not come to an end."""

    token = "grep_too_slow"
    sentence = "searching for {regex!r} took more than {seconds} s"
    hint_ = "search below one folder, or for a simpler expression"


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
        if code > 1:
            problem = err.decode(errors="replace").strip().splitlines()[-1:] or [f"git grep ended with {code}"]
            raise RegexInvalid(regex=self.regex, problem=problem[0].removeprefix("fatal: "))
        prefix = os.fsencode(f"{self.tree}:")
        return out.removeprefix(prefix).removesuffix(b"\n").split(b"\n" + prefix) if out else []

    def _once(self, kind: str, *arguments: str) -> tuple[int, bytes, bytes]:
        process = self.git.begin(
            "grep", "-z", "-I", "--no-color", ENGINES[self.engine], *self.options, kind, "-e", self.regex, self.tree,
            *arguments,
            extra=self.git.extra, apart=True,
        )  # fmt: skip
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            end_group(process)
            raise GrepTooSlow(regex=self.regex, seconds=round(PATIENCE)) from None
        except BaseException:
            end_group(process)
            raise
        return process.returncode, out, err
