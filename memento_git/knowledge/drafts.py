"""Notes that are not part of the ledger yet: kept below the common git directory until somebody promotes them.

Where none is named, those of who acts are promoted, made in their session, and by no scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.knowledge.injection import LOW, unvouched
from memento_git.ledger import atomic_file, codec, layout
from memento_git.ledger.codec import Decoded
from memento_git.ledger.layout import Place
from memento_git.model.ids import NoSuchRecord, resolve
from memento_git.model.work import Prose

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.model.finding import Finding
    from memento_git.model.objection import Objection

SUFFIX: Final = ".md"
SCANS: Final = ("docstring", "described")
"""The tags of what a scan drafts."""


class Own(NamedTuple):
    """Who acts, and since when their session is open; nothing where none is."""

    actor: str
    since: str = ""

    def left_out(self, data: Mapping[str, Any], body: str) -> Objection:
        """Return why a draft is promoted by no more than its name, or with all: in one word; nothing where it is."""
        if unvouched(data, body):
            return "orders"
        if data["origin"] in LOW and not {*SCANS}.isdisjoint(data.get("tags") or ()):
            return "scanned"
        if data["by"] != self.actor:
            return "others"
        return "earlier" if data["at"] < self.since else ""


class Drafts:
    """The drafts of one clone; its worktrees share them, other clones never see them."""

    def __init__(self, git: Git) -> None:
        self.folder: Path = git.common_dir / "memento" / "drafts"
        self.findings: list[Finding] = []

    def add(self, data: dict[str, Any], body: str, domain: str) -> str:
        """Keep a draft, on the disk when this returns; return its id."""
        atomic_file.write(self._path(domain, data["id"]), codec.encode_prose(data, body), durable=True)
        return str(data["id"])

    def _path(self, domain: str, note: str) -> Path:
        return self.folder / domain / f"{note}{SUFFIX}"

    def ids(self) -> list[str]:
        return [path.stem for path in self._files()]

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob(f"*/note_*{SUFFIX}"), key=lambda path: path.stem)

    def all(self) -> list[Prose]:
        """Return the drafts that can be read, the oldest first; others become findings."""
        found = [self._read(path) for path in self._files()]
        return sorted((one for one in found if one is not None), key=lambda one: (one.data["at"], one.id))

    def find(self, given: str) -> Prose:
        """Return the draft that a prefix of its id names."""
        files = self._files()
        identity = resolve(given, "note", [path.stem for path in files])
        found = next(filter(None, (self._read(path) for path in files if path.stem == identity)), None)
        if found is None:
            raise NoSuchRecord(kind="draft", given=given)
        return found

    def _read(self, path: Path) -> Prose | None:
        note, domain = path.stem, path.parent.name
        place = Place("note", "", note, note)
        data = path.read_bytes()
        decoded = codec.decode(place, str(path), data)
        if not isinstance(decoded, Decoded):
            self.findings += decoded
            return None
        made = codec.record(place, str(path), decoded)
        if not isinstance(made, Prose):
            self.findings += made if isinstance(made, list) else []
            return None
        return made._replace(path=layout.note_path(domain, note))

    def remove(self, notes: Iterable[str]) -> None:
        """Drop drafts; one that is gone already is no matter."""
        gone = set(notes)
        for path in self._files():
            if path.stem in gone:
                path.unlink(missing_ok=True)
