"""Intake: a message of cron, a code host or a chat as the words of a task. Nothing in it is obeyed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.model.enumeration import cut, many
from memento_git.model.types import FORBIDDEN

MOST_BYTES: Final = 256 * 1024
MOST_TITLE: Final = 200
MOST_BODY: Final = 32 * 1024
MOST_CRITERIA: Final = 20
PLAIN: Final = re.compile(r"[A-Za-z0-9._:/@#+-]{1,200}")
NOT_TAKEN: Final = (
    "verify", "verification_policy", "check", "checks", "command", "commands", "require", "trust", "policy", "executor",
    "executors", "dispatch", "depends_on", "dependencies", "budget", "attempts", "cost", "role", "risk",
    "allow_destructive", "allow_secret", "status", "state", "column",
)  # fmt: skip


class EventTooLarge(Refused):
    token = "event_too_large"
    sentence = "the message has {size} bytes or more, at most {most} are taken"
    hint_ = "send what the task needs, and leave a link to the rest"


class EventInvalid(Refused):
    token = "event_invalid"
    sentence = "this message cannot become a task: {problem}"
    hint_ = "give one JSON object, for example one with id, title and body; --sender says whose it is"


class DeliveryRequired(Refused):
    token = "delivery_required"
    sentence = "this message has no id, so a repeated delivery could not be recognized"
    hint_ = "name the delivery: --delivery ID, for example the X-GitHub-Delivery header"


class Message(NamedTuple):
    """A task's words out of a message, where it came from, and what was changed or left out on the way."""

    title: str
    body: str
    criteria: tuple[str, ...]
    source: dict[str, str]
    notes: tuple[str, ...]


class Words(NamedTuple):
    """What one kind of message says: title, body, the parts of its stable id, its actor and its link.

    The first part is the reader's name, so that no message has an id that another reader makes.
    """

    title: Any
    body: Any
    stable: tuple[Any, ...]
    actor: Any = ""
    url: Any = ""
    criteria: Any = ()


def read(data: bytes, sender: str = "auto", delivery: str = "") -> Message:
    """Return what a message asks for; refuse what is too large, no JSON object, or of no kind that is known."""
    payload = _loaded(data)
    notes: list[str] = []
    kind, words = _understood(payload, sender)
    stable = delivery or _given_delivery(payload, words) or _derived(words.stable)
    if not stable:
        raise DeliveryRequired
    title = _clean(" ".join(_text(words.title, "title").split()), "the title", MOST_TITLE, notes)
    if not title:
        raise EventInvalid(problem="it has no title and no text")
    left = [key for key in NOT_TAKEN if key in payload]
    if left:
        notes.append(f"left out, as no message may decide it: {', '.join(left)}")
    source = {
        "kind": kind,
        "delivery": _plain(stable),
        "actor": _clean(" ".join(_text(words.actor, "actor").split()), "the actor", MOST_TITLE, notes),
        "url": _link(_text(words.url, "url")),
    }
    body = _clean(_text(words.body, "body").replace("\r\n", "\n").strip(), "the body", MOST_BODY, notes)
    criteria = tuple(_criteria(words.criteria, notes))
    return Message(title, body, criteria, {key: value for key, value in source.items() if value}, tuple(notes))


def _loaded(data: bytes) -> dict[str, Any]:
    if len(data) > MOST_BYTES:
        raise EventTooLarge(size=len(data), most=MOST_BYTES)
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EventInvalid(problem=f"it is not JSON ({str(error)[:80] or type(error).__name__})") from None
    if not isinstance(payload, dict) or not payload:
        raise EventInvalid(problem="it is not a JSON object")
    return payload


def _understood(payload: dict[str, Any], sender: str) -> tuple[str, Words]:
    """Return the kind of sender and its words, by the first reader that knows the message."""
    for kind, reader in READERS:
        if sender in ("auto", kind) and (words := reader(payload)) is not None:
            return kind, words
    raise EventInvalid(problem=f"no message of {'a known kind' if sender == 'auto' else sender} looks like this")


def _part(payload: dict[str, Any], key: str) -> dict[str, Any]:
    found = payload.get(key)
    return found if isinstance(found, dict) else {}


def _text(value: Any, where: str) -> str:
    """Return a value as text: numbers as they are written, nothing for null; refuse what is neither."""
    if value is None:
        return ""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value)
    raise EventInvalid(problem=f"its {where} is not a text")


def _clean(text: str, where: str, most: int, notes: list[str]) -> str:
    """Return a text that a ledger can hold: what steers terminals shown by its number, what is too long cut."""
    shown, count = FORBIDDEN.subn(lambda found: f"<U+{ord(found[0]):04X}>", text)
    if count:
        notes.append(f"{many(count, 'control or direction-changing character')} of {where} shown by number")
    if len(shown) > most:
        from memento_git.texts.secrets import cut_before

        kept = cut_before(shown, most - 1)
        notes.append(f"{len(shown) - len(kept)} characters of {where} were left out")
        shown = f"{kept}…"
    return shown.strip()


def _plain(delivery: str) -> str:
    """Return a delivery's id as records hold it: itself where it is plain, else its digest."""
    if PLAIN.fullmatch(delivery):
        return delivery
    return f"sha256:{hashlib.sha256(delivery.encode(errors='surrogatepass')).hexdigest()}"


def _link(url: str) -> str:
    """Return a link to show, or nothing where it is none of the web's."""
    return url if re.fullmatch(r"https?://[!-~]{1,500}", url) else ""


def _given_delivery(payload: dict[str, Any], words: Words) -> str:
    """Return the id that a message gives itself, as one of its reader's, and none that is made of anything's name."""
    for key in ("delivery", "delivery_id", "event_id"):
        value = payload.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return f"{words.stable[0]}#{str(value).strip()}"
    return ""


def _derived(stable: tuple[Any, ...]) -> str:
    """Return an id made of what the sender itself calls the thing, or nothing where a part is missing."""
    if not stable or any(isinstance(part, (dict, list, bool)) or part in (None, "") for part in stable):
        return ""
    return ":".join(str(part) for part in stable)


def _criteria(given: Any, notes: list[str]) -> Iterator[str]:
    """Yield acceptance criteria; one text alone is a list of one."""
    listed = [given] if isinstance(given, str) else given
    if listed is None:
        return
    if not isinstance(listed, (list, tuple)) or not all(isinstance(one, str) for one in listed):
        raise EventInvalid(problem="its criteria are not a list of texts")
    if len(listed) > MOST_CRITERIA:
        notes.append(f"{many(len(listed) - MOST_CRITERIA, 'criterion was', 'criteria were')} left out")
    for one in listed[:MOST_CRITERIA]:
        if text := _clean(" ".join(one.split()), "a criterion", MOST_TITLE * 5, notes):
            yield text


def _github(payload: dict[str, Any]) -> Words | None:
    repository = _part(payload, "repository").get("full_name")
    if repository is None:
        return None
    for key, reader in GITHUB.items():
        if isinstance(payload.get(key), dict):
            return reader(payload, payload[key], _text(repository, "repository"))
    return None


def _github_comment(payload: dict[str, Any], comment: dict[str, Any], repository: str) -> Words:
    issue = _part(payload, "issue")
    return Words(
        f"{repository}#{issue.get('number')}: comment on {_text(issue.get('title'), 'title')}", comment.get("body"),
        ("github", repository, "comment", comment.get("id"), payload.get("action")),
        _part(comment, "user").get("login"), comment.get("html_url"),
    )  # fmt: skip


def _github_thread(payload: dict[str, Any], thread: dict[str, Any], repository: str) -> Words:
    kind = "pull" if "pull_request" in payload else "issue"
    return Words(
        f"{repository}#{thread.get('number')}: {_text(thread.get('title'), 'title')}", thread.get("body"),
        ("github", repository, kind, thread.get("number"), payload.get("action")),
        _part(payload, "sender").get("login") or _part(thread, "user").get("login"), thread.get("html_url"),
    )  # fmt: skip


def _github_check(payload: dict[str, Any], check: dict[str, Any], repository: str) -> Words:
    ended = _text(check.get("conclusion") or check.get("status"), "conclusion")
    commit, branch = _text(check.get("head_sha"), "head_sha"), _text(check.get("head_branch"), "head_branch")
    return Words(
        f"{repository}: {_text(check.get('name'), 'name')} {ended}",
        f"Commit {commit}, branch {branch or 'unknown'}.",
        ("github", repository, "check", check.get("id"), check.get("run_attempt") or 1, payload.get("action")),
        _part(payload, "sender").get("login"), check.get("html_url"),
    )  # fmt: skip


GITHUB: Final[dict[str, Callable[[dict[str, Any], dict[str, Any], str], Words]]] = {
    "comment": _github_comment, "issue": _github_thread, "pull_request": _github_thread,
    "workflow_run": _github_check, "check_run": _github_check,
}  # fmt: skip


def _gitlab(payload: dict[str, Any]) -> Words | None:
    kind, about = payload.get("object_kind"), _part(payload, "object_attributes")
    project = _text(_part(payload, "project").get("path_with_namespace"), "project")
    if kind not in ("issue", "note", "pipeline", "merge_request") or not about:
        return None
    actor = _part(payload, "user").get("username")
    stable = ("gitlab", project, kind, about.get("id"), about.get("action") or about.get("status") or "created")
    if kind == "note":
        title = _part(payload, "issue").get("title") or _part(payload, "merge_request").get("title")
        return Words(
            f"{project}: comment on {_text(title, 'title')}", about.get("note"), stable, actor, about.get("url")
        )
    if kind == "pipeline":
        title = f"{project}: pipeline {_text(about.get('id'), 'id')} {_text(about.get('status'), 'status')}"
        said = f"Commit {_text(about.get('sha'), 'sha')}, branch {_text(about.get('ref'), 'ref')}."
        return Words(title, said, stable, actor, about.get("url"))
    title = f"{project}#{about.get('iid')}: {_text(about.get('title'), 'title')}"
    return Words(title, about.get("description"), stable, actor, about.get("url"))


def _slack(payload: dict[str, Any]) -> Words | None:
    event = _part(payload, "event")
    if "text" not in event:
        return None
    stable = ("slack", event.get("channel"), event.get("client_msg_id") or event.get("ts"))
    return _said(event["text"], stable, event.get("user"))


def _telegram(payload: dict[str, Any]) -> Words | None:
    message = _part(payload, "message")
    if "text" not in message or "message_id" not in message:
        return None
    sender = _part(message, "from")
    stable = ("telegram", _part(message, "chat").get("id"), message["message_id"])
    return _said(message["text"], stable, sender.get("username") or sender.get("id"))


def _chat(payload: dict[str, Any]) -> Words | None:
    if "text" not in payload:
        return None
    user = payload.get("user", payload.get("from"))
    actor = (user.get("name") or user.get("username") or user.get("id")) if isinstance(user, dict) else user
    number = payload.get("message_id") or payload.get("id")
    place = payload.get("channel") or payload.get("chat") or payload.get("platform") or "chat"
    return _said(payload["text"], ("chat", place, number), actor)


def _said(text: Any, stable: tuple[Any, ...], actor: Any) -> Words:
    """Return a message of a chat: its first line is the title, all of it the body."""
    words = _text(text, "text").strip()
    first = words.partition("\n")[0]
    return Words(cut(first, MOST_TITLE), words, stable, actor)


def _cron(payload: dict[str, Any]) -> Words | None:
    if "schedule" not in payload or not (payload.get("name") or payload.get("title")):
        return None
    name = payload.get("name") or payload.get("title")
    said = payload.get("body") or payload.get("description")
    told = f"Schedule {_text(payload['schedule'], 'schedule')}, due {_text(payload.get('at'), 'at') or 'now'}."
    body = f"{_text(said, 'body')}\n\n{told}" if said else told
    stable = ("cron", name, payload.get("at"))
    return Words(
        payload.get("title") or name, body, stable, payload.get("actor") or "cron", payload.get("url"), _asked(payload)
    )


def _generic(payload: dict[str, Any]) -> Words | None:
    if not payload.get("title"):
        return None
    said = payload.get("body") if payload.get("body") is not None else payload.get("description")
    return Words(
        payload["title"], said, ("webhook", payload.get("id")), payload.get("actor") or payload.get("user"),
        payload.get("url"), _asked(payload),
    )  # fmt: skip


def _asked(payload: dict[str, Any]) -> Any:
    return payload.get("acceptance_criteria", payload.get("criteria"))


READERS: Final = (
    ("webhook", _github), ("webhook", _gitlab), ("chat", _slack), ("chat", _telegram), ("chat", _chat),
    ("cron", _cron), ("webhook", _generic),
)  # fmt: skip
