"""A supervisor's log as a table: who was in charge of a character, and why, for people in front of a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich import box
from rich.markup import escape
from rich.table import Table

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
