"""What holds for anything: round trips, and that no sequence of actions leaves a ledger that is wrong."""

from __future__ import annotations

import contextlib
import random
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memento_git.errors import Refused
from memento_git.ledger import archive, codec, layout, prosefile, yamltext
from memento_git.ledger.codec import Decoded, decode
from memento_git.ledger.git import Git
from memento_git.ledger.layout import Place
from memento_git.ledger.store import Ledger
from memento_git.model.anchors import AnchorType
from memento_git.model.clock import stamp
from memento_git.model.events import VERBS, event_shape
from memento_git.model.ids import kind_of
from memento_git.model.knowledge import NOTE
from memento_git.model.types import (
    FORBIDDEN,
    Choice,
    Decimal,
    Flag,
    ListOf,
    Name,
    Pattern,
    Shape,
    Share,
    Table,
    Text,
    Whole,
    is_blank,
    name_problems,
)
from memento_git.model.work import EVIDENCE, PLAN, RUN, TASK
from memento_git.work.actions import dispatches, evidences, gates, plans, runs, settling, tasks, verifying
from memento_git.work.actions.setup import init_ledger
from memento_git.work.row_cache import base
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject, SearchStrategy

    from memento_git.ledger.transaction import Transaction

QUICK = settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
SLOW = settings(QUICK, max_examples=15)
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(
    lambda text: not is_blank(text) and FORBIDDEN.search(text) is None
)
LINES = st.lists(WORDS, min_size=1, max_size=3).map("\n".join)
TIMES = st.integers(0, 4_000_000_000_000).map(lambda number: stamp(number / 1000))


def any_of(kind: Any, key: str = "") -> SearchStrategy[Any]:  # noqa: C901, PLR0911, PLR0912 (one case for each type)
    """Return values of a type of the model."""
    if key in codec.TIMES:
        return TIMES
    match kind:
        case Pattern(pattern=pattern) if pattern.startswith("(?!"):
            return st.sampled_from(["a", "a/b c.txt", "é/ü"])
        case Pattern(pattern=pattern):
            return st.from_regex(f"(?:{pattern})", fullmatch=True, alphabet=st.characters(max_codepoint=126))
        case Text(lines=lines):
            return LINES if lines else WORDS
        case Choice(words=words):
            return st.sampled_from(words)
        case Flag():
            return st.booleans()
        case Whole(least=least):
            return st.integers(least, 10**15)
        case Decimal():
            return st.integers(0, 10**6).map(lambda number: number / 1000)
        case Share():
            return st.integers(0, 1000).map(lambda number: number / 1000)
        case Name():
            return WORDS.filter(lambda name: not list(name_problems(name)))
        case AnchorType():
            return st.sampled_from([{"path": "a.py", "lines": "1-2"}, {"dependency": "click"}])
        case ListOf(member=member):
            return st.lists(any_of(member), min_size=1, max_size=2)
        case Table(member=member, keys=keys):
            names = st.from_regex(keys, fullmatch=True) if "|" in keys else WORDS
            return st.dictionaries(names, any_of(member), min_size=1, max_size=2)
        case Shape(fields=fields):
            must = {name: any_of(field.type, name) for name, field in fields.items() if field.required}
            may = {name: any_of(field.type, name) for name, field in fields.items() if not field.required}
            found = st.fixed_dictionaries(must, optional=may)
            return found if must else found.filter(bool)  # an empty mapping is not written
    return st.dictionaries(st.sampled_from(["a", "b"]), WORDS, min_size=1)


SHAPES = {
    ("evidence", ""): EVIDENCE,
    **{(kind, verb): event_shape(kind, verb, gate=False) for kind, verbs in VERBS.items() for verb in verbs},
}


@QUICK
@given(st.data())
def test_what_is_written_of_events_and_evidence_reads_the_same(data: DataObject) -> None:
    for (kind, verb), shape in SHAPES.items():
        if data.draw(st.integers(0, 5)) or shape is None:
            continue
        value = data.draw(any_of(shape))
        of = f"{kind}_000000000000"
        place = Place("event" if verb else "evidence", "run_000000000000", "event_000000000000", of, "", verb)
        found = decode(place, "x", codec.encode(value))
        assert isinstance(found, Decoded), found
        assert found.data == value


@QUICK
@given(st.data(), st.sampled_from([("run", RUN), ("plan", PLAN), ("task", TASK), ("note", NOTE)]), LINES)
def test_what_is_written_of_prose_reads_the_same_and_survives_a_rewrite(
    data: DataObject, kind: tuple[str, Shape], body: str
) -> None:
    value = data.draw(any_of(kind[1]))
    place = Place(kind[0], "run_000000000000", value["id"], value["id"])
    written = codec.encode_prose(value, body)
    found = decode(place, "x", written)
    assert isinstance(found, Decoded), found
    assert found.data == value
    title = data.draw(WORDS)
    key = "goal" if kind[0] == "run" else "title"
    again = decode(place, "x", prosefile.rewrite(written, {key: title}, ""))
    assert isinstance(again, Decoded), again
    assert again.data == {**value, key: title}
    assert again.body == found.body


@QUICK
@given(st.binary(max_size=200) | st.text(max_size=60).map(lambda text: text.encode(errors="replace")))
def test_no_bytes_crash_a_reader_and_an_archive_gives_any_bytes_back(data: bytes) -> None:
    task = "task_000000000000"
    for place in (
        Place("task", "run_000000000000", task, task),
        Place("event", "run_000000000000", "event_000000000000", task, "", "blocked"),
        Place("evidence", "run_000000000000", "evidence_000000000000", "evidence_000000000000"),
    ):
        decode(place, "x", data)
    codec.read_config(data)
    run = "run_000000000000"
    files = {f".memento/runs/{run}/run.md": data}
    packed = archive.pack(files)
    assert archive.unpack(layout.archive_path(run, codec.digest_of(packed)), run, packed) == (files, [])
    archive.unpack(layout.archive_path(run, codec.digest_of(data)), run, data)


@QUICK
@given(st.recursive(st.text(max_size=20), lambda inner: st.lists(inner, max_size=3), max_leaves=6))
def test_any_plain_value_comes_back_from_yaml(value: object) -> None:
    assert yamltext.load(yamltext.dump({"k": value}).encode()).value == {"k": value}


# Any sequence of actions.

VERBS_OF_PLAY = (
    "task", "dispatch", "candidate", "claim", "complete", "fail", "recover", "renew", "block", "reopen", "cancel",
    "verify", "revise", "gate", "waive", "pause", "resume", "retract", "redact", "plan", "reject", "finish", "void",
)  # fmt: skip


def _act(verb: str, state: RunState, pick: Callable[[list[str]], str]) -> Callable[[Transaction], Any]:
    """Return one action on records that are there."""
    names, run = state.ids("task"), state.id
    open_ones = [name for task in names for name in state.dispatches(task)]
    task, dispatch = pick(names), pick(open_ones)
    evidence, plan = pick(state.ids("evidence")), pick(state.ids("plan"))
    event = pick([name for name in state.index.events if state.event(name)])
    return {
        "task": lambda tx: tasks.add_task(tx, "T", run=run, depends_on=[task] if task else []),
        "dispatch": lambda tx: dispatches.create_dispatch(tx, task, "x"),
        "candidate": lambda tx: dispatches.create_dispatch(tx, task, "x", candidate=True),
        "claim": lambda tx: dispatches.claim_dispatch(tx, dispatch),
        "complete": lambda tx: dispatches.complete_dispatch(
            tx, dispatch, [evidences.add_evidence(tx, "artifact", run=run, files=["app.py"])]
        ),
        "fail": lambda tx: dispatches.fail_dispatch(tx, dispatch, reason="r"),
        "recover": lambda tx: dispatches.recover_dispatch(tx, dispatch, force=True, reason="r", requeue=True),
        "renew": lambda tx: dispatches.renew_dispatch(tx, dispatch, force=True),
        "block": lambda tx: tasks.block_task(tx, task, reason="r"),
        "reopen": lambda tx: tasks.reopen_task(tx, task, reason="r"),
        "cancel": lambda tx: tasks.cancel_task(tx, task, reason="r"),
        "verify": lambda tx: verifying.verify_task(tx, task),
        "revise": lambda tx: tasks.revise_task(tx, task, criteria=["c", event]),
        "gate": lambda tx: gates.record_gate(tx, "quality_review", "failed", task=task),
        "waive": lambda tx: gates.record_gate(tx, "quality_review", "waived", task=task, reason="r"),
        "pause": lambda tx: runs.pause_run(tx, run),
        "resume": lambda tx: runs.resume_run(tx, run),
        "retract": lambda tx: evidences.retract(tx, evidence, reason="r"),
        "redact": lambda tx: settling.redact_record(tx, evidence if len(event) % 2 else event, reason="r"),
        "plan": lambda tx: plans.approve_plan(tx, plans.draft_plan(tx, "P", "B", run=run)),
        "reject": lambda tx: plans.reject_plan(tx, plan, reason="r"),
        "finish": lambda tx: runs.complete_run(tx, run),
        "void": lambda tx: settling.void_event(tx, event, reason="r"),
    }[verb]


@SLOW
@given(st.data())
def test_any_sequence_of_actions_leaves_a_ledger_without_trouble(data: DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
        (Path(folder) / "app.py").write_text("x\n")
        for command in (("add", "."), ("commit", "-qm", "code")):
            subprocess.run(["git", *command], cwd=folder, check=True)
        same = random.Random(0).randbytes  # what is drawn follows from the order of ids, so an example has its own
        with Ledger.open(folder, entropy=same) as ledger:
            init_ledger(ledger)
            run = str(ledger.change("start", lambda tx: runs.start_run(tx, "Goal", spike=True)))
            ledger.change("task", lambda tx: tasks.add_task(tx, "First", run=run))
            for verb in data.draw(st.lists(st.sampled_from(VERBS_OF_PLAY), min_size=4, max_size=14)):
                state = RunState(ledger.view(), run)

                def pick(names: list[str]) -> str:
                    return data.draw(st.sampled_from(names)) if names else "zzzz"

                with contextlib.suppress(Refused):
                    ledger.change(verb, _act(verb, state, pick))
            view = ledger.view()
            assert view.git.trees.ledger(view.commits[0]).text == Git(Path(folder)).trees.ledger("HEAD").text
            held = base(view, run)
            assert held["trouble"] == []
            assert held["findings"] == []
            assert all(row["legal"] for row in held["audit"])
            assert {kind_of(row["record"]) for row in held["audit"]} <= {"run", "plan", "task", "evidence"}
