"""Whether a character can be asked for a pose: joints it has, values of their kind, inside their limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from stunt.character.character import Character, Joint
from stunt.drive.beats.spec import Part
from stunt.errors import InvalidValueError, JointLimitError, Place, UnknownNameError
from stunt.motion.pose import Pose

LIMIT_TOLERANCE = 1e-6  # [rad or m] what degrees, rounded by hand, may lie outside


def matching_joints(part: Part, character: Character) -> tuple[str, ...]:
    """Return the joints a part controls, in the character's order.

    Raises:
        UnknownNameError: If a name or pattern fits no joint.
    """
    if part.joints is None:
        return tuple(character.joints)
    for pattern in part.joints:
        if not any(fnmatchcase(joint, pattern) for joint in character.joints):
            place = part.joint_places.get(pattern, part.place)
            raise UnknownNameError(f"joint of '{character.name}'", pattern, character.joints, place)
    return tuple(joint for joint in character.joints if any(fnmatchcase(joint, p) for p in part.joints))


def check_pose(pose: Pose, character: Character) -> None:
    """Check that a character can be asked for a pose."""
    for name, value in pose.angles.items():
        place = pose.places.get(name, pose.place)
        joint = character.joint(name, place)
        check_kind(joint, value, pose.units.get(name, ""), place)
        _check_limits(joint, value, place)
    for name, velocity in pose.velocities.items():
        _check_velocity(character.joint(name, pose.places.get(name, pose.place)), velocity, pose)


def check_kind(joint: Joint, value: Any, unit: str, place: Place) -> None:
    """Check that what is said of a joint is of the joint's kind."""
    is_number = isinstance(value, int | float)
    what = f"{joint.kind} joint '{joint.name}'"
    if joint.kind == "ball" and is_number:
        expected = "turned by a quaternion [w, x, y, z] or {rotvec: [x, y, z]}"
        raise InvalidValueError(what, _written(value, unit), expected, place)
    if joint.kind == "free":
        raise InvalidValueError(what, _written(value, unit), "left out of poses: nothing holds it", place)
    if joint.kind == "slide" and (not is_number or unit in ("deg", "rad")):
        raise InvalidValueError(what, _written(value, unit), "given a length with its unit, such as '0.05 m'", place)
    if joint.kind == "hinge" and (not is_number or unit == "m"):
        raise InvalidValueError(what, _written(value, unit), "given one angle in degrees", place)


def _written(value: Any, unit: str) -> Any:
    """Return a value as its script has it."""
    if unit == "deg":
        return round(math.degrees(value), 9)
    return f"{value} {unit}" if unit in ("rad", "m") else value


def _check_limits(joint: Joint, value: Any, place: Place) -> None:
    if joint.range is None:
        if not all(math.isfinite(x) for x in _numbers(value)):
            raise InvalidValueError(f"joint '{joint.name}'", value, "a finite number", place)
        return
    position = 2.0 * math.atan2(math.hypot(*value[1:]), abs(value[0])) if joint.kind == "ball" else value
    low, high = joint.range
    if not low - LIMIT_TOLERANCE <= position <= high + LIMIT_TOLERANCE:  # also catches NaN
        if joint.kind == "slide":
            raise JointLimitError(joint.name, position, joint.range, place, unit=" m")
        limits = (math.degrees(low), math.degrees(high))
        raise JointLimitError(joint.name, math.degrees(position), limits, place)


def _numbers(value: Any) -> Iterable[float]:
    return value if isinstance(value, tuple) else (value,)


def _check_velocity(joint: Joint, value: Any, pose: Pose) -> None:
    place = pose.places.get(joint.name, pose.place)
    what = f"the velocity of {joint.kind} joint '{joint.name}'"
    if isinstance(value, tuple) != (joint.kind == "ball") or len(tuple(_numbers(value))) != joint.nv:
        raise InvalidValueError(what, value, f"{joint.nv} number{'s' * (joint.nv > 1)}", place)
    if not all(math.isfinite(x) for x in _numbers(value)):
        raise InvalidValueError(what, value, "finite", place)
