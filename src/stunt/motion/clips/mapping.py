"""Mapping files: which joint of a clip is which part of a person, written as YAML to be looked at and edited."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from stunt.errors import Place, StuntError, UnknownNameError
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import Skeleton
from stunt.motion.clips.raw import read_text
from stunt.motion.clips.recognise import guess_parts
from stunt.motion.clips.words import ARM, LEG
from stunt.quick_yaml import quick_yaml

PARTS = (
    *("hips", "spine", "spine2", "spine3", "spine4", "spine5", "neck", "neck2", "head"),
    *(f"{side}{part}" for side in ("l_", "r_") for part in (*LEG, *ARM)),
)
_HEAD = """# Which joint of the clip is which part of a person, as Stunt guessed it. Change what is wrong.
# Under `bodies`, for a body that does not use Stunt's names: which of its bodies is which part.
"""


class MappingFileError(StuntError):
    """A mapping file that cannot be read or written."""


@dataclass(frozen=True)
class JointMapping:
    """Which joint, and which body, is which part."""

    joints: Mapping[str, str]  #: Part → name of the clip's joint
    #: Part → name of the target's body; for bodies with other names than Stunt's.
    bodies: Mapping[str, str] = field(default_factory=dict)
    place: Place = field(default=Place(), compare=False)  #: The file it came from

    def parts_of(self, skeleton: Skeleton) -> dict[str, int]:
        """Return part → joint index in a skeleton, or say which joint does not exist."""
        return {part: skeleton.joint(name, self.place) for part, name in self.joints.items()}


def mapping_from_guess(parts: Mapping[str, str], bodies: Mapping[str, str] | None = None) -> JointMapping:
    """Make a mapping of guessed names, in the order of a person's parts."""
    return JointMapping({part: parts[part] for part in PARTS if part in parts}, dict(bodies or {}))


def guess_mapping(skeleton: Skeleton) -> JointMapping:
    """Guess a skeleton's mapping by its joints' names and tree."""
    parts = guess_parts(skeleton.names, skeleton.parents, skeleton.rest_places)
    return mapping_from_guess({part: skeleton.names[joint] for part, joint in parts.items()})


def with_mapping(clip: Clip, mapping: JointMapping) -> Clip:
    """Return a clip that knows which of its joints are which parts; what a mapping does not say stays as it was.

    Raises:
        UnknownNameError: The clip has no joint of a name in the mapping.
    """
    mapping.parts_of(clip.skeleton)
    door = replace(
        clip.door,
        parts=dict(mapping.joints) if mapping.joints else clip.door.parts,
        bodies=dict(mapping.bodies) if mapping.bodies else clip.door.bodies,
    )
    return replace(clip, door=door)


def write_mapping(mapping: JointMapping, path: str | Path, names: Sequence[str] = ()) -> Path:
    """Write a mapping file.

    Args:
        mapping: What goes in.
        path: The file.
        names: All names there are to choose from; with them the file lists what was not recognised.
    """
    yaml = YAML()
    text = io.StringIO()
    data: dict[str, dict[str, str]] = {}
    if mapping.joints or not mapping.bodies:
        data["joints"] = dict(mapping.joints)
    if mapping.bodies:
        data["bodies"] = dict(mapping.bodies)
    yaml.dump(data, text)
    try:
        Path(path).write_text(_HEAD + text.getvalue() + _open_ends(mapping, names), encoding="utf-8")
    except OSError as error:
        raise MappingFileError(f"cannot be written: {error.strerror or error}.", Place(str(path))) from None
    return Path(path)


def _open_ends(mapping: JointMapping, names: Sequence[str]) -> str:
    """Return comments on what no name was found for, and on names without a part."""
    if not names:
        return ""
    taken = {*mapping.joints.values(), *mapping.bodies.values()}
    missing = [part for part in PARTS if part not in mapping.joints and part not in mapping.bodies]
    spare = [name for name in names if name not in taken]
    lines = ["", "# Parts nothing was recognised as (most skeletons do not have all):", *_wrapped(missing)]
    return "\n".join([*lines, "# Names without a part (they follow what they hang on):", *_wrapped(spare)]) + "\n"


def _wrapped(words: Sequence[str]) -> list[str]:
    return textwrap.wrap(", ".join(words) or "none", 110, initial_indent="#   ", subsequent_indent="#   ")


_MOST_BYTES = 50_000  # ten times what a body of two hundred bones takes


def read_mapping(path: str | Path) -> JointMapping:
    """Read a mapping file.

    Raises:
        MappingFileError: It is no mapping of names to names.
        UnknownNameError: A part that does not exist.
    """
    place = Place(str(path))
    try:
        yaml = quick_yaml()
        yaml.max_depth = 8  # names by part are two deep
        data = yaml.load(read_text(path, _MOST_BYTES))
    except (YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = Place(str(path), mark.line + 1) if mark is not None else place
        raise MappingFileError("is no YAML.", where) from None
    if not isinstance(data, dict) or not data or not set(data) <= {"joints", "bodies"}:
        raise MappingFileError("needs 'joints' (part: joint of the clip), 'bodies' (part: body), or both.", place)
    joints, bodies = (_names(data.get(key) or {}, key, place) for key in ("joints", "bodies"))
    return JointMapping(joints, bodies, place)


def _names(data: object, key: str, place: Place) -> dict[str, str]:
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        raise MappingFileError(f"'{key}' must be names by part.", place)
    for part in data:
        if part not in PARTS:
            raise UnknownNameError("part", str(part), PARTS, place)
    return dict(data)
