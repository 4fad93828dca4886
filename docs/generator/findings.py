"""The page of findings: every code that the package can report, with its remedy."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import memento_git
from docs.generator.words import page as whole_page
from docs.generator.words import table

MEANINGS: Final = {
    "F001": (("A file cannot be read: not YAML of the ledger's kind, no front matter, too large, a merge conflict left "
             "in it, or an object that git does not have."),
             "Repair it, or restore it: `git checkout REV -- PATH`. In a partial clone, fetch."),
    "F002": ("A key or value that the file's schema does not allow; the line is named.",
             "Correct it by [formats.md](formats.md), or restore the file."),
    "F003": ("A file says another id, verb, time or record than its own path.",
             "Restore the file, or move it back where it belongs."),
    "F004": ("Something that is not a plain file, such as a symbolic link, below `.memento`.", "`git rm` it."),
    "F005": ("`config.yaml` names a format version that this tool does not know.", "Install a newer memento-git."),
    "F006": ("Two revisions, or an archive and the tree, hold different bytes for a file that never changes.",
             "Find which one was edited: `git log -- PATH`; restore the other."),
    "F007": ("A record has events, but the file with its text is missing.",
             "Restore it: `git log --diff-filter=D --stat -- .memento` shows where it went."),
    "F008": (
        "Two files carry one id, or two runs hold the same record: a file was copied.",
        "An id belongs to one file: `git rm` the copy.",
    ),
    "A001": ("An archive's bytes do not have the digest that is its name.", "Restore the archive from git."),
    "A002": ("An archive cannot be unpacked.", "Restore the archive from git."),
    "A003": ("An archive holds a path that is not a file of its run.", "Restore the archive from git."),
    "E001": (
        "The file of an event cannot be read; what names it is *incomplete*.",
        "Repair the file or restore it from git; the F finding beside it tells the line.",
    ),
    "E002": ("An event names another in `after` that is absent; it is not folded, its record is *incomplete*.",
             "Restore the absent event, or void this one: `memento settle --void EVENT --reason WHY`."),
    "E003": ("An event names another in `after` by a digest that is not that file's: one of the two was edited.",
             "Restore the edited file, or void the event: `memento settle --void EVENT --reason WHY`."),
    "S001": (("An approval or a verdict lacks the signature that policy demands: it has none, or one that is not good, "
              "or of somebody whom policy does not name."),
             "Whoever may sign does it again with `--sign`; see [trust-model.md](../trust-model.md)."),
    "S002": (("A signature that nothing demands is not good: it is for other bytes, of somebody else, of a key that "
              "was revoked or not valid then. A key that is not known here is a warning."),
             "Restore the file as it was signed, or add the key to the allowed signers."),
}  # fmt: skip
LETTERS: Final = "FAES"


def known_codes() -> set[str]:
    """Return every finding code that stands in the package's source."""
    found = set()
    for path in Path(memento_git.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_code(node.value):
                found.add(node.value)
    return found


def is_code(text: str) -> bool:
    return len(text) == 4 and text[0] in LETTERS and text[1:].isdigit()


def page() -> str:
    intro = (
        "A finding is something wrong in the ledger, as data: code, path, line, message, remedy. Findings never stop a "
        "reading; a broken file is left out and named. `memento status` shows the first five, `memento doctor` all.\n\n"
        "F: files. A: archives. E: events that could not be folded (`status` shows them as *incomplete*)."
    )
    rows = [(f"`{code}`", meaning, remedy) for code, (meaning, remedy) in MEANINGS.items()]
    troubles = table(("word", "meaning", "remedy"), [
        ("contested", "Events that had not seen one another disagree on one part of a record.",
         "`memento settle RECORD --keep EVENT --reason WHY`"),
        ("illegal", ("An event that the transition table did not allow when it was written: by hand, or by another "
         "tool. It has no effect."), "`memento settle --void EVENT --reason WHY`"),
        ("incomplete", "An event names something that is absent, unreadable or changed: E001 to E003.",
         "Restore the file, or `memento settle --void EVENT --reason WHY`"),
        ("cycle", "Tasks depend on each other in a circle, each half of which came from another branch.",
         "`memento task revise TASK --depends-on ...`, without one of them"),
    ])  # fmt: skip
    return whole_page(
        "Findings", intro, table(("code", "meaning", "remedy"), rows), "## What needs settling",
        "`memento settle` lists these, each with the commands that settle it.", troubles,
    )  # fmt: skip
