"""Servers on this machine's loopback, each played for as long as a test asks it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from socketserver import BaseServer

Served = TypeVar("Served", bound="BaseServer")


class WebServer(ThreadingHTTPServer):
    """A web server on a port of its own."""

    daemon_threads = True

    def __init__(self, handler: type[Quiet]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Quiet(BaseHTTPRequestHandler):
    """Answers requests, and prints nothing of them."""

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def played(server: Served) -> Iterator[Served]:
    """Let a server answer until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
