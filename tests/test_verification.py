"""What verification asks: every rule adds, none takes away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_git.model.patterns import matches
from memento_git.model.policy import Policy
from memento_git.model.states import RUN_KINDS, TRUSTS
from memento_git.model.work import EVIDENCE_KINDS
from memento_git.work.proof.verification import (
    OUTSIDE,
    Command,
    Demand,
    Why,
    again_line,
    asked,
    asks_less,
    is_below,
    is_cut,
    is_late,
    named,
    plan_asks_less,
    proves_less,
    show_line,
    show_lines,
    shown,
    stricter,
)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "src/a.py", True),
        ("src/**", "src/deep/er/a.py", True),
        ("src/**", "src", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("**/auth/*", "auth/login.py", True),
        ("**/auth/*", "a/b/auth/login.py", True),
        ("**/*.sql", "db/one.sql", True),
        ("**/*.sql", "db/one.py", False),
        ("src", "src/deep/a.py", True),
        ("src/auth/**", "src", True),
        ("src/auth/**", "docs", False),
        ("a?.py", "ab.py", True),
        ("a?.py", "a/b.py", False),
        ("./src/**", "src/a.py", True),
        ("/src/./*.py", "src/a.py", True),
        ("", "src", False),
        (".", "src", False),
        ("**", "anything/at/all", True),
    ],
)
def test_a_pattern_names_files_folders_and_what_may_be_below(pattern: str, path: str, *, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_a_hostile_pattern_is_matched_in_no_time() -> None:
    assert not matches("/".join(["**", "*a*a*a*"] * 60), "/".join(["aaaaaaaaab"] * 50 + ["c"]))


ROUTINE = {"when": {"kinds": ["docs"]}, "evidence": ["lint"], "commands": [{"run": ["vale", "docs"], "kind": "lint"}]}
RISKY = {"when": {"risks": ["high"], "files": ["src/**"]}, "trust": "reproduced"}
ALWAYS: dict[str, Any] = {"commands": [{"run": ["pytest", "-q"], "timeout": "10m"}]}
POLICY = Policy(require=("test",), verify=(ROUTINE, RISKY, ALWAYS))


def test_what_is_asked_is_the_union_of_policy_plan_and_task_and_each_reason_is_told() -> None:
    plan = {"verify": {"evidence": ["diff"], "commands": [{"run": ["pytest", "-q"], "reports": ["out.xml"]}]}}
    task = {"kind": "docs", "verify": {"evidence": ["test", "screenshot"], "trust": "reported"}}
    found = asked(task, plan, POLICY)
    assert found.evidence == ("test", "lint", "diff", "screenshot")
    assert found.trust == "reported"
    assert found.commands == (
        Command(("vale", "docs"), "lint"), Command(("pytest", "-q"), "test", ("out.xml",), 600)
    )  # fmt: skip
    assert [str(one) for one in found.why] == [
        "policy asks for test evidence",
        "policy for kind docs asks for lint evidence",
        "policy for kind docs asks for `vale docs`",
        "policy asks for `pytest -q`",
        "the plan asks for diff evidence",
        "the plan asks for `pytest -q`",
        "the task asks for test evidence",
        "the task asks for screenshot evidence",
        "the task asks for reported evidence or better",
    ]


def test_of_two_rules_that_ask_for_a_command_each_report_counts_and_the_shorter_time() -> None:
    one, other = ({"run": ["make"], "timeout": word, "reports": [f"{word}.xml"]} for word in ("1m", "10m"))
    for verify in ([one, other], [other, one]):
        (command,) = asked({"verify": {"commands": verify}}, None, Policy()).commands
        assert command.timeout == 60
        assert {*command.reports} == {"1m.xml", "10m.xml"}


def test_a_command_is_named_without_folders_of_a_machine_and_its_program_by_its_name() -> None:
    assert named(["/usr/bin/make", "/etc/hosts", "docs/a.md"]) == ["make", f"{OUTSIDE}/hosts", "docs/a.md"]


def test_a_command_that_is_run_again_has_its_kind_and_reports() -> None:
    command = {"cwd": ".", "argv": ["make", "lint"]}
    told = again_line("task_a", {"kind": "lint", "command": command, "reports": [{"name": "a b.xml"}]})
    assert told == "memento evidence run --task task_a --kind lint --report 'a b.xml' -- make lint"


def test_a_rule_of_policy_is_about_kinds_risks_and_files_together() -> None:
    assert asked({"risk": "high", "files": ["src/a.py"]}, None, POLICY).trust == "reproduced"
    assert asked({"risk": "high", "files": ["src/a.py"]}, None, POLICY).proof["test"] == "reproduced"
    assert asked({"risk": "high", "files": ["docs/a.md"]}, None, POLICY).trust == ""
    assert asked({"files": ["src/a.py"]}, None, POLICY).trust == "", "a task without a risk is of medium risk"
    assert asked({"risk": "high"}, None, POLICY).trust == ""


def test_a_task_cannot_ask_for_less_than_policy() -> None:
    lax = asked({"verify": {"trust": "reported"}}, None, Policy())
    assert lax.proof == Policy().proof


def test_a_command_in_less_time_proves_more_and_some_tasks_prove_together_what_another_did() -> None:
    make = [{"run": ["make"], "timeout": word} for word in ("10m", "1m", "20m")]
    old, quick, slow = ({"verify": {"evidence": ["test"], "commands": [one]}} for one in make)
    assert proves_less(old, quick, Policy()) == []
    assert proves_less(old, slow, Policy()) == ["the task asks for `make` as test evidence, within 600 s"]
    halves: list[dict[str, Any]] = [{"verify": {"evidence": ["test"]}}, {"verify": {"commands": make[:1]}}]
    assert proves_less(old, halves[0], Policy())
    assert proves_less(old, halves[0], Policy(), halves[1]) == []


@pytest.mark.parametrize(("approvers", "not_author", "told"), [
    ((), False, ""), (("Ann", "Bob"), False, "by Ann or Bob"), ((), True, "by another than who does the work"),
    (("Ann",), True, "by Ann, by another than who does the work"),
])  # fmt: skip
def test_where_an_approval_is_asked_it_is_told_whose(approvers: tuple[str, ...], not_author: bool, told: str) -> None:
    policy = Policy(approvers=approvers, approvals_not_author=not_author)
    found = asked({}, None, policy._replace(require=("approval",)))
    assert (found.approvers, found.not_author) == (approvers, not_author)
    assert found.why[1:] == ((Why("policy", f"that approval {told}"),) if told else ())
    assert asked({}, None, policy) == Demand(proof=policy.proof)


def test_a_task_without_a_risk_is_of_medium_risk_and_a_plan_need_not_ask() -> None:
    policy = Policy(verify=({"when": {"risks": ["medium"]}, "evidence": ["lint"]},))
    assert asked({}, {"title": "Plan"}, policy).evidence == ("lint",)
    assert asked({"risk": "low"}, None, policy).evidence == ()


def test_what_a_task_does_not_ask_any_more_is_told_with_who_asked() -> None:
    run = {"run": ["make"], "kind": "build", "reports": ["r.xml"]}
    old = {
        "kind": "docs",
        "criteria": ["It is short.", "It is true."],
        "verify": {"trust": "verified", "commands": [run]},
    }
    other = {"kind": "docs", "verify": {"trust": "verified", "commands": [{"run": ["make"], "kind": "test"}]}}
    assert asks_less(old, {**old, "kind": "fix"}, POLICY) == [
        "policy for kind docs asks for lint evidence", "policy for kind docs asks for `vale docs`"
    ]  # fmt: skip
    assert asks_less(old, {**other, "criteria": ["It is true."]}, POLICY) == [
        "criterion 'It is short.'", "the task asks for `make` as build evidence, with r.xml"
    ]  # fmt: skip
    assert asks_less(old, {**old, "verify": {"trust": "reported", "commands": [run]}}, POLICY) == [
        "the task asks for verified evidence or better"
    ]  # fmt: skip
    assert asks_less({}, old, POLICY) == []


def test_what_policy_asks_of_some_tasks_stands_in_for_no_plan() -> None:
    plan = {"verify": {"evidence": ["lint", "test"], "commands": [{"run": ["pytest", "-q"], "timeout": "20m"}]}}
    assert plan_asks_less(plan, {}, POLICY) == ["the plan asks for lint evidence"]
    some_tasks = {"when": {"risks": ["medium"]}, "evidence": ["lint"]}
    assert plan_asks_less(plan, {}, Policy(require=("test",), verify=(ALWAYS, some_tasks)))
    assert not plan_asks_less(plan, {}, Policy(require=("test", "lint"), verify=(ALWAYS,)))


def test_a_command_without_the_reports_that_were_asked_shows_less() -> None:
    with_, without = ({"verify": {"commands": [{"run": ["make"], "reports": one}]}} for one in (["r.xml"], []))
    assert proves_less(with_, without, Policy()) == ["the task asks for `make` as test evidence, with r.xml"]
    assert proves_less(without, with_, Policy()) == []


@pytest.mark.parametrize(("path", "below"), [("src", True), ("src/a.py", True), ("src2/a.py", False), ("", False)])
def test_a_folder_and_what_lies_in_it_are_below_it(path: str, below: bool) -> None:
    assert is_below(path, "src") is below


def test_enrichment_counts_unless_policy_does_without() -> None:
    extra = [("the code's graph", {"evidence": ["test"]})]
    assert asked({}, None, Policy(), extra).evidence == ("test",)
    assert asked({}, None, Policy(enrich=False), extra).evidence == ()


def test_a_long_command_is_shown_in_one_line() -> None:
    assert "\n" not in shown(["python", "-c", "a\nb"])
    assert len(shown(["x" * 500])) == 200


WORDS = st.sampled_from(["pytest", "ruff", "-q", "make"])
COMMANDS = st.fixed_dictionaries(
    {"run": st.lists(WORDS, min_size=1, max_size=2)},
    optional={
        "kind": st.sampled_from(RUN_KINDS),
        "reports": st.lists(st.sampled_from(["a.xml", "b.xml"]), max_size=2),
        "timeout": st.sampled_from(["1m", "2h"]),
    },
)
ASKS = st.fixed_dictionaries(
    {},
    optional={
        "evidence": st.lists(st.sampled_from(EVIDENCE_KINDS), max_size=3),
        "trust": st.sampled_from(TRUSTS),
        "commands": st.lists(COMMANDS, max_size=3),
    },
)
WHENS = st.fixed_dictionaries(
    {}, optional={"kinds": st.just(["docs"]), "risks": st.just(["high"]), "files": st.just(["src/**"])}
)
TASKS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["docs", "fix"]),
        "risk": st.sampled_from(["low", "high"]),
        "files": st.just(["src/a.py"]),
        "verify": ASKS,
    },
)
KINDS = st.lists(st.sampled_from(EVIDENCE_KINDS), max_size=2)
RULES = st.lists(st.tuples(WHENS, ASKS), max_size=3)
POLICIES = st.tuples(KINDS, RULES).map(
    lambda drawn: Policy(require=tuple(drawn[0]), verify=tuple({"when": when, **asks} for when, asks in drawn[1]))
)
EXTRAS = st.lists(st.tuples(st.just("enrichment"), ASKS), max_size=3)


def at_least_as_strict(one: Demand, other: Demand) -> bool:
    """Tell whether whoever meets `one` meets `other`."""
    held = {(command.run, command.kind): command for command in one.commands}
    return (
        set(one.evidence) >= set(other.evidence)
        and stricter(one.trust, other.trust) == one.trust
        and set(one.proof) == set(other.proof)
        and all(stricter(one.proof[kind], least) == one.proof[kind] for kind, least in other.proof.items())
        and all(
            (mine := held.get((command.run, command.kind))) is not None
            and set(mine.reports) >= set(command.reports)
            and (not command.timeout or 0 < mine.timeout <= command.timeout)
            for command in other.commands
        )
        and set(one.why) >= set(other.why)
    )


@given(TASKS, st.one_of(st.none(), st.fixed_dictionaries({"verify": ASKS})), POLICIES, EXTRAS)
def test_enrichment_never_asks_for_less(task: Any, plan: Any, policy: Policy, extra: Any) -> None:
    assert at_least_as_strict(asked(task, plan, policy, extra), asked(task, plan, policy))


@given(TASKS, st.one_of(st.none(), st.fixed_dictionaries({"verify": ASKS})), POLICIES)
def test_neither_task_nor_plan_takes_back_what_policy_asks(task: Any, plan: Any, policy: Policy) -> None:
    bare = {key: value for key, value in task.items() if key != "verify"}
    assert at_least_as_strict(asked(task, plan, policy), asked(bare, None, policy))


# The lines that show what is asked.

MAKE: dict[str, Any] = {"run": ["make", "it all"], "kind": "build", "reports": ["r.xml"], "timeout": 60}
ASKED: dict[str, Any] = {
    "commands": [MAKE],
    "evidence": ["build", "diff", "lint", "approval"],
    "proof": {"build": "reported"},
}
BUILD = "memento evidence run --task T --kind build --report r.xml -- make 'it all'"
LINT = "memento evidence run --task T --kind lint -- CMD"
DIFF = "memento evidence add --task T --kind diff --diff A..B"


def row(**data: Any) -> dict[str, Any]:
    return {
        "kind": "build", "folder": ".", "covers": [], "command": MAKE["run"], "seconds": 2.0,
        "reports": [{"name": "r.xml"}, {"name": "s.xml"}], **data,
    }  # fmt: skip


def test_what_is_asked_is_shown_commands_first_and_a_yes_is_for_others_to_give() -> None:
    assert show_lines("T", ASKED) == [BUILD, LINT, DIFF]
    assert show_lines("T", ASKED, [row()]) == [LINT, DIFF]
    assert show_lines("T", ASKED, [row(), row(kind="lint", command=["ruff"])]) == [DIFF]


@pytest.mark.parametrize("other", [
    {"kind": "test"}, {"folder": "docs"}, {"covers": ["src"]}, {"command": ["make"]}, {"seconds": 61.0},
    {"reports": []},
])  # fmt: skip
def test_what_did_less_than_a_command_that_is_asked_is_none_of_it(other: dict[str, Any]) -> None:
    assert BUILD in show_lines("T", ASKED, [row(**other)])


@pytest.mark.parametrize(("asked_", "lines"), [
    ({"evidence": ["note"], "proof": {"artifact": "verified", "lint": "reported", "type": "reported"}},
     [LINT, "memento evidence add --task T --kind note --summary TEXT"]),
    ({"evidence": ["lint"], "proof": {"lint": "reported", "type": "reported"}}, [LINT]),
    ({"evidence": [], "proof": {"artifact": "verified"}}, ["memento evidence add --task T --kind artifact FILE"]),
    ({"evidence": [], "proof": {}}, ["memento evidence run --task T --kind test -- CMD"]),
])  # fmt: skip
def test_where_nothing_that_is_asked_proves_what_would_prove_is_shown_too(
    asked_: dict[str, Any], lines: list[str]
) -> None:
    assert show_lines("T", {"commands": [], **asked_}) == lines


@pytest.mark.parametrize(("kind", "line"), [
    (RUN_KINDS[0], "memento evidence run --task T -- CMD"), ("approval", "memento evidence approve T"),
    ("ci", "memento evidence check --task T FILE"), ("graph", "memento graph update --task T"),
    ("memory", "memento evidence add --task T --kind memory --summary TEXT"),
    ("screenshot", "memento evidence add --task T --kind screenshot FILE"),
])  # fmt: skip
def test_each_kind_of_evidence_has_its_line(kind: str, line: str) -> None:
    assert show_line("T", kind) == line


@pytest.mark.parametrize(("told", "typed"), [
    ({}, "make 'it all'"), ({"cwd": "docs"}, "CMD"), ({"argv": ["make", "<outside>/a"]}, "CMD"),
    ({"argv": ["make", "a\nb"]}, "CMD"), ({"argv": ["make", "x" * 1000]}, "CMD"),
])  # fmt: skip
def test_a_command_is_typed_again_where_it_is_known_whole(told: dict[str, Any], typed: str) -> None:
    command = {"cwd": ".", "argv": MAKE["run"], **told}
    assert again_line("T", {"kind": "lint", "command": command}) == (
        f"memento evidence run --task T --kind lint -- {typed}"
    )


@pytest.mark.parametrize(("argument", "cut"), [
    ("make", False), ("[redacted: token]", True), ("~/bin", True), ("--path=~/bin", True), ("a~b", False),
    ("x" * 4096, False), ("x" * 4097, True),
])  # fmt: skip
def test_a_word_that_lacks_something_is_told_by_its_looks(argument: str, cut: bool) -> None:
    assert is_cut(argument) is cut


@pytest.mark.parametrize(("seconds", "limit", "late"), [
    (61.0, 60, True), (60.9, 60, False), (9000.0, 0, False), (9000.0, None, False)
])  # fmt: skip
def test_a_command_is_late_a_second_after_its_time(seconds: float, limit: int | None, late: bool) -> None:
    assert is_late(seconds, limit) is late
