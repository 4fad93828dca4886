"""Whether what a branch adds is signed as policy demands, by the keys that its base names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memento_git.folding.fold import group_of, last_of
from memento_git.ledger import layout, policyfile
from memento_git.model.enumeration import some
from memento_git.model.finding import Finding
from memento_git.model.work import Event, Evidence
from memento_git.work.attest import signing
from memento_git.work.gates import gate_validity, gates
from memento_git.work.proof import proofs
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.branch_history import BranchHistory
    from memento_git.ledger.git import Git
    from memento_git.ledger.layout import Place
    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy
    from memento_git.review.scope import Scope
    from memento_git.work.proof.runners import Runners


def check(view: View, commit: str, policy: Policy, paths: Iterable[str]) -> list[Finding]:
    """Return what lacks a signature that a policy demands, or has one that is not good, by the signers of a commit."""
    records = list(_records(view, paths, policy))
    if not records:
        return []
    from memento_git.work.attest import signers

    found = signers.signers_at(view.git, commit, policy)
    told = signing.unsigned(records, policy.signatures, signers.Verifier(view, policy, found).seen)
    good = {one.path for one in records} - {one.path for one in told}
    told = [one for one in told if not _is_replaced(view, one.path, good)]
    return [*told, *_away(found.why if policy.signatures else "")]


def keys_away(git: Git, commit: str, policy: Policy) -> list[Finding]:
    """Return that a file of keys that a policy names is not there, or cannot be read."""
    from memento_git.work.attest import signers

    return _away(signers.signers_at(git, commit, policy).why if policy.signatures else "")


def _away(why: str) -> list[Finding]:
    """Return what is told of a file of keys; nothing without a reason."""
    return [Finding("K001", layout.CONFIG, 0, f"policy {why}", signing.KEYS, "warning")] if why else []


def _records(view: View, paths: Iterable[str], policy: Policy) -> Iterator[Event | Evidence]:
    """Yield the records that are signed, or must be; of a redacted one that nothing replaced, what is left."""
    for path, place in layout.placed(paths, "event", "evidence"):
        found = view.record(path)
        if place.do == "redacted" and place.run and policy.must_be_signed:
            yield from _left(view, place, policy)
        if isinstance(found, Event | Evidence) and (
            "signature" in found.data or signing.demanded(policy.signatures, found) is not None
        ):
            yield found


def _left(view: View, place: Place, policy: Policy) -> Iterator[Event]:
    """Yield a redacted event that must be signed and still counts: its signature went with its words."""
    state = RunState(view, place.run)
    for event in state.tombstones.values():
        own = layout.place_of(event.path)
        if own is None or own.id != place.id or signing.demanded(policy.signatures, event) is None:
            continue
        if event in _counting(state, event):
            yield event._replace(data={key: value for key, value in event.data.items() if key != "signature"})


def _counting(state: RunState, event: Event) -> list[Event]:
    """Return the verdicts, or approvals, that count where one of them is said."""
    if "gate" in event.data:
        return gates.lifting(state, event.of, event.get("gate"))
    return last_of(one for one in state.folded(group_of(event)).events if one.event.do == event.do)


def _is_replaced(view: View, path: str, good: set[str]) -> bool:
    """Tell whether an event counts no more, for the same was said again, and that is signed well."""
    event, place = view.record(path), layout.place_of(path)
    if not isinstance(event, Event) or place is None or "signature" in event.data:
        return False
    counting = _counting(RunState(view, place.run), event)
    said = {(one.of, one.get("text")) for one in counting}
    return said == {(event.of, event.get("text"))} and good >= {one.path for one in counting}


def handed_out(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield a dispatch of the branch that rests on an approval or verdict without its signature, and goes on."""
    word = state.folded(event.of).lanes.word(f"dispatch:{event.dispatch}", "")
    if event.id not in scope.added or word in ("failed", "recovered"):
        return
    scopes = (state.id, event.of, *(proofs.front_matter(state, event.of).get("depends_on") or ()))
    if told := gate_validity.unsigned(state, scopes, runners=state.runners, opened=event):
        yield _unfounded(event, f"{event.of} was handed out, and {some(told, 3, '; ')}")


def done(state: RunState, task: str, ends: Iterable[Event], scope: Scope) -> Iterator[Finding]:
    """Yield a completion or acceptance of the branch whose task rests on an approval without its signature."""
    added = [event for event in ends if event.id in scope.added]
    if not added or not state.policy.must_be_signed:
        return
    from memento_git.work.attest import signatures

    verifier = state.runners.verifier if state.runners else None
    for told in signatures.unsigned_proof(state, task, verifier):
        yield _unfounded(added[-1], told)


def _unfounded(event: Event, told: str) -> Finding:
    return Finding("K001", event.path, 0, told, "whoever may sign does that again with --sign")


def own_runners(view: View, base: Runners, own: Runners, paths: Iterable[str]) -> Iterator[Finding]:
    """Yield the reruns whose runner counts by the branch's own policy and keys, and not by its base's."""
    for path, _ in layout.placed(paths, "evidence"):
        found = view.record(path)
        if not isinstance(found, Evidence) or "reproduces" not in found.data or "signature" not in found.data:
            continue
        by = own.of(found)
        if not by.why and (why := base.of(found).why):
            message = f"{found.id} was run again by {by.by}, who counts as a runner on the branch alone: {why}"
            yield Finding("K003", path, 0, message, "list runners on a branch of their own, then sign again", "warning")


def older(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings on a whole tree: what is signed otherwise may be older than policy that demands it, or a name."""
    return [one._replace(severity="warning") if one.code == "K001" or _is_unnamed(one) else one for one in findings]


def older_by_history(git: Git, first: str, story: BranchHistory, findings: Iterable[Finding]) -> list[Finding]:
    """Return findings on a branch: a signature without the ledger's name may come from before the base had one."""
    return [
        one._replace(severity="warning") if _is_unnamed(one) and _is_from_before(git, first, story, one.path) else one
        for one in findings
    ]


def _is_unnamed(finding: Finding) -> bool:
    return finding.code == "K002" and finding.message == signing.WORDS["unnamed"]


def _is_from_before(git: Git, first: str, story: BranchHistory, path: str) -> bool:
    """Tell whether the commits that brought a file left the base's line where policy named no ledger yet."""
    forks = {git.answer("merge-base", one.commit, first) for one in story.authored if path in one.paths}
    return bool(forks) and not any(policyfile.ledgers_at(git, filter(None, forks)))


def signers_changed(git: Git, first: str, head: str, policy: Policy) -> list[Finding]:
    """Return a finding for each file of keys, as the base's policy names them, that a branch changes."""
    paths = policy.key_files
    if not paths:
        return []
    before, after = git.entries(first, *paths), git.entries(head, *paths)
    message = "the branch changes whose signatures count; what it adds is judged by the base's file"
    how = "change them on a branch of their own"
    return [Finding("C003", path, 0, message, how, "warning") for path in paths if before.get(path) != after.get(path)]
