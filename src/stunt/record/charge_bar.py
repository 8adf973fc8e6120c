"""Who was in charge of a character, as a coloured bar under a filmstrip: light where data played, dark under forces."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from stunt.record.take import Take

ROW = 34
"""Height of one character's bar [px]."""
_INK, _SOFT, _PAGE = (28, 32, 40), (120, 127, 138), (255, 255, 255)
_HUES = (0.58, 0.08, 0.36, 0.80, 0.50, 0.95, 0.14, 0.68, 0.28, 0.02)


@dataclass(frozen=True)
class Charge:
    """One stretch of time in which one controller was in charge.

    Attributes:
        start: When it began [s].
        end: When it ended [s].
        controller: Who.
        kinematic: Whether data played.
    """

    start: float
    end: float
    controller: str
    kinematic: bool


def charges(take: Take) -> dict[str, list[Charge]]:
    """Return who was in charge of whom, by character; empty for takes without supervisors."""
    switches: dict[str, list[dict[str, object]]] = {}
    for event in take.events:
        if event.get("kind") == "supervisor" and event.get("event") == "switch":
            switches.setdefault(str(event["character"]), []).append(event)
    found = {}
    for name, events in switches.items():
        times = [float(str(event["time"])) for event in events]
        ends = [*times[1:], take.seconds]
        found[name] = [
            Charge(start, end, str(event["controller"]), event.get("mode") == "kinematic")
            for event, start, end in zip(events, times, ends, strict=True)
            if end > start
        ]
    return found


def in_charge(of: dict[str, list[Charge]], time: float) -> str:
    """Return who is in charge at a time, of everyone."""
    names = [next((c.controller for c in row if c.start <= time < c.end), row[-1].controller) for row in of.values()]
    return " · ".join(names)


def colors(of: dict[str, list[Charge]]) -> dict[str, tuple[int, int, int]]:
    """Return a colour for each controller; a tracking twin has its brother's, darker."""
    plain = dict.fromkeys(_brother(c.controller) for row in of.values() for c in row)
    found = {}
    for number, name in enumerate(plain):
        hue, again = _HUES[number % len(_HUES)], number // len(_HUES)
        found[name] = _rgb(hue, 0.50 + 0.12 * (again % 3), 0.86 - 0.10 * (again % 2))
        found[f"{name} (tracking)"] = _rgb(hue, 0.72, 0.60)
    return found


def _brother(name: str) -> str:
    return name.removesuffix(" (tracking)")


def _rgb(hue: float, saturation: float, value: float) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(hue, saturation, value)
    return round(255 * red), round(255 * green), round(255 * blue)


def bar_height(of: dict[str, list[Charge]]) -> int:
    """Return how much room the bars need [px]."""
    return len(of) * (ROW + 12) + 24 if of else 0


def draw_bars(
    image: Image.Image,
    of: dict[str, list[Charge]],
    box: tuple[int, int, int],
    seconds: float,
    marks: Sequence[float],
    font: ImageFont.FreeTypeFont,
) -> None:
    """Draw one bar per character.

    Args:
        image: The sheet.
        of: Who was in charge of whom.
        box: Left, top and right of the room [px].
        seconds: Length of the take [s].
        marks: Times of the pictures, marked on the bars [s].
        font: Of the names.
    """
    pen, palette = ImageDraw.Draw(image), colors(of)
    left, top, right = box
    label = max((font.getlength(name) for name in of), default=0.0) + 16 if len(of) > 1 else 0.0
    start, width = left + label, right - left - label
    for number, (name, row) in enumerate(of.items()):
        y = top + number * (ROW + 12)
        if label:
            pen.text((left, y + ROW / 2), name, _INK, font, anchor="lm")
        for charge in row:
            x0, x1 = (start + width * t / max(seconds, 1e-9) for t in (charge.start, charge.end))
            _segment(pen, (x0, y, x1, y + ROW), charge, palette[charge.controller], font)
        for mark in marks:
            x = start + width * mark / max(seconds, 1e-9)
            pen.line((x, y - 5, x, y), _INK, 2)
    y = top + len(of) * (ROW + 12) - 4
    pen.text((start, y), "light: data   dark: forces", _SOFT, font, anchor="lt")


def _segment(
    pen: ImageDraw.ImageDraw,
    box: tuple[float, float, float, float],
    charge: Charge,
    color: tuple[int, int, int],
    font: ImageFont.FreeTypeFont,
) -> None:
    x0, y0, x1, y1 = box
    fill = tuple(round(c + 0.45 * (255 - c)) for c in color) if charge.kinematic else color
    pen.rectangle((x0, y0, max(x1 - 1, x0), y1), fill)
    if font.getlength(charge.controller) + 10 < x1 - x0:
        ink = _INK if charge.kinematic else _PAGE
        pen.text(((x0 + x1) / 2, (y0 + y1) / 2), charge.controller, ink, font, anchor="mm")
