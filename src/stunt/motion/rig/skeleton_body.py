"""A simulated body from a clip's own skeleton, and the clip in that body's coordinates.

A body from the skeleton of a clip that is no person's: every bone becomes one, whatever it is called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from stunt.character.creature import THINNEST, build_creature
from stunt.character.from_skeleton import Build, build_from_plan
from stunt.character.ligaments import with_limits
from stunt.character.skeleton_plan import BonePlan, SkeletonPlan, Sole
from stunt.errors import BodyError, InvalidValueError, UnknownNameError, announced
from stunt.maths.rotations import Floats, conjugate, multiply, rotate, to_matrix
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import ClipPose, WorldPose
from stunt.motion.clips.euler import to_euler
from stunt.motion.clips.mapping import PARTS
from stunt.motion.clips.standing import (
    BALL_HEIGHT,
    FootJoints,
    feet_of,
    floor_height,
    footing,
    reference_stance,
    stature,
)

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
    bones = [_creature_bone(clip, joint, place, world, names[number]) for number, joint in enumerate(kept)]
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


def _creature_bone(clip: Clip, joint: int, place: dict[int, int], world: WorldPose, name: str) -> BonePlan:
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


NEEDED = ("hips", "l_thigh", "l_shank", "r_thigh", "r_shank")
_JOINTS = {
    "thigh": "hip",
    "shank": "knee",
    "foot": "ankle",
    "toe": "toe",
    "clavicle": "clavicle",
    "upper_arm": "shoulder",
    "forearm": "elbow",
    "hand": "wrist",
}


@dataclass(frozen=True, eq=False)
class SkeletonBody:
    """A body with a clip's bones, and that clip on its floor."""

    plan: SkeletonPlan  #: What it is built from; its bones' frames are the clip's
    clip: Clip  #: The clip, lowered so that its ground is at z = 0
    joints: tuple[int, ...]  #: The clip's joint of each bone
    floor: float  #: How high the clip's ground was [m]
    build: Build = Build()  #: Mass, joints, strength and the like
    creature: bool = False  #: Whether it is no person's body but a capsule per bone

    @cached_property
    def spec(self) -> mujoco.MjSpec:
        """The body for MuJoCo, standing on z = 0, facing +x; built when first asked for."""
        return build_creature(self.plan, self.build) if self.creature else build_from_plan(self.plan, self.build)

    @property
    def kind(self) -> str:
        """Ball joints, or three hinges each."""
        return self.build.joints

    def world_at(self, time: ArrayLike) -> WorldPose:
        """Return where the clip has the bones at a time [s]: positions (..., B, 3) and rotations (..., B, 4)."""
        world = self.clip.world_at(time)
        return WorldPose(world.positions[..., self.joints, :], world.rotations[..., self.joints, :])

    def locals_of(self, world: WorldPose) -> Floats:
        """Return the joints' rotations for bones turned so in the world, (..., B, 4); the root's is its world's."""
        return _locals(self.plan, world.rotations)

    def qpos_at(self, time: ArrayLike) -> Floats:
        """Return the body's coordinates at a time [s], (..., nq): free root, then its joints in order."""
        world = self.world_at(time)
        local = self.locals_of(world)
        turns = local[..., 1:, :]
        if self.kind == "ball":
            joints = turns.reshape(*turns.shape[:-2], -1)
        else:
            flat = turns.reshape(-1, turns.shape[-2], 4)
            angles = np.stack([to_euler(flat[:, bone], "XYZ") for bone in range(flat.shape[1])], axis=1)
            joints = angles.reshape(*turns.shape[:-2], -1)
        return np.concatenate([world.positions[..., 0, :], local[..., 0, :], joints], axis=-1)

    @property
    def frames_qpos(self) -> Floats:
        """The body's coordinates in every frame of the clip, (F, nq); shared, so they cannot be written to."""

        def find() -> Floats:
            qpos = np.asarray(self.qpos_at(np.arange(self.clip.frames) / self.clip.fps), float)
            qpos.setflags(write=False)
            return qpos

        return self.clip.once(("qpos", self.kind), find)


@announced
def body_from_clip(clip: Clip, build: Build | None = None, parts: dict[str, int] | None = None) -> SkeletonBody:
    """Build a body from a clip's own skeleton.

    Args:
        clip: The clip; its motion shows where the floor and the soles are.
        build: Mass, joints, strength and the like.
        parts: Which joint is which part of a person; None takes the clip's mapping file, or guesses by the names.

    Raises:
        BodyError: The skeleton is not a person's, or its names do not tell.
    """
    known = dict(clip.parts if parts is None else parts)
    for part, joint in (parts or {}).items():
        if part not in PARTS:
            raise UnknownNameError("part", part, PARTS)
        if not 0 <= joint < len(clip.skeleton):
            raise InvalidValueError(f"the joint of part '{part}'", joint, f"from 0 to {len(clip.skeleton) - 1}")
    found = clip.once(("body", *known.items()), lambda: _body_of(clip, known))
    return replace(found, build=build or Build())


def _body_of(clip: Clip, parts: dict[str, int]) -> SkeletonBody:
    """Plan the body; however it is built, its bones are these."""
    missing = [part for part in NEEDED if part not in parts]
    if is_creature(parts) and clip.door.parts is None:
        return _creature(clip)
    if missing:
        raise BodyError(
            f"the skeleton of '{clip.name}' is no person's that Stunt knows: no joint is {', '.join(missing)}. "
            f"Its joints: {', '.join(clip.skeleton.names[:60])}. Name them in a mapping file: "
            f"stunt check {clip.door.file or 'FILE'} --mapping map.yaml, edit it, then {clip.door.file or 'FILE'}"
            "?mapping=map.yaml."
        )
    floor = floor_height(clip, parts)
    grounded = clip.with_motion(clip.root - [0.0, 0.0, floor], clip.rotations, door=clip.door)
    plan, joints = _plan(grounded, parts)
    plan = with_limits(plan, _locals(plan, grounded.world.rotations[:, joints]))
    plan = replace(plan, notes=(*plan.notes, f"the clip's ground was at {floor:+.3f} m and is now at 0"))
    return SkeletonBody(plan, grounded, joints, floor)


def _locals(plan: SkeletonPlan, world: Floats) -> Floats:
    """Return the joints' rotations for bones turned so in the world, (..., B, 4); the root's is its world's."""
    parents = [max(bone.parent, 0) for bone in plan.bones]
    local = multiply(conjugate(world[..., parents, :]), world)
    stance = np.stack([bone.stance for bone in plan.bones])
    result = multiply(conjugate(stance), local)
    result[..., 0, :] = world[..., 0, :]
    return result


def is_creature(parts: Mapping[str, int]) -> bool:
    """Whether nothing but the root of a skeleton was recognised as a part of a person's legs and arms."""
    limbs = [part for part in parts if part.startswith(("l_", "r_"))]
    return len(limbs) < 4


def _creature(clip: Clip) -> SkeletonBody:
    plan, joints = creature_plan(clip)
    floor = creature_floor(clip, plan, joints)
    grounded = clip.with_motion(clip.root - [0.0, 0.0, floor], clip.rotations, door=clip.door)
    return SkeletonBody(plan, grounded, joints, floor, creature=True)


def _named(parts: dict[str, int]) -> list[tuple[str, str, str, int]]:
    """Return body name, kind of part, side and joint of the parts that become bones."""
    if "head" not in parts:  # some skeletons have a neck that carries the head
        necks = sorted((joint, part) for part, joint in parts.items() if part.startswith("neck"))
        if necks:
            parts["head"] = parts.pop(necks[-1][1])
    spines = [part for part in parts if part.startswith("spine")]
    found = []
    for part, joint in parts.items():
        side = part[:2] if part[:2] in ("l_", "r_") else ""
        kind = part[len(side) :].rstrip("0123456789")
        name = part
        if part == "hips":
            name = kind = "pelvis"
        elif kind == "spine":
            name = "thorax" if part == spines[-1] else "lumbar" if part == spines[0] else part
        found.append((name, kind, side, joint))
    return found


def _plan(clip: Clip, parts: dict[str, int]) -> tuple[SkeletonPlan, tuple[int, ...]]:
    tall = stature(clip, parts)
    stance, source = reference_stance(clip, parts)
    world = clip.world_of(stance)
    depth_first = {joint: number for number, joint in enumerate(clip.skeleton.depth_first)}
    entries = sorted(_named(parts), key=lambda entry: depth_first[entry[3]])  # MuJoCo numbers bodies so
    joints = tuple(entry[3] for entry in entries)
    place = {joint: number for number, joint in enumerate(joints)}
    soles = _soles(clip, parts, world, tall)
    bones = [_bone(clip, entry, place, world, soles.get(entry[3])) for entry in entries]
    bones[0] = replace(bones[0], origin=np.array([0.0, 0.0, _standing_height(bones, joints, world)]))
    left_out = [name for number, name in enumerate(clip.skeleton.names) if number not in place]
    notes = [f"it stands as in {source}"]
    if left_out:
        notes.append(f"{len(left_out)} joints follow their parents: {', '.join(left_out)}")
    return SkeletonPlan(clip.name, tuple(bones), tall, tuple(notes)), joints


def _bone(
    clip: Clip, entry: tuple[str, str, str, int], place: dict[int, int], world: WorldPose, sole: Sole | None
) -> BonePlan:
    name, kind, side, joint = entry
    above = clip.skeleton.parents[joint]
    while above >= 0 and above not in place:
        above = clip.skeleton.parents[above]
    turn = world.rotations[joint]
    origin, stance = np.zeros(3), turn
    if above >= 0:
        back = conjugate(world.rotations[above])
        origin = rotate(back, world.positions[joint] - world.positions[above])
        stance = multiply(back, turn)
    tip = rotate(conjugate(turn), _end(clip, joint, kind, place, world) - world.positions[joint])
    parent = place[above] if above >= 0 else -1
    joint_name = f"{side}{_JOINTS.get(kind, '')}" if kind in _JOINTS else name
    return BonePlan(name, joint_name, kind, side, parent, origin, stance, tip, to_matrix(conjugate(turn)), sole)


def _end(clip: Clip, joint: int, kind: str, place: dict[int, int], world: WorldPose) -> Floats:
    """Return where a bone ends in the reference stance [m], (3,): in the next bone's joint, or its furthest tip."""
    below = [child for child in place if child != joint and _kept_parent(clip, child, place) == joint]
    centre = [child for child in below if kind not in ("pelvis", "spine") or _is_upward(world, joint, child)]
    if len(centre) == 1 or (centre and kind not in ("pelvis", "spine")):
        return np.asarray(world.positions[centre[0]])
    if centre:  # a trunk bone with shoulders on it ends where the neck does: the most central
        return np.asarray(world.positions[min(centre, key=lambda child: abs(world.positions[child][1]))])
    ends = [world.positions[child] for child in _descendants(clip, joint)]
    for site in clip.skeleton.end_sites:
        if site.parent == joint or site.parent in _descendants(clip, joint):
            ends.append(world.positions[site.parent] + rotate(world.rotations[site.parent], site.offset))
    if not ends:
        return np.asarray(world.positions[joint])
    return np.asarray(max(ends, key=lambda end: float(np.linalg.norm(end - world.positions[joint]))))


def _is_upward(world: WorldPose, joint: int, child: int) -> bool:
    return bool(world.positions[child][2] >= world.positions[joint][2] - 1e-6)


def _kept_parent(clip: Clip, joint: int, place: dict[int, int]) -> int:
    above = clip.skeleton.parents[joint]
    while above >= 0 and above not in place:
        above = clip.skeleton.parents[above]
    return above


def _descendants(clip: Clip, joint: int) -> list[int]:
    found = list(clip.skeleton.children[joint])
    for child in found:  # grows on the way: a file may have a thousand joints on one another
        found += clip.skeleton.children[child]
    return found


def _soles(clip: Clip, parts: dict[str, int], stance: WorldPose, tall: float) -> dict[int, Sole]:
    """Return the soles of feet and toes by the clip's joint, from the frames in which they are planted."""
    found: dict[int, Sole] = {}
    for foot in feet_of(parts).values():
        below = 0.06 * tall
        if foot.ball is not None:
            found[foot.ball] = _sole(clip, foot, foot.ball, stance, BALL_HEIGHT * tall)
            below = float(stance.positions[foot.ankle][2] - stance.positions[foot.ball][2]) + found[foot.ball].depth
        found[foot.ankle] = _sole(clip, foot, foot.ankle, stance, below)
    return found


def _sole(clip: Clip, foot: FootJoints, joint: int, stance: WorldPose, fallback: float) -> Sole:
    """Return a sole as the clip shows it, or as the reference stance has it where it never stands flat."""
    seen = footing(clip, foot, joint, flat=joint == foot.ankle)
    if seen is not None:
        return Sole(seen.normal, max(seen.height, 0.01), seen.forward)
    back = conjugate(stance.rotations[joint])
    return Sole(rotate(back, np.array([0.0, 0.0, 1.0])), max(fallback, 0.01), rotate(back, np.array([1.0, 0.0, 0.0])))


def _standing_height(bones: list[BonePlan], joints: tuple[int, ...], world: WorldPose) -> float:
    """Return how high the root is when the lower foot of the reference stance touches the ground [m]."""
    lows = [
        world.positions[joint][2] - bone.sole.depth
        for bone, joint in zip(bones, joints, strict=True)
        if bone.sole is not None
    ]
    return float(world.positions[joints[0]][2] - min(lows, default=world.positions[:, 2].min()))
