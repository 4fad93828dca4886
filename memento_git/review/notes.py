"""What is wrong with notes: what they name, what takes whose place, whose word they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.injection import LOW, orders
from memento_git.knowledge.note_set import Link, NoteSet, digest_of_text
from memento_git.ledger import grep, layout
from memento_git.model.finding import WHOLE, Finding, Lost
from memento_git.model.ids import ID, parse_ref
from memento_git.model.knowledge import ORIGINS
from memento_git.model.types import LONGEST
from memento_git.model.work import Event, Prose, is_agent
from memento_git.review import folds
from memento_git.work import persons
from memento_git.work.cycles import cycles
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.review.scope import Scope

NAMED: Final = ("to", "successor", "into", "answer")
TAKEN: Final = ("superseded", "merged")


def check_notes(note_set: NoteSet, scope: Scope, domains: Collection[str]) -> list[Finding]:
    """Return what is wrong with all notes, or with some of them; what their files say comes from the view.

    `domains` are those that there are.
    """
    known = {**note_set.index.prose, **dict.fromkeys(note_set.index.events_of, "")}
    names = sorted(known if scope.groups is None else known.keys() & set(scope.groups))
    found: list[Finding] = []
    for name in names:
        found += folds.disagreements(note_set, name)
        found += _text(note_set, name)
        for event in folds.effective_events(note_set, name):
            found += folds.dated(note_set, event)
            found += folds.voids(note_set, event, scope) if event.do == "voided" else ()
            found += _named(note_set, event)
    found += _domains(note_set, names, domains)
    found += _keys(note_set, names, alone=scope.groups is None)
    return [*found, *_circles(note_set, names), *_rivals(note_set, names)]


def _text(note_set: NoteSet, name: str) -> Iterator[Finding]:
    """Yield what is wrong with the text of one note."""
    path = note_set.path(name)
    if not path:
        if not note_set.is_redacted(name):
            path = f"{note_set.event_folder(name)}.md"
            yield Finding("F007", path, 0, f"{name} has events, but its file is missing", WHOLE)
        return
    if (note := note_set.written(name)) is None:
        return
    yield from _leads(note_set, note)
    yield from _rests(note_set, note)
    yield from _takes(note_set, note)
    yield from _unmerged(note_set, note)
    yield from _origin(note_set, note)
    yield from folds.not_yet(path, name, note.data["at"], note_set.view.now, "; until then it stands as the latest")
    if len(note.body) > LONGEST:
        message = f"{name} has {len(note.body)} characters, and one may keep {LONGEST}"
        yield Finding("N007", path, 0, message, "make several notes of it", "warning")


def _domains(note_set: NoteSet, names: Iterable[str], domains: Collection[str]) -> Iterator[Finding]:
    for name in names:
        path = note_set.path(name)
        if path and layout.domain_of(path) not in domains:
            message = f"{name} is in {layout.domain_of(path)!r}, and there is no such domain"
            yield Finding("N001", path, 0, message, f"add it to knowledge.domains in {layout.CONFIG}")


def _leads(note_set: NoteSet, note: Prose) -> Iterator[Finding]:
    """Yield the names in a note's front matter that lead nowhere."""
    linked = note_set.links(note)
    for own in note.data.get("links") or ():
        link = Link(own["rel"], own["to"])
        if link in linked and not note_set.knows(link.to):
            message = f"links of {note.id} name {link.to}, which is not in the ledger"
            fix = f"restore it, or memento note unlink {note.id} {link.rel} {link.to}"
            yield Finding("L004", note.path, 0, message, fix)
    sources = [one for one in note.list("sources") if ID.fullmatch(one)]
    for key, ids in {"supersedes": note.list("supersedes"), "sources": sources}.items():
        for identity in ids:
            if not note_set.knows(identity):
                message = f"{key} of {note.id} name {identity}, which is not in the ledger"
                yield Finding("L004", note.path, 0, message, f"restore it, or take it out of {key}")


def _named(note_set: NoteSet, event: Event) -> Iterator[Finding]:
    """Yield the records that an event of a note names and that are not there, as long as the event says what holds."""
    for key in NAMED:
        identity = event.get(key)
        if identity and event.do != "unlinked" and not note_set.knows(identity):
            if not _still_linked(note_set, event) if event.do == "linked" else _is_past(note_set, event.of, identity):
                continue
            message = f"{event.id} names {identity}, which is not in the ledger"
            undo = f"unlink {event.of} {event.get('rel')} {identity}" if event.do == "linked" else f"restore {event.of}"
            yield Finding("L004", event.path, 0, message, f"restore it, or memento note {undo}")


def _still_linked(note_set: NoteSet, event: Event) -> bool:
    lane = f"link:{event.get('rel')}:{event.get('to')}"
    return note_set.folded(event.of).lanes.word(lane, "") != "unlinked"


def _is_past(note_set: NoteSet, note: str, successor: str) -> bool:
    """Tell whether a note's state does not lead to a record any more: it was restored since."""
    return note_set.status(note) != "contested" and note_set.successor(note) != successor


def _rests(note_set: NoteSet, note: Prose) -> Iterator[Finding]:
    """Yield the evidence of a note that is missing, has other bytes than it named, or was taken back."""
    view = note_set.view
    for ref in note.data.get("evidence") or ():
        identity, digest = parse_ref(str(ref))
        run = next((one for one in view.runs() if view.index(one).holds(identity, "evidence")), "")
        path = view.index(run).evidence.get(identity)
        is_other = path is None or view.sha256(path)[:32] != digest
        if is_other and run and RunState(view, run).evidence_status(identity) == "redacted":
            continue
        if path is None:
            message = f"{note.id} rests on {ref}, which is missing"
            yield Finding("L002", note.path, 0, message, "restore it, or take it out of the note's evidence")
        elif is_other:
            message = f"{note.id} rests on {ref}, whose bytes are others now"
            yield Finding("L003", note.path, 0, message, WHOLE, lost=Lost(path, digest))
        elif note_set.lives(note.id) and (since := _retracted(view, run, identity)) > note_set.looked_at(note.id):
            message = f"{note.id} rests on {identity}, which was retracted {since[:10]}"
            fix = f"retire it, or if it holds all the same, confirm it: memento note confirm {note.id}"
            yield Finding("N009", note.path, 0, message, fix, "warning")


def _retracted(view: View, run: str, evidence: str) -> str:
    """Return when evidence was retracted, or nothing."""
    state = RunState(view, run)
    if state.evidence_status(evidence) != "retracted":
        return ""
    return max(seen.event.at for seen in state.folded(evidence).events if seen.event.do == "retracted")


def _takes(note_set: NoteSet, note: Prose) -> Iterator[Finding]:
    """Yield the live notes whose place a note takes by its own word alone: nothing happened to them."""
    for old in note.list("supersedes"):
        if old not in note_set.index.prose or not note_set.lives(old):
            continue
        told = note_set.folded(old).legal(*TAKEN)
        if not any(note.id in (event.get("successor"), event.get("into")) for event in told):
            message = f"{note.id} says that it supersedes {old}, and {old} does not know of it"
            fix = f"take it out of supersedes, or retire it: memento note retire {old} --reason WHY"
            yield Finding("N004", note.path, 0, message, fix)


def _unmerged(note_set: NoteSet, note: Prose) -> Iterator[Finding]:
    """Yield a note that says something else than what was merged, until somebody looked at what it was merged into."""
    into = note_set.successor(note.id) if note_set.status(note.id) == "merged" else ""
    told = [event for event in note_set.folded(note.id).legal("merged") if event.get("into") == into] if into else []
    seen = {event.get("text") for event in told}
    after = note_set.current(note.id)
    if not seen or seen & {"", digest_of_text(note.title, note.body)} or not note_set.lives(after):
        return
    if max(event.at for event in told) > note_set.looked_at(after):
        message = f"{note.id} was merged into {into}, and has other words than were merged"
        fix = f"revise {after} where it lacks some of {note.id}, then confirm it: memento note confirm {after}"
        yield Finding("N010", note.path, 0, message, fix, "warning")


def _origin(note_set: NoteSet, note: Prose) -> Iterator[Finding]:
    """Yield an origin that claims more than whoever wrote the note, or than what it was merged from."""
    own = note.data["origin"]
    fix = "put the lower origin into its front matter"
    if own == "person" and is_agent(persons.skeleton(note.data["by"])):
        yield Finding("N006", note.path, 0, f"{note.id} says person, and is by {note.data['by']}", fix)
    for source in note.list("sources"):
        found = note_set.written(source)
        if found is None or ORIGINS.index(own) >= ORIGINS.index(found.data["origin"]):
            continue
        if note_set.status(source) == "merged" and note_set.successor(source) == note.id:
            message = f"{note.id} says {own}, and was merged from {source}, which is of {found.data['origin']}"
            yield Finding("N006", note.path, 0, message, fix)
    if own in LOW and (signs := orders(note.data, note.body)) and not _is_vouched(note_set, note.id):
        message = f"{note.id}, of the origin {own}, reads like orders: it {', '.join(signs)}"
        yield Finding("N008", note.path, 0, message, f"read it, then confirm or retire {note.id}", "warning")


def _is_vouched(note_set: NoteSet, note: str) -> bool:
    """Tell whether somebody promoted or confirmed a note."""
    return any(event.do in ("promoted", "confirmed") for event in folds.effective_events(note_set, note))


def _keys(note_set: NoteSet, names: Collection[str], *, alone: bool) -> Iterator[Finding]:
    """Yield the keys that several live notes have."""
    wanted = _keyed(note_set, names)
    holders = wanted if alone or not wanted else _keyed(note_set, _with_text(note_set, wanted))
    for key in sorted(wanted):
        held = sorted(holders.get(key, ()), key=lambda name: (name not in names, name))
        if len(held) > 1:
            message = f"{held[0]} has the key {key}, and so has {' and '.join(held[1:])}"
            contested = [name for name in held if note_set.status(name) == "contested"]
            rest = [name for name in held if name not in contested]
            fix = f"retire all but one, or merge them: memento note merge {' '.join(rest)} --key {key} --text TEXT"
            fix = fix if len(rest) > 1 else "retire all but one: memento note retire NOTE --reason WHY"
            fix = f"first settle {' and '.join(contested)}: memento settle; then {fix}" if contested else fix
            yield Finding("N002", note_set.path(held[0]), 0, message, fix)


def _with_text(note_set: NoteSet, keys: Collection[str]) -> list[str]:
    """Return the notes in whose files some of the keys are written, or may be, by escapes of YAML."""
    if len(note_set.view.commits) != 1:
        return list(note_set.index.prose)
    found = grep.naming(note_set.view.git, note_set.view.commits[0], layout.KNOWLEDGE, keys)
    return [note for path in found if (note := layout.note_of(path)) and note_set.path(note) == path]


def _keyed(note_set: NoteSet, names: Iterable[str]) -> dict[str, list[str]]:
    """Return key -> the live notes among some that have it."""
    found: dict[str, list[str]] = {}
    for name in names:
        note = note_set.written(name)
        if note and note.data.get("key") and note_set.lives(name):
            found.setdefault(str(note.data["key"]), []).append(name)
    return found


def _supersedes(note_set: NoteSet, note: str) -> list[str]:
    """Return the notes whose place a note takes by its own word."""
    found = note_set.written(note)
    return found.list("supersedes") if found else []


def _circles(note_set: NoteSet, names: Iterable[str]) -> Iterator[Finding]:
    """Yield the circles in which each note took the place of the next."""
    graph: dict[str, set[str]] = {}
    waiting, seen = list(names), set()
    while waiting:
        note = waiting.pop()
        if note in seen:
            continue
        seen.add(note)
        old = _supersedes(note_set, note)
        graph.setdefault(note, set()).update(old)
        waiting += old
        if note_set.status(note) in TAKEN and (after := note_set.successor(note)) in note_set.index.prose:
            graph.setdefault(after, set()).add(note)
            waiting.append(after)
    for circle in cycles({note: sorted(others) for note, others in graph.items()}):
        message = f"each took the place of the next: {' -> '.join([*circle, circle[0]])}"
        fix = f"take one of them out of supersedes, or restore one: memento note restore {circle[0]} --reason WHY"
        yield Finding("N003", note_set.path(circle[0]), 0, message, fix)


def _rivals(note_set: NoteSet, names: Iterable[str]) -> Iterator[Finding]:
    """Yield the live notes of which each took the place of the same one."""
    for old in sorted({old for name in names for old in (name, *_supersedes(note_set, name))}):
        if note_set.status(old) == "contested":
            continue
        after = {seen.event.get("successor") for seen in note_set.folded(old).events if seen.event.do == "superseded"}
        held = sorted(one for one in after if old in _supersedes(note_set, one) and note_set.lives(one))
        if len(held) > 1:
            message = f"{' and '.join(held)} both took the place of {old}, and both live"
            fix = f"retire all but one, or merge them: memento note merge {' '.join(held)} --text TEXT"
            yield Finding("N005", note_set.path(held[0]), 0, message, fix, "warning")
