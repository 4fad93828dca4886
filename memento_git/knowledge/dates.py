"""Dates, as records bear them and as questions write them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH: Final = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS) + "|sept"
_ISO: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_WHEN: Final = re.compile(
    rf"\b(?:when|(?:what|which) (?:date|day|night|week|month|year)|in (?:{'|'.join(MONTHS)}))\b", re.IGNORECASE
)


class Written(NamedTuple):
    """A date with the name of its month: where that stands, where the day does (or -1), and what records have of it."""

    month: int
    day: int
    name: str
    numbers: tuple[str, ...]


def of_record(time: str) -> tuple[str, ...]:
    """Return the day, month and year of a time (ISO 8601), and the month's name; nothing where it is no time."""
    match = _ISO.match(time)
    if match is None or not 1 <= int(match[2]) <= len(MONTHS):
        return ()
    year, month, day = match.groups()
    return (year + month + day, year + month, year, MONTHS[int(month) - 1])


def asks_when(question: str) -> bool:
    """Tell whether a question asks when something was, or names a date or a month."""
    return any(pattern.search(question) for pattern in (_WHEN, _ISO)) or next(written(question), None) is not None


def written(text: str) -> Iterator[Written]:
    """Yield the dates that a text writes with a month's name and a day, a year, or both; the name may be short."""
    for match in _date().finditer(text):
        month = next(at for at, name in enumerate(MONTHS) if name[:3] == match["month"][:3].lower())
        place = "first" if match["first"] else "second"
        if not match[place] and not match["year"]:
            continue
        number = f"{match['year']}{month + 1:02}" if match["year"] else ""
        numbers = (number + match[place].zfill(2), number) if number and match[place] else (number,) if number else ()
        yield Written(match.start("month"), match.start(place), MONTHS[month], numbers)


@cache
def _date() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:(?P<first>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?[ -]+(?:of )?)?(?P<month>{_MONTH})\b\.?"
        r"(?:[ -]+(?P<second>[0-9]{1,2})(?:st|nd|rd|th)?\b)?(?:,?[ -]+(?P<year>(?:19|20)[0-9]{2})\b)?",
        re.IGNORECASE,
    )
