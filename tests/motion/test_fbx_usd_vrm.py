"""Skeletons of other tools: FBX in and out, USD and VRM in."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from gltf_helpers import write_glb

from export.test_blender import blender
from stunt.errors import StuntError
from stunt.library.names import load_clip
from stunt.library.read import read_clip
from stunt.maths.rotations import conjugate, from_rotation_vector, multiply, rotate, to_matrix
from stunt.motion.clips.raw import ClipFileError
from stunt.motion.formats.fbx_writer import write_fbx
from stunt.motion.formats.guarded import guarded

HERE = Path(__file__).parent
MILLIMETRES = 1e-3


def _apart(one, other) -> float:
    """How far joints of one name are apart at most [m], each seen from the clip's first root."""
    names = [name for name in other.skeleton.names if name in one.skeleton.names]
    assert len(names) >= 0.9 * len(other.skeleton)
    some = [clip.world.positions[:, [clip.skeleton.joint(name) for name in names]] for clip in (one, other)]
    return float(np.abs(some[0] - some[1]).max())


@pytest.mark.parametrize("name", ["walk", "kick", "get_up_front"])
def test_a_clip_written_as_fbx_is_read_back_where_it_was(tmp_path: Path, name: str) -> None:
    pytest.importorskip("ufbx", reason="FBX needs ufbx")
    clip = load_clip(name)
    back = read_clip(write_fbx(clip, tmp_path / "a.fbx"))
    assert (back.skeleton.names, back.fps, back.frames) == (clip.skeleton.names, clip.fps, clip.frames)
    assert back.parts == clip.parts
    assert _apart(back, clip) < 0.01 * MILLIMETRES


def test_an_fbx_of_another_kind_of_bytes_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ufbx", reason="FBX needs ufbx")
    data = write_fbx(load_clip("walk"), tmp_path / "a.fbx").read_bytes()
    for bad in (b"", b"nothing like it", data[:200], data[: len(data) // 2]):
        (tmp_path / "b.fbx").write_bytes(bad)
        with pytest.raises(StuntError):
            read_clip(tmp_path / "b.fbx")


def test_without_its_package_fbx_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_fbx(load_clip("walk"), tmp_path / "a.fbx")
    monkeypatch.setitem(__import__("sys").modules, "ufbx", None)
    with pytest.raises(ClipFileError, match=r"pip install 'stunt\[fbx\]'"):
        read_clip(path)


def test_blender_reads_what_is_written_and_what_it_writes_is_read(tmp_path: Path) -> None:
    pytest.importorskip("ufbx", reason="FBX needs ufbx")
    python, clip = blender(), load_clip("walk")
    source = write_fbx(clip, tmp_path / "walk.fbx")
    out, again = tmp_path / "heads.npz", tmp_path / "again.fbx"
    command = [str(python), str(HERE / "blender_fbx.py"), str(source), str(out), str(again), f"{clip.fps:g}"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=900, env={**os.environ, "PYTHONPATH": ""})
    assert run.returncode == 0, run.stderr[-2000:]
    found = np.load(out)
    names = [str(name) for name in found["names"]]
    ours = clip.world.positions[:, [clip.skeleton.joint(name) for name in names]]
    theirs = found["heads"][: clip.frames] @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).T
    theirs = theirs @ np.diag([1.0, 1.0, 1.0])
    best = min(np.abs(theirs @ turn.T - ours).max() for turn in _quarter_turns())
    assert best < 0.05 * MILLIMETRES
    back = read_clip(again)
    assert {part: back.skeleton.names[joint] for part, joint in back.parts.items()}.items() >= {
        part: clip.skeleton.names[joint] for part, joint in clip.parts.items()
    }.items()
    world = back.world.positions[: clip.frames, [back.skeleton.joint(name) for name in names]]
    best = min(np.abs(world @ turn.T - ours[: len(world)]).max() for turn in _quarter_turns())
    assert best < 0.1 * MILLIMETRES


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("import os; os.abort()", "does not survive it"),
        ("raise KeyError(3)", "is damaged"),
        ("x = 3", "is damaged"),
        ("import numpy; numpy.ones(2**27)", "damaged: .*MemoryError"),  # a gigabyte
    ],
)
def test_a_file_that_kills_whoever_reads_it_kills_a_child_and_is_refused(tmp_path: Path, does: str, said: str) -> None:
    (tmp_path / "a.fbx").write_text(does)
    with pytest.raises(ClipFileError, match=said):
        guarded("numpy", "fbx", "runpy:run_path")(tmp_path / "a.fbx")


@pytest.mark.parametrize("how", ["subLayers = [@../b.usda@]", "subLayers = [@/etc/hostname.usda@]"])
def test_a_usd_stage_made_of_files_elsewhere_is_refused(tmp_path: Path, how: str) -> None:
    pytest.importorskip("pxr", reason="USD needs usd-core")
    (tmp_path / "in").mkdir()
    (tmp_path / "b.usda").write_text("#usda 1.0\n")
    (tmp_path / "in" / "a.usda").write_text(f"#usda 1.0\n(\n    {how}\n)\n")
    with pytest.raises(ClipFileError, match="outside its folder"):
        read_clip(tmp_path / "in" / "a.usda")


def _quarter_turns() -> list[np.ndarray]:
    """Turns about the vertical: tools differ on where a person looks."""
    return [to_matrix(from_rotation_vector(np.array([0.0, 0.0, k * np.pi / 2]))) for k in range(4)]


@pytest.mark.parametrize(("up", "metres"), [("Y", 0.01), ("Z", 1.0)])
def test_a_usd_skeleton_is_read_whatever_its_bones_are_turned_like(tmp_path: Path, up: str, metres: float) -> None:
    pytest.importorskip("pxr", reason="USD needs usd-core")
    from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

    clip = load_clip("walk")
    rng, count = np.random.default_rng(4), len(clip.skeleton)
    file = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]) if up == "Y" else np.eye(3)
    rolls = from_rotation_vector(rng.normal(size=(count, 3)))
    stage = Usd.Stage.CreateNew(str(tmp_path / "a.usda"))
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, metres)
    stage.SetTimeCodesPerSecond(clip.fps)
    UsdSkel.Root.Define(stage, "/top")
    skeleton = UsdSkel.Skeleton.Define(stage, "/top/bones")
    paths: list[str] = []
    for name, parent in zip(clip.skeleton.names, clip.skeleton.parents, strict=True):
        paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
    order = [paths.index(path) for path in sorted(paths)]
    skeleton.CreateJointsAttr(sorted(paths))

    def matrices(places, turns):
        found = []
        for joint in order:
            turn = to_matrix(turns[joint])
            matrix = np.eye(4)
            matrix[:3, :3] = (file @ turn @ file.T @ file @ to_matrix(rolls[joint]) @ file.T).T
            matrix[3, :3] = file @ places[joint] / metres
            found.append(Gf.Matrix4d(matrix.tolist()))
        return found

    still = np.tile([1.0, 0, 0, 0], (count, 1))
    skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray(matrices(clip.skeleton.rest_places, still)))
    skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray(matrices(clip.skeleton.rest_places, still)))
    animation = UsdSkel.Animation.Define(stage, "/top/moves")
    animation.CreateJointsAttr(sorted(paths))
    topology = UsdSkel.Topology(sorted(paths))
    for frame in range(clip.frames):
        world = matrices(clip.world.positions[frame], clip.world.rotations[frame])
        local = UsdSkel.ComputeJointLocalTransforms(topology, Vt.Matrix4dArray(world))
        animation.SetTransforms(local, Usd.TimeCode(frame))
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    stage.GetRootLayer().Save()
    back = read_clip(tmp_path / "a.usda")
    assert (back.fps, back.frames) == (clip.fps, clip.frames) and set(back.parts) == set(clip.parts)
    assert _apart(back, clip) < 0.05 * MILLIMETRES


@pytest.mark.parametrize("version", [0, 1])
def test_a_vrm_file_says_itself_which_bone_is_which(tmp_path: Path, version: int) -> None:
    clip = load_clip("walk")
    words = {
        "hips": "hips", "spine": "spine", "spine2": "chest", "spine3": "upperChest", "neck": "neck", "head": "head",
        "clavicle": "Shoulder", "upper_arm": "UpperArm", "forearm": "LowerArm", "hand": "Hand", "thigh": "UpperLeg",
        "shank": "LowerLeg", "foot": "Foot", "toe": "Toes",
    }  # fmt: skip
    names = {name: f"bone{number}" for number, name in enumerate(clip.skeleton.names)}
    data = write_glb(clip, tmp_path / "a.glb", names=names).read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    text = json.loads(data[20 : 20 + length])
    bones = {}
    for part, joint in clip.parts.items():
        side = {"l_": "left", "r_": "right"}.get(part[:2], "")
        bones[side + words[part[2:] if side else part]] = joint
    if version:
        text["extensions"] = {"VRMC_vrm": {"humanoid": {"humanBones": {k: {"node": v} for k, v in bones.items()}}}}
    else:
        listed = [{"bone": k, "node": v} for k, v in bones.items()]
        text["extensions"] = {"VRM": {"humanoid": {"humanBones": listed}}}
    packed = json.dumps(text).encode()
    packed += b" " * (-len(packed) % 4)
    rest = data[20 + length :]
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(packed) + len(rest), len(packed), 0x4E4F534A)
    (tmp_path / "a.vrm").write_bytes(head + packed + rest)
    back = read_clip(tmp_path / "a.vrm")
    assert back.parts == clip.parts and back.recognised.said == "by the file itself"
    off = multiply(conjugate(clip.world.rotations), back.world.rotations)
    assert np.abs(rotate(off, [0.0, 0.0, 1.0]) - [0.0, 0.0, 1.0]).max() < 1e-3
