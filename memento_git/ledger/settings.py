"""What git is configured to, and who it says commits."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Final

from memento_git.errors import Refused
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.git_future import GitFuture
from memento_git.model.clock import ClockUnfit

ROLES: Final = ("AUTHOR", "COMMITTER")


class IdentityMissing(Refused):
    token = "identity_missing"
    sentence = "git does not know who you are: {reason}"
    hint_ = "git config user.name NAME && git config user.email ADDRESS"


def ask(git: Git) -> GitFuture:
    """Let git begin to tell its configuration and identities."""
    return GitFuture(git, "var", "-l")


def told(asked: GitFuture) -> dict[str, str]:
    """Wait until git has told them, and return the last value of each key."""
    lines = os.fsdecode(asked.answer()).split("\n")
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


def identities(git: Git, settings: Mapping[str, str]) -> tuple[str, str]:
    """Return author and committer as git would write them now; refuse where git would."""
    names = [settings.get(f"GIT_{role}_IDENT", "") for role in ROLES]
    known = (
        os.environ.get(f"GIT_{role}_{part.upper()}", settings.get(f"user.{part}"))
        for role in ROLES
        for part in ("name", "email")
    )
    if not (all(known) and all(names)):
        try:
            names = [os.fsdecode(git.run("var", f"GIT_{role}_IDENT")).strip() for role in ROLES]
        except GitFailed as failure:
            raise IdentityMissing(reason=failure.facts["reason"]) from None
    return _dated(names[0], "GIT_AUTHOR_DATE"), _dated(names[1], "GIT_COMMITTER_DATE")


def _dated(identity: str, variable: str) -> str:
    """Return an identity with the time of this moment, for settings are read once and commits are many."""
    if variable in os.environ:
        return identity
    who, _, when = identity.rpartition("> ")
    seconds, zone = int(time.time()), when.rpartition(" ")[2]
    if seconds < 0 or len(zone) != len("+0000"):  # git reckons no zone for what is before 1970, or after 2099
        raise ClockUnfit(seconds=seconds)
    return f"{who}> {seconds} {zone}"
