"""The ledger as HTML: the report of a run as one file, and the pages of `memento web`; only here is Jinja2."""

from __future__ import annotations

import base64
import functools
import hashlib
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Refused, adding
from memento_git.folding.event_rows import said
from memento_git.model.states import FINAL_TASK
from memento_git.review.report import (
    INCOMPLETE,
    LATE,
    MOVED,
    ORDER,
    SPIKE,
    again_note,
    answered,
    around,
    called,
    checked,
    signature_note,
    typed,
)  # fmt: skip
from memento_git.review.summary import STUCK
from memento_git.review.timeline import timeline
from memento_git.work.doubts import aged, spike_note

if TYPE_CHECKING:
    from types import ModuleType

    from jinja2 import Environment

    from memento_git.model.rows import Row
    from memento_git.model.run_rows import RunRows

STYLE: Final = ("report.css",)
SERVED: Final = (*STYLE, "web/web.css")
SCRIPT: Final = ("web/live.js",)
LONG: Final = 40
RECENT: Final = 100
PARTS: Final = {
    "pending": "open", "dispatched": "under way", "in_progress": "under way", **dict.fromkeys(STUCK, "stuck"),
}  # fmt: skip
BAR: Final = (("proven", "good"), ("unproven", "warn"), ("under way", "work"), ("stuck", "bad"), ("open", "plain"))


class HtmlExtraMissing(Refused):
    token = "html_extra_missing"
    sentence = "a report as HTML needs Jinja2, which is not installed"
    hint_ = adding("html")


def page(held: RunRows, generated_at: str) -> str:
    """Return the report of a run as one file; its policy lets nothing run or load."""
    return rendered("report.html", report_facts(held, generated_at), live=None)


def report_facts(held: RunRows, generated_at: str) -> dict[str, Any]:
    """Return what the report of a run is made of."""
    return {
        "held": held, "run": held["run"], "generated_at": generated_at,
        "spike": spike_note(held["run"]), "moved": MOVED,
        "noted": {"incomplete": INCOMPLETE, "spike": SPIKE, "late": LATE},
        "stale": sum(aged(row) == "stale" for row in held["tasks"]),
        "groups": _groups(held), "bar": _bar(held), "line": timeline(held["audit"]),
        "recent": held["audit"][: -RECENT - 1 : -1],
        "evidence": {row["id"]: row for row in held["evidence"]},
        "titles": {row["id"]: row["title"] for row in held["tasks"]},
        "plan": next((row for row in held["plans"] if row["id"] == held["run"]["current_plan_id"]), None),
    }  # fmt: skip


def rendered(name: str, facts: Mapping[str, Any], *, live: object) -> str:
    """Return a page in which every text of the ledger is escaped; `live` is what one that is served knows besides."""
    try:
        import jinja2
    except ImportError:
        raise HtmlExtraMissing from None
    style = SERVED if live else STYLE
    told = {"style": _joined(style), "style_hash": hash_of(style), "script": _joined(SCRIPT)}
    return _environment(jinja2).get_template(name).render(facts, live=live, **told)


def hash_of(names: Sequence[str]) -> str:
    """Return the digest by which a page's policy names its style, or its script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(_joined(names).encode()).digest()).decode()}"


def _joined(names: Sequence[str]) -> str:
    return "".join(map(_text, names))


@functools.cache
def _text(name: str) -> str:
    return (files("memento_git.review") / "templates" / name).read_text(encoding="utf-8")


@functools.cache
def _environment(jinja2: ModuleType) -> Environment:
    environment: Environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_text),
    )  # fmt: skip
    environment.filters |= {
        "words": _words, "minute": _minute, "link": _link, "called": called, "aged": aged,
        "signature": signature_note, "again": again_note, "typed": typed, "answered": answered, "checked": checked,
        "said": said, "around": lambda row: around(row, shlex.quote),
    }  # fmt: skip
    return environment


def _groups(held: RunRows) -> list[Row]:
    """Return the tasks by state, what needs attention first; long lists of what is settled are folded."""
    groups = []
    for state in ORDER:
        rows = [row for row in held["tasks"] if row["status"] == state]
        unproven = any(row["proven"] is False for row in rows)
        folded = state in FINAL_TASK and len(rows) > LONG and not unproven
        if rows:
            groups.append({"state": state, "rows": rows, "open": not folded})
    return groups


def _bar(held: RunRows) -> list[Row]:
    """Return the shares of a bar of 1,000 parts, with what each is."""
    rows = (row for row in held["tasks"] if row["status"] != "cancelled")
    counts = Counter(PARTS.get(row["status"]) or ("proven" if row["proven"] else "unproven") for row in rows)
    parts, at = [], 0.0
    for name, tone in BAR:
        if counts[name]:
            width = counts[name] * 1000 / counts.total()
            parts.append({"name": name, "tone": tone, "count": counts[name], "x": round(at, 1), "w": round(width, 1)})
            at += width
    return parts


def _words(text: str) -> str:
    return str(text).replace("_", " ").replace(".", " ")


def _minute(text: str | None) -> str:
    return str(text or "")[:16].replace("T", " ")


def _link(uri: str) -> bool:
    """Tell whether an address is one that a reader may follow."""
    return uri.lower().startswith(("https://", "http://"))
