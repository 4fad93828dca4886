"""Threads of notes as a whole, how far a graph goes, and what a retirement by keys would take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.knowledge import connections
from memento_git.knowledge.actions import notes, threads
from memento_git.knowledge.actions.threads import NoSuchThread
from memento_git.knowledge.connections import GraphOnly
from memento_git.ledger.store import NothingToCommit
from memento_git.verbs import batch
from tests.play import Play, add, git, note_set

if TYPE_CHECKING:
    from tests.play import Call


def test_threads_are_listed_with_their_states_the_latest_first(play: Play, cli: Call) -> None:
    first = add(play, "Tokens live an hour.", thread="auth", domain="decisions")
    add(play, "Cookies crumble.", thread="web")
    add(play, "Tokens are signed.", thread="auth")
    add(play, "It is alone.")
    play.do(notes.retire_note, first, reason="No.")
    rows = threads.list_threads(note_set(play))
    assert [(row["thread"], row["notes"], row["states"]) for row in rows] == [
        ("auth", 2, {"active": 1, "retired": 1}), ("web", 1, {"active": 1}),
    ]  # fmt: skip
    assert [row["thread"] for row in threads.list_threads(note_set(play), domain="decisions")] == ["auth"]
    assert threads.list_threads(note_set(play), author="nobody") == []
    play.do(threads.park_thread, "web")
    assert [row["thread"] for row in threads.list_threads(note_set(play), live=True)] == ["auth"]
    code, out, _ = cli("note", "threads", "--author", "ada", "-C", str(play.root))
    assert (code, "1 active, 1 retired" in out) == (0, True)
    told = json.loads(cli("note", "threads", "--json", "--limit", "1", "-C", str(play.root))[1])
    assert (len(told["threads"]), told["page"]["total"]) == (1, 2)


def test_a_thread_tells_who_said_what_and_why_it_holds_no_more(play: Play, cli: Call) -> None:
    tried = add(play, "Tokens could be kept in cookies.", thread="auth", confidence="0.6")
    play.do(notes.confirm_note, tried, note_text="Looked at.")
    play.do(notes.park_note, tried, reason="Too large.")
    play.do(notes.resume_note, tried, reason="Smaller now.")
    at = ("-C", str(play.root))
    (told,) = json.loads(cli("note", "show", tried, "--what", "thread", "--json", *at)[1])["thread"]
    assert (told["actor"], told["confidence"], told["reason"]) == ("Ada <ada@example.invalid>", 0.6, None)
    other = add(play, "Tokens lie in the header.", thread="auth")
    play.do(notes.retire_note, tried, reason="Cookies are too small.")
    told = json.loads(cli("note", "show", other, "--what", "thread", "--json", *at)[1])["thread"]
    assert [(row["id"], row["status"], row["reason"]) for row in told] == [
        (tried, "retired", "Cookies are too small."), (other, "active", None),
    ]  # fmt: skip
    _, out, _ = cli("note", "show", other, "--what", "thread", *at)
    first, why, last = out.splitlines()
    assert ("  Ada  " in first, "confidence 0.6" in first, why) == (True, True, "  why: Cookies are too small.")
    assert "confidence" not in last


def test_a_thread_is_parked_and_resumed_in_one_commit_each(play: Play, cli: Call) -> None:
    ours = [add(play, f"Tokens, part {part}.", thread="auth") for part in ("one", "two")]
    gone = add(play, "Tokens, once.", thread="auth")
    play.do(notes.retire_note, gone, reason="No.")
    other = add(play, "Cookies crumble.", thread="web")
    before = git(play.root, "rev-parse", "HEAD")
    at = ("-C", str(play.root))
    told = json.loads(cli("note", "park", "--thread", "auth", "--reason", "A dead end.", "--json", *at)[1])
    assert {row["id"]: row["status"] for row in told["notes"]} == dict.fromkeys(ours, "parked")
    assert git(play.root, "rev-list", "--count", f"{before}..HEAD") == "1"
    assert [note_set(play).status(one) for one in (*ours, gone, other)] == ["parked", "parked", "retired", "active"]
    with pytest.raises(NothingToCommit):
        play.do(threads.park_thread, "auth")
    assert cli("note", "resume", "--thread", "auth", *at)[0] == 0
    assert {note_set(play).status(one) for one in ours} == {"active"}
    assert cli("note", "park", other, *at)[0] == 0
    assert cli("note", "resume", other, *at)[0] == 0
    with pytest.raises(NoSuchThread, match="there is 'auth'"):
        play.do(threads.park_thread, "auht")
    for wrong in ((), (other, "--thread", "web")):
        assert cli("note", "park", *wrong, *at)[0] == 2


def test_a_dead_end_that_was_set_aside_before_its_thread_stays_so(play: Play, cli: Call) -> None:
    dead = add(play, "Tokens in local storage.", thread="auth")
    others = [add(play, f"Tokens, part {part}.", thread="auth") for part in ("one", "two")]
    play.do(notes.park_note, dead, reason="Scripts steal them.")
    at = ("-C", str(play.root))
    assert cli("note", "park", "--thread", "auth", *at)[0] == 0
    code, _, err = cli("note", "resume", "--thread", "auth", *at)
    assert (code, f"set aside before, and still so: {dead}" in err) == (0, True)
    assert [note_set(play).status(one) for one in (dead, *others)] == ["parked", "active", "active"]
    assert cli("note", "resume", "--thread", "auth", *at)[0] == 0
    assert note_set(play).status(dead) == "active"


def test_what_a_prefix_would_retire_is_told_first(play: Play, cli: Call) -> None:
    below = add(play, "Tokens live an hour.", key="auth.token.life")
    add(play, "Cookies crumble.", key="authors")
    at = ("-C", str(play.root))
    told = json.loads(cli("note", "retire", "--key-prefix", "auth", "--dry-run", "--json", *at)[1])
    assert (told["notes"], told["dry_run"], note_set(play).status(below)) == ([below], True, "active")
    assert cli("note", "retire", below, "--dry-run", *at)[0] == 2
    assert cli("note", "retire", "--key-prefix", "auth", "--reason", "Gone.", *at)[0] == 0
    assert note_set(play).status(below) == "retired"
    assert "note park" in batch.ACTIONS


@pytest.fixture
def row(play: Play) -> list[str]:
    """Five notes in a row, each depending on the one before."""
    found: list[str] = []
    for number in range(5):
        links = [f"depends_on:{found[-1]}"] if found else []
        found.append(add(play, f"Step number {number} of the way.", links=links))
    return found


def graphed(play: Play, note: str, *walk: Any, **options: Any) -> list[str]:
    told = connections.graph(note_set(play), note_set(play).note(note), *walk, **options)
    return [one["id"] for one in told["nodes"]]


def test_a_graph_goes_as_far_and_in_the_direction_that_is_asked(play: Play, row: list[str]) -> None:
    assert graphed(play, row[0], 1) == row[:2]
    assert graphed(play, row[0]) == row[:3]
    assert graphed(play, row[0], 10) == row
    assert graphed(play, row[2], 10, direction="out") == [row[2], row[1], row[0]]
    assert graphed(play, row[2], 10, direction="in") == row[2:]
    assert graphed(play, row[2], 10, rels=["relates_to"]) == [row[2]]


def test_a_graph_leads_back_over_what_supersedes_and_sums_up(play: Play) -> None:
    old = add(play, "Tokens live an hour.")
    new = add(play, "Tokens live a day.", supersedes=[old], reason="comfort")
    apart = add(play, "Cookies crumble.")
    summary = play.do(notes.merge_notes, [new, apart], "All about tokens.").id
    assert set(graphed(play, old, 3, direction="in")) == {old, new, summary}


def test_a_graph_says_how_many_records_it_leaves_out(play: Play, cli: Call) -> None:
    hub = add(play, "The hub of it all.")
    for number in range(45):
        add(play, f"Spoke number {number} has its own words {number * 7}.", links=[f"relates_to:{hub}"])
    told = connections.graph(note_set(play), note_set(play).note(hub))
    assert (len(told["nodes"]), told["omitted"]) == (40, 6)
    assert "6 more records" in cli("note", "show", hub, "--what", "graph", "-C", str(play.root))[1]


def test_options_of_a_graph_go_with_it_alone(play: Play, row: list[str], cli: Call) -> None:
    at = ("-C", str(play.root))
    far = ("--what", "graph", "--depth", "4", "--direction", "in", "--rel", "depends_on")
    for verb in (("note", "show"), ("show",)):
        assert len(json.loads(cli(*verb, row[0], *far, "--json", *at)[1])["graph"]["nodes"]) == 5
        code, _, err = cli(*verb, row[0], "--depth", "3", *at)
        assert (code, GraphOnly.token in err) == (2, True)
    run = play.run()
    assert GraphOnly.token in cli("show", run, "--depth", "3", *at)[2]
