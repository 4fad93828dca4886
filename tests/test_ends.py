"""Whether a run may end is one answer: status, the end itself, the release, its export and check say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.errors import MementoError
from memento_git.folding.fold import group_of, plans_of
from memento_git.ledger import layout
from memento_git.review import actions
from memento_git.work.actions import dispatches, evidences, exporting, plans, releases, runs, settling, tasks, verifying
from memento_git.work.run_writer import RunWriter
from tests.play import Play, git
from tests.test_signatures import Office

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memento_git.ledger.transaction import Transaction

GATE = "quality_review"
LOST = f"after: [event_000000000001@{'0' * 32}]\n"
GRACE = f"  gates: {{verdicts: {{{GATE}: [Grace]}}}}\n"


class Undone(Exception):
    """What ends a transaction that is to leave nothing."""


# What each surface has against the end of a run; nothing where it has nothing.


def refusal(act: Callable[[], object]) -> str:
    try:
        act()
    except Undone:
        return ""
    except MementoError as error:
        return f"{error.token}: {error.message}"
    return ""


def of_end(play: Play, run: str) -> str:
    def act(tx: Transaction) -> None:
        runs.complete_run(tx, run)
        raise Undone

    return refusal(lambda: play.ledger.change("run complete", act))


def of_release(play: Play, run: str) -> str:
    return "; ".join(releases.examine_run(play.ledger, play.ledger.view(), run=run).verdict.missing)


def of_export(play: Play, run: str) -> str:
    return refusal(lambda: exporting.run_statement(play.ledger.view(), run))


def of_check(play: Play, run: str) -> str:
    """Return what check has against an end that is written by hand, and take that back."""
    base = git(play.root, "rev-parse", "HEAD")

    def act(tx: Transaction) -> None:
        writer = RunWriter.of(tx)
        state = writer.run(run)
        writer.append(state, run, "completed", reads=(*state.tasks(), plans_of(run)))

    if why := refusal(lambda: play.ledger.change("run complete", act)):
        return why
    found = actions.check(play.ledger, base=base).findings
    git(play.root, "reset", "-q", "--hard", base)
    return "; ".join(one.message for one in found if one.severity == "error")


def is_offered(play: Play, run: str) -> bool:
    return f"memento run complete {run}" in play.steps(run)


# States of a run that has a canonical plan and one proven task, each with what hinders the end, or nothing.

STATES: dict[str, tuple[Callable[[Play, str, str], object], str]] = {}


def told(why: str = "") -> Callable[[Callable[[Play, str, str], object]], None]:
    """Name a state, and say what hinders the end of a run in it."""

    def keep(act: Callable[[Play, str, str], object]) -> None:
        STATES[act.__name__.strip("_")] = act, why

    return keep


def path_of(play: Play, record: str) -> Path:
    index = play.state(record).index
    return play.root / {**index.prose, **index.evidence}[record]


def edit(play: Play, record: str, old: str, new: str) -> None:
    path = path_of(play, record)
    assert old in path.read_text()
    play.commit(path, path.read_text().replace(old, new), "by hand")


def forge(play: Play, run: str, record: str, do: str, text: str = LOST) -> None:
    """Write an event by hand that names what is not there."""
    path = play.root / layout.folder_of(run, record) / f"20260101T000000000Z-{do}-000000000009.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"do: {do}\nof: {record}\nat: 2026-01-01T00:00:00.000Z\nby: Eve\nreason: x\n{text}")
    play.commit_all("by hand")


def proof_of(play: Play, task: str) -> str:
    return play.state(task).proof(task).by[0]


def repair(play: Play, task: str) -> str:
    play.gate(GATE, "failed", task=task)
    play.do(verifying.verify_task, task)
    return str(play.do(verifying.repair_task, task))


def apart(play: Play, one: Callable[[], object], two: Callable[[], object]) -> None:
    """Do one thing on a branch and another on a second one, and merge them."""
    git(play.root, "branch", "other")
    one()
    git(play.root, "switch", "-q", "other")
    two()
    git(play.root, "merge", "-q", "--no-edit", "main")
    git(play.root, "switch", "-qC", "main")


@told()
def as_it_is(play: Play, run: str, task: str) -> None: ...


@told("is pending")
def open_(play: Play, run: str, task: str) -> None:
    play.task("Two")


@told("is in progress")
def in_progress(play: Play, run: str, task: str) -> None:
    play.claimed(play.task("Two"))


@told("is rejected")
def rejected(play: Play, run: str, task: str) -> None:
    play.gate(GATE, "failed", task=task)
    play.do(verifying.verify_task, task)


@told("contested")
def task_contested(play: Play, run: str, task: str) -> None:
    two = play.task("Two")
    apart(play, lambda: play.do(tasks.block_task, two, reason="x"), lambda: play.do(tasks.cancel_task, two, reason="x"))


@told()
def one_cancelled(play: Play, run: str, task: str) -> None:
    play.do(tasks.cancel_task, play.task("Two"), reason="x")


@told("no task of it is completed")
def all_cancelled(play: Play, run: str, task: str) -> None:
    play.do(tasks.reopen_task, task, reason="x")
    play.do(tasks.cancel_task, task, reason="x")


@told("which is cancelled")
def needs_what_is_cancelled(play: Play, run: str, task: str) -> None:
    two = play.task("Two", depends_on=[task])
    play.complete(play.claimed(two), play.evidence(two))
    play.do(tasks.reopen_task, task, reason="x")
    play.do(tasks.cancel_task, task, reason="x")


@told("not proven")
def retracted(play: Play, run: str, task: str) -> None:
    play.do(evidences.retract, proof_of(play, task), reason="x")


@told("not proven")
def redacted(play: Play, run: str, task: str) -> None:
    play.do(settling.redact_record, proof_of(play, task), reason="x")


@told("not proven")
def words_changed(play: Play, run: str, task: str) -> None:
    play.do(tasks.revise_task, task, criteria=["More."])


@told("not proven")
def policy_stricter(play: Play, run: str, task: str) -> None:
    play.policy("  require: [lint]\n")


@told("not proven")
def plan_edited(play: Play, run: str, task: str) -> None:
    edit(play, play.state(run).canonical, "Do it", "Do not")


@told("not proven")
def plan_rejected(play: Play, run: str, task: str) -> None:
    play.do(plans.reject_plan, play.state(run).canonical, reason="x")


@told("not proven")
def plan_contested(play: Play, run: str, task: str) -> None:
    two, three = (play.do(plans.draft_plan, f"Plan {one}", "Otherwise.", run=run) for one in "23")
    apart(play, lambda: play.do(plans.approve_plan, two), lambda: play.do(plans.approve_plan, three))


@told("policy names Grace")
def plan_unapproved(play: Play, run: str, task: str) -> None:
    play.policy("  plan: {approvers: [Grace]}\n")


@told("without the signature it needs")
def plan_unsigned(play: Play, run: str, task: str) -> None:
    Office(play, play.root.parent)


@told("without the signature it needs")
def waiver_unsigned(play: Play, run: str, task: str) -> None:
    play.gate(GATE, "waived", reason="x")
    key = str(Office(play, play.root.parent).ada)
    play.do(plans.approve_plan, play.state(run).canonical, key=key)


@told("contested")
def run_contested(play: Play, run: str, task: str) -> None:
    def halted() -> None:
        play.do(runs.pause_run, run)
        play.do(runs.resume_run, run)

    apart(play, halted, lambda: play.do(runs.pause_run, run))


@told("is paused")
def paused(play: Play, run: str, task: str) -> None:
    play.do(runs.pause_run, run)


@told("is absent")
def run_incomplete(play: Play, run: str, task: str) -> None:
    forge(play, run, run, "paused")


@told("is absent")
def task_incomplete(play: Play, run: str, task: str) -> None:
    forge(play, run, task, "blocked")


@told("is absent")
def cancelled_task_incomplete(play: Play, run: str, task: str) -> None:
    two = play.task("Two")
    play.do(tasks.cancel_task, two, reason="x")
    forge(play, run, two, "blocked")


@told("not proven")
def task_gone(play: Play, run: str, task: str) -> None:
    path_of(play, task).unlink()
    play.commit_all("gone")


@told("F001")
def cancelled_task_broken(play: Play, run: str, task: str) -> None:
    two = play.task("Two")
    play.do(tasks.cancel_task, two, reason="x")
    edit(play, two, "title: ", "title: [")


@told("F001")
def draft_broken(play: Play, run: str, task: str) -> None:
    edit(play, play.do(plans.draft_plan, "Draft", "Otherwise.", run=run), "title: ", "title: [")


@told("F001")
def run_broken(play: Play, run: str, task: str) -> None:
    edit(play, run, "goal: ", "goal: [")


@told("is missing")
def run_gone(play: Play, run: str, task: str) -> None:
    path_of(play, run).unlink()
    play.commit_all("gone")


@told("is missing")
def rejected_plan_gone(play: Play, run: str, task: str) -> None:
    plan = play.do(plans.draft_plan, "Draft", "Otherwise.", run=run)
    play.do(plans.reject_plan, plan, reason="x")
    path_of(play, plan).unlink()
    play.commit_all("gone")


@told("F001")
def a_no_broken(play: Play, run: str, task: str) -> None:
    play.do(evidences.approve, run, response="No.")
    edit(play, play.state(run).ids("evidence")[-1], "kind: ", "kind: [")


@told("not proven")
def proof_broken(play: Play, run: str, task: str) -> None:
    edit(play, proof_of(play, task), "kind: ", "kind: [")


@told()
def an_illegal_event(play: Play, run: str, task: str) -> None:
    forge(play, run, run, "resumed", "after: []\n")


@told()
def stale(play: Play, run: str, task: str) -> None:
    play.commit("app.py", "answer = 43\n", "code")


@told(GATE)
def gate_pending(play: Play, run: str, task: str) -> None:
    play.policy(f"  gates: {{required: [{GATE}]}}\n")
    play.gate(GATE, "requested")


@told()
def gate_waived(play: Play, run: str, task: str) -> None:
    play.policy(f"  gates: {{required: [{GATE}]}}\n")
    play.gate(GATE, "waived", reason="x")


@told("has failed")
def gate_failed(play: Play, run: str, task: str) -> None:
    play.gate(GATE, "failed")


@told("has failed")
def gate_of_a_task_failed(play: Play, run: str, task: str) -> None:
    play.gate(GATE, "failed", task=task)


@told()
def gate_of_a_cancelled_task_failed(play: Play, run: str, task: str) -> None:
    two = play.task("Two")
    play.gate(GATE, "failed", task=two)
    play.do(tasks.cancel_task, two, reason="x")


@told("repairs, has failed")
def gate_failed_that_grace_alone_passes(play: Play, run: str, task: str) -> None:
    two = repair(play, task)
    play.complete(play.claimed(two), play.evidence(two))
    play.policy(GRACE)


@told()
def gate_fell(play: Play, run: str, task: str) -> None:
    play.gate("final_acceptance", "passed")
    play.proven("Two")


@told("it had not seen")
def gate_fell_that_is_required(play: Play, run: str, task: str) -> None:
    play.policy("  gates: {required: [final_acceptance]}\n")
    play.gate("final_acceptance", "passed")
    play.proven("Two")


@told("policy names Grace")
def gate_by_somebody_else(play: Play, run: str, task: str) -> None:
    play.gate(GATE, "passed")
    play.policy(GRACE)


@told("is retracted")
def gate_rests_on_nothing(play: Play, run: str, task: str) -> None:
    shown = play.evidence(kind="lint")
    play.gate(GATE, "passed", evidence=[shown])
    play.do(evidences.retract, shown, reason="x")


@told("saw the code of this commit")
def gate_is_stale(play: Play, run: str, task: str) -> None:
    play.policy(f"  gates: {{fresh: [{GATE}]}}\n")
    play.gate(GATE, "passed", evidence=[play.evidence(kind="lint")])
    play.commit("app.py", "answer = 43\n", "code")


@told()
def candidates(play: Play, run: str, task: str) -> None:
    two = play.task("Two")
    for name in [play.dispatch(two, actor, candidate=True) for actor in "ab"]:
        play.do(dispatches.claim_dispatch, name)
        play.complete(name, play.evidence(two))


@pytest.mark.parametrize("name", STATES)
def test_every_surface_says_whether_a_run_may_end_and_why_not(play: Play, name: str) -> None:
    run, task = play.planned(), play.proven()
    act, why = STATES[name]
    act(play, run, task)
    passed = refusal(lambda: play.gate("release", "passed", run=run, evidence=[play.evidence(kind="build")]))
    said = [one(play, run) for one in (of_end, of_release, of_check)]
    said += [] if passed else [of_export(play, run)]
    assert is_offered(play, run) is (not why)
    assert all(why in one if why else not one for one in said), said
    assert len(said) == 4 or why


def test_a_spike_ends_as_any_other_run_does(play: Play) -> None:
    run = play.run(spike=True)
    play.proven()
    assert is_offered(play, run)
    play.do(releases.release_run, run=run)
    assert [one(play, run) for one in (of_end, of_release, of_check, of_export)] == [""] * 4


@pytest.mark.parametrize("archived", [False, True])
def test_of_a_run_that_has_ended_release_and_export_say_the_same(play: Play, *, archived: bool) -> None:
    run, task = play.planned(), play.proven()
    play.do(releases.release_run, run=run)
    play.do(runs.complete_run, run)
    proof = proof_of(play, task)
    if archived:
        play.do(runs.archive_run, run)
    assert (of_release(play, run), of_export(play, run), is_offered(play, run)) == ("", "", False)
    assert "run_final" in of_end(play, run)
    play.do(evidences.retract, proof, reason="x")
    assert "not proven" in of_release(play, run)
    assert "not proven" in of_export(play, run)


def test_a_run_whose_text_is_gone_does_not_end_whoever_asks_first(play: Play) -> None:
    run, _ = play.planned(), play.proven()
    path_of(play, run).unlink()
    play.commit_all("gone")
    assert "run.md: F001 this file is missing" in of_end(play.beside(play.root), run)


@pytest.mark.parametrize(
    ("gate", "verdict", "names", "opened"),
    [
        ("final_acceptance", "passed", {"plans", "done"}, True),
        ("final_acceptance", "waived", {"plans", "done"}, True),
        ("final_acceptance", "failed", set(), False), ("plan_review", "passed", {"plans"}, False),
        ("preflight_safety", "passed", set(), False), ("final_acceptance", "passed", {"run"}, False),
    ],
)  # fmt: skip
def test_a_verdict_names_what_its_giver_had_seen(
    play: Play, run: str, gate: str, verdict: str, names: set[str], *, opened: bool
) -> None:
    done, other = play.proven(run=run), play.task("Open", run=run)
    play.gate("quality_review", "passed", run=run)
    scope = done if "run" in names else run
    options = {} if verdict == "passed" else {"reason": "Why."}
    play.gate(gate, verdict, **({"task": done} if scope == done else {"run": run}), **options)
    state = play.state(run)
    event = state.folded(scope).verdicts(gate)[-1].event
    groups = {plans_of(run): "plans", done: "done", run: "run"}
    named = {groups[group_of(seen)] for ref in event.after if (seen := state.event(ref.id))}
    assert (named, event.data.get("open")) == ({*names, groups[scope]}, [other] if opened else None)
