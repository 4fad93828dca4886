"""The pages of apply and of the Python API, from the signatures of the actions."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

from docs.generator.words import table, whole_page
from memento_git.ledger.store import Ledger
from memento_git.ledger.transaction import Transaction
from memento_git.memory import Memory
from memento_git.tiers import MemoryManager
from memento_git.verbs import batch, doctor
from memento_git.verbs.batch import ACTIONS, keys_of
from memento_git.work import brief, overview
from memento_git.work.actions import bundles, evidences, folders, setup, verifying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

APPLY: Final = """\
`memento apply FILE` does a list of verbs in one transaction: one commit, or none. `-` reads standard input. Each
entry is a mapping: `do` names the verb, the other keys are its options. `as: name` keeps the id that the verb made;
`$name` in a later entry stands for it; a text that begins with a `$` is written with `$$`. The ids are answered in
order.

```yaml
- do: run start
  goal: Refuse empty passwords
  as: run
- do: plan draft
  run: $run
  title: Validate the form
  body: Check in the handler, then test it.
  as: plan
- do: plan approve
  plan: $plan
- do: task add
  run: $run
  title: Refuse an empty password
  criteria: [an empty password answers 422]
  as: refuse
- do: task add
  run: $run
  title: Tell the user why
  depends_on: [$refuse]
```

Where a list is expected, one value stands for a list of one. `true` and `false` are flags. A `lease` is a length of
time such as `90m`. An empty text is refused where the verb would do the rest and not tell: in `note add`, `note merge`,
`note revise` and `task revise`; and so is an empty `run`, `task`, `dispatch`, `executor` or `lease`, for another would
be meant, or none. A hyphen in an option's name may be written for the underscore. `evidence run` is not among the
verbs, because a command runs before a transaction begins: `evidence run --out FOLDER` first, then `evidence add` with
`from: FOLDER`. `task verify` in a list judges the evidence that is there and runs nothing, for the same reason. A
refusal names the line and the verb of the entry that was refused. `memento apply --keys "task add"` shows the keys of a
verb. Some have other names than the options of the command line: `criteria` is `--accept`, `files` is `--file`,
`commands` is `--check`. The option's name is taken too.

The answer has `done`, a row for each verb in order: `do`, and the `id` of what it made or was about. The row of `task
verify` has its `verdict` (accepted or rejected) and the `failed_requirements` too. A rejection is a verdict, not a
refusal: it is recorded, the rest of the list is done and committed with it, and then the command says `ok: false` with
the error `task_rejected` and exits with 1, as `memento task verify` does. What may only follow an acceptance is refused
by its own rule, and then nothing of the list is recorded, the rejection neither. The rows of `dispatch complete` and
`dispatch select` have the `task_id`, and whether that task is `proven` (null where it is not done any more) at the end
of the list, with `unproven_because`."""

API: Final = """\
The Python API is the command line without the printing: an action takes a transaction and its verb's options, raises
a `MementoError` where it is refused, and is committed when the transaction ends. The types are checked with
`mypy --strict`; the package has `py.typed`.

```python
from memento_git import Ledger, MementoError
from memento_git.work.actions import runs, tasks
from memento_git.work.overview import choose_run, overview

with Ledger.open(".", actor="agent:hermes") as ledger:
    try:
        with ledger.transaction("two tasks") as tx:
            run = runs.start_run(tx, "Refuse empty passwords", spike=True)
            first = tasks.add_task(tx, "Refuse an empty password", run=run)
            tasks.add_task(tx, "Tell the user why", run=run, depends_on=[first])
    except MementoError as refusal:
        print(refusal.token, refusal.message, refusal.hint, refusal.exit_code)
    view = ledger.view()
    held = overview(ledger, view, choose_run(view))
    print([(task["title"], task["status"], task["proven"]) for task in held["tasks"]])
```

`ledger.transaction(action)` is one attempt: where another process moves the branch meanwhile, `LedgerMoved` is raised.
`ledger.change(action, act)` runs `act(tx)` again from the new HEAD, a bounded number of times, and returns what it
returned. An exception within the block writes nothing. `action` is the text of the commit's subject.
A `Reason` is a text that is needed: `reason_required` where it is empty. Where a list of texts is expected, one text
stands for a list of one. A `lease` is in seconds. The text that an action returns is, where nothing else is said, the
whole id of the record that it made or changed."""

BESIDE: Final[tuple[Callable[..., Any], ...]] = (
    evidences.add_evidence, evidences.witness, evidences.record_draft, folders.write_folder, folders.import_folder,
    setup.init_ledger, doctor.examine, batch.apply, overview.overview, overview.choose_run, verifying.verify,
    brief.brief, brief.bundle, bundles.write_bundle,
)  # fmt: skip
WIDTH: Final = 100
DEFAULTS: Final = {"clock": "time.time", "entropy": "os.urandom"}


def apply_page() -> str:
    entries = []
    for verb, action in ACTIONS.items():
        rows = [(f"`{one['name']}`", one["value"], "yes" if one["required"] else "") for one in keys_of(verb)]
        entries.append(f"### {verb}\n\n{_first(action)}\n\n{table(('option', 'value', 'required'), rows)}")
    return whole_page("apply: many verbs in one commit", APPLY, "## Verbs", *entries)


def api_page() -> str:
    modules: dict[str, dict[str, Callable[..., Any]]] = {}
    for action in (*ACTIONS.values(), *BESIDE):
        modules.setdefault(action.__module__, {})[action.__name__] = action
    parts = [_methods(Ledger, ("open", "view", "transaction", "change", "close", "now")),
             _methods(Transaction, ("new_id",)),
             _methods(Memory, ("store", "store_many", "recall", "recall_many", "get", "update", "forget",
                               "forget_prefix", "restore", "browse", "recent", "stats", "close")),
             _methods(MemoryManager, ("add", "retrieve", "close"))]  # fmt: skip
    for module, found in sorted(modules.items()):
        parts.append(f"## {module}")
        parts += [_signature(name, action) for name, action in found.items()]
    return whole_page("Python API", API, *parts)


def _methods(owner: type, names: tuple[str, ...]) -> str:
    methods = {name: getattr(owner, name) for name in names}
    shown = [_signature(f"{owner.__name__}.{name}", one) for name, one in methods.items()]
    return "\n\n".join([f"## {owner.__module__}.{owner.__name__}", inspect.getdoc(owner) or "", *shown])


def _signature(name: str, action: Callable[..., Any]) -> str:
    found = inspect.signature(inspect.unwrap(action))
    parts = list(_parameters(found.parameters.values()))
    answer = f" -> {found.return_annotation}"
    line = f"{name}({', '.join(parts)}){answer}"
    if len(line) > WIDTH:
        line = f"{name}(\n{''.join(f'    {part},' + chr(10) for part in parts)}){answer}"
    return f"### `{name.rpartition('.')[2]}`\n\n```python\n{line}\n```\n\n{inspect.getdoc(action) or ''}"


def _parameters(found: Iterable[inspect.Parameter]) -> Iterator[str]:
    """Yield parameters as they are written; annotations are text already."""
    starred = False
    for one in found:
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        default = DEFAULTS.get(one.name, repr(one.default)) if one.default is not one.empty else ""
        yield f"{one.name}: {one.annotation}" + (f" = {default}" if default else "")


def _first(action: Callable[..., Any]) -> str:
    return (inspect.getdoc(action) or "").partition("\n\n")[0].replace("\n", " ")
