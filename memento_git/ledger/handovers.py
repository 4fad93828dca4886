"""What this machine knows of dispatches that it works on: their work trees and worker processes; never committed."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.ledger import atomic_file, lock, processes
from memento_git.ledger.processes import Process
from memento_git.model.ids import is_id

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from memento_git.ledger.git import Git

TIMEOUT: Final = 60.0


class Handover(NamedTuple):
    """One dispatch that is worked on here: where, by which processes, since when; no `worker` where nobody runs it."""

    dispatch: str
    task: str
    run: str
    executor: str
    since: str
    path: str
    branch: str
    base: str = ""
    worker: Process | None = None
    child: Process | None = None
    machine: str = ""

    @property
    def is_ours(self) -> bool:
        """Tell whether it was written on this machine: another one's processes cannot be seen from here."""
        return self.machine == platform.node()

    @property
    def is_live(self) -> bool:
        """Tell whether its worker may be running; of another machine's nobody here knows better."""
        return self.worker is not None and (not self.is_ours or processes.is_alive(self.worker))

    @property
    def is_others(self) -> bool:
        """Tell whether another process than this one may be at work on it."""
        return self.is_live and not (self.is_ours and self.worker and self.worker.pid == os.getpid())

    @property
    def is_dead(self) -> bool:
        """Tell whether it had a worker on this machine that is no more."""
        return self.worker is not None and self.is_ours and not processes.is_alive(self.worker)


def folder_of(git: Git) -> Path:
    return git.common_dir / "memento" / "handovers"


def _path(git: Git, dispatch: str) -> Path:
    return folder_of(git) / f"{dispatch}.json"


def brief_path(git: Git, dispatch: str) -> Path:
    return folder_of(git) / f"{dispatch}.md"


def held(git: Git) -> AbstractContextManager[None]:
    """Hold what is known of handovers while it is looked at and changed."""
    return lock.held(git.common_dir / "memento" / "handovers.lock", TIMEOUT)


def write(git: Git, handover: Handover) -> None:
    """Write down, durably, what is known of a dispatch."""
    told = {**handover._asdict(), "machine": handover.machine or platform.node()}
    with lock.writing():
        atomic_file.write(_path(git, handover.dispatch), json.dumps(told).encode(), durable=True)


def write_brief(git: Git, dispatch: str, text: str) -> None:
    """Write the brief that a worker reads."""
    path = brief_path(git, dispatch)
    with lock.writing():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def forget(git: Git, dispatch: str) -> None:
    """Remove what is known of a dispatch."""
    for path in (brief_path(git, dispatch), _path(git, dispatch)):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def read(git: Git, dispatch: str) -> Handover | None:
    """Return what is known of a dispatch; None where it is nothing, or nothing that can be read."""
    try:
        found: Any = json.loads(_path(git, dispatch).read_bytes())
        found["worker"], found["child"] = _process(found["worker"]), _process(found["child"])
        handover = Handover(**found)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    texts = (handover.task, handover.run, handover.executor, handover.since, handover.path, handover.branch)
    fit = handover.dispatch == dispatch and all(isinstance(text, str) for text in (*texts, handover.base))
    return handover if fit and handover.path else None


def _process(given: Any) -> Process | None:
    return Process(int(given[0]), float(given[1])) if given else None


def listed(git: Git) -> list[Handover]:
    """Return all that can be read, in the order of their dispatches' ids."""
    try:
        names = sorted(name.removesuffix(".json") for name in os.listdir(folder_of(git)) if name.endswith(".json"))  # noqa: PTH208
    except FileNotFoundError:
        return []
    return [found for name in names if is_id(name, "dispatch") and (found := read(git, name)) is not None]
