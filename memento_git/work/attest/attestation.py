"""What evidence and releases say, as in-toto Statements: the same bytes each time. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memento_git.work.proof.codes import code_seen, wholly
from memento_git.work.proof.trust import outcome_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memento_git.model.work import Evidence

STATEMENT: Final = "https://in-toto.io/Statement/v1"
TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
SUMMARY: Final = "https://slsa.dev/verification_summary/v1"
VERIFIER: Final = "pkg:pypi/memento-git"
LEVEL: Final = "MEMENTO_RELEASE_GATE_PASSED"
RESULTS: Final = {"passed": "PASSED", "failed": "FAILED"}

Statement = dict[str, Any]


def uri(identity: str) -> str:
    """Return the name of a record of the ledger, the same on every machine."""
    return f"memento:{identity}"


def test_result(evidence: Evidence, sha256: str, trust: str, commit: str) -> bytes:
    """Return what a command showed as a test result; its `configuration` names the evidence and its reports.

    `commit` is the one that held the code which the command saw, where there is one.

    Evidence keeps the names of failed cases only, so those that passed are counted and not named.
    """
    data = evidence.data
    reports = data.get("reports") or ()
    failed = [f"{report['name']}: {case}" for report in reports for case in report.get("failed") or ()]
    predicate: dict[str, Any] = {
        "result": RESULTS[outcome_of(data)],
        "configuration": [_told(evidence, sha256, trust), *map(_report, reports)],
        "failedTests": failed,
    }
    if str(data.get("uri") or "").startswith(("https://", "http://")):
        predicate["url"] = data["uri"]
    return _statement(subjects(wholly(data) or code_seen(data)["tree"], commit), TEST_RESULT, predicate)


def _statement(subjects: Sequence[Statement], kind: str, predicate: Mapping[str, Any]) -> bytes:
    """Return the bytes of a statement: sorted keys, no spaces, ASCII."""
    told = {"_type": STATEMENT, "subject": subjects, "predicateType": kind, "predicate": predicate}
    return json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def subjects(tree: str, commit: str) -> list[Statement]:
    """Return the code as its tree without the ledger, and the commit, which is another thing, beside it."""
    found: list[Statement] = [{"name": "code", "digest": {"gitTree": tree}}]
    return [*found, {"name": "commit", "digest": {"gitCommit": commit}}] if commit else found


def _told(evidence: Evidence, sha256: str, trust: str) -> Statement:
    data = evidence.data
    command = data.get("command") or {}
    notes = {
        "kind": evidence.kind,
        "trust": trust,
        "run": evidence.run,
        "tasks": evidence.tasks,
        "recordedBy": data["by"],
        "recordedAt": data["at"],
        "argv": command.get("argv"),
        "cwd": command.get("cwd"),
        "exit": command.get("exit"),
        "tools": command.get("tools"),
        "covers": sorted(code_seen(data).get("paths", ())),
        "absent": data["code"].get("absent"),
        "problems": data.get("problems"),
        "reproduces": data.get("reproduces"),
    }
    kept = {key: value for key, value in notes.items() if value not in (None, [], {})}
    return {"uri": uri(evidence.id), "name": evidence.path, "digest": {"sha256": sha256}, "annotations": kept}


def _report(report: Mapping[str, Any]) -> Statement:
    notes = {"format": report["format"], "ok": report["ok"], "counts": report["counts"]}
    more = {"failedMore": report["failed_more"]} if report.get("failed_more") else {}
    return {"name": report["name"], "digest": {"sha256": report["sha256"]}, "annotations": {**notes, **more}}


def summary(*, run: str, at: str, tree: str, commit: str, policy: str, inputs: Mapping[str, str]) -> bytes:
    """Return the release of a run as a verification summary: its time, the code, the policy, the files it rests on."""
    predicate = {
        "verifier": {"id": VERIFIER},
        "timeVerified": at,
        "resourceUri": uri(run),
        "policy": {"uri": uri("config.yaml"), "digest": {"sha256": policy}},
        "inputAttestations": [
            {"uri": uri(name), "digest": {"sha256": sha256}} for name, sha256 in sorted(inputs.items())
        ],
        "verificationResult": "PASSED",
        "verifiedLevels": [LEVEL],
    }
    return _statement(subjects(tree, commit), SUMMARY, predicate)
