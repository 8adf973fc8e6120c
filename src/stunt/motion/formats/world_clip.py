"""Clips from where bones are in the world: for formats that turn their bones anyhow at rest.

Here frames are parallel to the world's at rest, as in all clips; where the bones are, and how they move, stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stunt.errors import Place
from stunt.maths.rotations import Floats, conjugate, multiply, normalise, rotate
from stunt.motion.clips.raw import ClipFileError, RawClip

_LARGEST = 1e9
_MOVED = 1e-4  # a bone whose joint wanders less than this share of the longest bone keeps its length


@dataclass(frozen=True, eq=False)
class WorldBones:
    """A skeleton's bones through a motion, in one right-handed world.

    Attributes:
        names: Of the joints, parents first.
        parents: Of each, −1 for the first.
        rest_places: Where the joints are at rest, (J, 3).
        rest_turns: How they are turned at rest, (J, 4).
        places: Where they are in every frame, (F, J, 3).
        turns: How they are turned, (F, J, 4).
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    rest_places: Floats
    rest_turns: Floats
    places: Floats
    turns: Floats


def raw_of_world(
    bones: WorldBones, *, form: str, file: str, fps: float, up: str, scale: float | None, notes: Mapping[str, str]
) -> RawClip:
    """Return what a file says, for bones in the world (`form`: its format; the rest as in `RawClip`).

    Raises:
        ClipFileError: It has numbers that are no place, turn, rate or unit of anything.
    """
    said = (bones.places, bones.turns, bones.rest_places, bones.rest_turns, np.array([fps, scale or 1.0]))
    if not all((np.abs(some) <= _LARGEST).all() for some in said) or fps <= 0.0 or up not in ("y", "z"):
        raise ClipFileError("has numbers that are no usable places, turns, rates or units.", Place(file))
    world = multiply(bones.turns, conjugate(bones.rest_turns))
    rotations, offsets = world.copy(), np.zeros_like(bones.rest_places)
    shifts = np.zeros_like(bones.places)
    for joint, parent in enumerate(bones.parents):
        if parent >= 0:
            back = conjugate(world[:, parent])
            rotations[:, joint] = multiply(back, world[:, joint])
            offsets[joint] = bones.rest_places[joint] - bones.rest_places[parent]
            shifts[:, joint] = rotate(back, bones.places[:, joint] - bones.places[:, parent]) - offsets[joint]
    # Some files keep bones at rest in other lengths than they have in motion: the motion's count.
    steady = np.ptp(shifts, axis=0).max(axis=-1) < _MOVED * max(float(np.abs(offsets).max(initial=0.0)), 1e-9)
    offsets[steady] += shifts[0, steady]
    shifts[:, steady] = 0.0
    return RawClip(
        format=form, file=file, names=bones.names, parents=bones.parents, offsets=offsets, end_sites=(), fps=fps,
        root=bones.places[:, 0], rotations=normalise(rotations), shifts=shifts if shifts.any() else None, scale=scale,
        up=up, notes=notes,
    )  # fmt: skip


def largest_tree(parents: Sequence[int]) -> list[int]:
    """Return the joints of the tree with most of them, in order, for parents that come first (−1: a root)."""
    root_of: list[int] = []
    for joint, parent in enumerate(parents):
        root_of.append(joint if parent < 0 else root_of[parent])
    best = max(set(root_of), key=lambda root: (root_of.count(root), -root))
    return [joint for joint, root in enumerate(root_of) if root == best]


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which none is there twice: later ones are numbered."""
    found: dict[str, int] = {}
    result = []
    for name in names:
        found[name] = found.get(name, 0) + 1
        result.append(name if found[name] == 1 else f"{name}_{found[name]}")
    return tuple(result)
