"""memento recipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

import click

from memento_git.cli import output, terminal
from memento_git.cli.boundary import Call, both, group, reads, writes
from memento_git.cli.options import paged
from memento_git.model.enumeration import many

if TYPE_CHECKING:
    from memento_git.model.rows import Row


def _line(row: Row) -> Sequence[str]:
    taken = " ".join(f"[{one['name']}]" if one["optional"] else one["name"] for one in row["parameters"] or ())
    labels = ["built in"] if row["built_in"] else []
    labels += [f"writes with --apply: {', '.join(row['writes'])}"] if row["writes"] else []
    labels += [f"broken: {output.printable(row['problem'])}"] if row["problem"] else []
    about = output.printable(row["about"] or "")
    return row["name"], taken, f"{about} ({'; '.join(labels)})" if labels else about


recipe = group("recipe", "Save and run queries over notes, built of steps.")


@recipe.command("list")
@reads
def list_all(call: Call) -> None:
    """List recipes: those of the tool and those of the ledger."""
    from memento_git.knowledge.actions.recipes import list_recipes

    found = list_recipes(call.view())
    call.show({"recipes": found}, lambda: "\n".join(output.columns(_line(row) for row in found)))


@recipe.command("show")
@click.argument("name")
@reads
def show(call: Call, name: str) -> None:
    """Show a recipe as its file says it."""
    from memento_git.knowledge.actions.recipes import show_recipe

    row = show_recipe(call.view(), name)
    call.show({"recipe": row}, terminal.clean(row["text"]))


@recipe.command("save")
@click.argument("name")
@click.argument("file", type=click.File("rb"))
@click.option("--replace", is_flag=True, help="Put it in the place of another one of this name.")
@writes
def save(call: Call, name: str, file: BinaryIO, *, replace: bool) -> None:
    """Save the recipe in a YAML FILE (- for standard input) under its NAME, in one commit."""
    from memento_git.knowledge.actions.recipes import save_recipe
    from memento_git.model.recipes import LARGEST

    text = file.read(LARGEST + 1)
    row = call.change("recipe save", lambda tx: save_recipe(tx, name, text, replace=replace))
    writing = f"\n with --apply it writes: {', '.join(row['writes'])}" if row["writes"] else ""
    call.show({"recipe": row}, f"saved: {name}{writing}")


@recipe.command("learn")
@click.argument("thread")
@click.option("--name", default="", metavar="NAME", help="Its name; what the thread's name makes by default.")
@click.option("--replace", is_flag=True, help="Put it in the place of another one of this name.")
@click.option("--dry-run", is_flag=True, help="Show it and how it did; save nothing.")
@writes
def learn(call: Call, thread: str, name: str, *, replace: bool, dry_run: bool) -> None:
    """Draft a recipe that finds the notes of a THREAD again, and their like, and save it in one commit.

    A few drafts are tried at once, built of what sets these notes apart: tags, keys, kinds, domains, places in the
    code, words, links. The one that finds most of them and fewest others is taken, of equal ones the simplest.
    """
    from memento_git.knowledge.actions import learning

    if dry_run:
        told = learning.learn_recipe(call.view(), thread, name)
    else:
        told = call.change("recipe learn", lambda tx: learning.save_learnt(tx, thread, name, replace=replace))
    others = f", and {many(told['others'], 'other')}" if told["others"] else ", and no other"
    lines = [terminal.clean(told["text"])] if dry_run else [f"saved: {told['name']}"]
    lines.append(f" it finds {told['found']} of {told['notes']} notes of the thread{others}")
    lines.append(f" the best of {len(told['tried'])} drafts that were tried")
    call.show({"recipe": told, "saved": not dry_run}, "\n".join(lines))


@recipe.command("remove")
@click.argument("name")
@writes
def remove(call: Call, name: str) -> None:
    """Remove a recipe of the ledger, in one commit."""
    from memento_git.knowledge.actions.recipes import remove_recipe

    gone = call.change("recipe remove", lambda tx: remove_recipe(tx, name))
    call.show({"removed": gone}, f"removed: {gone}")


@recipe.command("run")
@click.argument("name")
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1)
@click.option("--apply", "applied", is_flag=True, help="Write what its sinks say, in one commit.")
@paged
@both
def run(call: Call, name: str, values: tuple[str, ...], limit: int, offset: int, *, applied: bool) -> None:
    """Run a recipe: show the notes that it finds, and what it would write; only with --apply is anything written."""
    from memento_git.knowledge.actions.recipes import run_recipe

    if applied:
        call.refuse_at()
    given = {}
    for one in values:
        key, sign, value = one.partition("=")
        if not sign or key in given:
            raise click.UsageError(f"{one!r:.80}: write NAME=VALUE, each name once, as recipe show tells them")
        given[key] = value
    told = run_recipe(call.ledger, name, given, at=call.at, apply=applied)
    shown, page = output.page(told["notes"], limit, offset)
    call.show(
        {**told, "notes": list(shown), "page": page}, lambda: "\n".join(_told(call, told, shown, page, applied=applied))
    )


def _told(call: Call, told: Row, shown: Sequence[Row], page: dict[str, int], *, applied: bool) -> list[str]:
    names = output.Names(call.view())
    lines = output.columns(
        (names(row["id"]), row["kind"], output.state(row["status"]), _labelled(row, names)) for row in shown
    )
    left = [f" {_step(one)}" for one in told["steps"] if one["left_out"] or one["skipped"]]
    wrote = "wrote" if applied else "would write, with --apply"
    writes_ = [f"{wrote}: {_write(one, names)}" for one in told["writes"]]
    return [*(lines or ["no notes"]), *([more] if (more := output.more(page)) else []), *left, *writes_]


def _labelled(row: Row, names: output.Names) -> str:
    labels = [
        *output.marks(row), *([row["validity"]] if row["validity"] else []),
        *([f"origin {row['origin']}"] if row["origin"] != "person" else []),
        *(["reads like orders"] if row["orders"] else []), *(["perhaps not about this"] if row["weak"] else []),
        *(f"contradicted by {names(one)}" for one in row["contradicted_by"]),
        *(f"{output.printable(one['place'])} {one['state']}" for one in row["places"] or ()),
    ]  # fmt: skip
    return output.printable(row["title"]) + (f"  [{'; '.join(labels)}]" if labels else "")


def _step(row: Row) -> str:
    part = f", part {row['part']}" if row["part"] else ""
    where = f"{row['recipe']}{part}: {row['do']}"
    return f"{where} is skipped: {row['skipped']}" if row["skipped"] else f"{where} left out {row['left_out']}"


def _write(row: Row, names: output.Names) -> str:
    of = many(len(row["of"]), "note")
    if row["do"] == "link":
        return f"{of} linked: {row['rel']} {names(row['to'])}"
    if row["existing"]:
        return f"nothing: {names(row['existing'])} says it already"
    made = f"{names(row['note'])}  " if row["note"] else ""
    verb = "merged into" if row["do"] == "compress" else "summed up in"
    return f"{of} {verb} {made}{output.printable(row['title'])}"
