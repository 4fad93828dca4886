"""What happened to a ledger between two commits: changes as data, out of the rows of both sides. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, cast

from memento_git.folding.event_rows import unmet
from memento_git.folding.settling import SETTLING
from memento_git.model.enumeration import grouped
from memento_git.model.ids import verb_of
from memento_git.model.states import DONE
from memento_git.review import diff_proofs
from memento_git.review.word_diff import REMOVED, words
from memento_git.work import doubts
from memento_git.work.proof import failures

if TYPE_CHECKING:
    from memento_git.model.finding import Finding
    from memento_git.model.rows import Row
    from memento_git.model.run_rows import RunRows

WAY: Final = {
    "dispatched": "dispatched", "claimed": "in_progress", "completed": "completed", "failed": "blocked",
    "recovered": "pending", "blocked": "blocked", "reopened": "pending", "cancelled": "cancelled",
    "accepted": "accepted", "rejected": "rejected", "paused": "paused", "resumed": "active",
}  # fmt: skip
MOVING: Final = frozenset({*WAY, "approved", "superseded", "retracted", "redacted", "selected"})
QUIET: Final = frozenset({"renewed"})
RUN_TEXTS: Final = ("goal", "constraints", "description")
PLAN_TEXTS: Final = ("title", "body", "acceptance_criteria", "assumptions", "risks", "verification_policy")
TASK_TEXTS: Final = (
    "title", "description", "acceptance_criteria", "dependencies", "relevant_files", "kind", "risk", "size", "role",
    "budget", "repairs", "verification_policy",
)  # fmt: skip
ASKED_TEXTS: Final = ("title", "description", "acceptance_criteria")
SAID: Final = ("command", "exit_code", "summary", "uri", "beside", "reports")  # not told again of redacted
SAME: Final = ("status", "proven", "proven_by", "unproven_because", "unsigned", "failed_since")
TURNS: Final = ("stale", "late", "incomplete", "spike")
LISTS: Final = (
    "texts", "plans", "tasks", "gates", "evidence", "signatures", "reproductions", "trouble", "settled", "findings",
    "illegal", "mended",
)  # fmt: skip
COUNTED: Final = ("plans", "gates", "evidence", "signatures", "reproductions")
EMPTY: Final[Row] = {
    "run": None, "plans": [], "tasks": [], "gates": [], "evidence": [], "audit": [], "trouble": [], "findings": [],
}  # fmt: skip


def run_change(old: Row | None, new: Row | None, now: str, *, archived: bool = False) -> Row | None:
    """Return what happened to one run, None where nothing did by now; each side is its overview or absent."""
    before, after = old or EMPTY, new or EMPTY
    known = {row["id"] for row in before["audit"]}
    events = [row for row in after["audit"] if row["id"] not in known]
    told = grouped((row["record"], row) for row in events if row["legal"])
    shown = after["run"] or before["run"]
    change: Row = {
        "id": shown["id"], "goal": shown["goal"], "spike": shown["spike"], "change": _kind(old, new),
        "from": before["run"] and before["run"]["status"], "to": after["run"] and after["run"]["status"],
        "way": _way_of_run(old, new, told.get(shown["id"], ())),
        "by": _actors(told.get(shown["id"], ())) or ([] if old else [shown["actor"]]),
        "reason": _reason(told.get(shown["id"], ())),
        "doubts": doubts.of_run(cast("RunRows", new)) if new else [],
        "texts": texts(before["run"], after["run"], RUN_TEXTS),
        "plans": _plans(before, after, events, told),
        "tasks": _tasks(before, after, told, now),
        "gates": _gates(before, after, events),
        "evidence": _changes(before["evidence"], after["evidence"], told, _evidence),
        "signatures": diff_proofs.signatures(before, after),
        "reproductions": diff_proofs.reproductions(before, after),
        "trouble": _beside(after["trouble"], before["trouble"]),
        "settled": _beside(before["trouble"], after["trouble"]) if new else [],
        "findings": [row for row in map(_finding, after["findings"]) if row not in map(_finding, before["findings"])],
        "illegal": [_event(row) for row in events if not row["legal"]],
        "mended": [_event(row) for row in events if row["legal"] and _verb(row) in SETTLING],
        "archived": archived, "event_count": len(events),
    }  # fmt: skip
    moved = archived or len(change["way"]) > 1 or change["change"] != "changed"
    return change if moved or any(change[name] for name in LISTS) else None


def is_proven(task: Row) -> bool | None:
    """Tell whether a task is proven by both policies; None where it is not done."""
    return None if task["proven"] is None else task["proven"] and not task["unproven_by_older"]


def counts(runs: Sequence[Row], forbidden: Sequence[Row], weakened: Sequence[str]) -> dict[str, int]:
    """Return how much of what a headline names there is."""
    tasks = [task for run in runs for task in run["tasks"]]
    done = [task for task in tasks if task["to"] in DONE]
    return {
        "runs": len(runs),
        "tasks": len(tasks),
        "added": sum(1 for task in tasks if task["change"] == "added"),
        "completed": sum(1 for task in done if task["from"] not in DONE),
        "proven": sum(1 for task in done if is_proven(task)),
        "unproven": sum(1 for task in done if is_proven(task) is False),
        "contested": sum(1 for run in runs for row in run["trouble"] if row["problem"] == "contested"),
        **{name: sum(name in task["became"] for task in tasks) for name in ("stale", "late")},
        **{name: sum(len(run[name]) for run in runs) for name in COUNTED},
        "forbidden": len(forbidden),
        "weakened": len(weakened),
    }


def _way_of_run(old: Row | None, new: Row | None, events: Iterable[Row]) -> list[str]:
    """Return the states that a run went through, be it back to what it was; nothing of one that is new or gone."""
    if not old or not new:
        return []
    moves = [WAY[_verb(row)] for row in events if _verb(row) in WAY and "gate" not in row["payload"]]
    return [state for state, _ in groupby([old["run"]["status"], *moves, new["run"]["status"]])]


def texts(old: Row | None, new: Row | None, fields: Iterable[str]) -> list[Row]:
    """Return the texts of a record that were revised, each as the pieces of its word diff."""
    if old is None or new is None:
        return []
    found = [(field, words(_text(old.get(field)), _text(new.get(field)))) for field in fields]
    return [
        {"field": field, "words": [{"change": kind, "text": text} for kind, text in pieces]}
        for field, pieces in found if pieces
    ]  # fmt: skip


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(str(one) for one in value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False) if isinstance(value, dict) else str(value)


def _kind(old: object, new: object) -> str:
    return "changed" if old and new else "added" if new else "removed"


def _verb(row: Row) -> str:
    return verb_of(row["action"])


def _event(row: Row) -> Row:
    return {key: row[key] for key in ("id", "record", "action", "actor", "created_at", "summary", "problem")}


def _actors(events: Sequence[Row]) -> list[str]:
    """Return who did something, each once, who did the last of it at the end."""
    return list(dict.fromkeys(row["actor"] for row in reversed(events)))[::-1]


def _reason(events: Sequence[Row]) -> str | None:
    """Return why the last thing happened that moved the record, and is no verdict on it."""
    return _why(_moving(events)[-1:])


def _moving(events: Iterable[Row]) -> list[Row]:
    """Return the events that moved their record, and are no verdict on it."""
    return [row for row in events if _moves(row) and "gate" not in row["payload"]]


def _why(events: Iterable[Row]) -> str | None:
    """Return the first reason of some events: a reason, a note, or what was unmet."""
    payloads = [row["payload"] for row in events]
    told = (one.get("reason") or one.get("note") or unmet(one) for one in payloads)
    return next((reason for reason in told if reason), None)


def _moves(row: Row) -> bool:
    """Tell whether an event moved its record; what takes the words of another event away moves evidence alone."""
    verb = _verb(row)
    return verb in MOVING and (verb != "redacted" or row["record"].startswith("evidence_"))


def _changes(old: Sequence[Row], new: Sequence[Row], told: Mapping[str, list[Row]], compare: Any) -> list[Row]:
    """Return the changes of records of one kind, those that are gone last."""
    before = {row["id"]: row for row in old}
    after = {row["id"]: row for row in new}
    pairs: list[tuple[Row | None, Row | None]] = [(before.get(name), row) for name, row in after.items()]
    pairs += [(row, None) for name, row in before.items() if name not in after]
    found = [compare(one, other, told.get((other or one or {})["id"], [])) for one, other in pairs]
    return [change for change in found if change is not None]


def _plans(before: Row, after: Row, events: Sequence[Row], told: Mapping[str, list[Row]]) -> list[Row]:
    """Return the changes of plans; who superseded one is who approved the next."""
    approvals = [row for row in events if row["legal"] and row["action"] == "plan.approved"]
    moved = dict(told)
    for name in (row["id"] for row in after["plans"] if row["status"] == "superseded"):
        own = max((number for number, row in enumerate(approvals) if row["record"] == name), default=-1)
        moved[name] = approvals[own + 1 : own + 2] or moved.get(name, [])
    was = next((row for row in before["plans"] if row["status"] == "canonical"), None)

    def compare(old: Row | None, new: Row | None, events: Sequence[Row]) -> Row | None:
        change = _plan(old, new, events)
        is_next = was and new and new["status"] == "canonical" and new["id"] != was["id"]
        found = {"id": was["id"], "texts": texts(was, new, PLAN_TEXTS)} if was and is_next else None
        return change and {**change, "replaces": found}

    return _changes(before["plans"], after["plans"], moved, compare)


def _plan(old: Row | None, new: Row | None, events: Sequence[Row]) -> Row | None:
    shown = new or old or {}
    same = old and new and all(old[key] == new[key] for key in ("status", "changed", "unsigned"))
    fit = (old or {}).get("unapproved") == (new or {}).get("unapproved")
    again = same and any(row["record"] == shown["id"] and _verb(row) == "approved" for row in events)
    change = {
        "id": shown["id"], "title": shown["title"], "change": _kind(old, new),
        "from": old and old["status"], "to": new and new["status"],
        "by": _actors(events) or ([] if old else [shown["actor"]]), "reason": _reason(events),
        "changed_since_approval": bool(new and new["changed"]), "unapproved": new and new["unapproved"],
        "unsigned": (new or {}).get("unsigned", []), "approved_again": bool(again),
        "superseded_by": new and new["superseded_by"], "texts": texts(old, new, PLAN_TEXTS),
    }  # fmt: skip
    return None if same and fit and not (again or change["texts"]) else change


def _evidence(old: Row | None, new: Row | None, events: Sequence[Row]) -> Row | None:
    shown = new or old or {}
    if old and new and all(old[key] == new[key] for key in ("status", "trust_level", "outcome")):
        return None
    to = new["status"] if new else _gone(events)
    shown = {**shown, **dict.fromkeys(SAID)} if to == "redacted" else shown
    return {
        **{key: shown.get(key) for key in (*diff_proofs.KEYS, "actor", "task_ids", "approves", "uri", "moved")},
        "change": _kind(old, new),
        "holds": [] if to == "redacted" else diff_proofs.holds(shown),
        "from": old and old["status"], "to": to,
        "by": _actors(events) or ([] if old else [shown["actor"]]), "trust_before": old and old["trust_level"],
        "reason": _reason(events),
    }  # fmt: skip


def _gone(events: Sequence[Row]) -> str | None:
    """Return what became of evidence whose file is gone: redacted, or nothing that was ever allowed."""
    return "redacted" if any(_verb(row) == "redacted" for row in events) else None


def _gates(old: Row, new: Row, events: Sequence[Row]) -> list[Row]:
    """Return the gates that got a verdict, or whose verdict fell, with all that they were on the way."""
    before, after = (
        {(row["scope"], row["kind"]): {**row, "status": "fallen" if row["fallen"] else row["status"]}
         for row in side["gates"] if row["event_id"]}
        for side in (old, new)
    )  # fmt: skip
    held = {row["id"]: row for row in new["evidence"] if row["status"] != "redacted"}
    found = []
    for key in [*after, *(key for key in before if key not in after)]:
        was, now = before.get(key), after.get(key)
        if was and now and all(was[name] == now[name] for name in ("event_id", "status", "late")):
            continue
        shown = now or was or {}
        verdicts = [row for row in events if (row["record"], row["payload"].get("gate")) == key and row["legal"]]
        found.append({
            "kind": key[1], "scope": key[0], "from": was and was["status"], "to": now and now["status"],
            "way": _verdicts(was, now, verdicts),
            "by": _actors(verdicts) or ([] if shown["fallen"] else [shown["reviewer"]]),
            "reason": shown["fallen"] or _why(verdicts[-1:]), "evidence": shown["evidence"], "late": shown["late"],
            "proof": [diff_proofs.proof(held[name]) for name in shown["evidence"] if now and name in held],
        })  # fmt: skip
    return found


def _verdicts(was: Row | None, now: Row | None, events: Iterable[Row]) -> list[str]:
    """Return what a gate was, one after the other; asking for it again does not lift a failure."""
    way = [was["status"]] if was else []
    for verb in map(_verb, events):
        way.append(verb if verb != "requested" else "failed" if way[-1:] == ["failed"] else "pending")
    return [word for word, _ in groupby([*way, *([now["status"]] if now else [])])]


def _beside(rows: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    known = {(row["record"], row["problem"], row["about"]) for row in others}
    return [row for row in rows if (row["record"], row["problem"], row["about"]) not in known]


def _finding(one: Finding) -> Row:
    return {"code": one.code, "path": one.path, "line": one.line, "message": one.message}


def _tasks(before: Row, after: Row, told: Mapping[str, list[Row]], now: str) -> list[Row]:
    evidence = {row["id"]: row for row in (*before["evidence"], *after["evidence"])}
    latest = failures.latest(evidence.values(), now)
    known = {row["id"]: row for row in (*after["tasks"], *before["tasks"])}
    titled = {name: f"{name} {row['title']}" for name, row in known.items()}

    def compare(old: Row | None, new: Row | None, events: Sequence[Row]) -> Row | None:
        change = _task(old, new, events, evidence)
        return change and {
            **change, "failed_since": diff_proofs.failed_since(change, evidence, latest),
            "repairs": _repaired(known.get((new or {}).get("repairs") or ""), new),
        }  # fmt: skip

    old, new = (
        [{**row, "dependencies": [titled.get(name, name) for name in row["dependencies"]]} for row in side["tasks"]]
        for side in (before, after)
    )
    return _changes(old, new, told, compare)


def _task(old: Row | None, new: Row | None, events: Sequence[Row], evidence: Mapping[str, Row]) -> Row | None:
    now, was = new or {}, old or {}
    shown = now or was
    loud = [row for row in events if _verb(row) not in QUIET]
    proof = [evidence[name] for name in now.get("proven_by", ()) if name in evidence]
    change = {
        "id": shown["id"], "title": shown["title"], "change": _kind(old, new),
        "from": old and old["status"], "to": new and new["status"], "way": _way(old, new, loud),
        "by": _actors(_moving(loud) or loud) or ([] if old else [shown["actor"]]),
        "reason": _reason(loud), "last_reason": _last_reason(new, loud),
        "proven": new and new["proven"], "proven_before": old and old["proven"],
        "failed_before": bool(was.get("failed_since")),
        "proof": [diff_proofs.proof(row) for row in proof],
        **{key: now.get(key, []) for key in ("unproven_because", "unsigned", "unproven_by_older")},
        "became": [name for name in TURNS if _is(now, name) and not _is(was, name)],
        "asked": list((now.get("asked") or {}).get("why", ())),
        "criteria": list(new["acceptance_criteria"]) if new and not old else [],
        "kind": shown["kind"], "risk": shown["risk"], "files": list(shown["relevant_files"]),
        "overridden": list(_overridden(loud)), "selected_dispatch_id": now.get("selected_dispatch_id"),
        "texts": texts(old, new, TASK_TEXTS), "events": [_event(row) for row in loud],
    }  # fmt: skip
    if now.get("status") == "contested" != was.get("status"):
        change["became"].append("contested")
    same = old and new and all(old.get(key) == new.get(key) for key in SAME)
    return None if same and not (loud or change["texts"] or change["became"]) else change


def _is(task: Row, name: str) -> bool:
    """Tell whether a task is one of what it may turn to; not stale where its commands passed on the code since."""
    return bool(task.get(name)) and not (name == "stale" and task["passed_since"])


def _overridden(events: Sequence[Row]) -> Iterator[str]:
    """Yield what policy would not have let through, and somebody let through with a word."""
    for payload in (row["payload"] for row in events):
        if why := payload.get("over_budget"):
            yield f"handed out beyond its budget: {why}"
        if rules := payload.get("allowed"):
            yield f"handed out with destructive commands allowed: {', '.join(rules)}"
        if payload.get("forced"):
            yield f"taken back by force: {payload.get('reason') or 'nobody said why'}"


def _last_reason(new: Row | None, events: Sequence[Row]) -> str | None:
    """Return the last reason that anybody gave at a task before it was done, be it at the older commit."""
    return new["last_reason"] if new and any(_verb(row) in DONE for row in events) else None


def _repaired(old: Row | None, new: Row | None) -> Row | None:
    """Return what a task repairs, with the texts of that which it has not, each as the pieces of its word diff."""
    found = texts(old, new, ASKED_TEXTS)
    less = [text for text in found if any(piece["change"] == REMOVED for piece in text["words"])]
    return old and {"id": old["id"], "texts": less}


def _way(old: Row | None, new: Row | None, events: Sequence[Row]) -> list[str]:
    """Return the states that a task went through, from what it was to what it is."""
    way = [old["status"] if old else "pending"]
    way += [state for row in events if (state := WAY.get(_verb(row))) is not None]
    way += [new["status"]] if new else []
    return [state for state, _ in groupby(way)]
