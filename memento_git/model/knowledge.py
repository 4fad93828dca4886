"""What a note says: its kinds, its keys, and how it is linked to others and to the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memento_git.errors import Misused
from memento_git.model import types as t
from memento_git.model.anchors import ABOUT
from memento_git.model.types import LINE, Field, Shape

DOMAINS: Final = (
    "architecture", "decisions", "patterns", "tasks", "issues", "dependencies", "history", "context", "feedback",
)  # fmt: skip
DOMAIN_OF: Final = {
    "fact": "context", "decision": "decisions", "lesson": "patterns", "event": "history", "preference": "patterns",
    "gap": "issues", "question": "issues", "checkpoint": "tasks", "goal": "tasks", "summary": "history",
}  # fmt: skip
NOTE_KINDS: Final = tuple(DOMAIN_OF)
RELATIONS: Final = ("relates_to", "caused_by", "depends_on", "blocks", "enables", "contradicts")
STATUSES: Final = (
    "active", "parked", "retired", "superseded", "merged", "resolved", "finished", "contested",
)  # fmt: skip
ORIGINS: Final = ("person", "agent", "command", "import")  # most trusted first
TIERS: Final = ("medium", "long")
LINKED: Final = ("note", "run", "plan", "task", "evidence")

KEY: Final = t.Pattern("a key such as auth.token.lifetime", r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*){0,15}")
SHARE: Final = t.Share()
LINK: Final = Shape({
    "rel": Field(t.Choice(RELATIONS), required=True),
    "to": Field(t.id_of(*LINKED), required=True),
})  # fmt: skip
NOTE: Final = Shape({
    "id": Field(t.id_of("note"), required=True),
    "kind": Field(t.Choice(NOTE_KINDS), required=True),
    "title": Field(LINE, required=True),
    "at": Field(t.TIME, required=True),
    "by": Field(LINE, required=True),
    "origin": Field(t.Choice(ORIGINS), required=True, doc="where the text came from; the tool says it"),
    "key": Field(KEY, doc="unique among the live notes of a ledger"),
    "tags": Field(t.ListOf(LINE)),
    "aliases": Field(t.ListOf(LINE), doc="other words under which it shall be found"),
    "importance": Field(SHARE, doc="from 0 to 1"),
    "confidence": Field(SHARE, doc="from 0 to 1"),
    "tier": Field(t.Choice(TIERS), doc="medium expires; long, where it is absent, does not"),
    "expires": Field(t.TIME, doc="from then on it is shown as expired"),
    "valid_from": Field(t.TIME),
    "valid_to": Field(t.TIME),
    "thread": Field(LINE, doc="notes of one thread are shown in the order of their making"),
    "to": Field(LINE, doc="whom a question is for"),
    "pinned": Field(t.Flag(), doc="always part of a digest"),
    "about": Field(ABOUT, doc="the code that it is about"),
    "links": Field(t.ListOf(LINK), doc="links from the beginning; later ones are events"),
    "evidence": Field(t.ListOf(t.ref_to("evidence")), doc="what it rests on"),
    "sources": Field(t.ListOf(LINE), doc="notes that it sums up, documents, addresses"),
    "supersedes": Field(t.ListOf(t.id_of("note"))),
    "allowed_secrets": Field(t.ListOf(LINE), doc="scanner rules that the writer overrode"),
})  # fmt: skip


def validity(data: Mapping[str, Any], now: str = "") -> str:
    """Return in words from when until when a note is valid; with a moment, nothing where it is valid then."""
    start, end = str(data.get("valid_from") or ""), str(data.get("valid_to") or "")
    told = [f"valid from {start[:10]}"] if start > now else []
    told += [f"valid until {end[:10]}"] if end and (not now or end <= now) else []
    return ", ".join(told)


class KeyPrefixEmpty(Misused):
    """A prefix of keys in which there is nothing of a key: a note without one does not lie below it."""

    token = "key_prefix_empty"
    sentence = "{given!r} is no beginning of a key"
    hint_ = (
        "give the whole of a key, or its first parts: auth, or auth.token; memento note list shows notes without one"
    )


def key_start(prefix: str) -> str:
    """Return the key that a prefix such as `auth`, `auth.` or `auth.*` names; refuse one that names none."""
    start = prefix.strip().rstrip(".*")
    if not start:
        raise KeyPrefixEmpty(given=prefix)
    return start


def under(key: str, prefix: str) -> bool:
    """Tell whether a dotted key is a prefix or lies below it."""
    start = key_start(prefix)
    return key == start or key.startswith(f"{start}.")
