"""Times as people type them: a date, a time, or a length of time from now."""

from __future__ import annotations

from memento_git.knowledge import refusals as no
from memento_git.model.clock import DURATION, duration, instant, seconds_of, stamp


def moment(where: str, given: str, now: str) -> str:
    """Return the time that a date, a time or a length from now names."""
    text = given.strip()
    if DURATION.fullmatch(text):
        return stamp(seconds_of(now) + duration(text))
    try:
        return instant(text)
    except ValueError:
        raise no.MomentInvalid(where=where, given=given) from None


def past_moment(where: str, given: str, now: str) -> str:
    """Return the time that a date, a time or a length back from now names."""
    text = given.strip()
    return stamp(seconds_of(now) - duration(text)) if DURATION.fullmatch(text) else moment(where, text, now)
