"""task verify: what is asked is run, judged and recorded; task repair: what was rejected is made good."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.texts.typed import TextInvalid
from memento_git.verbs import batch
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, evidences, folders, plans, tasks, verifying
from memento_git.work.actions.evidences import Draft
from memento_git.work.dispatch import terms
from memento_git.work.dispatch.packet import facts
from memento_git.work.proof.verdict import Verdict
from memento_git.work.proof.verification import show_lines
from memento_git.work.routing.routes import next_of
from memento_git.work.rows import task_row
from memento_git.work.running.capture import CommandNotStarted
from memento_git.work.state import RunState
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play

GREEN = "python3 -c pass"
RED = "python3 check.py"
FLAG = "from pathlib import Path\nprint('checking')\nraise SystemExit(0 if Path('ok').exists() else 1)\n"


def completed(play: Play, *, kind: str = "test", **options: Any) -> str:
    """Add a task and complete it on a passing command of its own."""
    task = play.task(**options)
    play.complete(play.claimed(task), play.evidence(task, kind=kind))
    return task


def verify(play: Play, task: str, **options: Any) -> Verdict:
    return verifying.verify(play.ledger, play.ledger.change, task, quiet=True, **options)


def checked(play: Play) -> None:
    """Give the repository a check that passes once there is a file `ok`, which git ignores."""
    (play.root / "check.py").write_text(FLAG)
    play.commit(".gitignore", "ok\n")


def events(play: Play, task: str, do: str) -> list[Any]:
    return [seen.event for seen in play.state(task).folded(task).events if seen.event.do == do]


def test_a_required_command_that_nobody_ran_leaves_a_completion_unproven_until_verify_runs_it(
    play: Play, run: str
) -> None:
    task = completed(play, commands=[GREEN])
    state = play.state(task)
    why = state.proof(task).why
    assert why == (f"the task asks for `{GREEN}`, which has no witnessed pass for this code as test evidence",)

    commits = int(git(play.root, "rev-list", "--count", "HEAD"))
    found = verify(play, task)

    assert (found.accepted, play.status(task), len(found.made)) == (True, "accepted", 1)
    assert int(git(play.root, "rev-list", "--count", "HEAD")) == commits + 1, "verdict and evidence are one commit"
    evidence = play.state(task).evidence_named(found.made[0])
    assert (evidence.kind, evidence.tasks) == ("test", [task])
    assert evidence.data["command"]["argv"] == ["python3", "-c", "pass"]
    (accepted,) = events(play, task, "accepted")
    assert found.made[0] in {ref.partition("@")[0] for ref in accepted.data["evidence"]}
    assert "tree" in accepted.data["code"]
    assert play.is_proven(task), "what verification witnessed counts for what depends on the task"


def test_a_completion_that_cites_the_required_commands_is_proven_and_nothing_is_run_again(play: Play, run: str) -> None:
    task = play.task(commands=[GREEN])
    dispatch = play.claimed(task)
    draft = evidences.witness(play.ledger, ["python3", "-c", "pass"], kind="test", quiet=True)
    play.complete(dispatch, play.do(evidences.record_draft, draft, tasks=[task]))
    assert play.is_proven(task)
    assert verify(play, task).made == ()


def test_again_runs_what_has_passed_and_no_run_runs_nothing(play: Play, run: str) -> None:
    task = completed(play, commands=[GREEN])
    assert verify(play, task, run=False).unmet == (
        f"the task asks for `{GREEN}`, which has no witnessed pass for this code as test evidence",
    )
    play.do(tasks.reopen_task, task, reason="again")
    play.complete(play.claimed(task), play.evidence(task))
    assert len(verify(play, task).made) == 1
    play.do(tasks.reopen_task, task, reason="again")
    play.complete(play.claimed(task), play.evidence(task))
    assert verify(play, task).made == ()
    play.do(tasks.reopen_task, task, reason="again")
    play.complete(play.claimed(task), play.evidence(task))
    assert len(verify(play, task, again=True).made) == 1


def test_a_pass_for_other_code_does_not_count_for_the_code_as_it_is(play: Play, run: str) -> None:
    task = play.task(commands=[GREEN])
    draft = evidences.witness(play.ledger, ["python3", "-c", "pass"], kind="test", quiet=True)
    play.do(evidences.record_draft, draft, tasks=[task])
    (play.root / "app.py").write_text("answer = 43\n")
    play.complete(play.claimed(task), play.evidence(task))
    assert not play.is_proven(task)
    assert len(verify(play, task).made) == 1


def test_a_failing_command_rejects_with_its_name_and_evidence(play: Play, run: str) -> None:
    checked(play)
    task = completed(play, commands=[RED, GREEN])

    found = verify(play, task)

    assert not found.accepted
    assert play.status(task) == "rejected"
    assert len(found.made) == 2, "one failure does not keep the others from running"
    (rejected,) = events(play, task, "rejected")
    assert rejected.data["unmet"] == list(found.unmet)
    assert any(f"`{RED}`, which has no witnessed pass" in line for line in found.unmet)
    assert any(f"`{RED}` failed in its latest run for this code: {found.made[0]}" in line for line in found.unmet)
    assert not any(GREEN in line for line in found.unmet)
    assert set(found.made) <= {ref.partition("@")[0] for ref in rejected.data["evidence"]}


def test_a_failed_run_beside_a_passed_one_of_the_same_kind_is_not_a_pass(play: Play, run: str) -> None:
    checked(play)
    task = completed(play)
    failed = evidences.witness(play.ledger, RED.split(), kind="test", quiet=True)
    name = play.do(evidences.record_draft, failed, tasks=[task])
    found = verify(play, task)
    assert found.unmet == (f"`{RED}` failed in its latest run for this code: {name}",)


def test_a_completion_tells_of_a_failed_run_for_which_verification_would_reject(play: Play, run: str) -> None:
    task = play.task()
    failed = play.evidence(task, code=4)
    dispatch, good = play.claimed(task), play.evidence(task)
    play.ledger.warnings.clear()

    play.complete(dispatch, good)

    (told,) = [line for line in play.ledger.warnings if failed in line]
    assert told.startswith(f"memento task verify will reject {task}: ")
    play.do(evidences.retract, failed, reason="a mistyped command")
    assert verify(play, task).accepted, "as the warning says"


def test_the_steps_after_a_completion_beside_a_failed_run_lead_to_a_verdict_that_accepts(
    play: Play, run: str, cli: Call
) -> None:
    task = play.task(commands=[GREEN])
    failed = play.evidence(task, code=4)
    dispatch, good = play.claimed(task), play.evidence(task)
    at = ("-C", str(play.root), "--actor", str(play.ledger.actor))

    code, out, err = cli("dispatch", "complete", dispatch, "--evidence", good, *at, "--json")
    assert code == 0, err
    again, retract, verdict, _ = [step["command"] for step in json.loads(out)["next"]]

    assert again.startswith(f"memento evidence run --task {task} ")
    assert (retract, verdict) == (f"memento evidence retract {failed} --reason WHY", f"memento task verify {task}")
    for line in (retract, verdict):
        assert cli(*line.split()[1:], *at)[0] == 0
    assert play.status(task) == "accepted"


def test_the_status_of_a_task_that_would_be_rejected_leads_to_what_failed_first(play: Play, run: str) -> None:
    task = play.task(commands=[GREEN])
    failed = play.evidence(task, code=4)
    play.complete(play.claimed(task), play.evidence(task))

    (step,) = play.overview()["next"]
    assert step["why"] == f"“A task” would be rejected, for {failed} failed"
    assert step["command"].startswith(f"memento evidence run --task {task} --kind test -- sh -c ")

    play.do(evidences.retract, failed, reason="a mistyped command")
    assert [one["command"] for one in play.overview()["next"]] == [f"memento task verify {task}"]


def test_the_status_of_a_proven_task_that_would_be_rejected_says_so_before_the_run_ends(play: Play, run: str) -> None:
    task = play.task()
    failed = play.evidence(task, code=4)
    play.complete(play.claimed(task), play.evidence(task))

    first, last = play.overview()["next"]
    assert first["why"] == f"“A task” is proven, but task verify would reject it, for {failed} failed"
    assert first["command"].startswith(f"memento evidence run --task {task} --kind test -- sh -c ")
    assert last["command"].startswith("memento run complete ")

    assert not verify(play, task).accepted, "as it says"


def test_the_status_of_a_task_beside_a_failure_that_was_typed_leads_to_that_first(play: Play, run: str) -> None:
    task = play.task(commands=[GREEN])
    failed = play.do(evidences.add_evidence, "test", tasks=[task], outcome="failed", summary="It crashed at Ada's.")
    play.complete(play.claimed(task), play.evidence(task))

    (step,) = play.overview()["next"]
    assert step["why"].endswith(f"for {failed} failed; record it again when it has passed, or take it back")
    assert step["command"] == f"memento evidence retract {failed} --reason WHY"
    assert not verify(play, task).accepted, "as it says"


def test_a_completion_says_nothing_of_what_does_not_reject(play: Play, run: str) -> None:
    task = play.task()
    play.evidence(task, code=1, kind="command")
    dispatch, good = play.claimed(task), play.evidence(task)
    play.ledger.warnings.clear()

    play.complete(dispatch, good)

    assert not [line for line in play.ledger.warnings if "reject" in line]
    assert verify(play, task).accepted


def test_the_latest_run_of_a_command_counts(play: Play, run: str) -> None:
    checked(play)
    task = completed(play)
    play.do(evidences.record_draft, evidences.witness(play.ledger, RED.split(), kind="test", quiet=True), tasks=[task])
    (play.root / "ok").touch()
    play.do(evidences.record_draft, evidences.witness(play.ledger, RED.split(), kind="test", quiet=True), tasks=[task])
    assert verify(play, task).accepted


def test_a_failure_of_a_kind_that_neither_proves_nor_is_asked_does_not_reject(play: Play, run: str) -> None:
    checked(play)
    task = completed(play)
    first = play.do(evidences.record_draft, evidences.witness(play.ledger, RED.split(), quiet=True), tasks=[task])
    found = verify(play, task)
    assert (found.accepted, first in found.judged) == (True, False)
    assert play.is_proven(task), "an acceptance does not unprove what was proven"


def test_an_approval_that_does_not_hold_any_more_is_no_part_of_an_acceptance(play: Play, run: str) -> None:
    task = play.task(require=["approval"])
    play.do(evidences.approve, task)
    play.do(tasks.revise_task, task, body="Another text.")
    play.complete(play.claimed(task), play.evidence(task))
    play.as_("Grace").do(evidences.approve, task)
    assert verify(play, task).accepted
    assert play.is_proven(task)


def test_a_retracted_failure_counts_no_more(play: Play, run: str) -> None:
    checked(play)
    task = completed(play)
    draft = evidences.witness(play.ledger, RED.split(), kind="test", quiet=True)
    play.do(evidences.retract, play.do(evidences.record_draft, draft, tasks=[task]), reason="wrong folder")
    assert verify(play, task).accepted


def test_a_run_is_judged_by_the_policy_that_its_state_was_given(play: Play, run: str) -> None:
    task = play.proven()
    own, view = play.state(task), play.ledger.view()
    strict = RunState(view, own.id, policy=own.policy._replace(require=("lint",)))
    assert (own.proof(task).proven, strict.proof(task).proven) == (True, False)
    asked = task_row(strict, task)["asked"]
    assert asked is not None
    assert asked["why"] == ["policy asks for lint evidence"]


def test_policy_plan_and_task_all_ask_and_every_unmet_requirement_is_named(play: Play) -> None:
    run = play.run()
    plan = play.do(plans.draft_plan, "Plan", "Do it.", run=run, require=["lint"])
    play.do(plans.approve_plan, plan)
    play.policy("  require: [build]\n  verify:\n  - when: {risks: [high]}\n    evidence: [type]\n")
    task = completed(play, risk="high", require=["screenshot"], trust="reproduced")

    found = verify(play, task)

    assert [line for line in found.unmet if "asks for" in line] == [
        "policy asks for build evidence",
        "policy for risk high asks for type evidence",
        "the plan asks for lint evidence",
        "the task asks for screenshot evidence",
    ]
    assert any("is only witnessed, and reproduced is asked" in line for line in found.unmet)


def test_a_kind_that_proves_nothing_by_itself_can_be_asked_and_shown(play: Play, run: str) -> None:
    task = play.task(require=["screenshot", "approval"])
    (play.root / "shot.png").write_bytes(b"\x89PNG shot")
    shot = play.do(evidences.add_evidence, "screenshot", tasks=[task], files=["shot.png"])
    yes = play.do(evidences.approve, task)
    play.complete(play.claimed(task), play.evidence(task), shot, yes)
    assert play.is_proven(task)


def test_evidence_that_came_after_the_completion_counts_for_the_verdict_and_is_cited_by_it(
    play: Play, run: str
) -> None:
    task = completed(play, require=["approval"])
    assert not play.is_proven(task)
    yes = play.do(evidences.approve, task)
    found = verify(play, task)
    assert found.accepted
    assert yes in found.judged
    assert play.is_proven(task)
    play.do(evidences.retract, yes, reason="changed my mind")
    assert not play.is_proven(task), "an acceptance stands on its evidence"


def test_a_required_command_must_see_all_code_at_the_top_of_the_repository(play: Play, run: str) -> None:
    task = play.task(commands=[GREEN])
    (play.root / "part").mkdir()
    part = evidences.witness(play.beside(play.root / "part").ledger, GREEN.split(), kind="test", quiet=True)
    narrow = evidences.witness(play.ledger, GREEN.split(), kind="test", covers=["app.py"], quiet=True)
    cited = [play.do(evidences.record_draft, draft, tasks=[task]) for draft in (part, narrow)]
    play.complete(play.claimed(task), play.evidence(task), *cited)
    assert not play.is_proven(task)


def test_a_required_command_runs_at_the_top_wherever_one_is(play: Play, run: str) -> None:
    checked(play)
    (play.root / "ok").touch()
    task = completed(play, commands=[RED])
    (play.root / "part").mkdir()
    assert verify(play.beside(play.root / "part"), task).accepted


def test_required_reports_must_be_written(play: Play) -> None:
    play.policy("  verify:\n  - commands:\n    - run: [python3, -c, pass]\n      reports: [out.xml]\n")
    play.planned()
    task = completed(play)
    found = verify(play, task)
    assert not found.accepted
    evidence = play.state(task).evidence_named(found.made[0])
    assert "out.xml was not written" in evidence.data["problems"][0]


def test_a_required_command_that_takes_too_long_is_ended_with_all_that_it_started(play: Play) -> None:
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('child.pid', 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    (play.root / "slow.py").write_text(script)
    (play.root / ".gitignore").write_text("child.pid\n")
    play.policy("  verify:\n  - commands:\n    - {run: [python3, slow.py], timeout: 1s}\n")
    play.planned()
    task = completed(play)
    found = verify(play, task)
    assert not found.accepted
    evidence = play.state(task).evidence_named(found.made[0])
    assert evidence.data["command"]["timed_out"] is True
    pid = int((play.root / "child.pid").read_text())
    stat = Path(f"/proc/{pid}/stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_command_with_an_absolute_path_is_recognised_by_its_name(play: Play, run: str) -> None:
    task = completed(play, commands=[f"{sys.executable} -c pass"])
    found = verify(play, task)
    assert found.accepted
    evidence = play.state(task).evidence_named(found.made[0])
    assert not evidence.data["command"]["argv"][0].startswith("/")
    assert play.is_proven(task)


def test_a_command_that_names_a_place_in_the_checkout_is_recognised(play: Play, run: str) -> None:
    task = completed(play, commands=[f"{sys.executable} {play.root / 'app.py'}"])
    assert verify(play, task).accepted
    assert verify(play, task).made == ()


def test_a_file_outside_is_not_taken_for_the_repositorys_own_of_that_name(play: Play, tmp_path: Path) -> None:
    checked(play)
    task = play.planned_task(commands=[RED])
    dispatch = play.claimed(task)
    other = tmp_path / "elsewhere" / "check.py"
    other.parent.mkdir()
    other.write_text("")
    draft = evidences.witness(play.ledger, ["python3", str(other)], kind="test", quiet=True)
    assert draft.data["command"]["argv"] == ["python3", "<outside>/check.py"]
    play.complete(dispatch, play.do(evidences.record_draft, draft, tasks=[task]))
    assert not play.is_proven(task)
    assert not verify(play, task).accepted


def test_a_command_that_cannot_be_started_is_no_verdict_and_what_ran_before_is_kept(play: Play, run: str) -> None:
    task = completed(play, commands=[GREEN, "no-such-program-anywhere"])
    before = git(play.root, "rev-parse", "HEAD")
    with pytest.raises(CommandNotStarted) as refused:
        verify(play, task)
    assert git(play.root, "rev-parse", "HEAD") == before
    folder = Path(refused.value.hint.rpartition(" ")[2])
    assert (folder / "evidence.yaml").is_file()


def test_a_task_that_was_reopened_while_its_commands_ran_gets_no_verdict_and_what_they_showed_is_kept(
    play: Play, run: str
) -> None:
    task = completed(play, commands=[GREEN])
    calls = 0

    def change(action: str, act: Callable[..., Any]) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            play.do(tasks.reopen_task, task, reason="meanwhile")
        return play.ledger.change(action, act)

    with pytest.raises(no.TaskTransition) as refused:
        verifying.verify(play.ledger, change, task, quiet=True)

    assert play.status(task) == "pending"
    folder = Path(refused.value.hint.rpartition(" ")[2])
    assert "memento evidence add --from" in refused.value.hint
    play.do(folders.import_folder, folder)


def test_code_that_is_edited_while_a_command_runs_is_not_what_was_verified(play: Play, run: str) -> None:
    play.commit("edit.py", "open('app.py', 'a').write('more = 1\\n')\n")
    task = completed(play, commands=["python3 edit.py"])
    assert not verify(play, task).accepted


@pytest.mark.parametrize(
    ("state", "step"),
    [
        ("pending", "dispatch create {task} --executor WHO"),
        ("dispatched", "dispatch claim {dispatch}"),
        ("in_progress", "dispatch complete {dispatch} --evidence EVIDENCE"),
        ("rejected", "task repair {task}"),
        ("cancelled", "task reopen {task} --reason WHY"),
    ],
)
def test_only_a_task_that_is_done_is_verified(play: Play, run: str, state: str, step: str) -> None:
    task = completed(play) if state == "rejected" else play.task(commands=[GREEN])
    dispatch = ""
    if state in ("dispatched", "in_progress"):
        dispatch = play.dispatch(task) if state == "dispatched" else play.claimed(task)
    if state == "cancelled":
        play.do(tasks.cancel_task, task, reason="no")
    if state == "rejected":
        play.do(tasks.revise_task, task, title="Easier")
        verify(play, task)
    with pytest.raises(no.TaskTransition) as refused:
        verify(play, task)
    assert refused.value.hint.endswith(f": memento {step.format(task=task, dispatch=dispatch)}")


@pytest.mark.parametrize(("command", "status"), [(GREEN, "accepted"), ("grep -q right app.py", "rejected")])
def test_an_accepted_task_is_judged_again_on_the_code_as_it_is(play: Play, run: str, command: str, status: str) -> None:
    play.commit("app.py", "right\n", "right")
    task = completed(play, commands=[command])
    verify(play, task)
    play.commit("app.py", "wrong\n", "wrong")

    found = verify(play, task)

    assert (found.accepted, play.status(task), len(found.made)) == (status == "accepted", status, 1)


def test_what_a_plan_asks_after_an_edit_of_its_text_is_not_agreed(play: Play) -> None:
    run = play.run()
    plan = play.do(plans.draft_plan, "Plan", "Do it.", run=run, require=["test"])
    play.do(plans.approve_plan, plan)
    task = completed(play, kind="build")
    path = play.root / play.state(plan).prose(plan).path
    path.write_text(path.read_text().replace("verify:\n  evidence:\n    - test\n", "").replace("- test", "- build"))
    play.commit_all("weaken")
    state = play.state(task)
    assert not state.proof(task).proven, "what a plan asked is not taken back by an edit"
    assert any("changed after its approval" in line for line in verify(play, task).unmet)


@pytest.mark.parametrize("text", [None, b"---\nid: [\n---\n"])
def test_what_a_plan_asks_that_cannot_be_read_is_not_known(play: Play, text: bytes | None) -> None:
    run = play.run()
    plan = play.do(plans.draft_plan, "Plan", "Do it.", run=run, require=["lint"])
    play.do(plans.approve_plan, plan)
    task = completed(play)
    path = play.root / play.state(plan).prose(plan).path
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text)
    play.commit_all("broken")
    assert not play.is_proven(task)
    assert verify(play, task).unmet == (f"{plan} cannot be read, so what it asks is not known",)


def test_while_it_is_contested_which_plan_holds_nothing_is_proven(play: Play) -> None:
    run = play.run()
    first, second = (play.do(plans.draft_plan, name, "Do it.", run=run, require=["lint"]) for name in "AB")
    git(play.root, "checkout", "-qb", "side")
    play.do(plans.approve_plan, first)
    git(play.root, "checkout", "-q", "main")
    play.do(plans.approve_plan, second)
    task = completed(play)
    git(play.root, "merge", "-q", "--no-edit", "side")
    assert not play.is_proven(task)


def test_a_rejection_for_lost_evidence_is_recorded_and_told(play: Play, run: str, cli: Call) -> None:
    task = completed(play)
    state = play.state(task)
    (path,) = state.index.evidence.values()
    (play.root / path).unlink()
    play.commit_all("lost")
    code, out, _ = cli("task", "verify", task, "--json", "-C", str(play.root))
    told = json.loads(out)
    assert (code, told["error"], told["verdict"]) == (1, "task_rejected", "rejected")
    assert "is missing" in told["message"]
    assert play.status(task) == "rejected"


def test_a_failed_gate_of_the_task_rejects(play: Play, run: str) -> None:
    task = completed(play)
    play.gate("quality_review", "failed", task=task, reason="unclear names")
    assert verify(play, task).unmet == ("gate quality_review has failed",)


def test_a_row_tells_what_is_asked_and_nothing_where_nothing_is(play: Play, run: str) -> None:
    task, plain = play.task(commands=[GREEN], require=["lint"]), play.task()
    state = play.state(task)
    row = task_row(state, task)
    assert row["asked"] == {
        "proof": dict.fromkeys(("command", "test", "lint", "type", "build"), "witnessed"),
        "evidence": ["lint"], "trust": None,
        "commands": [{"run": GREEN.split(), "kind": "test", "reports": [], "timeout": None}],
        "approvers": [], "not_by": [],
        "why": ["the task asks for lint evidence", f"the task asks for `{GREEN}`"],
    }  # fmt: skip
    assert task_row(state, plain)["asked"] is None


def test_verify_from_the_command_line_passes_output_through_and_answers_with_verdict_and_evidence(
    play: Play, run: str, cli: Call
) -> None:
    checked(play)
    task = completed(play, commands=[RED])
    root = str(play.root)

    code, out, err = cli("task", "verify", task, "-C", root, "--json")

    answer = json.loads(out)
    assert (code, answer["ok"], answer["verdict"], answer["accepted"]) == (1, False, "rejected", False)
    assert answer["error"] == "task_rejected"
    assert "checking" in err
    assert answer["evidence_id"] in {row["id"] for row in answer["evidence"]}
    assert answer["task"]["status"] == "rejected"
    assert any(RED in line for line in answer["failed_requirements"])
    (play.root / "ok").touch()
    play.do(tasks.reopen_task, task, reason="mended")
    play.complete(play.claimed(task), play.evidence(task))
    code, out, _ = cli("task", "verify", task, "-C", root)
    assert code == 0
    assert out.startswith("checking\n")
    assert f"accepted {task}" in out
    assert cli("task", "verify", task, "-C", root, "--again", "--no-run")[0] == 2


def test_evidence_is_only_added_to_and_a_verdict_follows_what_was_superseded(play: Play, run: str) -> None:
    """The seed's own story: a failed row, then its successor; the old file stays as it was."""
    checked(play)
    task = completed(play, commands=[RED])
    old = verify(play, task)
    path = play.state(task).index.evidence[old.made[0]]
    before = git(play.root, "rev-parse", f"HEAD:{path}")
    (play.root / "ok").touch()
    play.do(tasks.reopen_task, task, reason="mended")
    play.complete(play.claimed(task), play.evidence(task))
    new = verify(play, task)
    assert new.accepted
    play.do(evidences.supersede, old.made[0], new.made[0])
    assert git(play.root, "rev-parse", f"HEAD:{path}") == before


def test_of_several_tries_the_failures_of_one_do_not_count_against_another(play: Play, run: str) -> None:
    checked(play)
    task = play.task()
    first, second = (play.dispatch(task, name, candidate=True) for name in ("one", "two"))
    for dispatch in (first, second):
        play.do(dispatches.claim_dispatch, dispatch)
    play.complete(first, play.evidence(task))
    red = evidences.witness(play.ledger, RED.split(), kind="test", quiet=True)
    play.do(evidences.record_draft, red, tasks=[task])
    (play.root / "app.py").write_text("answer = 44\n")
    play.complete(second, play.evidence(task))
    found = verify(play, task)
    assert found.accepted, "the second try is of other code"


def test_a_command_that_two_rules_ask_is_named_once_with_both(play: Play) -> None:
    play.policy("  verify:\n  - commands:\n    - run: [python3, -c, pass]\n")
    play.planned()
    task = completed(play, commands=[GREEN])
    (line,) = verify(play, task, run=False).unmet
    assert line.startswith(f"policy and the task ask for `{GREEN}`")


def test_the_verdict_has_seen_the_plan_that_asks(play: Play, run: str) -> None:
    task = completed(play)
    verify(play, task)
    (accepted,) = events(play, task, "accepted")
    state = play.state(task)
    assert set(state.folded(f"plans:{run}").heads) <= {ref.id for ref in accepted.after}


def test_a_required_command_without_words_is_a_finding_with_its_line(play: Play, cli: Call) -> None:
    play.run()
    play.policy("  verify:\n  - commands:\n    - run: []\n")
    code, out, _ = cli("status", "-C", str(play.root), "--json")
    answer = json.loads(out)
    assert (code, answer["error"]) == (4, "ledger_broken")
    assert "config.yaml:5" in answer["message"]
    assert "this list is too short" in answer["message"]


@pytest.mark.parametrize(
    ("option", "word"), [("require", ["nonsense"]), ("trust", "sure"), ("kind", "Bug Fix"), ("commands", ["'"])]
)
def test_words_that_ask_for_what_there_is_not_are_refused_before_anything_is_written(
    play: Play, run: str, option: str, word: Any
) -> None:
    before = git(play.root, "rev-parse", "HEAD")
    with pytest.raises(TextInvalid):
        play.task(**{option: word})
    assert git(play.root, "rev-parse", "HEAD") == before


def test_status_says_how_to_go_on_from_an_unproven_and_from_a_rejected_task(play: Play) -> None:
    from memento_git.work.nextsteps import next_steps
    from memento_git.work.row_cache import base

    run = play.planned()
    task = completed(play, commands=[GREEN])

    def commands() -> list[str]:
        return [step["command"] for step in next_steps(base(play.ledger.view(), run))]

    assert f"memento task verify {task}" in commands()
    verify(play, task, run=False)
    assert f"memento task repair {task}" in commands()


def test_who_interrupts_a_required_command_gets_no_verdict(play: Play) -> None:
    import os
    import signal
    import subprocess
    import time

    (play.root / "slow.py").write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(2))\n"
        "print('here', flush=True)\n"
        "time.sleep(30)\n"
    )
    play.commit_all()
    play.planned()
    task = completed(play, commands=["python3 slow.py", GREEN])
    command = [sys.executable, "-m", "memento_git", "task", "verify", task, "-C", str(play.root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(20) == 130
    process.stdout.close()
    assert play.status(task) == "completed"


def test_what_one_command_writes_over_is_no_other_code_for_the_next(play: Play) -> None:
    play.commit("count.py", "open('seen.txt', 'a').write('x')\n")
    (play.root / "seen.txt").write_text("before\n")
    play.planned()
    task = completed(play, commands=["python3 count.py", GREEN])
    found = verify(play, task)
    assert found.unmet == ()
    assert play.is_proven(task)


# Repair.


def rejected(play: Play, **options: Any) -> str:
    task = completed(play, commands=[RED], **options)
    assert not verify(play, task).accepted
    return task


def test_a_repair_takes_the_place_of_a_rejected_task_and_blocks_what_depended_on_it(play: Play, run: str) -> None:
    checked(play)
    task = rejected(play, title="Refuse empty passwords", files=["app.py"], criteria=["it answers 422"], risk="high")
    below = play.task("Tell the user", depends_on=[task])
    commits = int(git(play.root, "rev-list", "--count", "HEAD"))

    repair = play.do(verifying.repair_task, task)

    assert int(git(play.root, "rev-list", "--count", "HEAD")) == commits + 1
    state = play.state(repair)
    told = state.prose(repair).data
    assert (told["repairs"], told["files"], told["risk"]) == (task, ["app.py"], "high")
    assert told["title"] == "Repair: Refuse empty passwords"
    assert told["criteria"][0] == "it answers 422"
    assert any(RED in line for line in told["criteria"][1:])
    assert told["verify"]["commands"][0]["run"] == RED.split()
    assert state.prose(below).list("depends_on") == [repair]
    assert state.task_status(task) == "cancelled"
    assert repair in events(play, task, "cancelled")[0].get("reason")
    assert not state.is_ready(below)

    play.complete(play.claimed(repair), play.evidence(repair))
    state = play.state(below)
    assert not state.is_ready(below), "completed is not proven"
    (play.root / "ok").touch()
    assert verify(play, repair).accepted
    state = play.state(below)
    assert state.is_ready(below)


def test_what_is_finished_keeps_its_text_when_a_repair_is_made(play: Play, run: str) -> None:
    checked(play)
    first = play.proven("First")
    done = play.proven("Second", depends_on=[first])
    play.do(tasks.revise_task, first, title="Another first")
    assert not verify(play, first).accepted
    play.do(verifying.repair_task, first)
    assert play.is_proven(done)


def test_a_comment_in_the_file_of_a_dependent_survives_a_repair(play: Play, run: str) -> None:
    checked(play)
    task = rejected(play)
    below = play.task("Below", depends_on=[task])
    path = play.root / play.state(below).prose(below).path
    play.commit(path, path.read_text().replace("depends_on:", "# because of the schema\ndepends_on:"), "comment")
    play.do(verifying.repair_task, task)
    assert "# because of the schema" in path.read_text()


def test_only_a_rejected_task_is_repaired(play: Play, run: str) -> None:
    with pytest.raises(no.TaskTransition):
        play.do(verifying.repair_task, play.task())


def test_a_repair_from_the_command_line_and_in_a_batch(play: Play, run: str, cli: Call) -> None:
    checked(play)
    task = rejected(play)
    code, out, _ = cli("task", "repair", task, "-C", str(play.root), "--title", "Once more", "--json")
    answer = json.loads(out)
    assert (code, answer["task"]["title"], answer["task"]["repairs"]) == (0, "Once more", task)
    other = rejected(play)
    text = f"- do: task repair\n  task: {other}\n  as: again\n- do: task add\n  title: Below\n  depends_on: [$again]\n"
    done = play.do(batch.apply, text.encode())
    assert play.state(done[1]["id"]).prose(done[1]["id"]).list("depends_on") == [done[0]["id"]]


# Enrichment.


def failure(play: Play, argv: list[str], *, kind: str, files: list[str], **options: Any) -> str:
    """Add a task about some files with a failed command."""
    task = play.task("Earlier", files=files, **options)
    draft = evidences.witness(play.ledger, argv, kind=kind, quiet=True)
    return str(play.do(evidences.record_draft, draft, tasks=[task]))


def test_a_pass_that_is_dated_ahead_takes_no_failure_of_the_same_files_back_before_its_date(
    play: Play, run: str
) -> None:
    checked(play)
    name = failure(play, RED.split(), kind="test", files=["app.py"], commands=[RED])
    (earlier,) = play.state(name).pieces([name])[0].tasks
    now = play.ledger.clock
    play.ledger.clock = lambda: now() + 3600
    (play.root / "ok").touch()
    play.do(
        evidences.record_draft, evidences.witness(play.ledger, RED.split(), kind="test", quiet=True), tasks=[earlier]
    )
    play.ledger.clock = now
    (play.root / "ok").unlink()
    task = completed(play, files=["app.py"])
    assert any(f"a failure of {name} for the same files" in line for line in verify(play, task).unmet)


def test_a_named_command_that_failed_for_the_same_files_is_asked_again(play: Play, run: str) -> None:
    checked(play)
    name = failure(play, RED.split(), kind="test", files=["app.py"], commands=[RED])
    task = completed(play, files=["app.py"])
    found = verify(play, task)
    assert any(f"a failure of {name} for the same files" in line for line in found.unmet)
    assert len(found.made) == 1
    (play.root / "ok").touch()
    play.do(tasks.reopen_task, task, reason="mended")
    play.complete(play.claimed(task), play.evidence(task))
    assert verify(play, task).accepted


def test_a_command_that_only_evidence_names_is_never_run(play: Play, run: str) -> None:
    checked(play)
    failure(play, ["python3", "-c", "open('ran', 'a').write('x'); raise SystemExit(1)"], kind="lint", files=["app.py"])
    (play.root / "ran").unlink()
    task = completed(play, files=["app.py"])
    found = verify(play, task)
    assert not (play.root / "ran").exists()
    assert found.made == ()
    assert any("asks for lint evidence" in line for line in found.unmet), "its kind is asked instead"


def test_failures_of_other_files_and_failures_that_passed_since_add_nothing(play: Play, run: str) -> None:
    checked(play)
    failure(play, RED.split(), kind="lint", files=["docs"], commands=[RED])
    failure(play, ["python3", "check.py"], kind="type", files=["app.py"])
    (play.root / "ok").touch()
    failure(play, ["python3", "check.py"], kind="type", files=["app.py"])
    assert verify(play, completed(play, files=["app.py"])).accepted


def test_a_failure_that_was_retracted_or_that_no_command_shows_adds_nothing(play: Play, run: str) -> None:
    checked(play)
    name = failure(play, RED.split(), kind="lint", files=["app.py"])
    told = play.task("Told", files=["app.py"])
    play.do(evidences.add_evidence, "lint", uri="https://ci.invalid/1", outcome="failed", tasks=[told])
    task = completed(play, files=["app.py"])
    assert [name in line for line in verify(play, task).unmet] == [True]
    play.do(evidences.retract, name, reason="It ran without its settings.")
    play.do(tasks.reopen_task, task, reason="Once more.")
    play.complete(play.claimed(task), play.evidence(task))
    assert verify(play, task).accepted


def test_failures_in_another_open_run_count_and_those_of_a_final_one_do_not(play: Play) -> None:
    checked(play)
    other = play.planned("Other")
    failure(play, RED.split(), kind="lint", files=["app.py"], run=other)
    run = play.planned("This")
    assert not verify(play, completed(play, files=["app.py"], run=run)).accepted
    from memento_git.work.actions import runs

    play.do(runs.cancel_run, other, reason="over")
    assert verify(play, completed(play, files=["app.py"], run=run)).accepted


def test_a_hot_spot_of_the_graph_asks_for_tests(play: Play, run: str) -> None:
    (play.root / "graph.json").write_text(json.dumps({"hot_spots": ["app.py"]}))
    graph = play.do(evidences.add_evidence, "graph", files=["graph.json"])
    found = verify(play, completed(play, kind="build", files=["app.py"]))
    assert found.unmet == (f"the hot spot app.py of {graph} asks for test evidence",)
    assert verify(play, completed(play, kind="build", files=["docs/a.md"])).accepted


def test_the_graph_that_memento_makes_is_understood(play: Play) -> None:
    from memento_git.work.actions import graphs

    names = [f"m{number}" for number in range(8)]
    for name in names:
        (play.root / f"{name}.py").write_text("import hub\n")
        (play.root / f"{name}x.py").write_text("")
    play.commit("hub.py", "".join(f"import {name}x\n" for name in names))
    play.planned()
    graph = play.do(graphs.update_graph)
    found = verify(play, completed(play, kind="build", files=["hub.py"]))
    assert found.unmet == (f"the hot spot hub.py of {graph} asks for test evidence",)


@pytest.mark.parametrize("text", ["[", "[]", '{"hot_spots": 3}', '{"hot_spots": [3, null]}', "[" * 50_000])
def test_a_graph_that_cannot_be_read_asks_for_nothing(play: Play, run: str, text: str) -> None:
    (play.root / "graph.json").write_text(text)
    play.do(evidences.add_evidence, "graph", files=["graph.json"])
    assert verify(play, completed(play, kind="build", files=["app.py"])).accepted


def test_policy_may_do_without_enrichment(play: Play) -> None:
    play.policy("  enrich: false\n")
    play.planned()
    checked(play)
    failure(play, RED.split(), kind="lint", files=["app.py"])
    assert verify(play, completed(play, files=["app.py"])).accepted


def test_enrichment_has_no_say_in_what_was_proven_before(play: Play, run: str) -> None:
    checked(play)
    task = play.proven(files=["app.py"])
    failure(play, RED.split(), kind="lint", files=["app.py"])
    assert play.is_proven(task)


def test_a_hand_written_acceptance_proves_nothing_without_evidence(play: Play) -> None:
    from memento_git.work.run_writer import RunWriter

    play.planned()
    task = completed(play, commands=[GREEN])

    def accept(tx: Any) -> None:
        writer = RunWriter.of(tx)
        identity, state = writer.find(task, "task")
        writer.append(state, identity, "accepted", reads=(state.id,), text=state.prose(identity).digest)

    play.do(accept)
    assert play.status(task) == "accepted"
    assert not play.is_proven(task)


def test_evidence_that_was_typed_never_meets_a_required_command(play: Play, run: str) -> None:
    task = completed(play, commands=[GREEN])
    draft = evidences.witness(play.ledger, GREEN.split(), kind="test", quiet=True)
    stdout = {**draft.data["command"]["stdout"], "bytes": 5, "kept": "stdout.txt", "kept_sha256": "0" * 64}
    forged = Draft({**draft.data, "command": {**draft.data["command"], "stdout": stdout}}, {"stdout.txt": b"other"})
    play.do(evidences.record_draft, forged, tasks=[task])
    assert not verify(play, task, run=False).accepted


def test_what_an_earlier_hand_off_left_does_not_have_a_later_one_rejected(play: Play, run: str) -> None:
    task, before = play.task(commands=[GREEN]), git(play.root, "rev-parse", "HEAD")
    first = play.claimed(task)
    play.commit("app.py", "answer = 41\n")
    play.do(evidences.add_evidence, "diff", diff=f"{before}..HEAD", dispatch=first)
    ran = evidences.witness(play.ledger, GREEN.split(), kind="test", quiet=True)
    play.do(evidences.record_draft, ran, dispatch=first)
    play.do(dispatches.fail_dispatch, first, reason="I cannot go on.")
    play.do(tasks.reopen_task, task, reason="Another tries.")
    play.complete(play.claimed(task), play.evidence(task))
    found = verify(play, task)
    assert found.unmet == ()
    assert len(found.made) == 1, "a pass that came out of another hand-off is not taken for one of this"
    assert play.is_proven(task)


def handed_in(play: Play, cli: Any, task: str, line: str) -> str:
    """Run a printed command line as it is; return the kind of what it recorded, after completing the task with it."""
    words = shlex.split(line)
    assert words[0] == "memento"
    at = words.index("--")
    code, out, _ = cli(*words[1:at], "-C", str(play.root), "--json", *words[at:])
    told = json.loads(out[out.index('{"ok"') :])["evidence"]
    assert (code, told["outcome"]) == (0, "passed")
    play.complete(play.claimed(task) if play.status(task) == "pending" else held_by(play, task), told["id"])
    return str(told["kind"])


def held_by(play: Play, task: str) -> str:
    found = play.state(task).dispatches(task)
    return next(name for name, one in found.items() if one.status == "claimed")


@pytest.mark.parametrize("kind", ["", " --kind test"])
def test_a_required_command_that_is_run_as_it_is_printed_proves(play: Play, run: str, cli: Any, kind: str) -> None:
    task = play.task(commands=[GREEN])
    assert handed_in(play, cli, task, f"memento evidence run --task {task}{kind} -- {GREEN}") == "test"
    assert play.is_proven(task)


def test_a_kind_that_is_given_is_taken_at_its_word_and_named_where_another_is_asked(
    play: Play, run: str, cli: Any
) -> None:
    task = play.task(commands=[GREEN])
    assert handed_in(play, cli, task, f"memento evidence run --task {task} --kind command -- {GREEN}") == "command"
    state = play.state(task)
    (ran,) = state.ids("evidence")
    (why,) = state.proof(task).why
    assert why.endswith(f"for this code as test evidence: {ran} ran it as kind command")
    found = next_of(state, task)
    assert (found["action"], found["command"]) == ("none", f"memento task verify {task}")
    routed = json.loads(cli("task", "route", task, "--no-health", "--json", "-C", str(play.root))[1])
    assert routed["decision"]["step"]["command"] == found["command"]
    assert verify(play, task).accepted


def test_a_command_that_nobody_asks_for_is_recorded_as_a_command(play: Play, run: str, cli: Any) -> None:
    task = play.task(commands=[GREEN])
    assert handed_in(play, cli, task, f"memento evidence run --task {task} -- python3 -c 'pass # else'") == "command"
    assert not play.is_proven(task)


def test_what_is_printed_for_a_task_records_what_is_asked_of_it(play: Play, run: str, cli: Any) -> None:
    asked = "python3 -c 'print(1)'"
    task = play.task(commands=[asked], require=["lint"])
    first = f"memento evidence run --task {task} --kind test -- {asked}"
    lines = [first, f"memento evidence run --task {task} --kind lint -- CMD"]
    contract = facts(play.ledger.view(), task)["reporting_contract"]
    assert [line.partition(": ")[2] for line in contract[:2]] == lines
    dispatch = play.claimed(task)
    assert first in play.steps()
    with pytest.raises(no.EvidenceRequired) as refused:
        play.do(dispatches.complete_dispatch, dispatch, [])
    assert refused.value.hint.endswith(first)
    play.complete(dispatch, play.evidence(task))
    code, out, _ = cli("check", "--no-base", "-C", str(play.root))
    assert all(line in out for line in lines)
    assert code == 0


def test_a_command_that_no_line_holds_is_not_printed_as_one() -> None:
    asked = {
        "commands": [{"run": ["sh", "-c", "one\ntwo"], "kind": "test", "reports": ["out.xml"]}],
        "evidence": [],
        "proof": {"test": ""},
    }
    assert show_lines("T", asked) == ["memento evidence run --task T --kind test --report out.xml -- CMD"]
    assert show_lines("T", None) == ["memento evidence run --task T -- CMD"]


def test_a_long_text_that_grows_asks_all_that_it_asked(play: Play) -> None:
    """Lines beyond the first are known as one, so that no event grows with a text."""
    lines = [f"Line {number}." for number in range(300)]
    state = play.state(task := play.task(run=play.run(), body="\n".join(lines)))
    long = state.prose(task)
    short, other = long._replace(body="\n".join(lines[:30])), long._replace(body="\n".join([*lines[:299], "Nothing."]))
    assert {*terms.asks(short)} < {*terms.asks(long)}
    assert not {*terms.asks(long)} <= {*terms.asks(other)}
    assert len(terms.asks(long)) < 50
