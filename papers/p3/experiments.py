"""The experiments of P3 as rows of pictures, from fresh runs of the examples."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from papers.runs import shipped
from papers.strip import Row, View, put_rows, rows_height
from papers.style import HEADLINE, save
from papers.variations import with_section
from stunt.drive.beats.spec import Script
from stunt.record.plots import page
from stunt.record.take import Take
from stunt.script.performance import Performance


@dataclass(frozen=True)
class Shot:
    """A row of pictures with a camera of its own: what it is called, when it looks [s], and from where."""

    heading: str
    times: Sequence[float]
    view: View


@dataclass(frozen=True)
class Experiment:
    """An example and how it is shown.

    Attributes:
        name: Of the example.
        file: Of the figure, without suffix.
        title: Its headline.
        note: What to look for.
        shots: Its rows.
    """

    name: str
    file: str
    title: str
    note: str
    shots: tuple[Shot, ...]


_LINE_UP = View(azimuth=25.0, elevation=12.0, aspect=1.3)
EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "balance_flat", "fig2_balance_flat", "Balance after a nudge, on a flat floor",
        "From the right: nothing holds the root, a meat-hook does, a weak spring (6 % of m·g·h) does.",
        (Shot("", (0.4, 0.9, 1.4, 2.0, 3.0), _LINE_UP),),
    ),
    Experiment(
        "balance_crate", "fig2_balance_crate", "One foot on a crate",
        "Only the meat-hook balances where nobody could; the weak spring gives way.",
        (Shot("", (0.0, 0.8, 1.2, 1.8, 3.5), _LINE_UP),),
    ),
    Experiment(
        "cartwheel_obstacle", "fig3_cartwheel", "A cartwheel over an obstacle the clip knows nothing of",
        "In front in world space; behind in parent space with the same gains per bone.",
        (Shot("", (0.6, 1.3, 1.7, 2.0, 2.3, 3.3), View(azimuth=20.0, elevation=10.0, aspect=1.2)),),
    ),
    Experiment(
        "obstacle_course", "fig4_course", "Obstacle course",
        "The clip was made for a flat floor. Its steps are laid over the ground there is; no force helps the root.",
        (
            Shot("Up the ramp", (1.0, 1.8, 2.6, 3.4, 4.2), View(azimuth=-75.0, elevation=8.0, aspect=1.1)),
            Shot("Down the stairs", (4.4, 4.9, 5.3, 5.7, 6.1), View(azimuth=-70.0, elevation=8.0, aspect=1.1)),
            Shot("Through the crate, over the blocks", (6.4, 6.9, 7.4, 8.0, 8.7), View(-65.0, 8.0, 1.1)),
            Shot("A cartwheel over the last one", (10.2, 10.9, 11.3, 11.7, 12.6), View(-20.0, 8.0, 1.1)),
        ),
    ),
    Experiment(
        "drag", "fig5_drag", "Dragged about",
        "By the hand; pressed down until the knees bend, and let go; lifted, carried, and put back on the feet.",
        (Shot("", (0.4, 1.2, 1.9, 4.9, 6.8, 8.2, 9.2, 10.8), View(azimuth=25.0, elevation=8.0, aspect=0.6)),),
    ),
    Experiment(
        "jump_hop_cross", "fig6_jump", "Jump, hops on one leg, and crossing legs",
        "Each with a weak root spring alone.",
        (Shot("", (0.6, 1.15, 1.3, 1.95, 2.6), View(azimuth=25.0, elevation=10.0, aspect=1.3)),),
    ),
    Experiment(
        "beach_balls", "fig7_balls", "Beach balls, then a crate of 40 kg at 5 m/s",
        "From the right: meat-hook; weak spring; one that is stunned; one that goes limp, lies, and gets up.",
        (Shot("", (0.3, 0.85, 2.45, 2.7, 3.6), _LINE_UP), Shot("", (4.4, 5.2, 6.2, 7.2, 8.9), _LINE_UP)),
    ),
    Experiment(
        "stuck_arm", "fig9_stuck", "Arms stuck behind the back, led out and around",
        "The paper leaves them there: the shortest turn into the guard goes through the chest.",
        (Shot("", (0.5, 0.9, 1.3, 1.6, 1.9, 2.2, 2.8), View(azimuth=35.0, elevation=8.0, aspect=0.7)),),
    ),
)  # fmt: skip


def draw_experiment(out: Path, shown: Experiment) -> list[Path]:
    """Play an example and draw its rows."""
    return draw_takes(out, shown, [perform(shipped(shown.name))] * len(shown.shots))


def draw_takes(out: Path, shown: Experiment, takes: Sequence[Take]) -> list[Path]:
    """Draw rows of pictures, each of its own take."""
    heights = [rows_height(len(shot.times), 1, shot.view, headed=bool(shot.heading)) for shot in shown.shots]
    figure = page(HEADLINE + sum(heights) + 0.1, shown.title, shown.note)
    top = HEADLINE
    for shot, take, height in zip(shown.shots, takes, heights, strict=True):
        captions = [(f"{time:.2f} s", "") for time in shot.times]
        put_rows(figure, [Row(take, shot.times, captions, shot.heading)], top, shot.view)
        top += height
    return save(figure, out, shown.file)


def perform(script: Script) -> Take:
    """Play a script to its end."""
    return Performance(script, foretell=False).run()


def draw_boxing(out: Path) -> list[Path]:
    """Draw the match beside what the clips alone would show: roots on hooks, nobody reacts."""
    script = shipped("boxing")
    view = View(azimuth=-60.0, elevation=10.0, aspect=0.85)
    fight = perform(script)
    down = next((e["time"] for e in fight.events if e["kind"] == "reaction" and e["state"] == "down"), 9.0)
    times = [down - 0.6, down + 0.02, down + 0.5, down + 2.4, down + 4.2, down + 6.0, down + 8.5]
    shots = (Shot("The clips alone, on meat-hooks", times, view), Shot("Simulated", times, view))
    shown = Experiment(
        "boxing", "fig8_boxing", "Boxing on uneven ground",
        "A blow of half the body weight fells; then a stand-up clip, chosen by the side it lies on.", shots,
    )  # fmt: skip
    return draw_takes(out, shown, [perform(on_hooks(script)), fight])


def on_hooks(script: Script) -> Script:
    """Return a script whose characters' roots go where their clips do, whatever happens."""
    for name, part in script.parts.items():
        hook = dataclasses.replace(part.sections["clips"].root, kind="hook")
        script = with_section(script, name, "clips", root=hook, react=None)
    return script
