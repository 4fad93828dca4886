"""What a command showed is not lost, whatever the command left behind and wherever it cannot be written down."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.errors import adding
from memento_git.ledger.git_status import UncommittedLedger
from memento_git.work import codestate
from memento_git.work.actions import evidences, folders
from tests import hands
from tests.play import git

if TYPE_CHECKING:
    from tests.play import Call, Play


def shown(play: Play, cli: Call, *arguments: str) -> dict[str, Any]:
    """Run a shell command that exits with 3 as evidence; return what was recorded of it."""
    *options, script = arguments
    code, out, _ = cli(
        "-C", str(play.root), "--json", "evidence", "run", *options, "--", "sh", "-c", f"{script}; exit 3"
    )
    answer = json.loads(out)
    assert (code, answer["evidence"]["exit_code"]) == (3, 3)
    row: dict[str, Any] = answer["evidence"]
    return row


def kept(out: str, play: Play) -> Path:
    """Return the folder that a refusal says what the command showed is kept in."""
    return Path(play.root, json.loads(out)["hint"].rpartition("--from ")[2])


@pytest.mark.parametrize(
    ("left", "told"),
    [
        ("mkdir r", "it is not a plain file"),
        ("mkfifo r", "it is not a plain file"),
        ("ln -s /etc/hostname r", "r is outside the repository"),
        ("truncate -s 9G r", "it is larger than 64 MiB"),
    ],
)
def test_a_report_that_cannot_be_read_is_a_problem_of_what_is_recorded(
    play: Play, cli: Call, left: str, told: str
) -> None:
    play.run()
    row = shown(play, cli, "--report", "r", left)
    assert [told in problem for problem in row["problems"]] == [True]


def test_a_report_that_counts_more_than_a_record_can_hold_is_a_problem_of_what_is_recorded(
    play: Play, cli: Call
) -> None:
    play.run()
    totals = {"totals": {"num_statements": 10**18, "covered_lines": 1}}
    row = shown(play, cli, "--report", "r", f"echo '{json.dumps(totals)}' > r")
    assert "its totals cannot be: 1 lines of 1000000000000000000 are covered" in row["problems"][0]


def test_evidence_of_a_path_that_its_command_removes_is_recorded_and_proves_nothing(play: Play, run: str) -> None:
    play.commit("covered.txt", "x\n")
    task = play.task()
    claim = play.claimed(task)
    draft = evidences.witness(play.ledger, ["rm", "covered.txt"], kind="test", covers=["covered.txt"], quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[task])
    git(play.root, "checkout", "-q", "covered.txt")
    play.complete(claim, evidence)
    assert not play.is_proven(task)


def test_a_gate_of_a_path_that_is_gone_saw_other_code(play: Play) -> None:
    play.commit("covered.txt", "x\n")
    draft = evidences.witness(play.ledger, ["true"], covers=["covered.txt"], quiet=True)
    (play.root / "covered.txt").unlink()
    assert "paths" not in codestate.code_now(play.ledger.git, ["covered.txt"])
    assert draft.data["code"]["paths"]


def test_code_that_cannot_be_named_when_the_command_ends_is_a_problem_and_no_loss(play: Play, cli: Call) -> None:
    play.run()
    script = "echo seen; echo broken > .git/index"
    code, out, _ = cli("-C", str(play.root), "--json", "evidence", "run", "--", "sh", "-c", script)
    (play.root / ".git" / "index").unlink()
    git(play.root, "reset", "-q")
    assert code == 4
    assert "the code when it ended is not known" in (kept(out, play) / "evidence.yaml").read_text()
    code, out, _ = cli("-C", str(play.root), "--json", "evidence", "add", "--from", str(kept(out, play)))
    assert (code, json.loads(out)["evidence"]["outcome"]) == (0, "failed")


def test_a_folder_that_cannot_be_written_loses_nothing(play: Play, cli: Call, tmp_path: Path) -> None:
    play.run()
    run = ("-C", str(play.root), "--json", "evidence", "run", "--out", str(tmp_path / "out" / "here"))
    code, out, _ = cli(*run, "--", "sh", "-c", f"echo seen; touch {tmp_path}/out")
    assert (code, json.loads(out)["error"]) == (1, "file_system")
    assert (kept(out, play) / "stdout.txt").read_text() == "seen\n"
    assert cli("-C", str(play.root), "evidence", "add", "--from", str(kept(out, play)))[0] == 0


def test_a_folder_that_another_run_wrote_meanwhile_stays_that_runs(play: Play, cli: Call, tmp_path: Path) -> None:
    play.run()
    out = tmp_path / "out"
    other = f"{sys.executable} -m memento_git evidence run --out {out} -- sh -c 'echo broken; exit 3'"
    code, told, _ = cli("-C", str(play.root), "--json", "evidence", "run", "--out", str(out), "--", "sh", "-c", other)
    assert (code, json.loads(told)["error"]) == (1, "file_system")
    assert (out / "stdout.txt").read_text().startswith("broken\n")
    for folder, outcome in ((out, "failed"), (kept(told, play), "failed")):
        row = json.loads(cli("-C", str(play.root), "--json", "evidence", "add", "--from", str(folder))[1])["evidence"]
        assert row["outcome"] == outcome


def test_what_a_command_writes_into_its_folder_is_not_written_over(play: Play, cli: Call, tmp_path: Path) -> None:
    play.run()
    out = tmp_path / "out"
    run = ("-C", str(play.root), "--json", "evidence", "run", "--out", str(out), "--", "sh", "-c")
    assert cli(*run, f"mkdir {out}; echo seen | tee {out}/log.txt")[0] == 0
    assert sorted(path.name for path in out.iterdir()) == ["evidence.yaml", "log.txt", "stdout.txt"]
    out = tmp_path / "other"
    (tmp_path / "precious").write_text("precious")
    run = ("-C", str(play.root), "--json", "evidence", "run", "--out", str(out), "--", "sh", "-c")
    code, told, _ = cli(*run, f"mkdir {out}; ln -s ../precious {out}/stdout.txt; echo seen")
    assert (code, json.loads(told)["error"]) == (1, "file_system")
    assert ([path.name for path in out.iterdir()], (tmp_path / "precious").read_text()) == (["stdout.txt"], "precious")
    assert (kept(told, play) / "stdout.txt").read_text() == "seen\n"


def test_a_repository_that_its_command_removes_is_not_made_again(play: Play, cli: Call) -> None:
    play.run()
    code, out, _ = cli("-C", str(play.root), "--json", "evidence", "run", "--", "sh", "-c", "echo seen; mv .git gone")
    assert code == 1
    assert not kept(out, play).is_relative_to(play.root)
    assert (kept(out, play) / "stdout.txt").read_text() == "seen\n"
    assert not (play.root / ".git" / "memento" / "drafts").exists()


def test_an_untracked_file_that_goes_while_the_code_is_named_is_passed_over(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    (play.root / "stays.txt").write_text("x\n")
    (play.root / "goes.swp").write_text("x\n")
    is_fit = codestate.is_fit

    def slowly(path: str) -> bool:
        (play.root / "goes.swp").unlink(missing_ok=True)
        return is_fit(path)

    monkeypatch.setattr(codestate, "is_fit", slowly)
    code = codestate.code_now(play.ledger.git)
    assert set(code["untracked"]) == {"stays.txt"}


@pytest.mark.parametrize("beside", [0, 2])
def test_an_untracked_file_that_nobody_may_read_is_counted_and_left_out(
    play: Play, monkeypatch: pytest.MonkeyPatch, beside: int
) -> None:
    for number in range(beside):
        (play.root / f"new{number}.txt").write_text("x\n")
    without = codestate.code_now(play.ledger.git)
    (play.root / "locked").write_text("x\n")
    (play.root / "locked").chmod(0)
    if os.getuid() == 0:
        monkeypatch.setattr(os, "access", lambda path, _: Path(path).name != "locked")
    code = codestate.code_now(play.ledger.git)
    assert (code.get("untracked", {}), code.get("untracked_more")) == (without.get("untracked", {}), 1)
    assert code["tree"] == without["tree"]
    assert "full" not in code


def test_a_tracked_file_that_may_not_be_read_is_refused_before_the_command_runs(play: Play) -> None:
    if os.getuid() == 0:
        pytest.skip("root reads everything")
    play.commit("code.txt", "x\n")
    (play.root / "code.txt").chmod(0)
    with pytest.raises(codestate.CodeUnknown, match="Permission denied"):
        evidences.witness(play.ledger, [sys.executable, "-c", "open('ran', 'w')"], quiet=True)
    assert not (play.root / "ran").exists()


def test_what_a_check_showed_is_kept_where_the_end_of_a_dispatch_is_refused(play: Play, run: str) -> None:
    script = f"print('seen'); open({str(play.root / '.memento' / 'config.yaml')!r}, 'a').write('# mine')"
    task = play.task(commands=[shlex.join([sys.executable, "-c", script])])
    with pytest.raises(UncommittedLedger) as refused:
        hands.run(play, task, hands.WRITE)
    git(play.root, "checkout", "-q", ".memento")
    folder = Path(refused.value.hint.rpartition("--from ")[2])
    assert (folder / "stdout.txt").read_text() == "seen\n"
    play.do(folders.import_folder, folder)


def test_a_command_that_ends_well_but_too_late_says_so_and_ends_with_124(play: Play, cli: Call) -> None:
    play.run()
    script = "trap 'exit 0' TERM; sleep 5 & wait"
    code, out, _ = cli("-C", str(play.root), "--json", "evidence", "run", "--timeout", "1s", "--", "sh", "-c", script)
    told = json.loads(out)
    assert (code, told["exit_code"], told["evidence"]["exit_code"], told["evidence"]["outcome"]) == (
        124,
        124,
        0,
        "failed",
    )
    assert told["evidence"]["problems"] == ["it took too long, and was ended"]


@pytest.mark.parametrize("to", [(), ("--out", "../kept")])
@pytest.mark.parametrize(("script", "ends"), [("true", 1), ("exit 3", 3), ("echo '<testsuite' > r.xml", 1)])
def test_a_command_that_ends_well_without_its_report_does_not_let_a_job_pass(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch, script: str, ends: int, to: tuple[str, ...]
) -> None:
    """The evidence said that it failed, and the job that recorded it was green."""
    play.run()
    monkeypatch.chdir(play.root)
    code, out, err = cli("--json", "evidence", "run", "--report", "r.xml", *to, "--", "sh", "-c", script)
    told = json.loads(out)
    assert (code, told["exit_code"]) == (ends, ends), err
    assert "r.xml" in told["warnings"][0]


def test_a_report_without_a_case_says_so(play: Play, cli: Call) -> None:
    play.run()
    row = shown(play, cli, "--report", "r.xml", "echo '<testsuite tests=\"0\"></testsuite>' > r.xml")
    assert row["problems"] == ["report r.xml has no test case"]


def test_what_a_report_makes_of_a_command_that_ended_well_is_told(play: Play, cli: Call) -> None:
    play.run()
    cases = '<testsuite><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite>'
    run = ("-C", str(play.root), "evidence", "run", "--report", "r.xml", "--", "sh", "-c")
    code, _, err = cli(*run, f"echo '{cases}' > r.xml")
    assert (code, "failed, witnessed" in err) == (0, True)
    assert "note: r.xml says that it failed: junit: 2 tests, 1 passed, 1 failed (failed: b)\n" in err
    assert "note:" not in cli(*run, f"echo '{cases}' > r.xml; exit 1")[2]
    assert cli(*run, "echo '<testsuites/>' > r.xml")[0] == 1
    assert "exit 0; junit: 0 tests; report r.xml has no test case" in cli("-C", str(play.root), "evidence", "list")[1]


def test_the_run_of_evidence_in_a_folder_is_named_when_that_is_added(play: Play, cli: Call, tmp_path: Path) -> None:
    run = play.run()
    out = ("evidence", "run", "--out", str(tmp_path / "out"))
    code, _, err = cli("-C", str(play.root), *out, "--run", run, "--", "touch", "ran")
    assert (code, "memento evidence add --from FOLDER --run RUN" in err) == (2, True)
    assert not (play.root / "ran").exists()


def test_a_report_that_nothing_here_reads_is_refused_before_the_command_runs(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.run()
    monkeypatch.setitem(sys.modules, "defusedxml", None)
    code, out, _ = cli(
        "-C", str(play.root), "--json", "evidence", "run", "--report", "r.xml", "--", "sh", "-c", "touch ran"
    )
    assert (code, json.loads(out)["hint"]) == (1, adding("reports"))
    assert not (play.root / "ran").exists()


def test_a_file_that_is_too_large_to_attach_is_named(play: Play, cli: Call) -> None:
    play.run()
    (play.root / "large.bin").write_bytes(b"x" * 2_000_000)
    code, out, _ = cli("-C", str(play.root), "--json", "evidence", "add", "large.bin")
    told = json.loads(out)
    assert (code, "kept" in told["evidence"]["files"][0]) == (0, False)
    assert any("large.bin is larger than the" in warning for warning in told["warnings"])
