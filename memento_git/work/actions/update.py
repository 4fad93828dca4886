"""update: how this installation is brought up to date, and doing it when asked."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from memento_git.errors import Refused
from memento_git.work.running import capture

NAME: Final = "memento-git"
KEPT: Final = 4096


class FromCheckout(Refused):
    token = "installed_from_checkout"
    sentence = "memento runs from a checkout of its source, which no installer updates"
    hint_ = "git pull in that checkout"


class UpdateFailed(Refused):
    token = "update_failed"
    sentence = "{command} ended with {code}"
    hint_ = "run it yourself to see why; nothing else was changed"


def command(prefix: str, executable: str) -> list[str]:
    """Return the command that updates an installation below a prefix: pipx's, uv's, or pip's of its interpreter."""
    parts = Path(prefix).parts
    if "pipx" in parts:
        return ["pipx", "upgrade", NAME]
    if "uv" in parts and "tools" in parts:
        return ["uv", "tool", "upgrade", NAME]
    return [executable, "-m", "pip", "install", "--upgrade", NAME]


def plan() -> list[str]:
    """Return the command that updates this installation; refuse where it is a checkout, be it one on the path alone."""
    try:
        told = distribution(NAME).read_text("direct_url.json") or ""
    except PackageNotFoundError:
        raise FromCheckout from None
    if '"editable":true' in "".join(told.split()):
        raise FromCheckout
    return command(sys.prefix, sys.executable)


def update() -> list[str]:
    """Update this installation, what the installer says passing through; return the command.

    The installer starts in the installation's own folder: in another one, a file of its name there would be run.
    """
    argv = plan()
    done = capture.run_command(argv, Path(sys.prefix), keep=KEPT, quiet=True)
    if done.exit:
        raise UpdateFailed(command=" ".join(argv), code=done.exit)
    return argv
