"""The rows that commands show of work, as JSON and as lines: the keys of each, in their order, and what they tell.

Times are UTC, ids are whole. The reference of JSON answers is made of this; nothing of it is looked at while a command
runs.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypeAlias, TypedDict

AnyRow: TypeAlias = Any  # the row of a record of whichever kind its id tells
Row: TypeAlias = dict[str, Any]  # a row of which no type declares the keys
Signature: TypeAlias = Annotated[str, "none, good, unknown_key, bad, expired, revoked, other_actor, unnamed, unchecked"]
Uncommitted: TypeAlias = Annotated[
    bool, "only of what is stale: the code of this commit did not go on since; what was seen is not committed"
]


class Mark(TypedDict):
    """What every row tells of a signature."""

    signature: Signature
    signed_by: str | None


class HeldBack(TypedDict):
    """Why a task is not handed out although it is its turn."""

    error: str
    why: str
    command: str


class AskedCommand(TypedDict):
    """A command that must have passed; seconds."""

    run: list[str]
    kind: str
    reports: list[str]
    timeout: int | None


class AskedRow(TypedDict):
    """What is asked of what proves a task."""

    proof: dict[str, str]
    evidence: list[str]
    trust: str | None
    commands: list[AskedCommand]
    approvers: list[str]
    not_by: list[str]
    why: list[str]


class ClaimRow(TypedDict):
    """Who holds a task."""

    dispatch_id: str
    claimed_by: str | None
    lease_until: str | None
    expired: bool


class Withdrawn(TypedDict):
    """Who took evidence back."""

    actor: str
    at: str
    reason: str | None


class ConcernedRow(TypedDict):
    """An event that something is amiss with."""

    event: str
    record: str
    actor: str
    action: str
    about: str | None
    title: str | None
    command: NotRequired[str]  # that settles it; where `settle` lists it


class RunRow(TypedDict):
    """A run."""

    id: Annotated[str, "the run"]
    goal: Annotated[str, "what it is for"]
    status: Annotated[str, "active, blocked (a gate failed), paused, cancelled, completed, contested"]
    reason: Annotated[str | None, "why it is paused or cancelled, or null"]
    actor: Annotated[str, "who started it"]
    created_at: Annotated[str, "when"]
    spike: Annotated[bool, "may hand out without a plan"]
    constraints: Annotated[list[str], "what must hold throughout"]
    current_plan_id: Annotated[str | None, "the canonical plan, or null"]
    description: Annotated[str, "the Markdown of run.md"]
    doubts: NotRequired[Annotated[list[str], "what takes from that it is completed; where runs are listed or shown"]]


class PlanRow(TypedDict):
    """A plan of a run."""

    id: Annotated[str, "the plan"]
    run_id: Annotated[str, "its run"]
    title: Annotated[str, "its name"]
    body: Annotated[str, "the Markdown of plan.md"]
    status: Annotated[str, "draft, canonical, rejected, superseded, contested"]
    superseded_by: Annotated[str | None, "of a superseded one the canonical plan; else null"]
    actor: Annotated[str, "who drafted it"]
    created_at: Annotated[str, "when"]
    acceptance_criteria: Annotated[list[str], "list"]
    assumptions: Annotated[list[str], "list"]
    risks: Annotated[list[str], "list"]
    changed: Annotated[bool, "true: the text is another than the one that was approved"]
    unapproved: Annotated[str | None, "why the canonical plan was approved by nobody who may by now, or null"]
    unsigned: Annotated[list[str], "that the canonical plan's approval lacks the signature which policy demands"]
    verification_policy: Annotated[dict[str, Any] | None, "what verification asks of the run's tasks, or null"]
    approvers: Annotated[list[str], "whom policy names to approve it; nobody: anyone may"]
    not_by: Annotated[list[str], "its author, where policy asks for the approval of another"]
    approved_by: Annotated[str | None, "who approved it last, or null"]
    approval_event_id: Annotated[str | None, "the event, or null"]
    signature: Signature
    signed_by: Annotated[str | None, "whose signature the approval it is, or null"]


class TaskRow(TypedDict):
    """A task of a run."""

    id: Annotated[str, "the task"]
    run_id: Annotated[str, "its run"]
    title: Annotated[str, "what is to be done"]
    description: Annotated[str, "the Markdown of task.md"]
    status: Annotated[
        str, "pending, dispatched, in_progress, completed, accepted, rejected, blocked, cancelled, contested"
    ]
    run_status: Annotated[str | None, "cancelled or completed when the run is final, else null"]
    actor: Annotated[str, "who added it"]
    created_at: Annotated[str, "when"]
    acceptance_criteria: Annotated[list[str], "list"]
    dependencies: Annotated[list[str], "ids of tasks that must be proven first"]
    relevant_files: Annotated[list[str], "paths"]
    kind: Annotated[str | None, "what kind of work, or null"]
    risk: Annotated[str | None, "low, medium, high, or null"]
    size: Annotated[str | None, "small, medium, large, or null"]
    role: Annotated[str | None, "who should do it, or null"]
    budget: Annotated[dict[str, Any] | None, "attempts and cost, or null"]
    repairs: Annotated[str | None, "the rejected task that it makes good, or null"]
    source: Annotated[dict[str, Any] | None, "the message from outside that it was made from, or null"]
    verification_policy: Annotated[dict[str, Any] | None, "what this task's own text asks of verification, or null"]
    asked: Annotated[
        AskedRow | None,
        "what policy, plan and task ask of it together: proof (least trust by kind), evidence, trust, commands, whose "
        "approval (approvers, not_by), why; null where all of that is the default. In `task show` with what past "
        "failures and the code's graph add",
    ]
    ready: Annotated[bool, "could be handed out now"]
    held_back: Annotated[
        HeldBack | None, "why `dispatch create` would refuse it although it is its turn: error, why, command; or null"
    ]
    waits_on: Annotated[list[str], "dependencies that are not done and proven"]
    proven: Annotated[bool | None, "true, false, or null while it is not completed"]
    proven_by: Annotated[list[str], "ids of the evidence that proves it"]
    unproven_because: Annotated[list[str], "why it is not proven"]
    proven_after: Annotated[
        str | None,
        "what would prove it as it was done: `verify`, or `approve` and then that, or a runner's `reproduce`; null: to "
        "do it again",
    ]
    unsigned: Annotated[
        list[str], "which approvals it rests on, proven as it is, without the signature that policy demands"
    ]
    late: Annotated[bool, "something came to it after the run's completion"]
    blocked_by: Annotated[list[str], "gates of the task that failed"]
    spike: Annotated[bool, "it was handed out without a plan"]
    selected_dispatch_id: Annotated[str | None, "the candidate that was chosen, `contested`, or null"]
    reason: Annotated[
        str | None, "why it is blocked, rejected or cancelled, else the latest that an event gave; null once done"
    ]
    last_reason: Annotated[str | None, "of what is done, the last that was given before, be it why it was reopened"]
    incomplete: Annotated[bool, "a file that its events name is missing"]
    broken: Annotated[str | None, "why its own file cannot be read: place, rule, what is wrong; or null"]
    stale: NotRequired[
        Annotated[
            bool | None,
            "only where it is read, and its proof is bound to code: all of that is of other code than this commit's; "
            "null of several commits",
        ]
    ]
    uncommitted: NotRequired[Uncommitted]
    passed_since: NotRequired[
        Annotated[
            list[str],
            "only of what is stale: evidence of done tasks, passes of all commands that prove it on this code",
        ]
    ]
    failed_since: NotRequired[
        Annotated[
            list[str], "only where it is read, and it is proven: which commands and checks behind that failed later"
        ]
    ]
    claims: NotRequired[
        Annotated[
            list[ClaimRow], "only among the tasks of a run: who holds it: dispatch_id, claimed_by, lease_until, expired"
        ]
    ]


class DispatchRow(TypedDict):
    """A task that was handed to somebody."""

    id: Annotated[str, "the dispatch"]
    dispatch_id: Annotated[str, "the same, as the lifecycle ledger calls it"]
    status: Annotated[str, "queued, claimed, completed, failed, recovered"]
    task_id: Annotated[str, "its task"]
    run_id: Annotated[str, "its run"]
    executor: Annotated[str, "to whom it was handed"]
    claimed_by: Annotated[str | None, "the claimant, or null"]
    lease_until: Annotated[str | None, "when the claim ends, or null"]
    expired: Annotated[bool, "claimed, and the lease is over"]
    candidate: Annotated[bool, "one of several tries"]
    selected: Annotated[bool, "the one that was chosen among them"]
    allowed_destructive: Annotated[list[str], "rules about destructive commands that were allowed at the dispatch"]
    created_at: Annotated[str | None, "when it was handed out"]
    completed_at: Annotated[str | None, "or null"]
    failed_at: Annotated[str | None, "or null"]
    category: Annotated[str | None, "what kind of failure ended it, or null"]
    recovered_at: Annotated[str | None, "or null"]
    recovery_of: Annotated[str | None, "the dispatch that it replaces, or null"]
    brief: Annotated[
        str | None, "digest of the brief, or after a recovery of the bundle's file, that was handed over, or null"
    ]
    branch: Annotated[str | None, "of the worktree that was made for it, or null"]
    partial: Annotated[str | None, "commit that keeps what was done when it failed or was recovered, or null"]
    executor_invoked: Annotated[bool, "true where memento itself started the executor's command (`dispatch run`)"]
    outdated: Annotated[bool, "true where it is open, and its task asks something else by now than was handed out"]


class GateRow(TypedDict):
    """The latest verdict of a gate."""

    kind: Annotated[str, "which gate"]
    scope: Annotated[str, "id of the run or task"]
    scope_kind: Annotated[str, "run or task"]
    status: Annotated[str, "pending, passed, failed, waived"]
    judges: Annotated[list[str], "whom policy names to pass or fail it; nobody: anyone may"]
    reviewer: Annotated[str | None, "who gave the latest verdict"]
    summary: Annotated[str | None, "what was said"]
    evidence: Annotated[list[str], "ids that it rests on"]
    created_at: Annotated[str | None, "when, null while policy only asks for it"]
    event_id: Annotated[str | None, "the verdict's event, or null"]
    late: Annotated[bool, "true where its run was completed without that verdict, so that it does not count"]
    fallen: Annotated[str | None, "why its pass or waiver does not hold, so that it counts as asked for again, or null"]
    signature: Signature
    signed_by: Annotated[str | None, "whose signature it is, or null"]


class EvidenceRow(TypedDict):
    """A piece of evidence."""

    id: Annotated[str, "the evidence"]
    run_id: Annotated[str, "its run"]
    kind: Annotated[str, "command, test, lint, …"]
    task_ids: Annotated[list[str], "tasks that it may prove"]
    task_id: Annotated[str | None, "the first of them, or null"]
    outcome: Annotated[str, "passed, failed, observed"]
    status: Annotated[str, "recorded, superseded, retracted, redacted, incomplete"]
    trust_level: Annotated[str, "reproduced, witnessed, verified, reported, advisory"]
    summary: Annotated[str | None, "text or null"]
    uri: Annotated[str | None, "link, `file://` and the name of a file that was given so, or null"]
    files: Annotated[
        list[dict[str, Any]],
        "attachments: name, sha256, bytes, path in the repository (null where only the digest is kept)",
    ]
    command: Annotated[list[str] | None, "argv, or null"]
    exit_code: Annotated[int | None, "or null"]
    seconds: Annotated[float | None, "or null"]
    reports: Annotated[list[dict[str, Any]], "name, format, sha256, ok, counts, failed, failed_more"]
    problems: Annotated[list[str], "why a good exit code did not count"]
    diff: Annotated[dict[str, Any] | None, "range, base, tip, patch_id, files, added, removed; or null"]
    approves: Annotated[str | None, "id or null"]
    prompt: Annotated[str | None, "what the approver was asked, or null"]
    response: Annotated[str | None, "what the approver answered, or null"]
    check: Annotated[dict[str, Any] | None, "provider, name, id, conclusion, commit, url, finished; or null"]
    dispatch: Annotated[str | None, "dispatch that it came from, or null"]
    reproduces: Annotated[str | None, "evidence whose command it ran again, as id@digest, or null"]
    reproduced_by: Annotated[
        list[str], "ids of evidence that ran its command again on the same code and came to the same"
    ]
    contradicted_by: Annotated[list[str], "ids of evidence that did so and came to something else"]
    reproductions: Annotated[
        list[dict[str, Any]],
        "each of both, and what ran it again on other code: id, result (reproduced, differs, other_code), "
        "differences, actor, signature, signed_by, counts (policy lists the runner who signed it), why it "
        "does not",
    ]
    code: Annotated[
        dict[str, Any],
        "git ids of what it saw: tree, full, paths, dirty, untracked (path -> id); head, the commit then",
    ]
    folder: Annotated[str | None, "where the command ran, or null"]
    covers: Annotated[list[str], "the paths that it is about; empty: all code"]
    absent: Annotated[int, "how many tracked files and submodules were not checked out"]
    moved: Annotated[str | None, "that the code changed while the command ran, so that it proves nothing, or null"]
    digest: Annotated[str, "of its file, as references name it"]
    actor: Annotated[str, "who recorded it"]
    created_at: Annotated[str, "when"]
    withdrawn: Annotated[
        Withdrawn | None,
        "of what is superseded, retracted or redacted: actor, at, reason; else null. Of redacted evidence "
        "only this, its ids, and the tasks whose events named it are told",
    ]
    signature: Signature
    signed_by: Annotated[str | None, "whose signature it is, or null"]
    stale: NotRequired[
        Annotated[
            bool | None,
            "only where it is read, and is bound to code: it is of other code than this commit's; null of several",
        ]
    ]
    uncommitted: NotRequired[Uncommitted]
    passed_since: NotRequired[
        Annotated[
            str | None,
            "only of what is stale: evidence of a done task, a pass of the same command on this code; or null",
        ]
    ]
    beside: NotRequired[
        Annotated[
            list[str], "only there: files that git did not track and that it saw, which this commit does not have so"
        ]
    ]


class OutputRow(TypedDict):
    """What evidence keeps of one stream that its command wrote to."""

    stream: Annotated[str, "stdout or stderr"]
    bytes: Annotated[int, "that the command wrote"]
    cut: Annotated[int, "bytes that were not kept, between head and tail"]
    redacted: Annotated[dict[str, int], "secrets that were replaced, by rule"]
    binary: Annotated[bool, "not text, so not kept"]
    path: Annotated[str | None, "of the kept copy in the repository, or null"]
    place: Annotated[str | None, "where that lies: there, or the archive that has it"]
    as_recorded: Annotated[bool | None, "the copy has the digest that the evidence names; null where there is none"]
    text: Annotated[str | None, "its last lines, with `--output` all of it; null where nothing is there"]
    omitted: Annotated[int, "characters of it that are not shown"]


class EventRow(TypedDict):
    """Something that happened to a record."""

    id: Annotated[str, "the event"]
    run_id: Annotated[str, "its run"]
    record: Annotated[str, "to which record it happened"]
    actor: Annotated[str, "by whom"]
    action: Annotated[str, "kind and verb, such as task.completed; gate.passed, whatever the gate is of"]
    created_at: Annotated[str, "when, by the writer's clock"]
    summary: Annotated[str | None, "its note, reason, what was unmet, or gate"]
    legal: Annotated[bool, "false: it has no effect"]
    problem: Annotated[str | None, "why, or null"]
    payload: Annotated[dict[str, Any], "the verb's own keys; of recorded evidence kind, outcome and command"]


class TroubleRow(TypedDict):
    """What is contested, illegal, incomplete or a cycle."""

    record: Annotated[str, "which"]
    problem: Annotated[str, "contested, illegal, incomplete, cycle"]
    about: Annotated[str, "the parts that the events disagree on, or why"]
    events: Annotated[
        list[ConcernedRow],
        "event, record, actor and action (kind and verb) of each event concerned; about: what it names, or why it "
        "happened, of an approval the plan, with its title",
    ]


class LiveRow(TypedDict):
    """A process that works on a task at this moment."""

    dispatch_id: Annotated[str, "what it works on"]
    task_id: Annotated[str, "its task"]
    run_id: Annotated[str, "its run"]
    executor: Annotated[str, "whose command it runs"]
    pid: Annotated[int, "the memento process that watches"]
    child_pid: Annotated[int | None, "the command itself, or null"]
    since: Annotated[str, "when it began"]


class RoleRow(TypedDict):
    """What an actor, or a role that tasks ask for, did last."""

    kind: Annotated[str, "actor, or role: a word that tasks ask for"]
    name: Annotated[str, "who"]
    last_action: Annotated[str, "kind and verb, or nothing"]
    last_record: Annotated[str, "to which record"]
    last_at: Annotated[str, "when"]
    actions: Annotated[dict[str, int], "how many of each kind"]
    incomplete_tasks: Annotated[list[str], "ids of tasks handed to, or asking for, it that are not settled"]
