"""How an anchor is written, what the front matter of a note may say, and what rests on a note."""

from __future__ import annotations

import pytest

from memento_git.knowledge import manifests
from memento_git.knowledge.anchors import Hunk, trace
from memento_git.knowledge.impact import Link, dependents, overlap
from memento_git.knowledge.passages import Text, find, find_quote, quote
from memento_git.model.anchors import ABOUT, Anchor, AnchorUnclear, from_data, parse
from memento_git.model.types import Problem

# The spelling.


@pytest.mark.parametrize(
    ("given", "anchor"),
    [
        ("src/app.py", Anchor("src/app.py")),
        ("./src/", Anchor("src")),
        ("src/app.py:7", Anchor("src/app.py", (7, 7))),
        ("src/app.py:7-12", Anchor("src/app.py", (7, 12))),
        ("src/app.py::Basket.weigh", Anchor("src/app.py", symbol="Basket.weigh")),
        ("a.cpp::ns::Basket::weigh", Anchor("a.cpp", symbol="ns.Basket.weigh")),
        ("a.rb::Basket#weigh", Anchor("a.rb", symbol="Basket.weigh")),
        ("pattern:src/**:LIMIT = 3: at most", Anchor("src/**", pattern="LIMIT = 3: at most")),
        ("pattern:**:x", Anchor("**", pattern="x")),
        ("dep:click", Anchor(dependency="click")),
        ("dep:@scope/ui", Anchor(dependency="@scope/ui")),
        ("dep:web/package.json:react", Anchor("web/package.json", dependency="react")),
        ("dep:org.slf4j:slf4j-api", Anchor(dependency="org.slf4j:slf4j-api")),
        ("./dep:x", Anchor("dep:x")),
        ("a name with spaces.txt:3", Anchor("a name with spaces.txt", (3, 3))),
    ],
)
def test_what_is_written_is_read_and_written_again(given: str, anchor: Anchor) -> None:
    assert parse(given) == anchor
    assert parse(str(anchor)) == anchor
    problems: list[Problem] = []
    assert from_data(ABOUT.read([anchor.data()], (), problems)[0]) == anchor
    assert problems == []


@pytest.mark.parametrize(
    "given",
    [
        "", ":3", "../up.py", "/etc/passwd", "a/../b", "app.py:9-3", "app.py::", "pattern:src", "pattern:**: ",
        "dep:", "dep:two words", "a\x00b", "a\nb", "back\\slash.py", "app.py::a:b",
    ],
)  # fmt: skip
def test_what_names_nothing_is_refused(given: str) -> None:
    with pytest.raises(AnchorUnclear, match="names no place in the code"):
        parse(given)


def test_who_names_a_heading_is_told_to_name_lines() -> None:
    with pytest.raises(AnchorUnclear, match=r"named by its lines: guide\.md:12-40"):
        parse("guide.md::How to begin")


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"lines": "1-2"},
        {"path": "a.py", "lines": "0"},
        {"path": "a.py", "lines": "5-2"},
        {"path": "a.py", "pattern": "x", "dependency": "y"},
        {"dependency": "y", "symbol": "z"},
        {"path": "a.py", "blob": "12"},
        {"path": "a.py", "quote": "bell \x07"},
        {"path": "a.py", "colour": "red"},
        ["a.py"],
    ],
)
def test_front_matter_that_names_no_one_place_is_a_problem(raw: object) -> None:
    problems: list[Problem] = []
    ABOUT.read([raw], ("about",), problems)
    assert problems
    assert problems[0][0][:2] == ("about", 0)


# Hunks.


def test_lines_are_counted_through_hunks() -> None:
    hunks = [Hunk(2, 0, 3, 2), Hunk(10, 1, 12, 1), Hunk(20, 3, 21, 0)]
    assert trace(hunks, (1, 2)).place == (1, 2)
    assert trace(hunks, (3, 9)).place == (5, 11)
    assert trace(hunks, (30, 31)).place == (29, 30)
    assert trace(hunks, (2, 3)).edited == ((3, 4),)
    assert trace(hunks, (9, 11)).edited == ((12, 12),)
    assert trace(hunks, (19, 23)).place == (21, 22)
    assert trace(hunks, (20, 22)).place is None
    assert trace(hunks, (22, 30)).touching
    assert not trace(hunks, (11, 19)).touching


def test_a_hunk_that_reaches_beyond_gives_its_share() -> None:
    assert trace([Hunk(5, 10, 5, 12)], (12, 20)).edited == ((14, 16),)
    assert trace([Hunk(15, 10, 15, 12)], (12, 20)).edited == ((15, 20),)
    assert trace([Hunk(5, 20, 5, 3)], (12, 14)).edited == ((7, 7),)


# Passages.


def test_a_quote_survives_white_space_and_what_no_ledger_may_hold() -> None:
    text = Text(b"one\r\n\ttwo \x07 three\n\n  four\nlast")
    told = quote(text, (1, 4))
    assert "\r" not in told
    assert "\x07" not in told
    assert find_quote(told, Text(b"zero\none\ntwo    three\nfour\n")) == [(2, 4)]
    assert find_quote(told, Text(b"one\nfour\n")) == []
    assert find_quote("", text) == []
    assert len(quote(Text(b"x" * 5000), (1, 1))) <= 1000


def test_a_passage_that_tells_too_little_is_not_looked_for() -> None:
    text = Text(b"def f():\n    return None\n}\n")
    assert find(["}"], text) is None
    assert find(["return None"], text) is None


def test_most_of_a_passage_is_found_although_lines_came_between() -> None:
    passage = ["alpha beta gamma", "delta epsilon", "zeta eta theta"]
    text = Text("\n".join(["x", passage[0], "something new", passage[1], passage[2]]).encode())
    match = find(passage, text)
    assert match is not None
    assert match.lines == (2, 5)
    assert match.share == 1
    assert find(passage, text, {2, 3}) is None


# Manifests.


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("setup.cfg", "[options]\ninstall_requires =\n  A_b>=1\n[options.extras_require]\nx = c\n", {"a-b", "c"}),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3"\n', {"python"}),
        ("pyproject.toml", '[dependency-groups]\nd = ["m", {include-group = "x"}]\n', {"m"}),
        ("Pipfile", '[packages]\nrequests = "*"\n', {"requests"}),
        ("Gemfile", "gem 'rails', '~> 7'\n  gem \"rake\"\n", {"rails", "rake"}),
        ("composer.json", '{"require": {"a/b": "1"}}', {"a/b"}),
        ("requirements/test.txt", "a==1 --hash=sha256:00\nb[x]>2 ; python_version>'3'\nhttps://x/y.zip\n", {"a", "b"}),
        ("go.mod", "module m\nrequire golang.org/x/net v0.1.0 // indirect\n", {"golang.org/x/net"}),
        ("pyproject.toml", "[project\n", set()),
        ("package.json", "[]", set()),
        ("package.json", "[" * 100_000, set()),
        ("Cargo.toml", "dependencies = 3\n", set()),
    ],
)  # fmt: skip
def test_each_manifest_is_read_in_its_own_way(path: str, text: str, wanted: set[str]) -> None:
    assert manifests.is_manifest(path)
    assert manifests.required(path, text.encode()).keys() == wanted


def test_a_text_about_requirements_is_no_manifest() -> None:
    assert not manifests.is_manifest("docs/requirements.md")
    assert not manifests.is_manifest("package.json.bak")
    assert manifests.required("setup.cfg", b"\xff\xfe") == {}


# Impact.


def test_what_rests_on_a_note_is_found_in_both_directions() -> None:
    links = [
        Link("b", "depends_on", "a"), Link("c", "derived_from", "b"), Link("a", "depends_on", "base"),
        Link("d", "contradicts", "a"), Link("e", "supersedes", "a"), Link("c", "depends_on", "a"),
        Link("far", "relates_to", "d"), Link("a", "depends_on", "c"),
    ]  # fmt: skip
    about = [("a", parse("x.py:1-5")), ("f", parse("x.py:5-9")), ("g", parse("y.py")), ("b", parse("x.py"))]
    found = {one.note: (one.reason, one.steps) for one in dependents("a", links, about)}
    assert found == {
        "b": ("depends on a", 1),
        "e": ("supersedes a", 1),
        "c": ("depends on a", 1),
        "base": ("is needed by a", 1),
        "d": ("contradicts a", 1),
        "f": ("is about x.py:1-5 too", 1),
    }
    assert dependents("b", links)[0]._asdict() == {
        "note": "c", "reason": "was made from b", "through": "b", "steps": 1,
    }  # fmt: skip
    assert [one.note for one in dependents("nobody", links, about)] == []


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("a.py:1-5", "a.py:5", True), ("a.py:1-5", "a.py:6", False), ("a.py", "a.py:6", True),
        ("src", "src/a.py:3", True), ("src", "srcs/a.py", False), ("a.py::C", "a.py::C.m", True),
        ("a.py::C", "a.py::D", False), ("a.py::m", "a.py::C.m", True),
        ("dep:x", "dep:x", True), ("dep:x", "a.py", False), ("dep:x", "dep:y", False),
        ("pattern:src/*.py:LIMIT", "src", False),
    ],
)  # fmt: skip
def test_two_anchors_may_be_about_the_same_code(one: str, other: str, wanted: bool) -> None:
    assert overlap(parse(one), parse(other)) is wanted
    assert overlap(parse(other), parse(one)) is wanted
