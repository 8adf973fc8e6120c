"""A comparison for people and programs: a Markdown table, a plot with error bars, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stunt.jobs.table import markdown_line
from stunt.many.columns import COLUMNS
from stunt.many.comparison import Comparison, MeasureCompared
from stunt.many.statistics import LEVEL, Interval
from stunt.record.files import written_aside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME: Final = "comparison"
_ACROSS = 3  # panels beside each other
_HIGH = 0.42  # of a side in a panel [in]


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
    from stunt.record.plot_style import save  # plotting is heavy

    return paths + save(plot(comparison, title), folder, NAME)


def plot(comparison: Comparison, title: str) -> Figure:
    """Draw each measure in a panel of its own: every side's mean with its interval."""
    from stunt.record.plot_style import BLUE, GREEN, HEADLINE, INK, ORANGE, PINK, SKY, WIDTH, YELLOW, dress, page

    colors = (BLUE, ORANGE, GREEN, PINK, SKY, YELLOW)
    sides, measures = comparison.sides, comparison.measures
    high = _HIGH * len(sides) + 0.85
    lines = -(-len(measures) // _ACROSS)
    height = HEADLINE + 0.25 + lines * high
    figure = page(height, title, note_of(comparison).partition(";")[0] + f"; bars are {100 * LEVEL:.0f} % intervals.")
    for number, measure in enumerate(measures):
        line, column = divmod(number, _ACROSS)
        top = HEADLINE + 0.25 + line * high
        left = (0.02 + column * (1.0 / _ACROSS)) + (1.6 / WIDTH)
        place = (left, 1.0 - (top + high - 0.75) / height, 1.0 / _ACROSS - 1.9 / WIDTH, (high - 0.75) / height)
        axes = figure.add_axes(place)
        for row, side in enumerate(sides):
            mean = measure.means[side]
            bars = [[mean.value - mean.low], [mean.high - mean.value]]
            axes.errorbar([mean.value], [row], xerr=bars, fmt="o", color=colors[row % len(colors)], capsize=3, lw=1.6)
        axes.set_yticks(range(len(sides)), sides)
        axes.set_ylim(len(sides) - 0.5, -0.5)
        dress(axes, "", f"{measure.name}  [{measure.unit}]" if measure.unit else measure.name)
        axes.set_title(meaning(measure.name), fontsize=8.5, color=INK, loc="left")
        if all(mean.low >= 0.0 for mean in measure.means.values()):
            axes.set_xlim(left=0.0)
    return figure


def meaning(measure: str) -> str:
    """Return what a measure says, where Stunt knows it; cut to a title's length."""
    text = COLUMNS[measure][1].partition(";")[0] if measure in COLUMNS else ""
    return text if len(text) <= 48 else text[:47].rstrip() + "…"
