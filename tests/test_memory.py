"""Memory and MemoryManager: what the two Python seeds' READMEs show, and what their users rely on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from memento_git import MementoError, Memory, MemoryManager, memory
from memento_git.knowledge.actions import notes
from memento_git.knowledge.note_set import NoteSet
from memento_git.ledger.store import Ledger
from memento_git.model.clock import seconds_of
from memento_git.scopes import user_folder
from memento_git.work.actions.setup import init_ledger
from tests.play import Play, git

TIERED = """
# Initialize the memory system
memory = MemoryManager(root="agent_memory")

# Add memories with different importance levels
memory.add("This is a temporary note", "short")
memory.add("This is somewhat important", "medium")
memory.add("This is a critical fact to remember", "long")

# Retrieve memories related to a query
results = memory.retrieve("important fact", k=3)
print(results)
"""
QUICK = """
m = Memory(); \
m.store('I prefer dark mode in editors', 'fact', 0.8, subject_key='user.theme')
"""
API = """
mem = Memory(path="~/.local/share/memento/memory.db")

# Store a fact (with subject_key for deterministic dedup)
mem.store(
    content="User prefers dark mode",
    kind="fact",
    importance=0.8,
    subject_key="user.theme",
)

# Semantic recall (results are MemoryRecord, sorted by relevance)
results = mem.recall("what theme does the user prefer?")
for r in results:
    print(f"[{r.kind}]  {r.content}")

# Update
mem.update(id=results[0].id, content="User prefers dark mode in editors, light in terminals")

# Forget
mem.forget(id=results[0].id)

# Browse by prefix
for item in mem.browse(subject_key_prefix="user."):
    print(item.content)
"""


def example(text: str, folder: Path) -> str:
    """Run an example in a process of its own, with no network to reach; return what it printed."""
    seal = "import socket\ndef shut(*_, **__): raise AssertionError('network')\nsocket.socket.connect = shut\n"
    code = f"{seal}from memento_git import Memory, MemoryManager\n{text}"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_the_tiered_seeds_example_runs_as_printed(tmp_path: Path) -> None:
    printed = example(TIERED, tmp_path)
    assert printed == "['This is somewhat important', 'This is a critical fact to remember']\n"
    assert [path.name for path in tmp_path.iterdir()] == ["agent_memory"]


def test_the_local_mcp_seeds_examples_run_as_printed(tmp_path: Path) -> None:
    assert example(API, tmp_path) == "[fact]  User prefers dark mode\n"
    folder = Path.home() / ".local/share/memento"
    assert [path.name for path in folder.iterdir()] == ["memory"]
    example(QUICK, tmp_path)
    with Memory() as mine:
        assert [one.content for one in mine.recall("what theme does the user like")] == [
            "I prefer dark mode in editors"
        ]
        assert mine.path == user_folder()
    assert list(tmp_path.iterdir()) == []


def test_a_path_of_a_user_whom_nobody_knows_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory("~nobody-of-that-name/mem") as mem:
        assert mem.path == tmp_path / "~nobody-of-that-name" / "mem"


def test_reading_makes_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mem, Memory() as mine, MemoryManager(tmp_path / "tiers") as manager:
        assert (mem.recall("x"), mem.browse("user."), mem.recent(), mem.forget_prefix("user")) == ([], [], [], [])
        assert mem.stats()["total"] == mine.stats()["total"] == 0
        assert manager.retrieve("x") == []
        for wish in (mem.get, mem.forget, mem.restore, mem.update):
            with pytest.raises(MementoError) as caught:
                wish("note_abcd")
            assert caught.value.token == "note_not_found"
    assert list(tmp_path.iterdir()) == []
    assert not user_folder().exists()


def test_a_memory_stays_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Memory("mem.db") as memory, MemoryManager(root="agent_memory") as tiers:
        monkeypatch.chdir(tmp_path / "elsewhere")
        memory.store("I prefer dark mode.")
        tiers.add("The mirror is run by the university.", "long")
        assert (memory.path, tiers.root) == (tmp_path / "mem", tmp_path / "agent_memory")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_memory_that_was_moved_away_is_not_begun_anew_where_it_was(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mem, MemoryManager(tmp_path / "mem") as tiers:
        mem.store("It is here.")
        tiers.retrieve("here")
        (tmp_path / "mem").rename(tmp_path / "elsewhere")
        calls: tuple[Callable[[], str], ...] = (
            lambda: mem.store("Lost."), lambda: tiers.add("Lost.", "short"), lambda: tiers.add("Lost.", "long"),
        )  # fmt: skip
        for call in calls:
            with pytest.raises(MementoError) as caught:
                call()
            assert caught.value.token == "repository_gone"
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]
    with Memory(tmp_path / "elsewhere") as mem:
        assert [one.content for one in mem.recent()] == ["It is here."]


def test_the_same_key_is_the_same_memory(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mem:
        first = mem.store("Dark", "fact", 0.8, "user.theme", metadata={"app": "editor", "n": 2}, source="chat")
        assert mem.store("Light", subject_key="user.theme") == first
        assert mem.store("Light", subject_key="user.theme") == first
        [one] = mem.browse("user.")
        assert (one.content, one.metadata, one.source) == ("Light", {"app": "editor", "n": 2}, "chat")
        assert mem.store("No key.") == mem.store("No key.")
        mem.forget(first)
        assert mem.store("Dark again", subject_key="user.theme") != first


def test_a_source_that_is_given_again_comes_first(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mine:
        first = mine.store("Tokens live an hour.", subject_key="auth.token", source="chat:1")
        assert mine.store("Tokens live a day.", subject_key="auth.token", source="chat:2") == first
        assert mine.store("Tokens live a week.", subject_key="auth.token") == first
        assert mine.get(first).source == "chat:2"
        assert "- chat:1" in next((tmp_path / "mem").glob(f".memento/knowledge/*/*/{first}.md")).read_text()


def test_another_kind_is_another_memory_in_the_place_of_the_one_that_was_there(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mine:
        first = mine.store(
            "Dark mode.", "preference", subject_key="user.theme", metadata={"by": "Ada"}, source="chat:1"
        )
        assert mine.store("Dark mode, always.", subject_key="user.theme") == first
        assert mine.get(first).kind == "preference"
        second = mine.store("The theme is dark.", "fact", subject_key="user.theme")
        told = mine.get(second)
        assert (second != first, told.kind, told.metadata, told.source) == (True, "fact", {"by": "Ada"}, "chat:1")
        assert ([one.id for one in mine.browse("user.")], mine.get(first).archived) == ([second], True)


def test_what_is_stored_is_recalled_whatever_hid_the_one_of_its_key(tmp_path: Path) -> None:
    with Memory(tmp_path) as mem:
        old = mem.store("The banner is green", "preference", subject_key="ui.banner")
        aside = mem.store("The footer is green", subject_key="ui.footer")
        plain = mem.store("The logo is round")
        with Ledger.open(tmp_path) as ledger:
            ledger.change("note revise", lambda tx: notes.revise_note(tx, old, expires="2020-01-01"))
            for note in (aside, plain):
                ledger.change("note park", partial(notes.park_note, note=note))
        assert mem.recent() == []
        new = mem.store("The banner is blue", subject_key="ui.banner")
        assert mem.store("The footer is blue", subject_key="ui.footer") == aside
        assert mem.store("The logo is round") == plain
        told = [(one.id, one.content) for one in mem.browse("ui.")]
        assert told == [(new, "The banner is blue"), (aside, "The footer is blue")]
        assert (new != old, mem.get(new).kind, mem.get(old).archived) == (True, "preference", True)
        assert [one.id for one in mem.recall("footer")] == [aside]
        assert mem.stats()["active"] == 3


def test_metadata_come_back_as_they_were_given(tmp_path: Path) -> None:
    given = {"x=y": 3, "x": "y=3", "a=b=c": ["=", {"d": None}], "plain": True, "n": 0.5}
    with Memory(tmp_path / "mem") as mine:
        assert mine.get(mine.store("Tokens live an hour.", metadata=given)).metadata == given


def test_what_is_forgotten_is_found_no_more_and_can_be_restored(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mem:
        one = mem.store("The staging server is called Otter.", subject_key="project.staging")
        two = mem.store("The production server is called Beaver.", subject_key="project.production")
        assert [record.id for record in mem.recall("otter staging")] == [one]
        mem.forget(one)
        assert mem.recall("otter staging") == []
        assert mem.get(one).archived
        assert mem.stats() == {
            "path": str(tmp_path / "mem"), "total": 2, "active": 1, "archived": 1, "kinds": {"fact": 1},
        }  # fmt: skip
        assert mem.restore(one).content == "The staging server is called Otter."
        for none in ("", "*", ".", " "):
            with pytest.raises(MementoError) as refused:
                mem.forget_prefix(none)
            assert refused.value.token == "key_prefix_empty"
        kept = mem.store("Nobody gave this a key.")
        assert mem.forget_prefix("project.") == [one, two]
        mem.forget(kept)
        assert mem.recent() == []
        with pytest.raises(memory.HardForget) as caught:
            mem.forget(one, hard=True)
        assert (caught.value.token, "purge" in caught.value.hint) == ("hard_forget", True)


def test_many_are_kept_in_one_commit_or_not_at_all(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mem:
        names = mem.store_many([{"content": "One is odd."}, {"content": "Two is even.", "kind": "lesson"}])
        assert int(git(tmp_path / "mem", "rev-list", "--count", "HEAD")) == 2
        with pytest.raises(MementoError):
            mem.store_many([{"content": "Three is odd."}, {"content": "Four", "kind": "nonsense"}])
        assert mem.stats()["total"] == 2
        answers = mem.recall_many(["odd", "even", "zebra"])
        assert [[one.content for one in answer] for answer in answers] == [["One is odd."], ["Two is even."], []]
        assert mem.store_many([]) == []
        assert mem.update(names[0], importance=0.9, metadata={"seen": True}).importance == 0.9
        assert mem.get(names[0]).metadata == {"seen": True}
        assert mem.update(names[0], importance=0.8).metadata == {"seen": True}
        assert mem.update(names[0], metadata={}).metadata == {}


def test_a_secret_is_never_stored(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mem, pytest.raises(MementoError) as caught:
        mem.store("The token is ghp_" + "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R")
    assert caught.value.token == "secret_found"


@pytest.mark.parametrize("content", ["", "ghp_" + "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"])
def test_what_is_refused_makes_nothing(tmp_path: Path, content: str) -> None:
    with Memory(tmp_path / "mem") as mem, pytest.raises(MementoError):
        mem.store(content)
    with MemoryManager(tmp_path / "tiers") as tiers, pytest.raises(MementoError):
        tiers.add(content, "long")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["file/below", "n" * 300, "n\0l"])
def test_a_folder_that_cannot_be_made_is_refused_by_its_name(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("a")
    with Memory(tmp_path / path) as mem, pytest.raises(MementoError) as caught:
        mem.store("x is y")
    assert caught.value.token == "folder_unusable"
    assert str(tmp_path / path) in caught.value.message


def test_a_folder_of_somebodys_files_is_not_made_a_repository(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")
    with Memory(tmp_path / "files") as mem, pytest.raises(MementoError) as caught:
        mem.store("x is y")
    assert caught.value.token == "folder_not_empty"
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["a.txt"]


@pytest.mark.parametrize("path", [".", "", "../mem"])
def test_an_empty_folder_becomes_a_repository_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Storing in the folder that one stands in ended with EBUSY, or put another folder in its place."""
    (tmp_path / "mem").mkdir()
    monkeypatch.chdir(tmp_path / "mem")
    before = (tmp_path / "mem").stat().st_ino
    with Memory(path or Path.cwd()) as mem:
        mem.store("I like tea.")
    assert ((tmp_path / "mem").stat().st_ino, Path(".git").is_dir()) == (before, True)
    assert sorted(one.name for one in Path().iterdir()) == [".git", ".memento"]
    with MemoryManager(Path.cwd()) as manager:
        manager.add("I like coffee.", "long")


def test_an_empty_folder_within_a_project_keeps_its_own(play: Play) -> None:
    before = git(play.root, "rev-parse", "HEAD")
    (play.root / "mem").mkdir()
    with Memory(play.root / "mem") as mem:
        mem.store("I like tea.")
    assert (git(play.root, "rev-parse", "HEAD"), (play.root / "mem" / ".git").is_dir()) == (before, True)


def test_a_repository_without_a_commit_is_somebodys_when_files_are_in_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("a = 1\n")
    git(tmp_path, "add", "a.py")
    for _ in range(2):
        with Memory(tmp_path) as mem, pytest.raises(MementoError) as caught:
            mem.store("I like tea.")
        assert caught.value.token == "no_ledger"
        assert git(tmp_path, "rev-parse", "--verify", "HEAD", check=False) == ""
        (tmp_path / "a.py").unlink(missing_ok=True)


def test_a_project_has_its_memories_in_its_ledger_and_none_is_made_in_it(repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "a.py").write_text("")
    with Memory(repo) as mem, pytest.raises(MementoError) as caught:
        mem.store("x is y")
    assert caught.value.token == "no_ledger"
    with Ledger.open(repo) as ledger:
        init_ledger(ledger)
    with Memory(repo / "src") as mem:
        mem.store("Names are checked in the model.")
    with Memory(repo) as mem:
        assert [one.content for one in mem.recent()] == ["Names are checked in the model."]
    assert git(repo, "log", "-1", "--format=%s").startswith("memento: note add")


def test_the_seeds_data_base_is_left_alone_and_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "memory.db"
    file.write_bytes(b"SQLite format 3\0")
    monkeypatch.setenv("MEMENTO_PATH", str(file))
    with pytest.warns(UserWarning, match="memento import --from memento-sqlite"), Memory() as mem:
        mem.store("x is y")
    assert file.read_bytes() == b"SQLite format 3\0"
    with Memory() as mem:
        assert (mem.path, mem.stats()["total"]) == (tmp_path / "memory", 1)


def test_the_tiers_are_kept_as_their_names_say(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "mem") as manager:
        manager.add("The mirror is down today.")
        manager.add("The mirror moves next month.", "medium")
        manager.add("The mirror is run by the university.", "long")
        found = manager.retrieve("mirror", k=9)
        assert {one.tier for one in found} == {"short", "medium", "long"}
        assert manager.retrieve("mirror", k=1) == [found[0]]
        assert manager.retrieve("zebra crossing") == []
        with pytest.raises(MementoError) as caught:
            manager.add("x", "eternal")
    assert caught.value.token == "tier_unknown"
    assert int(git(tmp_path / "mem", "rev-list", "--count", "HEAD")) == 3
    assert git(tmp_path / "mem", "status", "--porcelain") == ""
    with MemoryManager(tmp_path / "mem") as again:
        assert set(again.retrieve("mirror", k=9)) == set(found)


def test_what_has_the_same_words_hides_nothing(tmp_path: Path) -> None:
    said = [
        "The payments service depends on the ledger service.", "The ledger service depends on the payments service.",
        "Nightly backups of the orders database run on the replica host.",
        "Nightly backups of the staging orders database run on the replica host.",
    ]  # fmt: skip
    with Memory(tmp_path / "mem") as mem, MemoryManager(tmp_path / "tiers") as manager:
        for text in said:
            mem.store(text)
            manager.add(text)
        mem.store(said[0].upper(), subject_key="pay.needs")
        manager.add(said[0].upper())
        manager.add(said[0])
        for query, wanted in (("payments ledger", [*said[:2], said[0].upper()]), ("nightly backups", said[2:])):
            assert sorted(one.content for one in mem.recall(query)) == sorted(wanted)
            assert sorted(manager.retrieve(query)) == sorted(wanted)


def test_what_would_expire_lasts_once_it_is_added_as_long(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "mem") as manager:
        first = manager.add("The mirror moves next month.", "medium")
        assert manager.add("The mirror moves next month.", "long") == first
        assert [one.tier for one in manager.retrieve("mirror moves")] == ["long"]
        assert manager.add("The mirror moves next month.", "medium") == first
        assert manager.add("The mirror moves next month.", "long") == first
        assert [one.tier for one in manager.retrieve("mirror moves")] == ["long"]
    assert git(tmp_path / "mem", "rev-list", "--count", "HEAD") == "3"


def test_what_is_added_as_medium_again_lasts_longer(tmp_path: Path) -> None:
    with MemoryManager(tmp_path / "memory") as memory:
        note = memory.add("Ada drinks tea.", "medium")
        with Ledger.open(memory.root) as ledger:
            ledger.change("note revise", lambda tx: notes.revise_note(tx, note, expires="2d"))
            assert memory.add("Ada drinks tea.", "medium") == note
            assert seconds_of(NoteSet(ledger.view()).note(note).data["expires"]) > seconds_of(ledger.now()) + 3 * 86400


def test_the_same_said_again_takes_what_is_given_now(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        first = memory.store("Bob prefers tea", importance=0.9, metadata={"who": "bob"}, source="mail")
        assert memory.store("Bob prefers tea") == first
        assert memory.get(first)[3:7] == (0.9, "", "mail", {"who": "bob"})
        assert memory.store("Bob prefers tea", "fact", 0.7, metadata={"who": "b"}, source="call") == first
        assert memory.get(first)[3:7] == (0.7, "", "call", {"who": "b"})
        event = memory.store("Bob prefers tea", "event")
        assert (memory.get(event).kind, memory.get(first).archived) == ("event", True)
        assert [one.id for one in memory.recall("tea")] == [event]


def test_a_memory_without_a_key_is_none_that_has_one(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        keyed, plain = memory.store("I like tea", subject_key="user.drink"), memory.store("I like tea")
        assert memory.store("I like tea") == plain != keyed
        memory.store("I like coffee", subject_key="user.drink")
        assert [one.content for one in memory.recall("tea")] == ["I like tea"]


def test_what_would_expire_lasts_once_it_is_stored(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        for key in ("", "user.drink"):
            note = memory.store("I like tea", subject_key=key)
            with Ledger.open(memory.path) as ledger:
                ledger.change("note revise", lambda tx, one=note: notes.revise_note(tx, one, expires="2d"))  # type: ignore[misc]
                assert memory.store("I like tea", subject_key=key) == note
                held = NoteSet(ledger.view())
                assert held.expires(held.note(note)) == ""


def test_what_was_parked_is_resumed_once_it_is_added_again(tmp_path: Path) -> None:
    with MemoryManager(tmp_path) as memory:
        note = memory.add("The mirror is down", "medium")
        with Ledger.open(tmp_path) as ledger:
            ledger.change("note park", lambda tx: notes.park_note(tx, note))
        assert memory.retrieve("mirror") == []
        assert memory.add("The mirror is down", "long") == note
        assert [(one.id, one.tier) for one in memory.retrieve("mirror")] == [(note, "long")]


def test_commits_bear_a_name_where_git_knows_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{what}")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    with Memory(tmp_path / "mem") as mem:
        mem.store("x is y")
    with Memory(tmp_path / "mem") as again:
        again.store("y is z")
    names = git(tmp_path / "mem", "log", "--format=%ae").splitlines()
    assert len(names) == 3
    assert all(name.endswith("@localhost") for name in names)
    assert "localhost" not in (tmp_path / "mem" / ".git" / "config").read_text()


def test_many_processes_may_begin_at_once(tmp_path: Path) -> None:
    code = "import sys; from memento_git import Memory; Memory('mem').store(f'Server {sys.argv[1]} is up.')"
    started = [subprocess.Popen([sys.executable, "-c", code, str(n)], cwd=tmp_path) for n in range(4)]
    assert [one.wait() for one in started] == [0, 0, 0, 0]
    with Memory(tmp_path / "mem") as mem:
        assert len(mem.recent()) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["mem"]
    assert git(tmp_path / "mem", "log", "--format=%s").count("memento: init") == 1


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda mem, _: mem.store(5), "Memory.store: content is 5; it takes str"),
        (lambda mem, _: mem.store(b"x"), "Memory.store: content is a bytes; it takes str"),
        (lambda mem, _: mem.store("x", importance=True), "Memory.store: importance is True; it takes float"),
        (
            lambda mem, _: mem.store("x", metadata=[1]),
            "Memory.store: metadata is a list; it takes Mapping[str, Any] | None",
        ),
        (lambda mem, _: mem.store("x", metadata={"a": b""}), "metadata: Object of type bytes is not JSON serializable"),
        (lambda mem, _: mem.store(), "Memory.store: missing a required argument: 'content'"),
        (lambda mem, _: mem.store_many(["x"]), "Memory.store_many: each item is a mapping of what store takes"),
        (
            lambda mem, _: mem.store_many([{"content": "x", "text": "x"}]),
            "Memory.store: got an unexpected keyword argument 'text'",
        ),
        (lambda mem, _: mem.store_many([{"content": 5}]), "Memory.store: content is 5; it takes str"),
        (lambda mem, _: mem.recall(None), "Memory.recall: query is a NoneType; it takes str"),
        (lambda mem, _: mem.recall("x", k=-1), "Memory.recall: k is -1; it takes int from 0 on"),
        (lambda mem, _: mem.recall_many("dark"), "Memory.recall_many: queries is a str; it takes Sequence[str]"),
        (lambda mem, _: mem.recent(-1), "Memory.recent: limit is -1; it takes int from 0 on"),
        (lambda mem, _: mem.get(5), "Memory.get: id is 5; it takes str"),
        (lambda mem, _: mem.update("db", content=""), "content: it is empty"),
        (lambda mem, _: mem.update("db", subject_key=""), "subject_key: it is empty"),
        (lambda _, tiers: tiers.add(5), "MemoryManager.add: text is 5; it takes str"),
        (lambda _, tiers: tiers.add("x", tier=1), "MemoryManager.add: tier is 1; it takes str"),
        (lambda _, tiers: tiers.retrieve("x", k=-1), "MemoryManager.retrieve: k is -1; it takes int from 0 on"),
        (lambda *_: Memory(*[5]), "Memory: path is 5; it takes str | Path | None"),  # type: ignore[arg-type]
        (lambda *_: MemoryManager(*[b"x"]), "MemoryManager: root is a bytes; it takes str | Path"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_is_of_another_type_is_refused_at_the_door(
    call: Callable[[Memory, MemoryManager], object], told: str, tmp_path: Path
) -> None:
    with Memory(tmp_path / "mem") as mem, MemoryManager(tmp_path / "tiers") as manager:
        with pytest.raises(MementoError) as caught:
            call(mem, manager)
        assert told in str(caught.value)
        assert isinstance(caught.value, TypeError) is (caught.value.token == "argument_invalid")
        assert mem.stats()["total"] == 0


def test_none_is_what_is_not_given(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as mem:
        made = mem.store("Dark.", None, None, None, None, None)  # type: ignore[arg-type]
        [one] = mem.recall("dark", None)  # type: ignore[arg-type]
        assert (one.id, one.kind, one.importance) == (made, "fact", 0.5)
        assert mem.update(made, content=None, importance=0.9).importance == 0.9


def test_what_a_memory_said_whose_place_another_took_leads_to_that_one(tmp_path: Path) -> None:
    with Memory(tmp_path / "mine") as mine:
        old = mine.store("The gateway for payments is Acme.", "fact", subject_key="cards")
        new = mine.store("Cards are taken through Zed.", "preference", subject_key="cards")
        assert new != old
        for query in ("payments gateway Acme", "cards through Zed", "gateway for cards"):
            assert [one.id for one in mine.recall(query)] == [new], query
        mine.forget(new)
        assert mine.recall("payments gateway Acme") == []
