"""doctor: what keeps work, notes and what is derived from both from being written, read or believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.errors import MementoError
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.shelf import Shelf
from memento_git.ledger import difference, layout, lock
from memento_git.review.lastread import told_whole
from memento_git.review.notes import check_notes
from memento_git.review.scope import Scope
from memento_git.work.actions import health
from memento_git.work.actions.health import Answer, tried

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View

NAMES: Final = {"N001": "domains", "N002": "keys", "L002": "evidence", "L003": "evidence", "L004": "links"}


def examine(ledger: Ledger, *, at: Sequence[str] = (), fix: bool = False, remote: str = "") -> list[Answer]:
    """Run all checks, or at revisions those of the ledger; with fix, first mend what needs no judgement.

    Only with a remote is one asked, for the claims that it holds.
    """
    answers = health.examine(ledger, at=at, fix=fix, remote=remote)
    try:
        view = ledger.view(at)
        view.policy()
    except (MementoError, OSError):
        return answers  # the answer on the ledger itself tells why
    answers += tried("notes", _notes(view))
    return answers if at else [*answers, *tried("recall index", _index(view)), *tried("drafts", _drafts(ledger.git))]


def _notes(view: View) -> Iterator[Answer]:
    """Tell what is wrong with notes, each under the name of what it is about."""
    shelf = Shelf(view)
    shelf.load()
    found = check_notes(shelf, Scope(), view.policy().domains)
    own = [one for one in view.findings if one.path.startswith(f"{layout.KNOWLEDGE}/")]
    for finding in told_whole(view, [*own, *found]):
        status = "warn" if finding.severity == "warning" else "fail"
        yield Answer(NAMES.get(finding.code, "notes"), status, str(finding), finding.fix)
    if not found and not own:
        count = len(shelf.index.prose)
        yield Answer("notes", "ok", f"{count} note(s), keys unique, links resolve, no evidence changed")


def _index(view: View) -> Iterator[Answer]:
    """Tell how the index that recall asks stands to the ledger: it is never in the way, only behind or absent."""
    from memento_git.knowledge import index, upkeep
    from memento_git.knowledge.actions.recalling import FEW

    git = view.git
    held = index.place(git)
    tree = difference.tree_of(git, view.commits[0]) if view.commits else ""
    if not (held / index.STATE).exists():
        is_small = upkeep.of_few(view, tree, FEW) is not None
        told = f"none: up to {FEW} files are read as they are" if is_small else "none yet: the first recall makes it"
        yield Answer("recall index", "ok", told)
        return
    found = index.opened(git)
    if found is None:
        message = "its files are not as they were written: recall makes it anew"
        yield Answer("recall index", "warn", message, "memento recall, or remove the folder memento/index of git's")
        return
    found.close()
    told = (
        "as the ledger is"
        if found.tree == tree
        else "behind: recall reads what is missing, and brings it up to date when that is much"
    )
    yield Answer("recall index", "ok", f"{found.documents} document(s), {told}")
    yield from _locked(git)


def _locked(git: Git) -> Iterator[Answer]:
    from memento_git.knowledge import index

    try:
        with lock.held(index.lock_path(git), 0):
            return
    except (lock.LockHeld, lock.NotWritable) as error:
        yield Answer("recall index", "warn", error.message, "let it finish; recall answers without it meanwhile")


def _drafts(git: Git) -> Iterator[Answer]:
    """Tell of drafts that wait in this clone, and of those that cannot be read."""
    held = Drafts(git)
    drafts = held.all()
    for finding in held.findings:
        yield Answer("drafts", "warn", str(finding), "repair the file, or memento session status")
    if drafts:
        yield Answer("drafts", "ok", f"{len(drafts)} in this clone alone, until memento session promote")
