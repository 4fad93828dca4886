"""What the files of the ledger say: the shape of each kind, and the records they are read into."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from memento_git.model import types as t
from memento_git.model.ids import Ref, dispatch_of
from memento_git.model.states import RISKS, RUN_KINDS, SIZES, TRUSTS
from memento_git.model.tuples import NamedTuple
from memento_git.model.types import LINE, Field, Shape

GATE_KINDS: Final = (
    "preflight_safety", "plan_review", "implementation_review", "quality_review",
    "final_acceptance", "approval", "release",
)  # fmt: skip
VERDICTS: Final = ("requested", "passed", "failed", "waived")
EVIDENCE_KINDS: Final = (
    *RUN_KINDS, "ci", "artifact", "diff", "screenshot", "approval", "graph", "memory", "note",
)  # fmt: skip
SNAPSHOT: Final = "graph.json"
OUTCOMES: Final = ("passed", "failed", "observed")
FAILURES: Final = ("environment", "timeout", "tests", "conflict", "scope", "unclear", "stopped", "other")

ACTOR: Final = t.Name()
AGENT: Final = "agent:"
WHY: Final = Field(t.Text(), required=True, doc="why, for whoever reads the ledger later")

ALLOWED: Final = Field(t.ListOf(LINE), doc="scanner rules that the writer overrode")
SIGNATURE: Final = Field(t.SIGNATURE, doc="SSH signature of all the file's other bytes, its run and id; the last key")

CODE: Final = Shape({
    "tree": Field(t.OBJECT, required=True, doc="git tree of the tracked files as they were, without .memento"),
    "full": Field(t.OBJECT, doc="the same with the untracked, unignored files added"),
    "paths": Field(t.Table(t.OBJECT), doc="git id of each path that the evidence is limited to"),
    "dirty": Field(t.Flag(), doc="whether tracked files differed from HEAD"),
    "head": Field(t.OBJECT, doc="HEAD then; a hint only, a squash removes it"),
    "untracked": Field(t.Table(t.OBJECT), doc="git id of each untracked, unignored file that was there"),
    "untracked_more": Field(t.Whole(), doc="how many more there were"),
    "absent": Field(t.Whole(1), doc="how many tracked files and submodules were not checked out"),
})  # fmt: skip

STREAM: Final = Shape({
    "sha256": Field(t.SHA256, required=True, doc="of everything that the command wrote"),
    "bytes": Field(t.Whole(), required=True),
    "kept": Field(t.Pattern("a file name", r"[a-z0-9][a-z0-9.-]{0,80}"), doc="file in the evidence's folder"),
    "kept_sha256": Field(t.SHA256, doc="of the kept copy, after redaction and cutting"),
    "cut": Field(t.Whole(), doc="bytes left out between head and tail"),
    "redacted": Field(t.Table(t.Whole()), doc="secrets replaced, by rule"),
    "binary": Field(t.Flag(), doc="not text, so not kept"),
})  # fmt: skip

COMMAND: Final = Shape({
    "argv": Field(t.ListOf(t.Text(empty=True)), required=True),
    "cwd": Field(t.FOLDER, required=True, doc="folder within the repository, '.' for its top"),
    "exit": Field(t.Whole(-255), required=True, doc="exit code; 128 and the signal when it was killed"),
    "signal": Field(t.Whole(1), doc="signal that ended it"),
    "timed_out": Field(t.Flag()),
    "seconds": Field(t.Decimal(), required=True),
    "stdout": Field(STREAM, required=True),
    "stderr": Field(STREAM, required=True),
    "tools": Field(t.Table(LINE), required=True, doc="versions of what ran it"),
})  # fmt: skip

ATTACHMENT: Final = Shape({
    "name": Field(t.PLACE, required=True, doc="path in the repository, or name of the file that was given"),
    "sha256": Field(t.SHA256, required=True),
    "bytes": Field(t.Whole(), required=True),
    "kept": Field(t.Pattern("a file name", r"[a-z0-9][a-z0-9._-]{0,80}"), doc="file in the evidence's folder"),
})  # fmt: skip

REPORT: Final = Shape({
    "name": Field(t.PLACE, required=True),
    "format": Field(t.Choice(("junit", "coverage-xml", "coverage-json", "sarif")), required=True),
    "sha256": Field(t.SHA256, required=True),
    "ok": Field(t.Flag(), required=True),
    "counts": Field(t.Table(t.Whole()), required=True),
    "failed": Field(t.ListOf(LINE), doc="names of failed cases or results"),
    "failed_more": Field(t.Whole(), doc="how many more there were"),
})  # fmt: skip

DIFF: Final = Shape({
    "range": Field(LINE, required=True),
    "base": Field(t.OBJECT, required=True),
    "tip": Field(t.OBJECT, required=True),
    "patch_id": Field(t.OBJECT, required=True, doc="git patch-id --stable"),
    "files": Field(t.ListOf(t.PLACE)),
    "files_more": Field(t.Whole(), doc="how many more there were, whose names no record holds: a backslash, a tab"),
    "added": Field(t.Whole(), required=True),
    "removed": Field(t.Whole(), required=True),
})  # fmt: skip

CHECK: Final = Shape({
    "provider": Field(t.WORD, required=True, doc="whose check it is: github, gitlab, buildkite or another"),
    "name": Field(LINE, required=True),
    "id": Field(LINE, doc="its number or id there"),
    "conclusion": Field(LINE, required=True, doc="the provider's own word for how it ended, or for how far it is"),
    "commit": Field(t.OBJECT, required=True, doc="commit that it names"),
    "url": Field(LINE),
    "finished": Field(t.TIME, doc="when it ended, as the provider says"),
})  # fmt: skip

EVIDENCE: Final = Shape({
    "id": Field(t.id_of("evidence"), required=True),
    "kind": Field(t.Choice(EVIDENCE_KINDS), required=True),
    "for": Field(t.ListOf(t.id_of("task")), doc="tasks that it may prove; none: the run as a whole"),
    "at": Field(t.TIME, required=True),
    "by": Field(ACTOR, required=True),
    "outcome": Field(t.Choice(OUTCOMES), required=True),
    "summary": Field(t.Text()),
    "command": Field(COMMAND),
    "code": Field(CODE, doc="what the command saw when it started"),
    "code_after": Field(CODE, doc="the same when it ended, if it changed"),
    "reports": Field(t.ListOf(REPORT)),
    "problems": Field(t.ListOf(LINE), doc="what kept a verdict from being good although the command said so"),
    "attachments": Field(t.ListOf(ATTACHMENT)),
    "diff": Field(DIFF),
    "uri": Field(LINE),
    "approves": Field(t.id_of("run", "plan", "task", "evidence"), doc="what an approval is about"),
    "text": Field(t.DIGEST, doc="digest of the file that an approval is about, as it was then"),
    "prompt": Field(t.Text(), doc="what the approver was asked"),
    "response": Field(t.Text(), doc="what the approver answered"),
    "check": Field(CHECK, doc="what a provider of checks reported"),
    "graph": Field(t.Table(t.Whole()), doc="counts of a graph of the code: nodes, edges, cycles, components"),
    "dispatch": Field(t.id_of("dispatch"), doc="dispatch that it came from"),
    "reproduces": Field(t.ref_to("evidence"), doc="evidence whose command this one ran again"),
    "allowed_secrets": ALLOWED,
    "signature": SIGNATURE,
})  # fmt: skip

ARGV: Final = t.ListOf(t.Text(empty=True), least=1, first=t.Text())
COMMANDED: Final = Shape({
    "run": Field(ARGV, required=True, doc="argv; no shell is involved"),
    "kind": Field(t.Choice(RUN_KINDS), doc="kind of the evidence that it makes; test where it is absent"),
    "reports": Field(t.ListOf(t.PLACE), doc="reports that it writes"),
    "timeout": Field(t.DURATION, doc="after which it, and all it started, is ended; what took longer is no pass"),
})  # fmt: skip

VERIFY: Final = {
    "evidence": Field(t.ListOf(t.Choice(EVIDENCE_KINDS)), doc="kinds that must be among the proof"),
    "trust": Field(t.Choice(TRUSTS), doc="least trust of what proves the task"),
    "commands": Field(t.ListOf(COMMANDED), doc="commands that verification runs and that must pass"),
}  # fmt: skip

BUDGET: Final = Shape({
    "attempts": Field(t.Whole(1), doc="dispatches that may fail before the task is escalated"),
    "cost": Field(t.Decimal("a cost"), doc="what all attempts together may cost, in the executors' unit"),
})  # fmt: skip

SOURCE: Final = Shape({
    "kind": Field(t.WORD, required=True, doc="cron, webhook, chat or another kind of sender"),
    "delivery": Field(LINE, required=True, doc="the sender's id of this delivery"),
    "actor": Field(LINE, doc="who caused it there"),
    "url": Field(LINE),
})  # fmt: skip

RUN: Final = Shape({
    "id": Field(t.id_of("run"), required=True),
    "goal": Field(LINE, required=True),
    "at": Field(t.TIME, required=True),
    "by": Field(ACTOR, required=True),
    "spike": Field(t.Flag(), doc="may dispatch without a canonical plan, within policy's limit"),
    "constraints": Field(t.ListOf(LINE)),
    "allowed_secrets": ALLOWED,
})  # fmt: skip

PLAN: Final = Shape({
    "id": Field(t.id_of("plan"), required=True),
    "title": Field(LINE, required=True),
    "at": Field(t.TIME, required=True),
    "by": Field(ACTOR, required=True),
    "criteria": Field(t.ListOf(LINE)),
    "assumptions": Field(t.ListOf(LINE)),
    "risks": Field(t.ListOf(LINE)),
    "verify": Field(Shape(VERIFY), doc="what verification asks of each task of the run"),
    "allowed_secrets": ALLOWED,
})  # fmt: skip

TASK: Final = Shape({
    "id": Field(t.id_of("task"), required=True),
    "title": Field(LINE, required=True),
    "at": Field(t.TIME, required=True),
    "by": Field(ACTOR, required=True),
    "criteria": Field(t.ListOf(LINE), doc="acceptance criteria"),
    "depends_on": Field(t.ListOf(t.id_of("task")), doc="tasks that must be done and proven first"),
    "files": Field(t.ListOf(t.PLACE), doc="files that the work is about"),
    "kind": Field(t.WORD, doc="what kind of work it is: feature, fix, docs, refactor, ..."),
    "risk": Field(t.Choice(RISKS), doc="how much harm a mistake does; medium where it is absent"),
    "size": Field(t.Choice(SIZES)),
    "role": Field(LINE, doc="who should do it: a role such as implementer or reviewer"),
    "verify": Field(Shape(VERIFY), doc="what verification asks of this task"),
    "budget": Field(BUDGET),
    "repairs": Field(t.id_of("task"), doc="rejected task that this one makes good"),
    "source": Field(SOURCE, doc="message from outside that it was made from"),
    "allowed_secrets": ALLOWED,
})  # fmt: skip


def is_agent(actor: str) -> bool:
    """Tell whether an actor says that it is an agent, in whatever case or width of letters."""
    return unicodedata.normalize("NFKC", actor).casefold().startswith(AGENT)


class Prose(NamedTuple):
    """A run, plan or task as its file tells it; `data` has the typed front matter."""

    id: str
    run: str
    data: dict[str, Any]
    body: str
    digest: str
    path: str

    @property
    def title(self) -> str:
        return str(self.data.get("goal") or self.data["title"])

    def list(self, key: str) -> list[str]:
        return self.data.get(key) or []


class Evidence(NamedTuple):
    """One immutable piece of evidence."""

    id: str
    run: str
    data: dict[str, Any]
    digest: str
    path: str

    @property
    def ref(self) -> Ref:
        return Ref(self.id, self.digest)

    @property
    def kind(self) -> str:
        return str(self.data["kind"])

    @property
    def tasks(self) -> list[str]:
        return self.data.get("for") or []


class Event(NamedTuple):
    """One immutable thing that happened to a record; `data` has the keys of its verb."""

    id: str
    run: str
    do: str
    of: str
    at: str
    by: str
    after: tuple[Ref, ...]
    data: dict[str, Any]
    digest: str
    path: str

    @property
    def ref(self) -> Ref:
        return Ref(self.id, self.digest)

    @property
    def dispatch(self) -> str:
        """Return the dispatch that it opens, or else that it names; nothing where it has to do with none."""
        return dispatch_of(self.id) if self.do == "dispatched" else self.get("dispatch")

    @property
    def evidence(self) -> list[str]:
        """Return the references to what it rests on."""
        return self.data.get("evidence") or []

    def get(self, key: str) -> str:
        return str(self.data.get(key) or "")


def commands_of(data: Mapping[str, Any]) -> list[list[str]]:
    """Return the commands that a record keeps word by word: the one that was run, those that are asked."""
    asked = (data.get("verify") or {}).get("commands") or ()
    return [told["argv"] for told in [data.get("command")] if told] + [one["run"] for one in asked]


def without_file_ids(text: str, data: Mapping[str, Any]) -> str:
    """Return a record's text without git's ids of files: the one of a file called `password` is no password."""
    codes = [data.get(key) or {} for key in ("code", "code_after")]
    for identity in {one for code in codes for key in ("paths", "untracked") for one in code.get(key, {}).values()}:
        text = text.replace(identity, "")
    return text
