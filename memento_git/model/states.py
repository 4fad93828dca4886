"""The few words that rules, summaries and options all ask about."""

from __future__ import annotations

from typing import Final

FINAL_RUN: Final = ("cancelled", "completed")
RISKS: Final = ("low", "medium", "high")
SIZES: Final = ("small", "medium", "large")
DONE: Final = ("completed", "accepted")
SENDERS: Final = ("auto", "cron", "webhook", "chat")
