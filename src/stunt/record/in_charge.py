"""Who was in charge of a character, as a coloured bar under a filmstrip: light where data played, dark under forces.

What a report says of a supervised character: who was in charge when, why, and what came to nothing.

A supervisor's log as a table: who was in charge of a character, and why, for people in front of a terminal.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.markup import escape
from rich.table import Table

from stunt.record.take import Take

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

_WHY: Final = ("controller", "mode", "cause", "why", "ended", "reason")


def charge_report(take: Take, name: str) -> dict[str, Any]:
    """Return the `supervisor` section of a character's entry (see `docs/report.md`); nothing where it has none."""
    log = [e for e in take.events if e["kind"] == "supervisor" and e.get("character") == name]
    if not log:
        return {}
    switches = [e for e in log if e["event"] == "switch"]
    ends = [*(float(e["time"]) for e in switches[1:]), take.seconds]
    charge = [
        {"from": float(e["time"]), "to": end, **{key: e[key] for key in _WHY}, "bids": _scores(e)}
        for e, end in zip(switches, ends, strict=True)
    ]
    return {"supervisor": {"in_charge": charge, **{kind: _noted(log, kind) for kind in ("refused", "removed")}}}


def _scores(event: Mapping[str, Any]) -> dict[str, float]:
    return {str(bid["controller"]): float(bid["score"]) for bid in event["bids"]}


def _noted(log: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [{key: e[key] for key in ("time", "controller", "reason")} for e in log if e["event"] == kind]


def charge_warnings(section: Mapping[str, Any]) -> list[str]:
    """Say in sentences which controllers were taken out of the pool, and which requests came to nothing."""
    taken = [f"controller '{e['controller']}' was taken out at {e['time']:.2f} s: it {e['reason']}"
             for e in section.get("removed", ())]  # fmt: skip
    refused = [f"the request for '{e['controller']}' was refused at {e['time']:.2f} s: {e['reason']}"
               for e in section.get("refused", ())]  # fmt: skip
    return [*taken, *refused]


_CAUSES: Final = {
    "begin": "", "ended": "", "request": "asked for", "interrupt": "interrupts", "hit": "hit", "removed": "taken out",
}  # fmt: skip
_MOST_BIDS: Final = 6
_ENDS: Final = {"running": "interrupted", "succeeded": "succeeded", "failed": "failed"}


def charge_table(name: str, section: Mapping[str, Any], most: int | None = None) -> Table:
    """Return the log of one character, in order of time.

    Args:
        name: Who.
        section: The `supervisor` section of its entry in the report.
        most: How many lines at most; None: all.
    """
    title = f"{name} · who was in charge"
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    table.add_column("from s", justify="right", no_wrap=True)
    table.add_column("to s", justify="right", no_wrap=True)
    table.add_column("controller", min_width=8, overflow="fold")
    table.add_column("by", no_wrap=True)
    table.add_column("why", min_width=12, overflow="fold")
    table.add_column("the last one", min_width=10, overflow="fold")
    table.add_column("others bid", min_width=8, overflow="fold")
    rows = sorted(_rows(section), key=lambda row: row[0])
    for _, cells, style in rows[:most]:
        table.add_row(*(escape(cell) for cell in cells), style=style)
    if most is not None and len(rows) > most:
        table.add_row("", "", f"… and {len(rows) - most} more: stunt show", "", "", "", "")
    return table


def changes(section: Mapping[str, Any]) -> str:
    """Say in a few words how often somebody else took over."""
    count = len(section["in_charge"]) - 1
    return "one in charge throughout" if count < 1 else f"{count} change{'s' if count > 1 else ''} of who was in charge"


def _rows(section: Mapping[str, Any]) -> list[tuple[float, list[str], str | None]]:
    rows: list[tuple[float, list[str], str | None]] = []
    for number, entry in enumerate(section["in_charge"]):
        last = "" if number == 0 else f"{_ENDS[entry['ended']]}{': ' if entry['reason'] else ''}{entry['reason']}"
        by = "data" if entry["mode"] == "kinematic" else "forces"
        why = ": ".join(piece for piece in (_CAUSES.get(entry["cause"], entry["cause"]), entry["why"]) if piece)
        times = [f"{entry['from']:.2f}", f"{entry['to']:.2f}"]
        rows.append((entry["from"], [*times, entry["controller"], by, why, last, _others(entry)], None))
    for kind, word in (("removed", "TAKEN OUT"), ("refused", "refused")):
        for entry in section[kind]:
            cells = [f"{entry['time']:.2f}", "", entry["controller"], word, entry["reason"], "", ""]
            rows.append((entry["time"], cells, "red" if kind == "removed" else "yellow"))
    return rows


def _others(entry: Mapping[str, Any]) -> str:
    """Say who else bid what, the best first."""
    lost = sorted((-score, name) for name, score in entry["bids"].items() if name != entry["controller"])
    return ", ".join(f"{name} {-score:.2f}" for score, name in lost[:_MOST_BIDS]) + (
        f" and {len(lost) - _MOST_BIDS} more" if len(lost) > _MOST_BIDS else ""
    )


ROW = 34
"""Height of one character's bar [px]."""
_INK, _SOFT, _PAGE = (28, 32, 40), (120, 127, 138), (255, 255, 255)
_HUES = (0.58, 0.08, 0.36, 0.80, 0.50, 0.95, 0.14, 0.68, 0.28, 0.02)


@dataclass(frozen=True)
class Charge:
    """One stretch of time in which one controller was in charge."""

    start: float  #: When it began [s]
    end: float  #: When it ended [s]
    controller: str  #: Who
    kinematic: bool  #: Whether data played


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
    from PIL import ImageDraw  # whoever only reports need not load it

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
