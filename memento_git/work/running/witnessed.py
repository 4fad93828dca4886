"""What a command showed, as evidence says it: the command itself, and the reports that it wrote."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from memento_git.errors import Refused
from memento_git.texts.secrets import find_in_words, redact, redact_words
from memento_git.work.running import capture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def command_record(
    argv: Sequence[str], run: capture.Captured, scrubber: capture.Scrubber
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what evidence says of a command, and the files that are kept of its output."""
    known = {secret.value: secret.rule for secret in find_in_words(argv)}
    stdout, out_files = capture.stream_record(run.stdout, "stdout.txt", scrubber, known)
    stderr, err_files = capture.stream_record(run.stderr, "stderr.txt", scrubber, known)
    told = {
        "argv": [scrubber.argument(word, program=not at) for at, word in enumerate(redact_words(argv))],
        "cwd": "",
        "exit": run.exit,
        "signal": run.signal,
        "timed_out": run.timed_out or None,
        "seconds": round(run.seconds, 3),
        "stdout": stdout,
        "stderr": stderr,
    }
    return told, {**out_files, **err_files}


def ended_by(run: capture.Captured) -> list[str]:
    """Return why a command did not end by itself, whatever it came to: its time was up, or memento was asked to end."""
    late = ["it took too long, and was ended"] if run.timed_out else []
    return [*late, *([f"it was ended by {run.interrupted}"] if run.interrupted not in ("", "SIGINT") else [])]


def marks(top: Path, start: Path, reports: Sequence[str]) -> dict[str, tuple[int, int] | None]:
    """Return what tells of each report whether a command has written it; refuse one that cannot be named, or read."""
    from memento_git.work.running.reports import refuse_unreadable

    refuse_unreadable(reports)
    for report in reports:
        capture.inside(top, start / report)
    return {report: mark(start / report) for report in reports}


def mark(path: Path) -> tuple[int, int] | None:
    """Return what tells whether a command has written a file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def report_records(
    top: Path, start: Path, old: dict[str, tuple[int, int] | None], scrubber: capture.Scrubber
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the parsed reports, and what is wrong with those that cannot count."""
    parsed, problems = [], []
    for given, before in old.items():
        try:
            name = capture.inside(top, start / given)
            if mark(start / given) in (None, before):
                problems.append(f"report {name} was not written by the command")
            else:
                parsed.append(_report(name, _content(start / given, name), scrubber))
                if parsed[-1]["counts"].get("tests") == 0:
                    problems.append(f"report {name} has no test case")
        except Refused as refusal:
            problems.append(refusal.message[:500])
    return parsed, problems


def _content(path: Path, name: str) -> bytes:
    """Return the bytes of a report, of one that is too large the beginning; nothing else than a file is waited for."""
    from memento_git.work.running.reports import MAX_BYTES, ReportInvalid

    try:
        if not path.is_file():
            raise ReportInvalid(name=name, detail="it is not a plain file")
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ReportInvalid(name=name, detail=error.strerror or type(error).__name__) from None


def _report(name: str, data: bytes, scrubber: capture.Scrubber) -> dict[str, Any]:
    from memento_git.work.running.reports import read_report

    report = read_report(name, data)
    return {
        "name": name,
        "format": report.format,
        "sha256": hashlib.sha256(data).hexdigest(),
        "ok": report.ok,
        "counts": dict(report.counts),
        "failed": [capture.fit(redact(scrubber.text(case))[0]) for case in report.failed],
        "failed_more": report.failed_more or None,
    }
