"""Whatever happens to notes on branches, and in whatever order these come together, the notes come to the same."""

from __future__ import annotations

import contextlib
import itertools
import random
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memento_git.errors import MementoError
from memento_git.knowledge.actions import notes
from memento_git.knowledge.note_set import NoteSet
from memento_git.ledger.store import Ledger
from memento_git.review import actions
from memento_git.verbs import settling
from memento_git.work.actions.setup import init_ledger
from tests.play import commit_all, git

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject

    from memento_git.ledger.transaction import Transaction

BRANCHES = ("one", "two", "three")
VERBS = (
    "add", "supersede", "merge", "confirm", "park", "resume", "retire", "restore", "resolve", "progress", "finish",
    "promote", "link", "unlink", "redact", "void",
)  # fmt: skip
EXPECTED = {"T001", "N002", "N003", "N005"}
TWICE = settings(max_examples=12, derandomize=True, suppress_health_check=list(HealthCheck))


def _act(verb: str, note_set: NoteSet, pick: Callable[[list[str]], str], number: int) -> Callable[[Transaction], Any]:
    """Return one action on notes that are there."""
    names = sorted(note_set.index.prose)
    note, other = pick(names), pick(names)
    event = pick(sorted(note_set.index.events))
    text = f"Word{number} and thing{number} go with matter{number}."
    return {
        "add": lambda tx: notes.add_note(tx, text, key=f"key.{number % 3}"),
        "supersede": lambda tx: notes.add_note(tx, text, supersedes=[note]),
        "merge": lambda tx: notes.merge_notes(tx, [note, other], text),
        "confirm": lambda tx: notes.confirm_note(tx, note),
        "park": lambda tx: notes.park_note(tx, note),
        "resume": lambda tx: notes.resume_note(tx, note),
        "retire": lambda tx: notes.retire_note(tx, note, reason="r"),
        "restore": lambda tx: notes.restore_note(tx, note),
        "resolve": lambda tx: notes.resolve_note(tx, note, answer=other),
        "progress": lambda tx: notes.progress_note(tx, note, progress=text),
        "finish": lambda tx: notes.finish_note(tx, note),
        "promote": lambda tx: notes.promote_note(tx, note),
        "link": lambda tx: notes.link_note(tx, note, "relates_to", other),
        "unlink": lambda tx: notes.unlink_note(tx, note, "relates_to", other),
        "redact": lambda tx: settling.redact_record(tx, event if number % 3 else note, reason="r"),
        "void": lambda tx: settling.void_event(tx, event, reason="r"),
    }[verb]


def told(ledger: Ledger, *at: str) -> dict[str, Any]:
    """Return all that the notes of a view come to."""
    note_set = NoteSet(ledger.view(at))
    found = {}
    for name in sorted({*note_set.index.prose, *note_set.index.events_of}):
        folded = note_set.folded(name)
        wrong = [(seen.event.id, seen.verdict) for seen in (*folded.illegal, *folded.dangling)]
        found[name] = (
            note_set.status(name),
            dict(folded.lanes.values),
            dict(folded.lanes.contested),
            folded.heads,
            wrong,
        )
    return found


def _begin(folder: str) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    (Path(folder) / "app.py").write_text("x\n")
    commit_all(Path(folder), "code")


def _live_on(ledger: Ledger, branch: str, data: DataObject) -> None:
    """Do some random verbs on a branch of its own."""
    git(ledger.git.start, "switch", "-qc", branch, "main")
    for verb in data.draw(st.lists(st.sampled_from(VERBS), min_size=2, max_size=5)):
        note_set = NoteSet(ledger.view())

        def pick(names: list[str]) -> str:
            return data.draw(st.sampled_from(names)) if names else "zzzz"

        act = _act(verb, note_set, pick, data.draw(st.integers(0, 10**6)))
        with contextlib.suppress(MementoError):
            ledger.change(verb, act)
    assert {one.code for one in actions.check(ledger, no_base=True).findings} == set()


@TWICE
@given(st.data())
def test_random_verbs_on_random_branches_merged_in_random_orders_come_to_the_same(data: DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _begin(folder)
        root = Path(folder)
        same = random.Random(0).randbytes  # what is drawn follows from the order of ids, so an example has its own
        with Ledger.open(folder, entropy=same) as ledger:
            init_ledger(ledger)
            for number, kind in enumerate(("fact", "goal", "question")):
                ledger.change("add", lambda tx, n=number, k=kind: notes.add_note(tx, f"The {k} number {n}.", kind=k))  # type: ignore[misc]
            for branch in BRANCHES:
                _live_on(ledger, branch, data)
            orders = data.draw(st.permutations(list(itertools.permutations(BRANCHES))))[:2]
            seen = []
            for place, (first, *others) in enumerate(orders):
                git(root, "switch", "-qc", f"merged{place}", first)
                for other in others:
                    git(root, "merge", "-q", "--no-edit", other)
                seen.append(told(ledger))
            seen += [told(ledger, *order) for order in orders if not _redacted(ledger, order)]
            assert all(one == seen[0] for one in seen)
            assert not [note for note, (*_, wrong) in seen[0].items() if wrong]
            assert {one.code for one in actions.check(ledger, no_base=True).findings} <= EXPECTED


def _redacted(ledger: Ledger, at: tuple[str, ...]) -> bool:
    """Tell whether a branch took a file away that others still have: a union shows both."""
    return any("-redacted-" in path for path in ledger.view(at).files)
