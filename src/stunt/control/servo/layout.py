"""World-space servo (P3): gains from inertia, and the layout of the memory its compiled part reads.

Every bone is pulled toward its orientation in the clip, lifted into the world through the clip's own frames from the
actual root: `f = k₁Δ + k₂(ω_d − ω)` with Δ and ω seen from the root. The torques are internal, `τ = Jᵀf` without the
root's rows, and solved implicitly: a bone's `S = h·k₂ + h²·k₁` joins the inertia of all joints between it and the root.
The paper's own form, torques from outside, is an option (`external`).

Strength. A joint over its limit gets a weight w < 1, and the servo sees the motion of that joint through it: bones are
seen turned by `Σ w·(turn of each joint on the way)`, and joint torques are `w·Jᵀf`. Whatever the weights, that is the
gradient of a spring: it stays passive and implicit, where cutting a torque off or dropping a reaction blows up.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.maths.pointers import ADDRESS, AddressTable, layout, record

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

_LONG, _FLOAT = np.int64, np.float64

ACTOR: Final = layout(
    # Who it is.
    ("root_body", _LONG),  # its first body
    ("end_body", _LONG),  # one past its last
    ("root_dof", _LONG),
    ("root_qpos", _LONG),
    ("dof0", _LONG),  # its joints' degrees of freedom: the first, and one past the last
    ("dof1", _LONG),
    ("jnt0", _LONG),  # its joints, likewise
    ("jnt1", _LONG),
    ("qpos0", _LONG),  # its joints' positions, likewise
    ("qpos1", _LONG),
    ("soles", _LONG),  # address of its soles' geoms
    ("sole_count", _LONG),
    # How it is driven.
    ("active", _LONG),  # whether it is driven at all
    ("mode", _LONG),  # WORLD, PARENT, BEAT or KINEMATIC
    ("external", _LONG),  # whether torques act from outside
    ("root_mode", _LONG),  # WEAK, HOOK or FREE
    ("limited", _LONG),  # whether its joints keep within their strength
    ("gain", _FLOAT),  # factor on all gains
    ("look", _FLOAT),  # seconds over which wanted velocities are measured
    ("ahead", _FLOAT),  # seconds the beat law looks ahead
    ("root_k1", _FLOAT),  # the root's spring [N·m/rad]
    ("root_k2", _FLOAT),  # and damper [N·m·s/rad]
    ("hook_k", _FLOAT),  # rate of a meat-hook [1/s]
    ("torque_limit", _FLOAT),  # of the root's spring [N·m]
    ("yaw_limit", _FLOAT),  # about the vertical [N·m]
    ("force_limit", _FLOAT),  # along the ground [N]
    ("break_angle", _FLOAT),  # tilt at which the root's spring lets go [rad]
    ("air", _FLOAT),  # factor on it while nothing is touched
    ("weight", _FLOAT),  # of the body [N]
    ("whole_mass", _FLOAT),  # likewise [kg]
    # What it follows.
    ("frames", _LONG),
    ("start", _FLOAT),  # when the first frame is due [s]
    ("fps", _FLOAT),
    ("rows", _LONG),  # address of the orientations
    ("absolute", _LONG),  # whether these are the clip's in the world, the actual root's turn and spin taken out of them
    ("roots", _LONG),  # address of the root's path
    ("friction", _LONG),  # address of the soles' friction
    ("row_torque", _LONG),  # address of the torques the motion takes, or 0
    ("legs", _LONG),  # address of the legs that steer
    ("leg_count", _LONG),
    ("swing", _LONG),  # address of how much they swing
    # The data it is put on: a lead of frames of its own, then the motion's.
    ("kin_rows", _LONG),  # address of the lead
    ("kin_frames", _LONG),
    ("kin_base", _LONG),  # address of the motion
    ("kin_base_frames", _LONG),
    ("kin_first", _LONG),  # frame of the motion that goes with the lead's first
    ("kin_loop", _LONG),  # whether it begins again
    ("kin_start", _FLOAT),  # [s]
    ("kin_fps", _FLOAT),
    ("kin_firm", _FLOAT),  # with how many times its inertia it pushes
    ("kin_at", _FLOAT, 3),  # where the motion is placed: x, y [m], heading [rad]
    ("kin_step", _FLOAT, 3),  # how far one round of it goes
    ("kin_rounds", _FLOAT),  # rounds so far
    # A stun: strength sinks, stays low, and comes back.
    ("stun_time", _FLOAT),  # when [s]; infinite: never
    ("stun_down", _FLOAT),  # [s]
    ("stun_hold", _FLOAT),  # [s]
    ("stun_up", _FLOAT),  # [s]
    ("stun_low", _FLOAT),  # share of strength
    # The root's help in the last step.
    ("torque", _FLOAT, 3),  # [N·m]
    ("force", _FLOAT, 3),  # [N]
    ("touching", _FLOAT),  # 1 where the body touches anything
    ("root_error", _FLOAT),  # tilt [rad]
    ("heading", _FLOAT),  # how far the root has to turn about the vertical to face as the clip does [rad]
    ("broken", _FLOAT),  # how long its spring has been broken [s]
    ("held_tilt", _FLOAT),  # how much of the help is left by its clamps, across the vertical, 0 to 1
    ("held_yaw", _FLOAT),  # and about it
    ("tilt_stiff", _FLOAT),  # the weak spring's part of the root's inertia in the external form [kg·m²]
    ("yaw_stiff", _FLOAT),  # likewise about the vertical
    # Meters.
    ("steps", _FLOAT),
    ("torque_sum", _FLOAT),  # over all steps [N·m]
    ("torque_peak", _FLOAT),
    ("force_sum", _FLOAT),  # [N]
    ("force_peak", _FLOAT),
    ("joint_steps", _FLOAT),  # steps, counted for every joint,
    ("over", _FLOAT),  # of these, over the joint's strength,
    ("worst", _FLOAT),  # and the largest share of a strength
    ("repeats", _FLOAT),  # how often a step was taken back; counted for all by the first actor
    ("tries", _FLOAT),  # how often weights were found anew
)
"""Somebody the servo drives."""
actor_at = record(ACTOR)

TABLE: Final = AddressTable(
    "Servo",
    (
        ("actors", ADDRESS),
        ("count", _LONG),
        # The engine's.
        ("xquat", _FLOAT),
        ("xmat", _FLOAT),
        ("xpos", _FLOAT),
        ("cvel", _FLOAT),
        ("qacc", _FLOAT),
        ("constraint", _FLOAT),  # contact forces of the last step
        ("parent", np.int32),
        ("sliding", _FLOAT),  # friction of the geoms
        # Of each body.
        ("k1", _FLOAT),  # spring [N·m/rad]
        ("k2", _FLOAT),  # damper [N·m·s/rad]
        ("stiff", _FLOAT),  # S = h·k₂ + h²·k₁ [kg·m²]
        ("sum", _FLOAT),  # of everything outboard
        ("seen", _FLOAT),  # error less the step's motion, and velocity error, 6
        ("lean", _FLOAT),  # the same through the weights, 6; then turns, 3
        ("force", _FLOAT),  # torque, 3
        ("weight", _FLOAT),  # through how much of its joint it is seen
        ("load", _FLOAT),  # of its joints, as a share of their strength
        ("steer", _FLOAT),  # how a leg is turned, 3
        ("leg", _LONG),  # thigh of the leg it belongs to; negative: of its foot; 0: none
        # Of each degree of freedom.
        ("joint", _FLOAT),  # torque before the step's motion
        ("torque", _FLOAT),  # and at its end
        ("feed", _FLOAT),  # what the motion itself takes
        ("flesh", _FLOAT),  # damping the engine leaves to the servo
        ("axis", _FLOAT),  # joint axis times the weight, 3
        ("acceleration", _FLOAT),  # foreseen
        ("right", _FLOAT),  # forces it is foreseen from
        ("pace", _FLOAT),  # velocity on the data
        ("owed", _FLOAT),  # impulse that contacts gave and data took away
        # Others.
        ("where", _FLOAT),  # position on the data
        ("inertia", _FLOAT),  # the body's own, in the engine's sparsity
        ("state", _FLOAT),  # of the engine before the step
        ("scratch", _FLOAT),
    ),
)
servo_at = TABLE.reader()


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
