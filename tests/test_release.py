"""The release gate: what it asks, and that nothing less will do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.errors import MementoError
from memento_git.model.work import GATE_KINDS
from memento_git.texts.typed import ReasonRequired, TextEmpty, TextInvalid
from memento_git.verbs import batch
from memento_git.work import refusals as no
from memento_git.work.actions import evidence_checks, evidences, gates, plans, releases, runs, tasks
from memento_git.work.attest.signing import Signer
from memento_git.work.check_payloads import Check
from memento_git.work.gates import release as rules
from memento_git.work.gates.release import Answer, CheckSeen, Conditions, RunFacts
from memento_git.work.proof import failures
from tests.play import Play, git

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.model.rows import GateRow
    from tests.play import Call

RUN, TASK, TASK2 = "run_000000000001", "task_000000000001", "task_000000000002"


def at(hour: int) -> str:
    return f"2026-01-10T{hour:02}:00:00.000Z"


def seen(name: str = "test", outcome: str = "passed", ended: int = 10, recorded: int = 20, **changes: Any) -> CheckSeen:
    given = {
        "evidence": f"evidence_{ended:06}{recorded:06}", "provider": "github", "name": name,
        "conclusion": {"passed": "success", "failed": "failure", "observed": "skipped"}[outcome], "outcome": outcome,
        "when": failures.ended({"finished": at(ended)} if ended else {}, at(recorded)), "recorded": at(recorded),
        "stands": True, "fresh": True,
    }  # fmt: skip
    return CheckSeen(**{**given, **changes})


NOTHING = Conditions()


def missing(asked: Conditions = NOTHING, **held: Any) -> tuple[str, ...]:
    return rules.judge(RunFacts(**{"run": RUN, "tasks": [TASK], **held}), asked).missing


def test_a_release_rests_on_what_proves_the_tasks_of_its_run() -> None:
    verdict = rules.judge(RunFacts(RUN, [TASK], ["evidence_000000000001"]), Conditions())
    assert verdict.missing == ()
    assert verdict.rests_on == ("evidence_000000000001",)
    held = RunFacts(RUN, [TASK], ["evidence_000000000001"], checks=[seen()], answers=[answer("ada")])
    verdict = rules.judge(held, Conditions(checks=("test",), approvals=1))
    assert verdict.rests_on == ("evidence_000000000001", seen().evidence, answer("ada").evidence)


def test_every_thing_that_is_missing_is_named_at_once() -> None:
    held = RunFacts(RUN, [TASK, TASK2], graph_warnings=[{"message": "a cycle"}])
    hindered = [f"task {TASK2} is in progress", f"gate quality_review of {RUN} has failed"]
    asked = Conditions(checks=("test", "lint"), approvals=2)
    found = rules.judge(held, asked, hindered).missing
    assert [*found[:2]] == hindered
    assert len(found) == 6


CHECK = Conditions(checks=("test",))


@pytest.mark.parametrize(
    ("checks_held", "told"),
    [
        ([], "there is none"), ([seen("other")], "there is none"), ([seen(stands=False)], "there is none"),
        ([seen(fresh=False)], "stale"), ([seen(outcome="failed")], "is failure"),
        ([seen(outcome="observed")], "is skipped"),
        # A success, then a failure; whichever was recorded first.
        ([seen(ended=10), seen(outcome="failed", ended=11)], "is failure"),
        ([seen(outcome="failed", ended=11, recorded=19), seen(ended=10, recorded=20)], "is failure"),
        # At one moment the worse one counts.
        ([seen(), seen(outcome="failed")], "is failure"), ([seen(outcome="failed"), seen()], "is failure"),
        # One that runs again has no verdict yet.
        ([seen(ended=10, recorded=10), seen(outcome="observed", ended=0, recorded=11)], "is skipped"),
        # Nobody wins by saying that a check ended later than it was recorded.
        ([seen(ended=23, recorded=10), seen(outcome="failed", ended=11)], "is failure"),
        # Another provider's success of that name does not hide a failure.
        ([seen(outcome="failed"), seen(ended=12, provider="gitlab")], "is failure"),
        # A later success of other code does not hide the failure of this one.
        ([seen(outcome="failed"), seen(ended=12, fresh=False)], "is failure"),
        # What was taken back is no success, and what came before it is not the latest.
        ([seen(), seen(ended=11, stands=False, void="retracted")], "of github, is retracted"),
        ([seen(ended=11, stands=False, void="retracted")], "there is none"),
    ],
)  # fmt: skip
def test_the_latest_verdict_on_this_code_must_be_a_success(checks_held: list[CheckSeen], told: str) -> None:
    found = missing(CHECK, checks=checks_held)
    assert len(found) == 1
    assert told in found[0]
    assert found == missing(CHECK, checks=checks_held[::-1])


@pytest.mark.parametrize(
    "checks_held",
    [
        [seen()], [seen(outcome="failed", ended=10), seen(ended=11)],
        [seen(outcome="failed", ended=11, stands=False), seen(ended=10)],
        [seen(outcome="observed", ended=0, recorded=5), seen(ended=10)],
        [seen(outcome="failed", ended=12, fresh=False), seen()],
    ],
)  # fmt: skip
def test_what_was_failed_withdrawn_or_of_other_code_before_does_not_matter(checks_held: list[CheckSeen]) -> None:
    assert missing(CHECK, checks=checks_held) == missing(CHECK, checks=checks_held[::-1]) == ()
    assert missing(Conditions(checks=("github/test",)), checks=checks_held) == ()
    assert missing(Conditions(checks=("gitlab/test",)), checks=checks_held) != ()


def test_a_check_is_stale_where_all_that_stands_of_it_saw_other_code() -> None:
    def stale(*checks_held: CheckSeen) -> list[str]:
        return rules.stale(RunFacts(RUN, checks=checks_held), CHECK)

    old = seen(fresh=False)
    assert stale(seen(ended=9, fresh=False), old) == [old.evidence]
    assert stale() == stale(seen("other", fresh=False)) == stale(old, seen()) == []
    assert stale(seen(fresh=False, stands=False, void="retracted")) == []


def answer(actor: str, yes: bool = True, hour: int = 10, about: str = RUN) -> Answer:
    return Answer(f"evidence_{hour:012}", actor, about, at(hour), yes)


@pytest.mark.parametrize(
    ("answers", "count"),
    [
        ([], 0), ([answer("ada"), answer("ada", hour=11)], 1), ([answer("ada"), answer("bob")], 2),
        ([answer("ada"), answer("ada", yes=False, hour=11)], 0),
        ([answer("ada", yes=False), answer("ada", hour=11)], 1),
        ([answer("ada"), answer("ada", yes=False)], 0),
        ([answer("ada", about=TASK)], 0), ([answer("ada", about=TASK), answer("ada", about=TASK2)], 1),
        ([answer("ada"), answer("ada", yes=False, hour=11, about=TASK2)], 0),
        ([answer("ada", yes=False, about=TASK2), answer("ada", hour=11)], 1),
        ([answer("ada", about=TASK), answer("bob", about=TASK2)], 0),
        ([answer("ada"), answer("bob", yes=False, hour=11)], 1),
    ],
)  # fmt: skip
def test_who_approves_is_who_said_yes_last_about_all_of_it(answers: list[Answer], count: int) -> None:
    held = RunFacts(RUN, [TASK, TASK2], answers=answers)
    verdict = rules.judge(held, Conditions(approvals=2))
    assert len(verdict.approvers) == count
    assert verdict.approvals == 2 - count
    assert bool(verdict.missing) is (count < 2)


def test_policy_may_name_approvers_and_leave_out_who_did_the_work() -> None:
    held = {"answers": [answer("ada"), answer("bob")], "authors": frozenset({"ada"})}
    assert missing(Conditions(approvals=2), **held) == ()
    assert missing(Conditions(approvals=1, approvers=("ada", "eve")), **held) == ()
    assert missing(Conditions(approvals=2, approvers=("ada", "eve")), **held) == ("approvals: 1 of 2, by eve",)
    assert missing(Conditions(approvals=1, approvers=("eve",)), **held) == ("approvals: 0 of 1, by eve",)
    assert missing(Conditions(approvals=3), **held) == ("approvals: 2 of 3",)
    assert missing(Conditions(approvals=2, not_author=True), **held) == ("approvals: 1 of 2, not by who did the work",)


def test_a_no_counts_under_another_spelling_of_a_name_and_a_yes_does_not() -> None:
    named = Conditions(approvals=1, approvers=("ada",))
    assert missing(named, answers=[answer("ada"), answer("ADA", yes=False, hour=11)]) == ("approvals: 0 of 1, by ada",)
    assert missing(named, answers=[answer("ada", yes=False), answer("ADA", hour=11)]) == ("approvals: 0 of 1, by ada",)
    assert missing(Conditions(approvals=2), answers=[answer("ada"), answer("ADA")]) == ("approvals: 1 of 2",)
    told = missing(Conditions(approvals=1, not_author=True), answers=[answer("ADA")], authors=frozenset({"ada"}))
    assert told == ("approvals: 0 of 1, not by who did the work",)


@pytest.mark.parametrize(("ada", "bob", "count"), [
    (Signer("a@x", b"1"), Signer("b@x", b"2"), 2), (Signer(), Signer(), 2), (Signer("a@x", b"1"), Signer(), 2),
    (Signer("a@x", b"1"), Signer("a@x", b"2"), 1), (Signer("a@x", b"1"), Signer("b@x", b"1"), 1),
    (Signer("a@x", b"1", is_author=True), Signer("b@x", b"2"), 1),
    (Signer("eve@x", b"1"), Signer("b@x", b"2"), 1), (Signer("Eve <eve@x>", b"1"), Signer("b@x", b"2"), 1),
])  # fmt: skip
def test_who_signs_with_one_key_or_as_one_person_is_one_and_who_did_the_work_is_none(
    ada: Signer, bob: Signer, count: int
) -> None:
    answers = [answer("ada")._replace(signer=ada), answer("bob", hour=11)._replace(signer=bob)]
    held = RunFacts(RUN, [TASK], answers=answers, authors=frozenset({"Eve <eve@x>"}))
    assert rules.judge(held, Conditions(approvals=2, not_author=True)).approvals == 2 - count


def test_who_did_the_work_counts_where_policy_does_not_mind() -> None:
    eve = answer("ada")._replace(signer=Signer("eve@x", b"1"))
    held = {"answers": [eve], "authors": frozenset({"Eve <eve@x>"})}
    assert missing(Conditions(approvals=1), **held) == ()
    assert missing(Conditions(approvals=1, not_author=True), **held) != ()


def test_who_signed_one_of_the_answers_about_all_tasks_as_an_author_approves_nothing() -> None:
    one, other = (answer("ada", about=task) for task in (TASK, TASK2))
    held = {"tasks": [TASK, TASK2], "answers": [one._replace(signer=Signer("a@x", b"1", is_author=True)), other]}
    assert missing(Conditions(approvals=1), **held) == ("approvals: 0 of 1",)


def test_a_run_without_tasks_is_approved_by_its_id() -> None:
    assert missing(Conditions(approvals=1), tasks=[], answers=[answer("ada")]) == ()
    assert missing(Conditions(approvals=1), tasks=[], answers=[answer("ada", about=TASK)]) == ("approvals: 0 of 1",)


def test_graph_warnings_refuse_as_policy_says() -> None:
    held = {"graph_warnings": [{"kind": "cycle", "message": "a new cycle: a, b"}]}
    assert missing(Conditions(graph="refuse"), **held) == ("graph: a new cycle: a, b",)
    assert missing(Conditions(graph="warn"), **held) == ()


# On a real ledger.


@pytest.fixture
def run(play: Play, run: str) -> str:
    """The run, of which one task is proven."""
    play.proven()
    return run


def judged(play: Play, **options: Any) -> releases.Release:
    found: releases.Release = play.do(releases.release_run, **options)
    return found


def check(play: Play, conclusion: str = "success", finished: str = "2026-01-10T10:00:00.000Z", **changes: str) -> str:
    given = {"provider": "github", "name": "test", "id": finished, "url": "", **changes}
    commit = given.pop("commit", "") or git(play.root, "rev-parse", "HEAD")
    found = Check(conclusion=conclusion, commit=commit, finished=finished, **given)
    return str(play.do(evidence_checks.add_checks, [found])[0][0])


def test_a_released_run_has_its_gate_passed_on_what_it_rests_on(play: Play, run: str) -> None:
    proof = check(play)
    approval = play.do(evidences.approve, run)
    found = judged(play, require_checks=["test"], approvals=1)
    assert found.verdict.missing == ()
    (row,) = [row for row in gate_rows(play, run) if row["kind"] == "release"]
    assert row["status"] == "passed"
    assert {proof, approval} < set(row["evidence"])
    assert len(row["evidence"]) == 3
    head = git(play.root, "rev-parse", "HEAD")
    assert judged(play, require_checks=["test"], approvals=1).event == ""
    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_task_whose_text_is_gone_is_not_done(play: Play, run: str) -> None:
    other = play.task("Another", run=run)
    play.dispatch(other)
    git(play.root, "rm", "-q", play.state(run).index.prose[other])
    play.commit_all("gone")
    opened, broken = judged(play).verdict.missing
    assert opened == f"task {other} is dispatched"
    assert other in broken
    with pytest.raises(no.TaskUnsettled, match=other):
        play.do(runs.complete_run)


def test_a_run_with_an_incomplete_ledger_is_not_said_to_be_ready(play: Play, run: str) -> None:
    play.do(runs.pause_run, run)
    play.do(runs.resume_run, run)
    (paused,) = [path for path in play.state(run).index.events.values() if "-paused-" in path]
    git(play.root, "rm", "-q", paused)
    play.commit_all("gone")
    (told,) = releases.examine_run(play.ledger, play.ledger.view(), run=run).verdict.missing
    assert "the ledger is incomplete" in told


def gate_rows(play: Play, scope: str) -> list[GateRow]:
    from memento_git.work import rows

    return rows.gate_rows(play.state(scope), scope)


def test_a_refusal_records_nothing(play: Play, run: str) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    assert judged(play, require_checks=["test"]).verdict.checks == ("test",)
    assert git(play.root, "rev-parse", "HEAD") == head


def test_a_check_is_stale_once_the_code_is_another(play: Play, run: str) -> None:
    check(play)
    assert judged(play, require_checks=["test"]).verdict.missing == ()
    play.commit("app.py", "answer = 43\n")
    assert "stale" in judged(play, require_checks=["test"]).verdict.missing[0]
    git(play.root, "revert", "--no-edit", "HEAD")
    assert judged(play, require_checks=["test"]).verdict.missing == ()


def test_a_check_counts_for_the_code_of_the_commit_that_it_names(play: Play, run: str) -> None:
    old = git(play.root, "rev-parse", "HEAD")
    play.commit("app.py", "answer = 43\n")
    check(play, commit=old)
    assert "stale" in judged(play, require_checks=["test"]).verdict.missing[0]
    (path,) = [path for path in play.root.glob(".memento/runs/*/evidence/*/*.yaml") if "check:" in path.read_text()]
    from memento_git.work import codestate

    trees = [codestate.code_at(play.ledger.git, commit)["tree"] for commit in (old, "HEAD")]
    play.commit(path, path.read_text().replace(*trees), "forged")
    assert "there is none" in judged(play, require_checks=["test"]).verdict.missing[0]


def test_a_later_failure_undoes_a_success_until_the_check_is_recorded_again(play: Play, run: str) -> None:
    check(play)
    bad = check(play, "failure", "2026-01-10T11:00:00.000Z")
    assert judged(play, require_checks=["test"]).verdict.checks == ("test",)
    play.do(evidences.retract, bad, reason="The runner had no disk.")
    assert "its latest verdict, of github, is retracted" in judged(play, require_checks=["test"]).verdict.missing[0]
    check(play, finished="2026-01-10T12:00:00.000Z")
    assert judged(play, require_checks=["test"]).verdict.missing == ()


def test_superseded_and_retracted_checks_do_not_count(play: Play, run: str) -> None:
    first = check(play)
    second = check(play, name="other")
    play.do(evidences.supersede, first, second)
    assert "there is none" in judged(play, require_checks=["test"]).verdict.missing[0]
    play.do(evidences.retract, second, reason="Wrong.")
    assert judged(play, require_checks=["other"]).verdict.checks == ("other",)


def test_one_actor_approves_once_and_a_later_no_or_a_retraction_revokes(play: Play, run: str) -> None:
    play.do(evidences.approve, run)
    second = play.do(evidences.approve, run)
    assert judged(play, approvals=2).verdict.approvals == 1
    bob = play.as_("Bob")
    bob.do(evidences.approve, run, response="yes")
    assert judged(play, approvals=2).verdict.approvals == 0
    bob.do(evidences.approve, run, prompt="Still fine?", response="No, wait")
    assert judged(play, approvals=2).verdict.approvers == ("Ada <ada@example.invalid>",)
    play.do(evidences.retract, second, reason="I did not read it.")
    assert judged(play, approvals=1).verdict.approvers == ()


def test_a_no_to_the_evidence_of_a_task_stands_until_the_same_actor_says_yes_to_that(play: Play, run: str) -> None:
    bob = play.as_("Bob")
    bob.do(evidences.approve, run)
    (shown,) = play.state(run).proof(play.state(run).tasks()[0]).by
    for _ in range(2):
        bob.do(evidences.approve, shown, response="no")
        assert judged(play, approvals=1).verdict.approvals == 1
        play.do(evidences.approve, shown)
        assert judged(play, approvals=1).verdict.approvals == 1
        bob.do(evidences.approve, shown)
        assert judged(play, approvals=1).verdict.approvers == ("Bob",)


def test_approval_of_another_run_or_of_a_plan_does_not_count(play: Play, run: str) -> None:
    other = play.run("Another")
    play.do(evidences.approve, other)
    play.do(evidences.approve, play.state(run).canonical)
    assert judged(play, run=run, approvals=1).verdict.approvals == 1


def test_an_answer_that_was_forged_into_a_yes_is_none(play: Play, run: str) -> None:
    play.do(evidences.approve, run, response="I do not approve this release")
    (path,) = [path for path in play.root.glob(".memento/runs/*/evidence/*/*.yaml") if "approves:" in path.read_text()]
    play.commit(path, path.read_text().replace("outcome: failed", "outcome: passed"), "forged")
    assert judged(play, approvals=1).verdict.approvals == 1


def test_an_approval_without_a_verdict_is_no_yes(play: Play, run: str) -> None:
    play.do(evidences.approve, run)
    assert judged(play, approvals=1).verdict.approvals == 0
    (path,) = [path for path in play.root.glob(".memento/runs/*/evidence/*/*.yaml") if "approves:" in path.read_text()]
    play.commit(path, path.read_text().replace("outcome: passed", "outcome: observed"), "edited")
    assert judged(play, approvals=1).verdict.approvals == 1


def test_options_add_to_policy_and_never_take_away(play: Play, run: str) -> None:
    play.policy("  release: {checks: [build], approvals: 2, not_author: true}\n")
    verdict = judged(play, require_checks=["test"], approvals=1).verdict
    assert (verdict.checks, verdict.approvals) == (("build", "test"), 2)
    play.do(evidences.approve, run)
    assert judged(play).verdict.approvers == ()
    play.as_("Bob").do(evidences.approve, run)
    assert judged(play).verdict.approvers == ("Bob",)


def test_required_gates_and_a_failed_one_refuse(play: Play, run: str) -> None:
    play.policy("  gates: {required: [final_acceptance, release]}\n")
    assert judged(play).verdict.missing == ("gate final_acceptance has not passed",)
    play.gate("final_acceptance", "failed")
    assert judged(play).verdict.missing == (f"gate final_acceptance of {run} has failed",)
    play.do(gates.record_gate, "final_acceptance", "waived", reason="The customer asked for it now.")
    assert judged(play).verdict.missing == ()
    play.do(runs.complete_run, run)
    assert judged(play, run=run).verdict.missing == ()


def test_a_persons_no_to_a_release_is_not_lifted_by_a_computation(play: Play, run: str) -> None:
    play.policy("  lease: 1h\n")
    play.gate("release", "failed")
    assert judged(play).verdict.missing == (f"gate release of {run} has failed",)
    play.gate("release", "passed")
    assert judged(play).verdict.missing == ()


def test_a_pass_by_hand_is_refused_where_policy_asks_for_more(play: Play, run: str) -> None:
    play.gate("release", "failed")
    play.policy("  release: {checks: [test]}\n")
    with pytest.raises(releases.ReleaseRefused, match="check test"):
        play.gate("release", "passed")
    play.gate("release", "requested")
    check(play)
    play.gate("release", "passed")
    assert judged(play).verdict.missing == ()


def test_a_release_gate_that_must_be_fresh_rests_on_evidence_of_this_code(play: Play, run: str) -> None:
    play.policy("  gates: {fresh: [release]}\n")
    play.do(evidences.approve, run)
    assert judged(play, approvals=1).event
    play.commit("app.py", "answer = 43\n")
    assert "gate release asks for evidence" in judged(play, approvals=1).verdict.missing[0]
    play.proven("Another", run=run)
    found = judged(play, approvals=1)
    assert (found.verdict.missing, bool(found.event)) == ((), True)


def test_a_release_that_lacks_fresh_evidence_is_led_to_what_was_recorded_of_the_run(play: Play, run: str) -> None:
    play.policy("  gates: {fresh: [release]}\n")
    play.commit("app.py", "answer = 43\n")
    (lacking,) = judged(play).verdict.missing
    assert f": memento evidence run --run {run} -- CMD, then " in lacking
    _, shown = play.evidence(), play.evidence()  # of several it is the latest
    (lacking,) = judged(play).verdict.missing
    line = f"memento gate record release passed --run {run} --evidence {shown}"
    assert lacking.endswith(f"none that proves its tasks is, but {shown} is: {line}")
    play.gate("release", "passed", run=run, evidence=[shown])
    assert judged(play).verdict.missing == ()


def test_git_looks_at_the_work_tree_as_often_for_much_evidence_as_for_little(
    play: Play, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.policy("  gates: {fresh: [quality_review, release]}\n")
    looks = []
    for number, evidence in enumerate((1, 4)):
        play.proven(f"Task {number}", run=run)
        shown = [play.evidence() for _ in range(evidence)]
        monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace := tmp_path / f"trace{number}"))
        play.gate("quality_review", "passed", run=run, evidence=shown)
        assert judged(play).event
        monkeypatch.delenv("GIT_TRACE2_EVENT")
        argv = [told.get("argv", ()) for told in map(json.loads, trace.read_text().splitlines())]
        looks.append(sum("write-tree" in words for words in argv))
    assert looks == [3, 3], "the gate that is recorded, the release that is judged, and its gate"


def test_a_cycle_since_the_run_began_refuses_and_its_end_clears_it(play: Play) -> None:
    from memento_git.work.actions import graphs

    play.commit("other.py", "import app\n")
    made = play.planned()
    play.do(graphs.update_graph, run=made)
    play.commit("app.py", "import other\n\nanswer = 42\n")
    play.proven(run=made)
    found = judged(play)
    assert found.verdict.graph
    assert [one.partition(":")[0] for one in found.verdict.missing] == ["graph"]
    assert releases.row(found)["graph_warnings"][0]["level"] == "refuse"
    play.policy("  release: {graph: warn}\n")
    assert judged(play).verdict.missing == ()
    play.policy("  release: {graph: ignore}\n")
    assert judged(play).held.graph_warnings == []
    play.policy("  release: {graph: refuse}\n")
    play.commit("app.py", "answer = 42\n")
    assert judged(play).verdict.missing == ()


def test_a_graph_that_cannot_be_read_refuses_and_is_told(play: Play, run: str) -> None:
    play.commit("graph.json", "{}")
    name = play.do(evidences.add_evidence, "graph", files=["graph.json"], run=run)
    told, stale = judged(play).verdict.missing
    assert "asks for evidence of the code as it is" in stale
    assert told.startswith("graph: ")
    assert name in told


def test_a_gate_is_shown_with_the_verdict_that_holds(play: Play, run: str) -> None:
    git(play.root, "checkout", "-qb", "side")
    play.as_("Bob").gate("quality_review", "failed", run=run, note="It is slow.")
    git(play.root, "checkout", "-q", "main")
    play.gate("quality_review", "passed", run=run, note="Fine.")
    git(play.root, "merge", "-q", "--no-edit", "side")
    play.gate("quality_review", "requested", run=run, note="Look again.")
    (row,) = gate_rows(play, run)
    assert (row["status"], row["reviewer"], row["summary"]) == ("failed", "Bob", "It is slow.")


def test_who_may_judge_the_release_is_policys_word(play: Play, run: str) -> None:
    play.policy("  gates: {verdicts: {release: [Bob]}}\n")
    with pytest.raises(no.ApproverRefused):
        judged(play)
    assert play.as_("Bob").do(releases.release_run).event


@pytest.mark.parametrize("end", ["cancelled", "paused", "unproven", "pending", "empty"])
def test_a_run_that_is_not_ready_is_refused(play: Play, run: str, end: str) -> None:
    if end == "cancelled":
        play.do(runs.cancel_run, run, reason="Enough.")
    elif end == "paused":
        play.do(runs.pause_run, run)
    elif end == "pending":
        play.task(run=run)
    elif end == "unproven":
        task = play.task(run=run)
        play.complete(play.claimed(task), play.do(evidences.add_evidence, "artifact", tasks=[task], files=["app.py"]))
    else:
        run = play.planned("Nothing yet")
        play.do(tasks.cancel_task, play.task(run=run), reason="No.")
    found = judged(play, run=run)
    assert len(found.verdict.missing) == 1
    assert found.event == ""


# Every kind of gate.


@pytest.mark.parametrize("kind", GATE_KINDS)
@pytest.mark.parametrize("scope", ["run", "task"])
def test_every_gate_is_waived_by_a_name_and_for_a_reason_alone(play: Play, kind: str, scope: str) -> None:
    task = play.planned_task()
    where = {"task": task} if scope == "task" else {}
    play.gate(kind, "failed", **where)
    for reason in ("", "  "):
        with pytest.raises(ReasonRequired):
            play.gate(kind, "waived", reason=reason, **where)
    with pytest.raises(no.GateBlocks):
        play.dispatch(task)
    scoped, _ = play.as_("Grace").do(gates.record_gate, kind, "waived", reason="Known, and harmless.", **where)
    (row,) = gate_rows(play, scoped)
    assert (row["status"], row["reviewer"], row["summary"]) == ("waived", "Grace", "Known, and harmless.")
    play.dispatch(task)


# On the command line.


def test_the_seeds_release_gate_runs_and_has_its_keys(play: Play, run: str, cli: Call) -> None:
    where = ("-C", str(play.root), "--json")
    words = (
        "gate",
        "release",
        "--run-id",
        run,
        "--required-check",
        "github-actions",
        "--required-approvals",
        "1",
        *where,
    )
    code, out, _ = cli(*words)
    answer = json.loads(out)
    assert (code, answer["ok"], answer["error"]) == (1, False, "release_refused")
    assert (answer["missing_checks"], answer["missing_approvals"]) == (["github-actions"], 1)
    code, out, _ = cli("evidence", "check", "--provider", "github-actions", "--id", "123", "--status", "completed",
                       "--conclusion", "success", "--run-id", run, *where)  # fmt: skip
    assert (code, json.loads(out)["evidence"]["outcome"]) == (0, "passed")
    asked = ("evidence", "approve", run, "--actor", "founder", "--prompt", "Release?", *where, "--response")
    for response in ("I do not approve this release", "not approved", "승인하지 않습니다", "yes?"):
        code, out, _ = cli(*asked, response)
        assert (code, json.loads(out)["approved"]) == (0, False)
        assert json.loads(cli(*words)[1])["missing_approvals"] == 1
    code, out, _ = cli(*asked, "approved")
    assert (code, json.loads(out)["approved"], json.loads(out)["evidence"]["response"]) == (0, True, "approved")
    code, out, _ = cli(*words[:-1], "--no-record", "--json")
    answer = json.loads(out)
    assert (code, answer["ok"], answer["event_id"]) == (0, True, None)
    told = {key: answer[key] for key in ("missing_checks", "missing_approvals", "approval_count", "graph_warnings",
                                         "graph_approval_required", "verdict")}  # fmt: skip
    assert told == {"missing_checks": [], "missing_approvals": 0, "approval_count": 1, "graph_warnings": [],
                    "graph_approval_required": False, "verdict": "passed"}  # fmt: skip
    code, out, _ = cli(*words)
    assert (code, bool(json.loads(out)["event_id"])) == (0, True)
    code, out, _ = cli("gate", "release", "-C", str(play.root), "--run", run, "--require-check", "lint")
    assert (code, "check lint: there is none" in out, "memento run complete" in out) == (1, True, False)


def test_an_old_commit_can_be_judged_and_not_recorded(play: Play, run: str, cli: Call) -> None:
    code, out, _ = cli("gate", "release", "--at", "HEAD", "--no-record", "-C", str(play.root))
    assert (code, "may be released\n  rests on evidence_" in out) == (0, True)
    code, _, err = cli("gate", "release", "--at", "HEAD", "-C", str(play.root))
    assert (code, "give --no-record with it" in err) == (2, True)


def test_a_prompt_needs_an_answer_and_an_answer_a_word(play: Play, run: str) -> None:
    with pytest.raises(TextEmpty, match="no answer"):
        play.do(evidences.approve, run, prompt="Release?")
    for response in ("", "   "):
        with pytest.raises(TextInvalid, match="empty"):
            play.do(evidences.approve, run, response=response)


def test_apply_releases_or_is_refused_as_a_whole(play: Play, run: str) -> None:
    with pytest.raises(releases.ReleaseRefused):
        play.do(batch.apply, f"- {{do: gate release, run: {run}, approvals: '1'}}".encode())
    with pytest.raises(MementoError, match="whole number"):
        play.do(batch.apply, f"- {{do: gate release, run: {run}, approvals: many}}".encode())
    text = (
        f"- {{do: evidence approve, about: {run}, response: yes}}\n- {{do: gate release, run: {run}, approvals: '1'}}"
    )
    assert play.do(batch.apply, text.encode())[1]["id"].startswith("event_")


def test_a_run_with_open_work_alone_is_not_called_empty(play: Play) -> None:
    """Cancelling is final: nobody is told to call off what is under way."""
    started = play.run("Other", spike=True)
    with pytest.raises(no.NothingToComplete):
        play.do(runs.complete_run, started)
    waiting, blocked = play.task("Waiting", run=started), play.task("Blocked", run=started)
    play.do(tasks.block_task, blocked, reason="No access.")
    under_way = play.task("Under way", run=started)
    play.claimed(under_way)
    opened = {waiting: "pending", blocked: "blocked", under_way: "in progress"}
    with pytest.raises(no.TaskUnsettled) as refused:
        play.do(runs.complete_run, started)
    assert "run cancel" not in refused.value.hint
    assert "open: task_" in refused.value.message
    assert all(f"{task} is {status}" in refused.value.message for task, status in opened.items())
    found = play.do(releases.release_run, run=started)
    assert set(found.verdict.missing) == {f"task {task} is {status}" for task, status in opened.items()}
    for task in opened:
        play.do(tasks.cancel_task, task, reason="Not now.")
    with pytest.raises(no.NothingToComplete):
        play.do(runs.complete_run, started)


def test_a_review_of_a_plan_before_one_is_approved_is_said_to_fall(play: Play) -> None:
    run = play.run()
    play.gate("plan_review", "passed")
    said = f"no plan of {run} is approved: the review falls when one is, and is given again then"
    assert play.ledger.warnings == [said]
    play.do(plans.approve_plan, play.do(plans.draft_plan, "Plan", "Do it."))
    fallen = list(play.ledger.warnings)
    play.gate("plan_review", "passed")
    assert play.ledger.warnings == fallen


@pytest.mark.parametrize("words", [("run", "complete"), ("gate", "release"), ("gate", "release", "--no-record")])
def test_what_check_will_warn_of_is_told_with_the_verdict(play: Play, cli: Call, words: tuple[str, ...]) -> None:
    base = git(play.root, "rev-parse", "HEAD")
    play.planned()
    first = play.proven("First")
    old = play.state(first).proof(first).by[0].partition("@")[0]
    play.commit("app.py", "answer = 43\n")
    second = play.task("Second")
    play.complete(play.claimed(second), play.evidence(second, kind="lint"))
    code, out, err = cli(*words, "-C", str(play.root), "--json")
    assert code == 0, err
    (told,) = [one for one in json.loads(out)["warnings"] if "check will warn" in one]
    if "--no-record" in words:
        assert cli("gate", "release", "-C", str(play.root))[0] == 0
    findings = json.loads(cli("check", "--base", base, "--json", "-C", str(play.root))[1])["findings"]
    (found,) = [one for one in findings if one["code"] == "C001"]
    assert told == f"check will warn: {found['message']}: {found['fix']}"
    assert old in told


def test_who_completes_a_run_is_given_no_command_that_an_ended_run_refuses(play: Play, cli: Call) -> None:
    play.planned()
    play.proven("First")
    play.gate("final_acceptance", "passed")
    play.proven("Second")
    code, out, err = cli("run", "complete", "-C", str(play.root), "--json")
    assert code == 0, err
    (told,) = [one for one in json.loads(out)["warnings"] if "final_acceptance" in one]
    assert told.endswith(": the run has ended with that")


def test_a_waiver_of_a_gate_that_had_passed_is_told_to_take_its_place(play: Play) -> None:
    run = play.planned()
    play.gate("quality_review", "failed", reason="slow")
    play.gate("quality_review", "waived", reason="fine for now")
    assert play.ledger.warnings == []
    play.gate("quality_review", "passed")
    with pytest.raises(ReasonRequired):
        play.gate("quality_review", "waived")
    assert play.ledger.warnings == []
    play.gate("quality_review", "waived", reason="fine for now")
    assert play.ledger.warnings == [f"gate quality_review of {run} had passed: from now on it is shown as waived"]
