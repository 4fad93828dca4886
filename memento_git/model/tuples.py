"""NamedTuple as `typing` has it, for what short commands load: it is made in half the time."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _Making(type):
        """Makes a named tuple of a class; the types of its fields stay text, where `typing` compiles each of them."""

        def __new__(cls, name: str, bases: tuple[type, ...], held: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, held)
            fields = held.get("__annotations__", {})
            defaults = [held.pop(field) for field in fields if field in held]
            made = namedtuple(name, fields, defaults=defaults, module=held["__module__"])  # noqa: PYI024 (this is it)
            for key, value in held.items():
                setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Making):
        """The base of a class whose annotated names are the fields of a tuple."""
