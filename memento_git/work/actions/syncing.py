"""sync: this branch of the ledger and the remote's brought together, without force, rebase or a merge of code."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Moved
from memento_git.ledger import layout, lock, merging, publish, remoteclaims, remotes
from memento_git.ledger.adoption import bring_forward
from memento_git.ledger.store import NoLedger
from memento_git.work.actions import vetting
from memento_git.work.loading import load
from memento_git.work.rows import trouble_rows
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from memento_git.folding.rows import Row
    from memento_git.ledger.remoteclaims import Held
    from memento_git.ledger.remotes import Target
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View

ATTEMPTS: Final = 20
SHORTEST: Final = 0.05
LONGEST: Final = 10.0
PATIENCE: Final = 600.0
ENDED: Final = ("completed", "failed", "recovered")


class RemoteBusy(Moved):
    """Others pushed each time that we had merged."""

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
    trouble: list[Row]
    lost: list[Row]
    findings: list[str]
    released: list[str]


def sync(ledger: Ledger, remote: str = "", branch: str = "", *, set_upstream: bool = False) -> Synced:
    """Fetch, merge what is the ledger's alone, push; again, a bounded number of times, while the remote moves."""
    publish.guard(ledger.git)
    where = remotes.target(ledger.git, remote, branch)
    with alone(ledger):
        brought = together(ledger, where, create=set_upstream)
        released = _give_back(ledger, where, brought.after)
    return Synced(where, brought, *_news(ledger, brought), released)


def alone(ledger: Ledger) -> AbstractContextManager[None]:
    """Have one process at a time talk to remotes for this work tree."""
    return lock.held(ledger.git.git_dir / "memento" / "sync.lock", PATIENCE)


def together(ledger: Ledger, where: Target, *, create: bool = False, push: bool = True, sound: str = "") -> Brought:
    """Bring the branch here and the remote's together; without push, only what comes from there.

    What is pushed is checked before, but for the commit `sound`, which was.
    """
    before = ledger.git.commit_of("HEAD")
    merges = pushes = 0
    checked = {sound} if push else None
    begun = time.monotonic()
    for attempt in range(ATTEMPTS):
        if attempt:
            _step_back(attempt, time.monotonic() - begun)
            begun = time.monotonic()
        theirs = remotes.fetch(ledger.git, where)
        if theirs is None and not create:
            raise remotes.RemoteBranchMissing(**where.where)
        if not ledger.git.is_on(f"refs/heads/{where.local}"):
            raise publish.LedgerMoved(ref="HEAD")
        try:
            head, merged = _take_in(ledger, where, theirs, checked)
        except publish.LedgerMoved:
            continue
        merges += merged
        if not push or head == theirs:
            return Brought(before, head, merges, pushes, theirs)
        pushes += 1
        if remotes.push(ledger.git, where, head, bind=theirs is None):
            return Brought(before, head, merges, pushes, theirs)
    raise RemoteBusy(attempts=ATTEMPTS, **where.where)


def _step_back(attempt: int, took: float) -> None:
    """Wait for a time drawn by chance out of a span that doubles, in units of what a whole attempt takes here."""
    time.sleep(random.uniform(0, min(LONGEST, max(SHORTEST, took) * 2**attempt)))  # noqa: S311 (a pause, no secret)


def _take_in(ledger: Ledger, where: Target, theirs: str | None, sound: set[str] | None) -> tuple[str, bool]:
    """Bring the branch forward to hold the remote's commit too; return its commit, and whether that took a merge.

    `sound` are commits that may be pushed; where it is given, one that is not among them is checked first.
    """
    git = ledger.git
    base = publish.Base(*git.head())
    ours = base.commit or ""
    if not any(merging.has_ledger(git, commit) for commit in (ours, theirs) if commit):
        raise NoLedger(where="HEAD")
    common = merging.bases(git, ours, theirs) if theirs else []
    if theirs is not None and common == [ours]:
        if ours != theirs:
            bring_forward(ledger, base, theirs, "memento: sync, fast-forward")
        return theirs, False
    if sound is not None and ours not in sound:
        vetting.refuse_unsound(ledger, where, ours, common, is_new=theirs is None)
        sound.add(ours)
    if theirs is None or common == [theirs]:
        return ours, False
    tree = merging.merge(git, ours, theirs, common, where.where)
    subject = f"memento: sync {where.local} with {where.branch} of {where.remote}"
    message = f"{subject}\n\nMemento-Action: sync\nMemento-Actor: {ledger.actor}\n"
    made = publish.build_merge(git, tree, (ours, theirs), message, ledger.settings)
    bring_forward(ledger, base, made, subject)
    if sound is not None:
        sound.add(made)
    return made, True


def _news(ledger: Ledger, brought: Brought) -> tuple[list[Row], list[Row], list[str]]:
    """Return what is newly contested, illegal or incomplete, claims of ours that others contest, and other errors."""
    if brought.before == brought.after:
        return [], [], []
    changed = merging.incoming(ledger.git, brought.before, brought.after).ledger
    runs = sorted({run for change in changed if (run := layout.run_of_path(change.path))})
    old, new = ledger.view([brought.before]), ledger.view([brought.after])
    known = troubles(old, runs)
    fresh = [row for row in troubles(new, runs) if row not in known]
    lost = [row for row in (_lost(old, row, ledger.actor) for row in fresh) if row]
    return fresh, lost, vetting.came_wrong(ledger, brought.before, brought.after)


def troubles(view: View, runs: list[str]) -> list[Row]:
    """Return what needs settling in some runs of a view."""
    rows: list[Row] = []
    for run in runs:
        if run in view.runs():
            state = RunState(view, run)
            load(state)
            rows += trouble_rows(state)
    return rows


def _lost(before: View, row: Row, actor: str) -> Row | None:
    """Return a claim of ours that somebody else contests."""
    others = sorted({event["actor"] for event in row["events"]} - {actor})
    if not others or not str(row["record"]).startswith("task_"):
        return None
    for run in before.runs():
        if before.index(run).holds(row["record"], "task"):
            for name, held in RunState(before, run).dispatches(row["record"]).items():
                if held.get("holder") == actor:
                    return {"task_id": row["record"], "dispatch_id": name, "claimed_by": others}
    return None


def _give_back(ledger: Ledger, where: Target, after: str) -> list[str]:
    """Give claims on the remote back whose dispatches ended, lengthen those that were renewed; return the former.

    It comes after the push, so that nobody can take a task that is done by a ledger which does not say so yet.
    """
    found = remoteclaims.held(ledger.git, where.remote)
    view = ledger.view([after]) if found else None
    return [one.claim.dispatch for one in found if view is not None and _is_back(ledger, where, view, one)]


def _is_back(ledger: Ledger, where: Target, view: View, one: Held) -> bool:
    """Look after one claim; tell whether it was given back. One that was never written waits for its end."""
    row = dispatch_in(view, one.claim.dispatch)
    if row.get("status") in ENDED or one.claim.until < ledger.now():
        return remoteclaims.give_back(ledger.git, where.remote, one)
    until = str(row.get("until") or "")
    if row.get("holder") == one.claim.by and until > one.claim.until:
        remoteclaims.take(ledger.git, where.remote, one.name, one.claim._replace(until=until), one.claim)
    return False


def dispatch_in(view: View, dispatch: str) -> dict[str, Any]:
    """Return what a dispatch has come to in a view; nothing where the view does not know it."""
    for run in view.runs():
        if view.holds(run, dispatch, "dispatch"):
            state = RunState(view, run)
            opened = state.event(dispatch.replace("dispatch", "event", 1))
            return dict(state.dispatches(opened.of).get(dispatch, {})) if opened is not None else {}
    return {}
