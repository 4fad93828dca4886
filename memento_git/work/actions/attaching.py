"""Files of evidence, kept where policy's limit allows it, else as a digest; and what changed between two commits."""

from __future__ import annotations

import contextlib
import hashlib
import re
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from urllib.parse import unquote

from memento_git.errors import Misused, Refused
from memento_git.ledger.git import BareRepository, Git
from memento_git.model.progress import FILE
from memento_git.work import codediff
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memento_git.ledger.transaction import Transaction

BLOCK: Final = 1024 * 1024
LONG: Final = 64 * BLOCK


class FileMissing(Refused):
    token = "evidence_file_missing"
    sentence = "there is no file {path} in the repository"
    hint_ = "paths are relative to the workspace; a link is for --uri (file://a/b.log means a/b.log), A..B for --diff"


class FileUnfit(Refused):
    """A file that cannot be evidence."""

    token = "evidence_file_invalid"
    sentence = "{path}: {problem}"
    hint_ = "give a file of the repository that holds what is to be shown"


class RangeInvalid(Misused):
    token = "range_invalid"
    sentence = "{given!r} is not a range of commits"
    hint_ = "write A..B"


class NothingChanged(FileUnfit):
    hint_ = "name two commits between which the code changed: the ledger is no part of it"


def top_of(git: Git) -> Path:
    """Return the top of the work tree; refuse where there is none."""
    if git.top is None:
        raise BareRepository
    return git.top


def local(uri: str) -> str:
    """Return the path that a file URI names: `file://a/b` and `file:a/b` mean a/b of the repository."""
    path = uri.partition(":")[2].removeprefix("//")
    return unquote(re.split("[?#]", path, maxsplit=1)[0])


def attach(writer: RunWriter, given: str, number: int, held: dict[str, bytes]) -> dict[str, Any]:
    """Return what evidence says of a file of the user's, the `number`th; what is kept of it comes to those `held`."""
    git = writer.tx.ledger.git
    top = top_of(git)
    if not given:
        raise FileUnfit(path=repr(given), problem="it names no file")
    path = git.start / given
    if not path.exists():
        path = top / given
    from memento_git.work.running import capture

    name = capture.inside(top, path)
    if name.partition("/")[0] == ".git":
        raise FileUnfit(path=given, problem="it belongs to git, not to the repository's files")
    writer.name("the name of a file", name)
    if not path.exists():
        raise FileMissing(path=given)
    if not path.is_file():
        raise FileUnfit(path=given, problem="it is not a plain file")
    size = path.stat().st_size
    if not size:
        raise FileUnfit(path=given, problem="it is empty")
    if size <= writer.policy.attach:
        data = read_file(path, given)
        refuse_secrets_in(writer.tx, f"file {name}", data)
        kept = f"{number}-{re.sub(r'[^a-z0-9._-]+', '-', path.name.lower())[-60:]}"
        held[kept] = data
        return kept_as(kept, name, data)
    sha256 = _digest(git, path, given, size)
    if path.stat().st_size != size:
        raise FileUnfit(path=given, problem="it changed while it was read")
    writer.tx.ledger.warn(
        f"{name} is larger than the {writer.policy.attach} bytes that policy attaches: its digest stands for it"
    )
    return {"name": name, "sha256": sha256, "bytes": size}


def _digest(git: Git, path: Path, given: str, size: int) -> str:
    """Return the digest of a file that is not read as a whole; of one that takes a while it is told how far it is."""
    digest, read = hashlib.sha256(), 0
    with opened(path, given) as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
            read += len(block)
            if size >= LONG and (read % LONG == 0 or read == size):
                git.progress(read // BLOCK, size // BLOCK, FILE)
    return digest.hexdigest()


def kept_as(kept: str, name: str, data: bytes) -> dict[str, Any]:
    """Return what evidence says of a file that its folder keeps."""
    return {"name": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "kept": kept}


@contextlib.contextmanager
def opened(path: Path, given: str) -> Iterator[BinaryIO]:
    """Open a file of the user's; where that cannot be, refuse by the name that was given."""
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise FileUnfit(path=given, problem=error.strerror or type(error).__name__) from error


def read_file(path: Path, given: str) -> bytes:
    """Return the bytes of a file of the user's."""
    with opened(path, given) as stream:
        return stream.read()


def refuse_secrets_in(tx: Transaction, where: str, data: bytes) -> None:
    """Refuse to take in a text file that holds a secret."""
    if b"\0" not in data:
        RunWriter.of(tx).name(where, data.decode(errors="replace"))


def attached(writer: RunWriter, named: Mapping[str, bytes]) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Return what evidence says of these files, and those of them that are kept."""
    files, attachments = {}, []
    for name, content in named.items():
        told = kept_as(name, name, content)
        if len(content) <= writer.policy.attach:
            files[name] = content
        else:
            del told["kept"]
            writer.tx.ledger.warn(
                f"{name} has {len(content)} bytes, more than policy's limits.attach: only its digest is kept"
            )
        attachments.append(told)
    return attachments, files


def diff_of(git: Git, given: str) -> dict[str, Any]:
    """Return what changed in the code between the commits of a range `A..B`."""
    base, dots, tip = given.partition("..")
    if not dots or not base or not tip or tip.startswith("."):
        raise RangeInvalid(given=given)
    first, last = git.commit_of(base), git.commit_of(tip)
    held = codediff.between(git, first, last)
    if not held.paths:
        raise NothingChanged(path=given, problem="the two commits hold the same code")
    told = {
        "range": given,
        "base": first,
        "tip": last,
        "patch_id": codediff.patch_id(git, first, last),
        "files": list(held.files),
        "added": held.added,
        "removed": held.removed,
    }
    return told | ({"files_more": held.unnamed} if held.unnamed else {})
