"""The corrected constants, measured: the error of a joint on its way to a beat, against the power of the time left."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from papers.runs import play
from papers.style import HEADLINE, legend, plot_area, save
from stunt.control.beat.law import TIME_CONSTANTS
from stunt.record.plots import BLUE, GREEN, ORANGE, SKY, dress, page

Floats = NDArray[np.float64]
_JOINT = "r_shoulder_flexion"
_FINE = 4800.0  # [Hz] steps so short that only the law is seen


def arrival_exponents(n: float = TIME_CONSTANTS) -> tuple[float, float]:
    """Return the exponents p of e ~ T^p for λ = T/n: ((1+2n) ∓ √(1+4n))/2."""
    root = math.sqrt(1.0 + 4.0 * n)
    return (1.0 + 2.0 * n - root) / 2.0, (1.0 + 2.0 * n + root) / 2.0


def draw(out: Path) -> list[Path]:
    """Draw the figure."""
    fine, coarse = measured(_FINE), measured(None)
    low, _ = arrival_exponents()
    note = (
        f"With λ = T/n and n = {TIME_CONSTANTS:.2f} the error falls as $T^{{{low:.2f}}}$; measured slope "
        f"{slope(*fine):.2f} at {_FINE:g} Hz. At 480 Hz the last eight steps are planned exactly."
    )
    figure = page(5.2, "Arrival: error over the time that is left", note)
    axes = plot_area(figure, HEADLINE + 0.1, 3.7)
    axes.plot(*fine, color=BLUE, label=f"measured at {_FINE:g} Hz", linewidth=2.0)
    axes.plot(*coarse, color=SKY, label="at 480 Hz", linewidth=2.0)
    left, share = fine
    middle = (left < 0.3) & (left > 0.1)
    factor = np.exp(np.mean(np.log(share[middle]) - low * np.log(left[middle])))
    axes.plot(left, factor * left**low, color=ORANGE, linestyle=(0, (5, 2)), label=f"$T^{{{low:.2f}}}$")
    axes.plot(left, constant_gains(left), color=GREEN, linestyle=(0, (1, 1.5)), label="constant λ")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1.0, 3e-3)
    axes.set_ylim(1e-6, 2.0)
    dress(axes, "error, as a share of the way", "time left T, as a share of the time there was")
    legend(axes)
    return save(figure, out, "arrival", ("png", "svg"))


def measured(rate: float | None = None) -> tuple[Floats, Floats]:
    """Swing an arm at a rate [Hz]; return the time left and the error, each as a share of what there was."""
    played = play("arm_swing_straight", rate=rate, record_hz=rate or 480.0)
    due, step = played.results[0].time, 1.0 / played.script.scene.physics_hz
    angles, time = np.radians(played.angles_deg(_JOINT)), played.take.time
    (dancer,) = played.take.cast.characters.values()
    goal = played.take.target[1, dancer.joints[_JOINT].qpos]
    on_the_way = (time > 0.0) & (time < due - 1.5 * step)
    share = np.abs((angles[on_the_way] - goal) / (angles[0] - goal))
    return 1.0 - time[on_the_way] / due, share


def slope(left: Floats, share: Floats) -> float:
    """Return the exponent of the error in the last fifth of the way, without the last few steps."""
    late = (left < 0.2) & (left > 0.02)
    return float(np.polyfit(np.log(left[late]), np.log(share[late]), 1)[0])


def constant_gains(left: Floats) -> Floats:
    """Return the error of a critically damped joint whose λ stays what it was at the start: 10 % remain."""
    turns = TIME_CONSTANTS * (1.0 - left)
    return np.asarray((1.0 + turns) * np.exp(-turns))
