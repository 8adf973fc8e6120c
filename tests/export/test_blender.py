"""Blender imports what Stunt exports: every bone of every frame where the take has it, under its own name.

`make blender` installs the `bpy` wheel into an environment of its own; without it these tests are skipped.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import mujoco
import numpy as np
import pytest

from stunt.character.character import Character
from stunt.export import export
from stunt.record.take import Take

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TO_BLENDER = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # Blender's characters face −y.
MILLIMETRES, DEGREES = 1.0, 0.1
FPS = 60.0


def blender() -> Path:
    """Return a Python that can import Blender, or skip."""
    named = os.environ.get("STUNT_BLENDER")
    if named is None and not (ROOT / ".blender" / ".ready").exists():
        pytest.skip("Blender's wheel is not installed; `make blender` does it")
    python = Path(named or ROOT / ".blender" / "bin" / "python")
    clean = {**os.environ, "PYTHONPATH": ""}
    run = subprocess.run([python, "-c", "import bpy"], capture_output=True, text=True, timeout=600, env=clean)
    if run.returncode:
        pytest.skip(f"Blender's wheel does not load here: {run.stderr.strip().splitlines()[-1:]}")
    return python


@pytest.fixture(scope="session")
def imported(tmp_path_factory, stage_take: Take, walk_take: Take):
    """Export everything, and let one Blender read it."""
    python, folder = blender(), tmp_path_factory.mktemp("blender")
    files = [*export(stage_take, folder / "stage.glb"), *export(stage_take, folder / "stage.bvh")]
    files += export(stage_take, folder / "z.bvh", character="ada", up="z")
    files += export(walk_take, folder / "walk.bvh", placement="stage")
    if importlib.util.find_spec("pxr") is not None:
        files += [*export(stage_take, folder / "stage.usd"), *export(stage_take, folder / "y.usda", up="y", rigid=True)]
    jobs = [{"file": str(f), "fps": FPS, "out": f"{f}.npz", "up": "Z" if f.stem == "z" else "Y"} for f in files]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    command = [str(python), str(HERE / "blender_read.py"), str(folder / "jobs.json")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=1200, env={**os.environ, "PYTHONPATH": ""})
    assert run.returncode == 0, run.stderr[-2000:]
    return {f.name: dict(np.load(f"{f}.npz")) for f in files}


def body_states(take: Take, name: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names, joints' places (F, B, 3) and rotations (F, B, 3, 3) straight from the take's recorded frames at 60 Hz."""
    model = take.model()
    data, character = mujoco.MjData(model), Character(model, name)
    places, turns = [], []
    stride = round(1.0 / FPS / float(take.time[1] - take.time[0]))
    bodies = list(character.bodies.values())
    # A bone sits in its body's joint; a sliding or fixed body's bone in the body's origin.
    anchor = np.zeros((model.nbody, 3))
    for joint in range(model.njnt):
        if model.jnt_type[joint] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_BALL):
            anchor[model.jnt_bodyid[joint]] = model.jnt_pos[joint]
    for row in take.qpos[::stride]:
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        matrices = data.xmat[bodies].reshape(-1, 3, 3)
        places.append(data.xpos[bodies] + np.einsum("bij,bj->bi", matrices, anchor[bodies]))
        turns.append(matrices)
    return list(character.bodies), np.array(places), np.array(turns)


def angle_deg(rotations: np.ndarray) -> np.ndarray:
    return np.degrees(2.0 * np.arcsin(np.clip(np.linalg.norm(rotations - np.eye(3), axis=(-1, -2)) / 8**0.5, 0.0, 1.0)))


def compare(take: Take, character: str, got: dict, armature: str, axes: np.ndarray, names: dict | None = None) -> None:
    bodies, places, turns = body_states(take, character)
    wanted = [names[body] if names else body for body in bodies]
    bones = list(got[f"{armature}/bones"])
    assert set(wanted) <= set(bones), f"bones are missing: {set(wanted) - set(bones)}"
    order = [bones.index(name) for name in wanted]
    heads, rotations = got[f"{armature}/heads"][:, order], got[f"{armature}/turns"][:, order]
    assert len(heads) == len(places)
    off = 1000.0 * np.abs(heads - places @ axes.T).max()
    # Rotations since the first frame do not depend on which pose a file calls rest.
    since = axes @ turns @ turns[0].transpose(0, 2, 1) @ axes.T
    ours = rotations @ rotations[0].transpose(0, 2, 1)
    turned = angle_deg(ours @ since.transpose(0, 1, 3, 2)).max()
    print(f"{character}: {len(bodies)} bones, {len(places)} frames, worst {off:.4f} mm, {turned:.5f}°")
    assert off < MILLIMETRES and turned < DEGREES


@pytest.mark.parametrize("name", ["ada", "arm", "dragon"])
def test_glb_has_every_bone_where_the_take_has_it(imported, stage_take, name):
    compare(stage_take, name, imported["stage.glb"], name, TO_BLENDER)


@pytest.mark.parametrize("name", ["ada", "arm", "dragon"])
def test_bvh_has_every_bone_where_the_take_has_it(imported, stage_take, name):
    compare(stage_take, name, imported[f"stage-{name}.bvh"], f"stage-{name}", TO_BLENDER)


def test_bvh_with_z_up_is_taken_as_it_is(imported, stage_take):
    compare(stage_take, "ada", imported["z.bvh"], "z", np.eye(3))


def test_bvh_on_the_clips_skeleton_has_every_bone_where_the_take_has_it(imported, walk_take):
    record = walk_take.cast.character("double").clip
    names = {body: record.skeleton.names[joint] for body, joint in record.joints.items()}
    compare(walk_take, "double", imported["walk.bvh"], "walk", TO_BLENDER, names)
    assert list(imported["walk.bvh"]["walk/bones"]) == list(record.skeleton.names)


@pytest.mark.parametrize("name", ["ada", "arm", "dragon"])
@pytest.mark.parametrize("file", ["stage.usd", "y.usda"])
def test_usd_has_every_bone_where_the_take_has_it(imported, stage_take, file, name):
    pytest.importorskip("pxr")
    axes = np.eye(3) if file == "stage.usd" else TO_BLENDER
    compare(stage_take, name, imported[file], f"{name}_skeleton", axes)


@pytest.mark.parametrize(("file", "axes"), [("stage.glb", TO_BLENDER), ("stage.usd", np.eye(3))])
def test_props_move_as_they_did(imported, stage_take, file, axes):
    if file not in imported:
        pytest.skip("usd-core is not installed")
    model = stage_take.model()
    data, body = mujoco.MjData(model), stage_take.cast.props["ball"].body
    got = imported[file]["object/ball"]
    for frame, row in enumerate(stage_take.qpos[::2]):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        assert np.abs(got[frame, :3, 3] - axes @ data.xpos[body]).max() < 1e-5
        assert np.abs(got[frame, :3, :3] - axes @ data.xmat[body].reshape(3, 3) @ axes.T).max() < 1e-4
    assert "object/step" in imported[file]


def test_blender_bends_the_skin_onto_the_body(imported, stage_take):
    """Skinned points in the last frame lie on the simulated body's own shapes."""
    points = imported["stage.glb"]["mesh/ada_body"] @ TO_BLENDER
    model = stage_take.model()
    data = mujoco.MjData(model)
    data.qpos[:] = stage_take.qpos[::2][-1]
    mujoco.mj_kinematics(model, data)
    geoms = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name.startswith("ada/")]
    centers = data.geom_xpos[geoms]
    reach = model.geom_rbound[geoms]
    away = np.min(np.linalg.norm(points[:, None] - centers[None], axis=-1) - reach, axis=1)
    print(f"{len(points)} points, furthest {1000 * away.max():.1f} mm outside the shapes' bounding balls")
    assert away.max() < 0.02
