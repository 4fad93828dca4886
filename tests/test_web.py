"""memento web: the pages of a real server, as a browser, a stranger on the machine and a hostile ledger meet them."""

from __future__ import annotations

import gc
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import pytest

from memento_git.cli import boundary, pages
from memento_git.ledger.view import View
from memento_git.work.actions import tasks
from tests.play import add, commit_all, git
from tests.test_report import HOSTILE, Tags, hostile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from tests.play import Call, Play

TIMEOUT = 30
SWITCH = r"\u202e\x07"  # from right to left, and a bell


class Served(NamedTuple):
    """A page, or whatever else was answered."""

    code: int
    headers: dict[str, str]
    text: str

    @property
    def words(self) -> str:
        body = self.text.partition("<body")[2].partition("<script>")[0]
        return " ".join("".join(Tags(f"<body{body}").texts).split())


class Web:
    """A `memento web` that runs, and a client that has its address."""

    def __init__(self, root: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memento_git", "-C", str(root), "web", "--json", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        self.url = json.loads(line)["url"]
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.top = self.url.partition(str(self.port))[2].rstrip("/")

    def ask(self, path: str, *, top: str | None = None, host: str = "", method: str = "GET") -> Served:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        whole = f"{self.top if top is None else top}{path}"
        connection.request(method, whole, headers={"Host": host or f"127.0.0.1:{self.port}"})
        answer = connection.getresponse()
        told = Served(answer.status, {key.lower(): text for key, text in answer.getheaders()}, answer.read().decode())
        connection.close()
        return told

    def page(self, path: str) -> Served:
        told = self.ask(path)
        assert told.code == 200, told.text
        return told

    def end(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, err


@pytest.fixture
def web(play: Play) -> Iterator[Web]:
    served = Web(play.root)
    yield served
    if served.process.poll() is None:
        served.end()


def test_a_reader_goes_from_the_runs_to_what_a_command_printed(play: Play, run: str, web: Web) -> None:
    task = play.proven("Check the form")
    [evidence] = play.overview(run)["tasks"][0]["proven_by"]
    home = web.page("/")
    assert f'href="{web.top}/show/{run}"' in home.text
    report = web.page(f"/show/{run}")
    assert "Check the form" in report.words
    assert f'href="{web.top}/show/{task}"' in report.text
    shown = web.page(f"/show/{task}")
    assert f'href="{web.top}/show/{evidence}"' in shown.text
    assert '<span class="state proven">' in shown.text
    assert "witnessed" in web.page(f"/show/{evidence}").words
    told = web.page("/log")
    assert re.search(r"evidence recorded evidence_\w+ by \S+( <\S+>)? ?: test, passed: \S", told.words)
    event = re.findall(r"/show/event_\w+", told.text)[0]
    assert "<h1>task completed</h1>" in web.page(event).text


def test_a_page_says_what_takes_from_a_proven_task_and_an_approved_plan(play: Play, run: str, web: Web) -> None:
    task, plan = play.proven("Count the zebra"), play.overview()["run"]["current_plan_id"]
    assert "completedproven" in web.page(f"/show/{task}").words
    (play.root / "app.py").write_text("answer = 43\n")
    path = next((play.root / ".memento").rglob("plan.md"))
    play.commit(path, path.read_text().replace("show it", "say so"))
    assert "canonical changed since its approval" in web.page(f"/show/{plan}").words
    play.commit(path, path.read_text().replace("say so", "show it"))
    assert "completedproven stale" in web.page(f"/show/{task}").words


def test_every_record_has_a_page_and_each_page_leads_only_to_pages(play: Play, web: Web, cli: Call) -> None:
    hostile(play)
    add(play, "A note.\n\n| a | b |\n| - | - |\n| 1 | 2 |", about=["app.py"])
    rows = json.loads(cli("-C", str(play.root), "log", "--limit", "0", "--json")[1])["audit"]
    paths = {f"/show/{one}" for row in rows for one in (row["id"], row["record"])} | {"/"}
    seen: set[str] = set()
    while paths - seen:
        path = min(paths - seen)
        seen.add(path)
        found = re.findall(r' (?:href|action)="(/[^"#]*)', web.page(path).text)
        assert all(one.startswith(f"{web.top}/") for one in found), found
        paths |= {one.replace("&amp;", "&").removeprefix(web.top) for one in found}
    kinds = {path.split("/")[-1].partition("_")[0] for path in seen if path.startswith("/show/")}
    assert {"run", "plan", "task", "dispatch", "evidence", "event", "note"} <= kinds | {"dispatch"}
    assert len(seen) > 15


def test_a_page_says_what_the_command_line_says(play: Play, run: str, web: Web, cli: Call) -> None:
    task = play.proven("Check the form")
    words = web.page(f"/show/{task}").words.lower()
    told = cli("-C", str(play.root), "show", task)[1].removeprefix("title").lower()
    assert [
        part for part in re.findall("[a-z]{4,}", told) if part not in (*words.split(), "title") and part not in words
    ] == []


def test_what_is_recalled_is_labelled(play: Play, run: str, web: Web, cli: Call) -> None:
    add(play, "Tokens live an hour.", about=["app.py"])
    line = next(one for one in cli("-C", str(play.root), "recall", "tokens")[1].splitlines() if "note_" in one)
    words = web.page("/recall?q=tokens").words
    assert " ".join(line.split()) in words
    assert "app.py" in words


def test_a_question_nobody_wrote_of_finds_nothing(play: Play, run: str, web: Web) -> None:
    add(play, "Tokens live an hour.")
    assert "Tokens" not in web.page("/recall?q=kubernetes+ingress").words


@pytest.mark.parametrize("asked", ["--allow-secret=x", "--scope=all", "-C/", "--help", "@/etc/passwd", "'\"><script>"])
def test_what_is_asked_is_never_an_option(play: Play, run: str, web: Web, asked: str) -> None:
    assert web.ask(f"/recall?q={quote(asked)}").code == 200
    assert web.ask(f"/show/{quote(asked, safe='')}").code == 404
    for path, code in (("/?at=", 404), ("/notes?status=", 400), ("/log?offset=", 400)):
        told = web.ask(f"{path}{quote(asked)}")
        assert told.code == code
        assert "root:" not in told.text


def test_pages_are_of_the_commit_that_is_asked_for(play: Play, run: str, web: Web) -> None:
    before = git(play.root, "rev-parse", "HEAD")
    play.task("Added later")
    path = f"/show/{run}"
    assert "Added later" in web.page(path).words
    old = web.page(f"{path}?at={before}")
    assert "Added later" not in old.words
    assert f'href="{web.top}/notes?at={before}"' in old.text
    assert f"as of {before}" in old.words


def test_what_is_not_committed_is_announced(play: Play, run: str, web: Web) -> None:
    (play.root / ".memento" / "runs" / run / "run.md").write_text("edited\n")
    assert "not committed, so not counted" in web.page("/").words


def test_a_file_whose_name_is_no_text_is_told_of_and_in_no_way(play: Play, run: str, web: Web) -> None:
    first = web.page("/head").text
    odd = bytes(play.root / ".memento" / "runs" / run) + b"/\xff\r\x01.md"
    Path(os.fsdecode(odd)).write_text("x")
    assert "not committed, so not counted" in web.page("/").words
    assert web.page("/head").text != first
    assert f'data-head="{web.page("/head").text}"' in web.page("/log").text
    commit_all(play.root, "odd")
    assert ".md" in web.page("/check").words


def test_the_head_changes_with_each_commit_and_each_edit(play: Play, run: str, web: Web) -> None:
    first = web.page("/head").text
    assert web.page("/head").text == first
    play.task("Another")
    second = web.page("/head").text
    assert second != first
    (play.root / ".memento" / "runs" / run / "run.md").write_text("edited\n")
    assert web.page("/head").text not in (first, second)


# Who may ask, and what a page may do.


def test_nobody_reads_without_the_address_that_was_printed(play: Play, web: Web) -> None:
    play.run("A goal that is private")
    token = web.top[1:]
    for top in ("", "/wrong", "/%FF", "/%00", f"//{token}", f"/{token}x", f"/{token[:-1]}", f"/{token.swapcase()}"):
        for path in ("", "/", "/head", "/show/x", f"/?token={token}"):
            told = web.ask(path or "/", top=top)
            assert told.code == 403
            assert "private" not in told.text
    assert web.ask("*", top="", method="OPTIONS").code == 403


def test_a_name_that_leads_here_from_elsewhere_is_refused(play: Play, run: str, web: Web) -> None:
    assert web.ask("/", host="evil.example").code == 400
    assert web.ask("/", host=f"localhost:{web.port}").code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_pages_write_nothing_and_take_no_other_method(play: Play, run: str, web: Web, method: str) -> None:
    before = git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--porcelain")
    assert web.ask("/", method=method).code == 405
    for path in ("/", "/notes", "/log", "/check", "/recall?q=x"):
        web.page(path)
    assert (git(play.root, "rev-parse", "HEAD"), git(play.root, "status", "--porcelain")) == before


def test_no_cookie_holds_the_token_as_every_port_of_the_machine_would_get_it(play: Play, run: str, web: Web) -> None:
    for path in ("", "/", "/head", "/nowhere", "//evil.example/", "/%5Cevil.example/"):
        told = web.ask(path)
        assert "set-cookie" not in told.headers
        assert told.headers.get("location", web.url).startswith(web.url)
        assert told.headers["referrer-policy"] == "no-referrer"
    assert f'href="{web.top}/%5Cevil.example?"' in web.ask("/%5Cevil.example?at=HEAD").text


def test_a_page_may_load_and_run_nothing_but_its_own(play: Play, run: str, web: Web) -> None:
    policy = web.page("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert web.ask("/show/x").headers["content-security-policy"] == policy
    for top in (None, "/wrong"):
        headers = web.ask("/", top=top).headers
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"


def test_what_the_ledger_says_is_text_on_every_page(play: Play, web: Web) -> None:
    run = hostile(play)
    add(play, f"{HOSTILE}\n\n<script>alert(2)</script> [x](javascript:alert(3)) ![y](https://evil.example/i.png)")
    rows = play.overview(run)
    names = [row["id"] for row in (*rows["tasks"], *rows["plans"], *rows["evidence"])]
    names += [row["dispatch_id"] for row in rows["dispatches"]]
    for path in ("/", "/notes", "/log", "/check", "/recall?q=alert", *(f"/show/{one}" for one in [run, *names])):
        told = web.page(path)
        for tag, attributes in Tags(told.text).tags:
            assert tag not in ("img", "iframe", "object", "embed", "link", "base"), path
            assert not any(name.startswith("on") or name in ("style", "src") for name in attributes), path
            assert not (attributes.get("href") or "").lower().startswith("javascript"), path
        assert told.text.count("<script") == 1, path


def test_what_a_command_printed_turns_no_page_around(play: Play, run: str, web: Web, cli: Call) -> None:
    show = f"print('{SWITCH}begun{SWITCH}')"
    argv = ("evidence", "run", "--kind", "test", "--", sys.executable, "-c", show)
    made = json.loads(cli("-C", str(play.root), "--json", *argv)[1])["evidence"]["id"]
    told = web.page(f"/show/{made}")
    assert "begun" in told.words
    assert "\u202e" not in told.text
    assert "\x07" not in told.text


# When something is wrong.


def test_what_is_not_there_is_refused_as_the_command_line_refuses_it(play: Play, run: str, web: Web, cli: Call) -> None:
    told = web.ask("/show/task_000000000000")
    refusal = json.loads(cli("-C", str(play.root), "show", "task_000000000000", "--json")[1])
    assert told.code == 404
    assert refusal["error"] in told.words
    assert refusal["message"] in told.words
    assert web.ask("/nowhere").code == 404
    assert web.ask("/?at=nowhere").code == 404


def test_a_ledger_that_cannot_be_read_says_so_and_the_server_goes_on(play: Play, run: str, web: Web) -> None:
    config = play.root / ".memento" / "config.yaml"
    was = config.read_text()
    play.commit(config, "version: 99\n", "newer")
    assert web.ask("/").code == 404
    play.commit(config, was, "older")
    assert web.page("/").code == 200


def test_what_check_finds_wrong_is_a_page_and_no_refusal(play: Play, run: str, web: Web, cli: Call) -> None:
    play.proven("Check the form")
    [path] = play.root.glob(".memento/runs/*/tasks/*/*/*-completed-*.yaml")
    play.commit(path, f"{path.read_text()}unknown: 1\n", "broken")
    code, out, _ = cli("-C", str(play.root), "check", "--json")
    found = json.loads(out)["findings"]
    assert (code, bool(found)) == (5, True)
    words = web.page("/check").words
    assert [row["code"] for row in found if row["code"] not in words or row["title"] not in words] == []


def test_it_serves_a_bare_repository(play: Play, run: str, tmp_path: Path) -> None:
    git(play.root, "clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    served = Web(tmp_path / "bare.git")
    assert run in served.page("/").text
    served.end()


def test_ctrl_c_ends_it_without_a_traceback(play: Play, run: str) -> None:
    code, err = Web(play.root).end()
    assert (code, err.strip()) == (130, "")


def test_a_port_that_is_taken_and_a_folder_without_a_ledger_are_refused_at_once(
    play: Play, run: str, cli: Call, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        code, out, _ = cli("-C", str(play.root), "--json", "web", "--port", port)
    assert (code, json.loads(out)["error"]) == (1, "port_taken")
    code, out, _ = cli("-C", str(tmp_path), "--json", "web")
    assert (code, json.loads(out)["error"]) == (1, "not_a_repository")


def test_two_readers_and_a_writer_at_once(play: Play, web: Web) -> None:
    from concurrent.futures import ThreadPoolExecutor

    run = play.planned()
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(web.ask, path) for path in ("/", f"/show/{run}", "/log", "/head") * 5]
        for number in range(10):
            play.do(tasks.add_task, f"Task {number}")
        assert {one.result().code for one in found} == {200}
    assert "Task 9" in web.page(f"/show/{run}").words


def test_requests_ask_one_after_another(play: Play, run: str) -> None:
    """A ledger that is read may be large, and the next waits until it is gone."""
    site, now, seen = pages.Site(str(play.root), "x"), [0], set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if frame.f_code is boundary.answer.__code__ and event in ("call", "return"):
            now[0] += 1 if event == "call" else -1
            seen.add(now[0])

    def ask() -> None:
        sys.setprofile(watch)
        site.ask("status")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert seen == {0, 1}


def test_a_ledger_that_was_read_for_a_page_is_not_kept(play: Play, run: str) -> None:
    site = pages.Site(str(play.root), "x")
    held = sum(isinstance(one, View) for one in gc.get_objects())
    gc.disable()
    try:
        for words in (("status",), ("log",), ("recall",)):
            site.ask(*words)
        assert sum(isinstance(one, View) for one in gc.get_objects()) <= held
    finally:
        gc.enable()


def test_without_the_libraries_it_says_how_to_add_them(play: Play) -> None:
    code = (
        "import sys; sys.modules[sys.argv.pop()] = None\n"
        "from memento_git.cli.boundary import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    for missing in ("starlette", "uvicorn", "jinja2"):
        words = [sys.executable, "-c", code, "-C", str(play.root), "web", missing]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=TIMEOUT)
        assert (done.returncode, done.stdout) == (1, "")
        assert "memento-git[web]" in done.stderr
