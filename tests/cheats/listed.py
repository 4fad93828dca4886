"""Which tests of the folder may leave doors out, and why; every other one fails that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cheats.doors import HANDS, VERBS

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

LISTED: dict[str, str] = {}


class DoorsMissed(AssertionError):
    """A test tried a cheat neither at all doors of verbs nor at all of what is written by hand."""


def missed(test: str, walked: AbstractSet[str]) -> None:
    """Raise where a test went through neither set of doors, or went through one although it is listed."""
    whole = [doors for doors in (VERBS, HANDS) if walked.issuperset(doors)]
    if test in LISTED and whole:
        message = f"{test} goes through {', '.join(whole[0])}: take it off the list"
        raise DoorsMissed(message)
    if test not in LISTED and not whole:
        message = f"{test} goes through {', '.join(sorted(walked)) or 'no door'} only; see tests/cheats/doors.py"
        raise DoorsMissed(message)
