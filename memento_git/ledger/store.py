"""The ledger of one repository: views to read, transactions to write."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, Self, TypeVar

from memento_git.errors import Misused, Refused, reason_of
from memento_git.ledger import git_status, journal, layout, settings
from memento_git.ledger.git import Git
from memento_git.ledger.git_future import GitFuture
from memento_git.ledger.thread_safety import Turn
from memento_git.ledger.view import View
from memento_git.ledger.watch import Watch
from memento_git.model.clock import LAST, now_of, stamp
from memento_git.model.enumeration import many
from memento_git.model.ids import make_id

if TYPE_CHECKING:
    from memento_git.ledger.publish import Base
    from memento_git.ledger.transaction import Transaction

T = TypeVar("T")
NOBODY: Final = "nobody"
RETRIES: Final = 50
POLICIES_DIFFER: Final = (
    "each of these revisions has changed the policy, and what is shown is by that of the first; name each --at alone"
)


class NoLedger(Refused):
    token = "no_ledger"
    sentence = "there is no ledger at {where}"
    hint_ = "make one: memento init"


class NoLedgerElsewhere(NoLedger):
    sentence = "there is no ledger at {where} of {folder}"
    hint_ = "make one: memento init -C {folder!q}"


def refuse_absent(view: View, where: str) -> NoReturn:
    """Refuse where a view has no policy: there is no ledger, or what it was judged by is gone."""
    from memento_git.ledger import missing_ledger

    missing_ledger.refuse(view, where)
    head = view.git.head()[0]
    if head and view.git.entries(head, layout.CONFIG):
        raise missing_ledger.NoLedgerThere(where=where)
    missing_ledger.refuse_apart(view.git, where)
    if head in view.commits:
        missing_ledger.refuse_removed(view.git, where)
    if folder := missing_ledger.elsewhere(view.git):
        raise NoLedgerElsewhere(where=where, folder=folder)
    raise NoLedger(where=where)


def _refuse_unsaid(action: str) -> None:
    """Refuse the name of an action that no commit's subject can have."""
    from memento_git.model.types import text_problems

    for problem in text_problems(" ".join(action.split()), lines=False):
        from memento_git.model.arguments import ArgumentInvalid

        raise ArgumentInvalid(method="Ledger.change", problem=f"as action, {problem}")


class NothingToCommit(Refused):
    token = "nothing_changed"
    sentence = "there is nothing to change: it is as asked already"
    hint_ = "say what should be different"


class RecordUnfit(Refused):
    token = "record_invalid"
    sentence = "this would write a record that cannot be read: {problem}"
    hint_ = "shorten or replace the text that it names; nothing was changed"


class ActorInvalid(Misused):
    token = "actor_invalid"
    sentence = "{actor!r} cannot be an actor's name: {problem}"
    hint_ = "give one line of plain text with --actor or MEMENTO_ACTOR"


class Ledger:
    """A repository's `.memento`, opened once and read at any commit; threads may share it, and change it in turn."""

    def __init__(
        self, git: Git, *, actor: str = "", clock: Callable[[], float] = time.time,
        entropy: Callable[[int], bytes] = os.urandom,
    ) -> None:  # fmt: skip
        self.git = git
        self.clock = clock
        self.entropy = entropy
        self.warnings: list[str] = []
        self.unread: set[str] = set()
        self.landed: list[str] = []
        self.allow_secrets: tuple[str, ...] = ()  # rules of the scanner that are a false alarm in what is written
        self.watch = Watch(git, self._mend, self.warn)
        self._turn = Turn()
        self._actor = actor or os.environ.get("MEMENTO_ACTOR", "")
        self._actor_checked = False
        self._settings: Mapping[str, str] | GitFuture | None = None

    @classmethod
    def open(
        cls, path: str | Path = ".", *, actor: str = "", clock: Callable[[], float] = time.time,
        entropy: Callable[[int], bytes] = os.urandom,
    ) -> Ledger:  # fmt: skip
        """Open the ledger of the repository that a folder lies in, be there one yet or not.

        `actor` is who acts, MEMENTO_ACTOR or git's user where nobody is named; `clock` tells seconds since 1970.
        """
        return cls(Git(Path(path)), actor=actor, clock=clock, entropy=entropy)

    def close(self) -> None:
        """End the processes that read for this ledger."""
        self.watch.drop()
        if isinstance(self._settings, GitFuture):
            self._settings.drop()
        self._settings = None
        self.git.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ask_for_settings(self) -> None:
        """Let git tell its configuration, while the caller goes on."""
        with self._turn:
            if self._settings is None:
                self._settings = settings.ask(self.git)

    def ask_for_actor(self) -> None:
        """Let git tell who acts, while the caller goes on, where nobody is named."""
        if not self._actor:
            self.ask_for_settings()

    @property
    def settings(self) -> Mapping[str, str]:
        """What git is configured to, and who it says commits, as it was when it was first needed."""
        with self._turn:
            self.ask_for_settings()
            if isinstance(self._settings, GitFuture):
                asked, self._settings = self._settings, None
                self._settings = settings.told(asked)
            return self._settings or {}

    def forget_settings(self) -> None:
        """Ask git for its configuration anew when it is next needed."""
        self._settings = None

    @property
    def actor(self) -> str:
        """Return who acts: as given, else MEMENTO_ACTOR, else git's user; refuse what no record can be by."""
        actor = self._said()
        if not self._actor_checked:
            from memento_git.model.types import name_problems, text_problems
            from memento_git.texts.secrets import find_secrets, redact

            for problem in (*text_problems(actor, lines=False), *name_problems(actor)):
                raise ActorInvalid(actor=actor, problem=problem)
            for secret in find_secrets(actor):
                problem = f"it holds what looks like a secret ({secret.rule})"
                raise ActorInvalid(actor=redact(actor)[0], problem=problem)
            self._actor_checked = True
        return actor

    def _said(self) -> str:
        """Return who is said to act."""
        if not self._actor:
            self._actor = settings.identities(self.git, self.settings)[0].rpartition(">")[0] + ">"
        return self._actor

    @property
    def rehearser(self) -> str:
        """Return who would act: the actor, or nobody where git knows no name, for only a commit needs one."""
        return NOBODY if self.asker == NOBODY else self.actor

    @property
    def asker(self) -> str:
        """Return who reads, be it a name that a record can have or not; nobody where git knows none."""
        try:
            return self._said()
        except settings.IdentityMissing:
            return NOBODY

    def new_id(self, kind: str) -> str:
        """Return an id for a new record of a kind, such as `task_` and twelve characters drawn by chance."""
        return make_id(kind, self.entropy(8))

    def now(self) -> str:
        """Return the time of the ledger's clock as records have it: `2026-11-21T21:02:13.377Z`."""
        return now_of(self.clock())

    def view(self, at: Sequence[str] = ()) -> View:
        """Return the ledger at HEAD, or at the union of the given revisions; refuse where none is (`no_ledger`)."""
        at = [at] if isinstance(at, str) else at
        if at:
            commits = tuple(self.git.commit_of(rev) for rev in at)
            made = stamp(min(LAST, self.git.made_last(commits)))
            view = self._viewed(commits, min(made, self.now()))  # who commits may date that ahead
            if len(commits) > 1 and layout.CONFIG in view.files and layout.CONFIG in view.table.disputed:
                self.warn(POLICIES_DIFFER)
        else:
            self._mend()
            found = self.git.stored(["HEAD"])[0]
            self.watch.begin()
            view = self._viewed((found.oid,) if found else (), self.now())
        if not view.exists:
            refuse_absent(view, ", ".join(at) or "HEAD")
        view.refuse_newer()
        return view

    def _viewed(self, commits: tuple[str, ...], now: str) -> View:
        view = View(self.git, commits, now)
        view.unread = self.unread
        return view

    @property
    def remarks(self) -> list[str]:
        """Return what should be known beside what is shown: the warnings, a purge, that notes could not be read."""
        told = f"{many(len(self.unread), 'note')} cannot be read, so what is shown may lack some: memento check"
        return [*self.warnings, *self._broken_off(), *([told] if self.unread else [])]

    def _broken_off(self) -> list[str]:
        if not (self.git.common_dir / "memento" / "purging").exists():
            return []
        from memento_git.ledger import purging

        return purging.broken_off(self.git)

    def held(self, at: Sequence[str]) -> View | None:
        """Return the ledger at the union of some revisions; None where they have none, or one without its policy."""
        from memento_git.ledger.missing_ledger import PolicyMissing

        try:
            return self.view(at)
        except (NoLedger, PolicyMissing):
            return None

    def side(self, commits: Sequence[str]) -> View:
        """Return the ledger at some commits that are compared with others; an empty one where they have none."""
        return self.held(commits) or View(self.git, tuple(commits), self.now())

    def keeps(self, place: Path) -> bool:
        """Tell whether a place lies where git and the ledger keep what is theirs."""
        git = self.git
        own = [git.top / name for name in (layout.FOLDER, ".git")] if git.top is not None else []
        kept = (git.common_dir, git.git_dir, *own)
        return any(place.resolve().is_relative_to(folder.resolve()) for folder in kept)

    @property
    def uncommitted(self) -> list[git_status.Change]:
        """What differs from HEAD in the ledger's folder, as it was when HEAD was last read, or somebody first asked."""
        return self.watch.changes()

    def _mend(self) -> None:
        """Finish what a crash left; a writer at work finishes its own, and reading goes on where nothing can."""
        if not journal.pending(self.git):
            return
        from memento_git.ledger import lock, worktree

        try:
            self.warn(*worktree.mend(self.git).sentences())
        except lock.LockHeld:
            return
        except (lock.NotWritable, OSError) as error:
            self.warn(*worktree.Mended(0, 0, reason_of(error)).sentences())

    def warn(self, *sentences: str) -> None:
        """Have sentences told beside what is shown, each of them once."""
        self.warnings += [one for one in dict.fromkeys(sentences) if one not in self.warnings]

    def refuse_while_busy(self) -> None:
        """Refuse at once where a transaction would be refused: a merge under way, a hook, a bare repository."""
        from memento_git.ledger import publish

        publish.guard(self.git)

    @contextmanager
    def alone(self) -> Iterator[Base]:
        """Yield what HEAD is while no other process of ours writes; what a crash left is finished first.

        Where git is busy that is refused, before the lock is waited for, and once it is held.
        """
        from memento_git.ledger import lock, publish, worktree

        self.refuse_while_busy()
        self.watch.wait()
        with lock.held(worktree.lock_path(self.git)):
            self.refuse_while_busy()
            self.warn(*worktree.mend_held(self.git, publish.INDEX_TIMEOUT).sentences())
            yield publish.Base(*self.git.head())

    @contextmanager
    def transaction(self, action: str) -> Iterator[Transaction]:
        """Yield a transaction that is committed when the block ends, and forgotten when it raises.

        One that changes nothing makes no commit.
        """
        _refuse_unsaid(action)
        self.ask_for_settings()
        with self.alone() as base:
            yield from self._commit(action, base)

    def _commit(self, action: str, base: Base) -> Iterator[Transaction]:
        from memento_git.ledger import publish, worktree
        from memento_git.ledger.transaction import Transaction

        worktree.reached("locked")
        tx = Transaction(self, self._viewed((base.commit,) if base.commit else (), self.now()))
        tx.view.refuse_newer()
        try:
            try:
                yield tx
            finally:
                tx.ended = True
            if not tx.changes:
                return
            told = self._land(tx, base, tx.message(action))
        except BaseException:
            if not (tx.commit and publish.has_landed(self.git, base, tx.commit)):
                for undo in tx.after_failure:
                    undo()
            raise
        for follow in tx.after_commit:
            follow()
        if told:
            self.warn(told)
        if base.detached:
            self.warn("HEAD is detached: keep this commit on a branch, or the next checkout loses it")

    def _land(self, tx: Transaction, base: Base, message: str) -> str:
        """Commit what is changed; return what people should know of it.

        The user's index is held while git looks for edits, yet not while the owner of a key is asked to sign.
        """
        from memento_git.ledger import publish, worktree

        with ExitStack() as stack:
            index = None
            with git_status.unedited(self.git, tx.relied(), tx.status):
                self._refuse_unfit(tx)
                worktree.reached("decided")
                if not publish.signs(self.settings):
                    index = stack.enter_context(publish.holding_index(self.git))
                built = publish.build(self.git, base, message, tx.changes, self.settings)
            tx.commit = publish.signed(self.git, base, built, message, self.settings)
            worktree.reached("commit_built")
            index = index or stack.enter_context(publish.holding_index(self.git))
            paths = tx.paths()
            prepared = publish.adopt(self.git, base, tx.commit, message.partition("\n")[0], paths)
            worktree.reached("journal_written")
            told = publish.land(self.git, prepared, index)
        self.landed.append(prepared.commit)
        lines = {path: f"100644 blob {new}" if new else "" for path, _, new in paths}
        self.git.trees.landed(base.commit or "", prepared.commit, lines)
        return told

    def _refuse_unfit(self, tx: Transaction) -> None:
        """Refuse to commit what reading would not take."""
        from memento_git.ledger import codec

        for path, data in tx.changes.items():
            for finding in codec.check(path, data) if data is not None else ():
                raise RecordUnfit(problem=finding)

    def change(self, action: str, act: Callable[[Transaction], T]) -> T:
        """Return what an action does in a transaction, begun again from the new HEAD where the branch moved meanwhile.

        After fifty tries that is refused (`ledger_moved`). So `act` may be called several times.
        """
        from memento_git.ledger.publish import LedgerMoved

        for _ in range(RETRIES - 1):
            try:
                with self.transaction(action) as tx:
                    result = act(tx)
            except LedgerMoved:
                continue
            return result
        with self.transaction(action) as tx:
            return act(tx)
