"""A comparison for people and programs: a Markdown table, a plot with error bars, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stunt.jobs.table import markdown_line
from stunt.many.comparison import Comparison, MeasureCompared
from stunt.many.statistics import LEVEL, Interval
from stunt.record.files import written_aside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME: Final = "comparison"
_ACROSS = 3  # panels beside each other
_HIGH = 0.42  # of a side in a panel [in]
_HEADLINE = 0.8  # what the headline takes [in]


def table_of(comparison: Comparison) -> list[list[str]]:
    """Return headings and rows: each measure with the means of all sides, and their differences from the first."""
    first, *others = comparison.sides
    head = ["measure", *comparison.sides, *(f"{side} − {first}" for side in others), "pairs"]
    return [head, *(_line(measure, first, others) for measure in comparison.measures)]


def _line(measure: MeasureCompared, first: str, others: list[str]) -> list[str]:
    sides = [shown(measure.means[side]) for side in (first, *others)]
    differences = [shown(measure.differences[side], signed=True) for side in others]
    unit = f" [{measure.unit}]" if measure.unit else ""
    return [measure.name + unit, *sides, *differences, str(measure.means[first].count)]


def shown(interval: Interval, *, signed: bool = False) -> str:
    """Return a mean with its limits; a difference that the limits tell from zero is marked."""
    sign = "+" if signed else ""
    text = f"{interval.value:{sign}.3g} ({interval.low:.3g} … {interval.high:.3g})"
    return f"{text} *" if signed and interval.tells else text


def note_of(comparison: Comparison) -> str:
    """Say how many runs there were, and how sure it is."""
    lost = [f"{count} of '{side}'" for side, count in comparison.dropped.items() if count]
    left = f" Runs that failed or are missing: {', '.join(lost)}; their pairs are left out." if lost else ""
    return (
        f"{comparison.pairs} pairs of runs; in brackets {100 * LEVEL:.0f} % intervals of a paired bootstrap; * marks "
        f"differences that they tell from zero.{left}"
    )


def write_comparison(comparison: Comparison, folder: Path, about: Mapping[str, Any], title: str) -> list[Path]:
    """Write `comparison.md`, `.json` and `.png` into a folder.

    Args:
        comparison: What was found.
        folder: Where.
        about: What was compared: added to the JSON.
        title: Headline of the plot.

    Returns:
        The files.
    """
    head, *rows = table_of(comparison)
    bars = ["---"] + ["---:"] * (len(head) - 1)
    text = "".join(markdown_line(cells) for cells in (head, bars, *rows))
    contents = {
        "md": f"{text}\n{note_of(comparison)}\n",
        "json": json.dumps({**about, **comparison.to_data()}, indent=1, ensure_ascii=False) + "\n",
    }
    paths = []
    for form, content in contents.items():
        paths.append(folder / f"{NAME}.{form}")
        with written_aside(paths[-1]) as aside:
            aside.write_text(content, encoding="utf-8")
    from stunt.record.plots import save_figure  # plotting is heavy

    return [*paths, save_figure(plot(comparison, title), folder / f"{NAME}.png")]


def plot(comparison: Comparison, title: str) -> Figure:
    """Draw each measure in a panel of its own: every side's mean with its interval, and a * where it differs."""
    from stunt.record.plots import COLORS, INK, WIDTH, dress, page

    sides, measures = comparison.sides, comparison.measures
    across = min(_ACROSS, len(measures))
    names = 0.3 + 0.085 * max(map(len, sides))  # what the sides' names take [in]
    wide, high = (WIDTH - names - 0.3) / across, _HIGH * len(sides) + 0.75
    height = _HEADLINE + 0.15 + -(-len(measures) // across) * high
    sure = f"bars are {100 * LEVEL:.0f} % intervals; * differs from {sides[0]}, pair by pair."
    note = f"{comparison.pairs} pairs of runs; {sure}"
    figure = page(height, title, note)
    for number, measure in enumerate(measures):
        line, column = divmod(number, across)
        bottom = 1.0 - (_HEADLINE + 0.15 + (line + 1) * high - 0.6) / height
        axes = figure.add_axes(
            ((names + column * wide) / WIDTH, bottom, (wide - 0.35) / WIDTH, _HIGH * len(sides) / height)
        )
        for row, side in enumerate(sides):
            mean, differs = measure.means[side], measure.differences.get(side)
            bars = [[mean.value - mean.low], [mean.high - mean.value]]
            axes.errorbar([mean.value], [row], xerr=bars, fmt="o", color=COLORS[row % len(COLORS)], capsize=3, lw=1.6)
            if differs is not None and differs.tells:
                axes.annotate("*", (mean.value, row), (0, 2), textcoords="offset points", ha="center", color=INK)
        axes.set_yticks(range(len(sides)), sides if column == 0 else [""] * len(sides))
        axes.set_ylim(len(sides) - 0.5, -0.5)
        dress(axes, "", f"{measure.name}  [{measure.unit}]" if measure.unit else measure.name)
        if all(mean.low >= 0.0 for mean in measure.means.values()):
            axes.set_xlim(left=0.0)
    return figure
