"""What a study found wrong with the memory tools before this one, and no other test holds."""

from __future__ import annotations

import multiprocessing
import re
from typing import TYPE_CHECKING

from memento_git.knowledge import following
from memento_git.knowledge.actions import notes
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.recall import search
from memento_git.ledger.store import Ledger
from memento_git.model.anchors import from_data
from tests.play import Play, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call

WRITERS = 3
EACH = 60


def write_many(root: Path, name: str) -> None:
    """Add notes in a process of its own."""
    with Ledger.open(root) as ledger:
        for number in range(EACH):
            ledger.change("note add", lambda tx, told=f"{name} {number}": notes.add_note(tx, f"Writer {told}."))  # type: ignore[misc]


def test_three_processes_that_write_sixty_notes_each_lose_none(play: Play) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(play.root, name)) for name in "abc"[:WRITERS]]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    assert len(NoteSet(play.ledger.view()).live()) == WRITERS * EACH
    assert git(play.root, "status", "--porcelain") == ""


def test_asking_writes_nothing_and_changes_no_later_answer(play: Play) -> None:
    for text in ("Tokens live an hour.", "Tokens are signed with a key of the server.", "Sessions live a day."):
        play.do(notes.add_note, text)
    head, files = git(play.root, "rev-parse", "HEAD"), git(play.root, "ls-files", "-s")
    first = [(hit.id, hit.score) for hit in search(play.ledger.view(), ["tokens"]).hits]
    for _ in range(5):
        search(play.ledger.view(), ["key of the server"])
    assert [(hit.id, hit.score) for hit in search(play.ledger.view(), ["tokens"]).hits] == first
    assert (git(play.root, "rev-parse", "HEAD"), git(play.root, "ls-files", "-s")) == (head, files)
    assert git(play.root, "status", "--porcelain") == ""


def test_a_change_deep_in_a_function_is_seen(play: Play) -> None:
    lines = ["def long():", *(f"    step_{number}()" for number in range(30)), "    return 1", ""]
    play.commit("app.py", "\n".join(lines), "a long function")
    note = play.do(notes.add_note, "It runs thirty steps.", about=["app.py::long"]).id
    play.commit("app.py", "\n".join(lines).replace("step_25()", "step_25(twice=True)"), "another step")
    note_set = NoteSet(play.ledger.view())
    anchors = [from_data(place) for place in note_set.about(note_set.note(note))]
    with following.opened(play.ledger.git) as follower:
        found = follower.follow(anchors, follower.at("HEAD"))
    assert [one.state for one in found] == ["changed"]


def test_the_guide_costs_little_and_asks_for_no_ritual(cli: Call) -> None:
    _, told, _ = cli("guide")
    assert len(told) < 17_000
    assert not re.search(r"(?i)every turn|mandatory|always recall", told)
