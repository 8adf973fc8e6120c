"""Columns of the antagonist program's rows and places in its table of the world: shared by Python and compiled code."""

from __future__ import annotations

from typing import Final

WIDTH: Final = 64
# What every step needs comes first, so that a joint costs few cache lines.
ACTIVE, MODE, START, END, RATE, WARP, KNOTS, COMPENSATE = range(8)
TENSION0, TENSION1, ANGLE0, ANGLE1, LOW, HIGH, RATIO, SHIFT = range(8, 16)
GAIN_LOW, GAIN_HIGH, ANGLE, FORCE, PROGRESS, FORCE0, FORCE1, SPAN = range(16, 24)
SLACK_LOW0, SLACK_LOW1, SLACK_HIGH0, SLACK_HIGH1, SLACKED, REST0, REST1, RAISED, ASKED = range(24, 33)
CURVE: Final = 33
SETTLED: Final = 52
BALL0, BALL1 = 54, 58

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
GRAVITY, PROPS, SOLES = 0, 4, 4 + 1 + 3 * MOST_PROPS
