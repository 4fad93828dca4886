"""The row that commands show of a note: its keys, in their order, and what each tells.

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
