"""The command line: one envelope, exit codes that mean something, output for people."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from memento_git.cli.examples import EXAMPLES
from memento_git.cli.main import COMMANDS
from memento_git.cli.terminal import envelope
from memento_git.work.actions import gates, plans
from tests.play import asked, commit_all, git, take_out

if TYPE_CHECKING:
    from tests.play import Call, Play

MEMENTO = [sys.executable, "-m", "memento_git"]
LISTS = ("run", "plan", "task", "dispatch", "gate", "evidence")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("x.py", "src/x.py"), ("./Makefile", "src/Makefile"), ("Makefile", "Makefile"), ("../Makefile", "Makefile"),
        ("src/x.py", "src/x.py"), ("src", "src"), (".", "src"),
    ],
)  # fmt: skip
def test_a_path_typed_in_a_subfolder_is_from_the_top_or_else_from_there(
    play: Play, run: str, cli: Call, typed: str, meant: str
) -> None:
    (play.root / "src").mkdir()
    for name in ("Makefile", "src/Makefile", "src/x.py"):
        (play.root / name).write_text("all:\n")
    play.commit_all()
    here = ("-C", str(play.root / "src"), "--json")

    added = json.loads(cli(*here, "task", "add", "--title", "T", "--file", typed)[1])
    ran = json.loads(cli(*here, "evidence", "run", "--covers", typed, "--", sys.executable, "-c", "")[1])

    assert added["task"]["relevant_files"] == [meant]
    assert list(ran["evidence"]["code"]["paths"]) == [meant]


def test_a_failed_gate_that_is_asked_for_again_is_not_said_to_have_failed_by_that(
    play: Play, run: str, cli: Call
) -> None:
    play.gate("quality_review", "failed", reason="unclear names")
    code, out, _ = cli("gate", "record", "quality_review", "requested", "-C", str(play.root))
    told = f"quality_review failed on {run}: asked for again, until then it holds work back"
    assert (code, out) == (0, f"{told}\n next: memento gate record quality_review passed --run {run}\n")


def test_a_dependency_without_a_name_is_refused_with_the_option_that_takes_all_out(
    play: Play, run: str, cli: Call
) -> None:
    task = play.task()
    code, out, err = cli("task", "revise", task, "--depends-on", "", "-C", str(play.root))
    assert (code, out, "--no-dependencies takes those out" in err) == (2, "", True)
    code, out, err = cli("task", "revise", task, "--title", "Another", "--body", "", "-C", str(play.root))
    assert (code, out, "'--body': it is empty" in err) == (2, "", True)


def test_a_path_typed_in_a_subfolder_that_is_not_there_yet_is_from_the_top(play: Play, run: str, cli: Call) -> None:
    (play.root / "src").mkdir()
    here = ("-C", str(play.root / "src"), "--json", "task", "add", "--title", "T")

    found = [json.loads(cli(*here, "--file", typed)[1]) for typed in ("new.py", "./new.py", "../new.py")]

    assert [one["task"]["relevant_files"] for one in found] == [["new.py"], ["src/new.py"], ["new.py"]]
    assert json.loads(cli(*here, "--file", "../../new.py")[1])["error"] == "text_invalid"


def test_the_whole_job_from_goal_to_proven_work(play: Play, cli: Call) -> None:
    run = asked(cli, play, "run", "start", "--goal", "Ship it")["run"]["id"]
    plan = asked(cli, play, "plan", "draft", "--title", "Plan", "--body", "Write, test.")["plan"]["id"]
    asked(cli, play, "plan", "approve", plan)
    task = asked(cli, play, "task", "add", "--title", "Parse", "--accept", "42 parses")["task"]["id"]
    dispatch = asked(cli, play, "dispatch", "create", task, "--executor", "codex")["dispatch_id"]
    asked(cli, play, "dispatch", "claim", dispatch, "--actor", "agent:codex")
    command = ("evidence", "run", "-C", str(play.root), "--task", task, "--kind", "test", "--json")
    code, out, err = cli(*command, "--", sys.executable, "-c", "print('ok')")
    assert (code, err) == (0, "ok\n")
    evidence = json.loads(out)["evidence"]["id"]
    done = asked(cli, play, "dispatch", "complete", dispatch, "--evidence", evidence, "--actor", "agent:codex")
    assert (done["status"], done["proven"], done["evidence"]["id"]) == ("completed", True, evidence)
    asked(cli, play, "task", "verify", task)
    asked(cli, play, "gate", "record", "final_acceptance", "passed", "--note", "fine")
    asked(cli, play, "run", "complete", run)

    status = asked(cli, play, "status")
    assert status["run"]["status"] == "completed"
    assert [row["status"] for row in status["tasks"]] == ["accepted"]
    assert {"run", "plans", "tasks", "gates", "evidence", "audit", "dispatches"} <= set(status)
    code, out, _ = cli("report", "-C", str(play.root))
    assert out.startswith("# Ship it\n")
    assert "proven by test, witnessed" in out


def test_a_colleagues_clone_shows_the_same(play: Play, run: str, cli: Call, tmp_path: Path) -> None:
    play.proven()
    git(tmp_path, "clone", "-q", str(play.root), "clone")

    mine = asked(cli, play, "status")
    code, out, _ = cli("status", "-C", str(tmp_path / "clone"), "--json")

    assert code == 0
    assert json.loads(out) == mine


def test_why_a_run_is_paused_or_cancelled_is_told_until_it_goes_on(play: Play, run: str, cli: Call) -> None:
    shown = [("status",), ("report",), ("report", "--chat"), ("run", "show")]
    asked(cli, play, "run", "pause", "--reason", "waiting for legal")
    for command in shown:
        assert "waiting for legal" in cli(*command, "-C", str(play.root))[1], command
    assert asked(cli, play, "run", "show")["run"]["reason"] == "waiting for legal"
    asked(cli, play, "run", "resume")
    assert asked(cli, play, "status")["run"]["reason"] is None
    asked(cli, play, "run", "pause")
    assert asked(cli, play, "status")["run"]["reason"] is None, "this time nothing was said"
    asked(cli, play, "run", "cancel", "--reason", "no money")
    for command in shown:
        assert "no money" in cli(*command, "-C", str(play.root))[1], command


def test_why_a_task_was_rejected_is_in_the_log(play: Play, run: str, cli: Call) -> None:
    task = play.task(commands=["false"])
    play.complete(play.claimed(task), play.evidence(task))
    asked_of = cli("task", "verify", task, "--no-run", "-C", str(play.root), "--json")[1]
    unmet = "; ".join(json.loads(asked_of)["failed_requirements"])
    (row,) = asked(cli, play, "log", "--verb", "rejected")["audit"]
    assert row["summary"] == unmet
    assert "has no witnessed pass" in cli("log", "--verb", "rejected", "-C", str(play.root))[1]


def test_what_is_stale_is_said_so_wherever_it_is_shown(play: Play, run: str, cli: Call) -> None:
    task = play.proven()
    (evidence,) = play.state(task).ids("evidence")
    shown = [("task", "show", task), ("show", task), ("evidence", "show", evidence), ("show", evidence)]
    before = git(play.root, "rev-parse", "HEAD").strip()
    for command in shown:
        assert asked(cli, play, *command)[command[-1].partition("_")[0]]["stale"] is False
        assert "stale" not in cli(*command, "-C", str(play.root))[1]
    play.commit("app.py", "answer = 41\n")
    for command in shown:
        assert asked(cli, play, *command)[command[-1].partition("_")[0]]["stale"] is True
        assert "stale" in cli(*command, "-C", str(play.root))[1]
        assert asked(cli, play, *command, "--at", before)[command[-1].partition("_")[0]]["stale"] is False


def test_how_evidence_is_stale_is_told_of_what_a_list_leaves_out_too(play: Play, run: str, cli: Call) -> None:
    (play.root / "app.py").write_text("answer = 41\n")
    task = play.task()
    play.complete(play.claimed(task), play.evidence(task), play.evidence(task, kind="lint"))
    told = cli("status", "--limit", "1", "-C", str(play.root))[1]
    assert ("uncommitted evidence_" in told, "stale evidence_" in told) == (True, False)


def test_evidence_of_what_is_not_committed_is_told_as_that(play: Play, run: str, cli: Call) -> None:
    (play.root / "app.py").write_text("answer = 41\n")
    task = play.proven()
    (evidence,) = play.state(task).ids("evidence")
    shown = [("task", "show", task), ("evidence", "show", evidence), ("evidence", "list"), ("report",), ("status",)]
    for command in shown:
        told = cli(*command, "-C", str(play.root))[1]
        assert ("of code that is not committed here" in told, "passed, stale" in told) == (True, False)
    row = asked(cli, play, "evidence", "show", evidence)["evidence"]
    assert (row["stale"], row["uncommitted"]) == (True, True)
    (play.root / "other.py").write_text("more = 1\n")
    git(play.root, "add", "other.py")
    git(play.root, "commit", "-q", "-m", "the code goes on", "other.py")
    row = asked(cli, play, "evidence", "show", evidence)["evidence"]
    assert (row["stale"], row["uncommitted"]) == (True, False)
    play.commit_all()
    (play.root / "other.py").unlink()
    git(play.root, "commit", "-q", "-a", "-m", "as it was seen")
    row = asked(cli, play, "evidence", "show", evidence)["evidence"]
    assert (row["stale"], row.get("uncommitted")) == (False, None)


def test_evidence_run_exits_as_the_command_did(play: Play, cli: Call) -> None:
    play.run()
    code, _, err = cli("evidence", "run", "-C", str(play.root), "--", sys.executable, "-c", "raise SystemExit(7)")
    assert code == 7
    assert "failed, witnessed" in err


def test_a_mistyped_option_of_evidence_run_is_refused_and_no_command(play: Play, cli: Call) -> None:
    play.run()
    where = ("evidence", "run", "-C", str(play.root))
    code, _, err = cli(*where, "--tsak", "x", "--", "true")
    assert (code, "No such option" in err) == (2, True)
    assert cli(*where, "--", sys.executable, "-c", "")[0] == 0


def test_evidence_run_refuses_before_the_command_runs(play: Play, cli: Call) -> None:
    play.run()
    marker = play.root / "ran"
    code, _, err = cli("evidence", "run", "-C", str(play.root), "--task", "task_zzzz", "--", "touch", str(marker))
    assert (code, "task_not_found" in err) == (1, True)
    assert not marker.exists()


def test_output_appears_while_the_command_runs(play: Play) -> None:
    play.run()
    script = "import time; print('early', flush=True); time.sleep(30)"
    process = subprocess.Popen(
        [*MEMENTO, "evidence", "run", "--", sys.executable, "-c", script], cwd=play.root, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"early\n"
    assert process.poll() is None
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_verdict_that_says_no_exits_with_one(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    (play.root / "log.txt").write_text("typed\n")
    dispatch = play.claimed(task)
    code, out, _ = cli(
        "dispatch", "complete", dispatch, "-C", str(play.root), "--evidence-uri", "file://log.txt", "--json"
    )
    assert (code, json.loads(out)["proven"]) == (0, False)

    code, out, _ = cli("task", "verify", task, "-C", str(play.root), "--json")

    answer = json.loads(out)
    assert (code, answer["ok"], answer["verdict"]) == (1, False, "rejected")
    assert "proves nothing by itself" in answer["failed_requirements"][0]


def test_a_prefix_is_enough_and_an_ambiguous_one_lists_its_candidates(play: Play, cli: Call) -> None:
    play.run()
    tasks = [play.task(f"Task {number}") for number in range(40)]
    assert asked(cli, play, "task", "show", tasks[0][:14])["task"]["id"] == tasks[0]
    assert asked(cli, play, "show", tasks[0].partition("_")[2][:10])["task"]["id"] == tasks[0]
    letters: dict[str, list[str]] = {}
    for task in tasks:
        letters.setdefault(task[5], []).append(task)
    shared = next(found for found in letters.values() if 1 < len(found) <= 4)  # of more than five some are counted

    code, out, _ = cli("task", "show", shared[0][5], "-C", str(play.root), "--json")

    answer = json.loads(out)
    assert (code, answer["error"]) == (1, "id_ambiguous")
    assert shared[0] in answer["message"]


def test_a_prefix_is_enough_without_its_kind_wherever_several_kinds_could_be(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    evidence = play.evidence(task)

    approved = asked(cli, play, "evidence", "approve", task.partition("_")[2][:11])["evidence"]
    assert approved["approves"] == task
    redacted = asked(cli, play, "evidence", "redact", evidence.partition("_")[2][:11], "--reason", "r")["redacted"]
    assert redacted == evidence
    asked(cli, play, "task", "block", task, "--reason", "mine")
    event = asked(cli, play, "log", "--verb", "blocked")["audit"][0]["id"]
    settle = ("settle", task.partition("_")[2][:11], "--keep", event, "--reason", "r")
    code, out, _ = cli(*settle, "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "not_contested")
    code, out, _ = cli("settle", "zzzzzzzzzzzz", "--keep", event, "--reason", "r", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "record_not_found")
    assert asked(cli, play, "evidence", "redact", event.partition("_")[2], "--reason", "r")["redacted"] == event


def test_lists_page_and_filter(play: Play, run: str, cli: Call) -> None:
    for number in range(5):
        play.task(f"Task {number}")
    play.dispatch(play.task("Out"))

    page = asked(cli, play, "task", "list", "--limit", "2", "--offset", "4")
    assert [row["title"] for row in page["tasks"]] == ["Task 4", "Out"]
    assert page["page"] == {"total": 6, "offset": 4, "shown": 2}
    assert [row["title"] for row in asked(cli, play, "task", "list", "--status", "dispatched")["tasks"]] == ["Out"]
    assert len(asked(cli, play, "task", "list", "--ready")["tasks"]) == 5
    _, out, _ = cli("task", "list", "--limit", "2", "-C", str(play.root))
    assert "4 more: --offset 2" in out
    play.do(plans.draft_plan, "Another", "B")
    for verdict in ("quality_review", "plan_review"):
        play.gate(verdict, "passed")
    for noun in ("plan", "gate"):
        page = asked(cli, play, noun, "list", "--limit", "1", "--offset", "1")
        assert (len(page[f"{noun}s"]), page["page"]) == (1, {"total": 2, "offset": 1, "shown": 1})
    status = asked(cli, play, "status", "--limit", "2")
    assert (len(status["tasks"]), status["omitted"]["tasks"]) == (2, 4)


def test_lists_of_ids_are_cut_too_and_people_are_told_how_many_they_are(play: Play, run: str, cli: Call) -> None:
    for number in range(5):
        play.task(f"Task {number}", role="tester")
    for command in ("status", "report"):
        whole = asked(cli, play, command, "--limit", "0")
        held = asked(cli, play, command, "--limit", "1")
        assert held["ready"] == whole["ready"][:1]
        (tester,) = [row for row in asked(cli, play, command, "--limit", "3")["roles"] if row["name"] == "tester"]
        assert len(tester["incomplete_tasks"]) == 3
        assert held["omitted"]["ready"] == 4
        assert asked(cli, play, command, "--limit", "3")["omitted"]["incomplete_tasks"] == 2
        assert "incomplete_tasks" not in whole["omitted"]
    assert "5 ready" in cli("status", "--limit", "1", "-C", str(play.root))[1]
    for told in (
        asked(cli, play, "report", "--limit", "4")["text"],
        cli("report", "--limit", "4", "-C", str(play.root))[1],
    ):
        assert "5 not finished" in told
        assert "ready: 1 more" not in told


def test_time_travel_reads_an_old_revision_everywhere(play: Play, run: str, cli: Call) -> None:
    before = git(play.root, "rev-parse", "HEAD")
    task = play.task()

    assert asked(cli, play, "status", "--at", before)["tasks"] == []
    assert asked(cli, play, "task", "list", "--at", "HEAD")["tasks"][0]["id"] == task
    code, out, _ = cli("task", "show", task, "--at", before, "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "task_not_found")
    assert asked(cli, play, "run", "show", run, "--at", before)["run"]["id"] == run
    for command in (["log"], ["report"], ["plan"], ["dispatch"], ["gate"], ["evidence"], ["run"]):
        asked(cli, play, *command, "--at", before)


def test_several_revisions_are_read_as_their_union(play: Play, run: str, cli: Call) -> None:
    git(play.root, "switch", "-q", "-c", "other")
    there = play.task("There")
    git(play.root, "switch", "-q", "main")
    here = play.task("Here")

    both = asked(cli, play, "task", "list", "--at", "main", "--at", "other")

    assert {row["id"] for row in both["tasks"]} == {there, here}


def test_the_log_filters_and_survives_a_squash(play: Play, cli: Call) -> None:
    base = git(play.root, "rev-parse", "HEAD")
    play.planned()
    task = play.as_("agent:hermes").proven()
    before = asked(cli, play, "log", "--limit", "0")["audit"]
    git(play.root, "reset", "-q", "--soft", base)
    git(play.root, "commit", "-qm", "squashed")

    assert asked(cli, play, "log", "--limit", "0")["audit"] == before
    assert {row["actor"] for row in asked(cli, play, "log", "--who", "HERMES")["audit"]} == {"agent:hermes"}
    assert [row["action"] for row in asked(cli, play, "log", "--verb", "completed")["audit"]] == ["task.completed"]
    assert [row["action"] for row in asked(cli, play, "log", "--verb", "task.claimed")["audit"]] == ["task.claimed"]
    assert asked(cli, play, "log", "--verb", "waived")["audit"] == []
    assert asked(cli, play, "log", "--verb", "note.added")["audit"] == []
    assert len(asked(cli, play, "log", "--record", task[:12])["audit"]) == 4
    assert asked(cli, play, "log", "--since", "2999-01-01")["audit"] == []
    assert asked(cli, play, "log", "--until", "2999-01-01", "--limit", "1")["page"]["total"] == len(before)
    commits = asked(cli, play, "log", "--commits")["commits"]
    assert commits[0]["subject"] == "squashed"


def test_the_commits_of_several_revisions_are_listed_together(play: Play, run: str, cli: Call) -> None:
    git(play.root, "switch", "-q", "-c", "other")
    there = play.task("There")
    git(play.root, "switch", "-q", "main")
    here = play.task("Here")

    commits = asked(cli, play, "log", "--commits", "--at", "main", "--at", "other")["commits"]

    subjects = [row["subject"] for row in commits]
    assert {f"memento: add_task {there}", f"memento: add_task {here}"} <= set(subjects)
    assert len(subjects) == len(set(subjects))
    assert len(asked(cli, play, "log", "--commits", "--at", "other", "--limit", "1")["commits"]) == 1


def test_the_commits_are_filtered_or_the_filter_is_refused(play: Play, cli: Call) -> None:
    run, other = play.planned("One"), play.as_("agent:hermes").run("Two")
    all_of_them = asked(cli, play, "log", "--commits")["commits"]

    def chosen(*options: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = asked(cli, play, "log", "--commits", *options)["commits"]
        return rows

    assert [row["trailers"]["Memento-Run"] for row in chosen("--run", other)] == [[other]]
    assert {*(row["trailers"]["Memento-Run"][0] for row in chosen("--run", run))} == {run}
    assert [row["trailers"]["Memento-Record"] for row in chosen("--who", "HERMES")] == [[other]]
    assert chosen("--since", "2999-01-01") == chosen("--until", "2001-01-01") == chosen("--who", "nobody") == []
    assert chosen("--until", "2999-01-01") == chosen("--since", "2001-01-01") == all_of_them
    assert asked(cli, play, "log", "--commits", "--limit", "1")["page"]["total"] == len(all_of_them)
    for option, value in (("--record", run), ("--verb", "approved")):
        assert cli("log", "--commits", option, value, "-C", str(play.root))[0] == 2
    assert cli("log", "--commits", "--run", "run_zzzzzzzzzzzz", "-C", str(play.root))[0] == 1


def test_the_log_names_the_gate_beside_what_was_said_of_it(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    play.gate("quality_review", "failed", task=task, note="needs work")
    play.gate("plan_review", "passed")
    for command in (("log",), ("show", task)):
        assert ": gate quality_review: needs work\n" in cli(*command, "-C", str(play.root))[1]
    assert cli("log", "-C", str(play.root))[1].splitlines()[0].endswith(": gate plan_review")


def test_a_page_past_the_end_says_how_many_there_are(play: Play, run: str, cli: Call) -> None:
    play.task()
    for command in (("task", "list"), ("log",), ("log", "--commits")):
        out = cli(*command, "--offset", "100", "-C", str(play.root))[1]
        assert re.fullmatch(r"no (tasks|events|commits) from --offset 100 on: \d+ in all\n", out)
    assert cli("evidence", "list", "-C", str(play.root))[1] == "no evidence\n"


@pytest.mark.parametrize("command", [["changes"], ["session"], ["session", "status"], ["hook"], ["hook", "list"]])
def test_a_revision_that_there_is_not_is_refused_everywhere(play: Play, cli: Call, command: list[str]) -> None:
    assert cli(*command, "-C", str(play.root))[0] == 0
    assert cli(*command, "--at", "nope", "-C", str(play.root))[0] == (1 if command == ["changes"] else 2)


def test_changes_are_told_up_to_a_revision(play: Play, cli: Call) -> None:
    base = git(play.root, "rev-parse", "HEAD")
    asked(cli, play, "note", "add", "It is so.")
    since = ("changes", "--since", base)
    assert len(asked(cli, play, *since)["changes"]) == 1
    assert asked(cli, play, *since, "--at", base)["changes"] == []
    assert cli(*since, "--at", base, "--until", base, "-C", str(play.root))[0] == 2


def test_changes_say_where_they_begin_if_there_is_no_session_before(play: Play, cli: Call) -> None:
    where = ("changes", "--since", "last-session", "-C", str(play.root))
    assert cli(*where)[1] == "nothing happened to notes\n"
    asked(cli, play, "note", "add", "It is so.")
    assert cli(*where)[1].startswith("since the beginning:\n  note_")


def test_the_log_keeps_the_order_of_a_run_whatever_the_clocks_said(play: Play, cli: Call) -> None:
    from memento_git.ledger.store import Ledger
    from memento_git.work.actions import tasks
    from tests.play import Play as Verbs

    run = play.planned("One")
    task = play.task(run=run)
    play.claimed(task)
    with Ledger.open(play.root, clock=lambda: 1_700_000_000.0) as behind:
        Verbs(behind).do(tasks.block_task, task, reason="later, by a clock that is behind")
    alone = [row["id"] for row in asked(cli, play, "log", "--run", run)["audit"]]
    other = play.run("Two")
    play.gate("plan_review", "passed", run=other)

    mixed = asked(cli, play, "log")["audit"]

    assert [row["id"] for row in mixed if row["run_id"] == run] == alone
    assert alone[0] == next(row["id"] for row in mixed if row["action"] == "task.blocked")
    assert {row["run_id"] for row in mixed} == {run, other}


def test_the_log_tells_that_records_were_made_before_what_befell_them(play: Play, cli: Call) -> None:
    from memento_git.ledger import layout
    from memento_git.ledger.store import Ledger
    from memento_git.work.actions import settling
    from tests.play import Play as Verbs

    run = play.run(spike=True)
    with Ledger.open(play.root, clock=lambda: 4_000_000_000.0) as ahead:
        task = Verbs(ahead).task(run=run)
    dispatch, evidence, gone = play.claimed(task), play.evidence(task), play.evidence(task)
    play.complete(dispatch, evidence)
    play.do(settling.redact_record, gone, reason="secret")
    lost = play.root / layout.prose_path(run, play.task("Lost", run=run))
    play.commit(lost, "no text of ours", "broken")

    events = asked(cli, play, "log")["audit"][::-1]

    told = [(row["action"], row["record"]) for row in events]
    assert told[:4] == [
        ("run.started", run), ("task.added", task), ("task.dispatched", task), ("task.claimed", task),
    ]  # fmt: skip
    assert sorted(told[4:]) == sorted([
        ("evidence.recorded", evidence), ("evidence.redacted", gone), ("task.completed", task),
    ])  # fmt: skip
    assert events[1]["summary"] == play.state(run).prose(task).title
    assert [row["id"] for row in asked(cli, play, "log", "--verb", "added")["audit"]] == [task]


def test_the_log_says_to_whom_a_task_went_what_ran_and_which_gate(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    play.complete(play.claimed(task), play.evidence(task))
    play.do(gates.record_gate, "quality_review", "passed", note="read")

    lines = cli("log", "-C", str(play.root))[1]

    assert re.search(r"dispatched +\S.*: to \w", lines)
    assert re.search(r"recorded +\S.*: test, passed: \S", lines)
    assert re.search(r"passed +\S.*: gate quality_review: read", lines)


def test_a_verdict_is_told_as_one_of_a_gate_and_not_of_its_run_or_task(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    for scope in ("", task):
        play.gate("quality_review", "failed", task=scope)
    told = [row["record"] for row in asked(cli, play, "log", "--verb", "gate.failed")["audit"]]
    assert sorted(told) == sorted([play.state(task).id, task])
    assert asked(cli, play, "log", "--verb", "task.failed")["audit"] == []


def test_the_log_of_a_dispatch_is_what_happened_to_it(play: Play, run: str, cli: Call) -> None:
    first = play.task()
    lost = play.claimed(first)
    from memento_git.work.actions import dispatches, tasks

    play.do(dispatches.fail_dispatch, lost, reason="no")
    play.do(tasks.reopen_task, first, reason="again")
    play.claimed(first)

    events = asked(cli, play, "log", "--record", lost)["audit"]

    assert [row["action"] for row in events] == ["task.failed", "task.claimed", "task.dispatched"]
    short = asked(cli, play, "log", "--record", lost.partition("_")[2][:11])["audit"]
    assert short == events
    assert asked(cli, play, "show", lost)["audit"] == events[::-1]
    assert len(asked(cli, play, "log", "--record", events[0]["id"])["audit"]) == 1


def test_since_and_until_take_dates_and_full_times(play: Play, run: str, cli: Call) -> None:
    total = asked(cli, play, "log", "--since", "2000-01-01")["page"]["total"]
    assert total > 0
    for given in ("2000-01-01T10:00:00Z", "2000-01-01T10:00:00.000Z", "2000-01-01 10:00:00", "2000-01-01T10:00+14:00"):
        assert asked(cli, play, "log", "--since", given)["page"]["total"] == total
        assert asked(cli, play, "log", "--until", given)["page"]["total"] == 0
    assert asked(cli, play, "log", "--since", "90d")["page"]["total"] == total
    assert asked(cli, play, "log", "--until", "1h")["page"]["total"] == 0
    for given in ("yesterday", "1 hour", "2026-13-01", "now"):
        code, out, _ = cli("log", "--since", given, "-C", str(play.root), "--json")
        assert (code, json.loads(out)["error"]) == (2, "moment_invalid")
        assert given in json.loads(out)["message"]


def test_a_bare_repository_is_read(play: Play, run: str, cli: Call, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(play.root), "bare.git")

    code, out, _ = cli("status", "-C", str(tmp_path / "bare.git"), "--json")
    assert (code, json.loads(out)["run"]["status"]) == (0, "active")
    code, out, _ = cli("task", "add", "--title", "T", "-C", str(tmp_path / "bare.git"), "--json")
    assert (code, json.loads(out)["error"]) == (1, "bare_repository")


def test_reading_creates_no_file_in_the_work_tree(play: Play, run: str, cli: Call) -> None:
    before = sorted(play.root.rglob("*")) if not (play.root / ".git").is_file() else []
    tree = [path for path in before if ".git" not in path.parts[len(play.root.parts) :][:1]]

    for command in ("status", "report", "log", "run", "plan", "task", "dispatch", "gate", "evidence", "doctor"):
        cli(command, "-C", str(play.root))

    after = [path for path in sorted(play.root.rglob("*")) if ".git" not in path.parts[len(play.root.parts) :][:1]]
    assert after == tree
    assert git(play.root, "status", "--short") == ""


def test_json_wins_wherever_it_stands_and_errors_use_the_same_envelope(play: Play, cli: Call) -> None:
    for arguments in (["--json", "status"], ["status", "--json"]):
        code, out, err = cli(*arguments, "--run", "run_000000000000", "-C", str(play.root))
        answer = json.loads(out)
        assert (code, answer["ok"], answer["error"], err) == (1, False, "run_not_found", "")
        assert set(answer) == {"ok", "error", "message", "hint"}


def test_what_could_steer_a_terminal_is_escaped_in_json() -> None:
    text = "".join(envelope({"ok": True, "title": "a\x7f\x1b\u202e“ä”"}.items()))

    assert text == '{"ok": true, "title": "a\\u007f\\u001b\\u202e“ä”"}'


def test_usage_errors_exit_with_two(cli: Call) -> None:
    for arguments in (
        ["nonsense"],
        ["run", "start"],
        ["status", "--what"],
        ["dispatch", "renew", "x", "--lease", "1y"],
        *([noun, "list", option, "-1"] for noun in LISTS for option in ("--limit", "--offset")),
        ["log", "--limit", "-1"],
        ["log", "--offset", "-1"],
        ["status", "--limit", "-1"],
        ["report", "--limit", "-1"],
        ["doctor", "--at", "HEAD", "--fix"],
    ):
        code, _, err = cli(*arguments)
        assert code == 2, (arguments, err)


def test_an_option_that_takes_one_value_is_given_once(play: Play, cli: Call) -> None:
    where = ("-C", str(play.root))
    for words, named in (
        (("run", "start", "--goal", "One", "--goal=Two", *where), "--goal"),
        (("evidence", "add", "--uri", "https://a.example", "--uri", "https://b.example", *where), "--uri"),
        (("status", "--run", "a", "--run-id", "b", *where), "--run' / '--run-id"),
        ((*where, *where, "status"), "-C' / '--workspace"),
        (("check", "--base", "HEAD", "--base", "HEAD", *where), "--base"),
        (("start", "--goal", "One", "--goal", "Two", *where), "--goal"),
    ):
        code, out, err = cli(*words)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: Option '{named}' takes one value and is given 2. [usage]\n")
    assert asked(cli, play, "run", "list")["runs"] == []
    for given in (
        ("run", "start", "--goal", "One", "--json", "--json", *where),
        ("log", "--at", "HEAD", "--at", "HEAD", *where),
        (*where, "status", *where),
        ("evidence", "run", *where, "--", "true", "--goal", "One", "--goal", "Two"),
        ("evidence", "run", *where, "true", "--kind", "One", "--kind", "Two"),
    ):
        assert cli(*given)[0] == 0, given


def test_the_actor_is_the_option_else_the_environment_else_git(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = ("run", "start", "--goal", "G")
    assert asked(cli, play, *start)["run"]["actor"] == "Ada <ada@example.invalid>"
    monkeypatch.setenv("MEMENTO_ACTOR", "agent:env")
    assert asked(cli, play, *start)["run"]["actor"] == "agent:env"
    assert asked(cli, play, *start, "--actor", "agent:option")["run"]["actor"] == "agent:option"


def test_git_memento_is_the_same_command(play: Play) -> None:
    tools = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["git", "memento", "run", "--json"], cwd=play.root, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {"ok": True, "runs": [], "page": {"total": 0, "offset": 0, "shown": 0}}


def test_a_closed_pipe_is_no_error(play: Play, run: str) -> None:
    for number in range(30):
        play.task(f"Task number {number}")
    done = subprocess.run(
        f"{sys.executable} -m memento_git log --limit 0 | head -1; echo ${{PIPESTATUS[0]}}",
        shell=True, cwd=play.root, capture_output=True, text=True, check=True, executable="/bin/bash",
    )  # fmt: skip
    assert "Traceback" not in done.stderr


def unread(play: Play, *arguments: str) -> int:
    """Run a command whose output nobody reads; return its exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*MEMENTO, *arguments], cwd=play.root, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr
    return done.returncode


def test_a_verdict_stays_where_nobody_reads_it(play: Play, run: str) -> None:
    task = play.task()
    assert unread(play, "task", "list") == 0
    (play.root / "log.txt").write_text("typed\n")
    dispatch = play.claimed(task)
    assert unread(play, "dispatch", "complete", dispatch, "--evidence-uri", "file://log.txt") == 0
    assert unread(play, "task", "verify", task) == 1
    assert unread(play, "doctor") == 0
    take_out(play.root, "-r", ".memento/runs/*/evidence/*", message="tidy")
    assert unread(play, "doctor") == 1
    assert unread(play, "task", "show", "zzzz", "--json") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_completion_script(cli: Call, shell: str) -> None:
    code, out, _ = cli("completion", shell)
    assert code == 0
    assert "_MEMENTO_COMPLETE" in out


def test_completion_answers_the_shell(play: Play) -> None:
    environment = {**os.environ, "_MEMENTO_COMPLETE": "bash_complete", "COMP_WORDS": "memento dis", "COMP_CWORD": "1"}
    done = subprocess.run(MEMENTO, cwd=play.root, env=environment, capture_output=True, text=True, check=False)
    assert "plain,dispatch" in done.stdout


def test_a_bug_of_ours_leaves_no_traceback_but_a_file(play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from memento_git.work import overview

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    play.run()
    monkeypatch.setattr(overview, "choose_among", broken)
    code, _, err = cli("status", "-C", str(play.root))
    assert code == 70
    assert "Traceback" not in err
    log = Path(err.split("report it with ")[1].strip())
    assert "ZeroDivisionError" in log.read_text()
    log.unlink()


def test_terminal_control_in_a_text_never_reaches_the_terminal(play: Play, cli: Call) -> None:
    run = play.run()
    path = play.root / ".memento" / "runs" / run / "run.md"
    play.commit(path, path.read_text().replace("Make it work", '"Make \\e[31mit work"'))

    _, out, err = cli("status", "-C", str(play.root))

    assert "\x1b" not in out + err


STEERS = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202ereversed\r\x08"


def steered(text: str) -> set[str]:
    """Return what in an output could steer a terminal."""
    return {letter for letter in text if not letter.isprintable() and letter not in "\n\t"}


def test_no_text_of_the_ledger_and_no_name_steers_a_terminal(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(click.utils, "should_strip_ansi", lambda *_, **__: False)
    task = play.planned_task()
    for path in (*play.root.glob(".memento/runs/*/plans/*/plan.md"), *play.root.glob(".memento/runs/*/tasks/*/*/*.md")):
        path.write_text(path.read_text() + f"words {STEERS} words\n")
    play.commit_all()
    (play.root / ".memento" / "runs" / f"odd {STEERS}").write_text("x\n")
    plan = play.state(play.ledger.view().runs()[0]).ids("plan")[0]
    shows = ("plan", "show", plan), ("task", "brief", task), ("task", "show", task), ("show", plan), ("status",)
    for command in (
        *shows,
        ("doctor",),
        ("report",),
        ("log",),
        ("run", "show", STEERS),
        ("task", "add", "--title", STEERS),
    ):
        for form in ((), ("--json",)):
            _, out, err = cli(*command, "-C", str(play.root), *form)
            ours = {"\x1b"} if not form else set()
            assert steered(out + err) <= ours, command
            assert "\x1b]" not in out + err
            assert "\x1b[2J" not in out + err
    _, out, _ = cli("plan", "show", plan, "--json", "-C", str(play.root))
    assert STEERS[:4] in json.loads(out)["plan"]["body"]


def test_a_plan_is_shown_with_why_it_was_rejected_and_evidence_without_what_is_nothing(
    play: Play, run: str, cli: Call
) -> None:
    plan = play.state(run).canonical
    cli("plan", "reject", plan, "--reason", "too much at once", "-C", str(play.root))
    shown = cli("plan", "show", plan, "-C", str(play.root))[1]
    assert "  rejected  Ada <ada@example.invalid>: too much at once\n" in shown
    assert json.loads(cli("plan", "show", plan, "-C", str(play.root), "--json")[1]).keys() == {"ok", "plan"}
    proof = play.evidence(play.task(run=run))
    told = [line.partition("  ")[0] for line in cli("evidence", "show", proof, "-C", str(play.root))[1].splitlines()]
    assert ("task ids" in told, "task id" in told, "absent" in told) == (True, False, False)


def test_json_belongs_to_the_command_only_before_the_dashes(play: Play, cli: Call) -> None:
    code, out, err = cli("evidence", "run", "-C", str(play.root), "--", "tool", "--json")
    assert (code, out) == (1, "")
    assert "error: " in err


@pytest.mark.parametrize(
    "words",
    [
        ["run", "cancel", "", "--reason", "Why."], ["run", "pause", ""], ["run", "complete", ""], ["run", "show", ""],
        ["archive", ""], ["task", "add", "--title", "More", "--run", ""], ["status", "--run", ""],
        ["gate", "record", "quality_review", "passed", "--task", ""], ["evidence", "list", "--task", ""],
        ["evidence", "run", "--run-id", "", "--", "true"], ["plan", "show", ""], ["diff", ""],
        ["evidence", "run", "--dispatch", "", "--", "true"], ["evidence", "run", "--timeout", "", "--", "true"],
        ["sync", ""], ["sync", "--branch", ""], ["log", "--who", ""], ["evidence", "list", "--query", ""],
        ["settle", ""], ["scan", ""], ["code", "map", ""], ["check", "anchors", ""], ["doctor", "--remote", ""],
        ["note", "retire", "", "--reason", "Why."], ["report", "--out", ""], ["guide", "--out", ""],
        ["export", "--out", ""], ["evidence", "run", "--out", "", "--", "true"], ["task", "bundle", "x", "--out", ""],
    ],
)  # fmt: skip
def test_what_is_named_by_a_variable_that_is_not_set_does_not_mean_another(
    play: Play, run: str, cli: Call, words: list[str]
) -> None:
    before = git(play.root, "rev-parse", "HEAD")
    (at, rest) = (words.index("--"), words[words.index("--") :]) if "--" in words else (len(words), [])

    code, _, err = cli(*words[:at], "-C", str(play.root), *rest)

    assert (code, "it is empty: is a variable not set?" in err) == (2, True)
    assert git(play.root, "rev-parse", "HEAD") == before


@pytest.mark.parametrize(
    "words",
    [
        ["init", "--workspace", ""], ["-C", "", "init"], ["sample-smoke", "--workspace", ""],
        ["enqueue-event", "--workspace", "", "--run-id", "run_x", "--title", "More"],
    ],
)  # fmt: skip
def test_a_workspace_that_is_named_by_nothing_is_not_the_current_folder(
    repo: Path, cli: Call, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(repo)
    code, _, err = cli(*words)
    assert (code, "'--workspace': it is empty: is a variable not set?" in err) == (2, True)
    assert not (repo / ".memento").exists()


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_are_for_a_terminal_whose_user_has_not_asked_for_none(
    play: Play, run: str, environment: dict[str, str], is_coloured: bool
) -> None:
    play.task()
    ours, theirs = os.openpty()
    words = [sys.executable, "-m", "memento_git", "status", "-C", str(play.root)]
    done = subprocess.run(words, stdout=theirs, env={**os.environ, "TERM": "xterm", **environment}, check=True)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)

    assert done.returncode == 0
    assert ("\x1b[32mactive\x1b[0m" in shown, "active" in shown) == (is_coloured, True)
    assert shown.count("\x1b[0m") * 2 == shown.count("\x1b")


def test_uncommitted_files_are_in_the_warnings_of_every_answer(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    path = play.root / ".memento" / "runs" / run / "run.md"
    path.write_text(path.read_text() + "More.\n")

    for command in (
        ["status"], ["log"], ["task"], ["task", "show", task], ["task", "brief", task], ["run", "show"], ["settle"]
    ):  # fmt: skip
        warnings = asked(cli, play, *command)["warnings"]
        assert warnings == [f"not committed, so not counted: .memento/runs/{run}/run.md"], command
    assert "warnings" not in asked(cli, play, "status", "--at", "HEAD")


def test_settle_takes_one_way_at_a_time(play: Play, cli: Call) -> None:
    task = play.task(run=play.run())
    for options in (["--keep", "zzzz", "--void", "zzzz"], ["--void", "zzzz"], []):
        code, out, _ = cli("settle", task, *options, "--reason", "r", "-C", str(play.root), "--json")
        assert (code, json.loads(out)["error"]) == (2, "usage")


def test_settle_lists_at_a_revision_and_settles_only_now(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    asked(cli, play, "settle", "--at", "HEAD")
    for command in (
        ["settle", "--void", "zzzz", "--reason", "r", "--at", "HEAD"],
        ["plan", "--title", "T", "--body", "B", "--at", "HEAD"],
        ["task", "--at", "HEAD", "block", task, "--reason", "r"],
    ):
        code, out, _ = cli(*command, "-C", str(play.root), "--json")
        assert (code, json.loads(out)["error"]) == (2, "usage")


def test_a_terminal_that_is_not_utf8_is_no_bug(play: Play) -> None:
    play.run("Grüße, 世界")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    for form in ([], ["--json"]):
        done = subprocess.run(
            [*MEMENTO, "run", "list", *form], cwd=play.root, env=environment, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert "世界".encode() not in done.stdout
    assert json.loads(done.stdout)["runs"][0]["goal"] == "Grüße, 世界"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_a_refusal_and_no_bug(play: Play) -> None:
    play.run()
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MEMENTO, "status"], cwd=play.root, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, b"[answer_unwritten]" in done.stderr) == (1, True)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MEMENTO, "status", "--json"], cwd=play.root, stdout=full, stderr=full, check=False)
    assert done.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_the_verdict_of_a_command_stays_where_nothing_can_be_said_of_it(play: Play, run: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*MEMENTO, "evidence", "run", "--kind", "test", "--", "sh", "-c", "exit 7"],
            cwd=play.root, stdout=subprocess.DEVNULL, stderr=full, check=False,
        )  # fmt: skip
    assert done.returncode == 7


def into_full(play: Play, *arguments: str) -> tuple[int, str]:
    """Run the command line with a standard output that takes nothing; return exit code and stderr."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MEMENTO, *arguments], cwd=play.root, stdout=full, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_change_whose_answer_is_lost_is_told_as_made_and_never_to_be_run_again(
    play: Play, form: tuple[str, ...]
) -> None:
    play.run()
    code, told = into_full(play, "task", "add", "--title", "Once", *form)
    commit = git(play.root, "rev-parse", "HEAD")
    assert (code, "[answer_lost]" in told, commit[:12] in told) == (1, True, True)
    assert "do not run it again" in told

    code, told = into_full(play, "enqueue-event", "--run-id", play.ledger.view().runs()[0], "--title", "Two", *form)
    assert (code, "[answer_lost]" in told) == (1, True)
    code, told = into_full(play, "session", "start", *form)
    assert (code, "look at what was done" in told or "do not run it again" in told) == (1, True)
    code, told = into_full(play, "task", "add", *form)
    assert (code, "[usage]" in told) == (2, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_note_that_standard_error_does_not_take_changes_no_verdict(play: Play) -> None:
    play.run()
    (play.root / ".memento" / "extra.md").write_text("mine\n")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MEMENTO, "status"], cwd=play.root, stdout=subprocess.PIPE, stderr=full, check=False)
    assert (done.returncode, b"active" in done.stdout) == (0, True)


def test_a_bug_is_told_even_where_nothing_can_be_kept_of_it(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    from memento_git.work import overview

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    play.run()
    monkeypatch.setattr(overview, "choose_among", broken)
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    code, _, err = cli("status", "-C", str(play.root))
    assert code == 70
    assert "ZeroDivisionError" in err
    assert "No space left" in err


def test_names_are_shortened_wherever_they_stand() -> None:
    from memento_git.cli.output import Names

    names = Names(None)
    names.short = {"task": {"task_0123456789ab": "task_0123"}, "run": {"run_0123456789ab": "run_0123"}}
    assert names.within("(task_0123456789ab, run_0123456789ab) task_zzzzzzzzzzzz") == (
        "(task_0123, run_0123) task_zzzzzzzzzzzz"
    )


def test_a_task_says_what_kind_of_work_it_is_and_what_verification_asks(play: Play, cli: Call) -> None:
    play.run()
    task = asked(
        cli, play, "task", "add", "--title", "T", "--kind", "fix", "--risk", "high", "--size", "small",
        "--role", "author", "--check", "pytest -q 'a b'", "--require", "test", "--trust", "witnessed",
        "--attempts", "2", "--cost", "1.5",
    )["task"]  # fmt: skip
    assert (task["kind"], task["risk"], task["size"], task["role"]) == ("fix", "high", "small", "author")
    assert task["budget"] == {"attempts": 2, "cost": 1.5}
    assert task["verification_policy"] == {
        "evidence": ["test"], "trust": "witnessed", "commands": [{"run": ["pytest", "-q", "a b"]}],
    }  # fmt: skip
    again = asked(cli, play, "task", "revise", task["id"], "--risk", "low", "--check", "make test")["task"]
    assert again["risk"] == "low"
    assert again["verification_policy"] == {**task["verification_policy"], "commands": [{"run": ["make", "test"]}]}
    plan = asked(cli, play, "plan", "draft", "--title", "P", "--body", "B", "--check", "make")["plan"]
    assert plan["verification_policy"] == {"commands": [{"run": ["make"]}]}


def test_a_command_that_no_shell_could_read_is_refused(play: Play, cli: Call) -> None:
    play.run()
    code, out, _ = cli("task", "add", "--title", "T", "--check", "echo 'x", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "text_invalid")


def test_who_holds_a_dispatch_is_told_by_what_became_of_it(play: Play, cli: Call) -> None:
    where = ("-C", str(play.root))
    play.planned()
    task, other = play.task(), play.task()
    name = play.claimed(task)
    until = play.state(name).dispatch(name).until[:16].replace("T", " ")
    for verb in (("dispatch", "list"), ("task", "show", task)):
        assert f"claimed by Ada <ada@example.invalid> until {until} UTC" in cli(*verb, *where)[1]
    assert "it was handed to agent, and that is open" in cli("task", "show", task, *where)[1]
    for one, step in ((task, f"recover {name}"), (other, f"create {other} --executor WHO")):
        code, _, err = cli("task", "reopen", one, "--reason", "again", *where)
        assert (code, f" next: it is open; what comes next: memento dispatch {step}\n" in err) == (1, True), err
    told = cli("run", "complete", *where)[2]
    assert f"2 tasks are open: {task} is in progress; {other} is pending" in told
    play.complete(name, play.evidence(task))
    shown = cli("dispatch", "list", *where)[1]
    assert ("by Ada" in shown, "claimed by" in shown) == (True, False)
    taken = play.claimed(other)
    out = cli("dispatch", "recover", taken, "--force", "--reason", "it hangs", *where)[1]
    assert "what the next worker needs, as a bundle: .memento/runs/" in out


def test_a_report_that_a_command_writes_at_the_top_is_named_as_it_is_seen_from_the_folder(
    play: Play, run: str, cli: Call
) -> None:
    below = play.root / "a b"
    below.mkdir()
    write = ("--", "sh", "-c", "echo '<testsuite><testcase name=\"x\"/></testsuite>' > ../out.xml")
    err = cli("evidence", "run", "-C", str(below), "--report", "out.xml", *write)[2]
    assert "report a b/out.xml was not written by the command" in err
    assert "there is out.xml at the top; from this folder that is --report ../out.xml" in err
    err = cli("evidence", "run", "-C", str(below), "--report", "../out.xml", *write)[2]
    assert ("passed, witnessed" in err, "at the top" in err) == (True, False)
    assert "at the top" not in cli("evidence", "run", "-C", str(below), "--report", "no.xml", "--", "true")[2]


def test_a_task_in_the_place_of_its_dispatch_leads_to_that(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    none = asked_wrong(cli, play, "dispatch", "claim", task)
    assert (none["error"], none["hint"]) == (
        "wrong_kind", f"that task is not handed out yet: memento dispatch create {task} --executor WHO"
    )  # fmt: skip
    dispatch = play.dispatch(task)
    for verb in (("claim",), ("complete",), ("fail", "--reason", "no")):
        refused = asked_wrong(cli, play, "dispatch", verb[0], task, *verb[1:])
        assert refused["hint"] == f"that task is handed out as {dispatch}: name the dispatch", verb
    slip = asked_wrong(cli, play, "dispatch", "claim", dispatch.replace("dispatch_", "task_"))
    assert (slip["error"], slip["hint"]) == ("wrong_kind", f"name it by its own kind: {dispatch}")
    chance = asked_wrong(cli, play, "dispatch", "claim", dispatch[:10].replace("dispatch_", "event_"))
    assert (chance["error"], dispatch in chance["hint"]) == ("wrong_kind", False), "that is a beginning of many ids"


def asked_wrong(cli: Call, play: Play, *words: str) -> dict[str, Any]:
    code, out, _ = cli(*words, "--json", "-C", str(play.root))
    assert code == 1
    told: dict[str, Any] = json.loads(out)
    return told


def test_the_examples_that_help_ends_with_run_as_they_stand(
    repo: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in the order of a run; words in capitals are the records made before."""
    (repo / "plan.md").write_text("The form first.\n")
    (repo / "test.sh").write_text("true\n")
    (repo / "form.png").write_text("shown\n")
    (repo / "verbs.yaml").write_text("- {do: task add, title: Another}\n")
    commit_all(repo, "files")
    git(repo, "branch", "-M", "main")
    git(repo, "switch", "-qc", "work")
    monkeypatch.chdir(repo)
    made: dict[str, str] = {}
    for name, line in EXAMPLES.items():
        for more in (("-C", "."), ()):
            assert line in cli(*name.split(), *more, "--help")[1]
        words = [made.get(word, word) for word in shlex.split(line)[1 + len(name.split()) :]]
        code, out, err = cli(*name.split(), "--json", *words)
        assert (code, err) == (0, ""), line
        told = json.loads(out)
        for kind, row in {**told, "dispatch": told}.items():
            if kind in ("plan", "task", "dispatch", "evidence") and "id" in row:
                made.setdefault(kind.upper(), row["id"])
    assert sorted(made) == ["DISPATCH", "EVIDENCE", "PLAN", "TASK"]


def test_who_asks_for_help_after_a_slip_in_the_same_process_gets_it() -> None:
    lines = [["taks", "add", "--titel", "x"], ["task", "ad"], ["task", "add", "-h"]]
    script = f"from memento_git.cli.boundary import spoken\nprint([spoken(line)[0] for line in {lines}])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[2, 2, 0]\n")


def test_who_asks_as_of_git_gets_help(cli: Call) -> None:
    """git hands `git memento -h` to us; for `git memento --help` it asks man for a page."""
    assert cli("-h") == cli("--help")
    assert cli("task", "add", "-h") == cli("task", "add", "--help")
    assert "Example:" in cli("run", "start", "-h")[1]
    root = Path(__file__).parent.parent
    wheel = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    (page,) = [place for place, there in wheel["shared-data"].items() if there == "share/man/man1/git-memento.1"]
    text = (root / page).read_text()
    assert [name for name in COMMANDS if ".B " + name.replace("-", r"\-") not in text] == []
