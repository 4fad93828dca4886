"""A settled run in few files: each file's exact bytes, compressed, named by their digest."""

from __future__ import annotations

import base64
import io
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from memento_git.ledger import layout
from memento_git.model.finding import WHOLE, Finding

LARGEST: Final = 64 * 1024 * 1024
PART: Final = 16 * 1024 * 1024
PATHS: Final = re.compile(rb"\.memento/runs/.*")


class _Unusable(Exception):
    """An archive, or one file in it, that does not have the form of one."""


def parts(files: Mapping[str, bytes]) -> Iterator[dict[str, bytes]]:
    """Yield the files in portions that stay far below what a reader takes; a file above that is left where it is."""
    portion: dict[str, bytes] = {}
    size = 0
    for path in sorted(files):
        length = len(files[path])
        if length > PART:
            continue
        if size + length > PART:
            yield portion
            portion, size = {}, 0
        portion[path] = files[path]
        size += length
    if portion:
        yield portion


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return the archive of a run's files: YAML of path -> text, or base64 where the bytes are not text."""
    import gzip

    from memento_git.ledger import yamltext

    held: dict[str, Any] = {}
    for path in sorted(files):
        text = _as_text(files[path])
        held[path] = {"base64": base64.b64encode(files[path]).decode()} if text is None else {"text": text}
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as stream:
        stream.write(yamltext.dump({"version": 1, "files": held}).encode())
    return buffer.getvalue()


def _as_text(data: bytes) -> str | None:
    """Return the bytes as text where YAML gives exactly the same back."""
    from memento_git.ledger import yamltext

    try:
        text = data.decode()
        value = {"files": {"path": {"text": text}}}
        again = yamltext.load(yamltext.dump(value).encode()).value
    except (UnicodeDecodeError, yamltext.Unreadable):
        return None
    return text if again == value else None


def unpack(path: str, run: str, data: bytes) -> tuple[dict[str, bytes], list[Finding]]:
    """Return the files of an archive, and what is wrong with it."""
    from memento_git.ledger import codec, yamltext

    name = path.rsplit("/", 1)[1].partition(".")[0]
    if codec.digest_of(data) != name:
        return {}, [Finding("A001", path, 0, "the archive's bytes do not have the digest in its name", WHOLE)]
    try:
        held = _held(yamltext.load(_inflated(data)).value)
    except (OSError, EOFError, zlib.error, yamltext.Unreadable, _Unusable) as error:
        return {}, [Finding("A002", path, 0, f"the archive cannot be read: {error}", WHOLE)]
    files: dict[str, bytes] = {}
    findings = []
    for inner, told in held.items():
        place = layout.place_of(inner)
        if place is None or place.run != run:
            findings.append(Finding("A003", path, 0, f"the archive holds {inner!r}, which is not a file of its run"))
            continue
        try:
            files[inner] = _bytes(told)
        except _Unusable as error:
            findings.append(Finding("A002", path, 0, f"{inner} in the archive cannot be read: {error}"))
    return files, findings


def may_hold(data: bytes, parts: Collection[str]) -> bool:
    """Tell whether an archive may have files of records with these random parts of ids; its YAML is not read for it."""
    try:
        text = _inflated(data)
    except (OSError, EOFError, zlib.error, _Unusable):
        return False
    named = b"\n".join(PATHS.findall(text)).decode("ascii", "replace")
    return re.search(layout.HIDING, text) is not None or not layout.random_parts(named).isdisjoint(parts)


def _inflated(data: bytes) -> bytes:
    import gzip

    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        text = stream.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise _Unusable(f"it unpacks to more than {LARGEST} bytes")
    return text


def _held(value: Any) -> dict[str, Any]:
    """Return path -> what an archive holds for it."""
    if not isinstance(value, dict) or value.get("version") != "1" or not isinstance(value.get("files"), dict):
        raise _Unusable("it is not an archive of version 1")
    held: dict[str, Any] = value["files"]
    return held


def _bytes(told: Any) -> bytes:
    match told:
        case {"base64": str(text)}:
            try:
                return base64.b64decode(text, validate=True)
            except ValueError:
                raise _Unusable("its bytes are not base64") from None
        case {"text": str(text)}:
            return text.encode()
    raise _Unusable("it holds neither text nor base64")
