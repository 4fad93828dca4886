"""The guide for agents: a valid skill, whose every command exists, that overwrites nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from docs.generator.commands import tree
from memento_git.cli.main import memento
from memento_git.work.actions.setup import guide_text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play


def test_the_guide_is_a_valid_agent_skill() -> None:
    _, front, body = guide_text().split("---\n", 2)
    told = yaml.safe_load(front)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", told["name"])
    assert set(told) == {"name", "description"}
    assert 0 < len(told["description"]) <= 1024
    assert body.strip()


def test_every_command_of_the_guide_exists_with_its_options() -> None:
    known = {" ".join(path): command for path, command in tree(memento)}
    spoken = re.findall(r"`memento ([a-z][^`]*)`", guide_text())
    assert len(spoken) > 10
    for line in spoken:
        words = line.split(" -- ")[0].split()
        name = " ".join(word for word in words[:2] if word.islower() and not word.startswith("-"))
        assert name in known, line
        options = {option for one in known[name].params for option in one.opts}
        assert {word for word in words if word.startswith("--")} <= options, line


def test_the_guide_begins_the_session_that_it_ends() -> None:
    assert guide_text().index("`memento session start`") < guide_text().index("`memento session end ")


def test_the_guide_is_printed_or_written_and_overwrites_nothing(cli: Call, tmp_path: Path) -> None:
    assert json.loads(cli("guide", "--json")[1])["text"] == guide_text()
    skills = tmp_path / "skills"
    for _ in range(2):
        assert cli("guide", "--out", str(skills))[0] == 0
    written = skills / "using-memento" / "SKILL.md"
    assert written.read_text() == guide_text()
    written.write_text("mine\n")
    code, out, _ = cli("guide", "--out", str(skills), "--json")
    assert (code, json.loads(out)["error"], written.read_text()) == (1, "guide_edited", "mine\n")


@pytest.mark.parametrize("line", [["guide", "--out", "."], ["export", "--format", "agents-md", "--out", "AGENTS.md"]])
def test_a_pipe_in_the_place_of_what_is_written_is_not_waited_for(play: Play, line: list[str]) -> None:
    (play.root / "using-memento").mkdir()
    os.mkfifo(play.root / "using-memento" / "SKILL.md")
    os.mkfifo(play.root / "AGENTS.md")
    words = [sys.executable, "-m", "memento_git", *line]
    assert subprocess.run(words, cwd=play.root, capture_output=True, timeout=60, check=False).returncode == 1


def test_the_guide_leads_to_the_short_answer_of_a_run_and_its_lists_are_whole(play: Play, run: str, cli: Call) -> None:
    """Way: of a run with fifteen tasks `status --json` is 70 KB, where the same as text is 3 KB."""
    play.proven()
    where = ("status", "-C", str(play.root))
    assert len(cli(*where, "--json")[1]) > 10 * len(cli(*where)[1])
    assert "`memento status`" in guide_text()
    assert "status --json" not in guide_text()
    assert re.search(r"\n\n(?:- What the|4\. )", guide_text()) is None
