"""One comment on a pull request: a server on this machine plays the two services' endpoints, well and badly."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.errors import MementoError
from memento_git.model.markup import MOST_COMMENT
from memento_git.work import hosting
from memento_git.work.comments import MARK, post
from tests.served import Quiet, WebServer, played

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.play import Call

TOKEN: Final = "not-a-real-token-1234"
PAGE: Final = 2
BOT: Final = {"login": "github-actions[bot]", "username": "bot", "type": "Bot"}
MALLORY: Final = {"login": "mallory", "username": "mallory", "type": "User"}


class Forge(WebServer):
    """The comments of one request; `me` is None for the token of an app, `fails` answers an error instead."""

    def __init__(self) -> None:
        super().__init__(Handler)
        self.comments: list[dict[str, Any]] = []
        self.me: dict[str, str] | None = None
        self.fails: dict[str, tuple[int, dict[str, str]]] = {}
        self.asked: list[tuple[str, str, str]] = []

    def add(self, body: str, by: dict[str, str]) -> dict[str, Any]:
        number = len(self.comments) + 1
        made = {"id": number, "body": body, "user": by, "author": by, "html_url": f"{self.url}/#{number}"}
        self.comments.append(made)
        return made


class Handler(Quiet):
    server: Forge

    def answer(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def handle_one(self) -> None:
        forge = self.server
        forge.asked.append((self.command, self.path, self.headers.get("Authorization", "")))
        length = int(self.headers.get("Content-Length") or 0)
        given = json.loads(self.rfile.read(length)) if length else {}
        if self.command in forge.fails:
            status, headers = forge.fails[self.command]
            self.answer(status, {"message": "no"}, headers)
        elif self.path == "/user":
            self.answer(200 if forge.me else 403, forge.me or {"message": "Resource not accessible by integration"})
        elif re.match(
            r"/repos/acme/app/issues/7/comments|/projects/group%2Fsub%2Fapp/merge_requests/7/notes", self.path
        ):
            self.comments(given)
        elif self.path.startswith("/repos/acme/app/issues/comments/"):
            self.one(given)
        else:
            self.answer(404, {"message": "Not Found"})

    def comments(self, given: Any) -> None:
        forge = self.server
        if self.command == "POST":
            self.answer(201, forge.add(given["body"], BOT))
        elif self.command == "PUT":
            self.one(given)
        else:
            page = int((re.findall(r"[?&]page=(\d+)", self.path) or ["1"])[0])
            rows = forge.comments[(page - 1) * PAGE : page * PAGE]
            following = f"{forge.url}{self.path.partition('?')[0]}?per_page=100&page={page + 1}"
            more = {"Link": f'<{following}>; rel="next"'} if page * PAGE < len(forge.comments) else {}
            self.answer(200, rows, more)

    def one(self, given: Any) -> None:
        number = int(self.path.rpartition("/")[2])
        found = [row for row in self.server.comments if row["id"] == number]
        if found and found[0].get("locked"):
            self.answer(403, {"message": "Resource not accessible by integration"})
        elif found and not found[0].get("gone"):
            found[0]["body"] = given["body"]
            self.answer(200, found[0])
        else:
            self.answer(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = do_PUT = handle_one  # noqa: N815


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with played(Forge()) as server:
        yield server


def posted(forge: Forge, text: str = "Hello", provider: str = "github") -> str:
    repo = "acme/app" if provider == "github" else "group/sub/app"
    return str(post(provider, repo, 7, text.encode(), forge.url)["action"])


@pytest.mark.parametrize("has_one", [True, False])
def test_an_app_passes_over_the_comment_of_another_app(forge: Forge, *, has_one: bool) -> None:
    other = forge.add(f"{MARK}\nof another", {**BOT, "login": "other-app[bot]"})
    other["locked"] = True
    if has_one:
        forge.add(f"{MARK}\nold", BOT)
    assert posted(forge, "Hello") == ("updated" if has_one else "created")
    assert [row["body"] for row in forge.comments] == [f"{MARK}\nof another", f"{MARK}\nHello"]
    assert posted(forge, "Hello again") == "updated"
    assert len(forge.comments) == 2


@pytest.mark.parametrize("provider", ["github", "gitlab"])
@pytest.mark.parametrize("app", [True, False])
def test_one_comment_is_made_and_then_updated(forge: Forge, provider: str, *, app: bool) -> None:
    forge.me = None if app else BOT
    for _ in range(5):
        forge.add("first!", MALLORY)
    assert posted(forge, "One", provider) == "created"
    assert posted(forge, "One", provider) == "unchanged"
    assert posted(forge, "Two", provider) == "updated"
    assert [row["body"] for row in forge.comments[5:]] == [f"{MARK}\nTwo"]
    assert {token for _, _, token in forge.asked} == {f"Bearer {TOKEN}"}
    changes = [method for method, _, _ in forge.asked if method != "GET"]
    assert changes == ["POST", "PATCH" if provider == "github" else "PUT"]


@pytest.mark.parametrize("me", [None, BOT])
def test_the_mark_in_a_comment_of_another_is_left_alone(forge: Forge, me: dict[str, str] | None) -> None:
    forge.me = me
    forge.add(f"{MARK}\nall is proven", MALLORY)
    forge.add(f"> {MARK}", BOT)
    assert posted(forge) == "created"
    assert [row["body"] for row in forge.comments[:2]] == [f"{MARK}\nall is proven", f"> {MARK}"]


def test_where_nothing_is_to_be_told_a_comment_is_updated_and_none_is_made(forge: Forge) -> None:
    def quietly(text: bytes) -> str:
        return str(post("github", "acme/app", 7, text, forge.url, make=False)["action"])

    assert (quietly(b"Nothing"), forge.comments) == ("absent", [])
    posted(forge, "One")
    assert quietly(b"Nothing") == "updated"
    forge.comments[0]["gone"] = True
    assert quietly(b"Again") == "absent"


def test_a_comment_that_was_removed_meanwhile_is_made_again(forge: Forge) -> None:
    posted(forge, "One")
    forge.comments[0]["gone"] = True
    assert posted(forge, "Two") == "created"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_want_of_permission_is_a_warning(forge: Forge, cli: Call, tmp_path: Path, method: str) -> None:
    forge.fails[method] = (403, {})
    (tmp_path / "body.md").write_text("Hello")
    where = ("--repo", "acme/app", "--number", "7", "--body-file", str(tmp_path / "body.md"), "--api", forge.url)
    code, out, err = cli("comment", *where)
    assert (code, out.strip()) == (0, "forbidden")
    assert err.startswith("warning: nothing was posted: 127.0.0.1 gives the token in GITHUB_TOKEN no access to")
    answer = json.loads(cli("comment", *where, "--json")[1])
    assert (answer["ok"], answer["action"]) == (True, "forbidden")
    assert forge.comments == []


@pytest.mark.parametrize(
    ("method", "status", "headers", "token"),
    [
        ("GET", 500, {}, "hosting_failed"),
        ("POST", 502, {}, "hosting_failed"),
        ("PATCH", 503, {}, "hosting_failed"),
        ("POST", 422, {}, "hosting_failed"),
        ("POST", 302, {"Location": "https://example.invalid/"}, "hosting_failed"),
        ("POST", 403, {"X-RateLimit-Remaining": "0"}, "hosting_rate_limited"),
        ("POST", 429, {"Retry-After": "7"}, "hosting_rate_limited"),
        ("GET", 401, {}, "hosting_unauthorized"),
        ("POST", 404, {}, "hosting_not_found"),
    ],
)
def test_what_goes_wrong_is_refused_and_nothing_is_sent_twice(
    forge: Forge, method: str, status: int, headers: dict[str, str], token: str
) -> None:
    if method == "PATCH":
        posted(forge, "One")
    forge.fails[method] = (status, headers)
    with pytest.raises(MementoError) as refused:
        posted(forge, "Two")
    assert refused.value.token == token
    assert sum(1 for sent, _, _ in forge.asked if sent == method != "GET") in (0, 1)


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (301, "--repo"), (404, "--number"), (410, "be gone"), (422, "--number"), (500, "again later"),
        (503, "again later"),
    ],
)  # fmt: skip
def test_the_hint_fits_what_was_answered(forge: Forge, status: int, hint: str) -> None:
    forge.fails["POST"] = (status, {})
    with pytest.raises(MementoError) as refused:
        posted(forge)
    assert hint in refused.value.hint
    assert "evidence check" not in refused.value.hint
    assert "--commit" not in refused.value.hint


def test_where_the_comments_are_not_told_none_is_made(forge: Forge) -> None:
    forge.fails["GET"] = (200, {})
    with pytest.raises(hosting.HostingFailed, match="with comments"):
        posted(forge)
    assert forge.comments == []


def test_an_answer_that_is_no_comment_is_refused(forge: Forge) -> None:
    forge.fails["POST"] = (200, {})
    with pytest.raises(hosting.HostingFailed):
        posted(forge)


@pytest.mark.parametrize("body", [b"", b" \n", b"\xff\xfe", b"x" * MOST_COMMENT, "ä😀".encode() * 40_000])
def test_what_cannot_be_a_comment_is_refused_before_anything_is_asked(forge: Forge, body: bytes) -> None:
    with pytest.raises(MementoError) as refused:
        post("github", "acme/app", 7, body, forge.url)
    assert refused.value.token == "comment_invalid"
    assert forge.asked == []


def test_the_longest_comment_fits(forge: Forge) -> None:
    assert posted(forge, "ä" * (MOST_COMMENT - len(MARK) - 1)) == "created"


@pytest.mark.parametrize(("provider", "repo"), [("github", "app"), ("github", "a/b/c"), ("buildkite", "a/b")])
def test_a_place_that_has_no_comments_is_refused(forge: Forge, provider: str, repo: str) -> None:
    with pytest.raises(MementoError) as refused:
        post(provider, repo, 7, b"Hello", forge.url)
    assert refused.value.exit_code == 2
    assert forge.asked == []


def test_without_a_token_nothing_is_asked(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    with pytest.raises(hosting.TokenMissing):
        posted(forge)
    assert forge.asked == []
