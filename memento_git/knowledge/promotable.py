"""Which drafts are promoted where none is named: those of who acts, made in their session, and by no scan. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.knowledge.injection import LOW, must_be_named, orders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.model.objection import Objection

SCANS: Final = ("docstring", "described")
"""The tags of what a scan drafts."""


class Own(NamedTuple):
    """Who acts, and since when their session is open; nothing where none is."""

    actor: str
    since: str = ""

    def left_out(self, data: Mapping[str, Any], body: str) -> Objection:
        """Return why a draft is promoted by no more than its name, or with all: in one word; nothing where it is."""
        if must_be_named(data["origin"], orders(data, body)):
            return "orders"
        if data["origin"] in LOW and not {*SCANS}.isdisjoint(data.get("tags") or ()):
            return "scanned"
        if data["by"] != self.actor:
            return "others"
        return "earlier" if data["at"] < self.since else ""
