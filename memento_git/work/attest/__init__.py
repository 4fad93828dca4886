"""Signatures of records, and attestations that leave the ledger."""
