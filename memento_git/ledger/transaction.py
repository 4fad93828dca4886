"""Changes that become one commit: what is put, what that relies on, and the commit's message."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memento_git.errors import Misused
from memento_git.ledger.journal import Path3
from memento_git.model.clock import seconds_of, stamp
from memento_git.model.enumeration import some

if TYPE_CHECKING:
    from memento_git.ledger import git_status
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View


class TransactionEnded(Misused):
    token = "transaction_ended"
    sentence = "this transaction has ended: nothing can be changed in it any more"
    hint_ = "begin another: with ledger.transaction('what it does') as tx"


class Transaction:
    """Changes that become one commit; its view shows them as if they were there already.

    One that is only rehearsed is never committed, so nobody needs to be known for it.
    """

    def __init__(self, ledger: Ledger, view: View, *, rehearsed: bool = False) -> None:
        self.ledger = ledger
        self.view = view
        self.now = view.now
        self.actor = ledger.rehearser if rehearsed else ledger.actor
        self.changes: dict[str, bytes | None] = {}
        self.olds: dict[str, str | None] = {}
        self.touched: dict[str, None] = {}
        self.run = ""
        self.commit = ""
        self.ended = False
        self.made = 0
        self.writers: dict[type, Any] = {}
        self.status: git_status.StatusFuture | None = None
        self.after_commit: list[Callable[[], object]] = []
        self.after_failure: list[Callable[[], object]] = []

    def put(self, path: str, data: bytes | None) -> None:
        """Add, replace or (None) remove a file."""
        if self.ended:
            raise TransactionEnded
        if path not in self.olds:
            self.olds[path] = self.view.blob(path) or self.view.table.links.get(path)
        self.changes[path] = data
        self.view.put(path, data)

    def paths(self) -> list[Path3]:
        """Return each path that is changed, with the blobs before and after."""
        blobs = {path: None if data is None else self.ledger.git.blob_id(data) for path, data in self.changes.items()}
        return [Path3(path, self.olds.get(path), blob) for path, blob in blobs.items()]

    def relied(self) -> set[str]:
        """Return the paths that are changed, those of committed files that were read, and `a/` for all that `a` has."""
        read = {path for path in self.view.used.difference(self.changes) if self.view.blob(path)}
        return read | set(self.changes) | self.view.used_folders

    def new_id(self, kind: str) -> str:
        """Return an id for a new record of a kind, such as `task_` and twelve characters drawn by chance."""
        return self.ledger.new_id(kind)

    def moment(self) -> str:
        """Return the time of a record that is made: now, and a millisecond later each time, so that order is kept."""
        self.made += 1
        return stamp(seconds_of(self.now) + (self.made - 1) / 1000)

    def touch(self, run: str, record: str) -> None:
        """Name a record in the commit's trailers."""
        self.run = self.run or run
        self.touched[record] = None

    def message(self, action: str) -> str:
        """Return the commit message: a short subject, and trailers to filter `git log` by."""
        action = " ".join(action.split())
        subject = " ".join(part for part in ("memento:", action, some([*self.touched], 1)) if part)
        trailers = [f"Memento-Action: {action}"]
        if self.run:
            trailers.append(f"Memento-Run: {self.run}")
        trailers += [f"Memento-Record: {record}" for record in [*self.touched][:10]]
        trailers.append(f"Memento-Actor: {self.actor}")
        return subject + "\n\n" + "\n".join(trailers) + "\n"
