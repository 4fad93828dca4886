"""The rows that commands show of notes, and of what was found: their keys, in order, and what each tells.

Times are UTC, ids are whole. The reference of JSON answers is made of this; nothing of it is looked at while a command
runs.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict


class Link(TypedDict):
    """A link of a note, and what became of its end."""

    rel: str
    to: str
    successor: NotRequired[str]
    status: NotRequired[str]


class NoteRow(TypedDict):
    """A note, with its state and all that links to it."""

    id: Annotated[str, "the note"]
    kind: Annotated[str, "fact, decision, lesson, event, preference, gap, question, checkpoint, goal, summary"]
    domain: Annotated[str, "the folder that it lies in"]
    title: Annotated[str, "its name"]
    key: Annotated[str | None, "dotted, of one live note only, or null"]
    status: Annotated[str, "active, parked, retired, superseded, merged, resolved, finished, contested"]
    expired: Annotated[bool, "its time is over"]
    incomplete: Annotated[bool, "files of its events are missing or cannot be read, so it may not hold"]
    origin: Annotated[str, "person, agent, command, import"]
    actor: Annotated[str, "who wrote it"]
    created_at: Annotated[str, "when"]
    confirmed_at: Annotated[str | None, "when what it says was last confirmed, or null"]
    confirmed_by: Annotated[str | None, "by whom, or null"]
    confirmed_before: Annotated[str | None, "when it was last confirmed, where it was reworded since; or null"]
    tags: Annotated[list[str], "list"]
    aliases: Annotated[list[str], "other words for it"]
    importance: Annotated[float | None, "0 to 1, or null"]
    confidence: Annotated[float | None, "0 to 1, or null"]
    tier: Annotated[str, "medium (expires) or long"]
    expires: Annotated[str | None, "when, or null"]
    valid_from: Annotated[str | None, "or null"]
    valid_to: Annotated[str | None, "or null"]
    validity: Annotated[str | None, "where that is not now: `valid until` or `valid from` and the date; or null"]
    thread: Annotated[str | None, "the line of thought that it is part of, or null"]
    to: Annotated[str | None, "whom a question is for, or null"]
    pinned: Annotated[bool, "part of every digest"]
    about: Annotated[list[str], "places in the code"]
    links: Annotated[
        list[Link],
        "list of `rel` and `to`; with `successor` where another note took that one's place, else with its "
        "`status` where it is not active",
    ]
    linked_from: Annotated[list[dict[str, str]], "list of `rel` and `from`"]
    evidence: Annotated[list[str], "ids of what it rests on"]
    sources: Annotated[list[str], "where it comes from"]
    supersedes: Annotated[list[str], "ids"]
    successor: Annotated[str | None, "the note that took its place, or null"]
    contradicted_by: Annotated[
        list[str], "live notes that contradict it: by a link, by one key, or as another that took the same place"
    ]
    progress: Annotated[dict[str, Any] | None, "of a goal: `at`, `note`, `next`; or null"]
    orders: Annotated[list[str], "what makes its text read like orders to the reader"]
    text: Annotated[str, "the Markdown of its file"]
    doubts: NotRequired[Annotated[list[str], "where a session begins: what it rests on and was taken back, in words"]]


class Answer(TypedDict):
    """What a question was answered by."""

    note: str | None
    status: str | None
    title: str | None
    said: str | None


class HitRow(TypedDict):
    """What was found: a note or another record, with its labels."""

    id: Annotated[str, "the record"]
    record: Annotated[str, "note, plan, task, run, evidence, skill"]
    kind: Annotated[str, "of a note what it is, else `record`"]
    domain: Annotated[str | None, "of a note, or null"]
    title: Annotated[str, "its name"]
    key: Annotated[str | None, "or null"]
    path: Annotated[str, "its file"]
    run: Annotated[str | None, "or null"]
    status: Annotated[str | None, "its state; draft for a draft"]
    expired: Annotated[bool, "its time is over"]
    incomplete: Annotated[bool, "files of its events are missing or cannot be read, so it may not hold"]
    validity: Annotated[str | None, "where it is not valid now: `valid until` or `valid from` and the date; or null"]
    draft: Annotated[bool, "it is in this clone only"]
    origin: Annotated[str | None, "person, agent, command, import, or null"]
    actor: Annotated[str | None, "who wrote it"]
    created_at: Annotated[str | None, "when"]
    age_days: Annotated[int | None, "whole days since"]
    confirmed_at: Annotated[str | None, "or null"]
    confirmed_before: Annotated[str | None, "when, where it was reworded since; or null"]
    importance: Annotated[float | None, "or null"]
    confidence: Annotated[float | None, "or null"]
    thread: Annotated[str | None, "or null"]
    to: Annotated[str | None, "whom a question is for, or null"]
    tags: Annotated[list[str], "list"]
    pinned: Annotated[bool, "part of every digest"]
    about: Annotated[
        list[dict[str, Any]], "places in the code: `anchor`, `state`, and where it is now: `path`, `lines`, `why`"
    ]
    anchors: Annotated[str | None, "the worst of these states: gone, changed, unknown, unpinned, moved, ok; or null"]
    evidence: Annotated[list[dict[str, Any]], "what it rests on: `id`, `status`, `trust`, `outcome`, `stale`, `doubts`"]
    trust: Annotated[str | None, "the best trust of what stands of it, or null"]
    outcome: Annotated[str | None, "how what stands of it ended: passed, failed, observed; some_failed; or null"]
    stale: Annotated[bool | None, "all of that, or of what proves a task, is of other code than the commit's; or null"]
    proven: Annotated[bool | None, "of a task that is done, whether it is proven; else null"]
    run_status: Annotated[str | None, "of a task whose run is over, how that ended; else null"]
    doubts: Annotated[
        list[str], "of a record of the work, what takes from its state, in the words of `status`: stale, unsigned, late"
    ]
    successor: Annotated[str | None, "what stands in its place today, be that step by step, or null"]
    answer: Annotated[
        Answer | None, "of what is resolved: `note`, its `status` and `title`, what was `said`, each or null; else null"
    ]
    progress: Annotated[dict[str, Any] | None, "of a goal: `at`, `note`, `next`; or null"]
    instead_of: Annotated[list[str], "what was found and led here, as it took its place"]
    contradicted_by: Annotated[
        list[str],
        "live notes that contradict it: by a link, in either direction, by one key, or as another that took "
        "the same place; they stand next to it",
    ]
    may_contradict: Annotated[
        list[str], "the nearest notes that hold now and may say the opposite of it, by a rule on words"
    ]
    orders: Annotated[list[str], "what makes its text read like orders to the reader"]
    text: Annotated[str, "the Markdown, as much as the view shows"]
    cut: NotRequired[Annotated[bool, "it is not all of it"]]
    scope: NotRequired[Annotated[str, "whose ledger it is in: `project` or `user`"]]
    weak: Annotated[bool, "it has too little of the question to be sure"]
    score: Annotated[float | None, "or null"]
    query: Annotated[int | None, "which of the questions, from 0"]
    words: Annotated[list[str], "that it met"]
    alike: Annotated[list[str], "others that say the same"]
    parts: Annotated[list[dict[str, Any]], "with --explain: `name`, `value`, `of` (text, boost, or an id)"]
    events: Annotated[list[str], "of a record, those whose reasons answer; `text` begins with what they say"]
