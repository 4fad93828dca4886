"""memento mcp: the tools of a client of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import contextvars
import gc
import io
import json
import os
import re
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git import __version__
from memento_git.cli import boundary, terminal, texts, tools
from memento_git.cli.boundary import Call, bare
from memento_git.errors import MementoError, Refused, adding
from memento_git.ledger import signer
from memento_git.model.enumeration import many
from memento_git.model.work import is_agent

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

LARGEST: Final = 60_000
FOUND: Final = 5
LONG: Final = 4_000  # digits of a number, of which Python reads no more than 4,300
UNREAD: Final = (
    "this request cannot be read: it has half of a character that is written as two (\\ud83d), a number of thousands "
    "of digits, or lists within lists hundreds deep; nothing was done"
)
INSTRUCTIONS: Final = """\
The ledger of this repository: what the project knows, and what work is proven. Begin with session (op start) or recall;
show with op status tells what is done and what is next. Every change is one git commit of .memento alone. A line that
begins with next: or names a command, as memento note park does, means the tool with that op or the verb of work, or a
shell. To run tests as evidence, use a shell: memento evidence run."""


class McpExtraMissing(Refused):
    token = "mcp_extra_missing"
    sentence = "to serve MCP clients the package mcp is needed, which is not installed"
    hint_ = adding("mcp")


@click.command("mcp")
@click.option(
    "--actor",
    metavar="WHO",
    help="Name to record; else MEMENTO_ACTOR if that is an agent's, else agent: and the client's name.",
)
@click.option("--tools", "listed", is_flag=True, help="Print the tools, with --json as a client gets them, and end.")
@bare
def mcp(call: Call, *, listed: bool) -> None:
    """Serve this repository's ledger to an MCP client, over standard input and output, until the client leaves.

    Clients start it themselves. Its tools are commands of this command line, of which none runs commands or signs.
    """
    if listed:
        told = described()
        call.show({"tools": told}, "\n\n".join(f"{one['name']}: {one['description']}" for one in told))
        return
    try:
        import anyio
        from mcp.server.stdio import stdio_server
    except ImportError:
        raise McpExtraMissing from None
    serving = server(str(Path(call.workspace).absolute()), call.actor)

    async def serve() -> None:
        async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
            onward, handed = anyio.create_memory_object_stream[Any]()
            tasks.start_soon(_handed_on, read, onward, write)
            await serving.run(handed, write, serving.create_initialization_options())

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else it waits for the line that is being read, which may never come
    gc.freeze()  # what is loaded by now stays, and is not looked through after each call
    try:
        anyio.run(serve)
    except BaseExceptionGroup as failed:
        cause = _cause(failed)
        if not isinstance(cause, BrokenPipeError):  # the client has left
            raise cause from None


async def _handed_on(read: Any, onward: Any, write: Any) -> None:
    """Hand on what a client sends; answer a request that the library cannot read, for which it would wait in vain."""
    import mcp_types
    from mcp.shared.message import SessionMessage

    async with read, onward:
        async for message in read:
            asked = _unread(message) if isinstance(message, Exception) else None
            if asked is None:
                await onward.send(message)
                continue
            error = mcp_types.ErrorData(code=mcp_types.PARSE_ERROR, message=UNREAD)
            await write.send(SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=asked, error=error)))


def _unread(error: Exception) -> str | int | None:
    """Return the id of a request that is JSON for us, though not for the library; nothing where it is neither."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return None
    line = error.errors()[0]["input"]
    try:
        told = json.loads(
            line if isinstance(line, str) else "", parse_int=lambda digits: int(digits) if len(digits) < LONG else 0
        )
    except (ValueError, RecursionError):
        return None
    asked = told.get("id") if isinstance(told, dict) and "method" in told else None
    return asked if type(asked) in (str, int) and str(asked).isascii() else None


def _cause(error: BaseException) -> BaseException:
    """Return the first of the errors that ended what ran side by side."""
    return _cause(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def described() -> list[dict[str, Any]]:
    """Return the tools as the protocol lists them."""
    return [
        {
            "name": name,
            "description": tools.described(name),
            "inputSchema": tools.schema(name),
            "annotations": tool.hints,
        }
        for name, tool in tools.TOOLS.items()
    ]


def server(workspace: str, actor: str) -> Server[Any]:
    """Return the server of one repository; its calls are done one after another."""
    import anyio
    import mcp_types
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError

    turn = anyio.Lock()

    async def listing(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return mcp_types.ListToolsResult.model_validate({"tools": described()})

    async def calling(context: ServerRequestContext[Any], asked: CallToolRequestParams) -> CallToolResult:
        if asked.name not in tools.TOOLS:
            raise MCPError(mcp_types.INVALID_PARAMS, f"there is no tool {asked.name!r:.80}")
        who = actor or _agent(context)
        async with turn:
            code, text = await anyio.to_thread.run_sync(answered, asked.name, asked.arguments or {}, workspace, who)
        content: list[Any] = [mcp_types.TextContent(type="text", text=text)]
        return mcp_types.CallToolResult(content=content, is_error=code not in (0, FOUND))

    return Server(
        "memento", version=__version__, instructions=INSTRUCTIONS, on_list_tools=listing, on_call_tool=calling
    )


def _agent(context: ServerRequestContext[Any]) -> str:
    """Return the agent that the environment names, else the client: neither is a person, whoever's shell started it."""
    named = os.environ.get("MEMENTO_ACTOR", "")
    if is_agent(named):
        return named
    known = context.session.client_params
    name = re.sub(r"[^\w.-]+", "-", known.client_info.name if known else "")[:60].strip("-")
    return f"agent:{name or 'mcp'}"


def answered(name: str, given: dict[str, Any], workspace: str, actor: str) -> tuple[int, str]:
    """Do what a call asks for; return the exit code of its command, and what that says."""
    try:
        asked = tools.call(name, given)
    except MementoError as refusal:
        return boundary.refused(refusal)
    typed, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(json.dumps(asked.read, ensure_ascii=False).encode()))
    try:
        code, said = contextvars.copy_context().run(_run, ["-C", workspace, "--actor", actor, *asked.words])
    finally:
        sys.stdin = typed
        gc.collect()  # a ledger that was read is large, and the next call reads another
    return code, _fitting(said or "nothing", asked.words)


def _run(words: list[str]) -> tuple[int, str]:
    """Run a command line in which a text names no file, and for which nothing is signed."""
    texts.LITERAL.set(True)
    signer.WITHHELD.set(True)
    return boundary.spoken(words)


def _fitting(said: str, words: list[str]) -> str:
    """Return an answer in a size that a client takes, and what was left out of it."""
    if len(said) <= LARGEST:
        return said
    kept = said[:LARGEST].rpartition("\n")[0] or said[:LARGEST]
    left = many(len(said) - len(kept), "more character is", "more characters are")
    line = terminal.shortened(shlex.join(words))
    return f"{kept}\n… {left} left out: ask for less, or in a shell: memento {line}"
