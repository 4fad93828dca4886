"""Texts that people and agents type: cleaned, refused where a ledger should not hold them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from typing import Any, ParamSpec, TypeVar

from memento_git.errors import Refused
from memento_git.model.types import is_blank, text_problems

P = ParamSpec("P")
T = TypeVar("T")


class TextInvalid(Refused):
    token = "text_invalid"
    sentence = "{where}: {problem}"
    hint_ = "give plain text: at most 65536 characters, no control or direction marks, one line where one is asked for"


class TextEmpty(TextInvalid):
    hint_ = "write what it shall say"


class WordUnknown(TextInvalid):
    hint_ = "take one of those"


class UriUnfit(TextInvalid):
    sentence = "{given!r} is no link"
    hint_ = "write a whole one, such as https://ci.example/1, or file://a/b.log for a/b.log of the repository"


class NotUtf8(TextInvalid):
    sentence = "{given!r} is not UTF-8"
    hint_ = "rename it: records name only what is UTF-8"


class NameUnfit(TextInvalid):
    sentence = "{given!r} has a character that no record holds in a path"
    hint_ = "rename it: records name no file or folder with a backslash, a tab or a line break"


def refuse_not_utf8(*given: str) -> None:
    """Refuse texts that stand for bytes which are not UTF-8."""
    for text in given:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise NotUtf8(given=text[:200]) from None


class ReasonRequired(Refused):
    token = "reason_required"
    sentence = "{verb} needs a reason"
    hint_ = "add --reason TEXT; in a file for memento apply, {key}: TEXT"


Reason = str  # of an action that needs one: an empty one is refused


def lists(action: Callable[P, T]) -> Callable[P, T]:
    """Let one text stand for a list of one wherever an action takes texts; as they are, `"ab"` is `["a", "b"]`."""
    names = list(action.__annotations__)
    taken = {name for name in names if str(action.__annotations__[name]).startswith("Sequence[str]")}

    def listed(name: str, value: Any) -> Any:
        return [value] if name in taken and isinstance(value, str) else value

    @functools.wraps(action)
    def acting(*args: P.args, **options: P.kwargs) -> T:
        first = [listed(name, value) for name, value in zip(names, args, strict=False)]
        return action(*first, **{name: listed(name, value) for name, value in options.items()})

    return acting


class Intake:
    """Takes typed texts where policy allows some of the scanner's rules, and the user overrides some more."""

    def __init__(self, allowed: Collection[str], overridden: Collection[str] = ()) -> None:
        self._allowed = (*allowed, *overridden)
        self._overridden = overridden
        self._used: set[str] = set()

    def text(self, where: str, value: str, *, lines: bool = True) -> str:
        """Return a typed text as the ledger stores it; refuse what is unfit for it or holds a secret."""
        clean = value.replace("\r\n", "\n").strip()
        if is_blank(clean):
            raise TextEmpty(where=where, problem="nothing of it can be seen" if clean else "it is empty")
        for problem in text_problems(clean, lines=lines):
            raise TextInvalid(where=where, problem=problem)
        return self.name(where, clean)

    def name(self, where: str, value: str) -> str:
        """Return the name of a file or of a place as it is; refuse one that holds a secret."""
        from memento_git.texts.secrets import refuse_secrets

        self._use(refuse_secrets(where, value, self._allowed))
        return value

    def notice(self, text: str) -> None:
        """Take note of the overridden rules that are needed for a text which was taken in elsewhere."""
        from memento_git.texts.secrets import find_secrets, slug

        if self._overridden:
            self._use({slug(secret.rule) for secret in find_secrets(text)})

    def _use(self, found: Collection[str]) -> None:
        from memento_git.texts.secrets import slug

        self._used.update(rule for rule in self._overridden if slug(rule) in found)

    def overridden(self, before: Iterable[str] = ()) -> list[str]:
        """Return the rules that the user overrode for texts so far, beside those of before."""
        return sorted({*before, *self._used})

    def texts(self, where: str, values: Iterable[str]) -> list[str]:
        return [self.text(where, value, lines=False) for value in values]

    def optional(self, where: str, value: str, *, lines: bool = True) -> str:
        return self.text(where, value, lines=lines) if not is_blank(value) else ""

    def reason(self, verb: str, value: str, key: str = "reason") -> str:
        if is_blank(value):
            raise ReasonRequired(verb=verb, key=key)
        return self.text("reason", value)
