"""check of notes: their places in the code, what a change touches, what rests on them, what to tidy up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from docs.generator import rows
from memento_git.errors import MementoError, adding
from memento_git.knowledge import pairs
from memento_git.knowledge.actions import note_checks, notes
from tests.play import Play, add, asked, git, take_out

if TYPE_CHECKING:
    from tests.play import Call

LINES = "".join(f"line {number} of the code\n" for number in range(1, 31))


def pinned(play: Play, text: str, *places: str, **options: Any) -> str:
    """Add a note whose places are pinned to what is committed now."""
    return add(play, text, about=places, **options)


def edited(text: str, *lines: int) -> str:
    told = text.splitlines(keepends=True)
    for line in lines:
        told[line - 1] = f"something else entirely, number {line}\n"
    return "".join(told)


# Places in the code.


def test_anchors_are_followed_to_head_to_a_revision_and_to_the_work_tree(play: Play, cli: Call) -> None:
    start = play.commit("calc.py", LINES)
    whole, part = pinned(play, "The file is generated.", "calc.py"), pinned(play, "Lines ten.", "calc.py:10-12")
    assert asked(cli, play, "check", "anchors")["counts"] == {"ok": 2}
    play.commit("calc.py", "new first line\n" + LINES)
    told = asked(cli, play, "check", "anchors")
    states = {row["note"]: (row["state"], row.get("lines")) for row in told["anchors"]}
    assert states == {whole: ("changed", None), part: ("moved", "11-13")}
    assert (told["notes"], told["counts"]) == (2, {"changed": 1, "moved": 1})
    (play.root / "calc.py").unlink()
    assert asked(cli, play, "check", "anchors", "--work-tree")["counts"] == {"gone": 2}
    git(play.root, "checkout", "-q", "calc.py")
    assert asked(cli, play, "check", "anchors", "--at", "HEAD~1")["counts"] == {"ok": 2}
    assert asked(cli, play, "check", "anchors", part)["counts"] == {"moved": 1}
    _, out, _ = cli("check", "anchors", "-C", str(play.root))
    assert "calc.py:10-12 → calc.py:11-13" in out
    assert "2 places of 2 notes: 1 changed, 1 moved" in out
    assert cli("check", "anchors", "-C", str(play.root), "--at", start, "--work-tree")[0] == 2
    assert cli("check", "anchors", "nothing", "-C", str(play.root))[0] in (1, 2)


def test_anchors_of_a_ledger_without_any_are_told_as_none(play: Play, cli: Call) -> None:
    add(play, "No place.")
    assert "0 places of 0 notes: none" in cli("check", "anchors", "-C", str(play.root))[1]


# What a change touches.


def test_a_change_names_the_notes_whose_lines_it_touches_and_no_others(play: Play, cli: Call) -> None:
    base = play.commit("calc.py", LINES)
    first, second = pinned(play, "Ten is a limit.", "calc.py:10-12"), pinned(play, "Twenty is not.", "calc.py:20-22")
    retired = pinned(play, "Eleven was odd.", "calc.py:11")
    play.do(notes.retire_note, retired, reason="it is not")
    here = git(play.root, "rev-parse", "HEAD")
    play.commit("calc.py", edited(LINES, 11))
    told = asked(cli, play, "check", "--diff", f"{here}..HEAD")
    assert [(row["note"], row["state"]) for row in told["touched"]] == [(first, "changed")]
    assert told["checked"] == 2
    _, out, _ = cli("check", "--diff", f"{here}..HEAD", "-C", str(play.root))
    assert "this change touches 1 note\n" in out
    assert first in out
    assert second not in out
    assert asked(cli, play, "check", "--diff", f"{base}..{here}")["touched"] == []
    none = ("check", "--diff", f"{here}..{here}", "-C", str(play.root))
    assert cli(*none) == (0, "this change touches the code of no note\n", "")
    assert cli(*none, "--format", "github") == (0, "", "")


def test_only_what_this_change_did_counts_not_what_happened_before(play: Play) -> None:
    play.commit("calc.py", LINES)
    note = pinned(play, "Ten is a limit.", "calc.py:10-12")
    here = play.commit("calc.py", edited(LINES, 11))
    play.commit("other.py", "nothing to see\n")
    assert note_checks.check_diff(play.ledger, f"{here}..HEAD")["touched"] == []
    (play.root / "other.py").write_text("nothing more\n")
    git(play.root, "add", "other.py")
    assert note_checks.check_diff(play.ledger, "staged")["touched"] == []
    told = note_checks.check_diff(play.ledger, f"{here}~1..HEAD")["touched"]
    assert [row["note"] for row in told] == [note]


def test_a_file_that_is_renamed_or_removed_is_told(play: Play) -> None:
    play.commit("old.py", LINES)
    play.commit("gone.py", edited(LINES, *range(1, 31)))
    moved, gone = pinned(play, "About ten.", "old.py:10-12"), pinned(play, "About the file.", "gone.py")
    git(play.root, "mv", "old.py", "new.py")
    take_out(play.root, "gone.py", message="tidy")
    told = {row["note"]: row for row in note_checks.check_diff(play.ledger, "HEAD~1..HEAD")["touched"]}
    assert (told[moved]["state"], told[moved]["path"]) == ("moved", "new.py")
    assert told[gone]["state"] == "gone"


def test_of_a_place_that_a_shallow_clone_does_not_know_the_file_is_told(play: Play, cli: Call, tmp_path: Path) -> None:
    play.commit("calc.py", LINES)
    note = pinned(play, "Ten is a limit.", "calc.py:10-12")
    play.commit("calc.py", edited(LINES, 10))
    play.commit("other.py", "nothing to see\n")
    play.commit("calc.py", edited(LINES, 10, 25))
    git(tmp_path, "clone", "-q", "--depth=3", play.root.as_uri(), "shallow")
    shallow = play.beside(tmp_path / "shallow")
    (row,) = note_checks.check_diff(shallow.ledger, "HEAD~1..HEAD")["touched"]
    assert (row["note"], row["state"], row["path"]) == (note, "unknown", "calc.py")
    assert row["why"].startswith("the file differs; this clone does not have")
    where = ("-C", str(shallow.root))
    annotated = cli("check", "--diff", "HEAD~1..HEAD", "--format", "github", *where)[1]
    assert "may be changed (this clone cannot say) by this change: calc.py:10-12" in annotated
    assert "unknown (the file differs; this clone does not have" in cli("diff", "HEAD~1..HEAD", *where)[1]
    assert note_checks.check_diff(shallow.ledger, "HEAD~2..HEAD~1")["touched"] == [], "no change of its file"
    assert note_checks.check_diff(play.ledger, "HEAD~1..HEAD")["touched"] == [], "the whole history knows better"


def test_a_note_of_the_branch_is_held_against_what_it_was_set_to(play: Play) -> None:
    base = play.commit("calc.py", LINES)
    play.commit("calc.py", edited(LINES, 5))
    kept, stale = pinned(play, "Five is new.", "calc.py:5"), pinned(play, "Twenty is old.", "calc.py:20-22")
    play.commit("calc.py", edited(LINES, 5, 20, 21, 22))
    told = note_checks.check_diff(play.ledger, f"{base}..HEAD")["touched"]
    assert [row["note"] for row in told] == [stale]
    assert kept != stale


def test_what_is_staged_is_looked_at_and_silence_means_nothing_is_touched(play: Play, cli: Call) -> None:
    play.commit("calc.py", LINES)
    note = pinned(play, "Ten is a limit.", "calc.py:10-12")
    (play.root / "calc.py").write_text(edited(LINES, 11))
    assert cli("check", "--diff", "staged", "-C", str(play.root)) == (0, "", "")
    before = git(play.root, "status", "--porcelain=v2")
    git(play.root, "add", "calc.py")
    told = asked(cli, play, "check", "--diff", "staged")
    assert [row["note"] for row in told["touched"]] == [note]
    assert told["tip"] is None
    git(play.root, "reset", "-q")
    assert git(play.root, "status", "--porcelain=v2") == before


def test_a_range_without_a_ledger_on_one_side_and_odd_options(play: Play, cli: Call) -> None:
    play.commit("calc.py", LINES)
    first = git(play.root, "rev-list", "--max-parents=0", "HEAD")
    note = pinned(play, "Ten is a limit.", "calc.py:10-12")
    play.commit("calc.py", edited(LINES, 11))
    told = note_checks.check_diff(play.ledger, f"{first}..HEAD")["touched"]
    assert [row["note"] for row in told] == [note]
    assert note_checks.check_diff(play.ledger, f"HEAD..{first}") == {
        "base": git(play.root, "rev-parse", "HEAD"), "tip": first, "touched": [], "checked": 0,
    }  # fmt: skip
    for wrong in (["--staged"], ["--fix"], ["--base", "HEAD"], ["--no-base"], ["--format", "sarif"], ["--reproduce"]):
        assert cli("check", "--diff", "HEAD~1..HEAD", *wrong, "-C", str(play.root))[0] == 2
    assert cli("check", "--diff", "staged", "--at", "HEAD", "-C", str(play.root))[0] == 2
    assert cli("check", "--diff", "a..b..c", "-C", str(play.root))[0] == 2


def test_workflow_commands_are_notices_and_steer_nothing(play: Play, cli: Call) -> None:
    play.commit("calc.py", LINES)
    pinned(play, "Ten, %0A::error:: is a limit.", "calc.py:10-12", title="Ten, ::error::x %0A")
    play.commit("calc.py", edited(LINES, 11))
    code, out, _ = cli("check", "--diff", "HEAD~1..HEAD", "--format", "github", "-C", str(play.root))
    assert code == 0
    assert out.startswith("::notice file=calc.py,line=10,endLine=12,title=Ten%2C %3A%3Aerror%3A%3Ax %250A (note_")
    assert len(out.splitlines()) == 1


# The hooks.


def traced(play: Play, message: str) -> tuple[list[str], str]:
    """Commit all that is edited; return the git commands that the hook ran, and what it printed."""
    log = play.root / ".git" / "trace"
    log.unlink(missing_ok=True)
    environment = {**os.environ, "GIT_TRACE2_EVENT": str(log)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["git", "commit", "-qam", message], cwd=play.root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    starts = [json.loads(line) for line in log.read_text().splitlines() if '"event":"start"' in line]
    return [" ".join(one["argv"][1:]) for one in starts[1:]], done.stdout + done.stderr


def test_a_commit_that_touches_no_note_costs_its_hook_one_git_call(play: Play, cli: Call) -> None:
    play.commit("calc.py", LINES)
    play.commit("other.py", LINES)
    assert cli("hook", "install", "-C", str(play.root))[0] == 0
    note = pinned(play, "Ten is a limit.", "calc.py:10-12")
    (play.root / "other.py").write_text(edited(LINES, 10))
    calls, told = traced(play, "elsewhere")
    assert len([call for call in calls if "diff --cached" in call]) == 1
    assert not any("cat-file" in call or "status" in call for call in calls)
    assert told == ""
    (play.root / "calc.py").write_text(edited(LINES, 20))
    assert traced(play, "beside")[1] == ""
    (play.root / "calc.py").write_text(edited(LINES, 10, 20))
    assert note in traced(play, "touches")[1]


def test_code_that_was_moved_and_then_edited_is_told_with_where_it_is(play: Play, cli: Call) -> None:
    """The hook knew the old path alone, and no text said where the code was."""
    play.commit("src/calc.py", LINES)
    assert cli("hook", "install", "-C", str(play.root))[0] == 0
    note = pinned(play, "Ten is a limit.", "src/calc.py:10-12")
    git(play.root, "mv", "src", "lib")
    assert "lib/calc.py:10-12" in traced(play, "moved")[1]
    (play.root / "lib" / "calc.py").write_text("first\n" + edited(LINES, 11))
    told = "src/calc.py:10-12 → lib/calc.py:11-13 (edited: 12)"
    said = traced(play, "edited")[1]
    assert (note in said, told in said) == (True, True)
    for shown in (("anchors",), ("--diff", "HEAD~1..HEAD")):
        assert told in cli("check", *shown, "-C", str(play.root))[1]
    out = cli("diff", "HEAD~1..HEAD", "-C", str(play.root))[1]
    assert "changed to lib/calc.py:11-13 (edited: 12): src/calc.py:10-12" in out
    (play.root / ".git" / "memento" / "noted").unlink()
    assert cli("hook", "install", "-C", str(play.root))[0] == 0
    assert (play.root / ".git" / "memento" / "noted").read_text() == "lib/calc.py\nsrc/calc.py\n"


def test_what_git_says_of_a_change_is_on_the_list_that_the_hook_reads(play: Play) -> None:
    play.commit("lib/ünïcode name.py", LINES)
    play.commit("pyproject.toml", '[project]\nname = "x"\ndependencies = ["click"]\n')
    play.commit("src/app.py", "# TODO: nothing\n")
    path = play.root / ".git" / "memento" / "noted"
    add(play, "No place.")
    assert not path.exists()
    add(play, "Odd names are fine.", about=["lib/ünïcode name.py:3"])
    assert path.read_text(encoding="utf-8") == "lib/ünïcode name.py\n"
    add(play, "The library is fine.", about=["lib", "dep:click", "pattern:src/**/*.py:TODO", "pattern:*:TODO"])
    told = path.read_text(encoding="utf-8").splitlines()
    assert {"lib", "pyproject.toml", "requirements", "src/"} <= set(told)
    assert "" not in told
    path.unlink()
    note_checks.watch_places(play.ledger)
    assert path.read_text(encoding="utf-8").splitlines() == told


# What rests on a note.


def test_impact_names_what_rests_on_a_note_nearest_first(play: Play, cli: Call) -> None:
    play.commit("calc.py", LINES)
    base = pinned(play, "Tokens live an hour.", "calc.py:10-12")
    near = add(play, "Sessions are renewed hourly.", links=[f"depends_on:{base}"])
    far = add(play, "The renewal job runs each hour.", links=[f"depends_on:{near}"])
    beside = pinned(play, "A line of the token code is slow.", "calc.py:12-14")
    gone = add(play, "Nothing lasts.", links=[f"depends_on:{base}"])
    play.do(notes.retire_note, gone, reason="too vague")
    told = asked(cli, play, "check", "impact", base)
    assert set(told) - {"ok", "warnings"} == set(rows.ANSWERS["check impact"].split())
    assert [(row["note"], row["steps"]) for row in told["impact"]] == [(near, 1), (far, 2), (beside, 1)]
    assert "is about calc.py:10-12 too" in cli("check", "impact", base, "-C", str(play.root))[1]
    assert "no live note" in cli("check", "impact", add(play, "Alone."), "-C", str(play.root))[1]
    assert cli("check", "impact", "-C", str(play.root))[0] == 2


def test_impact_names_notes_on_code_that_imports_what_a_note_is_about(play: Play, cli: Call) -> None:
    """Links and shared places alone were looked at: a note on the module that calls another's was not found."""
    for path, text in {
        "app/__init__.py": "", "app/low.py": "def low():\n    return 1\n",
        "app/mid.py": "from app.low import low\n\n\ndef mid():\n    return low()\n",
        "app/top.py": "import app.mid\n", "app/plain.py": "import app.low\n", "app/other.py": "x = 1\n",
    }.items():  # fmt: skip
        play.commit(path, text)
    low, mid = pinned(play, "Low is one.", "app/low.py::low"), pinned(play, "Mid trusts low.", "app/mid.py::mid")
    pinned(play, "Top trusts mid.", "app/top.py")
    pinned(play, "Other is one.", "app/other.py")
    gone = pinned(play, "Plain is plain.", "app/plain.py")
    play.do(notes.retire_note, gone, reason="It was.")
    for file, now in (("low", "app/base.py"), ("mid", "app/middle.py")):
        git(play.root, "mv", f"app/{file}.py", now)
    play.commit("app/middle.py", "from app.base import low\n\n\ndef mid():\n    return low()\n")
    play.commit("app/plain.py", "import app.base\n")
    told = asked(cli, play, "check", "impact", low)
    reason = "is about app/mid.py::mid: app/middle.py imports app/base.py"
    assert [(row["note"], row["reason"]) for row in told["impact"]] == [(mid, reason)]
    assert (told["imported_by"], told["imports_not_read"]) == (["app/middle.py", "app/plain.py"], [])
    out = cli("check", "impact", low, "-C", str(play.root))[1]
    assert "\nimported by app/middle.py, app/plain.py\n" in out
    play.do(notes.retire_note, low, reason="It is two.")
    assert [row["note"] for row in asked(cli, play, "check", "impact", low)["impact"]] == [mid]


def test_impact_says_which_imports_it_cannot_read(play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    play.commit("low.ts", "export const low = 1\n")
    note = pinned(play, "Low is one.", "low.ts")
    monkeypatch.setattr("memento_git.code.grammars.available", lambda: ())
    out = cli("check", "impact", note, "-C", str(play.root))[1]
    assert f"imports in typescript are not read; {adding('graph')}" in out
    assert asked(cli, play, "check", "impact", note)["imports_not_read"] == ["typescript"]


# What to tidy up.


def test_duplicates_are_shown_with_why_and_never_merged(play: Play, cli: Call) -> None:
    one = add(play, "The release is cut from the main branch on Fridays after the tests pass.")
    other = add(play, "The release is cut from the main branch on Fridays when the tests pass.")
    add(play, "Names are checked in the model.")
    before = git(play.root, "rev-parse", "HEAD")
    (row,) = asked(cli, play, "check", "duplicates")["duplicates"]
    assert {named["note"] for named in row["notes"]} == {one, other}
    assert row["why"] == pairs.NEAR_TEXT
    assert git(play.root, "rev-parse", "HEAD") == before
    assert "near text" in cli("check", "duplicates", "-C", str(play.root))[1]


def test_two_live_notes_of_one_key_are_shown_once(play: Play) -> None:
    git(play.root, "checkout", "-q", "-b", "other")
    add(play, "The theme is dark.", key="user.theme")
    git(play.root, "checkout", "-q", "main")
    add(play, "The theme is light.", key="user.theme")
    git(play.root, "merge", "-q", "other", "-m", "merge")
    (row,) = note_checks.check_duplicates(note_checks.note_set_at(play.ledger))["duplicates"]
    assert row["why"] == note_checks.SAME_KEY


def test_conflicts_are_linked_contested_or_suspected(play: Play, cli: Call) -> None:
    one, other = add(play, "Caches are shared."), add(play, "Each process has its own store.")
    play.do(notes.link_note, one, "contradicts", other)
    yes, no = add(play, "The database is MySQL eight."), add(play, "The database is not MySQL eight.")
    rows = asked(cli, play, "check", "conflicts")["conflicts"]
    told = {frozenset(named["note"] for named in row["notes"]): row["why"] for row in rows}
    assert told == {frozenset({one, other}): "linked: contradicts", frozenset({yes, no}): pairs.MAY_CONTRADICT}
    play.do(notes.link_note, yes, "contradicts", no)
    assert [row["why"] for row in asked(cli, play, "check", "conflicts")["conflicts"]] == ["linked: contradicts"] * 2
    assert note_checks.check_duplicates(note_checks.note_set_at(play.ledger))["duplicates"] == []
    git(play.root, "checkout", "-q", "-b", "other")
    play.do(notes.park_note, one)
    git(play.root, "checkout", "-q", "main")
    play.do(notes.retire_note, one, reason="wrong")
    git(play.root, "merge", "-q", "other", "-m", "merge")
    assert "contested: events" in cli("check", "conflicts", "-C", str(play.root))[1]


def test_expired_notes_are_shown_the_longest_ago_first(play: Play, cli: Call) -> None:
    assert "no live note has expired" in cli("check", "expired", "-C", str(play.root))[1]
    late = add(play, "The freeze ends soon.", expires="2026-02-01")
    early = add(play, "The old key works.", valid_to="2026-01-01")
    add(play, "For long.", expires="2099-01-01")
    assert [row["note"] for row in asked(cli, play, "check", "expired")["expired"]] == [early, late]
    assert "expired 2026-02-01" in cli("check", "expired", "-C", str(play.root))[1]


@pytest.mark.parametrize("least", [0.4, 0.6])
def test_near_pairs_are_those_of_comparing_each_with_each(least: float) -> None:
    from random import Random

    from memento_git.knowledge.similarity import share, words

    rng = Random(5)
    terms = [f"w{number}" for number in range(30)]
    texts = {f"n{number}": " ".join(rng.sample(terms, rng.randint(1, 12))) for number in range(80)}
    names = list(texts)
    expected = {
        frozenset((a, b)) for at, a in enumerate(names) for b in names[at + 1 :]
        if share(words(texts[a]), words(texts[b])) >= least
    }  # fmt: skip
    held = {name: words(text) for name, text in texts.items()}
    assert {frozenset((a, b)) for a, b, _ in pairs._near(held, least)} == expected
    assert expected


def test_texts_made_from_one_template_are_not_compared_each_with_each() -> None:
    """A year of daily notes shares its words: each of them is told beside some others, in time."""
    texts = {f"n{day:03}": f"Day {day}: worked on thing {day * 7}." for day in range(400)}
    texts |= {"old": "The mailer retries twice.", "new": "The mailer never retries twice."}
    found = pairs.conflicts(texts)
    assert len(found) < 400 * pairs.MOST
    assert {name for pair in found for name in pair[:2]} == set(texts)
    twins = {**texts, "twin": texts["n399"]}
    assert {pair[:3] for pair in pairs.duplicates(twins)} >= {("n399", "twin", pairs.SAME_TEXT)}


def test_check_still_checks_the_ledger_and_knows_no_other_words(play: Play, cli: Call) -> None:
    assert cli("check", "-C", str(play.root))[0] == 0
    assert cli("check", "rumours", "-C", str(play.root))[0] == 2
    with pytest.raises(MementoError):
        note_checks.check_diff(play.ledger, "nowhere..HEAD")
