"""How far a long reading is, for whoever waits: it is called with how many are done, of how many, and of what."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

Progress = Callable[[int, int, str], None]
LEDGER: Final = "the ledger"
CODE: Final = "the code"
FILE: Final = "the file"
UNITS: Final = {LEDGER: "files", CODE: "files", FILE: "MiB"}


def untold(done: int, total: int, what: str) -> None:
    """Tell nobody."""


def portions(told: Progress, items: Sequence[T], size: int, few: int = 0, what: str = LEDGER) -> Iterator[Sequence[T]]:
    """Yield items so many at once, and tell before each and at the end; of few nothing is told."""
    tell = told if len(items) > few else untold
    for start in range(0, len(items), size):
        tell(start, len(items), what)
        yield items[start : start + size]
    tell(len(items), len(items), what)
