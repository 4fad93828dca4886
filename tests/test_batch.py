"""apply: a list of verbs in one commit, or nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import batch
from memento_git.work.actions.batch import ACTIONS, BatchInvalid
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Play

WHOLE = """
- do: run start
  goal: Ship the parser
  as: run
- do: plan draft
  run: $run
  title: Plan
  body: Write and test it.
  as: plan
- {do: plan approve, plan: $plan}
- do: task add
  run: $run
  title: Parse ints
  criteria: [42 parses]
  as: ints
- do: task add
  run: $run
  title: Parse floats
  depends-on: [$ints]
- {do: dispatch create, task: $ints, executor: agent, as: handed}
- {do: dispatch claim, dispatch: $handed, lease: 2h}
"""


def test_a_list_of_verbs_is_one_commit(play: Play, cli: Callable[..., Any]) -> None:
    before = int(git(play.root, "rev-list", "--count", "HEAD"))
    path = play.root.parent / "verbs.yaml"
    path.write_text(WHOLE)

    code, out, _ = cli("apply", str(path), "-C", str(play.root), "--json")

    assert code == 0
    done = json.loads(out)["done"]
    assert [row["do"] for row in done][:3] == ["run start", "plan draft", "plan approve"]
    assert int(git(play.root, "rev-list", "--count", "HEAD")) == before + 1
    ints, floats = done[3]["id"], done[4]["id"]
    assert (play.status(ints), play.status(floats)) == ("in_progress", "pending")
    assert play.state(floats).prose(floats).list("depends_on") == [ints]
    assert git(play.root, "status", "--short") == ""


def test_a_refusal_anywhere_leaves_nothing_behind(play: Play) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    refs = git(play.root, "for-each-ref")

    with pytest.raises(Exception, match="no task"):
        play.do(batch.apply, (WHOLE + "- {do: task block, task: task_zzzz, reason: r}\n").encode())

    assert git(play.root, "rev-parse", "HEAD") == head
    assert git(play.root, "for-each-ref") == refs
    assert git(play.root, "status", "--short") == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a list of verbs"),
        ("do: run start", "a list of verbs"),
        ("- run start", "'do' must be one of"),
        ("- {do: run explode}", "'do' must be one of"),
        ("- {do: run start}", "'goal' is missing"),
        ("- {do: run start, goal: G, colour: red}", "unknown option 'colour'"),
        ("- {do: run start, goal: G, spike: maybe}", "true or false"),
        ("- {do: run start, goal: [a, b]}", "one text"),
        ("- {do: task add, run: $nothing, title: T}", "called 'nothing'"),
        ("- {do: run start, tx: x, goal: G}", "unknown option 'tx'"),
        ("- &a {do: run start, goal: G}\n- *a", "anchor"),
        ("- {do: run start, goal: G", "not YAML"),
    ],
)
def test_a_list_that_cannot_be_understood_names_the_line(play: Play, text: str, told: str) -> None:
    with pytest.raises(BatchInvalid, match="line") as caught:
        play.do(batch.apply, text.encode())
    assert told in caught.value.message


def test_standard_input_is_read(play: Play) -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "memento_git", "apply", "-", "--json"],
        cwd=play.root, input=WHOLE.encode(), capture_output=True, check=True,
    )  # fmt: skip
    assert len(json.loads(done.stdout)["done"]) == 7


def test_every_verb_of_apply_has_a_command_of_the_same_name() -> None:
    import click

    from memento_git.cli.main import memento

    for verb in ACTIONS:
        if verb == "settle void":
            continue
        command: click.Command | None = memento
        for word in verb.split():
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), word)
        assert command is not None, verb
