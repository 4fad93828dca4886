"""The peers, installed from their registries into throw-away folders, and filled to a size."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from measure import Failed, call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LIFECYCLE_FILL: Final = '''
import sqlite3, sys
from dataclasses import replace
from memento.domain import Evidence, MementoPlan, TaskStatus
from memento.events import enqueue_event_task
from memento.state import SQLiteStateStore

class Quick(SQLiteStateStore):
    """The same store over one connection that does not wait for the disk."""
    held = None
    def _connect(self):
        if self.held is None:
            self.held = sqlite3.connect(self.path)
            self.held.row_factory = sqlite3.Row
            self.held.execute("PRAGMA synchronous=OFF")
            self.held.execute("PRAGMA journal_mode=MEMORY")
        return self.held

folder, count, worked = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "worked"
store = Quick(SQLiteStateStore.default_path(folder))
run = store.create_run(goal="Make it work", workspace=folder)
plan = store.save_plan(MementoPlan(run_id=run.id, title="Plan", body="Do it, show it."))
store.approve_plan(run.id, plan.id)
for number in range(count):
    task = enqueue_event_task(store, {
        "run_id": run.id, "title": f"Task {number}: make part {number} work", "body": "Change it, then show it works.",
        "acceptance_criteria": ["its test passes"],
    }).task
    stage = (number % 10) if worked else 0
    if stage == 0:
        continue
    store.append_audit(run.id, actor="bench", action="task.dispatch_queued", payload={"task_id": task.id})
    store.append_audit(run.id, actor="bench", action="task.dispatch_claimed", payload={"task_id": task.id})
    if stage == 1:
        store.save_task(replace(task, status=TaskStatus.IN_PROGRESS))
        continue
    store.save_evidence(Evidence(
        run_id=run.id, kind="dispatch_result", summary="done", uri="file://log", task_id=task.id
    ))
    store.save_task(replace(task, status=TaskStatus.COMPLETED))
    store.append_audit(run.id, actor="bench", action="task.dispatch_completed", payload={"task_id": task.id})
store._connect().close()
print(run.id)
'''


class Peers:
    """Where each peer's program is; installed when it is first asked for."""

    def __init__(self, folder: Path, source: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.source = source
        self.env = dict(env)
        self.versions: dict[str, str] = {}
        self._ours: Path | None = None

    def _venv(self, name: str, *packages: str) -> Path:
        place = self.folder / name
        if not (place / "bin" / "python").exists():
            self._call(sys.executable, "-m", "venv", place)
            self._call(place / "bin" / "pip", "install", "--quiet", *packages)
        return place / "bin"

    def _call(self, *arguments: str | Path) -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        return call(arguments, self.folder, self.env)

    @property
    def ours(self) -> Path:
        """Return the folder of our own programs, installed from this checkout as users install them."""
        if self._ours is None:
            self._ours = self._venv("ours", str(self.source))
            self._call(self._ours / "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(self.source))
        return self._ours

    @property
    def lifecycle(self) -> Path:
        place = self._venv("lifecycle", "memento-lifecycle")
        self._version(place, "memento-lifecycle")
        return place

    @property
    def microbeads(self) -> Path:
        place = self._venv("microbeads", "microbeads")
        self._version(place, "microbeads")
        return place / "mb"

    @property
    def backlog(self) -> Path:
        place = self.folder / "backlog"
        program = place / "node_modules" / ".bin" / "backlog"
        if not program.exists():
            place.mkdir(parents=True, exist_ok=True)
            call(["npm", "install", "--no-audit", "--no-fund", "--silent", "backlog.md"], place, self.env)
        if "backlog.md" not in self.versions:
            self.versions["backlog.md"] = self._call(program, "--version").strip()
        return program

    def _version(self, place: Path, name: str) -> None:
        if name not in self.versions:
            code = f"import importlib.metadata as m; print(m.version({name!r}))"
            self.versions[name] = self._call(place / "python", "-c", code).strip()

    def fill_lifecycle(self, folder: Path, tasks: int, *, worked: bool) -> str:
        """Fill a store through its own classes; return the run's id."""
        folder.mkdir(parents=True, exist_ok=True)
        script = self.folder / "fill_lifecycle.py"
        program = self.lifecycle / "python"
        script.write_text(LIFECYCLE_FILL, encoding="utf-8")
        return self._call(program, script, folder, str(tasks), "worked" if worked else "added").strip()

    def fill_backlog(self, folder: Path, tasks: int) -> None:
        """Let it make one task, then copy that file under further numbers; commit all."""
        self._run(folder, self.backlog, "init", "bench", "--defaults", "--agent-instructions", "none")
        config = folder / "backlog" / "config.yml"
        text = config.read_text(encoding="utf-8").replace("auto_commit: false", "auto_commit: true")
        config.write_text(text.replace("remote_operations: true", "remote_operations: false"), encoding="utf-8")
        self._run(folder, "git", "add", "--all")
        self._run(folder, "git", "commit", "-qm", "backlog")
        self._run(folder, self.backlog, "task", "create", "Task 1", "-d", "Change it.", "--ac", "its test passes")
        first = next((folder / "backlog" / "tasks").glob("task-1 *.md"))
        text = first.read_text(encoding="utf-8")
        for number in range(2, tasks + 1):
            told = text.replace("TASK-1\n", f"TASK-{number}\n").replace("Task 1\n", f"Task {number}\n")
            told = told.replace("ordinal: 1000", f"ordinal: {number * 1000}")
            first.with_name(f"task-{number} - Task-{number}.md").write_text(told, encoding="utf-8")
        self._run(folder, "git", "add", "--all")
        self._run(folder, "git", "commit", "-qm", "tasks", "--allow-empty")
        if not self._run(folder, self.backlog, "task", str(tasks), "--plain").count(f"TASK-{tasks}"):
            raise Failed("backlog.md does not see the tasks that it was filled with")

    def fill_microbeads(self, folder: Path, tasks: int) -> None:
        """Let it make one issue, then copy that file under further ids; commit all."""
        self._run(folder, self.microbeads, "init", "--stealth")
        made = json.loads(self._run(folder, self.microbeads, "--json", "create", "Task 1", "-d", "Change it."))
        held = folder / ".git" / "microbeads-worktree"
        first = next(held.rglob(f"{made['id']}.json"))
        prefix = made["id"].rpartition("-")[0]
        text = first.read_text(encoding="utf-8")
        for number in range(2, tasks + 1):
            identity = f"{prefix}-{number:08x}"
            told = text.replace(made["id"], identity).replace("Task 1", f"Task {number}")
            first.with_name(f"{identity}.json").write_text(told, encoding="utf-8")
        self._run(folder, self.microbeads, "sync")
        if len(json.loads(self._run(folder, self.microbeads, "--json", "list"))) < tasks:
            raise Failed("microbeads does not see the issues that it was filled with")

    def _run(self, folder: Path, *arguments: str | Path) -> str:
        return call(arguments, folder, self.env)
