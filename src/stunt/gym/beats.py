"""Hitting beats: a random pose, a time by which to be in it, and the next one."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from stunt.character.character import Joint
from stunt.gym import native
from stunt.gym.task import Rates, Task
from stunt.stage.scene import CharacterSpec

_UNLIMITED = 1.5  # [rad or m] to either side of rest, for joints without limits
_SHARP = math.radians(8.0)  # an error of so much at the beat is worth 1/e
_WARMER = 0.1  # reward per step for being near, to learn by
_EFFORT = 0.02
_REST = 1  # the row poses are drawn around

_TRIES, _TOUCHING = 8, 0.005  # poses, and how far what touches may be in each other [m]


class Beats(Task):
    """A character that hangs by its root and is asked for a pose at a time, again and again.

    An action of −1 … 1 is a joint's whole range. Observed besides the body itself: the way to the pose of the next
    beat, joint by joint, and the time left [s]. At a beat up to 1 is given for the pose, by its root-mean-square error;
    `info["beat_error_deg"]` says how far off it was.
    """

    def __init__(
        self,
        body: str = "human39",
        *,
        seconds: float = 10.0,
        between: tuple[float, float] = (0.4, 1.0),
        spread: float = 0.4,
        tension: float = 0.25,
        rates: Rates | None = None,
        **character: Any,
    ) -> None:
        """Build the stage.

        Args:
            body: Any body.
            seconds: Length of an episode.
            between: Shortest and longest time between beats [s].
            spread: How far from rest poses go, as a share of each joint's range.
            tension: Seconds in which the springs bring a joint to its goal.
            rates: How often things happen.
            character: What else a `CharacterSpec` takes.
        """
        self.between, self.spread = between, spread
        spec = CharacterSpec(body, at=(0.0, 0.0, 0.3), **character)
        super().__init__(spec, rates or Rates(), seconds, tension)

    def _set_up(self) -> None:
        self.tail = self.actions + 1
        reach, middle = [], self.neutral.copy()
        for joint in self.character.joints.values():
            low, high = self._room(joint)
            reach += [(high - low) / 2] * joint.nv
            if joint.nv == 1:
                middle[joint.qpos] = (high + low) / 2
        self.rows, self.scale = np.stack([middle, self.neutral]), np.array(reach)
        self.due, self.rng = 0, np.random.default_rng(0)
        self._scratch = mujoco.MjData(self.stage.model)

    def _room(self, joint: Joint) -> tuple[float, float]:
        if joint.kind == "ball":
            most = min(_UNLIMITED, joint.range[1]) if joint.range is not None else _UNLIMITED
            return -most, most
        rest = float(self.neutral[joint.qpos])
        return joint.range if joint.range is not None else (rest - _UNLIMITED, rest + _UNLIMITED)

    def _begin(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self._draw()

    def _draw(self) -> None:
        """Draw the next beat: when, and which pose: one whose limbs are not in each other, if a few tries bring one."""
        steps = self.rng.uniform(*self.between) * self.rates.policy_hz
        self.due = self.stage.tick + max(1, round(steps)) * self.steps
        for _ in range(_TRIES):
            ways = self.rng.uniform(-1.0, 1.0, self.actions).astype(np.float32)
            native.want(self.table, ways, 2.0 * self.spread, _REST)
            if not self._overlaps():
                return

    def _overlaps(self) -> bool:
        """Whether the pose has limbs inside each other."""
        model, data = self.stage.model, self._scratch
        data.qpos[:] = self.stage.data.qpos
        for joint in self.character.joints.values():
            own = slice(joint.qpos, joint.qpos + joint.nq)
            data.qpos[own] = self.wanted[own]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        return bool(data.ncon) and float(data.contact.dist.min()) < -_TOUCHING

    def _look(self) -> None:
        square, spent = native.look_towards(self.table)
        tick = self.stage.tick
        self.reward = _WARMER * math.exp(-5.0 * square) - _EFFORT * spent
        if tick >= self.due:
            self.reward += math.exp(-square / _SHARP**2)
            self.info = {"beat_error_deg": math.degrees(math.sqrt(square))}
            self._draw()
            native.look_towards(self.table)
        self._observation[-1] = (self.due - tick) * self.stage.step_time
