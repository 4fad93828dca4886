from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from memento_git.work.running.reports import ExtraMissing, Report, ReportInvalid, read_report

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parent.parent
BOMB = """<?xml version="1.0"?>
<!DOCTYPE testsuite [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuite><testcase name="&b;"/></testsuite>"""
COVERAGE = """<coverage><packages><class name="a" filename="a.py"><lines>
<line number="1" hits="{hits}"/><line number="2" hits="1"/></lines></class></packages></coverage>"""
THIEF = """<?xml version="1.0"?>
<!DOCTYPE testsuite [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<testsuite><testcase name="x"><system-out>&a;</system-out></testcase></testsuite>"""


def read(name: str) -> Report:
    return read_report(name, (DATA / name).read_bytes())


def read_text(text: str) -> Report:
    return read_report("report", text.encode())


def sarif(run: Mapping[str, object], version: str = "2.1.0") -> Report:
    return read_text(json.dumps({"version": version, "runs": [run]}))


def refusal(data: bytes | str) -> ReportInvalid:
    with pytest.raises(ReportInvalid) as caught:
        read_report("a/report.xml", data.encode() if isinstance(data, str) else data)
    return caught.value


def test_junit_of_pytest_is_counted() -> None:
    report = read("junit-pytest.xml")
    assert report.format == "junit"
    assert report.counts == {"tests": 6, "passed": 3, "failed": 1, "errors": 1, "skipped": 1}
    assert not report.ok


def test_a_failed_case_is_named() -> None:
    assert read("junit-pytest.xml").failed == ("test_cart::test_member[False]", "test_cart::test_database")


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u3164"])
def test_a_failed_case_whose_name_nobody_can_see_is_told_as_one_without(name: str) -> None:
    (told,) = read_text(f'<testsuite><testcase name="{name}"><failure/></testcase></testsuite>').failed
    assert told.endswith("without a name")


def test_cases_outside_any_suite_are_counted() -> None:
    report = read("junit-node.xml")
    assert report.counts == {"tests": 4, "passed": 2, "failed": 1, "errors": 0, "skipped": 1}
    assert report.failed == ("test::subtracts",)


def test_a_flaky_case_that_passed_in_the_end_has_passed() -> None:
    report = read("junit-surefire.xml")
    assert report.counts == {"tests": 4, "passed": 2, "failed": 0, "errors": 1, "skipped": 1}
    assert report.failed == ("shop.CartTest::database",)


def test_junit_without_failures_is_ok() -> None:
    report = read_text('<testsuites><testsuite><testcase name="a"/></testsuite></testsuites>')
    assert report.ok
    assert report.failed == ()


def test_junit_in_a_namespace_is_read() -> None:
    report = read_text('<testsuite xmlns="urn:x"><testcase name="a"><failure/></testcase></testsuite>')
    assert (report.counts["tests"], report.failed, report.ok) == (1, ("a",), False)


def test_junit_in_utf_16_is_read() -> None:
    text = '<?xml version="1.0" encoding="utf-16"?><testsuite><testcase name="é"><error/></testcase></testsuite>'
    assert read_report("report", text.encode("utf-16")).failed == ("é",)


def test_junit_without_tests_is_not_ok() -> None:
    report = read_text("<testsuites/>")
    assert report.counts["tests"] == 0
    assert not report.ok


WORDS = [
    'status="failed"', 'result="Failed"', 'status="run" result="error"', 'status="timedOut"', 'status="timeout"',
    'status="broken"', 'result="Errored "', 'status="crashed"', 'status="cancelled"',
]  # fmt: skip


@pytest.mark.parametrize("told", WORDS)
def test_a_case_that_says_by_a_word_alone_that_it_failed_has_failed(told: str) -> None:
    report = read_text(f'<testsuite tests="1" failures="0"><testcase name="a" {told}/></testsuite>')
    assert (report.counts["failed"], report.failed, report.ok) == (1, ("a",), False)


@pytest.mark.parametrize("told", ['status="notrun"', 'status="run" result="suppressed"', 'status="skipped"'])
def test_a_case_that_was_not_run_is_skipped(told: str) -> None:
    report = read_text(f'<testsuite><testcase name="a" {told}/><testcase name="b"/></testsuite>')
    assert (report.counts["passed"], report.counts["skipped"]) == (1, 1)


def test_an_error_outranks_a_failure_of_the_same_case() -> None:
    report = read_text('<testsuite><testcase name="a"><failure/><error/></testcase></testsuite>')
    assert report.counts == {"tests": 1, "passed": 0, "failed": 0, "errors": 1, "skipped": 0}


@pytest.mark.parametrize("outer", ["", 'errors="2"'])
def test_errors_that_only_a_suite_declares_are_believed(outer: str) -> None:
    suite = '<testsuite name="crash" tests="1" errors="2"><testcase name="a"/></testsuite>'
    report = read_text(f"<testsuites {outer}>{suite}</testsuites>")
    assert report.counts["errors"] == 2
    assert report.failed == ("crash (declared by the suite, shown by no test case)",)
    assert not report.ok


@pytest.mark.parametrize("told", ["failure", "error", "Failure", "timeout", "errored"])
def test_a_suite_that_failed_outside_of_its_cases_has_failed(told: str) -> None:
    report = read_text(f'<testsuites><testsuite name="s"><{told}/><testcase name="a"/></testsuite></testsuites>')
    assert (report.counts["passed"], report.counts["errors"], report.failed, report.ok) == (1, 1, ("s",), False)


@pytest.mark.parametrize("told", ['failures="1.0"', 'errors=" 1 "', 'errors="+1"', 'result="Failed"'])
def test_what_a_suite_says_in_another_form_is_believed(told: str) -> None:
    report = read_text(f'<testsuite name="s" {told}><testcase name="a"/></testsuite>')
    assert (report.counts["errors"], report.ok) == (1, False)
    assert {*map(type, report.counts.values())} == {int}  # a record that says true there cannot be read
    assert read_text('<testsuite failures="0.0" errors=""><testcase name="a"/></testsuite>').ok


@pytest.mark.parametrize("told", ["<Failure/>", "<errored/>", "<timeout/>", "<crash/>", "<skipped/><failed/>"])
def test_a_case_with_an_element_that_is_called_like_a_failure_has_failed(told: str) -> None:
    report = read_text(f'<testsuite><testcase name="a">{told}</testcase><TestCase name="b"/></testsuite>')
    assert (report.counts["passed"], report.failed, report.ok) == (1, ("a",), False)


@pytest.mark.parametrize("case", ["<x:testcase><x:failure/></x:testcase>", "<testcase><x:failure/></testcase>"])
def test_a_failure_in_a_namespace_of_its_own_is_one(case: str) -> None:
    report = read_text(f'<testsuite xmlns:x="urn:x"><testcase name="a"/>{case}</testsuite>')
    assert (report.counts["tests"], report.counts["failed"], report.ok) == (2, 1, False)


def test_errors_that_only_the_whole_declares_are_believed() -> None:
    report = read_text('<testsuites failures="1"><testsuite><testcase name="a"/></testsuite></testsuites>')
    assert report.counts["errors"] == 1
    assert not report.ok


def test_failed_cases_beyond_fifty_are_counted() -> None:
    cases = "".join(f'<testcase classname="c" name="t{i}"><failure/></testcase>' for i in range(60))
    report = read_text(f"<testsuite>{cases}</testsuite>")
    assert (len(report.failed), report.failed[-1], report.failed_more) == (50, "c::t49", 10)


def test_names_lose_control_characters_and_length() -> None:
    name = "a&#10;b\u202e\u200bc " + "x" * 400
    (shown,) = read_text(f'<testsuite><testcase name="{name}"><failure/></testcase></testsuite>').failed
    assert shown.startswith("a bc xxx")
    assert len(shown) == 300
    escape = {"ruleId": "a\x1b[31m\ud800b", "level": "error"}
    assert sarif({"results": [escape]}).failed == ("a[31mb",)


def test_twenty_megabytes_of_junit_are_read_in_seconds() -> None:
    output = "<system-out>" + "output " * 28 + "</system-out>"
    cases = "".join(f'<testcase classname="c{i % 90}" name="t{i}">{output}</testcase>' for i in range(80_000))
    data = f"<testsuite>{cases}</testsuite>".encode()
    assert len(data) > 20_000_000
    start = time.process_time()
    assert read_report("big", data).counts["passed"] == 80_000
    assert time.process_time() - start < 20


def test_output_longer_than_ten_megabytes_is_read() -> None:
    output = "x" * 11_000_000
    assert read_text(f'<testsuite><testcase name="a"><system-out>{output}</system-out></testcase></testsuite>').ok


def test_cobertura_lines_are_counted() -> None:
    assert read("coverage.xml") == Report("coverage-xml", {"lines": 13, "covered": 10}, (), 0, ok=True)


def test_the_json_of_coverage_py_says_the_same_as_its_xml() -> None:
    report = read("coverage.json")
    assert report.format == "coverage-json"
    assert report.counts == read("coverage.xml").counts


@pytest.mark.parametrize(("hits", "covered"), [("", 1), ("0.0", 1), ("1e3", 2), ("99999999999999999999", 2)])
def test_a_line_without_hits_is_not_covered(hits: str, covered: int) -> None:
    assert read_text(COVERAGE.format(hits=hits)).counts == {"lines": 2, "covered": covered}


def test_a_line_in_two_classes_of_a_file_is_counted_once() -> None:
    one, two = (f'<class filename="a.cs"><lines><line number="1" hits="{hits}"/></lines></class>' for hits in "01")
    report = read_text(f"<coverage><packages><package><classes>{one}{two}</classes></package></packages></coverage>")
    assert report.counts == {"lines": 1, "covered": 1}


def test_sarif_of_ruff_is_counted() -> None:
    report = read("ruff.sarif")
    assert report.counts == {"results": 3, "error": 3, "warning": 0, "note": 0, "suppressed": 0}
    assert report.failed == ("I001 src/a.py:1", "F401 src/a.py:1", "F821 src/a.py:2")
    assert not report.ok


def test_sarif_levels_come_from_the_rule_where_the_result_has_none() -> None:
    report = read("scan.sarif")
    assert report.counts == {"results": 8, "error": 4, "warning": 1, "note": 1, "suppressed": 1}


def test_errors_of_sarif_are_named_with_their_place() -> None:
    assert read("scan.sarif").failed == (
        "py/sql-injection shop/db.py:7",
        "py/sql-injection/tainted shop/by-index.py:9",
        "more/eval shop/eval.py",
        "py/sql-injection",
    )


def test_sarif_without_errors_is_ok() -> None:
    assert sarif({"results": []}).ok
    assert sarif({"results": [{"ruleId": "a", "message": {"text": "a warning"}}]}).ok
    assert sarif({"results": [{"level": "error", "suppressions": [{"kind": "external"}]}]}).ok


def test_a_scan_that_did_not_happen_is_not_ok() -> None:
    driver = {"tool": {"driver": {"name": "scanner"}}}
    assert sarif(driver).failed == ("scanner has no list of results",)
    crashed = sarif({**driver, "results": [], "invocations": [{"executionSuccessful": False}]})
    assert (crashed.ok, crashed.failed) == (False, ("scanner did not finish",))
    assert read_text('{"version": "2.1.0", "runs": []}').failed == ("no tool ran",)


INVOCATIONS: list[dict[str, object]] = [
    {"executionSuccessful": "false"}, {"executionSuccessful": None}, {"exitSignalName": "SIGSEGV"},
    {"executionSuccessful": True, "processStartFailureMessage": "not found"}, {"exitSignalNumber": 11},
]  # fmt: skip


@pytest.mark.parametrize("invocation", INVOCATIONS)
def test_a_scanner_that_did_not_end_well_by_its_own_words_is_not_ok(invocation: dict[str, object]) -> None:
    assert sarif({"results": [], "invocations": [invocation]}).failed == ("a tool did not finish",)
    nothing = {"exitSignalName": None, "exitSignalNumber": None, "processStartFailureMessage": None}
    assert sarif({"results": [], "invocations": [{"exitCode": 1, "executionSuccessful": True, **nothing}]}).ok


def test_the_invocation_that_a_result_names_says_how_its_rule_is_configured() -> None:
    rules = [{"id": "a"}, {"id": "b", "defaultConfiguration": {"level": "error"}}]
    overrides = [{"descriptor": {"id": "a"}, "configuration": {"level": "error"}},
                 {"descriptor": {"index": 1}, "configuration": {"level": "note"}},
                 {"descriptor": {"id": "far"}, "configuration": {"level": "error"}}]  # fmt: skip
    run = {
        "tool": {"driver": {"rules": rules}},
        "invocations": [{"executionSuccessful": True, "ruleConfigurationOverrides": overrides}],
        "results": [{"ruleId": name, "provenance": {"invocationIndex": 0}} for name in "ab"] + [{"ruleId": "a"}],
    }
    assert sarif(run).counts == {"results": 3, "error": 1, "warning": 1, "note": 1, "suppressed": 0}
    unlisted = [{"ruleId": name, "provenance": {"invocationIndex": 0}} for name in ("far", "far/2", "further", "")]
    assert sarif({**run, "results": unlisted}).failed == ("far", "far/2")
    overrides[2] = {"descriptor": {"index": 9}, "configuration": {"level": "error"}}  # of no rule at all
    assert sarif({**run, "results": unlisted}).failed == ()


def test_a_result_of_a_kind_that_there_is_not_is_no_pass() -> None:
    run = {"tool": {"driver": {"rules": [{"id": "a", "defaultConfiguration": {"level": "error"}}]}}}
    assert sarif({**run, "results": [{"ruleId": "a", "kind": "open"}]}).ok
    for odd in ("FAIL", ["pass"], {"pass": 1}):
        assert sarif({**run, "results": [{"ruleId": "a", "kind": odd}]}).failed == ("a",)


def test_an_index_that_contradicts_the_id_is_not_followed() -> None:
    rules = [{"id": "a"}, {"id": "b", "defaultConfiguration": {"level": "error"}}]
    run = {"tool": {"driver": {"rules": rules}}, "results": [{"ruleId": "b", "ruleIndex": 0}]}
    assert sarif(run).failed == ("b",)


@pytest.mark.parametrize("data", [BOMB, THIEF])
def test_a_document_that_declares_entities_is_refused(data: str) -> None:
    assert "declares XML entities" in refusal(data).message


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"\x89PNG\r\n", "neither an XML document nor a JSON object"),
        ("3 passed in 0.1s", "neither an XML document nor a JSON object"),
        ("[1]", "neither an XML document nor a JSON object"),
        ("<html/>", "its outermost element is <html>"),
        ("<testsuite><testcase>", "its XML is malformed"),
        ('<?xml version="1.0" encoding="klingon"?><testsuite/>', "its XML is malformed"),
        ("<coverage clover='3'><project/></coverage>", "not Cobertura's"),
        ("<coverage><packages><class/></packages></coverage>", "a line of its Cobertura XML is malformed"),
        ("<coverage><packages>" + "<a>" * 5000 + "</a>" * 5000 + "</packages></coverage>", "malformed"),
        ('{"runs": ', "its JSON is malformed"),
        ('{"runs":' + "[" * 100_000, "its JSON is malformed"),
        ('{"a": 1}', "neither SARIF's runs nor the totals of coverage.py"),
        ('{"totals": {"num_statements": "4", "covered_lines": 2}}', "neither SARIF's runs nor"),
        ('{"totals": {"num_statements": 4, "covered_lines": 5}}', "5 lines of 4 are covered"),
        (
            '{"totals": {"num_statements": 1%s, "covered_lines": 0}}' % ("0" * 18),
            "its totals cannot be: 0 lines of 1000",
        ),
        ('{"runs": []}', "has no version"),
        ('{"runs": [], "version": "1.0.0"}', "it is SARIF 1.0.0, not 2.1"),
        ('{"version": "2.1.0", "runs": [{"results": [7]}]}', "something in its JSON is not an object"),
        ('{"version": "2.1.0", "runs": [{"results": [{"suppressions": ["no"]}]}]}', "is not an object"),
        ('{"version": "2.1.0", "runs": [{"results": [], "invocations": {}}]}', "something in its JSON is not a list"),
        ('{"version": "2.1.0", "runs": [], "inlineExternalProperties": [{}]}', "lie outside of its runs"),
        ('{"version": "2.1.0", "runs": [{"externalPropertyFileReferences": {}}]}', "lie outside of its runs"),
        ('<testsuite failures="1,000"><testcase/></testsuite>', "the failures of a suite are '1,000'"),
        ('<testsuite errors="-1"><testcase/></testsuite>', "the errors of a suite are '-1'"),
        (COVERAGE.format(hits="-1"), "the hits of a line are '-1'"),
        (COVERAGE.format(hits="many"), "the hits of a line are 'many'"),
        ('{"version": "2.1.0", "runs": [{"results": [{"level": "fatal"}]}]}', "has the level 'fatal'"),
    ],
)
def test_what_is_no_report_is_refused_with_the_reason(data: bytes | str, why: str) -> None:
    error = refusal(data)
    assert error.token == "report_invalid"
    assert error.message.startswith(
        "a/report.xml cannot be read as JUnit XML, Cobertura XML, the JSON of coverage.py or SARIF 2.1: "
    )
    assert why in error.message


def test_a_report_of_more_than_64_mib_is_refused() -> None:
    assert "larger than 64 MiB" in refusal(b"<testsuite>" + b" " * (64 * 1024 * 1024)).message


def test_a_report_of_millions_of_tags_is_refused() -> None:
    assert "more than 3000000 XML tags" in refusal(b"<testsuite>" + b"<a/>" * 3_000_000).message


def without_libraries(name: str) -> subprocess.CompletedProcess[str]:
    """Read a report in an interpreter that sees the standard library only."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from memento_git.errors import MementoError\n"
        "from memento_git.work.running.reports import read_report\n"
        "try: print(read_report('r', open(sys.argv[1], 'rb').read()).format)\n"
        "except MementoError as error: print(error.token, error.message, error.hint)\n"
    )
    command = [sys.executable, "-S", "-c", code, str(DATA / name)]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_xml_without_the_extra_says_what_to_install() -> None:
    answer = without_libraries("coverage.xml").stdout
    assert answer.startswith(f"{ExtraMissing.token} ")
    assert "defusedxml" in answer
    assert "pip install 'memento-git[reports]'" in answer


@pytest.mark.parametrize(("name", "kind"), [("coverage.json", "coverage-json"), ("ruff.sarif", "sarif")])
def test_json_needs_no_extra(name: str, kind: str) -> None:
    assert without_libraries(name).stdout.strip() == kind
