"""Give and return are two knobs: how far a held joint gives to a blow, beside how fast it comes back.

A held joint is a critically damped pull of time constant λ toward its pose (`stunt.control.beat.law.approach`). A blow
that leaves it at a velocity v₀ takes it v₀·λ/e away, and from there it is back to a tenth after n·λ: one number says
both. Here they are two: from the blow until it stands still, λ is what makes it give as much as was asked for; then it
is that of the return. The blow's own length and the control period are counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character, Joint
from stunt.control.beat.law import approach
from stunt.stage.loop import StageLoop
from stunt.stage.shock import Shock, inboard, turned_by

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


LONGER: Final = 2
"""How many times as long as it should a joint may give that the others carry on."""
STILL: Final = 1e-4
"""A joint nearer to its pose than this has not given yet [rad]."""


@dataclass(frozen=True)
class GivingJoint:
    """A joint gives to a blow: with which λ [s], from and by which tick it comes back, and with which λ."""

    out: float
    since: int
    last: int
    hold: float


class Giving:
    """Joints of one character that give to a blow.

    Attributes:
        given: Those that do, by name.
    """

    def __init__(self, stage: StageLoop) -> None:
        """Look after joints on a stage; none gives yet."""
        self._stage = stage
        self.given: dict[str, GivingJoint] = {}

    def answer(self, shock: Shock, held: Sequence[Joint], give: float) -> None:
        """Have joints give to a blow, as far as said that of those which carry what is hit that gives most.

        Args:
            shock: The blow.
            held: Joints that hold a pose.
            give: How far, for each N·s [rad/(N·s)].
        """
        stage, board = self._stage, self._stage.board
        turned, carrying = turned_by(stage, shock), inboard(stage, shock)
        turning = [j for j in held if j.kind != "slide" and j.dof in carrying]
        most = max((float(np.linalg.norm(turned[j.dof : j.dof + j.nv])) for j in turning), default=0.0)
        if most < 1e-9:
            return
        steps = shock.steps(stage.step_time)
        hold, after = give_of(give / most, stage.step_time, stage.steps_per_control, steps)
        for joint in held:
            before = self.given.get(joint.name)
            back = before.hold if before is not None else float(board.hold[joint.id])
            board.hold[joint.id] = hold
            self.given[joint.name] = GivingJoint(
                hold, stage.tick + steps, stage.tick + LONGER * max(after, steps), back
            )

    def drop(self, name: str) -> None:
        """Forget a joint that is told something else."""
        self.given.pop(name, None)

    def due(self, last: int) -> list[int]:
        """Return when to look again who comes back, after a tick, as a list of no ticks or one."""
        if not self.given:
            return []
        step = self._stage.steps_per_control
        first = min(given.since for given in self.given.values())
        return [max(first + -first % step, last + step - last % step)]

    def end(self, tick: int, character: Character) -> None:
        """Have joints come back that stand still, after a period that brings them to it; none gives for too long."""
        board = self._stage.board
        for name, given in list(self.given.items()):
            joint = character.joints[name]
            if tick >= given.last:
                board.hold[joint.id] = self.given.pop(name).hold
            elif tick >= given.since and (stopping := _stopping(self._stage, joint, given)) is not None:
                board.hold[joint.id] = stopping
                self.given[name] = replace(given, last=tick + 1)


def _stopping(stage: StageLoop, joint: Joint, given: GivingJoint) -> float | None:
    """Return the λ [s] that stops a joint within a control period; None: it goes on, with that with which it gives."""
    own, speed = slice(joint.qpos, joint.qpos + joint.nq), stage.data.qvel[joint.dof : joint.dof + joint.nv]
    here, goal, away, period = stage.data.qpos[own], stage.board.goal[own], np.zeros(joint.nv), stage.control_period
    if joint.nq == joint.nv:
        away[:] = here - goal
    else:
        mujoco.mju_subQuat(away, here, goal)
    distance = float(np.linalg.norm(away))
    if distance < STILL:
        return None
    outward = float(away @ speed) / distance
    return stopping_constant(distance, outward, given.out, given.hold, period)
