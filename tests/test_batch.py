"""apply: a list of verbs in one commit, or nothing."""

from __future__ import annotations

import inspect
import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from docs.generator.actions import apply_page
from memento_git.cli.main import command_at
from memento_git.errors import MementoError
from memento_git.knowledge import inverted_index
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.refusals import TooFewNotes
from memento_git.ledger.view import View
from memento_git.model.clock import DurationInvalid
from memento_git.verbs import batch
from memento_git.verbs.batch import ACTIONS, BatchInvalid
from memento_git.verbs.notes import NothingNamed
from memento_git.work.actions import evidences
from memento_git.work.refusals import EvidenceRequired
from tests.play import add, git

if TYPE_CHECKING:
    from tests.play import Call, Play

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


def test_the_keys_of_a_verb_are_shown(play: Play, cli: Call) -> None:
    where = ("-C", str(play.root))
    code, out, _ = cli("apply", "--keys", "task add", *where)
    assert (code, out.splitlines()[0].split()) == (0, ["title", "text", "required"])
    assert {"criteria", "depends_on", "files", "commands"} <= {line.split()[0] for line in out.splitlines()}
    keys = json.loads(cli("apply", "--keys", "task block", *where, "--json")[1])["keys"]
    assert keys[-1] == {"name": "reason", "value": "text", "required": True}
    assert json.loads(cli("apply", "--keys", "task ad", *where, "--json")[1])["error"] == "batch_invalid"
    assert [cli("apply", *words, *where)[0] for words in ((), ("-", "--keys", "task add"))] == [2, 2]


def test_a_list_of_verbs_is_one_commit(play: Play, cli: Call) -> None:
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
        ("[]", "a list of verbs"),
        ("do: run start", "a list of verbs"),
        ("- run start", "'do' must be one of"),
        ("- {do: run explode}", "'do' must be one of"),
        ("- {do: run start}", "'goal' is missing"),
        ("- {do: run start, goal: G, colour: red}", "unknown option 'colour'"),
        ("- {do: run start, goal: G, spike: maybe}", "true or false"),
        ("- {do: run start, goal: [a, b]}", "one text"),
        ("- {do: task add, run: $nothing, title: T}", "called 'nothing'"),
        ("- {do: task add, title: T, criteria: [POST /x: returns 422]}", "a list of texts"),
        ("- {do: task add, title: T, criteria: {POST /x: returns 422}}", "a list of texts"),
        ("- {do: task add, title: T, criteria: [[a], b]}", "a list of texts"),
        ("- {do: task add, title: T, attempts: 90m}", "attempts: a whole number is expected"),
        ("- {do: [task add]}", "'do' must be one of"),
        ("- {do: evidence run, argv: [true]}", "a list runs no commands: memento evidence run first"),
        (
            "- {do: run start, goal: a, as: x}\n- {do: run start, goal: b, as: x}",
            "line 2 (run start): 'x' is the name of what line 1 makes already",
        ),
        ("- {do: {task: add}}", "'do' must be one of"),
        ("- {do: run start, goal: G, as: [a]}", "'as' must be one name"),
        ("- {do: run start, goal: G, as: ''}\n- {do: run start, goal: H}", "'as' must be one name"),
        ("- {do: run start, goal: $5 a day}", "written $$"),
        ("- {do: run start, tx: x, goal: G}", "unknown option 'tx'"),
        ("- &a {do: run start, goal: G}\n- *a", "anchor"),
        ("- {do: run start, goal: G", "not YAML"),
    ],
)
def test_a_list_that_cannot_be_understood_names_the_line(play: Play, text: str, told: str) -> None:
    with pytest.raises(BatchInvalid, match="line") as caught:
        play.do(batch.apply, text.encode())
    assert told in caught.value.message


@pytest.mark.parametrize(("text", "told"), [
    ("- {do: note add, txt: x}", "unknown option 'txt'"), ("- {do: note add}", "'text' is missing; it takes text"),
    ("- {do: note link, note: $other, rel: supports, to: $held}", "nothing before it is called 'other'"),
    ("- {do: note ad}", "'do' must be one of"),
])  # fmt: skip
def test_what_is_wrong_with_the_last_line_is_told_before_the_first_is_done(play: Play, text: str, told: str) -> None:
    first = "- {do: note retire, note: note_000000000000, reason: old}\n- {do: note add, text: Held., as: held}\n"
    with pytest.raises(BatchInvalid, match=f"^line 3.*{told}"):
        play.do(batch.apply, f"{first}{text}".encode())
    with pytest.raises(MementoError, match=r"^line 1 .note retire.: "):
        play.do(batch.apply, first.encode())


def test_a_list_that_is_left_out_is_refused_by_the_verb_that_needs_it(play: Play, run: str) -> None:
    task = play.task()
    text = f"- {{do: dispatch complete, dispatch: {play.claimed(task)}, summary: Done.}}"
    with pytest.raises(EvidenceRequired) as caught:
        play.do(batch.apply, text.encode())
    assert caught.value.hint.endswith(f"memento evidence run --task {task} -- CMD")
    with pytest.raises(TooFewNotes):
        play.do(batch.apply, b"- {do: note merge, text: One.}")


def test_what_a_list_says_of_notes_is_what_becomes_of_them(play: Play) -> None:
    one, two, old = (add(play, text, domain="issues") for text in ("On Monday.", "At noon.", "On Sunday."))
    verbs = [
        {"do": "note revise", "note": two, "text": "At one."},
        {"do": "note retire", "note": old, "reason": "It rains."},
        {"do": "note merge", "notes": [one, two], "text": "Monday, one o'clock."},
    ]
    merged = play.do(batch.apply, json.dumps(verbs).encode())[2]["id"]
    held = NoteSet(play.ledger.view())
    assert (held.note(two).body.strip(), held.note(merged).path.split("/")[2]) == ("At one.", "issues")
    (retired,) = held.folded(old).legal("retired")
    assert retired.get("reason") == "It rains."
    verbs = [{"do": "note redact", "target": retired.id, "reason": "a name"}]
    play.do(batch.apply, json.dumps(verbs).encode())
    assert NoteSet(play.ledger.view()).folded(old).legal("retired")[0].get("reason") != "It rains."
    for both in ({}, {"note": merged, "key_prefix": "launch"}):
        with pytest.raises(NothingNamed):
            play.do(batch.apply, json.dumps([{"do": "note retire", "reason": "why", **both}]).encode())


def test_of_many_notes_in_a_list_none_is_compared_with_all_before_it(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, first = [], View.record

    def counted(view: View, path: str) -> Any:
        read.append(path)
        return first(view, path)

    monkeypatch.setattr(View, "record", counted)
    monkeypatch.setattr(inverted_index, "FEW", 20)
    texts = [f"Number {number}: the fence {number} holds." for number in range(60)]
    for some in (texts[:30], texts[30:]):
        made = play.do(batch.apply, "".join(f"- {{do: note add, text: '{text}'}}\n" for text in some).encode())
        assert len({row["id"] for row in made}) == 30
    assert max(Counter(read).values()) < 25  # the first few are looked at


def test_a_dash_reads_steps_from_standard_input(play: Play) -> None:
    import subprocess

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


def test_each_key_of_a_verb_is_an_option_or_argument_of_its_command() -> None:
    """But for what stands in other words there: which event is voided, which dispatch chosen, whose word a merge is."""
    from memento_git.cli.main import command_at

    beyond: dict[str, set[str]] = {}
    for verb in ACTIONS:
        command = command_at(verb.removesuffix(" void"))
        words = [word.lstrip("-").replace("-", "_") for one in command.params for word in (one.name or "", *one.opts)]
        taken = {*words, *(batch.ALSO.get(word, word) for word in words), *(word.removesuffix("_id") for word in words)}
        keys = {key["name"] for key in batch.keys_of(verb)}
        beyond |= {verb: left} if (left := keys - taken - {"notes"}) else {}
    assert beyond == {"dispatch select": {"dispatch"}, "note merge": {"origin"}, "settle void": {"event"}}


def test_two_dollars_at_the_start_stand_for_one(play: Play) -> None:
    done = play.do(batch.apply, b"- {do: run start, goal: $$5 a day for $x}")
    run = done[0]["id"]
    assert play.state(run).prose(run).data["goal"] == "$5 a day for $x"


def test_a_budget_of_attempts_is_a_number_that_counts(play: Play) -> None:
    run, task = play.do(batch.apply, b"[{do: run start, goal: G}, {do: task add, title: T, attempts: 2}]")
    assert play.state(run["id"]).prose(task["id"]).data["budget"] == {"attempts": 2}
    with pytest.raises(MementoError, match="a whole number from 1"):
        play.do(batch.apply, b"- {do: task add, title: T, attempts: 0}")


def test_the_page_says_of_each_verb_that_needs_a_reason_that_it_does(play: Play, run: str) -> None:
    plan, task = play.state(run).canonical, play.task()
    claim, evidence = play.claimed(task), play.evidence(task)
    event = play.state(task).folded(task).heads[0]
    given = {
        "run": run, "plan": plan, "task": task, "dispatch": claim, "evidence": evidence, "gate": "quality_review",
        "note": play.do(ACTIONS["note add"], "A cat sleeps."), "record": task, "target": evidence, "event": event,
        "keep": event,
    }  # fmt: skip
    needing = set()
    for verb, action in ACTIONS.items():
        known = inspect.signature(action).parameters
        if "reason" in known:
            options = {name: value for name, value in given.items() if name in known}
            if verb == "note redact":
                options["target"] = given["note"]
            try:
                play.do(action, **options)
            except MementoError as refusal:
                needing |= {verb} if refusal.token == "reason_required" else set()
            except TypeError:
                continue  # other options than these are needed
            assert known["reason"].annotation == ("Reason" if verb in needing else "str"), verb
    assert needing == {
        "run cancel", "plan reject", "task block", "task reopen", "task cancel", "dispatch fail", "gate waive",
        "evidence retract", "evidence redact", "note retire", "note redact", "settle", "settle void",
    }  # fmt: skip
    page = apply_page().partition("### task block")[2].partition("###")[0]
    assert "| `reason` | text | yes |" in page


def test_a_refusal_names_the_line_and_the_verb(play: Play, cli: Call) -> None:
    path = play.root.parent / "verbs.yaml"
    path.write_text("- do: run start\n  goal: G\n  as: run\n\n- do: run cancel\n  run: $run\n")

    code, out, _ = cli("apply", str(path), "-C", str(play.root), "--json")

    answer = json.loads(out)
    assert (code, answer["error"]) == (1, "reason_required")
    assert answer["message"].startswith("line 5 (run cancel): ")
    assert answer["hint"]
    path.write_text("- {do: dispatch claim, dispatch: zzzz, lease: soon}")
    code, out, _ = cli("apply", str(path), "-C", str(play.root), "--json")
    assert (code, json.loads(out)["error"]) == (2, "duration_invalid")
    assert json.loads(out)["message"].startswith("line 1 (dispatch claim): ")


def test_in_a_list_on_one_line_a_refusal_names_the_entry(play: Play) -> None:
    listed = [{"do": "run start", "goal": "G"}, {"do": "run start", "gaol": "G"}]
    with pytest.raises(BatchInvalid, match=r"^entry 2 \(run start\): unknown option 'gaol'"):
        play.do(batch.apply, json.dumps(listed).encode())


def test_a_list_leads_to_what_the_run_of_its_last_verb_needs(play: Play, cli: Call) -> None:
    run, path = play.planned(), play.root.parent / "verbs.yaml"
    where = ("apply", str(path), "-C", str(play.root))
    path.write_text(f"- {{do: task add, run: {run}, title: T, as: t}}\n- {{do: note add, text: It is so.}}\n")
    told = json.loads(cli(*where, "--json")[1])
    assert [step["command"] for step in told["next"]] == [
        f"memento dispatch create {told['done'][0]['id']} --executor WHO"
    ]
    path.write_text("- {do: note add, text: It is so too.}\n")
    assert "next:" not in cli(*where)[1]


def test_what_is_of_no_run_at_the_end_of_a_list_leads_nowhere_and_what_was_done_is_told(play: Play, cli: Call) -> None:
    run, path = play.planned(), play.root.parent / "verbs.yaml"
    path.write_text(f"- {{do: run cancel, run: {run}, reason: x}}\n- {{do: archive, run: {run}}}\n")
    code, out, _ = cli("apply", str(path), "-C", str(play.root))
    assert (code, out.partition("  ")[0], "next:" in out) == (0, "run cancel", False)
    made = add(play, "It is so.")
    note = play.root / NoteSet(play.ledger.view()).index.prose[made]
    event = note.with_suffix("") / "20260101T000000000Z-retired-000000000009.yaml"
    for say in (["settle", "--void", "event_000000000009", "--reason", "x"], ["apply", str(path)]):
        event.parent.mkdir(exist_ok=True)
        event.write_text(
            f"do: retired\nof: {note.stem}\nat: 2026-01-01T00:00:00.000Z\nby: Eve\nreason: x\n"
            f"after: [event_000000000001@{'0' * 32}]\n"
        )
        play.commit_all("by hand")
        path.write_text("- {do: settle void, event: event_000000000009, reason: x}\n")
        code, out, _ = cli(*say, "-C", str(play.root))
        assert (code, "event_000000000009" in out, "next:" in out) == (0, True, False)
        git(play.root, "reset", "-q", "--hard", "HEAD~2")


def test_a_gate_is_waived_and_imported_evidence_is_added(play: Play) -> None:
    from memento_git.work.actions import evidences, folders

    run = play.planned()
    task = play.task()
    draft = evidences.witness(play.ledger, [sys.executable, "-c", "print(1)"], kind="test", quiet=True)
    evidence = folders.write_folder(play.ledger, draft, play.root / "out", [], "from afar")
    verbs = (
        f"- {{do: gate waive, gate: release, run: {run}, reason: no release}}\n"
        f"- {{do: evidence add, from: out, tasks: {task}}}\n"
    )

    done = play.do(batch.apply, verbs.encode())

    assert done[1] == {"do": "evidence add", "id": evidence}
    assert play.state(run).folded(run).lanes.named("gate")["release"][0] == "waived"
    assert play.state(task).evidence_named(evidence).tasks == [task]


def test_what_imported_evidence_cannot_be_given_is_refused(play: Play) -> None:
    from memento_git.work.actions import folders

    given = b"files: app.py, uri: 'https://ci.invalid/1', diff: A..B, kind: test, outcome: failed, summary: see it"
    with pytest.raises(folders.NotBesideFolder, match="files, uri, diff, kind, outcome, summary cannot"):
        play.do(batch.apply, b"- {do: evidence add, from: out, %s}\n" % given)


def test_evidence_is_added_with_the_kind_that_the_command_line_would_give_it(play: Play, run: str) -> None:
    done = play.do(batch.apply, b"- {do: evidence add, files: app.py}\n")
    found = play.state(done[0]["id"]).evidence_named(done[0]["id"])
    assert found.kind == "artifact"


def test_a_rejection_is_told_and_fails_the_list_which_is_done(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    play.complete(play.claimed(task), play.do(evidences.add_evidence, "artifact", tasks=[task], files=["app.py"]))
    path = play.root.parent / "verbs.yaml"
    path.write_text(f"- {{do: task verify, task: {task}}}\n- {{do: task add, title: Another}}\n")

    code, out, _ = cli("apply", str(path), "-C", str(play.root), "--json")

    answer = json.loads(out)
    assert (code, answer["ok"], answer["error"]) == (1, False, "task_rejected")
    assert (answer["done"][0]["id"], answer["done"][0]["verdict"]) == (task, "rejected")
    assert "artifact" in answer["done"][0]["failed_requirements"][0]
    assert play.status(task) == "rejected"
    assert play.status(answer["done"][1]["id"]) == "pending"


@pytest.mark.parametrize(("code", "told"), [
    ("0", "is proven"), ("1", "is unproven: evidence_"),
])  # fmt: skip
def test_a_completion_tells_whether_it_proves_its_task(play: Play, run: str, cli: Call, code: str, told: str) -> None:
    task = play.task()
    evidence = play.evidence(task) if code == "0" else play.do(evidences.add_evidence, "artifact", files=["app.py"])
    path = play.root.parent / "verbs.yaml"
    path.write_text(
        f"- {{do: dispatch create, task: {task}, executor: agent, as: handed}}\n"
        "- {do: dispatch claim, dispatch: $handed}\n"
        f"- {{do: dispatch complete, dispatch: $handed, evidence: {evidence}}}\n"
    )
    ended, out, _ = cli("apply", str(path), "-C", str(play.root))
    handed = play.overview()["dispatches"][0]["dispatch_id"]
    assert ended == 0
    assert f"dispatch complete  {handed}  {task} {told}" in out
    assert play.is_proven(task) is (code == "0")


def test_a_completion_that_is_rejected_in_the_same_list_proves_nothing(play: Play, run: str) -> None:
    task = play.task()
    claim, evidence = play.claimed(task), play.do(evidences.add_evidence, "artifact", tasks=[task], files=["app.py"])
    verbs = (
        f"- {{do: dispatch complete, dispatch: {claim}, evidence: {evidence}}}\n- {{do: task verify, task: {task}}}\n"
    )
    row = play.do(batch.apply, verbs.encode())[0]
    assert (row["task_id"], row["proven"], play.status(task)) == (task, None, "rejected")


def test_an_acceptance_is_told_too(play: Play, run: str, cli: Call) -> None:
    task = play.proven()
    path = play.root.parent / "verbs.yaml"
    path.write_text(f"- {{do: task verify, task: {task}}}\n")
    code, out, _ = cli("apply", str(path), "-C", str(play.root))
    assert (code, out) == (0, f"task verify  {task}  accepted\n next: memento run complete {run}\n")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('{do: evidence check, file: "a\\0b"}', "line 2 (evidence check), file: character U+0000"),
        ('{do: evidence add, files: [app.py, "a\\0b"]}', "line 2 (evidence add), files: character U+0000"),
        ("{do: evidence check, file: nope.json}", "line 2 (evidence check): nope.json: No such file"),
        (
            "{do: evidence check, file: c.json, name: ci, url: x}",
            "line 2 (evidence check): name, url: the file says that itself",
        ),
        ("{do: evidence check, file: c.json, conclusion: success}", "line 2 (evidence check): conclusion: the file"),
        ("{do: evidence check, file: .}", "line 2 (evidence check): .: Is a directory"),
        ("{do: task add, title: y, size: huge}", "line 2 (task add): 'huge' is not one of small"),
        ("{do: task add, title: y, risk: foo}", "line 2 (task add): 'foo' is not one of low"),
        ("{do: evidence add, files: app.py, outcome: maybe}", "line 2 (evidence add): 'maybe' is not one of passed"),
        (f"{{do: gate release, approvals: {'9' * 5000}}}", "line 2 (gate release): approvals: a whole number"),
        ("{do: gate release, approvals: two}", "line 2 (gate release): approvals: a whole number"),
        ("{do: task add, colour: red}", "line 2 (task add): unknown option"),
        ("{do: dispatch create, task: t, executor: w, recovery_of: d}", "line 2 (dispatch create): unknown option"),
    ],
)
def test_every_refusal_of_an_entry_names_its_line_and_verb_and_no_place_of_this_machine(
    play: Play, run: str, entry: str, told: str
) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    with pytest.raises(MementoError) as caught:
        play.do(batch.apply, f"- {{do: task add, title: x}}\n- {entry}\n".encode())
    assert caught.value.message.startswith(told)
    assert str(play.root) not in caught.value.message
    assert caught.value.exit_code in (1, 2)
    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_record_is_named_in_a_list_as_it_is_on_the_command_line(play: Play, run: str, cli: Call) -> None:
    """Without its kind where several kinds could be meant, and a note by its key."""
    task = play.task()
    evidence, note = play.evidence(task), add(play, "The launch is on Monday.", key="launch.day")
    other, start = add(play, "The name is Bluebird."), git(play.root, "rev-parse", "HEAD")
    named = {one: one.partition("_")[2][:9] for one in (run, task, evidence, other)}
    entries: list[tuple[str, dict[str, str], list[str], int]] = [
        *(("evidence approve", {"about": named[one]}, [named[one]], 0) for one in (run, task, evidence)),
        ("evidence approve", {"about": note}, [note], 1),
        ("evidence redact", {"target": named[evidence], "reason": "a name"}, [named[evidence], "--reason=a name"], 0),
        ("evidence redact", {"target": named[other], "reason": "a name"}, [named[other], "--reason=a name"], 1),
        *(
            ("note redact", {"target": one, "reason": "a name"}, [one, "--reason=a name"], 0)
            for one in (named[other], "launch.day")
        ),
        *(
            ("settle", {"record": one, "keep": "event_000000000000", "reason": "so"},
             [one, "--keep=event_000000000000", "--reason=so"], 1)
            for one in (named[task], named[other], "launch.day")
        ),
    ]  # fmt: skip
    path = play.root.parent / "verbs.yaml"
    for verb, options, words, ended in entries:
        path.write_text(json.dumps([{"do": verb, **options}]))
        code, out, _ = cli(*verb.split(), *words, "-C", str(play.root), "--json")
        git(play.root, "reset", "-q", "--hard", start)
        listed, told, _ = cli("apply", str(path), "-C", str(play.root), "--json")
        git(play.root, "reset", "-q", "--hard", start)
        assert (code, listed) == (ended, ended), (verb, options)
        errors = [json.loads(one).get("error") for one in (out, told)]
        assert errors[0] == errors[1], (verb, options)


def test_an_empty_value_that_would_say_nothing_is_refused_in_a_list_too(play: Play, run: str) -> None:
    task, note = play.task(), add(play, "The launch is on Monday.", key="launch.day")
    entries = [
        {"do": "note revise", "note": note, "key": "", "tags": ["launch"]},
        {"do": "note revise", "note": note, "text": "", "title": "When"},
        {"do": "note add", "text": "It is on Tuesday.", "expires": ""},
        {"do": "note merge", "notes": [note, add(play, "It is at noon.")], "text": "Monday, noon.", "title": ""},
        {"do": "task revise", "task": task, "body": "", "criteria": ["it parses"]},
        {"do": "run cancel", "run": "", "reason": "Given up."},
        {"do": "gate record", "gate": "quality_review", "status": "passed", "task": ""},
        {"do": "task add", "title": "C", "run": ""},
        {"do": "evidence add", "files": ["app.py"], "dispatch": ""},
        {"do": "dispatch recover", "dispatch": "dispatch_000000000000", "executor": ""},
        {"do": "dispatch claim", "dispatch": "dispatch_000000000000", "lease": ""},
    ]
    for entry in entries:
        with pytest.raises(BatchInvalid, match="it is empty: leave it out"):
            play.do(batch.apply, json.dumps([entry]).encode())
    again = [{"do": "note revise", "note": note, "clear": ["key"]}, {"do": "task add", "title": "B", "body": ""}]
    assert len(play.do(batch.apply, json.dumps(again).encode())) == 2


@pytest.mark.parametrize("lease", ["0m", "3600", "soon"])
def test_a_lease_is_a_length_of_time_in_a_list_too(play: Play, run: str, lease: str) -> None:
    dispatch = play.dispatch(play.task())
    with pytest.raises(DurationInvalid):
        play.do(batch.apply, json.dumps([{"do": "dispatch claim", "dispatch": dispatch, "lease": lease}]).encode())


OF_THE_SHELL = {  # what a command does beside its verb, or a list says otherwise
    "run_id", "plan_id", "task_id", "dispatch_id", "note_id", "notes_ids", "evidence_id", "from_event", "sender",
    "delivery", "no_dependencies", "again", "no_run", "worktree", "sync", "remote", "evidence_uri", "graph", "all",
    "at", "record", "fetch", "repo", "api", "graphify", "draft", "short", "scope", "project", "thread", "dry_run",
    "void", "keep", "workspace", "json", "actor", "allow_secret", "help", "run",
}  # fmt: skip


@pytest.mark.parametrize("verb", [one for one in ACTIONS if one not in ("note merge", "settle void")])
def test_a_key_may_have_the_name_of_the_option(verb: str) -> None:
    known = inspect.signature(ACTIONS[verb]).parameters
    for option in command_at(verb).params:
        names = {one.lstrip("-").replace("-", "_") for one in option.opts}
        if not names & OF_THE_SHELL:
            assert {batch._key(verb, one) for one in names} & {*known}, f"{verb}: {option.opts}"


def test_what_an_option_of_that_name_says_is_done_and_said_once(play: Play, run: str) -> None:
    task = play.task()
    claim, evidence = play.claimed(task), play.evidence(task)
    done = f"[{{do: dispatch complete, dispatch: {claim}, evidence: {evidence}, summary: Done., note: Done.}}]"
    with pytest.raises(BatchInvalid, match="'note' says again what 'note' is"):
        play.do(batch.apply, done.encode())
    play.do(batch.apply, done.replace(", note: Done.", "").encode())
    assert play.status(task) == "completed"
    with pytest.raises(BatchInvalid, match="unknown option 'tx'"):
        play.do(batch.apply, b"[{do: task add, title: a, tx: b}]")


def test_a_destructive_command_that_is_allowed_without_a_reason_is_led_to_the_key_that_takes_one(
    play: Play, run: str
) -> None:
    task = play.task("Clean: run rm -rf / now")
    entry = f"do: dispatch create, task: {task}, executor: w, allow_destructive: [delete_broad]"
    with pytest.raises(MementoError, match="needs a reason") as caught:
        play.do(batch.apply, f"- {{{entry}}}".encode())
    key = caught.value.hint.rpartition("apply, ")[2].partition(":")[0]
    play.do(batch.apply, f"- {{{entry}, {key}: It is a sandbox.}}".encode())
    assert play.status(task) == "dispatched"
