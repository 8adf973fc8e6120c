"""Joints above the hips: a `Reference` or `Root` node that many tools put over the person.

Everything else takes a clip's first joint for the hips. So where legs and trunk meet in a later joint, the nodes above
it are laid into it (`lift`), and put back where a clip is written (`lowered`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from stunt.maths.rotations import Floats, conjugate, multiply, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import Above
from stunt.motion.clips.raw import RawClip


def lift(raw: RawClip, parts: Mapping[str, int]) -> tuple[RawClip, Above | None]:
    """Return the motion with its first joint in the hips, and what was above them; as it is where nothing was."""
    hips = hips_of(parts, raw.parents)
    if hips == 0:
        return raw, None
    path = _path(hips, raw.parents)
    frames, joints = raw.rotations.shape[:2]
    shifts = np.zeros((frames, joints, 3)) if raw.shifts is None else raw.shifts.copy()
    above = Above(tuple(path), raw.offsets[path], raw.root, raw.rotations[:, path], shifts[:, path])
    root, turn = _end_of(above)
    rotations, offsets = raw.rotations.copy(), raw.offsets.copy()
    rotations[:, path] = np.array([1.0, 0.0, 0.0, 0.0])
    rotations[:, 0], offsets[path[1:]], shifts[:, path] = turn, 0.0, 0.0
    inner = shifts if shifts.any() else None
    return replace(raw, root=root, rotations=rotations, offsets=offsets, shifts=inner), above


def hips_of(parts: Mapping[str, int], parents: Sequence[int]) -> int:
    """Return the joint in which legs and trunk meet; 0 where that cannot be told."""
    if parts.get("hips", 0):
        return parts["hips"]
    upper = [joint for part, joint in parts.items() if part.startswith(("spine", "neck", "head")) or "arm" in part]
    if "l_thigh" not in parts or "r_thigh" not in parts or not upper:
        return 0
    paths = [set(_path(joint, parents)) for joint in (parts["l_thigh"], parts["r_thigh"], *upper)]
    return max(set.intersection(*paths))


def lowered(clip: Clip) -> Clip:
    """Return the clip with the nodes above its hips as they were, so that the skeleton is its file's again."""
    above = clip.door.above
    if above is None:
        return clip
    path, hips = list(above.path), above.path[-1]
    if len(above.root) != clip.frames:  # another length: they stay as they are at the start
        above = Above(above.path, above.offsets, *(np.repeat(x[:1], clip.frames, axis=0) for x in above.motion))
    world = clip.world
    offsets, rotations = clip.skeleton.offsets.copy(), clip.rotations.copy()
    shifts = np.zeros((*rotations.shape[:2], 3)) if clip.shifts is None else clip.shifts.copy()
    offsets[path], rotations[:, path], shifts[:, path] = above.offsets, above.turns, above.shifts
    place, turn = _end_of(replace(above, path=above.path[:-1]))
    back = conjugate(turn)
    rotations[:, hips] = multiply(back, world.rotations[:, hips])
    root, away = above.root, rotate(back, world.positions[:, hips] - place) - above.offsets[-1]
    channels = clip.skeleton.channels
    if channels and not any("position" in name for name in channels[hips]):  # its root is what moves it
        root, away = root + rotate(turn, away - above.shifts[:, -1]), above.shifts[:, -1]
    shifts[:, hips] = away
    skeleton = replace(clip.skeleton, offsets=offsets)
    return replace(
        clip, skeleton=skeleton, root=root, rotations=rotations, shifts=shifts, door=replace(clip.door, above=None)
    )


def _path(joint: int, parents: Sequence[int]) -> list[int]:
    """Return the joints from the first to one, both included."""
    path = [joint]
    while path[-1] > 0:
        path.append(parents[path[-1]])
    return path[::-1]


def _end_of(above: Above) -> tuple[Floats, Floats]:
    """Return where the last joint of a path is, (F, 3), and how it is turned, (F, 4)."""
    place, turn = above.root, above.turns[:, 0]
    for number in range(1, len(above.path)):
        place = place + rotate(turn, above.offsets[number] + above.shifts[:, number])
        turn = multiply(turn, above.turns[:, number])
    return place, turn
