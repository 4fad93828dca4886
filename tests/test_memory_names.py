"""Every tool of the memory seeds does its work here: each row of the page is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from memento_git.cli.synonyms import MEANT
from memento_git.knowledge.actions import notes
from memento_git.ledger.store import Ledger
from memento_git.work.actions.setup import init_ledger
from tests.mentions import missing
from tests.play import Play, git
from tests.test_foreign_pmb import workspace

if TYPE_CHECKING:
    from tests.play import Call

PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "seed-memory-names.md"
ROW: Final = re.compile(r"^\| `(?P<tool>[^`]+)` \| (?P<here>.+?) \| (?P<differs>.*?) ?\|$", re.MULTILINE)
ROWS: Final = [(match["tool"], re.findall(r"`([^`]+)`", match["here"])) for match in ROW.finditer(PAGE.read_text())]

STORE: Final = [
    *("claim", "update", "reinforce", "link", "prune_candidates", "compress", "import", "verify", "spatial", "rebase"),
    *("read", "grep", "glob", "write", "edit", "scan", "map", "coverage", "explore", "plan", "recall", "search"),
    *("query", "active", "soul", "status", "help", "graph", "provenance", "blame", "log", "diff", "reroot", "chains"),
    *("cat", "promote", "session_status", "stash", "stash_pop", "checkpoint", "session_compress", "gap", "ask", "arc"),
    *("pipeline", "vector", "run", "pipelines", "vectors", "learn", "infer", "survey", "init", "projects", "switch"),
]
SERVER: Final = (
    "store", "store_many", "recall", "recall_many", "update", "forget", "forget_prefix", "recent", "browse", "stats",
)  # fmt: skip


def test_all_tools_of_both_have_a_row() -> None:
    tools = {tool for tool, _ in ROWS}
    assert len(STORE) == 55
    assert {f"memory_{name}" for name in STORE} == {tool for tool in tools if tool.startswith("memory_")}
    assert {f"memento_{name}" for name in SERVER} == {tool for tool in tools if tool.startswith("memento_")}
    assert len(ROWS) == len(PAGE.read_text().split("\n| `")) - 1


@pytest.mark.parametrize(("tool", "commands"), ROWS, ids=[tool for tool, _ in ROWS])
def test_every_row_names_commands_that_are_there(tool: str, commands: list[str]) -> None:
    assert commands, f"{tool} leads nowhere"
    told = [command for command in commands if command.startswith("memento ")]
    assert [wrong for command in told for wrong in missing(command)] == []


def test_what_users_of_the_local_server_type_is_asked_about_in_our_words(cli: Call) -> None:
    lines = dict(ROWS[[tool for tool, _ in ROWS].index("init") :])
    typed = {tool: lines[tool] for tool in MEANT if tool in lines}
    assert set(typed) == {
        "search",
        "list",
        "about",
        "verify",
        "stats",
        "reembed",
        "forget",
        "forget-prefix",
        "import_data",
    }
    for tool, commands in typed.items():
        assert any(set(MEANT[tool].split()) <= set(command.split()) for command in commands), tool
    for tool, command in MEANT.items():
        assert missing(f"memento {command}") == []
        code, _, err = cli(*tool.split())
        assert (code, set(command.split()) <= set(err.partition("next: memento ")[2].split())) == (2, True), err


@pytest.mark.parametrize(("tool", "commands"), ROWS, ids=[tool for tool, _ in ROWS])
def test_every_command_of_the_table_of_names_runs(
    tool: str, commands: list[str], play: Play, cli: Call, tmp_path: Path
) -> None:
    if commands[0].startswith("from "):
        exec(commands[0], {})
        return
    scene = _scene(play, tmp_path, tool)
    for command in commands:
        if command == "memento mcp":  # a server, until whoever started it leaves
            started = [sys.executable, "-m", "memento_git", "-C", str(play.root), "mcp"]
            assert subprocess.run(started, stdin=subprocess.DEVNULL, check=False).returncode == 0
            continue
        if command == "memento web":
            started = [sys.executable, "-m", "memento_git", "-C", str(play.root), "web"]
            with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as server:
                assert server.stdout
                assert server.stdout.readline().startswith("http://127.0.0.1:")
                server.terminate()
            continue
        words = [scene.get(word, word) for word in shlex.split(command)[1:]]
        words = [re.sub(r"\bPATH\b", scene["PATH"], word) for word in words]
        at = () if "-C" in words else ("-C", str(play.root))
        code, out, err = cli(*(word.replace("app.py/..", str(play.root)) for word in words), *at)
        assert code == 0, f"{command}: {out}{err}"


def _scene(play: Play, folder: Path, tool: str) -> dict[str, str]:
    """Return what stands for the words in capitals, made in a fresh ledger."""
    with play.ledger.transaction("scene") as tx:
        note = notes.add_note(tx, "Tokens live an hour, 3600 s.", key="auth.token", thread="auth", about=["app.py"]).id
        near = [f"relates_to:{note}"]
        other = notes.add_note(tx, "The user likes the dark theme.", key="user.theme", links=near).id
        notes.add_note(tx, "Tokens are signed.", thread="auth", domain="decisions", tags=["tokens"])
        notes.add_note(tx, "The bakery opens at six.")
        goal = notes.add_note(tx, "Write all tests.", kind="goal").id
    file = folder / "given"
    if tool in ("memory_pipeline", "memory_vector"):
        file.write_text("name: mine\nabout: What is known.\nsteps:\n- do: recall\n  query: tokens\n")
    elif tool == "import_data":
        file.write_text('{"id": "1", "content": "Times are UTC.", "kind": "fact"}\n')
    elif tool == "import":
        workspace(folder, ("a", "fact", "Times are UTC.", {}, 0.5, False)).rename(file)
    else:
        file.write_text('{"text": "Times are UTC.", "kind": "fact"}\n{"text": "Days begin at six."}\n')
    git(play.root, "config", "user.name", "Ada")
    git(play.root, "config", "user.email", "ada@example.invalid")
    there = _another(folder) if tool in ("memory_import", "memory_switch") else ""
    return {
        "NOTE": note, "OTHER": other, "GOAL": goal, "FILE": str(file), "PATH": "app.py", "OTHERPROJECT": there,
    }  # fmt: skip


def _another(folder: Path) -> str:
    """Make another project that has a note with the same key, and return where it is."""
    place = folder / "other"
    git(folder, "init", "-q", "-b", "main", "other")
    with Ledger.open(place) as ledger:
        init_ledger(ledger)
        Play(ledger).do(notes.add_note, "Tokens rotate there.", key="auth.rotation")
    return str(place)
