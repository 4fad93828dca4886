"""What a large ledger holds is looked up in what git lists, and the answers are those of reading all of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memento_git.knowledge.actions.settling import redact_note
from memento_git.ledger import atomic_file, cache, file_lookup, filetable, layout, tree_diff, tree_listing
from memento_git.ledger.file_lookup import FileLookup
from memento_git.ledger.tree_listing import TreeListing
from memento_git.ledger.view import View
from memento_git.work.actions.settling import redact_record
from tests.play import add, git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play

PARTS = st.sampled_from(["a", "a-b", "a.b", "b", "é", "\udce9", "z0", "0", "-redacted-"])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map(lambda parts: "/".join(["top", *parts]))
BLOBS = st.sampled_from(["1" * 40, "2" * 40, ""])


def text_of(files: dict[str, str]) -> str:
    return "".join(f"100644 blob {files[path]}\t{path}\0" for path in sorted(files, key=os.fsencode))


@settings(max_examples=300, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(PATHS, BLOBS), st.dictionaries(PATHS, BLOBS | st.none()), PATHS)
def test_lines_that_are_looked_into_answer_as_a_dictionary_does(
    files: dict[str, str], changes: dict[str, str | None], asked: str
) -> None:
    heads = {path: "" if blob is None else f"100644 blob {blob}" for path, blob in changes.items()}
    after = {**files, **changes}
    left = {path: blob for path, blob in after.items() if blob is not None}
    found = TreeListing(text_of(files)).changed(heads)
    assert found is not None
    assert found.text == text_of(left)
    assert (found.ordered, found.plain) == (True, True)
    assert found.blobs() == left
    for path in (*after, asked):
        assert found.blob(path) == left.get(path), path
        inside = {rest.partition("/")[0] + rest.partition("/")[1] for one in left if (rest := below(one, path))}
        assert sorted(found.inside(path)) == sorted(inside)
        assert {*found.holding(path, "redacted")} == {one for one in left if below(one, path) and "redacted" in one}


def below(path: str, folder: str) -> str:
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else ""


@pytest.mark.parametrize(
    ("lines", "ordered", "plain"),
    [
        (["100644 blob 1\ta", "100755 blob 2\tb"], True, True),
        (["100644 blob 1\ta", "120000 blob 2\tb"], True, False),
        (["100644 blob 1\ta", "160000 commit 2\tb"], True, False),
        (["100644 blob 1\tb", "100644 blob 2\ta"], False, False),
        (["100644 blob 1\ta", "100644 blob 2\ta"], False, False),
    ],
)
def test_lines_of_a_broken_tree_are_not_looked_into(lines: list[str], ordered: bool, plain: bool) -> None:
    found = TreeListing("".join(f"{line}\0" for line in lines))
    assert (found.ordered, found.plain) == (ordered, plain)
    assert (found.changed({}) is None) is not ordered


@pytest.fixture
def busy(play: Play, run: str) -> Play:
    """A ledger with runs, plans, tasks, evidence with attachments, and something redacted."""
    play.proven(run=run)
    evidence = play.evidence(play.task("Second", run=run))
    play.claimed(play.task("Third", run=run))
    play.do(redact_record, evidence, reason="a name in it")
    play.run("Another goal")
    note = add(play, "Tokens are renewed each hour.", domain="decisions")
    add(play, "Tokens live for a day.", supersedes=[note])
    play.do(redact_note, add(play, "Somebody's name."), reason="a name in it")
    return play


def ids_of(view: View, run: str) -> set[str]:
    index = view.index(run)
    known = {*index.prose, *index.evidence, *index.events, *index.events_of, *view.known("dispatch")}
    changed = {f"{name[:-1]}{'0' if name[-1] != '0' else '1'}" for name in known}
    return {*known, *changed, run, "", "task", "task_1", "no/id"}


@pytest.mark.parametrize("many", [0, 1, 1_000])
def test_names_that_are_looked_for_are_those_of_the_index(
    busy: Play, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(filetable, "MOST_LOOKS", 1_000_000)
    monkeypatch.setattr(file_lookup, "MANY", many)
    view, whole = busy.ledger.view(), busy.ledger.view()
    for run in (*whole.runs(), ""):
        index, names = whole.index(run), view.names(run)
        assert isinstance(names, FileLookup)
        for name in ids_of(whole, run) | ids_of(whole, whole.runs()[0]):
            assert names.text_of(name) == index.text_of(name), name
            assert names.evidence_at(name) == index.evidence_at(name), name
            assert names.event_at(name) == index.event_at(name), name
            assert names.is_twin(name) == index.is_twin(name), name
            assert [*names.events_about(name)] == [*index.events_about(name)], name
            assert names.redacting(name or run) == index.redacting(name or run), name
            for kind in ("run", "plan", "task", "evidence", "note", "event", "dispatch"):
                assert names.holds(name, kind) == index.holds(name, kind), (name, kind)
        assert not run or sorted(names.plans()) == sorted(index.plans())
        assert names.redacting() == index.redacting()
    assert not view.table.is_whole


def test_of_two_files_with_the_id_of_an_event_the_same_one_counts(busy: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = busy.ledger.view()
    run, other = sorted(whole.runs(), key=lambda run: len(whole.index(run).events), reverse=True)
    path = next(path for path in whole.index(run).events.values() if "-completed-" in path)
    copy = busy.root / layout.RUNS / run / path.rpartition("/")[2]
    copy.write_bytes((busy.root / path).read_bytes())
    busy.commit_all("a copy")
    monkeypatch.setattr(filetable, "MOST_LOOKS", 1_000_000)
    view, whole = busy.ledger.view(), busy.ledger.view()
    event = f"event_{path[-17:-5]}"
    assert view.names(run).is_twin(event)
    assert view.names(run).event_at(event) == whole.index(run).event_at(event)
    assert not view.names(other).is_twin(event)


@pytest.mark.parametrize("most", [0, 3, 40])
def test_whoever_looks_often_reads_all_and_is_told_the_same(
    busy: Play, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    expected = [[seen.event.id for seen in busy.state(run).folded(key).events] for run, key in keys_of(busy)]
    monkeypatch.setattr(filetable, "MOST_LOOKS", most)
    assert [[seen.event.id for seen in busy.state(run).folded(key).events] for run, key in keys_of(busy)] == expected
    assert busy.ledger.view().find(busy.ledger.view().runs()[0], "run")


def keys_of(play: Play) -> list[tuple[str, str]]:
    view = play.ledger.view()
    return [(run, key) for run in view.runs() for key in play.state(run).groups()]


@pytest.fixture
def kept(busy: Play, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Let a ledger of this size be a large one; return what tells how that at HEAD is listed by a new process."""
    monkeypatch.setattr(tree_listing, "SMALL", 0)

    def told() -> str:
        ledger = busy.beside(busy.root).ledger
        return ledger.git.trees.ledger(git(busy.root, "rev-parse", "HEAD")).text

    return told


def listed_by_git(root: Path) -> str:
    return git(root, "ls-tree", "-rz", "--full-tree", "HEAD", "--", ".memento/")


def test_what_was_kept_is_brought_up_to_date(
    busy: Play, kept: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kept() == listed_by_git(busy.root)
    first = cache.latest_text(busy.ledger.git, tree_listing.KEPT)
    assert first is not None
    ran: list[Any] = []
    monkeypatch.setattr(tree_listing, "keep", lambda *_: ran.append(_))
    monkeypatch.setattr("memento_git.ledger.trees.keep", lambda *_: ran.append(_))
    busy.run("One more")
    assert kept() == listed_by_git(busy.root)
    git(busy.root, "checkout", "-q", "-b", "side", "HEAD~2")
    (busy.root / layout.README).unlink()
    busy.commit_all("by hand")
    assert kept() == listed_by_git(busy.root)
    assert ran == []  # git listed nothing: all of it came from what was kept, and what differs
    assert cache.latest_text(busy.ledger.git, tree_listing.KEPT) == first


def test_a_small_ledger_is_kept_with_each_change(busy: Play) -> None:
    for _ in range(2):
        busy.run("One more")
        tree = tree_diff.tree_of(busy.ledger.git, "HEAD")
        assert cache.latest_text(busy.ledger.git, tree_listing.KEPT) == (tree, listed_by_git(busy.root))
    git(busy.root, "rm", "-q", layout.README)
    head = busy.commit_all("by hand")
    assert busy.beside(busy.root).ledger.git.trees.ledger(head).text == listed_by_git(busy.root)
    tree = tree_diff.tree_of(busy.ledger.git, "HEAD")
    assert cache.latest_text(busy.ledger.git, tree_listing.KEPT) == (tree, listed_by_git(busy.root))


def test_what_is_far_from_what_was_kept_is_listed_anew(
    busy: Play, kept: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kept() == listed_by_git(busy.root)
    monkeypatch.setattr(tree_listing, "FAR", 0)
    busy.run("One more")
    assert kept() == listed_by_git(busy.root)
    tree = tree_diff.tree_of(busy.ledger.git, "HEAD")
    assert cache.latest_text(busy.ledger.git, tree_listing.KEPT) == (tree, listed_by_git(busy.root))


def test_trees_are_compared_without_git_reading_the_index(busy: Play) -> None:
    first = tree_diff.tree_of(busy.ledger.git, "HEAD")
    busy.run("One more")
    index = busy.root / ".git" / "index"
    index.write_bytes(b"not an index")
    found = tree_diff.statuses(busy.ledger.git, first, tree_diff.tree_of(busy.ledger.git, "HEAD"), layout.FOLDER)
    assert found is not None
    assert [path.rpartition("/")[2] for path in found] == ["run.md"]


@pytest.mark.parametrize("harm", ["gone", "cut", "cut at a file", "of a tree that is gone", "of another version"])
def test_what_was_kept_is_harmless_to_lose(busy: Play, kept: Callable[[], str], harm: str) -> None:
    kept()
    path = busy.ledger.git.common_dir / "memento" / "cache" / "listing.txt"
    held = path.read_text(encoding="utf-8")
    head, _, text = held.partition("\n")
    version = head.partition(":")[0]
    harms: dict[str, Callable[[], object]] = {
        "gone": path.unlink,
        "cut": lambda: path.write_text("", encoding="utf-8"),
        "cut at a file": lambda: path.write_text(held[: held.index("\0", len(held) // 2) + 1], encoding="utf-8"),
        "of a tree that is gone": lambda: path.write_text(f"{version}:{'1' * 40}\n{text}", encoding="utf-8"),
        "of another version": lambda: path.write_text(f"0:{head}\n", encoding="utf-8"),
    }
    harms[harm]()
    busy.run("One more")
    assert kept() == listed_by_git(busy.root)


def test_a_link_in_the_ledger_is_seen_though_what_was_kept_has_none(busy: Play, kept: Callable[[], str]) -> None:
    kept()
    (busy.root / layout.RUNS / "aside").symlink_to("../README.md")
    busy.commit_all("a link")
    view = View(busy.beside(busy.root).ledger.git, (git(busy.root, "rev-parse", "HEAD"),), busy.ledger.now())
    assert view.blob(f"{layout.RUNS}/aside") is None
    assert [finding.code for finding in view.findings] == ["F004"]


def test_a_check_against_a_base_asks_git_and_not_what_was_kept(busy: Play, kept: Callable[[], str], cli: Call) -> None:
    base = git(busy.root, "rev-parse", "HEAD")
    kept()
    run = busy.run("Third goal")
    path = f"{layout.RUNS}/{run}/run.md"
    busy.commit(path, "no front matter\n", "by hand")
    tree = tree_diff.tree_of(busy.ledger.git, "HEAD")
    lines = [line for line in listed_by_git(busy.root).split("\0") if not line.endswith(path)]
    cache.write_text(
        busy.ledger.git, tree_listing.KEPT, tree, "\0".join(lines)
    )  # one who can write there hides the file
    assert path not in kept()
    code, out, _ = cli("--workspace", str(busy.root), "check", "--base", base)
    assert code == 5
    assert "front matter" in out


def test_two_processes_of_one_number_do_not_write_into_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept"
    other: list[bytes] = []
    monkeypatch.setattr(os, "getpid", lambda: 1)  # as in two containers that share a checkout
    first = Path.open

    def open_once_more(place: Path, *given: Any, **options: Any) -> Any:
        stream = first(place, *given, **options)
        if not other:
            other.append(b"two")
            atomic_file.write(path, *other)
        return stream

    monkeypatch.setattr(Path, "open", open_once_more)
    atomic_file.write(path, b"first")
    assert path.read_bytes() == b"first"
