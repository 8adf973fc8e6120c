"""What is written over a picture: a label, the time, and the beats on a line with a playhead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from stunt.record.filmstrip import choose_panels, fitted, font
from stunt.record.take import Take

_INK, _SOFT, _PAGE = (28, 32, 40), (110, 117, 128), (255, 255, 255)
_HIT, _MISS = (20, 120, 190), (196, 92, 0)
_FLASH = 0.22  # How long a beat lights up after it [s].
_NAMED = 1.2  # How long its name stays [s].
_LATE_DEG = 1.0


@dataclass(frozen=True)
class ShownBeat:
    """A beat of a take: when [s], the pose, and how far off it was [deg] where that is known."""

    time: float
    name: str
    error_deg: float | None


def beats_of(take: Take, character: str | None) -> tuple[ShownBeat, ...]:
    """Return the beats of a take, of one character or of all."""
    names = take.cast.names if character is None else [character]
    if not any(event.get("kind") == "beat" for event in take.events):
        return ()
    times = sorted({float(event["time"]) for event in take.events if event.get("kind") == "beat"})
    return tuple(ShownBeat(p.time, p.name, p.error_deg) for p in choose_panels(take, times, names) if p.name)


class Overlay:
    """Writes over the pictures of one take."""

    def __init__(
        self, size: tuple[int, int], label: str, beats: tuple[ShownBeat, ...], span: tuple[float, float], clock: bool
    ) -> None:
        """Prepare.

        Args:
            size: Of the pictures [px].
            label: What is written on top; empty for nothing.
            beats: The take's beats.
            span: From when to when the video lasts [s].
            clock: Whether time and beats are shown.
        """
        self._size, self._label, self._span, self._clock = size, label, span, clock
        self._beats = tuple(beat for beat in beats if span[0] - 1e-6 <= beat.time <= span[1] + 1e-6)
        scale = min(max(min(size[0] / 640, size[1] / 480), 0.5), 2.5)
        self._pad = max(round(12 * scale), 4)
        self._bold, self._plain = font(max(round(19 * scale), 9), bold=True), font(max(round(17 * scale), 8))
        self._line = max(round(3 * scale), 1)

    def draw(self, picture: NDArray[np.uint8], time: float) -> Image.Image:
        """Return a picture with everything written over it at a time of the take [s]."""
        image = Image.fromarray(np.ascontiguousarray(picture))
        pen = ImageDraw.Draw(image, "RGBA")
        if self._label:
            self._write_label(pen)
        if self._clock:
            self._write_clock(pen, time)
        return image

    def _write_label(self, pen: ImageDraw.ImageDraw) -> None:
        pad = self._pad
        text = fitted(self._label, self._bold, self._size[0] - 4 * pad)
        box = pen.textbbox((2 * pad, 2 * pad), text, self._bold, anchor="lt")
        frame = (box[0] - pad * 0.8, box[1] - pad * 0.6, box[2] + pad * 0.8, box[3] + pad * 0.6)
        pen.rounded_rectangle(frame, pad * 0.6, (*_PAGE, 205))
        pen.text((2 * pad, 2 * pad), text, _INK, self._bold, anchor="lt")

    def _write_clock(self, pen: ImageDraw.ImageDraw, time: float) -> None:
        pad, (width, height) = self._pad, self._size
        line = height - 1.3 * pad
        left, right = 1.5 * pad, width - 1.5 * pad
        pen.rounded_rectangle((left, line - 0.5 * self._line, right, line + 0.5 * self._line), 1, (*_SOFT, 110))
        for beat in self._beats:
            self._write_tick(pen, self._place(beat.time, left, right), line, beat, time)
        here = self._place(time, left, right)
        pen.rounded_rectangle((left, line - 0.5 * self._line, here, line + 0.5 * self._line), 1, (*_INK, 200))
        reach = 1.6 * self._line
        pen.ellipse((here - reach, line - reach, here + reach, line + reach), _INK)
        base = line - 0.9 * pad
        stamp = f"{time:.2f} s"
        pen.text((left, base), stamp, _INK, self._bold, anchor="ls")
        self._write_beat(pen, left + self._bold.getlength("00.00 s") + pad, base, time)

    def _place(self, time: float, left: float, right: float) -> float:
        first, last = self._span
        return left + (right - left) * min(max((time - first) / max(last - first, 1e-9), 0.0), 1.0)

    def _write_tick(self, pen: ImageDraw.ImageDraw, x: float, line: float, beat: ShownBeat, time: float) -> None:
        lit = 0.0 <= time - beat.time + 1e-6 < _FLASH
        reach = self._line * (2.6 if lit else 1.7)
        color = _color(beat) if beat.time <= time + 1e-6 else _SOFT
        pen.ellipse((x - reach, line - reach, x + reach, line + reach), (*color, 255))

    def _write_beat(self, pen: ImageDraw.ImageDraw, x: float, base: float, time: float) -> None:
        """Name the beat that just was, fading."""
        passed = [beat for beat in self._beats if beat.time <= time + 1e-6]
        if not passed or time - passed[-1].time > _NAMED:
            return
        beat = passed[-1]
        strength = min(1.0, 2.0 * (1.0 - (time - beat.time) / _NAMED))
        off = "" if beat.error_deg is None else f"  {beat.error_deg:.1f}° off"
        text = fitted(f"{beat.name}{off}", self._plain, self._size[0] - x - self._pad)
        pen.text((x, base), text, (*_color(beat), round(255 * strength)), self._plain, anchor="ls")


def _color(beat: ShownBeat) -> tuple[int, int, int]:
    return _MISS if (beat.error_deg or 0.0) > _LATE_DEG else _HIT
