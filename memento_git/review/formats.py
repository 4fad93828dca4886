"""Findings as text for people, and in the forms that hosting services and test viewers read. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from memento_git.folding.fold import FOLLOWING
from memento_git.model.enumeration import cut, grouped, many, some
from memento_git.model.finding import Finding, Kind, inside
from memento_git.model.ids import ALPHABET, LENGTH
from memento_git.model.markup import one_line

if TYPE_CHECKING:
    from memento_git.review.outcome import Fixed

_RUN: Final = re.compile(rf"\brun_[{ALPHABET}]{{{LENGTH}}}")
_TASK: Final = re.compile(rf"\btask_[{ALPHABET}]{{{LENGTH}}}")
_PROOF: Final = re.compile(rf"\bevidence_[{ALPHABET}]{{{LENGTH}}}|{_TASK.pattern}")
CHAINED: Final = ("E002", "E003")  # an event whose past is not there, or is another
MOST_NAMED: Final = 5
ROOT: Final = "%SRCROOT%"
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_DESCRIBED: Final = 1024  # characters of a rule's description that GitHub takes; of its help it takes all
MOST_RESULTS: Final = 5000  # that GitHub shows of a run; a log with five times as many it does not take at all


def text(findings: Sequence[Finding], already: Sequence[Finding], head: str, fixed: Sequence[Fixed] = ()) -> str:
    """Return a line for each finding, its remedy below it; what was wrong before apart; counts in the last line.

    A warning that holds of several runs alike is told of the first, with the names of the others; and so is what the
    want of one file does to the events that follow it, for one command mends it all, and that tasks lack the same
    proof, as work that is merged one after the other makes of nearly all.
    """
    lines = [*map(str, fixed), *_lines(findings)]
    if already:
        lines += [f"already wrong at the base ({len(already)}), not this branch's doing:", *_lines(already, "  ")]
    return "\n".join([*lines, f"{counted(findings)} {head}".strip()])


def _lines(findings: Iterable[Finding], indent: str = "") -> list[str]:
    lines = []
    told, following = _chained([*findings])
    for at, further in once((one.path, one.severity, f"{one.code} {one.message}\0{one.fix}") for one in told).items():
        one = told[at]
        lines.append(f"{indent}{_place(one)}: {one.code} {one.severity} {one_line(one.message)}")
        if one.fix:
            lines.append(f"{indent}  fix: {one_line(one.fix)}")
        if one.archive:
            lines.append(f"{indent}  {one_line(_held(one))}")
        lines += [f"{indent}  {line}" for line in ([more(further)] if further else following.get(one, []))]
    return lines


def _chained(findings: list[Finding]) -> tuple[list[Finding], dict[Finding, list[str]]]:
    """Return the findings to tell, and a line on the others: those that miss the same past, or the same proof."""
    alike = grouped((key, one) for one in findings if (key := _chain(one)))
    left: set[Finding] = set()
    following = {}
    for chain in alike.values():
        first, *others = sorted(chain, key=lambda one: (one.code == "E002", one.message.endswith(FOLLOWING)))
        if first.code not in CHAINED:
            others = [one for one in others if _task(one) != _task(first)]
        left.update(others)
        if others and first.code in CHAINED:
            records = dict.fromkeys(one.message.partition(" ")[0] for one in others)
            told = f"and so is what follows: {many(len(others), 'event')}, of {some([*records], MOST_NAMED)}"
            following[first] = [told]
        elif others:
            tasks = dict.fromkeys(map(_task, others))
            following[first] = [f"and so it is with {many(len(tasks), 'more task')}: {some([*tasks], MOST_NAMED)}"]
    return [one for one in findings if one not in left], following


def _task(one: Finding) -> str:
    """Return the task whose proof lacks something."""
    return str(_TASK.findall(one.message)[-1])


def _chain(one: Finding) -> str:
    """Return what findings have in common of which the first is told for all; nothing of one that stands alone."""
    if one.code in CHAINED:
        return one.fix
    if one.code == "C001" and one.severity == "warning" and _TASK.search(one.message):
        return _PROOF.sub("", f"{one.message}\0{one.fix}\0{one.archive}")
    return ""


def once(told: Iterable[tuple[str, str, str]]) -> dict[int, list[str]]:
    """Return which places of a list to tell: of warnings that differ in their run alone, the first with the other runs.

    Each is told by what names its run, how grave it is, and its text. What must be mended is told by itself, and so is
    what is said twice of one run.
    """
    first: dict[tuple[str, int], int] = {}
    seen: Counter[tuple[str, str]] = Counter()
    places: dict[int, list[str]] = {}
    for at, (name, grave, text) in enumerate(told):
        run = _RUN.search(name)
        if run is None or not grave.startswith("warn"):
            places[at] = []
            continue
        same = text.replace(run[0], "")
        seen[run[0], same] += 1
        place = first.setdefault((same, seen[run[0], same]), at)
        places.setdefault(place, []).extend([run[0]] if place != at else [])
    return places


def more(runs: Sequence[str]) -> str:
    """Say of which further runs something holds."""
    return f"and {len(runs)} more like it: {', '.join(runs)}"


def _held(finding: Finding) -> str:
    """Return in which archive a file is, and how to look into that."""
    return f"only the archive of its run has this file: {inside(finding.archive)}" if finding.archive else ""


def _in_tree(finding: Finding) -> tuple[str, int]:
    """Return the file of the tree that has what is wrong, and the line: the archive, where only that has it."""
    return (finding.archive, 0) if finding.archive else (finding.path, finding.line)


def _place(finding: Finding) -> str:
    path = one_line(finding.path)
    return f"{path}:{finding.line}" if finding.line else path


def counted(findings: Iterable[Finding]) -> str:
    """Return how many errors and warnings there are, in words."""
    grave = [one.severity for one in findings]
    errors, warnings = grave.count("error"), grave.count("warning")
    if not grave:
        return "nothing is wrong"
    return ", ".join(many(count, word) for count, word in ((errors, "error"), (warnings, "warning")) if count)


def _kind(code: str) -> Kind:
    from memento_git.review.catalogue import CATALOGUE

    return CATALOGUE[code]


def rows(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return findings as rows for JSON."""
    return [
        {
            "code": one.code, "severity": one.severity, "path": one.path, "line": one.line or None,
            "archive": one.archive or None, "message": one.message, "fix": one.fix or None,
            "title": _kind(one.code).title,
        }
        for one in findings
    ]  # fmt: skip


def sarif(findings: Sequence[Finding], already: Sequence[Finding], version: str) -> str:
    """Return a SARIF 2.1.0 log with one run; what was wrong at the base is `unchanged` in it.

    Where there is more than services show, the first of each code come first, and how many are left out is told.
    """
    codes = sorted({one.code for one in (*findings, *already)})
    rules = [
        {
            "id": code,
            "name": "".join(word.capitalize() for word in _kind(code).title.replace("'", "").split()),
            "shortDescription": {"text": _kind(code).title},
            "fullDescription": {"text": cut(_kind(code).meaning, MOST_DESCRIBED)},
            "help": dict.fromkeys(("text", "markdown"), f"{_kind(code).meaning}\n\n{_kind(code).fix}"),
            "defaultConfiguration": {"level": _kind(code).severity},
        }
        for code in codes
    ]
    every = [*((one, "new") for one in _in_turn(findings)), *((one, "unchanged") for one in already)]
    results = [_result(one, codes.index(one.code), state) for one, state in every[:MOST_RESULTS]]
    driver = {"name": "memento check", "version": version, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if left := len(every) - len(results):
        said = {"level": "warning", "message": {"text": f"{many(left, 'more finding')} in the log of the check"}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [said]}]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(finding: Finding, rule: int, state: str) -> dict[str, Any]:
    from urllib.parse import quote

    path, line = _in_tree(finding)
    where: dict[str, Any] = {"artifactLocation": {"uri": quote(path, errors="surrogateescape"), "uriBaseId": ROOT}}
    where["region"] = {"startLine": max(1, line)}
    fix = f" Fix: {finding.fix}" if finding.fix else ""
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "baselineState": state,
        "message": {"text": _unlinked(". ".join(filter(None, [one_line(finding.message) + fix, _held(finding)])))},
        "locations": [{"physicalLocation": where}],
        "partialFingerprints": {"memento/v1": fingerprint(finding)},
    }


def _unlinked(text: str) -> str:
    """Return a message without links: SARIF takes `[words](address)` for one, in plain text as well."""
    return text.replace("](", "] (")


def fingerprint(finding: Finding) -> str:
    """Return what a finding is known by from one commit to the next."""
    from hashlib import sha256

    known_by = f"{finding.code}\0{finding.path}\0{finding.message}"
    return sha256(known_by.encode(errors="replace")).hexdigest()[:32]


def github(findings: Iterable[Finding]) -> str:
    """Return workflow commands, one for each finding; GitHub shows the first ten errors and warnings of a step.

    So the first of each code come first: what is often honest, such as stale evidence, hides nothing else.
    """
    lines = []
    for one in _in_turn(findings):
        path, at = _in_tree(one)
        line = f",line={at}" if at else ""
        title = _property(f"{one.code} {_kind(one.code).title}")
        told = "\n".join(filter(None, [one.message, one.fix and f"fix: {one.fix}", _held(one)]))
        lines.append(f"::{one.severity} file={_property(path)}{line},title={title}::{_message(told)}")
    return "\n".join(lines)


def _in_turn(findings: Iterable[Finding]) -> list[Finding]:
    """Return errors before warnings, and of each the first of every code, then the second of every code."""
    seen: Counter[tuple[str, str]] = Counter()
    turns: list[tuple[bool, int, Finding]] = []
    for one in findings:
        turns.append((one.severity != "error", seen[one.severity, one.code], one))
        seen[one.severity, one.code] += 1
    return [one for *_, one in sorted(turns, key=lambda turn: turn[:2])]


def notice(path: str, lines: str, title: str, told: str) -> str:
    """Return a workflow command that says something of lines of a file, and is no finding."""
    first, _, last = lines.partition("-")
    place = f" file={_property(path)}," if path else " "
    place += f"line={first},endLine={last or first}," if path and lines else ""
    return f"::notice{place}title={_property(title)}::{_message(told)}"


def _message(value: str) -> str:
    kept = "\n".join(one_line(line) for line in value.splitlines())
    return kept.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _message(value).replace(":", "%3A").replace(",", "%2C")


def junit(findings: Sequence[Finding], already: Sequence[Finding]) -> str:
    """Return JUnit XML: errors are failures, warnings and what was wrong before are skipped with a word."""
    failed = sum(1 for one in findings if one.severity == "error")
    skipped = len(findings) - failed + len(already)
    total = len(findings) + len(already) or 1
    counts = f'tests="{total}" failures="{failed}" errors="0" skipped="{skipped}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {counts}>",
             f'<testsuite name="memento check" {counts}>']  # fmt: skip
    names = _names([*findings, *already])
    lines += [_case(one, next(names), "failure" if one.severity == "error" else "skipped") for one in findings]
    lines += [_case(one, next(names), "skipped", "already wrong at the base: ") for one in already]
    if not findings and not already:
        lines.append('<testcase classname="memento" name="the ledger"/>')
    return "\n".join([*lines, "</testsuite>", "</testsuites>"])


def _names(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield what the case of each finding is called: of cases that are called the same GitLab shows the first alone."""
    seen: Counter[str] = Counter()
    for one in findings:
        name = f"{one.code} {_place(one)}"
        seen[name] += 1
        yield f"{name} ({seen[name]})" if seen[name] > 1 else name


def _case(finding: Finding, name: str, kind: str, before: str = "") -> str:
    beside = "; ".join(filter(None, [finding.fix and f"fix: {finding.fix}", _held(finding)]))
    told = _attribute(before + one_line(finding.message) + (f" ({beside})" if beside else ""))
    named = f"classname={_attribute(finding.code)} name={_attribute(name)}"
    return f"<testcase {named}><{kind} message={told}/></testcase>"


def _attribute(value: str) -> str:
    """Return a quoted attribute without the characters that XML cannot hold."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(one_line(value))
