"""An answer of recall as lines for a reader, and what of it fits in a budget of tokens. Pure.

Labels are ours, what stands behind the fence is not. Of what does not fit there are shorter forms, then names alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from memento_git.knowledge.quoting import MARGIN, fenced, named, shortened
from memento_git.model.anchors import elsewhere
from memento_git.model.enumeration import many
from memento_git.model.markup import one_line
from memento_git.model.tokens import BYTES, size, tokens

if TYPE_CHECKING:
    from memento_git.model.note_rows import Answer, HitRow
    from memento_git.model.rows import Row

SHOWN_FILES: Final = 20
LONGEST_TITLE: Final = 200
SHORT: Final = 160
TELLING: Final = 150  # bytes of the line that says what was left out
APART: Final = {
    "redacted": ("because redacted", "memento check"),
    "feedback": ("as feedback on sessions", "--domain feedback --state parked"),
}
ORIGINS: Final = {
    "person": "by a person", "agent": "by an agent", "command": "from a command", "import": "imported",
}  # fmt: skip


def words_of(hit: HitRow) -> list[str]:
    """Return the labels of a hit, in words."""
    told: list[Any] = [
        hit["weak"] and "perhaps not about this",
        hit["kind"], hit["status"] and hit["status"].replace("_", " "), proof(hit),
        *(() if hit["trust"] else hit["doubts"]), hit["expired"] and "expired",
        hit["incomplete"] and "incomplete", hit["validity"],
        hit["pinned"] and "pinned", hit["anchors"] and f"code {hit['anchors']}",
        hit["trust"] and f"evidence {hit['trust']}{_ended(hit)}", hit["origin"] and ORIGINS.get(hit["origin"], ""),
        _aged(hit["age_days"]), hit["confirmed_at"] and f"confirmed {hit['confirmed_at'][:10]}",
        hit["confirmed_before"] and f"confirmed {hit['confirmed_before'][:10]}, reworded since",
        hit["confidence"] is not None and f"confidence {hit['confidence']:g}",
        hit["orders"] and f"reads like orders: {', '.join(hit['orders'])}",
    ]  # fmt: skip
    return [str(one) for one in told if one]


def proof(row: Mapping[str, Any]) -> str:
    """Return whether a task that is done is proven; nothing of what is no such task."""
    return "" if row.get("proven") is None else "proven" if row["proven"] else "unproven"


def _ended(row: Mapping[str, Any]) -> str:
    """Return that evidence failed, or saw other code; that it passed says nothing of what it is evidence for."""
    ended = f", {row['outcome'].replace('_', ' ')}" if row.get("outcome") in ("failed", "some_failed") else ""
    age = ", ".join(row.get("doubts") or (["stale"] if row.get("stale") else []))
    return f"{ended}{f', {age}' if age else ''}"


def _aged(days: int | None) -> str:
    return "" if days is None else "today" if days == 0 else f"{many(days, 'day')} old"


def block(hit: HitRow) -> list[str]:
    """Return one hit: what is said of it, then its title and text behind the fence."""
    lines = [f"{hit['id']}  {' · '.join(words_of(hit))}"]
    lines += [f"  {line}" for line in _told(hit)]
    told = [*fenced("\n".join(_said(hit))), *_asked(hit), *_answer(hit["answer"])]
    return [*lines, *(f"  {line}" for line in told), *([""] if len(told) > 1 else [])]


def _said(hit: HitRow) -> list[str]:
    """Return the title of a hit and the lines of its text, without saying twice what is in both.

    A line that is the title, or that a cut title is the beginning of, stands in its place; of a note it is the first
    line, which most titles are taken from.
    """
    title, text = hit["title"], hit["text"].strip()
    lines = text.split("\n") if text else []
    stem = title.removesuffix("…")
    is_note = hit["record"] == "note"
    is_cut = is_note or stem != title or len(title) >= LONGEST_TITLE
    known = lines[:1] if is_note else lines
    at = next((at for at, line in enumerate(known) if line == title or (is_cut and line.startswith(stem))), None)
    return [named(title, LONGEST_TITLE), *lines] if at is None else [lines[at], *lines[:at], *lines[at + 1 :]]


def _asked(hit: HitRow) -> list[str]:
    """Return whom a question is for; of a goal how far it is, and what comes next."""
    far = hit["progress"] or {}
    told = (("for:", hit["to"]), (f"so far ({str(far.get('at'))[:10]}):", far.get("note")), ("next:", far.get("next")))
    return [line for name, said in told if said for line in (name, *fenced(said))]


def _answer(answer: Answer | None) -> list[str]:
    """Return what answers a question, where that is told: the note that does, what was said when it was resolved."""
    if answer is None or not (answer["note"] or answer["said"]):
        return []
    state = f" ({answer['status']})" if answer["status"] not in (None, "active") else ""
    words = [*([named(answer["title"], 200)] if answer["title"] else []), *([answer["said"]] if answer["said"] else [])]
    by = f"answered by {answer['note']}{state}" if answer["note"] else "answered"
    return [f"{by}:" if words else by, *(line for word in words for line in fenced(word))]


def _told(hit: HitRow) -> Iterable[str]:
    """Yield what else one should know of a hit, one line for each."""
    if hit["instead_of"]:
        was = "was" if len(hit["instead_of"]) == 1 else "were"
        yield f"took the place of {', '.join(hit['instead_of'])}, which {was} found"
    if hit["successor"]:
        yield f"its successor is {hit['successor']}"
    if hit["contradicted_by"]:
        yield f"contradicted by {', '.join(hit['contradicted_by'])}; neither is known to be right"
    if hit["may_contradict"]:
        yield f"may contradict {', '.join(hit['may_contradict'])}, by its words; neither is known to be right"
    yield from chain.from_iterable(_place(place) for place in hit["about"] if place["state"] not in (None, "ok"))
    for one in hit["evidence"]:
        if one.get("trust"):
            yield f"rests on {one['id']}: {one['status']}, {one['trust']}{_ended(one)}"
    if hit.get("alike"):
        yield f"the same is said by {', '.join(hit['alike'])}"
    if hit.get("cut"):
        yield f"shortened; all of it: memento show {hit['id']}"
    if hit.get("parts"):
        yield f"score {hit['score']:.2f} = " + " + ".join(
            f"{named(part['name'], 40)} {part['value']:.2f}" + _of(part["of"]) for part in hit["parts"]
        )


def _place(place: Row) -> list[str]:
    """Return in words what became of a place in the code; behind the fence where others could speak in them."""
    anchor, told, there = place["anchor"], place.get("why") or "", elsewhere(place)
    why = f" ({named(told)})" if told else ""
    now = f", now {named(there)}" if there else ""
    line = f"{named(anchor)}: {place['state']}{now}{why}"
    spoken = " " in one_line(f"{anchor}{there}") or (anchor.startswith("dep:") and told)
    return [f"about a place that is {place['state']}:", *fenced(line)] if spoken else [f"about {line}"]


def _of(source: str) -> str:
    plain = source == "boost" or source.startswith("like ")
    return "" if source == "text" else f" ({source})" if plain else f" (of {source})"


def rendered(answer: Row) -> str:
    """Return an answer as text; where nothing was found that is what it says."""
    hits = {hit["id"]: hit for hit in answer["hits"]}
    lines = [MARGIN, ""] if hits or answer["files"] else []
    for section in answer["sections"]:
        members = [hits[identity] for identity in section["ids"] if identity in hits]
        lines += [f"== {section['name']} ==", ""] if section["name"] and members else []
        lines += [line for hit in members for line in block(hit)]
        lines += [""] if members and lines[-1] else []
    lines += files(answer["files"])
    if not hits:
        lines.append(answer["nothing"] or "")
    lines += [f"nothing answers: {named(one)}" for one in answer["unanswered"] if hits]
    lines += [f"read {named(word)} as {named(meant)}" for word, meant in answer["read_as"].items()]
    return "\n".join([*lines, *left_out(answer)])


def files(rows: Iterable[Row]) -> list[str]:
    """Return files as lines: whether they are there, what in them meets the question, which notes are about them."""
    shown = list(rows)
    lines = []
    for row in shown[:SHOWN_FILES]:
        told = [*([] if row["exists"] else ["is not there"]), *(f"defines {named(one)}" for one in row["symbols"])]
        told += [f"has {', '.join(map(named, row['words']))}"] if row["words"] else []
        told += [f"notes: {', '.join(row['notes'])}" if row["notes"] else "no note is about it"]
        lines += [*fenced(named(row["path"], 200)), f"  {'; '.join(told)}"]
    return ["== files ==", "", *lines, ""] if lines else []


def left_out(answer: Row) -> list[str]:
    """Return what was not shown and how to get it, and what the answer takes."""
    left, takes = answer["left_out"], answer["tokens"]
    lines = []
    if left["budget"]:
        first = ", ".join(left["budget"][:3]) + (" and others" if len(left["budget"]) > 3 else "")
        lines.append(f"left out for the budget: {len(left['budget'])} ({first}): --budget 0, or memento show ID")
    if left["limit"]:
        lines.append(f"left out by --limit {answer['limit']}: {left['limit']} more")
    for status, count in left["states"].items():
        why, how = APART.get(status, (f"because {status}", f"--state {status}"))
        lines.append(f"left out {why}: {count}: {how}")
    if left["records"]:
        kinds = ", ".join(
            many(count, kind, "evidence" if kind == "evidence" else "") for kind, count in left["records"].items()
        )
        verb = "is" if len(left["filters"]) == 1 else "are"
        lines.append(f"left out because {', '.join(left['filters'])} {verb} for notes alone: {kinds}")
    if left["drafts"]:
        lines.append(f"left out because they are drafts: {left['drafts']}: --drafts")
    if left["short"]:
        lines.append(f"left out because they are kept for now alone: {left['short']}: memento session status")
    if answer["hits"] and takes["budget"]:
        lines.append(f"about {takes['used']} of {takes['budget']} tokens")
    return lines


# What fits in a budget.


def fitted(
    hits: Sequence[HitRow], budget: int, told: Callable[[list[HitRow], list[HitRow]], Row], *, as_json: bool
) -> Row:  # fmt: skip
    """Return the answer that is told of the hits that fit, shortened where they must be, and of those that do not.

    What an answer takes is what is printed of it, as JSON or as text. All hits behind the first that does not fit are
    left out.
    """

    def answered(kept: list[HitRow]) -> Row:
        return _measured(told(kept, list(hits[len(kept) :])), budget, as_json=as_json)

    answer = answered(list(hits))
    if not budget or answer["tokens"]["used"] <= budget:
        return answer
    costs = sum(_cost(hit, as_json=as_json) for hit in hits)
    frame = size(_printed(answer, as_json=as_json)) - costs + (0 if as_json else TELLING)
    kept = _kept(hits, budget * BYTES - frame, as_json=as_json)
    answer = answered(kept)
    while kept and answer["tokens"]["used"] > budget:
        kept.pop()
        answer = answered(kept)
    return answer


def _kept(hits: Sequence[HitRow], room: int, *, as_json: bool) -> list[HitRow]:
    kept: list[HitRow] = []
    for hit in hits:
        costs = ((form, _cost(form, as_json=as_json)) for form in _forms(hit))
        found = next(((form, cost) for form, cost in costs if cost <= room), None)
        if found is None:
            return kept
        kept.append(found[0])
        room -= found[1]
    return kept


def _forms(hit: HitRow) -> list[HitRow]:
    short = shortened(hit["text"], SHORT)
    name: HitRow = {**hit, "text": "", "progress": None, "cut": True}
    return [hit, {**hit, "text": short, "cut": short != hit["text"] or hit["cut"]}, name]


def _cost(hit: HitRow, *, as_json: bool) -> int:
    """Return how many bytes a hit takes in an answer."""
    return size(f"{json.dumps(hit, ensure_ascii=False)}, " if as_json else "\n".join([*block(hit), ""]))


def _printed(answer: Row, *, as_json: bool) -> str:
    return json.dumps({"ok": True, **answer}, ensure_ascii=False) if as_json else rendered(answer)


def _measured(answer: Row, budget: int, *, as_json: bool) -> Row:
    """Return an answer with what it takes, said in it as well."""
    held = {**answer, "tokens": {**answer["tokens"], "used": budget}}
    return {**held, "tokens": {**held["tokens"], "used": tokens(_printed(held, as_json=as_json))}}
