"""Memento: the ledger that AI-assisted software work is proven in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memento_git.errors import MementoError
    from memento_git.ledger.store import Ledger

__version__ = "0.1.0"
__all__ = ["Ledger", "MementoError", "__version__"]


def __getattr__(name: str) -> object:
    """Import the public names when they are asked for, so that the command line starts at once."""
    if name == "Ledger":
        from memento_git.ledger.store import Ledger

        return Ledger
    if name == "MementoError":
        from memento_git.errors import MementoError

        return MementoError
    raise AttributeError(name)
