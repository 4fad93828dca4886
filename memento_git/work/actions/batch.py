"""apply: a list of verbs, done in one transaction; later ones name what earlier ones made."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import MementoError, Misused
from memento_git.ledger import yamltext
from memento_git.work.actions import dispatches, evidences, gates, plans, runs, settling, tasks, verifying

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.ledger.store import Transaction


def waive_gate(tx: Transaction, gate: str, *, run: str = "", task: str = "", reason: str = "") -> tuple[str, str]:
    """Let a gate go although it has not passed; return the scope and the event's id."""
    return gates.record_gate(tx, gate, "waived", run=run, task=task, reason=reason)


def add_evidence(
    tx: Transaction, kind: str = "", *, run: str = "", tasks: Sequence[str] = (), summary: str = "",
    files: Sequence[str] = (), uri: str = "", diff: str = "", outcome: str = "observed", from_: str = "",
) -> str:  # fmt: skip
    """Add files, a URI, a diff `A..B`, or (from) a folder that `evidence run --out` wrote; return the evidence's id."""
    if from_:
        return evidences.import_folder(tx, tx.ledger.git.start / from_, run=run, tasks=tasks)
    chosen = kind or ("diff" if diff else "artifact")
    return evidences.add_evidence(
        tx, chosen, run=run, tasks=tasks, summary=summary, files=files, uri=uri, diff=diff, outcome=outcome
    )


ACTIONS: Final[dict[str, Callable[..., Any]]] = {
    "run start": runs.start_run,
    "run pause": runs.pause_run,
    "run resume": runs.resume_run,
    "run cancel": runs.cancel_run,
    "run complete": runs.complete_run,
    "archive": runs.archive_run,
    "plan draft": plans.draft_plan,
    "plan approve": plans.approve_plan,
    "plan reject": plans.reject_plan,
    "task add": tasks.add_task,
    "task revise": tasks.revise_task,
    "task block": tasks.block_task,
    "task reopen": tasks.reopen_task,
    "task cancel": tasks.cancel_task,
    "task verify": verifying.verify_task,
    "task repair": verifying.repair_task,
    "dispatch create": dispatches.create_dispatch,
    "dispatch claim": dispatches.claim_dispatch,
    "dispatch renew": dispatches.renew_dispatch,
    "dispatch complete": dispatches.complete_dispatch,
    "dispatch fail": dispatches.fail_dispatch,
    "dispatch recover": dispatches.recover_dispatch,
    "gate record": gates.record_gate,
    "gate waive": waive_gate,
    "evidence add": add_evidence,
    "evidence approve": evidences.approve,
    "evidence supersede": evidences.supersede,
    "evidence retract": evidences.retract,
    "evidence redact": settling.redact_record,
    "settle": settling.settle_record,
    "settle void": settling.void_event,
}


class BatchInvalid(Misused):
    """A list of verbs that cannot be understood."""

    token = "batch_invalid"
    sentence = "{where}: {problem}"
    hint_ = "see docs/reference/apply.md"


def apply(tx: Transaction, text: bytes) -> list[dict[str, Any]]:
    """Do the verbs of a YAML list; return what each made. All of it is one commit, or nothing is."""
    try:
        loaded = yamltext.load(text)
    except yamltext.Unreadable as error:
        raise BatchInvalid(where=f"line {error.line}", problem=error.message) from None
    if not isinstance(loaded.value, list) or not loaded.value:
        raise BatchInvalid(where="line 1", problem="a list of verbs is expected")
    names: dict[str, str] = {}
    done = []
    for number, step in enumerate(loaded.value):
        where = f"line {loaded.lines.get((number,), 0)}"
        verb, result = _step(tx, step, where, names)
        done.append({"do": verb, "id": result})
    return done


def _step(tx: Transaction, step: Any, where: str, names: dict[str, str]) -> tuple[str, str]:
    if not isinstance(step, dict) or not isinstance(step.get("do"), str) or step["do"] not in ACTIONS:
        raise BatchInvalid(where=where, problem=f"'do' must be one of: {', '.join(ACTIONS)}")
    verb = step["do"]
    if not isinstance(step.get("as", ""), str):
        raise BatchInvalid(where=where, problem="'as' must be one name")
    options = {key: _named(value, names, where) for key, value in step.items() if key not in ("do", "as")}
    try:
        result = ACTIONS[verb](tx, **_typed(ACTIONS[verb], options, where))
    except BatchInvalid:
        raise
    except MementoError as refusal:
        refusal.message = f"{where} ({verb}): {refusal.message}"
        refusal.args = (refusal.message,)
        raise
    identity = result[0] if isinstance(result, tuple) else result
    if "as" in step:
        names[step["as"]] = identity
    return verb, identity


def _named(value: Any, names: dict[str, str], where: str) -> Any:
    """Replace `$name` by the id of what an earlier verb made; `$$` at the start of a text stands for a `$`."""
    if isinstance(value, list):
        return [_named(member, names, where) for member in value]
    if isinstance(value, str) and value.startswith("$"):
        if value.startswith("$$"):
            return value[1:]
        if value[1:] not in names:
            problem = f"nothing before it is called {value[1:]!r} (a text that begins with a $ is written $$)"
            raise BatchInvalid(where=where, problem=problem)
        return names[value[1:]]
    return value


def _typed(action: Callable[..., Any], options: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the options as the action's parameters want them."""
    known = inspect.signature(action).parameters
    typed: dict[str, Any] = {}
    for key, value in options.items():
        name = "from_" if key == "from" else key.replace("-", "_")
        if name not in known or name == "tx":
            allowed = ", ".join(other.rstrip("_") for other in known if other != "tx")
            raise BatchInvalid(where=where, problem=f"unknown option {key!r}; it takes {allowed}")
        typed[name] = _converted(str(known[name].annotation), value, f"{where}, {key}")
    missing = [name for name, one in known.items() if one.default is one.empty and name not in ("tx", *typed)]
    if missing:
        raise BatchInvalid(where=where, problem=f"option {missing[0]!r} is missing")
    return typed


def _converted(annotation: str, value: Any, where: str) -> Any:
    if annotation.startswith("Sequence"):
        members = value if isinstance(value, list) else [value]
        if not all(isinstance(member, str) for member in members):
            raise BatchInvalid(where=where, problem="a list of texts is expected; quote a text that holds ': '")
        return members
    if not isinstance(value, str):
        raise BatchInvalid(where=where, problem="one text is expected")
    if annotation == "bool":
        if value not in ("true", "false"):
            raise BatchInvalid(where=where, problem="true or false is expected")
        return value == "true"
    if annotation == "int":
        from memento_git.model.clock import duration

        return int(value) if value.isdecimal() else duration(value)
    return value
