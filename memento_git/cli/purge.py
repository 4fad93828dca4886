"""memento purge: notes that must leave the branch's history."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from memento_git.cli import output
from memento_git.cli.boundary import Call, bare
from memento_git.model.enumeration import many, some

if TYPE_CHECKING:
    from memento_git.knowledge.actions.purging import Purge

SHOWN = 10


@click.command("purge")
@click.argument("notes", metavar="NOTE...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do it; without this it is only said what would be done.")
@click.option("--actor", metavar="WHO", help="Name to record; MEMENTO_ACTOR, else git's user, by default.")
@bare
def purge(call: Call, notes: tuple[str, ...], yes: bool) -> None:
    """Rewrite the branch's history without these notes: the last resort, for what must not be there at all.

    To say that a note does not hold any more is memento note retire. A secret that was committed must be
    replaced where it is used, whatever is purged here.
    """
    from memento_git.knowledge.actions.purging import purge_notes

    came = purge_notes(call.ledger, notes, yes=yes)
    reach = came.reach
    data = {
        "notes": came.notes, "done": came.done is not None, "branch": reach.branch, "paths": reach.paths,
        "rewrites": len(reach.commits), "signed": reach.signed, "named_by": came.named_by,
        "copies": came.copies, "sources": came.sources,
        "not_reached": {"refs": reach.elsewhere, "remotes": [*reach.pushed]},
        "before": reach.head, "after": came.done.head if came.done else None,
        "backup": came.done.backup if came.done else None, "remaining": _remaining(came),
    }  # fmt: skip
    call.show(data, "\n".join(_told(came)))


def _told(came: Purge) -> list[str]:
    """Return in sentences what is done, what is lost, what is not reached, what comes next."""
    reach, done = came.reach, came.done
    verb = "got" if done else "would get"
    first = reach.commits[0][:12] if reach.commits else "none"
    lines = [
        f"purged from {reach.branch}: {', '.join(came.notes)}"
        if done
        else f"would purge from {reach.branch}: {', '.join(came.notes)}; nothing was changed yet",
        *_some("removed from all commits" if done else "would be removed from all commits", reach.paths),
        f" What {'stays' if done else 'would stay'} of each is an event that says who purged it, and when.",
        f" {many(len(reach.commits), 'commit')} {verb} other ids, from {first} on;",
        " their messages, authors, dates and all other files stay.",
        " Anchors and evidence that name commits as hints keep the old ids.",
    ]
    lines += [f" {reach.signed} of these commits {'lost' if done else 'would lose'} their signature."] * (
        reach.signed > 0
    )
    lines += _some("notes that name them; what they name is shown as redacted", came.named_by)
    lines += _some("handoffs that have their titles in their own text, and still show them", came.copies)
    lines += [f" The old history is kept at {done.backup}."] if done else []
    lines += ["Not reached:", *_some("other branches, tags and refs that have them", reach.elsewhere)]
    lines += _some("remotes that have them", [*reach.pushed])
    lines += [" - reflogs and the backup ref of this clone, until they expire or are removed",
              " - other clones, forks, backups, caches of a hosting service, and whoever read it",
              " - commit messages, drafts, and other files that say the same"]  # fmt: skip
    return [*lines, "Next:", *(f" - {step}" for step in _remaining(came))]


def _some(what: str, names: list[str]) -> list[str]:
    if not names:
        return []
    return [f" - {what}: {some([output.printable(name) for name in names], SHOWN)}"]


def _remaining(came: Purge) -> list[str]:
    """Return what is left to people."""
    reach, done = came.reach, came.done
    steps = ["a secret that was committed counts as known: replace it where it is used"]
    if came.sources:
        told = some([output.printable(source) for source in came.sources], SHOWN)
        steps.append(f"it was imported from {told}: take it out there, too")
    if came.copies:
        steps.append(f"take them out of the handoffs, too: memento purge {' '.join(came.copies)}")
    if done is None:
        return [*steps, "do it: the same command with --yes"]
    for name, known in reach.pushed.items():
        remote, _, branch = name.partition("/")
        if branch == reach.branch:
            push = shlex.join(["git", "push", f"--force-with-lease={branch}:{known}", remote, branch])
            steps.append(f"{push}, after asking all who have it")
    steps.append(f"when nothing is missed, drop the old history here: git update-ref -d {done.backup}")
    return [*steps, "and then, while nothing writes here: git reflog expire --expire=now --all && git gc --prune=now"]
