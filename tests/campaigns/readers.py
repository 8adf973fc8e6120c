"""Every reader Stunt has: a good file of its own, how it is damaged, and how it is read."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import NOWHERE
from tests.campaigns import foreign, kept, mutants
from tests.campaigns.mutants import Mutator

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "src" / "stunt" / "examples"
MODELS = ROOT / "tests" / "character" / "models"


@dataclass(frozen=True)
class Reader:
    """One reader.

    Attributes:
        suffix: How its files' names end.
        seeds: Makes good files, given an empty folder; returns their contents.
        mutate: Damages one.
        read: Reads a file; made in the process that reads, since it imports much.
        beside: Files that stand beside each, by suffix.
    """

    suffix: str
    seeds: Callable[[Path], list[bytes]]
    mutate: Mutator
    read: Callable[[], Callable[[Path], Any]]
    beside: Callable[[], dict[str, bytes]] = dict


def files(*paths: Path) -> Callable[[Path], list[bytes]]:
    """Return the contents of files of the repository."""
    return lambda folder: [path.read_bytes() for path in paths]


def _short_bvh(folder: Path) -> list[bytes]:
    from stunt.library.names import load_clip
    from stunt.motion.clips import edit
    from stunt.motion.formats.bvh_writer import write_bvh

    return [
        write_bvh(edit.trimmed(load_clip(name), 0.0, 0.2), folder / f"{name}.bvh").read_bytes()
        for name in ("walk", "jab")
    ]


def _clip_npz(folder: Path) -> list[bytes]:
    from stunt.library.names import load_clip
    from stunt.motion.clips import edit
    from stunt.motion.formats.npz import write_npz

    write_npz(edit.trimmed(load_clip("walk"), 0.0, 0.3), folder / "own.npz")
    np.savez(folder / "amass.npz", poses=np.zeros((8, 156)), trans=np.zeros((8, 3)), mocap_framerate=np.array(60.0))
    return [(folder / name).read_bytes() for name in ("own.npz", "amass.npz")]


def _glb(folder: Path) -> list[bytes]:
    sys.path.insert(0, str(ROOT / "tests" / "motion"))
    from gltf_helpers import write_glb

    from stunt.library.names import load_clip
    from stunt.motion.clips import edit

    clip = edit.trimmed(load_clip("walk"), 0.0, 0.1)
    return [write_glb(clip, folder / f"{seed}.glb", seed=seed).read_bytes() for seed in (None, 3)]


def _vrm(folder: Path) -> list[bytes]:
    sys.path.insert(0, str(ROOT / "tests" / "export"))
    from rig_helpers import write_rig

    return [write_rig(folder / "a.glb", style="vrm", seed=3).read_bytes()]


def _gltf(folder: Path) -> list[bytes]:
    import base64
    import struct

    found = []
    for data in _glb(folder):
        size = struct.unpack_from("<I", data, 12)[0]
        text = json.loads(data[20 : 20 + size])
        text["buffers"][0]["uri"] = (
            "data:application/octet-stream;base64," + base64.b64encode(data[28 + size :]).decode()
        )
        found.append(json.dumps(text).encode())
        text["buffers"][0]["uri"] = "mutant.bin"
        found.append(json.dumps(text).encode())
    return found


def _asf() -> bytes:
    return (
        b":units\n length 0.45\n angle deg\n:root\n order TX TY TZ RX RY RZ\n axis XYZ\n"
        b" position 0 0 0\n orientation 0 0 0\n"
        b":bonedata\n begin\n name lfemur\n direction 0 -1 0\n length 7\n axis 0 0 20 XYZ\n dof rx ry rz\n"
        b" limits (-160 20)\n (-70 70)\n (-60 70)\n end\n"
        b" begin\n name ltibia\n direction 0 -1 0\n length 6\n axis 0 0 20 XYZ\n"
        b" dof rx\n end\n:hierarchy\n begin\n root lfemur\n lfemur ltibia\n end\n"
    )


def _amc() -> bytes:
    frame = b"root 1 16 3 4 5 6\nlfemur 1 2 3\nltibia 4\n"
    return b":FULLY-SPECIFIED\n:DEGREES\n1\n" + frame + b"2\n" + frame


def _deepmimic(folder: Path) -> list[bytes]:
    row = [0.02, 0.0, 0.9, 0.0, *([1.0, 0, 0, 0] * 4), -0.2, *([1.0, 0, 0, 0] * 2), 0.3, 1.0, 0, 0, 0, -0.2]
    row = [*row, *([1.0, 0, 0, 0] * 2), 0.3]
    return [json.dumps({"Loop": "wrap", "Frames": [row] * 4}).encode()]


def _take(folder: Path) -> list[bytes]:
    from stunt.script.file import script_from_data
    from stunt.script.performance import Performance

    ball = {"shape": "sphere", "radius": 0.1, "mass": 1, "at": [0, 0, 0.1]}
    both = {
        "props": {"ball": ball}, "seconds": 0.1, "characters": {"ada": {"body": "torso28"}},
        "poses": {"up": {"r_elbow_flexion": 10}}, "performance": {"ada": {"beats": [{"pose": "up", "at": 0.05}]}},
    }  # fmt: skip
    found = []
    for data in ({"props": {"ball": ball}, "seconds": 0.1}, both):
        found.append(Performance(script_from_data(data)).run().save(folder / "take.npz").read_bytes())
    return found


def _onnx(folder: Path) -> list[bytes]:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    shapes = {"w": (8, 4), "b": (4,)}
    weights = [numpy_helper.from_array(rng.random(shape, np.float32), name) for name, shape in shapes.items()]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Add", ["h", "b"], ["y"])]
    ends = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, k])] for n, k in (("x", 8), ("y", 4))]
    model = helper.make_model(
        helper.make_graph(nodes, "g", *ends, weights), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 9
    onnx.checker.check_model(model)
    return [model.SerializeToString()]


def _read_clip() -> Callable[[Path], Any]:
    from stunt.library.doctor import examine

    return examine


def _read_clip_body() -> Callable[[Path], Any]:
    from stunt.library.doctor import examine

    body = _read_body()

    def read(path: Path) -> None:
        examine(path)
        body(path)

    return read


def _read_markers() -> Callable[[Path], Any]:
    from stunt.motion.markers import read_c3d

    return read_c3d


def _sensors(folder: Path) -> list[bytes]:
    """Return a table of a sensor that knows how it is turned, and one that does not."""
    rows = ["time,hand.x,hand.y,hand.z,hand.qw,hand.qx,hand.qy,hand.qz,foot.x,foot.y,foot.z"]
    rows += [f"{0.02 * k:.3f},0.1,{0.2 + 0.01 * k:.3f},1.3,1,0,0,0,0.3,0.1,{'' if k == 3 else 0.1}" for k in range(8)]
    return ["\n".join(rows).encode()]


def _read_sensors() -> Callable[[Path], Any]:
    """Return who reads the markers of a performance, as it is when they drive somebody."""
    from stunt.drive.paths.captured import MarkerPaths, bridged, read_markers
    from stunt.motion.sensors import read_sensors

    def read(path: Path) -> None:
        drive = tuple((name, "l_palm") for name in read_sensors(path).names)
        captured = read_markers(MarkerPaths(file=str(path), drive=drive))
        bridged(captured)
        for name in captured.names:
            captured.turn(name, 0.0, NOWHERE)

    return read


def _read_scenery() -> Callable[[Path], Any]:
    """Return who puts a mesh on stage as scenery, and plays."""
    from stunt.script.file import script_from_data
    from stunt.script.performance import Performance

    ball = {"shape": "sphere", "radius": 0.1, "mass": 1, "at": [0, 0, 1]}

    def read(path: Path) -> None:
        props = {"hill": {"shape": "mesh", "file": str(path)}, "ball": ball}
        Performance(script_from_data({"props": props, "seconds": 1}), foretell=False).stage.advance(2)

    return read


def _read_mapping() -> Callable[[Path], Any]:
    from stunt.motion.clips.mapping import read_mapping

    return read_mapping


def _read_script() -> Callable[[Path], Any]:
    from stunt.script.file import load_script

    return load_script


def _read_stage() -> Callable[[Path], Any]:
    from stunt.script.file import load_script
    from stunt.script.performance import Performance

    return lambda path: Performance(load_script(path), foretell=False).stage.advance(2)


def _read_take() -> Callable[[Path], Any]:
    from stunt.record.beat_table import beat_table
    from stunt.record.report import make_report
    from stunt.record.take import Take, doubted

    def read(path: Path) -> None:
        take = Take.load(path)
        with doubted(take):  # as `stunt show` does
            beat_table(make_report(take))

    return read


def _export() -> Callable[[Path], Any]:
    from stunt.export import export

    def read(path: Path) -> None:
        suffix = (".csv", ".bvh", ".glb", ".npz")[path.stat().st_size % 4]
        export(path, path.parent / "out" / f"file{suffix}")

    return read


def _read_model() -> Callable[[Path], Any]:
    from stunt.record.take import Take

    return lambda path: Take.load(path).model()


def _read_body() -> Callable[[Path], Any]:
    from stunt.stage.build import build
    from stunt.stage.scene import CharacterSpec, Scene

    return lambda path: build(Scene(characters={"somebody": CharacterSpec(str(path))}))


def _read_machine() -> Callable[[Path], Any]:
    from stunt.supervise.learn.svm import load_machine

    return lambda path: load_machine(path).value(np.zeros(17)) if hasattr(load_machine(path), "value") else None


def _read_onnx() -> Callable[[Path], Any]:
    from stunt.supervise.wrappers import onnx_policy

    return lambda path: onnx_policy(path)(np.zeros(8))


def _scripts(folder: Path) -> list[bytes]:
    names = ("boxing", "ymca", "catch_hit", "conductor", "trip", "marionette", "marker_arm", "stuck_arm", "goalkeeper")
    return [(EXAMPLES / f"{name}.yaml").read_bytes() for name in names]


def _mapping(folder: Path) -> list[bytes]:
    return [b"joints:\n  hips: Hips\n  l_thigh: LeftUpLeg\n  head: Head\nbodies:\n  head: Head\n"]


def _urdf(folder: Path) -> list[bytes]:
    def link(name: str) -> str:
        inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        box = '<geometry><box size="0.1 0.1 0.3"/></geometry>'
        inner = f'<inertial><origin xyz="0 0 0.1"/><mass value="2"/>{inertia}</inertial>'
        return f'<link name="{name}">{inner}<collision>{box}</collision><visual>{box}</visual></link>'

    joint = (
        '<joint name="elbow" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.3" rpy="0 0 0.1"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1.5" effort="50" velocity="3"/><dynamics damping="0.1"/></joint>'
    )
    return [f'<?xml version="1.0"?>\n<robot name="arm">\n{link("a")}\n{link("b")}\n{joint}\n</robot>\n'.encode()]


def _models() -> list[Path]:
    """Return models that need no other file: alone in a folder, others are refused as they are."""
    return [path for path in sorted(MODELS.glob("*.xml")) if b"file=" not in path.read_bytes()]


_MESH = ('<mesh name="m" file="{file}"/>', '<geom type="mesh" mesh="m"/>')
READERS: dict[str, Reader] = {
    "script": Reader(".yaml", _scripts, mutants.of_yaml, _read_script),
    "stage": Reader(".yaml", _scripts, mutants.of_yaml, _read_stage),
    "mapping": Reader(".yaml", _mapping, mutants.of_yaml, _read_mapping),
    "bvh": Reader(".bvh", _short_bvh, mutants.of_text, _read_clip),
    "amc": Reader(".amc", lambda folder: [_amc()], mutants.of_text, _read_clip, lambda: {".asf": _asf()}),
    "asf": Reader(".asf", lambda folder: [_asf()], mutants.of_text, lambda: _beside_amc, lambda: {".amc": _amc()}),
    "deepmimic": Reader(".json", _deepmimic, mutants.of_json, _read_clip),
    "npz": Reader(".npz", _clip_npz, mutants.of_npz, _read_clip),
    "glb": Reader(".glb", _glb, mutants.of_glb, _read_clip_body),
    "gltf": Reader(".gltf", _gltf, mutants.of_json, _read_clip_body, lambda: {".bin": bytes(200_000)}),
    "vrm": Reader(".vrm", _vrm, mutants.of_glb, _read_clip_body),
    "fbx": Reader(".fbx", foreign.fbx, foreign.of_fbx, foreign.read_foreign),
    "usda": Reader(".usda", foreign.usd(".usda"), mutants.of_text, foreign.read_foreign),
    "usdc": Reader(".usdc", foreign.usd(".usdc"), mutants.by_bytes, foreign.read_foreign),
    "c3d": Reader(".c3d", files(EXAMPLES / "reach.c3d"), mutants.by_bytes, _read_markers),
    "take": Reader(".npz", _take, mutants.of_npz, _read_take),
    "export": Reader(".npz", _take, mutants.of_npz, _export),
    "model": Reader(".npz", _take, mutants.of_model, _read_model),
    "journal": Reader(".journal", kept.journal, mutants.by_bytes, kept.read_journal),
    "mjcf": Reader(".xml", files(EXAMPLES / "chain.xml", *_models()), mutants.of_text, _read_body),
    "urdf": Reader(".urdf", _urdf, mutants.of_text, _read_body),
    "machine": Reader(
        ".npz", files(ROOT / "src/stunt/supervise/learn/stored/balance.npz"), mutants.of_npz, _read_machine
    ),
    "map": Reader(".npz", kept.map, mutants.of_npz, kept.read_map),
    "certificate": Reader(".npz", kept.certified, mutants.of_npz, kept.read_certified),
    "review": Reader(".npz", _take, mutants.of_npz, kept.read_review),
    "autosave": Reader(".yaml", kept.autosave, mutants.of_text, kept.read_autosave),
    "rows": Reader(".jsonl", kept.rows, mutants.of_text, kept.read_rows),
    "plan": Reader(".yaml", kept.plan, mutants.of_yaml, kept.read_plan),
    "tries": Reader(".jsonl", kept.tries, mutants.of_lines, kept.read_tries),
    "found": Reader(".json", kept.found, mutants.of_json, kept.read_found),
    "clips": Reader(".json", kept.noted_clips, mutants.of_json, kept.read_noted_clips),
    "new_take": Reader(".txt", kept.new_take, mutants.of_text, kept.read_new_take),
    "mark": Reader(".txt", kept.mark, mutants.of_text, kept.read_mark),
    "stl": Reader(".stl", foreign.stl, mutants.by_bytes, foreign.read_beside(*_MESH)),
    "obj": Reader(".obj", foreign.obj, mutants.of_text, foreign.read_beside(*_MESH)),
    "msh": Reader(".msh", foreign.msh, mutants.by_bytes, foreign.read_beside(*_MESH)),
    "png": Reader(
        ".png",
        foreign.png,
        foreign.of_png,
        foreign.read_beside('<hfield name="h" file="{file}" size="1 1 0.1 0.1"/>', '<geom type="hfield" hfield="h"/>'),
    ),
    "onnx": Reader(".onnx", _onnx, mutants.by_bytes, _read_onnx),
    "sensors": Reader(".csv", _sensors, mutants.of_text, _read_sensors),
    "scenery_obj": Reader(".obj", foreign.obj, mutants.of_text, _read_scenery),
    "scenery_stl": Reader(".stl", foreign.stl, mutants.by_bytes, _read_scenery),
    "scenery_text": Reader(".stl", foreign.stl_text, mutants.of_text, _read_scenery),
    "scenery_glb": Reader(".glb", foreign.scenery_glb, mutants.of_glb, _read_scenery),
    "own_mesh": Reader(".glb", _vrm, mutants.of_glb, foreign.written_back),
}


def _beside_amc(path: Path) -> Any:
    return _read_clip()(path.with_suffix(".amc"))


def prepared(name: str, folder: Path) -> list[bytes]:
    """Return the good files of a reader."""
    place = folder / f"seeds-{name}"
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.redirect_stdout(io.StringIO()):
        found = READERS[name].seeds(place)
    shutil.rmtree(place)
    return found


def mutant(name: str, seeds: list[bytes], seed: int, number: int) -> bytes:
    """Return the n-th mutant of a reader under a seed: always the same."""
    rng = np.random.default_rng([seed, number, sum(name.encode())])
    data = seeds[int(rng.integers(len(seeds)))]
    try:
        return READERS[name].mutate(data, rng)
    except (ValueError, OverflowError, RecursionError, TypeError):  # a value its own format cannot hold
        return mutants.by_bytes(data, rng)
