"""Find secrets in text that is about to be kept for good.

Three scanners look at a text, and none of them ever uses the network:

* tokens of a known shape are judged by the detectors of the library detect_secrets, and by one of our own for
  makers that it does not know; its import is slow, so a detector is asked only about lines that hold a shape;
* private keys are taken as whole blocks, of which the library knows the first line;
* values assigned to names such as `password` are judged here, because the library's keyword detector takes
  the rest of the line for the value, sees one value a line, and none in a line that says "example".

Detectors of high entropy are left out, as the texts of a ledger are full of digests and ids. So is the one
for IBM Cloud IAM, to which any 44 letters after the word "pass" are a key.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.texts.secret_shapes import LONG_WORD, Span, lower, shaped
from memento_git.texts.secret_values import assigned, key_blocks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_MOST_ECHOES: Final = 200


class SecretFound(Refused):
    """The text holds what looks like a secret, and a ledger is read by many and forgets nothing."""

    token = "secret_found"
    sentence = "{where} holds what looks like a secret ({rule}) in line {line}."
    hint_ = "Remove it, or repeat with --allow-secret {slug} if it is a false alarm."


class Secret(NamedTuple):
    rule: str
    line: int
    value: str


def find_secrets(text: str) -> list[Secret]:
    """Return what looks like a secret, in the order of the text."""
    found, line, at = [], 1, 0
    for span in _spans(text):
        line += text.count("\n", at, span.start)
        at = span.start
        found.append(Secret(span.rule, line, text[span.start : span.end]))
    return found


def redact(text: str) -> tuple[str, dict[str, int]]:
    """Return the text with a note in the place of every secret, and how many there were by rule."""
    spans = _spans(text)
    counts: dict[str, int] = {}
    parts: list[str] = []
    at = 0
    for span in _merged([*spans, *_echoes(text, spans)]):
        counts[span.rule] = counts.get(span.rule, 0) + 1
        parts += text[at : span.start], f"[redacted: {span.rule}]"
        at = span.end
    return "".join([*parts, text[at:]]), counts


def refuse_secrets(where: str, text: str, allow: Collection[str] = ()) -> set[str]:
    """Refuse a text that holds a secret, unless its rule is allowed by name; return the rules that had to be."""
    allowed = {slug(rule) for rule in allow}
    used = set()
    for secret in find_secrets(text):
        name = slug(secret.rule)
        if name not in allowed:
            raise SecretFound(where=where, rule=secret.rule, line=secret.line, slug=name)
        used.add(name)
    return used


def slug(rule: str) -> str:
    """Return a rule's name as people write it in options and policy."""
    return re.sub("[^a-z0-9]+", "-", rule.lower()).strip("-")


def _spans(text: str) -> list[Span]:
    low = lower(text)
    return _merged([*key_blocks(text, low), *shaped(text, low), *assigned(text, low)])


def _merged(spans: list[Span]) -> list[Span]:
    """Return the spans in order; those that overlap become one, named by the rule that knows most."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            best = min(last, span, key=lambda one: one.rank)
            merged.append(best._replace(start=last.start, end=max(last.end, span.end)))
        else:
            merged.append(span)
    return merged


def _echoes(text: str, spans: list[Span]) -> Iterator[Span]:
    """Yield the other places at which the text repeats a secret that cannot be taken for a word."""
    known = {text[span.start : span.end]: span for span in spans}
    values = [value for value in known if len(value) >= LONG_WORD and re.search(r"\d", value)]
    for value in values[:_MOST_ECHOES]:
        at = text.find(value)
        while at >= 0:
            yield known[value]._replace(start=at, end=at + len(value))
            at = text.find(value, at + len(value))
