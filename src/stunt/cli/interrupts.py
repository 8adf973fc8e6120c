"""Ctrl-C at the right moment: between two chunks of a performance, and never in the middle of writing its take."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as shells have it."""


class Interrupts:
    """Notes a Ctrl-C, so that whoever works can stop where stopping leaves everything in order."""

    def __init__(self, *, patience: int) -> None:
        """Listen.

        Args:
            patience: So many are only noted; the next one stops at once.
        """
        self.count = 0
        self._patience = patience

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        self.count += 1
        if self.count > self._patience:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Stop here if there was one.

        Raises:
            KeyboardInterrupt: There was.
        """
        if self.count:
            raise KeyboardInterrupt


@contextlib.contextmanager
def noted_interrupts(*, patience: int = 3) -> Iterator[Interrupts]:
    """Note Ctrl-C instead of stopping at once. Outside the main thread, where no signal arrives, do nothing."""
    interrupts = Interrupts(patience=patience)
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
