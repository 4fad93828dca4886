"""Why a verb of the work group is refused: one class for each fact."""

from __future__ import annotations

from memento_git.errors import Misused, Refused


class RunFinal(Refused):
    token = "run_final"
    sentence = "run {run} is {status}; in a final run only settling is possible"
    hint_ = "start another run: memento run start --goal TEXT"


class RunNotActive(Refused):
    token = "run_not_active"
    sentence = "run {run} is {status}"
    hint_ = "resume it: memento run resume {run}"


class RunTransition(Refused):
    token = "run_transition"
    sentence = "run {run} is {status}, so it cannot be {verb}"
    hint_ = "see it: memento run show {run}"


class RunAmbiguous(Refused):
    token = "run_ambiguous"
    sentence = "several runs are open: {candidates}"
    hint_ = "name one, as RUN or with --run RUN: memento run list"


class EndedRunAmbiguous(RunAmbiguous):
    sentence = "several runs have ended and are not archived: {candidates}"
    hint_ = "name one: memento archive RUN"


class NoRunOpen(Refused):
    token = "no_run_open"
    sentence = "no run is open: all {count} have ended"
    hint_ = "start one: memento run start --goal TEXT; or name one: memento run list"


class NoRun(Refused):
    token = "run_not_found"
    sentence = "there is no run yet"
    hint_ = "start one: memento run start --goal TEXT"


class TaskUnsettled(Refused):
    token = "task_unsettled"
    sentence = "task {task} is {status}"
    hint_ = "a run completes when each task is done and proven, or cancelled: memento status"


class TasksUnsettled(TaskUnsettled):
    sentence = "{count} tasks are open: {tasks}"


class TaskUnproven(Refused):
    token = "task_unproven"
    sentence = "task {task} is not proven: {why}"
    hint_ = "what leads to its proof: {how}"


class TaskUnagreed(TaskUnproven):
    """A task whose plan asks nothing that is agreed: its work may be as good as it was."""

    hint_ = "agree on what is asked: {how}"


class WorkUnmerged(Refused):
    token = "work_unmerged"
    sentence = "task {task} was done on {branch}, which is not merged: what is here is not what was done"
    hint_ = "review it, then merge it: git merge {branch!q}; where its work is here in another form, remove that branch"


class WorkUnchosen(WorkUnmerged):
    sentence = "task {task} was done {times} times, and none of it is merged"
    hint_ = "choose one of the tries, then merge its branch: memento dispatch select {task}"


class NothingToComplete(Refused):
    token = "run_empty"
    sentence = "run {run} is empty: no task of it is completed"
    hint_ = "cancel a run that came to nothing: memento run cancel {run} --reason WHY"


class GatesMissing(Refused):
    token = "gates_missing"
    sentence = "gates that policy requires have not passed: {gates}"
    hint_ = "see how each passes: memento status --run {run}"


class GateFallen(Refused):
    token = "gate_fallen"
    sentence = "{why}"
    hint_ = "let it hold again: {how}"


class GateUnfounded(Refused):
    token = "gate_unfounded"
    sentence = "gate {gate} cannot pass on that: {why}"
    hint_ = "name sound evidence, or what was found: memento gate record {gate} failed"


class PlanRejected(Refused):
    token = "plan_rejected"
    sentence = "plan {plan} was rejected"
    hint_ = "draft another: memento plan draft --title TEXT --body TEXT"


class PlanAlreadyCanonical(Refused):
    token = "plan_already_canonical"
    sentence = "plan {plan} is the canonical plan already"
    hint_ = "an edit of it counts once it is committed; see what the run needs next: memento status --run {run}"


class PlanRequired(Refused):
    token = "canonical_plan_required"
    sentence = "run {run} has no approved plan"
    hint_ = (
        "approve one: memento plan approve PLAN; to find it: memento plan list --run {run}; where there is none, draft "
        "it: memento plan draft --run {run} --title TITLE --body TEXT; or start another run with --spike"
    )


class NoOnePlan(PlanRequired):
    sentence = "run {run} has {count} plans, and none of them is canonical"
    hint_ = "name one of them: memento plan list --run {run}"


class PlanChanged(Refused):
    token = "plan_changed"
    sentence = "plan {plan} was changed after its approval"
    hint_ = "approve the text as it is now: memento plan approve {plan}"


class PlanUnapproved(Refused):
    """The plan that holds was approved before policy said who may."""

    token = "plan_unapproved"
    sentence = "{why}"
    hint_ = "let somebody who may approve it as well: memento plan approve {plan}"


class SpikeLimit(Refused):
    token = "spike_limit"
    sentence = "run {run} made {made} without a plan, policy allows {limit}"
    hint_ = "draft a plan, and approve it: memento plan draft --run {run} --title TITLE --body TEXT"


class ApproverRefused(Refused):
    token = "approver_refused"
    sentence = "{actor} may not {verb}: policy asks for {asked}"
    hint_ = "ask one of them, or change policy in .memento/config.yaml by review"


class AuthorRefused(ApproverRefused):
    sentence = "{actor} wrote this plan, and policy asks for another than its author to approve it"
    hint_ = "let somebody else read and approve it: memento plan approve {plan}"


class TaskTransition(Refused):
    token = "task_transition"
    sentence = "task {task} is {status}, so it cannot be {verb}"
    hint_ = "see it: memento task show {task}"


class TaskOpen(TaskTransition):
    sentence = "task {task} is {status}, so it cannot be reopened"
    hint_ = "it is open; what comes next: {step}"


class NotCompleted(TaskTransition):
    sentence = "task {task} is {status}, so it cannot be verified"
    hint_ = "a task is verified when it is completed; what comes before that: {step}"


class TaskNotReady(Refused):
    token = "task_not_ready"
    sentence = "task {task} is {status}, so it cannot be handed out or claimed"
    hint_ = "see who has it: memento task show {task}; see what is ready: memento task list --ready"


class TaskAtRest(TaskNotReady):
    """A task that nobody has: it is done, refused or given up."""

    hint_ = "take it up again: {step}"


class DependencyOpen(Refused):
    token = "dependency_open"
    sentence = "task {task} depends on {dependency}, which is {status}"
    hint_ = "see what that waits for: memento task show {dependency}; see what is ready: memento task list --ready"


class DependencyGone(DependencyOpen):
    hint_ = "leave it out, or name what takes its place: {command}"


class DependencyCycle(Refused):
    token = "dependency_cycle"
    sentence = "these tasks would depend on one another: {cycle}"
    hint_ = "leave one dependency out"


class GateBlocks(Refused):
    token = "review_gate_blocking"
    sentence = "gate {gate} of {scope} has failed"
    hint_ = "pass it or waive it with a reason: memento gate waive {gate} {on} --reason WHY"


class GateRefused(GateBlocks):
    sentence = "gate {gate} of {task} has failed: reopened, it is not handed out until that passes"
    hint_ = "have it done again by a repair: {how}"


class GateNotFresh(Refused):
    token = "gate_not_fresh"
    sentence = "gate {gate} asks for evidence of the code as it is; {why}"
    hint_ = "run the command again, memento evidence run -- CMD, and name what it recorded with --evidence"


class GateInvalid(Refused):
    token = "gate_invalid"
    sentence = "{given!r} is not {what}"
    hint_ = "one of: {allowed}"


class GateTurned(GateInvalid):
    sentence = "{given!r} is a verdict, and {gate!r} the gate"
    hint_ = "the gate comes first: memento gate record {gate} {given}"


class DispatchUnknown(Refused):
    token = "dispatch_not_found"
    sentence = "task {task} has no dispatch {dispatch}"
    hint_ = "list them: memento dispatch list"


class DispatchTerminal(Refused):
    token = "dispatch_terminal"
    sentence = "dispatch {dispatch} is {state} already"
    hint_ = "see what its task needs next: memento status"


class NotACandidate(Refused):
    token = "candidate_refused"
    sentence = "dispatch {dispatch} of {task} cannot be selected: {why}"
    hint_ = "see what each candidate is worth: memento dispatch select {task}"


class AlreadyClaimed(Refused):
    token = "dispatch_already_claimed"
    sentence = "dispatch {dispatch} is claimed by {holder} until {until}"
    hint_ = (
        "take another task: memento task list --ready; if its lease has expired: memento dispatch recover {dispatch}"
    )


class TaskClaimed(AlreadyClaimed):
    sentence = "task {task} is claimed by {holder} already, through dispatch {dispatch}, until {until}"


class ClaimedMeanwhile(AlreadyClaimed):
    sentence = "dispatch {dispatch} was claimed by {holder} meanwhile"


class NotClaimed(Refused):
    token = "dispatch_not_claimed"
    sentence = "dispatch {dispatch} has not been claimed"
    hint_ = "claim it: memento dispatch claim {dispatch}; if that was done on another branch, merge that branch first"


class ClaimedElsewhere(Refused):
    token = "dispatch_claimed_elsewhere"
    sentence = "dispatch {dispatch} is {status} by {holder} on branch {branch}; to move it here would contest that"
    hint_ = "go on in that branch's checkout, or bring what happened there here first: git merge {branch!q}"


class TaskClaimedElsewhere(ClaimedElsewhere):
    sentence = (
        "task {task} is claimed by {holder} on branch {branch}, through dispatch {dispatch}; to hand it out here, too, "
        "would contest that"
    )


class NotClaimant(Refused):
    token = "not_claimant"
    sentence = "dispatch {dispatch} is claimed by {holder}, not by {actor}"
    hint_ = (
        "only its claimant renews or ends it: say who you are with --actor or MEMENTO_ACTOR; once its lease has "
        "expired: memento dispatch recover {dispatch}"
    )


class NotExpired(Refused):
    token = "claim_not_expired"
    sentence = "{holder} holds dispatch {dispatch} until {until}"
    hint_ = "wait, or take it: memento dispatch recover {dispatch} --force --reason WHY"


class TermsChanged(Refused):
    token = "terms_changed"
    sentence = "what task {task} asks changed after dispatch {dispatch} was handed out"
    hint_ = (
        "hand it out again, as it is now: memento dispatch recover {dispatch} --force --reason WHY --requeue; or put "
        "the words back"
    )


class EvidenceRequired(Refused):
    token = "evidence_required"
    sentence = "task {task} cannot be completed: {why}"
    hint_ = "run the command that shows it works: {line}"


class EvidenceNotNamed(EvidenceRequired):
    hint_ = "name what has passed for it: {line}"


class NothingGiven(Misused):
    token = "nothing_given"
    sentence = "there is nothing to record as evidence"
    hint_ = "name files, or give --summary, --uri or --diff; or run what shows it: memento evidence run -- CMD"


class CommandForShell(Refused):
    token = "command_for_shell"
    sentence = "{command!r:.80} is started without a shell, to which alone {part} means something"
    hint_ = "let a shell run it: --check {line}"


class EvidenceForeign(Refused):
    token = "evidence_foreign"
    sentence = "evidence {evidence} is for {tasks}, not for {task}"
    hint_ = "record evidence for this task: memento evidence run --task {task} -- CMD"


class EvidenceForeignToRun(EvidenceForeign):
    hint_ = "record evidence for this run: memento evidence run --run {task} -- CMD"


class RecordContested(Refused):
    token = "record_contested"
    sentence = "{record} is contested: events that had not seen one another disagree"
    hint_ = "settle it: memento settle"


class NotSettled(Refused):
    token = "run_not_final"
    sentence = "run {run} is {status}; only a completed or cancelled run is archived"
    hint_ = "end it first: memento run complete {run}; or memento run cancel {run} --reason WHY"


class AlreadyArchived(Refused):
    token = "already_archived"
    sentence = "all of run {run} is archived already"
    hint_ = "memento run show {run} reads the archive"


class AllArchived(AlreadyArchived):
    sentence = "all {count} runs are archived already"
    hint_ = "memento run list reads the archives"
