"""The beat table: how each beat went, for people in front of a terminal. Colour helps, but nothing depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.markup import escape
from rich.table import Table

from stunt.record.in_charge import changes, charge_table

_COLUMNS: Final[tuple[tuple[str, JustifyMethod], ...]] = (
    ("#", "right"), ("time\ns", "right"), ("pose", "left"), ("worst joint", "left"), ("error\n°", "right"),
    ("rms\n°", "right"), ("timing\nms", "right"), ("speed\nrad/s", "right"), ("force\nused", "right"), ("", "left"),
)  # fmt: skip
_FOLDING = {"pose": 5, "worst joint": 12}  # narrowest widths; on a narrow terminal these columns fold first
_COLORS = {"ok": "green", "at limit": "yellow", "MISSED": "bold red"}


def beat_table(report: Mapping[str, Any], *, most: int | None = None) -> RenderableType:
    """Return the tables of a report, of beats and of who was in charge, and a summary line, for a rich console.

    Args:
        report: What `stunt.record.report.make_report` gives.
        most: So many changes of who was in charge are listed for each character; None: all.
    """
    tables = [_table(name, entry) for name, entry in report["characters"].items() if entry["beats"]]
    tables += [charge_table(name, entry["supervisor"], most) for name, entry in _supervised(report)]
    lines: list[RenderableType] = [line for table in tables for line in (table, "")]
    return Group(*lines, escape(summary(report)))


def verdict(beat: Mapping[str, Any]) -> str:
    """Return in a word how a beat went: `ok`, `at limit` (made, with a joint at its strength) or `MISSED`."""
    if beat["missed"]:
        return "MISSED"
    return "at limit" if beat["saturated"] else "ok"


def summary(report: Mapping[str, Any]) -> str:
    """Return one line on the whole performance."""
    beats = [beat for entry in report["characters"].values() for beat in entry["beats"]]
    pieces = [_made(beats), _length(report)] if beats or not _supervised(report) else [_length(report)]
    pieces += [f"{name}: {changes(entry['supervisor'])}" for name, entry in _supervised(report)]
    pieces += [f"{name} fell" for name, entry in report["characters"].items() if entry["fell"]]
    pieces += [f"{name} ended lying" for name, entry in _supervised(report) if entry["ended_lying"]]
    if report["interrupted"]:
        pieces.append("interrupted")
    return "; ".join(pieces) + "."


def _supervised(report: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, entry) for name, entry in report["characters"].items() if "supervisor" in entry]


def _made(beats: Sequence[Mapping[str, Any]]) -> str:
    if not beats:
        return "No beats"
    made = sum(not beat["missed"] for beat in beats)
    worst = max(beats, key=lambda beat: float(beat["error_deg"]))
    mean = sum(float(beat["error_deg"]) for beat in beats) / len(beats)
    whose = f" ({worst['worst_joint']} at {worst['time']:.2f} s)" if worst["worst_joint"] else ""
    noun = "beat" if len(beats) == 1 else "beats"
    return f"{made} of {len(beats)} {noun} made, worst {worst['error_deg']:.3f}°{whose}, mean {mean:.3f}°"


def _length(report: Mapping[str, Any]) -> str:
    factor = report["realtime_factor"]
    return f"{report['seconds']:.2f} s" + (f", {factor:.3g} × real time" if factor else "")


def _table(name: str, entry: Mapping[str, Any]) -> Table:
    title = f"{name} · {entry['body']} · root {entry['root']}"
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    for heading, justify in _COLUMNS:
        narrowest = _FOLDING.get(heading)
        table.add_column(heading, justify=justify, no_wrap=narrowest is None, min_width=narrowest, overflow="fold")
    for beat in entry["beats"]:
        word = verdict(beat)
        cells = [*_cells(beat), word]
        table.add_row(*cells[:-1], f"[{_COLORS[word]}]{word}[/]", style="red" if word == "MISSED" else None)
    return table


def _cells(beat: Mapping[str, Any]) -> list[str]:
    return [
        str(beat["index"] + 1),
        f"{beat['time']:.3f}",
        escape(beat["pose"]),
        escape(beat["worst_joint"]),
        f"{beat['error_deg']:.3f}",
        f"{beat['error_deg_rms']:.3f}",
        f"{beat['error_ms']:+.1f}" if beat["error_ms"] else "0",
        f"{beat['velocity_error']:.3f}",
        f"{100.0 * beat['used_share']:.0f} %" if beat["used_by"] else "–",
    ]
