"""What evidence is stale, of other code than the commit that is read; and what passes for that code instead."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from memento_git.model.enumeration import grouped
from memento_git.model.states import DONE
from memento_git.work.proof.codes import agree, is_narrower
from memento_git.work.proof.failures import failing, ran

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from memento_git.ledger.view import View
    from memento_git.model.rows import EvidenceRow, TaskRow

One = TypeVar("One")
MOST_COMMITS: Final = 1000


def mark_stale(view: View, evidence: Sequence[EvidenceRow], tasks: Sequence[TaskRow]) -> list[str]:
    """Say of each piece of evidence whether it saw the code of this view; return those that did not.

    Of those it says whether that is because what they saw was not committed here, or because the code went on; and
    what passed on this code since, by the same command, and proves the same task or another.
    And which files that git did not track it saw beside that, and this view does not have as they were. A union of
    several commits has no one code, so nobody knows there.
    """
    bound = [row for row in evidence if row["code"] and row["status"] == "recorded"]
    if len(view.commits) != 1:
        names = {row["id"] for row in bound}
        for row in (*bound, *(task for task in tasks if names.intersection(task["proven_by"]))):
            row["stale"] = None
        return []
    if not bound:
        return []
    from memento_git.work import codestate

    paths = sorted({path for row in bound for key in ("paths", "untracked") for path in row["code"].get(key, ())})
    code = codestate.code_at(view.git, view.commits[0], paths)
    there = code.get("paths", {})
    for row in bound:
        row["stale"] = not agree(row["code"], code)
        row["beside"] = [path for path, blob in row["code"].get("untracked", {}).items() if there.get(path) != blob]
    stale = {row["id"]: row for row in bound if row["stale"]}
    ahead = _uncommitted(view, stale.values(), code["tree"])
    since = _passed_since(view, bound, tasks)
    pieces = grouped(pair for told in since.values() for pair in told.items())
    for name, row in stale.items():
        shown = pieces.get(name, [""])
        row["uncommitted"], row["passed_since"] = name in ahead, shown[-1] if all(shown) else None
    for task in tasks:
        task["stale"] = bool(task["proven_by"]) and all(name in stale for name in task["proven_by"])
        if task["stale"]:
            task["uncommitted"] = all(name in ahead for name in task["proven_by"])
            passed = [since.get(task["id"], {}).get(name) for name in task["proven_by"]]
            task["passed_since"] = [*dict.fromkeys(filter(None, passed))] if all(passed) else []
    return [*stale]


def _passed_since(view: View, bound: Iterable[EvidenceRow], tasks: Iterable[TaskRow]) -> dict[str, dict[str, str]]:
    """Return of each done task's stale passes what shows the same of this code, or '', as `memento check` has it."""
    rows = {row["id"]: row for row in bound if row["command"]}
    if not any(row["stale"] for row in rows.values()):
        return {}
    done = {
        task["id"]: [rows[name] for name in task["proven_by"] if name in rows]
        for task in tasks
        if task["status"] in DONE
    }
    whole = (row for row in chain.from_iterable(done.values()) if not row["stale"] and not row["covers"])
    failed = failing((row for row in rows.values() if not row["stale"]), view.now)
    now = grouped((ran(row), row) for row in whole if ran(row) not in failed)
    passes, found = Passes(view, lambda: now), {}
    for task, proof in done.items():
        told = found[task] = dict[str, str]()
        for alike in grouped((ran(row), row) for row in proof).values():
            own, old = ([row for row in alike if row["stale"] is one] for one in (False, True))
            earlier = [(ran(row), row["code"].get("tree", "")) for row in old]
            for row in old:
                told[row["id"]] = _showing(own, row) or _showing(passes.since(earlier), row)
    return found


def _showing(passes: Sequence[EvidenceRow], earlier: EvidenceRow) -> str:
    """Return the last pass that is worth as much as an earlier one, and about no less of the code."""
    from memento_git.work.proof.trust import at_least

    strong = (one for one in reversed(passes) if at_least(one["trust_level"], earlier["trust_level"]))
    return next((one["id"] for one in strong if not is_narrower(one["covers"], earlier["covers"])), "")


def _uncommitted(view: View, stale: Iterable[EvidenceRow], tree: str) -> set[str]:
    """Return which stale evidence saw changes of the very code that this view has: they are not committed here."""
    from memento_git.work.codestate import without_ledger

    heads = {row["id"]: row["code"]["head"] for row in stale if row["code"].get("dirty") and row["code"].get("head")}
    names = sorted(set(heads.values()))
    held = view.git.objects([f"{name}^{{tree}}" for name in names])
    known = zip(names, held, strict=True)
    same = {name for name, body in known if body and without_ledger(body, view.git.object_format) == tree}
    return {name for name, head in heads.items() if head in same}


class Passes(Generic[One]):
    """The commands that prove done tasks, and that saw all code as it is; each by its kind, folder and words.

    What passes for the code as it is, whichever task it proves, shows the same of tasks that were done before; not
    where it failed there since.
    """

    def __init__(self, view: View, held: Callable[[], Mapping[tuple[str, ...], Sequence[One]]]) -> None:
        self.view, self._tell = view, held
        self._known: set[str] = set()

    def since(self, earlier: Collection[tuple[tuple[str, ...], str]]) -> list[One]:
        """Return the passes of some commands, each of which is told with the tree of the code that it saw before.

        None counts where no code that such a command saw is in history, but on a branch that was never merged: what
        passes now has not seen that work.
        """
        told = dict.fromkeys(earlier)
        return [one for command, tree in told for one in self._held.get(command, ()) if self._had(tree)]

    @cached_property
    def _held(self) -> Mapping[tuple[str, ...], Sequence[One]]:
        return self._tell()

    @cached_property
    def _past(self) -> Iterator[tuple[str, str]]:
        from memento_git.ledger import staged
        from memento_git.work import codestate

        return codestate.history(self.view.git, MOST_COMMITS, *staged.tips(self.view))

    def _had(self, tree: str) -> bool:
        """Tell whether the latest commits had this tree of code; no more are read than it takes."""
        while tree not in self._known and (pair := next(self._past, None)):
            self._known.add(pair[1])
        return tree in self._known
