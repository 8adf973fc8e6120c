"""What a take remembers of the clip a body was built from, so that its motion can be written on that very skeleton."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import StuntError
from stunt.library.names import HERE, Library
from stunt.maths.rotations import Floats
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import Above, Door, EndSite, Skeleton
from stunt.motion.clips.standing import reference_stance
from stunt.motion.rig.skeleton_body import body_from_clip


@dataclass(frozen=True)
class SourceFile:
    """The rigged file a body's skeleton came from, so that a take can be written back into it."""

    file: str  #: Where it was
    digest: str  #: SHA-256 of its content
    animation: str  #: Which of its animations the clip is; empty where it has none
    skipped: int  #: How many of its frames the clip leaves out at the start


@dataclass(frozen=True, eq=False)
class ClipRecord:
    """The skeleton of a clip, and which of its joints became which body."""

    name: str  #: The clip's
    skeleton: Skeleton  #: Its joints, as in the file
    fps: float  #: Its frame rate
    door: Door  #: Units and axes of its file; no values
    stance: Floats  #: Rotations of the joints in the body's reference stance, (J, 4)
    joints: Mapping[str, int]  #: Joint of each body, by the body's name
    source: SourceFile | None = None  #: The rigged file it was read from; None where it was no such file


def record_of_body(body: object, library: Library = HERE) -> ClipRecord | None:
    """Return the record of the clip a body is made from or named by; None where it is no clip."""
    if not isinstance(body, str | Clip) or not library.is_clip(body):
        return None
    try:
        clip = library.clip(body)
    except (OSError, StuntError):  # the body was built from it a moment ago; without it the take is still a take
        return None
    return record_of_clip(clip)


def record_of_clip(clip: Clip) -> ClipRecord:
    """Return the record of a clip, for a body built from it."""
    return clip.once("record", lambda: _record(clip))


def _record(clip: Clip) -> ClipRecord:
    made = body_from_clip(clip)
    stance, _ = reference_stance(made.clip, clip.parts)
    bones = {bone.name: joint for bone, joint in zip(made.plan.bones, made.joints, strict=True)}
    return ClipRecord(clip.name, clip.skeleton, clip.fps, clip.door, stance.rotations, bones, _source(clip.door))


def _source(door: Door) -> SourceFile | None:
    """Return the file a clip came from, where it may hold a mesh; None where it has none, or has gone meanwhile."""
    file = Path(door.file)
    if door.format != "gltf" or not file.is_file():
        return None
    return SourceFile(str(file.resolve()), digest_of(file), door.assumed.get("animation", ""), door.skipped)


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def record_to_data(record: ClipRecord) -> dict[str, Any]:
    """Return a record as JSON-able data; `record_from_data` reads it back."""
    skeleton = record.skeleton
    return {
        "name": record.name,
        "fps": record.fps,
        "format": record.door.format,
        "scale": record.door.scale,
        "axes": record.door.axes.tolist(),
        "added": list(record.door.added),
        "above": _above_to_data(record.door.above),
        "names": list(skeleton.names),
        "parents": list(skeleton.parents),
        "offsets": skeleton.offsets.tolist(),
        "end_sites": [[site.parent, site.offset.tolist(), site.name] for site in skeleton.end_sites],
        "channels": [list(names) for names in skeleton.channels],
        "stance": record.stance.tolist(),
        "joints": dict(record.joints),
        **({} if record.source is None else {"source": asdict(record.source)}),
    }


def _above_to_data(above: Above | None) -> dict[str, Any] | None:
    if above is None:
        return None
    first = [some[0].tolist() for some in above.motion]
    return {"path": list(above.path), "offsets": above.offsets.tolist(), "first": first}


def _above_from_data(data: Mapping[str, Any] | None) -> Above | None:
    if data is None:
        return None
    first = (np.array(some, float)[None] for some in data["first"])
    return Above(tuple(data["path"]), np.array(data["offsets"], float), *first)


def record_from_data(data: Mapping[str, Any]) -> ClipRecord:
    """Return a record from what a take holds."""
    sites = tuple(EndSite(int(parent), np.array(offset, float), name) for parent, offset, name in data["end_sites"])
    skeleton = Skeleton(
        tuple(data["names"]),
        tuple(data["parents"]),
        np.array(data["offsets"], float),
        sites,
        tuple(tuple(names) for names in data["channels"]),
    )
    door = Door(
        format=data["format"], scale=data["scale"], axes=np.array(data["axes"], float), added=tuple(data["added"]),
        above=_above_from_data(data.get("above")),
    )  # fmt: skip
    stance, source = np.array(data["stance"], float), data.get("source")
    known = None if source is None else SourceFile(**source)
    return ClipRecord(data["name"], skeleton, data["fps"], door, stance, data["joints"], known)
