"""Flight phases of a clip, and the frame rate they tell: in the air, everybody falls at 9.81 m/s²."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stunt.character.from_skeleton import bone_masses
from stunt.maths.rotations import Floats, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.standing import feet_of, stretches
from stunt.motion.rig.skeleton_body import SkeletonBody

GRAVITY = 9.81
CLEARANCE = 0.05  # a sole higher than this above its planted height is off the ground [m]
FLESH = 0.06  # between a joint and the skin that touches the ground: hands, knees, back [m]
FEWEST = 8  # frames of flight that tell anything
_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 72.0, 90.0, 100.0, 120.0, 200.0, 240.0)


@dataclass(frozen=True)
class Flight:
    """What the flight phases say."""

    phases: tuple[tuple[int, int], ...]  #: First and last frame of each
    fall: float  #: Downward acceleration of the centre of mass over all phases [m/s²], at the clip's frame rate
    fps: float  #: The frame rate at which that would be gravity
    likely: float  #: The usual frame rate nearest to it


def centre_of_mass(body: SkeletonBody) -> Floats:
    """Return the height-carrying centre of mass in every frame [m], (F, 3), of the body built from the clip."""
    clip = body.clip
    positions, rotations = clip.world.positions[:, body.joints], clip.world.rotations[:, body.joints]
    tips = np.stack([bone.tip for bone in body.plan.bones])
    shares = np.array(bone_masses(body.plan, "male"))
    middles = positions + 0.5 * rotate(rotations, tips)
    result: Floats = np.einsum("b,fbc->fc", shares, middles)
    return result


def airborne(body: SkeletonBody) -> np.ndarray:
    """Return in which frames nothing is near the ground, (F,) bool."""
    clip = body.clip
    lows = [np.full(clip.frames, np.inf)]
    for bone, joint in zip(body.plan.bones, body.joints, strict=True):
        height = clip.world.positions[:, joint, 2]
        tip = height + rotate(clip.world.rotations[:, joint], bone.tip)[:, 2]
        lows.append(
            height - bone.sole.depth
            if bone.sole is not None
            else np.minimum(height, tip) - FLESH * (2 if bone.part == "hand" else 1)
        )
    return np.asarray(np.min(lows, axis=0) > CLEARANCE)


def may_fly(clip: Clip) -> bool:
    """Whether both feet are ever high above where they stand, for long enough: what is quickly told."""
    feet = [foot.ankle for foot in feet_of(clip.parts).values()]
    if len(feet) < 2:
        return False
    heights = clip.world.positions[:, feet, 2]
    high = (heights - np.percentile(heights, 5, axis=0)).min(axis=1) > CLEARANCE
    return any(end - first > FEWEST for first, end in stretches(high))


def flight_of(body: SkeletonBody, *, sure: bool = False) -> Flight | None:
    """Return what the flight phases say; None where there are none long enough.

    Args:
        body: The body of a clip's skeleton.
        sure: Whether only phases count in which it goes up and comes down again: who climbs or steps down does not.
    """
    phases = [(first, end - 1) for first, end in stretches(airborne(body)) if end - 1 - first >= FEWEST]
    if not phases:
        return None
    heights = centre_of_mass(body)[:, 2]
    fitted = [_fall(heights[first : last + 1], body.clip.fps, sure) for first, last in phases]
    phases = [phase for phase, one in zip(phases, fitted, strict=True) if one is not None]
    falls = [one for one in fitted if one is not None]
    if not falls:
        return None
    fall = float(np.average(falls, weights=[float(last - first) ** 2 for first, last in phases]))
    fps = body.clip.fps * float(np.sqrt(GRAVITY / fall))
    return Flight(tuple(phases), fall, fps, min(_RATES, key=lambda rate: abs(np.log(rate / fps))))


def _fall(heights: Floats, fps: float, sure: bool = False) -> float | None:
    """Return how fast a phase falls [m/s²]; None where its path is no parabola, so that it was no flight."""
    cut = max(1, len(heights) // 10)  # feet leave and land inside the first and last frames
    path = heights[cut:-cut]
    times = np.arange(len(path)) / fps
    curve = np.polyfit(times, path, 2)
    off = path - np.polyval(curve, times)
    # What the fall alone bends the path by, against what the parabola leaves over.
    bend = abs(float(curve[0])) * (times[-1] / 2) ** 2
    falls = curve[0] < 0 and bend > 0.01 and float(np.abs(off).max()) < 0.15 * bend
    top = -0.5 * float(curve[1]) / float(curve[0]) / times[-1] if falls else 0.0
    if sure and not 0.2 < top < 0.8:
        return None
    return -2.0 * float(curve[0]) if falls else None
