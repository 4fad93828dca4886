"""--out: what it writes over, and where it leads."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.play import Call, Play

OUT = (
    ("export",),
    ("export", "--format", "md"),
    ("report",),
    ("report", "--format", "json"),
    ("task", "board", "--format", "sqlite"),
    ("task", "bundle", "TASK"),
    ("evidence", "export", "EVIDENCE"),
)
LINKED = (*OUT, ("export", "--format", "agents-md"))


@pytest.fixture
def put(play: Play, cli: Call) -> Callable[..., tuple[int, str]]:
    """Return what writes an answer into a file, and gives exit code and token."""
    task = play.planned_task()
    names = {"TASK": task, "EVIDENCE": play.evidence(task)}

    def answered(words: tuple[str, ...], out: Path, *more: str) -> tuple[int, str]:
        named = [names.get(word, word) for word in words]
        code, told, _ = cli(*named, "--out", str(out), *more, "--json", "-C", str(play.root))
        return code, json.loads(told).get("error", "")

    return answered


@pytest.mark.parametrize("words", OUT, ids=" ".join)
def test_a_file_that_somebody_else_wrote_is_not_replaced(play: Play, put: Any, words: tuple[str, ...]) -> None:
    (play.root / ".gitignore").write_text("ignored\n")
    for name in ("tracked", "edited", "ignored", "untracked"):
        (play.root / name).write_text("mine\n")
    git(play.root, "add", "tracked", "edited")
    git(play.root, "commit", "-qm", "files")
    (play.root / "edited").write_text("mine, edited\n")
    for name in ("tracked", "edited", "ignored", "untracked"):
        held = (play.root / name).read_text()
        assert put(words, play.root / name) == (1, "file_exists")
        assert (play.root / name).read_text() == held


@pytest.mark.parametrize("words", OUT, ids=" ".join)
def test_what_was_written_here_is_replaced_until_somebody_edits_it(
    play: Play, put: Any, words: tuple[str, ...], tmp_path: Path
) -> None:
    for path in (play.root / "out", tmp_path / "out"):
        path.write_text("")
        for _ in range(2):
            assert put(words, path) == (0, "")
            play.task("Another")
        with path.open("ab") as file:
            file.write(b"mine\n")
        assert put(words, path) == (1, "file_exists")


def test_what_would_be_written_anew_is_no_other_file(play: Play, put: Any, tmp_path: Path) -> None:
    """A kill right after the file was written made it somebody else's."""
    words, out = ("task", "bundle", "TASK"), tmp_path / "bundle.json"
    assert put(words, out)[0] == 0
    (play.ledger.git.common_dir / "memento" / "written.json").unlink()
    before = out.read_bytes()
    assert (put(words, out)[0], out.read_bytes()) == (0, before)


@pytest.mark.parametrize("words", [("export",), ("task", "bundle", "TASK")], ids=" ".join)
def test_force_replaces_a_file(play: Play, put: Any, words: tuple[str, ...]) -> None:
    (play.root / "mine").write_text("mine\n")
    assert put(words, play.root / "mine", "--force") == (0, "")
    assert (play.root / "mine").read_text() != "mine\n"


@pytest.mark.parametrize("words", LINKED, ids=" ".join)
def test_no_link_leads_an_answer_out_of_the_work_tree(
    play: Play, put: Any, words: tuple[str, ...], tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("")
    (play.root / "file").symlink_to(outside / "file")
    (play.root / "none").symlink_to(outside / "none")
    (play.root / "folder").symlink_to(outside)
    (play.root / "again").symlink_to("file")
    for name in ("file", "none", "folder/new", "again"):
        assert put(words, play.root / name) == (1, "out_invalid")
    assert [(one.name, one.read_text()) for one in outside.iterdir()] == [("file", "")]


@pytest.mark.parametrize("words", LINKED, ids=" ".join)
def test_a_link_that_stays_in_the_work_tree_or_lies_outside_is_the_users_own(
    play: Play, put: Any, words: tuple[str, ...], tmp_path: Path
) -> None:
    (play.root / "docs").mkdir()
    (play.root / "AGENTS.md").symlink_to("docs/rules.md")
    (tmp_path / "checkout").symlink_to(play.root)
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    for path in (
        play.root / "AGENTS.md",
        tmp_path / "checkout" / "two",
        play.root / ".." / "three",
        tmp_path / "linked",
    ):
        assert put(words, path) == (0, "")
        assert path.read_bytes()
    assert (play.root / "docs" / "rules.md").is_file()
    assert (play.root / "AGENTS.md").is_symlink()


def test_a_folder_is_not_reached_by_a_link_out_of_the_work_tree_either(play: Play, cli: Call, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (play.root / "away").symlink_to(tmp_path / "outside")
    for words in (("guide", "--out", "away"), ("evidence", "run", "--out", "away", "--", "true")):
        named = [str(play.root / "away") if word == "away" else word for word in words]
        at = named.index("--") if "--" in named else len(named)
        assert "out_invalid" in cli(*named[:at], "-C", str(play.root), *named[at:])[2]
    assert not list((tmp_path / "outside").iterdir())


def test_a_pipe_that_nobody_reads_is_refused_and_one_that_is_read_is_written(play: Play, put: Any) -> None:
    pipe = play.root / "pipe"
    os.mkfifo(pipe)
    assert put(("report",), pipe) == (1, "out_invalid")

    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert put(("report",), pipe) == (0, "")
        assert os.read(reader, 1 << 16).startswith(b"#")
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_socket_is_told_as_one(play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(play.root)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("here")
    assert "nothing can be written to here: it is a socket" in cli("export", "--out", "here")[2]


def test_what_a_kill_left_beside_a_file_goes_with_the_next_write_of_it(play: Play, cli: Call, tmp_path: Path) -> None:
    old, young = (tmp_path / f".notes.jsonl.memento-{digit * 16}" for digit in "01")
    others = [tmp_path / name for name in (".notes.jsonl.memento-mine", ".other.jsonl.memento-0000000000000000")]
    for path in (old, young, *others):
        path.write_text("half")
        os.utime(path, (1, 1) if path != young else None)
    assert cli("export", "--out", str(tmp_path / "notes.jsonl"), "-C", str(play.root))[0] == 0
    assert sorted(tmp_path.glob(".*memento-*")) == sorted([young, *others])


@pytest.mark.parametrize("words", LINKED, ids=" ".join)
def test_a_link_that_leads_to_itself_is_no_bug(play: Play, put: Any, words: tuple[str, ...]) -> None:
    """Before Python 3.13 nobody can follow it; since then it is replaced like any link that leads nowhere."""
    (play.root / "loop.md").symlink_to("loop.md")
    assert put(words, play.root / "loop.md") in ((1, "file_system"), (0, ""))
