"""What flies at a character, and where and when it will be there: ballistic flight, foreseen.

What a character notices of itself: read from the state alone, so that a saved performance goes on bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from stunt.drive.balance.capture import capture_point, pendulum_rate
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop
from stunt.supervise.reflexes.anatomy import Anatomy, anatomy_of
from stunt.supervise.situation import Situation

_UP = np.array([0.0, 0.0, 1.0])


class Glimpse:
    """Poses and velocities of the present state, worked out at most once a tick for all who look; so are contacts.

    Contacts cost more than the rest, and most looks need none.
    """

    def __init__(self, stage: StageLoop) -> None:
        """Look at a stage."""
        self._stage, self._tick, self._collided, self.model = stage, -1, False, stage.model
        self._data = mujoco.MjData(stage.model)
        self._senses: dict[str, Sense] = {}

    @staticmethod
    def of(stage: StageLoop) -> Glimpse:
        """Return the one glimpse of a stage."""
        known = getattr(stage, "glimpse", None)
        if not isinstance(known, Glimpse) or known.model is not stage.model:
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
        """Engine data with kinematics and velocities of now. To be read only."""
        if not self.fresh:
            model, data = self._stage.model, self._data
            data.qpos[:], data.qvel[:] = self._stage.data.qpos, self._stage.data.qvel
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_subtreeVel(model, data)
            self._tick, self._collided = self._stage.tick, False
        return self._data

    @property
    def contacts(self) -> mujoco.MjData:
        """The same with contacts."""
        data = self.data
        if not self._collided:
            mujoco.mj_collision(self._stage.model, data)
            self._collided = True
        return data


@dataclass(frozen=True, eq=False)
class Felt:
    """A character's own state at one moment, world frame; what is seldom asked for is worked out when it is.

    Attributes:
        time: When [s].
        root: Where its root is [m], (3,).
        com: Its centre of mass [m], (3,).
        velocity: Of the centre of mass [m/s], (3,).
        spin: Angular momentum over inertia about the centre of mass, roughly [rad/s], (3,).
        places: Where its bodies' joints are [m], (B, 3).
        orientations: Of its bodies, (B, 4).
        height: Height of the root over that of standing.
        sense: Whose.
    """

    time: float
    root: Floats
    com: Floats
    velocity: Floats
    spin: Floats
    places: Floats
    orientations: Floats
    height: float
    sense: Sense

    @cached_property
    def turns(self) -> Floats:
        """How its bodies are turned from neutral in the world, (B, 4)."""
        return self.sense.anatomy.seen(self.orientations)

    @cached_property
    def turn(self) -> Floats:
        """How its root is turned from the neutral stance, (4,)."""
        neutral = self.sense.anatomy.neutral
        return np.asarray(rotations.multiply(self.orientations[0], rotations.conjugate(neutral[0])))

    @cached_property
    def facing(self) -> float:
        """Its heading [rad]; where the trunk lies flat, the direction the head or the face points to."""
        return float(rotations.heading(self.turn))

    @cached_property
    def touching(self) -> frozenset[str]:
        """Bodies that touch something that is not the character, by name; to be asked for in the same tick."""
        return self.sense.touching()

    @property
    def tilt(self) -> float:
        """How far the root is from upright [rad]."""
        return math.acos(float(np.clip(rotations.rotate(self.turn, _UP)[2], -1.0, 1.0)))

    @property
    def lean(self) -> Floats:
        """Where the root's own up axis points over the ground, (2,): its length is the sine of the tilt."""
        return np.asarray(rotations.rotate(self.turn, _UP)[:2])

    @property
    def capture(self) -> Floats:
        """Where a foot would have to be to bring the body to rest over it [m], (2,): the capture point."""
        return capture_point(self.com, self.velocity)

    @property
    def rate(self) -> float:
        """How fast it tips over, as a pendulum [1/s]."""
        return pendulum_rate(self.com)

    def capture_beyond(self, pace: Floats) -> Floats:
        """Return the capture point of what it has beyond a pace [m/s], (3,), over the ground [m], (2,)."""
        return capture_point(self.com, self.velocity - pace)

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

    def __init__(self, stage: StageLoop, name: str) -> None:
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
        inertia = 0.15 * anatomy.mass * anatomy.height**2
        return Felt(
            self.stage.time, data.xpos[first].copy(), data.subtree_com[first].copy(),
            data.subtree_linvel[first].copy(), data.subtree_angmom[first] / inertia, data.xpos[first:end].copy(),
            data.xquat[first:end].copy(), float(data.xpos[first, 2]) / anatomy.height, self,
        )  # fmt: skip

    def touching(self) -> frozenset[str]:
        """Return its bodies that touch something now that is not itself, by name."""
        data = Glimpse.of(self.stage).contacts
        bodies = self.stage.model.geom_bodyid[data.contact.geom[: data.ncon]]
        near = data.contact.dist[: data.ncon] < 0.0
        own = (bodies >= self._first) & (bodies < self._end)
        mine = bodies[near & (own.sum(axis=1) == 1)]
        return frozenset(self.anatomy.names[b - self._first] for b in mine.ravel() if self._first <= b < self._end)


_STEPS = 60
_SLOW = 1.0  # an object slower than this [m/s] does not fly
_GROUNDED = 0.03  # closer to the ground than this and not rising, it rolls [m]


@dataclass(frozen=True)
class Incoming:
    """A thing in flight, as it will pass a point."""

    name: str  #: Which
    radius: float  #: Of a sphere around it [m]
    time: float  #: Seconds until it is nearest
    distance: float  #: Between the point and its centre then [m]
    at: Floats  #: Where its centre will be then [m], (3,)
    velocity: Floats  #: How it will move then [m/s], (3,)


def flight(position: Floats, velocity: Floats, gravity: Floats, times: Floats) -> Floats:
    """Return where a thing in free flight is at times from now [m], (T, 3)."""
    t = np.asarray(times, float)[:, None]
    return np.asarray(position + velocity * t + 0.5 * gravity * t**2)


def passing(now: Situation, point: Floats, horizon: float, drift: Floats | None = None) -> list[Incoming]:
    """Return what will pass nearer and nearer to a point, the soonest first.

    Args:
        now: Who looks.
        point: The point [m], (3,).
        horizon: How far ahead to look [s].
        drift: The point's own velocity [m/s], (3,); None: at rest.
    """
    gravity = np.asarray(now.stage.scene.gravity)
    times = np.linspace(0.0, horizon, _STEPS)
    found = []
    for thing in now.things().values():
        if thing.character or float(np.linalg.norm(thing.velocity)) < _SLOW or _rolls(thing.position, thing.radius):
            continue
        target = point if drift is None else point + drift * times[:, None]
        apart = np.linalg.norm(flight(thing.position, thing.velocity, gravity, times) - target, axis=1)
        k = int(apart.argmin())
        if k == 0:
            continue  # it flies away already
        time = _refined(times, apart, k)
        at = flight(thing.position, thing.velocity, gravity, np.array([time]))[0]
        goal = point if drift is None else point + drift * time
        distance = float(np.linalg.norm(at - goal))
        found.append(Incoming(thing.name, thing.radius, time, distance, at, thing.velocity + gravity * time))
    return sorted(found, key=lambda incoming: incoming.time)


def flying(now: Situation) -> bool:
    """Whether anything moves fast at all; most of the time nothing does, and nobody need look further."""
    velocity = now.stage.data.qvel
    props = now.stage.built.props.values()
    return any(prop.dof >= 0 and float(np.abs(velocity[prop.dof : prop.dof + 3]).max()) > 0.5 * _SLOW for prop in props)


def _rolls(position: Floats, radius: float) -> bool:
    return bool(position[2] < radius + _GROUNDED)


def _refined(times: Floats, apart: Floats, k: int) -> float:
    """Return the time of the nearest approach between samples, by a parabola through three of them."""
    if not 0 < k < len(times) - 1:
        return float(times[k])
    before, here, after = apart[k - 1] ** 2, apart[k] ** 2, apart[k + 1] ** 2
    bend = before - 2.0 * here + after
    return float(times[k] + (0.5 * (before - after) / bend if bend > 0.0 else 0.0) * (times[1] - times[0]))


def crossing(
    position: Floats, velocity: Floats, gravity: Floats, through: Floats, normal: Floats, horizon: float
) -> tuple[float, Floats] | None:
    """Return when [s from now] and where [m] a thing in flight goes through a vertical plane; None: not in time.

    Args:
        position: Where it is [m].
        velocity: How it moves [m/s].
        gravity: [m/s²].
        through: A point of the plane [m].
        normal: Horizontal unit vector across it.
        horizon: How far ahead to look [s].
    """
    speed = float(velocity @ normal)
    if abs(speed) < 1e-6:
        return None
    time = float((np.asarray(through) - position) @ normal) / speed
    if not 0.0 < time <= horizon:
        return None
    return time, flight(position, velocity, gravity, np.array([time]))[0]


def soonest(found: Iterable[Incoming], within: float) -> Incoming | None:
    """Return the first that passes within a distance beyond its own radius [m]."""
    return next((one for one in found if one.distance < one.radius + within), None)
