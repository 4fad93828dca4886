"""What a caller in Python hands over is of the types that the method's signature names. Pure."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from memento_git.errors import Misused

Kind = TypeVar("Kind")


class ArgumentInvalid(Misused, TypeError):
    token = "argument_invalid"
    sentence = "{method}: {problem}"
    hint_ = "what it takes: help({method})"


def checked(kind: type[Kind]) -> type[Kind]:
    """Let a class and its public methods refuse arguments of other types than they name; None is as if not given."""
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, _checked(method))
    return kind


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(self: Any, *arguments: Any, **options: Any) -> Any:
        return method(self, **fit(method, *arguments, **options))

    return called


def fit(method: Callable[..., Any], /, *arguments: Any, **options: Any) -> dict[str, Any]:
    """Return the arguments of a method by their names; refuse what it does not take."""
    signature, wanted = _known(method)
    try:
        given = signature.bind(None, *arguments, **options).arguments
    except TypeError as error:
        raise ArgumentInvalid(method=_name(method), problem=error) from None
    given = {name: value for name, value in given.items() if name in wanted}
    for name, value in given.items():
        parameter = signature.parameters[name]
        may_lack = parameter.default is not parameter.empty
        if not (fits(value, wanted[name]) or (value is None and may_lack)):
            takes = f"{parameter.annotation}{' from 0 on' if wanted[name] is int else ''}"
            told = f"{name} is {value if isinstance(value, Real) else f'a {type(value).__name__}'}; it takes {takes}"
            raise ArgumentInvalid(method=_name(method), problem=told)
    return {name: value for name, value in given.items() if value is not None}


@functools.cache
def _known(method: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    return inspect.signature(method), get_type_hints(method)


def _name(method: Callable[..., Any]) -> str:
    return method.__qualname__.removesuffix(".__init__")


def fits(value: Any, wanted: Any) -> bool:
    """Tell whether a value is of a type as annotations name them; a whole number is a count."""
    kind, inside = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return True
    if wanted in (int, float):
        is_count = isinstance(value, Integral) and int(value) >= 0
        return not isinstance(value, bool) and (is_count if wanted is int else isinstance(value, Real))
    if kind is None:
        return isinstance(value, wanted)
    if not issubclass(kind, Iterable):
        return any(fits(value, one) for one in inside)
    is_several = isinstance(value, kind) and not isinstance(value, str | bytes)
    return is_several and (kind is Iterable or all(fits(one, inside[0]) for one in value))
