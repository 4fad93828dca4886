"""What evidence may be trusted for, and when a completion is proven; no disk."""

from __future__ import annotations

from typing import Any

import pytest

from memento_git.model.policy import Policy
from memento_git.model.states import RUN_KINDS, TRUSTS
from memento_git.model.work import EVIDENCE_KINDS, Event, Evidence
from memento_git.work.proof.codes import agree
from memento_git.work.proof.trust import (
    ABSENT,
    MOVED,
    OF_NOTHING,
    Cited,
    Proof,
    at_least,
    counts_not_yet,
    doubts,
    fault,
    is_silent,
    outcome_of,
    proof,
    trust_of,
    without_verdict,
)
from memento_git.work.proof.verification import asked

TASK, OTHER = "task_000000000001", "task_000000000002"
RUN = "run_000000000000"
TREE, FULL, ELSE = "1" * 40, "2" * 40, "3" * 40
TEXT = "a" * 32
POLICY = Policy()


def evidence(number: int = 1, *, tasks: list[str] | None = None, **data: Any) -> Evidence:
    identity = f"evidence_{number:012d}"
    told = {"id": identity, "kind": "test", "outcome": "passed", "code": {"tree": TREE}, "for": tasks, **data}
    return Evidence(identity, RUN, told, f"{number:032d}", "")


def cite(found: Evidence | None, *, status: str = "recorded", trust: str = "witnessed") -> Cited:
    name = found.id if found else "evidence_000000000009"
    return Cited(f"{name}@{'0' * 32}", found, status, trust)


def completion(code: dict[str, Any] | None = None, text: str = TEXT) -> Event:
    data = {"code": code or {"tree": TREE}, "text": text, "evidence": []}
    return Event("event_000000000001", RUN, "completed", TASK, "", "Ada", (), data, "", "")


def judged(*cited: Cited, policy: Policy = POLICY, text: str = TEXT, code: dict[str, Any] | None = None) -> Proof:
    return proof(completion(code), text, cited, asked({}, None, policy))


def test_sound_evidence_that_saw_the_code_proves() -> None:
    assert judged(cite(evidence())) == Proof(True, (evidence().id,), ())


@pytest.mark.parametrize(
    ("cited", "why"),
    [
        (cite(None), "is missing"), (cite(None, status="redacted"), "is redacted"),
        (cite(evidence(), status="retracted"), "is retracted"),
        (cite(evidence(), status="superseded"), "is superseded"),
        (cite(evidence(), status="redacted"), "is redacted"),
        (cite(evidence(), status="incomplete"), "is incomplete"),
        (cite(evidence(tasks=[OTHER])), "is evidence for another task"),
        (cite(evidence(outcome="failed")), "failed"),
        (cite(evidence(outcome="observed")), "has no verdict"),
        (cite(evidence(code={"tree": ELSE})), "is of other code"),
        (cite(evidence(code=None)), "names no code"),
        (cite(evidence(), trust="reported"), "is only reported, and witnessed is asked"),
        (cite(evidence(kind="artifact"), trust="verified"), "which proves nothing by itself"),
        (cite(evidence(kind="note"), trust="advisory"), "which proves nothing by itself"),
    ],
)  # fmt: skip
def test_what_does_not_prove_says_why(cited: Cited, why: str) -> None:
    found = judged(cited)
    assert not found.proven
    assert len(found.why) == 1
    assert why in found.why[0]


def test_what_is_asked_is_shown_by_what_might_prove_it_and_else_by_what_is_of_no_code() -> None:
    lint, diff = evidence(2, kind="lint"), evidence(2, kind="diff")
    strict = POLICY._replace(proof={**POLICY.proof, "diff": "witnessed"})
    asks = strict._replace(require=("lint",))
    assert judged(cite(evidence()), cite(lint), policy=asks).proven
    del lint.data["code"]
    assert not judged(cite(evidence()), cite(lint), policy=asks).proven
    asks = strict._replace(require=("diff",))
    assert judged(cite(evidence()), cite(diff), policy=asks).proven
    assert not judged(cite(evidence()), cite(diff, trust="reported"), policy=asks).proven
    del diff.data["code"]
    assert judged(cite(evidence()), cite(diff, trust="reported"), policy=asks).proven


@pytest.mark.parametrize(("kind", "outcome", "trust", "is_shown"), [
    ("ci", "passed", "reported", True), ("ci", "observed", "reported", False),
    ("artifact", "observed", "verified", True), ("artifact", "observed", "advisory", False),
])  # fmt: skip
def test_a_kind_that_is_asked_and_proves_nothing_is_shown_by_what_is_there_and_passed_where_it_has_a_verdict(
    kind: str, outcome: str, trust: str, *, is_shown: bool
) -> None:
    found = cite(evidence(2, kind=kind, outcome=outcome), trust=trust)
    assert judged(cite(evidence()), found, policy=POLICY._replace(require=(kind,))).proven is is_shown


@pytest.mark.parametrize("status", ["retracted", "redacted", "superseded"])
def test_one_withdrawn_citation_spoils_the_others(status: str) -> None:
    assert not judged(cite(evidence(1)), cite(evidence(2), status=status)).proven


def test_a_weak_citation_beside_a_proving_one_does_no_harm() -> None:
    assert judged(cite(evidence(1)), cite(evidence(2, kind="note"), trust="advisory")).proven


def test_no_citation_proves_nothing() -> None:
    assert judged() == Proof(False, (), ("no evidence was cited",))


@pytest.mark.parametrize(
    ("about", "fine"), [(TASK, True), (RUN, True), ("plan_000000000001", False), ("task_000000000099", False)]
)
def test_an_approval_of_a_plan_or_another_task_is_none_of_this_one(about: str, fine: bool) -> None:
    approval = cite(evidence(2, kind="approval", approves=about), trust="reported")
    asks = POLICY._replace(require=("approval",))
    assert judged(cite(evidence()), approval, policy=asks).proven is fine
    alone = judged(approval, policy=POLICY._replace(proof={"approval": "reported"}))
    assert alone.proven is fine
    assert alone.why == (() if fine else (f"{evidence(2).id} approves {about}, which is not this task",))


@pytest.mark.parametrize("more", [
    {"kind": "approval", "approves": TASK}, {"kind": "diff", "outcome": "observed"},
    {"kind": "note", "outcome": "observed"},
])  # fmt: skip
def test_what_names_no_code_proves_nothing_and_is_shown_where_it_is_asked(more: dict[str, Any]) -> None:
    found = evidence(2, **more)
    del found.data["code"]
    shown = cite(found, trust="advisory" if found.kind == "note" else "reported")
    proof = {"test": "witnessed", "approval": "reported", "diff": "reported", "note": "advisory"}
    asks = POLICY._replace(proof=proof, require=("test", more["kind"]))
    assert judged(cite(evidence()), shown, policy=asks).proven
    assert not judged(cite(evidence()), policy=asks).proven
    assert not judged(shown, policy=POLICY._replace(proof=proof)).proven


@pytest.mark.parametrize(("tasks", "fine"), [((TASK,), True), ((OTHER, TASK), True), ((OTHER,), False), ((), False)])
def test_an_approval_of_evidence_is_one_of_its_tasks(tasks: tuple[str, ...], fine: bool) -> None:
    approval = cite(evidence(2, kind="approval", approves="evidence_000000000001"), trust="reported")
    asks = POLICY._replace(require=("approval",))
    assert judged(cite(evidence()), approval._replace(about=tasks), policy=asks).proven is fine


def test_an_approval_that_does_not_say_of_what_is_none() -> None:
    approval = cite(evidence(2, kind="approval", uri="https://example.invalid/1"), trust="reported")
    assert judged(cite(evidence()), approval).proven
    assert not judged(cite(evidence()), approval, policy=POLICY._replace(require=("approval",))).proven


def test_an_approval_that_is_not_heard_is_none() -> None:
    approval = cite(evidence(2, kind="approval", approves=TASK), trust="reported")._replace(unheard="is not heard")
    asks = POLICY._replace(proof={"approval": "reported"})
    assert judged(approval, policy=asks) == Proof(False, (), (f"{evidence(2).id} is not heard",))


def test_a_text_that_changed_afterwards_unproves() -> None:
    assert judged(cite(evidence()), text="b" * 32).why == ("the task's text changed after it was completed",)


def test_evidence_without_tasks_is_shared_and_counts() -> None:
    assert judged(cite(evidence(tasks=[]))).proven
    assert judged(cite(evidence(tasks=[OTHER, TASK]))).proven


def test_required_kinds_must_be_among_what_proves() -> None:
    policy = Policy(require=("test", "lint"))
    assert judged(cite(evidence(1)), policy=policy).why == ("policy asks for lint evidence",)
    assert judged(cite(evidence(1)), cite(evidence(2, kind="lint")), policy=policy).proven
    weak = cite(evidence(2, kind="lint"), trust="reported")
    assert "policy asks for lint evidence" in judged(cite(evidence(1)), weak, policy=policy).why


@pytest.mark.parametrize("kind", EVIDENCE_KINDS)
def test_by_default_only_what_ran_proves(kind: str) -> None:
    assert judged(cite(evidence(kind=kind), trust="reproduced")).proven is (kind in RUN_KINDS)


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize("least", TRUSTS)
def test_trust_is_a_ladder(trust: str, least: str) -> None:
    assert at_least(trust, least) is (TRUSTS.index(trust) <= TRUSTS.index(least))
    found = judged(cite(evidence(kind="artifact"), trust=trust), policy=Policy(proof={"artifact": least}))
    assert found.proven is at_least(trust, least)


@pytest.mark.parametrize(
    ("saw", "is_now", "expected"),
    [
        ({"tree": TREE}, {"tree": TREE}, True), ({"tree": TREE}, {"tree": ELSE}, False),
        ({"tree": TREE, "full": FULL}, {"tree": FULL}, True), ({"tree": FULL}, {"tree": TREE, "full": FULL}, True),
        ({"tree": TREE, "full": FULL}, {"tree": TREE, "full": ELSE}, True),
        ({"tree": TREE, "full": FULL}, {"tree": ELSE, "full": FULL}, True),
        ({"tree": TREE}, {}, False), (None, {"tree": TREE}, False), ({}, {}, False),
        ({"tree": TREE, "paths": {"a": ELSE}}, {"tree": FULL, "paths": {"a": ELSE}}, True),
        ({"tree": TREE, "paths": {"a": ELSE}}, {"tree": TREE, "paths": {"a": FULL}}, False),
        ({"tree": TREE, "paths": {"a": ELSE}}, {"tree": TREE}, False),
        ({"tree": TREE, "paths": {"a": ELSE, "b": ELSE}}, {"tree": TREE, "paths": {"a": ELSE}}, False),
        ({"tree": TREE, "untracked": {"a": FULL}}, {"tree": TREE, "untracked": {"a": FULL, "b": ELSE}}, True),
        ({"tree": TREE, "untracked": {"a": FULL}}, {"tree": TREE, "untracked": {"a": ELSE}}, False),
        ({"tree": TREE, "untracked": {"a": FULL}}, {"tree": TREE}, True),
        ({"tree": TREE, "full": FULL, "untracked": {"a": ELSE}}, {"tree": FULL}, True),
    ],
)  # fmt: skip
def test_evidence_counts_for_the_code_that_it_saw(
    saw: dict[str, Any] | None, is_now: dict[str, Any], expected: bool
) -> None:
    assert agree(saw, is_now) is expected


def stream(**data: Any) -> dict[str, Any]:
    return {"sha256": OF_NOTHING if data.get("bytes") == 0 else "0" * 64, "bytes": 3, **data}


OF_NO_BYTES = stream(bytes=0)


@pytest.mark.parametrize(
    ("data", "held", "trust"),
    [
        ({"kind": "note", "uri": "x"}, True, "advisory"), ({"kind": "memory"}, True, "advisory"),
        ({"kind": "test"}, True, "advisory"), ({"kind": "ci", "uri": "https://x"}, True, "reported"),
        ({"kind": "diff", "diff": {}}, True, "reported"), ({"kind": "approval", "approves": RUN}, True, "reported"),
        ({"kind": "artifact", "attachments": [{"kept": "1-a", "sha256": "x"}]}, True, "verified"),
        ({"kind": "artifact", "attachments": [{"kept": "1-a", "sha256": "x"}]}, False, "reported"),
        ({"kind": "artifact", "attachments": [{"sha256": "x"}]}, True, "reported"),
        ({"kind": "artifact", "attachments": [{"kept": "1-a", "sha256": "x"}, {"sha256": "y"}]}, True, "reported"),
        ({"kind": "artifact", "command": {"stdout": OF_NO_BYTES, "stderr": OF_NO_BYTES}}, True, "reported"),
    ],
)  # fmt: skip
def test_trust_follows_from_how_evidence_came_to_be(data: dict[str, Any], held: bool, trust: str) -> None:
    assert trust_of(data, lambda _name, _digest: held) == trust


@pytest.mark.parametrize(
    ("stdout", "held", "trust"),
    [
        (stream(kept="stdout.txt", kept_sha256="x"), True, "witnessed"),
        (stream(kept="stdout.txt", kept_sha256="x"), False, "reported"),
        (stream(bytes=0), False, "witnessed"), (stream(bytes=0, sha256="0" * 64), True, "reported"),
        (stream(sha256=OF_NOTHING), True, "reported"),
        (stream(binary=True), False, "witnessed"), (stream(), True, "reported"),
    ],
)  # fmt: skip
def test_a_command_is_witnessed_while_its_output_is_there(stdout: dict[str, Any], held: bool, trust: str) -> None:
    data = {"kind": "test", "command": {"stdout": stdout, "stderr": stream(bytes=0)}}
    assert trust_of(data, lambda _name, _digest: held) == trust


def test_a_field_that_claims_trust_changes_nothing() -> None:
    assert trust_of({"kind": "test", "trust": "reproduced", "trust_level": "witnessed"}, lambda *_: True) == "advisory"


def test_sound_evidence_has_no_fault() -> None:
    assert fault(cite(evidence()), TASK) == ""


# What a command did is read from what it did.


def ran(code: int = 0, **command: Any) -> dict[str, Any]:
    return {"exit": code, "stdout": stream(bytes=0), "stderr": stream(bytes=0), **command}


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        ({"command": ran()}, "passed"), ({"command": ran(1)}, "failed"), ({"command": ran(timed_out=True)}, "failed"),
        ({"command": ran(signal=9)}, "failed"),
        ({"command": ran(), "problems": ["report r.xml was not written"]}, "failed"),
        ({"command": ran(), "reports": [{"name": "r.xml", "ok": True}]}, "passed"),
        ({"command": ran(), "reports": [{"name": "r.xml", "ok": True}, {"name": "s.xml", "ok": False}]}, "failed"),
        ({}, "observed"),
    ],
)  # fmt: skip
def test_the_outcome_of_a_command_is_what_it_did(data: dict[str, Any], outcome: str) -> None:
    assert outcome_of({"outcome": "observed", **data}) == outcome


@pytest.mark.parametrize(("typed", "code"), [("passed", 1), ("failed", 0), ("observed", 0)])
def test_a_typed_outcome_that_the_command_contradicts_is_a_fault(typed: str, code: int) -> None:
    found = judged(cite(evidence(outcome=typed, command=ran(code))))
    assert found == Proof(False, (), (f"{evidence().id}: its outcome disagrees with what the command did",))


def test_evidence_of_code_that_changed_while_the_command_ran_proves_nothing() -> None:
    found = judged(cite(evidence(command=ran(), code_after={"tree": ELSE})))
    assert found == Proof(False, (), (f"the code changed while the command of {evidence().id} ran",))


def test_an_untracked_file_that_the_command_wrote_over_is_its_output() -> None:
    written = evidence(command=ran(), code={"tree": TREE, "full": FULL, "untracked": {"a.log": ELSE}}, code_after={
        "tree": TREE, "untracked": {"a.log": FULL}})  # fmt: skip
    assert judged(cite(written)).proven
    assert not judged(cite(written), code={"tree": FULL}).proven


def test_a_file_that_the_command_left_behind_is_no_change_of_the_code() -> None:
    after = {"tree": TREE, "full": FULL, "untracked": {"report.xml": ELSE}}
    assert judged(cite(evidence(command=ran(), code_after=after)), code=after).proven
    again = evidence(
        command=ran(), code={"tree": TREE, "untracked": {"report.xml": FULL}}, code_after=after,
        reports=[{"name": "report.xml", "ok": True}],
    )  # fmt: skip
    assert judged(cite(again), code=after).proven


def test_an_untracked_file_that_was_edited_after_the_command_is_named() -> None:
    saw = {"tree": TREE, "untracked": {"foo.py": ELSE}}
    found = judged(cite(evidence(code=saw)), code={"tree": TREE, "untracked": {"foo.py": FULL}})
    assert found.why == (f"{evidence().id} is of other code than what was completed: foo.py",)


def junit(**counts: int) -> dict[str, Any]:
    return {"name": "r.xml", "format": "junit", "ok": True, "counts": counts}


@pytest.mark.parametrize(("report", "outcome"), [
    (junit(passed=1, skipped=1), "passed"), (junit(skipped=2), "observed"), (junit(passed=1, failed=1), "failed"),
    ({**junit(passed=1), "failed": ["a"]}, "failed"), ({**junit(passed=1), "failed_more": 3}, "failed"),
    ({"name": "r.xml", "format": "sarif", "ok": True, "counts": {}}, "passed"),
])  # fmt: skip
def test_reports_say_what_a_command_that_ended_well_came_to(report: dict[str, Any], outcome: str) -> None:
    data = {"kind": "test", "command": ran(), "reports": [report]}
    assert outcome_of(data) == outcome
    assert is_silent(data) is (outcome == "observed")
    assert not is_silent({**data, "kind": "artifact"})
    assert without_verdict(data) == ("every case in r.xml was skipped" if report["counts"] == {"skipped": 2} else "")


@pytest.mark.parametrize(("data", "outcome"), [
    ({"check": {"conclusion": "success"}}, "passed"), ({"check": {"conclusion": "failure"}}, "failed"),
    ({"check": {"conclusion": "neutral"}}, "observed"),
    ({"response": "yes"}, "passed"), ({"response": "no"}, "failed"), ({"prompt": "May I?"}, "failed"),
])  # fmt: skip
def test_the_outcome_of_a_check_and_of_an_answer_is_what_they_say(data: dict[str, Any], outcome: str) -> None:
    assert outcome_of({"outcome": "passed", **data}) == outcome
    assert fault(cite(evidence(**data)), TASK) == (
        "" if outcome == "passed" else f"{evidence().id}: its outcome disagrees with what it says"
    )


@pytest.mark.parametrize(("outcome", "status", "is_ahead", "left_out"), [
    ("passed", "recorded", True, True), ("passed", "recorded", False, False), ("failed", "recorded", True, False),
    ("failed", "retracted", True, True),
])  # fmt: skip
def test_of_what_is_dated_after_now_only_a_failure_counts(
    outcome: str, status: str, is_ahead: bool, left_out: bool
) -> None:
    assert counts_not_yet(evidence(outcome=outcome), status, ahead=is_ahead) is left_out


def test_what_is_dated_after_now_contradicted_or_of_another_dispatch_is_a_fault() -> None:
    assert fault(cite(evidence())._replace(ahead=True), TASK) == f"{evidence().id} is dated after now"
    assert fault(cite(evidence())._replace(contradicted="it failed here"), TASK).endswith(
        "contradicted: it failed here"
    )
    other = judged(cite(evidence(dispatch="dispatch_000000000001")))
    assert other == Proof(False, (), (f"{evidence().id} came from another dispatch",))


def asking(*, reports: tuple[str, ...] = (), timeout: str = "", require: tuple[str, ...] = ()) -> Policy:
    """Return a policy that asks for a command."""
    command = {
        "run": ["make", "test"],
        "kind": "test",
        "reports": [*reports],
        **({"timeout": timeout} if timeout else {}),
    }
    return Policy(verify=({"commands": [command]},), require=require)


def made(argv: tuple[str, ...] = ("make", "test"), **data: Any) -> Evidence:
    command = ran(argv=[*argv], cwd=data.pop("cwd", "."), seconds=data.pop("seconds", 2.0))
    return evidence(command=command, **data)


NO_PASS = "policy asks for `make test`, which has no witnessed pass for this code as test evidence"


@pytest.mark.parametrize(("found", "trust", "nearly"), [
    (made(("make", "lint")), "witnessed", ""), (made(cwd="docs"), "witnessed", "ran it in docs, not at the top"),
    (made(kind="lint"), "witnessed", "ran it as kind lint"), (made(seconds=90.0), "witnessed", "took 90 s, and it may"),
    (made(), "reported", ""), (made(code={"tree": TREE, "paths": {"a": ELSE}}), "witnessed", ""),
    (made(code={"tree": ELSE}), "witnessed", ""), (evidence(), "witnessed", ""),
])  # fmt: skip
def test_a_command_that_is_asked_needs_a_pass_of_just_that(found: Evidence, trust: str, nearly: str) -> None:
    code = {"tree": TREE, "paths": {"a": ELSE}}
    why = judged(cite(found, trust=trust), policy=asking(timeout="1m"), code=code).why[0]
    assert why.startswith(NO_PASS)
    assert nearly in why
    assert bool(nearly) is (why != NO_PASS)


def test_a_command_that_is_asked_and_passed_proves_with_its_reports() -> None:
    weak = cite(evidence(2, kind="note", outcome="observed"), trust="advisory")
    assert judged(cite(made()), weak, policy=asking(timeout="1m")) == Proof(True, (evidence().id,), ())
    assert judged(cite(made()), policy=asking(reports=("r.xml",))).why[0] == NO_PASS
    told = [{"name": "r.xml", "format": "sarif", "ok": True}, {"name": "s.xml", "format": "sarif", "ok": True}]
    assert judged(cite(made(reports=told)), policy=asking(reports=("r.xml",))).proven


def test_each_command_is_told_with_the_rules_alone_that_ask_for_it() -> None:
    plan, task = ({"verify": {"commands": [{"run": ["make", word]}]}} for word in ("test", "lint"))
    why = proof(completion(), TEXT, [cite(evidence())], asked(task, plan, asking())).why
    assert [one.partition(", which")[0] for one in why] == [
        "policy and the plan ask for `make test`", "the task asks for `make lint`"
    ]  # fmt: skip


@pytest.mark.parametrize(("policy", "cited", "after"), [
    (asking(), (), "verify"), (asking(require=("test",)), (), "verify"), (asking(require=("lint",)), (), ""),
    (asking(require=("approval",)), (), "approve"), (Policy(require=("approval",)), (), ""),
    (Policy(require=("approval",)), (cite(made()),), "approve"), (asking(), (cite(made(outcome="failed")),), ""),
])  # fmt: skip
def test_what_a_task_lacks_says_what_would_prove_it(policy: Policy, cited: tuple[Cited, ...], after: str) -> None:
    weak = cite(evidence(2, kind="note", outcome="observed"), trust="advisory")
    assert judged(*cited, weak, policy=policy).after == after


def test_what_was_run_again_is_reproduced_for_the_code_that_it_saw_alone() -> None:
    strict = Policy(proof={"test": "reproduced"})
    again = cite(made(), trust="reproduced")
    assert judged(again, policy=strict).proven
    beside = cite(made(code={"tree": TREE, "full": FULL, "untracked": {"a": ELSE}}), trust="reproduced")
    assert judged(beside, policy=strict, code={"tree": FULL}).proven
    told = f"{evidence().id} is only witnessed, and reproduced is asked: it was run again on other code than this"
    assert judged(beside, policy=strict, code={"tree": TREE}).why == (told,)
    part = cite(made(code={"tree": TREE, "paths": {"a": ELSE}}), trust="reproduced")
    assert judged(part, policy=strict, code={"tree": FULL, "paths": {"a": ELSE}}).proven


def test_what_the_end_of_a_command_tells_against_it() -> None:
    code = {"tree": TREE}
    assert doubts({"kind": "test", "command": ran(), "code": code}) == []
    moved = {"kind": "test", "command": ran(), "code": code, "code_after": {"tree": ELSE}}
    assert doubts(moved) == [MOVED]
    skipped = {"kind": "test", "command": ran(), "reports": [junit(skipped=1)], "code": {**code, "absent": 1}}
    assert doubts(skipped) == [
        "every case in r.xml was skipped: it proves nothing", f"without 1 tracked file or submodule, {ABSENT}"
    ]  # fmt: skip
