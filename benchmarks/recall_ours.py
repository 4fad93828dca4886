"""Ours: a real ledger with the notes in it, asked through the calls that commands use."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import yaml
from measure import environment
from recall_labels import Answer

from memento_git.knowledge import embedders, ranking
from memento_git.knowledge.recall import search
from memento_git.ledger import layout
from memento_git.ledger.store import Ledger
from memento_git.model.ids import ALPHABET
from memento_git.work.actions.setup import init_ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall_labels import Note, Question

    from memento_git.knowledge.recall import Hit

MOST: Final = 10
WORK: Final = ("run", "plan", "task", "evidence")


def without_floor(notes: Sequence[Note], questions: Sequence[Question]) -> list[Answer]:
    """Answer by recall as if it never kept silent, to tell its order from its silence."""
    with patch.multiple(ranking, FLOOR=0.0, WEAK=0.0, TAIL=0.0, FOREIGN=2.0):
        return ours(notes, questions)


def by_meaning(notes: Sequence[Note], questions: Sequence[Question]) -> list[Answer] | None:
    """Answer by words and by the meaning that the model of the extra gives."""
    if not embedders.available():
        return None
    from memento_git.knowledge import semantic

    with patch.object(semantic, "SECONDS", 3600.0):
        return ours(notes, questions, semantic="always")


def ours(notes: Sequence[Note], questions: Sequence[Question], semantic: str = "never") -> list[Answer]:
    """Answer by recall as `memento recall` does: it has floors of its own and may find nothing."""
    with tempfile.TemporaryDirectory() as folder, filled(Path(folder), notes) as ledger:
        labels = {identity(note): note.id for note in notes}
        view = ledger.view()
        found = [search(view, [one.ask], limit=MOST, semantic=semantic).hits for one in questions]
        return [_answer(labels, hits) for hits in found]


def _answer(labels: dict[str, str], hits: Sequence[Hit]) -> Answer:
    return Answer([labels[hit.id] for hit in hits], sum(not hit.weak for hit in hits))


def identity(note: Note) -> str:
    """Return an id as records of its kind have it."""
    return _identity(note.id, note.kind if note.kind in WORK else "note")


def _identity(label: str, kind: str) -> str:
    """Return an id that is the same each time: the label's words are not to be searched."""
    digest = hashlib.sha256(label.encode()).digest()
    return f"{kind}_" + "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:12])


def filled(folder: Path, notes: Sequence[Note]) -> Ledger:
    """Make a repository whose ledger holds the notes, each as the file that the command for it writes."""
    env = environment(folder / "home")
    os.environ.update({name: env[name] for name in ("HOME", "GIT_CONFIG_NOSYSTEM")})
    repository = folder / "repository"
    for argv in (["init", "-q", str(repository)], ["-C", str(repository), "commit", "-q", "--allow-empty", "-m", "0"]):
        subprocess.run(["git", *argv], env=env, check=True)
    with Ledger.open(repository) as ledger:
        init_ledger(ledger)
    for note in notes:
        path = repository / _place(note)
        path.parent.mkdir(parents=True, exist_ok=True)
        front = yaml.safe_dump(_front(note), sort_keys=False)
        path.write_text(front if note.kind == "evidence" else f"---\n{front}---\n{note.text}\n", "utf-8")
    for argv in (["add", "-A"], ["commit", "-q", "-m", "Notes"]):
        subprocess.run(["git", "-C", str(repository), *argv], env=env, check=True)
    return Ledger.open(repository)


def _place(note: Note) -> str:
    """Return the path of a note, or of a record of the run that its domain names."""
    name = identity(note)
    if note.kind not in WORK:
        return f"{layout.KNOWLEDGE}/{note.domain}/{name[len('note_')]}/{name}.md"
    run = name if note.kind == "run" else _identity(note.domain, "run")
    return (layout.evidence_path if note.kind == "evidence" else layout.prose_path)(run, name)


def _front(note: Note) -> dict[str, Any]:
    is_note, is_evidence = note.kind not in WORK, note.kind == "evidence"
    links = [{"rel": relation, "to": _identity(target, "note")} for relation, target in note.links]
    values = {
        "id": identity(note),
        "kind": "test" if is_evidence else note.kind if is_note else "",
        "goal" if note.kind == "run" else "title": "" if is_evidence else note.title,
        "outcome": "observed" if is_evidence else "",
        "summary": f"{note.title}\n{note.text}" if is_evidence else "",
        "key": note.key,
        "tags": list(note.tags),
        "thread": note.thread,
        "links": links,
        "by": "Bench <bench@example.invalid>",
        "at": f"{note.at}T12:00:00.000Z",
        "origin": "person" if is_note else "",
    }
    return {key: value for key, value in values.items() if value}
