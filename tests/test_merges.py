"""Two branches that both worked come together under plain `git merge`, and what they come to is the same either way."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import layout
from memento_git.ledger.store import Ledger
from memento_git.review import actions as review
from memento_git.verbs import doctor
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, exporting, plans, releases, runs, settling, tasks, verifying
from memento_git.work.routing import routes
from memento_git.work.row_cache import base
from tests.play import Play, git, merge_into

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.play import Call

    Step = Callable[[Play, str], None]


class Fork:
    """One ledger on two branches, each with its own actor."""

    def __init__(self, play: Play) -> None:
        self.root = play.root
        (self.root / ".memento" / ".gitattributes").unlink()
        play.commit_all("no attributes, so that nothing but plain git decides")
        git(self.root, "branch", "other")
        self.opened: list[Ledger] = []

    def on(self, branch: str, actor: str) -> Play:
        git(self.root, "switch", "-q", branch)
        self.opened.append(Ledger.open(self.root, actor=actor))
        return Play(self.opened[-1])

    def merged(self) -> Play:
        """Merge both ways and return the first; all of the three ways to see both sides are equal."""
        git(self.root, "switch", "-qc", "ab", "main")
        git(self.root, "merge", "-q", "--no-edit", "other")
        git(self.root, "switch", "-qc", "ba", "other")
        git(self.root, "merge", "-q", "--no-edit", "main")
        git(self.root, "switch", "-q", "ab")
        play = self.on("ab", "Cleo")
        seen = [shown(play, *at) for at in (("ab",), ("ba",), ("main", "other"), ("other", "main"))]
        assert seen[0] == seen[1] == seen[2] == seen[3]
        return play


def shown(play: Play, *at: str) -> list[dict[str, Any]]:
    """Return all that a view tells, but for the clock and what a union says of its files."""
    view = play.ledger.view(at)
    held: list[dict[str, Any]] = [{**base(view, run)} for run in view.runs()]
    for one in held:
        one["findings"] = [finding for finding in one["findings"] if finding[0] != "F006"]
        for row in one["dispatches"]:
            row["expired"] = None
    return held


@pytest.fixture
def fork(play: Play) -> Iterator[Callable[[], Fork]]:
    made: list[Fork] = []

    def make() -> Fork:
        made.append(Fork(play))
        return made[-1]

    yield make
    for one in made:
        for ledger in one.opened:
            ledger.close()


def troubles(play: Play, run: str) -> set[str]:
    return {row["problem"] for row in base(play.ledger.view(), run)["trouble"]}


def test_work_on_different_tasks_merges_without_a_conflict(play: Play, run: str, fork: Callable[[], Fork]) -> None:
    one, two = play.task("One"), play.task("Two")
    both = fork()
    for branch, actor, task in (("main", "Ada", one), ("other", "Bob", two)):
        side = both.on(branch, actor)
        side.complete(side.claimed(task), side.evidence(task))
    merged = both.merged()
    assert merged.is_proven(one)
    assert merged.is_proven(two)
    assert not troubles(merged, run)


def test_two_completions_of_one_dispatch_agree(play: Play, run: str, fork: Callable[[], Fork]) -> None:
    task = play.task()
    claim = play.claimed(task)
    both = fork()
    for branch in ("main", "other"):
        side = both.on(branch, play.ledger.actor)
        side.complete(claim, side.evidence(task))
    merged = both.merged()
    assert merged.status(task) == "completed"
    assert merged.is_proven(task)
    assert not troubles(merged, run)


@pytest.mark.parametrize("same", [True, False])
def test_approvals_agree_on_one_plan_and_contest_on_two(play: Play, fork: Callable[[], Fork], same: bool) -> None:
    run = play.run()
    one, two = (play.do(plans.draft_plan, title, "Do it.", run=run) for title in ("One", "Two"))
    both = fork()
    both.on("main", "Ada").do(plans.approve_plan, one)
    both.on("other", "Bob").do(plans.approve_plan, one if same else two)
    merged = both.merged()
    assert merged.status(one) == ("canonical" if same else "contested")
    assert troubles(merged, run) == (set() if same else {"contested"})


def test_of_two_approved_plans_each_choice_names_its_plan(play: Play, fork: Callable[[], Fork], cli: Call) -> None:
    run = play.run()
    one, two = (play.do(plans.draft_plan, title, "Do it.", run=run) for title in ("The first", "The second"))
    both = fork()
    both.on("main", "Ada").do(plans.approve_plan, one)
    both.on("other", "Bob").do(plans.approve_plan, two)
    merged = both.merged()
    where = ("-C", str(merged.root))

    (row,) = json.loads(cli("settle", *where, "--json")[1])["trouble"]
    assert {(event["about"], event["title"]) for event in row["events"]} == {(one, "The first"), (two, "The second")}
    lines = [line for line in cli("settle", *where)[1].splitlines() if "--keep" in line]
    for title, who, plan in (("The first", "Ada", one), ("The second", "Bob", two)):
        assert any(f' "{title}" by {who}' in line and plan[:8] in line for line in lines)
    (found,) = [line for line in cli("check", *where)[1].splitlines() if ": T001 " in line]
    assert f"approved {one} by Ada" in found
    assert f"approved {two} by Bob" in found


def test_work_on_a_contested_plan_is_not_to_be_undone(play: Play, run: str, fork: Callable[[], Fork]) -> None:
    task = play.proven()
    both = fork()
    for branch, actor in (("main", "Ada"), ("other", "Bob")):
        side = both.on(branch, actor)
        side.do(plans.approve_plan, side.do(plans.draft_plan, actor, "Do it.", run=run))
        side.gate("plan_review", "passed")
    merged = both.merged()
    state = merged.state(run)
    with pytest.raises(no.TaskUnproven, match="it is contested which plan holds") as refused:
        merged.do(runs.complete_run, run)
    assert refused.value.hint.endswith(": memento settle")
    step = routes.next_of(state, task)
    assert (step["why"], step["command"]) == ("the task is completed, but not proven", "memento settle")
    assert [row["fallen"] for row in base(state.view, run)["gates"]] == ["it is contested which plan holds"]


@pytest.mark.parametrize("before", [True, False])
def test_nothing_rests_on_a_plan_that_was_approved_and_rejected_at_once(
    play: Play, fork: Callable[[], Fork], cli: Call, before: bool
) -> None:
    """The rejection was of a draft, or of one that waits to take the place of another: it wrote that plan alone."""
    run = play.planned() if before else play.run()
    first = play.state(run).canonical
    plan, task = play.do(plans.draft_plan, "The other way", "Do it.", run=run), play.task()
    play.task("Another")
    both = fork()
    side = both.on("main", "Ada")
    side.do(plans.approve_plan, plan)
    side.gate("plan_review", "passed")
    side.complete(side.claimed(task), side.evidence(task))
    both.on("other", "Bob").do(plans.reject_plan, plan, reason="the wrong way")
    merged = both.merged()
    held = merged.overview(run)
    told = {row["title"]: row for row in held["tasks"]}
    assert told["A task"]["unproven_because"] == ["it is contested which plan holds, so what is asked is not agreed"]
    back = told["Another"]["held_back"]
    assert back is not None
    assert back["error"] == "record_contested"
    assert [row["fallen"] for row in held["gates"]] == ["it is contested which plan holds"]
    assert {row["record"] for row in held["trouble"]} == {plan}
    assert merged.steps(run) == ["memento settle", "memento settle"]
    with pytest.raises(no.RecordContested):
        merged.dispatch(told["Another"]["id"])
    with pytest.raises(no.RecordContested):
        merged.do(verifying.verify_task, task)
    code, out, _ = cli("plan", "show", "-C", str(merged.root), "--json")
    assert (code, json.loads(out)["error"]) == (1, "record_contested")

    approved, rejected = (
        next(seen.event.id for seen in merged.state(run).folded(f"plans:{run}").events if seen.event.of == plan and
             seen.event.do == do) for do in ("approved", "rejected")
    )  # fmt: skip
    git(merged.root, "branch", "-q", "rejected")
    merged.do(settling.settle_record, plan, approved, reason="agreed")
    assert merged.state(run).canonical == plan
    assert merged.is_proven(task)
    there = both.on("rejected", "Bob")
    there.do(settling.settle_record, plan, rejected, reason="agreed")
    assert there.state(run).canonical == first
    assert there.status(plan) == "rejected"


MORE = {"task": "\nAnd more.\n", "plan": "\nAnd more.\n", "policy": "version: 1\npolicy: {require: [lint]}\n"}
ELSE = {"task": "\nOr else.\n", "plan": "\nOr else.\n", "policy": "version: 1\npolicy: {require: []}\n"}


@pytest.mark.parametrize("record", MORE)
@pytest.mark.parametrize("by_both", [False, True])
def test_what_revisions_have_otherwise_proves_nothing_whichever_is_named_first(
    play: Play, fork: Callable[[], Fork], cli: Call, record: str, by_both: bool
) -> None:
    """What one of them alone has changed is shown as their merge has it, and nobody knows what comes of both."""
    run, task = play.planned(), play.task()
    state = play.state(run)
    path = play.root / {"task": state.index.prose[task], "plan": state.index.prose[state.canonical]}.get(
        record, layout.CONFIG
    )
    before = "" if record == "policy" else path.read_text()
    both = fork()
    for branch, words in {"other": MORE, "main": ELSE if by_both else {}}.items():
        side = both.on(branch, play.ledger.actor)
        if words:
            side.commit(path, before + words[record], "other words")
    if by_both and record == "plan":
        side.do(plans.approve_plan, state.canonical)
    side.complete(side.claimed(task), side.evidence(task))
    is_open = by_both and record == "policy"  # the first says what is asked then, and that is told
    told = []
    for at in (("main", "other"), ("other", "main")):
        (row,) = base(both.on("main", "Cleo").ledger.view(at), run)["tasks"]
        told.append(row["unproven_because"])
        assert row["proven"] == (is_open and at[0] == "main")
        out = "".join(cli("task", "list", "--at", at[0], "--at", at[1], "-C", str(both.root))[1:])
        assert ("each of these revisions has changed the policy" in out) == is_open
    assert is_open or told[0] == told[1]
    if not by_both:
        assert told[0] == base(both.merged().ledger.view(), run)["tasks"][0]["unproven_because"]


def test_a_revision_that_another_one_holds_has_no_words_of_its_own(
    play: Play, run: str, fork: Callable[[], Fork]
) -> None:
    task = play.task()
    path = play.root / play.state(task).index.prose[task]
    both = fork()
    main = both.on("main", "Ada")
    for words, branch in (("First.", "early"), ("Second.", "late")):
        main.commit(path, f"{path.read_text()}\n{words}\n", words)
        git(main.root, "branch", branch)
    for at in itertools.permutations(("early", "late", "other")):
        view = main.ledger.view(at)
        assert "Second." in (view.read(str(path.relative_to(play.root))) or b"").decode()
        assert not view.table.disputed


def test_a_verdict_that_fell_is_told_with_its_own_note(play: Play, run: str, fork: Callable[[], Fork]) -> None:
    """The completion had seen the first review, of another plan; the second came by the merge."""
    play.proven()
    play.gate("plan_review", "passed", note="the first")
    both = fork()
    both.on("main", "Ada").do(runs.complete_run, run)
    side = both.on("other", "Bob")
    plan = side.do(plans.draft_plan, "Another", "Do it.", run=run)
    side.do(plans.approve_plan, plan)
    side.gate("plan_review", "passed", note="the second")
    (row,) = base(both.merged().ledger.view(), run)["gates"]
    assert (row["fallen"], row["summary"]) == (f"it had not seen that {plan} was approved", "the first")


@pytest.mark.parametrize("is_changed", [True, False])
def test_work_on_a_plan_that_is_not_approved_any_more_is_not_to_be_undone(
    play: Play, run: str, is_changed: bool
) -> None:
    play.proven()
    plan = play.state(run).canonical
    if is_changed:
        path = play.root / play.state(run).index.prose[plan]
        play.commit(path, path.read_text() + "\nAnd more.\n")
    else:
        play.do(plans.reject_plan, plan, reason="of another service")
    with pytest.raises(no.TaskUnproven) as refused:
        play.do(runs.complete_run, run)
    assert refused.value.hint.endswith(f": memento plan approve {plan if is_changed else 'PLAN'}")


def test_claims_of_two_actors_are_contested_and_settled_for_both(
    play: Play, run: str, fork: Callable[[], Fork]
) -> None:
    task = play.task()
    dispatch = play.dispatch(task)
    both = fork()
    both.on("main", "Ada").do(dispatches.claim_dispatch, dispatch)
    git(both.root, "update-ref", "-d", f"refs/memento/claims/{task}")
    both.on("other", "Bob").do(dispatches.claim_dispatch, dispatch)
    merged = both.merged()
    assert merged.status(task) == "contested"
    assert troubles(merged, run) == {"contested"}
    heads = merged.state(task).folded(task).heads
    bob = next(name for name in heads if (event := merged.state(task).event(name)) and event.by == "Bob")
    merged.do(settling.settle_record, task, bob, reason="Bob was first")
    state = merged.state(task)
    assert state.dispatch(dispatch).holder == "Bob"
    settled = state.event(state.folded(task).heads[0])
    assert settled is not None
    assert {ref.id for ref in settled.after} >= set(heads)


def test_concurrent_verdicts_of_a_gate_count_as_the_worst(play: Play, run: str, fork: Callable[[], Fork]) -> None:
    both = fork()
    both.on("main", "Ada").gate("quality_review", "passed", run=run)
    both.on("other", "Bob").gate("quality_review", "failed", run=run)
    merged = both.merged()
    assert merged.state(run).failed_gates(run) == [(run, "quality_review")]
    assert not troubles(merged, run)


def test_work_beside_a_cancel_stays_and_is_shown_as_in_a_cancelled_run(
    play: Play, run: str, fork: Callable[[], Fork]
) -> None:
    task = play.task()
    both = fork()
    both.on("main", "Ada").do(runs.cancel_run, run, reason="enough")
    side = both.on("other", "Bob")
    side.complete(side.claimed(task), side.evidence(task))
    merged = both.merged()
    row = base(merged.ledger.view(), run)["tasks"][0]
    assert (row["status"], row["run_status"], row["proven"]) == ("completed", "cancelled", True)
    assert not troubles(merged, run)


@pytest.mark.parametrize("what", ["added", "changed"])
def test_what_comes_to_a_completed_run_is_late(play: Play, run: str, fork: Callable[[], Fork], what: str) -> None:
    task = play.proven()
    both = fork()
    both.on("main", "Ada").do(runs.complete_run, run)
    side = both.on("other", "Bob")
    late = task
    if what == "added":
        late = side.task("Another", run=run)
    else:
        side.do(tasks.reopen_task, task, reason="not yet")
    merged = both.merged()
    rows = {row["id"]: row["late"] for row in base(merged.ledger.view(), run)["tasks"]}
    assert rows[late] is True
    assert sum(rows.values()) == 1


def test_a_run_that_was_completed_on_both_sides_is_completed_and_nothing_is_late(
    play: Play, run: str, fork: Callable[[], Fork]
) -> None:
    task = play.proven()
    both = fork()
    for branch, actor in (("main", "Ada"), ("other", "Bob")):
        both.on(branch, actor).do(runs.complete_run, run)
    merged = both.merged()
    assert merged.status(run) == "completed"
    assert not merged.state(run).is_late(task)


def release(play: Play, run: str) -> None:
    play.do(releases.release_run, run=run)


def review_of(play: Play, run: str) -> None:
    play.gate("quality_review", "passed", run=run)


def complete(play: Play, run: str) -> None:
    play.do(runs.complete_run, run)


@pytest.mark.parametrize(
    ("before", "one", "other"),
    [
        ([], [release, complete], [release, complete]),
        ([release], [complete], [complete]),
        ([], [release, complete], [release]),
        ([release], [complete], [review_of]),
    ],
)
@pytest.mark.parametrize("first", ["main", "other"])
def test_a_run_that_was_released_on_each_side_that_completed_it_stays_so(
    play: Play, run: str, fork: Callable[[], Fork], before: list[Step], one: list[Step], other: list[Step], first: str
) -> None:
    play.proven()
    for step in before:
        step(play, run)
    both = fork()
    for branch, actor, steps in (("main", "Ada", one), ("other", "Bob", other)):
        side = both.on(branch, actor)
        for step in steps:
            step(side, run)
    merge_into(both.root, first, "other" if first == "main" else "main")
    assert exporting.run_statement(play.ledger.view(), run)
    late = {row["kind"] for row in base(play.ledger.view(), run)["gates"] if row["late"]}
    assert late == ({"quality_review"} if review_of in other else set())
    assert {one.code for one in review.check(play.ledger, base="HEAD^1").findings} <= {"C001", "C002"}


def test_paused_against_resumed_is_contested(play: Play, run: str, fork: Callable[[], Fork]) -> None:
    both = fork()
    both.on("main", "Ada").do(runs.pause_run, run)
    side = both.on("other", "Bob")
    side.do(runs.pause_run, run)
    side.do(runs.resume_run, run)
    assert troubles(both.merged(), run) == {"contested"}


def test_settling_differently_on_both_sides_is_contested_again(play: Play, fork: Callable[[], Fork]) -> None:
    run = play.run()
    one, two = (play.do(plans.draft_plan, title, "Do it.", run=run) for title in ("One", "Two"))
    both = fork()
    both.on("main", "Ada").do(plans.approve_plan, one)
    side = both.on("other", "Bob")
    side.do(plans.approve_plan, two)
    git(both.root, "merge", "-q", "--no-edit", "main")
    git(both.root, "switch", "-q", "main")
    git(both.root, "merge", "-q", "other")
    heads = side.state(run).folded(f"plans:{run}").heads
    for branch, plan, keep in (("main", one, heads[0]), ("other", two, heads[1])):
        both.on(branch, "Ada").do(settling.settle_record, plan, keep, reason="mine")
    merged = both.merged()
    assert merged.status(one) == "contested"
    keep = merged.state(run).folded(f"plans:{run}").heads[0]
    merged.do(settling.settle_record, one, keep, reason="agreed")
    assert not troubles(merged, run)


def test_criss_cross_merges_come_to_the_same(play: Play, run: str, fork: Callable[[], Fork]) -> None:
    one, two = play.task("One"), play.task("Two")
    both = fork()
    main, other = both.on("main", "Ada"), both.on("other", "Bob")
    other.dispatch(two)
    both.on("main", "Ada")
    main.dispatch(one)
    git(both.root, "branch", "was", "main")
    git(both.root, "merge", "-q", "--no-edit", "other")
    both.on("other", "Bob")
    git(both.root, "merge", "-q", "--no-edit", "was")
    other.do(tasks.block_task, one, reason="stuck")
    both.on("main", "Ada")
    main.do(tasks.block_task, two, reason="stuck")
    merged = both.merged()
    assert (merged.status(one), merged.status(two)) == ("blocked", "blocked")
    assert not troubles(merged, run)


def lone_pick(play: Play) -> tuple[str, str, str]:
    """Bring only the last of a task's events onto a branch that has not seen the others."""
    run = play.planned()
    task = play.task()
    git(play.root, "branch", "other")
    claim = play.claimed(task)
    evidence = play.evidence(task)
    play.complete(claim, evidence)
    last = git(play.root, "rev-parse", "main")
    git(play.root, "switch", "-q", "other")
    git(play.root, "cherry-pick", last)
    return run, task, last


def test_an_event_picked_alone_is_not_folded_and_proves_nothing_until_the_rest_is_there(play: Play) -> None:
    run, task, _ = lone_pick(play)
    assert play.status(task) == "pending"
    assert not play.is_proven(task)
    assert troubles(play, run) == {"incomplete"}
    assert any("incomplete" in answer.message for answer in doctor.examine(play.ledger))
    git(play.root, "merge", "-q", "--no-edit", "main")
    assert play.is_proven(task)
    assert not troubles(play, run)


def test_one_remedy_restores_all_that_the_past_of_an_event_picked_alone_lacks(play: Play) -> None:
    run, _, _ = lone_pick(play)
    (told,) = [
        one.fix for one in doctor.examine(play.ledger) if one.name == f"run {run}" and "incomplete" in one.message
    ]
    commands = re.findall(r"git checkout [0-9a-f]+ -- [^;]+", told)
    assert [command.count("/tasks/") for command in commands] == [2]
    for command in commands:
        git(play.root, *command.split()[1:])
    play.commit_all("restored")
    assert not [one for one in doctor.examine(play.ledger) if "incomplete" in one.message]


def test_an_event_picked_alone_can_be_voided_and_the_task_goes_on(play: Play) -> None:
    run, task, _ = lone_pick(play)
    lone = play.state(task).folded(task).dangling[0].event.id
    play.do(settling.void_event, lone, reason="picked by mistake")
    assert not troubles(play, run)
    play.complete(play.claimed(task), play.evidence(task))
    assert play.is_proven(task)


def test_a_voided_event_that_was_picked_alone_stays_void_when_the_rest_is_merged(play: Play) -> None:
    run, task, _ = lone_pick(play)
    lone = play.state(task).folded(task).dangling[0].event.id
    play.do(settling.void_event, lone, reason="picked by mistake")
    git(play.root, "merge", "-q", "--no-edit", "main")
    assert play.status(task) == "in_progress"
    assert not play.is_proven(task)
    assert not troubles(play, run)
    play.do(tasks.block_task, task, reason="the next event rests on both")
    assert play.status(task) == "blocked"
    assert not troubles(play, run)


def test_halves_of_a_circle_of_dependencies_are_named_after_the_merge(
    play: Play, run: str, fork: Callable[[], Fork]
) -> None:
    one, two = sorted((play.task("One", run=run), play.task("Two", run=run)))
    last = play.task("Last", run=run, depends_on=[one])
    both = fork()
    both.on("other", "Bob").do(tasks.revise_task, one, depends_on=[two])
    both.on("main", "Ada").do(tasks.revise_task, two, depends_on=[one])
    git(both.root, "merge", "-q", "--no-edit", "other")
    merged = both.on("main", "Cleo")
    rows = base(merged.ledger.view(), run)["trouble"]
    assert [(row["record"], row["problem"]) for row in rows] == [(one, "cycle")]
    assert f"{one} -> {two} -> {one};" in rows[0]["about"]
    assert last not in rows[0]["about"]
    assert any("is in a cycle" in answer.message for answer in doctor.examine(merged.ledger))
    merged.do(tasks.cancel_task, one, reason="x")
    assert not troubles(merged, run)


@pytest.mark.parametrize("record", ["run", "plan"])
def test_an_incomplete_run_hands_nothing_out(play: Play, run: str, record: str) -> None:
    task = play.task()
    assert play.state(task).is_ready(task)
    if record == "run":
        play.do(runs.pause_run, run)
        path = next(play.root.glob(".memento/runs/*/*-paused-*.yaml"))
    else:
        play.do(plans.reject_plan, play.do(plans.draft_plan, "B", "x", run=run), reason="no")
        path = next(play.root.glob(".memento/runs/**/*-rejected-*.yaml"))
    play.commit(path, "unreadable: [\n", "damaged")
    assert not play.state(task).is_ready(task)


@pytest.mark.parametrize("how", ["squash", "rebase"])
def test_history_may_be_rewritten_and_the_ledger_stays(play: Play, run: str, how: str) -> None:
    git(play.root, "switch", "-qc", "work")
    task = play.proven()
    git(play.root, "switch", "-q", "main")
    play.commit("notes.txt", "x\n", "beside")
    if how == "squash":
        git(play.root, "merge", "-q", "--squash", "work")
        git(play.root, "commit", "-qm", "squashed")
    else:
        git(play.root, "switch", "-q", "work")
        git(play.root, "rebase", "-q", "main")
    assert play.is_proven(task)
    assert not troubles(play, run)


def path_of(play: Play, task: str, verb: str) -> Path:
    return next(play.root.glob(f".memento/runs/*/tasks/*/{task}/*-{verb}-*.yaml"))


def test_reverting_an_event_in_the_middle_leaves_the_record_incomplete_until_it_is_restored(
    play: Play, run: str
) -> None:
    task = play.task()
    dispatch = play.dispatch(task)
    play.do(dispatches.claim_dispatch, dispatch)
    middle = git(play.root, "rev-parse", "HEAD")
    path = path_of(play, task, "claimed").relative_to(play.root)
    play.complete(dispatch, play.evidence(task))
    git(play.root, "revert", "--no-edit", middle)
    assert troubles(play, run) == {"incomplete"}
    assert not play.is_proven(task)
    named = [answer for answer in doctor.examine(play.ledger) if answer.status == "fail"]
    assert any(task in answer.message and "incomplete" in answer.message for answer in named)
    git(play.root, "checkout", middle, "--", str(path))
    git(play.root, "commit", "-qm", "restored")
    assert play.is_proven(task)


def test_reverting_the_last_event_leaves_the_state_before_it(play: Play, run: str) -> None:
    task = play.proven()
    git(play.root, "revert", "--no-edit", "HEAD")
    assert play.status(task) == "in_progress"
    assert not troubles(play, run)


def test_merging_a_deletion_takes_the_event_and_what_rests_on_it(
    play: Play, run: str, fork: Callable[[], Fork]
) -> None:
    task = play.proven()
    both = fork()
    other = both.on("other", "Bob")
    git(both.root, "rm", "-q", str(path_of(other, task, "claimed")))
    other.commit_all("removed by hand")
    main = both.on("main", "Ada")
    main.task("Beside", run=run)
    git(both.root, "merge", "-q", "--no-edit", "other")
    assert not main.is_proven(task)
    assert troubles(main, run) == {"incomplete"}


def test_a_run_that_was_released_on_a_release_branch_comes_back_to_other_code(play: Play) -> None:
    """Its gate has seen the code that it ended on; what the other branch has beside that was judged there."""
    task = play.task(run=play.planned())
    git(play.root, "switch", "-qc", "release/1.x")
    claim, shown = play.claimed(task), play.evidence(task)
    play.complete(claim, shown)
    run = play.state(task).id
    play.gate("release", "passed", run=run, evidence=[shown])
    play.do(runs.complete_run, run)
    git(play.root, "switch", "-q", "main")
    play.commit("more.py", "more\n")
    git(play.root, "merge", "-q", "--no-ff", "-m", "1.x", "release/1.x")
    told = {(one.code, one.severity) for one in review.check(play.ledger, base="HEAD^1").findings}
    assert told == {("C001", "warning")}
    assert review.check(play.ledger, base="HEAD^@").findings == []
    assert review.check(play.ledger, no_base=True).findings == []


def test_in_a_shallow_clone_a_waiting_task_is_of_who_brought_it(play: Play, tmp_path: Path, cli: Call) -> None:
    play.run()
    own = play.task("Count the words")
    other = play.as_("Bob <bob@example.invalid>").task("Count the letters")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "later", "--author", "Zoe <zoe@example.invalid>")
    git(play.root, "switch", "-q", "-c", "topic")
    for task in (own, other):
        play.as_("Ada").do(tasks.revise_task, task, title="Count")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=3", "-b", "topic", play.root.as_uri(), str(shallow))
    out = cli("check", "--base", "HEAD~2", "-C", str(shallow), "--json")[1]
    assert [row["message"] for row in json.loads(out)["findings"]] == [f"{other} was pending when its title changed"]
