"""The terms of a hand-out: what a task asked as it was handed over, and whether it asks something else by now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memento_git.ledger import codec

if TYPE_CHECKING:
    from memento_git.model.work import Prose
    from memento_git.work.state import RunState


def digest(prose: Prose) -> str:
    """Return the digest of what a task asks: by its words, and by kind, risk and files, which policy goes by."""
    about = [prose.data.get("kind") or "", prose.data.get("risk") or "", prose.list("files")]
    return _digest([*_words(prose), *about])


def _words(prose: Prose) -> list[object]:
    return [prose.list("criteria"), prose.data.get("verify") or {}, prose.body]


def _digest(told: list[object]) -> str:
    return codec.digest_of(json.dumps(told, sort_keys=True, ensure_ascii=False).encode())


def are_others(state: RunState, task: str, dispatch: str) -> bool:
    """Tell whether a task asks something else than when it was handed out; older hand-outs name its words alone."""
    opened = state.event(dispatch.replace("dispatch", "event", 1))
    known = opened.get("terms") if opened is not None else ""
    if known in ("", codec.REDACTED):
        return False
    prose = state.prose(task)
    return known not in (digest(prose), _digest(_words(prose)))
