"""What became of the code that a note is about: each way in which code changes, on real repositories."""

from __future__ import annotations

import os
import random
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from memento_git.errors import MementoError
from memento_git.knowledge import following, pinning
from memento_git.ledger import snapshots
from memento_git.ledger.git import Git
from memento_git.model.anchors import Anchor, edits, parse
from tests.play import commit_all, git

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.knowledge.anchors import Found

CODE: Final = """import os

LIMIT = 42


def first(name: str) -> str:
    \"\"\"Return the name in capitals.\"\"\"
    return name.upper() + os.sep


def second(number: int) -> int:
    \"\"\"Return twice the number, never more than the limit.\"\"\"
    doubled = number * 2
    if doubled > LIMIT:
        return LIMIT
    return doubled


class Basket:
    \"\"\"Holds apples.\"\"\"

    def weigh(self, apples: list[int]) -> int:
        return sum(apples)
"""
SECOND: Final = "calc.py:11-16"
WORDS: Final = ("apple", "basket", "carrot", "dandelion", "elder", "fennel", "garlic", "hazel", "iris", "juniper")


class Garden:
    """A repository in which anchors are set and followed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, path: str, text: str | bytes) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, path: str = "", text: str | bytes = "") -> str:
        if path:
            self.write(path, text)
        return commit_all(self.folder, f"change {path}")

    def pin(self, given: str) -> Anchor:
        with following.opened(Git(self.folder)) as follower:
            head = follower.at("HEAD")
            return pinning.pin(parse(given), follower, head, follower.work_tree([parse(given)]))

    def follow(self, anchor: Anchor, rev: str = "HEAD", folder: Path | None = None) -> Found:
        """Return what became of an anchor; a clean work tree must tell the same as its commit."""
        with following.opened(Git(folder or self.folder)) as follower:
            found = follower.follow([anchor], follower.at(rev))[0]
            if (rev, folder) == ("HEAD", None) and not git(self.folder, "status", "--porcelain"):
                assert follower.follow([anchor], follower.work_tree([anchor])) == [found]
            return found

    def uncommitted(self, anchor: Anchor) -> list[Found]:
        """Return what became of an anchor in the index and in the work tree."""
        with following.opened(Git(self.folder)) as follower:
            return [follower.follow([anchor], now)[0] for now in (follower.staged(), follower.work_tree([anchor]))]

    def edited(self, old: str, new: str) -> str:
        text = (self.folder / "calc.py").read_text()
        assert old in text
        return self.commit("calc.py", text.replace(old, new))


@pytest.fixture
def garden(repo: Path) -> Garden:
    made = Garden(repo)
    made.commit("calc.py", CODE)
    return made


def told(found: Found) -> tuple[str, str, tuple[int, int] | None]:
    return found.state, found.path, found.lines


# One file.


def test_what_nobody_touched_is_ok(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    assert (anchor.lines, len(anchor.blob), len(anchor.commit)) == ((11, 16), 40, 40)
    garden.commit("other.py", "print(1)\n")
    assert told(garden.follow(anchor)) == ("ok", "calc.py", (11, 16))


def test_an_edit_in_another_part_of_the_file_leaves_lines_ok(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    garden.edited("sum(apples)", "sum(apples, 0)")
    assert told(garden.follow(anchor)) == ("ok", "calc.py", (11, 16))


def test_lines_above_move_it(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    garden.edited("import os\n", "import os\nimport re\nimport sys\n")
    assert told(garden.follow(anchor)) == ("moved", "calc.py", (13, 18))


def test_a_changed_line_is_named(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    garden.edited("number * 2", "number * 3")
    found = garden.follow(anchor)
    assert told(found) == ("changed", "calc.py", (11, 16))
    assert found.edited == ((13, 13),)
    assert (found.old, found.new) == (anchor.blob, git(garden.folder, "rev-parse", "HEAD:calc.py"))


def test_lines_put_in_or_taken_out_inside_change_it(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    garden.edited("    doubled = number * 2\n", "    doubled = number * 2\n    print(doubled)\n")
    assert told(garden.follow(anchor)) == ("changed", "calc.py", (11, 17))
    garden.edited("    print(doubled)\n", "")
    assert told(garden.follow(anchor)) == ("ok", "calc.py", (11, 16))
    garden.edited("        return LIMIT\n", "")
    assert told(garden.follow(anchor)) == ("changed", "calc.py", (11, 15))


def test_deleted_lines_are_gone(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    text = CODE.splitlines(keepends=True)
    garden.commit("calc.py", "".join(text[:10] + text[18:]))
    assert garden.follow(anchor).state == "gone"


def test_lines_that_gave_way_to_others_are_gone(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    start, end = CODE.index("def second"), CODE.index("class Basket")
    others = "".join(f"COLOUR_{n} = 'a shade of {word}'\n" for n, word in enumerate(["red", "blue", "pink"] * 7))
    garden.commit("calc.py", CODE[:start] + others + "\n\n" + CODE[end:])
    found = garden.follow(anchor)
    assert (found.state, found.why) == ("gone", "its lines gave way to others")


def test_lines_that_went_to_another_place_of_the_file_moved(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    start, end = CODE.index("def second"), CODE.index("class Basket")
    garden.commit("calc.py", CODE[:start] + CODE[end:] + "\n\n" + CODE[start:end].rstrip() + "\n")
    found = garden.follow(anchor)
    assert told(found) == ("moved", "calc.py", (18, 23))


def test_a_rewritten_line_is_changed_not_gone(garden: Garden) -> None:
    anchor = garden.pin("calc.py:3")
    garden.edited("LIMIT = 42", "LIMIT: int = 100")
    assert told(garden.follow(anchor)) == ("changed", "calc.py", (3, 3))


def test_white_space_alone_is_named_as_such(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    garden.edited("        return LIMIT\n", "            return LIMIT\n")
    found = garden.follow(anchor)
    assert (found.state, found.why) == ("changed", "only white space differs")
    garden.edited("            return LIMIT\n", "        return LIMIT   \n")
    assert garden.follow(anchor).state == "ok", "white space at the end of a line"


def test_another_line_end_is_no_change(garden: Garden) -> None:
    anchor, symbol = garden.pin(SECOND), garden.pin("calc.py::second")
    garden.commit("calc.py", CODE.replace("\n", "\r\n"))
    assert told(garden.follow(anchor)) == ("ok", "calc.py", (11, 16))
    assert garden.follow(symbol).state == "ok"
    garden.commit("calc.py", CODE.replace("\n", "\r\n").replace("* 2", "* 3"))
    assert garden.follow(anchor).edited == ((13, 13),)


def test_a_byte_order_mark_that_comes_or_goes_is_no_change(garden: Garden) -> None:
    garden.commit("first.py", "def first(a):\n    return a + 41\n")
    lines, symbol = garden.pin("first.py:1-2"), garden.pin("first.py::first")
    garden.commit("first.py", "\ufeffdef first(a):\n    return a + 41\n")
    assert [garden.follow(one).state for one in (lines, symbol)] == ["ok", "ok"]
    symbol = garden.pin("first.py::first")
    garden.commit("first.py", "import os\n\n\ndef first(a):\n    return a + 41\n")
    assert garden.follow(symbol).state == "ok"


def test_a_whole_file_is_changed_by_any_edit(garden: Garden) -> None:
    anchor = garden.pin("calc.py")
    assert garden.follow(anchor).state == "ok"
    garden.edited("42", "43")
    assert garden.follow(anchor).state == "changed"
    git(garden.folder, "rm", "-q", "calc.py")
    garden.commit()
    assert told(garden.follow(anchor)) == ("gone", "calc.py", None)


def test_a_folder_has_changed_once_a_file_of_it_has(garden: Garden) -> None:
    garden.commit("lib/a.py", "a = 1\n")
    anchor = garden.pin("lib")
    assert garden.follow(anchor).state == "ok"
    garden.commit("lib/b.py", "b = 1\n")
    assert garden.follow(anchor).state == "changed"


# Files that are renamed, split, copied.


def test_a_folder_that_moves_or_goes_is_told_so(garden: Garden, tmp_path: Path) -> None:
    garden.commit("shop/cart.py", "total = 0\n")
    anchor = garden.pin("shop")
    git(garden.folder, "mv", "shop", "store")
    garden.commit()
    found = garden.follow(anchor)
    assert (found.state, found.path) == ("moved", "store")
    git(garden.folder, "rm", "-rq", "store")
    garden.commit()
    found = garden.follow(anchor)
    assert (found.state, found.why) == ("gone", "there is no such folder")
    git(tmp_path, "clone", "-q", "--depth", "1", garden.folder.as_uri(), "shallow")
    assert garden.follow(anchor, folder=tmp_path / "shallow").state == "unknown"


def test_a_folder_that_was_edited_is_followed_where_its_files_went(garden: Garden) -> None:
    for name in ("cart", "till", "shelf"):
        garden.commit(f"shop/{name}.py", f"{name} = 0\n" * 9)
    anchor, file = garden.pin("shop"), garden.pin("shop/till.py")
    garden.commit("shop/cart.py", "cart = 0\n" * 9 + "cart = 1\n")
    git(garden.folder, "mv", "shop", "store")
    garden.commit()
    git(garden.folder, "mv", "store", "market")
    garden.commit("market/cart.py", "cart = 0\n" * 9 + "cart = 2\n")
    assert told(garden.follow(anchor)) == ("changed", "market", None)
    assert told(garden.follow(file)) == ("moved", "market/till.py", None)
    with following.opened(Git(garden.folder)) as follower:
        assert follower.follow([anchor], follower.work_tree())[0].path == "market"


def test_a_folder_of_which_one_file_lives_on_elsewhere_is_gone(garden: Garden) -> None:
    for name in ("cart", "till", "shelf"):
        garden.commit(f"shop/{name}.py", f"{name} = 0\n" * 9)
    garden.commit("attic/old.py", "old = 0\n")
    anchor = garden.pin("shop")
    git(garden.folder, "rm", "-q", "shop/cart.py", "shop/till.py")
    garden.commit()
    git(garden.folder, "mv", "shop/shelf.py", "attic/shelf.py")
    garden.commit()
    assert garden.follow(anchor).why == "there is no such folder"


def test_a_folder_that_was_not_committed_when_it_was_named_is_followed_once_it_is(garden: Garden) -> None:
    for name in ("cart", "till", "shelf"):
        garden.write(f"shop/{name}.py", f"{name} = 0\n" * 9)
    anchor = garden.pin("shop")
    assert anchor.blob == ""
    garden.commit("shop/cart.py", "cart = 1\n" * 9)
    git(garden.folder, "mv", "shop", "store")
    garden.commit()
    git(garden.folder, "mv", "store", "market")
    garden.commit("market/till.py", "till = 0\n" * 8)
    assert told(garden.follow(anchor)) == ("unpinned", "market", None)
    (again,) = pinning.confirm_here(Git(garden.folder), [anchor])
    assert again is not None
    assert (again.path, garden.follow(again).state) == ("market", "ok")


def test_a_folder_that_was_never_pinned_and_dissolved_is_nowhere(garden: Garden) -> None:
    for name in ("cart", "till", "shelf"):
        garden.write(f"shop/{name}.py", f"{name} = 0\n" * 9)
    anchor = garden.pin("shop")
    garden.commit("attic/old.py", "old = 0\n")
    git(garden.folder, "rm", "-q", "shop/cart.py", "shop/till.py")
    garden.commit()
    git(garden.folder, "mv", "shop/shelf.py", "attic/shelf.py")
    garden.commit()
    assert told(garden.follow(anchor)) == ("unpinned", "shop", None)


def test_a_renamed_file_is_followed_with_its_lines(garden: Garden) -> None:
    anchors = [garden.pin(SECOND), garden.pin("calc.py"), garden.pin("calc.py::Basket.weigh")]
    git(garden.folder, "mv", "calc.py", "sums.py")
    garden.commit()
    found = [garden.follow(anchor) for anchor in anchors]
    assert [told(one) for one in found] == [
        ("moved", "sums.py", (11, 16)),
        ("moved", "sums.py", None),
        ("moved", "sums.py", (22, 23)),
    ]


def test_a_file_that_is_renamed_and_edited_at_once(garden: Garden) -> None:
    anchors = [garden.pin(SECOND), garden.pin("calc.py::first")]
    git(garden.folder, "mv", "calc.py", "sums.py")
    garden.commit("sums.py", CODE.replace("* 2", "* 3").replace("import os", "import os\nimport re"))
    found = [garden.follow(anchor) for anchor in anchors]
    assert [told(one) for one in found] == [("changed", "sums.py", (12, 17)), ("moved", "sums.py", (7, 9))]


def test_history_tells_of_a_rename_that_no_likeness_would(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    git(garden.folder, "mv", "calc.py", "sums.py")
    garden.commit()
    git(garden.folder, "mv", "sums.py", "more.py")
    garden.commit()
    kept = CODE[CODE.index("def second") : CODE.index("class Basket")]
    garden.commit("more.py", "".join(f"row_{n} = 'something else {n}'\n" for n in range(60)) + "\n\n" + kept)
    assert told(garden.follow(anchor)) == ("moved", "more.py", (63, 68))


def test_a_file_that_was_rewritten_where_it_went_is_found_by_its_name(garden: Garden) -> None:
    garden.commit("src/tools.py", CODE)
    anchor = garden.pin("src/tools.py")
    git(garden.folder, "rm", "-q", "src/tools.py")
    garden.commit("lib/tools.py", "nothing = None\n")
    assert told(garden.follow(anchor)) == ("changed", "lib/tools.py", None)
    garden.commit("more/tools.py", "more = None\n")
    assert told(garden.follow(anchor)) == ("gone", "src/tools.py", None), "it may be either"


def test_a_copy_that_was_kept_is_not_where_a_renamed_file_went(garden: Garden) -> None:
    """Neither the commits nor what is not committed are asked less for a copy that has the content."""
    anchor = garden.pin(SECOND)
    garden.commit("calc_old.py", CODE)
    git(garden.folder, "mv", "calc.py", "sums.py")
    assert [told(one) for one in garden.uncommitted(anchor)] == [("moved", "sums.py", (11, 16))] * 2
    garden.commit()
    assert told(garden.follow(anchor)) == ("moved", "sums.py", (11, 16))
    git(garden.folder, "mv", "sums.py", "more.py")
    garden.write("more.py", CODE.replace("* 2", "* 3"))
    assert told(garden.uncommitted(anchor)[1]) == ("changed", "more.py", (11, 16))
    garden.commit()
    assert told(garden.follow(anchor)) == ("changed", "more.py", (11, 16))


def test_what_is_not_committed_is_followed_as_it_will_be_when_it_is(garden: Garden) -> None:
    anchors = [garden.pin(SECOND), garden.pin("calc.py"), garden.pin("calc.py::second")]
    garden.commit("other/calc.py", "LIMIT = 1\n")
    git(garden.folder, "mv", "calc.py", "other/sums.py")
    garden.write("other/sums.py", CODE.replace("* 2", "* 3"))
    git(garden.folder, "add", "-A")
    before = [garden.uncommitted(anchor) for anchor in anchors]
    garden.commit()
    after = [garden.follow(anchor) for anchor in anchors]
    assert before == [[found, found] for found in after]
    assert {found.path for found in after} == {"other/sums.py"}


def test_a_function_that_went_to_another_file(garden: Garden) -> None:
    anchors = [garden.pin(SECOND), garden.pin("calc.py::second")]
    start, end = CODE.index("def second"), CODE.index("class Basket")
    garden.write("twice.py", f"from calc import LIMIT\n\n\n{CODE[start:end].rstrip()}\n")
    garden.commit("calc.py", CODE[:start] + CODE[end:])
    assert [told(garden.follow(anchor)) for anchor in anchors] == [("moved", "twice.py", (4, 9))] * 2


def moved_to(garden: Garden, old: str, new: str) -> str:
    """Move the function to another file with an edit; return the new file's text."""
    start, end = CODE.index("def second"), CODE.index("class Basket")
    assert old in CODE[start:end]
    text = f"from calc import LIMIT\n\n\n{CODE[start:end].rstrip().replace(old, new)}\n"
    garden.write("twice.py", text)
    garden.commit("calc.py", CODE[:start] + CODE[end:])
    return text


@pytest.mark.parametrize(
    ("old", "new", "name", "lines"),
    [
        ("        return LIMIT\n    return doubled", "        return 0\n    return doubled or None", "second", (4, 9)),
        ("    doubled = number * 2\n", "    doubled = number * 2\n    print(doubled)\n", "second", (4, 10)),
        ("def second(number: int)", "def twice(number: float)", "twice", (4, 9)),
    ],
)
def test_a_function_that_went_to_another_file_and_was_edited_is_followed_as_a_whole(
    garden: Garden, old: str, new: str, name: str, lines: tuple[int, int]
) -> None:
    anchor = garden.pin("calc.py::second")
    text = moved_to(garden, old, new)
    found = garden.follow(anchor)
    assert (*told(found), found.symbol) == ("changed", "twice.py", lines, name)
    (again,) = pinning.confirm_here(Git(garden.folder), [anchor])
    assert again is not None
    assert (str(again), garden.follow(again).state) == (f"twice.py::{name}", "ok")
    garden.commit("twice.py", text.rstrip().rpartition("\n")[0] + "\n    return -1\n")
    assert garden.follow(again).state == "changed"


def test_a_function_whose_lines_went_into_a_larger_one_is_lines_from_then_on(garden: Garden) -> None:
    anchor = garden.pin("calc.py::second")
    start, end = CODE.index("def second"), CODE.index("class Basket")
    body = CODE[start:end].rstrip().partition("\n")[2]
    steps = "".join(f"    step_{n} = walk(number, towards='place {n}', slowly=True)\n" for n in range(20))
    garden.write("walks.py", f"def far_away(number):\n{steps}{body}\n")
    garden.commit("calc.py", CODE[:start] + CODE[end:])
    found = garden.follow(anchor)
    assert (*told(found), found.symbol) == ("changed", "walks.py", (22, 26), "")


def test_lines_that_went_to_another_file_with_one_put_in_are_changed(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    moved_to(garden, "    doubled = number * 2\n", "    doubled = number * 2\n    print(doubled)\n")
    assert told(garden.follow(anchor)) == ("changed", "twice.py", (4, 10))
    garden.commit("twice.py", (garden.folder / "twice.py").read_text().replace("    print(doubled)\n", "\n"))
    assert garden.follow(anchor).state == "moved", "an empty line is no change"


def test_the_rest_of_a_deleted_file_may_live_on_elsewhere(garden: Garden) -> None:
    anchor, lost = garden.pin(SECOND), garden.pin("calc.py:6-8")
    start, end = CODE.index("def second"), CODE.index("class Basket")
    git(garden.folder, "rm", "-q", "calc.py")
    others = "".join(f"COLOUR_{n} = 'a shade of {n * n}'\n" for n in range(60))
    garden.commit("twice.py", f"{others}\n\n{CODE[start:end].rstrip()}\n")
    assert told(garden.follow(anchor)) == ("moved", "twice.py", (63, 68))
    assert garden.follow(lost).state == "gone"


def test_a_copy_that_was_there_before_is_not_where_it_went(garden: Garden) -> None:
    garden.commit("copy.py", CODE)
    anchor = garden.pin(SECOND)
    git(garden.folder, "rm", "-q", "calc.py")
    garden.commit("app.py", "answer = 43\n")
    found = [garden.follow(one) for one in (anchor, anchor._replace(commit=""))]
    assert [one.state for one in found] == ["gone", "moved"]
    assert found[1].path == "copy.py", "nothing tells that it was there before"
    text = CODE.splitlines(keepends=True)
    garden.commit("calc.py", "".join(text[:10] + text[18:]))
    assert garden.follow(anchor).state == "gone"


def test_of_files_with_the_same_content_the_one_of_the_same_name_is_where_it_went(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    git(garden.folder, "switch", "-q", "--orphan", "again")
    garden.write("a/other.py", CODE)
    garden.commit("z/calc.py", CODE)
    assert garden.follow(anchor).path == "z/calc.py"


# The traps.


def test_what_is_not_committed_is_unpinned_until_it_is(garden: Garden) -> None:
    whole = garden.pin("calc.py")
    garden.write("calc.py", f"import re\n{CODE}")
    garden.write("new.py", CODE)
    edited, untracked = garden.pin("calc.py:12-17"), garden.pin("new.py:11-16")
    assert (edited.blob, untracked.blob) == ("", "")
    assert "doubled = number * 2" in edited.quote
    assert told(garden.follow(edited)) == ("unpinned", "calc.py", (11, 16))
    assert told(garden.follow(untracked)) == ("unpinned", "new.py", None)
    with following.opened(Git(garden.folder)) as follower:
        assert pinning.pin_later(untracked, follower, follower.at("HEAD")) is None
    garden.write("new.py", f"import re\n{CODE}")
    garden.commit()
    with following.opened(Git(garden.folder)) as follower:
        pinned = [pinning.pin_later(one, follower, follower.at("HEAD")) for one in (edited, untracked)]
    assert [one.lines for one in pinned if one] == [(12, 17), (12, 17)]
    assert all(one and garden.follow(one).state == "ok" for one in pinned)
    assert pinning.pin_quoted(Git(garden.folder), [whole, edited._replace(lines=(12, 17))]) == [whole, pinned[0]]
    garden.commit("new.py", 2 * CODE)
    found = garden.follow(untracked._replace(lines=(31, 36)))
    assert (found.lines, found.why) == ((34, 39), "it was not committed as it was; its quote is there 2 times")


@pytest.mark.parametrize("place", ["parts", "parts/logo.bin"])
def test_what_has_no_text_is_unpinned_until_it_is_committed(garden: Garden, place: str) -> None:
    garden.commit("parts/logo.bin", b"\x89PNG\0\1\2")
    garden.write("parts/logo.bin", b"\x89PNG\0\1\2\3")
    anchor = garden.pin(place)
    found = garden.follow(anchor)
    assert (anchor.blob, *told(found), found.why) == (
        "", "unpinned", place, None, "it was not committed as it was"
    )  # fmt: skip
    garden.commit()
    with following.opened(Git(garden.folder)) as follower:
        pinned = pinning.pin_later(anchor, follower, follower.at("HEAD"))
    assert pinned
    assert garden.follow(pinned).state == "ok"
    garden.commit("parts/logo.bin", b"\x89PNG\0\1")
    assert garden.follow(pinned).state == "changed"
    git(garden.folder, "rm", "-qr", "parts")
    garden.commit()
    assert garden.follow(anchor).why == "there is no such file"


def test_what_was_never_committed_as_it_was_is_followed_and_found_by_name(garden: Garden) -> None:
    garden.write("new.py", CODE)
    symbol, lines, whole = garden.pin("new.py::second"), garden.pin("new.py:11-16"), garden.pin("new.py")
    garden.commit("new.py", CODE.replace("number * 2", "number * 3"))
    again = pinning.confirm_here(Git(garden.folder), [symbol, lines, whole])
    assert [one and str(one) for one in again] == ["new.py::second", None, "new.py"]
    (garden.folder / "lib").mkdir()
    git(garden.folder, "mv", "new.py", "lib/new.py")
    for moment in ("moved, not committed yet", "moved"):
        with following.opened(Git(garden.folder)) as follower:
            now = follower.follow([symbol, lines, whole], follower.work_tree())
        assert [(one.state, one.path) for one in now] == [("unpinned", "lib/new.py")] * 3, moment
        garden.commit("other.py", moment)
    assert told(garden.follow(lines)) == ("unpinned", "lib/new.py", None)
    again = pinning.confirm_here(Git(garden.folder), [symbol, lines, whole])
    assert [one and str(one) for one in again] == ["lib/new.py::second", None, "lib/new.py"]
    git(garden.folder, "rm", "-q", "lib/new.py")
    garden.commit()
    assert (garden.follow(whole).path, garden.follow(whole).why) == ("new.py", "there is no such file")


def test_what_a_squash_left_nowhere_is_followed_and_pinned_again(garden: Garden, tmp_path: Path) -> None:
    git(garden.folder, "checkout", "-qb", "side")
    garden.edited("number * 2", "number * 3")
    symbol, lines, gone = garden.pin("calc.py::second"), garden.pin("calc.py:6-8"), garden.pin("calc.py:20-21")
    garden.edited("sum(apples)", "sum(apples, 0)")
    garden.edited("Holds apples.", "Holds pears.")
    git(garden.folder, "checkout", "-q", "main")
    git(garden.folder, "merge", "-q", "--squash", "side")
    garden.commit()
    git(garden.folder, "mv", "calc.py", "sums.py")
    garden.commit()
    git(tmp_path, "clone", "-q", "--single-branch", garden.folder.as_uri(), "clone")
    clone = tmp_path / "clone"
    found = [garden.follow(one, folder=clone) for one in (symbol, lines, gone)]
    assert [(one.state, one.path) for one in found] == [("unknown", "sums.py")] * 3
    assert found[1].lines == (6, 8)
    again = pinning.confirm_here(Git(clone), [symbol, lines, gone])
    assert [one and str(one) for one in again] == ["sums.py::second", "sums.py:6-8", None]
    assert all(garden.follow(one, folder=clone).state == "ok" for one in again if one)


def test_a_shallow_clone_says_unknown_and_never_ok(garden: Garden, tmp_path: Path) -> None:
    anchors = [garden.pin(SECOND), garden.pin("calc.py::second"), garden.pin("app.py:1")]
    garden.edited("import os\n", "import os\nimport re\n")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{garden.folder}", "shallow")
    found = [garden.follow(anchor, folder=tmp_path / "shallow") for anchor in anchors]
    assert [one.state for one in found] == ["unknown", "unknown", "ok"], "the same blob needs no old content"
    assert found[0].lines == (12, 17)
    assert "does not have" in found[0].why
    assert "its quote is there" in found[0].why
    garden.edited("def second", "def third")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{garden.folder}", "again")
    assert "its quote is not there" in garden.follow(anchors[0], folder=tmp_path / "again").why
    git(garden.folder, "mv", "calc.py", "sums.py")
    garden.commit()
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{garden.folder}", "third")
    lost = garden.follow(anchors[0], folder=tmp_path / "third")
    assert (told(lost), "calc.py is not there" in lost.why) == (("unknown", "", None), True), "it is nowhere now"


@pytest.mark.parametrize("place", [SECOND, "calc.py::second"])
def test_of_lines_that_were_only_taken_out_it_is_told_where(garden: Garden, place: str) -> None:
    anchor = garden.pin(place)
    garden.edited("    doubled = number * 2\n", "")
    row = {"anchor": str(anchor), **garden.follow(anchor).data()}
    assert (row["state"], row.get("edited"), row["taken_out"]) == ("changed", None, ["12"])
    assert edits(row) == "taken out after: 12"
    garden.edited("    if doubled > LIMIT:\n", "    if number > LIMIT:\n")
    assert edits({"anchor": str(anchor), **garden.follow(anchor).data()}) == "edited: 13"


def test_a_partial_clone_says_unknown_where_a_shallow_one_does(garden: Garden, tmp_path: Path) -> None:
    anchors = [garden.pin(SECOND), garden.pin("calc.py::second"), garden.pin("app.py:1"), garden.pin("app.py")]
    git(garden.folder, "mv", "app.py", "main.py")
    garden.edited("import os\n", "import os\nimport re\n")
    git(garden.folder, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{garden.folder}", "partial")
    git(tmp_path / "partial", "remote", "set-url", "origin", str(tmp_path / "away"))
    found = [garden.follow(anchor, folder=tmp_path / "partial") for anchor in anchors]
    assert [one.state for one in found] == ["unknown", "unknown", "moved", "moved"]
    assert (found[0].lines, found[2].path) == ((12, 17), "main.py")
    git(garden.folder, "mv", "calc.py", "sums.py")
    garden.commit("sums.py", (garden.folder / "sums.py").read_text() + "LAST = 1\n")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{garden.folder}", "again")
    git(tmp_path / "again", "remote", "set-url", "origin", str(tmp_path / "away"))
    assert {garden.follow(anchor, folder=tmp_path / "again").state for anchor in anchors} == {"unknown", "moved"}


def test_a_squash_takes_the_commit_and_leaves_the_blob(garden: Garden, tmp_path: Path) -> None:
    git(garden.folder, "checkout", "-qb", "side")
    garden.edited("LIMIT = 42", "LIMIT = 43")
    anchor = garden.pin(SECOND)
    git(garden.folder, "mv", "calc.py", "sums.py")
    garden.commit("sums.py", (garden.folder / "sums.py").read_text().replace("import os", "import os\nimport re"))
    git(garden.folder, "checkout", "-q", "main")
    git(garden.folder, "merge", "-q", "--squash", "side")
    garden.commit()
    git(garden.folder, "branch", "-qD", "side")
    gone = anchor._replace(commit="0" * 40)
    assert told(garden.follow(gone)) == ("moved", "sums.py", (12, 17))
    git(tmp_path, "clone", "-q", f"file://{garden.folder}", "clone")
    assert garden.follow(anchor, folder=tmp_path / "clone").state == "unknown", "no clone has the blob in between"


def test_binary_huge_and_strange_files(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    garden.write("logo.bin", b"\x89PNG\0\1\2")
    garden.write("latin.txt", "Stra\xdfe\nh\xf6flich\n".encode("latin-1"))
    garden.write("big.txt", "".join(f"line {n}\n" for n in range(1000)))
    garden.commit()
    logo, latin, big = garden.pin("logo.bin"), garden.pin("latin.txt:2"), garden.pin("big.txt:10-12")
    with pytest.raises(pinning.AnchorMissing, match="no text that can be looked into: it is binary, or above 4 MiB"):
        garden.pin("logo.bin:1")
    garden.write("logo.bin", b"\x89PNG\0\1\3")
    garden.write("latin.txt", "neu\nStra\xdfe\nh\xf6flich\n".encode("latin-1"))
    garden.write("big.txt", "new\n" + "".join(f"line {n}\n" for n in range(1000)))
    garden.commit()
    assert garden.follow(logo).state == "changed"
    lines = garden.follow(logo._replace(lines=(1, 1)))
    assert (told(lines), lines.why) == (("changed", "logo.bin", None), "it is no text that can be compared")
    assert told(garden.follow(latin)) == ("moved", "latin.txt", (3, 3))
    assert told(garden.follow(big)) == ("moved", "big.txt", (11, 13))
    monkeypatch.setattr(snapshots, "LARGEST", 4096)
    assert garden.follow(big).state == "unknown"


def test_links_and_submodules_are_not_followed(garden: Garden, tmp_path: Path) -> None:
    (garden.folder / "link.py").symlink_to("calc.py")
    subprocess.run(["git", "init", "-q", tmp_path / "part"], check=True)
    git(tmp_path / "part", "commit", "-q", "--allow-empty", "-m", "one")
    git(garden.folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "part"), "part")
    garden.commit()
    link, part = garden.pin("link.py"), garden.pin("part")
    assert part.blob == git(tmp_path / "part", "rev-parse", "HEAD")
    with pytest.raises(pinning.AnchorMissing, match="part is no file"):
        garden.pin("part:1")
    with pytest.raises(pinning.AnchorMissing, match="part is a submodule, a repository of its own"):
        garden.pin("part/calc.py:1")
    garden.edited("42", "43")
    assert [garden.follow(link).state, garden.follow(part).state] == ["ok", "ok"]
    (garden.folder / "link.py").unlink()
    (garden.folder / "link.py").symlink_to("app.py")
    git(garden.folder / "part", "commit", "-q", "--allow-empty", "-m", "two")
    garden.commit()
    assert [garden.follow(link).state, garden.follow(part).state] == ["changed", "changed"]


def test_attributes_and_settings_of_the_user_do_not_matter(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    for key, value in (
        ("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("diff.external", "false"), ("color.ui", "always"),
        ("diff.interHunkContext", "50"), ("diff.renames", "false"), ("core.quotePath", "true"),
    ):  # fmt: skip
        git(garden.folder, "config", key, value)
    garden.write(".gitattributes", "* binary\n*.py -diff\n")
    garden.edited("number * 2", "number * 3")
    assert garden.follow(anchor).edited == ((13, 13),)


# Any place, many anchors.


def test_any_revision_a_bare_repository_the_index_and_the_work_tree(garden: Garden, tmp_path: Path) -> None:
    first = git(garden.folder, "rev-parse", "HEAD")
    anchor = garden.pin(SECOND)
    garden.edited("number * 2", "number * 3")
    git(tmp_path, "clone", "-q", "--bare", str(garden.folder), "bare.git")
    bare = tmp_path / "bare.git"
    assert [garden.follow(anchor, rev, bare).state for rev in (first, "HEAD")] == ["ok", "changed"]
    garden.write("calc.py", CODE)
    git(garden.folder, "add", "calc.py")
    garden.write("calc.py", CODE.replace("import os\n", "import os\nimport re\n"))
    before = (garden.folder / ".git" / "index").read_bytes(), sorted(os.walk(garden.folder / ".git" / "objects"))
    with following.opened(Git(garden.folder)) as follower:
        moments = [follower.at("HEAD"), follower.staged(), follower.work_tree()]
        states = [told(follower.follow([anchor], moment)[0]) for moment in moments]
    assert states == [("changed", "calc.py", (11, 16)), ("ok", "calc.py", (11, 16)), ("moved", "calc.py", (12, 17))]
    assert before == (
        (garden.folder / ".git" / "index").read_bytes(),
        sorted(os.walk(garden.folder / ".git" / "objects")),
    )


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What git processes were started."""
    started: list[str] = []
    real = Git._run

    def counting(self: Git, *arguments: str, **options: object) -> object:
        started.append(arguments[0])
        return real(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "_run", counting)
    return started


def test_many_anchors_cost_no_more_processes_than_one(garden: Garden, processes: list[str]) -> None:
    for number in range(30):
        garden.write(f"part{number}.py", CODE.replace("second", f"second{number}"))
    garden.commit()
    with following.opened(Git(garden.folder)) as follower:
        head = follower.at("HEAD")
        anchors = [pinning.pin(parse(f"part{n}.py:{line}"), follower, head, None) for n in range(30) for line in (3, 8)]
    for number in range(30):
        garden.write(f"part{number}.py", "import re\n" + CODE.replace("second", f"second{number}"))
    garden.commit()
    with following.opened(Git(garden.folder)) as follower:
        processes.clear()
        found = follower.follow(anchors, follower.at("HEAD"))
    assert {one.state for one in found} == {"moved"}
    assert len(processes) <= 6, processes


# Symbols.


def test_a_symbol_is_ok_wherever_it_stands_in_its_file(garden: Garden) -> None:
    anchors = [garden.pin(f"calc.py::{name}") for name in ("second", "LIMIT", "Basket.weigh", "weigh", "Basket")]
    garden.edited("import os\n", "import os\nimport re\n")
    found = [garden.follow(anchor) for anchor in anchors]
    assert [told(one) for one in found] == [
        ("ok", "calc.py", lines) for lines in ((12, 17), (4, 4), (23, 24), (23, 24), (20, 24))
    ]  # fmt: skip
    garden.edited("sum(apples)", "sum(apples, 0)")
    found = [garden.follow(anchor) for anchor in anchors]
    assert [one.state for one in found] == ["ok", "ok", "changed", "changed", "changed"]
    assert found[2].edited == ((24, 24),)


def test_a_renamed_symbol_is_changed_and_named(garden: Garden) -> None:
    anchor = garden.pin("calc.py::second")
    garden.edited("def second", "def twice")
    found = garden.follow(anchor)
    assert (found.state, found.symbol, found.why) == ("changed", "twice", "second is not there; now in twice")
    start, end = (garden.folder / "calc.py").read_text().index("def twice"), CODE.index("class Basket") - 1
    garden.commit("calc.py", (garden.folder / "calc.py").read_text()[:start] + CODE[end + 1 :])
    assert (garden.follow(anchor).state, garden.follow(anchor).why) == ("gone", "second is not there")


def test_a_function_that_became_a_method_moved(garden: Garden) -> None:
    anchor = garden.pin("calc.py::second")
    start, end = CODE.index("def second"), CODE.index("class Basket")
    body = "".join(
        f"    {line}" if line.strip() else line for line in CODE[start:end].rstrip().splitlines(keepends=True)
    )
    garden.commit("calc.py", CODE[:start] + CODE[end:] + "\n" + body + "\n")
    found = garden.follow(anchor)
    assert (found.state, found.symbol, found.why) == ("moved", "Basket.second", "second is now Basket.second")


@pytest.mark.parametrize(
    ("path", "code", "name", "old", "new"),
    [
        ("a.js", "const x = 1\nexport function grow(a) {\n  return a + 1\n}\n", "grow", "a + 1", "a + 2"),
        ("a.ts", "export class Pot {\n  water(litres: number) {\n    return 1\n  }\n}\n", "Pot.water", "1", "2"),
        ("a.go", "package a\n\nfunc (p *Pot) Water() int {\n\treturn 1\n}\n", "Pot.Water", "1", "2"),
        ("a.rs", "impl Pot {\n    fn water(&self) -> u8 {\n        1\n    }\n}\n", "Pot::water", "1", "2"),
        ("A.java", "class Pot {\n  int water() {\n    return 1;\n  }\n}\n", "Pot.water", "1", "2"),
        ("a.c", "int *water(int a) {\n  return 1;\n}\n", "water", "1", "2"),
        ("a.cpp", "int garden::Pot::water() {\n  return 1;\n}\n", "garden::Pot::water", "1", "2"),
        ("a.rb", "module Garden\n  def water\n    1\n  end\nend\n", "Garden#water", "1", "2"),
    ],
)
def test_symbols_of_other_languages(garden: Garden, path: str, code: str, name: str, old: str, new: str) -> None:
    garden.commit(path, code)
    anchor = garden.pin(f"{path}::{name}")
    garden.commit(path, f"\n\n{code}")
    assert garden.follow(anchor).state == "ok"
    garden.commit(path, code.replace(old, new))
    assert garden.follow(anchor).state == "changed"


def test_a_symbol_in_several_places_lies_from_the_first_to_the_last(garden: Garden) -> None:
    code = "impl A for C {\n    fn f(&self) {}\n}\nimpl B for C {\n    fn f(&self) {}\n}\n"
    garden.commit("a.rs", code)
    anchor = garden.pin("a.rs::C::f")
    assert garden.follow(anchor).lines == (2, 5)
    garden.commit("a.rs", f"\n{code}")
    assert garden.follow(anchor).lines == (3, 6)


def test_a_file_that_no_longer_parses_is_followed_by_its_lines(garden: Garden) -> None:
    anchor = garden.pin("calc.py::second")
    garden.edited("import os\n", "import os\ndef (\n")
    found = garden.follow(anchor)
    assert told(found) == ("moved", "calc.py", (12, 17))
    assert "not Python that can be read" in found.why


# Patterns and dependencies.


def test_a_pattern_is_a_text_in_files(garden: Garden) -> None:
    anchor = garden.pin("pattern:*.py:LIMIT = 42")
    assert told(garden.follow(anchor)) == ("ok", "calc.py", (3, 3))
    git(garden.folder, "mv", "calc.py", "sums.py")
    garden.commit()
    assert told(garden.follow(anchor)) == ("ok", "sums.py", (3, 3))
    git(garden.folder, "rm", "-q", "sums.py")
    garden.commit("note.txt", "LIMIT = 42\n")
    assert garden.follow(anchor).state == "gone"
    with pytest.raises(pinning.AnchorMissing, match="no file of"):
        garden.pin("pattern:**:no such text -e here")


def test_a_dependency_is_named_in_a_manifest(garden: Garden) -> None:
    garden.write("pyproject.toml", '[project]\nname = "x"\ndependencies = ["Zope.Interface>=5"]\n')
    garden.write("web/package.json", '{"devDependencies": {"@scope/ui": "^1.0"}}')
    garden.write("go.mod", "module x\n\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n")
    garden.write("Cargo.toml", '[dependencies]\nserde = { version = "1", features = ["derive"] }\n')
    garden.write("requirements-dev.txt", "# tools\npytest>=8  # tests\n-r other.txt\n")
    garden.write("broken/package.json", '{"dependencies": ["react"]}')
    garden.commit()
    names = ("zope_interface", "@scope/ui", "github.com/a/b", "serde", "pytest")
    anchors = [garden.pin(f"dep:{name}") for name in names]
    assert [garden.follow(anchor).path for anchor in anchors] == [
        "pyproject.toml", "web/package.json", "go.mod", "Cargo.toml", "requirements-dev.txt",
    ]  # fmt: skip
    assert anchors[0].quote == "Zope.Interface>=5"
    garden.commit("pyproject.toml", '[project]\nname = "x"\ndependencies = ["zope.interface>=6"]\n')
    found = garden.follow(anchors[0])
    assert (found.state, found.why) == ("changed", "Zope.Interface>=5 is now zope.interface>=6")
    garden.commit("pyproject.toml", '[project]\nname = "x"\n')
    assert garden.follow(anchors[0]).state == "gone"
    assert str(garden.pin("dep:web/package.json:@scope/ui")) == "dep:web/package.json:@scope/ui"
    with pytest.raises(pinning.AnchorMissing, match="no file here"):
        garden.pin("dep:react")
    named = garden.pin("dep:web/package.json:@scope/ui")
    git(garden.folder, "mv", "web", "site")
    garden.commit()
    found = garden.follow(named)
    assert (found.state, found.why) == ("gone", "@scope/ui is not in web/package.json; site/package.json requires it")
    git(garden.folder, "rm", "-qr", "site")
    garden.commit()
    assert garden.follow(named).why == "@scope/ui is not in web/package.json"


# Pinning, again.


def test_what_is_not_there_is_refused_with_what_is_near(garden: Garden) -> None:
    garden.commit("web/app.js", "deep down\n")
    for given, why in (
        ("calk.py", "there is calc.py"),
        ("source/kept/calc.py", "there is calc.py"),
        ("nowhere/at/all", "there is no such file"),
        ("pattern:*.js:deep down", r"no file of \*.js has this text; web/app.js has it, which is one of \*\*/\*.js$"),
        ("pattern:*.js:nowhere at all", r"no file of \*.js has this text$"),
        ("calc.py:20-99", "has 23 lines, not 20-99"),
        ("web/app.js:2", "has 1 line, not 2$"),
        ("calc.py::secund", "such as calc.py::second"),
        ("calc.py::zzz", "such as calc.py::LIMIT"),
        ("app.py::answer.x", "such as app.py::answer"),
    ):
        with pytest.raises(MementoError, match=why):
            garden.pin(given)


def test_whoever_confirms_pins_again_where_it_is_now(garden: Garden) -> None:
    anchors = [garden.pin(SECOND), garden.pin("calc.py::second"), garden.pin("calc.py:3")]
    git(garden.folder, "mv", "calc.py", "sums.py")
    text = CODE.replace("* 2", "* 3").replace("import os", "import os\nimport re").replace("LIMIT = 42\n\n\n", "")
    garden.commit("sums.py", text)
    with following.opened(Git(garden.folder)) as follower:
        head = follower.at("HEAD")
        found = follower.follow(anchors, head)
        again = [pinning.pin_again(anchor, one, follower, head) for anchor, one in zip(anchors, found, strict=True)]
    assert again[2] is None
    for one in again[:2]:
        assert one is not None
        assert (one.path, garden.follow(one).state) == ("sums.py", "ok")


def test_many_are_pinned_and_confirmed_at_once(garden: Garden, tmp_path: Path) -> None:
    garden.commit("pyproject.toml", '[project]\ndependencies = ["click>=8"]\n')
    garden.write("fresh.py", "one = 1\ntwo = 2\nthree = 3\n")
    given = [SECOND, "calc.py::first", "dep:click", "pattern:**:LIMIT = 42", "fresh.py:3", "calc.py:22-23"]
    pinned = pinning.pin_here(Git(garden.folder), [parse(one) for one in given])
    assert [bool(one.blob) for one in pinned] == [True, True, False, False, False, True]
    text = CODE.replace("* 2", "* 3").replace("LIMIT = 42", "LIMIT = 43").replace("import os", "import os\nimport re")
    garden.write("pyproject.toml", '[project]\ndependencies = ["click>=9"]\n')
    garden.commit("calc.py", text[: text.index("class Basket")])
    again = pinning.confirm_here(Git(garden.folder), pinned)
    assert [str(one) for one in again] == ["calc.py:12-17", *given[1:3], "None", given[4], "None"]
    with following.opened(Git(garden.folder)) as follower:
        found = follower.follow([one for one in again if one], follower.at("HEAD"))
    assert [one.state for one in found] == ["ok"] * 4
    assert again[2]
    assert again[2].quote == "click>=9"
    git(tmp_path, "clone", "-q", "--bare", str(garden.folder), "bare.git")
    bare = Git(tmp_path / "bare.git")
    assert pinning.pin_here(bare, [parse("calc.py:3")])[0].blob
    assert pinning.pin_here(bare, []) == pinning.confirm_here(bare, []) == []


def test_before_the_first_commit_nothing_is_pinned(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "new")
    (tmp_path / "new" / "a.py").write_text("answer = 42\n")
    new = Git(tmp_path / "new")
    [anchor] = pinning.pin_here(new, [parse("a.py:1")])
    assert (anchor.blob, anchor.quote) == ("", "answer = 42")
    assert pinning.confirm_here(new, [anchor]) == [None]
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    with pytest.raises(pinning.AnchorMissing, match="nothing is committed yet"):
        pinning.pin_here(Git(tmp_path / "bare.git"), [parse("a.py:1")])


def test_a_work_tree_in_the_middle_of_a_merge_can_be_looked_at(garden: Garden) -> None:
    anchor = garden.pin(SECOND)
    git(garden.folder, "checkout", "-qb", "side")
    garden.edited("number * 2", "number * 4")
    git(garden.folder, "checkout", "-q", "main")
    garden.edited("number * 2", "number * 3")
    git(garden.folder, "merge", "-q", "side", check=False)
    with following.opened(Git(garden.folder)) as follower:
        assert follower.follow([anchor], follower.work_tree([anchor]))[0].state == "changed"
    assert "UU calc.py" in git(garden.folder, "status", "--short")


def test_a_change_is_held_against_the_code_right_before_it(garden: Garden) -> None:
    notes = [("note_1", garden.pin(SECOND)), ("note_2", garden.pin("calc.py::first")), ("note_3", garden.pin("app.py"))]
    garden.commit("requirements.txt", "click>=8\n")
    notes += [("note_4", garden.pin("pattern:**:LIMIT = 42")), ("note_5", garden.pin("dep:click"))]
    garden.commit("requirements.txt", "click>=9\n")
    one = garden.edited("number * 2", "number * 3")
    two = garden.edited("import os\n", "import os\nimport re\n")
    three = garden.edited("    return doubled", "    return doubled + 1")
    four = garden.edited("LIMIT = 42", "LIMIT = 43")
    with following.opened(Git(garden.folder)) as follower:

        def touched(older: str, newer: str) -> list[tuple[str, str]]:
            found = follower.touched(notes, follower.at(older), follower.at(newer))
            return [(touch.note, touch.found.state) for touch in found]

        assert touched(f"{one}^", one) == [("note_1", "changed")]
        assert touched(one, two) == []
        assert touched(two, three) == [("note_1", "changed")]
        assert touched(three, four) == [("note_4", "gone")]
        git(garden.folder, "mv", "app.py", "main.py")
        garden.commit()
        assert touched(four, "HEAD") == [("note_3", "moved")]
        garden.write("calc.py", "x = 1\n")
        git(garden.folder, "add", ".")
        found = follower.touched(notes, follower.at("HEAD"), follower.staged())
        assert [(touch.note, touch.found.state) for touch in found] == [("note_1", "gone"), ("note_2", "gone")]
        assert found[0].data()["anchor"] == SECOND


def test_ok_and_moved_are_only_said_of_the_same_text(garden: Garden) -> None:
    """Files of lines that are all different, cut, grown and shuffled at random; each range is judged by its text."""
    dice = random.Random(5)
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for number in range(60):
        path = f"made{number}.txt"
        before[path] = [f"{dice.choice(WORDS)} {dice.choice(WORDS)} {number} {n * 7919}" for n in range(40)]
        lines = [line for line in before[path] if dice.random() > 0.1]
        for _ in range(dice.randint(0, 6)):
            lines.insert(dice.randint(0, len(lines)), f"another {dice.choice(WORDS)} {dice.random()}")
        if number % 4 == 0:
            cut = dice.randint(1, len(lines) - 6)
            lines = lines[:cut] + lines[cut + 5 :] + lines[cut : cut + 5]
        after[path] = lines
        garden.write(path, "\n".join(before[path]) + "\n")
    garden.commit()
    anchors = []
    with following.opened(Git(garden.folder)) as follower:
        head = follower.at("HEAD")
        for path in before:
            for _ in range(5):
                first = dice.randint(1, 40)
                wanted = Anchor(path, (first, min(40, first + dice.randint(0, 6))))
                anchors.append(pinning.pin(wanted, follower, head, None))
    for path, lines in after.items():
        garden.write(path, "\n".join(lines) + "\n")
    garden.commit()
    with following.opened(Git(garden.folder)) as follower:
        results = follower.follow(anchors, follower.at("HEAD"))
    for anchor, found in zip(anchors, results, strict=True):
        assert anchor.lines is not None
        old = before[anchor.path][anchor.lines[0] - 1 : anchor.lines[1]]
        new = after[anchor.path]
        same = any(new[start : start + len(old)] == old for start in range(len(new)))
        assert (found.state in ("ok", "moved")) == same, (anchor, found)
        if same and found.lines:
            assert new[found.lines[0] - 1 : found.lines[1]] == old
        if not set(old) & set(new):
            assert found.state in ("gone", "changed")
    assert {found.state for found in results} == {"ok", "moved", "changed", "gone"}
