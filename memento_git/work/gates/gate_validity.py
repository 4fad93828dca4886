"""Whether a gate that has passed or was waived holds: what it rests on, and what its giver had seen, stands now."""

from __future__ import annotations

from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.model.ids import kind_of, option, parse_ref
from memento_git.model.states import PASSING
from memento_git.work import codestate
from memento_git.work.gates import gates
from memento_git.work.proof import codes, proofs, trust
from memento_git.work.remedies import passing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memento_git.ledger.git import Git
    from memento_git.model.objection import Objection
    from memento_git.model.run_rows import RunRows
    from memento_git.model.work import Event, Evidence
    from memento_git.work.proof.runners import Runners
    from memento_git.work.proof.trust import Cited
    from memento_git.work.state import RunState

    Code = Callable[[tuple[str, ...]], Mapping[str, Any]]
    Here = Callable[[], Mapping[str, Any]]
    Laid = Callable[[str, tuple[str, ...]], bool]


NOTHING: Final = "none was given"
WEAK: Final = "nothing that was given would prove anything under the policy"
NARROW: Final = "what was given covers some paths, and not all of the code"
EDITED: Final = "saw the code of this commit, and not the edits in the work tree: git stash puts them aside"
TOLD: Final = {"passed": "has passed", "waived": "was waived"}


class Fall(NamedTuple):
    """A gate whose pass or waiver does not hold, why, and whether that holds the completion of its run up."""

    scope: str
    gate: str
    why: str
    is_asked: bool


def here(git: Git, state: RunState, refs: Iterable[str]) -> Here:
    """Return what tells the code of the work tree as some evidence saw it; git looks once, and where it is asked."""
    return cache(lambda: codestate.code_as_seen(git, _seen(state, refs)))


def _seen(state: RunState, refs: Iterable[str]) -> list[Mapping[str, Any]]:
    """Return the code that each piece of some evidence saw."""
    return [trust.seen_by(one) for one, _ in _shown(state, refs)]


def not_fresh(state: RunState, scope: str, refs: Sequence[str], code: Here) -> Objection:
    """Return why evidence is not sound, or not of the code as it lies here, or nothing."""
    if not refs:
        return NOTHING
    if problem := gates.first_fault(state, scope, refs):
        return problem
    shows, narrow, proof = False, False, state.policy.proof
    for evidence, cited in _shown(state, refs):
        if not codes.agree(trust.seen_by(evidence), code()):
            return f"{evidence.id} {EDITED if is_of_commit(state, evidence, code) else 'is of other code'}"
        if not trust.weakness(evidence, trust.trusted(cited, [code()]).trust, proof):
            narrow = not _is_wide(scope, evidence)
            shows = shows or not narrow
    return "" if shows else NARROW if narrow else WEAK


def is_of_commit(state: RunState, evidence: Evidence, code: Here) -> bool:
    """Tell whether evidence saw the code of the commit that is read, where the code as it lies here has edits."""
    return bool(code().get("dirty")) and all(trust.saw(evidence, one) for one in codes_of(state))


def mending(
    git: Git, state: RunState, wanted: Iterable[tuple[str, str]], rows: RunRows | None = None
) -> list[str]:  # fmt: skip
    """Return for each gate, of a run (scope, gate) or of its tasks, the command by which it passes or holds again.

    With all `rows` of the run, a gate that is to be fresh is led to its evidence, or to what records some.
    """
    found = [(*one, gates.given(state, *one)) for one in wanted]
    refs = [ref for *_, held in found for ref in _rests_on(held)]
    code = cache(lambda: codestate.code_to_commit(git, _seen(state, refs)))
    return [_mending(state, *one, None if git.top is None else code, rows) for one in found]


def _rests_on(verdicts: Iterable[Event]) -> list[str]:
    return [ref for event in verdicts for ref in event.evidence]


def _mending(
    state: RunState, scope: str, gate: str, held: Sequence[Event], code: Here | None, rows: RunRows | None
) -> str:  # fmt: skip
    from memento_git.work.gates import gate_staleness

    policy, released = state.policy, scope == state.id and gate == "release"
    refs = _rests_on(held)
    if (
        code is not None
        and refs
        and not not_fresh(state, scope, refs, code)
        and not any(gate_staleness.unseen(state, event) for event in held)
        and not _not_theirs(state, scope, gate)
        and not (released and gates.release_asks(policy))
    ):
        return codestate.COMMIT
    if code is not None and rows is not None and gate in policy.gates_fresh:
        with suppress(codestate.CodeUnknown):
            return _refreshing(state, rows, scope, gate)
    if released:
        return f"memento gate release --run {state.id}"
    told = "" if held or gate in policy.gates_fresh else " --note TEXT"
    return f"{passing(policy.gates_fresh, gate, scope, shown=bool(refs))}{told}"


def _refreshing(state: RunState, rows: RunRows, scope: str, gate: str) -> str:
    """Return the command by which a gate that is to be fresh passes on evidence that is here, or what records such."""
    held = [row for row in rows["evidence"] if row["status"] == "recorded"]
    known = [row for row in held if scope in (state.id, *row["task_ids"]) or not row["task_ids"]]
    latest = sorted(known, key=lambda row: (row["created_at"], row["id"]), reverse=True)
    code = cache(lambda: codestate.code_as_seen(state.view.git, [row["code"] or {} for row in latest]))
    agreeing = (row["id"] for row in latest if codes.agree(row["code"], code()))
    seen = (one for name in agreeing for one in state.pieces([name]))
    fresh = (one.id for one in seen if not not_fresh(state, scope, [str(one.ref)], code))
    first = next(fresh, "")
    if not first:
        return f"memento evidence run {option(scope)} -- CMD"
    if (scope, gate) == (state.id, "release"):
        proof = {name for task in rows["tasks"] for name in task["proven_by"]}
        if first in proof or not proof.isdisjoint(fresh):
            return f"memento gate release --run {state.id}"
    return f"{passing((), gate, scope)} --evidence {first}"


def shows(state: RunState, verdict: Event, code: Code) -> bool:
    """Tell whether a pass rests on sound evidence of the code as it is."""
    return any(
        trust.saw(evidence, code)
        and _is_wide(verdict.of, evidence)
        and not trust.weakness(evidence, trust.trusted(cited, [code(())]).trust, state.policy.proof)
        for evidence, cited in _shown(state, verdict.evidence)
    )


def fresh_ends(
    state: RunState, verdict: Event, ended: Callable[[Event], Sequence[str]], laid: Laid | None = None
) -> list[str]:
    """Return the commits that brought the end of a run after a pass, where this rests on the code of each; or nothing.

    `ended` tells which commits brought an end, `laid` whether a commit is a squash of code that this rests on.
    """
    found: list[str] = []
    for end in state.folded(state.id).legal(state.status):
        came = ended(end) if verdict.id in state.fold.seen_by(end) else ()
        codes = zip(came, codes_of(state, came), strict=True) if came else ()
        others = [commit for commit, code in codes if not shows(state, verdict, code)]
        if not came or (others and not (laid and all(laid(one, _trees(state, verdict)) for one in others))):
            return []
        found += came
    return found


def _trees(state: RunState, verdict: Event) -> tuple[str, ...]:
    """Return the trees of all code that sound evidence of a pass saw."""
    told = [trust.seen_by(one) for one, _ in _shown(state, verdict.evidence)]
    trees = sorted({seen["tree"] for seen in told if "tree" in seen})
    return tuple(tree for tree in trees if shows(state, verdict, lambda _, tree=tree: {"tree": tree}))  # type: ignore[misc]


def _is_wide(scope: str, evidence: Evidence) -> bool:
    """Tell whether evidence shows enough of the code for a gate: of a run all of it, and not some paths alone."""
    return kind_of(scope) == "task" or "paths" not in trust.seen_by(evidence)


def _shown(state: RunState, refs: Iterable[str]) -> Iterator[tuple[Evidence, Cited]]:
    """Yield what is cited and shows something of the code: approvals do not."""
    for cited in (state.cited(parse_ref(ref)) for ref in refs):
        if cited.evidence is not None and cited.evidence.kind != "approval":
            yield cited.evidence, cited


def falls(state: RunState, codes: Iterable[Code] = (), *, ended: bool | None = None) -> Iterator[Fall]:
    """Yield the gates of a run, and of its tasks, whose pass or waiver does not hold, by some codes as they are now.

    Where policy neither requires nor guards a gate, it holds nothing up that more came: the same hand would pass it.
    In a run that has `ended`, as in `outlived`, what a pass rests on is asked of the gates that the run needs.
    """
    from memento_git.work.gates import gate_staleness

    codes, ended = tuple(codes), state.is_final if ended is None else ended
    for scope, gate, told in _given(state):
        required = gates.is_required(state, scope, gate)
        amiss = unsound(state, scope, gate, codes) if required or not ended else ""
        amiss = amiss or ("" if ended else _not_theirs(state, scope, gate))
        if why := amiss or gate_staleness.outlived(state, scope, gate, ended=ended):
            yield Fall(scope, gate, f"{told}, but {why}", bool(amiss) or gates.is_needed(state, scope, gate))


def by_others(state: RunState) -> Iterator[str]:
    """Yield the gates of a run, and of its tasks, that hold by the word of somebody who may not give it by now."""
    for scope, gate, told in _given(state):
        if why := _not_theirs(state, scope, gate):
            yield f"gate {gate} {told}, but {why}"


def _given(state: RunState) -> Iterator[tuple[str, str, str]]:
    """Yield scope and name of the gates of a run, and of its tasks, that passed or were waived, and that in words."""
    for scope in (state.id, *state.counting()):
        for gate, word in state.gates(scope).items():
            if word in PASSING:
                yield scope, gate, f"{'' if scope == state.id else f'of {scope} '}{TOLD[word]}"


def _not_theirs(state: RunState, scope: str, gate: str) -> Objection:
    """Return that a pass or waiver is by one who may not give it by now, or nothing."""
    return next((why for _, why in gates.not_theirs(state, scope, gate)), "")


def codes_of(state: RunState, commits: Sequence[str] = ()) -> list[Code]:
    """Return what tells the code of each of some commits, or of those that are read, with the ids of some paths."""
    return [cache(partial(codestate.code_at, state.view.git, commit)) for commit in commits or state.view.commits]


def release_fallen(state: RunState) -> Objection:
    """Return why the pass or waiver of the run's release does not hold, whatever the code; or nothing."""
    from memento_git.work.gates import gate_staleness

    return unsound(state, state.id, "release") or gate_staleness.outlived(state, state.id, "release")


def unsound(state: RunState, scope: str, gate: str, codes: Sequence[Code] = ()) -> Objection:
    """Return why what a gate has passed on does not stand, by some codes as they are now; or nothing."""
    for event in gates.passes(state, scope, gate):
        if why := gates.first_fault(state, scope, event.evidence):
            return why
        if gate in state.policy.gates_fresh and not all(shows(state, event, code) for code in codes):
            return "nothing that it rests on saw the code of this commit"
    return ""


def unsigned(
    state: RunState, scopes: Sequence[str], but: Sequence[str] = (), runners: Runners | None = None,
    opened: Event | None = None,
) -> list[str]:  # fmt: skip
    """Return what holds and lacks the signature that policy demands, by the view's own keys or those of `runners`.

    Where that does not hold any more, it is what a dispatch had seen as it was `opened`.
    """
    if not state.policy.must_be_signed:
        return []
    from memento_git.work.attest import signatures

    verifier = runners.verifier if runners else None
    return signatures.missing(state, scopes, but=but, verifier=verifier, opened=opened)


def signed_as(state: RunState, event: Event, actor: str) -> bool:
    """Tell whether the key that signed an event, if one did, may sign it as an actor, too, whoever it says it is by."""
    if "signature" not in event.data:
        return False
    from memento_git.work.attest import signatures

    return signatures.signs_as(state, event, actor)


def left_failed(state: RunState, task: str) -> list[tuple[str, str]]:
    """Return (task, gate) of each failure that a repair is held up by: not everybody may lift it on anything.

    It went with the task that the repair took the place of, and neither that nor a repair since has passed the gate.
    """
    found, lifted = [], set[str]()
    repaired = proofs.repaired(state, task)
    for name in (task, *repaired) if repaired else ():
        is_gone = name != task and state.task_status(name) == "cancelled"
        lifted |= {gate for gate in state.gates(name) if _lifts(state, name, gate)}
        failed = [gate for _, gate in state.failed_gates(name) if is_gone and gates.is_guarded(state.policy, gate)]
        found += [(name, gate) for gate in failed if gate not in lifted]
    return found


def _lifts(state: RunState, task: str, gate: str) -> bool:
    """Tell whether a task of a chain of repairs was judged by its work, so that this lifts failures before it."""
    from memento_git.work.gates import gate_staleness

    verdicts = gates.given(state, task, gate)
    if not verdicts or gate_staleness.outlived(state, task, gate):
        return False
    return state.task_status(task) != "cancelled" or all(gate_staleness.saw_work(state, event) for event in verdicts)


def is_done_with(state: RunState, scope: str, gate: str) -> bool:
    """Tell whether nothing rests on a gate: its task was cancelled, and it lifts no failure of what is repaired."""
    if scope == state.id or state.task_status(scope) != "cancelled":
        return False
    return scope not in proofs.replaced(state) or not _lifts(state, scope, gate)
