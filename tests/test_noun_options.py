"""What is given behind a noun, before its verb: the verb has it, or it is refused; it is never passed over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.play import Call, Play


def test_a_run_that_is_named_before_the_verb_is_the_one_whose_plans_are_listed(play: Play, cli: Call) -> None:
    first = play.planned()
    play.run("Another")
    listed = json.loads(cli("-C", str(play.root), "plan", "--run", first, "list", "--json")[1])

    assert len(listed["plans"]) == 1
    assert json.loads(cli("-C", str(play.root), "plan", "--json", "list")[1])["plans"] == []


@pytest.mark.parametrize(
    ("words", "option", "verb"),
    [
        (["plan", "--at", "HEAD", "draft", "--title", "T", "--body", "B"], "--at", "plan draft"),
        (["run", "--at", "HEAD", "pause"], "--at", "run pause"),
        (["plan", "--allow-secret", "R", "list"], "--allow-secret", "plan list"),
        (["check", "--base", "HEAD", "conflicts"], "--base", "check conflicts"),
        (["check", "--format", "text", "duplicates"], "--format", "check duplicates"),
    ],
)
def test_what_the_verb_does_not_take_is_refused(
    play: Play, cli: Call, words: list[str], option: str, verb: str
) -> None:
    play.run()
    code, _, err = cli("-C", str(play.root), *words)

    assert (code, f"No such option '{option}' of 'memento {verb}'" in err) == (2, True)
