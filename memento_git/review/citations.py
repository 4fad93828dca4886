"""What is wrong with evidence, and with how other records name it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import layout
from memento_git.model.enumeration import grouped
from memento_git.model.finding import WHOLE, Finding, Lost
from memento_git.model.ids import Ref, kind_of, parse_ref
from memento_git.model.states import DONE
from memento_git.review import folds
from memento_git.review.misplaced import misplaced
from memento_git.work import codestate
from memento_git.work.gates import gates
from memento_git.work.proof import trust, untracked_files
from memento_git.work.proof.failures import failing
from memento_git.work.proof.staleness import Passes
from memento_git.work.proof.verification import again_line, told_as
from memento_git.work.remedies import passing

if TYPE_CHECKING:
    from memento_git.model.policy import Policy
    from memento_git.model.work import Event, Evidence
    from memento_git.review.scope import Scope
    from memento_git.work.proof.verification import Command
    from memento_git.work.state import RunState

    Shown = Passes[tuple[Evidence, str]]

RESTORE: Final = "restore what it names"
NAMED: Final = ("dispatch", "recovery_of", "plan", "successor")


def check_evidence(state: RunState, identity: str, scope: Scope) -> Iterator[Finding]:
    """Yield what is wrong with one piece of evidence as it stands."""
    evidence = state.evidence(identity)
    if evidence is None:
        return
    for task in evidence.tasks:
        if task not in state.index.prose:
            yield _nowhere(evidence.path, f"{identity} is for {task}", misplaced(state.view, task) or RESTORE)
    for key in ("approves", "dispatch"):
        if (named := evidence.data.get(key)) and not _is_known(state, named):
            yield _nowhere(evidence.path, f"{identity} names {named}")
    until = "; until then it proves nothing"
    yield from folds.not_yet(evidence.path, identity, evidence.data["at"], state.view.now, until)
    shown = trust.outcome_of(evidence.data)
    if evidence.data["outcome"] != shown and state.evidence_status(identity) == "recorded":
        did = "what the command did" if "command" in evidence.data else "what it says"
        message = f"{identity} says {evidence.data['outcome']}, which disagrees with {did}"
        fix = f"memento evidence retract {identity} --reason WHY"
        yield Finding("V002", evidence.path, 0, message, fix)
    yield from _kept(state, evidence)
    yield from _of_commits(state, evidence, scope)
    yield from _sizes(evidence, state.policy)


def _is_known(state: RunState, identity: str) -> bool:
    return state.view.holds(state.id, identity, kind_of(identity))


def _nowhere(path: str, told: str, fix: str = RESTORE) -> Finding:
    return Finding("L004", path, 0, f"{told}, which is not in this run", fix)


def _kept(state: RunState, evidence: Evidence) -> Iterator[Finding]:
    """Yield the kept files that are not what evidence says of them."""
    for name, digest in kept_files(evidence.data):
        path = f"{layout.folder_of(state.id, evidence.id)}/{name}"
        held = state.view.sha256(path)
        if held != digest:
            told = "has other bytes than it recorded" if held else "is missing"
            yield Finding("V001", path, 0, f"{name} of {evidence.id} {told}", WHOLE, lost=Lost(path, digest))


def _of_commits(state: RunState, evidence: Evidence, scope: Scope) -> Iterator[Finding]:
    """Yield what evidence says of commits that are here, and is not so; of diffs only where there is a base."""
    git, data, fix = state.view.git, evidence.data, f"memento evidence retract {evidence.id} --reason WHY"
    if (told := data.get("diff")) and scope.before is not None:
        from memento_git.work import codediff

        held = codediff.known(git, told)
        untrue = codediff.untrue(told, held) if held else ""
        if held and (why := untrue or codediff.miscounted(told, held)):
            message = f"{evidence.id} shows {told['base'][:12]}..{told['tip'][:12]}, but {why}"
            yield Finding("V002", evidence.path, 0, message, fix, "error" if untrue else "warning")
    check = data.get("check") or {}
    if (
        check
        and git.commit(check["commit"])
        and not _is_of(data.get("code") or {}, codestate.tree_at(git, check["commit"]))
    ):
        message = f"{evidence.id} is a check of commit {check['commit'][:12]}, but names other code than that has"
        yield Finding("V002", evidence.path, 0, message, fix)


def _is_of(code: Mapping[str, Any], tree: str) -> bool:
    """Tell whether code is all of a commit's, and nothing else."""
    return not code.get("paths") and {code.get("tree"), code.get("full")} - {None} <= {tree}


def kept_files(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and SHA-256 of each file that evidence keeps beside it."""
    streams = [data["command"][name] for name in ("stdout", "stderr")] if "command" in data else []
    found = [(one["kept"], one.get("kept_sha256", "")) for one in streams if "kept" in one]
    return found + [(one["kept"], one["sha256"]) for one in data.get("attachments") or () if "kept" in one]


def _sizes(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    most = 2 * max(policy.attach, policy.output)
    told = [one["bytes"] for one in evidence.data.get("attachments") or () if "kept" in one]
    if any(size > most for size in told):
        message = f"{evidence.id} keeps {max(told)} bytes, and policy attaches up to {policy.attach}"
        yield Finding("F011", evidence.path, 0, message, "keep its digest instead", "warning")


def check_event(state: RunState, event: Event) -> Iterator[Finding]:
    """Yield the references of an event that lead nowhere."""
    for ref in event.evidence:
        name, digest = parse_ref(ref)
        found = state.evidence(name)
        if (found is None or found.digest != digest) and state.evidence_status(name) == "redacted":
            continue
        if found is None:
            message = f"{event.of} cites {ref}, which is missing"
            yield Finding(
                "L002", event.path, 0, message, WHOLE, lost=Lost(layout.evidence_path(state.id, name), digest)
            )
        elif found.digest != digest:
            message = f"{event.of} cites {ref}, whose bytes are others now"
            yield Finding("L003", event.path, 0, message, WHOLE, lost=Lost(found.path, digest))
    for named in filter(None, map(event.get, NAMED)):
        if not _is_known(state, named) and state.evidence_status(named) != "redacted":
            yield _nowhere(event.path, f"{event.id} names {named}")
    yield from _open_gone(state, event)


def _open_gone(state: RunState, event: Event) -> Iterator[Finding]:
    """Yield the tasks that a verdict which counts names as open and that are not in the run."""
    named, gate = event.data.get("open"), event.get("gate")
    gone = {*named}.difference(state.tasks()) if named else ()
    if gone and any(event.id == one.id for one in gates.given(state, event.of, gate)):
        fix = f"bring its commits, too, or judge again: {passing(state.policy.gates_fresh, gate, event.of)}"
        yield from (_nowhere(event.path, f"{event.id} names {task} as open", fix) for task in sorted(gone))


def passing_now(state: RunState, scope: Scope) -> Shown:
    """Return what passes for the code as it is, each with its task, of the done tasks that are looked at in a run."""
    return Passes(state.view, lambda: _passing_now(state, scope))


def _passing_now(state: RunState, scope: Scope) -> Mapping[tuple[str, ...], Sequence[tuple[Evidence, str]]]:
    if scope.code is None:
        return {}
    from memento_git.work.evidence_rows import evidence_row

    names = state.counting() if scope.groups is None else scope.groups
    done = (name for name in names if kind_of(name) == "task" and state.task_status(name) in DONE)
    pieces = ((one, task) for task in done for one in state.pieces(state.proof(task).by))
    held = [
        (one, task)
        for one, task in pieces
        if "command" in one.data and "paths" not in trust.seen_by(one) and trust.saw(one, scope.code)
    ]
    runs = (one for one in state.pieces(state.index.evidence if held else ()) if "command" in one.data)
    failed = failing((evidence_row(state, one) for one in runs if trust.saw(one, scope.code)), state.view.now)
    return grouped((key, (one, task)) for one, task in held if (key := _seen(one)[0]) not in failed)


def _seen(evidence: Evidence) -> tuple[tuple[str, ...], str]:
    """Return the kind, folder and words by which two pieces of evidence are of one command, and the tree it saw."""
    command = evidence.data.get("command", {"cwd": "", "argv": ()})
    return (evidence.kind, command["cwd"], *command["argv"]), str(trust.seen_by(evidence).get("tree"))


def stale(
    state: RunState, ends: Sequence[Event], proof: Sequence[str], scope: Scope, passes: Shown, *, is_new: bool = True
) -> Iterator[Finding]:
    """Yield each command of a task's proof, or that is asked of it, that has no pass for the code as it is.

    A pass that proves a later task will do. So it is told of what `is_new` and about paths alone that nobody changed,
    or saw files that nobody committed: a later pass has not seen these either.
    """
    if scope.code is None:
        return
    task = ends[0].of
    found = grouped((_seen(one)[0], one) for one in state.pieces(proof) if "code" in one.data)
    asked = state.asked(task).commands
    named: list[Evidence] = []
    for alike in found.values():
        own = _strong(state, [(one, task) for one in alike if trust.saw(one, scope.code)], task, scope)
        fresh = own or _strong(state, passes.since([*map(_seen, alike)]), task, scope)
        told = "is of other code than this commit's" if not fresh else ""
        if is_new and fresh and all(_is_beside(one, scope) for one in fresh):
            paths = ", ".join(sorted(trust.seen_by(fresh[0])["paths"]))
            told = f"covers {paths} alone, which the branch does not change"
        if told:
            named.append((fresh or alike)[0])
            fix = _proving_anew(task, None if any(trust.is_of(named[-1], one) for one in asked) else named[-1])
            yield Finding("C001", named[-1].path, 0, f"{named[-1].id}, which proves {task}, {told}", fix, "warning")
        yield from _forgotten(state, task, own or ([] if is_new else fresh) or alike)
    for command in _not_passed(state, ends, scope, passes):
        if not any(trust.is_of(one, command) for one in named):
            message = f"{told_as(command)}, which is asked of {task}, has no pass for this commit's code"
            fix = _proving_anew(task)
            yield Finding("C001", ends[0].path, 0, message, fix, "warning")


def _forgotten(state: RunState, task: str, alike: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield the untracked files that each of some evidence saw, and that the commit does not have."""
    git, commit = state.view.git, state.view.commits[0]
    codes = [trust.seen_by(one) for one in alike]
    told = [
        untracked_files.forgotten(git, commit, {} if "paths" in code else code.get("untracked", {}), code.get("tree"))
        for code in codes
    ]
    if all(told):
        one, names = alike[-1], told[-1]
        message = f"{one.id}, which proves {task}, saw {names}, which this commit does not have"
        anew = f"; or complete it on a run without that: memento task reopen {task} --reason WHY"
        fix = f"commit what is needed{'' if state.is_final else anew}"
        yield Finding("C007", one.path, 0, message, fix, "warning")


def _proving_anew(task: str, stale: Evidence | None = None) -> str:
    """Return how a done task is proven for the code as it is: a verdict runs what is asked, and takes what was run."""
    if stale is None:
        return f"run what is asked: memento task verify {task}"
    if "command" in stale.data:
        return f"run it again: {again_line(task, stale.data)}; and let that count: memento task verify {task}"
    return f"reopen it, and complete it on a new run of the command: memento task reopen {task} --reason WHY"


def _strong(state: RunState, held: Iterable[tuple[Evidence, str]], task: str, scope: Scope) -> list[Evidence]:
    """Return what would do for a task and the code as it is: a second run of it may have been on other code."""
    code, proof = scope.code(()) if scope.code else {}, state.asked(task).proof
    cited = [trust.trusted(state.cited(Ref(one.id, one.digest), of), [code]) for one, of in held]
    return [one.evidence for one in cited if one.evidence and not trust.weakness(one.evidence, one.trust, proof)]


def _not_passed(state: RunState, ends: Sequence[Event], scope: Scope, passes: Shown) -> Iterator[Command]:
    """Yield the commands that are asked of a task and that nothing which is cited passed for the code as it is."""
    asked, codes = state.asked(ends[0].of), [scope.code(()) if scope.code else {}]
    cited = [state.cited(parse_ref(ref), end.of) for end in ends for ref in end.evidence]
    if asked.commands:
        held = [one.evidence for one in cited if one.evidence and "code" in one.evidence.data]
        later = passes.since([*map(_seen, held)])
        cited += [state.cited(Ref(one.id, one.digest), task) for one, task in later]
    for command in asked.commands:
        if not any(trust.meets(one, command, asked.trust, codes) for one in cited):
            yield command


def _is_beside(evidence: Evidence, scope: Scope) -> bool:
    """Tell whether evidence is about some paths alone, and the code changed since the base, but for these."""
    paths = sorted(trust.seen_by(evidence).get("paths", ()))
    if not paths or scope.before is None or scope.code is None:
        return False
    before, now = scope.before(paths), scope.code(paths)
    return bool(before["tree"] != now["tree"] and before["paths"] == now["paths"])
