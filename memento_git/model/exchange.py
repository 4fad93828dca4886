"""What an import comes to, whatever it reads."""

from __future__ import annotations

from typing import Final, NamedTuple

DIGEST_TOKENS: Final = 2000


class Taken(NamedTuple):
    """A note that came in, or was there already, or became a draft for a reason."""

    id: str
    title: str
    why: str = ""


class LeftOut(NamedTuple):
    """Something that did not come in: where it stands (a file, a line, an id), and why."""

    where: str
    why: str


class Brought(NamedTuple):
    """All that an import did, or would do."""

    added: list[Taken]
    existing: list[Taken]
    drafts: list[Taken]
    skipped: list[LeftOut]
