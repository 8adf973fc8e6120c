"""What a program hands to a stage and its actors, checked: who gives something else hears which argument it was."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from stunt.character.character import Character
from stunt.drive.beats.check import check_pose
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.drive.motion.layout import Layout, check_motion
from stunt.drive.tension.spec import ByJoint, TensionPose
from stunt.errors import NO_NUMBERS, InvalidValueError, UnknownNameError
from stunt.keys import key_of, read, write
from stunt.library.names import load_clip
from stunt.maths.rotations import Floats, from_rotation_vector
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.standing import feet_of, floor_height
from stunt.motion.pose import Pose
from stunt.motion.transition import PRESETS, Curve
from stunt.schema import node_from_plain
from stunt.stage.props import Vector3
from stunt.supervise.data.tracking import QueuedClip

Motion = Clip | BodyMotion | str | Path
"""What a program may give as a clip."""


def _is_number(value: object) -> bool:
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def need(what: str, value: Any, kind: type | tuple[type, ...], expected: str) -> Any:
    """Return what is of a kind.

    Raises:
        InvalidValueError: It is not.
    """
    if not isinstance(value, kind):
        raise InvalidValueError(what, value, expected)
    return value


def text(what: str, value: Any) -> str:
    """Return a text that is one."""
    return str(need(what, value, str, "text"))


def finite(what: str, value: Any) -> float:
    """Return a time [s] that is a finite number."""
    if not _is_number(value):
        raise InvalidValueError(what, value, "a finite number of seconds")
    return float(value)


def positive(what: str, value: Any, unit: str = "seconds") -> float:
    """Return a number above 0."""
    if not _is_number(value) or value <= 0.0:
        raise InvalidValueError(what, value, f"a positive number of {unit}")
    return float(value)


def number(what: str, value: Any, least: float, most: float = math.inf) -> float:
    """Return a number within a range."""
    if not _is_number(value) or not least <= value <= most:
        upper = f" and at most {most:g}" if most < math.inf else ""
        raise InvalidValueError(what, value, f"a number of at least {least:g}{upper}")
    return float(value)


def numbers(what: str, value: Any, sizes: tuple[int, ...]) -> Floats:
    """Return a list of numbers of one of some lengths."""
    try:
        found = np.array(value, float).ravel()
    except NO_NUMBERS:
        found = np.zeros(0)
    if len(found) not in sizes or not np.isfinite(found).all():
        raise InvalidValueError(what, value, f"{' or '.join(map(str, sizes))} finite numbers")
    return found


def vector(what: str, value: Any) -> Vector3:
    """Return three numbers."""
    try:
        if isinstance(value, set | frozenset | Mapping) or any(isinstance(each, str | bytes) for each in value):
            raise TypeError(value)  # in no order, or no numbers though they look like some
        x, y, z = (float(each) for each in value)
    except NO_NUMBERS:
        raise InvalidValueError(what, value, "three numbers") from None
    if not all(math.isfinite(each) for each in (x, y, z)):
        raise InvalidValueError(what, value, "three finite numbers")
    return x, y, z


def listed(what: str, value: Any) -> list[Any]:
    """Return the entries of a list."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise InvalidValueError(what, value, "a list, or a mapping by name")
    return list(value)


def checked(what: str, value: Any, kind: type) -> Any:
    """Return a spec of a kind, with values a script could have too."""
    need(what, value, kind, f"a stunt.{kind.__name__}")
    read(kind, node_from_plain(write(value), what))
    return value


def setting(kind: type, name: str, value: Any) -> Any:
    """Return the value of one key of a spec, as a script would give it."""
    return key_of(kind, name).kind.read(node_from_plain({name: value}, name).value[name], {}, name)


def motion_of(
    character: Character, clip: Any, begin: float = 0.0, end: float | None = None, loop: bool | None = None
) -> BodyMotion:
    """Return what a program gives as a clip as a motion of a character's body."""
    if isinstance(clip, (str, Path)):
        clip = load_clip(str(clip))
    if isinstance(clip, Clip):
        clip = motion_of_clip(clip, character)
    need("clip", clip, BodyMotion, "a Clip, the name or file of one, or a BodyMotion")
    positive(f"the fps of motion '{clip.name}'", clip.fps, "frames per second")
    if begin or end is not None:
        number("begin", begin, 0.0)
        if end is not None:
            positive("end", end)
        last = clip.duration if end is None else end
        if not begin < min(last, clip.duration):
            expected = f"before {last:g} s, where it ends, in clip '{clip.name}' of {clip.duration:.3f} s"
            raise InvalidValueError("begin", begin, expected)
        clip = clip.trimmed(begin, last)
    check_motion(clip.qpos, Layout.of(character))
    return clip if loop is None else replace(clip, loop=loop)


def queued_clip(
    character: Character, clip: Any, begin: float, end: float | None, loop: bool | None, blend: float, facing: float
) -> QueuedClip:
    """Return what a program gives as one of several clips as one with its time and blend."""
    if isinstance(clip, QueuedClip):
        motion_of(character, clip.motion, 0.0, None, None)  # which refuses what is none
        return clip
    if isinstance(clip, (str, Path)):
        clip = load_clip(str(clip))
    floor = floor_height(clip, clip.parts) if isinstance(clip, Clip) and feet_of(clip.parts) else 0.0
    return QueuedClip(motion_of(character, clip, begin, end, loop), blend=blend, turned=facing, floor=floor)


def check_told_pose(character: Character, pose: Pose) -> None:
    """Refuse a pose before anything lets go of the body for it."""
    if not pose.angles:
        raise InvalidValueError(f"pose '{pose.name}'", {}, "one that names at least one joint", pose.place)
    check_pose(pose, character)


def joint_angles(character: Character, angles: Mapping[str, Any]) -> dict[str, Any]:
    """Return angles by joint that are numbers, as many as the joint has (three turn a ball, too)."""
    found: dict[str, Any] = {}
    for name, value in angles.items():
        ball = character.joint(str(name)).kind == "ball"
        given = numbers(f"joint '{name}'", value, (3, 4) if ball else (1,))
        if ball and len(given) == 3:
            given = from_rotation_vector(given)
        found[name] = tuple(given.tolist()) if ball else float(given[0])
    return found


def tension_setting(name: str, value: Any) -> Any:
    """Return a setting of a transition under tension; one for all joints where it is not by joint."""
    known = {field.name: field for field in fields(TensionPose) if field.name not in ("pose", "lasts", "at", "tension")}
    if name not in known:
        raise UnknownNameError("setting of `tense`", name, known)
    if isinstance(known[name].default, Curve):
        if isinstance(value, str) and value not in PRESETS:
            raise UnknownNameError("curve", value, PRESETS)
        return PRESETS[value] if isinstance(value, str) else need(name, value, Curve, "a Curve, or the name of one")
    return value if isinstance(value, ByJoint) else setting(TensionPose, name, value)
