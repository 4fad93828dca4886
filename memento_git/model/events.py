"""The verbs: which events a record of each kind can have, and the keys of each."""

from __future__ import annotations

from typing import Final

from memento_git.model import types as t
from memento_git.model.anchors import ABOUT
from memento_git.model.knowledge import LINK
from memento_git.model.states import MADE
from memento_git.model.types import LINE, Field, Shape
from memento_git.model.work import ACTOR, ALLOWED, CODE, FAILURES, GATE_KINDS, SIGNATURE, VERDICTS, WHY

DISPATCH: Final = Field(t.id_of("dispatch"), required=True)
UNTIL: Final = Field(t.TIME, required=True, doc="when the claim's lease ends")
EVIDENCE: Final = Field(t.ListOf(t.ref_to("evidence")), doc="what it rests on")
VERIFIED: Final = Field(CODE, doc="the code that was verified")
NOTE: Final = Field(t.Text())
REASON: Final = Field(t.Text(), doc="why")
PARTIAL: Final = Field(t.OBJECT, doc="commit that keeps what was done so far; a hint only")
TEXT: Final = Field(t.DIGEST, required=True, doc="digest of the text that it is about")
TERMS: Final = Field(t.DIGEST, doc="digest of its title, text, criteria, verification, kind, risk and files")
ASKS: Final = Field(
    t.ListOf(t.DIGEST), doc="digests of its kind, risk and files, of its words, then of each thing that proves it"
)

HEAD: Final = {
    "do": Field(t.Pattern("a verb", r"[a-z]{3,20}"), required=True),
    "of": Field(t.id_of("run", "plan", "task", "evidence", "note"), required=True),
    "at": Field(t.TIME, required=True),
    "by": Field(ACTOR, required=True),
    "after": Field(t.ListOf(t.ref_to("event")), required=True, doc="heads of every record that the rule read"),
    "allowed_secrets": ALLOWED,
}

GATE: Final = {
    "gate": Field(t.Choice(GATE_KINDS), required=True), "evidence": EVIDENCE, "reason": REASON, "note": NOTE,
    "terms": Field(t.DIGEST, doc="of a pass or waiver: of what its task asks, or of its run's goal and constraints"),
    "open": Field(t.ListOf(t.id_of("task")), doc="of final_acceptance and release: tasks that were open then"),
    "signature": SIGNATURE,
}  # fmt: skip

SETTLING: Final = {
    "settled": {"keep": Field(t.id_of("event"), required=True, doc="head whose outcome holds"), "reason": WHY},
    "voided": {
        "target": Field(t.id_of("event"), required=True),
        "absent": Field(t.ListOf(t.ref_to("event")), doc="what the target names and was not there to be folded"),
        "reason": WHY,
    },
    "redacted": {
        "target": Field(t.ref_to("event", "evidence", "note"), required=True),
        "kept": Field(t.Anything(), doc="what a removed event or evidence said, without its free texts"),
        "reason": WHY,
    },
}  # fmt: skip

CAME: Final = {
    "came_from": Field(t.DIGEST, doc="of where an imported note came from: the next import from there leaves it out"),
    "came_as": Field(t.DIGEST, doc="of what an imported note said; a purge keeps none of it"),
}

PLACES: Final = {
    "about": Field(ABOUT, doc="its places in the code, as they are at this moment"),
    "named": Field(t.DIGEST, doc="of the places that its text names: once it names others, those here count no more"),
}
LINKING: Final = {**LINK.fields, "reason": REASON}

GATED: Final = ("run", "task")
VERBS: Final[dict[str, dict[str, dict[str, Field]]]] = {
    "run": {
        "paused": {"reason": REASON},
        "resumed": {"reason": REASON},
        "cancelled": {"reason": WHY},
        "completed": {"note": NOTE},
        **SETTLING,
    },
    "plan": {
        "approved": {"text": TEXT, "note": NOTE, "signature": SIGNATURE},
        "rejected": {"reason": WHY},
        **SETTLING,
    },
    "task": {
        "dispatched": {
            "executor": Field(LINE, required=True, doc="to whom the work is handed"),
            "plan": Field(t.id_of("plan"), doc="canonical plan at that moment"),
            "spike": Field(t.Flag(), doc="no canonical plan: counts against policy's limit"),
            "candidate": Field(t.Flag(), doc="one of several tries at the same task"),
            "recovery_of": Field(t.id_of("dispatch"), doc="dispatch that it replaces"),
            "brief": Field(t.DIGEST, doc="digest of the brief that was handed over; after a recovery, of the bundle"),
            "terms": TERMS,
            "asks": ASKS,
            "branch": Field(LINE, doc="branch of the worktree that was made for it"),
            "allowed": Field(t.ListOf(LINE), doc="rules of destructive commands that the note allows"),
            "over_budget": Field(t.Text(), doc="why, although the task is beyond its budget"),
            "note": NOTE,
        },
        "claimed": {
            "dispatch": DISPATCH,
            "until": UNTIL,
            "invoked": Field(t.Flag(), doc="memento itself starts the executor's command"),
            "note": NOTE,
        },
        "renewed": {"dispatch": DISPATCH, "until": UNTIL},
        "completed": {
            "dispatch": DISPATCH,
            "code": Field(CODE, required=True, doc="the code at this moment"),
            "text": TEXT,
            "evidence": Field(t.ListOf(t.ref_to("evidence")), required=True),
            "note": NOTE,
        },
        "failed": {
            "dispatch": DISPATCH,
            "reason": WHY,
            "evidence": EVIDENCE,
            "category": Field(t.Choice(FAILURES), doc="what kind of failure it was"),
            "partial": PARTIAL,
        },
        "recovered": {"dispatch": DISPATCH, "reason": REASON, "forced": Field(t.Flag()), "partial": PARTIAL},
        "blocked": {"reason": WHY},
        "reopened": {"reason": WHY},
        "cancelled": {"reason": WHY},
        "selected": {
            "dispatch": DISPATCH,
            "reason": WHY,
            "scores": Field(t.Table(t.Whole(-1_000_000)), required=True, doc="what each candidate scored"),
        },
        "accepted": {"text": TEXT, "code": VERIFIED, "evidence": EVIDENCE, "note": NOTE},
        "rejected": {
            "unmet": Field(t.ListOf(LINE), required=True), "terms": TERMS, "asks": ASKS, "code": VERIFIED,
            "evidence": EVIDENCE, "note": NOTE,
        },
        **SETTLING,
    },
    "evidence": {
        "superseded": {"successor": Field(t.id_of("evidence"), required=True), "reason": REASON},
        "retracted": {"reason": WHY},
        **SETTLING,
    },
    "note": {
        "confirmed": {
            "text": Field(t.DIGEST, doc="of the title and text that were looked at: it speaks for no other"),
            "note": NOTE, **PLACES,
        },
        "anchored": PLACES,
        "parked": {"reason": REASON},
        "resumed": {"reason": REASON},
        "retired": {"reason": WHY},
        "restored": {"reason": REASON},
        "superseded": {"successor": Field(t.id_of("note"), required=True), "reason": REASON},
        "merged": {
            "into": Field(t.id_of("note"), required=True),
            "text": Field(t.DIGEST, doc="of the title and text that were merged away"),
            "reason": REASON,
        },
        "resolved": {"note": NOTE, "answer": Field(t.id_of("note"), doc="note that holds the answer")},
        "progressed": {"note": WHY, "next": Field(LINE, doc="what comes next")},
        "finished": {"note": NOTE},
        "promoted": {"note": NOTE, "draft": Field(t.Flag(), doc="from a draft of its writer's clone")},
        "linked": LINKING,
        "unlinked": LINKING,
        **SETTLING,
        "redacted": {**SETTLING["redacted"], **CAME},
    },
}  # fmt: skip


def actions() -> list[str]:
    """Return what can happen to records as a log names it: `task.claimed`; that one was made is told there, too."""
    made = {f"{kind}.{do}" for kind, do in MADE.items()}
    told = {f"{kind}.{do}" for kind, verbs in VERBS.items() for do in verbs}
    return sorted({*made, *told, *(f"gate.{do}" for do in VERDICTS)})


def event_shape(kind: str, do: str, *, gate: bool) -> Shape | None:
    """Return the keys of one verb on one kind of record, or None if there is no such verb."""
    if gate:
        if kind not in GATED or do not in VERDICTS:
            return None
        keys = dict(GATE)
        if do == "waived":
            keys["reason"] = WHY
        return Shape({**HEAD, **keys})
    keys_of = VERBS.get(kind, {}).get(do)
    return None if keys_of is None else Shape({**HEAD, **keys_of})
