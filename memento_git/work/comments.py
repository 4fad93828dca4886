"""One comment on a pull request, found again and updated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from memento_git.errors import Misused
from memento_git.model.markup import MOST_COMMENT, units
from memento_git.work import hosting
from memento_git.work.check_payloads import ProviderUnknown
from memento_git.work.hosting import Asker, HostingFailed, HostingForbidden, HostingNotFound

MOST_BYTES: Final = 3 * MOST_COMMENT
TOO_LONG: Final = f"it has more than the {MOST_COMMENT} characters that a comment may have"
MARK: Final = "<!-- memento-git: this comment is updated, not repeated -->"


class BodyUnfit(Misused):
    token = "comment_invalid"
    sentence = "this cannot be posted as a comment: {problem}"
    hint_ = "memento diff --format markdown writes a text that fits"


class Paths(NamedTuple):
    """Where a service keeps the comments of one request, how one is changed, and what its author's name is called."""

    comments: str
    one: str
    change: str
    author: str
    name: str


PLACES: Final[dict[str, Callable[[str, int], Paths]]] = {
    "github": lambda repo, number: Paths(
        f"/repos/{repo}/issues/{number}/comments", f"/repos/{repo}/issues/comments", "PATCH", "user", "login"
    ),
    "gitlab": lambda repo, number: Paths(
        f"/projects/{quote(repo, safe='')}/merge_requests/{number}/notes",
        f"/projects/{quote(repo, safe='')}/merge_requests/{number}/notes",
        "PUT", "author", "username",
    ),
}  # fmt: skip


def post(
    provider: str, repo: str, number: int, body: bytes, api: str = "", *, make: bool = True
) -> dict[str, Any]:  # fmt: skip
    """Post a text, or update the comment that holds the last one; where that is not allowed, say so and do nothing.

    Without `make`, a comment is updated, and none is made.
    """
    if provider not in PLACES:
        raise ProviderUnknown(given=provider, allowed=", ".join(PLACES))
    hosting.refuse_unfit(repo, provider)
    text = f"{MARK}\n{_read(body)}"
    if units(text) > MOST_COMMENT:
        raise BodyUnfit(problem=TOO_LONG)
    paths = PLACES[provider](repo, number)
    with closing(Asker(provider, api, f"comments of {repo}#{number}", "--number")) as asker:
        try:
            return _post(asker, paths, text, make=make)
        except HostingForbidden as refused:
            return {"action": "forbidden", "id": None, "url": None, "reason": refused.message}


def _read(body: bytes) -> str:
    if len(body) > MOST_BYTES:
        raise BodyUnfit(problem=TOO_LONG)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise BodyUnfit(problem="it is not UTF-8") from None
    if not text.strip():
        raise BodyUnfit(problem="it is empty")
    return text


def _post(asker: Asker, paths: Paths, text: str, *, make: bool) -> dict[str, Any]:
    me = _me(asker, paths.name)
    for found in _ours(asker, paths, me):
        if found["body"].strip() == text.strip():
            return _told("unchanged", found)
        try:
            answer = asker.send(paths.change, f"{paths.one}/{found['id']}", {"body": text})
        except HostingNotFound:  # somebody removed it meanwhile
            continue
        except HostingForbidden:  # without a name of ours, it may be another app's
            if me:
                raise
            continue
        return _told("updated", _answer(asker, answer))
    if not make:
        return {"action": "absent", "id": None, "url": None, "reason": None}
    return _told("created", _answer(asker, asker.send("POST", paths.comments, {"body": text})))


def _told(action: str, answer: dict[str, Any]) -> dict[str, Any]:
    return {"action": action, "id": answer["id"], "url": answer.get("html_url"), "reason": None}


def _answer(asker: Asker, answer: Any) -> dict[str, Any]:
    if isinstance(answer, dict) and isinstance(answer.get("id"), int):
        return answer
    raise HostingFailed(host=asker.host, problem="did not answer with a comment")


def _ours(asker: Asker, paths: Paths, me: str | None) -> Iterator[dict[str, Any]]:
    """Yield the comments that bear our mark and are by the token's own account.

    Whoever may comment could write the mark, and would then decide what stands there: another's comment stays alone.
    """
    for page in asker.pages(f"{paths.comments}?per_page=100"):
        if not isinstance(page, list):
            raise HostingFailed(host=asker.host, problem="did not answer with comments")
        for row in page:
            if isinstance(row, dict) and isinstance(row.get("id"), int) and _is_ours(row, paths, me):
                yield row


def _is_ours(row: dict[str, Any], paths: Paths, me: str | None) -> bool:
    author = row.get(paths.author)
    if not isinstance(author, dict) or not str(row.get("body") or "").startswith(MARK):
        return False
    return author.get(paths.name) == me if me else author.get("type") == "Bot"


def _me(asker: Asker, name: str) -> str | None:
    """Return the account of the token; None for the token of an app, which may not ask and posts as a bot."""
    try:
        answer = next(asker.pages("/user"))
    except (HostingForbidden, HostingNotFound):
        return None
    found = answer.get(name) if isinstance(answer, dict) else None
    return found if isinstance(found, str) else None
