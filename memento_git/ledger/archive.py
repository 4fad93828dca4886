"""A settled run in one file: each file's exact bytes, compressed, named by its digest."""

from __future__ import annotations

import base64
import gzip
import io
from typing import Any, Final

from memento_git.ledger import layout
from memento_git.model.finding import Finding

LARGEST: Final = 256 * 1024 * 1024


def pack(files: dict[str, bytes]) -> bytes:
    """Return the archive of a run's files: YAML of path -> text, or base64 where the bytes are not text."""
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
        again = yamltext.load(yamltext.dump({"text": text}).encode())
    except (UnicodeDecodeError, yamltext.Unreadable):
        return None
    return text if again.value == {"text": text} else None


def unpack(path: str, run: str, data: bytes) -> tuple[dict[str, bytes], list[Finding]]:
    """Return the files of an archive, and what is wrong with it."""
    from memento_git.ledger import codec, yamltext

    name = path.rsplit("/", 1)[1].partition(".")[0]
    if codec.digest_of(data) != name:
        return {}, [Finding("A001", path, 0, "the archive's bytes do not have the digest in its name")]
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            text = stream.read(LARGEST + 1)
        value = yamltext.load(text).value if len(text) <= LARGEST else {}
    except (OSError, EOFError, yamltext.Unreadable) as error:
        return {}, [Finding("A002", path, 0, f"the archive cannot be read: {error}")]
    files: dict[str, bytes] = {}
    findings = []
    for inner, held in (value.get("files") or {}).items():
        place = layout.place_of(inner)
        if place is None or place.run != run or not isinstance(held, dict):
            findings.append(Finding("A003", path, 0, f"the archive holds {inner!r}, which is not a file of its run"))
            continue
        files[inner] = base64.b64decode(held["base64"]) if "base64" in held else str(held.get("text", "")).encode()
    return files, findings
