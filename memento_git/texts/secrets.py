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
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from memento_git.errors import Refused
from memento_git.model.tuples import NamedTuple
from memento_git.model.types import HIDDEN
from memento_git.texts.secret_shapes import LONG_WORD, Span, lower, of_shapes, shaped
from memento_git.texts.secret_values import OF_VALUES, assigned, key_blocks

MARGIN: Final = 65_536  # how far beyond a cut a text is looked at: the longest secret that is found whole
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
WIDE: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
BETWEEN: Final = '", "'  # two words of a command that JSON tells
_MOST_ECHOES: Final = 200


class SecretFound(Refused):
    """The text holds what looks like a secret, and a ledger is read by many and forgets nothing."""

    token = "secret_found"
    sentence = "{where} holds what looks like a secret ({rule}) in line {line}.{unknown}"
    hint_ = "Remove it, or repeat it in a shell with --allow-secret {slug} if it is a false alarm."


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


def find_in_words(words: Sequence[str]) -> list[Secret]:
    """Return what looks like a secret in a command that is kept word by word; its line is that of the word."""
    line, places = _line_of(words)
    found = []
    for span in _word_spans(words, line, places):
        number = next(at for at, (_, end) in enumerate(places, 1) if span.start < end)
        found.append(Secret(span.rule, number, line[span.start : span.end]))
    return found


def listed(text: str) -> list[Span]:
    """Return what looks like a secret in view of the word before it, where a text has a command as JSON tells it."""
    return _spans(text.replace(BETWEEN, " " * len(BETWEEN))) if BETWEEN in text else []


def redact(text: str) -> tuple[str, dict[str, int]]:
    """Return the text with a note in the place of every secret, and how many there were by rule."""
    (kept,), counts = redact_parts(text, [(0, len(text))])
    return kept, counts


def redact_start(text: str, most: int) -> tuple[str, dict[str, int]]:
    """Return the redacted beginning of a text; a secret that only begins in it is in it a note, too."""
    (kept,), counts = redact_parts(text[: most + MARGIN], [(0, min(most, len(text)))])
    return kept, counts


def cut_before(text: str, most: int) -> str:
    """Return the beginning of a text, without a secret that only begins in it; who takes it in looks for others."""
    crossing = [span.start for span in _spans(text[: most + MARGIN]) if span.start < most < span.end]
    return text[: min([most, *crossing])]


def redact_parts(
    text: str, parts: Sequence[tuple[int, int]], more: Sequence[Span] = (), known: Mapping[str, str] = NOTHING
) -> tuple[list[str], dict[str, int]]:
    """Return parts of a text, redacted with all of it in view, and how many secrets reached into them by rule.

    A secret that lies over the edge of a part is a note in it as a whole. `more` are spans that are secret, too, and
    `known` are secrets from elsewhere, each with its rule.
    """
    spans = _merged([*_spans(text), *more])
    return _without(text, _merged([*spans, *_echoes(text, spans, known)]), parts)


def redact_words(words: Sequence[str]) -> list[str]:
    """Return a command that is kept word by word, redacted with all of it in view: `--password`, then its value."""
    line, places = _line_of(words)
    spans = _word_spans(words, line, places)
    kept, _ = _without(line, _merged([*spans, *_echoes(line, spans, NOTHING)]), places)
    return [part if word else word for word, part in zip(words, kept, strict=True)]


def _line_of(words: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return a command as one text, and where in it each word is; an empty word is a pair of quotes."""
    places, at = [], 0
    for word in (shown := [word or "''" for word in words]):
        places.append((at, at + len(word)))
        at += len(word) + 1
    return " ".join(shown), places


def _word_spans(words: Sequence[str], line: str, places: Sequence[tuple[int, int]]) -> list[Span]:
    """Return what looks like a secret in a word, or in view of those before it, which is one to the word's end."""
    own = [
        span._replace(start=start + span.start, end=start + span.end)
        for word, (start, _) in zip(words, places, strict=True)
        for span in _spans(word)
    ]
    seen = [span for span in _spans(line) if not any(one.start < span.end and span.start < one.end for one in own)]
    whole = [span._replace(end=next(end for _, end in places if span.end <= end)) for span in seen]
    return _merged([*own, *whole])


def _without(text: str, spans: Sequence[Span], parts: Sequence[tuple[int, int]]) -> tuple[list[str], dict[str, int]]:
    """Return parts of a text with a note for every span that reaches into them, and how many do by rule."""
    counts: dict[str, int] = {}
    kept = []
    for first, last in parts:
        pieces: list[str] = []
        at = first
        for span in spans:
            if span.start < last and span.end > first:
                counts[span.rule] = counts.get(span.rule, 0) + 1
                pieces += text[at : max(at, span.start)], f"[redacted: {span.rule}]"
                at = span.end
        kept.append("".join([*pieces, text[at:last]]))
    return kept, counts


def refuse_secrets(where: str, text: str, allow: Collection[str] = ()) -> set[str]:
    """Refuse a text that holds a secret, unless its rule is allowed by name; return the rules that had to be."""
    allowed = {slug(rule) for rule in allow}
    used = set()
    for secret in find_secrets(text):
        name = slug(secret.rule)
        if name not in allowed:
            told = "".join(f" The scanner has no rule {one}." for one in no_rules(allow))
            raise SecretFound(where=where, rule=secret.rule, line=secret.line, slug=name, unknown=told)
        used.add(name)
    return used


def no_rules(names: Collection[str]) -> list[str]:
    """Return those of some names that are no rule of the scanner; for any name the detectors are loaded."""
    known = {slug(rule) for rule in (*of_shapes(), *OF_VALUES)} if names else set()
    return [name for name in names if slug(name) not in known]


def slug(rule: str) -> str:
    """Return a rule's name as people write it in options and policy."""
    return re.sub("[^a-z0-9]+", "-", rule.lower()).strip("-")


def _spans(text: str) -> list[Span]:
    """Return what looks like a secret, also where characters that nobody sees, or wide letters, are in it."""
    if text.isascii():
        return _found(text)
    plain = text.translate(WIDE)
    hidden = {found.start() for found in re.finditer(HIDDEN, plain)}
    if not hidden:
        return _found(plain)
    places = [at for at in range(len(plain)) if at not in hidden]
    spans = _found(re.sub(HIDDEN, "", plain))
    return [span._replace(start=places[span.start], end=places[span.end - 1] + 1) for span in spans]


def _found(text: str) -> list[Span]:
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


def _echoes(text: str, spans: Sequence[Span], more: Mapping[str, str]) -> Iterator[Span]:
    """Yield the other places at which the text repeats a secret that cannot be taken for a word."""
    known = {value: Span(0, 0, 3, rule) for value, rule in more.items()}
    known |= {text[span.start : span.end]: span for span in spans}
    values = [value for value in known if len(value) >= LONG_WORD and re.search(r"\d", value)]
    for value in values[:_MOST_ECHOES]:
        at = text.find(value)
        while at >= 0:
            yield known[value]._replace(start=at, end=at + len(value))
            at = text.find(value, at + len(value))
