"""Reading all of a run at once, what was decoded before taken from the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.ledger import cache, decoding
from memento_git.ledger.decoding import STEP

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.work.state import RunState


def load(state: RunState) -> None:
    """Decode all records of a run into its view."""
    view, index = state.view, state.index
    name = f"{state.id}.files"
    held: dict[str, Any] = cache.read(view.git, name, "3") or {"decoded": {}, "digests": {}}
    view.digests.update(held["digests"])
    attached = [path for paths in index.attachments.values() for path in paths]
    _digest(view, [path for path in attached if view.files[path] not in view.digests])
    paths = (*index.prose.values(), *index.evidence.values(), *index.events.values())
    decoded, fresh = decoding.bring(view, paths, held["decoded"])
    if fresh:
        cache.write(view.git, name, "3", {"decoded": decoded, "digests": view.digests})


def _digest(view: View, paths: list[str]) -> None:
    """Hash attachments, a few at a time, and keep none of their bytes."""
    for start in range(0, len(paths), STEP):
        some = paths[start : start + STEP]
        view.fetch(some)
        for path in some:
            view.sha256(path)
            if view.files[path]:
                view.contents.pop(path, None)
