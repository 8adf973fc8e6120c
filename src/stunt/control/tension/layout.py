"""What the antagonistic actuators remember: records shared by Python and compiled code."""

from __future__ import annotations

from typing import Final

import numpy as np

from stunt.maths.pointers import ADDRESS, AddressTable, layout, record
from stunt.motion.transition import MOST_KNOTS

SAMPLING: Final = 0
"""Gains from the external torque of this moment."""
LINE: Final = 1
"""Predicted: a straight line between the start and end gains; slope −1 where the tension stays the same."""
ISOANGLE: Final = 2
"""Predicted: on the isoangle line of each moment's angle, at each moment's tension."""

HAND_OVER: Final = 0.15
"""Seconds over which the torque a joint had under one law fades into that of another."""
MARGIN: Final = 0.5
"""How far past a joint's limits its springs are anchored [rad or, for slides, of the range]."""
MOST_PROPS: Final = 16
MOST_SOLES: Final = 8

# What every step needs comes first, so that a joint costs few cache lines.
ROW: Final = layout(
    ("active", np.int64),  # whether the joint is under tension
    ("mode", np.int64),  # SAMPLING, LINE or ISOANGLE
    ("settled", np.int64),  # whether its gains do not change any more
    ("start", np.float64),  # of its transition [s]
    ("end", np.float64),
    ("rate", np.float64),  # 1/(end − start) [1/s]
    ("warp", np.float64),  # of its curve,
    ("knots", np.int64),  # and how many it has
    ("compensate", np.float64),  # 1 where the external torque is held against, else 0
    ("tension0", np.float64),  # at the start [N·m/rad]
    ("tension1", np.float64),  # at the end
    ("angle0", np.float64),  # likewise [rad]
    ("angle1", np.float64),
    ("low", np.float64),  # set-points of its springs [rad]
    ("high", np.float64),
    ("span", np.float64),  # 1/(high − low)
    ("ratio", np.float64),  # damping ratio
    ("shift", np.float64),  # added to the angle asked for [rad]
    ("gain_low", np.float64),  # the springs in force [N·m/rad]
    ("gain_high", np.float64),
    ("angle", np.float64),  # what they are for: angle [rad],
    ("force", np.float64),  # external torque [N·m],
    ("progress", np.float64),  # and progress of the transition
    ("force0", np.float64),  # external torque at the start [N·m]
    ("force1", np.float64),  # at the end
    ("rest0", np.float64),  # where the springs alone would rest at the start [rad]
    ("rest1", np.float64),  # at the end
    ("slacked", np.int64),  # whether one spring is tightened or slackened alone:
    ("slack_low0", np.float64),  # by which factor, at the start
    ("slack_low1", np.float64),  # and at the end
    ("slack_high0", np.float64),
    ("slack_high1", np.float64),
    ("raised", np.float64),  # tension that was used where more was needed than asked for, 0: none [N·m/rad]
    ("asked", np.float64),  # what was asked for then
    ("curve", np.float64, 3 * MOST_KNOTS),  # time, progress and slope of each knot
    ("ball0", np.float64, 4),  # orientation of a ball joint at the start
    ("ball1", np.float64, 4),  # at the end
)
"""A degree of freedom; a joint's transition is in the row of its first one."""

WORLD: Final = layout(("gravity", np.float64, 3), ("props", np.int64), ("soles", np.int64))
"""Gravity [m/s²], how many props can be held, and how many soles carry the body."""
PROP: Final = layout(("grip", np.int64), ("body", np.int64), ("mass", np.float64))
"""A prop that can be held: its weld, its body and its believed mass [kg]."""
SOLE: Final = layout(("body", np.int64), ("force", np.float64, 3), ("point", np.float64, 3))
"""What carries the body: the force [N] on one of its bodies and where it acts [m], in the world."""
SCRATCH: Final = layout(("turn", np.float64, 4), ("error", np.float64, 3))

row_at, prop_at, sole_at = record(ROW), record(PROP), record(SOLE)

TABLE: Final = AddressTable(
    "Tension",
    (
        ("rows", ADDRESS),
        ("world", WORLD),
        ("props", ADDRESS),
        ("soles", ADDRESS),
        ("external", np.float64),
        ("carried", np.float64),
        ("last_law", np.int64),
        ("hand_start", np.float64),
        ("hand_torque", np.float64),
        ("fading_until", np.float64),
        ("scratch", SCRATCH),
        ("last_dof", np.int64),
        ("eq_active", np.uint8),
        ("eq_body", np.int32),
        ("com", np.float64),
    ),
)
