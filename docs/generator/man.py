"""The manual page that `git memento --help` shows: git itself asks man for it, and never our command."""

from __future__ import annotations

import inspect

from memento_git.cli.main import SECTIONS, memento

SYNOPSIS = (r"\fBgit memento\fR [\fB\-C\fR \fIPATH\fR] [\fB\-\-json\fR] [\fB\-\-actor\fR \fIWHO\fR] "
            r"\fICOMMAND\fR [\fIARGS\fR]")  # fmt: skip
MORE = (
    "`git memento COMMAND -h` tells what a command takes, and ends with an example where it is a common one. "
    "`memento` alone is the same command. `memento guide` is the way through the work, for agents and people."
)


def page() -> str:
    """Return the page, in the language of man."""
    about = inspect.cleandoc(memento.help or "").split("\n\n")
    parts = [
        '.TH GIT\\-MEMENTO 1 "" "memento\\-git"',
        f".SH NAME\ngit\\-memento \\- {_text(about[0])}",
        f".SH SYNOPSIS\n{SYNOPSIS}",
        ".SH DESCRIPTION\n" + "\n.PP\n".join(map(_text, about[1:])),
    ]
    for title, commands in SECTIONS.items():
        rows = (f".TP\n.B {_text(name)}\n{_text(told)}" for name, (_, told) in commands.items())
        parts.append("\n".join([f'.SH "{title.upper()}"', *rows]))
    return "\n".join([*parts, f".SH MORE\n{_text(MORE)}"]) + "\n"


def _text(said: str) -> str:
    r"""Return a text as man reads it: a line that begins with a dot is no order, and a minus can be copied."""
    flat = " ".join(said.replace("`", "").split())
    return rf"\&{flat}".replace("-", r"\-") if flat.startswith((".", "'")) else flat.replace("-", r"\-")
