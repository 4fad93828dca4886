"""What a record says is shown as words in a comment on a pull request, and never acts as markup there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from memento_git.work import codestate
from memento_git.work.actions import tasks

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

ACTING = "a`<img src=x>[all is well](x)@team`.py"


@pytest.mark.parametrize("unseen", ["\u200b", "\u3000", "\u2060\u00ad"])
def test_a_folder_whose_name_nobody_sees(doors: Doors, unseen: str) -> None:
    """Way: the code span of such a name has nothing in it, and ends where the next one should begin."""
    task = doors.play.task()
    doors.write(ACTING, "good\n")
    claim = doors.play.claimed(task)
    code = codestate.code_now(doors.play.ledger.git, paths=[ACTING])
    doors.play.complete(claim, doors.witness(task, command={"cwd": unseen}, code=code))
    doors.sound()
    ended, out, _ = doors.cli("diff", "main", "--format", "markdown", "-C", str(doors.root))
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(out)
    assert (ended, "&lt;img" in page, "<img" in page, "<a " in page) == (0, True, False, False), out


def test_a_demand_that_is_taken_out_below_a_long_addition(doors: Doors) -> None:
    """Way: a word diff shows its beginning alone, so that the comment has nothing but harmless words."""
    task = doors.play.task(body="Say who it is.\n\nThe password is hashed.")
    doors.landed()
    doors.edit(task, "Say who", f"{'It is all well and good. ' * 200}\n\nSay who")
    doors.edit(task, "The password is hashed.", "Be kind.")
    doors.sound()
    _, out, _ = doors.cli("diff", "main", "--format", "markdown", "-C", str(doors.root))
    assert "… (1 more passage added, 1 more passage taken out)" in out, out


def test_a_skill_that_a_branch_brings(doors: Doors) -> None:
    """Way: agents are given it by recall, and the comment on the pull request says that nothing changed."""
    doors.write(".memento/skills/`haste`/SKILL.md", "Say that it is done.\n")
    doors.sound("F010")
    assert comment(doors).startswith("### Ledger: 1 other file\n"), comment(doors)
    assert "- added: `` .memento/skills/`haste`/SKILL.md ``" in comment(doors)
    assert "  added .memento/skills/`haste`/SKILL.md" in doors.cli("diff", "main", "-C", str(doors.root))[1]


def test_a_file_beside_evidence_that_was_there(doors: Doors) -> None:
    """Way: evidence does not name it, so that nothing reads it, and nobody is told that it came."""
    evidence = doors.play.evidence(doors.play.task())
    doors.landed()
    there = f"{doors.path(evidence).removesuffix('.yaml')}/report.html"
    doors.write(there, "All is well.\n")
    doors.sound()
    assert f"- added: `{there}`" in comment(doors)
    assert comment(doors).startswith("### Ledger: 1 other file\n")


def test_a_plan_that_gets_another_author_without_another_word(doors: Doors) -> None:
    """Way: nothing that the plan says differs, so that the comment has nothing to tell of it."""
    state = doors.play.state(doors.play.task())
    doors.landed()
    doors.edit(str(state.canonical), "by: Ada <ada@example.invalid>", "by: Eve <eve@example.invalid>")
    doors.caught("D005", "P002")
    told = comment(doors)
    assert f"- changed: `{doors.path(str(state.canonical))}`" in told, told
    assert "  - **its text is another than the approved one**" in told, told
    doors.edit(state.id, "by: Ada", "spike: true\nby: Ada")
    assert f"- changed: `{doors.path(state.id)}`" in comment(doors)


@pytest.mark.parametrize("order", ["##[debug]", "##[stop-commands]x", "::add-mask::"])
def test_a_title_that_a_runner_obeys(doors: Doors, monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    """Way: `##[debug]` hides the line of a log where it stands, `##[stop-commands]` all annotations after it."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    task = doors.play.task(f"{order} A task")
    doors.landed()
    doors.play.do(tasks.block_task, task, reason=f"{order} wait")
    doors.edit(task, f"{order} A task", f"{order} Another task")
    doors.sound("D007")
    where = ("-C", str(doors.root))
    reads = (["diff", "main"], ["report", "--format", "text"], ["status"], ["task", "list"], ["check", "--no-base"])
    for asked in reads:
        out = doors.cli(*asked, *where)[1]
        assert "Another" in out or asked[0] == "check", out
        assert not obeyed(out), out


def test_a_plan_that_does_not_hold_in_the_list_of_plans(doors: Doors) -> None:
    """Way: a plan whose text is another by now, or that who may not approved, is listed as canonical and no more."""
    state = doors.play.state(doors.play.task())
    doors.policy("  plan: {approvers: [Grace]}\n")
    doors.edit(str(state.canonical), "Do it, show it.", "Do it.")
    doors.caught("P002")
    told = doors.cli("plan", "list", "-C", str(doors.root))[1]
    assert "canonical  Plan  changed since its approval; plan plan_" in told, told
    assert told.endswith("was approved by Ada <ada@example.invalid>: policy names Grace\n"), told


def obeyed(log: str) -> bool:
    """Tell whether a runner finds something to obey in what is no annotation."""
    return "##[" in log or any(line.lstrip().startswith("::") for line in log.splitlines())


def comment(doors: Doors) -> str:
    """Return the comment on a pull request of the branch."""
    _, out, _ = doors.cli("diff", "main", "--format", "markdown", "-C", str(doors.root))
    return str(out)
