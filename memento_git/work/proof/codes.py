"""The code that evidence saw beside the code that another record, or a commit, names. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from posixpath import normpath
from typing import Any


def agree(evidence: Mapping[str, Any] | None, code: Mapping[str, Any]) -> bool:
    """Tell whether evidence saw the code that another record, or a commit, names."""
    if not evidence:
        return False
    if paths := evidence.get("paths"):
        there = code.get("paths") or {}
        return all(there.get(path) == blob for path, blob in paths.items())
    trees = {code.get("tree"), code.get("full")} - {None}
    return bool(trees & {evidence.get("tree"), evidence.get("full")}) and not edited(evidence, code)


def sober(code: Mapping[str, Any]) -> dict[str, Any]:
    """Return code without empty tables, paths of the ledger, or a tree of untracked files where it names none.

    Who writes by hand could name two codes, or bind evidence to paths and name none that is code.
    """
    more = code.get("untracked") or code.get("untracked_more")
    told = {**code, "paths": {path: blob for path, blob in (code.get("paths") or {}).items() if is_code(path)}}
    return {key: value for key, value in told.items() if value != {} and (more or key != "full")}


def is_code(path: str) -> bool:
    """Tell whether a path from the top, however it is spelled, is no part of the ledger, and does not hold it."""
    return normpath(path).split("/")[0] not in (".", ".memento")


def is_inside(path: str) -> bool:
    """Tell whether a path from the top leads to code of the repository, and not out of it."""
    return is_code(path) and normpath(path).split("/")[0] not in ("", "..")


def edited(evidence: Mapping[str, Any], code: Mapping[str, Any]) -> list[str]:
    """Return the untracked files that both sides know with different bytes; new and deleted ones do not count."""
    there = code.get("untracked") or {}
    return [path for path, blob in (evidence.get("untracked") or {}).items() if there.get(path, blob) != blob]


def code_seen(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the code that evidence with this content saw."""
    code = sober(data.get("code") or {})
    after = (data.get("code_after") or {}).get("untracked")
    if not after or "untracked" not in code:
        return code
    kept = {path: blob for path, blob in code["untracked"].items() if after.get(path, blob) == blob}
    return sober({**code, "untracked": kept})


def is_narrower(paths: Collection[str], others: Collection[str]) -> bool:
    """Tell whether evidence about these paths leaves out what other evidence is about; without paths that is all code.

    It takes no failure of that back.
    """
    return bool(paths) and not (others and {*others} <= {*paths})


def wholly(data: Mapping[str, Any]) -> str:
    """Return the tree of all code that evidence saw, untracked files too; nothing where it is not known."""
    code = code_seen(data)
    if code.get("untracked_more"):
        return str(code.get("full") or "")
    return str(code.get("full" if code.get("untracked") else "tree") or "")
