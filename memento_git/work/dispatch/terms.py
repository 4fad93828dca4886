"""The terms of a task: what it asked as it was handed out, or rejected, and whether it asks something else by now."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from memento_git.ledger import codec
from memento_git.model.states import TRUSTS
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from memento_git.model.work import Event, Prose
    from memento_git.work.state import RunState


ITEM: Final = r"[ ]*(?:[-+*]|\d+[.)]) +"
ALONE: Final = r"[ ]*(?:#{1,6}(?: |$)|[>|]|```|~~~|(?:=+|-{2,}|[*_]{3,}) *$)"
"""A heading, a line of a quote or table, what opens or ends code, a rule: no wrapping makes it part of another line."""
LAID: Final = rf"(?m)^(?:[ \t]|{ALONE})"  # else all parts of a text lie side by side
MOST_LINES: Final = 40  # lines of a text that are known one by one; all others count as one
UNMET: Final = "No longer unmet: "  # how a criterion begins that a repair has for what was unmet


class Terms(NamedTuple):
    """What a task asked: digests of its kind, risk and files, of each of its words, and of all that proves it."""

    about: str = ""
    words: tuple[str, ...] = ()
    proof: tuple[str, ...] = ()

    def lost(self, known: Container[str]) -> list[str]:
        """Return which words are not among what is known, as people call them: a title comes first, then criteria."""
        kinds = ["title", *["a criterion"] * self._criteria, *["text"] * len(self.words)]
        return list(dict.fromkeys(kind for kind, one in zip(kinds, self.words, strict=False) if one not in known))

    def is_said(self, now: Prose, then: Prose | None) -> bool:
        """Tell whether a text says in its order what it said `then`, or where nobody knows that, by its digests."""
        return are_kept(then, now) if then else _in_order(self.words[1 + self._criteria :], _words(now))

    @property
    def _criteria(self) -> int:
        return sum(_count(number) in self.proof for number in range(1, len(self.words)))


def digest(prose: Prose) -> str:
    """Return the digest of what a run or task asks: its words, however they are wrapped, and what policy goes by.

    Where words lie in items of lists, or stand alone in the midst of others, that is part of it. Ledgers hold it: one
    that is made otherwise unproves what was handed out before.
    """
    asked: list[object] = [prose.title, prose.list("criteria"), prose.data.get("verify") or {}, parts(prose)]
    asked += [*_about(prose), *filter(None, [prose.list("constraints")])]
    if re.search(LAID, prose.body) and (laid := shape(prose)) != [(0, words) for words in parts(prose)]:
        asked.append(laid)
    return _digest(asked)


def parts(prose: Prose) -> list[str]:
    """Return the paragraphs of a text and the items of its lists, each as one line."""
    found = (" ".join(part.split()) for part in re.split(r"\n(?=[ \t]*(?:\n|[-+*] |\d+[.)] ))", prose.body))
    return [part for part in found if part]


def shape(prose: Prose) -> list[tuple[int, str]]:
    """Return the parts of a text, headings and the like apart, each with how many items of lists it lies in."""
    found: list[tuple[int, str]] = []
    for depth, begins, words in _laid(prose):
        found.append((depth, words) if begins else (found[-1][0], f"{found.pop()[1]} {words}"))
    return found


def _laid(prose: Prose) -> Iterator[tuple[int, bool, str]]:
    """Yield the words of each line, with how many items it lies in and whether it begins a part."""
    within: list[int] = []
    goes_on = False
    for line in prose.body.expandtabs(4).splitlines():
        words, item, alone = " ".join(line.split()), re.match(ITEM, line), re.match(ALONE, line)
        begins = bool(item or alone or not goes_on)
        goes_on = bool(words) and not alone
        if words and begins:
            indent = len(line) - len(line.lstrip())
            within = [column for column in within if column <= indent]
        if words:
            yield len(within), begins, words
        within += [item.end()] if item else []


def are_kept(old: Prose, new: Prose) -> bool:
    """Tell whether a text says all that an older one says, in its order and as deep in its lists.

    It does so line by line, or as it is wrapped now.
    """
    lines = ([(depth, words) for depth, _, words in _laid(text)] for text in (old, new))
    return _in_order(*lines) or _in_order(shape(old), shape(new))


def is_rewrapped(old: Prose, new: Prose) -> bool:
    """Tell whether a text has the words of an older one, in its order, and is cut into other lines at the most."""
    return old.body.split() == new.body.split() and are_kept(old, new)


def _in_order(wanted: Iterable[object], told: Iterable[object]) -> bool:
    """Tell whether all of some lines are among others, none before one that it came after."""
    left = iter(told)
    return all(one in left for one in wanted)


def _about(prose: Prose) -> list[object]:
    """Return what policy goes by: kind, risk and files."""
    return [prose.data.get("kind") or "", prose.data.get("risk") or "", prose.list("files")]


def _digest(told: Sequence[object]) -> str:
    return codec.digest_of(json.dumps(told, sort_keys=True, ensure_ascii=False).encode())


def are_others(state: RunState, task: str, dispatch: str) -> bool:
    """Tell whether a task asks something else than when it was handed out."""
    opened = state.opened(dispatch)
    known = opened.get("terms") if opened is not None else ""
    return known not in ("", codec.REDACTED) and known != digest(state.prose(task))


def asks(prose: Prose) -> list[str]:
    """Return digests of what a task asks: of its kind, risk and files, of its words, then of what proves it.

    Whatever asks more has all the others as well; a command in less time does not.
    """
    return [_digest(_about(prose)), *_words(prose), *_counts(prose), *_proof(prose)]


def _words(prose: Prose) -> list[str]:
    """Return the digests of a title, of each criterion or constraint, and of each line of a text."""
    lines = [told for line in prose.body.splitlines() if (told := line.strip())]
    wanted = sorted(prose.list("criteria"), key=lambda line: line.startswith(UNMET))  # what was unmet comes last
    parts = [("title", prose.title), *(("criterion", line) for line in wanted)]
    parts += [("constraint", line) for line in prose.list("constraints")]
    parts += [("text", told) for told in (*lines[:MOST_LINES], "\n".join(lines[MOST_LINES:])) if told]
    return list(dict.fromkeys(map(_digest, parts)))


def criteria(prose: Prose) -> int:
    """Return how many criteria a task has beside what was unmet of another one."""
    return len({line for line in prose.list("criteria") if not line.startswith(UNMET)})


def _counts(prose: Prose) -> list[str]:
    """Return a digest for each number of criteria up to a task's, so that more of them have all of fewer."""
    return [_count(number) for number in range(criteria(prose) + 1)]


def _count(number: int) -> str:
    return _digest(("criteria", number))


def _proof(prose: Prose) -> list[str]:
    from memento_git.work.proof.verification import united

    verify = united({}, [("", prose.data.get("verify") or {})])
    parts: list[tuple[object, ...]] = [("evidence", kind) for kind in verify.evidence]
    parts += [("trust", word) for word in (TRUSTS[TRUSTS.index(verify.trust) :] if verify.trust else ())]
    for one in verify.commands:
        parts += [("command", *one[:2]), *(("report", *one[:2], report) for report in one.reports)]
        parts += [("timeout", *one[:2], one.timeout)] if one.timeout else []
    return list(dict.fromkeys(map(_digest, parts)))


def text_of(event: Event, texts: Iterable[Prose]) -> Prose | None:
    """Return the first of some texts that the terms of a dispatch or rejection are of."""
    known = event.get("terms")
    return next((one for one in texts if known == digest(one)), None) if known not in ("", codec.REDACTED) else None


def asked(event: Event, prose: Prose | None) -> Terms:
    """Return what a task asked at its dispatch or rejection, by the text that it is of; nothing where nobody knows.

    Where that text is not known, it is what the event names; where that does not tell words from proof, as one that was
    written by hand may not, all of it counts as proof.
    """
    about, *rest = (asks(prose) if prose else event.data.get("asks")) or ("",)
    at = rest.index(_count(0)) if _count(0) in rest else 0
    return Terms(about, tuple(rest[:at]), tuple(rest[at:]))


def are_named(event: Event, prose: Prose | None) -> bool:
    """Tell whether a dispatch names all that a task asked, by the text that its terms are of, if that is known."""
    known, told = event.get("terms"), {*(event.data.get("asks") or ())}
    if known in ("", codec.REDACTED):
        return False
    if prose is None:
        return bool(asked(event, None).words)
    return known == digest(prose) and told.issuperset(asks(prose))


def of_rejected(state: RunState, task: str) -> Iterator[Event]:
    """Yield each rejection of a task, with the dispatches of the completions that it rejected."""
    for rejected in state.folded(task).legal("rejected"):
        yield rejected
        done = done_before(state, rejected)
        yield from filter(None, (state.opened(event.dispatch) for event in done))


def done_before(state: RunState, verdict: Event) -> list[Event]:
    """Return the completions of a task that a verdict on it had seen, and that were not reopened by then."""
    seen = state.fold.seen_by(verdict)
    past = [one for one in state.folded(verdict.of).events if one.verdict == "legal" and one.event.id in seen]
    reopened = frozenset[str]().union(*(one.past for one in past if one.event.do == "reopened"))
    return [one.event for one in past if one.event.do == "completed" and one.event.id not in reopened]


def handed_out(state: RunState, task: str) -> list[Event]:
    """Return each dispatch of a task that is legal."""
    return state.folded(task).legal("dispatched")
