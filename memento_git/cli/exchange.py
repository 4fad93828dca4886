"""memento export and memento import: knowledge in other forms, one table of them for each direction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import output
from memento_git.cli.boundary import Door, reads, scoped, writes
from memento_git.model.knowledge import ORIGINS

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.model.exchange import Brought

    Exporter = Callable[..., None]
    Importer = Callable[..., Brought]


def _export_jsonl(door: Door, out: Path | None, **_: Any) -> None:
    from memento_git.knowledge.actions.bundles import export_bundle

    bundle = export_bundle(door.view())
    data = {"format": "jsonl", "notes": bundle.notes, "skipped": [one._asdict() for one in bundle.skipped]}
    told = [f"left out: {output.printable(one.where)}: {output.printable(one.why)}" for one in bundle.skipped]
    written(door, out, bundle.text, data, f"{bundle.notes} notes", told)


def written(door: Door, out: Path | None, text: str, data: dict[str, Any], what: str, told: list[str]) -> None:
    """Write an export into a file, or print it; what was left out is said beside it."""
    if out is not None:
        out.write_text(text, encoding="utf-8", newline="\n")
        door.show({**data, "path": str(out)}, "\n".join([f"{what} in {output.printable(str(out))}", *told]))
        return
    for line in told:
        click.echo(line, err=True)
    door.show({**data, "text": text}, text)


def _import_jsonl(door: Door, source: Path, *, dry_run: bool, origin: str, **_: Any) -> Brought:
    from memento_git.knowledge.actions.bundles import import_bundle

    return import_bundle(door.ledger, source, dry_run=dry_run, origin=origin, allow_secrets=door.allow_secrets)


EXPORTERS: Final[dict[str, Exporter]] = {"jsonl": _export_jsonl}
IMPORTERS: Final[dict[str, Importer]] = {"jsonl": _import_jsonl}


@click.command("export")
@click.option("--format", "form", type=click.Choice(tuple(EXPORTERS)), default="jsonl", show_default=True,
              help="jsonl keeps all there is of each note.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write this file instead of printing.")
@scoped
@reads
def export(door: Door, form: str, out: Path | None, **options: Any) -> None:
    """Give knowledge out: all notes of the ledger, with what happened to them."""
    EXPORTERS[form](door, out, **options)


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option("--from", "form", type=click.Choice(tuple(IMPORTERS)), default="jsonl", show_default=True,
              help="What SOURCE is: jsonl is our own export.")  # fmt: skip
@click.option("--origin", type=click.Choice(ORIGINS), default=None, help="Say that its texts are less than they claim.")
@click.option("--dry-run", is_flag=True, help="Say what would come in; change nothing.")
@scoped
@writes
def import_(door: Door, source: Path, form: str, **options: Any) -> None:
    """Take knowledge in, in one commit; what is there already stays as it is."""
    door.makes = not options["dry_run"]
    brought = IMPORTERS[form](door, source, **{**options, "origin": options["origin"] or ""})
    dry = bool(options["dry_run"])
    counts = [f"{'would come' if dry else 'came'} in: {len(brought.added)}", f"there already: {len(brought.existing)}"]
    counts += [f"drafts: {len(brought.drafts)}"] if brought.drafts else []
    lines = ["; ".join(counts), *(f" + {output.printable(one.title)}" for one in brought.added[:20] if dry)]
    lines += [f" draft: {output.printable(one.title)}: {output.printable(one.why)}" for one in brought.drafts]
    lines += [f" left out: {output.printable(one.where)}: {output.printable(one.why)}" for one in brought.skipped]
    rows = {key: [one._asdict() for one in value] for key, value in brought._asdict().items()}
    door.show({"from": form, "dry_run": dry, **rows}, "\n".join(lines))
