"""Keeping a text: as a note in a commit, as a draft, or for now only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memento_git.knowledge.actions.drafting import draft_note
from memento_git.knowledge.actions.notes import Added, add_note
from memento_git.knowledge.desk import Desk
from memento_git.knowledge.drafting import stamped, titled
from memento_git.knowledge.injection import LOW, instructive
from memento_git.knowledge.rows import after, draft_row
from memento_git.knowledge.shortterm import Item, ShortTerm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.folding.rows import Row
    from memento_git.ledger.store import Ledger, Transaction


class Kept(NamedTuple):
    """The row of what was kept, where (ledger, drafts or short), and why not in the ledger."""

    row: Row
    added: Added
    where: str = "ledger"
    why: str = ""


def keep_note(
    ledger: Ledger, text: str, *, draft: bool = False, short: bool = False, allow_secrets: Sequence[str] = (),
    **options: Any,
) -> Kept:  # fmt: skip
    """Keep a text as a note, in one commit; as a draft where that is asked, or nobody vouches for its orders."""
    if short:
        return _for_now(ledger, text, allow_secrets)
    vouched = stamped(ledger.actor, str(options.get("origin") or "")) not in LOW
    signs = [] if vouched else instructive(text, str(options.get("title") or ""))
    if draft or signs:
        found = draft_note(ledger, text, allow_secrets=allow_secrets, **options)
        why = f"it {', '.join(signs)}, and nobody vouches for it" if signs else ""
        return Kept(draft_row(found), Added(found.id, existing=False, alike=[]), "drafts", why)

    def act(tx: Transaction) -> Kept:
        tx.allow_secrets = tuple(allow_secrets)
        added = add_note(tx, text, **options)
        return Kept(after(tx, added.id), added)

    return ledger.change("note add", act)


def _for_now(ledger: Ledger, text: str, allow_secrets: Sequence[str]) -> Kept:
    """Keep a text in the short tier of this clone."""
    desk = Desk.apart(ledger, allow_secrets)
    item = Item(ledger.new_id("note"), ledger.now(), ledger.actor, desk.text("text", text))
    ShortTerm(ledger.git, desk.policy.short).add(item)
    row = {"id": item.id, "title": titled(item.text), "status": "short", "created_at": item.at, "text": item.text}
    return Kept(row, Added(item.id, existing=False, alike=[]), "short")
