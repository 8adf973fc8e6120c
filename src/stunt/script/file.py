"""Scripts from files and plain data, and back. The format is described in `docs/script.md`.

Scripts back to plain data: the keys a person would write, and only where they differ from what is assumed.

What the characters do: the parts of a script, and how long they take.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco

from stunt.character.bodies import SUFFIXES as MODEL_SUFFIXES
from stunt.drive.beats.spec import Part, Script, beat_times
from stunt.errors import (
    InvalidValueError,
    MissingValueError,
    Place,
    ScriptFileError,
    ScriptSyntaxError,
    TakeError,
    UnknownNameError,
    announced,
    must_be,
)
from stunt.keys import Change, Context, Data, names_of, read_section, with_references, write
from stunt.library.bodies import OWN_SKELETON
from stunt.library.names import Library
from stunt.library.read import change_files, cut_reference
from stunt.motion.clips.clip import Clip
from stunt.motion.formats.registry import is_motion_file
from stunt.motion.pose_keys import pose_to_data, read_poses
from stunt.record.files import read_file, written_aside
from stunt.schema import Node, Section, entries, node_from_plain, plain_from_node, seconds, text, wrong
from stunt.script.kinds import KINDS
from stunt.script.yaml import MAX_BYTES, node_from_yaml, yaml_from_data
from stunt.stage.event_specs import release_warnings
from stunt.stage.scene import RATE_KEYS, Scene, read_events


def read_parts(node: Node | None, context: Context, warnings: list[str]) -> dict[str, Part]:
    """Read what each character does; `warnings` gains a sentence for what is not performed."""
    parts: dict[str, Part] = {}
    for key, value in ({} if node is None else entries(node)).items():
        if key not in context["character"]:
            raise UnknownNameError("character", key, context["character"], value.place)
        parts[key] = _read_part(key, value, context, warnings)
    return parts


def _read_part(key: str, node: Node, context: Context, warnings: list[str]) -> Part:
    what, names = f"the part of '{key}'", (*names_of(Part), *KINDS)
    if node.value is None:
        raise MissingValueError("beats' or 'machine", what, node.place)
    section = Section(node, what, names)
    reserved = _reserved(section, warnings)
    if reserved:
        section = Section(Node({k: v for k, v in node.value.items() if k not in reserved}, node.place), what, names)
    sections = {key: kind.read(section.need(key), context) for key, kind in KINDS.items() if key in section}
    if not sections and not reserved and "beats" not in section and "machine" not in section:
        raise MissingValueError("beats' or 'machine", what, section.place)
    return read_section(Part, section, context, key, sections=sections, reserved=reserved)


def _reserved(section: Section, warnings: list[str]) -> dict[str, Any]:
    """Keep a tension that is no number: a script that has one plays here as far as it can."""
    tension = section.get("tension")
    if tension is None or not isinstance(tension.value, dict | tuple):  # one number is a tension in seconds
        return {}
    warnings.append(f"{tension.place}: reserved: not performed by this version.")
    return {"tension": plain_from_node(tension)}


def read_seconds(section: Section, parts: Mapping[str, Part]) -> float | None:
    """Read how long the performance lasts [s]; it may be left out where a last beat says so."""
    given = section.get("seconds")
    if given is not None:
        return seconds(given)
    if any(part.machine for part in parts.values()):
        raise MissingValueError("seconds", "a script with a state machine, which has no last beat,", section.place)
    if not any(part.beats or part.sections for part in parts.values()):
        key = "seconds" if parts else "performance' or 'seconds"
        raise MissingValueError(key, "a script without beats", section.place)
    return None


def end_warnings(parts: Mapping[str, Part], end: float | None) -> list[str]:
    """Return a sentence for each part whose last beat falls after the end."""
    found = []
    for key, part in parts.items():
        last = part.cycle * beat_times(part.beats)[-1] if part.beats else 0.0
        if end is not None and last > end:
            place = part.beats[-1].place
            found.append(f"{place}: the last beat of '{key}' is at {last:g} s, but the performance ends at {end:g} s.")
    return found


VERSION = 1
TOP_KEYS = (
    *("stunt", "title", "seconds", "seed", *RATE_KEYS, "gravity", "ground", "collisions", "sleep"),
    *("characters", "poses", "props", "performance", "events"),
)


def script_to_data(script: Script) -> Data:
    """Return a script as plain data: dicts, lists, text, numbers; angles in degrees.

    `script_from_data` makes an equal script of it again.

    Raises:
        ScriptFileError: It names a clip that is only in memory.
    """
    must_be("the script", script, Script)
    _with_references(script, _written)
    context = {"pose": script.poses}
    found: Data = {"stunt": VERSION, **write(script), **write(script.scene, context)}
    found["poses"] = {key: pose_to_data(key, pose) for key, pose in script.poses.items()}
    found["performance"] = {key: _part(part, context) for key, part in script.parts.items()}
    last = ("characters", "poses", "props", "performance", "events")
    found |= {key: found.pop(key) for key in last if key in found}
    return {key: value for key, value in found.items() if value != {}}


def _part(part: Part, context: Context) -> Data:
    sections = {key: KINDS[key].write(value, context) for key, value in part.sections.items()}
    return {**write(part, context), **sections, **part.reserved}


def load_script(path: str | Path, *, clips: Iterable[str | Path] = ()) -> Script:
    """Read a script from a YAML file.

    Bodies, clips and other files it names are looked for beside it, then where the user is.

    Args:
        path: The file.
        clips: Folders in which the names of clips are looked for first.

    Raises:
        StuntError: The one that fits the mistake, with file and line.
    """
    return script_from_text(_read_bytes(path), str(path), clips=clips)


def script_from_text(written: str | bytes, source: str, *, clips: Iterable[str | Path] = ()) -> Script:
    """Make a script of YAML text, as if it stood in the file `source`: bodies and clips are looked for beside that.

    Raises:
        StuntError: The one that fits the mistake, with file and line.
    """
    raw = written.encode("utf-8") if isinstance(written, str) else written
    return _script(node_from_yaml(raw, source), source, clips)


def script_from_data(data: Mapping[str, Any], source: str = "") -> Script:
    """Make a script of plain data with the same keys as the YAML, angles in degrees.

    Args:
        data: Mappings, sequences, text, numbers (NumPy's too).
        source: What messages call it.

    Raises:
        StuntError: The one that fits the mistake, with the keys that lead to it.
    """
    return _script(node_from_plain(data, source), source)


@announced
def save_script(script: Script, path: str | Path) -> None:
    """Write a script as a YAML file; `load_script` gives an equal script.

    Raises:
        ScriptFileError: If the file cannot be written; nothing half-written is left.
    """
    folder = os.path.dirname(os.path.abspath(path))

    def near(reference: Any) -> Any:
        if not isinstance(reference, str) or not _is_there(reference):
            return reference
        return change_files(reference, lambda file: os.path.relpath(file, folder), os.path.isfile)

    data = script_to_data(_with_references(script, near))
    if not os.path.isdir(folder):
        raise ScriptFileError(f"the script cannot be written: there is no folder '{folder}'.", Place(str(path)))
    try:
        content = yaml_from_data(data).encode("utf-8")
        with written_aside(Path(path)) as aside:
            aside.write_bytes(content)
    except (OSError, UnicodeEncodeError, TakeError) as error:
        raise ScriptFileError(f"the script cannot be written: {error}.", Place(str(path))) from None


def _script(node: Node, source: str, folders: Iterable[str | Path] = ()) -> Script:
    section = _top(node)
    poses = read_poses(section.get("poses"))
    scene = read_section(Scene, section, {"pose": poses})
    if not scene.characters and not scene.props:
        raise MissingValueError("characters", "a script", section.place)
    scene = replace(scene, events=read_events(section.get("events"), scene))
    warnings: list[str] = []
    context = {"pose": poses, "character": scene.characters, "prop": scene.props}
    parts = read_parts(section.get("performance"), context, warnings)
    seconds = read_seconds(section, parts)
    warnings += end_warnings(parts, seconds) + release_warnings(scene.events)
    written = Script(scene, parts, seconds, section.read("title", text, ""), poses, source, tuple(warnings))
    library = Library.of(folders, os.path.dirname(source))
    return _with_skeletons(_with_references(written, library.locate), library)


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


def _with_references(script: Script, change: Change) -> Script:
    """Change every body, clip and file a script names."""

    def changed_body(body: Any) -> Any:
        return body if isinstance(body, str) and body == OWN_SKELETON else change(body)

    parts = {name: replace(part, sections=_changed(part.sections, change)) for name, part in script.parts.items()}
    return replace(script, scene=with_references(script.scene, changed_body), parts=parts)


def _changed(sections: Mapping[str, Any], change: Change) -> dict[str, Any]:
    return {key: KINDS[key].references(value, change) for key, value in sections.items()}


def _written(reference: Any) -> Any:
    """Refuse a reference that no text can say."""
    if isinstance(reference, mujoco.MjSpec):
        raise ScriptFileError(
            "a body that is a model made in Python (an MjSpec) is only in memory, and a script names files: write its "
            "`to_xml()` to one first, and name that."
        )
    if isinstance(reference, Clip):
        raise ScriptFileError(
            f"clip '{reference.title}' is only in memory, and a script names files: write it to one first "
            "(stunt.motion.formats.npz.write_npz), and name that."
        )
    return reference


def _is_there(reference: str) -> bool:
    """Whether a reference is a file by a relative path."""
    head, _ = cut_reference(reference)
    known = head.lower().endswith(MODEL_SUFFIXES) or is_motion_file(head) or os.path.isfile(head)
    return known and not os.path.isabs(head)


def _with_skeletons(script: Script, library: Library) -> Script:
    """Put the file of the first clip its character follows where a body is `skeleton`."""
    characters = dict(script.scene.characters)
    library = replace(library, beside="")  # what the parts name has been found already
    for name, character in characters.items():
        if character.body == OWN_SKELETON:
            clip, place = _first_clip(script.parts[name]) if name in script.parts else ("", character.place)
            if not clip:
                raise MissingValueError("clips", f"'{name}', whose body is the skeleton of its clip,", character.place)
            characters[name] = replace(character, body=str(library.find(clip, place)))
    return replace(script, scene=replace(script.scene, characters=characters))


def _first_clip(part: Part) -> tuple[str, Place]:
    """Return the first clip a part follows or may play, and where that is said; empty where there is none."""
    clips = (KINDS[key].body_clip(value) for key, value in part.sections.items())
    return next((clip for clip in clips if clip is not None), ("", part.place))


def _read_bytes(path: str | Path) -> bytes:
    if not isinstance(path, (str, Path)):
        raise InvalidValueError("path", path, "the path of a script")
    try:
        return read_file(path, 64 * MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ScriptFileError(f"the script cannot be read: {reason}.", Place(str(path))) from None
