"""Something wrong in the ledger, as data."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One thing that is wrong in a file of the ledger; `line` counts from 1, 0 means the whole file."""

    code: str
    path: str
    line: int
    message: str
    fix: str = ""
    severity: str = "error"

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.code} {self.message}"
