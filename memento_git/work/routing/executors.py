"""Who can be handed work: the table that is built in, and what a team's config adds to it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memento_git.model.clock import duration
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memento_git.model.policy import Policy

PLACEHOLDERS: Final = ("brief", "task", "dispatch", "worktree")
TO_FILL: Final = r"\{(" + "|".join(PLACEHOLDERS) + r")\}"
HOUR: Final = 3600
REQUIRED: Final = "required"
NO_WRAP: Final = "it may only work in a sandbox, and config's `wrap` names none for it"
PROMPT: Final = "Read the file {brief}. It is your whole brief: do what it asks in this folder, then report as it says."


class Executor(NamedTuple):
    """Somebody, or something, that can be handed a task."""

    name: str
    run: tuple[str, ...] = ()
    health: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    risk: str = "high"
    cost: float = 1.0
    timeout: int = HOUR
    sandbox: str = "none"
    wrap: tuple[str, ...] = ()

    @property
    def is_boxed(self) -> bool:
        """Tell whether it may only ever work in a sandbox."""
        return self.sandbox == REQUIRED

    @property
    def by(self) -> str:
        """Return who starts the work: a `person`, or memento with the executor's `command`."""
        return "command" if self.run else "person"

    def argv(self, values: Mapping[str, str]) -> list[str]:
        """Return the command with its placeholders filled in; its standard input is to be empty."""
        return fill((*self.wrap, *self.run), values)


def fill(argv: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Return an argv with `{brief}` and its like replaced, once, and every other brace as it was."""
    return [re.sub(TO_FILL, lambda match: values.get(match[1], match[0]), word) for word in argv]


def _command(name: str, run: Sequence[str], health: Sequence[str], kinds: Sequence[str] = ()) -> Executor:
    return Executor(name, tuple(run), tuple(health), tuple(kinds), risk="medium")


BUILT_IN: Final = {
    one.name: one
    for one in (
        _command(
            "aider",
            ("aider", "--yes-always", "--no-check-update", "--no-suggest-shell-commands", "--no-gitignore",
             "--message-file", "{brief}"),
            ("aider", "--version"),
        ),
        _command(
            "claude-code",
            ("claude", "--print", PROMPT, "--permission-mode", "acceptEdits", "--allowedTools", "Read"),
            ("claude", "--version"),
        ),
        _command(
            "codex",
            ("codex", "exec", "--sandbox", "workspace-write", PROMPT),
            ("codex", "login", "status"),
        ),
        _command("goose", ("goose", "run", "--no-session", "--instructions", "{brief}"), ("goose", "--version")),
        _command(
            "hermes-profile",
            ("hermes", "chat", "--quiet", "--query-file", "{brief}"),
            ("hermes", "--version"),
        ),
        Executor("human", cost=5.0, timeout=0),
        _command("oh-my-pi", ("omp", "-p", "--no-session", "@{brief}"), ("omp", "--version")),
        _command(
            "swe-agent",
            ("sweagent", "run", "--env.repo.path={worktree}", "--problem_statement.path={brief}",
             "--actions.apply_patch_locally=true"),
            ("docker", "info"),
            ("fix",),
        )._replace(sandbox=REQUIRED),
    )
}  # fmt: skip


def known(policy: Policy) -> dict[str, Executor]:
    """Return the executors by name: the built-in ones, each changed by what config says of it, and config's own."""
    found = dict(BUILT_IN)
    for name, given in policy.executors.items():
        found[name] = _changed(found.get(name, Executor(name)), given)
    return dict(sorted(found.items()))


def _changed(executor: Executor, given: Mapping[str, Any]) -> Executor:
    changes = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    if "timeout" in given:
        changes["timeout"] = duration(given["timeout"])
    if "run" in given:
        changes.setdefault("health", ())
    return Executor(**{**executor._asdict(), **changes})


def kept_boxed(executor: Executor, table: Mapping[str, Executor]) -> tuple[Executor, str]:
    """Return an executor with the sandbox of the one in the table that its command is, and whose sandbox that is."""
    if executor.is_boxed:
        return executor, executor.name
    for other in table.values():
        start = _start(other.run)
        if other.is_boxed and start and _start(executor.run)[: len(start)] == start:
            return executor._replace(sandbox=other.sandbox, wrap=other.wrap), other.name
    return executor, executor.name


def _start(argv: Sequence[str]) -> list[str]:
    """Return the words by which one knows a command: its program's name, and what follows up to the first option."""
    found = [argv[0].rpartition("/")[2]] if argv else []
    for word in argv[1:]:
        if word.startswith("-") or re.search(TO_FILL, word):
            break
        found.append(word)
    return found
