"""The steps that a command names as next: who follows them gets from nothing to a run that is done."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.cli.boundary import leading
from memento_git.work import overview
from memento_git.work.actions import evidences, plans, runs
from memento_git.work.refusals import PlanRequired
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.play import Call, Play

WORDS = {
    "NOTE": "Read.",
    "GOAL": "Ship it",
    "TITLE": "Parse",
    "BODY": "Write, then test.",
    "WHO": "agent",
    "WHY": "it was missing",
    "DANGER": "git push --force",
}
PASSES = (sys.executable, "-c", "")


@pytest.fixture
def follow(cli: Call) -> Callable[..., dict[str, Any]]:
    def walk(folder: Path, command: str) -> dict[str, Any]:
        """Take a step as it is told; words in capitals are filled in."""
        program, *words = command.split()
        assert program == "memento"
        filled = [WORDS.get(before[2:].upper() if word == "TEXT" else word, word)
                  for before, word in zip(["", *words], words, strict=False)]  # fmt: skip
        answer: dict[str, Any] = json.loads(cli(*filled, "-C", str(folder), "--json")[1])
        assert answer["ok"], (command, answer)
        return answer

    return walk


def only(answer: dict[str, Any]) -> str:
    (step,) = answer["next"]
    assert step["why"]
    return str(step["command"])


def test_who_follows_the_steps_gets_from_nothing_to_an_archived_run(
    follow: Callable[..., Any], cli: Call, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "begin")
    answer, said = follow(tmp_path, "memento init"), []
    while "memento task brief" not in only(answer):
        said.append(only(answer).split()[1:3])
        answer = follow(tmp_path, only(answer))
    assert said == [
        ["run", "start"], ["plan", "draft"], ["plan", "approve"], ["task", "add"], ["dispatch", "create"],
        ["dispatch", "claim"],
    ]  # fmt: skip

    task = follow(tmp_path, only(answer))["payload"]["task_id"]
    shown = json.loads(cli("evidence", "run", "-C", str(tmp_path), "--task", task, "--json", "--", *PASSES)[1])
    done = follow(tmp_path, only(shown))
    assert (done["proven"], only(done)) == (True, f"memento status --run {done['run_id']}")
    assert [step["command"] for step in follow(tmp_path, only(done))["next"]] == [
        f"memento run complete {done['run_id']}"
    ]

    completed = follow(tmp_path, only(follow(tmp_path, f"memento task verify {task}")))
    assert completed["run"]["status"] == "completed"
    assert "archive" in follow(tmp_path, only(completed))


def test_text_and_json_name_the_same_step(play: Play, run: str, cli: Call) -> None:
    task, folder = play.task(), ("--reason", "why", "-C", str(play.root))
    steps = {"block": f"memento task reopen {task} --reason WHY",
             "reopen": f"memento dispatch create {task} --executor WHO"}  # fmt: skip
    texts = {verb: cli("task", verb, task, *folder)[1] for verb in steps}
    told = {verb: json.loads(cli("task", verb, task, *folder, "--json")[1]) for verb in steps}
    assert {verb: only(one) for verb, one in told.items()} == steps
    assert [text.endswith(f"{leading(told[verb]['next'])}\n") for verb, text in texts.items()] == [True, True]


def test_who_named_themselves_with_an_option_is_led_on_under_that_name(
    play: Play, cli: Call, follow: Callable[..., dict[str, Any]]
) -> None:
    task = play.planned_task()
    where, who = ("-C", str(play.root)), ("--actor", "agent:worker")
    cli("dispatch", "claim", play.dispatch(task), *where, *who)
    run = ("evidence", "run", "--task", task, "--kind", "test", "--json", *where)
    told = json.loads(cli(*run, *who, "--", sys.executable, "-c", "")[1])
    assert " --actor agent:worker " in only(told)
    assert "--actor" not in only(json.loads(cli(*run, "--", sys.executable, "-c", "")[1]))
    follow(play.root, only(told))
    assert play.is_proven(task)


def test_whoever_a_task_was_handed_to_is_named_where_it_waits_to_be_claimed(play: Play, run: str, cli: Call) -> None:
    here = ("-C", str(play.root), "--json")
    made = json.loads(cli("dispatch", "create", play.task("Parse"), "--executor", "agent:cleo", *here)[1])
    claim = f"memento dispatch claim {made['dispatch_id']}"
    assert made["next"] == [{"why": "it waits to be claimed by agent:cleo", "command": claim}]
    assert json.loads(cli("status", *here)[1])["next"] == [
        {"why": "“Parse” waits to be claimed by agent:cleo", "command": claim}
    ]


@pytest.mark.parametrize("verb", ["retract", "supersede", "redact"])
def test_evidence_that_is_withdrawn_leads_to_what_its_run_needs(play: Play, cli: Call, verb: str) -> None:
    task = play.proven(run=play.planned())
    (proof,) = play.state(task).proof(task).by
    other = [play.evidence(task)] if verb == "supersede" else []
    here = ("-C", str(play.root), "--json")
    told = json.loads(cli("evidence", verb, proof, *other, "--reason", "Of another day.", *here)[1])["next"]
    assert told == json.loads(cli("status", *here)[1])["next"][:1] != []


def test_a_completed_candidate_leads_to_comparing_it(play: Play, run: str, cli: Call) -> None:
    task, here = play.task(), ("-C", str(play.root), "--json")
    held = json.loads(cli("dispatch", "create", task, "--executor", "a", "--candidate", *here)[1])["dispatch_id"]
    cli("dispatch", "claim", held, *here)
    shown = json.loads(cli("evidence", "run", "--task", task, *here, "--", *PASSES)[1])["evidence"]["id"]
    told = json.loads(cli("dispatch", "complete", held, "--evidence", shown, *here)[1])
    assert only(told) == f"memento dispatch select {task}"


def test_a_plan_that_is_approved_already_leads_to_what_its_run_needs(
    play: Play, run: str, follow: Callable[..., Any], cli: Call
) -> None:
    told = json.loads(cli("plan", "approve", play.state(run).canonical, "-C", str(play.root), "--json")[1])
    assert (told["error"], told["hint"].partition(": ")[2]) == (
        "plan_already_canonical", f"memento status --run {run}"
    )  # fmt: skip
    assert follow(play.root, told["hint"].partition(": ")[2])["run"]["id"] == run


def test_a_second_run_for_one_goal_is_told_of_the_first_while_that_is_open(play: Play, cli: Call) -> None:
    def started(goal: str) -> tuple[str, list[str]]:
        told = json.loads(cli("run", "start", "--goal", goal, "-C", str(play.root), "--json")[1])
        return told["run"]["id"], told.get("warnings", [])

    first, told = started("Ship it")
    assert told == []
    assert started("Ship that")[1] == []
    assert started("Ship it")[1] == [f"{first} has the same goal and is open: memento status --run {first}"]
    for run in play.ledger.view().runs():
        cli("run", "cancel", run, "--reason", "twice", "-C", str(play.root))
    assert started("Ship it")[1] == []


def test_a_task_that_is_at_work_has_no_step_of_its_own_when_it_is_put_in_other_words(
    play: Play, run: str, cli: Call
) -> None:
    task = play.task()
    play.claimed(task)
    told = json.loads(cli("task", "revise", task, "--title", "Other", "-C", str(play.root), "--json")[1])
    assert (told["ok"], told["next"]) == (True, [])


def test_a_dispatch_that_was_taken_back_leads_to_handing_its_task_out_and_one_that_failed_to_reopening_it(
    play: Play, run: str, follow: Callable[..., Any]
) -> None:
    task = play.task()
    held = play.claimed(task)
    taken = follow(play.root, f"memento dispatch recover {held} --force --reason late")
    assert only(taken) == f"memento dispatch create {task} --executor WHO"
    again = play.claimed(task)
    taken = follow(play.root, f"memento dispatch recover {again} --force --reason late --requeue")
    assert only(taken) == f"memento dispatch claim {taken['requeued_dispatch_id']}"
    failed = follow(play.root, f"memento dispatch fail {taken['requeued_dispatch_id']} --reason late")
    assert only(failed) == f"memento task reopen {task} --reason WHY"


def test_a_task_that_cannot_be_handed_out_yet_leads_to_what_that_waits_for(
    play: Play, follow: Callable[..., Any]
) -> None:
    run = play.run()
    plan = play.do(plans.draft_plan, "Plan", "Do it.", run=run)
    first = follow(play.root, "memento task add --title First")
    assert only(first) == f"memento plan approve {plan}"
    play.do(plans.approve_plan, plan)
    later = follow(play.root, f"memento task add --title Later --depends-on {first['task']['id']}")
    assert only(later) == f"memento status --run {run}"
    risky = follow(play.root, "memento task add --title DANGER")
    assert only(risky) == f"memento task show {risky['task']['id']}"
    play.do(runs.pause_run, run, reason="lunch")
    assert only(follow(play.root, "memento task add --title More")) == f"memento run resume {run}"


def test_a_task_of_a_run_without_a_plan_leads_to_that_without_a_look_at_its_tasks(
    play: Play, follow: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = play.run()
    monkeypatch.delattr(overview, "overview")
    assert only(follow(play.root, "memento task add --title First")).startswith(f"memento plan draft --run {run}")
    plan = play.do(plans.draft_plan, "Plan", "Do it.", run=run)
    assert only(follow(play.root, "memento task add --title Second")) == f"memento plan approve {plan}"


def test_what_was_done_is_said_where_what_comes_next_cannot_be_read(play: Play, cli: Call) -> None:
    (play.root / "src").mkdir()
    (play.root / "src" / "x.py").write_text("1\n")
    play.commit_all()
    run = play.planned()
    here = ("-C", str(play.root))
    assert cli("evidence", "run", *here, "--task", play.task(), "--covers", "src/x.py", "--", *PASSES)[0] == 0
    lost = git(play.root, "rev-parse", "HEAD:src")
    (play.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    assert cli("status", *here)[0] == 4

    code, out, _ = cli("run", "pause", "--reason", "lunch", *here, "--json")
    told = json.loads(out)
    assert (code, told["run"]["id"], told["run"]["status"], only(told)) == (0, run, "paused", "memento status")


def test_a_done_task_whose_gate_failed_has_its_step_once_also_where_nothing_proves_it(
    play: Play, run: str, cli: Call
) -> None:
    task = play.proven(run=run)
    verify = f"memento task verify {task}"
    for withdrawn in (False, True):
        if withdrawn:
            (proof,) = play.state(task).proof(task).by
            play.do(evidences.retract, proof, reason="It was of another day.")
        else:
            play.gate("quality_review", "failed", task=task, note="No test.")
        steps = json.loads(cli("status", "-C", str(play.root), "--json")[1])["next"]
        assert [step["why"].partition(":")[2] for step in steps if step["command"] == verify] == [
            " reject it, then repair it"
        ]


def test_a_gate_that_nobody_judged_yet_is_led_to_a_verdict_that_can_be_given_as_it_stands(
    play: Play, follow: Callable[..., Any], cli: Call
) -> None:
    play.policy("  gates: {required: [implementation_review]}\n")
    run = play.planned()
    play.proven()
    (step,) = json.loads(cli("status", "-C", str(play.root), "--json")[1])["next"]
    assert step["command"] == f"memento gate record implementation_review passed --run {run} --note TEXT"
    assert only(follow(play.root, step["command"])) == f"memento run complete {run}"


def test_a_hand_out_without_an_approved_plan_leads_to_the_drafts_of_its_run(play: Play) -> None:
    run = play.run()
    play.do(plans.draft_plan, "Plan", "Do it, show it.", run=run)
    with pytest.raises(PlanRequired) as caught:
        play.dispatch(play.task())
    assert f"memento plan approve PLAN; to find it: memento plan list --run {run};" in caught.value.hint


def test_a_command_that_ran_below_the_top_is_led_to_where_it_is_asked(
    play: Play, run: str, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Way: a check is typed in a folder below; what it shows there does not count, and the same line came again."""
    task = play.task(commands=["test -f app.py"])
    play.claimed(task)
    (below := play.root / "src").mkdir()
    (below / "app.py").write_text("")
    monkeypatch.chdir(below)
    line = ["evidence", "run", "--task", task, "--", "test", "-f", "app.py"]

    code, _, err = cli(*line)

    assert code == 0
    assert "test -f app.py is asked at the top of the repository; it ran in src, and does not count for that\n" in err
    step = f"memento evidence run -C .. --task {task} --kind test -- test -f app.py"
    assert f"\n next: {step}\n" in err
    monkeypatch.chdir(play.root)
    assert f"\n next: {step.replace(' -C ..', '')}\n" in cli("-C", "src", *line)[2]
    (play.root / "app.py").write_text("")
    told = cli(*line[:4], "--kind", "lint", *line[4:])[2]
    assert f"--task {task} --kind test -- test -f app.py\n" in told
    assert "is asked at the top" not in told


def test_a_report_whose_name_looks_like_the_end_of_the_options_breaks_no_step(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.policy('  verify: [{commands: [{run: [test, -f, app.py], reports: ["a -- b\'s.xml"]}]}]\n')
    task = play.planned_task()
    play.claimed(task)
    (below := play.root / "src").mkdir()
    (below / "app.py").write_text("")
    monkeypatch.chdir(below)
    code, _, err = cli("evidence", "run", "--task", task, "--", "test", "-f", "app.py")
    assert (code, f"\n next: memento evidence run -C .. --task {task} " in err) == (0, True)
