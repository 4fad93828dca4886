"""Running one recorded command again: in a clean work tree, with a bare environment, ended as a whole."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from memento_git.errors import Refused
from memento_git.ledger.cleanroom import cleanroom
from memento_git.ledger.git import Git
from memento_git.ledger.processes import VARIABLE
from memento_git.ledger.store import Ledger
from memento_git.model.clock import duration
from memento_git.texts.secrets import redact, redact_words
from memento_git.work import codestate
from memento_git.work.actions import evidences
from memento_git.work.dangers import guard
from memento_git.work.proof.trust import seen_by
from memento_git.work.proof.verification import shown
from memento_git.work.running import capture, children

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.model.policy import Policy
    from memento_git.model.work import Evidence
    from memento_git.work.actions.evidences import Draft

KNOWN: Final = ("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM")
OURS: Final = ("GIT_", "MEMENTO_")
SETUP_KEEP: Final = 4096
MOST_SAID: Final = 300


class SetupFailed(Refused):
    token = "reproduction_setup_failed"
    sentence = "policy.reproduce.setup: {command} ended with exit code {code}: {said}"
    hint_ = "run it in a fresh clone; what it needs must be there"


def set_up(policy: Policy, top: Path, group: Callable[..., capture.Captured]) -> None:
    """Make a worktree ready for commands, as policy says: with what git ignores."""
    for argv in policy.reproduce["setup"]:
        run = group(argv, top, keep=SETUP_KEEP, timeout=duration(policy.reproduce["timeout"]))
        if run.exit or run.timed_out:
            words = redact((run.stderr.end or run.stdout.end).decode(errors="replace"))[0]
            said = capture.fit(" ".join(capture.Scrubber(top).text(words).split())[-MOST_SAID:])
            raise SetupFailed(command=shown(redact_words(argv)), code=run.exit, said=said or "nothing was said")


class FolderAbsent(Refused):
    token = "reproduction_folder_absent"
    sentence = "the code at {commit} has no folder {folder} to run in"
    hint_ = "fetch the commit that the evidence saw, or record evidence for the code as it is"


class Rerunner:
    """Runs recorded commands again; equal commands on one commit run once. Ctrl-C ends the command, then us."""

    def __init__(self, ledger: Ledger, policy: Policy) -> None:
        self.ledger = ledger
        self.policy = policy._replace(preflight={**policy.preflight, "destructive": "refuse"})
        self.stop = children.Stop()
        self._signals = children.signals(self.stop)
        self._done: dict[object, Draft | Refused] = {}
        self._room = ""

    def __enter__(self) -> Self:
        self._signals.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._signals.__exit__(None, None, None)

    def run(self, evidence: Evidence, commit: str) -> Draft:
        """Return what the command of evidence shows on a commit; refuse what this machine cannot run."""
        told = evidence.data["command"]
        reports = tuple(report["name"] for report in evidence.data.get("reports") or ())
        paths = list(seen_by(evidence).get("paths", ()))
        covers = tuple(codestate.code_at(self.ledger.git, commit, paths).get("paths", ()))
        key = (commit, evidence.kind, tuple(told["argv"]), told["cwd"], reports, covers)
        if key not in self._done:
            self._done[key] = self._tried(evidence.kind, told, commit, reports, covers)
        if self.stop:
            raise KeyboardInterrupt
        done = self._done[key]
        if isinstance(done, Refused):
            raise done
        return done

    def _tried(
        self, kind: str, told: dict[str, Any], commit: str, reports: Sequence[str], covers: Sequence[str]
    ) -> Draft | Refused:
        try:
            for argv in (*self.policy.reproduce["setup"], told["argv"]):
                guard.refuse_argv(self.policy, argv, "what would be run again")
            with cleanroom(self.ledger.git, commit) as top:
                self._room = top.parent.name
                set_up(self.policy, top, self._group)
                folder = top / told["cwd"]
                capture.inside(top, folder)
                if not folder.is_dir():
                    raise FolderAbsent(commit=commit[:12], folder=told["cwd"])
                git = Git(top)
                git.start = folder  # not where git would look: a branch may bring a repository that is none of ours
                with Ledger(git) as there:
                    draft = evidences.witness(
                        there, told["argv"], kind=kind, covers=covers, keep=self.policy.output,
                        timeout=duration(self.policy.reproduce["timeout"]),
                        reports=[os.path.relpath(report, told["cwd"]) for report in reports], runner=self._group,
                    )  # fmt: skip
                return draft.named(told["argv"], cwd=told["cwd"])
        except Refused as refusal:
            return refusal

    @property
    def _group(self) -> functools.partial[capture.Captured]:
        wanted = (*KNOWN, *self.policy.reproduce["env"])
        kept = {
            name: value
            for name, value in os.environ.items()
            if (name in wanted or name.startswith("LC_")) and not name.startswith(OURS)
        }
        env = {**kept, VARIABLE: self._room}
        return functools.partial(children.run_group, env=env, stop=self.stop, begun=lambda _: None, shown=False)
