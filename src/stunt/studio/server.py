"""The studio's server: the page, its files, one socket per page, uploads and downloads. On this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import logging
import mimetypes
import time as clock
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from stunt.errors import StuntError, brief
from stunt.studio.clients import PATIENCE, Client, sayable
from stunt.studio.openings import PICTURES
from stunt.studio.security import Guard, PatientProtocol
from stunt.studio.session import Session

log = logging.getLogger("stunt.studio")

PAGE = Path(__file__).parent / "page"
MOST_UPLOAD = 64_000_000
MOST_DRAINED = 2_000_000_000
"""Of a larger file so much is listened to, so that its page hears why it is refused."""
MOST_WORD = 256_000
SILENCE = 120.0
"""How long a page may leave a ping unanswered [s]: on a busy machine that compiles, neither side may find the time."""
FIRST_PICTURE = 8.0
"""How long the address is kept back until the stage is ready [s]; compiling for the first time takes longer."""
GRACE = 6.0
"""How long after the last page is closed the studio ends [s]; a reload takes less."""


def three_js() -> Path:
    """Return three.js, which NiceGUI's wheel carries as an ES module.

    Raises:
        StuntError: The studio's extra is not installed.
    """
    spec = importlib.util.find_spec("nicegui")
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    for place in places:
        found = Path(place) / "elements" / "scene" / "dist" / "index.js"
        if found.is_file():
            return found
    raise StuntError("the studio needs its extra: pip install 'stunt[studio]'.")


class Server:
    """Serves one session until the last page is closed, or until it is stopped."""

    def __init__(self, session: Session, token: str, host: str, port: int, *, stay: bool = False) -> None:
        """Prepare to serve.

        Args:
            session: What is served.
            token: The secret first part of every path.
            host: The address to listen on.
            port: The port.
            stay: Go on when the last page is closed.
        """
        self.session, self._stay = session, stay
        self._three = three_js()
        names = {host, "127.0.0.1", "localhost"} if host in ("127.0.0.1", "localhost") else {host}
        hosts = frozenset(f"{name}:{port}" for name in names)
        app = Guard(self._app(), token, hosts)
        config = uvicorn.Config(
            app, host=host, port=port, log_level="error", ws_max_size=MOST_WORD, ws_max_queue=16, timeout_keep_alive=10,
            http=PatientProtocol, access_log=False, server_header=False, ws_per_message_deflate=False,
            timeout_graceful_shutdown=2, ws_ping_timeout=SILENCE,
        )  # fmt: skip
        self._server = uvicorn.Server(config)

    def _app(self) -> Starlette:
        @contextlib.asynccontextmanager
        async def life(app: Starlette) -> AsyncIterator[None]:
            self.session.start()
            watch = asyncio.create_task(self._watch())
            try:
                yield
            finally:
                watch.cancel()
                self.session.close()

        return Starlette(
            routes=[
                Route("/", self._page),
                Route("/page/{name}", self._file),
                Route("/three.js", self._three_file),
                Route("/picture/{name}", self._picture),
                Route("/drop/{name}", self._drop, methods=["POST"]),
                Route("/export/{number:int}", self._export),
                WebSocketRoute("/socket", self._socket),
            ],
            lifespan=life,
            exception_handlers={Exception: _not_done},
        )

    def run(self, ready: Callable[[], None] | None = None) -> None:
        """Serve until it is over; Ctrl-C ends it cleanly."""
        asyncio.run(self.serve(ready))

    async def serve(self, ready: Callable[[], None] | None = None) -> None:
        """Serve, and call `ready` once the server is up."""
        task = asyncio.create_task(self._server.serve())
        while not self._server.started and not task.done():
            await asyncio.sleep(0.01)
        if self._server.started and ready is not None:
            # A page that opens now has something to show; a stage that takes long is waited for on the page.
            await self.session.first_picture(FIRST_PICTURE)
            ready()
        await task

    def stop(self) -> None:
        """End."""
        self._server.should_exit = True

    async def _watch(self) -> None:
        """End some time after the last page was closed."""
        audience = self.session.audience
        while not self._stay:
            await asyncio.sleep(0.5)
            if audience.ever and not audience.clients and clock.monotonic() - audience.empty_since > GRACE:
                log.info("the last page is closed")
                self.stop()
                return

    # -- files ------------------------------------------------------------------------------------------------------

    async def _page(self, request: Request) -> Response:
        if not str(request.scope.get("root_path", "")) and not request.url.path.endswith("/"):
            return PlainTextResponse("not found", 404)
        return FileResponse(PAGE / "index.html", media_type="text/html")

    async def _file(self, request: Request) -> Response:
        return _served(PAGE, request.path_params["name"])

    async def _picture(self, request: Request) -> Response:
        return _served(PICTURES, request.path_params["name"])

    async def _three_file(self, request: Request) -> Response:
        return FileResponse(self._three, media_type="text/javascript")

    async def _drop(self, request: Request) -> Response:
        content, size, name = bytearray(), 0, request.path_params["name"]
        async for piece in request.stream():
            size += len(piece)
            if size <= MOST_UPLOAD:
                content += piece
            elif size > MOST_DRAINED:
                break
            else:
                content.clear()  # the rest is heard out: a browser reads no answer before it has said everything
        if size > MOST_UPLOAD:
            log.warning("a dropped file is larger than %d bytes; it was refused", MOST_UPLOAD)
            return JSONResponse({"error": f"a file may have {MOST_UPLOAD // 1_000_000} MB."}, 413)
        try:
            return JSONResponse(await self.session.receive_file(name, bytes(content)))
        except StuntError as error:
            words = sayable(str(error))
        except OSError as error:
            words = f"'{brief(name)}': {error.strerror or type(error).__name__}."
        except Exception:
            log.exception("a dropped file could not be read")
            words = f"'{brief(name)}' cannot be read."
        return JSONResponse({"error": words}, 422)

    async def _export(self, request: Request) -> Response:
        path = self.session.exported(request.path_params["number"])
        if path is None or not path.is_file():
            return PlainTextResponse("not there", 404)
        return FileResponse(path, filename=path.name)

    # -- the socket -------------------------------------------------------------------------------------------------

    async def _socket(self, socket: WebSocket) -> None:
        client = self.session.audience.enter()
        if client is None:
            await socket.close(1013)
            return
        await socket.accept()
        sending = asyncio.create_task(self._send(socket, client))
        hearing = asyncio.create_task(self._hear(socket, client))
        try:
            await self.session.greet(client)
            await asyncio.wait({sending, hearing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self.session.left(client)
            for task in (sending, hearing):
                task.cancel()
            await asyncio.gather(sending, hearing, return_exceptions=True)
            with contextlib.suppress(Exception):
                await asyncio.wait_for(socket.close(1008 if client.gone else 1000), 1.0)

    async def _send(self, socket: WebSocket, client: Client) -> None:
        while not client.gone:
            words, pose = await client.next()
            try:
                async with asyncio.timeout(PATIENCE):
                    for word in words:
                        await socket.send_text(word)
                    if pose is not None:
                        await socket.send_bytes(pose)
            except TimeoutError:
                client.drop("has stopped reading")

    async def _hear(self, socket: WebSocket, client: Client) -> None:
        with contextlib.suppress(WebSocketDisconnect):
            while not client.gone:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                if not client.heard():
                    return
                if message.get("text") is None:
                    client.nonsense("said something that is no text")
                else:
                    await self._ask(client, message["text"])

    async def _ask(self, client: Client, word: str) -> None:
        """Let the session hear a word; whatever it makes of it, the page is not sent away without one."""
        try:
            await self.session.hear(client, word)
        except Exception:
            log.exception("page %d asked what could not be done", client.number)
            client.tell(json.dumps({"kind": "reply", "number": 0, "error": "that could not be done."}))


async def _not_done(request: Request, error: Exception) -> Response:
    """Answer what nobody foresaw; what it was stands in the log."""
    return PlainTextResponse("that could not be done", 400)


def _served(folder: Path, name: str) -> Response:
    """Serve a file of a folder; no way leads out of it."""
    path = folder / name
    try:
        there = path.parent == folder and path.is_file()
    except (OSError, ValueError):  # a name no system takes
        there = False
    if not there:
        return PlainTextResponse("not found", 404)
    kind: Any = "text/javascript" if path.suffix == ".js" else mimetypes.guess_type(name)[0]
    return FileResponse(path, media_type=kind)
