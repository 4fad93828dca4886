"""Measure the HTML report of a large run: `python benchmarks/html_report.py [--tasks N] [--rounds N]`.

How large it is, how long it takes to make beside the Markdown one, and when Chromium first paints it beside an empty
page. The browser tells by a script that is added to a copy of each page; the report itself has none.
"""

from __future__ import annotations

import argparse
import http.server
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from statistics import median
from typing import Any, Final

from ground import code_stream, fill
from measure import call, environment, in_turn

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--window-size=1200,900", "--remote-debugging-port=0",
)  # fmt: skip
TELL: Final = """\
<script>new PerformanceObserver((list) => {{ for (const one of list.getEntries())
if (one.name === "first-contentful-paint") fetch("{address}/" + one.startTime, {{ mode: "no-cors" }}); }})
.observe({{ type: "paint", buffered: true }});</script>"""
OPEN: Final = "default-src 'none'; script-src 'unsafe-inline'; connect-src http://127.0.0.1:*;"
TIMEOUT: Final = 60.0


class Ear(http.server.BaseHTTPRequestHandler):
    """Hears from a page when it was first painted."""

    heard: queue.Queue[float] = queue.Queue()

    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()
        if (told := self.path[1:]).replace(".", "").isdigit():
            self.heard.put(float(told))

    def log_message(self, *_: Any) -> None:
        return


def painted(browser: str, page: Path, profile: Path) -> float:
    """Return the milliseconds until a page is first painted with something on it."""
    shutil.rmtree(profile, ignore_errors=True)
    command = [browser, *FLAGS, f"--user-data-dir={profile}", page.as_uri()]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            return Ear.heard.get(timeout=TIMEOUT)
        finally:
            process.terminate()


def paints(browser: str, folder: Path, pages: dict[str, str], rounds: int) -> dict[str, float]:
    """Return the median first paint of each page, all of them in each round."""
    samples: dict[str, list[float]] = {name: [] for name in pages}
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ear) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        script = TELL.format(address=f"http://127.0.0.1:{server.server_address[1]}")
        for name, text in pages.items():
            (folder / f"{name}.html").write_text(text.replace("</body>", f"{script}</body>"), encoding="utf-8")
        for turn in range(rounds + 1):
            for name, taken in samples.items():
                took = painted(browser, folder / f"{name}.html", folder / "profile")
                if turn:
                    taken.append(took)
        server.shutdown()
    return {name: median(taken) for name, taken in samples.items()}


def ledger(folder: Path, tasks: int, env: dict[str, str]) -> Path:
    repo = folder / "repo"
    repo.mkdir()
    call(["git", "init", "-q"], repo, env)
    call(["git", "fast-import", "--quiet"], repo, env, b"".join(code_stream(50)))
    call(["git", "reset", "-q", "--hard", "main"], repo, env)
    fill(repo, tasks, worked=True)
    return repo


def main() -> int:
    """Measure, and print the lines of a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), "")
    with tempfile.TemporaryDirectory(prefix="memento-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        env = environment(folder / "home")
        repo = ledger(folder, options.tasks, env)
        memento = Path(sys.executable).parent / "memento"
        out = {form: folder / f"report.{form}" for form in ("html", "markdown")}
        took = in_turn({
            form: lambda form=form: call(  # type: ignore[misc]
                [memento, "report", "--format", form, "--limit", "0", "--out", out[form]], repo, env
            ) for form in out
        }, options.rounds)  # fmt: skip
        made, beside = took["html"].median, took["markdown"].median
        size, plain = out["html"].stat().st_size, out["markdown"].stat().st_size
        print(f"| HTML report of {options.tasks:,} tasks | {size / 1024:,.0f} KB | {plain / 1024:,.0f} KB as Markdown |"
              f" {size / plain:.2f} |")  # fmt: skip
        print(f"| a whole `memento report --format html` | {made:,.0f} ms | {beside:,.0f} ms as Markdown |"
              f" {made / beside:.2f} |")  # fmt: skip
        if not browser:
            print("no Chromium on PATH, so no first paint")
            return 0
        text = out["html"].read_text(encoding="utf-8").replace("default-src 'none';", OPEN, 1)
        empty = "<!doctype html><title>empty</title><body><p>.</p></body>"
        first = paints(browser, folder, {"report": text, "empty": empty}, options.rounds)
        print(f"| first contentful paint | {first['report']:,.0f} ms | {first['empty']:,.0f} ms for an empty page |"
              f" {first['report'] / first['empty']:.2f} |")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
