"""How long a claim holds: what may be a lease, when one ends, and whether a renewal is due."""

from __future__ import annotations

from typing import Final

from memento_git.model.clock import SECONDS, DurationInvalid, seconds_of, stamp

LONGEST: Final = 366 * 24 * 3600


class LeaseInvalid(DurationInvalid):
    sentence = "a lease is at least a second, and at most {most}d"


def length_of(lease: int) -> int:
    """Return the length of a lease; refuse what is no length of time that a claim could have."""
    if not 0 < lease <= LONGEST:
        raise LeaseInvalid(most=LONGEST // SECONDS["d"])
    return lease


def end_of(now: str, lease: int) -> str:
    """Return when a lease that begins now ends."""
    return stamp(seconds_of(now) + length_of(lease))


def is_early(now: str, until: str, length: int) -> bool:
    """Tell whether more than half of a lease of some length is left."""
    return bool(until) and seconds_of(until) - seconds_of(now) > length / 2
