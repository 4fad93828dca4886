"""Which evidence may answer for something, or be a second run: found by words in its bytes, so that few are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.ledger import cache

if TYPE_CHECKING:
    from memento_git.work.state import RunState

MARKS: Final = (b"approves", b"reproduces", b"\\")  # by an escape YAML could write either word otherwise
WORTH_KEEPING: Final = 50


def suspects(state: RunState) -> list[str]:
    """Return the evidence that may name what it approves or reran; blobs that do not are kept in the git directory."""
    view, paths = state.view, state.index.evidence
    name = f"{state.id}.plain"
    plain: set[str] = set(cache.read(view.git, name, "1") or ())
    left = {one: path for one, path in paths.items() if view.files.get(path, "") not in plain}
    view.fetch(path for path in left.values() if path not in view.decoded)
    found = [one for one, path in left.items() if path in view.decoded or _may_name(view.contents.get(path))]
    suspected = set(found)
    fresh = {view.files[path] for one, path in left.items() if path in view.contents and one not in suspected} - {""}
    if len(fresh) > WORTH_KEEPING:
        cache.write(view.git, name, "1", sorted(plain | fresh))
    return found


def _may_name(data: bytes | None) -> bool:
    """Tell whether a file may name other evidence; one that is absent is for its reader to tell."""
    return data is None or any(mark in data for mark in MARKS)
