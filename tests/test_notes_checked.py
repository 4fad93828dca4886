"""check, settle, redact, doctor and apply on notes: what is wrong with them is found, named, and put right."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.errors import MementoError
from memento_git.folding.settling import EventIsLegal, NotAHead
from memento_git.knowledge.actions import notes
from memento_git.knowledge.refusals import KeyTaken, NoteRedacted
from memento_git.ledger import layout
from memento_git.ledger.codec import digest_of, encode
from memento_git.ledger.corrections import AlreadyRedacted
from memento_git.model.ids import EvidenceWithdrawn
from memento_git.review import actions
from memento_git.verbs import batch, doctor, settling
from memento_git.verbs.notes import NothingNamed
from memento_git.work.actions import evidences
from memento_git.work.actions import settling as of_work
from tests.play import add, git, note_set, take_out

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.model.finding import Finding
    from tests.play import Call, Play

KEY = "auth.token.lifetime"


def findings(play: Play, **options: Any) -> list[Finding]:
    return [one for one in actions.check(play.ledger, **options).findings if one.code not in ("C001", "C002")]


def look(play: Play, **options: Any) -> list[str]:
    return sorted(one.code for one in findings(play, **options))


def file_of(play: Play, note: str) -> Path:
    return play.root / note_set(play).path(note)


def event_of(play: Play, note: str, do: str = "") -> str:
    events = note_set(play).folded(note).events
    return next(seen.event.id for seen in events if do in ("", seen.event.do))


def edit(play: Play, path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    play.commit(path, text.replace(old, new), "by hand")


def on(play: Play, branch: str, start: str = "") -> None:
    git(play.root, "switch", "-q", *(["-c", branch, start] if start else [branch]))


def rivals(play: Play) -> tuple[str, str, str]:
    """Return a note, and the two that branches put in its place; what the merge came to is checked out."""
    old = add(play, "Tokens live an hour.", kind="decision")
    on(play, "one", "main")
    first = add(play, "Tokens live a day, as sessions do.", kind="decision", supersedes=[old], reason="comfort")
    on(play, "two", "main")
    second = add(play, "Access is granted by certificates.", kind="decision", supersedes=[old], reason="safety")
    git(play.root, "merge", "-q", "--no-edit", "one")
    return old, first, second


# One tree.


def test_notes_in_order_have_nothing_wrong(play: Play, run: str) -> None:
    task = play.task()
    proof = play.evidence(task)
    first = add(play, "Names are checked in the model.", key=KEY, evidence=[proof], about=["app.py:1"])
    second = add(play, "Empty names are refused.", links=[f"depends_on:{first}", f"caused_by:{task}"])
    play.do(notes.link_note, second, "relates_to", proof)
    play.do(notes.confirm_note, first)
    play.do(notes.merge_notes, [first, second], "Names are checked, none is empty.")
    question = add(play, "Who may rename?", kind="question")
    play.do(notes.resolve_note, question, answer=first)
    assert look(play) == []


@pytest.mark.parametrize(
    ("option", "code"),
    [
        ("links:\n- rel: depends_on\n  to: note_000000000000\n", "L004"),
        ("links:\n- rel: depends_on\n  to: task_000000000000\n", "L004"),
        ("sources:\n- https://example.invalid/a\n- note_000000000000\n", "L004"),
        ("supersedes:\n- note_000000000000\n", "L004"),
        (f"evidence:\n- evidence_000000000000@{'0' * 32}\n", "L002"),
        ("key: auth token\n", "F002"),
        ("mood: good\n", "F002"),
    ],
)
def test_front_matter_written_by_hand_is_found(play: Play, option: str, code: str) -> None:
    note = add(play, "Names are checked in the model.")
    git(play.root, "switch", "-qc", "work")
    edit(play, file_of(play, note), "origin: person\n", f"origin: person\n{option}")
    assert look(play) == look(play, base="main") == [code]


def test_a_note_at_another_path_or_twice_is_found(play: Play) -> None:
    note = add(play, "Names are checked in the model.")
    path = file_of(play, note)
    copy = path.parents[2] / "issues" / path.parent.name / path.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(path.read_bytes())
    play.commit_all()
    assert look(play) == ["F008"]
    [twice] = findings(play)
    shown = git(play.root, *shlex.split(twice.fix.partition(": ")[2])[1:])
    assert 0 <= shown.find(f"/{copy.parts[-3]}/") < shown.find(f"/{path.parts[-3]}/")
    assert "git rm ." not in twice.fix, "by their names alone nobody knows which one is the copy"
    copy.unlink()
    edit(play, path, note, "note_000000000000")
    assert look(play) == ["F003"]


def test_a_stray_file_beside_the_events_of_a_note_does_not_hide_its_text(play: Play) -> None:
    note = add(play, "Ids are random.")
    play.do(notes.confirm_note, note)
    before = note_set(play).path(note)
    (play.root / before.removesuffix(".md") / "note.md").write_text("x")
    play.commit_all("stray")
    assert note_set(play).index.text_of(note) == note_set(play).path(note) == before
    assert look(play) == ["F010"]


def test_evidence_with_other_bytes_than_a_note_named_is_found(play: Play, run: str) -> None:
    proof = play.evidence(play.task())
    note = add(play, "It prints checked.", evidence=[proof])
    edit(play, next(play.root.glob(f".memento/runs/*/evidence/*/{proof}.yaml")), "seconds: ", "seconds: 1")
    assert [one.code for one in findings(play) if note in one.path] == ["L003"]


def test_a_note_that_a_bundle_dates_after_now_is_found(play: Play, cli: Call, tmp_path: Path) -> None:
    note, bundle = add(play, "The port is 80."), tmp_path / "notes.jsonl"
    cli("export", "--out", str(bundle), "-C", str(play.root))
    before = note_set(play).note(note).data["at"]
    bundle.write_text(bundle.read_text().replace(before, f"2999{before[4:]}"))
    git(play.root, "rm", "-q", str(file_of(play, note)))
    play.commit_all("gone")
    assert cli("import", str(bundle), "-C", str(play.root))[0] == 0
    (found,) = findings(play)
    assert (found.code, found.severity, f"{note} is dated 2999" in found.message) == ("T004", "warning", True)


def test_redacted_evidence_and_notes_are_no_broken_links(play: Play, run: str) -> None:
    proof = play.evidence(play.task())
    first = add(play, "It prints checked.", evidence=[proof])
    second = add(play, "So it was looked at.", links=[f"depends_on:{first}"])
    play.do(of_work.redact_record, proof, reason="a token")
    play.do(settling.redact_record, first, reason="a name")
    assert look(play) == []
    assert note_set(play).status(first) == "redacted"
    assert [link.to for link in note_set(play).links(note_set(play).note(second))] == [first]
    with pytest.raises(EvidenceWithdrawn, match=f"{proof} is redacted"):
        add(play, "It prints checked, says the run.", evidence=[proof])


def test_events_of_a_note_by_hand_are_judged_as_any(play: Play) -> None:
    note = add(play, "Names are checked in the model.")
    play.do(notes.park_note, note)
    parked = next(file_of(play, note).with_suffix("").glob("*-parked-*"))
    twin = parked.with_name(parked.name.replace("-parked-", "-resumed-")[:-17] + "000000000000.yaml")
    twin.write_text(parked.read_text().replace("do: parked", "do: resumed"))
    play.commit_all()
    assert look(play) == ["T002"]
    row = settling.troubles(play.ledger.view())[0][0]
    assert (row["record"], row["problem"]) == (note, "illegal")
    play.do(settling.void_event, row["events"][0]["event"], reason="never happened")
    assert look(play) == []
    assert settling.troubles(play.ledger.view()) == ([], [])
    with pytest.raises(EventIsLegal):
        play.do(settling.void_event, event_of(play, note, "parked"), reason="no")


def test_an_event_without_its_past_and_a_note_without_its_text_are_found(play: Play) -> None:
    note = add(play, "Names are checked in the model.")
    play.do(notes.park_note, note)
    play.do(notes.resume_note, note)
    folder = file_of(play, note).with_suffix("")
    next(folder.glob("*-parked-*")).unlink()
    play.commit_all()
    assert look(play) == ["E002"]
    git(play.root, "revert", "--no-edit", "HEAD")
    file_of(play, note).unlink()
    play.commit_all()
    assert look(play) == ["F007"]


def test_a_secret_is_found_unless_its_writer_or_policy_allowed_the_rule(play: Play) -> None:
    note = add(play, "The key is in the vault.")
    play.do(notes.park_note, note, reason="for now")
    edit(play, file_of(play, note), "in the vault.", "AKIAIOSFODNN7EXAMPLF.")
    assert look(play) == ["S001"]
    assert f"memento note redact {note}" in findings(play)[0].fix
    git(play.root, "reset", "-q", "--soft", "HEAD~1")
    [staged] = findings(play, staged=True)
    assert (staged.code, staged.fix[:28]) == ("S001", "take it out of the file, and")
    play.commit_all()
    edit(play, file_of(play, note), "origin: person\n", "origin: person\nallowed_secrets:\n- AWS Access Key\n")
    assert look(play) == []


def test_a_merge_cannot_raise_an_origin(play: Play) -> None:
    low = add(play, "It printed 42.", origin="command")
    high = add(play, "The answer is known to us.")
    merged = play.do(notes.merge_notes, [low, high], "It printed 42, as we know.").id
    add(play, "All hosts print the same.", sources=[low])
    assert look(play) == [], "who names what a command printed as a source has words of their own"
    edit(play, file_of(play, merged), "origin: command", "origin: person")
    assert look(play) == ["N006"]


# Two branches.


def test_a_key_of_two_successors_is_settled_and_merged_as_it_says(play: Play, cli: Call) -> None:
    old = add(play, "Charged once.", key=KEY)
    on(play, "one", "main")
    add(play, "Charged twice, says one.", key=KEY, supersedes=[old])
    on(play, "two", "main")
    add(play, "Charged thrice, says two.", key=KEY, supersedes=[old])
    git(play.root, "merge", "-q", "--no-edit", "one")
    (found,) = [one for one in findings(play) if one.code == "N002"]
    first, _, then = found.fix.partition("; then ")
    assert first == f"first settle {old}: memento settle"
    where = ("-C", str(play.root))
    told = cli("settle", *where)[1].partition("memento settle ")[2].partition(" --reason")[0]
    assert cli("settle", *told.split(), "--reason", "It was first.", *where)[0] == 0
    fix = then.partition(": ")[2].partition(" --text ")[0].split()[1:]
    assert cli(*fix, "--text", "Charged as often as it says.", *where)[0] == 0
    assert look(play, no_base=True) == []


def test_one_key_from_two_branches_is_found_after_the_merge_and_merged_as_it_says(play: Play, cli: Call) -> None:
    on(play, "one", "main")
    first = add(play, "Tokens live an hour.", key=KEY)
    on(play, "two", "main")
    second = add(play, "Tokens live for a day and no longer.", key=KEY)
    assert look(play, base="main") == []
    git(play.root, "merge", "-q", "--no-edit", "one")
    for options in ({}, {"base": "one"}, {"base": "main"}):
        assert look(play, **options) == ["N002"], options
    assert look(play, no_base=True) == ["N002"]
    for base, own in (("one", second), ("HEAD^", first)):
        assert [one.path for one in findings(play, base=base)] == [note_set(play).path(own)], "of the branch's own"
    fix = findings(play)[0].fix.partition(": ")[2].replace("TEXT", "Tokens live a day.").split(" --text ")
    code, out, _ = cli(*fix[0].split()[1:], "--text", fix[1], "-C", str(play.root), "--json")
    assert code == 0, out
    assert look(play, no_base=True) == []
    held = note_set(play)
    assert {held.status(first), held.status(second)} == {"merged"}
    assert held.find(KEY).body == "Tokens live a day."


def test_a_key_that_two_live_notes_have_names_neither(play: Play, cli: Call) -> None:
    on(play, "one", "main")
    first = add(play, "Leases last ten minutes.", key=KEY)
    on(play, "main")
    second = add(play, "Leases last an hour.", key=KEY)
    git(play.root, "merge", "-q", "--no-edit", "one")
    both, where = sorted((first, second)), ("-C", str(play.root))
    for asked in (("retire", KEY, "--reason", "wrong"), ("show", KEY), ("add", "A day.", "--supersedes", KEY)):
        code, _, err = cli("note", *asked, *where)
        assert (code, "[key_ambiguous]" in err, all(note in err for note in both)) == (1, True, True), asked
    assert "[key_ambiguous]" in cli("note", "redact", KEY, "--reason", "r", *where)[2]
    assert "[key_ambiguous]" in cli("log", "--record", KEY, *where)[2]
    for gone, left in ((first, second), (second, first)):
        with pytest.raises(KeyTaken, match=left):
            add(play, "Leases last a day.", key=KEY, supersedes=[gone])
    assert add(play, "Leases last a day.", key=KEY, supersedes=[first, second])
    assert look(play, no_base=True) == []


def test_a_contested_note_of_a_key_that_several_have_is_settled_first(play: Play, cli: Call) -> None:
    on(play, "one", "main")
    first = add(play, "Leases last ten minutes.", key=KEY)
    on(play, "two", "main")
    second = add(play, "Leases last an hour or more.", key=KEY)
    on(play, "three", "two")
    play.do(notes.park_note, second)
    on(play, "two")
    play.do(notes.retire_note, second, reason="wrong")
    git(play.root, "merge", "-q", "--no-edit", "three")
    git(play.root, "merge", "-q", "--no-edit", "one")
    where = ("-C", str(play.root))
    err = cli("note", "show", KEY, *where)[2]
    assert "[key_ambiguous]" in err
    assert f"first settle what is contested, {second}: memento settle;" in err
    told = f"first settle {second}: memento settle; then retire all but one: memento note retire NOTE --reason WHY"
    assert [one.fix for one in findings(play, no_base=True) if one.code == "N002"] == [told]
    keep = event_of(play, second, "parked")
    assert cli("settle", second, "--keep", keep, "--reason", "It holds.", *where)[0] == 0
    err = cli("note", "show", KEY, *where)[2]
    fix = err.partition("or memento ")[2].partition(" --text")[0]
    assert {first, second} <= set(fix.split())
    assert cli(*fix.split(), "--text", "Leases last an hour.", *where)[0] == 0
    assert cli("note", "show", KEY, *where)[0] == 0


def test_what_was_wrong_at_the_base_is_told_apart(play: Play) -> None:
    on(play, "one", "main")
    add(play, "Tokens live an hour.", key=KEY)
    on(play, "main")
    second = add(play, "Tokens live for a day and no longer.", key=KEY)
    git(play.root, "merge", "-q", "--no-edit", "one")
    on(play, "later", "main")
    play.do(notes.revise_note, second, text="Tokens live for a whole day and no longer.")
    report = actions.check(play.ledger, base="main")
    assert [one.code for one in report.findings] == []
    assert [one.code for one in report.already] == ["N002"]


def test_two_successors_are_contested_until_one_is_settled_on(play: Play, cli: Call) -> None:
    old, first, second = rivals(play)
    assert look(play) == ["T001"]
    assert note_set(play).status(old) == "contested"
    code, out, _ = cli("settle", "-C", str(play.root))
    assert code == 0
    assert out.count("--keep") == 2
    events = settling.troubles(play.ledger.view())[0][0]["events"]
    keep = next(one["event"] for one in events if note_set(play).event(one["event"]).get("successor") == first)  # type: ignore[union-attr]
    with pytest.raises(NotAHead):
        play.do(settling.settle_record, old, event_of(play, rivals_run(play)), reason="x")
    code, out, err = cli("settle", old[5:11], "--keep", keep, "--reason", "comfort wins", "-C", str(play.root))
    assert code == 0, err
    assert (note_set(play).status(old), note_set(play).successor(old)) == ("superseded", first)
    assert look(play, no_base=True) == ["N005"]
    play.do(settling.redact_record, old, reason="it named a host")
    assert look(play, no_base=True) == ["N005"], "redacted or not"
    play.do(notes.retire_note, second, reason="not taken")
    assert look(play, no_base=True) == []


def rivals_run(play: Play) -> str:
    """Return another note, to which something happened."""
    note = add(play, "Another matter altogether.")
    play.do(notes.park_note, note)
    return note


# Against a base.


@pytest.fixture
def branch(play: Play) -> Play:
    """A note with two events on main, and a branch that begins there."""
    note = add(play, "Names are checked in the model.", kind="decision", key=KEY)
    play.do(notes.park_note, note, reason="for now")
    play.do(notes.resume_note, note)
    git(play.root, "switch", "-qc", "work")
    return play


def held(play: Play) -> str:
    return note_set(play).readable()[0].id


def test_the_wording_of_a_note_may_change_and_its_identity_may_not(branch: Play) -> None:
    note = held(branch)
    branch.do(notes.revise_note, note, text="Names are checked in the model, always.", title="Names")
    assert look(branch, base="main") == []
    for old, new in (("by: Ada", "by: Eve"), ("kind: decision", "kind: fact"), ("origin: person", "origin: import")):
        edit(branch, file_of(branch, note), old, new)
        assert look(branch, base="main") == ["D005"], new
        edit(branch, file_of(branch, note), new, old)


def test_an_origin_is_not_raised_on_a_branch(play: Play) -> None:
    note = add(play, "It printed 42.", origin="command")
    git(play.root, "switch", "-qc", "work")
    edit(play, file_of(play, note), "origin: command", "origin: person")
    assert look(play, base="main") == ["D005"]


@pytest.mark.parametrize("staged", [True, False])
def test_a_removed_note_and_a_removed_or_changed_event_are_put_back(branch: Play, *, staged: bool) -> None:
    note = held(branch)
    path = file_of(branch, note)
    before = path.read_bytes()
    path.unlink()
    next(path.with_suffix("").glob("*-parked-*")).unlink()
    resumed = next(path.with_suffix("").glob("*-resumed-*"))
    resumed.write_text(resumed.read_text() + "reason: another\n")
    git(branch.root, "add", "--all")
    if staged:
        assert {"D001", "D002", "D006"} < set(look(branch, staged=True))
        return
    branch.commit_all("tidy")
    assert {"D001", "D002", "D006"} < set(look(branch, base="main"))
    actions.check(branch.ledger, base="main", fix=True)
    assert path.read_bytes() == before
    assert look(branch, no_base=True) == []


def test_what_came_and_went_on_the_branch_is_found(branch: Play) -> None:
    branch.do(notes.retire_note, held(branch), reason="gone")
    retired = next(file_of(branch, held(branch)).with_suffix("").glob("*-retired-*"))
    take_out(branch.root, str(retired), message="never mind")
    assert look(branch, base="main") == ["D010"]


def test_a_void_of_what_was_legal_at_the_base_is_found(branch: Play) -> None:
    note = held(branch)
    resumed = next(file_of(branch, note).with_suffix("").glob("*-resumed-*"))
    target = note_set(branch).event(event_of(branch, note, "resumed"))
    assert target is not None
    void = resumed.with_name(resumed.name.replace("-resumed-", "-voided-")[:-17] + "000000000000.yaml")
    absent = str(target.after[0])
    void.write_text(
        f"do: voided\nof: {note}\nat: {target.at}\nby: Ada\nafter: []\ntarget: {target.id}\nabsent:\n- {absent}\n"
        "reason: I wish\n"
    )
    branch.commit_all("by hand")
    assert look(branch, base="main") == ["D009"]
    assert look(branch, no_base=True) == ["T007"]


def forged(play: Play, note: str, do: str, *after: str, **more: str) -> str:
    """Write an event of a note by hand that had seen some others; return its id."""
    held, name, at = note_set(play), play.ledger.new_id("event"), play.ledger.now()
    refs = [str(event.ref) for one in after if (event := held.event(one)) is not None]
    told = {"do": do, "of": note, "at": at, "by": "Ada", "after": sorted(refs), **more, "reason": "I wish"}
    path = file_of(play, note).with_suffix("") / layout.event_name(at, do, name)
    path.write_bytes(encode(told))
    play.commit_all("by hand")
    return name


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_retirement_whose_void_is_voided_is_not_lost(branch: Play, *, goes_on: bool) -> None:
    note = held(branch)
    before = event_of(branch, note, "resumed")
    branch.do(notes.retire_note, note, reason="It is wrong.")
    retired = event_of(branch, note, "retired")
    git(branch.root, "branch", "-qf", "main", "work")
    parked = forged(branch, note, "parked", before)
    first = forged(branch, note, "voided", retired, parked, target=retired)
    assert look(branch, base="main") == ["D011"]
    if goes_on:
        forged(branch, note, "resumed", first)
    other = forged(branch, note, "resumed", parked)
    forged(branch, note, "voided", first, other, target=first)
    assert look(branch, base="main") == ["D011" if goes_on else "T001"]


def test_a_void_at_the_base_whose_past_comes_with_the_branch_is_found(branch: Play) -> None:
    note = held(branch)
    resumed = next(file_of(branch, note).with_suffix("").glob("*-resumed-*"))
    target = note_set(branch).event(event_of(branch, note, "resumed"))
    assert target is not None
    first = resumed.with_name(resumed.name.replace("-resumed-", "-confirmed-")[:-17] + "000000000001.yaml")
    first.write_text(f"do: confirmed\nof: {note}\nat: {target.at}\nby: Ada\nafter: []\n")
    text = first.read_bytes()
    void = resumed.with_name(resumed.name.replace("-resumed-", "-voided-")[:-17] + "000000000000.yaml")
    void.write_text(
        f"do: voided\nof: {note}\nat: {target.at}\nby: Ada\nafter:\n- event_000000000001@{digest_of(text)}\n"
        f"target: {target.id}\nabsent:\n- {target.after[0]}\nreason: I wish\n"
    )
    first.unlink()
    branch.commit_all("by hand")
    assert look(branch, base="main") == ["E002"]
    on(branch, "later", "work")
    first.write_bytes(text)
    branch.commit_all("by hand")
    assert look(branch, base="work") == ["D009"]


def test_a_domain_may_come_with_its_notes_and_not_go_without_them(branch: Play) -> None:
    config = branch.root / ".memento" / "config.yaml"
    plain = config.read_text()
    branch.commit(config, f"{plain}knowledge:\n  domains: [billing]\n", "billing")
    note = add(branch, "Invoices are sent on Mondays.", domain="billing")
    assert look(branch, base="main") == []
    on(branch, "later", "work")
    branch.commit(config, plain, "no more billing")
    found = findings(branch, base="work")
    assert [(one.code, one.path) for one in found] == [("N001", note_set(branch).path(note))]


# Redaction.


def test_a_redacted_note_is_gone_and_may_not_come_back(branch: Play, cli: Call) -> None:
    note = held(branch)
    code, out, _ = cli("note", "redact", note[5:12], "--reason", "a customer's name", "-C", str(branch.root))
    assert (code, f"redacted {note}" in out) == (0, True)
    assert not list(branch.root.glob(f".memento/knowledge/*/*/{note}.md"))
    assert look(branch, base="main") == look(branch) == []
    assert {row["status"] for row in [{"status": note_set(branch).status(note)}]} == {"redacted"}
    with pytest.raises(AlreadyRedacted):
        branch.do(settling.redact_record, note, reason="again")
    with pytest.raises(NoteRedacted):
        branch.do(notes.park_note, note)
    assert add(branch, "Names are checked elsewhere.", key=KEY)
    git(branch.root, "checkout", "-q", "main", "--", f".memento/knowledge/decisions/{note[5]}/{note}.md")
    branch.commit_all("revive")
    assert "R001" in look(branch, base="main")
    actions.check(branch.ledger, base="main", fix=True)
    assert look(branch, base="main") == []


def test_log_and_show_tell_who_redacted_a_note_and_why(play: Play, cli: Call) -> None:
    note = add(play, "Codename bluebird.", key="project.name")
    play.do(notes.confirm_note, note)
    play.do(settling.redact_record, note, reason="a leak")
    where = ("-C", str(play.root))
    for asked in (("log",), ("log", "--record", note[5:12]), ("show", note[5:12]), ("note", "show", note)):
        code, out, err = cli(*asked, *where)
        assert (code, err, out.count(": a leak"), "confirmed" in out, "bluebird" in out) == (0, "", 1, True, False)
    assert cli("log", "--verb", "redacted", *where)[1].endswith(": a leak\n")
    row = json.loads(cli("note", "show", note, "--json", *where)[1])
    assert (row["note"]["status"], [one["action"] for one in row["audit"]]) == (
        "redacted", ["note.confirmed", "note.redacted"],
    )  # fmt: skip
    code, _, err = cli("note", "show", note, "--what", "graph", *where)
    assert (code, f"memento note show {note}" in err) == (1, True)
    for again in (note, note[5:12]):
        assert "[already_redacted]" in cli("note", "redact", again, "--reason", "r", *where)[2]


def test_the_texts_of_what_happened_are_redacted_and_what_follows_holds(branch: Play) -> None:
    note = held(branch)
    parked = event_of(branch, note, "parked")
    assert branch.do(settling.redact_record, parked, reason="a name") == parked
    assert "for now" not in "".join(path.read_text() for path in branch.root.glob(".memento/knowledge/**/*.yaml"))
    assert note_set(branch).status(note) == "active"
    assert look(branch, base="main") == look(branch) == []
    with pytest.raises(AlreadyRedacted):
        branch.do(settling.redact_record, parked, reason="a name")


def test_an_anchor_that_quotes_is_redacted_with_its_event(branch: Play) -> None:
    note = held(branch)
    branch.do(notes.revise_note, note, about=["app.py:1"])
    branch.do(notes.confirm_note, note)
    event = event_of(branch, note, "confirmed")
    assert "answer = 42" in str(note_set(branch).event(event))
    branch.do(settling.redact_record, event, reason="a secret formula")
    left = note_set(branch).event(event)
    assert left is not None
    assert "answer = 42" not in str(left)
    assert look(branch, no_base=True) == []


# doctor and apply.


def test_doctor_tells_how_notes_and_their_index_stand(play: Play, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from memento_git.knowledge import index
    from memento_git.knowledge.actions import recalling
    from memento_git.knowledge.recall import search

    add(play, "Tokens live an hour.", key=KEY)
    asked = {one.name: one for one in doctor.examine(play.ledger)}
    assert asked["notes"].message.startswith("1 note, ")
    assert "are read as they are" in asked["recall index"].message
    assert cli("recall", "tokens", "-C", str(play.root))[0] == 0
    assert {one.name: one.message for one in doctor.examine(play.ledger)}["recall index"].startswith("none: up to 150")
    monkeypatch.setattr(recalling, "FEW", 0)
    assert "first recall" in {one.name: one.message for one in doctor.examine(play.ledger)}["recall index"]
    search(play.ledger, ["tokens"])
    assert "as the ledger is" in {one.name: one.message for one in doctor.examine(play.ledger)}["recall index"]
    add(play, "Sessions live a day.")
    assert "behind" in {one.name: one.message for one in doctor.examine(play.ledger)}["recall index"]
    (index.place(play.ledger.git) / index.STATE).write_text("{}")
    assert {one.name: one.status for one in doctor.examine(play.ledger)}["recall index"] == "warn"
    assert cli("remember", "Perhaps it is so.", "--draft", "-C", str(play.root))[0] == 0
    assert "session promote" in {one.name: one.message for one in doctor.examine(play.ledger)}["drafts"]
    code, out, _ = cli("doctor", "-C", str(play.root), "--json")
    assert (code, json.loads(out)["ok"]) == (0, True)


def test_doctor_names_what_is_wrong_with_notes(play: Play, cli: Call) -> None:
    note = add(play, "Tokens live an hour.", key=KEY)
    text = file_of(play, note).read_text()
    other = file_of(play, note).parents[1] / "0" / "note_000000000000.md"
    other.parent.mkdir(exist_ok=True)
    other.write_text(text.replace(note, "note_000000000000") + "\nAnd a day.\n")
    play.commit_all()
    code, out, _ = cli("doctor", "-C", str(play.root), "--json")
    told = [(check["name"], check["status"]) for check in json.loads(out)["checks"] if check["status"] != "ok"]
    assert (code, told) == (1, [("keys", "fail")])
    play.commit(other, "no front matter")
    told = [(one.name, one.status) for one in doctor.examine(play.ledger, at=["HEAD"]) if one.status != "ok"]
    assert told == [("notes", "fail")]


def test_doctor_tells_of_a_writer_of_the_index_and_of_a_broken_draft(play: Play, cli: Call) -> None:
    from memento_git.knowledge import index
    from memento_git.knowledge.recall import search
    from memento_git.ledger import lock

    add(play, "Tokens live an hour.")
    search(play.ledger, ["tokens"])
    assert cli("remember", "Perhaps it is so.", "--draft", "-C", str(play.root))[0] == 0
    next((play.root / ".git" / "memento" / "drafts").glob("*/*.md")).write_text("no front matter")
    with lock.held(index.lock_path(play.ledger.git)):
        told = [(one.name, one.status) for one in doctor.examine(play.ledger) if one.status != "ok"]
    assert told == [("recall index", "warn"), ("drafts", "warn")]


def test_apply_does_the_verbs_on_notes_in_one_commit(play: Play) -> None:
    before = int(git(play.root, "rev-list", "--count", "HEAD"))
    done = play.do(batch.apply, b"""
- {do: note add, text: Tokens live an hour., kind: decision, key: auth.token, tags: [auth], pinned: 'true', as: old}
- {do: note add, text: Tokens live a day., supersedes: $old, key: auth.token, reason: comfort, as: new}
- {do: note add, text: Who may renew a token?, kind: question, links: ['depends_on:note_x'], as: asked}
""".replace(b", links: ['depends_on:note_x']", b""))  # fmt: skip
    old, new, asked = (row["id"] for row in done)
    play.do(batch.apply, f"""
- {{do: note revise, note: {new}, title: Lifetime, pinned: 'true'}}
- {{do: note link, note: {asked}, rel: relates_to, to: {new}}}
- {{do: note confirm, note: {new}}}
- {{do: note resolve, note: {asked}, answer: {new}}}
- {{do: note add, text: It is warm today in the office., as: warm}}
- {{do: note add, text: The kitchen has a new machine for coffee., as: coffee}}
- {{do: note merge, notes: [$warm, $coffee], text: Warm and coffee., as: both}}
- {{do: note park, note: $both}}
- {{do: note redact, target: $warm, reason: private}}
- {{do: note retire, key-prefix: auth, reason: a new design}}
""".encode())  # fmt: skip
    assert int(git(play.root, "rev-list", "--count", "HEAD")) == before + 2
    held = note_set(play)
    assert [held.status(one) for one in (old, new, asked)] == ["superseded", "retired", "resolved"]
    assert held.note(new).data["pinned"] is True
    assert look(play) == []


def test_apply_refuses_what_the_command_refuses(play: Play) -> None:
    with pytest.raises(NothingNamed) as caught:
        play.do(batch.apply, b"- {do: note retire, reason: why}")
    assert "line 1 (note retire)" in caught.value.message
    with pytest.raises(MementoError) as other:
        play.do(batch.apply, b"- {do: note add, text: A fact., colour: red}")
    assert other.value.token == "batch_invalid"


def test_a_live_note_on_retracted_evidence_is_told_until_somebody_looks_at_it(play: Play, run: str) -> None:
    proof = play.evidence(play.task())
    held, gone = (add(play, text, evidence=[proof]) for text in ("The cache lasts.", "So does the session."))
    assert look(play, no_base=True) == []
    git(play.root, "switch", "-qc", "work")
    play.do(evidences.retract, proof, reason="another server")
    for options in ({"base": "main"}, {"no_base": True}):
        told = [one for one in findings(play, **options) if one.code == "N009"]
        assert {one.message.split()[0] for one in told} == {held, gone}
        assert all(one.severity == "warning" and "retracted" in one.message for one in told)
    play.do(notes.confirm_note, held)
    play.do(notes.retire_note, gone, reason="nobody knows")
    assert "N009" not in look(play, base="main")


@pytest.mark.parametrize("spelled", ['"\\x{0:02x}{2}"', '"{1}\\\n  {2}"'])
def test_a_note_is_found_that_names_its_evidence_or_its_key_by_other_letters(
    play: Play, run: str, spelled: str
) -> None:
    proof = play.evidence(play.task())
    there = file_of(play, add(play, "The cache lasts.", evidence=[proof], key=KEY))
    for told in (KEY, next(word for word in there.read_text().split() if word.startswith(proof))):
        edit(play, there, told, spelled.format(ord(told[0]), told[0], told[1:]))
    on(play, "work", "main")
    play.do(evidences.retract, proof, reason="another server")
    assert look(play, base="main") == look(play, no_base=True) == ["N009"]
    later = file_of(play, add(play, "So does the session.", key="auth.other"))
    edit(play, later, "auth.other", KEY)
    assert look(play, base="main") == look(play, no_base=True) == ["N002", "N009"]


def test_a_note_that_no_withdrawn_evidence_is_of_is_not_looked_at(play: Play, run: str) -> None:
    """Way: a line that ends in a backslash, as of a shell or of Markdown, may be an id that YAML joins over two."""
    proof = play.evidence(play.task())
    there = file_of(play, add(play, "Run make \\\n  all."))
    edit(play, there, "origin: person\n", "origin: person\nsupersedes:\n- note_000000000000\n")
    on(play, "work", "main")
    play.do(evidences.retract, proof, reason="another server")
    assert actions.check(play.ledger, base="main").already == []


def test_a_note_reworded_beside_its_merge_is_told_until_somebody_looks_at_what_took_its_place(play: Play) -> None:
    one, two = add(play, "The cache lives in memory."), add(play, "Sessions end after an hour.")
    git(play.root, "branch", "merging")
    on(play, "wording", "HEAD")
    play.do(notes.revise_note, one, text="The cache lives in memory and on disk.")
    git(play.root, "switch", "-q", "merging")
    both = str(play.do(notes.merge_notes, [one, two], "The cache lives in memory; sessions end after an hour.").id)
    assert look(play, no_base=True) == []
    git(play.root, "merge", "-q", "--no-commit", "wording")
    assert look(play, staged=True) == ["N010"]
    git(play.root, "commit", "-qm", "merge")
    for options in ({"no_base": True}, {"base": "HEAD^1"}, {"base": "HEAD^2"}, {"base": "HEAD^@"}):
        (told,) = findings(play, **options)
        assert (told.code, told.severity) == ("N010", "warning")
        assert one in told.message
        assert both in told.message
        assert f"memento note confirm {both}" in told.fix
    play.do(notes.revise_note, both, text="The cache lives in memory and on disk; sessions end after an hour.")
    play.do(notes.confirm_note, both)
    assert look(play, no_base=True) == []


def test_a_merged_note_whose_words_are_put_back_is_not_told(play: Play) -> None:
    one, two = add(play, "The cache lives in memory."), add(play, "Sessions end after an hour.")
    play.do(notes.merge_notes, [one, two], "The cache lives in memory; sessions end after an hour.")
    play.do(notes.revise_note, one, tags=["cache"])
    assert look(play, no_base=True) == []
    play.do(notes.revise_note, one, text="The cache lives on disk.")
    assert look(play, no_base=True) == ["N010"]
    play.do(notes.revise_note, one, text="The cache lives in memory.")
    assert look(play, no_base=True) == []


def test_a_merge_that_does_not_say_which_words_it_had_is_not_told(play: Play) -> None:
    one, two = add(play, "The cache lives in memory."), add(play, "Sessions end after an hour.")
    play.do(notes.merge_notes, [one, two], "The cache lives in memory; sessions end after an hour.")
    (merged,) = file_of(play, one).with_suffix("").glob("*-merged-*.yaml")
    without = [line for line in merged.read_text().splitlines(keepends=True) if not line.startswith("text: ")]
    play.commit(merged, "".join(without))
    assert look(play, no_base=True) == []


def test_all_that_tell_of_a_place_tell_the_same_of_a_clean_work_tree(play: Play, cli: Call) -> None:
    """A copy of the file was kept, the file renamed, then edited."""
    code = "".join(f"line_{number} = {number * 7}\n" for number in range(20))
    play.commit("pay.py", code)
    note = str(play.do(notes.add_note, "Charges are tried twice.", about=["pay.py:5-12"]).id)
    play.commit("pay_old.py", code)
    git(play.root, "mv", "pay.py", "billing.py")
    play.commit_all()
    play.commit("billing.py", code.replace("line_7 = 49", "line_7 = 50"))

    def told(*words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(cli(*words, "--json", "-C", str(play.root))[1])
        return found

    for at in ((), ("--at", "HEAD")):
        asked = told("recall", "charges tried", *at)["hits"] + told("recall", "--about", "billing.py:8", *at)["hits"]
        assert [(hit["id"], hit["about"][0]["state"], hit["about"][0]["path"]) for hit in asked] == [
            (note, "changed", "billing.py")
        ] * 2
        (row,) = told("code", "read", "billing.py", *at)["notes"]
        assert (row["id"], row["state"]) == (note, "changed")
        assert told("code", "read", "pay_old.py", *at)["notes"] == []
        assert [row["id"] for row in told("recipe", "run", "drift-check", *at)["notes"]] == [note]
    for form in ((), ("--work-tree",)):
        (row,) = told("check", "anchors", *form)["anchors"]
        assert (row["state"], row["path"]) == ("changed", "billing.py")
