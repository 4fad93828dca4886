"""Tasks that a graph suggests: drafts for people to read, change, and apply or drop. Pure."""

from __future__ import annotations

from posixpath import commonpath, dirname
from typing import TYPE_CHECKING, Final

from memento_git.model.enumeration import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memento_git.model.rows import Row

MOST_OF_A_KIND: Final = 10
LONG_CYCLE: Final = 5
LEAST_NEIGHBOURS: Final = 4
MOSTLY: Final = 0.8


def propose(held: Row, is_fit: Callable[[str], bool]) -> tuple[list[Row], int]:
    """Return proposals of tasks from a snapshot, and how many more there would be."""
    kinds = [
        [_cycle(cycle) for cycle in held["cycles"] if all(map(is_fit, cycle))],
        [_hot_spot(row, held["edges"]) for row in held["hot_spots"] if is_fit(row["path"])],
        [row for group in held["communities"] for row in _strays([path for path in group if is_fit(path)])],
    ]
    shown = [row for rows in kinds for row in rows[:MOST_OF_A_KIND]]
    return shown, sum(map(len, kinds)) - len(shown)


def _task(basis: str, title: str, body: str, criteria: str, files: Iterable[str], risk: str) -> Row:
    named = [path for path in files if path != "./"]
    return {
        "basis": basis, "title": title, "body": body, "criteria": [criteria], "files": named, "kind": "refactor",
        "risk": risk,
    }  # fmt: skip


def _cycle(cycle: list[str]) -> Row:
    told = "\n".join(f"- {path} imports {other}" for path, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    title = f"Break the import cycle of {cycle[0]} and {cycle[1]}"
    if len(cycle) > 2:
        title = f"Break the import cycle of {len(cycle)} files around {cycle[0]}"
    return _task(
        "cycle", title, f"These files import one another in a circle:\n\n{told}\n\nOne of these imports must go.",
        "memento graph status lists no cycle of these files", cycle,
        "high" if len(cycle) > LONG_CYCLE else "medium",
    )  # fmt: skip


def _hot_spot(row: Row, edges: dict[str, list[str]]) -> Row:
    path = row["path"]
    users = sorted(other for other, found in edges.items() if path in found)
    body = (
        f"{row['fan_in']} files import {path}, and it imports {row['fan_out']}: a change of any of those reaches all "
        f"of these. Look for parts that few of its users need.\n\n## Imported by\n\n"
        + "\n".join(f"- {user}" for user in users[:20])
    )
    return _task(
        "hot_spot", f"Take apart {path}, which {row['fan_in']} files import", body,
        f"fewer files import {path}, or it imports fewer", [path], "high",
    )  # fmt: skip


def _strays(group: list[str]) -> list[Row]:
    """Return what should move: a file of a community whose others are nearly all in one folder elsewhere."""
    folders = grouped((dirname(path.rstrip("/")), path) for path in group)
    home = max(folders, key=lambda folder: (len(folders[folder]), folder))
    if not home or len(folders[home]) < max(LEAST_NEIGHBOURS, MOSTLY * len(group)):
        return []
    away = [path for path in group if dirname(path.rstrip("/")) != home and not _near(path, home)]
    return [
        _task(
            "community", f"Move {path} to {home}, or cut its ties to it",
            f"{path} imports and is imported mostly together with {len(folders[home])} files in {home}, "
            "and lies elsewhere.",
            f"{path} lies where the files lie that it works with", [path], "low",
        )
        for path in sorted(away)
    ]  # fmt: skip


def _near(path: str, home: str) -> bool:
    """Tell whether one of two folders holds the other."""
    folder = dirname(path.rstrip("/"))
    return not folder or commonpath([folder, home]) in (folder, home)
