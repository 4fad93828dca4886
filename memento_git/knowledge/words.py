"""What a text is found by: the same words for what is written down and for what is asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache
from typing import Final

from memento_git.knowledge import dates
from memento_git.knowledge.lexicon import ALIKE, ASKING, EMPTY, EVERYDAY, IRREGULAR, SHORT

LONGEST: Final = 64
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
)
_FIRST_HAN: Final = "\u2e80"  # its radicals, which are compatible forms of the signs themselves
_MARKS: Final = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff"
_LETTER: Final = rf"(?:(?![{_UNSPACED}])[^\W_]|[{_MARKS}])"
_CHUNK: Final = r"""
      (?P<named>(?<![^\W_])(?:[cC]\+\+|[cCfF]\#|\.(?:NET|net))(?![\w#+]))
    | (?P<date>(?<![\w.-])[0-9]{4}-(?:0[1-9]|1[0-2])-[0-3][0-9])
        (?P<time>[Tt][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w-])
    | (?P<issue>(?:(?<!\w)[Gg][Hh]-|(?<!&)\#)(?P<number>[0-9]{1,18})(?!\w))
    | (?P<version>(?<![\w.])[vV]?[0-9]{1,9}(?:\.[0-9]{1,9}){1,5}
        (?:[-+.]?[A-Za-z][0-9A-Za-z]{0,9}(?:[.-][0-9A-Za-z]{1,9}){0,2})?(?!\w))
    | (?P<plain>[_$@]{0,4}LETTER{1,200}(?:[_./\\:'-]{1,4}LETTER{1,200}){0,40})
    """
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+[a-z]*|[^\x00-\x7f]+[0-9]*|[A-Z]+[0-9]*")
_NUMBERED: Final = re.compile(r"([a-z]{3,})[0-9]+")
_MEASURED: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)[a-z\u03bc]{1,4}")
_VERSIONED: Final = re.compile(r"[a-z]+([0-9]+(?:\.[0-9]+)+)")
_NUMBERS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)+")
ENGLISH: Final = re.compile(r"[a-z]{3,30}")
_POSSESSIVE: Final = re.compile(r"'(?:s|S)?$|'(?:s|S)(?=[_./\\:-])")
_ELIDED: Final = re.compile(
    r"\A(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu|[dn]ell|(?:da|co|que|su|a)ll|un)'(?=[^\W\d_])", re.IGNORECASE
)  # the article that French and Italian write in front of a vowel
_ENDED: Final = re.compile(
    r"([^']*[^\W_]{2})'(?!(?:t|re|ve|ll|d|m)\Z)[^\W\d_]{1,8}", re.IGNORECASE
)  # the ending that Turkish and Finnish write behind a name, and no short form of English
_FOLDED: Final = str.maketrans({
    "ß": "ss", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "\u0131": "i", "ħ": "h",
})  # fmt: skip
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]")

_PLAIN: Final = str.maketrans({"\u2019": "'", **dict.fromkeys("\u2013\u2014\u201c\u201d\u201e", " ")})

_PIECE: Final = re.compile(r"[^\W_]+")
_NAMED: Final = re.compile("[0-9A-Z_]")
_NAMED_IN_CAPITALS: Final = re.compile("[0-9_]")
_SHOUTED: Final = 4  # so many words all in capitals are a sentence, in which these say nothing; fewer may all be names
_ERROR: Final = re.compile(r"[\w.$]*(?:Error|Exception|Warning)")  # the class of what a message says behind a colon
_SENTENCE_END: Final = re.compile("[.!?:;\n]")

_BEFORE_MONTH: Final = re.compile(
    r"(?:\b(?:in|since|until|till|by|of|during|before|after|last|early|mid|late)|[0-9](?:st|nd|rd|th|\.)?)[ -]+$",
    re.IGNORECASE,
)
_AFTER_MONTH: Final = re.compile(r"[ ,./-]*[0-9]|[ ?!.,;:]*$")
_HIRAGANA: Final = re.compile("[\u3041-\u309f]")  # endings and particles of Japanese
_JOINTS: Final = re.compile(r"[./\\:]+")

_ISE: Final = re.compile(r"([a-z]{3,})is(e|es|ed|er|ers|ing|ation|ations|able)$")
_OUR: Final = re.compile(r"(?<=[a-z]{2})our(?=s?$|ed$|ing$|ite|able|hood|ful|al)")


def fold(text: str) -> str:
    """Return a text in lower case, without accents, compatible forms made one."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).translate(_FOLDED)


def words(text: str) -> list[str]:
    """Return what a text is found by, in its order, each as often as it occurs."""
    return [word for raw in _raw(text) for word in raw]


def signs(text: str) -> set[str]:
    """Return the Han characters of a text: a question of one alone finds it, although it has them within words."""
    return set(_han().findall(fold(_compatible(text)))) if max(text, default="") >= _FIRST_HAN else set()


def is_pair(word: str) -> bool:
    """Tell whether a word is two neighbours of a run that no spaces divide."""
    return len(word) == 2 and not word.isascii() and _pair().fullmatch(word) is not None


def asked(text: str) -> dict[str, bool]:
    """Return the words that a question is about, and of each whether it counts only where something has it.

    So do names, whose parts are among them too, numbers with a unit, and endings of Japanese. What only makes it a
    question stands aside, unless there is nothing else.
    """
    telling: dict[str, bool] = {}
    plain: dict[str, bool] = {}
    months: dict[int, str] = {}
    for date in dates.written(_compatible(text)):
        months[date.month] = stem(date.name)
        telling.update(dict.fromkeys(date.numbers, True))
    for match in _chunks(text):
        if match["date"]:
            telling = {**_of_date(match), **telling}
            continue
        is_plain = match.lastgroup == "plain"
        only_asks = is_plain and fold(match[0]).replace("'", "") in ASKING and not _is_month(match)
        month = [months[match.start()]] if match.start() in months else []
        found = tuple(dict.fromkeys((*_of_match(match), *month)))
        for at, word in enumerate(found):
            is_whole = at == 0 and len(found) > 1 if is_plain else _HIRAGANA.search(word) is not None
            has_unit = _MEASURED.fullmatch(word) is not None
            (plain if only_asks else telling).setdefault(word, is_whole or has_unit)
    return telling or plain


def as_written(text: str, sought: Iterable[str]) -> list[str]:
    """Return how a question writes some of its words; what it has only within longer ones stays as it is."""
    spelled: dict[str, str] = {}
    for match in _chunks(text):
        if match["date"]:
            spelled.update(dict.fromkeys(tuple(_of_match(match))[:1], match["date"]))
        elif match.lastgroup == "plain":
            for piece in (match[0], *_PIECE.findall(match[0]), *_CAMEL.findall(match[0])):
                for word in _plain(piece)[:1]:
                    spelled.setdefault(word, piece)
    return [spelled.get(word, word) for word in sought]


def _of_date(match: re.Match[str]) -> dict[str, bool]:
    """Return the words of a date in numbers; its month, and the day of a log's moment, count only where known."""
    day, month, *others = _of_match(match)
    return {day: True, month: True} if match["time"] else {day: False, month: True, **dict.fromkeys(others, False)}


def _is_month(match: re.Match[str]) -> bool:
    """Tell whether "may" is the month: in May, May 2026, 14 May, or the last word."""
    if fold(match[0]) != "may":
        return False
    return bool(
        _BEFORE_MONTH.search(match.string[max(0, match.start() - 16) : match.start()])
        or _AFTER_MONTH.match(match.string, match.end())
    )


def named(text: str) -> frozenset[str]:
    """Return the words that are names by how they are written: with a digit, an underscore, a capital in a sentence.

    A date in numbers is one as a whole: records are found by it, as it is a word of theirs. The moment of a line of a
    log is none, nor a date with a month's name, nor the class of an error before its message, nor a word that most
    projects use, however it is written.
    """
    sign = _NAMED_IN_CAPITALS if text.isupper() and len(text.split()) >= _SHOUTED else _NAMED
    found: set[str] = set()
    end = 0
    aside = {at for date in dates.written(_compatible(text)) for at in (date.day, date.month)}
    for match in _chunks(text):
        begins = not end or _SENTENCE_END.search(match.string, end, match.start()) is not None
        of = tuple(_of_match(match))
        is_plain_word = len(of) == 1 and is_everyday(of[0])
        may_be_name = not is_plain_word and match.start() not in aside and not _is_error_class(match)
        if match["date"]:
            found.update(() if match["time"] else of[:1])
        elif may_be_name and sign.search(match[0], 1 if begins else 0):
            parts = _JOINTS.split(match[0]) if match.lastgroup == "plain" else []
            of_parts = (word for part in parts if sign.search(part) for word in _plain(part))
            found.update(of_parts if len(parts) > 1 else of)
        end = match.end()
    return frozenset(found)


def _is_error_class(match: re.Match[str]) -> bool:
    """Tell whether a run is the class of an error before its message: records often have the message alone."""
    return match.string.startswith(":", match.end()) and _ERROR.fullmatch(match[0]) is not None


def abbreviations(text: str, names: Collection[str]) -> frozenset[str]:
    """Return those names that a text writes in capitals alone, and that another word is often said for."""
    written = zip(names, as_written(text, names), strict=True)
    return frozenset(name for name, typed in written if typed.isupper() and alike(name))


def date_words(time: str) -> list[str]:
    """Return what a time of a record (ISO 8601) is asked by: its day, month and year."""
    return [*map(stem, dates.of_record(time))]


@cache
def _chunk(*, plain: bool) -> re.Pattern[str]:
    """Return what finds the names and runs of a text; that for ASCII alone is made in a tenth of the time."""
    if plain:
        return re.compile(_CHUNK.replace("LETTER", "[^\\W_]"), re.VERBOSE | re.ASCII)
    return re.compile(f"(?P<cjk>[{_UNSPACED}]+) | {_CHUNK.replace('LETTER', _LETTER)}", re.VERBOSE)


@cache
def _pair() -> re.Pattern[str]:
    """Return what finds two signs of a run that no spaces divide; ASCII texts are spared the milliseconds it takes."""
    return re.compile(f"[{_UNSPACED}]{{2}}")


@cache
def _han() -> re.Pattern[str]:
    return re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


@cache
def _everyday(start: str) -> frozenset[str]:
    return frozenset(stem(word) for word in EVERYDAY if word.startswith(start))


def is_everyday(word: str) -> bool:
    """Tell whether most projects use a word, so that it tells little where a ledger is too small to say so."""
    return word in _everyday(word[:2])


@lru_cache(maxsize=4096)
def alike(word: str) -> frozenset[str]:
    """Return the words that are often said for a word, by their stems."""
    near = (frozenset(map(stem, group.split())) for group in ALIKE if f" {word[:3]}" in group)
    return frozenset().union(*(group for group in near if word in group)) - {word}


def _raw(text: str) -> Iterator[Iterable[str]]:
    months = {date.month: date for date in dates.written(_compatible(text))}
    for match in _chunks(text):
        of = _of_match(match)
        date = months.get(match.start())
        yield dict.fromkeys((*of, *date.numbers, stem(date.name))) if date and date.numbers[1:] else of


def _chunks(text: str) -> Iterator[re.Match[str]]:
    compatible = _compatible(text)
    return _chunk(plain=compatible.isascii()).finditer(compatible)


def _compatible(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_PLAIN)


def _of_match(match: re.Match[str]) -> Iterable[str]:
    kind = match.lastgroup
    if kind == "plain":
        return _plain(match[0])
    if kind == "cjk":
        return _bigrams(fold(match[0]))
    if kind == "version":
        return _version(match[0].lower())
    if match["date"]:
        return date_words(match["date"])
    if match["number"]:
        number = match["number"].lstrip("0") or "0"
        return (f"#{number}", number)
    return (match[0].lower(),)


def _bigrams(run: str) -> tuple[str, ...]:
    """Return each two neighbours of a run that no spaces divide; one alone is its own word."""
    return tuple(run[at : at + 2] for at in range(len(run) - 1)) or (run,)


def _version(text: str) -> tuple[str, ...]:
    """Return a version without its v; its numbers alone; the first two of them."""
    bare = text.removeprefix("v")
    numbers = _NUMBERS.match(bare)
    release = numbers[0] if numbers else bare
    return tuple(dict.fromkeys((bare, release, ".".join(release.split(".")[:2]))))


@lru_cache(maxsize=65536)
def _plain(chunk: str) -> tuple[str, ...]:
    """Return the words of a run of letters and joints: the whole name, then what it is made of."""
    written = _POSSESSIVE.sub("", _ELIDED.sub("", chunk))
    name = written.replace("'", "").strip("_$@")
    if (ended := _ENDED.fullmatch(written)) is not None:
        return tuple(dict.fromkeys((*_plain(name)[:1], *_plain(ended[1]))))
    found: list[str] = []
    pieces = [piece for piece in re.split(r"[./\\:]+", name) if piece]
    if len(pieces) > 1:
        whole = fold(name).replace("\\", "/")
        found.append(whole if "/" in whole else re.sub(r":+", ".", whole))
        if (versioned := _VERSIONED.fullmatch(whole)) is not None:
            found.append(versioned[1])
    for piece in pieces:
        found += _piece(piece)
    return tuple(dict.fromkeys(word[:LONGEST] for word in found if word and word not in EMPTY))


def _piece(piece: str) -> list[str]:
    """Return the words of one name: as a whole, whatever its style, and its parts."""
    joined = [part for part in re.split(r"[_-]+", piece) if part]
    parts = [fold(camel) for part in joined for camel in _humps(part)]
    if len(parts) == 1:
        return _single(parts[0])
    whole = "".join(parts)
    return [stem(whole) if ENGLISH.fullmatch(whole) else whole, *(word for part in parts for word in _single(part))]


def _humps(part: str) -> list[str]:
    """Return the parts of a camelCase name; a word in one case, with its digits, stays whole."""
    if part.islower() or part.isupper() or part[1:].islower() or part.isdigit():
        return [part]
    return _CAMEL.findall(part) or [part]


def _single(word: str) -> list[str]:
    """Return a word by its stem; one that carries digits as it is, and its letters, or its number without the unit."""
    if word in EMPTY:
        return []
    if word in SHORT or ENGLISH.fullmatch(word):
        return [stem(word)]
    if (measured := _MEASURED.fullmatch(word)) is not None:
        return [word, measured[1]]
    numbered = _NUMBERED.fullmatch(word)
    return [word, stem(numbered[1])] if numbered else [word]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem that a word's English forms share, its short forms and other spellings among them."""
    from whoosh.lang.porter2 import stem as shorten

    plain = SHORT.get(word) or SHORT.get(word.removesuffix("s")) or IRREGULAR.get(word) or word
    plain = _OUR.sub("or", _ISE.sub(r"\1iz\2", plain))
    return str(shorten(plain))
