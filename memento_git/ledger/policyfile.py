"""The policy at a view: what its file says, or why nobody can tell what it says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from memento_git.ledger import codec, layout
from memento_git.model.finding import AWAY, FETCHING, Finding, restoring
from memento_git.model.policy import Policy

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View

ELSEWHERE: Final = "read another revision: git log --oneline -- .memento shows those that changed the ledger"
FROM_OTHERS: Final = (
    "commit the file as a clone has it that still has one; Memento's documentation says what is in it "
    "(reference/policy.md)"
)
UNKNOWN: Final = "git fetch --unshallow (actions/checkout: fetch-depth: 0)"
PLAIN: Final = "100"


def read(view: View) -> tuple[Policy, list[Finding]]:
    """Return a view's policy and what is wrong with its file; the default where that cannot be read, or is none."""
    data = view.read(layout.CONFIG)
    if data is not None:
        return codec.read_config(data)
    return Policy(), away(view) or replaced(view)


def judging(view: View) -> tuple[Policy, list[Finding]]:
    """Return the policy that judges what is in a view, and what is wrong with its own file."""
    policy, amiss = read(view)
    return (ruling(view)[0] if amiss else policy), amiss


def ruling(view: View) -> tuple[Policy, list[Finding]]:
    """Return the policy that judges what is added to a view, and what is to be told of it.

    Where nobody can read its file, or it is gone, it is that of the last commit on the view's own line that has one
    which can be read: else whoever mends it would be judged by what they make of it.
    """
    policy, amiss = read(view)
    if layout.CONFIG in view.folders and not amiss:
        return policy, []
    if amiss and (amiss[0].code == codec.NEWER or amiss[0].message == AWAY):
        return policy, amiss[:1]
    why = amiss[0].message if amiss else "it is not there"
    last, commit, newer = _last(view)
    if newer:
        return last, newer
    if not commit:
        from memento_git.ledger.commits import is_cut_off

        told = f"policy at the base cannot be read ({why}), and no commit that is here has one which can"
        return last, [Finding("F001", layout.CONFIG, 0, told, UNKNOWN)] if is_cut_off(view.git) else []
    told = f"policy at the base cannot be read ({why}): what is added is judged by that of {commit[:12]}, the last one"
    return last, [Finding("C003", layout.CONFIG, 0, told, f"git diff {commit[:12]} -- {layout.CONFIG}", "warning")]


def rule(view: View) -> list[str]:
    """Let a view be read by the policy that rules it where its own cannot be read; return what is to be told of it."""
    if not view.exists or not read(view)[1]:
        return []
    policy, found = ruling(view)
    if any(one.severity != "warning" for one in found):
        return []
    view.ruled = policy
    return [one.message for one in found]


def _last(view: View) -> tuple[Policy, str, list[Finding]]:
    """Return the policy of the last commit on a view's own line that has one which can be read, and the commit.

    One that a newer version wrote can be read, though not here: an older one is not what is in force.
    """
    from memento_git.ledger.staged import tips

    git = view.git
    changed = git.run("rev-list", "--first-parent", tips(view)[0], "--", layout.CONFIG).decode().split()
    for commit in changed:
        data = git.objects([f"{commit}:{layout.CONFIG}"])[0]
        policy, found = codec.read_config(data) if data is not None else (Policy(), [])
        if any(one.code == codec.NEWER for one in found):
            return policy, commit, found
        if data is not None and not found:
            return policy, commit, []
    return Policy(), "", []


def ledgers_at(git: Git, commits: Iterable[str]) -> list[str]:
    """Return what policy names the ledger at each of some commits; nothing where it does not."""
    configs = git.objects(f"{commit}:{layout.CONFIG}" for commit in commits)
    return [str(codec.read_config(data)[0].signatures.get("ledger", "")) if data else "" for data in configs]


def away(view: View) -> list[Finding]:
    """Return what is wrong where git has lost what the policy says: nobody can judge by it, nor by another."""
    is_lost = view.blob(layout.CONFIG) and view.read(layout.CONFIG) is None
    return [Finding("F001", layout.CONFIG, 0, AWAY, FETCHING)] if is_lost else []


def removed(view: View, base: str) -> list[Finding]:
    """Return that a view has no policy, where the commit whose policy judges it has one."""
    if layout.CONFIG in view.folders:
        return []
    message = "config.yaml was removed, and with it policy"
    return [Finding("C004", layout.CONFIG, 0, message, f"git checkout {base} -- {layout.CONFIG}")]


def replaced(view: View) -> list[Finding]:
    """Return what is wrong where something that is no file of its own lies in the policy's place."""
    entry = view.folders.get(layout.CONFIG)
    if entry is None or entry.mode.startswith(PLAIN):
        return []
    return [Finding("F001", layout.CONFIG, 0, "this is not a plain file", bringing_back(view))]


def bringing_back(view: View) -> str:
    """Return the words that bring the policy back from the history that is here, or else from another clone."""
    if view.commits[:1] != (view.git.head()[0],):
        return ELSEWHERE
    return restoring(layout.CONFIG) if was_here(view.git) else FROM_OTHERS


def has_ledger(git: Git, commit: str) -> bool:
    return layout.CONFIG in git.entries(commit, layout.CONFIG)


def was_here(git: Git) -> bool:
    """Tell whether the commit before the last that changed the policy, in the history that is here, has one."""
    last = git.answer("rev-list", "-1", "HEAD", "--", layout.CONFIG)
    return bool(last) and git.object_id(f"{last}^:{layout.CONFIG}") is not None
