"""Decoding many files at once: one batch of objects, and what was decoded before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import codec, layout
from memento_git.ledger.codec import Decoded
from memento_git.model.progress import portions

if TYPE_CHECKING:
    from memento_git.ledger.view import View

STEP: Final = 500


def bring(view: View, paths: Iterable[str], known: Mapping[str, Any]) -> tuple[dict[str, Decoded], int]:
    """Decode files into a view; return what shall be known next time, by blob, and how many were not known yet.

    What cannot be decoded is left to whoever asks for its record.
    """
    keys = {path: f"{view.files[path]} {_shape_of(path)}" for path in paths}
    view.decoded.update({path: Decoded(*known[key]) for path, key in keys.items() if key in known})
    fresh = [path for path in keys if path not in view.decoded]
    for some in portions(view.git.progress, fresh, STEP, STEP):
        _decode(view, some)
    kept = {key: view.decoded[path] for path, key in keys.items() if path in view.decoded and view.files[path]}
    return kept, len(fresh)


def _shape_of(path: str) -> str:
    """Return what decides how a file's text is read: the kind of its record and, of an event, the verb."""
    _, folder, name = path.rsplit("/", 2)
    return f"{folder.partition('_')[0]} {name[19:-18] or name}" if name.endswith(".yaml") else name


def _decode(view: View, paths: Sequence[str]) -> None:
    view.fetch(paths)
    for path, place in layout.placed(paths):
        if (data := view.contents.get(path)) is not None:
            decoded = codec.decode(place, path, data)
            if isinstance(decoded, Decoded):
                view.decoded[path] = decoded
