"""A body from the skeleton of a clip that is no person's: every bone becomes one, whatever it is called."""

from __future__ import annotations

import re

import numpy as np

from stunt.character.creature import THINNEST
from stunt.character.skeleton_plan import BonePlan, SkeletonPlan
from stunt.errors import BodyError
from stunt.motion.clip import Clip, ClipPose, WorldPose
from stunt.rotations import Floats

MOST = 150
"""Bones a creature may have; beyond, a skeleton is something else."""


def creature_plan(clip: Clip) -> tuple[SkeletonPlan, tuple[int, ...]]:
    """Return the plan of a creature, and the clip's joint of each of its bones.

    Joints of no length that nothing hangs on, or that coincide with what they hang on, follow their parents.

    Raises:
        BodyError: It has no bones, or far too many.
    """
    skeleton = clip.skeleton
    rest = np.zeros((len(skeleton), 4))
    rest[:, 0] = 1.0
    world = clip.world_of(ClipPose(np.zeros(3), rest))
    size = float(np.ptp(world.positions, axis=0).max())
    kept = [joint for joint in skeleton.depth_first if joint == 0 or _has_length(clip, joint, size)]
    if size <= 0 or len(kept) < 2:
        raise BodyError(f"the skeleton of '{clip.name}' has no bones of any length.")
    if len(kept) > MOST:
        raise BodyError(f"the skeleton of '{clip.name}' has {len(kept)} bones; a body may have {MOST}.")
    place = {joint: number for number, joint in enumerate(kept)}
    names = _names(clip, kept)
    bones = [_bone(clip, joint, place, world, names[number]) for number, joint in enumerate(kept)]
    file = clip.door.file or "FILE"
    notes = [
        "it stands as the skeleton does at rest, and faces the way the file has it",
        f"if it is a person, name its joints: stunt check {file} --mapping map.yaml, edit that, use "
        f"{file}?mapping=map.yaml",
    ]
    left = [skeleton.names[joint] for joint in range(len(skeleton)) if joint not in place]
    if left:
        notes.append(f"{len(left)} joints follow their parents: {', '.join(left[:20])}")
    return SkeletonPlan(clip.name, tuple(bones), size, tuple(notes)), tuple(kept)


def _has_length(clip: Clip, joint: int, size: float) -> bool:
    return bool(np.linalg.norm(clip.skeleton.offsets[joint]) > 1e-3 * size)


def _names(clip: Clip, kept: list[int]) -> list[str]:
    """Return names a scene can use: without slashes, and each once."""
    names: list[str] = []
    for joint in kept:
        wish = re.sub(r"[^\w.\-]+", "_", clip.skeleton.names[joint]) or f"bone{joint}"
        name, number = wish, 2
        while name in names:
            name, number = f"{wish}_{number}", number + 1
        names.append(name)
    return names


def _bone(clip: Clip, joint: int, place: dict[int, int], world: WorldPose, name: str) -> BonePlan:
    above = clip.skeleton.parents[joint]
    while above >= 0 and above not in place:
        above = clip.skeleton.parents[above]
    # At rest every frame of a clip's skeleton is parallel to the world's.
    origin = world.positions[joint] - (world.positions[above] if above >= 0 else 0.0)
    tips = [site.offset for site in clip.skeleton.end_sites if site.parent == joint]
    below = [clip.skeleton.offsets[child] for child in clip.skeleton.children[joint]]
    ends = [*tips, *below, 0.4 * clip.skeleton.offsets[joint]]
    tip: Floats = np.asarray(max(tips or below or ends, key=lambda end: float(np.linalg.norm(end))), float)
    straight = np.array([1.0, 0.0, 0.0, 0.0])
    return BonePlan(name, name, "limb", "", place.get(above, -1), np.asarray(origin), straight, tip, np.eye(3))


def creature_floor(clip: Clip, plan: SkeletonPlan, joints: tuple[int, ...]) -> float:
    """Return how high the ground is under a creature's motion [m]: below its lowest joint by the thinnest flesh."""
    return float(clip.world.positions[:, list(joints), 2].min()) - THINNEST * plan.height
