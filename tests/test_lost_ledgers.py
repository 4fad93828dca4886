"""A ledger that is there and cannot be read for what it is: its policy removed, its folder replaced, a newer format."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from memento_git import projects
from memento_git.ledger import layout
from memento_git.ledger.missing_ledger import FolderReplaced, LedgerApart, LedgerRemoved, PolicyMissing
from memento_git.ledger.store import Ledger, NoLedger
from memento_git.ledger.view import LedgerUnreadable
from memento_git.ledger.writable_paths import UnsafePath
from memento_git.work.actions import plans
from memento_git.work.actions.setup import init_ledger
from tests.clones import Hub
from tests.play import commit_all, git, take_out

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

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
    take_out(play.root, layout.CONFIG, message="tidy")
    return play


def test_a_policy_that_is_no_yaml_is_told_with_the_commit_that_has_it_whole(play: Play, cli: Call) -> None:
    set_policy(play, STRICT)
    sound = git(play.root, "rev-parse", "HEAD")
    set_policy(play, f"{STRICT} lease: 1h\n")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "more work")
    assert "memento doctor says from which commit" in cli("status", "-C", str(play.root))[2]
    for verb in ("doctor", "check"):
        told = cli(verb, "-C", str(play.root))[1]
        assert f"restore what it was, and commit that: git checkout {sound[:12]} -- {layout.CONFIG}" in told, verb


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
def test_every_command_tells_that_the_policy_is_gone(lost: Play, cli: Call, command: str) -> None:
    code, out, _ = cli(*command.split(), "-C", str(lost.root), "--json")

    assert (code, json.loads(out)["error"]) == (4, "policy_missing")


def test_doctor_check_and_the_list_of_projects_tell_it_too_and_diff_shows_it(lost: Play, cli: Call) -> None:
    where = str(lost.root)
    assert "policy, is gone -> restore" in cli("doctor", "-C", where)[1]
    assert cli("check", "-C", where, "--json")[0] == 4
    assert "C004" in cli("check", "-C", where, "--base", "HEAD~1")[1]
    assert "removed .memento/config.yaml" in cli("diff", "HEAD~1", "-C", where)[1]
    git(lost.root, "reset", "-q", "--hard", "HEAD~1")
    projects.add_project(where, "shop")
    git(lost.root, "reset", "-q", "--hard", "ORIG_HEAD")
    assert [one.state for one in projects.projects()] == ["unreadable"]


@pytest.mark.parametrize("how", ["a commit", "a merge"])
def test_a_ledger_that_a_commit_removed_is_named_and_the_hint_brings_it_back(play: Play, cli: Call, how: str) -> None:
    run = play.run()
    head = git(play.root, "rev-parse", "HEAD")
    if how == "a merge":
        git(play.root, "switch", "-qc", "side")
        play.commit("side.txt", "here\n", "side")
        git(play.root, "switch", "-q", "main")
        git(play.root, "merge", "-q", "--no-ff", "--no-commit", "side")
    take_out(play.root, layout.FOLDER, message="away")
    removed = git(play.root, "rev-parse", "HEAD")
    (play.root / "more.txt").write_text("staged\n")
    git(play.root, "add", "more.txt")

    with pytest.raises(LedgerRemoved) as caught:
        play.ledger.view()
    assert str(caught.value) == f"there is no ledger at HEAD: commit {removed[:12]} removed it"
    assert cli("check", "--no-base", "-C", str(play.root))[0] == 1
    hint = caught.value.hint.partition(": ")[2].partition(" (")[0]
    assert hint in cli("doctor", "-C", str(play.root))[1]
    subprocess.run(hint, shell=True, check=True, cwd=play.root)

    assert play.ledger.view().runs() == [run]
    assert not git(play.root, "diff", head, "HEAD", "--", layout.FOLDER)
    assert git(play.root, "status", "--porcelain") == "A  more.txt"


def test_a_clone_without_trees_fetches_no_history_to_look_for_a_removed_ledger(
    play: Play, tmp_path: Path, cli: Call
) -> None:
    for command in ("rm -rq .memento", "commit -qm away", "config uploadpack.allowFilter true"):
        git(play.root, *command.split())
    there = tmp_path / "treeless"
    git(tmp_path, "clone", "-q", "--filter=tree:0", play.root.as_uri(), str(there))
    packs = [*there.glob(".git/objects/pack/*.pack")]

    assert "[no_ledger]" in cli("status", "-C", str(there))[2]
    assert [*there.glob(".git/objects/pack/*.pack")] == packs


def test_what_is_older_than_the_ledger_had_none_removed(play: Play) -> None:
    take_out(play.root, layout.FOLDER, message="away")

    with pytest.raises(NoLedger) as caught:
        play.ledger.view(["HEAD~2"])
    assert "removed" not in str(caught.value)


def test_a_new_ledger_in_the_place_of_a_removed_one_is_made_and_that_one_named(play: Play) -> None:
    take_out(play.root, layout.FOLDER, message="away")
    removed = git(play.root, "rev-parse", "HEAD")[:12]

    assert init_ledger(play.ledger)
    assert [one for one in play.ledger.warnings if f"commit {removed} removed the ledger that was here" in one]


def test_where_there_never_was_a_ledger_one_is_to_be_made(play: Play) -> None:
    git(play.root, "reset", "-q", "--hard", "HEAD~1")
    git(play.root, "branch", "-q", "-m", "only")

    with pytest.raises(NoLedger) as caught:
        play.ledger.view()
    assert caught.value.hint == f"make one: memento init -C {play.root}"


@pytest.fixture
def early(play: Play) -> Play:
    """A ledger that a branch of before it does not have yet."""
    git(play.root, "switch", "-qc", "early", "HEAD~1")
    return play


@pytest.mark.parametrize("command", [["status"], ["init"], ["run", "start", "--goal", "X"], ["check"]])
def test_a_branch_that_the_ledger_did_not_come_to_is_led_to_it(
    early: Play, cli: Call, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(early.root)
    head = git(early.root, "rev-parse", "HEAD")
    code, _, err = cli(*command)

    assert (code, git(early.root, "rev-parse", "HEAD")) == (1, head)
    where = head[:12] if command == ["check"] else "HEAD"
    assert f"there is no ledger at {where}, but main has one [no_ledger]\n next: bring it here: git merge main\n" in err


def test_a_branch_that_a_part_of_the_ledger_was_picked_onto_is_led_to_the_rest(early: Play) -> None:
    git(early.root, "switch", "-q", "main")
    early.run()
    git(early.root, "switch", "-q", "early")
    git(early.root, "cherry-pick", "main")
    with pytest.raises(LedgerApart) as caught:
        early.ledger.view()
    assert caught.value.hint == f"bring it here: git -C {early.root} merge main"
    git(early.root, "merge", "-q", "--no-edit", "main")
    assert early.ledger.view().runs()


def test_nobody_is_told_to_merge_in_the_middle_of_a_bisect_or_a_rebase(early: Play, cli: Call) -> None:
    git(early.root, "switch", "-q", "main")
    git(early.root, "bisect", "start", "HEAD", "HEAD~1")
    git(early.root, "checkout", "-q", "HEAD~1")
    told = cli("status", "-C", str(early.root))[2]
    assert "next: bring it here: a bisect is in progress: finish or abort it: git status says how" in told
    git(early.root, "bisect", "reset")
    git(early.root, "-c", "sequence.editor=sed -i 1ibreak", "rebase", "-q", "-i", "HEAD~1")
    told = cli("status", "-C", str(early.root))[2]
    assert "bring it here: a rebase is in progress: git rebase --continue, or git rebase --abort" in told


def test_it_is_brought_by_sync_where_the_upstream_has_it(
    early: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hub(early)
    git(early.root, "branch", "-q", "--set-upstream-to=origin/main", "early")
    there = f"-C {early.root}"
    assert (
        f"but origin/main has one [no_ledger]\n next: bring it here: memento sync {there}\n"
        in cli("status", "-C", str(early.root))[2]
    )
    monkeypatch.chdir(early.root)
    assert "next: bring it here: memento sync\n" in cli("status")[2]
    assert cli("sync", "origin", "--branch", "main")[0] == 0
    assert cli("status")[0] == 0


def test_where_another_branch_has_one_that_no_merge_would_bring_one_is_made(early: Play) -> None:
    git(early.root, "merge", "-q", "main")
    take_out(early.root, layout.FOLDER, message="away")
    assert init_ledger(early.ledger)
    git(early.root, "switch", "-q", "--orphan", "pages")
    git(early.root, "commit", "-q", "--allow-empty", "-m", "pages")
    assert init_ledger(early.ledger)


def test_a_branch_without_a_commit_is_led_to_a_ledger_too(early: Play) -> None:
    git(early.root, "switch", "-q", "--orphan", "new")
    with pytest.raises(LedgerApart) as caught:
        early.ledger.view()
    assert caught.value.hint == f"bring it here: git -C {early.root} merge main"


@pytest.mark.parametrize("how", ["cloned, its HEAD unknown", "fetched"])
def test_a_clone_without_a_commit_is_led_to_the_branch_of_the_remote(
    play: Play, tmp_path: Path, cli: Call, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    git(tmp_path, "init", "-q", "--bare", "--initial-branch=other", "hub")
    git(play.root, "push", "-q", str(tmp_path / "hub"), "main")
    if how == "fetched":
        git(tmp_path, "init", "-q", "--initial-branch=main", "there")
        git(tmp_path / "there", "remote", "add", "origin", str(tmp_path / "hub"))
        git(tmp_path / "there", "fetch", "-q", "origin")
    else:
        git(tmp_path, "clone", "-q", "hub", "there")
    monkeypatch.chdir(tmp_path / "there")

    code, _, err = cli("init")

    hint = "git switch --track origin/main"
    assert (code, f"but origin/main has one [no_ledger]\n next: bring it here: {hint}\n" in err) == (1, True)
    subprocess.run(hint, shell=True, check=True)
    assert cli("status")[0] == 0


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


def test_a_link_that_never_was_a_folder_is_taken_out(repo: Path, cli: Call) -> None:
    (repo / ".memento").symlink_to("../elsewhere")
    commit_all(repo, "link")
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
def test_a_newer_format_is_refused_by_every_command(play: Play, cli: Call, command: str) -> None:
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


@pytest.fixture
def away(play: Play) -> Path:
    """A branch that approves its own plan under a policy whose object git has lost; the object's file."""
    set_policy(play, "version: 1\npolicy:\n  plan:\n    not_author: true\n")
    git(play.root, "switch", "-qc", "work")
    run = play.run()
    play.as_("Bob").do(plans.approve_plan, play.do(plans.draft_plan, "Plan", "Do it.", run=run))
    for path in play.root.glob(".memento/runs/*/plans/*/*.yaml"):
        path.write_text(path.read_text().replace("by: Bob", "by: Ada"))
    play.commit_all("forged")
    blob = git(play.root, "rev-parse", f"HEAD:{layout.CONFIG}")
    return play.root / ".git" / "objects" / blob[:2] / blob[2:]


@pytest.mark.parametrize("options", ["--base main", "", "--staged", "--format junit", "--format sarif --base main"])
@pytest.mark.parametrize("state", ["gone", "corrupt", "cut short"])
def test_no_verdict_is_given_by_a_policy_that_git_does_not_have(
    play: Play, away: Path, cli: Call, options: str, state: str
) -> None:
    if options == "--staged":
        (play.root / ".memento" / "README.md").write_text("ours\n")
        git(play.root, "add", "--all")
    whole = away.read_bytes()
    away.unlink()
    if state != "gone":
        away.write_bytes(b"not an object" if state == "corrupt" else whole[:-3])
    shutil.rmtree(play.root / ".git" / "memento")

    code, out, _ = cli("check", *options.split(), "-C", str(play.root))

    assert (code, "F001" in out, "git does not have this object" in out) == (5, True, True)


def test_every_command_tells_that_the_policys_object_is_away_and_how_to_bring_it(
    play: Play, away: Path, cli: Call
) -> None:
    away.unlink()

    for command in ("status", "run start --goal X", "doctor"):
        _, out, err = cli(*command.split(), "-C", str(play.root))
        told = out + err
        assert "F001 git does not have this object" in told
        assert "git fetch --refetch" in told


def test_a_branch_that_writes_anew_a_policy_which_its_base_has_lost_is_not_judged_by_its_own(
    play: Play, away: Path, cli: Call
) -> None:
    set_policy(play, "version: 1\npolicy: {}\n")
    away.unlink()

    code, out, _ = cli("check", "--base", "main", "-C", str(play.root))

    assert (code, "F001 error git does not have this object" in out) == (5, True)


def test_a_folder_in_the_policys_place_that_never_was_a_file_is_not_brought_back_from_history(
    repo: Path, cli: Call
) -> None:
    (repo / layout.CONFIG).mkdir(parents=True)
    (repo / layout.CONFIG / "x").write_text("x")
    commit_all(repo, "odd")

    with Ledger.open(repo) as opened, pytest.raises(LedgerUnreadable, match="not a plain file") as caught:
        opened.view().policy()

    assert "a clone has it" in caught.value.hint
    code, out, _ = cli("check", "-C", str(repo))
    assert (code, "not a plain file" in out) == (5, True), "there is a ledger to check"
