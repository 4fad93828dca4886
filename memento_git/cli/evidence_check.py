"""memento evidence check: the checks of others as evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, BinaryIO

import click

from memento_git.cli import output
from memento_git.cli.boundary import Call, writes
from memento_git.cli.options import of_run

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import Row


@click.command("check")
@click.argument("file", type=click.File("rb"), required=False)
@click.option(
    "--provider", default="auto", show_default=True, metavar="NAME",
    help="github, gitlab, buildkite, auto; with --conclusion any name.",
)  # fmt: skip
@of_run("Run that it belongs to; that of its tasks by default.")
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="Task that it is about; repeatable.")
@click.option("--commit", default="", metavar="REV", help="Commit that is asked about; HEAD by default without FILE.")
@click.option("--fetch", is_flag=True, help="Ask the hosting service; the token is in the environment.")
@click.option("--repo", default="", metavar="OWNER/NAME", help="With --fetch: which repository there.")
@click.option("--api", default="", metavar="URL", help="With --fetch: address of the API, for a server of one's own.")
@click.option(
    "--conclusion", default="", metavar="WORD", help="Without FILE: how a check of the commit ended, as typed."
)
@click.option("--status", default="", metavar="WORD", help="Without FILE: how far it is, as typed.")
@click.option("--name", default="", metavar="NAME", help="Without FILE: its name; the provider's by default.")
@click.option("--id", "identity", default="", metavar="ID", help="Without FILE: its id there.")
@click.option("--url", default="", metavar="URL", help="Without FILE: where it can be seen.")
@writes
def check(
    call: Call, file: BinaryIO | None, provider: str, run: str, tasks: tuple[str, ...], commit: str, repo: str,
    api: str, conclusion: str, status: str, name: str, identity: str, url: str, *, fetch: bool,
) -> None:  # fmt: skip
    """Record what checks from outside said of a commit.

    FILE (- for standard input) is the provider's JSON: GitHub's check runs, workflow runs and commit statuses,
    GitLab's pipelines and jobs, Buildkite's builds, from the API or a webhook. --fetch asks the service itself, with
    GITHUB_TOKEN, GITLAB_TOKEN or BUILDKITE_TOKEN. The commit must be in this clone. Only a success passes; the same
    check is recorded once.
    """
    from memento_git.work import answers
    from memento_git.work.actions import evidence_checks

    typed = bool(conclusion or status)
    _one_way(file=bool(file), fetch=fetch, typed=typed, repo=repo)
    _in_vain({"--repo": repo, "--api": api}, "--fetch", given=fetch)
    _in_vain({"--name": name, "--id": identity, "--url": url}, "--conclusion", given=typed)
    found = None
    if fetch:
        found = evidence_checks.fetch(call.ledger, repo, provider=provider, commit=commit, api=api)
    elif file is not None:
        found = evidence_checks.read(call.ledger, file.read(evidence_checks.MOST_BYTES + 1), provider, commit)

    def act(tx: Transaction) -> tuple[list[Row], list[Row]]:
        if found is not None:
            new, old = evidence_checks.add_checks(tx, found, run=run, tasks=tasks)
        else:
            one, is_new = evidence_checks.record_check(
                tx, provider, conclusion=conclusion, status=status, name=name, id=identity, url=url, commit=commit,
                run=run, tasks=tasks,
            )  # fmt: skip
            new, old = ([one], []) if is_new else ([], [one])
        return [answers.after(tx, one) for one in new], [answers.after(tx, one) for one in old]

    _show(call, *call.change("evidence check", act))


def _one_way(*, file: bool, fetch: bool, typed: bool, repo: str) -> None:
    if [file, fetch, typed].count(True) != 1:
        raise click.UsageError("give one of FILE, --fetch and --conclusion WORD")
    if fetch and not repo:
        raise click.UsageError("--fetch needs --repo OWNER/NAME")


def _in_vain(options: Mapping[str, str], other: str, *, given: bool) -> None:
    """Refuse options that say nothing without another one."""
    if alone := [name for name, value in options.items() if value and not given]:
        raise click.UsageError(f"only {other} has a use for {' and '.join(alone)}")


def _known(row: Row) -> str:
    return "known already" + (f", {row['status']}" if row["status"] != "recorded" else "")


def _show(call: Call, new: list[Row], old: list[Row]) -> None:
    lines = [
        (row["id"], output.state(row["outcome"]), output.printable(row["check"]["name"]),
         output.printable(row["check"]["conclusion"]), "" if row in new else _known(row))
        for row in (*new, *old)
    ]  # fmt: skip
    data = {"evidence": (new or old)[0], "checks": new, "known": old}
    call.show(data, lambda: "\n".join(output.columns(lines)))
