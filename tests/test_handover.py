"""Handing over for real: a work tree of its own, the executor's own command, and what is recorded of it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import checkouts, claims, handovers
from memento_git.ledger.git import BareRepository
from memento_git.ledger.store import Ledger
from memento_git.model.clock import seconds_of, stamp
from memento_git.model.ids import random_part
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, handover, running, runs, selections, starting, tasks, worktrees
from memento_git.work.actions.handover import HandoverOptions, hand_over
from memento_git.work.actions.setup import init_ledger
from memento_git.work.dangers.guard import DestructiveArgv
from memento_git.work.dispatch import preflight
from memento_git.work.running import capture, children
from memento_git.work.running.capture import CommandNotStarted
from tests.hands import SHOWN, SLEEP, WRITE, answer, at_work, branches, carriers, config, python, run, start, until
from tests.hands import worktrees as trees
from tests.play import Play, commit_all, git

if TYPE_CHECKING:
    from memento_git.model.rows import DispatchRow
    from tests.play import Call

PARTIAL = "open('half.py', 'w').write('half = 1\\n'); open('app.py', 'a').write('more = 1\\n'); raise SystemExit(3)"


def row_of(play: Play, dispatch: str) -> DispatchRow:
    from memento_git.work import answers

    row: DispatchRow = answers.at(play.ledger.view(), dispatch, "dispatch")
    return row


def content(play: Play, commit: str, path: str) -> str:
    return git(play.root, "show", f"{commit}:{path}")


def code_files(play: Play, commit: str) -> list[str]:
    listed = git(play.root, "ls-tree", "-r", "--name-only", commit).split()
    return [path for path in listed if not path.startswith(".memento/")]


# Work trees.


def test_a_hand_over_makes_a_branch_and_a_work_tree_beside_the_repository(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("agent"))

    part = random_part(made.dispatch)
    assert trees(play.root) == [str(play.root.parent / "repo.worktrees" / part)] == [made.path]
    assert git(Path(made.path), "symbolic-ref", "HEAD") == f"refs/heads/memento/{part}"
    assert row_of(play, made.dispatch)["branch"] == f"memento/{part}"
    assert play.status(task) == "dispatched"
    assert git(play.root, "status", "--short") == ""


def test_an_edit_in_the_second_of_the_check_out_with_as_many_bytes_is_seen(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("agent"))
    file, same = Path(made.path) / "app.py", (play.root / "app.py").read_text().swapcase()
    while time.time() % 1 > 0.3:
        time.sleep(0.05)
    file.unlink()
    git(Path(made.path), "checkout-index", "-f", "-u", "app.py")
    file.write_text(same)
    time.sleep(1.1 - time.time() % 1)
    checkout = worktrees.checkout_of(made)
    inside = checkouts.opened(play.ledger.git, checkout)
    assert inside is not None

    assert checkouts.look(inside, made.base).changed
    outcome = run(play, made.dispatch, "open('done.txt', 'w').write('done')")
    assert content(play, outcome.branch, "app.py") == same.strip()


def test_a_dirty_checkout_refuses_a_work_tree_and_queues_nothing(play: Play, task: str) -> None:
    (play.root / "app.py").write_text("answer = 43\n")
    head = git(play.root, "rev-parse", "HEAD")

    with pytest.raises(preflight.DirtyWorktree) as refused:
        hand_over(play.ledger, task, HandoverOptions("agent"))

    assert refused.value.token == "dirty_worktree"
    assert git(play.root, "rev-parse", "HEAD") == head
    assert (play.status(task), trees(play.root), handovers.listed(play.ledger.git)) == ("pending", [], [])
    assert (play.root / "app.py").read_text() == "answer = 43\n"


def test_who_runs_an_executor_beside_open_edits_is_told_how_it_works_without_them_unless_policy_refuses(
    play: Play, task: str, cli: Call
) -> None:
    def refused() -> str:
        (play.root / "app.py").write_text("answer = 43\n")
        told = json.loads(cli("dispatch", "run", task, "-C", str(play.root), "--json", "--", *command)[1])
        assert told["error"] == "dirty_worktree"
        return str(told["hint"])

    command = (sys.executable, "-c", "open('done.txt', 'w').write('done')")
    assert refused().endswith("; or have it work without them: the same with --allow-dirty")
    git(play.root, "checkout", "-q", "app.py")
    play.policy("  preflight: {dirty: refuse}\n")
    assert refused() == "commit or stash them first: git status"


def test_open_edits_are_told_once_to_who_runs_an_executor_beside_them(play: Play, task: str, cli: Call) -> None:
    (play.root / "app.py").write_text("answer = 43\n")
    command = (sys.executable, "-c", "open('done.txt', 'w').write('done')")
    told = cli("dispatch", "run", task, "--allow-dirty", "-C", str(play.root), "--", *command)[2]
    assert "before running an executor: changes that are not committed: app.py" in told
    assert told.count("app.py") == 1


def test_a_brief_is_handed_over_and_its_digest_recorded(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("agent"))

    from memento_git.ledger.codec import digest_of

    text = handovers.brief_path(play.ledger.git, made.dispatch).read_bytes()
    opened = play.state(task).event(made.dispatch.replace("dispatch", "event", 1))
    assert opened is not None
    assert opened.data["brief"] == digest_of(text)
    assert task.encode() in text


def test_a_folder_that_is_not_ours_is_left_alone(play: Play, task: str) -> None:
    folder = play.root.parent / "repo.worktrees"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine\n")

    with pytest.raises(checkouts.FolderForeign):
        hand_over(play.ledger, task, HandoverOptions("agent"))

    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    assert play.status(task) == "pending"


@pytest.mark.parametrize("below", ["", "/deep/er"])
def test_a_file_in_the_place_of_the_folder_for_work_trees_is_told_before_the_dispatch_is_made(
    play: Play, task: str, tmp_path: Path, below: str
) -> None:
    (tmp_path / "file").touch()
    git(play.root, "config", "memento.worktrees", f"{tmp_path}/file{below}")
    before = git(play.root, "rev-parse", "HEAD")

    with pytest.raises(checkouts.FolderForeign, match=f"^{tmp_path}/file is there already"):
        hand_over(play.beside(play.root).ledger, task, HandoverOptions("agent"))

    assert git(play.root, "rev-parse", "HEAD") == before


def test_git_config_names_another_folder_for_work_trees(play: Play, task: str, tmp_path: Path) -> None:
    git(play.root, "config", "memento.worktrees", str(tmp_path / "elsewhere"))

    made = hand_over(play.beside(play.root).ledger, task, HandoverOptions("agent"))

    assert Path(made.path).parent == tmp_path / "elsewhere"


def test_a_work_tree_is_made_from_a_linked_work_tree_too(play: Play, task: str, tmp_path: Path) -> None:
    git(play.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = play.beside(tmp_path / "side")

    outcome = run(side, task, WRITE)

    assert outcome.status == "completed"
    assert side.is_proven(task)
    assert play.status(task) == "pending"
    assert trees(play.root) == [str(tmp_path / "side")]


def test_a_bare_repository_has_no_work_trees_of_ours(play: Play, task: str, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(play.root), "bare.git")
    bare = play.beside(tmp_path / "bare.git")

    with pytest.raises(BareRepository):
        hand_over(bare.ledger, task, HandoverOptions("agent"))


def test_an_unborn_branch_has_nothing_to_start_from(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "empty")
    with Ledger.open(tmp_path / "empty") as ledger, pytest.raises(checkouts.NothingCommitted):
        checkouts.foresee(ledger.git, ledger.settings)


def test_a_work_tree_that_cannot_be_made_takes_the_dispatch_back(play: Play, task: str) -> None:
    git(play.root, "update-ref", "refs/heads/memento", "HEAD")

    with pytest.raises(checkouts.WorktreeFailed) as refused:
        hand_over(play.ledger, task, HandoverOptions("agent"))

    assert "taken back" in refused.value.hint
    assert play.status(task) == "pending"
    assert handovers.listed(play.ledger.git) == []


def test_a_work_tree_that_the_user_removed_is_told_and_not_made_anew(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("agent"))
    git(play.root, "worktree", "remove", "--force", made.path)

    with pytest.raises(checkouts.WorktreeFailed, match="it is gone"):
        run(play, made.dispatch, WRITE)

    assert play.status(task) == "dispatched"


def test_a_person_works_in_the_work_tree_and_completes_from_the_checkout(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    play.do(dispatches.claim_dispatch, made.dispatch)
    inside = Path(made.path)
    (inside / "done.txt").write_text("done\n")
    git(inside, "add", "done.txt")
    git(inside, "commit", "-qm", "mine")
    there = play.beside(inside)
    from memento_git.work.actions import evidences

    draft = evidences.witness(there.ledger, ["test", "-s", "done.txt"], kind="test", quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[task])

    play.complete(made.dispatch, evidence)

    assert play.is_proven(task)
    assert trees(play.root) == []
    assert branches(play.root) == [made.branch]
    assert handovers.listed(play.ledger.git) == []


def test_a_claim_of_the_checkout_is_not_made_again_in_the_work_tree(play: Play, task: str, cli: Call) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    play.do(dispatches.claim_dispatch, made.dispatch)
    there = play.beside(Path(made.path))
    (step,) = json.loads(cli("status", "-C", made.path, "--json")[1])["next"]
    assert step["command"] == "git merge main"
    assert "on branch main, which is not merged here" in step["why"]
    git(play.root, "pack-refs", "--all")
    assert json.loads(cli("status", "-C", made.path, "--json")[1])["next"] == [step]

    with pytest.raises(no.ClaimedElsewhere, match="on branch main") as refused:
        there.do(dispatches.claim_dispatch, made.dispatch)
    assert "git merge main" in refused.value.hint

    git(Path(made.path), "merge", "-q", "main")
    with pytest.raises(no.EvidenceRequired):
        there.complete(made.dispatch)


def test_a_claim_whose_event_was_never_written_is_taken_up_again(play: Play, task: str) -> None:
    from memento_git.ledger import claims

    made = hand_over(play.ledger, task, HandoverOptions("human"))
    claims.take(play.ledger.git, task, claims.Claim(made.dispatch, play.ledger.actor, "2099-01-01T00:00:00.000Z"), None)
    play.do(dispatches.claim_dispatch, made.dispatch)
    assert row_of(play, made.dispatch)["status"] == "claimed"


def test_a_completed_work_tree_with_open_edits_is_left_and_told(play: Play, run: str) -> None:
    task = play.task()
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    play.do(dispatches.claim_dispatch, made.dispatch)
    (Path(made.path) / "open.txt").write_text("not committed\n")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "x")

    play.complete(made.dispatch, str(play.evidence(task)))

    assert any("holds changes that are not committed" in warning for warning in play.ledger.warnings)
    assert (Path(made.path) / "open.txt").read_text() == "not committed\n"


def test_failing_a_dispatch_puts_its_work_aside_and_removes_work_tree_and_branch(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    (Path(made.path) / "half.py").write_text("half = 1\n")
    (Path(made.path) / ".gitignore").write_text("*.log\n")
    (Path(made.path) / "noise.log").write_text("noise\n")
    git(play.root, "branch", "mine")

    play.do(dispatches.fail_dispatch, made.dispatch, reason="too hard", category="unclear")

    partial = row_of(play, made.dispatch)["partial"]
    assert partial == git(play.root, "rev-parse", f"refs/memento/quarantine/{made.dispatch}")
    assert code_files(play, partial) == [".gitignore", "app.py", "half.py"]
    assert (trees(play.root), branches(play.root)) == ([], [])
    assert not (play.root.parent / "repo.worktrees").exists()
    assert git(play.root, "branch", "--format=%(refname:short)").split() == ["main", "mine"]


def test_a_dispatch_without_work_leaves_no_quarantine(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))

    play.do(dispatches.recover_dispatch, made.dispatch, reason="never begun")

    assert row_of(play, made.dispatch)["partial"] is None
    assert git(play.root, "for-each-ref", "refs/memento/quarantine") == ""
    assert (trees(play.root), branches(play.root)) == ([], [])


def test_a_locked_work_tree_is_left_and_told(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    git(play.root, "worktree", "lock", made.path)

    play.do(dispatches.recover_dispatch, made.dispatch, reason="late")

    assert any("was left at" in warning for warning in play.ledger.warnings)
    assert trees(play.root) == [made.path]


# Running.


def test_a_run_completes_a_proven_task_and_leaves_its_work_on_a_branch(play: Play, task: str) -> None:
    (play.root / "scratch.txt").write_text("mine\n")
    (play.root / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (play.root / ".git" / "hooks" / "pre-commit").chmod(0o755)
    head = git(play.root, "rev-parse", "HEAD")

    outcome = run(play, task, WRITE)

    assert outcome.status == "completed"
    assert play.is_proven(task)
    assert outcome.branch == f"memento/{random_part(outcome.dispatch)}"
    assert code_files(play, outcome.branch) == ["app.py", "done.txt"]
    assert code_files(play, "HEAD") == ["app.py"]
    assert git(play.root, "log", "-1", "--format=%s", outcome.branch) == "A task"
    assert git(play.root, "diff", "--stat", head, "HEAD", "--", ":(exclude).memento") == ""
    assert git(play.root, "status", "--short") == "?? scratch.txt"
    assert (trees(play.root), handovers.listed(play.ledger.git)) == ([], [])
    row = row_of(play, outcome.dispatch)
    assert (row["executor_invoked"], row["status"]) == (True, "completed")


def test_the_proof_is_fresh_again_once_the_branch_is_merged(play: Play, task: str) -> None:

    outcome = run(play, task, WRITE)
    state = play.state(task)
    before = play.overview(state.id)["stale"]

    git(play.root, "merge", "-q", "-m", "merge", outcome.branch)

    assert before != []
    assert play.overview(state.id)["stale"] == []
    assert play.is_proven(task)


def test_status_says_to_merge_what_lies_on_a_branch(play: Play, task: str, cli: Call) -> None:
    outcome = run(play, task, WRITE)
    at = ("-C", str(play.root), "--json")
    commands = [step["command"] for step in json.loads(cli("status", *at)[1])["next"]]
    assert commands[0] == f"git merge {outcome.branch}"

    git(play.root, "merge", "-q", outcome.branch)
    commands = [step["command"] for step in json.loads(cli("status", *at)[1])["next"]]
    assert [command for command in commands if command.startswith("git merge")] == []


def test_status_says_to_choose_among_candidates_that_lie_on_branches(play: Play, task: str, cli: Call) -> None:
    wished = [hand_over(play.ledger, task, HandoverOptions("agent", candidate=True)) for _ in range(2)]
    for made in wished:
        run(play, made.dispatch, WRITE)
    at = ("-C", str(play.root), "--json")
    commands = [step["command"] for step in json.loads(cli("status", *at)[1])["next"]]
    assert commands[0] == f"memento dispatch select {task}"

    cli("dispatch", "select", task, "--record", wished[1].dispatch, "--reason", "shorter", *at)
    commands = [step["command"] for step in json.loads(cli("status", *at)[1])["next"]]
    assert commands[0] == f"git merge memento/{wished[1].dispatch.partition('_')[2]}"


def test_status_leads_to_the_worktree_that_a_dispatch_has(play: Play, task: str, cli: Call) -> None:
    def first(root: Path) -> str:
        return str(json.loads(cli("status", "-C", str(root), "--json")[1])["next"][0]["command"])

    made = hand_over(play.ledger, task, HandoverOptions("agent"))
    assert first(play.root) == f"cd {made.path} && memento dispatch claim {made.dispatch}"
    play.do(dispatches.claim_dispatch, made.dispatch)
    assert first(play.root) == f"cd {made.path} && git merge main"
    git(Path(made.path), "merge", "-q", "main")
    assert first(play.root) == f"cd {made.path} && memento status"
    assert first(Path(made.path)).startswith("memento evidence run ")
    with Ledger.open(Path(made.path)) as ledger:
        inside = Play(ledger)
        inside.complete(made.dispatch, inside.evidence(task))
    assert first(play.root) == f"git merge {made.branch}"


def test_nobody_is_led_to_merge_what_workers_in_five_worktrees_have_only_claimed(
    play: Play, run: str, cli: Call
) -> None:
    made = [hand_over(play.ledger, play.task(str(number)), HandoverOptions("agent")) for number in range(5)]
    for one in made:
        with Ledger.open(Path(one.path)) as ledger:
            Play(ledger).do(dispatches.claim_dispatch, one.dispatch)

    steps = json.loads(cli("status", "-C", str(play.root), "--json")[1])["next"]

    assert [step["command"] for step in steps] == [f"memento status --at {one.branch}" for one in made]


def test_what_is_claimed_on_another_branch_of_the_clone_is_not_handed_out_again(
    play: Play, run: str, cli: Call
) -> None:
    task = play.task("One", run=run)
    git(play.root, "branch", "side")
    git(play.root, "worktree", "add", "-q", str(play.root.parent / "side"), "side")
    dispatch = play.claimed(task)
    with Ledger.open(play.root.parent / "side") as ledger:
        side = Play(ledger)
        (step,) = json.loads(cli("status", "-C", str(side.root), "--json")[1])["next"]
        assert step["command"] == "memento status --at main"
        assert step["why"].endswith(" on branch main")
        with pytest.raises(no.TaskClaimedElsewhere, match=f"on branch main, through dispatch {dispatch}"):
            side.dispatch(task)
        git(side.root, "merge", "-q", "main")
        assert side.status(task) == "in_progress"


def test_a_branch_whose_files_git_lacks_is_passed_over_where_a_claim_is_looked_for(
    play: Play, cli: Call, tmp_path: Path
) -> None:
    task = play.task("One", run=play.planned())
    git(play.root, "config", "uploadpack.allowFilter", "true")
    git(play.root, "switch", "-qc", "side")
    play.task("Two")
    git(play.root, "switch", "-q", "main")
    there = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=tree:0", play.root.as_uri(), str(there))
    git(there, "remote", "set-url", "origin", str(tmp_path / "away"))
    clone = play.beside(there)
    soon = stamp(seconds_of(clone.ledger.now()) + 60)
    claims.take(clone.ledger.git, task, claims.Claim(f"dispatch_{'z' * 12}", "Bob", soon), None)
    code, out, _ = cli("status", "-C", str(there), "--json")
    assert (code, json.loads(out)["next"][0]["command"]) == (0, f"memento dispatch create {task} --executor WHO")


def test_what_is_recorded_are_the_run_the_diff_and_the_commands(play: Play, task: str) -> None:
    outcome = run(play, task, WRITE)

    state = play.state(task)
    found = [state.evidence(name) for name in outcome.evidence]
    assert [one.kind for one in found if one] == ["note", "diff", "test"]
    assert [state.trust_in(one) for one in found if one] == ["advisory", "reported", "witnessed"]
    note, diff, _ = found
    assert note is not None
    assert diff is not None
    assert note.data["dispatch"] == outcome.dispatch
    assert note.data["command"]["exit"] == 0
    assert diff.data["diff"]["files"] == ["done.txt"]


def test_an_executor_that_ends_well_proves_nothing_by_itself(play: Play) -> None:
    config(play, "policy: {proof: {note: advisory, test: witnessed}}")
    task = play.planned_task()

    outcome = run(play, task, WRITE)

    assert outcome.status == "completed"
    assert not play.is_proven(task)


def test_a_run_of_which_a_kind_that_is_asked_for_will_be_lacking_says_so_before(play: Play) -> None:
    config(play, "policy: {proof: {diff: verified, test: witnessed, lint: witnessed}, require: [test]}")
    play.planned()
    told = "nothing that is run will prove"

    run(play, play.task(), WRITE)
    assert [one for one in play.ledger.warnings if one.startswith(told)]
    play.ledger.warnings.clear()
    run(play, play.task("Another", commands=[SHOWN]), WRITE)
    assert not [one for one in play.ledger.warnings if one.startswith(told)]


def test_a_run_that_changes_nothing_and_shows_nothing_fails_as_unclear(play: Play) -> None:
    task = play.planned_task()

    outcome = run(play, task, "print('all done, trust me')")

    assert (outcome.status, outcome.category) == ("failed", "unclear")
    assert play.status(task) == "blocked"


def test_a_run_that_changes_nothing_and_passes_says_so_and_names_no_branch_to_merge(
    play: Play, run: str, cli: Call
) -> None:
    task = play.task(commands=["test -s app.py"])

    code, out, err = cli(
        "dispatch", "run", task, "--executor", "liar", "-C", str(play.root), "--", *python("print('all done')")
    )

    assert (code, branches(play.root)) == (0, [])
    assert "liar changed no file: what passes now passed before it began" in err
    assert "git merge" not in out
    assert "liar changed no file." in cli("log", "-C", str(play.root))[1]


def test_a_failing_executor_fails_its_dispatch_and_its_work_is_put_aside(play: Play, task: str) -> None:
    outcome = run(play, task, PARTIAL)

    assert (outcome.status, outcome.category, outcome.exit) == ("failed", "other", 3)
    assert content(play, outcome.partial, "half.py") == "half = 1"
    assert content(play, outcome.partial, "app.py") == "answer = 42\nmore = 1"
    row = row_of(play, outcome.dispatch)
    assert (row["status"], row["category"], row["partial"]) == ("failed", "other", outcome.partial)
    assert (play.root / "app.py").read_text() == "answer = 42\n"
    assert (trees(play.root), branches(play.root)) == ([], [])


def test_a_required_command_that_fails_fails_the_dispatch(play: Play) -> None:
    task = play.planned_task(commands=["test -s other.txt"])

    outcome = run(play, task, WRITE)

    assert (outcome.status, outcome.category) == ("failed", "tests")
    assert content(play, outcome.partial, "done.txt") == "done"
    state = play.state(task)
    assert [found.data["outcome"] for name in outcome.evidence if (found := state.evidence(name))] == [
        "passed", "observed", "failed",
    ]  # fmt: skip
    assert play.ledger.warnings == []


def test_a_required_command_that_fails_is_told_with_what_git_ignores_and_the_worktree_lacks(play: Play) -> None:
    play.commit(".gitignore", "packages/\nreport.xml\n.tool_cache/\n")
    for name in ("packages", ".tool_cache"):
        (play.root / name).mkdir()
        (play.root / name / "x").write_text("")
    (play.root / "packages" / "needed.txt").write_text("")
    (play.root / "report.xml").write_text("")
    play.planned()

    assert run(play, play.task(commands=["test -e packages"]), "open('report.xml', 'w')").status == "failed"

    (told,) = play.ledger.warnings
    assert told.startswith("the worktree lacks what git ignores here: packages/; policy.reproduce.setup names")
    assert run(play, play.task(commands=["test -e packages"]), "import os; os.mkdir('packages')").status == "completed"


def test_a_worktree_is_set_up_before_the_executor_starts(play: Play) -> None:
    play.commit(".gitignore", "packages/\n")
    config(play, "policy: {reproduce: {setup: [[sh, -c, 'mkdir packages && test ! -e stop']]}}\n")
    play.planned()
    look = "import os; assert os.path.isdir('packages')"
    task = play.task(commands=["test -e packages"])
    assert run(play, task, look).status == "completed"
    assert not (play.root / "packages").exists()
    play.commit("stop", "")
    done = run(play, play.task(commands=["true"]), "raise SystemExit(9)")
    assert (done.status, done.category, done.exit) == ("failed", "environment", None)
    assert "policy.reproduce.setup: " in done.reason


def test_no_executor_is_handed_a_task_where_the_set_up_must_not_run(play: Play) -> None:
    config(play, "policy: {reproduce: {setup: [[git, reset, --hard]]}}\n")
    task = play.planned_task(commands=["true"])
    with pytest.raises(DestructiveArgv, match=r"policy\.reproduce\.setup"):
        run(play, task, "")
    assert play.status(task) == "pending"


def test_a_task_that_asks_something_else_by_now_is_not_completed_by_a_run(play: Play, task: str) -> None:
    line = [sys.executable, "-m", "memento_git", "-C", str(play.root), "task", "revise", task, "--accept", "And more."]
    done = run(play, task, f"{WRITE}; import subprocess; subprocess.run({line!r}, check=True)")
    assert (done.status, done.category, play.status(task)) == ("failed", "stopped", "blocked")
    assert "changed after" in done.reason
    assert content(play, done.partial, "done.txt") == "done"
    play.do(tasks.reopen_task, task, reason="with the new words")
    assert run(play, task, WRITE).status == "completed"


def test_changes_of_the_ledger_in_the_work_tree_are_kept_out(play: Play, task: str) -> None:
    code = f"{WRITE}; open('.memento/config.yaml', 'w').write('version: 1\\n'); open('.memento/x.yaml', 'w').write('x')"

    outcome = run(play, task, code)

    changed = git(play.root, "diff", "--name-only", f"{outcome.branch}~1", outcome.branch).split()
    assert changed == ["done.txt"]


def test_an_executor_that_commits_by_itself_or_leaves_the_branch_is_followed(play: Play, task: str) -> None:
    code = (
        f"import subprocess as s; {WRITE}; s.run(['git', 'switch', '-qc', 'its-own'], check=True); "
        "s.run(['git', 'add', '.'], check=True); s.run(['git', 'commit', '-qm', 'its own'], check=True)"
    )
    outcome = run(play, task, code)

    assert outcome.status == "completed"
    assert content(play, outcome.branch, "done.txt") == "done"
    assert "its-own" in git(play.root, "branch", "--format=%(refname:short)").split()


def test_a_repository_within_the_work_tree_is_not_lost(play: Play, task: str) -> None:
    outcome = run(play, task, f"import subprocess; {WRITE}; subprocess.run(['git', 'init', '-q', 'inner'], check=True)")

    assert (outcome.status, outcome.category) == ("failed", "scope")
    assert any("holds what its branch cannot" in warning for warning in play.ledger.warnings)
    assert (Path(trees(play.root)[0]) / "inner" / ".git").is_dir()


def test_what_is_written_into_the_work_tree_after_the_commit_shows_nothing(play: Play, task: str) -> None:
    """Such as by a container that mounts it, whose client has ended; here a filter does it while git adds files."""
    play.commit(".gitattributes", "app.py filter=late\n")
    git(play.root, "config", "filter.late.clean", "sh -c 'echo done > done.txt; cat'")

    outcome = run(play, task, "open('app.py', 'a').write('more = 1\\n')")

    assert (outcome.status, outcome.category) == ("failed", "environment")
    assert "something wrote into its worktree" in outcome.reason
    assert not play.is_proven(task)


GIT = "import os, subprocess; g = lambda *a: subprocess.run(['git', *a], check=True); "
INSIDE = f"{GIT}{WRITE}; g('-c', 'protocol.file.allow=always', 'submodule', 'update', '-q', '--init'); "
COMMIT = "g('-C', 'lib', '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '--allow-empty', '-m', 'x')"


@pytest.fixture
def library(play: Play, tmp_path: Path) -> Path:
    """A submodule `lib` with one file, and the repository that it is of."""
    git(tmp_path, "init", "-q", "library")
    (tmp_path / "library" / "part.py").write_text("part = 1\n")
    commit_all(tmp_path / "library", "part")
    source = str(tmp_path / "library")
    git(play.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "lib")
    play.commit_all()
    return tmp_path / "library"


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "code",
    [
        f"{INSIDE}open('lib/part.py', 'w').write('part = 2')",
        f"{INSIDE}{COMMIT}",
        f"{GIT}{WRITE}; open('lib/part.py', 'w').write('part = 2')",
    ],
)
def test_work_in_a_submodule_is_neither_lost_nor_taken_for_that_of_the_branch(play: Play, task: str, code: str) -> None:
    outcome = run(play, task, code)

    assert (outcome.status, outcome.category) == ("failed", "scope")
    assert "it left what its branch cannot hold: lib" in outcome.reason
    assert (Path(trees(play.root)[0]) / "lib" / "part.py").is_file()


def test_a_submodule_at_another_commit_of_its_own_remote_is_work_of_the_branch(
    play: Play, task: str, library: Path
) -> None:
    (library / "part.py").write_text("part = 2\n")
    git(library, "commit", "-qam", "more")
    newer = git(library, "rev-parse", "HEAD")

    outcome = run(play, task, f"{INSIDE}g('-C', 'lib', 'checkout', '-q', '{newer}')")

    assert outcome.status == "completed"
    assert git(play.root, "rev-parse", f"{outcome.branch}:lib") == newer
    assert trees(play.root) == []


def test_hostile_output_is_cut_redacted_and_made_fit(play: Play, task: str) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    code = (
        f"import sys; {WRITE}; o = sys.stdout.buffer; o.write(b'\\xff\\xfe\\x1b[2J' + '\\u202e'.encode()); "
        f"o.write(b'{token}\\n'); o.write(b'x' * 3000000)"
    )
    outcome = run(play, task, code)

    state = play.state(task)
    note = state.evidence(outcome.evidence[0])
    assert outcome.status == "completed"
    assert note is not None
    stream = note.data["command"]["stdout"]
    assert stream["bytes"] > 3000000
    assert stream["cut"] > 0
    assert stream["redacted"]
    assert token not in git(play.root, "log", "-p", "--format=", "-1", "HEAD")


def test_the_child_knows_its_task_and_nothing_of_gits_variables(
    play: Play, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_PAGER", "evil")
    monkeypatch.setenv("GIT_TRACE2_EVENT", "/nowhere")
    monkeypatch.setenv("MEMENTO_OTHER", "1")
    code = "import os, json; json.dump(dict(os.environ), open('done.txt', 'w'))"

    outcome = run(play, task, code)

    told = json.loads(content(play, outcome.branch, "done.txt"))
    mine = {name: value for name, value in told.items() if name.startswith("MEMENTO_")}
    assert mine["MEMENTO_TASK"] == task
    assert mine["MEMENTO_DISPATCH"] == outcome.dispatch
    assert mine["MEMENTO_ACTOR"] == play.ledger.actor
    assert Path(mine["MEMENTO_BRIEF"]).name == f"{outcome.dispatch}.md"
    assert "MEMENTO_OTHER" not in mine
    assert {"GIT_PAGER", "GIT_TRACE2_EVENT"}.isdisjoint(told)
    assert told["GIT_AUTHOR_NAME"] == "Ada"


@pytest.mark.parametrize("how", [("dispatch", "run"), ("dispatch", "work")])
def test_what_an_executor_reads_names_the_notes_about_the_files_of_its_task(
    play: Play, cli: Call, how: tuple[str, ...]
) -> None:
    play.commit("app.py", "ANSWER = 42\n")
    task = play.planned_task(commands=[SHOWN], files=["app.py"])
    here = ("-C", str(play.root), "--json")
    note = json.loads(cli("note", "add", "The answer is fixed.", "--about", "app.py:1", *here)[1])["note"]["id"]
    copied = "import os, pathlib; pathlib.Path('done.txt').write_text(open(os.environ['MEMENTO_BRIEF']).read())"

    named = [task] if how[1] == "run" else []
    code, out, _ = cli(*how, *named, "--executor", "agent", *here, "--", sys.executable, "-c", copied)

    answer = json.loads(out)
    assert code == 0, answer
    branch = answer["branch"] if named else answer["ended"][0]["branch"]
    assert f"- `{note}` The answer is fixed" in content(play, branch, "done.txt")


def test_placeholders_are_filled_in_and_other_braces_stay(play: Play, task: str) -> None:
    order = running.Order(
        "agent", (sys.executable, "-c", f"import sys; {WRITE}; print(sys.argv[1:])", "{task}", "at={worktree}", "{x}"),
        shown=False,
    )  # fmt: skip
    outcome = running.run_dispatch(play.ledger, task, order)

    state = play.state(task)
    note = state.evidence_named(outcome.evidence[0])
    assert note.data["command"]["argv"][3:] == [task, "at=.", "{x}"]


def test_an_executor_of_the_config_is_started_by_its_name(play: Play, task: str) -> None:
    config(play, f"executors: {{writer: {{run: ['{sys.executable}', '-c', {json.dumps(WRITE)}]}}}}")

    outcome = running.run_dispatch(play.ledger, task, running.Order("writer", shown=False))

    assert (outcome.status, outcome.executor) == ("completed", "writer")


def test_a_dispatch_that_was_made_before_is_run_in_its_work_tree(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("agent"))

    outcome = run(play, made.dispatch, WRITE)

    assert (outcome.status, outcome.dispatch, outcome.branch) == ("completed", made.dispatch, made.branch)
    assert play.ledger.warnings == []


def test_who_is_started_on_anothers_dispatch_is_told_for_whom_that_counts(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("codex"))

    assert run(play, made.dispatch, WRITE).status == "completed"

    told = f"{made.dispatch} was handed to codex: what comes of it counts for codex, and not for agent"
    assert play.ledger.warnings == [told]


def test_the_paths_of_this_machine_stay_out_of_what_is_kept(play: Play, task: str) -> None:
    code = f"import os; {WRITE}; print(os.getcwd(), os.environ['MEMENTO_BRIEF'])"

    run(play, task, code)

    told = git(play.root, "log", "-p", "--format=", "-1", "HEAD")
    assert str(play.root.parent) not in told
    assert "<repository>/.git/memento/handovers/" in told


def test_the_commands_hand_over_and_run(play: Play, task: str, cli: Call) -> None:
    at = ("-C", str(play.root))
    made = json.loads(cli("dispatch", "create", task, "--executor", "x", "--worktree", "--json", *at)[1])
    assert (made["dispatched"], Path(made["worktree"]).is_dir(), made["executor_invoked"]) == (True, True, False)

    code, out, err = cli("dispatch", "run", made["dispatch_id"], *at, "--", *python(f"{WRITE}; print('hello')"))

    assert code == 0
    assert f"completed {task}, proven" in out
    assert f"git merge {made['branch']}" in out
    assert "hello" in err
    code, out, _ = cli("dispatch", "run", play.task("Fails"), "--executor", "x", *at, "--", *python(PARTIAL))
    assert code == 1
    assert "its partial work: git show" in out


# Refusals before anything is handed out.


@pytest.mark.parametrize(
    ("order", "refusal"),
    [
        (running.Order(), starting.ExecutorUnnamed),
        (running.Order("nobody-knows"), starting.NoCommand),
        (running.Order("agent", ("no-such-program-here",)), CommandNotStarted),
        (running.Order("agent", ("git", "push", "--force")), DestructiveArgv),
    ],
    ids=["nobody", "no command", "not installed", "destructive"],
)
def test_what_cannot_be_run_is_refused_before_anything_is_handed_out(
    play: Play, task: str, order: running.Order, refusal: type[Exception]
) -> None:
    head = git(play.root, "rev-parse", "HEAD")

    with pytest.raises(refusal):
        running.run_dispatch(play.ledger, task, order)

    assert git(play.root, "rev-parse", "HEAD") == head
    assert (trees(play.root), handovers.listed(play.ledger.git)) == ([], [])


def test_a_destructive_required_command_is_not_run(play: Play) -> None:
    task = play.planned_task(commands=["git reset --hard HEAD~3"])
    with pytest.raises(DestructiveArgv):
        run(play, task, WRITE)


def test_an_executor_that_cannot_be_started_in_the_work_tree_fails_its_dispatch(play: Play, task: str) -> None:
    outcome = running.run_dispatch(play.ledger, task, running.Order("agent", ("./not-there.sh",), shown=False))

    assert (outcome.status, outcome.category) == ("failed", "environment")


def test_a_task_waits_for_the_merge_of_what_it_rests_on(play: Play, task: str) -> None:
    first = run(play, task, WRITE)
    second = play.task(depends_on=[task], commands=[SHOWN])

    with pytest.raises(handover.DependencyUnmerged) as refused:
        run(play, second, WRITE)
    assert f"git merge {first.branch}" in refused.value.hint

    git(play.root, "merge", "-q", "--squash", first.branch)
    git(play.root, "commit", "-qm", "squashed")
    assert run(play, second, "open('more.txt', 'w').write('1')").status == "completed"


def merge_steps(play: Play) -> list[str]:
    return [command for command in play.steps() if "git merge" in command or "select" in command]


def test_what_was_done_before_a_task_was_reopened_is_not_what_the_next_one_rests_on(play: Play, task: str) -> None:
    first = run(play, task, WRITE)
    git(play.root, "merge", "-q", "--no-edit", first.branch)
    play.do(tasks.reopen_task, task, reason="The answer is wrong.")
    again = run(play, task, "open('done.txt', 'w').write('better\\n')")
    second = play.task(depends_on=[task], commands=[SHOWN])

    with pytest.raises(handover.DependencyUnmerged) as refused:
        run(play, second, WRITE)
    assert f"git merge {again.branch}" in refused.value.hint
    assert merge_steps(play) == [f"git merge {again.branch}"]

    git(play.root, "merge", "-q", "--no-edit", again.branch)
    assert merge_steps(play) == []
    assert run(play, second, "open('more.txt', 'w').write('1')").status == "completed"


def test_a_task_rests_on_the_try_that_was_chosen_whichever_is_merged(play: Play, task: str) -> None:
    loser, winner = [hand_over(play.ledger, task, HandoverOptions("agent", candidate=True)).dispatch for _ in range(2)]
    lost = run(play, loser, "open('done.txt', 'w').write('long\\n' * 99)")
    chosen = run(play, winner, WRITE)
    second = play.task(depends_on=[task], commands=[SHOWN])

    with pytest.raises(handover.DependencyUnchosen) as unchosen:
        run(play, second, WRITE)
    assert f"memento dispatch select {task}" in unchosen.value.hint
    assert merge_steps(play) == [f"memento dispatch select {task}"]

    play.do(selections.select_candidate, task, dispatch=winner, reason="It is short, whatever time it took.")
    for _ in range(2):
        with pytest.raises(handover.DependencyUnmerged) as refused:
            run(play, second, WRITE)
        assert f"git merge {chosen.branch}" in refused.value.hint
        assert merge_steps(play) == [f"git merge {chosen.branch}"]
        git(play.root, "merge", "-q", "--no-edit", lost.branch)

    git(play.root, "merge", "-q", "--no-edit", "-X", "theirs", chosen.branch)
    assert run(play, second, "open('more.txt', 'w').write('1')").status == "completed"


def test_another_clone_is_told_of_work_that_it_was_never_given(play: Play, task: str, tmp_path: Path) -> None:
    first = run(play, task, WRITE)
    second, third = (play.task(depends_on=[task], commands=[SHOWN]) for _ in range(2))
    git(tmp_path, "clone", "-q", "--single-branch", str(play.root), "clone")
    there = play.beside(tmp_path / "clone")

    assert run(there, second, WRITE).status == "completed"
    assert [first.branch in told for told in there.ledger.warnings] == [True]

    git(there.root, "fetch", "-q", "origin", f"{first.branch}:refs/remotes/origin/{first.branch}")
    with pytest.raises(handover.DependencyUnmerged) as refused:
        run(there, third, WRITE)
    assert f"git merge origin/{first.branch}" in refused.value.hint
    assert f"git merge origin/{first.branch}" in merge_steps(there)
    git(there.root, "merge", "-q", "--no-edit", f"origin/{first.branch}")
    there = play.beside(tmp_path / "clone")
    assert run(there, third, "open('more.txt', 'w').write('1')").status == "completed"
    assert there.ledger.warnings == []


def test_one_of_several_tries_is_to_be_chosen_before_it_is_merged(play: Play, task: str, cli: Call) -> None:
    opened = play.dispatch(task, candidate=True)

    code, out, _ = cli("dispatch", "run", opened, "--quiet", "-C", str(play.root), "--", *python(WRITE))

    assert (code, "git merge" in out) == (0, False)
    assert f"next: memento dispatch select {task}" in out


def test_a_dispatch_that_was_made_first_and_run_later_is_told_to_be_merged_too(play: Play, task: str) -> None:
    outcome = run(play, play.dispatch(task), WRITE)

    assert merge_steps(play) == [f"git merge {outcome.branch}"]


# Time-outs, stops, lost claims.


def test_a_time_out_ends_grandchildren_that_left_the_group(play: Play, task: str) -> None:
    code = (
        "import subprocess, sys, time; open('part.txt', 'w').write('1'); "
        f"subprocess.Popen([sys.executable, '-c', {SLEEP!r}], start_new_session=True); time.sleep(600)"
    )
    outcome = run(play, task, code, timeout=1.0)

    assert (outcome.status, outcome.category) == ("failed", "timeout")
    assert carriers(outcome.dispatch) == []
    assert content(play, outcome.partial, "part.txt") == "1"


def test_what_an_executor_leaves_running_is_ended_with_it(play: Play, task: str) -> None:
    code = f"import subprocess, sys; {WRITE}; subprocess.Popen([sys.executable, '-c', {SLEEP!r}])"

    outcome = run(play, task, code)

    assert outcome.status == "completed"
    assert carriers(outcome.dispatch) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_a_signal_stops_the_executor_and_its_work_is_put_aside(play: Play, task: str, number: signal.Signals) -> None:
    code = f"open('part.txt', 'w').write('1'); {SLEEP}"
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "agent", "--", *python(code))
    found = at_work(play)
    until((Path(found.path) / "part.txt").exists, "partial work")

    os.kill(process.pid, number)
    told = answer(process)

    assert (told["ok"], told["outcome"], told["category"]) == (False, "failed", "stopped")
    assert content(play, told["partial"], "part.txt") == "1"
    assert carriers(found.dispatch) == []
    assert (trees(play.root), branches(play.root)) == ([], [])


def test_a_terminals_interrupt_reaches_all_of_its_group_and_the_work_is_put_aside_too(play: Play, task: str) -> None:
    code = f"open('part.txt', 'w').write('1'); {SLEEP}"
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "agent", "--", *python(code))
    found = at_work(play)
    until((Path(found.path) / "part.txt").exists, "partial work")

    os.killpg(process.pid, signal.SIGINT)
    told = answer(process)

    assert (told["ok"], told["outcome"], told["category"]) == (False, "failed", "stopped")
    assert content(play, told["partial"], "part.txt") == "1"
    assert (trees(play.root), branches(play.root)) == ([], [])


def test_a_dispatch_is_stopped_from_another_terminal(play: Play, task: str, cli: Call) -> None:
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "agent", "--", *python(SLEEP))
    found = at_work(play)

    code, out, _ = cli("dispatch", "stop", found.dispatch, "--json", "-C", str(play.root))

    assert (code, json.loads(out)["status"]) == (0, "failed")
    assert answer(process)["category"] == "stopped"
    assert carriers(found.dispatch) == []


def test_nobody_else_runs_completes_or_recovers_what_a_living_worker_holds(play: Play, task: str) -> None:
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "agent", "--", *python(SLEEP))
    found = at_work(play)

    for refused in (
        lambda: run(play, found.dispatch, WRITE),
        lambda: play.do(dispatches.recover_dispatch, found.dispatch),
    ):
        with pytest.raises((worktrees.WorkerAlive, no.NotExpired)):
            refused()
    with pytest.raises(worktrees.WorkerAlive):
        run(play, found.dispatch, WRITE)

    process.terminate()
    answer(process)


def test_a_cancelled_run_stops_its_workers_and_keeps_their_work(play: Play, task: str) -> None:
    config(play, "policy: {lease: 2s}")
    code = f"open('part.txt', 'w').write('1'); {SLEEP}"
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "agent", "--", *python(code))
    found = at_work(play)
    until((Path(found.path) / "part.txt").exists, "partial work")

    play.do(runs.cancel_run, reason="enough")
    told = answer(process)

    assert told["outcome"] == "lost"
    assert content(play, told["partial"], "part.txt") == "1"
    assert carriers(found.dispatch) == []
    assert (trees(play.root), handovers.listed(play.ledger.git)) == ([], [])


def test_a_lease_is_renewed_while_the_executor_works(play: Play, task: str) -> None:
    config(play, "policy: {lease: 1s}")

    outcome = run(play, task, f"import time; time.sleep(2.5); {WRITE}")

    assert outcome.status == "completed"
    done = [seen.event.do for seen in play.state(task).folded(task).events]
    assert "renewed" in done


def test_a_worker_waits_for_a_merge_of_the_users_to_end(play: Play, task: str) -> None:
    wait = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.02)\n"
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "a", "--", *python(wait + WRITE))
    found = at_work(play)
    (play.root / ".git" / "MERGE_HEAD").write_text(git(play.root, "rev-parse", "HEAD") + "\n")
    (Path(found.path) / "go").write_text("")
    until(lambda: not carriers(found.dispatch), "the executor's end")
    assert process.poll() is None

    (play.root / ".git" / "MERGE_HEAD").unlink()

    assert answer(process)["outcome"] == "completed"


# What cancel and pause tell.


def test_cancel_and_pause_tell_incomplete_tasks_and_living_processes(play: Play, task: str, cli: Call) -> None:
    other = play.task("Another task")
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "agent", "--", *python(SLEEP))
    found = at_work(play)
    at = ("-C", str(play.root), "--json")
    status = json.loads(cli("status", *at)[1])

    for verb in (("run", "pause"), ("run", "cancel", "--reason", "enough")):
        told = json.loads(cli(*verb, *at)[1])
        assert {row["task_id"]: row["status"] for row in told["incomplete"]} == {task: "in_progress", other: "pending"}
        assert [(row["dispatch_id"], row["pid"], row["executor"]) for row in told["live"]] == [
            (found.dispatch, process.pid, "agent")
        ]
        assert told["live"] == status["live"]

    assert found.child is not None
    assert status["live"][0]["child_pid"] == found.child.pid
    process.terminate()
    answer(process)


def test_pause_tells_people_how_to_stop_what_goes_on(play: Play, task: str, cli: Call) -> None:
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "agent", "--", *python(SLEEP))
    at_work(play)

    out = cli("run", "pause", "-C", str(play.root))[1]

    assert "1 task is not done" in out
    assert "memento dispatch stop" in out
    process.terminate()
    answer(process)


def test_tasks_are_played_without_processes_as_before(play: Play, run: str) -> None:
    task = play.proven()
    play.do(tasks.reopen_task, task, reason="again")
    assert not (play.root / ".git" / "memento" / "handovers").exists()
    assert init_ledger(play.ledger) is False


def test_a_signal_that_is_to_be_ignored_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `nohup` has it: a hang-up is no wish to stop, whereas an end is."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr(capture, "ENDING", ("SIGHUP", "SIGUSR1"))
    stop = children.Stop()
    try:
        with children.signals(stop):
            signal.raise_signal(signal.SIGHUP)
            assert not stop
            signal.raise_signal(signal.SIGUSR1)
            assert stop.why == "stopped by SIGUSR1"
    finally:
        signal.signal(signal.SIGHUP, before)
