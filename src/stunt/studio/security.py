"""Who may talk to the studio: pages that know the token, from this address, under this name.

The token is the first part of every path, so that every request of the page carries it and no request of another
page can. Host and origin are checked besides: a name that was pointed at this machine (DNS rebinding) and a page of
somebody else's are refused even if they had the token.

Connections that say nothing anybody on the machine can open, and they must not keep the page out. A connection has some
seconds to say what it wants, from its first byte and after every answer. More than a house-full of those that wait, and
the one that has waited longest goes.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger("stunt.studio")

HEADER_SECONDS: Final = 8.0
"""How long a request may take until its headers are there [s]."""
MOST_WAITING: Final = 256
"""So many connections may wait to say something."""
Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; frame-ancestors 'none'; "
        b"base-uri 'none'; form-action 'none'",
    ),
]


def new_token() -> str:
    """Return a token nobody can guess."""
    return secrets.token_urlsafe(24)


class Guard:
    """Wraps an application; what has no business there gets 403 (or a closed socket) and a log line."""

    def __init__(self, app: App, token: str, hosts: frozenset[str]) -> None:
        """Guard an application.

        Args:
            app: What is guarded.
            token: The first part of every path.
            hosts: `name:port` as a browser may write them in `Host` and, after `http://`, in `Origin`.
        """
        self._app, self._token, self._hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Let a request through, or not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        reason = self._refusal(scope)
        if reason:
            log.warning("refused a request: %s", reason)
            await _refuse(scope, receive, send)
            return
        path = scope["path"][len(self._token) + 1 :] or "/"
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        await self._app(inner, receive, _with_headers(send) if scope["type"] == "http" else send)

    def _refusal(self, scope: Scope) -> str:
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "it names another host"
        for origin in (value for name, value in headers if name == b"origin"):
            if origin.removeprefix("http://").lower() not in self._hosts or not origin.startswith("http://"):
                return "it comes from a page of another origin"
        if any(name == b"sec-fetch-site" and value in ("cross-site", "same-site") for name, value in headers):
            return "it comes from another site"
        first = scope["path"].split("/")[1] if scope["path"].startswith("/") else ""
        if not secrets.compare_digest(first.encode(), self._token.encode()):
            return "it has no token, or a wrong one"
        return ""


def _with_headers(send: Any) -> Any:
    async def wrapped(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *_HEADERS]
        await send(message)

    return wrapped


async def _refuse(scope: Scope, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    text = b"This page needs the address that 'stunt studio' printed.\n"
    # Who is refused is not heard out: fifty requests sent in one go would be fifty answers.
    headers = [
        (b"content-type", b"text/plain"),
        (b"content-length", str(len(text)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": text})


class PatientProtocol(H11Protocol):
    """Speaks HTTP, and hangs up on who does not."""

    waiting: dict[PatientProtocol, None]
    """All that have said nothing whole yet, the longest-waiting first; of one server."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Begin to listen."""
        super().__init__(*args, **options)
        self.waiting = self.server_state.__dict__.setdefault("waiting", {})
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come."""
        super().connection_made(transport)
        self._wait()
        while len(self.waiting) > MOST_WAITING:
            next(iter(self.waiting))._hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody has gone."""
        self._said()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something came; a whole request, or a piece of one."""
        super().data_received(data)
        if self.transport.get_protocol() is not self or not self._idle:
            self._said()  # it speaks of something, or of the page's socket from now on
        elif self._patience is None:
            self._wait()

    def on_response_complete(self) -> None:
        """It has its answer, and may say something else."""
        super().on_response_complete()
        if not self.transport.is_closing() and self._idle and self._patience is None:
            self._wait()

    @property
    def _idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _wait(self) -> None:
        self.waiting[self] = None
        self._patience = asyncio.get_running_loop().call_later(HEADER_SECONDS, self._hang_up)

    def _said(self) -> None:
        self.waiting.pop(self, None)
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _hang_up(self) -> None:
        self._said()
        self.transport.abort()
