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
    view = state.view
    name = f"{state.id}.files"
    known: dict[str, list[Any]] = cache.read(view.git, name, "2") or {}
    index = state.index
    attached = [path for paths in index.attachments.values() for path in paths]
    view.digests.update((blob, str(entry[0])) for blob, entry in known.items() if len(entry) == 1)
    _digest(view, [path for path in attached if view.files[path] not in view.digests])
    paths = [*index.prose.values(), *index.evidence.values(), *index.events.values()]
    fresh = []
    for path in paths:
        entry = known.get(view.files[path])
        if entry is None:
            fresh.append(path)
        else:
            view.decoded[path] = Decoded(*entry)
    for start in range(0, len(fresh), STEP):
        if progress is not None and len(fresh) > STEP:
            progress(start, len(fresh))
        _decode(state, fresh[start : start + STEP])
    if fresh:
        held = {view.files[path]: list(view.decoded[path]) for path in paths if path in view.decoded}
        held |= {blob: [digest] for blob, digest in view.digests.items()}
        held.pop("", None)
        cache.write(view.git, name, "2", held)


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
