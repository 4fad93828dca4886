"""sync: this branch of the ledger and the remote's brought together, without force, rebase or a merge of code."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import MementoError, Moved
from memento_git.ledger import layout, lock, merging, policyfile, publish, remoteclaims, remotes
from memento_git.ledger.fast_forward import bring_forward
from memento_git.ledger.store import Ledger, NoLedger
from memento_git.model.clock import seconds_of, stamp
from memento_git.model.ids import kind_of
from memento_git.model.states import ENDED_DISPATCH
from memento_git.work.actions import stale_claims, vetting
from memento_git.work.loading import load
from memento_git.work.rows import trouble_rows
from memento_git.work.state import Dispatch, RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from memento_git.ledger.journal import Path3
    from memento_git.ledger.remoteclaims import HeldClaim
    from memento_git.ledger.remotes import Target
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row, TroubleRow

ATTEMPTS: Final = 20
UNMOVED: Final = 3  # refusals by a remote that is still where it was: nobody was first
SHORTEST: Final = 0.05
LONGEST: Final = 10.0
TIMEOUT: Final = 600.0
WAITS: Final = 14 * 24 * 3600


class RemoteBusy(Moved):
    token = "remote_busy"
    sentence = "{branch} on {remote} moved on {attempts} times while we merged"
    hint_ = "what is here is merged and committed: run memento sync again"


class Brought(NamedTuple):
    """What a sync found and did: commits before and after, merges, pushes that were tried, the remote's commit."""

    before: str
    after: str
    merges: int
    pushes: int
    theirs: str | None

    @property
    def outcome(self) -> str:
        """Return in one word what became of the branch."""
        if self.merges:
            return "merged"
        if self.after != self.before:
            return "fast_forwarded"
        return "pushed" if self.pushes else "up_to_date"


class Synced(NamedTuple):
    """A sync, and what people should know of its result."""

    target: Target
    brought: Brought
    trouble: list[TroubleRow]
    lost: list[Row]
    taken: list[Row]
    findings: list[str]
    released: list[str]
    waiting: list[str]


def sync(ledger: Ledger, remote: str = "", branch: str = "", *, set_upstream: bool = False) -> Synced:
    """Fetch, merge what is the ledger's alone, push; again, a bounded number of times, while the remote moves."""
    publish.guard(ledger.git)
    where = remotes.target(ledger.git, remote, branch)
    with alone(ledger):
        brought = together(ledger, where, create=set_upstream)
        if set_upstream:
            remotes.bind(ledger.git, where)
        kept = _give_back(ledger, where, brought.after)
    return Synced(where, brought, *_news(ledger, brought), *kept)


def alone(ledger: Ledger) -> AbstractContextManager[None]:
    """Have one process at a time talk to remotes for this work tree."""
    return lock.held(ledger.git.git_dir / "memento" / "sync.lock", TIMEOUT)


def together(ledger: Ledger, where: Target, *, create: bool = False, push: bool = True, sound: str = "") -> Brought:
    """Bring the branch here and the remote's together; without push, only what comes from there.

    What is pushed is checked before, but for the commit `sound`, which was. Between attempts it waits for a time drawn
    by chance out of a span that doubles, in units of what a whole attempt takes here.
    """
    before = ledger.git.commit_of("HEAD")
    merges = pushes = 0
    checked = {sound} if push else None
    unmoved: list[str | None] = []
    begun = time.monotonic()
    for attempt in range(ATTEMPTS):
        if attempt:
            span = min(LONGEST, max(SHORTEST, time.monotonic() - begun) * 2**attempt)
            time.sleep(random.uniform(0, span))  # noqa: S311 (a pause, no secret)
            begun = time.monotonic()
        known = remotes.seen(ledger.git, where)
        theirs = remotes.fetch(ledger.git, where)
        if theirs is None and not create:
            raise remotes.RemoteBranchMissing(**where.where)
        if not ledger.git.is_on(f"refs/heads/{where.local}"):
            raise publish.LedgerMoved(ref="HEAD")
        try:
            head, merged = _take_in(ledger, where, theirs, checked, known)
        except publish.LedgerMoved:
            continue
        merges += merged
        if not push or head == theirs:
            return Brought(before, head, merges, pushes, theirs)
        pushes += 1
        refusal = remotes.push(ledger.git, where, head)
        if not refusal:
            return Brought(before, head, merges, pushes, theirs)
        unmoved += [theirs] if remotes.THERE in refusal else []
        if unmoved.count(theirs) == UNMOVED:
            raise remotes.PushRejected(remote=where.remote, reason=refusal)
    raise RemoteBusy(attempts=ATTEMPTS, **where.where)


def _take_in(
    ledger: Ledger, where: Target, theirs: str | None, sound: set[str] | None, known: Sequence[str]
) -> tuple[str, bool]:
    """Bring the branch forward to hold the remote's commit too; return its commit, and whether that took a merge.

    `sound` are commits that may be pushed; where it is given, one that is not among them is checked first. `known` are
    commits that the remote's branch was at before.
    """
    git = ledger.git
    base = publish.Base(*git.head())
    ours = base.commit or ""
    if not any(policyfile.has_ledger(git, commit) for commit in (ours, theirs) if commit):
        raise NoLedger(where="HEAD")
    common = git.merge_bases(ours, theirs) if theirs else []
    if theirs is not None and common == [ours]:
        if ours != theirs:
            vetting.refuse_unreadable(ledger, where, theirs, theirs)
            bring_forward(ledger, base, theirs, "memento: sync, fast-forward")
        return theirs, False
    if theirs is not None and common:
        remotes.refuse_rewritten(git, where, known, ours, theirs)
    if sound is not None and ours not in sound:
        vetting.refuse_unsound(ledger, where, ours, theirs or "")
        sound.add(ours)
    if theirs is None or common == [theirs]:
        return ours, False
    made = _merged(ledger, where, (ours, theirs), common)
    bring_forward(ledger, base, made, _subject(where))
    if sound is not None:
        sound.add(made)
    return made, True


def _merged(ledger: Ledger, where: Target, sides: tuple[str, str], common: Sequence[str]) -> str:
    """Return a commit that merges two sides; refuse what no command could read, or what brings back what was redacted.

    What else two sides make of each other is told when it is there: it can be settled by events.
    """
    ours, theirs = sides
    tree = merging.merge(ledger.git, ours, theirs, common, where.where)
    message = f"{_subject(where)}\n\nMemento-Action: sync\nMemento-Actor: {ledger.actor}\n"
    made = publish.commit_tree(ledger.git, tree, sides, message, ledger.settings)
    vetting.refuse_unreadable(ledger, where, made, theirs)
    vetting.refuse_revived(ledger, where, made, theirs, common)
    return made


def _subject(where: Target) -> str:
    return f"memento: sync {where.local} with {where.branch} of {where.remote}"


def _news(ledger: Ledger, brought: Brought) -> tuple[list[TroubleRow], list[Row], list[Row], list[str]]:
    """Return what needs settling now, claims of ours that others contest, those that others ended, and other errors."""
    if brought.before == brought.after:
        return [], [], [], []
    changed = merging.incoming(ledger.git, brought.before, brought.after).ledger
    runs = sorted({run for change in changed if (run := layout.run_of_path(change.path))})
    old, new = ledger.held([brought.before]), ledger.view([brought.after])
    known = troubles(old, runs) if old else []
    fresh = [row for row in troubles(new, runs) if row not in known]
    lost = [row for row in (_lost(old, row, ledger.actor) for row in fresh) if row] if old else []
    taken = [*_taken(old, new, changed, ledger.actor)] if old else []
    return fresh, lost, taken, vetting.came_wrong(ledger, brought.before, brought.after)


def troubles(view: View, runs: list[str]) -> list[TroubleRow]:
    """Return what needs settling in some runs of a view."""
    rows: list[TroubleRow] = []
    for run in runs:
        if run in view.runs():
            state = RunState(view, run)
            load(state)
            rows += trouble_rows(state)
    return rows


def _lost(before: View, row: TroubleRow, actor: str) -> Row | None:
    """Return a claim of ours that somebody else contests."""
    others = sorted({event["actor"] for event in row["events"]} - {actor})
    if not others or not str(row["record"]).startswith("task_"):
        return None
    state = stale_claims.run_of(before, row["record"], "task")
    held = state.dispatches(row["record"]) if state is not None else {}
    mine = next((name for name, one in held.items() if one.holder == actor), "")
    return {"task_id": row["record"], "dispatch_id": mine, "claimed_by": others} if mine else None


def _taken(before: View, after: View, changed: Sequence[Path3], actor: str) -> Iterator[Row]:
    """Yield the claims of ours that somebody else ended: they took them back, or moved the task itself."""
    places = filter(None, (layout.place_of(one.path) for one in changed))
    for run, task in sorted({(one.run, one.of) for one in places if kind_of(one.of) == "task"}):
        if not before.holds(run, task, "task"):
            continue
        now = RunState(after, run).dispatches(task)
        for name, held in RunState(before, run).dispatches(task).items():
            found = now.get(name, Dispatch())
            by = found.ended.by if found.ended is not None else None
            if held.status == "claimed" and held.holder == actor != by and found.status in ENDED_DISPATCH:
                reason = found.ended.get("reason") if found.ended is not None else ""
                yield {"task_id": task, "dispatch_id": name, "status": found.status, "by": by, "reason": reason or None}


def _give_back(ledger: Ledger, where: Target, after: str) -> tuple[list[str], list[str]]:
    """Give claims on the remote back whose dispatches ended for all, lengthen others; return the former, and who waits.

    It comes after the push, so that nobody can take a task that is done by a ledger which does not say so yet.
    """
    released: list[str] = []
    waiting: list[str] = []
    held = remoteclaims.held(ledger.git, where.remote)
    if not held:
        return released, waiting
    view = ledger.view([after])
    try:
        for one in held:
            found = stale_claims.dispatch_in(view, one.claim.dispatch)
            if _is_over(ledger, where, one, found):
                released += [one.claim.dispatch] * remoteclaims.give_back(ledger.git, where.remote, one)
            elif found.status == "completed":
                waiting += [one.claim.dispatch] * _wait(ledger, where, one)
            elif found.holder == one.claim.by:
                _lengthen(ledger, where, one, found.until)
    except MementoError as error:
        ledger.warn(f"claims on {where.remote} were not all looked after: {error.message}; run memento sync")
    return released, waiting


def _is_over(ledger: Ledger, where: Target, one: HeldClaim, found: Dispatch) -> bool:
    """Tell whether a claim keeps nobody from work any more that others still see as open.

    One that was never written waits for its end; one whose completion is on a branch alone waits for the merge.
    """
    if found.status in ENDED_DISPATCH and not _is_open(ledger, where, one.claim.dispatch):
        return True
    return found.status != "completed" and one.claim.until < ledger.now()


def _is_open(ledger: Ledger, where: Target, dispatch: str) -> bool:
    """Tell whether others still see a dispatch as open on the remote, whose default branch is asked for it."""
    if not stale_claims.is_open_on(ledger, where.remote, dispatch):
        return False
    default = stale_claims.default_branch(ledger.git, where.remote)
    if default in ("", where.branch):
        return True
    remotes.fetch(ledger.git, where._replace(branch=default))
    return stale_claims.is_open_on(ledger, where.remote, dispatch)


def _wait(ledger: Ledger, where: Target, one: HeldClaim) -> bool:
    """Have the claim of a completed dispatch hold until its branch is merged; tell whether it is still ours."""
    now = seconds_of(ledger.now())
    return seconds_of(one.claim.until) > now + WAITS / 2 or _lengthen(ledger, where, one, stamp(now + WAITS))


def _lengthen(ledger: Ledger, where: Target, one: HeldClaim, until: str) -> bool:
    """Have a claim on the remote hold at least until then; tell whether it is still ours."""
    if until <= one.claim.until:
        return True
    longer = one.claim._replace(until=until)
    return remoteclaims.take(ledger.git, where.remote, one.name, longer, one.claim) is not None
