"""diff of the other files of the ledger: what differs below `.memento`, and of which nothing else is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memento_git.ledger import layout, policyfile, tree_diff

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.tree_diff import Changed
    from memento_git.model.rows import Row

TEXTS = ("run", "plan", "task", "note")


class Told(NamedTuple):
    """What a diff tells: of which paths, of which runs and new evidence, of whose texts, and of which notes."""

    paths: set[str]
    records: set[str]
    texts: set[str]
    notes: set[str]


def with_files(ledger: Ledger, told: Row) -> Row:
    """Return a diff with the files that differ beside what happened to runs and notes."""
    changed = [one for tip in told["tips"] for one in tree_diff.from_bases(ledger.git, told["bases"], tip)[0]]
    skipped = _told(ledger, told)
    found = {one.path: _row(one) for one in changed if not _is_told(one, skipped)}
    files = [found[path] for path in sorted(found)]
    return {**told, "counts": {**told["counts"], "files": len(files)}, "files": files}


def _row(one: Changed) -> Row:
    return {"path": one.path, "change": "added" if one.is_added else "removed" if one.is_removed else "changed"}


def _told(ledger: Ledger, told: Row) -> Told:
    rows = [*told["knowledge"], *told["runs"], *(row for run in told["runs"] for row in (*run["plans"], *run["tasks"]))]
    judge = ledger.side((told["judged_by"],))
    new = {row["id"] for run in told["runs"] for row in run["evidence"] if row["change"] == "added"}
    return Told(
        {layout.CONFIG, *(policyfile.ruling(judge)[0].key_files if judge.exists else ())},
        {*new, *(run["id"] for run in told["runs"])},
        {row["id"] for row in rows if row["texts"] or row["change"] != "changed"},
        {row["id"] for row in told["knowledge"]},
    )


def _is_told(one: Changed, told: Told) -> bool:
    """Tell whether a diff speaks of a file: of an event or evidence it does, of an archive by its run.

    Of a new event of a note it does with that, so not where nobody can read the note. Of what evidence keeps it does by
    the evidence, where that is new; of a text that is new even where nobody can read it, unless that is a note's.
    """
    place = layout.place_of(one.path)
    if not one.path.startswith(f"{layout.FOLDER}/") or one.path in told.paths:
        return True
    if layout.is_archive(one.path):
        return layout.run_of_path(one.path) in told.records
    if place is not None and place.kind == "attachment" and one.is_added:
        return place.id in told.records
    if one.is_added and place is not None and place.kind == "event" and place.of.startswith("note_"):
        return place.of in told.notes
    if place is None or place.kind not in TEXTS:
        return place is not None
    is_shown = one.is_removed or one.old == one.new or (one.is_added and place.kind != "note")
    return is_shown or place.id in told.texts
