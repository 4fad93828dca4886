"""What a finding or a refusal tells to do works when it is done."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from memento_git.ledger import codec, layout
from memento_git.ledger.store import Ledger
from memento_git.model.clock import DurationInvalid
from memento_git.review import actions
from memento_git.review.actions import NothingStaged
from memento_git.verbs import doctor
from memento_git.work import refusals as no
from memento_git.work.actions import (
    dispatches,
    evidences,
    plans,
    releases,
    reproducing,
    runs,
    settling,
    tasks,
    verifying,
)
from tests.play import commit_all, git, merge_into, take_out
from tests.test_check import codes, path_of

if TYPE_CHECKING:
    from memento_git.model.finding import Finding
    from tests.play import Call, Play


def found(play: Play, **options: Any) -> list[Finding]:
    return [one for one in actions.check(play.ledger, **options).findings if one.code[0] != "C"]


def paste(play: Play, command: str) -> str:
    """Run a command as a shell does; return what it printed."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-c", command], cwd=play.root, env=environment, capture_output=True, check=True, text=True
    ).stdout


def pasted(play: Play, finding: Finding) -> str:
    """Run the command that a fix ends with."""
    return paste(play, finding.fix.partition(": ")[2])


def fallen(play: Play) -> str:
    """Complete a run on a branch, and withdraw what proved it; return the run."""
    git(play.root, "switch", "-qc", "work")
    run = play.planned()
    task = play.task()
    evidence = play.evidence(task)
    play.complete(play.claimed(task), evidence)
    play.gate("final_acceptance", "passed", evidence=[evidence])
    play.do(runs.complete_run)
    play.do(evidences.retract, evidence, reason="it was of another machine")
    return run


def outgrown(play: Play) -> tuple[str, str]:
    """Prove a task, and commit other code; return the run and the task."""
    run, task = play.planned(), play.proven("First")
    (play.root / "app.py").write_text("answer = 41\n")
    git(play.root, "commit", "-qam", "code")
    return run, task


def test_what_stays_in_a_run_that_was_completed_is_said_to_stay(play: Play) -> None:
    run = fallen(play)
    told = found(play)
    assert codes(told) == ["G001 warning", "P001 warning"]
    for one in told:
        assert one.fix.startswith(f"it stays as it is, for {run} is completed")
        assert one.fix.endswith("memento run start --goal TEXT")


def test_a_branch_that_completed_a_run_on_nothing_leaves_its_completion_out(play: Play) -> None:
    run = fallen(play)
    told = found(play, base="main")
    assert codes(told) == ["G001 error", "P001 error", "P004 error", "P004 error"]
    assert len({one.fix for one in told}) == 1
    paste(play, pasted(play, told[0]))
    assert play.status(run) == "active"
    assert codes(found(play, base="main")) == ["G001 error", "P001 error"]
    task = play.state(run).ids("task")[0]
    assert f"memento evidence run --task {task}" in next(one.fix for one in found(play) if one.code == "P001")


def test_a_branch_that_archived_the_run_too_leaves_the_archive_out_first(play: Play) -> None:
    run = fallen(play)
    play.do(runs.archive_run, run)
    for status in ("completed", "active"):
        paste(play, pasted(play, next(one for one in found(play, base="main") if one.code == "P004")))
        assert play.status(run) == status
    assert codes(found(play, base="main")) == ["G001 error", "P001 error"]


def test_work_on_a_plan_with_a_typo_is_mended_by_the_approval_alone(play: Play, run: str) -> None:
    play.proven()
    plan = play.state(run).canonical
    path = path_of(play, "plans/*/plan.md")
    play.commit(path, path.read_text().replace("Do it", "Do that"), "a word")
    (told,) = [one for one in found(play) if one.code == "P001"]
    assert told.fix == f"memento plan approve {plan}"
    paste(play, told.fix)
    assert found(play) == []


@pytest.mark.parametrize("is_final", [True, False])
def test_cited_evidence_that_is_missing_is_restored_by_the_fix_also_in_a_run_that_was_completed(
    play: Play, run: str, is_final: bool
) -> None:
    task = play.proven()
    play.gate("quality_review", "passed", task=task, evidence=play.state(task).ids("evidence"))
    if is_final:
        play.do(runs.complete_run)
    take_out(play.root, path_of(play, "evidence").relative_to(play.root).as_posix(), message="tidy")
    told = [one for one in found(play) if one.code == "L002"]
    assert [one.fix.partition(":")[0] for one in told] == ["restore it, and commit that"] * 2
    pasted(play, told[0])
    play.commit_all("put back")
    assert "L002" not in codes(found(play))


@pytest.mark.parametrize("what", ["kept", "evidence"])
def test_bytes_that_a_commit_changed_are_restored_as_they_were_recorded(play: Play, run: str, what: str) -> None:
    task = play.task()
    evidence = play.evidence(task)
    play.complete(play.claimed(task), evidence)
    path = path_of(play, f"evidence/*/{evidence}.yaml" if what == "evidence" else "evidence/*/*/stdout*")
    was = path.read_bytes()
    for text in ("once\n", "twice\n"):  # what it was is not what it was before it changed last
        path.write_bytes(was + f"# {text}".encode())
        git(play.root, "commit", "-qam", "edit it by hand")
    told = next(one for one in found(play) if one.code == ("V001" if what == "kept" else "L003"))
    paste(play, pasted(play, told))
    git(play.root, "commit", "-qam", "restore it")
    assert (path.read_bytes(), found(play)) == (was, [])


def test_kept_bytes_that_no_commit_has_are_redacted_with_their_evidence(play: Play, run: str) -> None:
    play.evidence(play.task())
    path_of(play, "evidence/*/*/stdout*").write_bytes(b"another\n")
    git(play.root, "commit", "-qa", "--amend", "--no-edit")
    (told,) = found(play)
    assert (told.code, told.fix.partition(": ")[0]) == ("V001", "no commit has it")
    paste(play, told.fix.partition(": ")[2].replace("WHY", "forged"))
    assert found(play) == []


def test_a_file_that_says_another_id_is_restored_by_the_fix_or_by_its_line(play: Play, run: str) -> None:
    path = path_of(play, "plans/*/plan.md")
    play.commit(path, re.sub("(?m)^id: .*", "id: plan_000000000000", path.read_text()), "a word")
    (told,) = [one for one in found(play) if one.code == "F003"]
    assert told.fix.startswith("repair that line, or restore what it was, and commit that: git checkout ")
    pasted(play, told)
    play.commit_all("put back")
    assert found(play) == []


def test_a_gate_of_a_run_asks_for_evidence_of_that_run(play: Play) -> None:
    play.planned()
    foreign = play.evidence(play.proven())
    run = play.run()
    with pytest.raises(no.EvidenceForeign) as refused:
        play.gate("quality_review", "passed", run=run, evidence=[foreign])
    paste(play, refused.value.hint.partition(": ")[2].replace("CMD", "true"))
    play.gate("quality_review", "passed", run=run, evidence=play.state(run).ids("evidence"))


def test_a_gate_whose_evidence_was_withdrawn_is_told_by_check_status_and_run_complete_alike(
    play: Play, run: str
) -> None:
    task, evidence = play.proven(), play.evidence()
    play.gate("quality_review", "passed", task=task, evidence=[evidence])
    play.do(evidences.retract, evidence, reason="it was of another machine")
    line = f"memento gate record quality_review passed --task {task} --evidence EVIDENCE"
    assert [(one.code, one.fix) for one in found(play)] == [("G001", line)]
    assert play.steps(run) == [line]
    with pytest.raises(no.GateFallen, match="retracted"):
        play.do(runs.complete_run, run)


@pytest.mark.parametrize("verdict", ["passed", "waived"])
def test_a_gate_that_holds_nothing_up_and_fell_is_told_before_the_run_ends(
    play: Play, run: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.proven("First")
    play.gate("final_acceptance", verdict, reason="Small." if verdict == "waived" else "")
    complete = f"memento run complete {run}"

    assert play.steps(run) == [complete]
    second = play.task("Second")
    assert complete not in play.steps(run)
    play.complete(play.claimed(second), play.evidence(second))
    assert play.steps(run) == [f"memento gate record final_acceptance passed --run {run}", complete]
    third = play.task("Third")
    with monkeypatch.context() as patched:
        opened = property(lambda _: pytest.fail("what was kept tells all"))
        patched.setattr("memento_git.work.run_details.RunDetails._state", opened)
        assert complete not in play.steps(run)
    play.do(tasks.cancel_task, third, reason="It is not needed.")
    play.gate("final_acceptance", "passed")
    assert play.steps(run) == [complete]


@pytest.mark.parametrize("scope", ["run", "task"])
def test_a_gate_that_is_not_fresh_is_told_by_check_status_and_run_complete_alike(play: Play, scope: str) -> None:
    """Whether or not the run needs it: `check` asks it of each gate that policy wants fresh."""
    play.policy("  gates: {fresh: [quality_review]}\n")
    run = play.planned()
    about = {scope: {"run": run, "task": play.proven()}[scope]}
    line = f"memento gate record quality_review passed --{scope} {about[scope]} --evidence EVIDENCE"
    play.gate("quality_review", "passed", **about, evidence=[play.evidence()])
    play.commit("app.py", "answer = 41\n")
    assert [(one.code, line in one.fix) for one in found(play)] == [("G003", True)]
    again = f"memento evidence run --{scope} {about[scope]} -- CMD"
    assert again in play.steps(run)
    with pytest.raises(no.GateFallen, match="nothing that it rests on saw") as refused:
        play.do(runs.complete_run, run)
    assert line in refused.value.hint

    (play.root / "app.py").write_text("answer = 42\n")
    play.gate("quality_review", "passed", **about, evidence=[play.evidence()])
    with pytest.raises(no.GateFallen) as refused:
        play.do(runs.complete_run, run)
    assert refused.value.hint.endswith(": git commit -a -m MESSAGE"), "it rests on the code as it lies here"
    git(play.root, "commit", "-qam", "MESSAGE")
    play.do(runs.complete_run, run)
    assert found(play) == []


def fresh(play: Play, scope: str = "run") -> str:
    """Pass a gate that policy wants fresh in a run that is all done; return the run."""
    play.policy("  gates: {fresh: [quality_review]}\n")
    run = play.planned()
    about = {scope: {"run": run, "task": play.proven()}[scope]}
    play.gate("quality_review", "passed", **about, evidence=[play.evidence()])
    return run


def grown(play: Play) -> None:
    with (play.root / "app.py").open("a") as code:
        code.write("answer += 1\n")
    play.commit_all("the code goes on")


def test_a_gate_that_is_to_be_fresh_is_led_to_evidence_where_other_was_redacted(play: Play) -> None:
    play.policy("  gates: {required: [quality_review], fresh: [quality_review]}\n")
    run = play.planned()
    play.proven()
    gone, shown = play.evidence(kind="lint"), play.evidence()
    play.do(settling.redact_record, gone, reason="a secret")
    assert play.steps(run) == [f"memento gate record quality_review passed --run {run} --evidence {shown}"]


def test_a_gate_that_no_commit_of_the_edits_would_let_hold_is_to_be_passed_again(play: Play) -> None:
    """Of two files that a pass saw untracked one is added by now: committing that alone is not what passed."""
    play.policy("  gates: {fresh: [quality_review]}\n")
    run = play.planned()
    play.proven()
    (play.root / "app.py").write_text("answer = 41\n")
    for name in ("more.py", "other.py"):
        (play.root / name).write_text("more = 1\n")
    play.gate("quality_review", "passed", evidence=[play.evidence()])
    git(play.root, "add", "more.py")
    with pytest.raises(no.GateFallen) as refused:
        play.do(runs.complete_run, run)
    assert refused.value.hint.endswith(f"memento gate record quality_review passed --run {run} --evidence EVIDENCE")


def test_what_is_proven_on_edits_is_to_be_committed_before_the_run_is_released(play: Play, cli: Call) -> None:
    play.policy("  gates: {required: [release], fresh: [release]}\n")
    run, where = play.planned(), ("-C", str(play.root), "--json")
    (play.root / "app.py").write_text("answer = 41\n")
    play.proven("First")
    commit = "git commit -a -m MESSAGE"
    release = f"memento gate release --run {run}"

    assert play.steps(run) == [commit, release]
    told = json.loads(cli("gate", "release", "--no-record", *where)[1])
    assert [step["command"] for step in told["next"]] == [commit]
    assert [one.startswith("check will warn until") and one.endswith(commit) for one in told["warnings"][-1:]] == [True]
    assert cli("gate", "release", *where)[0] == 0
    assert play.steps(run) == [commit], "the gate asks for the same"
    git(play.root, "commit", "-qam", "MESSAGE")
    assert play.steps(run) == [f"memento run complete {run}"]
    (play.root / "app.py").write_text("answer = 42\n")
    assert play.steps(run) == [f"memento run complete {run}"], "edits that nothing rests on"


def test_edits_that_nothing_saw_are_put_aside_before_a_gate_that_is_to_be_fresh_passes(play: Play) -> None:
    play.policy("  gates: {fresh: [quality_review, release]}\n")
    run, told = play.planned(), "saw the code of this commit, and not the edits in the work tree: git stash"
    play.proven()
    evidence = play.evidence()
    (play.root / "app.py").write_text("answer = 41\n")
    with pytest.raises(no.GateNotFresh, match=f"{evidence} {told}"):
        play.gate("quality_review", "passed", evidence=[evidence])
    assert told in "".join(releases.examine_run(play.ledger, play.ledger.view(), run=run).verdict.missing)
    git(play.root, "stash", "-q")
    play.gate("quality_review", "passed", evidence=[evidence])
    assert not play.do(releases.release_run, run=run).verdict.missing
    play.do(runs.complete_run, run)


@pytest.mark.parametrize("gate", ["", "quality_review"])
def test_a_run_is_shown_where_git_cannot_name_the_edits(play: Play, gate: str) -> None:
    play.policy("  gates: {fresh: [quality_review]}\n")
    run = play.planned()
    (play.root / "app.py").write_text("answer = 41\n")
    play.proven()
    if gate:
        play.gate(gate, "passed", evidence=[play.evidence()])
    git(play.root, "config", "filter.none.clean", "false")
    git(play.root, "config", "filter.none.required", "true")
    (play.root / ".git" / "info" / "attributes").write_text("*.py filter=none\n")
    (play.root / "app.py").write_text("answer = 43\n")
    (step,) = play.overview(run)["next"]
    again = f"memento gate record {gate} passed --run {run} --evidence EVIDENCE"
    assert step["command"] == (again if gate else f"memento run complete {run}")


def test_what_git_does_not_track_is_named_where_what_is_proven_on_it_is_to_be_committed(play: Play, cli: Call) -> None:
    run, commit = play.planned(), "git commit -a -m MESSAGE"
    for name in ("app.py", "new.py"):
        (play.root / name).write_text("answer = 41\n")
    play.proven("First")

    def step() -> dict[str, str]:
        return play.overview(run)["next"][0]

    why = "“First” is proven on code that is not committed here"
    adding = f"{why}, with new.py, which git does not track: git add what is needed first"
    assert step() == {"why": adding, "command": commit}
    warnings = json.loads(cli("gate", "release", "--no-record", "-C", str(play.root), "--json")[1])["warnings"]
    assert warnings[-1].startswith("check will warn until the code is committed")
    assert warnings[-1].endswith(f"git add what is needed of what git does not track, then {commit}")
    git(play.root, "add", "new.py")
    assert step() == {"why": why, "command": commit}
    git(play.root, "commit", "-qam", "MESSAGE")
    assert step() == {"why": "every task is done and proven", "command": f"memento run complete {run}"}


def test_edits_that_proved_a_task_and_are_gone_are_not_to_be_committed(play: Play, run: str) -> None:
    (play.root / "app.py").write_text("answer = 41\n")
    play.proven()
    git(play.root, "checkout", "-q", "app.py")
    (step,) = play.overview(run)["next"]
    assert step["command"] == f"memento run complete {run}"


def test_the_end_of_a_run_says_how_much_of_it_is_proven_on_other_code(play: Play, run: str) -> None:
    """Way: whoever reads only what is next believes that this code was shown."""
    play.proven("First")
    play.proven("Second")
    end = f"memento run complete {run}"
    assert play.overview(run)["next"] == [{"why": "every task is done and proven", "command": end}]
    play.commit("app.py", "answer = 41\n", "code")
    why = "every task is done and proven, 2 of them on other code than this commit's"
    assert play.overview(run)["next"][-1] == {"why": why, "command": end}
    play.proven("Third")
    assert play.overview(run)["next"] == [{"why": "every task is done and proven", "command": end}]


def test_a_task_that_is_proven_on_other_code_alone_is_proven_anew_before_the_run_ends(play: Play, cli: Call) -> None:
    run, task = outgrown(play)

    def step() -> dict[str, str]:
        first: dict[str, str] = play.overview(run)["next"][0]
        return first

    why = "“First” is proven on other code than this commit's"
    again = f"memento evidence run --task {task} --kind test -- sh -c 'echo checked; exit 0'"
    assert step() == {"why": why, "command": again}
    assert play.steps(run)[-1] == f"memento run complete {run}"
    assert cli("-C", str(play.root), *shlex.split(again)[1:])[0] == 0
    assert step() == {"why": why, "command": f"memento task verify {task}"}
    assert cli("task", "verify", task, "-C", str(play.root))[0] == 0
    assert step() == {"why": "every task is done and proven", "command": f"memento run complete {run}"}


def test_a_task_that_is_proven_anew_on_edits_is_verified_and_they_are_committed(play: Play, cli: Call) -> None:
    run, task = outgrown(play)
    (play.root / "app.py").write_text("answer = 40\n")
    again = f"memento evidence run --task {task} --kind test -- sh -c 'echo checked; exit 0'"
    for step in (again, f"memento task verify {task}", "git commit -a -m MESSAGE"):
        assert play.steps(run)[0] == step
        if step.startswith("git"):
            git(play.root, "commit", "-qam", "edits")
        else:
            assert cli("-C", str(play.root), *shlex.split(step)[1:])[0] == 0
    assert play.steps(run) == [f"memento run complete {run}"]


def test_a_command_that_passed_for_a_later_task_is_not_run_again_for_the_earlier_one(play: Play) -> None:
    run, _ = outgrown(play)
    play.proven("Second")
    assert play.steps(run) == [f"memento run complete {run}"]


@pytest.mark.parametrize("scope", ["run", "task"])
@pytest.mark.parametrize("is_merged", [True, False])
def test_a_run_that_ended_fresh_says_nothing_of_the_code_that_comes_after_it(
    play: Play, scope: str, is_merged: bool
) -> None:
    if is_merged:
        git(play.root, "switch", "-qc", "work")
    run = fresh(play, scope)
    play.do(runs.complete_run)
    if is_merged:
        git(play.root, "switch", "-q", "main")
        git(play.root, "merge", "-q", "--no-ff", "-m", "merge", "work")
    grown(play)
    assert found(play, no_base=True) == []
    assert found(play, base="HEAD^") == []
    assert [one for one in doctor.examine(play.ledger) if one.status != "ok"] == []
    play.do(runs.archive_run, run)
    grown(play)
    assert found(play, no_base=True) == []


def test_a_run_that_came_in_an_archive_ended_with_that(play: Play) -> None:
    git(play.root, "switch", "-qc", "work")
    run = fresh(play)
    play.do(runs.complete_run)
    play.do(runs.archive_run, run)
    git(play.root, "switch", "-q", "main")
    git(play.root, "merge", "-q", "--squash", "work")
    git(play.root, "commit", "-qm", "squash")
    grown(play)
    git(play.root, "branch", "-qD", "work")
    assert found(play, no_base=True) == []


def test_a_run_that_ended_on_other_code_than_its_gate_saw_is_told_for_good(play: Play) -> None:
    """The tool refuses that; it was completed by hand, as somebody does who knows the format."""
    run = fresh(play)
    grown(play)
    state = play.state(run)
    heads = [event for head in state.folded(run).heads if (event := state.event(head))]
    told = {"do": "completed", "of": run, "at": heads[-1].at, "by": heads[-1].by}
    after = [f"{event.id}@{event.digest}" for event in heads]
    name = layout.event_name(heads[-1].at, "completed", "event_000000000009")
    (play.root / layout.folder_of(run, run) / name).write_bytes(codec.encode({**told, "after": after}))
    play.commit_all("by hand")
    assert play.status(run) == "completed"
    assert codes(found(play, base="HEAD^")) == ["P004 error"]
    grown(play)
    assert "G003 warning" in codes(found(play, no_base=True))


def test_a_gate_that_passed_beside_the_end_of_its_run_is_asked_for_the_code_as_it_is(play: Play) -> None:
    run = fresh(play)
    git(play.root, "switch", "-qc", "other")
    play.gate("quality_review", "passed", run=run, evidence=[play.evidence()])
    git(play.root, "switch", "-q", "main")
    play.do(runs.complete_run)
    git(play.root, "merge", "-q", "--no-edit", "other")
    assert found(play, no_base=True) == []
    grown(play)
    assert codes(found(play, no_base=True)) == ["G003 warning"]


@pytest.mark.parametrize("is_repaired", [True, False])
def test_a_gate_of_a_cancelled_task_is_done_with(play: Play, is_repaired: bool) -> None:
    """Its code and its evidence may go on: nothing rests on it, and `run complete` does not ask it."""
    play.policy("  gates: {fresh: [quality_review]}\n")
    run = play.planned()
    task = play.proven()
    play.gate("quality_review", "passed", task=task, evidence=[play.evidence()])
    if is_repaired:
        play.gate("implementation_review", "failed", task=task)
        play.do(verifying.verify_task, task)
        other = play.do(verifying.repair_task, task)
        play.complete(play.claimed(other), play.evidence(other))
    else:
        play.do(tasks.reopen_task, task, reason="Another way was found.")
        play.do(tasks.cancel_task, task, reason="Another way was found.")
        play.proven("Another way")
    play.commit("app.py", "answer = 41\n")
    assert found(play) == []
    play.do(runs.complete_run, run)
    assert found(play) == []
    assert found(play, base="HEAD^") == []


@pytest.mark.parametrize("is_fresh", [True, False])
def test_a_pass_at_a_repaired_task_that_lifts_its_failure_rests_on_something(play: Play, is_fresh: bool) -> None:
    play.policy("  gates: {fresh: [quality_review]}\n")
    play.planned()
    task = play.proven()
    play.gate("quality_review", "failed", task=task)
    play.do(verifying.verify_task, task)
    repair = play.do(verifying.repair_task, task)
    play.complete(play.claimed(repair), play.evidence(repair))
    play.gate("quality_review", "passed", task=task, evidence=[play.evidence()])
    if not is_fresh:
        play.commit("app.py", "answer = 41\n")
    assert codes(found(play)) == ([] if is_fresh else ["G003 error"])


def redone(play: Play) -> Path:
    """Complete a task, reopen it and complete it again; return the file of the first completion."""
    play.planned()
    task = play.proven()
    play.do(tasks.reopen_task, task, reason="Not all of it.")
    play.complete(play.claimed(task), play.evidence(task))
    return min((play.root / ".memento" / "runs").rglob("*-completed-*"))


EDITED: Final = {
    "legal": lambda path: path.write_text(path.read_text() + "note: Another word.\n"),
    "illegal": lambda path: path.write_text(path.read_text().replace("by: ", "by: Eve ")),
    "unreadable": lambda path: path.write_text("x\n"),
    "removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("base", ["", "main"])
@pytest.mark.parametrize("how", EDITED)
def test_an_event_that_was_edited_is_restored_and_none_that_rests_on_it_is_voided(
    play: Play, how: str, base: str
) -> None:
    path = redone(play)
    was = path.read_bytes()
    git(play.root, "switch", "-qc", "work")
    EDITED[how](path)
    play.commit_all("by hand")
    told = [one for one in found(play, base=base) if one.code[0] in "ET"]
    assert [one for one in told if "git checkout" not in one.fix or "void" in one.fix] == []
    assert {one.fix.rpartition(" -- ")[2] for one in told} == {path.relative_to(play.root).as_posix()}
    assert len(told) >= 4
    pasted(play, told[0])
    play.commit_all("put back")
    assert (path.read_bytes(), found(play)) == (was, [])


@pytest.mark.parametrize("how", ["edited", "absent"])
def test_an_event_that_no_history_has_otherwise_is_voided_by_its_fix(play: Play, how: str) -> None:
    path = redone(play)
    later = max(path.parent.glob("*-completed-*"))
    if how == "absent":
        later.write_text(re.sub("event_[a-z0-9]{12}", "event_000000000000", later.read_text(), count=1))
    else:
        later.write_text(re.sub("@[0-9a-f]{32}", f"@{'0' * 32}", later.read_text(), count=1))
    git(play.root, "commit", "-qa", "--amend", "--no-edit")
    (told,) = [one for one in found(play) if one.code[0] == "E"]
    assert told.fix.startswith("memento settle --void event_")
    paste(play, told.fix)
    assert [one for one in found(play) if one.code[0] == "E"] == []


def test_an_event_that_names_another_file_than_it_did_is_what_is_restored(play: Play) -> None:
    path = max(redone(play).parent.glob("*-completed-*"))
    play.commit(path, re.sub("@[0-9a-f]{32}", f"@{'0' * 32}", path.read_text(), count=1), "by hand")
    (told,) = [one for one in found(play) if one.code[0] == "E"]
    assert told.fix.rpartition(" -- ")[2] == path.relative_to(play.root).as_posix()
    pasted(play, told)
    play.commit_all("put back")
    assert found(play) == []


@pytest.mark.parametrize("how", ["pasted", "pasted with a base", "--fix"])
def test_an_archive_that_was_changed_is_restored_and_nothing_that_it_held_is_told_as_missing(
    play: Play, run: str, how: str
) -> None:
    play.proven()
    play.do(runs.complete_run)
    path = play.root / play.do(runs.archive_run, run)
    was = path.read_bytes()
    git(play.root, "switch", "-qc", "work")
    path.write_bytes(was + b"junk\n")
    play.commit_all("by hand")
    base = "" if how == "pasted" else "main"
    (told,) = found(play, base=base)
    assert told.code == "A001"
    if how == "--fix":
        assert found(play, base=base, fix=True) == []
    else:
        pasted(play, told)
        play.commit_all("put back")
    assert (path.read_bytes(), found(play, base=base), play.status(run)) == (was, [], "completed")


def test_what_is_missed_besides_a_broken_archive_is_restored_with_it(play: Play, run: str) -> None:
    """An event that came late names what the archive holds."""
    task = play.proven()
    git(play.root, "branch", "other")
    play.do(runs.complete_run)
    path = play.root / play.do(runs.archive_run, run)
    git(play.root, "switch", "-q", "other")
    play.do(tasks.reopen_task, task, reason="Not yet.")
    merge_into(play.root, "main", "other")
    path.write_bytes(b"junk\n")
    play.commit_all("by hand")
    told = [one for one in found(play, no_base=True) if one.severity == "error"]
    assert codes(told) == ["A001 error", "E002 error"]
    assert {one.fix.rpartition(" -- ")[2] for one in told} == {path.relative_to(play.root).as_posix()}
    pasted(play, told[1])
    play.commit_all("put back")
    assert [one for one in found(play, no_base=True) if one.severity == "error"] == []


@pytest.mark.parametrize("base", [["--no-base"], ["--base", "HEAD^"]])
def test_a_fix_that_mends_nothing_says_so(play: Play, run: str, cli: Any, base: list[str]) -> None:
    play.commit(path_of(play, "run.md"), "no front\n", "broken")
    code, _, err = cli("check", "-C", str(play.root), *base, "--fix")
    assert (code, err.strip().startswith("--fix mended nothing"), "(--base REV)" in err) == (5, True, len(base) == 1)
    assert git(play.root, "log", "-1", "--format=%s") == "broken"


@pytest.mark.parametrize(
    ("name", "text"), [("run.md", "no front\n"), ("tasks/*/*/task.md", "no front\n"), ("run.md", "")]
)
def test_a_text_that_a_commit_broke_or_removed_is_restored(play: Play, run: str, name: str, text: str) -> None:
    play.task()
    path = path_of(play, name)
    path.write_text(text) if text else path.unlink()
    play.commit_all("broken")
    assert codes(found(play)) == ["F001 error"]
    pasted(play, found(play)[0])
    play.commit_all("restored")
    assert found(play) == []


@pytest.mark.parametrize("staged", [True, False])
def test_a_text_that_a_branch_breaks_is_restored_from_its_base(play: Play, run: str, *, staged: bool) -> None:
    play.task()
    git(play.root, "switch", "-qc", "work")
    path_of(play, "tasks/*/*/task.md").write_text("no front\n")
    git(play.root, "add", "--all")
    if not staged:
        git(play.root, "commit", "-qm", "broken")
        git(play.root, "commit", "-q", "--allow-empty", "-m", "a second commit")
    options = {"staged": True} if staged else {"base": "main"}
    assert codes(found(play, **options)) == ["F001 error"]
    pasted(play, found(play, **options)[0])
    git(play.root, "commit", "-qm", "restored", "--allow-empty")
    assert found(play, **options) == []


def test_a_bare_repository_has_nothing_staged_to_check(play: Play, run: str) -> None:
    bare = play.root.parent / "bare"
    git(play.root, "clone", "-q", "--bare", str(play.root), str(bare))
    with Ledger.open(bare) as ledger, pytest.raises(NothingStaged):
        actions.check(ledger, staged=True)


@pytest.mark.parametrize("end", ["completed", "cancelled"])
def test_a_run_that_ended_is_said_to_have_ended_before_anything_else(play: Play, end: str) -> None:
    run = fallen(play) if end == "completed" else play.planned()
    if end == "cancelled":
        play.do(runs.cancel_run, reason="not needed")
    with pytest.raises(no.RunFinal, match=f"{run} is {end}"):
        play.do(runs.complete_run)


def test_evidence_is_superseded_by_other_evidence_of_its_run(play: Play, run: str) -> None:
    evidence = play.evidence(play.task())
    with pytest.raises(evidences.SuccessorInvalid, match="it is that itself"):
        play.do(evidences.supersede, evidence, evidence)
    other = play.run("Another")
    later = play.do(evidences.add_evidence, "artifact", run=other, files=["app.py"])
    with pytest.raises(evidences.SuccessorInvalid, match=f"it is of {other}"):
        play.do(evidences.supersede, evidence, later)


def test_a_lease_that_is_too_long_is_refused_in_the_words_of_the_user(play: Play, run: str) -> None:
    dispatch = play.dispatch(play.task())
    with pytest.raises(DurationInvalid, match="at most 366d"):
        play.do(dispatches.claim_dispatch, dispatch, lease=9_999_999 * 86_400)


@pytest.mark.parametrize("name", ["odd name.txt", "x;touch PWNED;.txt", "l$(touch PWNED)", "`touch PWNED`", "it's.md"])
@pytest.mark.parametrize("link", [True, False])
def test_a_file_of_any_name_is_taken_out_by_its_fix_and_by_nothing_else(play: Play, name: str, *, link: bool) -> None:
    path = play.root / ".memento" / name
    if link:
        path.symlink_to("README.md")
    else:
        path.write_text("x\n")
    commit_all(play.root, "odd")

    (one,) = found(play)
    assert (one.code, one.path) == ("F004" if link else "F010", f".memento/{name}")
    paste(play, one.fix)

    assert not path.is_symlink()
    assert not path.exists()
    assert git(play.root, "status", "--short").startswith("D  ")
    assert not (play.root / "PWNED").exists()


def test_what_somebody_else_has_named_is_one_word_of_a_command_that_is_pasted(play: Play) -> None:
    branch = "b;touch${IFS}PWNED"
    git(play.root, "branch", branch)
    refusal = no.ClaimedElsewhere(dispatch="d", status="claimed", holder="Eve", branch=branch)

    assert refusal.message.endswith(f"on branch {branch}; to move it here would contest that")
    paste(play, refusal.hint.rpartition(": ")[2])
    assert not (play.root / "PWNED").exists()


@pytest.mark.parametrize("name", ["true", "my: tool", "#t", "123", "@x,y", "yes"])
def test_the_policy_that_lets_a_command_run_again_is_yaml_that_names_it(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    tool = tmp_path / "tools" / name
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    run = play.run()
    made = evidences.witness(play.ledger, [name], quiet=True)
    evidence = play.do(evidences.record_draft, made, run=run)

    with pytest.raises(reproducing.NothingListed) as refused:
        reproducing.reproduce(play.ledger, ids=[evidence])

    told = refused.value.hint.partition("below policy: ")[2]
    assert yaml.safe_load(told) == {"reproduce": {"commands": [[name]]}}


def spiked(play: Play) -> tuple[str, str, str]:
    """Hand two tasks out without a plan, complete one; return the run and the tasks."""
    run = play.run(spike=True)
    done, opened = play.task("Done"), play.task("Open")
    play.complete(play.claimed(done), play.evidence(done))
    play.claimed(opened)
    return run, done, opened


@pytest.mark.parametrize("text", ["x\n", ""], ids=["broken", "empty"])
def test_of_a_run_that_cannot_be_read_nobody_says_that_it_is_no_spike(play: Play, text: str) -> None:
    spiked(play)
    path = path_of(play, "run.md")
    play.commit(path, text, "a merge gone wrong")
    assert codes(found(play, no_base=True)) == ["F001 error"]
    path.unlink()
    play.commit_all("removed")
    assert codes(found(play, no_base=True)) == ["F001 error"]


def test_a_hand_out_without_a_plan_is_taken_back_by_its_fix_whatever_came_of_it(play: Play) -> None:
    run, done, opened = spiked(play)
    path = path_of(play, "run.md")
    play.commit(path, path.read_text().replace("spike: true\n", ""), "no spike")
    told = found(play, no_base=True)
    assert codes(told) == ["P006 warning", "P006 warning"]

    play.do(plans.approve_plan, play.do(plans.draft_plan, "Plan", "Do it.", run=run))
    for one in told:
        paste(play, one.fix.partition(", then ")[2])
    assert (play.status(done), play.status(opened)) == ("pending", "pending")


def test_a_task_that_others_were_done_on_and_that_is_called_off_is_taken_out_of_them(play: Play) -> None:
    git(play.root, "switch", "-qc", "work")
    run = play.planned()
    first = play.proven()
    second = play.proven("Another", depends_on=[first])
    play.do(tasks.reopen_task, first, reason="Not needed.")
    play.do(tasks.cancel_task, first, reason="Not needed.")
    freeing = f"memento task revise {second} --no-dependencies"
    way = f"memento task reopen {second} --reason WHY, then {freeing}, and do it again"
    assert [one.fix for one in found(play) if one.code == "T006"] == [way]
    with pytest.raises(no.DependencyGone) as refused:
        play.do(runs.complete_run, run)
    assert way in refused.value.hint
    play.do(tasks.reopen_task, second, reason="It waits for what was called off.")
    play.do(tasks.revise_task, second, depends_on=[])
    play.complete(play.claimed(second), play.evidence(second))
    play.do(runs.complete_run, run)
    assert [one for one in found(play) if one.severity == "error"] == []


def test_a_failed_gate_of_what_is_done_passes_or_the_work_is_done_again(play: Play) -> None:
    git(play.root, "switch", "-qc", "work")
    play.planned()
    task = play.proven()
    play.gate("quality_review", "failed", task=task, reason="unclear names")
    fix = next(one.fix for one in found(play) if one.code == "T006")
    passing, _, again = fix.partition("; where work is to be done again, ")
    assert passing == f"memento gate record quality_review passed --task {task}"
    verifying, _, repairing = again.partition(", then ")
    with pytest.raises(subprocess.CalledProcessError):
        paste(play, verifying)
    paste(play, repairing)
    assert [one for one in found(play) if one.severity == "error"] == []


def test_a_completion_is_left_out_of_a_branch_that_merged_its_base(play: Play) -> None:
    """The commits of the base stay what they are, and so does what the branch is compared with."""
    config = play.root / ".memento" / "config.yaml"
    play.commit(config, "version: 1\npolicy:\n  gates: {required: [final_acceptance]}\n", "policy")
    run = play.planned("Refuse emty")
    git(play.root, "switch", "-qc", "work")
    play.proven()
    play.gate("final_acceptance", "passed")
    play.do(runs.complete_run)
    git(play.root, "switch", "-q", "main")
    text = play.root / play.state(run).prose(run).path
    play.commit(text, text.read_text().replace("emty", "empty"), "goal")
    git(play.root, "switch", "-q", "work")
    git(play.root, "merge", "-q", "-m", "merge", "main")
    (wrong,) = [one for one in found(play, base="main") if one.severity == "error"]
    assert (wrong.code, "is for something else" in wrong.message) == ("P004", True)
    paste(play, pasted(play, wrong))
    assert git(play.root, "merge-base", "main", "HEAD") == git(play.root, "rev-parse", "main")
    play.gate("final_acceptance", "passed")
    play.do(runs.complete_run)
    assert [one for one in found(play, base="main") if one.severity == "error"] == []
