"""How the papers' figures look: one page, one typeface, few lines (see `stunt.record.plots`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stunt.record.files import written_aside
from stunt.record.plots import EDGE, SOFT, WIDTH

HEADLINE = 0.8
"""What the headline takes [in]."""


def plot_area(figure: Figure, top: float, height: float) -> Axes:
    """Return axes across the page, `top` below its upper edge and so high [in]."""
    page_height = figure.get_size_inches()[1]
    return figure.add_axes((0.85 / WIDTH, 1.0 - (top + height) / page_height, 1.0 - 1.1 / WIDTH, height / page_height))


def mark_beats(axes: Axes, beats: Sequence[tuple[float, str]], *, names: bool = True) -> None:
    """Draw a line at each beat, with its pose's name above the axes, on two levels where they are close."""
    begin, end = axes.get_xlim()
    last = -math.inf
    for time, pose in beats:
        axes.axvline(time, color=SOFT, linewidth=0.8, zorder=1.5)
        raised = 16 if time - last < 0.0075 * len(pose) * (end - begin) else 4
        last = -math.inf if raised == 16 else time
        if names:
            axes.annotate(
                pose.replace("_", " "), (time, 1.0), (0, raised), xycoords=("data", "axes fraction"),
                textcoords="offset points", ha="center", va="bottom", fontsize=9, color=SOFT, annotation_clip=False,
            )  # fmt: skip


def legend(axes: Axes, *, below: bool = False) -> None:
    """Put a plain legend into the page's upper right corner, beside the headline, or below everything."""
    figure = axes.figure
    assert isinstance(figure, Figure)
    handles, labels = axes.get_legend_handles_labels()
    height = figure.get_size_inches()[1]
    place = (1.0 - EDGE / WIDTH, 0.34 / height if below else 1.0 - 0.10 / height)
    look = {"frameon": False, "fontsize": 10, "handlelength": 1.8, "borderaxespad": 0.0}
    figure.legend(handles, labels, loc="upper right", bbox_to_anchor=place, ncols=len(labels), **look)


def shown_degrees(angle: float) -> str:
    """Return an angle with as many digits as matter."""
    if angle < 0.0005:
        return "<0.001°"
    return f"{angle:.3f}°" if angle < 0.1 else f"{angle:.2f}°" if angle < 1.0 else f"{angle:.1f}°"


def save(figure: Figure, out: Path, name: str, forms: Sequence[str] = ("png",)) -> list[Path]:
    """Write a figure, aside first; return its files."""
    paths = []
    for form in forms:
        path = out / f"{name}.{form}"
        # Without a date and with a fixed salt, the same runs give the same file.
        plain = {"Date": None} if form == "svg" else {}
        with matplotlib.rc_context({"svg.hashsalt": "stunt"}), written_aside(path) as aside:
            figure.savefig(aside, format=form, metadata=plain)
        paths.append(path)
    return paths
