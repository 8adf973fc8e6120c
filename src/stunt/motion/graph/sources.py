"""The clips a motion graph is made of: one skeleton, one floor, and what the search needs to know of every frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stunt.errors import InvalidValueError, StuntError
from stunt.motion.clip import Clip
from stunt.motion.clip_edit import mirrored
from stunt.motion.skeleton_body import NEEDED
from stunt.motion.standing import floor_height
from stunt.rotations import Floats

MIRROR = "~"
"""In front of the name of a clip with left and right exchanged."""
ROUNDS = 3  # a looping clip is laid out so often, so that its end and its beginning are compared as any two frames


@dataclass(frozen=True, eq=False)
class Source:
    """One clip as the graph sees it.

    Attributes:
        clip: On the common skeleton, its ground at z = 0, loops laid out.
        parts: Which joint is which part of a person.
        fps: The rate of the frames below [1/s].
    """

    clip: Clip
    parts: dict[str, int]
    fps: float

    @property
    def name(self) -> str:
        """The clip's name."""
        return self.clip.name

    @cached_property
    def frames(self) -> int:
        """How many frames the graph sees."""
        return int(np.floor(self.clip.duration * self.fps + 1e-6)) + 1

    @cached_property
    def times(self) -> Floats:
        """When they are [s], (F,)."""
        return np.arange(self.frames) / self.fps

    @cached_property
    def points(self) -> Floats:
        """Where the parts' joints are in every frame [m], (F, P, 3)."""
        return np.asarray(self.clip.world_at(self.times).positions[:, sorted(set(self.parts.values()))])

    @cached_property
    def ground_track(self) -> Floats:
        """Where the root is over the ground and which way the hips face, in every frame: [m], [m], [rad], (F, 3)."""
        places = self.clip.world_at(self.times).positions
        across = places[:, self.parts["l_thigh"]] - places[:, self.parts["r_thigh"]]
        facing = np.arctan2(-across[:, 0], across[:, 1])  # forward is left turned back by a quarter
        return np.column_stack([places[:, 0, :2], np.unwrap(facing)])


def make_sources(clips: Sequence[Clip], fps: float, mirror: bool) -> tuple[Source, ...]:
    """Prepare clips for a graph.

    Args:
        clips: At least one; all of skeletons with the same joints. Bones of other lengths become the first clip's.
        fps: At which rate frames are compared [1/s].
        mirror: Whether every clip also counts with left and right exchanged.

    Raises:
        StuntError: No clips, two of one name, joints that differ, or a skeleton that is no person's.
    """
    if not clips:
        raise InvalidValueError("the clips of a motion graph", "none", "at least one")
    names = [clip.name for clip in clips]
    if len(set(names)) < len(names):
        raise InvalidValueError("the clips of a motion graph", ", ".join(names), "clips of different names")
    first = clips[0]
    parts = first.parts
    missing = [part for part in (*NEEDED, "l_foot", "r_foot") if part not in parts]
    if missing:
        raise StuntError(f"clip '{first.name}' has no joint that is {', '.join(missing)}; no motion graph can use it.")
    common = [_laid_out(_grounded(_on_skeleton(clip, first, parts), parts)) for clip in clips]
    if mirror:
        flipped = [replace(mirrored(clip), name=MIRROR + clip.name) for clip in common]
        common += [_grounded(clip, parts) for clip in flipped]
    return tuple(Source(clip, parts, fps) for clip in common)


def _on_skeleton(clip: Clip, model: Clip, parts: dict[str, int]) -> Clip:
    """Return a clip with another's bones; its way over the ground goes with the length of the legs."""
    if clip.skeleton.names != model.skeleton.names or clip.skeleton.parents != model.skeleton.parents:
        raise StuntError(f"clips '{model.name}' and '{clip.name}' have different joints; retarget one of them first.")
    ratio = _leg(model, parts) / _leg(clip, parts)
    moved = clip.with_motion(clip.root * ratio, clip.rotations, shifts=None)
    return replace(moved, skeleton=model.skeleton)


def _leg(clip: Clip, parts: dict[str, int]) -> float:
    joints = [parts[part] for part in ("l_shank", "l_foot", "r_shank", "r_foot")]
    return float(np.linalg.norm(clip.skeleton.offsets[joints], axis=-1).sum())


def _grounded(clip: Clip, parts: dict[str, int]) -> Clip:
    return clip.with_motion(clip.root - np.array([0.0, 0.0, floor_height(clip, parts)]), clip.rotations)


def _laid_out(clip: Clip) -> Clip:
    if not clip.loop or clip.duration <= 0.0:
        return clip
    times = np.arange(ROUNDS * (clip.frames - 1) + 1) / clip.fps
    pose = clip.at(times)
    return clip.with_motion(pose.root, pose.rotations, loop=False)
