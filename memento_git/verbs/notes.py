"""The verbs on notes with every option by its name, as a list of verbs gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Misused
from memento_git.knowledge.actions import notes as acting
from memento_git.texts.typed import Reason, lists

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memento_git.ledger.transaction import Transaction


OWN: Final = ("tx", "note", "notes", "text")


class NothingNamed(Misused):
    token = "note_or_key_prefix"
    sentence = "note retire takes a note or a key_prefix, one of the two"
    hint_ = "name the note, or the beginning of the keys of all that shall be retired"


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value not in (None, "", ()) and key not in OWN}


@lists
def add_note(
    tx: Transaction, text: str, *, title: str = "", kind: str = "", domain: str = "", key: str = "",
    tags: Sequence[str] = (), aliases: Sequence[str] = (), importance: str = "", confidence: str = "", tier: str = "",
    expires: str = "", valid_from: str = "", valid_to: str = "", thread: str = "", to: str = "",
    about: Sequence[str] = (), links: Sequence[str] = (), evidence: Sequence[str] = (), sources: Sequence[str] = (),
    supersedes: Sequence[str] = (), pinned: bool = False, origin: str = "", reason: str = "",
) -> str:  # fmt: skip
    """Add a note; one with the very same text is left as it is. Links are written `RELATION:ID`."""
    return acting.add_note(tx, text, compared=False, **_given(locals())).id


@lists
def revise_note(
    tx: Transaction, note: str, *, text: str = "", title: str = "", key: str = "", tags: Sequence[str] = (),
    aliases: Sequence[str] = (), importance: str = "", confidence: str = "", tier: str = "", expires: str = "",
    valid_from: str = "", valid_to: str = "", thread: str = "", to: str = "", about: Sequence[str] = (),
    sources: Sequence[str] = (), pinned: bool | None = None, clear: Sequence[str] = (),
) -> str:  # fmt: skip
    """Better a note's wording or its front matter in place; another decision is a note that supersedes it.

    `clear` are the parts of its front matter that it loses.
    """
    return acting.revise_note(tx, note, text=text, **_given(locals()))


def retire_note(tx: Transaction, note: str = "", *, key_prefix: str = "", reason: Reason = "") -> str:
    """Say that a note, or all live notes of a key and below it, does not hold any more; return their ids."""
    if bool(note) == bool(key_prefix):
        raise NothingNamed
    if note:
        return acting.retire_note(tx, note, reason=reason)
    return " ".join(acting.retire_prefix(tx, key_prefix, reason=reason))


@lists
def merge_notes(
    tx: Transaction, notes: Sequence[str], text: str, *, kind: str = "summary", domain: str = "", title: str = "",
    key: str = "", tags: Sequence[str] = (), thread: str = "", origin: str = "", reason: str = "",
) -> str:  # fmt: skip
    """Put one note in the place of several; they stay, marked as merged, and it names them."""
    return acting.merge_notes(tx, notes, text, **_given(locals())).id


ACTIONS: Final[dict[str, Callable[..., Any]]] = {
    "note add": add_note,
    "note revise": revise_note,
    "note link": acting.link_note,
    "note unlink": acting.unlink_note,
    "note confirm": acting.confirm_note,
    "note park": acting.park_note,
    "note resume": acting.resume_note,
    "note retire": retire_note,
    "note restore": acting.restore_note,
    "note resolve": acting.resolve_note,
    "note progress": acting.progress_note,
    "note finish": acting.finish_note,
    "note promote": acting.promote_note,
    "note merge": merge_notes,
}
