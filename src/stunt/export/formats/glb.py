"""Binary glTF: every character a named skeleton with a skin, props as nodes of their own, one animation for all.

glTF is y up, its things face +z, in metres; quaternions are xyzw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stunt import __version__
from stunt.export.contents import PropTrack, gather
from stunt.export.formats.glb_file import GlbFile
from stunt.export.options import Y_UP, Options, Progress
from stunt.export.own_mesh import OwnMesh, own_mesh
from stunt.export.rig import Rig, continuous
from stunt.export.skin import dress
from stunt.export.solids import Surface, body_surface, colored_geoms
from stunt.maths.rotations import Floats
from stunt.motion.formats.gltf_nodes import taken_apart
from stunt.record.take import Take

_STILL = 1e-7  # What varies by less [m or parts of a quaternion] is not animated.


def write(takes: Sequence[Take], path: Path, options: Options, progress: Progress) -> None:
    """Write a take."""
    take = takes[0]
    whose = own_mesh(take, options)
    if whose is not None:
        path.write_bytes(_written_back(take, OwnMesh(take, whose, options), options, progress))
        return
    motion, rigs, props = gather(take, options)
    progress(0.3)
    file = GlbFile(f"Stunt {__version__}")
    reel = _Reel(file, motion.times - motion.times[0], str(take.meta.get("title") or "take"))
    for number, rig in enumerate(rigs):
        surface = dress(motion.model, rig, take.cast.character(rig.character), options)
        _add_character(file, reel, rig, surface)
        progress(0.3 + 0.6 * (number + 1) / len(rigs))
    colors = colored_geoms(motion.model)
    for prop in props:
        _add_prop(file, reel, prop, body_surface(motion.model, prop.body, colors))
    reel.finish()
    path.write_bytes(file.to_bytes())


def _written_back(take: Take, mesh: OwnMesh, options: Options, progress: Progress) -> bytes:
    """Return a character's own file with one animation more, and the take's props beside it."""
    file = GlbFile.continued(*mesh.document.packed())
    title = _unused(str(take.meta.get("title") or "take"), file.json["animations"])
    reel = _Reel(file, mesh.motion.times - mesh.motion.times[0], title)
    for channel in mesh.channels():
        _take_apart(file.json["nodes"][channel.node])
        reel.add(
            channel.node, channel.path, channel.values.reshape(-1) if channel.path == "weights" else channel.values
        )
    progress(0.7)
    colors = colored_geoms(mesh.motion.model)
    for prop in take.cast.props.values() if options.character is None else ():
        surface = body_surface(mesh.motion.model, prop.body, colors)
        node = _prop_node(file, _unused(prop.name, file.json["nodes"]), surface, mesh.axes, mesh.unit)
        places = mesh.motion.positions[:, prop.body], mesh.motion.rotations[:, prop.body]
        place, turn = mesh.placed(*places)
        turn = continuous(turn)[:, [1, 2, 3, 0]]
        file.json["nodes"][node].update(translation=_small(place[0]).tolist(), rotation=_small(turn[0]).tolist())
        if max(np.ptp(some, axis=0).max() for some in places) > 1e-9:
            reel.add(node, "translation", place)
            reel.add(node, "rotation", turn)
    reel.finish()
    return file.to_bytes()


def _unused(wish: str, things: Sequence[dict[str, Any]]) -> str:
    """Return a name that none of a file's things has."""
    known, name, number = {thing.get("name") for thing in things}, wish, 2
    while name in known:
        name, number = f"{wish} {number}", number + 1
    return name


def _take_apart(node: dict[str, Any]) -> None:
    """Write a node's matrix as what can be animated: translation, rotation and scale."""
    if "matrix" in node:
        local = taken_apart(np.array(node.pop("matrix"), float).reshape(4, 4).T)
        turn = local.turn[[1, 2, 3, 0]]
        node.update(translation=local.shift.tolist(), rotation=turn.tolist(), scale=local.scale.tolist())


def turned(places: Floats) -> Floats:
    """Return our places (…, 3) in glTF's axes."""
    return np.asarray(places[..., [1, 2, 0]])


def xyzw(turns: Floats) -> Floats:
    """Return our quaternions (…, 4) in glTF's axes and order."""
    unit = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
    return np.asarray(unit[..., [2, 3, 1, 0]])


def _small(values: Floats) -> np.ndarray:
    return np.asarray(values, np.float32)


class _Reel:
    """The one animation of a file."""

    def __init__(self, file: GlbFile, times: Floats, title: str) -> None:
        self._file = file
        self._title = title
        self._times = _small(times)
        self._input: int | None = None
        self._samplers: list[dict[str, Any]] = []
        self._channels: list[dict[str, Any]] = []

    def add(self, node: int, path: str, values: Floats) -> None:
        """Animate a node's `translation` or `rotation`, unless it keeps still."""
        if self._input is None:
            self._input = self._file.numbers(self._times, bounds=True)
        sampler = {"input": self._input, "output": self._file.numbers(_small(values)), "interpolation": "LINEAR"}
        self._samplers.append(sampler)
        self._channels.append({"sampler": len(self._samplers) - 1, "target": {"node": node, "path": path}})

    def finish(self) -> None:
        """Put the animation into the file, if anything moves."""
        if self._channels:
            entry = {"name": self._title, "samplers": self._samplers, "channels": self._channels}
            self._file.add("animations", entry)


def _add_character(file: GlbFile, reel: _Reel, rig: Rig, surface: Surface) -> None:
    offsets = turned(rig.offsets())
    first = len(file.json["nodes"])
    for bone, name in enumerate(rig.names):
        below = [first + child for child, parent in enumerate(rig.parents) if parent == bone]
        node: dict[str, Any] = {"name": name, "translation": _small(offsets[bone]).tolist()}
        file.add("nodes", node | ({"children": below} if below else {}))
    armature = file.add("nodes", {"name": rig.character, "children": [first]})
    file.json["scenes"][0]["nodes"].append(armature)
    joints = list(range(first, first + len(rig.names)))
    bind = np.tile(np.eye(4), (len(joints), 1, 1))
    bind[:, 3, :3] = -turned(rig.rest)  # column-major: the translation is the last row
    inverse = file.numbers(_small(bind))
    skin = {"name": rig.character, "joints": joints, "inverseBindMatrices": inverse, "skeleton": first}
    if len(surface.points):
        mesh = _mesh(file, surface, f"{rig.character}_body")
        node = {"name": f"{rig.character}_body", "mesh": mesh, "skin": file.add("skins", skin)}
        # A skinned mesh goes where its bones go; its node stands at the top, where it inherits nothing.
        file.json["scenes"][0]["nodes"].append(file.add("nodes", node))
    _animate(reel, rig, joints, offsets)


def _animate(reel: _Reel, rig: Rig, joints: Sequence[int], offsets: Floats) -> None:
    places, turns = rig.local()
    for bone, node in enumerate(joints):
        place, turn = turned(places[:, bone]), xyzw(turns[:, bone])
        if np.abs(place - offsets[bone]).max() > _STILL:
            reel.add(node, "translation", place)
        if np.abs(np.abs(turn) - [0.0, 0.0, 0.0, 1.0]).max() > _STILL:
            reel.add(node, "rotation", turn)


def _add_prop(file: GlbFile, reel: _Reel, prop: PropTrack, surface: Surface) -> None:
    place, turn = turned(prop.positions), xyzw(prop.rotations)
    number = _prop_node(file, prop.name, surface, Y_UP)
    file.json["nodes"][number].update(translation=_small(place[0]).tolist(), rotation=_small(turn[0]).tolist())
    if prop.moves:
        reel.add(number, "translation", place)
        reel.add(number, "rotation", turn)


def _prop_node(file: GlbFile, name: str, surface: Surface, axes: Floats, unit: float = 1.0) -> int:
    """Put a prop's shape into the scene, in a file's axes (3, 3) and unit [m]; return its node."""
    node: dict[str, Any] = {"name": name}
    if len(surface.points):
        shape = replace(surface, points=surface.points / unit)
        node["mesh"] = _mesh(file, shape, name, axes)
    number = file.add("nodes", node)
    if not file.json.get("scenes"):
        file.json.update(scenes=[{"nodes": []}], scene=0)
    file.json["scenes"][file.json.get("scene", 0)].setdefault("nodes", []).append(number)
    return number


def _mesh(file: GlbFile, surface: Surface, name: str, axes: Floats = Y_UP) -> int:
    attributes = {
        "POSITION": file.numbers(_small(surface.points @ axes), use="vertex", bounds=True),
        "NORMAL": file.numbers(_small(surface.normals @ axes), use="vertex"),
    }
    if surface.bones is not None and surface.weights is not None:
        kind = np.uint8 if surface.bones.max(initial=0) < 256 else np.uint16
        attributes["JOINTS_0"] = file.numbers(surface.bones.astype(kind), use="vertex")
        attributes["WEIGHTS_0"] = file.numbers(_weights(surface.weights), use="vertex")
    index = np.uint16 if len(surface.points) < 65535 else np.uint32
    primitives = [
        {"attributes": attributes, "indices": file.numbers(triangles.astype(index).reshape(-1), use="index"),
         "material": file.material(color)}
        for color, triangles in surface.parts
    ]  # fmt: skip
    return file.add("meshes", {"name": name, "primitives": primitives})


def _weights(weights: Floats) -> np.ndarray:
    small = _small(weights)
    return np.asarray(small / small.sum(axis=1, keepdims=True, dtype=np.float32), np.float32)
