"""The documents describe what runs: every command block is played, every mention exists, every page is current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from docs.generator import policy, rows
from docs.generator.pages import outputs
from docs.generator.transcript import plain, play
from memento_git.cli.main import COMMANDS
from memento_git.ledger import codec
from memento_git.ledger.store import Ledger
from memento_git.review.catalogue import CATALOGUE
from memento_git.verbs.batch import ACTIONS
from tests.mentions import missing
from tests.play import Play

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.play import Call

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
PLAYED: Final = [page for page in PAGES if "\n```sh" in page.read_text(encoding="utf-8")]
OTHERS: Final = {"docs/benchmarks.md", "docs/reference/git-situations.md", "docs/reference/seed-names.md"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", sorted(outputs()))
def test_every_generated_file_is_current(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == outputs()[name], "run: python -m docs.generator"


@pytest.mark.parametrize("page", [page for page in PLAYED if name_of(page) not in OTHERS], ids=name_of)
def test_every_command_of_a_page_runs_and_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for block in play(page.read_text(encoding="utf-8"), tmp_path, environment):
        assert bool(block.code) is block.refused, f"{block.command}{block.printed}"
        if block.expected is not None:
            assert plain(block.printed) == plain(block.expected), block.command


@pytest.mark.parametrize("page", [page for page in PAGES if name_of(page) not in OTHERS], ids=name_of)
def test_every_command_that_a_page_mentions_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    spans = [" ".join(span.split()) for span in re.findall(r"`([a-z][^`]+)`", text)]
    short = [f"memento {span}" for span in spans if " " in span and span.split()[0] in COMMANDS]
    code = [*re.findall(r"(?m)^(memento .*)$", text), *(span for span in spans if span.startswith("memento ")), *short]
    assert [wrong for line in code for wrong in missing(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    later = {"benchmarks.md", "reference/git-situations.md"}
    assert [link for link in links if not (page.parent / link).exists() and link not in later] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_to_a_heading_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
    whole = [(page.parent / path if path else page, name) for path, name in links]
    assert [f"{path}#{name}" for path, name in whole if name not in headings(path)] == []


def headings(page: Path) -> set[str]:
    """Return the headings of a page as hosting services name them in links."""
    titles = re.findall(r"(?m)^#+ (.*)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_no_merge_left_a_line_twice_or_a_heading_without_a_blank_before_it() -> None:
    for page in (*PAGES, ROOT / "CHANGELOG.md"):
        text = re.sub(r"(?ms)^ *```.*?^ *```$", "```", page.read_text(encoding="utf-8"))
        assert re.findall(r"(?m)^[^\n|#]+\n(?=#+ )", text) == [], page
        assert re.findall(r"(?m)^(\w.{20,})\n\1", text) == [], page
        assert re.findall(r"(?m)^.* $", text) == [], page


def test_prose_is_wrapped_at_120_but_in_tables_code_and_what_is_generated() -> None:
    for page in (page for page in (*PAGES, ROOT / "CHANGELOG.md") if name_of(page) not in outputs()):
        text = re.sub(r"(?ms)^ *```.*?^ *```$", "```", page.read_text(encoding="utf-8"))
        assert re.findall(r"(?m)^(?! *\||    ).{121,}$", text) == [], page


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_finding_that_a_page_names_exists(page: Path) -> None:
    assert set(re.findall(r"`([A-Z]\d{3})`", page.read_text(encoding="utf-8"))) <= {*CATALOGUE}


def test_every_function_of_the_trace_is_in_its_file() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    steps = re.findall(r"(?m)^\d\. `([\w/]+\.py)`, ([^:]+):", text)
    named = [(path, name) for path, names in steps for name in re.findall(r"`(?:\w+\.)?(\w+)`", names)]
    assert len({path for path, _ in named}) == 6
    there = {path: (ROOT / "memento_git" / path).read_text("utf-8") for path, _ in named}
    assert [f"{path}: {name}" for path, name in named if f"def {name}(" not in there[path]] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in PAGES if path.parent != ROOT]
    assert [page for page in pages if page != "index.md" and f"({page})" not in index] == []


def test_the_policy_of_the_page_is_valid_and_every_key_has_its_default() -> None:
    from docs.generator.words import keys
    from memento_git.model.policy import CONFIG
    from memento_git.work.actions.setup import CONFIG_TEXT

    for text in (policy.EXAMPLE, CONFIG_TEXT):
        assert codec.read_config(text.encode())[1] == []
    assert {name for name, _ in keys(CONFIG)} == set(policy.defaults())


def block_of(page: str, language: str) -> str:
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_of_apply_applies(ledger: Ledger, cli: Call) -> None:
    root = ledger.git.top
    assert root is not None
    (root / "work.yaml").write_text(block_of("apply.md", "yaml"))
    code, out, _ = cli("apply", str(root / "work.yaml"), "-C", str(root))
    assert code == 0
    assert [line.startswith(" next: ") for line in out.splitlines()] == [False] * 5 + [True]


def test_every_verb_of_apply_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "apply.md").read_text(encoding="utf-8")
    assert [verb for verb in ACTIONS if f"\n### {verb}\n" not in page] == []


def test_the_example_of_the_python_api_runs(ledger: Ledger) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block_of("api.md", "python")],
        cwd=ledger.git.top, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "('Refuse an empty password', 'pending', None)" in done.stdout


def _told(held: Mapping[str, Any], name: str) -> set[str]:
    return {key for row in held[name] for key in row}


def test_every_key_of_every_row_is_documented(play: Play) -> None:
    from memento_git.work.overview import overview

    run = play.planned()
    play.proven()
    play.gate("release", "requested")
    play.commit("app.py", "answer = 43\n")
    held = overview(play.ledger, play.ledger.view(), run)
    assert set(held) | {"state", "knowledge", "also_open"} == set(rows.STATUS)
    assert set(held["run"]) == set(rows.RUN)
    for name, keys in (("plans", rows.PLAN), ("tasks", rows.TASK), ("dispatches", rows.DISPATCH), ("gates", rows.GATE),
                       ("evidence", rows.EVIDENCE), ("audit", rows.EVENT)):  # fmt: skip
        assert _told(held, name) == set(keys), name


def test_every_token_of_a_verdict_is_documented() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "memento_git").rglob("*.py")]
    said = set(re.findall(r'"error": "(\w+)"', "".join(sources)))
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    verdicts = page.partition("## Answers that are not refusals of a rule")[2]
    assert said >= {"task_rejected", "dispatch_failed"}
    assert said - set(re.findall(r"^\| `(\w+)`", verdicts, re.MULTILINE)) == set()


def test_every_command_has_its_json_keys_documented() -> None:
    import click

    from docs.generator.commands import tree
    from memento_git.cli.main import memento

    leaves = {" ".join(path) for path, command in tree(memento) if not isinstance(command, click.Group)} | {"check"}
    documented = {command.partition(" --")[0] for command in rows.ANSWERS}
    assert leaves - documented == {"completion"}
    assert documented - leaves == set()


def test_the_gate_and_the_readme_name_the_same_test_command() -> None:
    last = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert f"```sh\n{last}\n```" in (ROOT / "README.md").read_text(encoding="utf-8")


STORY: Final = """\
init
run start --goal G --spike
run pause RUN --reason R
run resume RUN
run list
run show RUN
plan draft --run RUN --title T --body B
plan list
plan show PLAN
plan approve PLAN
task add --title T
preflight
task revise TASK --title U
task list
task show TASK
task brief TASK
task block TASK --reason R
task reopen TASK --reason R
dispatch create TASK --executor E
dispatch claim DISPATCH
dispatch renew DISPATCH
dispatch list
dispatch show DISPATCH
evidence run --task TASK -- true
evidence run --task TASK --out out -- true
evidence list
evidence show EVIDENCE
dispatch complete DISPATCH --evidence EVIDENCE
task verify TASK
evidence add --run RUN --uri https://example.invalid/1
evidence approve RUN
evidence approve RUN --response yes
evidence check --provider ci --conclusion success --run RUN
gate release --require-check ci --approvals 1 --no-record
gate record quality_review passed
gate waive approval --reason R
gate list
graph status
graph update
graph diff HEAD..HEAD
graph propose
status
diff HEAD~5..HEAD
report
report --format html
report --out report.md
log
log --commits
show RUN
settle
run complete
doctor
archive RUN
"""


def test_every_answer_has_the_keys_that_are_documented(cli: Call, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    monkeypatch.chdir(repo)
    ids: dict[str, str] = {}
    for line in STORY.splitlines():
        words = [ids.get(word, word) for word in line.split()]
        start = words.index("--") if "--" in words else len(words)
        code, out, _ = cli(*words[:start], "--json", *words[start:])
        answer = json.loads(out)
        assert (code, answer["ok"]) == (0, True), answer
        for kind in ("run", "plan", "task", "evidence"):
            if isinstance(answer.get(kind), dict):
                ids.setdefault(kind.upper(), answer[kind]["id"])
        if "dispatch_id" in answer:
            ids["DISPATCH"] = answer["dispatch_id"]
        assert set(answer) - {"ok", "warnings"} == answer_keys(line), line


def answer_keys(line: str) -> set[str]:
    """Return the keys that the page promises for a command of the story."""
    fitting = [name for name in rows.ANSWERS if set(name.split()) <= set(line.split(" -- ", maxsplit=1)[0].split())]
    keys = set(rows.ANSWERS[max(fitting, key=len)].split())
    if "DISPATCH" in keys:
        keys = keys - {"DISPATCH"} | set(rows.DISPATCH)
    return keys - {"KIND"} | ({"run"} if "KIND" in keys else set())


def test_every_test_that_a_page_names_exists() -> None:
    named = {found for page in PAGES for found in named_tests(page.read_text("utf-8"))}
    assert len(named) > 40
    there = {
        path: set(re.findall(r"^def (test_\w+)", (ROOT / path).read_text("utf-8"), re.MULTILINE)) for path, _ in named
    }
    assert sorted(f"{path}::{name}" for path, name in named if name not in there[path]) == []


def test_every_file_of_tests_and_every_bare_name_of_a_test_on_a_page_exists() -> None:
    named = {found for page in PAGES for found in re.findall(r"`(tests/[\w/]+\.py|test_\w+)`", page.read_text("utf-8"))}
    assert len(named) > 30
    there = {path.relative_to(ROOT): path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")}
    tests = {name for text in there.values() for name in re.findall(r"(?m)^def (test_\w+)", text)}
    assert sorted(named - tests - {*map(str, there), *(path.stem for path in there)}) == []


def test_every_module_that_the_pages_on_the_code_name_exists() -> None:
    text = "".join((ROOT / f"docs/{name}.md").read_text("utf-8") for name in ("architecture", "decisions"))
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text))
    assert len(named) > 20
    assert sorted(one for one in named if not ((ROOT / one).exists() or (ROOT / "memento_git" / one).exists())) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_row_of_a_table_has_the_cells_of_its_head(page: Path) -> None:
    text = re.sub(r"(?ms)^ *```.*?^ *```$", "```", page.read_text(encoding="utf-8"))
    for table in re.findall(r"(?m)(?:^ *\|.*\n)+", re.sub(r"\\\||`[^`\n]*`", "", text)):
        head, *rows = table.splitlines()
        assert [row for row in rows if row.count("|") != head.count("|")] == []


def named_tests(text: str) -> Iterator[tuple[str, str]]:
    """Yield file and name of each test that a text names; `::name` alone is in the file before it."""
    path = ""
    for given, name in re.findall(r"`(tests/[\w/]+\.py)?::(test_\w+)`", text):
        path = given or path
        yield path, name


def test_nothing_depends_on_a_runtime_that_was_ruled_out() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    assert [one for one in needed if "opencode" in one.lower()] == []


def test_the_readme_names_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    table = (ROOT / "README.md").read_text("utf-8").partition("## Extras")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted([*named, "dev"]) == sorted(project["optional-dependencies"])
