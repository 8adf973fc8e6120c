"""Figures 3 and 5: YMCA and the conductor, with the gains of both shoulders as they were computed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from papers.runs import Played, play
from papers.strip import Row, View, put_rows, rows_height
from papers.style import HEADLINE, legend, mark_beats, plot_area, save, shown_degrees
from stunt.record.plots import BLUE, GREEN, ORANGE, dress, page

_HINGES = (("flexion", BLUE), ("abduction", ORANGE), ("rotation", GREEN))


def draw_ymca(out: Path) -> list[Path]:
    """Draw figure 3."""
    played, view = play("ymca"), View(azimuth=8.0, aspect=0.86)
    strip = rows_height(5, 1, view, headed=False)
    note = "Only poses and times are given. The gains follow from what each joint carries and the time it has left."
    figure = page(HEADLINE + strip + 3.0, "YMCA", note)
    put_rows(figure, [_row(played, range(5))], HEADLINE + 0.05, view)
    axes = plot_area(figure, HEADLINE + strip + 0.25, 2.1)
    _plot(axes, played, "r", "right shoulder\n$k_s$  [N·m/rad]")
    legend(axes)
    return save(figure, out, "fig3_ymca")


def draw_conductor(out: Path) -> list[Path]:
    """Draw figure 5."""
    played, view = play("conductor"), View(azimuth=12.0, aspect=1.12, bottom=0.42)
    strip = rows_height(5, 2, view, headed=False)
    count = len({result.pose for result in played.results})
    note = f"{len(played.results)} beats on {count} poses; the shoulders go their own ways where the poses do."
    figure = page(HEADLINE + strip + 5.4, "Conductor: gains of the left and the right shoulder", note)
    rows = [_row(played, range(5)), _row(played, (6, 7, 10, 11, 12))]
    put_rows(figure, rows, HEADLINE + 0.05, view)
    upper = plot_area(figure, HEADLINE + strip + 0.5, 2.0)
    lower = plot_area(figure, HEADLINE + strip + 2.7, 2.0)
    _plot(upper, played, "l", "left shoulder\n$k_s$  [N·m/rad]")
    upper.set_xlabel("")
    upper.tick_params(labelbottom=False)
    _plot(lower, played, "r", "right shoulder\n$k_s$  [N·m/rad]", names=False)
    legend(upper)
    return save(figure, out, "fig5_conductor_gains")


def _row(played: Played, which: Sequence[int]) -> Row:
    beats = [played.results[k] for k in which]
    captions = [(beat.pose, f"{beat.time:.2f} s · {shown_degrees(beat.error_deg)}") for beat in beats]
    return Row(played.take, [beat.time for beat in beats], captions)


def _plot(axes: Axes, played: Played, side: str, label: str, *, names: bool = True) -> None:
    # Before the first control step there are no gains yet.
    time = played.take.time[1:]
    for hinge, color in _HINGES:
        axes.plot(time, played.gains(f"{side}_shoulder_{hinge}")[1:], color=color, label=hinge, linewidth=1.3)
    axes.set_yscale("log")
    axes.set_ylim(0.2, 3e5)
    axes.set_xlim(0.0, played.take.seconds)
    dress(axes, label)
    mark_beats(axes, played.beats, names=names)
