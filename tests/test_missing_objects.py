"""Where git lacks an object, nobody says that what is in it is nowhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge import following, pinning
from memento_git.knowledge.actions import notes
from memento_git.ledger import grep, layout, missing_ledger, remotes
from memento_git.ledger.view import LedgerUnreadable
from memento_git.model.anchors import parse
from memento_git.model.finding import FETCHING
from memento_git.review import actions
from memento_git.review.actors import acting
from memento_git.work.actions import runs, settling
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

KEY = "auth.token.lifetime"
LOST = "unable to read"


def lose(play: Play, path: str) -> Path:
    """Take away the object of a file of HEAD; return where it was."""
    oid = git(play.root, "rev-parse", f"HEAD:{path}")
    held = play.root / ".git" / "objects" / oid[:2] / oid[2:]
    held.unlink()
    return held


def note(play: Play, text: str, **options: Any) -> str:
    """Add a note; return its path."""
    return str(layout.note_path("decisions", play.do(notes.add_note, text, kind="decision", **options).id))


def test_a_search_that_cannot_read_a_file_refuses_to_say_that_nothing_is_there(play: Play) -> None:
    head = play.commit("b.py", "answer = 43\n")
    opened = play.ledger.git
    assert grep.files(opened, head, "", ["= 43", "= 44"]) == ["b.py"]
    assert grep.files(opened, head, "", ["^answer = 4.$"], plain=False) == ["app.py", "b.py"]
    assert grep.lines(opened, head, "", ["answer = 43"]) == b"answer = 43\n"
    assert grep.files(opened, head, "", ["nowhere"]) == grep.files(opened, head, "", []) == []
    assert grep.lines(opened, head, "", ["nowhere"]) == b""
    assert grep.files(opened, head, "", ["answer = 43", *("x" * 2500 for _ in range(1000))]) == ["b.py"]
    held = lose(play, "b.py")
    for text in ("nowhere", "answer"):
        with pytest.raises(grep.GrepIncomplete, match=f"b.py': {LOST}"):
            grep.files(opened, head, "", [text])
        with pytest.raises(grep.GrepIncomplete, match=LOST):
            grep.lines(opened, head, "", [text])
        with pytest.raises(grep.GrepIncomplete, match=LOST):
            grep.Grep(opened, head, text).counts()
    assert grep.files(opened, head, "", ["answer"], partly=True) == ["app.py"]
    held.write_bytes(b"no object")
    with pytest.raises(grep.GrepIncomplete, match="is corrupt"):
        grep.files(opened, head, "", ["answer"], partly=True)
    with pytest.raises(grep.GrepIncomplete, match="is corrupt"):
        grep.Grep(opened, head, "answer").counts()


def test_what_git_says_beside_its_answer_is_no_trouble(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TRACE", "1")
    assert grep.files(play.ledger.git, "HEAD", "", ["nowhere"]) == []
    assert grep.Grep(play.ledger.git, "HEAD", "nowhere").counts() == {}


def test_a_second_note_of_a_key_is_not_passed_where_the_first_cannot_be_read(play: Play, cli: Call) -> None:
    git(play.root, "branch", "other")
    lost = note(play, "Tokens live an hour.", key=KEY)
    git(play.root, "switch", "-q", "other")
    note(play, "Tokens live for a day and no longer.", key=KEY)
    git(play.root, "merge", "-q", "--no-edit", "main")
    base = git(play.root, "rev-parse", "main")
    assert "N002" in [one.code for one in actions.check(play.ledger, base=base).findings]
    lose(play, lost)
    code, out, _ = cli("check", "--base", base, "-C", str(play.root), "--json")
    told = json.loads(out)
    assert (code, told["error"], lost in told["message"]) == (4, "grep_incomplete", True)
    assert "git fetch --refetch" in told["hint"]


def test_who_looks_like_an_actor_is_not_passed_where_that_ones_records_cannot_be_read(play: Play) -> None:
    run = play.as_("Bob").run()
    git(play.root, "switch", "-qc", "work")
    play.as_("B\u043eb").do(runs.pause_run, run, reason="why")
    assert "C006" in [one.code for one in actions.check(play.ledger, base="main").findings]
    assert "Bob" in acting(play.ledger.view(["main"]))
    lose(play, layout.prose_path(run, run))
    with pytest.raises(grep.GrepIncomplete, match=LOST):
        actions.check(play.ledger, base="main")


def test_what_a_base_names_is_not_taken_for_unnamed_where_it_cannot_be_read(play: Play, run: str) -> None:
    task = play.task()
    dispatch = play.claimed(task)
    git(play.root, "switch", "-qc", "work")
    play.complete(dispatch, play.evidence(task))
    (claim,) = play.root.glob(".memento/runs/*/tasks/*/*/*-claimed-*")
    assert actions.check(play.ledger, base="main").findings == []
    lose(play, claim.relative_to(play.root).as_posix())
    with pytest.raises(grep.GrepIncomplete, match=LOST):
        actions.check(play.ledger, base="main")


def test_status_counts_on_where_a_note_cannot_be_read(play: Play, cli: Call) -> None:
    play.run()
    lost = note(play, "One.")
    note(play, "Two.", expires="2026-01-01")
    lose(play, lost)
    code, out, err = cli("status", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["knowledge"]["expired"]) == (0, 1), err


def test_a_text_is_not_said_to_be_gone_where_a_file_cannot_be_read(play: Play) -> None:
    play.commit("b.py", "answer = 43\n")
    anchor = parse("pattern:**:answer = 43")
    assert pinning.pin_here(play.ledger.git, [anchor]) == [anchor]
    lose(play, "b.py")
    with following.opened(play.ledger.git) as follower:
        (found,) = follower.follow([anchor], follower.at("HEAD"))
        assert follower.reader.holding(follower.at("HEAD").tree, "answer", partly=True) == ["app.py"]
    assert (found.state, found.why) == ("unknown", "this clone does not have all files of **")


def test_nothing_is_put_aside_for_a_file_that_git_lacks_here_alone(play: Play, run: str) -> None:
    task = play.task()
    proof = play.evidence(task)
    dispatch = play.dispatch(task)
    (approval,) = play.root.glob(".memento/runs/*/plans/*/*-approved-*")
    (handed,) = play.root.glob(".memento/runs/*/tasks/*/*/*-dispatched-*")
    held = [
        lose(play, path.relative_to(play.root).as_posix()) for path in (approval, *play.root.rglob(f"{proof}.yaml"))
    ]
    assert dispatch
    assert not any(one.exists() for one in held)

    told = [one for one in actions.check(play.ledger).findings if one.code in ("E001", "E003", "F001")]
    assert {one.code for one in told} == {"E001", "E003", "F001"}
    assert {one.fix for one in told} == {FETCHING}
    for path in (approval, handed):
        event = f"event_{path.stem.rpartition('-')[2]}"
        with pytest.raises(LedgerUnreadable, match="git does not have this object"):
            play.do(settling.void_event, event, reason="It is gone.")
    for record in (f"event_{approval.stem.rpartition('-')[2]}", proof):
        with pytest.raises(LedgerUnreadable, match="git does not have this object"):
            play.do(settling.redact_record, record, reason="It is gone.")


@pytest.mark.parametrize("rev", ["HEAD", "main", "HEAD~1"])
def test_a_branch_whose_commit_git_lacks_is_not_one_without_a_commit(play: Play, rev: str) -> None:
    oid = git(play.root, "rev-parse", "HEAD")
    (play.root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(missing_ledger.CommitAway, match=oid[:12]):
        play.ledger.git.commit_of(rev)
    with pytest.raises(missing_ledger.CommitAway):
        remotes.target(play.ledger.git)


def test_every_command_says_that_git_lacks_the_commit_of_head(play: Play, cli: Call) -> None:
    oid = git(play.root, "rev-parse", "HEAD")
    (play.root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    for words in (["status"], ["log"], ["recall", "x"], ["check"], ["sync"], ["note", "add", "It is so."], ["init"]):
        code, told, _ = cli("--json", "-C", str(play.root), *words)
        answer = json.loads(told)
        assert (code, answer["error"]) == (4, "commit_away"), words
        assert f"HEAD is at {oid[:12]}" in answer["message"]
    assert "git fetch --refetch" in cli("doctor", "-C", str(play.root))[1]
