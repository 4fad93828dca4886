"""The few words that rules, summaries and options all ask about."""

from __future__ import annotations

from typing import Final

FINAL_RUN: Final = ("cancelled", "completed")
RISKS: Final = ("low", "medium", "high")
SIZES: Final = ("small", "medium", "large")
CHECK_PASSED: Final = ("success", "passed")
CHECK_FAILED: Final = (
    "failure", "failed", "error", "cancelled", "canceled", "timed_out", "action_required", "startup_failure", "expired",
    "broken",
)  # fmt: skip
DONE: Final = ("completed", "accepted")
FINAL_TASK: Final = (*DONE, "cancelled")
PASSING: Final = ("passed", "waived")  # of a gate: it holds nothing up
GATES_OF_WORK: Final = ("final_acceptance", "release")  # of a run: they judge all that was done in it
SENDERS: Final = ("auto", "cron", "webhook", "chat")
RUN_STATUSES: Final = ("active", "blocked", "paused", "cancelled", "completed", "contested")
TASK_STATUSES: Final = (
    "pending", "dispatched", "in_progress", "blocked", "completed", "accepted", "rejected", "cancelled", "contested",
)  # fmt: skip
OPEN_DISPATCH: Final = ("queued", "claimed")
ENDED_DISPATCH: Final = ("completed", "failed", "recovered")
DISPATCH_STATUSES: Final = (*OPEN_DISPATCH, *ENDED_DISPATCH)
UNNAMED: Final = "unnamed"
"""Who a task is handed to where nobody was named."""
MADE: Final = {"run": "started", "plan": "drafted", "task": "added", "evidence": "recorded", "note": "added"}
RUN_KINDS: Final = ("command", "test", "lint", "type", "build")
TRUSTS: Final = ("reproduced", "witnessed", "verified", "reported", "advisory")
DEFAULT_PROOF: Final[dict[str, str]] = dict.fromkeys(RUN_KINDS, "witnessed")
