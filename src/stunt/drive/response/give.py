"""Give and return are two knobs: how far a held joint gives to a blow, beside how fast it comes back.

A held joint is a critically damped pull of time constant λ toward its pose (`stunt.control.beat.law.approach`). A blow
that leaves it at a velocity v₀ takes it v₀·λ/e away, and from there it is back to a tenth after n·λ: one number says
both. Here they are two: from the blow until it stands still, λ is what makes it give as much as was asked for; then it
is that of the return. The blow's own length and the control period are counted.
"""

from __future__ import annotations

import math
from typing import Final

from stunt.control.beat.law import approach

_LONGEST: Final = 4.0
"""A joint stands still within so long after a blow, however much it gives [s]."""
_HALVINGS: Final = 40


def way_out(time_constant: float, step: float, steps_per_control: int, blow: int, most: float) -> tuple[float, int]:
    """Return how far a joint goes that a blow gives a velocity of 1 in all, and after how many physics steps it stands.

    Args:
        time_constant: λ of its pull [s].
        step: A physics step [s].
        steps_per_control: How many of them control holds its torque.
        blow: How many of them the blow takes.
        most: Further than this it need not be followed.
    """
    where = speed = asked = 0.0
    period = step * steps_per_control
    for tick in range(round(_LONGEST / step)):
        if tick % steps_per_control == 0:
            asked = approach(-where, -speed, time_constant, period)
        speed += step * asked + (1.0 / blow if tick < blow else 0.0)
        if (speed <= 0.0 and tick >= blow) or where > most:
            return where, tick
        where += step * speed
    return where, round(_LONGEST / step)


def give_of(wanted: float, step: float, steps_per_control: int, blow: int) -> tuple[float, int]:
    """Return the λ [s] under which a joint gives so much to a blow, and after how many physics steps it stands still.

    Where no λ gives so little (it is through before control can act), the shortest.

    Args:
        wanted: How far it gives, over the velocity the blow gives it [rad / (rad/s)].
        step: A physics step [s].
        steps_per_control: How many of them control holds its torque.
        blow: How many of them the blow takes.
    """
    low, high = math.log(0.25 * step * steps_per_control), math.log(max(_LONGEST, 4.0 * wanted))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if way_out(math.exp(middle), step, steps_per_control, blow, wanted)[0] > wanted:
            high = middle
        else:
            low = middle
    return math.exp(low), way_out(math.exp(low), step, steps_per_control, blow, math.inf)[1]


def stopping_constant(away: float, outward: float, short: float, long: float, period: float) -> float | None:
    """Return the λ [s] under which a joint stands still a control period from now; None: under a short one it goes on.

    Args:
        away: How far it is from its pose [rad].
        outward: How fast it goes away from it [rad/s].
        short: The λ with which it gives [s].
        long: That with which it comes back [s].
        period: A control period [s].
    """

    def left(constant: float) -> float:
        return outward + period * approach(-away, -outward, constant, period)

    if left(short) > 0.0:
        return None
    if left(long) <= 0.0:
        return long
    for _ in range(_HALVINGS):
        middle = math.sqrt(short * long)
        short, long = (middle, long) if left(middle) <= 0.0 else (short, middle)
    return short
