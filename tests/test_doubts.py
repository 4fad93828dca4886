"""What takes from that a task is proven, or a plan approved, stands beside it wherever that is said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import evidences, runs, tasks
from tests.play import add, git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play

SIGNED = "signatures: {allowed_signers: .memento/allowed_signers, require: {%s: [ada@example.invalid]}}"
TITLE = "Count the zebra"


def stale(play: Play) -> None:
    play.proven(TITLE)
    play.commit("app.py", "answer = 43\n")


def uncommitted(play: Play) -> None:
    (play.root / "app.py").write_text("answer = 43\n")
    play.proven(TITLE)


def passed_since(play: Play) -> None:
    stale(play)
    play.proven("Feed it")


def gate_failed(play: Play) -> None:
    play.gate("quality_review", "failed", task=play.proven(TITLE), reason="It is a horse.")


def cancelled(play: Play) -> None:
    play.proven(TITLE)
    play.do(runs.cancel_run, reason="Enough.")


def unsigned(play: Play) -> None:
    task = play.task(TITLE, require=["approval"])
    claim = play.claimed(task)
    play.complete(claim, play.evidence(task), play.do(evidences.approve, task, prompt="Is it?", response="yes"))
    (play.root / ".memento" / "allowed_signers").write_text("")
    play.policy(f"  {SIGNED % 'approvals'}\n")


def failed_since(play: Play) -> None:
    task = play.proven(TITLE)
    argv = ["sh", "-c", "echo checked; exit 0"]
    draft = evidences.witness(play.ledger, argv, kind="test", quiet=True)
    ended = {**draft.data["command"], "exit": 1}
    play.do(
        evidences.record_draft, draft._replace(data={**draft.data, "command": ended, "outcome": "failed"}), tasks=[task]
    )


TASKS = [
    (failed_since, ["failed since"]),
    (stale, ["stale"]), (uncommitted, ["of code that is not committed here"]),
    (passed_since, ["passed on this code since"]), (gate_failed, ["quality"]),
    (cancelled, ["in a cancelled run"]), (unsigned, ["unsigned"]),
]  # fmt: skip


@pytest.mark.parametrize(("story", "words"), TASKS, ids=[story.__name__ for story, _ in TASKS])
def test_what_takes_from_a_proven_task_is_told_on_every_surface(
    play: Play, cli: Call, story: Callable[[Play], None], words: list[str]
) -> None:
    start = git(play.root, "rev-parse", "HEAD")
    play.planned()
    story(play)
    diff = cli("diff", f"{start}..HEAD", "-C", str(play.root))[1]
    by_older_policy = {"cancelled": "cancelled", "unsigned": "proven"}
    in_diff = by_older_policy.get(story.__name__, words[0])
    assert in_diff in diff, diff
    (task,) = [row["id"] for row in play.overview()["tasks"] if row["title"] == TITLE]
    note = add(play, "It is about stripes.", links=[f"relates_to:{task}"])
    surfaces = [
        ["status"], ["report"], ["report", "--chat"], ["report", "--format", "text"], ["task", "list"],
        ["task", "board"], ["task", "board", "--format", "markdown"], ["recall", "count the zebra", "--kind", "task"],
        ["note", "show", note, "--what", "graph"],
    ]  # fmt: skip
    for surface in surfaces:
        out = cli(*surface, "-C", str(play.root))[1]
        assert "proven" in out, out
        assert [word for word in words if word not in out] == [], out


def retracted(play: Play) -> None:
    play.do(evidences.retract, play.overview()["evidence"][0]["id"], reason="It was a horse.")


def asked_more(play: Play) -> None:
    play.policy("  gates: {required: [final_acceptance]}\n")


def called_off(play: Play) -> None:
    play.policy("  require: []\n")


def without_what_it_passed_on(play: Play) -> None:
    play.do(evidences.retract, play.overview()["gates"][0]["evidence"][0], reason="It was a horse.")


@pytest.mark.parametrize(
    ("story", "word"),
    [(retracted, "1 task is not proven"), (asked_more, "gate final_acceptance has not passed"),
     (without_what_it_passed_on, "gate quality_review has fallen"), (called_off, "")],
)  # fmt: skip
def test_what_takes_from_a_completed_run_is_told_where_its_tasks_are_not(
    play: Play, cli: Call, story: Callable[[Play], None], word: str
) -> None:
    run = play.planned(TITLE)
    start = git(play.root, "rev-parse", "HEAD")
    play.proven("Feed it")
    play.do(tasks.cancel_task, play.task("Ride it"), reason="It kicks.")
    play.gate("quality_review", "passed", evidence=[play.evidence()])
    play.do(runs.complete_run, run)
    note = add(play, "It is about stripes.", links=[f"relates_to:{run}"])
    story(play)
    for surface in (
        ["run", "list"], ["run", "show", run], ["show", run], ["recall", "count the zebra", "--kind", "run"],
        ["note", "show", note, "--what", "graph"], ["diff", f"{start}..HEAD"],
        ["diff", f"{start}..HEAD", "--format", "markdown"],
    ):  # fmt: skip
        out = cli(*surface, "-C", str(play.root))[1]
        assert "completed" in out, out
        assert word in out, out
        assert word or "not proven" not in out, out
    (row,) = json.loads(cli("run", "list", "--json", "-C", str(play.root))[1])["runs"]
    assert row["doubts"] == ([word] if word else [])
    play.policy("  gates: {stripes: [black]}\n")
    for surface in (["run", "list"], ["run", "show", run], ["recall", "count the zebra", "--kind", "run"]):
        out = cli(*surface, "-C", str(play.root))[1]
        assert "whether it is proven cannot be told" in out, out


def test_the_end_of_a_run_says_how_much_failed_since(play: Play, run: str, cli: Call) -> None:
    failed_since(play)
    assert "every task is done and proven, 1 of them failed since" in cli("status", "-C", str(play.root))[1]
    (row,) = play.overview()["tasks"]
    shown = json.loads(cli("task", "show", row["id"], "--json", "-C", str(play.root))[1])["task"]
    assert shown["failed_since"] == row["failed_since"]
    assert [name for name in row["failed_since"] if name in row["proven_by"]] == []
    narrow = evidences.witness(
        play.ledger, ["sh", "-c", "echo checked; exit 0"], kind="test", covers=["app.py"], quiet=True
    )
    play.do(evidences.record_draft, narrow, tasks=[row["id"]])
    assert play.overview()["tasks"][0]["failed_since"] == row["failed_since"], "it is about less code"
    play.evidence(row["id"])
    assert play.overview()["tasks"][0]["failed_since"] == []


def test_evidence_that_passed_on_this_code_since_is_told_alike(play: Play, run: str, cli: Call) -> None:
    passed_since(play)
    where = ("--json", "-C", str(play.root))
    hits = json.loads(cli("recall", "count the zebra", "--kind", "task", *where)[1])["hits"]
    assert [(hit["proven"], hit["stale"], hit["doubts"]) for hit in hits] == [
        (True, True, ["passed on this code since"])
    ]
    first = play.overview()["evidence"][0]["id"]
    add(play, "Stripes are counted by hand.", evidence=[first])
    told = cli("recall", "stripes", "-C", str(play.root))[1]
    assert f"rests on {first}: recorded, witnessed, passed on this code since" in told


def test_what_is_known_is_recalled_where_policy_cannot_be_read(play: Play, run: str, cli: Call) -> None:
    stale(play)
    add(play, "Stripes are counted by hand.", evidence=[play.overview()["evidence"][0]["id"]])
    play.policy("  no_such_key: 1\n")
    code, out, _ = cli("recall", "stripes", "-C", str(play.root))
    assert (code, "evidence witnessed, stale" in out) == (0, True)


def changed(play: Play) -> None:
    plan = next((play.root / ".memento").rglob("plan.md"))
    play.commit(plan, plan.read_text().replace("show it", "say so"), "easier")


def unapproved(play: Play) -> None:
    play.policy("  plan: {approvers: [Grace]}\n")


def plan_unsigned(play: Play) -> None:
    (play.root / ".memento" / "allowed_signers").write_text("")
    play.policy(f"  {SIGNED % 'plan_approval'}\n")


PLANS = [
    (changed, "changed since its approval"), (unapproved, "not approved by who may"), (plan_unsigned, "unsigned")
]  # fmt: skip


@pytest.mark.parametrize(("story", "word"), PLANS, ids=[story.__name__ for story, _ in PLANS])
def test_what_takes_from_an_approved_plan_is_told_by_recall(
    play: Play, run: str, cli: Call, story: Callable[[Play], None], word: str
) -> None:
    story(play)
    for surface in (["status"], ["report"], ["recall", "show plan", "--kind", "plan"]):
        out = cli(*surface, "-C", str(play.root))[1]
        assert word in out, out
        assert "Plan" in out


def test_the_diff_says_that_a_plan_was_not_approved_by_who_may(play: Play, run: str, cli: Call) -> None:
    git(play.root, "switch", "-qc", "work")
    unapproved(play)
    for form in ("text", "markdown"):
        out: Any = cli("diff", "main", "--format", form, "-C", str(play.root))[1]
        assert "was approved by Ada" in out
        assert "not approved by who may" in out


def test_a_verdict_by_who_may_not_give_it_is_told_on_every_surface(play: Play, run: str, cli: Call) -> None:
    play.proven(TITLE)
    play.gate("final_acceptance", "passed")
    start = git(play.root, "rev-parse", "HEAD")
    play.policy("  gates: {verdicts: {final_acceptance: [Grace]}}\n")
    for surface in (["status"], ["report"], ["report", "--chat"], ["gate", "list"], ["diff", f"{start}..HEAD"]):
        out = cli(*surface, "-C", str(play.root))[1]
        lines = [line for line in out.split("\n") if "final" in line and "passed" in line and "next" not in line]
        assert any("policy names Grace" in line or "fallen" in line for line in lines), out
    (row,) = json.loads(cli("gate", "list", "--json", "-C", str(play.root))[1])["gates"]
    assert (row["status"], row["fallen"]) == ("passed", "it is by Ada <ada@example.invalid>, and policy names Grace")


@pytest.mark.parametrize(("asked", "lacks"), [
    ("approvals: 1, approvers: [Grace]", "approvals: 0 of 1, by Grace"), ("checks: [ci]", "check ci: there is none"),
])  # fmt: skip
def test_a_release_on_less_than_policy_asks_is_told_on_every_surface(
    play: Play, run: str, cli: Call, asked: str, lacks: str
) -> None:
    play.policy("  require: []\n")
    play.task("Feed it")
    play.gate("release", "passed")
    start = git(play.root, "rev-parse", "HEAD")
    play.policy(f"  release: {{{asked}}}\n")
    for surface in (["status"], ["report"], ["report", "--chat"], ["gate", "list"], ["diff", f"{start}..HEAD"]):
        out = cli(*surface, "-C", str(play.root))[1]
        lines = [line for line in out.split("\n") if "release" in line and "passed" in line]
        assert any(lacks in line or "fallen" in line for line in lines), out
    (row,) = json.loads(cli("gate", "list", "--json", "-C", str(play.root))[1])["gates"]
    assert (row["status"], row["fallen"]) == ("passed", lacks)


def test_a_release_is_judged_where_an_approved_text_cannot_be_read(play: Play, run: str, cli: Call) -> None:
    play.policy("  release: {approvals: 1}\n")
    task = play.proven(TITLE)
    play.do(evidences.approve, task)
    play.gate("release", "passed")
    play.commit(play.state(task).index.prose[task], "Without front matter.\n")
    for surface, code in ((["status"], 0), (["report"], 0), (["diff", "HEAD~1..HEAD"], 0), (["check"], 5)):
        assert cli(*surface, "-C", str(play.root))[0] == code, surface
    (row,) = json.loads(cli("gate", "list", "--json", "-C", str(play.root))[1])["gates"]
    assert (row["status"], row["fallen"]) == ("passed", "approvals: 0 of 1")


def test_a_brief_says_what_is_not_proven_of_what_its_task_rests_on(play: Play, run: str, cli: Call) -> None:
    first = play.proven(TITLE)
    task = play.task("Feed it", depends_on=[first])
    proof = play.overview()["tasks"][0]["proven_by"][0]
    assert f"(`{first}`, completed, proven)" in cli("task", "brief", task, "-C", str(play.root))[1]
    play.do(evidences.retract, proof, reason="It was a horse.")
    changed(play)
    out = cli("task", "brief", task, "-C", str(play.root))[1]
    assert f"(`{first}`, completed, unproven: {proof} is retracted" in out.replace("\\", ""), out
    assert "## Plan: Plan (changed since its approval)" in out


@pytest.mark.parametrize(("happen", "word"), [
    (stale, "stale"), (passed_since, "passed on this code since"), (failed_since, "failed since"),
    (gate_failed, "gate quality_review failed"), (unsigned, "unsigned"),
])  # fmt: skip
def test_a_brief_says_what_takes_from_the_proof_that_its_task_rests_on(
    play: Play, run: str, cli: Call, happen: Callable[[Play], None], word: str
) -> None:
    happen(play)
    first = next(row["id"] for row in play.overview()["tasks"] if row["title"] == TITLE)
    task = play.task("Groom it", depends_on=[first])
    assert f"(`{first}`, completed, proven, {word})" in cli("task", "brief", task, "-C", str(play.root))[1]
