"""The hand-tuned peer of P0's figure 7: a servo with constant gains, tuned so that the first pose is hit on time.

Same body, same integrator, same gravity feed-forward, same beats and the same measurement as the beat law; only the
gains differ. They are those of a patient expert: proportional to what each joint carries, and optimised on the
simulation itself, for the first pose alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from stunt.character.character import Joint
from stunt.control.board import IMPEDANCE
from stunt.control.inertia import joint_moments
from stunt.direction.measure import BeatResult
from stunt.direction.performance import Performance
from stunt.direction.performer import Performer
from stunt.direction.script import Part, Script
from stunt.errors import InvalidValueError
from stunt.stage.loop import Stage

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gains:
    """Constant gains of every degree of freedom of a model.

    Attributes:
        stiffness: k_s [N·m/rad], (nv,).
        damping: k_d [N·m·s/rad], (nv,).
    """

    stiffness: Floats
    damping: Floats


def gains_of(moments: Floats, frequency: Floats | float, ratio: Floats | float) -> Gains:
    """Return the gains k = m·w², d = 2ζ·m·w.

    Args:
        moments: What each degree of freedom turns [kg·m²], (nv,).
        frequency: w [rad/s].
        ratio: ζ; 1 is critical damping.
    """
    return Gains(moments * np.square(frequency), 2.0 * np.asarray(ratio) * moments * frequency)


class ConstantPD(Performer):
    """Drives one character by springs of constant gains whose rest jumps to the next pose at each beat."""

    def __init__(self, stage: Stage, character: str, gains: Gains, *, part: Part | None = None) -> None:
        """Take charge of a character and hold the pose it is in.

        Args:
            stage: Where it is.
            character: Its name.
            gains: The gains.
            part: What to do; coupling, arrival and tension say nothing to a constant servo.
        """
        self._gains = gains
        super().__init__(stage, character, part=part)

    def _take_charge(self) -> None:
        super()._take_charge()
        for name in self.controlled:
            joint = self.character.joints[name]
            self.stage.board.law[joint.id] = IMPEDANCE
            self._rest_at_goal(joint)
        self.set_gains(self._gains)

    def set_gains(self, gains: Gains) -> None:
        """Change the gains."""
        self._gains = gains
        board = self.stage.board
        for name in self.controlled:
            joint = self.character.joints[name]
            dofs = slice(joint.dof, joint.dof + joint.nv)
            board.stiffness[dofs] = gains.stiffness[dofs]
            board.damping[dofs] = gains.damping[dofs]
            board.feed_forward[dofs] = 0.0

    def _aim(self, name: str) -> None:
        super()._aim(name)
        self._rest_at_goal(self.character.joints[name])

    def clear(self) -> None:
        """Forget all keys that are still ahead and hold the present pose."""
        super().clear()
        for name in self.controlled:
            self._rest_at_goal(self.character.joints[name])

    def _rest_at_goal(self, joint: Joint) -> None:
        board, where = self.stage.board, slice(joint.qpos, joint.qpos + joint.nq)
        board.rest[where] = board.goal[where]


def recast(performance: Performance, gains: Mapping[str, Gains]) -> None:
    """Hand the characters of a performance that has not begun to servos of constant gains.

    Args:
        performance: The performance; its beats, recorder and events stay.
        gains: Per character.
    """
    crew = performance.stage.crew
    for name, of_character in gains.items():
        before = performance.performers[name]
        servo = ConstantPD(performance.stage, name, of_character, part=before.part)
        # In the place of the one before: the order in which the crew acts must not differ.
        crew.remove(servo)
        crew[crew.index(before)] = servo
        performance.performers[name] = servo


def perform_constant_pd(script: Script, gains: Mapping[str, Gains] | None = None) -> Performance:
    """Play a script with constant gains, tuned for the first pose unless they are given; return the finished playing."""
    performance = Performance(script, foretell=False)
    recast(performance, tune(script) if gains is None else gains)
    performance.run()
    return performance


def mean_error_deg(results: list[BeatResult]) -> float:
    """Return the mean over the beats of the worst joint's error [°]."""
    return float(np.mean([result.error_deg for result in results]))
