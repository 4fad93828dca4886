"""Every test runs sealed: its own home, no git configuration of the machine, fixed people, a real git."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import psutil
import pytest

from memento_git.ledger.store import Ledger
from memento_git.review import jobs
from memento_git.work.actions.setup import init_ledger
from tests import turns
from tests.clones import Hub
from tests.hands import SHOWN
from tests.play import Play, git, made_of
from tests.seed import Seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.play import Call


def in_memory() -> None:
    """Let thousands of small repositories be made in memory, where there is room: waiting for a disk shows nothing."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and min(psutil.disk_usage(str(memory)).free, psutil.virtual_memory().available) > 6 << 30
    if roomy and os.access(memory, os.W_OK) and "TMPDIR" not in os.environ:
        os.environ["TMPDIR"] = str(memory)
        tempfile.tempdir = None


in_memory()


def interruptible() -> None:
    """Let what the tests start be interrupted and hung up on, also where they were started so that this is ignored."""
    for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


interruptible()


def unhurried() -> None:
    """Let no test fail because the machine is slow."""
    slow = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile("unhurried", deadline=None, suppress_health_check=slow)
    hypothesis.settings.load_profile("unhurried")


unhurried()


def pytest_xdist_auto_num_workers() -> int:
    """Let one more worker run than there are processors: a test waits for git and other processes now and then."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return usable + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a landing's tests be done in a quarter of an hour, on two slow processors too."""
    told = "of the tests that make a repository, run one share in N: which of them, the commit decides"
    parser.addoption("--share", type=int, default=1, metavar="N", help=told)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests whose turn it is not."""
    if (shares := config.getoption("share")) > 1:
        left = turns.waiting(items, turns.commit(), shares)
        config.hook.pytest_deselected(items=left)
        away = set(left)
        items[:] = [item for item in items if item not in away]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say that not all tests were run."""
    if (shares := config.getoption("share")) > 1:
        which = f"one in {shares} whose turn it is at {turns.commit()[:12]}"
        terminalreporter.write_line(f"Of the tests that make a repository, those were run: {which}. All: pytest -q")


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def hermetic_seal(homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it impossible to read or write what belongs to whoever runs the tests."""
    home = tempfile.mkdtemp(dir=homes)
    foreign = ("GIT_", "MEMENTO_", "XDG_", "SSH_", "PYTEST_ADDOPTS")
    job = {"CI", "TF_BUILD", "CI_MERGE_REQUEST_DIFF_BASE_SHA", *jobs.TARGETS}
    for name in list(os.environ):
        if name.startswith(foreign) or name in job:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_EDITOR", "false")
    monkeypatch.setenv("GIT_DEFAULT_REF_FORMAT", "files")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.invalid")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the repositories that are made once, and copied for each test."""
    return tmp_path_factory.mktemp("made")


def code_in(folder: Path) -> Path:
    """Make a repository with one commit of code, if it is not there yet."""
    if not folder.exists():
        subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
        git(folder, "config", "maintenance.auto", "false")  # newer gits pack what some test is about to take away
        (folder / "app.py").write_text("answer = 42\n")
        git(folder, "add", "app.py")
        git(folder, "commit", "-qm", "code")
        for sample in (folder / ".git" / "hooks").glob("*.sample"):
            sample.unlink()
    return folder


def initialised(made: Path) -> Path:
    """Make the same with a ledger that has just been initialised, if it is not there yet."""
    return made_of(code_in(made / "code"), made / "ledger", lambda play: init_ledger(play.ledger))


@pytest.fixture
def original(made: Path, request: pytest.FixtureRequest) -> Path:
    """The repository that a test gets a copy of: code, and a ledger and a run where the test asks for them."""
    if "run" in request.fixturenames:
        return made_of(initialised(made), made / "run", Play.planned)
    return initialised(made) if "ledger" in request.fixturenames else code_in(made / "code")


@pytest.fixture
def repo(tmp_path: Path, original: Path) -> Path:
    """A repository of the test's own."""
    folder = tmp_path / "repo"
    shutil.copytree(original, folder)
    git(folder, "update-index", "-q", "--refresh")
    return folder


@pytest.fixture
def ledger(repo: Path) -> Iterator[Ledger]:
    """The ledger of a repository that has just been initialised."""
    with Ledger.open(repo) as opened:
        yield opened


@pytest.fixture
def play(ledger: Ledger) -> Iterator[Play]:
    """A ledger with verbs that tests speak in."""
    verbs = Play(ledger)
    yield verbs
    verbs.close()


@pytest.fixture
def run(ledger: Ledger) -> str:
    """The only run of a ledger, which has a canonical plan."""
    (run,) = ledger.view().runs()
    return run


@pytest.fixture
def task(play: Play, run: str) -> str:
    """A ready task that one required command proves."""
    return play.task(commands=[SHOWN])


@pytest.fixture
def hub(play: Play, run: str) -> Hub:
    """A bare repository that everybody pushes to, with a run that has a canonical plan."""
    return Hub(play)


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Call:
    """Run the command line in this process; return exit code, stdout, stderr."""
    from memento_git.cli.boundary import run

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = run(list(arguments))
        out, err = capfd.readouterr()
        print(out, err)  # noqa: T201 (a failing test shows what was printed)
        return code, out, err

    return call


@pytest.fixture
def seed(cli: Call, repo: Path) -> Seed:
    """An initialised repository with a log that really is there."""
    (repo / "verification").mkdir()
    (repo / "verification" / "task.log").write_text("3 passed in 0.1s\n")
    git(repo, "add", "verification")
    git(repo, "commit", "-qm", "log")
    made = Seed(cli, str(repo))
    made("init")
    return made
