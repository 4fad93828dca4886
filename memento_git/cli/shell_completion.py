"""What a shell offers where a record is meant: ids and the keys of notes, with what each is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

from memento_git.cli import output
from memento_git.cli.options import given_before
from memento_git.errors import MementoError
from memento_git.model.work import Evidence, Prose

if TYPE_CHECKING:
    from memento_git.ledger.view import View

KINDS: Final = ("run", "plan", "task", "dispatch", "evidence", "note")
ANY: Final = "RECORD"
READ: Final = 500  # records that are read for what they are called, at most: whoever has more of them types on


class Recorded(click.types.StringParamType):
    """A record of one of some kinds, typed as a text."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.kinds = kinds

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Return the records that may be meant; none where the ledger cannot be read, for the line is the shell's."""
        try:
            return [item for view in _views(ctx) for item in self._offered(view, incomplete)]
        except (MementoError, OSError):
            return []

    def _offered(self, view: View, typed: str) -> Iterator[CompletionItem]:
        for kind in self.kinds:
            known = {name: run for name, run in view.known(kind).items() if kind == "note" or name.startswith(typed)}
            records = _records(view, known) if len(known) <= READ else {}
            for name in known:
                record = records.get(name)
                called = output.printable(_title(record))
                for word in (name, record.data.get("key", "") if record else ""):
                    if word and word.startswith(typed):
                        yield CompletionItem(word, help=called or None)


def _views(ctx: click.Context) -> Iterator[View]:
    """Yield what is committed where the words before say, which are not looked at further."""
    from memento_git import projects, scopes

    given = {**given_before(ctx), **{key: value for key, value in ctx.params.items() if value}}
    place = projects.place_of(given["project_path"]) if "project_path" in given else given.get("workspace", ".")
    for scoped in scopes.readable(given.get("scope", "project"), place):
        with scoped.ledger as ledger:
            yield ledger.view()


def _records(view: View, known: Mapping[str, str]) -> dict[str, Prose | Evidence]:
    """Return those that are not redacted and can be read; what happened, as a dispatch, is called nothing."""
    paths = {}
    for name, run in known.items():
        names = view.names(run)
        if (path := names.text_of(name) or names.evidence_at(name)) and not names.redacting(name):
            paths[name] = path
    view.fetch(paths.values())
    records = {name: view.record(path) for name, path in paths.items()}
    return {name: record for name, record in records.items() if isinstance(record, Prose | Evidence)}


def _title(record: Prose | Evidence | None) -> str:
    if isinstance(record, Evidence):
        return str(record.data.get("summary") or record.kind)
    return record.title if record else ""


def offer(command: click.Command) -> None:
    """Let what a command takes be completed with the records that its name in the help stands for."""
    for verb in command.commands.values() if isinstance(command, click.Group) else [command]:
        for param in verb.params:
            words = set(re.findall("[A-Z]+", param.metavar or ""))
            kinds = KINDS if ANY in words else tuple(kind for kind in KINDS if kind.upper() in words)
            if kinds and param.type is click.STRING:
                param.type = Recorded(kinds)
