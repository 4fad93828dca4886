"""Commands that are run: what they showed, and the reports that they wrote."""
