"""What voids and settling events take out, and what comes of it when one of them is taken out itself."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from memento_git.folding.fold import Fold, Judged
from memento_git.folding.lanes import STATUS, merge
from memento_git.folding.voided_events import is_out, undone, undone_by, voided
from memento_git.model.ids import Ref
from memento_git.model.work import Event
from memento_git.review.voided_dependencies import rested_on
from memento_git.work.transitions import judge
from tests.tale import ADA, RUN, TASK, contested, planned

if TYPE_CHECKING:
    from memento_git.ledger.events import EventLog


def told(name: str, *lanes: str, past: tuple[str, ...] = (), keep: str = "") -> Judged:
    data = {"keep": keep} if keep else {}
    event = Event(name, RUN, "settled" if keep else "said", TASK, "", ADA, (), data, "", name)
    return Judged(event, "legal", "", "", dict.fromkeys(lanes, (name,)), (), frozenset(past))


def test_what_a_settling_took_out_stays_out_where_only_another_lane_of_it_is_overruled() -> None:
    lost, kept = told("lost", "status"), told("kept", "status", "lease")
    first = told("first", "status", "lease", past=("lost", "kept"), keep="kept")
    other = told("other", "lease")
    over = told("over", "lease", past=("lost", "kept", "first", "other"), keep="other")
    assert "lost" in undone([lost, kept, first])
    assert "lost" in undone([lost, kept, first, other, over])
    went_on = told("went_on", "status", "lease", past=("lost",))
    whole = told("whole", "lease", "status", past=("lost", "kept", "first", "other", "went_on"), keep="went_on")
    assert "lost" not in undone([lost, kept, first, other, went_on, whole])
    on = told("lost", "status", "lease", past=("other",))
    assert undone([on, kept, first, other, over])["lost"] == {"status"}


def test_a_settling_takes_out_what_disagreed_on_its_lanes_and_nothing_before_or_after_what_it_keeps() -> None:
    before, kept, after = told("before", "status"), told("kept", "status", past=("before",)), told("after", "status")
    after = after._replace(past=frozenset(("before", "kept")))
    lost, elsewhere = told("lost", "status", "lease"), told("elsewhere", "lease")
    seen = ("before", "kept", "after", "lost", "elsewhere", "unknown")
    settled = told("settled", "status", "selected", past=seen, keep="kept")
    events = [before, kept, after, lost, elsewhere, settled]
    assert undone_by(settled, {one.event.id: one for one in events}) == {"lost": {"status"}}
    assert undone(events) == {"lost": {"status"}}


@pytest.mark.parametrize(
    ("unseen", "further", "gone"),
    [
        ((), (), {"root": {"lease"}, "one": {"lease"}}),
        (("on",), (), {"root": {"lease"}, "one": {"lease"}, "on": {"status"}}),
        ((), ("third",), {"root": {"lease"}, "one": {"lease"}, "third": {"status"}}),
    ],
)  # fmt: skip
def test_settlings_that_had_not_seen_each_other_take_out_neither_of_the_sides_that_they_keep(
    unseen: tuple[str, ...], further: tuple[str, ...], gone: dict[str, set[str]]
) -> None:
    """On the lanes of both; what one of them kept without having seen it is out, as is a third side."""
    root, one = told("root", "status", "lease"), told("one", "status", "lease", past=("root",))
    on, two = told("on", "status", past=("root", "one")), told("two", "status", "lease")
    third = [told(name, "status") for name in further]
    seen = ("root", "one", "on", "two", *further)
    against = told("against", "status", "lease", past=seen, keep="two")
    settled = told("settled", "status", past=tuple({*seen} - {*unseen}), keep="one")
    for events in itertools.permutations([root, one, on, two, *third, against, settled]):
        assert undone(events) == gone


def test_how_far_a_settling_stands_is_known_before_that_of_what_it_keeps() -> None:
    root, one, two = told("root", "status"), told("one", "lease"), told("two", "lease")
    first = told("first", "status", past=("root", "two"), keep="two")
    against = told("against", "status", past=("root", "one"), keep="one")
    keeps = told("keeps", "status", past=("root", "one", "two", "first", "against"), keep="against")
    back = told("back", "status", "lease", past=("root", "two", "first"), keep="root")
    over = told("over", "lease", past=("root", "one", "two", "first", "against", "back"), keep="one")
    events = [root, one, two, first, against, keeps, back, over]
    gone = {"root": {"status"}, "two": {"lease"}, "back": {"lease"}}
    assert undone(events) == undone(events[::-1]) == gone


def test_what_a_kept_side_had_itself_taken_out_is_not_kept_with_it() -> None:
    old, base = told("old", "status"), told("base", "status")
    first = told("first", "status", past=("old", "base"), keep="base")
    one, two = told("one", "status", past=("old", "base", "first")), told("two", "status")
    seen = ("old", "base", "first", "one", "two")
    both = [told("against", "status", past=seen, keep="two"), told("settled", "status", past=seen, keep="one")]
    assert undone([old, base, first, one, two, *both]) == {"old": {"status"}}


@pytest.mark.parametrize(
    ("lanes", "out", "is_it"),
    [
        (("status", "lease"), (), False), (("status", "lease"), ("status",), False),
        (("status", "lease"), ("lease", "status"), True), (("status",), ("lease", "status"), True),
        (("plan:p", "canonical"), ("plan:p",), False), (("plan:p", "canonical"), ("canonical",), True),
        ((), (), False),
    ],
)  # fmt: skip
def test_an_event_is_out_when_none_of_its_lanes_holds_and_an_approval_without_the_plan(
    lanes: tuple[str, ...], out: tuple[str, ...], *, is_it: bool
) -> None:
    assert is_out(told("said", *lanes), out) is is_it


@pytest.mark.parametrize(
    ("voids", "gone"),
    [
        ({}, ""), ({"a": "x"}, "x"), ({"b": "a", "a": "x"}, "a"), ({"a": "x", "b": "a", "c": "b"}, "bx"),
        ({"c": "b", "b": "a", "a": "x", "d": "c"}, "ac"), ({"a": "x", "b": "x", "c": "a"}, "ax"),
        ({"a": "x", "b": "a", "c": "a"}, "a"), ({"a": "b", "b": "a"}, ""), ({"a": "b", "b": "a", "c": "a"}, "a"),
    ],
)  # fmt: skip
def test_a_void_that_is_voided_takes_nothing_out(voids: dict[str, str], gone: str) -> None:
    for order in itertools.permutations(voids.items()):
        assert voided(dict(order)) == {*gone}


def test_voids_of_one_another_are_judged_all_the_same() -> None:
    def void(name: str, target: str, after: Ref, absent: Ref) -> Judged:
        data = {"target": target, "absent": [str(absent)]}
        event = Event(name, RUN, "voided", TASK, "", ADA, (after,), data, "", name)
        return Judged(event, "legal", "", "", {"status": (name,)}, (), frozenset({after.id}))

    one, other = (Ref(f"event_{letter * 12}", letter * 32) for letter in "ab")
    told = [void("first", "second", one, other), void("second", "first", other, one)]
    assert undone(told) == undone(told[::-1])
    assert undone([void("own", "own", one, one)]) == {}


def test_a_voided_void_leaves_the_contest_as_it_was() -> None:
    tale, opened, ada, bob = contested()
    first = tale.tell("voided", target=ada, reason="why")
    on = tale.complete(opened, after=[ada])
    tale.tell("voided", target=first, reason="why", after=[first, on])
    assert set(tale.folded().lanes.contested["status"]) == {on, bob}
    assert not {ada, bob, on} & tale.folded().undone.keys()


def test_a_void_of_a_void_that_was_incomplete_holds_when_its_past_arrives() -> None:
    tale, opened, ada, bob = contested()
    first = tale.tell("voided", target=ada, reason="why")
    absent = [str(tale.events[bob].ref)]
    tale.tell("voided", target=first, absent=absent, reason="why", after=[ada])
    assert tale.folded().lanes.contested
    assert tale.dispatch_state(opened)[0] == "contested"
    assert [*tale.folded().undone] == [first]


def test_an_illegal_event_is_trouble_again_when_its_void_is_voided() -> None:
    tale = planned()
    bad = tale.tell("accepted", text="", reads=(RUN,))
    extra = tale.tell("blocked", reason="x", after=())
    first = tale.tell("voided", target=bad, reason="why")
    absent = [str(tale.events[extra].ref)]
    tale.tell("voided", target=first, absent=absent, reason="why", after=[bad])
    assert [seen.event.id for seen in tale.folded().illegal] == [bad]


def test_an_illegal_event_is_trouble_no_more_when_a_void_had_not_seen_it_or_an_illegal_void_names_its_void() -> None:
    tale = planned()
    bad = tale.tell("accepted", text="", reads=(RUN,))
    first = tale.tell("voided", target=bad, reason="why", after=())
    assert tale.folded().illegal == ()
    wrong = tale.tell("voided", target=first, reason="why")
    assert [seen.event.id for seen in tale.folded().illegal] == [wrong]


def test_a_void_of_what_is_legal_takes_nothing_out() -> None:
    tale = planned()
    wrong = tale.tell("voided", target=tale.done(), reason="why")
    assert tale.verdict(wrong) == ("illegal", "event_is_legal")
    assert tale.folded().undone == {}


def rested(fold: Fold) -> dict[str, set[str]]:
    return rested_on(cast("EventLog", SimpleNamespace(fold=fold, folded=fold.group)), TASK)


@pytest.mark.parametrize(
    ("verb", "is_seen", "is_resting"),
    [("reopened", False, True), ("reopened", True, False), ("passed", False, False), ("redacted", False, False)],
)
def test_what_stands_and_goes_on_from_what_was_taken_out_rests_on_that(
    verb: str, *, is_seen: bool, is_resting: bool
) -> None:
    """Neither what was taken out with it does, nor a verdict of a gate, nor what has no part in how the task stands."""
    tale = planned()
    done = tale.done()
    lost, kept = tale.tell("rejected", after=[done], unmet=["x"]), tale.tell("accepted", after=[done], text="")
    more = {"passed": {"gate": "quality_review"}, "redacted": {"target": f"event_{'9' * 12}@{'0' * 32}"}}
    on = tale.tell(verb, after=[lost], reason="why", **more.get(verb, {}))
    settled = tale.tell("settled", after=[kept, on if is_seen else lost], keep=kept, reason="why")
    assert [tale.verdict(name)[0] for name in (on, settled)] == ["legal"] * 2
    assert rested(Fold(tale, judge)) == ({lost: {on}} if is_resting else {})


# Contests that are made up and voided, and voids that are: however they lie, and in whatever order they are read.

MOVES = ("accepted", "rejected", "reopened", "cancelled", "blocked")


class Contest:
    """A task that was completed and rejected; whoever goes on voids, settles or moves it beside others."""

    def __init__(self, seed: int) -> None:
        self.dice, self.tale = random.Random(seed), planned()
        done = self.tale.done()
        self.no = self.tale.tell("rejected", after=[done], unmet=["x"])
        self.names = [done, self.no]
        for _ in range(self.dice.randrange(3, 8)):
            if self.dice.random() < 0.35:
                self._move(self.dice.sample(self.names, 2))
            else:
                self._take_out()

    def _take_out(self) -> None:
        """Void an event or settle against it, often one that does so itself, beside a rival that is made up."""
        tale, dice = self.tale, self.dice
        voids = [name for name in self.names if tale.events[name].do == "voided"]
        target = dice.choice(voids if voids and dice.random() < 0.75 else self.names)
        before = [ref.id for ref in tale.events[target].after if tale.events[ref.id].of == TASK]
        rival = self._move(dice.choice((before, before[:1], dice.sample(self.names, 2))))
        if rival:
            seen = [target, rival, *dice.sample(self.names, dice.randrange(2))]
            verb = "voided" if dice.random() < 0.8 else "settled"
            kept = dice.choice((target, rival))
            self._add(verb, seen, reason="why", **({"target": target} if verb == "voided" else {"keep": kept}))

    def _move(self, seen: list[str]) -> str:
        return self._add(self.dice.choice(MOVES), seen, reason="why", text="", unmet=["x"])

    def _add(self, do: str, seen: list[str], **data: Any) -> str:
        """Add an event, if it is legal; return its id."""
        name = self.tale.tell(do, after=[*dict.fromkeys(seen)], **data)
        if self.tale.verdict(name)[0] == "legal":
            self.names.append(name)
            return name
        self.tale.broken[name] = self.tale.events.pop(name)._replace(of="task_zzzzzzzzzzzz")
        return ""


@pytest.mark.parametrize("seed", range(80))
def test_contests_and_their_voids_come_to_the_same_in_whatever_order(seed: int) -> None:
    tale = Contest(seed).tale
    expected = tale.folded()
    names, gone = list(tale.events), expected.undone
    for _ in range(4):
        random.Random(seed).shuffle(names)
        tale.listed = names
        assert tale.folded() == expected
        assert undone(sorted(expected.events, key=lambda seen: names.index(seen.event.id))) == gone


@pytest.mark.parametrize("seed", range(80))
def test_the_state_after_voids_of_voids_is_the_one_computed_from_scratch(seed: int) -> None:
    tale = Contest(seed).tale
    fold = Fold(tale, judge)
    for seen in fold.group(TASK).events:
        quick, slow = fold.lanes([seen.event.id]), merge(fold._writers(fold._past([seen.event.id])))
        assert (dict(quick.values), dict(quick.contested)) == (dict(slow.values), dict(slow.contested))


def followed(fold: Fold) -> set[str]:
    """Return the events that a task's status is, or goes on from: each by what its own past came to."""
    waiting = [*fold._writers(fold._past(fold.group(TASK).heads)).get(STATUS, ())]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen = fold.judged(name)
        if seen is None or name in found:
            continue
        found.add(name)
        if seen.event.do == "settled":
            before = fold.lanes(seen.parents).contested.get(STATUS, ())
            waiting += fold._side(STATUS, seen.event.get("keep"), before)
        else:
            further = {name: seen.event.get("target")} if seen.event.do == "voided" else {}
            waiting += fold._writers({*seen.past}, further).get(STATUS, ())
    return found


@pytest.mark.parametrize("seed", range(300))
def test_a_rejection_that_is_lost_is_told_of_whoever_took_it_out(seed: int) -> None:
    """It is contested, or holds, or was gone on from; else what took it out stands, or others rest on that."""
    contest = Contest(seed)
    fold = Fold(contest.tale, judge)
    folded = fold.group(TASK)
    if folded.lanes.contested or contest.no in followed(fold):
        return
    known = {seen.event.id: seen for seen in folded.events}
    resting = rested(fold)
    takers = [seen for seen in folded.events if contest.no in undone_by(seen, known)]
    assert contest.no in undone(folded.events) or any(seen.event.id in resting for seen in takers)
