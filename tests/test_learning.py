"""A recipe is learnt from a thread: drafted by what sets its notes apart, tried at once, never over another one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge import learning
from memento_git.knowledge.actions import notes
from memento_git.knowledge.actions.learning import (
    NothingInCommon,
    RecipeUnnamed,
    ThreadTooShort,
    learn_recipe,
    save_learnt,
)
from memento_git.knowledge.actions.recipes import RecipeBuiltIn, RecipeExists, RecipeInvalid, run_recipe
from memento_git.knowledge.actions.threads import NoSuchThread
from memento_git.ledger.store import NothingToCommit
from tests.play import Play, add, git

if TYPE_CHECKING:
    from tests.play import Call

OTHERS = ("The bakery opens at six.", "Parsers are written by hand.", "Names are checked in the model.")


def learn(play: Play, thread: str = "t", **options: Any) -> dict[str, Any]:
    return learn_recipe(play.ledger.view(), thread, **options)


def others(play: Play, *, kind: str = "fact") -> None:
    for text in OTHERS:
        add(play, text, kind=kind)


def test_a_tag_that_only_the_thread_has_is_the_recipe(play: Play) -> None:
    for text in ("Refunds take a week.", "Cards are charged once.", "Invoices carry no tax."):
        add(play, text, thread="t", tags=["money"])
    others(play)
    told = learn(play)
    assert (told["found"], told["others"], told["f1"], told["missed"], told["also"]) == (3, 0, 1.0, [], [])
    assert (
        told["text"] == "name: t\nabout: Notes like those of the thread t\nsteps:\n- do: active\n  tags:\n  - money\n"
    )


def test_it_finds_their_like_and_names_neither_note_nor_thread(play: Play) -> None:
    ours = [add(play, text, thread="t", key=f"auth.{n}") for n, text in enumerate(("Tokens rotate.", "Keys are long."))]
    others(play)
    told = play.do(save_learnt, "t")
    assert "thread:" not in told["text"]
    assert not any(one in told["text"] for one in ours)
    like = add(play, "Sessions end at night.", key="auth.session")
    assert {row["id"] for row in run_recipe(play.ledger, "t", {})["notes"]} == {*ours, like}


def test_words_are_those_of_the_index_and_everyday_words_tell_nothing(play: Play) -> None:
    for text in ("Payments are retried twice.", "A retry of the payment is logged.", "Never retry payments by hand."):
        add(play, text, thread="t")
    others(play)
    told = learn(play)
    assert told["f1"] == 1.0
    assert any(word in told["text"] for word in ("retr", "payment"))


def test_what_they_are_about_separates_them_where_nothing_else_does(play: Play) -> None:
    folder = play.root / "pay"
    folder.mkdir()
    for name in ("card.py", "cash.py"):
        (folder / name).write_text(f"# {name}\n")
    play.commit_all()
    add(play, "Amounts are whole cents.", thread="t", about=["pay/card.py"])
    add(play, "Coins are counted twice.", thread="t", about=["pay/cash.py"])
    others(play)
    told = learn(play)
    assert "under: pay" in told["text"]
    assert told["f1"] == 1.0


def test_two_traits_are_put_together_where_one_is_too_wide(play: Play) -> None:
    add(play, "Refunds take a week.", thread="t", tags=["money"], kind="decision")
    add(play, "Cards are charged once.", thread="t", tags=["money"], kind="decision")
    for text in OTHERS:
        add(play, text, kind="decision")
        add(play, f"Money: {text}", tags=["money"])
    told = learn(play)
    assert (told["found"], told["others"]) == (2, 0)
    assert "tags" in told["text"]
    assert "kinds" in told["text"]


def test_links_lead_on_where_they_are_all_that_holds_a_thread_together(play: Play) -> None:
    first = add(play, "Refunds take a week.", thread="t", tags=["money"])
    second = add(play, "Cards are charged once.", thread="t", tags=["money"], links=[f"depends_on:{first}"])
    add(play, "Couriers come on Mondays.", thread="t", links=[f"depends_on:{second}"])
    others(play)
    told = learn(play)
    assert (told["found"], told["others"]) == (3, 0)
    assert [one["found"] for one in told["tried"] if one["steps"][0] == {"do": "active", "tags": ["money"]}] == [2, 3]


def test_parked_and_expired_notes_of_the_thread_are_found_too(play: Play) -> None:
    parked = add(play, "A dead end of money.", thread="t", tags=["money"])
    play.do(notes.park_note, parked)
    add(play, "Refunds take a week.", thread="t", tags=["money"], expires="2020-01-01")
    others(play)
    assert (learn(play)["found"], learn(play)["others"]) == (2, 0)


def test_two_halves_become_two_parts(play: Play) -> None:
    for text, tag in (("Refunds.", "money"), ("Cards.", "money"), ("Boxes.", "parcel"), ("Lorries.", "parcel")):
        add(play, text, thread="t", tags=[tag])
    others(play)
    told = learn(play)
    assert told["f1"] == 1.0
    halves = [{"do": "active", "tags": ["money"]}, {"do": "active", "tags": ["parcel"]}]
    assert [one["found"] for one in told["tried"] if one["steps"] == halves] == [4]


def test_equal_drafts_are_told_apart_by_how_little_they_say(play: Play) -> None:
    for text in ("Refunds take a week.", "Refunds are paid once."):
        add(play, text, thread="t", tags=["money"], key=f"pay.{len(text)}")
    others(play)
    told = learn(play)
    best = [one for one in told["tried"] if one["f1"] == told["f1"]]
    assert min(one["size"] for one in best) == 2
    assert len(best) > 1


def test_another_recipe_of_the_name_stays_unless_asked(play: Play) -> None:
    for text in ("Refunds take a week.", "Cards are charged once."):
        add(play, text, thread="t", tags=["money"])
    others(play)
    play.do(save_learnt, "t")
    with pytest.raises(NothingToCommit):
        play.do(save_learnt, "t")
    for text in ("Tips are shared.", "Fees are shown."):
        add(play, text, thread="other", tags=["tips"])
    with pytest.raises(RecipeExists):
        play.do(save_learnt, "other", name="t")
    assert "tips" in play.do(save_learnt, "other", name="t", replace=True)["text"]
    with pytest.raises(RecipeBuiltIn):
        play.do(save_learnt, "t", name="drift-check")


def test_what_cannot_be_learnt_from_is_refused(play: Play) -> None:
    add(play, "Refunds take a week.", thread="t")
    with pytest.raises(ThreadTooShort, match="two notes that hold"):
        learn(play)
    with pytest.raises(NoSuchThread):
        learn(play, "", name="all")
    with pytest.raises(NoSuchThread, match="there is 't'"):
        learn(play, "tt")
    add(play, "Zebras gallop.", thread="t", kind="lesson", domain="issues")
    others(play)
    with pytest.raises(NothingInCommon):
        learn(play)
    with pytest.raises(RecipeUnnamed):
        learn(play, "支払い")
    with pytest.raises(RecipeInvalid):
        play.do(save_learnt, "t", name="Not A Name")


def test_the_command_shows_or_saves_and_tells_how_it_did(play: Play, cli: Call) -> None:
    for text in ("Refunds take a week.", "Cards are charged once."):
        add(play, text, thread="Our money", tags=["money"])
    others(play)
    before = git(play.root, "rev-parse", "HEAD")
    code, out, _ = cli("recipe", "learn", "Our money", "--dry-run", "-C", str(play.root))
    assert (code, git(play.root, "rev-parse", "HEAD")) == (0, before)
    assert "name: our-money" in out
    assert "it finds 2 of 2 notes of the thread, and no other" in out
    told = json.loads(cli("recipe", "learn", "Our money", "--json", "-C", str(play.root))[1])
    assert (told["saved"], told["recipe"]["name"], len(told["recipe"]["tried"]) > 1) == (True, "our-money", True)
    assert cli("recipe", "run", "our-money", "-C", str(play.root))[0] == 0
    assert cli("check", "-C", str(play.root))[0] == 0


def test_how_well_it_fits_is_the_mean_of_both_shares() -> None:
    assert learning.score(["a", "b"], ["a", "b"]).f1 == 1.0
    assert learning.score(["a", "x"], ["a", "b"]).f1 == 0.5
    assert learning.score([], []).f1 == 0.0
    assert learning.score(["a", "b", "c"], ["a"]) == (1, 2, 1)


def test_words_that_only_ask_or_stand_everywhere_are_not_learnt() -> None:
    assert learning.shared_words(["What is it about refunds?", "What of the Refunds, then?"]) == {"refund": "refunds"}
