"""Options that several commands have, and that say nothing of the ledger which they open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click
from click.core import ParameterSource

COUNT: Final = click.IntRange(min=0)
EMPTY: Final = "it is empty: is a variable not set?"
INSTEAD: Final = {
    "task revise": " --no-dependencies takes those out; for anything else edit its file",
    "note revise": " --clear takes a part away",
}

reasoned = click.option("--reason", default="", metavar="TEXT", help="Why; it is required.")
noted = click.option("--note", default="", metavar="TEXT", help="What to remember of it.")


class Place(click.Path):
    """A path that is given; an empty one would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(value, param, ctx) if value != "" else self.fail(EMPTY, param, ctx)


def said(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return a name that is given; refuse an empty one, which a variable that is not set makes of it."""
    if not value and ctx.get_parameter_source(str(param.name)) is not ParameterSource.DEFAULT:
        raise click.BadParameter(EMPTY, ctx, param)
    return value


def names(parameter: click.Parameter) -> bool:
    """Tell whether a parameter may be left out and, where it is not, names or limits something; a text does neither."""
    single = parameter.nargs == 1 and not parameter.required and not getattr(parameter, "multiple", False)
    is_word = isinstance(parameter.type, click.types.StringParamType) and parameter.metavar != "TEXT"
    return single and is_word and parameter.name != "actor"


def refuse_empty(context: click.Context, *, texts: bool = False) -> None:
    """Refuse a name that a command was given with nothing in it, which would mean another, or all, unseen.

    `texts`: also an option that takes a text, or several.
    """
    for one in context.command.params:
        value = context.params.get(one.name or "")
        wanted = names(one) or (texts and isinstance(one, click.Option))
        is_empty = wanted and (value == "" or (isinstance(value, tuple) and "" in value))
        if is_empty and context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE:
            how = INSTEAD.get(context.command_path.partition(" ")[2], "")
            raise click.BadParameter(f"{EMPTY}{how}", context, one)


def given_before(verb: click.Context) -> dict[str, Any]:
    """Return what stands before a verb and its options, of the same option what is nearest to it."""
    given: dict[str, Any] = {}
    context = verb.parent
    while context is not None:
        given = {**{key: value for key, value in context.params.items() if value or value == ""}, **given}
        context = context.parent
    return given


def take_from_noun(verb: click.Context, options: dict[str, Any]) -> None:
    """Give a verb what stands before it, behind its noun; refuse what it would not read."""
    noun = verb.parent
    if noun is None or noun.parent is None or noun.invoked_subcommand is None:
        return
    for one in noun.command.params:
        name = str(one.name)
        if name in noun.parent.params or noun.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue  # it is one of all commands, or not given
        if name not in options:
            raise click.UsageError(f"No such option {one.opts[0]!r} of {verb.command_path!r}.", verb)
        if verb.get_parameter_source(name) is ParameterSource.DEFAULT:
            options[name] = noun.params[name]


at_workspace = click.option(
    "-C", "--workspace", metavar="PATH", callback=said, help="Folder in the repository; the current one by default."
)


def of_run(text: str = "Which run; the latest open one by default.") -> Callable[..., Any]:
    """Give a command the option that names a run, under both of its names."""
    return click.option("--run", "--run-id", default="", metavar="RUN", help=text)


def of_task(text: str) -> Callable[..., Any]:
    """Give a command the option that names one task."""
    return click.option("--task", default="", metavar="TASK", help=text)


named_run = click.argument("run_id", metavar="[RUN]", default="")


def paged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a listing its page."""
    offset = click.option("--offset", type=COUNT, metavar="N", default=0, help="Skip the first N rows; 0 by default.")
    limit = click.option(
        "--limit", type=COUNT, metavar="N", default=50, show_default=True, help="Show at most N rows; 0 for all."
    )
    return limit(offset(function))


def scoped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say whose notes it is about: this project's, another's, the user's own."""
    return _scoped(function, ("project", "user"), "or your own")


def across(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a reading command the same options, and the choice of all at once: it asks `Call.ledgers` for them."""
    return _scoped(function, ("project", "user", "all"), "your own, or both")


def _scoped(function: Callable[..., Any], scopes: tuple[str, ...], words: str) -> Callable[..., Any]:
    text = f"This project's notes (the default), {words}."
    scope = click.option("--scope", type=click.Choice(scopes), default=None, help=text)
    project = click.option(
        "--project",
        "project_path",
        metavar="PROJECT",
        help="Another project, by its folder, or its name in memento projects.",
    )
    return scope(project(function))


def signs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say whether, and with which key, what it writes is signed."""
    sign = click.option("--sign", is_flag=True, help="Sign it with your SSH key; policy may demand that.")
    key = click.option(
        "--key", metavar="FILE", callback=_named_key, help="Sign it with this key; git's user.signingKey by default."
    )
    return sign(key(function))


def _named_key(context: click.Context, option: click.Parameter, value: str | None) -> str:
    """Return the key that is named; an empty name is a mistake, not a wish to sign nothing."""
    if value is not None and not value.strip():
        raise click.BadParameter("it names no file", context, option)
    return value or ""


def asks(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say what verification shall ask."""
    from memento_git.model.states import TRUSTS
    from memento_git.model.work import EVIDENCE_KINDS

    commands = click.option(
        "--check",
        "commands",
        multiple=True,
        metavar="CMD",
        help="A command that must pass at the top of the repository, without a shell; repeatable.",
    )
    kinds = click.Choice(EVIDENCE_KINDS)
    require = click.option(
        "--require", multiple=True, type=kinds, help="A kind of evidence that is required; repeatable."
    )
    trust = click.option(
        "--trust",
        type=click.Choice(TRUSTS),
        callback=_or_empty,
        help="Minimum trust of that evidence; policy's by default.",
    )
    return commands(require(trust(function)))


def _or_empty(context: click.Context, option: click.Parameter, value: str | None) -> str:  # noqa: ARG001 (click's shape)
    return value or ""
