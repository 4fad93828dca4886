"""Cheats with YAML: what a parser and a person read differently. Each is an error in the file, and nothing happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cheats.forging import GATE, MAIN
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cheats.doors import Doors

    Edit = Callable[[bytes], bytes]


def swap(old: bytes, new: bytes) -> Edit:
    def edit(text: bytes) -> bytes:
        assert old in text, text
        return text.replace(old, new)

    return edit


def add(line: bytes) -> Edit:
    return lambda text: text + line


TRICKS: dict[str, tuple[Edit, str]] = {
    "anchor and alias": (swap(b"note: Fine.", b"note: &a Fine.\nreason: *a"), "F001"),
    "alias to nothing": (swap(b"note: Fine.", b"note: *a"), "F001"),
    "a key that stands twice": (add(b"gate: release\n"), "F001"),
    "a key that stands twice, quoted": (add(b'"gate": release\n'), "F001"),
    "a tag of Python": (swap(b"note: Fine.", b"note: !!python/object/apply:os.system [true]"), "F001"),
    "a tag that makes a number": (swap(b"note: Fine.", b"note: !!int 1"), "F001"),
    "a tag of its own": (swap(b"note: Fine.", b"note: !note Fine."), "F001"),
    "a directive": (lambda text: b"%TAG ! tag:x,2026:\n--- \n" + swap(b"note: Fine.", b"note: !y Fine.")(text), "F001"),
    "a merge key": (add(b"<<: {do: passed}\n"), "F002"),
    "a merge key with an alias": (swap(b"note: Fine.", b"note: &n Fine.\n<<: *n"), "F001"),
    "two documents": (add(b"---\ndo: failed\n"), "F001"),
    "two documents, the second read": (lambda text: b"do: failed\n---\n" + text, "F001"),
    "an end of document": (add(b"...\ndo: failed\n"), "F001"),
    "a byte order mark": (lambda text: b"\xef\xbb\xbf" + text, "F001"),
    "UTF-16": (lambda text: text.decode().encode("utf-16"), "F001"),
    "UTF-16 without a mark": (lambda text: text.decode().encode("utf-16-le"), "F001"),
    "Latin-1": (swap(b"note: Fine.", b"note: F\xefne."), "F001"),
    "NUL": (swap(b"note: Fine.", b"note: Fi\x00ne."), "F001"),
    "NUL, escaped": (swap(b"note: Fine.", b'note: "Fi\\0ne."'), "F002"),
    "a bell": (swap(b"note: Fine.", b"note: Fi\x07ne."), "F001"),
    "a tab for indentation": (swap(b"note: Fine.", b"note:\n\t- Fine."), "F001"),
    "a list for a text": (swap(b"note: Fine.", b"note: [Fine.]"), "F002"),
    "a key that is a list": (add(b"? [a]\n: b\n"), "F001"),
    "a mapping for a verb": (swap(b"do: passed", b"do: {passed: }"), "F002"),
    "an unknown key": (add(b"forced: true\n"), "F002"),
    "a key in other letters": (add(b"Gate: release\n"), "F002"),
    "nothing at all": (lambda _: b"", "F002"),
    "a null document": (lambda _: b"~\n", "F002"),
    "a hundred thousand brackets": (lambda _: b"[" * 100_000, "F001"),
    "a billion laughs": (lambda _: b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "F001"),
    "more than a mebibyte": (swap(b"note: Fine.", b"note: " + b"x" * 1_100_000), "F001"),
    "a line break that only the parser sees": (swap(b"note: Fine.", "note: Fine. #\u2028reason: x".encode()), "F001"),
    "a paragraph break in a comment": (add("# harmless \u2029reason: x\n".encode()), "F001"),
    "a next-line character in a comment": (add("# harmless \u0085reason: x\n".encode()), "F001"),
    "a carriage return in a comment": (add(b"# harmless \rreason: x\n"), "F001"),
    "a comment that runs backwards": (add("# \u202edessap :od\n".encode()), "F001"),
    "a verb in look-alike letters": (swap(b"do: passed", "do: p\u0430ssed".encode()), "F002"),
    "a gate in look-alike letters": (swap(b"quality_review", "qu\u0430lity_review".encode()), "F002"),
    "a merge conflict": (add(b"<<<<<<< ours\nreason: a\n=======\nreason: b\n>>>>>>> theirs\n"), "F001"),
}


@pytest.mark.parametrize("trick", sorted(TRICKS))
def test_a_verdict_with_a_trick_of_yaml_is_an_error_and_no_verdict(doors: Doors, trick: str) -> None:
    """Way: a gate's verdict says one thing to whoever looks at the diff, and another to some parser."""
    edit, code = TRICKS[trick]
    run = doors.play.state(doors.play.task("One")).id
    doors.play.gate(GATE, "failed", reason="No.")
    doors.landed()
    path, data = doors.drafted(run, "passed", gate=GATE, note="Fine.")
    doors.write(path, edit(data))
    assert doors.gate(GATE, run) == "failed"
    doors.caught(code, "E001")
    assert doors.check("--at", "work")[0] == 5
    task = doors.play.state(run).tasks()[0]
    doors.refused("record_incomplete", "dispatch create", task=task, executor="agent")


@pytest.mark.parametrize("line_end", [b"\r\n", b"  \n", b" # as agreed\n"])
def test_what_changes_no_value_changes_no_verdict(doors: Doors, line_end: bytes) -> None:
    """Not a way: line ends of another system, trailing spaces, comments. The digest covers them all the same."""
    run = doors.play.state(doors.play.task("One")).id
    doors.landed()
    path, data = doors.drafted(run, "failed", gate=GATE, note="No.")
    doors.write(path, data.replace(b"\n", line_end))
    assert doors.gate(GATE, run) == "failed"
    doors.sound()
    if line_end != b"\r\n":  # git's attributes of the ledger let no other line end into a commit
        doors.landed()
        doors.write(path, data)
        doors.caught("D001")


NUMBERS = {
    "an octal": b"0o0", "an octal as once": b"00x0", "a sexagesimal": b"0:0", "a hexadecimal": b"0x0",
    "a float": b"0.0",
    "an exponent": b"0e5", "a sign": b"+0", "underscores": b"0_0", "infinity": b".inf", "huge": b"0" * 400 + b"1",
    "digits of another script": "\u0660".encode(), "a word": b"no", "null": b"~", "a list": b"[0]",
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(NUMBERS))
def test_an_exit_code_that_is_no_plain_number_is_an_error(doors: Doors, kind: str) -> None:
    """Way: an exit code that one parser takes for zero and another for a failure."""
    task = doors.play.task("One")
    claim = doors.play.claimed(task)
    bad = doors.play.evidence(task, code=1)
    path = doors.path(bad)
    text = (doors.root / path).read_bytes().replace(b"outcome: failed", b"outcome: passed")
    told = doors.completion(task, bad, dispatch=claim)
    doors.write(path, text.replace(b"exit: 1", b"exit: " + NUMBERS[kind]))
    doors.forge(task, "completed", **told)
    git(doors.root, "branch", "-qf", MAIN, "HEAD~2")
    doors.caught("F002", "L002", "P001")
    doors.unproven(task, "is missing or is not the file that was cited")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("title: One", "title: One\ntitle: Two", "F001"),
        ("title: One", "title: &t One\nrole: *t", "F001"),
        ("title: One", "title: !!str One", ""),
        ("title: One", "title: One # \u2028depends_on: []", "F001"),
        ("---\nid", "--- # x\nid", "F001"),
        ("---\nid", "\ufeff---\nid", "F001"),
        ("criteria:", "Criteria:", "F002"),
    ],
)
def test_tricks_in_the_head_of_a_text_are_errors(doors: Doors, old: str, new: str, code: str) -> None:
    """Way: the criteria that a person reads are not those that count."""
    task = doors.play.task("One", criteria=["Hard"])
    doors.landed()
    path = doors.path(task)
    doors.write(path, (doors.root / path).read_text().replace(old, new))
    if not code:
        doors.sound()
        return
    doors.caught(code)
    doors.refused("ledger_broken", "dispatch create", task=task, executor="agent")


def test_a_head_that_ends_early_leaves_what_follows_as_text(doors: Doors) -> None:
    """Way: a second `---` closes the head before the line that a person takes for part of it. The digest is another."""
    task = doors.play.proven("One")
    doors.landed()
    path = doors.path(task)
    text = (doors.root / path).read_text()
    doors.write(path, text.replace("\n---\n", "\n---\ndepends_on: []\n---\n", 1))
    doors.unproven(task, "text changed")
    doors.warned("D007", "P001")


def test_apply_takes_no_tricks_either(doors: Doors) -> None:
    """Way: the same through `memento apply`, whose verbs come as YAML."""
    doors.play.task("One")
    for text in (
        "- {do: gate record, gate: quality_review, verdict: failed, verdict: passed}\n",
        "- &a {do: gate record, gate: quality_review, verdict: passed}\n- *a\n",
        "- !!python/name:os.system\n",
        "- {do: gate record, gate: quality_review, verdict: passed}\n---\n- {do: nothing}\n",
    ):
        verbs = doors.root.parent / "verbs.yaml"
        verbs.write_text(text)
        before = git(doors.root, "rev-parse", "HEAD")
        code, out, _ = doors.cli("apply", str(verbs), "-C", str(doors.root), "--json")
        assert (code in (1, 2), '"ok": false' in out, git(doors.root, "rev-parse", "HEAD")) == (True, True, before), out
