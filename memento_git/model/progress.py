"""How far a long reading is, for whoever waits: it is called with how many are done, of how many."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
