"""Guard: what policy says to destructive commands, in text that is handed over and in commands that Memento starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.errors import Misused, Refused
from memento_git.work.dangers.risky_words import is_risky

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from memento_git.model.policy import Policy
    from memento_git.work.dangers.destructive import Danger


class DestructiveCommand(Refused):
    """What is handed to a worker names a command that would destroy work, history or a machine."""

    token = "destructive_command"
    sentence = "{where}, line {line}: {command} ({rule}): {why}"
    hint_ = (
        "take it out; or allow it with a reason: "
        "memento dispatch create TASK --executor WHO --allow-destructive {rule} --reason WHY"
    )


class DestructiveArgv(Refused):
    """A command that Memento would start itself is destructive."""

    token = "destructive_argv"
    sentence = "{where}: {command} ({rule}): {why}"
    hint_ = "change the command, or policy.preflight.destructive; memento preflight -- CMD judges one"


class RuleUnknown(Misused):
    token = "rule_unknown"
    sentence = "no rule about destructive commands is called {given!r}"
    hint_ = "one of: {allowed}"


def refuse_text(policy: Policy, texts: Iterable[tuple[str, str]], allowed: Collection[str] = ()) -> list[str]:
    """Refuse texts that name what is destructive and was not allowed by rule; return what is only to be warned of."""
    if policy.preflight["destructive"] == "ignore":
        return []
    told = []
    for where, danger in dangers(policy, texts):
        if danger.rule in allowed:
            continue
        if policy.preflight["destructive"] == "refuse":
            raise DestructiveCommand(
                where=where, line=danger.line, command=danger.command, rule=danger.rule, why=danger.why
            )
        told.append(f"{where}, line {danger.line}: {danger.command} ({danger.rule}): {danger.why}")
    return told


def refuse_argv(policy: Policy, argv: Sequence[str], where: str) -> list[str]:
    """Refuse to start a destructive command; return what is only to be warned of."""
    if policy.preflight["destructive"] == "ignore" or not is_risky(" ".join(argv)):
        return []
    from memento_git.work.dangers.destructive import in_argv

    told = []
    for danger in in_argv(argv, policy.preflight["branches"]):
        if policy.preflight["destructive"] == "refuse":
            raise DestructiveArgv(where=where, command=danger.command, rule=danger.rule, why=danger.why)
        told.append(f"{where}: {danger.command} ({danger.rule}): {danger.why}")
    return told


def dangers(policy: Policy, texts: Iterable[tuple[str, str]]) -> list[tuple[str, Danger]]:
    """Return what is destructive in texts, each with the name of its text."""
    suspects = [(where, text) for where, text in texts if is_risky(text)]
    if not suspects:
        return []
    from memento_git.work.dangers.destructive import in_text

    protected = policy.preflight["branches"]
    return [(where, danger) for where, text in suspects for danger in in_text(text, protected)]


def rows(found: Iterable[tuple[str, Danger]]) -> list[dict[str, Any]]:
    """Return dangers as rows."""
    return [{"where": where, **danger._asdict()} for where, danger in found]


def known_rules(names: Iterable[str]) -> list[str]:
    """Return rules as they were named; refuse a name that no rule has."""
    asked = sorted(set(names))
    if not asked:
        return []
    from memento_git.work.dangers.destructive import RULES

    for name in asked:
        if name not in RULES:
            raise RuleUnknown(given=name, allowed=", ".join(RULES))
    return asked


def texts_of(prose: Any, kind: str) -> list[tuple[str, str]]:
    """Return the texts of a run, plan or task that a worker reads, with their names."""
    listed = [(key, text) for key in ("constraints", "criteria") for text in prose.list(key)]
    named = [("title" if kind != "run" else "goal", prose.title), *listed, ("body", prose.body)]
    return [(f"{kind} {prose.id}, {name}", text) for name, text in named if text]
