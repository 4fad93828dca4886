"""Under which kind a command is recorded when nobody says: the one under which it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.ledger.store import NoLedger
from memento_git.model.ids import NoSuchRecord
from memento_git.work.proof.verification import named
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.store import Ledger

PLAIN: Final = "command"


def kind_asked(ledger: Ledger, tasks: Sequence[str], argv: Sequence[str]) -> str:
    """Return the kind under which policy, plan or one of some tasks asks for a command; `command` where none does."""
    try:
        view = ledger.view()
        found = [view.find(task, "task") for task in tasks]
    except (NoLedger, NoSuchRecord):  # a machine that only runs commands may not have them
        return PLAIN
    for task, run in found:
        for command in RunState(view, run).asked(task).commands:
            if named(command.run) == named(argv):
                return command.kind
    return PLAIN
