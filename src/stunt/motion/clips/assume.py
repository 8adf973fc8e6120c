"""The door for clips: what a file does not say about itself is guessed here, and the guesses are written down.

A motion file says neither its unit nor which way is up, and may start with a frame that is no motion. Everything
guessed stands in `Clip.door.assumed`; everything can be overridden by `Overrides`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import NOWHERE, InvalidValueError, Place
from stunt.maths.rotations import Floats, difference, rotate
from stunt.motion.clips.above_hips import lift
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import Above, Door, EndSite, Skeleton
from stunt.motion.clips.mapping import JointMapping, read_mapping
from stunt.motion.clips.raw import RawClip
from stunt.motion.clips.recognise import Recognition, recognise
from stunt.motion.clips.standing import stature_of

CMU_UNIT = 0.0254 / 0.45  # the database's ASF files say "length 0.45" of inches
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254}
FRAME_RATES = (1.0, 10000.0)
"""Frame rates a user may say a clip has [1/s]: slower is no motion any more, faster no camera."""
MOST_REST_FRAMES = 10
"""A rest pose that is held longer than so many frames is somebody standing so."""
_STATURE = 1.70
SMALLEST, TALLEST = 0.75, 2.30
"""Heights of a person [m] that are believed."""


@dataclass(frozen=True)
class Overrides:
    """What the user knows better than the door; None leaves it to the door."""

    up: str | None = None  #: The file's upward axis: `x`, `y` or `z`
    scale: float | None = None  #: Metres per unit of the file
    fps: float | None = None  #: Frames per second
    skip_frames: int | None = None  #: How many frames to leave out at the start
    loop: bool | None = None  #: Whether the clip repeats
    skeleton: str | None = None  #: The skeleton file of a motion that has it apart (AMC)
    animation: str | None = None  #: Which animation of a file that has several (glTF), by name
    mapping: str | None = None  #: A mapping file that says which joint is which part of a person
    mirror: bool | None = None  #: Whether left and right are exchanged
    travel: bool | None = None  #: Whether a walk in place gets its travel back; it does unless told otherwise

    def check(self, place: Place = NOWHERE) -> None:
        """Raise where a value is impossible."""
        if self.up is not None and self.up not in ("x", "y", "z"):
            raise InvalidValueError("up", self.up, "x, y or z", place)
        if self.scale is not None and not (np.isfinite(self.scale) and 0 < self.scale <= 1e6):
            raise InvalidValueError("scale", self.scale, "a positive number of metres per unit up to 1e+06", place)
        low, high = FRAME_RATES
        if self.fps is not None and not low <= self.fps <= high:
            raise InvalidValueError("fps", self.fps, f"a number of frames per second from {low:g} to {high:g}", place)
        if self.skip_frames is not None and self.skip_frames < 0:
            raise InvalidValueError("skip_frames", self.skip_frames, "0 or more", place)

    def given(self) -> dict[str, Any]:
        """Those that are set, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}


def settle(raw: RawClip, overrides: Overrides | None = None) -> Clip:
    """Make a clip of a file's content: metres, z up, and in the rest pose facing +x where that can be told."""
    wanted = overrides or Overrides()
    wanted.check()
    assumed = dict(raw.notes)
    named = _mapped(raw, wanted)
    told = named is not None and bool(named.joints)  # a file may name bodies only
    seen = recognised(raw)
    parts = named.parts_of(_bare_skeleton(raw)) if named is not None and told else dict(seen.parts)
    raw, above = lift(raw, parts)
    if above is not None:
        nodes = ", ".join(raw.names[joint] for joint in above.path[:-1])
        assumed["hips"] = f"{raw.names[above.path[-1]]}; what is above them ({nodes}) only carries them"
    axes = _axes(raw, parts, wanted, assumed)
    scale = _scale(raw, parts, wanted, assumed)
    skip = _skip(raw, wanted, assumed)
    fps = raw.fps if wanted.fps is None else wanted.fps
    skeleton = Skeleton(
        names=raw.names,
        parents=raw.parents,
        offsets=raw.offsets @ axes.T * scale,
        end_sites=tuple(EndSite(parent, axes @ offset * scale, name) for parent, offset, name in raw.end_sites),
        channels=raw.channels,
    )
    rest = turned(raw.rotations[0], axes) if starts_with_rest_pose(raw) else None
    known = dict(named.joints) if named is not None and told else None
    bodies = {} if named is None else dict(named.bodies)
    if above is not None:
        turns, (root, shifts) = turned(above.turns, axes), (x @ axes.T * scale for x in (above.root, above.shifts))
        above = Above(above.path, above.offsets @ axes.T * scale, root[skip:], turns[skip:], shifts[skip:])
    seen = replace(seen, parts={**seen.parts, "hips": 0})  # what was above the hips is laid into them
    door = Door(
        raw.format, raw.file, scale, axes, assumed, raw.values, skip, rest, raw.added, known, seen, bodies, above,
        wrong=raw.wrong,
    )  # fmt: skip
    return Clip(
        name=Path(raw.file).stem,
        skeleton=skeleton,
        fps=fps,
        root=raw.root[skip:] @ axes.T * scale,
        rotations=turned(raw.rotations[skip:], axes),
        shifts=None if raw.shifts is None else raw.shifts[skip:] @ axes.T * scale,
        loop=raw.loop if wanted.loop is None else wanted.loop,
        door=door,
    )


def _mapped(raw: RawClip, wanted: Overrides) -> JointMapping | None:
    """Return the mapping file's word on the joints; the file is looked for beside the clip too."""
    if wanted.mapping is None:
        return None
    beside = Path(raw.file).parent / wanted.mapping
    return read_mapping(wanted.mapping if Path(wanted.mapping).is_file() or not beside.is_file() else beside)


def _bare_skeleton(raw: RawClip) -> Skeleton:
    return Skeleton(raw.names, raw.parents, raw.offsets)


def turned(rotations: Floats, axes: Floats) -> Floats:
    """Return rotations as seen in other axes, (..., 4)."""
    return np.concatenate([rotations[..., :1], rotations[..., 1:] @ axes.T], axis=-1)


_LOOKED_AT = 12
"""Frames that are looked at to tell how a skeleton bends."""


def recognised(raw: RawClip) -> Recognition:
    """Say which joint is which part of a person, by names, by the tree, and by how it bends in motion."""
    some = np.linspace(0, len(raw.root) - 1, min(len(raw.root), _LOOKED_AT)).astype(int)
    skeleton = _bare_skeleton(raw)
    world = Clip("sketch", skeleton, 1.0, raw.root[some], raw.rotations[some]).world
    places = np.concatenate([skeleton.rest_places[None], world.positions])
    tips = []
    for joint, offset, _ in raw.end_sites:
        moving = world.positions[:, joint] + rotate(world.rotations[:, joint], offset)
        tips.append((joint, np.concatenate([skeleton.rest_places[None, joint] + offset, moving])))
    found = recognise(raw.names, raw.parents, places, tips)
    if {"hips", "l_thigh", "l_shank", "r_thigh", "r_shank"} <= set(raw.parts):
        told = dict.fromkeys(raw.parts, "the file says so")
        return replace(found, parts=raw.parts, reasons=told, kind="person", confidence=1.0, said="by the file itself")
    return found


# ---- which way is up


def _axes(raw: RawClip, parts: dict[str, int], wanted: Overrides, assumed: dict[str, str]) -> Floats:
    up = wanted.up or raw.up
    if up is None:
        up, why = _guess_up(raw, parts)
        assumed["up"] = f"{up} is up ({why})"
    upward = np.eye(3)["xyz".index(up)]
    left = _leftward(raw, parts, upward)
    return np.stack([np.cross(left, upward), left, upward])


def _guess_up(raw: RawClip, parts: dict[str, int]) -> tuple[str, str]:
    """Return the axis along which the head is above the feet, at rest and in motion."""
    feet = [parts[part] for part in ("l_foot", "r_foot", "l_shank", "r_shank") if part in parts][:2]
    top = next((parts[part] for part in ("head", "neck2", "neck", "spine3", "spine2", "spine") if part in parts), None)
    if not feet or top is None:
        return "y", "most BVH files are; this skeleton does not tell"
    skeleton = _bare_skeleton(raw)
    some = np.linspace(0, len(raw.root) - 1, min(len(raw.root), 60)).astype(int)
    sketch = Clip("sketch", skeleton, 1.0, raw.root[some], raw.rotations[some])
    positions = np.concatenate([sketch.world.positions, skeleton.rest_places[None]])
    body = positions[:, top] - positions[:, feet].mean(axis=1)
    reach = np.linalg.norm(body, axis=-1, keepdims=True).max()
    votes = (body / (reach or 1.0)).clip(-1, 1)
    votes[-1] *= 0.5 * len(some)  # a rest pose in which the head is far from the feet is a T-pose
    score = votes.sum(axis=0)
    best = int(np.argmax([score[0] * 0.5, score[1], score[2]]))  # hardly any tool has x up
    return "xyz"[best], "the head is above the feet along it"


def _leftward(raw: RawClip, parts: dict[str, int], upward: Floats) -> Floats:
    """Return the file's axis that points to the left in the rest pose."""
    places = _bare_skeleton(raw).rest_places
    for part in ("thigh", "upper_arm", "foot", "hand"):
        if f"l_{part}" in parts and f"r_{part}" in parts:
            across = places[parts[f"l_{part}"]] - places[parts[f"r_{part}"]]
            across = across - upward * (across @ upward)
            axis = int(np.argmax(np.abs(across)))
            if np.abs(across[axis]) > 1e-9:
                return np.asarray(np.sign(across[axis]) * np.eye(3)[axis])
    return np.roll(upward, -1) if upward[1] else np.roll(upward, 2)


# ---- how large, from where


def _scale(raw: RawClip, parts: dict[str, int], wanted: Overrides, assumed: dict[str, str]) -> float:
    if wanted.scale is not None:
        return wanted.scale
    if raw.scale is not None:
        return raw.scale
    tall = stature_of(raw.offsets, raw.parents, parts)
    if "lhipjoint" in (name.lower() for name in raw.names) and 1.2 < (tall or 0.0) * CMU_UNIT < TALLEST:
        assumed["scale"] = f"1 unit is {CMU_UNIT:.6f} m, as in CMU's files"
        return CMU_UNIT
    if tall is None or tall <= 0:
        assumed["scale"] = "1 unit is 0.01 m; this skeleton does not tell"
        return 0.01
    fits = {unit: size for unit, size in UNITS.items() if SMALLEST <= tall * size <= TALLEST}
    if not fits:
        assumed["scale"] = f"1 unit is {_STATURE / tall:.6g} m, so that the person is {_STATURE} m tall"
        return _STATURE / tall
    unit = min(fits, key=lambda name: abs(np.log(tall * fits[name] / _STATURE)))
    assumed["scale"] = f"1 unit is 1 {unit}, so that the person is {tall * fits[unit]:.2f} m tall"
    return fits[unit]


def _skip(raw: RawClip, wanted: Overrides, assumed: dict[str, str]) -> int:
    if wanted.skip_frames is not None:
        if wanted.skip_frames >= len(raw.root):
            raise InvalidValueError(
                "skip_frames", wanted.skip_frames, f"less than the {len(raw.root)} frames there are"
            )
        return wanted.skip_frames
    lead = rest_pose_frames(raw)
    if lead:
        frames = "frame 0 is a rest pose" if lead == 1 else f"the first {lead} frames are a rest pose"
        assumed["skip_frames"] = f"{frames} and no motion; {'it is' if lead == 1 else 'they are'} left out"
    return lead


def starts_with_rest_pose(raw: RawClip) -> bool:
    """Whether the first frame is an artificial T-pose."""
    return rest_pose_frames(raw) > 0


def rest_pose_frames(raw: RawClip) -> int:
    """Return how many frames at the start are a reference pose: held, and far from what follows.

    A T-pose has most joints at zero; the root may be turned: some tools let it face where the motion does. Any other
    pose (an A-pose, the last take's) is told by half of the joints leaving it at once, as nobody can.
    """
    if len(raw.root) < 3 or raw.rotations.shape[1] < 2:
        return 0
    turns = np.linalg.norm(difference(raw.rotations[1:15], raw.rotations[: len(raw.rotations[1:15])]), axis=-1)
    largest = turns.max(axis=-1)
    lead = 1 + int(np.argmax(largest > np.radians(0.5)))  # frames that stay as the first is
    rest = largest[lead : lead + 3]
    enough = lead <= MOST_REST_FRAMES and bool(len(rest)) and largest[lead - 1] > np.radians(20.0)
    if not (enough and largest[lead - 1] > 3.0 * rest.max()):
        return 0
    zero = np.abs(raw.rotations[0, 1:, 0]) > np.cos(np.radians(0.5) / 2)
    leave, later = turns[lead - 1, 1:], turns[lead : lead + 3, 1:]
    moving = np.maximum(leave, later.max(axis=0)) > np.radians(0.5)
    at_once = (leave > np.radians(5.0)) & (leave > 4.0 * later.max(axis=0))
    return lead if zero.mean() > 0.6 or moving.any() and at_once[moving].mean() > 0.5 else 0
