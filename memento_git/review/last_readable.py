"""What a file of the ledger was when it could be read last: that is what a base holds of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.ledger import codec, layout
from memento_git.ledger.commits import is_cut_off
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.events import UNREAD, EventLog
from memento_git.model.finding import FETCHING, OR, WHOLE, Finding, Lost, leaving_out
from memento_git.model.ids import random_part
from memento_git.model.work import Event, Prose
from memento_git.review.misplaced import brought_back
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.tree_diff import Changed
    from memento_git.ledger.view import View


class ReadableVersion(NamedTuple):
    """A commit that has a file as it can be read, and the blob; both are nothing where there never was one."""

    commit: str
    blob: str


BRANCHES: Final = ("--branches", "--remotes")
NOWHERE: Final = "for no commit has it whole"
BROKEN: Final = ("A001", "A002")
MISSED: Final = ("F001", "F007")
NEVER: Final = ReadableVersion("", "")


def can_be_read(path: str, data: bytes) -> bool:
    """Tell whether bytes are a record, an archive or the policy, at a path."""
    place, run = layout.record_at(path), layout.run_of_path(path)
    if path == layout.CONFIG:
        return not codec.read_config(data)[1]
    if place is None:
        return not (layout.is_archive(path) and _has_faults(path, run, data))
    return codec.made(place, path, data) is not None


def _has_faults(path: str, run: str, data: bytes) -> bool:
    from memento_git.ledger import archive

    return bool(archive.unpack(path, run, data)[1])


def last_read(git: Git, commits: Sequence[str], path: str, digest: str = "") -> ReadableVersion:
    """Return the last commit, up to some, that has a file as it can be read, with a digest that begins so."""
    found = (
        last for last, data in _versions(git, commits, path)
        if can_be_read(path, data) and hashlib.sha256(data).hexdigest().startswith(digest)
    )  # fmt: skip
    return next(found, NEVER)


def _versions(git: Git, commits: Sequence[str], path: str) -> Iterator[tuple[ReadableVersion, bytes]]:
    """Yield what a file was in each commit that changed it, up to some, or on all branches."""
    told = _history(git, "rev-list", commits, path)
    for commit in told.decode().split():
        entry = git.entries(commit, path).get(path)
        if entry is not None and (data := git.objects([entry.oid])[0]) is not None:
            yield ReadableVersion(commit, entry.oid), data


def _history(git: Git, command: str, commits: Sequence[str], path: str, *options: str) -> bytes:
    """Return what git tells of the commits that changed a file, up to some, or on all branches."""
    known = commits if commits == BRANCHES else [commit for commit in commits if git.commit(commit)]
    extra = PATTERNS if path.startswith(layout.GLOB) else None
    return git.run(command, "--full-history", *options, *known, "--", path, extra=extra) if known else b""


def _as_added(git: Git, commits: Sequence[str], path: str) -> ReadableVersion:
    """Return the first commit that has a file as it can be read."""
    found = [last for last, data in _versions(git, commits, path) if can_be_read(path, data)]
    return found[-1] if found else NEVER


def _named(git: Git, commits: Sequence[str], pattern: str) -> str:
    """Return the path of a file that some commits had, by its pattern; nothing where they had none."""
    told = _history(git, "log", commits, pattern, "--no-merges", "--no-renames", "--format=", "--name-only", "-z")
    return os.fsdecode(told).partition("\0")[0]


def _follows(git: Git, commit: str, path: str, known: Collection[str]) -> Iterator[str]:
    """Yield the files of a commit that have the events which one there names, but for those that are known."""
    place, entry = layout.place_of(path), git.entries(commit, path).get(path)
    if place is None or place.kind != "event" or entry is None:
        return
    data = git.objects([entry.oid])[0]
    event = codec.made(place, path, data) if data is not None else None
    for ref in event.after if isinstance(event, Event) else ():
        pattern = layout.event_pattern(layout.run_of_path(path), ref.id)
        if not any(one.endswith(f"-{random_part(ref.id)}.yaml") for one in known):
            name = _named(git, [commit], pattern)
            if name and name in git.entries(commit, name):
                yield name


def texts(view: View, path: str) -> Iterator[Prose]:
    """Yield what a text was in each commit that changed it, as far as it can be read."""
    if (place := layout.place_of(path)) is None:
        return
    for _, data in _versions(view.git, view.commits, path):
        if isinstance(found := codec.made(place, path, data), Prose):
            yield found


def bytes_of(view: View, path: str) -> bytes | None:
    """Return the bytes of a file as it could be read last."""
    data = view.read(path)
    if data is None or can_be_read(path, data):
        return data
    last = last_read(view.git, view.commits, path)
    return view.git.objects([last.blob])[0] if last != NEVER else None


def stand_ins(base: View, head: View, changes: Iterable[Changed]) -> dict[str, ReadableVersion]:
    """Return what stands for the changed files of a base that it cannot read, and the kept files of such evidence.

    Where history is cut short before it tells, the file stays what it is.
    """
    found: dict[str, ReadableVersion] = {}
    for change in changes:
        if change.is_added or (change.is_removed and _is_packed(base, head, change.path)):
            continue
        told = _telling(change.path)
        data = base.read(told)
        if data is None or can_be_read(told, data):
            continue
        last = last_read(base.git, base.commits, told)
        if told == change.path and (last != NEVER or not is_cut_off(base.git)):
            found[change.path] = last
        elif last == NEVER and not is_cut_off(base.git):
            found[change.path] = NEVER
    return found


def _telling(path: str) -> str:
    """Return the file that says what a file is: of what evidence keeps, the evidence."""
    place = layout.place_of(path)
    return layout.evidence_path(place.run, place.of) if place is not None and place.kind == "attachment" else path


def _is_packed(base: View, head: View, path: str) -> bool:
    """Tell whether an archive of the head holds a file as the base has it."""
    head.index(layout.run_of_path(path))
    return path in head.files and head.read(path) == base.read(path)


def compared(changes: Iterable[Changed], stand_ins: Mapping[str, ReadableVersion]) -> list[Changed]:
    """Return what differs from a base in which some files are what stands for them."""
    told = [one._replace(old=stand_ins[one.path].blob) if one.path in stand_ins else one for one in changes]
    return [one for one in told if one.old != one.new]


def nothing(changes: Iterable[Changed], stand_ins: Mapping[str, ReadableVersion]) -> set[tuple[str, str]]:
    """Return the files of a base, each with its blob, that count as none."""
    return {(one.path, one.old) for one in changes if stand_ins.get(one.path) == NEVER}


def told_whole(view: View, found: Iterable[Finding], base: str = "", name: str = "") -> list[Finding]:
    """Return findings, each fix that restores a file with the last commit that has it as it can be read.

    That is the base by its name where it has the same. What is wrong in the file of a voided event is a warning.
    """
    whole = _lightened(view, found)
    past = _Past(view, base, name, whole)
    return [one._replace(fix=past.fix(one)) if WHOLE in one.fix else one for one in whole]


def unpacked(found: Collection[Finding]) -> list[Finding]:
    """Return findings, but for those of texts that are missing because the archive of their run is broken."""
    broken = _broken(found)
    return [
        one for one in found if one.code not in MISSED or one.fix != WHOLE or layout.run_of_path(one.path) not in broken
    ]


def _broken(found: Iterable[Finding]) -> dict[str, Lost]:
    """Return run -> an archive of it that cannot be used."""
    return {layout.run_of_path(one.path): Lost(one.path) for one in found if one.code in BROKEN}


def _lightened(view: View, found: Iterable[Finding]) -> list[Finding]:
    found = [*found]
    for run in {place.run for one in found if one.code in UNREAD and (place := layout.place_of(one.path))}:
        found = _log(view, run).lightened(found)
    return found


def _log(view: View, run: str) -> EventLog:
    """Return a run, or all notes."""
    if run:
        return RunState(view, run)
    from memento_git.knowledge.note_set import NoteSet

    return NoteSet(view)


class _Past:
    """What history tells of the files that findings are about; of each it is asked once.

    What differs from its archived copy is taken out: that copy is what it was.
    """

    def __init__(self, view: View, base: str, name: str, found: Collection[Finding]) -> None:
        self.view, self.base, self.name = view, base, name
        self.broken = _broken(found)
        self.beside = {one.path: one.fix for one in found if one.code == "F006"}
        self.commits = (base, *view.commits) if base else view.commits
        self._last = cache(self._sought)

    def _lost(self, finding: Finding) -> Lost:
        """Return what a finding's fix restores: in the place of what is absent, the broken archive of its run."""
        lost = finding.lost or Lost(finding.path)
        packed = self.broken.get(layout.run_of_path(lost.path))
        return packed if packed and lost.path not in self.view.files else lost

    def fix(self, finding: Finding) -> str:
        """Return the fix of a finding: what restores a file, else what is told beside that, or is left then."""
        from memento_git.ledger import missing_ledger

        lost = self._lost(finding)
        if out := self.beside.get(lost.path):
            return out
        if missing_ledger.is_away(self.view, lost.path):
            return FETCHING
        restoring = self._restoring(finding.path, lost)
        if not restoring and lost.path == finding.path:
            restoring = brought_back(self.view, lost.path)
        _, has_other, other = finding.fix.partition(OR)
        if has_other and (restoring or finding.lost):
            return restoring or other
        told = restoring or self._without(finding.path, lost)
        return f"{told}; or {other}" if has_other else finding.fix.replace(WHOLE, told)

    def _restoring(self, place: str, lost: Lost) -> str:
        """Return what restores a file that a finding at a place is about; nothing where no history has it."""
        git = self.view.git
        for commits, bring in ((self.commits, ""), (BRANCHES, "another branch has {0}: bring its commits, or ")):
            commit, path = self._last(commits, lost)
            if commit:
                told = "what it was" if path == place else "it"
                return f"{bring.format(told)}restore {told}, and commit that: git checkout {commit} -- {path}"
        if is_cut_off(git):
            told = "what it was" if lost.path == place else "it"
            return f"restore {told}: git fetch --unshallow, then memento doctor says from which commit"
        return ""

    def _sought(self, commits: tuple[str, ...], lost: Lost) -> tuple[str, str]:
        """Return the commit that has a file as it was, and the file."""
        git = self.view.git
        path = _named(git, commits, lost.path) if lost.path.startswith(layout.GLOB) else lost.path
        last = last_read(git, commits, path, lost.digest) if path else NEVER
        if last == NEVER and lost.teller and commits == self.commits:
            path, last = lost.teller, _as_added(git, commits, lost.teller)
            last = NEVER if last.blob == self.view.files.get(path) else last
        there = git.entries(self.base, path).get(path) if self.base and last != NEVER else None
        if there is not None and there.oid == last.blob:
            return self.name, self._with_past(self.base, path)
        return last.commit[:12], self._with_past(last.commit, path)

    def _with_past(self, commit: str, path: str) -> str:
        """Return a file with the absent events of its past, as far as a commit has them."""
        found, at = [path], 0
        while at < len(found) and commit:
            found += _follows(self.view.git, commit, found[at], (*self.view.files, *found))
            at += 1
        return " ".join(found)

    def _without(self, place: str, lost: Lost) -> str:
        """Return what is left to do about a file that no history has."""
        if lost.path != place:
            return f"no commit has it; {leaving_out(place)}"
        if lost.digest and (own := layout.place_of(lost.path)) is not None:
            return f"no commit has it: memento evidence redact {own.of} --reason WHY"
        out = place in self.view.files and not place.endswith(".md")  # events need the text that they are about
        return f"take it out, {NOWHERE}: git rm {place}" if out else f"write it again, {NOWHERE}"
