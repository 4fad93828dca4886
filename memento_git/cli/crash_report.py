"""What nobody foresaw: its traceback is kept in a file for a report, and no user sees it."""

from __future__ import annotations

import tempfile
import traceback


def told(error: Exception) -> tuple[str, str]:
    """Return what is said of an error that nobody foresaw, and where its traceback is, if it could be kept."""
    try:
        hint = f"please report it with {_keep(error)}"
    except Exception as full:  # noqa: BLE001 (telling of a bug must not be another)
        hint = f"please report it; its traceback could not be kept: {full}"
    return f"a bug of memento: {type(error).__name__}: {error}", hint


def _keep(error: Exception) -> str:
    with tempfile.NamedTemporaryFile(
        "w", prefix="memento-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
    ) as log:
        traceback.print_exception(error, file=log)
    return log.name
