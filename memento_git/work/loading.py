"""Reading a whole run at once: one batch of objects, and what was decoded before taken from the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.ledger import cache, codec, layout
from memento_git.ledger.codec import Decoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.work.state import RunState

STEP: Final = 500


def load(state: RunState, progress: Callable[[int, int], None] | None = None) -> None:
    """Decode all records of a run into its view."""
    view = state.view
    name = f"{state.id}.files"
    known = cache.read(view.git, name, "1") or {}
    index = state.index
    paths = [*index.prose.values(), *index.evidence.values(), *index.events.values()]
    fresh = []
    for path in paths:
        entry = known.get(view.files[path].oid)
        if entry is None:
            fresh.append(path)
        else:
            view.decoded[path] = Decoded(*entry)
    for start in range(0, len(fresh), STEP):
        if progress is not None and len(fresh) > STEP:
            progress(start, len(fresh))
        _decode(state, fresh[start : start + STEP])
    if fresh:
        held = {view.files[path].oid: view.decoded[path] for path in paths if path in view.decoded}
        held.pop("", None)
        cache.write(view.git, name, "1", held)


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
