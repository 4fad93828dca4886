"""Playing a page's commands: blocks tagged `sh` are run in order, the `text` block after one is what it prints.

Ids, times and durations differ from one run to the next; each id of the page stands for the id that took its place.
`python -m docs.generator.transcript PAGE...` plays pages anew and writes what was printed into them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BLOCK: Final = re.compile(r"^```(sh|sh refused)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
IDENTITY: Final = re.compile(
    r"\b((?:run|plan|task|dispatch|evidence|note|event)_|memento/)([0-9a-hjkmnp-tv-z]{4,12})\b"
)
CHANGING: Final = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{3}Z)?"), "<time>"),
    (re.compile(r"\d{8}T\d{9}Z-([a-z]+)-[0-9a-z]{12}"), r"<time>-\1-<random>"),
    (re.compile(r"(?m)^[0-9a-f]{7}(?= \S+: )"), "<commit>"),
    (re.compile(r"\bindex [0-9a-f]{7}\.\.[0-9a-f]{7}"), "<index>"),
    (re.compile(r"@[0-9a-f]{32}"), "@<digest>"),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "<digest>"),
    (re.compile(r"\b\d+\.\d+ ?s(?:econds)?\b"), "<seconds>"),
    (re.compile(r" +"), " "),
)
SETUP: Final = re.compile(r"^.*(?:\bpip install\b|-m venv\b).*$", re.MULTILINE)


class Played(NamedTuple):
    """One block: what the page says it prints (None: nothing said), what it printed, and its exit code."""

    command: str
    refused: bool
    expected: str | None
    printed: str
    code: int
    span: tuple[int, int]


class Session:
    """A shell whose folder and environment last from one block to the next."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = dict(environment)
        self.state = folder / ".state"
        self.state.write_text(f"cd {folder}\n")
        self.work = folder

    def run(self, command: str) -> tuple[str, int]:
        script = f"cd '{self.work}'\n{command}\ncode=$?\npwd > '{self.state}'\nexit $code\n"
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        self.work = Path(self.state.read_text().strip())
        for line in command.splitlines():
            if line.startswith("export "):
                name, _, value = line.removeprefix("export ").partition("=")
                self.environment[name] = value.strip("'\"")
        return done.stdout, done.returncode


class Ids:
    """Which id of the page stands for which id of this run."""

    def __init__(self) -> None:
        self.real: dict[str, str] = {}

    def given(self, text: str) -> str:
        """Return a command of the page with this run's ids."""
        return IDENTITY.sub(lambda match: self._find(match[0]), text)

    def _find(self, shown: str) -> str:
        return next((real for page, real in self.real.items() if page.startswith(shown)), shown)

    def learn(self, expected: str, printed: str) -> None:
        """Pair the ids of what was expected and what was printed, in their order."""
        for page, real in zip(IDENTITY.finditer(expected), IDENTITY.finditer(printed), strict=False):
            if len(page[2]) == 12 and len(real[2]) == 12 and page[1] == real[1]:
                self.real.setdefault(page[0], real[0])

    def shown(self, text: str) -> str:
        """Return what was printed with the page's ids."""
        for page, real in self.real.items():
            text = text.replace(real, page)
        short = {
            real[: real.index("_") + 5]: page[: page.index("_") + 5] for page, real in self.real.items() if "_" in page
        }
        return IDENTITY.sub(lambda match: short.get(match[0], match[0]), text)


def plain(text: str) -> str:
    """Return a text without what differs from one run to the next."""
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return IDENTITY.sub(r"\1<id>", text).strip()


def play(text: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Played]:
    """Run the blocks of a page in a folder; lines that install something are passed over."""
    session, ids = Session(folder, environment), Ids()
    for match in BLOCK.finditer(text):
        command = SETUP.sub("", match[2])
        printed, code = session.run(ids.given(command))
        printed = printed.replace(str(folder), "~")
        ids.learn(match[3] or "", printed)
        yield Played(match[2], "refused" in match[1], match[3], ids.shown(printed), code, match.span(3))


def main(pages: list[str]) -> None:
    """Write into each page what its commands print now."""
    import os

    for name in pages:
        page = Path(name)
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            played = list(play(text, Path(folder), os.environ))
        for block in reversed(played):
            if block.expected is not None:
                start, end = block.span
                text = text[:start] + block.printed.rstrip("\n") + "\n" + text[end:]
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
