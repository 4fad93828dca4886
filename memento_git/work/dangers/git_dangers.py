"""What is destructive among the commands of git."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from memento_git.work.dangers.argv import options


class Breach(NamedTuple):
    """A rule that a command breaks, and why."""

    rule: str
    why: str


class GitCall(NamedTuple):
    """A git command without its global options; `shell` is what an alias or a verb would have a shell read."""

    verb: str
    rest: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    shell: tuple[str, ...] = ()


VALUED: Final = ("-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--exec-path", "--attr-source")


def parse(words: Sequence[str]) -> GitCall:
    """Take a git command apart: global options, verb, its words; an alias given with -c is put in its place."""
    settings: list[tuple[str, str]] = []
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        if word in ("-c", "--config-env") and at + 1 < len(words):
            settings.append(_setting(words[at + 1]))
            at += 1
        elif word.startswith("-c") and "=" in word:
            settings.append(_setting(word[2:]))
        elif word in VALUED:
            at += 1
        at += 1
    verb, rest = (words[at] if at < len(words) else ""), tuple(words[at + 1 :])
    alias = dict(settings).get(f"alias.{verb.lower()}", "")
    if alias.startswith("!"):
        return GitCall("", (), tuple(settings), (" ".join([alias[1:], *rest]),))
    if alias:
        verb, *more = alias.split() or [""]
        rest = (*more, *rest)
    return GitCall(verb, rest, tuple(settings), tuple(_shells(verb, rest)))


def _setting(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key.lower(), value


def _shells(verb: str, rest: Sequence[str]) -> Iterator[str]:
    """Yield what a verb hands to a shell."""
    if verb == "submodule" and "foreach" in rest:
        yield " ".join(word for word in rest[list(rest).index("foreach") + 1 :] if not word.startswith("--"))
    if verb == "bisect" and rest[:1] == ("run",):
        yield " ".join(rest[1:])
    if verb == "config":
        yield from (word.lstrip("!") if word.startswith("!") else f"git {word}" for word in _alias_value(rest))


def _alias_value(rest: Sequence[str]) -> list[str]:
    words = [word for word in rest if not word.startswith("-") and word != "set"]
    return words[1:2] if words and words[0].lower().startswith("alias.") else []


def judge(call: GitCall, protected: Sequence[str]) -> Iterator[Breach]:
    """Yield what is destructive in a git command."""
    rule = RULES.get(call.verb)
    if rule is not None:
        yield from rule(call.rest)
    if call.verb in ("push", "send-pack"):
        yield from _push(call.rest, protected)
    if call.verb == "clean":
        yield from _clean(call)
    if call.verb in ("filter-branch", "filter-repo"):
        yield Breach("rewrite_history", f"git {call.verb} rewrites every commit that it touches")


def _push(rest: Sequence[str], protected: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "o", ("repo", "receive-pack", "exec", "push-option"))
    refs = found.words if found.value("repo") else found.words[1:]
    if found.has("f", "force", "force-with-lease", "mirror") or any(ref.startswith("+") for ref in refs):
        yield Breach("force_push", "a forced push replaces what others may have fetched")
    if found.has("d", "delete", "prune") or any(ref.startswith(":") and len(ref) > 1 for ref in refs):
        yield Breach("delete_remote", "it deletes a branch or tag of the remote")
    if found.has("", "all", "branches"):
        yield Breach("push_protected", f"it pushes every branch, protected ones too ({', '.join(protected)})")
    for ref in refs:
        target = ref.lstrip("+").rpartition(":")[2].removeprefix("refs/").removeprefix("heads/")
        if target == "*" or any(fnmatchcase(target, pattern) for pattern in protected):
            yield Breach("push_protected", f"it pushes to {target}, a protected branch")


def _clean(call: GitCall) -> Iterator[Breach]:
    found = options(call.rest, "e", ("exclude",))
    loose = dict(call.settings).get("clean.requireforce", "").lower() in ("false", "no", "off", "0")
    if (loose or found.has("f", "force")) and not found.has("n", "dry-run"):
        yield Breach("discard_changes", "git clean deletes untracked files, which git cannot bring back")


def _reset(rest: Sequence[str]) -> Iterator[Breach]:
    if options(rest).has("", "hard", "merge"):
        yield Breach("discard_changes", "it throws uncommitted changes away")


def _checkout(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "bB", ("orphan", "conflict", "pathspec-from-file"))
    if found.has("B"):
        yield Breach("move_branch", "it moves a branch to another commit, whatever it held")
    paths = found.after if found.dashes else found.others[1:] if not found.has("bBt", "orphan", "track") else ()
    lone = found.others[:1] if not found.dashes else ()
    named = any(word in (".", "..", "*", ":/") or word.startswith(("./", "../", ":(")) for word in lone)
    if found.has("f", "force") or paths or named or found.value("pathspec-from-file"):
        yield Breach("discard_changes", "it throws uncommitted changes of files away")


def _switch(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "cC", ("create", "force-create", "orphan", "conflict"))
    if found.has("C", "force-create"):
        yield Breach("move_branch", "it moves a branch to another commit, whatever it held")
    if found.has("f", "discard-changes") or any(name == "force" for name, _ in found.names):
        yield Breach("discard_changes", "it throws uncommitted changes away")


def _restore(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "s", ("source", "pathspec-from-file", "conflict"))
    if not found.has("S", "staged") or found.has("W", "worktree"):
        yield Breach("discard_changes", "it throws uncommitted changes of files away")


def _branch(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "u", ("set-upstream-to", "contains", "merged", "no-merged", "sort", "format", "points-at"))
    forced = found.has("f", "force")
    if found.has("D") or (forced and found.has("d", "delete")):
        yield Breach("delete_branch", "it deletes a branch even where nothing else holds its commits")
    elif found.has("MC") or forced:
        yield Breach("move_branch", "it moves a branch to another commit, whatever it held")


def _tag(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "mFu", ("message", "file", "local-user", "sort", "format", "contains", "points-at"))
    if found.has("d", "delete"):
        yield Breach("delete_tag", "it deletes a tag")
    elif found.has("f", "force"):
        yield Breach("delete_tag", "it moves a tag to another commit")


def _stash(rest: Sequence[str]) -> Iterator[Breach]:
    if rest[:1] in (("drop",), ("clear",)):
        yield Breach("drop_stash", "it forgets stashed changes")


def _rebase(rest: Sequence[str]) -> Iterator[Breach]:
    going_on = ("abort", "continue", "quit", "skip", "edit-todo", "show-current-patch")
    if not options(rest).has("", *going_on):
        yield Breach("rewrite_history", "a rebase replaces commits by others")


def _reflog(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest)
    if rest[:1] in (("expire",), ("delete",)) and not found.has("n", "dry-run"):
        yield Breach("expire_history", "without the reflog, commits that nothing names cannot be found again")


def _gc(rest: Sequence[str]) -> Iterator[Breach]:
    when = [value for name, value in options(rest).names if name == "prune"]
    if any(value and value != "never" for value in when):
        yield Breach("expire_history", "it removes objects that could still be recovered")


def _prune(rest: Sequence[str]) -> Iterator[Breach]:
    if not options(rest).has("n", "dry-run"):
        yield Breach("expire_history", "it removes objects that could still be recovered")


def _update_ref(rest: Sequence[str]) -> Iterator[Breach]:
    if options(rest, "m").has("d", "stdin", "delete"):
        yield Breach("delete_branch", "it deletes or moves refs past every check of git")


def _worktree(rest: Sequence[str]) -> Iterator[Breach]:
    if rest[:1] == ("remove",) and options(rest).has("f", "force"):
        yield Breach("discard_changes", "it deletes a worktree with its uncommitted changes")


def _submodule(rest: Sequence[str]) -> Iterator[Breach]:
    if "deinit" in rest and options(rest).has("f", "force"):
        yield Breach("discard_changes", "it deletes a submodule's work tree with its uncommitted changes")


def _rm(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "", ("pathspec-from-file",))
    if found.has("", "cached") or found.has("n", "dry-run"):
        return
    wide = any(word in (".", "*", ":/", "./", "..") for word in found.words)
    if found.has("f", "force") or (wide and found.has("r")):
        yield Breach("discard_changes", "it deletes files, uncommitted changes included")


def _config(rest: Sequence[str]) -> Iterator[Breach]:
    found = options(rest, "f", ("file", "blob", "type", "default", "value"))
    words = found.words[1:] if found.words[:1] == ("set",) else found.words
    changing = len(words) > 1 or found.has("", "unset", "unset-all") or words[:1] == ("unset",)
    if changing and any(word.lower() == "core.hookspath" for word in words):
        yield Breach("change_hooks", "it puts other hooks in the place of the repository's")


def _checkout_index(rest: Sequence[str]) -> Iterator[Breach]:
    if options(rest).has("f", "force"):
        yield Breach("discard_changes", "it overwrites files with what the index holds")


def _read_tree(rest: Sequence[str]) -> Iterator[Breach]:
    if options(rest).has("", "reset") and options(rest).has("u"):
        yield Breach("discard_changes", "it throws uncommitted changes away")


RULES: Final[dict[str, Callable[[Sequence[str]], Iterator[Breach]]]] = {
    "reset": _reset, "checkout": _checkout, "switch": _switch, "restore": _restore, "branch": _branch, "tag": _tag,
    "stash": _stash, "rebase": _rebase, "reflog": _reflog, "gc": _gc, "prune": _prune,
    "update-ref": _update_ref, "symbolic-ref": _update_ref,
    "worktree": _worktree, "submodule": _submodule, "rm": _rm, "config": _config,
    "checkout-index": _checkout_index, "read-tree": _read_tree,
}  # fmt: skip
