"""What carries a body, where its weight is, and where that is going: support, centre of mass, capture point.

The capture point is where a foot would have to be to bring the body to rest over it: of an inverted pendulum as high as
the centre of mass (Pratt et al. 2006). A body whose capture point is inside its support can stop where it stands;
outside, the feet can give no more, and it steps or falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from stunt.character.character import Character
from stunt.maths.rotations import Floats

GRAVITY: Final = 9.81
"""[m/s²]."""
LOWEST: Final = 0.1
"""A centre of mass is taken to be at least so high over what carries it [m]: who lies has no pendulum."""
Pressure = dict[int, tuple[float, Floats]]
"""How hard scenery presses up on each body [N], and where [m], (3,)."""


def capture_point(com: Floats, velocity: Floats, floor: float = 0.0) -> Floats:
    """Return where a foot would have to be to bring a body to rest over it [m], (2,).

    Args:
        com: Its centre of mass [m], (3,).
        velocity: Of that [m/s], (3,).
        floor: Height of what carries it [m].
    """
    return np.asarray(com[:2] + velocity[:2] / pendulum_rate(com, floor))


def pendulum_rate(com: Floats, floor: float = 0.0) -> float:
    """Return the rate at which a body tips over [1/s]: √(g / height of its centre of mass over what carries it)."""
    return math.sqrt(GRAVITY / max(float(com[2] - floor), LOWEST))


def centre_of_mass(model: mujoco.MjModel, data: mujoco.MjData, root_body: int) -> tuple[Floats, Floats]:
    """Return the centre of mass of a body and all below it [m], (3,), and its velocity [m/s], (3,).

    Args:
        model: The scene.
        data: Its state, kinematics done.
        root_body: The body.
    """
    jacobian = np.zeros((3, model.nv))
    mujoco.mj_jacSubtreeCom(model, data, jacobian, root_body)
    return data.subtree_com[root_body].copy(), np.asarray(jacobian @ data.qvel)


def outside_feet(point: Floats, one: Floats, other: Floats, reach: float) -> float:
    """Return how far a point is outside two feet [m]; below 0 it is inside.

    Args:
        point: Over the ground [m], (2,).
        one: Middle of one sole, (2,).
        other: Of the other, (2,).
        reach: How far a sole goes from its middle [m].
    """
    along = other - one
    share = float(np.clip((point - one) @ along / max(float(along @ along), 1e-9), 0.0, 1.0))
    return float(np.linalg.norm(point - one - share * along)) - reach


def pressure_on(model: mujoco.MjModel, data: mujoco.MjData, character: Character) -> Pressure:
    """Return the upward force of scenery on each body of a character [N], and where its centre is [m], (3,).

    Args:
        model: The scene.
        data: Its state, forces of contacts known.
        character: Who.
    """
    own, wrench = set(character.bodies.values()), np.zeros(6)
    found: Pressure = {}
    for k in range(data.ncon):
        bodies = [int(model.geom_bodyid[g]) for g in data.contact.geom[k]]
        mine = [b for b in bodies if b in own]
        if len(mine) != 1 or any(model.body_treeid[b] >= 0 for b in bodies if b not in own):
            continue
        mujoco.mj_contactForce(model, data, k, wrench)
        force = abs(float(data.contact.frame[k].reshape(3, 3)[0, 2] * wrench[0]))
        before, centre = found.get(mine[0], (0.0, np.zeros(3)))
        total = before + force
        if total > 0.0:
            found[mine[0]] = total, (before * centre + force * data.contact.pos[k]) / total
    return found


@dataclass(frozen=True, eq=False)
class Support:
    """The ground a body stands on: the smallest convex outline around all points that touch it.

    Attributes:
        corners: Of the outline, counter-clockwise over the ground [m], (n, 2); none in the air, one or two where all
            points are in one place or in a line.
    """

    corners: Floats

    @staticmethod
    def around(points: ArrayLike) -> Support:
        """Return the support of points over the ground [m], (n, 2) or (n, 3)."""
        flat = np.asarray(points, float).reshape(-1, np.shape(points)[-1] if np.size(points) else 2)[:, :2]
        return Support(_outline(flat))

    @staticmethod
    def of(model: mujoco.MjModel, data: mujoco.MjData, character: Character) -> Support:
        """Return what a character on the stage stands on: where scenery touches it from below."""
        own, points = set(character.bodies.values()), []
        for k in range(data.ncon):
            bodies = [int(model.geom_bodyid[g]) for g in data.contact.geom[k]]
            scenery = all(model.body_treeid[b] < 0 for b in bodies if b not in own)
            if len([b for b in bodies if b in own]) == 1 and scenery and abs(data.contact.frame[k][2]) > 0.5:
                points.append(data.contact.pos[k][:2].copy())
        return Support.around(np.array(points).reshape(-1, 2))

    def outside(self, point: Floats) -> float:
        """Return how far a point is outside [m], (2,); below 0 it is inside, by so much; in the air infinitely far."""
        corners = self.corners
        if len(corners) == 0:
            return math.inf
        ways = [_from_edge(point, a, b) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
        nearest = min(distance for distance, _ in ways)
        return -nearest if len(corners) > 2 and all(inside for _, inside in ways) else nearest


def _from_edge(point: Floats, a: Floats, b: Floats) -> tuple[float, bool]:
    """Return how far a point is from an edge [m], and whether it is to the left of it."""
    along, way = b - a, point - a
    share = float(np.clip(way @ along / max(float(along @ along), 1e-18), 0.0, 1.0))
    return float(np.linalg.norm(way - share * along)), bool(along[0] * way[1] - along[1] * way[0] >= 0.0)


def _outline(points: Floats) -> Floats:
    """Return the convex outline of points, counter-clockwise (Andrew's monotone chain), (n, 2)."""
    order = np.unique(points, axis=0)
    if len(order) < 3:
        return order

    def half(some: Floats) -> list[Floats]:
        chain: list[Floats] = []
        for point in some:
            while len(chain) > 1 and _turns_right(chain[-2], chain[-1], point):
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return np.array([*half(order), *half(order[::-1])])


def _turns_right(a: Floats, b: Floats, c: Floats) -> bool:
    return bool((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0.0)
