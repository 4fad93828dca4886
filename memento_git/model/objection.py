"""What the functions answer that find out whether something may be, or counts: what speaks against it."""

from __future__ import annotations

from typing import TypeAlias

Objection: TypeAlias = str  # why not, in words; empty, so false, where nothing speaks against it
