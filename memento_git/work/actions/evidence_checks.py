"""evidence check: what checks from outside said of a commit, as evidence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Refused
from memento_git.model import types as t
from memento_git.model.clock import AHEAD, seconds_of
from memento_git.work import check_payloads, codestate
from memento_git.work.actions.evidences import Draft, belongs, record_draft
from memento_git.work.check_payloads import MOST_BYTES, Check, PayloadInvalid
from memento_git.work.proof import trust
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.work.state import RunState

TYPED: Final = "typed in, not read from the provider's own answer"
__all__ = ["MOST_BYTES", "add_checks", "fetch", "parse", "read", "record_check"]

UNFINISHED: Final = ("queued", "in_progress", "pending", "requested", "waiting", "running", "scheduled", "created")


class CommitUnknown(Refused):
    token = "check_commit_unknown"
    sentence = "check {name} is of commit {commit}, which this clone does not have"
    hint_ = "bring it here first: git fetch origin {commit}"


class CommitMissing(Refused):
    token = "check_commit_mismatch"
    sentence = "check {name} names {named}, and {given} was asked for"
    hint_ = "name with --commit the commit that the checks are of"


def parse(text: bytes, provider: str = "auto", commit: str = "") -> list[Check]:
    """Return the checks that a provider's JSON tells of; `commit` stands in where one names none."""
    return [_of(check, commit) for check in check_payloads.parse(text, provider)]


def read(ledger: Ledger, text: bytes, provider: str = "auto", commit: str = "") -> list[Check]:
    """Return the same by a revision of this clone, which may be a branch or a short id."""
    return parse(text, provider, _commit(ledger, commit) if commit else "")


def _commit(ledger: Ledger, given: str) -> str:
    """Return the id of a commit by any name of it; a whole id stays, for what is said of one that is not here."""
    is_absent = check_payloads.COMMIT.fullmatch(given) and not ledger.git.commit(given)
    return given if is_absent else ledger.git.commit_of(given)


def refuse_typed(**given: str) -> None:
    """Refuse what is typed of a check beside a file, which says it of each of its own."""
    if names := [name for name, value in given.items() if value]:
        raise PayloadInvalid(where=", ".join(names), problem="the file says that itself: leave it out")


def fetch(ledger: Ledger, repo: str, *, provider: str = "auto", commit: str = "", api: str = "") -> list[Check]:
    """Return the checks that a hosting service has for a commit, HEAD's by default."""
    from memento_git.work import hosting

    full = ledger.git.commit_of(commit or "HEAD")
    return [_of(check, full) for check in hosting.fetch(provider, repo, full, api)]


def _of(check: Check, commit: str) -> Check:
    if commit and check.commit and not check.commit.startswith(commit.lower()):
        raise CommitMissing(name=check.name, named=f"commit {check.commit[:12]}", given=commit[:12])
    if not check.commit and not check_payloads.COMMIT.fullmatch(commit):
        raise CommitMissing(name=check.name, named="no commit", given=commit[:40] or "one")
    return check._replace(commit=check.commit or commit)


def add_checks(
    tx: Transaction, found: Sequence[Check], *, run: str = "", tasks: Sequence[str] = (), summary: str = ""
) -> tuple[list[str], list[str]]:
    """Record each check once, bound to its commit's code; return the ids of new and of already known evidence."""
    writer = RunWriter.of(tx)
    state, full = belongs(writer, run, tasks)
    delivered = _Delivered(state)
    new, old = [], []
    for check in found:
        draft = _draft(writer, check)
        if identity := delivered.find(draft.data, full):
            old.append(identity)
            continue
        new.append(record_draft(tx, draft, run=state.id, tasks=full, summary=summary))
        delivered.note(draft.data, full, new[-1])
    return new, old


class _Delivered:
    """The checks that a run has already: one that ended by all it says, one that runs still by its latest word."""

    def __init__(self, state: RunState) -> None:
        self.all: dict[tuple[Any, ...], str] = {}
        self.latest: dict[tuple[Any, ...], str] = {}
        for found in state.pieces(state.ids("evidence")):
            if "check" in found.data:
                self.note(found.data, found.tasks, found.id)

    def note(self, data: dict[str, Any], tasks: Sequence[str], identity: str) -> None:
        key = self._key(data, tasks)
        self.all[key] = self.latest[key[:-2]] = identity

    def find(self, data: dict[str, Any], tasks: Sequence[str]) -> str:
        """Return the evidence that says the same, or nothing."""
        key = self._key(data, tasks)
        known = self.all.get(key, "")
        return known if data["check"].get("finished") or self.latest.get(key[:-2]) == known else ""

    @staticmethod
    def _key(data: dict[str, Any], tasks: Sequence[str]) -> tuple[Any, ...]:
        check = data["check"]
        named = (check["provider"], check["name"], check.get("id", ""), (data.get("code") or {}).get("tree", ""))
        return (*named, tuple(sorted(tasks)), check["conclusion"], check.get("finished", ""))


def _draft(writer: RunWriter, check: Check) -> Draft:
    """Return the evidence of one check; its outcome is read from the provider's conclusion alone."""
    git = writer.tx.ledger.git
    if check.finished and seconds_of(check.finished) > seconds_of(writer.tx.now) + AHEAD:
        raise PayloadInvalid(where=f"check {check.name[:60]}", problem=f"it ended in the future, {check.finished}")
    if git.commit(check.commit) != check.commit:
        raise CommitUnknown(name=check.name[:60], commit=check.commit)
    data = {
        "kind": "ci",
        "outcome": trust.concluded(check.conclusion),
        "code": {"tree": codestate.tree_at(git, check.commit), "head": check.commit},
        "check": {key: writer.text(f"check {key}", value, lines=False) for key, value in check.record().items()},
    }
    return Draft(data, {})


def record_check(
    tx: Transaction, provider: str, *, conclusion: str = "", status: str = "", name: str = "", id: str = "",  # noqa: A002
    url: str = "", commit: str = "", run: str = "", tasks: Sequence[str] = (),
) -> tuple[str, bool]:  # fmt: skip
    """Record what somebody says that a check said of a commit, by default HEAD's; return the id, and whether it is new.

    A check that has not concluded is recorded as such, whatever word stands for its status.
    """
    word = provider.strip().lower()
    if re.fullmatch(t.WORD.pattern, word) is None:
        raise PayloadInvalid(where="provider", problem=f"{provider[:60]!r} is not {t.WORD.name}")
    if url and re.match(r"https?://[^\s/]", url) is None:
        raise PayloadInvalid(where="url", problem=f"{url[:60]!r} is not a link")
    ended, stands = conclusion.strip().lower(), status.strip().lower()
    if ended and stands in UNFINISHED:
        raise PayloadInvalid(where="conclusion", problem=f"a check that is {status} has none yet")
    if not ended and stands not in UNFINISHED:
        raise PayloadInvalid(
            where="conclusion", problem="it is missing, and the status does not say that it still runs"
        )
    of = _commit(tx.ledger, commit or "HEAD")
    check = Check(word, name.strip() or word, id.strip(), ended or stands, of, url.strip(), "")
    new, old = add_checks(tx, [check], run=run, tasks=tasks, summary=TYPED)
    return (new or old)[0], bool(new)
