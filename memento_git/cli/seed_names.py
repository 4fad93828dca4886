"""The lifecycle ledger's own command names, as aliases: one table from its names and options to ours.

As there, every one of these commands takes every one of those options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from memento_git.errors import Misused

if TYPE_CHECKING:
    from collections.abc import Mapping


class Alias(NamedTuple):
    """Where a name leads: our command, our parameter for each of its options, and values that it implies."""

    path: str
    options: Mapping[str, str]
    fixed: Mapping[str, Any] = {}
    required: Mapping[str, str] = {}
    defaults: bool = True


OPTIONS: Final = (
    "run-id", "plan-id", "goal", "title", "task-id", "dispatch-id", "executor", "outbox-path", "summary",
    "evidence-uri", "body", "reason", "status", "actor",
)  # fmt: skip

TABLE: Final[dict[str, Alias]] = {
    "start": Alias(
        "run start", {"goal": "goal", "allow_spike": "spike"}, {"body": "", "constraint": ()}, {"goal": "goal_required"}
    ),
    "approve-plan": Alias(
        "plan approve", {"run_id": "run", "plan_id": "plan_id"}, {"note": ""}, {"plan_id": "plan_id_required"}
    ),
    "pause": Alias("run pause", {"run_id": "run_id", "reason": "reason"}),
    "resume": Alias("run resume", {"run_id": "run_id", "reason": "reason"}),
    "cancel": Alias("run cancel", {"run_id": "run_id", "reason": "reason"}),
    "enqueue-event": Alias(
        "task add", {"run_id": "run", "title": "title", "body": "body"},
        {"criteria": (), "depends_on": (), "files": ()}, {"run_id": "run_id_required", "title": "title_required"},
    ),
    "worker-payload": Alias("task brief", {"task_id": "task_id"}, {}, {"task_id": "task_id_required"}),
    "dispatch-task": Alias(
        "dispatch create", {"run_id": "run", "task_id": "task_id", "executor": "executor", "reason": "note"},
        {"candidate": False}, {"task_id": "task_id_required"},
    ),
    "list-dispatches": Alias("dispatch list", {"run_id": "run"}, {"status": "", "limit": 0, "offset": 0}),
    "claim-dispatch": Alias(
        "dispatch claim", {"dispatch_id": "dispatch_id", "executor": "actor"}, {"lease": "", "note": ""},
        {"dispatch_id": "dispatch_id_required"},
    ),
    "complete-dispatch": Alias(
        "dispatch complete",
        {"dispatch_id": "dispatch_id", "executor": "actor", "summary": "summary", "evidence_uri": "evidence_uri"},
        {"evidence": ()}, {"dispatch_id": "dispatch_id_required"},
    ),
    "fail-dispatch": Alias(
        "dispatch fail", {"dispatch_id": "dispatch_id", "executor": "actor", "reason": "reason"}, {},
        {"dispatch_id": "dispatch_id_required"},
    ),
    "route-task": Alias(
        "task route", {"task_id": "task_id", "executor": "executor"}, {"record": True},
        {"task_id": "task_id_required"}, defaults=False,
    ),
    "recover-jobs": Alias(
        "dispatch recover", {"run_id": "run", "requeue": "requeue", "executor": "executor"},
        {"dispatch_id": "", "all_": True, "force": False, "reason": ""}, defaults=False,
    ),
    "verify-task": Alias("task verify", {"task_id": "task_id", "summary": "note"}, {}, {"task_id": "task_id_required"}),
    "review": Alias(
        "gate record", {"run_id": "run", "status": "verdict", "summary": "note", "reason": "reason"},
        {"kind": "quality_review", "task": "", "evidence": ()},
    ),
}  # fmt: skip

DEFAULTS: Final = {"executor": "hermes-profile", "status": "passed"}


class OptionRequired(Misused):
    """One of the seed's commands without an option that it cannot do without."""

    sentence = "{command} needs --{option}"
    hint_ = "see memento {path} --help"

    def __init__(self, *, token: str, command: str, option: str, path: str) -> None:
        super().__init__(command=command, option=option, path=path)
        self.token = token  # type: ignore[misc]


def _target(path: str) -> click.Command:
    from memento_git.cli.main import memento

    command: click.Command = memento
    context = click.Context(memento)
    for word in path.split():
        if not isinstance(command, click.Group):
            break
        command = command.get_command(context, word) or command
    return command


def _alias(name: str, alias: Alias) -> click.Command:
    def called(**given: Any) -> Any:
        context = click.get_current_context()
        values: dict[str, Any] = dict(alias.fixed)
        for option, parameter in alias.options.items():
            value = given.get(option) or (DEFAULTS.get(option, "") if alias.defaults else "")
            if not value and option in alias.required:
                raise OptionRequired(
                    token=alias.required[option], command=name, option=option.replace("_", "-"), path=alias.path
                )
            values[parameter] = (value,) if parameter == "evidence_uri" and value else value or _empty(option)
        if given["actor"]:
            values["actor"] = given["actor"]
        return context.invoke(_target(alias.path), workspace=given["workspace"], as_json=given["as_json"], **values)

    command = click.Command(name, callback=called, help=f"Same as memento {alias.path}.", hidden=True)
    command.params = [click.Option([f"--{option}"], default="", metavar="TEXT") for option in OPTIONS]
    command.params += [
        click.Option(["--allow-spike"], is_flag=True),
        click.Option(["--requeue"], is_flag=True),
        click.Option(["-C", "--workspace"], default=None, metavar="PATH"),
        click.Option(["--json", "as_json"], is_flag=True),
    ]
    return command


def _empty(option: str) -> Any:
    return {"allow_spike": False, "requeue": False, "evidence_uri": ()}.get(option, "")


ALIASES: Final[dict[str, click.Command]] = {name: _alias(name, alias) for name, alias in TABLE.items()}
