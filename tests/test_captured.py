"""What a command printed, and what somebody wrote, can be read where its record is shown."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import evidences, plans, runs
from memento_git.work.captured import CHARACTERS
from tests.play import take_out

if TYPE_CHECKING:
    from tests.play import Call, Play


@pytest.fixture(autouse=True)
def _here(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(play.root)


def printed(play: Play, code: str) -> str:
    """Return evidence of a Python program, of a task that is there."""
    play.planned()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", code], kind="test", quiet=True)
    identity: str = play.do(evidences.record_draft, draft, tasks=[play.task()])
    return identity


def told(cli: Call, *command: str) -> list[dict[str, Any]]:
    code, out, _ = cli(*command, "--json")
    assert code == 0
    rows: list[dict[str, Any]] = json.loads(out)["output"]
    return rows


@pytest.mark.parametrize("command", [("show",), ("evidence", "show")])
def test_evidence_is_shown_with_what_its_command_printed(play: Play, cli: Call, command: tuple[str, ...]) -> None:
    shown = printed(play, "import sys; print('2 passed'); print('slow', file=sys.stderr)")
    code, out, _ = cli(*command, shown)
    assert code == 0
    assert "| 2 passed\n" in out
    assert "| slow\n" in out
    for row, text in zip(told(cli, *command, shown), ("2 passed\n", "slow\n"), strict=True):
        assert (row["text"], row["omitted"], row["as_recorded"]) == (text, 0, True)
        assert (play.root / row["path"]).read_text() == text
        assert row["path"] in out


def test_the_end_is_shown_and_all_of_it_when_asked(play: Play, cli: Call) -> None:
    shown = printed(play, "for n in range(100): print('line', n)")
    _, out, _ = cli("show", shown)
    assert "| line 99" in out
    assert "| line 80" in out
    assert "| line 79" not in out
    assert "characters before: --output" in out
    whole = "".join(f"line {n}\n" for n in range(100))
    assert [row["text"] for row in told(cli, "show", shown, "--output")] == [whole]
    assert "--output" not in cli("show", shown, "--output")[1]


def test_one_line_without_an_end_does_not_fill_the_screen(play: Play, cli: Call) -> None:
    shown = printed(play, "print('x' * 30_000, end='')")
    [row] = told(cli, "show", shown)
    assert (len(row["text"]), row["omitted"]) == (CHARACTERS, 30_000 - CHARACTERS)


def test_what_was_printed_does_not_steer_the_terminal(play: Play, cli: Call) -> None:
    shown = printed(play, r"print('\x1b]0;title\x07\x1b[2Jgone')")
    assert "\x1b" not in cli("show", shown)[1]


def test_what_was_not_kept_is_said(play: Play, cli: Call) -> None:
    shown = printed(play, "print('x\\n' * 400_000)")
    [row] = told(cli, "show", shown)
    assert row["cut"] > 0
    assert f"{row['cut']} bytes in its middle were not kept" in cli("show", shown)[1]


def test_what_is_not_text_and_what_is_not_there_is_said(play: Play, cli: Call) -> None:
    shown = printed(play, r"import sys; sys.stdout.buffer.write(b'\0\1'); print('x', file=sys.stderr)")
    [binary, text] = told(cli, "show", shown)
    assert (binary["binary"], binary["path"], binary["text"], binary["as_recorded"]) == (True, None, None, None)
    take_out(play.root, text["path"], message="away")
    [_, gone] = told(cli, "show", shown)
    assert (gone["text"], gone["as_recorded"]) == (None, None)
    out = cli("show", shown)[1]
    assert "stdout  2 bytes; not text, so not kept" in out
    assert "stderr  2 bytes; what was kept of it is not there" in out


def test_what_was_changed_since_is_not_what_was_recorded(play: Play, cli: Call) -> None:
    shown = printed(play, "print('1 failed')")
    [row] = told(cli, "show", shown)
    play.commit(row["path"], "1 passed\n", "eased")
    assert [row["as_recorded"] for row in told(cli, "show", shown)] == [False]
    assert "what is there is not what was recorded" in cli("show", shown)[1]
    assert [row["as_recorded"] for row in told(cli, "show", shown, "--at", "HEAD~1")] == [True]


def test_a_secret_that_was_replaced_is_said(play: Play, cli: Call) -> None:
    token = "ghp_" + "k3J9xQ2mV7bN4tR8wL1pZ6yD5cF0hS2gA9uE"
    shown = printed(play, f"print('{token[:10]}' + '{token[10:]}')")
    out = cli("show", shown)[1]
    assert token not in out
    assert "1 secret replaced" in out


def test_what_an_archive_has_is_shown_too(play: Play, cli: Call) -> None:
    shown = printed(play, "print('2 passed')")
    run = play.state(shown).id
    play.do(runs.cancel_run, run, reason="enough")
    play.do(runs.archive_run, run)
    [row] = told(cli, "show", shown)
    assert row["text"] == "2 passed\n"
    assert (play.root / row["place"]).is_file()
    assert not (play.root / row["path"]).exists()


def test_only_evidence_has_output(play: Play, cli: Call) -> None:
    task = play.planned_task()
    code, out, err = cli("show", task, "--output")
    assert (code, out) == (2, "")
    assert f"--output is of evidence, and {task} is none" in err


@pytest.mark.parametrize("command", ["show", "plan show", "task show"])
def test_a_text_of_several_lines_is_shown_as_it_was_written(play: Play, cli: Call, command: str) -> None:
    play.planned()
    text = "First of all:\n\n- one\n- two"
    made = {"plan": play.do(plans.draft_plan, "Plan", text), "task": play.task(body=text)}
    for kind, shown in made.items():
        if command in ("show", f"{kind} show"):
            assert f"\n\n{text}\n" in cli(*command.split(), shown)[1]
