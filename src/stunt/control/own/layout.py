"""The memory of bodies on their own feet: settings, who they are, what they follow, what they are about to do."""

from __future__ import annotations

from typing import Final

import numpy as np

from stunt.control.own.solver import PROBLEM, RESULT
from stunt.maths.pointers import ADDRESS, AddressTable, layout, record

GRAVITY: Final = 9.81
FEET: Final = 2
POINTS: Final = 8
"""Most sole points of a foot."""
USED: Final = 4
"""Most of them that carry at a time: the others' forces would be redundant."""
MOST: Final = FEET * USED
PLANES: Final = 24
"""Most tangent planes added where torques are too long."""
SIDES: Final = 4
"""Of a friction pyramid."""
CENTRE: Final = 21
"""Columns of what the whole body does: centre of mass, its velocity and acceleration, angular momentum, its change,
zero-moment point, each foot's share of the pressure, and of all pressure to come, the sooner the more."""
POSE: Final = 16
"""Columns of what a foot does: place, turn, velocity, acceleration, spin."""
PLACE, PACE, SPIN, STEP, CLOCK, HEED, INPUTS = 0, 3, 6, 9, 13, 14, 15
"""Where each thing begins that a body is asked for beside its clip, and how many numbers that is: place [m] and
velocity [m/s] of the centre of mass, angular momentum [kg·m²/s], where each swinging foot lands [m, 2 × 2], how much
faster the clip's clock goes, how much more angular momentum counts (the logarithm). Along the stage's axes. Zeros are
the clip alone, bit for bit."""
ROLL: Final = 0.02
"""Of a foot's turn, how much the part counts that its leg has no joint for."""
TASK: Final = 20.0
"""Weight of a joint's own task where nobody says another: above any posture, below balance."""
FAILS: Final = 12
"""So many ticks in a row without a solution are the end."""

_LONG, _FLOAT = np.int64, np.float64

SETTINGS: Final[dict[str, float]] = {
    # Weights of the tasks.
    "w_arm": 1.0, "w_trunk": 2.0, "w_leg": 0.3, "w_swing_leg": 0.1, "w_air_leg": 0.6, "w_pelvis": 10.0,
    "w_air_pelvis": 3.0, "w_com": 300.0, "w_height": 150.0, "w_momentum": 0.01, "w_momentum_air": 0.1,
    "w_contact": 500.0, "w_foot": 30.0, "w_turn": 8.0, "stance_turn": 1.0, "w_force": 1e-4, "w_shear": 0.5,
    "w_twist": 0.5, "k_pull": 40.0, "w_torque": 2e-6, "w_down": 30.0,
    # Rates of their feedback [1/s].
    "k_joint": 18.0, "k_pelvis": 16.0, "k_com_p": 30.0, "k_com_d": 11.0, "k_height": 14.0, "k_momentum": 7.0,
    "k_foot": 25.0, "k_turn": 22.0, "k_contact": 30.0, "k_press": 30.0, "k_anchor": 20.0, "k_down": 25.0,
    # Contacts.
    "hardest": 400.0, "k_stop": 25.0, "near": 0.012, "sink": 0.001, "shrink": 0.8, "grip": 0.95, "anchor_slip": 0.05,
    # Steps.
    "clear": 0.03, "reach_down": 0.02, "early": 0.06, "early_air": 0.2, "step_gain": 1.0, "step_ahead": 0.25,
    "back": 0.02, "most_shift": 0.9, "follow": 0.04,
    # The clock.
    "clock": 3.0, "clock_most": 0.35, "clock_slow": 0.15, "hurry": 0.07,
    # What the body's own limbs push its arms and trunk by: felt over so long, at most such a share of their strength.
    "feels": 0.08, "push_most": 0.5,
    # Recovery steps.
    "capture": 1.0, "margin": 0.04, "off": 0.08, "trigger": 0.05, "rest": 0.6, "misses": 0.15, "arrives": 0.05,
    "over_toes": 0.01,
}  # fmt: skip
"""One setting for all clips and bodies: a grown-up's of `GROWN` kilograms, see `settings_of`."""
GROWN: Final = 66.0
"""Mass of the body that the setting was written for [kg]; its legs are `GROWN_LEG` long."""
GROWN_LEG: Final = 0.9
"""Length of a grown-up's leg, from the hip joint to the ground [m]."""
_UNITS: Final[dict[tuple[float, float, float], str]] = {
    (0.0, 2.0, 0.0): "w_arm w_trunk w_leg w_swing_leg w_air_leg w_pelvis w_air_pelvis w_turn",
    (-2.0, -2.0, 0.0): "w_momentum w_momentum_air w_torque",
    (0.0, 0.0, -1.0): "k_joint k_pelvis k_com_d k_height k_momentum k_foot k_turn k_contact k_press k_anchor k_down "
    "k_stop clock",
    (0.0, 0.0, -2.0): "k_com_p k_pull hardest",
    (0.0, 1.0, 0.0): "near sink anchor_slip clear reach_down back most_shift hurry margin off misses arrives over_toes",
    (0.0, 0.0, 1.0): "early early_air step_ahead follow feels trigger rest",
    (0.0, 2.0, -2.0): "clock_slow",
}
"""Powers of mass, length and time in the settings' units; those that are not named have none.

Weights are such that a square of any task is as much as one of an acceleration [m/s²], which gravity gives to all."""


def settings_of(mass: float, scale: float) -> tuple[float, ...]:
    """Return the setting for a body, in the order of `GAINS`, by dynamic similarity.

    A body of the same shape and another size, under the same gravity, moves alike when its times are as the square
    root of its lengths: whatever has a unit is scaled with it.

    Args:
        mass: Of the body [kg].
        scale: Length of its legs, as a share of a grown-up's.
    """
    powers = {name: power for power, names in _UNITS.items() for name in names.split()}
    factor = {name: (mass / GROWN) ** m * scale ** (x + 0.5 * t) for name, (m, x, t) in powers.items()}
    return tuple(value * factor.get(name, 1.0) for name, value in SETTINGS.items())


GAINS: Final = layout(*((name, _FLOAT) for name in SETTINGS))

ACTOR: Final = layout(
    # Who it is.
    ("active", _LONG),
    ("helped", _LONG),  # whether its root is held from outside too
    ("root_body", _LONG),
    ("root_dof", _LONG),  # its first degree of freedom
    ("root_qpos", _LONG),
    ("nv", _LONG),  # degrees of freedom with the root's six
    ("nq", _LONG),
    ("joints", _LONG),  # address of (number of dofs, qpos, dof), counted from the root's; joint_count of them
    ("joint_count", _LONG),
    ("weights", _LONG),  # address of the posture's weights, of each joint's degree of freedom
    ("leg_of", _LONG),  # address of the foot whose leg each degree of freedom belongs to, or −1
    ("foot_body", _LONG, FEET),
    ("hip_body", _LONG, FEET),
    ("point_count", _LONG, FEET),
    ("point_owner", _LONG, FEET * POINTS),
    ("point_at", _FLOAT, FEET * POINTS * 3),
    ("point_front", _FLOAT, FEET * POINTS),  # 1 where a point is in the front of its sole
    ("leg_long", _FLOAT, FEET),  # from the hip's joint to the foot's frame, stretched [m]
    ("roll_axis", _FLOAT, FEET * 3),  # in a foot's frame, about which its leg cannot turn it; zeros: it can
    ("ankle_rest", _FLOAT, FEET),  # height of a standing foot's frame above the ground [m]
    ("front_axis", _LONG),  # axis of the root's frame that points ahead
    ("front_sign", _FLOAT),
    ("side_sign", _FLOAT),  # 1 where the first foot is to the left
    ("mass", _FLOAT),
    ("scale", _FLOAT),  # length of its legs, as a share of a grown-up's
    ("tempo", _FLOAT),  # by which its times are longer: the square root of that
    ("friction", _FLOAT),
    ("floor", _FLOAT),  # height of the ground [m]
    # What it follows.
    ("frames", _LONG),
    ("fps", _FLOAT),
    ("poses", _LONG),
    ("velocities", _LONG),
    ("accelerations", _LONG),
    ("centre", _LONG),
    ("feet", _LONG),
    ("phases", _LONG),  # address of (stands, begin, end [s]), for each frame and foot
    ("carries", _LONG),
    ("flight", _LONG),  # address of (begin, end [s]) of the flight a frame is in or before; infinite: none
    ("free_clock", _LONG),  # whether the clip's clock may give
    ("inputs", _FLOAT, INPUTS),  # what is asked beside the clip
    ("stride", _LONG),  # control steps from one tick to the next
    ("wait", _LONG),  # control steps until the next tick
    # Where it is.
    ("clip_time", _FLOAT),  # the clip's time [s]
    ("rate", _FLOAT),  # of its clock
    ("off", _FLOAT, 4),  # where each foot is, or goes, from where the clip has it [m]
    ("sole_off", _FLOAT, 4),  # and the middle of its sole, where the clip turns it otherwise
    ("off_from", _FLOAT, 4),
    ("off_to", _FLOAT, 4),
    ("off_last", _FLOAT, 4),
    ("press_off", _FLOAT, 2),  # and the pressure under those that stand
    ("ahead_off", _FLOAT, 2),  # and the capture point, for the pressure to come
    ("com_off", _FLOAT, 2),  # and the centre of mass
    ("com_pace", _FLOAT, 2),  # how fast that changes [m/s]
    ("com_push", _FLOAT, 2),  # [m/s²]
    ("was", _LONG, FEET),  # whether it stood
    ("anchored", _LONG, FEET * POINTS),
    ("anchor", _FLOAT, FEET * POINTS * 2),
    ("step_on", _LONG, FEET),  # whether a recovery step is under way
    ("step_time", _FLOAT, FEET),  # since when [s]
    ("step_length", _FLOAT, FEET),  # how long it takes [s]
    ("step_from", _FLOAT, 6),
    ("step_to", _FLOAT, 6),
    ("step_turn", _FLOAT, 8),
    ("locked", _LONG, FEET),  # put down against the clip: it stands until the clip stands
    ("cool", _FLOAT),  # seconds until the next recovery step may begin
    ("calm", _FLOAT),  # seconds since the last one, counted down
    ("paused", _LONG),
    ("halted", _LONG),  # whether a clip that goes somewhere was stopped for them: 1, and 2 while it starts again
    ("open", _LONG),  # whether a recovery step has left feet where the clip does not have them
    ("closing", _LONG),  # foot that is about to be brought back, from 1 on
    ("shifts", _FLOAT),  # for how long weight has been going off it [s]
    ("settle", _FLOAT),  # seconds until it is between the feet again
    ("drop", _FLOAT),  # how much lower the body goes for it [m]
    ("capture", _FLOAT, 2),  # capture point in the tick before [m]
    ("capture_pace", _FLOAT, 2),
    ("ticked", _LONG),  # whether there was one
    # What it found.
    ("stance", _LONG, FEET),  # stands and is down
    ("planned", _LONG, FEET),
    ("held", _LONG, FEET),  # kept flat, though the clip rolls it over its toes: the body is not so far
    ("left", _FLOAT, FEET),  # of this phase [s]
    ("length", _FLOAT, FEET),
    ("since", _FLOAT, FEET),
    ("touch", _LONG, FEET),
    ("points", _LONG),  # that carry
    ("hovers", _LONG),  # that should, and are in the air
    ("inside", _FLOAT),  # how far the capture point is inside the support [m]
    ("error", _FLOAT, 2),  # of the capture point [m]
    ("steps", _LONG),  # recovery steps so far
    ("closings", _LONG),  # steps that closed the feet after them
    ("failed", _LONG),  # ticks in a row without a solution
    ("fails", _LONG),  # in all
    ("ticks", _LONG),
    ("resolves", _LONG),  # programmes solved again for a torque that was too long
    ("cut", _LONG),  # torques shortened after all
    ("worst", _FLOAT),  # longest torque over a strength
    ("over", _FLOAT),
    ("joint_ticks", _FLOAT),
    ("outside", _FLOAT),  # largest force or torque on the root by control, ever: must be zero
    ("late", _FLOAT),  # seconds the clip's clock is behind
    ("doomed", _FLOAT),  # seconds for which nothing has been able to save it
    ("why", _LONG),  # why it is doomed
)
"""Somebody on their own feet."""
actor_at = record(ACTOR)
gains_at = record(GAINS)

TABLE: Final = AddressTable(
    "OwnFeet",
    (
        ("actors", ADDRESS),
        ("count", _LONG),
        ("gains", ADDRESS),  # each actor's
        # The engine's.
        ("xpos", _FLOAT),
        ("xquat", _FLOAT),
        ("xmat", _FLOAT),
        ("com", _FLOAT),
        ("com_velocity", _FLOAT),
        ("momentum", _FLOAT),
        ("ncon", np.int32),
        ("contacts", _LONG),
        ("geom_body", np.int32),
        ("body_parent", np.int32),
        ("body_dof", np.int32),  # of each body: its first degree of freedom, and how many
        ("body_dofs", np.int32),
        ("geom_actor", _LONG),  # of each geom: number of the actor whose it is, from 1 on
        # Of the tick.
        ("tau", _FLOAT),  # torques, held until the next tick
        ("task_weight", _FLOAT),  # of each degree of freedom: above 0 it has a task of its own instead of the clip's
        ("task_urge", _FLOAT),  # the acceleration that asks for [rad/s², m/s²]
        ("share", _FLOAT),  # of each degree of freedom: of its posture's gains
        ("turned", _FLOAT),  # of each degree of freedom: how far from the clip's posture it should be [rad]
        ("told", _FLOAT),  # the acceleration each degree of freedom was to have [rad/s²]
        ("went", _FLOAT),  # its velocity when that was told [rad/s]
        ("pushed", _FLOAT),  # what parts of its body that touch push it by, felt over a while [N·m]
        ("between", _LONG),  # 1 for those between two parts of their body that touch
        ("linear", _FLOAT),  # Jacobians of a point
        ("angular", _FLOAT),
        ("linear_dot", _FLOAT),
        ("angular_dot", _FLOAT),
        ("inertia", _FLOAT),  # of the body, dense
        ("bias", _FLOAT),
        ("root", _FLOAT),  # inverse of the root's block
        ("where", _FLOAT),  # points that carry, 3
        ("hold", _FLOAT),  # accelerations they should have, 3
        ("jacobian", _FLOAT),  # of the points that carry
        ("owner", _LONG),
        ("hover", _LONG),  # points that should carry and do not
        ("forces", _FLOAT),  # generators: Jᵀ·(edges of the pyramids)
        ("mover", _FLOAT),  # accelerations of the root from what is solved for
        ("still", _FLOAT),  # and without it
        ("row", _FLOAT),
        ("goal", _FLOAT),  # pose, 1
        ("pace", _FLOAT),
        ("urge", _FLOAT),
        ("middle", _FLOAT),  # whole body
        ("foot", _FLOAT),  # feet
        ("error", _FLOAT),
        ("soles", _FLOAT),  # all points of the feet, 3
        ("flat", _FLOAT),  # points over the ground, 2
        ("hull", _FLOAT),  # their outline, 2
        ("spot", _FLOAT),
        ("step", _FLOAT),  # feet, pressure, facing and capture point of a step that is weighed, and where it goes, 3
        ("scratch", _FLOAT),
        # The programme.
        ("problem", PROBLEM),
        ("result", RESULT),
        ("problem_at", _LONG),  # their addresses
        ("result_at", _LONG),
        ("hessian", _FLOAT),
        ("linear_term", _FLOAT),
        ("limits", _FLOAT),
        ("upper", _FLOAT),
        ("lower", _FLOAT),
        ("sense", np.int32),
        ("x", _FLOAT),
        ("multipliers", _FLOAT),
    ),
)
own_at = TABLE.reader()

TIPPED, SUNK, LOST = 1, 2, 3
WHY: Final = {
    TIPPED: "it tips over farther than a step can catch",
    SUNK: "its hips are too far from where the clip has them",
    LOST: "no torques within its strength were found",
}
"""Why a body on its own feet gives up."""
