"""What is taken back so that what came before counts again, what is dated ahead, and who looks like somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import codec, layout
from memento_git.work.actions import dispatches, evidences, graphs, releases, runs, settling, verifying
from tests.cheats.doors import run_of
from tests.cheats.forging import GATE, MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

LATER = "2099-01-01T00:00:00.000Z"
ONE = "  release: {approvals: 1}\n"
CHECKED = "  release: {checks: [test]}\n"
WHY = "It names a customer."


@pytest.fixture
def run(doors: Doors) -> str:
    """A run whose work is done, and which Grace said no to after she had said yes."""
    doors.policy(ONE)
    doors.play.proven()
    run = run_of(doors)
    grace = doors.play.as_("Grace")
    grace.do(evidences.approve, run)
    grace.do(evidences.approve, run, response="no")
    return run


def answers(doors: Doors, run: str) -> tuple[str, str]:
    """Return the yes and the no."""
    state = doors.play.state(run)
    given = [name for name in state.ids("evidence") if (found := state.evidence(name)) and found.kind == "approval"]
    yes, no = sorted(given, key=lambda name: doors.file(name).read_text().partition("outcome: ")[2], reverse=True)
    return yes, no


def redacted(doors: Doors, record: str, **told: Any) -> None:
    """Write a redaction by hand, and take the file away."""
    path, data = doors.drafted(record, "redacted", target=str(doors.ref(record)), reason=WHY, **told)
    doors.remove(record)
    doors.write(path, data)


def test_a_no_that_is_redacted(doors: Doors, run: str) -> None:
    """Way: the answer is gone, and the yes before it would be the latest."""
    _, no = answers(doors, run)
    doors.landed()
    for _ in doors.accepted("evidence redact", target=no, reason=WHY):
        assert doors.missing(run) == ["approvals: 0 of 1"]
    doors.sound()
    doors.unreleased(run, "approvals: 0 of 1")
    git(doors.root, "reset", "-q", "--hard", "main")
    redacted(doors, no)
    assert no in doors.caught("D009")


def test_a_no_whose_redaction_tells_of_a_yes(doors: Doors, run: str) -> None:
    _, no = answers(doors, run)
    state = doors.play.state(run)
    said = state.evidence_named(no)
    doors.landed()
    redacted(doors, no, kept={**codec.redact_evidence(said.data), "outcome": "passed", "by": "Bob"})
    assert no in doors.caught("D009")


def test_a_no_of_the_branch_itself_that_is_redacted(doors: Doors, run: str) -> None:
    """Way: the no never was on the main branch; only the branch's own commits had it."""
    _, no = answers(doors, run)
    redacted(doors, no)
    assert no in doors.caught("D010")


@pytest.mark.parametrize("how", ["retract", "supersede"])
def test_a_no_that_somebody_else_withdraws(doors: Doors, run: str, how: str) -> None:
    yes, no = answers(doors, run)
    told = {"old": no, "new": yes} if how == "supersede" else {"evidence": no}
    for _ in doors.accepted(f"evidence {how}", reason="She did not mean it.", **told):
        assert doors.missing(run) == ["approvals: 0 of 1"]
    doors.unreleased(run, "approvals: 0 of 1")


@pytest.mark.parametrize("name", ["grace", "GRACE", "Grace <grace@example.invalid>"])
def test_a_no_beside_a_yes_under_another_spelling(doors: Doors, run: str, name: str) -> None:
    """Way: a yes in another spelling of the name is there before she says no."""
    _, no = answers(doors, run)
    doors.remove(no)
    for _ in doors.accepted("evidence approve", actor=name, about=run):
        doors.play.as_("Grace").do(evidences.approve, run, response="no")
        assert doors.missing(run) == ["approvals: 0 of 1"]
    doors.unreleased(run, "approvals: 0 of 1")


def test_a_yes_that_is_dated_after_every_no(doors: Doors, run: str) -> None:
    """Way: the later of two answers counts, and this one is dated later than any that is given today."""
    text = doors.play.state(run).prose(run).digest
    doors.shown(run, kind="approval", by="Grace", at=LATER, approves=run, text=text)
    assert "which is not yet" in doors.warned("T004")
    doors.unreleased(run, "approvals: 0 of 1")


def checked(doors: Doors, task: str, conclusion: str, finished: str = "", **told: Any) -> str:
    """Write by hand what a provider of checks said of the code as it is."""
    head = git(doors.root, "rev-parse", "HEAD")
    check = {"provider": "github", "name": "test", "conclusion": conclusion, "commit": head}
    check |= {"finished": finished} if finished else {}
    outcome = "passed" if conclusion == "success" else "failed"
    return doors.witness(task, kind="ci", check=check, drop=["command"], outcome=outcome, **told)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_release_by_hand_on_a_check_of_other_code(doors: Doors, *, fresh: bool) -> None:
    """Way: the check was a success once. A merge result has other code than its checks, too, so that it is told."""
    doors.policy(CHECKED + "  gates: {fresh: [release]}\n" * fresh)
    task = doors.play.proven()
    run, good = doors.play.state(task).id, checked(doors, task, "success")
    doors.landed()
    doors.forge(run, "passed", gate="release", evidence=[str(doors.ref(good))])
    assert "C001" not in {row["code"] for row in doors.check("--base", MAIN)[1]}
    git(doors.root, "reset", "-q", "--hard", MAIN)
    doors.write("app.py", "worse\n")
    assert "it is stale" in doors.refused("release_refused", "gate release", run=run)
    doors.forge(run, "passed", gate="release", evidence=[str(doors.ref(good))])
    told = doors.caught("G003", told="C001") if fresh else doors.warned("C001")
    assert f"{good}, which the release of {run} rests on, is of other code" in told


def test_a_run_that_is_completed_by_hand_on_a_release_whose_code_is_another_by_now(doors: Doors) -> None:
    doors.policy(CHECKED)
    task = doors.play.proven()
    run, good = doors.play.state(task).id, checked(doors, task, "success")
    assert doors.missing(run) == []
    doors.landed()
    doors.write("app.py", "worse\n")
    assert "it is stale" in doors.refused("gate_fallen", "run complete", run=run)
    doors.forge(run, "completed")
    assert f"{good}, which the release of {run} rests on, is of other code" in doors.warned("C001")


@pytest.mark.parametrize("how", ["retract", "supersede", "redact"])
def test_a_check_that_failed_and_was_taken_back(doors: Doors, how: str) -> None:
    """Way: the success before it, on the same code, would be the latest."""
    doors.policy(CHECKED)
    task = doors.play.proven()
    run = doors.play.state(task).id
    good, bad = checked(doors, task, "success"), checked(doors, task, "failure")
    doors.landed()
    told = {"retract": {"evidence": bad}, "supersede": {"old": bad, "new": good}, "redact": {"target": bad}}[how]
    for _ in doors.accepted(f"evidence {how}", reason="It was a bad day.", **told):
        assert doors.missing(run)[0].startswith("check test: its latest verdict, of github, is ")
    doors.unreleased(run, "check test: its latest verdict, of github, is ")
    if how == "redact":
        git(doors.root, "reset", "-q", "--hard", "main")
        redacted(doors, bad)
        assert bad in doors.caught("D009")
        return
    doors.remove(doors.last(run, "passed"))
    checked(doors, task, "success")
    assert doors.missing(run) == []


@pytest.mark.parametrize("late", [False, True])
def test_a_check_that_failed_after_it_had_been_a_success(doors: Doors, *, late: bool) -> None:
    """Way: the success is cited and the later failure left out, or the success is recorded after it, but ended before.

    No command can be run for what a hosting service checks.
    """
    doors.policy("  proof: {ci: reported}\n")
    task = doors.play.task()
    ends = [("success", "2026-01-10T10:00:00.000Z"), ("failure", "2026-01-10T10:05:00.000Z")]
    found = {word: checked(doors, task, word, at) for word, at in (reversed(ends) if late else ends)}
    doors.completed(task, found["success"])
    doors.sound()
    assert doors.task(task)["failed_since"] == [found["failure"]]
    told = doors.cli("diff", "main..work", "--format", "markdown", "-C", str(doors.root))[1]
    assert "ci, reported: github: test success; **failed since**: ci, reported: github: test failure |" in told
    judged = doors.play.do(verifying.verify_task, task)
    assert judged.unmet == (f"test failed in its latest run for this code: {found['failure']}",)


def test_a_success_that_is_dated_after_every_failure(doors: Doors) -> None:
    doors.policy(CHECKED)
    task = doors.play.proven()
    checked(doors, task, "success", at=LATER)
    checked(doors, task, "failure")
    doors.warned("T004")
    doors.unreleased(doors.play.state(task).id, "check test: its latest verdict, of github, is ")


def test_a_pass_that_is_dated_after_every_failure(doors: Doors) -> None:
    """Way: verification looks at the latest run of a command."""
    task = doors.play.task(commands=["python3 check.py"])
    good = doors.witness(task, at=LATER)
    bad = doors.witness(task, "1 failed\n", command={"exit": 3}, outcome="failed")
    claim = doors.play.claimed(task)
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[good])
    doors.completed(task, good, dispatch=claim)
    doors.caught("P001", told="T004")
    doors.unproven(task, f"{good} is dated after now")
    assert any(bad in one for one in doors.play.do(verifying.verify_task, task).unmet)


def test_a_pass_that_is_dated_ahead_in_a_commit_that_is_so_too(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Way: what is read at a commit counts as of its time; and what it comes to is kept for whoever asks next."""
    task = doors.play.task()
    good = doors.witness(task, at=LATER)
    doors.completed(task, good)
    with monkeypatch.context() as later:
        later.setenv("GIT_COMMITTER_DATE", "2099-06-01T00:00:00Z")
        doors.write("notes.txt", "later\n")
    doors.caught("P001", told="T004")
    for words in (("status", "--at", WORK), ("status",), ("report", "--at", WORK), ("diff", f"{MAIN}..{WORK}")):
        shown = doors.cli(*words, "-C", str(doors.root))[1]
        assert "not proven" in shown or "unproven" in shown, shown
    doors.denied("evidence_not_attestable", "evidence", "export", good, "--at", WORK)
    doors.unproven(task, f"{good} is dated after now")


def test_a_pass_that_is_dated_ahead_takes_no_failure_back(doors: Doors) -> None:
    """Way: it proves nothing yet, and is the latest run of the command that proves the task and failed since."""
    task = doors.play.task()
    good = doors.witness(task)
    doors.completed(task, good)
    bad = doors.witness(task, "1 failed\n", command={"exit": 3}, outcome="failed")
    doors.witness(task, at=LATER)
    assert doors.task(task)["failed_since"] == [bad]
    (told,) = doors.answer("diff", f"{MAIN}..{WORK}")["runs"][0]["tasks"]
    assert [row["id"] for row in told["failed_since"]] == [bad]
    doors.warned("T004")


def test_a_failed_run_that_is_taken_back_before_it_is_verified(doors: Doors) -> None:
    """Way: the pass before it would be the latest of its command. Verification runs the command itself."""
    doors.write("app.py", "worse\n")
    task = doors.play.task(commands=["python3 check.py"])
    good = doors.witness(task)
    bad = doors.witness(task, "1 failed\n", command={"exit": 3}, outcome="failed")
    doors.completed(task, good)
    doors.sound()
    for _ in doors.accepted("evidence retract", evidence=bad, reason="It was a bad day."):
        assert doors.task(task)["status"] == "completed"
    doors.cli("task", "verify", task, "-C", str(doors.root))
    assert doors.task(task)["status"] == "rejected"


def test_a_settling_that_chooses_between_a_failure_and_a_pass(doors: Doors) -> None:
    """Way: two verdicts that lie apart are no contest that somebody may settle."""
    run = run_of(doors)
    doors.play.gate(GATE, "failed")
    doors.landed()
    mine = doors.forge(run, "passed", sees=[], gate=GATE)
    doors.refused("not_contested", "settle", record=run, keep=mine, reason="Mine.")
    doors.forge(run, "settled", keep=mine, reason="Mine.")
    assert doors.gate(GATE) == "failed"
    doors.caught("T002")


def test_a_candidate_that_is_chosen_by_hand(doors: Doors) -> None:
    """Way: the choice is of a hand-off of another task, or of the one that proves nothing."""
    play = doors.play
    other, task = play.proven("Other"), play.task("Mine")
    foreign = play.state(other).dispatches(other)
    first, second = play.dispatch(task, candidate=True), play.dispatch(task, candidate=True)
    for claim, actor in ((first, "Ann"), (second, "Bob")):
        play.as_(actor).do(dispatches.claim_dispatch, claim)
    good, bad = play.evidence(task), play.evidence(task, code=1)
    play.as_("Ann").complete(first, good)
    doors.refused("evidence_required", "dispatch complete", actor="Bob", dispatch=second, evidence=[bad])
    doors.completed(task, bad, dispatch=second, by="Bob")
    doors.forge(task, "selected", dispatch=second, reason="Mine.", scores={second: 100})
    doors.caught("P001")
    doors.unproven(task, f"{bad} failed")
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    its = next(iter(foreign))
    doors.forge(task, "selected", dispatch=its, reason="Mine.", scores={its: 100})
    doors.caught("T002")


def candidate(doors: Doors) -> tuple[str, str, str]:
    """Return a task, its candidate, which changes what CI does, and the diff of that."""
    play, task = doors.play, doors.play.task("Mine")
    claim = str(play.do(dispatches.claim_dispatch, play.dispatch(task, candidate=True)))
    before = git(doors.root, "rev-parse", "HEAD")
    doors.write(".github/workflows/ci.yml", "on: push\n")
    draft = evidences.witness(play.ledger, ["python3", "check.py"], kind="test", quiet=True)
    proof = play.do(evidences.record_draft, draft, dispatch=claim)
    diff = play.do(evidences.add_evidence, "diff", diff=f"{before}..HEAD", dispatch=claim)
    play.complete(claim, proof)
    return task, claim, str(diff)


def test_a_no_to_what_a_candidate_changes_that_is_redacted(doors: Doors) -> None:
    """Way: the answer is gone, and the yes before it would be the latest."""
    task, claim, diff = candidate(doors)
    grace = doors.play.as_("Grace")
    grace.do(evidences.approve, diff)
    no = grace.do(evidences.approve, diff, response="no")
    doors.landed()
    for _ in doors.accepted("evidence redact", target=no, reason=WHY):
        assert "must approve its diff" in doors.refused(
            "candidate_refused", "dispatch select", task=task, dispatch=claim
        )
        doors.refused("no_candidate", "dispatch select", task=task)


def test_work_that_comes_after_a_release(doors: Doors) -> None:
    """Way: the run was released, and what follows is shown in its light."""
    play = doors.play
    run = play.state(play.proven()).id
    assert play.do(releases.release_run).event
    doors.landed()
    task = play.task("More")
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    doors.refused("task_unsettled", "run complete", run=run)
    doors.completed(task, bad, dispatch=claim)
    doors.caught("P001")
    doors.unproven(task, f"{bad} failed")


def test_an_archive_with_files_of_another_run(doors: Doors) -> None:
    """Way: what nobody would look for there lies in the archive of a run that is over."""
    play = doors.play
    task, run = play.task(), next(iter(play.ledger.view().runs()))
    claim, bad = play.claimed(task), play.evidence(task, code=1)
    over = play.run("Over")
    doors.refused("run_not_final", "archive", run=over)
    doors.landed()
    path, data = doors.drafted(task, "completed", **doors.completion(task, bad, dispatch=claim))
    doors.packed(over, {path: data, layout.CONFIG: b"version: 1\n", f"{layout.RUNS}/{over}/../{run}/x": b""})
    doors.caught("A003")
    assert play.status(task) == "in_progress"


@pytest.mark.parametrize("by", ["Agent:hermes", "AGENT:hermes", "\uff41gent:hermes", "\u0430gent:hermes"])
def test_a_note_of_an_agent_as_a_persons(doors: Doors, by: str) -> None:
    """Way: what an agent noted is taken for a person's word, as its name is spelled otherwise."""
    text = "The tests of the parser need a database."
    if not by.startswith("\u0430"):
        doors.refused("origin_invalid", "note add", actor=by, text=text, origin="person")
    note = str(doors.play.as_("Ann").do(_add_note, text))
    path = next(doors.root.rglob(f"{note}.md"))
    told = path.read_text()
    doors.write(path.relative_to(doors.root).as_posix(), told.replace("by: Ann", f"by: {by}"))
    assert "says person" in doors.caught("N006")


def _add_note(tx: Any, text: str) -> str:
    from memento_git.verbs import notes

    return notes.add_note(tx, text)


def test_evidence_of_a_note_that_is_exchanged(doors: Doors) -> None:
    """Way: a note rests on a pass that is edited afterwards."""
    task = doors.play.task()
    evidence = doors.play.evidence(task)
    doors.refused("evidence_not_found", "note add", text="It is fast.", evidence=["evidence_000000000000"])
    for _ in doors.accepted("note add", text="It is fast.", evidence=[evidence]):
        doors.edit(evidence, "kind: test", "kind: lint")
        assert doors.check("--base", "main")[0] == 5
    assert evidence in doors.caught("L003")


@pytest.mark.parametrize("name", ["Gr\u0430ce", "\u0410da"])
def test_a_name_that_looks_like_one_of_the_base(doors: Doors, name: str) -> None:
    """Way: neither policy nor a commit's author has the name, only what others wrote before."""
    run = run_of(doors)
    doors.play.as_("Grace").gate(GATE, "failed")
    doors.landed()
    for key, value in (("user.name", "Eve"), ("user.email", "eve@example.invalid")):
        git(doors.root, "config", key, value)
    for _ in doors.accepted("gate record", actor=name, gate=GATE, verdict="passed", run=run):
        assert doors.check("--base", "main")[0] == 5
    assert f"{name} looks like " in doors.caught("C006")
    for _ in doors.accepted("evidence redact", target=doors.last(run, "passed"), reason=WHY):
        assert doors.gate(GATE) == "passed"
    assert f"{name} looks like " in doors.caught("C006")


def test_a_name_that_looks_like_one_of_an_archive(doors: Doors) -> None:
    """Way: whom the name is like acted in runs that are in archives by now, and nowhere else."""
    run = run_of(doors)
    doors.play.as_("Grace").gate(GATE, "failed")
    doors.play.do(runs.cancel_run, run, reason=WHY)
    doors.play.do(runs.archive_run, run)
    other = doors.play.run("Another")
    doors.landed()
    git(doors.root, "config", "user.name", "Gr\u0430ce")
    doors.forge(other, "passed", gate=GATE, by="Gr\u0430ce")
    assert "Gr\u0430ce looks like Grace" in doors.caught("C006")


def test_a_name_of_another_alphabet_that_is_like_none_of_an_archive(doors: Doors) -> None:
    """The honest way: a name is written as its owner writes it, in runs that are in archives and in others."""
    run = run_of(doors)
    git(doors.root, "config", "user.name", "\u0413\u0440\u0435\u0439\u0441")
    doors.forge(run, "requested", gate=GATE, by="\u0413\u0440\u0435\u0439\u0441")
    doors.play.do(runs.cancel_run, run, reason=WHY)
    doors.play.do(runs.archive_run, run)
    other = doors.play.run("Another")
    doors.landed()
    doors.forge(other, "requested", gate=GATE, by="\u0413\u0440\u0435\u0439\u0441")
    doors.sound()


@pytest.mark.parametrize(
    ("strict", "weak", "told"),
    [
        ("executors:\n  mine: {run: [work], scope: [docs/*]}\n", "executors:\n  mine: {run: [work]}\n",
         "executors.mine.scope: it may work on all files now"),
        ("executors:\n  mine: {run: [work], scope: [docs/*]}\n",
         "executors:\n  mine: {run: [work], scope: [docs/*, src/*]}\n", "mine.scope: it may work on src/* now"),
        ("executors: {}\n", "executors:\n  codex: {risk: high}\n", "executors.codex.risk: it may take more now"),
        ("executors:\n  codex: {run: [tools/safe], risk: low}\n", "executors: {}\n",
         "executors.codex: another command is started now (run, health)"),
        ("executors:\n  mine: {run: [work], wrap: [box]}\n", "executors:\n  mine: {run: [work]}\n",
         "executors.mine.wrap: no sandbox now"),
        ("executors:\n  mine: {run: [work], cost: 5}\n", "executors:\n  mine: {run: [work], cost: 1}\n",
         "executors.mine.cost: 1.0 now, it was 5.0"),
        ("policy:\n  budget: {attempts: 2}\n", "policy:\n  budget: {attempts: 9}\n", "attempts: 9 now, it was 2"),
        ("policy:\n  budget: {cost: 5}\n", "policy: {}\n", "budget.cost: no limit now, it was 5"),
    ],
)  # fmt: skip
def test_what_executors_may_do_is_weakened(doors: Doors, strict: str, weak: str, told: str) -> None:
    """Way: the branch lets the executor that works on it do more."""
    doors.config(strict)
    doors.config(weak, branch=WORK)
    assert told in doors.warned("C003")


def test_an_answer_that_is_redacted_twice_says_the_same(doors: Doors, run: str) -> None:
    yes, no = answers(doors, run)
    doors.play.do(settling.redact_record, no, reason=WHY)
    doors.refused("already_redacted", "evidence redact", target=no, reason=WHY)
    doors.forge(no, "redacted", target=f"{yes}@{doors.ref(yes).digest}", reason=WHY)
    broken, lacking = doors.missing(run)
    assert "this file is back" in broken
    assert lacking == "approvals: 0 of 1"


@pytest.mark.parametrize("how", ["as it is", "retracted"])
def test_what_is_dated_ahead_does_not_block_for_ever(doors: Doors, run: str, how: str) -> None:
    """Not a way to stop others, either: what was dated ahead is left out, and a yes that is given now counts."""
    text = doors.play.state(run).prose(run).digest
    early = doors.shown(run, kind="approval", by="Grace", at=LATER, approves=run, text=text)
    if how == "retracted":
        doors.play.do(evidences.retract, early, reason="A wrong clock.")
    doors.warned("T004")
    doors.play.as_("Grace").do(evidences.approve, run)
    assert doors.missing(run) == []


def test_the_words_of_an_event_are_edited_after_it_came(doors: Doors) -> None:
    """Way: what a completion says is made better once the reviewer has read it."""
    play = doors.play
    task = play.proven()
    done = doors.last(task, "completed")
    path = doors.root / doors.path(done)
    play.commit(path, f"{path.read_text().rstrip()}\nnote: Reviewed by Grace, all fine.\n", "wording")
    assert f"{done} came with other words" in doors.caught("D010")


def test_an_edit_that_was_taken_back_is_none(doors: Doors) -> None:
    done = doors.last(doors.play.proven(), "completed")
    path = doors.root / doors.path(done)
    text = path.read_text()
    for words in (f"{text}note: Better.\n", text):
        doors.play.commit(path, words, "wording")
    doors.warned()


@pytest.mark.parametrize("how", ["retract", "supersede", "redact", "retract what names another commit"])
def test_the_graph_that_a_release_is_compared_with(doors: Doors, how: str) -> None:
    """Way: without the first graph, or with the commit that has the new cycle, that would be there from the first."""
    play = doors.play
    doors.write("a.py", "X = 1\n")
    doors.write("b.py", "import a\n")
    task = play.task()
    run, first = play.state(task).id, str(play.do(graphs.update_graph))
    doors.landed()
    claim = play.claimed(task)
    doors.write("a.py", "import b\nX = 1\n")
    play.complete(claim, play.evidence(task))
    second = play.do(graphs.update_graph)
    told = {"retract": {"evidence": first}, "supersede": {"old": first, "new": second}, "redact": {"target": first}}
    if how not in told:
        was, now = (play.state(run).evidence_named(name).data["code"]["head"] for name in (first, second))
        doors.play.commit(doors.file(first), doors.file(first).read_text().replace(was, now), "another commit")
        how = "retract"
    for _ in doors.accepted(f"evidence {how}", reason="An old tool took it.", **told[how]):
        assert doors.missing(run)[0].startswith("graph: ")
    assert ("redacted" if how == "redact" else "a.py -> b.py -> a.py") in doors.refused(
        "release_refused", "gate release", run=run
    )
    if how == "redact":
        git(doors.root, "reset", "-q", "--hard", "main")
        redacted(doors, first)
        assert first in doors.caught("D009")


def test_a_first_graph_that_is_retracted_where_nothing_was_made_worse(doors: Doors) -> None:
    """The honest way: a graph that said too little is taken back, and what it should have said was there before."""
    play = doors.play
    doors.write("a.py", "import b\nX = 1\n")
    doors.write("b.py", "import a\n")
    (doors.root / "graph.json").write_text('{"nodes": [], "edges": []}')
    task = play.task()
    first = play.do(evidences.add_evidence, "graph", files=["graph.json"])
    (doors.root / "graph.json").unlink()
    play.complete(play.claimed(task), play.evidence(task))
    run = play.state(task).id
    assert doors.missing(run)[0].startswith("graph: ")
    for _ in doors.accepted("evidence retract", evidence=first, reason="It is empty."):
        assert doors.missing(run) == []
    doors.sound()
