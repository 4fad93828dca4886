"""The changes of a run as sentences, in the style of a terminal or of Markdown. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.model.enumeration import cut, grouped, many, some
from memento_git.model.ids import verb_of
from memento_git.review.report import INCOMPLETE, LATE, MOVED, SPIKE, called, counted, ran, signature_note
from memento_git.review.word_diff import ADDED, LEFT_OUT, REMOVED
from memento_git.work.doubts import aged

if TYPE_CHECKING:
    from memento_git.model.rows import Row

MOST_STATES: Final = 5
STATES: Final = ("completed", "proven", "unproven", "stale", "late", "contested")
NOES: Final = ("rejected", "failed", "blocked")
OPENED: Final = ("failed", "fallen", "waived")
STOPPED: Final = ("blocked", "rejected", "cancelled")
WEAK: Final = ("failed", "superseded", "retracted", "redacted")
MOST_NAMED: Final = 3
MOST_WORDS: Final = 4000
BLANKS: Final = {ord(" "): "␣", ord("\t"): "⇥", ord("\n"): "↵"}  # else nobody would see that an item was indented
LOOK: Final = "needs a look"
TURNED: Final = {
    "stale": "became stale: the newer commit has other code",
    "late": f"late: {LATE}",
    "contested": "became contested: events disagree, settle it",
    "spike": SPIKE,
    "incomplete": INCOMPLETE,
}  # fmt: skip


class Style(NamedTuple):
    """How texts of others, our own sentences with code in them, code, ids and changed words are written."""

    say: Callable[[str], str]
    word: Callable[[str], str]
    code: Callable[[str], str]
    strong: Callable[[str], str]
    removed: Callable[[str], str]
    added: Callable[[str], str]


def headline(held: Row) -> str:
    """Return what happened as counts on one line."""
    counts = held["counts"]
    beside = [*noted(counts), *([many(counts["files"], "other file")] if counts.get("files") else [])]
    if not any((held["runs"], held["forbidden"], held["policy"], held["new"], beside)):
        return "nothing changed"
    runs = [many(counts["runs"], "run")] if counts["runs"] else []
    pieces = many(counts["evidence"], "piece of evidence", "pieces of evidence")
    tasks = many(counts["tasks"], "task") + _of_them(held, "tasks", STOPPED)
    parts = [
        *([f"{tasks} in {runs[0]}"] if counts["tasks"] else runs),
        *(f"{counts[name]} {name}" for name in STATES if counts[name]),
        *([many(counts["plans"], "plan")] if counts["plans"] else []),
        *([many(counts["gates"], "gate") + _of_them(held, "gates", OPENED)] if counts["gates"] else []),
        *([pieces + _of_them(held, "evidence", WEAK)] if counts["evidence"] else []),
        *([many(counts["signatures"], "signature")] if counts["signatures"] else []),
        *([f"{counts['reproductions']} run again"] if counts["reproductions"] else []),
        *beside,
        *(["the policy changed"] if held["policy"] else []),
        *(["the ledger and its policy are new"] if held["new"] else []),
    ]
    return ", ".join(parts) or "files changed or removed"


def _of_them(held: Row, name: str, states: Iterable[str]) -> str:
    """Return how many of a headline's records came to what a reviewer looks at first."""
    rows = (row for run in held["runs"] for row in run[name])
    found = Counter(row["outcome"] if row["to"] == "recorded" else row["to"] for row in rows)
    told = ", ".join(f"{found[one]} {one}" for one in states if found[one])
    return f" ({told})" if told else ""


def noted(counts: Row) -> list[str]:
    """Return the parts of a headline that are about notes."""
    parts = [many(counts["notes"], "note")] if counts.get("notes") else []
    return [*parts, *([f"the code of {many(counts['touched'], 'note')} touched"] if counts.get("touched") else [])]


def caution(held: Row) -> str:
    """Return the line that stands above all others where the ledger's own rule was broken; nothing where not."""
    count = held["counts"]["forbidden"]
    if not count:
        return ""
    were = many(count, "file of the ledger was", "files of the ledger were")
    return f"{were} changed or removed, and a ledger only grows: memento check says more"


def state(word: str | None) -> str:
    return word.replace("_", " ") if word else "absent"


def way(row: Row) -> str:
    """Return the states that a record went through."""
    if row["change"] == "removed":
        return f"{state(row['from'])} → removed"
    states = [state(word) for word in row.get("way") or [row["from"], row["to"]] if word]
    if row["change"] == "added" and row["id"].startswith("task"):
        states[0] = "new"
    new = "new: " if row["change"] == "added" and len(states) == 1 and states != ["new"] else ""
    return new + _arrows(states)


def _arrows(states: Sequence[str]) -> str:
    """Return states one after the other; of many the first and the last, and what was said against it last."""
    last = {word: number for number, word in enumerate(states)}
    kept = {*range(MOST_STATES - 2), len(states) - 1, *(last[word] for word in NOES if word in last)}
    if len(states) > MOST_STATES:
        states = [word if number in kept else "…" for number, word in enumerate(states)]
    return " → ".join(word for word, _ in groupby(states))


def actors(names: Sequence[str], style: Style, *, whole: Collection[str] = ()) -> str:
    """Return who did something last; `whole` are those who judge, for by the name alone one passes for another."""
    shown = names[-MOST_NAMED:]
    told = [style.say(cut(name, 200) if name in whole else cut(called(name), 60)) for name in shown]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*told, *more])


def what(row: Row, style: Style) -> str:
    """Return what a piece of evidence is: its command and exit code, or what it holds, and what was said of it."""
    if row["command"]:
        return "; ".join([ran(row, style.code), *(style.say(counted(report)) for report in row["reports"] or ())])
    held = some([cut(name, 160) for name in row["holds"]], MOST_NAMED)
    return style.say("; ".join(filter(None, [held, cut(row["summary"] or "", 160)])))


def proof(task: Row, style: Style) -> str:
    """Return what proves a task, or why nothing does; nothing where it is not done."""
    if task["proven"] is None:
        return ""
    if not task["proven"]:
        why = "; ".join(task["unproven_because"]) or "nothing proves it"
        return f"{style.strong('unproven')}: {style.word(cut(why))}"
    had = " (a run had failed since)" if task["failed_before"] and not task["failed_since"] else ""
    before = " (it was unproven)" if task["proven_before"] is False else had
    unsigned = (
        f"; {style.strong('unsigned')}: {style.say(cut('; '.join(task['unsigned'])))}" if task["unsigned"] else ""
    )
    failed = f"; {style.strong('failed since')}: {told}" if (told := shown(task["failed_since"], style)) else ""
    lacks = style.word(cut("; ".join(task["unproven_by_older"])))
    older = f"{style.strong('unproven by the older policy')}: {lacks}; by the newer one " if lacks else ""
    return f"{older}proven by {shown(task['proof'], style) or 'evidence'}{before}{failed}{unsigned}"


def shown(rows: Sequence[Row], style: Style) -> str:
    """Return the first pieces of evidence that something rests on, and how many more there are."""
    told = []
    for row in rows[:MOST_NAMED]:
        age, is_what = aged(row), what(row, style)
        told.append(
            ", ".join(filter(None, [row["kind"], row["trust_level"], age])) + (f": {is_what}" if is_what else "")
        )
    more = [f"{len(rows) - MOST_NAMED} more"] if len(rows) > MOST_NAMED else []
    return "; ".join([*told, *more])


def marks(task: Row) -> list[str]:
    """Return what became of a task that neither its state nor the proof that is shown says."""
    said = {task["to"], *("stale" for row in task["proof"][:MOST_NAMED] if task["proven"] and row["stale"])}
    return [name for name in task["became"] if name not in said]


def pieces(text: Row, style: Style) -> str:
    """Return a word diff on one line; where it is cut, with how many changes are left out."""
    told, size = [], 0
    for number, piece in enumerate(text["words"]):
        if size > MOST_WORDS:
            told.append(_left_out([one["change"] for one in text["words"][number:]]))
            break
        shown = cut(piece["text"], MOST_WORDS)
        size += len(shown)
        if piece["change"] in (ADDED, REMOVED) and shown.isspace():
            shown = shown.translate(BLANKS)
        mark = {ADDED: style.added, REMOVED: style.removed}.get(piece["change"], style.say)
        edge = " " if shown[:1].isspace() else ""
        told.append("…" if piece["change"] == LEFT_OUT else f"{edge}{mark(shown)}{' ' if shown[-1:].isspace() else ''}")
    return "".join(told).strip()


def _left_out(changes: Sequence[str]) -> str:
    """Return how much of a word diff is not shown; what is taken out counts by itself."""
    told = {"added": changes.count(ADDED), "taken out": changes.count(REMOVED)}
    left = [f"{many(count, 'more passage')} {what}" for what, count in told.items() if count]
    return f"… ({', '.join(left)})" if left else "…"


def revised(row: Row, style: Style) -> Iterator[str]:
    for text in row["texts"]:
        yield f"{text['field'].replace('_', ' ')}: {pieces(text, style)}"


def judges(task: Row) -> set[str]:
    """Return who accepted or rejected a task."""
    return {row["actor"] for row in task["events"] if row.get("action") in ("task.accepted", "task.rejected")}


def by(row: Row, style: Style, *, whole: Collection[str] = ()) -> str:
    return f" by {actors(row['by'], style, whole=whole)}" if row["by"] else ""


def why(row: Row, style: Style) -> str:
    return f": {style.say(cut(row['reason']))}" if row["reason"] else ""


def task_lines(task: Row, style: Style) -> Iterator[str]:
    """Yield what is to be told of a task below its name."""
    yield f"{way(task)}{by(task, style, whole=judges(task))}{why(task, style)}"
    if task["last_reason"] and task["last_reason"] != task["reason"]:
        yield f"the last reason given before: {style.say(cut(task['last_reason']))}"
    if told := proof(task, style):
        yield told
        asked = "; ".join(task["asked"]) or "nothing but evidence that proves"
        yield f"asked of it: {style.word(cut(asked))}"
    if task["change"] == "added" and task["proven"] is not None:
        criteria = style.say(cut(some(task["criteria"], MOST_NAMED, "; ") or "none"))
        named = [task["kind"], task["risk"], some(task["files"], MOST_NAMED)]
        kind, risk, files = (style.say(cut(one)) if one else "none" for one in named)
        yield f"its criteria: {criteria}" + ("" if any(named) else "; it names no kind, risk or files")
        if any(named):
            yield f"by which policy asks: kind {kind}, risk {risk}, files {files}"
    yield from overridden(task, style)
    for name in task["became"]:
        if name != "stale" or name in marks(task):  # else the proof says it
            yield TURNED[name]
    if task["selected_dispatch_id"]:
        yield f"selected: {style.code(task['selected_dispatch_id'])}"
    yield from revised(task, style)
    yield from _other_than(task["repairs"], "which it repairs", style)


def _other_than(other: Row | None, how: str, style: Style) -> Iterator[str]:
    """Yield where the texts of a record are others than those of one in whose place it comes."""
    if other:
        yield from (f"other than {style.code(other['id'])}, {how}: {told}" for told in revised(other, style))


def overridden(task: Row, style: Style) -> list[str]:
    """Return what somebody let through that policy would not have; once each."""
    return [style.say(cut(told)) for told in dict.fromkeys(task["overridden"])]


def is_quiet(task: Row) -> bool:
    """Tell whether nothing was done to a task: only the code went on, so its proof is stale."""
    is_as_it_was = task["change"] == "changed" and task["proven"] == task["proven_before"]
    beside = task["events"] or task["texts"] or task["failed_since"]
    return is_as_it_was and task["became"] == ["stale"] and not beside


def plan_lines(plan: Row, style: Style) -> Iterator[str]:
    again = ", approved again" if plan["approved_again"] else ""
    instead = f", with {style.code(plan['superseded_by'])}" if plan["superseded_by"] else ""
    yield f"{way(plan)}{again}{by(plan, style, whole=plan['by'])}{instead}{why(plan, style)}"
    if plan["changed_since_approval"]:
        yield style.strong("its text is another than the approved one")
    if plan["unapproved"]:
        yield f"{style.strong('not approved by who may')}: {style.say(cut(plan['unapproved']))}"
    for told in plan["unsigned"]:
        yield f"{style.strong('unsigned')}: {style.say(cut(told))}"
    yield from revised(plan, style)
    yield from _other_than(plan["replaces"], "which was canonical", style)


def gate_line(gate: Row, style: Style, run: str) -> str:
    states = [*map(state, gate["way"]), *([] if gate["to"] else ["removed"])]
    scope = "" if gate["scope"] == run else f" of {style.code(gate['scope'])}"
    judged = f"{_arrows(states)}{by(gate, style, whole=gate['by'])}"
    proof = f"; on {told}" if (told := shown(gate["proof"], style)) else ""
    proof = "; without evidence" if gate["to"] == "passed" and not gate["evidence"] else proof
    late = f"; {style.strong('late')}: {LATE}" if gate["late"] else ""
    return f"{gate['kind'].replace('_', ' ')}{scope}: {judged}{late}{proof}{why(gate, style)}"


def evidence_line(row: Row, style: Style, proves: Sequence[str] = ()) -> str:
    """Return a piece of evidence on one line: whose, what it came to, and which tasks of the diff rest on it."""
    whole = row["by"] if row["kind"] == "approval" else ()
    shown, whose = what(row, style), by(row, style, whole=whole)
    marks = f"{row['kind']}, {row['trust_level']}, {row['outcome']}"
    marks += f", {MOVED}" if row["moved"] else ""
    turned, recorder = "", whose
    if row["change"] == "changed" or row["to"] != "recorded":
        turned = " → ".join(state(one) for one in (row["from"], row["to"]) if one or row["change"] != "added")
        if row["from"] == row["to"]:
            turned = f"trust was {row['trust_before']}"
        recorder = by({"by": [row["actor"]]}, style, whole=whole and [row["actor"]]) if row["change"] == "added" else ""
    told = f"{style.code(row['id'])}{recorder}: {marks}" + (f": {shown}" if shown else "")
    if row["uri"]:
        told += f" {style.code(cut(row['uri'], 200))}"
    if row["approves"]:
        told += f", about {style.code(row['approves'])}"
    if about := proves or [one for one in row["task_ids"] if one != row["approves"]]:
        told += f" — {'proves' if proves else 'for'} {some([style.code(one) for one in about], MOST_NAMED)}"
    if turned:
        told += f" — {turned}{whose}"
    return f"{told}{why(row, style)}"


def trouble_lines(run: Row, style: Style) -> Iterator[str]:
    for row in run["trouble"]:
        told = style.say(cut(row["about"]))
        yield f"{style.strong(row['problem'])}: {style.code(row['record'])} {told}"
    for row in run["settled"]:
        yield f"no longer {row['problem']}: {style.code(row['record'])} {style.say(cut(row['about']))}"
    for row in run["mended"]:
        told = style.say(cut(row["summary"] or ""))
        who = actors([row["actor"]], style, whole=[row["actor"]])
        yield f"{verb_of(row['action'])} by {who}: {style.code(row['record'])} {told}"
    for row in run["illegal"]:
        who = f" by {actors([row['actor']], style)}" if row["actor"] else ""
        told = f"{verb_of(row['action'])} of {style.code(row['record'])}{who}"
        yield f"{style.strong('not counted')}: {told}: {style.say(cut(row['problem'] or ''))}"
    for row in run["findings"]:
        place = style.code(f"{row['path']}:{row['line']}" if row["line"] else row["path"])
        yield f"{style.strong(row['code'])}: {place} {style.say(cut(row['message']))}"


def _signatures(run: Row, style: Style) -> Iterator[str]:
    for row in run["signatures"]:
        by = actors([row["actor"]], style)
        note = style.say(signature_note(row))
        shown = note if row["signature"] == "good" else style.strong(note)
        what = row["what"].replace("_", " ") if row["event_id"] else row["what"]  # of evidence there may be an id in it
        yield f"{style.code(row['record'])} {style.say(what)} by {by}: {shown}"


def _reproductions(run: Row, style: Style) -> Iterator[str]:
    for row in run["reproductions"]:
        result = row["result"] if row["result"] == "reproduced" else style.strong(row["result"])
        what = f"{style.code(row['of'])} {ran(row, style.code) if row['command'] else ''}: {result}"
        why = "; ".join(row["differences"]) if row["differences"] else _worth(row)
        why = "; ".join([why, *row["less_covered"]])
        yield f"{what} ({style.code(row['id'])} by {actors([row['actor']], style)}): {style.say(cut(why))}"


def _worth(row: Row) -> str:
    """Return what a second run that came to the same is worth."""
    return f"counts, signed by {row['signed_by']}" if row["counts"] else f"does not raise its trust: {row['why']}"


def run_line(run: Row, style: Style) -> str:
    """Return what became of a run itself, nothing where it is as it was."""
    moved = len(run["way"]) > 1 or run["change"] != "changed"
    told = [f"{way(run)}{by(run, style)}{why(run, style)}", *run["doubts"]] if moved else []
    spike = "a spike, which may go without a plan" if run["spike"] else ""
    return "; ".join(filter(None, [*told, spike, "archived" if run["archived"] else ""]))


def lines(run: Row, style: Style) -> Iterator[tuple[str, list[str]]]:
    """Yield what a run's changes are beside its tasks: what it is about, and its lines; what needs a look first."""
    yield from _each(LOOK, trouble_lines(run, style))
    if texts := list(revised(run, style)):
        yield "text", texts
    for plan in run["plans"]:
        yield f"plan {style.code(plan['id'])} {style.say(cut(plan['title'], 120))}", list(plan_lines(plan, style))
    yield from _each("gate", (gate_line(row, style, run["id"]) for row in run["gates"]))
    again = {row["id"] for row in run["reproductions"] if row["result"] != "void"}
    proves = grouped((row["id"], task["id"]) for task in run["tasks"] if task["proven"] for row in task["proof"])
    held = [row for row in run["evidence"] if row["id"] not in again]
    held.sort(key=lambda row: row["id"] not in proves)
    yield from _each("evidence", (evidence_line(row, style, proves.get(row["id"], ())) for row in held))
    yield from _each("signatures", _signatures(run, style))
    yield from _each("run again", _reproductions(run, style))


def _each(name: str, found: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    held = list(found)
    if held:
        yield name, held
