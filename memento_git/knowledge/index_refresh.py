"""Keeping the index at the tree that is read, and answering from memory where that cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from memento_git.knowledge.corpus import Corpus, Damaged
from memento_git.knowledge.documents import can_be_found, documents_of
from memento_git.knowledge.index_entries import Entry, entry_of
from memento_git.ledger import lock, tree_diff
from memento_git.model.progress import portions

if TYPE_CHECKING:
    from memento_git.knowledge.index import Index
    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View


TIMEOUT: Final = 1.0
AT_ONCE: Final = 500
LONG: Final = 400
_KEPT: Final[WeakKeyDictionary[View, dict[frozenset[tuple[str, str]], list[Entry]]]] = WeakKeyDictionary()
"""What memory holds of files is read once for each view: one recall looks for what it shows, and what it leaves out."""
LITTLE: Final = 8  # changed files that are sooner read besides than written into the index


def of_few(view: View, tree: str, few: int) -> dict[str, str] | None:
    """Return the files of a ledger without an index that are so few that it gets none; None of any other."""
    if (view.git.common_dir / "memento" / "index").exists():
        return None
    held = _findable(tree_diff.blobs(view.git, tree))
    return held if len(held) <= few else None


def _findable(files: Mapping[str, str]) -> dict[str, str]:
    """Return those of some files that may hold a document."""
    return {path: blob for path, blob in files.items() if can_be_found(path)}


@contextmanager
def gathered(view: View, *, written: bool = True, few: int = 0) -> Iterator[Corpus]:
    """Yield all that can be found in a view.

    A ledger of at most `few` files that has no index yet is answered out of them: that is sooner done than writing one.
    """
    tree = tree_diff.tree_of(view.git, view.commits[0]) if view.commits else ""
    held = of_few(view, tree, few) if few else None
    if held is not None:
        yield _in_memory(view, tree, held)
        return
    from memento_git.knowledge import index

    search_index = index.opened(view.git) if written else None
    changes = tree_diff.changed(view.git, search_index.tree, tree) if search_index else None
    if written and tree and (search_index is None or (_is_much(changes) and _is_head(view))):
        search_index = _brought_up(view.git, search_index, tree)
        changes = tree_diff.changed(view.git, search_index.tree, tree) if search_index else None
    if changes is None:
        if search_index is not None:
            search_index.close()
        search_index, changes = None, tree_diff.blobs(view.git, tree)
    try:
        yield _in_memory(view, tree, changes, search_index)
    finally:
        if search_index is not None:
            search_index.close()


def _in_memory(view: View, tree: str, changes: dict[str, str], search_index: Index | None = None) -> Corpus:
    """Return an index with what differs from it, what other commits add, and what is not committed."""
    _add_others(view, tree, changes)
    wanted = _findable(changes)
    kept = _KEPT.setdefault(view, {})
    if (files := frozenset(wanted.items())) not in kept:
        kept[files] = [entry for _, entry in _entries(view.git, wanted)]
    entries = [*kept[files]]
    if view.changed:
        entries += _uncommitted(view, tree, wanted)
    return Corpus(search_index, wanted, entries)


def _is_much(changes: dict[str, str] | None) -> bool:
    """Tell whether what came since is sooner written into the index than read with each question."""
    return changes is None or len(changes) > LITTLE


def _is_head(view: View) -> bool:
    """Tell whether a view shows what the index shall follow: the one commit that HEAD is at."""
    return len(view.commits) == 1 and view.git.head()[0] == view.commits[0]


def _add_others(view: View, tree: str, changes: dict[str, str]) -> None:
    """Add what only the further commits of a union have."""
    for commit in view.commits[1:]:
        further = tree_diff.changed(view.git, tree, tree_diff.tree_of(view.git, commit)) or {}
        held = tree_diff.blobs(view.git, tree) if further else {}
        changes.update({path: blob for path, blob in further.items() if blob and path not in held})


def _uncommitted(view: View, tree: str, changes: dict[str, str]) -> list[Entry]:
    """Return what a transaction has put and not committed; what it took away is among the changes."""
    committed = tree_diff.blobs(view.git, tree)
    put = [path for path, blob in view.files.items() if not blob and can_be_found(path)]
    changes.update(dict.fromkeys([*put, *(path for path in committed if path not in view.files)], ""))
    return [entry_of(one) for path in put for one in documents_of(path, view.contents.get(path, b""))]


def _brought_up(git: Git, search_index: Index | None, tree: str) -> Index | None:
    """Bring the index to a tree and return it; where it cannot be written, return the old one."""
    from memento_git.knowledge import index

    if search_index is not None:
        search_index.close()
    try:
        with lock.held(index.lock_path(git), TIMEOUT):
            current = index.opened(git)
            if current is not None and current.tree == tree:
                return current
            _write(git, current, tree)
    except (lock.LockHeld, lock.NotWritable, Damaged, OSError):
        pass
    return index.opened(git)


def _write(git: Git, current: Index | None, tree: str) -> None:
    """Write what differs, or everything where there is no index, or none that can be updated."""
    from memento_git.knowledge import index

    if current is not None:
        with closing(current), suppress(Damaged):
            changes = tree_diff.changed(git, current.tree, tree)
            if changes is not None:
                files = _findable(changes)
                index.update(git, current, tree, list(files), _entries(git, files))
                return
        index.forget(git)
    index.build(git, tree, _entries(git, _findable(tree_diff.blobs(git, tree))))


def _entries(git: Git, files: dict[str, str]) -> Iterator[tuple[str, Entry]]:
    """Yield what the index keeps of each document in those of these files that are there."""
    for some in portions(git.progress, [path for path, blob in files.items() if blob], AT_ONCE, LONG):
        for path, data in zip(some, git.objects(files[path] for path in some), strict=True):
            for document in documents_of(path, data) if data is not None else ():
                yield path, entry_of(document)
