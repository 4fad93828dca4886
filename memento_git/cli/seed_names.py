"""The lifecycle ledger's own command names, as aliases: one table from its names and options to ours.

As there, every one of these commands takes every one of those options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import click

from memento_git.cli.options import said
from memento_git.errors import Misused

DEFAULTS: Final[dict[str, str]] = {"executor": "hermes-profile", "status": "passed"}


class Alias(NamedTuple):
    """Where a name leads: our command, our option (or nothing: its argument) for each of its options."""

    path: str
    options: Mapping[str, str] = {}
    required: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    defaults: Mapping[str, str] = DEFAULTS


OPTIONS: Final = (
    "run-id", "plan-id", "goal", "title", "task-id", "dispatch-id", "executor", "outbox-path", "summary",
    "evidence-uri", "body", "reason", "status", "actor", "query", "lesson", "kind", "risk", "size", "role",
    "before-graph-json", "after-graph-json", "provider", "external-run-id", "conclusion", "url", "scope-kind",
    "scope-id", "prompt", "response", "required-approvals", "policy-json",
)  # fmt: skip
REPEATED: Final = ("acceptance-criteria", "dependencies", "relevant-files", "candidate-json", "required-check")
FLAGS: Final = ("allow-spike", "requeue", "mock-graphify", "graphify-checkpoint")
UNREASONED: Final = {**DEFAULTS, "reason": "No reason was given."}

RUN: Final = {"run-id": "--run"}
ENDS: Final = {"dispatch-id": "", "executor": "--actor"}
GRAPHS: Final = ("before-graph-json", "after-graph-json")

TABLE: Final[dict[str, Alias]] = {
    "start": Alias("run start", {"goal": "--goal", "allow-spike": "--spike"}, ("goal",)),
    "approve-plan": Alias("plan approve", {**RUN, "plan-id": ""}, ("plan-id",)),
    "pause": Alias("run pause", {"run-id": "", "reason": "--reason"}),
    "resume": Alias("run resume", {"run-id": "", "reason": "--reason"}),
    "cancel": Alias("run cancel", {"run-id": "", "reason": "--reason"}, ("run-id",), defaults=UNREASONED),
    "enqueue-event": Alias(
        "task add",
        {
            **RUN, "title": "--title", "body": "--body", "acceptance-criteria": "--accept",
            "dependencies": "--depends-on", "relevant-files": "--file", "kind": "--kind", "risk": "--risk",
            "size": "--size", "role": "--role",
        },
        ("run-id", "title"),
    ),
    "worker-payload": Alias("task brief", {"task-id": ""}, ("task-id",)),
    "dispatch-task": Alias(
        "dispatch create", {**RUN, "task-id": "", "executor": "--executor", "reason": "--note"}, ("task-id",)
    ),
    "list-dispatches": Alias("dispatch list", RUN, fixed=("--limit", "0")),
    "claim-dispatch": Alias("dispatch claim", ENDS, ("dispatch-id",)),
    "complete-dispatch": Alias(
        "dispatch complete",
        {**ENDS, "summary": "--summary", "evidence-uri": "--evidence-uri", "graphify-checkpoint": "--graph"},
        ("dispatch-id",),
    ),
    "fail-dispatch": Alias("dispatch fail", {**ENDS, "reason": "--reason"}, ("dispatch-id",), defaults=UNREASONED),
    "verify-task": Alias("task verify", {"task-id": "", "summary": "--note"}, ("task-id",)),
    "graph-status": Alias("graph status", RUN),
    "graph-update": Alias("graph update", {**RUN, "task-id": "--task"}, ("run-id",)),
    "record-graph-diff": Alias(
        "graph diff",
        {**RUN, "task-id": "--task", "before-graph-json": "--before-json", "after-graph-json": "--after-json"},
        ("run-id", *GRAPHS), ("--record",),
    ),
    "context-bundle": Alias("task bundle", {"task-id": ""}, ("task-id",)),
    "record-external-check": Alias(
        "evidence check",
        {
            **RUN, "task-id": "--task", "provider": "--provider", "external-run-id": "--id", "status": "--status",
            "conclusion": "--conclusion", "url": "--url",
        },
        ("provider",), defaults={},
    ),
    "record-approval": Alias(
        "evidence approve", {"scope-id": "", "run-id": "", "prompt": "--prompt", "response": "--response"},
        ("response",),
    ),
    "select-patch": Alias(
        "dispatch select", {"task-id": "", "candidate-json": "--candidate"}, ("task-id",), ("--record", "best")
    ),
    "release-gate": Alias(
        "gate release",
        {**RUN, "required-check": "--require-check", "required-approvals": "--approvals", "summary": "--note"},
    ),
    "memory-prefetch": Alias("evidence list", {**RUN, "query": "--query"}, fixed=("--kind", "memory", "--limit", "0")),
    "memory-writeback": Alias(
        "evidence add", {**RUN, "lesson": "--summary", "summary": "--summary"}, fixed=("--kind", "memory")
    ),
    "route-task": Alias(
        "task route", {"task-id": "", "executor": "--executor"}, ("task-id",), ("--record",), defaults={}
    ),
    "recover-jobs": Alias(
        "dispatch recover", {**RUN, "requeue": "--requeue", "executor": "--executor"}, fixed=("--all",), defaults={}
    ),
    "review": Alias(
        "gate record", {**RUN, "status": "", "summary": "--note", "reason": "--reason"}, fixed=("quality_review",)
    ),
}  # fmt: skip

SAME: Final[dict[str, tuple[str, ...]]] = {
    "init": (), "doctor": (), "sample-smoke": ("goal",), "status": ("run-id",), "report": ("run-id",),
    "plan": ("run-id", "title", "body"), "update": (),
}  # fmt: skip
NAMES: Final = (*SAME, *TABLE)


class OptionRequired(Misused):
    sentence = "{command} needs --{option}"
    hint_ = "see memento {path} --help"

    def __init__(self, *, command: str, option: str, path: str) -> None:
        super().__init__(command=command, option=option, path=path)
        self.token = token_of(option)  # type: ignore[misc]


def token_of(option: str) -> str:
    """Return how it is called that an option which a name cannot do without is missing."""
    return f"{'graph_snapshots' if option in GRAPHS else option.replace('-', '_')}_required"


class ArgumentsInvalid(Misused):
    token = "arguments_invalid"
    sentence = "{problem}"
    hint_ = "give a JSON object, or words key=value; keys are the command's options"


def _ours(name: str, alias: Alias, values: Mapping[str, Any]) -> list[str]:
    """Return the words of our command line that its options come to."""
    options, arguments = [*alias.fixed], list[str]()
    for option, ours in alias.options.items():
        value = values.get(option.replace("-", "_")) or alias.defaults.get(option, "")
        if not value and option in alias.required:
            raise OptionRequired(command=name, option=option, path=alias.path)
        for one in (value,) if isinstance(value, (str, bool)) else value:
            if one is True:
                options.append(ours)
            elif one and ours:
                options += [ours, _dispatch(one) if option == "candidate-json" else one]
            elif one and not arguments:
                arguments.append(one)
    if values.get("actor") is not None:
        options += ["--actor", values["actor"]]
    return [*options, *(["--", *arguments] if arguments else [])]


def _dispatch(candidate: str) -> str:
    """Return which dispatch a candidate is; what else is said of it is not believed but read in the ledger."""
    found = given(candidate).get("dispatch_id")
    if not isinstance(found, str):
        raise ArgumentsInvalid(problem="a candidate needs a dispatch_id")
    return found


def _alias(name: str, alias: Alias) -> click.Command:
    def called(**values: Any) -> Any:
        from memento_git.cli.main import command_at

        target = command_at(alias.path)
        here = click.get_current_context()
        with target.make_context(alias.path, _ours(name, alias, values), parent=here) as context:
            return target.invoke(context)

    command = click.Command(name, callback=called, help=f"Same as memento {alias.path}.", hidden=True)
    command.params = [
        click.Option([f"--{option}"], default=None if option == "actor" else "", metavar="TEXT") for option in OPTIONS
    ]
    command.params += [click.Option([f"--{option}"], multiple=True, metavar="TEXT") for option in REPEATED]
    command.params += [click.Option([f"--{option}"], is_flag=True) for option in FLAGS]
    command.params += [
        click.Option(["-C", "--workspace"], default=None, metavar="PATH", callback=said),
        click.Option(["--json", "as_json"], is_flag=True),
    ]
    return command


ALIASES: Final[dict[str, click.Command]] = {name: _alias(name, alias) for name, alias in TABLE.items()}


def given(args: Any) -> dict[str, Any]:
    """Return what a plugin's command was given: a mapping, a JSON object as text, or words `key=value`."""
    import json
    from collections.abc import Mapping

    if args is None or isinstance(args, Mapping):
        return dict(args or {})
    if not isinstance(args, str):
        raise ArgumentsInvalid(problem=f"{type(args).__name__} cannot be read as arguments")
    if not args.lstrip().startswith("{"):
        return _words(args)
    try:
        loaded: dict[str, Any] = json.loads(args)
    except ValueError as error:
        raise ArgumentsInvalid(problem=f"this is not a JSON object: {error}") from None
    return loaded


def _words(text: str) -> dict[str, Any]:
    import shlex

    try:
        pairs = [word.partition("=") for word in shlex.split(text)]
    except ValueError as error:
        raise ArgumentsInvalid(problem=f"these words cannot be read: {error}") from None
    for key, sign, _ in pairs:
        if not sign:
            raise ArgumentsInvalid(problem=f"{key!r} is not key=value")
    return {key: value for key, _, value in pairs}


def arguments(name: str, values: Mapping[str, Any]) -> list[str]:
    """Return the command line of a name for values by key; what a command has no use for is left out, as there."""
    taken = (*OPTIONS, *REPEATED, *FLAGS) if name in TABLE else SAME[name]
    words = [name]
    for key, value in values.items():
        option = {"repo": "workspace"}.get(key, key.replace("_", "-"))
        if option == "workspace":
            words += ["--workspace", str(value)]
        elif option in taken and (value != "" or name in TABLE):  # what is empty is left out, as an alias does itself
            words += _option(option, value)
        elif option not in (*OPTIONS, *REPEATED, *FLAGS):
            raise ArgumentsInvalid(problem=f"{name} has no option {key!r}")
    return words


def _option(option: str, value: Any) -> Iterable[str]:
    if option in FLAGS:
        return [f"--{option}"] if value in (True, "true", "1", "yes") else []
    values = value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(one, (str, int, float)) for one in values):
        raise ArgumentsInvalid(problem=f"{option}: a text or a list of texts is expected")
    return [word for one in values for word in (f"--{option}", str(one))]
