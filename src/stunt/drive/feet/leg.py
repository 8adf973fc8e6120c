"""A leg as a chain of two links: where its foot goes in a clip, and how it gets there higher or lower."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.character.kinematics import box_corners
from stunt.maths import rotations
from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import Vector, rotated, turn_between
from stunt.maths.rotations import Floats
from stunt.maths.two_bone import knee_along

_STRAIGHT = 0.995  # of its length: how far a leg is stretched at most
_BENT = np.radians(15.0)  # a motion must bend a knee so far to show its axis
_CLEAR = 0.7  # cosine: an axis farther from the anatomical one is none
_OVER = 0.02  # of a knee behind the line from hip to ankle [m]
_FOLDED = 0.35  # of its length: how far it is drawn in at most


@dataclass(frozen=True, eq=False)
class Leg:
    """One leg of a body, by body numbers counted from the root's.

    Attributes:
        chain: From the first body below the root down to the foot.
        offsets: Where each of them is in the one above it [m], (chain, 3).
        end: One past its last body: toes count.
        soles: Geoms of foot and toes it stands on.
        points: Corners of the sole, toes as they are at rest, in the foot's frame [m], (points, 3).
        front: Which way the body faces in its reference stance, in the thigh's frame, (3,).
        straight: How the shank is turned against the thigh in that stance, wxyz.
        hinged: Whether its knee is a hinge.
    """

    chain: tuple[int, ...]
    offsets: Floats
    end: int
    soles: tuple[int, ...]
    points: Floats
    front: Floats
    straight: Floats
    hinged: bool

    @property
    def foot(self) -> int:
        """The foot's number."""
        return self.chain[-1]

    def joints(self, matrices: Floats) -> Floats:
        """Return where the chain's bodies are, seen from the root [m], (F, chain, 3), for (F, bodies, 3, 3)."""
        places, here, above = [], np.zeros((len(matrices), 3)), -1
        for body, offset in zip(self.chain, self.offsets, strict=True):
            # The root's own row holds its orientation in the world; seen from itself it is not turned.
            here = here + (offset if above < 0 else matrices[:, above] @ offset)
            places.append(here)
            above = body
        return np.stack(places, axis=1)

    def sole(self, matrices: Floats, foot: Floats) -> Floats:
        """Return the corners of the sole seen from the root [m], (F, points, 3), for a foot at (F, 3)."""
        return np.asarray(foot[:, None] + self.points @ matrices[:, self.foot].transpose(0, 2, 1))

    @property
    def span(self) -> tuple[int, int, int]:
        """Its first body, its foot, and one past its last."""
        return self.chain[0], self.foot, self.end

    def tilted(self, turns: Floats, tilt: Floats) -> tuple[Floats, Floats]:
        """Return turns with the foot turned, and the shift that keeps the middle of its sole where it is [m], (F, 3).

        Args:
            turns: Orientations seen from the root, (F, bodies, 4).
            tilt: By how much, as rotation vectors seen from the root [rad], (F, 3); toes are turned along.
        """
        low = self.points[:, 2].min()
        middle = rotations.rotate(turns[:, self.foot], np.array([*self.points[:, :2].mean(axis=0), low]))
        turn = rotations.from_rotation_vector(tilt)
        result = turns.copy()
        result[:, self.foot : self.end] = rotations.multiply(turn[:, None], turns[:, self.foot : self.end])
        return result, middle - rotations.rotate(turn, middle)

    def lifted(self, turns: Floats, shift: Floats) -> Floats:
        """Return turns with the foot moved by a shift [m], (F, 3) seen from the root; the foot stays as it is turned.

        Args:
            turns: Orientations seen from the root, (F, bodies, 4).
            shift: How far the foot is moved, (F, 3).
        """
        joints = self.joints(rotations.to_matrix(turns))
        front = rotations.rotate(turns[:, self.chain[-3]], self._knee_front(turns))
        thigh, shank = np.empty((len(turns), 4)), np.empty((len(turns), 4))
        _lift(joints[:, -3], joints[:, -2], joints[:, -1], np.asarray(shift, float), front, self.hinged, thigh, shank)
        result = turns.copy()
        for body, turn in ((self.chain[-3], thigh), (self.chain[-2], shank)):
            result[:, body] = rotations.multiply(turn, turns[:, body])
        return result

    def _knee_front(self, turns: Floats) -> Floats:
        """Return which way the knee points in the thigh's frame, (3,): across the axis it bends about in a motion.

        Args:
            turns: The motion, (F, bodies, 4).
        """
        thigh, shank = self.chain[-3:-1]
        down = self.offsets[-2] / max(float(np.linalg.norm(self.offsets[-2])), 1e-9)
        knee = rotations.multiply(rotations.conjugate(turns[:, thigh]), turns[:, shank])
        knee = rotations.to_rotation_vector(rotations.multiply(knee, rotations.conjugate(self.straight)))
        if np.percentile(np.linalg.norm(knee, axis=1), 90.0) < _BENT:
            return self.front
        axis = np.linalg.svd(knee, full_matrices=False)[2][0]
        front = np.cross(down, axis)
        front = front if front @ self.front >= 0.0 else -front
        return np.asarray(front) if front @ self.front > _CLEAR else self.front


@compiled
def _lift(
    hips: Any, knees: Any, ankles: Any, shift: Any, front: Any, hinged: bool, thigh: Any, shank: Any
) -> None:  # fmt: skip
    """Write how thigh and shank are to be turned so that the ankle is moved by a shift, (F, 4) each.

    Args:
        hips: Where the hip is [m], (F, 3).
        knees: Where the knee is, (F, 3).
        ankles: Where the ankle is, (F, 3).
        shift: How far it is to be moved, (F, 3).
        front: Which way the knee points, (F, 3).
        hinged: Whether the knee is a hinge: it goes along with the line from hip to ankle, and cannot stay behind.
        thigh: Written.
        shank: Written.
    """
    for f in range(shift.shape[0]):
        a, b, c = knees[f, 0] - hips[f, 0], knees[f, 1] - hips[f, 1], knees[f, 2] - hips[f, 2]
        p, q, r = ankles[f, 0] - knees[f, 0], ankles[f, 1] - knees[f, 1], ankles[f, 2] - knees[f, 2]
        x, y, z = a + p + shift[f, 0], b + q + shift[f, 1], c + r + shift[f, 2]
        upper, lower = max(_length(a, b, c), 1e-9), max(_length(p, q, r), 1e-9)
        far, whole = max(_length(x, y, z), 1e-9), upper + lower
        x, y, z = x / far, y / far, z / far
        most = max(_STRAIGHT * whole, min(_length(a + p, b + q, c + r), whole))
        far = min(max(far, _FOLDED * whole), most)
        along, off = knee_along(upper, lower, far)
        u, v, w = a, b, c
        if hinged:
            turn = turn_between(a + p, b + q, c + r, x, y, z)
            u, v, w = rotated(turn[0], turn[1], turn[2], turn[3], a, b, c)
        i, j, k = _off_line(x, y, z, u, v, w, front[f, 0], front[f, 1], front[f, 2], off)
        i, j, k = along * x + i, along * y + j, along * z + k
        thigh[f, 0], thigh[f, 1], thigh[f, 2], thigh[f, 3] = turn_between(a, b, c, i, j, k)
        shank[f, 0], shank[f, 1], shank[f, 2], shank[f, 3] = turn_between(
            p, q, r, far * x - i, far * y - j, far * z - k
        )


@inlined
def _length(x: float, y: float, z: float) -> float:
    return math.sqrt(x * x + y * y + z * z)


@compiled
def _off_line(
    x: float, y: float, z: float, a: float, b: float, c: float, i: float, j: float, k: float, off: float
) -> Vector:
    """Return how far the knee is off the line from hip to ankle [m], for a leg bent so that it is `off`.

    What the clip has it off to the side stays; the rest is bending, about the knee's own axis. A captured leg is often
    stretched a little too far: one that is so by more than `_OVER` bends further that way, any other forward.

    Args:
        x: From the hip to where the ankle is to be, at unit length.
        y: Likewise.
        z: Likewise.
        a: From the hip to the knee as the clip has it [m].
        b: Likewise.
        c: Likewise.
        i: Which way the knee points.
        j: Likewise.
        k: Likewise.
        off: How far [m].
    """
    dot = a * x + b * y + c * z
    a, b, c = a - dot * x, b - dot * y, c - dot * z
    dot = i * x + j * y + k * z
    i, j, k = i - dot * x, j - dot * y, k - dot * z
    size = max(_length(i, j, k), 1e-9)
    i, j, k = i / size, j / size, k / size
    bent = a * i + b * j + c * k
    a, b, c = a - bent * i, b - bent * j, c - bent * k
    way = min(max((bent + _OVER) / (0.5 * _OVER), -1.0), 1.0)
    way *= math.sqrt(max(off * off - (a * a + b * b + c * c), 0.0))
    return way * i + a, way * j + b, way * k + c


def legs_of(model: mujoco.MjModel, character: Character, soles: list[int]) -> list[Leg]:
    """Return the legs of a character that can be bent: chains of at least three bodies that end in a foot.

    The thigh must turn every way, by a ball or three hinges. Where hinges in a row share that, as in robots, bending
    two bones is no way to move a foot.

    Args:
        model: The scene.
        character: Who.
        soles: Geoms it stands on.
    """
    first = character.root_body
    bodies = {int(model.geom_bodyid[geom]) for geom in soles}
    feet = [body for body in sorted(bodies) if int(model.body_parentid[body]) not in bodies]
    return [leg for foot in feet if (leg := _leg(model, first, foot, soles)) is not None]


def _leg(model: mujoco.MjModel, root: int, foot: int, soles: list[int]) -> Leg | None:
    chain, body = [foot], int(model.body_parentid[foot])
    while body > root:
        chain.insert(0, body)
        body = int(model.body_parentid[body])
    if body != root or len(chain) < 3 or not _turns_every_way(model, chain[-3]):
        return None
    own = [g for g in soles if foot in (int(b := model.geom_bodyid[g]), int(model.body_parentid[b]))]
    points = []
    for geom in own:
        owner = int(model.geom_bodyid[geom])
        corners = box_corners(model, geom)
        if owner != foot:  # toes are taken as they are at rest; what they bend by is little
            corners = model.body_pos[owner] + rotations.rotate(model.body_quat[owner], corners)
        points.append(corners)
    if not points:
        return None
    offsets = np.stack([model.body_pos[b] for b in chain])
    stance = np.array([1.0, 0.0, 0.0, 0.0])
    for body in (root, *chain[:-2]):
        stance = rotations.multiply(stance, model.body_quat[body])
    front = rotations.rotate(rotations.conjugate(stance), np.array([1.0, 0.0, 0.0]))  # all stances face along x
    straight = model.body_quat[chain[-2]].copy()
    hinged = bool(model.jnt_type[model.body_jntadr[chain[-2]]] == mujoco.mjtJoint.mjJNT_HINGE)
    last = foot
    while last + 1 < model.nbody and int(model.body_parentid[last + 1]) >= foot:
        last += 1
    bodies = tuple(b - root for b in chain)
    return Leg(bodies, offsets, last + 1 - root, tuple(own), np.concatenate(points), front, straight, hinged)


def _turns_every_way(model: mujoco.MjModel, body: int) -> bool:
    first = int(model.body_jntadr[body])
    kinds = [int(model.jnt_type[joint]) for joint in range(first, first + int(model.body_jntnum[body]))]
    return mujoco.mjtJoint.mjJNT_BALL in kinds or kinds.count(int(mujoco.mjtJoint.mjJNT_HINGE)) >= 3
