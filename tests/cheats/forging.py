"""A forger's tools: events, archives, trees and commits made by hand, and what `check` says of them at every door.

A forged ledger has four doors into the main branch: the branch itself, the same seen in a bare repository as a server
hook sees it, the merge of it and the squash of it.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from memento_git.folding.fold import plans_of
from memento_git.ledger import archive, codec, layout
from memento_git.model.ids import kind_of, parse_ref
from memento_git.work import codestate
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from memento_git.work.state import RunState
    from tests.play import Play

    Cli = Callable[..., tuple[int, str, str]]

MAIN, WORK = "main", "work"
ADA = "Ada <ada@example.invalid>"
RUN = f"{layout.RUNS}/"


class Forge:
    """A branch `work` of `main` on which somebody who may commit writes whatever they like."""

    def __init__(self, play: Play, cli: Cli) -> None:
        self.play, self.cli, self.root = play, cli, play.root
        git(self.root, "switch", "-qc", WORK)

    # What is written by hand.

    def write(self, path: str, data: bytes | str, message: str = "by hand") -> str:
        """Write one file as its bytes are given and commit it; return the commit."""
        there = self.root / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(data if isinstance(data, bytes) else data.encode())
        git(self.root, "add", "--force", "--", path)
        git(self.root, "commit", "-qm", message)
        return git(self.root, "rev-parse", "HEAD")

    def event(
        self, of: str, do: str, *, sees: Iterable[str] | None = None, by: str = ADA, at: str = "", **data: Any
    ) -> str:  # fmt: skip
        """Write an event with right digests; `sees` are the events that it names, else all heads of what it reads."""
        path, text = self.drafted(of, do, sees=sees, by=by, at=at, **data)
        self.write(path, text, f"{do} by hand")
        return f"event_{path[-17:-5]}"

    def drafted(
        self, of: str, do: str, *, sees: Iterable[str] | None = None, by: str = ADA, at: str = "", **data: Any
    ) -> tuple[str, bytes]:  # fmt: skip
        """Return path and bytes of an event that nobody has written yet."""
        ledger, state = self.play.ledger, self.play.state(of)
        heads = heads_of(state, of) if sees is None else sees
        after = sorted(str(event.ref) for name in heads if (event := state.event(name)) is not None)
        name, at = ledger.new_id("event"), at or ledger.now()
        text = codec.encode({"do": do, "of": of, "at": at, "by": by, "after": after, **data})
        return f"{layout.folder_of(state.id, of)}/{layout.event_name(at, do, name)}", text

    def completion(self, task: str, *evidence: str, dispatch: str = "") -> dict[str, Any]:
        """Return the keys of a completion as they would be, were it legal."""
        state = self.play.state(task)
        refs = [f"{name}@{found.digest}" for name in evidence if (found := state.evidence(name)) is not None]
        return {
            "dispatch": dispatch or self.play.claimed(task),
            "code": codestate.code_now(self.play.ledger.git),
            "text": state.prose(task).digest,
            "evidence": refs,
        }

    def packed(self, run: str, files: Mapping[str, bytes], message: str = "an archive by hand") -> str:
        """Write an archive of a run with a name that fits its bytes; return its path."""
        data = archive.pack(files)
        path = layout.archive_path(run, codec.digest_of(data))
        self.write(path, data, message)
        return path

    def remove(self, *paths: str) -> None:
        git(self.root, "rm", "-qrf", "--", *paths)
        git(self.root, "commit", "-qm", "tidy")

    def path(self, record: str) -> str:
        """Return the file of a record or event in the checkout."""
        index = self.play.state(record).index
        return {**index.prose, **index.events, **index.evidence}[record]

    def last(self, record: str, do: str) -> str:
        """Return the latest event of a verb on a record."""
        return [seen.event.id for seen in self.play.state(record).folded(record).events if seen.event.do == do][-1]

    def landed(self) -> None:
        """Let all that the branch has so far be on the main one."""
        git(self.root, "branch", "-qf", MAIN, WORK)

    def policy(self, text: str, *, branch: str = MAIN) -> None:
        """Commit a policy; on the main branch, which the branch then begins at."""
        git(self.root, "switch", "-q", branch)
        self.write(layout.CONFIG, f"version: 1\npolicy:\n{text}", "policy")
        git(self.root, "switch", "-q", WORK)
        if branch != WORK:
            git(self.root, "merge", "-q", "--no-edit", branch)

    # Trees and commits that no command of a user's would make.

    def commit_tree(self, tree: str, *parents: str, message: str = "by hand") -> str:
        """Return a commit of any tree with any parents."""
        return git(self.root, "commit-tree", tree, *(word for one in parents for word in ("-p", one)), "-m", message)

    def blob(self, data: bytes) -> str:
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

    # What it comes to.

    def check(self, *options: str, root: Path | None = None) -> tuple[int, list[dict[str, Any]]]:
        """Return the exit code of `check` and what it found."""
        code, out, err = self.cli("check", "-C", str(root or self.root), *options, "--format", "json")
        answer = json.loads(out)
        assert "findings" in answer, (out, err)
        return code, answer["findings"]

    def caught(self, *codes: str, but: str = "") -> str:
        """Assert that `check` ends with 5 with these codes as errors, at all four doors; return what it says."""
        told = ""
        for door, options, root in self.doors(but):
            code, found = self.check(*options, root=root)
            errors = {row["code"] for row in found if row["severity"] == "error"}
            assert (code, errors >= set(codes)) == (5, True), f"{door}: {code} {found}"
            told += "".join(f"{row['message']}\n" for row in found if row["code"] in codes)
        return told

    def warned(self, *codes: str) -> str:
        """Assert that `check` finds no error and warns with these codes, at all four doors; return what it says."""
        told = ""
        for door, options, root in self.doors():
            code, found = self.check(*options, root=root)
            assert (code, {row["code"] for row in found} >= set(codes)) == (0, True), f"{door}: {code} {found}"
            told += "".join(f"{row['message']}\n" for row in found if row["code"] in codes)
        return told

    def sound(self) -> None:
        """Assert that `check` finds nothing but who committed for whom, at all four doors."""
        for door, options, root in self.doors():
            code, found = self.check(*options, root=root)
            left = [row for row in found if row["code"] not in ("C001", "C002")]
            assert (code, left) == (0, []), door

    def doors(self, but: str = "") -> Iterator[tuple[str, list[str], Path]]:
        """Yield a word, the options of `check` and the repository for each door into the main branch."""
        yield "branch", ["--base", MAIN], self.root
        bare = self.root.parent / "server.git"
        if not bare.exists():
            git(self.root.parent, "init", "-q", "--bare", str(bare))
        git(self.root, "push", "-qf", str(bare), MAIN, WORK)
        yield "server hook", ["--at", WORK, "--base", MAIN], bare
        for way, options in (("merge", ["--no-ff", "-m", "merge"]), ("squash", ["--squash"])):
            if way == but:
                continue
            with self.away():
                git(self.root, "merge", "-q", *options, WORK)
                if way == "squash":
                    git(self.root, "commit", "-qm", "squash")
                yield way, [] if way == "merge" else ["--base", MAIN], self.root

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Be on a commit of `main` that nobody keeps."""
        git(self.root, "switch", "-q", "--detach", MAIN)
        try:
            yield
        finally:
            git(self.root, "switch", "-q", WORK)

    def gate(self, scope: str, gate: str) -> str:
        """Return the verdict of a gate, as the fold has it."""
        return self.play.state(scope).folded(scope).lanes.word(f"gate:{gate}", "none")

    def unproven(self, task: str, why: str) -> None:
        """Assert that a task is not proven, and why; and that its run can neither be completed nor released."""
        state = self.play.state(task)
        proof = state.proof(task, state.view.policy())
        assert (proof.proven, any(why in one for one in proof.why)) == (False, True), proof
        code, out, _ = self.cli("gate", "release", "-C", str(self.root), "--json")
        assert (code, any(task in one for one in json.loads(out)["missing"])) == (1, True), out

    def refused(self, token: str, *arguments: str, exit_code: int = 1) -> str:
        """Assert that a command is refused with a token and commits nothing; return its message."""
        before = git(self.root, "rev-parse", "HEAD")
        code, out, _ = self.cli(*arguments, "-C", str(self.root), "--json")
        answer = json.loads(out)
        assert (code, answer.get("error")) == (exit_code, token), answer
        assert git(self.root, "rev-parse", "HEAD") == before
        return str(answer["message"])


def heads_of(state: RunState, of: str) -> list[str]:
    """Return the heads of all that a rule on this record reads."""
    groups = {
        "run": [state.id, plans_of(state.id), *state.ids("task")], "plan": [plans_of(state.id), state.id],
        "task": [of, state.id, plans_of(state.id)], "evidence": [of],
    }[kind_of(of)]  # fmt: skip
    return [head for group in groups for head in state.folded(group).heads]


def rewritten(root: Path, run: str, changed: Mapping[str, Callable[[bytes], bytes]]) -> None:
    """Change files of a run in a checkout, and then every digest that names them, until the whole chain fits again."""
    folder = root / RUN / run
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


def cited(play: Play, event: str) -> list[str]:
    """Return the ids of the evidence that an event names."""
    found = play.state(event).event(event)
    return [parse_ref(ref).id for ref in found.data.get("evidence") or ()] if found else []
