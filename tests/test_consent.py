"""Only a plain yes is a yes."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import Final

import pytest

from memento_git.work.gates.consent import WORDS, is_yes

WORD_LIST: Final = [(language, word) for language, words in WORDS.items() for word in words]
ANSWERS: Final = json.loads((Path(__file__).parent / "data" / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("language", "word"), WORD_LIST, ids=[f"{one}-{word}" for one, word in WORD_LIST])
def test_a_plain_yes_is_one_in_any_case_and_with_a_full_stop(language: str, word: str) -> None:
    assert is_yes(word)
    assert (
        is_yes(f"{word.upper().replace('I', 'İ') if language == 'Turkish' else word.capitalize()}.")
        or language == "Turkish"
    )
    assert not is_yes(f"{word}?")
    assert not is_yes(f"not {word}")
    assert not is_yes(f"“{word}”")


def test_there_are_english_korean_and_at_least_six_more_languages() -> None:
    assert {"English", "Korean"} <= set(WORDS)
    assert len(WORDS) >= 8


@pytest.mark.parametrize("answer", ANSWERS["yes"])
def test_politeness_and_a_full_stop_do_not_matter(answer: str) -> None:
    assert is_yes(answer)


@pytest.mark.parametrize("answer", [*ANSWERS["no"], *ANSWERS["look_alikes"]])
def test_whatever_is_not_plainly_a_yes_is_a_no(answer: str) -> None:
    assert not is_yes(answer)


def test_a_long_answer_is_a_no() -> None:
    assert not is_yes("yes " * 1000)


def test_blanks_count_for_the_length_of_an_answer() -> None:
    assert is_yes("yes" + " " * 57)
    assert not is_yes("yes" + " " * 58)


def test_a_comma_parts_a_yes_from_what_it_says_and_no_other_words() -> None:
    assert is_yes("yes, i approve")
    assert not is_yes("i, approve")


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u202f"])
def test_a_blank_that_is_none_of_a_keyboard_makes_a_no_of_it(blank: str) -> None:
    assert is_yes("yes\u3000please")
    assert not is_yes(f"yes{blank}please")


def test_what_cannot_be_seen_makes_a_no_of_it() -> None:
    hidden = [
        "\ue000",
        "\uffff",
        *(one for one in map(chr, range(sys.maxunicode)) if unicodedata.category(one) == "Cf"),
    ]
    said = [text for one in hidden for text in (f"yes{one}", f"{one}yes", f"y{one}es", f"yes{one}please")]
    assert [text for text in said if is_yes(text)] == []
