"""Read the reports that test runners, coverage tools and linters leave behind."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from memento_git.errors import Refused, adding
from memento_git.model.enumeration import cut
from memento_git.model.types import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_TAGS: Final = 3_000_000  # 64 MiB of the shortest line elements that Cobertura can have
MAX_FAILED: Final = 50
MAX_TEXT: Final = 300
MAX_DETAIL: Final = 200
MAX_READ: Final = 4096
MAX_COUNT: Final = 10**18 - 1  # of what a record can hold

_WHITE: Final = re.compile(r"[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")
_OPENING: Final = b"\xef\xbb\xbf\xff\xfe \t\r\n"
_XML_READERS: Final = ("defusedxml", "junitparser", "pycobertura")
_SUITES: Final = frozenset({"testsuite", "testsuites"})
_LEVELS: Final = ("error", "warning", "note", "none")
_EXTERNAL: Final = frozenset({"inlineExternalProperties", "externalPropertyFileReferences"})
_ENDED: Final = frozenset({"exitSignalName", "exitSignalNumber", "processStartFailureMessage"})
_KINDS: Final = ("pass", "open", "informational", "notApplicable", "review")  # of results that do not fail
_FAILED: Final = re.compile("fail|err|broke|crash|abort|timed?[ _-]?out|kill|interrupt|cancel")
_NOT_RUN: Final = frozenset({"notrun", "disabled", "ignored", "skipped", "suppressed"})


class ReportInvalid(Refused):
    token = "report_invalid"
    sentence = "{name} cannot be read as JUnit XML, Cobertura XML, the JSON of coverage.py or SARIF 2.1: {detail}."
    hint_ = "Have the command write one of these, or leave --report away."


class ExtraMissing(Refused):
    token = "extra_missing"
    sentence = "Reading {kind} needs the library {library}, which is not installed."
    hint_ = adding("reports")


class Report(NamedTuple):
    format: str
    counts: dict[str, int]
    failed: tuple[str, ...]
    failed_more: int
    ok: bool


class _UnreadableError(Exception):
    """Carry the reason why a document is no report to where the document's name is known."""


class _HasResult(Protocol):
    """What a test case of junitparser is used for."""

    @property
    def result(self) -> list[Any]: ...


def refuse_unreadable(names: Iterable[str]) -> None:
    """Refuse reports that by their names are XML where what reads them is not installed, before a command runs."""
    if any(name.lower().endswith(".xml") for name in names):
        _refuse_missing()


def _refuse_missing() -> None:
    """Refuse to read XML where one of the libraries is missing that are installed together."""
    from importlib.util import find_spec

    for library in _XML_READERS:
        if find_spec(library) is None:
            raise ExtraMissing(kind="an XML report", library=library)


def read_report(name: str, data: bytes) -> Report:
    """Tell by its content which kind of report this is, and return what it counts."""
    try:
        return _read(data)
    except _UnreadableError as error:
        raise ReportInvalid(name=_clean(name), detail=_clean(error, MAX_DETAIL)) from None


def _read(data: bytes) -> Report:
    if len(data) > MAX_BYTES:
        raise _UnreadableError(f"it is larger than {MAX_BYTES // 1024 // 1024} MiB")
    opening = data[:64].replace(b"\0", b"").lstrip(_OPENING)[:1]
    if opening == b"<":
        return _read_xml(data)
    if opening == b"{":
        return _read_json(data)
    raise _UnreadableError("it is neither an XML document nor a JSON object" if data else "it is empty")


def _clean(text: object, most: int = MAX_TEXT) -> str:
    """Return the text on one line, without secrets and control characters, and no longer than allowed."""
    from memento_git.texts.secrets import redact_start

    whole, _ = redact_start(str(text), MAX_READ)
    return cut(re.sub(_CONTROL, "", re.sub(_WHITE, " ", whole)).strip(), most)


def _listed(names: list[str]) -> tuple[tuple[str, ...], int]:
    """Return the names that are shown, and how many are not."""
    shown = (_clean(name) for name in names[:MAX_FAILED])
    return tuple("without a name" if is_blank(name) else name for name in shown), max(0, len(names) - MAX_FAILED)


def _read_xml(data: bytes) -> Report:
    """Return the report in an XML document that declares no entities."""
    root = _parse_xml(data)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2].lower()
    if root.tag in _SUITES:
        return _read_junit(root)
    if root.tag != "coverage":
        raise _UnreadableError(f"its outermost element is <{_clean(root.tag, 40)}>")
    if root.find("packages") is None:
        raise _UnreadableError("its <coverage> has no <packages>, so it is not Cobertura's")
    return _read_cobertura(root)


def _parse_xml(data: bytes) -> Element:
    """Return the document's tree; a document that declares or loads entities is refused unexpanded."""
    _refuse_missing()
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if data.count(b"<") > MAX_TAGS:
        raise _UnreadableError(f"it has more than {MAX_TAGS} XML tags")
    try:
        root: Element = fromstring(data)
    except DefusedXmlException:
        raise _UnreadableError("it declares XML entities, which no report needs") from None
    except (SyntaxError, ValueError, LookupError) as error:
        raise _UnreadableError(f"its XML is malformed ({error})") from None
    return root


def _read_junit(root: Element) -> Report:
    """Count the test cases, wherever in the document they are."""
    from junitparser import TestCase

    counts = {"tests": 0, "passed": 0, "failed": 0, "errors": 0, "skipped": 0}
    names: list[str] = []
    wrap: Any = TestCase.fromelem
    for suite in root.iter():
        if suite.tag in _SUITES and _has_failed(*(child.tag for child in suite)):
            counts["errors"] += 1
            names.append(suite.get("name") or "a suite without a name")
    for element in root.iter("testcase"):
        outcome = _outcome(wrap(element), element)
        counts["tests"] += 1
        counts[outcome] += 1
        if outcome in {"failed", "errors"}:
            case = (element.get("classname"), element.get("name"))
            names.append("::".join(part for part in case if part) or "a test without a name")
    if not names:
        counts["errors"], names = _declared(root)
    failed, more = _listed(names)
    return Report("junit", counts, failed, more, ok=not names and counts["tests"] > 0)


def _outcome(case: _HasResult, element: Element) -> str:
    """Return under which count a test case falls; an error outranks a failure, a failure a skip."""
    from junitparser import Error, Failure

    results = case.result
    if any(isinstance(result, Error) for result in results):
        return "errors"
    if any(isinstance(result, Failure) for result in results):
        return "failed"
    if _has_failed(*_words(element), *(child.tag for child in element)):
        return "failed"
    return "skipped" if results or _NOT_RUN & _words(element) else "passed"


def _words(element: Element) -> set[str]:
    """Return the words by which a case or a suite says what it came to."""
    return {(element.get(key) or "").strip().lower() for key in ("status", "result")}


def _has_failed(*words: str) -> bool:
    return any(_FAILED.match(word) for word in words)


def _declared(root: Element) -> tuple[int, list[str]]:
    """Return the failures that suites declare though no test case shows one, as crashed runners do."""
    most, names = 0, []
    for suite in root.iter():
        if suite.tag not in _SUITES:
            continue
        declared = sum(_number(suite.get(key), f"{key} of a suite") for key in ("failures", "errors"))
        declared = declared or int(_has_failed(*_words(suite)))
        most = max(most, declared)
        if declared and suite.find("testsuite") is None:
            names.append(suite.get("name") or "a suite")
    if most and not names:
        names = [root.get("name") or "the report"]
    return most, [f"{name} (declared by the suite, shown by no test case)" for name in names]


def _number(text: str | None, what: str) -> int:
    """Return a count that an attribute holds, none where it is empty or not there."""
    try:
        number = float((text or "").strip() or 0)
    except ValueError:
        number = -1
    if number < 0 or not number.is_integer():
        raise _UnreadableError(f"the {what} are {text!r}")
    return min(int(number), MAX_COUNT)


def _read_cobertura(root: Element) -> Report:
    """Count lines by their hits alone, so that the sums are those of the tool that wrote the report."""
    from defusedxml.ElementTree import tostring
    from pycobertura import Cobertura

    for line in root.iter("line"):
        line.attrib.pop("condition-coverage", None)
        line.set("hits", str(_number(line.get("hits"), "hits of a line")))
    lines = covered = 0
    try:
        report = Cobertura(io.BytesIO(tostring(root)))
        for path in report.files():
            statuses = report.line_statuses(path)
            lines += len({number for number, _ in statuses})
            covered += len({number for number, status in statuses if status != "miss"})
    except (Cobertura.InvalidCoverageReport, LookupError, RecursionError, TypeError, ValueError):
        raise _UnreadableError("a class or a line of its Cobertura XML is malformed") from None
    return Report("coverage-xml", {"lines": lines, "covered": covered}, (), 0, ok=True)


def _read_json(data: bytes) -> Report:
    """Return the report in a JSON object."""
    import json

    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _UnreadableError(f"its JSON is malformed ({error})") from None
    if isinstance(document.get("runs"), list):
        return _read_sarif(document)
    totals = _object(document.get("totals"))
    lines, covered = totals.get("num_statements"), totals.get("covered_lines")
    if type(lines) is not int or type(covered) is not int:
        raise _UnreadableError("its JSON has neither SARIF's runs nor the totals of coverage.py")
    if not 0 <= covered <= lines <= MAX_COUNT:
        raise _UnreadableError(f"its totals cannot be: {covered} lines of {lines} are covered")
    return Report("coverage-json", {"lines": lines, "covered": covered}, (), 0, ok=True)


def _object(value: Any) -> dict[str, Any]:
    """Return an object, an empty one where there is none; refuse what is something else."""
    if not isinstance(value, dict | None):
        raise _UnreadableError("something in its JSON is not an object")
    return value or {}


def _array(value: Any) -> list[Any]:
    """Return a list, an empty one where there is none; refuse what is something else."""
    if not isinstance(value, list | None):
        raise _UnreadableError("something in its JSON is not a list")
    return value or []


def _at(values: Any, index: Any) -> dict[str, Any]:
    """Return the object at the index, or an empty one."""
    array = _array(values)
    return _object(array[index]) if type(index) is int and 0 <= index < len(array) else {}


def _read_sarif(document: dict[str, Any]) -> Report:
    """Count the results by level; a run that scanned nothing, or failed to, is not ok."""
    version = document.get("version")
    if not isinstance(version, str) or not version.startswith("2.1."):
        raise _UnreadableError(f"it is SARIF {version}, not 2.1" if version else "its SARIF has no version")
    if any(_EXTERNAL & _object(part).keys() for part in (document, *document["runs"])):
        raise _UnreadableError("parts of its SARIF lie outside of its runs")
    counts = {"results": 0, "error": 0, "warning": 0, "note": 0, "suppressed": 0}
    names: list[str] = []
    for run in map(_object, document["runs"]):
        names += _unfinished(run)
        for level, name in _results(run):
            counts["results"] += 1
            if level in counts:
                counts[level] += 1
            if level == "error":
                names.append(name)
    if not document["runs"]:
        names.append("no tool ran")
    failed, more = _listed(names)
    return Report("sarif", counts, failed, more, ok=not names)


def _unfinished(run: dict[str, Any]) -> list[str]:
    """Return a name for the run if the tool says itself that it did not scan."""
    tool = _object(_object(run.get("tool")).get("driver")).get("name") or "a tool"
    invocations = [_object(one) for one in _array(run.get("invocations"))]
    for one in invocations:
        if one.get("executionSuccessful", True) is not True or any(one.get(key) is not None for key in _ENDED):
            return [f"{tool} did not finish"]
    return [] if run.get("results") is not None else [f"{tool} has no list of results"]


def _results(run: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the level and the name of each result that the run has, suppressed ones included."""
    rules = _Rules(_object(run.get("tool")))
    for result in map(_object, _array(run.get("results"))):
        if result.get("baselineState") == "absent":
            continue
        rule = rules.of(result)
        set_by = [_override(result, rule, rules, run), _object(rule.get("defaultConfiguration"))]
        yield _level(result, set_by), f"{rules.identify(result, rule)} {_place(result, run)}".strip()


def _override(result: dict[str, Any], rule: dict[str, Any], rules: _Rules, run: dict[str, Any]) -> dict[str, Any]:
    """Return how the invocation that a result names configures its rule, also one that the tool does not list."""
    invocation = _at(run.get("invocations"), _object(result.get("provenance")).get("invocationIndex"))
    name = rules.identify(result, rule)
    for one in map(_object, _array(invocation.get("ruleConfigurationOverrides"))):
        descriptor = _object(one.get("descriptor"))
        there, asked = rules.of({"rule": descriptor}), descriptor.get("id")
        if there is rule or (asked and not (there or rule) and asked in (name, name.rpartition("/")[0])):
            return _object(one.get("configuration"))
    return {}


def _level(result: dict[str, Any], configurations: Iterable[dict[str, Any]]) -> str:
    """Return the result's level as SARIF 3.27.10 determines it, or that the result is suppressed."""
    suppressions = _array(result.get("suppressions"))
    if suppressions and all(_object(one).get("status", "accepted") == "accepted" for one in suppressions):
        return "suppressed"
    level = result.get("level")
    if level is None and result.get("kind") in _KINDS:
        return "none"
    if level is None:
        level = next((one["level"] for one in configurations if "level" in one), "warning")
    if level not in _LEVELS:
        raise _UnreadableError(f"a result of its SARIF has the level {level!r}")
    return str(level)


def _place(result: dict[str, Any], run: dict[str, Any]) -> str:
    """Return "path:line" of where the result is."""
    physical = _object(_at(result.get("locations"), 0).get("physicalLocation"))
    artifact = _object(physical.get("artifactLocation"))
    if "uri" not in artifact:
        artifact = _object(_at(run.get("artifacts"), artifact.get("index")).get("location"))
    line = _object(physical.get("region")).get("startLine")
    path = str(artifact.get("uri", ""))
    return f"{path}:{line}" if path and line is not None else path


class _Rules:
    """Find the rule that a result names, by its index or by its id."""

    def __init__(self, tool: dict[str, Any]) -> None:
        self._driver = _object(tool.get("driver"))
        self._extensions = tool.get("extensions")
        parts = [self._driver, *map(_object, _array(self._extensions))]
        rules = [_object(rule) for part in reversed(parts) for rule in _array(part.get("rules"))]
        self._by_id = {str(rule.get("id")): rule for rule in reversed(rules)}

    def of(self, result: dict[str, Any]) -> dict[str, Any]:
        reference = _object(result.get("rule"))
        component = _object(reference.get("toolComponent")).get("index", -1)
        part = self._driver if component == -1 else _at(self._extensions, component)
        rule = _at(part.get("rules"), result.get("ruleIndex", reference.get("index")))
        named = self.identify(result, rule)
        if rule and (named == rule.get("id") or named.startswith(f"{rule.get('id')}/")):
            return rule
        return self._by_id.get(named) or self._by_id.get(named.rpartition("/")[0]) or {}

    @staticmethod
    def identify(result: dict[str, Any], rule: dict[str, Any]) -> str:
        """Return the id under which the result names its rule."""
        return str(result.get("ruleId") or _object(result.get("rule")).get("id") or rule.get("id") or "a rule")
