"""How the views of recall group what was found: by role, by domain, in the order of the best. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.quoting import shortened

if TYPE_CHECKING:
    from memento_git.model.note_rows import HitRow

ROLES: Final = ("architecture", "constraints", "risks", "state", "history")
ROLE_OF_KIND: Final = {
    "decision": "constraints", "preference": "constraints", "lesson": "constraints",
    "checkpoint": "state", "goal": "state", "event": "history", "summary": "history", "plan": "state", "task": "state",
    "run": "state", "evidence": "history", "skill": "constraints",
}  # fmt: skip
ROLE_OF_DOMAIN: Final = {
    "architecture": "architecture", "dependencies": "architecture", "decisions": "constraints",
    "patterns": "constraints", "issues": "risks", "tasks": "state", "context": "state", "history": "history",
    "feedback": "history",
}  # fmt: skip
EXCERPT: Final = 500
NO_DIGEST: Final = ("event", "checkpoint")


def role(hit: HitRow) -> str:
    """Return what part a hit plays for somebody who is about to do something."""
    if hit["kind"] in ("gap", "question"):
        return "risks"
    by_kind = ROLE_OF_KIND.get(hit["kind"], "state")
    return ROLE_OF_DOMAIN.get(hit["domain"] or "", by_kind)


def grouped(view: str, hits: Sequence[HitRow]) -> dict[str, list[HitRow]]:
    """Return the hits of a view under the names of its sections, in their order."""
    if view == "plan":
        found = {name: [hit for hit in hits if role(hit) == name] for name in ROLES}
        return {name: members for name, members in found.items() if members}
    if view == "explore":
        known = [hit for hit in hits if hit["anchors"] not in ("gone", "changed")]
        doubtful = [hit for hit in hits if hit["anchors"] in ("gone", "changed")]
        return {name: held for name, held in (("known", known), ("its code changed", doubtful)) if held}
    if view == "digest":
        return _digest(hits)
    return {"": list(hits)} if hits else {}


def _digest(hits: Sequence[HitRow]) -> dict[str, list[HitRow]]:
    wanted = [hit for hit in hits if hit["kind"] not in NO_DIGEST]
    ordered = sorted(wanted, key=lambda hit: -(0.5 if hit["importance"] is None else hit["importance"]))
    sections: dict[str, list[HitRow]] = {"pinned": [hit for hit in ordered if hit["pinned"]]}
    for hit in ordered:
        if not hit["pinned"]:
            sections.setdefault(hit["domain"] or "other", []).append(hit)
    return {name: members for name, members in sections.items() if members}


def trimmed(view: str, hit: HitRow) -> HitRow:
    """Return a hit with as much of its text as a view shows."""
    if view == "plain":
        return {**hit, "cut": False}
    if (answer := hit["answer"]) and answer["said"]:
        hit = {**hit, "answer": {**answer, "said": shortened(answer["said"], EXCERPT)}}
    if far := hit["progress"]:
        hit = {**hit, "progress": {key: shortened(said, EXCERPT) if said else said for key, said in far.items()}}
    if view == "list":
        return {**hit, "text": "", "cut": False}
    text = shortened(hit["text"], EXCERPT)
    return {**hit, "text": text, "cut": text != hit["text"]}


def together(sections: Mapping[str, Sequence[HitRow]]) -> dict[str, list[HitRow]]:
    """Return sections in which what contradicts a hit stands right behind it, wherever it was; each hit once."""
    by_id = {hit["id"]: hit for members in sections.values() for hit in members}
    told = set[str]()
    found: dict[str, list[HitRow]] = {}
    for name, members in sections.items():
        placed = paired([one for one in members if one["id"] not in told], by_id)
        fresh = [hit for hit in placed if hit["id"] not in told]
        told.update(hit["id"] for hit in fresh)
        found |= {name: fresh} if fresh else {}
    return found


def paired(hits: Sequence[HitRow], others: Mapping[str, HitRow]) -> list[HitRow]:
    """Return the hits with what contradicts each right behind it, once; `others` are those not found themselves."""
    by_id = {hit["id"]: hit for hit in hits}
    placed: dict[str, HitRow] = {}
    for hit in hits:
        if hit["id"] in placed:
            continue
        placed[hit["id"]] = hit
        for other in hit["contradicted_by"]:
            found = by_id.get(other) or others.get(other)
            if found is not None:
                placed.setdefault(other, found)
    return list(placed.values())
