"""A workspace of PMB comes in: kinds, keys, what took whose place, what was archived; what is no knowledge is named."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.errors import MementoError
from memento_git.knowledge.actions.importing import bring
from memento_git.knowledge.note_set import NoteSet
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Play

COLUMNS = (
    "id INTEGER PRIMARY KEY, ulid TEXT UNIQUE NOT NULL, workspace_id TEXT, event_type TEXT NOT NULL, "
    "content TEXT NOT NULL, metadata_json TEXT, timestamp REAL NOT NULL, importance REAL, archived_at REAL"
)
MADE = 1_768_471_200.0  # 2026-01-15T10:00:00Z


def workspace(folder: Path, *events: tuple[str, str, str, dict[str, Any] | str, float, bool]) -> Path:
    """Write events (name, type, content, metadata, importance, archived) as PMB does; return the file."""
    path = folder / "events.sqlite"
    with closing(sqlite3.connect(path)) as base:
        base.execute(f"CREATE TABLE events ({COLUMNS})")
        for number, (name, sort, content, meta, importance, archived) in enumerate(events):
            held = meta if isinstance(meta, str) else json.dumps(meta)
            gone = MADE + 60 if archived else None
            row = (None, name, "w", sort, content, held, MADE + number, importance, gone)
            base.execute(f"INSERT INTO events VALUES ({', '.join('?' * len(row))})", row)
        base.commit()
    return path


def notes(play: Play) -> dict[str, dict[str, Any]]:
    """Return the notes by the name that they had."""
    note_set = NoteSet(play.ledger.view())
    held = {str(note.data["sources"][0]).rpartition(":")[2]: note for note in note_set.readable()}
    return {name: {**note.data, "body": note.body, "status": note_set.status(note.id)} for name, note in held.items()}


def test_a_workspace_comes_in_with_what_took_whose_place(play: Play, tmp_path: Path) -> None:
    key = {"keyed_fact_key": "user::home town"}
    path = workspace(
        tmp_path,
        ("old", "fact", "user home town: Kyiv", {**key, "superseded_by": "new"}, 0.8, True),
        ("new", "fact", "user home town: Warsaw", {**key, "supersedes": ["old"]}, 0.8, False),
        ("lesson", "fact", "Migrate before testing.", {"kind": "lesson", "tags": ["db"]}, 0.85, False),
        ("dead", "fact", "WAL on NFS broke. Use a local disk.", {"kind": "failure"}, 0.85, False),
        ("why", "activity", "REST: clients are browsers.", {"activity_kind": "decision"}, 0.4, False),
        ("step", "milestone", "Eleven layers", {"chain_name": "layers", "triggered_by_ulid": "why"}, 0.6, False),
        ("far", "goal", "Ship it", {"goal_status": "done"}, 0.7, False),
        ("near", "goal", "Write the docs", {"goal_status": "pending", "parent_goal_ulid": "far"}, 0.7, False),
        ("asked", "qa", "Four spaces.", {"query": "How do we indent?"}, 0.5, False),
        ("pinned", "fact", "Never force push.", {}, 1.0, False),
        ("gone", "fact", "It rained.", {}, 0.2, True),
        ("atom", "fact_atom", "a sentence", {"parent_ulid": "old"}, 0.2, False),
    )
    content, files = path.read_bytes(), sorted(tmp_path.iterdir())
    brought = bring(play.ledger, "pmb", path)
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (content, files)
    held = notes(play)
    assert (held["old"]["status"], held["new"]["status"], held["new"]["key"]) == (
        "superseded",
        "active",
        "user.home_town",
    )
    assert held["new"]["supersedes"] == [held["old"]["id"]]
    kinds = {name: note["kind"] for name, note in held.items()}
    assert kinds == {
        "old": "fact", "new": "fact", "lesson": "lesson", "dead": "lesson", "why": "decision", "step": "event",
        "far": "goal", "near": "goal", "asked": "fact", "pinned": "fact", "gone": "fact",
    }  # fmt: skip
    assert (held["dead"]["tags"], held["lesson"]["tags"]) == (["failure"], ["db"])
    assert held["step"]["links"] == [{"rel": "caused_by", "to": held["why"]["id"]}]
    assert (held["far"]["status"], held["gone"]["status"]) == ("retired", "retired")
    assert (held["asked"]["title"], held["asked"]["body"].strip()) == (
        "How do we indent?", "How do we indent?\n\nFour spaces.",
    )  # fmt: skip
    assert held["step"]["thread"] == "layers"
    assert (held["pinned"].get("pinned"), held["lesson"]["importance"]) == (True, 0.85)
    assert (held["old"]["origin"], held["old"]["at"]) == ("import", "2026-01-15T10:00:00.000Z")
    assert [one.where for one in brought.skipped] == ["event atom"]
    head = git(play.root, "rev-parse", "HEAD")
    assert (bring(play.ledger, "pmb", tmp_path).added, git(play.root, "rev-parse", "HEAD")) == ([], head)


def test_a_hostile_workspace_makes_no_circle_and_no_bug(play: Play, tmp_path: Path) -> None:
    path = workspace(
        tmp_path,
        ("a", "fact", "One", {"superseded_by": "b"}, 0.5, True),
        ("b", "fact", "Two", {"superseded_by": "a"}, 0.5, True),
        ("c", "fact", "Three", {"superseded_by": ["a"], "triggered_by_ulid": {"x": 1}, "tags": {"y": 2}}, 7.0, False),
        ("d", "fact", "Four", "{broken", 0.5, False),
        ("e", "fact", "Five", {"keyed_fact_key": "ключ::свойство"}, 0.5, False),
        ("f", "fact", " ", {}, 0.5, False),
    )
    told = {one.where: one.why for one in bring(play.ledger, "pmb", path).skipped}
    assert set(notes(play)) == {"a", "b", "c", "d", "e"}
    assert "took its own place" in told["event b"]
    assert "is not valid here" in told["event e"]
    assert told["event f"] == "it has no content"
    assert told["event d"] == "its metadata are no JSON object: the note comes without"


def test_what_a_note_cannot_have_of_an_event_is_told(play: Play, tmp_path: Path) -> None:
    path = workspace(tmp_path, ("a", "thought", "One", {"cwd": "/x", "tags": {"y": 2}, "kind": "odd"}, 7.0, False))
    told = [one.why for one in bring(play.ledger, "pmb", path).skipped]
    assert told == [
        "its type 'thought' is unknown here: it comes in as a fact",
        "its importance 7.0 is no number from 0 to 1: the note comes without",
        "of its tags, {'y': 2} is no word: the note comes without",
        "what it says of cwd stays out: a note has nothing of that name",
    ]


def test_when_an_event_expires_and_where_it_is_from_come_with_it(play: Play, tmp_path: Path) -> None:
    meta = {"source": "cli-note", "expires_at": MADE + 86_400}
    path = workspace(tmp_path, ("a", "fact", "Try a cache.", meta, 0.6, False))
    assert bring(play.ledger, "pmb", path).skipped == []
    held = notes(play)["a"]
    assert (held["expires"][:10], held["sources"]) == ("2026-01-16", ["pmb:a", "its source was cli-note"])


def test_another_file_is_refused(play: Play, tmp_path: Path) -> None:
    with pytest.raises(MementoError, match="it is no file"):
        bring(play.ledger, "pmb", tmp_path)
    with closing(sqlite3.connect(tmp_path / "events.sqlite")) as base:
        base.execute("CREATE TABLE events (content TEXT)")
    with pytest.raises(MementoError, match="no table events with a column ulid"):
        bring(play.ledger, "pmb", tmp_path)
