"""How tall a skeleton's person is, from the lengths of the bones.

What a clip tells about standing: a reference stance, the floor's height, and where the soles are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.maths.rotations import Floats, conjugate, from_rotation_vector, multiply, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import ClipPose


@dataclass(frozen=True)
class Stance:
    """When a point of a foot stands: low enough, slow enough, long enough.

    Attributes:
        low: It is less than this above where it stands [m].
        slow: It moves less than this [m/s].
        shortest: It does so for at least as long [s]; what is over sooner only passes by.
    """

    low: float
    slow: float
    shortest: float = 0.0

    def lasts(self, flags: NDArray[np.bool_], fps: float) -> NDArray[np.bool_]:
        """Return flags without runs that are shorter than `shortest`, (F,)."""
        result = flags.copy()
        for start, end in stretches(flags):
            if end - start < self.shortest * fps:
                result[start:end] = False
        return result

    def closed(self, flags: NDArray[np.bool_], fps: float) -> NDArray[np.bool_]:
        """Return flags without gaps that are shorter than `shortest`, (F,): nobody lifts a foot for a moment."""
        result = flags.copy()
        for start, end in stretches(~flags):
            if 0 < start and end < len(flags) and end - start < self.shortest * fps:
                result[start:end] = True
        return result

    def found(self, height: Floats, pace: Floats, fps: float) -> NDArray[np.bool_]:
        """Return in which frames a point stands, (F,).

        Args:
            height: Above where it stands [m], (F,).
            pace: How fast it moves [m/s], (F,).
            fps: Frames per second.
        """
        return self.lasts((height < self.low) & (pace < self.slow), fps)


SURE: Final = Stance(low=0.035, slow=0.25)
"""A foot that surely stands: whoever looks for the floor, judges how far feet slide or keeps one in its place must not
take a foot that lands or pushes off for one that stands."""
MEANT: Final = Stance(low=0.045, slow=0.6, shortest=0.06)
"""A foot that is meant to stand: captured ones hover, sink and creep while they do. Whoever makes feet stand asks this,
so that all of a stand is mended."""


def stretches(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where a mask is set: first frame, and one past the last."""
    edges = np.diff(np.concatenate([[0], mask.astype(int), [0]]))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


BALL_HEIGHT = 0.0135  # of the joint at the ball of the foot above the ground [fraction of the person's height]
ANKLE_HEIGHT = 0.045
LOWEST_ANKLE = 0.03
"""No planted ankle is lower above the ground [fraction of height]; people's are at 0.039, captured ones vary."""


def stature(clip: Clip, parts: dict[str, int]) -> float:
    """Return the person's standing height [m] from the lengths of legs, trunk and neck."""
    return max(stature_of(clip.skeleton.offsets, clip.skeleton.parents, parts) or 1.0, 0.1)


def reference_stance(clip: Clip, parts: dict[str, int]) -> tuple[ClipPose, str]:
    """Return a pose of upright standing that faces +x, and where it came from.

    The clip's own T-pose if it has one, else the skeleton at rest if that stands, else the most upright frame.
    """
    return clip.once(("stance", *parts.items()), lambda: _reference_stance(clip, parts))


def _reference_stance(clip: Clip, parts: dict[str, int]) -> tuple[ClipPose, str]:
    identity = np.zeros((len(clip.skeleton), 4))
    identity[:, 0] = 1.0
    for rotations, source in ((clip.door.rest, "the clip's T-pose"), (identity, "the skeleton at rest")):
        if rotations is None:
            continue
        pose = ClipPose(np.zeros(3), rotations)
        if _uprightness(clip, pose, parts)[0] > 0.9:
            return _facing_forward(clip, pose, parts), source
    poses = ClipPose(np.zeros_like(clip.root), clip.rotations)
    best = int(np.argmax(_uprightness(clip, poses, parts)))
    return _facing_forward(clip, ClipPose(np.zeros(3), clip.rotations[best]), parts), f"frame {best} of the clip"


def _uprightness(clip: Clip, pose: ClipPose, parts: dict[str, int]) -> Floats:
    """How far feet, hips and head are stacked along z, as a share of the bones between them (...)."""
    places = clip.world_of(pose).positions
    feet = [parts[part] for part in ("l_foot", "r_foot") if part in parts]
    top = next((parts[part] for part in ("head", "neck2", "neck", "spine") if part in parts), 0)
    legs = places[..., 0, 2] - places[..., feet, 2].max(axis=-1) if feet else places[..., 0, 2] * 0
    trunk = places[..., top, 2] - places[..., 0, 2]
    whole = stature(clip, parts) * 0.83
    return np.atleast_1d(np.minimum(legs, 0.7 * whole) + np.minimum(trunk, 0.6 * whole)) / whole


def _facing_forward(clip: Clip, pose: ClipPose, parts: dict[str, int]) -> ClipPose:
    places = clip.world_of(pose).positions
    across = np.zeros(3)
    for part in ("thigh", "upper_arm"):
        if f"l_{part}" in parts and f"r_{part}" in parts:
            step = places[parts[f"l_{part}"]] - places[parts[f"r_{part}"]]
            across += step / max(float(np.linalg.norm(step)), 1e-9)
    if np.linalg.norm(across[:2]) < 1e-6:
        return pose
    turn = from_rotation_vector(np.array([0.0, 0.0, np.pi / 2 - np.arctan2(across[1], across[0])]))
    rotations = pose.rotations.copy()
    rotations[0] = multiply(turn, rotations[0])
    return ClipPose(pose.root, rotations)


@dataclass(frozen=True, eq=False)
class Footing:
    """Where one joint of a foot is while it is planted.

    Attributes:
        height: Its height above the world's zero [m].
        normal: The upward direction in its frame, (3,).
        forward: The foot's direction on the ground in its frame, (3,).
    """

    height: float
    normal: Floats
    forward: Floats


@dataclass(frozen=True)
class FootJoints:
    """The joints of one foot: ankle, and the ball where the skeleton has one."""

    ankle: int
    ball: int | None


def feet_of(parts: dict[str, int]) -> dict[str, FootJoints]:
    """Return the feet by side."""
    return {
        side: FootJoints(parts[f"{side}foot"], parts.get(f"{side}toe"))
        for side in ("l_", "r_")
        if f"{side}foot" in parts
    }


def planted(clip: Clip, joint: int) -> np.ndarray:
    """Return in which frames a joint of the foot is slow and near its lowest while the person is up, (F,) bool."""
    return planted_places(clip.world.positions[:, joint], clip.root[:, 2], clip.fps)


def planted_places(places: Floats, root: Floats, fps: float) -> np.ndarray:
    """Return in which frames a point of a foot is planted, (F,) bool.

    Args:
        places: Where it is in every frame [m], (F, 3).
        root: How high the root is [m], (F,).
        fps: Frames per second.
    """
    pace = np.linalg.norm(np.gradient(places, 1.0 / fps, axis=0), axis=-1) if len(places) > 1 else np.zeros(1)
    over = root - places[:, 2]
    up = over > 0.6 * np.percentile(over, 95)
    height = places[:, 2] - np.percentile(places[up, 2] if up.any() else places[:, 2], 5)
    found = up & SURE.found(height, pace, fps)
    # Who never stands still is seen by where the feet are slowest.
    return found if found.sum() >= 2 else up & replace(SURE, slow=4.0 * SURE.slow).found(height, pace, fps)


def footing(clip: Clip, foot: FootJoints, joint: int, flat: bool) -> Footing | None:
    """Return how a joint of a foot is while planted; `flat`: with ankle and ball both planted. None: never."""
    frames = planted(clip, joint)
    if flat and foot.ball is not None:
        frames = planted(clip, foot.ankle) & planted(clip, foot.ball)
    world = clip.world
    up = rotate(conjugate(world.rotations[:, joint]), np.array([0.0, 0.0, 1.0]))
    if frames.any():  # a foot may be low for a moment on its side, or in a somersault
        middle = np.median(up[frames], axis=0)
        frames = frames & (up @ middle > 0.85 * np.linalg.norm(middle))
    if frames.sum() < 2:
        return None
    normal = up[frames].mean(axis=0)
    normal = normal / np.linalg.norm(normal)
    along = rotate(conjugate(world.rotations[:, joint]), _along(clip, foot))[frames].mean(axis=0)
    along = along - normal * (along @ normal)
    return Footing(float(np.median(world.positions[frames, joint, 2])), normal, along / np.linalg.norm(along))


def _along(clip: Clip, foot: FootJoints) -> Floats:
    """Return the direction of a foot on the ground in every frame, (F, 3): from ankle to ball, or where it faces."""
    world = clip.world
    if foot.ball is not None:
        way = world.positions[:, foot.ball] - world.positions[:, foot.ankle]
    else:
        tips = clip.skeleton.tips(foot.ankle)
        tip = max(tips, key=lambda some: float(np.linalg.norm(some)), default=np.array([1.0, 0.0, 0.0]))
        if np.linalg.norm(tip) < 1e-6:
            tip = np.array([1.0, 0.0, 0.0])
        way = rotate(world.rotations[:, foot.ankle], tip)
    way = way * np.array([1.0, 1.0, 0.0])
    return way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-9)


def floor_height(clip: Clip, parts: dict[str, int]) -> float:
    """Return the height of the ground the clip stands on [m].

    A ball's height below the lowest planted ball of a foot, and no ankle nearer to it than ankles are: skeletons whose
    toes point up would stand ankle-deep in the ground otherwise.
    """
    return clip.once(("floor", *parts.items()), lambda: _floor_height(clip, parts))


def _floor_height(clip: Clip, parts: dict[str, int]) -> float:
    tall = stature(clip, parts)
    heights = []
    for foot in feet_of(parts).values():
        joints = [(foot.ankle, ANKLE_HEIGHT)]
        if foot.ball is not None:
            joints = [(foot.ball, BALL_HEIGHT), (foot.ankle, LOWEST_ANKLE)]
        for joint, above in joints:
            seen = footing(clip, foot, joint, flat=False)
            if seen is not None:
                heights.append(seen.height - above * tall)
    return float(min(heights)) if heights else float(clip.world.positions[..., 2].min())


ANKLE_TO_HEAD = 0.83  # from the ankle to the head's joint [fraction of the stature]


def stature_of(offsets: Floats, parents: Sequence[int], parts: Mapping[str, int]) -> float | None:
    """Return a standing height in the offsets' unit; None where head or feet are not known.

    Legs, trunk and neck are added up. The hips count by how far below the root their middle is, so that their width
    does not make anybody taller.
    """
    top = next((parts[part] for part in ("head", "neck2", "neck") if part in parts), None)
    feet = [parts[f"{side}foot"] for side in ("l_", "r_") if f"{side}foot" in parts]
    if top is None or not feet:
        return None
    hips = [parts[f"{side}thigh"] for side in ("l_", "r_") if f"{side}thigh" in parts]
    legs = np.mean([_way(offsets, parents, foot, hips) for foot in feet])
    drop = float(np.linalg.norm(np.mean([_together(offsets, parents, hip) for hip in hips], axis=0))) if hips else 0.0
    return float((_way(offsets, parents, top, [0]) + legs + drop) / ANKLE_TO_HEAD)


def _way(offsets: Floats, parents: Sequence[int], joint: int, until: Sequence[int]) -> float:
    total = 0.0
    while joint > 0 and joint not in until:
        total += float(np.linalg.norm(offsets[joint]))
        joint = parents[joint]
    return total


def _together(offsets: Floats, parents: Sequence[int], joint: int) -> Floats:
    total = np.zeros(3)
    while joint > 0:
        total = total + offsets[joint]
        joint = parents[joint]
    return total
