"""A clip: recorded or key-framed motion of a skeleton, to be sampled at any time.

Metres, seconds, radians, z up, quaternions wxyz, whatever the file had; `Clip.door` says how it was converted and what
had to be assumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from stunt.errors import InvalidValueError, must_be
from stunt.maths.rotations import Floats, conjugate, difference, from_rotation_vector, heading, multiply, rotate, slerp
from stunt.motion.clips import edit
from stunt.motion.clips.clip_parts import Above, ClipPose, Door, Skeleton, WorldPose
from stunt.motion.clips.recognise import Recognition, recognise

__all__ = ["Above", "Clip", "ClipPose", "Door", "WorldPose"]
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Clip:
    """Motion of a skeleton at a constant frame rate.

    Attributes:
        name: For reports.
        skeleton: Whose motion.
        fps: Frames per second.
        root: Position of the root joint [m], (F, 3).
        rotations: Orientation of each joint in its parent's frame, the root's in the world, (F, J, 4).
        shifts: Displacement of inner joints from their offsets [m], (F, J, 3), for files with such channels; None
            where bones keep their lengths.
        loop: Whether time goes on past the end: the clip is repeated from where it got to (on the ground, heading
            included).
        door: How it came in.
    """

    name: str
    skeleton: Skeleton
    fps: float
    root: Floats
    rotations: Floats
    shifts: Floats | None = None
    loop: bool = False
    door: Door = field(default_factory=Door)

    def __post_init__(self) -> None:
        must_be("the skeleton", self.skeleton, Skeleton)
        for what in ("root", "rotations"):
            must_be(f"the clip's {what}", getattr(self, what), np.ndarray)
        must_be("the clip's frame rate", self.fps, int | float | np.number)
        frames, joints = len(self.root), len(self.skeleton)
        if self.root.shape != (frames, 3) or self.rotations.shape != (frames, joints, 4) or frames == 0:
            raise InvalidValueError(
                f"the motion of clip '{self.name}'",
                (self.root.shape, self.rotations.shape),
                f"(F, 3) root positions and (F, {joints}, 4) rotations with F ≥ 1",
            )
        if not (np.isfinite(self.root).all() and np.isfinite(self.rotations).all()):
            raise InvalidValueError(f"the motion of clip '{self.name}'", math.nan, "finite numbers throughout")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise InvalidValueError(f"the frame rate of clip '{self.name}'", self.fps, "a positive number")

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.root)

    @property
    def duration(self) -> float:
        """Time from the first frame to the last [s]."""
        return (self.frames - 1) / self.fps

    @cached_property
    def times(self) -> Floats:
        """Time of each frame [s], (F,)."""
        return np.arange(self.frames) / self.fps

    @property
    def parts(self) -> dict[str, int]:
        """Which joint is which part of a person: by the clip's mapping file, or recognised by names and tree."""
        if self.door.parts is not None:
            return {part: self.skeleton.joint(name) for part, name in self.door.parts.items()}
        return dict(self.recognised.parts)

    @property
    def recognised(self) -> Recognition:
        """What was recognised as which part, and why; whatever a mapping file says."""
        if self.door.recognised is not None:
            return self.door.recognised
        return self.once("recognised", self._recognise)

    def _recognise(self) -> Recognition:
        skeleton = self.skeleton
        tips = [(site.parent, skeleton.rest_places[site.parent] + site.offset) for site in skeleton.end_sites]
        found = recognise(skeleton.names, skeleton.parents, skeleton.rest_places, tips)
        return replace(found, parts={**found.parts, "hips": 0})  # everything takes a clip's first joint for the hips

    @property
    def title(self) -> str:
        """What reports call it: its name, and what was done to it since it was read."""
        return ", ".join((self.name, *self.door.edits))

    @cached_property
    def _found(self) -> dict[Hashable, Any]:
        return {}

    def once(self, what: Hashable, find: Callable[[], Found]) -> Found:
        """Return something that follows from the clip alone; found out when first asked for, then remembered.

        Args:
            what: What is asked for, with all else that it depends on.
            find: Finds it.
        """
        if what not in self._found:
            self._found[what] = find()
        found: Found = self._found[what]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {some.name: getattr(self, some.name) for some in fields(self)}  # what was found out stays here

    # ---- other clips

    def with_motion(self, root: Floats, rotations: Floats, **changes: object) -> Clip:
        """Return another motion of the same skeleton; what the file's channels said no longer holds."""
        changes.setdefault("door", replace(self.door, values=None))
        return replace(self, root=root, rotations=rotations, **changes)  # type: ignore[arg-type]

    def mirrored(self, pairs: Mapping[str, str] | None = None) -> Clip:
        """Return the clip with left and right exchanged (see `stunt.motion.clips.edit.mirrored`)."""
        return edit.mirrored(self, pairs)

    def trimmed(self, start: float = 0.0, end: float | None = None) -> Clip:
        """Return the frames from one time [s] to another, both included."""
        return edit.trimmed(self, start, end)

    def resampled(self, fps: float) -> Clip:
        """Return the clip at another frame rate, interpolated."""
        return edit.resampled(self, fps)

    def sped_up(self, factor: float) -> Clip:
        """Return the clip played so many times as fast."""
        return edit.sped_up(self, factor)

    def placed(self, at: ArrayLike = (0.0, 0.0), facing: float | None = None) -> Clip:
        """Return the clip started at a point on the ground [m], (2,), and turned to a heading [rad]."""
        return edit.placed(self, at, facing)

    def looped(self, loop: bool = True) -> Clip:
        """Return the clip with time going on past its end, or not."""
        return replace(self, loop=loop)

    # ---- sampling

    def at(self, time: ArrayLike) -> ClipPose:
        """Return the pose at a time [s] (or times (n,)): interpolated between frames, held before and after.

        A looping clip goes on from where its last frame left off.
        """
        cycle, low, share = self._where(time)
        high = np.minimum(low + 1, self.frames - 1)
        root = self.root[low] + share[..., None] * (self.root[high] - self.root[low])
        rotations = slerp(
            self.rotations[low],
            self.rotations[high],
            np.broadcast_to(share[..., None], low.shape + (len(self.skeleton),)),
        )
        return ClipPose(*self._carried(cycle, root, rotations))

    def velocities_at(self, time: ArrayLike) -> tuple[Floats, Floats]:
        """Return velocities at a time [s]: the root's [m/s] in the world, and the joints' [rad/s].

        Returns:
            The root's velocity (..., 3) in the world frame, and each joint's angular velocity relative to its parent
            in its own (child's) frame, (..., J, 3): what MuJoCo's ball and free joints take.
        """
        cycle, low, share = self._where(time)
        high = np.minimum(low + 1, self.frames - 1)
        linear, angular = self.frame_velocities
        root = linear[low] + share[..., None] * (linear[high] - linear[low])
        turn, _ = self._carry(cycle)
        # Interpolating the components in moving frames is good to second order in the turn between two frames.
        return rotate(turn, root), angular[low] + share[..., None, None] * (angular[high] - angular[low])

    def world_at(self, time: ArrayLike) -> WorldPose:
        """Return where all joints are at a time [s] (or times (n,))."""
        pose = self.at(time)
        return self.world_of(pose, self.shift_at(time))

    def world_of(self, pose: ClipPose, shifts: Floats | None = None) -> WorldPose:
        """Return where all joints are in a pose (or poses along leading axes)."""
        skeleton = self.skeleton
        positions = np.empty((*pose.rotations.shape[:-1], 3))
        rotations = np.empty_like(pose.rotations)
        positions[..., 0, :], rotations[..., 0, :] = pose.root, pose.rotations[..., 0, :]
        offsets = skeleton.offsets if shifts is None else skeleton.offsets + shifts
        for level in skeleton.levels:
            above = skeleton.parent_array[level]
            turn = rotations[..., above, :]
            positions[..., level, :] = positions[..., above, :] + rotate(turn, offsets[..., level, :])
            rotations[..., level, :] = multiply(turn, pose.rotations[..., level, :])
        return WorldPose(positions, rotations)

    @cached_property
    def world(self) -> WorldPose:
        """Where all joints are in every frame, (F, J, 3) and (F, J, 4)."""
        return self.world_of(ClipPose(self.root, self.rotations), self.shifts)

    @cached_property
    def frame_velocities(self) -> tuple[Floats, Floats]:
        """Central differences at every frame: root [m/s] (F, 3), joints in their own frames [rad/s] (F, J, 3)."""
        if self.frames == 1:
            return np.zeros((1, 3)), np.zeros((1, len(self.skeleton), 3))
        low, high = np.arange(self.frames) - 1, np.arange(self.frames) + 1
        if self.loop:
            before, after = self.at(low / self.fps), self.at(high / self.fps)
            seconds = np.full(self.frames, 2.0 / self.fps)
        else:
            low, high = np.maximum(low, 0), np.minimum(high, self.frames - 1)
            before = ClipPose(self.root[low], self.rotations[low])
            after = ClipPose(self.root[high], self.rotations[high])
            seconds = (high - low) / self.fps
        turned = difference(after.rotations, before.rotations)  # a rotation vector is the same in both its ends' frames
        return (after.root - before.root) / seconds[:, None], turned / seconds[:, None, None]

    # ---- time

    def _where(self, time: ArrayLike) -> tuple[np.ndarray, np.ndarray, Floats]:
        """Return which repetition, the frame before and the share of the way to the next, of times [s]."""
        seconds = np.asarray(time, float)
        cycle = np.zeros(seconds.shape, dtype=np.int64)
        if self.loop and self.duration > 0:
            cycle = np.floor(seconds / self.duration + 1e-9).astype(np.int64)
            seconds = seconds - cycle * self.duration
        frame = np.clip(seconds * self.fps, 0.0, self.frames - 1.0)
        low = np.minimum(np.floor(frame + 1e-9).astype(np.int64), max(self.frames - 2, 0))
        return cycle, low, np.clip(frame - low, 0.0, 1.0)

    @cached_property
    def stride(self) -> tuple[float, Floats]:
        """What one repetition adds: heading [rad], and the way on the ground [m] (3,) seen from the first frame."""
        turn = float(heading(multiply(self.rotations[-1, 0], conjugate(self.rotations[0, 0]))))
        way = self.root[-1] - self.root[0]
        return turn, np.array([way[0], way[1], 0.0])

    def _carry(self, cycle: np.ndarray) -> tuple[Floats, Floats]:
        """Return the turn (..., 4) and way (..., 3) after some repetitions."""
        turn, way = self.stride
        vector = np.zeros((*cycle.shape, 3))
        vector[..., 2] = cycle * turn
        total = np.zeros((*cycle.shape, 3))
        for number in np.unique(cycle[cycle != 0]):  # few, mostly one
            steps = np.arange(number) if number > 0 else -1 - np.arange(-number)
            spins = np.zeros((len(steps), 3))
            spins[:, 2] = steps * turn
            total[cycle == number] = np.sign(number) * rotate(from_rotation_vector(spins), way).sum(axis=0)
        return from_rotation_vector(vector), total

    def _carried(self, cycle: np.ndarray, root: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        if not self.loop or not cycle.any():
            return root, rotations
        turn, way = self._carry(cycle)
        start = np.array([self.root[0, 0], self.root[0, 1], 0.0])
        rotations[..., 0, :] = multiply(turn, rotations[..., 0, :])
        return start + way + rotate(turn, root - start), rotations

    def shift_at(self, time: ArrayLike) -> Floats | None:
        """Return the inner joints' displacements at a time [s], (..., J, 3); None where bones keep their lengths."""
        if self.shifts is None:
            return None
        _, low, share = self._where(time)
        high = np.minimum(low + 1, self.frames - 1)
        shift: Floats = self.shifts[low] + share[..., None, None] * (self.shifts[high] - self.shifts[low])
        return shift
