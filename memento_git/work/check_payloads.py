"""What the checks of a provider say: its JSON, whichever of its shapes it has, read into one. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from memento_git.errors import Misused, Refused
from memento_git.model.clock import STAMP, stamp
from memento_git.model.types import text_problems

PROVIDERS: Final = ("github", "gitlab", "buildkite")
MOST_BYTES: Final = 16 * 1024 * 1024
MOST_CHECKS: Final = 1000
COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
LONGEST: Final = 255
PAYLOAD: Final = "the payload"

Raw = dict[str, Any]
Reader = Callable[[Raw, str], Iterator["Check"]]


class PayloadInvalid(Refused):
    """A text that is none of the answers or messages of a provider that are known here."""

    token = "check_payload_invalid"
    sentence = "{where}: {problem}"
    hint_ = "give the provider's own JSON, as its API or webhook sends it; see memento evidence check --help"


class ProviderUnknown(Misused):
    token = "check_provider_unknown"
    sentence = "{given!r} is not a provider that this knows"
    hint_ = "one of: {allowed}"


class Check(NamedTuple):
    """One check as its provider tells it; `finished` is empty while it runs, `commit` where it names none."""

    provider: str
    name: str
    id: str
    conclusion: str
    commit: str
    url: str
    finished: str

    def record(self) -> dict[str, str]:
        return {key: value for key, value in self._asdict().items() if value}


def parse(text: bytes, provider: str = "auto") -> list[Check]:
    """Return the checks that a provider's JSON tells of."""
    if provider not in ("auto", *PROVIDERS):
        raise ProviderUnknown(given=provider, allowed=", ".join(("auto", *PROVIDERS)))
    if len(text) > MOST_BYTES:
        raise PayloadInvalid(where=PAYLOAD, problem=f"it has {len(text)} bytes, at most {MOST_BYTES} are read")
    try:
        value = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise PayloadInvalid(where=PAYLOAD, problem=f"it is not JSON ({str(error)[:80]})") from None
    return read(value, provider)


def read(value: Any, provider: str = "auto") -> list[Check]:
    """Return the checks of a decoded answer; refuse where any of it is of no known shape."""
    found: list[Check] = []
    told = [(f"entry {at}", one) for at, one in enumerate(value, 1)] if isinstance(value, list) else [(PAYLOAD, value)]
    for where, one in told:
        for check in _each(one, provider, where):
            if len(found) == MOST_CHECKS:
                raise PayloadInvalid(where=where, problem=f"there are more than {MOST_CHECKS} checks")
            found.append(check)
    if not found:
        raise PayloadInvalid(where=PAYLOAD, problem="there is no check in it")
    return found


def _each(value: Any, provider: str, where: str) -> Iterator[Check]:
    if not isinstance(value, dict):
        raise PayloadInvalid(where=where, problem="a JSON object is expected here")
    for name, fits, told in SHAPES:
        if provider in ("auto", name) and fits(value):
            return told(value, where)
    raise PayloadInvalid(where=where, problem="it is no check, run, status, pipeline, job or build that is known")


def _check(provider: str, where: str, fields: Raw) -> Check:
    """Return a check of fields as they came; refuse what is not of the type that it must be."""
    name, conclusion = _word(fields["name"], f"{where}, name"), _word(fields["conclusion"], f"{where}, conclusion")
    if not name or not conclusion:
        raise PayloadInvalid(where=where, problem=f"its {'conclusion' if name else 'name'} is missing")
    commit = _word(fields["commit"], f"{where}, commit")
    if commit and COMMIT.fullmatch(commit) is None:
        raise PayloadInvalid(where=where, problem=f"{commit[:60]!r} is not a full commit id")
    url = _word(fields["url"], f"{where}, url", longest=4096)
    if url and re.match(r"https?://[^\s/]", url) is None:
        raise PayloadInvalid(where=where, problem=f"{url[:60]!r} is not a link")
    identity = _word(fields["id"], f"{where}, id")
    return Check(provider, name, identity, conclusion.lower(), commit, url, _time(fields["finished"], where))


def _word(value: Any, where: str, *, longest: int = LONGEST) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return str(value)
    if not isinstance(value, str) or len(value) > longest:
        raise PayloadInvalid(where=where, problem=f"a text of at most {longest} characters is expected")
    for problem in text_problems(value.strip(), lines=False):
        raise PayloadInvalid(where=where, problem=problem)
    return value.strip()


def _state(value: Raw, key: str) -> str:
    """Return a word as a conclusion is read, so that one in another case is judged as what it is recorded as."""
    return str(value.get(key)).strip().lower()


def _time(value: Any, where: str) -> str:
    """Return a provider's time as the ledger writes times."""
    if value in (None, ""):
        return ""
    try:
        found = datetime.fromisoformat(value.replace(" UTC", "+00:00") if isinstance(value, str) else "")
        told = stamp((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError, OSError):
        told = ""
    if STAMP.fullmatch(told) is None:
        raise PayloadInvalid(where=where, problem=f"{value!r:.60} is not a time")
    return told


def _inner(value: Raw, *keys: str) -> Any:
    """Return what lies below keys, or None where there is no such thing."""
    found: Any = value
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


# GitHub.


def _github_run(value: Raw, where: str) -> Iterator[Check]:
    """Read a check run or a workflow run: its conclusion, or its status while it has none."""
    done = value.get("status") in ("completed", None)
    yield _check("github", where, {
        "name": value.get("name") or value.get("display_title") or value.get("path"), "id": value.get("id"),
        "conclusion": value.get("conclusion") if done else value.get("status"), "commit": value.get("head_sha"),
        "url": value.get("html_url") or value.get("details_url"),
        "finished": (value.get("completed_at") or value.get("updated_at")) if done else None,
    })  # fmt: skip


def _github_status(value: Raw, where: str) -> Iterator[Check]:
    """Read a commit status; one in a list names its commit only in its own address."""
    url = value.get("url")
    tail = url.rstrip("/").rpartition("/")[2] if isinstance(url, str) and "/statuses/" in url else None
    pending = value.get("state") == "pending"
    yield _check("github", where, {
        "name": value.get("context"), "id": value.get("id"), "conclusion": value.get("state"),
        "commit": value.get("sha") or tail, "url": value.get("target_url"),
        "finished": None if pending else value.get("updated_at") or value.get("created_at"),
    })  # fmt: skip


def _github_list(key: str, word: str, read: Reader = _github_run) -> Reader:
    def told(value: Raw, where: str) -> Iterator[Check]:
        for number, one in enumerate(_members(value, key, where), 1):
            yield from read({"sha": value.get("sha"), **one}, f"{where}, {word} {number}")

    return told


def _members(value: Raw, key: str, where: str) -> list[Raw]:
    members = value.get(key)
    if not isinstance(members, list) or not all(isinstance(one, dict) for one in members):
        raise PayloadInvalid(where=where, problem=f"{key} must be a list of objects")
    return members


def _webhook(key: str) -> Reader:
    return lambda value, where: _github_run(value[key], where)


# GitLab.


def _gitlab(value: Raw, where: str) -> Iterator[Check]:
    """Read a pipeline, a job or a commit status."""
    ended = _state(value, "status") in ("success", "failed", "canceled", "skipped")
    yield _check("gitlab", where, {
        "name": value.get("name") or "pipeline", "id": value.get("id"), "conclusion": value.get("status"),
        "commit": value.get("sha") or _inner(value, "commit", "id") or _inner(value, "pipeline", "sha"),
        "url": value.get("web_url") or value.get("target_url"),
        "finished": (value.get("finished_at") or value.get("updated_at")) if ended else None,
    })  # fmt: skip


def _gitlab_pipeline_hook(value: Raw, where: str) -> Iterator[Check]:
    attributes = value.get("object_attributes")
    if not isinstance(attributes, dict):
        raise PayloadInvalid(where=where, problem="object_attributes must be an object")
    yield from _gitlab({**attributes, "web_url": attributes.get("url")}, where)
    for number, one in enumerate(_members(value, "builds", where) if "builds" in value else (), 1):
        yield from _gitlab({**one, "sha": attributes.get("sha"), "web_url": None}, f"{where}, build {number}")


def _gitlab_job_hook(value: Raw, where: str) -> Iterator[Check]:
    told = {key: value.get(f"build_{key}") for key in ("id", "name", "status", "finished_at")}
    yield from _gitlab({**told, "sha": value.get("sha")}, where)


# Buildkite, and what is like it.


def _buildkite(value: Raw, where: str) -> Iterator[Check]:
    """Read a build, and each of its jobs that runs a command; steps that only wait or block are none.

    Jobs that share a name, as parallel ones do, end with the build: of verdicts of one moment the worst counts.
    """
    name = _inner(value, "pipeline", "slug") or _inner(value, "pipeline", "name") or "build"
    whole = _build(value, name, value.get("commit"), where)
    yield whole
    jobs = _members(value, "jobs", where) if value.get("jobs") is not None else []
    found = []
    for number, job in enumerate(jobs, 1):
        if job.get("type", "script") == "script":
            label = job.get("name") or job.get("step_key") or f"{name} job {number}"
            told = _build(job, label, value.get("commit"), f"{where}, job {number}")
            found.append((told, job.get("retried") is not True))
    names = Counter(told.name for told, is_last in found if is_last)
    for told, is_last in found:
        yield told._replace(finished=whole.finished) if is_last and names[told.name] > 1 else told


def _build(value: Raw, name: Any, commit: Any, where: str) -> Check:
    """Read a build or a job; a build that waits at a block step calls itself passed, and finished, until then."""
    waits = bool(value.get("blocked")) and _state(value, "state") == "passed"
    return _check("buildkite", where, {
        "name": name, "id": value.get("id") or value.get("number"),
        "conclusion": "blocked" if waits else value.get("state"), "commit": commit, "url": value.get("web_url"),
        "finished": None if waits else value.get("finished_at"),
    })  # fmt: skip


def _has(*keys: str) -> Callable[[Raw], bool]:
    return lambda value: all(key in value for key in keys)


def _holds(key: str) -> Callable[[Raw], bool]:
    return lambda value: isinstance(value.get(key), dict)


SHAPES: Final[tuple[tuple[str, Callable[[Raw], bool], Reader], ...]] = (
    ("github", _has("check_runs"), _github_list("check_runs", "run")),
    ("github", _has("workflow_runs"), _github_list("workflow_runs", "run")),
    ("github", _has("statuses"), _github_list("statuses", "status", _github_status)),
    ("github", _holds("check_run"), _webhook("check_run")),
    ("github", _holds("workflow_run"), _webhook("workflow_run")),
    ("github", _has("head_sha", "conclusion"), _github_run),
    ("github", _has("context", "state"), _github_status),
    ("gitlab", lambda value: value.get("object_kind") == "pipeline", _gitlab_pipeline_hook),
    ("gitlab", lambda value: value.get("object_kind") == "build", _gitlab_job_hook),
    (
        "gitlab",
        lambda value: (
            "status" in value
            and ("sha" in value or isinstance(value.get("commit"), dict))
            and not value.keys() & {"object_kind", "deployable"}  # another webhook, a deployment
        ),
        _gitlab,
    ),
    (
        "buildkite",
        _holds("build"),
        lambda value, where: _buildkite({"pipeline": value.get("pipeline"), **value["build"]}, where),
    ),
    ("buildkite", lambda value: "state" in value and isinstance(value.get("commit"), str), _buildkite),
)
