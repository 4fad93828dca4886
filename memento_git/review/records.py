"""What records of the work come to, by id: for notes that rest on them and for what was found. Joins both domains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.errors import MementoError
from memento_git.model.ids import Ref, kind_of, parse_ref
from memento_git.model.states import DONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.ledger.view import View
    from memento_git.model.rows import AnyRow, Row
    from memento_git.work.state import RunState


def standings(view: View, ids: Iterable[str]) -> dict[str, Row]:
    """Return status, of evidence trust, outcome and staleness, of a task proof and its run's end; of others why not.

    Stale is what saw other code than the view's, as in lists of evidence. Evidence may be named with the digest of its
    file: another file of that id proves nothing.
    """
    from memento_git.work.proof.staleness import mark_stale
    from memento_git.work.state import RunState

    states: dict[str, RunState] = {}
    found: dict[str, Row] = {}
    for name in dict.fromkeys(ids):
        identity, digest = parse_ref(name)
        kind = kind_of(identity)
        try:
            run = view.find(identity, kind)[1]
            state = states.setdefault(run, RunState(view, run))
            found[name] = _standing(state, Ref(identity, digest), kind)
        except MementoError as error:
            found[name] = {"status": error.token, "trust": None, "outcome": None, "stale": None}
    seen: list[AnyRow] = [{"id": name, "code": row.pop("code"), **row} for name, row in found.items() if "code" in row]
    mark_stale(view, seen, [])
    for row in seen:
        found[row["id"]]["stale"] = row["stale"]
    return found


def _standing(state: RunState, ref: Ref, kind: str) -> Row:
    from memento_git.work.proof.trust import outcome_of, seen_by

    if kind == "evidence":
        held = state.evidence(ref.id)
        status, trust = state.evidence_status(ref.id), state.trust_in(held) if held else "advisory"
        if ref.digest:
            _, held, status, trust, *_ = state.cited(ref)
        ended, code = (outcome_of(held.data), seen_by(held)) if held else (None, {})
        return {"status": status, "trust": trust, "outcome": ended, "stale": False, "code": code}
    of = {"run": lambda _: state.status, "plan": state.plan_status, "task": state.task_status}[kind]
    rest = _of_task(state, ref.id) if kind == "task" else {}
    return {"status": of(ref.id), "trust": None, "outcome": None, "stale": None, **rest}


def _of_task(state: RunState, task: str) -> Row:
    """Return whether a task that is done is proven, and how its run ended where that is over."""
    done = state.task_status(task) in DONE
    return {
        "proven": state.proof(task).proven if done else None,
        "run_status": state.status if state.is_final else None,
    }
