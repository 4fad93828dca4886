"""Events that came by merge to a run that was put into its archive before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.ledger import codec, layout
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.view import View


def late_rows(view: View, run: str) -> list[dict[str, Any]]:
    """Return the events of an archived run that no archive of it holds, oldest first."""
    state = RunState(view, run)
    index = state.index
    packed = view.archived.get(run)
    if not packed:
        return []
    rows = []
    for name, path in index.events.items():
        place = layout.place_of(path) if path not in packed else None
        if place is not None:
            event = state.event(name)
            rows.append({
                "run_id": run, "record": place.of, "event": name, "action": place.do,
                "actor": event.by if event is not None else None, "at": codec.time_of(place.stamp),
            })  # fmt: skip
    return sorted(rows, key=lambda row: (str(row["at"]), str(row["event"])))
