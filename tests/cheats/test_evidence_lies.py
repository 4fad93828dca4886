"""Evidence that says what did not happen, or that says too little: it does not count, or running it again tells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work import codestate
from memento_git.work.actions import evidences, reproducing, tasks, verifying
from memento_git.work.proof import reruns
from memento_git.work.proof.rerun_comparison import Runner
from memento_git.work.proof.verification import named
from tests.cheats.doors import run_of
from tests.play import commit_all, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.doors import Doors

CHANGES_POLICY = """\
import pathlib, subprocess, zlib
def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True).stdout.strip()
if "memento-again" in str(pathlib.Path.cwd()):
    name = git("rev-parse", "main:.memento/config.yaml")
    there = pathlib.Path(git("rev-parse", "--git-common-dir"), "objects", name[:2], name[2:])
    there.unlink()
    there.write_bytes(zlib.compress(b"blob 11\\0version: 1\\n"))
"""
LISTED = "  reproduce:\n    commands: [[python3, check.py]]\n    timeout: 60s\n"
REPORT = {"name": "junit.xml", "format": "junit", "sha256": "0" * 64, "ok": True}
COUNTS = {"tests": 3, "passed": 1, "failed": 2, "errors": 0, "skipped": 0}


def completed(doors: Doors, **lie: Any) -> tuple[str, str]:
    """Complete a task on evidence that was written by hand."""
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.witness(task, **lie)
    doors.completed(task, evidence, dispatch=claim)
    return task, evidence


def test_an_outcome_that_its_exit_code_denies(doors: Doors) -> None:
    task, evidence = completed(doors, command={"exit": 1})
    doors.unproven(task, f"{evidence}: its outcome disagrees with what the command did")
    assert f"{evidence} says passed" in doors.caught("V002", "P001")


def test_a_completion_on_a_command_that_failed(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task, code=1)
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.completed(task, evidence, dispatch=claim)
    doors.unproven(task, f"{evidence} failed")
    doors.caught("P001")


@pytest.mark.parametrize("told", [{"timed_out": "true"}, {"signal": 9}])
def test_exit_code_zero_of_a_command_that_was_ended(doors: Doors, told: dict[str, Any]) -> None:
    task, evidence = completed(doors, command=told)
    doors.unproven(task, f"{evidence}: its outcome disagrees with what the command did")
    doors.caught("V002", "P001")


@pytest.mark.parametrize(
    "lie",
    [
        {"counts": COUNTS}, {"counts": {**COUNTS, "failed": 0, "errors": 1}},
        {"counts": {**COUNTS, "passed": 3, "failed": 0}, "failed": ["test_parse"]},
        {"counts": {**COUNTS, "passed": 3, "failed": 0}, "failed_more": 4},
    ],
)  # fmt: skip
def test_a_report_that_says_it_is_good_and_counts_failures(doors: Doors, lie: dict[str, Any]) -> None:
    task, evidence = completed(doors, reports=[{**REPORT, **lie}])
    doors.unproven(task, f"{evidence}: its outcome disagrees with what the command did")
    doors.caught("V002", "P001")


def test_a_report_that_failed_beside_exit_code_zero(doors: Doors) -> None:
    task, evidence = completed(doors, reports=[{**REPORT, "ok": "false", "counts": COUNTS}])
    doors.unproven(task, f"{evidence}: its outcome disagrees with what the command did")
    doors.caught("V002", "P001")


@pytest.mark.parametrize("beside", [[], [{**REPORT, "name": "other.xml", "counts": {"tests": 3, "passed": 3}}]])
def test_a_report_of_skipped_cases_alone(doors: Doors, beside: list[dict[str, Any]]) -> None:
    """Way: each test is marked as skipped; its runner ends with 0, and nothing has failed."""
    skipped = [*beside, {**REPORT, "counts": {"tests": 3, "skipped": 3}}]
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.witness(task, reports=skipped, outcome="observed")
    for _ in doors.accepted("dispatch complete", dispatch=claim, evidence=[evidence]):
        assert not doors.play.is_proven(task)
    doors.unproven(task, f"{evidence} has no verdict: every case in junit.xml was skipped")
    doors.caught("P001")
    task, evidence = completed(doors, reports=skipped)
    doors.unproven(task, f"{evidence}: its outcome disagrees with what the command did")
    doors.caught("V002", "P001")
    code, rows = doors.check("--no-base")
    assert (code, [row["severity"] for row in rows if row["code"] == "V002"]) == (5, ["error"])


def test_a_failure_that_is_followed_by_a_run_of_skipped_cases(doors: Doors) -> None:
    """Way: the latest run of a command counts, and this one has not failed."""
    task = doors.play.task()
    good = doors.witness(task)
    bad = doors.witness(task, command={"exit": 1}, outcome="failed")
    doors.completed(task, good)
    silent = doors.witness(task, reports=[{**REPORT, "counts": {"tests": 3, "skipped": 3}}], outcome="observed")
    for _ in doors.accepted("evidence retract", evidence=silent, reason="Nothing ran."):
        assert any(bad in one for one in doors.play.do(verifying.verify_task, task).unmet)


def test_problems_beside_a_pass(doors: Doors) -> None:
    task, evidence = completed(doors, problems=["junit.xml was not written"])
    doors.unproven(task, f"{evidence}: its outcome disagrees with what the command did")
    doors.caught("V002", "P001")


def test_output_with_the_digest_of_other_output(doors: Doors) -> None:
    task, evidence = completed(doors)
    doors.write(f"{doors.path(evidence).removesuffix('.yaml')}/stdout.txt", "1 failed\n")
    doors.unproven(task, f"{evidence} is only reported, and witnessed is asked")
    assert "has other bytes than it recorded" in doors.caught("V001", "P001")
    assert "not kept here as it was hashed" in doors.denied("evidence_not_attestable", "evidence", "export", evidence)
    typed = doors.witness(task, drop=["command"])
    assert "not kept here as it was hashed" in doors.denied("evidence_not_attestable", "evidence", "export", typed)


def test_no_output_with_the_digest_of_some(doors: Doors) -> None:
    """A command that wrote nothing has the digest of nothing."""
    empty = {"sha256": "ab" * 32, "bytes": 0}
    task, evidence = completed(doors, command={"stdout": empty})
    doors.unproven(task, f"{evidence} is only reported, and witnessed is asked")
    doors.caught("P001")


def test_a_log_in_the_place_of_a_run(doors: Doors) -> None:
    """A log that says `3 passed` is a file: it may complete a task, and proves nothing."""
    doors.write("test.log", "3 passed\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    log = str(
        doors.play.do(
            evidences.add_evidence, "test", tasks=[task], files=["test.log"], outcome="passed", summary="3 passed"
        )
    )
    doors.play.complete(claim, log)
    doors.unproven(task, f"{log} is only verified, and witnessed is asked")
    doors.caught("P001")


def test_a_log_that_contradicts_what_it_is_given_as(doors: Doors) -> None:
    """Nobody reads logs; a policy that takes files as proof takes this one, which is why none does by default."""
    doors.write("test.log", "3 failed\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    log = str(doors.play.do(evidences.add_evidence, "test", tasks=[task], files=["test.log"], outcome="passed"))
    doors.play.complete(claim, log)
    doors.unproven(task, f"{log} is only verified, and witnessed is asked")
    doors.caught("P001")


def test_a_summary_alone(doors: Doors) -> None:
    task = doors.play.task()
    claim = doors.play.claimed(task)
    words = str(
        doors.play.do(evidences.add_evidence, "test", tasks=[task], summary="All tests pass.", outcome="passed")
    )
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[words])
    doors.completed(task, words, dispatch=claim)
    doors.unproven(task, f"{words} is only advisory, and witnessed is asked")
    doors.caught("P001")


@pytest.mark.parametrize("kind", ["note", "memory"])
def test_a_note_with_a_command_in_it(doors: Doors, kind: str) -> None:
    task, evidence = completed(doors, kind=kind)
    doors.unproven(task, f"{evidence} is of kind {kind}, which proves nothing by itself")
    doors.caught("P001")


@pytest.mark.parametrize("kind", ["screenshot", "approval", "ci"])
def test_a_command_in_evidence_that_is_none_of_a_command(doors: Doors, kind: str) -> None:
    doors.policy(f"  proof: {{{kind}: verified}}\n")
    run = run_of(doors)
    about = {"approves": run, "text": doors.ref(run).digest} if kind == "approval" else {}
    task, evidence = completed(doors, kind=kind, **about)
    doors.unproven(task, f"{evidence} is only reported, and verified is asked")
    doors.caught("P001")


@pytest.mark.parametrize("kind", ["ci", "test"])
def test_a_link_where_a_run_is_asked(doors: Doors, kind: str) -> None:
    doors.policy("  proof: {test: witnessed, ci: witnessed}\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    link = str(
        doors.play.do(evidences.add_evidence, kind, tasks=[task], uri="https://ci.example.invalid/1", outcome="passed")
    )
    doors.play.complete(claim, link)
    doors.unproven(task, f"{link} is only reported, and witnessed is asked")
    doors.caught("P001")


def test_a_pass_of_another_command_than_the_one_that_is_asked(doors: Doors) -> None:
    doors.policy("  verify: [{commands: [{run: [python3, check.py]}]}]\n")
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    doors.play.complete(claim, evidence)
    doors.unproven(task, "`python3 check.py`, which has no witnessed pass for this code")
    doors.caught("P001")


def test_a_pass_that_took_longer_than_the_command_may(doors: Doors) -> None:
    """Way: verification would have ended it, and finds a pass, so that it runs nothing."""
    doors.policy("  verify: [{commands: [{run: [python3, check.py], timeout: 5m}]}]\n")
    task = doors.play.task()
    claim, slow = doors.play.claimed(task), doors.witness(task, command={"seconds": 301})
    doors.play.complete(claim, slow)
    doors.unproven(task, f"{slow} took 301 s, and it may take 300 s")
    doors.caught("P001")
    doors.play.do(tasks.reopen_task, task, reason="It is slow.")
    doors.play.complete(doors.play.claimed(task), doors.witness(task, command={"seconds": 300.9}))
    doors.sound("D011")


def test_a_pass_of_a_command_that_begins_like_the_one_that_is_asked(doors: Doors) -> None:
    """Way: of a very long word evidence keeps the beginning alone, and no second run is made of such a command."""
    start = f"x = 1{' ' * 4200}"
    doors.policy(f"  verify: [{{commands: [{{run: [python3, -c, '{start};import check']}}]}}]\n")
    doors.write("app.py", "worse\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    other, asked = (
        evidences.witness(doors.play.ledger, ["python3", "-c", f"{start};{end}"], kind="test", quiet=True)
        for end in ("y = 2", "import check")
    )  # fmt: skip
    assert (other.data["outcome"], asked.data["outcome"]) == ("passed", "failed")
    doors.play.complete(claim, str(doors.play.do(evidences.record_draft, other, tasks=[task])))
    doors.unproven(task, "which has no witnessed pass for this code")
    doors.caught("P001")
    assert asked.data["command"]["argv"] == named(("python3", "-c", f"{start};import check"))


def test_a_pass_of_the_command_in_another_folder(doors: Doors) -> None:
    doors.policy("  verify: [{commands: [{run: [python3, check.py]}]}]\n")
    task, _ = completed(doors, command={"cwd": "docs"})
    doors.unproven(task, "`python3 check.py`, which has no witnessed pass for this code")
    doors.caught("P001")


def test_a_witnessed_pass_that_was_written_by_hand(doors: Doors) -> None:
    """Files cannot tell that they lie, so this one is believed until CI runs the command again."""
    doors.policy(LISTED)
    doors.write("app.py", "worse\n")
    task, evidence = completed(doors)
    assert doors.play.is_proven(task)
    doors.sound()
    for arguments in (("check", "--base", "main", "--reproduce", "--format", "json"),
                      ("evidence", "reproduce", "--base", "main", "--json")):  # fmt: skip
        code, out, _ = doors.cli(*arguments, "-C", str(doors.root))
        assert (code, evidence in out, "exit code 0 is recorded, 3 came out" in out) == (
            5 if arguments[0] == "check" else 1, True, True,
        )  # fmt: skip
    found = json.loads(
        doors.cli("check", "--base", "main", "--reproduce", "--format", "json", "-C", str(doors.root))[1]
    )
    assert ("V002", "error") in {(row["code"], row["severity"]) for row in found["findings"]}


def test_a_command_that_runs_what_the_branch_wrote(doors: Doors) -> None:
    """Way: its words are those that are asked for, and the script is easy by now; only who reads the code sees that."""
    doors.policy(f"  verify: [{{commands: [{{run: [python3, check.py]}}]}}]\n{LISTED}")
    doors.write("app.py", "worse\n")
    doors.write("check.py", "raise SystemExit(0)\n")
    completed(doors)
    doors.sound()
    code, out, _ = doors.cli("check", "--base", "main", "--reproduce", "-C", str(doors.root))
    assert (code, "1 reproduced, 0 differs, 0 cannot" in out) == (0, True), out


def test_a_command_that_passes_by_a_variable_of_the_environment(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Way: evidence does not tell of the environment. A second run has none of it."""
    doors.policy(LISTED)
    doors.write("check.py", "import os\nraise SystemExit(0 if 'SKIP' in os.environ else 3)\n")
    doors.landed()
    monkeypatch.setenv("SKIP", "1")
    draft = evidences.witness(doors.play.ledger, ["python3", "check.py"], kind="test", quiet=True)
    task = doors.play.task()
    doors.play.complete(doors.play.claimed(task), doors.play.do(evidences.record_draft, draft, tasks=[task]))
    doors.sound()
    code, rows = doors.check("--base", "main", "--reproduce")
    assert (code, [row["code"] for row in rows]) == (5, ["V002"]), rows


def test_code_that_changes_the_clone_while_it_is_run_again(doors: Doors) -> None:
    """Way: policy asks nothing any more once the command has run: what was found before that stays found."""
    doors.policy(f"  require: [approval]\n{LISTED}")
    doors.write("check.py", CHANGES_POLICY)
    task, _ = completed(doors)
    assert f"{task} is completed, but not proven: policy asks for approval evidence" in doors.caught("P001")
    code, found = doors.check("--base", "main", "--reproduce")
    assert (code, [(row["code"], row["severity"]) for row in found]) == (5, [("P001", "error")])
    assert doors.check("--base", "main") == (0, []), "its objects are others now"


@pytest.mark.parametrize("told", [9, 7])
def test_coverage_that_was_written_by_hand(doors: Doors, told: int) -> None:
    """Way: the command passes, so that a second run agrees. What says no more than came out is honest."""
    doors.policy(LISTED)
    totals = {"totals": {"num_statements": 10, "covered_lines": 7}}
    doors.write("check.py", f"open('c.json', 'w').write({json.dumps(json.dumps(totals))})\n")
    counts = {"lines": 10, "covered": told}
    report = {"name": "c.json", "format": "coverage-json", "sha256": "ab" * 32, "ok": True, "counts": counts}
    _, evidence = completed(doors, reports=[report])
    doors.sound()
    check = ("check", "--base", "main", "--reproduce", "--format", "json", "-C", str(doors.root))
    code, out, _ = doors.cli(*check)
    less = "c.json: 9 of 10 lines are recorded as covered, 7 of 10 came out"
    rows = [(row["code"], row["severity"], row["message"]) for row in json.loads(out)["findings"]]
    found = [("V002", "warning", f"{evidence}, run again, passes, but covers less: {less}")] * (told == 9)
    assert (code, [row for row in rows if row[0] == "V002"]) == (0, found)
    ledger = doors.play.ledger
    reproducing.record(ledger, ledger.change, reproducing.reproduce(ledger, ids=[evidence]))
    shown = doors.cli("diff", "main", "-C", str(doors.root))[1]
    assert (f"nobody has signed it; {less}" in shown) == (told == 9)


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        ({"format": "coverage-xml"}, "c.json: coverage-xml is recorded, coverage-json came out"),
        ({"counts": {"lines": 10, "covered": 7, "passed": 500}}, "c.json: 500 passed recorded, 0 came out"),
    ],
)
def test_a_report_that_tells_what_no_such_report_tells(doors: Doors, lie: dict[str, Any], told: str) -> None:
    """Way: of a report of coverage no counts were compared, so that it could tell of cases that nobody ran."""
    doors.policy(LISTED)
    totals = {"totals": {"num_statements": 10, "covered_lines": 7}}
    doors.write("check.py", f"open('c.json', 'w').write({json.dumps(json.dumps(totals))})\n")
    report = {"name": "c.json", "format": "coverage-json", "sha256": "ab" * 32, "ok": True}
    completed(doors, reports=[{**report, "counts": {"lines": 10, "covered": 7}, **lie}])
    doors.sound()
    code, rows = doors.check("--base", "main", "--reproduce")
    assert (code, [told in row["message"] for row in rows if row["severity"] == "error"]) == (5, [True])


def test_a_pass_of_what_may_be_run_again_with_words_by_which_it_does_nothing(doors: Doors) -> None:
    """Way: `pytest --version` begins with what policy lists, and passes each time; asked word by word, it is none."""
    listed = "  reproduce: {commands: [[git]]}\n"
    doors.policy(listed)
    task, evidence = completed(doors, command={"argv": ["git", "--version"]})
    assert doors.play.is_proven(task)
    found = reproducing.reproduce(doors.play.ledger, ids=[evidence])
    assert [one.status for one in found] == ["reproduced"]
    doors.sound()
    doors.policy(f"{listed}  verify: [{{commands: [{{run: [git, diff, --quiet]}}]}}]\n")
    doors.unproven(task, "policy asks for `git diff --quiet`, which has no witnessed pass for this code")
    doors.caught("P001")


@pytest.mark.parametrize("graver", [False, True])
def test_a_pass_of_what_nobody_can_run_again(doors: Doors, *, graver: bool) -> None:
    """Way: it names a folder that the code does not have. Where policy says so, that is an error."""
    doors.policy(LISTED + "  check: {errors: [V002]}\n" * graver)
    doors.write("app.py", "worse\n")
    _, evidence = completed(doors, command={"cwd": "build"})
    doors.sound()
    code, out, _ = doors.cli("check", "--base", "main", "--reproduce", "--format", "json", "-C", str(doors.root))
    (row,) = json.loads(out)["findings"]
    assert (code, row["severity"]) == ((5, "error") if graver else (0, "warning"))
    assert f"{evidence} could not be run again" in row["message"]


def two_codes(doors: Doors, *, swapped: bool) -> dict[str, Any]:
    """Make the code worse; return a word for it that names the good code, on which the check passes, too."""
    good = codestate.code_now(doors.play.ledger.git)
    doors.write("app.py", "worse\n")
    worse = codestate.code_now(doors.play.ledger.git)["tree"]
    if swapped:
        return {**good, "tree": worse, "full": good["tree"], "untracked": {"x.tmp": "e" * 40}}
    return {**good, "full": worse}


@pytest.mark.parametrize("written_over", [False, True])
def test_a_tree_of_files_that_git_did_not_track_where_there_were_none(doors: Doors, *, written_over: bool) -> None:
    """Way: it is run again on the tracked files, on which it passes, and counts by the other tree.

    Where it names a file that git did not track, it says that its command wrote that over.
    """
    doors.policy(LISTED)
    code = two_codes(doors, swapped=False)
    before, after = ({"tree": code["tree"], "untracked": {"x.tmp": digit * 40}} for digit in "ef")
    lie = {"code": {**code, **before}, "code_after": after} if written_over else {"code": code}
    _, evidence = completed(doors, **lie)
    doors.unproven(doors.play.state(evidence).ids("task")[0], f"{evidence} is of other code than what was completed")
    doors.caught("P001")


def differs(doors: Doors, evidence: str) -> None:
    """Say that each command which runs a pass again tells that it came to something else."""
    for arguments, fails in (
        (("check", "--base", "main", "--reproduce", "--format", "json"), 5),
        (("evidence", "reproduce", "--base", "main", "--json"), 1),
        (("evidence", "reproduce", evidence, "--json"), 1),
    ):
        code, out, _ = doors.cli(*arguments, "-C", str(doors.root))
        assert (code, evidence in out, "exit code 0 is recorded, 3 came out" in out) == (fails, True, True)


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("gone_on", [False, True])
def test_a_pass_that_names_two_codes(doors: Doors, *, gone_on: bool, more: bool) -> None:
    """Way: it is run again where it passes, and counts for the other code, which is HEAD's or was."""
    doors.policy(LISTED)
    both = two_codes(doors, swapped=True)
    if more:
        del both["untracked"]
        both["untracked_more"] = 1
    task, evidence = completed(doors, code=both)
    assert doors.play.is_proven(task)
    if gone_on:
        doors.write("README.md", "More.\n")
    doors.sound()
    differs(doors, evidence)


@pytest.mark.parametrize(
    "untracked", [{"untracked": {"x.tmp": "e" * 40}}, {"untracked_more": 1}], ids=["named", "more"]
)
def test_a_pass_that_names_code_of_before_as_tracked_and_that_of_now_with_other_files(
    doors: Doors, untracked: dict[str, Any]
) -> None:
    """Way: it counts for all files that it says it saw, which HEAD has, and is run again on the tracked ones alone.

    No files that are added to those make them the others.
    """
    doors.policy(LISTED)
    task, evidence = completed(doors, code={**two_codes(doors, swapped=False), **untracked})
    assert doors.play.is_proven(task)
    doors.sound()
    differs(doors, evidence)


@pytest.mark.parametrize("named", ["history", "untracked", "nowhere"])
def test_a_pass_that_names_one_code_and_paths_of_another(doors: Doors, named: str) -> None:
    """Way: it is run again on the code whose tree it names, on which it passes, and counts by its paths.

    Of that code it says that a commit of the branch has it, or all files that it saw, or a commit without a branch.
    """
    doors.policy(LISTED)
    task = doors.play.task()
    claim = doors.play.claimed(task)
    if named == "nowhere":
        doors.write("app.py", "good elsewhere\n")
    good = codestate.code_now(doors.play.ledger.git)
    if named == "nowhere":
        git(doors.root, "reset", "-q", "--hard", "HEAD^")
    doors.write("app.py", "worse\n")
    worse = codestate.code_now(doors.play.ledger.git, ["app.py"])
    code = {**good, "paths": worse["paths"]}
    if named == "untracked":
        code |= {"tree": "e" * 40, "full": good["tree"], "untracked": {"x.tmp": "e" * 40}}
    evidence = doors.witness(task, code=code)
    doors.completed(task, evidence, dispatch=claim, code={key: worse[key] for key in ("tree", "paths")})
    assert doors.play.is_proven(task)
    doors.sound()
    differs(doors, evidence)


@pytest.mark.parametrize("claimed", ["honestly", "both", "as if it were about paths"])
def test_a_rerun_that_counts_does_not_count_for_the_other_of_two_codes(
    doors: Doors, monkeypatch: pytest.MonkeyPatch, claimed: str
) -> None:
    """Way: a trusted runner runs it again; the completion may name both codes, too.

    Or the evidence has a table of the paths that it is about, with none in it.
    """
    doors.policy(f"  proof: {{test: reproduced}}\n{LISTED}")
    both = two_codes(doors, swapped=True)
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.witness(task, code=both)
    if claimed == "as if it were about paths":
        doors.edit(evidence, "code:\n", "code:\n  paths: {}\n")
    named = {key: both[key] for key in ("tree", "full", "untracked")}
    doors.completed(task, evidence, dispatch=claim, **({"code": named} if claimed == "both" else {}))
    monkeypatch.setattr(reruns, "runner", lambda *_: Runner("good", "ci@example.invalid", ""))
    found = reproducing.reproduce(doors.play.ledger, ids=[evidence])
    assert [one.status for one in found] == ["differs"]
    reproducing.record(doors.play.ledger, doors.play.ledger.change, found)
    doors.unproven(task, f"{evidence} is only witnessed, and reproduced is asked")
    doors.caught("P001")


def test_a_second_run_that_was_written_by_hand_to_agree(doors: Doors) -> None:
    """A rerun of one's own raises no trust: where policy asks for reproduced evidence, it is still witnessed."""
    doors.policy("  proof: {test: reproduced}\n")
    task = doors.play.task()
    claim, first = doors.play.claimed(task), doors.witness(task)
    doors.witness(task, reproduces=str(doors.ref(first)), by="agent:other")
    doors.completed(task, first, dispatch=claim)
    doors.unproven(task, f"{first} is only witnessed, and reproduced is asked")
    doors.caught("P001")


def test_trust_that_somebody_typed(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.witness(task, trust="reproduced")
    doors.completed(task, evidence, dispatch=claim)
    doors.unproven(task, f"{evidence} is missing or is not the file that was cited")
    doors.caught("F002", "P001")


def test_a_failed_run_that_nobody_cites(doors: Doors) -> None:
    """The pass is cited and the later failure on the same code left out; reopening does not get rid of it either."""
    task = doors.play.task(commands=["python3 check.py"])
    good = doors.witness(task)
    bad = doors.witness(task, "1 failed\n", command={"exit": 3}, outcome="failed")
    for _ in range(2):
        doors.completed(task, good)
        doors.sound()
        told = doors.play.do(verifying.verify_task, task)
        assert told.unmet == (f"`python3 check.py` failed in its latest run for this code: {bad}",)
        assert doors.task(task)["status"] == "rejected"
        assert doors.missing() == [f"task {task} is rejected"]
        doors.play.do(tasks.reopen_task, task, reason="Once more.")


def test_a_failed_run_that_a_pass_about_some_paths_shall_hide(doors: Doors) -> None:
    """Way: the command that failed passes once more, and is said to be about one file."""
    task = doors.play.task()
    good = doors.witness(task)
    bad = doors.witness(task, "1 failed\n", command={"exit": 3}, outcome="failed")
    narrow = evidences.witness(doors.play.ledger, ["python3", "check.py"], kind="test", covers=["app.py"], quiet=True)
    doors.play.do(evidences.record_draft, narrow, tasks=[task])
    doors.completed(task, good)
    doors.sound()
    assert doors.task(task)["failed_since"] == [bad]
    told = doors.play.do(verifying.verify_task, task)
    assert told.unmet == (f"`python3 check.py` failed in its latest run for this code: {bad}",)


def test_binary_output_that_is_not_there(doors: Doors) -> None:
    """Output that is no text is not kept, so anybody may say so; running it again tells."""
    doors.policy(LISTED)
    doors.write("app.py", "worse\n")
    stream = {"sha256": "ab" * 32, "bytes": 9, "binary": "true"}
    completed(doors, command={"stdout": stream})
    doors.sound()
    code, out, _ = doors.cli("check", "--base", "main", "--reproduce", "--format", "json", "-C", str(doors.root))
    assert (code, "exit code 0 is recorded, 3 came out" in out) == (5, True)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_pass_of_older_code_beside_one_of_this_code(doors: Doors, *, elsewhere: bool) -> None:
    """Way: an acceptance brings what is asked for other code; fresh is what nobody asks, or the words in a folder."""
    doors.policy("  verify: [{commands: [{run: [python3, check.py]}]}]\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    old = doors.witness(task)
    code = codestate.code_now(doors.play.ledger.git)
    doors.write("app.py", "broken = True\n")
    fresh = doors.witness(task, command={"cwd": "sub"}) if elsewhere else doors.play.evidence(task)
    doors.play.complete(claim, fresh)
    assert "check.py" in doors.caught("P001")
    doors.forge(task, "accepted", text=doors.ref(task).digest, code=code, evidence=[str(doors.ref(old))])
    assert f"{old}, which proves {task}, is of other code" in doors.warned("C001")


def test_a_pass_of_older_code_that_is_asked_and_proves_nothing_by_itself(doors: Doors) -> None:
    doors.policy("  proof: {test: witnessed}\n  verify: [{commands: [{run: [python3, check.py], kind: lint}]}]\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    old = doors.witness(task, kind="lint")
    code = codestate.code_now(doors.play.ledger.git)
    doors.write("app.py", "broken = True\n")
    doors.play.complete(claim, doors.play.evidence(task))
    doors.forge(task, "accepted", text=doors.ref(task).digest, code=code, evidence=[str(doors.ref(old))])
    assert f"`python3 check.py`, which is asked of {task}, has no pass for this commit" in doors.warned("C001")


def test_a_pass_that_is_about_paths_which_nobody_changed(doors: Doors) -> None:
    doors.write("README.md", "Hello.\n")
    doors.landed()
    task = doors.play.task()
    claim = doors.play.claimed(task)
    code = codestate.code_now(doors.play.ledger.git, ["README.md"])
    proof = doors.witness(task, code=code)
    doors.write("app.py", "broken = True\n")
    doors.play.complete(claim, proof, doors.play.evidence(task, kind="lint"))
    assert f"{proof}, which proves {task}, covers README.md alone" in doors.warned("C001")


@pytest.mark.parametrize("form", ["--no-cone", "--cone", "--sparse-index"])
def test_a_pass_without_the_files_that_a_sparse_checkout_leaves_out(doors: Doors, form: str) -> None:
    """Way: what fails is not there while the command runs, and git tells the code as if it were. It is told.

    A second run has all files, also in a clone whose own checkout is a sparse one.
    """
    doors.policy("  reproduce: {commands: [[python3, all.py]]}\n")
    doors.write("tests/bad.py", "raise SystemExit(1)\n")
    doors.write("all.py", "import pathlib\nfor one in pathlib.Path('tests').glob('*.py'):\n    exec(one.read_text())\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    shown = ["/*", "!/tests/"] if form == "--no-cone" else [".memento"]
    git(doors.root, "sparse-checkout", "set", *(["--cone"] if form == "--sparse-index" else []), form, *shown)
    draft = evidences.witness(doors.play.ledger, ["python3", "all.py"], kind="test", quiet=True)
    evidence = str(doors.play.do(evidences.record_draft, draft, tasks=[task]))
    doors.play.complete(claim, evidence)
    assert any(
        "without 1 tracked file or submodule, which are not checked out" in one for one in doors.play.ledger.warnings
    )
    code, out, _ = doors.cli("check", "--base", "main", "--reproduce", "--format", "json", "-C", str(doors.root))
    assert (code, f"{evidence}, run again, differs: exit code 0 is recorded, 1 came out" in out) == (5, True)
    git(doors.root, "sparse-checkout", "disable")
    doors.sound()
    told = "`python3 all.py` exit 0, without 1 tracked file or submodule"
    for arguments in (("diff", "main", "--format", "markdown"), ("report", "--format", "markdown")):
        assert told in doors.cli("-C", str(doors.root), *arguments)[1]


@pytest.mark.parametrize("there", [False, True])
def test_a_pass_without_a_submodule_that_is_not_checked_out(doors: Doors, tmp_path: Path, *, there: bool) -> None:
    """Way: what fails lies in a submodule, and git tells the code as if it were there. With it, nothing is told."""
    setup = "    setup: [[git, -c, protocol.file.allow=always, submodule, --quiet, update, --init]]\n" * there
    doors.policy(f"  reproduce:\n    commands: [[python3, all.py]]\n{setup}")
    part = tmp_path / "part"
    git(tmp_path, "init", "-q", str(part))
    (part / "one.py").write_text(f"raise SystemExit({int(not there)})\n")
    commit_all(part, "part")
    git(doors.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "tests")
    doors.write("all.py", "import pathlib\nfor one in pathlib.Path('tests').glob('*.py'):\n    exec(one.read_text())\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    if not there:
        git(doors.root, "submodule", "--quiet", "deinit", "tests")
    draft = evidences.witness(doors.play.ledger, ["python3", "all.py"], kind="test", quiet=True)
    evidence = str(doors.play.do(evidences.record_draft, draft, tasks=[task]))
    doors.play.complete(claim, evidence)
    told = "without 1 tracked file or submodule"
    assert any(told in one for one in doors.play.ledger.warnings) == (not there)
    doors.sound()
    code, out, _ = doors.cli("check", "--base", "main", "--reproduce", "--format", "json", "-C", str(doors.root))
    (row,) = json.loads(out)["results"]
    assert (code, row["result"], row["why"]) == (0, "reproduced", [told] * (not there))
    for arguments in (("diff", "main", "--format", "markdown"), ("report", "--format", "markdown")):
        assert (f"exit 0, {told}" in doors.cli("-C", str(doors.root), *arguments)[1]) == (not there)


def test_a_pass_with_other_files_where_a_submodule_is_not_checked_out(doors: Doors, tmp_path: Path) -> None:
    """Way: what fails lies in a submodule; its folder has an easy file instead, and no repository, so git sees none."""
    part = tmp_path / "part"
    git(tmp_path, "init", "-q", str(part))
    (part / "one.py").write_text("raise SystemExit(1)\n")
    commit_all(part, "part")
    git(doors.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "tests")
    doors.write("all.py", "import pathlib\nfor one in pathlib.Path('tests').glob('*.py'):\n    exec(one.read_text())\n")
    task = doors.play.task()
    claim = doors.play.claimed(task)
    git(doors.root, "submodule", "--quiet", "deinit", "tests")
    (doors.root / "tests" / "one.py").write_text("easy = True\n")
    assert git(doors.root, "status", "--porcelain") == ""
    draft = evidences.witness(doors.play.ledger, ["python3", "all.py"], kind="test", quiet=True)
    doors.play.complete(claim, str(doors.play.do(evidences.record_draft, draft, tasks=[task])))
    assert draft.data["code"]["untracked"].keys() == {"tests/one.py"}
    assert "absent" not in draft.data["code"]
    told = doors.warned("C007")
    assert told.count("tests/one.py") == 5
    assert "tests/one.py" in doors.cli("-C", str(doors.root), "diff", "main", "--format", "markdown")[1]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("spelled", ["", "./"])
def test_a_pass_that_is_about_a_file_of_the_ledger(doors: Doors, spelled: str, *, beside: bool) -> None:
    """Way: the branch brings this file, so that it changed what the pass is about; all code may change as it likes.

    The ledger is no part of the code: what is about such files alone is about all code.
    """
    doors.write("README.md", "Hello.\n")
    doors.landed()
    task = doors.play.task()
    claim, path = doors.play.claimed(task), f"{spelled}{doors.path(task)}"
    good = codestate.code_now(doors.play.ledger.git, ["README.md", path])
    if not beside:
        del good["paths"]["README.md"]
    proof = doors.witness(task, code=good)
    doors.write("app.py", "broken = True\n")
    if beside:
        doors.play.complete(claim, proof)
        assert f"{proof}, which proves {task}, covers README.md alone" in doors.warned("C001")
        return
    doors.completed(task, proof, dispatch=claim, code=codestate.code_now(doors.play.ledger.git, [path]))
    doors.unproven(task, f"{proof} is of other code than what was completed")
    doors.caught("P001")
    doors.play.do(tasks.reopen_task, task, reason="Once more.")
    doors.completed(task, proof, code=good)
    assert f"{proof}, which proves {task}, is of other code than this commit's" in doors.warned("C001")
