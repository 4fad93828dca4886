"""Times as the ledger writes them: UTC, milliseconds, comparable as text."""

from __future__ import annotations

import re
import time
from typing import Final

from memento_git.errors import Misused, Refused

STAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
DURATION: Final = r"(0{0,8}[0-9]{1,9})\s*(s|m|h|d)"
AHEAD: Final = 300
LAST: Final = 253402300799  # the last second of the year 9999: no record holds a later time
SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class DurationInvalid(Misused):
    token = "duration_invalid"
    sentence = "{given!r} is not a length of time"
    hint_ = "write a number and s, m, h or d, for example 90m"


class ClockUnfit(Refused):
    token = "clock_unfit"
    sentence = "the clock tells a time that cannot be written down: {seconds} seconds since 1970"
    hint_ = "set the clock of this machine"


def now_of(seconds: float) -> str:
    """Return what a clock tells as the ledger writes times; refuse what is in no year of four digits."""
    try:
        told = stamp(seconds)
    except (OverflowError, ValueError, OSError):
        told = ""
    if STAMP.fullmatch(told) is None:
        raise ClockUnfit(seconds=seconds)
    return told


def stamp(seconds: float) -> str:
    """Return seconds since 1970 as `2026-11-21T21:02:13.377Z`."""
    milliseconds = round(seconds * 1000)
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
    return f"{whole}.{milliseconds % 1000:03d}Z"


def instant(text: str) -> str:
    """Return an ISO date or time as the ledger writes times; one without a zone is UTC. Any other text: ValueError."""
    from datetime import UTC, datetime

    there = datetime.fromisoformat(text)
    try:
        moved = there.replace(tzinfo=there.tzinfo or UTC).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(text) from error
    return moved.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def is_ahead(at: str, now: str) -> bool:
    """Tell whether a time is later than now by more than clocks may differ."""
    return at > now and at > stamp(seconds_of(now) + AHEAD)


def seconds_of(text: str) -> float:
    """Return the seconds since 1970 of a schema-checked time."""
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def is_duration(text: str) -> bool:
    """Tell whether a text names a length of time."""
    return re.fullmatch(DURATION, text.strip()) is not None


def duration(text: str) -> int:
    """Return the seconds of `90s`, `15m`, `1h` or `2d`."""
    match = re.fullmatch(DURATION, text.strip())
    if match is None:
        raise DurationInvalid(given=text)
    return int(match[1]) * SECONDS[match[2]]


def lasting(text: str) -> int:
    """Return the seconds of a length of time that is not over at once."""
    if seconds := duration(text):
        return seconds
    raise DurationInvalid(given=text)


def file_stamp(text: str) -> str:
    """Return the form of a time that a file name carries: `20261121T210213377Z`."""
    return text.replace("-", "").replace(":", "").replace(".", "")
