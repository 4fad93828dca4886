"""Times as people type them: a date, a time, or a length of time from now."""

from __future__ import annotations

from typing import Final

from memento_git.knowledge import refusals as no
from memento_git.model.clock import duration, instant, is_duration, seconds_of, stamp

FIRST: Final = -30_610_224_000  # the year 1000


def moment(where: str, given: str, now: str) -> str:
    """Return the time that a date, a time or a length from now names."""
    text = given.strip()
    try:
        return instant(stamp(seconds_of(now) + duration(text)) if is_duration(text) else text)
    except (ValueError, OverflowError, OSError):  # a length may lead beyond all years that can be written
        raise no.MomentInvalid(where=where, given=given) from None


def end_of(where: str, given: str, now: str) -> str:
    """Return the time up to which a date, a time or a length back from now counts; a day counts to its end."""
    found = past_moment(where, given, now)
    return found.replace("T00:00:00.000Z", "T23:59:59.999Z") if len(given.strip()) == len("2026-11-22") else found


def past_moment(where: str, given: str, now: str) -> str:
    """Return the time that a date, a time or a length back from now names."""
    text = given.strip()
    return stamp(max(seconds_of(now) - duration(text), FIRST)) if is_duration(text) else moment(where, text, now)
