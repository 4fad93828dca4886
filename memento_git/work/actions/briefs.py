"""task bundle --out: a bundle as a file beside the work, never over another one unasked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memento_git.errors import Refused
from memento_git.ledger.layout import FOLDER
from memento_git.work.brief import as_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.folding.rows import Row
    from memento_git.ledger.store import Ledger


class FileTaken(Refused):
    """A file that holds something else."""

    token = "file_exists"
    sentence = "{path} exists and holds something else"
    hint_ = "give another name, or replace it with --force"


class PlaceUnfit(Refused):
    """A place where a bundle would be mistaken for a file of git or of the ledger."""

    token = "bundle_place_invalid"
    sentence = "{path} belongs to {owner}"
    hint_ = "write it somewhere else: --out FILE"


def write_bundle(ledger: Ledger, row: Row, path: Path, *, force: bool = False) -> None:
    """Write a bundle as JSON where the name ends so, else as Markdown; refuse to replace another file unasked."""
    place = path.resolve()
    git = ledger.git
    owned = {git.common_dir: "git", git.git_dir: "git", (git.top or git.git_dir) / FOLDER: "the ledger"}
    for folder, owner in owned.items():
        if place.is_relative_to(folder.resolve()):
            raise PlaceUnfit(path=path.name, owner=owner)
    text = json.dumps(row, ensure_ascii=False) + "\n" if path.suffix == ".json" else as_markdown(row)
    data = text.encode()
    if place.exists() and not force:
        if place.is_file() and place.read_bytes() == data:
            return
        raise FileTaken(path=path.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
