"""Memento: the ledger that AI-assisted software work is proven in.

`Ledger` opens a repository's ledger; what is done with it are functions of `memento_git.work.actions` and
`memento_git.knowledge.actions`, each a verb of the command line. `Memory` and `MemoryManager` keep and recall short
texts. What is impossible raises a `MementoError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memento_git.errors import MementoError
    from memento_git.ledger.store import Ledger
    from memento_git.memory import Memory
    from memento_git.tiers import MemoryManager

__version__ = "0.1.0"
__all__ = ["Ledger", "MementoError", "Memory", "MemoryManager", "__version__"]

_WHERE = {
    "Ledger": "memento_git.ledger.store",
    "MementoError": "memento_git.errors",
    "Memory": "memento_git.memory",
    "MemoryManager": "memento_git.tiers",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are asked for, so that the command line starts at once."""
    if name not in _WHERE:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)
