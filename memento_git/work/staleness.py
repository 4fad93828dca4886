"""What evidence is stale: it is of other code than the commit that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memento_git.folding.rows import Row
    from memento_git.ledger.view import View


def mark_stale(view: View, evidence: list[Row], tasks: list[Row]) -> list[str]:
    """Say of each piece of evidence whether it saw the code of this view; return those that did not.

    And which files that git did not track it saw beside that, and this view does not have as they were.
    """
    bound = [row for row in evidence if row["code"] and row["status"] == "recorded"]
    if not bound or len(view.commits) != 1:
        return []
    from memento_git.work import codes, codestate

    paths = sorted({path for row in bound for key in ("paths", "untracked") for path in row["code"].get(key, ())})
    code = codestate.code_at(view.git, view.commits[0], paths)
    there = code.get("paths", {})
    stale = []
    for row in bound:
        row["stale"] = not codes.agree(row["code"], code)
        row["beside"] = [path for path, blob in row["code"].get("untracked", {}).items() if there.get(path) != blob]
        if row["stale"]:
            stale.append(row["id"])
    for task in tasks:
        task["stale"] = bool(task["proven_by"]) and all(name in stale for name in task["proven_by"])
    return stale
