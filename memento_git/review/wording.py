"""Who wrote which words of a text on a branch, where it says less by now, or others than its author may approve it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.ledger import codec, commits, layout
from memento_git.model.clock import seconds_of
from memento_git.model.enumeration import some
from memento_git.model.finding import Finding
from memento_git.model.ids import kind_of
from memento_git.model.work import Event, Prose
from memento_git.review import text_changes
from memento_git.review.actors import is_author
from memento_git.work import persons
from memento_git.work.dispatch import terms

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.layout import Place
    from memento_git.review.base_comparison import Comparison

ASKED: Final = {
    "run": ("goal", "constraints", "text"),
    "plan": ("title", "criteria", "verify", "text"),
    "task": ("title", "criteria", "verify", "kind", "risk", "files", "text"),
}


BROUGHT, MORE, APPROVED = CAME = ("was brought", "was made to ask more", "was approved")


class Version(NamedTuple):
    """What somebody made of a text on the branch, brought to it, or approved; of a draft also what the base has.

    `at` is in seconds since 1970, by the clock of who wrote it.
    """

    commit: str
    author: str
    at: int
    data: bytes
    came: str


class Lost(NamedTuple):
    """Whose words a text does not say any more, who changed them, and in which parts."""

    version: Version
    others: list[str]
    keys: set[str]


def reworded(comparison: Comparison) -> Iterator[Finding]:
    """Yield the tasks, plans and runs that say less than somebody wrote on the branch, by another hand.

    What says less than at the base is told with that, but of a plan, of which who approved it counts like who wrote it:
    of that nothing, once one who did not change it has approved it.
    """
    for path, place in _texts_of(comparison, *ASKED):
        text = comparison.state(place.run).text(place.id)
        if text is None:
            continue
        versions = _versions(comparison, path)
        if place.kind == "plan":
            versions = _of_plan(comparison, place, versions)
        gone = _lost(comparison, versions, text)
        if lost := [one for one in gone if not _agreed(comparison, text, one)]:
            by = some(sorted({one.version.author for one in lost}), 3)
            others = some(sorted({name for one in lost for name in one.others}), 3) or "a merge or an older commit"
            keys = ", ".join(sorted({key for one in lost for key in one.keys}))
            came = next(word for word in CAME if any(one.version.came == word for one in lost))
            message = f"{place.id} {came} by {by}, and {others} changed its {keys}"
            yield Finding("D007", text.path, 0, message, f"{text_changes.LOOK}: git log -p -- {path}", "warning")


def rewritten(comparison: Comparison) -> Iterator[Finding]:
    """Yield each plan that somebody else changed than who wrote it, unless a third person approved it as it is now."""
    for path, place in _texts_of(comparison, "plan"):
        state, base = comparison.state(place.run), comparison.base
        base.index(place.run)
        plan = state.text(place.id)
        if plan is None or base.read(path) == state.view.read(path):
            continue
        by = str(plan.data["by"])
        versions = _versions(comparison, path)
        if any(
            one.came == BROUGHT and is_author(by, one.author) and one.data == state.view.read(path) for one in versions
        ):
            continue
        changed = {one.author for one in versions if one.came != BROUGHT}
        others = sorted(author for author in changed if not is_author(by, author))
        given = _approvals(comparison, plan)
        if others and all(persons.is_among(one.by, others) for one in given):
            told = f"{plan.id} is by {by}, was changed by {', '.join(others)}"
            told += f", and approved by {given[-1].by}" if given else ", and is not approved as it is now"
            message = f"{told}: policy asks for another than its author"
            fix = f"look who wrote what of it: git log -p --diff-merges=separate -- {path}"
            yield Finding("P003", given[-1].path if given else path, 0, message, fix, "warning")


def read(place: Place, path: str, held: Iterable[bytes | None]) -> Iterator[Prose]:
    """Yield the texts that some bytes of a file are, where they can be read."""
    made = (codec.made(place, path, data) for data in held if data is not None)
    return (one for one in made if isinstance(one, Prose))


def _approvals(comparison: Comparison, plan: Prose) -> list[Event]:
    """Return the approvals of a plan as it is."""
    given = comparison.state(plan.run).approvals()
    return [one for one in given if (one.of, one.get("text")) == (plan.id, plan.digest)]


def _agreed(comparison: Comparison, plan: Prose, lost: Lost) -> bool:
    """Tell whether somebody else than who changed a plan has approved it as it is, after what is gone was written.

    Where nobody knows who changed it, nobody has. An approval that was taken out and brought again, or packed, is as
    old as it was.
    """
    given = [one for one in _approvals(comparison, plan) if not any(is_author(one.by, name) for name in lost.others)]
    packed, authored = comparison.head.archived.get(plan.run, {}), comparison.story.authored
    for one in (one for one in given if lost.others and seconds_of(one.at) >= lost.version.at):
        ways = ({one.path}, {*packed.get(one.path, ())})
        came = ([commit for commit in authored if not paths.isdisjoint(commit.paths)] for paths in ways)
        first = next(filter(None, came), [])
        if first and all(comparison.git.is_before(lost.version.commit, commit.commit) for commit in first):
            return True
    return False


def _of_plan(comparison: Comparison, place: Place, versions: Sequence[Version]) -> list[Version]:
    """Return what a plan was at the base and on the branch, each followed by who approved that, as if they wrote it.

    The base's is by whom it says, and by who wrote it last.
    """
    path, added = layout.prose_path(place.run, place.id), comparison.added
    authored = comparison.story.authored[::-1]
    found = [*_drafted(comparison, path), *versions]
    known = {text.digest: one for one in reversed(found) for text in read(place, path, [one.data])}
    given = comparison.before(place.run).approvals()
    for event in (*given, *(one for one in comparison.state(place.run).approvals() if one.id in added)):
        if event.of == place.id and (one := known.get(event.get("text"))) is not None:
            commit = next((one.commit for one in authored if event.path in one.paths), one.commit)
            at = int(seconds_of(event.at)) if event.id in added else 0
            found.insert(found.index(one) + 1, Version(commit, event.by, at, one.data, APPROVED))
    return found


def _drafted(comparison: Comparison, path: str) -> Iterator[Version]:
    base = comparison.base
    base.index(layout.run_of_path(path))
    plan, data = base.record(path), base.read(path)
    if isinstance(plan, Prose) and data is not None:
        last = [author for author, _ in commits.authors(base.git, "-1", base.commits[0], "--", path)]
        for author in (str(plan.data["by"]), *last):
            yield Version(base.commits[0], author, 0, data, BROUGHT)


def _texts_of(comparison: Comparison, *kinds: str) -> Iterator[tuple[str, Place]]:
    """Yield the texts of some kinds that the branch wrote, in archives too."""
    yield from layout.placed(sorted({*comparison.story.written, *comparison.unpacked}), *kinds)


def _versions(comparison: Comparison, path: str) -> list[Version]:
    """Return what a text was on the branch, parents first, and at last what archives hold otherwise than it was."""
    git, story = comparison.git, comparison.story
    written = story.written.get(path, [])
    held = zip(written, git.objects([one.blob for one in written]), strict=True)
    found = [
        Version(one.commit, one.author, one.at, data, BROUGHT if one.is_new else MORE)
        for one, data in held if data is not None
    ]  # fmt: skip
    run = layout.run_of_path(path)
    if not comparison.head.only_archived(run, path):
        return found
    data, archives = comparison.head.read(path) or b"", comparison.head.archived[run][path]
    for one in story.authored:
        if not {*one.paths}.isdisjoint(archives):
            before = git.objects([f"{parent}:{path}" for parent in commits.parents(git, one.commit)])
            came = MORE if found or comparison.base.read(path) is not None else BROUGHT
            found += [] if data in before else [Version(one.commit, one.author, one.at, data, came)]
    return found


def _lost(comparison: Comparison, versions: Sequence[Version], text: Prose) -> Iterator[Lost]:
    """Yield of what somebody wrote, and a text does not say now by somebody else's hand, what it was.

    What was written before that, and picked later, is nobody's hand; nor is a merge that leaves a text to another side
    or to an archive.
    """
    if (place := layout.place_of(text.path)) is None:
        return
    for number, one in enumerate(versions):
        base = comparison.before(text.run).text(text.id) if one.came == MORE else None
        later = [version for version in versions[number + 1 :] if version.at >= one.at]
        for old in read(place, text.path, [one.data]):
            keys = _less(old, text, base)
            own = [version for version in later if _goes_on(comparison.git, one, version)] if keys else []
            if keys and not any(_less(old, new, base) for new in read(place, text.path, [one.data for one in own])):
                hands = dict.fromkeys(version.author for version in later if version.came != APPROVED)
                yield Lost(one, [name for name in hands if not is_author(name, one.author)], keys)


def _goes_on(git: Git, one: Version, later: Version) -> bool:
    """Tell whether a version is by who wrote another one, and comes after it."""
    return is_author(one.author, later.author) and git.is_before(one.commit, later.commit)


def _less(old: Prose, text: Prose, base: Prose | None) -> set[str]:
    """Return the parts of a text that say something else now; none where it asks for more alone, or is rewrapped.

    Nor where the base asked for no less. Words in another order say something else.
    """
    before = old._replace(body=text.body) if terms.is_rewrapped(old, text) else old
    own = {*terms.asks(before)} - {*(terms.asks(base) if base else ())}
    is_kept = terms.are_kept(before, text) or (base is not None and terms.are_kept(before, base))
    return (
        set()
        if is_kept and own <= {*terms.asks(text)}
        else {*text_changes.differing(before, text)} & {*ASKED[kind_of(text.id)]}
    )
