"""What is wrong with one run: the fold, the links between its records, what policy asks of what is settled."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, tee
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.ledger import layout
from memento_git.model.enumeration import some
from memento_git.model.finding import WHOLE, Finding, leaving_out
from memento_git.model.ids import kind_of
from memento_git.model.states import DONE, FINAL_TASK
from memento_git.model.work import Event, Prose
from memento_git.review import citations, evasions, folds, last_readable, signed, verdicts, voided_dependencies
from memento_git.work import remedies
from memento_git.work.dispatch import terms
from memento_git.work.gates import gates
from memento_git.work.proof import proofs
from memento_git.work.proof.verification import applies, asks_less, proves_less, show_lines

if TYPE_CHECKING:
    from memento_git.model.policy import Policy
    from memento_git.review.citations import Shown
    from memento_git.review.scope import Scope
    from memento_git.work.state import RunState

WORD: Final = re.compile(r"\w{4,}")
ENDING: Final = ("completed", "accepted", "settled", "voided")
MOVING: Final = (
    "C001", "G001", "G002", "G003", "G004", "K001", "L001", "P001", "P003", "P004", "P006", "P007", "P008", "T003",
    "T006",
)  # fmt: skip


def check_run(state: RunState, scope: Scope) -> list[Finding]:
    """Return what is wrong with a run, or with some of its records; what its files say comes from the view."""
    groups = [key for key in state.groups() if scope.groups is None or key in scope.groups]
    passes = citations.passing_now(state, scope)
    found = [one for key in groups for one in folds.disagreements(state, key)]
    found += _circles(state) if scope.groups is None else ()
    for key in groups:
        found += _texts(state, key)
        if kind_of(key) == "task":
            found += _task(state, key, scope, passes)
        elif kind_of(key) == "evidence":
            found += citations.check_evidence(state, key, scope)
    for key in groups:
        for event, within in voided_dependencies.judged(state, key, scope):
            found += folds.dated(state, event)
            found += citations.check_event(state, event)
            found += verdicts.check_event(state, event, within)
            found += evasions.check_event(state, event, within)
            found += signed.handed_out(state, event, within) if event.do == "dispatched" else ()
    if state.id in groups:
        found += verdicts.check_run(state, scope)
        ends = [*state.completions(state.id), *gates.given(state, state.id, "release")]
        found += _relied_on(state, scope) if any(event.id in scope.added for event in ends) else ()
    return _mendable(state, found, scope)


def relied_on(state: RunState, scope: Scope) -> list[Finding]:
    """Return what is stale of the work of a run, as its completion or its release relies on it."""
    return _mendable(state, _relied_on(state, scope), scope)


def _mendable(state: RunState, found: Iterable[Finding], scope: Scope) -> list[Finding]:
    """Return the findings of a run with fixes that work there: of a final run no record is moved any more."""
    return [_settled(state, one, scope) if state.is_final else one for one in found]


def _settled(state: RunState, finding: Finding, scope: Scope) -> Finding:
    """Return a finding of a final run with a fix that moves nothing."""
    if finding.code not in MOVING:
        return finding
    if finding.severity == "warning" or not scope.added:
        told = f"it stays as it is, for {state.id} is {state.status}; do what is missing in a further run"
        return finding._replace(fix=f"{told}: memento run start --goal TEXT")
    ends = state.folded(state.id).legal(state.status)
    path = next((event.path for event in ends if event.id in scope.added), finding.path)
    told = (
        f"{finding.fix}; or " if finding.code == "P004" and finding.fix else f"{state.id} is {state.status} for good; "
    )
    return finding._replace(fix=f"{told}{leaving_out(state.view.place_of(state.id, path))}")


def _relied_on(state: RunState, scope: Scope) -> Iterator[Finding]:
    """Yield what is stale of the work of a run that the branch completes or releases, whoever did that work when."""
    if scope.code is None:
        return
    passes = citations.passing_now(state, scope._replace(groups=None))
    for task in state.counting():
        ends, proof = state.ends(task), state.proof(task)
        if state.task_status(task) in DONE and proof.proven:
            is_new = any(event.id in scope.added for event in ends)
            yield from citations.stale(state, ends, proof.by, scope, passes, is_new=is_new)
    if gates.words(state).get("release") == "passed" and gates.release_asks(state.policy):
        yield from _checks_of_others(state)


def _checks_of_others(state: RunState) -> Iterator[Finding]:
    """Yield the checks of other code that a release rests on; a merge result has other code, too."""
    from memento_git.work.gates import release, release_facts

    for name in release.stale(release_facts.held(state), release_facts.asked(state.policy)):
        message = f"{name}, which the release of {state.id} rests on, is of other code than this commit's"
        fix = f"bring what the check says of this code, then memento gate release --run {state.id}"
        yield Finding("C001", state.index.evidence[name], 0, message, fix, "warning")


def _circles(state: RunState) -> Iterator[Finding]:
    from memento_git.work.rows import cycle_rows

    for row in cycle_rows(state):
        path = state.index.prose[row["record"]]
        message = f"{row['record']} is in a cycle: {row['about']}"
        yield Finding("T003", path, 0, message, _freeing(row["record"]))


def circles_through(state: RunState, tasks: Collection[str]) -> Iterator[Finding]:
    """Yield the circles that lead through some tasks, without reading any task that they do not lead to."""
    graph: dict[str, list[str]] = {}
    waiting = list(tasks)
    while waiting:
        task = waiting.pop()
        found = state.text(task)
        if task not in graph and found and state.task_status(task) not in FINAL_TASK:
            graph[task] = found.list("depends_on")
            waiting += graph[task]
    if not graph:
        return
    from memento_git.work.cycles import cycles

    for circle in cycles(graph):
        message = f"{circle[0]} is in a cycle: each waits for the next: {' -> '.join([*circle, circle[0]])}"
        yield Finding("T003", state.index.prose[circle[0]], 0, message, _freeing(circle[0]))


def _freeing(task: str) -> str:
    """Return the fix of a task that waits for what cannot come."""
    told = "let it wait for none, or give --depends-on TASK for each that stays"
    return f"{told}: memento task revise {task} --no-dependencies"


def _texts(state: RunState, key: str) -> Iterator[Finding]:
    """Read the texts of a group, its drafts too; yield the records that have events and no file of their own."""
    index = state.index
    for name in state.records(key):
        if held := index.prose.get(name) or index.evidence.get(name):
            state.view.record(held)
            continue
        if name not in index.events_of or state.folded(name).lanes.word("status", "") == "redacted":
            continue
        path = (layout.evidence_path if kind_of(name) == "evidence" else layout.prose_path)(state.id, name)
        yield Finding("F007", path, 0, f"{name} has events, but its file is missing", WHOLE)


def _task(state: RunState, task: str, scope: Scope, passes: Shown) -> Iterator[Finding]:
    found = state.text(task)
    if found is None:
        return
    for other in found.list("depends_on"):
        if other not in state.index.prose:
            message = f"{task} depends on {other}, which is not in this run"
            yield Finding("L001", found.path, 0, message, _freeing(task))
    repaired = found.data.get("repairs")
    if repaired and repaired not in state.index.prose:
        yield Finding("L004", found.path, 0, f"{task} repairs {repaired}, which is not in this run", "restore it")
    for old in repaired_by(state, found) if state.task_status(task) != "cancelled" else ():
        if state.task_status(old.id) not in DONE:
            yield from _repair(state, found, old, scope)
    if state.is_late(task):
        message = f"{task}, or what happened to it, came after the run was completed"
        yield Finding("T005", found.path, 0, message, f"memento task show {task}", "warning")
    if state.task_status(task) in DONE:
        yield from _done(state, found, scope, passes)


def repaired_by(state: RunState, task: Prose) -> list[Prose]:
    """Return the tasks whose place a repair takes, as far as they can be read."""
    return [text for name in proofs.repaired(state, task.id) if (text := state.text(name))]


def waited_for(state: RunState, task: Prose) -> set[str]:
    """Return what a task waits for, and what was rejected that this takes the place of."""
    own = task.list("depends_on")
    repaired = (old for name in own for old in proofs.repaired(state, name))
    return {*own, *(old for old in repaired if any(terms.of_rejected(state, old)))}


def _repair(state: RunState, task: Prose, old: Prose, scope: Scope) -> Iterator[Finding]:
    """Yield what a repair asks less than a task that it repairs, or that this one asks something else by now.

    Where only words are others, people have to read them: it is told, and no more.
    """
    grave = scope.severity(*(event.id for event in state.ends(task.id)))
    gone = _forgotten(state, task, old, scope)
    if gone.did:
        message = f"{task.id} repairs {old.id}, and neither {gone.what} any more what that did when it was {gone}"
        fix = f"put back what {old.id} asked then, or ask it in {task.id}, which may ask more"
        fix = fix if gone.is_grave else f"look whether {task.id} asks all of it: git log -p -- {old.path}"
        yield Finding("P005", task.path, 0, message, fix, grave if gone.is_grave else "warning")
    if less := asks_less(old.data, task.data, state.policy):
        proves = proves_less(old.data, task.data, state.policy) or terms.criteria(task) < terms.criteria(old)
        message = f"{task.id} repairs {old.id}, and asks less: {some(less, 3, '; ')}"
        moved = [key for key in ("kind", "risk", "files") if old.data.get(key) != task.data.get(key)]
        fix = f"put back what {old.id} asks" + (f", and its {', '.join(moved)}" if moved else "")
        yield Finding("P005", task.path, 0, message, fix, grave if proves else "warning")
    kept = waited_for(state, task)
    lost = [name for name in old.list("depends_on") if name not in kept and not is_over(state, name, scope)]
    if lost:
        message = f"{task.id} repairs {old.id}, and does not wait for {some(lost, 3, '; ')}, as that did"
        fix = f"name each task that it has to wait for: memento task revise {task.id} --depends-on TASK"
        yield Finding("P005", task.path, 0, message, fix, "warning")
    if (said := _words(old)) and not said & _words(task):
        message = f"{task.id} repairs {old.id}, and has no word of it: {old.title[:60]!r}"
        yield Finding("P005", task.path, 0, message, f"look whether it does: memento task show {old.id}", "warning")


def is_over(state: RunState, task: str, scope: Scope) -> bool:
    """Tell whether nobody waits for a task any more: it counts as done, or was cancelled before what is judged."""
    cancelled = [seen.event.id for seen in state.folded(task).events if seen.event.do == "cancelled"]
    is_left = state.task_status(task) == "cancelled" and not any(name in scope.added for name in cancelled)
    return is_left or state.is_done(task)


def _words(task: Prose) -> set[str]:
    """Return the words of a task that say what it is about: no short ones, nor what was unmet of another one."""
    criteria = (line for line in task.list("criteria") if not line.startswith(terms.UNMET))
    return {*WORD.findall("\n".join([task.title, task.body, *criteria]).casefold())}


def _outgrown(state: RunState, task: Prose, scope: Scope) -> Iterator[Finding]:
    """Yield that a done task asks less than when it was rejected, or less proof than when it was handed out once."""
    gone = _forgotten(state, task, task, scope)
    if gone.did:
        message = f"{task.id} is done, and {gone.what} no more what it did when it was {gone}"
        fix = f"look whether it asks all of it: git log -p -- {task.path}"
        yield Finding("P005", task.path, 0, message, fix, "warning")


class Gone(NamedTuple):
    """When a task asked what is not asked any more, and which words alone; grave if it was proof, and rejected."""

    did: str = ""
    words: Sequence[str] = ()
    is_grave: bool = False

    @property
    def what(self) -> str:
        return "says" if self.words else "asks"

    def __str__(self) -> str:
        return self.did + (f": {', '.join(self.words)}" if self.words else "")


def _forgotten(state: RunState, task: Prose, old: Prose, scope: Scope) -> Gone:
    """Return what a task asked, and neither it nor its repair asks now: when it was rejected, and then handed out.

    Of other dispatches it is what proof they asked, where a branch is judged: between two of them words are bettered
    all the time. What the base's text asked less is `D007`.
    """
    was = scope.was(state.id, old.id) if scope.was else None
    kept = [*filter(None, (old, task, was))]
    known, texts = {*chain(*map(terms.asks, kept))}, last_readable.texts(state.view, old.path)
    rejected = [*terms.of_rejected(state, old.id)]
    others = [one for one in terms.handed_out(state, old.id) if one not in rejected] if scope.added else []
    worded = Gone()
    for event, counts in (*((one, True) for one in rejected), *((one, False) for one in others)):
        texts, seen = tee(texts)  # what one event had git tell, the next one need not ask
        text = terms.text_of(event, chain(kept, seen))
        did = "rejected" if event.do == "rejected" else "handed out"
        if _proved_more(event, text, kept, state.policy):
            return Gone(did, (), counts)
        asked = terms.asked(event, text)
        if counts and (lost := asked.lost(known)):
            worded = Gone(did, lost)
        elif counts and not any(asked.is_said(one, text) for one in kept):
            worded = Gone(did, ["text"])
    return worded


def _proved_more(event: Event, text: Prose | None, kept: Sequence[Prose], policy: Policy) -> bool:
    """Tell whether an event asked proof, or as many criteria, as some texts do not together, by the text that it is of.

    Where nobody knows that one, its digests tell. What policy asked of another kind, risk or files is not known then.
    """
    if text is not None:
        new, *others = (one.data for one in kept)
        fewer = all(terms.criteria(one) < terms.criteria(text) for one in kept)
        return fewer or bool(proves_less(text.data, new, policy, *others))
    asked, now = terms.asked(event, None), [terms.asks(one) for one in kept]
    whens = [entry["when"] for entry in policy.verify if entry.get("when")]
    is_less = not any(all(applies(when, one.data) for when in whens) for one in kept)
    is_unknown = not asked.about and event.do == "rejected" and "terms" in event.data
    is_other = bool(asked.about) and is_less and asked.about not in [one[0] for one in now]
    return is_unknown or is_other or not {*asked.proof} <= {*chain(*now)}


def _proving(state: RunState, task: str, after: str) -> str:
    """Return how a task that is shown as done becomes proven."""
    if agreeing := proofs.not_agreed(state)[1]:
        return agreeing
    if after and not state.failed_gates(task):
        return f"it can be proven as it was done: {', then '.join(remedies.mending(task, after, state.id))}"
    from memento_git.work.rows import asked_row

    lines = show_lines(task, asked_row(state, task, state.asked(task)))
    return f"run what is asked, then reopen and complete it with that: {', '.join(lines)}"


def _done(state: RunState, task: Prose, scope: Scope, passes: Shown) -> Iterator[Finding]:
    """Yield what a task that is shown as done lacks."""
    ends = state.ends(task.id)
    path = ends[0].path if ends else task.path
    ended = [seen.event for seen in state.folded(task.id).events if seen.event.do in ENDING]
    moves = [*ends, *state.choices(task.id)] if ends else ended
    severity = scope.severity(*(event.id for event in moves))
    proof = state.proof(task.id)
    if not proof.proven:
        message = f"{task.id} is {state.task_status(task.id)}, but not proven: {'; '.join(proof.why)}"
        yield Finding("P001", path, 0, message, _proving(state, task.id, proof.after), severity)
    elif scope.code is not None and severity == "error":
        yield from citations.stale(state, ends, proof.by, scope, passes)
    if severity == "error":
        yield from _outgrown(state, task, scope)
        yield from evasions.own_word(state, task.id, ends)
    for other in state.waits_on(task.id):
        if other in state.index.prose:
            severity = scope.severity(*(event.id for event in ends), *state.index.events_of.get(other, ()))
            message = f"{task.id} is done, but {other}, which it depends on, is not done and proven"
            is_gone = state.task_status(other) == "cancelled"
            fix = proofs.freeing(state, task.id) if is_gone else f"memento task show {other}"
            yield Finding("T006", path, 0, message, fix, severity)
    yield from evasions.failed_gates(state, task, ends, scope)
    yield from signed.done(state, task.id, ends, scope)
