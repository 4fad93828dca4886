"""Ledger commits as git's history has them: who, when, what for. A convenience; nothing depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.ledger import layout
from memento_git.model.clock import seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View


def commit_names(view: View, *, run: str = "", who: str = "", since: str = "", until: str = "") -> list[str]:
    """Return the commits of a view's revisions that touched `.memento`, latest first; a shallow clone has fewer.

    `run`: only those that touched its files; `who`: only those whose author or actor contains this; `since` (with it)
    and `until` (without it) are times of the commit.
    """
    if not view.commits:
        return []
    ages = [f"--max-age={int(seconds_of(since))}"] if since else []
    ages += [f"--min-age={int(seconds_of(until)) - 1}"] if until else []
    paths = [f"{layout.RUNS}/{run}", f"{layout.ARCHIVE}/{run}"] if run else [layout.FOLDER]
    told = view.git.run(
        "log", "--format=%H%x1f%an <%ae>%x1f%(trailers:key=Memento-Actor,valueonly)%x1e", *ages, *view.commits, "--",
        *paths,
    )  # fmt: skip
    found = (entry.strip().partition("\x1f") for entry in told.decode(errors="replace").split("\x1e"))
    return [name for name, _, persons in found if name and who.lower() in persons.lower()]


def branches_with_notes(git: Git, since: str) -> list[str]:
    """Return the branches on which notes were committed after a time, in commits that HEAD does not have."""
    told = git.answer(
        "log", "--format=%S", f"--max-age={int(seconds_of(since))}", "--branches", "--not", "HEAD", "--",
        layout.KNOWLEDGE,
    )  # fmt: skip
    return sorted(set((told or "").split()))


def ledger_commits(view: View, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return commits with author, date, subject and the trailers that the ledger wrote."""
    from git import Repo

    with Repo(view.git.top or view.git.git_dir) as repo:
        return [
            {
                "commit": commit.hexsha,
                "author": f"{commit.author.name} <{commit.author.email}>",
                "date": commit.committed_datetime.isoformat(),
                "subject": str(commit.summary),
                "trailers": {key: values for key, values in commit.trailers_dict.items() if key.startswith("Memento-")},
            }
            for commit in map(repo.commit, names)
        ]
