"""Which keys each verb of a list takes, from the signatures of the actions."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

from memento_git.verbs.batch import ACTIONS, BatchInvalid

if TYPE_CHECKING:
    from memento_git.model.rows import Row

VALUES: Final = {
    "str": "text", "str | None": "text", "Reason": "text", "bool": "`true` or `false`",
    "bool | None": "`true` or `false`", "int": "a length of time", "int | None": "a whole number",
    "Sequence[str]": "list", "Sequence[str] | None": "list",
}  # fmt: skip


def keys_of(verb: str) -> list[Row]:
    """Return the keys of a verb: the name of each, what it is, and whether the verb refuses to go without it."""
    if verb not in ACTIONS:
        raise BatchInvalid(where=verb, problem=f"the verbs of a list are {', '.join(ACTIONS)}")
    found = inspect.signature(ACTIONS[verb]).parameters
    return [
        {"name": name.rstrip("_"), "value": VALUES[str(one.annotation)],
         "required": one.default is one.empty or one.annotation == "Reason"}
        for name, one in found.items() if name != "tx"
    ]  # fmt: skip
