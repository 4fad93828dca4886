"""Rows of a run after a few changes: always what computing all of them anew gives."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.errors import MementoError
from memento_git.ledger import cache
from memento_git.ledger.view import View
from memento_git.work import row_cache, row_update
from memento_git.work.actions import dispatches, evidences, plans, reproducing, runs, settling, tasks, verifying
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.play import Play

STEPS: Final = 45


class Watched:
    """Looks at a run as commands do, compares it with what all of its files come to, and counts how it was found."""

    def __init__(self, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
        self.play = play
        self.anew = 0
        compute = row_cache._compute

        def counted(*given: Any) -> Any:
            self.anew += 1
            return compute(*given)

        monkeypatch.setattr(row_cache, "_compute", counted)
        self.compute = compute

    def look(self, run: str) -> bool:
        """Tell whether the rows were renewed, not computed."""
        view, before = self.play.ledger.view(), self.anew
        found = {**row_cache.base(view, run), "audit": row_cache.audit(view, run)}
        whole = row_cache.whole(view, run)
        renewed = self.anew == before
        want = self.compute(View(view.git, view.commits, view.now), run, None)[0]
        assert plain(found) == plain(want) == plain(whole)
        return renewed


def plain(held: Mapping[str, Any]) -> dict[str, str]:
    """Return rows as they are printed, for what is printed is the same whatever was kept."""
    return {name: json.dumps(value) for name, value in held.items()}


@pytest.fixture
def watched(play: Play, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(play, monkeypatch)


def test_what_happens_to_tasks_and_evidence_is_followed(play: Play, watched: Watched) -> None:
    run = play.planned()
    first, other = play.proven("First"), play.task("Other")
    watched.look(run)
    task = play.task("Next", depends_on=[other], role="writer")
    assert watched.look(run)
    dispatch = play.dispatch(other)
    assert watched.look(run)
    play.do(dispatches.claim_dispatch, dispatch)
    assert watched.look(run)
    evidence = play.evidence(other)
    assert watched.look(run)
    play.complete(dispatch, evidence)
    assert watched.look(run)
    row = next(one for one in row_cache.base(play.ledger.view(), run)["tasks"] if one["id"] == task)
    assert row["ready"]  # what it waited for is done
    play.gate("final_acceptance", "passed")
    play.gate("quality_review", "passed", task=other)
    watched.look(run)
    play.do(tasks.reopen_task, other, reason="Again.")
    watched.look(run)
    fallen = {one["kind"]: one["fallen"] for one in row_cache.base(play.ledger.view(), run)["gates"]}
    assert fallen["final_acceptance"] == f"it had not seen that {other} is pending, which was completed before"
    assert fallen["quality_review"] == f"it had not seen that {other} was reopened"
    play.gate("final_acceptance", "requested")
    watched.look(run)
    play.do(evidences.retract, evidence, reason="It saw the wrong tree.")
    assert watched.look(run)
    row = next(one for one in row_cache.base(play.ledger.view(), run)["tasks"] if one["id"] == task)
    assert row["waits_on"] == [other]
    play.do(tasks.revise_task, first, body="Said better.")
    assert watched.look(run)
    play.gate("quality_review", "failed", task=task)
    assert watched.look(run)


def test_an_answer_counts_for_all_that_rests_on_it(play: Play, watched: Watched) -> None:
    run = play.planned()
    task = play.task()
    dispatch, about = play.claimed(task), play.evidence(task)
    approval = play.do(evidences.approve, about, summary="Looks right.")
    play.complete(dispatch, about, approval)
    watched.look(run)
    play.do(evidences.approve, about, prompt="Right?", response="no")
    assert watched.look(run)
    play.do(evidences.approve, task, prompt="Right?", response="yes")
    assert watched.look(run)


def test_an_answer_to_one_task_counts_for_a_gate_on_the_approval_of_all(play: Play, watched: Watched) -> None:
    run = play.planned()
    task = play.proven()
    play.gate("quality_review", "passed", evidence=[play.do(evidences.approve, run)])
    watched.look(run)
    play.do(evidences.approve, task, prompt="Right?", response="no")
    watched.look(run)
    assert "answered no" in (row_cache.base(play.ledger.view(), run)["gates"][0]["fallen"] or "")


def test_evidence_is_run_again(play: Play, watched: Watched) -> None:
    play.policy("  reproduce: {commands: [[git]]}\n")
    run = play.planned()
    task = play.task()
    dispatch = play.claimed(task)
    draft = evidences.witness(play.ledger, ["git", "diff", "--quiet"], kind="test", quiet=True)
    evidence = play.do(evidences.record_draft, draft, tasks=[task])
    play.complete(dispatch, evidence)
    watched.look(run)
    reproducing.record(play.ledger, play.ledger.change, reproducing.reproduce(play.ledger, ids=[evidence]))
    assert watched.look(run)
    row = next(one for one in row_cache.base(play.ledger.view(), run)["evidence"] if one["id"] == evidence)
    assert [one["result"] for one in row["reproductions"]] == ["reproduced"]


def denied(play: Play, about: str) -> None:
    play.do(evidences.approve, about, prompt="Right?", response="no")


@pytest.mark.parametrize(
    "deed",
    [
        lambda play, run, _: play.do(runs.pause_run, run),
        lambda play, run, _: play.do(plans.draft_plan, "Another", "Better.", run=run),
        lambda play, _, evidence: play.do(settling.redact_record, evidence, reason="A name in it."),
        lambda play, run, _: play.do(evidences.approve, run, summary="All of it."),
        lambda play, run, _: denied(play, str(play.do(evidences.add_evidence, "artifact", run=run, summary="All."))),
        lambda play, _, __: git(play.root, "reset", "-q", "--hard", "HEAD~2"),
    ],
    ids=["the run", "a plan", "a redaction", "an answer about the run", "a no to its evidence", "what was taken away"],
)
def test_what_bears_on_more_is_computed(
    play: Play, watched: Watched, deed: Callable[[Play, str, str], object]
) -> None:  # fmt: skip
    run = play.planned()
    task = play.proven()
    evidence = play.state(task).ids("evidence")[0]
    play.task("Another")
    watched.look(run)
    deed(play, run, evidence)
    assert not watched.look(run)


def test_what_merges_bring_is_in_its_place(play: Play, watched: Watched) -> None:
    run = play.planned()
    task = play.task()
    git(play.root, "checkout", "-q", "-b", "side")
    play.dispatch(task, "early")
    git(play.root, "checkout", "-q", "main")
    play.dispatch(play.task("Later than what is merged"))
    watched.look(run)
    git(play.root, "merge", "-q", "--no-edit", "side")
    assert not watched.look(run)  # an event from before others
    play.task("After it")
    assert watched.look(run)


def test_what_an_incomplete_event_waited_for_may_come(play: Play, watched: Watched) -> None:
    """Also where nobody is told of it any more, for it was voided; and dated after all that is known."""
    run = play.planned()
    task = play.task()
    dispatch, start = play.dispatch(task), git(play.root, "rev-parse", "HEAD")
    clock, play.ledger.clock = play.ledger.clock, lambda: time.time() + 60
    play.do(dispatches.claim_dispatch, dispatch)
    play.ledger.clock = clock
    claim = git(play.root, "rev-parse", "HEAD")
    play.complete(dispatch, play.evidence(task))
    completed, end = play.state(task).completions(task)[0].id, git(play.root, "rev-parse", "HEAD")
    git(play.root, "checkout", "-q", "-B", "main", start)
    git(play.root, "cherry-pick", f"{claim}..{end}")
    play.do(settling.void_event, completed, reason="What it rests on is lost.")
    watched.look(run)
    play.task("Another")
    watched.look(run)
    git(play.root, "cherry-pick", claim)
    assert not watched.look(run)


def test_much_that_changed_is_kept_anew(play: Play, watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    run = play.planned()
    play.proven()
    watched.look(run)
    first = cache.latest(play.ledger.git, run)
    play.task("One")
    assert watched.look(run)
    assert cache.latest(play.ledger.git, run) == first
    monkeypatch.setattr(row_cache, "WORTH_KEEPING", 1)
    play.dispatch(play.task("Two"))
    assert watched.look(run)
    assert cache.latest(play.ledger.git, run) != first
    play.task("Three")
    assert watched.look(run)


def test_more_new_events_than_are_worth_it_are_computed_anew(
    play: Play, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = play.planned()
    first = play.task()
    watched.look(run)
    monkeypatch.setattr(row_update, "MOST", 1)
    play.task("Waits", depends_on=[first])
    assert watched.look(run)
    play.dispatch(first)
    assert not watched.look(run)


@pytest.mark.parametrize("seed", range(3))
def test_any_story_comes_to_the_same(play: Play, watched: Watched, seed: int) -> None:
    chance = random.Random(seed)
    run = play.planned()
    known = [play.task("First")]
    seen: list[str] = []
    opened: list[str] = []
    renewed = 0
    for number in range(STEPS):
        deed: Callable[[int], object] = chance.choice(
            [
                lambda n: known.append(play.task(f"Task {n}", depends_on=chance.sample(known, min(len(known), 2)))),
                lambda _: known.append(play.task("Alone", role=chance.choice(["tester", "writer"]))),
                lambda _: opened.append(play.dispatch(chance.choice(known), chance.choice(["one", "other"]))),
                lambda _: play.do(dispatches.claim_dispatch, opened[-1]),
                lambda _: play.complete(opened[-1], seen[-1]),
                lambda _: seen.append(play.evidence(chance.choice(known), code=chance.choice([0, 0, 1]))),
                lambda _: play.complete(play.claimed(known[-1]), play.evidence(known[-1])),
                lambda _: play.do(dispatches.fail_dispatch, opened[-1], category="tests", reason="It broke."),
                lambda _: play.do(tasks.block_task, chance.choice(known), reason="Stuck."),
                lambda _: play.do(tasks.reopen_task, chance.choice(known), reason="Again."),
                lambda _: play.do(tasks.cancel_task, chance.choice(known), reason="No more."),
                lambda _: play.do(tasks.revise_task, chance.choice(known), body="In other words."),
                lambda _: play.do(evidences.retract, chance.choice(seen), reason="Wrong."),
                lambda _: play.do(evidences.supersede, chance.choice(seen), seen[-1], reason="Newer."),
                lambda _: seen.append(play.do(evidences.approve, chance.choice([*known, *seen]), summary="Good.")),
                lambda _: play.do(evidences.approve, chance.choice(known), prompt="Good?", response="no"),
                lambda _: play.do(verifying.verify_task, chance.choice(known)),
                lambda _: play.gate("quality_review", chance.choice(["passed", "failed"]), task=chance.choice(known)),
            ]
        )
        try:
            deed(number)
        except (MementoError, IndexError):
            continue
        time.sleep(0.002)  # events of two commands are never of one millisecond where people work
        renewed += watched.look(run)
    assert renewed > STEPS // 4
