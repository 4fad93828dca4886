"""The grammars of languages other than Python: they are in the pack, and come over no network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memento_git.code import grammars
from memento_git.code.definitions import DEFINITIONS
from memento_git.code.grammars import ENDINGS, GRAMMARS, PYTHON
from memento_git.code.imports import syntax_trees

HERE = Path(__file__).parents[1]
PARSED_IN_PRIVATE = """
import sys

def watch(event, args):
    if event.startswith(("socket.", "urllib.", "subprocess.", "os.system")):
        raise SystemExit(f"{event} {args}")
    written = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if written and "__pycache__" not in str(args[0]):
        raise SystemExit(f"{event} {args}")

sys.addaudithook(watch)
from memento_git.code import grammars
for language in grammars.available():
    assert grammars.parser(language).parse(b"x").root_node is not None
"""
LOADED_BY_ASKING = """
import sys
from memento_git.code import grammars
assert grammars.available()
sys.exit(any(name.startswith("tree_sitter") for name in sys.modules))
"""


def said_by(script: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-c", script], cwd=HERE, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.fixture
def afresh() -> object:
    grammars.available.cache_clear()
    yield
    grammars.available.cache_clear()


def test_every_language_that_is_told_of_is_in_the_pack() -> None:
    pytest.importorskip(grammars.PACK)
    assert grammars.available() == tuple(GRAMMARS)
    assert set(GRAMMARS) <= set(ENDINGS.values()) - {PYTHON}
    assert set(syntax_trees.QUERIES) <= set(GRAMMARS)
    assert set(DEFINITIONS) == set(GRAMMARS)


def test_nothing_is_fetched_or_written_to_parse() -> None:
    pytest.importorskip(grammars.PACK)
    assert said_by(PARSED_IN_PRIVATE) == (0, "")


def test_to_ask_which_languages_there_are_loads_none() -> None:
    pytest.importorskip(grammars.PACK)
    assert said_by(LOADED_BY_ASKING) == (0, "")


@pytest.mark.usefixtures("afresh")
def test_a_pack_without_grammars_in_it_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = tmp_path / grammars.PACK
    pack.mkdir()
    (pack / "__init__.py").write_text("raise AssertionError('it would download its grammars')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, grammars.PACK, raising=False)
    assert grammars.available() == ()
