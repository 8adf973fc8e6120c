"""Writing FBX: a clip's skeleton and motion as limb nodes and curves, in the binary form of version 7.4.

Centimetres and y up, as most tools have it. A record is where it ends, its properties and the records in it; objects
are known by numbers, and connections say what belongs to what.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from stunt.errors import Place
from stunt.maths.rotations import Floats
from stunt.motion.clips.above_hips import lowered
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.euler import to_euler
from stunt.motion.clips.raw import ClipFileError

_MAGIC: Final = b"Kaydara FBX Binary  \x00\x1a\x00"
_VERSION: Final = 7400
_FILE_ID: Final = bytes.fromhex("28b32aebb624ccc2bfc8b02aa92bfcf1")  # goes with the time below
_CREATED: Final = "1970-01-01 10:00:00:000"
_FOOT: Final = bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e")
_END: Final = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
_TICKS: Final = 46_186_158_000
"""FBX counts time in these per second."""
_UNIT: Final = 0.01
_AXES: Final = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # left, up, forward
_LINEAR: Final = 0x04
Value = bool | int | float | str | bytes | np.int64 | np.ndarray


class Record:
    """One record of an FBX file: a name, properties, and records in it."""

    def __init__(self, name: str, *values: Value, inner: Sequence[Record] = ()) -> None:
        self.name, self.values, self.inner = name.encode(), values, list(inner)

    def packed(self, at: int) -> bytes:
        """Return it as bytes that stand at a place in the file."""
        properties = b"".join(map(_property, self.values))
        head = 13 + len(self.name)
        body, here = b"", at + head + len(properties)
        for record in self.inner:
            body += record.packed(here + len(body))
        if self.inner:
            body += b"\0" * 13
        end = here + len(body)
        front = struct.pack("<IIIB", end, len(self.values), len(properties), len(self.name))
        return front + self.name + properties + body


def _property(value: Value) -> bytes:
    if isinstance(value, np.ndarray):
        letter = {"f": b"f", "d": b"d", "q": b"l", "l": b"l", "i": b"i"}[value.dtype.char]
        data = value.tobytes()
        return letter + struct.pack("<III", value.size, 0, len(data)) + data
    if isinstance(value, np.int64):
        return b"L" + struct.pack("<q", int(value))
    if isinstance(value, bool):
        return b"C" + struct.pack("<?", value)
    if isinstance(value, int):  # whatever is counted in millions is an object's number or a time
        return (b"I" + struct.pack("<i", value)) if abs(value) < 1_000_000 else b"L" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value
    return (b"S" if isinstance(value, str) else b"R") + struct.pack("<I", len(data)) + data


def _p(name: str, kind: str, label: str, flags: str, *values: Value) -> Record:
    return Record("P", name, kind, label, flags, *values)


def write_fbx(clip: Clip, path: str | Path) -> Path:
    """Write a clip as FBX.

    Raises:
        ClipFileError: The file cannot be written.
    """
    data = fbx_bytes(clip)
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise ClipFileError(f"cannot be written: {error.strerror or error}.", Place(str(path))) from None
    return Path(path)


def fbx_bytes(clip: Clip) -> bytes:
    """Return a clip as the bytes of an FBX file."""
    clip = lowered(clip)
    objects, links = _skeleton(clip)
    curves, more = _motion(clip)
    counts: dict[str, int] = {"GlobalSettings": 1}
    for record in (*objects, *curves):
        name = record.name.decode()
        counts[name] = counts.get(name, 0) + 1
    definitions = [Record("Version", 100), Record("Count", sum(counts.values()))]
    definitions += [Record("ObjectType", name, inner=[Record("Count", n)]) for name, n in counts.items()]
    records = [
        Record("FBXHeaderExtension", inner=[
            Record("FBXHeaderVersion", 1003), Record("FBXVersion", _VERSION), Record("Creator", "Stunt"),
        ]),
        Record("FileId", _FILE_ID), Record("CreationTime", _CREATED), Record("Creator", "Stunt"), _settings(clip),
        Record("Definitions", inner=definitions), Record("Objects", inner=[*objects, *curves]),
        Record("Connections", inner=[*links, *more]),
    ]  # fmt: skip
    data = _MAGIC + struct.pack("<I", _VERSION)
    for record in records:
        data += record.packed(len(data))
    data += b"\0" * 13 + _FOOT + b"\0" * 4
    data += b"\0" * (-len(data) % 16 or 16)
    return data + struct.pack("<I", _VERSION) + b"\0" * 120 + _END


def _settings(clip: Clip) -> Record:
    whole = {"UpAxis": 1, "UpAxisSign": 1, "FrontAxis": 2, "FrontAxisSign": 1, "CoordAxis": 0, "CoordAxisSign": 1}
    values = [_p(name, "int", "Integer", "", value) for name, value in whole.items()]
    values += [_p("UnitScaleFactor", "double", "Number", "", 1.0), _p("TimeMode", "enum", "", "", 14)]
    values += [_p("CustomFrameRate", "double", "Number", "", float(clip.fps))]
    return Record("GlobalSettings", inner=[Record("Version", 1000), Record("Properties70", inner=values)])


def _model(joint: int) -> int | np.int64:
    """Return the number of a joint's record; the scene's own is 0."""
    return 1_000_000 + joint if joint >= 0 else np.int64(0)


def _skeleton(clip: Clip) -> tuple[list[Record], list[Record]]:
    """Return the records of the joints, and what they hang on."""
    objects, links = [], []
    offsets = clip.skeleton.offsets @ _AXES.T / _UNIT
    for joint, (name, parent) in enumerate(zip(clip.skeleton.names, clip.skeleton.parents, strict=True)):
        attribute, model = 2_000_000 + joint, _model(joint)
        flags = Record("TypeFlags", "Skeleton")
        objects.append(Record("NodeAttribute", attribute, f"{name}\0\1NodeAttribute", "LimbNode", inner=[flags]))
        x, y, z = (offsets[joint] if parent >= 0 else np.zeros(3)).tolist()
        place = _p("Lcl Translation", "Lcl Translation", "", "A", x, y, z)
        values = [_p("InheritType", "enum", "", "", 1), place]
        inner = [Record("Version", 232), Record("Properties70", inner=values)]
        objects.append(Record("Model", model, f"{name}\0\1Model", "LimbNode", inner=inner))
        links.append(Record("C", "OO", model, _model(parent)))
        links.append(Record("C", "OO", attribute, model))
    return objects, links


def _motion(clip: Clip) -> tuple[list[Record], list[Record]]:
    """Return the records of the curves, and what they move."""
    stack, layer = 3_000_000, 3_000_001
    ticks = np.round(np.arange(clip.frames) * (_TICKS / clip.fps)).astype(np.int64)
    times = {f"{of}{end}": ticks[k] for of in ("Local", "Reference") for end, k in (("Start", 0), ("Stop", -1))}
    ends = [_p(name, "KTime", "Time", "", time) for name, time in times.items()]
    objects = [
        Record("AnimationStack", stack, f"{clip.name}\0\1AnimStack", "", inner=[Record("Properties70", inner=ends)]),
        Record("AnimationLayer", layer, "Base\0\1AnimLayer", ""),
    ]
    links = [Record("C", "OO", layer, stack)]
    number = 4_000_000
    axes, skeleton = _AXES, clip.skeleton
    turned = np.concatenate([clip.rotations[..., :1], clip.rotations[..., 1:] @ axes.T], axis=-1)
    for joint, parent in enumerate(skeleton.parents):
        moves = clip.root if parent < 0 else None
        if parent >= 0 and clip.shifts is not None and clip.shifts[:, joint].any():
            moves = skeleton.offsets[joint] + clip.shifts[:, joint]
        # Rotation order XYZ turns about the fixed axes in this order: z·y·x.
        angles = np.degrees(np.unwrap(to_euler(turned[:, joint], "ZYX")[:, ::-1], axis=0))
        for kind, values in (("R", angles), ("T", None if moves is None else moves @ axes.T / _UNIT)):
            if values is None:
                continue
            node, number = number, number + 1
            start = [_p(f"d|{axis}", "Number", "", "A", float(values[0, k])) for k, axis in enumerate("XYZ")]
            inner = [Record("Properties70", inner=start)]
            objects.append(Record("AnimationCurveNode", node, f"{kind}\0\1AnimCurveNode", "", inner=inner))
            links.append(Record("C", "OO", node, layer))
            links.append(Record("C", "OP", node, _model(joint), "Lcl Rotation" if kind == "R" else "Lcl Translation"))
            for k, axis in enumerate("XYZ"):
                objects.append(_curve(number, ticks, values[:, k]))
                links.append(Record("C", "OP", number, node, f"d|{axis}"))
                number += 1
    return objects, links


def _curve(number: int, ticks: np.ndarray, values: Floats) -> Record:
    return Record(
        "AnimationCurve", number, "\0\1AnimCurve", "", inner=[
            Record("Default", 0.0), Record("KeyVer", 4008), Record("KeyTime", ticks),
            Record("KeyValueFloat", values.astype(np.float32)), Record("KeyAttrFlags", np.array([_LINEAR], np.int32)),
            Record("KeyAttrDataFloat", np.zeros(4, np.float32)),
            Record("KeyAttrRefCount", np.array([len(ticks)], np.int32)),
        ],
    )  # fmt: skip
