"""memento projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli import output
from memento_git.cli.boundary import Call, bare, group

if TYPE_CHECKING:
    from memento_git.projects import Project


projects = group(
    "projects",
    "List the projects that you have given names, and give names: --project and --from-project take these.\n\n"
    "The list is yours, in your data folder. A project is put on it only by memento projects add.",
    of_ledger=False,
)


@projects.command("list")
@bare
def list_all(call: Call) -> None:
    """List the projects that you have given names, and whether their ledgers are there."""
    from memento_git import projects as known

    found = known.projects()
    lines = output.columns((one.name, output.state(one.state), output.printable(one.path)) for one in found)
    call.show(
        {"projects": [one._asdict() for one in found]}, "\n".join(lines) or "no projects: memento projects add PATH"
    )


@projects.command("add")
@click.argument("path")
@click.option("--name", default="", metavar="NAME", help="Its name; that of its repository by default.")
@bare
def add(call: Call, path: str, name: str) -> None:
    """Put the project in a folder on your list."""
    from memento_git import projects as known

    _show(call, known.add_project(path, name), "added")


@projects.command("remove")
@click.argument("name")
@bare
def remove(call: Call, name: str) -> None:
    """Take a project off your list; nothing of it changes."""
    from memento_git import projects as known

    _show(call, known.remove_project(name), "removed")


def _show(call: Call, one: Project, verb: str) -> None:
    call.show({"project": one._asdict()}, f"{verb}: {one.name}  {output.printable(one.path)}")
