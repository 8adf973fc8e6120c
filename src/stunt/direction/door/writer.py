"""Scripts back to plain data: the keys a person would write, and only where they differ from what is assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from stunt.direction.door.angles import angle_to_data, measure_to_data, number_to_data
from stunt.direction.door.poses import LONG_KEYS
from stunt.direction.script import BeatSpec, Exit, MachineSpec, Part, Script, StateSpec
from stunt.direction.sections import KINDS
from stunt.motion.pose import Pose
from stunt.stage.scene import Attach, CharacterSpec, Drag, Event, PropSpec, Push, Release, Scene, Throw

VERSION = 1
Data = dict[str, Any]
Converters = Mapping[str, Callable[[Any], Any]]
_EVENTS: dict[type, tuple[str, str]] = {
    Push: ("push", "target"),
    Throw: ("throw", "prop"),
    Attach: ("attach", "prop"),
    Release: ("release", "prop"),
    Drag: ("drag", "target"),
}


def script_to_data(script: Script) -> Data:
    """Return a script as plain data: dicts, lists, text, numbers; angles in degrees.

    `script_from_data` makes an equal script of it again.
    """
    data: Data = {"stunt": VERSION}
    data |= {"title": script.title} if script.title else {}
    data |= {"seconds": number_to_data(script.seconds)} if script.seconds is not None else {}
    data |= _scene_settings(script.scene)
    sections = {
        "characters": {key: _character(value) for key, value in script.scene.characters.items()},
        "poses": {key: _pose(key, pose) for key, pose in script.poses.items()},
        "props": {key: _prop(value) for key, value in script.scene.props.items()},
        "performance": {key: _part(part, script.poses) for key, part in script.parts.items()},
        "events": [_event(event) for event in script.scene.events],
    }
    return data | {key: value for key, value in sections.items() if value}


def _scene_settings(scene: Scene) -> Data:
    def collisions(value: Any) -> Data:
        return {"model": "two_stage"} | _given(value, {})

    data = _given(scene, {"collisions": collisions}, skip=("characters", "props", "events", "physics_hz", "control_hz"))
    if scene.physics_hz == scene.control_hz:
        return data | {"rate": number_to_data(scene.physics_hz)}
    return data | {"physics_hz": number_to_data(scene.physics_hz), "control_hz": number_to_data(scene.control_hz)}


def _character(character: CharacterSpec) -> Data:
    def start(value: Any) -> Any:
        return value if isinstance(value, str) else {"angles": _angles(value, character.start_units)}

    return _given(character, {"facing": angle_to_data, "start": start})


def _prop(prop: PropSpec) -> Data:
    def spin(value: Any) -> list[Any]:
        return [angle_to_data(float(x), "/s") for x in value]

    return _given(prop, {"facing": angle_to_data, "spin": spin})


def _event(event: Event) -> Data:
    kind, subject = _EVENTS[type(event)]
    return {kind: getattr(event, subject)} | _given(event, {}, skip=(subject,))


def _pose(key: str, pose: Pose) -> Data:
    angles = _angles(pose.angles, pose.units)
    if pose.velocities or pose.name != key or any(word in angles for word in LONG_KEYS):
        name = {} if pose.name == key else {"name": pose.name}
        return {**name, "angles": angles, **_velocities(pose)}
    return angles


def _angles(angles: Mapping[str, Any], units: Mapping[str, str]) -> Data:
    return {
        joint: [float(x) for x in value] if isinstance(value, tuple) else measure_to_data(value, units.get(joint, ""))
        for joint, value in angles.items()
    }


def _velocities(pose: Pose) -> Data:
    found: Data = {}
    for joint, value in pose.velocities.items():
        if isinstance(value, tuple):
            found[joint] = [angle_to_data(float(x), "/s") for x in value]
        else:
            found[joint] = measure_to_data(value, pose.units.get(joint, ""), "/s")
    return {"velocities": found} if found else {}


def _inline(pose: Pose, poses: Mapping[str, Pose]) -> Data:
    if pose.name in poses and poses[pose.name] == pose:
        return {"pose": pose.name}
    return {"name": pose.name, "angles": _angles(pose.angles, pose.units), **_velocities(pose)}


def _part(part: Part, poses: Mapping[str, Pose]) -> Data:
    def beats(value: tuple[BeatSpec, ...]) -> list[Data]:
        return [_inline(beat.pose, poses) | _given(beat, {}, skip=("pose",)) for beat in value]

    def machine(value: MachineSpec) -> Data:
        return {"start": value.start, "states": {key: _state(state, poses) for key, state in value.states.items()}}

    sections = {key: KINDS[key].write(value) for key, value in part.sections.items()}
    own = _given(part, {"beats": beats, "machine": machine}, skip=("reserved", "sections"))
    return own | sections | dict(part.reserved)


def _state(state: StateSpec, poses: Mapping[str, Pose]) -> Data:
    data = _inline(state.pose, poses) | {"within": number_to_data(state.within)}
    return data | ({"next": [_exit(way) for way in state.exits]} if state.exits else {})


def _exit(way: Exit) -> Data:
    def bound(value: float) -> Any:
        return measure_to_data(value, way.unit)

    data = _given(way, {"above": bound, "below": bound})
    return {"with" if key == "with_prop" else key: value for key, value in data.items()}


def _given(value: Any, converters: Converters, skip: tuple[str, ...] = ()) -> Data:
    """Return a dataclass's fields that differ from their defaults; those that take no part in equality stay out."""
    data: Data = {}
    for field in fields(value):
        content = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if field.compare and field.name not in skip and (default is MISSING or content != default):
            data[field.name] = converters.get(field.name, _simple)(content)
    return data


def _simple(value: Any) -> Any:
    if isinstance(value, bool | str | int) or value is None:
        return value
    if isinstance(value, list | tuple):
        return [_simple(x) for x in value]
    return number_to_data(float(value))
