"""The doctor for clips: what a motion file is, what looks wrong with it, and what Stunt would assume.

Flight phases of a clip, and the frame rate they tell: in the air, everybody falls at 9.81 m/s².
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from stunt.character.from_skeleton import bone_masses
from stunt.errors import BodyError
from stunt.library.read import read_clip, read_raw, split_reference
from stunt.maths.rotations import Floats, difference, rotate
from stunt.motion.clips.assume import SMALLEST, TALLEST, Overrides
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.raw import RawClip
from stunt.motion.clips.standing import feet_of, floor_height, planted, stature, stretches
from stunt.motion.clips.vocabulary import vocabulary
from stunt.motion.clips.words import ARM, LEG
from stunt.motion.rig.skeleton_body import NEEDED, SkeletonBody, body_from_clip, is_creature

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


def flight_of(body: SkeletonBody) -> Flight | None:
    """Return what the flight phases say; None where there are none long enough."""
    phases = [(first, end - 1) for first, end in stretches(airborne(body)) if end - 1 - first >= FEWEST]
    if not phases:
        return None
    heights = centre_of_mass(body)[:, 2]
    fitted = [_fall(heights[first : last + 1], body.clip.fps) for first, last in phases]
    phases = [phase for phase, one in zip(phases, fitted, strict=True) if one is not None]
    falls = [one for one in fitted if one is not None]
    if not falls:
        return None
    fall = float(np.average(falls, weights=[float(last - first) ** 2 for first, last in phases]))
    fps = body.clip.fps * float(np.sqrt(GRAVITY / fall))
    return Flight(tuple(phases), fall, fps, min(_RATES, key=lambda rate: abs(np.log(rate / fps))))


def _fall(heights: Floats, fps: float) -> float | None:
    """Return how fast a phase falls [m/s²]; None where its path is no parabola, so that it was no flight."""
    cut = max(1, len(heights) // 10)  # feet leave and land inside the first and last frames
    path = heights[cut:-cut]
    times = np.arange(len(path)) / fps
    curve = np.polyfit(times, path, 2)
    off = path - np.polyval(curve, times)
    # What the fall alone bends the path by, against what the parabola leaves over.
    bend = abs(float(curve[0])) * (times[-1] / 2) ** 2
    falls = curve[0] < 0 and bend > 0.01 and float(np.abs(off).max()) < 0.15 * bend
    return -2.0 * float(curve[0]) if falls else None


SPIKE_DEG = 15.0  # a frame may turn a joint so much beyond what its neighbours do
SPIKE_M = 0.03  # and move the root so far: 3 cm within a sixtieth of a second are 22 times gravity [m]
SLIDE = 0.10  # planted feet that slip more than this per second of standing are worth a word [m/s]
_SHOWN = 5


@dataclass(frozen=True)
class Spike:
    """A frame that does not belong to its neighbours: which, which joint, and by how much it jumps [deg].

    Where it is the root that leaves its place, `metres` says how far, and `degrees` is 0.
    """

    frame: int
    joint: str
    degrees: float
    metres: float = 0.0

    def __str__(self) -> str:
        return f"frame {self.frame} {self.joint} " + (f"{self.metres:.2f} m" if self.metres else f"{self.degrees:.0f}°")


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found."""

    file: str  #: The file
    format: str  #: Its format
    frames: int  #: Frames of the clip, without skipped ones
    fps: float  #: Frames per second
    seconds: float  #: Length [s]
    joints: int  #: Number of joints
    channels: int  #: Number of channels; 0 where the format has none
    vocabulary: str  #: Whose joint names
    parts: Mapping[str, str]  #: Which joint was taken for which part of a person
    kind: str  #: What it is the skeleton of: `person`, `quadruped` or `creature`
    confidence: float  #: How surely the parts are right, 0 to 1
    told_by: str  #: How they were recognised, as a sentence
    reasons: Mapping[str, str]  #: Part → why that joint
    missing: tuple[str, ...]  #: Parts without which no body can be built
    up: str  #: The file's upward axis
    metres_per_unit: float  #: The file's unit [m]
    height_m: float | None  #: Standing height of the person [m]
    floor_m: float | None  #: Height of the ground under its feet [m]
    foot_slide_m: float | None  #: Way the planted feet slip in all [m]; `foot_slide_m_s` per second of standing
    foot_slide_m_s: float | None  #: See there
    spikes: tuple[Spike, ...]  #: Frames that jump, the worst first
    first_frame_t_pose: bool  #: Whether the file starts with a reference pose
    flight: Flight | None  #: What flight phases say about the frame rate
    loop: bool  #: Whether the clip repeats
    assumed: Mapping[str, str]  #: What the file did not say, as sentences
    overridden: Mapping[str, object] = field(default_factory=dict)  #: What the user said instead
    warnings: tuple[str, ...] = ()  #: What looks wrong, as sentences

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        data: dict[str, Any] = asdict(self)
        return data


def examine(path: str | Path, overrides: Overrides | None = None) -> Diagnosis:
    """Read a motion file and say what it is.

    Raises:
        StuntError: It cannot be read, or an override is impossible.
    """
    wanted = replace(split_reference(path)[1], **(overrides.given() if overrides else {}))
    return _diagnose(read_raw(path, overrides), read_clip(path, overrides), wanted)


def _diagnose(raw: RawClip, clip: Clip, wanted: Overrides) -> Diagnosis:
    parts, seen, mapped = clip.parts, clip.recognised, clip.door.parts is not None
    missing = tuple(part for part in NEEDED if part not in parts)
    body = _body(clip)
    slide, standing = foot_slide(clip, parts)
    flight = None if body is None else flight_of(body)
    feet = bool(feet_of(parts))
    spikes = find_spikes(clip)
    return Diagnosis(
        file=raw.file,
        format=raw.format,
        frames=clip.frames,
        fps=clip.fps,
        seconds=clip.duration,
        joints=len(clip.skeleton),
        channels=sum(map(len, raw.channels)),
        vocabulary=vocabulary(raw.names),
        parts={part: clip.skeleton.names[joint] for part, joint in parts.items()},
        kind="person" if mapped else seen.kind,
        confidence=1.0 if mapped else seen.confidence,
        told_by="by the mapping file" if mapped else seen.said,
        reasons={} if mapped else dict(seen.reasons),
        missing=missing,
        up="xyz"[int(np.argmax(clip.door.axes[2]))],
        metres_per_unit=clip.door.scale,
        height_m=None if missing else stature(clip, parts),
        floor_m=floor_height(clip, parts) if feet else None,
        foot_slide_m=slide if feet else None,
        foot_slide_m_s=slide / standing if standing > 0 else None,
        spikes=spikes,
        first_frame_t_pose=clip.door.rest is not None,
        flight=flight,
        loop=clip.loop,
        assumed=dict(clip.door.assumed),
        overridden=wanted.given(),
        warnings=tuple(_warnings(clip, missing, spikes, slide / standing if standing > 0 else 0.0, flight)),
    )


def _gaps(parts: Mapping[str, int]) -> list[str]:
    """Return parts in the middle of a limb that nothing was recognised as, though what hangs on them was."""
    chains = [[f"{side}{part}" for part in chain] for side in ("l_", "r_") for chain in (LEG, ARM[1:])]
    return [part for chain in chains for n, part in enumerate(chain) if part not in parts and {*chain[n:]} & {*parts}]


def _body(clip: Clip) -> SkeletonBody | None:
    try:
        return body_from_clip(clip)
    except BodyError:
        return None


def foot_slide(clip: Clip, parts: dict[str, int]) -> tuple[float, float]:
    """Return the way planted feet slip in all [m], and how long feet are planted in all [s]."""
    way = seconds = 0.0
    for foot in feet_of(parts).values():
        joint = foot.ankle if foot.ball is None else foot.ball
        still = planted(clip, joint)
        both = still[1:] & still[:-1]
        steps = np.linalg.norm(np.diff(clip.world.positions[:, joint, :2], axis=0), axis=-1)
        way += float(steps[both].sum())
        seconds += float(both.sum()) / clip.fps
    return way, seconds


def find_spikes(clip: Clip) -> tuple[Spike, ...]:
    """Return frames in which the root or a joint is far from the middle of its neighbours, the worst first of each.

    A fast but smooth motion is no spike: a joint's deviation counts against those of the frames around it. Joints that
    are no part of a person (fingers, helpers) are not looked at, where the parts are known.
    """
    if clip.frames < 5:
        return ()
    parts = set(clip.parts.values())
    known = np.array([number in parts or len(parts) < 5 for number in range(len(clip.skeleton))])
    least = SPIKE_DEG * max(1.0, 60.0 / clip.fps)
    forth = difference(clip.rotations[2:], clip.rotations[1:-1])
    back = difference(clip.rotations[:-2], clip.rotations[1:-1])
    off = 0.5 * np.degrees(np.linalg.norm(forth + back, axis=-1))  # (F−2, J): second difference
    usual = np.median(np.stack([np.roll(off, shift, axis=0) for shift in (-4, -3, -2, 2, 3, 4)]), axis=0)
    frames, joints = np.nonzero((off > np.maximum(least, 6.0 * usual)) & known)
    found = [Spike(int(f) + 1, clip.skeleton.names[j], float(off[f, j])) for f, j in zip(frames, joints, strict=True)]
    return (*_leaps(clip), *sorted(found, key=lambda spike: -spike.degrees))


def _leaps(clip: Clip) -> list[Spike]:
    """Return frames in which the root is far from the middle of its neighbours, the worst first."""
    off = np.linalg.norm(0.5 * (clip.root[2:] + clip.root[:-2]) - clip.root[1:-1], axis=-1)
    usual = np.median(np.stack([np.roll(off, shift) for shift in (-4, -3, -2, 2, 3, 4)]), axis=0)
    frames = np.flatnonzero(off > np.maximum(SPIKE_M * max(1.0, 60.0 / clip.fps), 6.0 * usual))
    found = [Spike(int(frame) + 1, clip.skeleton.names[0], 0.0, float(off[frame])) for frame in frames]
    return sorted(found, key=lambda spike: -spike.metres)


def _warnings(
    clip: Clip, missing: tuple[str, ...], spikes: tuple[Spike, ...], slide: float, flight: Flight | None
) -> list[str]:
    found = []
    if missing:
        capsules = is_creature(clip.parts)
        then = "its body is no person's but a capsule per bone" if capsules else "there is no body"
        found.append(f"no joint was recognised as {', '.join(missing)}: without a mapping file {then}")
    gaps = _gaps(clip.parts)
    if gaps and not missing:
        found.append(f"no joint was recognised as {', '.join(gaps)}: they move with their parents (see --mapping)")
    tall = None if missing else stature(clip, clip.parts)
    if tall is not None and not SMALLEST <= tall <= TALLEST:
        found.append(f"a person {tall:.2f} m tall: say the unit (--scale, metres per unit)")
    if spikes:
        found.append(f"{len(spikes)} spikes: {', '.join(map(str, spikes[:_SHOWN]))}")
    if slide > SLIDE:
        found.append(f"planted feet slip {slide:.2f} m per second of standing")
    if flight is not None and np.isfinite(flight.fps) and not 0.75 < flight.fps / clip.fps < 1.33:
        found.append(
            f"in the air the body falls at {flight.fall:.1f} m/s²: the frame rate is more likely {flight.likely:g} "
            f"than {clip.fps:g} (--fps {flight.likely:g})"
        )
    if clip.frames < 3:
        found.append(f"only {clip.frames} frames: a pose rather than a motion")
    return found
