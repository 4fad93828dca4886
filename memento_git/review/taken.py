"""What a commit of a branch had, and a later one, or a merge that dropped a side, took away again or edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import changes, codec, layout
from memento_git.ledger.codec import Decoded
from memento_git.model.finding import Finding
from memento_git.model.work import Event, Evidence
from memento_git.review.against import keeps, keeps_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memento_git.ledger.changes import Story
    from memento_git.ledger.git import Git
    from memento_git.review.against import Comparison


def on_the_way(comparison: Comparison, git: Git, story: Story) -> Iterator[Finding]:
    """Yield what commits of the branch did to what earlier ones of it had brought."""
    yield from taken_back(comparison, git, story.taken)
    yield from edited(comparison, git, story.edited)


def taken_back(comparison: Comparison, git: Git, taken: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the events and evidence that the branch does not hold any more; `taken` is path -> the commit."""
    for path, commit in sorted(taken.items()):
        place = layout.place_of(path)
        if place is None or place.kind not in ("event", "evidence") or path in comparison.base.files:
            continue
        comparison.head.index(place.run)
        if path in comparison.head.files:
            continue
        fix = f"git checkout COMMIT^ -- {path}, of what git log -m --full-history --diff-filter=D -- {path} shows"
        if place.id not in comparison.redacted(place.run):
            message = f"{place.id} was on the branch, and a later commit, or a merge, took it away"
            yield Finding("D010", path, 0, message, fix)
        elif not _is_kept(comparison, git, path, commit):
            message = f"{place.id} was on the branch, and its redaction keeps other words than it said"
            yield Finding("D010", path, 0, message, fix)


def edited(comparison: Comparison, git: Git, touched: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the events and evidence of the branch that say another thing than when they came; path -> first edit."""
    for path, commit in sorted(touched.items()):
        place = layout.place_of(path)
        if place is None or place.kind not in ("event", "evidence") or path in comparison.base.files:
            continue
        comparison.head.index(place.run)
        before = _before(git, path, commit)
        if path in comparison.head.files and before and comparison.head.read(path) not in before:
            message = f"{place.id} came with other words on the branch, and was edited later, in {commit[:12]}"
            yield Finding("D010", path, 0, message, f"git checkout {commit[:12]}^ -- {path}")


def _before(git: Git, path: str, commit: str) -> list[bytes]:
    """Return what a file held in the parents of a commit, as far as this clone has them."""
    found = git.objects(f"{parent}:{path}" for parent in changes.parents(git, commit))
    return [data for data in found if data is not None]


def _is_kept(comparison: Comparison, git: Git, path: str, commit: str) -> bool:
    """Tell whether a redaction keeps what an event or an answer said in the commits before it was taken away."""
    place = layout.place_of(path)
    for data in _before(git, path, commit):
        decoded = codec.decode(place, path, data) if place is not None else None
        made = codec.record(place, path, decoded) if place is not None and isinstance(decoded, Decoded) else None
        if isinstance(made, Evidence) and not keeps_answer(comparison.state(made.run), made):
            return False
        if isinstance(made, Event) and not keeps(comparison.book(made.run).event(made.id), made):
            return False
    return True
