"""A take goes back into the rigged file its body came from: nothing of it changes, one animation is added."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from rig_helpers import write_rig
from test_blender import HERE, ROOT, blender
from test_glb import parse

from stunt.cli.parser import parse as arguments
from stunt.cli.track_command import script_of
from stunt.drive.beats.spec import Script
from stunt.errors import ExportError
from stunt.export import export
from stunt.library.read import read_clip
from stunt.maths.rotations import to_matrix
from stunt.motion.formats.gltf import read_document
from stunt.motion.formats.gltf_clip import NodeMotion
from stunt.motion.formats.gltf_nodes import parents_of
from stunt.record.take import Take
from stunt.script.performance import Performance

ASSETS = Path(os.environ.get("STUNT_SHARED", ROOT.parent / "shared")) / "assets" / "gltf"
STYLES = {
    "mixamo": {"style": "mixamo", "unit": 0.01, "seed": 1},
    "rigify": {"style": "rigify", "seed": 2, "carried": True},
    "vrm": {"style": "vrm", "seed": 3},
}
MADE = [*STYLES]
GIVEN = ["CesiumMan", "RiggedFigure", "Fox"]
TITLE = "There and back"


def rig(name: str, folder: Path) -> Path:
    if name in STYLES:
        return write_rig(folder / f"{name}.glb", **STYLES[name])
    if not (ASSETS / f"{name}.glb").exists():
        pytest.skip(f"{name}.glb is not here")
    return Path(shutil.copy(ASSETS / f"{name}.glb", folder / f"{name}.glb"))


def followed(clip: Path, *more: str) -> Take:
    script = script_of(clip, arguments(["track", str(clip), "--seconds", "0.5", *more]))
    return Performance(Script(script.scene, script.parts, script.seconds, title=TITLE)).run()


@pytest.fixture(scope="session")
def back(tmp_path_factory):
    """Returns by name: the file, the take, and the file that came back; each made once."""
    known: dict[str, tuple[Path, Take, Path]] = {}

    def get(name: str) -> tuple[Path, Take, Path]:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            file = rig(name, folder)
            take = followed(file)
            known[name] = file, take, export(take, folder / "out.glb", placement="stage")[0]
        return known[name]

    return get


@pytest.mark.parametrize("name", [*MADE, *GIVEN])
def test_all_that_was_in_the_file_is_in_it_still(back, name):
    file, _, out = back(name)
    (before, blob), (after, whole) = parse(file), parse(out)
    length = before["buffers"][0]["byteLength"]
    assert whole[:length] == blob[:length]  # vertices, weights, pictures, the old animations
    for kind, things in before.items():
        if kind == "buffers":
            continue
        same = after[kind][: len(things)] if isinstance(things, list) else after[kind]
        if kind == "nodes":  # what is animated has no matrix
            same = [
                {**new, **({"matrix": old["matrix"]} if "matrix" in old else {})}
                for new, old in zip(same, things, strict=True)
            ]
            same = [{key: node[key] for key in old} for node, old in zip(same, things, strict=True)]
        assert same == things, kind
    assert len(after["animations"]) == len(before.get("animations", [])) + 1
    assert after["animations"][-1]["name"] == TITLE
    assert len(after["nodes"]) == len(before["nodes"])


@pytest.mark.parametrize("name", [*MADE, *GIVEN])
def test_it_reads_back_as_the_take(back, name):
    file, take, out = back(name)
    again = read_clip(f"{out}#{TITLE}")
    record = take.cast.character("double").clip
    assert again.fps == pytest.approx(record.fps, rel=1e-6)  # a file's times are of single precision
    model_names, places, _ = body_states_at(take, again.fps)
    joints = [record.joints[body] for body in model_names]
    world = again.world.positions[: len(places), joints]
    # Where the file's forward axis is was found anew; the stage has what was found before.
    assert np.abs(distances(world) - distances(places)).max() < 5e-5
    assert np.abs(world - places).max() < 5e-5


def often(take: Take) -> float:
    """Return a whole frame rate that a clip's own goes into: Blender's reader is off by the fraction of others."""
    fps = take.cast.character("double").clip.fps
    return next(float(rate) for rate in range(100, 1000) if abs(rate / fps - round(rate / fps)) < 1e-9)


@pytest.fixture(scope="module")
def in_blender(back, tmp_path_factory):
    """All six files as they came back, read by one Blender."""
    python, folder = blender(), tmp_path_factory.mktemp("blender")
    names = [*MADE, *(name for name in GIVEN if (ASSETS / f"{name}.glb").exists())]
    files = {
        f"{name}{which}": file for name in names for which, file in (("", back(name)[2]), ("-source", back(name)[0]))
    }
    jobs = [
        {"file": str(file), "fps": often(back(name.removesuffix("-source"))[1]), "out": str(folder / f"{name}.npz"),
         "action": "" if "-" in name else TITLE}
        for name, file in files.items()
    ]  # fmt: skip
    (folder / "jobs.json").write_text(json.dumps(jobs))
    command = [str(python), str(HERE / "blender_read.py"), str(folder / "jobs.json")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=1200, env={**os.environ, "PYTHONPATH": ""})
    assert run.returncode == 0, run.stderr[-2000:]
    return {name: dict(np.load(folder / f"{name}.npz")) for name in files}


@pytest.mark.parametrize("name", [*MADE, *GIVEN])
def test_blender_has_every_joint_where_the_take_has_it(back, in_blender, name):
    if name not in in_blender:
        pytest.skip(f"{name}.glb is not here")
    _, take, out = back(name)
    got, record = in_blender[name], take.cast.character("double").clip
    armature = next(key.removesuffix("/bones") for key in got if key.endswith("/bones"))
    bones = list(got[f"{armature}/bones"])
    fps = record.fps
    bodies, places, _ = body_states_at(take, fps)
    hips = record.door.above.path if record.door.above else (0, 0)
    joints = [hips[-1] if record.joints[body] == hips[0] else record.joints[body] for body in bodies]
    order = [bones.index(record.skeleton.names[joint]) for joint in joints]
    heads = got[f"{armature}/heads"][:, order]
    rows = np.round(np.arange(len(places)) * often(take) / fps).astype(int)
    assert rows[-1] < len(heads)
    in_file = places @ record.door.axes / record.door.scale
    off = np.abs(heads[rows] - in_file[..., [0, 2, 1]] * [1.0, -1.0, 1.0]).max() * record.door.scale * 1000.0
    print(f"{name}: {len(bodies)} joints, {len(rows)} frames, worst {off:.5f} mm")
    assert len(rows) > 5 and off < 0.05  # mm
    source = in_blender[f"{name}-source"]
    assert (
        list(source["pictures"].ravel()) == list(got["pictures"].ravel()) and source["vertices"] == got["vertices"] > 0
    )


def distances(places: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)


def body_states_at(take: Take, fps: float):
    from stunt.export.options import Options
    from stunt.export.sampling import sample

    motion = sample(take, Options(fps=fps), fps)
    character = {
        motion.model.body(b).name.removeprefix("double/"): b
        for b in range(motion.model.nbody)
        if motion.model.body(b).name.startswith("double/")
    }
    bodies = list(character.values())
    return list(character), motion.positions[:, bodies], motion.rotations[:, bodies]


@pytest.mark.parametrize("name", [*MADE, *GIVEN])
def test_khronos_validator_finds_no_error(back, name):
    modules = Path(os.environ.get("STUNT_GLTF_VALIDATOR", ROOT / ".gltf" / "node_modules"))
    if shutil.which("node") is None or not (modules / "gltf-validator").exists():
        pytest.skip("node and gltf-validator are not installed; `make validator` does it where there is npm")
    run = subprocess.run(
        ["node", HERE / "validate_glb.js", modules.resolve(), back(name)[2]], capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout)["numErrors"] == 0, run.stdout


def animated(file: Path, title: str) -> dict[tuple[str, str], np.ndarray]:
    """Values of one animation, by node and property."""
    document = read_document(file)
    motion = NodeMotion(document, title)
    times = np.arange(24) / 60.0
    names = [node["name"] for node in document.items("nodes")]
    return {(names[node], path): motion.values(node, path, times) for node, path in motion.animated}


def test_fingers_twists_and_shapes_keep_their_own_animation(back):
    file, _, out = back("mixamo")
    before, after = animated(file, "Walk"), animated(out, TITLE)
    for thing in ("LeftHandIndex1", "RightHandIndex1", "LeftForeArmTwist"):
        same = np.abs(np.sum(before[(thing, "rotation")] * after[(thing, "rotation")], axis=1))
        assert np.ptp(before[(thing, "rotation")], axis=0).max() > 0.05 and (1.0 - same).max() < 1e-6
    assert np.abs(before[("Body", "weights")] - after[("Body", "weights")]).max() < 1e-5


def world_of(file: Path, title: str, name: str) -> np.ndarray:
    """Where a node is, (F, 3), by matrices alone."""
    document = read_document(file)
    motion, parents, times = NodeMotion(document, title), parents_of(document), np.arange(24) / 60.0
    node = [some["name"] for some in document.items("nodes")].index(name)
    whole = np.tile(np.eye(4), (len(times), 1, 1))
    while True:
        local = motion.local(node, times)
        own = np.tile(np.eye(4), (len(times), 1, 1))
        own[:, :3, :3], own[:, :3, 3] = to_matrix(local.turn) * local.scale[:, None], local.shift
        whole = own @ whole
        if node not in parents:
            return whole[:, :3, 3]
        node = parents[node]


@pytest.mark.parametrize(
    ("name", "foot"), [("mixamo", "mixamorig:LeftFoot"), ("rigify", "DEF-foot.L"), ("vrm", "J_Bip_L_Foot")]
)
def test_a_target_beside_the_skeleton_goes_along_with_its_foot(back, name, foot):
    _, _, out = back(name)
    assert np.abs(world_of(out, TITLE, "ik_foot.L") - world_of(out, TITLE, foot)).max() < 1e-5


def test_hips_that_only_turned_get_the_travel_their_carrier_had(back):
    file, take, out = back("rigify")
    before, after = animated(file, "Walk"), animated(out, TITLE)
    assert ("DEF-spine", "translation") not in before and ("DEF-spine", "translation") in after
    assert np.ptp(world_of(out, TITLE, "DEF-spine"), axis=0).max() > 0.3  # m, as far as it walks in the time


def test_another_clip_on_the_body_goes_into_the_file_too(tmp_path):
    hero = rig("mixamo", tmp_path)
    take = followed(Path("idle"), "--body", str(hero))
    out = export(take, tmp_path / "out.glb", placement="stage")[0]
    after = animated(out, TITLE)
    assert ("LeftHandIndex1", "rotation") not in after  # there is no animation of its own for this clip
    again = read_clip(f"{out}#{TITLE}")
    names, places, _ = body_states_at(take, again.fps)
    record = take.cast.character("double").clip
    assert np.abs(again.world.positions[:, [record.joints[n] for n in names]] - places).max() < 5e-5


def test_a_file_that_changed_or_went_is_told_and_stunts_own_body_still_goes(back, tmp_path):
    hero = rig("vrm", tmp_path)
    take = followed(hero)
    hero.write_bytes(hero.read_bytes() + b"    ")
    with pytest.raises(ExportError, match="has changed since.*--skeleton own"):
        export(take, tmp_path / "out.glb")
    hero.unlink()
    with pytest.raises(ExportError, match="not there any more"):
        export(take, tmp_path / "out.glb")
    assert not (tmp_path / "out.glb").exists()
    own = parse(export(take, tmp_path / "own.glb", skeleton="own")[0])[0]
    assert "pelvis" in {node["name"] for node in own["nodes"]}


def test_the_take_remembers_its_file_through_saving(back, tmp_path):
    _, take, _ = back("vrm")
    take.save(tmp_path / "take.npz")
    record, again = take.cast.character("double").clip, Take.load(tmp_path / "take.npz").cast.character("double").clip
    assert record.source is not None and again.source == record.source and record.source.animation == "Walk"


def test_a_text_file_with_its_pictures_beside_it_comes_back_in_one(tmp_path):
    hero = rig("vrm", tmp_path)
    data, blob = parse(hero)
    view = data["bufferViews"][data["images"][0].pop("bufferView")]
    picture = blob[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
    (tmp_path / "skin.png").write_bytes(picture)
    data["images"][0] = {"uri": "skin.png"}
    (tmp_path / "hero.bin").write_bytes(blob)
    data["buffers"] = [{"uri": "hero.bin", "byteLength": len(blob)}]
    (tmp_path / "hero.gltf").write_text(json.dumps(data))
    out, whole = parse(export(followed(tmp_path / "hero.gltf"), tmp_path / "out.glb")[0])
    view = out["bufferViews"][out["images"][0]["bufferView"]]
    assert whole[view["byteOffset"] : view["byteOffset"] + view["byteLength"]] == picture
    assert len(out["buffers"]) == 1 and "uri" not in out["buffers"][0]
