"""The latest evidence of each source counts, and past work only ever adds; no disk."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_git.model.policy import Policy
from memento_git.model.work import Evidence
from memento_git.work.proof.enrichment import MOST_COMMANDS, from_failures, from_graph, hot_spots, overlap
from memento_git.work.proof.trust import Cited
from memento_git.work.proof.verdict import contradictions, latest, left_to_run, of_dispatch, sound
from memento_git.work.proof.verification import Command, Demand, asked

TASK = "task_000000000001"
TREE, ELSE = "1" * 40, "3" * 40
CODE = {"tree": TREE}
PYTEST = Command(("pytest", "-q"))


def ran(number: int, argv: str = "pytest -q", *, code: int = 0, code_: Any = CODE, **data: Any) -> Evidence:
    """Return evidence of a command; the number is its time too."""
    told = {
        "kind": "test", "for": [TASK], "at": f"2026-01-01T00:00:{number:02d}.000Z",
        "by": "Ada", "outcome": "failed" if code else "passed", "code": code_,
        "command": {"argv": argv.split(), "cwd": ".", "exit": code, "seconds": 0.1}, **data,
    }  # fmt: skip
    return Evidence(f"evidence_{number:012d}", "run_000000000000", told, f"{number:032d}", "")


def typed(number: int, kind: str, **data: Any) -> Evidence:
    told = {
        "kind": kind, "for": [TASK], "at": f"2026-01-01T00:00:{number:02d}.000Z", "by": "Ada", "outcome": "passed",
        **data,
    }  # fmt: skip
    return Evidence(f"evidence_{number:012d}", "run_000000000000", told, f"{number:032d}", "")


def cite(found: Evidence, status: str = "recorded", trust: str = "witnessed") -> Cited:
    return Cited(f"{found.id}@{found.digest}", found, status, trust)


def names(found: list[Cited]) -> list[int]:
    return sorted(int(one.evidence.id[-3:]) for one in found if one.evidence)


def test_the_latest_run_of_each_command_is_kept() -> None:
    found = [cite(ran(2, code=1)), cite(ran(1)), cite(ran(3, "ruff check")), cite(ran(4, "ruff check", code=1))]
    assert names(latest(found, [CODE])) == [2, 4]
    assert names(latest([*found, cite(ran(5, kind="lint"))], [CODE])) == [2, 4, 5]


def test_of_two_runs_at_one_moment_the_same_one_counts_in_whatever_order_they_are_read() -> None:
    found = [cite(ran(1)), cite(ran(2, code=1, at="2026-01-01T00:00:01.000Z"))]
    assert names(latest(found, [CODE])) == names(latest(found[::-1], [CODE])) == [2]


@pytest.mark.parametrize("status", ["recorded", "retracted"])
def test_a_run_of_skipped_cases_alone_takes_no_failure_back(status: str) -> None:
    skipped = {"name": "r.xml", "format": "junit", "ok": True, "counts": {"tests": 2, "skipped": 2}}
    silent = cite(ran(2, reports=[skipped]), status)
    assert names(latest([cite(ran(1, code=1)), silent], [CODE])) == [1]
    assert names(latest([cite(ran(1, code=1)), silent, cite(ran(3))], [CODE])) == [3]


def test_a_check_that_was_skipped_takes_no_failure_back() -> None:
    bad, silent = ({"provider": "github", "name": "t", "conclusion": word} for word in ("failure", "skipped"))
    found = [cite(typed(1, "ci", check=bad)), cite(typed(2, "ci", check=silent))]
    assert names(latest(found, [CODE])) == [1]


def test_what_is_dated_ahead_does_not_displace_a_run() -> None:
    assert names(latest([cite(ran(1)), cite(ran(9))._replace(ahead=True)], [CODE])) == [1]


def test_a_failure_that_is_dated_ahead_counts_until_it_is_taken_back() -> None:
    ahead = cite(ran(9, code=1))._replace(ahead=True)
    assert names(latest([cite(ran(1)), ahead], [CODE])) == [9]
    assert names(latest([cite(ran(1)), ahead._replace(status="retracted")], [CODE])) == [1]


def test_a_run_that_was_taken_back_leaves_none_of_its_command_so_that_it_runs_again() -> None:
    found = [cite(ran(1)), cite(ran(2, code=1), status="retracted")]
    assert names(latest(found, [CODE])) == []
    assert names(latest([*found, cite(ran(3))], [CODE])) == [3]


def test_a_run_on_other_code_does_not_displace_one_on_this_code() -> None:
    elsewhere = ran(9, outcome="failed")
    elsewhere.data["code"] = {"tree": ELSE}
    assert names(latest([cite(ran(1)), cite(elsewhere)], [CODE])) == [1]
    assert names(latest([cite(ran(1)), cite(elsewhere)], [CODE, {"tree": ELSE}])) == [9]


def test_checks_and_approvals_are_told_apart_by_name_and_by_who_gave_them() -> None:
    found = [
        cite(typed(1, "ci", check={"provider": "github", "name": "build", "conclusion": "success"})),
        cite(typed(2, "ci", check={"provider": "github", "name": "lint", "conclusion": "success"})),
        cite(typed(3, "ci", check={"provider": "github", "name": "build", "conclusion": "failure"}, outcome="failed")),
        cite(typed(4, "approval", approves=TASK)),
        cite(typed(5, "approval", approves=TASK, by="Grace")),
        cite(typed(6, "approval", approves="run_000000000000")),
        cite(typed(7, "ci", check={"provider": "gitlab", "name": "build", "conclusion": "success"})),
    ]
    assert names(latest(found, [CODE])) == [2, 3, 4, 5, 6, 7]


def test_of_two_verdicts_of_a_check_that_counts_which_ended_last_whenever_it_was_recorded() -> None:
    told = {"provider": "github", "name": "build"}
    late = {**told, "conclusion": "failure", "finished": "2026-01-01T00:00:01.000Z"}
    early = {**told, "conclusion": "success", "finished": "2026-01-01T00:00:00.000Z"}
    found = [cite(typed(1, "ci", check=late)), cite(typed(2, "ci", check=early))]
    assert names(latest(found, [CODE])) == [1]


def test_a_pass_about_less_code_takes_no_failure_back() -> None:
    part, more = {"paths": {"app.py": ELSE}}, {"paths": {"app.py": ELSE, "docs": ELSE}}
    now = {**CODE, **more}
    failed, passed = cite(ran(1, code=1)), cite(ran(2, code_=part))
    assert names(latest([failed, passed], [now])) == [1]
    assert names(latest([failed, passed, cite(ran(3))], [now])) == [3]
    assert names(latest([cite(ran(1, code=1, code_=part)), cite(ran(2, code_=more))], [now])) == [2]
    assert names(latest([cite(ran(1, code=1, code_=more)), passed], [now])) == [1]
    runs = [one.evidence for one in (failed, passed) if one.evidence]
    assert [rule for rule, _ in from_failures(runs, [])] == [
        "a failure of evidence_000000000001 for the same files (`pytest -q`)"
    ]


def test_a_command_in_another_folder_is_another_command() -> None:
    below = ran(2, code=1)
    below.data["command"]["cwd"] = "part"
    assert names(latest([cite(ran(1)), cite(below)], [CODE])) == [1, 2]
    assert left_to_run(Demand(commands=(PYTEST,)), [cite(below)], CODE) == [PYTEST]


@pytest.mark.parametrize(
    ("found", "left"),
    [
        ([cite(ran(1))], []), ([cite(ran(1, code=1))], [PYTEST]), ([cite(ran(1), trust="reported")], [PYTEST]),
        ([cite(ran(1, "pytest"))], [PYTEST]), ([cite(ran(1, kind="lint"))], [PYTEST]), ([], [PYTEST]),
        ([cite(ran(1, problems=["report x was not written"]))], [PYTEST]),
        ([cite(ran(1, code_after={"tree": ELSE}))], [PYTEST]),
    ],
)  # fmt: skip
def test_what_has_no_witnessed_pass_for_this_code_is_left_to_run(found: list[Cited], left: list[Command]) -> None:
    assert left_to_run(Demand(commands=(PYTEST,)), found, CODE) == left


def test_only_failures_of_kinds_that_matter_contradict() -> None:
    failed = [cite(ran(1, code=1)), cite(ran(2, "make", code=1, kind="build")), cite(ran(3, "ls", code=1, kind="lint"))]
    told = contradictions(failed, Demand(evidence=("build",)), {"test"})
    assert told == [
        "`pytest -q` failed in its latest run for this code: evidence_000000000001",
        "`make` failed in its latest run for this code: evidence_000000000002",
    ]


def test_a_failure_of_what_is_asked_contradicts_whatever_its_kind_and_is_named_by_what_it_is() -> None:
    check = {"provider": "github", "name": "unit", "conclusion": "failure"}
    failed = [cite(ran(1, code=1)), cite(typed(2, "ci", check=check)), cite(typed(3, "lint", outcome="failed"))]
    missing = Cited("evidence_000000000009@0", None, "recorded", "reported")
    told = contradictions([*failed, missing], Demand(evidence=("ci", "lint"), commands=(PYTEST,)), ())
    assert [one.partition(" failed")[0] for one in told] == ["`pytest -q`", "unit", "lint evidence"]


def test_a_pass_that_nothing_speaks_against_contradicts_nothing() -> None:
    assert contradictions([cite(ran(1))], Demand(evidence=("test",)), {"test"}) == []


def test_evidence_that_is_not_there_is_the_latest_of_nothing() -> None:
    missing = Cited("evidence_000000000009@0", None, "recorded", "reported")
    assert names(latest([missing, cite(ran(2)), missing, cite(ran(1))], [CODE])) == [2]


def test_what_came_out_of_another_dispatch_is_none_of_this_one() -> None:
    found = [cite(ran(1, dispatch="dispatch_a")), cite(ran(2)), cite(ran(3, dispatch="dispatch_b"))]
    missing = Cited("evidence_000000000009@0", None, "recorded", "reported")
    assert names(of_dispatch([*found, missing], "dispatch_a")) == [1, 2]


def test_what_has_a_fault_is_not_sound() -> None:
    others = ran(4)
    others.data["for"] = ["task_000000000002"]
    found = [cite(ran(1)), cite(ran(2, code=1)), cite(ran(3), status="retracted"), cite(others)]
    assert names(sound(found, TASK)) == [1]


def test_what_was_given_is_told_apart_by_its_files_or_its_link() -> None:
    files = [cite(typed(number, "artifact", attachments=[{"name": name}])) for number, name in enumerate("abc", 1)]
    links = [cite(typed(number, "artifact", uri=uri)) for number, uri in enumerate("xy", 4)]
    again = [cite(typed(6, "artifact", attachments=[{"name": "a"}], uri="z")), cite(typed(7, "artifact", uri="x"))]
    assert names(latest([*files, *links, *again], [CODE])) == [2, 3, 5, 6, 7]


def test_a_failure_that_was_taken_back_is_followed_by_a_narrower_pass() -> None:
    narrow = cite(ran(2, code_={**CODE, "paths": {"a": ELSE}}))
    here = {**CODE, "paths": {"a": ELSE}}
    assert names(latest([cite(ran(1, code=1)), narrow], [here])) == [1]
    assert names(latest([cite(ran(1, code=1), status="retracted"), narrow], [here])) == [2]
    assert names(latest([cite(ran(1)), narrow], [here])) == [2]


def test_a_pass_that_came_to_something_else_when_run_again_contradicts_too() -> None:
    again = cite(ran(1))._replace(contradicted="exit code 0 is recorded, 1 came out")
    gone = cite(typed(2, "approval", approves=TASK))._replace(contradicted="it is not what was approved")
    assert contradictions([again, gone], Demand(evidence=("approval",)), {"test"}) == [
        "`pytest -q` is contradicted: exit code 0 is recorded, 1 came out: evidence_000000000001"
    ]


def test_a_folder_overlaps_what_is_in_it_and_a_like_name_does_not() -> None:
    assert overlap(["src"], ["src/a.py"])
    assert overlap(["src/a.py"], ["src"])
    assert not overlap(["src"], ["src2/a.py"])
    assert not overlap([], ["src"])


def past(number: int, argv: str, *, code: int = 1, kind: str = "test") -> Evidence:
    return ran(number, argv, code=code, kind=kind)


def test_at_most_five_commands_are_added_the_latest_failures_first_and_kinds_for_the_rest() -> None:
    pasts = [past(number, f"check {number}") for number in range(1, 9)]
    told = from_failures(pasts, [{"run": ["check", str(number)]} for number in range(1, 9)])
    found = asked({}, None, Policy(), told)
    assert [command.run[1] for command in found.commands] == ["8", "7", "6", "5", "4"]
    assert len(found.commands) == MOST_COMMANDS
    assert found.evidence == ("test",)


def test_a_failure_that_a_later_run_took_back_adds_nothing() -> None:
    runs = [past(2, "check 1", code=0), past(1, "check 1"), past(3, "check 1", kind="lint")]
    assert [verify for _, verify in from_failures(runs, [])] == [{"evidence": ["lint"]}]


def test_a_failure_of_a_plain_command_that_nobody_names_adds_nothing() -> None:
    assert from_failures([past(1, "grep x", kind="command"), past(2, "plot", kind="artifact")], []) == []


def test_the_latest_failure_of_a_kind_is_the_reason_for_it() -> None:
    runs = [past(1, "check 1"), past(3, "check 3"), past(2, "check 2"), past(4, "ruff", kind="lint")]
    assert [rule.split()[3] for rule, _ in from_failures(runs, [])] == [runs[3].id, runs[1].id]


@pytest.mark.parametrize(("data", "found"), [
    (b'{"hot_spots": ["a", {"path": "b"}, {"file": "c"}, {"path": 4}, 5]}', ["a", "b"]),
    (b'{"hot_spots": {"a": 1}}', []), (b'["a"]', []), (b"{}", []), (b'{"hot_spots": ["a"', []), (b"[" * 100_000, []),
])  # fmt: skip
def test_a_graph_that_says_nothing_of_hot_spots_asks_nothing(data: bytes, found: list[str]) -> None:
    assert hot_spots(data) == found


@pytest.mark.parametrize("command", [{"run": ["check", "1"], "kind": "lint"}, {"run": ["check"]}])
def test_a_command_is_named_by_its_words_and_kind(command: dict[str, Any]) -> None:
    told = from_failures([past(1, "check 1")], [command])
    assert [verify for _, verify in told] == [{"evidence": ["test"]}]


def test_a_graph_asks_about_the_files_that_it_names_only() -> None:
    assert from_graph(["src/a.py"], "evidence_x", ["src/b.py"]) == []
    ((rule, verify),) = from_graph(["src"], "evidence_x", ["src/b.py", "src/a.py"])
    assert (rule, verify) == ("the hot spot src/a.py and 1 more of evidence_x", {"evidence": ["test"]})


ARGVS = st.sampled_from(["check 1", "check 2", "ruff"])
PASTS = st.lists(
    st.builds(
        lambda number, argv, code, kind: past(number, argv, code=code, kind=kind),
        st.integers(0, 59), ARGVS, st.integers(0, 1), st.sampled_from(["test", "lint", "command"]),
    ),
    max_size=8,
)  # fmt: skip
NAMED = st.lists(ARGVS.map(lambda argv: {"run": argv.split()}), max_size=3)


@given(PASTS, NAMED)
def test_past_failures_only_ask_for_named_commands_and_for_kinds_that_prove(
    pasts: list[Evidence], commands: list[dict[str, Any]]
) -> None:
    bare, more = asked({}, None, Policy()), asked({}, None, Policy(), from_failures(pasts, commands))
    assert set(more.evidence) <= {"test", "lint", "type", "build"}
    assert {command.run for command in more.commands} <= {tuple(command["run"]) for command in commands}
    assert more.proof == bare.proof
    assert more.trust == bare.trust
