"""Running the user's command as a witness: its output passes through, what it printed is kept and hashed."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git import __version__
from memento_git.errors import Misused, Refused, reason_of
from memento_git.ledger import processes
from memento_git.ledger.process_groups import stop_group
from memento_git.model.types import FOLDER, FORBIDDEN
from memento_git.texts.secret_values import rest_of_key
from memento_git.texts.secrets import NOTHING, redact_parts
from memento_git.work.proof.verification import OUTSIDE, named_argument
from memento_git.work.running.tee import Stream, Tee, finish, sink_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memento_git.ledger.git import Git

ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
MACHINE_PATH: Final = re.compile(r"(?:(?<![\w./~>])|(?<=file://))/(?:[\w.+@~-]+/)+[\w.+@~-]*")
ROOTS: Final = {
    "usr", "home", "opt", "var", "tmp", "etc", "root", "mnt", "media", "srv", "run", "lib", "nix", "snap",
    "Users", "private", "Library",
}  # fmt: skip
SHARED: Final = "/dev/shm/"  # noqa: S108 (it is recognised; nothing is written there)


class CommandMissing(Misused):
    token = "command_missing"
    sentence = "there is no command to run"
    hint_ = "put it after two dashes: memento evidence run -- pytest -q"


class CommandNotStarted(Refused):
    token = "command_not_started"
    sentence = "{argv0} could not be started: {reason}"
    hint_ = (
        "check the name, PATH and the limits of this machine (ulimit -a); its words stand apart, and a line for a "
        "shell is given as sh -c LINE; nothing was recorded"
    )


class OutsideRepository(Refused):
    token = "outside_repository"
    sentence = "{path} is outside the repository"
    hint_ = "records hold only what a colleague's clone has too"


class Captured(NamedTuple):
    """One run of a command."""

    exit: int
    signal: int | None
    timed_out: bool
    seconds: float
    stdout: Stream
    stderr: Stream
    interrupted: str = ""


def run_command(
    argv: Sequence[str], cwd: Path, *, keep: int, timeout: float | None = None, quiet: bool = False,
    silent: bool = False,
) -> Captured:  # fmt: skip
    """Run a command and wait for it; its output passes through, to stderr alone when stdout is needed (`quiet`).

    A `silent` command shows nothing and reads nothing: its standard input is empty.
    """
    sinks = (None, None) if silent else (sink_of(sys.stderr if quiet else sys.stdout), sink_of(sys.stderr))
    started = time.monotonic()
    stdin = subprocess.DEVNULL if silent else None
    process, tees = start(argv, sinks, keep, cwd=cwd, stdin=stdin, start_new_session=timeout is not None)
    timed_out, interrupted = _wait(process, timeout)
    seconds = time.monotonic() - started
    hurried: list[int] = []
    with taken(lambda number, _: hurried.append(number)):
        finish(tees, lambda: timed_out or bool(hurried))
    interrupted = interrupted or (signal.SIGINT.name if hurried else "")
    return captured(process.returncode, tees, seconds, timed_out=timed_out)._replace(interrupted=interrupted)


def start(
    argv: Sequence[str], sinks: Sequence[int | None], keep: int, **options: Any
) -> tuple[subprocess.Popen[bytes], list[Tee]]:
    """Start a command, and what records and passes on its two streams; refuse one that cannot be started.

    Where the machine has no thread left to read a stream, the command is ended: nobody would be its witness.
    """
    if not argv:
        raise CommandMissing
    try:
        process = subprocess.Popen(list(argv), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    except (OSError, ValueError) as error:
        raise CommandNotStarted(argv0=argv[0] or "''", reason=reason_of(error)) from None
    pipes = zip((process.stdout, process.stderr), sinks, strict=True)
    tees = [Tee(pipe, sink, keep) for pipe, sink in pipes if pipe is not None]
    try:
        for tee in tees:
            tee.start()
    except RuntimeError as error:
        stop_group(process)
        raise CommandNotStarted(argv0=argv[0], reason=str(error)) from None
    return process, tees


def captured(code: int, tees: Sequence[Tee], seconds: float, *, timed_out: bool) -> Captured:
    """Return what a command that has ended came to, by the code that the system tells."""
    killed = -code if code < 0 else None
    out, err = (tee.result() for tee in tees)
    return Captured(128 + killed if killed else code, killed, timed_out, seconds, out, err)


def _wait(process: subprocess.Popen[bytes], timeout: float | None) -> tuple[bool, str]:
    """Wait for the command; tell whether it had to be ended for taking too long, and by which signal we should end.

    A terminal's interrupt reaches the command by itself. Who asks us alone to end means the command, and all of it.
    """
    asked: list[str] = []
    ending: list[threading.Thread] = []

    def pass_on(number: int, frame: object) -> None:  # noqa: ARG001 (the signal module's shape)
        asked.append(signal.Signals(number).name)
        if number != signal.SIGINT:
            ending.append(threading.Thread(target=lambda: processes.end("", processes.of(process.pid))))
            ending[-1].start()
        elif timeout is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)

    late = False
    with taken(pass_on):
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            stop_group(process)
            late = True
        for thread in ending:
            thread.join()
    return late, asked[0] if asked else ""


@contextlib.contextmanager
def taken(handler: Callable[[int, object], None]) -> Iterator[None]:
    """Take the signals that end a process, while the block runs; one that is ignored stays so."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ENDING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, own in before.items():
            signal.signal(number, own)


def fit(text: str) -> str:
    """Return a text with escapes for the characters that a record must not hold."""
    return FORBIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class Scrubber:
    """Takes a machine's own paths out of what enters the ledger."""

    def __init__(self, top: Path, *others: Path) -> None:
        home = os.path.expanduser("~")  # noqa: PTH111 (no home must not raise)
        known = [(str(top), "."), *((str(path), "<repository>") for path in others if path != top)]
        known += [(home, "~")] if len(home) > 1 else []
        self.known = [(re.compile(rf"{re.escape(path)}(?=[/\s\"':,)\]]|$)"), name) for path, name in known]

    def text(self, text: str) -> str:
        """Return a text with the checkout as `.`, the home folder as `~`, of other paths of a machine the end."""
        return MACHINE_PATH.sub(_end_of, self._own(text))

    def argument(self, argument: str, *, program: bool = False) -> str:
        """Return one argument; of an absolute path elsewhere its name alone is kept."""
        return fit(named_argument(self._own(argument), program=program))

    def _own(self, text: str) -> str:
        for path, name in self.known:
            text = path.sub(name, text)
        return text


def _end_of(found: re.Match[str]) -> str:
    """Return of a path on a machine what it is called on others too; what looks like one only stays as it is."""
    path = found[0].rstrip("/")
    if path.split("/", 2)[1] not in _roots() and not path.startswith(SHARED):
        return found[0]
    _, package, rest = path.rpartition("/site-packages/")
    return f"{OUTSIDE}{package}{rest}" if package else f"{OUTSIDE}/{path.rpartition('/')[2]}"


@functools.cache
def _roots() -> frozenset[str]:
    """Return what lies at the top of file systems, this one's among them; without what is the same on all machines."""
    try:
        here = os.listdir("/")  # noqa: PTH208 (names are all that is asked for)
    except OSError:
        here = []
    return frozenset({*ROOTS, *here} - {"dev", "proc", "bin", "sbin"})


def stream_record(
    stream: Stream, name: str, scrubber: Scrubber, known: Mapping[str, str] = NOTHING
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what evidence says of a stream, and the file that is kept of it; `known` are secrets that it may repeat.

    It is redacted before it is cut.
    """
    told: dict[str, Any] = {"sha256": stream.sha256, "bytes": stream.size}
    if not stream.size:
        return told, {}
    if b"\0" in stream.head or b"\0" in stream.tail:
        return {**told, "binary": True}, {}
    parts, redacted = _redacted(stream, known)
    text = f"\n[... {stream.cut} bytes left out ...]\n".join(scrubber.text(part) for part in parts)
    kept = text.encode()
    told |= {"kept": name, "kept_sha256": hashlib.sha256(kept).hexdigest(), "cut": stream.cut or None}
    if redacted:
        told["redacted"] = dict(sorted(redacted.items()))
    return told, {name: kept}


def _redacted(stream: Stream, known: Mapping[str, str]) -> tuple[list[str], dict[str, int]]:
    """Return what is kept of a stream, in one part or two, and how many secrets were in it by rule."""
    if not stream.cut:
        text = (stream.head + stream.tail).decode(errors="replace")
        return redact_parts(text, [(0, len(text))], known=known)
    is_whole = len(stream.head) + len(stream.tail) == stream.size
    end = stream.end.decode(errors="replace")
    text = end if is_whole else f"{stream.head.decode(errors='replace')}\n"
    first = len(stream.head[: stream.half].decode(errors="replace"))
    last = len(stream.end[-stream.half :].decode(errors="replace"))
    if is_whole:
        return redact_parts(text, [(0, first), (len(text) - last, len(text))], known=known)
    rest = [span._replace(start=len(text), end=len(text) + span.end) for span in rest_of_key(end)]
    text += end
    return redact_parts(text, [(0, first), (len(text) - last, len(text))], rest, known)


@functools.lru_cache(maxsize=1)
def tools(git: Git) -> dict[str, str]:
    """Return the versions of what runs commands; kept, for one after another may be run."""
    import platform

    return {
        "memento": __version__,
        "python": platform.python_version(),
        "git": git.run("version").decode().removeprefix("git version ").strip(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def inside(top: Path, given: Path) -> str:
    """Return a path relative to the repository; refuse what lies, or leads, outside, and what no record can name."""
    from memento_git.texts.typed import NameUnfit, refuse_not_utf8

    refuse_not_utf8(given.name)
    try:
        found = Path(os.path.realpath(given)).relative_to(top.resolve()).as_posix()  # of a loop no error, as resolve()
    except (ValueError, OSError):
        raise OutsideRepository(path=given.name) from None
    refuse_not_utf8(found)
    if not FOLDER.fits(found):
        raise NameUnfit(given=found[:200])
    return found
