"""Lines of the code that match an expression, those files first that notes point to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.overlay import Overlay, brief_row
from memento_git.knowledge.recall import search
from memento_git.ledger import layout, snapshots
from memento_git.ledger.grep import Grep, Line
from memento_git.model.patterns import matches

if TYPE_CHECKING:
    from memento_git.model.rows import Row

MOST_LINES: Final = 15
LONGEST: Final = 300
ASKED: Final = 50
MOST_FILES: Final = 200


def grep(
    overlay: Overlay, regex: str, *, intent: str = "", glob: str = "", path: str = "", limit: int = 20,
    ignore_case: bool = False,
) -> Row:  # fmt: skip
    """Return the lines that match, of as many files as are asked for; what is left out is counted."""
    reader = overlay.follower.reader
    folder = overlay.folder(path)
    tree, away = reader.here(overlay.now)
    one = Grep(reader.git, tree, regex, ignore_case=ignore_case)
    counts = {
        name: count for name, count in one.counts(folder).items()
        if not name.startswith(f"{layout.FOLDER}/") and (not glob or fits(glob, name))
    }  # fmt: skip
    answers = _answers(overlay, intent) if intent else {}
    ranked = _ranked(overlay, counts, answers)
    chosen = ranked[: min(limit or MOST_FILES, MOST_FILES)]
    sizes = reader.sizes(overlay.now.blob(name) for name in chosen)
    small = [name for name in chosen if sizes.get(overlay.now.blob(name), snapshots.LARGEST + 1) <= snapshots.LARGEST]
    lines = one.lines(small)
    return {
        "code": overlay.code(), "regex": regex, "engine": one.engine,
        "files": [_row(overlay, name, counts[name], lines.get(name, []), answers) for name in chosen],
        "matches": sum(counts.values()), "files_total": len(counts), "files_omitted": len(counts) - len(chosen),
        "files_away": sum(not glob or fits(glob, name) for name in {*away}.intersection(overlay.below(folder))),
    }  # fmt: skip


def fits(glob: str, path: str) -> bool:
    """Tell whether a pattern names a path; one without a folder names files in any."""
    return matches(glob if "/" in glob else f"**/{glob}", path)


def _answers(overlay: Overlay, intent: str) -> dict[str, int]:
    """Return the notes that answer a question, with their places among the answers."""
    found = search(overlay.note_set.view, [intent], limit=ASKED, keep=lambda header: header.kind == "note")
    return {header.id: place for place, (header, _) in reversed(list(enumerate(found.told())))}


def _ranked(overlay: Overlay, counts: dict[str, int], answers: dict[str, int]) -> list[str]:
    """Return the files in order: what answers the intent is about, what other notes are about, the rest."""

    def key(path: str) -> tuple[int, int, int, str]:
        notes = overlay.notes_at(path)
        best = min((answers[note] for note in notes if note in answers), default=len(answers))
        return best, -len(notes), -counts[path], path

    return sorted(counts, key=key)


def _row(overlay: Overlay, path: str, count: int, lines: Sequence[Line], answers: dict[str, int]) -> Row:
    shown = [
        {"line": line.number, "text": line.text[:LONGEST], "cut": len(line.text) > LONGEST}
        for line in lines[:MOST_LINES]
    ]
    notes = [brief_row(overlay.note_set, one) for one in overlay.at(path)]
    return {
        "path": path, "matches": count, "lines": shown, "omitted": count - len(shown),
        "notes": sorted(notes, key=lambda row: answers.get(row["id"], len(answers))),
        "answers_intent": any(row["id"] in answers for row in notes),
    }  # fmt: skip
