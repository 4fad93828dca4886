"""memento export and memento import: knowledge in other forms, one table of them for each direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import naming, output, terminal
from memento_git.cli.boundary import Call, reads, writes
from memento_git.cli.machine_errors import FileSystemFailed
from memento_git.cli.options import Place, scoped
from memento_git.model.enumeration import grouped, many, some
from memento_git.model.exchange import DIGEST_TOKENS
from memento_git.model.knowledge import ORIGINS

if TYPE_CHECKING:
    from memento_git.knowledge.actions.note_bundles import Bundle
    from memento_git.knowledge.digest import Digest
    from memento_git.ledger.store import Ledger
    from memento_git.model.exchange import Brought, LeftOut

    Exporter = Callable[..., None]
    Importer = Callable[..., Brought]


def _export_jsonl(call: Call, out: Path | None, *, force: bool, **_: Any) -> None:
    from memento_git.knowledge.actions.note_bundles import export_bundle

    bundle = export_bundle(call.view())
    data = {"format": "jsonl", "notes": bundle.notes, "redacted": bundle.redacted}
    beside = f", and what is left of {bundle.redacted} redacted" if bundle.redacted else ""
    _written(call, out, bundle, data, f"{many(bundle.notes, 'note')}{beside}", force=force)


def _written(
    call: Call, out: Path | None, made: Bundle | Digest, data: dict[str, Any], what: str, *, force: bool
) -> None:
    """Write an export into a file, or print it; what was left out is said beside it."""
    data, told = {**data, "skipped": [one._asdict() for one in made.skipped]}, _left_out(made.skipped)
    if out is not None:
        from memento_git.ledger import outfile

        outfile.put(call.ledger, out, made.text.encode(), force=force)
        call.show({**data, "path": str(out)}, "\n".join([f"{what} in {output.printable(str(out))}", *told]))
        return
    for line in told:
        terminal.put(line, err=True)
    call.show({**data, "text": made.text}, made.text)


def _left_out(skipped: Sequence[LeftOut]) -> list[str]:
    """Return a line for each reason, with the first places of which it is true."""
    held = grouped((one.why, output.printable(one.where)) for one in skipped)
    return [f"left out: {some(places, NAMED)}: {output.printable(why)}" for why, places in held.items()]


def _export_agents(call: Call, out: Path | None, *, budget: int, force: bool, **_: Any) -> None:
    """Write the digest into the block of a file, or print it."""
    from memento_git.knowledge.actions.guidance import write_block
    from memento_git.knowledge.anchor_locations import AnchorLocations
    from memento_git.knowledge.digest import digest
    from memento_git.knowledge.foreign.files import place_of
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger import outfile

    if out is not None:
        outfile.refuse_nowhere(out)
        outfile.refuse_place(call.ledger, out)
    note_set = NoteSet(call.view())
    places = AnchorLocations(note_set, at_commit=bool(call.at))
    made = digest(note_set, budget or DIGEST_TOKENS, place_of(out, call.ledger.git.top) if out else "", places)
    data = {"format": "agents-md", "notes": len(made.notes)}
    if out is None:
        _written(call, None, made, data, "", force=force)
        return
    try:
        done = write_block(out, made.text, force=force)
    except OSError as error:
        raise FileSystemFailed(path=out, problem=error.strerror or type(error).__name__) from error
    word = "made" if done.made else "changed" if done.changed else "as it was"
    line = f"{many(len(made.notes), 'note')} in {output.printable(str(out))}: {word}"
    skipped = [one._asdict() for one in made.skipped]
    told = {**data, "skipped": skipped, "path": str(out), "changed": done.changed}
    call.show(told, "\n".join([line, *_left_out(made.skipped)]))


def _export_md(call: Call, out: Path | None, *, force: bool, **_: Any) -> None:
    from memento_git.knowledge.digest import document
    from memento_git.knowledge.note_set import NoteSet

    made = document(NoteSet(call.view()))
    data = {"format": "md", "notes": len(made.notes)}
    _written(call, out, made, data, many(len(made.notes), "note"), force=force)


MOST: Final = 20
NAMED: Final = 3
EXPORTERS: Final[dict[str, Exporter]] = {"jsonl": _export_jsonl, "agents-md": _export_agents, "md": _export_md}
FOLDERS: Final = ("markdown", "mnemo", "pmb")
FIRST: Final = 16  # bytes of a file that may be an export of ours
FORMS: Final = ("jsonl", "markdown", "claude-md", "mnemo", "memento-sqlite", "pmb")


@click.command("export")
@click.option("--format", "form", type=click.Choice(tuple(EXPORTERS)), default="jsonl", show_default=True,
              help="jsonl keeps all there is; agents-md is a digest; md a document.")  # fmt: skip
@click.option("--out", type=Place(path_type=Path, dir_okay=False), help="Write this file instead of printing.")
@click.option("--budget", type=click.IntRange(min=100), metavar="TOKENS", default=None,
              help=f"Most tokens of agents-md, {DIGEST_TOKENS} by default; it says what was left out.")  # fmt: skip
@click.option("--force", is_flag=True,
              help="Replace a file that holds something else; drop what somebody wrote into the block.")  # fmt: skip
@scoped
@reads
def export(call: Call, form: str, out: Path | None, **options: Any) -> None:
    """Export notes: all of them with their history, a digest, or one document.

    agents-md with --out writes a marked block into AGENTS.md or CLAUDE.md; the rest of the file stays as it is.
    """
    if options["budget"] and form != "agents-md":
        raise click.UsageError("--budget is for --format agents-md")
    if options["force"] and out is None:
        raise click.UsageError("--force is for --out")
    EXPORTERS[form](call, out, **options)


def _from_project(ledger: Ledger, project: str, names: Sequence[str], **options: Any) -> Brought:
    """Take single notes of another project's ledger."""
    from memento_git.knowledge.actions.fetching import fetch_notes
    from memento_git.ledger.store import Ledger
    from memento_git.projects import place_of

    with Ledger.open(place_of(project)) as other:
        return fetch_notes(ledger, other, names, **options)


@click.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--from", "form", type=click.Choice(FORMS), default=None,
              help="What SOURCE is: jsonl, our own export and the default; markdown a folder, also a vault of Obsidian "
              "or a project of basic-memory; claude-md a CLAUDE.md or AGENTS.md; mnemo its store; memento-sqlite the "
              "local memory server's file or JSON lines; pmb the events.sqlite of a workspace of PMB.")  # fmt: skip
@click.option("--from-project", default="", metavar="PROJECT",
              help="Each SOURCE is a note, by id or key, of another project: its folder or name.")  # fmt: skip
@click.option("--origin", type=click.Choice(ORIGINS), default=None, help="Say that its texts are less than they claim.")
@click.option("--dry-run", is_flag=True, help="Say what would come in; change nothing.")
@scoped
@writes
def import_(
    call: Call, sources: tuple[str, ...], form: str | None, from_project: str, origin: str | None, *, dry_run: bool
) -> None:
    """Import notes, in one commit; notes that are here already stay as they are.

    SOURCE is a file or folder, or - for our own export on standard input. With --from-project it is a note of another
    project, or several; one that is here already is refused.
    """
    bring: Importer
    if from_project:
        if form or origin:
            raise click.UsageError("--from and --origin are for files")
        bring = partial(_from_project, project=from_project, names=sources)
    else:
        bring = _from_source(sources, form or "jsonl", origin or "")
    taken = partial(bring, dry_run=dry_run)
    brought = taken(call.ledger) if dry_run else call.keep(taken)
    rows = {key: [one._asdict() for one in value] for key, value in brought._asdict().items()}
    told = {"from": "project" if from_project else form or "jsonl", "dry_run": dry_run, **rows}
    call.show(told, "\n".join(_brought(brought, naming.whose(), dry=dry_run)))


def _from_source(sources: tuple[str, ...], form: str, origin: str) -> Importer:
    """Return what takes in the one source that was given."""
    if len(sources) > 1:
        raise click.UsageError("give one file or folder")
    if sources[0] != "-":
        source = click.Path(path_type=Path, exists=True).convert(sources[0], None, None)
        if form == "jsonl" and (others := FOLDERS if source.is_dir() else _other_forms(source)):
            what = "a folder" if source.is_dir() else "no export of ours"
            raise click.UsageError(f"{source} is {what}: say of what, with --from {' or '.join(others)}")
        if form != "jsonl":
            from memento_git.knowledge.actions.importing import bring

            return partial(bring, form=form, source=source, origin=origin)
        from memento_git.knowledge.actions.note_bundles import import_bundle

        return partial(import_bundle, source=source, origin=origin)
    if form != "jsonl":
        raise click.UsageError("standard input is for --from jsonl alone")
    from memento_git.knowledge.actions.note_bundles import take_in
    from memento_git.knowledge.bundle import lines_of

    with click.open_file("-", "rb") as stream:
        lines = [*lines_of("standard input", stream)]
    return partial(take_in, lines=lines, origin=origin)


def _other_forms(source: Path) -> Sequence[str]:
    """Return the formats that a file may have by its beginning and its name; none where it may be our own."""
    if not source.is_file():  # what comes through a pipe is read once
        return ()
    from memento_git.knowledge.foreign import files

    if files.is_database(source):
        return "memento-sqlite", "pmb"
    if source.suffix.lower() != ".md":
        return ()
    with source.open("rb") as stream:
        return () if stream.read(FIRST).lstrip().startswith(b"{") else ("claude-md",)


def _brought(brought: Brought, whose: str, *, dry: bool) -> list[str]:
    counts = [f"{'would come' if dry else 'came'} in: {len(brought.added)}", f"there already: {len(brought.existing)}"]
    where = "" if dry else f" (memento session status{whose})"
    counts += [f"drafts: {len(brought.drafts)}{where}"] if brought.drafts else []
    lines = ["; ".join(counts), *(f" + {output.printable(one.title)}" for one in brought.added[:MOST] if dry)]
    lines += [f" and {len(brought.added) - MOST} more: --json names them"] if dry and len(brought.added) > MOST else []
    lines += [f" draft: {output.printable(one.title)}: {output.printable(one.why)}" for one in brought.drafts]
    return lines + [f" {line}" for line in _left_out(brought.skipped)]
