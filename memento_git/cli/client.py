"""memento client."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import boundary, output, terminal
from memento_git.cli.boundary import Call, alters, bare
from memento_git.model.clients import CLIENTS, Client

if TYPE_CHECKING:
    from memento_git.knowledge.actions.clients import Edit

MOST_READ: Final = 16 << 20
WORDS: Final = {
    "absent": "not set up", "partly": "set up in part", "server": "the server alone", "hooks": "the hooks alone",
    "installed": "set up", "unreadable": "cannot be read",
}  # fmt: skip

client = boundary.group("client", "Set a project up for an agent's client, and answer its hooks.", of_ledger=False)
named = click.argument("name", metavar="NAME", type=click.Choice([*CLIENTS]))
decided = click.option("--yes", is_flag=True, help="Write it; without this it is only shown.")


@client.command("list")
@bare
def list_clients(call: Call) -> None:
    """List the clients, the files of each, and whether this project is set up for them."""
    from memento_git.knowledge.actions import clients

    states = {name: clients.setup_status(call.ledger.git, one) for name, one in CLIENTS.items()}
    rows = [
        {"name": one.name, "title": one.title, "state": states[one.name], "files": one.files}
        for one in CLIENTS.values()
    ]
    lines = [(name, WORDS[states[name]], ", ".join(one.files)) for name, one in CLIENTS.items()]
    call.show({"clients": rows}, "\n".join(output.columns(lines)))


@client.command("install")
@named
@decided
@alters
def install(call: Call, name: str, *, yes: bool) -> None:
    """Show what a client's files in this project would be with Memento's server and hooks; write it with --yes.

    NAME is one of the list. What is there already stays; nothing is staged or committed, and nothing of your home
    folder is touched.
    """
    from memento_git.knowledge.actions import clients

    one = CLIENTS[name]
    _done(call, one, clients.installation(call.ledger.git, one), yes=yes, then=one.then)


@client.command("uninstall")
@named
@decided
@alters
def uninstall(call: Call, name: str, *, yes: bool) -> None:
    """Show what a client's files would be without what is Memento's; write it with --yes."""
    from memento_git.knowledge.actions import clients

    one = CLIENTS[name]
    _done(call, one, clients.removal(call.ledger.git, one), yes=yes, then="")


def _done(call: Call, one: Client, edits: Sequence[Edit], *, yes: bool, then: str) -> None:
    from memento_git.knowledge.actions import clients

    changes = [edit for edit in edits if edit.after != edit.before]
    if yes:
        clients.write(call.ledger, changes)
    data = {
        "client": one.name, "done": yes, "files": [{"path": edit.path, "diff": edit.diff} for edit in changes],
        "by_hand": then or None,
    }  # fmt: skip
    if not changes:
        call.show(data, f"nothing to change for {one.title}")
        return
    ended = "nothing was changed yet; write it: the same command with --yes"
    if yes:
        ended = "; ".join(f"{'written' if edit.after is not None else 'removed'}: {edit.path}" for edit in changes)
    lines = [*(edit.diff.rstrip("\n") for edit in changes), "", ended, *([f" next: {then}"] if yes and then else [])]
    call.show(data, "\n".join(lines))


@client.command("hook")
@bare
def hook(call: Call) -> None:
    """Answer a hook of a client: its event as JSON on standard input, what the ledger knows on standard output.

    It says nothing where there is nothing, writes nothing but what is derived, and always ends well: an agent's work
    does not wait for its memory.
    """
    if sys.stdin.isatty():
        terminal.put("a client tells its event here, as JSON on standard input", err=True)
        return
    try:
        if told := _answer(call, sys.stdin.buffer.read(MOST_READ + 1)):
            terminal.put(told)
    except Exception as error:  # noqa: BLE001 (whatever it is: the client goes on)
        terminal.put(terminal.clean(f"memento client hook: {' '.join(str(error).split())[:300]}"), err=True)


def _answer(call: Call, data: bytes) -> str:
    from memento_git.knowledge import client_events
    from memento_git.knowledge.actions import client_hook
    from memento_git.ledger.store import Ledger
    from memento_git.review.records import record_states

    event = client_events.read(data) if 0 < len(data) <= MOST_READ else None
    if event is None:
        return ""
    named = call.workspace if call.workspace != "." else ""
    with Ledger.open(named or event.folder or ".") as ledger:
        context = client_hook.told(ledger, event, record_states)
    return json.dumps(event.answer(context)) if context else ""
