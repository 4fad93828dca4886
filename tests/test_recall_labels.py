"""The labelled set for recall: enough of each kind, and each label leads to a note."""

from __future__ import annotations

import os
import re
from collections import Counter
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from memento_git.review.actions import check

FOLDER: Final = Path(__file__).parent.parent / "benchmarks" / "labels" / "recall"
KINDS: Final = {"fact", "decision", "lesson", "event", "preference", "gap", "question", "checkpoint", "goal", "summary"}
DOMAINS: Final = {
    "architecture", "decisions", "patterns", "tasks", "issues", "dependencies", "history", "context", "feedback",
}  # fmt: skip
RELATIONS: Final = {"relates_to", "caused_by", "depends_on", "blocks", "enables", "contradicts"}
ASKED: Final = {"same_words", "paraphrase", "identifier", "error_message", "time", "why"}


def rows(name: str) -> list[dict[str, Any]]:
    return [row for path in sorted(FOLDER.glob(name)) for row in yaml.safe_load(path.read_text(encoding="utf-8"))]


NOTES: Final = rows("notes-*.yaml")
QUESTIONS: Final = rows("questions.yaml")


def repeated(values: list[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def test_there_are_enough_notes_and_each_has_what_a_note_has() -> None:
    assert len(NOTES) >= 300
    for note in NOTES:
        assert set(note) <= {"id", "kind", "domain", "title", "key", "tags", "at", "thread", "links", "text"}, note
        assert note["kind"] in KINDS, note
        assert note["domain"] in DOMAINS, note
        assert note["tags"], note
        assert all(isinstance(tag, str) for tag in note["tags"]), note
        assert isinstance(note["at"], date), note
        assert note["title"].strip(), note
        assert 8 <= len(note["text"].split()) <= 120, note


def test_nothing_is_there_twice() -> None:
    assert repeated([note["id"] for note in NOTES]) == []
    assert repeated([note["key"] for note in NOTES if "key" in note]) == []
    assert repeated([note["title"].lower() for note in NOTES]) == []
    assert repeated([question["ask"].lower() for question in QUESTIONS]) == []


def test_links_lead_to_notes_and_threads_have_several() -> None:
    names = {note["id"] for note in NOTES}
    links = [(note["id"], link) for note in NOTES for link in note.get("links", ())]
    assert len(links) >= 50
    assert [link for source, link in links if link["to"] not in names - {source}] == []
    assert {link["rel"] for _, link in links} <= RELATIONS
    threads = Counter(note["thread"] for note in NOTES if "thread" in note)
    assert min(threads.values()) >= 2


def test_each_kind_of_question_is_asked_about_as_often() -> None:
    counts = Counter(question["kind"] for question in QUESTIONS)
    assert set(counts) == {*ASKED, "no_answer"}
    assert sum(counts[kind] for kind in ASKED) >= 200
    assert counts["no_answer"] == 50
    assert min(counts[kind] for kind in ASKED) >= 33
    assert max(counts[kind] for kind in ASKED) <= 40


def test_each_label_names_one_to_three_notes_or_none() -> None:
    names = {note["id"] for note in NOTES}
    for question in QUESTIONS:
        assert set(question["notes"]) <= names, question
        assert repeated(question["notes"]) == []
        if question["kind"] == "no_answer":
            assert not question["notes"], question
            assert question["topic"] in {"near", "far"}, question
        else:
            assert 1 <= len(question["notes"]) <= 3, question


def test_an_identifier_stands_in_the_note_that_it_asks_for() -> None:
    texts = {note["id"]: " ".join(str(note.get(part, "")) for part in ("title", "key", "text")) for note in NOTES}
    asked = [question for question in QUESTIONS if question["kind"] == "identifier"]
    for question in asked:
        words = set(re.findall(r"\w+", question["ask"].lower()))
        for name in question["notes"]:
            assert words & set(re.findall(r"\w+", texts[name].lower())), question


def test_all_files_of_the_set_are_read() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {
        "notes-memento.yaml", "notes-pytest.yaml", "notes-sqlalchemy.yaml", "questions.yaml", "further",
    }  # fmt: skip


@pytest.mark.parametrize("folder", [FOLDER, *sorted((FOLDER / "further").iterdir())], ids=lambda folder: folder.name)
def test_the_ledger_that_is_asked_holds_valid_notes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(FOLDER.parent.parent)
    for name in ("HOME", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # it is as before when the test ends
    labels = import_module("recall_labels")
    notes, questions = labels.read_notes(folder), labels.read_questions(folder)
    with import_module("recall_ours").filled(tmp_path, notes) as ledger:
        assert [one for one in check(ledger).findings if one.code != "C001"] == []
    assert (len(notes) >= 70, len(questions) >= 90) == (True, True)
    assert {name for question in questions for name in question.notes} <= {note.id for note in notes}
    assert {question.topic for question in questions if not question.notes} == {"near", "far"}
    assert {question.kind for question in questions if question.notes} == ASKED
