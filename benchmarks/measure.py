"""Timing: whole processes and callables, in turn, so that noise of the machine falls on all alike; medians."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Clock = Callable[[Callable[[], object]], float]
CONFIG: Final = """\
[user]
	name = Bench
	email = bench@example.invalid
[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
[commit]
	gpgSign = false
"""


class Measured(NamedTuple):
    """What one thing took: the median of its samples in milliseconds, and how many there were."""

    median: float
    samples: int


class Row(NamedTuple):
    """One line of the table: values in one unit, the ratio ours / peer, and the most that it may be."""

    what: str
    ours: float
    peer_name: str
    peer: float
    limit: float | None
    samples: int
    unit: str = "ms"
    absolute: bool = False
    more_is_better: bool = False

    @property
    def ratio(self) -> float:
        return self.ours / self.peer if self.peer else 0.0

    @property
    def met(self) -> bool | None:
        """Tell whether the limit holds: on the ratio, or on our own value where the limit is absolute."""
        if self.limit is None:
            return None
        value = self.ours if self.absolute else self.ratio
        return value >= self.limit if self.more_is_better else value <= self.limit


class Failed(Exception):
    """A program of the benchmark ended with an error."""


def environment(home: Path) -> dict[str, str]:
    """Return what every measured program sees: a home of its own, no terminal, no configuration of this machine."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "MEMENTO_", "PYTHON", "VIRTUAL_ENV"))
    }
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(CONFIG, encoding="utf-8")
    return {**kept, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1", "CI": "1"}


def call(arguments: Sequence[str | Path], cwd: Path, env: Mapping[str, str], data: bytes = b"") -> str:
    """Run a program to its end; return what it printed."""
    done = subprocess.run(
        [str(argument) for argument in arguments], cwd=cwd, env=env, input=data, capture_output=True, check=False
    )
    if done.returncode:
        words = (done.stderr or done.stdout).decode(errors="replace").strip()[-600:]
        raise Failed(f"{' '.join(str(argument) for argument in arguments)[:200]}: {words}")
    return done.stdout.decode()


def seconds(step: Callable[[], object]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def processor_seconds(step: Callable[[], object]) -> float:
    """Return what a step takes of the processor, its ended child processes included: for a machine that is busy."""
    before = _processor()
    step()
    return _processor() - before


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def in_turn(
    steps: Mapping[str, Callable[[], object]], rounds: int, *, warm: int = 1, clock: Clock = seconds
) -> dict[str, Measured]:
    """Time each step once a round, all of them in each round; the first rounds only warm the caches."""
    samples: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(warm + rounds):
        for name, step in steps.items():
            took = clock(step) * 1000
            if turn >= warm:
                samples[name].append(took)
    return {name: Measured(median(taken), len(taken)) for name, taken in samples.items()}


def loose_bytes(git_dir: Path) -> int:
    """Return the bytes of all files below `objects`."""
    objects = git_dir / "objects"
    return sum(path.stat().st_size for path in objects.rglob("*") if path.is_file())
