"""Peers for recall: FTS5 and mnemo's numbers in this process, Whoosh and basic-memory in environments of their own."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from measure import call, environment
from recall_labels import Answer
from recall_mnemo import Mnemo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recall_labels import Note, Question

WHOOSH: Final = "whoosh3"
BASIC_MEMORY: Final = ("basic-memory", "fastmcp<4")
WORDS: Final = re.compile(r"\w+")
WHOOSH_PROGRAM: Final = """
import json, sys
from whoosh import fields, index, qparser
notes, asks, way, folder = json.load(sys.stdin), json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
held = index.create_in(folder, fields.Schema(id=fields.STORED, body=fields.TEXT))
with held.writer() as writer:
    for name, body in notes:
        writer.add_document(id=name, body=body)
group = qparser.OrGroup if way == "or" else qparser.AndGroup
parser = qparser.QueryParser("body", held.schema, group=group)
with held.searcher() as searcher:
    print(json.dumps([[hit["id"] for hit in searcher.search(parser.parse(ask), limit=10)] for ask in asks]))
"""
BASIC_PROGRAM: Final = r"""
import asyncio, json, os, re, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def main(notes, asks, program):
    async with Client(StdioTransport(program, ["mcp"], env=dict(os.environ))) as client:
        names = {}
        for number, (name, title, tags, text) in enumerate(notes):
            made = await client.call_tool("write_note", {
                "project": "main", "title": title, "directory": f"n{number}", "content": text, "tags": tags,
            })
            link = re.search(r"^permalink: (.+)$", made.content[0].text, re.M).group(1)
            names[link] = name
        found = []
        for ask in asks:
            told = await client.call_tool("search_notes", {
                "project": "main", "query": ask, "page_size": 20, "search_type": "text",
            }, raise_on_error=False)
            hits = [names.get(link) for link in re.findall(r'permalink"?: ?"?([^\s",]+)', told.content[0].text)]
            found.append([hit for hit in dict.fromkeys(hits) if hit])
        return found

given = json.load(sys.stdin)
print("\n" + json.dumps(asyncio.run(main(given["notes"], given["asks"], sys.argv[1]))))
"""


def fts5(notes: Sequence[Note], questions: Sequence[Question]) -> list[Answer]:
    """Any word of the question, stemmed by porter, ranked by bm25 over title, key, tags and text alike."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE notes USING fts5(id UNINDEXED, title, key, tags, text, tokenize='porter')")
    base.executemany(
        "INSERT INTO notes VALUES (?, ?, ?, ?, ?)",
        [(note.id, note.title, note.key, " ".join(note.tags), note.text) for note in notes],
    )
    ask = "SELECT id FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10"
    wanted = (" OR ".join(f'"{word}"' for word in WORDS.findall(question.ask)) for question in questions)
    return [_always([row[0] for row in base.execute(ask, [words])] if words else []) for words in wanted]


def mnemo(notes: Sequence[Note], questions: Sequence[Question]) -> list[Answer]:
    engine = Mnemo(notes)
    return [engine.answer(question) for question in questions]


class Installed:
    """Peers that are packages: each in an environment of its own, made when it is first asked for."""

    def __init__(self, folder: Path, newer: str | None = None) -> None:
        self.folder = folder
        self.newer = newer
        self.env = environment(folder / "home")
        self.versions: dict[str, str] = {}

    def _python(self, name: str, packages: Sequence[str], maker: str) -> Path:
        place = self.folder / name
        python = place / "bin" / "python"
        if not python.exists():
            call([maker, "-m", "venv", place], self.folder, self.env)
            call([place / "bin" / "pip", "install", "--quiet", *packages], self.folder, self.env)
        code = f"import importlib.metadata as m; print(m.version({packages[0]!r}))"
        self.versions[packages[0]] = call([python, "-c", code], self.folder, self.env).strip()
        return python

    def whoosh(self, notes: Sequence[Note], questions: Sequence[Question], way: str) -> list[Answer]:
        """Whoosh as it comes: one text field, the question given to its query parser."""
        python = self._python("whoosh", (WHOOSH,), sys.executable)
        index = self.folder / f"index-{way}"
        shutil.rmtree(index, ignore_errors=True)
        index.mkdir()
        asks = json.dumps([question.ask for question in questions])
        data = json.dumps([(note.id, note.whole) for note in notes]).encode()
        return _read(call([python, "-c", WHOOSH_PROGRAM, asks, way, index], self.folder, self.env, data))

    def basic_memory(self, notes: Sequence[Note], questions: Sequence[Question]) -> list[Answer] | None:
        """basic-memory through its own MCP server, or nothing where there is no Python 3.12 or newer for it."""
        maker = self.newer or next(filter(_works, ("python3.13", "python3.12")), None)
        if maker is None:
            return None
        python = self._python("basic-memory", BASIC_MEMORY, maker)
        shutil.rmtree(self.folder / "basic-home", ignore_errors=True)
        settings = {"BASIC_MEMORY_NO_PROMOS": "1", "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}
        env = {**environment(self.folder / "basic-home"), **settings}
        rows = [(note.id, note.title, [*note.tags, note.key], note.text) for note in notes]
        data = json.dumps({"notes": rows, "asks": [question.ask for question in questions]}).encode()
        server = python.parent / "basic-memory"
        return _read(call([python, "-c", BASIC_PROGRAM, server], self.folder, env, data).splitlines()[-1])


def _works(python: str) -> bool:
    """Tell whether an interpreter is there and starts; a version manager's shim may be there and refuse."""
    found = shutil.which(python)
    return found is not None and not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode


def _read(printed: str) -> list[Answer]:
    return [_always(ids) for ids in json.loads(printed)]


def _always(ids: list[str]) -> Answer:
    """Return what an engine without a floor of its own answered."""
    return Answer(ids[:10], len(ids[:10]))
