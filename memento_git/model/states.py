"""The states that rules and summaries both ask about."""

from __future__ import annotations

from typing import Final

FINAL_RUN: Final = ("cancelled", "completed")
DONE: Final = ("completed", "accepted")
