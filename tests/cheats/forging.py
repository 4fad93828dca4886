"""A forger's tools: records, archives, trees and commits that are made by hand, with digests that fit."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from memento_git.folding.fold import plans_of
from memento_git.ledger import archive, codec, layout
from memento_git.model.ids import Ref, kind_of
from memento_git.work import codestate
from memento_git.work.dispatch import terms
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from memento_git.model.work import Event
    from memento_git.work.state import RunState
    from tests.play import Play

MAIN, WORK = "main", "work"
ADA = "Ada <ada@example.invalid>"
GRACE = "Grace <grace@example.invalid>"
GATE = "quality_review"
HARD = "The password is hashed."  # a criterion


class Forger:
    """Somebody who may commit, and writes whatever they like on the branch `work` of `main`."""

    def __init__(self, play: Play) -> None:
        self.play, self.root = play, play.root
        git(self.root, "switch", "-qc", WORK)

    # What is there.

    def path(self, record: str) -> str:
        """Return the path of the file of a run, plan, task, event or piece of evidence."""
        index = self.play.state(record).index
        return {**index.prose, **index.events, **index.evidence}[record]

    def file(self, record: str) -> Path:
        """Return a record's file in the checkout."""
        return self.root / self.path(record)

    def ref(self, record: str) -> Ref:
        """Return the reference to an event or evidence as a right one would be."""
        return Ref(record, codec.digest_of(self.file(record).read_bytes()))

    def event(self, event: str) -> Event:
        """Return an event, or what is left of it."""
        found = self.play.state(event).event(event)
        assert found is not None
        return found

    def last(self, record: str, do: str) -> str:
        """Return the latest event of a verb on a record."""
        return [seen.event.id for seen in self.play.state(record).folded(record).events if seen.event.do == do][-1]

    # Files.

    def write(self, path: str, data: bytes | str, message: str = "by hand") -> None:
        """Write one file as its bytes are given, and commit it as any user would, ignored or not."""
        there = self.root / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(data if isinstance(data, bytes) else data.encode())
        git(self.root, "add", "--force", "--", path)
        git(self.root, "commit", "-qm", message)

    def edit(self, record: str, old: str, new: str) -> None:
        """Edit the file of a record."""
        text = self.file(record).read_text()
        assert old in text, text
        self.write(self.path(record), text.replace(old, new))

    def remove(self, *names: str) -> None:
        """Remove files, or records with what they keep."""
        paths = [self.root / name if "/" in name else self.file(name) for name in names]
        kept = [path.with_suffix("") for path in paths if path.with_suffix("").is_dir()]
        git(self.root, "rm", "-qrf", "--", *(str(path) for path in (*paths, *kept)))
        git(self.root, "commit", "-qm", "tidy")

    # Records.

    def forge(
        self, of: str, do: str, *, sees: Iterable[str] | None = None, by: str = ADA, at: str = "", **data: Any
    ) -> str:  # fmt: skip
        """Write an event and return its id; `sees` are the events that it names, else all heads of what it reads."""
        path, text = self.drafted(of, do, sees=sees, by=by, at=at, **data)
        self.write(path, text, f"{do} by hand")
        return f"event_{path[-17:-5]}"

    def drafted(
        self, of: str, do: str, *, sees: Iterable[str] | None = None, by: str = ADA, at: str = "", **data: Any
    ) -> tuple[str, bytes]:  # fmt: skip
        """Return path and bytes of an event that nobody has written yet.

        A hand-out names what the task asks, as a right one would; None leaves a key of it out.
        """
        ledger, state = self.play.ledger, self.play.state(of)
        heads = _heads_of(state, of) if sees is None else sees
        after = sorted(str(event.ref) for name in heads if (event := state.event(name)) is not None)
        name, at = ledger.new_id("event"), at or ledger.now()
        if do == "dispatched":
            prose = state.prose(of)
            data = {"terms": terms.digest(prose), "asks": terms.asks(prose), **data}
            data = {key: value for key, value in data.items() if value is not None}
        text = codec.encode({"do": do, "of": of, "at": at, "by": by, "after": after, **data})
        return f"{layout.folder_of(state.id, of)}/{layout.event_name(at, do, name)}", text

    def completion(self, task: str, *evidence: str, dispatch: str = "") -> dict[str, Any]:
        """Return the keys of a completion as they would be, were it legal."""
        return {
            "dispatch": dispatch or self.play.claimed(task), "code": codestate.code_now(self.play.ledger.git),
            "text": self.play.state(task).prose(task).digest, "evidence": [str(self.ref(name)) for name in evidence],
        }  # fmt: skip

    def completed(self, task: str, *evidence: str, dispatch: str = "", **changes: Any) -> str:
        """Hand a task out, claim it, and write that it is completed on some evidence; return the event."""
        return self.forge(task, "completed", **{**self.completion(task, *evidence, dispatch=dispatch), **changes})

    def shown(self, about: str, **told: Any) -> str:
        """Write evidence without a command, such as an approval, into the run of a record; return its id."""
        name, run = self.play.ledger.new_id("evidence"), self.play.state(about).id
        whole = {"id": name, "at": self.play.ledger.now(), "by": ADA, "outcome": "passed", **told}
        self.write(layout.evidence_path(run, name), codec.encode(whole))
        return name

    def witness(
        self, task: str, shown: str = "1 passed\n", *, command: dict[str, Any] | None = None, drop: Iterable[str] = (),
        **data: Any,
    ) -> str:  # fmt: skip
        """Write evidence as if Memento had run a command; return its id.

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
        path = layout.evidence_path(run, name)
        kept = self.root / path.removesuffix(".yaml") / "stdout.txt"
        kept.parent.mkdir(parents=True)
        kept.write_text(shown)
        git(self.root, "add", "--force", "--", str(kept))
        self.write(path, codec.encode({key: value for key, value in told.items() if key not in drop}))
        return name

    def packed(self, run: str, files: Mapping[str, bytes]) -> str:
        """Write an archive of a run with a name that fits its bytes; return its path."""
        data = archive.pack(files)
        path = layout.archive_path(run, codec.digest_of(data))
        self.write(path, data, "an archive by hand")
        return path

    # Trees and commits that no command of a user's would make.

    def commit_tree(self, tree: str, *parents: str, message: str = "by hand") -> str:
        """Return a commit of any tree with any parents."""
        return git(self.root, "commit-tree", tree, *(word for one in parents for word in ("-p", one)), "-m", message)

    def blob(self, data: bytes) -> str:
        """Write an object of these bytes."""
        return git(self.root, "hash-object", "-w", "--stdin", data=data)

    def raw_tree(self, entries: Iterable[tuple[str, str, str]]) -> str:
        """Write a tree of (mode, name, id) as it stands, also one that git would not make."""
        data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries)
        return git(self.root, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=data)

    def entries(self, tree: str) -> list[tuple[str, str, str]]:
        """Return (mode, name, id) of a tree."""
        lines = git(self.root, "ls-tree", "-z", tree).strip("\0").split("\0")
        heads = [(line.partition("\t")[0].split(" "), line.partition("\t")[2]) for line in lines]
        return [(head[0].lstrip("0"), name, head[2]) for head, name in heads]

    def adopt(self, commit: str) -> None:
        """Let the branch be a commit that was made by hand, without a checkout of it."""
        git(self.root, "update-ref", f"refs/heads/{WORK}", commit)
        git(self.root, "read-tree", commit)

    # Branches.

    def landed(self) -> None:
        """Let all that the branch has so far be on the main one."""
        git(self.root, "branch", "-qf", MAIN, WORK)

    def policy(self, text: str, *, branch: str = MAIN) -> None:
        """Commit a policy; on the main branch, the branch then has it as well."""
        self.config(f"policy:\n{text}", branch=branch)

    def config(self, text: str, *, branch: str = MAIN) -> None:
        """Commit a configuration: what comes after its version."""
        git(self.root, "switch", "-q", branch)
        self.write(layout.CONFIG, f"version: 1\n{text}", "config")
        git(self.root, "switch", "-q", WORK)
        if branch != WORK:
            git(self.root, "merge", "-q", "--no-edit", branch)


def _heads_of(state: RunState, of: str) -> list[str]:
    """Return the heads of all that a rule on this record reads."""
    groups = {
        "run": [state.id, plans_of(state.id), *state.ids("task")], "plan": [plans_of(state.id), state.id],
        "task": [of, state.id, plans_of(state.id)], "evidence": [of],
    }[kind_of(of)]  # fmt: skip
    return [head for group in groups for head in state.folded(group).heads]


def rewritten(root: Path, run: str, changed: Mapping[str, Callable[[bytes], bytes]]) -> None:
    """Change files of a run in a checkout, and then every digest that names them, until the whole chain fits again."""
    folder = root / layout.RUNS / run
    held = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    digests = {path: codec.digest_of(data) for path, data in held.items()}
    for name, edit in changed.items():
        held[root / name] = edit(held[root / name])
    while moved := {
        digests[path]: new for path, data in held.items() if (new := codec.digest_of(data)) != digests[path]
    }:
        digests = {path: codec.digest_of(data) for path, data in held.items()}
        for path, data in held.items():
            for old, new in moved.items():
                data = data.replace(old.encode(), new.encode())  # noqa: PLW2901 (one name for what is being rewritten)
            held[path] = data
    for path, data in held.items():
        path.write_bytes(data)
