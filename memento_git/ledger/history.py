"""Ledger commits as git's history has them: who, when, what for. A convenience; nothing depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memento_git.ledger.view import View


def ledger_commits(view: View, *, limit: int = 0) -> list[dict[str, Any]]:
    """Return the commits of a view's revisions that touched `.memento`, latest first; a shallow clone has fewer."""
    from git import Repo

    if not view.commits:
        return []
    with Repo(view.git.top or view.git.git_dir) as repo:
        most = [f"--max-count={limit}"] if limit else []
        names = repo.git.rev_list(*most, *view.commits, "--", ".memento").split()
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
