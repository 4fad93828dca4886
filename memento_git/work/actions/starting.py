"""Whose command can be started: what the table of executors knows of it, and what refuses it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from memento_git.errors import Misused, Refused
from memento_git.work.dangers import guard
from memento_git.work.routing import executors, probe
from memento_git.work.running import capture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.store import Ledger
    from memento_git.model.policy import Policy


class NoCommand(Refused):
    token = "executor_command_missing"
    sentence = "memento does not know how {executor} is started"
    hint_ = "give its command after two dashes, or set executors.{executor}.run in .memento/config.yaml"


class SandboxRequired(Refused):
    """An executor that may only work in a sandbox, and none that can be used."""

    token = "sandbox_required"
    sentence = "{executor} cannot be started: {why}"
    hint_ = "set executors.{owner}.wrap in .memento/config.yaml to the argv of a sandbox that works here"


class ExecutorUnnamed(Misused):
    token = "executor_required"
    sentence = "no executor and no command was given"
    hint_ = "name an executor with --executor NAME, or give a command after two dashes"


def able(ledger: Ledger, policy: Policy, name: str, argv: tuple[str, ...]) -> executors.Executor:
    """Return who is to be started, with the command that is given or the table's; refuse who cannot, or must not, be.

    A sandbox that the table requires stays, whatever command is given and by whichever name it is called.
    """
    if not name and not argv:
        raise ExecutorUnnamed
    table = executors.known(policy)
    found = table.get(name) or executors.Executor(name or Path(argv[0]).name)
    executor, owner = executors.kept_boxed(found._replace(run=argv) if argv else found, table)
    if not executor.run:
        raise NoCommand(executor=executor.name)
    if executor.is_boxed and (why := probe.boxed_ailment(executor, ledger.git.cwd)):
        raise SandboxRequired(executor=executor.name, why=why, owner=owner)
    where = f"executor {executor.name}"
    if executor.wrap:
        ledger.warn(*guard.refuse_argv(policy, executor.run, where))
    refuse_unfit(ledger, policy, (*executor.wrap, *executor.run), where)
    return executor


def refuse_unfit(ledger: Ledger, policy: Policy, argv: Sequence[str], where: str) -> None:
    """Refuse a command that is not there, or that policy calls destructive."""
    if "/" not in argv[0] and shutil.which(argv[0]) is None:
        raise capture.CommandNotStarted(argv0=argv[0], reason="it is not on PATH")
    ledger.warn(*guard.refuse_argv(policy, argv, where))
