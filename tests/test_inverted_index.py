"""The inverted index: a text meets the same notes as if all had been read, whatever befalls what is kept."""

from __future__ import annotations

import json
import random
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.errors import MementoError
from memento_git.knowledge import inverted_index, similarity
from memento_git.knowledge.actions import notes, remembering, sessions
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.similarity import Similarity
from memento_git.ledger import lock
from memento_git.ledger.git_status import UncommittedLedger
from tests.notes import Notes
from tests.play import git, merge_into

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from tests.play import Play

SIGNS = ("the", "on", "off", "not", "never", "always", "before", "after", "required", "optional", "80", "443", "Größe")
VOCABULARY = (*SIGNS, *(f"word{number}" for number in range(40)))
KEYS = ("net.port", "ops.deploy", "ops.rollback")
MANY = 50


@pytest.fixture(autouse=True)
def always_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the index asked about ledgers of any size, and few notes in each of its rows."""
    monkeypatch.setattr(inverted_index, "FEW", 0)
    monkeypatch.setattr(inverted_index, "BLOCK", 8 * (inverted_index.MOST_WORDS + 1))


def wording(chance: random.Random) -> str:
    """Return few or many words, out of so few that many texts are near to one another."""
    return " ".join(chance.choices(VOCABULARY, k=chance.choice((1, 2, 3, 5, 8, 13, 30))))


def tried(play: Play, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    with suppress(MementoError):
        return play.do(action, *arguments, **options)


def grow(play: Play, chance: random.Random, count: int) -> None:
    """Add notes in commits of their own, some with a key, some in the place of another; better and link some."""
    told = [note.id for note in NoteSet(play.ledger.view()).readable()]
    for _ in range(count):
        old = [chance.choice(told)] if told and chance.random() < 0.2 else []
        key = chance.choice(KEYS) if chance.random() < 0.1 else ""
        added = tried(play, notes.add_note, wording(chance), key=key, supersedes=old)
        told += [added.id] if added is not None else []
        one, other = chance.choice(told), chance.choice(told)
        match chance.randrange(12):
            case 0:
                tried(play, notes.link_note, one, "contradicts", other)
            case 1:
                tried(play, notes.revise_note, one, text=wording(chance))
            case 2:
                tried(play, notes.merge_notes, [one, other], f"{wording(chance)} {one}")
            case 3:
                tried(play, notes.retire_note, one, reason="It is over.")
            case _:
                pass


def asked(note_set: NoteSet, text: str) -> tuple[Any, ...]:
    """Return what adding a text asks of the notes."""
    others = {note.id: similarity.said(note.title, note.body) for note in note_set.near(text)}
    keyed = [[note.id for note in note_set.holders(key)] for key in KEYS]
    return similarity.near(text, others), [note.id for note in note_set.saying(text)], keyed


def compared(note_set: NoteSet, text: str) -> tuple[Any, ...]:
    """Return the same by comparing with all live notes."""
    live = note_set.live()
    same = [
        one.id for one in live if similarity.plain(one.body) == similarity.plain(text) and not note_set.is_expired(one)
    ]
    keyed = [[one.id for one in live if one.data.get("key") == key] for key in KEYS]
    return similarity.near(text, {one.id: similarity.said(one.title, one.body) for one in live}), same, keyed


def meets_the_same(ledger: Ledger, chance: random.Random) -> None:
    """Compare what the index leads to with what all notes say, for any text and for each note's own."""
    known = NoteSet(ledger.view())
    own = [note.body for note in known.readable()]
    for text in (*(wording(chance) for _ in range(20)), *chance.sample(own, 5)):
        assert asked(NoteSet(ledger.view()), text) == compared(known, text)
    for note in known.readable():
        note_set = NoteSet(ledger.view())
        assert note_set.contradictions(note) == known.contradictions(note)
        assert note_set.backlinks(note.id) == known.backlinks(note.id)
        assert len(note_set.view.decoded) < len(known.view.decoded)


def kept(ledger: Ledger) -> Path:
    return ledger.git.common_dir / "memento" / "register"


def told_tree(ledger: Ledger) -> str:
    return str(json.loads((kept(ledger) / inverted_index.STATE).read_bytes())[1])


@pytest.mark.parametrize("seed", range(2))
def test_a_text_meets_the_notes_that_it_meets_when_all_are_read(play: Play, seed: int) -> None:
    chance = random.Random(seed)
    grow(play, chance, MANY)
    meets_the_same(play.ledger, chance)
    git(play.root, "switch", "-qc", "other", "HEAD~20")
    grow(play, chance, 5)
    meets_the_same(play.ledger, chance)
    merge_into(play.root, "main", "other")
    meets_the_same(play.ledger, chance)


def test_notes_of_one_transaction_meet_one_another(play: Play) -> None:
    play.do(notes.add_note, "The gate is opened before nine.")

    def act(tx: Transaction) -> list[notes.Added]:
        return [notes.add_note(tx, f"The gate is opened {when} nine.") for when in ("after", "before", "after")]

    first, second, third = play.ledger.change("note add", act)
    assert [(one.existing, len(one.alike)) for one in (first, second, third)] == [(False, 1), (True, 0), (True, 0)]
    assert third.id == first.id


def test_a_note_with_many_words_meets_a_short_one(play: Play) -> None:
    long = " ".join(f"word{number}" for number in range(400))
    added = play.do(notes.add_note, long)
    assert [one.note for one in play.do(notes.add_note, f"not {long} more").alike] == [added.id]
    told = play.do(notes.add_note, " ".join(f"word{number}{'.' * (number % 2)}" for number in range(400)))
    short = play.do(notes.add_note, "word6 word7 not")
    assert [(one.note, one.share) for one in short.alike] == [(told.id, 1.0)]
    assert play.do(notes.add_note, "word7 not").alike == [Similarity(told.id, 0.5, True)]


def _garbage(place: Path) -> None:
    data = bytearray((place / inverted_index.BASE).read_bytes())
    data[len(data) // 3 :] = b"\7" * (len(data) - len(data) // 3)
    (place / inverted_index.BASE).write_bytes(bytes(data))


def _believed(place: Path) -> None:
    """Damage the file, and let the state say that it is as it was written."""
    (place / inverted_index.BASE).write_bytes(b"SQLite format 3\0" + b"\7" * 5000)
    state = json.loads((place / inverted_index.STATE).read_bytes())
    told = (place / inverted_index.BASE).stat()
    (place / inverted_index.STATE).write_text(json.dumps([*state[:3], [told.st_size, told.st_mtime_ns]]))


def _old(place: Path) -> None:
    state = json.loads((place / inverted_index.STATE).read_bytes())
    (place / inverted_index.STATE).write_text(json.dumps(["0.0.1", *state[1:]]))


def _of_a_lost_tree(place: Path) -> None:
    state = json.loads((place / inverted_index.STATE).read_bytes())
    (place / inverted_index.STATE).write_text(json.dumps([state[0], "1" * 40, *state[2:]]))


@pytest.mark.parametrize(
    "befall",
    [
        shutil.rmtree, _garbage, _believed, _old, _of_a_lost_tree,
        lambda place: (place / inverted_index.BASE).unlink(),
        lambda place: (place / inverted_index.BASE).write_bytes(b""),
        lambda place: (place / inverted_index.STATE).unlink(),
        lambda place: (place / inverted_index.STATE).write_text("[1"),
    ],
)  # fmt: skip
def test_whatever_befalls_the_register_it_is_made_anew(play: Play, befall: Callable[[Path], object]) -> None:
    chance = random.Random(7)
    grow(play, chance, 12)
    befall(kept(play.ledger))
    text = NoteSet(play.ledger.view()).readable()[3].body
    assert asked(NoteSet(play.ledger.view()), text) == compared(NoteSet(play.ledger.view()), text)
    grow(play, chance, 3)
    meets_the_same(play.ledger, chance)


def test_who_cannot_have_the_register_reads_all_notes(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(8)
    grow(play, chance, 12)
    before = told_tree(play.ledger)
    monkeypatch.setattr(inverted_index, "TIMEOUT", 0.0)
    other = play.beside(play.root)
    with lock.held(kept(play.ledger).with_name("register.lock")):
        text = NoteSet(play.ledger.view()).readable()[3].body
        found = asked(NoteSet(other.ledger.view()), text)
    assert found == compared(NoteSet(play.ledger.view()), text)
    assert told_tree(play.ledger) == before


def test_a_register_that_has_seen_too_much_begins_anew(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverted_index, "SPARE", 0)
    note = play.do(notes.add_note, "The lease lasts an hour.").id
    for minutes in range(9):
        play.do(notes.revise_note, note, text=f"The lease lasts {minutes} minutes.")
        assert [one.id for one in NoteSet(play.ledger.view()).saying(f"the lease lasts {minutes} minutes.")] == [note]
    assert json.loads((kept(play.ledger) / inverted_index.STATE).read_bytes())[2] <= 6


@pytest.mark.parametrize("few", [0, inverted_index.FEW])
def test_what_is_only_compared_with_may_be_edited_but_not_what_a_change_is_about(
    play: Play, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inverted_index, "FEW", few)
    same, other = (play.do(notes.add_note, text).id for text in ("The lease lasts an hour.", "Walruses eat clams."))
    path = play.root / NoteSet(play.ledger.view()).path(other)
    path.write_text(path.read_text(encoding="utf-8").replace("clams", "fish"), encoding="utf-8")
    edited = path.read_bytes()

    sessions.start_session(play.ledger)
    new = remembering.keep_note(play.ledger, "Nothing of the kind is said anywhere.", key="ops.lease").row["id"]
    with play.ledger.transaction("both") as tx:
        assert notes.add_note(tx, "The lease lasts an hour.").id == same
        notes.add_note(tx, "Another matter altogether.")
    ended = sessions.end_session(play.ledger, "Two matters.")

    assert new in NoteSet(play.ledger.view()).note(ended["note"]["id"]).body
    assert path.read_bytes() == edited
    assert git(play.root, "status", "--porcelain") == f"M {path.relative_to(play.root)}"
    for act, given in (
        (notes.add_note, {"text": "Walruses eat fish.", "supersedes": [other]}),
        (notes.revise_note, {"note": other, "text": "Walruses eat fish."}),
        (notes.retire_note, {"note": other, "reason": "wrong"}),
    ):
        with pytest.raises(UncommittedLedger):
            play.do(act, **given)


def test_a_key_in_a_note_that_nobody_can_read_is_still_refused(play: Play) -> None:
    written = Notes(play.root, play.ledger)
    written.file(written.path("5"), "---\nkey: ops.deploy\nnonsense\n---\nText.\n")
    written.commit()
    play.do(notes.add_note, "The lease lasts an hour.")
    with pytest.raises(MementoError, match="note_000000000005"):
        play.do(notes.add_note, "Deploys run at night.", key="ops.deploy")


def test_adding_a_note_to_many_reads_few_of_them(play: Play) -> None:
    written = Notes(play.root, play.ledger)
    for number in range(40):
        written.add(str(number), f"Matter {number}", f"About{number} nothing{number} alike{number}.")
    written.commit()
    play.do(notes.add_note, "Here is the first.")

    def act(tx: Transaction) -> int:
        notes.add_note(tx, "about7 nothing7 alike7 else")
        return sum(path.startswith(".memento/knowledge") for path in tx.view.contents)

    assert play.ledger.change("note add", act) == 2
