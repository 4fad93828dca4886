"""Measure Memento beside its peers: `python benchmarks/run.py [--quick] [--only NAME ...]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cases_bulk import bulk
from cases_bytes import grown
from cases_change import change, code
from cases_parallel import parallel
from cases_start import start
from cases_status import status
from ground import Ground
from measure import call, environment
from peers import Peers
from table import TITLES, header, line, rendered, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from measure import Row

ROOT: Final = Path(__file__).resolve().parent.parent
CASES: Final[dict[str, Callable[[Ground], list[Row]]]] = {
    "start": start,
    "change": change,
    "code": code,
    "status": status,
    "bytes": grown,
    "parallel": parallel,
    "bulk": bulk,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one round: does everything work?")
    parser.add_argument("--only", action="append", choices=[*CASES], help="this case; repeatable")
    parser.add_argument("--work", type=Path, help="keep environments and repositories here")
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=None,
                        help="rewrite docs/benchmarks.md; without --quick and --only it is the default")  # fmt: skip
    return parser.parse_args()


def main() -> int:
    """Measure what was asked for; print it, and write the table."""
    options = arguments()
    if options.work:
        return measure(options, options.work.resolve())
    with tempfile.TemporaryDirectory(prefix="memento-bench-", ignore_cleanup_errors=True) as folder:
        return measure(options, Path(folder))


def measure(options: argparse.Namespace, folder: Path) -> int:
    env = environment(folder / "home")
    peers = Peers(folder / "programs", ROOT, env)
    ground = Ground(folder, peers, env, quick=options.quick)
    measured: dict[str, list[Row]] = {}
    for name in options.only or CASES:
        started = time.monotonic()
        measured[name] = CASES[name](ground)
        took = time.monotonic() - started
        print(f"\n## {TITLES[name]} ({took:.0f} s)", *map(line, measured[name]), sep="\n", flush=True)
    head = header(call(["git", "--version"], folder, env).strip(), peers.versions, quick=options.quick)
    print(f"\n{head}")
    if options.write or (options.write is None and not options.quick and not options.only):
        rewrite(ROOT / "docs" / "benchmarks.md", rendered(measured, head))
    return 0


if __name__ == "__main__":
    sys.exit(main())
