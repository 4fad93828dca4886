"""A question to git that is being answered while the caller goes on."""

from __future__ import annotations

from memento_git.ledger.git import Git, answered
from memento_git.ledger.process_groups import end_group
from memento_git.ledger.thread_safety import at_end


class GitFuture:
    """One git command that has been started; its answer is waited for when it is needed, or never."""

    def __init__(self, git: Git, *arguments: str) -> None:
        self._arguments = arguments
        self._process = git.begin(*arguments)
        self._end = at_end(self, end_group, self._process)

    def answer(self) -> bytes:
        """Wait for the answer; raise GitFailed with git's own words."""
        out, err = self._process.communicate()
        self._end.detach()
        return answered(self._arguments, self._process.returncode, out, err)

    def drop(self) -> None:
        """Wait for nothing any more."""
        self._end()
