"""The page of file formats, from the shapes."""

from __future__ import annotations

from typing import Final

from docs.generator.words import key_table, table, whole_page
from memento_git.model.anchors import SHAPE as ABOUT
from memento_git.model.events import GATE, HEAD, VERBS
from memento_git.model.ids import ALPHABET, LENGTH
from memento_git.model.knowledge import DOMAINS, NOTE
from memento_git.model.recipes import CHOOSING, FOUND, LARGEST, MOST_STEPS, RECIPE, SINKS, SOURCES, STEP_SHAPES
from memento_git.model.states import TRUSTS
from memento_git.model.types import Shape
from memento_git.model.work import EVIDENCE, EVIDENCE_KINDS, GATE_KINDS, PLAN, RUN, TASK, VERDICTS

LAYOUT: Final = """\
```
.memento/
  config.yaml                                   format version and policy
  README.md                                     what this folder is, for a reviewer
  .gitattributes                                line endings: text files LF, captured output untouched
  runs/<run>/
    run.md                                      the goal: front matter and Markdown
    <time>-<verb>-<random>.yaml                 an event of the run
    plans/<plan>/plan.md                        a plan; its events lie beside it
    tasks/<s>/<task>/task.md                    a task; its events lie beside it
    evidence/<s>/<evidence>.yaml                one piece of evidence, immutable
    evidence/<s>/<evidence>/                    what was captured or attached, and the evidence's events
  knowledge/<domain>/<s>/<note>.md              a note: front matter and Markdown, edited in place for its wording
  knowledge/<domain>/<s>/<note>/                what happened to the note, as events
  recipes/<name>.yaml                           a saved query
  archive/<run>/<digest>.yaml.gz                a final run in one file
```

`<s>` is the first character of the id's random part. The folder of a record holds the record's events, so a listing
tells its story. An event's file name has its time without punctuation, its verb, and the random part of its id:
`20261121T210213377Z-completed-9wq4m2h6c8x1.yaml` is `event_9wq4m2h6c8x1`.

A dispatch and a gate have no file: they are what events come to. A dispatch's id has the random part of the
`dispatched` event that opened it."""

YAML: Final = """\
Files are UTF-8. Events, evidence and the config are YAML; `run.md`, `plan.md`, `task.md` and notes are YAML front
matter between two lines `---`, then Markdown. The ledger's YAML is plain: one document, no anchors and aliases, no
tags, no key twice, at most 12 levels. Every scalar is read as text and then typed by its key, so an id of digits
stays an id and `2026-11-21T21:02:13.377Z` stays as it is written. A key that the tables below do not have is a
finding. An empty value is not written. Memento writes keys in the order of these tables; whoever edits a text by hand
may have them in another.

Texts hold no control characters and none that change the direction of writing; a text has at most 65,536 characters,
a file at most 1 MiB.

The same in JSON Schema 2020-12 is in `schemas/`: `run`, `plan`, `task` and `note` (for the front matter), `evidence`,
`event`, `recipe` and `config`. An editor types YAML's scalars itself, so there a flag is a boolean and a count an
integer; quote a text that looks like a number."""

SIGNATURES: Final = """\
A signed event or approval has the key `signature`, the last of its file, as a block of exactly this form: the line
`signature: |`, then the armored SSH signature with two spaces before each line. The signature is what
`ssh-keygen -Y sign -n memento-git` makes of these bytes:

```
memento-git signature 1
ledger: <policy.signatures.ledger; without it, this line is not there>
run: <the run's id>
id: <the event's or evidence's id>

<the bytes of the file before the line "signature: |">
```

So it holds for the whole record in its one place, and in the ledger of that name alone: verb, record, time, actor,
`after` with its digests, the digest of the text, the references to evidence. A file that says anything after the
block, or the block in another form, is not signed well. Digests of files are of all bytes, signature included."""


def page() -> str:
    ids = (
        f"An id is its kind, an underscore and {LENGTH} random characters of `{ALPHABET}` (Crockford base 32, "
        "lower case): `task_7k2m9p4x1c0d`. Kinds: `run`, `plan`, `task`, `dispatch`, `evidence`, `note`, `event`.\n\n"
        "A digest is the first 32 hexadecimal digits of the SHA-256 of a file's bytes at the commit. A reference is an "
        "id and a digest: `evidence_5s0g3t7k2b9x@e1d0…`. Git's own ids (40 or 64 digits) name code."
    )
    times = "A time is UTC with milliseconds: `2026-11-21T21:02:13.377Z`."
    return whole_page(
        "File formats", "## Layout", LAYOUT, "## YAML", YAML, "## Ids, digests, times", ids, times,
        "## Run", key_table(RUN), "## Plan", key_table(PLAN), "## Task", key_table(TASK),
        "## Note", _note(),
        "## Recipe", _recipe(),
        "## Evidence", _evidence(), "## Event", _events(),
        "## Signatures", SIGNATURES,
        "## Config", "See [policy.md](policy.md).",
        "## Archive", "A gzip file of YAML: `version: 1` and `files`, a mapping from path to `text`, or to `base64` "
        "where the bytes are not text. Its name is the digest of its bytes. It holds each file's exact bytes.",
    )  # fmt: skip


def _note() -> str:
    domains = ", ".join(f"`{domain}`" for domain in DOMAINS)
    told = f"Domains, as the name of the folder: {domains}; `knowledge.domains` of the config adds more."
    return f"{told}\n\n{key_table(NOTE)}\n\n### Places that a note is about\n\n{key_table(ABOUT)}"


def _recipe() -> str:
    told = (
        f"A YAML file of at most {LARGEST // 1024} KiB and {MOST_STEPS} steps. It needs `steps` or `parts`; what has "
        "nothing to work on begins with a source: "
        f"{', '.join(f'`{do}`' for do in SOURCES)}. `{{name}}` in a text stands for a parameter; in texts of "
        f"{', '.join(f'`{do}`' for do in SINKS)} also {', '.join(f'`{{{name}}}`' for name in FOUND)} of the notes that "
        "they are given. See [queries.md](../queries.md)."
    )
    steps = [f"### Step: {do}\n\n{_step(shape)}" for do, shape in STEP_SHAPES.items()]
    return "\n\n".join([told, key_table(RECIPE), "### Which notes a step asks for", key_table(CHOOSING), *steps])


def _step(shape: Shape) -> str:
    own = {key: field for key, field in shape.fields.items() if key != "do" and key not in CHOOSING}
    more = "The keys of *which notes a step asks for*." if CHOOSING.keys() <= shape.fields.keys() else ""
    return "\n\n".join(part for part in (key_table(own) if own else "", more) if part)


def _evidence() -> str:
    kinds = ", ".join(f"`{kind}`" for kind in EVIDENCE_KINDS)
    trusts = ", ".join(f"`{trust}`" for trust in TRUSTS)
    return f"Kinds: {kinds}. Trust is derived, never written; best first: {trusts}.\n\n{key_table(EVIDENCE)}"


def _events() -> str:
    parts = ["Every event has these keys:", key_table(HEAD)]
    for kind, verbs in VERBS.items():
        parts.append(f"### Events of {'evidence' if kind == 'evidence' else f'a {kind}'}")
        for verb, fields in verbs.items():
            parts += [f"#### {kind}: {verb}", key_table(fields) if fields else "No further keys."]
    verdicts = table(("verb", "state of the gate"), [
        (f"`{word}`", "pending" if word == "requested" else word) for word in VERDICTS
    ])  # fmt: skip
    gates = ", ".join(f"`{kind}`" for kind in GATE_KINDS)
    parts += [
        "### Verdicts of gates",
        f"An event of a run or task with the key `gate` is a verdict. Gates: {gates}. `waived` requires `reason`.",
        verdicts,
        key_table(GATE),
    ]
    return "\n\n".join(parts)
