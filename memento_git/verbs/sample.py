"""sample-smoke: a whole run, from goal to proven work, in a repository of its own."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.ledger.environment import refuse_old, run_in
from memento_git.ledger.git import absolute, answered
from memento_git.ledger.lock import writing
from memento_git.ledger.store import Ledger
from memento_git.model.ids import kind_of
from memento_git.review.report import markdown
from memento_git.verbs import doctor
from memento_git.work import answers
from memento_git.work.actions import dispatches, evidences, plans, runs, setup, tasks
from memento_git.work.overview import overview

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import Row

VERBS: Final = {
    "start": "run start", "plan": "plan draft", "approve_plan": "plan approve", "event": "task add",
    "dispatch": "dispatch create", "claim": "dispatch claim", "evidence": "evidence run",
    "complete": "dispatch complete", "run_complete": "run complete",
}  # fmt: skip
MARK: Final = "memento.sample"
CODE: Final = '"""A sample."""\n\n\ndef greet(name: str) -> str:\n    return f"Hello, {name}!"\n'
TEST: Final = """\
import unittest

from greeting import greet


class GreetingTest(unittest.TestCase):
    def test_it_greets_by_name(self):
        self.assertEqual(greet("Ada"), "Hello, Ada!")
"""


class NotASample(Refused):
    token = "not_a_sample"
    sentence = "{path} is not empty and was not made by sample-smoke"
    hint_ = "give a folder that does not exist yet: memento sample-smoke --workspace FOLDER"


def play(folder: Path, goal: str = "") -> Row:
    """Play a run and return the answer of each step; `ok` tells whether all went well."""
    _project(absolute(folder))
    with Ledger.open(folder, actor="sample") as ledger:
        made = setup.init_ledger(ledger)
        steps: Row = {"init": {"ok": True, "created": made}}
        run = _do(ledger, steps, "start", lambda tx: runs.start_run(tx, goal or "Greet people by name"))
        plan = _do(ledger, steps, "plan", lambda tx: plans.draft_plan(
            tx, "Sample plan", "Write the greeting, test it, keep the test's result as evidence.", run=run
        ))  # fmt: skip
        _do(ledger, steps, "approve_plan", lambda tx: plans.approve_plan(tx, plan))
        task = _do(ledger, steps, "event", lambda tx: tasks.add_task(
            tx, "Greet by name", run=run, criteria=["greet('Ada') returns 'Hello, Ada!'"], files=["greeting.py"]
        ))  # fmt: skip
        handed = _do(ledger, steps, "dispatch", lambda tx: dispatches.create_dispatch(tx, task, "sample"))
        _do(ledger, steps, "claim", lambda tx: dispatches.claim_dispatch(tx, handed))
        draft = evidences.witness(ledger, [sys.executable, "-m", "unittest", "-q"], kind="test", quiet=True)
        proof = _do(ledger, steps, "evidence", lambda tx: evidences.record_draft(tx, draft, tasks=[task]))
        _do(ledger, steps, "complete", lambda tx: dispatches.complete_dispatch(
            tx, handed, [proof], note="The greeting is there, its test passed."
        ))  # fmt: skip
        _do(ledger, steps, "run_complete", lambda tx: runs.complete_run(tx, run))
        return _read_back(ledger, steps, run, folder)


def _do(ledger: Ledger, steps: Row, name: str, act: Callable[[Transaction], str]) -> str:
    """Run one action and keep what its command would answer under the step's name."""

    def told(tx: Transaction) -> tuple[str, Row]:
        identity = act(tx)
        return identity, answers.after(tx, identity)

    identity, row = ledger.change(VERBS[name], told)
    kind = kind_of(identity)
    steps[name] = {"ok": True, **(row if kind == "dispatch" else {kind: row})}
    return identity


def _read_back(ledger: Ledger, steps: Row, run: str, folder: Path) -> Row:
    """Rebuild status and report from the ledger alone, and say whether they show what was done."""
    held = overview(ledger, ledger.view(), run)
    checks = [answer._asdict() for answer in doctor.examine(ledger)]
    proven = [row["proven"] for row in held["tasks"]] == [True]
    steps["dispatches"] = {"ok": True, "dispatches": held["dispatches"]}
    steps["status"] = {"ok": held["run"]["status"] == "completed" and proven, **held}
    steps["report"] = {"ok": True, "text": markdown(held)}
    steps["doctor"] = {"ok": all(check["status"] != "fail" for check in checks), "checks": checks}
    steps["sample_project"] = {"ok": True, "workspace": str(folder)}
    return {"ok": all(step["ok"] for step in steps.values()), **steps}


def _project(folder: Path) -> None:
    """Make a small project under git, unless sample-smoke made it before."""
    refuse_old(_git(Path(), "version"))
    if folder.exists() and any(folder.iterdir()):
        if _git(folder, "config", "--local", "--get", MARK) != "true" or _git(folder, "rev-parse", "--show-prefix"):
            raise NotASample(path=folder)
        return
    with ExitStack() as undone:
        undone.callback(_empty, folder, keep=folder.exists())
        with writing(folder):
            _make(folder)
        undone.pop_all()


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _do_git(folder, "init", "--quiet")
    for key, value in ((MARK, "true"), ("user.name", "Memento sample"), ("user.email", "sample@example.invalid")):
        _do_git(folder, "config", key, value)
    (folder / "greeting.py").write_text(CODE, encoding="utf-8")
    (folder / "test_greeting.py").write_text(TEST, encoding="utf-8")
    (folder / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    _do_git(folder, "add", "--all")
    _do_git(folder, "-c", "commit.gpgSign=false", "commit", "--quiet", "--no-verify", "-m", "A greeting, with its test")


def _empty(folder: Path, *, keep: bool) -> None:
    """Take away what was made of a project, so that the next try finds the folder as this one did."""
    for name in (".git", "greeting.py", "test_greeting.py", ".gitignore"):
        made = folder / name
        shutil.rmtree(made, ignore_errors=True) if made.is_dir() else made.unlink(missing_ok=True)
    if not keep:
        with suppress(OSError):  # somebody else has put something there
            folder.rmdir()


def _do_git(folder: Path, *arguments: str) -> None:
    done = run_in(folder, *arguments)
    answered(arguments, done.returncode, done.stdout, done.stderr)


def _git(folder: Path, *arguments: str) -> str:
    return os.fsdecode(run_in(folder, *arguments).stdout).strip()
