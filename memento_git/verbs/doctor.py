"""doctor: what keeps work, notes and what is derived from both from being written, read or believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.errors import MementoError
from memento_git.knowledge.drafts import Drafts
from memento_git.ledger import layout, lock, tree_diff
from memento_git.ledger.view import LedgerUnreadable, View
from memento_git.model.enumeration import many
from memento_git.model.patterns import matches
from memento_git.review import last_readable, tree_check
from memento_git.review.outcome import weighed
from memento_git.texts.secrets import no_rules
from memento_git.texts.typed import lists
from memento_git.work.actions import health
from memento_git.work.actions.health import Answer, failed, tried

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.model.finding import Finding
    from memento_git.model.policy import Policy

OF_NOTES: Final = {"N001": "domains", "N002": "keys", "L002": "evidence", "L003": "evidence", "L004": "links"}


@lists
def examine(ledger: Ledger, *, at: Sequence[str] = (), fix: bool = False, remote: str = "") -> list[Answer]:
    """Run all checks, or at revisions those of the ledger; with fix, first mend what needs no judgement.

    Only with a remote is one asked, for the claims that it holds.
    """
    answers = health.mended(ledger) if fix else []
    answers += health.machine(ledger) if not at else []
    try:
        view = ledger.view(at)
        try:
            policy = view.policy()
        except LedgerUnreadable as error:
            [finding] = last_readable.told_whole(view, [error.finding])
            return [*answers, _answer("ledger", finding)]
        answers.append(Answer("ledger", "ok", f"format 1, lease {policy.lease} s, {many(len(view.runs()), 'run')}"))
    except (MementoError, OSError) as error:
        return [*answers, failed("ledger", error)]
    if at:
        return [*answers, *_whole(view, policy)]
    return [
        *answers, *health.uncommitted(ledger), *_whole(view, policy), *health.claimed(ledger, view, remote),
        *tried("recall index", _index(view)), *tried("drafts", _drafts(ledger.git)),
        *tried("clients", _clients(ledger.git)),
    ]  # fmt: skip


def _whole(view: View, policy: Policy) -> list[Answer]:
    """Return what a check of the whole tree finds, part by part; where one comes to no end, the others go on."""
    told: dict[str, list[Answer]] = {}
    found: list[tuple[str, Finding]] = []
    for part in tree_check.parts(view, policy):
        told[part.name] = []
        try:
            found += [(part.name, one) for one in part.look()]
        except (MementoError, OSError) as error:
            told[part.name].append(failed(part.name, error))
    notes = f"{layout.KNOWLEDGE}/"
    found = [
        *((tree_check.NOTES if one.path.startswith(notes) else tree_check.FILES, one) for one in view.findings),
        *found,
    ]
    kept = {*last_readable.unpacked([one for _, one in found])}
    names, wrong = zip(*(row for row in found if row[1] in kept), strict=True) if kept else ((), ())
    grave = weighed(tree_check.with_fixes(view, wrong), policy.errors)
    for name, one in dict.fromkeys(zip(names, grave, strict=True)):
        told.setdefault(name, []).append(_answer(name, one))
    if layout.ATTRIBUTES not in view.files:
        message = ".memento/.gitattributes is missing: line endings may change"
        told[tree_check.FILES].append(Answer("attributes", "warn", message, "memento init"))
    told["signatures"] = [*tried("signatures", _signers(view, policy)), *told["signatures"]]
    sound = _sound(view, told, {layout.run_of_path(one.path) for one in view.findings})
    return [*tried("policy", _idle(policy)), *tried("policy", _unmet(view, policy)), *sound]


def _answer(part: str, finding: Finding) -> Answer:
    """Return a finding as an answer, of notes under the name of what it is about."""
    name = OF_NOTES.get(finding.code, part) if part == tree_check.NOTES else part
    message = finding.message if part.startswith("run ") else str(finding)
    if part == "secrets":
        message = f"{finding.path}:{finding.line}: {finding.message}"
    return Answer(name, "warn" if finding.severity == "warning" else "fail", message, finding.fix)


def _sound(view: View, told: Mapping[str, Sequence[Answer]], spoilt: Collection[str]) -> Iterator[Answer]:
    """Yield the answers, those on runs first, and between them which runs, and whether the notes, are sound."""
    for run in view.runs():
        yield from told[f"run {run}"]
        if not told[f"run {run}"] and run not in spoilt:
            index = view.index(run)
            tasks = many(len(index.of_kind("task")), "task")
            message = f"{tasks}, {many(len(index.events), 'event')}, all legal and whole"
            yield Answer(f"run {run}", "ok", message)
    for part in (one for one in told if not one.startswith("run ")):
        yield from told[part]
    if not told.get(tree_check.NOTES):
        count = len(view.index("").prose)
        yield Answer("notes", "ok", f"{many(count, 'note')}, keys unique, links resolve, no evidence changed")


def _idle(policy: Policy) -> Iterator[Answer]:
    """Tell of rules of policy that have no effect."""
    for rule in no_rules(policy.allow_secrets):
        message = f"policy.allow_secrets names {rule}, which is no rule of the scanner: it lets nothing through"
        yield Answer("policy", "warn", message, "name the rule as the refusal of a secret does")
    if policy.release.get("approvals") or not (policy.release.get("approvers") or policy.release.get("not_author")):
        return
    message = "policy.release says whose approvals count, and asks for none: anybody may pass the gate without one"
    yield Answer("policy", "warn", message, "say how many are asked: policy.release.approvals")


def _unmet(view: View, policy: Policy) -> Iterator[Answer]:
    """Tell of patterns by which policy asks something of some files, and which none has: they may be misspelt."""
    asked = dict.fromkeys(pattern for rule in policy.verify for pattern in rule.get("when", {}).get("files", ()))
    files = view.git.trees.listed("-r", view.commits[0]) if asked else {}
    for pattern in asked:
        if not any(matches(pattern, path) for path in files):
            message = f"policy.verify asks something of what {pattern!r} names, and that is no file here"
            yield Answer("policy", "warn", message, "write it from the top of the repository, with *, ? and ** alone")


def _signers(view: View, policy: Policy) -> Iterator[Answer]:
    if not policy.signatures:
        return
    from memento_git.ledger import signer
    from memento_git.work.attest.signers import signers_at

    found = signers_at(view.git, view.commits[0], policy)
    for line, why in signer.unread_lines(found.signers.allowed):
        where = f"{policy.signatures.get('allowed_signers', '')}:{line}"
        message = f"{where} counts for nobody: ssh-keygen cannot read it ({why})"
        yield Answer("signatures", "warn", message, "write it as ssh-keygen reads it: NAMES OPTIONS TYPE KEY")
    if not policy.signatures.get("ledger"):
        message = "signatures hold in every repository that trusts the same keys"
        yield Answer("signatures", "warn", message, "name this ledger before more is signed: policy.signatures.ledger")


def _index(view: View) -> Iterator[Answer]:
    """Tell how the index that recall asks stands to the ledger: it is never in the way, only behind or absent."""
    from memento_git.knowledge import index, index_refresh
    from memento_git.knowledge.actions.recalling import FEW

    git = view.git
    held = index.place(git)
    tree = tree_diff.tree_of(git, view.commits[0]) if view.commits else ""
    if not (held / index.STATE).exists():
        is_small = index_refresh.of_few(view, tree, FEW) is not None
        told = f"none: up to {FEW} files are read as they are" if is_small else "none yet: the first recall makes it"
        yield Answer("recall index", "ok", told)
        return
    found = index.opened(git)
    if found is None:
        message = "its files are not as they were written: recall makes it again"
        yield Answer(
            "recall index", "warn", message, "remove the folder memento/index of git's, or ask anything: memento recall"
        )
        return
    found.close()
    told = (
        "as the ledger is"
        if found.tree == tree
        else "behind: recall reads what is missing, and brings it up to date when that is much"
    )
    yield Answer("recall index", "ok", f"{many(found.documents, 'document')}, {told}")
    yield from _locked(git)


def _locked(git: Git) -> Iterator[Answer]:
    from memento_git.knowledge import index

    try:
        with lock.held(index.lock_path(git), 0):
            return
    except (lock.LockHeld, lock.NotWritable) as error:
        yield Answer("recall index", "warn", error.message, "let it finish; recall answers without it meanwhile")


def _drafts(git: Git) -> Iterator[Answer]:
    """Tell of drafts that wait in this clone, and of those that cannot be read."""
    held = Drafts(git)
    drafts = held.all()
    for finding in held.findings:
        yield Answer("drafts", "warn", str(finding), "repair the file, or memento session status")
    if drafts:
        yield Answer("drafts", "ok", f"{len(drafts)} in this clone alone, until memento session promote")


def _clients(git: Git) -> Iterator[Answer]:
    """Tell of clients of agents that are set up here in part, or to start what is not found."""
    if git.top is None:
        return
    from memento_git.knowledge.actions import clients
    from memento_git.model.clients import CLIENTS

    for name, client in CLIENTS.items():
        state = clients.setup_status(git, client)
        if state == "partly":
            yield Answer("clients", "warn", f"{client.title} is set up in part", f"memento client install {name}")
        for program in clients.lost(git, client) if state not in ("absent", "unreadable") else ():
            message = f"{client.title} is set up to start {program}, which is not found from here"
            fix = f"install it there, or take the set-up out: memento client uninstall {name}"
            yield Answer("clients", "warn", message, fix)
