"""A take's motion on the skeleton of the clip its body was built from: same names, order, channels and frame rate.

Joints of the clip that became no bone of the body (fingers, twist helpers) keep the rotation they have in the body's
reference stance, as they do on the body itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stunt.character.character import Character
from stunt.errors import ExportError
from stunt.export.axes import CENTIMETRE, file_axes
from stunt.export.options import Options, Up
from stunt.export.rig import continuous
from stunt.export.sampling import Floats, Motion, sample
from stunt.motion.clip import Clip, ClipPose, Door, WorldPose
from stunt.motion.clip_record import ClipRecord, record_from_data
from stunt.record.take import Take
from stunt.rotations import conjugate, multiply, rotate


def has_clip(take: Take, name: str, *, needed: bool) -> bool:
    """Tell whether a character's body came from a clip.

    Raises:
        ExportError: It did not, and the clip's skeleton is needed.
    """
    found = take.meta["characters"][name].get("clip") is not None
    if needed and not found:
        body = take.meta["characters"][name].get("body")
        raise ExportError(
            f"'{name}' has the body '{body}', which came from no clip (or the take was made before takes remembered "
            "clips): export it on its own skeleton, with --skeleton own."
        )
    return found


def clip_of_take(take: Take, name: str, options: Options) -> Clip:
    """Return a character's motion as a clip of the skeleton its body came from, at that clip's frame rate."""
    if options.root_motion:
        raise ExportError("root motion adds a bone, which a clip's skeleton does not have: use --skeleton own.")
    record = record_from_data(take.meta["characters"][name]["clip"])
    motion = sample(take, options, record.fps)
    root, turns = _joints(record, motion, Character(motion.model, name))
    if options.in_place:
        root = root - (root - root[0]) * [1.0, 1.0, 0.0]
    skeleton = replace(record.skeleton, channels=_channels(record))
    return Clip(record.name, skeleton, motion.fps, root, turns, door=_door(record, options.up))


def _door(record: ClipRecord, up: Up | None) -> Door:
    """Return the units and axes to write in: the clip's file's, or what is usual where that was no BVH."""
    if record.door.format != "bvh":
        return Door(format="bvh", scale=CENTIMETRE, axes=file_axes(up or "y"))
    return record.door if up is None else replace(record.door, axes=file_axes(up))


def _channels(record: ClipRecord) -> tuple[tuple[str, ...], ...]:
    """Return the file's channels, with three rotations for every joint that became a bone: its joint is a ball."""
    if not record.skeleton.channels or record.door.format != "bvh":
        return ()
    bones = set(record.joints.values())
    return tuple(_whole(names) if joint in bones else names for joint, names in enumerate(record.skeleton.channels))


def _whole(names: tuple[str, ...]) -> tuple[str, ...]:
    turns = [name for name in names if "rotation" in name]
    if len(turns) == 3:
        return names
    return (*names, *(f"{axis}rotation" for axis in "ZXY" if f"{axis}rotation" not in turns))[: len(names) + 3]


def _joints(record: ClipRecord, motion: Motion, character: Character) -> tuple[Floats, Floats]:
    """Return the root's place (F, 3) and all joints' turns in their parents' frames (F, J, 4)."""
    skeleton = record.skeleton
    stance = _stance(record)
    world = np.empty((len(motion.times), len(skeleton), 4))
    bodies = {joint: character.bodies[body] for body, joint in record.joints.items()}
    hips = next(joint for joint in skeleton.depth_first if joint in bodies)
    for joint in skeleton.depth_first:
        if joint in bodies:
            world[:, joint] = motion.rotations[:, bodies[joint]]
            continue
        holder = hips if joint in _above(record, hips) else skeleton.parents[joint]
        turn = motion.rotations[:, bodies[hips]] if holder == hips else world[:, holder]
        world[:, joint] = multiply(turn, multiply(conjugate(stance.rotations[holder]), stance.rotations[joint]))
    swing = multiply(motion.rotations[:, bodies[hips]], conjugate(stance.rotations[hips]))
    root = motion.positions[:, bodies[hips]] + rotate(swing, stance.positions[0] - stance.positions[hips])
    local = world.copy()
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            local[:, joint] = multiply(conjugate(world[:, parent]), world[:, joint])
    return root, continuous(local)


def _stance(record: ClipRecord) -> WorldPose:
    still = Clip(record.name, record.skeleton, record.fps, np.zeros((1, 3)), record.stance[None])
    return still.world_of(ClipPose(np.zeros(3), record.stance))


def _above(record: ClipRecord, joint: int) -> list[int]:
    found = []
    while (joint := record.skeleton.parents[joint]) >= 0:
        found.append(joint)
    return found
