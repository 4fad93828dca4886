"""Readers of what other tools keep: each returns entries, and says what it passed over and why."""
