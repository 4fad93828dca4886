"""The verbs of the work group. Each takes a transaction, applies the rules and writes what happened."""
