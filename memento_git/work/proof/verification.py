"""What verification asks of a task: the strictest union of policy, plan, task and what past work showed. Pure."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from memento_git.model.clock import duration
from memento_git.model.enumeration import ends
from memento_git.model.markup import code
from memento_git.model.patterns import matches
from memento_git.model.states import DEFAULT_PROOF, RUN_KINDS, TRUSTS
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memento_git.model.policy import Policy

Source = tuple[str, "Mapping[str, Any]"]

DEFAULT_RISK: Final = "medium"
DEFAULT_KIND: Final = "test"
LONGEST_ARGUMENT: Final = 4096
LONGEST_LINE: Final = 1000
OUTSIDE: Final = "<outside>"
TAKEN_OUT: Final = (OUTSIDE, "<repository>", "[redacted: ")
DEVICES: Final = r"dev/(?:null|zero|full|u?random|stdout|stderr)(?![\w.+@~/-])"
"""Devices that are on all machines, and the same on each."""
ABSOLUTE: Final = rf"(?<![\w.:/])(?<!<repository>)/(?!{DEVICES})(?:[\w.+@~-]+/)+([\w.+@~-]*)"


class Command(NamedTuple):
    """A command that must have passed: argv, the kind of evidence it makes, reports it writes, seconds it may take."""

    run: tuple[str, ...]
    kind: str = DEFAULT_KIND
    reports: tuple[str, ...] = ()
    timeout: int = 0


class Why(NamedTuple):
    """One thing that is asked, and the rule that asks for it."""

    rule: str
    asks: str

    def __str__(self) -> str:
        return f"{self.rule} asks for {self.asks}"


class Demand(NamedTuple):
    """All that is asked of what proves a task; `trust` may be empty, `proof` is the least trust by kind.

    `approvers` are whose approvals count, where one is asked: nobody named, anybody's; `not_author`: not the worker's.
    """

    evidence: tuple[str, ...] = ()
    trust: str = ""
    proof: Mapping[str, str] = {}
    commands: tuple[Command, ...] = ()
    why: tuple[Why, ...] = ()
    approvers: tuple[str, ...] = ()
    not_author: bool = False


def asked(
    task: Mapping[str, Any], plan: Mapping[str, Any] | None, policy: Policy, extra: Sequence[Source] = ()
) -> Demand:
    """Return what is asked of a task; `task` and `plan` are their front matter, the plan the canonical one.

    `extra` is what enrichment adds, each with the rule that adds it; policy may do without. Whatever one source asks,
    no other can take back: kinds and commands are united, and the stricter trust wins.
    """
    found = united(policy.proof, [*sources(task, plan, policy), *(extra if policy.enrich else ())])
    return _by_whom(found, policy) if "approval" in found.evidence else found


def _by_whom(asked: Demand, policy: Policy) -> Demand:
    """Return what is asked with whose approval it is."""
    if not policy.approvers and not policy.approvals_not_author:
        return asked
    whose = [f"by {' or '.join(policy.approvers)}"] if policy.approvers else []
    whose += ["by another than who does the work"] if policy.approvals_not_author else []
    why = (*asked.why, Why("policy", f"that approval {', '.join(whose)}"))
    return asked._replace(why=why, approvers=policy.approvers, not_author=policy.approvals_not_author)


def sources(task: Mapping[str, Any], plan: Mapping[str, Any] | None, policy: Policy) -> Iterator[Source]:
    """Yield what each rule asks of a task, in the shape that records give it."""
    yield "policy", {"evidence": policy.require}
    for entry in policy.verify:
        if applies(entry.get("when") or {}, task):
            yield _rule(entry.get("when") or {}), entry
    if plan and plan.get("verify"):
        yield "the plan", plan["verify"]
    if task.get("verify"):
        yield "the task", task["verify"]


def applies(when: Mapping[str, Any], task: Mapping[str, Any]) -> bool:
    """Tell whether a rule of policy is about a task."""
    if when.get("kinds") and task.get("kind") not in when["kinds"]:
        return False
    if when.get("risks") and (task.get("risk") or DEFAULT_RISK) not in when["risks"]:
        return False
    files = task.get("files") or ()
    return not when.get("files") or any(matches(pattern, path) for pattern in when["files"] for path in files)


def _rule(when: Mapping[str, Any]) -> str:
    parts = [
        f"{word} {' or '.join(when[key])}"
        for key, word in (("kinds", "kind"), ("risks", "risk"), ("files", "files"))
        if when.get(key)
    ]
    return f"policy for {', '.join(parts)}" if parts else "policy"


def united(proof: Mapping[str, str], given: Iterable[Source]) -> Demand:
    """Return all that several rules ask together."""
    kinds: dict[str, None] = {}
    commands: dict[tuple[tuple[str, ...], str], Command] = {}
    least = ""
    why: dict[Why, None] = {}
    for rule, verify in given:
        for kind in verify.get("evidence") or ():
            kinds[kind] = None
            why[Why(rule, f"{kind} evidence")] = None
        if trust := verify.get("trust"):
            least = stricter(least, trust)
            why[Why(rule, f"{trust} evidence or better")] = None
        for told in verify.get("commands") or ():
            command = _command(told)
            key = (command.run, command.kind)
            commands[key] = _both(commands[key], command) if key in commands else command
            why[Why(rule, told_as(command))] = None
    by_kind = {kind: stricter(trust, least) for kind, trust in proof.items()}
    return Demand(tuple(kinds), least, by_kind, tuple(commands.values()), tuple(why))


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies in it."""
    return path == folder or path.startswith(f"{folder}/")


def stricter(one: str, other: str) -> str:
    """Return the trust that is harder to reach; an empty one asks for nothing."""
    if not one or not other:
        return one or other
    return min(one, other, key=TRUSTS.index)


def asks_less(old: Mapping[str, Any], new: Mapping[str, Any], policy: Policy) -> list[str]:
    """Return what is asked of a task with one front matter, and not with another, be it by policy for such tasks."""
    gone = [f"criterion {line[:60]!r}" for line in old.get("criteria") or () if line not in (new.get("criteria") or ())]
    return [*gone, *proves_less(old, new, policy)]


def proves_less(
    old: Mapping[str, Any], new: Mapping[str, Any], policy: Policy, *beside: Mapping[str, Any]
) -> list[str]:  # fmt: skip
    """Return what proof is asked of a task with one front matter, and not with another, nor with more beside that."""
    before = united({}, sources(old, None, policy))
    now = united({}, chain.from_iterable(sources(told, None, policy) for told in (new, *beside)))
    return _lost(before, now)


def plan_asks_less(old: Mapping[str, Any], new: Mapping[str, Any], policy: Policy) -> list[str]:
    """Return what one plan asks, and neither another one nor policy, whatever the task."""
    always = policy._replace(verify=tuple(entry for entry in policy.verify if not entry.get("when")))
    before, now = (united({}, sources({}, told, always)) for told in (old, new))
    return _lost(before, now)


def _lost(before: Demand, now: Demand) -> list[str]:
    """Return what is asked before, and not now, each with the rule that asks for it."""
    lost = [(f"{kind} evidence", "") for kind in before.evidence if kind not in now.evidence]
    lost += [
        (told_as(one), _besides(one) if any(other.run == one.run for other in now.commands) else "")
        for one in before.commands
        if not any(_is_within(other, one) for other in now.commands)
    ]
    if stricter(before.trust, now.trust) != now.trust:
        lost.append((f"{before.trust} evidence or better", ""))
    return [f"{next(why for why in before.why if why.asks == asks)}{besides}" for asks, besides in lost]


def _besides(command: Command) -> str:
    """Return what is asked of a command beside its words."""
    reports = f", with {', '.join(command.reports)}" if command.reports else ""
    return f" as {command.kind} evidence{reports}" + (f", within {command.timeout} s" if command.timeout else "")


def _is_within(one: Command, other: Command) -> bool:
    """Tell whether whoever runs one command does all that is asked of another."""
    in_time = not other.timeout or 0 < one.timeout <= other.timeout
    return (one.run, one.kind) == (other.run, other.kind) and in_time and {*one.reports} >= {*other.reports}


def _command(told: Mapping[str, Any]) -> Command:
    timeout = duration(told["timeout"]) if told.get("timeout") else 0
    return Command(tuple(told["run"]), told.get("kind") or DEFAULT_KIND, tuple(told.get("reports") or ()), timeout)


def _both(one: Command, other: Command) -> Command:
    """Return one command for two that differ in reports and time only: all reports, the shorter time."""
    times = [command.timeout for command in (one, other) if command.timeout]
    reports = tuple(dict.fromkeys([*one.reports, *other.reports]))
    return one._replace(reports=reports, timeout=min(times, default=0))


def shown(argv: Sequence[str]) -> str:
    """Return a command as one line for people; of a long one the end, too."""
    import shlex

    return ends(" ".join(shlex.join(argv).split()), 200)


def show_lines(task: str, asked: Mapping[str, Any] | None, passed: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Return the command lines that record what is asked of a task, given as a row, and `passed` does not show.

    They are the required commands as they are, and a line for each kind that is asked beside them, but for a yes to
    what is done; where nothing is asked, one for a kind that proves.
    """
    told = asked or {"commands": (), "evidence": (), "proof": DEFAULT_PROOF}
    left = [one for one in told["commands"] if not any(_is_row_of(row, one) for row in passed)]
    lines = [f"memento evidence run --task {task}{_options(one)} -- {_typed(one['run'])}" for one in left]
    known = {one["kind"] for one in (*told["commands"], *passed)}
    kinds = [kind for kind in told["evidence"] if kind not in known and kind != "approval"]
    first = next(filter(told["proof"].__contains__, RUN_KINDS), next(iter(told["proof"]), DEFAULT_KIND))
    if first not in known and known.union(kinds).isdisjoint(told["proof"]):
        kinds = [first, *kinds]
    runs = [kind for kind in kinds if kind in RUN_KINDS]
    return lines + [show_line(task, kind) for kind in (*runs, *(kind for kind in kinds if kind not in runs))]


def show_line(task: str, kind: str) -> str:
    """Return the command line that records evidence of a kind for a task."""
    if kind in RUN_KINDS:
        return f"memento evidence run --task {task}{'' if kind == RUN_KINDS[0] else f' --kind {kind}'} -- CMD"
    adding = f"memento evidence add --task {task} --kind {kind}"
    ways = {
        "approval": f"memento evidence approve {task}",
        "ci": f"memento evidence check --task {task} FILE",
        "diff": f"{adding} --diff A..B",
        "graph": f"memento graph update --task {task}",
        **dict.fromkeys(("note", "memory"), f"{adding} --summary TEXT"),
    }
    return ways.get(kind, f"{adding} FILE")


def again_line(task: str, evidence: Mapping[str, Any]) -> str:
    """Return the command line that records for a task what the command of some evidence shows by now.

    It has a CMD where it runs in another folder, or is not recorded whole.
    """
    command, reports = evidence["command"], [one["name"] for one in evidence.get("reports") or ()]
    is_known = command["cwd"] == "." and not any(map(is_cut, command["argv"]))
    options = _options({"kind": evidence["kind"], "reports": reports})
    return f"memento evidence run --task {task}{options} -- {_typed(command['argv']) if is_known else 'CMD'}"


def is_cut(argument: str) -> bool:
    """Tell whether a word of a recorded command lacks a secret, a foreign path or the end of a long word."""
    return (
        any(mark in argument for mark in TAKEN_OUT)
        or argument.startswith("~")
        or "=~" in argument
        or len(argument) > LONGEST_ARGUMENT
    )


def _is_row_of(evidence: Mapping[str, Any], command: Mapping[str, Any]) -> bool:
    """Tell whether evidence, given as a row, is of a command that is asked, at the top, of all code, with its reports.

    It is what `trust.meets` asks of evidence, but for the code.
    """
    reports = {report["name"] for report in evidence["reports"]}
    same = (evidence["kind"], evidence["folder"]) == (command["kind"], ".") and reports.issuperset(command["reports"])
    is_one = same and not evidence["covers"] and runs(evidence["command"], command["run"])
    return is_one and not is_late(evidence["seconds"], command["timeout"])


def is_late(seconds: float, limit: int | None) -> bool:
    """Tell whether a command took longer than it may: a second more, for what is ended has overrun."""
    return bool(limit and seconds >= limit + 1)


def _options(command: Mapping[str, Any]) -> str:
    import shlex

    reports = "".join(f" --report {shlex.quote(path)}" for path in command["reports"])
    return f" --kind {command['kind']}{reports}"


def _typed(argv: Sequence[str]) -> str:
    """Return a command as it is typed, CMD for one that no line holds."""
    import shlex

    line = shlex.join(argv)
    return line if len(line) <= LONGEST_LINE and line.isprintable() else "CMD"


def told_as(command: Command) -> str:
    """Return a command as a reason names it."""
    return code(shown(command.run))


def named(argv: Sequence[str]) -> list[str]:
    """Return a command as evidence names it: without what differs between machines, of a long word the beginning."""
    return [named_argument(argument, program=not at) for at, argument in enumerate(argv)]


def masked(argv: Sequence[str]) -> list[str]:
    """Return a command as evidence names it where a word of it looks like a secret."""
    from memento_git.texts.secrets import redact_words

    return named(redact_words(argv))


def runs(words: Sequence[str] | None, argv: Sequence[str]) -> bool:
    """Tell whether evidence names the words of a command, as they are or without its secrets."""
    is_masked = any("[redacted: " in word for word in words or ())
    return words == named(argv) or (is_masked and words == masked(argv))


def named_argument(argument: str, *, program: bool) -> str:
    """Return an argument without folders of a machine; only a program is known by its name wherever it lies.

    Anything else that lies outside must not look like the repository's own file of that name.
    """
    if program:
        return _cut(re.sub(ABSOLUTE, lambda match: match[1] or OUTSIDE, argument))
    return _cut(re.sub(ABSOLUTE, lambda match: f"{OUTSIDE}/{match[1]}".rstrip("/"), argument))


def _cut(argument: str) -> str:
    """Return an argument, of a long one the beginning with the digest of the whole: others may begin like it."""
    if len(argument) <= LONGEST_ARGUMENT:
        return argument
    import hashlib

    whole = hashlib.sha256(argument.encode(errors="surrogateescape")).hexdigest()
    return f"{argument[:LONGEST_ARGUMENT]}… (sha256 {whole})"
