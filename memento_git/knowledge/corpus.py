"""All that can be found at one moment: an index, less what went since, and what came since, as if it were one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memento_git.knowledge.index_entries import Entry, Header


class Damaged(Exception):
    """The index's files do not hold what they held when they were written."""


class SearchIndex(Protocol):
    """What documents are looked up in."""

    documents: int
    length: int

    def postings(self, word: str) -> list[tuple[int, float, int]]: ...

    def doc_frequency(self, word: str) -> int: ...

    def marked(self, mark: str) -> list[int]: ...

    def length_of(self, number: int) -> int: ...

    def header(self, number: int) -> Header: ...

    def numbers(self) -> Iterable[int]: ...


class Corpus:
    """The documents of a tree; those that only memory holds have numbers below zero.

    `behind` is in how many files memory stands in for the index.
    """

    def __init__(self, index: SearchIndex | None, gone: Collection[str] = (), added: Iterable[Entry] = ()) -> None:
        self.behind = len(gone)
        self._index = index
        self._added: dict[int, Entry] = {-number: entry for number, entry in enumerate(added, 1)}
        self._hidden = {number for source in gone for number in (index.marked(f"source:{source}") if index else ())}
        self._headers: dict[int, Header] = {}
        self.documents = index.documents if index else 0
        self.length = index.length if index else 0
        lengths = [index.length_of(number) for number in self._hidden] if index else []
        self.documents += sum(bool(entry.length) for entry in self._added.values()) - sum(map(bool, lengths))
        self.length += sum(entry.length for entry in self._added.values()) - sum(lengths)

    def postings(self, word: str) -> Sequence[tuple[int, float, int]]:
        """Return document, weight and document's length for each that has a word."""
        found = self._index.postings(word) if self._index else []
        if self._hidden:
            found = [posting for posting in found if posting[0] not in self._hidden]
        for number, entry in self._added.items():
            if (weight := entry.weights.get(word)) is not None:
                found.append((number, float(weight), entry.length))
        return found

    def doc_frequency(self, word: str) -> int:
        """Return how many documents have a word, at most, without reading which."""
        added = sum(word in entry.weights for entry in self._added.values())
        return added + (self._index.doc_frequency(word) if self._index else 0)

    def marked(self, mark: str) -> list[int]:
        """Return the documents that bear a mark."""
        found = [number for number in self._index.marked(mark) if number not in self._hidden] if self._index else []
        return found + [number for number, entry in self._added.items() if mark in entry.marks]

    def headers(self) -> Iterator[Header]:
        """Yield what each document is."""
        held = self._index.numbers() if self._index else ()
        yield from (self.header(number) for number in (*held, *self._added) if number not in self._hidden)

    def header(self, number: int) -> Header:
        """Return what a document is."""
        if number not in self._headers:
            held = self._added[number].header if number < 0 else self._index.header(number) if self._index else None
            if held is None:
                raise KeyError(number)
            self._headers[number] = held
        return self._headers[number]
