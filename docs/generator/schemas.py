"""The shapes as JSON Schemas, for editors and for other checkers.

The ledger reads every YAML scalar as text and types it by its shape; an editor sees YAML's own types. So a flag is
described as a boolean and a count as an integer, and a text that YAML would take for a number must be quoted.
"""

from __future__ import annotations

from typing import Any, Final

from memento_git.model import types as t
from memento_git.model.anchors import SHAPE, AnchorType
from memento_git.model.events import GATED, HEAD, VERBS, event_shape
from memento_git.model.knowledge import NOTE
from memento_git.model.policy import CONFIG, FORMAT
from memento_git.model.recipes import RECIPE
from memento_git.model.types import LONGEST, Field, Shape
from memento_git.model.work import EVIDENCE, PLAN, RUN, TASK, VERDICTS

Schema = dict[str, Any]

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
UNFIT: Final = r"\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"

TITLES: Final = {
    "config": "The ledger's format version and policy: .memento/config.yaml",
    "event": "What happened to a record: <time>-<verb>-<random>.yaml in the record's folder",
    "evidence": "One piece of evidence: evidence/<shard>/<id>.yaml",
    "note": "The front matter of a note: knowledge/<domain>/<shard>/<id>.md",
    "plan": "The front matter of a plan: plan.md",
    "recipe": "A saved query: recipes/<name>.yaml",
    "run": "The front matter of a run: run.md",
    "task": "The front matter of a task: task.md",
}  # fmt: skip

PLAIN: Final[dict[type, Schema]] = {
    t.Name: {"type": "string", "minLength": 1, "maxLength": LONGEST, "pattern": f"^(?:{t.NAME})$"},
    t.Flag: {"type": "boolean"},
    t.Decimal: {"type": "number", "minimum": 0},
    t.Share: {"type": "number", "minimum": 0, "maximum": 1},
    t.Anything: {"type": "object"},
}


def documents() -> dict[str, Schema]:
    """Return name -> JSON Schema of every kind of file in the ledger."""
    shapes = {"config": CONFIG, "evidence": EVIDENCE, "note": NOTE, "plan": PLAN, "recipe": RECIPE, "run": RUN,
              "task": TASK}  # fmt: skip
    found = {name: describe(shape) for name, shape in shapes.items()}
    found["config"]["properties"]["version"]["maximum"] = FORMAT
    found["event"] = _event()
    return {
        name: {"$schema": DRAFT, "$id": f"urn:memento-git:{FORMAT}:{name}", "title": TITLES[name], **schema}
        for name, schema in sorted(found.items())
    }


def describe(type_: t.Type) -> Schema:
    """Return the JSON Schema of a type."""
    match type_:
        case Shape() | AnchorType():
            return _shape(type_ if isinstance(type_, Shape) else SHAPE)
        case t.ListOf():
            return _list(type_)
        case t.Variant():
            return {"oneOf": [_shape(shape) for shape in type_.shapes.values()]}
        case t.Table():
            names = {"pattern": f"^(?:{type_.keys})$"}
            return {"type": "object", "propertyNames": names, "additionalProperties": describe(type_.member)}
        case _:
            return _one_value(type_)


def _one_value(type_: t.Type) -> Schema:
    match type_:
        case t.Pattern():
            return {"type": "string", "pattern": f"^(?:{type_.pattern})$", "description": type_.name}
        case t.Text():
            return _text(type_)
        case t.Choice():
            return {"enum": list(type_.words)}
        case t.Whole():
            return {"type": "integer", "minimum": type_.least, **({"maximum": type_.most} if type_.most else {})}
        case _:
            return PLAIN[type(type_)]


def _list(type_: t.ListOf) -> Schema:
    least = {"minItems": type_.least} if type_.least else {}
    first = {"prefixItems": [describe(type_.first)]} if type_.first else {}
    most = {"maxItems": type_.most} if type_.most else {}
    return {"type": "array", "items": describe(type_.member), **first, **least, **most}


def _text(type_: t.Text) -> Schema:
    """Return the schema of a text: without control characters, not blank or on one line where that is asked."""
    line = "" if type_.lines else r"\n"
    seen, least = ("", 0) if type_.empty else (r"(?=[\s\S]*\S)", 1)
    pattern = rf"^{seen}[^{UNFIT}{line}]*$"
    return {"type": "string", "minLength": least, "maxLength": LONGEST, "pattern": pattern}


def _shape(shape: Shape) -> Schema:
    properties = {key: _field(field) for key, field in shape.fields.items()}
    required = [key for key, field in shape.fields.items() if field.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _field(field: Field) -> Schema:
    schema = describe(field.type)
    return {**schema, "description": field.doc} if field.doc else schema


def _event() -> Schema:
    """Return the schema of events: common keys, then one definition for each kind of record and verb."""
    definitions: Schema = {}
    rules: list[Schema] = []
    for kind, verbs in VERBS.items():
        rules.append(_known(kind, tuple(verbs), gate=False))
        rules += [_rule(definitions, kind, do, gate=False) for do in verbs]
    for kind in GATED:
        rules.append(_known(kind, VERDICTS, gate=True))
        rules += [_rule(definitions, kind, do, gate=True) for do in VERDICTS]
    rules.append({"if": {"required": ["gate"]}, "then": {"properties": {"of": _of(*GATED)}}})
    head = _shape(Shape(HEAD))
    return {**head, "additionalProperties": True, "allOf": rules, "$defs": definitions}


def _of(*kinds: str) -> Schema:
    return {"type": "string", "pattern": f"^(?:{'|'.join(kinds)})_"}


def _when(kind: str, *, gate: bool) -> Schema:
    """Return the condition that an event is about a kind of record, and is a gate's verdict or is not."""
    gated: Schema = {"required": ["gate"]}
    return {"properties": {"of": _of(kind)}, "required": ["of"], **({"allOf": [gated]} if gate else {"not": gated})}


def _known(kind: str, verbs: tuple[str, ...], *, gate: bool) -> Schema:
    return {"if": _when(kind, gate=gate), "then": {"properties": {"do": {"enum": list(verbs)}}}}


def _rule(definitions: Schema, kind: str, do: str, *, gate: bool) -> Schema:
    """Define the keys of one verb, and return the rule that applies them."""
    name = f"{kind}-{'gate-' if gate else ''}{do}"
    shape = event_shape(kind, do, gate=gate)
    definitions[name] = _own_keys(shape) if shape else {}
    condition = _when(kind, gate=gate)
    condition["properties"] = {**condition["properties"], "do": {"const": do}}
    condition["required"] = ["of", "do"]
    return {"if": condition, "then": {"$ref": f"#/$defs/{name}"}}


def _own_keys(shape: Shape) -> Schema:
    """Return the schema of a verb's own keys; those that all events have are described once, outside."""
    own = _shape(Shape({key: field for key, field in shape.fields.items() if key not in HEAD}))
    return {**own, "properties": {**dict.fromkeys(HEAD, True), **own["properties"]}}
