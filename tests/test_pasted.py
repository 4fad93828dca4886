"""What a command names as next works when it is pasted, and is what is due."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import remotes
from memento_git.review.actions import check
from memento_git.verbs import doctor
from memento_git.work import refusals
from memento_git.work.actions import claiming, evidences, plans, tasks, verifying
from memento_git.work.proof.verification import again_line, named
from tests.clones import Hub, code
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play


def following(cli: Call, play: Play, *arguments: str) -> list[str]:
    """Return the lines of what comes next after a command."""
    _, out, err = cli(*arguments[:2], "-C", str(play.root), *arguments[2:])
    return [line.partition(": ")[2] for line in (out + err).splitlines() if re.match(r" +(next|or): ", line)]


def pasted(cli: Call, play: Play, line: str) -> tuple[int, str, str]:
    """Run a line as it was told, with words in the place of what the user is to say."""
    words = [{"WHO": "agent", "WHY": "so"}.get(word, word) for word in shlex.split(line)]
    return cli(*words[1:], "-C", str(play.root))


def shown(cli: Call, play: Play, task: str) -> list[str]:
    return following(cli, play, "evidence", "run", "--task", task, "--", "true")


def test_a_claim_on_the_remote_from_a_branch_without_upstream_is_led_to_what_works(play: Play, cli: Call) -> None:
    Hub(play)
    git(play.root, "switch", "-qc", "work")
    play.planned()
    dispatch = play.dispatch(play.task())
    with pytest.raises(remotes.NoUpstream) as caught:
        claiming.claim_on_remote(play.ledger, dispatch)

    assert pasted(cli, play, caught.value.hint.partition(": ")[2])[0] == 0
    assert claiming.claim_on_remote(play.ledger, dispatch).pushed


def test_evidence_leads_through_all_that_its_task_waits_for(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    said = []
    for _ in range(3):
        (line,) = shown(cli, play, task)
        said.append(" ".join(line.split()[1:3]))
        assert pasted(cli, play, line)[0] == 0

    assert said == ["dispatch create", "dispatch claim", "dispatch complete"]
    assert play.is_proven(task)
    assert shown(cli, play, task) == []


@pytest.mark.parametrize(
    ("end", "step"), [(tasks.block_task, "task reopen"), (tasks.cancel_task, "task reopen"), (None, "task repair")]
)
def test_a_task_that_nobody_has_leads_to_its_taking_up(
    play: Play, run: str, cli: Call, end: Callable[..., str] | None, step: str
) -> None:
    task = play.task()
    if end is not None:
        play.do(end, task, reason="no")
    else:
        play.complete(play.claimed(task), play.evidence(task))
        play.evidence(task, code=1)
        assert not verifying.verify(play.ledger, play.ledger.change, task, quiet=True).accepted
    with pytest.raises(refusals.TaskNotReady) as caught:
        play.dispatch(task)
    told = caught.value.hint.partition(": ")[2]
    assert told.startswith(f"memento {step} {task}")
    assert shown(cli, play, task) == [told]
    assert pasted(cli, play, told)[0] == 0


def test_evidence_of_an_unproven_task_leads_to_what_proves_it(play: Play, run: str, cli: Call) -> None:
    task = play.task(commands=["true"])
    play.complete(play.claimed(task), play.evidence(task, kind="command"))
    assert shown(cli, play, task) == [f"memento task verify {task}"]


def test_evidence_leads_to_what_else_is_asked_and_to_a_completion_on_all_of_it(play: Play, cli: Call) -> None:
    draft = play.do(plans.draft_plan, "Plan", "Do it.", run=play.run(), commands=["true plan"])
    play.do(plans.approve_plan, draft)
    task = play.task(commands=["true task"])
    dispatch = play.claimed(task)
    run = f"memento evidence run --task {task} --kind test -- true"
    assert shown(cli, play, task) == [f"{run} plan"], "what was run is not asked"
    assert following(cli, play, *shlex.split(f"{run} task")[1:]) == [f"{run} plan"]
    (line,) = following(cli, play, *shlex.split(f"{run} plan")[1:])
    assert line.startswith(f"memento dispatch complete {dispatch} --evidence ")
    assert pasted(cli, play, line)[0] == 0
    assert play.is_proven(task)


def test_who_has_a_task_is_still_told_where_somebody_has_it(play: Play, run: str) -> None:
    task = play.task()
    play.claimed(task)
    with pytest.raises(refusals.TaskNotReady, match="in_progress") as caught:
        play.dispatch(task)
    assert caught.value.hint.startswith("see who has it: ")


def test_an_approved_plan_leads_to_what_is_due(play: Play, cli: Call) -> None:
    run = play.run()
    one, two = (play.do(plans.draft_plan, title, "Do it.", run=run) for title in ("One", "Two"))
    assert following(cli, play, "plan", "approve", one) == [f"memento task add --run {run} --title TITLE"]
    task = play.task()
    assert following(cli, play, "plan", "approve", two) == [f"memento dispatch create {task} --executor WHO"]


def test_doctor_leads_to_the_end_of_what_git_is_in_the_middle_of(play: Play) -> None:
    git(play.root, "switch", "-qc", "other")
    code(play, "theirs\n")
    git(play.root, "switch", "-q", "main")
    code(play, "ours\n")
    git(play.root, "rebase", "other", check=False)
    told = {one.name: one.fix for one in doctor.examine(play.ledger) if one.status == "warn"}
    assert told == {"operation": "git rebase --continue, or git rebase --abort"}
    git(play.root, "rebase", "--abort")
    git(play.root, "bisect", "start", "HEAD", "HEAD~2")
    told = {one.name: one.fix for one in doctor.examine(play.ledger) if one.status == "warn"}
    assert told == {"operation": "finish or abort it: git status says how"}


def stale(play: Play) -> str:
    """Return a task that is done, on code that is other by now."""
    task = play.planned_task()
    play.complete(play.claimed(task), play.evidence(task))
    code(play, "answer = 43\n")
    return task


def fixes(play: Play) -> list[str]:
    """Return how check would have mended what a branch completed on other code."""
    return sorted({one.fix for one in check(play.ledger, base="base").findings if one.code == "C001"})


def test_an_acceptance_on_a_proof_of_other_code_says_so(play: Play, cli: Call) -> None:
    task = stale(play)
    done, out, err = cli("task", "verify", task, "-C", str(play.root))

    assert (done, out.splitlines()[0]) == (0, f"accepted {task}")
    assert f"note: what proves {task} saw other code than is here" in err
    again = shlex.split(err.rpartition("code: ")[2])[1:]
    assert following(cli, play, *again) == [f"memento task verify {task}"]


def test_check_names_what_proves_stale_work_anew(play: Play, cli: Call) -> None:
    git(play.root, "branch", "base")
    task = stale(play)
    verify = f"memento task verify {task}"
    run = f"memento evidence run --task {task} --kind test -- sh -c 'echo checked; exit 0'"
    assert fixes(play) == [f"run it again: {run}; and let that count: {verify}"]
    words = shlex.split(run)[1:]
    assert following(cli, play, *words) == [verify]
    assert pasted(cli, play, verify)[0] == 0
    assert (fixes(play), play.status(task)) == ([], "accepted")


def test_stale_work_is_judged_once_all_that_proves_it_has_run_again(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    play.complete(play.claimed(task), play.evidence(task), play.evidence(task, kind="lint"))
    code(play, "answer = 43\n")
    lines = {
        f"memento evidence run --task {task} --kind {kind} -- sh -c 'echo checked; exit 0'" for kind in ("test", "lint")
    }
    (first,) = following(cli, play, "evidence", "run", "--task", task, "--kind", "type", "--", "true")
    (second,) = following(cli, play, *shlex.split(first)[1:])
    assert {first, second} == lines
    assert following(cli, play, *shlex.split(second)[1:]) == [f"memento task verify {task}"]


def test_stale_work_that_was_accepted_is_judged_again(play: Play, cli: Call) -> None:
    git(play.root, "branch", "base")
    task = stale(play)
    verify = f"memento task verify {task}"
    assert pasted(cli, play, verify)[0] == 0
    (told,) = fixes(play)
    run, _, then = told.removeprefix("run it again: ").partition("; and let that count: ")
    assert then == verify
    assert following(cli, play, *shlex.split(run)[1:]) == [verify]
    assert pasted(cli, play, verify)[0] == 0
    assert (fixes(play), play.status(task)) == ([], "accepted")


def test_check_names_a_reopening_where_no_command_shows_stale_work(play: Play) -> None:
    settings = "version: 1\npolicy: {proof: {screenshot: reported}}\n"
    play.commit(".memento/config.yaml", settings, "a picture is proof")
    git(play.root, "branch", "base")
    task = play.planned() and play.task()
    (play.root / "page.png").write_bytes(b"a picture")
    code(play, "answer = 42\n")
    seen = play.do(
        evidences.add_evidence, "screenshot", tasks=[task], files=[str(play.root / "page.png")], outcome="passed"
    )
    play.complete(play.claimed(task), seen)
    code(play, "answer = 43\n")
    again = f"reopen it, and complete it on a new run of the command: memento task reopen {task} --reason WHY"
    assert fixes(play) == [again]


@pytest.mark.parametrize(
    ("folder", "word"), [
        ("inside", "run.sh"), (".", "<outside>/run.sh"), (".", "<repository>/run.sh"),
        (".", "[redacted: GitHub Token]"), (".", "~/run.sh"), (".", named(["sh", "x" * 5000])[1]),
    ],
)  # fmt: skip
def test_a_command_that_is_not_recorded_whole_is_left_to_who_runs_it(folder: str, word: str) -> None:
    evidence = {"kind": "lint", "command": {"cwd": folder, "argv": ["sh", word]}, "reports": [{"name": "a.xml"}]}
    assert again_line("task_1", evidence) == "memento evidence run --task task_1 --kind lint --report a.xml -- CMD"


def test_check_names_verification_where_that_runs_what_is_stale(play: Play, cli: Call) -> None:
    git(play.root, "branch", "base")
    task = play.planned() and play.task(commands=["true"])
    assert cli("evidence", "run", "--task", task, "-C", str(play.root), "--", "true")[0] == 0
    play.complete(play.claimed(task), *play.state(task).ids("evidence"))
    code(play, "answer = 43\n")
    (told,) = fixes(play)
    assert told == f"run what is asked: memento task verify {task}"
    assert pasted(cli, play, told.partition(": ")[2])[0] == 0
    assert fixes(play) == []


def test_one_on_a_proof_of_this_code_says_nothing(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    play.complete(play.claimed(task), play.evidence(task))
    assert cli("task", "verify", task, "-C", str(play.root))[2] == ""
