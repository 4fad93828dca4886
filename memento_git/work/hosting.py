"""Speaking with a hosting service, and asking it for the checks of a commit: the only code that speaks HTTP."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from concurrent.futures import Future
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from memento_git.errors import Misused, Refused, adding
from memento_git.work import check_payloads
from memento_git.work.check_payloads import MOST_BYTES, Check, ProviderUnknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import requests

Got = TypeVar("Got")
CONNECT: Final = 10.0
READ: Final = 30.0
ALL: Final = 120.0
MOST_PAGES: Final = 60
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
PART: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.][A-Za-z0-9._-]{0,100}")


class Service(NamedTuple):
    """Where a provider answers, and which variable holds the token for it."""

    api: str
    variable: str


SERVICES: Final = {
    "github": Service("https://api.github.com", "GITHUB_TOKEN"),
    "gitlab": Service("https://gitlab.com/api/v4", "GITLAB_TOKEN"),
    "buildkite": Service("https://api.buildkite.com/v2", "BUILDKITE_TOKEN"),
}


class HostingMissing(Refused):
    token = "hosting_missing"
    sentence = "asking a hosting service needs the requests package"
    hint_ = adding("hosting")


class TokenMissing(Refused):
    token = "hosting_token_missing"
    sentence = "{variable} holds no token for {provider}"
    hint_ = "set {variable} in the environment; it is sent to the service alone, never stored"


class AddressInvalid(Misused):
    token = "hosting_address_invalid"
    sentence = "{given!r} is not {what}"
    hint_ = "write --repo OWNER/NAME (Buildkite: ORGANIZATION/PIPELINE) and --api https://HOST/PATH"


class HostingFailed(Refused):
    token = "hosting_failed"
    sentence = "{host} {problem}"
    hint_ = "run the command again later"


class TooManyPages(HostingFailed):
    hint_ = "they will not be fewer later; of checks, give a file of the service's JSON: memento evidence check FILE"


class RequestUnfit(HostingFailed):
    """The service has what was asked for elsewhere or no longer, or does not take what was sent."""

    hint_ = "check --repo, --api and {option}: it may have moved, be gone, or be locked"


class HostingUnauthorized(Refused):
    token = "hosting_unauthorized"
    sentence = "{host} does not accept the token in {variable}"
    hint_ = "set {variable} to a token that is valid there"


class HostingForbidden(Refused):
    token = "hosting_forbidden"
    sentence = "{host} gives the token in {variable} no access to {what}"
    hint_ = "give the token the right that this needs: to read checks and commit statuses, or to write comments"


class HostingNotFound(Refused):
    token = "hosting_not_found"
    sentence = "{host} has no {what}, or does not show it to this token"
    hint_ = "check --repo, {option} and what the token may see; only what was pushed is there"


class RateLimited(Refused):
    token = "hosting_rate_limited"
    sentence = "{host} answers no more for now: its rate limit is reached{until}"
    hint_ = "wait, then run the command again"


class HostingUnreachable(Refused):
    token = "hosting_unreachable"
    sentence = "{host} cannot be reached: {reason}"
    hint_ = "check the network, the proxy and --api"


class TlsFailed(Refused):
    token = "hosting_tls"
    sentence = "the connection to {host} is not secure: {reason}"
    hint_ = "check the service's certificate, or name its authority in REQUESTS_CA_BUNDLE"


class HostingTimeout(Refused):
    token = "hosting_timeout"
    sentence = "{host} did not answer in time"
    hint_ = "run the command again"


def fetch(provider: str, repo: str, commit: str, api: str = "") -> list[Check]:
    """Return the checks that a service has for a commit."""
    name = "github" if provider == "auto" else provider
    if name not in SERVICES:
        raise ProviderUnknown(given=provider, allowed=", ".join(SERVICES))
    refuse_unfit(repo, name)
    with closing(Asker(name, api, f"checks of {commit[:12]}", "--commit")) as asker:
        answers = {"github": _github, "gitlab": _gitlab, "buildkite": _buildkite}[name](asker, repo, commit)
        found = [check for answer in answers for check in (check_payloads.read(answer, name) if _full(answer) else ())]
        if not found:
            raise HostingNotFound(host=asker.host, what=asker.what, option=asker.option)
    return found


def refuse_unfit(repo: str, provider: str) -> None:
    """Refuse what cannot be the name of a repository at a provider."""
    parts = repo.split("/")
    if len(parts) < 2 or (len(parts) > 2 and provider != "gitlab") or not all(PART.fullmatch(part) for part in parts):
        raise AddressInvalid(given=repo, what="a repository")


def _full(answer: Any) -> bool:
    """Tell whether an answer has any check at all."""
    lists = [answer.get(key) for key in ("check_runs", "statuses") if key in answer] if isinstance(answer, dict) else []
    return bool(answer) and all(lists)


def _github(asker: Asker, repo: str, commit: str) -> Iterator[Any]:
    yield from asker.pages(f"/repos/{repo}/commits/{commit}/check-runs?per_page=100")
    yield from asker.pages(f"/repos/{repo}/commits/{commit}/status?per_page=100")


def _gitlab(asker: Asker, repo: str, commit: str) -> Iterator[Any]:
    project = f"/projects/{quote(repo, safe='')}"
    for page in asker.pages(f"{project}/pipelines?sha={commit}&per_page=100"):
        yield page
        for pipeline in page if isinstance(page, list) else ():
            number = pipeline.get("id") if isinstance(pipeline, dict) else None
            if isinstance(number, int):
                yield from asker.pages(f"{project}/pipelines/{number}/jobs?per_page=100")


def _buildkite(asker: Asker, repo: str, commit: str) -> Iterator[Any]:
    organization, _, pipeline = repo.partition("/")
    yield from asker.pages(f"/organizations/{organization}/pipelines/{pipeline}/builds?commit={commit}&per_page=100")


class Asker:
    """One conversation with a service: bounded in time, pages and bytes, and never sent elsewhere.

    `option` names `what` is asked about on the command line.
    """

    def __init__(self, provider: str, api: str, what: str, option: str) -> None:
        try:
            import requests
            from urllib3.exceptions import ReadTimeoutError
        except ImportError:
            raise HostingMissing from None
        self.requests, self.stalled = requests, ReadTimeoutError
        self.variable = SERVICES[provider].variable
        self.api = (api or SERVICES[provider].api).rstrip("/")
        self.what, self.option = what, option
        self.host = _host(self.api)
        token = os.environ.get(self.variable, "").strip()
        if re.fullmatch(r"[!-~]{1,1024}", token) is None:
            raise TokenMissing(variable=self.variable, provider=provider)
        self.session = requests.Session()
        self.session.auth = _bearer(token)
        self.session.headers.update({"Accept": "application/json", "User-Agent": "memento-git"})
        self.until = time.monotonic() + ALL
        self.asked = 0

    def close(self) -> None:
        self.session.close()

    def pages(self, path: str) -> Iterator[Any]:
        """Yield an answer and those that follow it."""
        url: str | None = f"{self.api}{path}"
        while url:
            answer, url = self._page(url)
            yield answer

    def send(self, method: str, path: str, value: Any) -> Any:
        """Send a value and return what is answered; nothing is sent twice, for it may have arrived."""
        return self._page(f"{self.api}{path}", method, value)[0]

    def _page(self, url: str, method: str = "GET", value: Any = None) -> tuple[Any, str | None]:
        self.asked += 1
        if self.asked > MOST_PAGES:
            raise TooManyPages(host=self.host, problem=f"has more than {MOST_PAGES} pages of answers")
        errors = self.requests.exceptions
        try:
            body, following = within(self.until - time.monotonic(), lambda: self._answer(url, method, value))
        except (TimeoutError, errors.Timeout):
            raise HostingTimeout(host=self.host) from None
        except errors.SSLError as error:
            raise TlsFailed(host=self.host, reason=_reason(error)) from None
        except errors.ConnectionError as error:
            if isinstance(next(iter(error.args), None), self.stalled):  # of a body, requests tells it so
                raise HostingTimeout(host=self.host) from None
            raise HostingUnreachable(host=self.host, reason=_reason(error)) from None
        except errors.RequestException as error:
            raise HostingFailed(host=self.host, problem=f"did not answer properly: {_reason(error)}") from None
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise HostingFailed(host=self.host, problem="did not answer with JSON") from None
        return answer, self._next(following)

    def _answer(self, url: str, method: str, value: Any) -> tuple[bytes, str | None]:
        with self.session.request(
            method, url, json=value, timeout=(CONNECT, READ), stream=True, allow_redirects=False
        ) as response:
            self._judge(response)
            return self._body(response), response.links.get("next", {}).get("url")

    def _next(self, following: str | None) -> str | None:
        """Return the address of the next page; refuse one that would take the token to another place, or is none."""
        with suppress(ValueError):
            if not following or urlsplit(following)[:2] == urlsplit(self.api)[:2]:
                return following
        raise HostingFailed(host=self.host, problem="names a next page that lies elsewhere")

    def _body(self, response: requests.Response) -> bytes:
        held = bytearray()
        for block in response.iter_content(64 * 1024):
            held += block
            if len(held) > MOST_BYTES:
                raise HostingFailed(host=self.host, problem=f"answered with more than {MOST_BYTES} bytes")
            if time.monotonic() > self.until:
                raise HostingTimeout(host=self.host)
        return bytes(held)

    def _judge(self, response: requests.Response) -> None:
        """Refuse an answer that is none."""
        code, headers = response.status_code, response.headers
        spent = headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in headers
        if code == 429 or (code == 403 and spent):
            raise RateLimited(host=self.host, until=_until(headers.get("Retry-After")))
        if code == 401:
            raise HostingUnauthorized(host=self.host, variable=self.variable)
        if code == 403:
            raise HostingForbidden(host=self.host, variable=self.variable, what=self.what)
        if code == 404:
            raise HostingNotFound(host=self.host, what=self.what, option=self.option)
        if 300 <= code < 500:
            told = "is somewhere else now" if response.is_redirect else "answered with an error"
            raise RequestUnfit(host=self.host, problem=f"{told} (HTTP {code})", option=self.option)
        if code not in (200, 201):
            raise HostingFailed(host=self.host, problem=f"answered with an error (HTTP {code})")


def within(seconds: float, act: Callable[[], Got]) -> Got:
    """Return what comes of an act; give up on one that takes longer.

    A time-out of requests begins anew with each byte, so a service could keep us for ever.
    """
    done: Future[Got] = Future()

    def work() -> None:
        try:
            done.set_result(act())
        except BaseException as error:  # noqa: BLE001 (raised where it is awaited)
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return done.result(max(seconds, 0))


def _host(api: str) -> str:
    """Return the host of an API; refuse one that would be asked without encryption over a network."""
    try:
        parts = urlsplit(api)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
    if not host or not safe or parts.username or parts.query or parts.fragment:
        raise AddressInvalid(given=api[:200], what="an https address of an API")
    return host


def _bearer(token: str) -> Any:
    """Return how a request is given the token; a .netrc file has no say then."""

    def give(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {token}"
        return request

    return give


def _until(seconds: str | None) -> str:
    return f", try again in {seconds} s" if seconds and seconds.isdecimal() and len(seconds) < 8 else ""


def _reason(error: Exception) -> str:
    """Return the innermost reason of an error, short and without addresses."""
    cause: Any = error
    for _ in range(8):
        inner = getattr(cause, "reason", None) or next((one for one in cause.args if isinstance(one, Exception)), None)
        if not isinstance(inner, Exception):
            break
        cause = inner
    told = re.sub(r"<[^>]*>:?\s*|https?://\S+|\w+\([^)]*\):\s*", "", str(cause))
    return " ".join(told.split())[:160] or type(error).__name__
