"""The doctor for clips: what a motion file is, what looks wrong with it, and what Stunt would assume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import BodyError
from stunt.motion.clip import Clip
from stunt.motion.door import SMALLEST, TALLEST, Overrides, settle
from stunt.motion.flight import Flight, flight_of
from stunt.motion.formats.raw import RawClip
from stunt.motion.read import read_raw, split_reference
from stunt.motion.skeleton_body import NEEDED, SkeletonBody, body_from_clip, is_creature
from stunt.motion.standing import feet_of, floor_height, planted, stature
from stunt.motion.vocabulary import ARM, LEG, vocabulary
from stunt.rotations import difference

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
    """What the doctor found.

    Attributes:
        file: The file.
        format: Its format.
        frames: Frames of the clip, without skipped ones.
        fps: Frames per second.
        seconds: Length [s].
        joints: Number of joints.
        channels: Number of channels; 0 where the format has none.
        vocabulary: Whose joint names.
        parts: Which joint was taken for which part of a person.
        missing: Parts without which no body can be built.
        up: The file's upward axis.
        metres_per_unit: The file's unit [m].
        height_m: Standing height of the person [m].
        floor_m: Height of the ground under its feet [m].
        foot_slide_m: Way the planted feet slip in all [m]; `foot_slide_m_s` per second of standing.
        foot_slide_m_s: See there.
        spikes: Frames that jump, the worst first.
        first_frame_t_pose: Whether the file starts with a reference pose.
        flight: What flight phases say about the frame rate.
        loop: Whether the clip repeats.
        assumed: What the file did not say, as sentences.
        overridden: What the user said instead.
        warnings: What looks wrong, as sentences.
    """

    file: str
    format: str
    frames: int
    fps: float
    seconds: float
    joints: int
    channels: int
    vocabulary: str
    parts: Mapping[str, str]
    missing: tuple[str, ...]
    up: str
    metres_per_unit: float
    height_m: float | None
    floor_m: float | None
    foot_slide_m: float | None
    foot_slide_m_s: float | None
    spikes: tuple[Spike, ...]
    first_frame_t_pose: bool
    flight: Flight | None
    loop: bool
    assumed: Mapping[str, str]
    overridden: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        data: dict[str, Any] = asdict(self)
        return data


def examine(path: str | Path, overrides: Overrides | None = None) -> Diagnosis:
    """Read a motion file and say what it is.

    Raises:
        StuntError: It cannot be read, or an override is impossible.
    """
    file, known = split_reference(path)
    wanted = replace(known, **(overrides.given() if overrides else {}))
    raw = read_raw(file, wanted)
    clip = settle(raw, wanted)
    return _diagnose(raw, clip, wanted)


def _diagnose(raw: RawClip, clip: Clip, wanted: Overrides) -> Diagnosis:
    parts = clip.parts
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
