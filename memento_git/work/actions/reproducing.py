"""evidence reproduce: recorded commands are run again in clean work trees, and their verdicts are compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.ledger import layout, policyfile, signer
from memento_git.ledger.store import Ledger, NoLedger
from memento_git.model.enumeration import MOST_TEXT
from memento_git.model.finding import Finding
from memento_git.model.ids import Ref, parse_ref
from memento_git.model.markup import one_line
from memento_git.model.states import RUN_KINDS
from memento_git.work.actions import evidences
from memento_git.work.actions.clean_rerun import Rerunner
from memento_git.work.attest.signers import refuse_renamed
from memento_git.work.proof import rerun_comparison as again
from memento_git.work.proof import reruns
from memento_git.work.proof.seen_commits import HEAD, TRACKED, SeenCommits
from memento_git.work.proof.trust import not_seen
from memento_git.work.proof.verification import shown
from memento_git.work.run_writer import RunWriter
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.objection import Objection
    from memento_git.model.work import Event, Evidence
    from memento_git.work.actions.evidences import Draft
    from memento_git.work.actions.verifying import Change
    from memento_git.work.attest.signatures import Sealer

UNFIT: Final = (
    "see policy.reproduce in .memento/config.yaml; what it lists and cannot run here, record anew: memento evidence "
    "run -- CMD"
)
BARE: Final = (
    "a clean worktree lacks what git ignores, such as installed packages or build output, and policy.reproduce.setup "
    "makes nothing of it"
)
LESS: Final = "look which of the two is right; where coverage is not the same each time, it is nothing to go by"
NOTES: Final = {
    HEAD: "at HEAD, for no commit here holds the code that it saw",
    TRACKED: "without the untracked files that it saw",
}


class NothingListed(Refused):
    token = "reproduction_not_allowed"
    sentence = "policy at {where} lists no command that may be run again"
    hint_ = "say it in .memento/config.yaml there, below policy: reproduce: {{commands: [[{word}]]}}"


class NotListedYet(NothingListed):
    sentence = "what may be run again is read from the policy at {where}, where there is no ledger yet"
    hint_ = "bring the ledger there first, with this below policy: reproduce: {{commands: [[{word}]]}}"


class Result(NamedTuple):
    """What running recorded evidence again came to; `made` is the evidence that was recorded of it.

    `doubt` is why what was recorded does not make the first evidence reproduced.
    """

    evidence: Evidence
    status: str
    why: tuple[str, ...] = ()
    where: str = ""
    commit: str = ""
    draft: Draft | None = None
    made: str = ""
    doubt: str = ""

    @property
    def is_confirmed(self) -> bool:
        """Tell whether it came to the same on the very code that the first run saw."""
        if self.draft is None or self.status != again.REPRODUCED:
            return False
        rerun = {**self.draft.data, "reproduces": str(self.evidence.ref)}
        return again.is_rerun_of(rerun, self.evidence)


def reproduce(
    ledger: Ledger, *, ids: Sequence[str] = (), run: str = "", base: str = "",
    tell: Callable[[str], None] | None = None,
) -> list[Result]:  # fmt: skip
    """Run recorded commands again: those that are named, those of a run, or those that a branch adds to its base.

    With a base its policy decides what may be run. Nothing is written to the ledger.
    """
    view = ledger.view()
    before = _held(ledger, base) if base else view
    if before is not None and base:
        ledger.warn(*policyfile.rule(before))
    if ids:
        chosen = [_named(view, given) for given in ids]
    elif base and not run:
        chosen = list(added(view, before))
    else:
        from memento_git.work.overview import choose_run

        chosen = list(_rested_on(RunState(view, choose_run(view, run))))
    return _again(ledger, chosen, before, base, tell or (lambda _: None))


def _again(
    ledger: Ledger, chosen: Sequence[tuple[RunState, Evidence]], before: View | None, base: str,
    tell: Callable[[str], None],
) -> list[Result]:  # fmt: skip
    """Run again what was chosen, if the policy of the view before lists it."""
    if not chosen:
        return []
    if before is None:
        raise NotListedYet(where=base, word=_first_word(chosen))
    policy = before.policy()
    if not policy.reproduce["commands"]:
        raise NothingListed(where=base or "HEAD", word=_first_word(chosen))
    places = SeenCommits(ledger.git, here=bool(base))
    with Rerunner(ledger, policy) as rerunner:
        return [_one(state, evidence, places, rerunner, tell) for state, evidence in chosen]


def _held(ledger: Ledger, *at: str) -> View | None:
    """Return the ledger at HEAD, or at a revision; None where there is none."""
    try:
        return ledger.view(at)
    except NoLedger:
        return None


class Again:
    """Runs again, once, all that the completions, acceptances and passed gates of a branch rest on; writes nothing."""

    def __init__(self, ledger: Ledger, tell: Callable[[str], None]) -> None:
        self.ledger = ledger
        self.tell = tell
        self._chosen: dict[str, tuple[View | None, list[tuple[RunState, Evidence]]]] = {}
        self._done: dict[str, list[Result]] = {}

    @property
    def results(self) -> list[Result]:
        """Return what was run again, with what came of it."""
        return [result for results in self._done.values() for result in results]

    def hoped(self, base: str) -> list[str]:
        """Return the references of what is to be run again."""
        return [str(one.ref) for _, one in self._wanted(base)[1]]

    def _wanted(self, base: str) -> tuple[View | None, list[tuple[RunState, Evidence]]]:
        """Return the ledger at a base, and what the branch adds to it, looked for once."""
        if base not in self._chosen:
            view, before = _held(self.ledger), _held(self.ledger, base)
            if before is not None:
                policyfile.rule(before)
            self._chosen[base] = before, list(added(view, before)) if view else []
        return self._chosen[base]

    def __call__(self, base: str) -> list[str]:
        """Return the references of what came to the same, on the code that it saw."""
        if base not in self._done:
            before, chosen = self._wanted(base)
            self._done[base] = _again(self.ledger, chosen, before, base, self.tell)
        return [str(one.evidence.ref) for one in self._done[base] if one.is_confirmed]

    def findings(self) -> list[Finding]:
        """Return what running again showed to be wrong."""
        return findings(self.results)


def _first_word(chosen: Sequence[tuple[RunState, Evidence]]) -> str:
    commands = (evidence.data["command"]["argv"] for _, evidence in chosen if "command" in evidence.data)
    return json.dumps(next((argv[0] for argv in commands if argv), "pytest"))


def _named(view: View, given: str) -> tuple[RunState, Evidence]:
    identity, state = RunState.find(view, given, "evidence")
    return state, state.evidence_named(identity)


def added(view: View, before: View | None) -> Iterator[tuple[RunState, Evidence]]:
    """Yield the evidence that completions, acceptances and passed gates rest on which an earlier view does not have."""
    rules = policyfile.ruling(before)[0] if before else None
    for run in view.runs():
        places = [f"{layout.RUNS}/{run}", f"{layout.ARCHIVE}/{run}"]
        if before and [view.folders.get(place) for place in places] == [before.folders.get(place) for place in places]:
            continue
        earlier = RunState(before, run, policy=rules) if before else None
        yield from _rested_on(RunState(view, run, policy=rules), earlier)


def _rested_on(state: RunState, before: RunState | None = None) -> Iterator[tuple[RunState, Evidence]]:
    """Yield, once each, the evidence of commands that events of a run that count name, but for what counted before."""
    seen: set[str] = set()
    for event in _ends(state):
        for ref in map(parse_ref, event.evidence):
            found = state.evidence(ref.id)
            if found is None or found.digest != ref.digest or (before and _counted(state, before, event, ref)):
                continue
            if found.id not in seen and found.kind in RUN_KINDS:
                seen.add(found.id)
                yield state, found


def _counted(state: RunState, before: RunState, event: Event, ref: Ref) -> bool:
    """Tell whether evidence that an event names counted before, or does not now either.

    Both were there, with what it keeps, and no second run spoke against it, or one still does. A task whose text was
    not there, or not what was done, was unproven by it.
    """
    was = before.fold.judged(event.id)
    if was is None or was.verdict != "legal":
        return False
    held = before.evidence(ref.id)
    if held is None or held.digest != ref.digest or before.witnessed(held) != state.witnessed(held):
        return False
    if event.do != "passed" and state.proof(event.of).proven and not before.proof(event.of).proven:
        return False
    return not reruns.contradiction(before, held) or bool(reruns.contradiction(state, held))


def _ends(state: RunState) -> Iterator[Event]:
    """Yield the events that say that work is done: completions, acceptances, gates that passed."""
    for task in state.ids("task"):
        yield from state.ends(task)
    for scope in (state.id, *state.ids("task")):
        yield from (event for event in state.folded(scope).legal("passed") if event.get("gate"))


def _one(
    state: RunState, evidence: Evidence, places: SeenCommits, rerunner: Rerunner, tell: Callable[[str], None]
) -> Result:
    """Run one recorded command again and compare."""
    data = evidence.data
    problem = again.not_repeatable(data, state.evidence_status(evidence.id), rerunner.policy.reproduce["commands"])
    if problem:
        return Result(evidence, again.CANNOT, (problem,))
    place = places.of(data)
    folder = one_line(data["command"]["cwd"])
    tell(f"running again `{shown(data['command']['argv'])}`{f' in {folder}' * (folder != '.')} of {evidence.id}")
    try:
        draft = rerunner.run(evidence, place.commit)
    except Refused as refusal:
        return Result(evidence, again.CANNOT, (refusal.message,), *place)
    if draft.data["command"].get("timed_out"):
        limit = rerunner.policy.reproduce["timeout"]
        return Result(evidence, again.CANNOT, (f"it did not end within {limit}",), *place)
    found = again.differences(data, draft.data)
    status = again.DIFFERS if found else again.REPRODUCED
    aside = f"at {place.commit[:12]}, which has other code than HEAD" if places.is_aside(place) else ""
    bare = BARE if found and _is_bare(rerunner, draft, place.commit) else ""
    less = again.less_covered(data, draft.data)
    absent = not_seen(draft.data["code"]["absent"]) if "absent" in draft.data["code"] else ""
    why = filter(None, [*found, *less, NOTES.get(place.where, ""), absent, aside, bare, _said(draft) if found else ""])
    return Result(evidence, status, tuple(why), *place, draft)


def _is_bare(rerunner: Rerunner, draft: Draft, commit: str) -> bool:
    """Tell whether a command may have failed for want of what git ignores there."""
    if rerunner.policy.reproduce["setup"] or not draft.data["command"]["exit"]:
        return False
    return bool(rerunner.ledger.git.entries(commit, ".gitignore"))


def _said(draft: Draft) -> str:
    """Return the end of what a second run printed, as evidence would keep it: why it came to something else."""
    texts = (one_line(draft.files.get(name, b"").decode(errors="replace")) for name in ("stderr.txt", "stdout.txt"))
    said = next(filter(None, texts), "")
    return f"at its end it printed: {said[-MOST_TEXT:]}" if said else ""


def require_key(ledger: Ledger, key: str, base: str = "") -> None:
    """Refuse, before anything is run, where there is no key to sign with, or the base gives the ledger another name."""
    signer.key_of(ledger.settings, key, ledger.git)
    refuse_renamed(ledger.git, ledger.view().policy().signatures.get("ledger", ""), base)


def record(
    ledger: Ledger, change: Change, results: Sequence[Result], *, sign: bool = False, key: str = ""
) -> list[Result]:
    """Record what ran again as evidence of its own that names the first; in a final run there is no place for it.

    It is signed with an SSH key where `sign` or a `key` asks for it.
    """
    if not any(result.draft for result in results):
        return list(results)

    def act(tx: Transaction) -> list[Result]:
        final = {run for run in {one.evidence.run for one in results} if RunState(tx.view, run).is_final}
        for run in sorted(final):
            ledger.warn(f"run {run} is final, so nothing was recorded in it")
        seal = RunWriter.of(tx).sealer(sign=sign, key=key) if sign or key else None
        return [one if one.draft is None or one.evidence.run in final else _recorded(tx, one, seal) for one in results]

    return change("evidence reproduce", act)


def _recorded(tx: Transaction, result: Result, seal: Sealer | None) -> Result:
    first, draft = result.evidence, result.draft
    if draft is None:
        return result
    meant = first.data.get("allowed_secrets")
    data = {**draft.data, "reproduces": str(first.ref), "allowed_secrets": meant}
    words = "reproduced" if result.status == again.REPRODUCED else "not reproduced"
    made = evidences.record_draft(
        tx, draft._replace(data=data), run=first.run, tasks=first.tasks, summary=f"{words}: {first.id}", seal=seal
    )
    return result._replace(made=made, doubt=_doubt(tx, result, made))


def _doubt(tx: Transaction, result: Result, made: str) -> Objection:
    """Return why a rerun that came to the same does not raise the trust of the first, or nothing."""
    if result.status != again.REPRODUCED:
        return ""
    seen = RunWriter.of(tx).state(result.evidence.run).seen_again(result.evidence)
    found = [one.runner.why for one in seen.reruns if one.id == made]
    return found[0] if found else "it ran on other code than the first"


def findings(results: Sequence[Result]) -> list[Finding]:
    """Return what running again showed to be wrong, as `check` tells it; what could not be run is a warning."""
    told = []
    for result in results:
        name, why = result.evidence.id, "; ".join(result.why)
        if result.status == "reproduced":
            if less := again.less_covered(result.evidence.data, result.draft.data if result.draft else {}):
                message = f"{name}, run again, passes, but covers less: {'; '.join(less)}"
                told.append(Finding("V002", result.evidence.path, 0, message, LESS, "warning"))
            continue
        differs = result.status == "differs"
        message = f"{name}, run again, differs: {why}" if differs else f"{name} could not be run again: {why}"
        fix = UNFIT
        if differs:
            lacks = "name in policy.reproduce.setup what makes it; where it fails all the same: " * (BARE in result.why)
            fix = f"{lacks}memento evidence retract {name} --reason WHY"
        told.append(Finding("V002", result.evidence.path, 0, message, fix, "error" if differs else "warning"))
    return told


def row(result: Result) -> dict[str, Any]:
    """Return a result as programs know it."""
    command = result.evidence.data.get("command")
    draft = result.draft.data if result.draft else {}
    return {
        "evidence_id": result.evidence.id,
        "run_id": result.evidence.run,
        "task_ids": result.evidence.tasks,
        "result": result.status,
        "why": list(result.why),
        "where": result.where or None,
        "commit": result.commit or None,
        "command": command["argv"] if command else None,
        "exit_code": draft["command"]["exit"] if draft else None,
        "recorded_id": result.made or None,
        "doubt": result.doubt or None,
    }
