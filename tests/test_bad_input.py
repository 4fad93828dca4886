"""Bad input: a token, a sentence, a next step, an exit code; state stays as it was, no traceback."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import evidences, runs
from memento_git.work.actions.settling import redact_record
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.play import Call, Play

Refused = "Callable[..., dict[str, Any]]"


@pytest.fixture
def refused(play: Play, cli: Call) -> Callable[..., dict[str, Any]]:
    """Run a command that must be refused; see that nothing changed and that nobody saw a traceback."""

    def call(token: str, code: int, *arguments: str) -> dict[str, Any]:
        before = git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--short")
        got, out, err = cli("-C", str(play.root), "--json", *arguments)
        answer: dict[str, Any] = json.loads(out)
        assert (answer["error"], got) == (token, code), answer
        assert answer["ok"] is False
        assert answer["message"]
        assert answer["hint"]
        assert "Traceback" not in out + err
        assert (git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--short")) == before
        return answer

    return call


UNKNOWN = "zzzzzzzzzzzz"
CONFLICT = "---\nid: {task}\n<<<<<<< HEAD\ntitle: A\n=======\ntitle: B\n>>>>>>> x\n---\n"
REST = "title: T\nat: 2026-01-01T00:00:00.000Z\nby: A\n"


@pytest.mark.parametrize(
    ("token", "arguments"),
    [
        ("run_not_found", ("run", "pause", f"run_{UNKNOWN}")),
        ("run_not_found", ("run", "show", UNKNOWN)),
        ("run_not_found", ("status", "--run", f"run_{UNKNOWN}")),
        ("run_not_found", ("plan", "draft", "--run", f"run_{UNKNOWN}", "--title", "T", "--body", "B")),
        ("run_not_found", ("task", "add", "--run", f"run_{UNKNOWN}", "--title", "T")),
        ("plan_not_found", ("plan", "approve", f"plan_{UNKNOWN}")),
        ("task_not_found", ("dispatch", "create", UNKNOWN, "--executor", "x")),
        ("task_not_found", ("task", "brief", UNKNOWN)),
        ("task_not_found", ("task", "add", "--title", "T", "--depends-on", UNKNOWN)),
        ("dispatch_not_found", ("dispatch", "claim", UNKNOWN)),
        ("dispatch_not_found", ("dispatch", "complete", UNKNOWN, "--evidence-uri", "file://app.py")),
        ("evidence_not_found", ("evidence", "retract", UNKNOWN, "--reason", "r")),
        ("event_not_found", ("settle", "--void", UNKNOWN, "--reason", "r")),
        ("record_not_found", ("show", UNKNOWN)),
        ("wrong_kind", ("task", "show", f"run_{UNKNOWN}")),
        ("wrong_kind", ("dispatch", "claim", f"task_{UNKNOWN}")),
        ("id_invalid", ("task", "show", "Task 1")),
        ("id_invalid", ("task", "show", "")),
        ("id_invalid", ("show", "../../etc")),
        ("gate_invalid", ("gate", "record", "nonsense", "passed")),
        ("gate_invalid", ("gate", "record", "release", "perhaps")),
        ("reason_required", ("run", "cancel")),
        ("reason_required", ("gate", "waive", "release")),
        ("text_invalid", ("run", "start", "--goal", "   ")),
        ("text_invalid", ("run", "start", "--goal", "two\nlines")),
        ("text_invalid", ("run", "start", "--goal", "a\x00b")),
        ("text_invalid", ("run", "start", "--goal", "bell \x07")),
        ("text_invalid", ("run", "start", "--goal", "right-to-left \u202e mark")),
        ("text_invalid", ("run", "start", "--goal", "lone \r return")),
        ("text_invalid", ("task", "add", "--title", "T", "--body", "x" * 1_000_001)),
        ("text_invalid", ("task", "add", "--title", "T", "--file", "/etc/passwd")),
        ("text_invalid", ("task", "add", "--title", "T", "--file", "../up")),
        ("task_not_found", ("evidence", "add", "app.py", "--task", UNKNOWN)),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_done_is_refused(
    play: Play, run: str, refused: Callable[..., Any], token: str, arguments: tuple[str, ...]
) -> None:
    refused(token, 1, *arguments)


def test_an_id_that_is_not_there_leads_to_the_list_of_its_kind(
    play: Play, run: str, refused: Callable[..., Any]
) -> None:
    listed = "memento task list, of another run with --run RUN"
    assert refused("task_not_found", 1, "task", "show", UNKNOWN)["hint"] == f"see {listed}"
    assert refused("run_not_found", 1, "run", "show", UNKNOWN)["hint"] == "see memento run list"
    void = ("settle", "--void", UNKNOWN, "--reason", "r")
    assert refused("event_not_found", 1, *void)["hint"] == "see memento log --json"
    other = refused("wrong_kind", 1, "task", "show", f"run_{UNKNOWN}")["hint"]
    assert other == f"show it: memento show run_{UNKNOWN}; to find a task: {listed}"
    assert refused("id_invalid", 1, "task", "show", "Task 1")["hint"] == f"copy it from {listed}"
    assert refused("id_invalid", 1, "show", "nothing")["hint"].startswith("copy it from memento status and")


def test_an_id_of_another_kind_or_of_none_is_told_in_words_that_fit_every_kind(refused: Callable[..., Any]) -> None:
    assert refused("wrong_kind", 1, "evidence", "show", f"run_{UNKNOWN}")["message"] == f"run_{UNKNOWN} is no evidence"
    assert refused("id_invalid", 1, "evidence", "show", "x y")["message"].startswith(
        "'x y' is not a valid evidence id: "
    )


@pytest.mark.parametrize(
    ("typed", "kinds"),
    [
        (("dispatch", "run", f"run_{UNKNOWN}"), "dispatch or task"),
        (("evidence", "approve", f"note_{UNKNOWN}"), "run, plan, task or evidence"),
        (("evidence", "redact", f"note_{UNKNOWN}", "--reason", "r"), "evidence or event"),
        (("note", "redact", f"task_{UNKNOWN}", "--reason", "r"), "note or event"),
        (("settle", f"event_{UNKNOWN}", "--keep", UNKNOWN, "--reason", "r"), "run, plan, task, evidence or note"),
    ],
)
def test_a_verb_for_several_kinds_names_them_where_an_id_is_of_another(
    play: Play, refused: Callable[..., Any], typed: tuple[str, ...], kinds: str
) -> None:
    play.run()
    assert refused("wrong_kind", 1, *typed)["message"].endswith(f" is no {kinds}")


def test_a_verdict_before_its_gate_is_led_to_the_right_order(play: Play, refused: Callable[..., Any]) -> None:
    play.run()
    told = refused("gate_invalid", 1, "gate", "record", "passed", "quality_review")
    assert told["hint"].endswith(": memento gate record quality_review passed")


def test_a_revision_that_does_not_exist_is_a_usage_error(play: Play, refused: Callable[..., Any]) -> None:
    play.run()
    refused("revision_not_found", 1, "status", "--at", "no-such-branch")
    refused("revision_not_found", 1, "status", "--at", "--upload-pack=touch /tmp/owned")
    for command in (("status", "--at"), ("check", "--base"), ("diff",)):
        refused("revision_not_found", 1, *command, "^HEAD")


def test_an_option_of_a_wrong_form_is_a_usage_error(play: Play, refused: Callable[..., Any]) -> None:
    play.run()
    refused("duration_invalid", 2, "dispatch", "claim", UNKNOWN, "--lease", "soon")
    refused("duration_invalid", 2, "dispatch", "claim", UNKNOWN, "--lease", "0s")
    refused("duration_invalid", 2, "dispatch", "claim", UNKNOWN, "--lease", f"{'9' * 5000}s")
    refused("evidence_kind_invalid", 2, "evidence", "run", "--kind", "screenshot", "--", "true")
    refused("evidence_kind_invalid", 2, "evidence", "add", "app.py", "--kind", "wish")
    refused("command_missing", 2, "evidence", "run")
    refused("nothing_given", 2, "evidence", "add")
    refused("nothing_given", 2, "evidence", "add", "--summary", "\u200b")
    for cost in ("abc", "-1", "1.23456"):
        refused("text_invalid", 1, "task", "add", "--title", "T", "--cost", cost)


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (("task", "add", "--title", "T", "--file", "../../etc/passwd"), "without .. "),
        (("task", "add", "--title", "T", "--file", "."), "not the top itself"),
        (("task", "add", "--title", "T", "--check", 'echo "x'), "close each quote"),
        (("task", "add", "--title", "T", "--cost", "-1"), "three decimals"),
        (("task", "add", "--title", "T", "--kind", "Two Words"), "one word"),
        (("evidence", "run", "--covers", "../x", "--", "true"), "without .. "),
    ],
)
def test_what_is_wrong_with_a_typed_value_has_a_hint_of_its_own(
    play: Play, refused: Callable[..., Any], typed: tuple[str, ...], hint: str
) -> None:
    play.run()
    assert hint in refused("text_invalid", 1, *typed)["hint"]


def test_two_open_runs_need_a_name(play: Play, refused: Callable[..., Any]) -> None:
    first, second = play.run("One"), play.run("Two")
    answer = refused("run_ambiguous", 1, "task", "add", "--title", "T")
    assert first in answer["message"]
    assert second in answer["message"]


def test_with_runs_that_have_all_ended_none_is_open(play: Play, refused: Callable[..., Any]) -> None:
    for goal in ("One", "Two"):
        play.do(runs.cancel_run, play.run(goal), reason="Not needed.")
    for typed in (("task", "add", "--title", "T"), ("run", "complete"), ("evidence", "run", "--", "true")):
        assert "all 2 have ended" in refused("no_run_open", 1, *typed)["message"]
    assert "run start" in refused("no_run_open", 1, "plan", "draft", "--title", "T", "--body", "B")["hint"]


def test_archive_takes_the_only_run_that_has_ended(play: Play, refused: Callable[..., Any]) -> None:
    first, second, third = (play.run(goal) for goal in ("One", "Two", "Three"))
    refused("run_ambiguous", 1, "archive")
    play.do(runs.cancel_run, first, reason="Not needed.")
    assert first in play.do(runs.archive_run)
    for run in (second, third):
        play.do(runs.cancel_run, run, reason="Not needed.")
    answer = refused("run_ambiguous", 1, "archive")
    assert second in answer["message"]
    assert first not in answer["message"]
    play.do(runs.archive_run, second)
    assert third in play.do(runs.archive_run)
    assert refused("already_archived", 1, "archive")["message"] == "all 3 runs are archived already"


def test_completing_what_another_claimed_is_refused(play: Play, run: str, refused: Callable[..., Any]) -> None:
    task = play.task()
    dispatch = play.as_("alice").claimed(task)
    evidence = play.evidence(task)
    refused("not_claimant", 1, "dispatch", "complete", dispatch, "--evidence", evidence, "--actor", "mallory")
    refused("not_claimant", 1, "dispatch", "complete", dispatch, "--actor", "mallory")
    hint = refused("not_claimant", 1, "dispatch", "renew", dispatch, "--actor", "mallory")["hint"]
    assert hint.startswith("only its claimant renews or ends it: ")
    assert hint.endswith(f": memento dispatch recover {dispatch}")
    refused("evidence_required", 1, "dispatch", "complete", dispatch, "--actor", "alice")
    refused("not_claimant", 1, "dispatch", "fail", dispatch, "--reason", "r", "--actor", "mallory")
    refused("dispatch_already_claimed", 1, "dispatch", "claim", dispatch, "--actor", "mallory")


@pytest.mark.parametrize(
    "words",
    [
        "gate record approval passed", "gate waive approval --reason x", "evidence add --kind note --summary x",
        "evidence run", "evidence list", "evidence check --provider ci --conclusion success", "graph update",
        "dispatch create --executor a",
    ],
)  # fmt: skip
def test_a_task_of_another_run_than_the_one_that_is_named_is_refused(
    play: Play, refused: Callable[..., Any], words: str
) -> None:
    one, task, other = play.run(), play.task(), play.run("Another goal")
    named = [task] if words.startswith("dispatch") else ["--task", task]
    command = ["--", "true"] if words == "evidence run" else []
    assert one != other
    told = refused("task_not_found", 1, *words.split(), *named, "--run", other, *command)
    assert told["message"] == f"no task {task} in run {other}"


def test_completing_without_acceptable_evidence_is_refused(play: Play, refused: Callable[..., Any]) -> None:
    task = play.planned_task()
    dispatch = play.claimed(task)
    note = "evidence", "add", "--kind", "note", "--summary", "I finished", "-C", str(play.root), "--json"
    failed = play.evidence(task, code=1)
    foreign = play.evidence(play.task("Another"))
    refused("evidence_required", 1, "dispatch", "complete", dispatch)
    refused("evidence_required", 1, "dispatch", "complete", dispatch, "--evidence", failed)
    refused("evidence_foreign", 1, "dispatch", "complete", dispatch, "--evidence", foreign)
    from memento_git.cli.boundary import run

    assert run(list(note)) == 0
    advisory = play.state(task).ids("evidence")[-1]
    refused("evidence_required", 1, "dispatch", "complete", dispatch, "--evidence", advisory)


def test_completing_on_nothing_leads_to_what_has_passed(play: Play, refused: Callable[..., Any]) -> None:
    task = play.planned_task()
    dispatch = play.claimed(task)
    run = f"run the command that shows it works: memento evidence run --task {task} -- CMD"
    assert refused("evidence_required", 1, "dispatch", "complete", dispatch)["hint"] == run
    evidence = play.evidence(task, code=1)
    assert refused("evidence_required", 1, "dispatch", "complete", dispatch)["hint"] == run
    play.do(evidences.retract, evidence, reason="Wrong machine.")
    evidence = play.evidence(task)
    line = f"memento dispatch complete {dispatch} --evidence {evidence}"
    hint = refused("evidence_required", 1, "dispatch", "complete", dispatch)["hint"]
    assert hint == f"name what has passed for it: {line}"
    from memento_git.cli.boundary import run as typed

    assert typed([*line.split()[1:], "-C", str(play.root)]) == 0


def test_a_failure_on_evidence_of_another_run_or_that_cannot_be_read_is_refused(
    play: Play, refused: Callable[..., Any]
) -> None:
    play.run()
    foreign = play.evidence()
    run = play.run("Another goal", spike=True)
    task = play.task(run=run)
    dispatch, gone = play.claimed(task), play.evidence(task)
    failing = "dispatch", "fail", dispatch, "--reason", "it broke", "--evidence"
    refused("evidence_foreign", 1, *failing, foreign)
    play.do(redact_record, gone, reason="It names a customer.")
    refused("evidence_withdrawn", 1, *failing, gone)


@pytest.mark.parametrize(
    "command",
    ["note show", "note revise --text x", "note confirm", "note park", "check anchors", "check impact", "purge"],
)
def test_a_name_of_a_note_that_is_not_utf8_names_none(play: Play, refused: Callable[..., Any], command: str) -> None:
    play.run()
    refused("id_invalid", 1, *command.split(), "\udcff")


@pytest.mark.parametrize("name", [r"a\x2db", "tab\there"])
def test_a_folder_or_a_report_that_no_record_can_name_is_refused_before_the_command_runs(
    play: Play, cli: Call, refused: Callable[..., Any], name: str
) -> None:
    play.run()
    made = ("--", "sh", "-c", "touch made")
    refused("text_invalid", 1, "evidence", "run", "--report", f"{name}.xml", *made)
    (play.root / name).mkdir()
    code, out, _ = cli("-C", str(play.root / name), "--json", "evidence", "run", *made)
    assert (code, json.loads(out)["error"]) == (1, "text_invalid")
    assert not list(play.root.rglob("made"))


@pytest.mark.parametrize(
    ("uri", "token"),
    [
        ("file:///does/not/exist.log", "outside_repository"),
        ("file://missing.log", "evidence_file_missing"),
        ("file://../outside.log", "outside_repository"),
        ("file://empty.log", "evidence_file_invalid"),
        ("file://folder", "evidence_file_invalid"),
    ],
)
def test_a_completion_on_a_file_that_is_not_there_is_refused(
    play: Play, run: str, refused: Callable[..., Any], uri: str, token: str
) -> None:
    dispatch = play.claimed(play.task())
    (play.root / "empty.log").touch()
    (play.root / "folder").mkdir()
    (play.root.parent / "outside.log").write_text("x")
    refused(token, 1, "dispatch", "complete", dispatch, "--evidence-uri", uri)


def test_a_text_that_is_not_utf8_is_told_as_that(play: Play, refused: Callable[..., dict[str, Any]]) -> None:
    play.run()
    answer = refused("text_invalid", 1, "task", "add", "--title", "caf\udce9")
    assert answer["message"] == "title: byte 0xe9 is not UTF-8"


@pytest.mark.parametrize(
    ("words", "token", "told"),
    [
        (("file://a.log",), "evidence_file_missing", "a link is for --uri"),
        (("https://ci.example/1",), "evidence_file_missing", "a link is for --uri"),
        (("--kind", "diff", "HEAD~1..HEAD"), "evidence_file_missing", "A..B for --diff"),
        (("",), "evidence_file_invalid", "'': it names no file"),
        (("--uri", "file://"), "evidence_file_invalid", "'': it names no file"),
        (("--uri", "https://"), "text_invalid", "'https://' is no link"),
        (("--uri", "https://ci.example/a b"), "text_invalid", "'https://ci.example/a b' is no link"),
        (("--uri", "a.log"), "text_invalid", "file://a/b.log for a/b.log of the repository"),
    ],
)
def test_what_is_neither_a_file_nor_a_link_is_refused_with_the_way_to_say_either(
    play: Play, refused: Callable[..., dict[str, Any]], words: tuple[str, ...], token: str, told: str
) -> None:
    play.run()
    (play.root / "a.log").write_text("passed\n")
    answer = refused(token, 1, "evidence", "add", *words)
    assert told in f"{answer['message']} {answer['hint']}"


@pytest.mark.parametrize(("line", "named"), [("pytest -q", "pytest -q could"), ("", "'' could")])
def test_a_command_in_one_word_is_told_that_its_words_stand_apart(
    play: Play, refused: Callable[..., dict[str, Any]], line: str, named: str
) -> None:
    play.run()
    answer = refused("command_not_started", 1, "evidence", "run", "--", line)
    assert answer["message"].startswith(named)
    assert "its words stand apart" in answer["hint"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("conflict markers", CONFLICT, "merge conflict"),
        ("duplicate keys", "---\nid: {task}\nid: {task}\n---\n", "stands here twice"),
        ("unknown key", "---\nid: {task}\n" + REST + "state: done\n---\n", "unknown key"),
        ("another id", "---\nid: task_zzzzzzzzzzzz\n" + REST + "---\n", "its path says"),
        ("a tag", "---\nid: !!python/object:os.system x\n---\n", "tag"),
        ("a bomb", "---\na: &a [x]\nb: [*a, *a]\n---\n", "anchor"),
        ("no front matter", "just words\n", "front matter"),
    ],
)  # fmt: skip
def test_a_broken_ledger_file_is_named_with_its_line_and_the_rest_still_reads(
    play: Play, run: str, cli: Call, name: str, text: str, told: str
) -> None:
    broken, sound = play.task("Broken"), play.task("Sound")
    path = next(play.root.glob(f".memento/runs/*/tasks/*/{broken}/task.md"))
    play.commit(path, text.replace("{task}", broken), name)

    code, out, err = cli("task", "show", broken, "-C", str(play.root), "--json")
    answer = json.loads(out)
    assert (code, answer["error"]) == (4, "ledger_broken")
    assert f"{broken}/task.md:" in answer["message"]
    assert told in answer["message"]
    assert "Traceback" not in err

    code, out, _ = cli("status", "-C", str(play.root), "--json")
    status = json.loads(out)
    assert code == 0
    assert {row["id"]: told in (row["broken"] or "") for row in status["tasks"]} == {broken: True, sound: False}
    assert any(told in finding[3] for finding in status["findings"])
    code, out, _ = cli("doctor", "-C", str(play.root))
    assert code == 1
    assert told in out


def test_a_format_from_the_future_is_refused_politely(play: Play, cli: Call) -> None:
    play.run()
    path = play.root / ".memento" / "config.yaml"
    play.commit(path, path.read_text().replace("version: 1", "version: 2"))

    for command in (["status"], ["task", "add", "--title", "T"]):
        code, out, _ = cli(*command, "-C", str(play.root), "--json")
        answer = json.loads(out)
        assert (code, answer["error"]) == (4, "ledger_broken")
        assert "format version 2" in answer["message"]


def test_a_policy_with_a_mistake_names_file_and_line(play: Play, cli: Call) -> None:
    play.run()
    path = play.root / ".memento" / "config.yaml"
    play.commit(path, "version: 1\npolicy:\n  lease: soon\n")

    code, out, _ = cli("task", "add", "--title", "T", "-C", str(play.root), "--json")
    assert code == 4
    assert ".memento/config.yaml:3" in json.loads(out)["message"]


@pytest.mark.parametrize("command", [["status"], ["init"], ["doctor"], ["run", "start", "--goal", "G"]])
def test_a_mistyped_workspace_creates_nothing(cli: Call, tmp_path: Path, command: list[str]) -> None:
    code, out, _ = cli(*command, "-C", str(tmp_path / "nowhere"), "--json")
    assert (code, json.loads(out)["error"]) == (1, "workspace_missing")
    (tmp_path / "plain").mkdir()
    code, out, _ = cli(*command, "-C", str(tmp_path / "plain"), "--json")
    assert (code, json.loads(out)["error"]) == (1, "not_a_repository")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain"]
    assert list((tmp_path / "plain").iterdir()) == []


def test_a_repository_without_a_ledger_says_how_to_make_one(repo: Path, cli: Call) -> None:
    for command in (["status"], ["run", "start", "--goal", "G"], ["log"], ["doctor"]):
        code, out, _ = cli(*command, "-C", str(repo), "--json")
        answer = json.loads(out)
        assert code == 1
        assert "memento init" in json.dumps(answer)
    assert not (repo / ".memento").exists()


def test_the_next_command_of_sample_smoke_runs_as_it_is_printed(tmp_path: Path, cli: Call) -> None:
    code, out, _ = cli("sample-smoke", "--workspace", str(tmp_path / "a sample"))
    command = shlex.split(out.rstrip().rpartition(": memento ")[2])
    assert (code, cli(*command)[0]) == (0, 0)


def test_a_current_folder_that_was_removed_is_told_as_such(
    play: Play, cli: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = play.run()
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, out, _ = cli("status", "--json")
    answer = json.loads(out)
    assert (code, answer["error"]) == (1, "workspace_missing")
    assert "is gone" in answer["message"]
    assert "cd to another" in answer["hint"]
    assert json.loads(cli("sample-smoke", "--json")[1]) == answer
    assert run in cli("status", "--json", "-C", str(play.root))[1]
    monkeypatch.chdir(play.root)


def test_sample_smoke_refuses_somebodys_folder(repo: Path, cli: Call) -> None:
    head = git(repo, "rev-parse", "HEAD")
    code, out, _ = cli("sample-smoke", "--workspace", str(repo), "--json")
    assert (code, json.loads(out)["error"]) == (1, "not_a_sample")
    assert git(repo, "rev-parse", "HEAD") == head


def test_a_clock_that_went_backwards_is_noticed_and_order_does_not_come_from_it(play: Play) -> None:
    from memento_git.ledger.store import Ledger
    from tests.play import Play as Verbs

    task = play.planned_task()
    dispatch = play.claimed(task)
    with Ledger.open(play.root, clock=lambda: 1_700_000_000.0) as behind:
        early = Verbs(behind)
        early.complete(dispatch, early.evidence(task))

    assert play.status(task) == "completed"
    assert any("clock" in warning for warning in early.ledger.warnings)


def test_a_gigabyte_of_output_is_hashed_in_little_memory(play: Play) -> None:
    play.run()
    script = "import sys\nblock = b'y' * (1 << 20)\nfor _ in range(1024): sys.stdout.buffer.write(block)"
    watch = (
        "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode;"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    memento = [sys.executable, "-m", "memento_git", "evidence", "run", "-C", str(play.root), "--"]
    done = subprocess.run(
        [sys.executable, "-c", watch, *memento, sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
    )
    code, most = map(int, done.stdout.split())
    assert code == 0
    assert most < 200_000
    evidence = play.state(play.ledger.view().runs()[0]).ids("evidence")[0]
    found = play.state(evidence).evidence_named(evidence)
    assert found.data["command"]["stdout"]["bytes"] == 1 << 30


def test_a_text_file_that_cannot_be_read_is_a_usage_error(play: Play, run: str, refused: Callable[..., Any]) -> None:
    (play.root.parent / "latin.md").write_bytes("Größe".encode("latin-1"))
    latin = str(play.root.parent / "latin.md")
    for given, told in (
        ("@nope", "No such file"),
        (f"@{latin}", "not UTF-8"),
        (f"@{play.root}", "directory"),
        ("@", ""),
    ):
        assert told in refused("file_unreadable", 2, "task", "add", "--title", "T", "--body", given)["message"]
        refused("file_unreadable", 2, "plan", "draft", "--title", "T", "--body", given)


@pytest.mark.parametrize("line", [("preflight", "--text"), ("task", "add", "--from-event")])
def test_a_text_where_the_name_of_a_file_belongs_says_so(
    play: Play, run: str, refused: Callable[..., Any], line: tuple[str, ...]
) -> None:
    told = refused("file_unreadable", 2, *line, "rm -rf build")
    assert told["message"].startswith(
        f"{line[-1]} takes the name of a file, and 'rm -rf build' cannot be read: No such"
    )
    assert told["hint"] == "name a file; or give - there, and the text on standard input"


def test_the_name_of_a_file_where_a_text_belongs_is_told_and_kept(
    play: Play, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.run()
    monkeypatch.chdir(play.root)
    told = json.loads(cli("plan", "draft", "--title", "T", "--body", "app.py", "--json")[1])
    assert (told["plan"]["body"].strip(), told["warnings"]) == (
        "app.py", ["the text is 'app.py', which is a file here: @app.py takes what is in it"],
    )  # fmt: skip
    (play.root / "@@app.py").write_text("other\n")
    for text in ("no such file.md", "@app.py", "@@app.py", "x" * 5000, "."):
        assert "warnings" not in json.loads(cli("plan", "draft", "--title", "T", "--body", text, "--json")[1])


def test_a_byte_order_mark_is_no_part_of_a_text(play: Play, refused: Callable[..., Any], cli: Any) -> None:
    path = play.root.parent / "marked.md"
    path.write_bytes("\ufeffA file of an editor.\r\nTwo lines.\r\n".encode())
    code, out, _ = cli("remember", f"@{path}", "--json", "-C", str(play.root))
    assert (code, json.loads(out)["note"]["text"]) == (0, "A file of an editor.\nTwo lines.")
    path.write_bytes("Within \ufeff a text.".encode())
    assert "U+FEFF" in refused("text_invalid", 1, "remember", f"@{path}")["message"]
    path.write_bytes(b"\xef\xbb\xbfGr\xf6\xdfe")
    assert "byte 6 is not" in refused("file_unreadable", 2, "remember", f"@{path}")["message"]


def test_a_folder_that_is_a_file_is_named(play: Play, refused: Callable[..., Any]) -> None:
    path = play.root.parent / "plain.txt"
    path.write_text("mine\n")
    answer = refused("file_system", 1, "sample-smoke", "--workspace", str(path))
    assert answer["message"] == f"{path}: Not a directory"
    assert path.read_text() == "mine\n"


def test_sample_smoke_without_a_git_that_is_new_enough_makes_nothing(
    tmp_path: Path, cli: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("sample-smoke", "--json", "--workspace", str(tmp_path / "sample"))
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    code, out, _ = cli(*words)
    assert (code, json.loads(out)["error"]) == (4, "git_missing")
    (programs / "git").write_text("#!/bin/sh\necho git version 2.20.1\n")
    (programs / "git").chmod(0o755)
    code, out, _ = cli(*words)
    assert (code, json.loads(out)["error"]) == (4, "git_too_old")
    assert not (tmp_path / "sample").exists()


def test_a_record_to_list_the_log_of_must_be_there(play: Play, run: str, refused: Callable[..., Any]) -> None:
    refused("task_not_found", 1, "log", "--record", f"task_{UNKNOWN}")
    refused("record_not_found", 1, "log", "--record", UNKNOWN)
    refused("id_invalid", 1, "log", "--record", "Task 1")
    refused("id_invalid", 1, "log", "--record", "wish_0123")
    tasks = sorted(play.task(f"Task {number}") for number in range(33))
    shared = next(one[5] for one, other in pairwise(tasks) if one[5] == other[5])
    refused("id_ambiguous", 1, "log", "--record", f"task_{shared}")


def test_who_asks_for_a_place_instead_of_a_record_is_led_to_what_shows_it(
    play: Play, run: str, refused: Callable[..., Any]
) -> None:
    task = play.task()
    for place in ("src/app.py:12", "app.py", "my dir/app.py::run"):
        answer = refused("id_invalid", 1, "show", place)
        assert answer["message"] == f"{place!r} is not the id of a record, nor the beginning of one"
        shown = shlex.quote(place)
        assert answer["hint"] == (
            f"the place in the code: memento code read {shown}; notes about it: memento recall --about {shown}"
        )
    (path,) = play.root.rglob("task.md")
    asked = refused("id_invalid", 1, "show", path.relative_to(play.root).as_posix())
    assert asked["hint"] == f"what that file is about: memento show {task}"
    assert "memento status" in refused("id_invalid", 1, "show", "the task")["hint"]


def test_what_was_given_is_repeated_in_a_size_that_can_be_read(
    play: Play, run: str, refused: Callable[..., Any]
) -> None:
    message = refused("id_invalid", 1, "task", "show", "y" * 100_000)["message"]
    assert len(message) < 1100
    assert message.startswith("'yyy")
    assert message.endswith("without i l o u")


def test_a_key_that_no_note_has_is_told_as_a_key(refused: Callable[..., Any]) -> None:
    assert refused("key_unknown", 1, "note", "show", "pay.once")["message"] == "no note has the key pay.once"
    refused("key_unknown", 1, "note", "link", "pay.once", "relates_to", "pay.twice")
    refused("id_invalid", 1, "note", "show", "Pay once")


def test_an_empty_text_is_asked_to_say_something(refused: Callable[..., Any]) -> None:
    assert refused("text_invalid", 1, "remember", "  ")["hint"] == "write what it shall say"


def test_a_group_alone_helps_or_lists(play: Play, cli: Call) -> None:
    code, out, err = cli()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: memento")
    cli("-C", str(play.root), "session", "start")
    assert cli("-C", str(play.root), "session")[1] == cli("-C", str(play.root), "session", "status")[1]


def test_a_mistake_is_explained_by_the_help_of_the_command_that_was_asked(refused: Callable[..., Any]) -> None:
    assert refused("usage", 2, "check", "--xyzzy")["hint"] == "see memento check --help"
    assert refused("usage", 2, "note", "show", "--xyzzy")["hint"] == "see memento note show --help"
    assert refused("usage", 2, "no-such")["hint"] == "see memento --help"


def test_an_interrupt_while_the_program_is_loaded_shows_no_traceback() -> None:
    code = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *others):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from memento_git.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    "words",
    [
        ("task", "list", "--status", "done"), ("run", "list", "--status", "open"),
        ("dispatch", "list", "--status", "free"), ("evidence", "list", "--kind", "tests"),
    ],
)  # fmt: skip
def test_a_state_that_there_is_not_is_no_empty_list(refused: Callable[..., Any], words: tuple[str, ...]) -> None:
    assert "is not one of" in refused("usage", 2, *words)["message"]


def test_a_file_without_an_end_is_not_read_to_its_end(refused: Callable[..., Any]) -> None:
    refused("batch_invalid", 2, "apply", "/dev/zero")
    refused("file_unreadable", 2, "remember", "@/dev/zero")


@pytest.mark.parametrize("text", ["--", "***", "# ", ". So", "> . "])
def test_a_text_of_signs_alone_is_named_by_them(play: Play, cli: Call, text: str) -> None:
    code, out, _ = cli("remember", "--json", "-C", str(play.root), "--", text)
    assert (code, json.loads(out)["note"]["text"]) == (0, text.strip())
    assert json.loads(out)["note"]["title"]


def test_a_folder_that_holds_something_is_not_written_into(play: Play, refused: Callable[..., Any]) -> None:
    (play.root / "out").mkdir()
    (play.root / "out" / "stdout.txt").write_text("precious")
    for folder in ("out", ".git/out", ".memento/out"):
        refused("folder_taken", 1, "evidence", "run", "--out", str(play.root / folder), "--", "true")
    assert (play.root / "out" / "stdout.txt").read_text() == "precious"


@pytest.mark.parametrize(
    "wrong",
    [
        "lease: 0s",
        "lease: 00m",
        "verify: [{commands: [{run: ['']}]}]",
        "verify: [{commands: [{run: [x], timeout: 0s}]}]",
    ],
)
def test_policy_with_a_length_or_a_program_that_is_none_is_told(play: Play, cli: Any, wrong: str) -> None:
    play.commit(".memento/config.yaml", f"version: 1\npolicy: {{{wrong}}}\n")
    code, out, _ = cli("check", "--no-base", "-C", str(play.root))
    assert (code, "config.yaml:2: F002 error" in out) == (5, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("apply", "-"),
        ("note", "add", "@-"),
        ("task", "add", "--title", "x", "--body", "@-"),
        ("task", "add", "--from-event", "-"),
        ("plan", "draft", "--title", "x", "--body", "@-"),
        ("evidence", "check", "-"),
        ("preflight", "--text", "-"),
    ],
)
def test_a_closed_standard_input_is_told(
    play: Play, refused: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    play.run()
    monkeypatch.setattr(sys, "stdin", None)
    assert "closed" in refused("input_closed", 2, *arguments)["message"]


def test_a_command_that_reads_nothing_needs_no_standard_input(play: Play) -> None:
    play.run()
    told = subprocess.run(
        ["sh", "-c", '"$0" -m memento_git status <&- && "$0" -m memento_git apply - <&-', sys.executable],
        cwd=play.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 2
    assert told.stdout
    assert "[input_closed]" in told.stderr


@pytest.mark.parametrize(
    ("verb", "known"),
    [("claim", "claimed"), ("task.claim", "claimed"), ("note.claimed", "added"), ("run.failed", "gate.failed")],
)
def test_a_verb_that_no_event_has_is_refused_with_those_that_are_known(
    play: Play, refused: Callable[..., dict[str, Any]], verb: str, known: str
) -> None:
    play.run()
    hint = refused("verb_unknown", 2, "log", "--verb", verb)["hint"]
    assert known in hint.removeprefix("one of: ").split(", ")


@pytest.mark.parametrize(
    "words",
    [
        ("evidence", "add"), ("evidence", "add", "--uri"), ("evidence", "run", "--report"),
        ("evidence", "run", "--covers"), ("task", "add", "--title", "T", "--file"), ("note", "add", "N", "--about"),
    ],
)  # fmt: skip
def test_a_file_whose_name_is_not_utf8_is_refused_before_anything_runs(
    play: Play, refused: Callable[..., Any], words: tuple[str, ...]
) -> None:
    name = "caf\udce9.txt"
    play.planned()
    play.commit(name, "x")
    rest = ("--", sys.executable, "-c", "open('ran', 'w')") if "run" in words else ()
    answer = refused("text_invalid", 1, *words, f"file:{name}" if "--uri" in words else name, *rest)
    assert "is not UTF-8" in answer["message"]
    assert not (play.root / "ran").exists()


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("echo build && make test", "&&"),
        ("pytest -q; ruff check", ";"),
        ("make || true", "||"),
        ("make | tee log", "|"),
        ("make > log 2>&1", "> log"),
        ("make &", "&"),
        ("CI=1 make", "CI=1"),
        ("test -n $CI", "$CI"),
        ('echo "$(make)"', "$(make)"),
        ("echo `make`", "`make`"),
    ],
)
@pytest.mark.parametrize("verb", [("task", "add"), ("plan", "draft", "--body", "B")], ids=lambda verb: verb[0])
def test_a_command_line_for_a_shell_is_no_check(
    play: Play, refused: Callable[..., Any], cli: Call, verb: tuple[str, ...], command: str, part: str
) -> None:
    play.run()

    answer = refused("command_for_shell", 1, *verb, "--title", "T", "--check", command)

    assert part in answer["message"]
    (_, line) = shlex.split(answer["hint"].partition(": ")[2])
    assert shlex.split(line) == ["sh", "-c", command]
    assert cli("-C", str(play.root), *verb, "--title", "T", "--check", line)[0] == 0


@pytest.mark.parametrize(
    "command",
    [
        "pytest -k 'a and not b' --cov=app",
        "find . -name '*.py' -exec python -m py_compile {} \\;",
        "grep -q 'a && b | c; $X' app.py",
        "[ -f app.py ]",
        "sh -c 'make && make test'",
        "git log --format=%h -1",
        "make CI=1",
    ],
)
def test_a_command_that_needs_no_shell_is_a_check(play: Play, cli: Call, command: str) -> None:
    play.run()

    code, out, _ = cli("-C", str(play.root), "--json", "task", "add", "--title", "T", "--check", command)

    assert code == 0
    task = json.loads(out)["task"]["id"]
    (row,) = json.loads(cli("-C", str(play.root), "--json", "task", "show", task)[1])["task"]["verification_policy"][
        "commands"
    ]
    assert row["run"] == shlex.split(command)


def test_an_empty_name_is_not_the_name_of_git(
    play: Play, cli: Any, refused: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("", "   "):
        refused("actor_invalid", 2, "run", "start", "--goal", "x", "--actor", name)
        refused("actor_invalid", 2, "start", "--goal", "x", "--actor", name)
    code, out, _ = cli("--actor", "", "-C", str(play.root), "--json", "run", "start", "--goal", "x")
    assert (code, json.loads(out)["error"]) == (2, "actor_invalid")
    monkeypatch.setenv("MEMENTO_ACTOR", "")
    assert cli("-C", str(play.root), "run", "start", "--goal", "x")[0] == 0


@pytest.mark.parametrize(
    "name", ["Grace <grace@x> <ada@x>", "Grace <ada@x", "<ada@x>", "Grace <a <b>>", "Grace<ada@x>"]
)
def test_a_name_with_two_addresses_or_half_of_one_is_nobodys(play: Play, cli: Any, name: str) -> None:
    code, out, err = cli("run", "start", "--goal", "x", "--actor", name, "-C", str(play.root))
    assert (code, out, "[actor_invalid]" in err, "NAME <ADDRESS>" in err) == (2, "", True, True)
