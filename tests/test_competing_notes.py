"""Two branches gave one key, or one note's place, to notes of their own: wherever one is shown, so is the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge import index
from memento_git.knowledge.actions import note_checks, notes
from memento_git.knowledge.actions.drafts import draft_note
from memento_git.knowledge.actions.recalling import recall
from memento_git.knowledge.note_rows import note_row
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.recall import search
from memento_git.model.clock import seconds_of
from memento_git.verbs import settling
from tests.play import add, git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play

KEY = "ops.deploy"
JENKINS, ARGO = "Deploys run from Jenkins every night at two.", "We ship with ArgoCD whenever somebody merges."


def apart(play: Play, ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[str, str]:
    """Return the two notes that two branches added, which are merged."""
    git(play.root, "switch", "-qc", "theirs")
    other = add(play, **theirs)
    git(play.root, "switch", "-q", "main")
    one = add(play, **ours)
    git(play.root, "merge", "-q", "--no-edit", "theirs")
    return one, other


def keyed(play: Play) -> tuple[str, str]:
    return apart(play, {"text": JENKINS, "key": KEY}, {"text": ARGO, "key": KEY})


def placed(play: Play) -> tuple[str, str]:
    old = add(play, "Somebody copies the files by hand.")
    return apart(play, {"text": JENKINS, "supersedes": [old]}, {"text": ARGO, "supersedes": [old]})


def merged(play: Play) -> tuple[str, str]:
    old = [add(play, "Somebody copies the files by hand."), add(play, "The gnu is fed at noon.")]
    git(play.root, "switch", "-qc", "theirs")
    other = play.do(notes.merge_notes, old, ARGO).id
    git(play.root, "switch", "-q", "main")
    one = play.do(notes.merge_notes, old, JENKINS).id
    git(play.root, "merge", "-q", "--no-edit", "theirs")
    return one, other


def against(play: Play, *queries: str, **options: Any) -> dict[str, list[str]]:
    found = recall(play.ledger, queries, **options)["hits"]
    return {hit["id"]: hit["contradicted_by"] for hit in found if hit["status"] == "active"}


@pytest.mark.parametrize("merge", [keyed, placed, merged])
def test_rivals_are_shown_together_in_every_view(play: Play, cli: Call, merge: Callable[..., tuple[str, str]]) -> None:
    one, other = merge(play)
    both = {one: [other], other: [one]}
    for queries in (["jenkins"], ["argocd"]):
        assert against(play, *queries) == against(play, *queries, view="plan") == both
    search(play.ledger, ["deploys"])
    found = index.opened(play.ledger.git)
    assert found is not None
    found.close()
    assert against(play, "jenkins") == against(play, "argocd") == both
    assert against(play, view="list") == against(play, view="digest") == both
    (conflict, *_) = note_checks.check_conflicts(NoteSet(play.ledger.view()))["conflicts"]
    assert sorted(row["note"] for row in conflict["notes"]) == sorted(both)
    assert conflict["why"] == (note_checks.SAME_KEY if merge is keyed else note_checks.SAME_PLACE)
    where = ("-C", str(play.root))
    for words in (("export", "--format", "agents-md"), ("export", "--format", "md"), ("note", "show", one)):
        assert f"contradicted by {other}" in " ".join(cli(*words, *where)[1].replace(other[:9], other).split()), words
    assert cli("note", "list", *where)[1].count("[contradicted]") == 2


def test_what_took_a_rivals_place_is_the_rival(play: Play) -> None:
    one, other = placed(play)
    newer = add(play, "Deploys run from Woodpecker.", supersedes=[one])
    assert against(play, "argocd") == {other: [newer], newer: [other]}


def test_rivals_are_none_any_more_once_it_is_decided(play: Play) -> None:
    one, other = keyed(play)
    play.do(notes.retire_note, other, reason="It was tried.")
    assert against(play, "jenkins") == {one: []}
    assert note_checks.check_conflicts(NoteSet(play.ledger.view())) == {"conflicts": []}


def test_a_settled_place_has_no_rivals(play: Play) -> None:
    one, other = placed(play)
    (row,) = settling.troubles(play.ledger.view())[0]
    play.do(settling.settle_record, row["record"], row["events"][0]["event"], reason="It came first.")
    assert against(play, "jenkins", "argocd") == {one: [], other: []}


def test_the_same_said_twice_is_no_rivalry(play: Play) -> None:
    one, other = apart(play, {"text": JENKINS, "key": KEY}, {"text": JENKINS.upper(), "key": KEY})
    held = NoteSet(play.ledger.view())
    assert [note_row(held, held.note(note))["contradicted_by"] for note in (one, other)] == [[], []]


def test_what_goes_on_under_a_key_is_no_rival_of_what_it_followed(play: Play) -> None:
    old = add(play, JENKINS, key=KEY)
    new = add(play, ARGO, key=KEY, supersedes=[old])
    assert against(play, "argocd", states=("all",)) == {new: []}
    assert against(play, view="list", states=("all",)) == {new: []}


def test_a_draft_that_is_to_take_a_notes_place_is_no_rival(play: Play) -> None:
    one = add(play, JENKINS, key=KEY)
    draft = draft_note(play.ledger, ARGO, key=KEY, supersedes=[one])
    for found in (against(play, "jenkins", "argocd", drafts=True), against(play, view="list", drafts=True)):
        assert found == {one: []}, draft


def test_what_has_expired_rivals_nobody(play: Play) -> None:
    one, other = keyed(play)
    play.do(notes.revise_note, other, expires="2027-01-01")
    play.ledger.clock = lambda: seconds_of("2028-01-01T00:00:00.000Z")
    assert against(play, "jenkins") == {one: []}
