"""A question to git that is being answered while the caller goes on."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from memento_git.ledger.git import GitFailed, end_group, reason_of

if TYPE_CHECKING:
    import subprocess

    from memento_git.ledger.git import Git


class Asked:
    """One git command that has been started; its answer is waited for when it is needed, or never."""

    def __init__(self, git: Git, *arguments: str) -> None:
        self._command = arguments[0]
        self._process = git.begin(*arguments, extra=git.extra)
        self._end = weakref.finalize(self, _end, self._process, os.getpid())

    def answer(self) -> bytes:
        """Wait for the answer; raise GitFailed with git's own words."""
        output, errors = self._process.communicate()
        self._end.detach()
        if self._process.returncode:
            raise GitFailed(command=self._command, reason=reason_of(errors, self._process.returncode))
        return output

    def drop(self) -> None:
        """Wait for nothing any more."""
        self._end()


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a command of ours; what was asked before a fork is answered to whoever asked."""
    if owner == os.getpid():
        end_group(process)
