"""What a branch did to its base's ledger: events and evidence are only added, texts keep their identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Final

from memento_git.folding.fold import group_in, group_of
from memento_git.folding.settling import SETTLING
from memento_git.folding.voided_events import undone, undone_by
from memento_git.ledger import codec, layout
from memento_git.ledger.events import NOTHING
from memento_git.ledger.staged import MERGING
from memento_git.model.enumeration import many
from memento_git.model.finding import Finding, leaving_out
from memento_git.model.ids import kind_of, parse_ref
from memento_git.model.work import Event, Evidence
from memento_git.review import last_readable, text_changes
from memento_git.review.newly_legal import newly_legal
from memento_git.review.voided_dependencies import rested_on
from memento_git.work.proof import redacted_evidence
from memento_git.work.proof.runners import Runners
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.folding.fold import Judged
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger.branch_history import BranchHistory
    from memento_git.ledger.events import EventLog
    from memento_git.ledger.layout import Place
    from memento_git.ledger.tree_diff import Changed
    from memento_git.ledger.view import View
    from memento_git.review.last_readable import ReadableVersion

GROWING: Final = frozenset({
    "dispatched", "claimed", "renewed", "completed", "accepted", "selected", "passed", "waived",
    "requested", "paused", "resumed",
})  # fmt: skip
STAGED: Final = "HEAD"
RESTORED: Final = ("A001", "D001", "D002", "D003", "D004", "D006", "D008")


class Comparison:
    """A base and a head, what git says differs between them and its commits did, policy and keys that judge both."""

    def __init__(
        self, base: View, runners: Runners, changes: Sequence[Changed], name: str,
        stand_ins: Mapping[str, ReadableVersion], story: BranchHistory,
    ) -> None:  # fmt: skip
        self.git = base.git
        self.story = story
        self.base = base
        self.head = runners.view
        self.policy = runners.policy
        self.runners = runners
        self.of_base = Runners(base, runners.policy, base.commits[0])
        self.changes = changes
        self.name = name
        self.stand_ins = stand_ins
        self.state = cache(partial(_state, self.runners))  # a run at the head
        self.before = cache(partial(_state, self.of_base))  # a run at the base
        self._note_set = cache(_note_set)
        self.redacted = cache(self._redacted)

    def log(self, run: str) -> EventLog:
        """Return a run at the head, or of '' all notes."""
        return self.state(run) if run else self._note_set(self.head)

    def was(self, run: str) -> EventLog:
        """Return a run at the base, or of '' all notes."""
        return self.before(run) if run else self._note_set(self.base)

    def notes(self) -> set[str]:
        """Return the notes whose files the branch touched, or whose events it lets happen."""
        places = (layout.place_of(change.path) for change in self.changes)
        told = (self.log("").event(name) for name in self.newly_legal.get("", ()))
        return {*(place.of for place in places if place and not place.run), *(event.of for event in told if event)}

    @cached_property
    def added(self) -> frozenset[str]:
        """Return the events that the branch added, those that it redacted since and those that it lets happen too."""
        return self._own.union(*self.newly_legal.values())

    @cached_property
    def newly_legal(self) -> dict[str, frozenset[str]]:
        """Return run -> the events that could not be folded at the base and now are, with what the branch added."""
        return newly_legal(self, {place.run for place in self._events}, self._own)

    @cached_property
    def _own(self) -> frozenset[str]:
        """Return the events that the branch brought, and those that it redacted since."""
        return frozenset([*(place.id for place in self._events), *(name for _, name, there in self._left if not there)])

    @cached_property
    def _events(self) -> list[Place]:
        """Return where the branch's own events are."""
        return [place for path in self._new if (place := layout.place_of(path)) and place.kind == "event"]

    @cached_property
    def _left(self) -> list[tuple[str, str, str]]:
        """Return the file that has what the branch left of an event, the event's id, and its file at the base."""
        return [told for place in self._events if place.do == "redacted" for told in self._leftovers(place)]

    def is_added(self, run: str, record: str) -> bool:
        """Tell whether an event, or evidence of which a redaction may be all that is left, is the branch's."""
        if kind_of(record) != "evidence":
            return record in self.added
        return not self.base.names(run).holds(record, "evidence")

    @cached_property
    def _new(self) -> list[str]:
        """Return the files that the base does not hold, those of archives among them."""
        own = [change.path for change in self.changes if self.is_new(change)]
        return own + [path for path in self.unpacked if self.base.read(path) is None]

    def is_new(self, change: Changed) -> bool:
        """Tell whether the base does not hold a file, in no archive either."""
        run = layout.run_of_path(change.path)
        if not change.is_added or run not in self._packed:
            return change.is_added
        self.base.index(run)
        return self.base.read(change.path) is None

    @cached_property
    def _packed(self) -> set[str]:
        """Return the runs that have an archive, or had one at the base."""
        paths = (*self.head.files, *(change.path for change in self.changes))
        return {layout.run_of_path(path) for path in paths if layout.is_archive(path)}

    def _leftovers(self, redaction: Place) -> Iterator[tuple[str, str, str]]:
        """Yield the file that has what is left of an event, the event's id, and its file at the base."""
        for event in self.log(redaction.run).tombstones.values():
            place = layout.place_of(event.path)
            if place is not None and place.id == redaction.id:
                there = self.base.index(redaction.run).events.get(event.id)
                before = None if there else self.was(redaction.run).event(event.id)
                yield event.path, event.id, there or (before.path if before else "")

    def as_before(self, path: str) -> str:
        """Return where the base has what a redaction of the branch is now all that is left of."""
        return next((before for left, _, before in self._left if left == path and before), path)

    def brought(self) -> list[str]:
        """Return the files that the branch brings or changes, in archives too; a copy of what one holds is neither."""
        there = [change for change in self.changes if not change.is_removed]
        held = (one.path for one in there if one.is_added and not self.is_new(one))
        copies = {path for path in held if self.head.read(path) == self.base.read(path)}
        return [*(one.path for one in there if one.path not in copies), *self.unpacked]

    @cached_property
    def unpacked(self) -> list[str]:
        """Return the files that an archive of the branch brings and that the base does not hold just so."""
        packed = [change.path for change in self.changes if layout.is_archive(change.path)]
        found: list[str] = []
        for run in sorted({*map(layout.run_of_path, packed)}):
            self.base.index(run)
            self.head.index(run)
            held = self.head.archived.get(run, {})
            found += [path for path in held if self.head.read(path) != self.base.read(path)]
        return found

    def touched(self) -> dict[str, set[str] | None]:
        """Return run -> the groups that the branch touched; None where all of it may be concerned."""
        found: dict[str, set[str] | None] = {}
        for change in self.changes:
            run = layout.run_of_path(change.path)
            if not run:
                continue
            groups = found.setdefault(run, {run})
            place = layout.place_of(change.path)
            if groups is None or place is None or self._reaches_far(change, place):
                found[run] = None
            else:
                groups.add(group_in(run, place.of))
                groups.update(self._judged(change, place))
        return {**found, **dict.fromkeys((run for run in self.newly_legal if run), None)}

    def _judged(self, change: Changed, place: Place) -> Sequence[str]:
        """Return the tasks of evidence that runs again what they may rest on."""
        found = self.head.record(change.path) if place.kind == "evidence" else None
        return found.tasks if isinstance(found, Evidence) and "reproduces" in found.data else ()

    def _reaches_far(self, change: Changed, place: Place) -> bool:
        """Tell whether a change may undo what other records rest on."""
        if place.kind == "event":
            return not self.is_new(change) or place.do not in GROWING
        return not self.is_new(change) and place.kind in ("evidence", "attachment", "plan")

    def findings(self) -> Iterator[Finding]:
        """Yield what the branch did that nobody may do."""
        for change in self.changes:
            place = layout.place_of(change.path)
            if layout.is_archive(change.path) and change.is_removed:
                yield from self._archive(change)
            elif not (change.is_added or place is None or change.old == change.new or place.kind in text_changes.KINDS):
                yield from self._immutable(change, place)
        held = [self.log(run).index.events.get(name, "") for run, names in self.newly_legal.items() for name in names]
        for path in dict.fromkeys((*self._new, *held)):
            yield from self._taken_out(path)
        yield from text_changes.changed(self)
        yield from self._mended()

    def _mended(self) -> Iterator[Finding]:
        """Yield the files of the base that nobody could ever read, and that the branch takes out or replaces."""
        for path in (path for path, last in self.stand_ins.items() if last == last_readable.NEVER):
            place, now = layout.place_of(path), self.head.read(path) if path in self.head.files else None
            if (place is None or place.kind != "attachment") and (now is None or last_readable.can_be_read(path, now)):
                did = "takes it out" if now is None else "replaces it"
                message = f"no commit up to the base has this file as it can be read, and the branch {did}"
                yield Finding("D012", path, 0, message, f"look what it was: git log -p -- {path}", "warning")

    def _immutable(self, change: Changed, place: Place) -> Iterator[Finding]:
        event = place.kind == "event"
        what = place.id if event else f"{place.id}: {change.path.rpartition('/')[2]}"
        if not change.is_removed:
            yield self.put_back("D001" if event else "D003", change.path, f"{what} has other bytes than at the base")
        elif not self._accounted(change.path, place):
            code = "D002" if event else "D004"
            yield self.put_back(code, change.path, f"{what} was in the ledger at the base, and is gone")

    def put_back(self, code: str, path: str, message: str) -> Finding:
        """Return the finding of a file that the base has as it should be."""
        how = f"memento check --base {self.name} --fix"
        if self.name == STAGED and path in self.stand_ins:
            how = f"git checkout {self.stand_ins[path].commit[:12]} -- {path}"
        elif self.name == STAGED:
            sides = self.base.commits
            has = next((one for one in sides if self.git.entries(one, path)), sides[0])
            name = STAGED if has == sides[0] else MERGING if len(sides) == 2 else has[:12]
            how = f"git checkout {name} -- {path}"
        return Finding(code, path, 0, message, f"put it back: {how}")

    def _accounted(self, path: str, place: Place) -> bool:
        """Tell whether an archive at the head holds the same bytes, or a redaction or the note's purge took it away."""
        old = self.base.read(path)
        self.head.index(place.run)
        taken = self.redacted(place.run)
        of_purged = place.kind == "event" and not place.run and taken.get(place.of) == NOTHING
        if of_purged or (old is not None and self.head.read(path) == old):
            return True
        digest = taken.get(place.id)
        return bool(digest) and (place.kind == "attachment" or old is None or codec.digest_of(old) == digest)

    def _redacted(self, run: str) -> dict[str, str]:
        """Return id -> digest of what legal redactions of a run took away, by the head."""
        state = self.log(run)
        legal = [one for one in state.redactions() if (seen := state.fold.judged(one.id)) and seen.verdict == "legal"]
        return dict(parse_ref(one.get("target")) for one in legal)

    def _taken_out(self, path: str) -> Iterator[Finding]:
        """Yield a withdrawal by the branch of what was legal at the base."""
        place = layout.place_of(path)
        if place is None or place.do not in SETTLING:
            return
        event = self.head.record(path)
        if not isinstance(event, Event):
            return
        state, before = self.log(place.run), self.was(place.run)
        target = parse_ref(event.get("target")).id
        if place.do == "redacted" and not _keeps_what_was(state, before, target):
            yield self._other_words(event, target)
        while event.do == "redacted" and target in self.added and (left := state.event(target)) is not None:
            if left.do not in SETTLING:
                break
            event, target = left, parse_ref(left.get("target")).id
        was, own = before.fold.judged(target), state.fold.judged(event.id)
        if own is None or own.verdict != "legal":
            return
        if event.do != "redacted":
            yield from self._overruled(path, own)
        elif was is not None and was.verdict == "legal" and not keeps(state.event(target), was.event):
            yield self._other_words(event, target)

    def _overruled(self, path: str, own: Judged) -> Iterator[Finding]:
        """Yield what a settling event of the branch leaves without effect, and nobody disagreed with at the base.

        One that is taken out itself has its effect where others rest on it.
        """
        run = own.event.run
        state, before = self.log(run), self.was(run)
        group = group_of(own.event)
        known = {seen.event.id: seen for seen in state.folded(group).events if seen.verdict == "legal"}
        is_rested_on = own.event.id in rested_on(state, group)
        out = known if is_rested_on else undone(known.values())
        for target in sorted(undone_by(own, known).keys() & out.keys()):
            was = before.fold.judged(target)
            if was is None and own.event.by != (ours := known[target].event).by:
                told = f"{own.event.id} settles against {target} ({ours.do} by {ours.by}), which came with the branch"
                yield Finding("D011", path, 0, told, "look whether that is as it should be", "warning")
            if was is None or was.verdict != "legal":
                continue
            if target not in own.past:
                told = f"{own.event.id} voids {target}, which was legal at the base"
                yield Finding("D009", path, 0, told, leaving_out(path))
            elif _stood(before, was):
                told = f"{own.event.id} settles against {target} ({was.event.do}), which stood at the base"
                again = f"memento settle {was.event.of} --keep {target} --reason WHY"
                yield Finding("D011", path, 0, told, f"{leaving_out(path)}; then act after this: {again}")
            elif was.event.by != own.event.by and _disagreed(before, was):
                told = (
                    f"{own.event.id} settles against {target} ({was.event.do} by {was.event.by}), which was contested"
                )
                yield Finding("D011", path, 0, told, "look whether that is as it should be", "warning")

    def _other_words(self, event: Event, target: str) -> Finding:
        told = f"{event.id} redacts {target}, and keeps other words than it said"
        return Finding("D009", event.path, 0, told, leaving_out(event.path))

    def _archive(self, change: Changed) -> Iterator[Finding]:
        from memento_git.ledger import archive

        run = layout.run_of_path(change.path)
        files, _ = archive.unpack(change.path, run, self.base.read(change.path) or b"")
        self.head.index(run)
        self.base.index(run)
        lost = [
            path for path, data in files.items()
            if self.head.read(path) not in (data, self.base.read(path)) and not self._is_redacted(run, path)
        ]  # fmt: skip
        if lost or not files:
            message = f"the archive was removed, and with it {many(len(lost), 'file')} that nothing else holds"
            yield self.put_back("D008", change.path, message)

    def _is_redacted(self, run: str, path: str) -> bool:
        place = layout.place_of(path)
        return place is not None and place.id in self.redacted(run)


def _state(runners: Runners, run: str) -> RunState:
    return RunState(runners.view, run, runners, runners.policy)


def _note_set(view: View) -> NoteSet:
    from memento_git.knowledge.note_set import NoteSet

    return NoteSet(view)


def _stood(before: EventLog, was: Judged) -> bool:
    """Tell whether a legal event had its effect at a view, and nobody disagreed."""
    group = before.folded(group_of(was.event))
    return was.event.id not in group.undone and not was.writes.keys() & group.lanes.contested.keys()


def _disagreed(before: EventLog, was: Judged) -> bool:
    """Tell whether an event is one of those that disagree at a view."""
    return any(was.event.id in names for names in before.folded(group_of(was.event)).lanes.contested.values())


def keeps(kept: Event | None, said: Event) -> bool:
    """Tell whether what is left of a redacted event is all that it said, but for its free texts."""
    from memento_git.ledger.event_writer import event_data

    return kept is not None and codec.redact_event(event_data(kept)) == codec.redact_event(event_data(said))


def keeps_answer(state: RunState, said: Evidence) -> bool:
    """Tell whether what is left of redacted evidence is whose answer or check it was, about what, and how it ended."""
    left = [kept for kept in [codec.redact_evidence(said.data)] if kept]
    return said.id in state.index.evidence or redacted_evidence.left_of(state, said.id) == left


def _keeps_what_was(state: EventLog, before: EventLog, evidence: str) -> bool:
    """Tell whether what is left of redacted evidence is what it was at the base, or what was left of it there."""
    if not isinstance(state, RunState) or not isinstance(before, RunState):
        return True
    if (said := before.evidence(evidence)) is not None:
        return keeps_answer(state, said)
    left = redacted_evidence.left_of(before, evidence)
    return not left or redacted_evidence.left_of(state, evidence) == left


def attributes(comparison: Comparison) -> Iterator[Finding]:
    """Yield what a branch has git do to ledger files, or files of keys: hide their changes, or change their bytes."""
    own = [path for change in comparison.changes if f"/{(path := change.path)}".endswith(f"/{layout.TOP_ATTRIBUTES}")]
    if not own:
        return
    paths = {path.rpartition("/")[0]: path for path in (layout.TOP_ATTRIBUTES, layout.ATTRIBUTES, *own)}
    from memento_git.review.attributes import worse

    git, head = comparison.git, comparison.head.commits[0]
    after = {folder: git.objects([f"{head}:{path}"])[0] or b"" for folder, path in paths.items()}
    old = {change.path: change.old for change in comparison.changes}
    texts = {path: git.objects([old[path]])[0] if old[path] else b"" for path in own}
    before = {folder: texts.get(path, after[folder]) or b"" for folder, path in paths.items()}
    for folder, told in worse(before, after, comparison.policy.key_files):
        message = f"the branch changes how git shows or stores ledger files: {told}"
        yield Finding("C005", paths[folder], 0, message, "put the line back, or read: git diff --text", "warning")
