"""Keeping a text: as a note in a commit, as a draft, or for now only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Misused
from memento_git.knowledge.actions.drafts import draft_note
from memento_git.knowledge.actions.notes import OVER, Added, add_note
from memento_git.knowledge.injection import unvouched, why_draft
from memento_git.knowledge.note_input import MOMENTS, SHARES, NoteInput, stamped, titled
from memento_git.knowledge.note_rows import after, draft_row
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.knowledge.shortterm import Item, ShortTerm
from memento_git.model import anchors

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.note_rows import NoteRow


OPTIONS: Final = {
    **{key: f"--{key.replace('_', '-')}" for key in (
        "title", "domain", "key", "importance", "confidence", "tier", "expires", "valid_from", "valid_to", "thread",
        "to", "pinned", "about", "evidence", "supersedes",
    )},
    "tags": "--tag", "aliases": "--alias", "sources": "--source", "links": "--link",
}  # fmt: skip
OLDEST: Final = "the oldest text that was kept for now is let go for it: knowledge.short is {most}"
NAMING: Final = ("links", "evidence", "supersedes")
AT_FIRST: Final = ("domain", "kind", "origin", *NAMING)
SAID: Final = {**OPTIONS, "kind": "--kind", "origin": "--origin"}
ASKED: Final = {**OPTIONS, "kind": "--kind", "reason": "--reason", "draft": "--draft"}
PLAIN: Final[tuple[object, ...]] = (None, "", (), [], False)


class ShortKeepsText(Misused):
    token = "short_keeps_text"
    sentence = "the short tier keeps a text and its origin, so it would lose what {options} says"
    hint_ = "leave --short out; --draft keeps a note in this clone alone, with all that is said of it"


class Kept(NamedTuple):
    """The row of what was kept, where (ledger, drafts or short), and why not in the ledger, or not as it was asked."""

    row: Mapping[str, Any]
    added: Added
    where: str = "ledger"
    why: str = ""


def keep_note(ledger: Ledger, text: str, *, draft: bool = False, short: bool = False, **options: Any) -> Kept:
    """Keep a text as a note, in one commit; as a draft where that is asked, or nobody vouches for its orders."""
    if short:
        return _for_now(ledger, text, {**options, "draft": draft})
    signs = unvouched({**options, "origin": stamped(ledger.actor, str(options.get("origin") or ""))}, text)
    if draft or signs:
        found = draft_note(ledger, text, **options)
        why = why_draft(signs) if signs else ""
        return Kept(draft_row(found), Added(found.id, existing=False, alike=[]), "drafts", why)

    def act(tx: Transaction) -> Kept:
        added = add_note(tx, text, **options)
        row = after(tx, added.id)
        return Kept(row, added, why=_told(row, added, options))

    return ledger.change("note add", act)


def _told(row: NoteRow, added: Added, options: Mapping[str, Any]) -> str:
    """Return what one should know of a note that was kept: it has no time left, or was there already."""
    if added.existing:
        return _left_as_it_is(row, added.expired, options)
    return OVER.format(note=row["id"]) if row["expired"] else ""


def _left_as_it_is(row: NoteRow, expired: str, options: Mapping[str, Any]) -> str:
    """Return what one should know of a note that was there already: it is set aside, ends, or lacks what was given."""
    aside = [f"it is parked: memento note resume {row['id']}"] if row["status"] == "parked" else []
    if expired:
        aside.append(f"it was to expire {expired[:10]}, and does {(row['expires'] or '')[:10]} now")
    elif row["expires"] and not {"tier", "expires"} & {*options}:
        aside.append(f"it expires {row['expires'][:10]}: memento note promote {row['id']} lets it last")
    lacks = [key for key, given in options.items() if key in SAID and not _has(row, key, given)]
    names = ", ".join(SAID[key] for key in lacks)
    better = f"; memento note revise {row['id']} takes it" if lacks and not {*lacks} & {*AT_FIRST} else ""
    return "; ".join([*aside, *([f"it is left as it is, without what {names} says{better}"] if lacks else [])])


def _has(row: Mapping[str, Any], key: str, given: Any) -> bool:
    """Tell whether a note's row says already what an option says; a time that is worded otherwise counts as new."""
    if key in NAMING:
        held = [f"{one['rel']}:{one['to']}" for one in row[key]] if key == "links" else row[key]
        return all(any(one.startswith(name) for one in held) for name in given)
    if key in SHARES:
        return float(row[key] if row[key] is not None else -1) == float(given)
    if isinstance(row[key], list):
        return set(row[key]).issuperset(map(str, map(anchors.parse, given)) if key == "about" else given)
    if key in MOMENTS:
        return str(row[key] or "").startswith(given)
    return bool(row[key] == given)


def _for_now(ledger: Ledger, text: str, options: Mapping[str, Any]) -> Kept:
    """Keep a text in the short tier of this clone, and where it comes from; refuse what that cannot hold."""
    lost = [name for key, name in ASKED.items() if options.get(key) not in (*PLAIN, NoteInput._field_defaults.get(key))]
    if lost:
        raise ShortKeepsText(options=", ".join(lost))
    writer = NoteWriter.apart(ledger)
    origin = stamped(ledger.actor, str(options.get("origin") or ""))
    item = Item(ledger.new_id("note"), ledger.now(), ledger.actor, writer.text("text", text), origin)
    if ShortTerm(ledger.git, writer.policy.short).add(item):
        ledger.warn(OLDEST.format(most=writer.policy.short))
    row = {
        "id": item.id, "title": titled(item.text), "status": "short", "origin": origin, "created_at": item.at,
        "text": item.text,
    }  # fmt: skip
    return Kept(row, Added(item.id, existing=False, alike=[]), "short")
