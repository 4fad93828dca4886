"""File text <-> record: round trips, and hostile files that must be findings and nothing worse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import codec, layout, prosefile, yamltext
from memento_git.ledger.codec import Decoded, decode, record
from memento_git.ledger.layout import Place
from memento_git.ledger.view import LedgerUnreadable
from memento_git.model.finding import WHOLE
from memento_git.verbs import doctor
from memento_git.work.row_cache import base
from tests.play import git

if TYPE_CHECKING:
    from tests.play import Play

RUN, TASK = "run_000000000000", "task_000000000001"
STAMP = "20260101T000000000Z"
PATH = f".memento/runs/{RUN}/tasks/0/{TASK}/{STAMP}-blocked-000000000009.yaml"
PLACE = Place("event", RUN, "event_000000000009", TASK, STAMP, "blocked")
GOOD = f"do: blocked\nof: {TASK}\nat: 2026-01-01T00:00:00.000Z\nby: Ada\nafter: []\nreason: why\n"
PROSE = f"---\nid: {TASK}\ntitle: A task\nat: 2026-01-01T00:00:00.000Z\nby: Ada\n---\n"


def problems(data: bytes) -> list[tuple[str, int, str]]:
    """Return code, line and message of what is wrong with an event's file."""
    found = decode(PLACE, PATH, data)
    if isinstance(found, Decoded):
        event = record(PLACE, PATH, found)
        found = event if isinstance(event, list) else []
    assert all(finding.path == PATH for finding in found)
    return [(finding.code, finding.line, finding.message) for finding in found]


def test_a_good_event_has_no_problems() -> None:
    assert problems(GOOD.encode()) == []


@pytest.mark.parametrize(
    ("data", "code", "line", "words"),
    [
        (GOOD.replace("by: Ada", "by: &a Ada").replace("reason: why", "reason: *a"), "F001", 4, "alias"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "F001", 1, "alias"), ("a: &a\n  b: *a\n", "F001", 1, "alias"),
        (GOOD.replace("by: Ada", "by: !!python/object:os.system Ada"), "F001", 4, "tag"),
        (GOOD.replace("by: Ada", "by: !mine Ada"), "F001", 4, "tag"),
        (GOOD + "by: Bob\n", "F001", 7, "twice"), (GOOD + "proven: true\n", "F002", 7, "unknown key"),
        (GOOD + "--- \n" + GOOD, "F001", 7, "not YAML"), ("? [a]\n: b\n", "F001", 1, "plain text"),
        ("<<: {do: blocked}\n" + GOOD, "F002", 1, "unknown key"), ("a: b: c\n", "F001", 1, "not YAML"),
        (GOOD + "<<<<<<< HEAD\n", "F001", 7, "merge conflict"),
        (GOOD.replace("by: Ada", "<<<<<<< HEAD\nby: Ada\n=======\nby: Bob\n>>>>>>> other"), "F001", 4, "conflict"),
        (GOOD.replace("Ada", "A\0da"), "F001", 4, "not YAML"), ("\ufeff" + GOOD, "F001", 1, "byte order mark"),
        ("", "F002", 1, "missing"), ("- a\n", "F002", 1, "mapping is expected"), ("text\n", "F002", 1, "mapping"),
        (GOOD.replace("why", '"\\e[31m"'), "F002", 6, "U+001B"),
        (GOOD.replace("why", '"\\u202e"'), "F002", 6, "U+202E"),
        (GOOD.replace("reason: why", "reason: [a]"), "F002", 6, "missing"),
        (GOOD.replace("after: []", "after: x"), "F002", 5, "list"),
        (GOOD.replace("after: []", "after: [event_1@2]"), "F002", 5, "reference"),
        (GOOD.replace(TASK, "task_000000000002"), "F003", 1, "differ"),
        (GOOD.replace("do: blocked", "do: cancelled"), "F003", 1, "differ"),
        (GOOD.replace("2026-01-01T00", "2026-01-01T01"), "F003", 1, "differ"),
        (GOOD.replace("2026-01-01", "2026-13-41"), "F002", 3, "not a time"),
        (GOOD.replace("2026-01", "٢٠٢٦-01"), "F002", 3, "not a time"),
        (GOOD.replace("why", "x" * 70_000), "F002", 6, "characters"),
        (GOOD + "# " + "x" * 5_000_000, "F001", 0, "more than a ledger file may have"),
    ],
)  # fmt: skip
def test_a_hostile_event_is_a_finding_with_its_line(data: str, code: str, line: int, words: str) -> None:
    found = problems(data.encode())
    assert found
    assert found[0][0] == code
    assert found[0][1] == line
    assert words in found[0][2]


@pytest.mark.parametrize(
    "data",
    [GOOD + "colour: red\n", GOOD.replace("do: blocked", "do: sung"), GOOD + "# " + "x" * 2_000_000, "a: b: c\n"],
)
def test_what_is_wrong_with_an_event_is_put_right_by_restoring_it_or_taking_it_out(data: str) -> None:
    for name in (PATH, PATH.replace("blocked", "sung")):
        assert all(one.fix.endswith(WHOLE) for one in codec.check(name, data.encode()) if one.code != "F003")
    assert codec.check(PATH, data.encode())


@pytest.mark.parametrize("data", [b"version: 1\npolicy: {colour: red}\n", b"version: 1\npolicy: {lease: soon}\n"])
def test_what_is_wrong_with_policy_says_what_to_do(data: bytes) -> None:
    (found,) = codec.read_config(data)[1]
    assert "take the key out" in found.fix
    assert "Memento's documentation" in found.fix


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("verify: [{commands: [pytest -q]}]", "a mapping is expected here, not 'pytest -q'; known in it: run, kind"),
        ("reproduce: {commands: [pytest]}", "a list is expected here, not 'pytest'"),
        ("agents: claude", "a mapping is expected here, not 'claude'"),
    ],
)
def test_what_stands_where_a_mapping_or_a_list_belongs_is_named(policy: str, told: str) -> None:
    (found,) = codec.read_config(f"version: 1\npolicy: {{{policy}}}\n".encode())[1]
    assert found.message.startswith(told)


@pytest.mark.parametrize("data", [b"", b"[]", b"policy: {}\n", b"version: one\n"])
def test_a_policy_without_the_format_of_its_ledger_is_told_how_to_begin(data: bytes) -> None:
    (found,) = codec.read_config(data)[1]
    assert found.fix == "let it begin with the line: version: 1"


def test_text_that_is_not_utf_8_is_a_finding_with_its_line() -> None:
    assert problems(GOOD.replace("Ada", "Ad\xe9").encode("latin-1")) == [("F001", 4, "not UTF-8 text")]
    assert problems(GOOD.encode("utf-16"))[0][0] == "F001"


ROOT = Path(__file__).parent.parent
DEEP = {
    "flow lists": "[" * 30_000, "flow maps": "{a: " * 30_000, "block lists": "- " * 30_000 + "a",
    "question marks": "? " * 30_000, "colons": ": " * 30_000, "tabs": "-\t" * 30_000,
    "line separators": "".join("\u2028" + " " * i + "a:" for i in range(700)),
    "next lines": "".join("\u0085" + " " * i + "a:" for i in range(700)),
    "indents": "".join("\n" + " " * i + "a:" for i in range(700)),
    "lone returns": "".join("\r" + " " * i + "a:" for i in range(700)),
    "dash lines": "".join("\n" + " " * i + "-" for i in range(700)),
    "anchors": "&a [" * 20_000, "tags": "!!seq [" * 20_000,
}  # fmt: skip


def test_nesting_that_crashes_the_parser_in_c_is_refused_before_it_gets_there() -> None:
    program = (
        "from memento_git.ledger import yamltext\n"
        "from tests.test_codec import DEEP\n"
        "for encoding in ('utf-8', 'utf-16', 'utf-16-le', 'utf-32'):\n"
        "    for name, text in DEEP.items():\n"
        "        try: yamltext.load(text.encode(encoding))\n"
        "        except yamltext.Unreadable: continue\n"
        "        raise SystemExit(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-300:]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", "front matter"), ("id: x\n", "front matter"), ("---\nid: x\n", "front matter"),
        ("\ufeff" + PROSE, "a byte order mark stands before the front matter"), ("---\n---\n", "missing"),
        (f"<<<<<<< HEAD\n{PROSE}=======\n{PROSE}>>>>>>> x\n", "a merge conflict is left in this file"),
    ],
)  # fmt: skip
def test_prose_without_front_matter_is_a_finding(data: str, words: str) -> None:
    found = decode(Place("task", RUN, TASK, TASK), "task.md", data.encode())
    assert isinstance(found, list)
    assert words in found[0].message


def test_a_finding_in_front_matter_counts_lines_from_the_top_of_the_file() -> None:
    found = decode(Place("task", RUN, TASK, TASK), "task.md", PROSE.replace("by: Ada", "colour: red").encode())
    assert isinstance(found, list)
    assert ("F002", 5) in [(finding.code, finding.line) for finding in found]


def test_the_bytes_of_one_kind_at_the_place_of_another_are_a_finding() -> None:
    event = Decoded({"id": "evidence_000000000001", "at": "2026-01-01T00:00:00.000Z"}, "", "")
    assert isinstance(record(PLACE, PATH, event), list)
    task = Decoded({"do": "blocked", "at": "2026-01-01T00:00:00.000Z"}, "", "")
    assert isinstance(record(Place("task", RUN, TASK, TASK), "task.md", task), list)


@pytest.mark.parametrize("version", ["2", "99", "9" * 6000])
def test_a_format_from_the_future_is_told_apart_from_a_broken_file(version: str) -> None:
    _, found = codec.read_config(f"version: {version}\n".encode())
    assert [finding.code for finding in found] == ["F005"]


@pytest.mark.parametrize("version", ["0", "-1", "x", "\u00b2", "1.0", "[1]", "{}", "''"])
def test_a_version_that_is_no_number_is_a_finding(version: str) -> None:
    _, found = codec.read_config(f"version: {version}\n".encode())
    assert [finding.code for finding in found] == ["F002"]


def test_config_without_a_mapping_is_a_finding() -> None:
    for text in (b"", b"- a\n", b"x\n", b"a: [", b"version: 1\npolicy: [x]\n", b"version: 1\npolicy: {lease: 1y}\n"):
        assert codec.read_config(text)[1]


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("policy:\n  executors: {ada: {}}\n", "put executors beside policy, at the beginning of its line"),
        ("lease: 2h\n", "put lease below policy"),
    ],
)
def test_a_key_of_config_in_the_wrong_place_is_told_where_it_belongs(text: str, fix: str) -> None:
    (found,) = codec.read_config(f"version: 1\n{text}".encode())[1]
    assert (found.code, found.fix) == ("F002", fix)


# Written text.

SPECIAL = [
    "true", "null", "~", "123", "1e3", "0x1f", "2026-01-01", "- a", "# no", "a: b", "'", '"', "\ta", "a\nb\n",
    " a ", "\n", "%x", "@x", "`x", "&a", "*a", "!t", "| x", "> x", "{a", "[a", "yes", "=", "<<", "é\u0301",
    "\U0001f600",
    "a\n\n  b\n", "\n  x", "trailing \nspace ", "---", "...", "a\n---\nb", "x" * 500, "\u2028x", "\x85",
]  # fmt: skip


@pytest.mark.parametrize("text", SPECIAL)
def test_any_text_comes_back_as_it_was_written(text: str) -> None:
    value = {"k": text, "l": [text, {"m": text}]}
    assert yamltext.load(yamltext.dump(value).encode()).value == value


@pytest.mark.parametrize("text", [text for text in SPECIAL if text.strip()])
def test_any_text_can_be_put_into_a_file_that_people_edit(text: str) -> None:
    new = prosefile.rewrite((PROSE + "body\n").encode(), {"title": text, "criteria": [text, "two"]}, "")
    front = yamltext.load(new.split(b"---\n", 1)[1].rsplit(b"---\nbody\n", 1)[0]).value
    assert (front["title"], front["criteria"]) == (text, [text, "two"])


EDITED = """\
---
# mine, on top
id: 'task_000000000001'   # quoted by hand
title: "Old"  # why this title
at:   2026-01-01T00:00:00.377Z
by: Ada

# what is asked
criteria:
    - one   # the first
    - two
    # about three
    - 2026-01-01
# and last
files: [ a.py,   b.py ]
# end
---
Body stays.
"""


def test_a_rewrite_leaves_all_that_it_does_not_change_to_the_byte() -> None:
    new = prosefile.rewrite(EDITED.encode(), {"title": "New"}, "").decode()
    assert new == EDITED.replace('title: "Old"  # why this title', 'title: "New"  # why this title')
    assert prosefile.rewrite(EDITED.encode(), {}, "") == EDITED.encode()
    assert prosefile.rewrite(EDITED.encode(), {}, "Other.").decode() == EDITED.replace("Body stays.", "Other.")


def test_a_rewrite_of_a_list_keeps_the_comments_of_what_stays_and_all_around_it() -> None:
    new = prosefile.rewrite(EDITED.encode(), {"criteria": ["one", "2026-01-01", "four"]}, "").decode()
    for comment in (
        "# mine, on top",
        "# quoted by hand",
        "# the first",
        "# and last\nfiles: [ a.py,   b.py ]\n# end\n",
    ):
        assert comment in new
    assert "at:   2026-01-01T00:00:00.377Z\n" in new
    front = yamltext.load(new.split("---\n")[1].encode()).value
    assert front["criteria"] == ["one", "2026-01-01", "four"]


def test_a_rewrite_removes_a_key_and_keeps_the_comment_after_it() -> None:
    new = prosefile.rewrite(EDITED.encode(), {"criteria": []}, "").decode()
    assert "criteria" not in new
    assert "# and last\nfiles: [ a.py,   b.py ]\n" in new


def test_a_rewrite_of_front_matter_between_braces_works() -> None:
    data = b"---\n{id: x, title: old, at: 2026-01-01T00:00:00.377Z}\n---\nbody\n"
    new = prosefile.rewrite(data, {"title": "new"}, "").decode()
    assert yamltext.load(new.split("---\n")[1].encode()).value == {
        "id": "x", "title": "new", "at": "2026-01-01T00:00:00.377Z",
    }  # fmt: skip


# A whole ledger with something hostile in it: the rest still reads.


def plant(play: Play, run: str, task: str, what: str) -> str:  # noqa: C901, PLR0911, PLR0912 (a list of hostile things)
    """Put something hostile into a run, beside a good task; return a word of the path that findings must name."""
    folder = play.root / layout.folder_of(run, task)
    blocked = f"{STAMP}-blocked-000000000009.yaml"
    top = play.root / ".memento" / "runs" / run
    match what:
        case "nul":
            (folder / blocked).write_bytes(b"do: \0")
        case "huge":
            (folder / blocked).write_bytes(b"x" * 5_000_000)
        case "deep":
            (folder / blocked).write_bytes(b"[" * 30_000)
        case "wrong verb":
            (folder / blocked.replace("blocked", "exploded")).write_text("do: exploded\n")
            return "exploded"
        case "evidence at an event":
            source = next(top.glob("evidence/*/*.yaml"))
            (folder / blocked).write_bytes(source.read_bytes())
        case "symlink":
            (folder / blocked).symlink_to("/etc/passwd")
        case "submodule":
            link = f"{layout.folder_of(run, task)}/{blocked}"
            head = git(play.root, "rev-parse", "HEAD")
            git(play.root, "update-index", "--add", "--cacheinfo", f"160000,{head},{link}")
            git(play.root, "commit", "-qm", "submodule")
        case "directory":
            (folder / blocked).mkdir()
            (folder / blocked / "x").write_text("x")
        case "upper case":
            (folder / blocked.upper()).write_text("x")
            return blocked.upper()
        case "other shard":
            wrong = top / "tasks" / "!" / task
            wrong.mkdir(parents=True)
            (wrong / "task.md").write_text("x")
            return "/!/"
        case "broken task":
            (folder / "task.md").write_text("no front matter")
            return "task.md"
        case "missing run text":
            (top / "run.md").unlink()
            return "run.md"
        case "broken run text":
            (top / "run.md").write_bytes(b"\xff")
            return "run.md"
        case "stray run":
            (top.parent / "notes").mkdir()
            (top.parent / "notes" / "x.md").write_text("x")
            return ""
    return blocked


@pytest.mark.parametrize(
    "what",
    [
        "nul", "huge", "deep", "wrong verb", "evidence at an event", "symlink", "submodule", "directory", "upper case",
        "other shard", "broken task", "missing run text", "broken run text", "stray run",
    ],
)  # fmt: skip
def test_something_hostile_in_a_run_is_told_and_the_rest_still_reads(play: Play, run: str, what: str) -> None:
    good = play.proven("Good", run=run)
    bad = play.task("Bad", run=run)
    word = plant(play, run, bad, what)
    if what != "submodule":
        play.commit_all("hostile")
    for _ in range(2):  # the second time from the cache
        view = play.ledger.view()
        held = base(view, run)
        row = next(row for row in held["tasks"] if row["id"] == good)
        assert (row["status"], row["proven"]) == ("completed", True)
        strangers = [path for path in view.files if layout.place_of(path) is None]
        assert not word or any(word in str(told) for told in (*held["findings"], *strangers))
        assert play.ledger.view().runs() == [run]
    if word and what != "broken task":
        assert [answer for answer in doctor.examine(play.ledger) if word in answer.message + answer.fix]
        play.task("One more", run=run)


def test_an_unreadable_event_leaves_its_own_record_incomplete_and_can_be_voided(play: Play) -> None:
    from memento_git.work.actions import settling

    run = play.planned()
    task = play.proven()
    folder = play.root / layout.folder_of(run, task)
    (folder / f"{STAMP}-reopened-000000000009.yaml").write_bytes(b"\0")
    play.commit_all("hostile")
    assert not play.is_proven(task)
    play.do(settling.void_event, "event_000000000009", reason="not ours")
    assert play.is_proven(task)


def test_two_files_with_one_id_are_a_finding_and_the_one_that_others_name_counts(play: Play, run: str) -> None:
    one, two = play.proven("One", run=run), play.task("Two", run=run)
    source = next((play.root / layout.folder_of(run, one)).glob("*-claimed-*.yaml"))
    stamp, _, number = source.stem.split("-")
    target = play.root / layout.folder_of(run, two) / f"20200101T000000000Z-blocked-{number}.yaml"
    assert stamp
    play.commit(target, GOOD.replace(TASK, two).replace("2026-", "2020-"), "copied")
    state = play.state(run)
    assert state.index.twins
    assert [finding.code for finding in state.view.findings] == ["F008"]
    assert play.is_proven(one)
    assert play.status(two) == "pending"


def test_a_task_copied_into_another_run_is_found_in_the_first_and_told(play: Play) -> None:
    one = play.planned()
    task = play.task(run=one)
    other = play.run("Another")
    folder: Path = play.root / layout.folder_of(other, task)
    folder.mkdir(parents=True)
    (folder / "task.md").write_bytes((play.root / layout.prose_path(one, task)).read_bytes())
    play.commit_all("copied")
    view = play.ledger.view()
    assert view.find(task, "task")[1] == min(one, other)
    assert view.known("task")[task] == min(one, other)
    assert [finding.code for finding in view.findings] == ["F008"]


@pytest.mark.parametrize("what", ["symlink", "directory", "newer", "broken"])
def test_a_policy_that_cannot_be_read_is_never_replaced_by_the_default(play: Play, what: str) -> None:
    config = play.root / layout.CONFIG
    config.unlink()
    if what == "symlink":
        config.symlink_to("README.md")
    elif what == "directory":
        config.mkdir()
        (config / "x").write_text("x")
    else:
        config.write_text("version: 2\n" if what == "newer" else "version: [")
    play.commit_all("hostile")
    with pytest.raises(LedgerUnreadable):
        play.ledger.view().policy()


def test_a_conflict_left_in_a_tasks_text_is_told_with_its_line_and_the_task_is_shown(play: Play, run: str) -> None:
    task = play.task(run=run, body="First line.")
    path = play.root / layout.prose_path(run, task)
    text = path.read_text()
    play.commit(path, text + "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", "left")
    held = base(play.ledger.view(), run)
    assert [(finding[0], finding[2]) for finding in held["findings"]] == [("F001", text.count("\n") + 1)]
    assert [row["id"] for row in held["tasks"]] == [task]


def test_the_same_text_of_a_policy_is_read_once_and_what_is_wrong_with_it_can_be_added_to() -> None:
    text = b"version: 1\npolicy: {approve: 2}\n"
    policy, found = codec.read_config(text)
    told = list(found)
    found.clear()
    again = codec.read_config(text)
    assert again[0] is policy
    assert again[1] == told != []
