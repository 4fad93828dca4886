"""memento evidence reproduce, memento evidence export."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memento_git.cli import terminal
from memento_git.cli.boundary import Call, reads, writes
from memento_git.cli.options import of_run, of_task, signs
from memento_git.cli.report import write_file

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.work.actions.reproducing import Result


@click.command("reproduce")
@click.argument("evidence_ids", nargs=-1, metavar="[EVIDENCE]...")
@of_run("All that the settled work of this run rests on.")
@click.option("--base", default="", metavar="REV", help="All that this branch adds to REV; the policy is REV's.")
@click.option("--record", is_flag=True, help="Record what ran again as evidence; what is signed is recorded anyway.")
@click.option("--strict", is_flag=True, help="Fail, too, where something cannot be run again.")
@signs
@writes
def reproduce(
    call: Call, evidence_ids: tuple[str, ...], run: str, base: str, key: str, *, record: bool, strict: bool, sign: bool
) -> int:
    """Run recorded commands again in clean worktrees, and compare their verdicts.

    Policy lists the commands that may be run (policy.reproduce). Compared are exit code, counts of cases and names of
    failed cases; not times. The exit code is 1 where anything differs.
    """
    from memento_git.work.actions import reproducing

    signing = sign or bool(key)
    if signing:
        reproducing.require_key(call.ledger, key, base)

    def tell(line: str) -> None:
        if not call.json:
            terminal.put(line, err=True)

    found = reproducing.reproduce(call.ledger, ids=evidence_ids, run=run, base=base, tell=tell)
    if record or signing:
        found = reproducing.record(call.ledger, call.change, found, sign=sign, key=key)
    counts = _counts(found)
    bad = counts["differs"] + (counts["cannot"] if strict else 0)
    rows = [reproducing.row(one) for one in found]
    told = lines(found)
    refusal = {"error": "not_reproduced", "message": told[-1]} if bad else {}
    return call.show({**refusal, "results": rows, "counts": counts}, "\n".join(told))


def lines(found: Sequence[Result]) -> list[str]:
    """Return a line for each piece of evidence that was run again, then how many came to what."""
    if not found:
        return ["there is nothing to run again: no settled work rests on a command here"]
    return [*(_line(one) for one in found), ", ".join(f"{count} {word}" for word, count in _counts(found).items())]


def _counts(found: Sequence[Result]) -> dict[str, int]:
    return {word: sum(one.status == word for one in found) for word in ("reproduced", "differs", "cannot")}


def _line(result: Result) -> str:
    told = f": {'; '.join(result.why)}" if result.why else ""
    doubt = f", which does not raise its trust: {result.doubt}" if result.doubt else ""
    made = f" (recorded {result.made}{doubt})" if result.made else ""
    return f"{result.evidence.id} {result.status}{told}{made}"


@click.command("export")
@click.argument("evidence_ids", nargs=-1, metavar="[EVIDENCE]...")
@of_run("The release of this run, as a verification summary.")
@of_task("What proves this task, one statement a line.")
@click.option(
    "--key",
    type=click.Path(path_type=pathlib.Path),
    help="Sign with this private key, as DSSE envelopes: Ed25519 or ECDSA.",
)
@click.option("--out", default="", metavar="FILE", help="Write into this file.")
@reads
def export(call: Call, evidence_ids: tuple[str, ...], run: str, task: str, key: Path | None, out: str) -> None:
    """Write evidence, or the release of a run, as in-toto attestations: one JSON object a line.

    Evidence becomes a test result about the code that it saw, a released run a verification summary. Failed evidence
    is exported as failed; what is retracted, superseded, redacted or contradicted is refused.
    """
    if bool(evidence_ids) == bool(run or task):
        raise click.UsageError("name evidence, or --task TASK, or --run RUN")
    found = _statements(call.view(), evidence_ids, run, task)
    if key is not None:
        from memento_git.work.attest import envelope

        found = envelope.sealed(found, key)
    text = "".join(f"{one.decode()}\n" for one in found)
    if out:
        size = write_file(call, out, text)
        call.show({"out": out, "bytes": size}, f"wrote {out}, {size} bytes")
    else:
        call.show({"attestations": [json.loads(one) for one in found]}, text)


def _statements(view: View, evidence_ids: tuple[str, ...], run: str, task: str) -> list[bytes]:
    from memento_git.work.actions import exporting

    if evidence_ids:
        return exporting.evidence_statements(view, evidence_ids)
    return exporting.task_statements(view, task, run) if task else [exporting.run_statement(view, run)]
