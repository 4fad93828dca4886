"""The page of refusals, by walking the classes."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Final

import memento_git
from docs.generator.words import table, whole_page
from memento_git.cli.seed_names import TABLE, OptionRequired, token_of
from memento_git.errors import Broken, MementoError, Misused, Moved, Refused
from memento_git.model.ids import NOT_FOUND, NoSuchRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

CODES: Final = (
    ("0", "ok"),
    (
        "1",
        (
            "refused, or not found; nothing was changed. Also a negative verdict, such as that of `task verify` or "
            "`doctor`: all are listed last. And `answer_lost`: the change is made, but standard output took no answer"
        ),
    ),
    ("2", "usage: the request itself is malformed"),
    ("3", "something else changed the repository meanwhile, or is in the middle of it; try again"),
    ("4", "the ledger, or git, cannot be read for what it should be"),
    ("5", "`check` found errors"),
    ("70", "a bug of memento; the message names the file with the traceback, where one could be written"),
    ("130", "interrupted from the keyboard"),
)
OTHER: Final = (
    (
        "usage",
        "2",
        "click's own message: an unknown option, a missing argument",
        "the line that was likely meant, with what was typed in its place; where none is known, that command's --help",
    ),
    ("task_rejected", "1", "`task verify`: what is unmet", ""),
    ("graph_refused", "1", "`graph diff`: what policy refuses", ""),
    ("no_executor", "1", "`task route`: why nobody of the table can be chosen", "see `rejected_executors`"),
    ("override_refused", "1", "`task route --executor`: why that one must not be chosen", "see `user_override`"),
    ("dispatch_failed", "1", "`dispatch run`: how the dispatch ended, and why", "see `next`"),
    ("work_left", "1", "`dispatch work`: why it stopped, or how many tasks are left", "see `left`"),
    ("no_candidate", "1", "`dispatch select`: no candidate can be selected", "see `candidates`"),
    ("release_refused", "1", "`gate release`: what is missing", "see `missing`"),
    ("preflight_refused", "1", "`preflight`: which checks refuse, see `checks`", "what the first of them asks for"),
    ("not_reproduced", "1", "`evidence reproduce`: how many came to what, see `results`", ""),
    ("not_described", "1", "`scan --describe-with`: for how many files the command failed, see `failed`", ""),
    ("checks_failed", "1", "`doctor`: something is wrong, see `checks`", ""),
    ("sample_failed", "1", "`sample-smoke`: which steps are not as they should be", ""),
    ("findings", "5", "`check`: how many errors and warnings, see `findings`", ""),
    ("internal_error", "70", "a bug of memento: its type and text", "please report it with the file that it names"),
)
FAMILIES: Final = (Refused, Misused, Moved, Broken)


def import_all() -> None:
    """Import every module of the package, so that every class is known."""
    for module in pkgutil.walk_packages(memento_git.__path__, "memento_git."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def classes(parent: type[MementoError] = MementoError) -> Iterator[type[MementoError]]:
    """Yield every error class that is raised, families left out."""
    for child in parent.__subclasses__():
        if child not in FAMILIES:
            yield child
        yield from classes(child)


def tokens(error: type[MementoError]) -> list[str]:
    """Return the tokens that a class can have."""
    if error is NoSuchRecord:
        return [*sorted(NOT_FOUND.values()), "record_not_found"]
    if error is OptionRequired:
        return sorted({token_of(option) for alias in TABLE.values() for option in alias.required})
    return [error.token]


def page() -> str:
    import_all()
    intro = (
        "A command that cannot do what was asked prints one sentence, its token and a next step on standard error, "
        "and leaves everything as it was. With `--json` the answer on standard output is "
        '`{"ok": false, "error": TOKEN, "message": …, "hint": …}`. Tokens are stable; sentences are not. '
        "Where standard output takes nothing, standard error is told, in words.\n\n"
        "What is wrong *in* the ledger is not an error but a finding: see [findings.md](findings.md)."
    )
    rows = sorted(
        (f"`{token}`", str(error.exit_code), error.sentence, error.hint_.replace("!q}", "}"))
        for error in set(classes())
        for token in tokens(error)
    )
    others = [(f"`{token}`", *rest) for token, *rest in OTHER]
    return whole_page(
        "Errors and exit codes", intro, "## Exit codes", table(("code", "meaning"), CODES),
        "`memento evidence run` exits with the exit code of the command that it ran, 128 and the signal when that was "
        "killed; a refusal of memento before or after it uses the codes above.",
        "## Refusals", table(("token", "exit", "message", "next"), rows),
        "## Answers that are not refusals of a rule", table(("token", "exit", "message", "next"), others),
    )  # fmt: skip
