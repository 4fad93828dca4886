"""The notes of a ledger at their places in the code, at one moment: the work tree, or a commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Refused
from memento_git.knowledge import code_paths, following, note_rows
from memento_git.knowledge.code_paths import CodeUnreadable
from memento_git.knowledge.note_set import NoteSet
from memento_git.ledger import layout, snapshots
from memento_git.model import anchors
from memento_git.model.enumeration import grouped

if TYPE_CHECKING:
    from memento_git.knowledge.anchors import Placed
    from memento_git.knowledge.following import Follower
    from memento_git.ledger.snapshots import Snapshot
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row

LINK: Final = "120000"


class NoSuchCode(Refused):
    token = "code_missing"
    sentence = "there is no {path} in {moment}{near}"
    hint_ = "memento code ls lists the files; a path is from the top of the repository"


class Overlay:
    """The code at one moment, and the live notes that are about it."""

    def __init__(self, note_set: NoteSet, follower: Follower, now: Snapshot) -> None:
        self.note_set = note_set
        self.follower = follower
        self.now = now
        self._at = grouped((one.path, one) for one in follower.placed(note_set.places(note_set.live()), now))

    @property
    def moment(self) -> str:
        return f"commit {self.now.commit[:12]}" if self.now.commit else "the work tree"

    def code(self) -> Row:
        """Return which code it is, as JSON has it."""
        return {"moment": "commit" if self.now.commit else "work_tree", "commit": self.now.commit or None}

    def at(self, path: str) -> list[Placed]:
        """Return what is placed at a path."""
        return self._at.get(path, [])

    def above(self, path: str) -> list[Placed]:
        """Return what is placed at the folders that a file lies in."""
        parts = path.split("/")[:-1]
        return [one for end in range(len(parts)) for one in self.at("/".join(parts[: end + 1]))]

    def notes_at(self, path: str) -> list[str]:
        """Return the notes that are placed at a path, each once."""
        return list(dict.fromkeys(one.note for one in self.at(path)))

    def files(self) -> list[str]:
        """Return the files of the code, without the ledger's own, links and submodules."""
        return sorted(
            path for path, entry in self.now.entries.items()
            if entry.type == "blob" and entry.mode != LINK and not path.startswith(f"{layout.FOLDER}/")
        )  # fmt: skip

    def below(self, folder: str) -> list[str]:
        """Return the files below a folder, or the one file that the path names; all without a path."""
        return [path for path in self.files() if not folder or path == folder or path.startswith(f"{folder}/")]

    def folder(self, given: str) -> str:
        """Return the path of a file or folder that was typed; nothing stands for all."""
        path = code_paths.chosen(self.note_set.view.git, given, self.now.entries)
        entry = self.now.entries.get(path)
        if path and (entry is None or not self.below(path)):
            raise NoSuchCode(path=path, moment=self.moment, near=self._near(path))
        return path

    def file(self, given: str) -> str:
        """Return the path of a file that was typed; refuse what is no plain file."""
        path = code_paths.chosen(self.note_set.view.git, given, self.now.entries)
        entry = self.now.entries.get(path)
        if path == layout.FOLDER or path.startswith(f"{layout.FOLDER}/"):
            raise CodeUnreadable(path=path, why="it is part of the ledger, which memento show reads")
        if entry is None and path:
            raise NoSuchCode(path=path, moment=self.moment, near=self._near(path))
        if entry is None or entry.type == "tree":
            name = path or "the top of the repository"
            raise CodeUnreadable(path=name, why="it is a folder; memento code ls lists it")
        if entry.type == "commit":
            raise CodeUnreadable(path=path, why="it is a submodule, a repository of its own")
        if entry.mode == LINK:
            target = (self.follower.reader.content(entry.oid) or b"").decode(errors="replace")
            raise CodeUnreadable(path=path, why=f"it is a symbolic link to {target}")
        return path

    def _near(self, path: str) -> str:
        near = code_paths.instead(path, self.now.entries, self.files())
        return f"; {near}" if near else ""

    def text(self, path: str) -> str:
        """Return the text of a file; refuse what is none."""
        blob = self.now.blob(path)
        size = self.follower.reader.sizes([blob]).get(blob)
        if size is None:
            raise CodeUnreadable(path=path, why="git does not have this object")
        if size > snapshots.LARGEST:
            raise CodeUnreadable(path=path, why=f"it has {size} bytes; up to {snapshots.LARGEST} are looked into")
        data = self.follower.reader.content(blob) or b""
        if b"\0" in data:
            raise CodeUnreadable(path=path, why="it is binary")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise CodeUnreadable(path=path, why=f"its text is not UTF-8: byte {error.start}") from None


@contextmanager
def opened(view: View, rev: str = "", path: str = "") -> Iterator[Overlay]:
    """Yield the notes of a view over the code at a revision; without one over the work tree as it is now.

    A bare repository has no work tree: its HEAD is shown. A `path` is looked at although git may not track it.
    """
    with following.opened(view.git) as follower:
        if rev or view.git.top is None:
            now = follower.at(rev or "HEAD")
        else:
            now = code_paths.work_tree_now(view.git, follower.reader, path)
        yield Overlay(NoteSet(view), follower, now)


def note_row(note_set: NoteSet, placed: Placed) -> Row:
    """Return a note at a place: what a reader needs to know of it there."""
    whole: Mapping[str, Any] = note_rows.note_row(note_set, note_set.note(placed.note))
    keys = (
        "id", "kind", "title", "key", "status", "expired", "incomplete", "origin", "actor", "created_at",
        "confirmed_at", "contradicted_by", "evidence", "orders", "text",
    )  # fmt: skip
    told = placed.found
    return {
        **{key: whole[key] for key in keys},
        "anchor": str(placed.anchor), "state": told.state, "stale": placed.is_stale,
        "path": placed.path, "lines": anchors.spell(told.lines) if told.lines else None,
        "edited": [anchors.spell(span) for span in told.edited if span[0] <= span[1]], "why": told.why or None,
    }  # fmt: skip


def brief_row(note_set: NoteSet, placed: Placed) -> Row:
    """Return a note at a place in a few words."""
    note, told = note_set.note(placed.note), placed.found
    return {
        "id": note.id, "kind": note.data["kind"], "title": note.title, "state": told.state,
        "stale": placed.is_stale, "lines": anchors.spell(told.lines) if told.lines else None,
    }  # fmt: skip
