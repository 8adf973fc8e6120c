"""The server's end of the simulation's process: starts it, talks to it, and notices when it is gone."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import multiprocessing
import queue
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from stunt.errors import StuntError
from stunt.studio.backstage import worker

log = logging.getLogger("stunt.studio")

Heard = Callable[[str, Any], None]

PATIENCE = 30.0
"""A simulation of which nothing is heard for so long hangs [s]; one that is busy compiling goes on saying it lives."""


class LinkError(StuntError):
    """The simulation did not answer as it should."""


class Link:
    """One simulation process."""

    def __init__(self, loop: asyncio.AbstractEventLoop, heard: Heard) -> None:
        """Start the process.

        Args:
            loop: Where `heard` is called.
            heard: Called with the kind and the data of everything the simulation says; with `gone` once, when it ends.
        """
        self._loop, self._heard = loop, heard
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._words = 0  # heard so far
        self._closed = False
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._outbox: queue.SimpleQueue[tuple[int, str, dict[str, Any]] | None] = queue.SimpleQueue()
        self._process = context.Process(target=worker.main, args=(theirs,), name="stunt studio stage", daemon=True)
        self._process.start()
        theirs.close()
        threading.Thread(target=self._talk, args=(self._pipe,), name="stunt studio mouth", daemon=True).start()
        threading.Thread(target=self._listen, args=(self._pipe,), name="stunt studio ear", daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The process's number."""
        return self._process.pid

    def _listen(self, pipe: Connection) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            try:
                while True:
                    kind, data = pipe.recv()
                    self._loop.call_soon_threadsafe(self._dispatch, kind, data)
            except (EOFError, OSError):
                self._loop.call_soon_threadsafe(self._dispatch, "gone", None)

    def _talk(self, pipe: Connection) -> None:
        """Send what is to be said; a simulation that is busy compiling reads late, and nobody waits for it."""
        with contextlib.suppress(OSError):  # that it is gone is told by the ear
            while (message := self._outbox.get()) is not None:
                pipe.send(message)

    def _dispatch(self, kind: str, data: Any) -> None:
        self._words += 1
        if kind == "alive":
            return
        if kind == "reply":
            future = self._asked.pop(data["number"], None)
            if future is not None and not future.done():
                if "error" in data:
                    future.set_exception(LinkError(data["error"]))
                else:
                    future.set_result(data["data"])
            return
        if kind == "gone":
            for future in self._asked.values():
                if not future.done():
                    future.set_exception(LinkError("the simulation has ended."))
            self._asked.clear()
            if self._closed:
                return
        self._heard(kind, data)

    def say(self, op: str, **data: Any) -> None:
        """Tell it something that needs no answer."""
        self._put(0, op, data)

    async def ask(self, op: str, *, patience: float = PATIENCE, **data: Any) -> Any:
        """Ask it something.

        Args:
            op: What.
            patience: How long it may be wholly silent meanwhile [s].
            data: What belongs to the question.

        Raises:
            LinkError: It cannot do that; the message says why.
        """
        number = next(self._numbers)
        future: asyncio.Future[Any] = self._loop.create_future()
        self._asked[number] = future
        self._put(number, op, data)
        try:
            while not future.done():
                heard = self._words
                await asyncio.wait((future,), timeout=patience)
                if not future.done() and self._words == heard:
                    raise LinkError("the simulation does not answer.")
            return future.result()
        finally:
            self._asked.pop(number, None)
            future.cancel()

    def _put(self, number: int, op: str, data: dict[str, Any]) -> None:
        self._outbox.put((number, op, data))

    def close(self) -> None:
        """End the process."""
        self._closed = True
        self.say("quit")
        self._process.join(2.0)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(2.0)
        self._outbox.put(None)
