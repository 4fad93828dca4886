"""The JSON Schemas say what the ledger's own validator says, and the real tool agrees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

from docs.generator.schemas import documents
from memento_git.knowledge.actions.notes import add_note
from memento_git.knowledge.actions.recipes import save_recipe
from memento_git.ledger import codec, layout, yamltext
from memento_git.ledger.codec import Decoded
from memento_git.ledger.layout import Place
from memento_git.ledger.store import Ledger
from memento_git.model import types as t
from memento_git.model.anchors import AnchorType
from memento_git.model.events import GATED, VERBS, event_shape
from memento_git.model.ids import kind_of
from memento_git.model.work import EVIDENCE as EVIDENCES
from memento_git.model.work import VERDICTS
from memento_git.verbs.sample import play as play_sample
from memento_git.work.actions import dispatches, evidences
from memento_git.work.actions.settling import redact_record
from tests.play import Play, git

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT: Final = Path(__file__).parent.parent
RUN, PLAN, TASK = "run_000000000001", "plan_000000000001", "task_000000000001"
EVIDENCE, EVENT, DISPATCH = "evidence_000000000001", "event_000000000001", "dispatch_000000000001"
NOTE = "note_000000000001"
OF: Final = {"run": RUN, "plan": PLAN, "task": TASK, "evidence": EVIDENCE, "note": NOTE}
AT: Final = "2026-11-21T21:02:13.377Z"
DIGEST, SHA, TREE = "ab" * 16, "ab" * 32, "ab" * 20
SIGNATURE: Final = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"
HEAD: Final = f"at: {AT}\nby: Ada\nafter: []\n"


def refused_by_tool(folder: Path, schema: str, texts: Mapping[str, str]) -> set[str]:
    """Return the names of those texts that check-jsonschema refuses."""
    paths = []
    for name, text in texts.items():
        paths.append(folder / f"{name}.yaml")
        paths[-1].write_text(text, encoding="utf-8")
    schemafile = ROOT / "schemas" / f"{schema}.schema.json"
    done = CliRunner().invoke(check_jsonschema, ["--schemafile", str(schemafile), "-o", "json", *map(str, paths)])
    assert done.stdout, (done.stderr, done.exception)
    answer = json.loads(done.stdout)
    assert not answer.get("parse_errors"), answer
    return {Path(error["filename"]).stem for error in answer.get("errors", [])}


def refused_by_us(schema: str, text: str) -> bool:
    data = text.encode()
    if schema == "config":
        return bool(codec.read_config(data)[1])
    if schema == "recipe":
        return isinstance(codec.read_recipe("x", data), list)
    if schema != "event":
        place = Place(schema, RUN, OF[schema], OF[schema])
        return not isinstance(codec.decode(place, "x", _file(schema, text)), Decoded)
    value = yamltext.load(data).value
    of, do = value.get("of", ""), value.get("do", "")
    if kind_of(of) not in OF:
        return True
    return not isinstance(codec.decode(Place("event", RUN, EVENT, of, "", do), "x", data), Decoded)


def _file(schema: str, text: str) -> bytes:
    return (text if schema == "evidence" else f"---\n{text}---\nbody\n").encode()


GOOD_RECIPE: Final = """\
name: open
parameters: [{name: topic, optional: true, default: tokens}]
parts:
- steps: [{do: recall, query: "{topic}", most: 5, kinds: [question]}]
- steps: [{do: spatial, about: src}, {do: traverse, depth: 2}]
combine: ranked
steps: [{do: filter, min_importance: 0.5, pinned: false, anchors: [changed]}, {do: limit, most: 9}]
"""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The YAML of every file of a played ledger: schema -> name -> text."""
    folder = tmp_path_factory.mktemp("sample") / "project"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        assert play_sample(folder)["ok"]
    found: dict[str, dict[str, str]] = {"config": {"config": (folder / layout.CONFIG).read_text()}}
    with Ledger.open(folder) as ledger:
        ledger.change("recipe save", lambda tx: save_recipe(tx, "open", GOOD_RECIPE.encode()))
        ledger.change("note add", lambda tx: add_note(tx, "Empty names are refused.", about=["greeting.py"]))
    for path in sorted((folder / ".memento").rglob("*")):
        place = layout.place_of(path.relative_to(folder).as_posix()) if path.is_file() else None
        if layout.recipe_of(path.relative_to(folder).as_posix()):
            found["recipe"] = {path.stem: path.read_text()}
        if place is not None and place.kind != "attachment":
            text = path.read_text()
            front = text.split("---\n")[1] if path.suffix == ".md" else text
            found.setdefault(place.kind, {})[path.stem if path.suffix != ".md" else place.id] = front
    return found


def test_every_kind_of_file_has_a_sample(sample: dict[str, dict[str, str]]) -> None:
    assert set(sample) == set(documents())


@pytest.mark.parametrize("schema", sorted(documents()))
def test_the_real_tool_accepts_every_file_of_a_played_ledger(
    schema: str, sample: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    assert refused_by_tool(tmp_path, schema, sample[schema]) == set()


def test_the_schema_files_are_valid_schemas_themselves() -> None:
    files = sorted((ROOT / "schemas").glob("*.json"))
    assert len(files) == len(documents())
    done = CliRunner().invoke(check_jsonschema, ["--check-metaschema", *map(str, files)])
    assert done.exit_code == 0, done.output


TASK_KEYS: Final = f"id: {TASK}\ntitle: A task\nat: {AT}\nby: Ada\n"
EVIDENCE_KEYS: Final = f"id: {EVIDENCE}\nkind: note\nat: {AT}\nby: Ada\noutcome: observed\n"
CASES: Final = {
    "task": {
        "good": TASK_KEYS,
        "good_criteria": TASK_KEYS + "criteria: [one, two]\nfiles: [a/b.py]\n",
        "bad_without_title": f"id: {TASK}\nat: {AT}\nby: Ada\n",
        "bad_unknown_key": TASK_KEYS + "state: done\n",
        "bad_id": TASK_KEYS.replace(TASK, "task_1"),
        "bad_letter": TASK_KEYS.replace(TASK, "task_00000000000l"),
        "bad_kind": TASK_KEYS.replace(TASK, PLAN),
        "bad_blank": TASK_KEYS.replace("A task", '"  "'),
        "bad_two_lines": TASK_KEYS.replace("A task", '"A\\ntask"'),
        "bad_control": TASK_KEYS.replace("A task", '"A\\etask"'),
        "bad_direction": TASK_KEYS.replace("A task", '"A\\u202Etask"'),
        "bad_time": TASK_KEYS.replace(".377Z", "Z"),
        "bad_list": TASK_KEYS + "criteria: one\n",
        "bad_path": TASK_KEYS + "files: [/etc/passwd]\n",
        "bad_way_out": TASK_KEYS + "files: [a/../../b]\n",
    },
    "run": {
        "good": f"id: {RUN}\ngoal: A goal\nat: {AT}\nby: Ada\nspike: true\n",
        "bad_flag": f"id: {RUN}\ngoal: A goal\nat: {AT}\nby: Ada\nspike: maybe\n",
    },
    "plan": {
        "good": f"id: {PLAN}\ntitle: A plan\nat: {AT}\nby: Ada\nrisks: [it rains]\n",
        "good_command": f'id: {PLAN}\ntitle: A plan\nat: {AT}\nby: A\nverify: {{commands: [{{run: [grep, ""]}}]}}\n',
        "bad_command": f'id: {PLAN}\ntitle: A plan\nat: {AT}\nby: A\nverify: {{commands: [{{run: ["  ", a]}}]}}\n',
        "bad_goal": f"id: {PLAN}\ngoal: A plan\nat: {AT}\nby: Ada\n",
    },
    "evidence": {
        "good": EVIDENCE_KEYS,
        "good_code": EVIDENCE_KEYS + f"code:\n  tree: {TREE}\n  dirty: false\n  untracked_more: 3\n",
        "bad_kind": EVIDENCE_KEYS.replace("note", "rumour"),
        "bad_trust": EVIDENCE_KEYS + "trust: witnessed\n",
        "bad_code": EVIDENCE_KEYS + "code:\n  dirty: false\n",
        "bad_count": EVIDENCE_KEYS + f"code:\n  tree: {TREE}\n  untracked_more: -1\n",
        "bad_inner_key": EVIDENCE_KEYS + f"code:\n  tree: {TREE}\n  branch: main\n",
    },
    "config": {
        "good": "version: 1\n",
        "good_policy": "version: 1\npolicy:\n  proof: {test: witnessed}\n  lease: 90m\n  limits: {output: 2}\n",
        "bad_version": "version: 0\n",
        "bad_newer": "version: 2\n",
        "bad_none": "policy: {}\n",
        "bad_trust": "version: 1\npolicy:\n  proof: {test: sure}\n",
        "bad_kind": "version: 1\npolicy:\n  proof: {tests: witnessed}\n",
        "bad_lease": "version: 1\npolicy:\n  lease: soon\n",
        "bad_limit": "version: 1\npolicy:\n  limits: {output: 1}\n",
        "bad_key": "version: 1\npolicy:\n  plans: {}\n",
        "bad_null": "version: 1\npolicy:\n  require:\n",
    },
    "note": {
        "good": f"id: {NOTE}\nkind: fact\ntitle: It is so.\nat: {AT}\nby: Ada\norigin: person\n",
        "good_about": f"id: {NOTE}\nkind: lesson\ntitle: T\nat: {AT}\nby: Ada\norigin: agent\nabout:\n- path: a.py\n",
        "bad_kind": f"id: {NOTE}\nkind: rumour\ntitle: T\nat: {AT}\nby: Ada\norigin: person\n",
        "bad_without_origin": f"id: {NOTE}\nkind: fact\ntitle: T\nat: {AT}\nby: Ada\n",
        "bad_origin": f"id: {NOTE}\nkind: fact\ntitle: T\nat: {AT}\nby: Ada\norigin: god\n",
        "bad_share": f"id: {NOTE}\nkind: fact\ntitle: T\nat: {AT}\nby: Ada\norigin: person\nimportance: 2\n",
        "bad_about": f'id: {NOTE}\nkind: fact\ntitle: T\nat: {AT}\nby: A\norigin: agent\nabout: [{{pattern: " "}}]\n',
        "bad_key": f"id: {NOTE}\nkind: fact\ntitle: T\nat: {AT}\nby: Ada\norigin: person\nkey: A B\n",
        "bad_link": f"id: {NOTE}\nkind: fact\ntitle: T\nat: {AT}\nby: Ada\norigin: person\nlinks:\n- {{rel: likes}}\n",
    },
    "recipe": {
        "good": GOOD_RECIPE,
        "good_sinks": "name: x\nsteps: [{do: active}, {do: link, rel: blocks, to: a.b}, {do: claim, text: All.}]\n",
        "good_pipe": "name: x\nsteps: [{do: pipe, recipe: open, with: {topic: a}}]\n",
        "bad_without_name": "steps: [{do: active}]\n",
        "bad_name": "name: ../x\nsteps: [{do: active}]\n",
        "bad_step": "name: x\nsteps: [{do: shell}]\n",
        "bad_no_step": "name: x\nsteps: []\n",
        "bad_without_do": "name: x\nsteps: [{query: a}]\n",
        "bad_key_of_another_step": "name: x\nsteps: [{do: active, query: a}]\n",
        "bad_without_query": "name: x\nsteps: [{do: recall}]\n",
        "bad_state": "name: x\nsteps: [{do: active, states: [lost]}]\n",
        "bad_depth": "name: x\nsteps: [{do: active}, {do: traverse, depth: 6}]\n",
        "bad_most": "name: x\nsteps: [{do: active}, {do: limit, most: 0}]\n",
        "bad_too_many": "name: x\nsteps: [" + "{do: active}," * 31 + "]\n",
        "bad_combine": "name: x\nparts: [{steps: [{do: active}]}]\ncombine: both\n",
        "bad_parameter": "name: x\nparameters: [{name: A b}]\nsteps: [{do: active}]\n",
        "bad_with": "name: x\nsteps: [{do: pipe, recipe: open, with: {A b: a}}]\n",
    },
    "event": {
        "good": f"do: cancelled\nof: {RUN}\n{HEAD}reason: Enough.\n",
        "good_gate": f"do: passed\nof: {TASK}\n{HEAD}gate: release\n",
        "bad_without_reason": f"do: cancelled\nof: {RUN}\n{HEAD}",
        "bad_verb": f"do: finished\nof: {RUN}\n{HEAD}",
        "bad_verb_of_another_kind": f"do: paused\nof: {TASK}\n{HEAD}",
        "bad_record": f"do: paused\nof: {DISPATCH}\n{HEAD}",
        "bad_without_after": f"do: paused\nof: {RUN}\nat: {AT}\nby: Ada\n",
        "bad_key_of_another_verb": f"do: paused\nof: {RUN}\n{HEAD}note: No.\n",
        "bad_reference": f"do: paused\nof: {RUN}\n{HEAD.replace('[]', f'[{EVENT}]')}",
        "bad_gate_kind": f"do: passed\nof: {TASK}\n{HEAD}gate: vibes\n",
        "bad_gate_of_plan": f"do: passed\nof: {PLAN}\n{HEAD}gate: release\n",
        "bad_gate_verb": f"do: paused\nof: {RUN}\n{HEAD}gate: release\n",
        "bad_waiver_without_reason": f"do: waived\nof: {RUN}\n{HEAD}gate: release\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("schema", sorted(CASES))
def test_the_schema_and_our_validator_agree(schema: str, tmp_path: Path) -> None:
    bad = {name for name in CASES[schema] if name.startswith("bad")}
    assert {name for name, text in CASES[schema].items() if refused_by_us(schema, text)} == bad
    assert refused_by_tool(tmp_path, schema, CASES[schema]) == bad


def value_of(type_: t.Type) -> Any:  # noqa: C901 (one case for each type)
    """Return a value that a type takes, with every key of a shape."""
    value: Any = "Some text."
    match type_:
        case t.Shape():
            value = {key: value_of(field.type) for key, field in type_.fields.items()}
        case t.ListOf():
            value = [value_of(type_.member)]
        case t.Variant():
            value = value_of(type_.shapes["recall"])
        case t.Table():
            key = next((key for key in ("test", "release") if key in type_.keys), "name")
            value = {key: value_of(type_.member)}
        case t.Choice():
            value = type_.words[0]
        case t.Flag():
            value = True
        case t.Whole():
            value = max(type_.least, 3)
        case t.Decimal() | t.Share():
            value = 0.25
        case AnchorType():
            value = {"path": "a/b.py", "lines": "1-2"}
        case t.Anything():
            value = {"do": "paused"}
        case t.Pattern():
            value = matching(type_)
    return value


def matching(pattern: t.Pattern) -> str:
    import re

    tried = [RUN, PLAN, TASK, NOTE, EVIDENCE, EVENT, DISPATCH, AT, DIGEST, SHA, TREE, "a/b.py", ".", "90m", "paused",
             f"{EVENT}@{DIGEST}", f"{EVIDENCE}@{DIGEST}", SIGNATURE, "D007"]  # fmt: skip
    return next(text for text in tried if re.fullmatch(pattern.pattern, text))


def whole(kind: str, do: str, *, gate: bool) -> str:
    """Return an event with every key of its verb."""
    shape = event_shape(kind, do, gate=gate)
    assert shape is not None
    return codec.encode({**value_of(shape), "do": do, "of": OF[kind]}).decode()


def verbs() -> Iterable[tuple[str, str, bool]]:
    yield from ((kind, do, False) for kind, found in VERBS.items() for do in found)
    yield from ((kind, do, True) for kind in GATED for do in VERDICTS)


def test_an_event_with_every_key_of_its_verb_is_accepted_by_both(tmp_path: Path) -> None:
    texts = {f"{kind}-{do}-{gate}": whole(kind, do, gate=gate) for kind, do, gate in verbs()}
    assert [name for name, text in texts.items() if refused_by_us("event", text)] == []
    assert refused_by_tool(tmp_path, "event", texts) == set()


def test_the_keys_of_every_shape_are_accepted_by_both(tmp_path: Path) -> None:
    from memento_git.model.knowledge import NOTE as NOTE_SHAPE
    from memento_git.model.policy import CONFIG
    from memento_git.model.recipes import RECIPE
    from memento_git.model.work import EVIDENCE as EVIDENCE_SHAPE
    from memento_git.model.work import PLAN as PLAN_SHAPE
    from memento_git.model.work import RUN as RUN_SHAPE
    from memento_git.model.work import TASK as TASK_SHAPE

    shapes = {"run": RUN_SHAPE, "plan": PLAN_SHAPE, "task": TASK_SHAPE, "evidence": EVIDENCE_SHAPE, "note": NOTE_SHAPE,
              "config": CONFIG, "recipe": RECIPE}  # fmt: skip
    for schema, shape in shapes.items():
        value = value_of(shape)
        if schema == "config":
            value["version"] = 1
        text = codec.encode(value).decode()
        assert not refused_by_us(schema, text), text
        assert refused_by_tool(tmp_path, schema, {schema: text}) == set()


def disordered(kind: object, value: object) -> list[list[str]]:
    """Return the keys of each mapping that are in another order than their shape."""
    if isinstance(kind, t.ListOf) and isinstance(value, list):
        return [keys for member in value for keys in disordered(kind.member, member)]
    if not isinstance(kind, t.Shape) or not isinstance(value, dict):
        return []
    found = [keys for key, inner in value.items() for keys in disordered(kind.fields[key].type, inner)]
    return found + ([[*value]] if [*value] != [key for key in kind.fields if key in value] else [])


def shape_of(path: str, value: dict[str, Any]) -> t.Shape | None:
    place = layout.place_of(path)
    if place is None or place.kind != "event":
        return codec.PROSE.get(path.rpartition("/")[2][:-3]) or (codec.PROSE["note"] if path[-1] == "d" else EVIDENCES)
    return event_shape(kind_of(place.of), place.do, gate="gate" in value)


def test_what_is_written_has_its_keys_in_the_order_of_the_formats(play: Play) -> None:
    play.run(spike=True)
    task = play.task()
    (play.root / "notes.txt").write_text("not tracked", encoding="utf-8")
    dispatch = play.claimed(task)
    evidence = play.evidence(task, code=1)
    play.do(dispatches.fail_dispatch, dispatch, reason="it fails", evidence=[evidence], category="tests")
    play.do(evidences.add_evidence, "artifact", tasks=[task], files=["notes.txt"], dispatch=dispatch)
    play.do(redact_record, evidence, reason="it held a name")
    play.do(add_note, "Empty names are refused.", links=[f"relates_to:{task}"], sources=["a talk"], tier="medium")
    found: dict[str, list[list[str]]] = {}
    for path in git(play.root, "ls-files", ".memento/runs", ".memento/knowledge").splitlines():
        if not path.endswith(".txt"):
            text = (play.root / path).read_text(encoding="utf-8")
            value = yamltext.load((text.split("---\n")[1] if path.endswith(".md") else text).encode()).value
            found[path] = disordered(shape_of(path, value), value)
    assert len(found) == 8
    assert [(path, keys) for path, keys in found.items() if keys] == []


def test_the_real_tool_accepts_a_task_that_was_added_with_numbers(play: Play, tmp_path: Path) -> None:
    play.run()
    first = play.task()
    task = play.task(attempts=2, cost="1.5", depends_on=[first, first[:-1]])
    text = next((play.root / ".memento").rglob(f"{task}/task.md")).read_text(encoding="utf-8").split("---\n")[1]
    assert refused_by_tool(tmp_path, "task", {"task": text}) == set()
    assert yamltext.load(text.encode()).value["depends_on"] == [first]
