"""A hosting service's merge, squash and rebase buttons, replayed by git: every event stays, the fold is the same."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memento_git.errors import Refused
from memento_git.ledger.store import Ledger
from memento_git.work.actions import dispatches, runs, tasks
from memento_git.work.actions.setup import init_ledger
from tests.play import Play, git
from tests.test_merges import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BUTTONS = ("merge", "squash", "rebase")
BRANCHES = ("one", "two", "three")
STEPS = ("claim", "complete", "fail", "block", "reopen", "cancel", "add", "gate", "pause", "resume", "dispatch")


def press(root: Path, button: str, into: str, branch: str) -> None:
    """Do what a hosting service does with a pull request: merge it, squash it, or rebase it."""
    if button == "rebase":
        git(root, "switch", "-q", "-C", "replayed", branch)
        git(root, "rebase", "-q", into)
        git(root, "switch", "-q", into)
        git(root, "merge", "-q", "--ff-only", "replayed")
        return
    git(root, "switch", "-q", into)
    if button == "merge":
        git(root, "merge", "-q", "--no-ff", "--no-edit", branch)
    else:
        git(root, "merge", "-q", "--squash", branch)
        git(root, "commit", "-qm", f"squashed {branch}", "--allow-empty")


def held(root: Path, rev: str) -> set[str]:
    """Return the files of a ledger that a revision holds, by path and content."""
    return set(git(root, "ls-tree", "-r", rev, ".memento/").splitlines())


def free(root: Path) -> None:
    """Forget this clone's claims, as if each branch were worked on in a clone of its own."""
    for ref in git(root, "for-each-ref", "--format=%(refname)", "refs/memento/claims").split():
        git(root, "update-ref", "-d", ref)


def begin(play: Play) -> list[str]:
    run = play.planned()
    made = [play.task(f"Task {number}", run=run) for number in range(3)]
    for task in made[:2]:
        play.dispatch(task)
    return [run, *made]


def work(play: Play, step: str, run: str, task: str) -> None:
    """Take one step where it is allowed."""
    state = play.state(task)
    opened = [name for name, row in state.dispatches(task).items() if row.status in ("queued", "claimed")]
    dispatch = opened[0] if opened else "dispatch_000000000000"
    taken: dict[str, Callable[[], object]] = {
        "claim": lambda: play.do(dispatches.claim_dispatch, dispatch),
        "complete": lambda: play.complete(dispatch, play.evidence(task)),
        "fail": lambda: play.do(dispatches.fail_dispatch, dispatch, reason="no"),
        "block": lambda: play.do(tasks.block_task, task, reason="stuck"),
        "reopen": lambda: play.do(tasks.reopen_task, task, reason="again"),
        "cancel": lambda: play.do(tasks.cancel_task, task, reason="no"),
        "add": lambda: play.task("Another", run=run),
        "gate": lambda: play.gate("quality_review", "failed", run=run),
        "pause": lambda: play.do(runs.pause_run, run),
        "resume": lambda: play.do(runs.resume_run, run),
        "dispatch": lambda: play.dispatch(task),
    }
    with contextlib.suppress(Refused):
        taken[step]()


def branch_off(play: Play, name: str, records: Sequence[str], steps: Sequence[tuple[str, int]]) -> None:
    """Let somebody work on a branch of their own."""
    git(play.root, "switch", "-qc", name, "main")
    free(play.root)
    side = play.as_(name)
    for step, number in steps:
        work(side, step, records[0], records[1 + number])


def together(play: Play, name: str, order: Sequence[str], buttons: Sequence[str]) -> None:
    git(play.root, "switch", "-qc", name, "main")
    for branch, button in zip(order, buttons, strict=True):
        press(play.root, button, name, branch)


@pytest.mark.parametrize("buttons", list(itertools.product(BUTTONS, repeat=2)), ids="-".join)
def test_any_two_buttons_keep_every_event_and_give_the_same_fold(play: Play, buttons: tuple[str, str]) -> None:
    records = begin(play)
    branch_off(play, "one", records, [("claim", 0), ("complete", 0), ("add", 0)])
    branch_off(play, "two", records, [("claim", 0), ("claim", 1), ("block", 2), ("gate", 0)])
    together(play, "pressed", ["one", "two"], buttons)
    together(play, "plain", ["two", "one"], ["merge", "merge"])
    assert held(play.root, "pressed") == held(play.root, "plain") == held(play.root, "one") | held(play.root, "two")
    assert shown(play, "pressed") == shown(play, "plain") == shown(play, "one", "two")


def test_a_branch_that_goes_on_after_it_was_squashed_loses_nothing(play: Play) -> None:
    records = begin(play)
    branch_off(play, "one", records, [("claim", 0)])
    press(play.root, "squash", "main", "one")
    git(play.root, "switch", "-q", "one")
    work(play.as_("one"), "complete", records[0], records[1])
    press(play.root, "squash", "main", "one")
    git(play.root, "switch", "-q", "main")
    assert play.is_proven(records[1])
    assert held(play.root, "main") == held(play.root, "one")


STEPPED = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 2)), min_size=1, max_size=4)
PRESSED = st.lists(st.sampled_from(BUTTONS), min_size=3, max_size=3)
SLOW = settings(max_examples=6, derandomize=True, suppress_health_check=list(HealthCheck))


@SLOW
@given(
    st.fixed_dictionaries(dict.fromkeys(BRANCHES, STEPPED)),
    st.permutations(BRANCHES), st.permutations(BRANCHES),
    PRESSED, PRESSED,
    st.booleans(),
)  # fmt: skip
def test_random_branches_merged_in_random_orders_give_the_same_fold(
    steps: dict[str, list[tuple[str, int]]], first: list[str], second: list[str], pressed: list[str],
    others: list[str], crossed: Any,
) -> None:  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        git(root, "init", "-q", "-b", "main")
        with Ledger.open(root, actor="Ada") as ledger:
            init_ledger(ledger)
            play = Play(ledger)
            records = begin(play)
            for name in BRANCHES:
                branch_off(play, name, records, steps[name])
            if crossed:
                press(root, "merge", "two", "one")
                work(play.as_("Cleo"), "block", records[0], records[3])
                press(root, "merge", "three", "two")
            together(play, "left", first, pressed)
            together(play, "right", second, others)
            assert held(root, "left") == held(root, "right") == set.union(*(held(root, name) for name in BRANCHES))
            assert shown(play, "left") == shown(play, "right") == shown(play, *BRANCHES)
            play.close()
