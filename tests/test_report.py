"""report: what it tells, and its forms for a pull request, a terminal, a chat, a program and a browser."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.ledger import layout
from memento_git.review import timeline
from memento_git.review.chat import MOST, chat, text
from memento_git.review.page import page
from memento_git.review.report import markdown, sections
from memento_git.review.summary import digest
from memento_git.work import codestate
from memento_git.work.actions import dispatches, evidence_checks, evidences, plans, runs, tasks
from memento_git.work.actions.verifying import judge
from memento_git.work.board import as_markdown, board
from memento_git.work.overview import overview
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.model.rows import AnyRow
    from memento_git.model.run_rows import RunRows
    from tests.play import Call, Play

HOSTILE: Final = "<script>alert(1)</script> \"><img src=x onerror=alert(1)> '`{{ 7 * 7 }} & javascript:alert(1)"
NOW: Final = "2026-11-22T10:00:00.000Z"


def seen(play: Play) -> RunRows:
    view = play.ledger.view()
    held = overview(play.ledger, view, view.runs()[0], limit=0)
    return {**held, **digest(held)}


def worked(play: Play) -> tuple[str, str]:
    """Play a run with a proven and a blocked task, a plan with a risk and a diff; return the tasks."""
    run = play.run("Refuse empty passwords")
    play.do(plans.approve_plan, play.do(plans.draft_plan, "P", "B", run=run, risks=["The list may be down"]))
    first = git(play.root, "rev-parse", "HEAD")
    play.commit("form.py", "import app\n")
    done = play.proven("Check the form", files=["form.py"], role="implementer")
    play.do(evidences.add_evidence, "diff", tasks=[done], diff=f"{first}..HEAD")
    stuck = play.task("Ask the list", risk="high", role="reviewer")
    play.do(tasks.block_task, stuck, reason="the list is down")
    return done, stuck


# What it tells.


def test_the_page_says_what_the_code_of_evidence_means_for_it(play: Play, run: str) -> None:
    (play.root / "app.py").write_text("answer = 41\n")
    task = play.proven()
    assert page(seen(play), NOW).count(">of code that is not committed here<") == 3
    changing = [sys.executable, "-c", "open('app.py', 'a').write('#')"]
    play.do(evidences.record_draft, evidences.witness(play.ledger, changing, kind="test", quiet=True), tasks=[task])
    assert page(seen(play), NOW).count("the code changed while it ran") == 1


def test_each_piece_of_evidence_is_told_once_and_what_is_alike_on_one_line(play: Play) -> None:
    """A pool leaves a note of each run of its executor, which all read alike, and what proves is told with its task."""
    done, _ = worked(play)
    notes = [play.evidence(done, kind="lint") for _ in range(3)]
    (proof,) = (row["evidence_id"] for row in seen(play)["verification"])
    told = dict(sections(seen(play)))
    (line,) = told["Verification"]
    assert re.fullmatch(rf"`{proof}` test: `sh .*` exit 0 — witnessed, passed, proves `{done}`", line)
    of_diff, alike = sorted(told["Other evidence"], key=lambda line: " lint: " in line)
    assert all(f"`{name}`" in alike for name in notes)
    assert (alike.count(" lint: "), "diff" in of_diff, "Evidence" in told) == (1, True, False)
    limited = dict(sections({**seen(play), "evidence": []}))
    assert limited["Verification"] == [f"`{proof}` test — witnessed, proves `{done}`"]


def test_files_that_a_done_task_names_alone_are_not_told_as_changed(play: Play) -> None:
    worked(play)
    play.proven("Check the list", files=["list.py"])
    named = "## Files that done tasks name\n\n- `list.py`\n"
    assert f"## Changed files\n\n- `form.py`\n\n{named}" in markdown(seen(play))
    shown = page(seen(play), NOW)
    assert shown.index(">form.py<") < shown.index("Files that done tasks name") < shown.index(">list.py<")


def test_the_report_tells_what_is_asked_of_it(play: Play) -> None:
    done, stuck = worked(play)
    held = seen(play)
    assert [(row["kind"], row["record"]) for row in held["blockers"]] == [("task", stuck)]
    assert "the list is down" in held["blockers"][0]["about"]
    assert [row["path"] for row in held["changed_files"]] == ["form.py"]
    assert held["changed_files"][0]["task_ids"] == [done]
    assert len(held["changed_files"][0]["evidence_ids"]) == 1
    (proof,) = held["verification"]
    assert (proof["kind"], proof["trust_level"], proof["task_ids"]) == ("test", "witnessed", [done])
    assert [row["about"] for row in held["risks"]] == [
        "The list may be down", "“Ask the list” is of high risk and not done",
    ]  # fmt: skip
    told = markdown(held)
    for title in ("Blockers", "Plan", "Blocked", "Completed", "Verification", "Changed files", "Risks", "Roles",
                  "Other evidence", "Next"):  # fmt: skip
        assert told.count(f"\n## {title}\n") == 1, title
    assert told.count("# Refuse empty passwords\n") == 1
    assert "|" not in told


def test_a_report_has_no_word_of_what_is_asked_where_no_rule_asks_but_other_kinds_prove(play: Play) -> None:
    (play.root / layout.CONFIG).write_text("version: 1\npolicy: {proof: {test: witnessed}}\n")
    play.commit_all("policy")
    task = play.planned_task()
    assert f"\n- A task (`{task}`) — ready\n" in markdown(seen(play))


def test_each_role_has_its_last_action_once_and_what_it_has_not_finished(play: Play, run: str) -> None:
    task = play.task("A task", role="implementer")
    dispatch = play.dispatch(task, "agent:codex")
    play.as_("agent:codex").do(dispatches.claim_dispatch, dispatch)
    play.as_("grace").gate("quality_review", "failed", note="slow")
    rows = {(row["kind"], row["name"]): row for row in seen(play)["roles"]}
    assert len(rows) == 4
    assert rows["actor", "agent:codex"]["last_action"] == "task.claimed"
    assert rows["actor", "agent:codex"]["incomplete_tasks"] == [task]
    assert rows["actor", "grace"]["last_action"] == "gate.failed"
    assert rows["role", "implementer"]["last_record"] == task
    assert rows["role", "implementer"]["incomplete_tasks"] == [task]
    ada = rows["actor", "Ada <ada@example.invalid>"]
    assert ada["actions"] == {
        "run.started": 1, "plan.drafted": 1, "plan.approved": 1, "task.added": 1, "task.dispatched": 1,
    }  # fmt: skip
    assert markdown(seen(play)).count("agent:codex:") == 1


def test_whoever_was_only_handed_work_is_a_role_too(play: Play, run: str) -> None:
    play.dispatch(play.task(), "agent:new")
    row = next(row for row in seen(play)["roles"] if row["name"] == "agent:new")
    assert (row["last_action"], row["actions"], len(row["incomplete_tasks"])) == ("", {}, 1)
    assert "agent:new: nothing yet; 0 in all, 1 not finished" in text(seen(play))


# Text and chat.


def test_text_is_free_of_markdown(play: Play) -> None:
    worked(play)
    told = text(seen(play))
    assert told.startswith("Refuse empty passwords\n")
    assert re.search(r"[`|#\\]|\*\*", told) is None


@pytest.mark.parametrize(
    "title", ["Task {} of many, each with a title that goes on for a while", "\U0001f9ea{0} " * 30]
)
def test_a_chat_message_is_never_too_long_and_counts_what_it_leaves_out(play: Play, run: str, title: str) -> None:
    def add(tx: Any) -> None:
        for number in range(300):
            tasks.add_task(tx, title.format(number))

    play.ledger.change("add", add)
    told = chat(seen(play))
    assert len(told.encode("utf-16-le")) // 2 <= MOST
    shown = len(re.findall(r"(?m)^  .*\(task_\w+\)|^  .*…$", told.partition("PENDING")[2].partition("\n\n")[0]))
    more = re.findall(r"(?m)^  and (\d+) more$", told.partition("PENDING")[2].partition("\n\n")[0])
    assert shown + int(more[0]) == 300


@pytest.mark.parametrize("words", ["@team #12 www.x.example https://x.example", "for $5 and $6: &#8203; </span>"])
def test_a_report_that_is_posted_calls_nobody_and_as_text_has_the_words_as_they_are(play: Play, words: str) -> None:
    """Way: a title that calls a whole team, or a link to where all is well, once a report is posted."""
    play.run(words)
    play.do(tasks.block_task, play.task(words), reason=words)
    held = seen(play)
    shown = markdown(held)
    assert re.search(r"@\w|[^&]#\d|www\.|://|[^>\\]\$", shown) is None, shown
    assert as_markdown(board(held)).count(words) == 0
    assert text(held).count(words) == chat(held).count(words) == 7, text(held)


def test_an_address_of_evidence_can_be_copied_out_of_a_report(play: Play) -> None:
    run, address = play.run(), "https://ci.example.invalid/builds/7?a=1&b=$2"
    play.do(evidences.add_evidence, "ci", run=run, uri=address, summary="@team: all is well")
    shown = markdown(seen(play))
    assert f"`{address}`; @&#8203;team: all is well" in shown
    assert f"{address}; @team: all is well" in text(seen(play))


def test_a_short_run_is_told_in_a_chat_as_a_whole(play: Play) -> None:
    worked(play)
    assert " more" not in chat(seen(play))


def test_a_goal_without_end_fits_too(play: Play) -> None:
    play.run("x" * 5000)
    assert len(chat(seen(play))) < MOST


# Files, forms, refusals.


@pytest.mark.parametrize("form", ["markdown", "text", "json", "html"])
def test_every_form_is_printed_and_written(play: Play, cli: Call, tmp_path: Path, form: str) -> None:
    worked(play)
    code, printed, _ = cli("report", "--format", form, "-C", str(play.root))
    assert code == 0
    out = tmp_path / "report.out"
    assert cli("report", "--format", form, "--out", str(out), "-C", str(play.root))[0] == 0
    written = out.read_text()
    if form == "json":
        held, there = json.loads(printed), json.loads(written)
        held.pop("generated_at"), there.pop("generated_at")
        assert held == there
        assert held["ok"]
    else:
        made = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")  # a page has the minute in which it was made
        assert made.sub("", printed).rstrip() == made.sub("", written).rstrip()
    assert [path.name for path in tmp_path.iterdir() if "report" in path.name] == ["report.out"]


def test_what_a_report_cannot_be_is_refused(
    play: Play, cli: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.run()
    where = ("-C", str(play.root), "--json")
    for bad in (tmp_path, tmp_path / "no" / "x.html", play.root / ".memento" / "x.md", play.root / ".git" / "x"):
        code, out, _ = cli("report", "--out", str(bad), *where)
        assert (code, json.loads(out)["error"]) == (1, "out_invalid")
    assert cli("report", "--chat", "--format", "html", *where)[0] == 2
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, out, _ = cli("report", "--format", "html", *where)
    assert (code, json.loads(out)["error"]) == (1, "html_extra_missing")
    assert "memento-git[html]" in json.loads(out)["hint"]


def test_a_report_of_no_named_run_tells_of_the_others_that_are_open(play: Play, cli: Call) -> None:
    """Way: a branch brings a run for the same goal, whose easy work is done, and the report is of that one alone."""
    first, last = play.run("Refuse empty passwords"), play.run("Refuse empty passwords")
    where = ("report", "-C", str(play.root))
    assert f"- Refuse empty passwords (`{first}`) — active\n" in cli(*where)[1].partition("## Also open\n")[2]
    assert f"Refuse empty passwords ({first}) — active" in cli(*where, "--chat")[1]
    assert f'<code class="id">{first}</code>' in cli(*where, "--format", "html")[1]
    assert [row["id"] for row in json.loads(cli(*where, "--json")[1])["also_open"]] == [first]
    assert "Also open" not in cli(*where, "--run", last)[1]


def test_what_the_limit_left_out_is_told(play: Play, run: str, cli: Call) -> None:
    for number in range(4):
        play.do(tasks.block_task, play.task(f"T{number}"), reason="R")
    _, out, _ = cli("report", "--limit", "3", "--json", "-C", str(play.root))
    told = json.loads(out)
    assert (told["omitted"]["tasks"], told["omitted"]["blockers"]) == (1, 1)
    assert "blockers: 1 more" in told["text"]


# The page.


class Tags(HTMLParser):
    """All tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def assert_inert(whole: str) -> None:
    """Assert that nothing in a page runs, loads or leads to anything but a web address or itself."""
    for tag, attributes in Tags(whole).tags:
        assert tag not in ("script", "img", "iframe", "object", "embed", "link", "base", "form", "video", "audio"), tag
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("style", "src", "srcset", "action"), (tag, name)
            if name == "href":
                assert (value or "").startswith(("#", "https://", "http://")), value


def hostile(play: Play) -> str:
    """Fill every text of a run with what could harm a page; return it."""
    run = play.run(HOSTILE)
    play.do(plans.approve_plan, play.do(plans.draft_plan, HOSTILE, HOSTILE, run=run, risks=[HOSTILE]), note=HOSTILE)
    task = play.task(HOSTILE, body=HOSTILE, criteria=[HOSTILE], role=HOSTILE, files=["a<b>\"'.py"])
    evil = play.as_("evil <b onmouseover=alert(1)>")
    dispatch = evil.dispatch(task, HOSTILE)
    evil.do(dispatches.claim_dispatch, dispatch)
    evidence = play.evidence(task)
    evil.complete(dispatch, evidence)
    play.gate("quality_review", "failed", note=HOSTILE)
    play.do(evidences.add_evidence, "ci", run=run, uri="javascript:alert(1)", summary=HOSTILE)
    play.do(evidences.add_evidence, "ci", run=run, uri='https://example.invalid/"><script>', summary=HOSTILE)
    play.do(tasks.block_task, play.task(HOSTILE), reason=HOSTILE)
    return run


def test_nothing_that_the_ledger_says_acts_in_the_page(play: Play) -> None:
    hostile(play)
    whole = page(seen(play), NOW)
    assert_inert(whole)
    assert HOSTILE in "".join(Tags(whole).texts)
    assert "49" not in re.findall(r"`([^`]*?) &", "".join(Tags(whole).texts))


def test_the_page_tells_how_a_long_command_ends_and_where_it_ran(play: Play) -> None:
    """Way: the page shows the beginning of a command alone, and `|| true` stands at its end."""
    task = play.task(run=play.planned())
    argv = ["sh", "-c", f"pytest {'tests/test_x.py ' * 20} || true"]
    (play.root / "in here").mkdir()
    draft = evidences.witness(
        play.beside(play.root / "in here").ledger, argv, kind="test", quiet=True, covers=["app.py"]
    )
    play.complete(play.claimed(task), play.do(evidences.record_draft, draft, tasks=[task]))
    whole = "".join(Tags(page(seen(play), NOW)).texts)
    assert whole.count("|| true' in 'in here' exit 0, covers only app.py") == 2, whole


def test_the_page_tells_of_a_verdict_an_answer_and_a_check_what_the_report_tells(play: Play, run: str) -> None:
    """Way: a late pass in another's name, an answer and a summary that says it of another check look like any other."""
    play.proven()
    git(play.root, "branch", "beside")
    play.do(runs.complete_run, run)
    git(play.root, "checkout", "-q", "beside")
    play.as_("Grace <grace@elsewhere.invalid>").gate("quality_review", "passed", run=run)
    play.do(evidence_checks.record_check, "jenkins", conclusion="success", name="spelling", run=run)
    play.do(evidences.approve, run, prompt="Is it good?", response="No, never")
    git(play.root, "checkout", "-q", "main")
    git(play.root, "merge", "-q", "--no-edit", "beside")
    whole = "".join(Tags(page(seen(play), NOW)).texts)
    assert "passed came after the run's completionGrace <grace@elsewhere.invalid>" in whole, whole
    assert "jenkins: spelling success" in whole, whole
    assert f"does not approve {run}: “No, never”" in whole, whole


def test_a_summary_is_not_all_that_a_log_tells_of_evidence_nor_what_a_report_begins_with(
    play: Play, run: str, cli: Call
) -> None:
    """Way: the summary of an answer, which whoever writes it words as they like, says the opposite of it."""
    who = "Ada <ada@example.invalid>"
    play.do(evidences.approve, run, prompt="Is it good?", response="No, never", summary="all approved")
    assert f": does not approve `{run}` by Ada \\<ada@example.invalid\\>: “No, never”; all approved — " in markdown(
        seen(play)
    )
    assert f"recorded  {who}: approval, failed: all approved\n" in cli("log", "-C", str(play.root))[1]


def test_the_page_needs_nothing_beside_it_and_its_policy_says_so(play: Play) -> None:
    worked(play)
    whole = page(seen(play), NOW)
    policy = next(given["content"] or "" for tag, given in Tags(whole).tags if given.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "url(" not in whole
    assert "@import" not in whole
    tags = Tags(whole).tags
    names = [given["id"] for _, given in tags if "id" in given]
    assert len(names) == len(set(names))
    leads = [given["href"] or "" for tag, given in tags if tag == "a" and (given["href"] or "").startswith("#")]
    assert {lead[1:] for lead in leads} <= set(names)


def test_a_run_without_anything_has_a_page(play: Play) -> None:
    play.run()
    assert "no tasks yet" in page(seen(play), NOW)


def test_long_lists_of_what_is_settled_are_folded(play: Play, run: str) -> None:
    def add(tx: Any) -> None:
        for number in range(50):
            tasks.cancel_task(tx, tasks.add_task(tx, f"T{number}"), reason="R")

    play.ledger.change("add", add)
    assert '<details class="group"><summary><span class="state cancelled">' in page(seen(play), NOW)


def test_the_timeline_is_bounded_and_counts_every_event() -> None:
    events: list[AnyRow] = [
        {"actor": f"actor{number % 20}", "action": ("task.claimed", "task.failed", "task.completed")[number % 3],
         "created_at": f"2026-11-22T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"}
        for number in range(20_000)
    ]  # fmt: skip
    line = timeline.timeline(events)
    assert line is not None
    assert len(line["lanes"]) == timeline.MOST_LANES
    assert line["lanes"][-1]["name"] == timeline.OTHERS
    assert sum(mark["count"] for lane in line["lanes"] for mark in lane["marks"]) == 20_000
    assert sum(len(lane["marks"]) for lane in line["lanes"]) <= timeline.MOST_LANES * (timeline.STEPS + 1)
    assert timeline.timeline([]) is None


@pytest.mark.parametrize("seconds", [0, 1, 3])
def test_the_axis_of_what_took_a_moment_has_no_label_twice(seconds: int) -> None:
    events: list[AnyRow] = [
        {"actor": "Ada", "action": "task.added", "created_at": f"2026-11-22T10:00:0{number}.000Z"}
        for number in range(seconds + 1)
    ]
    line = timeline.timeline(events)
    assert line is not None
    labels = [tick["label"] for tick in line["ticks"]]
    assert len(set(labels)) == len(labels) == timeline.TICKS


# What is too long for a line.


def test_a_long_command_is_cut_with_a_mark_and_a_missing_report_is_named(play: Play) -> None:
    play.run()
    long = [sys.executable, "-c", f"pass # {'x' * 200}"]
    play.do(evidences.record_draft, evidences.witness(play.ledger, long, quiet=True))
    missing = evidences.witness(play.ledger, [sys.executable, "-c", "pass"], quiet=True, reports=["junit.xml"])
    play.do(evidences.record_draft, missing)
    first, second = next(items for title, items in sections(seen(play)) if title == "Evidence")
    assert re.search(r"# x+ … \d+ characters … x+'` exit 0 — witnessed, passed", first)
    assert "exit 0; report junit.xml was not written by the command — witnessed, failed" in second


def test_failed_cases_that_are_not_named_are_counted(play: Play) -> None:
    play.run()
    cases = "".join(f"<testcase name='case {number}'><failure/></testcase>" for number in range(60))
    script = f"open('junit.xml', 'w').write(\"<testsuite>{cases}</testsuite>\")"
    draft = evidences.witness(play.ledger, [sys.executable, "-c", script], quiet=True, reports=["junit.xml"])
    play.do(evidences.record_draft, draft)
    (line,) = next(items for title, items in sections(seen(play)) if title == "Evidence")
    assert "case 4 and 55 more)" in line


def test_a_spike_says_so_in_every_form(play: Play, cli: Call) -> None:
    play.run("Try it", spike=True)
    task = play.proven("Log in")
    held = seen(play)
    for form in (markdown(held), text(held), chat(held), page(held, NOW), cli("status", "-C", str(play.root))[1]):
        assert "a spike without a plan" in form
        assert "handed out without a plan, as a spike" in form
    play.do(plans.approve_plan, play.do(plans.draft_plan, "P", "B"))
    later = play.task("Log out")
    play.dispatch(later)
    held = seen(play)
    assert {row["id"]: row["spike"] for row in held["tasks"]} == {task: True, later: False}
    assert "**active**, a spike. Tasks" in markdown(held)


def test_a_stale_part_of_what_proves_a_task_is_told_beside_a_fresh_one(play: Play, run: str, cli: Call) -> None:
    """A new run of something easy does not make the test of other code look like one of this."""
    task = play.task()
    old = play.evidence(task)
    play.complete(play.claimed(task), old)
    play.commit("app.py", "answer = 43\n")
    draft = evidences.witness(play.ledger, ["true"], kind="lint", quiet=True)
    play.do(judge, task, codestate.code_now(play.ledger.git), [draft])
    shown = cli("report", "--format", "markdown", "-C", str(play.root))[1]
    assert "proven by test, witnessed, stale; lint, witnessed" in shown
    shown = page(seen(play), NOW)
    assert ">test, witnessed, stale<" in shown
    assert ">lint, witnessed<" in shown
    assert "</b> stale<" not in shown


def test_the_page_does_not_call_stale_what_passed_on_this_code_since(play: Play, run: str) -> None:
    play.proven()
    play.commit("app.py", "answer = 43\n")
    shown = page(seen(play), NOW)
    assert ">stale: this commit has other code<" in shown
    assert "<b>1</b> stale<" in shown
    play.proven("Another")
    shown = page(seen(play), NOW)
    assert ">passed on this code since<" in shown
    assert "</b> stale<" not in shown
