"""Cheats with history: merges that drop or smuggle, reverts, squashes, rewritten bases, and what git can be told."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout
from memento_git.review import actions
from memento_git.work.actions import tasks
from tests.cheats.forging import ADA, MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cheats.doors import Doors

REVIEW = "quality_review"


@pytest.fixture
def doors(doors: Doors) -> Doors:
    """A reviewer has a branch of their own, from where the run has one proven task."""
    doors.play.proven("One")
    doors.landed()
    git(doors.root, "branch", "review")
    return doors


def _failed_elsewhere(doors: Doors) -> str:
    """Let a reviewer fail the run's gate on a branch of their own; return the run."""
    play = doors.play
    git(doors.root, "switch", "-q", "review")
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    git(doors.root, "switch", "-q", WORK)
    return run


def test_a_merge_that_drops_a_side_is_found(doors: Doors) -> None:
    """Way: the reviewer's branch is merged with `-s ours`: git takes it for merged, and its failure is gone."""
    run = _failed_elsewhere(doors)
    git(doors.root, "merge", "-q", "-s", "ours", "-m", "merge review", "review")
    assert doors.gate(REVIEW, run) == "none"
    assert "took it away" in doors.caught("D010")
    git(doors.root, "merge", "-q", "-s", "ours", "--no-ff", "-m", "merge again", MAIN)
    doors.caught("D010")


def test_a_merge_commit_on_the_main_branch_that_drops_a_side_is_found(doors: Doors) -> None:
    """Way: the same on the main branch itself, where the tree is as the first parent's."""
    _failed_elsewhere(doors)
    with doors.away():
        git(doors.root, "merge", "-q", "-s", "ours", "-m", "merge review", "review")
        code, found = doors.check()
    assert (code, {row["code"] for row in found if row["severity"] == "error"}) == (5, {"D010"})


def test_a_merge_with_its_parents_swapped_is_found(doors: Doors) -> None:
    """Way: the branch is the first parent and the main one the second, so that the main one's events look foreign."""
    run = _failed_elsewhere(doors)
    doors.play.task("Three")
    swapped = doors.commit_tree(f"{WORK}^{{tree}}", WORK, "review")
    doors.adopt(swapped)
    assert doors.gate(REVIEW, run) == "none"
    doors.caught("D010")
    code, found = doors.check("--base", "review")
    assert (code, {row["code"] for row in found if row["severity"] == "error"}) == (5, {"D002", "D006"})


def test_an_octopus_merge_is_judged_as_a_whole(doors: Doors) -> None:
    """Way: three sides at once, one of which completes a task on evidence that failed."""
    play = doors.play
    task, other = play.task("Two"), play.task("Three")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    doors.landed()
    for name in ("a", "b"):
        git(doors.root, "branch", "-q", name)
    git(doors.root, "switch", "-q", "a")
    doors.forge(task, "completed", **doors.completion(task, bad, dispatch=claim))
    git(doors.root, "switch", "-q", "b")
    play.do(tasks.block_task, other, reason="Wait.")
    git(doors.root, "switch", "-q", WORK)
    play.task("Four")
    git(doors.root, "merge", "-q", "-m", "octopus", "a", "b")
    assert len(git(doors.root, "rev-list", "--parents", "-1", "HEAD").split()) == 4
    assert f"{task} is completed, but not proven" in doors.caught("P001")
    doors.unproven(task, "failed")


def test_events_that_only_a_merge_commit_adds_are_judged_and_its_author_told(doors: Doors) -> None:
    """Way: an `evil` merge: the event is in neither parent, so that no commit of the branch shows it."""
    play = doors.play
    task = play.task("Two")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    doors.landed()
    git(doors.root, "switch", "-q", "-C", "review")
    play.task("Three")
    git(doors.root, "switch", "-q", WORK)
    play.task("Four")
    path, data = doors.drafted(task, "completed", by="Bob", **doors.completion(task, bad, dispatch=claim))
    git(doors.root, "merge", "-q", "--no-commit", "review")
    (doors.root / path).write_bytes(data)
    git(doors.root, "add", path)
    git(doors.root, "commit", "-qm", "merge review")
    assert "not by Bob" in doors.caught("T002")
    code, found = doors.check("--base", MAIN)
    assert (code, [row["message"] for row in found if row["code"] == "C002"]) == (
        5, ["1 record by Bob was committed by Ada <ada@example.invalid>"],
    )  # fmt: skip


def test_a_reverted_block_is_found(doors: Doors) -> None:
    """Way: `git revert` of the commit that blocked a task, on the base or on the branch itself."""
    play = doors.play
    task = play.task("Two")
    play.do(tasks.block_task, task, reason="Wait.")
    blocked = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "branch", "-qf", MAIN, "HEAD^")
    git(doors.root, "revert", "--no-edit", blocked)
    assert play.status(task) == "pending"
    doors.caught("D010")
    git(doors.root, "branch", "-qf", MAIN, blocked)
    doors.caught("D002")


@pytest.mark.parametrize("when", ["abc +0000", "-5 +0000", "", "9" * 30 + " +0000"])
def test_a_commit_whose_date_cannot_be_read_hides_nothing(doors: Doors, when: str) -> None:
    """Way: an author line without a time, which git takes all the same."""
    run = doors.play.state(doors.play.proven()).id
    doors.landed()
    doors.forge(run, "completed")
    head, _, words = git(doors.root, "cat-file", "commit", WORK).partition("\n\n")
    lines = [f"{line.rpartition('> ')[0]}> {when}" if line.startswith("author ") else line for line in head.split("\n")]
    data = "\n".join([*lines, "", words, ""]).encode()
    doors.adopt(git(doors.root, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", data=data))
    doors.remove(doors.path(doors.last(run, "completed")))
    doors.play.task("Another")
    doors.caught("D010")


def test_a_squash_keeps_a_failed_verdict(doors: Doors) -> None:
    """Way: a branch that failed is squashed. The verdict is in the tree, not in the history."""
    play = doors.play
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    git(doors.root, "reset", "-q", "--soft", MAIN)
    git(doors.root, "commit", "-qm", "squashed")
    assert doors.gate(REVIEW, run) == "failed"
    doors.refused("review_gate_blocking", "dispatch create", task=play.state(run).ids("task")[-1], executor="x")
    doors.sound()


def test_a_verdict_that_a_rewritten_branch_never_had_is_a_known_limit(doors: Doors) -> None:
    """Limit: who rewrites their own branch before anybody fetched it takes back what they wrote there themselves."""
    play = doors.play
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    seen = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    doors.sound()
    code, found = doors.check("--base", seen)
    assert (code, found) == (0, [])
    git(doors.root, "commit", "-q", "--allow-empty", "-m", "on")
    told = actions.check(play.ledger, at=WORK, base=seen)
    assert (told.base, doors.gate(REVIEW, run)) == (git(doors.root, "rev-parse", f"{WORK}^"), "none")


def test_a_branch_is_judged_from_where_it_left_a_base_that_was_forced_back(doors: Doors) -> None:
    """Way: the base is forced back behind a failure; the branch, which has it, removes it as well."""
    play = doors.play
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    doors.landed()
    git(doors.root, "branch", "-qf", MAIN, f"{MAIN}^")
    play.task("Three")
    doors.remove(doors.path(doors.last(run, "failed")))
    doors.caught("D010")


def test_a_branch_from_before_the_policy_is_judged_by_it_when_it_is_merged(doors: Doors) -> None:
    """Way: the branch begins where policy asked for less. Its merge is judged by what holds where it goes."""
    play = doors.play
    task = play.task("Two")
    play.complete(play.claimed(task), play.evidence(task, kind="lint"))
    git(doors.root, "switch", "-q", MAIN)
    doors.write(layout.CONFIG, "version: 1\npolicy:\n  require: [test]\n")
    git(doors.root, "switch", "-q", WORK)
    for door, options, root in doors.arrivals():
        code, found = doors.check(*options, root=root)
        errors = {row["code"] for row in found if row["severity"] == "error"}
        assert (code, errors) == ((5, {"P001"}) if door in ("merge", "squash") else (0, set())), door
    assert doors.play.status(task) == "completed"


def test_a_base_that_is_the_branch_itself_shows_nothing_and_says_so(doors: Doors) -> None:
    """Way: `--base` names the branch. Nothing is compared; the whole tree still tells what is wrong."""
    play = doors.play
    task = play.task("Two")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    doors.forge(task, "completed", **doors.completion(task, bad, dispatch=claim))
    for base in (WORK, "HEAD", git(doors.root, "rev-parse", "HEAD")):
        code, found = doors.check("--base", base)
        assert (code, found) == (0, [])
    code, out, _ = doors.cli("check", "-C", str(doors.root), "--base", WORK, "--format", "json")
    assert (code, f'"base": "{git(doors.root, "rev-parse", WORK)}"' in out) == (0, True)
    code, found = doors.check("--no-base")
    assert "P001" in {row["code"] for row in found}
    doors.unproven(task, "failed")
    doors.caught("P001")


def test_a_base_in_another_history_is_refused(doors: Doors) -> None:
    """Way: the branch begins anew, with a ledger of its own and no commit in common with the base."""
    tree = git(doors.root, "rev-parse", "HEAD^{tree}")
    orphan = doors.commit_tree(tree)
    code, out, _ = doors.cli("check", "-C", str(doors.root), "--at", orphan, "--base", MAIN, "--json")
    assert (code, '"merge_base_missing"' in out) == (1, True)
    git(doors.root, "switch", "-q", "--detach", orphan)
    code, out, _ = doors.cli("check", "-C", str(doors.root), "--base", MAIN, "--json")
    assert (code, '"merge_base_missing"' in out) == (1, True)


def test_a_shallow_clone_that_lacks_commits_of_the_branch_is_refused(doors: Doors, tmp_path: Path) -> None:
    """Way: what the branch recorded and took away again lies beyond the commits that CI fetched."""
    gone = doors.play.evidence(doors.play.task(), code=1)
    doors.remove(gone)
    assert gone in doors.caught("D010")
    git(doors.root, "switch", "-q", "--detach", MAIN)
    git(doors.root, "merge", "-q", "--no-ff", "--no-edit", WORK)
    git(doors.root, "branch", "result")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=2", "-b", "result", doors.root.as_uri(), str(shallow))
    for options in (("--base", "HEAD^1"), ()):
        code, out, _ = doors.cli("check", "-C", str(shallow), *options, "--json")
        assert (code, json.loads(out)["error"]) == (1, "fork_missing")
    git(shallow, "fetch", "-q", "--unshallow")
    code, out, _ = doors.cli("check", "-C", str(shallow), "--base", "HEAD^1")
    assert (code, "D010" in out) == (5, True)


def test_a_shallow_clone_without_the_base_is_refused(doors: Doors, tmp_path: Path) -> None:
    """Way: so little is fetched that where the branch left its base is not there."""
    doors.play.task("Two")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", "-b", WORK, doors.root.as_uri(), str(shallow))
    git(doors.root, "switch", "-q", MAIN)
    doors.play.task("Three")
    git(shallow, "fetch", "-q", "--depth=1", "origin", f"+refs/heads/{MAIN}:refs/remotes/origin/{MAIN}")
    code, out, _ = doors.cli("check", "-C", str(shallow), "--base", f"origin/{MAIN}", "--json")
    assert (code, '"fork_missing"' in out, "--deepen=50" in out) == (1, True, True)


def _unproven(doors: Doors) -> tuple[str, str]:
    """Complete a task by hand on evidence that failed; return both."""
    task = doors.play.task("Two")
    claim, bad = doors.play.claimed(task), doors.play.evidence(task, code=1)
    doors.completed(task, bad, dispatch=claim)
    return task, bad


def _info(root: Path) -> Path:
    """Return the folder of a repository for what is true of one machine only."""
    there = (root / ".git" if (root / ".git").exists() else root) / "info"
    there.mkdir(exist_ok=True)
    return there


def test_replaced_objects_are_not_read(doors: Doors) -> None:
    """Way: `git replace`, also pushed, puts a better file, or a better history, in the place of what was committed."""
    task, bad = _unproven(doors)
    path, head = doors.path(bad), git(doors.root, "rev-parse", WORK)
    better = doors.file(bad).read_bytes().replace(b"exit: 1", b"exit: 0").replace(b"failed", b"passed")

    @contextlib.contextmanager
    def replaced(_: str, root: Path) -> Iterator[None]:
        blob = git(root, "hash-object", "-w", "--stdin", data=better)
        git(root, "replace", f"{head}:{path}", blob)
        git(root, "replace", head, git(root, "commit-tree", f"{MAIN}^{{tree}}", "-p", MAIN, "-m", "better"))
        assert git(root, "diff", "--name-only", MAIN, head) == ""
        yield
        git(root, "replace", "-d", *git(root, "replace", "-l").split())

    doors.caught("P001", within=replaced)
    with replaced("", doors.root):
        doors.play.ledger.close()
        doors.unproven(task, "failed")


def test_a_graft_does_not_move_the_base(doors: Doors) -> None:
    """Way: `info/grafts` says that the branch began where it ends."""
    _unproven(doors)
    head, main = git(doors.root, "rev-parse", WORK), git(doors.root, "rev-parse", MAIN)

    @contextlib.contextmanager
    def grafted(_: str, root: Path) -> Iterator[None]:
        grafts = _info(root) / "grafts"
        grafts.write_text(f"{main} {head}\n{head}\n")
        assert git(root, "merge-base", MAIN, WORK) == head
        yield
        grafts.unlink()

    doors.caught("P001", within=grafted)


def test_notes_on_commits_and_files_say_nothing(doors: Doors) -> None:
    """Way: refs/notes hold what is not in the tree."""
    play = doors.play
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    path, data = doors.drafted(run, "passed", gate=REVIEW)
    git(doors.root, "notes", "add", "-m", data.decode(), "HEAD")
    git(doors.root, "notes", "add", "-m", data.decode(), f"HEAD:{doors.path(doors.last(run, 'failed'))}")
    assert doors.gate(REVIEW, run) == "failed"
    assert path not in play.ledger.view().files
    doors.sound()


@pytest.mark.parametrize(
    "given",
    [
        {"GIT_DIR": "{other}/.git", "GIT_WORK_TREE": "{other}"},
        {"GIT_COMMON_DIR": "{other}/.git"},
        {"GIT_INDEX_FILE": "{other}/.git/index"},
        {"GIT_OBJECT_DIRECTORY": "{other}/.git/objects"},
        {"GIT_NAMESPACE": "other"},
        {"GIT_REPLACE_REF_BASE": "refs/heads/"},
        {
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "diff.ignoreSubmodules",
            "GIT_CONFIG_VALUE_0": "all",
            "GIT_CONFIG_KEY_1": "core.attributesFile",
            "GIT_CONFIG_VALUE_1": "{other}/hide",
        },
        {"GIT_CONFIG_PARAMETERS": "'diff.external=true' 'log.showSignature=true' 'core.useReplaceRefs=true'"},
        {"GIT_EXTERNAL_DIFF": "true", "GIT_DIFF_OPTS": "-u0", "GIT_PAGER": "true"},
        {"GIT_GRAFT_FILE": "{other}/grafts", "GIT_SHALLOW_FILE": "{other}/shallow"},
    ],
)
def test_the_environment_does_not_lead_the_check_elsewhere(
    doors: Doors, given: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Way: variables of git point to another repository, index, history or view of differences."""
    _unproven(doors)
    doors.play.ledger.close()
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", "-b", MAIN, doors.root.as_uri(), str(other))
    (other / "hide").write_text("* -diff\n")
    (other / "grafts").write_text(f"{git(doors.root, 'rev-parse', 'HEAD')}\n")
    (other / "shallow").write_text(f"{git(doors.root, 'rev-parse', 'HEAD')}\n")

    @contextlib.contextmanager
    def led_astray(door: str, _: Path) -> Iterator[None]:
        with monkeypatch.context() as patched:
            for name, value in given.items():
                if (door, name) != ("staged", "GIT_INDEX_FILE"):  # there it is the index that is about to be committed
                    patched.setenv(name, value.format(other=other))
            yield

    doors.caught("P001", within=led_astray)


@pytest.mark.parametrize(
    "key",
    [
        *(f"log.diffMerges={way}" for way in ("off", "first-parent", "combined", "dense-combined", "remerge")),
        *("grep.lineNumber=true", "grep.column=true", "grep.patternType=fixed", "log.follow=true", "color.ui=always"),
        "diff.relative=true",
    ],
)
def test_what_git_is_configured_to_does_not_hide_what_is_found(
    doors: Doors, key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Way: a key of git's configuration, often set for reasons of its owner's, has git answer otherwise."""
    doors.play.as_("Bob").gate(REVIEW, "requested")
    doors.landed()
    git(doors.root, "branch", "-qf", "review")
    run = _failed_elsewhere(doors)
    git(doors.root, "merge", "-q", "-s", "ours", "-m", "merge review", "review")
    doors.forge(run, "requested", gate=REVIEW, by="\u0412ob")
    (tmp_path / "theirs").write_text("[{}]\n{} = {}\n".format(*key.replace("=", ".").split(".")))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "theirs"))
    doors.caught("D010", "C006")


def test_a_name_from_the_environment_is_no_signature(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Way: MEMENTO_ACTOR and git's own variables say that somebody else acts."""
    doors.policy(
        "  gates: {verdicts: {quality_review: ['" + ADA + "']}}\n"
        "  signatures: {allowed_signers: .memento/keys, require: {waivers: ['" + ADA + "']}}\n"
    )
    monkeypatch.setenv("MEMENTO_ACTOR", "agent:hermes")
    doors.refused("approver_refused", "gate record", actor="", gate=REVIEW, verdict="passed")
    monkeypatch.setenv("MEMENTO_ACTOR", ADA)
    told = doors.refused("signers_missing", "gate waive", actor="", gate=REVIEW, reason="No time.")
    assert "there is no such file" in told
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Eve")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "eve@example.invalid")
    assert doors.cli("gate", "record", REVIEW, "passed", "-C", str(doors.root))[0] == 0
    assert "by Ada <ada@example.invalid> was committed by Eve" in doors.warned("C002")
