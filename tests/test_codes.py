"""What of code counts that evidence or an event names, and which of two covers less; no disk."""

from __future__ import annotations

from typing import Any

import pytest

from memento_git.work.proof.codes import code_seen, edited, is_code, is_inside, is_narrower, sober, wholly

TREE, FULL, ELSE = "1" * 40, "2" * 40, "3" * 40
BESIDE = {"tree": TREE, "full": FULL, "untracked": {"a": ELSE}}


@pytest.mark.parametrize(("told", "left"), [
    (BESIDE, BESIDE), ({"tree": TREE, "dirty": False}, {"tree": TREE, "dirty": False}),
    ({"tree": TREE, "untracked": {}}, {"tree": TREE}), ({"tree": TREE, "full": FULL}, {"tree": TREE}),
    ({"tree": TREE, "full": FULL, "untracked_more": 3}, {"tree": TREE, "full": FULL, "untracked_more": 3}),
    ({"tree": TREE, "paths": {".memento/config.yaml": ELSE}}, {"tree": TREE}),
    ({"tree": TREE, "paths": {"a": ELSE, "b/../.memento/c": ELSE}}, {"tree": TREE, "paths": {"a": ELSE}}),
])  # fmt: skip
def test_code_is_told_without_what_is_none_of_it(told: dict[str, Any], left: dict[str, Any]) -> None:
    assert sober(told) == left


@pytest.mark.parametrize(("path", "code", "inside"), [
    ("a", True, True), ("a/.memento/b", True, True), (".mementos/b", True, True), ("a/../b", True, True),
    (".memento", False, False), (".memento/b", False, False), ("./a/../.memento/b", False, False), (".", False, False),
    ("../a", True, False), ("a/../../b", True, False), ("/etc/passwd", True, False),
])  # fmt: skip
def test_a_path_of_the_ledger_is_no_code_and_one_that_leads_out_is_not_the_repositorys(
    path: str, *, code: bool, inside: bool
) -> None:
    assert is_code(path) is code
    assert is_inside(path) is inside


@pytest.mark.parametrize(("code", "after", "seen", "whole"), [
    ({"tree": TREE}, None, {"tree": TREE}, TREE), (BESIDE, None, BESIDE, FULL), (None, BESIDE, {}, ""),
    (BESIDE, {"tree": TREE, "untracked": {"a": ELSE}}, BESIDE, FULL),
    (BESIDE, {"tree": TREE, "untracked": {"b": ELSE}}, BESIDE, FULL),
    (BESIDE, {"tree": TREE, "untracked": {"a": FULL}}, {"tree": TREE}, TREE),
    ({**BESIDE, "untracked": {"a": ELSE, "b": ELSE}}, {"untracked": {"a": FULL, "b": ELSE}},
     {**BESIDE, "untracked": {"b": ELSE}}, FULL),
    ({"tree": TREE}, {"untracked": {"a": FULL}}, {"tree": TREE}, TREE),
    ({"tree": TREE, "untracked": {"a": ELSE}}, None, {"tree": TREE, "untracked": {"a": ELSE}}, ""),
    ({"tree": TREE, "untracked_more": 3}, None, {"tree": TREE, "untracked_more": 3}, ""),
    ({"tree": TREE, "full": FULL, "untracked_more": 3}, None, {"tree": TREE, "full": FULL, "untracked_more": 3}, FULL),
])  # fmt: skip
def test_a_command_saw_its_code_but_for_the_untracked_files_that_it_wrote_over(
    code: dict[str, Any] | None, after: dict[str, Any] | None, seen: dict[str, Any], whole: str
) -> None:
    data = {"code": code, "code_after": after}
    assert code_seen(data) == seen
    assert wholly(data) == whole


def test_an_untracked_file_is_edited_where_both_sides_know_it_with_other_bytes() -> None:
    assert edited(BESIDE, {"untracked": {"a": FULL, "b": FULL}}) == ["a"]
    assert edited(BESIDE, {"untracked": {"a": ELSE, "b": FULL}}) == []
    assert edited(BESIDE, {"tree": TREE}) == edited({"tree": TREE}, BESIDE) == []


@pytest.mark.parametrize(("paths", "others", "expected"), [
    (["a"], [], True), (["a"], ["a", "b"], True), (["a"], ["b"], True), ([], [], False), ([], ["a"], False),
    (["a"], ["a"], False), (["a", "b"], ["a"], False),
])  # fmt: skip
def test_what_leaves_out_a_path_of_the_other_is_narrower(
    paths: list[str], others: list[str], *, expected: bool
) -> None:
    assert is_narrower(paths, others) is expected
