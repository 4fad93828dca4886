"""What a base cannot read stands for what it was when it could be read last, or for nothing."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memento_git.knowledge.actions import notes
from memento_git.ledger import layout
from memento_git.review import actions
from tests.play import git, take_out

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

EVENT = "20260101T100000000Z-{}-000000000009.yaml"
TWICE = "by: twice\n"


def look(play: Play, base: str = "main", *, staged: bool = False) -> list[str]:
    report = actions.check(play.ledger, base=base, no_base=not base, staged=staged)
    return [f"{one.code} {one.severity}" for one in report.findings]


def told(do: str, task: str, **more: str) -> str:
    rest = "".join(f"{key}: {value}\n" for key, value in more.items())
    return f"do: {do}\nof: {task}\nat: 2026-01-01T10:00:00.000Z\nby: Eve\nafter: []\n{rest}"


def unread(play: Play, branch: str) -> Path:
    """Commit an event that was never valid, on a branch that is made if it is not there; return the event."""
    run = play.planned()
    task = play.task()
    git(play.root, "switch", "-qC", branch)
    path = play.root / layout.folder_of(run, task) / EVENT.format("blocked")
    play.commit(path, told("blocked", task, reason="x") + TWICE, "never valid")
    return path


@pytest.fixture
def never(play: Play) -> Path:
    """Return an event that was never valid, on main; the branch `work` is checked out."""
    path = unread(play, "main")
    git(play.root, "switch", "-qc", "work")
    return path


@pytest.fixture
def broken(play: Play) -> tuple[Path, str]:
    """Return an event that was broken on main later, and what it was; the branch `work` is checked out."""
    task = play.planned_task()
    play.claimed(task)
    (path,) = play.root.glob(".memento/runs/*/tasks/*/*/*-claimed-*")
    said = path.read_text()
    play.commit(path, said + TWICE, "broken")
    git(play.root, "switch", "-qc", "work")
    return path, said


@pytest.mark.parametrize("voided", [False, True])
def test_what_was_never_valid_is_taken_out_by_the_printed_fix(
    play: Play, never: Path, cli: Call, *, voided: bool
) -> None:
    if voided:
        assert cli("settle", "--void", "event_000000000009", "--reason", "by hand", "-C", str(play.root))[0] == 0
    path = never.relative_to(play.root).as_posix()
    (found,) = [one for one in actions.check(play.ledger, no_base=True).findings if one.code == "F001"]
    assert found.fix == f"repair that line, or take it out, for no commit has it whole: git rm {path}"
    assert path in cli("doctor", "-C", str(play.root))[1]
    git(play.root, "rm", "-q", path)
    assert look(play, "", staged=True) == ["D012 warning"]
    git(play.root, "commit", "-qm", "out")
    assert look(play) == ["D012 warning"]
    assert look(play, "") == []
    assert cli("doctor", "-C", str(play.root))[0] == 0


def test_what_replaces_it_is_judged_as_what_is_added(play: Play, never: Path) -> None:
    task = never.parent.name
    play.commit(never, told("blocked", task, reason="x"), "repaired")
    plain = {"C002 warning", "D012 warning"}
    assert set(look(play)) == plain
    git(play.root, "switch", "-q", "main")
    done = never.with_name(EVENT.format("completed").replace("9.", "8."))
    done.write_text("<<<<<<< ours\n")
    play.commit_all("a second one")
    git(play.root, "switch", "-qc", "forging")
    git(play.root, "rm", "-q", str(never))
    done.write_text(told("completed", task, dispatch="dispatch_000000000001", code="{tree: " + "0" * 40 + "}"))
    play.commit_all("forged")
    replaced = set(look(play))
    git(play.root, "switch", "-q", "main")
    take_out(play.root, str(done), str(never), message="neither")
    git(play.root, "switch", "-qc", "adding")
    done.parent.mkdir(parents=True, exist_ok=True)
    done.write_text(told("completed", task, dispatch="dispatch_000000000001", code="{tree: " + "0" * 40 + "}"))
    play.commit_all("added")
    added = set(look(play))
    assert replaced == {*added, "D012 warning"}
    assert any(one.endswith("error") for one in added)


def test_a_repair_that_the_branch_takes_out_again_was_on_the_branch(play: Play, never: Path) -> None:
    play.commit(never, told("blocked", never.parent.name, reason="x"), "repaired")
    never.unlink()
    play.commit_all("and out")
    assert set(look(play)) == {"D010 error", "D012 warning"}


def test_what_could_be_read_once_is_only_restored(play: Play, broken: tuple[Path, str]) -> None:
    path, said = broken
    (found,) = [one for one in actions.check(play.ledger, no_base=True).findings if one.code == "F001"]
    path.unlink()
    play.commit_all("out")
    assert "D002 error" in look(play)
    play.commit(path, said.replace("claimed", "claimed ").replace("by: ", "by: Eve "), "other words")
    assert "D001 error" in look(play)
    play.commit(path, said + TWICE + TWICE, "broken in another way")
    assert {"D001 error", "F001 error"} <= set(look(play))
    subprocess.run(found.fix.partition("commit that: ")[2], shell=True, cwd=play.root, check=True)
    play.commit_all("restored")
    assert path.read_text() == said
    assert look(play) == []


def test_check_puts_back_what_could_be_read_last(play: Play, broken: tuple[Path, str]) -> None:
    path, said = broken
    path.unlink()
    play.commit_all("out")
    actions.check(play.ledger, base="main", fix=True)
    assert path.read_text() == said
    assert look(play) == []


def test_a_history_that_is_cut_short_lets_nothing_out(play: Play, never: Path, tmp_path: Path) -> None:
    git(play.root, "switch", "-q", "main")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "later")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{play.root}", "shallow")
    shallow = play.beside(tmp_path / "shallow")
    git(shallow.root, "switch", "-qc", "work")
    take_out(shallow.root, never.relative_to(play.root).as_posix(), message="out")
    assert look(shallow, "origin/main") == ["D002 error"]


def test_evidence_that_was_never_valid_goes_with_what_it_keeps(play: Play, run: str) -> None:
    path = play.root / layout.evidence_path(run, "evidence_000000000009")
    kept = play.root / layout.folder_of(run, "evidence_000000000009") / "stdout.txt"
    kept.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a: 1\na: 2\n")
    kept.write_text("shown\n")
    play.commit_all("never valid")
    git(play.root, "switch", "-qc", "work")
    take_out(play.root, str(path), str(kept), message="out")
    assert look(play) == ["D012 warning"]


@pytest.fixture
def own(play: Play) -> Path:
    """Return an event that was never valid and that the branch `work`, which is checked out, has added."""
    return unread(play, "work")


def test_what_a_branch_added_and_nobody_could_ever_read_is_taken_out_again_by_the_printed_fix(
    play: Play, own: Path
) -> None:
    found = actions.check(play.ledger, base="main").findings
    assert {one.code for one in found} == {"E001", "F001"}
    path = own.relative_to(play.root).as_posix()
    assert all(f"take it out, for no commit has it whole: git rm {path}" in one.fix for one in found)
    take_out(play.root, path, message="out")
    assert look(play) == []


def test_evidence_that_a_branch_added_and_nobody_could_ever_read_is_taken_out_again(play: Play, run: str) -> None:
    task = play.task()
    git(play.root, "switch", "-qc", "work")
    play.evidence(task)
    (path,) = play.root.glob(".memento/runs/*/evidence/*/*.yaml")
    path.write_text(path.read_text() + "colour: red\n")
    git(play.root, "commit", "-q", "--amend", "-am", "never valid")
    assert "F002 error" in look(play)
    take_out(play.root, str(path), str(path.with_suffix("")), message="out")
    assert look(play) == []


def test_a_voided_event_that_cannot_be_read_is_no_error_and_is_voided_once(play: Play, own: Path, cli: Call) -> None:
    void = ("settle", "--void", "event_000000000009", "--reason", "broken", "-C", str(play.root))
    assert cli(*void)[0] == 0
    assert look(play) == look(play, "") == ["F001 warning"]
    assert "warning  .memento" in cli("status", "-C", str(play.root))[1]
    assert cli("doctor", "-C", str(play.root))[0] == 0
    head = git(play.root, "rev-parse", "HEAD")
    code, _, err = cli(*void)
    assert (code, "[nothing_changed]" in err, git(play.root, "rev-parse", "HEAD")) == (1, True, head)
    take_out(play.root, str(own), message="out")
    assert look(play) == look(play, "") == []


def test_a_voided_event_of_a_note_that_cannot_be_read_is_no_error(play: Play, cli: Call) -> None:
    note = play.do(notes.add_note, "What is so.").id
    (text,) = play.root.glob(f".memento/knowledge/**/{note}.md")
    folder = text.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EVENT.format("confirmed")).write_text(told("confirmed", note) + TWICE)
    play.commit_all("never valid")
    assert look(play, "") == ["E001 error", "F001 error"]
    where = ("-C", str(play.root))
    assert cli("settle", "--void", "event_000000000009", "--reason", "broken", *where)[0] == 0
    assert look(play, "") == ["F001 warning"]
    assert cli("doctor", *where)[0] == 0


def test_what_the_branch_made_readable_is_not_changed_or_taken_out_again(play: Play, own: Path) -> None:
    play.commit(own, told("blocked", own.parent.name, reason="x"), "mended")
    assert "D010 error" not in look(play)
    play.commit(own, told("blocked", own.parent.name, reason="y"), "other words")
    assert "D010 error" in look(play)
    own.unlink()
    play.commit_all("out")
    assert "D010 error" in look(play)


def test_what_git_has_lost_is_not_taken_for_what_could_never_be_read(play: Play, own: Path) -> None:
    own.write_text(told("blocked", own.parent.name, reason="x"))
    git(play.root, "commit", "-q", "--amend", "-am", "valid")
    blob = git(play.root, "rev-parse", f"HEAD:{own.relative_to(play.root).as_posix()}")
    own.unlink()
    play.commit_all("out")
    (play.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert look(play) == ["D010 error"]
