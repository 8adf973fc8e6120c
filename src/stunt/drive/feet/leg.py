"""A leg as a chain of two links: where its foot goes in a clip, and how it gets there higher or lower."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.maths import rotations
from stunt.maths.rotations import Floats

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
        points: Corners of the sole, toes as they are at rest, in the foot's frame [m], (points, 3).
        front: Which way the body faces in its reference stance, in the thigh's frame, (3,).
        straight: How the shank is turned against the thigh in that stance, wxyz.
    """

    chain: tuple[int, ...]
    offsets: Floats
    points: Floats
    front: Floats
    straight: Floats

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

    def tilted(self, turns: Floats, tilt: Floats, last: int) -> tuple[Floats, Floats]:
        """Return turns with the foot turned, and the shift that keeps the middle of its sole where it is [m], (F, 3).

        Args:
            turns: Orientations seen from the root, (F, bodies, 4).
            tilt: By how much, as rotation vectors seen from the root [rad], (F, 3).
            last: One past the last body of the foot: toes are turned along.
        """
        low = self.points[:, 2].min()
        middle = rotations.rotate(turns[:, self.foot], np.array([*self.points[:, :2].mean(axis=0), low]))
        turn = rotations.from_rotation_vector(tilt)
        result = turns.copy()
        result[:, self.foot : last] = rotations.multiply(turn[:, None], turns[:, self.foot : last])
        return result, middle - rotations.rotate(turn, middle)

    def lifted(self, turns: Floats, shift: Floats) -> Floats:
        """Return turns with the foot moved by a shift [m], (F, 3) seen from the root; the foot stays as it is turned.

        Args:
            turns: Orientations seen from the root, (F, bodies, 4).
            shift: How far the foot is moved, (F, 3).
        """
        joints = self.joints(rotations.to_matrix(turns))
        hip, knee, ankle = joints[:, -3], joints[:, -2], joints[:, -1]
        forward = rotations.rotate(turns[:, self.chain[-3]], self._knee_front(turns))
        upper, lower = _length(knee - hip), _length(ankle - knee)
        way = ankle + shift - hip
        reach = _length(way)
        whole = upper + lower
        far = np.clip(reach, _FOLDED * whole, np.maximum(_STRAIGHT * whole, np.minimum(_length(ankle - hip), whole)))
        along = way / reach
        cosine = np.clip((upper**2 + far**2 - lower**2) / (2 * upper * far), -1.0, 1.0)
        new_knee = hip + upper * cosine * along + _off_line(along, knee - hip, forward, upper * np.sqrt(1 - cosine**2))
        new_ankle = hip + far * along
        result = turns.copy()
        for body, old, new in (
            (self.chain[-3], knee - hip, new_knee - hip),
            (self.chain[-2], ankle - knee, new_ankle - new_knee),
        ):
            result[:, body] = rotations.multiply(_between(old, new), turns[:, body])
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


def _length(vector: Floats) -> Floats:
    return np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-9)


def _off_line(along: Floats, thigh: Floats, forward: Floats, size: Floats) -> Floats:
    """Return how far the knee is off the line from hip to ankle [m], (F, 3), for a leg bent so that it is `size` off.

    What the clip has it off to the side stays; the rest is bending, about the knee's own axis. A captured leg is often
    stretched a little too far: one that is so by more than `_OVER` bends further that way, any other forward.

    Args:
        along: From the hip to where the ankle is to be, (F, 3).
        thigh: From the hip to the knee as the clip has it [m], (F, 3).
        forward: Which way the knee points, (F, 3).
        size: How far [m], (F, 1).
    """
    across = thigh - _dot(thigh, along) * along
    forward = forward - _dot(forward, along) * along
    forward = forward / _length(forward)
    bent = _dot(across, forward)
    aside = across - bent * forward
    way = np.clip((bent + _OVER) / (0.5 * _OVER), -1.0, 1.0)
    return np.asarray(way * np.sqrt(np.maximum(size**2 - _dot(aside, aside), 0.0)) * forward + aside)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray((a * b).sum(axis=-1, keepdims=True))


def _between(old: Floats, new: Floats) -> Floats:
    """Return the shortest turns from some directions to others, (F, 4)."""
    a, b = old / _length(old), new / _length(new)
    real = 1.0 + (a * b).sum(axis=-1, keepdims=True)
    return rotations.normalise(np.concatenate([np.maximum(real, 1e-9), np.cross(a, b)], axis=-1))


def legs_of(model: mujoco.MjModel, character: Character, soles: list[int]) -> list[Leg]:
    """Return the legs of a character: chains of at least three bodies that end in a foot.

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
    if body != root or len(chain) < 3:
        return None
    toes = [b for b in range(foot + 1, model.nbody) if int(model.body_parentid[b]) == foot]
    points = []
    for geom in soles:
        owner = int(model.geom_bodyid[geom])
        if owner not in (foot, *toes):
            continue
        corners = _corners(model, geom)
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
    return Leg(tuple(b - root for b in chain), offsets, np.concatenate(points), front, straight)


def _corners(model: mujoco.MjModel, geom: int) -> Floats:
    """Return the corners of a geom's box in its body's frame [m], (8, 3)."""
    centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return np.asarray(model.geom_pos[geom] + rotations.rotate(model.geom_quat[geom], centre + signs * half))
