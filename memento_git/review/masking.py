"""What is told to others, without the secrets that stand in what it tells."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from memento_git.texts.secrets import find_in_words, find_secrets, listed, redact_parts, redact_words, slug

if TYPE_CHECKING:
    from memento_git.model.finding import Finding
    from memento_git.model.rows import Row
    from memento_git.model.run_rows import RunRows

WORDS: Final = "words"
COMMANDS: Final = ("command", "run")  # keys of what is kept word by word
NO_SECRET: Final = re.compile(r"[a-z_.]*|[a-z]+_[0-9a-z]{12}|[0-9TZ:.-]+|[0-9a-f]{12,64}")  # a word, id, time or digest


def of_diff(told: Row, allowed: Collection[str]) -> Row:
    """Return a diff without secrets, but for those that the policy which judges it lets through."""
    return dict(without_secrets(told, _rules(allowed)))


def of_report(held: RunRows, allowed: Collection[str]) -> RunRows:
    """Return what a report tells without secrets, but for those that policy lets through."""
    return cast("RunRows", without_secrets(held, _rules(allowed)))


def of_findings(found: Sequence[Finding], allowed: Collection[str]) -> list[Finding]:
    """Return findings that quote no secret, in what they say and in what mends them, but for those of policy."""
    rules = _rules(allowed)
    return [one._replace(message=_line(one.message, rules), fix=_line(one.fix, rules)) for one in found]


def without_secrets(told: Any, rules: frozenset[str]) -> Any:
    """Return rows in whose texts a note stands in the place of every secret."""
    if isinstance(told, str):
        return told if NO_SECRET.fullmatch(told) else _line(told, rules)
    if isinstance(told, dict):
        if "field" in told and WORDS in told:
            return {**told, WORDS: _pieces(told[WORDS], rules)}
        return {
            key: [*_command((*one,), rules)]
            if key in COMMANDS and isinstance(one, list)
            else without_secrets(one, rules)
            for key, one in told.items()
        }
    return [without_secrets(one, rules) for one in told] if isinstance(told, list | tuple) else told


@lru_cache(maxsize=16_384)
def _command(words: tuple[str, ...], rules: frozenset[str]) -> Sequence[str]:
    """Return a command without secrets, which it may name in a word before them."""
    return words if all(slug(one.rule) in rules for one in find_in_words(words)) else redact_words(words)


@lru_cache(maxsize=16_384)
def _line(text: str, rules: frozenset[str]) -> str:
    """Return a text of a row without secrets; many rows say the same."""
    return _told([text], rules)[0]


def _pieces(words: list[Row], rules: frozenset[str]) -> list[Row]:
    """Return the pieces of a word diff; what is a secret in the older or the newer text is none in its pieces."""
    from memento_git.review.word_diff import ADDED, REMOVED

    kept = [dict(one) for one in words]
    for other in (REMOVED, ADDED):
        side = [one for one in kept if one["change"] != other]
        for one, text in zip(side, _told([one["text"] for one in side], rules), strict=True):
            one["text"] = text
    return kept


def _told(parts: Sequence[str], rules: frozenset[str]) -> list[str]:
    """Return the parts of a text, each without what is a secret with all of them in view."""
    text = "".join(parts)
    of_words = listed(text)
    found = {one.rule for one in find_secrets(text)} | {one.rule for one in of_words}
    if rules.issuperset(map(slug, found)):
        return list(parts)
    places, at = [], 0
    for part in parts:
        places.append((at, at + len(part)))
        at += len(part)
    return redact_parts(text, places, of_words)[0]


def _rules(names: Collection[str]) -> frozenset[str]:
    return frozenset(map(slug, names))
