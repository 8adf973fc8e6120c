"""What can only be checked against the built stage: joints, their limits, bodies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from stunt.character.character import Character, Joint
from stunt.direction.script import Exit, Part, Script
from stunt.direction.sections import KINDS
from stunt.errors import InvalidValueError, JointLimitError, Place, UnknownNameError
from stunt.motion.pose import Pose
from stunt.stage.scene import Attach, CharacterSpec, Push, Throw

LIMIT_TOLERANCE = 1e-6  # [rad or m] what degrees, rounded by hand, may lie outside


def check_against_stage(script: Script, characters: Mapping[str, Character]) -> None:
    """Check everything a script says about joints and bodies.

    Args:
        script: The script.
        characters: Its characters in the built model, by name.

    Raises:
        UnknownNameError: A joint, pattern of joints, body or site that a character does not have.
        JointLimitError: A key outside a joint's limits.
        InvalidValueError: A number for a ball joint, a rotation for a hinge, degrees for a slide joint.
    """
    for name, spec in script.scene.characters.items():
        _check_start(spec, script.poses, characters[name])
    for name, part in script.parts.items():
        _check_part(part, characters[name])
    _check_unused(script, characters)
    for event in script.scene.events:
        _check_event(event, characters)


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
        _check_kind(joint, value, pose.units.get(name, ""), place)
        _check_limits(joint, value, place)
    for name, velocity in pose.velocities.items():
        _check_velocity(character.joint(name, pose.places.get(name, pose.place)), velocity, pose)


def _check_start(spec: CharacterSpec, poses: Mapping[str, Pose], character: Character) -> None:
    if isinstance(spec.start, str):
        if spec.start not in poses:
            raise UnknownNameError("pose", spec.start, poses, spec.place)
        check_pose(poses[spec.start], character)
    elif spec.start is not None:
        check_pose(Pose("start", spec.start, {}, spec.place, spec.start_places, spec.start_units), character)


def _check_part(part: Part, character: Character) -> None:
    matching_joints(part, character)
    for pose in _poses_of(part):
        check_pose(pose, character)
    for state in part.machine.states.values() if part.machine else ():
        for way in state.exits:
            _check_exit(way, character)
    for key, value in part.sections.items():
        KINDS[key].check(value, character)


def _poses_of(part: Part) -> list[Pose]:
    """Return a part's poses, each once however often it is played."""
    states = part.machine.states.values() if part.machine else ()
    poses = [beat.pose for beat in part.beats] + [state.pose for state in states]
    return list({id(pose): pose for pose in poses}.values())


def _check_exit(way: Exit, character: Character) -> None:
    if way.contact is not None and way.contact != "any":
        character.body(way.contact, way.place)
    if way.joint is not None:
        joint = character.joint(way.joint, way.place)
        if joint.nq != 1:
            raise InvalidValueError(
                f"joint '{way.joint}'", joint.kind, "a hinge or slide, which has one angle", way.place
            )
        _check_kind(joint, way.above if way.above is not None else way.below, way.unit, way.place)


def _check_unused(script: Script, characters: Mapping[str, Character]) -> None:
    """Check the joints of poses nobody plays: somebody on the stage must have them."""
    if not characters:
        return
    everybody = dict.fromkeys(joint for character in characters.values() for joint in character.joints)
    for pose in script.poses.values():
        for joint in pose.angles:
            if joint not in everybody:
                raise UnknownNameError("joint", joint, everybody, pose.places.get(joint, pose.place))


def _check_event(event: Any, characters: Mapping[str, Character]) -> None:
    if isinstance(event, Push):
        _check_target(event.target, characters, event.place, sites=False)
    elif isinstance(event, Throw):
        _check_target(event.target, characters, event.place, sites=True)
    elif isinstance(event, Attach):
        _check_target(event.to, characters, event.place, sites=True)


def _check_target(target: str, characters: Mapping[str, Character], place: Place, sites: bool) -> None:
    name, slash, part = target.partition("/")
    if not slash:
        return  # a prop, which the door has checked
    if name not in characters:
        raise UnknownNameError("character", name, characters, place)
    character = characters[name]
    parts = [*character.bodies, *(character.sites if sites else ())]
    if part not in parts:
        kind = "body or site" if sites else "body"
        raise UnknownNameError(f"{kind} of '{name}'", part, dict.fromkeys(parts), place)


def _check_kind(joint: Joint, value: Any, unit: str, place: Place) -> None:
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
