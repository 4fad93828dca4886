"""The import graph of the code: read, measured, compared, and what it proposes."""
