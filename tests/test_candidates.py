"""Choosing among candidates: only what exists and is proven, explained, and nothing is merged."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from docs.generator import rows
from memento_git.errors import MementoError
from memento_git.ledger import layout
from memento_git.ledger.store import Ledger
from memento_git.model.clock import seconds_of
from memento_git.texts.typed import ReasonRequired
from memento_git.verbs import batch
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, evidences, selections, settling, tasks, verifying
from memento_git.work.routing import candidates as rules
from memento_git.work.routing.candidates import Candidate, Diff
from tests.play import Play, git
from tests.tale import BOB, RUN, TASK, Tale, handoff, planned

if TYPE_CHECKING:
    from tests.play import Call

GOOD = Candidate(
    "dispatch_000000000001", "codex", "completed", proof=(("test", "witnessed"),), diff=Diff(("app.py",), 10, 2),
)  # fmt: skip


def made(number: int, **changes: Any) -> Candidate:
    return GOOD._replace(dispatch=f"dispatch_{number:012}", **changes)


def order(*field: Candidate) -> list[int]:
    return [int(one.candidate.dispatch[-1]) for one in rules.rank(field) if not one.reasons]


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ({"proof": (("test", "verified"),)}, {"proof": (("test", "witnessed"),)}),
        ({}, {"proof": (("test", "witnessed"), ("lint", "witnessed"))}),
        ({"failures": 1}, {}), ({"tests": (0, 10)}, {"tests": (0, 20)}), ({"tests": (3, 20)}, {"tests": (0, 20)}),
        ({"diff": Diff(("a.py",), 900, 10)}, {"diff": Diff(("a.py",), 20, 1)}), ({"regressions": 1}, {}),
        ({"warnings": 2}, {}), ({"cost": 4.0}, {"cost": 1.0}), ({"seconds": 9000.0}, {"seconds": 60.0}),
        ({"ended": "2026-01-02"}, {"ended": "2026-01-01"}),
        ({"diff": Diff(("a.py",), 11, 0)}, {"diff": Diff(("a.py",), 9, 0)}),
    ],
)  # fmt: skip
def test_a_better_candidate_is_ranked_first_whatever_the_order(worse: dict[str, Any], better: dict[str, Any]) -> None:
    one, two = made(1, **worse), made(2, **better)
    assert order(one, two) == order(two, one) == [2, 1]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"status": "claimed"}, "claimed, not completed"),
        ({"status": "failed"}, "failed, not completed"),
        ({"problems": ("unproven: no test",)}, "unproven"),
        ({"diff": None}, "its diff is not known"),
    ],
)
def test_what_is_not_there_or_not_proven_is_out_however_well_it_scores(changes: dict[str, Any], told: str) -> None:
    (one,) = rules.rank([made(1, **changes, tests=(0, 1000))])
    assert told in one.reasons[0]
    assert not one.needs_approval


@pytest.mark.parametrize(
    "path",
    [".git/config", "sub/.git/hooks/x", ".gitmodules", ".gitattributes", ".GIT/config", ".husky/pre-commit", ".env",
     "a/.env", ".env.production", ".ENV", ".envrc", "secrets/a.txt", "config/secret.yaml", "credentials.json",
     "deploy/id_rsa", "id_ed25519", "tls/server.pem", "a.key", ".npmrc", "a/.netrc", ".github/workflows/ci.yml",
     ".gitlab-ci.yml",
     ".buildkite/pipeline.yml", "Jenkinsfile", ".circleci/config.yml", "azure-pipelines.yml", ".ci/run",
     ".pre-commit-config.yaml", ".memento/config.yaml"],
)  # fmt: skip
def test_a_path_that_nobody_takes_over_unseen_needs_approval(path: str) -> None:
    risky = Diff(("app.py", path), 1, 1)
    (one,) = rules.rank([made(1, diff=risky)])
    assert one.needs_approval
    assert path in one.reasons[0]
    (one,) = rules.rank([made(1, diff=risky, approved=True)])
    assert one.reasons == ()
    (one,) = rules.rank([made(1, diff=risky, problems=("unproven",))])
    assert not one.needs_approval


def test_a_path_that_no_record_names_needs_approval() -> None:
    (one,) = rules.rank([made(1, diff=Diff(("app.py",), 1, 1, unnamed=True))])
    assert one.needs_approval
    assert "paths that its diff does not name" in one.reasons[0]
    (one,) = rules.rank([made(1, diff=Diff((), 1, 1, unnamed=True), approved=True)])
    assert one.reasons == ()


@pytest.mark.parametrize(
    "path",
    ["app.py", "environment.py", "docs/env.md", ".env.example", "src/secretary.py", "keyboard.py", "monkey.py",
     "git.py", ".gitignore", "docs/.github.md", "src/github/api.py", "tests/ci/x.py", "certificate.py"],
)  # fmt: skip
def test_a_path_that_only_sounds_like_one_does_not(path: str) -> None:
    assert rules.unsafe([path]) == []


def test_a_score_is_the_sum_of_parts_that_say_what_they_are_for() -> None:
    best, _ = rules.rank(
        [made(1, tests=(0, 20), cost=1.0, seconds=60.0, warnings=1), made(2, tests=(0, 10), cost=4.0, seconds=5.0)]
    )
    assert best.score == sum(part.points for part in best.parts)
    assert [part.part for part in best.parts] == ["proof", "tests", "size", "graph", "cost", "time"]
    assert all(part.why for part in best.parts)


# The table.


def two_tries() -> tuple[Tale, str, str]:
    """Return a tale with two candidates of one task, the first one completed."""
    tale = planned()
    first, second = (tale.dispatch(candidate=True) for _ in range(2))
    tale.claim(first)
    tale.claim(second)
    tale.complete(first)
    return tale, first, second


def select(tale: Tale, opened: str, **options: Any) -> str:
    given = {"dispatch": handoff(opened), "reason": "best", "scores": {handoff(opened): 3}, "reads": (RUN,)}
    return tale.tell("selected", TASK, **{**given, **options})


def test_only_a_completed_candidate_can_be_selected_and_a_later_choice_replaces_it() -> None:
    tale, first, second = two_tries()
    assert tale.verdict(select(tale, second)) == ("illegal", "candidate_refused")
    assert tale.verdict(select(tale, first)) == ("legal", "")
    tale.complete(second)
    assert tale.verdict(select(tale, second)) == ("legal", "")
    assert tale.folded().lanes.word("selected", "") == handoff(second)
    assert tale.status() == "completed"
    assert tale.verdict(select(tale, first, dispatch="dispatch_000000000zzz")) == ("illegal", "dispatch_not_found")


def test_a_candidate_may_still_be_tried_after_another_is_done_and_until_one_is_selected() -> None:
    tale = planned()
    first, second, third = (tale.dispatch(candidate=True) for _ in range(3))
    tale.claim(first)
    tale.complete(first)
    assert tale.verdict(tale.claim(second, by=BOB)) == ("legal", "")
    assert tale.status() == "completed"
    assert tale.verdict(tale.complete(second, by=BOB)) == ("legal", "")
    select(tale, second)
    assert tale.verdict(tale.claim(third)) == ("illegal", "task_not_ready")


def test_a_hand_off_that_was_no_candidate_cannot_be_selected() -> None:
    tale = planned()
    opened = tale.dispatch()
    tale.claim(opened)
    tale.complete(opened)
    assert tale.verdict(select(tale, opened)) == ("illegal", "candidate_refused")


def test_concurrent_selections_agree_or_are_contested_until_one_is_kept() -> None:
    tale, first, second = two_tries()
    tale.complete(second)
    heads = tale.heads(TASK, RUN)
    select(tale, first, after=heads)
    select(tale, first, after=heads)
    assert tale.status() == "completed"
    other = select(tale, second, after=heads)
    assert tale.status() == "contested"
    assert "selected" in tale.folded().lanes.contested
    tale.tell("settled", TASK, keep=other, reason="It is shorter.")
    assert tale.status() == "completed"
    assert tale.folded().lanes.word("selected", "") == handoff(second)


def test_settling_what_became_of_a_task_leaves_another_disagreement_open() -> None:
    tale, first, second = two_tries()
    tale.complete(second)
    heads = tale.heads(TASK, RUN)
    for opened in (first, second):
        select(tale, opened, after=heads)
    tale.tell("accepted", TASK, text="ab" * 16, after=heads)
    back = tale.tell("reopened", TASK, reason="It broke.", after=heads)
    assert set(tale.folded().lanes.contested) == {"selected", "status"}
    settled = tale.tell("settled", TASK, keep=back, reason="It did.")
    assert tale.verdict(settled) == ("legal", "")
    assert set(tale.folded().lanes.contested) == {"selected"}


def test_reopening_takes_the_choice_and_the_candidates_back() -> None:
    tale, first, _ = two_tries()
    select(tale, first)
    tale.tell("reopened", TASK, reason="It broke.", reads=(RUN,))
    assert tale.folded().lanes.word("selected", "") == ""
    assert tale.verdict(select(tale, first)) == ("illegal", "candidate_refused")


def test_nothing_is_selected_in_a_final_run_or_once_the_task_was_accepted() -> None:
    tale, first, _ = two_tries()
    tale.tell("accepted", TASK, text="ab" * 16, reads=(RUN,))
    assert tale.verdict(select(tale, first)) == ("illegal", "task_transition")
    tale, first, _ = two_tries()
    tale.tell("cancelled", RUN, reason="Enough.")
    assert tale.verdict(select(tale, first)) == ("illegal", "run_final")


# On a real ledger.


class Contest:
    """A task, and tries at it on branches of their own, all recorded on main."""

    def __init__(self, play: Play, run: str) -> None:
        self.play, self.run = play, run
        self.task = play.task("Answer the question")
        self.handed: dict[str, str] = {}

    def hand(self, *actors: str) -> None:
        """Hand the task to several at once."""
        self.handed |= {actor: self.play.dispatch(self.task, actor, candidate=True) for actor in actors}

    def attempt(
        self, actor: str, files: dict[str, str], *, code: int = 0, diff: bool = True, end: str = "complete"
    ) -> str:
        """Hand the task out, change files, run what shows it, complete; the work tree is left as it was."""
        play = self.play.as_(actor)
        dispatch = self.handed.get(actor) or play.dispatch(self.task, actor, candidate=True)
        play.do(dispatches.claim_dispatch, dispatch)
        before = git(play.root, "rev-parse", "HEAD")
        for name, text in files.items():
            (play.root / name).parent.mkdir(parents=True, exist_ok=True)
            (play.root / name).write_text(text)
        tip = play.commit_all(f"work of {actor}")
        argv = [sys.executable, "-c", f"raise SystemExit({code})"]
        ran = evidences.witness(play.ledger, argv, kind="test", quiet=True)
        proof = play.do(evidences.record_draft, ran, dispatch=dispatch)
        if diff:
            play.do(evidences.add_evidence, "diff", diff=f"{before}..{tip}", dispatch=dispatch)
        if end == "complete":
            if code:
                proof = play.do(evidences.add_evidence, "artifact", files=["app.py"], dispatch=dispatch)
            play.complete(dispatch, proof)
        git(play.root, "revert", "--no-edit", tip)
        return dispatch

    def select(self, **options: Any) -> selections.Selection:
        found: selections.Selection = self.play.do(selections.select_candidate, self.task, **options)
        return found

    def ranked(self, **options: Any) -> selections.Selection:
        return selections.rank_candidates(self.play.ledger.view(), self.task, **options)

    def reasons(self, dispatch: str) -> str:
        return "; ".join(next(row for row in self.ranked().rows() if row["dispatch_id"] == dispatch)["reasons"])

    def proven_by(self) -> str:
        """Return the dispatch that the task's proof came out of."""
        state = self.play.state(self.task)
        (name,) = state.proof(self.task).by
        one = state.evidence_named(name)
        return str(one.data["dispatch"])


@pytest.fixture
def contest(play: Play, run: str) -> Contest:
    return Contest(play, run)


def test_the_best_candidate_is_chosen_and_alone_proves_the_task(contest: Contest) -> None:
    contest.hand("ann", "bob")
    long = contest.attempt("ann", {"app.py": "answer = 42  # yes\n" * 400})
    short = contest.attempt("bob", {"app.py": "answer = 41 + 1\n"})
    assert contest.proven_by() == long
    found = contest.select()
    assert [row["parts"][0]["why"] for row in found.rows()] == ["proven by test, witnessed"] * 2
    events = [seen.event for seen in contest.play.state(contest.task).folded(contest.task).events]
    first, last = (seconds_of(at) for at in (min(one.at for one in events if one.do == "claimed"), events[-2].at))
    spent = [one.candidate.seconds or 0 for one in found.ranked]
    assert min(spent) > 0
    assert sum(spent) <= last - first + 0.01, "each was in one's hands after the other"
    decision = found.decision()
    assert (decision["selected_dispatch_id"], decision["selected_executor"]) == (short, "bob")
    assert decision["auto_merge_allowed"] is False
    assert [row["dispatch_id"] for row in decision["rejected"]] == [long]
    (trail,) = decision["preserved_evidence_trails"]
    assert (trail["dispatch_id"], len(trail["evidence"])) == (long, 2)
    assert contest.proven_by() == short
    state = contest.play.state(contest.task)
    event = state.event(found.event)
    assert event is not None
    assert set(event.data["scores"]) == {long, short}
    assert git(contest.play.root, "show", "HEAD:app.py") == "answer = 42"


def test_another_than_the_best_needs_a_reason_and_may_replace_it(contest: Contest) -> None:
    contest.hand("ann", "bob")
    long = contest.attempt("ann", {"app.py": "answer = 42  # yes\n" * 400})
    contest.attempt("bob", {"app.py": "answer = 41 + 1\n"})
    contest.select()
    assert [row["dispatch_id"] for row in contest.ranked(only=[long]).rows()] == [long]
    with pytest.raises(ReasonRequired):
        contest.select(dispatch=long)
    contest.select(dispatch=long, reason="It is easier to read.")
    assert contest.proven_by() == long
    assert contest.play.is_proven(contest.task)
    evidence = next(row for row in contest.ranked().rows() if row["dispatch_id"] == long)["evidence"]
    contest.play.do(evidences.retract, evidence[0], reason="Wrong machine.")
    contest.play.do(evidences.retract, evidence[1], reason="Wrong machine.")
    assert not contest.play.is_proven(contest.task)


def test_who_is_not_proven_or_not_done_is_never_chosen(contest: Contest) -> None:
    contest.hand("ann", "bob")
    failed = contest.attempt("ann", {"app.py": "answer = 1\n"}, code=1)
    under_way = contest.attempt("bob", {"app.py": "answer = 2\n"}, end="")
    assert "unproven" in contest.reasons(failed)
    assert "claimed, not completed" in contest.reasons(under_way)
    found = contest.select()
    assert (found.chosen, found.event) == (None, "")
    assert found.decision()["selected_dispatch_id"] is None
    assert not found.decision()["approval_required"]
    for name in (failed, under_way):
        with pytest.raises(no.NotACandidate):
            contest.select(dispatch=name)


def test_a_ghost_and_another_tasks_hand_off_are_refused(contest: Contest) -> None:
    contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    other = contest.play.dispatch(contest.play.task("Another"), candidate=True)
    for ghost in ("ghost", "dispatch_zzzzzzzzzzzz", other):
        for options in ({"dispatch": ghost}, {"only": [ghost]}):
            with pytest.raises(MementoError) as refusal:
                contest.select(**options)
            assert refusal.value.token in ("dispatch_not_found", "id_invalid")
    assert contest.play.state(contest.task).selected(contest.task) == ""


def test_the_diff_must_be_known_and_be_of_the_code_that_was_completed(contest: Contest) -> None:
    bare = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"}, diff=False)
    assert "its diff is not known" in contest.reasons(bare)
    head = git(contest.play.root, "rev-parse", "HEAD")
    contest.play.commit("tiny.py", "", "elsewhere")
    contest.play.do(evidences.add_evidence, "diff", diff=f"{head}..HEAD", dispatch=bare)
    assert "its diff is not known" in contest.reasons(bare)


def test_what_touches_ci_waits_for_somebody_elses_approval_of_the_diff(contest: Contest) -> None:
    risky = contest.attempt("ann", {".github/workflows/ci.yml": "on: push\n"})
    found = contest.select()
    assert found.chosen is None
    assert found.decision()["approval_required"] is True
    assert "configuration of CI" in contest.reasons(risky)
    diff = diff_of(contest)
    contest.play.as_("ann").do(evidences.approve, diff)
    assert contest.select().chosen is None
    contest.play.do(evidences.approve, diff, response="not yet")
    contest.play.as_("eve").do(evidences.approve, diff)
    assert contest.select().chosen is None
    contest.play.do(evidences.approve, diff, response="yes")
    assert contest.select().decision()["selected_dispatch_id"] == risky
    path = contest.play.root / contest.play.state(diff).evidence_named(diff).path
    contest.play.commit(path, path.read_text() + "summary: something else than was approved\n")
    assert "configuration of CI" in contest.reasons(risky)


def test_an_approval_of_a_diff_that_begins_late_is_none_of_the_one_that_touches_ci(contest: Contest) -> None:
    risky = contest.attempt("ann", {"app.py": "answer = 41 + 1\n", ".github/workflows/ci.yml": "on: push\n"})
    whole = diff_of(contest)
    tip = contest.play.state(whole).evidence_named(whole).data["diff"]["tip"]
    git(contest.play.root, "switch", "-q", "--detach", tip)
    late = contest.play.commit("app.py", "answer = 42\n")
    git(contest.play.root, "switch", "-q", "main")
    short = contest.play.as_("ann").do(evidences.add_evidence, "diff", diff=f"{late}..{tip}", dispatch=risky)
    eve = contest.play.as_("eve")
    eve.do(evidences.approve, short)
    assert contest.select().chosen is None
    assert "configuration of CI" in contest.reasons(risky)
    eve.do(evidences.approve, whole)
    assert contest.select().decision()["selected_dispatch_id"] == risky


def test_who_says_no_to_a_task_does_not_approve_a_diff_of_it(contest: Contest) -> None:
    risky = contest.attempt("ann", {".github/workflows/ci.yml": "on: push\n"})
    eve, diff = contest.play.as_("eve"), diff_of(contest)
    eve.do(evidences.approve, diff)
    eve.do(evidences.approve, contest.task, response="no")
    assert "configuration of CI" in contest.reasons(risky)
    eve.do(evidences.approve, diff)
    assert contest.select().decision()["selected_dispatch_id"] == risky


def test_what_touches_ci_waits_for_the_approval_of_whom_policy_names(contest: Contest) -> None:
    policy = "version: 1\npolicy: {approvals: {approvers: [eve, bob], not_author: true}}\n"
    contest.play.commit(layout.CONFIG, policy, "policy")
    contest.hand("ann", "bob")
    contest.attempt("bob", {"app.py": "answer = 41 + 1\n"}, diff=False)
    risky = contest.attempt("ann", {".github/workflows/ci.yml": "on: push\n"})
    diff = diff_of(contest)
    for name in ("dan", "bob"):
        contest.play.as_(name).do(evidences.approve, diff)
        assert contest.select().chosen is None, name
    contest.play.as_("eve").do(evidences.approve, diff)
    assert contest.select().decision()["selected_dispatch_id"] == risky


def diff_of(contest: Contest) -> str:
    """Return the only diff."""
    state = contest.play.state(contest.task)
    (diff,) = [name for name in state.ids("evidence") if (one := state.evidence(name)) and one.kind == "diff"]
    return diff


@pytest.mark.parametrize("beside", [{}, {"app.py": "answer = 41 + 1\n"}])
@pytest.mark.parametrize("name", [".github/workflows/a\tb.yml", ".github/workflows/a\\b.yml"])
def test_a_diff_with_a_path_that_no_record_names_waits_for_approval(
    contest: Contest, name: str, beside: dict[str, str]
) -> None:
    odd = contest.attempt("ann", {name: "on: push\n", **beside})
    assert contest.select().decision()["approval_required"] is True
    assert "paths that its diff does not name" in contest.reasons(odd)
    contest.play.do(evidences.approve, diff_of(contest))
    assert contest.select().decision()["selected_dispatch_id"] == odd


def test_a_no_to_a_diff_that_is_redacted_stays_one_until_it_is_followed_by_a_yes(contest: Contest) -> None:
    risky = contest.attempt("ann", {".github/workflows/ci.yml": "on: push\n"})
    diff, bob = diff_of(contest), contest.play.as_("bob")
    bob.do(evidences.approve, diff)
    assert contest.ranked().chosen
    no_ = bob.do(evidences.approve, diff, response="no")
    contest.play.do(settling.redact_record, no_, reason="It names a customer.")
    assert contest.select().chosen is None
    contest.play.as_("eve").do(evidences.approve, diff)
    assert contest.select().chosen is None, "bob's no is still the latest that he said"
    bob.do(evidences.approve, diff)
    assert contest.select().decision()["selected_dispatch_id"] == risky


def test_a_redacted_no_before_a_yes_hinders_nothing(contest: Contest) -> None:
    risky = contest.attempt("ann", {".github/workflows/ci.yml": "on: push\n"})
    diff, bob = diff_of(contest), contest.play.as_("bob")
    no_ = bob.do(evidences.approve, diff, response="not yet")
    bob.do(evidences.approve, diff)
    contest.play.do(settling.redact_record, no_, reason="It names a customer.")
    assert contest.select().decision()["selected_dispatch_id"] == risky


def test_a_kind_that_policy_requires_must_have_passed_last(contest: Contest) -> None:
    one = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    contest.play.commit(".memento/config.yaml", "version: 1\npolicy:\n  require: [test, lint]\n", "policy")
    assert "lint" in contest.reasons(one)


def test_a_failure_on_the_same_code_that_was_not_cited_is_seen(contest: Contest) -> None:
    play = contest.play.as_("ann")
    dispatch = play.dispatch(contest.task, "ann", candidate=True)
    play.do(dispatches.claim_dispatch, dispatch)
    argv = [sys.executable, "-c", "import os; raise SystemExit(os.environ.get('N') == '1')"]
    good = play.do(
        evidences.record_draft, evidences.witness(play.ledger, argv, kind="test", quiet=True), dispatch=dispatch
    )
    bad = [sys.executable, "-c", "raise SystemExit(1)"]
    play.do(evidences.record_draft, evidences.witness(play.ledger, bad, kind="lint", quiet=True), dispatch=dispatch)
    play.complete(dispatch, good)
    (row,) = contest.ranked().rows()
    assert {"part": "failures", "points": -20, "why": "1 of its evidence failed on this code"} in row["parts"]


def test_what_the_graph_says_of_a_candidate_counts(contest: Contest) -> None:
    from memento_git.work.actions import graphs

    contest.hand("ann", "bob")
    worse = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    better = contest.attempt("bob", {"app.py": "answer = 40 + 2\n"})
    for blocking, warnings in ((True, ["cycle"]), (False, ["hot spot"]), (False, [])):
        diff = {"blocking": blocking, "warnings": warnings, "risk": "high", "after": {"nodes": 1}}

        def record(tx: Any, told: dict[str, Any] = diff) -> str:
            identity = graphs.record_diff(tx, told, None, tasks=[contest.task])
            (path,) = [path for path in tx.changes if path.endswith(f"{identity}.yaml")]
            tx.put(path, tx.changes[path] + f"dispatch: {worse}\n".encode())
            return identity

        contest.play.do(record)
    row = next(row for row in contest.ranked().rows() if row["dispatch_id"] == worse)
    assert {"part": "graph", "points": -30, "why": "1 regression, 1 warning"} in row["parts"]
    assert contest.select().decision()["selected_dispatch_id"] == better


def test_evidence_of_another_hand_off_completes_nothing(contest: Contest) -> None:
    other = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"}, end="")
    state = contest.play.state(contest.task)
    (proof,) = [name for name in state.ids("evidence") if (one := state.evidence(name)) and one.kind == "test"]
    bob = contest.play.as_("bob")
    dispatch = bob.dispatch(contest.task, "bob", candidate=True)
    bob.do(dispatches.claim_dispatch, dispatch)
    with pytest.raises(no.EvidenceRequired, match=other):
        bob.complete(dispatch, proof)


def test_evidence_is_linked_to_a_hand_off_of_its_own_task(contest: Contest) -> None:
    dispatch = contest.play.dispatch(contest.task, candidate=True)
    another = contest.play.task("Another")
    with pytest.raises(no.EvidenceForeign):
        contest.play.do(evidences.add_evidence, "note", summary="x", tasks=[another], dispatch=dispatch)
    both = contest.play.do(
        evidences.add_evidence, "note", summary="x", tasks=[another, contest.task], dispatch=dispatch
    )
    one = contest.play.state(contest.task).evidence_named(both)
    assert (one.data["dispatch"], one.tasks) == (dispatch, [another, contest.task])


def test_different_choices_on_two_branches_are_contested_after_the_merge(contest: Contest, cli: Call) -> None:
    contest.hand("ann", "bob")
    first = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    second = contest.attempt("bob", {"app.py": "answer = 40 + 2\n"})
    root = contest.play.root
    git(root, "checkout", "-qb", "side")
    contest.select(dispatch=first, reason="Ann's.")
    git(root, "checkout", "-q", "main")
    kept = contest.select(dispatch=second, reason="Bob's.").event
    git(root, "merge", "-q", "--no-edit", "side")
    assert contest.play.status(contest.task) == "contested"
    assert not contest.play.is_proven(contest.task)
    listed = cli("settle", "-C", str(root))[1].splitlines()
    assert {line.partition(" by ")[0].strip() for line in listed[1:3]} == {
        f"selected {name[:13]}" for name in (first, second)
    }
    contest.play.do(settling.settle_record, contest.task, kept, reason="It is simpler.")
    assert contest.proven_by() == second


def test_a_failed_candidate_beside_others_asks_for_no_reopening(contest: Contest, cli: Call) -> None:
    contest.hand("ann", "bob")
    at = ("-C", str(contest.play.root))
    assert (
        f"next: memento task show {contest.task}"
        in cli("dispatch", "fail", contest.handed["ann"], "--reason", "no way", *at)[1]
    )
    out = cli("dispatch", "fail", contest.handed["bob"], "--reason", "no way", *at)[1]
    assert f"next: memento task reopen {contest.task} --reason WHY" in out


def test_status_leads_to_the_choice_between_candidates_before_the_end_of_the_run(contest: Contest) -> None:
    choosing = f"memento dispatch select {contest.task}"
    contest.hand("ann", "bob")
    contest.attempt("ann", {"app.py": "answer = 42  # yes\n"})
    contest.attempt("bob", {"app.py": "answer = 41 + 1\n"})
    first, second = contest.play.steps()
    assert (first, second.partition(" run_")[0]) == (choosing, "memento run complete")
    contest.select()
    assert choosing not in contest.play.steps()
    contest.play.do(tasks.reopen_task, contest.task, reason="It broke.")
    contest.play.complete(contest.play.claimed(contest.task), contest.play.evidence(contest.task))
    assert choosing not in contest.play.steps()


def test_a_reopened_task_has_no_choice_left(contest: Contest) -> None:
    contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    contest.select()
    contest.play.do(tasks.reopen_task, contest.task, reason="It broke.")
    (row,) = contest.ranked().rows()
    assert row["reasons"] == ["its completion was undone"]
    again = contest.play.claimed(contest.task)
    contest.play.complete(again, contest.play.evidence(contest.task))
    assert contest.play.is_proven(contest.task)


def test_a_choice_on_another_branch_does_not_outlive_a_reopening(contest: Contest) -> None:
    chosen = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    play, root = contest.play, contest.play.root
    git(root, "checkout", "-qb", "side")
    contest.select()
    git(root, "checkout", "-q", "main")
    play.do(tasks.reopen_task, contest.task, reason="It broke.")
    git(root, "merge", "-q", "--no-edit", "side")
    state = play.state(contest.task)
    assert (play.status(contest.task), state.selected(contest.task)) == ("pending", "")
    assert not state.dispatch(chosen).selected
    play.complete(play.claimed(contest.task), play.evidence(contest.task))
    assert play.is_proven(contest.task)


def test_once_a_candidate_is_chosen_verification_judges_it_alone(contest: Contest) -> None:
    contest.hand("ann", "bob")
    first = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    contest.attempt("bob", {"app.py": "answer = 40 + 2\n"})
    contest.select(dispatch=first, reason="Ann's.")
    (row,) = [row for row in contest.ranked().rows() if row["dispatch_id"] == first]
    contest.play.do(evidences.retract, row["evidence"][0], reason="Wrong machine.")
    assert not contest.play.is_proven(contest.task)
    found = contest.play.do(verifying.verify_task, contest.task)
    assert not found.accepted, "what the other candidate showed proves nothing of the chosen one"


def test_candidates_with_evidence_of_their_own_can_be_verified_before_one_is_chosen(contest: Contest) -> None:
    contest.hand("ann", "bob")
    contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    contest.attempt("bob", {"app.py": "answer = 40 + 2\n"})
    assert contest.play.do(verifying.verify_task, contest.task).unmet == ()
    assert contest.play.is_proven(contest.task)


# On the command line.


def test_the_seeds_selection_has_its_keys_and_says_no_with_its_exit_code(contest: Contest, cli: Call) -> None:
    where = ("-C", str(contest.play.root), "--json")
    code, out, _ = cli("dispatch", "select", contest.task, *where)
    answer = json.loads(out)
    assert (code, answer["ok"], answer["error"], answer["candidates"]) == (1, False, "no_candidate", [])
    dispatch = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    code, out, _ = cli("dispatch", "select", contest.task, *where)
    answer = json.loads(out)
    assert (code, answer["event_id"]) == (0, None)
    assert set(answer["decision"]) == {
        "selected_dispatch_id", "selected_executor", "rejected", "auto_merge_allowed", "approval_required",
        "preserved_evidence_trails",
    }  # fmt: skip
    assert set(answer) - {"ok", "warnings"} == set(rows.ANSWERS["dispatch select"].split())
    code, out, _ = cli("dispatch", "select", contest.task, "--candidate", dispatch, "--record", "best", *where)
    assert (code, json.loads(out)["decision"]["selected_dispatch_id"]) == (0, dispatch)
    code, out, _ = cli("task", "show", contest.task, *where)
    answer = json.loads(out)
    assert answer["task"]["selected_dispatch_id"] == dispatch
    assert [row["selected"] for row in answer["dispatches"]] == [True]
    code, out, _ = cli("report", "-C", str(contest.play.root))
    assert f"selected: `{dispatch}`" in out
    code, out, _ = cli("log", "-C", str(contest.play.root))
    assert "  selected  " in out
    code, out, _ = cli("dispatch", "select", contest.task, "-C", str(contest.play.root))
    assert "score" in out
    assert "nothing is merged" in out
    code, out, _ = cli("dispatch", "select", contest.task, "--record", "ghost", *where)
    assert (code, json.loads(out)["error"]) == (1, "id_invalid")


def test_evidence_is_run_and_added_for_a_hand_off(contest: Contest, cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(contest.play.root)
    dispatch = contest.play.claimed(contest.task)
    for words in (("evidence", "run", "--dispatch", dispatch[9:16], "--json", "--", "true"),
                  ("evidence", "add", "app.py", "--dispatch", dispatch, "--json")):  # fmt: skip
        code, out, _ = cli(*words)
        row = json.loads(out)["evidence"]
        assert (code, row["dispatch"], row["task_id"]) == (0, dispatch, contest.task)
    assert (
        json.loads(cli("evidence", "run", "--dispatch", "zzzz", "--json", "--", "true")[1])["error"]
        == "dispatch_not_found"
    )
    short = cli("evidence", "run", "--dispatch", dispatch[:14], "--out", "out", "--json", "--", "true")
    assert json.loads(short[1])["error"] == "id_invalid"
    assert cli("evidence", "run", "--dispatch", dispatch, "--out", "out", "--json", "--", "true")[0] == 0
    code, out, _ = cli("evidence", "add", "--from", "out", "--json")
    row = json.loads(out)["evidence"]
    assert (code, row["dispatch"], row["task_id"]) == (0, dispatch, contest.task)


def test_apply_selects_or_is_refused(contest: Contest) -> None:
    with pytest.raises(selections.NoCandidate, match="there is none"):
        contest.play.do(batch.apply, f"- {{do: dispatch select, task: {contest.task}}}".encode())
    dispatch = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    (done,) = contest.play.do(batch.apply, f"- {{do: dispatch select, task: {contest.task}}}".encode())
    assert done["id"] == dispatch


def test_a_ledger_that_is_opened_anew_reads_the_same_choice(contest: Contest) -> None:
    dispatch = contest.attempt("ann", {"app.py": "answer = 41 + 1\n"})
    contest.select()
    with Ledger.open(contest.play.root) as again:
        assert Play(again).state(contest.task).selected(contest.task) == dispatch


def test_a_second_candidate_that_proves_nothing_is_told_by_its_own_evidence(play: Play, cli: Call) -> None:
    play.ledger.change(
        "x", lambda tx: tx.put(".memento/config.yaml", b"version: 1\npolicy: {proof: {lint: witnessed}}\n")
    )
    task = play.planned_task()
    hands = [play.dispatch(task, candidate=True) for _ in range(2)]
    shown = [play.evidence(task) for _ in hands]
    for hand, evidence in zip(hands, shown, strict=True):
        play.do(dispatches.claim_dispatch, hand)
        out = cli("dispatch", "complete", hand, "--evidence", evidence, "-C", str(play.root))[1]
        assert [one for one in shown if one in out] == [evidence]
