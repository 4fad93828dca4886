"""How well recall finds notes, on the labelled set of this repository, beside its peers. Prints a Markdown table."""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from recall_labels import ANSWERED, FOLDER, FURTHER, UNANSWERED, false_answers, judged, read_notes, read_questions
from recall_ours import by_meaning, ours, without_floor
from recall_peers import BASIC_MEMORY, WHOOSH, Installed, fts5, mnemo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recall_labels import Answer, Note, Question

    Engine = Callable[[Sequence[Note], Sequence[Question]], list[Answer] | None]

PAGE: Final = Path(__file__).parent.parent / "docs" / "benchmarks.md"
MARKS: Final = {
    "seen": ("<!-- recall: written by benchmarks/recall_quality.py -->", "<!-- /recall -->"),
    "further": ("<!-- recall-further: written by benchmarks/recall_quality.py -->", "<!-- /recall-further -->"),
}


class Row(NamedTuple):
    """What came of one engine."""

    name: str
    answers: list[Answer]


def engines(installed: Installed) -> dict[str, Engine]:
    """Return what is compared, by the name that it has in the table."""
    return {
        "ours": ours,
        "ours, if it never kept silent": without_floor,
        "ours with `semantic`": by_meaning,
        "SQLite FTS5 (porter)": fts5,
        "Whoosh, its query parser (all words)": partial(installed.whoosh, way="and"),
        "Whoosh, its query parser (any word)": partial(installed.whoosh, way="or"),
        "mnemo's published scoring": mnemo,
        "basic-memory": installed.basic_memory,
    }


def overall(rows: Sequence[Row], questions: Sequence[Question]) -> list[str]:
    """Return the table over all questions."""
    lines = [
        "| engine | recall@5 | recall@10 | MRR | known, nothing found | false answers | above a floor of its own |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        known = _of(row, questions, ANSWERED)
        unknown = [answer for _, answer in _of(row, questions, (UNANSWERED,))]
        scores = judged(*_apart(known))
        floored = any(answer.passing != len(answer.ids) for answer in row.answers)
        floor = f"{100 * false_answers(unknown, above_floor=True):.0f} %, and {100 * scores.empty_above_floor:.0f} % of"
        lines.append(
            f"| {row.name} | {100 * scores.recall5:.1f} | {100 * scores.recall10:.1f} | {100 * scores.mrr:.1f} "
            f"| {100 * scores.empty:.1f} % | {100 * false_answers(unknown, above_floor=False):.0f} % "
            f"| {floor + ' the known left out' if floored else 'none'} |"
        )
    return lines


def by_kind(rows: Sequence[Row], questions: Sequence[Question]) -> list[str]:
    """Return the table of recall@10 and MRR for each kind of question."""
    counts = {kind: sum(question.kind == kind for question in questions) for kind in ANSWERED}
    lines = [
        "| engine | " + " | ".join(f"{kind.replace('_', ' ')} ({number})" for kind, number in counts.items()) + " |",
        "|---|" + "---:|" * len(ANSWERED),
    ]
    for row in rows:
        scores = [judged(*_apart(_of(row, questions, (kind,)))) for kind in ANSWERED]
        cells = (f"{100 * score.recall10:.0f} / {100 * score.mrr:.0f}" for score in scores)
        lines.append(f"| {row.name} | " + " | ".join(cells) + " |")
    return lines


def _of(row: Row, questions: Sequence[Question], kinds: Sequence[str]) -> list[tuple[Question, Answer]]:
    pairs = zip(questions, row.answers, strict=True)
    return [(question, answer) for question, answer in pairs if question.kind in kinds]


def _apart(pairs: Sequence[tuple[Question, Answer]]) -> tuple[list[Question], list[Answer]]:
    return [question for question, _ in pairs], [answer for _, answer in pairs]


def write(lines: Sequence[str], marks: tuple[str, str]) -> None:
    """Put the tables between two marks of the page."""
    start, end = marks
    before, rest = PAGE.read_text(encoding="utf-8").split(start, 1)
    PAGE.write_text(before + start + "\n\n" + "\n".join(lines) + "\n\n" + end + rest.split(end, 1)[1], encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, help="folder for the peers, kept for the next run")
    parser.add_argument("--only", action="append", help="engines whose name holds this word; repeatable")
    parser.add_argument("--python", help="an interpreter of 3.12 or newer, for basic-memory")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    parser.add_argument("--further", action="store_true", help="the further sets, each by itself")
    options = parser.parse_args()
    folders = sorted(FURTHER.iterdir()) if options.further else [FOLDER]
    sets = [(read_notes(folder), read_questions(folder)) for folder in folders]
    questions = [question for _, asked in sets for question in asked]
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed((options.work or Path(folder)).resolve(), options.python)
        installed.folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for name, engine in engines(installed).items():
            if options.only and not any(word in name for word in options.only):
                continue
            told = [engine(notes, asked) for notes, asked in sets]
            answers = [answer for of_one in told for answer in of_one or ()]
            if None in told:
                print(f"{name}: cannot be run here", file=sys.stderr)
            else:
                rows.append(Row(_named(name, installed.versions), answers))
    lines = [*overall(rows, questions), "", "recall@10 / MRR for each kind of question:", "", *by_kind(rows, questions)]
    print("\n".join(lines))
    if options.write:
        write(lines, MARKS["further" if options.further else "seen"])


def _named(name: str, versions: dict[str, str]) -> str:
    package = WHOOSH if name.startswith("Whoosh") else BASIC_MEMORY[0] if name == BASIC_MEMORY[0] else ""
    return (
        name.replace("Whoosh", f"Whoosh ({package} {versions[package]})")
        if package == WHOOSH
        else (f"{name} {versions[package]}" if package else name)
    )


if __name__ == "__main__":
    main()
