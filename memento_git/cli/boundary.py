"""What every command shares: options, the opened ledger, one envelope for answers, one door for errors."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from memento_git.errors import MementoError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.ledger.store import Ledger, Transaction
    from memento_git.ledger.view import View

T = TypeVar("T")
BUG_CODE: Final = 70
USAGE_CODE: Final = 2
INTERRUPTED: Final = 130


class Door:
    """One invocation: where, as whom, at which commit, in which form."""

    def __init__(
        self, workspace: str, actor: str, at: Sequence[str], allow_secret: Sequence[str], *, json: bool
    ) -> None:
        self.workspace = workspace
        self.actor = actor
        self.at = tuple(at)
        self.allow_secrets = tuple(allow_secret)
        self.json = json
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        if self._ledger is None:
            from memento_git.ledger.store import Ledger

            self._ledger = Ledger.open(self.workspace, actor=self.actor)
        return self._ledger

    def view(self) -> View:
        return self.ledger.view(self.at)

    def change(self, action: str, act: Callable[[Transaction], T]) -> T:
        """Run an action in one transaction."""

        def allowed(tx: Transaction) -> T:
            tx.allow_secrets = self.allow_secrets
            return act(tx)

        return self.ledger.change(action, allowed)

    def show(self, data: dict[str, Any], text: str | Callable[[], str], *, ok: bool = True) -> None:
        """Print an answer: the envelope with --json, else the text."""
        if self.json:
            click.echo(envelope({"ok": ok, **data, **self._warnings()}))
        else:
            click.echo((text if isinstance(text, str) else text()).rstrip("\n"))
        self.close()

    def _warnings(self) -> dict[str, Any]:
        warnings = self._ledger.warnings if self._ledger else []
        return {"warnings": warnings} if warnings else {}

    def close(self) -> None:
        """Say what should be known besides, and end what was started for reading."""
        if self._ledger is None:
            return
        if not self.json:
            for warning in self._ledger.warnings:
                click.echo(f"{click.style('note:', fg='yellow')} {warning}", err=True)
            self._announce(self._ledger)
        self._ledger.close()
        self._ledger = None

    def _announce(self, ledger: Ledger) -> None:
        paths = [change.path for change in ledger.uncommitted]
        if paths and not self.at:
            more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
            told = f"not committed, so not counted: {', '.join(paths[:3])}{more}"
            click.echo(f"{click.style('note:', fg='yellow')} {told}", err=True)


def envelope(data: dict[str, Any]) -> str:
    import json

    return json.dumps(data, ensure_ascii=False)


def progress(done: int, total: int) -> None:
    """Show on a terminal that a long read is under way."""
    if sys.stderr.isatty():
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\rreading the ledger: {done} of {total} files{end}")
        sys.stderr.flush()


def _shared(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")(function)
    return click.option(
        "-C", "--workspace", metavar="PATH", help="Folder in the repository; the current one by default."
    )(function)


def _door(options: dict[str, Any]) -> Door:
    context = click.get_current_context()
    outer: dict[str, Any] = {}
    parent = context.parent
    while parent is not None:
        outer = {**{key: value for key, value in parent.params.items() if value}, **outer}
        parent = parent.parent
    return Door(
        options.pop("workspace", None) or outer.get("workspace") or ".",
        options.pop("actor", None) or outer.get("actor") or "",
        options.pop("at", ()) or outer.get("at") or (),
        options.pop("allow_secret", ()),
        json=options.pop("as_json", False) or outer.get("as_json", False),
    )


def _wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(**options: Any) -> Any:
        door = _door(options)
        try:
            return function(door, **options)
        finally:
            door.close()

    return called


def reads(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a reading verb, and an open door as its first argument."""
    at = click.option("--at", multiple=True, metavar="REV", help="Read at this revision; several: their union.")
    return at(_shared(_wrap(function)))


def writes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a writing verb, and an open door as its first argument."""
    actor = click.option("--actor", metavar="WHO", help="Who acts; MEMENTO_ACTOR or git's user by default.")
    allow = click.option(
        "--allow-secret",
        multiple=True,
        metavar="RULE",
        help="Take a text although this scanner rule finds a secret in it.",
    )
    return actor(allow(_shared(_wrap(function))))


def both(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that reads or writes, as its options say, the options of both."""
    at = click.option("--at", multiple=True, metavar="REV", help="Read at this revision; several: their union.")
    return at(writes(function))


def group(name: str, text: str, default: Callable[..., Any]) -> click.Group:
    """Return the group of a noun; the noun alone lists."""

    @click.group(name, help=text, invoke_without_command=True)
    @reads
    def noun(door: Door) -> None:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            default(door)

    return noun


def run(arguments: list[str]) -> int:
    """Run the command line; return its exit code. No traceback leaves here."""
    from memento_git.cli.main import memento

    as_json = "--json" in arguments
    try:
        code = memento.main(arguments, prog_name="memento", standalone_mode=False)
    except MementoError as error:
        return _refuse(error.token, error.message, error.hint, error.exit_code, as_json=as_json)
    except click.UsageError as error:
        hint = f"see {error.ctx.command_path} --help" if error.ctx else "see memento --help"
        return _refuse("usage", error.format_message(), hint, USAGE_CODE, as_json=as_json)
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 (the one place where the unforeseen ends)
        return _bug(error, as_json=as_json)
    return code if isinstance(code, int) else 0


def _refuse(token: str, message: str, hint: str, code: int, *, as_json: bool) -> int:
    if as_json:
        click.echo(envelope({"ok": False, "error": token, "message": message, "hint": hint}))
    else:
        click.echo(f"{click.style('error:', fg='red')} {message} [{token}]", err=True)
        if hint:
            click.echo(f" next: {hint}", err=True)
    return code


def _bug(error: Exception, *, as_json: bool) -> int:
    """Keep the traceback in a file for a report; tell where it is."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="memento-bug-", suffix=".txt", delete=False, encoding="utf-8") as log:
        traceback.print_exception(error, file=log)
    hint = f"please report it with {log.name}"
    return _refuse(
        "internal_error", f"a bug of memento: {type(error).__name__}: {error}", hint, BUG_CODE, as_json=as_json
    )
