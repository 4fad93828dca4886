"""The report of a run: Markdown for a pull request, from the ledger alone. Pure."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from memento_git.model.enumeration import cut, ends, grouped, some
from memento_git.model.markup import code, said, worded
from memento_git.review.summary import digest
from memento_git.work.doubts import CANCELLED, aged, spike_note

if TYPE_CHECKING:
    from memento_git.model.rows import EvidenceRow, GateRow, PlanRow, RoleRow, Row, TaskRow
    from memento_git.model.run_rows import RunRows

SHOWN_TASKS: Final = 3
SHOWN_CASES: Final = 5
SHOWN_PATHS: Final = 3
MOST_TEXT: Final = 120
LATE: Final = "came after the run's completion"
SPIKE: Final = "handed out without a plan, as a spike"
INCOMPLETE: Final = "incomplete: files of its events are missing or cannot be read"
MOVED: Final = "but the code changed while it ran, so it proves nothing"
NAMED: Final = {"audit": "events", "changed_files": "files", "knowledge": "notes", "also_open": "open runs"}
ORDER: Final = (
    "contested", "blocked", "rejected", "in_progress", "dispatched", "pending", "completed", "accepted", "cancelled",
)  # fmt: skip


def markdown(held: RunRows) -> str:
    """Return a run's overview as Markdown: lists, no tables, so that every chat shows it."""
    lines = [f"# {said(held['run']['goal'])}", "", summary(held), ""]
    for title, items in sections(held):
        lines += [f"## {title}", "", *(f"- {item}" for item in items), ""]
    return "\n".join(lines).rstrip() + "\n"


def sections(held: RunRows) -> list[tuple[str, list[str]]]:
    """Return what a report tells below its heading, as titles and lines of Markdown; nothing empty."""
    told: RunRows = held if "blockers" in held else {**held, **digest(held)}
    known = {row["id"]: row for row in held["evidence"]}
    proving = {row["evidence_id"] for row in told["verification"]}
    found = [
        ("Blockers", [_about(row) for row in told["blockers"]]),
        ("Plan", _plan(held)),
        *_tasks(held),
        ("Gates", [_gate(row) for row in held["gates"]]),
        ("Needs settling",
         [f"`{row['record']}` is {row['problem']}: {said(row['about'])}" for row in held["trouble"]]),
        ("Verification", [_verified(row, known) for row in told["verification"]]),
        ("Changed files", [code(row["path"]) for row in told["changed_files"] if row["evidence_ids"]]),
        ("Files that done tasks name", [code(row["path"]) for row in told["changed_files"] if not row["evidence_ids"]]),
        ("Recovered", [_recovered(row) for row in told["recovered"]]),
        ("Risks", [_about(row) for row in told["risks"]]),
        ("Roles", [role_line(row) for row in held["roles"]]),
        ("Other evidence" if proving else "Evidence", _alike(known[name] for name in known if name not in proving)),
        ("Notes", [note_line(row) for row in held.get("knowledge", ())]),
        ("Also open", [f"{said(row['goal'])} (`{row['id']}`) — {row['status']}" for row in held.get("also_open", ())]),
        ("Next", [f"{worded(step['why'])}: {code(step['command'])}" for step in held["next"]]),
        ("Not shown", [f"{NAMED.get(name, name)}: {count} more" for name, count in held["omitted"].items()]),
    ]  # fmt: skip
    return [(title, list(items)) for title, items in found if items]


def _about(row: Row) -> str:
    return f"{worded(row['about'])} (`{row['record']}`)"


def _recovered(row: Row) -> str:
    again = f"handed out again as `{row['requeued_dispatch_id']}`" if row["requeued_dispatch_id"] else "taken back"
    where = f"; what its next worker needs: {code(row['bundle_path'])}" if row["bundle_path"] else ""
    return f"`{row['dispatch_id']}` of `{row['task_id']}`: {again}{where}"


def _verified(row: Row, evidence: Mapping[str, EvidenceRow]) -> str:
    tasks = some([f"`{name}`" for name in row["task_ids"]], SHOWN_TASKS)
    held = evidence.get(row["evidence_id"])  # a limit may have cut it off
    what = evidence_line(held) if held else f"`{row['evidence_id']}` {row['kind']} — {row['trust_level']}"
    return f"{what}, proves {tasks}"


def _alike(rows: Iterable[EvidenceRow]) -> list[str]:
    """Return evidence as lines, that of which the same is to be said as one."""
    return [
        f"{', '.join(names)} {what}" for what, names in grouped((_of(row), f"`{row['id']}`") for row in rows).items()
    ]


def role_line(row: RoleRow) -> str:
    """Return what an actor or role did last, how much in all, and what is not finished, as a line."""
    last = f"{row['last_action'].replace('.', ' ')} `{row['last_record']}`" if row["last_action"] else "nothing yet"
    what = "role " if row["kind"] == "role" else ""
    count = sum(row["actions"].values())
    waits = f", {len(row['incomplete_tasks'])} not finished" if row["incomplete_tasks"] else ""
    return f"{what}{said(called(row['name']))}: {last}; {count} in all{waits}"


def called(actor: str) -> str:
    """Return an actor's name without the address that git's user brings along."""
    return actor.partition(" <")[0] or actor


def summary(held: RunRows) -> str:
    """Return a run's state and counts as one line of Markdown."""
    run, counts = held["run"], dict(held["counts"])
    proven, unproven, unread = (counts.pop(key, 0) for key in ("proven", "unproven", "unreadable"))
    states = ", ".join(f"{counts[state]} {state.replace('_', ' ')}" for state in ORDER if state in counts)
    proof = f"; {proven} proven, {unproven} unproven" if proven or unproven else ""
    proof += f"; {unread} cannot be read" if unread else ""
    spike = f", {told}" if (told := spike_note(run)) else ""
    why = f" ({said(run['reason'])})" if run["reason"] else ""
    return f"Run `{run['id']}` is **{run['status']}**{why}{spike}. Tasks: {states or 'none'}{proof}."


def _plan(held: RunRows) -> list[str]:
    plans = {row["id"]: row for row in held["plans"]}
    canonical = plans.get(held["run"]["current_plan_id"] or "")
    if canonical is None:
        return [f"`{row['id']}` {said(row['title'])} ({row['status']}){_signed(row)}" for row in held["plans"]]
    changed = " — **changed since its approval**" if canonical["changed"] else ""
    unapproved = " — **not approved by who may**" if canonical["unapproved"] else ""
    unsigned = "".join(f" — **unsigned**: {said(why)}" for why in canonical["unsigned"])
    told = f"{said(canonical['title'])} (`{canonical['id']}`){_signed(canonical)}"
    return [f"{told}{changed}{unapproved}{unsigned}"]


def _signed(row: PlanRow | GateRow) -> str:
    note = signature_note(row)
    return f", {said(note)}" if note else ""


def _tasks(held: RunRows) -> list[tuple[str, list[str]]]:
    trust = {row["id"]: row for row in held["evidence"]}
    return [
        (state.replace("_", " ").capitalize(), [_task(row, trust) for row in held["tasks"] if row["status"] == state])
        for state in ORDER
    ]


def _task(row: TaskRow, evidence: Mapping[str, EvidenceRow]) -> str:
    return f"{said(row['title'])} (`{row['id']}`)" + "".join(f" — {note}" for note in task_notes(row, evidence))


def task_notes(row: TaskRow, evidence: Mapping[str, EvidenceRow]) -> list[str]:
    """Return what one should know of a task beside its state."""
    notes = [f"**broken**: {said(row['broken'])}"] if row["broken"] else []
    if row["proven"]:
        notes += _proof_notes(row, evidence)
    elif row["proven"] is False:
        notes.append(f"**unproven**: {worded('; '.join(row['unproven_because'])) or 'nothing proves it'}")
    age, waits_on = aged(row), row["waits_on"] if row["status"] == "pending" else []
    told = (
        "stale: this commit has other code" if age == "stale" else age,
        f"late: {LATE}" if row["late"] else "",
        f"selected: `{row['selected_dispatch_id']}`" if row["selected_dispatch_id"] else "",
        "ready" if row["ready"] else "",
        f"held back: {said(row['held_back']['why'])}" if row["held_back"] else "",
        f"waits on {', '.join(f'`{name}`' for name in waits_on)}" if waits_on else "",
        f"gate failed: {said(', '.join(row['blocked_by']))}" if row["blocked_by"] else "",
    )
    return [*notes, *filter(None, told), *_state_notes(row)]


def _proof_notes(row: TaskRow, evidence: Mapping[str, EvidenceRow]) -> list[str]:
    told = Counter(
        ", ".join(filter(None, [one["kind"], one["trust_level"], "" if row.get("stale") else aged(one)]))
        for one in (evidence[name] for name in row["proven_by"] if name in evidence)
    )
    shown = [f"{what} ({count} times)" if count > 1 else what for what, count in told.items()]
    failed = some([f"`{name}`" for name in row.get("failed_since", ())], SHOWN_TASKS)
    notes = [f"proven by {'; '.join(shown) or 'evidence'}", *([f"**failed since**: {failed}"] if failed else [])]
    return notes + [f"**unsigned**: {said(why)}" for why in row.get("unsigned", ())]


def _state_notes(row: TaskRow) -> list[str]:
    notes = [SPIKE] if row["spike"] else []
    if row["reason"] and row["status"] in ("blocked", "cancelled", "rejected"):
        notes.append(said(row["reason"]))
    why = asked["why"] if (asked := row.get("asked")) else []
    if why and row["proven"] is None and row["status"] not in ("cancelled", "rejected"):
        notes.append(worded("; ".join(why)))
    if row["run_status"] == "cancelled":
        notes.append(CANCELLED)
    if row["incomplete"]:
        notes.append(INCOMPLETE)
    return notes


def _gate(row: GateRow) -> str:
    by = f" by {said(row['reviewer'])}" if row["reviewer"] else ""
    why = f": {said(row['summary'])}" if row["summary"] else ""
    scope = "" if row["scope_kind"] == "run" else f" (`{row['scope']}`)"
    late = f", late: {LATE}" if row["late"] else ""
    fallen = f", but {said(row['fallen'])}" if row["fallen"] else ""
    names = some([f"`{name}`" for name in row.get("evidence", ())], SHOWN_TASKS)
    on = f" (on {names})" if names else ""
    return f"{said(row['kind'])}{scope} **{row['status']}**{by}{fallen}{late}{_signed(row)}{on}{why}"


def signature_note(row: PlanRow | GateRow | EvidenceRow) -> str:
    """Return whose signature a record bears, or what is wrong with it; nothing where it has none."""
    state = row.get("signature", "none")
    if state == "none":
        return ""
    from memento_git.work.attest.signing import WORDS

    whose = f" ({row['signed_by']})" if row["signed_by"] else ""
    words = {"good": f"signed by {row['signed_by']}", "unchecked": "signed, and not checked here"}
    return words.get(state, f"signature not good: {WORDS[state]}{whose}")


def again_note(row: EvidenceRow) -> str:
    """Return who ran a command again, or why that does not count; nothing where nobody did."""
    agree = [one for one in row.get("reproductions", ()) if one["result"] != "differs"]
    counting = [one["signed_by"] for one in agree if one["counts"]]
    if counting:
        return f"run again by {', '.join(dict.fromkeys(counting))}"
    return f"run again by {agree[0]['actor']}, but {agree[0]['why']}" if agree else ""


def rerun_lines(row: EvidenceRow) -> list[str]:
    """Return each second run of the command of evidence as a sentence: by whom, with what result, and its worth."""
    return [
        f"{one['id']} by {one['actor']}: {one['result']}"
        + (f": {'; '.join(one['differences'])}" if one["differences"] else "")
        + (f", does not count: {one['why']}" if one["why"] else f", counts, signed by {one['signed_by']}")
        for one in row["reproductions"]
    ]  # fmt: skip


def evidence_line(row: EvidenceRow) -> str:
    """Return one piece of evidence as a line."""
    return f"`{row['id']}` {_of(row)}"


def _of(row: EvidenceRow) -> str:
    """Return what is to be said of a piece of evidence."""
    if row["status"] == "redacted" and (gone := row["withdrawn"]):
        return f"redacted by {said(called(gone['actor']))}: {said(gone['reason'] or '')}"
    what = _what(row)
    status = row["status"] if row["status"] != "recorded" else ""
    told = (aged(row), MOVED if row["moved"] else "", status, said(signature_note(row)), said(again_note(row)))
    marks = [row["trust_level"], row["outcome"], *filter(None, told)]
    shared = f", shared by {len(row['task_ids'])} tasks" if len(row["task_ids"]) > 1 else ""
    return f"{row['kind']}: {what} — {', '.join(marks)}{shared}"


def note_line(row: Row) -> str:
    """Return a note that has to do with the run, and how, as a line."""
    marks = [row["kind"], *([] if row["status"] == "active" else [row["status"]]), *(["expired"] * row["expired"])]
    how = some([f"{one['rel'].replace('_', ' ')} `{one['to']}`" for one in row["links"]], SHOWN_TASKS)
    return f"{said(row['title'])} (`{row['id']}`) — {', '.join(marks)}: {how}"


def differing(diff: Row, code: Callable[[str], str] = str) -> str:
    """Return what a diff is of by its commits, for what it is called somebody typed, and how many lines differ."""
    between = f"{diff['base'][:12]}..{diff['tip'][:12]}"
    return f"{code(between)}: +{diff['added']} -{diff['removed']}"


def _what(row: EvidenceRow) -> str:
    parts: list[str] = []
    if row["command"]:
        parts.append(ran(row))
    parts += [report_line(report) for report in row["reports"]]
    parts += [said(cut(problem, MOST_TEXT)) for problem in row["problems"]]
    parts += [code(one["name"]) for one in row["files"]]
    if row["diff"]:
        parts.append(differing(row["diff"], code))
    if row["approves"]:
        answer = f": “{said(row['response'])}”" if row["response"] else ""
        parts.append(f"{answered(row)} `{row['approves']}` by {said(row['actor'])}{answer}")
    if row["check"]:
        parts.append(said(checked(row["check"])))
    parts += [code(row["uri"])] if row["uri"] else []
    parts += [said(row["summary"])] if row["summary"] else []
    return "; ".join(parts) or "nothing to inspect"


def answered(row: EvidenceRow) -> str:
    """Return whether an approval is one."""
    return "does not approve" if row["outcome"] == "failed" else "approves"


def checked(check: Row) -> str:
    """Return what a check from outside is, and how it ended there."""
    return f"{check['provider']}: {check['name']} {check['conclusion']}"


def ran(row: Mapping[str, Any], style: Callable[[str], str] = code) -> str:
    """Return a command as one types it, where it ran, how it ended, and which paths alone it is about."""
    return f"{style(typed(row))}{around(row, style)}"


def typed(row: Mapping[str, Any]) -> str:
    """Return a command as one types it; of a long one the end is told as well, for `|| true` stands there."""
    return ends(shlex.join(row["command"]), MOST_TEXT)


def around(row: Mapping[str, Any], style: Callable[[str], str]) -> str:
    """Return where a command ran, how it ended, and which paths alone it is about.

    So are files told that it saw, and nobody has committed, and how many it did not see.
    """
    paths = [style(cut(path, MOST_TEXT)) for path in row["covers"]]
    within = f", covers only {some(paths, SHOWN_PATHS)}" if paths else ""
    beside = [style(cut(path, MOST_TEXT)) for path in row.get("beside") or ()]
    within += f", beside untracked {some(beside, SHOWN_PATHS)}" if beside else ""
    if absent := row.get("absent"):
        from memento_git.work.proof.trust import not_seen

        within += f", {not_seen(absent)}"
    where = f" in {style(cut(row['folder'], MOST_TEXT))}" if row["folder"] != "." else ""
    return f"{where} exit {row['exit_code']}{within}"


def report_line(report: Row) -> str:
    """Return what a report counts, and the cases that failed in it."""
    return said(counted(report)) + _failed(report)


def counted(report: Row) -> str:
    """Return what a report counts, as words."""
    counts = [f"{value} {key}" for key, value in report["counts"].items() if value]
    none = [f"0 {key}" for key in report["counts"]][:1]
    return f"{report['format']}: {', '.join(counts or none)}"


def _failed(report: Row) -> str:
    names = report["failed"]
    left = len(names[SHOWN_CASES:]) + report["failed_more"]
    told = ", ".join(said(name) for name in names[:SHOWN_CASES]) + (f" and {left} more" if left else "")
    return f" (failed: {told})" if names else ""
