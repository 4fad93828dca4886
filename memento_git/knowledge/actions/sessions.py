"""session: start checkpoint status promote end mark; changes since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.knowledge import changes, handoffs
from memento_git.knowledge.actions.drafts import promote_drafts
from memento_git.knowledge.actions.notes import add_note, park_note
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.labels import nothing_known
from memento_git.knowledge.note_input import share
from memento_git.knowledge.note_rows import after, draft_row, note_row, remarks
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.knowledge.orientation import session_orientation
from memento_git.knowledge.refusals import MomentInvalid, PointUnknown
from memento_git.knowledge.sessions import Session, Sessions
from memento_git.knowledge.shortterm import ShortTerm
from memento_git.knowledge.typed_times import end_of, past_moment
from memento_git.ledger import history, layout, marks
from memento_git.ledger.view import View
from memento_git.model.enumeration import many

if TYPE_CHECKING:
    from memento_git.knowledge.labels import RecordStates
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.note_rows import NoteRow
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose

LAST: Final = "last-session"
NAMED: Final = 50  # notes that a handoff names in each list: more has no room in a text, nor with who begins by it
OTHER_LABEL: Final = "the session that is open goes on, {named}; --new begins another"
APART: Final = "what was said of a session is kept apart from what is recalled"


def start_session(
    ledger: Ledger, *, label: str = "", new: bool = False, record_states: RecordStates = nothing_known
) -> Row:  # fmt: skip
    """Begin a session, or go on with the actor's open one; return it with where the project stands.

    `record_states` tells what the evidence of a note comes to.
    """
    writer, held = NoteWriter.apart(ledger), Sessions(ledger.git)
    label = writer.optional("label", label, lines=False)
    view, note_set = writer.view, writer.note_set
    before = held.last(ledger.actor)
    current = held.current(ledger.actor)
    resumed = current is not None and not new
    if current is None or new:
        head, last = view.commits[0] if view.commits else "", before.head if before is not None else ""
        current = Session(ledger.new_id("event").removeprefix("event_"), ledger.actor, view.now, head, label, "", last)
        held.keep(current)
    elif label not in ("", current.label):
        named = f"under the label {current.label!r}" if current.label else "without a label"
        ledger.warn(OTHER_LABEL.format(named=named))
    since = current.head if resumed else current.before
    return {
        "session": session_row(ledger, note_set, current),
        "resumed": resumed,
        "orientation": session_orientation(note_set, ledger.actor, record_states),
        "since": since or None,
        "changes": changes.between(earlier(ledger, since), note_set) if since else [],
    }


def earlier(ledger: Ledger, revision: str) -> NoteSet:
    """Return the notes at a revision; none where the ledger was not there yet, or the revision is gone, or nothing."""
    held = ledger.held([revision]) if ledger.git.commit(revision) else None
    return NoteSet(held or View(ledger.git, (), ledger.now()))


def session_row(ledger: Ledger, note_set: NoteSet, session: Session) -> Row:
    """Return a session with what it made: notes in the ledger, drafts and short-term items of this clone."""
    begun = _Begun(ledger, session)
    made = [note_row(note_set, note) for note in _made(note_set, begun)]
    ledger.warn(*remarks(note_set))
    return {
        "id": session.id,
        "actor": session.actor,
        "label": session.label or None,
        "started_at": session.at,
        "head": session.head or None,
        "ended_at": session.ended or None,
        "notes": made,
        "elsewhere": [
            {"branch": one.branch, **note_row(one.note_set, one.note)} for one in _elsewhere(note_set, begun)
        ],
        "changed": _touched(note_set, begun, {row["id"] for row in made}),
        "redacted": _redacted(note_set, begun),
        **_waiting(ledger, note_set.view),
    }


def drafts_left(ledger: Ledger) -> list[Row]:
    """Return the drafts of this clone, each with why one that is not named is not promoted, in one word."""
    own = Sessions(ledger.git).own(ledger.asker, ledger.now())
    return [
        {**draft_row(one), "left_out": own.left_out(one.data, one.body) or None} for one in Drafts(ledger.git).all()
    ]


def _waiting(ledger: Ledger, view: View) -> Row:
    """Return the drafts and short-term items of this clone."""
    short = ShortTerm(view.git, view.policy().short)
    return {"drafts": drafts_left(ledger), "short": [item.row() for item in short.items()]}


class _Begun:
    """How a session began, which tells what it did from what was there before."""

    def __init__(self, ledger: Ledger, session: Session) -> None:
        self.ledger, self.session = ledger, session
        # Where the clock went back since, what the actor does is of the session whatever its time.
        self._start = session.at if session.at <= ledger.now() else ""

    @cached_property
    def before(self) -> NoteSet:
        """Return the notes as they were."""
        return earlier(self.ledger, self.session.head)

    @cached_property
    def known(self) -> Container[str]:
        """Return the notes and events that were there already, whatever their times say."""
        return {*self.before.index.prose, *self.before.index.events}

    def is_by_and_since(self, by: str, at: str) -> bool:
        """Tell whether somebody who did something at a time is the session's actor, and did it in the session."""
        return by == self.session.actor and at >= self._start


def _made(note_set: NoteSet, begun: _Begun) -> list[Prose]:
    """Return the notes that the session's actor wrote, or promoted from drafts of whomever, since it began."""
    return [one for one in note_set.readable() if _is_of(note_set, one, begun) and one.id not in begun.known]


def _is_of(note_set: NoteSet, note: Prose, begun: _Begun) -> bool:
    if begun.is_by_and_since(note.data["by"], note.data["at"]):
        return True
    return note.id in note_set.index.events_of and any(
        one.event.data.get("draft") and begun.is_by_and_since(one.event.by, one.event.at)
        for one in note_set.folded(note.id).events
    )


class Made(NamedTuple):
    """A note that a session made, among the notes of its branch; without a name it is the one that is checked out."""

    note_set: NoteSet
    note: Prose
    branch: str = ""


def _elsewhere(note_set: NoteSet, begun: _Begun) -> list[Made]:
    """Return the notes that a session made on other branches and that are not on this one."""
    found: dict[str, Made] = {}
    for branch in history.branches_with_notes(begun.ledger.git, begun.session.at):
        there = earlier(begun.ledger, branch)
        for note in _made(there, begun):
            if note.id not in note_set.index.prose and note.id not in note_set.index.events_of:
                found.setdefault(note.id, Made(there, note, branch.removeprefix("refs/heads/")))
    return list(found.values())


def _redacted(note_set: NoteSet, begun: _Begun) -> list[str]:
    """Return the notes whose text the session's actor took out since it began; who had written it is gone with it."""
    return [
        note for note in sorted(note_set.index.events_of) if note_set.is_redacted(note) and any(
            one.event.do == "redacted" and begun.is_by_and_since(one.event.by, one.event.at)
            and one.event.id not in begun.known
            for one in note_set.folded(note).events
        )
    ]  # fmt: skip


def _touched(note_set: NoteSet, begun: _Begun, made: Container[str]) -> list[Row]:
    """Return what happened meanwhile to other notes that the session's actor had a hand in."""
    rows = changes.between(begun.before, note_set) if begun.before.view.commits else []
    ours = [row for row in rows if begun.session.actor in row["actors"] and row["id"] not in made]
    told = ({**row, "happened": [one for one in row["happened"] if one != changes.ADDED]} for row in ours)
    return [row for row in told if row["happened"] and not note_set.is_redacted(row["id"])]


def session_status(ledger: Ledger) -> Row:
    """Return the actor's session; where none is open, the drafts and items that wait all the same."""
    note_set = NoteSet(ledger.view())
    current = Sessions(ledger.git).current(ledger.asker)
    if current is None:
        waiting = _waiting(ledger, note_set.view)
        none = dict.fromkeys(("id", "label", "started_at", "head", "ended_at"))
        return {**none, "actor": ledger.asker, "notes": [], "elsewhere": [], "changed": [], "redacted": [], **waiting}
    return session_row(ledger, note_set, current)


def checkpoint(tx: Transaction, label: str, *, done: Sequence[str] = (), remaining: Sequence[str] = ()) -> str:
    """Keep how far one is: what is done and what remains, as a note that the next session is shown."""
    parts = [label, *_list("Done", done), *_list("Remaining", remaining)]
    return add_note(tx, "\n".join(parts), title=label, kind="checkpoint", tags=["checkpoint"], always=True).id


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"{title}:", *(f"- {line}" for line in lines)] if lines else []


def end_session(
    ledger: Ledger, summary: str, *, remaining: Sequence[str] = (), promote: bool = False, drop: bool = False,
    rating: str = "", requests: Sequence[str] = (),
) -> Row:  # fmt: skip
    """Write a handoff that names all the session made, and end it; each note stays a note of its own.

    Of drafts it tells how many there are, for they are of this clone alone. They are promoted where `promote` says so,
    short-term items dropped where `drop` does; what is left is told.
    """
    held = Sessions(ledger.git)
    session = held.require(ledger.actor)
    if rating:
        share("rating", rating)

    def act(tx: Transaction) -> tuple[NoteRow, list[str]]:
        promoted = [one.id for one in promote_drafts(tx)] if promote and Drafts(ledger.git).ids() else []
        note_set, begun = NoteSet(tx.view), _Begun(ledger, session)
        with tx.view.aside():
            made, apart = _made(note_set, begun), _elsewhere(note_set, begun)
            named = [_named(*one) for one in ([Made(note_set, note) for note in made] + apart)]
        own = [one.id for one in made]
        touched = [handoffs.line(row["id"], row["happened"]) for row in _touched(note_set, begun, {*own})]
        left = len(Drafts(ledger.git).all()) - len(promoted)
        lists = {"Kept": named, "Changed": touched, "Redacted": _redacted(note_set, begun)}
        body = _handoff(summary, remaining, lists, session.at, left)
        title = f"Handoff: {session.label}" if session.label else ""
        given: dict[str, Any] = {"tags": [handoffs.HANDOFF], "sources": own}
        note = add_note(tx, body, title=title, kind="summary", domain="history", always=True, **given)
        if rating or requests:
            _keep_apart(tx, session, rating, requests)
        return after(tx, note.id), promoted

    row, promoted = ledger.change("session end", act)
    view = ledger.view()
    if drop:
        short = ShortTerm(view.git, view.policy().short)
        short.drop({item.id for item in short.items()})
    waiting = _waiting(ledger, view)
    held.keep(session._replace(ended=ledger.now(), head=ledger.git.answer("rev-parse", "HEAD") or session.head))
    return {"session": session.id, "note": row, "promoted": promoted, **waiting}


def _keep_apart(tx: Transaction, session: Session, rating: str, requests: Sequence[str]) -> None:
    """Keep what was said of a session as a note that is parked at once, so that only who asks for it is told."""
    feedback = "\n".join([f"Session {session.id}: rated {rating or 'nothing'}.", *_list("Requests", requests)])
    park_note(tx, add_note(tx, feedback, kind="event", domain="feedback", importance=rating).id, reason=APART)


def _named(note_set: NoteSet, note: Prose, branch: str = "") -> str:
    return handoffs.line(note.id, [*_labels(note_set, note), *([f"on the branch {branch}"] if branch else [])])


def _labels(note_set: NoteSet, note: Prose) -> list[str]:
    """Return what a handoff says of a note: its kind, and its state where it does not simply hold."""
    status = note_set.status(note.id)
    after = note_set.current(note.id)
    by = "into" if status == "merged" else "by"
    state = [status if after == note.id else f"{status} {by} {after}"] if status != "active" else []
    return [note.data["kind"], *state, *(["expired"] if note_set.is_expired(note) else [])]


def _handoff(
    summary: str, remaining: Sequence[str], lists: Mapping[str, Sequence[str]], since: str, drafts: int
) -> str:  # fmt: skip
    parts = [summary, *_list("Remaining", remaining)]
    for word, lines in lists.items():
        left = len(lines) - NAMED
        more = [f"and {left} more: memento changes --since {since}"] if left > 0 else []
        parts += _list(f"{word} in this session", [*lines[-NAMED:], *more])
    parts += ["", f"Drafts left, in the clone of whoever wrote this alone: {drafts}"] if drafts else []
    return "\n".join(parts)


def mark_now(ledger: Ledger, name: str, message: str = "") -> Row:
    """Mark what is known now with an annotated tag that holds how many notes each domain has."""
    writer = NoteWriter.apart(ledger)
    message = writer.optional("message", message)
    writer.name("the name of a mark", name)
    counts = Counter(layout.domain_of(note.path) for note in writer.note_set.live())
    told = "\n".join(f"{domain}: {many(count, 'live note')}" for domain, count in sorted(counts.items()))
    tag = marks.mark(ledger.git, name, f"{message or f'Knowledge at {name}'}\n\n{told}\n")
    return {"mark": tag, "commit": ledger.git.answer("rev-parse", "HEAD"), "domains": counts}


def changes_since(ledger: Ledger, since: str = "", until: str = "", *, at: Sequence[str] = (), **filters: Any) -> Row:
    """Return what happened to notes since a revision, date, mark or `last-session`; the last mark by default.

    It is told up to `until`, or as the notes are `at` revisions; up to now by default.
    """
    start = _start(ledger, since)
    later = NoteSet(ledger.view([revision(ledger, until, end_of)] if until else at))
    told = changes.between(earlier(ledger, start), later)
    return {"since": start or None, "changes": changes.wanted(told, **filters)}


def follow_changes(ledger: Ledger, since: str, wait: Callable[[], bool], **filters: Any) -> Iterator[Row]:
    """Yield what happens to notes after a commit as it is committed, until `wait` says that it is enough.

    Where HEAD and the tree of the notes are what they were, one line is asked of git, and nothing is read.
    """
    known, before = since, earlier(ledger, since)
    tree = _notes_tree(ledger, since) if since else ""
    while True:
        head = ledger.git.head()[0] or ""
        if head != known:
            known, now = head, _notes_tree(ledger, head)
            after = earlier(ledger, head) if now != tree else before
            if after is not before and after.view.exists:
                yield from changes.wanted(changes.between(before, after), **filters)
                before, tree = after, now
        if not wait():
            return


def _notes_tree(ledger: Ledger, commit: str) -> str:
    return ledger.git.object_id(f"{commit}:{layout.KNOWLEDGE}") or ""


def _start(ledger: Ledger, since: str) -> str:
    if since == LAST:
        last = Sessions(ledger.git).last(ledger.actor)
        return (last.before if not last.ended else "") or last.head if last is not None else ""
    try:
        return revision(ledger, since) if since else marks.last_mark(ledger.git)
    except marks.NothingBefore:
        return ""  # all of it happened since


def revision(ledger: Ledger, given: str, when: Callable[[str, str, str], str] = past_moment) -> str:
    """Return the commit that a text names: a mark, a revision of git's, else the last one before a time."""
    for name in (f"refs/tags/{marks.PREFIX}{given}", given):
        if commit := ledger.git.commit(name):
            return commit
    try:
        moment = when("since", given, ledger.now())
    except MomentInvalid:
        raise PointUnknown(given=given) from None
    return marks.before(ledger.git, moment)
