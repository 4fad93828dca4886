"""Names of files and places are searched for secrets as any typed text is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work import codestate
from memento_git.work.actions.attaching import diff_of
from tests.play import commit_all, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
FILE = f"{TOKEN}.txt"
REPORTING = """for one in *.txt; do echo '<testsuite><testcase name="a"/></testsuite>' > $one; done"""
NAMING = {
    "task file": ("task", "add", "--title", "t", "--file", f"logs/{FILE}"),
    "attachment": ("evidence", "add", FILE),
    "file uri": ("evidence", "add", "--uri", f"file://{FILE}"),
    "report": ("evidence", "run", "--report", FILE, "--", "sh", "-c", REPORTING),
    "covered path": ("evidence", "run", "--covers", FILE, "--", "true"),
    "folder": ("-C", f"{TOKEN}.d", "evidence", "run", "--", "true"),
    "written apart": ("evidence", "run", "--out", "apart", "--covers", FILE, "--", "true"),
    "range": ("evidence", "add", "--diff", f"{TOKEN}..HEAD"),
    "place": ("note", "add", "A fact.", "--about", FILE),
    "key": ("note", "add", "A fact.", "--key", TOKEN),
}


@pytest.fixture
def named(repo: Path, play: Play) -> Path:
    """Return a repository of a run, with code whose names hold a secret, and a branch of such a name."""
    play.run()
    git(repo, "branch", TOKEN)
    (repo / FILE).write_text("data\n")
    (repo / f"{TOKEN}.d").mkdir()
    (repo / f"{TOKEN}.d" / "code.py").write_text("print()\n")
    commit_all(repo, "code")
    return repo


@pytest.mark.parametrize("way", NAMING)
def test_a_name_with_a_secret_is_refused_by_rule_and_taken_when_that_is_overridden(
    named: Path, cli: Call, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.chdir(named)
    before = git(named, "rev-parse", "HEAD")
    code, out, err = cli(*NAMING[way])
    assert code == 1
    assert "(GitHub Token)" in err
    assert "--allow-secret github-token" in err
    assert TOKEN not in out + err
    assert git(named, "rev-parse", "HEAD") == before
    *_, verb = (at for at, word in enumerate(NAMING[way]) if word in ("add", "run"))
    given = [*NAMING[way][: verb + 1], "--allow-secret", "github-token", *NAMING[way][verb + 1 :]]
    code, out, err = cli(*given)
    assert code == 0, err
    assert cli("check", "--no-base")[0] == 0


def test_names_that_nobody_typed_are_counted_and_left_out(named: Path, play: Play) -> None:
    git(named, "commit", "-q", "--allow-empty", "-m", "more")
    (named / f"{TOKEN}.new").write_text("data\n")
    (named / "plain.new").write_text("data\n")
    code = codestate.code_now(play.ledger.git)
    assert list(code["untracked"]) == ["plain.new"]
    assert code["untracked_more"] == 1
    diff = diff_of(play.ledger.git, "HEAD~2..HEAD")
    assert (diff["files"], diff["files_more"]) == ([], 2)
