"""All rows of a run in one dictionary, as it goes from what is kept to the answer of status, report and lists."""

from __future__ import annotations

from typing import Any, TypedDict

from memento_git.model.finding import Finding
from memento_git.model.rows import (
    DispatchRow,
    EventRow,
    EvidenceRow,
    GateRow,
    LiveRow,
    PlanRow,
    RoleRow,
    RunRow,
    TaskRow,
    TroubleRow,
)  # fmt: skip


class Rows(TypedDict):
    """The rows of each kind; `audit` has the last events alone until all are asked for."""

    run: RunRow
    plans: list[PlanRow]
    tasks: list[TaskRow]
    dispatches: list[DispatchRow]
    gates: list[GateRow]
    evidence: list[EvidenceRow]
    audit: list[EventRow]
    trouble: list[TroubleRow]


class Digest(TypedDict, total=False):
    """What a report tells beside the rows."""

    blockers: list[dict[str, str]]
    risks: list[dict[str, str]]
    verification: list[dict[str, Any]]
    changed_files: list[dict[str, Any]]
    recovered: list[dict[str, Any]]


class RunRows(Rows, Digest, total=False):
    """The same, with what comes and goes on the way: what is kept beside them, and what is added when one looks."""

    roles: list[RoleRow]
    findings: list[Finding]

    # Kept, and not shown.
    events: int
    redacted: list[EvidenceRow]
    signs: bool
    fresh: list[str]
    cites: dict[str, list[str]]
    whole: bool
    latest: str

    # Shown.
    ahead: list[str]
    stale: list[str]
    counts: dict[str, int]
    ready: list[str]
    archived: bool
    live: list[LiveRow]
    next: list[dict[str, str]]
    uncommitted: list[str]
    omitted: dict[str, int]
    knowledge: Any
    also_open: list[RunRow]
