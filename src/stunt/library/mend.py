"""What files in the wild need before they are motion: each is told by evidence, done once, and written down.

Frames that jump are bridged; a frame time at which people fall otherwise than they do is another one; a walk in place
gets its travel back; and few frames per second become more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import scipy

from stunt.errors import BodyError
from stunt.library.flight import GRAVITY, flight_of, may_fly
from stunt.maths.rotations import Floats, from_rotation_vector, heading, rotate
from stunt.motion.clips.assume import Overrides
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.edit import denser
from stunt.motion.clips.spikes import bridged, find_spikes
from stunt.motion.clips.standing import feet_of, stature
from stunt.motion.rig.skeleton_body import body_from_clip

MENDED: Final = ("frame time", "travel", "frame rate")
"""What stands in `door.assumed` of what was mended; a warning too, since the user may know better."""
FEWEST_FPS: Final = 20.0
"""Frames per second from which on straight ways between frames are good enough."""
ENOUGH_FPS: Final = 30.0
WRONG: Final = 1.5
"""A frame rate is wrong that is off by more than this factor."""
_LOW = 0.03  # of the stature: a foot less above its lowest may stand
_SLOWEST = 0.3  # a treadmill [m/s]
_EVEN = 0.35  # how much the pace of standing feet may vary, as a share of it
_SMOOTH = 0.06  # over which their pace is measured [s]


def mended(clip: Clip, wanted: Overrides) -> Clip:
    """Return a clip as a body can follow it; what was done is in `door.assumed`."""
    assumed = dict(clip.door.assumed)
    spikes = find_spikes(clip)
    if spikes:
        clip = bridged(clip, spikes)
        left = len(find_spikes(clip))
        assumed["spikes"] = f"{len(spikes)} frames of joints jump (the worst: {spikes[0]}); " + (
            f"{len(spikes) - left} that jump back are bridged" if left else "they are bridged"
        )
    if wanted.fps is None and (fps := _fps_by_gravity(clip)):
        assumed["frame time"] = (
            f"{fps:g} frames per second: at {clip.fps:g} the body would fall {_falls(clip)} in the air"
        )
        clip = replace(clip, fps=fps)
    if wanted.travel is not False and (pace := pace_in_place(clip)) is not None:
        mean = float(np.linalg.norm(pace.mean(axis=0)))
        assumed["travel"] = f"standing feet slide at {mean:.1f} m/s: it walks in place, and its travel is given back"
        clip = travelled(clip, pace)
    if clip.fps < FEWEST_FPS and clip.frames > 1:
        fps = clip.fps * float(np.ceil(ENOUGH_FPS / clip.fps))
        assumed["frame rate"] = f"{clip.fps:g} frames per second are few; {fps:g} are interpolated"
        clip = denser(clip, fps)
    return replace(clip, door=replace(clip.door, assumed=assumed)) if assumed != clip.door.assumed else clip


def _falls(clip: Clip) -> str:
    flight = flight_of(body_from_clip(clip))
    return "" if flight is None else f"at {flight.fall:.1f} m/s²"


def _fps_by_gravity(clip: Clip) -> float | None:
    """Return the frame rate at which a clip's flights are falls; None where its own is near, or nothing tells."""
    if not may_fly(clip):
        return None
    try:
        flight = flight_of(body_from_clip(clip), sure=True)
    except BodyError:
        return None
    if flight is None or 1.0 / WRONG < flight.fps / clip.fps < WRONG:
        return None
    fall = flight.fall * (flight.likely / clip.fps) ** 2
    return flight.likely if 0.75 < fall / GRAVITY < 1.33 else None


def travelled(clip: Clip, pace: Floats) -> Clip:
    """Return a clip that travels as fast as it is said to [m/s], (F, 2), beside what it does."""
    root = clip.root.copy()
    root[1:, :2] += np.cumsum(0.5 * (pace[1:] + pace[:-1]), axis=0) / clip.fps
    return clip.with_motion(root, clip.rotations, door=clip.door)


def pace_in_place(clip: Clip) -> Floats | None:
    """Return how fast a walk in place would travel in every frame [m/s], (F, 2); None where it is no such walk.

    On a treadmill the foot that stands slides back under a body that stays: evenly, and fast. Who skids or slips does
    so at times.
    """
    feet = feet_of(clip.parts)
    if len(feet) < 2 or clip.duration < 0.4:
        return None
    tall, (left, right) = stature(clip, clip.parts), feet.values()
    joints = [foot.ankle if foot.ball is None else foot.ball for foot in (left, right)]
    places = clip.world.positions[:, joints]
    heights = places[..., 2] - np.percentile(places[..., 2], 2, axis=0)
    lower = heights.argmin(axis=1)
    stands = heights.min(axis=1) < _LOW * tall
    facing = from_rotation_vector(np.eye(3)[2] * heading(clip.rotations[:, 0])[:, None])
    speeds = np.gradient(
        scipy.ndimage.gaussian_filter1d(places, _SMOOTH * clip.fps, axis=0, mode="nearest"), 1.0 / clip.fps, axis=0
    )
    seen = rotate(facing * [1.0, -1.0, -1.0, -1.0], speeds[np.arange(clip.frames), lower])[:, :2]
    same = np.r_[lower[1:] == lower[:-1], True] & np.r_[True, lower[1:] == lower[:-1]]
    good = stands & same
    if good.sum() < max(3, 0.3 * clip.frames):
        return None
    pace = np.median(seen[good], axis=0)
    speed = float(np.linalg.norm(pace))
    uneven = float(np.median(np.linalg.norm(seen[good] - pace, axis=1)))
    moved = float(np.linalg.norm((clip.root[-1] - clip.root[0])[:2])) / clip.duration
    if speed < _SLOWEST or uneven > _EVEN * speed or moved > 0.25 * speed:
        return None
    frames = np.arange(clip.frames)
    even = np.stack([np.interp(frames, frames[good], -seen[good, k]) for k in range(2)], axis=1)
    even = scipy.ndimage.gaussian_filter1d(even, _SMOOTH * clip.fps, axis=0, mode="nearest")
    return np.asarray(rotate(facing, np.column_stack([even, np.zeros(clip.frames)]))[:, :2])
