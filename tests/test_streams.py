"""What a command showed is what is recorded, and what we say arrives whole, whatever our own streams lead to."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import evidences, tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.play import Play

MEMENTO = [sys.executable, "-m", "memento_git"]
LINE = "y" * 99 + "\n"
LONG = f"import sys; sys.stdout.write({LINE!r} * 1500 + 'FAILED\\n')"
WHOLE = (LINE * 1500 + "FAILED\n").encode()
SLOW = 4.0


def recorded(play: Play) -> dict[str, Any]:
    """Return what the only evidence says of its command."""
    (found,) = play.state(play.ledger.view().runs()[0]).ids("evidence")
    evidence = play.state(found).evidence_named(found)
    command: dict[str, Any] = evidence.data["command"]
    return command


def is_whole(play: Play) -> bool:
    """Tell whether all that the long command wrote is what was recorded, with its end."""
    stream = recorded(play)["stdout"]
    (kept,) = play.root.glob(".memento/runs/*/evidence/*/*/stdout.txt")
    same = (stream["bytes"], stream["sha256"]) == (len(WHOLE), hashlib.sha256(WHOLE).hexdigest())
    return same and kept.read_text().endswith("FAILED\n")


@contextlib.contextmanager
def started(play: Play, *arguments: str, unblocked: bool = False, **options: Any) -> Iterator[tuple[Any, int]]:
    """Start the command line with a pipe for its standard output; give the process, and the end to read from."""
    reader, writer = os.pipe()
    os.set_blocking(writer, not unblocked)
    process = subprocess.Popen([*MEMENTO, *arguments], cwd=play.root, stdout=writer, **options)
    os.close(writer)
    try:
        yield process, reader
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def read_all(reader: int) -> bytes:
    return b"".join(iter(lambda: os.read(reader, 65536), b""))


def long_run(marker: Path) -> list[str]:
    """Return the evidence run of a command that writes more than pipes hold, and leaves a mark when it has."""
    return ["evidence", "run", "--", sys.executable, "-c", f"{LONG}; sys.stdout.flush(); open({str(marker)!r}, 'w')"]


def await_file(path: Path) -> None:
    end = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_slow_reader_changes_nothing_of_what_is_recorded_and_gets_all(play: Play, tmp_path: Path) -> None:
    play.run()
    with started(play, *long_run(tmp_path / "done")) as (process, reader):
        first = os.read(reader, 40_000)
        await_file(tmp_path / "done")
        time.sleep(SLOW)
        assert first + read_all(reader) == WHOLE
        assert process.wait(30) == 0
    assert is_whole(play)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_who_will_not_wait_for_a_reader_loses_nothing_of_what_is_recorded(
    play: Play, tmp_path: Path, name: str
) -> None:
    play.run()
    with started(play, *long_run(tmp_path / "done")) as (process, reader):
        os.read(reader, 40_000)
        await_file(tmp_path / "done")
        time.sleep(0.5)
        process.send_signal(signal.Signals[name])
        assert process.wait(30) == 0
    assert is_whole(play)


def test_a_reader_who_never_reads_holds_no_command_beyond_its_time(play: Play) -> None:
    play.run()
    with started(play, "evidence", "run", "--timeout", "1s", "--", "yes") as (process, _):
        assert process.wait(30) == 143
    assert recorded(play)["timed_out"] is True


def test_what_a_command_leaves_running_holds_nobody_however_much_it_writes(play: Play) -> None:
    play.run()
    with started(play, "evidence", "run", "--", "sh", "-c", "yes & echo done", stderr=subprocess.DEVNULL) as (
        process,
        reader,
    ):
        read_all(reader)
        assert process.wait(30) == 0
    assert recorded(play)["stdout"]["bytes"] > len("done\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("form", ["", "--json"])
def test_streams_that_are_closed_change_no_verdict(play: Play, closed: str, form: str) -> None:
    play.run()
    script = f'"$0" -m memento_git evidence run {form} -- sh -c "echo seen; echo told >&2; exit 7" {closed}'
    done = subprocess.run(["sh", "-c", script, sys.executable], cwd=play.root, capture_output=True, check=False)
    assert done.returncode == 7
    assert b"memento-bug" not in done.stdout + done.stderr
    command = recorded(play)
    assert (command["stdout"]["bytes"], command["stderr"]["bytes"]) == (5, 5)


def test_a_host_whose_standard_output_is_no_file_sees_nothing_and_records_all(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.run()
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stdout", stream)
        draft = evidences.witness(play.ledger, [sys.executable, "-c", "print('seen')"])
        assert draft.data["command"]["stdout"]["bytes"] == 5


@pytest.mark.parametrize("buffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_an_answer_arrives_whole_where_standard_output_does_not_wait(play: Play, buffered: str) -> None:
    play.run()
    play.ledger.change("task add", lambda tx: [tasks.add_task(tx, f"{number} {'t' * 200}") for number in range(150)])
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    arguments = ["task", "list", "--json", "--limit", "0"]
    expected = subprocess.run([*MEMENTO, *arguments], cwd=play.root, stdout=subprocess.PIPE, check=True).stdout
    with started(play, *arguments, unblocked=True, env=environment) as (process, reader):
        time.sleep(2)
        assert read_all(reader) == expected
        assert process.wait(30) == 0
    assert len(json.loads(expected)["tasks"]) == 150
    assert len(expected) > 65536


def test_output_arrives_whole_where_standard_output_does_not_wait(play: Play, tmp_path: Path) -> None:
    play.run()
    with started(play, *long_run(tmp_path / "done"), unblocked=True) as (process, reader):
        time.sleep(2)
        assert read_all(reader) == WHOLE
        assert process.wait(30) == 0
    assert is_whole(play)


def test_all_of_standard_input_is_read_where_it_does_not_wait(play: Play) -> None:
    play.run()
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with subprocess.Popen([*MEMENTO, "apply", "-"], cwd=play.root, stdin=reader, stdout=subprocess.PIPE) as process:
        os.close(reader)
        os.write(writer, b"- do: task add\n  title: One\n")
        time.sleep(3)
        os.write(writer, b"- do: task add\n  title: Two\n")
        os.close(writer)
        told, _ = process.communicate(timeout=30)
    assert (process.returncode, told.count(b"task add")) == (0, 2)


def test_what_a_command_leaves_running_is_waited_for_once_and_not_for_each_stream(play: Play) -> None:
    play.run()
    draft = evidences.witness(play.ledger, ["sh", "-c", "(sleep 3; echo late >&2; sleep 2) & echo now"], quiet=True)
    command = draft.data["command"]
    assert (command["stdout"]["bytes"], command["stderr"]["bytes"]) == (4, 0)


@pytest.mark.parametrize("printed", ["printf x", "echo x", "printf x >&2", "true", "yes | head -c 40001"])
@pytest.mark.parametrize("is_shown", [True, False])
def test_what_we_tell_begins_a_line_of_its_own_on_a_terminal(play: Play, printed: str, *, is_shown: bool) -> None:
    play.run()
    exact = subprocess.run(["sh", "-c", printed], capture_output=True, check=True)
    ours, theirs = os.openpty()
    words = [*MEMENTO, "evidence", "run", "--", "sh", "-c", printed]
    with subprocess.Popen(words, cwd=play.root, stdout=theirs if is_shown else subprocess.PIPE, stderr=theirs) as done:
        os.close(theirs)
        told = b"".join(_read(ours))
        out = done.stdout.read() if done.stdout else b""

    shown = exact.stderr + (exact.stdout if is_shown else b"")
    line = shown if shown[-1:] in (b"", b"\n") else shown + b"\n"
    assert told.replace(b"\r\n", b"\n").partition(b"recorded ")[0] == line
    assert out == (b"" if is_shown else exact.stdout)


def _read(terminal: int) -> Iterator[bytes]:
    """Yield what is shown on a terminal until nobody has its other end."""
    with open(terminal, "rb", buffering=0) as stream, contextlib.suppress(OSError):  # of Linux: its end
        while chunk := stream.read(65536):
            yield chunk
