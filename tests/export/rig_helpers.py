"""Rigged files as modelling tools write them: rolled bones, fingers, twists, targets, a skin, a texture, a shape."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from stunt.library.names import find_clip
from stunt.library.read import read_clip
from stunt.maths.rotations import Floats, conjugate, from_rotation_vector, multiply, rotate, to_matrix

Y_UP = from_rotation_vector(np.array([-np.pi / 2, 0.0, 0.0]))  # our z becomes the file's y
_PARTS = (
    "Hips Spine Spine1 Spine2 Neck Head LeftShoulder LeftArm LeftForeArm LeftHand RightShoulder RightArm RightForeArm "
    "RightHand LeftUpLeg LeftLeg LeftFoot LeftToeBase RightUpLeg RightLeg RightFoot RightToeBase"
).split()
_SIDES = "shoulder.{0} upper_arm.{0} forearm.{0} hand.{0}", "thigh.{0} shin.{0} foot.{0} toe.{0}"
_VRM = "{0}_Shoulder {0}_UpperArm {0}_LowerArm {0}_Hand", "{0}_UpperLeg {0}_LowerLeg {0}_Foot {0}_ToeBase"


def _both(words: tuple[str, str]) -> list[str]:
    return [name for limb in words for side in "LR" for name in limb.format(side).split()]


NAMES = {
    "mixamo": [f"mixamorig:{name}" for name in _PARTS],
    "rigify": [f"DEF-{name}" for name in ["spine", *(f"spine.00{n}" for n in range(1, 6)), *_both(_SIDES)]],
    "vrm": [
        f"J_Bip_{name}" for name in [*(f"C_{n}" for n in "Hips Spine Chest UpperChest Neck Head".split()), *_both(_VRM)]
    ],
}
"""Names of a person's bones, by the tool."""


@dataclass
class _File:
    data: dict = field(default_factory=lambda: {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": []})
    blob: bytes = b""

    def view(self, content: bytes) -> int:
        self.blob += bytes(-len(self.blob) % 4)
        self.data["bufferViews"].append({"buffer": 0, "byteOffset": len(self.blob), "byteLength": len(content)})
        self.blob += content
        return len(self.data["bufferViews"]) - 1

    def numbers(self, values: Floats, kind: str, code: str = "<f4", bounds: bool = False) -> int:
        packed = np.asarray(values, code)
        entry = {"bufferView": self.view(packed.tobytes()), "count": len(packed), "type": kind}
        entry["componentType"] = {"<f4": 5126, "u1": 5121, "<u2": 5123}[code]
        if bounds:
            flat = packed.reshape(len(packed), -1)
            entry |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        self.data["accessors"].append(entry)
        return len(self.data["accessors"]) - 1

    def save(self, path: Path) -> Path:
        self.data["buffers"] = [{"byteLength": len(self.blob)}]
        text = json.dumps(self.data).encode()
        text += b" " * (-len(text) % 4)
        blob = self.blob + bytes(-len(self.blob) % 4)
        head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(blob), len(text), 0x4E4F534A)
        path.write_bytes(head + text + struct.pack("<II", len(blob), 0x004E4942) + blob)
        return path


@dataclass
class _Bone:
    name: str
    up: int  # −1: the armature
    rest: Floats  # in the file's world
    roll: Floats  # turn in the file's world at rest
    turns: Floats  # in the file's world, (F, 4)
    places: Floats  # likewise, (F, 3)


def write_rig(path: Path, style: str, *, unit: float = 1.0, seed: int = 0, carried: bool = False) -> Path:
    """Write the package's walk as a rigged character.

    Args:
        path: Where to.
        style: How bones are named (`NAMES`).
        unit: How the armature scales what is below it.
        seed: Of the bones' rolls.
        carried: Whether a bone above the hips carries them, so that they only turn.
    """
    rng = np.random.default_rng(seed)
    clip = read_clip(find_clip("walk"))
    world, frames = clip.world, clip.frames
    spin = lambda: from_rotation_vector(rng.normal(size=3))  # noqa: E731
    rest = rotate(Y_UP, clip.skeleton.rest_places + [0.0, 0.0, 0.97])
    turns = multiply(multiply(Y_UP, world.rotations), conjugate(Y_UP))
    places = rotate(Y_UP, world.positions)
    bones: list[_Bone] = []
    first = 1 if carried else 0
    if carried:
        still = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1))
        bones.append(_Bone("root", -1, np.zeros(3), still[0], still, places[:, 0] - places[0, 0]))
    for joint, up in enumerate(clip.skeleton.parents):
        roll = spin()
        bones.append(
            _Bone(NAMES[style][joint], up + first, rest[joint], roll, multiply(turns[:, joint], roll), places[:, joint])
        )
    wave = np.sin(np.linspace(0.0, 9.0, frames))
    for name, on, way, swing in (
        ("LeftHandIndex1", 9, (0.05, 0.0, 0.0), 0.6), ("LeftForeArmTwist", 8, (0.1, 0.0, 0.0), 0.3),
        ("RightHandIndex1", 13, (-0.05, 0.0, 0.0), 0.6),
    ):  # fmt: skip
        roll = spin()
        bend = from_rotation_vector(np.array([0.0, 0.0, 1.0]) * (swing * wave)[:, None])
        own = multiply(multiply(turns[:, on], bend), roll)
        at = places[:, on] + rotate(turns[:, on], np.array(way))
        bones.append(_Bone(f"{name}", on + first, rest[on] + way, roll, own, at))
    target = _Bone(
        "ik_foot.L", 0 if carried else -1, rest[16], bones[16 + first].roll, bones[16 + first].turns, places[:, 16]
    )
    bones.append(target)
    return _written(path, bones, clip.times, unit, style, carried)


def _written(path: Path, bones: list[_Bone], times: Floats, unit: float, style: str, carried: bool) -> Path:
    file, count = _File(), len(bones)
    nodes, inverse = [], []
    locals_ = [_local(bones, bone, unit) for bone in bones]
    for number, bone in enumerate(bones):
        children = [child for child, other in enumerate(bones) if other.up == number]
        turn, shift = locals_[number]
        start = {"name": bone.name, "rotation": _xyzw(turn[0]).tolist(), "translation": shift[0].tolist()}
        nodes.append({**start, **({"children": children} if children else {})})
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = to_matrix(bone.roll) * unit, bone.rest
        inverse.append(np.linalg.inv(matrix).T)
    top = [number for number, bone in enumerate(bones) if bone.up < 0]
    nodes.append({"name": "Armature", "scale": [unit] * 3, "children": top})
    nodes.append({"name": "Body", "mesh": 0, "skin": 0, "weights": [0.25], "extras": {"kept": [1, "two"]}})
    bind = file.numbers(np.array(inverse), "MAT4")
    file.data |= {"nodes": nodes, "scenes": [{"nodes": [count, count + 1]}], "scene": 0}
    file.data["skins"] = [{"joints": list(range(count)), "inverseBindMatrices": bind}]
    _dress(file, bones)
    _animate(file, locals_, times, count + 1, carried)
    if style == "vrm":
        file.data |= {"extensionsUsed": ["VRMC_vrm"], "extensions": {"VRMC_vrm": {"specVersion": "1.0"}}}
    return file.save(path)


def _local(bones: list[_Bone], bone: _Bone, unit: float) -> tuple[Floats, Floats]:
    if bone.up < 0:
        return bone.turns, bone.places / unit
    above = bones[bone.up]
    back = conjugate(above.turns)
    return multiply(back, bone.turns), rotate(back, bone.places - above.places) / unit


def _dress(file: _File, bones: list[_Bone]) -> None:
    """Put a tetrahedron on every bone, with a texture and one shape key."""
    corners = np.array([[0.0, 0.0, 0.0], [0.05, 0.0, 0.0], [0.0, 0.05, 0.0], [0.0, 0.0, 0.05]])
    points = np.concatenate([bone.rest + corners for bone in bones])
    faces = np.concatenate([4 * n + np.array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]) for n in range(len(bones))])
    joints = np.repeat(np.arange(len(bones)), 4)[:, None] * np.array([1, 0, 0, 0])
    attributes = {
        "POSITION": file.numbers(points, "VEC3", bounds=True),
        "TEXCOORD_0": file.numbers(np.abs(np.sin(points[:, :2])), "VEC2"),
        "JOINTS_0": file.numbers(joints, "VEC4", "u1"),
        "WEIGHTS_0": file.numbers(np.tile([1.0, 0, 0, 0], (len(points), 1)), "VEC4"),
    }
    shape = {"POSITION": file.numbers(0.1 * points, "VEC3", bounds=True)}
    entry = {
        "attributes": attributes,
        "indices": file.numbers(faces, "SCALAR", "<u2"),
        "material": 0,
        "targets": [shape],
    }
    file.data["meshes"] = [{"name": "Body", "primitives": [entry], "weights": [0.0]}]
    file.data["materials"] = [{"name": "Skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    file.data["textures"] = [{"source": 0}]
    file.data["images"] = [{"bufferView": file.view(_png()), "mimeType": "image/png"}]


def _png() -> bytes:
    """Return a picture of 4 × 4 pixels."""
    rows = b"".join(b"\0" + bytes(range(row, row + 12)) for row in range(4))
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    packed = (struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def _animate(file: _File, locals_: list[tuple[Floats, Floats]], times: Floats, body: int, carried: bool) -> None:
    clock = file.numbers(times, "SCALAR", bounds=True)
    samplers: list[dict] = []
    channels: list[dict] = []

    def add(node: int, path: str, values: Floats, kind: str) -> None:
        samplers.append({"input": clock, "output": file.numbers(values, kind)})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

    for node, (turn, shift) in enumerate(locals_):
        if not (carried and node == 0):
            add(node, "rotation", _xyzw(turn), "VEC4")
        if node == 0 or node == len(locals_) - 1:  # whatever carries, and the target
            add(node, "translation", shift, "VEC3")
    add(body, "weights", 0.5 + 0.5 * np.sin(9.0 * times), "SCALAR")
    file.data["animations"] = [{"name": "Walk", "samplers": samplers, "channels": channels}]


def _xyzw(turns: Floats) -> Floats:
    return np.asarray(turns[..., [1, 2, 3, 0]])
