"""What the evidence for a task comes to: the latest of each command and kind counts, and what is left to run. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.model.markup import code
from memento_git.model.tuples import NamedTuple
from memento_git.work.proof.codes import agree, is_narrower
from memento_git.work.proof.failures import ended
from memento_git.work.proof.trust import counts_not_yet, fault, is_of, is_silent, meets, outcome_of, seen_by
from memento_git.work.proof.verification import Command, Demand, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from memento_git.model.objection import Objection
    from memento_git.model.work import Evidence
    from memento_git.work.proof.trust import Cited


class Verdict(NamedTuple):
    """What verification came to: the task, what is unmet, the evidence that was judged and that which it made."""

    task: str
    unmet: tuple[str, ...]
    judged: tuple[str, ...]
    made: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        return not self.unmet


def left_to_run(asked: Demand, latest: Sequence[Cited], code: Mapping[str, Any]) -> list[Command]:
    """Return the commands without a witnessed pass for exactly this code."""
    return [
        command for command in asked.commands if not any(meets(one, command, asked.trust, [code]) for one in latest)
    ]


def of_dispatch(found: Iterable[Cited], dispatch: str) -> list[Cited]:
    """Return the evidence that came out of one dispatch, or of none; what came out of others proves nothing of it."""
    return [one for one in found if one.evidence and one.evidence.data.get("dispatch", dispatch) == dispatch]


def latest(found: Iterable[Cited], codes: Sequence[Mapping[str, Any]]) -> list[Cited]:
    """Return, of the evidence of a task that saw one of these codes, the latest of each command or source.

    Evidence that is bound to no code counts as about any. Where the latest was taken back, none of its source counts.
    What has no verdict, or is about less code, takes no failure back.
    """
    held: dict[tuple[str, ...], Cited] = {}
    for one in sorted(found, key=_when):
        evidence = one.evidence
        if evidence is None or counts_not_yet(evidence, one.status, ahead=one.ahead):
            continue
        saw, source = seen_by(evidence), source_of(evidence)
        other = held.get(source)
        stands = other.evidence if other is not None and other.status == "recorded" else None
        if (not saw or any(agree(saw, code) for code in codes)) and not leaves(evidence, stands):
            held[source] = one
    return [one for one in held.values() if one.status == "recorded"]


def leaves(evidence: Evidence, failed: Evidence | None) -> bool:
    """Tell whether evidence takes nothing back of other evidence of its source that has failed."""
    if failed is None or outcome_of(failed.data) != "failed":
        return False
    paths, others = (seen_by(one).get("paths", ()) for one in (evidence, failed))
    return is_silent(evidence.data) or is_narrower(paths, others)


def _when(one: Cited) -> tuple[str, str, str]:
    """Return what puts evidence after other: when a check ended, when it was recorded."""
    if one.evidence is None:
        return "", "", ""
    at = one.evidence.data["at"]
    return ended(one.evidence.data.get("check") or {}, at), at, one.evidence.id


def source_of(evidence: Evidence) -> tuple[str, ...]:
    """Return what tells apart evidence of one kind: its command, its check, who approved what, or what was given."""
    data, kind = evidence.data, evidence.kind
    if told := data.get("command"):
        return kind, "command", told["cwd"], *told["argv"]
    if check := data.get("check"):
        return kind, "check", check["provider"], check["name"]
    if kind == "approval":
        return kind, "by", data["by"], str(data.get("approves", ""))
    names = [one["name"] for one in data.get("attachments") or ()]
    return kind, "" if names else data.get("uri") or "", *names


def sound(found: Iterable[Cited], task: str) -> list[Cited]:
    return [one for one in found if not fault(one, task)]


def contradictions(found: Iterable[Cited], asked: Demand, proving: Collection[str]) -> list[str]:
    """Return what failed in its latest run, or came to something else when it was run again.

    That counts of what is asked itself, and of a kind that is asked or that proves.
    """
    return [f"{_told(evidence.data)} {why}: {evidence.id}" for evidence, why in against(found, asked, proving)]


def against(found: Iterable[Cited], asked: Demand, proving: Collection[str]) -> list[tuple[Evidence, str]]:
    """Return what speaks against a completion, each with what it says."""
    kinds = {*asked.evidence, *proving}
    told = ((one.evidence, _against(one.evidence, one.contradicted)) for one in found if one.evidence)
    return [
        (evidence, why)
        for evidence, why in told
        if why and (evidence.kind in kinds or any(is_of(evidence, command) for command in asked.commands))
    ]


def _against(evidence: Evidence, contradicted: str) -> Objection:
    """Return what evidence says against a completion, or nothing; an approval that holds no more says nothing."""
    if outcome_of(evidence.data) == "failed":
        return "failed in its latest run for this code"
    return f"is contradicted: {contradicted}" if contradicted and "command" in evidence.data else ""


def _told(data: Mapping[str, Any]) -> str:
    if told := data.get("command"):
        return code(shown(told["argv"]))
    return str(data["check"]["name"]) if "check" in data else f"{data['kind']} evidence"
