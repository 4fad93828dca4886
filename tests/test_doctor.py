"""doctor: each thing that can be wrong is found, named, and has a remedy."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger.git_status import UncommittedLedger
from memento_git.ledger.store import Ledger
from memento_git.verbs import doctor
from memento_git.work.actions import hooks, runs, tasks
from tests.play import Play, git, take_out

if TYPE_CHECKING:
    from tests.play import Call


def found(play: Play, status: str) -> list[str]:
    return [f"{answer.name}: {answer.message}" for answer in doctor.examine(play.ledger) if answer.status == status]


def test_a_sound_ledger_is_ok(play: Play, run: str, cli: Call) -> None:
    play.proven()

    code, out, _ = cli("doctor", "-C", str(play.root), "--json")

    answer = json.loads(out)
    assert (code, answer["ok"]) == (0, True)
    assert {check["status"] for check in answer["checks"]} == {"ok"}


def test_a_rule_that_the_scanner_does_not_have_is_told(play: Play) -> None:
    play.policy("  allow_secrets: [github, github-token]\n")
    told = "policy: policy.allow_secrets names github, which is no rule of the scanner: it lets nothing through"
    assert [f"{one.name}: {one.message}" for one in doctor.examine(play.ledger) if one.name == "policy"] == [told]


def test_a_release_that_asks_for_no_approval_of_those_whose_would_count_is_told(play: Play, run: str) -> None:
    told = "policy: policy.release says whose approvals count, and asks for none: anybody may pass the gate without one"
    for idle in ("approvers: [Grace]", "not_author: true"):
        play.policy(f"  release: {{{idle}}}\n")
        assert found(play, "warn") == [told]
        play.policy(f"  release: {{{idle}, approvals: 1}}\n")
        assert found(play, "warn") == []


@pytest.mark.parametrize("pattern", ["{src,lib}/**", "!src/a.py", "src\\**", " src", "../src", "scr/*.py", "src/?"])
def test_a_pattern_of_policy_that_names_no_file_is_told(play: Play, pattern: str) -> None:
    (play.root / "src").mkdir()
    (play.root / "src" / "a.py").write_text("a = 1\n")
    play.commit_all()
    rule = "  verify:\n  - when: {{files: ['src/**', 'src/?.py', ./src, {}]}}\n    evidence: [test]\n"
    play.policy(rule.format(json.dumps(pattern)))
    told = f"policy: policy.verify asks something of what {pattern!r} names, and that is no file here"
    assert found(play, "warn") == [told]


def test_a_client_that_is_set_up_in_part_or_starts_nothing_is_told(
    play: Play, run: str, cli: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(tools))
    lost = "clients: Claude Code is set up to start {}, which is not found from here"
    assert cli("client", "install", "claude-code", "-C", str(play.root), "--yes")[0] == 0
    assert found(play, "warn") == [lost.format("memento")]
    for program in (tools / "memento", play.root / "venv" / "memento"):
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    assert found(play, "warn") == []
    server, hooks_of = play.root / ".mcp.json", play.root / ".claude" / "settings.json"
    server.write_text(server.read_text().replace('"memento",', '"venv/memento",'))
    hooks_of.write_text(hooks_of.read_text().replace('"memento client', f'"{tmp_path}/gone/memento client'))
    assert found(play, "warn") == [lost.format(f"{tmp_path}/gone/memento")]
    for was, becomes in ((f"{tmp_path}/gone/memento", "~/memento"), ("~/memento", "cd . && memento")):
        hooks_of.write_text(hooks_of.read_text().replace(f'"{was} client', f'"{becomes} client'))
        assert found(play, "warn") == []
    before = git(play.root, "status", "--short")
    served, hooks = server.read_text(), [*json.loads(hooks_of.read_text())["hooks"].items()]
    part = ["clients: Claude Code is set up in part"]
    for text, kept, state, warned in (("{}", 3, "hooks", []), ("{}", 1, "partly", part), (served, 0, "server", [])):
        server.write_text(text)
        hooks_of.write_text(json.dumps({"hooks": dict(hooks[:kept])}))
        assert found(play, "warn") == warned
        assert json.loads(cli("client", "-C", str(play.root), "--json")[1])["clients"][0]["state"] == state
    assert git(play.root, "status", "--short") == before


@pytest.mark.parametrize(("head", "by"), [
    ("#!{}", "/gone/bin/python"), ("#! {} -I", "/gone/bin/python"),
    ("#!/bin/sh\n'''exec' {} \"$0\" \"$@\"", "/gone/bin/python"),
    ("#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\"", "/gone bin/python"),
    ("#!/usr/bin/env python3", ""), ("#!/bin/sh\nexec gone", ""), ("\x7fELF\udcff", ""),
])  # fmt: skip
def test_a_script_whose_environment_is_gone_is_told_and_nothing_is_started(
    play: Play, run: str, cli: Call, head: str, by: str
) -> None:
    program = play.root / "venv" / "memento"
    program.parent.mkdir()
    program.write_bytes(f"{head.format(by)}\ntouch {play.root}/started\n".encode(errors="surrogateescape"))
    program.chmod(0o755)
    cli("client", "install", "vscode", "-C", str(play.root), "--yes")
    server = play.root / ".vscode" / "mcp.json"
    server.write_text(server.read_text().replace('"memento",', '"venv/memento",'))
    told = f"clients: VS Code is set up to start venv/memento by {by}, which is not found from here"
    assert found(play, "warn") == [told] * bool(by)
    assert not (play.root / "started").exists()


def test_removed_evidence_is_found(play: Play, run: str, cli: Call) -> None:
    task = play.proven()
    evidence = play.state(task).ids("evidence")[0]
    take_out(play.root, f".memento/runs/*/evidence/*/{evidence}.yaml", message="tidy")

    code, out, _ = cli("doctor", "-C", str(play.root))

    assert code == 1
    assert evidence in out
    assert not play.is_proven(task)
    assert any(told.startswith(f"run {run}: ") and evidence in told for told in found(play, "fail"))


def test_a_plan_that_cannot_be_read_is_found(play: Play, run: str) -> None:
    state = play.state(run)
    play.commit(state.index.prose[state.canonical], "---\nid: [\n---\n", "broken")
    assert any("plan.md" in line for line in found(play, "fail"))


def test_a_removed_event_makes_its_record_incomplete(play: Play, run: str) -> None:
    task = play.proven()
    take_out(play.root, f".memento/runs/*/tasks/*/{task}/*-claimed-*.yaml", message="tidy")

    assert any("incomplete" in line for line in found(play, "fail"))
    assert not any("all legal and whole" in line for line in found(play, "ok"))
    assert not play.is_proven(task)


@pytest.mark.parametrize(("place", "old", "new", "told"), [
    ("tasks/*/*/*-claimed-*.yaml", "Ada", "Eve", "is not the file it names"),
    ("evidence/*/*.yaml", "outcome: passed", "outcome: observed", "whose bytes are others now"),
    ("evidence/*/*/stdout.txt", "checked", "all 900 passed", "has other bytes than it recorded"),
])  # fmt: skip
def test_an_edited_file_is_found_and_proves_nothing(
    play: Play, run: str, place: str, old: str, new: str, told: str
) -> None:
    task = play.proven()
    path = next(play.root.glob(f".memento/runs/*/{place}"))
    play.commit(path, path.read_text().replace(old, new))

    assert any(told in line for line in found(play, "fail"))
    assert not play.is_proven(task)


def test_a_file_that_is_not_the_ledgers_is_named(play: Play, run: str) -> None:
    (play.root / ".memento" / "runs" / run / "notes.txt").write_text("mine\n")
    assert any("uncommitted" in line for line in found(play, "warn"))
    play.commit_all()
    assert any("not part of the ledger's layout" in line for line in found(play, "warn"))


def test_uncommitted_edits_a_detached_head_and_an_ignored_ledger_are_warnings(play: Play, run: str) -> None:
    (play.root / ".git" / "info" / "exclude").write_text(".memento\n")
    git(play.root, "switch", "-q", "--detach")
    (play.root / ".memento" / "config.yaml").write_text("version: 1\n")

    warnings = "\n".join(found(play, "warn"))

    assert "detached" in warnings
    assert "ignores .memento" in warnings
    assert "not counted: .memento/config.yaml" in warnings


def test_nobody_is_told_to_commit_that_a_clone_without_a_checkout_has_no_ledger(
    play: Play, run: str, tmp_path: Path
) -> None:
    task = play.task()
    git(tmp_path, "clone", "-q", "--no-checkout", str(play.root), "there")
    there = Play(Ledger.open(tmp_path / "there", actor="Ada"))
    (told,) = [answer for answer in doctor.examine(there.ledger) if answer.name == "uncommitted"]
    with pytest.raises(UncommittedLedger) as caught:
        there.do(tasks.revise_task, task, title="Another")
    assert "git checkout HEAD -- .memento" in told.fix
    assert "git checkout HEAD -- .memento" in caught.value.hint
    assert "overwrites edits there" in caught.value.hint
    git(there.root, "reset", "-q", "--", ".memento/config.yaml")
    (told,) = [answer for answer in doctor.examine(there.ledger) if answer.name == "uncommitted"]
    assert told.fix == "commit them, or put them back", "for one of them may have been removed on purpose"


def test_a_conflict_that_a_merge_left_is_not_told_to_be_put_back(play: Play) -> None:
    path = next((play.root / ".memento").rglob(f"{play.run()}/run.md"))
    git(play.root, "checkout", "-q", "-b", "other")
    play.commit(path, path.read_text() + "\nMore.\n", "more")
    git(play.root, "checkout", "-q", "main")
    take_out(play.root, str(path), message="less")
    git(play.root, "merge", "-q", "other", check=False)
    (told,) = [answer for answer in doctor.examine(play.ledger) if answer.name == "uncommitted"]
    assert told.fix == "commit them, or put them back"


def test_a_missing_identity_fails(play: Play, monkeypatch: Any) -> None:
    from memento_git.ledger.store import Ledger

    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    monkeypatch.setenv("EMAIL", "")
    git(play.root, "config", "user.useConfigOnly", "true")
    with Ledger.open(play.root) as opened:
        answers = {answer.name: answer for answer in doctor.examine(opened)}
    assert answers["identity"].status == "fail"
    assert "git config" in answers["identity"].fix


def test_an_expired_claim_is_reported_and_removed_by_fix(play: Play) -> None:
    from memento_git.ledger.store import Ledger

    play.planned()
    play.claimed(play.task())
    assert git(play.root, "for-each-ref", "refs/memento/claims")
    with Ledger.open(play.root, clock=lambda: 4_000_000_000.0) as later:
        assert any(answer.name == "claims" and answer.status == "warn" for answer in doctor.examine(later))
        doctor.examine(later, fix=True)
    assert git(play.root, "for-each-ref", "refs/memento/claims") == ""


KILLED_WHILE_WRITING = """
import pathlib, resource, signal, sys
from memento_git.ledger import atomic_file
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
atomic_file.write(pathlib.Path(sys.argv[1]), b"more than ten bytes")
"""


def test_what_a_kill_left_half_written_in_the_git_directory_is_reported_and_removed_by_fix(play: Play) -> None:
    folder = play.root / ".git" / "memento" / "cache"
    done = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(folder / "x.json")], check=False)
    (half,) = folder.glob("x.json.*")
    assert (done.returncode, half.read_bytes()) == (-signal.SIGXFSZ, b"more than ")
    assert "half-written files" not in {answer.name for answer in doctor.examine(play.ledger)}
    with Ledger.open(play.root, clock=lambda: time.time() + 4000) as later:
        (told,) = (answer for answer in doctor.examine(later) if answer.name == "half-written files")
        assert (told.status, str(half) in told.message, told.fix) == ("warn", True, "memento doctor --fix")
        doctor.examine(later, fix=True)
    assert not half.exists()


def test_fix_removes_the_folders_that_killed_commands_worked_in_aside(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed = "import os; from memento_git.ledger import scratch; made = scratch.folder(); os._exit(9)"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", killed], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    old, young = tmp_path.glob("memento-*")
    theirs = tmp_path / "memento-kept"  # as what a command showed is kept where the git directory cannot be written
    theirs.mkdir()
    for path in (old, theirs):
        os.utime(path, (0, 0))
    (told,) = (answer for answer in doctor.examine(play.ledger, fix=True) if answer.name == "folders aside")
    assert told.message == f"removed 1 folder that a kill left: {old}"
    assert sorted(tmp_path.glob("memento-*")) == sorted([young, theirs])


def test_fix_removes_what_an_older_version_kept_once_none_is_at_work_here_any_more(play: Play) -> None:
    folder = play.root / ".git" / "memento" / "cache"
    play.run()
    play.overview()
    (mine,) = folder.glob("run_????????????.json")
    old = {"notes.all.json": '{"key": "0.1.0.7:x", "value": {}}\n', "listing.old.txt": "0.1.0.7:x\nlines\n"}
    for name, text in {**old, "of_others.json": '{"key": "mine"}', "list.txt": "milk: 2\n"}.items():
        (folder / name).write_text(text)
    with Ledger.open(play.root) as early:
        assert "cache" not in {answer.name for answer in doctor.examine(early, fix=True)}
    with Ledger.open(play.root, clock=lambda: time.time() + 8 * 24 * 3600) as later:
        (told,) = (answer for answer in doctor.examine(later, fix=True) if answer.name == "cache")
    assert (told.status, told.message[:16]) == ("ok", "removed 2 files ")
    assert {path.name for path in folder.iterdir()} >= {mine.name, "of_others.json", "list.txt"}
    assert not [name for name in old if (folder / name).exists()]


def test_what_lies_in_worktrees_below_the_git_directory_is_no_half_written_file(play: Play, cli: Call) -> None:
    git(play.root, "config", "memento.worktrees", ".git/memento/worktrees")
    play.planned()
    at = ("-C", str(play.root))
    made = cli("dispatch", "create", play.task(), "--executor", "x", "--worktree", "--json", *at)[1]
    theirs = Path(json.loads(made)["worktree"]) / "run.20261128-deadbeef"
    theirs.write_text("mine")
    with Ledger.open(play.root, clock=lambda: time.time() + 4000) as later:
        assert "half-written files" not in {answer.name for answer in doctor.examine(later, fix=True)}
    assert theirs.read_text() == "mine"


def test_a_secret_in_a_committed_text_is_found(play: Play, run: str) -> None:
    path = play.root / ".memento" / "runs" / run / "run.md"
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJ3kL6"
    play.commit(path, path.read_text() + f"use {token}\n")

    lines = [line for line in found(play, "fail") if line.startswith("secrets")]

    assert len(lines) == 1
    assert token not in lines[0]


def test_what_is_wrong_with_a_recipe_and_beside_the_ledger_is_found_as_check_finds_it(play: Play, cli: Call) -> None:
    play.run()
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    recipe = play.root / ".memento" / "recipes" / "open.yaml"
    recipe.parent.mkdir()
    recipe.write_text(f"describe: the key is {key}\n")
    (play.root / ".Memento").mkdir()
    (play.root / ".Memento" / "x").write_text("x")
    play.commit_all()
    assert cli("check", "--no-base", "-C", str(play.root))[0] == 5

    code, out, _ = cli("doctor", "-C", str(play.root), "--json")

    told = {check["name"]: check for check in json.loads(out)["checks"] if check["status"] == "fail"}
    assert (code, {*told}, key in out) == (1, {"recipes", "files"}, False)
    assert "differs from .memento in case alone" in told["files"]["message"]
    assert "looks like a secret (AWS Access Key)" in out


def test_a_revision_is_checked_for_its_ledger_alone(play: Play, run: str, cli: Call) -> None:
    task = play.proven()
    sound = git(play.root, "rev-parse", "HEAD")
    path = next(play.root.glob(f".memento/runs/*/tasks/*/{task}/*-claimed-*.yaml"))
    play.commit(path, path.read_text().replace("Ada", "Eve"))

    there = json.loads(cli("doctor", "-C", str(play.root), "--json", "--at", sound)[1])
    here = json.loads(cli("doctor", "-C", str(play.root), "--json", "--at", "HEAD")[1])
    both = cli("doctor", "-C", str(play.root), "--at", "HEAD", "--fix")

    assert (there["ok"], here["ok"]) == (True, False)
    assert {check["name"].split()[0] for check in there["checks"]} == {"ledger", "run", "notes"}
    assert both[0] == 2


def test_an_index_that_git_cannot_read_stops_no_reading_and_doctor_says_how_to_make_it_anew(
    play: Play, cli: Call
) -> None:
    run = play.run()
    (play.root / ".git" / "index").write_text("x")
    assert cli("status", "-C", str(play.root))[0] == 0
    assert cli("task", "add", "--title", "T", "-C", str(play.root), "--json")[0] == 4

    code, out, _ = cli("doctor", "-C", str(play.root), "--json")

    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    assert (code, checks["index"]["status"], checks["uncommitted"]["status"]) == (1, "fail", "fail")
    assert checks[f"run {run}"]["status"] == "ok"
    assert "doctor" not in out.replace("memento doctor --fix", "")
    pasted = checks["index"]["fix"].partition(": ")[2]
    subprocess.run(pasted, shell=True, check=True, cwd=play.root)
    assert cli("task", "add", "--title", "T", "-C", str(play.root))[0] == 0
    assert git(play.root, "status", "--short") == ""


def test_a_repository_that_git_does_not_open_is_told_in_gits_words_and_not_sent_to_doctor(
    play: Play, cli: Call
) -> None:
    with (play.root / ".git" / "config").open("a") as config:
        config.write("[\n")
    for command in ("status", "doctor"):
        code, out, _ = cli(command, "-C", str(play.root), "--json")
        answer = json.loads(out)
        assert (code, answer["error"], "doctor" in answer["hint"]) == (4, "repository_unreadable", False)
        assert "bad config line" in answer["message"]


def test_what_stands_in_the_place_of_our_folder_ends_no_other_check(play: Play) -> None:
    play.run()
    shutil.rmtree(play.root / ".git" / "memento")
    (play.root / ".git" / "memento").write_text("x")

    told = {answer.name: answer for answer in doctor.examine(play.ledger)}

    assert told["identity"].status == "ok"
    assert (told["ledger"].status, "memento/journal: Not a directory" in told["ledger"].message) == ("fail", True)


def test_locks_that_were_left_behind_and_folders_without_permission_are_told(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = play.root / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    assert any("refs/heads/main.lock exists" in line for line in found(play, "warn"))
    lock.unlink()
    assert found(play, "warn") == []
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "objects" not in str(path) and real(path, mode))
    assert any("objects cannot be written" in line for line in found(play, "fail"))
    play.planned()
    monkeypatch.setattr(os, "access", lambda *_: False)
    (line,) = [line for line in found(play, "fail") if "cannot be written" in line]
    assert f"{play.root / '.git'}, and " in line
    assert int(re.search(r"and (\d+) more folders", line)[1]) > 5  # type: ignore[index]


def test_where_git_ignores_the_ledger_is_told(play: Play) -> None:
    (play.root / ".git" / "info").mkdir(exist_ok=True)
    (play.root / ".git" / "info" / "exclude").write_text("# mine\n.memento\n")

    told = next(answer for answer in doctor.examine(play.ledger) if answer.name == "ignored")

    assert told.fix == "take it out: .git/info/exclude:2:.memento"


def test_a_partial_clone_whose_remote_is_away_says_so_everywhere(play: Play, cli: Call, tmp_path: Path) -> None:
    play.run()
    git(play.root, "config", "uploadpack.allowFilter", "true")
    there = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", play.root.as_uri(), str(there))
    git(there, "remote", "set-url", "origin", str(tmp_path / "away"))

    code, out, _ = cli("status", "-C", str(there), "--json")
    assert (code, json.loads(out)["error"]) == (4, "objects_away")
    assert "could not fetch" in json.loads(out)["message"]
    told = next(answer for answer in doctor.examine(play.beside(there).ledger) if answer.name == "ledger")
    assert (told.status, "doctor" in told.fix, "git ls-remote" in told.fix) == ("fail", False, True)
    git(there, "remote", "set-url", "origin", str(play.root))
    assert cli("status", "-C", str(there))[0] == 0
    git(tmp_path, "clone", "-q", "--filter=tree:0", play.root.as_uri(), "treeless")
    git(tmp_path / "treeless", "remote", "set-url", "origin", str(tmp_path / "away"))
    code, out, _ = cli("log", "--commits", "-C", str(tmp_path / "treeless"), "--json")
    assert (code, json.loads(out)["error"]) == (4, "objects_away")


def test_a_renamed_file_that_a_partial_clone_lacks_is_not_fetched(play: Play, tmp_path: Path) -> None:
    lines = "".join(f"line {number}\n" for number in range(60))
    (play.root / "old.txt").write_text(lines)
    play.commit_all()
    git(play.root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "-n", "--filter=blob:none", play.root.as_uri(), "partial")
    there = tmp_path / "partial"
    git(there, "remote", "set-url", "origin", str(tmp_path / "away"))
    git(there, "read-tree", "HEAD")
    git(there, "rm", "-q", "--cached", "old.txt")
    (there / "new.txt").write_text(f"{lines}more\n")
    git(there, "add", "new.txt")
    assert "work tree" not in {answer.name for answer in doctor.examine(play.beside(there).ledger)}


def test_a_clone_whose_lender_is_gone_says_so(play: Play, cli: Call, tmp_path: Path) -> None:
    play.run()
    git(tmp_path, "clone", "-q", "--bare", str(play.root), "lender")
    git(tmp_path, "clone", "-q", "--shared", str(tmp_path / "lender"), "borrower")
    assert cli("doctor", "-C", str(tmp_path / "borrower"))[0] == 0
    (tmp_path / "lender").rename(tmp_path / "moved")
    code, _, err = cli("check", "anchors", "-C", str(tmp_path / "borrower"))
    assert code == 4, err
    code, out, _ = cli("doctor", "-C", str(tmp_path / "borrower"), "--json")
    told = next(check for check in json.loads(out)["checks"] if check["name"] == "objects")
    assert (code, told["status"]) == (1, "fail")
    assert f"{tmp_path / 'lender' / 'objects'}, which is gone" in told["message"]


@pytest.mark.parametrize("key", ["clean", "process"])
def test_a_filter_that_git_needs_and_cannot_run_is_told(play: Play, cli: Call, key: str) -> None:
    for option, value in (("clean", "cat"), ("required", "true")):
        git(play.root, "config", f"filter.large.{option}", value)
    (play.root / ".gitattributes").write_text("*.bin filter=large\n")
    (play.root / "a.bin").write_text("a")
    play.commit_all()
    git(play.root, "config", f"filter.large.{key}", "/nowhere/large process")
    (play.root / "a.bin").write_text("b")
    told = cli("code", "ls", "-C", str(play.root))
    assert (told[0], "/nowhere/large" in told[2]) == (4, True)
    code, out, _ = cli("doctor", "-C", str(play.root), "--json")
    failed = next(check for check in json.loads(out)["checks"] if check["status"] == "fail")
    assert (code, "/nowhere/large" in failed["message"], "git status" in failed["fix"]) == (1, True, True)


@pytest.mark.parametrize("path", ["", "elsewhere", "../hooks"])
def test_hooks_that_git_passes_over_are_told(play: Play, run: str, path: str) -> None:
    git(play.root, "config", "core.hooksPath", path)
    assert found(play, "warn") == [], "there are none of ours"
    git(play.root, "config", "--unset", "core.hooksPath")
    hooks.install(play.ledger.git)
    assert found(play, "warn") == []
    git(play.root, "config", "core.hooksPath", path)
    told = "hooks: git does not run pre-commit and post-merge of .git/hooks: core.hooksPath leads elsewhere"
    assert found(play, "warn") == [told]


def test_what_policy_asks_since_several_runs_ended_is_one_line(play: Play, cli: Call) -> None:
    ended = []
    for _ in "abc":
        ended.append(play.planned())
        play.proven()
        play.do(runs.complete_run, ended[-1])
    play.policy("  gates: {required: [quality_review]}\n")

    told = [line for line in cli("doctor", "-C", str(play.root))[1].splitlines() if line.startswith("warn")]
    code, out, _ = cli("doctor", "-C", str(play.root), "--json")

    assert len(told) == 1
    assert "and 2 more like it: " in told[0]
    assert all(run in told[0] for run in ended)
    assert (code, [check["status"] for check in json.loads(out)["checks"]].count("warn")) == (0, 3)
