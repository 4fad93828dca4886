"""preflight: look at the work tree and judge commands before beginning; put the verdict on the run's gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.model.enumeration import some
from memento_git.work import rows
from memento_git.work.actions.gates import record_gate
from memento_git.work.dangers import guard
from memento_git.work.dispatch import preflight
from memento_git.work.dispatch.preflight import Check
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.policy import Policy
    from memento_git.model.rows import GateRow

GATE: Final = "preflight_safety"
MOST_TOLD: Final = 20
MOST_BYTES: Final = 1 << 20


class TextTooLarge(Refused):
    token = "text_too_large"
    sentence = "the text has more than {most} bytes, and none of them was judged"
    hint_ = "judge the part that names commands"


class Verdict(NamedTuple):
    """All that was looked at, and the destructive commands that were found."""

    act: str
    checks: list[Check]
    dangers: list[dict[str, Any]]

    @property
    def refused(self) -> list[Check]:
        return [check for check in self.checks if check.level == "refuse"]


def text_of(data: bytes) -> str:
    """Return the text to judge; nobody may take a part of it for all."""
    if len(data) > MOST_BYTES:
        raise TextTooLarge(most=MOST_BYTES)
    return data.decode(errors="replace")


def look(git: Git, policy: Policy, *, act: str, argv: Sequence[str] = (), text: str | None = None) -> Verdict:
    """Return what speaks against beginning, and whether policy would refuse it."""
    checks = preflight.examine(git, policy, act=act)
    found: list[dict[str, Any]] = []
    if argv:
        from memento_git.work.dangers.destructive import in_argv, in_script

        told = in_script(argv[0], policy.preflight["branches"]) if len(argv) == 1 else []
        told = told or in_argv(argv, policy.preflight["branches"])
        found += guard.rows(("command", danger) for danger in told)
    if text is not None:
        found += guard.rows(guard.dangers(policy, [("text", text)]))
    if argv or text is not None:
        checks.append(_destructive(found, policy.preflight["destructive"]))
    return Verdict(act, checks, found)


def _destructive(found: Sequence[dict[str, Any]], level: str) -> Check:
    if not found:
        return Check("destructive", "ok", "no destructive command was found")
    rules = some([*dict.fromkeys(f"{row['rule']} ({row['where']}, line {row['line']})" for row in found)], MOST_TOLD)
    if level == "ignore":
        return Check("destructive", "ok", f"{rules} (ignored by policy)")
    return Check("destructive", level, rules, "take it out, or allow the rule with a reason where it is handed out")


def record_preflight(tx: Transaction, verdict: Verdict, *, run: str = "") -> GateRow:
    """Record the verdict on the gate preflight_safety of a run; return the gate's row."""
    told = [f"{check.name}: {check.message}" for check in verdict.checks if check.level != "ok"]
    words = f"preflight before {preflight.DOING[verdict.act]}: {'; '.join(told) or 'nothing speaks against it'}"
    result = "failed" if verdict.refused else "passed"
    scope, event = record_gate(tx, GATE, result, run=run, reason=words)
    _, state = RunWriter.of(tx).find(event, "event")
    return next(row for row in rows.gate_rows(state, scope) if row["kind"] == GATE)
