"""memento graph: status, update, diff, propose, as one types them."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.code import grammars
from memento_git.errors import adding
from memento_git.work.actions import graphs as actions
from memento_git.work.actions.graphs import run_warnings
from memento_git.work.graph import codegraph, graphs, proposals
from tests.play import git
from tests.test_graphs import code

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.play import Call, Play


@pytest.fixture
def call(cli: Call, play: Play) -> Callable[..., Any]:
    """Run a command in the repository; return its exit code and its answer."""

    def called(*words: str) -> tuple[int, Any]:
        code, out, _ = cli(*words, "--json", "-C", str(play.root))
        return code, json.loads(out)

    return called


def test_status_shows_cycles_and_whether_the_snapshot_is_of_this_code(
    play: Play, run: str, call: Any, cli: Call
) -> None:
    code(play, a="import b\n", b="import a\n")
    _, told = call("graph")
    assert told["graph"]["cycles"] == [["a.py", "b.py"]]
    assert (told["snapshot"], told["graphify"]["installed"]) == (None, False)
    assert told["graphify"]["state"] == "not_installed"
    evidence = call("graph", "update")[1]["evidence"]["id"]
    assert call("graph", "status")[1]["snapshot"]["current"]
    code(play, b="")
    snapshot = call("graph", "status")[1]["snapshot"]
    assert (snapshot["evidence_id"], snapshot["current"]) == (evidence, False)
    _, out, _ = cli("graph", "-C", str(play.root))
    assert "of other code" in out
    assert "cycles 0" in out


def test_status_reads_the_past_and_a_repository_without_a_ledger(
    play: Play, call: Any, cli: Call, repo: Path, tmp_path: Path
) -> None:
    first = git(repo, "rev-list", "--max-parents=0", "HEAD")
    code(play, a="import app\n")
    assert call("graph", "status", "--at", first)[1]["graph"]["counts"]["nodes"] == 1
    assert call("graph", "status", "--at", first, "--at", "HEAD")[0] == 2
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    assert cli("graph", "-C", str(tmp_path / "bare.git"))[0] == 0


def test_update_records_once_and_says_so(play: Play, run: str, call: Any) -> None:
    first, again = call("graph", "update")[1], call("graph", "update")[1]
    assert (first["recorded"], again["recorded"]) == (True, False)
    assert first["evidence"]["id"] == again["evidence"]["id"]


def test_a_graph_above_the_limit_is_kept_as_its_digest(play: Play, run: str, call: Any) -> None:
    config = play.root / ".memento" / "config.yaml"
    play.commit(config, "version: 1\npolicy:\n  limits:\n    attach: 10\n")
    _, told = call("graph", "update")
    assert told["evidence"]["trust_level"] == "reported"
    assert any("limits.attach" in note for note in told["warnings"])


def test_diff_refuses_a_new_cycle_and_lets_its_end_pass(play: Play, call: Any, cli: Call) -> None:
    old = code(play, a="import b\n", b="")
    new = code(play, b="import a\n")
    status, told = call("graph", "diff", f"{old}..{new}")
    assert (status, told["ok"], told["error"], told["message"]) == (1, False, "graph_refused", "a.py -> b.py -> a.py")
    assert (told["diff"]["blocking"], told["diff"]["risk"], told["evidence"]) == (True, "high", None)
    assert call("graph", "diff", f"{old}..")[1] == told, "up to HEAD"
    assert call("graph", "diff", f"{new}..{old}") == call("graph", "diff", f"..{old}")
    assert call("graph", "diff", f"{new}..{old}")[0] == 0
    _, out, _ = cli("graph", "diff", f"{old}..{new}", "-C", str(play.root))
    assert "refuse  new cycle: a.py -> b.py -> a.py" in out
    assert "edges  1 to 2" in out


def test_diff_obeys_policy_and_is_recorded_when_asked(play: Play, run: str, call: Any) -> None:
    old = code(play, a="import b\n", b="")
    new = code(play, b="import a\n")
    assert call("graph", "diff", f"{old}..{new}", "--record")[1]["evidence"]["outcome"] == "failed"
    config = play.root / ".memento" / "config.yaml"
    play.commit(config, "version: 1\npolicy:\n  graph:\n    cycles: warn\n")
    status, told = call("graph", "diff", f"{old}..{new}", "--record", "--run", run)
    assert (status, told["evidence"]["outcome"], told["diff"]["risk"]) == (0, "observed", "medium")
    assert told["evidence"]["files"][0]["name"] == "graph-diff.json"
    assert run_warnings(play.ledger, play.state(run)) == [], "a comparison is no snapshot"


def test_diff_takes_graphs_as_json(play: Play, call: Any, tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text('{"edges": {"a": ["b"], "b": []}}')
    after.write_text('{"edges": {"a": ["b"], "b": ["a"]}}')
    assert call("graph", "diff", "--before-json", str(before), "--after-json", str(after))[0] == 1
    assert call("graph", "diff", "--before-json", str(before), "--after-json", before.read_text())[0] == 0
    own = play.root / "own.json"
    own.write_bytes(codegraph.as_bytes(codegraph.snapshot(play.ledger.git, git(play.root, "rev-parse", "HEAD"))))
    assert call("graph", "diff", "--before-json", str(own), "--after-json", str(own))[1]["diff"]["warnings"] == []


@pytest.mark.parametrize(
    ("words", "status", "token"),
    [
        (("diff",), 2, "graph_snapshots_required"),
        (("diff", "HEAD..HEAD", "--before-json", "{}"), 2, "graph_snapshots_required"),
        (("diff", "--before-json", "{}"), 2, "graph_snapshots_required"),
        (("diff", "--before-json", "{}", "--after-json", "{}"), 2, "graph_snapshot_invalid"),
        (("diff", "--before-json", "nowhere.json", "--after-json", "{}"), 2, "graph_snapshot_invalid"),
        (("diff", "--before-json", "a\0b", "--after-json", "{}"), 2, "graph_snapshot_invalid"),
        (("diff", "HEAD"), 2, "range_invalid"),
        (("diff", "nothing..HEAD"), 1, "revision_not_found"),
        (("status", "--at", "nothing"), 1, "revision_not_found"),
        (("update", "--graphify"), 1, "graphify_missing"),
        (("propose", "--run", "run_000000000000"), 1, "run_not_found"),
    ],
)
def test_what_cannot_be_done_is_refused(
    play: Play, run: str, call: Any, words: tuple[str, ...], status: int, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--graphify" in words:
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
    exit_code, told = call("graph", *words)
    assert (exit_code, told["error"]) == (status, token)


def test_without_the_extra_the_refusal_names_it(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    status, told = call("graph")
    assert (status, told["error"]) == (1, "graph_extra_missing")
    assert "memento-git[graph]" in told["hint"]


def test_without_its_grammar_a_language_is_counted_and_told(play: Play, call: Any) -> None:
    (play.root / "a.go").write_text("package a\n")
    code(play, a="import app\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tree_sitter", None)
        grammars.available.cache_clear()
        _, told = call("graph")
    grammars.available.cache_clear()
    assert told["graph"]["not_parsed"] == {"go": 1}
    assert (told["graph"]["counts"]["nodes"], told["graph"]["counts"]["edges"]) == (2, 1)
    assert any(f"1 go; to read more of them, {adding('graph')}" in note for note in told["warnings"])
    _, told = call("graph")
    assert ("warnings" in told, told["graph"]["counts"]["nodes"]) == (False, 3)


# graphify: a program of that name, which a test puts on PATH.

DRAWS: str = """\
#!{python}
import json, pathlib, sys
top = pathlib.Path(sys.argv[2])
files = sorted(path.name for path in top.rglob("*.py"))
nodes = [{{"id": name, "label": name, "source_file": name, "community": 0}} for name in files]
links = [{{"source": files[0], "target": name, "relation": "imports"}} for name in files[1:]]
(top / "graphify-out").mkdir()
(top / "graphify-out" / "graph.json").write_text(json.dumps({{"nodes": nodes, "links": links}}))
"""


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = tmp_path / "bin" / "graphify"
    program.parent.mkdir()
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def test_graphify_looks_at_a_copy_and_what_it_found_is_kept(
    play: Play, run: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code(play, a="import app\n")
    install(tmp_path, monkeypatch, DRAWS.format(python=sys.executable))
    assert call("graph")[1]["graphify"] == {
        "installed": True, "command": "graphify", "state": "missing", "graph_json": None,
    }  # fmt: skip
    told = call("graph", "update", "--graphify")[1]
    assert [file["name"] for file in told["evidence"]["files"]] == ["graph.json", "graphify.json"]
    held = json.loads(next((play.root / ".memento").rglob("graphify.json")).read_text())
    assert (held["nodes"], held["relations"]) == (2, {"imports": 1})
    assert held["communities"] == [["a.py", "app.py"]]
    assert git(play.root, "status", "--porcelain") == ""
    assert call("graph", "update", "--graphify")[1]["recorded"] is False


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\necho it broke >&2\nexit 3\n", "exit code 3: it broke"),
        ("#!/bin/sh\nexit 0\n", "it left no graphify-out/graph.json"),
        ('#!/bin/sh\nmkdir -p "$2/graphify-out"; echo "[]" > "$2/graphify-out/graph.json"\n', "not as expected"),
    ],
)
def test_a_graphify_that_fails_is_refused_and_nothing_is_recorded(
    play: Play, run: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    install(tmp_path, monkeypatch, script)
    head = git(play.root, "rev-parse", "HEAD")
    status, told = call("graph", "update", "--graphify")
    assert (status, told["error"]) == (1, "graphify_failed")
    assert reason in told["message"]
    assert git(play.root, "rev-parse", "HEAD") == head


def test_the_state_of_graphifys_own_graph_is_told(play: Play, call: Any) -> None:
    out = play.root / "graphify-out"
    out.mkdir()
    (out / "graph.json").write_text(json.dumps({"nodes": [], "built_at_commit": git(play.root, "rev-parse", "HEAD")}))
    assert call("graph")[1]["graphify"]["state"] == "current"
    git(play.root, "commit", "--allow-empty", "-qm", "more")
    assert call("graph")[1]["graphify"] == {
        "installed": False, "command": None, "state": "stale", "graph_json": "graphify-out/graph.json",
    }  # fmt: skip


# Proposals.


def test_proposals_are_what_apply_takes_and_write_nothing(
    play: Play, run: str, cli: Call, call: Any, tmp_path: Path
) -> None:
    many = {f"in{number}": "import hub\n" for number in range(9)}
    outs = {f"out{number}": "" for number in range(9)}
    hub = "".join(f"import out{number}\n" for number in range(9))
    head = code(play, **many, **outs, hub=hub, a="import b\n", b="import a\n")
    _, out, _ = cli("graph", "propose", "--run", run, "-C", str(play.root))
    assert git(play.root, "rev-parse", "HEAD") == head
    assert "\n  body: |-\n" in out, "as people would write it"
    drafts = tmp_path / "drafts.yaml"
    drafts.write_text(out)
    assert len(call("apply", str(drafts))[1]["done"]) == 2
    titles = {row["title"]: row for row in call("task", "list")[1]["tasks"]}
    assert set(titles) == {"Break the import cycle of a.py and b.py", "Take apart hub.py, which 9 files import"}
    cycle = titles["Break the import cycle of a.py and b.py"]
    assert (cycle["kind"], cycle["risk"], cycle["relevant_files"]) == ("refactor", "medium", ["a.py", "b.py"])


def test_names_that_no_record_can_hold_are_in_no_proposal(play: Play, call: Any) -> None:
    (play.root / "a\x1b[31m.py").write_text("from b import x\n")
    play.commit("b.py", "import a\n")
    assert call("graph", "propose")[1]["proposals"] == []


def test_a_file_among_files_of_another_folder_should_move() -> None:
    names = [f"core/m{number}.py" for number in range(6)]
    edges = {name: [other for other in names if other != name] for name in names}
    edges["far/away/x.py"] = names
    rows, more = proposals.propose(graphs.measure(edges), bool)
    assert [row["title"] for row in rows if row["basis"] == "community"] == [
        "Move far/away/x.py to core, or cut its ties to it"
    ]
    assert more == 0


def test_what_is_not_shown_is_counted() -> None:
    edges: dict[str, list[str]] = {}
    for number in range(30):
        edges |= {f"a{number}": [f"b{number}"], f"b{number}": [f"a{number}"]}
    rows, more = proposals.propose(graphs.measure(edges), bool)
    assert (len(rows), more) == (10, 20)


def test_a_graph_without_its_code_is_never_that_of_this_code(play: Play, run: str) -> None:
    name = play.do(actions.update_graph, run=run)
    (path,) = play.state(run).index.evidence.values()
    text = (play.root / path).read_text()
    play.commit(path, re.sub(r"^code:\n(?:  .*\n)+", "", text, flags=re.MULTILINE), "by hand")
    found = actions.latest(play.ledger.view(), run, actions.look(play.ledger.git, "HEAD")[0])
    assert found is not None
    assert (found["evidence_id"], found["current"]) == (name, False)
    assert play.do(actions.update_graph, run=run) != name
