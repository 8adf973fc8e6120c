"""Trajectories in scripts: damping, clips, markers, and what the report says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stunt
from stunt.errors import StuntError
from stunt.library.names import load_clip
from stunt.motion.markers import Markers, read_c3d
from stunt.motion.rig.retarget import retarget
from stunt.record.report import make_report
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Collisions, Scene

SPINE = {f"{part}_{way}": 0 for part in ("lumbar", "neck") for way in ("flexion", "bend", "rotation")}


def script(**part: object) -> stunt.Script:
    data = {
        "characters": {"ada": {"body": "human39", "start": {"r_shoulder_abduction": 25, "r_elbow_flexion": 20}}},
        "seconds": 4,
        "performance": {"ada": {"trajectories": part}},
    }
    return stunt.script_from_data(data)


def elbow(damping: float) -> np.ndarray:
    step = {"times": [0, 0.5], "values": [20, 50], "between": "step", "damping": damping}
    held = {"r_shoulder_flexion": 0, "r_shoulder_abduction": 25, "r_shoulder_rotation": 0}
    performance = Performance(script(settling=0.5, joints={**SPINE, **held, "r_elbow_flexion": step}))
    take = performance.run()
    joint = performance.stage.characters["ada"].joints["r_elbow_flexion"]
    return (np.degrees(take.qpos[take.time >= 0.5, joint.qpos]) - 20.0) / 30.0


def test_steps_overshoot_as_their_damping_says() -> None:
    under, critical, over = elbow(0.3), elbow(1.0), elbow(2.5)
    textbook = float(np.exp(-np.pi * 0.3 / np.sqrt(1.0 - 0.3**2)))
    print(f"overshoot {under.max() - 1:.3f}, textbook {textbook:.3f}; {critical.max() - 1:.4f}; {over.max() - 1:.4f}")
    assert under.max() - 1.0 == pytest.approx(textbook, abs=0.02)
    assert critical.max() < 1.01 and over.max() < 1.0
    at = len(critical) // 5
    assert over[at] < critical[at]
    assert abs(over[-1] - 1.0) < 0.05


def test_joints_go_as_in_a_clip_and_the_others_stay_passive() -> None:
    clip = {"file": "punch", "joints": ["r_shoulder_*", "r_elbow_flexion"], "at": 0.5}
    performance = Performance(script(settling=0.1, joints=SPINE, clip=clip))
    take, ada = performance.run(), performance.stage.characters["ada"]
    punch = retarget(load_clip("punch"), ada)
    frames = (take.time >= 0.9) & (take.time <= 0.4 + len(punch.root) / punch.fps)
    joint = ada.joints["r_elbow_flexion"]
    wanted = np.interp(take.time[frames] - 0.5, np.arange(len(punch.root)) / punch.fps, punch.angles[joint.name])
    off = np.degrees(np.abs(take.qpos[frames, joint.qpos] - wanted))
    print(f"elbow {off.mean():.2f}° off the clip on average; the clip moves it by {np.degrees(np.ptp(wanted)):.0f}°")
    assert off.mean() < 2.0 and np.ptp(wanted) > 0.5
    paths = make_report(take, wall_seconds=None)["characters"]["ada"]["trajectories"]
    assert {path["joint"] for path in paths} >= {"r_elbow_flexion", "r_shoulder_flexion", "neck_flexion"}
    assert not any(path["joint"].startswith("l_") for path in paths)


def test_the_report_says_when_and_why_a_trajectory_could_not_be_followed() -> None:
    desk = stunt.load_script(str(Path(stunt.__file__).parent / "examples" / "desk.yaml"))
    report = make_report(Performance(desk).run(), wall_seconds=None)
    assert any("touching desk" in w and "r_shoulder_flexion was off its trajectory" in w for w in report["warnings"])
    (path,) = [p for p in report["characters"]["ada"]["trajectories"] if p.get("joint") == "r_shoulder_flexion"]
    assert path["off_path"][0]["error"] != 0.0 and path["rms"] > 0.0


def test_markers_become_trajectories_and_gaps_are_refused() -> None:
    points = np.zeros((5, 2, 3))
    points[:, 1, 2] = np.arange(5) * 0.1
    markers = Markers(("A", "B"), 100.0, points)
    assert markers.trajectory("B", start=1.0).pieces(1.0, 1.04).at(1.02)[0] == pytest.approx([0.0, 0.0, 0.2])
    points[2, 0] = np.nan
    with pytest.raises(StuntError, match=r"0\.02"):
        markers.trajectory("A")
    with pytest.raises(StuntError, match="Available: A, B"):
        markers.trajectory("C")


def test_marker_files_are_read_in_metres_and_named_when_they_cannot_be(tmp_path: Path) -> None:
    file = Path(stunt.__file__).parent / "examples" / "reach.c3d"
    markers = read_c3d(file)
    assert np.abs(markers.positions[np.isfinite(markers.positions)]).max() < 5.0
    with pytest.raises(StuntError, match="no marker file"):
        read_c3d(tmp_path / "none.c3d")
    (tmp_path / "bad.c3d").write_bytes(file.read_bytes()[:100])
    with pytest.raises(StuntError, match="bad.c3d"):
        read_c3d(tmp_path / "bad.c3d")
    drive = {"file": str(file), "drive": {"NOSE": "r_palm"}}
    with pytest.raises(StuntError, match="unknown marker 'NOSE'"):
        Performance(script(markers=drive))


def test_a_marker_leads_the_hand() -> None:
    arm = stunt.load_script(str(Path(stunt.__file__).parent / "examples" / "marker_arm.yaml"))
    take = Performance(arm).run()
    (who,) = make_report(take, wall_seconds=None)["characters"].values()
    strings = [path for path in who["trajectories"] if "site" in path]
    print({path["site"]: round(path["rms"], 2) for path in strings}, "mm RMS")
    assert strings and all(path["rms"] < 20.0 for path in strings)


@pytest.mark.parametrize("part", [{"damping": 0}, {"damping": 50}, {"clip": {"file": "no_such_clip"}},
                                  {"clip": {"file": "punch", "joints": ["tail"]}}])  # fmt: skip
def test_what_cannot_be_is_refused(part: dict[str, object]) -> None:
    with pytest.raises(StuntError):
        Performance(script(joints=SPINE, **part))


def test_impacts_go_on_bit_for_bit_after_a_restore() -> None:
    ball = PropSpec("sphere", radius=0.1, mass=5.0, at=(0.5, 0.0, 2.5))
    person = CharacterSpec("human39", root="free")
    stage = StageLoop(Scene(characters={"ada": person}, props={"ball": ball}, collisions=Collisions(restitution=0.4)))
    stage.data.qvel[0] = -1.5
    stage.step(0.6)
    state = stage.save()
    stage.step(1.0)
    first, count = stage.data.qpos.copy(), stage.impacts.count
    stage.restore(state)
    assert stage.impacts.count < count
    stage.step(1.0)
    assert np.array_equal(first, stage.data.qpos) and stage.impacts.count == count
