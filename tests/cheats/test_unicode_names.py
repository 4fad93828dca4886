"""Cheats with names: letters of other alphabets, marks that nobody sees, and other spellings of one name."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest

from memento_git.work import persons
from memento_git.work.actions import evidences, plans, releases
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA, GATE
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

CYRILLIC = "\u0430"
LOOK_ALIKES = {
    "Greek capital alpha": "\u0391da", "Cyrillic a at the end": "Ad\u0430", "all of it mixed": "\u0410d\u0430",
    "full width": "\uff21\uff44\uff41", "lower case": "ada", "upper case": "ADA", "two spaces": "A  da",
    "mathematical": "\U0001d5d4\U0001d5f1\U0001d5ee", "a no-break space": "Ada\u00a0Lovelace",
}  # fmt: skip
UNSEEN = {
    "zero width space": "Ada\u200b", "zero width joiner": "A\u200dda", "word joiner": "A\u2060da",
    "soft hyphen": "A\u00adda",
    "right to left mark": "Ada\u200f", "right to left override": "\u202eadA", "isolate": "\u2066Ada\u2069",
    "variation selector": "Ada\ufe0f", "tag": "Ada\U000e0061", "byte order mark": "\ufeffAda",
    "private use": "Ada\ue000", "Hangul filler": "A\u3164da", "half-width filler": "Ada\uffa0", "blank": "Ada\u2800",
    "grapheme joiner": "A\u034fda", "Khmer vowel": "Ada\u17b4", "Mongolian selector": "A\u180bda",
    "null note": "Ada\U0001d159", "two selectors": "\u845b\U000e0100\U000e0101",
    "a space behind": "Ada ", "a space before": " Ada", "a line end": "Ada\n", "a tab": "Ada\t",
}  # fmt: skip
TURNING = ("right to left mark", "right to left override", "isolate")


@pytest.fixture
def doors(doors: Doors) -> Doors:
    doors.play.task("One")
    doors.landed()
    return doors


@pytest.mark.parametrize("how", sorted(LOOK_ALIKES))
def test_a_name_that_looks_like_an_approvers_is_not_the_approvers(doors: Doors, how: str) -> None:
    """Way: policy lets Ada judge and approve; somebody writes her name in other letters."""
    name = LOOK_ALIKES[how]
    doors.policy(f"  plan: {{approvers: [Ada]}}\n  gates: {{verdicts: {{{GATE}: [Ada]}}, waivers: [Ada]}}\n")
    run = doors.play.state(doors.play.task("Two")).id
    doors.landed()
    doors.refused("approver_refused", "gate record", actor=name, gate=GATE, verdict="passed")
    doors.refused("approver_refused", "gate waive", actor=name, gate=GATE, reason="No time.")
    doors.forge(run, "passed", by=name, gate=GATE)
    assert f"by {name}: policy names Ada" in doors.caught("G002")


@pytest.mark.parametrize("how", sorted(UNSEEN))
def test_a_name_with_what_nobody_sees_is_no_name(doors: Doors, how: str) -> None:
    """Way: the same with marks that no terminal shows. No record takes such a name."""
    name = UNSEEN[how]
    run = doors.play.state(doors.play.task("Two")).id
    doors.landed()
    doors.refused("actor_invalid", "gate record", actor=name, gate=GATE, verdict="passed")
    doors.forge(run, "passed", by=name, gate=GATE)
    assert doors.gate(GATE, run) == "none"
    doors.caught("F001" if how in TURNING else "F002")


@pytest.mark.parametrize("letter", ["\u180b", "\u180e", "\u200c", "\ufe0f", "\U000e0100"])
def test_a_mark_that_joining_scripts_have_makes_no_other_person(doors: Doors, letter: str) -> None:
    """Way: behind such letters a name may have it, and looks the same without."""
    doors.play.as_("\u1820\u1821").gate(GATE, "passed")
    doors.landed()
    doors.play.as_(f"\u1820{letter}\u1821").gate(GATE, "failed", note="no")
    assert "looks like" in doors.caught("C006")


def test_names_of_joining_scripts_keep_their_joiners(doors: Doors) -> None:
    """Not a way: Persian, Hindi, Mongolian, a form of an ideograph, emoji, accents, and letters of one alphabet."""
    joined = ("\u0645\u0647\u200c\u062f\u06cc", "\u0915\u094d\u200d\u0937", "\u182e\u180e\u1820")
    chosen = ("\u845b\U000e0100\u57ce", "Ada \u2764\ufe0f", "Bea \u2764\ufe0f\u200d\U0001f525")
    for name in (*joined, *chosen, "Zo\u00eb", "Αλέξης", "Андрей", "王小明"):
        doors.play.as_(name).gate(GATE, "passed")
    doors.sound()


@pytest.mark.parametrize("how", ["Greek capital alpha", "Cyrillic a at the end", "all of it mixed"])
def test_a_name_that_looks_like_a_known_one_is_found(doors: Doors, how: str) -> None:
    """Way: whoever reads the table on the pull request takes the name for Ada's."""
    doors.play.as_(LOOK_ALIKES[how]).gate(GATE, "passed")
    told = doors.caught("C006")
    assert "looks like Ada" in told
    assert "letter" in told


@pytest.mark.parametrize("known", ["ada \U0001f98a", "\U00020bb7 ada", "O'Brien: ada"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_name_that_looks_like_one_which_yaml_quotes_is_found(doors: Doors, known: str, packed: bool) -> None:
    """Way: a search of the base's lines takes the name for another one than it is."""
    path = doors.path(doors.play.as_(known).gate(GATE, "requested")[1])
    if packed:
        doors.packed(run_of(doors), {path: (doors.root / path).read_bytes()})
        doors.remove(path)
    doors.landed()
    doors.play.as_(known.replace("a", CYRILLIC)).gate(GATE, "passed")
    assert f"looks like {known}" in doors.caught("C006")


@pytest.mark.parametrize("line", ['"by": Bad Ada\n', "by: >-\n  Bad\n  Ada\n", "? by\n: Bad Ada\n"])
def test_a_name_that_looks_like_one_which_is_written_otherwise_is_found(doors: Doors, line: str) -> None:
    _, event = doors.play.as_("Bad Ada").gate(GATE, "requested")
    doors.edit(event, "by: Bad Ada\n", line)
    doors.landed()
    doors.play.as_(f"Bad {CYRILLIC.upper()}da").gate(GATE, "passed")
    assert "looks like Bad Ada" in doors.caught("C006")


def test_an_address_that_looks_like_a_known_one_is_found(doors: Doors) -> None:
    """Way: the name is as it was, and the address has a letter of another alphabet."""
    for name in (f"Ada <{CYRILLIC}da@example.invalid>", f"{CYRILLIC}da <{CYRILLIC}da@example.invalid>"):
        doors.play.as_(name).gate(GATE, "passed")
        assert f"{name} looks like Ada" in doors.caught("C006")


def test_a_name_that_its_owner_spells_otherwise_now_is_theirs(doors: Doors) -> None:
    """Not a way: one address, and a name without the dot before, or with a joiner now; for a rule it is one person."""
    for before, now in (("Aydin", "Ayd\u0131n"), ("\u0645\u0647\u062f\u06cc", "\u0645\u0647\u200c\u062f\u06cc")):
        doors.play.as_(f"{before} <aydin@example.invalid>").gate(GATE, "requested")
        doors.landed()
        git(doors.root, "config", "user.name", now)
        doors.play.as_(f"{now} <AYDIN@example.invalid>").gate(GATE, "passed")
        assert persons.is_same(f"{before} <aydin@example.invalid>", f"{now} <AYDIN@example.invalid>")
        doors.sound()


ENDS = {
    "a space in the address": "Ada <ada@example.invalid >", "a space before the address": "Ada < ada@example.invalid>",
    "a space within the address": "Ada <ada @example.invalid>", "an empty address": "Ada <>",
    "a point behind the address": "Ada <ada@example.invalid.>", "a point behind the name": "Ada.", "a comma": "Ada,",
    "quotes": '"Ada"', "the address in quotes": "'ada@example.invalid'",
}  # fmt: skip


@pytest.mark.parametrize("how", sorted(ENDS))
def test_nobody_is_another_by_what_git_takes_off_a_name(doors: Doors, how: str) -> None:
    """Way: policy asks for another than the plan's author, and for two who approve a release."""
    name = ENDS[how]
    doors.policy("  plan: {not_author: true}\n  release: {approvals: 2}\n")
    author = doors.play.as_(ADA)
    plan = author.do(plans.draft_plan, "Plan", "Mine.", run=author.run("Mine"))
    run = doors.play.state(plan).id
    doors.landed()
    doors.refused("approver_refused", "plan approve", actor=name, plan=plan)
    event = doors.forge(plan, "approved", by=name, text=doors.play.state(plan).prose(plan).digest)
    assert "policy asks for another than its author" in doors.caught("P003")
    doors.remove(event)
    for one in (ADA, name):
        doors.play.as_(one).do(evidences.approve, run)
    assert "approvals: 1 of 2" in doors.missing(run)


PLAIN = {"a hyphen": "agent:claude-code", "an apostrophe": "Ada O'Brien", "a colon": "agent:hermes"}
MARKS = {"a hyphen": "-\u2010\u2011\u2013\u2212", "an apostrophe": "'\u2019\u02bc", "a colon": ":\u2236\ua789"}


@pytest.mark.parametrize("how", sorted(PLAIN))
def test_marks_that_look_alike_make_no_other_person(doors: Doors, how: str) -> None:
    """Way: of an actor's name one mark is another that looks like it."""
    plain, mark, others = PLAIN[how], MARKS[how][0], MARKS[how][1:]
    doors.play.as_(plain).gate(GATE, "requested")
    doors.landed()
    for other in others:
        name = plain.replace(mark, other)
        assert persons.is_same(plain, name)
        doors.play.as_(name).gate(GATE, "passed")
        assert f"{name} looks like {plain}" in doors.caught("C006")


@pytest.mark.parametrize("how", sorted({*LOOK_ALIKES, "with an address"} - {"a no-break space", "two spaces"}))
def test_nobody_approves_their_own_plan_under_another_spelling(doors: Doors, how: str) -> None:
    """Way: policy asks for another than the plan's author."""
    name = {**LOOK_ALIKES, "with an address": ADA}[how]
    doors.policy("  plan: {not_author: true}\n")
    author = doors.play.as_("Ada")
    run = author.run("Mine")
    plan = author.do(plans.draft_plan, "Plan", "Mine.", run=run)
    doors.landed()
    doors.refused("approver_refused", "plan approve", actor=name, plan=plan)
    text = doors.play.state(plan).prose(plan).digest
    doors.forge(plan, "approved", by=name, text=text)
    assert "policy asks for another than its author" in doors.caught("P003")


@pytest.mark.parametrize("how", ["Greek capital alpha", "Cyrillic a at the end", "full width", "lower case"])
def test_one_person_in_two_spellings_is_one_approver(doors: Doors, how: str) -> None:
    """Way: policy asks for two approvals, and one person gives both."""
    doors.policy("  release: {approvals: 2}\n")
    task = doors.play.state(doors.play.task("Two")).tasks()[0]
    state = doors.play.state(task)
    for one in state.tasks():
        doors.play.complete(doors.play.claimed(one), doors.play.evidence(one))
    doors.play.as_("Ada").do(evidences.approve, state.id)
    for _ in doors.accepted("evidence approve", actor=LOOK_ALIKES[how], about=state.id):
        assert doors.missing() == ["approvals: 1 of 2"]
    doors.unreleased(state.id, "approvals: 1 of 2")
    doors.remove(doors.last(state.id, "passed"))
    doors.play.as_("Bob").do(evidences.approve, state.id)
    assert doors.play.do(releases.release_run).event


def test_two_forms_of_one_letter_are_one_person_and_not_one_name(doors: Doors) -> None:
    """Way: a name composed (NFC) in policy, and decomposed (NFD) by whoever is not meant; and the other way round."""
    whole, parts = "Zo\u00eb", unicodedata.normalize("NFD", "Zo\u00eb")
    assert (whole != parts, persons.is_same(whole, parts), persons.looks_like(whole, parts)) == (True, True, False)
    doors.policy(f"  gates: {{verdicts: {{{GATE}: ['{whole}']}}}}\n")
    doors.refused("approver_refused", "gate record", actor=parts, gate=GATE, verdict="passed")
    doors.play.as_(whole).gate(GATE, "passed")
    doors.warned("C002")


def test_look_alike_records_of_the_ledger_itself_are_not_taken(doors: Doors) -> None:
    """Way: an id in other letters, so that two tasks read as one."""
    task = doors.play.state(doors.play.task("Two")).tasks()[0]
    fake = task.replace(task[-1], "\u043e")
    doors.denied("id_invalid", "task", "show", fake)
    doors.refused("id_invalid", "task cancel", task=fake, reason="Not that one.")
    run = doors.play.state(task).id
    doors.landed()
    old = doors.path(task)
    doors.write(old.replace(task, fake), (doors.root / old).read_bytes().replace(task.encode(), fake.encode()))
    doors.warned("F010")
    assert len(doors.play.state(run).tasks()) == 2
    assert git(doors.root, "status", "--porcelain") == ""
