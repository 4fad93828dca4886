"""What a commit of a branch had, and a later one, or a merge that dropped a side, took away again or edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, partial
from typing import Final, NamedTuple

from memento_git.ledger import codec, commits, layout, origin
from memento_git.ledger.git import Git
from memento_git.ledger.layout import Place
from memento_git.model.enumeration import grouped, some
from memento_git.model.finding import Finding
from memento_git.model.work import Event, Evidence, Prose
from memento_git.review import text_changes, wording
from memento_git.review.base_comparison import Comparison, keeps, keeps_answer
from memento_git.review.last_readable import can_be_read

RESTORED: Final = "git checkout {}^{} -- {}"
ONE_SIDE: Final = (
    "merge again, without the side that brought other words: git log --diff-merges=separate --diff-filter=A -p -- {}"
)


class _Came(NamedTuple):
    """A record of the branch, and what it came with; the file that it came in, and who touched that first, or took it.

    `is_copy` tells whether all of that is a copy of what the base has.
    """

    path: str
    place: Place
    data: list[bytes]
    file: str
    commit: str
    taker: str
    is_copy: Callable[[], bool] = bool


def dropped_or_edited(comparison: Comparison) -> Iterator[Finding]:
    """Yield what the branch brought and does not hold any more; of events and evidence also what is not as it came.

    What came by itself and in an archive is told of once, as the archive had it.
    """
    yield from _freed(comparison)
    others = _JoinedProjects(comparison)
    packed = [finding for one in _packed(comparison) for finding in _changed(comparison, others, one)]
    yield from packed
    known = {one.path for one in packed}
    for one in _loose(comparison):
        yield from (finding for finding in _changed(comparison, others, one) if finding.path not in known)


def _loose(comparison: Comparison) -> Iterator[_Came]:
    """Yield what came in a file of its own that was touched later; nothing that nobody ever knew is lost with it."""
    copies, story = _Copies(comparison), comparison.story
    for path, commit in sorted(story.touched.items()):
        place = layout.record_at(path)
        if place is None or comparison.base.blob(path) is not None:
            continue
        if (came := _came(comparison, path)) is not None:
            is_copy = partial(copies.are_of, place, story.came[path])
            yield _Came(path, place, came, path, commit, story.taken.get(path, commit), is_copy)


def _packed(comparison: Comparison) -> Iterator[_Came]:
    """Yield what came in an archive that was touched later, be it that no commit had it in a file of its own."""
    story = comparison.story
    for file, commit in sorted(story.touched.items()):
        if not layout.is_archive(file) or comparison.base.blob(file) is not None:
            continue
        run = layout.run_of_path(file)
        comparison.base.index(run)
        from memento_git.ledger import archive

        for data in filter(None, comparison.git.objects(sorted(story.came[file] | story.held[file]))):
            for path, said in archive.unpack(file, run, data)[0].items():
                place = layout.record_at(path)
                if place is not None and comparison.base.read(path) is None and can_be_read(path, said):
                    yield _Came(path, place, [said], file, commit, story.taken.get(file, commit))


def _changed(comparison: Comparison, others: _JoinedProjects, one: _Came) -> Iterator[Finding]:
    """Yield that the head does not hold a record that came with the branch, or not as it came."""
    path, place, git = one.path, one.place, comparison.git
    known, is_text = comparison.head.index(place.run).prose, place.kind in text_changes.KINDS
    now = comparison.head.read(path) if path in comparison.head.files else None
    if now is None and not (is_text and place.id in known):
        told = "" if one.is_copy() else _taken_back(comparison, path, place, one.data, one.taker)
        if told and not others.had(one.file, one.taker):
            message = f"{place.id} was on the branch, and {told}"
            yield Finding("D010", path, 0, message, _restoring(git, one.taker, one.file))
    elif not is_text and any(data != now for data in one.data):
        message = f"{place.id} came with other words on the branch, and was changed later, in {one.commit[:12]}"
        fix = ONE_SIDE.format(path) if len(one.data) > 1 else _restoring(git, one.commit, one.file)
        yield Finding("D010", path, 0, message, fix)
    elif is_text and now is not None:
        yield from _renamed(path, place, one.data, now)


def _came(comparison: Comparison, path: str) -> list[bytes] | None:
    """Return what a path came with or, where that cannot be read, what was made of it; None where nothing ever could.

    What git does not have may have been readable.
    """
    story = comparison.story
    came = story.came[path]
    blobs = sorted(came | story.held[path])
    held = dict(zip(blobs, comparison.git.objects(blobs), strict=True))
    found = {blob: data for blob, data in held.items() if data is not None and can_be_read(path, data)}
    if not found and None not in held.values():
        return None
    return [data for blob, data in found.items() if blob in came] or [*found.values()]


class _Copies:
    """Tells copies of what the base has, and the head still holds, where it belongs: to take one away is no loss."""

    def __init__(self, comparison: Comparison) -> None:
        self.base, self.head = comparison.base, comparison.head

    @cached_property
    def _held(self) -> dict[str, list[str]]:
        files = self.base.files.items()
        return grouped((blob, path) for path, blob in files if blob and self.head.blob(path) == blob)

    def are_of(self, place: Place, blobs: Iterable[str]) -> bool:
        """Tell whether all that a file came as is what a file of its kind, of an event with its id, is and was."""
        return all(any(self._is_one(place, path) for path in self._held.get(blob, ())) for blob in blobs)

    def _is_one(self, place: Place, path: str) -> bool:
        there = layout.place_of(path)
        return there is not None and there.kind == place.kind and (place.kind != "event" or there.id == place.id)


class _JoinedProjects:
    """Tells what another project alone had, whose history a merge put into a folder: it was never on the branch."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self._history = cache(self._own_history)

    def had(self, file: str, taker: str) -> bool:
        """Tell whether all that ever had a file, which a commit took away, are commits of another project."""
        git, written = self.comparison.git, self.comparison.story.written
        sides = [one for one in commits.parents(git, taker) if git.entries(one, file)]
        histories = [self._history(side) for side in sides]
        writers = {one.commit for one in written.get(file, ())}
        return bool(sides) and all(histories) and writers <= frozenset().union(*histories)

    def _own_history(self, side: str) -> frozenset[str]:
        """Return the commits of a side that is another project's: it has no record, nor one of a run, that is ours."""
        git, base, head = self.comparison.git, self.comparison.base, self.comparison.head
        runs = frozenset([*base.runs(), *head.runs()])
        is_other = origin.began_elsewhere(git, side, self._roots)
        is_other = is_other and not origin.shares(git, side, runs, base.files, head.files)
        return frozenset(git.run("rev-list", side).decode().split() if is_other else ())

    @cached_property
    def _roots(self) -> list[str]:
        return origin.roots(self.comparison.git, self.comparison.base.commits)


def _renamed(path: str, place: Place, came: Iterable[bytes], now: bytes) -> Iterator[Finding]:
    """Yield what a text is known by, as what it repairs, that it did not come with."""
    held = [codec.made(place, path, data) for data in (now, *came)]
    new, *olds = [one.data if isinstance(one, Prose) else None for one in held]
    for key in text_changes.identity_of(place.kind):
        if new and (others := [old.get(key) for old in olds if old and old.get(key) != new.get(key)]):
            message = f"{key} of {place.id} came as {others[0]!r} on the branch, and is {new.get(key)!r}"
            yield Finding("D010", path, 0, message, f"put the line back: git log --format=%h -p -- {path}")


def _freed(comparison: Comparison) -> Iterator[Finding]:
    """Yield the tasks that the branch hands out, and that an earlier commit of it let wait for what is not done.

    What a task depended on at the base is told with its text.
    """
    held = comparison.story.held
    for path, place in layout.placed(sorted(held), "task"):
        if not text_changes.happened(comparison, place, "dispatched", "completed"):
            continue
        base, text = (state.text(place.id) for state in (comparison.before(place.run), comparison.state(place.run)))
        if text is None:
            continue
        had = dict.fromkeys(
            name
            for one in wording.read(place, path, comparison.git.objects(sorted(held[path])))
            for name in one.list("depends_on")
        )
        known = base.list("depends_on") if base else ()
        if told := text_changes.freed_of(comparison, [name for name in had if name not in known], text):
            message = f"{place.id} was worked on, and waits no more, as it did on the branch, for {some(told, 3, '; ')}"
            yield Finding("D007", text.path, 0, message, f"{text_changes.LOOK}: git log -p -- {path}", "warning")


def _restoring(git: Git, commit: str, path: str) -> str:
    """Return the command that takes a file from the parent of a commit that has it."""
    sides = enumerate(commits.parents(git, commit), 1)
    number = next((number for number, parent in sides if git.entries(parent, path)), 1)
    return RESTORED.format(commit[:12], number, path)


def _taken_back(comparison: Comparison, path: str, place: Place, came: Iterable[bytes], taker: str) -> str:
    """Return what became of a record that went, unless a redaction keeps what counts of all that it came with."""
    if place.id not in comparison.redacted(place.run):
        return f"{taker[:12]} took it away"
    if not all(_is_kept(comparison, path, place, data) for data in came):
        return "its redaction keeps other words than it said"
    return ""


def _is_kept(comparison: Comparison, path: str, place: Place, data: bytes) -> bool:
    """Tell whether a redaction keeps what an event or an answer said that it came with."""
    made = codec.made(place, path, data)
    if isinstance(made, Evidence):
        return keeps_answer(comparison.state(made.run), made)
    return not isinstance(made, Event) or keeps(comparison.log(made.run).event(made.id), made)
