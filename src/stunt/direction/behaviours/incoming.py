"""What flies at a character, and where and when it will be there: ballistic flight, foreseen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from stunt.direction.supervisor.situation import Situation
from stunt.rotations import Floats

_STEPS = 60
_SLOW = 1.0  # an object slower than this [m/s] does not fly
_GROUNDED = 0.03  # closer to the ground than this and not rising, it rolls [m]


@dataclass(frozen=True)
class Incoming:
    """A thing in flight, as it will pass a point.

    Attributes:
        name: Which.
        radius: Of a sphere around it [m].
        time: Seconds until it is nearest.
        distance: Between the point and its centre then [m].
        at: Where its centre will be then [m], (3,).
        velocity: How it will move then [m/s], (3,).
    """

    name: str
    radius: float
    time: float
    distance: float
    at: Floats
    velocity: Floats


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
