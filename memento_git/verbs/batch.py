"""apply: a list of verbs, done in one transaction; later ones name what earlier ones made."""

from __future__ import annotations

import functools
import inspect
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import MementoError, Misused
from memento_git.ledger import codec, yamltext
from memento_git.model.clock import lasting
from memento_git.texts.typed import Reason, lists
from memento_git.verbs import notes, settling
from memento_git.work import answers
from memento_git.work.actions import (
    attaching,
    dispatches,
    evidence_checks,
    evidences,
    folders,
    gates,
    graphs,
    plans,
    releases,
    runs,
    selections,
    tasks,
    verifying,
)
from memento_git.work.proof.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import Row


def waive_gate(
    tx: Transaction, gate: str, *, run: str = "", task: str = "", reason: Reason = "", sign: bool = False, key: str = ""
) -> tuple[str, str]:
    """Let a gate go although it has not passed; return the scope and the event's id."""
    return gates.record_gate(tx, gate, "waived", run=run, task=task, reason=reason, sign=sign, key=key)


@lists
def add_evidence(
    tx: Transaction, kind: str = "", *, run: str = "", tasks: Sequence[str] = (), summary: str = "",
    files: Sequence[str] = (), uri: str = "", diff: str = "", outcome: str = "observed", from_: str = "",
    dispatch: str = "",
) -> str:  # fmt: skip
    """Add files, a URI, a diff `A..B`, or (from) a folder that `evidence run --out` wrote; return the evidence's id."""
    if from_:
        given = "" if outcome == "observed" else outcome
        folders.refuse_beside(files=files, uri=uri, diff=diff, kind=kind, outcome=given, summary=summary)
        return folders.import_folder(tx, tx.ledger.git.start / from_, run=run, tasks=tasks, dispatch=dispatch)
    return evidences.add_evidence(
        tx, kind or ("diff" if diff else "artifact"), run=run, tasks=tasks, summary=summary, files=files, uri=uri,
        diff=diff, outcome=outcome, dispatch=dispatch,
    )  # fmt: skip


@lists
def check_evidence(
    tx: Transaction, *, file: str = "", provider: str = "auto", commit: str = "", conclusion: str = "",
    status: str = "", name: str = "", id: str = "", url: str = "", run: str = "", tasks: Sequence[str] = (),  # noqa: A002
) -> str:  # fmt: skip
    """Record the checks of a provider's JSON in a file, or one check of a commit as typed; return the first id."""
    if not file:
        return evidence_checks.record_check(
            tx, provider, conclusion=conclusion, status=status, name=name, id=id, url=url, commit=commit, run=run,
            tasks=tasks,
        )[0]  # fmt: skip
    evidence_checks.refuse_typed(conclusion=conclusion, status=status, name=name, id=id, url=url)
    with attaching.opened(tx.ledger.git.start / file, file) as stream:
        found = evidence_checks.read(tx.ledger, stream.read(evidence_checks.MOST_BYTES + 1), provider, commit)
    new, old = evidence_checks.add_checks(tx, found, run=run, tasks=tasks)
    return (new or old)[0]


@lists
def release_gate(
    tx: Transaction, *, run: str = "", require_checks: Sequence[str] = (), approvals: str = "0", note: str = "",
    sign: bool = False, key: str = "",
) -> str:  # fmt: skip
    """Pass the release gate of a run that may be released; return the gate's event, or the run where it had passed."""
    if not NUMBER.fullmatch(approvals):
        raise BatchInvalid(where="approvals", problem="a whole number is expected")
    found = releases.release_run(
        tx, run=run, require_checks=require_checks, approvals=int(approvals), note=note, sign=sign, key=key
    )
    if found.verdict.missing:
        raise releases.ReleaseRefused(run=found.run, missing="; ".join(found.verdict.missing))
    return found.event or found.run


@lists
def select_dispatch(
    tx: Transaction, task: str, *, dispatch: str = "best", reason: str = "", candidates: Sequence[str] = ()
) -> str:
    """Choose the best of a task's completed candidates, or another for a reason; return the chosen dispatch."""
    found = selections.select_candidate(tx, task, dispatch=dispatch, reason=reason, only=candidates)
    if found.chosen is None:
        told = "; ".join(reason for one in found.ranked for reason in one.reasons) or "there is none"
        raise selections.NoCandidate(task=found.task, why=told)
    return found.chosen.candidate.dispatch


ACTIONS: Final[dict[str, Callable[..., Any]]] = {
    "run start": runs.start_run,
    "run pause": runs.pause_run,
    "run resume": runs.resume_run,
    "run cancel": runs.cancel_run,
    "run complete": runs.complete_run,
    "archive": runs.archive_run,
    "plan draft": plans.draft_plan,
    "plan approve": plans.approve_plan,
    "plan reject": plans.reject_plan,
    "task add": tasks.add_task,
    "task revise": tasks.revise_task,
    "task block": tasks.block_task,
    "task reopen": tasks.reopen_task,
    "task cancel": tasks.cancel_task,
    "task verify": verifying.verify_task,
    "task repair": verifying.repair_task,
    "dispatch create": dispatches.create_dispatch,
    "dispatch claim": dispatches.claim_dispatch,
    "dispatch renew": dispatches.renew_dispatch,
    "dispatch complete": dispatches.complete_dispatch,
    "dispatch select": select_dispatch,
    "dispatch fail": dispatches.fail_dispatch,
    "dispatch recover": dispatches.recover_dispatch,
    "gate record": gates.record_gate,
    "gate waive": waive_gate,
    "gate release": release_gate,
    "evidence add": add_evidence,
    "evidence check": check_evidence,
    "evidence approve": evidences.approve,
    "evidence supersede": evidences.supersede,
    "evidence retract": evidences.retract,
    "evidence redact": settling.redact_evidence,
    "graph update": graphs.update_graph,
    **notes.ACTIONS,
    "note redact": settling.redact_note,
    "settle": settling.settle_record,
    "settle void": settling.void_event,
}
FILES: Final = {"evidence add": "from_", "evidence check": "file"}  # what names a file or folder anywhere
RUNNING: Final = ("evidence run", "dispatch run", "dispatch work")
VALUES: Final = {
    "str": "text", "str | None": "text", "Reason": "text", "bool": "`true` or `false`",
    "bool | None": "`true` or `false`", "int": "a length of time", "int | None": "a whole number",
    "Sequence[str]": "list", "Sequence[str] | None": "list",
}  # fmt: skip
WORDING: Final = {
    "task revise": "; depends_on: [] takes those out, for anything else edit the task's file",
    "note add": "", "note merge": "", "note revise": "; clear takes a part away",
}  # fmt: skip
UNSAID: Final = ("tx", "bundle", "graphify")  # what a program hands over, and no list
NAMING: Final = ("run", "task", "dispatch", "executor", "lease")  # where none is named, another is meant, or none
NUMBER: Final = re.compile(r"[0-9]{1,9}")
ALSO: Final = {  # option of a command -> key of its verb, where they differ
    "summary": "note", "accept": "criteria", "check": "commands", "file": "files", "constraint": "constraints",
    "assume": "assumptions", "risk": "risks", "tag": "tags", "alias": "aliases", "source": "sources", "link": "links",
    "task": "tasks", "kind": "gate", "require_check": "require_checks", "candidate": "candidates", "text": "progress",
}  # fmt: skip
COMPLETING: Final = ("dispatch complete", "dispatch select")
LARGEST: Final = 16 << 20


class Named(NamedTuple):
    """What a verb of the list made, and the line of that verb."""

    id: str
    line: str


class Step(NamedTuple):
    """A verb of the list: where it stands, its name for what it makes, its options as they stand there."""

    verb: str
    where: str
    name: str
    options: dict[str, Any]


class BatchInvalid(Misused):
    token = "batch_invalid"
    sentence = "{where}: {problem}"
    hint_ = (
        "memento apply --keys VERB says which keys a verb takes, as does the MCP tool show with op keys; how a list is "
        "written, and each verb, is explained in Memento's documentation (reference/apply.md)"
    )


def keys_of(verb: str) -> list[Row]:
    """Return the keys of a verb: the name of each, what it is, and whether the verb refuses to go without it."""
    if verb not in ACTIONS:
        raise BatchInvalid(where=verb, problem=f"the verbs of a list are {', '.join(ACTIONS)}")
    return [
        {"name": name.rstrip("_"), "value": VALUES[str(one.annotation)],
         "required": one.default is one.empty or one.annotation == "Reason"}
        for name, one in _options(verb).items()
    ]  # fmt: skip


@functools.cache
def _options(verb: str) -> Mapping[str, inspect.Parameter]:
    """Return what a list may say of a verb."""
    found = inspect.signature(ACTIONS[verb]).parameters.items()
    return {name: one for name, one in found if name not in UNSAID}


def apply(tx: Transaction, text: bytes, *, imports: bool = True) -> list[dict[str, Any]]:
    """Do the verbs of a YAML list; return what each made. All of it is one commit, or nothing is.

    `task verify` answers its verdict too; a rejection is recorded like any other, and the verbs after it are done. What
    completes a task, or chooses how it was done, answers whether that proves it at the end of the list.
    Without `imports`, what names a file or folder anywhere on this machine is refused.
    """
    if len(text) > LARGEST:
        raise BatchInvalid(where="the list", problem=f"it has more than {LARGEST} bytes")
    try:
        loaded = yamltext.load(text)
    except yamltext.Unreadable as error:
        raise BatchInvalid(where=f"line {error.line}", problem=error.message) from None
    if not isinstance(loaded.value, list) or not loaded.value:
        raise BatchInvalid(where="line 1", problem="a list of verbs is expected")
    names: dict[str, Named] = {}
    lines = [loaded.lines.get((number,), 0) for number in range(len(loaded.value))]
    has_lines = len({*lines}) == len(lines)
    places = [f"line {line}" if has_lines else f"entry {number + 1}" for number, line in enumerate(lines)]
    steps = [_read(step, place, names, imports=imports) for step, place in zip(loaded.value, places, strict=True)]
    made: dict[str, Named] = {}
    done = [_do(tx, step, made) for step in steps]
    return [{**row, **(_proof(tx, row["id"]) if row["do"] in COMPLETING else {})} for row in done]


def _read(step: Any, line: str, names: dict[str, Named], *, imports: bool) -> Step:
    """Return a step as it is meant; refuse what is wrong with it, be it in the last line, before any is done.

    What an earlier step makes has its own name instead of an id as yet.
    """
    verb = _verb(step, line)
    where = f"{line} ({verb})"
    name = step.get("as", "")
    if not isinstance(name, str) or ("as" in step and not name):
        raise BatchInvalid(where=where, problem="'as' must be one name")
    if name in names:
        raise BatchInvalid(where=where, problem=f"{name!r} is the name of what {names[name].line} makes already")
    options: dict[str, Any] = {}
    for given, value in step.items():
        key = _key(verb, given)
        if key in options:
            raise BatchInvalid(where=where, problem=f"{given!r} says again what {key.rstrip('_')!r} is")
        options |= {key: value} if given not in ("do", "as") else {}
    named = {key: _named(value, names, where) for key, value in options.items()}
    _refuse_empty(verb, named, where)
    with _told(where):
        typed = _typed(verb, named, where)
    if not imports and FILES.get(verb) in typed:
        raise BatchInvalid(where=where, problem=f"no file is imported here: memento {verb}, in a shell")
    if name:
        names[name] = Named(f"${name}", line)
    return Step(verb, where, name, options)


def _do(tx: Transaction, step: Step, made: dict[str, Named]) -> dict[str, Any]:
    verb, where = step.verb, step.where
    before = len(tx.view.puts)
    with _told(where):
        options = {name: _named(value, made, where) for name, value in step.options.items()}
        result = ACTIONS[verb](tx, **_typed(verb, options, where))
    _refuse_unfit(tx, tx.view.puts[before:], where)
    identity = result[0] if isinstance(result, tuple) else result
    if step.name:
        made[step.name] = Named(identity, where)
    return {"do": verb, "id": identity, **(_verdict(result) if isinstance(result, Verdict) else {})}


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Let a refusal say in which line it was."""
    try:
        yield
    except MementoError as refusal:
        refusal.message = refusal.message if refusal.message.startswith(where) else f"{where}: {refusal.message}"
        refusal.args = (refusal.message,)
        raise


def _key(verb: str, given: str) -> str:
    """Return the key of a verb that is meant, be it by the name of the command's option; what is unknown as it is."""
    known, name = _options(verb), given.replace("-", "_")
    return next((one for one in (name, f"{name}_", ALSO.get(name, "")) if one in known), given)


def _verb(step: Any, line: str) -> str:
    verb = step.get("do") if isinstance(step, dict) else None
    if verb in RUNNING:
        problem = f"a list runs no commands: memento {verb} first, and name here what that recorded"
        raise BatchInvalid(where=line, problem=problem)
    if not isinstance(verb, str) or verb not in ACTIONS:
        raise BatchInvalid(where=line, problem=f"'do' must be one of: {', '.join(ACTIONS)}")
    return verb


def _refuse_unfit(tx: Transaction, paths: Iterable[str], where: str) -> None:
    """Refuse the verb that has put what reading would not take, while it is known which one that was."""
    for path in paths:
        data = tx.changes[path]
        for finding in codec.check(path, data) if data is not None else ():
            raise BatchInvalid(where=where, problem=finding.message)


def _verdict(found: Verdict) -> dict[str, Any]:
    return {"verdict": "accepted" if found.accepted else "rejected", "failed_requirements": list(found.unmet)}


def _proof(tx: Transaction, dispatch: str) -> dict[str, Any]:
    """Return whether the task of a dispatch is proven, and why not."""
    task = answers.after(tx, answers.after(tx, dispatch)["task_id"])
    return {"task_id": task["id"], **{key: task[key] for key in ("proven", "unproven_because")}}


def _named(value: Any, names: dict[str, Named], where: str) -> Any:
    """Replace `$name` by the id of what an earlier verb made; `$$` at the start of a text stands for a `$`."""
    if isinstance(value, list):
        return [_named(member, names, where) for member in value]
    if isinstance(value, str) and value.startswith("$"):
        if value.startswith("$$"):
            return value[1:]
        if value[1:] not in names:
            problem = f"nothing before it is called {value[1:]!r} (a text that begins with a $ is written $$)"
            raise BatchInvalid(where=where, problem=problem)
        return names[value[1:]].id
    return value


def _refuse_empty(verb: str, options: Mapping[str, Any], where: str) -> None:
    """Refuse an option with nothing in it where the rest would be done, or be done to another, as a command does."""
    known = _options(verb)
    for key, value in options.items():
        option = known.get(key) if verb in WORDING or key in NAMING else None
        if value == "" and option is not None and option.default is not option.empty and option.annotation != "Reason":
            raise BatchInvalid(where=f"{where}, {key}", problem=f"it is empty: leave it out{WORDING.get(verb, '')}")


def _typed(verb: str, options: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the options as the action's parameters want them; of a list, the verb itself says that it lacks one."""
    known = _options(verb)
    takes = ", ".join(name.rstrip("_") for name in known)
    typed = {name: () for name, one in known.items() if one.default is one.empty and one.annotation == "Sequence[str]"}
    for name, value in options.items():
        key = name.rstrip("_")
        if name not in known:
            raise BatchInvalid(where=where, problem=f"unknown option {key!r}; it takes {takes}")
        typed[name] = _converted(str(known[name].annotation), value, f"{where}, {key}")
    for name, one in known.items():
        if one.default is one.empty and name not in typed:
            raise BatchInvalid(where=where, problem=f"option {name!r} is missing; it takes {takes}")
    return typed


def _converted(annotation: str, value: Any, where: str) -> Any:
    if annotation.startswith("Sequence"):
        members = value if isinstance(value, list) else [value]
        if not all(isinstance(member, str) for member in members):
            raise BatchInvalid(where=where, problem="a list of texts is expected; quote a text that holds ': '")
        return [_whole(member, where) for member in members]
    if not isinstance(value, str):
        raise BatchInvalid(where=where, problem="one text is expected")
    _whole(value, where)
    if annotation.startswith("bool"):
        if value not in ("true", "false"):
            raise BatchInvalid(where=where, problem="true or false is expected")
        return value == "true"
    if annotation == "int | None":
        if not NUMBER.fullmatch(value):
            raise BatchInvalid(where=where, problem="a whole number is expected")
        return int(value)
    if annotation == "int":
        return lasting(value)
    return value


def _whole(text: str, where: str) -> str:
    """Return a text that a file could be named by; the operating system takes none with a NUL."""
    if "\0" in text:
        raise BatchInvalid(where=where, problem="character U+0000 is not allowed in a text")
    return text
