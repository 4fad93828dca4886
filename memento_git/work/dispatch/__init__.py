"""Handing a task out: whether it may be, on which terms, and what its executor is told."""
