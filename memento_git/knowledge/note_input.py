"""A note as it was typed, made fit for the ledger: every option checked, its origin stamped."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from memento_git.knowledge import refusals as no
from memento_git.knowledge import similarity
from memento_git.knowledge.typed_times import moment
from memento_git.ledger import codec
from memento_git.model import anchors
from memento_git.model import types as t
from memento_git.model.clock import seconds_of, stamp
from memento_git.model.ids import KINDS, EvidenceWithdrawn, begins_an_id, kind_of
from memento_git.model.knowledge import DOMAIN_OF, KEY, LINKED, NOTE_KINDS, ORIGINS, RELATIONS, TIERS
from memento_git.model.work import Prose, is_agent
from memento_git.texts.typed import TextInvalid, WordUnknown

if TYPE_CHECKING:
    from memento_git.knowledge.note_writer import NoteWriter

T = TypeVar("T")
LONGEST_TITLE: Final = 80
LEAST_LETTERS: Final = 12  # of a sentence that is a title without what follows
STOP: Final = re.compile(r"\.(?=\s+\S)")
FENCES: Final = ("```", "~~~")
SHORT_FORMS: Final = frozenset(
    ["approx", "ca", "cf", "dr", "fig", "inc", "jr", "ltd", "mr", "mrs", "ms", "no", "nr", "prof", "sec", "st", "vs"]
)
FACT: Final = "fact"
TEXTS: Final = ("thread", "to")
LISTS: Final = ("tags", "aliases", "sources")
SHARES: Final = ("importance", "confidence")
MOMENTS: Final = ("expires", "valid_from", "valid_to")
CLEARABLE: Final = ("key", "about", *TEXTS, *LISTS, *SHARES, *MOMENTS)
STANDING: Final = ("fact", "decision", "lesson", "preference")
CARRIED: Final = ("about", "tags", "thread", "pinned")
LEFT: Final = ("key", "aliases", "links", "evidence", *SHARES, *MOMENTS)


class KeyInvalid(TextInvalid):
    """A key that has in it what no key has."""

    hint_ = "a key is 1 to 16 parts of a-z, 0-9, - and _, with dots between them: auth.token.lifetime"


class NoteInput(NamedTuple):
    """What one may say of a new note; `about` as places, `links` as RELATION:ID, times as dates or lengths."""

    text: str
    title: str = ""
    kind: str = ""
    domain: str = ""
    key: str = ""
    tags: Sequence[str] = ()
    aliases: Sequence[str] = ()
    importance: str = ""
    confidence: str = ""
    tier: str = ""
    expires: str = ""
    valid_from: str = ""
    valid_to: str = ""
    thread: str = ""
    to: str = ""
    pinned: bool = False
    about: Sequence[str] = ()
    links: Sequence[str] = ()
    evidence: Sequence[str] = ()
    sources: Sequence[str] = ()
    supersedes: Sequence[str] = ()
    origin: str = ""
    reason: str = ""


class NewNote(NamedTuple):
    """A new note's front matter, its Markdown, its domain, and why it supersedes others.

    `carried` and `left` are the keys that it has and has not taken over from the notes whose place it takes.
    """

    data: dict[str, Any]
    body: str
    domain: str
    reason: str
    carried: Sequence[str] = ()
    left: Sequence[str] = ()


def prepare(writer: NoteWriter, typed: NoteInput, merged: Sequence[Prose] = ()) -> NewNote:
    """Return the note that what was typed comes to; refuse what the ledger should not hold.

    It takes over what it says nothing of itself from the notes whose place it takes.
    """
    body = writer.text("text", typed.text)
    old = _once([writer.find(one) for one in typed.supersedes])
    kind = _choice("kind", typed.kind or _kind_of_all(old) or FACT, NOTE_KINDS)
    domain = typed.domain or DOMAIN_OF[kind]
    if domain not in writer.policy.domains:
        raise no.NoSuchDomain(domain=domain, domains=", ".join(writer.policy.domains))
    given = {key: value for key, value in typed._asdict().items() if value not in codec.EMPTY and value is not False}
    given["title"] = typed.title or titled(body)
    if typed.tier == "medium" and not typed.expires:
        given["expires"] = _expiry(writer)
    head = {
        "id": writer.tx.new_id("note"),
        "kind": kind,
        "title": "",
        "at": writer.tx.now,
        "by": writer.tx.actor,
        "origin": stamped(writer.tx.actor, typed.origin),
    }
    before = [*old, *merged]
    rest = {
        "links": _once([link(writer, one, head["id"], [note.id for note in before]) for one in typed.links]),
        "evidence": _once([_evidence(writer, one) for one in typed.evidence]),
        "supersedes": [one.id for one in old],
    }
    said = _front_matter(writer, given, {})
    carried = _carried(writer, before, said)
    data = {**head, **said, **carried, **rest, "allowed_secrets": writer.overridden()}
    reason = writer.optional("reason", typed.reason)
    return NewNote(data, body, domain, reason, list(carried), _left_behind(writer, before, data))


def _once(given: Sequence[T]) -> list[T]:
    """Return what was given, what was given twice once."""
    return [one for number, one in enumerate(given) if one not in given[:number]]


def revised(writer: NoteWriter, note: Prose, text: str, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the keys that a revision changes, as the file writes them, and the new text.

    A title that was taken from the text follows it, and what lasts until a date follows the tier.
    """
    body = writer.text("text", text) if text else ""
    given = dict(options)
    if body and not given.get("title") and note.title == titled(note.body):
        given["title"] = titled(body)
    if given.get("tier") == "medium" and not (given.get("expires") or note.data.get("expires")):
        given["expires"] = _expiry(writer)
    changes = {**_cleared(given.pop("clear", ()), note), **_front_matter(writer, given, note.data)}
    if given.get("tier") == "long" and not given.get("expires"):
        changes["expires"] = ""
    return changes, body


def _expiry(writer: NoteWriter) -> str:
    """Return when a note of the medium tier expires that names no date."""
    return stamp(seconds_of(writer.tx.now) + writer.policy.medium)


def _front_matter(writer: NoteWriter, given: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a note's front matter that may be typed, at its making and at a revision."""
    found: dict[str, Any] = {}
    if given.get("title"):
        found["title"] = writer.text("title", given["title"], lines=False)
    if given.get("key"):
        found["key"] = _key(writer, given["key"])
    for key in TEXTS:
        found |= {key: writer.text(key, given[key], lines=False)} if given.get(key) else {}
    for key in LISTS:
        found |= {key: _once(writer.texts(key, given[key]))} if given.get(key) else {}
    listed = (tag for tag in found.get("tags", ()) if "," in tag)
    writer.tx.ledger.warn(*(f"{tag!r} is one tag: several are given one by one" for tag in listed))
    for key in SHARES:
        found |= {key: share(key, given[key])} if given.get(key) not in (None, "") else {}
    found |= _moments(writer, given, before)
    if given.get("tier"):
        found["tier"] = _choice("tier", given["tier"], TIERS)
    if given.get("pinned") is not None and bool(given["pinned"]) != bool(before.get("pinned")):
        found["pinned"] = bool(given["pinned"])
    if given.get("about"):
        found["about"] = _places(writer, given["about"])
    return found


def _cleared(parts: Sequence[str], note: Prose) -> dict[str, Any]:
    """Return the keys of a note's front matter that a revision takes away, each with nothing."""
    keys = {part.replace("-", "_"): part for part in parts}
    for key, part in keys.items():
        if key not in CLEARABLE:
            raise WordUnknown(where="clear", problem=f"{part!r:.60} is not one of {', '.join(CLEARABLE)}")
    if "expires" in keys and note.data.get("tier") == "medium":
        raise TextInvalid(where="clear", problem="a note of the tier medium expires; it does not once its tier is long")
    return dict.fromkeys(keys, "")


def _moments(writer: NoteWriter, given: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, str]:
    """Return the times that are given; refuse an end that is before its beginning."""
    found = {key: moment(key, given[key], writer.tx.now) for key in MOMENTS if given.get(key)}
    start, end = (found.get(key) or str(before.get(key) or "") for key in ("valid_from", "valid_to"))
    if start and "" < end < start:
        raise no.NeverValid(start=start[:10], end=end[:10])
    return found


def _places(writer: NoteWriter, given: Sequence[str]) -> list[dict[str, str]]:
    """Return the places that texts name, pinned as the code is now; their words, and what is quoted, hold no secret."""
    from memento_git.knowledge.pinning import pin_here

    named = _once([anchors.parse(one) for one in given])
    for one in named:
        writer.optional("the text of a pattern", one.pattern, lines=False)
        writer.name("the name of a place", str(one))
    pinned = pin_here(writer.view.git, named)
    for one in pinned:
        if one.quote:
            writer.text(f"quote of {one}", one.quote)
    return [one.data() for one in pinned]


def titled(text: str) -> str:
    """Return a name for a text that has none: its first sentence, or as much of its first line as fits."""
    lines = [line.strip() for line in text.strip().splitlines()]
    line = next((one for one in lines if not one.startswith(FENCES) and any(map(str.isalnum, one))), lines[0])
    first = line.lstrip("#>*- ") or line
    sentence = first[: next((end for end in map(re.Match.start, STOP.finditer(first)) if _ends(first, end)), None)]
    if len(sentence) <= LONGEST_TITLE:
        return sentence
    return sentence[:LONGEST_TITLE].rsplit(" ", 1)[0] + "…"


def _ends(line: str, dot: int) -> bool:
    """Tell whether a dot ends a sentence that says something: none of a number, of a short form, or of several."""
    before, after = line[:dot], line[dot + 1 :].lstrip()
    word = before.split()[-1] if before.strip() else ""
    return (
        sum(map(str.isalpha, before)) >= LEAST_LETTERS
        and len(word) > 1 and "." not in word and word.lower() not in SHORT_FORMS
        and after[0].isalnum() and not after[0].islower()
    )  # fmt: skip


def stamped(actor: str, claimed: str) -> str:
    """Return where a text comes from: an agent's actor begins with `agent:`; a claim can only lower it."""
    own = "agent" if is_agent(actor) else "person"
    if not claimed:
        return own
    _choice("origin", claimed, ORIGINS)
    if ORIGINS.index(claimed) < ORIGINS.index(own):
        raise no.OriginTooHigh(actor=actor, origin=claimed, stamped=own)
    return claimed


def merged_origin(writer: NoteWriter, notes: Sequence[Prose], claimed: str) -> str:
    """Return the origin of what is made out of notes: the lowest of theirs and its writer's."""
    return similarity.lowest([stamped(writer.tx.actor, claimed), *(note.data["origin"] for note in notes)])


def link(writer: NoteWriter, given: str, own: str, old: Collection[str] = ()) -> dict[str, str]:
    """Return the link that `RELATION:ID` names, of a note that takes the place of some `old` ones."""
    rel, _, to = given.partition(":")
    if rel not in RELATIONS:
        raise no.LinkInvalid(given=given, problem=f"{rel!r:.40} is not one of {', '.join(RELATIONS)}")
    kind = kind_of(to) if "_" in to and kind_of(to) in KINDS else "note"
    if kind not in LINKED:
        raise no.LinkInvalid(given=given, problem=f"a note is linked to no {kind}")
    target = writer.find(to).id if kind == "note" else writer.view.find(to, kind)[0]
    if target == own:
        raise no.LinkInvalid(given=given, problem="it leads to the note itself")
    if rel == "depends_on" and (target in old or (kind == "note" and writer.note_set.current(target) == own)):
        raise no.LinkInvalid(given=given, problem="the note takes the place of that one, so it does not depend on it")
    return {"rel": rel, "to": target}


def _evidence(writer: NoteWriter, given: str) -> str:
    identity, run = writer.view.find(given, "evidence")
    index = writer.view.index(run)
    if identity not in index.evidence:
        raise EvidenceWithdrawn(evidence=identity, status="redacted" if index.redacting(identity) else "missing")
    return f"{identity}@{writer.view.sha256(index.evidence[identity])[:32]}"


def _choice(where: str, given: str, words: Sequence[str]) -> str:
    if given not in words:
        raise WordUnknown(where=where, problem=f"{given!r:.60} is not one of {', '.join(words)}")
    return given


def _key(writer: NoteWriter, given: str) -> str:
    """Return a key; refuse one by which a record of another kind, or another note, could be meant."""
    key = given.strip()
    if problem := t.problem_of(KEY, key):
        raise KeyInvalid(where="key", problem=problem)
    if begins_an_id(key) or writer.view.names("").holds(f"note_{key}", "note"):
        raise no.KeyLikeId(key=key)
    return writer.name("the key", key)


def share(where: str, given: Any) -> float:
    """Return a number from 0 to 1; refuse anything else."""
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise no.ShareInvalid(where=where, given=given)
    return round(value, 3)


# What a note goes on saying of those whose place it takes, and what it does not.


def _kind_of_all(old: Sequence[Prose]) -> str:
    """Return the kind that notes have in common, if it is one that goes on: an answer to a question is none."""
    kinds = {note.data["kind"] for note in old}
    return kinds.pop() if len(kinds) == 1 and kinds <= {*STANDING} else ""


def _carried(writer: NoteWriter, old: Sequence[Prose], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a note takes over where it says nothing of it itself: its places in the code as they are now."""
    threads = {note.data["thread"] for note in old if note.data.get("thread")}
    about = {str(anchors.from_data(place)): place for note in old for place in writer.note_set.about(note)}
    found: dict[str, Any] = {
        "about": anchored(writer, list(about.values()))[0] if "about" not in said else [],
        "tags": list(dict.fromkeys(tag for note in old for tag in note.list("tags"))),
        "thread": threads.pop() if len(threads) == 1 else "",
        "pinned": any(note.data.get("pinned") for note in old),
    }
    return {key: value for key, value in found.items() if value and key not in said}


def _left_behind(writer: NoteWriter, old: Sequence[Prose], data: Mapping[str, Any]) -> list[str]:
    """Return which keys of notes the one that takes their place has not: whoever wants them names them."""
    note_set = writer.note_set
    held = [
        {**note.data, "about": note_set.about(note), "links": note_set.links(note), "expires": note_set.expires(note)}
        for note in old
    ]
    return [key for key in (*CARRIED, *LEFT) if not data.get(key) and any(one.get(key) for one in held)]


def anchored(writer: NoteWriter, about: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """Return places of the code as they are at HEAD now, those that were not found and stay, what became mere lines."""
    if not about:
        return [], [], []
    from memento_git.knowledge.pinning import confirm_here

    old = [anchors.from_data(place) for place in about]
    new = confirm_here(writer.view.git, old)
    known = {one.quote for one in old}
    named = {str(one) for one in old}
    for one in new:
        if one is not None and str(one) not in named:
            writer.name("the name of a place", str(one))
        if one is not None and one.quote not in (*known, ""):
            writer.text(f"quote of {one}", one.quote)
    pairs = list(zip(old, new, strict=True))
    return (
        [(here or before).data() for before, here in pairs],
        [str(before) for before, here in pairs if before.is_place and here is None],
        [f"{before} is {here}" for before, here in pairs if before.symbol and here is not None and not here.symbol],
    )
