"""memento check."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git import __version__
from memento_git.cli import terminal
from memento_git.cli.boundary import Call, Noun, both
from memento_git.model.enumeration import many

if TYPE_CHECKING:
    from memento_git.review.outcome import Report
    from memento_git.work.actions.reproducing import Again

FOUND = 5
FORMATS = ("text", "json", "sarif", "github", "junit")
SAME: Final = "in the commits between: no file of the ledger differs"
UNMENDED: Final = "--fix mended nothing"
UNCHECKED: Final = "not committed, so not checked: {paths}; git add them, and memento check --staged looks at them"

NOTES: Final = ("anchors", "impact", "duplicates", "conflicts", "expired", "usage")


class Checks(Noun):
    """A command of its own, beside which there are those on notes; their module is imported when one is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(NOTES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        from memento_git.cli import check_notes

        return check_notes.COMMANDS.get(cmd_name)


@click.group("check", cls=Checks, invoke_without_command=True)
@click.option(
    "--base", default="", metavar="REV", help="Check only what the branch adds to REV, from their merge base on."
)
@click.option("--no-base", is_flag=True, help="The tree alone, also in CI and on a merge.")
@click.option("--staged", is_flag=True, help="What is staged, against HEAD; for hooks. Writes nothing.")
@click.option("--fix", is_flag=True, help="Put back what must not change, take redacted files away, in one commit.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to print.")
@click.option(
    "--reproduce", is_flag=True, help="Run again what the branch's completions rest on; policy lists what may."
)
@click.option(
    "--diff", "range_", default="", metavar="A..B",
    help="Name the notes whose code a change touches: a range, or `staged`; never an error.",
)  # fmt: skip
@both
def check(
    call: Call, base: str, form: str, range_: str, *, no_base: bool, staged: bool, fix: bool, reproduce: bool
) -> int:
    """Check the ledger, or what a branch adds to it; exit with 5 when there are errors.

    Without --base it checks all of HEAD; in CI it compares with the branch that the request is for, or with the
    remote's own, and on a merge commit with its first parent. Errors that the base already had are listed apart. With
    --staged it prints nothing when no ledger file differs. The commands below look at notes instead.
    """
    if click.get_current_context().invoked_subcommand:
        return 0
    if range_:
        from memento_git.cli import check_notes

        if base or no_base or staged or fix or reproduce or form in ("sarif", "junit"):
            raise click.UsageError("--diff goes with --at and --format text, json or github alone")
        check_notes.touched(call, range_, form)
        return 0
    at = _at(call, [bool(base), no_base, staged].count(True), staged=staged, reproduce=reproduce)
    if staged and (refs := _of_the_framework()):
        (base, at), staged = refs, False
    form = "json" if call.json else form
    quick = form in ("text", "github") and not at and not fix and (staged or base)
    if quick and _is_untouched(call, base, staged=staged):
        if base and form == "text":
            terminal.put(f"nothing is wrong {SAME}")
        return 0
    from memento_git.review import actions

    again = _again(call, form) if reproduce else None
    report = actions.check(call.ledger, base=base, no_base=no_base, at=at, staged=staged, fix=fix, again=again)
    report, rows = _with(report, again, form)
    then = actions.undone(call.ledger, report.fixed) if report.fixed else []
    call.uncommitted = UNCHECKED
    _show(call, report, form, rows, base, fix=fix, then=then)
    return FOUND if report.has_errors else 0


def _at(call: Call, bases: int, *, staged: bool, reproduce: bool) -> str:
    """Return the revision that is looked at; refuse what does not go together."""
    if bases > 1 or len(call.at) + staged > 1:
        raise click.UsageError(
            "give one of --base, --no-base and --staged, and one --at, which --staged has no use for"
        )
    if reproduce and (staged or call.at):
        raise click.UsageError("--reproduce runs commands of this checkout's HEAD: leave --staged and --at away")
    if "" in call.at:
        raise click.UsageError("--at is empty: is a variable not set?")
    return next(iter(call.at), "")


def _again(call: Call, form: str) -> Again:
    from memento_git.work.actions.reproducing import Again

    return Again(call.ledger, lambda line: None if form == "json" else terminal.put(line, err=True))


def _with(report: Report, again: Again | None, form: str) -> tuple[Report, list[dict[str, Any]] | None]:
    """Return a report with what running again showed to be wrong, as grave as policy takes it; say what was run."""
    if again is None:
        return report, None
    if found := again.findings():
        from memento_git.review.files import placed

        found = placed(again.ledger.view(), found)
    return report._replace(findings=[*found, *report.findings]).weighed(), _told(again, form)


def _told(again: Again, form: str) -> list[dict[str, Any]]:
    """Say what was run again, beside what programs read; return it as rows."""
    from memento_git.cli.reproduce import lines
    from memento_git.work.actions.reproducing import row

    if form != "json":
        terminal.put(terminal.guarded("\n".join(lines(again.results))), err=form != "text")
    return [row(one) for one in again.results]


def _of_the_framework() -> tuple[str, str] | None:
    """Return the two revisions that `pre-commit run --from-ref A --to-ref B` asks about."""
    start, end = (os.environ.get(f"PRE_COMMIT_{name}_REF", "") for name in ("FROM", "TO"))
    return (start, end) if start and end else None


def _is_untouched(call: Call, base: str, *, staged: bool) -> bool:
    """Tell whether no file of the ledger differs."""
    from memento_git.ledger.quick_diff import unchanged

    return unchanged(Path(call.workspace), base=base, staged=staged)


def _show(
    call: Call, report: Report, form: str, again: list[dict[str, Any]] | None, base: str, *, fix: bool,
    then: list[dict[str, str]],
) -> None:  # fmt: skip
    from memento_git.review import formats

    if form == "json":
        failed = report.has_errors
        refusal = {"error": "findings", "message": formats.counted(report.findings)} if failed else {}
        data = {
            **refusal, "findings": formats.rows(report.findings), "already": formats.rows(report.already),
            "base": report.base or None, "head": report.head, "checked": report.records,
            "fixed": [str(one) for one in report.fixed],
            **({} if again is None else {"results": again}), **({"next": then} if then else {}),
            **({"warnings": notes} if (notes := call.notes()) else {}),
        }  # fmt: skip
        terminal.put(*terminal.envelope({"ok": not failed, **data}.items()))
    elif form == "sarif":
        terminal.put(formats.sarif(report.findings, report.already, __version__))
    elif form == "github":
        terminal.put(formats.github(report.findings))
    elif form == "junit":
        terminal.put(formats.junit(report.findings, report.already))
    else:
        terminal.put(
            terminal.guarded(formats.text(report.findings, report.already, _where(report, base), report.fixed))
        )
        for step in then:
            terminal.put(f" next, {step['why']}: {step['command']}")
        if fix and report.findings and not report.fixed:
            terminal.put(
                UNMENDED if report.base else f"{UNMENDED}: it puts back what a base has (--base REV)", err=True
            )


def _where(report: Report, base: str) -> str:
    """Return what was looked at, as the last line ends."""
    from memento_git.ledger.ranges import SIDES

    if not report.base:
        return f"in {many(report.records, 'record')}"
    if not report.records and base.endswith(SIDES):
        return "in the merge: each file of the ledger is as one of its sides has it"
    told = f"in {many(report.records, 'file that differs', 'files that differ')}" if report.records else SAME
    return f"{told} from {_chosen(report)}" if report.chosen else told


def _chosen(report: Report) -> str:
    """Return the base that was compared with although nobody named it."""
    from memento_git.review.jobs import PARENT

    name = "the first parent of this merge" if report.chosen == PARENT else report.chosen
    return f"{name} ({report.base[:12]}); --no-base checks all of it"
