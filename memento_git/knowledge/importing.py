"""The notes about code that imports what a note is about, at one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memento_git.code.imports import syntax_trees
from memento_git.code.languages import language_of
from memento_git.knowledge import following
from memento_git.knowledge.impact import Dependent
from memento_git.ledger import imports

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memento_git.ledger.git import Git
    from memento_git.model.anchors import Anchor


class Importing(NamedTuple):
    """Which notes are about code that imports a note's; all files that do; languages whose grammar is missing."""

    uses: Sequence[Dependent] = ()
    files: Sequence[str] = ()
    unread: Sequence[str] = ()


def importing(git: Git, commit: str, note: str, about: Sequence[tuple[str, Anchor]]) -> Importing:
    """Return what imports the code that a note is about, of the places that notes are about; followed to a commit."""
    placed = [(owner, anchor) for owner, anchor in about if anchor.is_place]
    if not any(owner == note for owner, _ in placed):
        return Importing()
    with following.opened(git) as follower:
        now = follower.at(commit)
        found = follower.placed(placed, now)
        graph = imports.imports(git, now.tree)
    mine = [one.path for one in found if one.note == note]
    nodes, importers = graph.nodes, graph.importers
    targets = {nodes[path] for path in _below(mine, nodes)}
    users = {user: target for target in sorted(targets) for user in importers.get(target, ()) if user not in targets}
    using = {path: node for path, node in nodes.items() if node in users}
    uses = [
        Dependent(one.note, f"is about {one.anchor}: {using[path]} imports {users[using[path]]}", note, 1)
        for one in found
        for path in _below([one.path], using)
    ]
    unread = {language for path in _below(mine, now.entries) if (language := language_of(path)) in syntax_trees.QUERIES}
    return Importing(uses, sorted(users), sorted(unread.difference(syntax_trees.available())))


def _below(places: Sequence[str], paths: Iterable[str]) -> list[str]:
    """Return the paths that are one of some places, or lie below it."""
    return [path for path in paths if any(path == place or path.startswith(f"{place}/") for place in places)]
