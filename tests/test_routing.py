"""Who is chosen, and why: rules over tables and outcomes, without a ledger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memento_git.model.clock import stamp
from memento_git.model.policy import Policy
from memento_git.model.states import TRUSTS
from memento_git.model.work import FAILURES
from memento_git.work.routing import executor_choice, outcomes
from memento_git.work.routing.budget import BECAUSE, LEADS_TO, Budget, BudgetExceeded, Next, budget, next_step, over
from memento_git.work.routing.executors import Executor, known
from memento_git.work.routing.outcomes import Attempt, Outcome, Tally, decayed, expected, tallies

NOW = stamp(1_790_000_000)
FREE = Budget(None, None, 0, 0.0)
FIRST = Next("first", None, "no attempt came to nothing yet")
TABLE = {one.name: one for one in (Executor("ann", ("a",)), Executor("bob", ("b",)), Executor("eve"))}


def ago(days: float) -> str:
    return stamp(1_790_000_000 - days * 86400)


def ended(who: str, *, good: bool, kind: str = "fix", days: float = 1, **more: Any) -> Outcome:
    return Outcome(who, kind, ago(days), good, more.pop("weight", 1.0), more.pop("task", "task_x"), **more)


def asked(*log: Outcome, **more: Any) -> executor_choice.Job:
    facts: dict[str, Any] = {
        "task": "task_me", "kind": "fix", "risk": "medium", "size": "", "files": (), "now": NOW, "table": TABLE,
        "outcomes": log, "budget": FREE, "step": FIRST,
    }  # fmt: skip
    return executor_choice.Job(**(facts | more))


def decide(*log: Outcome, health: dict[str, str] | None = None, override: str = "", **more: Any) -> dict[str, Any]:
    return executor_choice.decide(asked(*log, **more), health or {}, override)


def rules(decision: dict[str, Any]) -> dict[str, list[str]]:
    return {one["executor"]: one["rules"] for one in decision["rejected_executors"]}


# What outcomes say.


def test_an_outcome_weighs_half_after_ninety_days() -> None:
    assert decayed(ended("ann", good=True, days=0), NOW) == pytest.approx(1.0)
    assert decayed(ended("ann", good=True, days=90), NOW) == pytest.approx(0.5)
    assert decayed(ended("ann", good=True, days=180), NOW) == pytest.approx(0.25)


def test_an_outcome_from_a_clock_that_is_ahead_weighs_no_more_than_one_of_today() -> None:
    assert decayed(ended("ann", good=True, days=-400), NOW) == pytest.approx(1.0)


def test_proof_weighs_by_its_trust_and_a_claim_without_proof_little() -> None:
    one = Attempt("dispatch_a", "ann", "completed", at=NOW, claimed=True)
    weights = [told.weight for trust in ("reproduced", "witnessed", "verified", "reported", "advisory", "")
               if (told := outcomes.outcome(one, "task_x", "fix", (), trust))]  # fmt: skip
    assert weights[:5] == sorted(weights[:5], reverse=True)
    assert weights[5] < weights[1]


@pytest.mark.parametrize("how", ["failed", "rejected", "recovered"])
def test_what_came_to_nothing_is_a_failure(how: str) -> None:
    told = outcomes.outcome(Attempt("dispatch_a", "ann", how, at=NOW, claimed=True), "task_x", "fix", (), "")
    assert told is not None
    assert not told.good


@pytest.mark.parametrize(("how", "category", "claimed"), [
    ("failed", "stopped", True), ("recovered", "", False), ("withdrawn", "", True), ("reopened", "", True),
    ("open", "", True),
])  # fmt: skip
def test_what_is_nobodys_merit_or_fault_says_nothing(how: str, category: str, claimed: bool) -> None:
    one = Attempt("dispatch_a", "ann", how, category, NOW, claimed)
    assert outcomes.outcome(one, "task_x", "fix", (), "") is None


def test_what_is_known_of_a_kind_counts_before_what_is_known_of_others() -> None:
    known_of = tallies([ended("ann", good=True, kind="docs") for _ in range(8)], NOW)["ann"]
    assert expected({}, "fix", 0.5)[0] == pytest.approx(0.5)
    backed_off, unsure = expected(known_of, "fix", 0.5)
    assert 0.8 < backed_off < 1
    both = {**known_of, "fix": Tally(0.0, 8.0)}
    assert expected(both, "fix", 0.5)[0] < 0.25
    assert expected(both, "fix", 0.5)[1] < unsure


# Who is chosen.


def test_who_did_this_kind_well_is_chosen_and_the_choice_is_explained() -> None:
    log = [*(ended("bob", good=True) for _ in range(6)), *(ended("ann", good=False) for _ in range(3))]
    decision = decide(*log)
    assert decision["selected_executor"] == "bob"
    assert decision["fallback_chain"] == ["eve", "ann"]
    assert decision["auto_dispatch"] is False
    assert decision["user_override"] is None
    for row in decision["scores"]:
        assert row["score"] == pytest.approx(row["expected"] + row["unsure"] + row["cost"], abs=0.002)
    assert decision["reasons"][0].startswith("bob scores")


def test_old_merit_fades() -> None:
    log = [*(ended("ann", good=True, days=900) for _ in range(9)), *(ended("bob", good=True) for _ in range(2))]
    assert decide(*log)["selected_executor"] == "bob"


def test_a_tie_is_broken_by_cost_and_then_by_name() -> None:
    assert decide()["selected_executor"] == "ann"
    dear = {**TABLE, "ann": TABLE["ann"]._replace(cost=3.0)}
    assert decide(table=dear)["selected_executor"] == "bob"


def test_the_declared_kinds_count_until_outcomes_say_otherwise() -> None:
    table = {**TABLE, "bob": TABLE["bob"]._replace(kinds=("fix",))}
    assert decide(table=table)["selected_executor"] == "bob"
    assert decide(*(ended("bob", good=False) for _ in range(3)), table=table)["selected_executor"] == "ann"


def test_who_is_out_of_scope_above_its_risk_or_unwell_is_rejected_with_the_reason() -> None:
    table = {
        "far": Executor("far", scope=("docs/**",)), "shy": Executor("shy", risk="low"), "ill": Executor("ill"),
        "fit": Executor("fit", scope=("src",)),
    }  # fmt: skip
    decision = decide(table=table, files=("src/a.py",), health={"ill": "ill is not on PATH"})
    assert decision["selected_executor"] == "fit"
    assert rules(decision) == {"far": ["scope"], "shy": ["risk"], "ill": ["health"]}
    assert "src/a.py" in decision["rejected_executors"][0]["reasons"][0]


def test_an_executor_with_a_scope_is_given_no_task_that_names_no_files() -> None:
    assert rules(decide(table={"far": Executor("far", scope=("docs/**",))})) == {"far": ["scope"]}


@pytest.mark.parametrize(("path", "pattern", "inside"), [
    ("src/a.py", "src/**", True), ("src/a.py", "src", True), ("src/a.py", "src/", True), ("src/a.py", "*.py", True),
    ("srcs/a.py", "src", False), ("docs/a.md", "src/**", False), ("a.py", "src/*", False),
])  # fmt: skip
def test_a_scope_is_a_pattern_or_a_folder(path: str, pattern: str, inside: bool) -> None:
    assert executor_choice.within(path, [pattern]) is inside


def test_failures_on_the_same_files_raise_the_risk() -> None:
    log = [ended("ann", good=False, task=f"task_{number}", files=("src/a.py",)) for number in range(3)]
    table = {**TABLE, "bob": TABLE["bob"]._replace(risk="medium")}
    decision = decide(*log, table=table, files=("src/a.py",))
    assert decision["risk"] == "high"
    assert decision["risk_adjustments"][0]["from"] == "medium"
    assert "src/a.py" in decision["risk_adjustments"][0]["why"]
    assert decision["requires_user_approval"]
    assert rules(decision) == {"bob": ["risk"]}
    assert decide(*log, table=table, files=("src/b.py",))["risk"] == "medium"


def test_old_failures_raise_no_risk() -> None:
    log = [ended("ann", good=False, task=f"task_{number}", files=("a.py",), days=400) for number in range(3)]
    assert decide(*log, files=("a.py",))["risk_adjustments"] == []


def test_who_is_asked_for_is_chosen_with_approval() -> None:
    decision = decide(override="eve")
    assert decision["selected_executor"] == "eve"
    assert decision["fallback_chain"] == ["ann", "bob"]
    assert decision["requires_user_approval"]
    assert decision["user_override"] == {"executor": "eve", "honoured": True, "reasons": []}


@pytest.mark.parametrize(("name", "told"), [
    ("bob", "bob is not on PATH"), ("far", "outside"), ("shy", "the risk is medium"),
    ("nobody", "no executor is called"),
])  # fmt: skip
def test_hard_safety_stands_whoever_is_asked_for(name: str, told: str) -> None:
    table = {**TABLE, "far": Executor("far", scope=("docs",)), "shy": Executor("shy", risk="low")}
    decision = decide(table=table, files=("src/a.py",), health={"bob": "bob is not on PATH"}, override=name)
    assert decision["selected_executor"] == "ann"
    assert decision["user_override"]["honoured"] is False
    assert told in decision["user_override"]["reasons"][0]
    assert not decision["requires_user_approval"]


def test_nobody_is_chosen_where_nobody_may() -> None:
    decision = decide(health=dict.fromkeys(TABLE, "away"))
    assert decision["selected_executor"] is None
    assert decision["fallback_chain"] == []
    assert decision["step"]["executor"] is None


def test_a_task_at_stake_gets_the_bundle() -> None:
    assert decide(risk="low")["context_profile"] == "brief"
    assert decide(size="large")["context_profile"] == "bundle"
    assert decide(step=Next("repair", None, "its tests fail"))["context_profile"] == "bundle"


# Budgets.


def lost(who: str = "ann", category: str = "", how: str = "failed") -> Attempt:
    return Attempt(f"dispatch_{who}", who, how, category, NOW, claimed=True)


def held(*tried: Attempt, **limits: Any) -> Budget:
    return budget(limits, {}, tried, TABLE)


@pytest.mark.parametrize(("category", "action"), [
    ("environment", "fallback"), ("timeout", "fallback"), ("tests", "repair"), ("conflict", "retry"),
    ("scope", "escalate"), ("unclear", "escalate"), ("stopped", "retry"), ("other", "retry"), ("", "retry"),
])  # fmt: skip
def test_a_failure_leads_to_what_its_category_says(category: str, action: str) -> None:
    tried = [lost(category=category)]
    step = next_step("", tried, held(*tried))
    assert step.action == action
    assert step.avoid == (("ann",) if action == "fallback" else ())
    assert step.executor == ("ann" if action == "retry" else None)


def test_the_same_failure_twice_without_a_category_goes_elsewhere() -> None:
    tried = [lost(), lost()]
    assert next_step("", tried, held(*tried)).action == "fallback"


@pytest.mark.parametrize(("how", "action"), [("recovered", "fallback"), ("rejected", "repair")])
def test_a_lost_worker_and_a_rejection_lead_on_too(how: str, action: str) -> None:
    tried = [lost(how=how)]
    assert next_step("", tried, held(*tried)).action == action


def test_nothing_is_next_for_what_is_done_or_under_way() -> None:
    assert next_step(over("active", "accepted"), [], FREE).action == "none"
    assert next_step("", [Attempt("dispatch_a", "ann", claimed=True)], FREE).row()["executor"] == "ann"
    assert next_step("", [], FREE).action == "first"


@pytest.mark.parametrize(("run", "task", "told"), [
    ("active", "pending", ""), ("active", "contested", "the task is contested"),
    ("paused", "blocked", ""), ("cancelled", "pending", "its run is cancelled"),
    ("completed", "accepted", "its run is completed"),
])  # fmt: skip
def test_a_settled_task_and_a_final_run_are_over(run: str, task: str, told: str) -> None:
    assert over(run, task) == told


def test_every_trust_weighs_something_and_every_failure_leads_somewhere() -> None:
    assert set(outcomes.TRUST) == set(TRUSTS)
    assert set(BECAUSE) == {*FAILURES, "recovered", "rejected"}
    assert set(LEADS_TO) == set(BECAUSE) - {"other"}
    assert set(LEADS_TO.values()) == {"fallback", "repair", "retry", "escalate"}


def test_a_task_tried_as_often_as_it_may_be_is_escalated_to_a_person() -> None:
    tried = [lost("ann", "tests"), lost("bob", "tests"), lost("ann", "tests")]
    spent = held(*tried, attempts=3)
    step = next_step("", tried, spent)
    assert step.action == "escalate"
    decision = decide(budget=spent, step=step)
    assert decision["selected_executor"] == "eve"
    assert rules(decision) == {"ann": ["budget"], "bob": ["budget"]}
    assert decision["requires_user_approval"]
    assert decision["step"] == {
        "action": "escalate", "executor": "eve", "why": "3 of 3 attempts came to nothing", "command": None
    }  # fmt: skip
    assert decide(budget=spent, step=step, override="ann")["user_override"]["honoured"] is False


def test_who_costs_more_than_is_left_is_rejected() -> None:
    table = {**TABLE, "bob": TABLE["bob"]._replace(cost=4.0)}
    decision = decide(table=table, budget=budget({"cost": 5.0}, {}, [lost("ann"), lost("ann")], table))
    assert rules(decision) == {"bob": ["budget"]}
    assert "another one costs 4" in decision["rejected_executors"][0]["reasons"][0]


def test_a_fallback_goes_to_somebody_else_unless_a_person_insists() -> None:
    tried = [lost("ann", "timeout")]
    step = next_step("", tried, held(*tried))
    decision = decide(step=step)
    assert decision["selected_executor"] == "bob"
    assert rules(decision) == {"ann": ["tried"]}
    assert decide(step=step, override="ann")["selected_executor"] == "ann"


def test_a_conflict_is_tried_again_by_the_same() -> None:
    tried = [lost("eve", "conflict")]
    assert decide(step=next_step("", tried, held(*tried)))["selected_executor"] == "eve"


def test_a_tasks_own_limits_replace_those_of_policy_one_by_one() -> None:
    both = budget({"attempts": 3, "cost": 9.0}, {"attempts": 1}, [lost()], TABLE)
    assert (both.attempts, both.cost, both.lost, both.spent) == (1, 9.0, 1, 1.0)
    assert both.exceeded(1.0) == "1 of 1 attempts came to nothing"


def test_an_attempt_that_nobody_took_costs_nothing() -> None:
    tried = [Attempt("dispatch_a", "ann", "recovered", at=NOW), Attempt("dispatch_b", "ann", "withdrawn", at=NOW)]
    assert held(*tried, attempts=1) == Budget(1, None, 0, 0.0)


def test_what_was_taken_or_failed_is_paid_for_and_what_is_open() -> None:
    tried = [
        Attempt("dispatch_a", "ann"), Attempt("dispatch_b", "ann", "failed", at=NOW),
        Attempt("dispatch_c", "ann", "withdrawn", at=NOW, claimed=True),
    ]  # fmt: skip
    assert held(*tried) == Budget(None, None, 1, 3.0)


def test_a_budget_may_be_used_up_and_not_overdrawn() -> None:
    left = Budget(3, 3.0, 2, 2.0)
    assert left.row(1.0) == {"attempts": 3, "lost": 2, "cost": 3.0, "spent": 2.0, "exceeded": None}
    assert left.row(1.1)["exceeded"] == "attempts cost 2, another one costs 1.1, and 3 is allowed"
    assert left._replace(lost=3).row(1.0)["exceeded"] == "3 of 3 attempts came to nothing"


def test_what_was_withdrawn_since_is_not_what_leads_on() -> None:
    tried = [lost("ann", "conflict"), Attempt("dispatch_b", "bob", "withdrawn", at=NOW)]
    assert next_step("", tried, held(*tried))[:2] == ("retry", "ann")


def test_a_fallback_avoids_all_whose_surroundings_failed_and_not_whose_work_did() -> None:
    tried = [lost("eve", "timeout"), lost("bob", "tests"), lost("ann", how="recovered")]
    assert next_step("", tried, held(*tried)).avoid == ("ann", "eve")


def test_a_category_counts_of_a_failure_alone() -> None:
    step = next_step("", [lost("ann", "tests", how="recovered")], FREE)
    assert step.row() == {
        "action": "fallback", "executor": None, "why": "ann: its worker was not heard of again", "command": None
    }  # fmt: skip


def test_the_refusal_says_how_to_go_on() -> None:
    assert "--over-budget" in BudgetExceeded(task="task_x", why="1 of 1 attempts came to nothing").hint


def test_the_replay_says_the_same_each_time_and_routing_beats_always_the_first() -> None:
    script = Path(__file__).parent.parent / "benchmarks" / "replay_routing.py"
    command = [sys.executable, str(script), "--seeds", "6", "--tasks", "200"]
    first, again = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first == again
    rows = [line.split(" | ") for line in first.splitlines()[2:]]
    assert len(rows) == 12
    assert all(float(row[4].split()[0]) < 0.8 for row in rows if row[1] == "always the first")


def test_the_same_facts_give_the_same_decision() -> None:
    log = [ended(who, good=number % 3 > 0, kind=kind, days=number)
           for number in range(30) for who in TABLE for kind in ("fix", "docs")]  # fmt: skip
    assert decide(*log) == decide(*reversed(log))
    assert set(known(Policy())) >= {"human", "codex", "claude-code", "aider", "goose", "swe-agent", "hermes-profile"}
