"""Figures 7 and 8: the beat law against constant gains, and against gains from each link's own inertia alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from papers.runs import Played, play, play_constant_pd
from papers.strip import Row, View, put_rows, rows_height
from papers.style import HEADLINE, legend, plot_area, save, shown_degrees
from stunt.record.plots import BLUE, ORANGE, dress, page

_MISSED_DEG = 1.0


def draw_constant_pd(out: Path) -> list[Path]:
    """Draw figure 7."""
    ours, theirs = play("ymca"), play_constant_pd("ymca")
    title = "YMCA: computed gains against constant ones"
    note = "The constant gains were optimised for the first pose, Y, within the joints' strength; the rest follows."
    names = ("Stunt", "Constant gains, tuned for Y")
    return _draw(out, "fig7_constant_pd", title, note, (ours, theirs), names, range(5), View(azimuth=8.0, aspect=0.86))


def draw_local_inertia(out: Path) -> list[Path]:
    """Draw figure 8."""
    ours, theirs = play("conductor"), play("conductor", coupling="local")
    title = "Conductor: the whole body's inertia against each link's own"
    note = "The same timing, critically damped for each link alone: a shoulder must know the arm that it carries."
    names = ("Stunt", "Own link's inertia alone")
    view = View(azimuth=12.0, aspect=0.95, bottom=0.3)
    return _draw(out, "fig8_local_inertia", title, note, (ours, theirs), names, (1, 2, 4, 7, 11, 12), view)


def _draw(
    out: Path,
    name: str,
    title: str,
    note: str,
    pair: tuple[Played, Played],
    names: tuple[str, str],
    which: Sequence[int],
    view: View,
) -> list[Path]:
    strip = rows_height(len(which), 2, view)
    figure = page(HEADLINE + strip + 3.3, title, note)
    put_rows(figure, [_row(played, which, head) for played, head in zip(pair, names, strict=True)], HEADLINE, view)
    axes = plot_area(figure, HEADLINE + strip + 0.3, 2.15)
    places = np.arange(len(pair[0].results))
    for k, (played, heading, color) in enumerate(zip(pair, names, (BLUE, ORANGE), strict=True)):
        errors = [result.error_deg for result in played.results]
        label = f"{heading}: {shown_degrees(played.mean_error_deg)} on average"
        axes.bar(places + 0.38 * (k - 0.5), errors, 0.36, color=color, label=label)
    axes.axhline(_MISSED_DEG, color="#6B7280", linewidth=0.9, linestyle=(0, (1, 2)))
    axes.set_yscale("log")
    least = min(result.error_deg for played in pair for result in played.results)
    axes.set_ylim(min(5e-4, max(0.5 * least, 1e-6)), 300.0)
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.set_xticks(places, [f"{r.pose.replace('_', ' ')}\n{r.time:.2f} s" for r in pair[0].results], fontsize=9)
    dress(axes, "worst joint at the beat  [°]", "")
    legend(axes, below=True)
    return save(figure, out, name)


def _row(played: Played, which: Sequence[int], heading: str) -> Row:
    beats = [played.results[k] for k in which]
    captions = [(beat.pose, f"{beat.time:.2f} s · {shown_degrees(beat.error_deg)}") for beat in beats]
    off = [beat.error_deg > _MISSED_DEG for beat in beats]
    return Row(played.take, [beat.time for beat in beats], captions, heading, off)
