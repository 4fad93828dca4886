"""A walk at random over the whole command line: whatever is typed, what is promised of every command holds."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any, Final

import click
import pytest

from docs.generator.commands import tree
from memento_git.cli import seed_names
from memento_git.cli.main import memento
from tests.play import Play, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call

RECORDS: Final = re.compile(r"\b(?:run|plan|task|dispatch|evidence|note|event)_[0-9a-z]{12}\b")
HOSTILE: Final = (
    "", "-", "--", "@", "@nowhere", "a\nb", "a\rb", "\u202ecod", "\udcff", "x" * 70_000, "- a: b\n  c: [", "-1",
    "9" * 30, "NaN", "HEAD:app.py", "HEAD^{tree}", "../x", "/dev/null", ".git/config", "{x!q}", "'",
    "note_000000000000",
)  # fmt: skip
SENSIBLE: Final = ("app.py", "HEAD", "HEAD~1", "2026-11-21", "90m", "0.5", "1", "Ada", "agent", "Make it work", "auth")
ELSEWHERE: Final = {
    "client", "comment", "completion", "guide", "hook", "purge", "sample-smoke", "sync", "update", "web",
}  # fmt: skip
LEFT_OUT: Final = {
    "follow", "fetch", "api", "repo", "out", "workspace", "project_path", "scope", "graphify", "shell", "check",
    "describe_with",
}  # fmt: skip
VERDICTS: Final = {
    "task_rejected", "graph_refused", "no_executor", "override_refused", "checks_failed", "findings", "no_candidate",
    "dispatch_failed", "work_left", "release_refused", "preflight_refused", "not_reproduced", "not_described",
}  # fmt: skip


class Walk:
    """One who types whatever the command line takes, with the records that there are."""

    def __init__(self, seed: int, records: list[str]) -> None:
        self.dice = random.Random(seed)
        self.records = records
        found = [(path, command) for path, command in tree(memento) if not isinstance(command, click.Group)]
        found += [((name,), command) for name, command in seed_names.ALIASES.items()]
        self.commands = [(path, command) for path, command in found if path[0] not in ELSEWHERE]

    def value(self, option: click.Parameter) -> str:
        """Return a value that may be right, and sometimes cannot be."""
        if isinstance(option.type, click.Choice) and self.dice.random() < 0.95:
            return str(self.dice.choice(list(option.type.choices)))
        if self.dice.random() < 0.15:
            return self.dice.choice(HOSTILE)
        kind = (option.name or "").removesuffix("_ids").removesuffix("_id").removesuffix("s")
        fitting = [record for record in self.records if record.startswith(f"{kind}_")]
        return self.dice.choice(fitting or [*SENSIBLE, *self.records])

    def words(self) -> list[str]:
        """Return a command line, at random."""
        path, command = self.dice.choice(self.commands)
        options: list[str] = []
        arguments: list[str] = []
        for one in command.params:
            wanted = one.required or self.dice.random() < 0.12
            if not wanted or one.name in LEFT_OUT or one.name == "argv":
                continue
            if isinstance(one, click.Argument):
                arguments.append(self.value(one))
            elif getattr(one, "is_flag", False):
                options.append(one.opts[0])
            else:
                options.append(f"{max(one.opts, key=len)}={self.value(one)}")
        ran = "argv" in [one.name for one in command.params]
        return [*path, *options, "--json", *(arguments if ran else []), "--", *(["true"] if ran else arguments)]


def users(repo: Path) -> tuple[Any, ...]:
    """Return what is the user's: files, what is staged, configuration and hooks."""
    places = [repo / name for name in ("app.py", "staged.py", "untracked.txt", ".git/config")]
    files = [path.read_bytes() for path in places]
    others = ("status", "--porcelain", "--untracked-files=all", "--", ":!.memento")
    staged = git(repo, "diff", "--cached", "--binary", "--", ":!.memento")
    return files, staged, git(repo, *others), sorted(path.name for path in (repo / ".git" / "hooks").glob("*"))


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_typed_is_answered_and_nothing_of_the_users_is_touched(
    play: Play, repo: Path, cli: Call, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    play.planned()
    play.proven()
    play.claimed(play.task("Another"))
    (repo / "staged.py").write_text("staged = 1\n")
    git(repo, "add", "staged.py")
    (repo / "app.py").write_text("answer = 43\n")
    (repo / "untracked.txt").write_text("mine\n")
    monkeypatch.chdir(repo)
    mine = users(repo)
    walk = Walk(seed, RECORDS.findall("".join(cli(*words, "--json")[1] for words in (["log"], ["dispatch", "list"]))))
    for _ in range(60):
        words, before = walk.words(), git(repo, "rev-parse", "HEAD")
        code, out, err = cli(*words)
        told = json.loads(out)
        assert code in range(6), (words, out, err)
        assert "Traceback" not in err, words
        ran = words[:2] == ["evidence", "run"]
        assert ran or bool(told["ok"]) == (code == 0), words
        assert told["ok"] or told["error"] in VERDICTS or (told["message"] and told["hint"]), words
        after = git(repo, "rev-parse", "HEAD")
        assert before == after or told["ok"] or told["error"] in VERDICTS, words
        touched = git(repo, "diff", "--name-only", before, after).splitlines()
        assert all(path.startswith(".memento/") for path in touched), words
        assert users(repo) == mine, words
        walk.records += RECORDS.findall(out)
    assert cli("status", "--json")[0] in {0, 1}
    found = json.loads(cli("check", "--no-base", "--json")[1])["findings"]
    wrong = [one for one in found if one["severity"] == "error"]
    assert [one for one in wrong if one["code"] != "G001"] == [], "a gate may fall with its evidence, nothing else"
