"""Files that other people's libraries read: FBX and USD by children, a body's meshes and pictures by the engine."""

from __future__ import annotations

import itertools
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from stunt.motion.formats.fbx_writer import Record
from tests.campaigns.guards import apart
from tests.campaigns.mutants import WILD, Rng, by_bytes, pick


def fbx(folder: Path) -> list[bytes]:
    from stunt.library.names import load_clip
    from stunt.motion.clips import edit
    from stunt.motion.formats.fbx_writer import fbx_bytes

    return [fbx_bytes(edit.trimmed(load_clip(name), 0.0, 0.1)) for name in ("walk", "jab")]


def usd(suffix: str) -> Callable[[Path], list[bytes]]:
    """Return who makes USD files: a walker's bones at rest and two frames of it, as text or as bytes."""

    def make(folder: Path) -> list[bytes]:
        apart(lambda: write(folder))
        return [(folder / f"a{suffix}").read_bytes()]

    def write(folder: Path) -> None:
        from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

        from stunt.library.names import load_clip

        skeleton = load_clip("walk").skeleton
        stage = Usd.Stage.CreateNew(str(folder / f"a{suffix}"))
        UsdGeom.SetStageUpAxis(stage, "Z")
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        UsdSkel.Root.Define(stage, "/top")
        bones = UsdSkel.Skeleton.Define(stage, "/top/bones")
        paths: list[str] = []
        for name, parent in zip(skeleton.names, skeleton.parents, strict=True):
            paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
        order = [paths.index(path) for path in sorted(paths)]
        places = [Gf.Matrix4d(1.0).SetTranslate(Gf.Vec3d(*map(float, skeleton.rest_places[k]))) for k in order]
        whole, topology = Vt.Matrix4dArray(places), UsdSkel.Topology(sorted(paths))
        moves = UsdSkel.Animation.Define(stage, "/top/moves")
        for made in (bones, moves):
            made.CreateJointsAttr(sorted(paths))
        bones.CreateBindTransformsAttr(whole)
        local = UsdSkel.ComputeJointLocalTransforms(topology, whole)
        bones.CreateRestTransformsAttr(local)
        for frame in range(2):
            moves.SetTransforms(local, Usd.TimeCode(frame))
        UsdSkel.BindingAPI.Apply(bones.GetPrim()).CreateAnimationSourceRel().SetTargets([moves.GetPath()])
        stage.GetRootLayer().Save()

    return make


def read_foreign() -> Callable[[Path], Any]:
    """Return who reads such a clip; the libraries are here already, unused, for whoever is forked."""
    import ufbx  # noqa: F401
    from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdSkel, Vt  # noqa: F401

    from stunt.library.doctor import examine
    from stunt.motion.formats import fbx, usd_clip  # noqa: F401

    return examine


def of_fbx(data: bytes, rng: Rng) -> bytes:
    """Change an FBX file's records: a value, an array, a name, gone, twice, elsewhere; or its bytes."""
    if rng.random() < 0.3:
        return by_bytes(data, rng)
    start = 27
    records, end = _records(data, start, len(data))
    for _ in range(int(rng.integers(1, 4))):
        owners = [records]
        for owner in owners:  # grows while it is gone through
            owners += [record.inner for record in owner if record.inner]
        owner = pick(rng, owners)
        if owner:
            _change(owner, int(rng.integers(len(owner))), pick(rng, owners), rng)
    out = data[:start]
    for record in records:
        out += record.packed(len(out))
    return out + bytes(13) + data[end:]


def _change(owner: list[Record], at: int, other: list[Record], rng: Rng) -> None:
    record, kind = owner[at], int(rng.integers(6))
    values = list(record.values)
    if kind == 0:
        del owner[at]
    elif kind == 1:
        owner.insert(at, record)
    elif kind == 2 and other:
        owner[at] = Record("", *pick(rng, other).values, inner=record.inner)
        owner[at].name = record.name
    elif kind == 3 or not values:
        record.name = pick(rng, (b"", b"x", record.name[:-1], b"a" * 255, b"Objects", b"Connections"))
    else:
        place = int(rng.integers(len(values)))
        values[place] = _wild(values[place], rng)
        record.values = tuple(values)


def _wild(value: Any, rng: Rng) -> Any:
    if not isinstance(value, np.ndarray):
        wild = pick(rng, [some for some in WILD if isinstance(some, int | float | str) and some != 10**30])
        return type(value)(0) if isinstance(wild, int) and abs(wild) >= 2**63 else wild
    if rng.random() < 0.4:
        return value[: int(rng.integers(len(value) + 1))]
    changed = value.copy()
    if changed.size:
        wild = pick(rng, (np.nan, np.inf, 1e308, -1.0, 0.0))
        changed[int(rng.integers(changed.size))] = (
            wild if changed.dtype.kind == "f" else pick(rng, (0, -1, 2**31 - 1, int(np.iinfo(changed.dtype).max)))
        )
    return changed


def _records(data: bytes, place: int, stop: int) -> tuple[list[Record], int]:
    """Return the records from a place on, and where they end."""
    found = []
    while place < stop:
        end, count, _, letters = struct.unpack_from("<IIIB", data, place)
        place += 13
        if end == 0:
            break
        name, place = data[place : place + letters], place + letters
        values = []
        for _ in range(count):
            value, place = _value(data, place)
            values.append(value)
        inner, _ = _records(data, place, end)
        record = Record("", *values, inner=inner)
        record.name = name
        found.append(record)
        place = end
    return found, place


def _value(data: bytes, place: int) -> tuple[Any, int]:
    letter, place = data[place : place + 1], place + 1
    if letter in b"SR":
        (size,) = struct.unpack_from("<I", data, place)
        raw = data[place + 4 : place + 4 + size]
        return raw.decode() if letter == b"S" else raw, place + 4 + size
    if letter in b"fdli":
        count, _, size = struct.unpack_from("<III", data, place)
        kind = {b"f": "f4", b"d": "f8", b"l": "i8", b"i": "i4"}[letter]
        return np.frombuffer(data, kind, count, place + 12).copy(), place + 12 + size
    form, make = {b"C": ("<?", bool), b"I": ("<i", int), b"L": ("<q", np.int64), b"D": ("<d", float)}[letter]
    return make(struct.unpack_from(form, data, place)[0]), place + struct.calcsize(form)


_CORNERS = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], np.float32)
_FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def stl(folder: Path) -> list[bytes]:
    """Return a pyramid as STL."""
    rows = [np.zeros(3, "f4").tobytes() + _CORNERS[face].tobytes() + b"\0\0" for face in _FACES]
    return [b"\0" * 80 + struct.pack("<I", len(rows)) + b"".join(rows)]


def stl_text(folder: Path) -> list[bytes]:
    """Return a pyramid as STL in words."""
    corner = "  vertex {:g} {:g} {:g}".format
    faces = [
        ["facet normal 0 0 1", " outer loop", *(corner(*_CORNERS[k]) for k in face), " endloop"] for face in _FACES
    ]
    lines = [line for face in faces for line in (*face, "endfacet")]
    return ["\n".join(["solid pyramid", *lines, "endsolid"]).encode()]


def scenery_glb(folder: Path) -> list[bytes]:
    """Return a pyramid as GLB, on a node that hangs on another."""
    blob = _CORNERS.astype("<f4").tobytes() + _FACES.astype("<u2").tobytes()
    data = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"children": [1], "translation": [1, 0, 0]}, {"mesh": 0, "scale": [2, 1, -1]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": 4}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "buffers": [{"byteLength": len(blob)}],
    }  # fmt: skip
    text = json.dumps(data).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(blob), len(text), 0x4E4F534A)
    return [head + text + struct.pack("<II", len(blob), 0x004E4942) + blob]


def written_back() -> Callable[[Path], Any]:
    """Return who has a body of a rigged file follow it, and writes the take back into the file."""
    from stunt.cli.parser import parse
    from stunt.cli.track_command import script_of
    from stunt.drive.beats.spec import Script
    from stunt.export import export
    from stunt.script.performance import Performance

    def read(path: Path) -> None:
        script = script_of(path, parse(["track", str(path), "--seconds", "0.05"]))
        take = Performance(Script(script.scene, script.parts, script.seconds), foretell=False).run()
        export(take, path.parent / "out" / "back.glb")

    return read


def obj(folder: Path) -> list[bytes]:
    """Return a pyramid as OBJ."""
    lines = [f"v {x:g} {y:g} {z:g}" for x, y, z in _CORNERS] + ["vn 0 0 1", "vt 0 0"]
    return ["\n".join(lines + [f"f {a + 1}/1/1 {b + 1}/1/1 {c + 1}/1/1" for a, b, c in _FACES]).encode()]


def msh(folder: Path) -> list[bytes]:
    """Return a pyramid in the engine's own form."""
    faces = _FACES.astype("i4").tobytes()
    return [struct.pack("<4i", len(_CORNERS), 0, 0, len(_FACES)) + _CORNERS.tobytes() + faces]


def png(folder: Path) -> list[bytes]:
    """Return a picture of eight by eight."""
    rows = b"".join(b"\0" + bytes(range(8 * k, 8 * k + 8)) for k in range(8))
    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    return [_png([(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")])]


def _png(chunks: list[tuple[bytes, bytes]]) -> bytes:
    parts = (struct.pack(">I", len(data)) + k + data + struct.pack(">I", zlib.crc32(k + data)) for k, data in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def of_png(data: bytes, rng: Rng) -> bytes:
    """Change what a chunk holds, packed or not, with the right sum behind it; drop or repeat one; or its bytes."""
    if rng.random() < 0.2:
        return by_bytes(data, rng)
    chunks, place = [], 8
    while place < len(data):
        (size,) = struct.unpack_from(">I", data, place)
        chunks.append((data[place + 4 : place + 8], data[place + 8 : place + 8 + size]))
        place += 12 + size
    at = int(rng.integers(len(chunks)))
    kind, inner = chunks[at]
    way = int(rng.integers(6))
    if way == 0:
        del chunks[at]
    elif way == 1:
        chunks.insert(at, pick(rng, chunks))
    elif kind == b"IDAT" and way < 4:
        chunks[at] = kind, zlib.compress(by_bytes(zlib.decompress(inner), rng))
    elif kind == b"IHDR" and way < 5:
        place, word = int(rng.integers(len(inner) - 3)), pick(rng, (b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\x40\0"))
        chunks[at] = kind, inner[:place] + word + inner[place + 4 :]
    else:
        chunks[at] = pick(rng, (kind, b"PLTE", b"tRNS", b"zTXt", b"iCCP")), by_bytes(inner, rng)
    return _png(chunks)


def read_beside(element: str, geom: str) -> Callable[[], Callable[[Path], Any]]:
    """Return who builds a body that has a file in it, named by an element of its model."""

    def make() -> Callable[[Path], Any]:
        from stunt.stage.build import build
        from stunt.stage.scene import CharacterSpec, Scene

        numbers = itertools.count()  # the engine keeps what it read by name

        def read(path: Path) -> Any:
            path = path.replace(path.with_stem(f"mutant{next(numbers)}"))
            body = f'<body name="a"><joint type="hinge"/><geom type="sphere" size="0.1"/>{geom}</body>'
            asset = f"<asset>{element.format(file=path.name)}</asset>"
            model = path.with_name("model.xml")
            model.write_text(f"<mujoco>{asset}<worldbody>{body}</worldbody></mujoco>", encoding="utf-8")
            try:
                return build(Scene(characters={"somebody": CharacterSpec(str(model))}))
            finally:
                path.unlink()

        return read

    return make
