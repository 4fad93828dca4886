"""Cheats with history: merges that drop or smuggle, reverts, squashes, rewritten bases, and what git can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git import Ledger
from memento_git.ledger import layout
from memento_git.review import actions
from memento_git.work.actions import tasks
from tests.cheats.forging import ADA, MAIN, WORK, Forge
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.forging import Cli
    from tests.play import Play

REVIEW = "quality_review"


@pytest.fixture
def forge(play: Play, cli: Cli) -> Forge:
    play.planned()
    play.proven("One")
    git(play.root, "branch", "review")
    return Forge(play, cli)


def _failed_elsewhere(forge: Forge) -> str:
    """Let a reviewer fail the run's gate on a branch of their own; return the run."""
    play = forge.play
    git(forge.root, "switch", "-q", "review")
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    git(forge.root, "switch", "-q", WORK)
    return run


def test_a_merge_that_drops_a_side_is_found(forge: Forge) -> None:
    """Way: the reviewer's branch is merged with `-s ours`: git takes it for merged, and its failure is gone."""
    run = _failed_elsewhere(forge)
    git(forge.root, "merge", "-q", "-s", "ours", "-m", "merge review", "review")
    assert forge.gate(run, REVIEW) == "none"
    assert "took it away" in forge.caught("D010", but="squash")
    git(forge.root, "merge", "-q", "-s", "ours", "--no-ff", "-m", "merge again", MAIN)
    forge.caught("D010", but="squash")


def test_a_merge_commit_on_the_main_branch_that_drops_a_side_is_found(forge: Forge) -> None:
    """Way: the same on the main branch itself, where the tree is as the first parent's."""
    _failed_elsewhere(forge)
    with forge.away():
        git(forge.root, "merge", "-q", "-s", "ours", "-m", "merge review", "review")
        code, found = forge.check()
    assert (code, [row["code"] for row in found if row["severity"] == "error"]) == (5, ["D010"])


def test_a_merge_with_its_parents_swapped_is_found(forge: Forge) -> None:
    """Way: the branch is the first parent and the main one the second, so that the main one's events look foreign."""
    run = _failed_elsewhere(forge)
    forge.play.task("Three")
    swapped = forge.commit_tree(f"{WORK}^{{tree}}", WORK, "review")
    git(forge.root, "switch", "-q", "--detach", swapped)
    assert forge.gate(run, REVIEW) == "none"
    code, found = forge.check()
    assert (code, [row["code"] for row in found if row["severity"] == "error"]) == (5, ["D010"])
    code, found = forge.check("--base", "review")
    assert (code, {row["code"] for row in found if row["severity"] == "error"}) == (5, {"D002", "D006"})


def test_an_octopus_merge_is_judged_as_a_whole(forge: Forge) -> None:
    """Way: three sides at once, one of which completes a task on evidence that failed."""
    play = forge.play
    task, other = play.task("Two"), play.task("Three")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    forge.landed()
    for name in ("a", "b"):
        git(forge.root, "branch", "-q", name)
    git(forge.root, "switch", "-q", "a")
    forge.event(task, "completed", **forge.completion(task, bad, dispatch=claim))
    git(forge.root, "switch", "-q", "b")
    play.do(tasks.block_task, other, reason="Wait.")
    git(forge.root, "switch", "-q", WORK)
    play.task("Four")
    git(forge.root, "merge", "-q", "-m", "octopus", "a", "b")
    assert len(git(forge.root, "rev-list", "--parents", "-1", "HEAD").split()) == 4
    assert f"{task} is completed, but not proven" in forge.caught("P001")
    forge.unproven(task, "failed")


def test_events_that_only_a_merge_commit_adds_are_judged_and_its_author_told(forge: Forge) -> None:
    """Way: an `evil` merge: the event is in neither parent, so that no commit of the branch shows it."""
    play = forge.play
    task = play.task("Two")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    forge.landed()
    git(forge.root, "switch", "-q", "-C", "review")
    play.task("Three")
    git(forge.root, "switch", "-q", WORK)
    play.task("Four")
    path, data = forge.drafted(task, "completed", by="Bob", **forge.completion(task, bad, dispatch=claim))
    git(forge.root, "merge", "-q", "--no-commit", "review")
    (forge.root / path).write_bytes(data)
    git(forge.root, "add", path)
    git(forge.root, "commit", "-qm", "merge review")
    assert "not by Bob" in forge.caught("T002")
    code, found = forge.check("--base", MAIN)
    assert (code, [row["message"] for row in found if row["code"] == "C002"]) == (
        5, ["1 record(s) by Bob were committed by Ada <ada@example.invalid>"],
    )  # fmt: skip


def test_a_reverted_block_is_found(forge: Forge) -> None:
    """Way: `git revert` of the commit that blocked a task, on the base or on the branch itself."""
    play = forge.play
    task = play.task("Two")
    play.do(tasks.block_task, task, reason="Wait.")
    blocked = git(forge.root, "rev-parse", "HEAD")
    git(forge.root, "branch", "-qf", MAIN, "HEAD^")
    git(forge.root, "revert", "--no-edit", blocked)
    assert play.status(task) == "pending"
    forge.caught("D010", but="squash")
    git(forge.root, "branch", "-qf", MAIN, blocked)
    forge.caught("D002")


def test_a_squash_keeps_a_failed_verdict(forge: Forge) -> None:
    """Way: a branch that failed is squashed. The verdict is in the tree, not in the history."""
    play = forge.play
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    git(forge.root, "reset", "-q", "--soft", MAIN)
    git(forge.root, "commit", "-qm", "squashed")
    assert forge.gate(run, REVIEW) == "failed"
    forge.refused("review_gate_blocking", "dispatch", "create", play.state(run).ids("task")[-1], "--executor", "x")
    forge.sound()


def test_a_verdict_that_a_rewritten_branch_never_had_is_a_known_limit(forge: Forge) -> None:
    """Limit: who rewrites their own branch before anybody fetched it takes back what they wrote there themselves."""
    play = forge.play
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    seen = git(forge.root, "rev-parse", "HEAD")
    git(forge.root, "reset", "-q", "--hard", "HEAD^")
    forge.sound()
    code, found = forge.check("--base", seen)
    assert (code, found) == (0, [])
    git(forge.root, "commit", "-q", "--allow-empty", "-m", "on")
    told = actions.check(play.ledger, at=WORK, base=seen)
    assert (told.base, forge.gate(run, REVIEW)) == (git(forge.root, "rev-parse", f"{WORK}^"), "none")


def test_a_branch_is_judged_from_where_it_left_a_base_that_was_forced_back(forge: Forge) -> None:
    """Way: the base is forced back behind a failure; the branch, which has it, removes it as well."""
    play = forge.play
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    forge.landed()
    git(forge.root, "branch", "-qf", MAIN, f"{MAIN}^")
    play.task("Three")
    forge.remove(forge.path(forge.last(run, "failed")))
    forge.caught("D010", but="squash")


def test_a_branch_from_before_the_policy_is_judged_by_it_when_it_is_merged(forge: Forge) -> None:
    """Way: the branch begins where policy asked for less. Its merge is judged by what holds where it goes."""
    play = forge.play
    task = play.task("Two")
    play.complete(play.claimed(task), play.evidence(task, kind="lint"))
    git(forge.root, "switch", "-q", MAIN)
    forge.write(layout.CONFIG, "version: 1\npolicy:\n  require: [test]\n")
    git(forge.root, "switch", "-q", WORK)
    assert forge.check("--base", MAIN)[0] == 0
    with forge.away():
        git(forge.root, "merge", "-q", "--no-ff", "-m", "merge", WORK)
        code, found = forge.check()
    assert (code, {row["code"] for row in found if row["severity"] == "error"}) == (5, {"P001"})
    assert forge.play.status(task) == "completed"


def test_a_base_that_is_the_branch_itself_shows_nothing_and_says_so(forge: Forge) -> None:
    """Way: `--base` names the branch. Nothing is compared; the whole tree still tells what is wrong."""
    play = forge.play
    task = play.task("Two")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    forge.event(task, "completed", **forge.completion(task, bad, dispatch=claim))
    for base in (WORK, "HEAD", git(forge.root, "rev-parse", "HEAD")):
        code, found = forge.check("--base", base)
        assert (code, found) == (0, [])
    code, out, _ = forge.cli("check", "-C", str(forge.root), "--base", WORK, "--format", "json")
    assert (code, f'"base": "{git(forge.root, "rev-parse", WORK)}"' in out) == (0, True)
    code, found = forge.check("--no-base")
    assert "P001" in {row["code"] for row in found}
    forge.unproven(task, "failed")
    forge.caught("P001")


def test_a_base_in_another_history_is_refused(forge: Forge) -> None:
    """Way: the branch begins anew, with a ledger of its own and no commit in common with the base."""
    tree = git(forge.root, "rev-parse", "HEAD^{tree}")
    orphan = forge.commit_tree(tree)
    code, out, _ = forge.cli("check", "-C", str(forge.root), "--at", orphan, "--base", MAIN, "--json")
    assert (code, '"merge_base_missing"' in out) == (1, True)
    git(forge.root, "switch", "-q", "--detach", orphan)
    code, out, _ = forge.cli("check", "-C", str(forge.root), "--base", MAIN, "--json")
    assert (code, '"merge_base_missing"' in out) == (1, True)


def test_a_shallow_clone_without_the_base_is_refused(forge: Forge, tmp_path: Path) -> None:
    """Way: so little is fetched that where the branch left its base is not there."""
    forge.play.task("Two")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", "-b", WORK, forge.root.as_uri(), str(shallow))
    git(forge.root, "switch", "-q", MAIN)
    forge.play.task("Three")
    git(shallow, "fetch", "-q", "--depth=1", "origin", f"+refs/heads/{MAIN}:refs/remotes/origin/{MAIN}")
    code, out, _ = forge.cli("check", "-C", str(shallow), "--base", f"origin/{MAIN}", "--json")
    assert (code, '"fork_missing"' in out, "--deepen=50" in out) == (1, True, True)


def test_replaced_objects_are_not_read(forge: Forge) -> None:
    """Way: `git replace` puts a better file, or a better history, in the place of what was committed."""
    play = forge.play
    task = play.task("Two")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    forge.event(task, "completed", **forge.completion(task, bad, dispatch=claim))
    path = forge.path(bad)
    better = forge.blob((forge.root / path).read_bytes().replace(b"exit: 1", b"exit: 0").replace(b"failed", b"passed"))
    git(forge.root, "replace", f"HEAD:{path}", better)
    git(forge.root, "replace", "HEAD", forge.commit_tree(f"{MAIN}^{{tree}}", MAIN))
    assert git(forge.root, "diff", "--name-only", MAIN, "HEAD") == ""
    code, found = forge.check("--base", MAIN)
    assert (code, "P001" in {row["code"] for row in found}) == (5, True)
    with Ledger.open(forge.root) as ledger:
        assert actions.check(ledger, base=MAIN).has_errors
    forge.play.ledger.close()
    forge.unproven(task, "failed")


def test_a_replaced_object_that_was_pushed_does_not_blind_a_server_hook(forge: Forge, tmp_path: Path) -> None:
    """Way: refs/replace is pushed first, so that the hook of the next push sees another commit."""
    play = forge.play
    bare = tmp_path / "bare.git"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    task = play.task("Two")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    forge.landed()
    forge.event(task, "completed", **forge.completion(task, bad, dispatch=claim))
    git(forge.root, "replace", "HEAD", forge.commit_tree(f"{MAIN}^{{tree}}", MAIN))
    git(forge.root, "push", "-q", str(bare), MAIN, WORK, "refs/replace/*:refs/replace/*")
    code, found = forge.check("--at", WORK, "--base", MAIN, root=bare)
    assert (code, "P001" in {row["code"] for row in found}) == (5, True)


def test_a_graft_does_not_move_the_base(forge: Forge) -> None:
    """Way: `.git/info/grafts` says that the branch began where it ends."""
    play = forge.play
    task = play.task("Two")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    forge.event(task, "completed", **forge.completion(task, bad, dispatch=claim))
    head, main = git(forge.root, "rev-parse", "HEAD"), git(forge.root, "rev-parse", MAIN)
    (forge.root / ".git" / "info").mkdir(exist_ok=True)
    (forge.root / ".git" / "info" / "grafts").write_text(f"{main} {head}\n{head}\n")
    assert git(forge.root, "merge-base", MAIN, "HEAD") == head
    code, found = forge.check("--base", MAIN)
    assert (code, "P001" in {row["code"] for row in found}) == (5, True)


def test_notes_on_commits_and_files_say_nothing(forge: Forge) -> None:
    """Way: refs/notes hold what is not in the tree."""
    play = forge.play
    run = play.state(play.task("Two")).id
    play.gate(REVIEW, "failed", reason="No.")
    path, data = forge.drafted(run, "passed", gate=REVIEW)
    git(forge.root, "notes", "add", "-m", data.decode(), "HEAD")
    git(forge.root, "notes", "add", "-m", data.decode(), f"HEAD:{forge.path(forge.last(run, 'failed'))}")
    assert forge.gate(run, REVIEW) == "failed"
    assert path not in play.ledger.view().files
    forge.sound()


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
    forge: Forge, given: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Way: variables of git point to another repository, index, history or view of differences."""
    play = forge.play
    task = play.task("Two")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    forge.event(task, "completed", **forge.completion(task, bad, dispatch=claim))
    play.ledger.close()
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", "-b", MAIN, forge.root.as_uri(), str(other))
    (other / "hide").write_text("* -diff\n")
    (other / "grafts").write_text(f"{git(forge.root, 'rev-parse', 'HEAD')}\n")
    (other / "shallow").write_text(f"{git(forge.root, 'rev-parse', 'HEAD')}\n")
    for name, value in given.items():
        monkeypatch.setenv(name, value.format(other=other))
    code, found = forge.check("--base", MAIN)
    assert (code, "P001" in {row["code"] for row in found}) == (5, True)
    code, out, _ = forge.cli("check", "-C", str(forge.root), "--base", MAIN)
    assert (code, "P001" in out) == (5, True)


def test_a_name_from_the_environment_is_no_signature(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Way: MEMENTO_ACTOR and git's own variables say that somebody else acts."""
    forge.policy(
        "  gates: {verdicts: {quality_review: ['" + ADA + "']}}\n"
        "  signatures: {allowed_signers: .memento/keys, require: {waivers: ['" + ADA + "']}}\n"
    )
    monkeypatch.setenv("MEMENTO_ACTOR", "agent:hermes")
    forge.refused("approver_refused", "gate", "record", REVIEW, "passed")
    monkeypatch.setenv("MEMENTO_ACTOR", ADA)
    told = forge.refused("signers_missing", "gate", "waive", REVIEW, "--reason", "No time.")
    assert "there is no such file" in told
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Eve")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "eve@example.invalid")
    assert forge.cli("gate", "record", REVIEW, "passed", "-C", str(forge.root))[0] == 0
    assert "by Ada <ada@example.invalid> were committed by Eve" in forge.warned("C002")
