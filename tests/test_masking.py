"""A secret that a text of a branch holds is told as such, and not repeated by what we write of that text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memento_git.model.finding import Finding
from memento_git.review.masking import of_findings, without_secrets
from memento_git.work.actions import dispatches, evidences
from tests.play import git, merge_into

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

TOKEN = "ghp_" + "kvqtCMZUnhB3J20Luqro5x4jg37qm02UsLtY"
REDACTED = "[redacted: GitHub Token]"
PASSWORD = "kvqtCMZU9nhB3J20"
DIFFS = (["diff", "main"], ["diff", "main", "--format", "markdown"], ["diff", "main", "--json"])


@pytest.fixture
def leaky(play: Play) -> Play:
    """A branch that edited secrets into texts: a token into a title, a password after its name into a criterion."""
    play.run()
    play.task("Answer tokens", criteria=["it holds"])
    git(play.root, "switch", "-qc", "side")
    for path in play.root.glob(".memento/runs/*/**/*.md"):
        text = path.read_text()
        path.write_text(text.replace("Answer tokens", f"Answer {TOKEN}").replace("it holds", f"password = {PASSWORD}"))
    play.commit_all("secrets")
    return play


@pytest.mark.parametrize("command", DIFFS)
def test_a_diff_shows_that_words_are_a_secret_and_not_the_secret(leaky: Play, cli: Call, command: list[str]) -> None:
    code, out, _ = cli(*command, "-C", str(leaky.root))

    assert (code, TOKEN in out, PASSWORD in out) == (0, False, False)
    assert "redacted: GitHub Token" in out


@pytest.mark.parametrize("command", [*DIFFS, ["report"], ["report", "--chat"], ["report", "--json", "--limit", "0"]])
def test_a_word_that_is_a_secret_by_the_one_before_it_is_shown_nowhere(
    play: Play, run: str, cli: Call, command: list[str]
) -> None:
    task = play.task(commands=["echo --name value"])
    git(play.root, "switch", "-qc", "side")
    play.do(
        evidences.record_draft, evidences.witness(play.ledger, ["echo", "--name", "value"], kind="test", quiet=True)
    )
    play.do(dispatches.create_dispatch, task, "agent", note="see a note")
    for path in play.root.glob(".memento/runs/**/*.[my]*"):
        path.write_text(path.read_text().replace("--name", "--password").replace("value", PASSWORD))
        path.write_text(path.read_text().replace("a note", TOKEN))
    play.commit_all("secrets")
    cli("status", "--json", "--limit", "0", "-C", str(play.root))  # keeps the JSON of all events
    code, out, _ = cli(*command, "-C", str(play.root))

    assert (code, PASSWORD in out, TOKEN in out) == (0, False, False)
    assert "redacted: Secret Keyword" in out
    if "--limit" in command:
        assert f"see {REDACTED}" in [row["summary"] for row in json.loads(out)["audit"]]


@pytest.mark.parametrize("form", ["markdown", "text", "html", "json"])
def test_a_report_repeats_no_secret(leaky: Play, cli: Call, tmp_path: Path, form: str) -> None:
    out = tmp_path / "report"
    assert cli("report", "--format", form, "--out", str(out), "-C", str(leaky.root))[0] == 0

    assert TOKEN not in out.read_text()
    assert "redacted: GitHub Token" in out.read_text()


def test_what_a_finding_quotes_of_a_text_is_none_either(leaky: Play, cli: Call) -> None:
    found = json.loads(cli("check", "--base", "main", "--json", "-C", str(leaky.root))[1])["findings"]

    assert "S001" in {one["code"] for one in found}
    assert TOKEN not in json.dumps(found)


def test_where_the_policy_of_the_older_side_cannot_be_read_the_last_one_lets_through(leaky: Play, cli: Call) -> None:
    git(leaky.root, "switch", "-q", "main")
    for text in ("version: 1\npolicy: {allow_secrets: [GitHub Token]}\n", "version: 1\npolicy: [\n"):
        leaky.commit(".memento/config.yaml", text, "policy")
    merge_into(leaky.root, "side", "main")
    git(leaky.root, "checkout", "-q", "main~1", "--", ".memento/config.yaml")
    git(leaky.root, "commit", "-qm", "mended")
    code, out, _ = cli("diff", "main", "-C", str(leaky.root))

    assert (code, "cannot be read" in out, TOKEN in out, PASSWORD in out) == (0, True, True, False)


def test_what_mends_a_finding_holds_no_secret_of_the_command_that_it_runs_again() -> None:
    line = f"run it again: memento evidence run --task task_3f8q2v6n5h1j -- curl --password {PASSWORD}"
    [told] = of_findings([Finding("C001", "x", 0, "it is old", line)], ())
    assert told.fix == line.replace(PASSWORD, "[redacted: Secret Keyword]")
    assert of_findings([Finding("C001", "x", 0, "it is old", line)], ["Secret Keyword"])[0].fix == line


def test_what_policy_lets_through_is_shown(leaky: Play, cli: Call) -> None:
    git(leaky.root, "switch", "-q", "main")
    leaky.commit(".memento/config.yaml", "version: 1\npolicy:\n  allow_secrets: [GitHub Token]\n", "policy")
    merge_into(leaky.root, "side", "main")

    assert TOKEN in cli("diff", "main", "-C", str(leaky.root))[1]


def test_a_password_is_known_by_a_name_that_stayed_and_ids_and_other_words_stay() -> None:
    words = [
        {"change": "same", "text": "password = "},
        {"change": "removed", "text": "to be had from Ada"},
        {"change": "added", "text": PASSWORD},
        {"change": "left_out", "text": ""},
    ]
    told = {"id": "run_3f8q2v6n5h1j", "count": 3, "texts": [{"field": "goal", "words": words}]}

    kept = without_secrets(told, frozenset())

    pieces = kept["texts"][0]["words"]
    assert [one["text"] for one in pieces] == [*(one["text"] for one in words[:2]), "[redacted: Secret Keyword]", ""]
    assert (kept["id"], kept["count"]) == ("run_3f8q2v6n5h1j", 3)
