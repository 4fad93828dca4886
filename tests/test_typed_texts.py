"""Texts that are typed, or read from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from docs.generator.actions import BESIDE
from memento_git.cli.texts import FileUnreadable, read_text
from memento_git.errors import MementoError
from memento_git.model.types import Text
from memento_git.texts.typed import ReasonRequired, TextEmpty
from memento_git.verbs.batch import ACTIONS
from memento_git.work import answers
from memento_git.work.actions.tasks import block_task

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.play import Play


def test_a_text_is_typed_or_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "it").write_text("In a file.\n")
    assert read_text(f"@{tmp_path / 'it'}") == "In a file.\n"
    assert [read_text(text) for text in ("plain", "- a list", "@@ada owns it", "@@")] == [
        "plain", "- a list", "@ada owns it", "@",
    ]  # fmt: skip
    with pytest.raises(FileUnreadable, match=r"@ada owns it cannot be read"):
        read_text("@ada owns it")


@pytest.mark.parametrize("given", ["-", "@-"])
def test_a_dash_reads_a_text_from_standard_input(play: Play, given: str) -> None:
    words = [sys.executable, "-m", "memento_git", "-C", str(play.root), "remember", given]
    done = subprocess.run(words, input="From a pipe.\n", capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("From a pipe.")


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u200b", "\u200e", "\u2060\n\u00ad", "\u3164", "\u2800"])
def test_a_text_of_which_nothing_can_be_seen_says_nothing(play: Play, blank: str) -> None:
    play.run()
    task = play.task()
    for refused in (
        lambda: play.do(block_task, task, reason=blank), lambda: play.gate("release", "waived", reason=blank),
        lambda: play.task(blank),
    ):  # fmt: skip
        with pytest.raises(MementoError) as error:
            refused()
        assert error.value.token in ("reason_required", "text_invalid")
        assert isinstance(error.value, (ReasonRequired, TextEmpty))
    problems: list[tuple[tuple[str | int, ...], str]] = []
    Text().read(blank, (), problems)
    assert problems == [((), "a text is missing here")]
    Text().read(f"\u05d0{blank}\u05d1\n\U0001f468\u200d\U0001f469", (), problems)
    assert [problem for _, problem in problems].count("a text is missing here") == 1


def test_one_text_stands_for_a_list_of_one(play: Play, run: str) -> None:
    task = play.task(files="ab.py", criteria="ok", commands="pytest")
    view = play.ledger.view("HEAD")
    assert view.commits == play.ledger.view().commits
    shown = answers.task(view, task)
    assert (shown["relevant_files"], shown["acceptance_criteria"]) == (["ab.py"], ["ok"])
    assert shown["verification_policy"] == {"commands": [{"run": ["pytest"]}]}
    dispatch = play.claimed(task)
    play.do(ACTIONS["dispatch complete"], dispatch, play.evidence(task))
    assert play.status(task) == "completed"


@pytest.mark.parametrize("action", [*ACTIONS.values(), *BESIDE], ids=lambda one: one.__name__)
def test_every_action_that_takes_texts_takes_one(action: Callable[..., Any]) -> None:
    takes_texts = any(kind.startswith("Sequence[str]") for kind in action.__annotations__.values())
    assert hasattr(action, "__wrapped__") == takes_texts
