"""The page in a real browser: nothing runs, nothing is asked of the network, and it can be seen."""

from __future__ import annotations

import re
import shutil
import socket
import struct
import subprocess
import threading
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from memento_git.review.page import page
from memento_git.work.actions import tasks
from tests.play import add, git, take_out
from tests.served import Quiet, WebServer, played
from tests.test_report import NOW, assert_inert, hostile, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.play import Play

BROWSER: Final = next((path for name in ("chromium", "chromium-browser", "google-chrome")
                       if (path := shutil.which(name))), "")  # fmt: skip
FLAGS: Final = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking",
    "--disable-component-update", "--no-first-run", "--enable-logging=stderr", "--virtual-time-budget=3000",
)  # fmt: skip
TIMEOUT: Final = 120

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium on PATH: apt-get install chromium")


def browse(tmp_path: Path, whole: str, *flags: str) -> tuple[str, str]:
    """Open a page; return what the browser prints and logs."""
    file = tmp_path / "page.html"
    file.write_text(whole)
    return opened(tmp_path, file.as_uri(), *flags)


def opened(tmp_path: Path, address: str, *flags: str) -> tuple[str, str]:
    """Open an address; return what the browser prints and logs."""
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *flags, address]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """A web server that remembers what it was asked for."""
    paths: list[str] = []

    class Handler(Quiet):
        def do_GET(self) -> None:  # noqa: N802 (as http.server calls it)
            paths.append(self.path)
            self.send_response(204)
            self.end_headers()

    with played(WebServer(Handler)) as server:
        yield server.url, paths


def test_a_hostile_ledger_does_nothing_in_a_browser(play: Play, tmp_path: Path, asked: tuple[str, list[str]]) -> None:
    hostile(play)
    address, paths = asked
    play.task(f'<img src="{address}/image"><script src="{address}/script"></script><link href="{address}/style">')
    play.task(f"url({address}/text) <style>@import '{address}/import'</style>")
    dom, console = browse(tmp_path, page(seen(play), NOW), "--dump-dom")
    assert console == ""
    assert paths == []
    assert_inert(dom)
    assert "Roles" in dom
    control = f'<title>x</title><img src="{address}/control"><script>console.error("heard")</script>'
    _, console = browse(tmp_path, control, "--dump-dom")
    assert "heard" in console, "a message would not have been heard"
    assert paths == ["/control"], "a request would not have been seen"


@pytest.mark.parametrize(("width", "height"), [(1200, 1600), (500, 1600)])
def test_three_hundred_tasks_can_be_seen(play: Play, run: str, tmp_path: Path, width: int, height: int) -> None:
    def add(tx: Any) -> None:
        for number in range(300):
            tasks.add_task(tx, f"Task {number}: a title as long as titles are, or a little longer than that")

    play.ledger.change("add", add)
    picture = tmp_path / "page.png"
    _, console = browse(tmp_path, page(seen(play), NOW), f"--screenshot={picture}", f"--window-size={width},{height}")
    assert console == ""
    data = picture.read_bytes()
    assert struct.unpack(">II", data[16:24]) == (width, height)
    assert len(data) > 20_000, "an empty page is smaller"


def test_the_page_is_not_wider_than_a_narrow_window(play: Play, tmp_path: Path) -> None:
    hostile(play)
    play.task("x" * 400)
    whole = page(seen(play), NOW)
    measured = whole.replace("default-src 'none';", "default-src 'none'; script-src 'unsafe-inline';", 1).replace(
        "</body>", "<script>document.body.dataset.wide = document.documentElement.scrollWidth</script></body>"
    )
    dom, _ = browse(tmp_path, measured, "--dump-dom", "--window-size=500,900")
    wide = int(dom.partition('data-wide="')[2].partition('"')[0])
    assert wide <= 500


class Pages(NamedTuple):
    """The pages of `memento web`: what was asked of them, what a reader does, what happens once one looks for news."""

    address: str
    asked: list[str]
    clicks: list[str]
    meanwhile: list[Callable[[], object]]


@pytest.fixture
def pages(play: Play) -> Iterator[Pages]:
    """Serve the pages to a browser; what a reader does is a script that their policy would not let run."""
    import uvicorn

    from memento_git.cli.pages import Site, app

    asked: list[str] = []
    clicks: list[str] = []
    meanwhile: list[Callable[[], object]] = []
    inner = app(Site(str(play.root), "repo"), "token")

    async def heard(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["path"].removeprefix("/token"))
        if asked.count("/head") == 2 and asked[-1] == "/head":
            for happens in meanwhile:
                happens()

        async def told(message: Any) -> None:
            if clicks and message["type"] == "http.response.start":
                unfit = (b"content-length", b"content-security-policy")
                message["headers"] = [one for one in message["headers"] if one[0] not in unfit]
            elif clicks and b"<body" in message["body"]:
                message["body"] += f"<script>{';'.join(clicks)}</script>".encode()
            await send(message)

        await inner(scope, receive, told)

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(heard, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield Pages(f"http://127.0.0.1:{listening.getsockname()[1]}/token/%s", asked, clicks, meanwhile)
    server.should_exit = True
    thread.join(TIMEOUT)


def test_a_page_that_is_open_shows_what_is_committed_meanwhile(
    play: Play, run: str, tmp_path: Path, pages: Pages
) -> None:
    pages.meanwhile.append(lambda: play.task("Added while the page is open"))
    dom, console = opened(tmp_path, pages.address % f"show/{run}", "--dump-dom", "--virtual-time-budget=20000")
    assert console == ""
    assert pages.asked.count("/head") > 2
    assert "Added while the page is open" in dom
    assert 'role="status">live<' in dom


def test_of_the_details_those_stay_open_that_were_open(play: Play, run: str, tmp_path: Path, pages: Pages) -> None:
    for one in ("first", "second", "third"):
        add(play, f"The {one} note\n\nsays more", pinned=True)
    pages.clicks.append('document.querySelectorAll("main details")[1].open = true')
    pages.meanwhile.append(lambda: play.run("Begun while the page is open"))
    dom, _ = opened(tmp_path, pages.address % "", "--dump-dom", "--virtual-time-budget=20000")
    assert "Begun while the page is open" in dom
    assert re.findall("<details[^>]*>", dom)[:3] == ["<details>", '<details open="">', "<details>"]


def test_a_page_that_is_open_warns_of_what_is_not_committed(play: Play, run: str, tmp_path: Path, pages: Pages) -> None:
    edited = play.root / ".memento" / "runs" / run / "run.md"
    pages.meanwhile.append(lambda: edited.write_text("edited\n"))
    dom, _ = opened(tmp_path, pages.address % "", "--dump-dom", "--virtual-time-budget=20000")
    assert "not committed, so not counted" in dom


def test_a_page_that_was_refused_becomes_the_whole_page(play: Play, run: str, tmp_path: Path, pages: Pages) -> None:
    git(play.root, "checkout", "-q", "--detach")
    take_out(play.root, "--cached", ".memento", message="without a ledger")
    pages.meanwhile.append(lambda: git(play.root, "reset", "-q", "--hard", "HEAD~"))
    dom, _ = opened(tmp_path, pages.address % f"show/{run}", "--dump-dom", "--virtual-time-budget=20000")
    assert "no_ledger" not in dom
    assert "<footer" in dom


def test_a_hostile_ledger_does_nothing_in_the_pages_of_memento_web(
    play: Play, tmp_path: Path, pages: Pages, asked: tuple[str, list[str]]
) -> None:
    run = hostile(play)
    elsewhere, heard = asked
    add(play, f'![x]({elsewhere}/image) <img src="{elsewhere}/raw"> <script src="{elsewhere}/script"></script>')
    for path in ("", f"show/{run}", "recall", "notes", "log"):
        _, console = opened(tmp_path, pages.address % path, "--dump-dom")
        assert console == ""
    assert heard == []
