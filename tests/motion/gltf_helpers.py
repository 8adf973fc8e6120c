"""Writes a clip as a .glb the way modelling tools do: bones turned anyhow, an armature above, a bound skin."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

from stunt.maths.rotations import Floats, conjugate, from_rotation_vector, multiply, rotate, to_matrix
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import ClipPose

Y_UP = from_rotation_vector(np.array([-np.pi / 2, 0.0, 0.0]))  # our z becomes the file's y


class Writer:
    """Collects accessors in one buffer."""

    def __init__(self) -> None:
        self.blob = b""
        self.data: dict = {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": [], "nodes": []}

    def accessor(self, values: Floats, kind: str) -> int:
        packed = np.asarray(values, "<f4").tobytes()
        self.data["bufferViews"].append({"buffer": 0, "byteOffset": len(self.blob), "byteLength": len(packed)})
        self.blob += packed
        view = len(self.data["bufferViews"]) - 1
        self.data["accessors"].append({"bufferView": view, "componentType": 5126, "count": len(values), "type": kind})
        return len(self.data["accessors"]) - 1

    def save(self, path: Path) -> Path:
        self.data["buffers"] = [{"byteLength": len(self.blob)}]
        text = json.dumps(self.data).encode()
        text += b" " * (-len(text) % 4)
        blob = self.blob + b"\0" * (-len(self.blob) % 4)
        size = 12 + 8 + len(text) + 8 + len(blob)
        head = struct.pack("<4sIIII", b"glTF", 2, size, len(text), 0x4E4F534A)
        path.write_bytes(head + text + struct.pack("<II", len(blob), 0x004E4942) + blob)
        return path


def write_glb(
    clip: Clip, path: Path, *, seed: int | None = 0, unit: float = 1.0, animated: bool = True, names: dict | None = None
) -> Path:
    """Write a clip; with a seed every bone's frame is turned at random at rest, with a unit the armature scales."""
    rng = np.random.default_rng(seed)
    joints = len(clip.skeleton)
    turns = np.tile([1.0, 0, 0, 0], (joints, 1))
    if seed is not None:
        turns = from_rotation_vector(rng.normal(size=(joints, 3)))
    rest = multiply(np.tile(Y_UP, (joints, 1)), turns)  # of the bones in the file's world
    armature = from_rotation_vector(np.array([0.0, 0.0, 0.7])) if seed is not None else np.array([1.0, 0, 0, 0])
    writer = Writer()
    local, shift = _locals(clip, clip.root, clip.rotations, rest, armature, unit)
    start = (local[0], shift[0])
    for joint, name in enumerate(clip.skeleton.names):
        node = {"name": (names or {}).get(name, name), "rotation": _xyzw(start[0][joint])}
        node["translation"] = start[1][joint].tolist()
        children = list(clip.skeleton.children[joint])
        writer.data["nodes"].append({**node, **({"children": children} if children else {})})
    writer.data["nodes"].append({"name": "Armature", "rotation": _xyzw(armature), "scale": [unit] * 3, "children": [0]})
    writer.data["scenes"] = [{"nodes": [joints]}]
    if seed is not None:
        writer.data["skins"] = [{"joints": list(range(joints)), "inverseBindMatrices": _bind(clip, rest, writer, unit)}]
    if animated:
        _animate(clip, writer, local, shift)
    return writer.save(path)


def _locals(clip: Clip, root: Floats, rotations: Floats, rest: Floats, armature: Floats, unit: float):
    """Transforms of the nodes in every frame: turns (F, J, 4) and translations (F, J, 3)."""
    world = clip.world_of(ClipPose(root, rotations))
    turned = multiply(multiply(Y_UP, world.rotations), multiply(conjugate(Y_UP), rest))
    placed = rotate(Y_UP, world.positions)
    local, shift = np.zeros_like(turned), np.zeros_like(placed)
    for joint, parent in enumerate(clip.skeleton.parents):
        above = np.broadcast_to(armature, turned[:, 0].shape) if parent < 0 else turned[:, parent]
        origin = np.zeros(3) if parent < 0 else placed[:, parent]
        local[:, joint] = multiply(conjugate(above), turned[:, joint])
        shift[:, joint] = rotate(conjugate(above), placed[:, joint] - origin) / unit
    return local, shift


def _bind(clip: Clip, rest: Floats, writer: Writer, unit: float) -> int:
    identity = np.zeros((len(clip.skeleton), 4))
    identity[:, 0] = 1.0
    places = rotate(Y_UP, clip.world_of(ClipPose(np.zeros(3), identity)).positions)
    rows = []
    for joint in range(len(clip.skeleton)):
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = to_matrix(rest[joint]) * unit, places[joint]
        rows.append(np.linalg.inv(matrix).T.ravel())
    return writer.accessor(np.array(rows), "MAT4")


def _animate(clip: Clip, writer: Writer, local: Floats, shift: Floats) -> None:
    times = writer.accessor(clip.times[:, None], "SCALAR")
    samplers, channels = [], []
    for joint in range(len(clip.skeleton)):
        values = {"rotation": (local[:, joint][:, [1, 2, 3, 0]], "VEC4")}
        if joint == 0:
            values["translation"] = (shift[:, 0], "VEC3")
        for path, (rows, kind) in values.items():
            samplers.append({"input": times, "output": writer.accessor(rows, kind)})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": joint, "path": path}})
    writer.data["animations"] = [{"name": clip.name, "samplers": samplers, "channels": channels}]


def _xyzw(turn: Floats) -> list[float]:
    return [float(turn[1]), float(turn[2]), float(turn[3]), float(turn[0])]
