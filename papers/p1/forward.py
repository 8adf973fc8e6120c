"""Forward dynamics against the number of joints: our bodies, then one of them with more and more fingers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import mujoco
import numpy as np

from papers.style import save
from stunt.character.bodies import make_body
from stunt.record.plots import BLUE, SOFT, dress, page

_BODIES: Final = (("torso28", 0), ("human39", 0), ("human47", 0), ("human47", 8), ("human47", 16), ("human47", 36))
"""Bodies, and how many fingers of three joints they are given on top."""
_HOLDERS: Final = ("l_hand", "r_hand", "l_foot", "r_foot")
_REPEATS, _ROUNDS = 50, 15


def fingered(body: str, fingers: int) -> mujoco.MjModel:
    """Return a body with so many more fingers, by turns on hands and feet."""
    spec = make_body(body)
    for finger in range(fingers):
        link = spec.body(_HOLDERS[finger % len(_HOLDERS)])
        for _ in range(3):
            link = link.add_body(pos=[0.0, 0.0, -0.03])
            link.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0], armature=1e-4)
            link.add_geom(size=[0.01, 0.0, 0.0], mass=0.02, contype=0, conaffinity=0)
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


def measure() -> dict[int, float]:
    """Return the median time of one forward dynamics [s] by number of joints; bodies take turns."""
    stages = [(model, mujoco.MjData(model)) for model in (fingered(*body) for body in _BODIES)]
    found: dict[int, list[float]] = {model.nv: [] for model, _ in stages}
    for _ in range(_ROUNDS + 1):  # the first warms up
        for model, data in stages:
            began = time.perf_counter()
            for _ in range(_REPEATS):
                mujoco.mj_forward(model, data)
            found[model.nv].append((time.perf_counter() - began) / _REPEATS)
    return {joints: float(np.median(seconds[1:])) for joints, seconds in found.items()}


def draw(out: Path) -> list[Path]:
    """Draw the time of forward dynamics against the number of joints."""
    seconds = measure()
    joints, micro = list(seconds), [1e6 * value for value in seconds.values()]
    slope, _ = np.polyfit(np.log(joints), np.log(micro), 1)
    note = f"Bodies of ours, then human47 with more fingers and toes: it grows with the power {slope:.2f}."
    figure = page(4.4, "Forward dynamics against joints", note)
    axes = figure.add_axes((0.07, 0.13, 0.9, 0.66))
    axes.loglog(joints, micro, "o-", color=BLUE, label="measured")
    axes.loglog(joints, [micro[0] * size / joints[0] for size in joints], color=SOFT, ls=":", label="proportional")
    axes.set_xticks(joints, [str(size) for size in joints])
    ticks = [tick for tick in (5, 10, 20, 50, 100, 200) if 0.7 * min(micro) < tick < 1.4 * max(micro)]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.legend(frameon=False)
    dress(axes, "one forward dynamics  [µs]", "joints")
    return save(figure, out, "p1-forward-dynamics")
