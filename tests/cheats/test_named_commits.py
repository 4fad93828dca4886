"""Evidence that says of commits what anybody with these commits can see not to be so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work import codestate
from memento_git.work.actions import dispatches, evidence_checks, evidences
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

FLOW = ".github/workflows/ci.yml"
PASSED = '{"name": "ci/test", "id": 7, "status": "completed", "conclusion": "success", "head_sha": "%s"}'


def work_of(doors: Doors) -> tuple[str, str]:
    """Change two files of the code; return the commits before and after."""
    before = git(doors.root, "rev-parse", "HEAD")
    doors.write("app.py", "good\nand more\n")
    doors.write(FLOW, "on: push\n")
    return before, git(doors.root, "rev-parse", "HEAD")


def diff(doors: Doors, task: str, commits: tuple[str, str], dispatch: str = "", **told: Any) -> str:
    """Write evidence of a diff by hand; return its id."""
    held = {
        "range": "main..work",
        "base": commits[0],
        "tip": commits[1],
        "patch_id": "1" * 40,
        "added": 2,
        "removed": 0,
    }
    of = {"for": [task], **({"dispatch": dispatch} if dispatch else {})}
    return doors.shown(task, kind="diff", outcome="observed", diff={**held, **told}, **of)


@pytest.mark.parametrize(
    ("files", "why"),
    [(["app.py"], f"leaves out {FLOW}"), (["app.py", FLOW, "README.md"], "names README.md, which is the same in both")],
)
def test_a_diff_that_says_other_files_than_its_commits_change(doors: Doors, files: list[str], why: str) -> None:
    name = diff(doors, doors.play.task(), work_of(doors), files=files, files_more=2)
    assert f"{name} shows " in (told := doors.caught("V002"))
    assert why in told


def test_a_diff_that_counts_fewer_lines_than_came(doors: Doors) -> None:
    diff(doors, doors.play.task(), work_of(doors), files=["app.py", FLOW], added=1)
    assert "tells of +1 -0 lines, and +2 -0 came out" in doors.warned("V002")


def test_a_diff_of_the_last_commit_alone_that_is_called_by_the_whole_branch(doors: Doors) -> None:
    """Way: who reads `main..work` takes it for all of the work."""
    _, after = work_of(doors)
    last = git(doors.root, "rev-parse", f"{after}^")
    diff(doors, doors.play.task(), (last, after), files=[FLOW], added=1)
    doors.sound()
    for command in (("diff", "main..work", "--format", "markdown"), ("report", "--format", "markdown")):
        shown = doors.cli(*command, "-C", str(doors.root))[1]
        assert f"{last[:12]}..{after[:12]}" in shown
        assert "main..work" not in shown


def test_a_candidate_whose_diff_leaves_out_what_nobody_takes_over_unseen(doors: Doors) -> None:
    task = doors.play.task()
    first, _ = (str(doors.play.do(dispatches.create_dispatch, task, name, candidate=True)) for name in "ab")
    doors.play.do(dispatches.claim_dispatch, first)
    diff(doors, task, work_of(doors), files=["app.py"], dispatch=first)
    doors.play.complete(first, doors.play.evidence(task))
    told = doors.refused("candidate_refused", "dispatch select", task=task, dispatch=first, reason="The shortest.")
    assert f"the configuration of CI: {FLOW}; somebody else must approve its diff" in told


def test_a_diff_of_files_that_the_branch_calls_binary(doors: Doors) -> None:
    """Way: attributes of the checkout, by which git tells and counts nothing of what changed in a file."""
    task = doors.play.task()
    doors.write(".gitattributes", "*.py -diff\n")
    before, after = work_of(doors)
    for _ in doors.accepted("evidence add", kind="diff", tasks=[task], diff=f"{before}..{after}"):
        (held,) = doors.play.state(task).pieces(doors.play.state(task).ids("evidence"))
        assert {key: held.data["diff"][key] for key in ("files", "added", "removed")} == {
            "files": [FLOW, "app.py"], "added": 2, "removed": 0,
        }  # fmt: skip
    doors.sound()


def test_a_check_of_an_earlier_commit_as_if_it_were_of_this_code(doors: Doors) -> None:
    doors.policy("  proof: {ci: reported}\n")
    old, _ = work_of(doors)
    task = doors.play.task()
    code = {**codestate.code_now(doors.play.ledger.git), "head": old}
    told = {"provider": "github", "name": "ci/test", "conclusion": "success", "commit": old}
    name = doors.shown(task, kind="ci", **{"for": [task]}, code=code, check=told)
    doors.completed(task, name)
    assert f"{name} is a check of commit {old[:12]}, but names other code than that has" in doors.caught("V002")


def test_what_verbs_say_of_commits_is_so(doors: Doors) -> None:
    """No way: a diff with a path that no record names, one of commits that are not here, and a check."""
    task = doors.play.task()
    before, _ = work_of(doors)
    doors.write("a\\b.txt", "1\n")
    tip = git(doors.root, "rev-parse", "HEAD")
    doors.play.do(evidences.add_evidence, "diff", diff=f"{before}..{tip}", tasks=[task])
    diff(doors, task, ("1" * 40, tip), files=["gone.py"])
    doors.play.do(evidence_checks.add_checks, evidence_checks.parse((PASSED % tip).encode()), tasks=[task])
    doors.sound()
