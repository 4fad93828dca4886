"""A ledger that is there and cannot be read for what it is: its policy removed, its folder replaced, a newer format."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from memento_git import projects
from memento_git.ledger import layout
from memento_git.ledger.absence import FolderReplaced, PolicyMissing
from memento_git.ledger.places import UnsafePath
from memento_git.ledger.store import NoLedger
from memento_git.ledger.view import LedgerUnreadable
from memento_git.work.actions.setup import init_ledger
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.play import Play

STRICT = "version: 1\npolicy:\n  require: [test]\n"
READERS = (
    "status", "task list", "log", "log --commits", "recall answer", "note list", "session status", "code map", "report",
    "changes --since 2020-01-01", "check anchors", "diff HEAD~1", "hook install", "init", "run start --goal X",
)  # fmt: skip


def set_policy(play: Play, text: str) -> None:
    (play.root / layout.CONFIG).write_text(text)
    git(play.root, "commit", "-qam", "policy")


def pasted(play: Play, hint: str) -> None:
    """Do in a shell what a hint says after its colon, and commit it."""
    subprocess.run(hint.partition(": ")[2], shell=True, check=True, cwd=play.root)
    git(play.root, "commit", "-qm", "as the hint says")


@pytest.fixture
def lost(play: Play) -> Play:
    """A ledger whose policy somebody removed."""
    play.run()
    set_policy(play, STRICT)
    play.run("Another")
    git(play.root, "rm", "-q", layout.CONFIG)
    git(play.root, "commit", "-qm", "tidy")
    return play


def test_records_without_a_policy_are_no_missing_ledger_and_the_hint_brings_it_back(lost: Play) -> None:
    with pytest.raises(PolicyMissing) as caught:
        lost.ledger.view()
    with pytest.raises(PolicyMissing):
        lost.run()

    pasted(lost, caught.value.hint)

    assert (lost.root / layout.CONFIG).read_text() == STRICT
    assert len(lost.ledger.view().runs()) == 2


def test_init_makes_no_new_policy_over_records_that_lost_theirs(lost: Play) -> None:
    head = git(lost.root, "rev-parse", "HEAD")
    with pytest.raises(PolicyMissing):
        init_ledger(lost.ledger)

    assert git(lost.root, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("command", [one for one in READERS if not one.startswith("diff")])
def test_every_command_tells_that_the_policy_is_gone(lost: Play, cli: Callable[..., Any], command: str) -> None:
    code, out, _ = cli(*command.split(), "-C", str(lost.root), "--json")

    assert (code, json.loads(out)["error"]) == (4, "policy_missing")


def test_doctor_check_and_the_list_of_projects_tell_it_too_and_diff_shows_it(
    lost: Play, cli: Callable[..., Any]
) -> None:
    where = str(lost.root)
    assert "policy, is gone -> restore" in cli("doctor", "-C", where)[1]
    assert cli("check", "-C", where, "--json")[0] == 4
    assert "C004" in cli("check", "-C", where, "--base", "HEAD~1")[1]
    assert "removed .memento/config.yaml" in cli("diff", "HEAD~1", "-C", where)[1]
    git(lost.root, "reset", "-q", "--hard", "HEAD~1")
    projects.add_project(where, "shop")
    git(lost.root, "reset", "-q", "--hard", "ORIG_HEAD")
    assert [one.state for one in projects.projects()] == ["unreadable"]


def test_a_repository_without_records_still_has_no_ledger(play: Play) -> None:
    git(play.root, "rm", "-rq", layout.FOLDER)
    git(play.root, "commit", "-qm", "away")

    with pytest.raises(NoLedger):
        play.ledger.view()
    assert init_ledger(play.ledger)


def test_a_link_committed_in_place_of_the_folder_is_told_and_the_hint_puts_the_folder_back(play: Play) -> None:
    run = play.run()
    (play.root / ".memento").rename(play.root / "moved")
    (play.root / ".memento").symlink_to("moved")
    play.commit_all("link")

    with pytest.raises(FolderReplaced) as caught:
        play.ledger.view()
    with pytest.raises(UnsafePath) as refused:
        play.run()
    assert refused.value.hint == caught.value.hint

    pasted(play, caught.value.hint)

    assert play.ledger.view().runs() == [run]
    assert play.run() in play.ledger.view().runs()


def test_a_link_that_never_was_a_folder_is_taken_out(repo: Path, cli: Callable[..., Any]) -> None:
    (repo / ".memento").symlink_to("../elsewhere")
    git(repo, "add", "--all")
    git(repo, "commit", "-qm", "link")
    hint = json.loads(cli("status", "-C", str(repo), "--json")[1])["hint"]
    assert hint == json.loads(cli("init", "-C", str(repo), "--json")[1])["hint"]

    shown, _, memento = hint.partition(": ")[2].rpartition(" && ")
    subprocess.run(shown, shell=True, check=True, cwd=repo)
    assert memento == "memento init"
    assert cli("init", "-C", str(repo))[0] == 0


def test_where_history_is_too_short_to_bring_the_policy_back_another_clone_is_named(lost: Play, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", lost.root.as_uri(), "shallow")

    with pytest.raises(PolicyMissing) as caught:
        lost.beside(tmp_path / "shallow").ledger.view()
    assert "a clone" in caught.value.hint


def test_the_hint_on_a_link_that_is_not_committed_works_too(play: Play) -> None:
    (play.root / ".memento").rename(play.root.with_name("outside"))
    (play.root / ".memento").symlink_to("../outside")
    with pytest.raises(UnsafePath) as refused:
        play.run()

    subprocess.run(refused.value.hint.partition(": ")[2], shell=True, check=True, cwd=play.root)

    assert git(play.root, "status", "--short") == ""


@pytest.mark.parametrize("command", READERS)
def test_a_newer_format_is_refused_by_every_command(play: Play, cli: Callable[..., Any], command: str) -> None:
    play.run()
    set_policy(play, "version: 2\npolicy: {}\n")
    code, out, _ = cli(*command.split(), "-C", str(play.root), "--json")

    answer = json.loads(out)
    assert (code, answer["error"], answer["hint"]) == (4, "ledger_broken", "install a newer memento-git")


def test_a_newer_format_among_several_revisions_is_refused_and_older_ones_are_read(play: Play) -> None:
    play.run()
    set_policy(play, "version: 2\npolicy: {}\n")

    with pytest.raises(LedgerUnreadable, match="format version 2"):
        play.ledger.view(["HEAD~1", "HEAD"])
    assert play.ledger.view(["HEAD~1"]).runs()
