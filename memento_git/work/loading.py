"""Reading a whole run at once: one batch of objects, and what was decoded before taken from the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import cache, codec, layout
from memento_git.ledger.codec import Decoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.ledger.view import View
    from memento_git.work.state import RunState

STEP: Final = 500


def load(state: RunState, progress: Callable[[int, int], None] | None = None) -> None:
    """Decode all records of a run into its view."""
    view, index = state.view, state.index
    name = f"{state.id}.files"
    held: dict[str, Any] = cache.read(view.git, name, "3") or {"decoded": {}, "digests": {}}
    view.digests.update(held["digests"])
    attached = [path for paths in index.attachments.values() for path in paths]
    _digest(view, [path for path in attached if view.files[path] not in view.digests])
    keys = {
        path: f"{view.files[path]} {_shape_of(path)}"
        for path in (*index.prose.values(), *index.evidence.values(), *index.events.values())
    }
    known = held["decoded"]
    view.decoded.update({path: Decoded(*known[key]) for path, key in keys.items() if key in known})
    fresh = [path for path in keys if path not in view.decoded]
    for start in range(0, len(fresh), STEP):
        if progress is not None and len(fresh) > STEP:
            progress(start, len(fresh))
        _decode(state, fresh[start : start + STEP])
    if progress is not None and len(fresh) > STEP:
        progress(len(fresh), len(fresh))
    if fresh:
        decoded = {keys[path]: view.decoded[path] for path in keys if path in view.decoded and view.files[path]}
        cache.write(view.git, name, "3", {"decoded": decoded, "digests": view.digests})


def _shape_of(path: str) -> str:
    """Return what decides how a file's text is read: the kind of its record and, of an event, the verb."""
    _, folder, name = path.rsplit("/", 2)
    return f"{folder.partition('_')[0]} {name[19:-18] or name}" if name.endswith(".yaml") else name


def _digest(view: View, paths: list[str]) -> None:
    """Hash attachments, a few at a time, and keep none of their bytes."""
    for start in range(0, len(paths), STEP):
        some = paths[start : start + STEP]
        view.fetch(some)
        for path in some:
            view.sha256(path)
            if view.files[path]:
                view.contents.pop(path, None)


def _decode(state: RunState, paths: list[str]) -> None:
    view = state.view
    view.fetch(paths)
    for path in paths:
        place = layout.place_of(path)
        data = view.contents.get(path)
        if place is not None and data is not None:
            decoded = codec.decode(place, path, data)
            if isinstance(decoded, Decoded):
                view.decoded[path] = decoded
