"""Changing a file that people edit too: what is not changed stays as it is, to the byte."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

from memento_git.model.tuples import NamedTuple

FENCE: Final = "---\n"


class _Chunk(NamedTuple):
    """The lines of one key, and the comments and empty lines that follow them."""

    lines: list[str]
    tail: list[str]


def parted(text: str) -> tuple[str, str] | None:
    """Return front matter and what follows it; None where a text has none."""
    end = text.find("\n---\n", 3)
    return (text[len(FENCE) : end + 1], text[end + len("\n---\n") :]) if text.startswith(FENCE) and end >= 0 else None


def rewrite(data: bytes, changes: Mapping[str, Any], body: str) -> bytes:
    """Return a run, plan or task with other values, and another body if one is given."""
    text = data.decode().replace("\r\n", "\n")
    front, kept = parted(text) or ("", text)
    rest = f"{body}\n" if body else kept
    return f"{FENCE}{_changed(front, changes) if changes else front}{FENCE}{rest}".encode()


def _changed(front: str, changes: Mapping[str, Any]) -> str:
    """Return the front matter with the lines of the changed keys as ruamel writes them, all others as they were."""
    from ruamel.yaml import YAML
    from ruamel.yaml.resolver import VersionedResolver

    class AllText(VersionedResolver):  # type: ignore[misc, unused-ignore]
        """Takes every scalar for text, as the ledger does."""

        versioned_resolver: dict[str, Any] = {}  # noqa: RUF012

    yaml = YAML(typ="rt")
    yaml.Resolver = AllText
    yaml.width = 10**9
    yaml.preserve_quotes = True
    start, old = _chunks(front)
    bare = "".join([*start, *(line for chunk in old.values() for line in chunk.lines)])
    values = yaml.load(front if _is_flow(start, old) else bare)
    for key, value in changes.items():
        _set(values, key, value)
    stream = io.StringIO()
    yaml.dump(values, stream)
    if _is_flow(start, old):
        return stream.getvalue()
    _, new = _chunks(stream.getvalue())
    lines = list(start)
    for key in [*old, *(key for key in new if key not in old)]:
        before = old.get(key, _Chunk([], []))
        if key not in changes:
            lines += before.lines
        elif key in new:
            lines += new[key].lines
        lines += before.tail
    return "".join(lines)


def _is_flow(start: list[str], chunks: Mapping[str, _Chunk]) -> bool:
    """Tell whether keys share lines, as between braces."""
    lines = [chunk.lines[0] if chunk.lines else "" for chunk in chunks.values()]
    return not all(line.startswith((key, '"', "'")) for key, line in zip(chunks, lines, strict=True)) or bool(
        start and start[-1].lstrip().startswith("{")
    )


def _set(values: Any, key: str, value: Any) -> None:
    """Put a value in place; members of a list that stay keep their comments."""
    if value in ("", [], None):
        values.pop(key, None)
    elif isinstance(value, list) and isinstance(values.get(key), list):
        held = values[key]
        for index in reversed(range(len(held))):
            if held[index] not in value:
                del held[index]
        if [member for member in value if member in held] != list(held):
            values[key] = _written(value)
            return
        for index, member in enumerate(value):
            if index >= len(held) or held[index] != member:
                held.insert(index, _written(member))
    else:
        values[key] = _written(value)


def _written(value: Any) -> Any:
    """Return a value as the ledger writes it, to its depth."""
    if isinstance(value, dict):
        return {key: _written(member) for key, member in value.items()}
    return [_written(member) for member in value] if isinstance(value, list) else _quoted(value)


def _quoted(text: Any) -> Any:
    """Return a scalar that is written as the ledger writes it: a text is quoted where a reader would see a number."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, PlainScalarString, SingleQuotedScalarString

    from memento_git.ledger import yamltext

    written = yamltext.dump({"k": text})[3:]
    if not isinstance(text, str):
        return PlainScalarString(written.strip())
    if written.startswith('"'):
        return DoubleQuotedScalarString(text)
    return SingleQuotedScalarString(text) if written.startswith("'") else text


def _chunks(front: str) -> tuple[list[str], dict[str, _Chunk]]:
    """Return the lines before the first key, and the lines of each key at the top."""
    from memento_git.ledger import yamltext

    lines = front.splitlines(keepends=True)
    starts = {str(at[0]): line - 1 for at, line in yamltext.load(front.encode()).lines.items() if len(at) == 1}
    ends = [*list(starts.values())[1:], len(lines)]
    chunks = {key: _split(lines[begin:end]) for (key, begin), end in zip(starts.items(), ends, strict=True)}
    return lines[: min(starts.values(), default=0)], chunks


def _split(lines: Sequence[str]) -> _Chunk:
    last = len(lines)
    while last > 1 and (not lines[last - 1].strip() or lines[last - 1].startswith("#")):
        last -= 1
    return _Chunk(list(lines[:last]), list(lines[last:]))
