"""Texts that people and agents type: cleaned, refused where a ledger should not hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.errors import Refused
from memento_git.model.types import text_problems

if TYPE_CHECKING:
    from collections.abc import Collection


class TextInvalid(Refused):
    token = "text_invalid"
    sentence = "{where}: {problem}"
    hint_ = "give plain text: no control or direction-changing characters, one line where one is asked for"


class ReasonRequired(Refused):
    token = "reason_required"
    sentence = "{verb} needs a reason"
    hint_ = "say why with --reason TEXT"


def typed(where: str, value: str, *, allowed: Collection[str] = (), lines: bool = True, scan: bool = True) -> str:
    """Return a typed text as the ledger stores it; refuse what is unfit for it or holds a secret."""
    clean = value.replace("\r\n", "\n").strip()
    if not clean:
        raise TextInvalid(where=where, problem="it is empty")
    for problem in text_problems(clean, lines=lines):
        raise TextInvalid(where=where, problem=problem)
    if scan:
        from memento_git.texts.secrets import refuse_secrets

        refuse_secrets(where, clean, allowed)
    return clean
