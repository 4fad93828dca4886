"""Notes that cannot be read are told of wherever notes are listed; those that were redacted are shown nowhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memento_git import Memory
from memento_git.errors import MementoError
from memento_git.knowledge.actions import notes
from memento_git.knowledge.note_set import NoteSet
from memento_git.verbs.settling import redact_record
from tests.play import Play, add, git

if TYPE_CHECKING:
    from tests.play import Call

SECRET = "The launch is named Bluebird."
UNREAD = "1 note cannot be read, so what is shown may lack some: memento check"


@pytest.fixture
def broken(play: Play) -> str:
    """A note with conflict markers, beside one that can be read."""
    add(play, "The gateway for payments is Zed.", thread="pay")
    note = add(play, "The gateway for mail is Acme.", key="l.l", thread="mail", pinned=True)
    path = play.root / NoteSet(play.ledger.view()).path(note)
    play.commit(path, path.read_text().replace("title:", "<<<<<<< HEAD\ntitle:", 1), "broken")
    return note


@pytest.mark.parametrize(
    "words",
    [
        ("note", "list", "--status", "all"), ("note", "threads"), ("session", "start"), ("session", "status"),
        ("recall",), ("recall", "gateway"), ("recall", "gateway", "--state", "all"), ("recall", "--view", "digest"),
    ],
)  # fmt: skip
def test_a_note_that_cannot_be_read_is_told_of_beside_every_list_of_both_scopes(
    play: Play, broken: str, cli: Call, words: tuple[str, ...]
) -> None:
    cli("session", "start", "-C", str(play.root))
    with Memory() as mine:
        mine.store("The gateway at home is blue.")
    code, _, err = cli(*words, "-C", str(play.root))
    assert (code, UNREAD in err) == (0, True)
    assert UNREAD in json.loads(cli(*words, "--json", "-C", str(play.root))[1])["warnings"]
    if words[0] in ("recall", "note") and "threads" not in words:
        told = json.loads(cli(*words, "--scope", "all", "--json", "-C", str(play.root))[1])
        assert UNREAD in told["warnings"]
    assert broken in cli("check", "--no-base", "-C", str(play.root))[1]


@pytest.mark.parametrize(
    "words",
    [
        ("changes", "--since", "HEAD~1"), ("check", "anchors"), ("check", "impact", "ID"), ("check", "duplicates"),
        ("check", "conflicts"), ("check", "expired"), ("check", "usage"), ("check", "--diff", "HEAD~1..HEAD"),
        ("diff", "HEAD~1..HEAD"), ("code", "read", "app.py"), ("code", "ls"), ("code", "map", "app.py"),
        ("code", "coverage"), ("code", "grep", "answer"), ("recipe", "run", "session-orient"),
        ("recipe", "run", "file-context", "file=app.py"), ("recipe", "run", "drift-check"), ("scan", "--docstrings"),
        ("export", "--format", "md"), ("remember", "The gateway for pages is Dot."), ("note", "show", "ID"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_note_that_cannot_be_read_is_told_of_by_whatever_asked_for_it(
    play: Play, broken: str, cli: Call, words: tuple[str, ...]
) -> None:
    other = next(note.id for note in NoteSet(play.ledger.view()).readable())
    named = [other if word == "ID" else word for word in words]
    code, out, _ = cli(*named, "--json", "-C", str(play.root))
    assert (code, UNREAD in json.loads(out)["warnings"]) == (0, True)
    assert UNREAD in cli(*named, "-C", str(play.root))[2]


@pytest.mark.parametrize("form", ["agents-md", "md"])
def test_an_export_names_the_note_that_cannot_be_read(play: Play, broken: str, cli: Call, form: str) -> None:
    told = json.loads(cli("export", "--format", form, "--json", "-C", str(play.root))[1])
    assert [one["where"] for one in told["skipped"]] == [broken]
    assert f"left out: {broken}: it cannot be read" in cli("export", "--format", form, "-C", str(play.root))[2]


def test_the_key_of_a_note_that_cannot_be_read_is_neither_unknown_nor_free(play: Play, broken: str) -> None:
    note_set = NoteSet(play.ledger.view())
    for given in ("l.l", broken):
        with pytest.raises(MementoError) as caught:
            note_set.find(given)
        assert caught.value.token == "ledger_broken"
    with pytest.raises(MementoError) as caught:
        add(play, "The gateway for mail is Bmce.", key="l.l")
    assert caught.value.token == "ledger_broken"
    with pytest.raises(MementoError) as caught:
        note_set.find("l.m")
    assert caught.value.token == "key_unknown"


@pytest.fixture
def back(play: Play) -> str:
    """A note that was redacted, and brought back by a merge of a branch that had bettered it."""
    note = add(play, "The launch is named Bluejay.", key="launch.name", thread="launch")
    git(play.root, "checkout", "-qb", "side")
    play.do(notes.revise_note, note, text=SECRET)
    text = git(play.root, "show", f"HEAD:{NoteSet(play.ledger.view()).path(note)}")
    git(play.root, "checkout", "-q", "main")
    path = NoteSet(play.ledger.view()).path(note)
    play.do(redact_record, note, reason="It is secret.")
    git(play.root, "merge", "-q", "side", check=False)
    play.commit(path, text + "\n", "merge side")
    return note


def test_what_was_redacted_is_shown_nowhere_though_its_file_came_back(play: Play, back: str, cli: Call) -> None:
    add(play, "The launch is in May.")
    for words in (
        ("recall", "launch bluebird"), ("recall", "bluebird", "--state", "all"), ("recall", "--view", "digest"),
        ("recall", "--state", "all"), ("note", "show", back), ("note", "show", back, "--what", "history"),
        ("show", back), ("note", "list", "--status", "all"), ("note", "threads"), ("session", "start"),
        ("log", "--kind", "note"), ("log", "--record", back), ("export", "--format", "jsonl"),
        ("export", "--format", "md"), ("export", "--format", "agents-md"),
    ):  # fmt: skip
        for form in ((), ("--json",)):
            out, err = cli(*words, *form, "-C", str(play.root))[1:]
            assert "bluebird" not in (out + err).lower().replace("launch bluebird", "").replace('"bluebird"', ""), words
    with Memory(play.root) as memory:
        assert SECRET not in [one.content for one in (*memory.recent(), *memory.recall("bluebird"))]
        with pytest.raises(MementoError) as caught:
            memory.get(back)
        assert caught.value.token == "note_redacted"


def test_recall_says_what_to_do_about_what_was_redacted_and_came_back(play: Play, back: str, cli: Call) -> None:
    out = cli("recall", "bluebird", "-C", str(play.root))[1]
    assert "left out because redacted: 1: memento check" in out
    assert "left out because redacted: 1" in cli("recall", "bluebird", "--state", "all", "-C", str(play.root))[1]
    told = cli("check", "--no-base", "-C", str(play.root))[1]
    assert ("R001" in told, back in told) == (True, True)


def test_a_note_of_which_an_event_cannot_be_read_says_so_wherever_it_is_shown(play: Play, cli: Call) -> None:
    note = add(play, "The gateway for refunds is Dot.", kind="goal", about=["app.py"])
    play.do(notes.confirm_note, note)
    where = ("-C", str(play.root))
    shown: tuple[tuple[str, ...], ...] = (
        ("note", "list"), ("note", "show", note), ("recall", "refunds"), ("recall", "--view", "list"),
        ("session", "start"), ("code", "read", "app.py"), ("export", "--format", "agents-md"),
    )  # fmt: skip
    assert not any("incomplete" in cli(*words, *where)[1] for words in shown)
    folder = play.root / NoteSet(play.ledger.view()).path(note).removesuffix(".md")
    (event,) = folder.glob("*-confirmed-*")
    play.commit(event, "do: [\n", "by hand")
    for words in shown:
        assert "incomplete" in cli(*words, *where)[1], words
    assert json.loads(cli("note", "list", "--json", *where)[1])["notes"][0]["incomplete"]
    assert json.loads(cli("recall", "refunds", "--json", *where)[1])["hits"][0]["incomplete"]
    name = f"event_{event.stem.rpartition('-')[2]}"
    assert cli("settle", "--void", name, "--reason", "Nobody knows what it said.", *where)[0] == 0
    assert not any("incomplete" in cli(*words, *where)[1] for words in shown)
