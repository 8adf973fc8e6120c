"""A body as behaviours see it: parts of a person by name, whatever skeleton they come from.

All skeletons are brought to one neutral stance: upright, facing +x, arms and legs hanging straight down. A posture says
how parts are turned from there about forward, left and up; here that becomes the orientation of every bone seen from
the root, which is what the world-space servo reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.errors import BodyError
from stunt.maths import rotations
from stunt.maths.rotations import Floats

PARTS = ("thigh", "shank", "foot", "upper_arm", "forearm", "hand")
NEEDED = tuple(f"{side}_{part}" for side in "lr" for part in PARTS) + ("head",)
_HANGING = ("thigh", "shank", "upper_arm", "forearm", "hand")
_DOWN = np.array([0.0, 0.0, -1.0])
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Anatomy:
    """What behaviours need to know of a body."""

    names: tuple[str, ...]  #: Its bodies in the model's order, the root first
    parents: tuple[int, ...]  #: Number of each body's parent in that order; −1 for the root
    neutral: Floats  #: Orientation of each body in the neutral stance, (B, 4)
    offsets: Floats  #: Each body's joint seen from its parent's, in the parent's neutral axes [m], (B, 3)
    stance: Floats  #: Orientation of the root's own frame in the neutral stance, (4,)
    height: float  #: Height of the root when standing [m]
    mass: float  #: Body mass [kg]

    def number(self, name: str) -> int:
        """Return a body's number by name."""
        return self.names.index(name)

    def length(self, name: str) -> float:
        """Return how far a body's first child's joint is from its own [m]; of a hand or a foot 0."""
        own = self.number(name)
        children = [k for k, parent in enumerate(self.parents) if parent == own]
        return float(np.linalg.norm(self.offsets[children[0]])) if children else 0.0

    def lifted(self, posture: Mapping[str, Floats]) -> Floats:
        """Return how every body is turned from neutral, seen from the root, (B, 4), where a posture turns joints."""
        turns = np.tile(IDENTITY, (len(self.names), 1))
        for k, name in enumerate(self.names[1:], start=1):
            own = posture.get(name)
            above = turns[self.parents[k]]
            turns[k] = above if own is None else rotations.multiply(above, own)
        return turns

    def turns(self, lifted: Floats) -> Floats:
        """Return the servo's rows of bodies turned so from neutral: orientations seen from the root's own frame."""
        back = rotations.conjugate(self.stance)
        result = rotations.multiply(back, rotations.multiply(lifted, self.neutral))
        result[..., 0, :] = lifted[..., 0, :]
        return np.asarray(result)

    def places(self, lifted: Floats) -> Floats:
        """Return where the joints are, seen from the root in its neutral axes [m], (B, 3)."""
        return np.array([self.place(lifted, k) for k in range(len(self.names))])

    def place(self, lifted: Floats, number: int) -> Floats:
        """Return where one joint is, seen from the root in its neutral axes [m], (3,)."""
        found = np.zeros(3)
        while number > 0:
            above = self.parents[number]
            # Row 0 may hold how the root is turned in the world; seen from itself it is not turned.
            found += _turned(lifted[above], self.offsets[number]) if above > 0 else self.offsets[number]
            number = above
        return found

    def seen(self, quaternions: Floats) -> Floats:
        """Return how bodies of these world orientations are turned from neutral in the world, (B, 4)."""
        return np.asarray(rotations.multiply(quaternions, rotations.conjugate(self.neutral)))


def is_person(character: Character) -> bool:
    """Whether a body can move by behaviours: free, with arms, legs and a head by their usual names."""
    return character.root is not None and all(part in character.bodies for part in NEEDED)


def anatomy_of(model: mujoco.MjModel, character: Character, facing: float = 0.0) -> Anatomy:
    """Look at a body in its reference stance.

    Args:
        model: The scene.
        character: Whose body.
        facing: Where the scene turns it [rad].

    Raises:
        BodyError: It has no free root, or lacks arms, legs or a head by their usual names.
    """
    missing = [part for part in NEEDED if part not in character.bodies]
    if character.root is None or missing:
        why = f"no {', '.join(missing)}" if missing else "its root is fixed"
        raise BodyError(f"'{character.name}' cannot move by behaviours: {why}. They need a free person's body.")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    first, end = character.root_body, max(character.bodies.values()) + 1
    by_number = {number: name for name, number in character.bodies.items()}
    names = tuple(by_number[number] for number in range(first, end))
    parents = tuple(int(model.body_parentid[b]) - first if b > first else -1 for b in range(first, end))
    back = rotations.from_rotation_vector(np.array([0.0, 0.0, -facing]))
    places = rotations.rotate(back, data.xpos[first:end] - data.xpos[first])
    found = rotations.multiply(back, data.xquat[first:end])
    neutral, offsets = _hung(names, parents, places, found)
    return Anatomy(
        names, parents, neutral, offsets, found[0], float(data.xpos[first, 2]), float(model.body_subtreemass[first])
    )


def _hung(names: tuple[str, ...], parents: tuple[int, ...], places: Floats, turns: Floats) -> tuple[Floats, Floats]:
    """Let arms and legs hang straight down; return orientations and joint offsets then."""
    fix = np.tile(IDENTITY, (len(names), 1))
    for k, name in enumerate(names):
        above = parents[k]
        if above >= 0:
            fix[k] = fix[above]
        if name.partition("_")[2] not in _HANGING:
            continue
        children = [c for c, parent in enumerate(parents) if parent == k]
        if children:
            way = rotations.rotate(fix[k], places[children[0]] - places[k])
            fix[k] = rotations.multiply(_shortest(way, _DOWN), fix[k])
    neutral = rotations.multiply(fix, turns)
    offsets = np.zeros((len(names), 3))
    for k, above in enumerate(parents):
        if above >= 0:
            offsets[k] = rotations.rotate(fix[above], places[k] - places[above])
    return np.asarray(neutral), offsets


def _turned(q: Floats, v: Floats) -> Floats:
    """Return a vector turned by a quaternion, (3,): plain arithmetic, because arrays this small cost more to set up."""
    w, x, y, z = q
    a, b, c = v
    i, j, k = y * c - z * b + w * a, z * a - x * c + w * b, x * b - y * a + w * c
    return np.array([a + 2.0 * (y * k - z * j), b + 2.0 * (z * i - x * k), c + 2.0 * (x * j - y * i)])


def _shortest(start: Floats, end: Floats) -> Floats:
    """Return the smallest turn of one direction into another, (4,)."""
    one, other = start / np.linalg.norm(start), end / np.linalg.norm(end)
    axis, cosine = np.cross(one, other), float(one @ other)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-9:
        return IDENTITY if cosine > 0 else np.array([0.0, 1.0, 0.0, 0.0])
    return rotations.from_rotation_vector(axis / sine * np.arctan2(sine, cosine))
