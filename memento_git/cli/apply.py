"""memento apply."""

from __future__ import annotations

from typing import BinaryIO

import click

from memento_git.cli.boundary import Door, writes


@click.command()
@click.argument("file", type=click.File("rb"))
@writes
def apply(door: Door, file: BinaryIO) -> None:
    """Do a list of verbs from a YAML FILE (- for standard input) in one commit.

    Each entry has `do` (such as `task add`), the verb's options, and may have `as: name`; `$name` stands for its id
    in later entries.
    """
    from memento_git.verbs import batch

    text = file.read(batch.LARGEST + 1)
    done = door.change("apply", lambda tx: batch.apply(tx, text))
    door.show({"done": done}, "\n".join(f"{row['do']}  {row['id']}" for row in done))
