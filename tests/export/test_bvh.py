"""BVH: names, order, channels and frame rate of the clip it came from, and positions any reader agrees on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from captured import MOCAP, PYBULLET
from stunt.character.character import Character
from stunt.cli.main import main
from stunt.control.servo.law import RootSpring
from stunt.drive.beats.spec import Part, Script
from stunt.errors import ExportError
from stunt.export import export
from stunt.export.contents import rig_of
from stunt.export.options import Options
from stunt.export.sampling import sample
from stunt.library.names import find_clip
from stunt.library.read import read_clip, read_raw
from stunt.maths.rotations import heading
from stunt.motion.clips import edit as clip_edit
from stunt.motion.clips.assume import Overrides
from stunt.motion.formats.bvh_writer import write_bvh
from stunt.record.cast import Cast
from stunt.record.take import Take
from stunt.script.performance import Performance
from stunt.script.sections.clips import ClipsPart, PlaySpec
from stunt.stage.scene import CharacterSpec, Scene


@pytest.fixture(scope="module")
def walk(tmp_path_factory, walk_take) -> Path:
    return export(walk_take, tmp_path_factory.mktemp("bvh") / "walk.bvh", placement="stage")[0]


def bone_positions(take, clip) -> np.ndarray:
    """Where the take has the clip's joints that became bones, in our axes, (F, J, 3); NaN for the others."""
    motion = sample(take, Options(), clip.fps)
    record = take.cast.character("double").clip
    character = Character(motion.model, "double")
    places = np.full((len(motion.times), len(clip.skeleton), 3), np.nan)
    for body, joint in record.joints.items():
        places[:, joint] = motion.positions[:, character.bodies[body]]
    return places


def test_it_has_the_names_order_channels_and_frame_rate_of_its_clip(walk):
    source, ours = read_raw(find_clip("walk")), read_raw(walk)
    assert ours.names == source.names and ours.parents == source.parents and ours.channels == source.channels
    assert ours.fps == source.fps
    assert np.abs(ours.offsets - source.offsets).max() < 1e-6


def test_stunt_reads_back_every_bone_where_the_take_had_it(walk, walk_take):
    clip = read_clip(walk)
    wanted = bone_positions(walk_take, clip)
    assert np.nanmax(np.abs(clip.world.positions - wanted)) < 1e-5


def test_it_can_be_tracked_again(walk, tmp_path):
    code = main(["track", str(walk), "--out", str(tmp_path / "again"), "--no-pictures", "--quiet"])
    assert code == 0 and (tmp_path / "again" / "take.npz").exists()


def test_two_readers_from_elsewhere_have_equal_positions(walk, walk_take):
    bvhio = pytest.importorskip("bvhio")
    toolbox = pytest.importorskip("bvhtoolbox")
    clip = read_clip(walk)
    wanted = bone_positions(walk_take, clip)
    kept = ~np.isnan(wanted[0, :, 0])
    first = np.array([_bvhio(bvhio, walk, frame) for frame in range(clip.frames)])
    second = _toolbox(toolbox, walk, clip)
    ours = wanted @ clip.door.axes / clip.door.scale  # in the file's axes and centimetres
    for name, got in (("bvhio", first), ("bvhtoolbox", second)):
        off = 10.0 * np.abs(got - ours)[:, kept].max()
        print(f"{name}: worst {off:.5f} mm of {clip.frames} frames, {int(kept.sum())} joints")
        assert off < 0.01
    assert 10.0 * np.abs(first - second).max() < 0.01


def _bvhio(bvhio, path: Path, frame: int) -> list[list[float]]:
    root = _bvhio_root(bvhio, path)
    root.loadPose(frame)
    return [list(joint.PositionWorld) for joint, _, _ in root.layout()][: _joints(path)]


_ROOTS: dict[Path, object] = {}


def _bvhio_root(bvhio, path: Path):
    if path not in _ROOTS:
        _ROOTS[path] = bvhio.readAsHierarchy(str(path))
    return _ROOTS[path]


def _joints(path: Path) -> int:
    return len(read_raw(path).names)


def _toolbox(toolbox, path: Path, clip) -> np.ndarray:
    from bvhtoolbox.convert.bvh2csv import write_joint_positions

    sheet = path.with_suffix(".csv")
    assert write_joint_positions(toolbox.BvhTree(path.read_text()), str(sheet))
    names = [word.removesuffix(".x") for word in sheet.read_text().splitlines()[0].split(",")[1::3]]
    values = np.loadtxt(sheet, delimiter=",", skiprows=1)[:, 1:].reshape(clip.frames, -1, 3)
    return values[:, [names.index(name) for name in clip.skeleton.names]]


def test_a_bodys_own_skeleton_reads_back(tmp_path, ada_take):
    file = export(ada_take, tmp_path / "ada.bvh", fps=30)[0]
    clip = read_clip(file)
    rig = rig_of(ada_take, sample(ada_take, Options(), 30.0), "ada", Options())
    assert clip.skeleton.names == rig.names and clip.fps == 30.0
    assert np.abs(clip.world.positions - rig.positions).max() < 1e-5


def test_the_own_skeleton_can_be_asked_for(tmp_path, walk_take):
    file = export(walk_take, tmp_path / "own.bvh", skeleton="own")[0]
    assert "pelvis" in read_raw(file).names


def test_a_clips_skeleton_that_is_not_there_is_refused(tmp_path, ada_take):
    with pytest.raises(ExportError, match="came from no clip.*--skeleton own"):
        export(ada_take, tmp_path / "ada.bvh", skeleton="clip")
    assert not list(tmp_path.iterdir())


def test_root_motion_does_not_fit_a_clips_skeleton(tmp_path, walk_take):
    with pytest.raises(ExportError, match="root motion adds a bone"):
        export(walk_take, tmp_path / "w.bvh", root_motion=True, skeleton="clip")


def test_everyone_on_the_stage_gets_a_file(tmp_path, stage_take):
    files = export(stage_take, tmp_path / "stage.bvh")
    assert [file.name for file in files] == ["stage-ada.bvh", "stage-arm.bvh", "stage-dragon.bvh"]
    assert all(file.exists() for file in files)


@pytest.mark.parametrize(
    "file",
    [
        "other_skeletons/animateddrawings_fair1_dab.bvh",
        "cmu/punch__141_14_punch_and_kick.bvh",
        "amc/07_02.amc",
        "humanoid3d_backflip.txt",
    ],
)
def test_captured_skeletons_of_all_kinds_come_back(tmp_path, file):
    """Characters placed and turned on the stage, on skeletons with helpers, odd channels, or from other formats."""
    path = next((folder / file for folder in (MOCAP, MOCAP / "deepmimic", PYBULLET) if (folder / file).exists()), None)
    if path is None:
        pytest.skip("the captured clips are not here")
    spec = CharacterSpec(str(path), root="free", at=(1.0, 2.0, 0.0), facing=0.7, self_collision=False)
    scene = Scene({"double": spec}, physics_hz=120.0, control_hz=120.0)
    take = Performance(Script(scene, {}, seconds=0.3)).run()
    written = export(take, tmp_path / "back.bvh", skeleton="clip", up="z")[0]
    record = take.cast.character("double").clip
    scale = record.door.scale if record.door.format == "bvh" else 0.01
    clip = read_clip(written, Overrides(scale=scale, up="z", skip_frames=0))
    motion = sample(take, Options(), clip.fps)
    bodies = Character(motion.model, "double").bodies
    assert set(clip.skeleton.names) == set(record.skeleton.names)
    worst = 0.0
    for body, joint in record.joints.items():
        got = clip.world.positions[:, clip.skeleton.joint(record.skeleton.names[joint])] @ clip.door.axes
        worst = max(worst, float(np.abs(got - motion.positions[:, bodies[body]]).max()))
    print(f"{file}: {len(record.skeleton.names)} joints, {len(record.joints)} bones, worst {1000 * worst:.4f} mm")
    assert worst < 1e-4


def test_a_performed_clip_lies_where_its_source_lay(tmp_path):
    lay = clip_edit.placed(read_clip(find_clip("walk")), (3.0, -4.0), 2.0)
    lay = lay.with_motion(lay.root + [0.0, 0.0, 0.37], lay.rotations)  # its ground is another one, too
    source = write_bvh(lay, tmp_path / "far.bvh")
    part = ClipsPart((PlaySpec(str(source)),), root=RootSpring("hook"))
    scene = Scene({"double": CharacterSpec(str(source), root="free")}, physics_hz=120.0, control_hz=120.0)
    take = Performance(Script(scene, {"double": Part(sections={"clips": part})}, seconds=0.3)).run()
    take = Take.load(take.save(tmp_path / "take.npz"))
    back = read_clip(export(take, tmp_path / "back.bvh")[0])
    off = np.linalg.norm(back.root - lay.root[: back.frames], axis=1).max()
    turned = np.degrees(np.abs(heading(back.rotations[:, 0]) - heading(lay.rotations[: back.frames, 0]))).max()
    print(f"off by {off:.4f} m and {turned:.3f}°")
    assert off < 0.02 and turned < 2.0
    stage = read_clip(export(take, tmp_path / "stage.bvh", placement="stage")[0])
    assert np.abs(stage.root[0, :2]).max() < 0.02 and abs(float(heading(stage.rotations[0, 0]))) < 0.05


def test_a_source_nobody_knows_is_refused(tmp_path, walk_take):
    about = replace(walk_take.cast.character("double"), placement=None)
    take = replace(walk_take, cast=Cast({"double": about}))
    assert export(take, tmp_path / "walk.bvh")
    with pytest.raises(ExportError, match="--placement stage"):
        export(take, tmp_path / "walk.bvh", placement="source")
