"""Cutting, turning, bending and mixing clips. Every function returns a new clip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stunt.errors import InvalidValueError, StuntError, announced
from stunt.maths.rotations import Floats, difference, from_rotation_vector, heading, multiply, rotate, slerp
from stunt.motion.clips.clip_parts import Above, ClipPose, Door

if TYPE_CHECKING:
    from stunt.motion.clips.clip import Clip


def _edited(clip: Clip, what: str) -> Door:
    """Return how a clip came in, with what was done to it now; its file's channels no longer hold."""
    return replace(clip.door, values=None, edits=(*clip.door.edits, what))


@announced
def trimmed(clip: Clip, start: float = 0.0, end: float | None = None) -> Clip:
    """Return the frames from one time [s] to another, both included; whole frames, so nothing is interpolated."""
    stop = clip.duration if end is None else end
    if not (0.0 <= start <= stop <= clip.duration + 0.5 / clip.fps):
        raise InvalidValueError("the part of a clip", (start, stop), f"between 0 and {clip.duration:.3f} s, in order")
    first, last = round(start * clip.fps), min(round(stop * clip.fps), clip.frames - 1)
    part = slice(first, last + 1)
    values = clip.door.values
    rows = None if values is None else values[clip.door.skipped :][part]
    above = clip.door.above
    if above is not None and len(above.root) == clip.frames:
        above = Above(above.path, above.offsets, *(some[part] for some in above.motion))
    cut = f"trimmed to {start:g}–{stop:g} s"
    door = replace(_edited(clip, cut), values=rows, skipped=0, above=above)
    shifts = None if clip.shifts is None else clip.shifts[part]
    return clip.with_motion(clip.root[part], clip.rotations[part], shifts=shifts, door=door)


def resampled(clip: Clip, fps: float) -> Clip:
    """Return the clip at another frame rate, interpolated; its length stays to within a frame."""
    if not (np.isfinite(fps) and 0 < fps <= 1e5):
        raise InvalidValueError("fps", fps, "a positive number")
    times = np.arange(int(np.floor(clip.duration * fps + 1e-6)) + 1) / fps
    return _sampled(clip, times, fps, f"at {fps:g} frames per second")


def denser(clip: Clip, fps: float) -> Clip:
    """Return the clip at a higher frame rate, on smooth ways through its frames.

    Along a straight line between frames a joint would change its velocity at once in each of them. Here it passes them
    at the velocity its neighbours say, and stands still where it turns back (Fritsch and Carlson 1980, "Monotone
    piecewise cubic interpolation"; for rotations the four points of a cubic are mixed as de Casteljau does).
    """
    times = np.arange(round(clip.duration * fps) + 1) / fps
    x = np.minimum(times * clip.fps, clip.frames - 1.0)
    low = np.minimum(x.astype(int), clip.frames - 2)
    share = x - low
    steps = difference(clip.rotations[1:], clip.rotations[:-1])  # (F−1, J, 3), the same in both its ends' frames
    pace = _calm(steps)
    first, last = clip.rotations[low], clip.rotations[low + 1]
    leaving = multiply(first, from_rotation_vector(pace[low] / 3.0))
    arriving = multiply(last, from_rotation_vector(-pace[low + 1] / 3.0))
    points = [first, leaving, arriving, last]
    part = np.broadcast_to(share[:, None], low.shape + (len(clip.skeleton),))
    while len(points) > 1:
        points = [slerp(one, two, part) for one, two in zip(points, points[1:], strict=False)]
    root = _cubic(clip.root, low, share)
    shifts = None if clip.shifts is None else _cubic(clip.shifts, low, share)
    door = replace(clip.door, values=None, above=None)
    return clip.with_motion(root, points[0], shifts=shifts, fps=fps, door=door)


def _calm(steps: Floats) -> Floats:
    """Return the velocity at each frame for the ways between them, (F, ...): none where they turn back."""
    before, after = np.concatenate([steps[:1], steps]), np.concatenate([steps, steps[-1:]])
    together = before * after
    mean = 2.0 * together / np.where(together > 0.0, before + after, 1.0)
    return np.where(together > 0.0, mean, 0.0)


def _cubic(values: Floats, low: NDArray[np.int64], share: Floats) -> Floats:
    """Return values, (F, ...), between frames on a smooth way."""
    steps = np.diff(values, axis=0)
    pace, s = _calm(steps), share.reshape(-1, *[1] * (values.ndim - 1))
    leaving, arriving = pace[low], pace[low + 1]
    bend = 3.0 * steps[low] - 2.0 * leaving - arriving
    return np.asarray(values[low] + s * (leaving + s * (bend + s * (leaving + arriving - 2.0 * steps[low]))))


def warped(
    clip: Clip, time_of: Callable[[Floats], ArrayLike], seconds: float, what: str = "with its time bent"
) -> Clip:
    """Return the clip with its time bent.

    Args:
        clip: The clip.
        time_of: The clip's time [s] for times [s] of the new clip, not falling.
        seconds: Length of the new clip [s].
        what: What reports call that.
    """
    times = np.arange(int(np.floor(seconds * clip.fps + 1e-6)) + 1) / clip.fps
    old = np.asarray(time_of(times), float)
    if old.shape != times.shape or not np.isfinite(old).all() or (np.diff(old) < 0).any():
        raise InvalidValueError("a time warp", "the given one", "a function whose values do not fall")
    return _sampled(clip, old, clip.fps, what)


def sped_up(clip: Clip, factor: float) -> Clip:
    """Return the clip played so many times as fast."""
    if not (np.isfinite(factor) and factor > 0):
        raise InvalidValueError("a speed", factor, "a positive factor")
    return warped(clip, lambda times: times * factor, clip.duration / factor, f"{factor:g} times as fast")


def _sampled(clip: Clip, times: Floats, fps: float, what: str) -> Clip:
    pose = clip.at(times)
    shifts = None if clip.shifts is None else clip.shift_at(times)
    return clip.with_motion(pose.root, pose.rotations, shifts=shifts, fps=fps, door=_edited(clip, what))


def mirrored(clip: Clip, pairs: Mapping[str, str] | None = None) -> Clip:
    """Return the clip with left and right exchanged, as in a mirror in the x–z plane.

    Args:
        clip: The clip.
        pairs: Which joint takes over whose motion; None tells by the names. Others mirror their own.

    The skeleton stays: a limb moves as the other did, with its own bone lengths. At rest, left and right bones must
    lie mirrored, as in all usual skeletons.
    """
    swap = _swapped(clip, pairs)
    flip = np.array([1.0, -1.0, 1.0, -1.0])  # a rotation seen in the mirror: its axis is a pseudovector
    rotations = clip.rotations[:, swap] * flip
    shifts = None if clip.shifts is None else clip.shifts[:, swap] * np.array([1.0, -1.0, 1.0])
    root, door = clip.root * np.array([1.0, -1.0, 1.0]), _edited(clip, "mirrored")
    return clip.with_motion(root, rotations, shifts=shifts, door=door)


def _swapped(clip: Clip, pairs: Mapping[str, str] | None) -> np.ndarray:
    skeleton = clip.skeleton
    swap = np.arange(len(skeleton))
    if pairs is not None:
        for one, other in pairs.items():
            a, b = skeleton.joint(one), skeleton.joint(other)
            swap[a], swap[b] = b, a
        return swap
    parts = clip.parts
    known = {joint: part for part, joint in parts.items()}
    across = {part: ("r_" if part[:2] == "l_" else "l_") + part[2:] for part in parts if part[:2] in ("l_", "r_")}
    for joint, part in known.items():
        if part in across and across[part] in parts:
            swap[joint] = parts[across[part]]
    names = {name: number for number, name in enumerate(skeleton.names)}
    for number, name in enumerate(skeleton.names):  # fingers and other joints without a part, by their names
        if number not in known:
            swap[number] = names.get(_other_side(name), number)
    return swap


def _other_side(name: str) -> str:
    for one, two in (("Left", "Right"), ("left", "right")):
        for a, b in ((one, two), (two, one)):
            if a in name:
                return name.replace(a, b, 1)
    if name[:1] in "LRlr" and len(name) > 1:
        return {"L": "R", "R": "L", "l": "r", "r": "l"}[name[0]] + name[1:]
    return name


def placed(clip: Clip, at: ArrayLike = (0.0, 0.0), facing: float | None = None) -> Clip:
    """Return the clip moved on the ground so that it starts at a point [m], (2,), and turned to a heading [rad]."""
    turn = 0.0 if facing is None else facing - float(heading(clip.rotations[0, 0]))
    spin = from_rotation_vector(np.array([0.0, 0.0, turn]))
    start = clip.root[0] * np.array([1.0, 1.0, 0.0])
    target = np.array([*np.asarray(at, float), 0.0])
    rotations = clip.rotations.copy()
    rotations[:, 0] = multiply(spin, rotations[:, 0])
    return clip.with_motion(rotate(spin, clip.root - start) + target, rotations)


def blended_pose(one: ClipPose, other: ClipPose, share: ArrayLike) -> ClipPose:
    """Return the pose a share (0: one, 1: other) of the way between two of the same skeleton."""
    part = np.asarray(share, float)
    root = one.root + part[..., None] * (other.root - one.root)
    each = np.broadcast_to(part[..., None], one.rotations.shape[:-1])
    return ClipPose(root, slerp(one.rotations, other.rotations, each))


def joined(first: Clip, second: Clip, overlap: float) -> Clip:
    """Return one clip followed by another of the same skeleton, cross-faded over some time [s].

    The second is moved and turned on the ground to go on where the first is at the start of the fade.
    """
    if first.skeleton.names != second.skeleton.names or first.skeleton.parents != second.skeleton.parents:
        raise StuntError(f"clips '{first.name}' and '{second.name}' have different skeletons; retarget one first.")
    if not 0.0 <= overlap <= min(first.duration, second.duration):
        raise InvalidValueError("an overlap", overlap, "at most the shorter clip's length")
    if second.fps != first.fps:
        second = resampled(second, first.fps)
    start = first.duration - overlap
    here = first.at(start)
    second = placed(second, here.root[:2], float(heading(here.rotations[0])))
    count = round((start + second.duration) * first.fps) + 1
    times = np.arange(count) / first.fps
    x = np.clip((times - start) / max(overlap, 1e-9), 0.0, 1.0)
    share = x * x * (3.0 - 2.0 * x)
    mixed = blended_pose(first.at(times), second.at(np.maximum(times - start, 0.0)), share)
    return first.with_motion(mixed.root, mixed.rotations, name=f"{first.name}+{second.name}", shifts=None)
