"""The page of the tools of `memento mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs.generator.words import table, whole_page
from memento_git.cli.tools import ENDS, READS, TOOLS, takes

if TYPE_CHECKING:
    from memento_git.cli.tools import Tool

SAFETY = ((READS, "only reads"), (ENDS, "writes; what it ends stays ended"))


def page() -> str:
    return whole_page(
        "The tools of the MCP server",
        "What `memento mcp` offers to a client, from one table in `memento_git/cli/tools.py`. Each op of a tool is a "
        "command, and what it takes is that command's, under the same names; [commands.md](commands.md) explains "
        "each. What can be left out has a question mark. Of a tool that only reads, `op` can be left out: the first "
        "one that takes what is given is meant. How a client is set up stands in [mcp.md](../mcp.md).",
        *(_tool(name, tool) for name, tool in TOOLS.items()),
    )  # fmt: skip


def _tool(name: str, tool: Tool) -> str:
    safety = next((told for hints, told in SAFETY if tool.hints == hints), "writes; what it does can be taken back")
    rows = [
        (f"`{op}`" if len(tool.ops) > 1 else "", f"`memento {one.words}{' -' if one.stdin else ''}`", f"`{takes(one)}`")
        for op, one in tool.ops.items()
    ]
    return f"## {name}\n\nIt {safety}.\n\n{table(('op', 'command', 'takes'), rows)}"
