"""What the name of a revision means: a branch, whatever tag or other ref somebody pushed under the same name."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Final, NoReturn

from memento_git.errors import Refused

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

SHORT_ID: Final = r"[0-9a-f]{7,39}"
WHOLE_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
NAME: Final = r"(?s)(?P<name>(?:[^~^:@\s\x00-\x1f\x7f*?\[\\]|@(?!\{))+)(?P<rest>[~^:@].*)?"
PLAIN: Final = r"\w[\w./+-]*(?:[~^]\d*)*"  # a process that reads many objects ends at some others
BRANCH: Final = r"ref: (refs/heads/[^\x00-\x20]+)\n"
SELF: Final = ("HEAD", "@")
BRANCHES: Final = ("refs/heads/", "refs/remotes/")
REMOTE_HEAD: Final = "refs/remotes/.+/HEAD"


class NoSuchRevision(Refused):
    token = "revision_not_found"
    sentence = "{rev!r} does not name a commit here"
    hint_ = "git log --oneline shows commits; a shallow clone may need git fetch --deepen"


class RevisionAmbiguous(Refused):
    token = "revision_ambiguous"
    sentence = "{rev!r} could be {one} or {other}, which are not the same"
    hint_ = "name it in full: {one}, or {other}"


def in_full(git: Git, rev: str) -> str:
    """Return a revision with the full name of the branch that it begins with.

    git itself would first take what is called so right below `refs/`, and then a tag.
    """
    found = re.fullmatch(NAME, rev)
    if found is None or found["name"] in SELF or WHOLE_ID.fullmatch(found["name"]):
        return rev
    name, rest = found["name"], found["rest"] or ""
    if name.startswith("refs/"):
        if git.commit(name) and not is_ref(git, name):  # git would take a tag, or a branch, which is called so
            _refuse(git, rev)
        return rev
    tag = f"refs/tags/{name}"
    asked = (f"refs/heads/{name}", f"refs/remotes/{name}", f"refs/remotes/{name}/HEAD", f"refs/{name}", tag)
    there, others = _listed(git, asked)
    if others and not there:
        _refuse(git, rev)
    branches = [ref for ref in asked if ref in there and ref.startswith(BRANCHES)]
    for other in branches[1:]:
        if there[other] != there[branches[0]]:
            raise RevisionAmbiguous(rev=rev, one=branches[0], other=other)
    meant = branches[0] if branches else tag if tag in there else name
    if there and re.fullmatch(SHORT_ID, name):
        _refuse_id(git, rev, name, meant if meant in there else f"refs/{name}")
    if there.keys() <= {*branches}:
        return rev
    return f"{meant}{rest}"


def is_ref(git: Git, name: str) -> bool:
    """Tell whether there is a ref of this full name.

    A remote's HEAD leads to a branch that is there: else it is a branch, which anybody may push under that name.
    """
    leads = not re.fullmatch(REMOTE_HEAD, name) or git.answer("symbolic-ref", "--quiet", name) is not None
    return leads and git.answer("show-ref", "--verify", "--quiet", name) is not None


def head_in_files(git: Git) -> tuple[str, str] | None:
    """Return HEAD's commit and branch, where two files say them, as they do after each commit; else git is asked."""
    with contextlib.suppress(OSError, UnicodeError):
        found = re.fullmatch(BRANCH, (git.git_dir / "HEAD").read_text(encoding="utf-8"))
        tip = (git.common_dir / found[1]).read_text(encoding="utf-8").removesuffix("\n") if found else ""
        if found and len(tip) == len(git.zero) and WHOLE_ID.fullmatch(tip):
            return tip, found[1]
    return None


def _listed(git: Git, names: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Return what refs of full names are at, and those that are a branch of a remote which is called HEAD."""
    told = git.lines("for-each-ref", "--format=%(refname) %(objectname) %(symref)", *names)
    rows = [line.split(" ") for line in told]
    others = [ref for ref, _, *leads in rows if re.fullmatch(REMOTE_HEAD, ref) and not any(leads)]
    return {ref: tip for ref, tip, *_ in rows if ref in names and ref not in others}, others


def _refuse(git: Git, rev: str) -> NoReturn:
    from memento_git.ledger import missing_ledger

    missing_ledger.refuse_revision(git, rev)


def _refuse_id(git: Git, rev: str, name: str, ref: str) -> None:
    """Refuse a name of a branch or tag that is the beginning of a commit's id as well."""
    for other in (git.answer("rev-parse", f"--disambiguate={name}") or "").split():
        if git.answer("cat-file", "-t", other) == "commit" and git.commit(ref) != other:
            raise RevisionAmbiguous(rev=rev, one=ref, other=other)
