"""Purging: what leaves history, what stays as it was, and what is refused or told."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.errors import MementoError
from memento_git.knowledge.actions import notes
from memento_git.knowledge.actions.purging import purge_notes
from memento_git.knowledge.actions.settling import redact_note
from memento_git.knowledge.note_rows import listed
from memento_git.knowledge.note_set import NoteSet
from memento_git.ledger import lock, purging, worktree
from memento_git.ledger.store import Ledger
from memento_git.review.actions import check
from tests.play import Play, git, merge_into, take_out

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call

TEXT = "The launch is named Bluebird."


@pytest.fixture
def note(play: Play) -> str:
    """A note that was added, confirmed and followed by a commit of code."""
    made = str(play.do(notes.add_note, TEXT, key="launch.name").id)
    play.commit("app.py", "answer = 43\n", "more code")
    play.do(notes.confirm_note, made)
    play.do(notes.add_note, "Caches are per process.", links=[f"relates_to:{made}"])
    return made


def texts_of(root: Path, rev: str) -> str:
    """Return all that a history has ever held of knowledge."""
    return git(root, "log", "-p", "-m", "--full-history", "--format=", rev, "--", ".memento/knowledge")


def codes(play: Play) -> set[str]:
    """Return what check finds."""
    return {one.code for one in check(play.ledger).findings} - {"C001", "C002"}


def refused(play: Play, given: str, **options: Any) -> str:
    before = git(play.root, "for-each-ref")
    with pytest.raises(MementoError) as caught:
        purge_notes(play.ledger, [given], **options)
    assert git(play.root, "for-each-ref") == before
    return caught.value.token


def test_without_yes_nothing_changes_and_all_is_told(play: Play, note: str, cli: Call) -> None:
    refs, files = git(play.root, "for-each-ref"), git(play.root, "status", "--short")
    code, out, _ = cli("purge", "launch.name", "-C", str(play.root))
    assert code == 0
    assert (git(play.root, "for-each-ref"), git(play.root, "status", "--short")) == (refs, files)
    for told in ("nothing was changed yet", "4 commits would get other ids", note, "replace it where it is used",
                 "other clones", "reflogs", "notes that name them"):  # fmt: skip
        assert told in out


def test_a_purged_note_is_in_no_commit_of_the_branch_and_all_else_is(play: Play, note: str) -> None:
    before = git(play.root, "rev-parse", "HEAD")
    kept = {line.split("\t")[1]: line for line in git(play.root, "ls-tree", "-r", "HEAD").splitlines()}
    subjects = git(play.root, "log", "--format=%an %ae %at %s")
    done = purge_notes(play.ledger, [note], yes=True).done
    assert done is not None
    assert "Bluebird" not in texts_of(play.root, "main")
    left = {line.split("\t")[1]: line for line in git(play.root, "ls-tree", "-r", "HEAD").splitlines()}
    assert {path for path in kept if path not in left} == {path for path in kept if note in path}
    new = [path for path in left if path not in kept]
    assert (len(new), f"/{note}/" in new[0], "-redacted-" in new[0]) == (1, True, True)
    assert all(kept[path] == line for path, line in left.items() if path not in new)
    assert git(play.root, "log", "--format=%an %ae %at %s").partition("\n")[2] == subjects
    assert git(play.root, "rev-parse", f"{done.backup}~1") == before
    assert "Bluebird" in texts_of(play.root, done.backup)
    assert not done.backup.startswith("refs/heads/")
    assert git(play.root, "status", "--short") == ""
    assert git(play.root, "fsck", "--no-dangling", "--no-progress") == ""


def test_commits_before_the_note_keep_their_ids(play: Play, note: str) -> None:
    first = git(play.root, "rev-list", "--reverse", "HEAD", "--", ".memento/knowledge").splitlines()[0]
    before = git(play.root, "rev-parse", f"{first}^")
    purge_notes(play.ledger, [note], yes=True)
    assert git(play.root, "merge-base", "--is-ancestor", before, "HEAD") == ""


def test_staged_open_and_untracked_work_stays_to_the_byte(play: Play, note: str) -> None:
    (play.root / "app.py").write_text("answer = 44\n")
    git(play.root, "add", "app.py")
    (play.root / "app.py").write_text("answer = 45  # not staged\n")
    (play.root / "new.txt").write_text("mine\n")
    (play.root / "staged.txt").write_text("mine too\n")
    git(play.root, "add", "staged.txt")
    before = (git(play.root, "status", "--porcelain"), git(play.root, "diff"), git(play.root, "diff", "--cached"))
    purge_notes(play.ledger, [note], yes=True)
    after = (git(play.root, "status", "--porcelain"), git(play.root, "diff"), git(play.root, "diff", "--cached"))
    assert after == before
    assert (play.root / "new.txt").read_text() == "mine\n"


def test_a_note_that_a_side_branch_brought_is_purged_through_the_merge(play: Play) -> None:
    git(play.root, "switch", "-qc", "side")
    note = str(play.do(notes.add_note, TEXT).id)
    git(play.root, "switch", "-q", "main")
    play.commit("app.py", "answer = 43\n", "on main")
    git(play.root, "merge", "-q", "--no-edit", "side")
    came = purge_notes(play.ledger, [note], yes=True)
    assert "Bluebird" not in texts_of(play.root, "main")
    assert came.reach.elsewhere == ["refs/heads/side"]
    assert "Bluebird" in texts_of(play.root, "side")
    assert len(git(play.root, "log", "-1", "--format=%P", "HEAD~1").split()) == 2
    assert (play.root / "app.py").read_text() == "answer = 43\n"
    git(play.root, "merge", "-q", "--no-edit", "side")
    assert codes(play) == {"R001"}
    check(play.ledger, fix=True)
    assert codes(play) == set()


def test_what_happened_to_a_purged_note_comes_back_no_more_than_its_text(play: Play, note: str, cli: Call) -> None:
    """A reason has words of the note, and `check --fix` took the text alone away again."""
    play.do(notes.park_note, note, reason="Bluebird leaked to the press")
    old = play.root / "old.jsonl"
    assert cli("export", "--out", str(old), "-C", str(play.root))[0] == 0
    git(play.root, "branch", "side")
    purge_notes(play.ledger, [note], yes=True)
    git(play.root, "switch", "-q", "side")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "on a branch that has it still")
    merge_into(play.root, "main", "side")
    back = [one.path for one in check(play.ledger).findings if one.code == "R001"]
    held = [one for one in git(play.root, "ls-files", ".memento/knowledge").split() if note in one]
    assert back == [one for one in held if "-redacted-" not in one]
    check(play.ledger, fix=True)
    look = ("grep", "-il", "bluebird", "HEAD", "--", ".memento")
    assert (codes(play), git(play.root, *look, check=False)) == (set(), "")
    cli("import", str(old), "-C", str(play.root))
    assert (codes(play), git(play.root, *look, check=False)) == (set(), "")


def test_what_takes_out_what_happened_to_a_purged_note_removes_no_event_of_the_base(play: Play, note: str) -> None:
    """`check --fix` took a confirmation away, and what it told then to do put it back."""
    base = git(play.root, "rev-parse", "HEAD")
    git(play.root, "branch", "side")
    purge_notes(play.ledger, [note], yes=True)
    purged = git(play.root, "rev-parse", "HEAD")
    merge_into(play.root, "side", purged)
    assert {one.code for one in check(play.ledger, base=base).findings} == {"R001"}
    assert [*check(play.ledger, base=base, fix=True).findings] == []
    git(play.root, "reset", "-q", "--hard", base)
    take_out(
        play.root,
        next(iter(git(play.root, "ls-files", f"*{note}/*-confirmed-*").split())),
        message="by hand, without a purge",
    )
    assert {one.code for one in check(play.ledger, base=base).findings} == {"D002"}


def test_what_happened_to_a_note_that_was_redacted_stays_and_so_does_a_second_purge(play: Play, note: str) -> None:
    play.do(notes.park_note, note, reason="not before May")
    git(play.root, "branch", "side")
    play.do(redact_note, note, reason="it was never true")
    assert codes(play) == set()
    git(play.root, "switch", "-q", "side")
    git(play.root, "branch", "far")
    purge_notes(play.ledger, [note], yes=True)
    ours = git(play.root, "rev-parse", "HEAD")
    git(play.root, "switch", "-q", "far")
    purge_notes(play.ledger, [note], yes=True)
    git(play.root, "merge", "-q", "--no-edit", ours)
    assert (codes(play), len(list(play.root.rglob(f"{note}/*-redacted-*")))) == (set(), 2)


def test_what_names_a_purged_note_leads_to_an_event_that_tells_of_it(play: Play, note: str, cli: Call) -> None:
    after = str(play.do(notes.add_note, "The launch is named Robin.", supersedes=[note]).id)
    last = str(play.do(notes.add_note, "It has no name.", supersedes=[after], links=[f"relates_to:{after}"]).id)
    asked = str(play.do(notes.add_note, "What is it named?", kind="question", sources=[after]).id)
    play.do(notes.resolve_note, asked, answer=after)
    purge_notes(play.ledger, [note, after], yes=True)
    assert (codes(play), "Robin" in texts_of(play.root, "main")) == (set(), False)
    code, out, _ = cli("show", after, "-C", str(play.root))
    assert (code, "redacted" in out, "to be purged from the branch's history" in out, "Ada" in out) == (
        0,
        True,
        True,
        True,
    )
    for gone in (note, after):
        assert refused(play, gone, yes=True) == "already_redacted"
    assert {note.id for note in listed(NoteSet(play.ledger.view()))} >= {last}


def test_a_name_that_leads_nowhere_is_no_matter_once_the_note_says_otherwise(play: Play, note: str, cli: Call) -> None:
    old = str(play.do(notes.add_note, "The launch has a name.").id)
    play.do(notes.add_note, "The launch is named Robin.", supersedes=[old], key="launch.bird")
    linked = str(play.do(notes.add_note, "Names are kept.", links=["relates_to:launch.bird"]).id)
    asked = str(play.do(notes.add_note, "What is it named?", kind="question").id)
    play.do(notes.resolve_note, asked, answer="launch.bird")
    play.do(notes.link_note, old, "caused_by", "launch.bird")
    path = play.ledger.view().index("").prose[NoteSet(play.ledger.view()).find("launch.bird").id]
    take_out(play.root, path, message="by hand")
    found = [one for one in check(play.ledger).findings if one.code == "L004"]
    assert len(found) == 4
    for one in found:
        assert cli(*one.fix.partition("memento ")[2].split(), "-C", str(play.root))[0] == 0, one.fix
    assert "L004" not in codes(play)
    assert {note.id for note in listed(NoteSet(play.ledger.view()))} >= {old, linked, asked}


def test_a_note_whose_file_was_removed_is_still_in_history_and_can_be_purged(play: Play, note: str) -> None:
    take_out(play.root, f".memento/knowledge/context/{note[5]}", message="removed by hand")
    assert "Bluebird" in texts_of(play.root, "main")
    purge_notes(play.ledger, [note], yes=True)
    assert "Bluebird" not in texts_of(play.root, "main")


def test_what_it_cannot_reach_is_named(play: Play, note: str, tmp_path: Path) -> None:
    git(play.root, "tag", "-a", "v1", "-m", "first")
    git(play.root, "branch", "other")
    git(play.root, "init", "-q", "--bare", str(tmp_path / "far"))
    git(play.root, "remote", "add", "origin", str(tmp_path / "far"))
    git(play.root, "push", "-q", "origin", "main")
    reach = purge_notes(play.ledger, [note]).reach
    assert (reach.elsewhere, reach.pushed) == (
        ["refs/heads/other", "refs/tags/v1"], {"origin/main": git(play.root, "rev-parse", "main")},
    )  # fmt: skip


def test_what_came_elsewhere_by_other_commits_is_named_too(play: Play, tmp_path: Path, cli: Call) -> None:
    """Only refs with commits of this branch were looked for, and the text stayed on a branch that was pushed."""
    first = git(play.root, "rev-parse", "HEAD")
    git(play.root, "switch", "-qc", "feature")
    note = str(play.do(notes.add_note, TEXT).id)
    path = git(play.root, "ls-files", f"*{note}.md")
    git(play.root, "branch", "picked", first)
    git(play.root, "switch", "-q", "picked")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "of its own")
    git(play.root, "cherry-pick", "feature")
    git(play.root, "switch", "-qc", "moved", first)
    for change in (
        ("checkout", "picked", "--", path),
        ("mv", path, ".memento/knowledge/kept.md"),
        ("commit", "-qm", "x"),
    ):
        git(play.root, *change)
    git(play.root, "branch", "without", first)
    git(play.root, "init", "-q", "--bare", str(tmp_path / "far"))
    git(play.root, "remote", "add", "origin", str(tmp_path / "far"))
    git(play.root, "push", "-q", "origin", "feature")
    git(play.root, "switch", "-q", "main")
    git(play.root, "merge", "-q", "--squash", "feature")
    git(play.root, "commit", "-qm", "all of it")
    other = str(play.do(notes.add_note, "Ships in May.").id)
    kept = purge_notes(play.ledger, [other], yes=True).done
    assert kept is not None
    told = json.loads(cli("purge", note, "-C", str(play.root), "--json")[1])["not_reached"]
    refs = [f"refs/heads/{name}" for name in ("feature", "moved", "picked")]
    assert told == {"refs": [*refs, kept.backup], "remotes": ["origin/feature"]}


def test_a_branch_that_was_purged_too_holds_nothing_any_more(play: Play, note: str) -> None:
    git(play.root, "switch", "-qc", "side")
    purged = purge_notes(play.ledger, [note], yes=True).done
    assert purged is not None
    git(play.root, "switch", "-q", "main")
    assert purge_notes(play.ledger, [note], yes=True).reach.elsewhere == [purged.backup]


def test_the_way_to_a_remote_is_told_and_works(play: Play, note: str, tmp_path: Path, cli: Call) -> None:
    git(play.root, "init", "-q", "--bare", str(tmp_path / "far"))
    git(play.root, "remote", "add", "origin", str(tmp_path / "far"))
    git(play.root, "push", "-q", "origin", "main")
    play.commit("later.py", "x = 1\n", "not pushed yet")
    told = json.loads(cli("purge", note, "--yes", "--json", "-C", str(play.root))[1])
    push = next(step for step in told["remaining"] if step.startswith("git push"))
    git(play.root, *push.partition(",")[0].split()[1:])
    assert "Bluebird" not in texts_of(tmp_path / "far", "main")


def test_signatures_that_get_lost_are_counted(play: Play, note: str) -> None:
    head = git(play.root, "cat-file", "commit", "HEAD")
    signed = head.replace("\n\n", "\ngpgsig -----BEGIN SSH SIGNATURE-----\n AAAA\n -----END SSH SIGNATURE-----\n\n", 1)
    made = git(play.root, "hash-object", "-t", "commit", "-w", "--stdin", data=f"{signed}\n".encode())
    git(play.root, "update-ref", "refs/heads/main", made)
    assert purge_notes(play.ledger, [note]).reach.signed == 1


def test_what_was_derived_from_the_note_goes_too(play: Play, note: str) -> None:
    from memento_git.knowledge.recall import search

    assert search(play.ledger.view(), ["Bluebird"]).hits
    purge_notes(play.ledger, [note], yes=True)
    held = [path for path in (play.root / ".git" / "memento").rglob("*") if path.is_file()]
    assert not [path for path in held if b"luebird" in path.read_bytes()]
    assert not search(play.ledger.view(), ["Bluebird"]).hits


def test_an_agent_may_look_and_not_do(play: Play, note: str) -> None:
    agent = play.as_("agent:hermes")
    assert purge_notes(agent.ledger, [note]).done is None
    assert refused(agent, note, yes=True) == "purge_needs_person"


def test_states_that_it_cannot_keep_are_refused(play: Play, note: str, tmp_path: Path) -> None:
    path = next(play.root.rglob(f"{note}.md"))
    text = path.read_text()
    path.write_text(text + "An edit.\n")
    assert refused(play, note, yes=True) == "purge_edited"
    path.write_text(text)
    git(play.root, "checkout", "-q", "--detach")
    assert refused(play, note, yes=True) == "no_branch"
    git(play.root, "checkout", "-q", "main")
    git(play.root, "worktree", "add", "-q", "--force", str(tmp_path / "second"), "main")
    assert refused(play, note, yes=True) == "branch_elsewhere"
    assert refused(play, "note_000000000000", yes=True) == "note_not_found"
    assert refused(play, "no.such.key", yes=True) == "key_unknown"
    git(play.root, "worktree", "remove", "--force", str(tmp_path / "second"))
    (play.root / ".git" / "MERGE_HEAD").write_text(git(play.root, "rev-parse", "HEAD"))
    assert refused(play, note) == "operation_in_progress"


def test_what_an_earlier_change_left_unshown_is_not_called_an_edit(
    play: Play, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    def fall(where: str) -> None:
        if where == "ref_moved":
            raise Crash

    path = next(play.root.rglob(f"{note}.md"))
    text = path.read_text()
    with monkeypatch.context() as patched:
        patched.setattr(worktree, "reached", fall)
        with pytest.raises(Crash):
            purge_notes(play.ledger, [note], yes=True)
    held = play.root / ".git" / "index.lock"  # so that it cannot be finished, as on a full disk
    held.touch()
    assert refused(play, note) == "ledger_edited"
    path.write_text("An edit.\n")
    assert refused(play, note) == "purge_edited"
    path.write_text(text)
    held.unlink()
    purge_notes(play.ledger, [note], yes=True)
    assert "Bluebird" not in texts_of(play.root, "main")


def test_a_shallow_clone_is_refused(play: Play, note: str, tmp_path: Path) -> None:
    git(play.root, "clone", "-q", "--depth", "1", f"file://{play.root}", str(tmp_path / "shallow"))
    with Ledger.open(tmp_path / "shallow") as shallow, pytest.raises(purging.ShallowHistory):
        purge_notes(shallow, [note], yes=True)


def commit_behind(play: Play) -> None:
    """Commit by plain git, which knows nothing of our lock."""
    tree = git(play.root, "rev-parse", "HEAD^{tree}")
    made = git(play.root, "commit-tree", tree, "-p", "HEAD", "-m", "somebody else")
    git(play.root, "update-ref", "refs/heads/main", made)


@pytest.mark.parametrize("always", [False, True])
def test_a_branch_that_moves_meanwhile_is_taken_up_again_or_it_is_told_what_is_left(
    play: Play, note: str, monkeypatch: pytest.MonkeyPatch, cli: Call, *, always: bool
) -> None:
    """A purge that met another writer was half done, and nothing told how to go on."""
    came: list[str] = []

    def meet(where: str) -> None:
        came.append(where)
        if where == "index_held" and (always or came.count(where) == 2) and came.count(where) > 1:
            commit_behind(play)

    where = ("-C", str(play.root))
    with monkeypatch.context() as patched:
        patched.setattr(worktree, "reached", meet)
        code, out, _ = cli("purge", "launch.name", "--yes", *where, "--json")
    told = json.loads(out)
    if always:
        assert (code, told["error"], told["hint"]) == (3, "purge_unfinished", f"go on: memento purge {note} --yes")
        assert "Bluebird" in texts_of(play.root, "main")
        assert not git(play.root, "for-each-ref", "refs/memento/purged")
        assert "to be purged" in cli("log", "--verb", "redacted", *where, "--json")[1]
        assert cli(*told["hint"].partition("memento ")[2].split(), *where)[0] == 0
    else:
        assert (code, "somebody else" in git(play.root, "log", "--format=%s")) == (0, True)
    assert ("Bluebird" in texts_of(play.root, "main"), codes(play)) == (False, set())


def test_other_writers_lose_nothing_while_history_is_made_anew(play: Play, note: str) -> None:
    code = (
        "import sys; from memento_git import Memory\n"
        "with Memory(sys.argv[1]) as memory:\n"
        " for n in range(12): memory.store(f'{sys.argv[2]} says {n}')"
    )
    before = git(play.root, "rev-parse", "HEAD")
    writers = [subprocess.Popen([sys.executable, "-c", code, str(play.root), name]) for name in ("Ada", "Bob")]
    while git(play.root, "rev-parse", "HEAD") == before:
        time.sleep(0.02)
    assert purge_notes(play.ledger, [note], yes=True).done is not None
    assert [writer.wait(120) for writer in writers] == [0, 0]
    assert ("Bluebird" in texts_of(play.root, "main"), codes(play)) == (False, set())
    assert sum(" says " in note.title for note in listed(NoteSet(play.ledger.view()))) == 24


def test_a_history_that_is_not_as_it_should_be_is_not_taken(play: Play, note: str) -> None:
    reach = purge_notes(play.ledger, [note]).reach
    with pytest.raises(purging.HistoryDiffers):
        purging._compare(play.ledger.git, reach, git(play.root, "rev-parse", "HEAD~1"))


@pytest.mark.parametrize("time", [1, 2])
@pytest.mark.parametrize("step", ["index_held", "ref_moved", "files_written"])
def test_a_crash_leaves_the_old_history_or_the_new_one(
    play: Play, note: str, step: str, time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    came = []

    def fall(where: str) -> None:
        came.append(where)
        if came.count(step) == time:
            raise Crash

    before = git(play.root, "rev-parse", "HEAD")
    with monkeypatch.context() as patched:
        patched.setattr(worktree, "reached", fall)
        with pytest.raises(Crash):
            purge_notes(play.ledger, [note], yes=True)
    play.ledger.view()
    assert git(play.root, "status", "--porcelain") == ""
    is_old = git(play.root, "merge-base", before, "HEAD") == before
    assert ("Bluebird" in texts_of(play.root, "main")) is is_old
    assert bool(git(play.root, "for-each-ref", "refs/memento/purged")) is not is_old
    if is_old:
        purge_notes(play.ledger, [note], yes=True)
    assert ("Bluebird" in texts_of(play.root, "main"), codes(play)) == (False, set())
    assert len(list(play.root.glob(f".memento/knowledge/*/*/{note}/*"))) == 1


def test_a_purge_that_another_one_was_quicker_than_says_so(play: Play, note: str, tmp_path: Path) -> None:
    """It took the whole branch for what was to be rewritten, and said that the note was still in it."""

    class Killed(BaseException):
        pass

    came = []

    def fall(where: str) -> None:
        came.append(where)
        if came.count("index_held") == 2:
            raise Killed

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(worktree, "reached", fall)
        with pytest.raises(Killed):
            purge_notes(play.ledger, [note], yes=True)
    shutil.copytree(play.root, tmp_path / "other")
    with Ledger.open(tmp_path / "other", actor="Ada") as other:
        done = purge_notes(other, [note], yes=True).done
    git(play.root, "fetch", "-q", str(tmp_path / "other"))

    heard: list[str] = []

    def late() -> None:
        with Ledger.open(play.root, actor="Ada") as ledger, pytest.raises(MementoError) as caught:
            purge_notes(ledger, [note], yes=True)
        heard.append(caught.value.token)

    second = threading.Thread(target=late)
    with lock.held(worktree.lock_path(play.ledger.git)):
        second.start()
        time.sleep(3)
        git(play.root, "update-ref", "refs/heads/main", done.head if done else "")
    second.join()
    assert (heard, git(play.root, "rev-parse", "main")) == (["already_redacted"], done and done.head)


@pytest.mark.parametrize("time", [1, 2])
def test_a_purge_that_was_killed_before_history_was_rewritten_is_told_until_it_is_done(
    play: Play, note: str, time: int, monkeypatch: pytest.MonkeyPatch, cli: Call
) -> None:
    """The note had left the ledger, so all looked well, and the history that would be pushed still had the secret."""

    class Killed(BaseException):
        pass

    came = []

    def fall(where: str) -> None:
        came.append(where)
        if came.count("index_held") == time:
            raise Killed

    def told() -> list[str]:
        heard = [cli(*verb, "-C", str(play.root)) for verb in (("status",), ("check",))]
        heard += [cli(*verb, "-C", str(play.root), "--json") for verb in (("status",), ("check",))]
        return [" ".join((out + err).split()) for _, out, err in heard]

    with monkeypatch.context() as patched:
        patched.setattr(worktree, "reached", fall)
        with pytest.raises(Killed):
            purge_notes(play.ledger, [note], yes=True)
    way = f"a purge of {note} was broken off: the branch's history still has what it held; go on: memento purge {note}"
    assert [way in one for one in told()] == [time == 2] * 4
    tip = git(play.root, "rev-parse", "HEAD")
    git(play.root, "reset", "-q", "--hard", "HEAD~1")
    assert not any(way in one for one in told())
    git(play.root, "reset", "-q", "--hard", tip)
    code, out, err = cli("purge", note, "--yes", "-C", str(play.root))
    assert (code, "was broken off" in out + err) == (0, False)
    assert not any("was broken off" in one for one in told())
    assert not (play.ledger.git.common_dir / "memento" / "purging").exists()


def test_a_note_of_a_submodule_is_purged_there(play: Play, note: str, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", "-b", "main", str(outer))
    git(outer, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(play.root), "inner")
    inner = play.beside(outer / "inner")
    assert purge_notes(inner.ledger, [note], yes=True).done is not None
    assert not [*inner.root.rglob(f"{note}.md")]
