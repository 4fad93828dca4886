"""Cheats with policy: each key that counts, weakened in the branch that profits; its file moved, doubled or broken."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import layout
from memento_git.work.actions import evidences, plans, releases, runs
from tests.cheats.forging import ADA, MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cheats.doors import Doors

ROBO = "agent:hermes"


def _by_file(doors: Doors) -> None:
    """Complete a task on a file that somebody calls a pass."""
    task = doors.play.task("One")
    (doors.root / "note.txt").write_text("done, I think\n")
    doors.play.commit_all("a file")
    kinds: dict[str, Any] = {"tasks": [task], "files": ["note.txt"], "outcome": "passed"}
    shown = doors.play.do(evidences.add_evidence, "test", **kinds)
    doors.play.complete(doors.play.claimed(task), shown)
    assert doors.play.is_proven(task)


def _by_lint(doors: Doors) -> None:
    task = doors.play.task("One")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task, kind="lint"))
    assert doors.play.is_proven(task)


def _own_plan(doors: Doors) -> None:
    robot = doors.play.as_(ROBO)
    run = robot.run("Mine")
    robot.do(plans.approve_plan, robot.do(plans.draft_plan, "Plan", "Mine.", run=run))


def _own_approval(doors: Doors) -> None:
    task = doors.play.task("One")
    yes = doors.play.do(evidences.approve, task)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task), yes)
    assert doors.play.is_proven(task)


def _verdict(do: str) -> Callable[[Doors], None]:
    def act(doors: Doors) -> None:
        robot = doors.play.as_(ROBO)
        doors.play.task("One")
        robot.gate("quality_review", do, reason="No time.")

    return act


def _completed_run(doors: Doors) -> None:
    run = doors.play.state(doors.play.proven("One")).id
    doors.play.do(runs.complete_run, run)


def _spikes(doors: Doors) -> None:
    run = doors.play.run("Try", spike=True)
    doors.play.dispatch(doors.play.task("A", run=run))
    doors.play.dispatch(doors.play.task("B", run=run))


def _released(doors: Doors) -> None:
    doors.play.proven("One")
    assert doors.play.do(releases.release_run).event


def _waived(doors: Doors) -> None:
    doors.play.task("One")
    doors.play.gate("quality_review", "waived", reason="No time.")


def _fresh(doors: Doors) -> None:
    doors.play.task("One")
    doors.play.gate("final_acceptance", "passed")


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
    "approvals.approvers": (
        "require: [approval]\n  approvals: {approvers: [Cleo]}", "require: [approval]", _own_approval, "P001",
    ),
    "approvals.not_author": (
        "require: [approval]\n  approvals: {not_author: true}", "require: [approval]", _own_approval, "P001",
    ),
    "gates.required": ("gates: {required: [release]}", "gates: {required: []}", _completed_run, "P004"),
    "gates.fresh": ("gates: {fresh: [final_acceptance]}", "gates: {fresh: []}", _fresh, "G003"),
    "gates.verdicts": (
        f"gates: {{verdicts: {{quality_review: ['{ADA}']}}}}",
        f"gates: {{verdicts: {{quality_review: ['{ADA}', '{ROBO}']}}}}", _verdict("passed"), "G002",
    ),
    "gates.waivers": (f"gates: {{waivers: ['{ADA}']}}", "gates: {waivers: []}", _verdict("waived"), "G002"),
    "spike.dispatches": ("spike: {dispatches: 1}", "spike: {dispatches: 9}", _spikes, "P006"),
    "release.approvals": ("release: {approvals: 1}", "release: {approvals: 0}", _released, "G004"),
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
def test_a_key_of_policy_weakened_in_the_branch_is_judged_by_the_base(doors: Doors, key: str) -> None:
    """Way: the branch asks for less, does what is then allowed, and the checkout's own `status` is content."""
    strict, weak, act, code = KEYS[key]
    doors.policy(f"  {strict}\n")
    doors.policy(f"  {weak}\n", branch=WORK)
    act(doors)
    doors.caught(code, told="C003")


@pytest.mark.parametrize(
    ("strict", "weak", "told"),
    [
        ("reproduce: {commands: [[pytest]]}", "reproduce: {commands: []}",
         "reproduce.commands: pytest is asked no more"),
        ("reproduce: {commands: [[pytest]]}", "reproduce: {commands: [[pytest]], setup: [[touch, ok]]}",
         "reproduce.setup: commands are run again in another way now"),
        ("reproduce: {commands: [[pytest]]}", "reproduce: {commands: [[pytest]], env: [LIE]}", "reproduce.env: "),
        ("reproduce: {commands: [[pytest, -x]]}", "reproduce: {commands: [[pytest, -x], ['true']]}",
         "reproduce.commands: true may be run again now"),
        ("proof: {test: witnessed, lint: witnessed}", "proof: {lint: witnessed}",
         "proof: of test, where that is asked for, what somebody typed is enough now"),
        ("signatures: {require: {release: [Ann]}}", "signatures: {require: {release: [Ann], waivers: []}}",
         "signatures.require.waivers: of release: anyone may now, it was Ann"),
        ("signatures: {require: {approvals: [Ann]}}", "signatures: {require: {approvals: [Ann], waivers: [Ann, Bob]}}",
         "signatures.require.waivers: of approvals: Bob may now, too"),
        ("graph: {after_dispatch: always}", "graph: {after_dispatch: never}", "graph.after_dispatch: never now"),
        ("enrich: true", "enrich: false", "enrich: past failures"),
        ("release: {not_author: true}", "release: {not_author: false}", "release.not_author: "),
        ("release: {graph: refuse}", "release: {graph: ignore}", "release.graph: ignore now"),
        ("preflight: {destructive: refuse}", "preflight: {destructive: ignore}", "preflight.destructive: ignore now"),
        ("preflight: {disk: 9000}", "preflight: {disk: 1}", "preflight.disk: 1 free bytes are enough now"),
        ("limits: {output: 4096}", "limits: {output: 2}", "limits.output: 2 bytes of each stream are kept now"),
        ("limits: {attach: 4096}", "limits: {attach: 2}",
         "limits.attach: of a file or graph above 2 bytes only the digest is kept, it was 4096"),
        ("enrich: true", "reproduce: {commands: [['*']]}", "reproduce.commands: * may be run again now"),
        ("enrich: true", "reproduce: {commands: [['[!_]*']]}", "reproduce.commands: [!_]* may be run again now"),
        ("enrich: true", "reproduce: {commands: [['*sh']]}", "reproduce.commands: *sh may be run again now"),
        ("allow_secrets: []", "allow_secrets: [private key]", "allow_secrets: private key is a false alarm now"),
    ],
)  # fmt: skip
def test_other_keys_that_are_weakened_are_told(doors: Doors, strict: str, weak: str, told: str) -> None:
    """Way: the keys that decide about no event, but about what is run, shown or let through."""
    doors.policy(f"  {strict}\n")
    doors.policy(f"  {weak}\n", branch=WORK)
    assert told in doors.warned("C003")


def test_another_command_for_an_executor_is_told(doors: Doors) -> None:
    """Way: the table of executors starts another program under a trusted name, and lets it take more."""
    text = "executors:\n  hermes: {{run: [{}], risk: {}}}\n"
    doors.config(text.format("hermes", "low"))
    doors.config(text.format("./mine", "high"), branch=WORK)
    told = doors.warned("C003")
    assert "executors.hermes: another command is started now (run)" in told
    assert "executors.hermes.risk: it may take more now" in told
    doors.config("executors:\n  stranger: {run: [./mine]}\n", branch=WORK)
    assert "executors.stranger: a new command is started now (run)" in doors.warned("C003")


def test_a_costly_executor_that_is_taken_out_of_the_table_is_told(doors: Doors) -> None:
    """Way: work may still be handed to its name, and costs a budget what an attempt of an unknown one does."""
    doors.config("executors:\n  robo: {cost: 50}\n")
    doors.config("policy: {}\n", branch=WORK)
    assert "executors.robo.cost: 1.0 now, it was 50.0" in doors.warned("C003")


def test_what_may_be_run_again_is_read_from_the_base(doors: Doors) -> None:
    """Way: the branch takes its command off the list, so that nobody runs it again; or puts on one that lies."""
    doors.policy("  reproduce: {commands: [['sh']]}\n")
    doors.policy("  reproduce: {commands: [['true']], setup: [['false']]}\n", branch=WORK)
    task = doors.play.task("One")
    claim = doors.play.claimed(task)
    honest = doors.play.evidence(task, code=1)
    path = doors.path(honest)
    text = (doors.root / path).read_text().replace("exit: 1", "exit: 0").replace("outcome: failed", "outcome: passed")
    (doors.root / path).write_text(text)
    git(doors.root, "commit", "-qa", "--amend", "--no-edit")  # as if it had come so
    doors.forge(task, "completed", **doors.completion(task, honest, dispatch=claim))
    assert doors.play.is_proven(task)
    doors.warned("C003")
    code, found = doors.check("--base", MAIN, "--reproduce")
    told = [row["message"] for row in found if row["code"] == "V002"]
    assert (code, any("run again, differs: " in one for one in told)) == (5, True), found


def _key(folder: Path, name: str) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    return " ".join((folder / f"{name}.pub").read_text().split()[:2])


def test_an_exchanged_file_of_keys_counts_for_nothing(doors: Doors, tmp_path: Path) -> None:
    """Way: the branch puts the agent's key beside Ada's name in the file that policy names, and signs with it."""
    mine, hers = _key(tmp_path, "agent"), _key(tmp_path, "ada")
    git(doors.root, "switch", "-q", MAIN)
    doors.write(".memento/keys", f"ada@example.invalid {hers}\n")
    git(doors.root, "switch", "-q", WORK)
    doors.policy("  signatures: {allowed_signers: .memento/keys, require: {waivers: [ada@example.invalid]}}\n")
    doors.play.task("One")
    waived = {"gate": "quality_review", "reason": "No time.", "key": str(tmp_path / "agent")}
    doors.refused("signature_required", "gate waive", **waived)
    doors.write(".memento/keys", f"ada@example.invalid {mine}\n")
    for _ in doors.accepted("gate waive", **waived):
        code, found = doors.check("--base", MAIN)
        assert (code, [row["path"] for row in found if row["code"] == "C003"]) == (5, [".memento/keys"])
    assert "its key is not among the allowed signers" in doors.caught("K001", told="C003")


def test_an_exchanged_file_of_keys_outside_of_the_ledgers_folder_is_told(doors: Doors, tmp_path: Path) -> None:
    """Way: nothing below `.memento` differs, so that nobody looks."""
    mine, hers = _key(tmp_path, "agent"), _key(tmp_path, "ada")
    git(doors.root, "switch", "-q", MAIN)
    doors.write("keys/signers", f"ada@example.invalid {hers}\n")
    git(doors.root, "switch", "-q", WORK)
    doors.policy("  signatures: {allowed_signers: keys/signers, revoked: keys/out, require: {waivers: []}}\n")
    doors.sound("K001")  # that keys/out is not there yet
    doors.write("keys/signers", f"ada@example.invalid {mine}\n")
    assert "changes whose signatures count" in doors.warned("C003")
    code, out, _ = doors.cli("check", "-C", str(doors.root), "--base", MAIN)
    assert (code, "keys/signers: C003 warning" in out) == (0, True)
    git(doors.root, "reset", "-q", "--hard", MAIN)
    doors.write("keys/out", hers)
    assert "changes whose signatures count" in doors.warned("C003")


@pytest.mark.parametrize("moved", [".memento/config.yml", ".memento/runs/config.yaml", "config.yaml"])
def test_a_moved_policy_is_a_removed_one(doors: Doors, moved: str) -> None:
    """Way: `config.yaml` lies where nothing reads it."""
    git(doors.root, "mv", layout.CONFIG, moved)
    git(doors.root, "commit", "-qm", "moved")
    doors.caught("C004")
    doors.denied("policy_missing", "status", exit_code=4)
    doors.refused("policy_missing", "run start", goal="Anew")
    doors.denied("policy_missing", "init", exit_code=4)
    doors.denied("policy_missing", "check", "--no-base", exit_code=4)


def test_a_second_policy_is_not_read(doors: Doors) -> None:
    """Way: a weaker `config.yml` beside the file."""
    doors.policy("  require: [test]\n")
    doors.write(".memento/config.yml", "version: 1\npolicy:\n  require: []\n")
    _by_lint_unproven(doors)
    assert "is not part of the ledger's layout" in doors.caught("P001", told="F010")


def _by_lint_unproven(doors: Doors) -> None:
    task = doors.play.task("One")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task, kind="lint"))
    assert not doors.play.is_proven(task)


def test_a_policy_behind_a_link_is_none(doors: Doors) -> None:
    """Way: `config.yaml` is a symbolic link to a file outside of the ledger, which nobody reviews as policy."""
    (doors.root / "mine.yaml").write_text("version: 1\npolicy:\n  proof: {note: advisory}\n")
    (doors.root / layout.CONFIG).unlink()
    (doors.root / layout.CONFIG).symlink_to("../mine.yaml")
    doors.play.commit_all("link")
    doors.denied("ledger_broken", "status", exit_code=4)
    doors.refused("ledger_broken", "run start", goal="Anew")
    doors.caught("F004")


@pytest.mark.parametrize(
    ("version", "code"),
    [("2", "F005"), ("99999999999999999999", "F005"), ("1000000000000000000000", "F002"), ("0", "F002"), ("-1", "F002"),
     ("1.0", "F002"), ("0x1", "F002"), ("[1]", "F002"), ("'1 '", "F002"), ("\u0661", "F002")],
)  # fmt: skip
def test_a_faked_format_version_gives_no_way_around_policy(doors: Doors, version: str, code: str) -> None:
    """Way: a format that this tool does not know, so that it reads no policy."""
    doors.policy("  require: [test]\n")
    _by_lint_unproven(doors)
    doors.write(layout.CONFIG, f"version: {version}\npolicy:\n  require: []\n")
    doors.caught(code, "P001")
    doors.denied("ledger_broken", "status", exit_code=4)
    doors.refused("ledger_broken", "run start", goal="Anew")


def test_a_policy_that_cannot_be_read_is_an_error_and_the_bases_judges(doors: Doors) -> None:
    """Way: policy is broken in the branch, so that only its default is left."""
    doors.policy("  require: [test]\n")
    _by_lint_unproven(doors)
    doors.write(layout.CONFIG, "version: 1\npolicy:\n  require: [test\n")
    doors.caught("F001", "P001")


def _without_policy(doors: Doors, broken: str) -> str:
    """Have main ask for a test, then break its policy past every check, and go on from there; return the commit."""
    doors.policy("  require: [test]\n")
    good = git(doors.root, "rev-parse", MAIN)
    git(doors.root, "switch", "-q", MAIN)
    if broken == "gone":
        doors.remove(layout.CONFIG)
    elif broken == "link":
        (doors.root / layout.CONFIG).unlink()
        (doors.root / layout.CONFIG).symlink_to("README.md")
        doors.play.commit_all("a link")
    else:
        doors.write(layout.CONFIG, broken)
    git(doors.root, "switch", "-q", WORK)
    git(doors.root, "merge", "-q", "--ff-only", MAIN)
    return good


def _mended(doors: Doors, text: str) -> None:
    (doors.root / layout.CONFIG).unlink(missing_ok=True)
    doors.write(layout.CONFIG, text, "a policy that can be read")


CUT, UNKNOWN = "version: 1\npolicy:\n  require: [test\n", "version: 1\npolicy:\n  require: [test]\n  other: 1\n"


@pytest.mark.parametrize("broken", [CUT, UNKNOWN, "gone", "link"])
def test_who_mends_the_policy_of_the_base_is_judged_by_the_last_one(doors: Doors, broken: str) -> None:
    """Way: what main asks can be read by nobody, so that who mends that says what is asked of what comes with it."""
    good = _without_policy(doors, broken)
    _mended(doors, "version: 1\npolicy:\n  require: [test]\n")
    assert f"what is added is judged by that of {good[:12]}, the last one" in doors.warned("C003")
    _mended(doors, "version: 1\n")
    _by_lint(doors)
    told = doors.caught("P001", told="C003")
    assert "the branch weakens policy: require: test is asked no more" in told


@pytest.mark.parametrize("broken", [CUT, UNKNOWN])
def test_who_mends_the_policy_of_the_base_is_shown_what_it_changes_and_has_it_run_again(
    doors: Doors, broken: str
) -> None:
    """No way: the diff that a reviewer reads, and running again, go by the last policy that can be read, too."""
    doors.policy("  reproduce: {commands: [[python3, check.py]]}\n")
    git(doors.root, "branch", "-f", MAIN, WORK)
    git(doors.root, "switch", "-q", MAIN)
    doors.write(layout.CONFIG, broken)
    git(doors.root, "switch", "-q", WORK)
    git(doors.root, "merge", "-q", "--ff-only", MAIN)
    _mended(doors, "version: 1\n")
    doors.write("app.py", "worse\n")
    task = doors.play.task("One")
    doors.completed(task, bad := doors.witness(task))
    doors.warned("C003")
    code, told, _ = doors.cli("diff", MAIN, "--format", "markdown", "-C", str(doors.root))
    assert (code, "policy at the base cannot be read" in told, task in told) == (0, True, True)
    code, found = doors.check("--base", MAIN, "--reproduce")
    assert (code, [bad in row["message"] for row in found if row["code"] == "V002"]) == (5, [True])


@pytest.mark.parametrize("since", ["", "broken"])
def test_a_policy_of_the_base_that_a_newer_version_wrote_is_not_passed_over(doors: Doors, since: str) -> None:
    """Way: the check is of an older version, which cannot read the base's policy; the branch brings one that it can."""
    _without_policy(doors, "version: 2\npolicy:\n  require: [test]\n")
    if since:
        git(doors.root, "switch", "-q", MAIN)
        doors.write(layout.CONFIG, CUT)
        git(doors.root, "switch", "-q", WORK)
        git(doors.root, "merge", "-q", "--ff-only", MAIN)
    _mended(doors, "version: 1\n")
    _by_lint(doors)
    doors.caught("F005")


def test_a_policy_of_the_base_that_was_readable_before_the_clone_begins_is_not_passed_over(
    doors: Doors, tmp_path: Path
) -> None:
    """Way: the same in a clone that is cut off between the two."""
    _without_policy(doors, CUT)
    _mended(doors, "version: 1\n")
    _by_lint(doors)
    doors.caught("P001")
    depth = int(git(doors.root, "rev-list", "--count", f"{MAIN}..{WORK}")) + 1
    git(tmp_path, "clone", "-q", f"--depth={depth}", "-b", WORK, doors.root.as_uri(), "cut")
    code, found = doors.check("--base", git(doors.root, "rev-parse", MAIN), root=tmp_path / "cut")
    told = [(row["code"], row["fix"]) for row in found if row["severity"] == "error"]
    assert (code, told) == (5, [("F001", "git fetch --unshallow (actions/checkout: fetch-depth: 0)")])
