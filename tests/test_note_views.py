"""Notes in log, show, status and report."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge import note_rows
from memento_git.knowledge.actions import notes
from memento_git.knowledge.note_set import NoteSet
from memento_git.review.note_counts import note_counts
from memento_git.work.actions import evidences
from tests.play import Play, add, asked, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memento_git.model.note_rows import NoteRow
    from memento_git.model.work import Prose
    from tests.play import Call


def fresh(play: Play) -> dict[str, Any]:
    """Return the counts as they are without anything that was kept."""
    shutil.rmtree(play.root / ".git" / "memento" / "cache", ignore_errors=True)
    return note_counts(play.ledger.view())


def counted(play: Play) -> dict[str, int]:
    """Return the counts as all notes, read one by one, say."""
    note_set = NoteSet(play.ledger.view())
    live = note_set.live()
    states = [note_set.status(note.id) for note in note_set.readable()]
    return {
        "live": sum(1 for state in states if state in ("active", "parked")),
        "contested": states.count("contested"),
        "expired": sum(1 for note in live if note_set.is_expired(note)),
    }


# Log and show.


def test_log_mixes_additions_and_events_of_notes_with_those_of_runs(play: Play, run: str, cli: Call) -> None:
    note = add(play, "Tokens live an hour.")
    task = play.task("Renew tokens")
    play.do(notes.confirm_note, note, note_text="looked at it")
    dispatch = play.dispatch(task)
    play.do(notes.retire_note, note, reason="they live a day")
    rows = asked(cli, play, "log", "--limit", "0")["audit"]
    told = [row["action"] for row in reversed(rows)]
    assert [action for action in told if action.startswith("note.")] == ["note.added", "note.confirmed", "note.retired"]
    assert told.index("note.confirmed") < told.index("task.dispatched") < told.index("note.retired")
    (added,) = (row for row in rows if row["action"] == "note.added")
    assert (added["record"], added["summary"], added["legal"]) == (note, "Tokens live an hour.", True)
    only = asked(cli, play, "log", "--record", note, "--limit", "0")["audit"]
    assert [row["action"] for row in reversed(only)] == ["note.added", "note.confirmed", "note.retired"]
    assert not any(row["record"] == note for row in asked(cli, play, "log", "--run", run)["audit"])
    (retired,) = asked(cli, play, "log", "--verb", "retired")["audit"]
    assert asked(cli, play, "log", "--record", retired["id"])["audit"] == [retired]
    assert asked(cli, play, "show", retired["id"])["event"]["record"] == note
    assert [row["action"] for row in asked(cli, play, "show", note)["audit"]] == ["note.confirmed", "note.retired"]
    assert dispatch
    assert "they live a day" in cli("log", "-C", str(play.root))[1]


def test_log_of_a_ledger_of_notes_alone_needs_no_run(play: Play, cli: Call) -> None:
    assert asked(cli, play, "log")["audit"] == []
    add(play, "One.")
    assert [row["action"] for row in asked(cli, play, "log")["audit"]] == ["note.added"]
    add(play.as_("agent:hermes"), "Two.")
    assert [row["summary"] for row in asked(cli, play, "log", "--who", "hermes")["audit"]] == ["Two."]


# Status.


def test_status_of_a_ledger_without_runs_shows_what_its_notes_come_to(play: Play, cli: Call) -> None:
    def told() -> str:
        code, out, _ = cli("status", "-C", str(play.root))
        assert code == 0
        return out

    start = "next  there is no run yet\n      memento run start --goal TEXT\n"
    assert told() == f"runs  none yet\nnotes none yet\n{start}"
    first = add(play, "One.")
    assert told() == f"runs  none yet\nnotes 1 live\n{start}"
    add(play, "Two.", expires="2026-01-01")
    assert "notes 2 live · 1 expired  (memento check expired)" in told()
    git(play.root, "branch", "other")
    play.do(notes.retire_note, first, reason="no")
    git(play.root, "checkout", "-q", "other")
    play.do(notes.park_note, first, reason="later")
    git(play.root, "merge", "-q", "--no-edit", "main")
    assert "1 contested" in told()
    assert "memento check conflicts" in told()
    assert "One." in cli("check", "conflicts", "-C", str(play.root))[1]


def test_status_of_a_ledger_without_runs_does_not_lead_to_one_that_its_policy_refuses(play: Play, cli: Call) -> None:
    play.commit(".memento/config.yaml", "version: 1\npolcy: {}\n", "a slip of the hand")
    assert cli("status", "-C", str(play.root))[0] == 4


def test_status_of_a_ledger_without_runs_has_the_keys_of_any_other(play: Play, cli: Call) -> None:
    empty = asked(cli, play, "status")
    assert (empty["run"], empty["state"], empty["tasks"], empty["knowledge"]["live"]) == (None, None, [], 0)
    code, out, _ = cli("status", "--run", "run_000000000000", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "run_not_found")
    play.run()
    held = asked(cli, play, "status")
    assert held["run"]
    assert {name: type(value) for name, value in held.items() if name not in ("run", "state")} == {
        name: type(value) for name, value in empty.items() if name not in ("run", "state")
    }
    assert "the notes" not in cli("status", "--run", "run_000000000000", "-C", str(play.root))[2]


def test_status_counts_notes_as_all_of_them_read_would_say(play: Play, cli: Call) -> None:
    play.run()
    assert "notes " not in cli("status", "-C", str(play.root))[1]
    plain, ends, body = add(play, "One."), add(play, "Two.", expires="2026-01-01"), add(play, "Three.\nexpires: never")
    steps: list[Callable[[], Any]] = [
        lambda: play.do(notes.park_note, plain),
        lambda: play.do(notes.confirm_note, body),
        lambda: play.do(notes.promote_note, ends),
        lambda: play.do(notes.revise_note, body, expires="2026-02-01"),
        lambda: play.do(notes.link_note, body, "relates_to", ends),
        lambda: add(play, "Another two.", supersedes=[ends], expires="2026-03-01"),
        lambda: play.do(notes.retire_note, body, reason="no"),
        lambda: play.do(notes.restore_note, body),
    ]
    for step in steps:
        step()
        told = asked(cli, play, "status")["knowledge"]
        assert told == counted(play)
        assert fresh(play) == told
        assert note_counts(play.ledger.view(["HEAD", "HEAD~1"]))["live"] >= 1
    git(play.root, "checkout", "-q", "-b", "other", "HEAD~1")
    play.do(notes.park_note, plain) if counted(play)["live"] < 1 else play.do(notes.confirm_note, plain)
    assert asked(cli, play, "status")["knowledge"] == counted(play)
    git(play.root, "checkout", "-q", "main")
    assert asked(cli, play, "status")["knowledge"] == counted(play)
    assert "notes 3 live · 2 expired  (memento check expired)" in cli("status", "-C", str(play.root))[1]


@pytest.mark.parametrize("line", ['"expires": {}', "? expires\n: {}", '"e\\x78pires": {}', "expires : {}"])
def test_a_note_that_is_written_otherwise_expires(play: Play, line: str) -> None:
    note = add(play, "Tokens live an hour.")
    path = play.root / play.ledger.view().index("").prose[note]
    play.commit(path, path.read_text().replace("---\n", f"---\n{line.format('2020-01-01T00:00:00.000Z')}\n", 1))
    assert fresh(play) == counted(play) == {"live": 1, "contested": 0, "expired": 1}


def test_status_tells_of_contested_notes(play: Play, cli: Call) -> None:
    play.run()
    note = add(play, "One.")
    git(play.root, "checkout", "-q", "-b", "other")
    play.do(notes.park_note, note)
    git(play.root, "checkout", "-q", "main")
    play.do(notes.retire_note, note, reason="no")
    assert asked(cli, play, "status")["knowledge"] == {"live": 0, "contested": 0, "expired": 0}
    git(play.root, "merge", "-q", "other", "-m", "merge")
    assert asked(cli, play, "status")["knowledge"] == {"live": 0, "contested": 1, "expired": 0}
    assert "notes 1 contested  (memento check conflicts)" in cli("status", "-C", str(play.root))[1]


def test_a_page_of_notes_makes_no_rows_for_the_others(play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in ("one", "two", "three"):
        add(play, word)
    real, made = note_rows.note_row, []

    def row_of(note_set: NoteSet, note: Prose) -> NoteRow:
        made.append(note.title)
        return real(note_set, note)

    monkeypatch.setattr(note_rows, "note_row", row_of)
    told = asked(cli, play, "note", "list", "--limit", "1", "--offset", "1")
    assert (told["page"], made) == ({"total": 3, "offset": 1, "shown": 1}, [told["notes"][0]["title"]])


def test_status_reads_no_note_and_lists_nothing_twice(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    play.run()
    for number in range(5):
        add(play, f"Fact {number} is about {number}.")
    view = play.ledger.view()
    assert note_counts(view)["live"] == 5
    assert not any(path.endswith(".md") for path in view.used if "/knowledge/" in path)
    again = play.ledger.view()
    with monkeypatch.context() as patch:
        patch.setattr(again.git.trees, "ledger", None)
        assert note_counts(again)["live"] == 5
    add(play, "One more.")
    later = play.ledger.view()
    assert note_counts(later)["live"] == 6
    assert sum(path.endswith(".md") for path in later.used if "/knowledge/" in path) <= 1


# Report.


def test_a_report_lists_the_notes_that_have_to_do_with_the_run(play: Play, cli: Call) -> None:
    run = play.planned("Renew tokens")
    task = play.proven("Renew")
    (proof,) = play.state(task).ids("evidence")
    by_run = add(play, "The run began late | late.", links=[f"relates_to:{run}"])
    by_task = add(play, "Renewal is slow.", links=[f"caused_by:{task}"])
    by_proof = add(play, "It takes a second.", evidence=[proof], expires="2026-01-01")
    later = add(play, "Linked afterwards.")
    play.do(notes.link_note, later, "relates_to", task)
    add(play, "Nothing to do with it.")
    play.do(notes.park_note, by_task)
    told = asked(cli, play, "report", "--format", "json")
    assert [row["id"] for row in told["knowledge"]] == [by_run, by_task, by_proof, later]
    shown = cli("report", "-C", str(play.root))[1]
    assert "## Notes" in shown
    assert f"Renewal is slow. (`{by_task}`) — fact, parked: caused by `{task}`" in shown
    assert f"fact, expired: rests on `{proof}`" in shown
    assert "late \\| late" in shown
    for form in ("text", "html"):
        assert "Renewal is slow" in cli("report", "--format", form, "-C", str(play.root))[1]
    assert asked(cli, play, "report", "--format", "json", "--limit", "1")["omitted"]["knowledge"] == 3


def test_a_note_says_what_became_of_its_evidence(play: Play, cli: Call) -> None:
    play.run()
    evidence = play.evidence(play.task("Retry"))
    note = add(play, "The retry fix is tested.", evidence=[evidence], sources=["task_list.md"])
    standing = {"id": evidence, "status": "recorded", "trust": "witnessed"}
    assert asked(cli, play, "note", "show", note)["evidence"][0].items() >= (standing | {"stale": False}).items()
    seen = cli("recall", "retry fix", "--kind", "fact", "-C", str(play.root))[1]
    assert ("evidence witnessed" in seen, "stale" in seen) == (True, False)
    play.commit("app.py", "answer = 44\n", "other code")
    assert asked(cli, play, "note", "show", note)["evidence"][0].items() >= (standing | {"stale": True}).items()
    assert "recorded, witnessed, passed, stale" in cli("note", "show", note, "-C", str(play.root))[1]
    seen = cli("recall", "retry fix", "--kind", "fact", "-C", str(play.root))[1]
    assert ("evidence witnessed, stale" in seen, "recorded, witnessed, stale" in seen) == (True, True)
    [hit] = asked(cli, play, "recall", "retry fix", "--kind", "fact")["hits"]
    assert (hit["stale"], hit["evidence"][0]["stale"]) == (True, True)
    play.do(evidences.retract, evidence, reason="It was of another commit.")
    for command in (("note", "show"), ("show",)):
        told = asked(cli, play, *command, note)
        assert told["note"]["evidence"] == [evidence]
        assert [row["status"] for row in told["evidence"]] == ["retracted"]
        assert ": retracted" in cli(*command, note, "-C", str(play.root))[1]
    ends = {row["id"]: row["status"] for row in asked(cli, play, "note", "show", note, "--what", "sources")["sources"]}
    assert ends == {evidence: "retracted", "task_list.md": None}
    near = asked(cli, play, "note", "show", note, "--what", "graph")["graph"]["nodes"]
    assert {row["id"]: row["status"] for row in near} == {note: "active", evidence: "retracted"}


def test_what_only_reads_needs_no_name(play: Play, cli: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(play, "Payments are charged once.", key="pay.once")
    recipe = "name: sum-up\nsteps: [{do: active}, {do: claim, text: 'It is {count}.'}]\n"
    (tmp_path / "sum-up.yaml").write_text(recipe)
    assert cli("recipe", "save", "sum-up", str(tmp_path / "sum-up.yaml"), "-C", str(play.root))[0] == 0
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("# Tokens\n\nTokens live an hour.\n")
    assert cli("export", "--out", str(tmp_path / "notes.jsonl"), "-C", str(play.root))[0] == 0
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    git(play.root, "config", "user.useConfigOnly", "true")
    before = git(play.root, "rev-parse", "HEAD")
    assert asked(cli, play, "recipe", "run", "drift-check")["applied"] is False
    assert asked(cli, play, "recipe", "run", "sum-up")["writes"][0]["text"] == "It is 1."
    assert len(asked(cli, play, "import", str(tmp_path / "notes.jsonl"), "--dry-run")["existing"]) == 1
    assert len(asked(cli, play, "import", "--from", "markdown", str(tmp_path / "vault"), "--dry-run")["added"]) == 1
    assert asked(cli, play, "session", "status")["session"]["actor"] == "nobody"
    code, out, _ = cli("recipe", "run", "sum-up", "--apply", "--json", "-C", str(play.root))
    assert (code, json.loads(out)["error"]) == (1, "identity_missing")
    assert git(play.root, "rev-parse", "HEAD") == before


def test_a_note_is_shown_with_what_became_of_its_places(play: Play, cli: Call) -> None:
    play.commit("till.py", "def charge():\n    return 1\n")
    note = add(play, "A card is charged once.", about=["till.py::charge", "till.py:1"])
    where = ("-C", str(play.root))
    before = git(play.root, "rev-parse", "HEAD")
    play.commit("till.py", "def charge():\n    return 2\n")
    told = json.loads(cli("note", "show", note, "--json", *where)[1])
    assert [(one["anchor"], one["state"]) for one in told["places"]] == [
        ("till.py::charge", "changed"), ("till.py:1", "ok"),
    ]  # fmt: skip
    assert "changed: till.py::charge (edited: 2); ok: till.py:1" in cli("show", note, *where)[1]
    then = json.loads(cli("note", "show", note, "--json", "--at", before, *where)[1])
    assert [one["state"] for one in then["places"]] == ["ok", "ok"]
    draft = json.loads(cli("remember", "Not yet.", "--draft", "--about", "till.py", "--json", *where)[1])["note"]["id"]
    assert json.loads(cli("note", "show", draft, "--json", *where)[1])["places"] == []
