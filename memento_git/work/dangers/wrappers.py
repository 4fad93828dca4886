"""Programs that start another program or read a script: what they would really start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from memento_git.work.dangers.argv import ASSIGNMENT, options, program
from memento_git.work.dangers.shell import UNKNOWN, Call, spoken

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash"})


class Wrapper(NamedTuple):
    """Options that take a value, how many words come before the command, whether assignments do."""

    valued: tuple[str, ...] = ()
    skip: int = 0
    assigns: bool = False


WRAPPERS: Final = {
    "sudo": Wrapper(("-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-r", "-t", "-U", "--user", "--group", "--chdir"),
                    assigns=True),
    "doas": Wrapper(("-u", "-C")),
    "env": Wrapper(("-u", "-C", "--unset", "--chdir"), assigns=True),
    **dict.fromkeys((
        "nohup", "setsid", "command", "builtin", "coproc", "busybox", "toybox", "chronic", "unbuffer",
    ), Wrapper()),
    "time": Wrapper(("-f", "-o", "--format", "--output")),
    "nice": Wrapper(("-n", "--adjustment")),
    "ionice": Wrapper(("-c", "-n", "-p")),
    **dict.fromkeys(("timeout", "gtimeout"), Wrapper(("-s", "-k", "--signal", "--kill-after"), 1)),
    "stdbuf": Wrapper(("-i", "-o", "-e")),
    "exec": Wrapper(("-a",)),
    "caffeinate": Wrapper(("-t", "-w")),
    "pkexec": Wrapper(("--user",)),
    "chroot": Wrapper(("--userspec", "--groups"), 1),
    "flock": Wrapper(("-w", "-E", "--timeout"), 1),
    "strace": Wrapper(("-e", "-o", "-p", "-s", "-u")),
    "watch": Wrapper(("-n", "--interval")),
    "ssh": Wrapper(("-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-o", "-p", "-R", "-W"), 1),
    "su": Wrapper(("-s", "-g", "-w", "--shell", "--group")),
    "xargs": Wrapper(("-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "--max-args", "--max-procs", "--delimiter",
                      "--arg-file", "--max-lines", "--max-chars")),
    "parallel": Wrapper(("-j", "--jobs", "-a", "-N")),
}  # fmt: skip
INTERPRETERS: Final = re.compile(r"(?:python|perl|ruby|node|php)[\d.]*")
SCRIPT_LETTER: Final = frozenset({"su", "flock", "script"})
JOINING: Final = frozenset({"ssh", "watch"})
LOCAL: Final = frozenset({"cat", "sed", "awk", "head", "tail", "grep", "cut", "tr", "sort"})


class Inner(NamedTuple):
    """What a call starts besides itself: other calls, and texts that a shell will read."""

    calls: tuple[Call, ...] = ()
    scripts: tuple[str, ...] = ()
    unseen: str = ""


def inner(call: Call) -> Inner:  # noqa: PLR0911 (one line for each family of programs)
    """Return what a call leads to."""
    name, rest = program(call.words[0]), call.words[1:]
    if name in SHELLS:
        return _shell(call, rest)
    if INTERPRETERS.fullmatch(name):
        return _interpreter(call, rest)
    if name in ("eval", "alias", "trap", "source", "."):
        return _builtin(name, call, rest)
    if name in SCRIPT_LETTER and (script := _script(rest)):
        return Inner(scripts=(script,))
    if name == "env" and (script := _split(rest)):
        return Inner(scripts=(script,))
    if name == "find":
        return Inner(tuple(call.only(*words) for words in _executed(rest)))
    if name in WRAPPERS:
        return _wrapped(name, call, rest)
    return Inner()


def _wrapped(name: str, call: Call, rest: Sequence[str]) -> Inner:
    if name == "command" and rest and re.fullmatch(r"-[pvV]*[vV][pvV]*", rest[0]):
        return Inner()
    words = _after(WRAPPERS[name], rest)
    if name in ("xargs", "parallel"):
        words = (*words, UNKNOWN) if words else ()
    if name in JOINING and words:
        return Inner(scripts=(" ".join(words),))
    return Inner((call.only(*words),) if words else ())


def _after(wrapper: Wrapper, rest: Sequence[str]) -> tuple[str, ...]:
    """Return the words from the wrapped command on."""
    skip, at = wrapper.skip, 0
    while at < len(rest):
        word = rest[at]
        if word == "--":
            at += 1
            return tuple(rest[at + skip :])
        if word.startswith("-") and len(word) > 1:
            at += 1 + (word in wrapper.valued)
        elif wrapper.assigns and ASSIGNMENT.fullmatch(word):
            at += 1
        elif skip:
            skip, at = skip - 1, at + 1
        else:
            break
    return tuple(rest[at:])


def _shell(call: Call, rest: Sequence[str]) -> Inner:
    """Return what a shell would read: the text after -c, or its input."""
    found = options(rest, "oO", ("rcfile", "init-file", "command"))
    script = found.value("command")
    if "c" in found.letters and found.words:
        script = found.words[0]
    if script:
        return Inner(scripts=(script,), unseen=_fetched(call) if UNKNOWN in script else "")
    files = [word for word in found.words if word != "-"]
    if files and "s" not in found.letters:
        return Inner(unseen=_fetched(call) if UNKNOWN in files[0] else "")
    if call.input is not None:
        return Inner(scripts=(call.input,))
    if not call.before:
        return Inner()
    said = spoken(call.before[-1])
    return Inner(unseen=_piped(call)) if said is None else Inner(scripts=(said,))


def _piped(call: Call) -> str:
    """Return whose output is read as a program, or nothing where it is a file's."""
    programs = [program(one.words[0]) for one in call.before if one.words]
    unseen = [one for one in programs if one not in LOCAL]
    return f"the output of {unseen[0].replace(UNKNOWN, 'a command')}" if unseen else ""


def _interpreter(call: Call, rest: Sequence[str]) -> Inner:
    """Return what an interpreter of another language would read without anybody seeing it."""
    if any(word != "-" for word in rest):
        return Inner(unseen=_fetched(call) if UNKNOWN in rest[0] else "")
    return Inner(unseen=_piped(call) if call.before and spoken(call.before[-1]) is None else "")


def _fetched(call: Call) -> str:
    fetching = [name for name in call.within if program(name) in FETCHING]
    return f"the output of {program(fetching[0])}" if fetching else ""


FETCHING: Final = frozenset(
    {"curl", "wget", "fetch", "http", "https", "nc", "ncat", "base64", "base32", "xxd", "openssl"}
)


def _builtin(name: str, call: Call, rest: Sequence[str]) -> Inner:
    if name == "eval":
        return Inner(scripts=(" ".join(rest),), unseen=_fetched(call))
    if name == "trap":
        return Inner(scripts=tuple(rest[:1]))
    if name == "alias":
        return Inner(scripts=tuple(word.partition("=")[2] for word in rest if "=" in word))
    return Inner(unseen=_fetched(call))


def _script(rest: Sequence[str]) -> str:
    found = options(rest, "cws", ("command",))
    return found.value("c") or found.value("command")


def _split(rest: Sequence[str]) -> str:
    """Return what `env -S` would split into words."""
    for at, word in enumerate(rest):
        if word.startswith(("-S", "--split-string")):
            value = word.removeprefix("-S").removeprefix("--split-string").removeprefix("=")
            return " ".join([value, *rest[at + 1 :]])
        if not word.startswith("-") and not ASSIGNMENT.fullmatch(word):
            break
    return ""


def _executed(rest: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the commands that `find` would run."""
    words = iter(rest)
    for option in words:
        if option in ("-exec", "-execdir", "-ok", "-okdir"):
            command = tuple(takewhile(lambda word: word not in (";", "+"), words))
            yield from [tuple(UNKNOWN if word == "{}" else word for word in command)] if command else []
