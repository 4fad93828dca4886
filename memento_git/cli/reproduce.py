"""memento evidence reproduce, memento evidence export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli.boundary import Door, writes

if TYPE_CHECKING:
    from memento_git.work.actions.reproducing import Result


@click.command("reproduce")
@click.argument("evidence_ids", nargs=-1, metavar="[EVIDENCE]...")
@click.option("--run", default="", metavar="RUN", help="All that the settled work of this run rests on.")
@click.option("--base", default="", metavar="REV", help="All that this branch adds to REV; the policy is REV's.")
@click.option("--record/--no-record", default=False, help="Record what ran again as evidence; not by default.")
@click.option("--strict", is_flag=True, help="Fail, too, where something cannot be run again.")
@writes
def reproduce(door: Door, evidence_ids: tuple[str, ...], run: str, base: str, record: bool, strict: bool) -> int:
    """Run recorded commands again in clean work trees, and compare their verdicts.

    Policy lists the commands that may be run (policy.reproduce). Compared are exit code, counts of cases and names of
    failed cases; not times. The exit code is 1 where anything differs.
    """
    from memento_git.work.actions import reproducing

    def tell(line: str) -> None:
        if not door.json:
            click.echo(line, err=True)

    found = reproducing.reproduce(door.ledger, ids=evidence_ids, run=run, base=base, tell=tell)
    if record:
        found = reproducing.record(door.ledger, door.change, found)
    counts = {word: sum(one.status == word for one in found) for word in ("reproduced", "differs", "cannot")}
    bad = counts["differs"] + (counts["cannot"] if strict else 0)
    lines = [*(_line(one) for one in found), ", ".join(f"{count} {word}" for word, count in counts.items())]
    rows = [reproducing.row(one) for one in found]
    door.show({"results": rows, "counts": counts}, "\n".join(lines), ok=not bad)
    return 1 if bad else 0


def _line(result: Result) -> str:
    told = f": {'; '.join(result.why)}" if result.why else ""
    made = f" (recorded {result.made})" if result.made else ""
    return f"{result.evidence.id} {result.status}{told}{made}"
