"""Writing BVH: the skeleton, names, channel order, units, axes and frame rate a clip came with."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stunt.errors import Place
from stunt.maths.rotations import Floats
from stunt.motion.clips.above_hips import lowered
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.euler import to_euler
from stunt.motion.clips.raw import ClipFileError

_ROOT = ("Xposition", "Yposition", "Zposition", "Zrotation", "Xrotation", "Yrotation")
_JOINT = ("Zrotation", "Xrotation", "Yrotation")


def write_bvh(clip: Clip, path: str | Path) -> Path:
    """Write a clip as BVH.

    A clip that came from a BVH file is written in that file's units, axes and channel order, and where nothing was
    changed with the same numbers, frames that were skipped at the start included. Any other clip is written y up, in
    centimetres.

    Raises:
        ClipFileError: The file cannot be written.
    """
    path = Path(path)
    text = bvh_text(clip)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ClipFileError(f"cannot be written: {error.strerror or error}.", Place(str(path))) from None
    return path


def bvh_text(clip: Clip) -> str:
    """Return a clip as the text of a BVH file."""
    clip = lowered(clip)
    scale, axes = file_frame(clip)
    channels = clip.skeleton.channels or (_ROOT, *[_JOINT] * (len(clip.skeleton) - 1))
    values = channel_values(clip, channels, scale, axes)
    lines = ["HIERARCHY", *_hierarchy(clip, channels, scale, axes)]
    lines += ["MOTION", f"Frames: {len(values)}", f"Frame Time: {1.0 / clip.fps:.9g}"]
    lines += [" ".join(map(_number, row)) for row in values.tolist()]
    return "\n".join(lines) + "\n"


def file_frame(clip: Clip) -> tuple[float, Floats]:
    """Return the unit [m] and axes a clip is written in."""
    if clip.door.format == "bvh":
        return clip.door.scale, clip.door.axes
    return 0.01, np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def channel_values(clip: Clip, channels: tuple[tuple[str, ...], ...], scale: float, axes: Floats) -> Floats:
    """Return the values of all channels in file units and degrees, (F, C)."""
    written = _as_written(clip, sum(map(len, channels)))
    columns: list[Floats] = []
    start = 0
    for joint in clip.skeleton.depth_first:
        names = channels[joint]
        near = None if written is None else np.radians(written[:, start : start + len(names)])
        columns.append(_joint_values(clip, joint, names, near, scale, axes))
        start += len(names)
    values = np.concatenate(columns, axis=1)
    if written is None or clip.door.values is None:
        return values
    return np.concatenate([clip.door.values[: clip.door.skipped], values])


def _as_written(clip: Clip, width: int) -> Floats | None:
    """Return the file's own rows of the clip's frames, where they still belong to them, (F, C)."""
    values = clip.door.values
    if values is None or values.shape != (clip.frames + clip.door.skipped, width):
        return None
    return values[clip.door.skipped :]


def _joint_values(
    clip: Clip, joint: int, names: tuple[str, ...], near: Floats | None, scale: float, axes: Floats
) -> Floats:
    values = np.zeros((clip.frames, len(names)))
    turns = [n for n, name in enumerate(names) if "rotation" in name]
    rotation = clip.rotations[:, joint].copy()
    rotation[:, 1:] = rotation[:, 1:] @ axes
    order = "".join(names[n][0] for n in turns)
    values[:, turns] = np.degrees(to_euler(rotation, order, None if near is None else near[:, turns]))
    ways = [n for n, name in enumerate(names) if "position" in name]
    if ways:
        place = _place(clip, joint) @ axes / scale
        values[:, ways] = place[:, ["XYZ".index(names[n][0]) for n in ways]]
    return values


def _place(clip: Clip, joint: int) -> Floats:
    """Return what a joint's position channels say in our frame [m], (F, 3)."""
    if joint == 0:
        return clip.root
    shift = np.zeros((clip.frames, 3)) if clip.shifts is None else clip.shifts[:, joint]
    return shift if joint in clip.door.added else shift + clip.skeleton.offsets[joint]


def _hierarchy(clip: Clip, channels: tuple[tuple[str, ...], ...], scale: float, axes: Floats) -> list[str]:
    skeleton = clip.skeleton
    lines: list[str] = []
    pending: list[tuple[str, int, int]] = [("joint", 0, 0)]  # what, which, how deep
    while pending:
        what, number, depth = pending.pop()
        pad = "\t" * depth
        if what == "close":
            lines.append(pad + "}")
            continue
        if what == "tip":
            site = skeleton.end_sites[number]
            offset = _offset(axes.T @ site.offset / scale)
            lines += [f"{pad}End Site", pad + "{", f"{pad}\t{offset}", pad + "}"]
            continue
        offset = _offset(axes.T @ skeleton.offsets[number] / scale)
        names = channels[number]
        lines += [f"{pad}{'JOINT' if depth else 'ROOT'} {skeleton.names[number]}", pad + "{", f"{pad}\t{offset}"]
        if names:
            lines.append(f"{pad}\tCHANNELS {len(names)} {' '.join(names)}")
        below = [("joint", child, depth + 1) for child in skeleton.children[number]]
        below += [("tip", n, depth + 1) for n, site in enumerate(skeleton.end_sites) if site.parent == number]
        pending += [("close", 0, depth), *reversed(below)]
    return lines


def _offset(values: Floats) -> str:
    return "OFFSET " + " ".join(_number(value) for value in values.tolist())


def _number(value: float) -> str:
    text = f"{value:.6f}"
    return "0.000000" if text == "-0.000000" else text
