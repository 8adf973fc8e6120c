"""The two feet of a body: the points it can stand on, and how its soles lie when it stands.

Points are the lower corners of the boxes, and the lowest points of the balls and capsules, of feet and toes, as they
are in the body's reference stance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.own.layout import GROWN_LEG
from stunt.errors import BodyError
from stunt.maths.rotations import Floats

POINTS: Final = 8
"""Most points of one foot: four corners of its sole, and four of its toes'."""
_BOX, _SPHERE, _CAPSULE = 6, 2, 3
_ON_PLANE = 1e-6
_THIN = 0.8  # of its second smallest side: a box is a slab


@dataclass(frozen=True, eq=False)
class Foot:
    """One foot of a body, by body numbers of the model.

    Attributes:
        body: The foot.
        chain: From the first body below the root down to the foot.
        toe: The toes' body; −1: none.
        owners: Whose frame each point is in: the foot's or the toes', (points,).
        points: Where it may be stood on, in its owner's frame [m], (points, 3).
        normal: The sole's upward direction in the foot's frame when it lies on level ground, (3,).
        ahead: Which way the foot points, in its frame, across `normal`, (3,).
        toe_up: The toes' upward direction in their own frame, likewise, (3,).
        rolls: Whether its leg has the six joint axes that place a foot and turn it too. With five, as robots have that
            miss an ankle's roll, it cannot be asked to lean to its side as well: hips would have to do it.
    """

    body: int
    chain: tuple[int, ...]
    toe: int
    owners: NDArray[np.int64]
    points: Floats
    normal: Floats
    ahead: Floats
    toe_up: Floats
    rolls: bool = True


def two_feet(model: mujoco.MjModel, character: Character, soles: list[int]) -> tuple[Foot, Foot]:
    """Return the feet of a body that stands on two.

    Args:
        model: The scene.
        character: Who.
        soles: Geoms it stands on.

    Raises:
        BodyError: It has not two feet below legs.
    """
    stance = mujoco.MjData(model)
    mujoco.mj_kinematics(model, stance)
    bodies = {int(model.geom_bodyid[geom]) for geom in soles}
    heads = [body for body in sorted(bodies) if int(model.body_parentid[body]) not in bodies]
    feet = [_foot(model, stance, character.root_body, body, soles) for body in heads]
    if len(feet) != 2 or any(len(foot.points) < 3 or len(foot.chain) < 2 for foot in feet):
        raise BodyError(
            f"'{character.name}' has {len(feet)} feet that Stunt can tell; to go on its own feet a body needs two, "
            "each with a sole of at least three points below a leg. With `assist: weak` it is held by a spring instead."
        )
    return feet[0], feet[1]


def size_of(model: mujoco.MjModel, feet: tuple[Foot, Foot]) -> float:
    """Return the length of a body's legs as a share of a grown-up's."""
    return float(np.mean([leg_length(model, foot) + rest_height(foot) for foot in feet]) / GROWN_LEG)


def leg_length(model: mujoco.MjModel, foot: Foot) -> float:
    """Return how long a stretched leg is from its hip to the frame of its foot [m]."""
    return float(sum(np.linalg.norm(model.body_pos[body]) for body in foot.chain[1:]))


def rest_height(foot: Foot) -> float:
    """Return how high the frame of a foot is that lies flat [m]."""
    return -float((foot.points[foot.owners == foot.body] @ foot.normal).min())


def _foot(model: mujoco.MjModel, stance: mujoco.MjData, root: int, body: int, soles: list[int]) -> Foot:
    chain, above = [body], int(model.body_parentid[body])
    while above > root:
        chain.insert(0, above)
        above = int(model.body_parentid[above])
    toes = [b for b in range(body + 1, model.nbody) if int(model.body_parentid[b]) == body]
    toe = next((b for b in toes if any(int(model.geom_bodyid[g]) == b for g in soles)), -1)
    own = _lowest(model, stance, [g for g in soles if int(model.geom_bodyid[g]) == body])
    owners = [body] * len(own)
    if toe >= 0:
        front = _lowest(model, stance, [g for g in soles if int(model.geom_bodyid[g]) == toe])
        own, owners = np.concatenate([own, front]), owners + [toe] * len(front)
    own, owners = _fewer(own, owners)
    local = np.array([stance.xmat[b].reshape(3, 3).T @ (p - stance.xpos[b]) for b, p in zip(owners, own, strict=True)])
    heel = local[: owners.count(body)]
    normal, toe_up = _box_up(model, stance, body, soles), np.zeros(3)
    if normal is None:
        normal = stance.xmat[body].reshape(3, 3).T @ _resting_up(own)
    if toe >= 0:
        flat = _box_up(model, stance, toe, soles)
        toe_up = stance.xmat[toe].reshape(3, 3).T @ np.array([0.0, 0.0, 1.0]) if flat is None else flat
        depth = -float((local[len(heel) :] @ toe_up).min())
        normal = _on_heel_and_toe(heel, normal, model.body_pos[toe], depth)
    ahead = stance.xmat[body].reshape(3, 3).T @ _long_way(own, stance.xpos[body])
    ahead -= (ahead @ normal) * normal
    ahead /= max(float(np.linalg.norm(ahead)), 1e-9)
    rolls = int(model.body_dofnum[chain].sum()) >= 6
    return Foot(body, tuple(chain), toe, np.array(owners, np.int64), local.reshape(-1, 3), normal, ahead, toe_up, rolls)


def drawn_in(model: mujoco.MjModel, foot: Foot, share: float) -> Floats:
    """Return a foot's points drawn in from its edges, in their owners' frames [m], (points, 3).

    Pressure on the very edge rolls a foot over it. They are drawn in along the ground the foot lies on, its toes flat:
    a sole that is tilted in the reference stance stays a plane.

    Args:
        model: The scene.
        foot: Which.
        share: Of their distance from the middle that is left.
    """
    flat, toes = foot.points.copy(), foot.owners != foot.body
    turn, joint = np.eye(3), np.zeros(3)
    if toes.any():
        rest = np.zeros(9)
        mujoco.mju_quat2Mat(rest, model.body_quat[foot.toe])
        turn = _turn_onto(rest.reshape(3, 3) @ foot.toe_up, foot.normal) @ rest.reshape(3, 3)
        joint = model.body_pos[foot.toe]
        flat[toes] = joint + flat[toes] @ turn.T
    arms = flat - flat.mean(axis=0)
    flat -= (1.0 - share) * (arms - np.outer(arms @ foot.normal, foot.normal))
    flat[toes] = (flat[toes] - joint) @ turn
    return np.ascontiguousarray(flat)


def _turn_onto(start: Floats, goal: Floats) -> Floats:
    """Return the least rotation that turns one direction into another, (3, 3)."""
    axis, cosine = np.cross(start, goal), float(start @ goal)
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + cross + cross @ cross / max(1.0 + cosine, 1e-6))


def _long_way(points: Floats, ankle: Floats) -> Floats:
    """Return along which way a sole is longest, away from its ankle, over the ground, (3,)."""
    flat = points[:, :2]
    _, _, axes = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)
    way = axes[0] if (flat.mean(axis=0) - ankle[:2]) @ axes[0] > 0.0 else -axes[0]
    return np.array([*way, 0.0])


def _box_up(model: mujoco.MjModel, stance: mujoco.MjData, body: int, soles: list[int]) -> Floats | None:
    """Return the upward direction of a body's sole, if that is a box, in its frame, (3,)."""
    for geom in soles:
        if int(model.geom_bodyid[geom]) == body and int(model.geom_type[geom]) == _BOX:
            matrix = np.zeros(9)
            mujoco.mju_quat2Mat(matrix, model.geom_quat[geom])
            turn = matrix.reshape(3, 3)
            up = (stance.xmat[body].reshape(3, 3) @ turn)[2]
            axis = _thin_axis(model.geom_size[geom], up)
            return np.asarray(turn[:, axis] * np.sign(up[axis]))
    return None


def _thin_axis(half: Floats, up: Floats) -> int:
    """Return the axis of a box its sole lies across: the one it is clearly thinnest along, else the most upright."""
    order = np.argsort(half)
    if half[order[0]] < _THIN * half[order[1]]:
        return int(order[0])
    return int(np.argmax(np.abs(up)))


def _on_heel_and_toe(points: Floats, normal: Floats, toe: Floats, depth: float) -> Floats:
    """Return a foot's upward direction when its heel and its flat toes are on one plane, (3,).

    Args:
        points: Of its sole without toes, in its frame [m], (n, 3).
        normal: Of that sole, (3,).
        toe: Where the toes' joint is [m], (3,).
        depth: How deep their sole is below it [m].
    """
    ahead = toe - points.mean(axis=0)
    ahead = ahead - (ahead @ normal) * normal
    ahead /= max(float(np.linalg.norm(ahead)), 1e-9)
    along = points @ ahead
    heel = points[along < 0.5 * (along.min() + along.max())].mean(axis=0)
    rise, run = float((toe - heel) @ normal), float((toe - heel) @ ahead)
    far = float(np.hypot(rise, run))
    if far <= abs(depth):
        return normal
    # A plane through the heel that passes the toes' joint at that depth.
    angle = np.arcsin(depth / far) - np.arctan2(rise, run)
    return np.asarray(np.cos(angle) * normal + np.sin(angle) * ahead)


def _lowest(model: mujoco.MjModel, stance: mujoco.MjData, geoms: list[int]) -> Floats:
    """Return where geoms would touch level ground, in the reference stance [m], (n, 3)."""
    found = []
    for geom in geoms:
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, model.geom_quat[geom])
        body = int(model.geom_bodyid[geom])
        turn = stance.xmat[body].reshape(3, 3) @ matrix.reshape(3, 3)
        place = stance.xpos[body] + stance.xmat[body].reshape(3, 3) @ model.geom_pos[geom]
        size, kind = model.geom_size[geom], int(model.geom_type[geom])
        if kind == _SPHERE:
            found.append(place - [0.0, 0.0, size[0]])
        elif kind == _CAPSULE:
            found += [place + s * size[1] * turn[:, 2] - [0.0, 0.0, size[0]] for s in (-1.0, 1.0)]
        else:
            half = size if kind == _BOX else model.geom_aabb[geom, 3:]
            axis = _thin_axis(half, turn[2])
            across = [k for k in range(3) if k != axis]
            for a, b in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
                corner = np.zeros(3)
                corner[axis] = -np.sign(turn[2, axis]) * half[axis]
                corner[across[0]], corner[across[1]] = a * half[across[0]], b * half[across[1]]
                found.append(place + turn @ corner)
    return np.array(found).reshape(-1, 3)


def _fewer(points: Floats, owners: list[int]) -> tuple[Floats, list[int]]:
    """Return at most `POINTS` points: the outermost along and across the foot."""
    if len(points) <= POINTS:
        return points, owners
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    _, _, axes = np.linalg.svd(flat, full_matrices=False)
    seen = flat @ axes.T
    seen /= np.maximum(np.abs(seen).max(axis=0), 1e-9)
    ways = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    kept = sorted({int(np.argmax(seen @ np.array(way))) for way in ways})
    return points[kept], [owners[k] for k in kept]


def _resting_up(points: Floats) -> Floats:
    """Return which way is up for a foot that rests on level ground, seen in the stance the points are from, (3,).

    Toes may lie lower than the sole: such a foot rests on heel and tips.
    """
    middle = points[:, :2].mean(axis=0)
    best, up = np.inf, np.array([0.0, 0.0, 1.0])
    for some in combinations(range(len(points)), 3):
        a, b, c = points[list(some)]
        normal = np.cross(b - a, c - a)
        size = float(np.linalg.norm(normal))
        if size < 1e-6:
            continue
        normal = normal / size * (1.0 if normal[2] > 0.0 else -1.0)
        above = float(((points - a) @ normal).min())
        if above < -_ON_PLANE or normal[2] < 0.8:
            continue
        far = float(np.linalg.norm((a + b + c)[:2] / 3.0 - middle))  # it rests on those around its middle
        if far < best:
            best, up = far, normal
    return up
