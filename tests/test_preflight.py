"""Before a run, a hand-off or an executor begins, the work tree and the texts are looked at, as policy weighs it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.ledger.git_status import UncommittedLedger
from memento_git.texts.typed import ReasonRequired
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, plans, verifying
from memento_git.work.dangers import guard
from memento_git.work.dispatch import preflight
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.errors import Refused
    from memento_git.ledger.store import Ledger
    from tests.play import Call, Play


def policy(play: Play, **levels: Any) -> None:
    """Commit a policy of preflight."""
    lines = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in levels.items())
    (play.root / ".memento/config.yaml").write_text(f"version: 1\npolicy:\n  preflight:\n{lines}")
    git(play.root, "commit", "-qam", "policy")


def dirty(root: Path) -> None:
    (root / "app.py").write_text("answer = 43\n")


def untracked(root: Path) -> None:
    (root / "new.py").write_text("")


def detached(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def protected(root: Path) -> None:
    assert git(root, "branch", "--show-current") == "main"


SPOILED: Final[dict[str, tuple[Callable[[Path], None], type[Refused], str]]] = {
    "dirty": (dirty, preflight.DirtyWorktree, "changes that are not committed: app.py"),
    "untracked": (untracked, preflight.UntrackedFiles, "files that git does not track: new.py"),
    "detached": (detached, preflight.DetachedHead, "HEAD is detached"),
    "protected": (protected, preflight.ProtectedBranch, "main is a protected branch"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_what_policy_refuses_stops_a_start_and_a_hand_off_before_anything_is_written(play: Play, name: str) -> None:
    spoil, refusal, message = SPOILED[name]
    task = play.planned_task()
    policy(play, **{"dirty": "ignore", "detached": "ignore", name: "refuse"})
    spoil(play.root)
    head = git(play.root, "rev-parse", "HEAD")
    with pytest.raises(refusal, match=message) as start:
        play.run()
    with pytest.raises(refusal, match=f"before handing out: .*{message}"):
        play.dispatch(task)
    assert start.value.token == {"dirty": "dirty_worktree", "untracked": "untracked_files", "detached": "detached_head",
                                 "protected": "protected_branch"}[name]  # fmt: skip
    assert git(play.root, "rev-parse", "HEAD") == head
    assert play.status(task) == "pending"


@pytest.mark.parametrize("name", ["dirty", "untracked", "protected"])
def test_what_policy_warns_of_is_a_note_and_the_work_goes_on(play: Play, name: str) -> None:
    spoil, _, message = SPOILED[name]
    policy(play, **{name: "warn"})
    spoil(play.root)
    play.planned()
    assert len([note for note in play.ledger.warnings if message in note]) == 1
    play.dispatch(play.task())
    assert len([note for note in play.ledger.warnings if message in note]) == 2


def test_a_detached_head_is_warned_of_once(play: Play) -> None:
    detached(play.root)
    play.run()
    assert len([note for note in play.ledger.warnings if "detached" in note]) == 1


@pytest.mark.parametrize("name", ["dirty", "untracked"])
def test_what_policy_ignores_is_not_told(play: Play, name: str) -> None:
    policy(play, dirty="ignore", untracked="ignore", detached="ignore")
    SPOILED[name][0](play.root)
    play.planned()
    assert play.ledger.warnings == []


def test_staged_deleted_and_renamed_files_are_changes_and_many_are_counted(play: Play) -> None:
    for number in range(6):
        (play.root / f"f{number}.py").write_text("x")
    git(play.root, "add", ".")
    git(play.root, "rm", "-q", "--cached", "app.py")
    play.run()
    assert play.ledger.warnings == [
        "before starting a run: changes that are not committed: app.py, f0.py, f1.py and 4 more"
    ]


def test_the_ledgers_own_files_never_count(play: Play) -> None:
    policy(play, dirty="refuse", untracked="refuse")
    run = play.planned()
    (play.root / ".memento/stray.txt").write_text("x")
    prose = play.root / play.state(run).prose(run).path
    prose.write_text(prose.read_text() + "\nmore\n")
    play.ledger.uncommitted.clear()
    play.run("another")


def test_names_that_steer_a_terminal_are_shown_and_kept_as_plain_text(play: Play) -> None:
    policy(play, untracked="warn")
    (play.root / "a\x1b[31m\nb").write_text("")
    play.run()
    assert play.ledger.warnings == [r"before starting a run: files that git does not track: 'a\x1b[31m\nb'"]


def test_a_full_disk_refuses(play: Play) -> None:
    policy(play, disk=10**15 - 1)
    with pytest.raises(preflight.DiskSpace, match="bytes are free, policy asks for 999999999999999") as refused:
        play.run()
    assert refused.value.token == "disk_space"
    policy(play, disk=0)
    play.run()


def test_what_a_caller_insists_on_refuses_whatever_policy_says(play: Play) -> None:
    policy(play, dirty="ignore")
    dirty(play.root)

    def act(tx: Any) -> None:
        preflight.refuse_unfit(tx, tx.view.policy(), act="run", insist=("dirty", "untracked"))

    with pytest.raises(preflight.DirtyWorktree, match="before running an executor"):
        play.ledger.change("look", act)


def test_an_edited_ledger_file_is_still_refused_after_a_preflight(play: Play, run: str) -> None:
    task = play.task()
    path = play.root / play.state(task).prose(task).path
    path.write_text(path.read_text() + "\nedited\n")
    with pytest.raises(UncommittedLedger, match=task):
        play.dispatch(task)


def processes(trace: Path) -> int:
    return sum('"event":"start"' in line for line in trace.read_text().splitlines())


def test_the_default_looks_without_another_git_process(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.run()
    counts = []
    for number, levels in enumerate(({"dirty": "ignore", "detached": "ignore"}, {"dirty": "warn", "detached": "warn"})):
        policy(play, **levels)
        trace = tmp_path / f"trace{number}"
        monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
        play.run()
        monkeypatch.delenv("GIT_TRACE2_EVENT")
        counts.append(processes(trace))
    assert counts[0] == counts[1]


# Texts.


@pytest.mark.parametrize("where", ["title", "body", "criterion", "goal", "constraint", "plan"])
def test_a_destructive_command_anywhere_in_what_a_worker_reads_is_refused(play: Play, where: str) -> None:
    bad = "Run `git push --force` at the end"
    run = play.run(bad if where == "goal" else "Goal", constraints=[bad] if where == "constraint" else ())
    draft = play.do(plans.draft_plan, "Plan", bad if where == "plan" else "Do it.", run=run)
    play.do(plans.approve_plan, draft)
    task = play.task(
        bad if where == "title" else "A task", body=bad if where == "body" else "",
        criteria=[bad] if where == "criterion" else (),
    )  # fmt: skip
    head = git(play.root, "rev-parse", "HEAD")
    with pytest.raises(guard.DestructiveCommand, match=r"line 1: git push --force \(force_push\)") as refused:
        play.dispatch(task)
    assert refused.value.token == "destructive_command"
    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_rule_is_allowed_by_name_and_with_a_reason_and_that_is_kept(play: Play, run: str) -> None:
    task = play.task(body="Then:\n\n```\ngit rebase main\ngit stash drop\n```\n")
    with pytest.raises(guard.RuleUnknown):
        play.dispatch(task, allow_destructive=["force"])
    with pytest.raises(ReasonRequired):
        play.dispatch(task, allow_destructive=["rewrite_history", "drop_stash"])
    with pytest.raises(guard.DestructiveCommand, match="line 5: git stash drop"):
        play.dispatch(task, allow_destructive=["rewrite_history"], note="agreed")
    dispatch = play.dispatch(task, allow_destructive=["rewrite_history", "drop_stash"], note="agreed with Ada")
    (row,) = play.state(task).dispatches(task).values()
    assert row.opened
    assert row.opened.data["allowed"] == ["drop_stash", "rewrite_history"]
    play.do(dispatches.claim_dispatch, dispatch)
    successor = play.do(dispatches.recover_dispatch, dispatch, force=True, reason="gone", requeue=True)[1]
    opened = play.state(task).opened(successor)
    assert opened
    assert opened.data["allowed"] == ["drop_stash", "rewrite_history"]


def test_policy_may_only_warn_of_a_destructive_command_or_ignore_it(play: Play, run: str) -> None:
    tasks = [play.task(body="Use `git reset --hard`.") for _ in range(2)]
    policy(play, destructive="warn")
    play.dispatch(tasks[0])
    assert any("git reset --hard (discard_changes)" in note for note in play.ledger.warnings)
    policy(play, destructive="ignore")
    play.ledger.warnings.clear()
    play.dispatch(tasks[1])
    assert play.ledger.warnings == []


def test_a_branch_that_policy_protects_is_known_to_the_classifier(play: Play, run: str) -> None:
    task = play.task(body="`git push origin x:release/2`")
    policy(play, branches=["release/*"])
    with pytest.raises(guard.DestructiveCommand, match="push_protected"):
        play.dispatch(task)


def test_an_argv_that_memento_would_start_is_judged_by_the_same_policy(play: Play) -> None:
    with pytest.raises(guard.DestructiveArgv, match="verification: sh -c") as refused:
        guard.refuse_argv(play.ledger.view().policy(), ["sh", "-c", "git clean -fdx"], "verification")
    assert refused.value.token == "destructive_argv"
    policy(play, destructive="warn")
    assert len(guard.refuse_argv(play.ledger.view().policy(), ["rm", "-rf", "."], "verification")) == 1
    policy(play, destructive="ignore")
    assert guard.refuse_argv(play.ledger.view().policy(), ["rm", "-rf", "."], "verification") == []


def test_verification_does_not_start_a_destructive_command(play: Play, run: str) -> None:
    task = play.task(commands=["git clean -fdx"])
    play.complete(play.claimed(task), play.evidence(task))
    untracked(play.root)
    with pytest.raises(guard.DestructiveArgv, match=f"what verification of {task} runs: git clean -fdx"):
        verifying.verify(play.ledger, play.ledger.change, task, quiet=True)
    assert (play.root / "new.py").exists()
    assert play.status(task) == "completed"
    policy(play, destructive="warn")
    verifying.verify(play.ledger, play.ledger.change, task, quiet=True)
    assert not (play.root / "new.py").exists()
    assert any("(discard_changes)" in note for note in play.ledger.warnings)


# The command.


def told(out: str) -> dict[str, str]:
    return {check["name"]: check["level"] for check in json.loads(out)["checks"]}


def test_preflight_shows_all_checks_and_exits_with_1_when_something_would_be_refused(
    ledger: Ledger, repo: Path, cli: Call
) -> None:
    del ledger
    code, out, _ = cli("-C", str(repo), "--json", "preflight")
    assert code == 0
    assert told(out) == dict.fromkeys(
        ("operation", "identity", "dirty", "untracked", "detached", "protected", "disk"), "ok"
    )
    dirty(repo)
    assert told(cli("-C", str(repo), "--json", "preflight")[1])["dirty"] == "warn"
    git(repo, "checkout", "-qb", "work")
    (repo / ".git/MERGE_HEAD").write_text(git(repo, "rev-parse", "HEAD"))
    code, out, _ = cli("-C", str(repo), "--json", "preflight", "--act", "start")
    answer = json.loads(out)
    assert (code, answer["ok"], answer["error"], answer["refused"]) == (1, False, "preflight_refused", True)
    assert told(out)["operation"] == "refuse"
    assert "operation: a merge is in progress" in answer["message"]


def test_preflight_judges_a_command_and_a_text_and_runs_neither(
    ledger: Ledger, repo: Path, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    del ledger
    code, out, _ = cli("-C", str(repo), "--json", "preflight", "--", "git", "checkout", "--", ".")
    assert code == 1
    assert [row["rule"] for row in json.loads(out)["dangers"]] == ["discard_changes"]
    assert cli("-C", str(repo), "preflight", "--", "npm", "install", "--force")[0] == 0
    for line in ("rm -rf /", "git push --force origin main", "git reset --hard && git clean -fdx", "ls;mkfs"):
        assert cli("-C", str(repo), "preflight", "--", line)[0] == 1, "a line in quotes is taken apart"
    assert cli("-C", str(repo), "preflight", "--", "npm install --force")[0] == 0
    (repo / "plan.md").write_text("Fine.\n\n`git push -f`\n")
    code, out, _ = cli("-C", str(repo), "preflight", "--text", str(repo / "plan.md"))
    assert code == 1
    assert "force_push  text, line 3  git push -f" in out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"never `git push -f`\xff")))
    assert cli("-C", str(repo), "preflight", "--text", "-")[0] == 0
    (repo / "plan.md").write_text("Fine.\n" * 200_000 + "`git push -f`\n")
    code, _, err = cli("-C", str(repo), "preflight", "--text", str(repo / "plan.md"))
    assert (code, "[text_too_large]" in err) == (1, True), "what nobody has read is not called fine"


def test_a_mistyped_option_of_preflight_is_refused_and_no_command_to_judge(
    ledger: Ledger, repo: Path, cli: Call
) -> None:
    del ledger
    plan = repo / "plan.md"
    plan.write_text("`git push -f`\n")
    for typed in (("--txt", str(plan)), (f"--texts={plan}",), ("--recrod",), ("--acts", "run"), ("--at", "HEAD")):
        code, out, err = cli("-C", str(repo), "preflight", *typed)
        assert (code, out, "No such option" in err) == (2, "", True), typed
    assert cli("-C", str(repo), "preflight", "git", "push", "--force")[0] == 1, "a command without the two dashes"
    assert cli("-C", str(repo), "preflight", "--", "--force")[0] == 0


def test_preflight_records_its_verdict_on_the_gate_with_its_reasons(play: Play, repo: Path, cli: Call) -> None:
    task = play.planned_task()
    code, out, _ = cli("-C", str(repo), "--json", "preflight", "--record", "--", "rm", "-rf", ".")
    gate = json.loads(out)["gate"]
    assert (code, gate["kind"], gate["status"]) == (1, "preflight_safety", "failed")
    with pytest.raises(no.GateBlocks):
        play.dispatch(task)
    dirty(repo)
    code, out, _ = cli("-C", str(repo), "--json", "preflight", "--record")
    assert (code, json.loads(out)["gate"]["status"]) == (0, "passed")
    event = play.state(task).folded(play.state(task).id).events[-1].event
    assert event.get("reason").startswith("preflight before handing out: dirty: before handing out: changes")
    play.dispatch(task)


def test_run_start_and_dispatch_create_say_it_at_the_command_line(ledger: Ledger, repo: Path, cli: Call) -> None:
    del ledger
    dirty(repo)
    code, _, err = cli("-C", str(repo), "run", "start", "--goal", "G", "--spike")
    assert code == 0
    assert "note: before starting a run: changes that are not committed: app.py" in err
    task = json.loads(cli("-C", str(repo), "--json", "task", "add", "--title", "T", "--body", "`git stash clear`")[1])[
        "task"
    ]["id"]
    code, _, err = cli("-C", str(repo), "dispatch", "create", task, "--executor", "a")
    assert code == 1
    assert "[destructive_command]" in err
    assert "--allow-destructive drop_stash --reason WHY" in err
    code, out, _ = cli(
        "-C", str(repo), "--json", "dispatch", "create", task, "--executor", "a", "--allow-destructive", "drop_stash",
        "--reason", "nothing is stashed",
    )  # fmt: skip
    assert (code, json.loads(out)["allowed_destructive"]) == (0, ["drop_stash"])
    assert json.loads(cli("-C", str(repo), "--json", "task", "show", task)[1])["dangers"][0]["rule"] == "drop_stash"
    assert "destructive commands:" in cli("-C", str(repo), "task", "show", task)[1]


def test_no_parser_is_loaded_for_a_text_without_risky_words() -> None:
    script = """
import sys
from memento_git.model.policy import Policy
from memento_git.work.dangers import guard
assert guard.refuse_text(Policy(), [("body", "Run `pytest -q` in time; `git status` shows it.")]) == []
sys.exit(any(name.startswith(("tree_sitter", "memento_git.work.dangers.destructive")) for name in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
