"""The pages of `memento web`: each is what commands answer, as HTML. It only reads."""

from __future__ import annotations

import gc
import hashlib
import hmac
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from memento_git.cli import boundary, machine_errors, output, terminal
from memento_git.cli.boundary import Call
from memento_git.errors import MementoError, Refused
from memento_git.model.ids import ID
from memento_git.review import page
from memento_git.review.report import typed
from memento_git.work import doubts

if TYPE_CHECKING:
    from markupsafe import Markup
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memento_git.model.rows import Row

    Ask = Callable[..., Row]
    Made = tuple[str, Row]  # a template, and what it tells

HOSTS: Final = ["127.0.0.1", "localhost"]
ROWS: Final = 100
STATUS: Final = {"usage": 400, "internal_error": 500}
STATES: Final = ("status", "kind", "outcome", "trust_level")
PROVEN: Final = {True: ("proven",), False: ("unproven",)}
SAID: Final = ("id", "dispatch_id", "run_id", "title", "goal")
HEADERS: Final = {
    "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "; ".join((
        "default-src 'none'", f"style-src '{page.hash_of(page.SERVED)}'", f"script-src '{page.hash_of(page.SCRIPT)}'",
        "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    )),
}  # fmt: skip


class NoSuchPage(Refused):
    token = "no_such_page"
    sentence = "there is no such page"
    hint_ = "the name of the repository leads to the first one"


class Refusal(Exception):
    """A command that was refused, with what it answered."""

    def __init__(self, told: Row) -> None:
        super().__init__(told["message"])
        self.told = told


class Site:
    """The ledger of one repository, asked by one request after another."""

    def __init__(self, workspace: str, name: str) -> None:
        self.workspace = workspace
        self.name = name
        self._turn = threading.Lock()

    def ask(self, *words: str) -> Row:
        """Return what a command answers; refuse as it does."""
        with self._turn:
            told = boundary.answer(["-C", self.workspace, *words])
            gc.collect()  # a ledger that was read is large, and the next request reads another
        if "hint" in told:  # as a refusal has, and no verdict that says no
            raise Refusal(told)
        return told

    def head(self) -> str:
        """Return what changes when there is something else to show: a digest, for a file may have any name."""
        call = Call(self.workspace, "", (), (), json=True)
        try:
            with self._turn, machine_errors.refusals():
                commits = call.view().commits
                told = "\n".join([*commits, *(change.path for change in call.ledger.uncommitted)])
                return hashlib.sha256(told.encode(errors="surrogateescape")).hexdigest()
        except MementoError as refusal:
            return refusal.token
        finally:
            call.close()


class Live:
    """What every page knows of the one who asks for it: at which commits, by what words, and where links lead."""

    def __init__(self, site: Site, request: Request) -> None:
        self.name = site.name
        self._site = site
        self.at = request.query_params.getlist("at")
        self.query = request.query_params.get("q", "")
        self.head = "" if self.at else site.head()
        others = [(key, one) for key, one in request.query_params.multi_items() if key != "at"]
        self.top = request.scope["root_path"]
        self.now = f"{request.url.path}?{urlencode(others)}"
        self.warnings: list[str] = []

    def ask(self, *words: str) -> Row:
        """Return what a reading command answers at these commits; keep what should be known besides."""
        end = words.index("--") if "--" in words else len(words)
        told = self._site.ask(*words[:end], *(f"--at={one}" for one in self.at), *words[end:])
        self.warnings = list(dict.fromkeys((*self.warnings, *told.get("warnings", ()))))
        return told

    def url(self, path: str, **query: Any) -> str:
        told = [*((key, one) for key, one in query.items() if one), *(("at", one) for one in self.at)]
        return f"{self.top}{path}{'?' * bool(told)}{urlencode(told)}"

    def linked(self, text: str) -> Markup:
        """Return a text in which every id leads to its record."""
        from markupsafe import Markup, escape

        parts, end = [], 0
        for found in ID.finditer(str(text)):
            link = Markup('<a href="{}"><code>{}</code></a>').format(self.url(f"/show/{found[0]}"), found[0])
            parts += [escape(text[end : found.start()]), link]
            end = found.end()
        return Markup("").join([*parts, escape(text[end:])])

    def prose(self, text: str) -> Markup:
        """Return Markdown as HTML, in which HTML is text, and nothing is loaded."""
        from markdown_it import MarkdownIt
        from markupsafe import Markup

        reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
        return Markup(reader.render(text))  # noqa: S704 (it escapes what it is given)


def _home(ask: Ask, _: Request) -> Made:
    told = ask("recall", "--view", "orient", "--limit", "0", "--budget", "0")
    hits = {row["id"]: row for row in _hits(told)}
    sections = [{"name": one["name"], "hits": [hits[name] for name in one["ids"]]} for one in told["sections"]]
    return "web/home.html", {
        **ask("run", "list", "--limit", "0"), **ask("log", "--limit", "15"), "sections": sections,
    }  # fmt: skip


def _hits(told: Row) -> list[Row]:
    """Return what recall found, with its labels in words."""
    from memento_git.knowledge.rendering import words_of

    return [{**hit, "labels": words_of(hit)} for hit in told["hits"]]


def _found(ask: Ask, request: Request) -> Made:
    from memento_git.knowledge.rendering import left_out

    query = request.query_params.get("q", "").strip()
    told = ask("recall", "--budget", "0", *(("--", query) if query else ()))
    return "web/found.html", {"hits": _hits(told), "nothing": told["nothing"], "beside": left_out(told)}


def _notes(ask: Ask, request: Request) -> Made:
    status = request.query_params.get("status", "active")
    told = ask("note", "list", f"--status={status}", *_page(request))
    return "web/notes.html", {**told, "status": status}


def _log(ask: Ask, request: Request) -> Made:
    return "web/log.html", ask("log", *_page(request))


def _page(request: Request) -> tuple[str, ...]:
    return f"--limit={ROWS}", f"--offset={request.query_params.get('offset', '0')}"


def _check(ask: Ask, _: Request) -> Made:
    return "web/check.html", ask("check")


def _record(ask: Ask, request: Request) -> Made:
    identity = request.path_params["id"]
    if identity.startswith("run_"):
        return _run(ask, identity)
    told = ask("show", *(["--output"] if identity.startswith("evidence_") else []), "--", identity)
    kind = next(key for key, one in told.items() if isinstance(one, dict))
    row = told[kind]
    title = row.get("title") or (typed(row) if row.get("command") else row.get("summary"))
    title = title or row.get("action", kind).replace(".", " ")
    beside = {key: [output.told(one) for one in told.get(key, ())] for key in ("places", "evidence") if key != kind}
    return "web/record.html", {
        "kind": kind, "id": row.get("id") or row["dispatch_id"], "run": row.get("run_id"), "title": title,
        "audit": told["audit"], "output": told.get("output", []),
        "states": [*(row[key] for key in STATES if row.get(key)), *PROVEN.get(row.get("proven"), ())],
        "doubts": {"task": doubts.of_task, "plan": doubts.of_plan}.get(kind, lambda _: [])(row),
        "texts": [(key, row[key]) for key in output.PROSE if row.get(key) not in (None, "", title)],
        "told": output.told({key: one for key, one in row.items() if key not in (*output.PROSE, *SAID)}),
        "beside": {key: rows for key, rows in beside.items() if rows},
    }  # fmt: skip


def _run(ask: Ask, identity: str) -> Made:
    held: Any = ask("report", "--format", "json", "--limit", "0", f"--run={identity}")
    return "report.html", page.report_facts(held, held["generated_at"])


def _nothing(_: Ask, __: Request) -> Made:
    raise NoSuchPage


PAGES: Final = {
    "/": _home, "/notes": _notes, "/recall": _found, "/log": _log, "/check": _check, "/show/{id}": _record,
    "/{path:path}": _nothing,
}  # fmt: skip


def _served(site: Site, make: Callable[[Ask, Request], Made], request: Request) -> Response:
    """Return a page, or what the command behind it refused, as the commits that are asked for have it."""
    from starlette.responses import HTMLResponse

    live = Live(site, request)
    try:
        name, facts = make(live.ask, request)
        return HTMLResponse(_sent(page.rendered(name, facts, live=live)))
    except Refusal as refusal:
        told = [refusal.told[key] for key in ("error", "message", "hint")]
    except NoSuchPage as refusal:
        told = [refusal.token, refusal.message, refusal.hint]
    except Exception as error:  # noqa: BLE001 (the one place of a page where the unforeseen ends)
        from memento_git.cli import crash_report

        told = ["internal_error", *crash_report.told(error)]
    facts = dict(zip(("error", "message", "hint"), told, strict=True))
    return HTMLResponse(_sent(page.rendered("web/refused.html", facts, live=live)), STATUS.get(told[0], 404))


def _sent(whole: str) -> bytes:
    """Return the bytes of a page, in which what is no text, such as some names of files, is a question mark."""
    return terminal.clean(whole).encode(errors="replace")


class Guard:
    """Lets in who has the token, with which every address begins.

    A cookie could hold it, but a browser sends cookies to every port of this machine, whoever listens there.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.datastructures import MutableHeaders
        from starlette.responses import PlainTextResponse

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        given = scope["path"].removeprefix("/").partition("/")[0]
        served: ASGIApp = PlainTextResponse("Open the address that memento web has printed.", 403)
        if hmac.compare_digest(given.encode(), self.token.encode()):
            served = self.app
            scope = {**scope, "root_path": f"/{self.token}"}
        await served(scope, receive, guarded)


def app(site: Site, token: str) -> Starlette:
    """Return what serves a site to whoever has its token, under this machine's own names alone."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    routes = [Route(path, partial(_served, site, make), name=path) for path, make in PAGES.items()]
    head = Route("/head", lambda _: PlainTextResponse(site.head()))
    guards = [Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS), Middleware(Guard, token=token)]
    return Starlette(routes=[head, *routes], middleware=guards)
