"""A run as a board: its columns are the ledger's states, wherever and whenever one looks."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.folding.lanes import STATUS
from memento_git.work.actions import dispatches, evidences, runs, tasks
from memento_git.work.board import COLUMNS, as_markdown, board
from memento_git.work.boardfile import FLAGS, LISTS
from memento_git.work.transitions import SETTLED, TASK_RULES
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memento_git.model.rows import AnyRow
    from tests.play import Call, Play

MOVES: Final = ("dispatch", "claim", "recover", "dispatch", "fail", "reopen", "dispatch", "claim", "doubt", "reject",
                "reopen", "block", "reopen", "dispatch", "claim", "prove", "accept", "reopen", "cancel", "reopen",
                "dispatch", "claim", "prove", "reopen")  # fmt: skip
COMES_TO: Final = {
    "dispatch": "dispatched", "claim": "in_progress", "recover": "pending", "fail": "blocked", "reopen": "pending",
    "doubt": "completed", "prove": "completed", "reject": "rejected", "accept": "accepted", "block": "blocked",
    "cancel": "cancelled",
}  # fmt: skip


class Mover:
    """One task, and the verbs that move it from state to state."""

    def __init__(self, play: Play, cli: Call, task: str) -> None:
        self.play, self.cli, self.task, self.dispatch = play, cli, task, ""

    def move(self, verb: str) -> None:
        play, task = self.play, self.task
        if verb == "dispatch":
            self.dispatch = play.dispatch(task)
        elif verb == "claim":
            play.do(dispatches.claim_dispatch, self.dispatch)
        elif verb == "recover":
            play.do(dispatches.recover_dispatch, self.dispatch, force=True, reason="gone")
        elif verb == "fail":
            play.do(dispatches.fail_dispatch, self.dispatch, reason="no")
        elif verb == "doubt":
            shown = play.do(evidences.add_evidence, "artifact", tasks=[task], uri="file://app.py", summary="A file.")
            play.complete(self.dispatch, shown)
        elif verb == "prove":
            play.complete(self.dispatch, play.evidence(task))
        elif verb in ("accept", "reject"):
            code = self.cli("task", "verify", task, "--no-run", "-C", str(play.root))[0]
            assert code == (verb == "reject")
        else:
            act = {"block": tasks.block_task, "reopen": tasks.reopen_task, "cancel": tasks.cancel_task}[verb]
            play.do(act, task, reason="Because.")

    def into(self, state: str) -> str:
        """Move the task from pending into a state; return the task."""
        ways = {
            "pending": (), "dispatched": ("dispatch",), "in_progress": ("dispatch", "claim"), "blocked": ("block",),
            "completed": ("dispatch", "claim", "prove"), "accepted": ("dispatch", "claim", "prove", "accept"),
            "rejected": ("dispatch", "claim", "doubt", "reject"), "cancelled": ("cancel",),
        }  # fmt: skip
        for verb in ways[state]:
            self.move(verb)
        return self.task


@pytest.fixture
def shown(cli: Call) -> Callable[..., dict[str, Any]]:
    """Return the board that a repository shows."""

    def show(root: Path, *options: str) -> dict[str, Any]:
        code, out, _ = cli("task", "board", *options, "--format", "json", "-C", str(root))
        assert code == 0
        found: dict[str, Any] = json.loads(out)["board"]
        return found

    return show


def cards(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {card["id"]: card for column in told["columns"] for card in column["cards"]}


def columns(told: dict[str, Any]) -> dict[str, str]:
    """Return the column that each card lies in."""
    return {card["id"]: column["name"] for column in told["columns"] for card in column["cards"]}


def test_the_columns_are_all_states_that_a_task_can_have() -> None:
    assert set(COLUMNS) >= {*SETTLED, *COMES_TO.values(), "contested"}
    assert len(set(COLUMNS)) == len(COLUMNS)
    walked = {"dispatch": "dispatched", "claim": "claimed", "recover": "recovered", "fail": "failed",
              "reopen": "reopened", "prove": "completed", "reject": "rejected", "accept": "accepted",
              "block": "blocked", "cancel": "cancelled"}  # fmt: skip
    standing = {"renewed", "selected"}
    assert {*walked.values(), *standing} == set(TASK_RULES), "every verb that moves a task is walked below"
    assert set(walked) <= set(MOVES)
    assert STATUS not in standing


def test_a_task_walks_through_the_table_and_every_place_shows_the_same_column(
    play: Play, run: str, cli: Call, shown: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    task = play.task(attempts=9)
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(play.root), str(bare))
    mover = Mover(play, cli, task)
    walked = [("pending", git(play.root, "rev-parse", "HEAD"))]
    for verb in MOVES:
        mover.move(verb)
        state = COMES_TO[verb]
        assert play.status(task) == state, "the store"
        git(play.root, "push", "-q", str(bare), "main")
        assert columns(shown(play.root)) == columns(shown(bare)) == {task: state}, verb
        walked.append((state, git(play.root, "rev-parse", "HEAD")))
    assert {state for state, _ in walked} == set(COLUMNS) - {"contested"}
    for state, commit in walked:
        assert columns(shown(play.root, "--at", commit)) == {task: state}
        assert columns(shown(bare, "--at", commit)) == {task: state}


def test_a_contested_task_has_a_column_of_its_own(play: Play, run: str, shown: Callable[..., dict[str, Any]]) -> None:
    task = play.task()
    git(play.root, "branch", "other")
    play.dispatch(task)
    git(play.root, "checkout", "-q", "other")
    play.do(tasks.cancel_task, task, reason="Not wanted.")
    git(play.root, "merge", "-q", "-m", "merge", "main")
    assert play.status(task) == "contested"
    assert columns(shown(play.root)) == {task: "contested"}


def test_an_archive_shows_the_board_as_it_was(
    play: Play, run: str, cli: Call, shown: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    states = [state for state in COLUMNS if state != "contested"]
    put = {Mover(play, cli, play.task(f"To be {state}")).into(state): state for state in states}
    play.do(runs.cancel_run, run, reason="Enough.")
    before = shown(play.root, "--run", run)
    assert columns(before) == put
    assert cli("archive", run, "-C", str(play.root))[0] == 0
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(play.root), str(bare))
    assert shown(play.root, "--run", run) == shown(bare, "--run", run) == before
    assert before["run_status"] == "cancelled"


def test_a_card_says_who_has_it_what_it_waits_for_and_what_it_is_worth(
    play: Play, run: str, cli: Call, shown: Callable[..., dict[str, Any]]
) -> None:
    first, second = play.task("First", kind="fix", risk="high"), play.task("Second")
    third = play.task("Third", depends_on=[first])
    dispatch = play.dispatch(second, "goose")
    told = cards(shown(play.root))
    assert told[first]["ready"]
    assert (told[first]["kind"], told[first]["risk"]) == ("fix", "high")
    assert (told[third]["ready"], told[third]["blocked_by"]) == (False, [first])
    assert (told[second]["executor"], told[second]["dispatch_ids"]) == ("goose", [dispatch])
    assert told[second]["claimants"] == []
    play.as_("agent:x").do(dispatches.claim_dispatch, dispatch)
    assert cards(shown(play.root))[second]["claimants"] == ["agent:x"]
    Mover(play, cli, first).into("completed")
    told = cards(shown(play.root))
    assert (told[first]["proven"], told[first]["stale"], told[third]["ready"]) == (True, False, True)
    play.commit("app.py", "answer = 43\n")
    assert cards(shown(play.root))[first]["stale"]
    fourth = play.task("Fourth")
    mover = Mover(play, cli, fourth)
    for verb in ("dispatch", "claim", "doubt"):
        mover.move(verb)
    assert cards(shown(play.root))[fourth]["proven"] is False


def test_people_read_it_as_text_and_markdown(play: Play, cli: Call) -> None:
    run = play.planned("Make *it* work")
    assert "no tasks" in cli("task", "board", "-C", str(play.root))[1]
    Mover(play, cli, play.task("Use `x` # now")).into("blocked")
    Mover(play, cli, play.task("Count")).into("completed")
    _, text, _ = cli("task", "board", "-C", str(play.root))
    assert "blocked (1)" in text
    assert "Because." in text
    assert "completed (1)" in text
    assert "proven" in text
    assert "cancelled" not in text
    _, out, _ = cli("task", "board", "--run", run, "--format", "markdown", "-C", str(play.root))
    assert out.startswith("# Make \\*it\\* work\n")
    assert "## Blocked (1)\n\n- Use \\`x\\` \\# now (`task_" in out


def test_the_board_is_a_function_of_rows_alone() -> None:
    row: AnyRow = {
        "id": "task_a", "title": "T", "status": "pending", "waits_on": [], "blocked_by": ["approval"], "reason": None,
        "ready": False, "proven": None, "late": False, "kind": None, "risk": None, "size": None, "role": None,
        "broken": None, "incomplete": False, "unsigned": [], "run_status": None, "spike": False,
    }  # fmt: skip
    held: AnyRow = {"run": {"id": "run_a", "goal": "G", "status": "active"}, "tasks": [row], "dispatches": []}
    told = board(held)
    assert board(json.loads(json.dumps(held))) == told
    assert [column["name"] for column in told["columns"]] == list(COLUMNS)
    assert sum(column["count"] for column in told["columns"]) == 1
    assert "blocked by approval" in as_markdown(told)


def test_a_card_that_is_moved_elsewhere_is_a_message_and_moves_nothing(
    play: Play, run: str, cli: Call, shown: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    task = play.task("Count")
    moved = tmp_path / "moved.json"
    moved.write_text(json.dumps({
        "id": "move-1", "title": "Card moved to accepted: Count", "body": f"{task} was dragged.", "user": "ann",
        "task_id": task, "status": "accepted", "column": "accepted",
    }))  # fmt: skip
    code, out, _ = cli("task", "add", "--from-event", str(moved), "--json", "-C", str(play.root))
    told = json.loads(out)
    assert (code, told["created"], told["dispatched"]) == (0, True, False)
    assert any("no message may decide it: status, column" in note for note in told["warnings"])
    assert columns(shown(play.root)) == {task: "pending", told["task"]["id"]: "pending"}
    again = json.loads(cli("task", "add", "--from-event", str(moved), "--json", "-C", str(play.root))[1])
    assert (again["created"], again["task"]["id"]) == (False, told["task"]["id"])
    assert play.state(task).folded(task).events == ()


def in_sqlite(path: Path) -> dict[str, Any]:
    """Return the board that a SQLite file holds, asked with plain SQL."""
    with closing(sqlite3.connect(path)) as file:
        file.row_factory = sqlite3.Row
        head = dict(file.execute("SELECT * FROM board").fetchone())
        columns = []
        for name, title in file.execute("SELECT name, title FROM columns ORDER BY position").fetchall():
            found = file.execute('SELECT * FROM cards WHERE "column" = ? ORDER BY position', (name,)).fetchall()
            columns.append({"name": name, "title": title, "cards": [_card(dict(row)) for row in found]})
    return {**head, "columns": [{**column, "count": len(column["cards"])} for column in columns]}


def _card(row: dict[str, Any]) -> dict[str, Any]:
    row.pop("position")
    flags = {name: None if row[name] is None else bool(row[name]) for name in FLAGS}
    return {**row, **flags, **{name: json.loads(row[name]) for name in LISTS}}


def test_the_sqlite_file_means_what_the_board_means_in_every_state(
    play: Play, run: str, cli: Call, shown: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    mover = Mover(play, cli, play.task(attempts=9))
    play.task("Waits for it", depends_on=[mover.task])
    path = tmp_path / "board.sqlite3"
    for verb in MOVES:
        mover.move(verb)
        code, out, _ = cli("task", "board", "--format", "sqlite", "--out", str(path), "-C", str(play.root))
        assert (code, out) == (0, f"wrote {path}\n")
        assert in_sqlite(path) == shown(play.root), verb
    assert git(play.root, "status", "--short") == ""


def test_a_board_becomes_a_file_as_sqlite_alone(play: Play, run: str, cli: Call, tmp_path: Path) -> None:
    path = tmp_path / "board"
    board_to = ("task", "board", "-C", str(play.root), "--format")
    assert cli(*board_to, "sqlite")[0] == cli(*board_to, "text", "--out", str(path))[0] == 2
