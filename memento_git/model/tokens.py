"""How many tokens a text may take: an estimate, as each model counts otherwise. Pure."""

from __future__ import annotations

from typing import Final

BYTES: Final = 3  # of one token
ESTIMATE: Final = f"estimated at {BYTES} bytes of UTF-8 per token, rounded up, so on the high side"


def size(text: str) -> int:
    """Return how many bytes a text is printed as."""
    return len(text.encode("utf-8", "surrogatepass"))


def tokens(text: str) -> int:
    """Return how many tokens a text may take; see ESTIMATE."""
    return -(-size(text) // BYTES)
