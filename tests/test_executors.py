"""The table of executors, without a ledger."""

from __future__ import annotations

import pytest

from memento_git.model.policy import Policy
from memento_git.work.routing.executors import BUILT_IN, PLACEHOLDERS, Executor, fill, kept_boxed, known


def test_a_person_starts_nothing_and_a_command_is_started() -> None:
    table = known(Policy())
    assert table["human"].by == "person"
    assert table["codex"].by == "command"
    assert list(table) == sorted(table)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_built_in_command_is_told_its_brief_and_can_be_asked_for_its_health(name: str) -> None:
    executor = BUILT_IN[name]
    if executor.by == "command":
        assert "{brief}" in " ".join(executor.run)
        assert executor.health
        assert executor.timeout
    values = dict.fromkeys(PLACEHOLDERS, "/tmp/value")
    assert not any("{" in word for word in executor.argv(values))


def test_a_value_is_never_filled_in_twice_and_other_braces_stay() -> None:
    filled = fill(("{brief}", "x={task}", "{{.Server}}", "{other}"), {"brief": "{task}", "task": "t"})
    assert filled == ["{task}", "x=t", "{{.Server}}", "{other}"]


def test_config_changes_what_is_built_in_and_adds_its_own() -> None:
    table = known(Policy(executors={
        "codex": {"cost": 2.5, "risk": "low", "scope": ["src/**"]},
        "ours": {"run": ["agent", "{brief}"], "kinds": ["docs"], "timeout": "5m"},
        "goose": {"run": ["mygoose", "{brief}"]},
        "ada": {},
    }))  # fmt: skip
    assert table["codex"] == BUILT_IN["codex"]._replace(cost=2.5, risk="low", scope=("src/**",))
    assert table["ours"] == Executor("ours", ("agent", "{brief}"), kinds=("docs",), timeout=300)
    assert table["goose"].health == ()
    assert table["ada"].by == "person"
    assert list(table) == sorted(table)
    assert BUILT_IN["codex"].cost == 1.0


BOXED = Executor("codex", ("codex", "exec", "--quiet", "{brief}"), sandbox="required", wrap=("box",))


@pytest.mark.parametrize(("argv", "owner"), [
    (("/opt/bin/codex", "exec", "{brief}"), "codex"), (("codex", "exec", "again", "-v"), "codex"),
    (("codex", "{brief}"), "mine"), (("codex", "--quiet", "exec"), "mine"), (("agent", "exec"), "mine"),
    ((), "mine"),
])  # fmt: skip
def test_a_command_takes_the_sandbox_along_that_it_must_work_in(argv: tuple[str, ...], owner: str) -> None:
    table = {"free": Executor("free", argv), "ada": Executor("ada", sandbox="required"), "codex": BOXED}
    found, whose = kept_boxed(Executor("mine", argv), table)
    assert whose == owner
    assert found == Executor("mine", argv, sandbox=found.sandbox, wrap=BOXED.wrap if owner == "codex" else ())
    assert found.is_boxed is (owner == "codex")


def test_a_command_is_known_by_what_stands_before_the_first_word_that_is_filled_in() -> None:
    table = {"codex": BOXED._replace(run=("codex", "{brief}", "exec"))}
    assert kept_boxed(Executor("mine", ("codex", "again")), table)[1] == "codex"


def test_who_has_a_sandbox_of_its_own_keeps_it() -> None:
    mine = BOXED._replace(name="mine", wrap=("bag",))
    assert kept_boxed(mine, {"codex": BOXED}) == (mine, "mine")
