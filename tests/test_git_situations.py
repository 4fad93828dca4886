"""Every situation that git can be in has a decided answer: what reading does, what writing does, with which token."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memento_git.knowledge import following
from memento_git.knowledge.actions import notes
from memento_git.ledger import checkouts, cleanroom, git_status, history, lock, publish, writable_paths
from memento_git.ledger.git import BareRepository, Git, GitFailed, WorkTreeMissing
from memento_git.ledger.store import Ledger, NoLedger
from memento_git.model.ids import make_id
from memento_git.work import codestate
from memento_git.work.actions import evidences, health
from memento_git.work.actions.setup import init_ledger
from tests.play import Play, git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.errors import MementoError
    from tests.play import Call


def refused(play: Play, error: type[MementoError]) -> None:
    """Assert that writing is refused before anything is written, and that reading works."""
    before = (git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--porcelain=v2"))
    with pytest.raises(error):
        play.run()
    assert play.ledger.view().exists
    assert (git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--porcelain=v2")) == before


def test_an_unborn_branch_gets_the_ledger_as_its_first_commit_and_keeps_staged_work(tmp_path: Path) -> None:
    root = tmp_path / "unborn"
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    (root / "app.py").write_text("answer = 42\n")
    git(root, "add", "app.py")
    with Ledger.open(root) as ledger:
        with pytest.raises(NoLedger):
            ledger.view()
        init_ledger(ledger)
        assert codestate.code_now(ledger.git)["tree"]

    assert git(root, "status", "--short") == "A  app.py"
    assert git(root, "ls-tree", "--name-only", "HEAD") == ".memento"


@pytest.mark.parametrize("command", ["check", "graph", "diff HEAD", "diff HEAD~1..HEAD", "status --at @"])
def test_an_unborn_branch_is_told_as_one(tmp_path: Path, cli: Call, command: str) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    code, out, _ = cli(*command.split(), "-C", str(tmp_path), "--json")
    answer = json.loads(out)
    assert (code, answer["error"], answer["hint"].rpartition(": ")[2]) == (1, "no_commit_yet", "memento init")
    out = cli("status", "--at", "main~9", "-C", str(tmp_path), "--json")[1]
    assert json.loads(out)["error"] == "revision_not_found"


@pytest.mark.parametrize(
    "move",
    [
        ("pack-refs", "--all"),
        ("checkout", "-q", "-b", "topic/part"),
        ("symbolic-ref", "refs/heads/alias", "refs/heads/main"),
        ("tag", "main", "HEAD^"),
    ],
    ids=lambda move: move[0],
)
def test_a_change_goes_to_the_branch_that_git_names(play: Play, move: tuple[str, ...]) -> None:
    play.run()
    git(play.root, *move)
    if move[0] == "symbolic-ref":
        git(play.root, "symbolic-ref", "HEAD", "refs/heads/alias")
    before, name = git(play.root, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD").split("\n")
    assert play.ledger.git.head() == (before, name)

    play.run(goal="Another goal")

    assert git(play.root, "rev-parse", f"{name}^") == before
    assert play.ledger.git.head() == (git(play.root, "rev-parse", "HEAD"), name)
    assert git(play.root, "status", "--short") == ""


def test_a_detached_head_is_moved_and_a_warning_says_so(play: Play) -> None:
    git(play.root, "switch", "-q", "--detach")
    main = git(play.root, "rev-parse", "main")

    run = play.run()

    assert run in play.ledger.view().runs()
    assert git(play.root, "rev-parse", "main") == main
    assert git(play.root, "rev-parse", "HEAD") != main
    assert git(play.root, "status", "--short") == ""
    assert any("detached" in warning for warning in play.ledger.warnings)


@pytest.fixture
def forked(play: Play) -> Play:
    """Two branches that conflict in app.py."""
    git(play.root, "switch", "-q", "-c", "other")
    play.commit("app.py", "answer = 1\n", "theirs")
    git(play.root, "switch", "-q", "main")
    play.commit("app.py", "answer = 2\n", "ours")
    return play


@pytest.mark.parametrize(
    ("start", "end", "what"),
    [
        (("merge", "other"), ("merge", "--abort"), "a merge"),
        (("rebase", "other"), ("rebase", "--abort"), "a rebase"),
        (("cherry-pick", "other"), ("cherry-pick", "--abort"), "a cherry-pick"),
        (("revert", "--no-edit", "HEAD~1..HEAD", "other"), ("revert", "--abort"), "a sequence of picks"),
        (("bisect", "start", "HEAD", "HEAD~2"), ("bisect", "reset"), "a bisect"),
    ],
    ids=["merge", "rebase", "cherry-pick", "revert", "bisect"],
)
def test_while_an_operation_is_in_progress_reading_works_and_writing_is_refused(
    forked: Play, cli: Call, start: tuple[str, ...], end: tuple[str, ...], what: str
) -> None:
    def first() -> str:
        step: dict[str, str] = json.loads(cli("status", "--json", "-C", str(forked.root))[1])["next"][0]
        return " ".join(step.values())

    head = git(forked.root, "rev-parse", "HEAD")
    git(forked.root, *start, check=False)

    refused(forked, publish.OperationUnderWay)
    assert f"{what} is in progress" in first()
    assert first().endswith("git status")

    git(forked.root, *end)
    assert "in progress" not in first()
    assert git(forked.root, "rev-parse", "HEAD") == head
    assert git(forked.root, "status", "--short") == ""
    assert forked.run() in forked.ledger.view().runs()


def test_a_rebase_that_stopped_before_its_first_step_is_led_to_what_ends_it(play: Play, cli: Call) -> None:
    """What is left where a rebase had put the user's edits aside, and could not begin: no step of git's goes on."""
    play.run()
    (play.root / "app.py").write_text("answer = 43\n")
    stuck = play.root / ".git" / "rebase-merge"
    stuck.mkdir()
    (stuck / "autostash").write_text(git(play.root, "stash", "create") + "\n")
    git(play.root, "reset", "-q", "--hard")

    with pytest.raises(publish.OperationUnderWay) as refusal:
        play.run()
    assert "git rebase --quit" in refusal.value.hint
    (told,) = [one for one in health.machine(play.ledger) if one.name == "operation"]
    assert told.fix.startswith("git rebase --quit; ")
    step = json.loads(cli("status", "--json", "-C", str(play.root))[1])["next"][0]["command"]
    assert step == "git rebase --quit"

    git(play.root, *step.split()[1:])
    git(play.root, "stash", "pop", "-q")
    assert (play.root / "app.py").read_text() == "answer = 43\n"
    assert play.run() in play.ledger.view().runs()


@pytest.fixture
def reftabled(forked: Play) -> Play:
    """The same with the refs in a reftable, as git makes repositories where it is told to."""
    try:
        git(forked.root, "refs", "migrate", "--ref-format=reftable")
    except AssertionError as error:
        pytest.skip(f"a git that has no reftable, or cannot change to it: {error}")
    return forked


@pytest.mark.parametrize("start", ["cherry-pick", "revert"])
def test_a_pick_in_progress_that_no_file_tells_of_refuses_writing_too(reftabled: Play, start: str) -> None:
    git(reftabled.root, start, "other", check=False)

    refused(reftabled, publish.OperationUnderWay)
    assert [one.status for one in health.machine(reftabled.ledger) if one.name == "operation"] == ["warn"]

    git(reftabled.root, start, "--abort")
    assert reftabled.run() in reftabled.ledger.view().runs()


def test_a_reftable_that_is_locked_for_ever_refuses_and_changes_nothing(reftabled: Play) -> None:
    held = reftabled.root / ".git" / "reftable" / "tables.list.lock"
    held.touch()

    refused(reftabled, lock.RefLocked)
    assert any("tables.list.lock exists" in one.message for one in health.machine(reftabled.ledger))

    held.unlink()
    assert reftabled.run() in reftabled.ledger.view().runs()


def test_patches_being_applied_refuse_writing_too(forked: Play) -> None:
    patch = git(forked.root, "format-patch", "--stdout", "-1", "other")
    git(forked.root, "am", data=patch.encode(), check=False)

    refused(forked, publish.OperationUnderWay)

    git(forked.root, "am", "--abort")


@pytest.mark.parametrize("hook", ["pre-commit", "commit-msg", "post-commit"])
def test_a_writer_that_a_hook_calls_is_refused_and_the_commit_goes_on(play: Play, hook: str) -> None:
    play.run()
    answer = play.root.parent / "answer"
    script = play.root / ".git" / "hooks" / hook
    command = f"{sys.executable} -m memento_git run start --goal Hooked --json >{answer} 2>&1"
    script.write_text(f"#!/bin/sh\n{command}\n{sys.executable} -m memento_git status >/dev/null || exit 7\nexit 0\n")
    script.chmod(0o755)
    (play.root / "app.py").write_text("answer = 43\n")

    git(play.root, "commit", "-qam", "theirs")

    assert "inside_hook" in answer.read_text()
    assert git(play.root, "log", "-1", "--format=%s") == "theirs"
    assert git(play.root, "status", "--short") == ""


def test_the_environment_never_leads_to_another_repository(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(play.root), str(other))
    head = git(other, "rev-parse", "HEAD")
    foreign = {
        "GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_COMMON_DIR": other / ".git",
        "GIT_OBJECT_DIRECTORY": other / ".git" / "objects", "GIT_NAMESPACE": "theirs", "GIT_PREFIX": "deep/",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.worktree", "GIT_CONFIG_VALUE_0": other,
        "GIT_GLOB_PATHSPECS": "1", "GIT_ICASE_PATHSPECS": "1",
    }  # fmt: skip

    with monkeypatch.context() as patch:
        for name, value in foreign.items():
            patch.setenv(name, str(value))
        here = play.beside(play.root)
        run = here.run()

    assert here.ledger.git.top == play.root
    assert git(other, "rev-parse", "HEAD") == head
    assert f"Memento-Run: {run}" in git(play.root, "log", "-1", "--format=%B")


def test_a_bare_repository_is_read_at_any_revision_and_never_written(play: Play, tmp_path: Path) -> None:
    first, second = play.run("First"), play.run("Second")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(play.root), str(bare))
    there = play.beside(bare)

    assert set(there.ledger.view().runs()) == {first, second}
    assert there.ledger.view(["HEAD~1"]).runs() == [first]
    with pytest.raises(BareRepository):
        there.run()
    assert not (bare / "memento" / "journal").exists()


def test_the_git_directory_of_a_checkout_is_read_and_never_written(play: Play) -> None:
    run = play.run()
    inside = play.beside(play.root / ".git")

    assert inside.ledger.view().runs() == [run]
    with pytest.raises(BareRepository):
        inside.run()


def test_a_shallow_clone_is_read_and_written(play: Play, tmp_path: Path) -> None:
    run = play.run()
    play.run("Another")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{play.root}", str(shallow))
    there = play.beside(shallow)

    new = there.run("Here")

    assert {run, new} <= set(there.ledger.view().runs())
    assert git(shallow, "status", "--short") == ""
    git(shallow, "push", "-q", "origin", "HEAD:theirs")


def test_a_sha256_repository_is_written_and_names_its_code(tmp_path: Path) -> None:
    root = tmp_path / "wide"
    git(tmp_path, "init", "-q", "--object-format=sha256", "-b", "main", str(root))
    (root / "app.py").write_text("answer = 42\n")
    git(root, "add", "app.py")
    git(root, "commit", "-qm", "code")
    with Ledger.open(root) as ledger:
        init_ledger(ledger)
        wide = Play(ledger)
        wide.planned()
        task = wide.proven()
        assert wide.is_proven(task)
        assert len(codestate.code_now(ledger.git)["tree"]) == 64
        view = ledger.view()
        rows = history.ledger_commits(view, history.commit_names(view))
        assert [row["subject"] for row in rows][-1] == "memento: init"
        assert {(len(row["commit"]), row["author"]) for row in rows} == {(64, "Ada <ada@example.invalid>")}
        assert rows[0]["trailers"]["Memento-Actor"] == ["Ada <ada@example.invalid>"]

    assert git(root, "status", "--short") == ""
    git(root, "fsck", "--strict")


def test_commits_of_any_date_encoding_and_message_are_listed(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    play.run()
    (play.root / ".memento" / "README.md").write_text("mine\n")
    git(play.root, "add", "--all")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@99999999999999 +0100")
    git(play.root, "-c", "i18n.commitEncoding=latin-1", "commit", "-qF", "-", data="Grü\n\nText: x\n".encode("latin-1"))
    for encoding in ("hex", "idna", "nobody-knows"):
        (play.root / ".memento" / "README.md").write_text(encoding)
        git(play.root, "-c", f"i18n.commitEncoding={encoding}", "commit", "-qam", "words")

    view = play.ledger.view()
    rows = history.ledger_commits(view, history.commit_names(view))

    assert [row["subject"] for row in rows[:4]] == ["words", "words", "words", "Grü"]
    assert rows[0]["trailers"] == {}
    assert set(rows[4]["trailers"]) == {"Memento-Action", "Memento-Run", "Memento-Record", "Memento-Actor"}


def test_who_wrote_a_commit_of_an_odd_encoding_is_listed_as_its_bytes_say(play: Play) -> None:
    base, note = git(play.root, "rev-parse", "HEAD"), play.do(notes.add_note, "The port is 80.").id
    (path,) = play.root.glob(f".memento/knowledge/**/{note}.md")
    play.commit(path, path.read_text().replace("80", "443"), "better")
    head, _, message = git(play.root, "cat-file", "commit", "HEAD").partition("\n\n")
    data = f"{head}\nencoding IBM037\n\n{message}\n".encode()
    made = git(play.root, "hash-object", "-t", "commit", "-w", "--stdin", data=data)
    git(play.root, "reset", "-q", "--soft", made)
    assert git(play.root, "log", "-1", "--format=%ae") != "ada@example.invalid"

    (row,) = history.ledger_commits(play.ledger.view(), [made])
    found = history.revised(play.ledger.git, [base], [made])[path.relative_to(play.root).as_posix()]

    assert (row["author"], found.actors[-1]) == ("Ada <ada@example.invalid>", "Ada <ada@example.invalid>")
    assert row["date"][:4] == found.at[:4] == "2026"
    assert made in history.commit_names(play.ledger.view(), who="ada@example")
    assert history.commit_names(play.ledger.view(), who="nobody@example") == []


@pytest.mark.parametrize(
    ("told", "when"),
    [(" -5 +0000", "1970-01-01T00:00:00"), ("", "1970-01-01T00:00:00"), ("\t1700000000+0000", "2023-11-14T22:13:20")],
)
def test_a_commit_that_says_no_time_or_says_it_oddly_is_read(play: Play, told: str, when: str) -> None:
    play.run()
    ada = "Ada <ada@example.invalid>"
    text = f"tree {git(play.root, 'rev-parse', 'HEAD^{tree}')}\nauthor {ada} 1 +0000\ncommitter {ada}{told}\n\nodd\n"
    odd = git(play.root, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", data=text.encode())
    assert play.ledger.view([odd]).now == f"{when}.000Z"


def test_line_endings_of_the_users_platform_never_make_the_ledger_dirty(play: Play, tmp_path: Path) -> None:
    clone = tmp_path / "crlf"
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", "-c", "core.safecrlf=true", str(play.root), str(clone))
    there = play.beside(clone)
    assert b"\r\n" in (clone / "app.py").read_bytes()

    there.planned()
    task = there.proven()
    path = ".memento/.gitattributes"
    there.ledger.change("attributes", lambda tx: tx.put(path, (tx.view.read(path) or b"") + b"*.txt -text\n"))

    assert there.is_proven(task)
    assert git(clone, "status", "--short") == ""
    assert b"*.txt" in (clone / path).read_bytes()
    assert all(b"\r" not in file.read_bytes() for file in clone.glob(".memento/runs/**/*.yaml"))


def test_a_repository_is_clean_for_plumbing_too_after_a_write(play: Play, run: str) -> None:
    play.proven()

    for command in (["diff-files", "--quiet"], ["diff-index", "--quiet", "HEAD"]):
        assert subprocess.run(["git", *command], cwd=play.root, check=False).returncode == 0


def test_a_reader_changes_no_file(play: Play, run: str) -> None:
    play.ledger.view()
    before = {path: path.stat().st_mtime_ns for path in play.root.rglob("*")}

    with Ledger.open(play.root) as again:
        again.view().runs()

    assert {path: path.stat().st_mtime_ns for path in play.root.rglob("*")} == before


def test_ledger_commits_run_no_hook_of_the_user(play: Play) -> None:
    told = play.root.parent / "told"
    names = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"]
    for name in [*names, "post-index-change", "pre-auto-gc"]:
        script = play.root / ".git" / "hooks" / name
        script.write_text(f"#!/bin/sh\necho {name} >>{told}\nexit 1\n")
        script.chmod(0o755)

    run = play.run()

    assert not told.exists()
    assert run in play.ledger.view().runs()


def test_ledger_commits_run_no_hook_that_the_users_configuration_names(play: Play) -> None:
    """As git does from 2.54 on."""
    told = play.root.parent / "told"
    for event in ("pre-commit", "post-commit", "reference-transaction", "post-index-change", "post-checkout"):
        git(play.root, "config", f"hook.of-{event}.event", event)
        git(play.root, "config", f"hook.of-{event}.command", f"echo {event} >>{told}; false")

    run = play.run()
    with cleanroom.cleanroom(play.ledger.git, "HEAD") as folder:
        assert (folder / "app.py").exists()

    assert not told.exists()
    assert run in play.ledger.view().runs()


def test_ledger_files_are_ordinary_files_below_the_users_umask(play: Play) -> None:
    before = os.umask(0o077)
    try:
        play.run()
    finally:
        os.umask(before)

    entries = git(play.root, "ls-tree", "-r", "HEAD", "--", ".memento").splitlines()
    assert {entry.split()[0] for entry in entries} == {"100644"}
    modes = {stat.S_IMODE(path.stat().st_mode) for path in play.root.glob(".memento/runs/**/*.*")}
    assert modes == {0o600}
    assert git(play.root, "status", "--short") == ""


def test_a_linked_ledger_folder_is_refused_and_nothing_is_written_outside(play: Play, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (play.root / ".memento").rename(outside)
    (play.root / ".memento").symlink_to(outside)
    before = sorted(outside.rglob("*"))
    head = git(play.root, "rev-parse", "HEAD")

    with pytest.raises(writable_paths.UnsafePath):
        play.run()

    assert sorted(outside.rglob("*")) == before
    assert git(play.root, "rev-parse", "HEAD") == head
    assert play.ledger.view().exists


def test_a_path_with_a_colon_and_quotes_is_a_path_like_any_other(tmp_path: Path) -> None:
    root = tmp_path / 'a:b "c" d\\e'
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    (root / "app.py").write_text("answer = 42\n")
    os.utime(root / "app.py", (1, 1))
    git(root, "add", "app.py")
    git(root, "commit", "-qm", "code")
    with Ledger.open(root) as ledger:
        init_ledger(ledger)
        assert codestate.code_now(ledger.git)["dirty"] is False

    assert git(root, "status", "--short") == ""


@pytest.mark.parametrize("name", ["two\nlines", "carriage\rreturn", "next\x85line", "line\u2028separator", "end\n"])
def test_a_path_of_several_lines_is_a_path_like_any_other_and_nothing_is_made_beside_it(
    play: Play, tmp_path: Path, name: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    run = play.run()
    git(place, "clone", "-q", str(play.root), name)
    git(place, "clone", "-q", "--bare", str(play.root), f"{name}.git")
    before = sorted(place.iterdir())

    there = play.beside(place / name)
    task = there.task()
    checkout = checkouts.add(there.ledger.git, make_id("dispatch", b"12345678"), place / name / "trees")

    assert there.ledger.git.top == place / name
    assert there.ledger.view().find(task, "task")[1] == run
    assert checkout.path in checkouts.listed(there.ledger.git)
    assert checkouts.remove(there.ledger.git, checkout, branch=True) == ""
    assert play.beside(place / f"{name}.git").ledger.view().runs() == [run]
    assert sorted(place.iterdir()) == before
    assert git(place / name, "status", "--short") == ""


def test_a_work_tree_that_knows_nothing_of_its_git_directory_is_read_and_written(play: Play, tmp_path: Path) -> None:
    run = play.run()
    away, inside = tmp_path / "home", tmp_path / "kept.git"
    git(tmp_path, "clone", "-q", "--bare", str(play.root), str(inside))
    away.mkdir()
    git(inside, "config", "core.bare", "false")
    git(inside, "config", "core.worktree", str(away))
    git(inside, "reset", "-q", "--hard")

    there = play.beside(inside)
    task = there.task()

    assert there.ledger.view().find(task, "task")[1] == run
    assert there.ledger.warnings == []
    assert codestate.code_now(there.ledger.git)["dirty"] is False
    assert (there.ledger.git.top, git(inside, "status", "--short")) == (away, "")
    assert list(away.glob(f".memento/runs/{run}/tasks/*/{task}/task.md"))
    assert not (away / "memento").exists()


def test_a_work_tree_that_lies_in_another_repository_is_its_own(play: Play, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "-b", "main", str(other))
    git(play.root, "config", "core.worktree", str(other))
    git(play.root, "reset", "-q", "--hard")

    there = play.beside(play.root)
    run = there.run()

    assert there.ledger.view().runs() == [run]
    assert not (other / ".git" / "memento").exists()
    assert git(other, "for-each-ref") == ""


@pytest.mark.parametrize("setting", [("core.worktree", "../../elsewhere"), ("core.bare", "true")], ids=" ".join)
def test_a_command_that_configures_another_work_tree_loses_nothing_of_the_ledger(
    play: Play, tmp_path: Path, setting: tuple[str, str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    play.planned()
    draft = evidences.witness(play.ledger, ["git", "config", *setting], kind="test", quiet=True)
    evidence = play.do(evidences.record_draft, draft)
    git(play.root, "config", "--unset", setting[0])

    assert git(play.root, "status", "--short") == ""
    assert evidence in git(play.root, "ls-files", ".memento")
    assert draft.data["code"]["dirty"] is False


def test_a_work_tree_that_is_configured_and_not_there_is_named(play: Play, tmp_path: Path) -> None:
    git(play.root, "config", "core.worktree", str(tmp_path / "away"))
    with pytest.raises(WorkTreeMissing, match=r"names .*/away, and there is no such folder"):
        Ledger.open(play.root)
    git(play.root, "config", "--unset", "core.worktree")
    Ledger.open(play.root).close()


def test_a_program_that_signs_and_goes_into_another_repository_finds_its_files_there(
    play: Play, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "other")
    (tmp_path / "other" / "loose.txt").write_text("loose\n")
    told, program = tmp_path / "told", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ngit -C {tmp_path / 'other'} status --short > {told}\nexit 1\n")
    program.chmod(0o755)
    git(play.root, "config", "gpg.program", str(program))
    git(play.root, "config", "commit.gpgSign", "true")
    with pytest.raises(publish.SigningFailed):
        play.beside(play.root).run()
    assert told.read_text() == "?? loose.txt\n"


ASSUMED, SKIPPED = "--assume-unchanged", "--skip-worktree"


@pytest.mark.parametrize("flags", [[ASSUMED], [SKIPPED], [ASSUMED, SKIPPED]], ids=" ".join)
def test_what_git_was_told_not_to_look_at_is_part_of_the_code_that_a_command_sees(play: Play, flags: list[str]) -> None:
    for flag in flags:
        git(play.root, "update-index", flag, "app.py")
    told = git(play.root, "ls-files", "-v", "app.py")
    clean = codestate.code_now(play.ledger.git)
    (play.root / "app.py").write_text("answer = 43\n")

    seen = codestate.code_now(play.ledger.git)

    assert (clean["dirty"], seen["dirty"]) == (False, True)
    assert git(play.root, "ls-files", "-v", "app.py") == told
    with following.opened(play.ledger.git) as follower:
        assert follower.work_tree([]).blob("app.py") == play.ledger.git.blob_id(b"answer = 43\n")
    for flag in flags:
        git(play.root, "update-index", flag.replace("--", "--no-"), "app.py")
    play.commit_all("as it was seen")
    assert codestate.code_at(play.ledger.git, "HEAD")["tree"] == seen["tree"]


def test_a_file_that_is_assumed_unchanged_and_gone_is_gone(play: Play) -> None:
    git(play.root, "update-index", "--assume-unchanged", "app.py")
    (play.root / "app.py").unlink()

    assert codestate.code_now(play.ledger.git)["dirty"] is True


@pytest.mark.parametrize("index", ["sparse", "full"])
def test_in_a_sparse_checkout_what_is_there_counts_and_what_is_left_out_is_not_deleted(play: Play, index: str) -> None:
    for name in ("in/a.py", "out/b.py"):
        (play.root / name).parent.mkdir()
        (play.root / name).write_text("answer = 42\n")
    play.commit_all("code")
    option = "--sparse-index" if index == "sparse" else "--no-sparse-index"
    git(play.root, "sparse-checkout", "set", "--cone", option, "in", ".memento")
    assert not (play.root / "out").exists()
    assert codestate.code_now(play.ledger.git)["dirty"] is False

    (play.root / "out").mkdir()
    (play.root / "out" / "b.py").write_text("answer = 43\n")

    assert codestate.code_now(play.ledger.git)["dirty"] is True
    assert git(play.root, "ls-files", "-v", "in/a.py") == "H in/a.py"


def test_what_is_hidden_in_the_work_tree_of_a_dispatch_is_part_of_its_work(play: Play, tmp_path: Path) -> None:
    checkout = checkouts.add(play.ledger.git, make_id("dispatch", b"12345678"), tmp_path / "trees")
    inside = checkouts.opened(play.ledger.git, checkout)
    assert inside is not None
    git(checkout.path, "update-index", "--skip-worktree", "app.py")
    (checkout.path / "app.py").write_text("answer = 43\n")

    work = checkouts.look(inside, checkout.base)

    assert work.changed
    assert git(checkout.path, "cat-file", "blob", f"{work.tree}:app.py") == "answer = 43"


def test_a_hand_made_file_where_the_ledger_writes_is_kept(play: Play) -> None:
    path = play.root / ".memento" / "extra.md"
    path.write_text("mine\n")

    play.ledger.change("extra", lambda tx: tx.put(".memento/extra.md", b"ours\n"))

    assert path.read_text() == "mine\n"
    assert git(play.root, "status", "--short") == "M .memento/extra.md"
    assert git(play.root, "show", "HEAD:.memento/extra.md") == "ours"


@pytest.mark.parametrize(("path", "what"), [("extra", "file"), ("extra/a/new.md", "folder")])
def test_what_lies_in_the_way_of_a_file_is_named_before_the_branch_moves(play: Play, path: str, what: str) -> None:
    place = play.root / ".memento" / path
    place.mkdir(parents=True) if what == "folder" else place.write_text("mine\n")
    head = git(play.root, "rev-parse", "HEAD")

    with pytest.raises(writable_paths.PlaceTaken, match=rf"^\.memento/{path} is a {what}, ") as refused:
        play.ledger.change("extra", lambda tx: tx.put(".memento/extra/a/new.md", b"ours\n"))

    assert refused.value.token == "place_taken"
    assert git(play.root, "rev-parse", "HEAD") == head
    assert place.exists()


def test_the_link_where_no_ledger_was_yet_is_taken_away(repo: Path, tmp_path: Path) -> None:
    (repo / ".memento").symlink_to(tmp_path)
    with Ledger.open(repo) as ledger:
        with pytest.raises(writable_paths.UnsafePath) as refused:
            init_ledger(ledger)
        subprocess.run(refused.value.hint.rpartition(": ")[2], shell=True, check=True, cwd=repo)
        init_ledger(ledger)
    assert git(repo, "status", "--short") == ""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder on another file system than the test's own, where this machine has one that it may write to."""
    places = [place for place in (Path("/dev/shm"), Path("/var/tmp")) if place.is_dir() and os.access(place, os.W_OK)]
    base = next((place for place in places if place.stat().st_dev != tmp_path.stat().st_dev), tmp_path)
    with tempfile.TemporaryDirectory(dir=base) as folder:
        yield Path(folder)


def test_the_work_tree_may_lie_on_another_file_system(tmp_path: Path, elsewhere: Path) -> None:
    root, inside = tmp_path / "apart", elsewhere / "git"
    git(tmp_path, "init", "-q", "-b", "main", "--separate-git-dir", str(inside), str(root))
    with Ledger.open(root) as ledger:
        init_ledger(ledger)

    assert git(root, "status", "--short") == ""
    assert sorted(path.name for path in (root / ".memento").iterdir()) == [".gitattributes", "README.md", "config.yaml"]


def test_what_git_cannot_answer_is_told_by_the_name_of_its_command(repo: Path) -> None:
    (repo / ".git" / "index").write_text("no index")

    with pytest.raises(GitFailed, match=r"^git status failed: "):
        git_status.ask(Git(repo), "app.py").answer()


def test_every_row_of_the_document_names_tests_that_exist() -> None:
    tests = Path(__file__).parent
    text = (tests.parent / "docs" / "reference" / "git-situations.md").read_text()
    names = set(re.findall(r"def test_(\w+)", "".join(file.read_text() for file in tests.glob("test_*.py"))))
    claimed = [name.removesuffix("…") for name in re.findall(r"`(\w+…)`", text)]

    assert len(claimed) > 40
    assert [name for name in claimed if not any(test.startswith(name) for test in names)] == []
