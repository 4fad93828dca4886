"""What one run's files come to at a view: the fold, and what is derived from it, policy and the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from memento_git.folding.fold import Fold, Judged, last_of, plans_of
from memento_git.folding.lanes import CANONICAL, STATUS, choice, task_status
from memento_git.folding.settling import SETTLING
from memento_git.ledger import layout
from memento_git.ledger.view import LedgerUnreadable, View
from memento_git.model.clock import is_ahead
from memento_git.model.ids import EvidenceWithdrawn, Ref, kind_of, opening_of
from memento_git.model.states import DONE, ENDED_DISPATCH, FINAL_RUN, OPEN_DISPATCH
from memento_git.model.tuples import NamedTuple
from memento_git.model.work import Event, Evidence
from memento_git.work import transitions
from memento_git.work.run_records import RunRecords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.errors import MementoError
    from memento_git.model.policy import Policy
    from memento_git.work.gates.approvals import Said
    from memento_git.work.proof.rerun_comparison import Seen
    from memento_git.work.proof.runners import Runners
    from memento_git.work.proof.trust import Cited, Proof
    from memento_git.work.proof.verification import Demand


class Dispatch(NamedTuple):
    """What a dispatch came to; `holder` has or had it, `until` is the moment to which it is claimed."""

    status: str = ""
    holder: str = ""
    until: str = ""
    expired: bool = False
    opened: Event | None = None
    selected: bool = False
    ended: Event | None = None

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_DISPATCH


class RunState(RunRecords):
    """One run at one view; it is also the fold's source of events."""

    def __init__(
        self, view: View, run: str, runners: Runners | None = None, policy: Policy | None = None, *, shown: bool = False
    ) -> None:
        super().__init__(view, run)
        self._policy = policy
        self.runners, self.shown = runners, shown
        self.fold = Fold(self, transitions.judge)
        self._proofs: dict[str, Proof] = {}
        self._answers: tuple[int, dict[str, list[Said]]] = (-1, {})
        self.shared: dict[str, MementoError | None] = {}
        self.reruns: tuple[int, dict[str, list[str]]] = (-1, {})

    @classmethod
    def find(cls, view: View, given: str, kind: str) -> tuple[str, Self]:
        """Return the record that a prefix names at a view, and its run."""
        identity, run = view.find(given, kind)
        return identity, cls(view, run)

    @property
    def policy(self) -> Policy:
        """Return the policy that judges the run: the one that was given, else the view's own, read when it is asked."""
        if self._policy is None:
            self._policy = self.view.policy()
        return self._policy

    def records(self, key: str) -> Sequence[str]:
        if key == plans_of(self.id):
            return self.names.plans()
        return [key]

    def added(self, event: Event, group: str) -> None:
        """Take note of an event that the transaction has just written."""
        super().added(event, group)
        self._proofs.clear()
        self._answers = (-1, {})
        self.shared.clear()

    def counting(self) -> list[str]:
        """Return the tasks that were not cancelled."""
        return [task for task in self.ids("task") if self.task_status(task) != "cancelled"]

    def past(self, event: str) -> frozenset[str]:
        """Return the events of its own group that an event had seen; nothing where there is no such event."""
        seen = self.fold.judged(event)
        return seen.past if seen is not None else frozenset()

    @property
    def status(self) -> str:
        return self.folded(self.id).lanes.word(STATUS, "active")

    @property
    def shown_status(self) -> str:
        """Return the status as it is told: `contested` where events disagree about it."""
        return "contested" if STATUS in self.folded(self.id).lanes.contested else self.status

    @property
    def is_final(self) -> bool:
        return self.status in FINAL_RUN

    @property
    def halted(self) -> str:
        """Return why the run is paused or cancelled, where that was said."""
        events = self.untouched(self.id) if self.status in ("paused", "cancelled") else ()
        last = next((one.event for one in reversed(events) if one.event.do == self.status), None)
        return last.get("reason") if last else ""

    @property
    def canonical(self) -> str:
        """Return the id of the canonical plan, `contested` where it or its approval is, or nothing."""
        lanes = self.folded(plans_of(self.id)).lanes
        plan = lanes.word(CANONICAL, "")
        return "contested" if f"plan:{plan}" in lanes.contested else plan

    @property
    def planless(self) -> bool:
        """Tell whether a plan was canonical and is not any more, and none has taken its place."""
        return not self.canonical and bool(self.approvals())

    def plan_changed(self, plan: str) -> bool:
        """Tell whether the canonical plan's text is another than the approved one."""
        kept = self.folded(plans_of(self.id)).lanes.detail(CANONICAL)
        return self.canonical == plan and kept != self.prose(plan).digest

    def plan_status(self, plan: str) -> str:
        lanes = self.folded(plans_of(self.id)).lanes
        if f"plan:{plan}" in lanes.contested or CANONICAL in lanes.contested:
            return "contested"
        state = lanes.word(f"plan:{plan}", "draft")
        return "superseded" if state == "canonical" and self.canonical != plan else state

    def task_status(self, task: str) -> str:
        folded = self.folded(task)
        contested = any(not lane.startswith("gate:") for lane in folded.lanes.contested)
        return "contested" if contested else task_status(folded.lanes)

    def gates(self, scope: str) -> dict[str, str]:
        """Return the latest verdict of each gate of a record; the worst of those that had not seen each other."""
        return {gate: value[0] for gate, value in self.folded(scope).lanes.named("gate").items()}

    def failed_gates(self, *scopes: str) -> list[tuple[str, str]]:
        """Return (scope, kind) of each gate whose latest verdict is a failure."""
        return [(scope, gate) for scope in scopes for gate, word in self.gates(scope).items() if word == "failed"]

    def evidence_status(self, identity: str) -> str:
        folded = self.folded(identity)
        word = folded.lanes.word(STATUS, "recorded")
        return "incomplete" if folded.dangling and word == "recorded" else word

    def is_early(self, evidence: Evidence) -> bool:
        """Tell whether evidence is dated after now and counts for nothing until then."""
        from memento_git.work.proof import trust

        ahead = is_ahead(evidence.data["at"], self.view.now)
        return trust.counts_not_yet(evidence, self.evidence_status(evidence.id), ahead=ahead)

    def evidence_named(self, identity: str) -> Evidence:
        """Return evidence that a request names; refuse what cannot be read, was redacted, or is missing."""
        if (found := self.evidence(identity)) is not None:
            return found
        path = self.names.evidence_at(identity)
        if wrong := [one for one in self.view.findings if path and one.path == path]:
            raise LedgerUnreadable(finding=wrong[0])
        status = self.evidence_status(identity)
        raise EvidenceWithdrawn(evidence=identity, status="missing" if status == "recorded" else status)

    def holds(self, evidence: str, name: str, sha256: str) -> bool:
        """Tell whether the folder of evidence has a file with exactly these bytes."""
        return self.view.sha256(f"{layout.folder_of(self.id, evidence)}/{name}") == sha256

    def trust_in(self, evidence: Evidence) -> str:
        found = self.witnessed(evidence)
        confirmed = self.runners.confirmed if self.runners is not None else ()
        again = found == "witnessed" and (str(evidence.ref) in confirmed or self.seen_again(evidence).trusted)
        return "reproduced" if again else found

    def witnessed(self, evidence: Evidence) -> str:
        """Return the trust of evidence by itself, whatever was run again."""
        from memento_git.work.proof import trust

        return trust.trust_of(evidence.data, lambda name, sha256: self.holds(evidence.id, name, sha256))

    def seen_again(self, evidence: Evidence) -> Seen:
        """Return what standing reruns of its command say of evidence."""
        from memento_git.work.proof import reruns

        return reruns.seen(self, evidence)

    def cited(self, ref: Ref, of: str = "") -> Cited:
        """Return a piece of evidence as it is cited; an approval as what it is for a record, where one is named."""
        from memento_git.work.proof import proofs, trust

        found = self.evidence(ref.id)
        if found is None or found.digest != ref.digest:
            return trust.Cited(str(ref), None, self.evidence_status(ref.id), "advisory")
        status, again = self.evidence_status(ref.id), self.seen_again(found)
        against = again.contradicted or proofs.approved_else(self, found, of)
        ahead = is_ahead(found.data["at"], self.view.now)
        about, unheard = proofs.tasks_approved(self, found, of), proofs.unheard(self, found, of)
        return trust.Cited(str(ref), found, status, self.trust_in(found), against, again.doubt, ahead, about, unheard)

    def answers(self) -> dict[str, list[Said]]:
        """Return what was answered, by what it is about."""
        from memento_git.work.gates import approvals

        if self._answers[0] != len(self.index.evidence):
            self._answers = len(self.index.evidence), approvals.answers(self)
        return self._answers[1]

    def approvals(self) -> list[Event]:
        """Return the legal approvals of plans, in the order of the fold."""
        return self.folded(plans_of(self.id)).legal("approved")

    def approving(self, plan: str = "") -> list[Event]:
        """Return the approvals that make a plan, or this one, canonical: no other that stands had seen them."""
        plans = self.folded(plans_of(self.id))
        undone = {event for event, lanes in plans.undone.items() if CANONICAL in lanes}
        latest = last_of(one for one in plans.events if one.event.do == "approved" and one.event.id not in undone)
        return [one for one in latest if plan in ("", one.of)]

    def completions(self, task: str) -> list[Event]:
        """Return the completions that hold: legal, and not reopened since."""
        return self._effective(task, "completed")

    def _effective(self, task: str, do: str) -> list[Event]:
        found, reopenings = self._with_reopenings(task, do)
        before = [one.past for one in reopenings]
        return [seen.event for seen in found if not any(seen.event.id in past for past in before)]

    def untouched(self, identity: str) -> list[Judged]:
        """Return a record's legal events that are in no way undone."""
        folded = self.folded(identity)
        undone = folded.undone
        return [seen for seen in folded.events if seen.verdict == "legal" and seen.event.id not in undone]

    def _with_reopenings(self, task: str, do: str) -> tuple[list[Judged], list[Judged]]:
        """Return a task's legal events of a verb, and its reopenings, that are in no way undone; none without any."""
        if not any(seen.event.do == do for seen in self.folded(task).events):
            return [], []
        kept = self.untouched(task)
        return [one for one in kept if one.event.do == do], [one for one in kept if one.event.do == "reopened"]

    def selected(self, task: str) -> str:
        """Return the candidate that was chosen, `contested` where choices disagree, or nothing.

        A reopening that was settled away, be it in part, takes no choice back.
        """
        if found := choice(self.folded(task).lanes):
            return found
        selections, reopenings = self._with_reopenings(task, "selected")
        reopened = {one.event.id for one in reopenings}
        chosen = [one for one in selections if one.past >= reopened]
        seen = frozenset[str]().union(*(one.past for one in chosen))
        names = {one.event.dispatch for one in chosen if one.event.id not in seen}
        return names.pop() if len(names) == 1 else "contested" if names else ""

    def choices(self, task: str) -> list[Event]:
        """Return the choices among candidates that hold."""
        return self._effective(task, "selected")

    def acceptances(self, task: str) -> list[Event]:
        """Return the verdicts that accept a task as it is now: legal, and not reopened since."""
        return self._effective(task, "accepted")

    def ends(self, task: str) -> list[Event]:
        """Return what says that a task is done: completions, then verdicts that accept it."""
        return [*self.completions(task), *self.acceptances(task)]

    def asked(self, task: str) -> Demand:
        """Return what policy, the canonical plan and the task ask of what proves a task."""
        from memento_git.work.proof import proofs

        return proofs.asked_of(self, task)

    def proof(self, task: str) -> Proof:
        """Return whether a completed task is proven, and why not."""
        from memento_git.work.proof import proofs

        if task not in self._proofs:
            self._proofs[task] = proofs.proof_of(self, task)
        return self._proofs[task]

    def proof_of(self, completion: Event) -> Proof:
        """Return whether one completion, taken by itself, proves its task."""
        from memento_git.work.proof import proofs

        if completion.id not in self._proofs:
            text = self.prose(completion.of).digest
            self._proofs[completion.id] = proofs.proof_by(self, completion, text)
        return self._proofs[completion.id]

    def is_done(self, task: str) -> bool:
        """Tell whether a task counts as done for what depends on it."""
        if not self.names.text_of(task) or self.task_status(task) not in DONE:
            return False
        return self.proof(task).proven and not self.failed_gates(task)

    def waits_on(self, task: str) -> list[str]:
        return [other for other in self.prose(task).list("depends_on") if not self.is_done(other)]

    def is_ready(self, task: str) -> bool:
        """Tell whether it is a task's turn: neither its own state nor its run's, nor what it waits for, holds it up.

        What else a dispatch asks is in `handout`.
        """
        return (
            self.task_status(task) == "pending"
            and self.status == "active"
            and not any(self.folded(key).dangling for key in (task, self.id, plans_of(self.id)))
            and not self.failed_gates(self.id, task)
            and (bool(self.canonical) or self.prose(self.id).data.get("spike", False))
            and not self.waits_on(task)
        )

    def is_late(self, task: str) -> bool:
        """Tell whether a task, or something that happened to it and stands, came to a run after its completion."""
        if self.status != "completed":
            return False
        named = {ref.id for end in self.folded(self.id).legal("completed") for ref in end.after}
        events = [seen for seen in self.folded(task).events if seen.event.do not in SETTLING]
        known = named.union(*(seen.past for seen in self.folded(task).events if seen.event.id in named))
        late = [seen for seen in events if seen.event.id not in known]
        return len(late) == len(events) or any(self.folded(task).stands(seen) for seen in late)

    def opened(self, dispatch: str) -> Event | None:
        """Return the event that opened a dispatch."""
        return self.event(opening_of(dispatch))

    def dispatches(self, task: str) -> dict[str, Dispatch]:
        """Return what each dispatch of a task came to."""
        folded, chosen = self.folded(task), self.selected(task)
        ended = {one.event.dispatch: one.event for one in folded.events if one.event.do in ENDED_DISPATCH}
        found: dict[str, Dispatch] = {}
        for name, value in folded.lanes.named("dispatch").items():
            until = folded.lanes.word(f"lease:{name}", "")
            found[name] = Dispatch(
                status=value[0],
                holder=value[1] if value[0] in ("claimed", "completed") else "",
                until=until if value[0] == "claimed" else "",
                expired=value[0] == "claimed" and until < self.view.now,
                opened=self.opened(name),
                selected=chosen == name,
                ended=ended.get(name),
            )
        return found

    def dispatch(self, name: str) -> Dispatch:
        """Return what a dispatch came to; nothing where it is not known here."""
        opened = self.opened(name)
        return self.dispatches(opened.of).get(name, Dispatch()) if opened is not None else Dispatch()

    def groups(self) -> list[str]:
        """Return all groups of the run; its own text, which no rule reads, is looked at on the way."""
        self.prose(self.id)
        return [
            self.id,
            plans_of(self.id),
            *(name for name in (*self.index.prose, *self.index.evidence) if name.startswith(("task_", "evidence_"))),
            *(name for name in self.index.events_of if kind_of(name) == "evidence" and name not in self.index.evidence),
            *(name for name in self.index.events_of if kind_of(name) == "task" and name not in self.index.prose),
        ]
