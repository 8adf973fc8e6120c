"""Bodies of any number of joints, grown the way people are: a trunk, limbs on it, fingers and toes on those."""

from __future__ import annotations

from typing import Any, Final

import mujoco

_TRUNK, _HEAD, _LIMB, _FINGER = 3, 3, 7, 3
_LENGTH: Final = {"trunk": 0.2, "head": 0.1, "limb": 0.14, "finger": 0.03}  # [m] of a link
_AXES: Final = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def human_like(joints: int) -> mujoco.MjModel:
    """Return a model with so many hinges: a trunk of 3, up to four limbs of 7, a head of 3, then fingers of 3.

    No chain is longer than trunk, limb and finger together: 13 joints.

    Args:
        joints: How many hinges.
    """
    spec = mujoco.MjSpec()
    spec.option.timestep = 1.0 / 480.0
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    left = [joints]
    trunk = _chain(spec.worldbody, "trunk", _TRUNK, left)
    hands = []
    for _ in range(4):
        hands += _chain(trunk[-1], "limb", _LIMB, left)[-1:]
    _chain(trunk[-1], "head", _HEAD, left)
    finger = 0
    while left[0] > 0:
        _chain(hands[finger % len(hands)], "finger", _FINGER, left)
        finger += 1
    return spec.compile()


def _chain(root: Any, kind: str, count: int, left: list[int]) -> list[Any]:
    """Grow a chain of links on a body, as long as joints are left; return its bodies."""
    bodies, parent, length = [], root, _LENGTH[kind]
    for k in range(min(count, left[0])):
        parent = parent.add_body(pos=[0.0, 0.0, length])
        parent.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=_AXES[k % 3], armature=1e-3, damping=0.01)
        ends = [0.0, 0.0, 0.0, 0.0, 0.0, length]
        shape = mujoco.mjtGeom.mjGEOM_CAPSULE
        parent.add_geom(type=shape, fromto=ends, size=[0.3 * length, 0, 0], contype=0, conaffinity=0)
        bodies.append(parent)
        left[0] -= 1
    return bodies
