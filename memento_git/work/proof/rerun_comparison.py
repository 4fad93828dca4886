"""Running recorded commands again: which may be, and what a second run says of the first. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from memento_git.model.enumeration import some
from memento_git.model.tuples import NamedTuple
from memento_git.work.proof.codes import agree, code_seen, wholly
from memento_git.work.proof.trust import outcome_of
from memento_git.work.proof.verification import is_cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memento_git.model.objection import Objection
    from memento_git.model.work import Evidence

REPRODUCED: Final = "reproduced"
DIFFERS: Final = "differs"
CANNOT: Final = "cannot"
OTHER_CODE: Final = "other_code"
CASES: Final = ("junit", "sarif")
MOST_NAMED: Final = 5
MOST_TOLD: Final = 3


class Runner(NamedTuple):
    """Who ran a command again: the signature's word, whose it is, and why it does not count; nothing where it does."""

    signature: str = "none"
    by: str = ""
    why: str = "nobody has signed it"


NOBODY: Final = Runner()
ELSE: Final = Runner(why="it ran on other code than the first")


class Rerun(NamedTuple):
    """One later run of a command: in what it differs from the first (nothing where it agrees), and who ran it.

    One that ran on other code says nothing of the first.
    """

    id: str
    actor: str
    differences: tuple[str, ...]
    runner: Runner
    elsewhere: bool = False

    @property
    def result(self) -> str:
        return OTHER_CODE if self.elsewhere else DIFFERS if self.differences else REPRODUCED


class Seen(NamedTuple):
    """What later runs of the same command say of evidence."""

    reruns: tuple[Rerun, ...] = ()

    @property
    def agree(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.reruns if one.result == REPRODUCED)

    @property
    def differ(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.reruns if one.differences)

    @property
    def contradicted(self) -> Objection:
        """Return what speaks against the evidence, or nothing."""
        other = next((one for one in self.reruns if one.differences), None)
        if other is None:
            return ""
        return f"{other.id} ran it again on the same code: {'; '.join(other.differences[:MOST_TOLD])}"

    @property
    def trusted(self) -> bool:
        """Tell whether a runner whom policy lists came to the same, and nobody to anything else."""
        return not self.differ and any(not one.runner.why for one in self.reruns)

    @property
    def doubt(self) -> Objection:
        """Return why reruns that do not contradict do not count, or nothing."""
        told = [f"{one.id} ran it again, and {one.runner.why}" for one in self.reruns if one.runner.why]
        return "" if self.trusted else "; ".join(told[:MOST_TOLD])


def is_listed(argv: Sequence[str], patterns: Iterable[Sequence[str]]) -> bool:
    """Tell whether a command begins with the words of one of the patterns; `*` stands for anything within a word."""
    return any(
        len(argv) >= len(words) and all(map(fnmatchcase, argv[: len(words)], words)) for words in patterns if words
    )


def not_repeatable(data: Mapping[str, Any], status: str, patterns: Iterable[Sequence[str]]) -> Objection:
    """Return why recorded evidence cannot be run again, or nothing."""
    command = data.get("command")
    if status != "recorded":
        return f"it is {status}"
    if command is None:
        return "it records no command"
    argv = command["argv"]
    if not argv or any(map(is_cut, argv)):
        return "its command is not recorded whole: a secret, a foreign path or a long word's end was taken out"
    if command.get("timed_out") or command.get("signal"):
        return "it was ended from outside, which no second run can show"
    return "" if is_listed(argv, patterns) else "policy.reproduce.commands does not list its command"


def same_code(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two pieces of evidence saw the same code, as far as they are bound to it."""
    seen = code_seen(one)
    if "paths" in seen:
        return agree(seen, other.get("code") or {})
    return wholly(one) != "" and wholly(one) == wholly(other)


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return in what the verdicts of two runs of a command differ; times and outputs are no part of a verdict."""
    found = []
    exits = [run["command"]["exit"] for run in (first, second)]
    if exits[0] != exits[1]:
        found.append(f"exit code {exits[0]} is recorded, {exits[1]} came out")
    there = [{report["name"]: report for report in run.get("reports") or ()} for run in (first, second)]
    for name in sorted({*there[0], *there[1]}):
        found += _report_differences(name, there[0].get(name), there[1].get(name))
    outcomes = [outcome_of(run) for run in (first, second)]
    if outcomes[0] != outcomes[1] and not found:
        found.append(f"{outcomes[0]} is recorded, {outcomes[1]} came out")
    if first["outcome"] != outcome_of(first):
        found.append(f"its outcome is given as {first['outcome']}, and what it records comes to {outcome_of(first)}")
    return found


def _report_differences(name: str, first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> list[str]:
    if first is None or second is None:
        return [f"report {name} was {'not written' if second is None else 'written, and none is recorded'}"]
    if first["format"] != second["format"]:
        return [f"{name}: {first['format']} is recorded, {second['format']} came out"]
    found = []
    counted = {*first["counts"], *second["counts"]}
    for key in sorted(counted if first["format"] in CASES else counted.difference(second["counts"])):
        counts = [report["counts"].get(key, 0) for report in (first, second)]
        if counts[0] != counts[1]:
            found.append(f"{name}: {counts[0]} {key} recorded, {counts[1]} came out")
    names = [set(report.get("failed") or ()) for report in (first, second)]
    for told, cases in (("failed now", names[1] - names[0]), ("no longer failed", names[0] - names[1])):
        if cases:
            found.append(f"{name}: {told}: {some(sorted(cases), MOST_NAMED)}")
    if first["ok"] != second["ok"] and not found:
        found.append(f"{name}: {'good' if first['ok'] else 'bad'} is recorded, the opposite came out")
    return found


def less_covered(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return where a second run covered less of the code than is recorded; that is no verdict, but people go by it."""
    there = {report["name"]: _covered(report) for report in second.get("reports") or ()}
    recorded = [one for one in first.get("reports") or () if one["name"] in there]
    pairs = [(one["name"], _covered(one), there[one["name"]]) for one in recorded]
    return [
        f"{name}: {was[0]} of {was[1]} lines are recorded as covered, {now[0]} of {now[1]} came out"
        for name, was, now in pairs if now[0] / max(now[1], 1) < was[0] / max(was[1], 1)
    ]  # fmt: skip


def _covered(report: Mapping[str, Any]) -> tuple[int, int]:
    return report["counts"].get("covered", 0), report["counts"].get("lines", 0)


def is_rerun_of(rerun: Mapping[str, Any], first: Evidence) -> bool:
    """Tell whether evidence is of the same command, in the same folder, on the same code, and names the other."""
    return names(rerun, first) and same_code(first.data, rerun)


def names(rerun: Mapping[str, Any], first: Evidence) -> bool:
    """Tell whether evidence is of the same command, in the same folder, and names the other."""
    return rerun.get("reproduces") == str(first.ref) and _is_alike(rerun, first.data)


def denies(rerun: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether the same command, on the same code, ended otherwise, whichever evidence it was run again for."""
    return _is_alike(rerun, other) and same_code(other, rerun) and rerun["command"]["exit"] != other["command"]["exit"]


def _is_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether evidence is of the same command, of one kind and in one folder."""
    told, before = one.get("command"), other.get("command")
    return (
        told is not None
        and before is not None
        and one["kind"] == other["kind"]
        and (told["argv"], told["cwd"]) == (before["argv"], before["cwd"])
    )


def judged(
    first: Evidence, reruns: Iterable[Evidence], runner: Callable[[Evidence], Runner] = lambda _: NOBODY
) -> Seen:
    """Return what standing, witnessed reruns say of evidence; by default no signature is looked at.

    One that agrees raises its trust only where policy lists who signed it: whoever wrote a false file could write a
    second. One that differs counts whoever recorded it: nobody contradicts to gain by it.
    """
    return Seen(tuple(
        Rerun(one.id, one.data["by"], tuple(differences(first.data, one.data)), runner(one))
        if same_code(first.data, one.data) else Rerun(one.id, one.data["by"], (), ELSE, elsewhere=True)
        for one in reruns if names(one.data, first)
    ))  # fmt: skip
