"""The doors into a ledger, so that a test can try one cheat through each: verbs, files by hand, and merges.

A verb has three doors: the Python API, `memento apply` and the command line. A file that is written by hand and
committed with plain git has three more: the branch itself, a merge of it, and a squash of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git import Ledger, MementoError
from memento_git.folding.fold import plans_of
from memento_git.ledger import codec, layout
from memento_git.model.ids import Ref, kind_of
from memento_git.verbs import batch
from memento_git.work import codestate
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from memento_git.work.state import RunState
    from tests.play import Play

MAIN, WORK = "main", "work"
ADA = "Ada <ada@example.invalid>"


class Doors:
    """A branch `work` of `main`, whose author tries to get around what policy asks."""

    def __init__(self, play: Play, cli: Callable[..., Any]) -> None:
        self.play, self.cli, self.root = play, cli, play.root
        git(self.root, "switch", "-qc", WORK)

    # Verbs.

    def refused(self, token: str, verb: str, *, actor: str = ADA, **options: Any) -> str:
        """Try a verb through API, apply and command line; each refuses with the token and commits nothing."""
        before = git(self.root, "rev-parse", "HEAD")
        with Ledger.open(self.root, actor=actor) as ledger, pytest.raises(MementoError) as caught:
            ledger.change(verb, lambda tx: batch.ACTIONS[verb](tx, **options))
        assert caught.value.token == token, f"API: {caught.value.token}: {caught.value.message}"
        for door, arguments in (("apply", self._step(verb, options)), ("CLI", _line(verb, options))):
            code, out, _ = self.cli(*arguments, "-C", str(self.root), "--actor", actor, "--json")
            answer = json.loads(out)
            assert (code in (1, 2), answer["ok"], answer.get("error")) == (True, False, token), f"{door}: {answer}"
        assert git(self.root, "rev-parse", "HEAD") == before
        return caught.value.message

    def _step(self, verb: str, options: dict[str, Any]) -> tuple[str, str]:
        path = self.root.parent / "verbs.yaml"
        path.write_text(json.dumps([{"do": verb, **options}]))
        return "apply", str(path)

    # Files by hand.

    def forge(
        self, of: str, do: str, *, sees: Iterable[str] | None = None, by: str = ADA, at: str = "", **data: Any
    ) -> str:  # fmt: skip
        """Write an event by hand, with right digests, and commit it with plain git; return its id.

        `sees` are the events that it names; by default the heads of all that a rule would read.
        """
        ledger, state = self.play.ledger, self.play.state(of)
        heads = self._heads(state, of) if sees is None else sees
        after = sorted(str(event.ref) for name in heads if (event := state.event(name)) is not None)
        name, at = ledger.new_id("event"), at or ledger.now()
        text = codec.encode({"do": do, "of": of, "at": at, "by": by, "after": after, **data})
        self.write(f"{layout.folder_of(state.id, of)}/{layout.event_name(at, do, name)}", text)
        return name

    def _heads(self, state: RunState, of: str) -> list[str]:
        groups = {
            "run": [state.id, plans_of(state.id), *state.ids("task")], "plan": [plans_of(state.id), state.id],
            "task": [of, state.id, plans_of(state.id)], "evidence": [of],
        }[kind_of(of)]  # fmt: skip
        return [head for group in groups for head in state.folded(group).heads]

    def witness(
        self, task: str, shown: str = "1 passed\n", *, command: dict[str, Any] | None = None, drop: Iterable[str] = (),
        **data: Any,
    ) -> str:  # fmt: skip
        """Write evidence by hand as if Memento had run a command, with right digests; return its id.

        `command` changes what it says of the command, `data` the rest; `drop` are keys that it goes without.
        """
        ledger, run = self.play.ledger, self.play.state(task).id
        name = ledger.new_id("evidence")
        whole = hashlib.sha256(shown.encode()).hexdigest()
        stdout = {"sha256": whole, "bytes": len(shown), "kept": "stdout.txt", "kept_sha256": whole}
        ran = {
            "argv": ["python3", "check.py"], "cwd": ".", "exit": 0, "seconds": 0.1, "stdout": stdout,
            "stderr": {"sha256": hashlib.sha256().hexdigest(), "bytes": 0}, "tools": {"python": "3.11"},
        }  # fmt: skip
        told = {
            "id": name, "kind": "test", "for": [task], "at": ledger.now(), "by": ADA, "outcome": "passed",
            "command": {**ran, **(command or {})}, "code": codestate.code_now(ledger.git), **data,
        }  # fmt: skip
        folder = self.root / layout.folder_of(run, name)
        folder.mkdir(parents=True)
        (folder / "stdout.txt").write_text(shown)
        kept = {key: value for key, value in told.items() if key not in drop}
        self.write(layout.evidence_path(run, name), codec.encode(kept))
        return name

    def write(self, path: str, data: bytes | str) -> None:
        """Write a file and commit it as any user would."""
        there = self.root / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(data if isinstance(data, bytes) else data.encode())
        self.play.commit_all(f"by hand: {path.rpartition('/')[2]}")

    def edit(self, record: str, old: str, new: str) -> None:
        """Edit the file of a record by hand."""
        text = self.file(record).read_text()
        assert old in text, text
        self.write(self.path(record), text.replace(old, new))

    def remove(self, *records: str) -> None:
        """Remove the files of records, with what they keep."""
        for record in records:
            path = self.file(record)
            git(self.root, "rm", "-qrf", "--", str(path), *(str(one) for one in [path.with_suffix("")] if one.is_dir()))
        git(self.root, "commit", "-qm", "tidy")

    def file(self, record: str) -> Path:
        """Return the file of a run, plan, task, event or piece of evidence."""
        state = self.play.state(record)
        index = state.index
        return self.root / {**index.prose, **index.events, **index.evidence}[record]

    def path(self, record: str) -> str:
        """Return the path of a record's file in the repository."""
        return self.file(record).relative_to(self.root).as_posix()

    def ref(self, record: str) -> Ref:
        """Return the reference to an event or evidence as a right one would be."""
        return Ref(record, codec.digest_of(self.file(record).read_bytes()))

    def event(self, record: str, do: str) -> str:
        """Return the latest event of a verb."""
        return [seen.event.id for seen in self.play.state(record).folded(record).events if seen.event.do == do][-1]

    def completed(self, task: str, *evidence: str, **changes: Any) -> str:
        """Hand a task out, claim it, and write by hand that it is completed on some evidence; return the event."""
        told: dict[str, Any] = {
            "dispatch": changes.pop("dispatch", "") or self.play.claimed(task),
            "code": codestate.code_now(self.play.ledger.git), "text": self.ref(task).digest,
            "evidence": [str(self.ref(name)) for name in evidence],
        }  # fmt: skip
        return self.forge(task, "completed", **{**told, **changes})

    # What it comes to.

    def caught(self, *codes: str) -> str:
        """Assert that `check` ends with 5 and names these codes: on the branch, on a merge and on a squash of it.

        Return what it says of them.
        """
        told = ""
        for door, base in self._arrivals():
            found = self._found(base, 5)
            errors = {row["code"] for row in found if row["severity"] == "error"}
            assert errors >= set(codes), f"{door}: {found}"
            told += "".join(f"{row['message']}\n" for row in found if row["code"] in codes)
        return told

    def warned(self, code: str) -> str:
        """Assert that `check` finds no error and warns with this code; return what it says."""
        told = ""
        for door, base in self._arrivals():
            found = self._found(base, 0)
            assert code in {row["code"] for row in found}, f"{door}: {found}"
            told += "".join(f"{row['message']}\n" for row in found if row["code"] == code)
        return told

    def _arrivals(self) -> Iterator[tuple[str, str]]:
        """Yield a word and the base to give for each way on which a branch comes to the main one."""
        yield "branch", MAIN
        for way, options in (("merge", ["--no-ff", "-m", "merge"]), ("squash", ["--squash"])):
            with self.away():
                git(self.root, "merge", "-q", *options, WORK)
                if way == "squash":
                    git(self.root, "commit", "-qm", "squash")
                yield way, "" if way == "merge" else MAIN

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Be on a commit of `main` that nobody keeps."""
        git(self.root, "switch", "-q", "--detach", MAIN)
        try:
            yield
        finally:
            git(self.root, "switch", "-q", WORK)

    def _found(self, base: str, ends: int) -> list[dict[str, Any]]:
        options = ["--base", base] if base else []
        code, out, _ = self.cli("check", "-C", str(self.root), *options, "--format", "json")
        found: list[dict[str, Any]] = json.loads(out)["findings"]
        assert code == ends, found
        return found

    def unproven(self, task: str, why: str) -> None:
        """Assert that status and release both say that a task is not proven, and why."""
        row = self.task(task)
        assert (row["proven"], any(why in one for one in row["unproven_because"])) == (False, True), row
        assert any(f"task {task} is not proven" in one and why in one for one in self.missing())

    def task(self, task: str) -> dict[str, Any]:
        """Return the row of a task, as `status --json` shows it."""
        rows = self.answer("status", "--run", self.play.state(task).id)["tasks"]
        return next(row for row in rows if row["id"] == task)

    def gate(self, gate: str, scope: str = "") -> str:
        """Return the verdict of a gate, as `status --json` shows it."""
        rows = [row for row in self.answer("status")["gates"] if row["kind"] == gate]
        return next((str(row["status"]) for row in rows if scope in ("", row["scope"])), "none")

    def missing(self, run: str = "") -> list[str]:
        """Return what `gate release` of a run, by default the only one, lacks; it must then refuse."""
        options = ["--run", run] if run else []
        code, out, _ = self.cli("gate", "release", *options, "-C", str(self.root), "--json")
        answer = json.loads(out)
        told: list[str] = answer["missing"]
        assert (code, answer["ok"]) == ((1, False) if told else (0, True)), answer
        return told

    def answer(self, *arguments: str) -> dict[str, Any]:
        """Return what a command that succeeds answers."""
        code, out, _ = self.cli(*arguments, "-C", str(self.root), "--json")
        answer: dict[str, Any] = json.loads(out)
        assert code == 0, answer
        return answer

    def policy(self, text: str, *, branch: str = MAIN) -> None:
        """Commit a policy on the main branch, and have the branch begin there."""
        git(self.root, "switch", "-q", branch)
        self.write(layout.CONFIG, f"version: 1\npolicy:\n{text}")
        git(self.root, "switch", "-q", WORK)
        git(self.root, "merge", "-q", "--no-edit", branch)

    def landed(self) -> None:
        """Let all that the branch has so far be on the main one."""
        git(self.root, "branch", "-qf", MAIN, WORK)

    def free(self, task: str) -> None:
        """Drop the claim's ref, as another clone would not have it."""
        for name in (task, *(one for one in self.play.state(task).dispatches(task))):
            git(self.root, "update-ref", "-d", f"refs/memento/claims/{name}", check=False)


def _line(verb: str, options: dict[str, Any]) -> list[str]:
    """Return a verb with its options as one types it: what must be given comes first, the rest by name."""
    known = inspect.signature(batch.ACTIONS[verb]).parameters
    first: list[str] = []
    rest: list[str] = []
    if verb == "settle void":
        return ["settle", "--void", options["event"], "--reason", options["reason"]]
    if verb.startswith("run "):
        first.append(options.pop("run", ""))
    for name, value in options.items():
        many = isinstance(value, (list, tuple))
        if known[name].default is inspect.Parameter.empty and not many and name != "executor":
            first.append(str(value))
        else:
            for one in value if many else [value]:
                named = "record" if (verb, name) == ("dispatch select", "dispatch") else name.replace("_", "-")
                rest += [f"--{named.removesuffix('s')}"] if name != "files" else []
                rest += [str(one)]
    return [*verb.split(), *first, *rest]
