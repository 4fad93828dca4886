"""What lies in a commit is told as git tells it, whatever is in it, and without asking again for what is known."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout, tree_diff
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.names import NoSuchRevision
from memento_git.work.codestate import tree_at
from tests.play import commit_all, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Play

PATHS = (
    "", "app.py", "deep/", "deep", "deep/er", "deep/er/", "app.py/", "app.py/x", "none", "deep/none/", "link", "sub",
)  # fmt: skip
UNKNOWN = (
    "none", "a\nHEAD", "a\0b", "HEAD\0", "HEAD@{999}", "@{upstream}", "@{-3}", "HEAD:app.py", ":/none", "-x", "é",
)  # fmt: skip


@pytest.fixture
def odd(repo: Path) -> Path:
    """A repository with files of all kinds, whose names git would quote or sort apart."""
    (repo / "deep" / "er").mkdir(parents=True)
    for name in ("a b", "deep.txt", "deep/er/é", "deep/er/-x", "deep/tab\tname"):
        (repo / name).write_text(name)
    (repo / "link").symlink_to("app.py")
    (repo / "run.sh").write_text("exit\n")
    (repo / "run.sh").chmod(0o755)
    (repo / os.fsdecode(b"latin\xe9")).write_text("1")
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    git(repo, "add", "--all", "--", ":!sub")
    git(repo, "commit", "-qm", "odd")
    return repo


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_what_is_at_a_path_is_what_git_lists_there(odd: Path, object_format: str, tmp_path: Path) -> None:
    root = odd
    if object_format == "sha256":
        root = tmp_path / "wide"
        git(tmp_path, "init", "-q", "--object-format=sha256", str(root))
        git(root, f"--work-tree={odd}", "add", "--all")
        git(root, "commit", "-qm", "odd")
    opened = Git(root)
    head = git(root, "rev-parse", "HEAD")
    for path in PATHS:
        if path == "sub" and object_format == "sha256":
            continue
        told = opened.trees.listed(head, *filter(None, [path]))
        assert opened.entries(head, path) == opened.entries(f"{head}^{{tree}}", path) == told, path
    assert {entry.mode for entry in opened.entries(head).values()} >= {"040000", "100644", "100755", "120000"}
    assert opened.entries(head, "deep/er", "none", "link").keys() == {"deep/er", "link"}
    opened.close()


def test_a_tree_that_is_not_there_is_told(odd: Path) -> None:
    opened = Git(odd)
    with pytest.raises(GitFailed):
        opened.entries("1" * 40)
    opened.close()


@pytest.mark.parametrize("rev", UNKNOWN)
def test_a_revision_that_names_no_commit_is_refused_and_the_next_is_found(odd: Path, rev: str) -> None:
    opened = Git(odd)
    head = git(odd, "rev-parse", "HEAD")
    with pytest.raises(NoSuchRevision):
        opened.commit_of(rev)
    git(odd, "tag", "-am", "one", "one")
    for known in ("HEAD", "main", "one", "HEAD~0", head, head[:9], "HEAD@{0}", "HEAD^{/odd}"):
        assert opened.commit_of(known) == head, known
    opened.close()


def test_where_a_branch_goes_is_seen_by_whoever_asked_before(odd: Path) -> None:
    opened = Git(odd)
    seen = [opened.commit("HEAD")]
    for packed in (False, True):
        git(odd, "commit", "-q", "--allow-empty", "-m", "next")
        if packed:
            git(odd, "pack-refs", "--all")
            git(odd, "repack", "-adq")
        seen.append(opened.commit("HEAD"))
        assert seen[-1] == git(odd, "rev-parse", "HEAD") == opened.commit("main")
    assert len({*seen}) == 3
    opened.close()


def test_what_a_base_holds_is_known_from_its_head_and_what_differs(
    play: Play, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = git(play.root, "rev-parse", "HEAD")
    play.task(run)
    config = play.root / layout.CONFIG
    config.rename(play.root / ".memento" / "a-b")
    config.symlink_to("a-b")
    (play.root / layout.TOP_ATTRIBUTES).write_text("* text\n")
    head = play.commit_all("by hand")
    opened = Git(play.root)
    for one, other in ((base, head), (head, base)):
        opened.trees.ledger(other)
        tree_diff.note_base(opened, one, other, tree_diff.in_ledger(opened, one, other))
        with monkeypatch.context() as patch:
            patch.setattr(opened, "run", None)
            told = opened.trees.ledger(one).lines()
        assert told == git(play.root, "ls-tree", "-rz", "--full-tree", one, ".memento/").split("\0")[:-1]
    opened.close()


@pytest.mark.parametrize(("path", "mode"), [("deep", "40755"), ("deep", "1040000"), ("app.py", "100600")])
def test_code_in_a_tree_that_was_made_by_hand_is_the_same_code(repo: Path, path: str, mode: str) -> None:
    """Git reads any mode of a folder as one, and writes it anew when the code is committed the next time."""
    (repo / "deep").mkdir()
    (repo / "deep" / "er").write_text("1")
    commit_all(repo, "a folder")
    made = b""
    for line in git(repo, "ls-tree", "HEAD").split("\n"):
        octal, _, oid, name = line.split()
        made += f"{mode if name == path else octal.lstrip('0')} {name}\0".encode() + bytes.fromhex(oid)
    tree = git(repo, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=made)
    assert tree != git(repo, "rev-parse", "HEAD^{tree}")
    assert tree_at(Git(repo), git(repo, "commit-tree", "-m", "by hand", tree)) == tree_at(Git(repo), "HEAD")
