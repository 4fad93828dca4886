"""doctor: what could keep the ledger from being written, read or believed, each with its remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memento_git.errors import MementoError
from memento_git.ledger import claims, journal, layout, publish, worktree
from memento_git.ledger.git import GitFailed
from memento_git.model.ids import parse_ref
from memento_git.work.loading import load
from memento_git.work.rows import trouble_rows
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View


class Answer(NamedTuple):
    """One check: `status` is ok, warn or fail."""

    name: str
    status: str
    message: str
    fix: str = ""


def examine(ledger: Ledger, *, at: Sequence[str] = (), fix: bool = False) -> list[Answer]:
    """Run all checks, or at revisions those of the ledger; with fix, first mend what needs no judgement."""
    answers = list(_mend(ledger)) if fix else []
    if not at:
        answers += [*_git(ledger), *_identity(ledger), *_work_tree(ledger)]
    try:
        view = ledger.view(at)
        policy = view.policy()
    except MementoError as error:
        return [*answers, Answer("ledger", "fail", error.message, error.hint)]
    answers.append(Answer("ledger", "ok", f"format 1, lease {policy.lease} s, {len(view.runs())} run(s)"))
    if not at:
        answers += _uncommitted(ledger)
    for run in view.runs():
        answers += _run(view, run)
    for kind in ("task", "plan", "evidence"):
        view.known(kind)
    answers += _files(view)
    return answers if at else [*answers, *_claims(ledger, view)]


def _mend(ledger: Ledger) -> Iterator[Answer]:
    if journal.pending(ledger.git):
        mended = worktree.mend(ledger.git)
        for sentence in mended.sentences():
            yield Answer(
                "interrupted changes", "fail" if mended.waiting in sentence and mended.waiting else "ok", sentence
            )
    now = ledger.now()
    for name, claim in claims.listed(ledger.git).items():
        if claim.until < now:
            claims.release(ledger.git, name, claim)
            yield Answer("claims", "ok", f"removed the expired claim of {claim.by or 'nobody'} on {name}")
    if handovers_are_here(ledger):
        from memento_git.work.actions import leftovers

        for told in leftovers.mend(ledger, ledger.view()):
            yield Answer("work trees", "ok", told)


def handovers_are_here(ledger: Ledger) -> bool:
    return (ledger.git.common_dir / "memento" / "handovers").is_dir()


def _git(ledger: Ledger) -> Iterator[Answer]:
    git = ledger.git
    yield Answer(
        "git", "ok", f"{(git.answer('version') or '').removeprefix('git version ')}, {git.object_format} objects"
    )
    if git.top is None:
        yield Answer("repository", "warn", "bare: the ledger can be read, not written", "write in a clone and push")
    else:
        yield Answer("repository", "ok", "has a work tree")
    if git.answer("rev-parse", "--is-shallow-repository") == "true":
        yield Answer("history", "ok", "shallow clone: state needs no history, log --commits shows less")
    if git.answer("rev-parse", "--show-superproject-working-tree"):
        message = "this is a submodule: each ledger commit moves the link that its superproject records"
        yield Answer("submodule", "warn", message, "commit the new link in the superproject when you mean to")


def _identity(ledger: Ledger) -> Iterator[Answer]:
    try:
        publish.identities(ledger.git, ledger.settings)
    except MementoError as error:
        yield Answer("identity", "fail", error.message, error.hint)
    else:
        yield Answer("identity", "ok", ledger.actor)


def _work_tree(ledger: Ledger) -> Iterator[Answer]:
    git = ledger.git
    if git.top is None:
        return
    busy = [what for name, what in publish.UNDER_WAY.items() if (git.git_dir / name).exists()]
    if busy:
        yield Answer(
            "operation", "warn", f"{busy[0]} is in progress: writing is refused meanwhile", "finish or abort it"
        )
    if (git.git_dir / "index.lock").exists():
        yield Answer(
            "index", "warn", "index.lock exists: another git is running, or one crashed", "remove it if none runs"
        )
    if journal.pending(git):
        yield Answer(
            "interrupted changes", "fail", "a change was not finished in the work tree", "memento doctor --fix"
        )
    yield from _folder(git, git.top)


def _folder(git: Git, top: Path) -> Iterator[Answer]:
    if (top / layout.FOLDER).is_symlink():
        yield Answer("folder", "fail", ".memento is a symbolic link", "replace it: git checkout HEAD -- .memento")
    if _ignored(git):
        yield Answer(
            "ignored", "warn", "git ignores .memento: hand edits there go unnoticed", "take it out of .gitignore"
        )
    if git.answer("config", "--bool", "core.sparseCheckout") == "true":
        yield Answer("sparse checkout", "ok", "the ledger is read from commits, so absent files are not missing")
    if git.answer("symbolic-ref", "--quiet", "HEAD") is None:
        yield Answer(
            "branch", "warn", "HEAD is detached: ledger commits are lost on the next checkout", "git switch -c NAME"
        )


def _ignored(git: Git) -> bool:
    try:
        git.run("check-ignore", "-q", "--no-index", layout.CONFIG, extra={"GIT_LITERAL_PATHSPECS": "0"})
    except GitFailed:
        return False
    return True


def _uncommitted(ledger: Ledger) -> Iterator[Answer]:
    if ledger.uncommitted:
        shown = ", ".join(change.path for change in ledger.uncommitted[:5])
        yield Answer("uncommitted", "warn", f"not counted: {shown}", "commit them, or put them back")
    else:
        yield Answer("uncommitted", "ok", "no ledger file differs from HEAD")


def _run(view: View, run: str) -> Iterator[Answer]:
    state = RunState(view, run)
    load(state)
    before = len(view.findings)
    for path in state.index.prose.values():
        view.record(path)
    troubles = trouble_rows(state)
    for row in troubles:
        level = "warn" if row["problem"] == "contested" else "fail"
        yield Answer(f"run {run}", level, f"{row['record']} is {row['problem']}: {row['about']}", "memento settle")
    for path in state.index.strangers:
        yield Answer(f"run {run}", "warn", f"{path} is not part of the ledger's layout", f"git rm {path}")
    links = list(_links(state))
    yield from (Answer(f"run {run}", "fail", message, fix) for message, fix in links)
    if not troubles and not links and len(view.findings) == before:
        count = len(state.index.events)
        yield Answer(f"run {run}", "ok", f"{len(state.ids('task'))} task(s), {count} event(s), all legal and whole")


def _links(state: RunState) -> Iterator[tuple[str, str]]:
    """Yield the references of a run that lead nowhere."""
    for identity in state.index.events_of:
        if (
            identity not in state.index.prose
            and identity not in state.index.evidence
            and state.folded(identity).lanes.word("status", "") != "redacted"
        ):
            yield (
                f"{identity} has events, but its file is missing",
                "restore it: git log --diff-filter=D --stat -- .memento",
            )
    for task in [name for name in state.ids("task") if state.view.record(state.index.prose[name]) is not None]:
        for other in state.prose(task).list("depends_on"):
            if other not in state.index.prose:
                yield f"{task} depends on {other}, which is not in this run", "memento task revise " + task
        for completion in state.completions(task):
            for ref in completion.data["evidence"]:
                found = state.evidence(parse_ref(ref).id)
                if found is None and state.evidence_status(parse_ref(ref).id) != "redacted":
                    yield (f"{task} cites {ref}, which is missing", "restore it, or memento task reopen " + task)
                elif found is not None and found.digest != parse_ref(ref).digest:
                    yield f"{task} cites {ref}, whose bytes are others now", "restore the file from git"


def _files(view: View) -> Iterator[Answer]:
    seen = set()
    for finding in view.findings:
        if (finding.code, finding.path, finding.line) not in seen:
            seen.add((finding.code, finding.path, finding.line))
            yield Answer("files", "fail", str(finding), finding.fix)
    if layout.ATTRIBUTES not in view.files:
        yield Answer(
            "attributes", "warn", ".memento/.gitattributes is missing: line endings may change", "memento init"
        )
    from memento_git.work.secrets import find_secrets

    for path in view.files:
        place = layout.place_of(path)
        if place is not None and place.kind != "attachment":
            for secret in find_secrets((view.read(path) or b"").decode(errors="replace")):
                yield Answer(
                    "secrets", "fail", f"{path}:{secret.line}: looks like a {secret.rule}", "memento evidence redact"
                )


def _claims(ledger: Ledger, view: View) -> Iterator[Answer]:
    for name, claim in claims.listed(ledger.git).items():
        if claim.until < view.now:
            message = f"{claim.by or 'nobody'} left a claim on {name} that expired {claim.until or 'long ago'}"
            yield Answer("claims", "warn", message, "memento doctor --fix")
    if handovers_are_here(ledger):
        from memento_git.work.actions import leftovers

        for told, fix in leftovers.found(ledger, view):
            yield Answer("work trees", "warn", told, fix)
