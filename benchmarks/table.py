"""The table in docs/benchmarks.md: rewritten between two markers."""

from __future__ import annotations

import os
import platform
import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from measure import Row

START: Final = "<!-- measured: written by benchmarks/run.py -->"
END: Final = "<!-- /measured -->"
TITLES: Final = {
    "start": "Starting",
    "change": "One state change, a whole process",
    "code": "One state change beside many code files",
    "status": "Reading a large run",
    "bytes": "Loose bytes of one change",
    "parallel": "Writers in parallel",
    "bulk": "Much at once",
}


def number(value: float, unit: str) -> str:
    if unit == "ms":
        return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"
    return f"{value:,.1f} {unit}" if unit == "KB" else f"{value:,.0f} {unit}"


def line(row: Row) -> str:
    limit = "" if row.limit is None else f"{'>=' if row.more_is_better else '<='} {row.limit:g}"
    if row.limit is not None and row.absolute:
        limit += f" {row.unit}"
    met = {None: "", True: "met", False: "**not met**"}[row.met]
    cells = (row.what, number(row.ours, row.unit), row.peer_name, number(row.peer, row.unit), f"{row.ratio:.2f}", limit,
             met, str(row.samples))  # fmt: skip
    return f"| {' | '.join(cells)} |"


def table(rows: Sequence[Row]) -> list[str]:
    return ["| what | ours | peer | theirs | ratio | limit | | N |", "|---|---:|---|---:|---:|---:|---|---:|",
            *(line(row) for row in rows)]  # fmt: skip


def header(git: str, versions: Mapping[str, str], *, quick: bool) -> str:
    peers = ", ".join(f"{name} {version}" for name, version in versions.items())
    day = datetime.now(UTC).date().isoformat()
    tiny = " **A smoke test with tiny sizes: the numbers say nothing.**" if quick else ""
    machine = f"{git}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}"
    return textwrap.fill(
        f"Measured {day}: {machine}; {peers or 'no peer'}.{tiny}", 120, break_long_words=False, break_on_hyphens=False
    )


def rendered(measured: Mapping[str, Sequence[Row]], head: str) -> str:
    parts = [head]
    for name, rows in measured.items():
        parts += ["", f"### {TITLES[name]}", "", *table(rows)]
    return "\n".join(parts)


def rewrite(path: Path, text: str) -> None:
    """Put the text between the markers of a file."""
    whole = path.read_text(encoding="utf-8")
    before, _, rest = whole.partition(START)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{START}\n\n{text}\n\n{END}{after}", encoding="utf-8")
