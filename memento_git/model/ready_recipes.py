"""The recipes that come with the tool: none of them hides or writes anything. Pure."""

from __future__ import annotations

from typing import Any, Final

from memento_git.model.recipes import RECIPE, Recipe

NEWEST: Final = {"do": "sort", "by": "created"}


def _part(**choosing: Any) -> dict[str, Any]:
    return {"steps": [{"do": "active", **choosing}, NEWEST]}


READY: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "session-orient",
        "about": "Where the project stands: last handoff, pinned, questions, gaps, goals, corrections, contested",
        "parts": [
            {"steps": [{"do": "active", "tags": ["handoff"]}, NEWEST, {"do": "limit", "most": "1"}]},
            _part(pinned="true"),
            _part(kinds=["question", "gap"]),
            _part(kinds=["goal"]),
            _part(kinds=["checkpoint"]),
            _part(corrects="true"),
            _part(states=["contested"]),
        ],
        "combine": "union",
    },
    {
        "name": "file-context",
        "about": "What is known of a file: notes about it, what they are linked to, what speaks of it",
        "parameters": [
            {"name": "file", "about": "PATH, PATH:12-40 or PATH::symbol"},
            {"name": "task", "about": "what you mean to do there", "optional": "true"},
        ],
        "parts": [
            {"steps": [{"do": "spatial", "about": "{file}"}, {"do": "traverse"}]},
            {"steps": [{"do": "recall", "query": "{file} {task}", "most": "10"}]},
        ],
        "combine": "union",
    },
    {
        "name": "issue-cluster",
        "about": "What hangs together with a problem: issues, gaps, lessons, and what they are linked to",
        "parameters": [{"name": "topic", "about": "the problem in a few words"}],
        "parts": [
            {"steps": [
                {"do": "recall", "query": "{topic}", "most": "20", "domains": ["issues"]},
                {"do": "traverse", "depth": "2"},
            ]},
            {"steps": [
                {"do": "recall", "query": "{topic}", "most": "20", "kinds": ["gap", "question", "lesson"]},
                {"do": "traverse", "rels": ["caused_by", "blocks", "depends_on", "contradicts"]},
            ]},
        ],
        "combine": "ranked",
    },
    {
        "name": "drift-check",
        "about": "Notes whose place in the code changed, is gone, or cannot be told",
        "parameters": [{"name": "path", "about": "a file or folder; all where it is left out", "optional": "true"}],
        "steps": [
            {"do": "active", "expired": "with", "states": ["active", "parked", "contested"]},
            {"do": "filter", "under": "{path}", "anchors": ["changed", "gone", "unknown"]},
        ],
    },
)  # fmt: skip


def ready() -> dict[str, Recipe]:
    """Return name -> recipe of those that come with the tool."""
    found = {}
    for raw in READY:
        data = RECIPE.read(raw, (), [])
        found[data["name"]] = Recipe(data["name"], data, "")
    return found
