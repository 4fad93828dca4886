"""What a command printed, as far as its evidence keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import layout
from memento_git.model.work import Evidence
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.model.rows import EvidenceRow, OutputRow

LINES: Final = 20
CHARACTERS: Final = 4000


def captured(view: View, row: EvidenceRow, *, whole: bool = False) -> list[OutputRow]:
    """Return what a piece of evidence keeps of each stream that its command wrote to; the end of it, or the whole."""
    found = RunState(view, row["run_id"]).evidence(row["id"])
    command = found.data.get("command") if isinstance(found, Evidence) else None
    streams = {name: command[name] for name in ("stdout", "stderr")} if command else {}
    return [_output(view, row, name, told, whole=whole) for name, told in streams.items() if told["bytes"]]


def _output(view: View, row: EvidenceRow, name: str, told: dict[str, Any], *, whole: bool) -> OutputRow:
    path = f"{layout.folder_of(row['run_id'], row['id'])}/{told['kept']}" if "kept" in told else None
    data = view.read(path) if path else None
    text = None if data is None else data.decode(errors="replace")
    shown = text if whole or not text else "".join(text.splitlines(keepends=True)[-LINES:])[-CHARACTERS:]
    return {
        "stream": name,
        "bytes": told["bytes"],
        "cut": told.get("cut", 0),
        "redacted": told.get("redacted", {}),
        "binary": told.get("binary", False),
        "path": path,
        "place": path and view.place_of(row["run_id"], path),
        "as_recorded": None if data is None else view.sha256(path or "") == told.get("kept_sha256"),
        "text": shown,
        "omitted": len(text or "") - len(shown or ""),
    }
