"""What a character notices of itself: read from the state alone, so that a saved performance goes on bit for bit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from stunt import rotations
from stunt.direction.behaviours.anatomy import Anatomy, anatomy_of
from stunt.rotations import Floats
from stunt.stage.loop import Stage

_UP = np.array([0.0, 0.0, 1.0])
GRAVITY = 9.81


class Glimpse:
    """Poses, velocities and contacts of the present state, worked out at most once a tick for all who look."""

    def __init__(self, stage: Stage) -> None:
        """Look at a stage."""
        self._stage, self._tick = stage, -1
        self._data = mujoco.MjData(stage.model)
        self._senses: dict[str, Sense] = {}

    @staticmethod
    def of(stage: Stage) -> Glimpse:
        """Return the one glimpse of a stage."""
        known = getattr(stage, "glimpse", None)
        if not isinstance(known, Glimpse):
            known = Glimpse(stage)
            stage.glimpse = known  # type: ignore[attr-defined]
        return known

    def sense(self, name: str) -> Sense:
        """Return a character's senses; all its controllers share them."""
        if name not in self._senses:
            self._senses[name] = Sense(self._stage, name)
        return self._senses[name]

    @property
    def fresh(self) -> bool:
        """Whether what is known is of the present state."""
        return self._tick == self._stage.tick and np.array_equal(self._data.qpos, self._stage.data.qpos)

    @property
    def data(self) -> mujoco.MjData:
        """Engine data with kinematics, velocities and contacts of now. To be read only."""
        if not self.fresh:
            model, data = self._stage.model, self._data
            data.qpos[:], data.qvel[:] = self._stage.data.qpos, self._stage.data.qvel
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_collision(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_subtreeVel(model, data)
            self._tick = self._stage.tick
        return self._data


@dataclass(frozen=True, eq=False)
class Felt:
    """A character's own state at one moment, world frame.

    Attributes:
        time: When [s].
        root: Where its root is [m], (3,).
        turn: How its root is turned from the neutral stance, (4,).
        facing: Its heading [rad].
        com: Its centre of mass [m], (3,).
        velocity: Of the centre of mass [m/s], (3,).
        spin: Angular momentum over inertia about the centre of mass, roughly [rad/s], (3,).
        places: Where its bodies' joints are [m], (B, 3).
        turns: How its bodies are turned from neutral in the world, (B, 4).
        touching: Bodies that touch something that is not the character, by name.
        height: Height of the root over that of standing.
    """

    time: float
    root: Floats
    turn: Floats
    facing: float
    com: Floats
    velocity: Floats
    spin: Floats
    places: Floats
    turns: Floats
    touching: frozenset[str]
    height: float

    @property
    def tilt(self) -> float:
        """How far the root is from upright [rad]."""
        return math.acos(float(np.clip(rotations.rotate(self.turn, _UP)[2], -1.0, 1.0)))

    @property
    def lean(self) -> Floats:
        """Where the root's own up axis points over the ground, (2,): its length is the sine of the tilt."""
        return np.asarray(rotations.rotate(self.turn, _UP)[:2])

    @property
    def up_seen(self) -> Floats:
        """The vertical seen from the root: x near −1 lies on the face, near 1 on the back, (3,)."""
        return np.asarray(rotations.rotate(rotations.conjugate(self.turn), _UP))

    @property
    def capture(self) -> Floats:
        """Where a foot would have to be to bring the body to rest over it [m], (2,): the capture point."""
        time = math.sqrt(max(float(self.com[2]), 0.1) / GRAVITY)
        return np.asarray(self.com[:2] + time * self.velocity[:2])

    def level(self, point: Floats) -> Floats:
        """Return a world direction or offset (2,) or (3,) seen in the character's heading."""
        c, s = math.cos(self.facing), math.sin(self.facing)
        flat = np.array([c * point[0] + s * point[1], -s * point[0] + c * point[1]])
        return flat if len(point) == 2 else np.array([*flat, point[2]])

    def seen_from_root(self, point: Floats) -> Floats:
        """Return a world point seen from the root in its neutral axes [m], (3,)."""
        return np.asarray(rotations.rotate(rotations.conjugate(self.turn), np.asarray(point, float) - self.root))


class Sense:
    """One character's senses."""

    def __init__(self, stage: Stage, name: str) -> None:
        """Give a character its senses.

        Raises:
            BodyError: Its body is no free person's.
        """
        self.stage, self.character = stage, stage.character(name)
        self.anatomy: Anatomy = anatomy_of(stage.model, self.character, stage.scene.characters[name].facing)
        self._first = self.character.root_body
        self._end = max(self.character.bodies.values()) + 1
        self._known: Felt | None = None

    def feel(self) -> Felt:
        """Return the state of now."""
        glimpse = Glimpse.of(self.stage)
        if self._known is not None and glimpse.fresh and self._known.time == self.stage.time:
            return self._known
        self._known = self._look(glimpse.data)
        return self._known

    def _look(self, data: mujoco.MjData) -> Felt:
        first, end, anatomy = self._first, self._end, self.anatomy
        turns = anatomy.seen(data.xquat[first:end])
        # Where the trunk lies flat a heading by swing and twist is the direction the head or the face points to.
        facing = float(rotations.heading(turns[0]))
        inertia = 0.15 * anatomy.mass * anatomy.height**2
        return Felt(
            self.stage.time, data.xpos[first].copy(), turns[0], facing, data.subtree_com[first].copy(),
            data.subtree_linvel[first].copy(), data.subtree_angmom[first] / inertia, data.xpos[first:end].copy(),
            turns, self._touching(data), float(data.xpos[first, 2]) / anatomy.height,
        )  # fmt: skip

    def _touching(self, data: mujoco.MjData) -> frozenset[str]:
        bodies = self.stage.model.geom_bodyid[data.contact.geom[: data.ncon]]
        near = data.contact.dist[: data.ncon] < 0.0
        own = (bodies >= self._first) & (bodies < self._end)
        mine = bodies[near & (own.sum(axis=1) == 1)]
        return frozenset(self.anatomy.names[b - self._first] for b in mine.ravel() if self._first <= b < self._end)
