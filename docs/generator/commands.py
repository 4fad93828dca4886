"""The page of commands, from click's own description of them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

import click

from docs.generator.words import table, whole_page
from memento_git.cli.examples import EXAMPLES
from memento_git.cli.main import COMMANDS, memento

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED: Final = ("-C", "--json", "--at", "--actor", "--allow-secret")
INTRO: Final = """\
The first line of each entry is how the command is called; the table lists its own options. A noun alone lists:
`memento task` is `memento task list`. A record is named by its id, or by any prefix of one that is unique, with or
without its kind: `task_7k2m9p4x1c0d`, `task_7k2m`, `7k2m`. Text options that say so take `@FILE` for the content of a
file, `-` or `@-` for standard input, and `@@` for a text that begins with `@`.

These options are shared, and not repeated below:

| option | commands | meaning |
| --- | --- | --- |
| `-C`, `--workspace PATH` | all | a folder in the repository; the current one by default |
| `--json` | all | answer as one JSON object, see [json.md](json.md) |
| `--at REV` | that read | read the ledger at this revision; several give the union |
| `--actor WHO` | that write | the name to record; `MEMENTO_ACTOR`, else git's user, by default |
| `--allow-secret RULE` | that write | take a text although this scanner rule finds a secret in it |

Exit codes are listed in [errors.md](errors.md). The lifecycle ledger's own command names work too, see
[seed-names.md](seed-names.md)."""


def tree(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the path and the command of every leaf and group below a command."""
    context = click.Context(command, info_name="memento", **memento.context_settings)
    if path:
        yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from tree(found, (*path, name))


def page() -> str:
    entries = [_entry(path, command) for path, command in tree(memento)]
    overview = table(("command", "what it does"), [(f"[`{name}`](#memento-{name})", text) for name, (_, text) in
                                                  COMMANDS.items()])  # fmt: skip
    return whole_page("Commands", INTRO, overview, *entries)


def _entry(path: tuple[str, ...], command: click.Command) -> str:
    name = " ".join(("memento", *path))
    context = click.Context(command, info_name=name, **memento.context_settings)
    usage = f"{context.info_name} {' '.join(command.collect_usage_pieces(context))}"
    parts = [f"## memento {' '.join(path)}", f"`{usage}`", inspect.cleandoc(command.help or "")]
    if line := EXAMPLES.get(" ".join(path)):
        parts.append(f"Example: `{line}`")
    rows = [_option(one, context) for one in command.params if isinstance(one, click.Option) and not _shared(one)]
    if rows:
        parts.append(table(("option", "meaning"), rows))
    shared = [one.opts[-1] for one in command.params if isinstance(one, click.Option) and _shared(one)]
    if shared:
        parts.append(f"Shared: {', '.join(f'`{name}`' for name in shared)}.")
    return "\n\n".join(parts)


def _shared(option: click.Option) -> bool:
    return bool(set(option.opts) & set(SHARED))


def _option(option: click.Option, context: click.Context) -> tuple[str, str]:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {option.make_metavar(context)}"
    default = f" Default: `{option.default}`." if option.show_default else ""
    required = " Required." if option.required else ""
    choice = f" One of {', '.join(option.type.choices)}." if isinstance(option.type, click.Choice) else ""
    return f"{names}{value}", f"{option.help or ''}{choice}{default}{required}"
