"""What imports cost: `python benchmarks/profile_start.py [--workspace LEDGER]`, by `-X importtime`, medians.

It uses the memento_git that the interpreter it runs under imports. Without a workspace it makes a small ledger.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from ground import Ground
from measure import environment, seconds
from peers import Peers

RUNS: Final = 7
MOST: Final = 12
ROOT: Final = Path(__file__).resolve().parent.parent
LINE: Final = re.compile(rb"import time:\s+(\d+) \|\s+(\d+) \| ( *)(\S+)")
COMMANDS: Final = (["--help"], ["status"], ["task", "add", "--title", "One more"])
ENTRY: Final = "from memento_git.__main__ import main; main()"
GROUPS: Final = {"memento_git": "ours", "click": "click", "yaml": "yaml", "subprocess": "subprocess", "json": "json"}


def imports(arguments: list[str], folder: Path, env: dict[str, str]) -> list[tuple[int, str, int, int]]:
    """Return (depth, module, own microseconds, microseconds with what it imported) in the order of importing."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", ENTRY, *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        check=True,
    )
    return [
        (len(found[3]) // 2, found[4].decode(), int(found[1]), int(found[2])) for found in LINE.finditer(done.stderr)
    ]


def by_group(lines: list[tuple[int, str, int, int]]) -> dict[str, float]:
    """Return the milliseconds of each package; what a package pulled in from elsewhere counts for it."""
    total: dict[str, float] = {}
    owners: list[tuple[int, str]] = []
    for depth, module, own, _ in reversed(lines):  # a module is told after what it imported
        owners = [owner for owner in owners if owner[0] < depth]
        group = GROUPS.get(module.partition(".")[0])
        if group is None or group == "ours":
            group = group or (owners[-1][1] if owners and owners[-1][1] != "ours" else "standard library")
        owners.append((depth, group))
        total[group] = total.get(group, 0.0) + own / 1000
    return total


def main() -> None:
    """Print, for each command, the whole, the bare interpreter, groups of imports and the dearest modules."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workspace", type=Path, help="a repository with a ledger")
    with tempfile.TemporaryDirectory(prefix="memento-start-") as made:
        env = environment(Path(made) / "home")
        ground = Ground(Path(made), Peers(Path(made), ROOT, env), env, quick=True)
        folder = parser.parse_args().workspace or ground.ledger(10)
        bare = _median_ms([sys.executable, "-c", "pass"], folder, env)
        print(f"python -c pass: {bare:.0f} ms")
        for arguments in COMMANDS:
            _tell(arguments, folder, env, bare)


def _median_ms(command: list[str], folder: Path, env: dict[str, str]) -> float:
    def step() -> None:
        subprocess.run(command, cwd=folder, env=env, capture_output=True, check=True)

    return median(seconds(step) * 1000 for _ in range(RUNS))


def _tell(arguments: list[str], folder: Path, env: dict[str, str], bare: float) -> None:
    whole = _median_ms([sys.executable, "-c", ENTRY, *arguments], folder, env)
    runs = [imports(arguments, folder, env) for _ in range(RUNS)]
    groups = [by_group(lines) for lines in runs]
    print(f"\nmemento {' '.join(arguments)}: {whole:.0f} ms, {whole / bare:.1f} times the bare interpreter")
    print("  imports, each with what it alone pulled in from the standard library (importtime itself slows them):")
    for name in sorted(groups[0], key=lambda group: -groups[0][group]):
        print(f"    {name:<18}{median(group.get(name, 0.0) for group in groups):6.1f} ms")
    own: dict[str, list[int]] = {}
    for lines in runs:
        for _, module, spent, _ in lines:
            own.setdefault(module, []).append(spent)
    dearest = sorted(own, key=lambda module: -median(own[module]))[:MOST]
    print("  dearest modules by themselves:", ", ".join(f"{name} {median(own[name]) / 1000:.1f}" for name in dearest))


if __name__ == "__main__":
    main()
