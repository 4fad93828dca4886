"""What a second run of a command says of the first; no disk."""

from __future__ import annotations

from typing import Any

import pytest

from memento_git.model.work import Evidence
from memento_git.work.proof.rerun_comparison import (
    DIFFERS,
    MOST_TOLD,
    OTHER_CODE,
    REPRODUCED,
    Runner,
    Seen,
    denies,
    differences,
    is_rerun_of,
    judged,
    less_covered,
    not_repeatable,
    same_code,
)
from memento_git.work.proof.trust import outcome_of

TREE, FULL, ELSE = "1" * 40, "2" * 40, "3" * 40
LISTED = [["make", "*"]]
WHOLE = "its command is not recorded whole: a secret, a foreign path or a long word's end was taken out"
OUTSIDE = "it was ended from outside, which no second run can show"


def ran(number: int = 1, ended: int = 0, *, command: dict[str, Any] | None = None, **data: Any) -> Evidence:
    told = {
        "kind": "test", "outcome": "failed" if ended else "passed", "by": "Ada", "code": {"tree": TREE},
        "command": {"argv": ["make", "test"], "cwd": ".", "exit": ended, **(command or {})}, **data,
    }  # fmt: skip
    return Evidence(f"evidence_{number:012d}", "run_000000000000", told, f"{number:032d}", "")


FIRST = ran()


def again(number: int = 2, ended: int = 0, **data: Any) -> Evidence:
    return ran(number, ended, reproduces=str(FIRST.ref), **data)


def seen(*reruns: Evidence, by: str = "") -> Seen:
    """Return what second runs say; with `by`, each bears the signature of a runner whom policy lists."""
    return judged(FIRST, reruns, lambda _: Runner("good", by, "")) if by else judged(FIRST, reruns)


@pytest.mark.parametrize(("found", "status", "why"), [
    (ran(), "recorded", ""), (ran(), "retracted", "it is retracted"),
    (ran(command={"argv": []}), "recorded", WHOLE), (ran(command={"argv": ["make", "~/a"]}), "recorded", WHOLE),
    (ran(command={"timed_out": True}), "recorded", OUTSIDE), (ran(command={"signal": 9}), "recorded", OUTSIDE),
    (ran(command={"argv": ["make"]}), "recorded", "policy.reproduce.commands does not list its command"),
])  # fmt: skip
def test_a_command_that_cannot_be_run_again_says_why(found: Evidence, status: str, why: str) -> None:
    assert not_repeatable(found.data, status, LISTED) == why
    assert not_repeatable({}, "recorded", LISTED) == "it records no command"


def test_who_came_to_the_same_makes_evidence_trusted_where_policy_lists_the_runner() -> None:
    unsigned, signed = seen(again()), seen(again(), by="ci")
    assert signed.agree == unsigned.agree == (again().id,)
    assert signed.differ == unsigned.differ == ()
    assert (signed.trusted, unsigned.trusted, seen().trusted) == (True, False, False)
    assert (signed.contradicted, unsigned.contradicted, signed.doubt, seen().doubt) == ("", "", "", "")
    assert unsigned.doubt == f"{again().id} ran it again, and nobody has signed it"


def test_who_came_to_something_else_contradicts_whoever_came_to_the_same() -> None:
    for one in (seen(again(3), again(2, 1), by="ci"), seen(again(2, 1), again(3))):
        assert (one.agree, one.differ, one.trusted) == ((again(3).id,), (again(2).id,), False)
        told = "exit code 0 is recorded, 1 came out"
        assert one.contradicted == f"{again(2).id} ran it again on the same code: {told}"
        assert sorted(rerun.result for rerun in one.reruns) == [DIFFERS, REPRODUCED]


def test_of_several_second_runs_one_of_a_listed_runner_is_enough_and_is_no_doubt() -> None:
    def told(*reruns: Evidence) -> Seen:
        return judged(FIRST, reruns, lambda one: Runner("good", "ci", "") if one.id == again().id else Runner())

    assert (told(again(), again(3)).trusted, told(again(), again(3)).doubt) == (True, "")
    assert told(again(), again(3, 1)).doubt == f"{again(3).id} ran it again, and nobody has signed it"


def test_a_run_on_other_code_says_nothing_of_the_first() -> None:
    one = seen(again(2, 1, code={"tree": ELSE}))
    assert (one.agree, one.differ, one.contradicted, one.trusted) == ((), (), "", False)
    assert not is_rerun_of(again(code={"tree": ELSE}).data, FIRST)
    assert is_rerun_of(again().data, FIRST)
    assert [rerun.result for rerun in one.reruns] == [OTHER_CODE]
    assert one.doubt == f"{again().id} ran it again, and it ran on other code than the first"


@pytest.mark.parametrize("other", [
    ran(2, 1), ran(2, 1, reproduces=str(ran(3).ref)), again(2, 1, kind="lint"), again(2, 1, command={"cwd": "docs"}),
    again(2, 1, command={"argv": ["make"]}),
])  # fmt: skip
def test_only_the_same_command_that_names_the_first_is_a_second_run_of_it(other: Evidence) -> None:
    assert seen(other) == Seen()
    assert not is_rerun_of(other.data, FIRST)


def test_no_more_differences_and_doubts_are_told_than_a_line_holds() -> None:
    many = [{"name": f"{number}.xml", "format": "junit", "ok": True, "counts": {}} for number in range(MOST_TOLD + 1)]
    assert seen(again(reports=many)).contradicted.count(" was written, and none is recorded") == MOST_TOLD
    assert seen(*(again(number) for number in range(2, MOST_TOLD + 3))).doubt.count(" ran it again") == MOST_TOLD


def test_the_same_command_that_ended_otherwise_on_the_same_code_denies() -> None:
    assert denies(ran(2, 1).data, FIRST.data)
    others = ran(2), ran(2, 1, code={"tree": ELSE}), ran(2, 1, kind="lint"), ran(2, 1, command={"argv": ["make"]})
    assert not any(denies(one.data, FIRST.data) for one in others)
    assert not denies({"kind": "test", "code": {"tree": TREE}}, FIRST.data)
    assert not denies(FIRST.data, {"kind": "test", "code": {"tree": TREE}})


@pytest.mark.parametrize(("one", "other", "expected"), [
    ({"tree": TREE}, {"tree": TREE}, True), ({"tree": TREE}, {"tree": ELSE}, False), (None, None, False),
    ({"tree": TREE, "full": FULL, "untracked": {"a": ELSE}}, {"tree": TREE}, False),
    ({"tree": TREE, "full": FULL, "untracked": {"a": ELSE}}, {"tree": FULL}, True),
    ({"tree": TREE, "paths": {"a": ELSE}}, {"tree": FULL, "paths": {"a": ELSE, "b": ELSE}}, True),
    ({"tree": TREE, "paths": {"a": ELSE}}, {"tree": TREE, "paths": {"a": FULL}}, False),
    ({"tree": TREE, "paths": {"a": ELSE}}, None, False),
])  # fmt: skip
def test_two_runs_saw_the_same_code_as_far_as_the_first_is_bound_to_it(one: Any, other: Any, *, expected: bool) -> None:
    assert same_code({"code": one}, {"code": other}) is expected


def report(kind: str = "junit", *, ok: bool = True, failed: tuple[str, ...] = (), **counts: int) -> dict[str, Any]:
    return {"name": "r.xml", "format": kind, "ok": ok, "counts": counts, "failed": [*failed]}


@pytest.mark.parametrize(("first", "second", "told"), [
    (report(passed=2), report(passed=2), []),
    (report(passed=2), None, ["report r.xml was not written"]),
    (None, report(passed=2), ["report r.xml was written, and none is recorded"]),
    (report(passed=2), report("sarif"), ["r.xml: junit is recorded, sarif came out"]),
    (report(passed=2), report(passed=1, skipped=1),
     ["r.xml: 2 passed recorded, 1 came out", "r.xml: 0 skipped recorded, 1 came out"]),
    (report("cobertura", lines=4, covered=3), report("cobertura", lines=4, covered=2), []),
    (report("cobertura", lines=4, covered=3), report("cobertura", lines=4), ["r.xml: 3 covered recorded, 0 came out"]),
    (report(ok=False, failed=("a", "b"), failed_=0), report(ok=False, failed=("b", "c"), failed_=0),
     ["r.xml: failed now: c", "r.xml: no longer failed: a"]),
    (report("cobertura"), report("cobertura", ok=False), ["r.xml: good is recorded, the opposite came out"]),
    (report("cobertura", ok=False), report("cobertura"), ["r.xml: bad is recorded, the opposite came out"]),
    (report("sarif", error=1), report("sarif", ok=False, error=2), ["r.xml: 1 error recorded, 2 came out"]),
])  # fmt: skip
def test_reports_of_two_runs_differ_in_what_is_a_verdict(first: Any, second: Any, told: list[str]) -> None:
    one, other = (ran(reports=[found] if found else None).data for found in (first, second))
    outcomes = [outcome_of(found) for found in (one, other)]
    assert differences({**one, "outcome": outcomes[0]}, other) == told


def test_outcomes_of_two_runs_differ_where_nothing_else_does() -> None:
    assert differences(FIRST.data, ran(2, 3).data) == ["exit code 0 is recorded, 3 came out"]
    amiss = ran(2, problems=["report r.xml was not written"]).data
    assert differences(FIRST.data, amiss) == ["passed is recorded, failed came out"]
    assert differences(ran(1, 3, outcome="passed").data, ran(2, 3).data) == [
        "its outcome is given as passed, and what it records comes to failed"
    ]


def test_less_coverage_is_told_beside_the_verdict() -> None:
    def told(first: dict[str, Any], *second: dict[str, Any]) -> list[str]:
        return less_covered(ran(reports=[first]).data, ran(reports=[*second]).data)

    half, all_ = report("cobertura", lines=10, covered=5), report("cobertura", lines=1, covered=1)
    less = "r.xml: 5 of 10 lines are recorded as covered, 4 of 10 came out"
    assert told(half, report("cobertura", lines=10, covered=4)) == [less]
    assert told(half, report("cobertura", lines=2, covered=1)) == told(half) == told(all_, all_) == []
    assert told(half, report("cobertura")) == ["r.xml: 5 of 10 lines are recorded as covered, 0 of 0 came out"]
    assert told(report("cobertura"), half) == less_covered(FIRST.data, FIRST.data) == []
