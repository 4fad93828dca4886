"""The page of findings: every code that the package can report, with its remedy."""

from __future__ import annotations

import ast
from pathlib import Path

import memento_git
from docs.generator.words import table, whole_page
from memento_git.model.finding import LETTERS
from memento_git.review.catalogue import CATALOGUE


def known_codes() -> set[str]:
    """Return every finding code that stands in the package's source."""
    found = set()
    for path in Path(memento_git.__path__[0]).rglob("*.py"):
        if path.name.startswith("catalogue"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_code(node.value):
                found.add(node.value)
    return found


def is_code(text: str) -> bool:
    return len(text) == 4 and text[0] in LETTERS and text[1:].isdigit()


def page() -> str:
    intro = (
        "A finding is something wrong in the ledger, as data: code, severity, path, line, message, remedy. Findings "
        "never stop a reading; a broken file is left out and named. `memento check` lists them all, `memento doctor` "
        "those of the tree, `memento status` shows the first five.\n\n"
        "F: files. S: secrets. A: archives. E: events that could not be folded. R: redaction. T: states. L: links. "
        "N: notes. Q: recipes. V: evidence. P: proof and policy. G: gates. C: the branch and its commits. D: what a "
        "branch did to its base.\n\nAn error fails `memento check` (exit code 5), a warning does not, unless "
        "policy names its code (`check.errors`): then it is an error there. With `--base` what "
        "a branch adds is judged by the base's policy: what is a warning for older work is an error for it. "
        "In a run that was completed or cancelled nothing but settling moves a record any more: there the remedy of "
        "P001, P004, G001 and the like is to leave the commit that did it out of the branch; what is older stays as it "
        "is, and what is missing is for a further run. "
        "Each code has the smallest ledger that shows it in `tests/specimens/`."
    )
    rows = [
        (f"`{code}`", kind.severity, kind.title, kind.meaning, kind.fix) for code, kind in sorted(CATALOGUE.items())
    ]
    troubles = table(("word", "meaning", "remedy"), [
        ("contested", "Events that had not seen one another disagree on one part of a record.",
         "`memento settle RECORD --keep EVENT --reason WHY`"),
        ("illegal", ("An event that the transition table did not allow when it was written: by hand, or by another "
         "tool. It has no effect."),
         "Restore the file where it was edited, else `memento settle --void EVENT --reason WHY`"),
        ("incomplete", "An event names something that is absent, unreadable or changed: E001 to E003.",
         "Restore the file; where no history has it, `memento settle --void EVENT --reason WHY`"),
        ("cycle", "Tasks depend on each other in a circle, each half of which came from another branch.",
         "`memento task revise TASK --depends-on ...`, without one of them"),
    ])  # fmt: skip
    return whole_page(
        "Findings", intro, table(("code", "severity", "title", "meaning", "remedy"), rows), "## What needs settling",
        "`memento settle` lists these, each with the commands that settle it.", troubles,
    )  # fmt: skip
