"""What a job of CI is to be compared with, as the service that runs it says."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from memento_git.ledger import commits
from memento_git.ledger.names import is_ref

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

PARENT: Final = "HEAD^1"
DEFAULT: Final = "refs/remotes/origin/HEAD"
NO: Final = ("", "0", "false")
UNNAMED: Final = (
    "nothing names a base in this job of CI, so HEAD was checked as it is: --base REV compares with one, "
    "--no-base says that this is meant"
)
# where each service says for which branch a request is, and what it sets only where the job is one of a request
TARGETS: Final = {
    "GITHUB_BASE_REF": "GITHUB_BASE_REF",  # GitHub, Gitea, Forgejo
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",  # GitLab
    "BITBUCKET_PR_DESTINATION_BRANCH": "BITBUCKET_PR_ID",
    "SYSTEM_PULLREQUEST_TARGETBRANCH": "SYSTEM_PULLREQUEST_PULLREQUESTID",  # Azure Pipelines
    "CHANGE_TARGET": "CHANGE_ID",  # Jenkins
    "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "BUILDKITE_PULL_REQUEST",
    "CI_COMMIT_TARGET_BRANCH": "CI_COMMIT_PULL_REQUEST",  # Woodpecker
    "DRONE_TARGET_BRANCH": "DRONE_PULL_REQUEST",
    "TRAVIS_BRANCH": "TRAVIS_PULL_REQUEST",
    "APPVEYOR_REPO_BRANCH": "APPVEYOR_PULL_REQUEST_NUMBER",
    "SEMAPHORE_GIT_BRANCH": "SEMAPHORE_GIT_PR_NUMBER",
    "CIRRUS_BASE_BRANCH": "CIRRUS_PR",
    "BITRISEIO_GIT_BRANCH_DEST": "BITRISE_PULL_REQUEST",
}


def is_one() -> bool:
    """Tell whether this is a job of CI; every service sets the variable `CI`, or Azure's `TF_BUILD`."""
    return any(os.environ.get(name, "").lower() not in NO for name in ("CI", "TF_BUILD"))


def is_unexplained(git: Git) -> bool:
    """Tell whether this is a job of which nothing says what HEAD is to be compared with, were it no trunk."""
    return is_one() and not (is_ref(git, DEFAULT) and git.merge_bases("HEAD", DEFAULT))


def default_base(git: Git, head: str) -> str:
    """Return the base of this job, or a merge's first parent; nothing where there is none.

    Where no service names a branch, what a job has beyond the remote's own branch is compared with that, unless it has
    nothing in common with it.
    """
    is_merge = len(commits.parents(git, head)) > 1
    if is_merge and _is_merge_result(head):
        return PARENT
    sha = os.environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", "")  # one of several merge bases, where there are several
    if branch := _target():
        refs = (f"refs/remotes/origin/{branch}", f"refs/heads/{branch}")
        found = next((ref for ref in refs if is_ref(git, ref)), "")
        if not sha or (found and sha in git.merge_bases(head, found)):
            return found or refs[0]
    if not sha and is_one() and is_ref(git, DEFAULT):
        forks = git.merge_bases(head, DEFAULT)
        if forks != [head] and (forks or commits.is_cut_off(git)):
            return DEFAULT
    return sha or (PARENT if is_merge else "")


def _target() -> str:
    """Return the branch that a request is for; nothing in a job of none."""
    given = os.environ
    named = (given.get(name, "") for name, only in TARGETS.items() if given.get(only, "").lower() not in NO)
    return next((name.removeprefix("refs/heads/") for name in named if name), "")


def _is_merge_result(head: str) -> bool:
    """Tell whether a merge is the one that a hosting service made for this job; a request's own tip may be one too."""
    given = os.environ
    if given.get("CI_MERGE_REQUEST_EVENT_TYPE") in ("merged_result", "merge_train"):
        return head != given.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")
    is_request = re.fullmatch(r"refs/pull/\d+/merge", given.get("GITHUB_REF", "")) is not None
    return is_request and head == given.get("GITHUB_SHA")
