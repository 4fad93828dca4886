"""What evidence may be trusted for: derived from how it came to be and what the ledger still holds. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.model.enumeration import many, some
from memento_git.model.states import CHECK_FAILED, CHECK_PASSED, RUN_KINDS, TRUSTS
from memento_git.model.tuples import NamedTuple
from memento_git.work.proof.codes import agree, code_seen, edited, sober, wholly
from memento_git.work.proof.verification import Command, Demand, is_late, runs, stricter, told_as

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from memento_git.model.objection import Objection
    from memento_git.model.work import Event, Evidence

MOVED: Final = (
    "the code changed while the command ran, so it proves nothing: run it again; where the command itself changes "
    "files, --covers PATH names those that it is about"
)
ABSENT: Final = "which are not checked out: where they are, it may come to something else"
ADVISORY_KINDS: Final = ("note", "memory")
OF_NOTHING: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
FAILED_COUNTS: Final = ("failed", "errors", "error")
VERDICT_KINDS: Final = (*RUN_KINDS, "ci", "approval")
OF_NO_CODE: Final = (*ADVISORY_KINDS, "approval", "diff")


class Cited(NamedTuple):
    """One piece of evidence as a completion names it: the file if it is there, its state, its trust.

    `contradicted` is why a second run of its command speaks against it, or nothing; `doubt` is why one that agrees does
    not make it reproduced; `ahead` is whether it is dated after now; `about` are the tasks of the evidence that an
    approval is about; `unheard` is why policy does not count it for the task that is asked about, by whom it is.
    """

    ref: str
    evidence: Evidence | None
    status: str
    trust: str
    contradicted: str = ""
    doubt: str = ""
    ahead: bool = False
    about: tuple[str, ...] = ()
    unheard: Objection = ""


class Proof(NamedTuple):
    """Whether a completion is proven, by what, and why not.

    `after` is what would prove it as it was done: `verify`, which runs what is asked, or `approve` before that, or
    `reproduce`, by which a runner runs it again.
    """

    proven: bool
    by: tuple[str, ...]
    why: tuple[str, ...]
    after: str = ""


def not_seen(count: int) -> str:
    """Return how many files and submodules a command did not see, as they were not checked out."""
    return f"without {many(count, 'tracked file or submodule', 'tracked files or submodules')}"


def trust_of(data: Mapping[str, Any], holds: Callable[[str, str], bool]) -> str:
    """Return the trust of evidence; `holds(name, sha256)` tells whether its folder has that file with that digest."""
    if data["kind"] in ADVISORY_KINDS:
        return "advisory"
    if "command" in data and data["kind"] in RUN_KINDS:
        streams = (data["command"]["stdout"], data["command"]["stderr"])
        return "witnessed" if all(_stream_holds(stream, holds) for stream in streams) else "reported"
    if attachments := data.get("attachments"):
        held = all("kept" in one and holds(one["kept"], one["sha256"]) for one in attachments)
        return "verified" if held else "reported"
    return "reported" if any(key in data for key in ("uri", "diff", "approves", "check", "command")) else "advisory"


def _stream_holds(stream: Mapping[str, Any], holds: Callable[[str, str], bool]) -> bool:
    if "kept" in stream:
        return holds(stream["kept"], stream.get("kept_sha256", ""))
    return (stream["bytes"] == 0 and stream["sha256"] == OF_NOTHING) or bool(stream.get("binary"))


def at_least(trust: str, least: str) -> bool:
    return TRUSTS.index(trust) <= TRUSTS.index(least)


def outcome_of(data: Mapping[str, Any]) -> str:
    """Return the outcome of evidence: of a command what it did, of a check its conclusion, of an answer what it says.

    Of anything else it is what was typed. A command of whose cases each was skipped has no verdict, as such a check.
    """
    command = data.get("command")
    if command is None:
        return _told(data)
    ended_well = command["exit"] == 0 and not command.get("timed_out") and not command.get("signal")
    sound = not data.get("problems") and all(_is_good(report) for report in data.get("reports") or ())
    if not ended_well or not sound:
        return "failed"
    return "observed" if without_verdict(data) else "passed"


def without_verdict(data: Mapping[str, Any]) -> Objection:
    """Return why the reports of a command leave it without a verdict, or nothing: they hold cases, and none passed."""
    told = data.get("reports") or ()
    held = [report for report in told if report.get("format") == "junit"]
    names = [report["name"] for report in held if not report["counts"].get("passed")]
    return f"every case in {', '.join(names)} was skipped" if names else ""


def is_silent(data: Mapping[str, Any]) -> bool:
    """Tell whether evidence of a kind that has verdicts has none, so that it takes no failure back."""
    return data["kind"] in VERDICT_KINDS and outcome_of(data) == "observed"


def _is_good(report: Mapping[str, Any]) -> bool:
    """Tell whether a report says that all is well, and nothing else in it denies that."""
    failed = any((report.get("counts") or {}).get(key) for key in FAILED_COUNTS)
    return bool(report["ok"]) and not (failed or report.get("failed") or report.get("failed_more"))


def _told(data: Mapping[str, Any]) -> str:
    if "check" in data:
        return concluded(data["check"]["conclusion"])
    if "response" in data or "prompt" in data:
        from memento_git.work.gates.consent import is_yes

        return "passed" if is_yes(data.get("response", "")) else "failed"
    return str(data["outcome"])


def counts_not_yet(evidence: Evidence, status: str, *, ahead: bool) -> bool:
    """Tell whether evidence that is dated after now is to be left out: only what failed, and stands, already counts."""
    return ahead and (status != "recorded" or outcome_of(evidence.data) != "failed")


def concluded(conclusion: str) -> str:
    """Return what a provider's word for how a check ended comes to; only a plain success is one."""
    if conclusion in CHECK_PASSED:
        return "passed"
    return "failed" if conclusion in CHECK_FAILED else "observed"


def fault(cited: Cited, task: str) -> Objection:
    """Return why a cited piece of evidence cannot count for a task, or nothing."""
    evidence = cited.evidence
    name = cited.ref.partition("@")[0]
    if cited.status != "recorded" or cited.ahead:
        return f"{name} is {'dated after now' if cited.status == 'recorded' else cited.status}"
    if evidence is None:
        return f"{name} is missing or is not the file that was cited"
    if evidence.tasks and task not in evidence.tasks:
        return f"{name} is evidence for another task"
    outcome = outcome_of(evidence.data)
    if evidence.data["outcome"] != outcome:
        did = "what the command did" if "command" in evidence.data else "what it says"
        return f"{name}: its outcome disagrees with {did}"
    if outcome == "failed":
        return f"{name} failed"
    return f"{name} is contradicted: {cited.contradicted}" if cited.contradicted else ""


def proof(
    completion: Event, text: str, cited: Iterable[Cited], asked: Demand, codes: Sequence[Mapping[str, Any]] = ()
) -> Proof:
    """Return whether one completion proves its task; `text` is the digest of the task as it is now.

    Evidence counts where it saw the code of the completion, or one of `codes`: what verification accepted.
    """
    faults = [] if completion.get("text") == text else ["the task's text changed after it was completed"]
    codes = [sober(code) for code in (completion.data["code"], *codes)]
    weak = []
    proving: dict[str, str] = {}
    sound: list[Cited] = []
    for given in cited:
        one = trusted(given, codes)
        if (problem := fault(one, completion.of)) or one.evidence is None:
            faults.append(problem)
            continue
        if one.evidence.data.get("dispatch", completion.dispatch) != completion.dispatch:
            faults.append(f"{one.evidence.id} came from another dispatch")
            continue
        if problem := approves_else(one, completion.of):
            weak.append(problem)
            continue
        sound.append(one)
        if problem := weakness(one.evidence, one.trust, asked.proof, one.doubt) or of_other_code(one.evidence, codes):
            weak.append(problem)
        else:
            proving[one.evidence.id] = one.evidence.kind
    if not proving and not faults and not weak:
        faults.append("no evidence was cited")
    kinds = missing(asked, sound, proving.values(), codes)
    after = "" if faults else _after(kinds, asked, proving)
    faults += [str(why) for kind in kinds for why in asked.why if why.asks == f"{kind} evidence"]
    faults += not_passed(asked, sound, codes)
    proven = bool(proving) and not faults
    return Proof(proven, tuple(proving), () if proven else (*faults, *weak), "" if proven else after)


def _after(lacking: Collection[str], asked: Demand, proving: Collection[str]) -> str:
    """Return what would prove a task that lacks kinds of evidence, where what it cites is no fault."""
    ran = {command.kind for command in asked.commands}
    left = {*lacking} - ran
    if left == {"approval"} and (proving or ran):
        return "approve"
    return "verify" if ran and not left else ""


def approves_else(cited: Cited, task: str) -> Objection:
    """Return why what may be an approval is none of a task that counts, or nothing.

    One of the whole run is of the task, too, and so is one of the task's evidence.
    """
    evidence = cited.evidence
    if evidence is None:
        return ""
    about = str(evidence.data.get("approves", ""))
    if not about:
        return f"{evidence.id} does not say what it approves" if evidence.kind == "approval" else ""
    kind = about.partition("_")[0]
    if (kind in ("plan", "task") and about != task) or (kind == "evidence" and task not in cited.about):
        return f"{evidence.id} approves {about}, which is not this task"
    return f"{evidence.id} {cited.unheard}" if cited.unheard else ""


def missing(
    asked: Demand, sound: Sequence[Cited], proving: Collection[str], codes: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the kinds that are asked and not among sound evidence."""
    if not asked.evidence:
        return []
    shown = {one.evidence.kind for one in sound if one.evidence and shows(one.evidence, one.trust, asked, codes)}
    return [kind for kind in asked.evidence if kind not in proving and kind not in shown]


def not_passed(asked: Demand, sound: Sequence[Cited], codes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the commands that are asked and have no pass among sound evidence, each with the rules that ask for it."""
    told = []
    least = stricter("witnessed", asked.trust)
    for command in asked.commands:
        if not any(one.evidence and meets(one, command, asked.trust, codes) for one in sound):
            rules = [why.rule for why in asked.why if why.asks == told_as(command)]
            asks = f"{' and '.join(rules)} {'asks' if len(rules) == 1 else 'ask'} for {told_as(command)}"
            nearly = _nearly(sound, command)
            told.append(f"{asks}, which has no {least} pass for this code as {command.kind} evidence{nearly}")
    return told


def _nearly(sound: Iterable[Cited], command: Command) -> str:
    """Return what of the evidence ran a command that is asked, and why it is not what is asked; or nothing."""
    for one in sound:
        data = one.evidence.data if one.evidence else {}
        if one.evidence is None or not runs(data.get("command", {}).get("argv"), command.run):
            continue
        if one.evidence.kind != command.kind:
            return f": {one.evidence.id} ran it as kind {one.evidence.kind}"
        if data["command"]["cwd"] != ".":
            return f": {one.evidence.id} ran it in {data['command']['cwd']}, not at the top of the repository"
        if is_late(seconds := data["command"]["seconds"], command.timeout):
            return f": {one.evidence.id} took {seconds:.0f} s, and it may take {command.timeout} s"
    return ""


def shows(evidence: Evidence, trust: str, asked: Demand, codes: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether sound evidence that proves nothing by itself is what was asked to be shown.

    It is of a kind that policy does not take as proof, or names no code that it could prove, as an approval or a diff.
    """
    if evidence.kind in asked.proof and (evidence.kind not in OF_NO_CODE or "code" in evidence.data):
        return False
    if not is_shown(evidence.kind, trust, outcome_of(evidence.data), {}):
        return False
    return "code" not in evidence.data or not of_other_code(evidence, codes)


def is_shown(kind: str, trust: str, outcome: str, proof: Mapping[str, str]) -> bool:
    """Tell whether evidence of a kind that is asked is trusted enough to show it, and has passed where such has to."""
    if kind not in ADVISORY_KINDS and not at_least(
        trust, "reported" if kind in OF_NO_CODE else proof.get(kind, "reported")
    ):
        return False
    return outcome == "passed" if kind in VERDICT_KINDS else outcome != "failed"


def meets(one: Cited, command: Command, least: str, codes: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether evidence is a witnessed pass of a command that is asked, with its reports, for all of this code.

    It is none if it took longer than the command may.
    """
    evidence = one.evidence
    if evidence is None or not is_of(evidence, command) or "paths" in seen_by(evidence):
        return False
    if is_late(evidence.data["command"]["seconds"], command.timeout):
        return False
    reports = {report["name"] for report in evidence.data.get("reports") or ()}
    proof = {evidence.kind: stricter("witnessed", least)}
    weak = weakness(evidence, trusted(one, codes).trust, proof) or of_other_code(evidence, codes)
    return not weak and reports.issuperset(command.reports)


def is_of(evidence: Evidence, command: Command) -> bool:
    """Tell whether evidence is of a command that is asked: the same words, at the top of the repository."""
    told = evidence.data.get("command")
    if told is None or evidence.kind != command.kind or told["cwd"] != ".":
        return False
    return runs(told["argv"], command.run)


def weakness(evidence: Evidence, trust: str, proof: Mapping[str, str], doubt: str = "") -> Objection:
    """Return why sound evidence proves nothing by itself, or nothing; `proof` is the least trust by kind.

    `doubt` is why a second run of its command does not make it reproduced.
    """
    least = proof.get(evidence.kind)
    if least is None:
        return f"{evidence.id} is of kind {evidence.kind}, which proves nothing by itself"
    if evidence.kind in ADVISORY_KINDS and "command" in evidence.data:
        return f"{evidence.id} shows that an executor ran, which proves nothing"
    if not at_least(trust, least):
        told = f": {doubt}" if doubt and least == "reproduced" else ""
        return f"{evidence.id} is only {trust}, and {least} is asked{told}"
    if outcome_of(evidence.data) != "passed":
        why = without_verdict(evidence.data)
        return f"{evidence.id} has no verdict{f': {why}' if why else ''}"
    return moved(evidence)


def moved(evidence: Evidence) -> Objection:
    """Return that the code changed while a command ran, so that nobody knows what it saw; or nothing."""
    return f"the code changed while the command of {evidence.id} ran" if has_moved(evidence.data) else ""


def doubts(data: Mapping[str, Any]) -> list[str]:
    """Return why what a command showed proves nothing, or too little, though it did not fail: what its end can tell."""
    found = [f"{without_verdict(data)}: it proves nothing"] if outcome_of(data) == "observed" else []
    found += [MOVED] if has_moved(data) else []
    absent = data["code"].get("absent")
    return [*found, f"{not_seen(absent)}, {ABSENT}"] if absent else found


def has_moved(data: Mapping[str, Any]) -> bool:
    """Tell whether the code was other when a command ended than when it began, but for what it wrote as its output."""
    after = data.get("code_after")
    return after is not None and not agree(code_seen(data), after)


def saw(evidence: Evidence, code: Callable[[tuple[str, ...]], Mapping[str, Any]]) -> bool:
    """Tell whether evidence saw the code as it is; `code` tells that, with the ids of some paths."""
    seen = seen_by(evidence)
    return agree(seen, code(tuple(sorted(seen.get("paths", ())))))


def seen_by(evidence: Evidence) -> dict[str, Any]:
    """Return the code that evidence saw, without the untracked files that its command wrote over: its output."""
    return code_seen(evidence.data)


def trusted(one: Cited, codes: Iterable[Mapping[str, Any]]) -> Cited:
    """Return cited evidence as it may be trusted about some codes.

    A command is run again on all the code that it saw; of code that it only shares a part with, that shows nothing.
    """
    data = one.evidence.data if one.evidence else {}
    if one.trust != "reproduced" or "paths" in code_seen(data):
        return one
    if any(agree({"tree": wholly(data)}, code) for code in codes):
        return one
    return one._replace(trust="witnessed", doubt="it was run again on other code than this")


def of_other_code(evidence: Evidence, codes: Sequence[Mapping[str, Any]]) -> Objection:
    """Return why evidence is not about any of these codes, the first being the completion's; or nothing."""
    saw = seen_by(evidence)
    if any(agree(saw, code) for code in codes):
        return ""
    if not saw:
        return f"{evidence.id} names no code, and so proves nothing by itself"
    others = [] if "paths" in saw else edited(saw, codes[0])
    told = f": {some(others, 3)}" if others else ""
    return f"{evidence.id} is of other code than what was completed{told}"
