"""The terms of a task: what it asked as it was handed out, or rejected, and whether it asks something else by now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memento_git.ledger import codec

if TYPE_CHECKING:
    from memento_git.model.work import Prose
    from memento_git.work.state import RunState


def digest(prose: Prose) -> str:
    """Return the digest of what a task asks: by its words, and by kind, risk and files, which policy goes by."""
    return _digests(prose)[0]


def are_of(known: str, prose: Prose) -> bool:
    """Tell whether a digest of terms is of what a task asks by this text, in whichever version it was made."""
    return known in _digests(prose)


def _digests(prose: Prose) -> list[str]:
    """Return the digest of a task's terms, and those of earlier versions: without its title, and by words alone."""
    words: list[object] = [prose.list("criteria"), prose.data.get("verify") or {}, prose.body]
    about = [prose.data.get("kind") or "", prose.data.get("risk") or "", prose.list("files")]
    return [_digest(told) for told in ([prose.title, *words, *about], [*words, *about], words)]


def _digest(told: list[object]) -> str:
    return codec.digest_of(json.dumps(told, sort_keys=True, ensure_ascii=False).encode())


def are_others(state: RunState, task: str, dispatch: str) -> bool:
    """Tell whether a task asks something else than when it was handed out."""
    known = _named(state, dispatch)
    return bool(known) and not are_of(known, state.prose(task))


def of_rejected(state: RunState, task: str) -> str:
    """Return the digest of what a task asked when it was rejected last; nothing where it was not, or nobody says.

    A rejection of earlier versions does not say: what was handed out before it counts then.
    """
    legal = [seen for seen in state.folded(task).events if seen.verdict == "legal"]
    last = next((seen for seen in reversed(legal) if seen.event.do == "rejected"), None)
    if last is None:
        return ""
    done = [seen.event for seen in legal if seen.event.do == "completed" and seen.event.id in last.past]
    return last.event.get("terms") or (_named(state, done[-1].get("dispatch")) if done else "")


def _named(state: RunState, dispatch: str) -> str:
    opened = state.event(dispatch.replace("dispatch", "event", 1))
    known = opened.get("terms") if opened is not None else ""
    return "" if known == codec.REDACTED else known
