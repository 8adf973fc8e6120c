"""What can only be checked against the built stage: joints, their limits, bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stunt.character.character import Character
from stunt.drive.beats.check import check_kind, check_pose, matching_joints
from stunt.drive.beats.spec import Part, Script
from stunt.drive.response.ways_out import Exit
from stunt.errors import InvalidValueError, Place, StuntError, UnknownNameError
from stunt.motion.pose import Pose
from stunt.script.kinds import KINDS
from stunt.stage.event_specs import Attach, Push, Throw
from stunt.stage.owners import check_owners
from stunt.stage.scene import CharacterSpec


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
    claims = {key: KINDS[key].claims(value, character) for key, value in part.sections.items()}
    check_owners(character.name, {"beats": _joints_of_beats(part), **claims})
    _check_pulled(part, character)


def _check_pulled(part: Part, character: Character) -> None:
    """Complain of strings on a body that something moves as a whole: they pull all of it."""
    led: Any = part.sections.get("trajectories")
    pulled = [] if led is None else [*led.sites, *([led.markers] if led.markers else [])]
    whole: list[tuple[str, Any]] = [(key, value) for key, value in part.sections.items() if KINDS[key].whole]
    if pulled and whole:
        (key, value), place = whole[0], pulled[0].place
        raise StuntError(
            f"strings (`trajectories`) pull the whole body of '{character.name}', which `{key}`"
            f"{f' ({value.place})' if str(value.place) else ''} moves. Leave one of them out, or lead joints instead.",
            place,
        )


def _joints_of_beats(part: Part) -> dict[str, Place]:
    """Return the joints that beats and machines name, and where first."""
    found: dict[str, Place] = {}
    for beat in part.beats:
        found = {**dict.fromkeys(beat.pose.angles, beat.place), **found}
    for state in part.machine.states.values() if part.machine else ():
        found = {**dict.fromkeys(state.pose.angles, state.place), **found}
    return found


def _poses_of(part: Part) -> list[Pose]:
    """Return a part's poses, each once however often it is played."""
    states = part.machine.states.values() if part.machine else ()
    poses = [beat.pose for beat in part.beats] + [state.pose for state in states]
    return list({id(pose): pose for pose in poses}.values())


def _check_exit(way: Exit, character: Character) -> None:
    for body in (way.contact, way.hit):
        if body is not None and body != "any":
            character.body(body, way.place)
    if way.joint is not None:
        joint = character.joint(way.joint, way.place)
        if joint.nq != 1:
            raise InvalidValueError(
                f"joint '{way.joint}'", joint.kind, "a hinge or slide, which has one angle", way.place
            )
        check_kind(joint, way.above if way.above is not None else way.below, way.unit, way.place)


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
