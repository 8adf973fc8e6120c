"""What a take remembers of the clip a body was built from, so that its motion can be written on that very skeleton."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stunt.errors import StuntError
from stunt.library.names import HERE, Library, Reference
from stunt.maths.rotations import Floats
from stunt.motion.clips.clip import Above, Clip, Door
from stunt.motion.clips.clip_skeleton import EndSite, Skeleton
from stunt.motion.clips.standing import reference_stance
from stunt.motion.rig.skeleton_body import body_from_clip


@dataclass(frozen=True, eq=False)
class ClipRecord:
    """The skeleton of a clip, and which of its joints became which body.

    Attributes:
        name: The clip's.
        skeleton: Its joints, as in the file.
        fps: Its frame rate.
        door: Units and axes of its file; no values.
        stance: Rotations of the joints in the body's reference stance, (J, 4).
        joints: Joint of each body, by the body's name.
    """

    name: str
    skeleton: Skeleton
    fps: float
    door: Door
    stance: Floats
    joints: Mapping[str, int]


def clip_record(body: Reference, library: Library = HERE) -> dict[str, Any] | None:
    """Return the record of the clip a body is named by, as JSON-able data; None where it is no clip."""
    if not library.is_clip(body):
        return None
    try:
        clip = library.clip(body)
    except (OSError, StuntError):  # the body was built from it a moment ago; without it the take is still a take
        return None
    return clip.once("record", lambda: _record(clip))


def _record(clip: Clip) -> dict[str, Any]:
    made = body_from_clip(clip)
    stance, _ = reference_stance(made.clip, clip.parts)
    bones = {bone.name: joint for bone, joint in zip(made.plan.bones, made.joints, strict=True)}
    return _to_data(clip, stance.rotations, bones)


def _to_data(clip: Clip, stance: Floats, joints: Mapping[str, int]) -> dict[str, Any]:
    skeleton = clip.skeleton
    return {
        "name": clip.name,
        "fps": clip.fps,
        "format": clip.door.format,
        "scale": clip.door.scale,
        "axes": clip.door.axes.tolist(),
        "added": list(clip.door.added),
        "above": _above_to_data(clip.door.above),
        "names": list(skeleton.names),
        "parents": list(skeleton.parents),
        "offsets": skeleton.offsets.tolist(),
        "end_sites": [[site.parent, site.offset.tolist(), site.name] for site in skeleton.end_sites],
        "channels": [list(names) for names in skeleton.channels],
        "stance": stance.tolist(),
        "joints": dict(joints),
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
    return ClipRecord(data["name"], skeleton, data["fps"], door, np.array(data["stance"], float), data["joints"])
