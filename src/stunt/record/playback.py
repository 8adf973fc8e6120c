"""Which moment of a take is on show: play, pause, loop, speed and seek, as plain arithmetic on time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stunt.errors import InvalidValueError, TakeError

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0)


class Playback:
    """A playhead over recorded frames. It is told how much time passed; it reads no clock of its own."""

    def __init__(self, time: NDArray[np.float64], *, playing: bool = True, loop: bool = True) -> None:
        """Start at the first frame.

        Args:
            time: When each frame was recorded [s], increasing, (T,).
            playing: Whether time runs.
            loop: Whether the end leads back to the start.
        """
        if not len(time):
            raise TakeError("the take has no frames, so there is nothing to play.")
        self._time = np.asarray(time, dtype=np.float64)
        self.playing = playing
        self.loop = loop
        self.speed = 1.0
        self.position = self.start

    @property
    def start(self) -> float:
        """Time of the first frame [s]."""
        return float(self._time[0])

    @property
    def end(self) -> float:
        """Time of the last frame [s]."""
        return float(self._time[-1])

    @property
    def frame(self) -> int:
        """Index of the frame nearest to the playhead."""
        right = int(np.clip(np.searchsorted(self._time, self.position), 1, max(len(self._time) - 1, 1)))
        if len(self._time) == 1:
            return 0
        nearer_left = self.position - self._time[right - 1] <= self._time[right] - self.position
        return right - 1 if nearer_left else right

    def advance(self, seconds: float) -> None:
        """Let time pass [s, by the wall clock]; at the end begin again, or stop there."""
        if not self.playing:
            return
        position, length = self.position + seconds * self.speed, self.end - self.start
        if position > self.end and self.loop and length > 0.0:
            position = self.start + math.fmod(position - self.start, length)
        elif position >= self.end:
            position, self.playing = self.end, self.loop
        self.position = position

    def seek(self, time: float) -> None:
        """Move the playhead to a time [s], kept within the take."""
        if not math.isfinite(time):
            raise InvalidValueError("time", time, "a finite number of seconds")
        self.position = min(max(time, self.start), self.end)

    def play(self) -> None:
        """Let time run; from the start again if it has run out."""
        if self.position >= self.end and not self.loop:
            self.position = self.start
        self.playing = True

    def pause(self) -> None:
        """Stop where it is."""
        self.playing = False

    def step(self, frames: int = 1) -> None:
        """Pause and move by whole frames."""
        self.playing = False
        self.position = float(self._time[int(np.clip(self.frame + frames, 0, len(self._time) - 1))])

    def set_speed(self, speed: float) -> None:
        """Set how fast time runs; 1 is real time."""
        if not (math.isfinite(speed) and 0.0 < speed <= 100.0):
            raise InvalidValueError("speed", speed, "above 0 and at most 100")
        self.speed = speed
