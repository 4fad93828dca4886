"""Evidence: what a command showed, files, links, diffs; what enters the ledger and what never does."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psutil
import pytest

from memento_git.model.ids import EvidenceWithdrawn
from memento_git.model.progress import UNITS
from memento_git.review import actions as review
from memento_git.texts.secrets import SecretFound
from memento_git.texts.typed import NameUnfit
from memento_git.work import codestate
from memento_git.work import refusals as no
from memento_git.work.actions import evidences, folders, settling
from memento_git.work.actions.attaching import FileMissing, FileUnfit, NothingChanged, RangeInvalid
from memento_git.work.running.capture import CommandNotStarted, OutsideRepository
from tests.play import commit_all, git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJ3kL6"


def data_of(play: Play, evidence: str) -> dict[str, Any]:
    found = play.state(evidence).evidence_named(evidence)
    return found.data


def kept(play: Play, evidence: str, name: str) -> str:
    path = next(play.root.glob(f".memento/runs/*/evidence/*/{evidence}/{name}"))
    return path.read_text()


def run(play: Play, script: str, **options: Any) -> str:
    draft = evidences.witness(play.ledger, [sys.executable, "-c", script], quiet=True, **options)
    return str(play.do(evidences.record_draft, draft))


def test_a_command_is_recorded_with_what_it_did(play: Play) -> None:
    play.run()

    evidence = run(play, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(4)", kind="test")

    data = data_of(play, evidence)
    command = data["command"]
    assert (command["exit"], data["outcome"], command["cwd"]) == (4, "failed", ".")
    assert command["stdout"]["sha256"] == hashlib.sha256(b"out\n").hexdigest()
    assert kept(play, evidence, "stdout.txt") == "out\n"
    assert kept(play, evidence, "stderr.txt") == "err\n"
    assert {"memento", "python", "git", "system"} <= set(command["tools"])
    assert data["code"]["dirty"] is False
    assert play.state(evidence).trust_in(play.state(evidence).evidence(evidence)) == "witnessed"  # type: ignore[arg-type]


def test_evidence_is_for_a_task_that_is_named_twice_once(play: Play, run: str) -> None:
    task = play.task()
    evidence = play.do(evidences.add_evidence, "artifact", tasks=[task, task[:12]], files=["app.py"])
    assert data_of(play, evidence)["for"] == [task]


def test_the_code_is_named_before_and_after(play: Play) -> None:
    play.run()

    evidence = run(play, "open('app.py', 'w').write('answer = 1\\n')")

    data = data_of(play, evidence)
    assert data["code"]["tree"] != data["code_after"]["tree"]
    assert data["code_after"]["dirty"] is True


def test_a_completion_on_evidence_of_other_code_says_why_it_is_unproven_and_how_to_prove_it(
    play: Play, cli: Call
) -> None:
    where = ("-C", str(play.root))
    task = play.planned_task()
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    (play.root / "app.py").write_text("answer = 2\n")
    code, out, _ = cli("dispatch", "complete", dispatch, "--evidence", evidence, *where)
    why, *steps = out.splitlines()
    assert (code, why) == (0, f"completed {task}, unproven: {evidence} is of other code than what was completed")
    assert steps == [
        f" next: memento task reopen {task} --reason WHY",
        f" then, once it is handed out and claimed again: memento evidence run --task {task} -- CMD",
    ]
    assert cli("dispatch", "complete", dispatch, "--evidence", evidence, *where)[0] == 1
    assert cli("task", "reopen", task, "--reason", "It is of other code.", *where)[0] == 0
    again = play.claimed(task)
    answer = json.loads(cli("dispatch", "complete", again, "--evidence", play.evidence(task), *where, "--json")[1])
    (look,) = answer["next"]
    assert (answer["proven"], look["command"]) == (True, f"memento status --run {answer['run_id']}")


def test_an_unproven_completion_leads_to_the_commands_that_are_asked(play: Play, cli: Call) -> None:
    where = ("-C", str(play.root))
    task = play.planned_task(commands=["git --version"])
    dispatch = play.claimed(task)
    out = cli("dispatch", "complete", dispatch, "--evidence", play.evidence(task), *where)[1]
    assert out.splitlines()[1:] == [
        f" next: memento task verify {task}",
        f" or, to do it again: memento task reopen {task} --reason WHY",
    ]
    assert cli("task", "verify", task, *where)[0] == 0
    assert json.loads(cli("task", "show", task, *where, "--json")[1])["task"]["proven"] is True


def test_a_command_is_shown_as_one_types_it_and_what_is_so_and_what_is_not_alike(
    play: Play, run: str, cli: Call
) -> None:
    task = play.task()
    play.commit("app.py", "x = 1\n")
    clean = play.evidence(task)
    (play.root / "app.py").write_text("x = 2\n")
    for verb, name, word in (("evidence", clean, "no"), ("", clean, "no"), ("", play.evidence(task), "yes")):
        shown = cli(*filter(None, (verb, "show")), name, "-C", str(play.root))[1]
        assert f"dirty {word}" in shown
        assert "`sh -c 'echo checked; exit 0'`" in shown
        assert "False" not in shown


def test_what_a_command_showed_leads_to_the_dispatches_that_it_may_complete(play: Play, run: str, cli: Call) -> None:
    first, second = play.task(), play.task()
    name = play.claimed(first)
    of_one = ("evidence", "run", "-C", str(play.root), "--task", first)

    claimed = cli(*of_one, "--", "true")[2].splitlines()[-1]
    other = play.claimed(second)
    of_both = cli(*of_one, "--task", second, "--", "true")[2].splitlines()[-1]
    told = cli(*of_one, "--task", second, "--dispatch", other, "--", "true")[2].splitlines()[-1]

    assert claimed.startswith(f" next: memento dispatch complete {name} --evidence evidence_")
    assert of_both.startswith(f" or, of {second}: memento dispatch complete {other} --evidence evidence_")
    assert told.startswith(f" next: memento dispatch complete {other} --evidence evidence_")


def test_evidence_of_other_code_does_not_prove(play: Play, run: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    (play.root / "app.py").write_text("answer = 7\n")

    play.complete(dispatch, evidence)

    assert play.status(task) == "completed"
    assert not play.is_proven(task)


def test_a_new_file_that_is_staged_and_committed_later_does_not_make_evidence_stale(play: Play, run: str) -> None:

    task = play.task()
    dispatch = play.claimed(task)
    (play.root / "new.py").write_text("fresh = 1\n")
    play.complete(dispatch, play.evidence(task))
    assert play.is_proven(task)

    play.commit_all("the new file")
    assert play.overview()["stale"] == []

    play.commit("new.py", "fresh = 2\n", "changed")
    assert len(play.overview()["stale"]) == 1


@pytest.mark.parametrize("how", ["edited", "deleted", "staged", "another"])
def test_an_untracked_file_that_is_edited_after_the_green_run_spoils_the_proof(play: Play, run: str, how: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)
    new = play.root / "foo.py"
    new.write_text("fine = 1\n")
    evidence = play.evidence(task)
    for number in range(60):
        (play.root / f"a{number}.txt").write_text("beside\n") if how != "staged" else None
    if how == "edited":
        new.write_text("broken = 1\n")
    elif how == "deleted":
        new.unlink()
    elif how == "staged":
        git(play.root, "add", "foo.py")
    play.complete(dispatch, evidence)
    assert play.is_proven(task) is (how != "edited")
    if how == "edited":
        state = play.state(task)
        assert "foo.py" in state.proof(task).why[0]


def proven_after(play: Play, path: Path, restore: Callable[[], object]) -> bool:
    """Tell whether a task is proven by a test that saw an edit of a file which is gone when the task is completed."""
    task = play.planned_task()
    dispatch = play.claimed(task)
    before = codestate.code_now(play.ledger.git)
    path.write_text("fixed = 1\n")
    evidence = play.evidence(task)
    code = data_of(play, evidence)["code"]
    assert (code["dirty"], before["dirty"], code["tree"] == before["tree"]) == (True, False, False)
    restore()
    assert codestate.code_now(play.ledger.git) == {**before, "head": git(play.root, "rev-parse", "HEAD")}
    play.complete(dispatch, evidence)
    return play.is_proven(task)


@pytest.mark.parametrize("flag", ["skip-worktree", "assume-unchanged"])
def test_an_edit_that_git_is_told_to_overlook_is_seen(play: Play, flag: str) -> None:
    git(play.root, "update-index", f"--{flag}", "app.py")
    assert not proven_after(play, play.root / "app.py", lambda: (play.root / "app.py").write_text("answer = 42\n"))
    assert git(play.root, "ls-files", "-v", "app.py")[0] == {"skip-worktree": "S", "assume-unchanged": "h"}[flag]


def test_an_edit_is_seen_that_has_the_size_and_time_of_what_was_committed(play: Play) -> None:
    there = play.root / "app.py"
    os.utime(there, (1_000_000_000, 1_000_000_000))
    git(play.root, "update-index", "--refresh")
    text = there.read_text()
    git(play.root, "config", "core.trustctime", "false")
    git(play.root, "config", "core.checkStat", "minimal")
    before = codestate.code_now(play.ledger.git)
    other = play.root.parent / "app.py"
    other.write_text("".join(reversed(text)))
    os.utime(other, (1_000_000_000, 1_000_000_000))
    other.replace(there)
    assert git(play.root, "status", "--porcelain", "app.py") == ""
    now = codestate.code_now(play.ledger.git)
    assert (before["dirty"], now["dirty"], now["tree"] == before["tree"]) == (False, True, False)


def test_an_edit_is_seen_where_git_writes_the_id_of_a_file(play: Play) -> None:
    (play.root / ".gitattributes").write_text("*.py ident\n")
    there = play.root / "app.py"
    there.write_bytes(b"fixed = 0  # $Id$\n")
    play.commit_all()
    for honest in (there.read_bytes(), b"fixed = 0  # $Id: %b $\n" % (b"0" * 40)):
        there.write_bytes(honest)
        assert codestate.code_now(play.ledger.git)["dirty"] is False
    there.write_bytes(b"fixed = 0  # $Id: \rfixed = 1  # $\n")
    git(play.root, "add", "app.py")
    assert git(play.root, "status", "--porcelain") == ""
    before = git(play.root, "ls-files", "-s")
    assert codestate.code_now(play.ledger.git)["dirty"] is True
    assert git(play.root, "ls-files", "-s") == before
    (play.root / "new.py").write_bytes(b"fixed = 0  # $Id: \rfixed = 1  # $\n")
    seen = codestate.code_now(play.ledger.git)
    git(play.root, "add", "new.py")
    assert git(play.root, "ls-files", "-s", "new.py").split()[1] != seen["untracked"]["new.py"]


def test_a_file_that_a_sparse_checkout_leaves_away_is_as_it_was_committed(play: Play) -> None:
    (play.root / "far").mkdir()
    (play.root / "far" / "away.py").write_text("x = 1\n")
    play.commit_all()
    git(play.root, "sparse-checkout", "set", "--no-cone", "/*", "!/far/")
    assert not (play.root / "far").exists()
    assert codestate.code_now(play.ledger.git)["dirty"] is False


def test_an_edit_within_a_submodule_is_seen(play: Play, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "lib")
    (tmp_path / "lib" / "check.py").write_text("fixed = 0\n")
    commit_all(tmp_path / "lib", "lib")
    git(play.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "lib"), "l,i b")
    play.commit_all()
    inner = play.root / "l,i b"
    assert not proven_after(play, inner / "check.py", lambda: git(inner, "checkout", "-q", "check.py"))


def test_names_that_a_ledger_cannot_hold_are_counted_and_left_out(play: Play, run: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)
    unfit = ["tab\there", "line\nbreak", "turned\u202ename", os.fsdecode(b"latin-\xe9")]
    fit = ['"quoted', "- a: b #c", " blank ", "é", "[x]", "*"]
    for name in (*unfit, *fit):
        (play.root / name).write_text(name, errors="surrogateescape")
    evidence = play.evidence(task)
    code = data_of(play, evidence)["code"]
    assert sorted(code["untracked"]) == sorted(fit)
    assert code["untracked"]["*"] == git(play.root, "hash-object", "./*")
    assert code["untracked_more"] == len(unfit)
    play.complete(dispatch, evidence)
    assert play.is_proven(task)
    assert not play.ledger.view().findings


def test_too_many_untracked_files_are_named_in_part(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codestate, "MOST_FILES", 3)
    monkeypatch.setattr(codestate, "MOST_NAMES", 2)
    monkeypatch.setattr(codestate, "MOST_BYTES", 40)
    for number in range(4):
        (play.root / f"{number}.txt").write_text("x" * (10 if number != 1 else 50))
    code = codestate.code_now(play.ledger.git)
    assert (sorted(code["untracked"]), code["untracked_more"], "full" in code) == (["0.txt"], 3, False)
    code = codestate.code_now(play.ledger.git, known=["3.txt"])
    assert sorted(code["untracked"]) == ["0.txt", "3.txt"]
    monkeypatch.setattr(codestate, "MOST_BYTES", 0)
    assert "untracked" not in codestate.code_now(play.ledger.git)


def test_an_outcome_that_was_changed_by_hand_is_shown_as_the_command_left_it(play: Play) -> None:
    from memento_git.work.row_cache import base

    run = play.planned()
    task = play.task()
    evidence = play.evidence(task, code=1)
    path = play.root / str(play.state(evidence).index.evidence[evidence])
    play.commit(path, path.read_text().replace("outcome: failed", "outcome: passed"), "by hand")
    assert base(play.ledger.view(), run)["evidence"][0]["outcome"] == "failed"
    with pytest.raises(no.EvidenceRequired, match="disagrees with what the command did"):
        play.complete(play.claimed(task), evidence)


def test_evidence_of_code_that_changed_while_it_ran_does_not_prove(play: Play, run: str) -> None:
    task = play.task()
    draft = evidences.witness(
        play.ledger, [sys.executable, "-c", "open('app.py', 'a').write('#')"], kind="test", quiet=True
    )
    git(play.root, "checkout", "app.py")
    play.complete(play.claimed(task), str(play.do(evidences.record_draft, draft, tasks=[task])))
    state = play.state(task)
    assert "the code changed while" in state.proof(task).why[0]


def test_that_the_code_changed_while_a_command_ran_is_said_at_once(play: Play, cli: Call) -> None:
    task = play.planned_task()
    where = ("-C", str(play.root))
    run = ("evidence", "run", *where, "--task", task, "--kind", "test")
    script = ("--", sys.executable, "-c", "open('app.py', 'a').write('#')")

    code, _, err = cli(*run, *script)
    assert (code, "the code changed while the command ran" in err, "dispatch complete" in err) == (0, True, False)
    told = json.loads(cli(*run, "--json", *script)[1])
    assert "the code changed" in told["warnings"][0]
    row = told["evidence"]
    assert row["moved"] == f"the code changed while the command of {row['id']} ran"
    assert "moved" in cli("evidence", "show", row["id"], *where)[1]
    listed, reported = (cli(*verb, *where)[1] for verb in (("evidence", "list"), ("report",)))
    assert "passed, but the code changed while it ran, so it proves nothing" in listed
    assert "passed, but the code changed while it ran, so it proves nothing" in reported
    sound = json.loads(cli(*run, "--json", "--", sys.executable, "-c", "")[1])
    assert (sound["evidence"]["moved"], "warnings" in sound) == (None, False)


def test_naming_the_code_leaves_no_objects_and_no_staged_changes(play: Play) -> None:
    play.run()
    (play.root / "app.py").write_text("secret draft\n")
    (play.root / "new.txt").write_text("also not committed\n")
    before = git(play.root, "count-objects"), git(play.root, "status", "--short")

    evidences.witness(play.ledger, [sys.executable, "-c", "pass"], quiet=True)

    assert (git(play.root, "count-objects"), git(play.root, "status", "--short")) == before


def test_long_output_keeps_head_and_tail_and_hashes_all(play: Play) -> None:
    play.run()

    evidence = run(play, "print('first'); print('x' * 300_000); print('last')")

    stream = data_of(play, evidence)["command"]["stdout"]
    text = kept(play, evidence, "stdout.txt")
    assert stream["bytes"] == 300_000 + len("first\nlast\n\n")
    assert text.startswith("first\n")
    assert text.endswith("last\n")
    assert f"[... {stream['cut']} bytes left out ...]" in text
    assert len(text) < 70_000


def test_binary_output_is_hashed_and_not_kept(play: Play) -> None:
    play.run()

    evidence = run(play, "import sys; sys.stdout.buffer.write(bytes(range(256)))")

    stream = data_of(play, evidence)["command"]["stdout"]
    assert stream["binary"] is True
    assert "kept" not in stream


def test_a_secret_in_output_is_redacted_and_counted(play: Play) -> None:
    play.run()

    evidence = run(play, f"print('token is {TOKEN[:8]}' + '{TOKEN[8:]}')")

    assert TOKEN not in kept(play, evidence, "stdout.txt")
    assert sum(data_of(play, evidence)["command"]["stdout"]["redacted"].values()) == 1
    assert TOKEN not in git(play.root, "show", "HEAD")


def test_the_machines_paths_stay_out_of_the_ledger(play: Play) -> None:
    play.run()

    evidence = run(play, "import os; print(os.getcwd()); print(os.path.expanduser('~'))")

    written = git(play.root, "show", "HEAD")
    assert str(play.root) not in written
    assert str(Path.home()) not in written
    assert sys.executable not in written
    assert kept(play, evidence, "stdout.txt") == ".\n~\n"


def test_a_command_that_cannot_start_records_nothing(play: Play) -> None:
    play.run()
    head = git(play.root, "rev-parse", "HEAD")

    with pytest.raises(CommandNotStarted):
        evidences.witness(play.ledger, ["no-such-program-here"], quiet=True)

    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_killed_command_is_recorded_with_its_signal(play: Play) -> None:
    play.run()

    evidence = run(play, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    command = data_of(play, evidence)["command"]
    assert (command["exit"], command["signal"]) == (137, 9)


def test_a_command_that_takes_too_long_is_ended_with_its_children(play: Play, tmp_path: Path) -> None:
    play.run()
    marker = tmp_path / "child-lived"
    child = f"import time; time.sleep(4); open({str(marker)!r}, 'w')"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"

    evidence = run(play, script, timeout=1.0)

    data = data_of(play, evidence)
    assert data["command"]["timed_out"] is True
    assert data["outcome"] == "failed"
    assert not marker.exists()


def test_a_grandchild_that_keeps_the_pipe_open_does_not_hold_us(play: Play) -> None:
    play.run()
    script = "import subprocess; subprocess.Popen(['sleep', '30']); print('done')"

    evidence = run(play, script)

    assert data_of(play, evidence)["command"]["seconds"] < 20


@pytest.mark.parametrize(("failures", "outcome"), [(0, "passed"), (1, "failed")])
def test_a_junit_report_is_counted_and_names_failed_cases(play: Play, failures: int, outcome: str) -> None:
    play.run()
    case = "<testcase classname='a' name='b'>" + "<failure message='no'/>" * failures + "</testcase>"
    xml = f"<testsuite tests='1' failures='{failures}'>{case}</testsuite>"

    evidence = run(play, f"open('junit.xml', 'w').write({xml!r})", kind="test", reports=["junit.xml"])

    data = data_of(play, evidence)
    report = data["reports"][0]
    assert data["outcome"] == outcome
    assert (report["format"], report["counts"]["tests"], report["counts"]["failed"]) == ("junit", 1, failures)
    assert report.get("failed", []) == ["a::b"] * failures


def test_a_junit_report_of_skipped_cases_alone_is_no_verdict(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    script = "open('r.xml', 'w').write('<testsuite><testcase name=\"a\"><skipped/></testcase></testsuite>')"
    given = ("--task", task, "--kind", "test", "--report", "r.xml", "-C", str(play.root))
    code, _, told = cli("evidence", "run", *given, "--", sys.executable, "-c", script)
    assert (code, "observed, witnessed" in told, " next:" in told) == (0, True, False)
    assert "every case in r.xml was skipped: it proves nothing" in told
    [evidence] = play.state(task).ids("evidence")
    play.complete(play.claimed(task), evidence)
    assert play.state(task).proof(task).why == (f"{evidence} has no verdict: every case in r.xml was skipped",)


def test_a_report_from_an_earlier_run_does_not_count(play: Play) -> None:
    play.run()
    old = "<testsuite tests='1'><testcase classname='a' name='b'/></testsuite>"
    (play.root / "junit.xml").write_text(old)

    evidence = run(play, "pass", kind="test", reports=["junit.xml"])

    data = data_of(play, evidence)
    assert data["outcome"] == "failed"
    assert "not written by the command" in data["problems"][0]
    assert (play.root / "junit.xml").read_text() == old


def test_a_file_is_attached_and_verified(play: Play) -> None:
    play.run()
    (play.root / "logs").mkdir()
    (play.root / "logs" / "task.log").write_text("all good\n")

    evidence = play.do(evidences.add_evidence, "artifact", uri="file://logs/task.log")

    data = data_of(play, evidence)
    assert data["attachments"][0]["name"] == "logs/task.log"
    assert data["uri"] == "file://logs/task.log"
    state = play.state(evidence)
    assert state.trust_in(state.evidence(evidence)) == "verified"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file://[id]/page.tsx", "[id]/page.tsx"), ("file:[id]/page.tsx#L3", "[id]/page.tsx"),
        ("FILE://a%20b.log?plain=1", "a b.log"), ("file:logs/[::1", "logs/[::1"),
    ],
)  # fmt: skip
def test_a_file_of_any_name_is_meant_by_its_uri(play: Play, uri: str, name: str) -> None:
    play.run()
    (play.root / name).parent.mkdir(exist_ok=True)
    (play.root / name).write_text("all good\n")

    evidence = play.do(evidences.add_evidence, "artifact", uri=uri)

    data = data_of(play, evidence)
    assert data["attachments"][0]["name"] == name
    assert data["uri"] == f"file://{quote(name)}"


def test_no_uri_holds_a_path_of_the_machine(play: Play) -> None:
    play.run()

    evidence = play.do(evidences.add_evidence, "artifact", uri=(play.root / "app.py").as_uri())

    assert data_of(play, evidence)["uri"] == "file://app.py"


def test_a_file_above_the_limit_is_kept_by_its_digest(play: Play) -> None:
    play.run()
    (play.root / "big.bin").write_bytes(b"\1" * 2_000_000)

    evidence = play.do(evidences.add_evidence, "artifact", files=["big.bin"])

    attachment = data_of(play, evidence)["attachments"][0]
    assert "kept" not in attachment
    assert attachment["sha256"] == hashlib.sha256(b"\1" * 2_000_000).hexdigest()
    state = play.state(evidence)
    assert state.trust_in(state.evidence(evidence)) == "reported"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("missing.log", FileMissing),
        ("empty.log", FileUnfit),
        ("folder", FileUnfit),
        ("../outside.log", OutsideRepository),
        ("/etc/passwd", OutsideRepository),
        ("link-out", OutsideRepository),
        ("loop", FileMissing),
    ],
)
def test_a_file_that_cannot_be_evidence_is_refused(play: Play, given: str, error: type[Exception]) -> None:
    play.run()
    (play.root / "empty.log").touch()
    (play.root / "folder").mkdir()
    (play.root.parent / "outside.log").write_text("x")
    (play.root / "link-out").symlink_to(play.root.parent / "outside.log")
    (play.root / "loop").symlink_to("loop")
    head = git(play.root, "rev-parse", "HEAD")

    with pytest.raises(error):
        play.do(evidences.add_evidence, "artifact", files=[given])

    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_huge_sparse_file_is_hashed_without_reading_it_into_memory(play: Play) -> None:
    play.run()
    with (play.root / "huge.bin").open("wb") as stream:
        stream.truncate(600 * 1024 * 1024)

    told: list[tuple[int, int, str]] = []
    play.ledger.git.progress = lambda done, total, what: told.append((done, total, UNITS[what]))
    evidence = play.do(evidences.add_evidence, "artifact", files=["huge.bin"])

    assert data_of(play, evidence)["attachments"][0]["bytes"] == 600 * 1024 * 1024
    assert [one for one in told if one[2] == "MiB"] == [(done, 600, "MiB") for done in [*range(64, 600, 64), 600]]


def test_a_diff_is_bound_by_patch_id_and_leaves_the_ledger_out(play: Play) -> None:
    play.run()
    base = git(play.root, "rev-parse", "HEAD")
    play.commit("app.py", "answer = 43\nmore = 1\n")

    evidence = play.do(evidences.add_evidence, "diff", diff=f"{base}..HEAD")

    diff = data_of(play, evidence)["diff"]
    assert (diff["files"], diff["added"], diff["removed"]) == (["app.py"], 2, 1)


@pytest.mark.parametrize("others", [[], ["b.py", "c.py"]], ids=len)
def test_a_diff_counts_the_files_whose_names_no_record_holds(play: Play, others: list[str]) -> None:
    play.run()
    for name in (r"system-x\x2dy.slice", "a\tb", *others):
        (play.root / name).write_text("x\n")
    play.commit_all()

    evidence = play.do(evidences.add_evidence, "diff", diff="HEAD~1..HEAD")

    diff = data_of(play, evidence)["diff"]
    assert (diff.get("files", []), diff["files_more"], diff["added"]) == (others, 2, 2 + len(others))


@pytest.mark.parametrize("given", ["HEAD", "A...B", "..HEAD", "HEAD.."])
def test_a_diff_needs_two_revisions(play: Play, given: str) -> None:
    play.run()
    with pytest.raises(RangeInvalid):
        play.do(evidences.add_evidence, "diff", diff=given)


@pytest.mark.parametrize("lacks", ["files", "commits"])
@pytest.mark.parametrize("away", [True, False])
def test_a_diff_whose_commits_a_partial_clone_cannot_compare_is_believed(
    play: Play, tmp_path: Path, lacks: str, *, away: bool
) -> None:
    """Its commits may be on no branch of the remote by now, or the remote be out of reach."""
    play.run()
    git(play.root, "switch", "-qc", "work")
    for text in ("one\n", "two\n", "three\n"):
        play.commit("app.py", text)
    play.do(evidences.add_evidence, "diff", diff="HEAD~2..HEAD~1")
    git(play.root, "switch", "-qc", "squashed", "main")
    git(play.root, "merge", "-q", "--squash", "work")
    play.commit_all()
    branch = "work" if lacks == "files" else "squashed"
    git(play.root, "config", "uploadpack.allowFilter", "true")
    there = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=blob:none", "-b", branch, "--single-branch", play.root.as_uri(), str(there))
    git(there, "log", "-p", "--", ".memento")
    git(there, "cat-file", "-p", "HEAD:app.py")
    fork = git(play.root, "rev-parse", "main")
    if lacks == "commits":
        git(play.root, "branch", "-qD", "work")
    if away:
        git(there, "remote", "set-url", "origin", str(tmp_path / "away"))
    assert review.check(play.beside(there).ledger, base=fork).findings == []


def test_a_diff_of_nothing_but_the_ledger_is_refused_with_what_to_name(play: Play) -> None:
    play.run()
    with pytest.raises(NothingChanged, match="hold the same code") as refused:
        play.do(evidences.add_evidence, "diff", diff="HEAD~1..HEAD")
    assert "two commits between which the code changed" in refused.value.hint


@pytest.mark.parametrize("field", ["summary", "uri"])
def test_a_secret_in_typed_text_is_refused_without_repeating_it(play: Play, field: str) -> None:
    play.run()
    given = {"summary": f"used {TOKEN}", "uri": f"https://x.org/?token={TOKEN}"}[field]

    with pytest.raises(SecretFound) as caught:
        play.do(evidences.add_evidence, "ci", **{field: given})

    assert "GitHub" in caught.value.message
    assert TOKEN not in caught.value.message + caught.value.hint


def test_a_false_alarm_is_overridden_by_name_and_that_is_recorded(play: Play, cli: Call) -> None:
    play.run()
    arguments = ("evidence", "add", "-C", str(play.root), "--kind", "ci", "--uri", f"https://x.org/{TOKEN}")
    refused, out, _ = cli(*arguments, "--json")
    rule = "GitHub Token"
    assert refused == 1
    assert rule in json.loads(out)["message"]

    code, out, _ = cli(*arguments, "--allow-secret", rule, "--json")

    assert code == 0
    assert data_of(play, json.loads(out)["evidence"]["id"])["allowed_secrets"] == [rule]


def test_evidence_names_the_overridden_rules_that_it_needed_and_no_others(play: Play, cli: Call) -> None:
    play.run()
    allowing = ("--allow-secret", "github-token", "--allow-secret", "private-key", "-C", str(play.root), "--json")
    (play.root / "kept.txt").write_text(f"it is {TOKEN}", encoding="utf-8")
    named = play.root / f"{TOKEN}.xml"
    writing = ("sh", "-c", 'printf \'<testsuite tests="1"><testcase name="a"/></testsuite>\' > gh*.xml')
    for verb, *more in (
        ("add", "--kind", "note", "--summary", "Looks good."),
        ("add", "--kind", "artifact", str(play.root / "kept.txt")),
        ("run", "--report", named.name, "--", *writing),
    ):
        named.write_text("", encoding="utf-8")
        _, out, _ = cli("evidence", verb, *allowing, *more)
        told = data_of(play, json.loads(out)["evidence"]["id"]).get("allowed_secrets")
        assert told == (None if "note" in more else ["github-token"]), more


def test_evidence_made_elsewhere_is_imported_as_it_was(play: Play, run: str, tmp_path: Path) -> None:
    task = play.task()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "print('ci')"], kind="test", quiet=True)
    head = git(play.root, "rev-parse", "HEAD")
    made = folders.write_folder(play.ledger, draft, tmp_path / "out", [task], "from the runner")
    assert git(play.root, "rev-parse", "HEAD") == head

    evidence = play.do(folders.import_folder, tmp_path / "out")

    assert evidence == made
    assert kept(play, evidence, "stdout.txt") == "ci\n"
    with pytest.raises(evidences.FolderInvalid) as again:
        play.do(folders.import_folder, tmp_path / "out")
    assert again.value.hint.endswith(f"memento show {evidence}")


def test_imported_evidence_that_was_altered_is_refused(play: Play, tmp_path: Path) -> None:
    play.run()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "print('ci')"], quiet=True)
    folders.write_folder(play.ledger, draft, tmp_path / "out", [], "")
    (tmp_path / "out" / "stdout.txt").write_text("better\n")

    with pytest.raises(evidences.FolderInvalid):
        play.do(folders.import_folder, tmp_path / "out")


@pytest.mark.parametrize(
    ("more", "names"),
    [
        (["app.py", "--summary", "see it"], "files, summary"), (["--uri", "https://x.example/1"], "uri"),
        (["--outcome", "failed", "--kind", "ci"], "kind, outcome"), (["--diff", "HEAD~1..HEAD"], "diff"),
    ],
)  # fmt: skip
def test_what_imported_evidence_cannot_be_given_is_refused_not_dropped(
    play: Play, run: str, tmp_path: Path, cli: Call, more: list[str], names: str
) -> None:
    task = play.task()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "print('ci')"], kind="test", quiet=True)
    folders.write_folder(play.ledger, draft, tmp_path / "out", [], "")
    add = ("evidence", "add", "--from", str(tmp_path / "out"), "-C", str(play.root), "--json")

    code, out, _ = cli(*add, *more)

    assert (code, json.loads(out)["error"]) == (2, "from_alone")
    assert f": {names} cannot" in json.loads(out)["message"]
    assert cli(*add, "--task", task)[0] == 0


def test_an_approval_is_evidence_that_proves_no_work(play: Play, run: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)

    approval = play.do(evidences.approve, task)
    play.complete(dispatch, approval)

    assert not play.is_proven(task)


def test_an_approval_is_shown_where_it_is_asked_also_if_policy_takes_it_as_proof(play: Play) -> None:
    policy = "proof: {test: witnessed, approval: reported}, require: [test, approval]"
    (play.root / ".memento" / "config.yaml").write_text(f"version: 1\npolicy: {{{policy}}}\n")
    play.commit_all("policy")
    task = play.planned_task()
    dispatch = play.claimed(task)

    play.complete(dispatch, play.evidence(task), play.do(evidences.approve, task))

    assert play.is_proven(task)


def test_retracted_evidence_proves_nothing_and_cannot_be_cited(play: Play, run: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    play.complete(dispatch, evidence)
    assert play.is_proven(task)

    play.do(evidences.retract, evidence, reason="the machine was broken")

    assert not play.is_proven(task)
    other = play.task("Another")
    shared = play.claimed(other)
    with pytest.raises((no.EvidenceRequired, no.EvidenceForeign)):
        play.complete(shared, evidence)


def test_superseding_evidence_takes_the_place_of_the_old(play: Play) -> None:
    play.run()
    old, new = play.evidence(), play.evidence()

    play.do(evidences.supersede, old, new)

    assert play.state(old).evidence_status(old) == "superseded"
    with pytest.raises(evidences.SuccessorInvalid):
        play.do(evidences.supersede, new, new)


def test_evidence_cannot_cover_a_path_that_git_does_not_track(play: Play) -> None:
    from memento_git.work.codestate import PathUnknown

    play.run()
    with pytest.raises(PathUnknown):
        evidences.witness(play.ledger, ["true"], covers=["nowhere.py"], quiet=True)


def test_a_covered_path_with_a_null_character_is_refused_as_other_names_are(play: Play) -> None:
    with pytest.raises(NameUnfit):
        evidences.witness(play.ledger, ["true"], kind="test", covers=["app\0.py"], quiet=True)


@pytest.mark.parametrize("path", [".memento/config.yaml", ".memento", "./.memento/config.yaml", "."])
def test_evidence_cannot_cover_a_path_of_the_ledger(play: Play, path: str) -> None:
    from memento_git.work.codestate import PathOfLedger

    play.run()
    with pytest.raises(PathOfLedger, match="no part of the code") as refused:
        evidences.witness(play.ledger, ["touch", "ran"], covers=["app.py", path], quiet=True)
    assert refused.value.token == "path_of_ledger"
    assert not (play.root / "ran").exists()


def test_a_folder_that_evidence_covers_is_the_one_of_the_commit(play: Play) -> None:
    from memento_git.work import codestate

    (play.root / "src" / ".memento").mkdir(parents=True)
    for name in ("src/a.py", "src/b.py", "src/.memento/c.py"):
        (play.root / name).write_text("x = 1\n")
    play.commit_all()
    paths = ["src", "src/", "src/b.py", "src/.memento"]
    draft = evidences.witness(play.ledger, ["true"], covers=paths, quiet=True)
    assert draft.data["code"]["paths"] == codestate.code_at(play.ledger.git, "HEAD", paths)["paths"]
    assert [*draft.data["code"]["paths"]] == paths


def test_evidence_that_covers_a_path_survives_changes_elsewhere(play: Play, run: str) -> None:
    play.commit("other.py", "x = 1\n")
    task = play.task()
    dispatch = play.claimed(task)
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "pass"], kind="test", covers=["app.py"], quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[task])
    (play.root / "other.py").write_text("x = 2\n")

    play.complete(dispatch, evidence)

    assert play.is_proven(task)


def test_an_edit_in_the_second_of_the_last_git_add_is_seen(play: Play) -> None:
    import time

    from memento_git.work import codestate

    for _ in range(3):
        while time.time() % 1 > 0.3:
            time.sleep(0.02)
        (play.root / "app.py").write_text("answer = 43\n")
        git(play.root, "add", "app.py")
        before = codestate.code_now(play.ledger.git)
        (play.root / "app.py").write_text("answer = 44\n")
        time.sleep(1.1)
        assert codestate.code_now(play.ledger.git)["tree"] != before["tree"]


def test_a_yes_counts_until_the_latest_answer_is_a_no(play: Play, run: str) -> None:
    task = play.task(require=["approval"])
    claim = play.claimed(task)
    grace = play.beside(play.root, "Grace")
    yes = grace.do(evidences.approve, task, response="yes")
    play.complete(claim, play.evidence(task), yes)
    assert play.is_proven(task)
    grace.do(evidences.approve, task, response="no")
    assert not play.is_proven(task)
    again = grace.do(evidences.approve, task, response="yes")
    assert play.is_proven(task)
    grace.do(evidences.retract, again, reason="A slip.")
    assert not play.is_proven(task)


@pytest.mark.parametrize("about", ["run", "task", "proof", "diff", "diff of the run"])
def test_an_approval_of_the_run_the_task_its_evidence_or_a_diff_counts(play: Play, run: str, about: str) -> None:
    task = play.task(require=["approval"])
    claim = play.claimed(task)
    play.commit("app.py", "answer = 43\n", "work")
    proof = play.evidence(task)
    named = {"run": run, "task": task, "proof": proof}.get(about) or play.do(
        evidences.add_evidence, "diff", diff="HEAD~2..HEAD", **({"tasks": [task]} if about == "diff" else {"run": run})
    )
    grace = play.beside(play.root, "Grace")
    play.complete(claim, proof, grace.do(evidences.approve, named, response="yes"))
    assert play.is_proven(task)
    grace.do(evidences.approve, named, response="no")
    assert not play.is_proven(task)


@pytest.mark.parametrize("scope", ["task", "run"])
@pytest.mark.parametrize("status", ["retracted", "superseded"])
def test_an_approval_of_a_diff_that_was_withdrawn_since_does_not_count(
    play: Play, run: str, status: str, scope: str
) -> None:

    task = play.task(require=["approval"])
    claim = play.claimed(task)
    play.commit("app.py", "answer = 43\n", "work")
    named: dict[str, Any] = {"tasks": [task]} if scope == "task" else {"run": run}
    diff, other = (play.do(evidences.add_evidence, "diff", diff="HEAD~2..HEAD", **named) for _ in range(2))
    yes = play.beside(play.root, "Grace").do(evidences.approve, diff)
    play.complete(claim, play.evidence(task), yes)
    held = play.overview(run)
    assert held["tasks"][0]["proven"]
    if status == "superseded":
        play.do(evidences.supersede, diff, other)
    else:
        play.do(evidences.retract, diff, reason="Another branch's.")
    (row,) = play.overview(run)["tasks"]
    assert row["unproven_because"][0] == f"{yes} is contradicted: {diff}, which was approved, is {status}"


@pytest.mark.parametrize("status", ["retracted", "superseded", "redacted"])
def test_evidence_that_was_withdrawn_may_be_answered_no_and_not_approved(play: Play, run: str, status: str) -> None:
    task = play.task()
    proof, other = play.evidence(task), play.evidence(task)
    if status == "superseded":
        play.do(evidences.supersede, proof, other)
    else:
        play.do(evidences.retract if status == "retracted" else settling.redact_record, proof, reason="A slip.")
    with pytest.raises(EvidenceWithdrawn, match=f"is {status}"):
        play.do(evidences.approve, proof)
    assert data_of(play, play.do(evidences.approve, proof, response="no"))["outcome"] == "failed"


def test_who_adds_an_approval_of_nothing_is_told(play: Play, run: str) -> None:
    play.do(evidences.add_evidence, "approval", run=run, uri="https://example.invalid/review/1", outcome="passed")
    assert any("this one names nothing: memento evidence approve ID" in one for one in play.ledger.warnings)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("more", [[], ["--timeout", "60s"]], ids=["", "timed"])
def test_who_is_asked_to_end_ends_the_command_and_records_that(
    play: Play, run: str, name: str, more: list[str]
) -> None:
    """Also one that pays no attention, with what it has started; and what then ends as if all were well is no pass."""
    child = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); time.sleep(60)"
    )
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    command = [sys.executable, "-m", "memento_git", "-C", str(play.root), "evidence", "run", *more, "--kind", "test"]
    process = subprocess.Popen([*command, "--", sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    before = [one.pid for one in psutil.Process(process.pid).children(recursive=True)]
    process.send_signal(signal.Signals[name])
    assert process.wait(30) in (129, 143)
    process.stdout.close()
    assert before
    assert not [pid for pid in before if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    (found,) = play.state(play.ledger.view().runs()[0]).ids("evidence")
    data = data_of(play, found)
    assert (data["outcome"], data["problems"]) == ("failed", [f"it was ended by {name}"])


def test_a_signal_that_is_ignored_stays_so(play: Play, run: str) -> None:
    script = "import time; print('here', flush=True); time.sleep(1)"
    command = [sys.executable, "-m", "memento_git", "-C", str(play.root), "evidence", "run", "--kind", "test"]
    process = subprocess.Popen(["nohup", *command, "--", sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    process.send_signal(signal.SIGHUP)
    assert process.wait(30) == 0
    process.stdout.close()
