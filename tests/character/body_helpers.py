"""What the tests of this room share."""

from __future__ import annotations

from pathlib import Path

import mujoco

MODELS = Path(__file__).parent / "models"


def posed(spec: mujoco.MjSpec, **angles: float) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Compile a body and put the named joints at angles [rad]."""
    model = spec.compile()
    data = mujoco.MjData(model)
    for name, angle in angles.items():
        data.qpos[model.joint(name).qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    return model, data


def touching(model: mujoco.MjModel, data: mujoco.MjData) -> set[tuple[str, str]]:
    """Pairs of body names in contact."""
    pairs = set()
    for first, second in zip(data.contact.geom1, data.contact.geom2, strict=True):
        names = (model.body(model.geom_bodyid[first]).name, model.body(model.geom_bodyid[second]).name)
        pairs.add((min(names), max(names)))
    return pairs


def place(model: mujoco.MjModel, data: mujoco.MjData, point: str):
    """Position of a site or body [m], (3,)."""
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, point)
    return data.site_xpos[site].copy() if site >= 0 else data.body(point).xpos.copy()
