"""evidence reproduce: recorded commands run again in clean work trees; who wrote an exit code by hand is caught."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import cleanroom, codec, layout, lock, processes
from memento_git.ledger.store import Ledger
from memento_git.model.ids import Ref
from memento_git.model.work import Evidence
from memento_git.work import refusals as no
from memento_git.work.actions import clean_rerun, evidences, reproducing, runs
from memento_git.work.attest import signers
from memento_git.work.proof import evidence_prefilter, rerun_comparison, trust
from tests.play import Play, commit_all, git

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction
    from memento_git.work.actions.reproducing import Result
    from tests.play import Call

CHECK = "from pathlib import Path\nraise SystemExit(0 if 'good' in Path('app.py').read_text() else 3)\n"
JUNIT = """\
import sys
from pathlib import Path
bad = Path("app.py").read_text().count("bad")
cases = "".join(f'<testcase name="case {n}">{"<failure/>" if n < bad else ""}</testcase>' for n in range(3))
Path("junit.xml").write_text(f'<testsuite tests="3">{cases}</testsuite>')
raise SystemExit(1 if bad and "--exit" in sys.argv else 0)
"""
ESCAPES = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'], start_new_session=True)"
HANGS = """\
import os, subprocess, sys, time
if "memento-again" in os.getcwd():
    {before}
    open({began!r}, "w").write(os.getcwd())
    time.sleep(99)
    open({began!r} + ".waited", "w")
"""
LISTED = "  reproduce:\n    commands: [[python3, '*.py']]\n    timeout: 60s\n"


@pytest.fixture
def play(play: Play) -> Play:
    """A run with a plan, a check that reads the code, and a policy that lets it run again."""
    (play.root / "check.py").write_text(CHECK)
    (play.root / "junit.py").write_text(JUNIT)
    (play.root / "app.py").write_text("good\n")
    (play.root / ".gitignore").write_text("junit.xml\n__pycache__\n")
    play.policy(LISTED)
    play.planned()
    return play


def shown(play: Play, task: str, *argv: str, **options: Any) -> str:
    """Record what a command of the repository shows."""
    draft = evidences.witness(play.ledger, ["python3", *(argv or ("check.py",))], kind="test", quiet=True, **options)
    return str(play.do(evidences.record_draft, draft, tasks=[task]))


def forged(play: Play, evidence: str, *, exit_code: int = 0) -> None:
    """Write by hand that a command passed."""
    state = play.state(evidence)
    path = play.root / state.index.evidence[evidence]
    text = path.read_text().replace("outcome: failed", "outcome: passed")
    path.write_text(re.sub(r"exit: \d+", f"exit: {exit_code}", text))
    git(play.root, "commit", "-qa", "--amend", "--no-edit")  # as if it had come so


def lied(play: Play) -> tuple[str, str]:
    """Make the code worse on a branch of `base`, and complete a task on a pass that was written by hand."""
    git(play.root, "branch", "base")
    play.commit("app.py", "worse\n")
    task = play.task()
    evidence = shown(play, task)
    forged(play, evidence)
    play.complete(play.claimed(task), evidence)
    return task, evidence


def again(play: Play, *ids: str, **options: Any) -> list[Result]:
    return reproducing.reproduce(play.ledger, ids=ids, **options)


def recorded(play: Play, *ids: str) -> Result:
    return reproducing.record(play.ledger, play.ledger.change, again(play, *ids))[0]


def ref_of(found: Evidence) -> Ref:
    return Ref(found.id, found.digest)


def cited(play: Play, evidence: str) -> trust.Cited:
    state = play.state(evidence)
    found = state.evidence_named(evidence)
    return state.cited(ref_of(found))


def test_what_passed_is_reproduced_at_the_code_that_it_saw_and_nothing_is_left(play: Play) -> None:
    evidence = shown(play, play.task())
    before = git(play.root, "worktree", "list"), git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "-s")
    saw = git(play.root, "rev-parse", "HEAD")
    play.commit("app.py", "worse\n")
    (found,) = again(play, evidence)
    assert (found.status, found.where) == ("reproduced", "tree")
    assert found.why == (f"at {found.commit[:12]}, which has other code than HEAD",)
    assert git(play.root, "rev-parse", f"{found.commit}:app.py") == git(play.root, "rev-parse", f"{saw}:app.py")
    assert git(play.root, "worktree", "list").count("\n") == before[0].count("\n") == 0
    assert git(play.root, "status", "-s") == before[2]


def test_where_a_command_ran_is_told(play: Play, cli: Call) -> None:
    """Words that policy lists may mean something else in another folder."""
    (play.root / "easy").mkdir()
    (play.root / "easy" / "check.py").write_text("")
    play.commit_all()
    task = play.task()
    with Ledger.open(play.root / "easy") as there:
        draft = evidences.witness(there, ["python3", "check.py"], kind="test", quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[task])
    code, out, err = cli("-C", str(play.root), "evidence", "reproduce", evidence)
    assert (code, f"running again `python3 check.py` in easy of {evidence}" in err) == (0, True), err
    assert f"{evidence} reproduced\n" in out
    (told,) = json.loads(cli("-C", str(play.root), "evidence", "reproduce", evidence, "--json")[1])["results"]
    assert (told["commit"], told["doubt"]) == (git(play.root, "rev-parse", "HEAD"), None)


def test_who_writes_a_pass_by_hand_is_caught_against_the_base(play: Play, cli: Call) -> None:
    task, evidence = lied(play)
    assert play.is_proven(task), "a file cannot tell that it lies"

    code, out, err = cli("-C", str(play.root), "evidence", "reproduce", "--base", "base")
    assert code == 1
    assert f"{evidence} differs: exit code 0 is recorded, 3 came out" in out
    assert "1 differs" in out
    assert "running again `python3 check.py`" in err
    code, out, _ = cli("-C", str(play.root), "evidence", "reproduce", "--base", "base", "--json")
    told = json.loads(out)
    assert (code, told["ok"], told["counts"]) == (1, False, {"reproduced": 0, "differs": 1, "cannot": 0})
    assert (told["error"], told["message"]) == ("not_reproduced", "0 reproduced, 1 differs, 0 cannot")
    assert told["results"][0] == told["results"][0] | {
        "evidence_id": evidence, "result": "differs", "where": "tree", "exit_code": 3, "recorded_id": None,
        "command": ["python3", "check.py"], "task_ids": [task],
    }  # fmt: skip


def test_a_machine_without_a_git_identity_can_run_again(play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = shown(play, play.task())
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    assert cli("-C", str(play.root), "evidence", "reproduce", evidence)[0] == 0


def test_only_what_the_branch_adds_is_run_against_a_base(play: Play, cli: Call) -> None:
    old = play.task("old")
    first = shown(play, old)
    play.complete(play.claimed(old), first)
    git(play.root, "branch", "base")
    assert reproducing.reproduce(play.ledger, base="base") == []
    _, out, _ = cli("-C", str(play.root), "evidence", "reproduce", "--base", "base")
    assert "nothing to run again" in out
    new = play.task("new")
    second = shown(play, new, "check.py", "new")
    play.complete(play.claimed(new), second)
    shown(play, new, "check.py", "cited by nothing")
    found = reproducing.reproduce(play.ledger, base="base")
    assert [(one.evidence.id, one.status) for one in found] == [(second, "reproduced")]
    assert {one.evidence.id for one in again(play)} == {first, second}, "all that the run's work rests on"


def test_a_gate_that_passed_on_forged_evidence_is_caught_too(play: Play) -> None:
    git(play.root, "branch", "base")
    play.commit("app.py", "worse\n")
    evidence = shown(play, play.task())
    forged(play, evidence)
    play.gate("quality_review", "passed", evidence=[evidence])
    assert [one.status for one in reproducing.reproduce(play.ledger, base="base")] == ["differs"]


def test_policy_comes_from_the_base_and_a_branch_cannot_allow_itself(play: Play) -> None:
    play.policy("  lease: 1h\n")
    git(play.root, "branch", "base")
    play.policy(LISTED)
    task = play.task()
    play.complete(play.claimed(task), shown(play, task))
    with pytest.raises(reproducing.NothingListed) as caught:
        again(play, base="base")
    assert caught.value.token == "reproduction_not_allowed"
    assert 'commands: [["python3"]]' in caught.value.hint
    assert [one.status for one in again(play)] == ["reproduced"]


def test_a_policy_of_the_branch_that_cannot_be_read_does_not_hinder_a_base_that_can(play: Play) -> None:
    git(play.root, "branch", "base")
    task = play.task()
    approval = play.do(evidences.approve, task)
    play.complete(play.claimed(task), approval, shown(play, task))
    play.policy("  lease: soon\n")
    assert [one.status for one in again(play, base="base")] == ["reproduced"]


@pytest.mark.parametrize(
    ("patterns", "argv", "listed"),
    [
        ([["pytest"]], ["pytest", "-q"], True),
        ([["pytest"]], ["python3", "-m", "pytest"], False),
        ([["python3", "-m", "pytest"]], ["python3", "-m", "pytest", "x"], True),
        ([["npm", "test"]], ["npm"], False),
        ([["tools/*"]], ["tools/check"], True),
        ([["make", "test-*"]], ["make", "install"], False),
        ([[]], ["rm"], False),
        ([], ["pytest"], False),
    ],
)
def test_a_command_is_listed_by_its_first_words(patterns: list[list[str]], argv: list[str], listed: bool) -> None:
    assert rerun_comparison.is_listed(argv, patterns) is listed


def test_what_cannot_be_run_again_says_why_and_fails_only_when_strict(play: Play, cli: Call) -> None:
    task = play.task()
    other = play.evidence(task)
    secret = shown(play, task, "check.py", "/etc/ssl/certs/")
    note = play.do(evidences.add_evidence, "note", summary="fine", tasks=[task])
    gone = shown(play, task, "check.py", "gone")
    play.do(evidences.retract, gone, reason="mistake")
    play.policy(LISTED.replace("[[python3, '*.py']]", "[[python3, '*.py'], [no-such-program]]"))
    missing = shown(play, task, "check.py", "missing")
    path = play.root / play.state(missing).index.evidence[missing]
    play.commit(path, path.read_text().replace("- python3\n", "- no-such-program\n"))

    results = again(play, other, secret, note, gone, missing)
    assert {one.severity for one in reproducing.findings(results)} == {"warning"}
    assert all("record anew: memento evidence run" in one.fix for one in reproducing.findings(results))
    why = {one.evidence.id: (one.status, one.why[0]) for one in results}
    assert {status for status, _ in why.values()} == {"cannot"}
    assert "does not list its command" in why[other][1]
    assert "taken out" in why[secret][1]
    assert why[note][1] == "it records no command"
    assert why[gone][1] == "it is retracted"
    assert "no-such-program could not be started" in why[missing][1]
    assert cli("-C", str(play.root), "evidence", "reproduce", note)[0] == 0
    assert cli("-C", str(play.root), "evidence", "reproduce", note, "--strict")[0] == 1


def test_a_destructive_command_is_not_run_whatever_policy_lists(play: Play) -> None:
    evidence = shown(play, play.task())
    path = play.root / play.state(evidence).index.evidence[evidence]
    path.write_text(path.read_text().replace("- python3\n  - check.py", "- git\n  - reset\n  - --hard"))
    play.policy("  preflight: {destructive: ignore}\n  reproduce: {commands: [[git]]}\n")
    (found,) = again(play, evidence)
    assert found.status == "cannot"
    assert "git reset --hard" in found.why[0]


def test_code_that_no_commit_holds_is_run_at_head_and_said_so(play: Play) -> None:
    (play.root / "app.py").write_text("good as well\n")
    evidence = shown(play, play.task())
    git(play.root, "checkout", "-q", "app.py")
    (found,) = again(play, evidence)
    assert (found.status, found.where) == ("reproduced", "head")
    assert "no commit here holds" in found.why[0]


def squashed(play: Play, folder: Path) -> Play:
    """Squash the branch `work` into `main`; return a clone that has no commit of it."""
    git(play.root, "switch", "-q", "main")
    git(play.root, "merge", "-q", "--squash", "work")
    git(play.root, "commit", "-qm", "squashed")
    git(folder, "clone", "-q", "--branch", "main", "--single-branch", f"file://{play.root}", "clone")
    return play.beside(folder / "clone")


@pytest.mark.parametrize("covers", [["app.py"], ["app.py", "src"], ["src"]])
@pytest.mark.parametrize("later", ["elsewhere", "there", "moved"])
def test_paths_whose_commit_was_squashed_away_are_run_again_where_they_are_still_or_at_head(
    play: Play, tmp_path: Path, cli: Call, covers: list[str], later: str
) -> None:
    (play.root / "src").mkdir()
    (play.root / "src" / "x.py").write_text("x = 1\n")
    play.commit_all()
    git(play.root, "switch", "-qc", "work")
    for name in ("app.py", "src/x.py"):
        (play.root / name).write_text("good, and new\n")
    task = play.task()
    evidence = shown(play, task, covers=covers)
    play.commit("README.md", "written meanwhile\n", "both")
    play.complete(play.claimed(task), evidence)
    if later == "moved":
        git(play.root, "mv", covers[-1], "elsewhere")
        (play.root / "app.py").write_text("good\n")
    elif later == "there":
        for name in ("app.py", "src/x.py"):
            (play.root / name).write_text("good, and newer\n")
    else:
        (play.root / "README.md").write_text("written later\n")
    play.commit_all("later")
    there = squashed(play, tmp_path)

    (found,) = reproducing.reproduce(there.ledger, base="HEAD^")
    code, out, _ = cli("check", "--base", "HEAD^", "--reproduce", "--format", "json", "-C", str(there.root))
    told = {(row["code"], row["severity"]) for row in json.loads(out)["findings"]} - {("C001", "warning")}

    assert (found.status, found.where) == ("reproduced", "tree" if later == "elsewhere" else "head")
    assert found.is_confirmed == (later == "elsewhere")
    assert found.why == (() if later == "elsewhere" else ("at HEAD, for no commit here holds the code that it saw",))
    assert (code, told) == (0, set())


def test_a_submodule_that_is_covered_is_run_again_at_the_commit_that_has_it(play: Play, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "part")
    part = tmp_path / "part"
    (part / "x.py").write_text("x = 1\n")
    commit_all(part, "part")
    git(play.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "part")
    play.commit_all()
    clean = shown(play, play.task(), covers=["part"])
    (play.root / "part" / "x.py").write_text("x = 2\n")
    edited = shown(play, play.task(), covers=["part", "app.py"])
    git(play.root, "-C", "part", "checkout", "-q", ".")
    play.commit("README.md", "later\n", "later")
    first, second = again(play, clean, edited)
    assert (first.status, first.where, first.is_confirmed) == ("reproduced", "tree", True)
    assert (second.status, second.where, second.is_confirmed) == ("reproduced", "head", False)
    assert "no commit here holds" in second.why[0]


def test_untracked_files_that_were_seen_are_said_to_be_missing(play: Play) -> None:
    (play.root / "extra.txt").write_text("x\n")
    evidence = shown(play, play.task())
    (found,) = again(play, evidence)
    assert (found.status, found.where) == ("reproduced", "tracked")
    assert "untracked" in found.why[0]
    play.commit_all()
    (found,) = again(play, evidence)
    assert (found.status, found.where) == ("reproduced", "tree"), "a commit holds all of it now"


def test_where_a_rerun_differs_the_end_of_what_it_printed_tells_why(play: Play) -> None:
    (play.root / "needs.py").write_text("import os, sys\nsys.exit(os.environ.get('NEEDED') and 'no' or 'x' * 999 + "
                                        "' in ' + os.getcwd() + '\\x1b[31m: NEEDED is not set')\n")  # fmt: skip
    play.commit_all()
    evidence = shown(play, play.task(), "needs.py")
    forged(play, evidence)
    (found,) = again(play, evidence)
    told = found.why[-1]
    assert told.startswith("at its end it printed: xxx")
    assert told.endswith("/code [31m: NEEDED is not set")
    assert str(play.root.parent) not in told
    assert len(told) < 400
    (finding,) = reproducing.findings([found])
    assert told in finding.message


def test_where_nothing_makes_what_git_ignores_a_failure_is_told_with_that(play: Play) -> None:
    (play.root / ".gitignore").write_text("packages/\n")
    (play.root / "packages").mkdir()
    (play.root / "packages" / "needed.py").write_text("")
    play.commit("needs.py", "import sys; sys.path.append('packages'); import needed\n")
    evidence = shown(play, play.task(), "needs.py")
    (found,) = again(play, evidence)
    assert (found.status, found.why[1]) == ("differs", reproducing.BARE)
    assert "No module named 'needed'" in found.why[2]
    (finding,) = reproducing.findings([found])
    assert finding.fix.startswith(
        "name in policy.reproduce.setup what makes it; where it fails all the same: memento evi"
    )
    play.policy(f"{LISTED}    setup: [[mkdir, packages]]\n")
    (found,) = again(play, evidence)
    assert (found.status, reproducing.BARE in found.why) == ("differs", False)
    (finding,) = reproducing.findings([found])
    assert finding.fix == f"memento evidence retract {evidence} --reason WHY"


def test_counts_and_names_of_cases_are_compared(play: Play) -> None:
    play.commit("app.py", "bad bad\n")
    evidence = shown(play, play.task(), "junit.py", reports=["junit.xml"])
    assert [one.status for one in again(play, evidence)] == ["reproduced"], "a failure is reproduced as well"
    path = play.root / play.state(evidence).index.evidence[evidence]
    play.commit(path, path.read_text().replace("  - case 1\n", "").replace("failed: 2", "failed: 1"))
    (found,) = again(play, evidence)
    assert found.status == "differs"
    assert "junit.xml: failed now: case 1" in found.why


def test_a_command_in_a_folder_with_a_report_runs_again_there(play: Play) -> None:
    (play.root / "sub").mkdir()
    (play.root / "sub" / "junit.py").write_text(JUNIT)
    (play.root / "sub" / "app.py").write_text("good\n")
    play.commit_all()
    inside = play.beside(play.root / "sub")
    task = play.task()
    draft = evidences.witness(
        inside.ledger, ["python3", "junit.py"], kind="test", reports=["junit.xml"], covers=["app.py"], quiet=True
    )
    evidence = play.do(evidences.record_draft, draft, tasks=[task])
    (found,) = again(play, evidence)
    assert (found.status, found.where) == ("reproduced", "tree")
    assert found.draft is not None
    assert found.draft.data["command"]["cwd"] == "sub"
    assert found.draft.data["reports"][0]["name"] == "sub/junit.xml"


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/dev/null", "/dev/null"),
        ("2>/dev/null;", "2>/dev/null;"),
        ("of=/dev/stderr", "of=/dev/stderr"),
        ("/dev/shm/null", "<outside>/null"),
        ("/dev/null/x", "<outside>/x"),
        ("/dev/stdin", "<outside>/stdin"),
    ],
)
def test_devices_that_are_the_same_on_all_machines_stay_in_a_command_and_it_runs_again(
    play: Play, path: str, kept: str
) -> None:
    play.commit("check.py", "")
    evidence = shown(play, play.task(), "check.py", path)
    found = play.state(evidence).evidence_named(evidence)
    assert found.data["command"]["argv"] == ["python3", "check.py", kept]
    assert again(play, evidence)[0].status == ("cannot" if kept.startswith("<outside>") else "reproduced")


def repository_in(folder: Path, clean: str) -> None:
    """Make what git takes for a repository and is files of another one, with a filter that runs a command."""
    for name, text in {
        "HEAD": "ref: refs/heads/main\n", "refs/x": "", "objects/x": "", "info/attributes": "* filter=x\n",
        "config": f'[core]\n\tworktree = ./w\n[filter "x"]\n\tclean = {clean}; cat\n', "w/app.txt": "good\n",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder / "w", "update-index", "--add", "--cacheinfo", f"100644,{'1' * 40},app.txt")


def test_a_repository_that_the_branch_has_among_its_files_is_not_asked(play: Play, tmp_path: Path) -> None:
    """Way: git, asked about the code from such a folder, runs what its configuration says, and policy lists nothing."""
    repository_in(play.root / "inner", f"touch {tmp_path / 'ran'}")
    play.commit("inner/w/check.py", "", "data")
    evidence = shown(play, play.task())
    path = next((play.root / ".memento").rglob(f"{evidence}.yaml"))
    play.commit(path, path.read_text().replace("cwd: .\n", "cwd: inner/w\n"), "by hand")
    (found,) = again(play, evidence)
    assert found.status == "reproduced", found.why
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_the_code_does_not_have_cannot_be_run_in(play: Play) -> None:
    (play.root / "sub").mkdir()
    (play.root / "sub" / "check.py").write_text("print(1)\n")
    inside = play.beside(play.root / "sub")
    draft = evidences.witness(inside.ledger, ["python3", "check.py"], kind="test", quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[play.task()])
    (found,) = again(play, evidence)
    assert (found.status, found.why[0].partition(" has ")[2]) == ("cannot", "no folder sub to run in")
    assert clean_rerun.FolderAbsent.token == "reproduction_folder_absent"


def test_setup_makes_the_work_tree_ready_and_its_failure_accuses_nobody(play: Play) -> None:
    script = "from pathlib import Path\nraise SystemExit(0 if Path('made').exists() else 4)\n"
    (play.root / "check.py").write_text(script)
    (play.root / ".gitignore").write_text("made\n")
    (play.root / "setup.py").write_text("from pathlib import Path\nPath('made').touch()\n")
    (play.root / "made").touch()
    play.commit_all()
    evidence = shown(play, play.task())
    assert [one.status for one in again(play, evidence)] == ["differs"]
    play.policy(LISTED + "    setup: [[python3, setup.py]]\n")
    assert [one.status for one in again(play, evidence)] == ["reproduced"]
    play.policy(LISTED + "    setup: [[python3, -c, 'raise SystemExit(9)']]\n")
    (found,) = again(play, evidence)
    assert found.status == "cannot"
    assert "ended with exit code 9" in found.why[0]
    assert clean_rerun.SetupFailed.token == "reproduction_setup_failed"


def test_a_setup_that_takes_too_long_has_failed_also_where_it_ends_well_when_it_is_told_to(play: Play) -> None:
    play.commit("slow.sh", "trap 'exit 0' TERM\nwhile :; do sleep 0.1; done\n")
    evidence = shown(play, play.task())
    play.policy(LISTED.replace("60s", "1s") + "    setup: [[sh, slow.sh]]\n")
    (found,) = again(play, evidence)
    assert found.status == "cannot"
    assert "policy.reproduce.setup: sh slow.sh ended with exit code 0" in found.why[0]


def test_a_command_sees_a_bare_environment_and_what_policy_names(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    play.commit("env.py", "import os\nprint(sorted(os.environ))\n")
    evidence = shown(play, play.task(), "env.py")
    for name in ("API_KEY", "WANTED", "MEMENTO_ACTOR", "GIT_DIR_X"):
        monkeypatch.setenv(name, "x")
    play.policy(LISTED + "    env: [WANTED, MEMENTO_ACTOR]\n")
    (found,) = again(play, evidence)
    assert found.draft is not None
    printed = found.draft.files["stdout.txt"].decode()
    assert "'WANTED'" in printed
    assert not [name for name in ("API_KEY", "MEMENTO_ACTOR", "GIT_") if f"'{name}" in printed]


def test_a_command_that_hangs_is_ended_with_all_that_it_started(play: Play, tmp_path: Path) -> None:
    slow = HANGS.format(began=str(tmp_path / "began"), before=ESCAPES)
    play.commit("slow.py", slow)
    evidence = shown(play, play.task(), "slow.py")
    play.policy(LISTED.replace("60s", "2s"))
    (found,) = again(play, evidence)
    assert (found.status, found.why[0]) == ("cannot", "it did not end within 2s")
    assert not (tmp_path / "began.waited").exists()
    assert git(play.root, "worktree", "list").count("\n") == 0


def hanging(play: Play, tmp_path: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """Run a command again that hangs; return our process once it is in its work tree, and that."""
    began = tmp_path / "began"
    slow = HANGS.format(began=str(began), before="")
    play.commit("slow.py", slow)
    evidence = shown(play, play.task(), "slow.py")
    argv = [sys.executable, "-m", "memento_git", "-C", str(play.root), "evidence", "reproduce", evidence]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 30
    while not (began.exists() and began.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return process, Path(began.read_text())


def test_ctrl_c_ends_the_command_and_removes_the_work_tree(play: Play, tmp_path: Path) -> None:
    process, folder = hanging(play, tmp_path)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert not folder.exists()
    assert git(play.root, "worktree", "list").count("\n") == 0


def test_what_a_killed_rerun_leaves_is_told_and_removed_and_no_other(play: Play, tmp_path: Path, cli: Call) -> None:
    process, folder = hanging(play, tmp_path)
    evidence = shown(play, play.task())
    own = tmp_path / "memento-again-mine"
    git(play.root, "worktree", "add", "-q", "--detach", str(own / "code"))
    assert again(play, evidence)[0].status == "reproduced"
    assert folder.is_dir(), "it is in use"
    assert "ran a command again" not in cli("doctor", "-C", str(play.root))[1]
    process.kill()
    process.wait()
    assert f"{folder.parent} was left by a process" in cli("doctor", "-C", str(play.root))[1]
    assert f"removed {folder.parent}" in cli("doctor", "--fix", "-C", str(play.root))[1]
    assert not folder.parent.exists()
    assert git(play.root, "worktree", "list").count("\n") == 1
    assert (own / "code").is_dir(), "it is somebody's own"


def test_the_next_rerun_removes_what_a_killed_one_left(play: Play, tmp_path: Path) -> None:
    process, folder = hanging(play, tmp_path)
    process.kill()
    process.wait()
    assert processes.members(folder.parent.name, ()) != []
    assert again(play, shown(play, play.task()))[0].status == "reproduced"
    assert processes.members(folder.parent.name, ()) == []
    assert not folder.parent.exists()
    assert git(play.root, "worktree", "list").count("\n") == 0


def test_what_a_rerun_removes_itself_meanwhile_is_not_locked_and_not_made_anew(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, folder = hanging(play, tmp_path)
    process.kill()
    process.wait()
    processes.end(folder.parent.name)
    first = lock.held

    def late(path: Path, *given: Any, **options: Any) -> Any:
        shutil.rmtree(path.parent)
        return first(path, *given, **options)

    monkeypatch.setattr(lock, "held", late)
    assert list(cleanroom.left(play.ledger.git)) == []
    assert not folder.parent.exists()


def test_equal_commands_on_one_commit_run_once(play: Play, tmp_path: Path) -> None:
    play.commit("count.py", f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\n")
    task = play.task()
    first, second = shown(play, task, "count.py"), shown(play, task, "count.py")
    assert [one.status for one in again(play, first, second)] == ["reproduced", "reproduced"]
    assert (tmp_path / "runs").read_text() == "xxx"


def test_a_recorded_rerun_is_evidence_of_its_own_and_still_reads_as_witnessed(play: Play) -> None:
    task = play.task()
    evidence = shown(play, task)
    other = play.as_("agent:other")
    made = recorded(other, evidence).made
    state = play.state(made)
    found = state.evidence_named(made)
    assert found.data["reproduces"].partition("@")[0] == evidence
    assert (found.kind, found.tasks, found.data["by"]) == ("test", [task], "agent:other")
    assert state.trust_in(found) == "witnessed"
    told = cited(play, evidence)
    assert (told.trust, told.doubt) == ("witnessed", f"{made} ran it again, and nobody has signed it")


def test_a_recorded_difference_unproves_what_rests_on_the_first_until_it_is_retracted(play: Play, cli: Call) -> None:
    task, evidence = lied(play)
    found = recorded(play, evidence)
    made = found.made
    assert reproducing.row(found)["doubt"] is None, "it does not speak for the first at all"
    state = play.state(task)
    why = state.proof(task).why
    assert why[0].startswith(f"{evidence} is contradicted: {made} ran it again on the same code: exit code 0")
    _, out, _ = cli("-C", str(play.root), "evidence", "show", evidence, "--json")
    assert json.loads(out)["evidence"]["contradicted_by"] == [made]
    play.do(evidences.retract, made, reason="the machine was broken")
    assert play.is_proven(task)


def test_contradicted_evidence_completes_nothing(play: Play) -> None:
    play.commit("app.py", "worse\n")
    task = play.task()
    evidence = shown(play, task)
    forged(play, evidence)
    recorded(play, evidence)
    with pytest.raises(no.EvidenceRequired, match="is contradicted"):
        play.complete(play.claimed(task), evidence)


def test_a_difference_on_other_code_or_of_another_command_contradicts_nothing(play: Play) -> None:
    evidence = shown(play, play.task())
    state = play.state(evidence)
    first = state.evidence_named(evidence)
    ref = f"{evidence}@{first.digest}"
    bad = {**first.data, "id": "evidence_" + "1" * 12, "outcome": "failed", "reproduces": ref}
    bad["command"] = {**first.data["command"], "exit": 1}

    def told(**changes: Any) -> rerun_comparison.Seen:
        return rerun_comparison.judged(first, [Evidence(bad["id"], state.id, {**bad, **changes}, "", "")])

    assert told().differ == (bad["id"],)
    untracked = {**first.data["code"], "untracked": {"x": "0" * 40}, "full": "1" * 40}
    for code in ({"tree": "0" * 40}, untracked):
        elsewhere = told(code=code)
        assert (elsewhere.agree, elsewhere.differ, elsewhere.contradicted, elsewhere.trusted) == ((), (), "", False)
        assert elsewhere.doubt == f"{bad['id']} ran it again, and it ran on other code than the first"
    assert told(command={**bad["command"], "argv": ["false"]}) == rerun_comparison.Seen()
    assert told(kind="lint") == rerun_comparison.Seen()
    assert told(reproduces=f"{evidence}@{'0' * 32}") == rerun_comparison.Seen()


def test_in_a_final_run_nothing_is_recorded_and_that_is_said(play: Play) -> None:
    evidence = shown(play, play.task())
    play.do(runs.cancel_run, play.state(evidence).id, reason="over")
    found = recorded(play, evidence)
    assert (found.status, found.made) == ("reproduced", "")
    assert any("is final" in warning for warning in play.ledger.warnings)


def test_what_a_branch_makes_proven_again_is_run_again(play: Play) -> None:
    task = play.task()
    evidence = shown(play, task)
    play.complete(play.claimed(task), evidence)
    path = play.root / play.state(task).index.prose[task]
    text = path.read_text()
    base = play.commit(path, text + "Something else.\n")
    play.commit(path, text)
    assert [one.evidence.id for one in again(play, base=base)] == [evidence]


def test_the_work_of_a_dispatch_branch_is_found(play: Play) -> None:
    git(play.root, "checkout", "-qb", "memento/abc")
    play.commit("app.py", "good, elsewhere\n")
    git(play.root, "checkout", "-q", "main")
    (play.root / "app.py").write_text("good, elsewhere\n")
    evidence = shown(play, play.task())
    git(play.root, "checkout", "-q", "app.py")
    (found,) = again(play, evidence)
    assert (found.status, found.where, found.commit) == (
        "reproduced", "tree", git(play.root, "rev-parse", "memento/abc")
    )  # fmt: skip


def test_a_rerun_is_found_among_many_that_are_none(play: Play) -> None:
    task = play.task()
    evidence = shown(play, task)
    state = play.state(evidence)
    first = state.evidence_named(evidence)

    def many(tx: Transaction) -> None:
        for _ in range(60):
            name = tx.new_id("evidence")
            tx.put(layout.evidence_path(state.id, name), codec.encode({**first.data, "id": name}))

    play.ledger.change("many", many)
    for _ in range(2):
        found = play.state(evidence)
        assert found.seen_again(first) == rerun_comparison.Seen()
    made = recorded(play, evidence).made
    assert play.state(evidence).seen_again(first).agree == (made,)


def test_of_much_evidence_only_what_may_name_other_is_read(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = shown(play, play.task())
    made = recorded(play, evidence).made
    names = sorted([made, shown(play, play.task()), evidence])
    assert evidence_prefilter.suspects(play.state(evidence)) == [made]
    monkeypatch.setattr(evidence_prefilter, "MANY", 0)
    state = play.state(evidence)
    assert evidence_prefilter.suspects(state) == [made]
    assert [state.index.evidence[made]] == [path for path in state.view.contents if layout.evidence_of(path)]
    oid = state.view.files[state.index.evidence[made]]
    (play.root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    state = play.beside(play.root).state(evidence)
    assert evidence_prefilter.suspects(state) == [made]  # its reader tells that it is absent
    assert len(state.view.contents.keys() & {*state.index.evidence.values()}) == len(names) - 1


def test_a_recorded_rerun_is_signed_where_a_key_is_given(play: Play, tmp_path: Path, cli: Call) -> None:
    key = tmp_path / "runner"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (play.root / "signers").write_text(f"ada@example.invalid {key.with_suffix('.pub').read_text()}")
    play.policy(LISTED + "  signatures: {allowed_signers: signers}\n")
    evidence = shown(play, play.task())
    at = ("-C", str(play.root), "evidence", "reproduce", evidence)
    code, out, _ = cli(*at, "--key", str(key), "--json")
    made = json.loads(out)["results"][0]["recorded_id"]
    state = play.state(made)
    rerun = state.evidence_named(made)
    assert signers.Verifier(state.view, state.view.policy()).seen(rerun)[:2] == ("good", "ada@example.invalid")
    assert code == 0
    assert cited(play, evidence).doubt == f"{made} ran it again, and policy.reproduce.runners lists nobody"


def test_check_runs_again_what_a_branch_rests_on_and_fails_where_it_differs(play: Play, cli: Call) -> None:
    _, evidence = lied(play)

    believed = cli("-C", str(play.root), "check", "--base", "base")
    code, out, _ = cli("-C", str(play.root), "check", "--base", "base", "--reproduce", "--format", "json")

    assert believed[0] == 0
    (found,) = [one for one in json.loads(out)["findings"] if one["code"] == "V002"]
    assert (code, found["severity"]) == (5, "error")
    assert (play.root / found["path"]).read_text().splitlines()[found["line"] - 1] == "outcome: passed"
    assert found["fix"].endswith(f": memento evidence retract {evidence} --reason WHY")
    assert f"{evidence}, run again, differs: exit code 0 is recorded, 3 came out" in found["message"]
    assert cli("-C", str(play.root), "check", "--staged", "--reproduce")[0] == 2


def test_a_check_without_a_base_never_looks_as_if_it_had_run_anything_again(play: Play, cli: Call) -> None:
    lied(play)
    for alone in ((), ("--no-base",)):
        code, out, err = cli("-C", str(play.root), "check", *alone, "--reproduce")
        assert (code, out, "reproduce_needs_base" in err, "--base REV" in err) == (2, "", True, True)


def test_check_tells_what_it_ran_again_and_where(play: Play, cli: Call, tmp_path: Path) -> None:
    git(play.root, "switch", "-qc", "work")
    (play.root / "app.py").write_text("good, and new\n")
    task = play.task()
    evidence = shown(play, task, covers=["app.py"])
    play.commit_all("new")
    play.complete(play.claimed(task), evidence)
    play.commit("app.py", "good, and newer\n", "newer")
    check = ("-C", str(squashed(play, tmp_path).root), "check", "--base", "HEAD^", "--reproduce")

    code, out, err = cli(*check)
    by_program, answer, quiet = cli(*check, "--json")
    _, commands, beside = cli(*check, "--format", "github")

    assert (code, by_program) == (0, 0)
    told = f"{evidence} reproduced: at HEAD, for no commit here holds the code that it saw"
    assert out.splitlines()[:2] == [told, "1 reproduced, 0 differs, 0 cannot"]
    assert (told in commands, told in beside, quiet) == (False, True, "")
    assert "running again" in err
    (row,) = json.loads(answer)["results"]
    assert (row["evidence_id"], row["result"], row["where"]) == (evidence, "reproduced", "head")


def test_a_base_without_a_ledger_allows_nothing_and_where_nothing_is_run_that_is_no_fault(
    play: Play, cli: Call
) -> None:
    git(play.root, "branch", "base", git(play.root, "rev-list", "--max-parents=0", "HEAD"))
    check = ("-C", str(play.root), "check", "--base", "base", "--reproduce")

    assert cli(*check)[0] == 0
    assert again(play, base="base") == []

    task = play.task()
    play.complete(play.claimed(task), shown(play, task))
    code, _, err = cli(*check)
    assert (code, "reproduction_not_allowed" in err) == (1, True)
    assert "where there is no ledger yet" in err
    git(play.root, "checkout", "-q", "base")
    assert cli(*check, "--format", "json")[0] == 0
    assert 'bring the ledger there first, with this below policy: reproduce: {commands: [["python3"]]}' in err
