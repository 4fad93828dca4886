"""Who works on what since when: one small file for each actor below the common git directory."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memento_git.errors import Refused
from memento_git.knowledge.drafts import Own
from memento_git.ledger import atomic_file

if TYPE_CHECKING:
    from memento_git.ledger.git import Git


class NoSession(Refused):
    token = "session_not_found"
    sentence = "{actor} has no session that is open"
    hint_ = "begin one: memento session start"


class Session(NamedTuple):
    """A session: since when, at which commit it began or ended, and the commit at which the one before it ended."""

    id: str
    actor: str
    at: str
    head: str
    label: str = ""
    ended: str = ""
    before: str = ""


class Sessions:
    """The sessions of one clone: for each actor the one that is open or ended last."""

    def __init__(self, git: Git) -> None:
        self.folder: Path = git.common_dir / "memento" / "sessions"

    def _path(self, actor: str) -> Path:
        return self.folder / f"{hashlib.sha256(actor.encode()).hexdigest()[:16]}.json"

    def last(self, actor: str) -> Session | None:
        """Return the actor's latest session; None where there was none, or its file cannot be read."""
        try:
            held = {**Session._field_defaults, **json.loads(self._path(actor).read_bytes())}
            return Session(**{key: str(held[key]) for key in Session._fields})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def current(self, actor: str) -> Session | None:
        found = self.last(actor)
        return None if found is None or found.ended else found

    def own(self, actor: str, now: str) -> Own:
        """Return whose drafts are promoted unnamed; of before the session too, where the clock went back."""
        found = self.current(actor)
        return Own(actor, found.at if found is not None and found.at <= now else "")

    def require(self, actor: str) -> Session:
        """Return the actor's open session; refuse where there is none."""
        found = self.current(actor)
        if found is None:
            raise NoSession(actor=actor)
        return found

    def keep(self, session: Session) -> None:
        atomic_file.write(self._path(session.actor), json.dumps(session._asdict()).encode())
