"""Cheats with policy: each key that counts, weakened in the branch that profits; its file moved, doubled or broken."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memento_git import Ledger
from memento_git.ledger import layout
from memento_git.work.actions import evidences, gates, plans, releases, runs
from tests.cheats.forging import ADA, MAIN, WORK, Forge
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cheats.forging import Cli
    from tests.play import Play

ROBO = "agent:hermes"


@pytest.fixture
def forge(play: Play, cli: Cli) -> Forge:
    play.planned()
    return Forge(play, cli)


def _by_file(forge: Forge) -> None:
    """Complete a task on a file that somebody calls a pass."""
    task = forge.play.task("One")
    (forge.root / "note.txt").write_text("done, I think\n")
    forge.play.commit_all("a file")
    kinds: dict[str, Any] = {"tasks": [task], "files": ["note.txt"], "outcome": "passed"}
    shown = forge.play.do(evidences.add_evidence, "test", **kinds)
    forge.play.complete(forge.play.claimed(task), shown)
    assert forge.play.is_proven(task)


def _by_lint(forge: Forge) -> None:
    task = forge.play.task("One")
    forge.play.complete(forge.play.claimed(task), forge.play.evidence(task, kind="lint"))
    assert forge.play.is_proven(task)


def _own_plan(forge: Forge) -> None:
    robot = forge.play.as_(ROBO)
    run = robot.run("Mine")
    robot.do(plans.approve_plan, robot.do(plans.draft_plan, "Plan", "Mine.", run=run))


def _verdict(do: str) -> Callable[[Forge], None]:
    def act(forge: Forge) -> None:
        robot = forge.play.as_(ROBO)
        forge.play.task("One")
        robot.gate("quality_review", do, reason="No time.")

    return act


def _completed_run(forge: Forge) -> None:
    run = forge.play.state(forge.play.proven("One")).id
    forge.play.do(runs.complete_run, run)


def _spikes(forge: Forge) -> None:
    run = forge.play.run("Try", spike=True)
    forge.play.dispatch(forge.play.task("A", run=run))
    forge.play.dispatch(forge.play.task("B", run=run))


def _released(forge: Forge) -> None:
    forge.play.proven("One")
    assert forge.play.do(releases.release_run).event


def _waived(forge: Forge) -> None:
    forge.play.task("One")
    forge.play.gate("quality_review", "waived", reason="No time.")


def _fresh(forge: Forge) -> None:
    forge.play.task("One")
    forge.play.gate("final_acceptance", "passed")


KEYS = {
    "proof, a lower trust": ("proof: {test: witnessed}", "proof: {test: reported}", _by_file, "P001"),
    "proof, another kind": ("proof: {test: witnessed}", "proof: {test: witnessed, lint: witnessed}", _by_lint, "P001"),
    "require": ("require: [test]", "require: []", _by_lint, "P001"),
    "verify, commands": (
        "verify: [{commands: [{run: [make, check]}]}]", "verify: []", _by_lint, "P001",
    ),
    "verify, evidence": ("verify: [{evidence: [test]}]", "verify: [{evidence: [lint]}]", _by_lint, "P001"),
    "verify, trust": ("verify: [{trust: reproduced}]", "verify: [{trust: witnessed}]", _by_lint, "P001"),
    "plan.approvers": (f"plan: {{approvers: ['{ADA}']}}", "plan: {approvers: []}", _own_plan, "P003"),
    "plan.not_author": ("plan: {not_author: true}", "plan: {not_author: false}", _own_plan, "P003"),
    "gates.required": ("gates: {required: [release]}", "gates: {required: []}", _completed_run, "P004"),
    "gates.fresh": ("gates: {fresh: [final_acceptance]}", "gates: {fresh: []}", _fresh, "G003"),
    "gates.verdicts": (
        f"gates: {{verdicts: {{quality_review: ['{ADA}']}}}}",
        f"gates: {{verdicts: {{quality_review: ['{ADA}', '{ROBO}']}}}}", _verdict("passed"), "G002",
    ),
    "gates.waivers": (f"gates: {{waivers: ['{ADA}']}}", "gates: {waivers: []}", _verdict("waived"), "G002"),
    "spike.dispatches": ("spike: {dispatches: 1}", "spike: {dispatches: 9}", _spikes, "P006"),
    "release.approvals": ("release: {approvals: 1}", "release: {approvals: 0}", _released, ""),
    "release.checks": ("release: {checks: [ci]}", "release: {checks: []}", _released, "G004"),
    "release.approvers": (
        "release: {approvals: 1, approvers: [Cleo]}", "release: {approvals: 0, approvers: []}", _released, "G004",
    ),
    "signatures.require": (
        "signatures: {allowed_signers: .memento/keys, require: {waivers: []}}",
        "signatures: {allowed_signers: .memento/keys}", _waived, "K001",
    ),
    "signatures as a whole": (
        f"signatures: {{allowed_signers: .memento/keys, require: {{waivers: ['{ADA}']}}}}", "require: []",
        _waived, "K001",
    ),
}  # fmt: skip


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_key_of_policy_weakened_in_the_branch_is_judged_by_the_base(forge: Forge, key: str) -> None:
    """Way: the branch asks for less, does what is then allowed, and the checkout's own `status` is content."""
    strict, weak, act, code = KEYS[key]
    forge.policy(f"  {strict}\n")
    forge.policy(f"  {weak}\n", branch=WORK)
    act(forge)
    told = forge.caught(code or "G004")
    assert told
    code_, found = forge.check("--base", MAIN)
    assert (code_, "C003" in {row["code"] for row in found if row["severity"] == "warning"}) == (5, True)


@pytest.mark.parametrize(
    ("strict", "weak", "told"),
    [
        ("reproduce: {commands: [[pytest]]}", "reproduce: {commands: []}",
         "reproduce.commands: pytest is asked no more"),
        ("reproduce: {commands: [[pytest]]}", "reproduce: {commands: [[pytest]], setup: [[touch, ok]]}",
         "reproduce.setup: commands are run again in another way now"),
        ("reproduce: {commands: [[pytest]]}", "reproduce: {commands: [[pytest]], env: [LIE]}", "reproduce.env: "),
        ("enrich: true", "enrich: false", "enrich: past failures"),
        ("release: {not_author: true}", "release: {not_author: false}", "release.not_author: "),
        ("release: {graph: refuse}", "release: {graph: ignore}", "release.graph: ignore now"),
        ("preflight: {destructive: refuse}", "preflight: {destructive: ignore}", "preflight.destructive: ignore now"),
        ("allow_secrets: []", "allow_secrets: [private key]", "allow_secrets: private key is a false alarm now"),
    ],
)  # fmt: skip
def test_other_keys_that_are_weakened_are_told(forge: Forge, strict: str, weak: str, told: str) -> None:
    """Way: the keys that decide about no event, but about what is run, shown or let through."""
    forge.policy(f"  {strict}\n")
    forge.policy(f"  {weak}\n", branch=WORK)
    assert told in forge.warned("C003")


def test_another_command_for_an_executor_is_told(forge: Forge) -> None:
    """Way: the table of executors starts another program under a trusted name, and lets it take more."""
    text = "version: 1\nexecutors:\n  hermes: {{run: [{}], risk: {}}}\n"
    git(forge.root, "switch", "-q", MAIN)
    forge.write(layout.CONFIG, text.format("hermes", "low"))
    git(forge.root, "switch", "-q", WORK)
    git(forge.root, "merge", "-q", "--no-edit", MAIN)
    forge.write(layout.CONFIG, text.format("./mine", "high"))
    told = forge.warned("C003")
    assert "executors.hermes: another command is started now (run)" in told
    assert "executors.hermes.risk: it may take more now" in told


def test_what_may_be_run_again_is_read_from_the_base(forge: Forge) -> None:
    """Way: the branch takes its command off the list, so that nobody runs it again; or puts on one that lies."""
    forge.policy(f"  reproduce: {{commands: [['{sys.executable.rpartition('/')[2]}']]}}\n")
    forge.policy("  reproduce: {commands: [['true']], setup: [['false']]}\n", branch=WORK)
    task = forge.play.task("One")
    claim = forge.play.claimed(task)
    honest = forge.play.evidence(task, code=1)
    path = forge.path(honest)
    text = (forge.root / path).read_text().replace("exit: 1", "exit: 0").replace("outcome: failed", "outcome: passed")
    forge.write(path, text)
    forge.event(task, "completed", **forge.completion(task, honest, dispatch=claim))
    assert forge.play.is_proven(task)
    code, found = forge.check("--base", MAIN, "--reproduce")
    told = [row["message"] for row in found if row["code"] == "V002"]
    assert (code, any("run again, differs: " in one for one in told)) == (5, True), found


def _key(folder: Path, name: str) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    return " ".join((folder / f"{name}.pub").read_text().split()[:2])


def test_an_exchanged_file_of_keys_counts_for_nothing(forge: Forge, tmp_path: Path) -> None:
    """Way: the branch puts the agent's key beside Ada's name in the file that policy names, and signs with it."""
    mine, hers = _key(tmp_path, "agent"), _key(tmp_path, "ada")
    git(forge.root, "switch", "-q", MAIN)
    forge.write(".memento/keys", f"ada@example.invalid {hers}\n")
    git(forge.root, "switch", "-q", WORK)
    forge.policy("  signatures: {allowed_signers: .memento/keys, require: {waivers: [ada@example.invalid]}}\n")
    forge.play.task("One")
    reason = ("--reason", "No time.", "--key", str(tmp_path / "agent"), "--actor", ADA)
    forge.refused("signature_required", "gate", "waive", "quality_review", *reason)
    forge.write(".memento/keys", f"ada@example.invalid {mine}\n")
    with Ledger.open(forge.root, actor=ADA) as ledger:
        ledger.change("waive", lambda tx: gates.record_gate(
            tx, "quality_review", "waived", reason="No time.", key=str(tmp_path / "agent")
        ))  # fmt: skip
    assert "its key is not among the allowed signers" in forge.caught("K001")
    code, found = forge.check("--base", MAIN)
    assert (code, [row["path"] for row in found if row["code"] == "C003"]) == (5, [".memento/keys"])


@pytest.mark.parametrize("moved", [".memento/config.yml", ".memento/runs/config.yaml", "config.yaml"])
def test_a_moved_policy_is_a_removed_one(forge: Forge, moved: str) -> None:
    """Way: `config.yaml` lies where nothing reads it."""
    git(forge.root, "mv", layout.CONFIG, moved)
    git(forge.root, "commit", "-qm", "moved")
    code, found = forge.check("--base", MAIN)
    assert (code, "C004" in {row["code"] for row in found if row["severity"] == "error"}) == (5, True)
    forge.refused("no_ledger", "status")
    code, out, _ = forge.cli("check", "-C", str(forge.root), "--no-base", "--json")
    assert (code, '"nothing_to_check"' in out) == (2, True)


def test_a_second_policy_is_not_read(forge: Forge) -> None:
    """Way: a weaker `config.yml` beside the file."""
    forge.policy("  require: [test]\n")
    forge.write(".memento/config.yml", "version: 1\npolicy:\n  require: []\n")
    _by_lint_unproven(forge)
    forge.caught("P001")
    assert "is not part of the ledger's layout" in _messages(forge, "F010")


def _by_lint_unproven(forge: Forge) -> None:
    task = forge.play.task("One")
    forge.play.complete(forge.play.claimed(task), forge.play.evidence(task, kind="lint"))
    assert not forge.play.is_proven(task)


def _messages(forge: Forge, code: str) -> str:
    return "\n".join(row["message"] for row in forge.check("--base", MAIN)[1] if row["code"] == code)


def test_a_policy_behind_a_link_is_none(forge: Forge) -> None:
    """Way: `config.yaml` is a symbolic link to a file outside of the ledger, which nobody reviews as policy."""
    (forge.root / "mine.yaml").write_text("version: 1\npolicy:\n  proof: {note: advisory}\n")
    (forge.root / layout.CONFIG).unlink()
    (forge.root / layout.CONFIG).symlink_to("../mine.yaml")
    forge.play.commit_all("link")
    forge.refused("ledger_broken", "status", exit_code=4)
    code, found = forge.check("--base", MAIN)
    assert (code, "F004" in {row["code"] for row in found if row["severity"] == "error"}) == (5, True)


@pytest.mark.parametrize(
    ("version", "code"),
    [("2", "F005"), ("99999999999999999999", "F005"), ("1000000000000000000000", "F002"), ("0", "F002"), ("-1", "F002"),
     ("1.0", "F002"), ("0x1", "F002"), ("[1]", "F002"), ("'1 '", "F002"), ("\u0661", "F002")],
)  # fmt: skip
def test_a_faked_format_version_gives_no_way_around_policy(forge: Forge, version: str, code: str) -> None:
    """Way: a format that this tool does not know, so that it reads no policy."""
    forge.policy("  require: [test]\n")
    _by_lint_unproven(forge)
    forge.write(layout.CONFIG, f"version: {version}\npolicy:\n  require: []\n")
    forge.caught(code, "P001")
    forge.refused("ledger_broken", "status", exit_code=4)


def test_a_policy_that_cannot_be_read_is_an_error_and_the_bases_judges(forge: Forge) -> None:
    """Way: policy is broken in the branch, so that only its default is left."""
    forge.policy("  require: [test]\n")
    _by_lint_unproven(forge)
    forge.write(layout.CONFIG, "version: 1\npolicy:\n  require: [test\n")
    forge.caught("F001", "P001")
