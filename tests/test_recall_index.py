"""The index: what is updated equals what is built anew, and nothing that befalls it changes an answer."""

from __future__ import annotations

import json
import os
import pickle
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memento_git.knowledge import index, index_refresh
from memento_git.knowledge.actions.recalling import recall
from memento_git.knowledge.ranking import rank
from memento_git.knowledge.recall import search, text_of
from memento_git.ledger import archive, codec, layout, lock
from memento_git.ledger.store import Ledger
from memento_git.review.note_counts import note_counts
from memento_git.work.actions.runs import start_run
from memento_git.work.actions.tasks import block_task
from tests.notes import Notes
from tests.play import git
from tests.test_disks import MAY_MOUNT, alone, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.view import View
    from tests.play import Play

    Answer = list[tuple[str, float, float, tuple[str, ...]]]

QUESTIONS = (
    "lease worker",
    "walrus",
    "retry policy of the payment service",
    "note_000000000003",
    "november",
    "paymnet wrker",
)


@pytest.fixture(autouse=True)
def written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every difference written into the index, where a test does not say otherwise."""
    monkeypatch.setattr(index_refresh, "LITTLE", 0)


@pytest.fixture
def notes(ledger: Ledger) -> Iterator[Notes]:
    made = Notes(ledger.git.top or Path(), ledger)
    made.add("1", "Lease", "The lease is renewed by the worker.")
    made.add("2", "Retries", "The payment service is retried by policy.", "thread: pay\n")
    made.add("3", "Walrus", "The walrus is fed.", "thread: pay\nlinks: [{rel: relates_to, to: note_000000000001}]\n")
    made.commit()
    yield made
    made.ledger.close()


def answers(view: View, *, written: bool = True) -> list[Answer]:
    """Return all answers in full, by the index or, where nothing is written, by memory alone."""
    with index_refresh.gathered(view, written=written) as corpus:
        found = [rank(corpus, question, most=20).found for question in QUESTIONS]
    return [[(one.header.path, one.score, one.cover, one.words) for one in of_one] for of_one in found]


def assert_right(ledger: Ledger, *at: str) -> None:
    """Compare what the index answers with what memory alone answers: to the last digit."""
    assert answers(ledger.view(at)) == answers(ledger.view(at), written=False)


def titles(ledger: Ledger, question: str, *at: str) -> list[str]:
    return [hit.header.title for hit in search(ledger.view(at), [question]).hits]


def files(notes: Notes) -> set[str]:
    return {path.name for path in index.place(notes.ledger.git).glob("*.seg")}


def test_it_lies_in_the_git_directory_and_leaves_the_work_tree_clean(notes: Notes) -> None:
    assert titles(notes.ledger, "walrus")[0] == "Walrus"
    folder = notes.root / ".git" / "memento" / "index"
    assert (folder / index.STATE).is_file()
    assert folder.stat().st_mode & 0o077 == 0
    assert git(notes.root, "status", "--porcelain") == ""


def test_a_change_is_seen_by_the_next_question(notes: Notes) -> None:
    assert titles(notes.ledger, "narwhal") == []
    notes.add("4", "Narwhal", "The narwhal is new.")
    notes.commit()
    assert titles(notes.ledger, "narwhal") == ["Narwhal"]
    notes.add("4", "Octopus", "It was an octopus.")
    notes.commit()
    assert (titles(notes.ledger, "narwhal"), titles(notes.ledger, "octopus")) == ([], ["Octopus"])
    notes.remove("4")
    notes.commit()
    assert titles(notes.ledger, "octopus") == []
    assert_right(notes.ledger)


def test_an_update_writes_only_what_differs(notes: Notes) -> None:
    search(notes.ledger, ["lease"])
    before = files(notes)
    notes.add("4", "Narwhal", "The narwhal is new.")
    notes.commit()
    search(notes.ledger, ["lease"])
    assert before < files(notes)


def test_a_commit_that_changes_no_document_writes_nothing(notes: Notes) -> None:
    search(notes.ledger, ["lease"])
    (notes.root / "app.py").write_text("answer = 43\n")
    notes.commit()
    state = (index.place(notes.ledger.git) / index.STATE).stat().st_mtime_ns
    search(notes.ledger, ["lease"])
    assert (index.place(notes.ledger.git) / index.STATE).stat().st_mtime_ns == state


def test_each_branch_finds_its_own_notes_in_one_index(notes: Notes) -> None:
    git(notes.root, "checkout", "-qb", "other")
    notes.remove("1")
    notes.add("4", "Narwhal", "The narwhal is new.")
    notes.commit()
    for _ in range(2):
        assert (titles(notes.ledger, "narwhal"), titles(notes.ledger, "lease")) == (["Narwhal"], [])
        git(notes.root, "checkout", "-q", "main")
        assert (titles(notes.ledger, "narwhal"), titles(notes.ledger, "lease")[0]) == ([], "Lease")
        git(notes.root, "checkout", "-q", "other")
    assert_right(notes.ledger)


def test_another_commit_and_a_union_are_answered_without_moving_the_index(notes: Notes) -> None:
    first = git(notes.root, "rev-parse", "HEAD")
    git(notes.root, "checkout", "-qb", "other")
    notes.remove("1")
    notes.add("4", "Narwhal", "The narwhal is new.")
    notes.commit()
    search(notes.ledger, ["lease"])
    held = (index.place(notes.ledger.git) / index.STATE).read_bytes()
    assert titles(notes.ledger, "lease", first)[0] == "Lease"
    assert titles(notes.ledger, "narwhal", first) == []
    assert {titles(notes.ledger, word, first, "other")[0] for word in ("lease", "narwhal")} == {"Lease", "Narwhal"}
    assert_right(notes.ledger, first)
    assert_right(notes.ledger, first, "other")
    assert (index.place(notes.ledger.git) / index.STATE).read_bytes() == held


def test_a_bare_clone_is_answered(notes: Notes, tmp_path: Path) -> None:
    git(notes.root, "clone", "-q", "--bare", str(notes.root), str(tmp_path / "bare.git"))
    with Ledger.open(tmp_path / "bare.git") as bare:
        assert titles(bare, "walrus")[0] == "Walrus"
        assert (tmp_path / "bare.git" / "memento" / "index" / index.STATE).is_file()


def test_worktrees_share_one_index(notes: Notes, tmp_path: Path) -> None:
    git(notes.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    with Ledger.open(tmp_path / "side") as side:
        other = Notes(tmp_path / "side", side)
        other.remove("1")
        other.commit()
        assert (titles(side, "lease"), titles(notes.ledger, "lease")[0]) == ([], "Lease")
        assert index.place(side.git) == index.place(notes.ledger.git)


def test_what_a_transaction_has_put_is_found_in_it(notes: Notes) -> None:
    search(notes.ledger, ["lease"])
    with pytest.raises(KeyboardInterrupt), notes.ledger.transaction("test") as tx:  # noqa: PT012 (it is given up)
        text = (notes.root / notes.path("1")).read_bytes().replace(b"lease", b"narwhal").replace(b"0001", b"0009")
        tx.put(notes.path("9"), text)
        tx.put(notes.path("3"), None)
        assert [hit.header.path for hit in search(tx.view, ["narwhal"]).hits] == [notes.path("9")]
        assert search(tx.view, ["walrus"]).hits == []
        raise KeyboardInterrupt
    assert titles(notes.ledger, "walrus")[0] == "Walrus"


def test_a_slip_is_read_alike_from_the_index_and_from_memory(notes: Notes) -> None:
    notes.add("8", "Quarantine", "Flaky suites go into quarantine until somebody mends them.")
    notes.commit()
    assert titles(notes.ledger, "quarantien")[:1] == ["Quarantine"]
    notes.add("9", "Embargo", "Leaflets stay under embargo.")
    notes.commit()
    assert titles(notes.ledger, "leafltes")[:1] == ["Embargo"]
    assert_right(notes.ledger)


def test_many_updates_are_compacted_and_stay_right(notes: Notes) -> None:
    for number in range(10, 40):
        notes.add(str(number), f"Lease {number}", f"worker {number} holds a lease")
        if number % 3 == 0:
            notes.remove(str(number - 1))
        notes.commit()
        search(notes.ledger, ["lease"])
    assert len(files(notes)) <= index.FEW_SEGMENTS
    assert_right(notes.ledger)


def test_an_index_of_many_parts_is_right_and_its_full_ones_stay(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "IN_MEMORY", 20)
    monkeypatch.setattr(index, "FULL", 2)
    for number in range(10, 60):
        notes.add(str(number), f"Lease {number}", f"worker {number} holds a lease of many words and a walrus")
    notes.commit()
    search(notes.ledger, ["lease"])
    assert len(files(notes)) > index.FEW_SEGMENTS
    assert_right(notes.ledger)

    full = set(files(notes))
    for number in range(60, 60 + 2 * index.FEW_SEGMENTS):
        notes.add(str(number), f"Lease {number}", f"worker {number} waits")
        notes.commit()
        search(notes.ledger, ["lease"])
    assert full < set(files(notes))
    assert len(files(notes)) < len(full) + index.FEW_SEGMENTS
    assert_right(notes.ledger)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "remove", "branch", "ask"]), st.integers(1, 6),
        st.lists(st.sampled_from(["lease", "worker", "walrus", "retry", "not", "the"]), max_size=6),
    ),
    min_size=1, max_size=12,
)  # fmt: skip


@pytest.mark.parametrize("little", [0, 2])
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=STEPS)
@example(steps=[("add", 1, ["walrus"]), ("add", 4, ["lease"]), ("add", 2, ["walrus", "worker"])])
def test_an_updated_index_equals_one_built_anew(
    little: int, steps: list[tuple[str, int, list[str]]], tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(index_refresh, "LITTLE", little)
    root = tmp_path_factory.mktemp("steps")
    git(root, "init", "-q", "-b", "main")
    with Ledger.open(root) as ledger:
        notes = Notes(root, ledger)
        notes.file(".memento/config.yaml", "version: 1\n")
        notes.commit()
        git(root, "branch", "other")
        for do, number, words in steps:
            if do == "add":
                thread = f"thread: {words[0]}\n" if words else ""
                link = f"links: [{{rel: relates_to, to: note_{number % 3:012}}}]\n"
                notes.add(str(number), f"Note {number}", " ".join(words), thread + link)
                notes.commit()
            elif do == "remove" and (root / notes.path(str(number))).exists():
                notes.remove(str(number))
                notes.commit()
            elif do == "branch":
                git(root, "checkout", "-q", "other" if number % 2 else "main")
            elif do == "ask":
                search(ledger, ["lease"])
        updated = answers(ledger.view())
        shutil.rmtree(index.place(ledger.git))
        assert answers(ledger.view()) == updated == answers(ledger.view(), written=False)


def harm_delete(folder: Path) -> None:
    shutil.rmtree(folder)


def harm_no_state(folder: Path) -> None:
    (folder / index.STATE).unlink()


def harm_state(folder: Path) -> None:
    (folder / index.STATE).write_bytes(b'{"format": 1, "files": []')


def harm_other_format(folder: Path) -> None:
    state = json.loads((folder / index.STATE).read_text())
    (folder / index.STATE).write_text(json.dumps({**state, "format": 999}))


def harm_segments(folder: Path) -> None:
    for path in folder.glob("*.seg"):
        path.write_bytes(b"\0" * path.stat().st_size)


def harm_cut(folder: Path) -> None:
    for path in folder.glob("*.seg"):
        os.truncate(path, path.stat().st_size // 2)


def harm_unseen(folder: Path) -> None:
    """Damage bytes and keep size and time, as a failing disk does."""
    for path in [*folder.glob("*.seg"), *folder.glob("*.toc")]:
        status = path.stat()
        data = bytearray(path.read_bytes())
        data[len(data) // 3 : len(data) // 2] = b"\xff" * (len(data) // 2 - len(data) // 3)
        path.write_bytes(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def harm_toc(folder: Path) -> None:
    for path in folder.glob("*.toc"):
        path.unlink()


def harm_tree(folder: Path) -> None:
    state = json.loads((folder / index.STATE).read_text())
    (folder / index.STATE).write_text(json.dumps({**state, "tree": "0" * 39 + "1"}))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Whoosh lets go of damaged files
@pytest.mark.parametrize(
    "harm",
    [harm_delete, harm_no_state, harm_state, harm_other_format, harm_segments, harm_cut, harm_unseen, harm_toc,
     harm_tree],
)  # fmt: skip
def test_harm_to_the_index_harms_no_answer(harm: object, notes: Notes) -> None:
    search(notes.ledger, ["lease"])
    harm(index.place(notes.ledger.git))  # type: ignore[operator]
    assert titles(notes.ledger, "walrus")[0] == "Walrus"
    notes.add("4", "Narwhal", "The narwhal is new.")
    notes.commit()
    assert titles(notes.ledger, "narwhal") == ["Narwhal"]
    assert search(notes.ledger, ["narwhal"]).behind == 0
    assert_right(notes.ledger)


def test_a_little_that_came_is_read_besides_and_written_when_it_is_much(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_refresh, "LITTLE", 3)
    search(notes.ledger, ["lease"])
    seen = []
    for number in range(4, 9):
        notes.add(str(number), f"Narwhal {number}", "The narwhal is new.")
        notes.commit()
        hits = search(notes.ledger, [f"narwhal {number}"])
        assert hits.hits[0].header.title == f"Narwhal {number}"
        assert_right(notes.ledger)
        seen.append(hits.behind)
    assert seen == [1, 2, 3, 0, 1]


def test_a_question_about_the_past_does_not_move_an_index_whose_tree_is_gone(notes: Notes) -> None:
    first = git(notes.root, "rev-parse", "HEAD")
    notes.add("4", "Narwhal", "The narwhal is new.")
    notes.commit()
    search(notes.ledger, ["lease"])
    state = index.place(notes.ledger.git) / index.STATE
    gone = "1" * 40
    state.write_text(json.dumps({**json.loads(state.read_text()), "tree": gone}))
    assert titles(notes.ledger, "narwhal", first) == []
    assert json.loads(state.read_text())["tree"] == gone
    assert titles(notes.ledger, "narwhal") == ["Narwhal"]
    assert json.loads(state.read_text())["tree"] != gone


def test_while_somebody_writes_memory_stands_in(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_refresh, "TIMEOUT", 0.05)
    search(notes.ledger, ["lease"])
    notes.add("4", "Narwhal", "The narwhal is new.")
    notes.remove("1")
    notes.commit()
    with lock.held(index.lock_path(notes.ledger.git)):
        hits = search(notes.ledger, ["narwhal"])
        assert ([hit.header.title for hit in hits.hits], hits.behind) == (["Narwhal"], 2)
        assert titles(notes.ledger, "lease") == []
        locked = answers(notes.ledger.view())
    assert locked == answers(notes.ledger.view())
    assert search(notes.ledger, ["narwhal"]).behind == 0


@pytest.mark.skipif(not MAY_MOUNT, reason="a place that root cannot write needs a mount of its own")
def test_a_place_that_cannot_be_written_is_answered_from_memory(notes: Notes) -> None:
    script = (
        "import sys; from memento_git.ledger.store import Ledger; from memento_git.knowledge.recall import search\n"
        "hits = search(Ledger.open(sys.argv[1]), ['walrus']); print(hits.hits[0].header.title, hits.behind)"
    )
    search(notes.ledger, ["lease"])
    notes.add("4", "Narwhal", "The narwhal is new.")
    notes.commit()
    place = shlex.quote(str(notes.root))
    mounted = f"mount --bind {place} {place}; mount -o remount,bind,ro {place}"
    [told] = said(alone(f"{mounted}; {sys.executable} -c {shlex.quote(script)} {place}"))
    assert told.startswith("Walrus")
    assert not told.endswith(" 0"), "the index was written all the same"


def test_readers_and_writers_at_once_agree(notes: Notes) -> None:
    failures: list[object] = []

    def ask() -> None:
        with Ledger.open(notes.root) as mine:
            for _ in range(8):
                try:
                    if search(mine, ["walrus"]).hits[0].header.title != "Walrus":
                        failures.append("wrong")
                except Exception as error:  # noqa: BLE001 (whatever happens is the failure that is looked for)
                    failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(10, 18):
        notes.add(str(number), "Lease", f"worker {number}")
        notes.commit()
        search(notes.ledger, ["lease"])
    for thread in threads:
        thread.join()
    assert failures == []
    assert_right(notes.ledger)


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (os.environ["BOMB"],)


def test_an_index_that_is_not_ours_is_never_opened(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOMB", str(tmp_path / "exploded"))
    search(notes.ledger, ["lease"])
    folder = index.place(notes.ledger.git)
    elsewhere = tmp_path / "elsewhere"
    folder.rename(elsewhere)
    for path in elsewhere.glob("*.toc"):
        path.write_bytes(pickle.dumps(Bomb()))
    folder.symlink_to(elsewhere)
    assert titles(notes.ledger, "walrus")[0] == "Walrus"
    assert not (tmp_path / "exploded").exists()


def test_a_folder_that_everybody_may_write_is_not_opened(notes: Notes) -> None:
    search(notes.ledger, ["lease"])
    index.place(notes.ledger.git).chmod(0o777)
    assert index.opened(notes.ledger.git) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_an_index_of_another_user_is_left_alone(notes: Notes) -> None:
    search(notes.ledger, ["lease"])
    folder = index.place(notes.ledger.git)
    os.chown(next(folder.glob("*.toc")), 65534, 65534)
    assert index.opened(notes.ledger.git) is None
    os.chown(folder, 65534, 65534)
    assert index.place(notes.ledger.git).name == f"index-{os.geteuid()}"
    assert titles(notes.ledger, "walrus")[0] == "Walrus"


def test_a_committed_index_is_never_read(notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOMB", str(tmp_path / "exploded"))
    for folder in ("index", ".memento/index", "memento/index"):
        notes.file(f"{folder}/{index.STATE}", "{}")
        (notes.root / folder / "_MAIN_1.toc").write_bytes(pickle.dumps(Bomb()))
    notes.commit()
    assert titles(notes.ledger, "walrus")[0] == "Walrus"
    assert not (tmp_path / "exploded").exists()


def test_progress_is_told_when_it_takes_long(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_refresh, "LONG", 2)
    told: list[tuple[int, int]] = []
    notes.ledger.git.progress = lambda done, total, _: told.append((done, total))
    search(notes.ledger, ["lease"])
    assert told == [(0, 3), (3, 3)]


def test_a_start_and_status_of_what_is_kept_load_neither_notes_nor_yaml(notes: Notes) -> None:
    script = (
        "import sys; from memento_git.cli.boundary import run\n"
        "try: run({!r})\nexcept SystemExit: pass\n"
        "loaded = [name for name in sys.modules if name.startswith(('whoosh', 'yaml', 'memento_git.knowledge'))]\n"
        "sys.exit(repr(loaded) if loaded else 0)"
    )
    notes.ledger.change("run start", lambda tx: start_run(tx, "Make it work"))
    assert note_counts(notes.ledger.view())["live"]  # and keeps that, as the next line keeps the run
    subprocess.run([sys.executable, "-m", "memento_git", "status"], cwd=notes.root, capture_output=True, check=True)
    for arguments in (["--help"], ["status"]):
        done = subprocess.run(
            [sys.executable, "-c", script.format(arguments)],
            cwd=notes.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_names_and_questions_that_are_no_text_harm_nothing(notes: Notes) -> None:
    search(notes.ledger, ["lease"])
    odd = os.fsencode(notes.root) + b"/.memento/skills/\xff/SKILL.md"
    os.makedirs(os.path.dirname(odd))  # noqa: PTH103, PTH120 (a name that is no text)
    with open(odd, "wb") as file:  # noqa: PTH123
        file.write(b"walrus \xff\x00")
    notes.file(notes.path("5"), '---\nid: x\nthread: "\x00"\n---\nwalrus \ud7ff\x00\n')
    notes.commit()
    assert "Walrus" in titles(notes.ledger, "walrus")
    for question in ("\udcff walrus", "walrus \x00", "walrus " * 50_000, "word".join(map(str, range(50_000)))):
        search(notes.ledger, [question])
    assert search(notes.ledger, []).hits == []
    assert search(notes.ledger, ["walrus"], limit=0).more > 0
    assert_right(notes.ledger)


def test_what_happened_to_a_record_is_found_wherever_its_files_are(play: Play, notes: Notes) -> None:
    run = play.planned("Tame the octopus")
    task = play.task("Feed it")
    view = play.ledger.view()
    start = f"{layout.RUNS}/{run}/"
    before = {path: view.read(path) or b"" for path in view.files if path.startswith(start)}
    search(notes.ledger, ["lease"])
    git(notes.root, "branch", "before")
    play.do(block_task, task, reason="The walrus ate it.")
    assert found(notes, "walrus ate") == [task]
    git(notes.root, "checkout", "-q", "before")
    assert found(notes, "walrus ate") == []
    git(notes.root, "checkout", "-q", "main")
    assert found(notes, "walrus ate") == [task]

    packed = archive.pack(before)
    path = notes.root / layout.archive_path(run, codec.digest_of(packed))
    path.parent.mkdir(parents=True)
    path.write_bytes(packed)
    for name in before:
        (notes.root / name).unlink()
    notes.commit()
    assert found(notes, "walrus ate") == [task]
    view = play.ledger.view()
    whole = archive.pack({**before, **{name: view.read(name) or b"" for name in view.files if name.startswith(start)}})
    path.with_name(f"{codec.digest_of(whole)}.yaml.gz").write_bytes(whole)
    shutil.rmtree(notes.root / start)
    notes.commit()
    assert found(notes, "walrus ate") == [task]
    assert "The walrus ate it." in str(recall(notes.ledger, ["walrus ate"])["hits"])


def found(notes: Notes, question: str) -> list[str]:
    """Return the records that answer, those with all of the question, by an index that equals memory and a new one."""
    view = notes.ledger.view()
    updated = answers(view)
    told = [hit.id for hit in search(view, [question]).hits if len(hit.words) > 1]
    shutil.rmtree(index.place(notes.ledger.git))
    assert answers(view) == updated == answers(view, written=False)
    assert [hit.id for hit in search(view, [question]).hits if len(hit.words) > 1] == told
    return told


def test_an_archived_run_is_found_with_its_text(play: Play, notes: Notes) -> None:
    run = play.planned("Tame the octopus")
    view = play.ledger.view()
    start = f"{layout.RUNS}/{run}/"
    files = {path: view.read(path) or b"" for path in view.files if path.startswith(start)}
    packed = archive.pack(files)
    path = notes.root / layout.archive_path(run, codec.digest_of(packed))
    path.parent.mkdir(parents=True)
    path.write_bytes(packed)
    notes.commit()
    assert [hit.id for hit in search(notes.ledger, ["octopus"]).hits] == [run]
    shutil.rmtree(notes.root / start)
    notes.commit()
    hits = search(notes.ledger, ["octopus"]).hits
    assert [hit.id for hit in hits] == [run]
    plan = search(notes.ledger, ["Do it, show it"]).hits[0].header
    assert "show it" in text_of(notes.ledger.view(), plan)
    assert_right(notes.ledger)
