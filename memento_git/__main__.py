"""The command line's front door; all else is imported when a command needs it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    from memento_git.cli.boundary import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
