"""Lines of `.gitattributes` by which git hides changes of ledger files from review, or changes their bytes. Pure."""

from __future__ import annotations

from typing import Final

from memento_git.model.patterns import matches

SAMPLES: Final = (
    "config.yaml",
    "runs/run_000000000000/run.md",
    "runs/run_000000000000/20260101T000000000Z-passed-000000000000.yaml",
    "runs/run_000000000000/plans/plan_000000000000/plan.md",
    "runs/run_000000000000/tasks/0/task_000000000000/task.md",
    "runs/run_000000000000/tasks/0/task_000000000000/20260101T000000000Z-failed-000000000000.yaml",
    "runs/run_000000000000/evidence/0/evidence_000000000000.yaml",
    "knowledge/decisions/0/note_000000000000.md",
    "knowledge/decisions/0/note_000000000000/20260101T000000000Z-retired-000000000000.yaml",
)
MACRO: Final = "[attr]"
BINARY: Final = ("-diff", "-merge", "-text")
HARMLESS: Final = {
    "diff": ("diff", "!diff"),
    "merge": ("merge", "!merge", "merge=text"),
    "filter": ("-filter", "!filter"),
    "ident": ("-ident", "!ident"),
    "export-ignore": ("-export-ignore", "!export-ignore"),
    "working-tree-encoding": ("-working-tree-encoding", "!working-tree-encoding"),
    "eol": ("eol=lf", "-eol", "!eol"),
}
FOLDED: Final = ("linguist-generated", "gitlab-generated")


def harmful(text: str, folder: str) -> list[str]:
    """Return the lines of a file at the top ('') or in a folder that have git hide or change ledger files."""
    macros: dict[str, tuple[str, ...]] = {"binary": BINARY}
    found = []
    for line in text.splitlines():
        pattern, words = _split(line)
        if pattern.startswith(MACRO):
            macros[pattern.removeprefix(MACRO)] = tuple(words)
        elif pattern and _touches(pattern, folder) and any(_harms(word, macros) for word in words):
            found.append(line.strip())
    return found


def worse(before: str, after: str, folder: str) -> list[str]:
    """Return, as words, what a file does to the ledger that it did not do before."""
    known = harmful(before, folder)
    told = [f"it has {line!r} now" for line in harmful(after, folder) if line not in known]
    if folder:
        there = {line.strip() for line in after.splitlines()}
        lost = [line.strip() for line in before.splitlines() if line.strip() not in there]
        told += [f"{line!r} is gone" for line in lost if line and not any(word in line for word in FOLDED)]
    return told


def _split(line: str) -> tuple[str, list[str]]:
    """Return the pattern of a line and its attributes; nothing for a comment."""
    stripped = line.strip()
    if stripped.startswith("#"):
        return "", []
    if stripped.startswith('"'):
        pattern, _, rest = stripped[1:].partition('"')
        return pattern, rest.split()
    pattern, *words = stripped.split() or [""]
    return pattern, words


def _touches(pattern: str, folder: str) -> bool:
    """Tell whether a pattern may name a file of the ledger."""
    anchored = "/" in pattern.rstrip("/")
    asked = pattern.lstrip("/") if anchored else f"**/{pattern}"
    return any(matches(asked, path if folder else f".memento/{path}") for path in SAMPLES)


def _harms(word: str, macros: dict[str, tuple[str, ...]]) -> bool:
    name = word.lstrip("-!").partition("=")[0]
    if word in macros:
        return any(_harms(inner, {}) for inner in macros[word])
    return name in HARMLESS and word not in HARMLESS[name]
