"""How one file of the ledger came to be, as git tells it: who wrote which line, and what each commit changed."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import layout

if TYPE_CHECKING:
    from memento_git.ledger.view import View

END: Final = "\x1e"
HEAD: Final = re.compile(r"[0-9a-f]{40,64} \d+ (\d+)")
MOST_PATCH: Final = 20_000
TOLD: Final = "%H%x1f%an <%ae>%x1f%cI%x1f%s"
KEYS: Final = ("commit", "author", "date", "subject")


def blame(view: View, path: str) -> list[dict[str, Any]]:
    """Return each line of a file with the commit that it is from, its author and date."""
    if not view.commits or not view.files.get(path):
        return []
    lines = view.git.run("blame", "--no-textconv", "--line-porcelain", view.commits[0], "--", path)
    rows: list[dict[str, Any]] = []
    row: dict[str, Any] = {}
    for line in lines.decode(errors="replace").split("\n"):
        if line.startswith("\t"):
            rows.append({**row, "text": line[1:]})
        elif (found := HEAD.match(line)) is not None:
            row = {"line": int(found[1]), "commit": line.partition(" ")[0]}
        elif line.startswith(("author ", "author-time ")):
            key, _, value = line.partition(" ")
            row |= {"author": value} if key == "author" else {"time": int(value)}
    return rows


def revisions(view: View, path: str) -> list[dict[str, Any]]:
    """Return the commits that changed a file, the latest first, each with its patch; a long one is cut."""
    if not view.commits or not view.files.get(path):
        return []
    told = view.git.run(
        "log", "-p", "--no-color", "--no-ext-diff", "--no-textconv", f"--format={END}{TOLD}",
        view.commits[0], "--", path,
    )  # fmt: skip
    rows = []
    for part in os.fsdecode(told).split(END)[1:]:
        head, _, patch = part.partition("\n")
        patch = patch.strip("\n")[:MOST_PATCH].encode(errors="surrogateescape").decode(errors="replace")
        rows.append({**_told(head), "patch": patch})
    return rows


def changed(view: View, path: str) -> list[dict[str, Any]]:
    """Return the commits that changed a file since it was added, the first one first; a shallow clone has fewer."""
    if not view.commits or not view.files.get(path):
        return []
    told = view.git.run("log", "--reverse", "--diff-filter=M", f"--format={TOLD}", view.commits[0], "--", path)
    return [_told(line) for line in os.fsdecode(told).split("\n") if line]


def _told(line: str) -> dict[str, Any]:
    return dict(zip(KEYS, line.split("\x1f", 3), strict=True))


def first_texts(view: View, paths: Collection[str]) -> dict[str, bytes]:
    """Return files of notes as the commits that added them had them; those whose history is not here are left out."""
    if not view.commits or not paths:
        return {}
    told = view.git.run(
        "log", "--diff-filter=A", "--no-renames", "--name-only", f"--format={END}%H", view.commits[0], "--",
        layout.KNOWLEDGE,
    )  # fmt: skip
    added: dict[str, str] = {}
    for part in os.fsdecode(told).split(END)[1:]:
        commit, _, names = part.partition("\n")
        added.update({name: commit for name in names.split("\n") if name in paths})
    texts = view.git.objects(f"{commit}:{path}" for path, commit in added.items())
    return {path: text for path, text in zip(added, texts, strict=True) if text is not None}
