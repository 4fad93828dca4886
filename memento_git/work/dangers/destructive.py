"""Commands that destroy work, history or machines: in an argv, and in text that a worker will read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.work.dangers import file_dangers, git_dangers, shell, wrappers
from memento_git.work.dangers.argv import program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.work.dangers.git_dangers import GitCall

RULES: Final = {
    "force_push": "a push that replaces commits of the remote: --force, --force-with-lease, --mirror, `+ref`",
    "push_protected": "a push to a protected branch (policy.preflight.branches) by name, or of all branches",
    "delete_remote": "branches, tags, releases or repositories of the remote deleted",
    "discard_changes": "uncommitted work thrown away: reset --hard, clean -f, checkout of paths, restore, rm -f, ...",
    "drop_stash": "stash drop and clear",
    "delete_branch": "branch -D, update-ref -d",
    "delete_tag": "tag -d, tag -f",
    "move_branch": "a branch put elsewhere: branch -f, checkout -B, switch -C",
    "rewrite_history": "rebase, filter-branch, filter-repo",
    "expire_history": "reflog expire, gc --prune=now, prune",
    "change_hooks": "core.hooksPath set",
    "delete_broad": "a whole folder, home, system or work tree deleted: rm -rf ., find . -delete, ...",
    "change_modes": "chmod -R, chown -R on the same",
    "damage_git": "files below .git written, moved or deleted by other programs than git",
    "damage_ledger": "the same below .memento",
    "wipe_device": "mkfs, wipefs, shred, dd or > onto a device",
    "unseen_code": "a download, or what another program prints, run by a shell",
    "fork_bomb": "a function that starts itself again and again",
    "unjudged": "too long or too deeply nested to be judged",
}
PROTECTED: Final = ("main", "master")
DEEPEST: Final = 8
MOST_TEXT: Final = 64 * 1024
MOST_WORK: Final = 96 * 1024
A_SCRIPT: Final = 64
"""What reading a script costs of the work beside its length."""

SHOWN: Final = 200


class Danger(NamedTuple):
    """A command that a rule finds destructive, why, and the line of the text that it stands in."""

    rule: str
    command: str
    why: str
    line: int = 1


def in_argv(argv: Sequence[str], protected: Sequence[str] = PROTECTED) -> list[Danger]:
    """Return what is destructive in a command that is started without a shell."""
    words = tuple(word.replace("\0", "") for word in argv)
    return _Judge(protected).all([(shell.Call(words, " ".join(words)[: shell.MOST_LETTERS]), 0)])


def in_script(text: str, protected: Sequence[str] = PROTECTED) -> list[Danger]:
    """Return what is destructive in a text that a shell would run."""
    return _Judge(protected).script(text)


def in_text(text: str, protected: Sequence[str] = PROTECTED) -> list[Danger]:
    """Return what is destructive among the commands that a text for people and workers names, and does not forbid."""
    from memento_git.work.dangers.prose_commands import snippets

    judge, found = _Judge(protected), dict[tuple[str, str], Danger]()
    if len(text) > MOST_TEXT:
        return [_unjudged(text, "it is too long")]
    for snippet in snippets(text):
        if judge.left < 0:
            break
        for danger in judge.script(snippet.text):
            found.setdefault(danger[:2], danger._replace(line=snippet.line + danger.line - 1))
    return list(found.values())


def _unjudged(text: str, why: str, line: int = 1) -> Danger:
    return Danger("unjudged", text[:SHOWN], f"nobody can tell what it does: {why}", line)


class _Judge:
    """Judges calls and all that they lead to, within bounds."""

    def __init__(self, protected: Sequence[str]) -> None:
        self.protected = protected
        self.left = MOST_WORK

    def script(self, text: str, depth: int = 0) -> list[Danger]:
        """Return what is destructive in a text that a shell would read."""
        if depth > DEEPEST:
            return [_unjudged(text, "it is nested too deeply")]
        self.left -= A_SCRIPT + len(text)
        try:
            script = shell.read(text) if self.left >= 0 else None
        except (shell.TooMuch, RecursionError):
            script = None
        if script is None:
            return [_unjudged(text, "it is too long")]
        found = [
            Danger("fork_bomb", bomb[:SHOWN], "a function that starts itself again and again") for bomb in script.bombs
        ]
        found += self.all([(call, depth) for call in script.calls])
        if not script.whole:
            found += self.all([(call, depth) for call in shell.roughly(text)])
        return list({danger[:2]: danger for danger in reversed(found)}.values())[::-1]

    def all(self, calls: Sequence[tuple[shell.Call, int]]) -> list[Danger]:
        """Return what is destructive in calls, and in what they start."""
        found: list[Danger] = []
        waiting = list(reversed(calls))
        while waiting:
            call, depth = waiting.pop()
            self.left -= 1 + sum(map(len, call.words))
            if self.left < 0 or depth > DEEPEST:
                return [*found, _unjudged(call.source, "it is nested too deeply, or too long", call.line)]
            git = _git(call)
            breaches = [*file_dangers.judge(call), *(git_dangers.judge(git, self.protected) if git else ())]
            found += [Danger(rule, call.source[:SHOWN], why, call.line) for rule, why in breaches]
            if call.words:
                led = wrappers.inner(call)
                waiting += [(one, depth + 1) for one in reversed(led.calls)]
                for text in (*led.scripts, *(git.shell if git else ())):
                    found += self._within(text, depth + 1, call)
                if led.unseen:
                    found.append(Danger("unseen_code", call.source[:SHOWN], f"it runs {led.unseen}, unread", call.line))
        return found

    def _within(self, text: str, depth: int, call: shell.Call) -> list[Danger]:
        """Return what is destructive in a script within a call, shown as that call."""
        return [danger._replace(command=call.source[:SHOWN], line=call.line) for danger in self.script(text, depth)]


def _git(call: shell.Call) -> GitCall | None:
    """Return a call as a command of git, if it is one; a program that is not known until it runs might be git."""
    if not call.words:
        return None
    name, rest = program(call.words[0]), call.words[1:]
    if name in ("git", "hub") or shell.UNKNOWN in name:
        return git_dangers.parse(rest)
    return git_dangers.parse((name[4:], *rest)) if name.startswith("git-") else None
