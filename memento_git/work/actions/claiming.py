"""dispatch claim --sync: the remote is the arbiter, so that two clones never work at one task."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import MementoError
from memento_git.folding.lanes import STATUS
from memento_git.ledger import claims, publish, remoteclaims, remotes
from memento_git.ledger.claims import Claim
from memento_git.ledger.commits import CODE
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.remoteclaims import HeldClaim
from memento_git.model.clock import seconds_of, stamp
from memento_git.model.enumeration import some
from memento_git.model.ids import NoSuchRecord
from memento_git.model.states import DONE
from memento_git.work import leases
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, settling, syncing, vetting
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.remotes import Target
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.work import Event

TRIES: Final = 3
EARLY: Final = 5


class Claimed(NamedTuple):
    """A claim that the remote holds; `pushed`: its event is there too, `pushes`: how often that was tried."""

    dispatch: str
    target: Target
    pushed: bool
    pushes: int


class _Place(NamedTuple):
    """A dispatch, its task, and the name of its claim."""

    dispatch: str
    task: str
    name: str


def claim_on_remote(ledger: Ledger, given: str, remote: str = "", *, lease: int = 0, note: str = "") -> Claimed:
    """Claim a dispatch on the remote, then in the ledger, and push that; a claim that is lost leaves nothing open.

    The order is what makes it safe: the ref first, then what others pushed before it, then the event. Whoever ends a
    dispatch pushes that before the ref goes. What is pushed with the event is checked before all of it.
    """
    publish.guard(ledger.git)
    where = remotes.target(ledger.git, remote)
    with syncing.alone(ledger):
        known = ledger.git.commit(where.tracking)
        vetting.refuse_unsound(ledger, where, ledger.git.commit_of("HEAD"), known or "")
        place = _find(ledger, where, given)
        try:
            held = _take(ledger, where, place, lease)
        except no.TaskClaimed as error:
            _stand_back(ledger, where, place, str(error.facts["dispatch"]))
            raise
        try:
            theirs = syncing.together(ledger, where, push=False).theirs

            def act(tx: Transaction) -> str:
                return dispatches.claim_dispatch(tx, place.dispatch, lease=lease, note=note)

            ledger.change("dispatch claim", act)
        except BaseException as error:
            with contextlib.suppress(MementoError):
                remoteclaims.give_back(ledger.git, where.remote, held)
            if isinstance(error, no.RecordContested) and _stand_back(ledger, where, place):
                raise no.DispatchTerminal(dispatch=place.dispatch, state="recovered") from None
            raise
        pushes = _publish(ledger, where, theirs)
    return Claimed(place.dispatch, where, bool(pushes), pushes)


def _find(ledger: Ledger, where: Target, given: str) -> _Place:
    """Find a dispatch here, or else in what the remote has."""
    try:
        return _place(ledger, given)
    except NoSuchRecord:
        syncing.together(ledger, where, push=False)
        return _place(ledger, given)


def _place(ledger: Ledger, given: str) -> _Place:
    dispatch, state = RunState.find(ledger.view(), given, "dispatch")
    opened = state.opened(dispatch)
    if opened is None:
        raise NoSuchRecord(kind="dispatch", given=given)
    return _Place(dispatch, opened.of, dispatches.ref_name(state, opened.of, dispatch))


def _take(ledger: Ledger, where: Target, place: _Place, lease: int) -> HeldClaim:
    """Take the claim's ref on the remote; refuse where somebody else holds it, the same actor elsewhere included."""
    ours = {one.claim.blob for one in remoteclaims.held(ledger.git, where.remote) if one.claim.by == ledger.actor}
    now = ledger.now()
    length = leases.length_of(lease or ledger.view().policy().lease)
    claim = Claim(place.dispatch, ledger.actor, stamp(seconds_of(now) + length + EARLY))
    existing: Claim | None = None
    for _ in range(TRIES):
        taken = remoteclaims.take(ledger.git, where.remote, place.name, claim, existing)
        if taken is not None:
            return HeldClaim(place.name, taken)
        syncing.together(ledger, where, push=False)
        existing = remoteclaims.look(ledger.git, where.remote, place.name)
        if existing and existing.blob not in ours and not _is_over(ledger, place, existing):
            dispatches.refuse_claimed(existing, place.dispatch, place.task)
    if existing is not None:
        dispatches.refuse_claimed(existing, place.dispatch, place.task)
    raise no.ClaimedMeanwhile(dispatch=place.dispatch, holder="another clone")


def _stand_back(ledger: Ledger, where: Target, place: _Place, other: str = "") -> bool:
    """Settle against the hand-out that was to be claimed where that alone contests a claim on the remote, or done work.

    Nobody works on it, and whoever holds the other would have to wait for a person. It is not all where it follows
    what the other side had not seen, such as a reopening. Return whether it is so.
    """
    _, state = RunState.find(ledger.view(), place.task, "task")
    contested = state.folded(place.task).lanes.contested
    events = [event for name in contested.get(STATUS, ()) if (event := state.event(name))]
    lost = [one for one in events if (one.do, one.dispatch) == ("dispatched", place.dispatch)]
    theirs = [one for one in events if one not in lost and (one.do in DONE or one.dispatch in {other} - {""})]
    if [*contested] != [STATUS] or len(events) != 2 or not lost or not theirs:
        return False
    if not state.past(lost[0].id) <= state.past(theirs[0].id):
        return False
    reason = f"{where.remote} has the claim of {other}" if other else f"{place.task} was {theirs[0].do} before"
    try:
        if not _is_free(ledger, where, place, lost[0]):
            return False
        ledger.change("settle", lambda tx: settling.settle_record(tx, place.task, theirs[0].id, reason=reason))
    except MementoError:
        return False
    ledger.warn(f"{place.dispatch} is taken back, for {reason}: memento sync tells the others")
    return True


def _is_free(ledger: Ledger, where: Target, place: _Place, handed: Event) -> bool:
    """Tell whether a hand-out is our own, or has not left this clone, and no other branch of the clone claims it."""
    git = ledger.git
    claim = claims.read(git, place.name)
    if claim is not None and claim.dispatch == place.dispatch:
        return False
    if handed.by == ledger.actor:
        return True
    there = remotes.fetch(git, where)
    if there is None or git.entries(there, handed.path):
        return False
    return git.answer("log", "-1", "--format=%H", "--remotes", "--not", there, "--", handed.path) == ""


def _is_over(ledger: Ledger, place: _Place, existing: Claim) -> bool:
    """Tell whether a claim has expired, or its dispatch has ended, whoever's it is."""
    _, state = RunState.find(ledger.view(), place.dispatch, "dispatch")
    return dispatches.replaceable(ledger.now(), state, place.task, existing, existing._replace(by=""))


def _publish(ledger: Ledger, where: Target, theirs: str | None) -> int:
    """Push the claim's event; return how many pushes it took, 0 where the remote has but the ref.

    Commits of code that the remote lacks would go along, and nobody asked for that: then the ref has to do.
    """
    try:
        head = ledger.git.commit_of("HEAD")
        if code := _code_between(ledger.git, theirs, head):
            told = f"code here is not on {where.branch} there yet, and a claim pushes none ({code})"
            ledger.warn(f"{where.remote} holds the claim, not its event: {told}; memento sync pushes both")
            return 0
        refusal = remotes.push(ledger.git, where, head)
        return 1 + syncing.together(ledger, where, sound=head).pushes if refusal else 1
    except MementoError as error:
        told = f"{where.remote} holds the claim, but not its event yet: {error.message}; run memento sync"
        ledger.warn(told)
        return 0


def _code_between(git: Git, theirs: str | None, head: str) -> str:
    """Return the last commit of code that a push would bring along, and how many there are; nothing where none is."""
    commits = git.run(
        "log", "--full-history", "--no-merges", "--format=%h %s",
        *([f"{theirs}..{head}"] if theirs else [head]), "--", *CODE, extra=PATTERNS,
    ).decode(errors="replace").splitlines()  # fmt: skip
    return some(commits, 1)
