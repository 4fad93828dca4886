"""Calls of an MCP client beside whole commands: `python benchmarks/mcp_calls.py [--notes N] [--rounds N]`.

The client is that of the official library, over the standard streams of one server. It prints the lines of a table, and
how many characters the list of tools has.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from measure import call, environment, in_turn
from recall_speed import Texts, bytes_of, commit

SEED_TOOLS: Final = 34_000  # characters of names, arguments and descriptions of the 55 tools of the store of notes


@contextmanager
def served(repo: Path, env: dict[str, str]) -> Iterator[tuple[Callable[..., None], Callable[[], int]]]:
    """Start a server of a repository; yield what calls a tool, and what returns the size of the list of tools."""
    words = ["-m", "memento_git", "-C", str(repo), "mcp"]
    started = StdioServerParameters(command=sys.executable, args=words, env=env)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(started)) as client:

        def ask(tool: str, **given: Any) -> None:
            result = portal.call(client.call_tool, tool, given)
            if result.is_error:
                raise RuntimeError(str(result.content))

        def size() -> int:
            listed = portal.call(client.list_tools).tools
            return sum(len(one.model_dump_json(by_alias=True, exclude_none=True)) for one in listed)

        yield ask, size


def main() -> int:
    """Measure, and print the lines of a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memento-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        env = environment(folder / "home")
        repo = folder / "repo"
        repo.mkdir()
        memento = Path(sys.executable).parent / "memento"
        call(["git", "init", "-q"], repo, env)
        call([memento, "init"], repo, env)
        texts = Texts(7)
        commit(repo, env, {path: bytes_of(path, *rest) for path, *rest in map(texts.note, range(options.notes))})
        call(["git", "reset", "-q", "--hard", "main"], repo, env)
        said = itertools.count()
        with served(repo, env) as (ask, size):
            took = in_turn({
                "recall, by a client": lambda: ask("recall", queries=[texts.question()]),
                "recall": lambda: call([memento, "recall", texts.question()], repo, env),
                "remember, by a client": lambda: ask("remember", text=f"Fact {next(said)} is new."),
                "remember": lambda: call([memento, "remember", f"Fact {next(said)} is new."], repo, env),
                "status, by a client": lambda: ask("show", op="status"),
                "status": lambda: call([memento, "status"], repo, env),
            }, options.rounds)  # fmt: skip
            listed = size()
        for what in ("recall", "remember", "status"):
            ours, whole = took[f"{what}, by a client"].median, took[what].median
            print(f"| `{what}`, a call | {ours:,.0f} ms | {whole:,.0f} ms as a command | {ours / whole:.2f} |")
        print(f"| the list of tools | {listed:,} characters | {SEED_TOOLS:,} of 55 tools | {listed / SEED_TOOLS:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
