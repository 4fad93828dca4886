"""init --collapse-events: a setting of the hosting service's view of a diff, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import layout
from memento_git.work.actions.setup import ATTRIBUTES_TEXT, COLLAPSED
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play


def attribute(folder: Path, *paths: str) -> list[str]:
    told = git(folder, "check-attr", "linguist-generated", "--", *paths)
    return [line.rpartition(": ")[2] for line in told.splitlines()]


def test_a_new_ledger_shows_events_unless_it_is_asked_to_fold_them_up(repo: Path, cli: Call) -> None:
    assert cli("init", "-C", str(repo), "--collapse-events")[0] == 0
    text = (repo / layout.ATTRIBUTES).read_text()
    assert text == ATTRIBUTES_TEXT + "".join(f"{line}\n" for line in COLLAPSED)
    assert git(repo, "rev-list", "--count", "HEAD") == "2"


def test_init_again_changes_that_setting_alone_in_one_commit(play: Play, run: str, cli: Call) -> None:
    play.proven()
    where = ("-C", str(play.root))
    attributes = play.root / layout.ATTRIBUTES
    play.commit(attributes, f"{ATTRIBUTES_TEXT}*.png binary")
    count = int(git(play.root, "rev-list", "--count", "HEAD"))
    assert "folded up" in cli("init", "--collapse-events", *where)[1]
    assert git(play.root, "show", "--format=", "--name-only", "HEAD") == layout.ATTRIBUTES
    assert attributes.read_text().splitlines()[-3:] == ["*.png binary", *COLLAPSED]
    cli("init", "--collapse-events", *where)
    cli("init", *where)
    assert int(git(play.root, "rev-list", "--count", "HEAD")) == count + 1
    assert "shown" in cli("init", "--show-events", *where)[1]
    assert attributes.read_text() == f"{ATTRIBUTES_TEXT}*.png binary\n"
    assert git(play.root, "status", "--porcelain") == ""


def test_init_leads_to_a_run_once_and_then_to_what_there_is(cli: Call, repo: Path) -> None:
    nexts = [cli("init", "-C", str(repo))[1].splitlines()[-1] for _ in range(2)]
    assert nexts == [" next: memento run start --goal TEXT", " next: memento status"]


@pytest.mark.parametrize("collapse", [True, False])
def test_git_sees_it_for_events_and_evidence_and_not_for_what_people_wrote(
    play: Play, cli: Call, *, collapse: bool
) -> None:
    if collapse:
        cli("init", "--collapse-events", "-C", str(play.root))
    play.planned()
    play.proven()
    files = git(play.root, "ls-files", ".memento/runs").splitlines()
    made: list[Any] = [path for path in files if not path.endswith(".md")]
    assert any(path.endswith("stdout.txt") for path in made)
    assert set(attribute(play.root, *made)) == ({"set"} if collapse else {"unspecified"})
    written = [layout.CONFIG, layout.README, *(path for path in files if path.endswith(".md"))]
    assert set(attribute(play.root, *written)) == {"unspecified"}
