"""What is destructive among the commands that delete, overwrite or wipe files and disks."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Final

from memento_git.work.dangers.argv import options, program
from memento_git.work.dangers.git_dangers import Breach
from memento_git.work.dangers.shell import UNKNOWN, Call

SYSTEM: Final = frozenset({
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "root", "sbin", "srv", "sys", "usr", "var",
    "Applications", "Library", "System", "Users", "Volumes",
})  # fmt: skip
HARMLESS_DEVICE: Final = re.compile(
    r"/dev/(?:null|zero|full|random|urandom|std(?:in|out|err)|tty\w*|fd/\d+|shm/.+|tcp/.+|udp/.+|pts/\d+)"
)
FILTERS: Final = ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-inum", "-samefile")
REMOVING: Final = frozenset({"rm", "unlink", "shred", "rmdir"})


def judge(call: Call) -> Iterator[Breach]:
    """Yield what is destructive in a call that is not git's."""
    for target in call.writes:
        yield from _written(target)
    if not call.words:
        return
    name, rest = program(call.words[0]), call.words[1:]
    if name.startswith("mkfs") or name in ("mke2fs", "wipefs", "blkdiscard"):
        yield Breach("wipe_device", f"{name} wipes a file system")
    elif name in ("rm", "unlink", "rmdir"):
        yield from _rm(call)
    elif name in RULES:
        yield from RULES[name](rest)


def wide(target: str) -> str:
    """Return what a path that is far too wide to be deleted means, or nothing."""
    path = re.sub(r"/+", "/", target)
    if path.startswith(UNKNOWN + "/") and path[2:] in ("", "*", ".", ".*"):
        return "everything, if the variable is empty"
    clean = posixpath.normpath(_without_globs(path))
    if clean == "." or set(clean) <= {".", "/"}:
        return {".": "the whole folder", "/": "the whole machine"}.get(clean, "a folder above")
    if clean.startswith("~") and "/" not in clean:
        return "a whole home folder"
    parts = clean.strip("/").split("/")
    deep = len(parts) > 2 or (len(parts) == 2 and parts[0] not in SYSTEM)
    return "" if deep or not clean.startswith("/") else "a folder of the system"


def _without_globs(path: str) -> str:
    """Return the folder whose every member a path's last parts stand for, or the path as it is."""
    absolute, parts = path.startswith("/"), [part for part in path.split("/") if part]
    while parts and "*" in parts[-1] and set(parts[-1]) <= set("*?.[]!"):
        parts.pop()
    return ("/" if absolute else "") + "/".join(parts) or "."


def kept(target: str) -> str:
    """Return which of git's and the ledger's folders a path lies in, or nothing."""
    for part in re.split(r"[/\\]+", target.lower()):
        for name in (".git", ".memento"):
            if part == name or (part.startswith(".") and part not in (".", "..", ".*") and fnmatchcase(name, part)):
                return name
    return ""


def _damage(target: str, doing: str) -> Iterator[Breach]:
    if (found := kept(target)) and not (found == ".git" and target.endswith(".lock")):
        rule = "damage_git" if found == ".git" else "damage_ledger"
        yield Breach(
            rule,
            f"it {doing} {target.replace(UNKNOWN, '…')}, which belongs to {'git' if found == '.git' else 'the ledger'}",
        )


def _written(target: str) -> Iterator[Breach]:
    if target.startswith("/dev/") and not HARMLESS_DEVICE.fullmatch(target):
        yield Breach("wipe_device", f"it writes over {target}")
    yield from _damage(target, "overwrites")


def _rm(call: Call) -> Iterator[Breach]:
    found = options(call.words[1:])
    deep = found.has("rR", "recursive")
    for target in found.words:
        meaning = wide(target)
        if meaning and (deep or "*" in target):
            yield Breach("delete_broad", f"it deletes {meaning}")
        yield from _damage(target, "deletes")
        if target == UNKNOWN and call.before and (deep or not _narrow(call)):
            yield Breach("delete_broad", "it deletes whatever another command lists")


def _narrow(call: Call) -> bool:
    """Tell whether what feeds a deletion by xargs was chosen by name."""
    first = call.before[0]
    if not first.words:
        return False
    name = program(first.words[0])
    return (name == "find" and _filtered(first.words[1:])) or name in ("grep", "rg", "fd", "echo", "printf", "cat")


def _filtered(rest: Sequence[str]) -> bool:
    return any(word in FILTERS and value not in ("*", "**", ".*") for word, value in pairwise(rest))


def _find(rest: Sequence[str]) -> Iterator[Breach]:
    starts = []
    for word in rest:
        if word.startswith(("-", "(", "!")):
            break
        starts.append(word)
    removing = "-delete" in rest or any(
        one in ("-exec", "-execdir", "-ok", "-okdir") and program(after) in REMOVING for one, after in pairwise(rest)
    )
    if not removing:
        return
    for start in starts or ["."]:
        yield from _damage(start, "deletes files in")
        meaning = wide(start)
        if meaning and (not _filtered(rest) or meaning not in ("the whole folder", "a folder above")):
            yield Breach("delete_broad", f"it deletes files of {meaning}")


def _dd(rest: Sequence[str]) -> Iterator[Breach]:
    for word in rest:
        if word.startswith("of="):
            yield from _written(word[3:])


def _shred(rest: Sequence[str]) -> Iterator[Breach]:
    if options(rest, "ns").words:
        yield Breach("wipe_device", "shred leaves nothing to recover")


def _truncate(rest: Sequence[str]) -> Iterator[Breach]:
    for target in options(rest, "sr", ("size", "reference")).words:
        if wide(target):
            yield Breach("delete_broad", f"it cuts the files of {wide(target)}")
        yield from _damage(target, "cuts")


def _modes(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest)
    if found.has("R", "recursive"):
        for target in found.words:
            if wide(target) or kept(target):
                yield Breach("change_modes", f"it changes modes or owners in {wide(target) or target}")


def _move(rest: Sequence[str]) -> Iterator[Breach]:
    for target in options(rest, "tS", ("target-directory", "suffix")).words:
        yield from _damage(target, "moves")


def _onto(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "tSmog", ("target-directory", "suffix"))
    for target in (found.value("t") or found.value("target-directory"), *found.words[1:][-1:]):
        yield from _written(target)


def _tee(rest: Sequence[str]) -> Iterator[Breach]:
    for target in options(rest).words:
        yield from _written(target)


def _in_place(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "e", ("expression", "file"))
    if found.has("i", "in-place"):
        for target in found.words:
            yield from _damage(target, "edits")


def _rsync(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "e", ("rsh", "exclude", "include", "filter"))
    if any(name.startswith("del") for name, _ in found.names) and found.words[1:] and wide(found.words[-1]):
        yield Breach("delete_broad", f"it deletes what its source lacks in {wide(found.words[-1])}")
    yield from _onto(rest)


def _gh(rest: Sequence[str]) -> Iterator[Breach]:
    if tuple(rest[:2]) in (("repo", "delete"), ("repo", "archive"), ("release", "delete")):
        yield Breach("delete_remote", f"gh {' '.join(rest[:2])} cannot be taken back")


RULES: Final[dict[str, Callable[[Sequence[str]], Iterator[Breach]]]] = {
    "find": _find, "dd": _dd, "shred": _shred, "truncate": _truncate,
    "chmod": _modes, "chown": _modes, "chgrp": _modes, "mv": _move, "cp": _onto, "install": _onto, "ln": _onto,
    "tee": _tee, "sed": _in_place, "perl": _in_place, "rsync": _rsync, "gh": _gh,
}  # fmt: skip
