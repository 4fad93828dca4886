"""What an event names is withheld until the event itself lies at the base, where nobody judges it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from memento_git.work.actions import plans, settling
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA, GATE
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

WHY = "Half of it was lost in a rebase."
CHECKED = "  verify: [{commands: [{run: [python3, check.py]}]}]\n  reproduce: {commands: [[python3, check.py]]}\n"


SPELLED = {"by number": '"\\x65vent_{0}"', "over two lines": '"event_\\\n  {0}"'}


class Held(NamedTuple):
    """An event that was taken away again: its path, its bytes, and how others name it."""

    event: str
    path: str
    data: bytes
    ref: str

    def brought(self, doors: Doors) -> None:
        """Bring it as a file of its own."""
        doors.write(self.path, self.data, "what was withheld")


def withheld(doors: Doors, event: str) -> Held:
    """Take an event away and keep it."""
    held = Held(event, doors.path(event), doors.file(event).read_bytes(), str(doors.ref(event)))
    doors.remove(event)
    return held


def spelled(doors: Doors, event: str, named: str, how: str) -> None:
    """Have the file of an event name another one by letters that YAML alone reads as that."""
    ref = str(doors.ref(named))
    doors.edit(event, ref, SPELLED[how].format(ref.removeprefix("event_")))


def completed(doors: Doors) -> tuple[str, Held]:
    """Return a completion on witnessed evidence, and the claim that it lacks."""
    task = doors.play.task()
    done = doors.completed(task, doors.witness(task))
    return done, withheld(doors, doors.last(task, "claimed"))


def test_a_void_of_an_incomplete_completion_that_names_nothing_absent(doors: Doors) -> None:
    """Way: the completion is off every list until its claim comes, and then the void does not hold."""
    doors.policy(CHECKED)
    done, claim = completed(doors)
    doors.forge(doors.event(done).of, "voided", target=done, reason=WHY)
    assert f"{claim.event}, which it names, is absent" in doors.caught("E002")


def test_a_completion_of_the_base_whose_claim_comes_alone(doors: Doors) -> None:
    """Way: a completion that nothing of policy is met by lies at the base; only a claim is the branch's."""
    doors.policy("  proof: {test: reproduced}\n")
    _, claim = completed(doors)
    doors.landed()
    claim.brought(doors)
    assert "reproduced is asked" in doors.caught("P001")


def test_a_completion_of_the_base_whose_claim_comes_alone_is_run_again(doors: Doors) -> None:
    doors.policy(CHECKED)
    (doors.root / "app.py").write_text("bad\n")
    doors.play.commit_all("break it")
    _, claim = completed(doors)
    doors.landed()
    claim.brought(doors)
    doors.sound()
    code, rows = doors.check("--base", "main", "--reproduce")
    assert (code, [row["code"] for row in rows]) == (5, ["V002"])


@pytest.mark.parametrize("how", SPELLED)
def test_a_completion_of_the_base_that_names_its_claim_by_other_letters(doors: Doors, how: str) -> None:
    """Way: a search of the base for the claim that the branch brings finds no event that names it."""
    doors.policy("  proof: {test: reproduced}\n")
    task = doors.play.task()
    done = doors.completed(task, doors.witness(task))
    named = doors.last(task, "claimed")
    spelled(doors, done, named, how)
    claim = withheld(doors, named)
    doors.landed()
    claim.brought(doors)
    assert "reproduced is asked" in doors.caught("P001")


@pytest.mark.parametrize("how", SPELLED)
def test_a_void_of_a_failure_that_names_its_past_by_other_letters(doors: Doors, how: str) -> None:
    run = run_of(doors)
    doors.play.gate(GATE, "passed")
    doors.play.gate(GATE, "failed", reason="It leaks.")
    failed, passed = doors.last(run, "failed"), doors.last(run, "passed")
    asked = doors.forge(run, "requested", sees=[], gate="plan_review")
    void = doors.forge(run, "voided", sees=[asked], target=failed, absent=[str(doors.ref(passed))], reason=WHY)
    spelled(doors, void, asked, how)
    held = withheld(doors, asked)
    doors.landed()
    held.brought(doors)
    assert doors.gate(GATE) == "passed"
    assert failed in doors.caught("D009")


def test_a_claim_that_is_made_up_as_what_is_left_of_a_redacted_one(doors: Doors) -> None:
    """Way: nobody can tell whether a digest is that of an event which was redacted."""
    doors.policy("  proof: {test: reproduced}\n")
    done, claim = completed(doors)
    doors.landed()
    event = doors.event(done)
    opened = doors.last(event.of, "dispatched")
    kept = {
        "do": "claimed", "of": event.of, "at": event.at, "by": ADA, "after": [str(doors.ref(opened))],
        "dispatch": event.get("dispatch"), "until": "2099-01-01T00:00:00.000Z",
    }  # fmt: skip
    doors.forge(event.of, "redacted", sees=[opened], target=claim.ref, kept=kept, reason=WHY)
    assert "reproduced is asked" in doors.caught("P001")


@pytest.mark.parametrize("where", ["base", "branch"])
def test_a_completion_whose_claim_comes_and_one_of_both_lies_in_an_archive(doors: Doors, where: str) -> None:
    doors.policy("  proof: {test: reproduced}\n")
    done, claim = completed(doors)
    if where == "base":
        path, data = doors.path(done), doors.file(done).read_bytes()
        doors.remove(done)
        doors.packed(run_of(doors), {path: data})
    doors.landed()
    if where == "base":
        claim.brought(doors)
    else:
        doors.packed(run_of(doors), {claim.path: claim.data})
    assert "reproduced is asked" in doors.caught("P001")


def test_an_approval_whose_past_comes_alone(doors: Doors) -> None:
    """Way: of the plan itself nothing differs, so that nobody asks who approved it."""
    doors.policy("  plan: {approvers: [Grace]}\n")
    run = doors.play.run("Another")
    plan = doors.play.do(plans.draft_plan, "Plan", "Do it.", run=run)
    asked = doors.forge(run, "requested", gate="plan_review")
    doors.forge(plan, "approved", text=doors.ref(plan).digest)
    held = withheld(doors, asked)
    doors.landed()
    held.brought(doors)
    assert f"{plan} was approved by {ADA}" in doors.caught("P003")


def test_a_void_of_a_failure_whose_past_comes_alone(doors: Doors) -> None:
    """Way: at the base the void has no effect, and the branch that lets it have one brings no void."""
    run = run_of(doors)
    doors.play.gate(GATE, "passed")
    doors.play.gate(GATE, "failed", reason="It leaks.")
    failed, passed = doors.last(run, "failed"), doors.last(run, "passed")
    asked = doors.forge(run, "requested", sees=[], gate="plan_review")
    doors.forge(run, "voided", sees=[asked], target=failed, absent=[str(doors.ref(passed))], reason=WHY)
    held = withheld(doors, asked)
    doors.landed()
    held.brought(doors)
    assert doors.gate(GATE) == "passed"
    assert failed in doors.caught("D009")


def test_a_void_of_what_is_legal_at_the_base_that_does_not_hold(doors: Doors) -> None:
    """It has no effect, and says to whoever reads it that what it names does not count."""
    run = run_of(doors)
    doors.play.gate(GATE, "passed")
    doors.play.gate(GATE, "failed", reason="It leaks.")
    doors.landed()
    failed = doors.last(run, "failed")
    doors.forge(run, "voided", sees=[], target=failed, reason=WHY)
    assert doors.gate(GATE) == "failed"
    assert failed in doors.caught("T007")


def test_a_claim_that_is_restored(doors: Doors) -> None:
    """The honest way: a rebase dropped a claim, and a branch brings it back to a completion that was sound."""
    _, claim = completed(doors)
    doors.landed()
    git(doors.root, "checkout", "-q", "HEAD^", "--", claim.path)
    doors.play.commit_all("restore the claim")
    doors.sound()


def test_what_was_voided_while_its_past_was_absent_stays_so(doors: Doors) -> None:
    """The honest way: what is half lost is voided by the verb, and the other half comes by a later merge."""
    doors.policy("  proof: {test: reproduced}\n")
    done, claim = completed(doors)
    doors.landed()
    doors.play.do(settling.void_event, done, reason=WHY)
    for _, options, root in doors.arrivals():
        code, rows = doors.check(*options, root=root)
        assert (code, [row["code"] for row in rows]) == (0, [])
    doors.landed()
    claim.brought(doors)
    assert done in doors.warned("T007")


def test_evidence_of_a_completion_of_the_base_that_comes_alone(doors: Doors) -> None:
    """Way: it is withheld until the completion lies at the base; what the branch brings is run again."""
    doors.policy("  reproduce: {commands: [[python3, check.py]]}\n")
    doors.write("app.py", "worse\n")
    task = doors.play.task()
    evidence = doors.witness(task)
    doors.completed(task, evidence)
    kept = [path.relative_to(doors.root) for path in (doors.file(evidence), doors.file(evidence).with_suffix(""))]
    doors.remove(evidence)
    assert doors.caught("L002", "P001")
    doors.landed()
    git(doors.root, "checkout", "-q", "HEAD^", "--", *map(str, kept))
    git(doors.root, "commit", "-qm", "what was withheld")
    assert doors.play.is_proven(task)
    doors.sound()
    code, out, _ = doors.cli("check", "--base", "main", "--reproduce", "--format", "json", "-C", str(doors.root))
    assert (code, f"{evidence}, run again, differs: exit code 0 is recorded, 3 came out" in out) == (5, True)


@pytest.mark.parametrize("what", ["stdout.txt", "task.md", "plan.md"])
def test_what_the_proof_of_the_base_lacks_comes_alone(doors: Doors, what: str) -> None:
    """Way: completion and evidence lie at the base, and prove nothing until the kept output, or a text, comes."""
    doors.policy("  reproduce: {commands: [[python3, check.py]]}\n")
    doors.write("app.py", "worse\n")
    task = doors.play.task()
    evidence = doors.witness(task)
    doors.completed(task, evidence)
    [path] = git(doors.root, "ls-files", "--", f":(glob).memento/runs/**/{what}").split()
    doors.remove(path)
    assert doors.caught("V001" if what == "stdout.txt" else "F007")
    doors.landed()
    git(doors.root, "checkout", "-q", "HEAD^", "--", path)
    git(doors.root, "commit", "-qm", "what was withheld")
    assert doors.play.is_proven(task)
    doors.sound()
    code, out, _ = doors.cli("check", "--base", "main", "--reproduce", "--format", "json", "-C", str(doors.root))
    assert (code, f"{evidence}, run again, differs: exit code 0 is recorded, 3 came out" in out) == (5, True)


def test_the_text_of_a_run_that_comes_after_what_was_handed_out_in_it_as_a_known_limit(doors: Doors) -> None:
    """Way: a run whose text is missing may be a spike; whoever merges past that is told by a check of all alone."""
    run = doors.play.run("No spike")
    doors.forge(doors.play.task(run=run), "dispatched", executor="agent", spike=True)
    assert run in doors.caught("P006")
    path = doors.path(run)
    doors.remove(path)
    assert "this file is missing" in doors.caught("F001")
    doors.landed()
    git(doors.root, "checkout", "-q", "HEAD^", "--", path)
    git(doors.root, "commit", "-qm", "what was withheld")
    doors.sound()
    assert "P006" in [row["code"] for row in doors.check("--no-base")[1]]


def test_an_approval_whose_plan_comes_later_is_found_before(doors: Doors) -> None:
    doors.policy("  signatures: {allowed_signers: .memento/allowed_signers, require: {plan_approval: []}}\n")
    run = doors.play.run("Signed")
    plan = doors.play.do(plans.draft_plan, "Plan", "Do it.", run=run)
    doors.forge(plan, "approved", text=doors.ref(plan).digest)
    doors.forge(doors.play.task(run=run), "dispatched", executor="agent", plan=plan)
    doors.caught("K001")
    doors.remove(doors.path(plan))
    doors.caught("K001", "F007")
