"""check: what is wrong in a tree, and what a branch did to its base, is found, named, and blamed on the right side."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge.actions import notes
from memento_git.ledger import archive, codec, grep, layout
from memento_git.ledger.filetable import FileTable
from memento_git.ledger.git_status import UncommittedLedger
from memento_git.ledger.store import Ledger
from memento_git.review import actions, actors, jobs
from memento_git.work.actions import dispatches, evidences, plans, runs, settling, tasks
from tests.play import add, git, made_of, merge_into, take_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from memento_git.ledger.tree_listing import TreeListing
    from memento_git.model.finding import Finding
    from tests.play import Play


def codes(findings: list[Finding]) -> list[str]:
    """Return the codes found, without the notes on who committed."""
    return sorted(f"{one.code} {one.severity}" for one in findings if one.code not in ("C002", "C001"))


def look(play: Play, **options: Any) -> list[str]:
    return codes(actions.check(play.ledger, **options).findings)


def path_of(play: Play, pattern: str) -> Path:
    return next((play.root / ".memento" / "runs").glob(f"*/{pattern}"))


def proven_and_left(play: Play) -> None:
    play.proven("One")
    git(play.root, "switch", "-qc", "work")


@pytest.fixture
def original(original: Path, made: Path, request: pytest.FixtureRequest) -> Path:
    return made_of(original, made / "branch", proven_and_left) if "branch" in request.fixturenames else original


@pytest.fixture
def branch(play: Play, run: str) -> Play:
    """A ledger with a proven task on main, and a branch that begins there."""
    return play


def test_a_sound_ledger_has_nothing_wrong(branch: Play, cli: Any) -> None:
    branch.proven("Two")
    assert look(branch) == look(branch, base="main") == []
    assert cli("check", "-C", str(branch.root))[0] == 0
    told = json.loads(cli("check", "-C", str(branch.root), "--no-base", "--format", "json")[1])
    held = git(branch.root, "ls-files", ".memento/runs").split()
    assert (told["ok"], told["checked"]) == (True, len(held)), "and not what stands beside the runs"


def test_a_check_against_a_base_asks_git_nothing_twice(
    branch: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch.proven("Two")
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(log := tmp_path / "trace"))
    with Ledger.open(branch.root, clock=branch.ledger.clock) as ledger:
        assert codes(actions.check(ledger, base="main").findings) == []
    monkeypatch.delenv("GIT_TRACE2_EVENT")
    asked = [" ".join(json.loads(line)["argv"]) for line in log.read_text().splitlines() if '"event":"start"' in line]
    assert len(asked) == len({*asked})
    assert sum(" ls-tree " in one for one in asked) == 1


def test_git_looks_through_events_and_evidence_and_not_through_what_commands_printed(branch: Play) -> None:
    draft = evidences.witness(branch.ledger, ["echo", "do: x", "kind: y"], kind="test", quiet=True)
    evidence = branch.do(evidences.record_draft, draft, tasks=[branch.task()])
    branch.do(evidences.retract, evidence, reason="of something else")
    branch.do(notes.retire_note, add(branch, "It is so."), reason="not any more")
    view = branch.ledger.view()
    places = {path: place for path in view.files if (place := layout.place_of(path))}
    assert "attachment" in {place.kind for place in places.values()}
    (run,) = view.runs()
    for kind, where, pattern, word in (
        ("event", run, layout.events_pattern(run), "do: "),
        ("event", "", layout.events_pattern(""), "do: "),
        ("evidence", run, layout.evidence_pattern(run), "kind: "),
    ):
        wanted = [path for path, place in places.items() if (place.kind, place.run) == (kind, where)]
        assert sorted(grep.files(view.git, view.commits[0], pattern, [word])) == sorted(wanted) != []


def test_a_check_against_a_base_takes_its_files_not_apart_and_keeps_nothing(
    branch: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch.proven("Two")
    git(tmp_path, "clone", "-q", str(branch.root), "clone")
    taken: list[Sequence[str]] = []
    add = FileTable._add

    def count(table: FileTable, files: dict[str, str], listed: TreeListing) -> None:
        taken.append(table._commits)
        add(table, files, listed)

    monkeypatch.setattr(FileTable, "_add", count)
    with Ledger.open(tmp_path / "clone", clock=branch.ledger.clock) as ledger:
        assert codes(actions.check(ledger, base="origin/main").findings) == []
        assert taken == [ledger.view().commits]
    assert not (tmp_path / "clone" / ".git" / "memento").exists()


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("tasks/*/*/*-claimed-*.yaml", "D002 error"),
        ("evidence/*/*.yaml", "D004 error"),
        ("evidence/*/*/stdout.txt", "D004 error"),
        ("tasks/*/*/task.md", "D006 error"),
    ],
)
def test_a_removed_file_is_found_and_put_back(branch: Play, pattern: str, code: str) -> None:
    path = path_of(branch, pattern)
    before = path.read_bytes()
    path.unlink()
    branch.commit_all("tidy")
    assert code in look(branch, base="main")
    report = actions.check(branch.ledger, base="main", fix=True)
    assert codes(report.findings) == []
    assert report.fixed == (("restored", str(path.relative_to(branch.root))),)
    assert path.read_bytes() == before


def test_a_done_task_that_a_revert_took_out_is_put_back_and_can_be_reopened(branch: Play, cli: Any) -> None:
    task = path_of(branch, "tasks/*/*/task.md").parent.name
    path_of(branch, "tasks/*/*/*-completed-*.yaml").unlink()
    branch.commit_all("revert")
    step = f"memento task reopen {task} --reason WHY"
    where = ("check", "--base", "main", "--fix", "-C", str(branch.root))
    told = json.loads(cli(*where, "--json")[1])
    assert told["next"] == [{"why": "if its code was taken back too", "command": step}]
    git(branch.root, "reset", "-q", "--hard", "HEAD^")
    assert f" next, if its code was taken back too: {step}" in cli(*where)[1]
    assert "next" not in cli(*where)[1]


@pytest.mark.parametrize("pattern", ["tasks/*/*/*-claimed-*.yaml", "evidence/*/*/stdout.txt", "tasks/*/*/task.md"])
@pytest.mark.parametrize("to", ["../../run.md", "nowhere"])
def test_a_file_that_was_replaced_by_a_link_is_put_back_in_the_work_tree_too(
    branch: Play, pattern: str, to: str
) -> None:
    path = path_of(branch, pattern)
    before = path.read_bytes()
    path.unlink()
    path.symlink_to(to)
    branch.commit_all("linked")
    assert "F004 error" in look(branch, base="main")

    assert codes(actions.check(branch.ledger, base="main", fix=True).findings) == []
    assert (path.is_symlink(), path.read_bytes()) == (False, before)
    assert git(branch.root, "status", "--short") == ""


def test_a_link_of_the_users_own_is_left_where_it_is(branch: Play) -> None:
    path = path_of(branch, "tasks/*/*/task.md")
    path.unlink()
    branch.commit_all("tidy")
    path.symlink_to("mine")
    actions.check(branch.ledger, base="main", fix=True)
    assert (path.is_symlink(), str(path.readlink())) == (True, "mine")


def test_what_is_staged_where_a_file_would_be_put_back_is_kept(branch: Play) -> None:
    path = path_of(branch, "tasks/*/*/task.md")
    path.unlink()
    branch.commit_all("tidy")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine\n")
    git(branch.root, "add", "--all")
    before = git(branch.root, "status", "--short")
    with pytest.raises(UncommittedLedger):
        actions.check(branch.ledger, base="main", fix=True)
    assert git(branch.root, "status", "--short") == before


@pytest.mark.parametrize(
    ("pattern", "old", "new", "code"),
    [
        ("tasks/*/*/*-claimed-*.yaml", "Ada", "Eve", "D001 error"),
        ("evidence/*/*.yaml", "summary", "summary", "D003 error"),
        ("evidence/*/*/stdout.txt", "checked", "all is well", "D003 error"),
    ],
)
def test_a_changed_event_or_evidence_is_found_and_put_back(
    branch: Play, pattern: str, old: str, new: str, code: str
) -> None:
    path = path_of(branch, pattern)
    before = path.read_text()
    branch.commit(path, before.replace(old, new) if old != new else before + "summary: better\n", "edited")
    assert code in look(branch, base="main")
    assert codes(actions.check(branch.ledger, base="main", fix=True).findings) == []
    assert path.read_text() == before


def test_no_file_of_the_ledger_can_be_broken_unseen(branch: Play) -> None:
    play = branch
    play.evidence()
    play.do(plans.draft_plan, "Not approved", "Do it otherwise.")
    play.do(plans.reject_plan, play.do(plans.draft_plan, "Rejected", "Do it badly."), reason="no")
    play.do(tasks.cancel_task, play.task("Cancelled"), reason="not wanted")
    play.dispatch(play.task("Handed out"))
    texts = [play.do(notes.add_note, text).id for text in ("Tokens live a day.", "The cache is per process.")]
    play.do(notes.retire_note, texts[0], reason="users asked")
    sound = git(play.root, "rev-parse", "HEAD")
    files = git(play.root, "ls-files", ".memento/*.yaml", ".memento/*/*.md").split()
    assert len(files) >= 20
    for name in files:
        play.commit(name, "broken: [\n", "broken")
        for base in ("", sound):
            found = actions.check(play.ledger, base=base, no_base=not base).findings
            assert name in [one.path for one in found if one.severity == "error"], (name, base)
        git(play.root, "reset", "-q", "--hard", sound)


def test_what_was_wrong_at_the_base_is_told_apart_and_fails_nobody(play: Play, run: str, cli: Any) -> None:
    play.proven()
    path = path_of(play, "tasks/*/*/*-claimed-*.yaml")
    play.commit(path, path.read_text().replace("Ada", "Eve"), "edited long ago")
    git(play.root, "switch", "-qc", "work")
    play.task("Two")
    task = path_of(play, f"tasks/*/{path.parent.name}/task.md")
    play.commit(task, task.read_text() + "\nmore\n", "touched")
    code, out, _ = cli("check", "-C", str(play.root), "--base", "main")
    ours, _, before = out.partition("already wrong at the base")
    assert (code, "E003" in ours, "E003" in before) == (0, False, True)


def test_fix_holds_on_to_the_base_that_it_began_with(branch: Play, cli: Any) -> None:
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    branch.commit_all("tidy")
    code, out, _ = cli("check", "-C", str(branch.root), "--base", "HEAD~1", "--fix")
    assert (code, out.startswith("restored .memento/"), "nothing is wrong" in out) == (0, True, True)


def test_fix_puts_back_what_any_of_several_bases_has(branch: Play, cli: Any) -> None:
    root, first = str(branch.root), git(branch.root, "rev-parse", "main")
    path = branch.root / layout.prose_path(branch.state(task := branch.task("Here")).id, task)
    git(branch.root, "switch", "-q", "main")
    git(branch.root, "commit", "-q", "--allow-empty", "-m", "there")
    before = git(branch.root, "rev-parse", "HEAD")
    git(branch.root, "merge", "-q", "--no-ff", "--no-edit", "work")
    merge_into(branch.root, "work", before)
    path.unlink()
    branch.commit_all("tidy")
    assert len(git(branch.root, "merge-base", "--all", "main", "work").split()) == 2
    code, out, _ = cli("check", "-C", root, "--base", "main", "--fix")
    assert (code, out.startswith("restored .memento/"), path.exists()) == (0, True, True)
    git(branch.root, "switch", "-q", "--detach", first)
    git(branch.root, "commit", "-q", "--allow-empty", "-m", "beside")
    git(branch.root, "merge", "-q", "--no-ff", "--no-edit", "-s", "ours", "main")
    assert not path.exists()
    assert "D006" in cli("check", "-C", root, "--base", "HEAD^@")[1]
    assert cli("check", "-C", root, "--base", "HEAD^@", "--fix")[1].startswith("restored .memento/")
    assert path.exists()


def test_what_a_staged_merge_of_three_sides_drops_is_put_back_from_the_one_that_has_it(branch: Play, cli: Any) -> None:
    branch.task("One")
    git(branch.root, "switch", "-qc", "other", "main")
    path = layout.prose_path(branch.state(task := branch.task("Two")).id, task)
    git(branch.root, "switch", "-q", "main")
    git(branch.root, "merge", "-q", "--no-commit", "--no-ff", "work", "other")
    git(branch.root, "rm", "-qf", path)
    told = re.search("fix: put it back: (git checkout .*)", cli("check", "--staged", "-C", str(branch.root))[1])
    assert told is not None
    git(branch.root, *told[1].split()[1:])
    assert cli("check", "--staged", "-C", str(branch.root))[0] == 0


def test_edits_that_are_not_committed_are_announced(branch: Play, cli: Any) -> None:
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    code, _, err = cli("check", "-C", str(branch.root))
    assert (code, "not committed, so not checked: .memento/runs/" in err) == (0, True)
    assert err.endswith("; git add them, and memento check --staged looks at them\n")
    (told,) = json.loads(cli("check", "-C", str(branch.root), "--json")[1])["warnings"]
    assert told in err
    git(branch.root, "add", "--all")
    assert cli("check", "-C", str(branch.root), "--staged")[0] == 5


def test_a_task_flipped_to_done_by_hand_is_an_error(branch: Play) -> None:
    task = branch.task("Two")
    branch.commit("note.txt", "done, I think\n", "a file")
    shown = branch.do(evidences.add_evidence, "artifact", tasks=[task], files=["note.txt"])
    branch.complete(branch.claimed(task), shown)
    assert look(branch, base="main") == ["P001 error"]
    git(branch.root, "switch", "-q", "main")
    git(branch.root, "merge", "-q", "--ff-only", "work")
    assert look(branch) == ["P001 warning"]


@pytest.mark.parametrize("to", ["task-of-mine", "../../old-tasks/first"])
def test_a_renamed_task_folder_is_led_back_and_no_only_copy_taken_out(branch: Play, to: str) -> None:
    task = branch.task("Renamed")
    branch.complete(branch.claimed(task), branch.evidence(task))
    folder = path_of(branch, f"tasks/*/{task}")
    other = (folder.parent / to).resolve()
    other.parent.mkdir(exist_ok=True)
    git(branch.root, "mv", str(folder), str(other))
    if folder.parent.exists() and not any(folder.parent.iterdir()):
        folder.parent.rmdir()
    branch.commit_all("tidied up")

    found = actions.check(branch.ledger, no_base=True).findings
    fixes = {one.fix for one in found if one.code in ("F010", "L004")}
    assert {one.code for one in found} >= {"F010", "L004"}
    (fix,) = fixes
    assert "git mv " in fix
    assert "git rm" not in fix
    subprocess.run(fix, shell=True, check=True, cwd=branch.root)
    branch.commit_all("put back")
    assert look(branch, no_base=True) == []
    assert branch.is_proven(task)


@pytest.mark.parametrize(("to", "else_"), [("my-run", ""), ("run_aaaaaaaaaaaa", "repair that line, or ")])
def test_a_renamed_run_folder_is_led_back_as_a_whole(branch: Play, to: str, else_: str) -> None:
    folder = path_of(branch, "run.md").parent
    branch.task()
    git(branch.root, "mv", str(folder), str(folder.parent / to))
    branch.commit_all("tidied up")

    fixes = {one.fix for one in actions.check(branch.ledger, no_base=True).findings}
    runs = ".memento/runs"
    assert fixes == {f"{else_}git mv {runs}/{to} {runs}/{folder.name}"}
    subprocess.run(fixes.pop().removeprefix(else_), shell=True, check=True, cwd=branch.root)
    branch.commit_all("put back")
    assert look(branch, no_base=True) == []


@pytest.mark.parametrize("to", ["blocked.yaml", "20200101T000000000Z-blocked-aaaaaaaaaaaa.yaml"])
def test_a_renamed_event_is_given_its_name_again_and_never_taken_out(branch: Play, to: str) -> None:
    task = branch.task()
    branch.do(tasks.block_task, task, reason="waits")
    event = path_of(branch, f"tasks/*/{task}/*-blocked-*")
    git(branch.root, "mv", str(event), str(event.with_name(to)))
    branch.commit_all("tidied up")

    fixes = {one.fix for one in actions.check(branch.ledger, no_base=True).findings}
    names = (str(path.relative_to(branch.root)) for path in (event.with_name(to), event))
    assert fixes == {f"git mv {' '.join(names)}"}


def test_what_is_staged_beside_the_ledgers_layout_is_told_with_a_command_that_git_takes(branch: Play) -> None:
    task = branch.task()
    branch.do(tasks.block_task, task, reason="waits")
    event = path_of(branch, f"tasks/*/{task}/*-blocked-*")
    git(branch.root, "mv", str(event), str(event.with_name("blocked.yaml")))
    event.with_name("scratch.txt").write_text("mine\n")
    git(branch.root, "add", str(event.with_name("scratch.txt")))

    found = [one for one in actions.check(branch.ledger, staged=True).findings if one.code == "F010"]
    assert [one.fix.split()[1] for one in found] == ["mv", "rm"]
    for one in found:
        subprocess.run(one.fix, shell=True, check=True, cwd=branch.root)

    assert [one for one in actions.check(branch.ledger, staged=True).findings if one.path.startswith(".memento")] == []
    assert event.with_name("scratch.txt").read_text() == "mine\n"


def test_of_a_run_folder_that_was_begun_again_beside_the_renamed_one_each_file_is_led_back(branch: Play) -> None:
    folder = path_of(branch, "run.md").parent
    task = branch.task()
    branch.do(tasks.block_task, task, reason="waits")
    event = path_of(branch, f"tasks/*/{task}/*-blocked-*")
    was, to = event.relative_to(folder), folder.with_name("my-run")
    git(branch.root, "mv", str(folder), str(to))
    event.parent.mkdir(parents=True)
    git(branch.root, "mv", str(to / was), str(event))
    branch.commit_all("tidied up, and merged")

    fixes = {one.fix for one in actions.check(branch.ledger, no_base=True).findings if one.code == "F010"}
    for fix in sorted(fixes):
        subprocess.run(fix, shell=True, check=True, cwd=branch.root)
    branch.commit_all("put back")
    assert not git(branch.root, "ls-files", str(to))
    assert look(branch, no_base=True) == []


def test_an_event_that_was_renamed_twice_is_given_its_first_name(branch: Play) -> None:
    task = branch.task()
    branch.do(tasks.block_task, task, reason="waits")
    event = path_of(branch, f"tasks/*/{task}/*-blocked-*")
    names = [str(event.relative_to(branch.root))]
    for name in ("20200101T000000000Z-blocked-aaaaaaaaaaaa.yaml", "blocked.yaml"):
        names.append(str(event.with_name(name).relative_to(branch.root)))
        git(branch.root, "mv", *names[-2:])
        branch.commit_all("tidied up")

    assert {one.fix for one in actions.check(branch.ledger, no_base=True).findings} == {f"git mv {names[2]} {names[0]}"}


def test_where_history_cannot_be_read_a_file_that_is_not_the_ledgers_is_told_all_the_same(branch: Play) -> None:
    task = branch.task()
    stray = path_of(branch, f"tasks/*/{task}").relative_to(branch.root) / "notes.yaml"
    lost = git(branch.root, "rev-parse", "HEAD:.memento/runs")
    branch.commit(stray, "more\n", "notes")
    (branch.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()

    (found,) = actions.check(branch.ledger, no_base=True).findings
    assert (found.code, found.fix) == ("F010", f"git rm {stray}")


def test_what_only_an_archive_has_and_cannot_be_read_is_told(branch: Play) -> None:
    task = branch.task()
    folder = path_of(branch, f"tasks/*/{task}").relative_to(branch.root)
    packed = archive.pack({f"{folder}/20200101T000000000Z-blocked-aaaaaaaaaaaa.yaml": b"do: [\n"})
    path = branch.root / layout.archive_path(folder.parts[2], codec.digest_of(packed))
    path.parent.mkdir(parents=True)
    path.write_bytes(packed)
    branch.commit_all("an archive by hand")

    found = actions.check(branch.ledger, no_base=True).findings
    assert {one.code for one in found} == {"E001", "F001"}
    assert not any("git mv" in one.fix for one in found)


def test_what_lies_in_the_folder_of_a_skill_is_the_ledgers(branch: Play) -> None:
    for name in ("pdf/SKILL.md", "pdf/scripts/read.py", "SKILL.md"):
        path = branch.root / ".memento" / "skills" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("How to read a PDF.\n")
    branch.commit_all("a skill")
    odd = [one.path for one in actions.check(branch.ledger, base="main").findings if one.code == "F010"]
    assert odd == [".memento/skills/SKILL.md"]


def test_policy_is_read_from_the_base(branch: Play) -> None:
    config = branch.root / ".memento" / "config.yaml"
    config.write_text("version: 1\npolicy:\n  proof:\n    artifact: verified\n    test: reported\n")
    branch.commit_all("a policy that suits me")
    task = branch.task("Two")
    branch.commit("note.txt", "done, I think\n", "a file")
    shown = branch.do(evidences.add_evidence, "artifact", tasks=[task], files=["note.txt"], outcome="passed")
    branch.complete(branch.claimed(task), shown)
    assert branch.is_proven(task)
    assert set(look(branch, base="main")) == {"C003 warning", "P001 error"}


def test_the_first_ledger_has_the_policy_that_it_came_with(play: Play) -> None:
    config = play.root / layout.CONFIG
    config.write_text(config.read_text().replace("test: witnessed", "test: reported"))
    play.commit_all("policy")
    code = git(play.root, "rev-list", "--max-parents=0", "HEAD")
    assert look(play, base=code) == [], "no other one is weakened by it"
    config.write_text(f"{config.read_text()}strange: 1\n")
    play.commit_all("a key")
    assert look(play, base=code) == ["F002 error"]


def test_a_warning_that_the_policy_of_the_base_names_is_an_error(branch: Play, cli: Any) -> None:
    config = branch.root / ".memento" / "config.yaml"
    git(branch.root, "switch", "-q", "main")
    config.write_text("version: 1\npolicy:\n  check: {errors: [D007, F010]}\n")
    branch.commit_all("the team wants to be sure")
    git(branch.root, "switch", "-qc", "easier")
    text = path_of(branch, "tasks/*/*/task.md")
    branch.commit(text, text.read_text() + "\nEasier.\n", "easier")
    assert look(branch, base="main") == ["D007 error", "P001 warning"]
    branch.commit(config, "version: 1\n", "and no error")
    assert look(branch, base="main") == ["C003 warning", "D007 error", "P001 warning"]
    code, out, _ = cli("check", "--base", "main", "-C", str(branch.root))
    assert code == 5
    assert "check.errors: D007, F010 is asked no more" in out


def test_what_policy_names_is_an_error_in_a_tree_alone_too_and_to_doctor(branch: Play, cli: Any) -> None:
    with (branch.root / ".memento" / "config.yaml").open("a") as config:
        config.write("  check: {errors: [F010]}\n")
    (branch.root / ".memento" / "todo.txt").write_text("mine\n")
    git(branch.root, "add", ".")
    assert look(branch, staged=True) == ["F010 warning"]  # HEAD's policy judges what is staged
    branch.commit_all("a file of mine")
    assert look(branch) == ["F010 error"]
    assert look(branch, base="HEAD^1") == ["F010 warning"]
    assert cli("check", "--no-base", "-C", str(branch.root))[0] == 5
    code, out, _ = cli("doctor", "-C", str(branch.root))
    assert code == 1
    assert "todo.txt: F010" in out


@pytest.mark.parametrize("line", ["policy: {check: {errors: [D099]}}", "policy: {check: {errors: [d007]}}"])
def test_policy_names_no_finding_that_there_is_not(branch: Play, cli: Any, line: str) -> None:
    branch.commit(".memento/config.yaml", f"version: 1\n{line}\n", "a slip")
    found = actions.check(branch.ledger, no_base=True).findings
    assert [(one.code, one.line) for one in found] == [("F002", 2)]
    assert "is not the code of a finding, such as D007" in found[0].message
    assert cli("task", "list", "-C", str(branch.root))[0] == 4


@pytest.mark.parametrize("line", ["polcy: {}", "policy: {lease: soon}"])
def test_a_config_that_cannot_be_read_is_one_finding_beside_others(branch: Play, cli: Any, line: str) -> None:
    path_of(branch, "evidence/*/*/stdout.txt").unlink()
    task = branch.task("Two")
    approval = branch.do(evidences.approve, task)
    branch.complete(branch.claimed(task), branch.evidence(task), approval)
    branch.commit(".memento/config.yaml", f"version: 1\n{line}\n", "two mistakes")
    assert look(branch) == ["F002 error", "P001 warning", "V001 error"]
    assert cli("check", "--no-base", "-C", str(branch.root))[0] == 5


def test_no_file_is_to_be_removed_while_nobody_can_tell_which_ones_policy_names(branch: Play) -> None:
    (branch.root / ".memento" / "allowed_signers").write_text("")
    (branch.root / ".memento" / "config.yaml").write_text("version: 1\npolcy: {}\n")
    branch.commit_all("keys, and a slip of the hand")
    assert look(branch) == ["F002 error"]


def test_a_changed_plan_and_criteria_are_told_with_what_they_unprove(branch: Play) -> None:
    plan, task = path_of(branch, "plans/*/plan.md"), path_of(branch, "tasks/*/*/task.md")
    plan.write_text(plan.read_text() + "\nOr not.\n")
    task.write_text(task.read_text() + "\nEasier.\n")
    branch.commit_all("easier")
    report = actions.check(branch.ledger, base="main")
    assert codes(report.findings) == ["D007 warning", "P001 warning", "P002 error"]
    assert any("unproven by it: event_" in one.message for one in report.findings)


def test_a_text_that_says_the_same_in_other_bytes_is_told_as_that(branch: Play) -> None:
    task = path_of(branch, "tasks/*/*/task.md")
    branch.commit(task, task.read_text() + "\n", "a line more")
    (told,) = [one.message for one in actions.check(branch.ledger, base="main").findings if one.code == "D007"]
    assert "was completed when its bytes changed; unproven by it: event_" in told


@pytest.mark.parametrize("key", ["at", "by", "id", "source"])
def test_an_identity_never_changes(branch: Play, key: str) -> None:
    task = path_of(branch, "tasks/*/*/task.md")
    other = {"at": "2020-01-01T00:00:00.000Z", "by": "Eve", "id": "task_000000000000"}.get(key)
    lines = [f"{key}: {other}" if line.startswith(f"{key}:") else line for line in task.read_text().splitlines()]
    if key == "source":
        lines.insert(1, "source: {kind: chat, delivery: '7'}")
    branch.commit(task, "\n".join(lines) + "\n", "mine")
    assert ("F003 error" if key == "id" else "D005 error") in look(branch, base="main")


def test_a_redaction_accounts_for_what_it_removed_and_fix_removes_what_came_back(branch: Play) -> None:
    evidence = branch.state(path_of(branch, "tasks/*/*/task.md").parent.name).ids("evidence")[0]
    path = path_of(branch, f"evidence/*/{evidence}.yaml")
    branch.do(settling.redact_record, evidence, reason="holds a name")
    assert not [one for one in look(branch, base="main") if one.startswith("D")]
    git(branch.root, "checkout", "main", "--", str(path))
    branch.commit_all("back again")
    assert "R001 error" in look(branch, base="main")
    actions.check(branch.ledger, base="main", fix=True)
    assert not path.exists()


def test_an_archive_accounts_for_what_it_holds(play: Play) -> None:
    from memento_git.work.actions import runs

    run = play.planned()
    play.proven()
    play.do(runs.complete_run, run)
    git(play.root, "switch", "-qc", "work")
    play.do(runs.archive_run, run)
    assert look(play, base="main") == []
    packed = next((play.root / ".memento" / "archive").glob("*/*.gz"))
    git(play.root, "switch", "-qc", "later")
    packed.unlink()
    play.commit_all("tidy")
    assert look(play, base="work") == ["D008 error"]


def merged(play: Play, one: Callable[[Play], Any], two: Callable[[Play], Any]) -> list[str]:
    """Let two sides work apart, merge them, and return what the merge commit shows by itself.

    What they make of each other is told beside both sides as well, and before the merge is committed as a warning.
    """
    git(play.root, "branch", "other")
    one(play)
    git(play.root, "switch", "-q", "other")
    two(play)
    git(play.root, "switch", "-q", "main")
    git(play.root, "merge", "-q", "--no-commit", "--no-ff", "other")
    staged = look(play, staged=True)
    git(play.root, "commit", "-qm", "merged")
    found, beside = look(play), look(play, base="HEAD^@")
    assert beside == [one for one in found if one.startswith("T")]
    assert staged == [one.replace("error", "warning") for one in beside]
    return found


def test_two_claims_that_merge_cleanly_are_found_on_the_merge(play: Play, run: str) -> None:
    task = play.task()
    dispatch = play.dispatch(task)

    def claim(who: str) -> Callable[[Play], Any]:
        def act(play: Play) -> None:
            git(play.root, "update-ref", "-d", f"refs/memento/claims/{task}", check=False)
            play.as_(who).do(dispatches.claim_dispatch, dispatch)

        return act

    assert "T001 error" in merged(play, claim("Ada"), claim("Bob"))


def test_done_here_and_a_new_dependency_there_is_found_on_the_merge(play: Play, run: str) -> None:
    task, other = play.task("One"), play.task("Two", run=run)
    claim = play.claimed(task)
    found = merged(
        play,
        lambda side: side.do(tasks.revise_task, task, depends_on=[other]),
        lambda side: side.complete(claim, side.evidence(task)),
    )
    assert "P001 error" in found
    assert "T006 error" in found


def test_a_task_that_came_beside_the_end_of_its_run_is_cancelled_where_it_came_from(play: Play, run: str) -> None:
    play.proven("One")
    git(play.root, "switch", "-qc", "work")
    play.do(runs.complete_run)
    git(play.root, "switch", "-q", "main")
    late = play.task("Two", run=run)
    git(play.root, "switch", "-qc", "tried")
    git(play.root, "merge", "-q", "--no-edit", "work")
    (wrong,) = [one for one in actions.check(play.ledger).findings if one.severity == "error"]
    step = (
        f"cancel it where it came from, and do it in a further run: memento task cancel {late} --reason WHY; or leave"
    )
    assert (wrong.code, f"{late} is pending" in wrong.message, wrong.fix.startswith(step)) == ("P004", True, True)
    git(play.root, "switch", "-q", "main")
    play.do(tasks.cancel_task, late, reason="It goes into the next run.")
    git(play.root, "merge", "-q", "--no-edit", "work")
    assert look(play) == []


def test_two_canonical_plans_and_a_circle_are_found_on_the_merge(play: Play) -> None:
    run = play.run()
    first, second = (play.do(plans.draft_plan, title, "Do it.", run=run) for title in ("A", "B"))
    one, two = play.task("One", run=run), play.task("Two", run=run)

    def side(plan: str, task: str, other: str) -> Callable[[Play], Any]:
        def act(play: Play) -> None:
            play.do(plans.approve_plan, plan)
            play.do(tasks.revise_task, task, depends_on=[other])

        return act

    assert merged(play, side(first, one, two), side(second, two, one)) == ["T001 error", "T003 error"]


def test_a_stricter_plan_that_a_merge_brings_tells_of_what_it_unproves(play: Play, run: str) -> None:
    task = play.task()
    git(play.root, "switch", "-qc", "stricter")
    play.do(plans.approve_plan, play.do(plans.draft_plan, "Strict", "Do it.", run=run, require=["lint"]))
    git(play.root, "switch", "-q", "main")
    play.complete(play.claimed(task), play.evidence(task))
    git(play.root, "merge", "-q", "--no-ff", "--no-edit", "stricter")
    assert "P001 warning" in look(play)


def test_the_index_is_checked_and_nothing_is_written(branch: Play, cli: Any) -> None:
    path = path_of(branch, "tasks/*/*/*-claimed-*.yaml")
    objects = sorted((branch.root / ".git" / "objects").rglob("*"))
    assert cli("check", "--staged", "-C", str(branch.root)) == (0, "", "")
    assert sorted((branch.root / ".git" / "objects").rglob("*")) == objects
    git(branch.root, "rm", "-q", str(path))
    before = (branch.root / ".git" / "index").read_bytes()
    objects = sorted((branch.root / ".git" / "objects").rglob("*"))
    code, out, _ = cli("check", "--staged", "-C", str(branch.root))
    assert (code, "D002" in out) == (5, True)
    assert sorted((branch.root / ".git" / "objects").rglob("*")) == objects
    assert (branch.root / ".git" / "index").read_bytes() == before
    told = re.search("fix: put it back: (git checkout HEAD .*)", out)
    assert told is not None
    git(branch.root, *told[1].split()[1:])
    assert cli("check", "--staged", "-C", str(branch.root)) == (0, "", "")


def test_the_index_that_a_hook_names_is_the_one_that_is_checked(
    branch: Play, cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "index"
    other.write_bytes((branch.root / ".git" / "index").read_bytes())
    git(branch.root, "rm", "-q", "--cached", str(path_of(branch, "tasks/*/*/*-claimed-*.yaml")))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    assert cli("check", "--staged", "-C", str(branch.root))[0] == 0
    monkeypatch.setenv("GIT_INDEX_FILE", str(branch.root / ".git" / "index"))
    assert cli("check", "--staged", "-C", str(branch.root))[0] == 5


def test_a_hook_in_another_folder_checks_the_index_that_git_names(
    branch: Play, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = branch.root / "front"
    folder.mkdir()
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")  # as git tells its hooks: from the top
    monkeypatch.chdir(folder)
    assert cli("check", "--staged") == (0, "", "")
    git(branch.root, "rm", "-q", "--cached", str(path_of(branch, "tasks/*/*/*-claimed-*.yaml")))
    code, out, _ = cli("check", "--staged")
    assert (code, "D002" in out, "C004" in out) == (5, True, False)


def test_of_a_merge_that_adds_nothing_of_its_own_nobody_reads_that_no_file_differs(branch: Play, cli: Any) -> None:
    branch.task("Here")
    git(branch.root, "switch", "-q", "main")
    git(branch.root, "commit", "-q", "--allow-empty", "-m", "there")
    git(branch.root, "merge", "-q", "--no-edit", "work")
    code, out, _ = cli("check", "--base", "HEAD^@", "-C", str(branch.root))
    assert (code, "in the merge: each file of the ledger is as one of its sides has it" in out) == (0, True)


def test_a_base_that_nobody_named_is_told(branch: Play, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    root = str(branch.root)
    branch.task("Here")
    git(branch.root, "switch", "-q", "main")
    git(branch.root, "merge", "-q", "--no-ff", "--no-edit", "work")
    parent = git(branch.root, "rev-parse", "HEAD^1")[:12]
    what = "nothing is wrong in 1 file that differs"
    told = f"{what} from the first parent of this merge ({parent}); --no-base checks all of it\n"
    assert cli("check", "-C", root) == (0, told, "")
    assert cli("check", "--base", "HEAD^1", "-C", root) == (0, f"{what}\n", "")
    assert " record" in cli("check", "--no-base", "-C", root)[1]
    git(branch.root, "reset", "-q", "--hard", "HEAD^1")
    git(branch.root, "switch", "-q", "work")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    assert cli("check", "-C", root)[1] == f"{what} from refs/heads/main ({parent}); --no-base checks all of it\n"


def test_where_nothing_is_to_be_compared_that_is_said_to_people_alone(branch: Play, cli: Any) -> None:
    root = str(branch.root)
    git(branch.root, "switch", "-q", "main")
    told = "nothing is wrong in the commits between: no file of the ledger differs\n"
    for base in ("main", "HEAD"):
        assert cli("check", "--base", base, "-C", root) == (0, told, "")
        assert cli("check", "--base", base, "--format", "github", "-C", root) == (0, "", "")
    assert cli("check", "--staged", "-C", root) == (0, "", "")
    assert json.loads(cli("check", "--base", "main", "--json", "-C", root)[1])["findings"] == []


def test_a_search_for_words_of_a_commit_is_no_base_in_any_format(branch: Play, cli: Any) -> None:
    git(branch.root, "commit", "-q", "--allow-empty", "-m", "tidy")
    for form in ("text", "json", "sarif"):
        assert cli("check", "--base", ":/tidy", "--format", form, "-C", str(branch.root))[0] == 1


def test_a_merge_that_is_staged_is_compared_with_both_its_sides(branch: Play, cli: Any) -> None:
    git(branch.root, "switch", "-q", "main")
    config = branch.root / ".memento" / "config.yaml"
    branch.commit(config, config.read_text().replace("require: []", "require: [lint]"), "lint is asked")
    git(branch.root, "switch", "-qc", "feature")
    git(branch.root, "switch", "-q", "main")
    config.write_text(config.read_text().replace("require: [lint]", "require: []"))
    branch.commit_all("lint is asked no more")
    branch.proven("Done since")
    git(branch.root, "switch", "-q", "feature")
    git(branch.root, "merge", "-q", "--no-commit", "--no-ff", "main")
    assert cli("check", "--staged", "-C", str(branch.root))[0] == 0
    git(branch.root, "commit", "-qm", "merged")
    assert cli("check", "--base", "HEAD^@", "-C", str(branch.root))[0] == 0
    assert cli("check", "--base", "HEAD^1", "-C", str(branch.root))[0] == 5
    git(branch.root, "reset", "-q", "--hard", "HEAD^1")
    git(branch.root, "merge", "-q", "--no-commit", "--no-ff", "main")
    git(branch.root, "reset", "-q", "HEAD", "--", ".memento")
    code, out, _ = cli("check", "--staged", "-C", str(branch.root))
    assert (code, "D002" in out) == (5, True)
    for told in re.findall("fix: put it back: git (checkout MERGE_HEAD .*)", out):
        git(branch.root, *told.split())
    assert cli("check", "--staged", "-C", str(branch.root))[0] == 0
    root = git(branch.root, "rev-list", "--max-parents=0", "HEAD")
    assert cli("check", "--base", f"{root}^@", "-C", str(branch.root))[0] == 1


def test_the_revisions_that_pre_commit_was_asked_about_are_compared(
    branch: Play, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    branch.commit_all("tidy")
    assert cli("check", "--staged", "-C", str(branch.root))[0] == 0
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "main")
    monkeypatch.setenv("PRE_COMMIT_TO_REF", "HEAD")
    assert cli("check", "--staged", "-C", str(branch.root))[0] == 5


@pytest.mark.parametrize(
    "command", [("check", "--base"), ("check", "--at"), ("check", "--diff"), ("evidence", "reproduce", "--base")]
)
def test_a_revision_that_is_empty_is_refused(branch: Play, cli: Any, command: tuple[str, ...]) -> None:
    code, _, err = cli(*command, "", "-C", str(branch.root))
    assert (code, "is a variable not set?" in err) == (2, True)


def test_a_bare_repository_is_checked_at_a_revision(branch: Play, cli: Any, tmp_path: Path) -> None:
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    branch.commit_all("tidy")
    bare = tmp_path / "bare.git"
    git(branch.root, "clone", "-q", "--bare", ".", str(bare))
    assert cli("check", "-C", str(bare), "--at", "main")[0] == 0
    assert cli("check", "-C", str(bare), "--at", "work", "--base", "main")[0] == 5
    code, _, err = cli("check", "-C", str(bare), "--at", "work", "--fix")
    assert (code, "fix_elsewhere" in err) == (2, True)


@pytest.mark.parametrize("limit", ["1", "1000"])  # the pushed objects come as a pack, or one by one
def test_a_server_hook_refuses_a_push_that_removes_an_event_and_takes_the_next_one(
    branch: Play, tmp_path: Path, limit: str
) -> None:
    bare = tmp_path / "bare.git"
    git(branch.root, "clone", "-q", "--bare", ".", str(bare))
    git(bare, "config", "transfer.unpackLimit", limit)
    hook = bare / "hooks" / "pre-receive"
    hook.write_text(
        "#!/bin/sh\nwhile read old new ref; do\n"
        f'  "{sys.executable}" -m memento_git check --at "$new" --base "$old" || exit 1\ndone\n'
    )
    hook.chmod(0o755)
    branch.task("Two")
    git(branch.root, "push", "-q", str(bare), "work:work")
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    branch.commit_all("tidy")
    with pytest.raises(AssertionError, match="D002 error"):
        git(branch.root, "push", "-q", str(bare), "work:work")
    with pytest.raises(AssertionError):
        git(bare, "cat-file", "-e", git(branch.root, "rev-parse", "HEAD"))
    git(branch.root, "reset", "-q", "--hard", "HEAD~1")
    branch.task("Three")
    git(branch.root, "push", "-q", str(bare), "work:work")


def test_a_signature_is_demanded_by_the_base(branch: Play) -> None:
    config = branch.root / ".memento" / "config.yaml"
    git(branch.root, "switch", "-q", "main")
    sound = config.read_text()
    signatures = (
        "version: 1\npolicy:\n  signatures:\n    allowed_signers: .memento/keys\n    require:\n      waivers: []\n"
    )
    branch.commit(config, signatures, "waivers are signed")
    git(branch.root, "switch", "-qc", "waiver")
    config.write_text(sound)
    branch.commit_all("no signatures")
    branch.gate("quality_review", "waived", reason="No time.")
    assert {"K001 error", "C003 warning"} <= set(look(branch, base="main"))


@pytest.mark.parametrize("where", ["the top", "below it", "a linked worktree", "below that"])
def test_a_staged_merge_that_drops_a_side_is_seen_from_everywhere(
    branch: Play, cli: Any, where: str, tmp_path: Path
) -> None:
    """As the index has no ledger file that HEAD has not, the quick look has to know that a merge is in progress."""
    branch.gate("quality_review", "failed", reason="It leaks.")
    git(branch.root, "switch", "-q", "main")
    git(branch.root, "commit", "-q", "--allow-empty", "-m", "more")
    top = branch.root
    if "worktree" in where or "that" in where:
        top = tmp_path / "linked"
        git(branch.root, "worktree", "add", "-q", str(top), "-b", "linked")
    start = top / "sub" if "below" in where else top
    start.mkdir(exist_ok=True)
    assert cli("check", "-C", str(start), "--staged") == (0, "", "")
    git(top, "merge", "-q", "--no-commit", "-s", "ours", "work")
    code, out, _ = cli("check", "-C", str(start), "--staged")
    assert (code, "D002 error" in out) == (5, True)


def test_keys_that_the_policy_of_the_base_alone_names_are_told_where_no_ledger_file_differs(
    branch: Play, cli: Any
) -> None:
    """The branch left a line that came to the base beside that policy, and so has none of its own."""
    git(branch.root, "switch", "-qc", "line", "main")
    branch.commit("app.py", "other\n", "a line")
    git(branch.root, "switch", "-q", "main")
    branch.policy("  signatures: {allowed_signers: KEYS}\n")
    git(branch.root, "merge", "-q", "--no-edit", "line")
    git(branch.root, "switch", "-qc", "keys", "line")
    branch.commit("KEYS", "# nobody\n", "a file of keys")
    _, out, _ = cli("check", "-C", str(branch.root), "--base", "main")
    assert "KEYS: C003 warning the branch changes whose signatures count" in out


def test_a_base_that_a_shallow_clone_lacks_is_refused_with_how_deep_to_fetch(
    branch: Play, cli: Any, tmp_path: Path
) -> None:
    branch.task("Two")
    shallow = tmp_path / "shallow"
    git(branch.root, "clone", "-q", "--depth=1", f"file://{branch.root}", str(shallow))
    code, _, err = cli("check", "-C", str(shallow), "--base", git(branch.root, "rev-parse", "main"))
    assert (code, "fork_missing" in err, "--deepen=50" in err) == (1, True, True)


def test_the_hint_brings_a_base_that_a_clone_of_one_branch_never_fetched(
    branch: Play, cli: Any, tmp_path: Path
) -> None:
    branch.task("Two")
    for name, how in (("shallow", ("--depth=1",)), ("whole", ("--single-branch",))):
        there = tmp_path / name
        git(branch.root, "clone", "-q", *how, "--branch=work", f"file://{branch.root}", str(there))
        for base in ("origin/main", "refs/remotes/origin/main"):
            code, _, err = cli("check", "-C", str(there), "--base", base)
            assert (code, "origin +refs/heads/main:refs/remotes/origin/main" in err) == (1, True)
        for _ in range(2):  # git 2.55 deepens only what it is asked to fetch, and the next hint names the rest
            if code:
                git(there, *err.split("next: git ")[1].split(";")[0].split())
            code, _, err = cli("check", "-C", str(there), "--base", "origin/main")
        assert code == 0


def test_a_merge_whose_parent_a_shallow_clone_lacks_and_a_base_of_another_history_are_refused(
    branch: Play, cli: Any, tmp_path: Path
) -> None:
    branch.task("Here")
    git(branch.root, "switch", "-q", "main")
    branch.task("There")
    git(branch.root, "merge", "-q", "--no-edit", "work")
    shallow = tmp_path / "shallow"
    git(branch.root, "clone", "-q", "--depth=1", f"file://{branch.root}", str(shallow))
    code, _, err = cli("check", "-C", str(shallow))
    assert (code, "fork_missing" in err, "--deepen=50" in err) == (1, True, True)
    git(branch.root, "switch", "-q", "--orphan", "apart")
    git(branch.root, "commit", "-q", "--allow-empty", "-m", "apart")
    code, _, err = cli("check", "-C", str(branch.root), "--base", "main")
    assert (code, "merge_base_missing" in err) == (1, True)
    assert cli("check", "-C", str(branch.root), "--base", "nowhere")[0] == 1


def test_a_repository_without_a_ledger_is_refused(repo: Path, cli: Any) -> None:
    code, _, err = cli("check", "-C", str(repo))
    assert (code, "nothing_to_check" in err) == (2, True)


@pytest.mark.parametrize("name", [*jobs.TARGETS, "CI_MERGE_REQUEST_DIFF_BASE_SHA"])
def test_ci_tells_the_base(branch: Play, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    branch.commit_all("tidy")
    assert "D002 error" not in look(branch)
    only = jobs.TARGETS.get(name, name)
    monkeypatch.setenv(only, "7")
    monkeypatch.setenv(name, "main")
    assert "D002 error" in look(branch)
    assert "D002 error" not in look(branch, no_base=True)
    monkeypatch.setenv(name, "refs/heads/main")
    assert "D002 error" in look(branch)
    if only != name:
        monkeypatch.setenv(only, "false")
        assert "D002 error" not in look(branch), "a job of no request"


@pytest.mark.parametrize("name", ["CI", "TF_BUILD"])
def test_a_service_that_names_no_branch_leaves_that_of_the_remote(
    branch: Play, monkeypatch: pytest.MonkeyPatch, cli: Any, name: str
) -> None:
    root = str(branch.root)
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    branch.commit_all("tidy")
    told = "nothing names a base"

    def found(*options: str) -> tuple[bool, bool]:
        _, out, err = cli("check", *options, "-C", root)
        return "D002 error" in out, told in err

    assert found() == (False, False)
    monkeypatch.setenv(name, "True")
    assert (found(), found("--no-base")) == ((False, True), (False, False))
    git(branch.root, "update-ref", "refs/remotes/origin/trunk", "main")
    git(branch.root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert (found(), found("--no-base")) == ((True, False), (False, False))
    assert "from refs/remotes/origin/HEAD" in cli("check", "-C", root)[1]
    monkeypatch.setenv(name, "false")
    assert found() == (False, False), "no job"
    monkeypatch.setenv(name, "True")
    git(branch.root, "update-ref", "refs/remotes/origin/trunk", "HEAD")
    assert found() == (False, False), "all of it is on the remote's branch"
    alone = git(branch.root, "commit-tree", "HEAD^{tree}", "-m", "begun anew")
    git(branch.root, "update-ref", "refs/remotes/origin/trunk", alone)
    assert found() == (False, True), "it has nothing in common with the remote's branch"


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_only_the_merge_that_the_service_made_is_compared_with_its_first_parent(
    branch: Play, monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    branch.commit_all("tidy")
    git(branch.root, "switch", "-q", "main")
    branch.task("Meanwhile")
    target = git(branch.root, "rev-parse", "HEAD")
    git(branch.root, "switch", "-q", "-")
    source = git(branch.root, "rev-parse", "HEAD")
    git(branch.root, "merge", "-q", "--no-edit", "main")
    own = git(branch.root, "rev-parse", "HEAD")
    git(branch.root, "switch", "-q", "--detach", "main")
    git(branch.root, "merge", "-q", "--no-ff", "--no-edit", source)
    result = git(branch.root, "rev-parse", "HEAD")
    tells = {
        "github": {"GITHUB_BASE_REF": "main", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_SHA": result},
        "gitlab": {
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(branch.root, "merge-base", target, source),
            "CI_MERGE_REQUEST_EVENT_TYPE": "merged_result", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": own,
        },
    }  # fmt: skip
    for name, value in tells[service].items():
        monkeypatch.setenv(name, value)
    at_the_result = actions.check(branch.ledger)
    assert (at_the_result.base, "D002" in {one.code for one in at_the_result.findings}) == (target, True)
    git(branch.root, "switch", "-q", "--detach", own)
    at_the_tip = actions.check(branch.ledger)
    assert "D002" in {one.code for one in at_the_tip.findings}


def test_of_redacted_evidence_nobody_is_said_to_have_acted_under_another_name(branch: Play) -> None:
    task = branch.task("Two")
    evidence = branch.do(evidences.add_evidence, "artifact", tasks=[task], files=["app.py"])
    branch.do(settling.redact_record, evidence, reason="a customer's name")
    assert [one.message for one in actions.check(branch.ledger, base="main").findings if "None" in one.message] == []


def test_what_a_command_printed_or_a_text_says_names_nobody_who_acts(play: Play) -> None:
    run = play.as_("Bob").planned()
    task = play.do(tasks.add_task, "A task", body="by: Mallory")
    draft = evidences.witness(play.ledger, ["echo", "by: Mallory"], kind="test", quiet=True)
    play.do(evidences.record_draft, draft, tasks=[task])
    assert actors.acting(play.ledger.view()) == {"Bob", play.ledger.actor}
    assert "by: Mallory" in git(play.root, "grep", "-h", "^by: ", "HEAD", "--", ".memento/runs/*/evidence/*/*/*")
    play.do(runs.cancel_run, run, reason="enough")
    play.do(runs.archive_run, run)
    assert actors.archived(play.ledger.view()) == {"Bob", play.ledger.actor}


def test_who_committed_for_whom_is_a_warning(branch: Play) -> None:
    branch.as_("agent:hermes").task("Two")
    branch.task("Three")
    found = [one for one in actions.check(branch.ledger, base="main").findings if one.code == "C002"]
    assert [(one.severity, one.message) for one in found] == [
        ("warning", "1 record by agent:hermes was committed by Ada <ada@example.invalid>")
    ]


@pytest.mark.parametrize(
    ("agents", "told"),
    [
        ("{agent:hermes: [Ada]}", []),
        ("{agent:hermes: ['Ada <ada@example.invalid>']}", []),
        ("{agent:hermes: []}", []),
        ("{agent:hermes: [Grace]}", ["agent:hermes"]),
        ("{agent:zeus: []}", ["agent:hermes"]),
    ],
)
def test_policy_of_the_base_says_in_whose_commits_an_agent_acts(branch: Play, agents: str, told: list[str]) -> None:
    branch.as_("agent:hermes").task("Two")
    where = branch.root / ".memento" / "config.yaml"
    branch.commit(where, f"version: 1\npolicy:\n  agents: {agents}\n", "policy")

    def named(base: str) -> list[str]:
        found = actions.check(branch.ledger, base=base).findings
        return [one.message.split(" by ")[1].split()[0] for one in found if one.code == "C002"]

    assert named("main") == ["agent:hermes"], "the branch's own policy counts for nothing"
    git(branch.root, "switch", "-q", "main")
    where.write_text(f"version: 1\npolicy:\n  agents: {agents}\n")
    git(branch.root, "commit", "-qam", "policy")
    merge_into(branch.root, "-", "main")
    assert named("main") == told


def test_what_an_agent_judges_is_told_whatever_policy_says_of_its_work(branch: Play) -> None:
    git(branch.root, "switch", "-q", "main")
    where = branch.root / ".memento" / "config.yaml"
    branch.commit(where, "version: 1\npolicy:\n  agents: {agent:hermes: []}\n", "policy")
    git(branch.root, "switch", "-qc", "judged")
    run = branch.as_("agent:hermes").run("Mine")
    plan = branch.do(plans.draft_plan, "Do it", "Do it.", run=run)
    branch.as_("agent:hermes").do(plans.approve_plan, plan)
    branch.as_("agent:hermes").gate("plan_review", "passed", run=run)
    found = [one for one in actions.check(branch.ledger, base="main").findings if one.code == "C002"]
    assert [one.message for one in found] == ["2 records by agent:hermes were committed by Ada <ada@example.invalid>"]


@pytest.mark.parametrize(
    ("actor", "told"),
    [
        ("Ada", False), ("Ada <ada@example.invalid>", False), ("Grace", True), ("Grace <ada@example.invalid>", True),
        ("Ada <grace@example.invalid>", True),
    ],
)  # fmt: skip
def test_who_acted_is_the_author_by_name_and_address(branch: Play, actor: str, *, told: bool) -> None:
    branch.as_(actor).task("Two")
    found = [one for one in actions.check(branch.ledger, base="main").findings if one.code == "C002"]
    assert bool(found) == told


def test_who_puts_back_what_another_wrote_is_not_told_as_its_author(branch: Play, cli: Any) -> None:
    git(branch.root, "switch", "-q", "main")
    branch.as_("agent:hermes").task("Two")
    git(branch.root, "switch", "-qc", "second")
    take_out(branch.root, git(branch.root, "show", "--format=", "--name-only"), message="oops")
    git(branch.root, "revert", "--no-edit", "HEAD")
    code, out, _ = cli("check", "-C", str(branch.root), "--base", "main")
    assert (code, out) == (0, "nothing is wrong in the commits between: no file of the ledger differs\n")


@pytest.mark.parametrize("form", [("--json",), ("--format", "json"), ("--format=json",)])
def test_a_refusal_is_json_where_that_is_asked_for(branch: Play, cli: Any, form: tuple[str, ...]) -> None:
    for given, token in ((("--base", "nosuch"), "revision_not_found"), (("--at", ""), "usage")):
        code, out, err = cli("check", "-C", str(branch.root), *given, *form)
        assert (json.loads(out)["error"], err, code > 0) == (token, "", True)


def test_json_says_what_was_found(branch: Play, cli: Any) -> None:
    path_of(branch, "tasks/*/*/*-claimed-*.yaml").unlink()
    branch.commit_all("tidy")
    code, out, _ = cli("check", "-C", str(branch.root), "--base", "main", "--json")
    answer = json.loads(out)
    assert (code, answer["ok"], answer["error"]) == (5, False, "findings")
    assert {row["code"] for row in answer["findings"]} >= {"D002", "E002"}
    assert all(row["title"] for row in answer["findings"])


def test_events_that_miss_the_same_file_are_told_in_text_with_the_one_next_to_it(branch: Play, cli: Any) -> None:
    branch.do(runs.complete_run)
    claimed = path_of(branch, "tasks/*/*/*-claimed-*.yaml")
    claimed.unlink()
    branch.commit_all("tidy")
    base = ("-C", str(branch.root), "--base", "main")
    found = json.loads(cli("check", *base, "--json")[1])["findings"]
    shown = cli("check", *base)[1]
    incomplete = [row for row in found if row["code"] == "E002"]
    (one,) = [row for row in incomplete if row["message"].endswith("is absent")]
    assert (len(incomplete), len({row["fix"] for row in incomplete})) == (2, 1)
    assert shown.count(" E002 ") == 1
    assert one["message"] in shown
    assert f"\n  and so is what follows: 1 event, of {branch.ledger.view().runs()[0]}\n" in shown
    assert shown.endswith(f"{len(found)} errors in 2 files that differ\n")


def test_an_index_with_conflicts_is_told_as_that(branch: Play, cli: Any) -> None:
    git(branch.root, "switch", "-q", "-c", "beside")
    branch.commit("app.py", "answer = 43\n", "one")
    git(branch.root, "switch", "-q", "-")
    branch.commit("app.py", "answer = 44\n", "two")
    git(branch.root, "merge", "-q", "beside", check=False)
    code, out, _ = cli("check", "--staged", "-C", str(branch.root), "--json")
    told = json.loads(out)
    assert (code, told["error"], "app.py" in told["message"]) == (1, "index_unmerged", True)


def test_a_policy_that_a_branch_removes_is_told_where_only_one_merge_base_has_it(repo: Path, cli: Any) -> None:
    """The ledger came by a request, which the branch took in together with main as it was before."""
    git(repo, "branch", "-m", "main")
    git(repo, "switch", "-qc", "request")
    cli("init", "-C", str(repo))
    cli("run", "start", "--goal", "Go", "-C", str(repo))
    git(repo, "switch", "-q", "main")
    git(repo, "commit", "-q", "--allow-empty", "-m", "main as it was")
    git(repo, "switch", "-qc", "work", "request")
    git(repo, "merge", "-q", "--no-edit", "main")
    git(repo, "switch", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "--no-edit", "request")
    git(repo, "switch", "-q", "work")
    assert cli("check", "-C", str(repo), "--base", "main")[0] == 0
    take_out(repo, ".memento/config.yaml", message="by hand")
    code, out, _ = cli("check", "-C", str(repo), "--base", "main")
    assert (code, "C004" in out) == (5, True)
