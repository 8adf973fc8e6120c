"""glTF documents: the JSON, the buffers behind it, and accessors as arrays. Binary (.glb) and text (.gltf) alike."""

from __future__ import annotations

import base64
import copy
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import numpy as np

from stunt.errors import Place, brief, shown
from stunt.maths.rotations import Floats
from stunt.motion.clips.raw import MAX_BYTES, MAX_VALUES, ClipFileError, read_bytes

MOST: Final = 1e9
"""No coordinate, time or scale is larger."""
_MAGIC, _JSON, _BIN = b"glTF", 0x4E4F534A, 0x004E4942
_KINDS: Final = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


@dataclass(frozen=True, eq=False)
class GltfDocument:
    """A glTF file."""

    place: Place  #: The file, for error messages
    data: Mapping[str, Any]  #: Its JSON
    chunk: bytes = b""  #: The binary chunk of a .glb
    buffers: dict[int, bytes] = field(default_factory=dict)  #: Buffers that were read so far, by number

    def items(self, kind: str) -> list[dict[str, Any]]:
        """Return the objects of a top-level list (`nodes`, `skins`, …); none where the file has none."""
        found = self.data.get(kind, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self.wrong(f"'{kind}' is no list of objects.")
        return found

    def item(self, kind: str, number: object) -> dict[str, Any]:
        """Return one of them, or say that it is not there."""
        found = self.items(kind)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(found):
            raise self.wrong(f"there is no {kind}[{number}]; the file has {len(found)}.")
        return found[number]

    def numbers(self, owner: Mapping[str, Any], key: str) -> list[int]:
        """Return a list of whole numbers that an object may have; none where it has none."""
        found = owner.get(key, [])
        if not isinstance(found, list) or not all(isinstance(n, int) and not isinstance(n, bool) for n in found):
            raise self.wrong(f"'{key}' is no list of whole numbers.")
        return found

    def objects(self, owner: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
        """Return a list of objects that an object may have; none where it has none."""
        found = owner.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self.wrong(f"'{key}' is no list of objects.")
        return found

    def mapping(self, owner: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Return an object that another may have; an empty one where it has none."""
        found = owner.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(f"'{key}' is no object.")
        return found

    def whole(self, owner: Mapping[str, Any], key: str, default: int = 0) -> int:
        """Return a whole number, not negative, that an object may have."""
        found = owner.get(key, default)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= MAX_BYTES:
            raise self.wrong(f"'{key}' is no whole number from 0 to {MAX_BYTES}.")
        return found

    def wrong(self, message: str) -> ClipFileError:
        """Make an error about this file."""
        return ClipFileError(message, self.place)

    def array(self, accessor: object) -> Floats:
        """Return an accessor's values as (count, components), normalised integers as fractions.

        Raises:
            ClipFileError: It refers to what is not there, or to more than fits.
        """
        item = self.item("accessors", accessor)
        width, kind, count = _WIDTHS.get(str(item.get("type"))), self._kind(item), self.whole(item, "count")
        if width is None or not 0 < count * width <= MAX_VALUES:
            raise self.wrong(f"accessors[{accessor}] is of no kind glTF has.")
        values = np.zeros((count, width))
        if "bufferView" in item:
            values = self._view(item["bufferView"], self.whole(item, "byteOffset"), count, width, kind)
        if "sparse" in item:
            self._patch(values, self.mapping(item, "sparse"), width, kind)
        if item.get("normalized") and kind.kind in "iu":
            values = np.maximum(values / np.iinfo(kind).max, -1.0)
        if not (np.abs(values) <= MOST).all():
            raise self.wrong(f"accessors[{accessor}] has values that are no numbers, or beyond {MOST:g}.")
        return values

    def packed(self) -> tuple[dict[str, Any], bytes]:
        """Return a copy of the JSON and one binary block: buffers and pictures in other files are laid into it."""
        data, whole = copy.deepcopy(dict(self.data)), bytearray()
        starts = []
        for number in range(len(self.items("buffers"))):
            whole += bytes(-len(whole) % 4)
            starts.append(len(whole))
            whole += self._buffer(number)[: self.whole(self.item("buffers", number), "byteLength")]
        for view in data.get("bufferViews", []):
            view["byteOffset"] = self.whole(view, "byteOffset") + starts[self.whole(view, "buffer")]
            view["buffer"] = 0
        for picture in data.get("images", []):
            uri = picture.get("uri")
            if isinstance(uri, str) and not uri.startswith("data:"):
                del picture["uri"]
                whole += bytes(-len(whole) % 4)
                content = read_bytes(self._beside(uri))
                view = {"buffer": 0, "byteOffset": len(whole), "byteLength": len(content)}
                data.setdefault("bufferViews", []).append(view)
                picture["bufferView"] = len(data["bufferViews"]) - 1
                picture.setdefault("mimeType", "image/jpeg" if content[:2] == b"\xff\xd8" else "image/png")
                whole += content
        return data, bytes(whole)

    def _patch(self, values: Floats, sparse: Mapping[str, Any], width: int, kind: np.dtype[Any]) -> None:
        where, what, count = (
            self.mapping(sparse, "indices"),
            self.mapping(sparse, "values"),
            self.whole(sparse, "count"),
        )
        if not 0 < count <= len(values):
            raise self.wrong("a sparse accessor has more values than there are, or none.")
        number = self._kind(where)
        found = self._view(where.get("bufferView"), self.whole(where, "byteOffset"), count, 1, number)[:, 0]
        if not ((found >= 0) & (found < len(values))).all():
            raise self.wrong("a sparse accessor reaches past its end.")
        rows = found.astype(int)
        values[rows] = self._view(what.get("bufferView"), self.whole(what, "byteOffset"), count, width, kind)

    def _kind(self, item: Mapping[str, Any]) -> np.dtype[Any]:
        code = item.get("componentType")
        if isinstance(code, bool) or not isinstance(code, int) or code not in _KINDS:
            raise self.wrong(f"{shown(code)} is no 'componentType' glTF has.")
        return np.dtype(_KINDS[code])

    def _view(self, view: object, offset: int, count: int, width: int, kind: np.dtype[Any]) -> Floats:
        item = self.item("bufferViews", view)
        data = self._buffer(item.get("buffer"))
        row = width * kind.itemsize
        stride = self.whole(item, "byteStride", row)
        start = self.whole(item, "byteOffset") + offset
        if stride < row or start + (count - 1) * stride + row > len(data):
            raise self.wrong(f"bufferViews[{view}] reaches past the end of its buffer.")
        rows = np.ndarray((count, width), kind, data, start, (stride, kind.itemsize))
        return rows.astype(float)

    def _buffer(self, number: object) -> bytes:
        item = self.item("buffers", number)
        assert isinstance(number, int)
        if number not in self.buffers:
            self.buffers[number] = self._read_buffer(item)
        return self.buffers[number]

    def _read_buffer(self, item: Mapping[str, Any]) -> bytes:
        uri = item.get("uri")
        if uri is None:
            return self.chunk
        if not isinstance(uri, str):
            raise self.wrong("a buffer's 'uri' is no text.")
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except ValueError:  # not in base64, or not even in its letters
                raise self.wrong("a buffer's base64 data are broken.") from None
        return read_bytes(self._beside(uri))

    def _beside(self, uri: str) -> Path:
        """Return the file a buffer is in: in the folder of the document or below it, and nowhere else."""
        name = unquote(uri)
        home = Path(self.place.file).parent
        try:
            if "\0" in name or not (home / name).resolve().is_relative_to(home.resolve()):
                raise self.wrong(f"the buffer '{brief(uri)}' is outside the file's folder, and is not read.")
        except (OSError, RuntimeError):  # a name that is too long, a ring of links
            raise self.wrong(f"there is no buffer '{brief(uri)}'.") from None
        return home / name


def read_document(path: str | Path) -> GltfDocument:
    """Read a .glb or .gltf file.

    Raises:
        ClipFileError: It is neither, is cut short, or is of a version before 2.
    """
    data, place = read_bytes(path), Place(str(path))
    chunk = b""
    if data[:4] == _MAGIC:
        data, chunk = _chunks(data, place)
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ClipFileError("is no glTF file: its JSON cannot be read.", place) from None
    asset = content.get("asset") if isinstance(content, dict) else None
    version = str(asset.get("version", "")) if isinstance(asset, dict) else ""
    if not version.startswith("2"):
        raise ClipFileError(f"is no glTF 2 file (its version is '{version[:10]}').", place)
    return GltfDocument(place, content, chunk)


def _chunks(data: bytes, place: Place) -> tuple[bytes, bytes]:
    """Return the JSON and the binary chunk of a .glb."""
    found: dict[int, bytes] = {}
    position = 12
    while position + 8 <= min(len(data), MAX_BYTES):
        size, kind = struct.unpack_from("<II", data, position)
        if position + 8 + size > len(data):
            raise ClipFileError("is cut short: a chunk reaches past the end of the file.", place)
        found.setdefault(kind, data[position + 8 : position + 8 + size])
        position += 8 + size
    if _JSON not in found:
        raise ClipFileError("is a .glb without its JSON chunk.", place)
    return found[_JSON], found.get(_BIN, b"")
