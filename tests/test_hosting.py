"""Asking a hosting service: a server on this machine plays its API, well and badly."""

from __future__ import annotations

import gzip
import json
import socket
import sys
import threading
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from memento_git.errors import MementoError
from memento_git.work import hosting
from memento_git.work.actions import evidence_checks
from memento_git.work.check_payloads import MOST_BYTES
from tests.play import Play, git
from tests.served import Quiet, WebServer, played

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.play import Call

DATA: Final = Path(__file__).parent / "data" / "checks"
COMMIT: Final = "a" * 40
TOKEN: Final = "not-a-real-token-1234"


class Service(WebServer):
    """An API on 127.0.0.1: path -> (status, headers, body), and what it was asked."""

    def __init__(self) -> None:
        super().__init__(Handler)
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[tuple[str, str]] = []
        self.delay = 0.0
        self.drip = 0.0
        self.dripped = 0

    def on(self, path: str, value: Any, status: int = 200, **headers: str) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.answers[path] = (status, {name.replace("_", "-"): text for name, text in headers.items()}, body)


class Handler(Quiet):
    server: Service

    def do_GET(self) -> None:  # noqa: N802 (as http.server calls it)
        parts = urlsplit(self.path)
        self.server.asked.append((self.path, self.headers.get("Authorization", "")))
        page = parse_qs(parts.query).get("page", [""])[0]
        status, headers, body = self.server.answers.get(
            f"{parts.path}#{page}" if page else parts.path, (404, {}, b'{"message": "Not Found"}')
        )
        if self.server.delay:
            threading.Event().wait(self.server.delay)
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            for start in range(0, len(body), 1 if self.server.drip else max(len(body), 1)):
                threading.Event().wait(self.server.drip)
                self.wfile.write(body[start : start + 1] if self.server.drip else body)
                self.server.dripped += 1


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    for provider in hosting.SERVICES.values():
        monkeypatch.setenv(provider.variable, TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with played(Service()) as server:
        yield server


def sample(name: str, commit: str = COMMIT) -> Any:
    return json.loads((DATA / f"{name}.json").read_text().replace(COMMIT, commit))


def github(service: Service, commit: str = COMMIT) -> None:
    base = f"/repos/acme/app/commits/{commit}"
    runs = sample("github-check-runs", commit)
    link = f'<{service.url}{base}/check-runs?per_page=100&page=2>; rel="next"'
    service.on(f"{base}/check-runs", {**runs, "check_runs": runs["check_runs"][:2]}, Link=link)
    service.on(f"{base}/check-runs#2", {**runs, "check_runs": runs["check_runs"][2:]})
    service.on(f"{base}/status", sample("github-combined-status", commit))


def test_github_is_asked_for_check_runs_and_statuses_page_by_page(service: Service) -> None:
    github(service)
    found = hosting.fetch("auto", "acme/app", COMMIT, service.url + "/")
    assert [one.name for one in found] == ["test", "lint", "docs", "deploy", "ci/jenkins", "security/scan", "cla"]
    assert {one.commit for one in found} == {COMMIT}
    assert [path for path, _ in service.asked] == [
        f"/repos/acme/app/commits/{COMMIT}/check-runs?per_page=100",
        f"/repos/acme/app/commits/{COMMIT}/check-runs?per_page=100&page=2",
        f"/repos/acme/app/commits/{COMMIT}/status?per_page=100",
    ]
    assert {token for _, token in service.asked} == {f"Bearer {TOKEN}"}


def test_gitlab_is_asked_for_pipelines_and_their_jobs(service: Service) -> None:
    service.on("/projects/group%2Fsub%2Fapp/pipelines", sample("gitlab-pipelines"))
    service.on("/projects/group%2Fsub%2Fapp/pipelines/50/jobs", sample("gitlab-jobs"))
    service.on("/projects/group%2Fsub%2Fapp/pipelines/51/jobs", [])
    found = hosting.fetch("gitlab", "group/sub/app", COMMIT, service.url)
    assert [one.name for one in found] == ["pipeline", "pipeline", "rspec", "lint", "deploy", "slow"]
    assert service.asked[0][0] == f"/projects/group%2Fsub%2Fapp/pipelines?sha={COMMIT}&per_page=100"


def test_buildkite_is_asked_for_builds(service: Service) -> None:
    service.on("/organizations/acme/pipelines/app/builds", [sample("buildkite-build")])
    found = hosting.fetch("buildkite", "acme/app", COMMIT, service.url)
    assert [one.name for one in found] == ["app", ":pytest: test", "lint", "deploy"]


def refusal(service: Service, provider: str = "buildkite", api: str = "") -> MementoError:
    with pytest.raises(MementoError) as caught:
        hosting.fetch(provider, "acme/app", COMMIT, api or service.url)
    told = f"{caught.value.message} {caught.value.hint}"
    assert TOKEN not in told
    assert "http://" not in told
    return caught.value


@pytest.mark.parametrize(
    ("status", "headers", "body", "token"),
    [
        (401, {}, b"{}", "hosting_unauthorized"), (403, {}, b"{}", "hosting_forbidden"),
        (403, {"X_RateLimit_Remaining": "0"}, b"{}", "hosting_rate_limited"),
        (403, {"Retry_After": "30"}, b"{}", "hosting_rate_limited"),
        (429, {"Retry_After": "30"}, b"{}", "hosting_rate_limited"), (404, {}, b"{}", "hosting_not_found"),
        (500, {}, b"oops", "hosting_failed"), (302, {"Location": "http://127.0.0.1:9/"}, b"", "hosting_failed"),
        (304, {}, b"", "hosting_failed"),
        (200, {}, b"<html>", "hosting_failed"), (200, {}, b"[" * 50_000, "hosting_failed"),
        (200, {}, b"[3]", "check_payload_invalid"), (200, {}, b"[]", "hosting_not_found"),
        (200, {"Link": '<http://127.0.0.2/next>; rel="next"'}, b"[]", "hosting_failed"),
        (200, {"Link": '<http://[next>; rel="next"'}, b"[]", "hosting_failed"),
        (200, {"Content_Encoding": "gzip"}, b"not gzip", "hosting_failed"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_told_as_what_it_is(
    service: Service, status: int, headers: dict[str, str], body: bytes, token: str
) -> None:
    service.on("/organizations/acme/pipelines/app/builds", body, status, **headers)
    refused = refusal(service)
    assert refused.token == token
    assert ("somewhere else" in refused.message) == (status == 302)
    assert ("--commit" in refused.hint) == (token == "hosting_not_found" or 300 <= status < 400)
    assert "--number" not in refused.hint
    if headers.get("Retry_After"):
        assert ", try again in 30 s" in refused.message
    assert len(service.asked) == 1


def test_an_endless_list_of_pages_ends(service: Service) -> None:
    path = "/organizations/acme/pipelines/app/builds"
    service.on(path, [], Link=f'<{service.url}{path}>; rel="next"')
    refused = refusal(service)
    assert ("pages of answers" in refused.message, "evidence check FILE" in refused.hint) == (True, True)
    assert len(service.asked) == hosting.MOST_PAGES


def test_an_answer_that_is_too_large_is_not_read_to_its_end(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "MOST_BYTES", 100_000)
    service.on("/organizations/acme/pipelines/app/builds", b" " * 1_000_000)
    assert "more than 100000 bytes" in refusal(service).message


def test_an_answer_that_is_packed_twice_is_not_unpacked_whole(service: Service) -> None:
    packed = gzip.compress(gzip.compress(bytes(96 * 1024 * 1024)))
    service.on("/organizations/acme/pipelines/app/builds", packed, Content_Encoding="gzip, gzip")
    tracemalloc.start()
    try:
        assert f"more than {MOST_BYTES} bytes" in refusal(service).message
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST_BYTES
    finally:
        tracemalloc.stop()


def test_a_service_that_does_not_answer_is_given_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "READ", 0.1)
    service.delay = 0.5
    assert refusal(service).token == "hosting_timeout"


def test_a_service_that_stops_in_the_middle_of_an_answer_is_given_up(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "READ", 0.1)
    service.drip = 0.5
    service.on("/organizations/acme/pipelines/app/builds", b"[]")
    assert refusal(service).token == "hosting_timeout"


def test_a_service_that_answers_a_byte_at_a_time_is_given_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "ALL", 0.5)
    service.drip = 0.05
    service.on("/organizations/acme/pipelines/app/builds", b" " * 100)
    assert refusal(service).token == "hosting_timeout"
    assert service.dripped < 100


def test_a_service_that_is_not_there_is_told(service: Service) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refused = refusal(service, api=f"http://127.0.0.1:{port}")
    assert refused.token == "hosting_unreachable"
    assert "refused" in refused.message.lower()


def test_a_connection_that_is_not_secure_is_refused(service: Service) -> None:
    refused = refusal(service, api=service.url.replace("http:", "https:"))
    assert refused.token == "hosting_tls"
    assert service.asked == []


@pytest.mark.parametrize(
    "api",
    ["http://api.example.com", "ftp://127.0.0.1", "127.0.0.1", "https://", "https://user:pw@host.example", "https://h/?x",
     "https://[", "http://127.0.0.1.example.com", "https://h.example:port"],
)  # fmt: skip
def test_a_token_is_never_sent_to_an_address_that_is_not_safe(service: Service, api: str) -> None:
    with pytest.raises(MementoError) as caught:
        hosting.fetch("github", "acme/app", COMMIT, api)
    assert caught.value.token == "hosting_address_invalid"


@pytest.mark.parametrize(
    "repo", ["", "acme", "acme/", "/app", "acme/app/x", "../..", "acme/ap p", "acme/a?b", "acme/.."]
)
def test_a_repository_has_an_owner_and_a_name(service: Service, repo: str) -> None:
    with pytest.raises(hosting.AddressInvalid):
        hosting.fetch("github", repo, COMMIT, service.url)
    assert service.asked == []


@pytest.mark.parametrize("token", ["", "  ", "two words", "a\nb", "tök"])
def test_a_token_that_is_none_is_not_sent(service: Service, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", token)
    refused = refusal(service, "github")
    assert refused.token == "hosting_token_missing"
    assert "GITHUB_TOKEN" in refused.message
    assert service.asked == []


def test_a_service_that_is_not_known_is_refused(service: Service) -> None:
    assert refusal(service, "jenkins").token == "check_provider_unknown"


def test_the_library_is_asked_for_only_here(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "requests", None)
    refused = refusal(service)
    assert (refused.token, "memento-git[hosting]" in refused.hint) == ("hosting_missing", True)


def test_a_netrc_file_has_no_say(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login eve password other\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    service.on("/organizations/acme/pipelines/app/builds", [sample("buildkite-build")])
    hosting.fetch("buildkite", "acme/app", COMMIT, service.url)
    assert service.asked[0][1] == f"Bearer {TOKEN}"


def test_checks_are_fetched_for_head_and_recorded_without_the_token(
    service: Service, play: Play, run: str, cli: Call
) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    github(service, head)
    words = ("evidence", "check", "--fetch", "--repo", "acme/app", "--api", service.url, "--run", run)
    code, out, err = cli(*words, "-C", str(play.root), "--json")
    answer = json.loads(out)
    assert (code, len(answer["checks"]), answer["known"]) == (0, 7, [])
    code, again, err = cli(*words, "--commit", head[:10], "-C", str(play.root), "--json")
    assert (code, json.loads(again)["checks"], len(json.loads(again)["known"])) == (0, [], 7)
    written = "".join(path.read_text() for path in play.root.rglob(".memento/**/*.yaml"))
    assert TOKEN not in out + err + written + git(play.root, "log", "-p")


def test_what_a_service_says_of_another_commit_is_refused(service: Service, play: Play) -> None:
    head = git(play.root, "rev-parse", "HEAD")
    service.on("/organizations/acme/pipelines/app/builds", [sample("buildkite-build")])
    with pytest.raises(evidence_checks.CommitMissing):
        evidence_checks.fetch(play.ledger, "acme/app", provider="buildkite", commit=head, api=service.url)
