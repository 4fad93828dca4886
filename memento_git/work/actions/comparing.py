"""diff: both sides read, as little of them as differs."""

from __future__ import annotations

from difflib import unified_diff
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from memento_git.ledger import layout, policyfile
from memento_git.ledger.ranges import resolve, ruling
from memento_git.ledger.store import Ledger, refuse_absent
from memento_git.ledger.view import View
from memento_git.model.ids import parse_ref
from memento_git.model.states import FINAL_RUN, PASSING
from memento_git.review import diff, diff_proofs
from memento_git.review.changed_files import TwoSides, forbidden
from memento_git.review.weakened import weakened
from memento_git.work.gates import gates
from memento_git.work.gates.gate_staleness import outlasted
from memento_git.work.proof.failures import mark_failed
from memento_git.work.proof.staleness import mark_stale
from memento_git.work.row_cache import whole
from memento_git.work.run_details import RunDetails
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memento_git.model.policy import Policy
    from memento_git.model.rows import Row
    from memento_git.work.attest.signers import KnownSigners
    from memento_git.work.proof.runners import Runners


def compare(ledger: Ledger, given: str, tips: Sequence[str] = ()) -> Row:
    """Return what happened to the ledger between two commits; runs whose files are the same are not read."""
    found = resolve(ledger.git, given, tips)
    old, new = ledger.side(found.bases), ledger.side(found.tips)
    if not old.exists and not new.exists:
        refuse_absent(new, f"{found.base[:12]} and {', '.join(tip[:12] for tip in found.tips)}")
    rules = ruling(ledger.git, [*found.bases], found.older)
    judge = old if (rules,) == found.bases else ledger.side((rules,))
    told = dict.fromkeys([*policyfile.rule(old), *(policyfile.rule(judge) if judge is not old else ())])
    policy, runners, keys = _policy(judge, new), _runners(judge, new), _Keys(judge, old, new)
    runs, files = [], []
    for run in sorted({*old.runs(), *new.runs()}):
        same = _ids(old, run) == _ids(new, run)
        if same and not policy["changed"] and judge.signers == new.signers:
            continue
        after = _held(new, run, runners)
        before = _held(old, run)
        keys.tell(run, before, after)
        if policy["changed"] and after is not None:
            _by_older(after, _held(keys.judged, run, runners) or diff.EMPTY)
        if after is not None and _has_ended(before, after):
            _as_under_way(RunState(new, run, runners, keys.policy), after["gates"])
        packed = _archived(new, run) and not _archived(old, run)
        change = diff.run_change(before, after, new.now, archived=packed)
        wrong = [] if same else _forbidden(old, new, run, after)
        files += wrong
        if change is not None:
            runs.append(change)
    files += _elsewhere(old, new)
    return {
        "base": found.base, "bases": list(found.bases), "judged_by": rules, "tips": list(found.tips),
        "notes": [*found.notes, *told], "counts": diff.counts(runs, files, policy["weakened"]), "forbidden": files,
        "policy": policy if policy["diff"] else None, "new": not old.exists, "runs": runs,
    }  # fmt: skip


def _ids(view: View, run: str) -> set[tuple[str, ...]]:
    """Return git's ids of a run's folder and archives, a pair for each commit of the view."""
    places = (f"{layout.RUNS}/{run}", f"{layout.ARCHIVE}/{run}")
    if len(view.commits) == 1:
        found = [view.folders]
    else:
        found = [view.git.entries(commit, *places) for commit in view.commits]
    return {tuple(entries[place].oid if place in entries else "" for place in places) for entries in found}


def _archived(view: View, run: str) -> bool:
    start = f"{layout.ARCHIVE}/{run}/"
    return any(path.startswith(start) and layout.is_archive(path) for path in view.files)


def _runners(old: View, new: View) -> Runners | None:
    """Return whose reruns count by both sides, None where both name the same: a branch lists no runner of its own."""
    if not old.exists or (_text(old) == _text(new) and old.signers == new.signers):
        return None
    before, after = old.policy(), new.policy() if new.exists else None
    listed = before.reproduce["runners"], old.signers
    if after is not None and listed == (after.reproduce["runners"], new.signers):
        return None
    from memento_git.work.proof.runners import Runners

    return Runners(new, before, old.commits[0], beside=Runners(new, after, keep=True), keep=True)


class _Keys:
    """The policy and keys that judge the newer side: read once, and where a run asks for them."""

    def __init__(self, judge: View, old: View, new: View) -> None:
        self.old, self.new = old, new
        self._view = judge if judge.exists else new

    @cached_property
    def policy(self) -> Policy:
        return self._view.policy()

    @cached_property
    def signers(self) -> KnownSigners:
        from memento_git.work.attest.signers import signers_at

        return signers_at(self._view.git, self._view.commits[0], self.policy)

    @cached_property
    def judged(self) -> View:
        """Return the newer side as it is by the policy of the older one."""
        view = View(self.new.git, self.new.commits, self.new.now)
        view.ruled = self.policy
        return view

    def tell(self, run: str, before: Row | None, after: Row | None) -> None:
        """Say in the rows of a run what the signatures since come to, and where one is lacking that policy demands."""
        if after is None:
            return
        rows = diff_proofs.fresh(before or diff.EMPTY, after)
        if not rows and not self.policy.must_be_signed:
            return
        from memento_git.work.attest import signatures

        signatures.fill(RunState(self.new, run), rows, self.signers)
        signatures.mark_lacking(
            RunState(self.new, run, policy=self.policy),
            plans=after["plans"], tasks=after["tasks"], verdicts=after["gates"], found=self.signers,
        )  # fmt: skip
        if before is not None:
            asked = RunState(self.old, run, policy=self.policy)
            signatures.mark_lacking(asked, verdicts=before["gates"], found=self.signers)


def _held(view: View, run: str, runners: Runners | None = None) -> Row | None:
    if run not in view.runs():
        return None
    held = whole(view, run, runners)
    mark_stale(view, held["evidence"], held["tasks"])
    mark_failed(held["tasks"], held["evidence"], view.now)
    RunDetails(view, run, held).mark_outdated()
    return {**held}


def _by_older(held: Row, older: Row) -> None:
    """Say in the rows of a run why what holds by the newer policy does not by the older one, which judges a branch."""
    tasks, plans = ({row["id"]: row for row in older[name]} for name in ("tasks", "plans"))
    for row in held["tasks"]:
        if row["proven"]:
            row["unproven_by_older"] = tasks[row["id"]]["unproven_because"]
    for row in held["plans"]:
        row["unapproved"] = row["unapproved"] or plans[row["id"]]["unapproved"]
    gates = {(row["scope"], row["kind"]): row for row in older["gates"]}
    for row in held["gates"]:
        other = gates.pop((row["scope"], row["kind"]), row)
        row["fallen"] = row["fallen"] or other["fallen"]
    held["gates"] += gates.values()


def _has_ended(before: Row | None, after: Row) -> bool:
    return after["run"]["status"] in FINAL_RUN and (before is None or before["run"]["status"] not in FINAL_RUN)


def _as_under_way(state: RunState, verdicts: Sequence[Row]) -> None:
    """Say in the rows of gates of a run that has ended since what takes from their passes and waivers in any other."""
    for row in verdicts:
        if row["status"] in PASSING and not row["fallen"]:
            scope, gate = row["scope"], row["kind"]
            falls = chain(outlasted(state, scope, gate, ended=False), gates.below_policy(state, scope, gate))
            row["fallen"] = next((why for _, why in falls), None)


def _policy(old: View, new: View) -> Row:
    """Return what changed in the policy and its files of keys: a small unified diff, and the rules that ask less."""
    if not old.exists:
        return {"changed": False, "diff": [], "weakened": []}
    was, now = old.policy(), new.policy()
    lines = _lines(layout.CONFIG, _text(old), _text(new))[2:]
    told = list(weakened(was, now)) if lines else []
    for path in was.key_files:
        before, after = (_at(view, path) for view in (old, new))
        lines += _lines(path, before, after)
        told += [f"{path}: whose signatures count changed"] if before != after else []
    return {"changed": was != now, "diff": lines, "weakened": told}


def _lines(path: str, before: str, after: str) -> list[str]:
    return list(unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="", n=1))


def _at(view: View, path: str) -> str:
    """Return a file of the code at the first commit of a view, or nothing."""
    return (view.git.objects([f"{view.commits[0]}:{path}"])[0] or b"").decode(errors="replace")


def _text(view: View) -> str:
    return (view.read(layout.CONFIG) or b"").decode(errors="replace")


def _forbidden(old: View, new: View, run: str, after: Row | None) -> list[Row]:
    """Return the files of a run that were changed or removed, in its archives too."""
    for view in (old, new):
        if run in view.runs():
            view.index(run)
    start = f"{layout.RUNS}/{run}/"
    held = {}
    for path in (path for path in old.files if path.startswith(start)):
        place = layout.place_of(path)
        if place is not None:
            there = new.files.get(path)
            new_id = "" if there is None else there or "archived"
            held[path] = TwoSides(place.kind, place.id, old.files[path] or "was archived", new_id)
    return list(forbidden(held, set(_redacted(after)), lambda path: old.read(path) == new.read(path)))


def _redacted(after: Row | None) -> Iterator[str]:
    """Yield the records that redactions took away."""
    for row in (after or {"audit": []})["audit"]:
        if row["action"].endswith(".redacted") and row["legal"]:
            yield parse_ref(row["payload"]["target"]).id


def _elsewhere(old: View, new: View) -> list[Row]:
    """Return the config file where it was removed."""
    gone = layout.CONFIG in old.folders and layout.CONFIG not in new.folders
    return [{"path": layout.CONFIG, "change": "removed", "kind": "config", "record": None}] if gone else []
