"""A command line that is malformed: the answer's next step is the line that was meant."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.generator.commands import tree
from memento_git.cli import synonyms
from memento_git.cli.main import COMMANDS, memento
from memento_git.cli.suggestions import led_on

if TYPE_CHECKING:
    from tests.play import Call

TASK, DISPATCH, EVIDENCE, NOTE = "task_he3e6qhp9pr4", "dispatch_r6fkh557c94x", "evidence_yc8d428t75ym", "note_yk0z"
LED = [
    # a text without its option, quoted or not
    ("task add 'Fix it'", "task add --title 'Fix it'"),
    ("task add Fix the login", "task add --title 'Fix the login'"),
    ("task add the door and the lock", "task add --title 'the door and the lock'"),
    ("task add 'Fix it' 'Nobody can log in'", "task add --title 'Fix it' --body 'Nobody can log in'"),
    ("task add Fix --size small it", "task add --size small --title Fix --body it"),
    ("run start --goal Ship the thing", "run start --goal 'Ship the thing'"),
    (f"task block {TASK} 'waits for ops'", f"task block {TASK} --reason 'waits for ops'"),
    ("run pause 'waits for ops'", "run pause --reason 'waits for ops'"),
    ("remember we use tabs", "remember 'we use tabs'"),
    # a word without its option: an id by its kind, one of a choice, what is required
    (f"evidence list {TASK}", f"evidence list --task {TASK}"),
    (f"dispatch create {TASK} codex", f"dispatch create {TASK} --executor codex"),
    ("task list pending", "task list --status pending"),
    (f"dispatch complete {DISPATCH} p5y4", f"dispatch complete {DISPATCH} --evidence p5y4"),
    (f"dispatch complete {DISPATCH} done", f"dispatch complete {DISPATCH} --summary done"),
    (f"dispatch fail {DISPATCH} 2nd", f"dispatch fail {DISPATCH} --reason 2nd"),
    # what is lacking
    (
        f"dispatch complete {DISPATCH} --evidence --summary ok",
        f"dispatch complete {DISPATCH} --evidence EVIDENCE --summary ok",
    ),
    ("task add", "task add --title TEXT"),
    ("plan draft x", "plan draft --title x --body TEXT"),
    (f"dispatch create {TASK}", f"dispatch create {TASK} --executor WHO"),
    (f"dispatch create -- {TASK}", f"dispatch create --executor WHO -- {TASK}"),
    ("gate record quality_review", "gate record quality_review VERDICT"),
    ("task show", "task show TASK"),
    ("note retire", "note retire NOTE --reason TEXT"),
    ("note retire --key-prefix a", "note retire --key-prefix a --reason TEXT"),
    ("note retire --key-prefix '' --reason x", "note retire --key-prefix KEY --reason x"),
    ("task add --title ''", "task add --title TEXT"),
    (f"note purge {NOTE}", f"purge {NOTE}"),
    ("note park", "note park NOTE"),
    # an option by another name, or before its command
    ("task add --name 'Fix it' --description More", "task add --title 'Fix it' --body More"),
    ("task add -m 'Fix it'", "task add --title 'Fix it'"),
    (f"task show --task-id {TASK}", f"task show {TASK}"),
    (f"task show --id={TASK}", f"task show {TASK}"),
    ("task add --titel x", "task add --title x"),
    ("report --otu x", "report --out x"),
    ("evidence run --junit r.xml -- pytest", "evidence run --report r.xml -- pytest"),
    ("status --verbose", "status"),
    ("status --actor Ann", "--actor Ann status"),
    ("status --actor=Ann", "--actor=Ann status"),
    ("run show --actor", "--actor WHO run show"),
    ("task list --version --ready", "--version task list --ready"),
    ("evidence list '--task=two words' --knd test", "evidence list '--task=two words' --kind test"),
    ("--at HEAD status", "status --at HEAD"),
    ("task --run run_x list", "task list --run run_x"),
    ("task --limit 3", "task list --limit 3"),
    # a value that is near, or none
    ("task list --status done", "task list --status completed"),
    ("task list --status in-progress", "task list --status in_progress"),
    ("task list --status xyzzy", "task list --status STATUS"),
    (f"task finish {TASK} --evidence {EVIDENCE}", f"dispatch complete DISPATCH --evidence {EVIDENCE}"),
    (f"run abort {NOTE} --reason x", "run cancel RUN --reason x"),
    # another verb, a verb without its noun or before it, another noun
    ("task create --title x", "task add --title x"),
    (f"task delete {TASK}", f"task cancel {TASK} --reason TEXT"),
    ("run finish", "run complete"),
    ("run stop run_yk0z", "run pause run_yk0z"),
    (f"delete {NOTE}", f"note retire {NOTE} --reason TEXT"),
    (f"remove {EVIDENCE}", f"evidence retract {EVIDENCE} --reason TEXT"),
    ("task claim x", "dispatch claim x"),
    (f"claim {DISPATCH}", f"dispatch claim {DISPATCH}"),
    ("add task --title x", "task add --title x"),
    ("list tasks", "task list"),
    ("add-task --title x", "task add --title x"),
    ("tickets", "task"),
    ("dispach list", "dispatch list"),
    (f"task {TASK}", f"task show {TASK}"),
    (TASK, f"show {TASK}"),
    (f"dispatch {TASK}", f"dispatch create {TASK} --executor WHO"),
    ("note 'We use tabs'", "note add 'We use tabs'"),
    ("decision 'We use tabs'", "note add 'We use tabs' --kind decision"),
    ("decisions", "note list --kind decision"),
    ("search tabs", "recall tabs"),
    ("check main", "check --base main"),
    ("check main feature", "check --base main --at feature"),
    ("check main..feature", "check --base main --at feature"),
    ("check main...", "check --base main"),
    ("check --against main", "check --base main"),
    ("check --diff v1 v2", "check --diff v1..v2"),
    ("check stale", "check anchors"),
    ("check diff main..feature", "check --diff main..feature"),
    ("diff v1 v2", "diff v1..v2"),
    ("changes 2d", "changes --since 2d"),
    (f"note supersede {NOTE} 'We use tabs.'", f"note add --supersedes {NOTE} 'We use tabs.'"),
    (f"note pin {NOTE}", f"note revise --pinned {NOTE}"),
    (f"note revise {NOTE} --pin", f"note revise {NOTE} --pinned"),
    ("recall x --format json", "recall x --json"),
    ("task list -o json --ready", "task list --json --ready"),
    ("recall --key auth", "recall --key-prefix auth"),
    ("session checkpoint half --todo tests", "session checkpoint half --remaining tests"),
    ("commit", "status"),
    ("code src/app.py:3-9", "code read src/app.py:3-9"),
    ("check anchor", "check anchors"),
    ("checkpoint 'half of it'", "session checkpoint 'half of it'"),
    ("help task add", "task add --help"),
    ("version", "--version"),
    ("Task List", "task list"),
    (f"status {TASK}", f"show {TASK}"),
    (f"log {TASK}", f"log --record {TASK}"),
    ("report --html", "report --format html"),
    ("completion --bash", "completion bash"),
    ("client install --claude-code", "client install claude-code"),
    # what a chat makes of dashes and quotes
    ("task add \u2014title Fix", "task add --title Fix"),
    ("task add \u2014-title Fix", "task add --title Fix"),
    ("task add \u2013title Fix", "task add --title Fix"),
    ("task add --title \u201cFix the login\u201d --kind fix", "task add --title 'Fix the login' --kind fix"),
    ("task add \u2018Fix\u2019", "task add --title Fix"),
    ("task add \u201cthe users\u2019 list\u201d --knd fix", "task add --kind fix --title 'the users\u2019 list'"),
    ("task add \u201eFix it\u201c --knd fix", "task add --kind fix --title 'Fix it'"),
    ("task add '\u2014see the docs' --knd fix", "task add --kind fix --title '\u2014see the docs'"),
    ("task add --titel '\u201cFix\u201d it'", "task add --title '\u201cFix\u201d it'"),
    (f"evidence run --tsk {TASK} -- echo \u2014x", f"evidence run --task {TASK} -- echo '\u2014x'"),
]
NONE = [
    "diff v1..v2 v3",
    "xyzzy", "task xyzzy", "status --xyzzy", f"task list {NOTE}", "task add --title x", "note show -- x y",
    "plan draft --title x --file plan.md", "task list -xyz", f"page {NOTE}", f"expunge {NOTE}", f"revert {NOTE}",
]  # fmt: skip


@pytest.mark.parametrize(("typed", "line"), LED, ids=[typed for typed, _ in LED])
def test_a_mistake_leads_to_the_line_that_was_meant(typed: str, line: str) -> None:
    assert led_on(shlex.split(typed)) == f"memento {line}"
    assert "--help" in line or led_on(shlex.split(line)) == "", "what it leads to is led on once more"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("task lst", "No such command 'lst'. [usage]\n next: memento task list"),
        ("recall x --vew list", "No such option '--vew'. [usage]\n next: memento recall x --view list"),
    ],
)
def test_one_guess_is_told_and_not_two(cli: Call, typed: str, told: str) -> None:
    assert cli(*shlex.split(typed))[2] == f"error: {told}\n"


@pytest.mark.parametrize("typed", NONE)
def test_what_nothing_is_known_of_leads_nowhere(typed: str) -> None:
    assert led_on(shlex.split(typed)) == ""


def test_the_command_line_answers_with_it_and_runs_nothing(cli: Call) -> None:
    code, out, err = cli("task", "add", "Fix it")
    assert (code, out) == (2, "")
    assert err.endswith("[usage]\n next: memento task add --title 'Fix it'\n")
    answer = json.loads(cli("--json", "task", "add", "Fix it")[1])
    assert answer["hint"] == "memento --json task add --title 'Fix it'"
    _, _, err = cli("task", "xyzzy")
    assert "task has add, block, " in err
    assert err.endswith(" next: see memento task --help\n")


def test_where_an_id_is_lacking_its_list_is_named_too(cli: Call) -> None:
    listed = "memento plan list, of another run with --run RUN"
    assert cli("plan", "approve")[2].endswith(f" next: memento plan approve PLAN; to find it: {listed}\n")
    for words in (("purge",), ("note", "merge"), ("note", "redact")):
        assert cli(*words)[2].endswith("; to find it: memento note list; drafts: memento session status\n")
    assert cli("run", "cancel", "--raeson", "x")[2].endswith(" next: memento run cancel --reason x\n")


@pytest.mark.parametrize("text", ["x" * 300, "a\x1b[31mb", "line\nline", "ghp_" + "a1B2" * 9])
def test_what_must_not_be_shown_is_in_no_line(text: str) -> None:
    assert led_on(["task", "add", text]) == ""


def test_a_line_of_many_words_is_not_gone_through() -> None:
    assert led_on(["task", "add", *("word" for _ in range(30))]) != ""
    assert led_on(["task", "add", *("word" for _ in range(100_000))]) == ""


WORDS = sorted(
    {*COMMANDS, *(word for line in synonyms.VERBS.values() for word in line.split()), *synonyms.NOUNS, "tasks", TASK}
)


ODD = ["--title", "--run", "--id", "-m", "-xyz", "--actor=x", "--", "two words", ""]


@given(st.lists(st.sampled_from([*WORDS, NOTE, *ODD]), max_size=6))
def test_it_never_fails_and_what_it_leads_to_is_another_line(words: list[str]) -> None:
    line = led_on(words)
    assert line == "" or (line.startswith("memento ") and shlex.split(line)[1:] != words)


def test_every_word_that_another_stands_for_is_of_a_command() -> None:
    known = dict(tree(memento))
    verbs = {path[-1] for path in known}
    assert synonyms.VERBS.keys() <= verbs
    assert {*synonyms.NOUNS, *synonyms.FIRST} <= COMMANDS.keys()
    assert {*synonyms.MAKING} <= verbs
    options = {name.lstrip("-") for command in known.values() for one in command.params for name in one.opts}
    names = options | {str(one.name).removesuffix("_id") for command in known.values() for one in command.params
                       if isinstance(one, click.Argument)}  # fmt: skip
    assert [line for line in synonyms.ALIKE if not set(line.split()) & names] == []


@pytest.mark.parametrize(("typed", "guess"), [("--check", ""), ("--after-json", ""), ("--jsno", "--json")])
def test_a_guess_is_told_only_where_it_is_near(cli: Call, typed: str, guess: str) -> None:
    """Where no line leads on, as behind a noun: every option begins with the same dashes, which tells nothing."""
    code, _, err = cli("evidence", typed, "pytest")

    assert (code, "Did you mean" in err) == (2, bool(guess))
    assert guess in err
