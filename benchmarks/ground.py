"""Repositories to measure in: plain ones, ledgers of a size, a hundred thousand code files."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Final

from measure import Failed, call
from peers import Peers

from memento_git.folding.fold import plans_of
from memento_git.ledger import codec, layout
from memento_git.ledger.store import Ledger
from memento_git.work.actions import evidences, plans, runs, setup
from memento_git.work.dispatch import terms
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memento_git.ledger.transaction import Transaction
    from memento_git.work.actions.evidences import Draft

SMALL_CODE: Final = 500
A_FOLDER: Final = 100
ACTOR: Final = "Bench <bench@example.invalid>"
LEASE_END: Final = "2999-01-01T00:00:00.000Z"


class Ground:
    """The folder that all of one benchmark happens in, and what it is made with."""

    def __init__(self, folder: Path, peers: Peers, env: Mapping[str, str], *, quick: bool) -> None:
        self.folder = folder
        self.peers = peers
        self.env = dict(env)
        self.quick = quick
        self._copies = 0

    @property
    def memento(self) -> Path:
        return self.peers.ours / "memento"

    def size(self, full: int, tiny: int) -> int:
        """Return the size to measure at: the real one, or a tiny one for a smoke test."""
        return tiny if self.quick else full

    def rounds(self, full: int) -> int:
        return 1 if self.quick else full

    def call(self, folder: Path, *arguments: str | Path, data: bytes = b"") -> str:
        return call(arguments, folder, self.env, data)

    def git(self, folder: Path, *arguments: str, data: bytes = b"") -> str:
        return self.call(folder, "git", *arguments, data=data)

    def template(self, name: str) -> tuple[Path, bool]:
        """Return a folder for something that takes long to make, and whether it is made already."""
        place = self.folder / "made" / name
        done = place.with_name(f"{name}.done")
        if not done.exists() and place.exists():
            shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place, done.exists()

    @staticmethod
    def keep(place: Path, note: str = "") -> None:
        place.with_name(f"{place.name}.done").write_text(note, encoding="utf-8")

    @staticmethod
    def note(place: Path) -> str:
        return place.with_name(f"{place.name}.done").read_text(encoding="utf-8")

    def copy(self, place: Path) -> Path:
        """Return a copy to change, its index as fresh as after a `git status` of its user."""
        self._copies += 1
        target = self.folder / "used" / f"{place.name}-{self._copies}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(place, target, symlinks=True)
        self.warm(target)
        return target

    def warm(self, folder: Path) -> None:
        if (folder / ".git").exists():
            self.git(folder, "update-index", "-q", "--refresh")
            self.git(folder, "status", "--porcelain")

    def plain(self, code_files: int = SMALL_CODE) -> Path:
        """Return a repository that holds code alone."""
        place, made = self.template(f"code-{code_files}")
        if not made:
            place.mkdir(parents=True)
            self.git(place, "init", "-q")
            self.git(place, "fast-import", "--quiet", data=b"".join(code_stream(code_files)))
            self.git(place, "reset", "-q", "--hard", "main")
            self.git(place, "gc", "-q")
            self.warm(place)
            self.keep(place)
        return place

    def ledger(self, tasks: int, code_files: int = SMALL_CODE, *, worked: bool = True) -> Path:
        """Return a repository with code and one run of so many tasks, most of them with their whole history.

        The last commit is one of plain git's, as in a repository with people at work: its index knows the trees.
        """
        kind = "worked" if worked else "added"
        place, made = self.template(f"ledger-{tasks}-{kind}-code-{code_files}")
        if not made:
            shutil.copytree(self.plain(code_files), place, symlinks=True)
            self.warm(place)
            run = fill(place, tasks, worked=worked)
            self.git(place, "commit", "-q", "--allow-empty", "-m", "The code goes on")
            self.git(place, "gc", "-q")
            self.warm(place)
            self.keep(place, run)
        return place

    def lifecycle(self, tasks: int, *, worked: bool) -> tuple[Path, str]:
        """Return a store of memento-lifecycle with the same tasks, and its run."""
        place, made = self.template(f"lifecycle-{tasks}-{'worked' if worked else 'added'}")
        if not made:
            self.keep(place, self.peers.fill_lifecycle(place, tasks, worked=worked))
        return place, self.note(place)

    def backlog(self, tasks: int) -> Path:
        return self._peer("backlog", tasks)

    def microbeads(self, tasks: int) -> Path:
        return self._peer("microbeads", tasks)

    def _peer(self, name: str, tasks: int) -> Path:
        """Return a repository that a peer is filled in; used where it is, since one of them keeps absolute paths."""
        place, made = self.template(f"{name}-{tasks}")
        if not made:
            shutil.copytree(self.plain(), place, symlinks=True)
            self.warm(place)
            (self.peers.fill_backlog if name == "backlog" else self.peers.fill_microbeads)(place, tasks)
            self.git(place, "gc", "-q")
            self.warm(place)
            self.keep(place)
        return place


def code_stream(files: int) -> Iterator[bytes]:
    """Yield a fast-import stream of one commit with so many small files, a hundred in each folder."""
    yield b"commit refs/heads/main\ncommitter Bench <bench@example.invalid> 1700000000 +0000\ndata 4\ncode\n"
    for number in range(files):
        text = f"def part_{number}() -> int:\n    return {number}\n".encode()
        path = f"src/part{number // A_FOLDER:04d}/module_{number}.py"
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text), text)


def fill(folder: Path, tasks: int, *, worked: bool) -> str:
    """Make a ledger with one run of so many tasks; of ten tasks eight are proven, one is claimed, one waits."""
    with Ledger.open(folder, actor=ACTOR) as ledger:
        setup.init_ledger(ledger)
        draft = evidences.witness(ledger, ["git", "diff", "--quiet"], kind="test", quiet=True)
        with ledger.transaction("run start") as tx:
            run = runs.start_run(tx, "Make it work")
            plan = plans.draft_plan(tx, "Plan", "Do it, show it.", run=run)
            plans.approve_plan(tx, plan)
        with ledger.transaction("import") as tx:
            for number in range(tasks):
                add_worked(tx, run, number, draft if worked else None)
    return run


def add_worked(tx: Transaction, run: str, number: int, draft: Draft | None) -> None:
    """Write what the actions write for a task, without looking the run up again for each and without claim refs."""
    writer = RunWriter.of(tx)
    state = writer.state(run)
    task = tx.new_id("task")
    data: dict[str, Any] = {
        "id": task, "title": f"Task {number}: make part {number} work", "at": tx.now, "by": tx.actor,
        "criteria": ["its test passes"],
    }  # fmt: skip
    tx.put(layout.prose_path(run, task), codec.encode_prose(data, "Change it, then show it works."))
    tx.touch(run, task)
    stage = number % 10
    if draft is None or stage == 0:
        return
    text = state.prose(task)
    opened = writer.append(
        state, task, "dispatched", reads=(run, plans_of(run)), executor="agent", plan=state.canonical,
        terms=terms.digest(text), asks=terms.asks(text),
    )  # fmt: skip
    name = opened.id.replace("event", "dispatch", 1)
    writer.append(state, task, "claimed", reads=(run,), dispatch=name, until=LEASE_END)
    if stage == 1:
        return
    evidence = tx.new_id("evidence")
    proof: dict[str, Any] = {
        "id": evidence, "kind": "test", "for": [task], "at": tx.now, "by": tx.actor, "outcome": "passed", **draft.data,
    }  # fmt: skip
    encoded = codec.encode(proof)
    tx.put(layout.evidence_path(run, evidence), encoded)
    writer.append(
        state, task, "completed", reads=(run,), dispatch=name, code={"tree": draft.data["code"]["tree"]},
        text=state.prose(task).digest, evidence=[f"{evidence}@{codec.digest_of(encoded)}"],
    )  # fmt: skip


def same_changes(folder: Path) -> list[str]:
    """Return what `git status` says of a work tree."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=folder, capture_output=True, check=False)
    if done.returncode:
        raise Failed(done.stderr.decode())
    return done.stdout.decode().splitlines()
