"""Which files of the ledger differ from HEAD: git looks once for each view of it, while the caller goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from memento_git.ledger import git_status, journal, layout
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.git_future import GitFuture
from memento_git.ledger.git_status import FRESH
from memento_git.ledger.thread_safety import Turn, in_turn

TRIES: Final = 3


@in_turn
class Watch:
    """What git says for one ledger; `early`: it begins to look when there is a new view, not when somebody asks."""

    def __init__(self, git: Git, mend: Callable[[], None], warn: Callable[[str], None]) -> None:
        self.turn = Turn()
        self.early = False
        self.unseen = ""
        self._git, self._mend, self._warn = git, mend, warn
        self._asked: GitFuture | None = None
        self._before, self._when = (False, ""), 0.0
        self._known: list[git_status.Change] | None = []

    def begin(self) -> None:
        """Forget what was seen, for there is a new view; a look at the same HEAD that has just begun is as good."""
        if self._asked is not None and time.monotonic() - self._when < FRESH and self._before == self._moving():
            return
        self.drop()
        self._known = None
        if self.early:
            self.ask()

    def ask(self) -> None:
        """Let git look, while the caller goes on."""
        self.drop()
        self._before, self._when = self._moving(), time.monotonic()
        self._asked = git_status.ask(self._git, layout.FOLDER) if self._git.top is not None else None
        self._known = []

    def changes(self) -> list[git_status.Change]:
        """Return what somebody changed since HEAD, as it was when git was asked."""
        if self._known is None:
            self.ask()
        self.wait()
        return self._known or []

    def wait(self) -> None:
        """Let git finish looking, before anything is written that it would take for an edit."""
        if self._asked is None:
            return
        asked, self._asked = self._asked, None
        try:
            self._known = git_status.told(asked)
            self._look_again()
            self._known = git_status.by_hand(self._git, self._known)
        except GitFailed as failure:  # reading needs no index, and what writes asks git itself
            self.unseen = f"git cannot tell which ledger files are not committed: {failure.facts['reason']}"
            self._warn(self.unseen)

    def _look_again(self) -> None:
        """Look anew where somebody committed meanwhile."""
        for _ in range(TRIES if self._known else 0):
            now = self._moving()
            if now == self._before and not now[0]:
                return
            self._mend()
            self._before = self._moving()
            self._known = git_status.changes(self._git, layout.FOLDER)
            if self._before == self._moving():
                return

    def _moving(self) -> tuple[bool, str]:
        """Return whether somebody commits just now, and what HEAD is: what git sees meanwhile may be half of it."""
        return bool(journal.pending(self._git)), self._git.commit("HEAD") or ""

    def drop(self) -> None:
        """Wait for nothing any more."""
        if self._asked is not None:
            self._asked.drop()
        self._asked = None
