"""What a commit of a branch had, and a later one, or a merge that dropped a side, took away again or edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.ledger import codec, layout
from memento_git.ledger.codec import Decoded
from memento_git.model.finding import Finding
from memento_git.model.work import Event, Evidence
from memento_git.review.against import keeps, keeps_answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memento_git.ledger.changes import Story
    from memento_git.ledger.git import Git
    from memento_git.ledger.layout import Place
    from memento_git.review.against import Comparison


RESTORED: Final = "git checkout {}^ -- {}"
ONE_SIDE: Final = "merge again, without the side that brought other words: git log -m --diff-filter=A -p -- {}"


def on_the_way(comparison: Comparison, git: Git, story: Story) -> Iterator[Finding]:
    """Yield the events and evidence of the branch that it does not hold any more, or not as they came."""
    for path, commit in sorted(story.touched.items()):
        place = layout.place_of(path)
        if place is None or place.kind not in ("event", "evidence") or path in comparison.base.files:
            continue
        comparison.head.index(place.run)
        came = [data for data in git.objects(sorted(story.came[path])) if data is not None]
        now = comparison.head.read(path) if path in comparison.head.files else None
        if now is None:
            yield from _taken_back(comparison, path, place, came)
        elif any(data != now for data in came):
            message = f"{place.id} came with other words on the branch, and was changed later, in {commit[:12]}"
            fix = ONE_SIDE.format(path) if len(came) > 1 else RESTORED.format(commit[:12], path)
            yield Finding("D010", path, 0, message, fix)


def _taken_back(comparison: Comparison, path: str, place: Place, came: Iterable[bytes]) -> Iterator[Finding]:
    """Yield an event or evidence that went, unless a redaction keeps what counts of all that it came with."""
    fix = f"git checkout COMMIT^ -- {path}, of what git log -m --full-history --diff-filter=D -- {path} shows"
    if place.id not in comparison.redacted(place.run):
        message = f"{place.id} was on the branch, and a later commit, or a merge, took it away"
        yield Finding("D010", path, 0, message, fix)
    elif not all(_is_kept(comparison, path, place, data) for data in came):
        message = f"{place.id} was on the branch, and its redaction keeps other words than it said"
        yield Finding("D010", path, 0, message, fix)


def _is_kept(comparison: Comparison, path: str, place: Place, data: bytes) -> bool:
    """Tell whether a redaction keeps what an event or an answer said that it came with."""
    decoded = codec.decode(place, path, data)
    made = codec.record(place, path, decoded) if isinstance(decoded, Decoded) else None
    if isinstance(made, Evidence):
        return keeps_answer(comparison.state(made.run), made)
    return not isinstance(made, Event) or keeps(comparison.book(made.run).event(made.id), made)
