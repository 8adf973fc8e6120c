"""glTF skeletons and their animations as clips.

A file's bones may be turned anyhow at rest. Here they are turned so that at rest every frame is parallel to the
world's, as in all clips; where the bones are, and how they move, stays the same. glTF is in metres with y up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import UnknownNameError
from stunt.maths.rotations import Floats, conjugate, multiply, normalise, rotate, slerp
from stunt.motion.clips.clip_parts import Skeleton
from stunt.motion.clips.raw import ClipFormat, RawClip, check_size, snapped
from stunt.motion.clips.recognise import guess_parts
from stunt.motion.clips.standing import stature_of
from stunt.motion.formats.gltf import GltfDocument, read_document
from stunt.motion.formats.gltf_nodes import Bones, Local, find_bones, local_of

STILL_FPS = 30.0
"""Frame rate of a file without animation, whose one frame is how its nodes stand."""
_MOVED = 1e-5  # a bone whose joint wanders less than this share of its length keeps its length
_PERSON = (0.4, 3.0)  # metres tall
_CREATURE = 30.0  # metres long, as the longest that ever lived
_BONES: dict[str, int | None] = {"translation": 3, "rotation": 4}
_EVERYTHING = {**_BONES, "scale": 3, "weights": None}
_ENDS = {"head": 0.105, "hand": 0.105, "toe": 0.038}  # how long a person's last bones are [fraction of the stature]


@dataclass(frozen=True, eq=False)
class _Channel:
    """One animated property: key times (K,), values (K, n), and how it goes between them."""

    times: Floats
    values: Floats
    way: str


def read_gltf(path: str | Path, animation: str | None = None) -> RawClip:
    """Read the skeleton of a .glb or .gltf file and one of its animations.

    Args:
        path: The file.
        animation: Which, by name; None takes the longest. Without any the clip is one frame.

    Raises:
        ClipFileError: It is no glTF file, or has no skeleton.
        UnknownNameError: There is no such animation.
    """
    document = read_document(path)
    bones = find_bones(document)
    notes: dict[str, str] = {}
    channels, name = _animation(document, animation, notes)
    fps, times = _clock(document, channels, len(bones.nodes))
    locals_ = {node: _moved(document, node, channels, times) for node in (*bones.above, *bones.nodes)}
    raw = _raw(document, bones, locals_, fps, notes)
    if bones.left_out:
        notes["joints left out"] = f"not part of the tree at '{bones.names[0]}': {', '.join(bones.left_out[:8])}"
    if name:
        notes["animation"] = name
    return raw


def _raw(
    document: GltfDocument, bones: Bones, locals_: Mapping[int, Local], fps: float, notes: dict[str, str]
) -> RawClip:
    """Put the file's transforms into frames that are parallel to the world's at rest."""
    frames = len(next(iter(locals_.values())).turn)
    place, turn, scale = _carried(bones, locals_, frames)
    rotations = np.zeros((frames, len(bones.nodes), 4))
    offsets = np.zeros((len(bones.nodes), 3))
    shifts = np.zeros((frames, len(bones.nodes), 3))
    sizes = np.zeros(len(bones.nodes))
    for number, (node, up) in enumerate(zip(bones.nodes, bones.parents, strict=True)):
        local = locals_[node]
        before = turn if up < 0 else bones.rest[up]
        rotations[:, number] = multiply(multiply(before, local.turn), conjugate(bones.rest[number]))
        size = scale if up < 0 else sizes[up]
        sizes[number] = size * float(np.abs(local.scale).mean())
        moved = rotate(np.broadcast_to(before, (frames, 4)), size * local.shift)
        if up < 0:
            root = place + moved
        else:
            stands = local_of(document, document.item("nodes", node))
            offsets[number] = rotate(before, size * stands.shift)
            shifts[:, number] = moved - offsets[number]
    reach = np.abs(offsets).max(initial=1e-6)
    wandering = bool(np.abs(shifts).max(initial=0.0) > _MOVED * reach)
    return RawClip(
        format="gltf", file=document.place.file, names=bones.names, parents=bones.parents, offsets=offsets,
        end_sites=_tips(bones, offsets), fps=fps, root=root, rotations=normalise(rotations),
        shifts=shifts if wandering else None, scale=_scale(bones, offsets, notes), up="y", notes=notes,
        parts=_humanoid(document, bones),
    )  # fmt: skip


_VRM = {
    "hips": "hips", "spine": "spine", "chest": "spine2", "upperChest": "spine3", "neck": "neck", "head": "head",
    "Shoulder": "clavicle", "UpperArm": "upper_arm", "LowerArm": "forearm", "Hand": "hand", "UpperLeg": "thigh",
    "LowerLeg": "shank", "Foot": "foot", "Toes": "toe",
}  # fmt: skip
"""VRM's words for a person's bones, without sides."""


def _humanoid(document: GltfDocument, bones: Bones) -> dict[str, int]:
    """Return part → joint, where the file says so itself, as VRM files do; nothing where it does not."""
    extensions = document.mapping(document.data, "extensions")
    one = document.mapping(document.mapping(extensions, "VRMC_vrm"), "humanoid").get("humanBones")
    zero = document.mapping(document.mapping(extensions, "VRM"), "humanoid").get("humanBones")
    told: dict[str, Any] = {}
    if isinstance(one, dict):  # version 1: by the bone's name
        told = {name: bone.get("node") for name, bone in one.items() if isinstance(bone, dict)}
    elif isinstance(zero, list):  # version 0: a list
        told = {str(bone.get("bone")): bone.get("node") for bone in zero if isinstance(bone, dict)}
    found: dict[str, int] = {}
    for name, node in told.items():
        side = "l_" if name.startswith("left") else "r_" if name.startswith("right") else ""
        stem = name.removeprefix("left").removeprefix("right")
        if stem in _VRM and isinstance(node, int) and node in bones.nodes:
            found[f"{side}{_VRM[stem]}"] = bones.nodes.index(node)
    return found


def _carried(bones: Bones, locals_: Mapping[int, Local], frames: int) -> tuple[Floats, Floats, float]:
    """Return what the nodes above the root do to it: place (F, 3), turn (F, 4) and scale."""
    place, turn, scale = np.zeros((frames, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1)), 1.0
    for node in bones.above:
        local = locals_[node]
        place = place + rotate(turn, scale * local.shift)
        turn = multiply(turn, local.turn)
        scale *= float(np.abs(local.scale).mean())
    return place, turn, scale


def _tips(bones: Bones, offsets: Floats) -> tuple[tuple[int, Floats, str], ...]:
    """Return tips for bones that end in no other, straight on: as long as a person's, or a third of the bone before."""
    parts = _parts(bones, offsets)
    part_of = {joint: part.removeprefix("l_").removeprefix("r_") for part, joint in parts.items()}
    tall = stature_of(offsets, bones.parents, parts)
    found = []
    for number in range(1, len(bones.names)):
        length = float(np.linalg.norm(offsets[number]))
        if number in bones.parents or length < 1e-9:
            continue
        share = _ENDS.get(part_of.get(number, ""))
        end = length / 3.0 if tall is None or share is None else share * tall
        found.append((number, offsets[number] * (end / length), ""))
    return tuple(found)


def _parts(bones: Bones, offsets: Floats) -> dict[str, int]:
    return guess_parts(bones.names, bones.parents, Skeleton(bones.names, bones.parents, offsets).rest_places)


def _scale(bones: Bones, offsets: Floats, notes: dict[str, str]) -> float | None:
    """Return metres per unit: glTF's one, unless that makes the person a giant or a midget."""
    tall = stature_of(offsets, bones.parents, _parts(bones, offsets))
    size = float(np.ptp(Skeleton(bones.names, bones.parents, offsets).rest_places, axis=0).max())
    if tall is None and size > _CREATURE:
        notes["unit"] = f"glTF is in metres, but that would make it {size:.3g} m large; centimetres are taken"
        return 0.01
    if tall is None or _PERSON[0] <= tall <= _PERSON[1]:
        return 1.0
    notes["unit"] = f"glTF is in metres, but that would make the person {tall:.3g} m tall"
    return None


# ---- animation


def _animation(
    document: GltfDocument, wanted: str | None, notes: dict[str, str]
) -> tuple[dict[tuple[int, str], _Channel], str]:
    """Return the channels of an animation by node and property, and its name."""
    known = document.items("animations")
    names = [str(item.get("name") or f"animation{number}") for number, item in enumerate(known)]
    if wanted is not None and wanted not in names:
        raise UnknownNameError("animation", wanted, names, document.place)
    found = [_channels(document, item) for item in known]
    if not found:
        return {}, ""
    if wanted is not None:
        return found[names.index(wanted)], wanted
    chosen = int(np.argmax([_moving_seconds(channels) for channels in found]))
    if len(names) > 1:
        notes["choice"] = f"the longest of {len(names)} animations that moves was taken ({', '.join(names[:10])})"
    return found[chosen], names[chosen]


def _moving_seconds(channels: Mapping[tuple[int, str], _Channel]) -> float:
    """Return how long an animation moves anything [s]: poses held, and of one or two keys, count for nothing."""
    moving = [c for c in channels.values() if len(c.times) > 2 and bool((np.ptp(c.values, axis=0) > 1e-4).any())]
    return max((float(channel.times[-1] - channel.times[0]) for channel in moving), default=0.0)


def _channels(
    document: GltfDocument, animation: Mapping[str, Any], widths: Mapping[str, int | None] = _BONES
) -> dict[tuple[int, str], _Channel]:
    """Return an animation's channels of some properties; a width of None is told by the keys."""
    samplers = document.objects(animation, "samplers")
    found: dict[tuple[int, str], _Channel] = {}
    for channel in document.objects(animation, "channels"):
        target = document.mapping(channel, "target")
        if str(target.get("path")) not in widths or "node" not in target:
            continue
        sampler = document.whole(channel, "sampler", len(samplers))
        if sampler >= len(samplers):
            raise document.wrong("an animation's channel names a sampler that is not there.")
        item = samplers[sampler]
        document.item("nodes", target["node"])
        times, values = document.array(item.get("input"))[:, 0], document.array(item.get("output"))
        way = str(item.get("interpolation", "LINEAR"))
        rows = 3 if way == "CUBICSPLINE" else 1
        width = widths[target["path"]]
        if width is None and values.size % (rows * len(times)) == 0:
            values = values.reshape(rows * len(times), -1)
            width = values.shape[1]
        if values.shape != (rows * len(times), width) or (np.diff(times) <= 0).any():
            raise document.wrong("an animation's keys do not fit its times, or its times do not increase.")
        found[(target["node"], target["path"])] = _Channel(times, values, way)
    return found


def _clock(document: GltfDocument, channels: Mapping[tuple[int, str], _Channel], joints: int) -> tuple[float, Floats]:
    """Return frames per second and the frames' times [s]: as dense as the keys are."""
    if not channels:
        return STILL_FPS, np.zeros(1)
    gaps = [float(np.median(np.diff(channel.times))) for channel in channels.values() if len(channel.times) > 1]
    fps = snapped(1.0 / max(min(gaps), 1e-4)) if gaps else STILL_FPS
    first = min(float(channel.times[0]) for channel in channels.values())
    last = max(float(channel.times[-1]) for channel in channels.values())
    frames = round((last - first) * fps) + 1
    check_size(frames, 4 * joints, document.place)
    return fps, first + np.arange(frames) / fps


def _moved(document: GltfDocument, node: int, channels: Mapping[tuple[int, str], _Channel], times: Floats) -> Local:
    """Return a node's transform in every frame: shift (F, 3), turn (F, 4); its scale (3,) is taken as constant."""
    still = local_of(document, document.item("nodes", node))
    shift, turn = np.tile(still.shift, (len(times), 1)), np.tile(still.turn, (len(times), 1))
    if (channel := channels.get((node, "translation"))) is not None:
        shift = _sampled(channel, times)
    if (channel := channels.get((node, "rotation"))) is not None:
        turn = normalise(_sampled(channel, times, turns=True)[:, [3, 0, 1, 2]])
    return Local(shift, turn, still.scale)


def _sampled(channel: _Channel, times: Floats, turns: bool = False) -> Floats:
    """Return a channel's values at times, (F, n); quaternions in the file's order."""
    keys, moments = channel.times, np.clip(times, channel.times[0], channel.times[-1])
    cubic = channel.way == "CUBICSPLINE"
    values = channel.values[1::3] if cubic else channel.values
    low = np.clip(np.searchsorted(keys, moments + 1e-9, side="right") - 1, 0, max(len(keys) - 2, 0))
    high = np.minimum(low + 1, len(keys) - 1)
    gap = np.maximum(keys[high] - keys[low], 1e-9)
    share = np.clip((moments - keys[low]) / gap, 0.0, 1.0)
    if channel.way == "STEP":
        return values[np.where(share >= 1.0 - 1e-9, high, low)]
    if cubic:
        return _hermite(channel.values, low, high, gap, share)
    if turns:
        start, end = (normalise(values[index][:, [3, 0, 1, 2]]) for index in (low, high))
        return slerp(start, end, share)[:, [1, 2, 3, 0]]
    return values[low] + share[:, None] * (values[high] - values[low])


def _hermite(values: Floats, low: Any, high: Any, gap: Floats, share: Floats) -> Floats:
    """Return glTF's cubic spline: keys are in-tangent, value, out-tangent; tangents are per second."""
    s, length = share[:, None], gap[:, None]
    leaving, arriving = values[2::3][low] * length, values[0::3][high] * length
    start, end = values[1::3][low], values[1::3][high]
    return (
        (2 * s**3 - 3 * s**2 + 1) * start
        + (s**3 - 2 * s**2 + s) * leaving
        + (-2 * s**3 + 3 * s**2) * end
        + (s**3 - s**2) * arriving
    )


def moved_properties(document: GltfDocument) -> set[tuple[int, str]]:
    """Return node and property of all that any animation of a file moves."""
    return {key for item in document.items("animations") for key in _channels(document, item, _EVERYTHING)}


class NodeMotion:
    """How one animation of a file moves its nodes, whatever they are."""

    def __init__(self, document: GltfDocument, animation: str) -> None:
        """Look it up; no name, or one the file has not, stands for none: every node stays as it stands."""
        names = [
            str(item.get("name") or f"animation{number}") for number, item in enumerate(document.items("animations"))
        ]
        self._document = document
        self._channels = dict[tuple[int, str], _Channel]()
        if animation in names:
            self._channels = _channels(document, document.items("animations")[names.index(animation)], _EVERYTHING)
        bones = [channel for (_, path), channel in self._channels.items() if path in _BONES]
        #: When its first frame is [s].
        self.start = min((float(channel.times[0]) for channel in bones), default=0.0)

    @property
    def animated(self) -> set[tuple[int, str]]:
        """Node and property (`translation`, `rotation`, `scale`, `weights`) of all that moves."""
        return set(self._channels)

    def values(self, node: int, path: str, times: Floats) -> Floats:
        """Return an animated property at times [s], (F, n), in the file's units and order."""
        found = _sampled(self._channels[(node, path)], times, turns=path == "rotation")
        return found / np.linalg.norm(found, axis=1, keepdims=True) if path == "rotation" else found

    def local(self, node: int, times: Floats) -> Local:
        """Return a node's transform at times [s]: shift (F, 3), turn (F, 4), scale (F, 3)."""
        moved = _moved(self._document, node, self._channels, times)
        scales = self.values(node, "scale", times) if (node, "scale") in self._channels else moved.scale
        return Local(moved.shift, moved.turn, np.broadcast_to(scales, moved.shift.shape))


GLTF = ClipFormat(
    "gltf", (".glb", ".gltf", ".vrm"), read_gltf, heeds=("animation",), listed=("*.glb", "*.gltf", "*.vrm")
)
