"""The findings about what policy asks: proof, plans, dispatches and gates."""

from __future__ import annotations

from typing import Final

from memento_git.model.finding import Kind

POLICY: Final = {
    "P001": Kind(
        "done without proof", "warning",
        "A task is completed or accepted, and nothing that it cites proves it under policy. An error where the branch "
        "completes or accepts it: the base's policy decides.",
        "`memento evidence run --task TASK -- CMD`, reopen the task and complete it with that.",
    ),
    "P002": Kind(
        "an approved plan whose text changed", "error",
        "The text of the canonical plan is another than the one that was approved.",
        "Restore the text, or `memento plan approve PLAN` again.",
    ),
    "P003": Kind(
        "an approval by somebody who may not", "warning",
        "A plan was approved by its author, or with a key of theirs, or by somebody whom policy does not name. An "
        "error where the branch does it, or hands out on such a plan of the base. Only a warning where somebody "
        "else than the author changed the text, by what its commits say, and nobody but them approved it as it is "
        "now. An approval that was voided or settled away is asked, too, where work or another event still rests "
        "on it. None once who may has approved the same words again; a warning where another plan holds, and "
        "nothing that stands was handed out on it. And a warning where a task of the branch asks for an approval, and "
        "has only that of who did it.",
        "Let somebody approve it whom `plan.approvers` names; reopen what rests on one that was taken out. Let "
        "somebody else approve the task, and verify it.",
    ),
    "P004": Kind(
        "a completed run below policy", "warning",
        "A run was completed although a gate that policy requires had not passed, or its pass or waiver did not hold; "
        "likewise another gate of which policy says who may pass it, or on what. An error where the branch completes "
        "the run; a warning otherwise, and where anybody may pass the gate. Or the branch completed the run over work "
        "that is not done, proven or signed, or past a failed gate that policy guards, even of a task that was "
        "repaired. Or such a gate, or the release, was passed or waived beside or after the completion: too late. "
        "A warning where the branch cancels what the base had asked for, and completes the run on what is left.",
        "`memento gate record KIND passed --run RUN` before the run is completed; finish, prove or cancel its tasks. "
        "One that came beside the completion is cancelled where it came from, and done in a further run.",
    ),
    "P005": Kind(
        "a repair that asks less", "warning",
        "A repair lacks criteria or verification that the task it repairs asks for, or has another kind, risk or "
        "files, for which policy asks less. Or neither it nor the repaired task still asks all that the latter asked "
        "when it was rejected or handed out, and the base's text does not either. An error where the branch completes "
        "or accepts the repair, unless only words differ, be it all, and no criterion fewer. Not where the repair is "
        "cancelled, or the other task done. A warning where the repair does not wait for what the other waited for, "
        "or a done task asks less than when rejected, or it or its repair less proof than when handed out.",
        "Put back what is missing: `memento task repair` carries all of it over, and the repair may ask more.",
    ),
    "P006": Kind(
        "handed out without a plan", "warning",
        "A task was handed out without a plan, as in a spike, but its run is no spike, or has used up "
        "`spike.dispatches`, and it is open still or its completion counts. An error where the branch does it, or "
        "builds on a dispatch that was taken out.",
        "Approve a plan, then take it back: `memento dispatch recover DISPATCH --force --reason WHY` while it is open, "
        "else `memento task reopen TASK --reason WHY`. Then hand it out again.",
    ),
    "P007": Kind(
        "handed out beyond the budget", "error",
        "The branch hands a task out without a reason, by hand, after as many attempts as policy or the task allows "
        "came to nothing; what the dispatch had not seen does not count, nor what attempts cost.",
        "Take it back, and hand it out with `--over-budget WHY`.",
    ),
    "P008": Kind(
        "a dispatch that does not name what it asks", "error",
        "The branch hands a task out by hand without all of `terms` and `asks`, so that nobody is held to what it "
        "asked, and work goes on from it.",
        "Take it back, as `P006` says, and hand it out with `memento dispatch create`.",
    ),
    "P009": Kind(
        "what had fallen counts again", "error",
        "A verdict, an answer or a completion from before the branch did not count at the base, for something had come "
        "after it: other words, another plan or another choice among candidates. The branch puts back the words, "
        "approves a plan or chooses a candidate by which it counts, and nobody gave it again. What came with the "
        "branch from before the base had those words, plan or choice is judged so, too. Not of a gate that "
        "policy neither requires nor guards, nor of words that are only wrapped otherwise, nor where a plan's text is "
        "again as it was approved, nor of a disagreement that is settled. A warning where evidence counts again "
        "because the branch takes away a second run that came to something else, where it relies on another pass of "
        "what failed in such a run on the same code, of a candidate beside the one that is chosen, and where a plan "
        "takes the place of one that somebody else rejected, and asks no less: then no plan held, and what was done "
        "on the rejected one counts again. Not of the latter where policy names who approves plans.",
        "Leave the edit out; or give it again, as one who may: pass the gate, answer, complete the task anew.",
    ),
    "G001": Kind(
        "a gate on unsound evidence", "error",
        "A gate was passed on evidence that failed, was withdrawn, or belongs to another task. A warning where the run "
        "ended at the base: nobody can give a verdict there.",
        "Give the verdict again on sound evidence: `memento gate record KIND passed --evidence EVIDENCE`.",
    ),
    "G002": Kind(
        "a verdict by somebody who may not", "warning",
        "A gate was passed, failed or waived by somebody whom policy does not name for it. An error where the branch "
        "adds the verdict. None once who may has passed or waived the gate after it; a warning where the gate failed "
        "after it, and nothing that stands was handed out as it had lifted a failure.",
        "Let somebody judge it whom `gates.verdicts` or `gates.waivers` names.",
    ),
    "G003": Kind(
        "a gate that is not fresh", "error",
        "Policy asks for fresh evidence at this gate, and what the verdict rests on did not see the code as it is. "
        "Of a run that ended after the verdict, it is enough to have seen the code of the commit that brought its end. "
        "Where the branch brings that, what it changes of the code afterwards has to be seen by the same gate of "
        "another run that it completes; what a merge takes over from the base is the base's.",
        "Run the command again, then `memento gate record KIND passed --evidence EVIDENCE`.",
    ),
    "G004": Kind(
        "a release that policy does not allow", "warning",
        "The release gate of a run has passed, and what policy asks of a release is not there: approvals, checks, "
        "gates or proven tasks; or that of a task, which is not released alone. An error where the branch adds the "
        "verdict. Whether checks saw this very code, and what the graph warns of, is not judged again.",
        "`memento gate release --run RUN` names all that is missing, and passes the gate when nothing is.",
    ),
}  # fmt: skip
