"""Being told to stop, at the right moment: between two chunks of a performance, never while its take is written.

Ctrl-C, SIGTERM (a service or a batch system ends its job) and SIGHUP (the terminal was closed, the connection lost) are
the same wish. A signal that was ignored when Stunt began, as `nohup` does, stays ignored.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as shells have it."""
_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")
SIGNALS: Final = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""The signals that ask to stop; Windows has no SIGHUP."""


class Terminated(KeyboardInterrupt):
    """Stunt was told to stop by a signal.

    Attributes:
        number: Which.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.number = number


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code after an interrupt: 128 and the number of its signal, as shells have it."""
    return 128 + interrupt.number if isinstance(interrupt, Terminated) else INTERRUPTED


@contextlib.contextmanager
def nothing_begun() -> Iterator[None]:
    """Meanwhile Ctrl-C ends the process as the system does: nothing is lost, and what was being loaded tells nobody."""
    ours = threading.current_thread() is threading.main_thread()
    if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        yield
        signal.signal(signal.SIGINT, signal.default_int_handler)
    else:
        yield


class Interrupts:
    """Notes a wish to stop, so that whoever works can stop where stopping leaves everything in order."""

    def __init__(self, *, patience: int) -> None:
        """Listen.

        Args:
            patience: So many are only noted; the next one stops at once.
        """
        self.count = 0
        self.number: int = signal.SIGINT
        self._patience = patience

    @property
    def exit_code(self) -> int:
        """The exit code after it."""
        return 128 + self.number

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.count == 0:
            self.number = number
        self.count += 1
        if self.count > self._patience:
            raise Terminated(number)

    def check(self) -> None:
        """Stop here if there was one.

        Raises:
            KeyboardInterrupt: There was.
        """
        if self.count:
            raise Terminated(self.number)


@contextlib.contextmanager
def noted_interrupts(*, patience: int = 3) -> Iterator[Interrupts]:
    """Note signals instead of stopping at once. Outside the main thread, where no signal arrives, do nothing."""
    interrupts = Interrupts(patience=patience)
    with _handled(interrupts.note, SIGNALS):
        yield interrupts


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let every signal stop as Ctrl-C does, by an exception: what is half-written is then cleared away."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Terminated(number)

    with _handled(stop, [number for number in SIGNALS if number != signal.SIGINT]):
        yield


@contextlib.contextmanager
def _handled(handler: Callable[[int, FrameType | None], Any], numbers: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {}
    try:
        for number in numbers:
            # SIG_IGN is a wish too (`nohup`); None is a handler that was not set from Python, and cannot be put back.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, handled in before.items():
            signal.signal(number, handled)
