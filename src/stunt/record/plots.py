"""Plots of a take: stiffness, error and torque over time, with the beats as vertical lines; and how plots look.

Figures are made through matplotlib's objects, never through `pyplot`, so that a user's own plots, backend and style are
left alone and several threads may draw at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from stunt.errors import TakeError
from stunt.record.files import written_aside
from stunt.record.joint_tracks import Tracks, beat_times, characters_of, errors, gains, torque_shares, travel
from stunt.record.take import Take

INK, SOFT, GRID = "#1C2028", "#6B7280", "#E6E8EC"
# Okabe and Ito's palette, readable with every kind of colour vision; dashes tell the lines apart in print as well.
COLORS = BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, GREY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555",
)  # fmt: skip
DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", "-", "-", "-", (0, (5, 2)), (0, (5, 2)), (0, (2, 2)))
MOST_LINES = 6
WIDTH = 12.0
"""Width of a page [in]."""
EDGE = 0.25
"""Free on each side of it [in]."""
DPI = 150


def page(height: float, title: str, note: str = "") -> Figure:
    """Return an empty page with a headline.

    Args:
        height: Of the page [in].
        title: What the figure shows.
        note: What to look for, in one line.
    """
    figure = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    figure.text(EDGE / WIDTH, 1.0 - 0.16 / height, title, weight="bold", size=15, color=INK, va="top")
    figure.text(EDGE / WIDTH, 1.0 - 0.50 / height, note, size=10.5, color=SOFT, va="top")
    return figure


def dress(axes: Axes, ylabel: str = "", xlabel: str = "time  [s]") -> None:
    """Take away everything that says nothing."""
    axes.set_ylabel(ylabel, color=INK)
    axes.set_xlabel(xlabel, color=INK)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=SOFT, length=3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(SOFT)


def plot_gains(take: Take, path: str | Path, joints: Sequence[str] | None = None) -> Path:
    """Plot stiffness k_s over time, one panel per character.

    Args:
        take: The performance.
        path: Where to write the picture (PNG, SVG or PDF by its ending).
        joints: Which joints; None is the six that moved farthest.
    """
    model = take.model()

    def draw(axes: Axes, character: str) -> None:
        moved = travel(take, character, model)
        tracks = gains(take, character).pick(_own(take, character, joints), MOST_LINES, moved)
        _lines(axes, take, tracks)
        positive = tracks.values[tracks.values > 0.0]
        if positive.size and positive.max() / positive.min() > 30.0:
            axes.set_yscale("log")
            axes.set_ylim(max(positive.min(), positive.max() * 1e-5) * 0.8, positive.max() * 1.6)
        axes.set_ylabel("stiffness $k_s$  [N·m/rad]")

    return _plot(take, path, "How stiff the joints were", draw)


def plot_errors(take: Take, path: str | Path, joints: Sequence[str] | None = None) -> Path:
    """Plot each joint's angle to the pose it was heading for, in degrees; a beat is met where it reaches zero.

    Args:
        take: The performance.
        path: Where to write the picture.
        joints: Which joints; None is the six with the largest errors, and the worst of all as an area behind them.
    """
    model = take.model()

    def draw(axes: Axes, character: str) -> None:
        every = errors(take, character, model)
        with np.errstate(all="ignore"):
            worst = np.max(np.nan_to_num(every.values), axis=1, initial=0.0)
        axes.fill_between(take.time, worst, color=GRID, linewidth=0, label="worst joint", zorder=1)
        _lines(axes, take, every.pick(_own(take, character, joints), MOST_LINES))
        axes.set_ylim(0.0, max(float(worst.max(initial=0.0)) * 1.08, 0.1))
        axes.set_ylabel("angle to target  [°]")

    return _plot(take, path, "How far from the next pose", draw)


def plot_torques(take: Take, path: str | Path, joints: Sequence[str] | None = None) -> Path:
    """Plot each joint's torque as a share of what it can give.

    Args:
        take: The performance.
        path: Where to write the picture.
        joints: Which joints; None is the six that came closest to their limits.
    """

    def draw(axes: Axes, character: str) -> None:
        tracks = torque_shares(take, character).pick(_own(take, character, joints), MOST_LINES)
        _lines(axes, take, Tracks(character, tracks.names, 100.0 * tracks.values))
        axes.axhline(100.0, color=INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=2)
        peak = 100.0 * float(np.nan_to_num(tracks.values).max(initial=0.0))
        axes.set_ylim(0.0, max(106.0, peak * 1.06))
        axes.set_ylabel("torque  [% of the joint's strength]")

    return _plot(take, path, "How strong it had to be", draw)


def _own(take: Take, character: str, joints: Sequence[str] | None) -> Sequence[str] | None:
    """Turn `ada/r_elbow_flexion` into Ada's own `r_elbow_flexion`, and leave out what is another character's."""
    if joints is None:
        return None
    others = tuple(f"{name}/" for name in characters_of(take) if name != character)
    return [joint.removeprefix(f"{character}/") for joint in joints if not joint.startswith(others)]


def _plot(take: Take, path: str | Path, title: str, draw: Callable[[Axes, str], None]) -> Path:
    """Make a figure with one panel per character, and write it aside first."""
    names = list(characters_of(take))
    if not take.time.size:
        raise TakeError("the take has no frames, so there is nothing to plot.")
    figure = Figure(figsize=(10.0, 1.0 + 3.4 * len(names)), dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        draw(axes, name)
        _dress(axes, take, name, name if len(names) > 1 else "")
    panels[-1].set_xlabel("time  [s]", color=INK)
    subject = str(take.meta.get("title") or "")
    figure.suptitle(f"{subject}: {title[0].lower()}{title[1:]}" if subject else title, x=0.01, ha="left", weight="bold")
    return save_figure(figure, Path(path))


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure, aside first; return its file.

    Raises:
        TakeError: No plot format has that suffix, or the file cannot be written.
    """
    form = path.suffix.lstrip(".").lower() or "png"
    if form not in figure.canvas.get_supported_filetypes():
        raise TakeError(f"cannot write '{path}': no plot format ends in '.{form}'. Available: png, svg, pdf.")
    with written_aside(path) as aside:
        figure.savefig(aside, format=form)
    return path


def _lines(axes: Axes, take: Take, tracks: Tracks) -> None:
    for k, name in enumerate(tracks.names):
        color, dash = COLORS[k % len(COLORS)], DASHES[k % len(DASHES)]
        look: dict[str, Any] = {"color": color, "linestyle": dash, "linewidth": 1.5, "zorder": 3}
        axes.plot(take.time, tracks.values[:, k], label=_spoken(name), **look)


def _dress(axes: Axes, take: Take, character: str, heading: str) -> None:
    """Draw the beats, and take away everything that says nothing."""
    end = float(take.time[-1])
    beats = [beat for beat in beat_times(take, character) if beat[0] <= end + 1e-9]
    for time, _ in beats:
        axes.axvline(time, color=SOFT, linewidth=0.8, zorder=1.5)
    _name_beats(axes, beats, end)
    axes.set_xlim(float(take.time[0]), max(end, float(take.time[0]) + 1e-6))
    axes.set_title(heading, loc="left", fontsize=10, color=SOFT, pad=22)
    dress(axes, axes.get_ylabel(), "")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.005, 1.0), frameon=False, fontsize=9, handlelength=1.8)


def _name_beats(axes: Axes, beats: Sequence[tuple[float, str]], end: float) -> None:
    """Write pose names above the beats, leaving out those that would overlap."""
    free = -np.inf
    for time, pose in beats:
        text = pose if len(pose) <= 14 else pose[:13] + "…"
        half = 0.0065 * (len(text) + 1) * end / 2  # A character's width in shares of the axis, from the figure's size.
        if text and time - half > free:
            axes.annotate(
                text, (time, 1.0), (0, 4), xycoords=("data", "axes fraction"), textcoords="offset points", ha="center",
                va="bottom", fontsize=8.5, color=SOFT, annotation_clip=False,
            )  # fmt: skip
            free = time + half


def _spoken(name: str) -> str:
    """Say `r_elbow_flexion` as "right elbow flexion"."""
    side = {"l_": "left ", "r_": "right "}.get(name[:2], "")
    return side + (name[2:] if side else name).replace("_", " ")
