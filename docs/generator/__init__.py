"""Writes the schemas and the reference pages from the code: `python -m docs.generator`."""
