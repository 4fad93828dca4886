"""scan --describe-with: what a command of the user's prints about files without notes becomes drafts."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from memento_git.code.docstrings import Said
from memento_git.knowledge import overlay as overlays
from memento_git.knowledge.actions.scanning import Scan, Source, Unanswered
from memento_git.knowledge.drafts import SCANS
from memento_git.ledger import commands, standing
from memento_git.texts.secrets import refuse_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.knowledge.overlay import Overlay
    from memento_git.ledger.store import Ledger
    from memento_git.model.rows import Row

MOST: Final = 20
LARGEST: Final = 256 * 1024
MOST_PRINTED: Final = 16 * 1024
PATIENCE: Final = 60.0
VARIABLE: Final = "MEMENTO_FILE"


def scan_described(ledger: Ledger, given: str, path: str = "", *, limit: int = MOST, patience: float = PATIENCE) -> Row:
    """Make a draft of what a command prints about each file that no note is about; return what came of it.

    The command is run once for each content, with the file's text on its standard input. Where it fails that is told
    of the file, and the others go on; it is asked about that file again the next time.
    """
    words = commands.words_of(given)
    with overlays.opened(ledger.view(), path=path) as overlay:
        source = _Described(ledger, overlay, words, patience)
        return Scan(ledger, overlay, source).run(path, limit)


class _Described(Source):
    """What a command prints about a file."""

    kept = "described"
    tag = SCANS[1]
    origin = "command"
    sure = "0.5"
    largest = LARGEST

    def __init__(self, ledger: Ledger, overlay: Overlay, words: Sequence[str], patience: float) -> None:
        self.overlay = overlay
        self.words = words
        self.patience = patience
        self.allow_secrets = ledger.allow_secrets
        self._command = hashlib.sha256("\0".join(words).encode(errors="surrogateescape")).hexdigest()[:16]

    def takes(self, path: str) -> bool:
        """Tell whether no note is about a file or a part of it."""
        return not self.overlay.at(path)

    def passed_over(self, paths: Sequence[str]) -> Row:
        return {"noted": sum(not self.takes(path) for path in paths), "not_parsed": {}}

    def mark(self, blob: str) -> str:
        """Return content and command: another command may say something else of the same content."""
        return f"{blob} {self._command}"

    def said(self, path: str, data: bytes) -> Sequence[Said]:
        """Run the command on a text; what is binary or empty is nobody's to describe, a secret is given to no one."""
        if not data.strip() or standing.is_binary(data):
            return []
        refuse_secrets(path, data.decode(errors="replace"), self.allow_secrets)
        git = self.overlay.shelf.view.git
        answered = commands.ask(
            self.words, path, data, cwd=git.top or git.git_dir, patience=self.patience, most=MOST_PRINTED,
            extra={VARIABLE: path},
        )  # fmt: skip
        if answered.why:
            raise Unanswered(answered.why)
        try:
            text = answered.text.decode().strip()
        except UnicodeDecodeError as error:
            raise Unanswered(f"it printed what is no UTF-8: byte {error.start}") from None
        return [Said("", text)] if text else []
