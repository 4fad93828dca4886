"""What a task asks, as digests: words beside what proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import codec
from memento_git.model.work import Event, Prose
from memento_git.work.dispatch import terms

if TYPE_CHECKING:
    from tests.play import Play

ASKED: dict[str, Any] = {
    "title": "Hash all paswords", "criteria": ["The page is fast", "It is short"], "body": "One.\nTwo.",
    "require": ["test"], "commands": ["python3 check.py"],
}  # fmt: skip


@pytest.fixture
def prose(play: Play) -> Prose:
    return play.state(task := play.task(run=play.run(), **ASKED)).prose(task)


def event(**data: Any) -> Event:
    return Event("event_000000000000", "", "rejected", "", "", "", (), data, "", "")


def now(prose: Prose, *unlike: str, **data: Any) -> set[str]:
    """Return what a text asks with other words."""
    body = prose.body.replace("One.", "One!") if "text" in unlike else prose.body
    return {*terms.asks(prose._replace(data={**prose.data, **data}, body=body))}


@pytest.mark.parametrize(
    ("unlike", "data", "lost"),
    [
        ((), {"title": "Hash all passwords"}, ["title"]),
        ((), {"criteria": ["The page answers within 100 ms", "It is short"]}, ["a criterion"]),
        (("text",), {}, ["text"]),
        (("text",), {"title": "Tidy", "criteria": ["Yes", "No"]}, ["title", "a criterion", "text"]),
        ((), {"criteria": ["It is short", "The page is fast", "It is green"]}, []),
    ],
)
def test_words_that_change_are_named_and_prove_as_much(
    prose: Prose, unlike: tuple[str, ...], data: dict[str, Any], lost: list[str]
) -> None:
    asked, known = terms.asked(event(asks=terms.asks(prose)), None), now(prose, *unlike, **data)
    assert asked.lost(known) == lost
    assert {*asked.proof} <= known


@pytest.mark.parametrize(
    "data", [{"criteria": ["The page is fast"]}, {"criteria": ["The page is fast", f"{terms.UNMET}it is slow"]},
             {"verify": {}}, {"verify": {"evidence": ["test"]}}],
)  # fmt: skip
def test_fewer_criteria_or_less_proof_is_less_than_was_asked(prose: Prose, data: dict[str, Any]) -> None:
    """What a repair has for what was unmet stands for no criterion."""
    assert not {*terms.asked(event(asks=terms.asks(prose)), None).proof} <= now(prose, **data)


def untold(prose: Prose) -> list[str]:
    """Return what a text asks without the number of its criteria, which stands between words and proof."""
    bare = prose._replace(data={key: prose.data[key] for key in ("title", "criteria")}, body="")
    return [one for one in terms.asks(prose) if one not in terms.asks(bare)[-3:]]


def test_an_event_that_does_not_tell_words_from_proof_is_read_by_the_text_that_it_is_of(prose: Prose) -> None:
    written = event(asks=untold(prose), terms=terms.digest(prose))
    assert terms.asked(written, terms.text_of(written, [prose])) == terms.asked(event(asks=terms.asks(prose)), None)


def test_an_event_of_which_no_text_is_left_counts_all_that_it_names_as_proof(prose: Prose) -> None:
    written = event(asks=untold(prose), terms=terms.digest(prose))
    other = prose._replace(data={**prose.data, "title": "Hash all passwords"})
    assert terms.asked(written, terms.text_of(written, [other])) == (untold(prose)[0], (), tuple(untold(prose)[1:]))


def test_a_dispatch_has_to_name_all_of_the_text_that_it_is_of(prose: Prose) -> None:
    asks, digest = terms.asks(prose), terms.digest(prose)
    fewer = prose._replace(data={**prose.data, "verify": {}})
    assert terms.are_named(event(asks=[*asks, "f" * 32], terms=digest), prose)
    for written in (
        event(asks=asks, terms=""), event(asks=asks, terms=codec.REDACTED), event(asks=[], terms=digest),
        event(terms=digest), event(asks=asks[:-1], terms=digest), event(asks=asks, terms=terms.digest(fewer)),
    ):  # fmt: skip
        assert not terms.are_named(written, prose)


def test_where_nobody_knows_the_text_a_dispatch_has_to_tell_words_from_proof(prose: Prose) -> None:
    for asks, fine in ((terms.asks(prose), True), (untold(prose), False)):
        assert terms.are_named(event(asks=asks, terms=terms.digest(prose)), None) is fine
        assert not any(terms.are_named(event(asks=asks, terms=lost), None) for lost in ("", codec.REDACTED))
    assert not terms.are_named(event(asks=[], terms=terms.digest(prose)), None)


def test_a_time_limit_is_one_thing_more_that_is_asked(prose: Prose) -> None:
    (command,) = prose.data["verify"]["commands"]
    timed = now(prose, verify={**prose.data["verify"], "commands": [{**command, "timeout": "9s"}]})
    assert timed > now(prose)
    assert len(timed) == len(now(prose)) + 1


def test_how_items_are_nested_is_part_of_the_terms_and_how_lines_are_wrapped_is_not() -> None:
    text = Prose("", "", {"title": "Hash"}, "Passwords.\n\n- Not part of this:\n  - old accounts, all\n", "", "")
    wrapped = text._replace(body=text.body.replace("accounts, all", "accounts,\n    all"))
    assert terms.digest(wrapped) == terms.digest(text)
    outside = text._replace(body=text.body.replace("  - old", "- old"))
    assert terms.digest(outside) != terms.digest(text)


@pytest.mark.parametrize(
    ("body", "digest"),
    [
        ("- Refuse empty passwords.\n\nAnd log.\n", "fadf3d1c463c6fb9a6af12828d81bf1d"),
        ("- Not part of this:\n  - old accounts\n- Refuse empty passwords.\n", "e6b51875c0146e198434db3219378fe7"),
    ],
)
def test_what_a_ledger_holds_as_terms_of_a_text_is_what_is_made_of_it_now(body: str, digest: str) -> None:
    """Way: the digest is made otherwise, and what was handed out, done and judged before counts for nothing."""
    assert terms.digest(Prose("", "", {"title": "Hash"}, body, "", "")) == digest
