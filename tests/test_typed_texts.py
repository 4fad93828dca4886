"""Texts that are typed, or read from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memento_git.cli.texts import FileUnreadable, read_text
from memento_git.errors import MementoError
from memento_git.model.types import Text
from memento_git.texts.typed import ReasonRequired, TextEmpty
from memento_git.work.actions.tasks import block_task

if TYPE_CHECKING:
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
def test_standard_input_is_read(play: Play, given: str) -> None:
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
