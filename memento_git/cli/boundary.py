"""What every command shares: options, the opened ledger, one envelope for answers, one way out for errors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from memento_git.cli import machine_errors, streams, terminal
from memento_git.cli.options import at_workspace, given_before, refuse_empty, take_from_noun
from memento_git.errors import MementoError
from memento_git.model.enumeration import some
from memento_git.model.progress import UNITS

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.rows import AnyRow
    from memento_git.scopes import Scoped

T = TypeVar("T")
BUG_CODE: Final = 70
USAGE_CODE: Final = 2
INTERRUPTED: Final = 130
LONGEST: Final = 1_000


class Call:
    """One call of a command: where, as whom, at which commit, in which form."""

    def __init__(
        self, workspace: str, actor: str, at: Sequence[str], allow_secret: Sequence[str], *, json: bool,
        scope: str = "project",
    ) -> None:  # fmt: skip
        self.workspace = workspace
        self.actor = actor
        self.at = tuple(at)
        self.allow_secrets = tuple(allow_secret)
        self.json = json
        self.scope = scope
        self.uncommitted = "not committed, so not counted: {paths}"
        self._told: list[str] = []  # what should be known of ledgers that are closed by now
        self._ledger: Ledger | None = None
        self._landed: list[str] = []

    @property
    def landed(self) -> list[str]:
        """Return the commits that this invocation has made."""
        return self._landed + (self._ledger.landed if self._ledger is not None else [])

    @property
    def ledger(self) -> Ledger:
        if self._ledger is None:
            from memento_git.ledger.store import Ledger

            if self.scope == "user":
                from memento_git.scopes import user_ledger

                self._ledger = user_ledger(self.actor)
            else:
                self._ledger = Ledger.open(self.workspace, actor=self.actor)
            self._attended(self._ledger)
        return self._ledger

    def _attended(self, ledger: Ledger) -> Ledger:
        """Return a ledger that knows what this invocation allows, and whom it tells of a long reading."""
        ledger.watch.early = True
        ledger.git.progress = progress
        ledger.allow_secrets = self.allow_secrets
        return ledger

    def ledgers(self) -> Iterator[Scoped]:
        """Yield each ledger that a reading command is about, with the name of its scope, open while it is used."""
        from memento_git.scopes import readable

        for found in readable(self.scope, self.workspace, self.actor):
            self._told += self.notes() if self.json else []
            self.close()
            self._ledger = found.ledger
            self._ledger.git.progress = progress
            yield found

    def view(self) -> View:
        return self.ledger.view(self.at)

    def keep(self, act: Callable[[Ledger], T]) -> T:
        """Let something be kept; the user's own ledger is made where it is missing."""
        if self.scope == "user" and self._ledger is None:
            from memento_git import scopes

            def tried(ledger: Ledger) -> T:
                return act(self._attended(ledger))

            folder = scopes.user_folder()
            self._ledger = scopes.existing(folder, self.actor) or scopes.begun(folder, self.actor, tried)
            self._attended(self._ledger)
        return act(self.ledger)

    def refuse_at(self, how: str = "leave it out to change something") -> None:
        """Refuse to change anything where a revision is read; `how` says what to do instead."""
        if self.at:
            raise click.UsageError(f"--at only reads: {how}")

    def change(self, action: str, act: Callable[[Transaction], T]) -> T:
        """Run an action in one transaction."""
        self.refuse_at()
        return self.ledger.change(action, act)

    def row(self, action: str, act: Callable[[Transaction], str]) -> AnyRow:
        """Run an action in one transaction; return the row of the record of work that it made or changed."""
        from memento_git.work import answers

        return self.change(action, lambda tx: answers.after(tx, act(tx)))

    def show(
        self, data: Mapping[str, Any], text: str | Callable[[], str], *,
        then: Sequence[dict[str, str]] | None = None,
    ) -> int:  # fmt: skip
        """Print an answer: the envelope with --json, else the text; `then` are the steps that may follow it.

        Return its exit code: what has an `error` is a no, though all was done that was asked.
        """
        ok = "error" not in data
        if self.json:
            beside = {} if then is None else {"next": then}
            terminal.put(*terminal.envelope(self._answer({"ok": ok, **data, **beside})))
        else:
            said = (text if isinstance(text, str) else text()).rstrip("\n")
            terminal.put(terminal.guarded(said + leading(then or ())))
        self.close()
        return 0 if ok else 1

    def _answer(self, data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield what is answered; what waits for git's look at files that are not committed comes last."""
        yield from data.items()
        if warnings := [*dict.fromkeys((*self._told, *self.notes()))]:
            yield "warnings", warnings

    def notes(self) -> list[str]:
        """Return what should be known besides: the ledger's warnings, and files of it that do not count."""
        if self._ledger is None:
            return []
        paths = [] if self.at else [change.path for change in self._ledger.uncommitted]
        told = [self.uncommitted.format(paths=some(paths, 3))] if paths else []
        return [*self._ledger.remarks, *told]

    def close(self) -> None:
        """Say what should be known besides, and end what was started for reading."""
        if self._ledger is None:
            return
        if not self.json:
            for note in self.notes():
                line = " ".join(terminal.clean(note).split())
                terminal.put(f"{click.style('note:', fg='yellow')} {line}", err=True)
        self._landed = self.landed
        self._ledger.close()
        self._ledger = None


def leading(steps: Sequence[dict[str, str]]) -> str:
    """Return steps as lines that follow what is shown: the first is next, the others say when they are due."""
    return "".join(f"\n {step['why'] if at else 'next'}: {step['command']}" for at, step in enumerate(steps))


def progress(done: int, total: int, what: str) -> None:
    """Show on a terminal that a long read is under way."""
    if sys.stderr.isatty():
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\rreading {what}: {done} of {total} {UNITS[what]}{end}")
        sys.stderr.flush()


def _shared(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")(function)
    return at_workspace(function)


def _call(options: dict[str, Any]) -> Call:
    context = click.get_current_context()
    refuse_empty(context)
    take_from_noun(context, options)
    outer = given_before(context)
    workspace = options.pop("workspace", None) or outer.get("workspace") or "."
    project, scope = options.pop("project_path", None), options.pop("scope", None) or "project"
    if project and scope == "user":
        raise click.UsageError("your own notes lie in no project; give --scope user or --project")
    if project:
        from memento_git.projects import place_of

        workspace = place_of(project)
    return Call(
        workspace,
        _actor(options.pop("actor", None), outer.get("actor")),
        options.pop("at", ()) or outer.get("at") or (),
        options.pop("allow_secret", ()),
        json=options.pop("as_json", False) or outer.get("as_json", False),
        scope=scope,
    )


def _actor(own: str | None, outer: str | None) -> str:
    """Return who is said to act, nothing where nobody is; an empty name is none, and not the same as no name."""
    given = outer if own is None else own
    if given == "":
        from memento_git.ledger.store import ActorInvalid

        raise ActorInvalid(actor=given, problem="it is empty")
    return given or ""


def _wrap(function: Callable[..., Any], *, writing: bool = False) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(**options: Any) -> Any:
        call = _call(options)
        try:
            return function(call, **options)
        except terminal.CannotPrint as error:
            from memento_git.cli import output_errors

            output_errors.refuse(error, call.landed, writing=writing)
        except machine_errors.FAILURES as error:
            if not (call.landed and machine_errors.is_of_machine(error)):
                raise
            from memento_git.cli import output_errors

            raise output_errors.FileSystemFailedLate(
                commit=call.landed[-1][:12], **machine_errors.told_of(error)
            ) from error
        finally:
            call.close()

    return called


def bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that neither reads nor writes the ledger a call as its first argument."""
    return _shared(_wrap(function))


def alters(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that changes this machine's files, and no record, a call as its first argument."""
    return _shared(_wrap(function, writing=True))


def reads(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a reading verb, and a call as its first argument."""
    at = click.option("--at", multiple=True, metavar="REV", help="Read at REV instead of HEAD; repeat for a union.")
    return at(_shared(_wrap(function)))


def writes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a writing verb, and a call as its first argument."""
    actor = click.option("--actor", metavar="WHO", help="Name to record; MEMENTO_ACTOR, else git's user, by default.")
    allow = click.option(
        "--allow-secret",
        multiple=True,
        metavar="RULE",
        help="Accept a text that this secret-scanner rule flags (a false alarm).",
    )
    return actor(allow(_shared(_wrap(function, writing=True))))


def both(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that reads or writes, as its options say, the options of both."""
    at = click.option("--at", multiple=True, metavar="REV", help="Read at this revision; several: their union.")
    return at(writes(function))


class Noun(click.Group):
    """A group whose help has the first sentence of each verb, and not what of it fits a line."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        verbs = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.get_short_help_str(LONGEST)) for name, verb in verbs if verb is not None])


def group(name: str, text: str, *, alone: str = "list", of_ledger: bool = True) -> click.Group:
    """Return the group of a noun, of what the ledger has, or only this clone; the noun `alone` is one of its verbs."""

    @click.group(name, cls=Noun, help=text, invoke_without_command=True)
    @(reads if of_ledger else bare)
    def noun(call: Call) -> None:  # noqa: ARG001 (the shape of every command)
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            context.invoke(noun.commands[alone])

    return noun


def run(arguments: list[str]) -> int:
    """Run the command line; return its exit code. No traceback leaves here."""
    streams.stand_in()
    terminal.prepare()
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = terminal.wants_json(ours)
    if "--help" in ours or "-h" in ours:
        from memento_git.cli import examples

        examples.show(ours)
    try:
        code = _main(arguments)
    except MementoError as error:
        lost = isinstance(error.__cause__, terminal.CannotPrint)
        return _refuse(error.token, error.message, error.hint, error.exit_code, as_json=as_json and not lost)
    except click.exceptions.NoArgsIsHelpError as error:
        terminal.put(error.format_message(), err=True)
        return USAGE_CODE
    except click.ClickException as error:
        from memento_git.cli import suggestions

        return _refuse("usage", *suggestions.told(error, arguments), USAGE_CODE, as_json=as_json)
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the one place where the unforeseen ends)
        from memento_git.cli import crash_report

        return _refuse("internal_error", *crash_report.told(error), BUG_CODE, as_json=as_json)
    return code if isinstance(code, int) else 0


def answer(arguments: list[str]) -> dict[str, Any]:
    """Run the command line with JSON answers for a caller in this process; return the answer instead of printing it."""
    import json

    kept = terminal.Kept([])
    code = _kept(lambda: run(["--json", *arguments]), kept)
    told: dict[str, Any] = json.loads(kept.out[-1]) if kept.out else {"ok": code == 0}
    return told


def spoken(arguments: list[str]) -> tuple[int, str]:
    """Run the command line for a caller in this process; return its exit code, and all that it says, as plain text."""
    return _told(lambda: run(arguments))


def refused(error: MementoError) -> tuple[int, str]:
    """Return the exit code and the text of a refusal, as the command line gives them."""
    return _told(lambda: _refuse(error.token, error.message, error.hint, error.exit_code, as_json=False))


def _told(act: Callable[[], int]) -> tuple[int, str]:
    kept = terminal.Kept([], [])
    code = _kept(act, kept)
    return code, click.unstyle("\n".join([*kept.out, *(kept.err or [])]))


def _kept(act: Callable[[], int], kept: terminal.Kept) -> int:
    token = terminal.KEPT.set(kept)
    try:
        return act()
    finally:
        terminal.KEPT.reset(token)


def _main(arguments: list[str]) -> Any:
    with machine_errors.refusals():
        from memento_git.cli.main import memento

        try:
            return memento.main(arguments, prog_name="memento", standalone_mode=False, terminal_width=terminal.width())
        except click.Abort as error:  # an interrupt, or the end of a file that came too soon
            raise (error.__cause__ or error) from None


def _refuse(token: str, message: str, hint: str, code: int, *, as_json: bool) -> int:
    message, hint = terminal.shortened(message), terminal.shortened(hint)
    if as_json:
        try:
            refusal = {"ok": False, "error": token, "message": message, "hint": hint}
            terminal.put(*terminal.envelope(refusal.items()))
        except terminal.CannotPrint:
            as_json = False
    if not as_json:
        told = terminal.clean(message)
        terminal.put(f"{click.style('error:', fg='red')} {told} [{token}]", err=True)
        if hint:
            terminal.put(f" next: {terminal.clean(hint)}", err=True)
    return code
