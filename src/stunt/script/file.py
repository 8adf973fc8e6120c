"""Scripts from files and plain data, and back. The format is described in `docs/script.md`.

Scripts back to plain data: the keys a person would write, and only where they differ from what is assumed.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import stunt.script.sections  # noqa: F401  (they join KINDS)
from stunt.drive.beats.spec import BeatSpec, Exit, MachineSpec, Part, Script, StateSpec
from stunt.errors import MissingValueError, Place, ScriptFileError, ScriptSyntaxError
from stunt.library.bodies import OWN_SKELETON, is_clip_file
from stunt.library.names import body_reference, clip_entries, find_clip
from stunt.library.read import change_files, with_option
from stunt.motion.pose import Pose
from stunt.schema import Node, Section, node_from_plain, wrong
from stunt.script.kinds import KINDS
from stunt.script.parts import end_warnings, read_parts, read_seconds
from stunt.script.poses import LONG_KEYS, read_poses
from stunt.script.scene import RATE_KEYS, read_events, read_stage, read_title, release_warnings
from stunt.script.units import angle_to_data, measure_to_data, number_to_data
from stunt.script.yaml import MAX_BYTES, node_from_yaml, yaml_from_data
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


TOP_KEYS = (
    *("stunt", "title", "seconds", "seed", *RATE_KEYS, "gravity", "ground", "collisions"),
    *("characters", "poses", "props", "performance", "events"),
)
_MODEL_SUFFIXES = (".xml", ".mjcf", ".urdf")


def load_script(path: str | Path, *, clips: Iterable[str | Path] = ()) -> Script:
    """Read a script from a YAML file.

    A body given as a file (`body: robot.xml`) is looked for beside the script.

    Args:
        path: The file.
        clips: Folders in which the names of clips are looked for first.

    Raises:
        StuntError: The one that fits the mistake, with file and line.
    """
    return script_from_text(_read_bytes(path), str(path), clips=clips)


def script_from_text(text: str | bytes, source: str, *, clips: Iterable[str | Path] = ()) -> Script:
    """Make a script of YAML text, as if it stood in the file `source`: bodies and clips are looked for beside that.

    Raises:
        StuntError: The one that fits the mistake, with file and line.
    """
    raw = text.encode("utf-8") if isinstance(text, str) else text
    script = _script(node_from_yaml(raw, source), source, tuple(clips))
    folder = os.path.dirname(source)

    def beside(path: str) -> str:
        return os.path.normpath(os.path.join(folder, path))

    return _with_bodies(script, beside, lambda path: os.path.isfile(beside(path)))


def script_from_data(data: Mapping[str, Any], source: str = "") -> Script:
    """Make a script of plain data with the same keys as the YAML, angles in degrees.

    Args:
        data: Mappings, sequences, text, numbers (NumPy's too).
        source: What messages call it.

    Raises:
        StuntError: The one that fits the mistake, with the keys that lead to it.
    """
    return _script(node_from_plain(data, source), source)


def save_script(script: Script, path: str | Path) -> None:
    """Write a script as a YAML file; `load_script` gives an equal script.

    Raises:
        ScriptFileError: If the file cannot be written; nothing half-written is left.
    """
    folder = os.path.dirname(os.path.abspath(path))
    data = script_to_data(_with_bodies(script, lambda path: os.path.relpath(path, folder), os.path.isfile))
    try:
        _write_aside(Path(path), yaml_from_data(data).encode("utf-8"))
    except (OSError, UnicodeEncodeError) as error:
        raise ScriptFileError(f"the script cannot be written: {error}.", Place(str(path))) from None


def _script(node: Node, source: str, folders: tuple[str | Path, ...] = ()) -> Script:
    section = _top(node)
    poses = read_poses(section.get("poses"))
    scene = read_stage(section, poses)
    if not scene.characters and not scene.props:
        raise MissingValueError("characters", "a script", section.place)
    scene = replace(scene, events=read_events(section.get("events"), scene))
    warnings: list[str] = []
    parts = read_parts(section.get("performance"), scene, poses, warnings)
    parts = {key: _with_clips(part, folders) for key, part in parts.items()} if folders else parts
    scene = replace(scene, characters=_own_skeletons(scene.characters, parts, folders))
    seconds = read_seconds(section, parts)
    warnings += end_warnings(parts, seconds) + release_warnings(scene.events)
    return Script(scene, parts, seconds, read_title(section), poses, source, tuple(warnings))


def _top(node: Node) -> Section:
    """Open the script: a mapping, not empty, of a version we know, in which somebody does something."""
    if not node.value and node.value != 0:
        raise ScriptSyntaxError("the script is empty.", node.place)
    if not isinstance(node.value, dict):
        kind = "a list" if isinstance(node.value, tuple) else f"just {node.text[:40]!r}"
        raise ScriptSyntaxError(
            f"a script is a mapping (characters: …, performance: …), but this is {kind}.", node.place
        )
    section = Section(node, "a script", TOP_KEYS)
    version = section.get("stunt")
    if version is not None and (isinstance(version.value, bool) or version.value != VERSION):
        raise wrong(version, f"{VERSION}, the version of the format that this Stunt reads")
    performance = node.value.get("performance")
    if performance is not None and not performance.value and performance.value in (None, {}):
        raise MissingValueError("the part of a character", "a performance", performance.place)
    return section


def _with_bodies(script: Script, change: Callable[[str], str], there: Callable[[str], bool]) -> Script:
    """Change the path of every body that is a file and is given by a relative path; and of files its options name."""
    characters = {
        name: replace(character, body=change_files(character.body, change, there))
        if _is_file(character.body)
        else character
        for name, character in script.scene.characters.items()
    }
    return replace(script, scene=replace(script.scene, characters=characters))


def _with_clips(part: Part, folders: tuple[str | Path, ...]) -> Part:
    """Put the user's own files where a part names clips that are in his folders."""
    known = clip_entries(folders)

    def found(clip: str) -> str:
        bare, mark, options = clip.partition("?")
        return f"{known[bare].path}{mark}{options}" if bare in known and known[bare].source != "package" else clip

    sections = dict(part.sections)
    if (clips := sections.get("clips")) is not None:
        play = tuple(replace(entry, clip=found(entry.clip)) for entry in clips.play)
        get_up = tuple((side, found(clip)) for side, clip in clips.get_up)
        sections["clips"] = replace(clips, play=play, get_up=get_up)
    if (supervisor := sections.get("supervisor")) is not None:
        own = tuple(replace(entry, clip=found(entry.clip)) for entry in supervisor.clips)
        walks = tuple(replace(walk, clips=tuple(map(found, walk.clips))) for walk in supervisor.walks)
        sections["supervisor"] = replace(supervisor, clips=own, walks=walks)
    if (paths := sections.get("trajectories")) is not None and paths.clip is not None:
        sections["trajectories"] = replace(paths, clip=replace(paths.clip, path=found(paths.clip.path)))
    return replace(part, sections=sections)


def _own_skeletons(
    characters: Mapping[str, CharacterSpec], parts: Mapping[str, Part], folders: tuple[str | Path, ...]
) -> dict[str, CharacterSpec]:
    """Put the file of a clip where a body is `skeleton` (the first clip its character follows) or a clip's name."""
    found = dict(characters)
    for name, character in characters.items():
        if character.body == OWN_SKELETON:
            clip, place = _first_clip(parts[name]) if name in parts else ("", character.place)
            if not clip:
                raise MissingValueError("clips", f"'{name}', whose body is the skeleton of its clip,", character.place)
            body = clip if is_clip_file(clip) else str(find_clip(clip, place=place))
            found[name] = replace(character, body=body)
        elif (body := body_reference(character.body, folders)) != body_reference(character.body):
            found[name] = replace(character, body=body)  # the package's own keep their names
    return found


def _first_clip(part: Part) -> tuple[str, Place]:
    """Return the first clip a part follows or may play, and where that is said; empty where there is none."""
    if (clips := part.sections.get("clips")) is not None and clips.play:
        first = str(clips.play[0].clip)
        return first if clips.mapping is None else with_option(first, "mapping", clips.mapping), clips.play[0].place
    supervisor = part.sections.get("supervisor")
    if supervisor is None or not supervisor.clips:
        return "", part.place
    return str(supervisor.clips[0].clip), supervisor.clips[0].place


def _is_file(body: str) -> bool:
    return (body.lower().endswith(_MODEL_SUFFIXES) or is_clip_file(body)) and not os.path.isabs(body)


def _read_bytes(path: str | Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ScriptFileError(f"the script cannot be read: {reason}.", Place(str(path))) from None


def _write_aside(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
