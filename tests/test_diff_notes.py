"""diff of notes: what happened to each, as data, as text and as a comment on a pull request."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from memento_git.knowledge import changes
from memento_git.knowledge.actions import notes
from memento_git.knowledge.note_set import NoteSet
from memento_git.model.markup import MOST_COMMENT, units
from memento_git.review import diff_text
from memento_git.review.diff_markdown import markdown
from memento_git.review.note_changes import with_notes
from memento_git.verbs.settling import redact_record
from memento_git.work.actions.comparing import compare
from tests.play import Play, add, git, take_out
from tests.test_check_notes import LINES, edited, pinned
from tests.test_diff import HOSTILE, head

if TYPE_CHECKING:
    from tests.play import Call


def told(play: Play, given: str, *tips: str) -> dict[str, Any]:
    return with_notes(play.ledger, compare(play.ledger, given, tips))


def by_note(held: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in held["knowledge"]}


def test_a_redaction_is_told_as_one_and_says_nothing_of_what_it_took_out(play: Play, cli: Call) -> None:
    where = ("-C", str(play.root))
    note = add(play, "The codename is Bluebird.", key="project.name")
    base = head(play)
    assert cli("session", "start", *where)[0] == 0
    short = add(play, "Bluebird flies soon.")
    play.do(notes.confirm_note, note)
    for one in (note, short):
        play.do(redact_record, one, reason="a leak")
    held = told(play, f"{base}..HEAD")
    assert {name: (row["change"], row["from"], row["to"], row["reason"]) for name, row in by_note(held).items()} == {
        note: ("changed", "active", "redacted", "a leak"), short: ("added", None, "redacted", "a leak"),
    }  # fmt: skip
    assert by_note(held)[note]["happened"] == ["confirmed", "redacted"]
    assert all("Ada" in row["by"][0] and row["at"] and row["text"] is None for row in held["knowledge"])
    assert held["forbidden"] == []
    text = diff_text.text(held)
    assert text.count("redacted by Ada: a leak") == 2
    seen = [
        json.dumps(held), text, markdown(held), cli("changes", "--since", base, *where)[1],
        cli("changes", "--since", base, "--json", *where)[1], cli("session", "start", *where)[1],
    ]  # fmt: skip
    for one in seen:
        assert ("luebird" in one, "removed" in one.replace('"removed":', ""), "a leak" in one) == (False, False, True)
    later = told(play, f"{head(play)}..HEAD")
    assert later["knowledge"] == []
    first = head(play)
    events = NoteSet(play.ledger.view()).folded(note).events
    bob = play.as_("Bob <bob@x.invalid>")
    bob.do(redact_record, next(seen.event.id for seen in events if seen.event.do == "redacted"), reason="a name")
    row = by_note(told(play, f"{base}..HEAD"))[note]
    assert ("Ada" in row["by"][0], row["reason"]) == (True, "[redacted]")
    row = by_note(told(play, f"{first}..HEAD"))[note]
    assert (row["from"], row["to"], row["by"], row["reason"]) == ("redacted", "redacted", [bob.ledger.actor], "a name")
    assert "redacted already; event redacted by Bob: a name" in diff_text.text(told(play, f"{first}..HEAD"))


def test_that_an_event_is_redacted_is_not_told_of_its_note(play: Play, cli: Call) -> None:
    note = add(play, "The launch is in May.")
    base = head(play)
    play.do(notes.retire_note, note, reason="Bluebird is late.")
    play.do(notes.restore_note, note)
    retired = next(one.event.id for one in NoteSet(play.ledger.view()).folded(note).events if one.event.do == "retired")
    play.do(redact_record, retired, reason="a codename")
    held = told(play, f"{base}..HEAD")
    assert by_note(held)[note]["happened"] == ["retired", "restored", "event redacted"]
    for text in (diff_text.text(held), markdown(held), cli("changes", "--since", base, "-C", str(play.root))[1]):
        assert ("retired, restored, event redacted" in text, "luebird" in text) == (True, False)


def test_every_thing_that_happens_to_a_note_is_told_once(play: Play) -> None:
    names = ("Tokens", "Sessions", "Names", "Caches", "Queues", "Clocks")
    first, parked, retired, one, other, untouched = (
        add(play, f"{name} in the shop. They are {name}.") for name in names
    )
    question = add(play, "Who owns the queue?", kind="question")
    base = head(play)
    play.do(notes.revise_note, untouched, text="Clocks in the shop. They are never trusted.", key="clocks.trust")
    second = add(play, "Tokens last a day.", supersedes=[first], reason="an hour was too short", key="auth.token")
    play.do(notes.park_note, parked, reason="later")
    play.do(notes.retire_note, retired, reason="no longer so")
    merged = play.do(notes.merge_notes, [one, other], "Caches and queues.").id
    play.do(notes.resolve_note, question, answer=second)
    play.do(notes.link_note, second, "depends_on", parked)
    held = told(play, f"{base}..HEAD")
    rows = by_note(held)
    assert {name: (row["change"], row["from"], row["to"]) for name, row in rows.items()} == {
        first: ("changed", "active", "superseded"), second: ("added", None, "active"),
        parked: ("changed", "active", "parked"), retired: ("changed", "active", "retired"),
        one: ("changed", "active", "merged"), other: ("changed", "active", "merged"),
        merged: ("added", None, "active"), untouched: ("changed", "active", "active"),
        question: ("changed", "active", "resolved"),
    }  # fmt: skip
    assert (rows[first]["successor"], rows[first]["reason"]) == (second, "an hour was too short")
    assert [text["field"] for text in rows[untouched]["texts"]] == ["key", "text"]
    assert rows[second]["links"] == [{"change": "linked", "rel": "depends_on", "to": parked}]
    assert (held["counts"]["notes"], held["counts"]["forbidden"]) == (9, 0)
    text = diff_text.text(held)
    for expected in (
        "9 notes", f"superseded by {second}", f"merged into {merged}", f"resolved by {second}", "parked", "retired",
        "text: ", "{+never trusted+}", f"linked: depends on {parked}", "key auth.token",
    ):  # fmt: skip
        assert expected in text
    shown = markdown(held)
    assert "<ins>never trusted</ins>" in shown
    assert "### Ledger: 9 notes" in shown
    assert told(play, f"{head(play)}..HEAD")["knowledge"] == []


def test_notes_that_become_contested_are_told_by_a_union_too(play: Play) -> None:
    note = add(play, "Caches are shared.")
    base = head(play)
    git(play.root, "checkout", "-q", "-b", "other")
    play.do(notes.park_note, note)
    git(play.root, "checkout", "-q", "main")
    play.do(notes.retire_note, note, reason="wrong")
    held = told(play, base, "main", "other")
    assert (by_note(held)[note]["to"], by_note(held)[note]["contested"]) == ("contested", True)
    assert held["counts"]["contested"] == 1
    assert "became contested" in diff_text.text(held)
    assert "**became contested" in markdown(held)


def test_what_was_taken_away_is_a_caution(play: Play) -> None:
    note, kept = add(play, "One."), add(play, "Two.")
    play.do(notes.confirm_note, kept)
    base = head(play)
    folder = play.root / ".memento" / "knowledge"
    (gone,) = folder.rglob(f"{note}.md")
    (event,) = folder.rglob("*-confirmed-*.yaml")
    take_out(play.root, str(gone), str(event), message="gone")
    held = told(play, f"{base}..HEAD")
    assert sorted((row["kind"], row["change"]) for row in held["forbidden"]) == [
        ("event", "removed"), ("note", "removed"),
    ]  # fmt: skip
    assert "removed" in diff_text.text(held)
    assert by_note(held)[note]["change"] == "removed"
    assert "2 files of the ledger were changed or removed" in markdown(held)


def test_the_notes_that_a_change_touches_are_told_and_alone_are_worth_a_comment(play: Play, cli: Call) -> None:
    play.commit("calc.py", LINES)
    note = pinned(play, "Ten is a limit.", "calc.py:10-12")
    base = head(play)
    play.commit("calc.py", edited(LINES, 11))
    code, out, _ = cli("diff", f"{base}..HEAD", "--format", "markdown", "-C", str(play.root))
    assert code == 0
    assert "### Ledger: the code of 1 note touched" in out
    assert note in out
    assert "changed (edited: 11): `calc.py:10-12`" in out
    held = json.loads(cli("diff", f"{base}..HEAD", "--json", "-C", str(play.root))[1])
    assert [row["note"] for row in held["touched"]] == [note]
    assert "touches the code of 1 note" in cli("diff", f"{base}..HEAD", "-C", str(play.root))[1]
    assert "nothing changed" in cli("diff", "HEAD..HEAD", "-C", str(play.root))[1]


def test_a_note_that_nobody_can_read_is_named_as_a_file(play: Play, cli: Call) -> None:
    add(play, "The list is long.")
    path = ".memento/knowledge/context/x/note_xxxxxxxxxxxx.md"
    play.commit(path, "no front matter\n")
    out = cli("diff", "HEAD~1..HEAD", "-C", str(play.root))[1]
    assert out.endswith(f": 1 other file\nother files\n  added {path}\n")


def test_what_happened_to_a_note_that_nobody_can_read_is_named_as_a_file(play: Play, cli: Call) -> None:
    note = add(play, "The list is long.")
    path = NoteSet(play.ledger.view()).path(note)
    base = play.commit(path, "no front matter\n")
    event = f"{path.removesuffix('.md')}/20261122T030000000Z-parked-0123456789ab.yaml"
    play.commit(event, f"do: parked\nof: {note}\nat: 2026-11-22T03:00:00.000Z\nby: Bob\nafter: []\n")
    for form in ((), ("--format", "markdown")):
        out = cli("diff", f"{base}..HEAD", *form, "-C", str(play.root))[1]
        assert ": 1 other file\n" in out
        assert event in out


def test_an_event_that_nobody_can_read_is_told_as_what_does_not_count(play: Play, cli: Call) -> None:
    note = add(play, "The list is long.")
    folder = NoteSet(play.ledger.view()).path(note).removesuffix(".md")
    play.commit(f"{folder}/20261122T030000000Z-parked-0123456789ab.yaml", "do: parked\nof: [\n")
    out = cli("diff", "HEAD~1..HEAD", "-C", str(play.root))[1].splitlines()[1:]
    cannot = "the file of event_0123456789ab cannot be read"
    assert out == [f"fact {note} The list is long.", "  not counted", f"  not counted: parked: {cannot}"]
    assert cli("changes", "--since", "HEAD~1", "-C", str(play.root))[1].split()[1:3] == ["not", "counted"]


def test_who_revised_a_note_is_found_in_the_commits(play: Play, cli: Call) -> None:
    note, other = add(play, "The list is long."), add(play, "The bag is red.")
    base = head(play)
    play.as_("agent:hermes").do(notes.revise_note, note, text="The list is very long.")
    path = play.root / NoteSet(play.ledger.view()).path(note)
    path.write_text(path.read_text() + "And heavy.\n")
    git(play.root, "commit", "-qam", "by hand", "--author", "Bob <bob@example.invalid>")
    play.as_("Grace").do(notes.confirm_note, note)
    play.do(notes.confirm_note, other)
    rows = by_note(told(play, f"{base}..HEAD"))
    assert rows[note]["by"] == ["agent:hermes", "Bob <bob@example.invalid>", "Grace"]
    assert [name.partition(" ")[0] for name in rows[other]["by"]] == ["Ada"]
    play.commit(path, path.read_text() + "And blue.\n", "by two\n\nMemento-Actor: Cy\nMemento-Actor: Di")
    assert by_note(told(play, f"{base}..HEAD"))[note]["by"][2:] == ["Cy", "Di", "Grace"]
    for author, whose in (("hermes", [note]), ("bob@", [note]), ("grace", [note]), ("ada", [other])):
        out = cli("changes", "--since", base, "--author", author, "--json", "-C", str(play.root))[1]
        assert [row["id"] for row in json.loads(out)["changes"]] == whose


def test_when_a_note_was_revised_is_found_in_the_commits(play: Play, cli: Call) -> None:
    note = add(play, "The list is long.")
    play.do(notes.confirm_note, note)
    base = head(play)
    path = play.root / NoteSet(play.ledger.view()).path(note)
    for number, day in enumerate(("2031-05-06", "2031-05-04")):
        path.write_text(f"{path.read_text()}And heavy {number}.\n")
        git(play.root, "commit", "-qam", "by hand", "--date", f"{day}T12:00:00+02:00")
    (row,) = json.loads(cli("changes", "--since", base, "--json", "-C", str(play.root))[1])["changes"]
    assert (row["happened"], row["at"]) == (["revised"], "2031-05-06T10:00:00.000Z")


def test_what_is_told_of_a_note_whose_text_came_back_is_what_changes_tells(play: Play) -> None:
    note = add(play, "The list is long.")
    play.do(notes.retire_note, note, reason="It is short.")
    path = play.root / NoteSet(play.ledger.view()).path(note)
    text = path.read_text()
    path.unlink()
    base = play.commit_all("taken out")
    play.commit(path, text, "put back")
    (row,) = told(play, f"{base}..")["knowledge"]
    (other,) = changes.between(NoteSet(play.ledger.view([base])), NoteSet(play.ledger.view()))
    assert (row["happened"], row["to"], row["reason"]) == (["added"], "retired", None)
    assert (other["happened"], other["status"], other["reason"]) == (["added"], "retired", None)


def test_a_hostile_note_breaks_no_comment_and_many_are_counted(play: Play) -> None:
    base = head(play)
    add(play, HOSTILE, title=HOSTILE, key="a.b", tags=[HOSTILE])
    for number in range(3):
        add(play, f"{number} " + "word " * 30, title=f"{number} {HOSTILE}" * 3)
    shown = markdown(told(play, f"{base}..HEAD"))
    assert set(re.findall(r"(?<!\\)<[!/]?\w+", shown)) == {"<details", "<summary", "</summary", "</details"}
    assert "@team" not in shown
    assert shown.count("<details>") == shown.count("</details>") == 1
    small = markdown(told(play, f"{base}..HEAD"), 1100)
    assert units(small) <= 1100 < MOST_COMMENT
    assert "more than fit here" in small


def test_a_side_without_a_ledger_has_no_notes(play: Play) -> None:
    first = git(play.root, "rev-list", "--max-parents=0", "HEAD")
    note = add(play, "One.")
    assert by_note(told(play, f"{first}..HEAD"))[note]["change"] == "added"


def test_every_key_is_documented(play: Play) -> None:
    from docs.generator import rows

    base = play.commit("calc.py", LINES)
    note = pinned(play, "Ten is a limit.", "calc.py:10-12")
    play.commit("calc.py", edited(LINES, 11))
    held = told(play, f"{base}..HEAD")
    assert [*held, "files"] == list(rows.DIFF)
    assert set(by_note(held)[note]) == set(rows.DIFF_NOTE)
    assert set(held["touched"][0]) <= set(rows.TOUCHED)
    assert [key for key in held["counts"] if key not in rows.DIFF["counts"]] == []
