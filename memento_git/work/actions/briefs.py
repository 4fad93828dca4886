"""task bundle --out: a bundle as a file beside the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import outfile
from memento_git.work.actions.bundles import as_json
from memento_git.work.brief import as_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.store import Ledger
    from memento_git.model.rows import Row


def write_bundle(ledger: Ledger, row: Row, path: Path, *, force: bool = False) -> None:
    """Write a bundle as JSON where the name ends so, else as Markdown; refuse to replace another file unasked."""
    outfile.refuse_place(ledger, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    outfile.put(ledger, path, as_json(row) if path.suffix == ".json" else as_markdown(row).encode(), force=force)
