"""The doctor for clips: what a motion file is, what looks wrong with it, and what Stunt would assume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import BodyError
from stunt.library.flight import Flight, flight_of
from stunt.library.mend import MENDED, pace_in_place, travelled
from stunt.library.read import read_clip, read_raw, split_reference
from stunt.motion.clips.assume import SMALLEST, TALLEST, Overrides, settle
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.raw import RawClip
from stunt.motion.clips.spikes import Spike, find_spikes
from stunt.motion.clips.standing import feet_of, floor_height, planted, stature
from stunt.motion.clips.vocabulary import vocabulary
from stunt.motion.clips.words import ARM, LEG
from stunt.motion.rig.skeleton_body import NEEDED, SkeletonBody, body_from_clip, is_creature

SLIDE = 0.10  # planted feet that slip more than this per second of standing are worth a word [m/s]
_SHOWN = 5


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
    spikes = find_spikes(settle(raw, wanted)) if "spikes" in clip.door.assumed else ()
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
    """Return the way planted feet slip in all [m], and how long feet are planted in all [s].

    The feet of who walks in place are planted on the belt, however fast that is.
    """
    way = seconds = 0.0
    pace = pace_in_place(clip)
    stood = clip if pace is None else travelled(clip, pace)
    for foot in feet_of(parts).values():
        joint = foot.ankle if foot.ball is None else foot.ball
        still = planted(stood, joint)
        both = still[1:] & still[:-1]
        steps = np.linalg.norm(np.diff(clip.world.positions[:, joint, :2], axis=0), axis=-1)
        way += float(steps[both].sum())
        seconds += float(both.sum()) / clip.fps
    return way, seconds


def _warnings(
    clip: Clip, missing: tuple[str, ...], spikes: tuple[Spike, ...], slide: float, flight: Flight | None
) -> list[str]:
    found = [f"{about}: {what}" for about, what in clip.door.wrong.items()]
    found += [f"{about}: {clip.door.assumed[about]}" for about in MENDED if about in clip.door.assumed]
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
        found.append(f"{len(spikes)} spikes, bridged: {', '.join(map(str, spikes[:_SHOWN]))}")
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
