"""apply: a list of verbs, done in one transaction; later ones name what earlier ones made."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Misused
from memento_git.ledger import yamltext
from memento_git.work.actions import dispatches, evidences, gates, plans, runs, settling, tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.ledger.store import Transaction

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
    "task verify": tasks.verify_task,
    "dispatch create": dispatches.create_dispatch,
    "dispatch claim": dispatches.claim_dispatch,
    "dispatch renew": dispatches.renew_dispatch,
    "dispatch complete": dispatches.complete_dispatch,
    "dispatch fail": dispatches.fail_dispatch,
    "dispatch recover": dispatches.recover_dispatch,
    "gate record": gates.record_gate,
    "evidence add": evidences.add_evidence,
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
    if not isinstance(step, dict) or step.get("do") not in ACTIONS:
        raise BatchInvalid(where=where, problem=f"'do' must be one of: {', '.join(ACTIONS)}")
    verb = step["do"]
    options = {key: _named(value, names, where) for key, value in step.items() if key not in ("do", "as")}
    result = ACTIONS[verb](tx, **_typed(ACTIONS[verb], options, where))
    identity = result[0] if isinstance(result, tuple) else result
    if "as" in step:
        names[str(step["as"])] = identity
    return verb, identity


def _named(value: Any, names: dict[str, str], where: str) -> Any:
    """Replace `$name` by the id of what an earlier verb made."""
    if isinstance(value, list):
        return [_named(member, names, where) for member in value]
    if isinstance(value, str) and value.startswith("$"):
        if value[1:] not in names:
            raise BatchInvalid(where=where, problem=f"nothing before it is called {value[1:]!r}")
        return names[value[1:]]
    return value


def _typed(action: Callable[..., Any], options: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the options as the action's parameters want them."""
    known = inspect.signature(action).parameters
    typed: dict[str, Any] = {}
    for key, value in options.items():
        name = key.replace("-", "_")
        if name not in known or name == "tx":
            allowed = ", ".join(other for other in known if other != "tx")
            raise BatchInvalid(where=where, problem=f"unknown option {key!r}; it takes {allowed}")
        typed[name] = _converted(str(known[name].annotation), value, f"{where}, {key}")
    missing = [name for name, one in known.items() if one.default is one.empty and name not in ("tx", *typed)]
    if missing:
        raise BatchInvalid(where=where, problem=f"option {missing[0]!r} is missing")
    return typed


def _converted(annotation: str, value: Any, where: str) -> Any:
    if annotation.startswith("Sequence"):
        return value if isinstance(value, list) else [value]
    if not isinstance(value, str):
        raise BatchInvalid(where=where, problem="one text is expected")
    if annotation == "bool":
        if value not in ("true", "false"):
            raise BatchInvalid(where=where, problem="true or false is expected")
        return value == "true"
    if annotation == "int":
        from memento_git.model.clock import duration

        return duration(value)
    return value
