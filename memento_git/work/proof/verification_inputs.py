"""What the ledger knows that bears on the verification of a task: its own evidence, and what past work adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.ledger import layout
from memento_git.model.ids import Ref, kind_of
from memento_git.model.work import SNAPSHOT, Event, Evidence
from memento_git.work.gates import approvals
from memento_git.work.loading import load
from memento_git.work.proof import codes, enrichment, proofs, trust, verdict
from memento_git.work.proof.verification import Demand, Source, again_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memento_git.work.proof.trust import Cited
    from memento_git.work.state import RunState


def evidence_for(state: RunState, task: str) -> list[Cited]:
    """Return the evidence that is recorded for a task, or says yes to it, as a completion would cite it now."""
    load(state)
    names = [name for name, data in _loaded(state, state.index.evidence) if _is_for(state, task, data)]
    return [state.cited(Ref(one.id, one.digest)) for one in state.pieces(names)]


def _loaded(state: RunState, paths: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what the files of a run that is loaded say, with the id of each, where they can be read."""
    decoded = state.view.decoded
    return ((name, decoded[path].data) for name, path in paths.items() if path in decoded)


def _is_for(state: RunState, task: str, data: Mapping[str, Any]) -> bool:
    """Tell whether evidence names a task, or is an approval of its evidence, of its run, or of a diff of that."""
    if task in (data.get("for") or ()):
        return True
    if "approves" not in data or data.get("outcome") != "passed":
        return False
    return bool({task, state.id} & {*approvals.scopes(state, str(data["approves"]))})


def beside(state: RunState, completion: Event) -> list[Cited]:
    """Return the latest evidence of a task for the code on which it was completed."""
    return verdict.latest(evidence_for(state, completion.of), [codes.sober(completion.data["code"])])


def failed_beside(state: RunState, completion: Event) -> list[str]:
    """Return the evidence for which verification will reject a task that was completed."""
    kinds = {one.kind for one in state.pieces(state.proof_of(completion).by)}
    return [one.id for one, _ in verdict.against(beside(state, completion), state.asked(completion.of), kinds)]


def not_renewed(state: RunState, task: str, code: Mapping[str, Any]) -> list[Evidence]:
    """Return what proves a task, saw other code than this, and is neither asked nor passed for this code by now."""
    now = verdict.sound(verdict.latest(evidence_for(state, task), [code]), task)
    again, wanted = {verdict.source_of(one.evidence) for one in now if one.evidence}, state.asked(task).commands
    return [
        one for one in state.pieces(state.proof(task).by)
        if (saw := trust.seen_by(one)) and not codes.agree(saw, code) and verdict.source_of(one) not in again
        and not any(trust.is_of(one, command) for command in wanted)
    ]  # fmt: skip


def renewing(state: RunState, task: str, code: Mapping[str, Any]) -> str:
    """Return what goes on with a task whose proof saw other code than this: the rest run again, then its verdict.

    It is nothing where no command shows what proves the task.
    """
    left = [one.data for one in not_renewed(state, task, code)]
    if any("command" not in data for data in left):
        return ""
    return again_line(task, left[0]) if left else f"memento task verify {task}"


def asked(state: RunState, task: str) -> Demand:
    """Return what policy, the canonical plan and the task ask of what proves a task, and what past work adds."""
    return proofs.asked_of(state, task, _enriched(state, task))


def _enriched(state: RunState, task: str) -> list[Source]:
    """Return what past failures and the code's graph add for a task; nothing where policy does without."""
    files = proofs.front_matter(state, task).get("files") or []
    if not state.policy.enrich or not files:
        return []
    states = [state, *_others(state)]
    for other in states:
        load(other)
    commands = [command for entry in state.policy.verify for command in entry.get("commands") or ()]
    commands += [command for other in states for command in _named_in(other)]
    runs = [run for other in states for run in _runs(other, files)]
    return [*enrichment.from_failures(runs, commands), *_graph(state, files)]


def _others(state: RunState) -> Iterator[RunState]:
    """Yield the other runs that are under way; in a completed one every task was proven."""
    from memento_git.work.state import RunState

    for run in state.view.runs():
        if run != state.id and not (other := RunState(state.view, run, policy=state.policy)).is_final:
            yield other


def _named_in(state: RunState) -> Iterator[Mapping[str, Any]]:
    """Yield the commands that the canonical plan and the tasks of a run name."""
    yield from (proofs.front_matter(state, state.canonical).get("verify") or {}).get("commands") or ()
    for _, told in _tasks(state):
        yield from (told.get("verify") or {}).get("commands") or ()


def _tasks(state: RunState) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((name, told) for name, told in _loaded(state, state.index.prose) if kind_of(name) == "task")


def _runs(state: RunState, files: list[str]) -> Iterator[Evidence]:
    """Yield the commands that were run for tasks about these files; no pass that is dated after now."""
    about = {name for name, told in _tasks(state) if enrichment.overlap(files, told.get("files") or [])}
    for name, data in _loaded(state, state.index.evidence):
        tasks = data.get("for") or () if "command" in data else ()
        if not about.isdisjoint(tasks) and state.evidence_status(name) == "recorded":
            yield from (one for one in state.pieces([name]) if not state.is_early(one))


def _graph(state: RunState, files: list[str]) -> list[Source]:
    """Return what the latest graph of the code in a run adds."""
    told = _loaded(state, state.index.evidence)
    found = sorted((data["at"], name) for name, data in told if data["kind"] == "graph")
    for _, name in reversed(found):
        kept = _kept_graph(state, name)
        if kept and state.evidence_status(name) == "recorded":
            data = state.view.read(f"{layout.folder_of(state.id, name)}/{kept}") or b""
            return enrichment.from_graph(files, name, enrichment.hot_spots(data))
    return []


def _kept_graph(state: RunState, evidence: str) -> str:
    """Return the file that a piece of evidence keeps its graph in, if its bytes are those that were hashed."""
    found = state.evidence(evidence)
    for one in (found.data.get("attachments") or ()) if found else ():
        if one["name"].rpartition("/")[2] == SNAPSHOT and "kept" in one:
            return str(one["kept"]) if state.holds(evidence, one["kept"], one["sha256"]) else ""
    return ""
