"""glTF skeletons come in as they stand and move, however a tool turned their bones."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import mujoco
import numpy as np
import pytest
from gltf_helpers import Writer, write_glb

from stunt.errors import UnknownNameError
from stunt.library.names import load_clip
from stunt.library.read import read_clip
from stunt.motion.clips.raw import ClipFileError
from stunt.motion.rig.skeleton_body import body_from_clip


@pytest.mark.parametrize(("seed", "unit"), [(None, 1.0), (0, 1.0), (1, 0.01)])
def test_a_walk_comes_back_from_a_glb_as_it_was(tmp_path: Path, seed: int | None, unit: float) -> None:
    clip = load_clip("walk")
    back = read_clip(write_glb(clip, tmp_path / "walk.glb", seed=seed, unit=unit))
    assert back.skeleton.names == clip.skeleton.names and back.fps == pytest.approx(clip.fps, rel=1e-4)
    assert back.frames == clip.frames
    off = np.abs(back.world.positions - clip.world.positions).max()
    print(f"seed {seed}, unit {unit}: {1000 * off:.4f} mm")
    assert off < 1e-5 * (1.0 if unit == 1.0 else 5.0)


def test_a_glb_makes_the_body_its_bvh_makes(tmp_path: Path) -> None:
    clip = load_clip("walk")
    ours, theirs = body_from_clip(clip), body_from_clip(read_clip(write_glb(clip, tmp_path / "walk.glb", seed=3)))
    assert [bone.name for bone in ours.plan.bones] == [bone.name for bone in theirs.plan.bones]
    first, second = ours.spec.compile(), theirs.spec.compile()
    np.testing.assert_allclose(first.body_mass, second.body_mass, rtol=1e-3)
    # A glTF file does not say where fingers, toes and head end: they are as long as a person's.
    np.testing.assert_allclose(first.body_inertia, second.body_inertia, rtol=0.02, atol=3e-5)
    assert theirs.plan.height == pytest.approx(ours.plan.height, rel=1e-4)


def test_a_glb_without_animation_is_one_frame_and_still_a_body(tmp_path: Path) -> None:
    clip = read_clip(write_glb(load_clip("walk"), tmp_path / "hero.glb", animated=False))
    assert clip.frames == 1
    body = body_from_clip(clip)
    model = body.spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    lowest = min(float(data.geom_xpos[g][2] - model.geom_rbound[g]) for g in range(model.ngeom))
    assert 50 < model.body_mass.sum() < 100 and -0.3 < lowest < 0.1
    assert data.body("head").xpos[2] > 1.2 and data.body("l_hand").xpos[1] > 0.1  # upright, its left on the left


def test_a_node_above_the_hips_moves_them_and_is_no_bone(tmp_path: Path) -> None:
    path = write_glb(load_clip("walk"), tmp_path / "walk.glb", seed=2)
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + size])
    document["skins"][0]["joints"].insert(0, len(document["nodes"]) - 1)  # the armature counts itself a joint
    del document["skins"][0]["inverseBindMatrices"]
    clip = read_clip(_rewritten(path, document, data[28 + size :]))
    assert clip.skeleton.names[0] == load_clip("walk").skeleton.names[0]
    assert np.abs(clip.world.positions - load_clip("walk").world.positions).max() < 1e-4


def _rewritten(path: Path, document: dict, blob: bytes) -> Path:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(blob), len(text), 0x4E4F534A)
    path.write_bytes(head + text + struct.pack("<II", len(blob), 0x004E4942) + blob)
    return path


def test_odd_names_are_mended_by_a_mapping_file(tmp_path: Path) -> None:
    from stunt.cli.main import main

    clip = load_clip("idle")
    odd = {name: f"bone_{number}" for number, name in enumerate(clip.skeleton.names)}
    path = write_glb(clip, tmp_path / "odd.glb", names=odd)
    assert main(["check", str(path), "--mapping", str(tmp_path / "map.yaml")]) == 0
    written = (tmp_path / "map.yaml").read_text()
    assert "hips: bone_0" in written and "l_thigh" in written and "bone_7" in written
    from stunt.motion.clips.recognise import guess_parts

    parts = guess_parts(clip.skeleton.names, clip.skeleton.parents)
    lines = [f"  {part}: bone_{joint}" for part, joint in parts.items()]
    (tmp_path / "map.yaml").write_text("joints:\n" + "\n".join(lines) + "\n")
    mended = body_from_clip(read_clip(f"{path}?mapping=map.yaml"))  # looked for beside the file
    assert [bone.name for bone in mended.plan.bones] == [bone.name for bone in body_from_clip(clip).plan.bones]


def test_one_of_several_animations_is_chosen_by_name(tmp_path: Path) -> None:
    path = write_glb(load_clip("walk"), tmp_path / "walk.glb")
    with pytest.raises(UnknownNameError, match="Available: walk"):
        read_clip(f"{path}?animation=run")
    assert read_clip(f"{path}?animation=walk").frames > 10


def test_steps_and_splines_are_sampled_as_gltf_says() -> None:
    from stunt.motion.formats.gltf_clip import _Channel, _sampled

    times, at = np.array([0.0, 1.0]), np.array([0.0, 0.25, 0.5, 1.0])
    assert _sampled(_Channel(times, np.array([[1.0], [3.0]]), "STEP"), at)[:, 0].tolist() == [1, 1, 1, 3]
    keys = np.array([[0.0], [1.0], [2.0], [4.0], [3.0], [0.0]])  # in, value, out; in, value, out
    got = _sampled(_Channel(times, keys, "CUBICSPLINE"), at)[:, 0]
    s = at
    want = (2 * s**3 - 3 * s**2 + 1) + (s**3 - 2 * s**2 + s) * 2 + (-2 * s**3 + 3 * s**2) * 3 + (s**3 - s**2) * 4
    np.testing.assert_allclose(got, want)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no glTF"),
        (b"glTF\x02\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00JSON", "cut short"),
        (b'{"asset": {"version": "1.0"}}', "version is '1.0'"),
        (b'{"asset": {"version": "2.0"}}', "has no skeleton"),
        (b'{"asset": {"version": "2.0"}, "nodes": [{"children": [0]}], "skins": [{"joints": [0]}]}', "hangs on two"),
        (b'{"asset": {"version": "2.0"}, "nodes": [{}], "skins": [{"joints": [5]}]}', "there is no nodes"),
        (
            b'{"asset": {"version": "2.0"}, "nodes": [{"children": [1]}, {"children": [0]}], '
            b'"skins": [{"joints": [0]}]}',
            "in a ring",
        ),
    ],
)
def test_a_broken_file_is_refused_by_name(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "broken.glb"
    file.write_bytes(content)
    with pytest.raises(ClipFileError, match=message) as caught:
        read_clip(file)
    assert "broken.glb" in str(caught.value)


def test_a_buffer_cut_short_is_refused(tmp_path: Path) -> None:
    writer = Writer()
    writer.data["nodes"] = [{"name": "a", "children": [1]}, {"name": "b"}]
    bound = writer.accessor(np.eye(4).reshape(1, 16), "MAT4")
    writer.data["skins"] = [{"joints": [0, 1], "inverseBindMatrices": bound}]
    writer.data["accessors"][0]["count"] = 2
    with pytest.raises(ClipFileError, match="past the end"):
        read_clip(writer.save(tmp_path / "short.glb"))
