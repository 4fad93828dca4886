"""hook: what git runs before a commit and after a merge, beside the hooks that are there already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.ledger.publish import BareRepository

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

MARK: Final = "# memento's hook: it checks the ledger, stages nothing and writes nothing"
BEFORE: Final = ".before-memento"
CHECKS: Final = {
    "pre-commit": "git diff --cached --quiet -- :/.memento || run memento check --staged",
    "post-merge": "git diff --quiet ORIG_HEAD HEAD -- :/.memento || run memento check --base ORIG_HEAD",
}
STEPS: Final = {
    "pre-commit": """\
changed=$(git -c core.quotePath=false diff --cached --name-only --no-renames --no-relative) || changed=.memento/
case "
$changed" in *"
.memento"*) run memento check --staged || exit $? ;; esac
noted="${GIT_DIR:-.git}/memento/noted"
[ -e "$noted" ] || noted="$(dirname "$0")/../memento/noted"
if [ -s "$noted" ] && printf '%s\\n' "$changed" | grep -qFf "$noted"; then run memento check --diff staged || :; fi""",
    "post-merge": """\
git diff --quiet ORIG_HEAD HEAD -- :/.memento && exit
run memento check --base ORIG_HEAD
code=$?
run memento check --diff ORIG_HEAD..HEAD || :
exit $code""",
}
SCRIPT: Final = """\
#!/bin/sh
{mark} (take it away: memento hook uninstall).
before="$(dirname "$0")/{name}{suffix}"
if [ -x "$before" ]; then "$before" "$@" || exit $?; fi
run() {{
  if command -v "$1" >/dev/null 2>&1; then "$@"; else echo "$1 is not on PATH: the ledger was not checked" >&2; fi
}}
{check}
"""


class HooksTracked(Refused):
    """Hooks that are files of the repository."""

    token = "hooks_tracked"
    sentence = "core.hooksPath leads to {path}, which is part of the repository"
    hint_ = "add this line to its {name} yourself: {line}"


class HooksOff(Refused):
    """An empty core.hooksPath."""

    token = "hooks_off"
    sentence = "core.hooksPath is set to nothing, so that git runs no hooks here"
    hint_ = "git config --show-origin --get-all core.hooksPath tells where; take it out there"


class HookTaken(Refused):
    """A hook that was put aside before is still there, and so is another one."""

    token = "hook_taken"
    sentence = "{path} is there already, from an earlier installation"
    hint_ = "look at it, and remove it or put it back"


class Hook(NamedTuple):
    """One hook: its state is installed, absent, or other (somebody else's); `chained` tells of one behind it."""

    name: str
    state: str
    chained: bool
    path: str


def script(name: str) -> str:
    """Return the hook's text: it first runs the one that was there before."""
    return SCRIPT.format(mark=MARK, name=name, suffix=BEFORE, check=STEPS[name])


def folder(git: Git) -> Path:
    """Return where git looks for hooks in this work tree; refuse no folder at all, and one of the repository itself.

    The last value of `core.hooksPath` is that of our own git commands, which run no hooks.
    """
    if git.top is None:
        raise BareRepository
    given = (git.answer("config", "-z", "--type=path", "--get-all", "core.hooksPath") or "").split("\0")[:-2]
    if given and not given[-1]:
        raise HooksOff
    found = (git.top / given[-1] if given else git.common_dir / "hooks").resolve()
    if found.is_relative_to(git.top.resolve()) and not found.is_relative_to(git.common_dir.resolve()):
        name = next(iter(CHECKS))
        shown = found.relative_to(git.top.resolve())
        raise HooksTracked(path=shown, name=name, line=CHECKS[name].replace("run ", ""))
    return found


def listed(git: Git) -> list[Hook]:
    """Return the state of each hook."""
    return [_state(folder(git), name) for name in CHECKS]


def _state(place: Path, name: str) -> Hook:
    path = place / name
    state = "absent" if not path.exists() else "installed" if _is_ours(path) else "other"
    return Hook(name, state, (place / f"{name}{BEFORE}").exists(), str(path))


def _is_ours(path: Path) -> bool:
    return MARK in path.read_text(encoding="utf-8", errors="replace")


def install(git: Git) -> list[Hook]:
    """Install the hooks; one that is there is put aside and run first. Again, they are renewed."""
    place = folder(git)
    for name in CHECKS:
        if _state(place, name)[1:3] == ("other", True):
            raise HookTaken(path=place / f"{name}{BEFORE}")
    place.mkdir(parents=True, exist_ok=True)
    for name in CHECKS:
        path = place / name
        if path.exists() and not _is_ours(path):
            path.rename(place / f"{name}{BEFORE}")
        fresh = path.with_name(f"{name}.memento-new")
        fresh.write_text(script(name), encoding="utf-8")
        fresh.chmod(0o755)
        fresh.replace(path)
    return [_state(place, name) for name in CHECKS]


def uninstall(git: Git) -> list[Hook]:
    """Take the hooks away and put back what was there before; somebody else's stays."""
    place = folder(git)
    for name in CHECKS:
        path, before = place / name, place / f"{name}{BEFORE}"
        if path.exists() and not _is_ours(path):
            continue
        if before.exists():
            before.replace(path)
        else:
            path.unlink(missing_ok=True)
    return [_state(place, name) for name in CHECKS]
