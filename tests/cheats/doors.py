"""The doors into a ledger, so that a test tries one cheat at all of them.

What a verb does has three: the Python API, `memento apply` and the command line. What is written by hand has five:
the index, as the pre-commit hook looks at it; the branch that is committed with plain git; the same in a bare
repository, as a server hook sees it; a merge of it; and a squash of it.
"""

from __future__ import annotations

import contextlib
import inspect
import json
from typing import TYPE_CHECKING, Any

from memento_git import Ledger, MementoError
from memento_git.verbs import batch
from tests.cheats.forging import ADA, MAIN, WORK, Forger
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.play import Call, Play

    Row = dict[str, Any]
    Arrival = tuple[str, list[str], Path]
    Within = Callable[[str, Path], AbstractContextManager[None]]

NAMED = ("executor", "goal", "title", "keep")  # what must be given and is an option all the same
VERBS = ("API", "apply", "CLI")
HANDS = ("staged", "branch", "server", "merge", "squash")

# What cannot be found at a door, and why; `found` asserts that it is not, so that no line here outlives its reason.
ABSENT = {
    ("staged", "D010"): "what is staged has no commits from which something could have been taken back",
    ("squash", "D010"): "a squash leaves no commits of the branch",
    ("staged", "C002"): "nobody has committed it yet",
}


class Doors(Forger):
    """A branch `work` of `main`, whose author tries to get around what policy asks; and every way that it can come."""

    def __init__(self, play: Play, cli: Call) -> None:
        super().__init__(play)
        self.cli, self.walked = cli, set[str]()

    # What a verb does.

    def refused(self, token: str, verb: str, *, actor: str = ADA, **options: Any) -> str:
        """Try a verb at each of its doors; each refuses with the token and commits nothing. Return what it says."""
        before, told = self._commit(), ""
        for door in VERBS:
            refusal, message = self._do(door, verb, actor, options)
            assert refusal == token, f"{door}: {refusal or 'done'}: {message}"
            assert self._commit() == before, door
            told += f"{message}\n"
        self.walked.update(VERBS)
        return told

    def accepted(self, verb: str, *, actor: str = ADA, **options: Any) -> Iterator[str]:
        """Do at each door, from one commit, what a verb does not refuse; the test shows that it counts for nothing."""
        before = self._commit()
        for door in VERBS:
            git(self.root, "reset", "-q", "--hard", before)
            refusal, message = self._do(door, verb, actor, options)
            assert not refusal, f"{door}: {refusal}: {message}"
            yield door
        self.walked.update(VERBS)

    def _do(self, door: str, verb: str, actor: str, options: dict[str, Any]) -> tuple[str, str]:
        """Return the token and the sentence of the refusal, both empty where there is none."""
        if door == "API":
            try:
                with Ledger.open(self.root, actor=actor) as ledger:
                    ledger.change(verb, lambda tx: batch.ACTIONS[verb](tx, **options))
            except MementoError as refusal:
                return refusal.token, refusal.message
            return "", ""
        line = self._step(verb, options) if door == "apply" else _line(verb, options)
        named = ("--actor", actor) if actor else ()
        code, out, _ = self.cli(*line, "-C", str(self.root), *named, "--json")
        answer = json.loads(out)
        assert (code == 0) == answer["ok"], f"{door}: {code} {answer}"
        return ("", "") if code == 0 else (answer["error"], answer["message"])

    def _step(self, verb: str, options: dict[str, Any]) -> list[str]:
        path = self.root.parent / "verbs.yaml"
        typed = {key: "true" if value is True else value for key, value in options.items()}
        path.write_text(json.dumps([{"do": verb, **typed}]))
        return ["apply", str(path)]

    def denied(self, token: str, *arguments: str, exit_code: int = 1) -> str:
        """Assert that a command that only reads is refused with a token; return its message."""
        code, out, _ = self.cli(*arguments, "-C", str(self.root), "--json")
        answer = json.loads(out)
        assert (code, answer.get("error")) == (exit_code, token), answer
        return str(answer["message"])

    def _commit(self) -> str:
        return git(self.root, "rev-parse", "HEAD")

    # What is written by hand.

    def caught(self, *codes: str, told: str = "", within: Within | None = None) -> str:
        """Assert that `check` ends with 5 and has these codes as errors at every door; return what it says of them.

        `told` is a code that it only warns of, `within` what surrounds the check at a door.
        """
        return self._found(5, codes, told, within)

    def warned(self, *codes: str) -> str:
        """Assert that `check` finds no error and warns with these codes, at every door; return what it says."""
        return self._found(0, codes)

    def _found(self, ends: int, codes: tuple[str, ...], beside: str = "", within: Within | None = None) -> str:
        said = ""
        for door, options, root in self.arrivals():
            with within(door, root) if within else contextlib.nullcontext():
                code, rows = self.check(*options, root=root)
            seen = {row["code"] for row in rows if ends == 0 or row["severity"] == "error"}
            absent = {one for one in codes if (door, one) in ABSENT}
            asked = {one for one in codes if one not in absent}
            assert (code, seen >= asked, seen & absent) == (ends if asked or not ends else 0, True, set()), (
                f"{door}: {code} {rows}"
            )
            assert not beside or beside in {row["code"] for row in rows}, f"{door}: {rows}"
            said += "".join(f"{row['message']}\n" for row in rows if row["code"] in (*codes, beside))
        return said

    def sound(self, *but: str) -> None:
        """Assert that `check` finds nothing, at every door, but who committed for whom and stale evidence."""
        for door, options, root in self.arrivals():
            code, rows = self.check(*options, root=root)
            left = [row for row in rows if row["code"] not in ("C001", "C002", *but)]
            assert (code, left) == (0, []), door

    def arrivals(self) -> Iterator[Arrival]:
        """Yield a word, the options of `check` and the repository for each door into the main branch."""
        assert (self.root / ".git" / "HEAD").read_text() == f"ref: refs/heads/{WORK}\n"
        fork = git(self.root, "merge-base", MAIN, WORK)
        tips = git(self.root, "rev-parse", MAIN, WORK).split()
        moved = fork != tips[0]
        with self._head(fork):
            yield "staged", ["--staged"], self.root
        yield "branch", ["--base", MAIN], self.root
        yield "server", ["--at", WORK, "--base", MAIN], self._server(*tips)
        with self._merged(moved=moved, squash=False):
            yield "merge", [], self.root
        with self._merged(moved=moved, squash=True):
            yield "squash", ["--base", MAIN], self.root
        self.walked.update(HANDS)

    def _server(self, main: str, work: str) -> Path:
        """Return a bare repository that has both branches, and borrows all objects, as while a push is looked at."""
        bare = self.root.parent / "server.git"
        lent = self.root / ".git" / "objects"
        for name, text in {
            "HEAD": f"ref: refs/heads/{MAIN}", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true",
            "objects/info/alternates": str(lent), f"refs/heads/{MAIN}": main, f"refs/heads/{WORK}": work,
        }.items():  # fmt: skip
            (bare / name).parent.mkdir(parents=True, exist_ok=True)
            (bare / name).write_text(f"{text}\n")
        return bare

    @contextlib.contextmanager
    def _merged(self, *, moved: bool, squash: bool) -> Iterator[None]:
        """Be on a merge or a squash of the branch, as a hosting service's buttons make it."""
        if not moved:  # the merge's tree is the branch's, so that there is nothing to check out
            with self._head(self.commit_tree(f"{WORK}^{{tree}}", MAIN, *([] if squash else [WORK]))):
                yield
            return
        with self.away():
            git(self.root, "merge", "-q", *(["--squash"] if squash else ["--no-ff", "-m", "merge"]), WORK)
            if squash:
                git(self.root, "commit", "-qm", "squash")
            yield

    @contextlib.contextmanager
    def _head(self, commit: str) -> Iterator[None]:
        """Have HEAD at a commit, with index and files as they are; its file is written, for that costs no process."""
        head = self.root / ".git" / "HEAD"
        before = head.read_bytes()
        head.write_text(f"{commit}\n")
        try:
            yield
        finally:
            head.write_bytes(before)

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Be on a commit of `main` that nobody keeps."""
        git(self.root, "switch", "-q", "--detach", MAIN)
        try:
            yield
        finally:
            git(self.root, "switch", "-q", WORK)

    def check(self, *options: str, root: Path | None = None) -> tuple[int, list[Row]]:
        """Return the exit code of `check` and what it found."""
        code, out, err = self.cli("check", "-C", str(root or self.root), *options, "--format", "json")
        answer = json.loads(out)
        assert "findings" in answer, (out, err)
        return code, answer["findings"]

    # What it comes to.

    def unreleased(self, run: str, why: str) -> None:
        """Assert that no verb releases a run, and why; and that a release which is written by hand is caught."""
        told = self.refused("release_refused", "gate release", run=run)
        assert all(why in line for line in told.splitlines()), told
        self.forge(run, "passed", gate="release")
        assert why in self.caught("G004")

    def unfinished(self, token: str, run: str, why: str) -> None:
        """Assert that no verb completes a run; and that a completion which is written by hand is caught, and why."""
        self.refused(token, "run complete", run=run)
        self.forge(run, "completed", sees=[])
        assert why in self.caught("P004")

    def unproven(self, task: str, why: str) -> None:
        """Assert that status says that a task is not proven, and why; and that no verb releases its run for that."""
        row = self.task(task)
        assert (row["proven"], any(why in one for one in row["unproven_because"])) == (False, True), row
        told = self.refused("release_refused", "gate release", run=self.play.state(task).id)
        assert all(f"task {task} is not proven" in line and why in line for line in told.splitlines()), told

    def task(self, task: str) -> Row:
        """Return the row of a task, as `status --json` shows it."""
        rows = self.answer("status", "--run", self.play.state(task).id)["tasks"]
        return next(row for row in rows if row["id"] == task)

    def gate(self, gate: str, scope: str = "") -> str:
        """Return the verdict of a gate, as `status --json` shows it, of the only run where no record is named."""
        options = ["--run", self.play.state(scope).id] if scope else []
        rows = [row for row in self.answer("status", *options)["gates"] if row["kind"] == gate]
        return next((str(row["status"]) for row in rows if scope in ("", row["scope"])), "none")

    def missing(self, run: str = "") -> list[str]:
        """Return what `gate release` of a run, by default the only one, lacks; it must then refuse."""
        options = ["--run", run] if run else []
        code, out, _ = self.cli("gate", "release", *options, "-C", str(self.root), "--json")
        answer = json.loads(out)
        told: list[str] = answer["missing"]
        assert (code, answer["ok"]) == ((1, False) if told else (0, True)), answer
        return told

    def answer(self, *arguments: str) -> Row:
        """Return what a command that succeeds answers."""
        code, out, _ = self.cli(*arguments, "-C", str(self.root), "--json")
        answer: Row = json.loads(out)
        assert code == 0, answer
        return answer


def run_of(doors: Doors) -> str:
    """Return the first run of the ledger."""
    return next(iter(doors.play.ledger.view().runs()))


def _line(verb: str, options: dict[str, Any]) -> list[str]:
    """Return a verb with its options as one types it: what must be given comes first, the rest by name."""
    known = inspect.signature(batch.ACTIONS[verb]).parameters
    first: list[str] = []
    rest: list[str] = []
    if verb == "settle void":
        return ["settle", "--void", options["event"], "--reason", options["reason"]]
    for name, value in options.items():
        many = isinstance(value, (list, tuple))
        if (known[name].default is inspect.Parameter.empty and not many and name not in NAMED) or (
            name == "run" and verb.startswith(("run ", "archive"))
        ):
            first.append(str(value))
        elif value is True:
            rest.append(f"--{name}")
        else:
            for one in value if many else [value]:
                named = "record" if (verb, name) == ("dispatch select", "dispatch") else name.replace("_", "-")
                rest += [f"--{named.removesuffix('s')}"] if name != "files" else []
                rest += [str(one)]
    return [*verb.split(), *first, *rest]
