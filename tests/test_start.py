"""What a short command costs: the modules that it loads, and the processes of git that it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout
from memento_git.review import actions
from memento_git.work.proof import evidence_prefilter
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Play

SCRIPT = """
import sys
from memento_git.cli.boundary import run
code = run(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""

COMPILED = """
import sys
from typing import ForwardRef
from memento_git.cli.boundary import run
code = run(sys.argv[1:])
ours = [module for name, module in [*sys.modules.items()] if name.startswith("memento_git")]
for kind in {held for module in ours for held in vars(module).values() if isinstance(held, type)}:
    types = vars(kind).get("__annotations__", {}).values() if issubclass(kind, tuple) else ()
    if any(isinstance(told, ForwardRef) for told in types):
        print(kind.__module__, kind.__name__, file=sys.stderr)
sys.exit(code)
"""


def loaded(folder: Path, *arguments: str) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return {*done.stderr.split()}


def asked(folder: Path, log: Path, *arguments: str) -> list[str]:
    """Return the commands of git that a command starts."""
    log.unlink(missing_ok=True)
    env = {**os.environ, "GIT_TRACE2_EVENT": str(log)}
    subprocess.run([sys.executable, "-m", "memento_git", *arguments], cwd=folder, env=env, check=True)
    told = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return [one["name"] for one in told if one["event"] == "cmd_name"]


def test_status_after_a_change_lays_a_patch_over_what_is_kept_without_folding_anything(play: Play, run: str) -> None:
    play.proven()
    loaded(play.root, "status")  # and keeps that
    play.claimed(play.task("Another"))
    assert "memento_git.folding.fold" in loaded(play.root, "status")  # and keeps what is other
    assert loaded(play.root, "status").isdisjoint({"memento_git.folding.fold", "memento_git.work.state", "yaml"})


def test_status_of_what_is_kept_loads_nothing_that_judges_or_writes_records(play: Play, run: str) -> None:
    play.proven()
    play.claimed(play.task("At work"))
    play.task("Waiting")
    loaded(play.root, "status")  # and keeps that
    found = loaded(play.root, "status")
    assert found.isdisjoint({"memento_git.model.types", "memento_git.ledger.publish", "memento_git.texts.secrets"})
    assert found.isdisjoint(
        {"memento_git.ledger.scratch", "memento_git.ledger.transaction", "memento_git.work.refusals"}
    )
    assert found.isdisjoint({"memento_git.work.proof.trust", "memento_git.ledger.lock"})
    assert found.isdisjoint({"secrets", "random", "tempfile", "yaml", "hashlib"})


def test_status_of_a_ledger_without_runs_reads_the_policy_once_and_refuses_what_it_is_made_into(play: Play) -> None:
    loaded(play.root, "status")  # and keeps that it can be read
    assert loaded(play.root, "status").isdisjoint({"memento_git.model.policy", "yaml"})
    play.commit(".memento/config.yaml", "version: 1\npolicy: {approve: 2}\n", "a policy that cannot be read")
    for _ in range(2):
        with pytest.raises(subprocess.CalledProcessError):
            loaded(play.root, "status")


def test_a_check_of_a_branch_loads_nothing_that_mends_or_writes_and_no_notes(play: Play, run: str) -> None:
    git(play.root, "switch", "-qc", "work")
    play.proven()
    found = loaded(play.root, "check", "--base", "main")
    assert found.isdisjoint(
        {"memento_git.ledger.publish", "memento_git.ledger.corrections", "memento_git.knowledge.note_set"}
    )
    assert found.isdisjoint(
        {"memento_git.ledger.transaction", "memento_git.ledger.event_writer", "memento_git.ledger.scratch"}
    )
    assert found.isdisjoint({"memento_git.work.nextsteps", "memento_git.work.task_steps", "memento_git.work.rows"})
    assert found.isdisjoint(
        {"memento_git.work.gates.gate_staleness", "memento_git.ledger.archive", "memento_git.ledger.missing_ledger"}
    )
    assert found.isdisjoint({"tempfile", "gzip", "zlib"})


def test_git_is_asked_for_what_a_short_command_has_to_know_and_no_more(play: Play, run: str, tmp_path: Path) -> None:
    task, log = play.task("Waiting"), tmp_path / "log"
    looks = {"rev-parse", "cat-file", "status"}
    asked(play.root, log, "status")  # and keeps that
    assert sorted(asked(play.root, log, "status")) == sorted(looks)
    wanted = {*looks, "var", "update-index", "fast-import", "unpack-objects", "update-ref"}
    assert sorted(asked(play.root, log, "task", "add", "--title", "Next")) == sorted(wanted)
    assert sorted(asked(play.root, log, "task", "block", task, "--reason", "so")) == sorted(wanted)
    assert sorted(asked(play.root, log, "status")) == sorted([*looks, "diff-tree"])
    assert sorted(asked(play.root, log, "status")) == sorted(looks)


def test_git_is_asked_who_reads_where_something_is_claimed_and_nobody_is_named(
    play: Play, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.claimed(play.task())
    asked(play.root, log := tmp_path / "log", "status")  # and keeps that
    assert asked(play.root, log, "status").count("var") == 1
    monkeypatch.setenv("MEMENTO_ACTOR", "agent:reader")
    assert "var" not in asked(play.root, log, "status")


def test_evidence_is_run_with_one_look_at_the_ledger_before_it_and_one_after(
    play: Play, run: str, tmp_path: Path
) -> None:
    task = play.task()
    play.claimed(task)
    found = asked(play.root, tmp_path / "log", "evidence", "run", "--task", task, "--", "true")
    assert found.count("status") == 3  # one is of what the change relies on
    assert found.count("cat-file") == 1  # all code is committed, so its tree is HEAD's
    assert len(found) == 19


def test_a_check_of_a_branch_has_git_look_through_the_evidence_once(
    play: Play, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(play.root, "switch", "-qc", "work")
    play.proven()
    monkeypatch.setattr(evidence_prefilter, "MANY", 0)
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(log := tmp_path / "log"))
    assert not actions.check(play.ledger, base="main").has_errors
    told = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    looks = [one["argv"] for one in told if one["event"] == "start" and "grep" in one["argv"]]
    assert len([words for words in looks if words[-1] == layout.evidence_pattern(run)]) == 1


def test_a_note_that_is_about_no_place_loads_nothing_that_finds_places_in_the_code(play: Play) -> None:
    found = loaded(play.root, "note", "add", "Deploys go out on Mondays.")
    assert found.isdisjoint(
        {"memento_git.knowledge.following", "memento_git.knowledge.pinning", "memento_git.cli.settle"}
    )
    assert found.isdisjoint({"memento_git.code.symbols", "memento_git.ledger.snapshots", "tomllib", "configparser"})


def test_recall_loads_nothing_that_writes(play: Play) -> None:
    found = loaded(play.root, "recall", "deploys")
    assert found.isdisjoint(
        {"memento_git.ledger.transaction", "memento_git.ledger.event_writer", "memento_git.ledger.publish"}
    )
    assert found.isdisjoint({"memento_git.knowledge.note_input", "memento_git.knowledge.watched_paths"})


def test_a_claim_loads_nothing_that_proves_completes_or_takes_back_and_a_block_nothing_that_removes_folders(
    play: Play, run: str
) -> None:
    dispatch = play.dispatch(task := play.task("Waiting"))
    found = loaded(play.root, "dispatch", "claim", dispatch)
    assert found.isdisjoint({"memento_git.work.actions.evidences", "memento_git.work.actions.bundles"})
    assert found.isdisjoint({"memento_git.work.dangers.guard", "memento_git.work.codestate", "shutil", "tempfile"})
    assert found.isdisjoint({"memento_git.work.proof.trust", "memento_git.work.gates.approvals"})
    assert "shutil" not in loaded(play.root, "task", "block", task, "--reason", "so")


@pytest.mark.parametrize("command", [["status"], ["task", "add", "--title", "Next"]])
def test_named_tuples_of_a_short_command_are_those_of_model_tuples(play: Play, run: str, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, *command], cwd=play.root, capture_output=True, text=True, check=True
    )
    assert not done.stderr
