"""status and report: what one wants to see first, rebuilt from the ledger alone."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memento_git.cli import boundary, terminal
from memento_git.ledger import cache, decoding, git_status, layout
from memento_git.model.markup import code, plain, spoken
from memento_git.review.report import markdown
from memento_git.review.summary import digest
from memento_git.work import answers, rows, task_steps
from memento_git.work import refusals as no
from memento_git.work.actions import (
    dispatches,
    evidence_checks,
    evidences,
    gates,
    plans,
    runs,
    settling,
    tasks,
    verifying,
)
from memento_git.work.dispatch.packet import facts
from memento_git.work.overview import choose_run, early_overview, overview
from memento_git.work.routing import routes
from memento_git.work.row_cache import base
from tests.play import git

if TYPE_CHECKING:
    from memento_git.model.rows import RunRow
    from memento_git.work.state import RunState
    from tests.play import Call, Play


def test_a_plan_that_is_not_named_is_the_canonical_one_or_the_only_one(play: Play, cli: Call) -> None:
    def shown() -> str:
        code, out, err = cli("plan", "show", "--json", "-C", str(play.root))
        told = json.loads(out or err)
        assert (code == 0) == told["ok"]
        return str(told["plan"]["id"] if told["ok"] else told["message"])

    run = play.run()
    assert shown() == f"run {run} has no approved plan"
    first = play.do(plans.draft_plan, "Hay", "Buy hay.", run=run)
    assert shown() == first
    second = play.do(plans.draft_plan, "Leaves", "Buy leaves.", run=run)
    assert shown() == f"run {run} has 2 plans, and none of them is canonical"
    play.do(plans.approve_plan, second)
    assert shown() == second


def test_a_long_reading_tells_whoever_waits_how_far_it_is(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "STEP", 1)
    told: list[tuple[int, int]] = []
    play.run()
    play.task()
    play.task()
    play.ledger.git.progress = lambda done, total, _: told.append((done, total))
    play.overview()
    (total,) = {total for _, total in told}
    assert told == [(done, total) for done in range(total + 1)]
    assert total > 2


def test_a_command_tells_of_a_long_reading_whichever_ledger_it_opens(play: Play) -> None:
    def opened(**scope: str) -> boundary.Call:
        return boundary.Call(str(play.root), "", (), (), json=False, **scope)

    play.run()
    for call in (opened(), opened(scope="user")):
        call.keep(lambda ledger: ledger.view())
        assert call.ledger.git.progress is boundary.progress
        call.close()
    for _ in (call := opened(scope="all")).ledgers():
        assert call.ledger.git.progress is boundary.progress
        call.close()


def test_the_next_step_follows_the_work(play: Play) -> None:
    run = play.run()
    assert "plan draft" in play.overview()["next"][0]["command"]
    play.do(runs.pause_run, run)
    assert "run resume" in play.overview()["next"][0]["command"]
    play.do(runs.resume_run, run)
    from memento_git.work.actions import plans

    plan = play.do(plans.draft_plan, "P", "B")
    assert play.overview()["next"][0]["command"] == f"memento plan approve {plan}"
    play.do(plans.approve_plan, plan)
    assert "task add" in play.overview()["next"][0]["command"]
    task = play.task()
    assert play.overview()["next"][0]["command"].startswith(f"memento dispatch create {task}")
    dispatch = play.dispatch(task)
    assert play.overview()["next"][0]["command"] == f"memento dispatch claim {dispatch}"
    from memento_git.work.actions import dispatches

    play.do(dispatches.claim_dispatch, dispatch)
    assert "evidence run" in play.overview()["next"][0]["command"]
    play.complete(dispatch, play.evidence(task))
    assert play.overview()["next"][0]["command"] == f"memento run complete {run}"


def commands(play: Play) -> list[str]:
    return [step["command"] for step in play.overview()["next"]]


def test_a_plan_that_would_take_the_place_of_another_waits_beside_the_work(play: Play) -> None:
    run = play.run()
    first = play.do(plans.draft_plan, "A way not taken", "B")
    play.do(plans.approve_plan, play.do(plans.draft_plan, "P", "B"))
    task = play.task()
    assert commands(play) == [f"memento dispatch create {task} --executor WHO"], "an older draft is not pressed on"
    later = play.do(plans.draft_plan, "Another", "Do it otherwise.")
    assert commands(play) == [f"memento dispatch create {task} --executor WHO", f"memento plan approve {later}"]
    play.complete(play.claimed(task), play.evidence(task))
    assert commands(play) == [f"memento plan approve {later}", f"memento run complete {run}"]
    play.do(plans.reject_plan, first, reason="not taken")
    play.do(plans.approve_plan, later)
    assert commands(play) == [f"memento run complete {run}"]


def ran(play: Play, task: str, line: str) -> str:
    """Run a command that is asked of a task as `status` says, and record it; return the evidence."""
    kind, argv = line.partition(" --kind ")[2].split(" -- ")
    return str(play.do(evidences.record_draft, evidences.witness(play.ledger, argv.split(), kind=kind), tasks=[task]))


def test_a_task_at_work_is_shown_what_is_left_to_run_and_then_its_completion(play: Play, run: str) -> None:
    task = play.task(commands=["git --version", "git status"], require=["lint"])
    play.evidence(task)
    dispatch, made = play.claimed(task), []
    for words in ("--kind test -- git --version", "--kind test -- git status", "--kind lint -- CMD"):
        (line,) = commands(play)
        assert line == f"memento evidence run --task {task} {words}"
        made.append(ran(play, task, line.replace("CMD", "git diff")))

    (line,) = commands(play)

    assert line == f"memento dispatch complete {dispatch} " + " ".join(f"--evidence {name}" for name in made)
    play.complete(dispatch, *made)
    assert play.is_proven(task)


def test_a_task_at_work_is_not_completed_on_a_command_that_was_about_some_paths_alone(play: Play, run: str) -> None:
    task = play.task(commands=["git --version"])
    dispatch = play.claimed(task)
    (line,) = commands(play)
    draft = evidences.witness(play.ledger, ["git", "--version"], kind="test", covers=["app.py"], quiet=True)
    narrow = play.do(evidences.record_draft, draft, tasks=[task])

    assert commands(play) == [line]

    play.complete(dispatch, narrow)
    assert not play.is_proven(task)


@pytest.mark.parametrize("who", ["Bob", "no\nname"])
def test_a_task_at_work_is_its_holders_to_go_on_with(play: Play, run: str, who: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)
    assert commands(play) == [f"memento evidence run --task {task} -- CMD"]
    other = play.beside(play.root, who)
    (step,) = other.overview()["next"]
    told = {"why": f"{play.ledger.actor} works on “A task”", "command": f"memento dispatch show {dispatch}"}
    assert step == told
    ready = play.task("Another")
    assert commands(other) == [f"memento dispatch create {ready} --executor WHO", told["command"]]


def test_a_task_at_work_comes_before_those_that_can_be_begun_however_many_there_are(play: Play, run: str) -> None:
    ready = [play.task(f"Task {number}") for number in range(6)]
    task = play.task("Mine")
    play.claimed(task)
    first, *others = commands(play)
    assert first == f"memento evidence run --task {task} -- CMD"
    assert others == [f"memento dispatch create {one} --executor WHO" for one in ready[:4]]


def test_who_holds_a_claim_beyond_its_lease_goes_on_and_another_is_led_to_take_it_back(play: Play, run: str) -> None:
    task = play.task()
    dispatch, other = play.claimed(task), play.as_("Bob")
    for one in (play, other):
        one.ledger.clock = lambda: time.time() + 2 * 3600
    assert commands(play) == [f"memento evidence run --task {task} -- CMD"]
    assert commands(other)[0] == f"memento dispatch recover {dispatch}"


def test_a_task_at_work_is_completed_on_evidence_too_that_nothing_is_run_for(play: Play, run: str) -> None:
    task = play.task(commands=["git --version"], require=["artifact"])
    dispatch = play.claimed(task)
    made = [ran(play, task, commands(play)[0])]
    (step,) = play.overview()["next"]
    assert step["why"] == "“A task” is in progress, and more is asked of it"
    assert step["command"] == f"memento evidence add --task {task} --kind artifact FILE"
    play.do(evidences.add_evidence, "artifact", tasks=[task], summary="a word alone shows nothing")
    assert commands(play) == [step["command"]]
    made.append(
        play.do(evidences.add_evidence, "artifact", tasks=[task], summary="what came of it", uri="https://x.org/a")
    )
    assert commands(play) == [f"memento dispatch complete {dispatch} --evidence {made[0]} --evidence {made[1]}"]
    play.complete(dispatch, *made)
    assert play.is_proven(task)


def test_a_task_at_work_that_asks_for_no_command_is_completed_on_what_was_brought_and_on_one(
    play: Play, run: str
) -> None:
    task = play.task(require=["artifact"])
    dispatch = play.claimed(task)
    made = play.do(evidences.add_evidence, "artifact", tasks=[task], summary="what came of it", uri="https://x.org/a")
    (line,) = commands(play)
    assert line == f"memento evidence run --task {task} -- CMD"
    shown = play.evidence(task)
    assert commands(play) == [f"memento dispatch complete {dispatch} --evidence {shown} --evidence {made}"]
    play.complete(dispatch, shown, made)
    assert play.is_proven(task)


@pytest.mark.parametrize(
    ("proof", "line"),
    [
        ("{lint: witnessed, artifact: verified}", "memento evidence run --task {} --kind lint -- CMD"),
        ("{ci: reported}", "memento evidence check --task {} FILE"),
        ("{screenshot: verified}", "memento evidence add --task {} --kind screenshot FILE"),
        ("{graph: verified}", "memento graph update --task {}"),
        ("{approval: reported}", "memento evidence approve {}"),
    ],
)
def test_a_task_at_work_is_shown_what_proves_by_policy(play: Play, proof: str, line: str) -> None:
    (play.root / layout.CONFIG).write_text(f"version: 1\npolicy: {{proof: {proof}}}\n")
    play.commit_all("policy")
    task = play.planned_task()
    play.claimed(task)
    assert commands(play) == [line.format(task)]
    assert any(line.format(task) in told for told in facts(play.ledger.view(), task)["reporting_contract"])


def test_evidence_leads_to_what_no_command_shows(play: Play, run: str, cli: Call) -> None:
    task = play.task(require=["note", "diff"])
    play.claimed(task)
    given = ("evidence", "run", "--task", task, "-C", str(play.root), "--json", "--", "git", "--version")
    ran_it = json.loads(cli(*given)[1].splitlines()[-1])
    adding = f"memento evidence add --task {task} --kind"
    assert ran_it["next"][0]["command"] == f"{adding} note --summary TEXT"
    play.do(evidences.add_evidence, "note", tasks=[task], summary="It holds in the old browser, too.")
    assert commands(play) == [f"{adding} diff --diff A..B"]


def asking_for_others(play: Play) -> str:
    """Return a task that is at work where policy asks for Cleo's approval, or its holder's if that is another."""
    who = f"[Cleo, '{play.ledger.actor}']"
    text = f"version: 1\npolicy: {{require: [approval], approvals: {{approvers: {who}, not_author: true}}}}\n"
    play.commit(layout.CONFIG, text, "policy")
    play.planned()
    return play.task()


def test_a_pass_leads_to_what_failed_since_the_hand_out_as_status_does(play: Play, cli: Call) -> None:
    task = play.planned_task()
    play.claimed(task)
    run = ("evidence", "run", "--task", task, "--json", "-C", str(play.root), "--", "git")
    failed = json.loads(cli(*run, "--bad")[1])["evidence"]["id"]
    told = [step["command"] for step in json.loads(cli(*run, "--version")[1])["next"]]
    again = f"memento evidence run --task {task} --kind command -- git --bad"
    assert told == [again, f"memento evidence retract {failed} --reason WHY"] == commands(play)


def test_a_task_at_work_is_not_completed_on_an_approval_that_does_not_count(play: Play) -> None:
    task = asking_for_others(play)
    dispatch, test = play.claimed(task), play.evidence(task)
    play.do(evidences.approve, task)
    play.as_("Dan").do(evidences.approve, task)
    assert commands(play) == [f"memento dispatch complete {dispatch} --evidence {test}"]
    counts = play.as_("Cleo").do(evidences.approve, task)
    play.do(evidences.approve, task)
    assert commands(play) == [f"memento dispatch complete {dispatch} --evidence {test} --evidence {counts}"]


def test_a_task_at_work_is_not_completed_on_the_approval_of_who_gave_it_up(play: Play) -> None:
    task = asking_for_others(play)
    cleo = play.as_("Cleo")
    cleo.do(dispatches.fail_dispatch, cleo.claimed(task), reason="No time.")
    play.do(tasks.reopen_task, task, reason="Goes on.")
    dispatch, test = play.claimed(task), play.evidence(task)
    cleo.do(evidences.approve, task)
    assert commands(play) == [f"memento dispatch complete {dispatch} --evidence {test}"]
    assert answers.at(play.ledger.view(), task, "task")["asked"]["not_by"] == [play.ledger.actor, "Cleo"]


def test_a_done_task_that_lacks_nothing_but_an_approval_is_led_to_it(play: Play, cli: Call) -> None:
    task = asking_for_others(play)
    play.complete(play.claimed(task), play.evidence(task))
    _, out, _ = cli("task", "show", task, "-C", str(play.root), "--json")
    assert json.loads(out)["step"]["command"] == f"memento evidence approve {task}"
    way = f"memento evidence approve {task}, then memento task verify {task}"
    for words in (["check"], ["run", "complete"], ["evidence", "export", "--task", task]):
        assert f": {way}\n" in "".join(cli(*words, "-C", str(play.root))[1:])
    _, brief, _ = cli("task", "brief", task, "-C", str(play.root))
    assert re.search("policy asks for that approval by Cleo or .*, by another than who does the work", brief)
    play.do(evidences.approve, task)
    assert commands(play) == [f"memento evidence approve {task}"]
    approved = cli("--actor", "Cleo", "evidence", "approve", task, "-C", str(play.root))
    assert approved[1].endswith(f" next: memento task verify {task}\n")
    assert play.do(verifying.verify_task, task).accepted


@pytest.mark.parametrize("what", ["evidence", "run", "diff"])
def test_an_approval_of_what_a_done_task_is_part_of_or_rests_on_lets_its_verdict_accept_it(
    play: Play, cli: Call, what: str
) -> None:
    task = asking_for_others(play)
    base = git(play.root, "rev-parse", "HEAD")
    play.commit("app.py", "answer = 43\n")
    test, run = play.evidence(task), play.state(task).id
    play.complete(play.claimed(task), test)
    diff = play.do(evidences.add_evidence, "diff", diff=f"{base}..HEAD", run=run)
    about = {"evidence": test, "run": run, "diff": diff}[what]
    play.as_("Cleo").do(evidences.approve, about, response="no")
    assert commands(play) == [f"memento evidence approve {task}"]
    approved = cli("--actor", "Cleo", "evidence", "approve", about, "-C", str(play.root))
    assert approved[1].endswith(f" next: memento task verify {task}\n")
    assert play.do(verifying.verify_task, task).accepted
    assert play.is_proven(task)


def test_a_no_to_a_task_stands_beside_a_later_yes_to_what_proves_it(play: Play) -> None:
    task = asking_for_others(play)
    test = play.evidence(task)
    play.complete(play.claimed(task), test)
    cleo = play.as_("Cleo")
    cleo.do(evidences.approve, task, response="no")
    cleo.do(evidences.approve, test)
    assert not play.do(verifying.verify_task, task).accepted


def test_a_done_task_that_nothing_proves_is_not_led_to_an_approval(play: Play, cli: Call) -> None:
    task = asking_for_others(play)
    link = play.do(evidences.add_evidence, "artifact", tasks=[task], uri="https://example.invalid/", outcome="passed")
    play.complete(play.claimed(task), link)
    _, out, _ = cli("task", "show", task, "-C", str(play.root), "--json")
    assert json.loads(out)["step"]["command"] == f"memento task reopen {task} --reason WHY"


def test_a_done_task_with_other_words_than_it_was_done_for_is_not_led_to_a_verdict(play: Play, run: str) -> None:
    task = play.task(commands=["git --version"])
    play.complete(play.claimed(task), play.evidence(task))
    verify = f"memento task verify {task}"
    assert commands(play) == [verify]
    assert verifying.verify(play.ledger, play.ledger.change, task, quiet=True).accepted
    play.do(tasks.revise_task, task, title="Other words")
    assert commands(play) == [f"memento task reopen {task} --reason WHY"]
    assert play.overview()["next"][0]["why"].endswith(
        "” is accepted but not proven: the task's text changed after it was completed, and for 1 more reason"
    )
    assert task_steps.proving(play.overview()["tasks"][0])[0]["command"] == f"memento task reopen {task} --reason WHY"


def test_a_done_task_that_nothing_proves_and_that_its_gate_refused_is_rejected_then_repaired(
    play: Play, run: str
) -> None:
    """Taken up again it would be pending, and nobody begins a task whose gate has failed."""
    task = play.task()
    play.complete(play.claimed(task), evidence := play.evidence(task))
    play.do(evidences.retract, evidence, reason="It was a mistake.")
    assert commands(play) == [f"memento task reopen {task} --reason WHY"]
    play.gate("quality_review", "failed", task=task)
    wanted = [f"memento task verify {task}", f"memento task repair {task}"]
    assert [step["command"] for step in task_steps.proving(play.overview()["tasks"][0])] == wanted
    assert wanted[0] in commands(play)
    assert not verifying.verify(play.ledger, play.ledger.change, task, quiet=True).accepted
    assert wanted[1] in commands(play)


def test_a_done_task_with_commands_to_run_waits_for_its_approval_first(play: Play, cli: Call) -> None:
    task = asking_for_others(play)
    play.do(tasks.revise_task, task, commands=["git --version"], require=["test"])
    play.complete(play.claimed(task), play.evidence(task, kind="lint"))
    _, out, _ = cli("task", "show", task, "-C", str(play.root), "--json")
    assert json.loads(out)["step"]["command"] == f"memento evidence approve {task}"
    play.as_("Cleo").do(evidences.approve, task)
    assert verifying.verify(play.ledger, play.ledger.change, task, quiet=True).accepted


def test_a_task_at_work_is_not_completed_on_what_failed_since_or_is_of_before(play: Play, run: str) -> None:
    task = play.task(commands=["git --version"])
    play.complete(play.claimed(task), ran(play, task, "--task x --kind test -- git --version"))
    play.do(tasks.reopen_task, task, reason="it lacks a case")
    play.claimed(task)
    (line,) = commands(play)
    assert line.startswith("memento evidence run "), "what an earlier attempt showed is not what this one did"
    ran(play, task, line)
    assert commands(play)[0].startswith("memento dispatch complete ")
    failed = play.evidence(task, code=1)
    again, retract = play.overview()["next"]
    assert again["command"] == f"memento evidence run --task {task} --kind test -- sh -c 'echo checked; exit 1'"
    assert again["why"] == f"“A task” is in progress, and `sh -c 'echo checked; exit 1'` did not pass: {failed}"
    assert retract["command"] == f"memento evidence retract {failed} --reason WHY"
    play.commit("other.py", "", "more code")
    assert commands(play) == [line]


def test_a_task_at_work_whose_command_ran_in_another_folder_is_led_to_take_that_back(
    play: Play, run: str, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passed at the top, the one that is asked is done; the failure in the folder stays the latest one there."""
    task = play.task(commands=["sh -c 'test -e app.py'"])
    dispatch = play.claimed(task)
    (play.root / "docs").mkdir()
    monkeypatch.chdir(play.root / "docs")
    _, *words = shlex.split(commands(play)[0])
    failed = json.loads(cli(*words[:2], "--json", *words[2:])[1].splitlines()[-1])["evidence"]["id"]
    draft = evidences.witness(play.ledger, ["sh", "-c", "test -e app.py"], kind="test")
    passed = play.do(evidences.record_draft, draft, tasks=[task])
    (step,) = play.overview()["next"]
    assert step["command"] == f"memento evidence retract {failed} --reason WHY"
    assert step["why"].endswith(f"did not pass: {failed}; run it again in docs, or take it back")
    play.do(evidences.retract, failed, reason="It ran in docs.")
    assert commands(play) == [f"memento dispatch complete {dispatch} --evidence {passed}"]


def test_a_task_at_work_is_completed_on_what_saw_one_code(play: Play, run: str) -> None:
    """Not all that passed since the hand-out proves the task: the code was edited between."""
    task = play.task(commands=["git --version", "git version"])
    dispatch = play.claimed(task)
    (first,) = commands(play)
    ran(play, task, first)
    (play.root / "app.py").write_text("answer = 43\n")
    (second,) = commands(play)
    made = [ran(play, task, second)]
    assert commands(play) == [first]
    made.insert(0, ran(play, task, first))
    assert commands(play) == [f"memento dispatch complete {dispatch} --evidence {made[0]} --evidence {made[1]}"]
    play.complete(dispatch, *made)
    assert play.is_proven(task)


def test_in_a_contested_run_there_is_nothing_but_to_settle(play: Play, run: str) -> None:
    play.proven()
    git(play.root, "branch", "other")
    play.do(runs.pause_run, run, reason="wait")
    play.do(runs.resume_run, run)
    git(play.root, "switch", "-q", "other")
    play.do(runs.pause_run, run, reason="elsewhere")
    git(play.root, "merge", "-q", "--no-edit", "main")

    assert play.ledger.view().runs() == [run]
    assert play.overview()["run"]["status"] == "contested"
    assert commands(play) == ["memento settle"]
    with pytest.raises(no.RecordContested) as caught:
        play.do(runs.archive_run, run)
    assert "memento settle" in caught.value.hint


@pytest.mark.parametrize("whole", [False, True])
def test_behind_a_failed_gate_nobody_is_told_to_claim(play: Play, run: str, whole: bool) -> None:
    task = play.task()
    dispatch = play.dispatch(task)
    claim = f"memento dispatch claim {dispatch}"
    assert claim in commands(play)
    play.gate("quality_review", "failed", reason="no", **({"run": run} if whole else {"task": task}))
    assert claim not in commands(play)
    assert any("gate record quality_review passed" in one for one in commands(play))


def test_of_an_incomplete_task_nothing_is_asked_but_to_settle(play: Play, run: str) -> None:
    task = play.task()
    play.do(tasks.block_task, task, reason="stuck")
    (play.root / layout.folder_of(run, task) / "20260101T000000000Z-cancelled-000000000009.yaml").write_text(
        f"do: cancelled\nof: {task}\nat: 2026-01-01T00:00:00.000Z\nby: Eve\n"
        f"after: [event_000000000001@{'0' * 32}]\nreason: x\n"
    )
    play.commit_all("by hand")
    assert commands(play) == ["memento settle"]


def test_what_two_events_lack_is_one_line_of_status(play: Play, run: str, cli: Call) -> None:
    task = play.proven("Done")
    for note in ("read", "read again"):
        play.do(gates.record_gate, "final_acceptance", "passed", note=note)
    next((play.root / layout.folder_of(run, task)).glob("*-completed-*")).unlink()
    play.commit_all("lost")
    lines = [line for line in cli("status", "-C", str(play.root))[1].splitlines() if line.startswith("incomplete  ")]
    assert len(lines) == len(set(lines)) > 0


def test_what_follows_from_a_lost_event_is_no_step_of_its_own(play: Play, run: str) -> None:
    task = play.task()
    play.complete(play.claimed(task), play.evidence(task))
    next((play.root / layout.folder_of(run, task)).glob("*-dispatched-*")).unlink()
    play.commit_all("lost")
    held = play.overview()
    assert [row["problem"] for row in held["trouble"]] == ["incomplete", "incomplete"]
    assert [step["why"] for step in held["next"] if step["command"] == "memento settle"] == [
        f"{task} is incomplete: {held['trouble'][0]['about']}"
    ]


def test_what_depends_on_now_is_not_kept(play: Play, run: str) -> None:
    play.proven()
    early = play.ledger.view()
    early.now = "2020-01-01T00:00:00.000Z"  # by this clock all evidence is dated ahead
    assert [row["proven"] for row in base(early, run)["tasks"]] == [False]
    assert [row["proven"] for row in base(play.ledger.view(), run)["tasks"]] == [True]
    assert [row["proven"] for row in base(early, run)["tasks"]] == [True]  # by now it is kept


def test_a_status_of_work_that_is_kept_does_not_load_the_shape_of_the_policy(play: Play, run: str) -> None:
    play.claimed(play.task())
    script = (
        "import sys; from memento_git.cli.boundary import run\n"
        "sys.exit(run(['status']) or 'memento_git.model.policy' in sys.modules)"
    )
    told = [subprocess.run([sys.executable, "-c", script], cwd=play.root, check=False).returncode for _ in "12"]
    assert told == [1, 0]


def test_a_failed_gate_shows_the_run_as_blocked(play: Play, run: str) -> None:
    play.task()
    play.gate("quality_review", "failed", note="too slow")

    held = play.overview()

    assert held["run"]["status"] == "blocked"
    assert held["ready"] == []
    assert "gate record quality_review" in held["next"][0]["command"]
    assert "quality\\_review **failed**" in markdown(held) or "quality_review **failed**" in markdown(held)


def test_a_failed_gate_of_a_cancelled_task_holds_nothing_up(play: Play, run: str) -> None:
    task = play.task()
    play.proven()
    play.gate("quality_review", "failed", task=task)
    assert "gate record quality_review" in play.overview()["next"][0]["command"]
    play.do(tasks.cancel_task, task, reason="another way was found")

    held = play.overview()

    assert [step["command"] for step in held["next"]] == [f"memento run complete {run}"]
    assert digest(held)["blockers"] == []


def test_a_failed_gate_of_a_repaired_task_holds_nothing_up(play: Play, run: str) -> None:
    task = play.proven("One")
    play.gate("quality_review", "failed", task=task, note="too slow")
    play.do(verifying.verify_task, task)
    assert [step["command"] for step in play.overview()["next"]] == [f"memento task repair {task}"]
    repair = play.do(verifying.repair_task, task)
    play.complete(play.claimed(repair), play.evidence(repair))

    held = play.overview()

    assert [step["command"] for step in held["next"]] == [f"memento run complete {run}"]
    assert digest(held)["blockers"] == []
    assert [row["status"] for row in held["gates"]] == ["failed"], "it stays told"


@pytest.mark.parametrize("accepted", [False, True])
def test_what_a_gate_refused_is_done_again_by_what_status_and_task_show_say(
    play: Play, run: str, accepted: bool
) -> None:
    task = play.proven("One")
    if accepted:
        assert play.do(verifying.verify_task, task).accepted
    play.gate("quality_review", "failed", task=task, note="no test")
    way = f"memento task verify {task}, then memento task repair {task}"

    told = [step["command"] for step in play.overview()["next"]]
    assert told == [f"memento gate record quality_review passed --task {task}", f"memento task verify {task}"]
    state = play.state(task)
    step = routes.next_of(state, task)
    assert step["why"].endswith("gate quality_review has failed; to have it done again, reject it, then repair it")
    assert step["command"] == f"memento task verify {task}"
    with pytest.raises(no.GateRefused, match="it is not handed out") as refused:
        play.do(tasks.reopen_task, task, reason="as Grace asks")
    assert way in refused.value.hint

    assert play.do(verifying.verify_task, task).unmet == ("gate quality_review has failed",)
    with pytest.raises(no.GateRefused):
        play.do(tasks.reopen_task, task, reason="as Grace asks")
    repair = play.do(verifying.repair_task, task)
    play.complete(play.claimed(repair), play.evidence(repair))
    assert play.is_proven(repair)


def test_what_is_asked_for_with_a_no_on_the_run_is_done_once_that_is_waived(play: Play) -> None:
    """The waiver holds for what there was: what comes after it has to be judged."""
    play.commit(".memento/config.yaml", "version: 1\npolicy:\n  gates: {required: [final_acceptance]}\n", "policy")
    run = play.planned()
    play.proven("One")
    gate = "final_acceptance"
    play.gate(gate, "failed", reason="no log")
    passing = f"memento gate record {gate} passed --run {run}"
    assert next(step["command"] for step in play.overview()["next"]) == passing
    task = play.task("Log it")
    told = [step["command"] for step in play.overview()["next"]]
    assert told[:2] == [passing, f"memento gate waive {gate} --run {run} --reason WHY"]
    with pytest.raises(no.GateBlocks):
        play.dispatch(task)
    play.gate(gate, "waived", reason="until it logs")
    play.complete(play.claimed(task), play.evidence(task))
    assert [step["command"] for step in play.overview()["next"]] == [passing]


def test_an_approval_says_at_once_that_the_review_of_another_plan_falls(play: Play, run: str) -> None:
    play.gate("plan_review", "passed")
    assert play.ledger.warnings == []
    plan = play.do(plans.draft_plan, "Another", "Do it otherwise.", run=run)
    play.do(plans.approve_plan, plan)
    (told,) = play.ledger.warnings
    assert told == (
        f"plan_review of {run} does not hold any more: it had not seen that {plan} was approved: "
        f"memento gate record plan_review passed --run {run}"
    )


def test_a_task_that_waits_for_a_cancelled_one_is_told_with_what_can_be_done(play: Play, run: str) -> None:
    one, other = play.task("One"), play.task("Other")
    both, alone = play.task("Both", depends_on=[one, other]), play.task("Alone", depends_on=[one])

    play.do(tasks.cancel_task, one, reason="dropped")

    ways = {
        both: f"memento task revise {both} --depends-on {other}",
        alone: f"memento task revise {alone} --no-dependencies",
    }
    assert play.ledger.warnings == [f"{task} waits for {one}: {way}" for task, way in ways.items()]
    held = play.overview()
    assert [step["command"] for step in held["next"][:2]] == [*ways.values()]
    assert held["next"][1]["why"] == "“Alone” waits on “One”, which is cancelled"
    assert [row["record"] for row in digest(held)["blockers"]] == [both, alone]
    with pytest.raises(no.DependencyOpen) as refused:
        play.dispatch(alone)
    assert ways[alone] in refused.value.hint


def test_a_reopened_task_that_waits_for_a_repaired_one_is_told_to_wait_for_the_repair(play: Play, run: str) -> None:
    one = play.proven("One")
    other = play.proven("Other", depends_on=[one])
    play.gate("quality_review", "failed", task=one, note="too slow")
    play.do(verifying.verify_task, one)
    repair = play.do(verifying.repair_task, one)
    play.do(tasks.reopen_task, other, reason="rests on what was repaired")
    assert f"memento task revise {other} --depends-on {repair}" in [step["command"] for step in play.overview()["next"]]


def test_an_expired_claim_is_shown_against_now_and_not_stored(play: Play) -> None:
    from memento_git.ledger.store import Ledger

    task = play.planned_task()
    play.claimed(task)
    assert play.overview()["dispatches"][0]["expired"] is False

    with Ledger.open(play.root, actor="Bob", clock=lambda: 4_000_000_000.0) as later:
        view = later.view()
        held = overview(later, view, view.runs()[0])

    assert held["dispatches"][0]["expired"] is True
    assert "dispatch recover" in held["next"][0]["command"]
    assert play.status(task) == "in_progress"


def test_the_cache_changes_nothing_but_time(play: Play, run: str) -> None:
    play.proven()
    cache = play.root / ".git" / "memento" / "cache"
    first = json.dumps(play.overview())
    assert list(cache.glob("run_*.json"))
    warm = json.dumps(play.overview())
    shutil.rmtree(cache)
    cold = json.dumps(play.overview())

    assert first == warm == cold


def test_a_damaged_cache_is_computed_again(play: Play, run: str) -> None:
    play.proven()
    first = json.dumps(play.overview())
    for path in (play.root / ".git" / "memento" / "cache").glob("*.json"):
        path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])

    assert json.dumps(play.overview()) == first


def test_an_audit_that_is_shown_without_being_read_is_the_same(play: Play, run: str, cli: Call) -> None:
    play.do(tasks.block_task, play.task("Naïve"), reason="waits for “x”")
    play.proven()
    answers = []
    for damage in (None, None, -1, -2, 40):
        for path in (play.root / ".git" / "memento" / "cache").glob("*.audit.json"):
            path.write_bytes(path.read_bytes()[:damage])
        code, out, _ = cli("status", "--json", "--limit", "0", "-C", str(play.root))
        assert code == 0
        answers.append(json.loads(out))

    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["audit"]
    assert not answers[0]["omitted"]


def test_events_from_the_future_are_told_wherever_they_stand(play: Play) -> None:
    from memento_git.ledger.store import Ledger

    play.planned()
    with Ledger.open(play.root, clock=lambda: 1_000_000_000.0) as earlier:
        for ready in (False, True):
            view = earlier.view()
            held = early_overview(earlier, view, view.runs()[0], limit=0, ready=ready)
            assert len(held["ahead"]) == len(overview(earlier, view, view.runs()[0], limit=0)["audit"]) > 0


def test_the_cache_follows_a_branch_switch(play: Play, run: str) -> None:
    git(play.root, "branch", "before")
    play.task("Later")
    assert len(play.overview()["tasks"]) == 1
    git(play.root, "switch", "-q", "before")
    assert play.overview()["tasks"] == []
    git(play.root, "switch", "-q", "main")
    assert len(play.overview()["tasks"]) == 1


def test_a_policy_change_is_seen_by_the_cache(play: Play, run: str) -> None:
    task = play.proven()
    assert [row["proven"] for row in play.overview()["tasks"]] == [True]
    path = play.root / ".memento" / "config.yaml"
    play.commit(path, path.read_text().replace("require: []", "require: [lint]"))

    row = play.overview()["tasks"][0]

    assert (row["id"], row["proven"]) == (task, False)
    assert "lint" in row["unproven_because"][0]


def test_the_report_is_safe_markdown(play: Play) -> None:
    play.run("Ship <script>alert(1)</script> | `x` [a](b) *now*")
    play.task("# not a heading")

    text = markdown(play.overview())

    assert "<script>" not in text.replace("\\<script\\>", "")
    assert "\n# not a heading" not in text
    assert "|" not in text.replace("\\|", "")


def test_tasks_beyond_the_limit_are_counted_as_left_out(play: Play, run: str) -> None:
    for number in range(4):
        play.task(f"Task {number}")
    held = play.overview(limit=3)

    assert held["omitted"] == {"tasks": 1}
    assert "\n- tasks: 1 more\n" in f"{markdown(held)}\n"
    assert held["counts"]["pending"] == 4


def test_uncommitted_ledger_files_are_announced(play: Play, run: str, cli: Call) -> None:
    path = play.root / ".memento" / "runs" / run / "run.md"
    path.write_text(path.read_text() + "More.\n")

    _, out, err = cli("status", "-C", str(play.root))

    assert f"not committed, so not counted: .memento/runs/{run}/run.md" in err
    assert "More." not in out


def test_a_cancelled_run_keeps_its_tasks_and_masks_them(play: Play, run: str) -> None:
    task = play.proven()
    play.do(runs.cancel_run, run, reason="no longer wanted")

    row = play.overview()["tasks"][0]

    assert (row["id"], row["status"], row["run_status"], row["ready"]) == (task, "completed", "cancelled", False)


def test_reasons_are_shown_where_work_stopped(play: Play, run: str) -> None:
    task = play.task()
    play.do(tasks.block_task, task, reason="needs the new schema")

    assert "needs the new schema" in markdown(play.overview())


def test_an_event_from_a_clock_that_runs_ahead_is_noticed(play: Play, cli: Call) -> None:
    import time

    from memento_git.ledger.store import Ledger

    task = play.planned_task()
    assert play.overview()["ahead"] == []
    with Ledger.open(play.root, clock=lambda: time.time() + 3600) as ahead:
        ahead.change("task block", lambda tx: tasks.block_task(tx, task, reason="later"))

    assert len(play.overview()["ahead"]) == 1
    _, out, _ = cli("status", "-C", str(play.root))
    assert "1 event is dated more than 5 minutes ahead" in out


def test_a_heartbeat_stays_in_the_clone_until_half_of_the_lease_has_passed(play: Play) -> None:
    from memento_git.ledger import claims
    from memento_git.work.actions import dispatches

    task = play.planned_task()
    dispatch = play.claimed(task)
    head = git(play.root, "rev-parse", "HEAD")
    before = claims.read(play.ledger.git, task)

    _, _, committed = play.do(dispatches.renew_dispatch, dispatch)

    after = claims.read(play.ledger.git, task)
    assert not committed
    assert git(play.root, "rev-parse", "HEAD") == head
    assert before is not None
    assert after is not None
    assert after.until > before.until


HOSTILE = "a`b``c` **bold** <img src=x> [link](http://x)\n# heading | cell \\ \u202e"


def test_nothing_in_a_row_acts_as_markdown(play: Play, run: str) -> None:
    task = play.task()
    play.evidence(task)
    held = play.overview()
    held["evidence"][0] |= {
        "files": [{"name": HOSTILE}], "uri": HOSTILE,
        "diff": {"range": HOSTILE, "base": "1" * 40, "tip": "2" * 40, "added": 1, "removed": 1},
        "problems": [HOSTILE],
        "reports": [{"format": HOSTILE, "counts": {HOSTILE: 1}, "failed": [HOSTILE], "failed_more": 0}],
        "command": ["sh", HOSTILE],
    }  # fmt: skip
    held["trouble"] = [{"record": task, "problem": "illegal", "about": HOSTILE, "events": []}]
    held["next"] = [{"why": HOSTILE, "command": HOSTILE}]
    held["gates"] = [
        {
            "kind": HOSTILE,
            "scope_kind": "run",
            "scope": "",
            "status": "failed",
            "judges": [HOSTILE],
            "reviewer": HOSTILE,
            "summary": HOSTILE,
            "late": False,
            "fallen": None,
            "evidence": [],
            "created_at": None,
            "event_id": None,
            "signature": "none",
            "signed_by": None,
        }
    ]
    held["tasks"][0] |= {"proven": False, "unproven_because": [HOSTILE], "blocked_by": [HOSTILE], "title": "- # x"}

    text = markdown(held)

    assert "\u202e" not in text
    assert "\n# heading" not in text
    assert "- \\- \\# x (" in text
    spanless = text.replace(code(HOSTILE), "").replace(code(shlex.join(["sh", HOSTILE])), "")
    assert spanless != text
    for raw in ("<", "[", "]", "|", "**bold", "`b"):
        assert raw not in re.sub(r"\\.", "", spanless), raw


def test_a_code_span_holds_any_text_on_one_line() -> None:
    assert code("pytest -q") == "`pytest -q`"
    assert code("a\n\n# b") == "`a # b`"
    assert code("a ` b") == "`` a ` b ``"
    assert code("``` x") == "```` ``` x ````"


def test_a_line_that_could_begin_a_list_does_not() -> None:
    assert plain("- x") == "\\- x"
    assert plain("1. x") == "1\\. x"
    assert plain("--- x") == "\\--- x"
    assert plain("a-b 1.5") == "a-b 1.5"


def test_a_line_of_the_report_is_spoken_without_its_marks() -> None:
    for text in ("gate quality_review: 'a*b' \\ <x>", "100 & more | #7", "1. first"):
        assert spoken(plain(text)) == text
        assert spoken(f"**{plain(text)}** {code(text)}") == f"{text} {text}"
    assert spoken(code("grep '\\.py' ` x")) == "grep '\\.py' ` x"


def test_a_list_shows_a_reason_as_it_was_written(play: Play, run: str, cli: Call) -> None:
    task = play.task("Odd")
    play.do(tasks.block_task, task, reason="needs schema_v2 (see #7)")

    for command in ("task", "status"):
        _, out, _ = cli(command, "-C", str(play.root))
        assert "needs schema_v2 (see #7)" in out


def test_an_underscore_within_a_word_needs_no_mark() -> None:
    assert plain("quality_review _x_ a__b __init__") == "quality_review \\_x\\_ a\\_\\_b \\_\\_init\\_\\_"


def test_a_claim_that_is_kept_alive_in_the_clone_is_not_recovered(play: Play) -> None:
    import time

    import pytest

    from memento_git.ledger.store import Ledger
    from memento_git.work import refusals as no
    from memento_git.work.actions import dispatches

    play.planned()
    dispatch = play.claimed(play.task(), lease=3600)
    with Ledger.open(play.root, clock=lambda: time.time() + 1000) as worker:
        _, _, committed = worker.change("renew", lambda tx: dispatches.renew_dispatch(tx, dispatch, lease=3600))
    assert not committed

    soon = Ledger.open(play.root, actor="other", clock=lambda: time.time() + 4000)
    with soon as other, pytest.raises(no.NotExpired):
        other.change("recover", lambda tx: dispatches.recover_dispatch(tx, dispatch))
    with Ledger.open(play.root, actor="other", clock=lambda: time.time() + 5000) as later:
        later.change("recover", lambda tx: dispatches.recover_dispatch(tx, dispatch))


def test_a_run_in_its_archive_has_nothing_left_to_do(play: Play, run: str) -> None:
    play.proven()
    play.do(runs.complete_run)
    assert play.steps(run) == [f"memento archive {run}"]
    play.do(runs.archive_run)
    assert play.overview(run)["next"] == []


def test_what_came_after_a_run_was_archived_is_told_where_it_is_to_be_archived_again(play: Play, run: str) -> None:
    (evidence,) = play.state(task := play.proven()).proof(task).by
    play.do(runs.complete_run)
    play.do(runs.archive_run)
    play.do(settling.redact_record, evidence, reason="a name")
    (step,) = play.overview(run)["next"]
    assert step["command"] == f"memento archive {run}"
    assert step["why"] == "the run is completed, and files of it lie beside its archive"
    play.do(runs.archive_run, run)
    assert play.overview(run)["next"] == []


def test_status_tells_of_the_other_runs_that_are_open(play: Play, cli: Call) -> None:
    goals = ["Over", *(f"Goal {number}" for number in range(8))]
    over, *others, last = [play.run(goal) for goal in goals]
    play.do(runs.cancel_run, over, reason="Not now.")
    play.do(runs.pause_run, others[-1], reason="Wait.")
    where = ("status", "-C", str(play.root))
    told = [line.split("  ")[2:] for line in cli(*where)[1].splitlines() if line.startswith("also open")]
    assert told == [["paused", "Goal 6"], *(["active", f"Goal {number}"] for number in (5, 4, 3, 2))]
    assert "… 2 more open runs: memento run list\n" in cli(*where)[1]
    answer = json.loads(cli(*where, "--json", "--limit", "3")[1])
    assert (answer["run"]["id"], answer["omitted"]) == (last, {"also_open": 4})
    play.do(runs.cancel_run, others[0], reason="Not now.")
    assert "… 1 more open run: memento run list\n" in cli(*where)[1]
    assert [row["id"] for row in answer["also_open"]] == others[:3:-1]
    assert json.loads(cli(*where, "--json", "--run", others[0])[1])["also_open"] == []


def test_where_no_run_is_open_the_latest_that_was_completed_is_shown_and_not_one_that_was_given_up(play: Play) -> None:
    def shown() -> str:
        return choose_run(play.ledger.view())

    first, last = play.run("One"), play.run("Two")
    play.do(runs.cancel_run, first, reason="Not now.")
    play.do(runs.cancel_run, last, reason="Nor now.")
    assert shown() == last
    done = play.planned("Three")
    play.proven(run=done)
    again = play.run("Three")
    assert shown() == again
    play.do(runs.complete_run, done)
    play.do(runs.cancel_run, again, reason="Twice.")
    assert shown() == done


def test_of_many_runs_only_those_that_changed_are_read_anew(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _, last = (play.run(goal) for goal in ("One", "Two", "Three"))
    assert choose_run(play.ledger.view()) == last
    for run in (first, last):
        play.do(runs.cancel_run, run, reason="Not now.")
    read: list[str] = []
    row = rows.run_row

    def reading(state: RunState) -> RunRow:
        read.append(state.id)
        return row(state)

    monkeypatch.setattr(rows, "run_row", reading)
    chosen = [choose_run(play.ledger.view()) for _ in range(2)]
    assert (len({*chosen, first, last}), sorted(read)) == (3, sorted([first, last]))


def test_the_reason_of_a_task_is_why_it_is_as_it_is_and_no_verdicts(play: Play, run: str) -> None:
    task = play.task("Pay")
    play.do(tasks.block_task, task, reason="the key is missing")
    play.gate("quality_review", "waived", task=task, reason="small change")
    assert [row["reason"] for row in play.overview()["tasks"]] == ["the key is missing"]
    other = play.proven("Ship")
    play.gate("quality_review", "failed", task=other, reason="no test")
    assert play.do(verifying.verify_task, other).unmet
    play.gate("quality_review", "waived", task=other, reason="fine")
    assert [row["reason"] for row in play.overview()["tasks"]][1] == "gate quality_review has failed"


def test_a_dispatch_has_its_id_under_the_name_that_each_record_has_it_by(play: Play, run: str, cli: Call) -> None:
    dispatch = play.dispatch(play.task())
    (row,) = play.overview()["dispatches"]
    assert (row["id"], row["dispatch_id"]) == (dispatch, dispatch)
    shown = cli("dispatch", "show", dispatch, "-C", str(play.root))[1]
    assert shown.count("dispatch_") == 1


def test_of_what_is_done_the_reason_why_it_was_reopened_is_the_last_one_and_none_for_its_state(play: Play) -> None:
    def told() -> tuple[str, str | None, str | None]:
        (row,) = play.overview()["tasks"]
        return row["status"], row["reason"], row["last_reason"]

    play.planned()
    task = play.proven("Pay")
    assert told() == ("completed", None, None)
    play.do(tasks.reopen_task, task, reason="it rounds down")
    assert told() == ("pending", "it rounds down", None)
    play.complete(play.claimed(task), play.evidence(task))
    play.do(verifying.verify_task, task)
    assert told() == ("accepted", None, "it rounds down")


def test_what_a_task_that_is_not_proven_was_completed_on_proves_it_nowhere(play: Play, run: str, cli: Call) -> None:
    task = play.proven("Ship")
    assert "## Verification" in cli("report", "-C", str(play.root))[1]
    play.do(tasks.revise_task, task, title="Ship all")
    row = next(iter(play.overview()["tasks"]))
    assert (row["proven"], row["proven_by"]) == (False, [])
    assert "proven by" not in cli("task", "show", task, "-C", str(play.root))[1]
    assert "proves" not in cli("report", "-C", str(play.root))[1]


def test_a_gate_that_does_not_hold_by_what_it_rests_on_is_told_to_have_fallen(play: Play, cli: Call) -> None:
    (play.root / ".memento" / "config.yaml").write_text(
        "version: 1\npolicy:\n  gates: {required: [quality_review], fresh: [quality_review]}\n"
    )
    play.commit_all("policy")
    task = play.planned_task("Ship")
    evidence = play.evidence(task)
    play.complete(play.claimed(task), evidence)
    play.gate("quality_review", "passed", evidence=[evidence])
    assert [row["fallen"] for row in play.overview()["gates"]] == [None]
    play.commit("app.py", "answer = 43\n", "code")
    outdated = "nothing that it rests on saw the code of this commit"
    assert [row["fallen"] for row in play.overview()["gates"]] == [outdated]
    assert f">, but {outdated}" in cli("report", "-C", str(play.root))[1]
    git(play.root, "revert", "--no-edit", "HEAD")
    assert [row["fallen"] for row in play.overview()["gates"]] == [None]
    play.do(evidences.retract, evidence, reason="wrong branch")
    assert [row["fallen"] for row in play.overview()["gates"]] == [f"{evidence} is retracted"]
    assert f"passed, but {evidence} is retracted" in cli("status", "-C", str(play.root))[1]


def test_who_completes_what_waits_by_now_is_told_what_for(play: Play, run: str) -> None:
    task, other = play.task("Ship"), play.task("Review")
    claim = play.claimed(task)
    play.do(tasks.revise_task, task, depends_on=[other])
    play.complete(claim, play.evidence(task))
    told = f"{task} waits for {other}: done before that, check calls it an error (T006)"
    assert told in play.ledger.warnings


def shape(value: Any, place: str = "") -> set[str]:
    """Return the places of all that rows tell, by the names of their keys."""
    if isinstance(value, dict):
        return {place, *(one for key, held in value.items() for one in shape(held, f"{place}.{key}"))}
    if isinstance(value, list):
        return {place, *(one for held in value for one in shape(held, f"{place}[]"))}
    return {place}


VALUES = st.sampled_from([None, True, False, 0, 1, "", "a", "b"]) | st.lists(st.integers(), max_size=1)
GIVEN_ROWS = st.lists(st.dictionaries(st.sampled_from("abcd"), VALUES), max_size=6)


@settings(max_examples=400, derandomize=True, suppress_health_check=list(HealthCheck))
@given(GIVEN_ROWS)
def test_rows_that_are_kept_thriftily_come_back_as_they_were(rows: list[dict[str, Any]]) -> None:
    kept = json.loads(json.dumps(cache.thrifty(rows)))
    before = json.dumps(rows, sort_keys=True)
    back = cache.spelled(kept)
    assert json.dumps(back, sort_keys=True) == before
    lists = [value for row in back for value in row.values() if isinstance(value, list)]
    assert len({id(one) for one in lists}) == len(lists), "no two rows share a list"


def test_the_rows_of_a_run_are_kept_thriftily(play: Play, run: str) -> None:
    for number in range(9):
        play.task(f"Task {number}")
    held = base(play.ledger.view(), run)
    _, kept = cache.latest(play.ledger.git, run) or ("", {})
    assert len(kept["tasks"]["unlike"]) == 9
    assert not any("status" in one for one in kept["tasks"]["unlike"])
    again = base(play.ledger.view(), run)["tasks"]
    assert (again, [[*row] for row in again]) == (held["tasks"], [[*row] for row in held["tasks"]])


def test_the_version_of_the_cache_goes_with_the_shape_of_what_is_kept(play: Play, run: str) -> None:
    """An older cache must not be read as if it were of today: raise VERSION, and write the shape's digest here anew."""
    play.proven()
    play.claimed(play.task("Two"))
    play.task("Three: git push --force origin main", run=run)
    play.gate("quality_review", "passed", run=run)
    held = dict(base(play.ledger.view(), run))
    places = {re.sub(r"\w+_[0-9a-z]{12}|\w+\.txt", "*", one) for one in shape(held)}
    digest = hashlib.sha256("\n".join(sorted(places)).encode()).hexdigest()[:12]
    assert (cache.VERSION.rpartition(".")[2], digest) == ("69", "c9827a99e487")


def test_a_release_is_judged_after_the_other_gates_and_once_it_has_what_is_asked(play: Play, cli: Call) -> None:
    release = "{checks: [ci], approvals: 2, approvers: [Grace, Al]}"
    text = f"policy: {{gates: {{required: [release, approval]}}, release: {release}}}"
    play.commit(layout.CONFIG, f"version: 1\n{text}\n", "policy")
    run = play.planned()
    play.proven()
    release = f"memento gate release --run {run}"

    def told() -> list[str]:
        return [step["why"] for step in play.overview()["next"]]

    wanted = [
        f"memento gate record approval passed --run {run} --note TEXT",
        f"memento evidence check --run {run} FILE",
        f"memento evidence approve {run}",
        release,
    ]
    assert commands(play) == wanted
    assert told()[2] == "the release asks for approvals: 0 of 2, by Grace, Al"
    play.gate("approval", "passed")
    refused = json.loads(cli("gate", "release", "-C", str(play.root), "--json")[1])
    assert [step["command"] for step in refused["next"]] == wanted[1:2]
    play.do(evidence_checks.record_check, "here", conclusion="success", name="ci", run=run)
    assert commands(play) == wanted[2:]
    play.as_("Grace").do(evidences.approve, run)
    assert (commands(play), told()[0]) == (wanted[2:], "the release asks for approvals: 1 of 2, by Al")
    play.as_("Al").do(evidences.approve, run)
    assert commands(play) == [release]


def test_a_step_that_is_not_for_everybody_says_whose_it_is(play: Play, cli: Call) -> None:
    text = """policy:
  plan: {approvers: [Grace, Heidi], not_author: true}
  gates: {required: [quality_review], verdicts: {quality_review: [Grace]}}
  require: [approval]
  approvals: {not_author: true}
"""
    play.commit(layout.CONFIG, f"version: 1\n{text}", "policy")
    run, grace, own = play.run(), play.beside(play.root, "Grace"), play.ledger.actor

    def why() -> str:
        return str(play.overview()["next"][0]["why"])

    drafted = json.loads(cli("plan", "draft", "--title", "P", "--body", "B", "-C", str(play.root), "--json")[1])
    assert (
        why() == drafted["next"][0]["why"] == f"a plan waits for approval by Grace or Heidi and by another than {own}"
    )
    grace.do(plans.approve_plan, drafted["plan"]["id"])
    later = play.do(plans.draft_plan, "Another", "Do it otherwise.")
    told = f"plan “Another” waits for approval by Grace or Heidi and by another than {own}, to take the place of"
    assert play.overview()["next"][-1]["why"].startswith(told)
    play.do(plans.reject_plan, later, reason="not taken")
    task = play.task("Ship")
    play.complete(play.claimed(task), play.evidence(task))
    assert why() == f"“Ship” is done, and waits for an approval by another than {own}"
    grace.do(evidences.approve, task)
    play.do(verifying.verify_task, task)
    assert why() == "gate quality_review has not passed: it waits for a verdict by Grace"
    grace.gate("quality_review", "failed", run=run)
    assert why() == f"gate quality_review of {run} has failed: it waits for a verdict by Grace"


def test_a_title_that_is_cut_says_so(play: Play, run: str, cli: Call) -> None:
    """Way: what a task is not, behind the sixtieth letter of its title."""
    title = "Refuse empty passwords, and those that are in the list of common ones"
    play.task(f"{title} (but for admins)")
    assert f"{title[:59]}…" in cli("status", "-C", str(play.root))[1]


def test_a_very_long_title_pushes_nothing_else_aside(play: Play, run: str, cli: Call) -> None:
    play.task("Ship")
    play.task("x" * 900)
    step = next(line for line in cli("status", "-C", str(play.root))[1].splitlines() if line.startswith("next  “xx"))
    assert (len(step) < 210, step.endswith("xx” is ready"), " characters … " in step) == (True, True, True)
    short, long = sorted(map(len, cli("task", "list", "-C", str(play.root))[1].splitlines()))
    assert (short < 60, long > 900) == (True, True)


def test_a_gate_that_is_to_be_fresh_is_led_to_evidence_of_the_code_as_it_is(play: Play) -> None:
    text = "policy: {gates: {required: [quality_review, release], fresh: [quality_review, release]}}"
    play.commit(layout.CONFIG, f"version: 1\n{text}\n", "policy")
    run = play.planned()
    task = play.task()
    play.complete(play.claimed(task), proof := play.evidence(task))
    record = f"memento gate record quality_review passed --run {run} --evidence"
    assert commands(play) == [f"{record} {proof}", f"memento gate release --run {run}"]
    play.commit("more.py", "", "more code")
    assert commands(play) == [f"memento evidence run --run {run} -- CMD"] * 2
    view = play.ledger.view()
    overview(play.ledger, view, run)
    assert not [path for path in view.used if "/evidence/" in path]  # what saw other code is not read again
    made = play.do(evidences.record_draft, evidences.witness(play.ledger, ["git", "--version"], quiet=True), run=run)
    release = f"memento gate record release passed --run {run} --evidence {made}"
    assert commands(play) == [f"{record} {made}", release]
    play.gate("quality_review", "passed", evidence=[made])
    play.gate("release", "passed", evidence=[made])
    assert commands(play) == [f"memento run complete {run}"]


def test_all_else_of_a_status_is_ready_before_git_is_waited_for(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    play.run()
    task, told, escaped = play.task(), git_status.told, terminal._escaped
    monkeypatch.setattr(git_status, "told", lambda asked: order.append("looked") or told(asked))  # type: ignore[func-returns-value]
    monkeypatch.setattr(terminal, "_escaped", lambda text: order.append(text) or escaped(text))  # type: ignore[func-returns-value]
    (play.root / layout.FOLDER / "mine.txt").write_text("mine\n")

    answer = json.loads(cli("status", "--json", "-C", str(play.root))[1])
    assert answer["uncommitted"] == [f"{layout.FOLDER}/mine.txt"]
    assert answer["warnings"] == [f"not committed, so not counted: {layout.FOLDER}/mine.txt"]
    rows = next(at for at, text in enumerate(order) if text.startswith("[") and f'"id": "{task}"' in text)
    assert rows < order.index("looked")

    order.clear()
    monkeypatch.setattr(terminal, "guarded", lambda text: order.append("shown") or text)  # type: ignore[func-returns-value]
    code, out, err = cli("status", "-C", str(play.root))
    assert (code, err) == (0, f"note: not committed, so not counted: {layout.FOLDER}/mine.txt\n")
    assert "A task" in out
    assert order == ["shown", "looked"]
