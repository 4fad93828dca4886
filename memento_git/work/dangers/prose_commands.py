"""The commands that a text for people names: in code blocks, inline code, after prompts and in plain sentences.

What a sentence forbids ("never run `git push --force`") is not a command of it. That is read from English words in
the same clause, so it can be wrong both ways: a danger that is only mentioned is told, one that is forbidden in
another language too, and a sarcastic "never mind, run it" passes only where its clause holds no word of forbidding.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Final, NamedTuple

from memento_git.work.dangers.risky_words import is_risky

SHELL_LANGUAGES: Final = (
    "", "sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "ksh", "fish", "cmd", "command", "text",
    "txt", "plain", "plaintext", "dockerfile", "makefile", "make",
)  # fmt: skip
HEADS: Final = (
    "git", "hub", "gh", "rm", "sudo", "doas", "find", "dd", "mkfs", "mke2fs", "wipefs", "blkdiscard", "shred",
    "truncate", "chmod", "chown", "chgrp", "mv", "cp", "tee", "sed", "perl", "rsync", "xargs", "env", "nohup", "nice",
    "timeout", "command", "exec", "eval", "busybox", "sh", "bash", "zsh", "dash", "ksh", "curl", "wget", "unlink",
    "rmdir", "ssh", "su", "watch", "parallel", "trap", "alias", "source", "install", "ln", "flock", "time",
)  # fmt: skip
HEAD: Final = re.compile(
    rf"(?<![\w./~$-])(?:/(?:usr/)?(?:local/)?s?bin/)?(?:{'|'.join(HEADS)}|git-[a-z]+|mkfs\.\w+)(?=[\s;|&]|$)"
)
LONGEST: Final = 400
FENCE: Final = re.compile(r"^[ \t>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})[ \t]*([\w-]*)")
INDENT: Final = "    "
INDENTED: Final = re.compile(r" {4}| {0,3}\t|[ \t]*$")
IN_A_LIST: Final = re.compile(r"[ \t]|[-*+]\s|\d+[.)]\s")
PROMPT: Final = re.compile(
    r"^[ \t>]*(?:[-*+]\s+|\d+[.)]\s+)?(?:\(\w[\w.-]*\)\s*)?(?:[\w.-]+@[\w.-]+[^$#\s]*)?[$%\u276f]\s+(\S.*)$"
)
INLINE: Final = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+?(?:\n[^`\n]+?)?)\1(?!`)")
CLAUSE: Final = re.compile(
    r"[.;:!?](?=\s|$)|\n\s*\n|\n\s*(?:[-*+]|\d+[.)])\s"
    r"|\b(?:but|instead(?!\s+of)|then|afterwards|otherwise|rather(?!\s+than)|just|simply|only)\b"
    r"|,\s*(?:and\s+)?(?:run|use|do|execute|call|type)\b",
    re.IGNORECASE,
)
CONDITION: Final = re.compile(
    r"\b(?:if|when|unless|since|because|once|after|until|while|as)\b[^,]*,|\bto\s+avoid\b[^,]*,", re.IGNORECASE
)
FORBIDS: Final = re.compile(
    r"\b(?:never|not|don'?t|doesn'?t|mustn'?t|shouldn'?t|can'?t|cannot|won'?t|nor|neither|forbid\w*|prohibit\w*)\b",
    re.IGNORECASE,
)
FORBIDS_NEXT: Final = re.compile(
    r"\b(?:no|without|avoid\w*|refus\w+|reject\w*|prevent\w*|block\w*|disallow\w*|bans?|banned|detect\w*|catch\w*"
    r"|instead\s+of|rather\s+than|refrain)\W+(?:(?!run\b|do\b|execute\b|type\b)\w+\W+){0,3}$",
    re.IGNORECASE,
)
LISTED: Final = re.compile(r"`[^`]*`?|\b(?:or|and)\b|[,/]", re.IGNORECASE)
URGES: Final = re.compile(r"\b(?:forget|fail|hesitate|omit|skip|mind|miss|afraid)\b", re.IGNORECASE)
FORBIDDEN_AFTER: Final = re.compile(
    r"[`'\"\s]*(?:is|are|was|must|should|may|can|will|shall)\s+(?:be\s+)?"
    r"(?:never|not|forbidden|prohibited|refused|rejected|blocked|disallowed|banned|off[ -]limits)\b",
    re.IGNORECASE,
)


class Snippet(NamedTuple):
    """A piece of text that might be a command, and the line that it begins on."""

    text: str
    line: int


def snippets(text: str) -> Iterator[Snippet]:
    """Yield what of a text might be destructive commands, without what its sentences forbid."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if is_risky(plain):
        yield from (snippet for snippet in _all(plain) if is_risky(snippet.text))


def _all(plain: str) -> Iterator[Snippet]:
    prose = yield from _blocks(plain)
    lines = _Lines(prose)
    for found in INLINE.finditer(prose):
        if not _is_forbidden(prose, found.start(), found.end()):
            yield Snippet(found[2].replace("\n", " "), lines.at(found.start()))
    yield from _sentences(INLINE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), prose), prose)


class _Lines:
    """Counts the lines of a text up to places that are asked for in their order."""

    def __init__(self, text: str) -> None:
        self.text, self.line, self.done = text, 1, 0

    def at(self, place: int) -> int:
        self.line += self.text.count("\n", self.done, place)
        self.done = place
        return self.line


def _blocks(text: str) -> Generator[Snippet, None, str]:
    """Yield code blocks and lines after a prompt; return the text with those blanked out, line for line."""
    kept: list[str] = []
    block: list[str] = []
    fence = language = said = ""  # said: the last line of prose that is not blank
    begun, forbidden = 0, False
    for number, line in enumerate(text.split("\n"), 1):
        if fence == INDENT and not INDENTED.match(line):
            yield from () if forbidden else _block(block, begun, language)
            fence = ""
        opened = FENCE.match(line)
        if fence:
            if fence != INDENT and opened is not None and opened[1].startswith(fence) and not opened[2]:
                yield from () if forbidden else _block(block, begun, language)
                fence = ""
            else:
                block.append(line)
            kept.append("")
        elif opened is not None:
            fence, language, begun, block = opened[1], opened[2].lower(), number + 1, []
            forbidden = _announced(said)
            kept.append("")
        elif (prompt := PROMPT.match(line)) is not None:
            yield Snippet(prompt[1], number)
            kept.append("")
        elif line.strip() and not (kept and kept[-1].strip()) and INDENTED.match(line) and not IN_A_LIST.match(said):
            fence, language, begun, block = INDENT, "", number, [line]
            forbidden = _announced(said)
            kept.append("")
        else:
            kept.append(line)
            said = line if line.strip() else said
    if fence and not forbidden:
        yield from _block(block, begun, language)
    return "\n".join(kept)


def _announced(before: str) -> bool:
    """Tell whether the sentence that leads to a block forbids what is in it."""
    last = before.rstrip()
    return last.endswith(":") and _forbids(CLAUSE.split(last[:-1])[-1] or "")


def _block(lines: list[str], begun: int, language: str) -> Iterator[Snippet]:
    """Yield a code block: whole where a shell would read it, else the commands that its lines name."""
    prompts = [(number, found[1]) for number, line in enumerate(lines, begun) if (found := PROMPT.match(line))]
    if prompts:
        for number, line in prompts:
            yield Snippet(line, number)
    elif language in SHELL_LANGUAGES:
        yield Snippet("\n".join(lines), begun)
    else:
        for number, line in enumerate(lines, begun):
            for found in HEAD.finditer(line):
                yield Snippet(line[found.start() :].rstrip("\"',)]};"), number)


def _sentences(text: str, whole: str) -> Iterator[Snippet]:
    """Yield what follows the name of a risky program, to the end of its line or sentence."""
    lines = _Lines(text)
    for found in HEAD.finditer(text):
        rest = text[found.start() : found.start() + LONGEST].partition("\n")[0]
        rest = re.split(r"(?<=[^\s.])[.!?](?=\s|$)|[,:](?=\s)|\s{3,}|\s[\u2013\u2014]\s", rest, maxsplit=1)[0]
        if not _is_forbidden(whole, found.start(), found.start() + len(rest)):
            yield Snippet(rest.rstrip(" .!?\"')]"), lines.at(found.start()))


def _is_forbidden(text: str, start: int, end: int) -> bool:
    clause = CLAUSE.split(text[max(0, start - LONGEST) : start])[-1] or ""
    return _forbids(clause) or FORBIDDEN_AFTER.match(text[end : end + 80]) is not None


def _forbids(clause: str) -> bool:
    """Tell whether a clause forbids what comes next by the words before it; what a condition denies is left out."""
    said = CONDITION.sub(" ", clause)
    if URGES.search(said):
        return False
    return FORBIDS.search(said) is not None or FORBIDS_NEXT.search(LISTED.sub(" ", said) + " ") is not None
