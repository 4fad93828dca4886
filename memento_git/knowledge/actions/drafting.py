"""Drafts: made without a commit, promoted in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.knowledge.actions.notes import Added, add_note, admit, write
from memento_git.knowledge.desk import Desk
from memento_git.knowledge.drafting import Draft, drafted
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.injection import instructive, must_be_named
from memento_git.knowledge.shortterm import ShortTerm
from memento_git.ledger import layout
from memento_git.model.ids import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.store import Ledger, Transaction
    from memento_git.model.work import Prose


def draft_note(ledger: Ledger, text: str, *, allow_secrets: Sequence[str] = (), **options: Any) -> Prose:
    """Keep a note as a draft of this clone: nothing is committed, nothing else is judged than its own content."""
    drafts = Drafts(ledger.git)
    made = drafted(Desk.apart(ledger, allow_secrets), Draft(text=text, **options))
    return drafts.find(drafts.add(made.data, made.body, made.domain))


def promote_drafts(tx: Transaction, given: Sequence[str] = ()) -> list[Added]:
    """Make drafts, or items of the short tier, notes of the ledger; without a name all drafts that give no orders.

    They go from where they were once that is committed, or at once where notes say it all already. An item becomes a
    fact of the tier medium.
    """
    desk, held = Desk.of(tx), Drafts(tx.ledger.git)
    short = ShortTerm(tx.ledger.git, desk.policy.short)
    items = {item.id: item for item in short.items()}
    drafts = {draft.id: draft for draft in held.all()}
    plain = [
        one.id
        for one in drafts.values()
        if not must_be_named(one.data["origin"], instructive(one.body, one.data["title"]))
    ]
    chosen = [resolve(one, "note", {*drafts, *items}) for one in given] if given else plain
    added = [
        _promoted(desk, drafts[one]) if one in drafts else add_note(tx, items[one].text, tier="medium")
        for one in chosen
    ]

    def leave() -> None:
        held.remove(chosen)
        short.drop(set(chosen))

    if tx.changes:
        tx.after_commit.append(leave)
    else:
        leave()
    return added


def _promoted(desk: Desk, draft: Prose) -> Added:
    made = admit(desk, draft.data, draft.body)
    if made.existing:
        return made
    write(desk, draft.data, draft.body, layout.domain_of(draft.path))
    for old in draft.list("supersedes"):
        desk.happen(desk.shelf, old, "superseded", successor=draft.id)
    desk.happen(desk.shelf, draft.id, "promoted", draft=True)
    return made


def discard_drafts(ledger: Ledger, drafts: Sequence[str]) -> list[str]:
    """Drop drafts; return their ids."""
    held = Drafts(ledger.git)
    gone = [held.find(given).id for given in drafts]
    held.remove(gone)
    return gone
