"""Children that cost a fork instead of a start, for campaigns against readers that let a child read.

Stunt starts a process for each such file, a quarter of a second. Here the process that holds the libraries already is
forked for each, and does in the fork what the started one would: the same code under the same limits. What it took
and which files it opened is told; that started children do end as they should is for `tests/motion` and
`tests/record` to say.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
from collections.abc import Callable
from typing import NoReturn

from stunt import children

LIMIT = 15
"""Of processor time [s]: beyond the ten that are a find, and less than a started child may have."""
_DIES_WITH_PARENT = 1


class Forked:
    """Stands in for `children.started`, by which Stunt starts children that read.

    Attributes:
        seconds: Processor time that children took since it was asked last [s].
        megabytes: The most memory one of them had.
        outside: Files that they opened outside, as `noted` says.
        died: How many did not survive.
    """

    def __init__(self, noted: Callable[[], list[str]] = list) -> None:
        """Take its place.

        Args:
            noted: Returns which files this process opened outside since it last began to watch.
        """
        self.seconds = self.megabytes = 0.0
        self.outside: list[str] = []
        self.died, self._noted = 0, noted
        children.started = self.started

    def started(self, words: list[str], data: bytes, seconds: int) -> subprocess.CompletedProcess[bytes]:
        """Do in a fork what a started child would."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._child(words, data, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told, _, answer = pipe.read().partition(b"\n")
        _, status, used = os.wait4(child, 0)
        self.seconds += used.ru_utime + used.ru_stime
        self.megabytes = max(self.megabytes, used.ru_maxrss / 1024.0)
        code = os.waitstatus_to_exitcode(status)
        self.died += code not in (0, 4)
        with contextlib.suppress(ValueError):  # it died before it could tell
            self.outside += json.loads(told)
        return subprocess.CompletedProcess(words, code, answer, b"")

    def _child(self, words: list[str], data: bytes, writing: int) -> NoReturn:
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        code = 1
        try:
            children.bound(LIMIT)
            code, answer = children.answered(words, data)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(json.dumps(self._noted()).encode() + b"\n" + answer)
        finally:
            os._exit(code)


def apart(make: Callable[[], None]) -> None:
    """Do something in a fork, so that this process has no threads of the libraries that it takes."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            make()
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("it could not be made")
