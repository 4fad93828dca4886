"""check usage: what git's history and the ledger tell of notes; nothing is counted, nothing is written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge import usage
from memento_git.knowledge.actions import notes
from memento_git.knowledge.actions.note_checks import note_set_at
from memento_git.knowledge.actions.sessions import end_session, start_session
from memento_git.knowledge.actions.usage import check_usage
from memento_git.ledger import commits, history
from memento_git.review import actions
from tests.play import Play, add, git

if TYPE_CHECKING:
    from tests.play import Call


def edit(play: Play, *paths: str, message: str = "code") -> None:
    """Change files in one commit."""
    for path in paths:
        place = play.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text((place.read_text() if place.exists() else "") + f"{message} {path}\n")
    play.commit_all(message)


def look(play: Play, **options: Any) -> dict[str, Any]:
    return check_usage(note_set_at(play.ledger), **options)


def test_a_file_that_changes_with_a_noted_one_and_has_no_note_is_named(play: Play) -> None:
    note = add(play, "The answer is 42.", about=["app.py"])
    for number in range(3):
        edit(play, "app.py", "dark.py", message=f"both {number}")
    edit(play, "app.py", "once.py")
    told = look(play)["together"]
    assert told == [{"path": "dark.py", "with": "app.py", "commits": 3, "of": 5, "own": 3, "notes": [note]}]
    add(play, "The dark side.", about=["dark.py"])
    assert look(play)["together"] == []
    assert [row["path"] for row in look(play, least=1)["together"]] == ["once.py"]


def test_a_folder_that_a_note_is_about_covers_its_files(play: Play) -> None:
    for number in range(2):
        edit(play, "src/a.py", "src/b.py", "docs/c.md", message=str(number))
    add(play, "All sources.", about=["src"])
    assert [row["path"] for row in look(play)["together"]] == ["docs/c.md"]


def test_renames_are_followed_on_both_sides_and_files_that_went_are_not_named(play: Play) -> None:
    note = add(play, "The answer is 42.", about=["app.py"])
    edit(play, "app.py", "dark.py", "gone.py")
    edit(play, "app.py", "dark.py", "gone.py")
    git(play.root, "mv", "app.py", "lib.py")
    git(play.root, "mv", "dark.py", "night.py")
    git(play.root, "rm", "-q", "gone.py")
    play.commit_all("renamed")
    assert look(play)["together"] == [
        {"path": "night.py", "with": "lib.py", "commits": 3, "of": 4, "own": 3, "notes": [note]}
    ]
    assert look(play)["volatile"][0]["paths"] == ["lib.py"]


def test_a_commit_of_very_many_files_says_nothing_of_two_of_them(play: Play) -> None:
    add(play, "The answer is 42.", about=["app.py"])
    for number in range(2):
        edit(play, "app.py", *(f"many/{one}.txt" for one in range(60)), message=str(number))
    told = look(play)
    assert told["together"] == []
    assert told["looked_at"]["wide"] == 2


def test_often_corrected_notes_come_with_the_reasons(play: Play) -> None:
    first = add(play, "Tokens live an hour.")
    play.do(notes.revise_note, first, text="Tokens live one hour.")
    second = add(play, "Tokens live a day.", supersedes=[first], reason="Users complained.")
    third = add(play, "Tokens live a week.", supersedes=[second], reason="They still did.")
    once = add(play, "Cookies crumble.")
    play.do(notes.revise_note, once, text="Cookies do crumble.")
    (row,) = look(play)["corrected"]
    assert (row["note"], row["times"], row["revised"]) == (third, 3, 1)
    assert set(row["superseded"]) == {first, second}
    assert set(row["reasons"]) == {"Users complained.", "They still did."}
    assert {one["note"] for one in look(play, least=1)["corrected"]} == {third, once}


def test_notes_about_restless_code_are_counted_since_they_were_looked_at(play: Play) -> None:
    note = add(play, "The answer is 42.", about=["app.py"])
    edit(play, "calm.py")
    add(play, "It stands.", about=["calm.py"])
    edit(play, "app.py")
    edit(play, "app.py")
    (row,) = look(play)["volatile"]
    assert (row["note"], row["commits"], row["paths"]) == (note, 3, ["app.py"])
    assert row["looked_at"] == note_set_at(play.ledger).note(note).data["at"]


def test_notes_that_are_never_cited_but_together_are_a_pair(play: Play) -> None:
    one, other, third = (add(play, text) for text in ("Tokens live an hour.", "Cookies crumble.", "Hashes are salted."))
    for text in ("First citer.", "Second citer of both."):
        add(play, text, links=[f"relates_to:{one}", f"depends_on:{other}"])
    (row,) = look(play)["cited_together"]
    assert {side["note"] for side in row["notes"]} == {one, other}
    assert len(row["places"]) == 2
    add(play, "A third citer.", links=[f"relates_to:{one}", f"relates_to:{third}"])
    assert look(play)["cited_together"] == []


def test_notes_that_no_record_names_are_listed_the_oldest_first(play: Play) -> None:
    lonely, linked, keyed = add(play, "Alone."), add(play, "Linked."), add(play, "Keyed.", key="a.b")
    citer = add(play, "It rests on [[a.b]].", links=[f"depends_on:{linked}"])
    told = add(play, "Named by a task.")
    play.planned_task(f"Do as {told} says")
    assert [row["note"] for row in look(play)["uncited"]] == [lonely, citer]
    assert keyed not in {row["note"] for row in look(play)["uncited"]}


def test_a_handoff_cites_nothing_and_need_not_be_cited(play: Play) -> None:
    for word in ("one", "two"):
        start_session(play.ledger)
        first, second = add(play, f"Token {word}."), add(play, f"Cookie {word}.")
        end_session(play.ledger, f"Done {word}: {first} and {second}.")
    told = look(play)
    assert [row["title"] for row in told["uncited"]] == ["Token one.", "Cookie one.", "Token two.", "Cookie two."]
    assert told["cited_together"] == []


def test_lists_are_bounded_and_say_what_was_left_out(play: Play) -> None:
    for number in range(4):
        add(play, f"Fact number {number} of its own kind {'x' * number}.")
    told = look(play, limit=3)
    assert (len(told["uncited"]), told["omitted"]) == (3, {"uncited": 1})
    assert look(play, limit=0)["omitted"] == {}


def test_only_the_latest_commits_count_and_none_before_a_time(play: Play) -> None:
    add(play, "The answer is 42.", about=["app.py"])
    for number in range(4):
        edit(play, "app.py", "dark.py", message=str(number))
    assert look(play, most=3)["together"][0]["commits"] == 3
    told = look(play, since="2999-01-01")
    assert (told["together"], told["looked_at"]["commits"]) == ([], 0)


def test_a_bare_clone_and_an_empty_ledger_are_looked_at_too(play: Play, cli: Call, tmp_path: Any) -> None:
    assert cli("check", "usage", "-C", str(play.root))[0] == 0
    add(play, "The answer is 42.", about=["app.py"])
    edit(play, "app.py", "dark.py")
    edit(play, "app.py", "dark.py")
    bare = tmp_path / "bare.git"
    git(play.root, "clone", "-q", "--bare", ".", str(bare))
    code, out, _ = cli("check", "usage", "-C", str(bare), "--json")
    told = json.loads(out)
    assert (code, [row["path"] for row in told["together"]]) == (0, ["dark.py"])
    assert told["looked_at"]["shallow"] is False
    git(play.root, "clone", "-q", "--depth=1", f"file://{play.root}", str(tmp_path / "cut"))
    assert "this clone is shallow" in cli("check", "usage", "-C", str(tmp_path / "cut"))[1]


def test_the_command_tells_each_list_and_writes_nothing(play: Play, cli: Call) -> None:
    first = add(play, "Tokens live an hour.", about=["app.py"])
    add(play, "Tokens live a day.", supersedes=[first], reason="Users complained.", about=["app.py"])
    edit(play, "app.py", "dark.py")
    edit(play, "app.py", "dark.py")
    before = git(play.root, "rev-parse", "HEAD")
    code, out, _ = cli("check", "usage", "--least", "1", "-C", str(play.root))
    assert code == 0
    for word in (
        "dark.py  2 of 3 commits of app.py",
        "Users complained.",
        "about code that changes much",
        "named by no",
    ):
        assert word in out
    assert (git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--short")) == (before, "")
    assert cli("check", "usage", "--since", "never", "-C", str(play.root))[0] == 2


def test_a_cosine_lets_a_file_that_changes_with_everything_come_late() -> None:
    history = [{"a.py", "test_a.py", "log.md"}, {"a.py", "test_a.py", "log.md"}, *([{"log.md"}] * 50)]
    found = usage.together(history, {"a.py"}, {"a.py", "test_a.py", "log.md"})
    assert [one.path for one in found] == ["test_a.py", "log.md"]


def test_names_with_spaces_and_other_letters_are_read(play: Play) -> None:
    edit(play, "ä b.txt", "c\nd.txt")
    (latest, *_) = commits.of_code(play.ledger.git, "HEAD", most=5)
    assert set(latest.paths) == {"ä b.txt", "c\nd.txt"}


def test_a_commit_of_an_encoding_in_which_git_finds_no_date_is_read(play: Play) -> None:
    edit(play, "app.py")
    head, _, message = git(play.root, "cat-file", "commit", "HEAD").partition("\n\n")
    data = f"{head}\nencoding UTF-16\n\n{message}\n".encode()
    odd = git(play.root, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", data=data)
    (latest, *_) = commits.of_code(play.ledger.git, odd, most=5)
    assert (latest.id, set(latest.paths)) == (odd, {"app.py"})


@pytest.mark.parametrize("digits", [19, 5000])
def test_a_commit_of_no_time_that_can_be_written_down_is_read(play: Play, digits: int) -> None:
    """Whoever makes a commit by hand dates it as they like, and every clone that has it reads it."""
    base = git(play.root, "rev-parse", "HEAD")
    add(play, "A note.")
    edit(play, "app.py")
    git(play.root, "reset", "-q", "--soft", base)
    play.commit_all("code with a note")
    head, _, message = git(play.root, "cat-file", "commit", "HEAD").partition("\n\n")
    dated = re.sub(r"> \d+ ", f"> {'9' * digits} ", head)
    for header in ("", "\nencoding ISO-8859-1"):
        data = f"{dated}{header}\n\n{message}\n".encode()
        odd = git(play.root, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", data=data)
        (latest, *_) = commits.of_code(play.ledger.git, odd, most=5)
        assert (latest.id, latest.at[:4]) == (odd, "9999")
        assert actions.check(play.ledger, at=odd, base=base).findings == []
        assert history.revised(play.ledger.git, [base], [odd])


def test_who_wrote_a_commit_is_read_in_its_encoding_where_plain_letters_are_the_same_in_it(play: Play) -> None:
    tree = git(play.root, "rev-parse", "HEAD^{tree}").encode()
    others = dict.fromkeys(("UTF-7", "made-up", "UTF-8\0"), "J\ufffdrg")
    for encoding, name in {"ISO-8859-1": "J\u00f6rg", **others}.items():
        whole = b"tree %b\nauthor J\xf6rg <j@x.example> 1700000000 +0000\ncommitter A <a@x.example> 1 +0000\n" % tree
        data = whole + f"encoding {encoding}\n\nm\n".encode()
        odd = git(play.root, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", data=data)
        assert commits.author_of(play.ledger.git, odd, "", "", encoding) == (f"{name} <j@x.example>", 1700000000)
        assert commits.authors(play.ledger.git, "-1", odd) == [(f"{name} <j@x.example>", "")]


@pytest.mark.parametrize("cited", [{"note a": {"x"}}, {"note a": {"x", "y"}}, {}])
def test_one_place_makes_no_pair(cited: dict[str, set[str]]) -> None:
    assert usage.always_together(cited) == []
