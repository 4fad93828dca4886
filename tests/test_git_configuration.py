"""What somebody has configured git to is theirs, and changes nothing of what the ledger answers."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout
from memento_git.verbs import notes
from memento_git.work.actions import plans
from memento_git.work.codestate import code_now
from tests.cheats.forging import Forger
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

THEIRS = """
[color]
    ui = always
    grep = always
    diff = always
    status = always
    branch = always
[column]
    ui = always
[core]
    abbrev = 40
    quotePath = true
    warnAmbiguousRefs = false
    commentChar = .
[diff]
    algorithm = patience
    colorMoved = zebra
    context = 0
    ignoreSubmodules = all
    indentHeuristic = false
    interHunkContext = 9
    mnemonicPrefix = true
    noPrefix = true
    orderFile = ORDER
    relative = true
    renames = copies
    renameLimit = 1
    submodule = log
    suppressBlankEmpty = true
    wsErrorHighlight = all
[log]
    abbrevCommit = true
    date = relative
    decorate = full
    diffMerges = off
    follow = true
    mailmap = true
    showRoot = false
    showSignature = true
[format]
    pretty = oneline
[i18n]
    logOutputEncoding = ISO-8859-1
[grep]
    lineNumber = true
    column = true
    patternType = fixed
    extendedRegexp = true
    fullName = true
[status]
    short = true
    branch = true
    showStash = true
    showUntrackedFiles = no
    relativePaths = false
    renames = copies
    submoduleSummary = true
[submodule]
    recurse = true
[blame]
    showEmail = true
    showRoot = true
    blankBoundary = true
    coloring = highlightRecent
    date = short
[merge]
    conflictStyle = diff3
    log = true
    renames = false
    ff = only
[tag]
    sort = -refname
    gpgSign = false
[fetch]
    prune = true
    pruneTags = true
    recurseSubmodules = on-demand
[push]
    default = nothing
[pager]
    log = true
    diff = true
    grep = true
[branch]
    sort = -committerdate
    autoSetupMerge = always
[versionsort]
    suffix = -rc
"""
BOB_IN_CYRILLIC = "\u0412ob"
JURGEN = "J\u00fcrgen <jurgen@example.invalid>"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A configuration of somebody's whose every key is legitimate."""
    path = tmp_path / "theirs"
    (tmp_path / "order").write_text("*.md\n*completed*\n*approved*\n")
    path.write_text(THEIRS.replace("ORDER", (tmp_path / "order").as_posix()))
    return path


@pytest.fixture
def told(play: Play) -> Play:
    """A branch whose merge dropped a failure, on which somebody has a name like another's, and places moved."""
    play.as_("Bob").planned()
    (play.root / "lib").mkdir()
    for name in ("parser", "lib/lexer", "lib/words"):
        (play.root / f"{name}.py").write_text(
            f"def {name[-5:]}():\n    return 1\n\n\ndef other_{name[-5:]}():\n    return 2\n"
        )
    play.commit_all("a parser")
    forger = Forger(play)
    task = play.task()
    claim = play.as_(BOB_IN_CYRILLIC).claimed(task)
    play.do(plans.draft_plan, "More", "All of it.", run=play.state(task).id)
    git(play.root, "commit", "-q", "--amend", "--no-edit", "--author", JURGEN)
    play.do(notes.add_note, "The parser needs a database.", about=["parser.py:1-2"])
    play.do(notes.add_note, "The lexer knows no tabs.", about=["lib"])
    git(play.root, "switch", "-qc", "review")
    play.as_("Grace <grace@example.invalid>").evidence(task, code=1)
    git(play.root, "switch", "-q", "work")
    play.as_(BOB_IN_CYRILLIC).complete(claim, play.evidence(task))
    git(play.root, "merge", "-q", "-s", "ours", "-m", "merge", "review")
    (play.root / "src").mkdir()
    git(play.root, "mv", "parser.py", "lib", "src/")
    for moved in (play.root / "src").rglob("*.py"):
        moved.write_text(f"import sys\n{moved.read_text()}")
    play.commit_all("moved")
    git(play.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(play.root), "sub")
    play.commit_all("a submodule")
    git(play.root, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", rootless(forger))
    return play


def rootless(forger: Forger) -> str:
    """Return a commit without parents, of Jürgen's, that has the notes of the branch."""
    kept = git(forger.root, "rev-parse", f"work:{layout.KNOWLEDGE}")
    tree = forger.raw_tree([("40000", layout.FOLDER, forger.raw_tree([("40000", "knowledge", kept)]))])
    told = git(forger.root, "cat-file", "commit", forger.commit_tree(tree)).replace("Ada <ada@", "J\u00fcrgen <jurgen@")
    return git(forger.root, "hash-object", "-t", "commit", "-w", "--stdin", data=f"{told}\n".encode())


def lines_of(play: Play) -> dict[str, list[list[str]]]:
    """Return the commands that are compared, by what they are about."""
    note = next((play.root / layout.KNOWLEDGE).rglob("note_*.md")).stem
    return {
        "check": [["check", "--base", "main"], ["check", "--no-base"], ["check", "--staged"], ["check", "anchors"]],
        "diff": [["diff", "main..HEAD"], ["diff", "main..HEAD", "--format", "markdown"]],
        "status": [["status"], ["status", "--json"], ["report"]],
        "log": [["log"], ["log", "--json"], ["changes", "--since", "2020-01-01"]],
        "recall": [["recall", "parser database"], ["recall", "tabs", "--json"]],
        "show": [["show", note, "--what", what] for what in ("entry", "history", "sources")],
        "code": [["code", "grep", "def p|answer"], ["code", "map"]],
    }  # fmt: skip


@pytest.mark.parametrize("about", ["check", "diff", "status", "log", "recall", "show", "code"])
def test_answers_are_the_same(told: Play, theirs: Path, cli: Call, monkeypatch: pytest.MonkeyPatch, about: str) -> None:
    root, there = told.root, told.root.with_name("there")
    task = next((root / layout.RUNS).rglob("task.md"))
    task.write_text("broken")
    git(root, "add", str(task))
    answers, lines = [], lines_of(told)[about]
    shutil.move(root, there)
    for configured in (os.devnull, str(theirs)):  # each in a copy of its own, with what is derived there
        shutil.copytree(there, root)
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", configured)
        monkeypatch.chdir(root / "src")
        answers.append({" ".join(line): cli(*line) for line in lines})
        monkeypatch.chdir(there)
        shutil.rmtree(root)
    shutil.move(there, root)
    assert answers[0] == answers[1]
    if about == "check":
        found = {line: answer[1] for line, answer in answers[0].items()}
        assert all(code in found["check --base main"] for code in ("D010", "C006", "J\u00fcrgen"))
        assert "F001" in found["check --staged"]


def test_no_program_for_diffs_has_a_say_in_what_is_told_of_a_note(play: Play, cli: Call) -> None:
    note = play.do(notes.add_note, "The port is 80.")
    (play.root / ".git" / "info" / "attributes").write_text("*.md diff=theirs\n")
    for key in ("textconv", "command"):
        git(play.root, "config", f"diff.theirs.{key}", "sed s/80/443/")
    for what in ("blame", "diff"):
        told = cli("show", note, "--what", what, "-C", str(play.root))[1]
        assert ("The port is 80." in told, "443" in told) == (True, False)


def test_a_copy_of_a_split_index_leaves_nothing_in_the_git_directory(play: Play, cli: Call) -> None:
    """The other part of such an index lies there, also of one that is named elsewhere."""
    for number in range(20):
        (play.root / f"{number}.py").write_text("")
    play.commit_all()
    git(play.root, "config", "core.splitIndex", "true")
    git(play.root, "config", "splitIndex.maxPercentChange", "0")
    git(play.root, "update-index", "--split-index")
    (play.root / "1.py").write_text("edited\n")
    (play.root / "new.py").write_text("new\n")
    shared = {*(play.root / ".git").glob("sharedindex.*")}
    code_now(play.ledger.git)
    for line in (["check", "--staged"], ["preflight"]):
        assert cli("-C", str(play.root), *line)[0] == 0, line
    assert (shared != set(), {*(play.root / ".git").glob("sharedindex.*")}) == (True, shared)
