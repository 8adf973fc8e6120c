"""Connections that say nothing: anybody on the machine can open them, and they must not keep the page out.

A connection has some seconds to say what it wants, from its first byte and after every answer. More than a house-full
of those that wait, and the one that has waited longest goes.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS: Final = 8.0
"""How long a request may take until its headers are there [s]."""
MOST_WAITING: Final = 256
"""So many connections may wait to say something."""


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
