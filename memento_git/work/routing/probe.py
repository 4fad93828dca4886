"""Asking executors whether they can work now: whether the program is there, and what its health command says.

One with a sandbox is asked inside of it, in a folder that is thrown away, so that the sandbox is tried, too.
"""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memento_git.ledger import scratch
from memento_git.texts.secrets import redact_words
from memento_git.work.routing.executors import NO_WRAP, Executor, fill
from memento_git.work.running import capture

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from memento_git.model.objection import Objection

TIMEOUT: Final = 10.0
TRIAL: Final = ("true",)
AT_ONCE: Final = 8
KEEP: Final = 512
ABSENT: Final = "is not on PATH"


def ailments(executors: Iterable[Executor], folder: Path, ask: Container[str]) -> dict[str, str]:
    """Return why executors cannot work now, by name; only of those in `ask` the health command is started."""
    known = list(executors)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = pool.map(lambda one: ailment(one, folder, ask=one.name in ask), known)
        return {one.name: why for one, why in zip(known, told, strict=True) if why}


def ailment(executor: Executor, folder: Path, *, ask: bool) -> Objection:
    """Return why one executor cannot work now, or nothing."""
    if executor.wrap:
        return boxed_ailment(executor, folder, ask=ask)
    for argv in (executor.run, executor.health):
        if argv and not _there(argv[0], folder):
            return f"{argv[0]} {ABSENT}" if os.sep not in argv[0] else f"there is no program {argv[0]}"
    return _unwell(executor.health, folder) if ask and executor.health else ""


def boxed_ailment(executor: Executor, folder: Path, *, ask: bool = True) -> Objection:
    """Return why an executor cannot work in its sandbox now, or nothing; `true` is run there where nothing else is."""
    if not executor.wrap:
        return NO_WRAP if executor.is_boxed else ""
    if not _there(executor.wrap[0], folder):
        return f"its sandbox {executor.wrap[0]} is not there"
    if not ask:
        return ""
    with scratch.folder() as aside:
        brief = Path(aside) / "brief.md"
        brief.write_text("A trial.\n", encoding="utf-8")
        values = {"worktree": aside, "brief": str(brief), "task": "task", "dispatch": "dispatch"}
        wrap = fill(executor.wrap, values)
        return _unwell((_placed(wrap[0], folder), *wrap[1:], *(executor.health or TRIAL)), Path(aside))


def _placed(program: str, folder: Path) -> str:
    """Return a program as it is started: a path leads on from the folder, a name is looked for on PATH."""
    return str(folder / program) if os.sep in program else program


def _there(program: str, folder: Path) -> bool:
    return shutil.which(_placed(program, folder)) is not None


def _unwell(health: tuple[str, ...], folder: Path) -> str:
    told = " ".join(redact_words(health))
    argv = [_placed(health[0], folder), *health[1:]]
    try:
        done = capture.run_command(argv, folder, keep=KEEP, timeout=TIMEOUT, silent=True)
    except capture.CommandNotStarted as refusal:
        return refusal.message
    if done.timed_out:
        return f"`{told}` did not answer within {TIMEOUT:g} seconds"
    return f"`{told}` exited with {done.exit}" if done.exit else ""
