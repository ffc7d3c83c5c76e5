"""The studio on a loopback address: a page, its scripts, one WebSocket, and files on demand.

A random token opens the WebSocket and the files; without it one sees an empty page. Host and Origin must be the
server's own, so that neither another site nor a name that is rebound to this address gets through. The page may load
only what is served here.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from pfaff.errors import ParameterError, PfaffError
from pfaff.statement.values import shown
from pfaff.studio.downloads import FORMATS, lane_of, written_lines
from pfaff.studio.messages import LARGEST
from pfaff.studio.session import Lanes, Session
from pfaff.studio.subject import Subject
from pfaff.studio.view import View
from pfaff.studio.worker import Order

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
PROTOCOL = "pfaff"  # subprotocol of the WebSocket; the token comes with it
REFUSED = 4401  # code with which a WebSocket is closed: the token is another server's
PAGES = 16  # pages at a time
WAITING = 2000  # answers that a page may leave unread before it is let go
PATIENCE = 120.0  # seconds for a file


class Studio:
    """A subject, its lanes, and access to them."""

    def __init__(self, subject: Subject, hosts: tuple[str, ...], token: str | None = None) -> None:
        self.subject = subject
        self.hosts = hosts
        self.token = token or secrets.token_urlsafe(24)
        self.lanes = Lanes(subject)
        self.pages = 0

    def app(self) -> Callable[..., Any]:
        routes = [
            Route("/", self._page),
            Route("/favicon.ico", lambda request: _asset("icon.svg")),
            Route("/web/{name}", self._asset),
            Route("/file", self._file, methods=["POST"]),
            WebSocketRoute("/live", self._live),
        ]
        return Guard(Starlette(routes=routes), self.hosts)

    async def _page(self, request: Request) -> Response:
        return _asset("index.html")

    async def _asset(self, request: Request) -> Response:
        return _asset(request.path_params["name"])

    def knows(self, token: Any) -> bool:
        return isinstance(token, str) and secrets.compare_digest(token.encode(), self.token.encode())

    async def _live(self, socket: WebSocket) -> None:
        words = socket.scope.get("subprotocols", [])
        if len(words) != 2 or words[0] != PROTOCOL or not self.knows(words[1]):
            await socket.accept(subprotocol=PROTOCOL if PROTOCOL in words else None)
            return await socket.close(REFUSED, "another token")
        if self.pages >= PAGES:
            return await socket.close(1013)
        await socket.accept(subprotocol=PROTOCOL)
        self.pages += 1
        loop, answers = asyncio.get_running_loop(), asyncio.Queue[str | None](WAITING)

        def put(text: str | None) -> None:
            if answers.full():  # a page that does not read: it will connect again
                answers.get_nowait()
                text = None
            answers.put_nowait(text)

        session = Session(self.subject, self.lanes, lambda text: _from_thread(loop, put, text))
        sending = asyncio.create_task(_sent(socket, answers))
        try:
            while True:
                session.hear(await socket.receive_text())
        except (WebSocketDisconnect, KeyError, RuntimeError):  # gone, or it sent bytes
            pass
        finally:
            self.pages -= 1
            session.close()
            sending.cancel()

    async def _file(self, request: Request) -> Response:
        """A picture, a film, data or a notebook for a view."""
        if not self.knows(request.headers.get("authorization", "").removeprefix("Bearer ")):
            return PlainTextResponse("another token", 401)
        try:
            asked = json.loads(await _body(request))
            what, kind, view = asked["what"], asked["kind"], View.told(asked["view"])
            if kind not in FORMATS.get(what, ()):
                raise ParameterError(f"no file of {shown(what)} as {shown(kind)}: there are {FORMATS}")
            name, content = await self._made(what, kind, view)
        except (PfaffError, TimeoutError) as problem:
            return PlainTextResponse(str(problem) or "it takes too long", 422)
        except (ValueError, KeyError, TypeError, RecursionError):
            return PlainTextResponse("a request for a file is JSON with what, kind and view", 400)
        head = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=head)

    async def _made(self, what: str, kind: str, view: View) -> tuple[str, bytes]:
        """A file made by the process of the lane that computed its content, and may still hold it."""
        if what == "lines":
            return written_lines(self.subject, view, kind)
        loop = asyncio.get_running_loop()
        made: asyncio.Future[tuple[str, bytes]] = loop.create_future()

        def hear(word: str, *rest: Any, ms: float = 0.0) -> None:
            if word == "done":
                _from_thread(loop, _settle, made, rest[0])
            elif word != "said":
                _from_thread(loop, _settle, made, ParameterError(rest[0] if rest else "it was ended"))

        lane = self.lanes[lane_of(what)]
        lane.ask(made, Order("file", view, (what, kind)), hear)
        try:
            return await asyncio.wait_for(made, PATIENCE)
        finally:
            lane.cancel(made)  # nobody waits for it any more


def _settle(made: asyncio.Future[Any], result: Any) -> None:
    if not made.done():
        made.set_exception(result) if isinstance(result, Exception) else made.set_result(result)


def _from_thread(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: Any) -> None:
    with suppress(RuntimeError):  # the server has ended meanwhile
        loop.call_soon_threadsafe(call, *arguments)


async def _sent(socket: WebSocket, answers: asyncio.Queue[str | None]) -> None:
    while True:
        text = await answers.get()
        if text is None:
            return await socket.close(1013)
        await socket.send_text(text)


async def _body(request: Request) -> bytes:
    """The posted text, up to the size of a message."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise ParameterError(f"a request has at most {LARGEST} bytes")
    return body


class Guard:
    """First of all, Host and Origin must be ours; every answer carries the policy of what the page may do."""

    def __init__(self, app: Callable[..., Any], hosts: tuple[str, ...]) -> None:
        self.app, self.hosts = app, {host.encode() for host in hosts}
        self.origins = {f"http://{host}".encode() for host in hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        heads = dict(scope["headers"])
        origin = heads.get(b"origin")
        needed = scope["type"] == "websocket" or scope.get("method") == "POST"
        if heads.get(b"host") not in self.hosts or ((needed or origin) and origin not in self.origins):
            if scope["type"] == "websocket":
                return await send({"type": "websocket.close", "code": 1008})
            return await PlainTextResponse("not from here", 403)(scope, receive, send)

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *GUARDED, (b"content-security-policy", policy().encode())]
            await send(message)

        await self.app(scope, receive, guarded)


GUARDED = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


@cache
def policy() -> str:
    """Nothing but our own files; the player's style, which it brings along, is known by its hash."""
    style = re.search(r"const STYLE = `([^`]*)`", (files("pfaff.draw") / "web" / "player.js").read_text("utf-8"))
    assert style is not None
    known = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{known}'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _asset(name: str) -> Response:
    """A file of the page, or of the player, with which it shows structures."""
    for room in ("pfaff.studio", "pfaff.draw"):
        file = files(room) / "web" / name
        ending = f".{name.rpartition('.')[2]}"
        if re.fullmatch(r"[a-z_]+\.[a-z]+", name) and ending in TYPES and file.is_file():
            return Response(file.read_text(encoding="utf-8"), media_type=TYPES[ending])
    return PlainTextResponse("no such file", 404)
