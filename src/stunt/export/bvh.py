"""BVH: the motion of one character, on its body's own skeleton or on that of the clip the body came from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stunt.export.axes import CENTIMETRE, file_axes
from stunt.export.clip_skeleton import clip_of_take, has_clip
from stunt.export.options import Options, Progress
from stunt.export.placement import put_in_place
from stunt.export.rig import Rig
from stunt.export.sampling import Floats, sample
from stunt.export.stagecraft import SCENE_FPS, rig_of
from stunt.motion.clip import Clip, Door, EndSite, Skeleton
from stunt.motion.formats.bvh_writer import bvh_text
from stunt.record.take import Take

_MOVES = 1e-7  # A bone whose place in its parent varies by less [m] keeps its length.


def write(takes: Sequence[Take], path: Path, options: Options, progress: Progress) -> None:
    """Write the one character the options name."""
    take, name = takes[0], str(options.character)
    if _wants_clip(options) and has_clip(take, name, needed=options.skeleton == "clip"):
        clip = put_in_place(clip_of_take(take, name, options), take, name, options)
    else:
        motion = sample(take, options, SCENE_FPS)
        clip = own_clip(rig_of(take, motion, name, options), motion.fps, options)
    progress(0.5)
    path.write_text(bvh_text(clip), encoding="utf-8", newline="\n")


def _wants_clip(options: Options) -> bool:
    """Tell whether the clip's skeleton will do: with a bone for root motion it is another one."""
    return options.skeleton == "clip" or (options.skeleton == "auto" and not options.root_motion)


def own_clip(rig: Rig, fps: float, options: Options) -> Clip:
    """Return a rig's motion as a clip, in centimetres, with three rotations on every bone."""
    places, turns = rig.local()
    offsets = rig.offsets()
    shifts = places - offsets
    shifts[:, 0] = 0.0
    loose = np.abs(shifts).max(axis=(0, 2)) > _MOVES
    offsets[0] = 0.0
    skeleton = Skeleton(rig.names, rig.parents, offsets, _tips(rig), _channels(loose))
    door = Door(format="bvh", scale=CENTIMETRE, axes=file_axes(options.up or "y"))
    return Clip(rig.character, skeleton, fps, rig.positions[:, 0], turns, shifts if loose.any() else None, door=door)


def _channels(loose: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Return the channels of every bone: positions for the root and for bones that slide."""
    turns = ("Zrotation", "Xrotation", "Yrotation")
    ways = ("Xposition", "Yposition", "Zposition")
    return tuple(ways + turns if bone == 0 or slides else turns for bone, slides in enumerate(loose))


def _tips(rig: Rig) -> tuple[EndSite, ...]:
    """Return a tip for every bone that ends in no other: as far on as its parent is long, so that it can be seen."""
    inner = set(rig.parents)
    found = []
    for bone, parent in enumerate(rig.parents):
        if bone not in inner:
            found.append(EndSite(bone, _tip(rig.rest[bone], rig.rest[parent] if parent >= 0 else rig.rest[bone])))
    return tuple(found)


def _tip(here: Floats, above: Floats) -> Floats:
    way = here - above
    length = float(np.linalg.norm(way))
    return np.array([0.0, 0.0, 0.1]) if length < 1e-6 else way / length * min(max(0.6 * length, 0.05), 0.2)
