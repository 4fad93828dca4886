"""memento apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import click

from memento_git.cli import output, steps
from memento_git.cli.boundary import Call, writes
from memento_git.cli.texts import LITERAL
from memento_git.model.ids import kind_of

if TYPE_CHECKING:
    from memento_git.model.rows import Row


@click.command()
@click.argument("file", type=click.File("rb"), required=False)
@click.option("--keys", default="", metavar="VERB", help="Show the keys of a verb, such as 'task add'; do nothing.")
@writes
def apply(call: Call, file: BinaryIO | None, keys: str) -> int:
    """Do a list of verbs from a YAML FILE (- for standard input) in one commit.

    Each entry has `do` (such as `task add`), the verb's keys, and may have `as: name`; `$name` stands for its id in
    later entries. The keys are not all named as options are, such as `criteria` for --accept: --keys shows those of a
    verb, reference/apply.md of the documentation all. A rejection by `task verify` is recorded, the rest is done, and
    the exit code is 1.
    """
    from memento_git.verbs import batch

    if (file is None) is not bool(keys):
        raise click.UsageError("name a FILE, or a verb with --keys")
    if file is None:
        _show_keys(call, keys)
        return 0
    text = file.read(batch.LARGEST + 1)
    done = call.change("apply", lambda tx: batch.apply(tx, text, imports=not LITERAL.get()))
    rejected = [row for row in done if row.get("verdict") == "rejected"]
    unmet = "; ".join(f"{row['id']}: {reason}" for row in rejected for reason in row["failed_requirements"])
    refusal = {"error": "task_rejected", "message": unmet} if rejected else {}
    lines = [line for row in done for line in _lines(row)]
    of_runs = [row["id"] for row in done if kind_of(row["id"]) != "note"]
    then = steps.after(call, of_runs[-1]) if of_runs else []
    return call.show({**refusal, "done": done}, "\n".join(lines), then=then)


def _show_keys(call: Call, verb: str) -> None:
    from memento_git.verbs.batch import keys_of

    rows = keys_of(verb)
    told = [(row["name"], row["value"].replace("`", ""), "required" if row["required"] else "") for row in rows]
    call.show({"keys": rows}, lambda: "\n".join(output.columns(told)))


def _lines(row: Row) -> list[str]:
    told = [row["do"], row["id"], *([row["verdict"]] if "verdict" in row else [])]
    if row.get("proven") is not None:
        told.append(f"{row['task_id']} is {output.proof(row)}")
    return ["  ".join(told), *(f"  {reason}" for reason in row.get("failed_requirements", ()))]
