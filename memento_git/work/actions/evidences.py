"""evidence: run add approve supersede retract."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from memento_git.errors import MementoError, Misused, Refused
from memento_git.ledger import codec, layout, settings
from memento_git.ledger.naming import begun
from memento_git.ledger.store import Ledger, NoLedger
from memento_git.model.ids import EvidenceWithdrawn, NoSuchRecord, kind_of
from memento_git.model.policy import Policy
from memento_git.model.states import RUN_KINDS
from memento_git.model.tuples import NamedTuple
from memento_git.model.types import arranged, is_blank
from memento_git.model.work import EVIDENCE, EVIDENCE_KINDS
from memento_git.texts.typed import Intake, NameUnfit, Reason, TextEmpty, UriUnfit, lists
from memento_git.work import codestate
from memento_git.work import refusals as no
from memento_git.work.actions import attaching
from memento_git.work.dispatch import handout
from memento_git.work.gates import approvals
from memento_git.work.proof import codes, trust, verification
from memento_git.work.run_writer import RunWriter, refuse_ended
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.transaction import Transaction
    from memento_git.work.attest.signatures import Sealer
    from memento_git.work.running import capture


APPROVED: Final = ("run", "plan", "task", "evidence")


class Draft(NamedTuple):
    """Evidence that is not in the ledger yet: its values, and the files of its folder."""

    data: dict[str, Any]
    files: dict[str, bytes]

    def ordered(
        self, identity: str, tasks: Sequence[str] | None, at: str, by: str, summary: str | None
    ) -> dict[str, Any]:  # fmt: skip
        """Return the values in the order of the file."""
        told = {**self.data, "id": identity, "for": tasks, "at": at, "by": by, "summary": summary}
        return dict(arranged(EVIDENCE, told))

    def named(self, argv: Sequence[str], **told: str) -> Draft:
        """Return what a command has shown, with the command, and its folder, named as those do who ask for it."""
        return self._replace(data={**self.data, "command": {**self.data["command"], "argv": argv, **told}})


class KindInvalid(Misused):
    token = "evidence_kind_invalid"
    sentence = "{given!r} is not a kind of evidence for this"
    hint_ = "one of: {allowed}"


class FolderInvalid(Refused):
    """A folder that `evidence run --out` did not write."""

    token = "evidence_folder_invalid"
    sentence = "{path}: {problem}"
    hint_ = "give the folder that memento evidence run --out wrote"


class FolderKnown(FolderInvalid):
    hint_ = "there is nothing to do; see it: memento show {path}"


@lists
def witness(
    ledger: Ledger, argv: Sequence[str], *, kind: str = "command", reports: Sequence[str] = (),
    covers: Sequence[str] = (), timeout: float | None = None, quiet: bool = False, required: bool = False,
    keep: int = 0, runner: Callable[..., capture.Captured] | None = None,
) -> Draft:  # fmt: skip
    """Run a command and return what it showed; nothing is written to the ledger yet.

    It runs, and its reports are, in the workspace; a `required` one at the top of the repository, and who interrupts
    it interrupts what it is required for. `timeout` is in seconds; `keep` is how many bytes of each stream are kept,
    policy's number by default; `runner` starts it in another way.
    """
    from memento_git.work.running import capture, witnessed

    if kind not in RUN_KINDS:
        raise KindInvalid(given=kind, allowed=", ".join(RUN_KINDS))
    git = ledger.git
    top = attaching.top_of(git)
    start = top if required else git.start
    cwd = capture.inside(top, start)
    before = _code_before(git, covers)
    tools = capture.tools(git)
    keep = keep or _policy(ledger).output
    old = witnessed.marks(top, start, reports)
    run = (runner or functools.partial(capture.run_command, quiet=quiet))(argv, start, keep=keep, timeout=timeout)
    if required and run.interrupted:
        raise KeyboardInterrupt
    scrubber = capture.Scrubber(top)
    parsed, problems = witnessed.report_records(top, start, old, scrubber)
    after, unnamed = _code_after(git, covers, scrubber)
    command, files = witnessed.command_record(argv, run, scrubber)
    data: dict[str, Any] = {
        "kind": kind,
        "command": {**command, "cwd": cwd or ".", "tools": tools},
        "code": before,
        "code_after": after if after != before else None,
        "reports": parsed,
        "problems": [*problems, *witnessed.ended_by(run), *unnamed],
    }
    ledger.warn(*trust.doubts(data))
    return Draft({**data, "outcome": trust.outcome_of(data)}, files)


def kind_asked(ledger: Ledger, tasks: Sequence[str], argv: Sequence[str]) -> str:
    """Return the kind under which policy, plan or one of some tasks asks for a command; `command` where none does."""
    try:
        view = ledger.view()
        found = [view.find(task, "task") for task in tasks]
    except (NoLedger, NoSuchRecord):  # a machine that only runs commands may not have them
        return "command"
    for task, run in found:
        for command in RunState(view, run).asked(task).commands:
            if verification.named(command.run) == verification.named(argv):
                return command.kind
    return "command"


def refuse_secret_names(ledger: Ledger, *, reports: Sequence[str], covers: Sequence[str]) -> None:
    """Refuse before a command runs the names of files that evidence of it may not hold."""
    from memento_git.work.running import capture

    intake = Intake(_policy(ledger).allow_secrets, ledger.allow_secrets)
    top, start = attaching.top_of(ledger.git), ledger.git.start
    intake.name("the name of the folder", capture.inside(top, start))
    for report in reports:
        intake.name("the name of a report", capture.inside(top, start / report))
    for path in covers:
        intake.name("the name of a covered path", path)


def _code_before(git: Git, covers: Sequence[str]) -> dict[str, Any]:
    """Return the code that a command will see; refuse to cover what git does not track, or what is no code."""
    if unfit := [path for path in covers if "\0" in path]:
        raise NameUnfit(given=unfit[0])
    if ledgers := [path for path in covers if not codes.is_code(path)]:
        raise codestate.PathOfLedger(path=ledgers[0])
    code = codestate.code_now(git, covers)
    if unknown := [path for path in covers if path not in code.get("paths", {})]:
        raise codestate.PathUnknown(path=unknown[0])
    return code


def _code_after(git: Git, covers: Sequence[str], scrubber: capture.Scrubber) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the code as a command left it; where that cannot be told, why: what it showed is not lost for that."""
    from memento_git.work.running.capture import fit

    try:
        return codestate.code_now(git, covers), []
    except (MementoError, OSError) as error:
        return None, [fit(scrubber.text(f"the code when it ended is not known: {error}"))[:500]]


def _policy(ledger: Ledger) -> Policy:
    """Return the policy in force; its defaults where a machine only runs commands and has no ledger."""
    try:
        return ledger.view().policy()
    except NoLedger:
        return Policy()


def foresee(
    tx: Transaction, *, run: str = "", tasks: Sequence[str] = (), summary: str = "", dispatch: str = ""
) -> list[str]:
    """Refuse before a command runs what would be refused after it; return the full ids of the tasks."""
    writer = RunWriter.of(tx)
    settings.identities(tx.ledger.git, tx.ledger.settings)
    writer.optional("summary", summary)
    return belongs(writer, run, _linked(writer, dispatch, tasks)[1])[1]


def belongs(writer: RunWriter, run: str, tasks: Sequence[str]) -> tuple[RunState, list[str]]:
    """Return the run that evidence will be in, and the tasks that it is for."""
    state, found = writer.home(run, tasks)
    for task in found:
        state.prose(task)
    refuse_ended(state)
    return state, found


def _linked(writer: RunWriter, dispatch: str, tasks: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the dispatch that evidence comes out of, and the tasks that it is for; by default the dispatch's."""
    if not dispatch:
        return "", tasks
    name, state = writer.find(dispatch, "dispatch")
    opened = state.opened(name)
    task = opened.of if opened is not None else ""
    if tasks and task not in [writer.find(one, "task")[0] for one in tasks]:
        raise no.EvidenceForeign(evidence=f"of {name}", tasks=task, task=", ".join(tasks))
    return name, tasks or [task]


@lists
def record_draft(
    tx: Transaction, draft: Draft, *, run: str = "", tasks: Sequence[str] = (), summary: str = "", dispatch: str = "",
    seal: Sealer | None = None,
) -> str:  # fmt: skip
    """Put a draft into the ledger; return the evidence's id."""
    writer = RunWriter.of(tx)
    name, linked = _linked(writer, dispatch or draft.data.get("dispatch", ""), tasks)
    state, found = belongs(writer, run, linked)
    for task in found:
        for late, told in handout.overdue(state.dispatches(task), tx.actor).items():
            tx.ledger.warn(f"{told}; to hold it on: memento dispatch renew {late}")
    words = writer.optional("summary", summary) or draft.data.get("summary", "")
    data = {**draft.data, "summary": words, "dispatch": name}
    if data["kind"] == "approval":
        seal = seal or writer.sealer()
    identity = draft.data.get("id") or tx.new_id("evidence")
    if "id" in draft.data and identity in tx.view.known("evidence"):
        raise FolderKnown(path=identity, problem="this evidence is, or was, in the ledger already")
    at, by = draft.data.get("at") or tx.now, draft.data.get("by") or tx.actor
    data = draft._replace(data=data).ordered(identity, found or draft.data.get("for"), at, by, words)
    writer.notice(codec.encode(data).decode())
    data["allowed_secrets"] = writer.overridden(data.get("allowed_secrets") or ())
    text = codec.encode(data)
    tx.put(layout.evidence_path(state.id, identity), seal.evidence(state.id, data, text) if seal else text)
    for name, content in draft.files.items():
        tx.put(f"{layout.folder_of(state.id, identity)}/{name}", content)
    tx.touch(state.id, identity)
    return str(identity)


@lists
def add_evidence(
    tx: Transaction, kind: str, *, run: str = "", tasks: Sequence[str] = (), summary: str = "",
    files: Sequence[str] = (), uri: str = "", diff: str = "", outcome: str = "observed", dispatch: str = "",
) -> str:  # fmt: skip
    """Add files (hashed, attached up to policy's limit), a URI or a diff `A..B`; return the evidence's id."""
    writer = RunWriter.of(tx)
    if kind not in EVIDENCE_KINDS:
        raise KindInvalid(given=kind, allowed=", ".join(EVIDENCE_KINDS))
    if kind == "memory":
        from memento_git.work.lessons import refuse_volatile

        refuse_volatile(summary)
    git = tx.ledger.git
    held: dict[str, bytes] = {}
    data: dict[str, Any] = {"kind": kind, "outcome": outcome}
    named = _files_of(uri)
    if uri and not named:
        data["uri"] = writer.text("uri", uri)
    paths = [*files, *named]
    if paths:
        data["code"] = codestate.code_now(git)
        data["attachments"] = [attaching.attach(writer, given, number, held) for number, given in enumerate(paths, 1)]
    if named:
        data["uri"] = f"file://{quote(data['attachments'][-1]['name'])}"  # wherever that was typed
    if diff:
        data["diff"] = attaching.diff_of(git, writer.text("the range", diff, lines=False))
    if is_blank(summary) and not paths and not uri and not diff:
        raise no.NothingGiven
    if kind == "approval":
        tx.ledger.warn("an approval counts for what it names, and this one names nothing: memento evidence approve ID")
    return record_draft(tx, Draft(data, held), run=run, tasks=tasks, summary=summary, dispatch=dispatch)


def _files_of(uri: str) -> list[str]:
    """Return the file that a URI names, nothing where it is a link; refuse a text that is no URI."""
    if uri.lower().startswith("file:"):
        return [attaching.local(uri)]
    if uri and not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]+:\S*\w\S*", uri):
        raise UriUnfit(given=uri[:60])
    return []


def approve(
    tx: Transaction, about: str, *, summary: str = "", prompt: str = "", response: str | None = None,
    sign: bool = False, key: str = "",
) -> str:  # fmt: skip
    """Record what the actor answers about a run, plan, task or piece of evidence; return the evidence's id.

    Without a response it is the actor's own approval; with one, only a plain yes is an approval. It is signed with an
    SSH key where `sign`, a `key` or policy asks for it.
    """
    writer = RunWriter.of(tx)
    named = begun(tx.view, about, APPROVED)
    kind = kind_of(named)
    identity, state = writer.find(named, kind)
    shown = state.evidence(identity) if kind == "evidence" else state.prose(identity)
    data = {
        "kind": "approval", "outcome": "passed", "approves": identity, "text": shown.digest if shown else "",
        "prompt": writer.optional("prompt", prompt),
    }  # fmt: skip
    if response is not None:
        from memento_git.work.gates.consent import is_yes

        data["response"] = writer.text("response", response)
        data["outcome"] = "passed" if is_yes(data["response"]) else "failed"
    elif data["prompt"]:
        raise TextEmpty(where="response", problem="a prompt was given, and no answer to it")
    status = state.evidence_status(identity) if kind == "evidence" else "recorded"
    if data["outcome"] == "passed" and status != "recorded":
        raise EvidenceWithdrawn(evidence=identity, status=status)
    tasks = [identity] if kind == "task" else []
    seal = writer.sealer(sign=sign, key=key)
    made = record_draft(tx, Draft(data, {}), run=state.id, tasks=tasks, summary=summary, seal=seal)
    if data["outcome"] == "passed":
        _tell_of_unheard(tx, state, made, identity)
    return made


def _tell_of_unheard(tx: Transaction, state: RunState, made: str, about: str) -> None:
    """Note for which tasks policy does not count an approval, by whom it is."""
    for task in (one for one in approvals.scopes(state, about) if kind_of(one) == "task"):
        if why := approvals.no_approver(state, tx.actor, task):
            tx.ledger.warn(f"{made} does not count for {task}: it {why}")


class SuccessorInvalid(Refused):
    token = "successor_invalid"
    sentence = "evidence {successor} cannot take the place of {evidence}: {why}"
    hint_ = "name other evidence of the same run: memento evidence list --run {run}"


def supersede(tx: Transaction, old: str, new: str, *, reason: str = "") -> str:
    """Say that later evidence takes the place of earlier; the earlier counts no more."""
    writer = RunWriter.of(tx)
    identity, state = writer.find(old, "evidence")
    successor, other = writer.find(new, "evidence")
    if other.id != state.id or successor == identity:
        why = "it is that itself" if successor == identity else f"it is of {other.id}, not of {state.id}"
        raise SuccessorInvalid(evidence=identity, successor=successor, why=why, run=state.id)
    if (status := other.evidence_status(successor)) != "recorded":
        raise EvidenceWithdrawn(evidence=successor, status=status)
    writer.append(state, identity, "superseded", successor=successor, reason=writer.optional("reason", reason))
    return identity


def retract(tx: Transaction, evidence: str, *, reason: Reason = "") -> str:
    """Withdraw evidence that should not have been believed; what it proved is unproven."""
    writer = RunWriter.of(tx)
    identity, state = writer.find(evidence, "evidence")
    writer.append(state, identity, "retracted", reason=writer.reason("retracting evidence", reason))
    return identity
