"""A character of a take as a clip, on its body's own skeleton or on that of the clip the body came from.

Where an exported clip lies: on the stage, or where the clip it followed lay in its own file.

A take's motion on the skeleton of the clip its body was built from: same names, order, channels and frame rate.

Joints of the clip that became no bone of the body (fingers, twist helpers) keep the rotation they have in the body's
reference stance, as they do on the body itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stunt.character.character import Character
from stunt.errors import ExportError
from stunt.export.contents import SCENE_FPS, move_to_source, rig_of
from stunt.export.options import CENTIMETRE, Options, Up, file_axes
from stunt.export.rig import Rig, continuous
from stunt.export.sampling import Floats, SampledTake, sample
from stunt.library.clip_record import ClipRecord
from stunt.maths.rotations import conjugate, multiply, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import ClipPose, Door, EndSite, Skeleton, WorldPose
from stunt.record.take import Take


def put_in_place(clip: Clip, take: Take, name: str, options: Options) -> Clip:
    """Return a character's motion where the options want it; it comes as it was on the stage."""
    move = move_to_source(take, name, options)
    rotations = clip.rotations.copy()
    root, rotations[:, 0] = move(clip.root, clip.rotations[:, 0])
    return clip.with_motion(root, rotations)


def has_clip(take: Take, name: str, *, needed: bool) -> bool:
    """Tell whether a character's body came from a clip.

    Raises:
        ExportError: It did not, and the clip's skeleton is needed.
    """
    found = take.cast.character(name).clip is not None
    if needed and not found:
        body = take.cast.character(name).body
        raise ExportError(
            f"'{name}' has the body '{body}', which came from no clip (or the take was made before takes remembered "
            "clips): export it on its own skeleton, with --skeleton own."
        )
    return found


def clip_of_take(take: Take, name: str, options: Options) -> Clip:
    """Return a character's motion as a clip of the skeleton its body came from, at that clip's frame rate."""
    if options.root_motion:
        raise ExportError("root motion adds a bone, which a clip's skeleton does not have: use --skeleton own.")
    record = take.cast.character(name).clip
    if record is None:
        raise ExportError(f"'{name}' has no clip whose skeleton could be written.")
    motion = sample(take, options, record.fps)
    root, turns = _joints(record, motion, Character(motion.model, name))
    if options.in_place:
        root = root - (root - root[0]) * [1.0, 1.0, 0.0]
    skeleton = replace(record.skeleton, channels=_clip_channels(record))
    return Clip(record.name, skeleton, motion.fps, root, turns, door=_door(record, options.up))


def _door(record: ClipRecord, up: Up | None) -> Door:
    """Return the units and axes to write in: the clip's file's, or what is usual where that was no BVH."""
    if record.door.format != "bvh":
        return Door(format="bvh", scale=CENTIMETRE, axes=file_axes(up or "y"))
    return record.door if up is None else replace(record.door, axes=file_axes(up))


def _clip_channels(record: ClipRecord) -> tuple[tuple[str, ...], ...]:
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


def _joints(record: ClipRecord, motion: SampledTake, character: Character) -> tuple[Floats, Floats]:
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


_MOVES = 1e-7  # A bone whose place in its parent varies by less [m] keeps its length.


def clip_to_write(take: Take, options: Options) -> Clip:
    """Return the motion of the one character the options name, on the skeleton they want."""
    name = str(options.character)
    if _wants_clip(options) and has_clip(take, name, needed=options.skeleton == "clip"):
        return put_in_place(clip_of_take(take, name, options), take, name, options)
    motion = sample(take, options, SCENE_FPS)
    return own_clip(rig_of(take, motion, name, options), motion.fps, options)


def _wants_clip(options: Options) -> bool:
    """Tell whether the clip's skeleton will do: with a bone for root motion it is another one."""
    return options.skeleton == "clip" or (options.skeleton == "auto" and not options.root_motion)


def own_clip(rig: Rig, fps: float, options: Options) -> Clip:
    """Return a rig's motion as a clip, in centimetres, with three rotations on every bone."""
    places, turns = rig.local()
    offsets = rig.offsets()
    shifts = places - offsets
    shifts[:, 0] = 0.0
    loose = np.abs(shifts).max(axis=(0, 2)) > _MOVES
    offsets[0] = 0.0
    skeleton = Skeleton(rig.names, rig.parents, offsets, _tips(rig), _channels(loose))
    door = Door(format="bvh", scale=CENTIMETRE, axes=file_axes(options.up or "y"))
    return Clip(rig.character, skeleton, fps, rig.positions[:, 0], turns, shifts if loose.any() else None, door=door)


def _channels(loose: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Return the channels of every bone: positions for the root and for bones that slide."""
    turns = ("Zrotation", "Xrotation", "Yrotation")
    ways = ("Xposition", "Yposition", "Zposition")
    return tuple(ways + turns if bone == 0 or slides else turns for bone, slides in enumerate(loose))


def _tips(rig: Rig) -> tuple[EndSite, ...]:
    """Return a tip for every bone that ends in no other: as far on as its parent is long, so that it can be seen."""
    inner = set(rig.parents)
    found = []
    for bone, parent in enumerate(rig.parents):
        if bone not in inner:
            found.append(EndSite(bone, _tip(rig.rest[bone], rig.rest[parent] if parent >= 0 else rig.rest[bone])))
    return tuple(found)


def _tip(here: Floats, above: Floats) -> Floats:
    way = here - above
    length = float(np.linalg.norm(way))
    return np.array([0.0, 0.0, 0.1]) if length < 1e-6 else way / length * min(max(0.6 * length, 0.05), 0.2)
