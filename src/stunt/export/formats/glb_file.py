"""The container of binary glTF 2.0: a JSON text that describes the scene, and one block of numbers.

Written by hand because it is small: accessors, nodes and samplers are a few lines each, and a library would only hide
which of them is written how.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FLOAT, _BYTE, _SHORT, _INT = 5126, 5121, 5123, 5125
_TYPES = {(): "SCALAR", (2,): "VEC2", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
_KINDS = {"float32": _FLOAT, "uint8": _BYTE, "uint16": _SHORT, "uint32": _INT}
_VERTICES, _INDICES = 34962, 34963


class GlbFile:
    """Collects the parts of a file, then becomes its bytes."""

    def __init__(self, generator: str) -> None:
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": generator},
            "scene": 0,
            "scenes": [{"nodes": []}],
            "nodes": [],
            "meshes": [],
            "materials": [],
            "skins": [],
            "animations": [],
            "accessors": [],
            "bufferViews": [],
        }
        self._binary = bytearray()
        self._materials: dict[tuple[float, ...], int] = {}

    @classmethod
    def continued(cls, data: dict[str, Any], binary: bytes) -> GlbFile:
        """Return a file that is there already, to be added to; what it has stays as and where it is."""
        file = cls("")
        lists: dict[str, Any] = {key: [] for key, value in file.json.items() if value == []}
        file.json = {**lists, **data}
        file._binary = bytearray(binary)
        return file

    def add(self, kind: str, thing: dict[str, Any]) -> int:
        """Add something to one of the lists; return its index."""
        self.json[kind].append(thing)
        return len(self.json[kind]) - 1

    def numbers(self, values: NDArray[Any], *, use: str = "", bounds: bool = False) -> int:
        """Add an array, (n, …) of float32, uint8, uint16 or uint32; return its accessor.

        Args:
            values: The array.
            use: `vertex` or `index`, where it is one of them.
            bounds: Whether its least and largest values are written, as positions and times must.
        """
        values = np.ascontiguousarray(values)
        self._binary += bytes(-len(self._binary) % 4)
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": values.nbytes}
        if use:
            view["target"] = _VERTICES if use == "vertex" else _INDICES
        self._binary += values.tobytes()
        accessor: dict[str, Any] = {
            "bufferView": self.add("bufferViews", view),
            "componentType": _KINDS[values.dtype.name],
            "count": len(values),
            "type": _TYPES[values.shape[1:]],
        }
        if bounds:
            flat = values.reshape(len(values), -1)
            accessor["min"], accessor["max"] = flat.min(axis=0).tolist(), flat.max(axis=0).tolist()
        return self.add("accessors", accessor)

    def material(self, color: tuple[float, float, float, float]) -> int:
        """Return the material of a display colour."""
        if color not in self._materials:
            base = [*map(linear, color[:3]), color[3]]
            look = {"baseColorFactor": base, "metallicFactor": 0.0, "roughnessFactor": 0.75}
            entry: dict[str, Any] = {"name": f"color_{len(self._materials) + 1}", "pbrMetallicRoughness": look}
            if color[3] < 0.99:
                entry["alphaMode"] = "BLEND"
            self._materials[color] = self.add("materials", entry)
        return self._materials[color]

    def to_bytes(self) -> bytes:
        """Return the whole file."""
        data = {key: value for key, value in self.json.items() if value != []}  # empty lists are not allowed
        if self._binary:
            data["buffers"] = [{"byteLength": len(self._binary)}]
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 4)
        binary = bytes(self._binary) + bytes(-len(self._binary) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        if binary:
            chunks += struct.pack("<II", len(binary), 0x004E4942) + binary
        return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks


def linear(display: float) -> float:
    """Return the linear value of a display (sRGB) value in 0–1."""
    value = min(max(display, 0.0), 1.0)
    return round(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4, 6)
