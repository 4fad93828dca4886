"""Texts that are typed, or read from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memento_git.cli.texts import FileUnreadable, read_text

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
