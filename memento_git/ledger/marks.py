"""Named marks of what was known: annotated tags `memento/NAME`; and which commit a moment names."""

from __future__ import annotations

from typing import Final

from memento_git.errors import Refused
from memento_git.ledger import ranges
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.lock import refuse_ref
from memento_git.model.clock import seconds_of

PREFIX: Final = "memento/"
LONGEST: Final = 100


class MarkTaken(Refused):
    token = "mark_taken"
    sentence = "there is a mark {name} already"
    hint_ = "give another name; git tag -l 'memento/*' lists them"


class MarkInvalid(Refused):
    token = "mark_invalid"
    sentence = "{name!r} cannot be the name of a mark"
    hint_ = "take at most 100 letters, digits, dots and dashes, for example release-2"


class MarkBeside(Refused):
    token = "mark_beside"
    sentence = "there is a mark {held}, and git keeps none that is called {name} beside it"
    hint_ = "give another name; git tag -l 'memento/*' lists them"


class NothingBefore(Refused):
    token = "nothing_before"
    sentence = "no commit here is from before {moment}"
    hint_ = "name a later date, or a commit"


def mark(git: Git, name: str, message: str) -> str:
    """Tag HEAD with an annotated tag of a mark's name; return the tag."""
    tag = f"{PREFIX}{name}"
    fit = 0 < len(name) <= LONGEST and name.isprintable()
    if not fit or git.answer("check-ref-format", f"refs/tags/{tag}") is None:
        raise MarkInvalid(name=name)
    if git.object_id(f"refs/tags/{tag}") is not None:
        raise MarkTaken(name=name)
    try:
        git.run("-c", "tag.gpgSign=false", "tag", "-a", "--no-sign", "-F", "-", tag, data=message.encode())
    except GitFailed as failure:
        _refuse(git, name, str(failure.facts["reason"]))
        refuse_ref(f"refs/tags/{tag}", failure)
    return tag


def _refuse(git: Git, name: str, reason: str) -> None:
    """Refuse where git makes no tag for want of a name of who commits, or beside a mark above or below its own."""
    from memento_git.ledger.settings import IdentityMissing

    if git.answer("var", "GIT_COMMITTER_IDENT") is None:
        raise IdentityMissing(reason=reason) from None
    for held in git.lines("for-each-ref", "--format=%(refname:lstrip=3)", f"refs/tags/{PREFIX}"):
        if name.startswith(f"{held}/") or held.startswith(f"{name}/"):
            raise MarkBeside(held=held, name=name) from None


def last_mark(git: Git) -> str:
    """Return the latest mark that HEAD has passed, or nothing."""
    return git.answer("describe", "--tags", "--abbrev=0", "--match", f"{PREFIX}*") or ""


def before(git: Git, moment: str) -> str:
    """Return the latest commit of HEAD's history that is not after a moment."""
    seconds = max(int(seconds_of(moment)), 0)  # git takes no year after 2099 by its name
    found = git.answer("rev-list", "--max-count=1", f"--before=@{seconds} +0000", "HEAD")
    if not found:
        if head := git.commit("HEAD"):
            ranges.refuse_cut(git, (), head)
        raise NothingBefore(moment=moment)
    return found
