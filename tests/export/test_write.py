"""The door out: what it refuses, how, and that nothing half-written stays behind."""

from __future__ import annotations

import builtins
import json
from pathlib import Path

import numpy as np
import pytest

from stunt.cli.main import main
from stunt.errors import ExportError, StuntError
from stunt.export import FORMATS, Options, Video, export
from stunt.export.contents import rig_of
from stunt.export.rig import make_rig
from stunt.export.sampling import frame_times, positions_at, sample
from stunt.library.read import read_clip


def nothing_left(folder: Path) -> bool:
    return not list(folder.rglob("*"))


@pytest.mark.parametrize(
    ("to", "message"),
    [("a.xyz", "'.xyz' is no format Stunt writes. Available: .bvh, .fbx, .glb"), ("a", "has no suffix")],
)
def test_unknown_suffixes_are_named_with_what_there_is(tmp_path, ada_take, to, message):
    with pytest.raises(ExportError) as caught:
        export(ada_take, tmp_path / to)
    assert message in str(caught.value) and nothing_left(tmp_path)


@pytest.mark.parametrize(("suffix", "package", "extra"), [(".usd", "pxr", "usd"), (".mp4", "av", "video")])
def test_a_missing_extra_names_how_to_install_it(tmp_path, ada_take, monkeypatch, suffix, package, extra):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == package:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return real(name, *args, **kwargs)

    import importlib

    monkeypatch.setattr(importlib, "import_module", lambda name, *a: without(name))
    with pytest.raises(ExportError, match=rf"pip install 'stunt\[{extra}\]'"):
        export(ada_take, tmp_path / f"a{suffix}")
    assert nothing_left(tmp_path)


def test_an_unwritable_place_is_named(tmp_path, ada_take):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ExportError, match="cannot write .*Choose another place with --to"):
        export(ada_take, tmp_path / "file" / "a.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(ExportError, match="is a folder"):
        export(ada_take, tmp_path / "folder.npz")


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz", ".csv"])
def test_an_interrupted_export_leaves_nothing(tmp_path, ada_take, suffix):
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(ada_take, tmp_path / f"a{suffix}", progress=stop)
    assert nothing_left(tmp_path)


def test_an_interrupted_export_of_several_files_leaves_none_of_them(tmp_path, stage_take):
    def stop(share: float) -> None:
        if share > 0.7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(stage_take, tmp_path / "a.bvh", progress=stop)
    assert nothing_left(tmp_path)


def test_a_failed_export_keeps_what_was_there(tmp_path, ada_take):
    (tmp_path / "a.npz").write_text("precious")

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(ada_take, tmp_path / "a.npz", progress=stop)
    assert (tmp_path / "a.npz").read_text() == "precious"


@pytest.mark.parametrize(
    "wrong",
    [
        {"fps": 0.0}, {"fps": float("nan")}, {"fps": -30.0}, {"start": -1.0}, {"start": 2.0, "end": 1.0},
        {"start": 99.0}, {"up": "x"}, {"character": "nobody"}, {"in_place": True, "root_motion": True},
        {"skeleton": "mine"},
    ],
)  # fmt: skip
def test_impossible_options_are_refused(tmp_path, ada_take, wrong):
    with pytest.raises(StuntError):
        export(ada_take, tmp_path / "a.npz", **wrong)
    assert nothing_left(tmp_path)


@pytest.mark.parametrize(
    "wrong", [{"size": (0, 10)}, {"size": (10.5, 10)}, {"camera": "drone"}, {"renderer": "pen"}, {"elevation": 2.0}]
)
def test_impossible_videos_are_refused(wrong):
    with pytest.raises(StuntError):
        Video(**wrong)


def test_several_takes_fit_into_a_video_only(tmp_path, ada_take):
    with pytest.raises(ExportError, match="only videos show several"):
        export([ada_take, ada_take], tmp_path / "a.glb")


def test_glb_is_y_up_by_its_standard(tmp_path, ada_take):
    with pytest.raises(ExportError, match="y up by its standard"):
        export(ada_take, tmp_path / "a.glb", up="z")


def test_progress_goes_from_start_to_end(tmp_path, stage_take):
    told: list[float] = []
    export(stage_take, tmp_path / "a.bvh", progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0 and len(told) > 3


def test_every_format_says_what_it_needs():
    assert set(FORMATS) >= {".bvh", ".glb", ".usd", ".mp4", ".gif", ".npz", ".csv"}


# ---- the command


def test_the_command_writes_and_says_where(tmp_path, ada_take, capsys):
    ada_take.save(tmp_path / "take" / "take.npz")
    code = main(["export", str(tmp_path / "take"), "--to", str(tmp_path / "a.bvh"), "--fps", "30", "--from", "0.1"])
    assert code == 0 and capsys.readouterr().out.strip() == str(tmp_path / "a.bvh")
    assert read_clip(tmp_path / "a.bvh").fps == 30.0


@pytest.mark.parametrize(
    "words", [["--to", "a.xyz"], ["--to", "a.npz", "--size", "big"], ["--to", "a.npz", "--character", "x"], []]
)
def test_mistakes_exit_with_2(tmp_path, ada_take, capsys, monkeypatch, words):
    ada_take.save(tmp_path / "t.npz")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "t.npz", *words]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert [path.name for path in tmp_path.iterdir()] == ["t.npz"]


# ---- times and rigs


def test_frames_between_recorded_ones_lie_on_the_way(ada_take):
    model = ada_take.model()
    every_second = ada_take.time[::2]
    from dataclasses import replace

    sparse = replace(ada_take, time=every_second, qpos=ada_take.qpos[::2], qvel=ada_take.qvel[::2])
    falling = (ada_take.time > 0.0) & (ada_take.time < 0.15)  # before it touches the ground
    got = positions_at(model, sparse, ada_take.time)
    assert np.abs(got - ada_take.qpos)[falling].max() < 2e-4
    assert np.array_equal(got[::2], ada_take.qpos[::2])


def test_ranges_and_rates_choose_the_frames(ada_take):
    times = frame_times(ada_take, Options(start=0.1, end=0.3), 25.0)
    assert np.allclose(times, 0.1 + np.arange(6) / 25.0)


def test_in_place_takes_away_the_way_over_the_ground_only(stage_take):
    motion = sample(stage_take, Options(), 60.0)
    free = make_rig(motion, stage_take.cast.character("ada"))
    still = rig_of(stage_take, motion, "ada", Options(in_place=True))
    assert np.ptp(free.positions[:, 0, :2], axis=0).max() > 0.02
    assert np.ptp(still.positions[:, 0, :2], axis=0).max() < 1e-12
    assert np.array_equal(still.positions[..., 2], free.positions[..., 2])
    assert np.array_equal(still.rotations, free.rotations)


def test_root_motion_puts_a_bone_on_the_ground(stage_take):
    motion = sample(stage_take, Options(), 60.0)
    rig = rig_of(stage_take, motion, "ada", Options(root_motion=True))
    assert rig.names[0] == "root" and rig.parents[:2] == (-1, 0)
    assert np.array_equal(rig.positions[:, 0, :2], rig.positions[:, 1, :2])
    assert np.abs(rig.positions[:, 0, 2]).max() == 0.0
    assert np.abs(rig.rotations[:, 0, 1:3]).max() < 1e-12


def test_the_rest_pose_stands_at_the_origin_facing_forward(stage_take):
    rig = make_rig(sample(stage_take, Options(), 60.0), stage_take.cast.character("ada"))
    bones = dict(zip(rig.names, rig.rest, strict=True))
    assert abs(bones["pelvis"][1]) < 1e-9 and bones["l_thigh"][1] > 0 > bones["r_thigh"][1]
    assert bones["l_hand"][1] > 0.4  # arms apart


# ---- arrays and tables


def test_arrays_have_names_and_units_inside(tmp_path, stage_take):
    data = np.load(export(stage_take, tmp_path / "a.npz")[0], allow_pickle=False)
    units = json.loads(str(data["units"]))
    assert np.array_equal(data["time"], stage_take.time)
    for key in units:
        assert key in data
    assert units["ada/torque"] == "N·m" and units["arm/position"][-1] == "m"
    assert list(data["ada/position.of"]) == stage_take.cast.character("ada").dof_names
    assert np.array_equal(data["ada/velocity"], stage_take.qvel[:, stage_take.cast.character("ada").dofs])
    assert json.loads(str(data["events"]))[0]["kind"] in ("push", "hit")
    assert data["ball/position"].shape == (len(stage_take.time), 3)


def test_one_characters_arrays_read_as_a_clip(tmp_path, ada_take):
    file = export(ada_take, tmp_path / "a.npz", fps=60)[0]
    clip = read_clip(file)
    rig = rig_of(ada_take, sample(ada_take, Options(), 60.0), "ada", Options())
    assert np.abs(clip.world.positions - rig.positions).max() < 1e-9


def test_a_table_says_what_every_column_is(tmp_path, ada_take):
    lines = export(ada_take, tmp_path / "a.csv", up="y")[0].read_text().splitlines()
    header = lines[0].split(",")
    assert header[0] == "time [s]" and "ada.torque.l_knee_flexion [N·m]" in header
    assert len(lines) == 1 + len(ada_take.time) and all(len(line.split(",")) == len(header) for line in lines)
    height = header.index("ada.bone_position.head.y [m]")
    assert float(lines[1].split(",")[height]) > 1.5  # y is up
