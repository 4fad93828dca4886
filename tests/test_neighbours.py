"""What is near to a note, or against it, is told wherever a text comes to live."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge.actions import notes
from tests.play import add, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.play import Call, Play

HELD = "Tokens live one hour in staging and production."
AGAINST = "Tokens do not live one hour in staging and production."
NEAR = "Tokens live one hour in staging and production everywhere."


@pytest.fixture
def said(play: Play, cli: Call) -> Callable[..., list[str]]:
    """Return what runs a command and gives its warnings."""

    def answered(*words: str) -> list[str]:
        code, told, _ = cli(*words, "--json", "-C", str(play.root))
        assert code == 0, told
        found: list[str] = json.loads(told).get("warnings", [])
        return found

    return answered


def test_a_promoted_draft_is_told_what_it_may_contradict(play: Play, said: Any) -> None:
    held = add(play, HELD)
    said("remember", AGAINST, "--draft")
    (told,) = said("session", "promote")
    assert told.endswith(f" may contradict {held} (100% of words shared)")


def test_a_note_that_says_the_same_in_other_forms_of_its_words(play: Play, said: Any) -> None:
    held, other = add(play, "The builds cache their tokens in Redis."), add(play, "Something else.")
    (near,) = said("note", "revise", other, "--text", "Caching of tokens by a build is done in Redis.")
    assert near == f"{other} is near to {held} (80% of words shared)"
    assert said("note", "revise", other, "--text", "Tokens of a build are signed.") == []


def test_a_revised_note_is_told_what_it_is_near_to(play: Play, said: Any) -> None:
    held, other = add(play, HELD), add(play, "Something else.", key="other")
    assert said("note", "revise", "other", "--tag", "auth") == []
    opposed = said("note", "revise", "other", "--text", AGAINST)
    assert opposed == [f"{other} may contradict {held} (100% of words shared)"]
    assert said("note", "revise", "other", "--text", NEAR) == [f"{other} is near to {held} (86% of words shared)"]
    assert said("note", "revise", "other", "--text", HELD.upper()) == [f"{other} says the very same as {held}"]
    play.do(notes.link_note, other, "contradicts", add(play, "Nothing expires."))
    assert len(said("note", "revise", "other", "--text", "A third thing.")) == 1


def test_a_restored_note_is_told_what_says_the_same(play: Play, said: Any) -> None:
    old = add(play, HELD, key="old")
    play.do(notes.retire_note, old, reason="x")
    held = add(play, HELD)
    assert said("note", "restore", "old") == [f"{old} says the very same as {held}"]


@pytest.mark.parametrize("form", ["jsonl", "claude-md"])
def test_imported_notes_that_are_near_to_others_are_told_and_counted(
    play: Play, said: Any, tmp_path: Path, form: str
) -> None:
    """The first are told, and how many there are; that two of those that were here are near is not said again."""
    held = add(play, HELD)
    add(play, NEAR)
    file = tmp_path / "in"

    def came(*texts: str) -> list[str]:
        lines = [json.dumps({"text": text}) if form == "jsonl" else f"- {text}" for text in texts]
        file.write_text("".join(f"{line}\n" for line in lines))
        found: list[str] = said("import", str(file), "--from", form)
        return found

    told = came("Nothing like it.", AGAINST)
    assert len(told) == 2
    assert f"may contradict {held} (100% of words shared)" in told[0]
    many = came(*(f"{HELD} {word}" for word in ("alpha", "beta", "gamma", "delta")))
    assert len(many) == 6
    assert many[-1].partition(" ")[2].startswith("pairs of what came in are near to, or may contradict, what is here")


def test_a_change_does_not_rest_on_what_it_is_near_to(play: Play, said: Any) -> None:
    """An edit of another note, not committed, is no reason to refuse."""
    other, own = add(play, HELD), add(play, "Something else.")
    file = next(play.root.glob(f".memento/knowledge/*/*/{other}.md"))
    file.write_text(file.read_text() + "more\n")
    assert said("note", "revise", own, "--text", AGAINST)
    git(play.root, "checkout", "--", ".")
