"""Where a project stands, as lines for a reader: what others wrote stands behind the fence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.cli import output
from memento_git.knowledge.quoting import FENCE, MARGIN, cleaned, fenced, shortened
from memento_git.knowledge.rendering import ORIGINS
from memento_git.model.enumeration import many

if TYPE_CHECKING:
    from memento_git.model.rows import Row

MOST: Final = 20
TEXTS: Final = 3  # checkpoints whose texts are shown
LONGEST: Final = 400
BEHIND: Final = " (of one that is behind: memento note finish NOTE)"
LISTS: Final = {
    "pinned": "pinned", "questions": "open questions", "gaps": "gaps", "goals": "goals", "checkpoints": "checkpoints",
    "corrections": "corrected lately", "contested": "contested",
}  # fmt: skip


def orientation(told: Row) -> list[str]:
    """Return where the project stands when a session begins, and what changed since the last one."""
    held = told["orientation"]
    verb = "goes on" if told["resumed"] else "begins"
    lines = [*_handoff("last handoff", held["handoff"]), *_handoff("your last handoff", held["own_handoff"])]
    for key, title in LISTS.items():
        if held[key]:
            left = f" (and {held['omitted'][key]} more)" if key in held["omitted"] else ""
            behind = BEHIND if key in ("goals", "checkpoints") else ""
            lines += ["", f"{title}{left}{behind}:"]
            texts = TEXTS if key == "checkpoints" else 0
            lines += [
                one for at, row in enumerate(held[key]) for one in (line(row), *(_text(row) if at < texts else ()))
            ]
    changes = _changes(told) if told["changes"] else []
    out = held["left_out"].items()
    outside = [
        f"left out of these because {state}: {count}; all such: memento recall --state {state}" for state, count in out
    ]
    waiting = left_over(told["session"])
    return [
        f"session {told['session']['id']} {verb}",
        *(["", MARGIN] if lines or changes else []), *lines, *(["", *outside] if outside else []), *changes,
        *(["", f"waiting: {waiting}; memento session status lists them"] if waiting else []),
    ]  # fmt: skip


def _text(row: Row) -> list[str]:
    """Return what a checkpoint says is done and remains, below its name; of a long text the beginning."""
    text = row["text"].strip().removeprefix(row["title"])
    lines = "\n".join(one for one in text.split("\n") if one.strip())
    return [f"    {one}" for one in fenced(shortened(lines, LONGEST))] if lines else []


def _changes(told: Row) -> list[str]:
    """Return the latest of what changed; of more, how many there are and where they are listed."""
    more = len(told["changes"]) - MOST
    left = f" (and {more} more before: memento changes --since {told['since'][:12]})" if more > 0 else ""
    return ["", f"changed since{left}:", *map(change, told["changes"][-MOST:])]


def _handoff(title: str, row: Row | None) -> list[str]:
    if row is None:
        return []
    labels = "".join(f"; {label}" for label in _labels(row))
    said = fenced(f"{output.printable(row['actor'])} wrote:\n{row['text']}")
    return ["", f"{title} ({row['created_at'][:10]}{labels}):", *(f"  {one}" for one in said)]


def line(row: Row, *more: str) -> str:
    """Return a note or a draft: its id, what one should know of it, its title."""
    far = row.get("progress") or {}
    told = [far.get("note"), far.get("next") and f"next: {far['next']}", row.get("to") and f"for {row['to']}"]
    beside = f" [{'; '.join(one for one in told if one)}]" if any(told) else ""
    return _spoken(row["id"], [*_labels(row), *more], f"{row['title']}{beside}")


def item(row: Row) -> str:
    """Return an item of the short tier."""
    return _spoken(row["id"], _labels(row), row["text"])


def change(row: Row) -> str:
    """Return what happened to a note, and its state where that says more; of a redacted one by whom, and why."""
    now = [f"now {row['status']}"] if row["status"] not in (None, "active", *row["happened"]) else []
    said = row["title"] if row["status"] != "redacted" else f"by {', '.join(row['actors'])}: {row['reason']}"
    return _spoken(row["id"], [*row["happened"], *now], said)


def left_over(told: Row) -> str:
    """Return how many drafts and short-term items there are, in words."""
    counts = ((len(told["drafts"]), "draft"), (len(told["short"]), "short-term item"))
    return ", ".join(many(count, word) for count, word in counts if count)


def _labels(row: Row) -> list[str]:
    """Return the state of what does not simply hold, what is said against it, its origin if no person's."""
    labels = [row["status"]] if row.get("status", "draft") not in ("active", "draft") else []
    labels += output.marks(row)
    labels += [f"contradicted by {', '.join(row['contradicted_by'])}"] if row.get("contradicted_by") else []
    labels += row.get("doubts", ())
    labels += [ORIGINS.get(row["origin"], row["origin"])] if row["origin"] != "person" else []
    return [*labels, *([f"reads like orders: {', '.join(row['orders'])}"] if row["orders"] else [])]


def _spoken(identity: str, labels: list[str], said: str) -> str:
    """Return a record on one line, at whose end stands what others said."""
    return "  ".join(["", identity, *([", ".join(labels)] if labels else []), FENCE + output.printable(cleaned(said))])
