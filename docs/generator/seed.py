"""The page of the lifecycle ledger's names: its commands, options and keys, and ours."""

from __future__ import annotations

from typing import Final

from docs.generator.words import table, whole_page
from memento_git.cli.seed_names import DEFAULTS, FLAGS, OPTIONS, REPEATED, TABLE, token_of

SAME: Final = (
    ("init", "init", ""),
    ("doctor", "doctor", "its `ok` is false when a check fails, and it exits with 1"),
    ("sample-smoke", "sample-smoke", "it makes a repository of its own in the folder"),
    ("status", "status", "`--run-id` is `--run`; a ledger without any run is shown as empty, and is no refusal"),
    ("report", "report", "`--run-id` is `--run`"),
    ("plan", "plan draft", "`plan --run-id --title --body`"),
    ("update", "update", "it shows the installer's command, and runs it with `--run`"),
)
KEYS: Final = (
    ("run", "`run` with `id goal actor status current_plan_id`", ("`workspace` and `source_of_truth` are gone: a "
     "record holds no absolute path; `updated_at` is what the events say")),
    ("plan", "`plan` with `id run_id title body status assumptions risks acceptance_criteria`",
     "a plan that another replaced is `superseded`, not `rejected`"),
    ("task", "`task` with `id run_id title description status acceptance_criteria dependencies`", ""),
    ("dispatch fields", ("`dispatch_id status task_id run_id executor claimed_by completed_at failed_at recovered_at "
     "executor_invoked`"), "`outbox_path` and `payload` are gone: there is no outbox; see `worker-payload`"),
    ("evidence", "`evidence` with `id run_id kind summary uri task_id trust_level status`",
     "`trust_level` is derived; the seed's status words `passed` and `failed` are `outcome`"),
    ("audit", "`audit`, a list with `run_id actor action summary payload created_at`", "each row is an event"),
    ("gates", "`gates` with `kind status summary reviewer`", ""),
    ("error", "`ok: false`, `error`, `message`, `hint`", "`package` and `version` are gone: `memento --version`"),
)  # fmt: skip
NOTES: Final = """\
What differs, on purpose:

- Refusals exit with 1, usage errors with 2; there are no tracebacks. A missing option is a usage error.
- `enqueue-event` needs a title.
- `complete-dispatch` needs evidence, and a file that is named must exist. A file alone completes a task and leaves it
  *unproven*; what proves it is a command that ran: `memento evidence run`.
- `claim-dispatch` takes `--executor` for the actor. Only the claimant completes or fails a dispatch.
- `fail-dispatch` blocks the task, not the run.
- `cancel` and `fail-dispatch` do without a reason, as there: the event then says that none was given. Ours ask for one.
- `start --run-id` is not there: a run is active until it is paused, cancelled or completed.
- A failed `review` blocks until a later one passes, or the gate is waived: `memento gate waive`.
- `select-patch` without a candidate says `no_candidate`, where it said `candidates_required`: one is a dispatch,
  `memento dispatch create TASK --candidate`.
- `select-patch` and `release-gate` believe nothing that is typed of a candidate or a check: they read the ledger.
  Policy is in `.memento/config.yaml`; `--policy-json` is taken and has no effect, and neither have `--outbox-path`,
  `--scope-kind` and `--mock-graphify`.
- `record-external-check` keeps what is typed as *reported*: `evidence check` reads the provider's own answer.
- `record-approval` approves what `--scope-id` names, else the run, and only where `--response` is plainly a yes.
- `complete-dispatch` records the code's graph with `--graphify-checkpoint`, or where policy says so.
- `recover-jobs` takes back what is dead or expired alone. `context_bundle_path` is within the repository, and
  `source_of_truth` is gone: it is git.
- `graph-update` fails where graphify does, and `verify-task`, `release-gate` and `select-patch` exit with 1 when they
  say no."""


def page() -> str:
    rows = [(f"`{name}`", f"`{ours}`", "", note) for name, ours, note in SAME]
    for name, alias in TABLE.items():
        options = ", ".join(
            f"`--{theirs}` → {f'`{ours}`' if ours else 'its argument'}" for theirs, ours in alias.options.items()
        )
        needed = ", ".join(f"`{token_of(option)}`" for option in alias.required)
        fixed = " ".join(alias.fixed)
        notes = [f"refused without: {needed}" if needed else "", f"implies `{fixed}`" if fixed else ""]
        rows.append((f"`{name}`", f"`{alias.path}`", options, "; ".join(note for note in notes if note)))
    taken = ", ".join(f"`--{option}`" for option in (*OPTIONS, *REPEATED, *FLAGS))
    defaults = ", ".join(f"`--{option} {value}`" for option, value in DEFAULTS.items())
    return whole_page(
        "The lifecycle ledger's names",
        "The commands of the lifecycle ledger work under their own names, as aliases of ours, from one table in "
        "`memento_git/cli/seed_names.py`.",
        table(("its command", "ours", "options → ours", "notes"), rows),
        f"As there, each alias takes every one of these options, and leaves alone what it does not need: {taken}, "
        f"`--workspace`, `--json`. Defaults: {defaults}. The commands that are ours under the same name take their own "
        f"options alone: {', '.join(f'`{name}`' for name, *_ in SAME)}.",
        NOTES, "## JSON keys", table(("there", "here", "differences"), KEYS),
    )  # fmt: skip
