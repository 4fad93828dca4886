"""The NamedTuple of short commands is what `typing` would have made."""

from __future__ import annotations

import pickle
from typing import NamedTuple

from memento_git.model import tuples


class Theirs(NamedTuple):
    """What a road is."""

    start: str
    length: int = 0

    @property
    def is_long(self) -> bool:
        return self.length > 9

    def __str__(self) -> str:
        return f"from {self.start}"


class Ours(tuples.NamedTuple):
    """What a road is."""

    start: str
    length: int = 0

    @property
    def is_long(self) -> bool:
        return self.length > 9

    def __str__(self) -> str:
        return f"from {self.start}"


def test_it_is_a_tuple_with_the_same_fields_defaults_methods_and_names() -> None:
    road = Ours("here", length=12)
    assert tuple(road) == tuple(Theirs("here", 12)) == ("here", 12)
    assert (road.start, road.length, road.is_long, Ours("there").length) == ("here", 12, True, 0)
    assert (str(road), repr(road)) == ("from here", "Ours(start='here', length=12)")
    assert road._replace(length=1)._asdict() == {"start": "here", "length": 1}
    assert (Ours._fields, Ours._field_defaults) == (Theirs._fields, Theirs._field_defaults)
    assert (Ours.__doc__, Ours.__module__, Ours.__qualname__) == (Theirs.__doc__, Theirs.__module__, "Ours")
    assert Ours.__mro__[1:] == Theirs.__mro__[1:] == (tuple, object)
    assert type(pickle.loads(pickle.dumps(road))) is Ours


def test_the_types_of_its_fields_stay_the_text_that_they_are_written_as() -> None:
    assert Ours.__annotations__ == {"start": "str", "length": "int"}
