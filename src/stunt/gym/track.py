"""Tracking: following a clip with one's own strength, no strings attached."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from stunt.character.kinematics import pose_frames
from stunt.gym import native
from stunt.gym.task import Rates, Task
from stunt.library.names import find_clip, load_clip
from stunt.motion.rig.skeleton_body import SkeletonBody, body_from_clip
from stunt.stage.scene import CharacterSpec

_REACH = 0.6  # [rad] an action of 1 moves a joint away from the clip
_ENDS = ("l_hand", "r_hand", "l_foot", "r_foot", "head")
_LOST = 1.0  # [m] from where the clip is
_FALLEN = math.radians(80.0)  # [rad] the root may be turned away from the clip's
_EFFORT = 0.02


class TrackTask(Task):
    """A body with a clip's own bones that follows it, from any moment of it.

    The springs pull to the clip; an action of −1 … 1 moves a joint's goal up to 0.6 rad away from it. Observed besides
    the body itself: the way to the clip's next frame (joints, root's place and turn in the root's frame), and where in
    the clip it is. The reward is DeepMimic's; the episode ends in a fall, or a metre away.
    """

    def __init__(
        self,
        clip: str = "walk?loop=yes",
        *,
        seconds: float = 10.0,
        anywhere: bool = True,
        strength: float = 1.5,
        tension: float = 0.15,
        rates: Rates | None = None,
        **character: Any,
    ) -> None:
        """Build the stage.

        Args:
            clip: A motion file, or the name of a clip.
            seconds: Length of an episode; it ends earlier where a clip that does not loop ends.
            anywhere: Whether to start at a random moment of the clip (reference state initialisation), or at its start.
            strength: Factor on every joint's strength.
            tension: Seconds in which the springs bring a joint to its goal.
            rates: How often things happen.
            character: What else a `CharacterSpec` takes.
        """
        self.path, self.anywhere = str(find_clip(clip)), anywhere
        spec = CharacterSpec(self.path, root="free", strength=strength, **character)
        super().__init__(spec, rates or Rates(), seconds, tension)

    def _set_up(self) -> None:
        self.tail = self.actions + 6 + 2
        self.scale = np.full(self.actions, _REACH)
        made = body_from_clip(load_clip(self.path))
        self.length = made.clip.duration
        frames = round(self.length * self.rates.policy_hz)
        if made.clip.loop:
            frames += round(self.seconds * self.rates.policy_hz) + 2
        self._lay_out(made, max(frames, 2))

    def _lay_out(self, made: SkeletonBody, frames: int) -> None:
        """Write the clip in the body's coordinates, one row per action."""
        model = self.stage.model
        times = np.arange(frames) / self.rates.policy_hz
        own = np.asarray(made.qpos_at(times), float)
        self.rows = np.tile(self.neutral, (frames, 1))
        self.rows[:, self.root : self.root + own.shape[1]] = own
        self.paces = np.zeros((frames, model.nv))
        self.ends = np.array([self.character.bodies[name] for name in _ENDS if name in self.character.bodies], np.int64)
        phase = 2.0 * np.pi * times / self.length
        self.phases = np.stack([np.sin(phase), np.cos(phase)], axis=1).astype(np.float32)
        for number in range(frames):
            before, after = max(number - 1, 0), min(number + 1, frames - 1)
            span = (after - before) / self.rates.policy_hz
            mujoco.mj_differentiatePos(model, self.paces[number], span, self.rows[before], self.rows[after])
        places, _ = pose_frames(model, self.character, own)
        ends = places[:, self.ends - self.character.root_body]
        self.places = np.ascontiguousarray(ends - own[:, None, :3])

    def _begin(self, rng: np.random.Generator) -> None:
        last = round(self.length * self.rates.policy_hz) - 1
        self.row = int(rng.integers(0, max(last, 1))) if self.anywhere else 0
        self.qpos[:] = self.rows[self.row]
        self.qvel[:] = self.paces[self.row]
        mujoco.mj_forward(self.stage.model, self.stage.data)
        self.stage.board.goal[:] = self.rows[self.row]

    def _before(self) -> None:
        self.row = min(self.row + 1, len(self.rows) - 1)

    def _look(self) -> None:
        reward, away, turned, spent = native.look_at_clip(self.table, self.row)
        self._observation[-2:] = self.phases[self.row]
        self.reward = reward - _EFFORT * spent
        self.terminated = away > _LOST or turned > _FALLEN

    def step(self, action: Any) -> None:
        """Act once; the clip's end is the episode's."""
        super().step(action)
        if self.row >= len(self.rows) - 1 and not self.terminated:
            self.truncated = True
