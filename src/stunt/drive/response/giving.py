"""Which joints give to a blow just now, and what they return with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character, Joint
from stunt.drive.response.give import give_of, stopping_constant
from stunt.stage.loop import StageLoop
from stunt.stage.shock import Shock, inboard, turned_by

TOUCH: Final = 0.01
"""How long something that hits touches, as far as anybody knows beforehand [s]."""
LONGER: Final = 2
"""How many times as long as it should a joint may give that the others carry on."""
STILL: Final = 1e-4
"""A joint nearer to its pose than this has not given yet [rad]."""


@dataclass(frozen=True)
class Given:
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
        self.given: dict[str, Given] = {}

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
        steps = max(1, round((shock.seconds or TOUCH) / stage.step_time))
        hold, after = give_of(give / most, stage.step_time, stage.steps_per_control, steps)
        for joint in held:
            before = self.given.get(joint.name)
            back = before.hold if before is not None else float(board.hold[joint.id])
            board.hold[joint.id] = hold
            self.given[joint.name] = Given(hold, stage.tick + steps, stage.tick + LONGER * max(after, steps), back)

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


def _stopping(stage: StageLoop, joint: Joint, given: Given) -> float | None:
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
