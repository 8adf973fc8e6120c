"""Figures 1 and 2: one swing of the arm, straight and bent; same timing, other gains."""

from __future__ import annotations

from pathlib import Path

from papers.runs import Played, play
from papers.strip import Row, View, put_rows, rows_height
from papers.style import HEADLINE, legend, mark_beats, plot_area, save
from stunt.record.plots import BLUE, ORANGE, dress, page

_JOINT = "r_shoulder_flexion"
_SIDE = View(azimuth=-62.0, aspect=0.66)


def draw(out: Path) -> list[Path]:
    """Draw both figures."""
    straight, bent = play("arm_swing_straight"), play("arm_swing_bent")
    return [*_swings(out, straight, bent), *_gains(out, straight, bent)]


def _swings(out: Path, straight: Played, bent: Played) -> list[Path]:
    (front, _), (back, _) = straight.beats
    times = [0.0, 0.2 * front, 0.35 * front, 0.5 * front, front, front + 0.25 * front, front + 0.5 * front, back]
    height = HEADLINE + rows_height(len(times), 2, _SIDE)
    note = "The same key-frames at the same times; only the elbow differs."
    figure = page(height, "Arm swing, straight and bent", note)
    rows = []
    for heading, played in (("Straight elbow", straight), ("Bent elbow", bent)):
        poses = {time: pose for time, pose in played.beats}
        rows.append(Row(played.take, times, [(poses.get(time, ""), f"{time:.2f} s") for time in times], heading))
    put_rows(figure, rows, HEADLINE, _SIDE)
    return save(figure, out, "fig1_arm_swing")


def _gains(out: Path, straight: Played, bent: Played) -> list[Path]:
    note = "The same way at the same time. The bent arm is lighter to turn, so the law gives it less stiffness."
    figure = page(5.9, "Shoulder of the swinging arm", note)
    upper, lower = plot_area(figure, HEADLINE + 0.3, 2.0), plot_area(figure, HEADLINE + 2.55, 2.0)
    for played, name, color, dash in ((straight, "straight", BLUE, "-"), (bent, "bent", ORANGE, (0, (5, 2)))):
        upper.plot(played.take.time, played.angles_deg(_JOINT), color=color, linestyle=dash, label=f"{name} elbow")
        # Before the first control step there are no gains yet.
        lower.plot(played.take.time[1:], played.gains(_JOINT)[1:], color=color, linestyle=dash)
    lower.set_yscale("log")
    for axes in (upper, lower):
        axes.set_xlim(0.0, straight.take.seconds)
        mark_beats(axes, straight.beats, names=axes is upper)
    dress(upper, "shoulder flexion  [°]", "")
    upper.tick_params(labelbottom=False)
    dress(lower, "stiffness $k_s$  [N·m/rad]")
    legend(upper)
    return save(figure, out, "fig2_arm_swing_gains", ("png", "svg"))
