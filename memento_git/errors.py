"""Every refusal has a token for programs, a sentence for people, a next step and an exit code."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SPENT: Final = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM}  # of these the system has no more to give


class MementoError(Exception):
    """A request that could not be done; a subclass states the fact, its caller gives the facts.

    `token` is its name for programs, `message` the sentence for people, `hint` the next step, and `exit_code` what the
    command line ends with: 1 refused, 2 misused, 3 the repository moved on, 4 the ledger is broken, 70 a bug.

    In a hint of a subclass `{name!q}` is a fact that somebody else may have chosen, as one word of a command that is
    pasted.
    """

    token: ClassVar[str] = "internal_error"
    sentence: ClassVar[str] = "{detail}"
    hint_: ClassVar[str] = ""
    exit_code: ClassVar[int] = 70

    def __init__(self, **facts: object) -> None:
        self.facts = facts
        self.message = self.sentence.format(**facts)
        self.hint = _pasteable(self.hint_, facts)
        super().__init__(self.message)


class Refused(MementoError):
    """The request is impossible as things stand; nothing was changed."""

    exit_code = 1


class Misused(MementoError):
    """The request itself is malformed."""

    exit_code = 2


class Moved(MementoError):
    """Something else changed the repository meanwhile, or is in the middle of changing it."""

    exit_code = 3


class Broken(MementoError):
    """The ledger cannot be read for what it should be."""

    exit_code = 4


def adding(extra: str) -> str:
    """Return how an optional extra is added; pip takes a Memento that is installed, so no registry has to have it."""
    return f"add the extra {extra} to this Memento, be it from a checkout or not: pip install 'memento-git[{extra}]'"


def reason_of(error: MementoError | OSError | ValueError) -> str:
    """Return the few words in which an error says what is wrong."""
    return error.message if isinstance(error, MementoError) else getattr(error, "strerror", None) or str(error)


def _pasteable(hint: str, facts: Mapping[str, object]) -> str:
    if "!q}" not in hint:
        return hint.format(**facts)
    import shlex

    words = {f"{name}_q": shlex.quote(str(fact)) for name, fact in facts.items()}
    return hint.replace("!q}", "_q}").format(**facts, **words)
