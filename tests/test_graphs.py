"""The import graph: what a file imports, what the graph comes to, and what of a change is warned of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.code.imports import python, syntax_trees
from memento_git.code.imports.resolve import Found, Resolver, php_folders
from memento_git.errors import MementoError
from memento_git.ledger import imports
from memento_git.model.policy import DEFAULT_GRAPH
from memento_git.work.actions.graphs import run_warnings, update_graph
from memento_git.work.graph import codegraph, graphfile, graphs
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call, Play


def graph(**edges: str) -> graphs.Edges:
    """Return edges from words: `a="b c"` says that a imports b and c."""
    named = {other for others in edges.values() for other in others.split()}
    return {path: edges.get(path, "").split() for path in sorted({*edges, *named})}


def changed(before: graphs.Edges, after: graphs.Edges, **policy: Any) -> dict[str, Any]:
    return graphs.compare(graphs.measure(before), graphs.measure(after), {**DEFAULT_GRAPH, **policy})


# What a graph comes to.


def test_each_knot_is_told_as_short_cycles_from_their_least_path_on() -> None:
    held = graphs.measure(graph(c="a", a="b", b="c d", d="e", e="d x", x=""))
    assert held["cycles"] == [["d", "e"], ["a", "b", "c"]]
    assert (held["counts"]["cycles"], held["counts"]["in_cycles"]) == (2, 5)


def test_every_file_of_a_knot_is_in_one_of_its_cycles() -> None:
    ring = {str(number): [str((number + 1) % 30), str((number + 7) % 30)] for number in range(30)}
    held = graphs.measure(ring)
    assert {path for cycle in held["cycles"] for path in cycle} == set(ring)
    assert all(cycle[0] == min(cycle) for cycle in held["cycles"])


def test_a_hot_spot_is_imported_by_many_and_imports_many() -> None:
    many = {f"in{number}": "hub" for number in range(9)}
    held = graphs.measure(graph(**many, hub=" ".join(f"out{number}" for number in range(8)), other="hub"))
    assert held["hot_spots"] == [{"path": "hub", "fan_in": 10, "fan_out": 8, "score": 80}]


def test_the_same_edges_in_another_order_are_the_same_graph() -> None:
    edges = graph(a="b c", b="c", c="a", x="y")
    turned = {path: list(reversed(edges[path])) for path in reversed(edges)}
    assert codegraph.as_bytes(graphs.measure(edges)) == codegraph.as_bytes(graphs.measure(turned))


def test_an_empty_graph_is_a_graph() -> None:
    assert graphs.measure({})["counts"]["nodes"] == 0
    assert changed({}, {})["risk"] == "low"


# What is warned of.


def test_a_new_cycle_blocks_and_its_end_clears_it() -> None:
    clean, knotted = graph(a="b", b="c"), graph(a="b", b="c", c="a")
    diff = changed(clean, knotted)
    assert [(row["kind"], row["level"], row["message"]) for row in diff["warnings"]] == [
        ("new_cycle", "refuse", "a -> b -> c -> a")
    ]
    assert (diff["blocking"], diff["advisory"], diff["risk"]) == (True, False, "high")
    back = changed(knotted, clean)
    assert (back["warnings"], back["vanished_cycles"], back["risk"]) == ([], [["a", "b", "c"]], "low")


def test_a_cycle_that_was_there_is_no_warning_also_when_it_gets_longer_elsewhere() -> None:
    knotted = graph(a="b", b="a")
    assert changed(knotted, graph(a="b c", b="a", c="d"))["warnings"] == []
    two_ways = graph(a="b c", b="a", c="d", d="a")
    assert changed(two_ways, graph(a="c", b="a", c="d", d="a"))["warnings"] == []


def test_policy_says_what_is_refused_warned_of_and_ignored() -> None:
    before, after = graph(a="b"), graph(a="b", b="a")
    assert changed(before, after, cycles="ignore")["warnings"] == []
    told = changed(before, after, cycles="warn")
    assert (told["risk"], told["blocking"]) == ("medium", False)


def test_growth_of_edges_is_told_beyond_what_policy_allows() -> None:
    before = graph(a=" ".join(f"b{number}" for number in range(20)))
    within = graph(a=" ".join(f"b{number}" for number in range(24)))
    beyond = graph(a=" ".join(f"b{number}" for number in range(40)))
    assert [row["kind"] for row in changed(before, within)["warnings"]] == []
    assert [row["kind"] for row in changed(before, beyond)["warnings"]] == ["edges_grew"]


def test_a_new_hot_spot_is_told() -> None:
    many = {f"in{number}": "hub" for number in range(9)}
    before = graph(**many, hub="out0")
    after = graph(**many, hub=" ".join(f"out{number}" for number in range(9)))
    diff = changed(before, after, edges="ignore")
    assert [(row["kind"], row["level"], row["paths"]) for row in diff["warnings"]] == [
        ("new_hot_spot", "warn", ["hub"])
    ]
    assert changed(after, before)["vanished_hot_spots"] == ["hub"]


def test_parts_that_come_together_and_fall_apart_are_told() -> None:
    apart, joined = graph(a="b", c="d"), graph(a="b c", c="d")
    assert changed(apart, joined)["components"] == {"merged": [["a", "c"]], "split": []}
    assert changed(joined, apart)["components"] == {"merged": [], "split": [["a", "c"]]}


# Graphs as JSON.


def test_summaries_are_compared_by_their_numbers() -> None:
    before = graphfile.read("before", b'{"god_nodes": ["core"], "cross_community_edges": 2, "modularity": 0.7}')
    after = graphfile.read("after", b'{"god_nodes": ["core", "api"], "cross_community_edges": 5, "modularity": 0.4}')
    diff = graphs.compare(before, after, DEFAULT_GRAPH)
    assert [row["kind"] for row in diff["warnings"]] == ["new_hot_spot", "edges_grew", "modularity_decreased"]
    assert graphs.compare(after, before, DEFAULT_GRAPH)["warnings"] == []


def test_what_a_snapshot_says_of_its_own_edges_is_measured_again() -> None:
    held = graphfile.read("x", b'{"edges": {"a": ["b"], "b": ["a"]}, "cycles": [], "counts": {"cycles": 0}}')
    assert held["counts"]["cycles"] == 1


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "{}", '{"edges": {"a": "b"}}', '{"edges": {"a": ["b"]}}', '{"edges": -1}', '{"edges": true}',
     '{"modularity": "x"}', '{"hot_spots": [1]}', '{"god_nodes": "x"}', '{"cycles": [[]]}', "[" * 100_000, "\xff"],
)  # fmt: skip
def test_json_that_is_no_graph_is_refused(text: str) -> None:
    with pytest.raises(graphfile.SnapshotInvalid) as caught:
        graphfile.read("before", text.encode("latin-1"))
    assert caught.value.token == "graph_snapshot_invalid"


# What Python imports.


def finds(paths: str, path: str, source: str) -> list[str]:
    resolver = Resolver(paths.split(), {})
    found = {resolver.find(path, "python", told).inside for told in python.parse(source.encode())[0]}
    return sorted(found - {""})


def outside(paths: str, path: str, source: str) -> list[str]:
    resolver = Resolver(paths.split(), {})
    found = {resolver.find(path, "python", told) for told in python.parse(source.encode())[0]}
    return sorted(one.outside for one in found if one.outside)


PACKAGE = "p/__init__.py p/a.py p/b.py p/sub/__init__.py p/sub/c.py"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import p.a", ["p/a.py"]),
        ("from p import a, b", ["p/a.py", "p/b.py"]),
        ("from p import name", ["p/__init__.py"]),
        ("from p.a import thing", ["p/a.py"]),
        ("from . import c", ["p/sub/c.py"]),
        ("from .c import *", ["p/sub/c.py"]),
        ("from ..b import x", ["p/b.py"]),
        ("from .. import a", ["p/a.py"]),
        ("from ... import nothing", []),
        ("def f():\n    import p.a", ["p/a.py"]),
        ("try:\n    import p.a\nexcept ImportError:\n    import p.b", ["p/a.py", "p/b.py"]),
        ("if TYPE_CHECKING:\n    import p.a\nelse:\n    import p.b", ["p/b.py"]),
        ("if typing.TYPE_CHECKING:\n    import p.a", []),
        ("import os, p.sub.c, numpy", ["p/sub/c.py"]),
    ],
)
def test_python_imports_lead_to_files(source: str, expected: list[str]) -> None:
    assert finds(PACKAGE, "p/sub/__init__.py", source) == expected


def test_src_layouts_namespaces_and_scripts_are_understood() -> None:
    assert finds("src/p/__init__.py src/p/a.py tests/test_a.py", "tests/test_a.py", "import p.a") == ["src/p/a.py"]
    assert finds("ns/one/a.py ns/two/b.py", "ns/one/a.py", "from ns.two import b") == ["ns/two/b.py"]
    assert finds("tools/run.py tools/ground.py", "tools/run.py", "import ground") == ["tools/ground.py"]
    assert finds("svc/a/src/x/__init__.py svc/a/t.py", "svc/a/t.py", "import x") == ["svc/a/src/x/__init__.py"]
    assert finds("ns/a.py ns/b.py", "ns/a.py", "import ns") == []


def test_what_is_not_in_the_repository_is_outside() -> None:
    assert outside("a.py other/json/__init__.py", "a.py", "import json, numpy.linalg\nfrom yaml import load") == [
        "json", "numpy", "yaml",
    ]  # fmt: skip
    assert outside("ns/a.py ns/b.py", "ns/a.py", "import ns") == []


@pytest.mark.parametrize(
    "source", [b"def (", b"\0", b"# coding: nonsense\n", b"(" * 5000, b"x = " + b"-" * 200_000 + b"1", b"\xff\xfe"]
)
def test_python_that_cannot_be_read_is_told_and_never_a_crash(source: bytes) -> None:
    imports, problem = python.parse(source)
    assert imports == []
    assert problem


# What others import.


@pytest.mark.parametrize(
    ("language", "path", "source", "paths", "expected"),
    [
        ("javascript", "src/a.js", "import x from './b'; const c = require('../c.js'); import('./d/');",
         "src/a.js src/b.js c.js src/d/index.js", ["src/b.js", "c.js", "src/d/index.js"]),
        ("javascript", "a.js", "export * from './b'; require(name); other('./c')", "a.js b.js c.js", ["b.js"]),
        ("typescript", "a.ts", "import y from './b.js'; import type {T} from './c'; import z = require('./d');",
         "a.ts b.ts c.ts d.ts", ["b.ts", "d.ts"]),
        ("tsx", "a.tsx", "import B from './B'; const x = <B/>;", "a.tsx B.tsx", ["B.tsx"]),
        ("go", "cmd/main.go", 'package main\nimport (x "example.org/m/in"; "fmt")', "cmd/main.go in/a.go in/b.go",
         ["in/"]),
        ("rust", "src/a/mod.rs", "use crate::{b, c::{self, Thing}}; use super::d::X as Y; use self::e::*; use std::io;",
         "src/lib.rs src/a/mod.rs src/a/e.rs src/b.rs src/c.rs src/d.rs",
         ["src/a/e.rs", "src/b.rs", "src/c.rs", "src/d.rs"]),
        ("java", "src/x/A.java", "package x; import y.B; import static y.C.f; import y.D.Inner; import java.util.List;",
         "src/x/A.java src/y/B.java src/y/C.java src/y/D.java", ["src/y/B.java", "src/y/C.java", "src/y/D.java"]),
        ("c", "src/a.c", '#include "b.h"\n#include <lib/c.h>\n#include <stdio.h>\n', "src/a.c src/b.h include/lib/c.h",
         ["src/b.h", "include/lib/c.h"]),
        ("cpp", "a.cpp", '#include "deep/x.hpp"\n', "a.cpp some/deep/x.hpp", ["some/deep/x.hpp"]),
        ("ruby", "lib/a.rb", "require_relative 'b'\nrequire 'c/d'\nrequire 'json'\n", "lib/a.rb lib/b.rb lib/c/d.rb",
         ["lib/b.rb", "lib/c/d.rb"]),
        ("lua", "src/a.lua", 'local x = require("b.c").d; require "own"; dofile("e.lua"); require(f); require "cjson"',
         "src/a.lua vendor/b/c.lua src/own/init.lua src/e.lua f.lua other/cjson.lua",
         ["src/e.lua", "src/own/init.lua", "vendor/b/c.lua"]),
    ],
)  # fmt: skip
def test_imports_of_other_languages_lead_to_files(
    language: str, path: str, source: str, paths: str, expected: list[str]
) -> None:
    resolver = Resolver(paths.split(), {"": "example.org/m"} if language == "go" else {})
    found = {resolver.find(path, language, told).inside for told in syntax_trees.parse(language, source.encode())}
    assert sorted(found - {""}) == sorted(expected)


PHP: Final = r"""<?php
namespace App;
// use App\Ghost;
use App\Models\User;
use App\Models\{Post, Tag as T, function f, const C};
use function App\helper;
use App\Tests\Case_ as Other, Foo\Bar;
use \App\Gone;
require 'a.php';
require_once __DIR__ . '/b.php';
include("lib/c.php");
require dirname(__DIR__) . "/d.php";
require $name;
require __DIR__ . "/{$name}.php";
class A { use SomeTrait; function f() { $g = function () use ($x) {}; } }
"""


def test_classes_of_php_lie_where_composer_says_and_files_where_they_are_required() -> None:
    written = rb"""{"autoload": {"psr-4": {"App\\": "src/", "Lib\\": ["one", "two"], "": "rest"}},
                   "autoload-dev": {"psr-4": {"App\\Tests\\": "tests"}}}"""
    paths = "src/Models/User.php src/Models/Tag.php tests/Case_.php src/b.php a.php lib/c.php d.php src/Ghost.php"
    resolver = Resolver(paths.split(), {}, php_folders("composer.json", written))
    found = [resolver.find("src/Kernel.php", "php", told) for told in syntax_trees.parse("php", PHP.encode())]
    assert sorted(one.inside for one in found if one.inside) == [
        "a.php", "d.php", "lib/c.php", "src/Models/Tag.php", "src/Models/User.php", "src/b.php", "tests/Case_.php",
    ]  # fmt: skip
    assert [one.outside for one in found if one.outside] == ["Foo"]
    assert found.count(Found()) == 2, "there is no App/Gone and no App/Models/Post"


def test_a_folder_of_php_is_below_its_composer_file() -> None:
    written = rb'{"autoload": {"psr-4": {"A\\": ["./", 1], "B\\": "../b/src"}, "classmap": ["x"]}}'
    assert php_folders("packages/a/composer.json", written) == [("A\\", "packages/a"), ("B\\", "packages/b/src")]


@pytest.mark.parametrize(
    "written", [b"", b"[]", b"{}", b'{"autoload": 1}', b'{"autoload": {"psr-4": []}}', b"[" * 9999]
)
def test_a_composer_file_that_says_nothing_is_none(written: bytes) -> None:
    assert php_folders("composer.json", written) == []


@pytest.mark.parametrize("language", syntax_trees.QUERIES)
def test_no_language_stumbles_over_garbage(language: str) -> None:
    for source in (
        b"",
        b"\0\xff",
        b"import import (((",
        b'require("',
        b"use {{{}}::;",
        b"<?php use ; use {, require (",
        b'#include "',
    ):
        resolver = Resolver([], {})
        for told in syntax_trees.parse(language, source):
            assert isinstance(resolver.find("a/b.x", language, told), Found)


# A run's graph.


def code(play: Play, **files: str) -> str:
    """Commit Python files by name; return the commit."""
    for name, text in files.items():
        (play.root / f"{name}.py").write_text(text)
    return play.commit_all()


def test_the_warning_of_a_run_comes_with_its_cause_and_goes_with_it(play: Play, run: str) -> None:
    assert run_warnings(play.ledger, play.state(run)) == []
    assert any("no import graph recorded" in note for note in play.ledger.warnings)
    code(play, a="import b\n", b="")
    play.do(update_graph)
    assert run_warnings(play.ledger, play.state(run)) == []
    code(play, b="import a\n")
    assert [(row["kind"], row["level"]) for row in run_warnings(play.ledger, play.state(run))] == [
        ("new_cycle", "refuse")
    ]
    play.do(update_graph)
    assert len(run_warnings(play.ledger, play.state(run))) == 1, "a later graph is not the one to compare with"
    code(play, b="")
    assert run_warnings(play.ledger, play.state(run)) == []


def test_the_same_code_is_recorded_once(play: Play, run: str) -> None:
    task = play.task()
    first = play.do(update_graph, tasks=[task])
    head = git(play.root, "rev-parse", "HEAD")
    assert play.do(update_graph, tasks=[task]) == first
    assert git(play.root, "rev-parse", "HEAD") == head
    code(play, more="import app\n")
    second = play.do(update_graph, tasks=[task])
    git(play.root, "revert", "--no-edit", "HEAD~1")
    third = play.do(update_graph, tasks=[task])
    assert len({first, second, third}) == 3, "what it was before the latest one is recorded again"


def test_a_graph_is_verified_evidence_of_the_code_at_the_commit(play: Play, run: str, cli: Call) -> None:
    (play.root / "not_committed.py").write_text("import app\n")
    evidence = play.do(update_graph)
    _, out, _ = cli("evidence", "show", evidence, "--json", "-C", str(play.root))
    row = json.loads(out)["evidence"]
    assert (row["kind"], row["trust_level"], row["outcome"]) == ("graph", "verified", "observed")
    assert row["files"][0]["name"] == "graph.json"
    state = play.state(evidence)
    found = state.evidence_named(evidence)
    assert found.data["graph"]["nodes"] == 1


@pytest.mark.parametrize("text", ["{}", "of other code", ""])
def test_a_graph_whose_bytes_were_changed_or_are_gone_is_refused(play: Play, run: str, text: str) -> None:
    play.do(update_graph)
    file = next((play.root / ".memento").rglob("graph.json"))
    other = codegraph.as_bytes(codegraph.snapshot(play.ledger.git, code(play, more="import app\n"))).decode()
    play.commit(file, other if text == "of other code" else text)
    if not text:
        git(play.root, "rm", "-q", str(file))
        play.commit_all()
    with pytest.raises(MementoError) as caught:
        run_warnings(play.ledger, play.state(run))
    assert caught.value.token == "graph_snapshot_invalid"


def test_files_that_cannot_be_read_are_named_and_others_counted(play: Play) -> None:
    code(play, broken="def (\n", fine="import app\n")
    (play.root / "x.kt").write_text("import y\n")
    (play.root / "large.py").write_bytes(b"#" * (imports.LARGEST + 1))
    (play.root / "link.py").symlink_to("app.py")
    held = codegraph.snapshot(play.ledger.git, play.commit_all())
    assert set(held["not_readable"]) == {"broken.py", "large.py"}
    assert held["not_readable"]["broken.py"].startswith("line 1: ")
    assert held["not_parsed"] == {"kotlin": 1}, "which has symbols, but no imports that can be read"
    assert codegraph.lacking(held) == "files that are not part of this graph: 1 kotlin"
    assert held["edges"] == {"app.py": [], "broken.py": [], "fine.py": ["app.py"]}


def test_the_past_and_a_bare_repository_have_their_graphs(play: Play, tmp_path: Path) -> None:
    old = code(play, a="import app\n")
    code(play, a="")
    git(tmp_path, "clone", "-q", "--bare", str(play.root), "bare.git")
    bare = play.beside(tmp_path / "bare.git").ledger.git
    assert codegraph.snapshot(bare, old)["edges"]["a.py"] == ["app.py"]
    assert codegraph.snapshot(bare, bare.commit_of("HEAD"))["edges"]["a.py"] == []


def test_a_second_look_reads_what_the_first_kept_and_survives_its_loss(play: Play) -> None:
    head = code(play, a="import app\n")
    first = codegraph.snapshot(play.ledger.git, head)
    folder = play.ledger.git.common_dir / "memento" / "cache"
    assert {"graph.imports.json", "graph.snapshots.json"} <= {path.name for path in folder.iterdir()}
    assert codegraph.snapshot(play.ledger.git, head) == first
    for path in folder.iterdir():
        path.write_bytes(b"{")
    assert codegraph.snapshot(play.ledger.git, head) == first
    assert git(play.root, "status", "--porcelain") == ""


def test_more_cycles_than_are_listed_are_counted() -> None:
    edges = {f"{side}{number}": [f"{other}{number}"] for number in range(150) for side, other in ("ab", "ba")}
    held = graphs.measure(edges)
    assert (held["counts"]["cycles"], held["counts"]["in_cycles"], len(held["cycles"])) == (150, 300, 100)


@pytest.mark.parametrize(
    "name", ["a\nb.py", "a\tb.py", "a'\"b.py", "ä.py", "a\\b.py", b"a\xff.py".decode("utf-8", "surrogateescape")]
)
def test_any_name_of_a_file_is_taken(play: Play, name: str) -> None:
    (play.root / name).write_text("import app\n")
    held = codegraph.snapshot(play.ledger.git, play.commit_all())
    assert held["counts"]["edges"] == 1
    assert codegraph.as_bytes(held)


def test_submodules_and_code_beside_the_ledger_are_not_part_of_it(play: Play) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    git(play.root, "update-index", "--add", "--cacheinfo", f"160000,{head},sub.py")
    (play.root / ".memento" / "stray.py").write_text("import app\n")
    git(play.root, "add", ".memento")
    git(play.root, "commit", "-qm", "odd")
    held = codegraph.snapshot(play.ledger.git, git(play.root, "rev-parse", "HEAD"))
    assert list(held["edges"]) == ["app.py"]


def test_folders_of_php_are_read_from_composer_json(play: Play) -> None:
    for path, text in {
        "api/composer.json": r'{"autoload": {"psr-4": {"Acme\\": "src"}}}',
        "api/src/Shop/Order.php": "<?php\nnamespace Acme\\Shop;\nuse Acme\\Item;\nclass Order {}\n",
        "api/src/Item.php": "<?php\nnamespace Acme;\nclass Item {}\n",
    }.items():
        (play.root / path).parent.mkdir(parents=True, exist_ok=True)
        (play.root / path).write_text(text)
    held = codegraph.snapshot(play.ledger.git, play.commit_all())
    assert held["edges"]["api/src/Shop/Order.php"] == ["api/src/Item.php"]
    assert held["languages"] == {"php": 2, "python": 1}


def test_go_packages_are_folders_and_modules_are_read_from_go_mod(play: Play) -> None:
    for path, text in {
        "go.mod": "module example.org/m // the module\n\ngo 1.22\n",
        "main.go": 'package main\nimport "example.org/m/in"\n',
        "in/a.go": 'package in\nimport "fmt"\n',
        "in/b.go": 'package in\nimport "example.org/other/x"\n',
    }.items():
        (play.root / path).parent.mkdir(exist_ok=True)
        (play.root / path).write_text(text)
    held = codegraph.snapshot(play.ledger.git, play.commit_all())
    assert held["edges"] == {"./": ["in/"], "app.py": [], "in/": []}
    assert held["languages"] == {"go": 3, "python": 1}
    assert held["counts"]["external"] == 2
