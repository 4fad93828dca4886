"""The page of the policy: each key, its default, its meaning, and a whole example."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from docs.generator.words import keys, of, table, whole_page
from memento_git.model.policy import CONFIG, FREE, Policy, key_of
from memento_git.model.types import Shape
from memento_git.work.actions.setup import CONFIG_TEXT
from memento_git.work.routing.executors import BUILT_IN

if TYPE_CHECKING:
    from memento_git.model.types import Field

EXAMPLE: Final = """\
version: 1
policy:
  proof:
    command: witnessed
    test: witnessed
    lint: witnessed
    type: witnessed
    build: witnessed
    screenshot: verified
  require: [test]
  plan:
    approvers: [Ada <ada@example.invalid>, Grace <grace@example.invalid>]
    not_author: true
  approvals: {not_author: true}
  gates:
    required: [implementation_review, release]
    fresh: [release]
    verdicts:
      release: [Ada <ada@example.invalid>]
    waivers: [Ada <ada@example.invalid>]
  spike:
    dispatches: 1
  lease: 90m
  limits:
    attach: 262144
    output: 16384
  verify:
    - evidence: [test]
      commands: [{run: [pytest, -q], kind: test, timeout: 20m}]
    - when: {risks: [high]}
      evidence: [test, lint, type]
      trust: witnessed
  budget: {attempts: 2, cost: 10}
  preflight: {dirty: refuse, protected: refuse, branches: [main, "release/*"]}
  release: {checks: [build], approvals: 2}
  graph: {cycles: refuse, growth: 10}
  signatures:
    allowed_signers: .memento/allowed_signers
    revoked: .memento/revoked_keys
    ledger: example/shop
    require:
      plan_approval: [ada@example.invalid]
      waivers: [ada@example.invalid, grace@example.invalid]
      release: []
  reproduce:
    commands: [[pytest], [npm, test], [make, "test-*"]]
    setup: [[npm, ci]]
    timeout: 20m
    env: [CI]
    runners: [ci@example.invalid]
  check: {errors: [D007, P005, P009]}
  allow_secrets: []
  agents: {"agent:hermes": [Ada <ada@example.invalid>], "agent:ci": []}
executors:
  codex: {cost: 1.5, risk: medium, scope: ["src/**"]}
  ours: {run: [tools/agent, "{brief}"], health: [tools/agent, --version], kinds: [docs]}
  caged:
    run: [agent, "{brief}"]
    sandbox: required
    wrap: [bwrap, --unshare-all, --die-with-parent, --ro-bind, /, /, --bind, "{worktree}", "{worktree}"]
"""
NOTES: Final = """\
- An actor is compared as it is written: `Ada <ada@example.invalid>` is git's user, `agent:hermes` what
  `--actor agent:hermes` says. Whoever can write may type any name. What a name is worth is for the review of the
  commit to say.
- `proof` is a mapping from kind of evidence to the least trust at which that kind proves a task. Giving it replaces
  the default as a whole. A kind that is absent proves nothing by itself. It can still be cited; the task may then be
  completed and is shown as unproven.
- `require` asks that each of these kinds is among what proves the completion. A kind that `proof` does not list cannot
  prove; it is asked to be *shown*: cited, sound, from *reported* up (a note as it is), a verdict passed if it is of a
  kind that has one, and of the same code if it is bound to code. Approvals, diffs, notes and
  memories name no code as a rule. Then they prove nothing by themselves, also where `proof` lists them, and are asked
  to be shown, too.
- `approvals` says whose approval of a task, or of a candidate's diff, counts, where one is asked: of those who are
  named, and with `not_author` of nobody who claimed or completed the task, under whatever spelling of a name. Others
  may say yes, and it shows nothing. What a release counts is said by `release`; who may pass the gate `approval`, by
  `gates.verdicts`.
- `verify` asks by kind, risk and files of a task; an entry without `when` is for all. All that apply count together,
  with what the canonical plan and the task ask: kinds and commands are united, the stricter trust and the shorter
  time-out win. A task without a risk is of medium risk. In patterns `*` and `?` stay within a folder's name, `**` goes
  across; a folder in a task's `files` is about all that is in it. `memento doctor` tells of a pattern that names no
  file.
- A required command is an argv, not a line for a shell. `task verify` runs it at the top of the repository. It has
  passed where evidence of its kind, witnessed, with its reports, for all of the code, says so. Write it without
  absolute paths, so that it means the same on every machine.
- `signatures.require` names principals of the allowed signers. A name in the form `Name <address>` stands for its
  address. An empty list means any allowed signer. A key that is absent demands nothing. What is demanded is signed
  without `--sign`; without a good signature of one of them nothing is written, handed out, completed or released. To
  waive a gate that must be signed, a signature is needed too: by `waivers` where it is given, else by the gate's own
  list.
- `signatures.ledger` is a name of your own for this ledger, such as `example/shop`. Signatures are given for it, so a
  run that somebody signed in another repository is not signed here. Without it they hold wherever the same keys
  count. Name it before anything is signed: signatures that were given before are `unnamed` afterwards, and count for
  nothing that demands one. `check` warns of them (`K001`, `K002`), and refuses a branch that brings more of them.
  Nothing is signed where a branch gives the ledger another name than the base (`ledger_renamed`).
- Both files of `signatures` are read at the commit that is read. A file that is named and absent (or a link, or above
  1 MiB) means that no signature counts. See [trust-model.md](../trust-model.md).
- `check.errors` names warnings of [findings.md](findings.md) that are errors in this repository: `check`, the hooks and
  the action fail on them, and `doctor` ends with 1. Verbs and `sync` do not ask. With a base it is the base's list that
  counts; a branch that shortens it is reported (`C003`, which may be on the list as well: then such a branch needs
  somebody who may merge past the check). In a check of a whole tree what is old counts, too.
- `agents` says in whose commits the work of an agent comes: of that `check` does not warn (`C002`), but of what an
  agent approves, judges, answers, settles or voids. It gives nobody a right: what an agent or its owner may approve is
  asked by the other keys. Read from the base, as all policy is.
- `reproduce.commands` lists what `evidence reproduce` may run again: the first words of a command, `*` for anything
  within a word. `[python3]` would allow any Python. `setup` runs before each, in the same clean worktree: what git
  ignores, such as installed packages, is not there otherwise. It also runs in an executor's worktree, before the
  executor. Commands that run again see `PATH`, `HOME`, the locale and what `env` names; never a `GIT_` or `MEMENTO_`
  variable. A command that `preflight` knows as destructive is not run, whatever is listed. With `--base` all of this
  is read from the base.
- `reproduce.runners` names principals of the allowed signers, as `signatures.require` does. Evidence whose command one
  of them ran again on the same code, to the same verdict, and signed (`evidence reproduce --sign`) is *reproduced*.
  Nobody named: nobody's signature does that. `proof: {test: reproduced}` asks for it. `check --base` reads names and
  keys from the base.
- A gate in `gates.fresh` passes only with `--evidence`, and that evidence must have seen the code as it is. For a
  gate of a run one piece must have seen all of it: evidence that covers some paths (`--covers`) is enough for a
  gate of a task. A run that has ended is asked for the code of the commit that brought its end: see
  [gates.md](../gates.md).
- Policy is read at the commit that a command starts from, when an event is written. The fold never looks at it. What
  is shown as proven is judged by the policy of the commit that is read.
- A policy that cannot be read (`F001`, `F002`) or is of a newer format (`F005`) stops every command that needs it,
  with exit code 4: the file, the line and the remedy are named."""

TOLD: Final = {  # what holds where a key is absent, if the value itself would not tell
    "version": "", "policy.lease": f"{Policy().lease} s", "policy.preflight.disk": f"{FREE}",
    "knowledge.domains": "none", "knowledge.medium": "90d", "executors": "the known ones",
}  # fmt: skip
EXECUTORS: Final = """\
These are known without a word in `config.yaml`. A name in `executors` changes the values that it gives and keeps the
others; a new `run` drops the built-in `health`, which was another program's. A name that is not in the table can still
be named in `dispatch create`; `task route` looks only at the table. `{}` is enough for a person: `ada: {}`.

An executor with a `run` is a command, one without is a person. `run` and `health` are argument vectors: no shell reads
them. In `run`, `{brief}` is the path of the brief, `{worktree}` the folder to work in, `{task}` and `{dispatch}` are
ids; other braces stay as they are. The command starts in the worktree with an empty standard input. `health` is run by
`memento task route` at the top of the repository and exits with 0 where the executor can work.

`scope` has patterns as a shell has them, where `*` also stands for `/`, or folders. `cost` is in a unit of the team's;
the built-in costs say only that an attempt of a person is dearer than one of a command. Without `kinds`, an executor is
as good at one kind of task as at another until outcomes say otherwise.

`wrap` is the argv of a sandbox: the executor's own command follows it, in `run` and in `health`, and the same words in
braces are filled in. With `sandbox: required` an executor is never started outside of one: where `wrap` is empty, or
what it names is not there or fails, `task route` rejects it under the rule `sandbox`, whoever asks for it by name, and
`dispatch run` and `dispatch work` refuse with `sandbox_required`, also with another command after two dashes or under
another name. The sandbox is tried in a folder that is thrown away, with `health` or else with `true` inside of it.
`swe-agent` is known to require one: it is started only once `executors.swe-agent.wrap` is set.

The built-in commands are what the programs' own documents give for work without a terminal. What a program may do there
is for its own settings, and for its sandbox, to say: some run shell commands without asking. Look at the table before
you let them loose, and change what does not fit, for example a model or a sandbox."""


def _value(default: object) -> str:
    if isinstance(default, dict):
        return "; ".join(f"{key}: {value}" for key, value in default.items()) or "none"
    if isinstance(default, (tuple, list)):
        return ", ".join(default) or "none"
    return str(default).lower() if isinstance(default, bool) else str(default)


def defaults() -> dict[str, str]:
    """Return key -> value where the file does not have the key."""
    held = {key_of(name): value for name, value in Policy()._asdict().items()}
    return {name: _default(name, field, held) for name, field in keys(CONFIG)}


def _default(name: str, field: Field, held: dict[str, Any]) -> str:
    if name in TOLD:
        return TOLD[name]
    if isinstance(field.type, Shape) or "[]" in name or "<name>" in name:
        return ""
    if name.startswith("policy.signatures."):
        return "nothing"
    section, _, key = name.rpartition(".")
    return _value(held[name] if name in held else held[section].get(key, ()))


def _executors() -> str:
    """Return the built-in table of executors."""
    rows = [
        (
            f"`{one.name}`",
            f"`{shlex.join(one.run)}`" if one.run else "a person",
            f"`{shlex.join(one.health)}`" if one.health else "",
            ", ".join(one.kinds),
            one.risk,
            one.sandbox,
            f"{one.cost:g}",
            f"{one.timeout} s" if one.timeout else "",
        )
        for one in BUILT_IN.values()
    ]
    return table(("executor", "run", "health", "kinds", "risk", "sandbox", "cost", "timeout"), rows)


def page() -> str:
    held = defaults()
    rows = [
        (f"`{name}`", of(field.type), held[name], field.doc)
        for name, field in keys(CONFIG)
        if not isinstance(field.type, Shape)
    ]
    return whole_page(
        "Policy",
        "`.memento/config.yaml` holds the format version and what a team asks before work counts. It is reviewed like "
        "code; edit it and commit it like code. Nothing but `version` is required.",
        table(("key", "value", "default", "meaning"), rows), NOTES,
        "## Executors", EXECUTORS, _executors(), "## What `memento init` writes", f"```yaml\n{CONFIG_TEXT}```",
        "## An example of a stricter team", f"```yaml\n{EXAMPLE}```",
    )  # fmt: skip
