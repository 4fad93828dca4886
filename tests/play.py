"""Verbs that tests speak in: plain git, and the actions with short names."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from memento_git.knowledge.actions import notes
from memento_git.knowledge.note_set import NoteSet
from memento_git.ledger import layout
from memento_git.ledger.store import Ledger
from memento_git.work.actions import dispatches, evidences, gates, plans, runs, tasks
from memento_git.work.overview import overview
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from memento_git.ledger.transaction import Transaction
    from memento_git.model.run_rows import RunRows

    Call = Callable[..., tuple[int, str, str]]  # of the command line: exit code, stdout, stderr


def git(folder: Path, *arguments: str, check: bool = True, data: bytes | None = None) -> str:
    """Run git as a user would; return what it printed."""
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False, input=data)
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(arguments)}: {done.stderr.decode()}")
    return done.stdout.decode().strip()


def commit_all(folder: Path, message: str = "code") -> str:
    """Commit all that lies in a work tree by plain git; return the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")


def take_out(folder: Path, *paths: str, message: str) -> None:
    """Remove files, or all files of folders, and commit that by plain git."""
    git(folder, "rm", "-qr", *paths)
    git(folder, "commit", "-qm", message)


def merge_into(folder: Path, branch: str, other: str) -> None:
    """Switch to a branch and merge another one into it, by plain git."""
    git(folder, "switch", "-q", branch)
    git(folder, "merge", "-q", "--no-edit", other)


def asked(cli: Call, play: Play, *arguments: str) -> dict[str, Any]:
    """Run a command with --json that must succeed; return its answer."""
    code, out, _ = cli(*arguments, "-C", str(play.root), "--json")
    answer: dict[str, Any] = json.loads(out)
    assert code == 0, answer
    assert answer["ok"] is True
    return answer


class Play:
    """A ledger, and the steps that most stories are made of."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.root: Path = ledger.git.top or ledger.git.git_dir
        self.others: list[Play] = []

    def do(self, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Run one action in one commit."""

        def act(tx: Transaction) -> Any:
            return action(tx, *arguments, **options)

        return self.ledger.change(action.__name__, act)

    def beside(self, folder: Path, actor: str = "") -> Play:
        """Return the same verbs over another checkout or as another actor."""
        other = Play(Ledger.open(folder, actor=actor))
        self.others.append(other)
        return other

    def close(self) -> None:
        """Close what was opened beside."""
        for other in self.others:
            other.close()
            other.ledger.close()

    def as_(self, actor: str) -> Play:
        return self.beside(self.root, actor)

    def run(self, goal: str = "Make it work", **options: Any) -> str:
        return str(self.do(runs.start_run, goal, **options))

    def planned(self, goal: str = "Make it work") -> str:
        """Start a run that has a canonical plan."""
        run = self.run(goal)
        self.do(plans.approve_plan, self.do(plans.draft_plan, "Plan", "Do it, show it.", run=run))
        return run

    def planned_task(self, title: str = "A task", **options: Any) -> str:
        """Start a run that has a canonical plan, and add a task to it; return the task."""
        self.planned()
        return self.task(title, **options)

    def task(self, title: str = "A task", **options: Any) -> str:
        return str(self.do(tasks.add_task, title, **options))

    def dispatch(self, task: str, executor: str = "agent", **options: Any) -> str:
        return str(self.do(dispatches.create_dispatch, task, executor, **options))

    def claimed(self, task: str, **options: Any) -> str:
        """Hand a task out and claim it; return the dispatch."""
        return str(self.do(dispatches.claim_dispatch, self.dispatch(task), **options))

    def evidence(self, *tasks: str, code: int = 0, kind: str = "test") -> str:
        """Run a real command as evidence."""
        argv = ["sh", "-c", f"echo checked; exit {code}"]
        draft = evidences.witness(self.ledger, argv, kind=kind, quiet=True)
        return str(self.do(evidences.record_draft, draft, tasks=tasks))

    def complete(self, dispatch: str, *evidence: str) -> str:
        return str(self.do(dispatches.complete_dispatch, dispatch, list(evidence)))

    def proven(self, title: str = "A task", **options: Any) -> str:
        """Add a task and bring it to proven."""
        task = self.task(title, **options)
        self.complete(self.claimed(task), self.evidence(task))
        return task

    def gate(self, gate: str, verdict: str, **options: Any) -> Any:
        return self.do(gates.record_gate, gate, verdict, **options)

    def state(self, record: str, at: Sequence[str] = ()) -> RunState:
        """Return the state of the run that a record belongs to."""
        view = self.ledger.view(at)
        return RunState(view, view.find(record, record.partition("_")[0])[1])

    def status(self, record: str, at: Sequence[str] = ()) -> str:
        """Return what a run, plan or task has come to."""
        state = self.state(record, at)
        kind = record.partition("_")[0]
        return {"run": lambda: state.status, "plan": lambda: state.plan_status(record)}.get(
            kind, lambda: state.task_status(record)
        )()

    def overview(self, run: str = "", **options: Any) -> RunRows:
        """Return what status tells of a run, of the only one where none is named."""
        view = self.ledger.view()
        return overview(self.ledger, view, run or view.runs()[0], **options)

    def steps(self, run: str = "") -> list[str]:
        """Return the commands that status says may follow."""
        return [step["command"] for step in self.overview(run)["next"]]

    def is_proven(self, task: str) -> bool:
        return self.state(task).proof(task).proven

    def policy(self, text: str) -> None:
        """Put a policy in force, by hand and by review."""
        (self.root / layout.CONFIG).write_text(f"version: 1\npolicy:\n{text}")
        self.commit_all("policy")

    def commit(self, path: str | Path, text: str, message: str = "code") -> str:
        """Write a file and commit it by plain git; return the commit."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return self.commit_all(message)

    def commit_all(self, message: str = "code") -> str:
        return commit_all(self.root, message)


def made_of(base: Path, folder: Path, story: Callable[[Play], object]) -> Path:
    """Make a repository out of a copy of another, by a story, if it is not there yet."""
    if not folder.exists():
        shutil.copytree(base, folder)
        with Ledger.open(folder) as opened:
            story(Play(opened))
    return folder


def add(play: Play, text: str, **options: Any) -> str:
    """Add a note; return its id."""
    return str(play.do(notes.add_note, text, **options).id)


def note_set(play: Play, *at: str) -> NoteSet:
    """Return the notes at HEAD, or at revisions."""
    return NoteSet(play.ledger.view(at))
