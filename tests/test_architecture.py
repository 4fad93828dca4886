"""Nothing is forgotten: every kind, command, option and refusal has all that belongs to it."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import shlex
import shutil
import string
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import pytest

import memento_git
from docs.generator import errors, findings
from docs.generator.commands import tree
from docs.generator.schemas import documents
from memento_git.cli.main import COMMANDS, SECTIONS, memento
from memento_git.cli.seed_names import ALIASES
from memento_git.cli.suggestions import led_on
from memento_git.errors import MementoError
from memento_git.ledger import layout
from memento_git.ledger.codec import PROSE
from memento_git.model.events import VERBS
from memento_git.model.finding import CODES
from memento_git.model.ids import KINDS, NOT_FOUND
from memento_git.model.states import RUN_STATUSES, TASK_STATUSES
from memento_git.review.catalogue import CATALOGUE
from memento_git.review.diff import WAY
from memento_git.review.report import ORDER
from memento_git.verbs.batch import ACTIONS
from memento_git.work.transitions import TASK_RULES
from tests.mentions import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = Path(memento_git.__path__[0])
MODULES: Final = sorted(PACKAGE.rglob("*.py"))
MOST_LINES: Final = 400
LONGEST_FUNCTION: Final = 40
REFERENCE: Final = ROOT / "docs" / "reference"
RANDOM: Final = "7k2m9p4x1c0d"
WITH_A_FILE: Final = [kind for kind in KINDS if kind != "dispatch"]

# What does not hold yet; an entry goes when its cause is mended, and none is added.
TOO_LARGE: Final[set[str]] = set()
TELLS_LESS: Final[set[str]] = set()
NEVER_RAISED: Final[set[str]] = set()
NAMES_NO_COMMAND: Final[set[str]] = set()
OTHER_FACTS: Final = {"EvidenceForeignToRun"}  # its task is a run


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE.parent).as_posix()


# Kinds.


def path_of(kind: str) -> str:
    run, record = f"run_{RANDOM}", f"{kind}_{RANDOM}"
    if kind == "event":
        return f"{layout.folder_of(run, run)}/{layout.event_name('2026-11-21T21:02:13.377Z', 'paused', record)}"
    if kind == "note":
        return layout.note_path("decisions", record)
    return layout.evidence_path(run, record) if kind == "evidence" else layout.prose_path(run, record)


@pytest.mark.parametrize("kind", WITH_A_FILE)
def test_every_kind_has_a_path_that_leads_back_to_it(kind: str) -> None:
    place = layout.place_of(path_of(kind))
    assert place is not None
    assert (place.kind, place.id) == (kind, f"{kind}_{RANDOM}")


@pytest.mark.parametrize("kind", WITH_A_FILE)
def test_every_kind_has_a_codec_a_schema_and_a_section_in_the_formats(kind: str) -> None:
    assert kind in {*PROSE, "evidence", "event"}
    assert kind in documents()
    assert f"\n## {kind.capitalize()}\n" in (REFERENCE / "formats.md").read_text()


def test_every_kind_of_id_has_a_token_for_its_absence() -> None:
    assert set(NOT_FOUND) == set(KINDS)


# Commands.

LEAVES: Final = [(" ".join(path), command) for path, command in tree(memento)]


@pytest.mark.parametrize(("name", "command"), LEAVES, ids=[name for name, _ in LEAVES])
def test_every_command_has_help_and_is_documented_with_its_options(name: str, command: click.Command) -> None:
    page = (REFERENCE / "commands.md").read_text()
    assert command.help, "no help"
    assert command.help.strip().splitlines()[0].rstrip().endswith((".", ":", '"$(memento completion bash)"', "but"))
    assert f"\n## memento {name}\n" in page
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{option.opts[0]} has no help"
            assert all(f"`{one}`" in page or f"`{one} " in page for one in option.opts), option.opts


def test_a_run_is_named_by_either_option_everywhere() -> None:
    options = [(path, one) for path, command in LEAVES for one in command.params if one.metavar == "RUN"]
    named = [(path, one.opts) for path, one in options if "--run" in one.opts]
    assert len(named) > 20
    assert [path for path, opts in named if "--run-id" not in opts] == []


def test_help_says_which_reasons_are_required() -> None:
    wrong = []
    for path, command in LEAVES:
        told = {one.name: one.help or "" for one in command.params if isinstance(one, click.Option)}
        given = inspect.signature(ACTIONS[path]).parameters if path in ACTIONS else {}
        asked = "reason" in given and given["reason"].annotation == "Reason"
        if path in ACTIONS and "reason" in told and asked != ("required" in told["reason"]):
            wrong.append(path)
    assert wrong == ["dispatch select"], "it needs one for another choice than the best"


def test_every_command_of_the_tree_is_in_the_list_and_has_one_line_of_help() -> None:
    context = click.Context(memento)
    for name, (module, text) in COMMANDS.items():
        assert memento.get_command(context, name) is not None
        assert (PACKAGE / "cli" / f"{module}.py").exists()
        assert text.endswith("."), name
        assert "\n" not in text


def test_help_lists_each_command_once_and_says_whole_what_each_does() -> None:
    told = [name for section in SECTIONS.values() for name in section]
    assert sorted(told) == sorted({*told}) == sorted(COMMANDS)
    for path, command in tree(memento):
        if isinstance(command, click.Group):
            text = command.get_help(click.Context(command, **memento.context_settings))
            assert not text.partition("\nCommands:\n")[2].count("..."), path
            assert all(f"\n  {name} " in text for name in command.list_commands(click.Context(command)))


def test_every_alias_leads_to_a_command_and_is_documented() -> None:
    page = (REFERENCE / "seed-names.md").read_text()
    for name, alias in ALIASES.items():
        assert f"| `{name}` |" in page
        path = (alias.help or "").removeprefix("Same as memento ").rstrip(".")
        assert path in dict(LEAVES), path


# Refusals.

errors.import_all()
CLASSES: Final = dict(sorted((cls.__name__, cls) for cls in errors.classes()))


def facts(cls: type[MementoError]) -> set[str]:
    """Return the names that a class wants: those in its texts, or the parameters of its own constructor."""
    if "__init__" in vars(cls):
        return {name for name in inspect.signature(cls).parameters if name != "self"}
    parsed = string.Formatter().parse(f"{cls.sentence}{cls.hint_}")
    return {re.split(r"[.!\[]", field)[0] for _, field, _, _ in parsed if field}


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def raises(path: Path) -> Iterator[tuple[int, str, set[str] | None]]:
    """Yield line, class and given facts of each raise of ours; None where facts are spread from a mapping."""
    for node in ast.walk(parsed(path)):
        if not isinstance(node, ast.Raise) or node.exc is None:
            continue
        called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in CLASSES:
            given = [word.arg for word in node.exc.keywords] if isinstance(node.exc, ast.Call) else []
            yield node.lineno, name, None if None in given else {word for word in given if word}


def test_every_refusal_is_raised_with_exactly_the_facts_that_it_tells() -> None:
    wrong = [
        f"{name_of(path)}:{line}: {name} is given {sorted(given)}, tells {sorted(facts(CLASSES[name]))}"
        for path in MODULES
        for line, name, given in raises(path)
        if given is not None and given != facts(CLASSES[name]) and name not in TELLS_LESS
    ]
    assert wrong == []


def test_every_refusal_is_raised_somewhere() -> None:
    raised = {name for path in MODULES for _, name, _ in raises(path)}
    assert sorted(set(CLASSES) - raised - NEVER_RAISED) == []


def test_every_refusal_has_a_token_a_next_step_and_is_documented() -> None:
    page = (REFERENCE / "errors.md").read_text()
    for name, cls in CLASSES.items():
        for token in errors.tokens(cls):
            assert re.fullmatch(r"[a-z]+(_[a-z]+)*", token)
            assert f"| `{token}` | {cls.exit_code} |" in page
        assert cls.hint_ or name in NEVER_RAISED, f"{name} tells no next step"
        assert cls.exit_code in {1, 2, 3, 4}, name


def test_every_command_that_a_refusal_names_exists() -> None:
    hints = {
        name: [cls.hint_.replace("{kind}", kind) for kind in KINDS] if "{kind}" in cls.hint_ else [cls.hint_]
        for name, cls in CLASSES.items()
        if name not in NAMES_NO_COMMAND
    }
    wrong = {name: [one for hint in told for one in missing(hint)] for name, told in hints.items()}
    assert {name: told for name, told in wrong.items() if told} == {}


def test_every_line_to_type_that_a_refusal_names_has_all_that_its_command_needs() -> None:
    stands = {**{kind: f"{kind}_7k2m" for kind in KINDS}, "on": "--run run_7k2m", "RUN": "run_7k2m"}
    wrong = {}
    for name, cls in CLASSES.items():
        for line in re.findall(r": memento ([^;,]*?)(?= or |[;,]|$)", "" if name in OTHER_FACTS else cls.hint_):
            told = re.sub(r"\{(\w+)(!q)?\}", lambda found: stands.get(found[1], "x"), line)
            if typed := led_on(shlex.split(told)):
                wrong[name] = f"{line}, not {typed}"
    assert wrong == {}


def test_every_finding_has_a_meaning_and_no_meaning_is_left_over() -> None:
    assert findings.known_codes() == set(CATALOGUE) == set(CODES)


# The size of things.


def test_every_state_of_a_task_has_its_place_in_the_report_and_every_verb_its_state_in_the_diff() -> None:
    assert sorted(ORDER) == sorted(TASK_STATUSES)
    assert {*TASK_RULES} - {"renewed", "selected"} == {verb for verb in WAY if verb in VERBS["task"]}
    assert {*WAY.values()} <= {*TASK_STATUSES, *RUN_STATUSES}


def test_every_module_and_function_is_small() -> None:
    long = []
    for path in [path for path in MODULES if name_of(path) not in TOO_LARGE]:
        lengths = {"the module": (len(path.read_text(encoding="utf-8").splitlines()), MOST_LINES)}
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                lengths[f"{node.name}:{node.lineno}"] = ((node.end_lineno or 0) - node.lineno + 1, LONGEST_FUNCTION)
        long += [f"{name_of(path)}: {what}: {lines}" for what, (lines, most) in lengths.items() if lines > most]
    assert long == []


def unused() -> Iterator[str]:
    """Yield what a module has at its top that it does not name again, nor any other as its own."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}
    nodes = [node for one in trees.values() for node in ast.walk(one)]
    imported = {(node.module, one.name) for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names}
    asked = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    for path, parsed in trees.items():
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        mentioned = Counter(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        for node in parsed.body:
            match node:
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                    pass
                case ast.FunctionDef(name=name, decorator_list=[]) | ast.ClassDef(name=name, decorator_list=[]):
                    pass
                case _:
                    continue
            is_named = mentioned[name] > 1 or (module, name) in imported or name in asked
            if not is_named and not name.startswith("__"):
                yield f"{name_of(path)}: {name}"


def test_nothing_is_defined_that_the_package_does_not_use() -> None:
    assert [*unused()] == []


def test_what_tells_why_not_says_by_its_type_that_an_empty_answer_is_a_yes() -> None:
    untold = [
        f"{name_of(path)}: {node.name}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id == "str"
        if re.search(r"[Rr]eturn why .*\bnothing\b", (ast.get_docstring(node) or "").partition("\n")[0])
    ]
    assert untold == []


def test_nothing_is_left_for_later() -> None:
    left = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
    assert [name_of(path) for path in MODULES if left.search(path.read_text(encoding="utf-8"))] == []


# Layers.

PLANTED: Final = {
    "Surfaces use actions": ("model/ids.py", "from memento_git.ledger import layout"),
    "Rules are pure": ("work/proof/trust.py", "import random"),
    "The command line decides nothing": ("cli/run.py", "from memento_git.work import transitions"),
    "Only what runs git": ("work/codestate.py", "import subprocess"),
    "Work and knowledge": ("work/rows.py", "from memento_git.knowledge import similarity"),
}


def contracts() -> list[str]:
    return re.findall(r'(?m)^name = "(.+)"$', (ROOT / "pyproject.toml").read_text().partition("[tool.importlinter]")[2])


def test_every_contract_has_a_planted_violation() -> None:
    assert [[start for start in PLANTED if name.startswith(start)] for name in contracts()] == [
        [start] for start in PLANTED
    ]


@pytest.mark.parametrize("start", PLANTED)
def test_a_planted_violation_breaks_its_contract(start: str, tmp_path: Path) -> None:
    module, line = PLANTED[start]
    shutil.copytree(PACKAGE, tmp_path / "memento_git", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    path = tmp_path / "memento_git" / module
    path.write_text(path.read_text() + f"\n{line}\n")
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "."},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(rf"{re.escape(start)}[^\n]*BROKEN", " ".join(done.stdout.split("\n"))), done.stdout
