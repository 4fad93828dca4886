"""How near documents are to a question in meaning: a vector for each blob and model, kept in the git directory.

Nothing of this is imported unless the config asks for it. What is kept is numbers with a digest, so a file that is
damaged, cut or of another model is made anew; deleting it costs the time to make it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from memento_git.knowledge import index
from memento_git.knowledge.documents import documents_of, with_meaning
from memento_git.knowledge.embedders import Embedder
from memento_git.knowledge.ranking import Near
from memento_git.ledger import atomic_file, lock
from memento_git.ledger.view import View
from memento_git.model.progress import portions

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

    Vectors = dict[str, Any]

READ_AS: Final = 2  # goes up when `_text` changes
LONGEST: Final = 1500  # characters of a document that are read for its meaning
LONGEST_QUESTION: Final = 500
AT_ONCE: Final = 32
SECONDS: Final = 20.0  # spent at one view on documents which have no vector yet; the rest is for the next question
UNTIL: Final[WeakKeyDictionary[View, float]] = WeakKeyDictionary()
SPARE: Final = 2000  # vectors that are kept beside those of what is read: of other branches
TIMEOUT: Final = 1.0


def near(view: View, questions: Sequence[str]) -> list[Near]:
    """Return how near the documents of a view are to each question."""
    model = Embedder()
    ids = {path: identity for path in view.files if (identity := with_meaning(path))}
    blobs = {path: view.files[path] or view.git.blob_id(view.contents.get(path, b"")) for path in ids}
    vectors = _vectors(view, model, blobs)
    paths = [path for path, blob in blobs.items() if blob in vectors]
    matrix = np.stack([vectors[blobs[path]] for path in paths]).astype(np.float32) if paths else np.zeros((0, 1))
    found = []
    for question in questions:
        asked = model.question(question[:LONGEST_QUESTION].encode(errors="replace").decode())
        cosines = (matrix @ asked).tolist() if paths else []
        far = min(model.far, median(cosines)) if cosines else model.far  # some questions are far from everything
        found.append(Near(dict(zip(paths, cosines, strict=True)), ids, far, far + model.near - model.far))
    return found


def place(git: Git, model: str) -> Path:
    """Return the file of a model's vectors: beside the index, one for each user and way to read a document."""
    folder = index.place(git)
    return folder.with_name(folder.name.replace("index", "vectors")) / f"{model}.{READ_AS}.bin"


def _vectors(view: View, model: Embedder, blobs: dict[str, str]) -> Vectors:
    """Return the vectors of these blobs: those that are kept, and as many more as there is time for."""
    file = place(view.git, model.name)
    known = _read(file)
    missing = {blob: path for path, blob in blobs.items() if blob not in known}
    if not missing:
        return known
    made: Vectors = {}
    try:
        _make(view, model, missing, made)
    finally:
        _keep(view.git, file, made, set(blobs.values()))
    return known | made


def _make(view: View, model: Embedder, missing: dict[str, str], made: Vectors) -> None:
    """Add vectors of blobs to those made, until there is no time left."""
    until = UNTIL.setdefault(view, time.monotonic() + SECONDS)
    for some in portions(view.git.progress, [*missing.items()], AT_ONCE):
        if time.monotonic() > until:
            return
        view.fetch([path for _, path in some])
        vectors = model.passages([_text(view, path) for _, path in some])
        made.update((blob, vector.astype(np.float16)) for (blob, _), vector in zip(some, vectors, strict=True))


def _text(view: View, path: str) -> str:
    """Return what is read of a document for its meaning."""
    found = documents_of(path, view.contents.get(path, b""))
    if not found:
        return ""
    header, body = found[0]
    text = "\n".join((header.title, " ".join((header.key, *header.tags)), body))
    return text[:LONGEST].encode(errors="replace").decode()


def _read(file: Path) -> Vectors:
    """Return the vectors of a file; none where it is not as it was written."""
    try:
        data = file.read_bytes()
        if hashlib.sha256(data[32:]).digest() != data[:32]:
            return {}
        end = data.index(b"\n", 32)
        blobs = json.loads(data[32:end])
        rows = np.frombuffer(data, np.float16, offset=end + 1).reshape(len(blobs), -1)
    except (OSError, ValueError):
        return {}
    return dict(zip(blobs, rows, strict=True))


def _keep(git: Git, file: Path, made: Vectors, wanted: set[str]) -> None:
    """Add vectors to the file; what somebody else added meanwhile stays, and so much of the rest as has room."""
    if not made:
        return
    with contextlib.suppress(lock.LockHeld, lock.NotWritable, OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with lock.held(index.place(git).with_name("vectors.lock"), TIMEOUT):
            held = _read(file) | made
            first = sorted(held, key=lambda blob: blob not in wanted)
            rows = first[: len(wanted) + SPARE]
            body = json.dumps(rows).encode() + b"\n" + np.stack([held[blob] for blob in rows]).tobytes()
            atomic_file.write(file, hashlib.sha256(body).digest() + body)
