"""Figures of P1's controller: a waist on smooth and on jumping trajectories, and steps of an elbow."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from papers.style import save, shown_degrees
from stunt.drive.paths.follower import Follower
from stunt.motion.trajectory import Trajectory
from stunt.record.plots import BLUE, GREEN, INK, ORANGE, PINK, SOFT, dress, page
from stunt.record.take import Floats
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

SETTLING: Final = {0.1: BLUE, 0.2: GREEN, 0.5: ORANGE, 1.0: PINK}
"""Settling times [s] and their colours."""
DAMPING: Final = {0.3: (ORANGE, "ζ = 0.3"), 1.0: (BLUE, "ζ = 1"), 2.5: (GREEN, "ζ = 2.5")}
"""Damping ratios, their colours and labels: under-, critically and overdamped."""
_HELD: Final = ("lumbar", "thorax", "neck")
_ARM: Final = ("shoulder_flexion", "shoulder_abduction", "shoulder_rotation", "elbow_flexion", "forearm_pronation",
               "wrist_flexion", "wrist_deviation")  # fmt: skip
_JUMPS: Final = ([0.0, 1.0, 3.0, 4.5], [0.0, 25.0, 5.0, 15.0])


def follow(
    joint: str,
    path: Trajectory,
    settling: float,
    seconds: float,
    *,
    arm: bool = False,
    bare: bool = False,
    damping: float = 1.0,
) -> tuple[Floats, Floats, Floats]:
    """Put a joint on a trajectory, hold spine and perhaps the right arm, and leave the rest passive.

    Args:
        joint: Which one.
        path: Its trajectory.
        settling: Settling time of all driven joints [s].
        seconds: How long.
        arm: Whether to hold the right arm, too.
        bare: Whether to use the paper's law as printed.
        damping: Damping ratio of the reference models.

    Returns:
        Times [s], the joint's angles and its reference model's [°], at 120 Hz.
    """
    stage = StageLoop(Scene(characters={"ada": CharacterSpec("human39", start={"r_shoulder_abduction": 0.5})}))
    follower = Follower(stage, "ada")
    held = {f"r_{name}" for name in _ARM} if arm else set()
    for name, about in follower.character.joints.items():
        if name == joint or name.split("_")[0] in _HELD or name in held:
            here = Trajectory.through([0.0], [float(stage.data.qpos[about.qpos])])
            follower.joint(name, path if name == joint else here, settling=settling, bare=bare, damping=damping)
    about, found = follower.character.joints[joint], []
    for _ in range(round(120 * seconds)):
        stage.advance(4)
        angles = stage.data.qpos[about.qpos], follower.program.model_position(about.id)
        found.append((stage.time, *np.degrees(angles)))
    time, angle, model = np.array(found).T
    return time, angle, model


def draw_smooth(out: Path) -> list[Path]:
    """Draw the waist on a smooth trajectory, for four settling times."""
    figure = page(5.4, "A smooth waist trajectory, arms passive", "How far the waist is from it, by settling time.")
    upper, lower = figure.add_axes((0.07, 0.50, 0.9, 0.30)), figure.add_axes((0.07, 0.11, 0.9, 0.30))
    wave = Trajectory.of(lambda t: np.radians(10.0) * (1.0 - np.cos(np.pi * t)))
    for settling, color in SETTLING.items():
        time, angle, _ = follow("lumbar_flexion", wave, settling, 6.0)
        off = 10.0 * (1.0 - np.cos(np.pi * time)) - angle
        upper.plot(time, angle, color=color, lw=1.2)
        rms = shown_degrees(float(np.sqrt(np.mean(off**2))))
        lower.plot(time, off, color=color, lw=1.2, label=f"{settling:g} s: {rms} RMS")
    upper.plot(time, 10.0 * (1.0 - np.cos(np.pi * time)), color=INK, lw=1.0, ls=":", label="trajectory")
    upper.legend(frameon=False, loc="upper right")
    low, high = lower.get_ylim()
    lower.set_ylim(low - 0.35 * (high - low), high)  # room for the legend
    lower.legend(frameon=False, ncols=4, loc="lower right")
    dress(upper, "lumbar flexion  [deg]", "")
    dress(lower, "error  [deg]")
    return save(figure, out, "p1-waist-smooth")


def draw_jumps(out: Path) -> list[Path]:
    """Draw the waist on a trajectory that jumps, for four settling times."""
    note = "The waist goes as its reference model does (dashed), unless, as at 0.1 s, its strength does not suffice."
    figure = page(4.4, "A discontinuous waist trajectory", note)
    axes = figure.add_axes((0.07, 0.13, 0.9, 0.66))
    path = Trajectory.through(_JUMPS[0], [float(np.radians(x)) for x in _JUMPS[1]], "step")
    for settling, color in SETTLING.items():
        time, angle, model = follow("lumbar_flexion", path, settling, 6.0)
        axes.plot(time, angle, color=color, lw=1.4, label=f"t_s = {settling:g} s")
        axes.plot(time, model, color=color, lw=0.8, ls="--")
    axes.step([*_JUMPS[0], 6.0], [*_JUMPS[1], _JUMPS[1][-1]], color=SOFT, lw=0.9, where="post", label="trajectory")
    axes.legend(frameon=False, ncols=5, loc="upper right")
    dress(axes, "lumbar flexion  [deg]")
    return save(figure, out, "p1-waist-jumps")


def draw_steps(out: Path) -> list[Path]:
    """Draw a step of the elbow: by settling time, by damping, and with the bare law."""
    note = "Left and middle: the adaptive law follows its reference model (dashed). Right: the paper's law as printed."
    figure = page(4.4, "A step of 20° at the elbow", note)
    path = Trajectory.through([0.0, 0.5], [0.0, float(np.radians(20.0))], "step")
    by_time = [(t, 1.0, color, f"t_s = {t:g} s") for t, color in SETTLING.items()]
    by_damping = [(0.5, ratio, color, label) for ratio, (color, label) in DAMPING.items()]
    middle = ("by damping, t_s = 0.5 s", by_damping, False)
    panels = (("critically damped", by_time, False), middle, ("bare", by_time, True))
    for k, (title, curves, bare) in enumerate(panels):
        axes = figure.add_axes((0.06 + 0.322 * k, 0.13, 0.28, 0.62))
        for settling, ratio, color, label in curves:
            time, angle, model = follow("r_elbow_flexion", path, settling, 3.0, arm=True, bare=bare, damping=ratio)
            axes.plot(time, angle, color=color, lw=1.4, label=label)
            axes.plot(time, model, color=color, lw=0.8, ls="--")
        axes.axhline(18.0, color=SOFT, lw=0.8, ls=":")
        axes.set_title(title, size=11, color=INK)
        if not bare:
            axes.legend(frameon=False, loc="lower right")
        dress(axes, "elbow flexion  [deg]" if k == 0 else "")
    return save(figure, out, "p1-steps")
