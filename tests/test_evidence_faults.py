"""What goes wrong around evidence: odd texts, refusals at the wrong moment, imports that should not come in."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.ledger.event_writer import RecordIncomplete
from memento_git.ledger.store import ActorInvalid, Ledger, RecordUnfit
from memento_git.ledger.view import LedgerUnreadable
from memento_git.model.ids import EvidenceWithdrawn
from memento_git.texts.secrets import SecretFound
from memento_git.texts.typed import TextInvalid
from memento_git.work.actions import attaching, evidences, exporting, folders, reproducing, runs, settling, tasks
from memento_git.work.running.capture import stream_record
from memento_git.work.running.tee import Stream
from tests.play import Play, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call

WITHOUT_A_THREAD: Final = """
import resource, sys
from pathlib import Path
from memento_git.errors import MementoError
from memento_git.work.running import capture
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 2**20, resource.RLIM_INFINITY))  # a thread's stack is larger
try:
    late = "(sleep 0.4; echo > late.txt) & sleep 0.4; echo > later.txt"
    capture.run_command(["sh", "-c", late], Path(sys.argv[1]), keep=100, timeout=9)
except MementoError as error:
    print(error.token, error.message)
"""


def whole(play: Play) -> bool:
    """Tell whether everything in the ledger can be read."""
    from memento_git.verbs.doctor import examine

    return all(answer.status != "fail" for answer in examine(play.ledger))


@pytest.mark.parametrize("odd", ["", "a\rb", "\x1b[31m", "x" * 70_000, "two\nlines", "\u202e"])
def test_any_argument_of_a_command_can_be_recorded_and_read_again(play: Play, cli: Call, odd: str) -> None:
    play.run()
    code, out, _ = cli("-C", str(play.root), "--json", "evidence", "run", "--", sys.executable, "-c", "pass", odd)
    assert code == 0, out
    assert whole(play)


def test_a_file_name_that_is_no_text_does_not_stop_evidence(play: Play, cli: Call) -> None:
    play.run()
    (play.root / os.fsdecode(b"bad-\xff-name")).write_text("x")
    (play.root / "new\nline").write_text("x")
    code, _, _ = cli("-C", str(play.root), "evidence", "run", "--", sys.executable, "-c", "pass")
    assert code == 0
    assert whole(play)


@pytest.mark.parametrize("actor", ["two\nlines", "bell\x07", "right\u202eleft", "x" * 70_000])
def test_a_name_that_cannot_stand_in_a_record_is_refused(play: Play, actor: str) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    with Ledger.open(play.root, actor=actor) as ledger, pytest.raises(ActorInvalid):
        ledger.change("run start", lambda tx: runs.start_run(tx, "Goal"))
    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_record_that_could_not_be_read_again_is_never_committed(play: Play) -> None:
    play.run()
    head = git(play.root, "rev-parse", "HEAD")
    with pytest.raises(RecordUnfit):
        play.do(tasks.add_task, "Large", criteria=["x" * 60_000] * 20)
    assert git(play.root, "rev-parse", "HEAD") == head


def test_what_would_be_refused_afterwards_is_refused_before_the_command_runs(play: Play, cli: Call) -> None:
    marker = play.root / "ran"
    command = ("--", "touch", str(marker))
    run = ("-C", str(play.root), "--json", "evidence", "run")
    one, _ = play.run("One"), play.run("Two")
    for arguments in ([], ["--run", one, "--summary", "bell \x07 rings"]):
        code, _, _ = cli(*run, *arguments, *command)
        assert code == 1
    play.do(runs.cancel_run, one, reason="over")
    code, out, _ = cli(*run, "--run", one, *command)
    assert (code, json.loads(out)["error"]) == (1, "run_final")
    assert not marker.exists()


def test_a_result_that_cannot_be_recorded_any_more_is_kept(play: Play, cli: Call) -> None:
    run = play.run()
    cancel = f"{sys.executable} -m memento_git run cancel {run} --reason meanwhile"

    code, out, _ = cli("-C", str(play.root), "--json", "evidence", "run", "--", "sh", "-c", f"echo seen; {cancel}")

    answer = json.loads(out)
    assert (code, answer["error"]) == (1, "run_final")
    folder = answer["hint"].rpartition("--from ")[2]
    assert (play.root / folder / "stdout.txt").read_text().startswith("seen\n")
    again = play.run("Another")
    code, _, _ = cli("-C", str(play.root), "evidence", "add", "--from", folder, "--run", again)
    assert code == 0


def test_a_runner_without_a_ledger_writes_its_folder(repo: Path, cli: Call, tmp_path: Path) -> None:
    run = ("-C", str(repo), "evidence", "run", "--out", str(tmp_path / "out"))
    code, _, err = cli(*run, "--", sys.executable, "-c", "print('ci')")
    assert (code, err) == (0, "")
    assert (tmp_path / "out" / "stdout.txt").read_text() == "ci\n"


def test_imported_evidence_is_searched_for_secrets(play: Play, tmp_path: Path) -> None:
    play.run()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "print('ci')"], quiet=True)
    folders.write_folder(play.ledger, draft, tmp_path / "out", [], "fine")
    text = (tmp_path / "out" / "evidence.yaml").read_text()
    secret = "password = " + '"hunter2' + 'hunter2"'
    (tmp_path / "out" / "evidence.yaml").write_text(text.replace("summary: fine", f"summary: '{secret}'"))

    with pytest.raises(SecretFound):
        play.do(folders.import_folder, tmp_path / "out")


def test_redacted_evidence_is_not_imported_again(play: Play, tmp_path: Path) -> None:
    play.run()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "print('ci')"], quiet=True)
    evidence = folders.write_folder(play.ledger, draft, tmp_path / "out", [], "")
    play.do(folders.import_folder, tmp_path / "out")
    play.do(settling.redact_record, evidence, reason="a customer's name")

    with pytest.raises(evidences.FolderInvalid):
        play.do(folders.import_folder, tmp_path / "out")


def test_a_private_key_that_begins_in_what_is_cut_is_not_kept(play: Play) -> None:
    from memento_git.work.running.capture import Scrubber

    end = "-----END " + "RSA PRIVATE KEY-----"
    tail = f"c2VjcmV0IGtleSBib2R5\nbW9yZSBrZXkgYm9keQ==\n{end}\nafter\n".encode()
    told, files = stream_record(Stream("0" * 64, 10**6, b"head\n", tail, len(tail)), "stdout.txt", Scrubber(play.root))
    assert told["cut"] == 10**6 - 2 * len(tail)
    assert b"bW9yZSBrZXkg" not in files["stdout.txt"]
    assert files["stdout.txt"].endswith(b"[redacted: Private Key]\nafter\n")


@pytest.mark.parametrize("uri", ["/home/somebody/x.log", "C:\\x.log", "x.log"])
def test_a_uri_needs_a_scheme(play: Play, uri: str) -> None:
    play.run()
    with pytest.raises(TextInvalid):
        play.do(evidences.add_evidence, "ci", uri=uri)


def test_files_of_git_itself_are_no_evidence(play: Play) -> None:
    play.run()
    with pytest.raises(attaching.FileUnfit):
        play.do(evidences.add_evidence, "artifact", files=[".git/config"])


def test_names_in_reports_are_scrubbed(play: Play) -> None:
    play.run()
    case = f"<testcase classname='{play.root}/a' name='b\u061c'><failure/></testcase>"
    xml = f"<testsuite tests='1' failures='1'>{case}</testsuite>"
    script = f"open('junit.xml', 'w').write({xml!r})"
    draft = evidences.witness(
        play.ledger, [sys.executable, "-c", script], kind="test", reports=["junit.xml"], quiet=True
    )
    play.do(evidences.record_draft, draft)
    assert str(play.root) not in git(play.root, "show", "HEAD", "--", ".memento").replace(script, "")
    assert whole(play)


def test_evidence_that_cannot_be_read_is_refused_as_that_and_what_was_redacted_as_that(play: Play, run: str) -> None:
    task = play.task()
    evidence = play.evidence(task)
    play.commit(play.state(evidence).index.evidence[evidence], "kind: [", "broken")

    for act in (
        partial(play.gate, "quality_review", "passed", task=task, evidence=[evidence]),
        partial(reproducing.reproduce, play.ledger, ids=[evidence]),
        partial(exporting.evidence_statements, play.ledger.view(), [evidence]),
    ):
        with pytest.raises(LedgerUnreadable, match="F001"):
            act()
    play.do(settling.redact_record, evidence, reason="a secret in it")
    with pytest.raises(EvidenceWithdrawn, match="redacted"):
        play.gate("quality_review", "passed", task=task, evidence=[evidence])


def test_a_run_with_an_unreadable_event_hands_nothing_out(play: Play, run: str) -> None:
    task = play.task()
    play.do(runs.pause_run, run)
    path = next(play.root.glob(f".memento/runs/{run}/*-paused-*.yaml"))
    play.commit(path, "do: [", "broken")

    with pytest.raises(RecordIncomplete):
        play.dispatch(task)


def test_a_small_change_is_never_left_in_a_pack(play: Play) -> None:
    git(play.root, "config", "fastimport.unpackLimit", "1")
    git(play.root, "config", "transfer.unpackLimit", "1")
    play.run()
    assert not list((play.root / ".git" / "objects" / "pack").glob("*.pack"))


def test_a_diff_is_the_same_whatever_the_users_colours(play: Play) -> None:
    play.run()
    base = git(play.root, "rev-parse", "HEAD")
    play.commit("app.py", "answer = 43\n")
    first = play.do(evidences.add_evidence, "diff", diff=f"{base}..HEAD")
    for key, value in (("color.ui", "always"), ("diff.noprefix", "true"), ("log.showSignature", "true")):
        git(play.root, "config", key, value)
    second = play.do(evidences.add_evidence, "diff", diff=f"{base}..HEAD")
    found = [play.state(one).evidence(one) for one in (first, second)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].data["diff"]["patch_id"] == found[1].data["diff"]["patch_id"]
    assert play.ledger.view(["HEAD"]).now


def test_a_scratch_file_that_the_command_writes_over_spoils_nothing(play: Play, run: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)
    (play.root / "scratch.log").write_text("old\n")
    script = "open('scratch.log', 'w').write('new\\n'); open('made.log', 'w').write('made\\n')"
    draft = evidences.witness(play.ledger, [sys.executable, "-c", script], kind="test", quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[task])

    play.complete(dispatch, evidence)

    assert play.is_proven(task)


def test_a_path_in_the_repository_keeps_its_slash(play: Play) -> None:
    from memento_git.work.running.capture import Scrubber

    other = play.root / "elsewhere"
    scrubber = Scrubber(play.root, other)
    assert scrubber.argument(f"{other}/notes/brief.md") == "./elsewhere/notes/brief.md"
    assert Scrubber(other, play.root).argument(f"{play.root}/.git/notes/brief.md") == "<repository>/.git/notes/brief.md"
    assert scrubber.argument("/opt/tools/agent", program=True) == "agent"


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ('File "/usr/lib/python3.11/json/decoder.py", line 3', 'File "<outside>/decoder.py", line 3'),
        ("/opt/v/lib/python3.11/site-packages/yaml/reader.py:9", "<outside>/site-packages/yaml/reader.py:9"),
        ("PATH=/usr/bin:/usr/local/bin:", "PATH=<outside>/bin:<outside>/bin:"),
        ("see file:///home/somebody/a.log", "see file://<outside>/a.log"),
        ("tmp /tmp/pytest-of-ada/pytest-0/", "tmp <outside>/pytest-0"),
        ("/Users/ada/x.py:1 /private/var/folders/q/T", "<outside>/x.py:1 <outside>/T"),
        ("GET /api/users https://example.org/usr/lib/x", "GET /api/users https://example.org/usr/lib/x"),
        ("src/usr/lib/x ./tmp/a/b ~/var/x a/home/b", "src/usr/lib/x ./tmp/a/b ~/var/x a/home/b"),
        ("cat /dev/null < /bin/sh", "cat /dev/null < /bin/sh"),
        ("<repository>/usr/lib/x", "<repository>/usr/lib/x"),
    ],
)
def test_no_path_of_a_machine_is_kept_of_what_a_command_prints(play: Play, printed: str, kept: str) -> None:
    from memento_git.work.running.capture import Scrubber

    assert Scrubber(play.root).text(printed) == kept


def test_kept_output_names_no_folder_of_the_machine(play: Play, run: str, tmp_path: Path) -> None:
    task = play.task()
    code = f"import sys; print({str(tmp_path / 'made' / 'log.txt')!r}, sys.executable, file=sys.stderr)"
    draft = evidences.witness(play.ledger, [sys.executable, "-c", code], kind="test", quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[task])
    path = next(play.root.glob(f".memento/runs/*/evidence/*/{evidence}/stderr.txt"))
    assert path.read_text().startswith("<outside>/log.txt <outside>/python")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("outcome: failed", "outcome: passed", "what the command did says failed"),
        ("kind: test", "kind: approval", "names no command"),
        ("kind: test", "kind: wish", "'wish' is not one of"),
        ("outcome: failed", "outcome: failed\nuri: https://example.org/x", "'uri', which evidence run does not write"),
    ],
)
def test_imported_evidence_that_check_would_call_wrong_is_refused(
    play: Play, tmp_path: Path, before: str, after: str, told: str
) -> None:
    play.run()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "raise SystemExit(1)"], kind="test", quiet=True)
    folders.write_folder(play.ledger, draft, tmp_path / "out", [], "")
    path = tmp_path / "out" / "evidence.yaml"
    path.write_text(path.read_text().replace(before, after, 1))

    with pytest.raises(evidences.FolderInvalid, match=told):
        play.do(folders.import_folder, tmp_path / "out")


@pytest.mark.parametrize("away", ["../../x", "src/../../x", "/etc/hosts", ".memento/config.yaml", "."])
def test_imported_evidence_that_covers_no_code_of_the_repository_is_refused(
    play: Play, tmp_path: Path, away: str
) -> None:
    play.run()
    draft = evidences.witness(play.ledger, ["true"], kind="test", covers=["app.py"], quiet=True)
    folders.write_folder(play.ledger, draft, tmp_path / "out", [], "")
    path = tmp_path / "out" / "evidence.yaml"
    whole = path.read_text()
    path.write_text(whole.replace("app.py:", f"{away}:", 1))
    with pytest.raises(evidences.FolderInvalid, match="from the top of the repository"):
        play.do(folders.import_folder, tmp_path / "out")
    path.write_text(whole)
    assert play.do(folders.import_folder, tmp_path / "out")


def test_imported_output_that_is_larger_than_what_is_kept_of_any_is_refused(play: Play, tmp_path: Path) -> None:
    play.run()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "print('ci')"], kind="test", quiet=True)
    folders.write_folder(play.ledger, draft, tmp_path / "out", [], "")
    path, large = tmp_path / "out" / "evidence.yaml", b"a" * 1_000_000
    (tmp_path / "out" / "stdout.txt").write_bytes(large)
    known = draft.data["command"]["stdout"]["kept_sha256"]
    path.write_text(path.read_text().replace(known, hashlib.sha256(large).hexdigest()))

    with pytest.raises(evidences.FolderInvalid, match="has 1000000 bytes"):
        play.do(folders.import_folder, tmp_path / "out")


def test_imported_evidence_that_is_larger_than_any_record_is_refused_unread(play: Play, tmp_path: Path) -> None:
    play.run()
    with (tmp_path / "evidence.yaml").open("wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(evidences.FolderInvalid, match="has 1099511627776 bytes"):
        play.do(folders.import_folder, tmp_path)


def test_imported_evidence_is_given_to_no_other_work_than_it_was_made_for(
    play: Play, tmp_path: Path, cli: Call
) -> None:
    play.planned()
    tasks = [play.task(), play.task()]
    dispatches = [play.claimed(task) for task in tasks]
    at = ("-C", str(play.root), "evidence")
    run = (*at, "run", "--kind", "test", "--out")
    assert cli(*run, str(tmp_path / "task"), "--task", tasks[0], "--", "true")[0] == 0
    assert cli(*run, str(tmp_path / "dispatch"), "--dispatch", dispatches[0], "--", "true")[0] == 0
    assert cli(*run, str(tmp_path / "both"), "--task", tasks[0], "--task", tasks[1], "--", "true")[0] == 0
    assert cli(*at, "add", "--from", str(tmp_path / "both"), "--task", tasks[1])[0] == 0
    for made, given in (("task", tasks), ("dispatch", dispatches)):
        add = (*at, "add", "--json", "--from", str(tmp_path / made), f"--{made}")

        code, out, _ = cli(*add, given[1])

        told = f"{made}: it was made for {given[0]}, and is given for {given[1]}"
        assert (code, json.loads(out)["message"]) == (1, told)
        assert cli(*add, given[0])[0] == 0


def test_a_command_that_nobody_can_witness_for_want_of_a_thread_is_ended_and_refused(play: Play) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_THREAD, str(play.root)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "command_not_started sh could not be started: can't start new thread", done.stderr
    time.sleep(0.6)
    assert not [*play.root.glob("late*.txt")]


def test_a_scratch_folder_that_cannot_be_removed_spoils_nothing(
    play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    play.run()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    remove = os.rmdir

    def busy(path: str, **options: Any) -> None:
        if str(path).startswith(str(tmp_path)):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
        remove(path, **options)

    monkeypatch.setattr(os, "rmdir", busy)
    code, out, err = cli("-C", str(play.root), "--json", "evidence", "run", "--", sys.executable, "-c", "pass")
    assert code == 0, out
    assert json.loads(out)["evidence"]["outcome"] == "passed"
    assert "not known" not in out + err
