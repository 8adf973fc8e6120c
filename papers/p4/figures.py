"""The figures of P4, on tension and relaxation, from fresh runs: `stunt figures p4 --out DIR`."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.drawing import Progress, draw_all
from papers.style import save
from stunt.control.tension.units import Tension
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import EVERY, ByJoint, TensionPart
from stunt.motion.pose import Pose
from stunt.motion.transition import PRESETS
from stunt.record.plots import BLUE, GREEN, ORANGE, SOFT, dress, page
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

_LIMB = """<mujoco model="limb"><compiler angle="radian"/><worldbody><body name="base" pos="0 0 1">
<geom size=".02" contype="0" conaffinity="0"/><body name="limb">
<joint name="hinge" axis="0 -1 0" range="-2.6 2.6" limited="true"/>
<inertial pos=".3 0 0" mass="5" diaginertia=".002 .15 .15"/>
<geom type="capsule" fromto="0 0 0 .6 0 0" size=".03" mass="0" contype="0" conaffinity="0"/>
</body></body></worldbody></mujoco>"""
"""The paper's example: 5 kg, 60 cm, at one end a hinge."""
_WEIGHT = 5.0 * 9.81 * 0.3
_HZ = 240
Floats = NDArray[np.float64]


def make(out: Path, progress: Progress | None = None) -> list[Path]:
    """Draw figures 2, 3 and 4 into a folder."""
    return draw_all((_instability, _warping, _gains), out, progress)


def limb_motion(start: float, end: float, first: float, last: float, path: str, ratio: float = 0.7) -> Floats:
    """Return the limb's angle through a transition of 1 s and one second more [deg], at 240 Hz.

    Args:
        start: Angle at the start [deg].
        end: Angle at the end [deg].
        first: Tension at the start [N·m/rad].
        last: Tension at the end [N·m/rad].
        path: The way in gain space.
        ratio: Damping ratio.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "limb.xml"
        file.write_text(_LIMB, encoding="utf-8")
        limb = CharacterSpec(body=str(file), start={"hinge": math.radians(start)})
        stage = StageLoop(Scene(characters={"limb": limb}, ground=False))
    held = TensionPart(ByJoint({EVERY: Tension(first, "stiffness")}), ByJoint({EVERY: ratio}))
    options: dict[str, Any] = {"path": path}
    performer = TensionPerformer(stage, "limb", held)
    performer.play(
        Pose.degrees("end", hinge=end), lasts=1.0, tension=Tension(last, "stiffness"), curve=PRESETS["ease"], **options
    )
    angles = []
    for _ in range(2 * _HZ):
        angles.append(math.degrees(stage.data.qpos[0]))
        stage.step(1.0 / _HZ)
    return np.array(angles)


def _instability(out: Path) -> list[Path]:
    """Figure 2: net torque against angle for a high and a low gain; where it crosses zero the limb can rest."""
    figure = page(4.4, "Low tension has more than one place to rest", "A limb standing up: three crossings when loose.")
    axes = figure.add_axes((0.07, 0.14, 0.9, 0.62))
    angle = np.radians(np.linspace(-180, 180, 400))
    for gain, color in ((5.0, ORANGE), (30.0, BLUE)):
        torque = -gain * angle + _WEIGHT * np.sin(angle)
        axes.plot(np.degrees(angle), torque, color=color, label=f"K = {gain:g} N·m/rad")
    axes.axhline(0.0, color=SOFT, lw=0.8)
    axes.legend(frameon=False)
    dress(axes, "net torque  [N·m]", f"angle from upright  [deg]     (stable from {_WEIGHT:.1f} N·m/rad on)")
    return save(figure, out, "p4-fig2-instability")


def _warping(out: Path) -> list[Path]:
    """Figure 3: a change of tension along a straight line in gain space warps the motion."""
    figure = page(4.4, "Tension that changes on the way warps the motion", "The curve is the same ease in and out.")
    axes = figure.add_axes((0.07, 0.14, 0.9, 0.62))
    time = np.arange(2 * _HZ) / _HZ
    for label, first, last, color in (
        ("tight to loose: starts slow, ends fast", 2000.0, 100.0, ORANGE),
        ("constant", 2000.0, 2000.0, SOFT),
        ("loose to tight: starts fast, ends slow", 100.0, 2000.0, BLUE),
    ):
        axes.plot(time, limb_motion(-60, 30, first, last, "line"), color=color, label=label)
    axes.legend(frameon=False)
    dress(axes, "angle  [deg]")
    return save(figure, out, "p4-fig3-warp")


def _gains(out: Path) -> list[Path]:
    """Figure 4: up and down, tight and loose."""
    note = "Loose lags at first and overshoots; gravity makes it lead on the way down and trail all the way up."
    figure = page(4.4, "Momentum and weight show when gains are low", note)
    for k, (start, end, title) in enumerate(((60, -60, "down"), (-60, 60, "up"))):
        axes = figure.add_axes((0.07 + 0.48 * k, 0.14, 0.42, 0.6))
        time = np.arange(2 * _HZ) / _HZ
        axes.plot(time, limb_motion(start, end, 3000.0, 3000.0, "constant", 0.2), color=BLUE, label="K = 3000")
        axes.plot(time, limb_motion(start, end, 60.0, 60.0, "constant", 0.2), color=ORANGE, label="K = 60")
        whole = PRESETS["ease"].at(time) * (end - start) + start
        axes.plot(time, whole, color=GREEN, lw=0.8, ls=":", label="curve")
        axes.set_title(title)
        axes.legend(frameon=False)
        dress(axes, "angle  [deg]")
    return save(figure, out, "p4-fig4-gains")
