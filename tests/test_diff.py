"""diff: what happened between two commits, as data, as text and as a comment on a pull request."""

from __future__ import annotations

import html
import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt

from memento_git.errors import MementoError
from memento_git.ledger import layout
from memento_git.ledger.missing_ledger import NoLedgerThere
from memento_git.model.markup import MOST_COMMENT as LIMIT
from memento_git.model.markup import plain, unlinked
from memento_git.model.markup import units as size
from memento_git.model.policy import Policy
from memento_git.review import diff_text
from memento_git.review.diff_lines import headline
from memento_git.review.diff_markdown import RESERVE, markdown
from memento_git.review.weakened import weakened
from memento_git.review.word_diff import words
from memento_git.work.actions import dispatches, evidence_checks, evidences, plans, runs, settling, tasks, verifying
from memento_git.work.actions.comparing import compare
from tests.play import add, git, take_out

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play

HOSTILE = "</details> <script>x</script> | `a` @team #12 [l](u) <!-- x -->"


def head(play: Play) -> str:
    return git(play.root, "rev-parse", "HEAD")


def told(play: Play, given: str, *tips: str) -> dict[str, Any]:
    return compare(play.ledger, given, tips)


def one_task(held: dict[str, Any], task: str) -> dict[str, Any]:
    (found,) = [row for run in held["runs"] for row in run["tasks"] if row["id"] == task]
    return dict(found)


def masked(text: str) -> str:
    """Return a text with ids numbered in the order of their appearance, and commits and interpreters masked."""
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        kind = found[1]
        count = sum(1 for name in names if name.startswith(kind))
        return names.setdefault(found[0], f"{kind}_{count + 1}")

    text = re.sub(r"\b(run|plan|task|evidence|event|dispatch)_[0-9a-z]{12}\b", named, text)
    return re.sub(r"\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b", "COMMIT", text)


def story(play: Play) -> str:
    """Play a run whose second half is on a branch; return the commit where the branch began."""
    run = play.run("Refuse empty passwords")
    plan = play.do(plans.draft_plan, "Plan", "Check the form.\nShow the result.", run=run)
    stuck = play.task("Ask the list", criteria=["The list answers"])
    play.evidence(stuck)
    base = head(play)
    git(play.root, "checkout", "-qb", "feature")
    path = play.root / layout.prose_path(run, plan)
    play.commit(path, path.read_text().replace("Check the form", "Check the whole form"), "plan")
    play.do(plans.approve_plan, plan)
    done = play.task("Check the form")
    bot = play.as_("bot")
    handed = bot.claimed(done)
    bot.complete(handed, bot.evidence(done))
    play.do(tasks.revise_task, stuck, criteria=["The list answers in a second"])
    play.do(tasks.block_task, stuck, reason="the list is down")
    play.gate("quality_review", "failed", run=run, reason="no tests", evidence=[])
    play.gate("quality_review", "passed", run=run)
    return base


TEXT = """\
COMMIT to COMMIT: 2 tasks (1 blocked) in 1 run, 1 completed, 1 proven, 1 plan, 1 gate, 1 piece of evidence
run_1  Refuse empty passwords
  task task_1 Ask the list
    pending → blocked by Ada: the list is down
    acceptance criteria: The list answers {+in a second+}
  task task_2 Check the form
    new → dispatched → in progress → completed by bot
    proven by test, witnessed: sh -c 'echo checked; exit 0' exit 0
    asked of it: nothing but evidence that proves
    its criteria: none; it names no kind, risk or files
  plan plan_1 Plan
    draft → canonical by Ada <ada@example.invalid>
    body: Check the {+whole+} form. Show the result.
  gate
    quality review: failed → passed by Ada <ada@example.invalid>; without evidence
  evidence
    evidence_1 by bot: test, witnessed, passed: sh -c 'echo checked; exit 0' exit 0 — proves task_2
"""

MARKDOWN = """\
### Ledger: 2 tasks (1 blocked) in 1 run, 1 completed, 1 proven, 1 plan, 1 gate, 1 piece of evidence

| Task | From → to | By | Proof |
| --- | --- | --- | --- |
| Ask the list `task_1` | pending → blocked | Ada | why: the list is down |
| Check the form `task_2` | new → dispatched → in progress → completed | bot | proven by test, witnessed: `sh -c 'echo checked; exit 0'` exit 0 |

<details><summary><code>run_1</code> Refuse empty passwords</summary>

- plan `plan_1` Plan
  - draft → canonical by Ada \\<ada@example.invalid\\>
  - body: Check the <ins>whole</ins> form. Show the result.
- gate
  - quality review: failed → passed by Ada \\<ada@example.invalid\\>; without evidence
- task `task_1` Ask the list
  - pending → blocked by Ada: the list is down
  - acceptance criteria: The list answers <ins>in a second</ins>
- task `task_2` Check the form
  - new → dispatched → in progress → completed by bot
  - proven by test, witnessed: `sh -c 'echo checked; exit 0'` exit 0
  - asked of it: nothing but evidence that proves
  - its criteria: none; it names no kind, risk or files
- evidence
  - `evidence_1` by bot: test, witnessed, passed: `sh -c 'echo checked; exit 0'` exit 0 — proves `task_2`

</details>
"""  # noqa: E501


def test_a_diff_asks_git_nothing_twice(
    play: Play, run: str, cli: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = head(play)
    play.proven("One")
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(log := tmp_path / "trace"))
    assert cli("diff", "-C", str(play.root), f"{base}..HEAD")[0] == 0
    monkeypatch.delenv("GIT_TRACE2_EVENT")
    asked = [" ".join(json.loads(line)["argv"]) for line in log.read_text().splitlines() if '"event":"start"' in line]
    assert len(asked) == len({*asked})


def test_a_story_as_text_and_as_markdown(play: Play) -> None:
    held = told(play, f"{story(play)}..")
    assert masked(diff_text.text(held)) + "\n" == TEXT
    assert masked(markdown(held)) == MARKDOWN


# What it compares.


def test_nothing_but_what_changed_is_told_and_only_those_runs_are_read(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memento_git.work import row_cache
    from memento_git.work.actions import comparing

    quiet = play.planned("Quiet")
    play.task("Old", run=quiet)
    base = head(play)
    loud = play.planned("Loud")
    read: list[str] = []
    whole = row_cache.whole

    def noted(view: Any, run: str, *rest: Any) -> Any:
        read.append(run)
        return whole(view, run, *rest)

    monkeypatch.setattr(comparing, "whole", noted)
    held = told(play, f"{base}..HEAD")
    assert [run["id"] for run in held["runs"]] == [loud]
    assert set(read) == {loud}
    assert told(play, "HEAD..HEAD")["runs"] == []
    assert "nothing changed" in markdown(told(play, "HEAD..HEAD"))


def test_without_a_range_it_begins_where_the_branch_left_main(play: Play) -> None:
    play.planned()
    base = head(play)
    git(play.root, "checkout", "-qb", "feature")
    task = play.task("On the branch")
    git(play.root, "checkout", "-q", "main")
    other = play.task("On main")
    git(play.root, "checkout", "-q", "feature")
    for given in ("", "main", "main...", "main...feature"):
        held = told(play, given)
        assert held["base"] == base
        assert [row["id"] for run in held["runs"] for row in run["tasks"]] == [task], given
    held = told(play, "main..feature")
    assert one_task(held, other)["change"] == "removed"
    assert held["counts"]["forbidden"] > 0
    assert "looks removed" in held["notes"][0]
    both = told(play, "main", "main", "feature")
    assert [row["id"] for run in both["runs"] for row in run["tasks"]] == [task]
    union = told(play, base, "main", "feature")
    assert {row["id"] for run in union["runs"] for row in run["tasks"]} == {task, other}


def test_what_two_sides_that_merged_each_other_have_in_common_is_not_told(play: Play, run: str, cli: Call) -> None:
    """Of two merge bases neither has all of it, and which one git tells first is a matter of dates."""
    git(play.root, "checkout", "-qb", "feature")
    play.task("Merged into main", run=run)
    add(play, "Merged into main, too.")
    (play.root / ".memento" / "recipes").mkdir()
    (play.root / ".memento" / "recipes" / "one.yaml").write_text("steps: []\n")
    first = play.commit_all("recipe")
    git(play.root, "checkout", "-q", "main")
    play.task("Of main, and merged", run=run)
    before = head(play)
    git(play.root, "merge", "-q", "--no-edit", first)
    git(play.root, "checkout", "-q", "feature")
    git(play.root, "merge", "-q", "--no-edit", before)
    late = play.task("Only of the branch", run=run)
    assert set(git(play.root, "merge-base", "--all", "main", "feature").split()) == {first, before}
    for given in ("main", "main...feature"):
        code, out, _ = cli("diff", given, "--json", "-C", str(play.root))
        held = json.loads(out)
        assert code == 0
        assert (held["base"], held["bases"], held["forbidden"]) == (before, [before, first], [])
        assert [row["id"] for one in held["runs"] for row in one["tasks"]] == [late]
        assert (held["knowledge"], held["files"]) == ([], [])
        assert held["notes"] == [
            f"both sides merged each other: 2 merge bases count together, and the code of {before[:12]}"
        ]


def test_a_bare_repository_is_compared_like_any_other(play: Play, tmp_path: Path, cli: Call) -> None:
    base = story(play)
    bare = tmp_path / "bare.git"
    git(play.root, "clone", "-q", "--bare", str(play.root), str(bare))
    code, out, _ = cli("diff", f"{base}..feature", "-C", str(bare))
    assert code == 0
    assert masked(out) == TEXT


def test_a_shallow_clone_says_how_deep_to_fetch(play: Play, tmp_path: Path) -> None:
    base = story(play)
    shallow = tmp_path / "shallow"
    git(play.root, "clone", "-q", "--depth=2", "--branch=feature", f"file://{play.root}", str(shallow))
    there = play.beside(shallow)
    with pytest.raises(MementoError) as refused:
        told(there, f"{base}..HEAD")
    assert (refused.value.token, "--depth=1" in refused.value.hint) == ("fork_missing", True)
    git(shallow, "fetch", "-q", "--depth=1", "origin", base)
    assert masked(diff_text.text(told(there, f"{base}..HEAD"))) + "\n" == TEXT
    with pytest.raises(MementoError) as refused:
        told(there, f"{base}...HEAD")
    assert (refused.value.token, "--deepen=50" in refused.value.hint) == ("fork_missing", True)
    with pytest.raises(MementoError) as refused:
        told(there, "HEAD~9..HEAD")
    assert "git fetch --deepen=50" in refused.value.hint  # no remote knows what HEAD~9 is
    git(shallow, "fetch", "-q", "--deepen=50")
    assert told(there, f"{base}...HEAD")["base"] == base


@pytest.mark.parametrize(
    ("given", "token"), [("a..b..c", "range_unclear"), ("nowhere", "revision_not_found"), ("...x...y", "range_unclear")]
)
def test_what_is_no_range_is_refused(play: Play, given: str, token: str) -> None:
    with pytest.raises(MementoError) as refused:
        told(play, given)
    assert refused.value.token == token


def test_a_remotes_head_that_leads_to_a_branch_which_is_gone_is_no_trunk(play: Play) -> None:
    main = git(play.root, "rev-parse", "HEAD")
    git(play.root, "checkout", "-qb", "feature")
    git(play.root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/master")
    play.run()
    assert told(play, "")["base"] == main


def test_a_branch_that_was_pushed_is_compared_with_main(play: Play) -> None:
    main = git(play.root, "rev-parse", "HEAD")
    git(play.root, "checkout", "-qb", "feature")
    git(play.root, "remote", "add", "origin", ".")
    git(play.root, "config", "remote.origin.followRemoteHEAD", "never")  # a git of 2.48 on would take feature for it
    play.run()
    git(play.root, "fetch", "-q")
    git(play.root, "branch", "-q", "--set-upstream-to", "origin/feature")
    pushed = git(play.root, "rev-parse", "HEAD")
    for expected in (main, pushed):
        assert told(play, "")["base"] == expected
        play.run()


@pytest.mark.parametrize("beside", ["an older main", "another history"])
def test_what_was_pushed_and_merged_or_has_no_commit_of_main_is_compared_with_its_upstream(
    play: Play, beside: str
) -> None:
    git(play.root, "remote", "add", "origin", ".")
    if beside == "another history":
        git(play.root, "checkout", "-q", "--orphan", "feature")
        git(play.root, "commit", "-qm", "other")
    else:
        git(play.root, "checkout", "-qb", "feature")
    play.run()
    git(play.root, "fetch", "-q")
    git(play.root, "branch", "-q", "--set-upstream-to", "origin/feature")
    if beside == "an older main":
        git(play.root, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(play.root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert told(play, "")["base"] == git(play.root, "rev-parse", "HEAD")


def test_nothing_to_compare_with_and_no_common_commit_are_refused(play: Play) -> None:
    git(play.root, "branch", "-m", "trunk")
    with pytest.raises(MementoError) as refused:
        told(play, "")
    assert refused.value.token == "trunk_unknown"
    git(play.root, "checkout", "-q", "--orphan", "other")
    git(play.root, "commit", "-qm", "other")
    with pytest.raises(MementoError) as refused:
        told(play, "trunk")
    assert refused.value.token == "merge_base_missing"
    with pytest.raises(MementoError) as refused:
        told(play, "trunk..HEAD", "HEAD")
    assert refused.value.token == "range_unclear"


def test_two_commits_without_a_ledger_are_refused_and_its_making_is_no_change_of_policy(play: Play) -> None:
    first = git(play.root, "rev-list", "--max-parents=0", "HEAD")
    with pytest.raises(MementoError) as refused:
        told(play, f"{first}..{first}")
    assert refused.value.token == "no_ledger"
    with pytest.raises(MementoError) as unread:
        play.ledger.view((first,))
    assert {refused.value.hint, unread.value.hint} == {NoLedgerThere.hint_}, "HEAD has one: there is none to be made"
    play.planned()
    held = told(play, f"{first}..HEAD")
    assert (held["policy"], held["new"], [run["change"] for run in held["runs"]]) == (None, True, ["added"])


def test_that_a_branch_brings_the_ledger_with_its_policy_is_said(play: Play) -> None:
    first = git(play.root, "rev-list", "--max-parents=0", "HEAD")
    assert markdown(told(play, f"{first}..HEAD")) == "### Ledger: the ledger and its policy are new\n"
    assert "new" not in markdown(told(play, "HEAD..HEAD"))


# What must never happen.


def test_changed_and_removed_files_stand_above_all(play: Play, run: str) -> None:
    task = play.proven()
    base = head(play)
    folder = play.root / ".memento" / "runs"
    (claimed,) = folder.rglob("*-claimed-*.yaml")
    (output,) = folder.rglob("stdout.txt")
    claimed.write_text(claimed.read_text() + "# more\n")
    output.unlink()
    play.commit_all("tampered")
    held = told(play, f"{base}..")
    assert [(row["change"], row["kind"]) for row in held["forbidden"]] == [
        ("removed", "attachment"),
        ("changed", "event"),
    ]
    assert one_task(held, task)["way"] == ["completed", "in_progress"]
    lines = diff_text.text(held).splitlines()
    assert lines[1].startswith("! 2 files of the ledger were changed or removed")
    told_so = markdown(held)
    assert told_so.index("[!CAUTION]") < told_so.index("> - removed: `.memento/") < told_so.index("| Task |")
    assert f"{claimed.name}`" in told_so.partition("> - changed: ")[2].partition("\n")[0]


def test_what_was_changed_in_one_run_is_told_once_beside_others(play: Play) -> None:
    first, second = play.planned("One"), play.planned("Two")
    base = head(play)
    (approved,) = (play.root / ".memento" / "runs" / first).rglob("*-approved-*.yaml")
    approved.write_text(approved.read_text() + "# more\n")
    play.task(run=second)
    play.commit_all("tampered")
    held = told(play, f"{base}..")
    assert [run["id"] for run in held["runs"]] == [second]
    assert [row["path"].split("/")[2] for row in held["forbidden"]] == [first]


def test_an_archived_and_a_redacted_file_are_not_missed(play: Play, run: str) -> None:
    play.proven()
    before = head(play)
    stray = play.evidence(play.task("More"))
    recorded = head(play)
    play.do(settling.redact_record, stray, reason="private")
    gone = told(play, f"{recorded}..")
    assert gone["forbidden"] == []
    assert [(row["id"], row["to"]) for row in gone["runs"][0]["evidence"]] == [(stray, "redacted")]
    assert gone["runs"][0]["evidence"][0]["command"] is None
    play.do(runs.cancel_run, run, reason="enough")
    base = head(play)
    assert told(play, f"{before}..")["forbidden"] == []
    play.do(runs.archive_run, run)
    held = told(play, f"{base}..")
    assert held["forbidden"] == []
    assert [row["archived"] for row in held["runs"]] == [True]
    packed = head(play)
    (archive,) = (play.root / ".memento" / "archive").rglob("*.gz")
    archive.unlink()
    play.commit_all("lost")
    assert told(play, f"{packed}..")["counts"]["forbidden"] > 10


def test_a_ledger_that_is_gone_is_the_worst_of_all(play: Play, run: str) -> None:
    base = head(play)
    take_out(play.root, ".memento", message="gone")
    held = told(play, f"{base}..")
    assert [row["change"] for row in held["runs"]] == ["removed"]
    assert {row["kind"] for row in held["forbidden"]} == {"config", "run", "plan", "event"}
    assert "0 tasks" not in diff_text.text(held)
    assert f"{run}  Make it work  active → removed" in diff_text.text(held)
    assert told(play, f"..{base}")["runs"][0]["change"] == "added"


def test_what_an_event_without_effect_and_a_broken_file_say_is_told(play: Play, run: str) -> None:
    task = play.task()
    base = head(play)
    git(play.root, "checkout", "-qb", "one")
    play.do(tasks.block_task, task, reason="no")
    (event,) = (play.root / ".memento" / "runs").rglob("*-blocked-*.yaml")
    play.commit(event, event.read_text().replace("do: blocked", "do: accepted\nnonsense: 1"), "broken")
    held = told(play, f"{base}..")
    assert held["runs"][0]["findings"]
    assert "needs a look" in diff_text.text(held)
    git(play.root, "checkout", "-q", base)
    (added,) = (play.root / ".memento" / "runs").rglob("task.md")
    added.unlink()
    added.symlink_to("elsewhere")
    play.commit_all("a link")
    path = added.relative_to(play.root)
    assert f"F004: {path} a symbolic link has" in diff_text.text(told(play, f"{base}..")), "it is about no line"


def test_a_weakened_policy_is_named_and_shows_what_it_makes_of_old_tasks(play: Play, run: str) -> None:
    task = play.task()
    said = str(
        play.do(
            evidences.add_evidence, "test", tasks=[task], outcome="passed", summary="works", uri="https://x.invalid"
        )
    )
    play.complete(play.claimed(task), said)
    base = head(play)
    config = play.root / layout.CONFIG
    play.commit(config, config.read_text().replace("test: witnessed", "test: reported"), "policy")
    held = told(play, f"{base}..")
    assert held["policy"]["weakened"] == ["proof.test: reported is enough now, it was witnessed"]
    assert [line for line in held["policy"]["diff"] if line[0] in "+-"] == [
        "-    test: witnessed",
        "+    test: reported",
    ]
    found = one_task(held, task)
    assert found["way"] == ["completed"]
    assert "[!WARNING]" in markdown(held)
    assert "> - proof.test: reported is enough now, it was witnessed\n" in markdown(held)


def test_what_a_branch_proves_by_a_policy_of_its_own_is_not_counted_as_proven(play: Play) -> None:
    config = play.root / layout.CONFIG
    play.commit(config, config.read_text().replace("require: []", "require: [test]"), "tests are asked for")
    play.planned()
    base = head(play)
    play.commit(config, config.read_text().replace("require: [test]", "require: []"), "tests are not asked for")
    task = play.task()
    play.complete(play.claimed(task), play.evidence(task, kind="command"))
    held = told(play, f"{base}..HEAD")
    assert held["runs"][0]["tasks"][0]["id"] == task
    assert (held["counts"]["proven"], held["counts"]["unproven"]) == (0, 1)
    assert "| **unproven by the older policy**: policy asks for test evidence; by the newer one proven by" in markdown(
        held
    )


def test_a_branch_is_not_judged_by_what_the_base_asks_since_the_branch_began(play: Play) -> None:
    config = play.root / layout.CONFIG
    play.planned()
    play.commit(config, "version: 1\n", "as it began")
    git(play.root, "switch", "-q", "-c", "work")
    play.proven()
    git(play.root, "switch", "-q", "main")
    play.commit(config, "version: 1\npolicy:\n  require: [lint]\n", "the base's very next commit")
    git(play.root, "switch", "-q", "work")
    found = told(play, "main...work")
    assert (found["policy"], found["counts"]["proven"], found["counts"]["unproven"]) == (None, 1, 0)


def test_what_a_branch_approves_and_judges_by_a_policy_of_its_own_is_told_as_by_who_may_not(play: Play) -> None:
    config = play.root / layout.CONFIG
    rules = "version: 1\npolicy:\n  plan: {{approvers: [{0}]}}\n  gates: {{verdicts: {{quality_review: [{0}]}}}}\n"
    run = play.planned()
    base = play.commit(config, rules.format("Ann"), "who may")
    play.commit(config, rules.format("Bob"), "another may")
    other = play.as_("Bob")
    plan = other.do(plans.draft_plan, "Another", "Less.", run=run)
    other.do(plans.approve_plan, plan)
    other.gate("quality_review", "passed", reason="Fine.")
    (change,) = told(play, f"{base}..")["runs"]
    assert [(gate["to"], gate["reason"]) for gate in change["gates"]] == [
        ("fallen", "it is by Bob, and policy names Ann"),
    ]  # fmt: skip
    (why,) = [row["unapproved"] for row in change["plans"] if row["id"] == plan]
    assert "approved by Bob: policy names Ann" in why


def test_a_run_that_a_branch_completes_by_a_policy_of_its_own_lacks_what_that_does_not_ask(play: Play) -> None:
    config = play.root / layout.CONFIG
    rules = "version: 1\npolicy:\n  require: [{}]\n  gates: {{required: [{}]}}\n"
    run = play.planned()
    base = play.commit(config, rules.format("test", "quality_review"), "more is asked")
    play.commit(config, rules.format("", ""), "less is asked")
    task = play.task()
    play.complete(play.claimed(task), play.evidence(task, kind="command"))
    play.do(runs.complete_run, run)
    (change,) = told(play, f"{base}..")["runs"]
    assert change["doubts"] == ["1 task is not proven", "gate quality_review has not passed"]


def test_histories_without_a_common_commit_are_not_led_to_where_they_parted(play: Play, run: str) -> None:
    git(play.root, "switch", "-q", "--orphan", "other")
    git(play.root, "checkout", "-q", "main", "--", ".memento")
    git(play.root, "commit", "-qm", "anew")
    (note,) = told(play, "main..other")["notes"]
    assert "no common commit" in note
    assert "main...other" not in note


def test_keys_that_count_are_part_of_the_policy(play: Play) -> None:
    config = play.root / layout.CONFIG
    config.write_text(f"{config.read_text()}  signatures: {{allowed_signers: keys}}\n")
    base = play.commit("keys", "ada@example.invalid ssh-ed25519 AAAA\n", "keys")
    play.commit("keys", "ada@example.invalid ssh-ed25519 BBBB\n", "tidy")
    held = told(play, f"{base}..")
    assert held["policy"]["weakened"] == ["keys: whose signatures count changed"]
    assert "+ada@example.invalid ssh-ed25519 BBBB" in held["policy"]["diff"]
    assert "the policy changed" in markdown(held)


def test_each_loosened_rule_is_named() -> None:
    old = Policy(
        require=("test",), plan_approvers=("Ada",), plan_not_author=True, gates_required=("release",),
        gate_verdicts={"release": ["Ada"]}, gate_waivers=("Ada",), verify=({"evidence": ["test"]},),
        release={"graph": "refuse", "checks": ["ci"], "approvals": 2, "approvers": ["Ada"], "not_author": True},
        gates_fresh=("release",),
    )  # fmt: skip
    new = Policy(
        proof={"test": "reported", "note": "advisory"}, plan_approvers=("Ada", "Bob"), spike_dispatches=9, enrich=False,
        release={"graph": "ignore"}, preflight={**Policy().preflight, "destructive": "warn", "branches": []},
        graph={**Policy().graph, "growth": 90}, allow_secrets=("aws",),
        reproduce={**Policy().reproduce, "runners": ["ci@example.invalid"]},
    )  # fmt: skip
    rules = [told.partition(":")[0] for told in weakened(old, new)]
    assert sorted(rules) == sorted([
        "proof", "proof.test", "proof.note", "require", "plan.approvers", "plan.not_author", "gates.required",
        "gates.fresh", "gates.verdicts.release", "gates.waivers", "spike.dispatches", "verify", "enrich",
        "release.checks", "release.approvals", "release.approvers", "release.not_author", "allow_secrets",
        "release.graph", "preflight.destructive", "graph.growth", "preflight.branches", "reproduce.runners",
    ])  # fmt: skip
    assert list(weakened(new, new)) == list(weakened(Policy(), Policy(require=("test",)))) == []


# What became of it.


def test_what_two_branches_contest_is_told(play: Play, run: str) -> None:
    task = play.task()
    base = head(play)
    git(play.root, "checkout", "-qb", "one")
    play.do(tasks.block_task, task, reason="no")
    git(play.root, "checkout", "-q", "main")
    play.do(tasks.cancel_task, task, reason="never")
    git(play.root, "merge", "-q", "--no-edit", "one")
    held = told(play, f"{base}..")
    assert one_task(held, task)["became"] == ["contested"]
    assert held["counts"]["contested"] == 1
    assert "became contested: events disagree, settle it" in diff_text.text(held)
    contested = head(play)
    assert "needs a look" in markdown(held)
    state = play.state(task)
    play.do(settling.settle_record, task, keep=state.folded(task).heads[0], reason="so be it")
    after = told(play, f"{contested}..")
    assert after["runs"][0]["settled"]
    assert "settled by Ada <ada@example.invalid>: " in diff_text.text(after)


def test_stale_tasks_that_nobody_touched_are_only_counted(play: Play, run: str) -> None:
    old = play.proven("Old")
    base = head(play)
    play.commit("app.py", "answer = 43\n")
    play.task("New")
    held = told(play, f"{base}..")
    assert one_task(held, old)["became"] == ["stale"]
    assert "1 task became stale" in markdown(held)
    assert old not in markdown(held).partition("<details>")[0]


def test_a_lease_that_was_renewed_is_nothing_to_tell(play: Play, run: str) -> None:
    handed = play.claimed(play.task())
    base = head(play)
    play.do(dispatches.renew_dispatch, handed, lease=99_999, force=True)
    assert told(play, f"{base}..")["runs"] == []


# Texts.


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        ("a b c", "a x c", [("same", "a "), ("removed", "b"), ("added", "x"), ("same", " c")]),
        ("same", "same", []),
        ("", "new", [("added", "new")]),
        ("a\nb\n", "a\nb c\n", [("same", "a\nb"), ("added", " c"), ("same", "\n")]),
        ("one two", "six ten", [("removed", "one two"), ("added", "six ten")]),
    ],
)
def test_a_text_is_compared_word_by_word(old: str, new: str, pieces: list[tuple[str, str]]) -> None:
    assert words(old, new) == pieces


def test_a_long_text_is_compared_by_lines_first_and_what_stayed_is_left_out() -> None:
    lines = [f"line {number} of a long plan\n" for number in range(20_000)]
    changed = [*lines[:500], "another line\n", *lines[501:]]
    found = words("".join(lines), "".join(changed))
    assert {kind for kind, _ in found} == {"left_out", "same", "removed", "added"}
    assert sum(len(text) for _, text in found) < 500
    assert words("x " * 60_000, "y " * 60_000)[0][0] == "removed"


def test_two_long_texts_of_few_lines_are_compared_as_a_whole() -> None:
    """Way: a text by which telling what a branch did takes hours, and no comment comes."""
    old, new = (["ab"[number * number % prime % 2] + "\n" for number in range(1500)] for prime in (7, 5))
    assert [kind for kind, _ in words("".join(old), "".join(new))] == ["same", "removed", "added"]


@pytest.mark.parametrize(("old", "new"), [("a\n" * 1000, "b\na\n" * 500), ("a " * 500, "b a " * 250)])
def test_what_comes_again_and_again_in_two_texts_is_nothing_to_go_by(old: str, new: str) -> None:
    """Way: a plan with a table or JSON of a thousand lines, by which one `memento diff` takes a minute."""
    assert [kind for kind, _ in words(old, new)] == ["removed", "added"]


def test_one_changed_line_among_a_thousand_like_others_is_found() -> None:
    lines = [line for number in range(400) for line in ("  {\n", f'    "k": {number}\n', "  },\n")]
    changed = [*lines[:601], '    "k": 7000\n', *lines[602:]]
    found = words("".join(lines), "".join(changed))
    assert [piece for piece in found if piece[0] in ("removed", "added")] == [("removed", "200"), ("added", "7000")]


@pytest.mark.parametrize(
    ("before", "verdicts", "shown"),
    [
        ("", "failed passed failed", "failed → passed → failed"),
        ("", "passed failed passed", "passed → failed → passed"),
        ("failed", "passed failed", "failed → passed → failed"),
        ("failed", "requested passed requested", "failed → passed → pending"),
        ("", "failed requested", "failed"),
        ("passed", "passed", "passed"),
        ("", "failed passed failed " + "requested passed " * 3 + "passed", "failed → passed → failed → … → passed"),
    ],
)
def test_a_gate_is_told_from_state_to_state(play: Play, run: str, before: str, verdicts: str, shown: str) -> None:
    for verdict in before.split():
        play.gate("quality_review", verdict, run=run)
    base = head(play)
    for verdict in verdicts.split():
        play.gate("quality_review", verdict, run=run)
    held = told(play, f"{base}..")
    on = "; without evidence" if shown.endswith("passed") else ""
    assert f"quality review: {shown} by Ada <ada@example.invalid>{on}\n" in f"{diff_text.text(held)}\n"
    assert f"quality review: {shown} by Ada \\<ada@example.invalid\\>{on}\n" in f"{markdown(held)}\n"


def test_that_a_task_was_rejected_is_never_left_out(play: Play, run: str) -> None:
    base = head(play)
    task = play.task(commands=["false"])
    for _ in range(2):
        play.complete(play.claimed(task), play.evidence(task))
        play.do(verifying.verify_task, task)
        if play.status(task) == "rejected":
            play.do(tasks.reopen_task, task, reason="Once more.")
    play.do(tasks.cancel_task, task, reason="Let it be.")
    shown = diff_text.text(told(play, f"{base}.."))
    assert "new → dispatched → in progress → … → rejected → … → cancelled by Ada" in shown


def test_who_superseded_a_plan_is_who_approved_the_next(play: Play) -> None:
    run = play.run()
    base = head(play)
    grace = play.as_("Grace")
    for author, approver in ((grace, grace), (grace, play), (play, play.as_("Bob"))):
        approver.do(plans.approve_plan, author.do(plans.draft_plan, "Plan", "Do it.", run=run))
    rows = told(play, f"{base}..")["runs"][0]["plans"]
    assert [(row["to"], row["by"][0].partition(" ")[0]) for row in rows] == [
        ("superseded", "Ada"), ("superseded", "Bob"), ("canonical", "Bob"),
    ]  # fmt: skip
    git(play.root, "checkout", "-qb", "later")
    there = head(play)
    play.do(plans.approve_plan, play.do(plans.draft_plan, "Last", "Do it.", run=run))
    assert "canonical → superseded by Ada" in diff_text.text(told(play, f"{there}.."))


# The comment.


def many(count: int, title: str) -> dict[str, Any]:
    task = {
        "id": "task_000000000000", "title": title, "change": "changed", "from": "pending", "to": "completed",
        "way": ["pending", "dispatched", "in_progress", "completed"], "by": ["bot <b@example.invalid>"],
        "reason": title, "proven": True, "proven_before": None, "unproven_because": [], "unsigned": [], "became": [],
        "unproven_by_older": [], "overridden": [], "failed_since": [], "failed_before": False, "asked": [],
        "criteria": [],
        "kind": None, "risk": None, "files": [],
        "proof": [{"id": "evidence_000000000000", "kind": "test", "trust_level": "witnessed", "outcome": "passed",
                   "command": ["pytest", title], "folder": ".", "exit_code": 0, "covers": [], "reports": [],
                   "holds": [], "summary": None, "stale": False}],
        "selected_dispatch_id": None, "repairs": None, "last_reason": None, "texts": [], "events": [{}],
    }  # fmt: skip
    run = {
        "id": "run_000000000000", "goal": title, "change": "changed", "from": "active", "to": "active", "by": [],
        "way": ["active"], "doubts": [],
        "reason": None, "archived": False, "texts": [], "plans": [], "gates": [], "evidence": [], "trouble": [],
        "signatures": [], "reproductions": [], "settled": [], "mended": [], "findings": [], "illegal": [],
        "tasks": [task] * count, "spike": False,
    }  # fmt: skip
    names = ("runs", "tasks", "completed", "proven", "unproven", "stale", "late", "contested", "plans", "gates",
             "evidence", "signatures", "reproductions", "forbidden", "weakened")  # fmt: skip
    counts = {**dict.fromkeys(names, 0), "tasks": count, "runs": 1}
    return {"base": "0" * 40, "bases": ["0" * 40], "tips": ["1" * 40], "notes": [], "counts": counts,
            "forbidden": [], "policy": None, "runs": [run], "new": False}  # fmt: skip


@pytest.mark.parametrize("title", ["Check the form", "Prüfe 検査 😀" * 20, HOSTILE, "`" * 200])
def test_three_thousand_tasks_fit_and_the_rest_is_counted(title: str) -> None:
    shown = markdown(many(3000, title))
    assert size(shown) <= LIMIT
    assert len(shown.encode()) <= 4 * LIMIT
    rows = shown.count("\n| ") - 2
    left = re.search(r"… and (\d+) tasks in the table and (\d+) lines more than fit here", shown)
    assert left is not None
    assert rows + int(left[1]) == 3000
    assert len(re.findall(r"(?m)^</details>$", shown)) == shown.count("<details>")
    assert size(shown) > LIMIT * 0.9


def test_at_the_edge_one_more_character_is_one_row_less() -> None:
    held = many(3, "Check the form")
    whole = markdown(held)
    edge = size(whole) + RESERVE
    assert markdown(held, edge) == whole
    assert "more than fit here" in markdown(held, edge - 3)
    for most in range(RESERVE + 164, edge, 7):
        assert size(markdown(held, most)) <= most


def test_what_happened_to_a_run_alone_is_told_and_before_other_runs(play: Play) -> None:
    keeps, waits, drops = (play.run(name) for name in ("Keep", "Wait", "Drop"))
    kept, ends = play.planned("Put away"), play.planned("End")
    for run in (kept, ends):
        play.proven(run=run)
    play.do(runs.complete_run, kept)
    base = head(play)
    play.do(runs.pause_run, waits, reason="the list is down")
    play.do(runs.cancel_run, drops, reason="no budget")
    play.do(runs.complete_run, ends)
    play.do(runs.archive_run, kept)
    play.task("A task", run=keeps)
    begun = play.run("Begin", spike=True)
    held = told(play, f"{base}..")
    shown = markdown(held)
    assert sorted(re.findall("(?m)^- (`run_.*)$", shown)) == sorted([
        f"`{waits}` Wait: active → paused by Ada: the list is down",
        f"`{drops}` Drop: active → cancelled by Ada: no budget",
        f"`{ends}` End: active → completed by Ada", f"`{kept}` Put away: archived",
        f"`{begun}` Begin: new: active by Ada; a spike, which may go without a plan",
    ])  # fmt: skip
    assert re.findall("<summary>(.*)</summary>", shown) == [f"<code>{keeps}</code> Keep"]
    assert shown.index("Put away") < shown.index("<summary>")


def test_no_goal_stands_as_another_runs_line_before_its_own_id(play: Play) -> None:
    other = play.run("Keep")
    base = head(play)
    run = play.run(f"</code> <code>{other}</code> `{other}` Keep ({other}): active → completed by Ada")
    for _ in range(2):
        shown = markdown(told(play, f"{base}.."))
        (line,) = [line for line in shown.splitlines() if other in line]
        begins = re.match(r"(?:- `|<details><summary><code>)(run_\w+)", line)
        assert begins is not None
        assert begins[1] == run
        assert line.count("<code>") <= 1
        assert "<summary>" in line or not re.search(rf"(?<!\\)`{other}", line)
        play.task(run=run)


def test_a_headline_counts_no_runs_and_tasks_where_there_are_none() -> None:
    held = many(0, "Check the form") | {"runs": [], "forbidden": [{"change": "removed", "path": "a"}]}
    held["counts"] |= {"runs": 0, "forbidden": 1}
    assert headline(held) == "files changed or removed"
    assert headline({**held, "policy": {"weakened": [], "diff": []}}) == "the policy changed"


def test_a_run_that_was_archived_alone_is_one_line(play: Play) -> None:
    run = play.planned("/close it | <b>")
    play.proven()
    play.do(runs.complete_run, run)
    base = head(play)
    play.do(runs.archive_run, run)
    held = told(play, f"{base}..")
    assert markdown(held) == f"### Ledger: 1 run\n\n- `{run}` /close it \\| \\<b\\>: archived\n"
    assert diff_text.text(held).splitlines()[0].endswith(": 1 run")


def test_a_run_that_does_not_fit_is_counted() -> None:
    held = many(0, "Check the form")
    held["runs"] = [held["runs"][0] | {"to": "cancelled", "way": ["active", "cancelled"]}] * 2000
    shown = markdown(held)
    left = re.search(r"… and (\d+) lines more than fit here", shown)
    assert left is not None
    assert shown.count("active → cancelled") + int(left[1]) == 2000


def test_nothing_that_the_ledger_says_acts_as_markup(play: Play) -> None:
    run = play.planned(HOSTILE)
    base = head(play)
    task = play.task(HOSTILE, run=run, criteria=[HOSTILE])
    play.do(tasks.block_task, task, reason=HOSTILE)
    shown = markdown(told(play, f"{base}.."))
    assert re.search(r"(?<!\\)<(?!/?(details|summary|ins|del)>)", shown.replace(f"<code>{run}</code>", "")) is None
    assert len(re.findall(r"(?m)^</details>$", shown)) == shown.count("<details>") == 1
    assert re.search(r"@\w|[^&]#\d", shown) is None
    (row,) = [line for line in shown.splitlines() if task in line and line.startswith("|")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 5


@pytest.mark.parametrize(
    "argv", [("make", "check"), ("sh", "-c", "echo `date` | cat"), ("sh", "-c", "a\nb"), ("grep", "``|`", "@acme/team")]
)
def test_a_command_in_a_reason_is_code_in_the_table_and_below_it(argv: tuple[str, ...]) -> None:
    from memento_git.work.proof.verification import Command, told_as

    asked = f"the task asks for {told_as(Command(argv))}"
    held = many(1, "Check the form")
    lacking = f"{asked}, which has no witnessed pass: see *this* <b>, @acme/team and `"
    held["runs"][0]["tasks"][0] |= {"proven": False, "unproven_because": [lacking], "asked": [asked]}
    seen = MarkdownIt("commonmark").enable("table").render(markdown(held))
    code = f"the task asks for <code>{html.escape(' '.join(shlex.join(argv).split()), quote=False)}</code>"
    rest = ", which has no witnessed pass: see *this* &lt;b&gt;, @\u200bacme/team and `"
    assert seen.count(f"</strong>: {code}{rest}") == 2, "in the table and below it"
    assert f"asked of it: {code}</li>" in seen


# The command.


def test_the_command_answers_in_three_forms(play: Play, cli: Call) -> None:
    base = story(play)
    where = ("-C", str(play.root))
    assert masked(cli("diff", f"{base}..", *where)[1]) == TEXT
    assert masked(cli("diff", f"{base}..", "--format", "markdown", *where)[1]) == MARKDOWN
    import json

    answer = json.loads(cli("diff", f"{base}..", "--format", "json", *where)[1])
    assert answer == json.loads(cli("diff", f"{base}..", "--json", *where)[1])
    assert answer["counts"]["proven"] == 1


def test_every_key_is_documented(play: Play) -> None:
    from docs.generator import rows

    held = told(play, f"{story(play)}..")
    assert [*held, "knowledge", "touched", "files"] == list(rows.DIFF)
    assert set(held["runs"][0]) == set(rows.DIFF_RUN)
    assert set(held["runs"][0]["tasks"][0]) == set(rows.DIFF_TASK)
    for name in ("plans", "gates", "evidence"):
        for row in held["runs"][0][name]:
            assert [key for key in row if not re.search(rf"\b{key}\b", rows.DIFF_RUN[name])] == [], name
    assert [key for key in held["counts"] if key not in rows.DIFF["counts"]] == []


@pytest.mark.parametrize("title", ["Parse the ` in names", "a | b ` c", r"back\slash ` \| bar", "``` | ``"])
def test_a_tick_in_a_title_leaves_the_table_its_columns(title: str) -> None:
    shown = markdown(many(1, title))
    cells = re.findall("<td>(.*)</td>", MarkdownIt("commonmark").enable("table").render(shown))
    assert len(cells) == 4
    assert html.unescape(cells[0]) == f"{title} <code>task_000000000000</code>"
    assert cells[1].startswith("pending → ")
    assert f"<code>{shlex.join(['pytest', title])}</code>" in html.unescape(cells[3])


@pytest.mark.parametrize(
    "title",
    [
        "https://x.invalid/a", "ftp://x.invalid", "see www.x.invalid", "WWW.x.invalid", "GH-12", "gh-12", "!34", "$3",
        "%2", '%"next"', "~bug", '~"a bug"', "&5", "acme/app!34", "acme/app#12", "@acme/team", "-@team.x",
        "app@1234567", "[issue:7]",
    ],
)  # fmt: skip
def test_no_text_refers_to_something(title: str) -> None:
    for shown in (unlinked(plain(title)), unlinked(html.escape(title))):
        seen = html.unescape(MarkdownIt("commonmark").renderInline(shown))
        assert seen.replace("\u200b", "") == title
        assert re.search(r"https?://|ftp://|(?i:www\.|gh-\d)|[@~%&]\w|[~%]\"|[#!$]\d|\[issue", seen) is None


def test_an_address_stays_as_it_is() -> None:
    assert unlinked("Ada <ada@x.example>") == "Ada <ada@x.example>"


@pytest.mark.parametrize("title", ["^a$|^b$ x", "$x^2$", "`$1` $2", r"\$a\$ $$"])
def test_no_two_dollar_signs_make_a_formula(play: Play, title: str) -> None:
    base = head(play)
    task = play.task(title, run=play.planned(title))
    play.do(tasks.block_task, task, reason=title)
    shown = markdown(told(play, f"{base}.."))
    assert re.sub(r"<span>\\?\$</span>|`[^`]*`", "", shown).count("$") == 0
    read = html.unescape(re.sub("</?span>", "", MarkdownIt("commonmark").enable("table").render(shown)))
    assert read.replace("\u200b", "").count(title) == 5, "twice in the table, once above the details, twice there"


def test_a_spike_and_what_it_handed_out_without_a_plan_are_told(play: Play) -> None:
    base = head(play)
    play.run("Try it", spike=True)
    task = play.proven("Log in")
    held = told(play, f"{base}..")
    assert (held["runs"][0]["spike"], one_task(held, task)["became"]) == (True, ["spike"])
    shown = diff_text.text(held)
    assert "a spike, which may go without a plan" in shown
    assert "    handed out without a plan, as a spike\n" in shown
    assert "; spike |" in (form := markdown(held))
    assert "a spike, which may go without a plan" in form
    later = head(play)
    play.dispatch(play.task("Log out", run=play.planned("As ever")))
    assert "spike" not in diff_text.text(told(play, f"{later}.."))


def test_what_a_repair_does_not_say_of_the_task_that_it_repairs_is_told(play: Play, run: str) -> None:
    task = play.task("Hash all passwords", body="Use argon2id.", criteria=["It is salted"], require=["lint"])
    play.complete(play.claimed(task), play.evidence(task))
    play.do(verifying.verify_task, task)
    base = head(play)
    repair = play.do(verifying.repair_task, task)
    assert one_task(told(play, base), repair)["repairs"] == {"id": task, "texts": []}
    assert one_task(told(play, base), task)["repairs"] is None
    play.do(tasks.revise_task, repair, body="Tidy it.")
    line = f"other than `{task}`, which it repairs: description: <del>Use argon2id</del><ins>Tidy it</ins>."
    assert line in markdown(told(play, base))


def test_what_was_said_against_a_task_of_the_base_stands_by_what_is_done_on_the_same_evidence(
    play: Play, run: str
) -> None:
    task = play.task("Hash all passwords")
    good = play.evidence(task)
    play.complete(play.claimed(task), good)
    play.do(tasks.reopen_task, task, reason="argon2 is missing")
    base = head(play)
    claim = play.claimed(task)
    assert one_task(told(play, base), task)["last_reason"] is None
    play.complete(claim, good)
    assert "  - the last reason given before: argon2 is missing\n" in markdown(told(play, base))
    done = head(play)
    play.task("Another")
    assert "argon2" not in markdown(told(play, done))


# What a reviewer goes by.


def test_a_gate_tells_what_it_rests_on_and_who_judges_is_told_with_the_address(play: Play, run: str) -> None:
    """Who judges by another's name, or on a command that shows nothing, is seen where the verdict is told."""
    draft = evidences.witness(play.ledger, ["true"], kind="test", quiet=True)
    old = play.do(evidences.record_draft, draft)
    base = head(play)
    play.commit("app.py", "answer = 43\n")
    somebody = play.as_("Grace <grace@elsewhere.invalid>")
    somebody.gate("quality_review", "passed", run=run, evidence=[old])
    somebody.gate("final_acceptance", "passed", run=run)
    task = play.task()
    somebody.do(evidences.approve, run)
    somebody.do(evidences.approve, task)
    text = diff_text.text(told(play, f"{base}.."))
    who = "Grace <grace@elsewhere.invalid>"
    assert f"quality review: passed by {who}; on test, witnessed, stale: true exit 0\n" in text
    assert f"final acceptance: passed by {who}; without evidence\n" in text
    assert f" by {who}: approval, reported, passed, about {run}\n" in f"{text}\n"
    assert f" by {who}: approval, reported, passed, about {task}\n" in f"{text}\n"
    play.do(evidences.retract, old, reason="It shows nothing.")
    (gate,) = [one for one in told(play, f"{base}..")["runs"][0]["gates"] if one["kind"] == "quality_review"]
    assert (gate["to"], [one["id"] for one in gate["proof"]]) == ("fallen", [old])


def test_a_gate_that_asks_for_fresh_evidence_is_told_as_status_tells_it(play: Play, cli: Call) -> None:
    """Way: a gate is passed, and the code goes on: `status` says that it fell, and the comment that it passed."""
    play.commit(".memento/config.yaml", "version: 1\npolicy: {gates: {fresh: [quality_review]}}\n", "a policy")
    run = play.planned()
    base = head(play)
    play.gate("quality_review", "passed", run=run, evidence=[play.evidence()])
    assert "quality review: passed by Ada" in diff_text.text(told(play, f"{base}.."))
    passed = head(play)
    play.commit("app.py", "answer = 43\n", "the code goes on")
    fell = "nothing that it rests on saw the code of this commit"
    assert f"passed, but {fell}" in cli("status", "-C", str(play.root))[1]
    text = diff_text.text(told(play, f"{base}.."))
    assert "quality review: passed → fallen by Ada" in text
    assert text.rpartition("quality review")[2].partition("\n")[0].endswith(f": {fell}"), text
    play.task("Another", run=run)
    assert "quality review: passed → fallen; on test, witnessed, stale: " in diff_text.text(told(play, f"{passed}.."))


def test_the_words_of_a_verdict_stand_behind_what_it_rests_on(play: Play, run: str) -> None:
    """Way: the word that goes with a pass reads like what it rests on, and what that is comes where nobody reads on."""
    base = head(play)
    play.gate("quality_review", "passed", run=run, note="fine; on test, reproduced: pytest exit 0")
    text = diff_text.text(told(play, f"{base}.."))
    assert "; without evidence: fine; on test, reproduced: pytest exit 0" in text
    gone = play.evidence()
    play.do(evidences.retract, gone, reason="mended by Grace")
    text = diff_text.text(told(play, f"{base}.."))
    assert re.search(r" by Ada: test, witnessed, passed: .* — retracted by Ada: mended by Grace\n", f"{text}\n"), text


def test_what_was_waived_and_taken_back_stands_in_the_headline(play: Play, run: str) -> None:
    """Way: a waived gate and retracted evidence are counted with the others, and what they are is below a click."""
    first = play.state(run).canonical
    base = head(play)
    play.gate("quality_review", "failed", run=run, reason="no tests", evidence=[])
    play.gate("quality_review", "waived", run=run, reason="they follow")
    task = play.task()
    play.do(evidences.retract, play.as_("bot").evidence(task), reason="the wrong interpreter")
    second = play.do(plans.draft_plan, "Again", "Do it in steps.", run=run)
    play.do(plans.approve_plan, second)

    text = masked(diff_text.text(told(play, f"{base}..")))

    assert text.splitlines()[0].endswith("2 plans, 1 gate (1 waived), 1 piece of evidence (1 retracted)")
    assert "other than plan_1, which was canonical: body: Do it[-, show it-] {+in steps+}." in text
    assert "evidence_1 by bot: test, witnessed, passed: sh -c 'echo checked; exit 0' exit 0 — for task_1 — " in text
    assert "canonical → superseded by Ada <ada@example.invalid>, with plan_2\n" in text
    row = next(row for row in play.overview(run)["plans"] if row["id"] == first)
    assert row["superseded_by"] == second

    play.evidence(task, code=1)
    play.do(tasks.cancel_task, task, reason="not any more")
    text = diff_text.text(told(play, f"{base}.."))
    assert ": 1 task (1 cancelled) in 1 run, 2 plans, " in text
    assert ", 2 pieces of evidence (1 failed, 1 retracted)\n" in text


def test_who_judged_last_is_not_who_is_left_out(play: Play, run: str) -> None:
    """Way: three others ask for a gate before it is passed, or do so of a task that is done, so that they are named."""
    task = play.task()
    base = head(play)
    others = [play.as_(f"{name} <{name}@x.example>") for name in ("Grace", "Alan", "Edsger")]
    eve = play.as_("Eve <eve@x.example>")
    claim = eve.claimed(task)
    eve.complete(claim, eve.evidence(task))
    for one in others:
        one.gate("quality_review", "requested", run=run)
        one.gate("implementation_review", "requested", task=task)
    eve.gate("quality_review", "passed", run=run)
    text = diff_text.text(told(play, f"{base}.."))
    assert "passed by Alan <Alan@x.example>, Edsger <Edsger@x.example>, Eve <eve@x.example>, 1 more" in text
    assert "pending → dispatched → in progress → completed by Eve\n" in text
    assert f"implementation review of {task}: " in text
    assert "quality review: " in text


def test_who_accepted_a_task_is_told_with_the_address(play: Play, run: str) -> None:
    """Way: whoever accepts a task in another's name, with an address of their own, is told as that other."""
    task = play.proven()
    base = head(play)
    play.as_("Grace <grace@elsewhere.invalid>").do(verifying.verify_task, task)
    held = told(play, f"{base}..")
    assert "completed → accepted by Grace <grace@elsewhere.invalid>\n" in diff_text.text(held)
    assert "| completed → accepted | Grace \\<grace@elsewhere.invalid\\> |" in markdown(held)


def test_a_verdict_from_beside_the_end_of_its_run_is_told_as_late(play: Play, run: str) -> None:
    """Where `status` says that a pass came too late to count, the comment does not tell it as any other."""
    play.proven()
    git(play.root, "branch", "beside")
    play.do(runs.complete_run, run)
    base = head(play)
    git(play.root, "checkout", "-q", "beside")
    play.gate("quality_review", "passed", run=run)
    git(play.root, "checkout", "-q", "main")
    git(play.root, "merge", "-q", "--no-edit", "beside")
    held = told(play, f"{base}..")
    assert [gate["late"] for gate in held["runs"][0]["gates"]] == [True]
    who = "Ada <ada@example.invalid>"
    late = "late: came after the run's completion; without evidence"
    assert f"quality review: passed by {who}; {late}" in diff_text.text(held)
    assert "; **late**: came after the run's completion; without evidence\n" in markdown(held)


def test_what_a_report_counts_stands_beside_its_command(play: Play, run: str) -> None:
    """One case that passed beside many that were skipped is seen where the proof is told."""
    base = head(play)
    cases = "<testcase name='a'/>" + "<testcase name='b'><skipped/></testcase>" * 7
    write = f"open('junit.xml', 'w').write({f'<testsuite>{cases}</testsuite>'!r})"
    (play.root / ".gitignore").write_text("junit.xml\n")
    play.commit("run.py", write)
    task = play.task()
    handed = play.claimed(task)
    draft = evidences.witness(play.ledger, ["python3", "run.py"], kind="test", quiet=True, reports=["junit.xml"])
    play.complete(handed, play.do(evidences.record_draft, draft, tasks=[task]))
    shown = "proven by test, witnessed: `python3 run.py` exit 0; junit: 8 tests, 1 passed, 7 skipped"
    assert f"| {shown} |" in markdown(told(play, f"{base}.."))


def test_what_a_branch_takes_back_is_in_the_table_before_what_it_proves(play: Play, run: str) -> None:
    """However many easy tasks a branch proves: what it calls off, or words otherwise, is not what is left out."""
    called_off, reworded = play.task("Refuse empty passwords"), play.task("Ask the list")
    base = head(play)
    play.do(tasks.cancel_task, called_off, reason="Done elsewhere.")
    play.do(tasks.revise_task, reworded, title="Ask somebody")
    held = told(play, f"{base}..")
    easy = many(2000, "An easy task")["runs"][0]["tasks"]
    held["runs"][0]["tasks"] = [*easy, *held["runs"][0]["tasks"]]
    table = markdown(held).partition("<details>")[0]
    assert [name in table for name in (called_off, reworded)] == [True, True]
    assert table.index(reworded) < table.index("An easy task")


def test_what_needs_a_look_is_not_what_is_left_out() -> None:
    """Verdicts, plans and what does not count stand before the many lines of tasks and evidence."""
    held = many(2000, "An easy task")
    held["runs"][0]["illegal"] = [
        {"id": "event_000000000000", "record": "task_000000000000", "action": "task.accepted", "actor": "bot",
         "created_at": "", "summary": None, "problem": "it was rejected"}
    ]  # fmt: skip
    assert "**not counted**: accepted of `task_000000000000` by bot: it was rejected" in markdown(held)


def test_no_run_hides_the_verdicts_of_another(play: Play, run: str) -> None:
    """Way: a branch brings runs with long tasks, and what it says of the base's own run is left out of the comment."""
    play.gate("quality_review", "failed", run=run)
    base = head(play)
    play.gate("quality_review", "passed", run=run)
    held = told(play, f"{base}..")
    (flood,) = many(40, "An easy task")["runs"]
    long = {**flood["tasks"][0], "change": "added", "reason": "It is well and good. " * 10}
    flood |= {"change": "added", "tasks": [long] * 40, "from": None, "way": []}
    alone = {**flood, "tasks": []}
    files = [{"path": f".memento/skills/{'x' * 200}/{number}", "change": "added"} for number in range(300)]
    shown = markdown({**held, "runs": [*[alone] * 1000, *[flood] * 30, *held["runs"]], "files": files})
    assert "quality review: failed → passed by Ada" in shown


def test_what_the_branch_rejects_of_its_own_hides_nothing_of_the_base(play: Play, run: str) -> None:
    """Way: a branch brings many tasks that it rejects, so that the one of the base's that it calls off is left out."""
    task = play.task("Refuse empty passwords")
    base = head(play)
    play.do(tasks.cancel_task, task, reason="Done elsewhere.")
    held = told(play, f"{base}..")
    easy = many(1, "An easy task")["runs"][0]["tasks"][0]
    own = {**easy, "change": "added", "to": "rejected", "proven": None, "proof": []}
    held["runs"][0]["tasks"] = [*[own] * 2000, *held["runs"][0]["tasks"]]
    table = markdown(held).partition("<details>")[0]
    assert table.index(task) < table.index("An easy task")


def test_a_task_that_is_proven_by_now_is_no_stale_one(play: Play, run: str) -> None:
    """A second run that spoke against its evidence is taken back beside a change of the code, and nothing else."""
    task = play.proven()
    first = play.state(task).evidence_named(play.state(task).proof(task).by[0])
    draft = evidences.witness(play.ledger, first.data["command"]["argv"], kind="test", quiet=True)
    data = {**draft.data, "reproduces": f"{first.id}@{first.digest}", "outcome": "failed"}
    data["command"] = {**data["command"], "exit": 1}
    again = play.do(evidences.record_draft, draft._replace(data=data), tasks=[task])
    assert not play.is_proven(task)
    base = head(play)
    play.do(evidences.retract, again, reason="It fails now and then.")
    play.commit("app.py", "answer = 43\n")
    held = told(play, f"{base}..")
    assert one_task(held, task)["became"] == ["stale"]
    (row,) = [
        line for line in markdown(held).splitlines() if line.startswith("| ") and f"`{task}` | completed | " in line
    ]
    assert row.count("stale") == 1
    assert "(it was unproven)" in diff_text.text(held)


def test_how_a_long_command_ends_is_told(play: Play, run: str, cli: Call) -> None:
    """A command that ends well whatever happens says so at its end."""
    base = head(play)
    names = " ".join(f"tests/test_{number}.py" for number in range(30))
    task = play.task()
    draft = evidences.witness(play.ledger, ["sh", "-c", f"false {names} || true"], kind="test", quiet=True)
    play.complete(play.claimed(task), play.do(evidences.record_draft, draft, tasks=[task]))
    held = told(play, f"{base}..")
    report = cli("report", "--format", "markdown", "-C", str(play.root))[1]
    for shown in (diff_text.text(held), markdown(held), report):
        assert re.search(
            r"false tests/test_0.py .* … \d+ characters … .* tests/test_29.py [\\|]+ true'`? exit 0", shown
        )


def test_what_a_test_saw_that_nobody_commits_is_told(play: Play, run: str, cli: Call) -> None:
    """A file beside the code may make a test pass that fails without it."""
    base = head(play)
    (play.root / "helper.py").write_text("good = True\n")
    task = play.task()
    draft = evidences.witness(play.ledger, ["python3", "-c", "import helper"], kind="test", quiet=True)
    play.complete(play.claimed(task), play.do(evidences.record_draft, draft, tasks=[task]))
    told_so = "exit 0, beside untracked `helper.py`"
    report = ("report", "--format", "markdown", "-C", str(play.root))
    assert told_so in markdown(told(play, f"{base}.."))
    assert told_so in cli(*report)[1]
    play.commit_all()
    assert "untracked" not in markdown(told(play, f"{base}..")) + cli(*report)[1]
    play.commit("helper.py", "good = False\n")
    assert told_so in markdown(told(play, f"{base}.."))


def test_what_somebody_let_through_that_policy_would_not_is_in_the_table(play: Play, run: str) -> None:
    """Whoever hands a task out beyond its budget, or with what destroys, gives a word, and nobody has to agree."""
    base = head(play)
    task = play.task(body="git push --force", attempts=1)
    allowed: dict[str, Any] = {"note": "Agreed.", "allow_destructive": ["force_push"]}
    handed = play.dispatch(task, **allowed)
    play.do(dispatches.claim_dispatch, handed)
    play.do(dispatches.fail_dispatch, handed, reason="It does not work.")
    play.do(tasks.reopen_task, task, reason="Again.")
    handed = play.dispatch(task, over_budget="Once | more.", **allowed)
    play.do(dispatches.claim_dispatch, handed)
    play.do(dispatches.recover_dispatch, handed, force=True, reason="I want it.")
    told_so = (
        "handed out beyond its budget: Once \\| more.", "handed out with destructive commands allowed: force_push",
        "taken back by force: I want it.",
    )  # fmt: skip
    table = markdown(told(play, f"{base}..")).partition("<details>")[0]
    assert [one in table for one in told_so] == [True, True, True], table
    assert "beyond its budget: Once | more." in diff_text.text(told(play, f"{base}.."))


def test_a_later_run_that_failed_and_that_nobody_cites_stands_by_the_proof(play: Play, run: str) -> None:
    """Way: of two runs of a test on the same code the good one is cited, and the one that failed after it is not."""
    base = head(play)
    task, other = play.task(), play.task("Another")
    (play.root / ".gitignore").write_text("ends\n")
    play.commit("run.py", "raise SystemExit(int(open('ends').read()))\n")

    def ran(code: int, *tasks_: str) -> str:
        (play.root / "ends").write_text(str(code))
        draft = evidences.witness(play.ledger, ["python3", "run.py"], kind="test", quiet=True)
        return str(play.do(evidences.record_draft, draft, tasks=tasks_))

    early, good, bad, elsewhere = ran(1, task), ran(0, task), ran(1, task), ran(1, other)
    play.complete(play.claimed(task), good)
    held = told(play, f"{base}..")
    assert [one["id"] for one in one_task(held, task)["failed_since"]] == [bad]
    assert "exit 0; **failed since**: test, witnessed: `python3 run.py` exit 1 |" in markdown(held)
    good = ran(0)
    assert one_task(told(play, f"{base}.."), task)["failed_since"] == []
    play.do(evidences.retract, good, reason="It is of another list.")
    assert [one["id"] for one in one_task(told(play, f"{base}.."), task)["failed_since"]] == [bad]
    play.do(evidences.retract, bad, reason="The list was down.")
    assert one_task(told(play, f"{base}.."), task)["failed_since"] == []
    assert {early, elsewhere} < {row["id"] for row in held["runs"][0]["evidence"]}


@pytest.mark.parametrize("path", ["app.py", ".memento/README.md"])
def test_a_run_that_failed_on_the_branch_is_told_at_the_task_that_the_base_has_proven(
    play: Play, run: str, path: str
) -> None:
    task = play.proven()
    base = head(play)
    play.commit(path, "answer = 43\n")
    draft = evidences.witness(play.ledger, ["sh", "-c", "echo checked; exit 0"], kind="test", quiet=True)
    ran = {**draft.data["command"], "exit": 1}
    failed = draft._replace(data={**draft.data, "command": ran, "outcome": "failed"})
    bad = play.do(evidences.record_draft, failed, tasks=[task])
    held = told(play, f"{base}..")
    assert [one["id"] for one in one_task(held, task)["failed_since"]] == [bad]
    assert "**failed since**" in markdown(held).partition("<details>")[0]
    failing = head(play)
    play.do(evidences.retract, bad, reason="The list was down.")
    assert "failed since" not in markdown(told(play, f"{base}.."))
    table = markdown(told(play, f"{failing}..")).partition("<details>")[0]
    assert "exit 0 (a run had failed since) |" in table  # who takes the failure back is not passed over in silence


def test_what_evidence_holds_is_told_before_what_was_said_of_it(play: Play, run: str) -> None:
    """A check is told by its name and end, and a file by its name: a summary may say anything."""
    base = head(play)
    (play.root / "form.png").write_bytes(b"a picture")
    play.commit_all()
    play.do(evidences.add_evidence, "screenshot", files=["form.png"], summary="All 42 tests passed")
    play.do(evidence_checks.record_check, "gitlab", conclusion="success", name="spelling")
    play.do(evidences.add_evidence, "diff", diff=f"{base}..{head(play)}", summary="Three lines")
    play.do(evidences.approve, play.run("Another"), prompt="May it go?", response="yes")
    shown = markdown(told(play, f"{base}.."))
    assert " by Ada: screenshot, verified, observed: form.png; All 42 tests passed\n" in shown
    assert "ci, reported, passed: gitlab: spelling success" in shown
    assert re.search(r"diff, reported, observed: \S+: \+\d+ -\d+; Three lines", shown)
    assert "approval, reported, passed: “yes”" in shown


def test_what_was_asked_of_a_task_stands_by_what_proves_it(play: Play) -> None:
    """A task that asks for nothing, and was done on something easy, looks other than one of which much is asked."""
    play.policy("  require: [test]\n")
    play.planned()
    base = head(play)
    asks = ["sh -c 'echo checked; exit 0'"]
    asking: dict[str, Any] = {"kind": "fixs", "risk": "high", "files": ["app.py", "a b.py"]}
    task = play.task(criteria=["It refuses | them", "It says why"], commands=asks, **asking)
    play.complete(play.claimed(task), play.evidence(task))
    play.task("Not done yet", criteria=["Whatever"])
    shown = markdown(told(play, f"{base}.."))
    line = "asked of it: policy asks for test evidence; the task asks for `sh -c 'echo checked; exit 0'`"
    about = "by which policy asks: kind fixs, risk high, files app.py, a b.py"
    assert f"  - {line}\n  - its criteria: It refuses \\| them; It says why\n  - {about}\n" in shown
    assert "Whatever" not in shown


def test_a_run_that_was_resumed_for_a_while_is_told(play: Play, run: str) -> None:
    """Way: somebody paused the run, and whoever goes on all the same pauses it again when the work is done."""
    play.do(runs.pause_run, run, reason="Wait for the lawyers.")
    base = head(play)
    play.do(runs.resume_run, run)
    play.do(runs.pause_run, run, reason="Wait for the lawyers.")
    told_so = "paused → active → paused by Ada: Wait for the lawyers."
    assert f"`{run}` Make it work: {told_so}" in markdown(told(play, f"{base}.."))
    assert told_so in diff_text.text(told(play, f"{base}.."))


def test_of_several_runs_of_one_command_that_which_proves_comes_first_and_says_so(play: Play, run: str) -> None:
    base, task = head(play), play.task()
    held = play.claimed(task)
    for _ in range(2):
        play.evidence(task)
    proof = play.evidence(task)
    play.complete(held, proof)
    play.gate("quality_review", "passed", run=run)
    lines = [line.strip() for line in diff_text.text(told(play, f"{base}..")).splitlines() if "evidence_" in line]
    assert [line.endswith(f" — proves {task}") for line in lines] == [True, False, False]
    assert lines[0].startswith(f"{proof} by ")
