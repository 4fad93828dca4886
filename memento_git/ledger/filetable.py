"""The files that a view shows, by path: those of its commits, with what a transaction puts and takes away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.ledger.tree_listing import ID_START, PLAIN_STARTS, TreeListing
from memento_git.model.finding import Finding, removing

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

MOST_LOOKS: Final = 2048  # then taking all apart costs less than going on
A_SCAN: Final = 32
MANY: Final = 256


class FileTable:
    """Lines that are looked into while only few files are asked for, and a dictionary from then on."""

    def __init__(self, git: Git, commits: tuple[str, ...], note: Callable[[Finding], None]) -> None:
        self._git = git
        self._commits = commits
        self._note = note
        self._files: dict[str, str] | None = None
        self._listed: TreeListing | None = None
        self._looks = 0
        self.links: dict[str, str] = {}
        self._rivals: set[str] = set()  # what is another at another revision
        self.disputed: set[str] = set()  # what each of several revisions has changed

    @property
    def files(self) -> dict[str, str]:
        """Return path -> blob of all files below `.memento`; '' for what is not committed."""
        if self._files is None:
            held = [self._listed] if self._listed else [self._git.trees.ledger(commit) for commit in self._commits]
            self._files = {}
            for listed in held:
                self._add(self._files, listed)
            self._join(self._files)
        return self._files

    @property
    def is_whole(self) -> bool:
        """Tell whether all files were asked for."""
        return self._files is not None

    @property
    def listed(self) -> TreeListing | None:
        """Return all files as lines to look into; None where they are taken apart already, or have to be."""
        if self._files is None and self._listed is None and len(self._commits) == 1:
            listed = self._git.trees.ledger(self._commits[0])
            self._listed = listed if listed.plain else None
        return self._listed if self._files is None and self._looks < MOST_LOOKS else None

    def looked(self, cost: int = 1) -> TreeListing | None:
        """Return the lines to look into once more; None where that was done so often that they are taken apart."""
        self._looks += cost
        return self.listed

    def blob(self, path: str) -> str | None:
        """Return a file's blob, '' for what is not committed, None where there is no such file."""
        listed = self.looked()
        return self.files.get(path) if listed is None else listed.blob(path)

    def blobs(self, paths: list[str]) -> dict[str, str]:
        """Return path -> blob of those of many paths that are there."""
        blob = self.blob if len(paths) < MANY else self.files.get
        return {path: held for path in paths if (held := blob(path)) is not None}

    def count(self, start: str) -> int:
        """Return how many files have a path that begins so, with a slash at its end."""
        listed = self.looked()
        return sum(path.startswith(start) for path in self.files) if listed is None else listed.count(start[:-1])

    def show(self, path: str, blob: str | None) -> None:
        """Let a file be this blob's, or be gone."""
        listed = None if path.startswith(layout.ARCHIVE) else self.looked(A_SCAN)
        self.disputed.discard(path)
        if listed is not None:
            self._listed = listed.changed({path: "" if blob is None else f"{PLAIN_STARTS[0]}{blob}"})
        elif blob is None:
            self.files.pop(path, None)
        else:
            self.files[path] = blob

    def _add(self, files: dict[str, str], listed: TreeListing) -> None:
        """Take in the files of one revision."""
        if not files and listed.plain:  # one tree, of which there is nothing to tell
            files.update(listed.blobs())
            return
        own: set[str] = set()
        for head, _, path in (line.partition("\t") for line in listed.lines()):
            if path in own:
                self._note(Finding("F006", path, 0, "one tree names this file twice", "git read-tree"))
            own.add(path)
            blob = head[ID_START:]
            if not head.startswith(PLAIN_STARTS):
                kind = "submodule"
                if head.startswith("120000"):
                    kind, self.links[path] = "symbolic link", blob
                self._note(Finding("F004", path, 0, f"a {kind} has no place in the ledger", removing(path)))
            elif files.setdefault(path, blob) != blob:
                self._rivals.add(path)

    def _join(self, files: dict[str, str]) -> None:
        """Show of texts of runs, and of policy, what one revision alone has changed, as a merge of all would have it.

        Where several have, and of all else, the first is shown, and that is told. A revision that another one holds has
        no words of its own.
        """
        if not self._rivals:
            return
        tips = (self._git.answer("merge-base", "--independent", *self._commits) or "").split()
        common = self._git.answer("merge-base", "--octopus", *tips)
        before = self._git.trees.ledger(common) if common else None
        held = [self._git.trees.ledger(tip) for tip in tips]
        for path in sorted(self._rivals):
            is_prose, is_policy = path.endswith(".md"), path == layout.CONFIG
            old = before.blob(path) if before else None
            there = {blob for one in held if (blob := one.blob(path))}
            shown = there - {old} or there
            is_merged = is_policy or (is_prose and path.startswith(layout.RUNS))
            if is_merged and old is not None and len(shown) == 1:
                files[path] = shown.pop()
                continue
            self.disputed.add(path)
            if path.startswith((layout.RUNS, layout.KNOWLEDGE)):
                message = f"two revisions hold different bytes for this file{'; the first is shown' * is_prose}"
                self._note(Finding("F006", path, 0, message, severity="warning" if is_prose else "error"))
