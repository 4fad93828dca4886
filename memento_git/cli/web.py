"""memento web: the ledger as pages for a browser of this machine."""

from __future__ import annotations

import gc
import secrets
import socket
from pathlib import Path

import click

from memento_git.cli.boundary import Call, bare
from memento_git.errors import Refused, adding


class WebExtraMissing(Refused):
    token = "web_extra_missing"
    sentence = "to serve pages the packages starlette, uvicorn and Jinja2 are needed, which are not all installed"
    hint_ = adding("web")


class PortTaken(Refused):
    token = "port_taken"
    sentence = "nothing can be served at port {port}: {problem}"
    hint_ = "leave --port out, and a free one is taken"


@click.command("web")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Which port; a free one by default."
)
@click.option("--open", "opened", is_flag=True, help="Open the address in your browser.")
@bare
def web(call: Call, port: int, *, opened: bool) -> None:
    """Serve this repository's ledger as pages for your browser, until it is ended by Ctrl-C.

    They only read, follow each commit, and are served to this machine alone, to who has the address that is printed.
    """
    try:
        import jinja2  # noqa: F401 (made use of by the first page)
        import starlette  # noqa: F401 (and this, too)
        import uvicorn
    except ImportError:
        raise WebExtraMissing from None
    from memento_git.cli import pages

    where = str(Path(call.workspace).absolute())
    git = call.ledger.git
    site, token = pages.Site(where, (git.top or git.common_dir).name), secrets.token_urlsafe(16)
    call.view()
    listening = _listening(port)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/{token}/"
    call.show({"url": url}, f"{url}\nends with Ctrl-C")
    if opened:
        click.launch(url)
    gc.freeze()  # what is loaded by now stays, and is not looked through after each request
    server = uvicorn.Server(uvicorn.Config(pages.app(site, token), log_level="critical", lifespan="off"))
    server.run([listening])


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise PortTaken(port=port, problem=error.strerror or type(error).__name__) from None
