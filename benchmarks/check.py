"""Measure `memento check`: a branch against its base, a whole tree, a hook that has nothing to look at.

python benchmarks/check.py [--records 10000] [--changes 20] [--rounds 7] [--processor] [--beside MEMENTO] [--quick]
"""

from __future__ import annotations

import argparse
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ground import ACTOR, add_worked, code_stream, fill
from measure import Clock, Row, call, environment, in_turn, processor_seconds, seconds
from table import line

from memento_git.ledger.store import Ledger
from memento_git.review import actions
from memento_git.work.actions import evidences, hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MEMENTO = Path(sys.executable).with_name("memento")
RECORDS_A_TASK = 4.5
SMALL = 50
PROGRESS_FROM = 1000
IMPORTS = (
    "import gc; gc.disable();"
    "from memento_git.cli import main, check; from memento_git.review import actions, formats;"
    "from memento_git.ledger import yamltext; from memento_git.texts import secrets;"
    "gc.freeze()"
)


def repository(folder: Path, env: Mapping[str, str], records: int, changes: int) -> None:
    """Make a ledger of so many records on main, and a branch that adds to it."""
    call(["git", "init", "-q", str(folder)], folder.parent, env)
    call(["git", "fast-import", "--quiet"], folder, env, b"".join(code_stream(500)))
    call(["git", "reset", "-q", "--hard", "main"], folder, env)
    run = fill(folder, int(records / RECORDS_A_TASK), worked=True)
    call(["git", "gc", "-q"], folder, env)
    call(["git", "switch", "-qc", "work"], folder, env)
    with Ledger.open(folder, actor=ACTOR) as ledger:
        draft = evidences.witness(ledger, ["git", "diff", "--quiet"], kind="test", quiet=True)
        for number in range(changes // 5):
            with ledger.transaction("task") as tx:
                add_worked(tx, run, 5 + number, draft)
    call(["git", "reset", "-q", "--hard"], folder, env)


def whole(folder: Path, env: Mapping[str, str], records: int, *, cold: bool) -> tuple[float, int]:
    """Check the whole tree in a process of its own; return its seconds and its greatest memory in bytes."""
    if cold:
        forget(folder)
    ours, theirs = pty.openpty()
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(MEMENTO), "check", "--no-base"], cwd=folder, env=dict(env), stdout=subprocess.DEVNULL, stderr=theirs
    )
    _, status, usage = os.wait4(process.pid, 0)
    os.write(theirs, b"end\n")
    shown = os.read(ours, 2**16)
    os.close(ours)
    os.close(theirs)
    if cold and records > PROGRESS_FROM and b"reading" not in shown:
        raise SystemExit("no progress was shown")
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"check ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def judge(folder: Path) -> None:
    """Check the branch in this process, where everything is imported already."""
    with Ledger.open(folder) as ledger:
        if actions.check(ledger, base="main").has_errors:
            raise SystemExit("the branch has errors")


def against_base(
    folder: Path, env: Mapping[str, str], records: int, changes: int, rounds: int, clock: Clock
) -> list[Row]:
    """Time the check of a branch beside git's own look at it, and what of that is not the check."""
    python = MEMENTO.with_name("python")

    def cold() -> None:
        forget(folder)
        call([MEMENTO, "check", "--base", "main"], folder, env)

    steps = {
        "git": lambda: call(["git", "diff", "--name-only", "main...work"], folder, env),
        "pass": lambda: call([python, "-c", "pass"], folder, env),
        "import": lambda: call([python, "-c", IMPORTS], folder, env),
        "judge": lambda: judge(folder),
        "warm": lambda: call([MEMENTO, "check", "--base", "main"], folder, env),
        "cold": cold,
    }
    found = in_turn(steps, rounds, clock=clock)
    told = {
        "warm": f"check --base, {changes} changes on {records:,} records", "cold": "the same in a fresh clone",
        "pass": "of which `python -c pass`", "import": "of which Python with what check imports",
        "judge": "the check alone, in a process that has imported it",
    }  # fmt: skip
    return [
        Row(
            text,
            found[name].median,
            "`git diff --name-only`",
            found["git"].median,
            3 if name == "warm" else None,
            rounds,
        )
        for name, text in told.items()
    ]


def beside(
    folder: Path, env: Mapping[str, str], other: Path, counts: tuple[int, int], rounds: int, clock: Clock
) -> list[Row]:
    """Time whole processes in turn with those of another installation, each of the two in a ledger that it adds to."""
    records, changes = counts
    staged, small = folder.with_name("staged"), folder.with_name("small")
    shutil.copytree(folder, staged, symlinks=True)
    call(["git", "reset", "-q", "--soft", "main"], staged, env)
    small.mkdir()
    repository(small, env, SMALL, changes)
    commands: dict[str, tuple[Path, list[str]]] = {
        f"check --base, {changes} changes on {records:,} records": (folder, ["check", "--base", "main"]),
        f"check --staged, {changes} changes on {records:,} records": (staged, ["check", "--staged"]),
        f"check of about {SMALL} records": (small, ["check"]),
        "task add": (small, ["task", "add", "--title", "One more"]),
        "evidence add": (small, ["evidence", "add", "--summary", "Seen", "--uri", "https://example.org/"]),
    }
    steps: dict[str, Callable[[], object]] = {}
    for what, (place, arguments) in commands.items():
        for side, program in (("ours", MEMENTO), ("theirs", other)):
            own = small.with_name(f"{place.name}-{side}") if "add" in what else place
            if not own.exists():
                shutil.copytree(place, own, symlinks=True)
            steps[f"{what} {side}"] = partial(call, [program, *arguments], own, env)
    found = in_turn(steps, rounds, clock=clock)
    return [
        Row(what, found[f"{what} ours"].median, "the other", found[f"{what} theirs"].median, None, rounds)
        for what in commands
    ]


def forget(folder: Path) -> None:
    """Remove what was kept of earlier looks."""
    for path in (folder / ".git" / "memento" / "cache").glob("*.json"):
        path.unlink()


def commits(folder: Path, env: Mapping[str, str], rounds: int, clock: Clock) -> Row:
    """Time commits without ledger files, with our hook and without."""
    with Ledger.open(folder) as ledger:
        hooks.install(ledger.git)
    number = 0

    def commit(*options: str) -> None:
        nonlocal number
        number += 1
        (folder / "app.py").write_text(f"answer = {number}\n")
        call(["git", "add", "app.py"], folder, env)
        call(["git", *options, "commit", "-qm", "code"], folder, env)

    found = in_turn({"hook": commit, "none": lambda: commit("-c", f"core.hooksPath={os.devnull}")}, rounds, clock=clock)
    added = found["hook"].median - found["none"].median
    return Row("added by the hook to a commit without ledger files", added, "`git commit`", found["none"].median, 60,
               rounds, absolute=True)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--processor", action="store_true", help="tell time of the processor instead of the clock's")
    parser.add_argument("--beside", type=Path, metavar="MEMENTO", help="another version's program, measured in turn")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one round: does everything work?")
    options = parser.parse_args()
    records, rounds = (50, 1) if options.quick else (options.records, options.rounds)
    with tempfile.TemporaryDirectory(prefix="memento-bench-") as place:
        folder = Path(place) / "repo"
        env = environment(Path(place) / "home")
        env["PATH"] = f"{MEMENTO.parent}{os.pathsep}{env['PATH']}"
        os.environ.update(HOME=env["HOME"], GIT_CONFIG_NOSYSTEM="1")
        repository(folder, env, records, options.changes)
        clock = processor_seconds if options.processor else seconds
        rows = [
            *against_base(folder, env, records, options.changes, rounds, clock), commits(folder, env, rounds, clock)
        ]  # fmt: skip
        if options.beside:
            rows += beside(folder, env, options.beside.absolute(), (records, options.changes), rounds, clock)
        print(*map(line, rows), sep="\n")
        for name, cold in (("cold", True), ("warm", False)):
            took, memory = whole(folder, env, records, cold=cold)
            print(f"whole tree, {name}: {records / took:,.0f} records/s, {memory / 2**20:.0f} MiB at most")
        print(f"load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
