"""World-space servo (P3): gains from inertia, and the layout of the memory its compiled part reads.

Every bone is pulled toward its orientation in the clip, lifted into the world through the clip's own frames from the
actual root: `f = k₁Δ + k₂(ω_d − ω)` with Δ and ω seen from the root. The torques are internal, `τ = Jᵀf` without the
root's rows, and solved implicitly: a bone's `S = h·k₂ + h²·k₁` joins the inertia of all joints between it and the root.
The paper's own form, torques from outside, is an option (`worldspace_external`).

Strength. A joint over its limit gets a weight w < 1, and the servo sees the motion of that joint through it: bones are
seen turned by `Σ w·(turn of each joint on the way)`, and joint torques are `w·Jᵀf`. Whatever the weights, that is the
gradient of a spring: it stays passive and implicit, where cutting a torque off or dropping a reaction blows up.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

OMEGA: Final = 40.0
"""Natural frequency of the bone servos [1/s]."""
FLOORS: Final = {"leg": 0.5, "arm": 0.1, "trunk": 0.0}
"""Least moment of inertia the gains scale by, in body mass × length² of the bone."""

WORLD, PARENT, BEAT, KINEMATIC = 0, 1, 2, 3
"""Modes of an actor: world space, parent space, the beat law (joint by joint, looking ahead), or put on data."""
WEAK, HOOK, FREE = 0, 1, 2
"""Root: weak spring, meat-hook, nothing."""
YAW_PART: Final = 0.3
"""The root's gains about the vertical, as a share of those across it: a body is tall."""

# Integers of an actor.
ROOT_BODY, END_BODY, ROOT_DOF, ROOT_QPOS, DOF0, DOF1, JNT0, JNT1 = range(8)
MODE, EXTERNAL, ROOT_MODE, LIMITED, FRAMES, ROWS, ROOTS, SOLES, SOLE_COUNT, FRICTION = range(8, 18)
QPOS0, QPOS1, ACTIVE, KIN_ROWS, KIN_FRAMES, ROW_TORQUE = range(18, 24)
KIN_BASE, KIN_BASE_FRAMES, KIN_FIRST, KIN_LOOP = range(24, 28)
LEGS, LEG_COUNT, SWING = 28, 29, 30
ABSOLUTE: Final = 31
"""Whether the rows are the clip's orientations in the world, the actual root's turn and spin taken out of them."""
INTS: Final = 32

# Numbers of an actor.
START, FPS, LOOK, ROOT_K1, ROOT_K2, TORQUE_LIMIT, BREAK_ANGLE, AIR, YAW_LIMIT, FORCE_LIMIT, WEIGHT, GAIN = range(12)
STUN_TIME, STUN_DOWN, STUN_HOLD, STUN_UP, STUN_LOW = range(12, 17)
BROKEN, TORQUE_SUM, TORQUE_PEAK, FORCE_SUM, FORCE_PEAK, STEPS, TOUCHING, ROOT_ERROR = range(17, 25)
TORQUE, FORCE = 25, 28  # three each, as of the last step
OVER, JOINT_STEPS, WORST, REPEATS, HOOK_K, WHOLE_MASS = range(31, 37)
AHEAD: Final = 37
"""Seconds an actor under the beat law looks ahead."""
KIN_START, KIN_FPS, KIN_FIRM = 38, 39, 40
TRIES: Final = 41
"""How often weights were found anew, beside `REPEATS`: how often a step was taken back."""
KIN_AT, KIN_STEP, KIN_ROUNDS = 42, 45, 48
"""Where data on which an actor goes on is placed (x, y, heading), how far one round of it goes, and rounds so far."""
HEADING: Final = 49
"""How far the root has to turn about the vertical to face as the clip does [rad]."""
HELD_TILT, HELD_YAW, TILT_STIFF, YAW_STIFF = range(50, 54)
"""How much of the root's help is left by its clamps, across the vertical and about it, 0 to 1; and the weak spring's
part of the root's inertia in the external form, likewise [kg·m²]."""
NUMBERS: Final = 54

# Table of addresses.
(
    T_ACTORS, T_INTS, T_NUMBERS, T_XQUAT, T_CVEL, T_QACC, T_CONSTRAINT, T_PARENT, T_K1, T_K2, T_SUM, T_SEEN, T_LEAN,
    T_FORCE, T_JOINT, T_WEIGHT, T_TORQUE, T_ACCELERATION, T_RIGHT, T_INERTIA, T_STATE, T_SLIDING,
    T_SCRATCH, T_WHERE, T_PACE, T_OWED, T_FEED, T_LOAD, T_STIFF, T_FLESH, T_AXIS, T_XMAT, T_XPOS,
    T_STEER, T_LEG, T_SMOOTH,
) = range(36)  # fmt: skip
TABLE: Final = 36


def part_of(name: str) -> str:
    """Return whether a body belongs to a `leg`, an `arm` or the `trunk`, by its name."""
    plain = name.split("/")[-1].lower()
    if any(word in plain for word in ("thigh", "shank", "foot", "toe", "leg")):
        return "leg"
    if any(word in plain for word in ("arm", "hand", "clavicle", "shoulder", "wrist")):
        return "arm"
    return "trunk"


def bone_moments(model: mujoco.MjModel, root: int, end: int) -> Floats:
    """Return the moment of inertia each bone's gains scale by [kg·m²], (nbody,); 0 outside the character.

    A segment about its own joint plus what hangs on it as point masses, floored: a foot alone weighs little, but it
    turns the person above it.

    Args:
        model: The compiled scene.
        root: First body of the character.
        end: One past its last.
    """
    moments = np.zeros(model.nbody)
    total = float(model.body_subtreemass[root])
    for body in range(root + 1, end):
        children = [k for k in range(body + 1, end) if model.body_parentid[k] == body]
        own = float(model.body_inertia[body].max() + model.body_mass[body] * (model.body_ipos[body] ** 2).sum())
        carried = sum(float(model.body_subtreemass[k] * (model.body_pos[k] ** 2).sum()) for k in children)
        reach = [float(np.linalg.norm(model.body_pos[k])) for k in children]
        length = max([*reach, 2.0 * float(np.linalg.norm(model.body_ipos[body]))])
        moments[body] = max(own + carried, FLOORS[part_of(model.body(body).name)] * total * length**2)
    return moments


def summed(model: mujoco.MjModel, root: int, end: int, values: Floats) -> Floats:
    """Return each body's value plus those of everything outboard of it, (nbody,)."""
    result = values.copy()
    for body in range(end - 1, root + 1, -1):
        parent = int(model.body_parentid[body])
        if parent > root:
            result[parent] += result[body]
    return result


def whole_moment(model: mujoco.MjModel, data: mujoco.MjData, root: int, end: int) -> float:
    """Return about the whole body's moment of inertia about its root, across the vertical [kg·m²]."""
    arms = ((data.xipos[root:end] - data.xpos[root]) ** 2).sum(axis=1)
    spread = float((model.body_mass[root:end] * arms).sum() + model.body_inertia[root:end].max(axis=1).sum())
    return 0.7 * spread  # the mean over two axes across, of a body that is mostly tall
