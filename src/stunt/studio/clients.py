"""Those who look at the page. Each has a small box of its own: whoever reads slowly misses pictures, not memory."""

from __future__ import annotations

import asyncio
import logging
import re
import time as clock
from collections import deque
from typing import Any

log = logging.getLogger("stunt.studio")

MOST_CLIENTS = 24
MOST_WAITING = 200
"""Words a client may have waiting; one with more has stopped reading."""
MOST_WAITING_BYTES = 24_000_000
RATE, BURST = 150.0, 400.0
"""Words a client may say per second, and at once."""
MOST_NONSENSE = 5
PATIENCE = 15.0
"""How long one sending may take before a client counts as gone [s]."""
_FOLDERS = re.compile(r"(?<![\w.])(?:/[^/\s':]+)+/(?=[^/\s':])")


def sayable(words: str) -> str:
    """Return what is said to a page: files by their names alone, for where they lie is no news to it."""
    return _FOLDERS.sub("", words)


class Client:
    """One open page.

    Attributes:
        number: For the log.
        gone: Why it was dropped; "" while it is welcome.
    """

    def __init__(self, number: int) -> None:
        """Let a page in."""
        self.number = number
        self.gone = ""
        self._words: deque[str] = deque()
        self._bytes = 0
        self._pose: bytes | None = None
        self._something = asyncio.Event()
        self._credit, self._asked = BURST, clock.monotonic()
        self._nonsense = 0
        self.dropped_frames = 0
        self.asking = 0

    def show(self, frame: bytes) -> None:
        """Give it a picture; one it has not fetched yet is replaced: the latest wins."""
        if self._pose is not None:
            self.dropped_frames += 1
        self._pose = frame
        self._something.set()

    def tell(self, word: str) -> None:
        """Give it a word; every one counts, so one who never fetches them is dropped."""
        if len(self._words) >= MOST_WAITING or self._bytes + len(word) > MOST_WAITING_BYTES:
            self.drop("has stopped reading")
            return
        self._words.append(word)
        self._bytes += len(word)
        self._something.set()

    def drop(self, reason: str) -> None:
        """Send it away."""
        if not self.gone:
            self.gone = reason
            log.warning("page %d %s; it is dropped", self.number, reason)
            self._words.clear()
            self._pose, self._bytes = None, 0
        self._something.set()

    def heard(self) -> bool:
        """Count a word it said; False if it says too much."""
        now = clock.monotonic()
        self._credit = min(BURST, self._credit + (now - self._asked) * RATE) - 1.0
        self._asked = now
        if self._credit < 0.0:
            self.drop("floods")
        return not self.gone

    def nonsense(self, what: str) -> None:
        """Count something that makes no sense."""
        self._nonsense += 1
        log.warning("page %d: %s", self.number, what)
        if self._nonsense >= MOST_NONSENSE:
            self.drop("sends garbage")

    async def next(self) -> tuple[list[str], bytes | None]:
        """Wait for something to send; returns all words and the latest picture."""
        await self._something.wait()
        self._something.clear()
        words, self._words, self._bytes = list(self._words), deque(), 0
        pose, self._pose = self._pose, None
        return words, pose


class Audience:
    """All open pages."""

    def __init__(self) -> None:
        """Nobody is there yet."""
        self.clients: dict[int, Client] = {}
        self.ever = 0
        self.empty_since = clock.monotonic()

    def enter(self) -> Client | None:
        """Let a page in; None if the house is full."""
        if len(self.clients) >= MOST_CLIENTS:
            log.warning("more than %d pages; one more was refused", MOST_CLIENTS)
            return None
        self.ever += 1
        client = self.clients[self.ever] = Client(self.ever)
        return client

    def leave(self, client: Client) -> None:
        """Let a page go."""
        self.clients.pop(client.number, None)
        if not self.clients:
            self.empty_since = clock.monotonic()

    def show(self, frame: bytes) -> None:
        """Give everyone a picture."""
        for client in self.clients.values():
            client.show(frame)

    def tell(self, word: str) -> None:
        """Give everyone a word."""
        for client in list(self.clients.values()):
            client.tell(word)

    def state(self) -> dict[str, Any]:
        """Return who is there, for tests and the log."""
        return {"pages": len(self.clients), "dropped": {c.number: c.dropped_frames for c in self.clients.values()}}
