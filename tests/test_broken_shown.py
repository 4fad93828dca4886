"""What cannot be read is shown as broken wherever a run is shown, and never passed over."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from memento_git.review.report import markdown
from memento_git.review.summary import digest
from memento_git.work.actions import plans, tasks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

NOT_SAID = ("every task is done", "no plan yet", "no tasks yet", "none yet", "run complete")
DAMAGES = {
    "unknown key": ("title:", "foo: bar\ntitle:"),
    "conflict": ("title:", "<<<<<<< HEAD\ntitle:"),
    "twice": ("title:", "title: Twice\ntitle:"),
    "tag": ("title:", "kind: !!python/name:os.system x\ntitle:"),
}


def file_of(play: Play, record: str) -> str:
    state = play.state(record)
    return state.index.prose.get(record) or state.index.evidence[record]


def damage(play: Play, path: str, old: str, new: str) -> Path:
    """Break a file and commit it; return where it is."""
    file = play.root / path
    text = file.read_text()
    assert old in text
    play.commit(file, text.replace(old, new, 1), "broken")
    return file


def told(play: Play, cli: Call, *words: str) -> str:
    code, out, err = cli(*words, "-C", str(play.root))
    assert code == 0
    return str(out + err)


@pytest.mark.parametrize("how", DAMAGES)
def test_a_task_that_cannot_be_read_is_in_every_list(play: Play, cli: Call, how: str) -> None:
    play.run(spike=True)
    play.proven()
    task = play.task("Left to do")
    path = file_of(play, task)
    damage(play, path, *DAMAGES[how])
    place = re.compile(rf"{re.escape(path)}:\d+: F00\d ")
    for words in (("status",), ("report",), ("report", "--chat"), ("report", "--format", "html")):
        text = told(play, cli, *words)
        assert place.search(text), words
        assert not any(one in text for one in NOT_SAID), words
    report = json.loads(told(play, cli, "report", "--format", "json"))
    assert report["blockers"][0]["kind"] == "broken"
    assert (report["blockers"][0]["record"], report["next"][0]["command"]) == (task, "memento check")
    for words in (("task", "list"), ("task", "board"), ("evidence", "list"), ("dispatch", "list"), ("gate", "list")):
        assert "1 broken file in the run" in told(play, cli, *words), words
    rows = json.loads(told(play, cli, "task", "list", "--json"))["tasks"]
    assert [row["id"] for row in rows if row["broken"]] == [task]
    assert "1 cannot be read" in told(play, cli, "status")
    code, out, _ = cli("check", "--no-base", "-C", str(play.root))
    assert (code, path in out) == (5, True)
    for show in (
        ("show", task),
        ("task", "show", task),
        ("task", "brief", task),
        ("task", "block", task, "--reason", "x"),
    ):
        code, out, err = cli(*show, "-C", str(play.root))
        assert (code, out, "ledger_broken" in err) == (4, "", True), show


def test_the_only_task_is_not_nothing(play: Play, cli: Call) -> None:
    play.run(spike=True)
    damage(play, file_of(play, play.task()), *DAMAGES["unknown key"])
    assert play.overview()["counts"] == {"pending": 1, "proven": 0, "unproven": 0, "unreadable": 1}
    text = told(play, cli, "status")
    assert not any(one in text for one in NOT_SAID)


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_a_run_that_is_halted_names_a_task_that_cannot_be_read(play: Play, cli: Call, verb: str) -> None:
    play.run(spike=True)
    task = play.task()
    damage(play, file_of(play, task), *DAMAGES["unknown key"])
    assert "text cannot be read" in told(play, cli, "run", verb, "--reason", "Over.")


def test_a_task_whose_file_is_gone_is_told_of(play: Play, cli: Call) -> None:
    play.run(spike=True)
    task = play.task()
    play.dispatch(task)
    (play.root / file_of(play, task)).unlink()
    play.commit_all("gone")
    assert f"{task}" in told(play, cli, "report")
    assert play.overview()["next"][0]["command"] == "memento check"


def test_a_broken_plan_is_no_reason_to_draft_another(play: Play, cli: Call) -> None:
    run = play.run()
    damage(play, file_of(play, play.do(plans.draft_plan, "Plan", "Do it.", run=run)), *DAMAGES["unknown key"])
    assert [step["command"] for step in play.overview()["next"]] == ["memento check"]
    assert "none that can be read" in told(play, cli, "status")


def test_a_broken_text_of_the_run_is_mended_first(play: Play) -> None:
    run = play.run(spike=True)
    play.proven()
    damage(play, file_of(play, run), "goal:", "foo: bar\ngoal:")
    held = play.overview()
    assert [step["command"] for step in held["next"]] == ["memento check"]
    assert "unknown" not in {row["name"] for row in held["roles"]}
    assert all(row["name"].startswith("Ada") for row in held["roles"])


def test_a_broken_event_was_done_by_nobody(play: Play) -> None:
    play.run(spike=True)
    task = play.task()
    play.dispatch(task)
    path = play.state(task).folded(task).events[-1].event.path
    damage(play, path, "executor:", "foo: bar\nexecutor:")
    held = play.overview()
    assert all(row["name"] for row in held["roles"])
    assert path in markdown({**held, **digest(held)})


def test_a_step_names_a_path_that_can_be_opened(play: Play, cli: Call) -> None:
    play.run(spike=True)
    path = file_of(play, play.task())
    damage(play, path, *DAMAGES["unknown key"])
    line = next(line for line in told(play, cli, "status").splitlines() if line.startswith("next"))
    assert path in line


def test_what_was_only_called_off_is_not_done(play: Play) -> None:
    run = play.run(spike=True)
    play.do(tasks.cancel_task, play.task(), reason="Too hard.")
    steps = play.overview()["next"]
    assert [step["command"] for step in steps] == [f"memento run cancel {run} --reason WHY"]
    assert "cancelled" in steps[0]["why"]
