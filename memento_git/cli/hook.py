"""memento hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.cli import boundary, output
from memento_git.cli.boundary import Call, alters, bare

if TYPE_CHECKING:
    from memento_git.work.actions.hooks import Hook


WORDS: Final = {"other": "there is one that is not memento's"}
SHARED: Final = "core.hooksPath leads to {path}: every repository that does so has these hooks, and loses them together"
ASIDE: Final = "runs the one that was there before first"
WITHIN: Final = "the framework that is installed there runs it"
LEFT: Final = "one that was put aside is not run: {name}.before-memento"


def _show(call: Call, found: list[Hook]) -> None:
    rows = [{"name": one.name, "state": one.state, "chained": one.chained} for one in found]
    lines = [(one.name, WORDS.get(one.state, output.state(one.state)), _beside(one)) for one in found]
    call.show({"hooks": rows}, "\n".join(output.columns(lines)))


def _beside(one: Hook) -> str:
    if one.state != "installed":
        return LEFT.format(name=one.name) if one.chained else ""
    return "; ".join(words for words, told in ((WITHIN, one.within), (ASIDE, one.chained)) if told)


hook = boundary.group("hook", "Let git check the ledger before a commit and after a merge.", of_ledger=False)


@hook.command("list")
@bare
def list_hooks(call: Call) -> None:
    """List the hooks and whether they are installed."""
    from memento_git.work.actions import hooks

    _show(call, hooks.listed(call.ledger.git))


@hook.command("install")
@alters
def install(call: Call) -> None:
    """Install pre-commit and post-merge hooks that check the ledger; hooks that are there go on running first.

    They stage nothing and commit nothing, and cost one git call where no ledger file is concerned, nor a file that a
    note is about. Which notes a change touches is shown, and never an error.
    """
    from memento_git.knowledge.actions.note_checks import watch_places
    from memento_git.work.actions import hooks

    found = hooks.install(call.ledger.git)
    watch_places(call.ledger)
    if shared := hooks.shared(call.ledger.git):
        call.ledger.warn(SHARED.format(path=shared))
    _show(call, found)


@hook.command("uninstall")
@alters
def uninstall(call: Call) -> None:
    """Take the hooks away, and put back those that were there before."""
    from memento_git.work.actions import hooks

    _show(call, hooks.uninstall(call.ledger.git))
