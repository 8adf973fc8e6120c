"""Bodies from clips' own skeletons, the doctor, mapping files and retargeting."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from clip_helpers import MOCAP, SMALL_BVH, captures, needs_deepmimic, needs_mocap

import stunt.library.names as library
from stunt.character.bodies import make_body
from stunt.character.character import Character
from stunt.character.from_skeleton import Build
from stunt.errors import BodyError, StuntError, UnknownNameError
from stunt.library.doctor import examine
from stunt.library.names import OWN_CLIPS, clip_entries, find_clip, load_clip
from stunt.library.read import read_clip
from stunt.maths.rotations import difference, from_rotation_vector, multiply
from stunt.motion.clips.assume import Overrides
from stunt.motion.clips.mapping import guess_mapping, read_mapping, write_mapping
from stunt.motion.clips.recognise import guess_parts
from stunt.motion.clips.vocabulary import vocabulary
from stunt.motion.rig.retarget import body_parts, hinge_angles, retarget
from stunt.motion.rig.skeleton_body import body_from_clip

OWN = ("idle", "walk", "punch", "kick", "stand_up")


def _kinematics_error(clip) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    body = body_from_clip(clip)
    model = body.spec.compile()
    data = mujoco.MjData(model)
    times = np.linspace(0.0, clip.duration, 9)
    place = turn = 0.0
    for qpos, time in zip(body.qpos_at(times), times, strict=True):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        want = body.world_at(float(time))
        place = max(place, float(np.abs(data.xpos[1:] - want.positions).max()))
        turn = max(turn, float(np.linalg.norm(difference(data.xquat[1:], want.rotations), axis=-1).max()))
    return place, turn


@pytest.mark.parametrize("name", OWN)
def test_a_body_from_an_own_clip_can_take_every_pose_of_it(name: str) -> None:
    place, turn = _kinematics_error(load_clip(name))
    assert place < 1e-9 and turn < 1e-7


@needs_deepmimic
def test_bodies_from_all_captured_clips_can_take_every_pose_of_them() -> None:
    paths = [path for path in captures(".bvh", ".amc", ".txt") if path.parent.name != "mocap"]
    worst = [0.0, 0.0]
    built = 0
    for path in paths:
        if "rotation_first" in path.name or "README" in path.name or "READMEFIRST" in path.name:
            continue
        worst = np.maximum(worst, _kinematics_error(read_clip(path))).tolist()
        built += 1
    print(f"{built} bodies built; worst position {worst[0]:.1e} m, worst turn {worst[1]:.1e} rad")
    assert built >= (43 if MOCAP.is_dir() else 15) and worst[0] < 1e-6 and worst[1] < 1e-6


def test_masses_are_a_persons_and_add_up() -> None:
    body = body_from_clip(load_clip("walk"), Build(mass=80.0))
    model = body.spec.compile()
    assert model.body_mass.sum() == pytest.approx(80.0)
    assert 0.10 < model.body("l_thigh").mass[0] / 80.0 < 0.16
    assert model.body("l_thigh").mass[0] == pytest.approx(model.body("r_thigh").mass[0])
    assert (model.body_inertia[1:] > 0).all()
    hinged = body_from_clip(load_clip("walk"), Build(joints="hinge")).spec.compile()
    assert hinged.nv == model.nv and hinged.nq == model.nv + 1


@pytest.mark.parametrize("name", OWN)
def test_planted_soles_touch_the_floor(name: str) -> None:
    body = body_from_clip(load_clip(name))
    model = body.spec.compile()
    data = mujoco.MjData(model)
    lows = []
    for qpos in body.qpos_at(np.linspace(0.0, body.clip.duration, 12)):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        corners = []
        for geom in range(model.ngeom):
            if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
                half = np.abs(data.geom_xmat[geom].reshape(3, 3)[2]) @ model.geom_size[geom]
                corners.append(data.geom_xpos[geom][2] - half)
        lows.append(min(corners))
    assert -0.03 < min(lows) and np.median(lows) < 0.01


def test_a_person_without_legs_is_refused_with_what_is_missing() -> None:
    clip = load_clip("walk")
    parts = {part: joint for part, joint in clip.parts.items() if part != "l_thigh"}
    with pytest.raises(BodyError, match="l_thigh"):
        body_from_clip(clip, parts=parts)


def test_a_skeleton_that_is_no_persons_becomes_a_creature(tmp_path: Path) -> None:
    (tmp_path / "a.bvh").write_text(SMALL_BVH)
    assert {bone.part for bone in body_from_clip(read_clip(tmp_path / "a.bvh")).plan.bones} == {"limb"}


def test_the_usual_vocabularies_are_recognised() -> None:
    mixamo = [
        "Hips",
        "Spine",
        "Neck",
        "Head",
        "LeftShoulder",
        "LeftArm",
        "LeftForeArm",
        "LeftHand",
        "LeftUpLeg",
        "LeftLeg",
    ]
    names = [f"mixamorig:{name}" for name in mixamo]
    parts = guess_parts(names, [-1, 0, 1, 2, 1, 4, 5, 6, 0, 8])
    assert vocabulary(names) == "Mixamo"
    assert names[parts["l_upper_arm"]].endswith("LeftArm") and names[parts["l_clavicle"]].endswith("LeftShoulder")
    smpl = ["pelvis", "left_hip", "left_knee", "left_ankle", "left_foot", "left_shoulder", "left_elbow", "left_wrist"]
    parts = guess_parts(smpl, [-1, 0, 1, 2, 3, 0, 5, 6])
    assert {part: smpl[joint] for part, joint in parts.items()} == {
        "hips": "pelvis", "l_thigh": "left_hip", "l_shank": "left_knee", "l_foot": "left_ankle", "l_toe": "left_foot",
        "l_upper_arm": "left_shoulder", "l_forearm": "left_elbow", "l_hand": "left_wrist",
    }  # fmt: skip
    asf = [
        "root",
        "lhipjoint",
        "lfemur",
        "ltibia",
        "lfoot",
        "ltoes",
        "lclavicle",
        "lhumerus",
        "lradius",
        "lwrist",
        "lhand",
    ]
    parts = guess_parts(asf, [-1, 0, 1, 2, 3, 4, 0, 6, 7, 8, 9])
    assert asf[parts["l_thigh"]] == "lfemur" and asf[parts["l_hand"]] == "lwrist"


@needs_mocap
def test_the_doctor_tells_units_axes_floor_and_the_first_frame() -> None:
    by_name = {path.name: path for path in captures(".bvh")}
    found = examine(by_name["walk__07_01_walk.bvh"])
    assert (found.up, found.first_frame_t_pose, found.frames) == ("y", True, 316)
    assert found.metres_per_unit == pytest.approx(0.056444, abs=1e-6) and 1.4 < (found.height_m or 0) < 1.9
    assert abs(found.floor_m or 9) < 0.05
    child = examine(by_name["animateddrawings_fair1_dab.bvh"])
    assert (child.up, child.first_frame_t_pose) == ("z", False) and child.metres_per_unit == 0.0254


@needs_mocap
def test_the_doctor_finds_a_wrong_frame_rate_by_the_fall() -> None:
    jump = next(path for path in captures(".bvh") if "vertical_jump" in path.name)
    right, wrong = examine(jump), examine(jump, Overrides(fps=60.0))
    assert right.flight is not None and right.flight.fall == pytest.approx(9.81, rel=0.1) and not right.warnings
    assert wrong.flight is not None and wrong.flight.likely == 120.0
    assert any("--fps 120" in line for line in wrong.warnings)


def test_the_doctor_finds_a_spike_that_was_put_in(tmp_path: Path) -> None:
    from stunt.motion.formats.bvh_writer import write_bvh

    walk = load_clip("walk")
    rotations = walk.rotations.copy()
    knee = walk.skeleton.joint("LeftLeg")
    rotations[30, knee] = multiply(rotations[30, knee], from_rotation_vector(np.array([0.0, 0.8, 0.0])))
    found = examine(write_bvh(walk.with_motion(walk.root, rotations), tmp_path / "spike.bvh"))
    assert found.spikes and (found.spikes[0].frame, found.spikes[0].joint) == (30, "LeftLeg")


def test_the_doctor_finds_a_frame_in_which_the_whole_body_leaps(tmp_path: Path) -> None:
    from stunt.motion.formats.bvh_writer import write_bvh

    walk = load_clip("walk")
    root = walk.root.copy()
    root[30] += [0.3, 0.0, 0.2]
    found = examine(write_bvh(walk.with_motion(root, walk.rotations), tmp_path / "leap.bvh"))
    assert (found.spikes[0].frame, found.spikes[0].metres) == (30, pytest.approx(0.36, abs=0.01))
    assert any("frame 30 Hips 0.36 m" in line for line in found.warnings)


@pytest.mark.parametrize(("frames", "turn"), [(1, 0.0), (1, 1.5), (3, 0.0)])
def test_a_t_pose_at_the_start_is_left_out_also_turned_or_held(frames: int, turn: float, tmp_path: Path) -> None:
    from stunt.motion.formats.bvh_writer import write_bvh

    walk = load_clip("walk")
    rest = np.zeros((frames, len(walk.skeleton), 4))
    rest[..., 0] = 1.0
    rest[:, 0] = from_rotation_vector(np.array([0.0, 0.0, turn]))
    both = np.concatenate([rest, walk.rotations])
    both[frames:, walk.skeleton.joint("LeftArm")] = from_rotation_vector(np.array([0.6, 0.0, 0.0]))
    root = np.concatenate([np.repeat(walk.root[:1], frames, axis=0), walk.root])
    found = examine(write_bvh(walk.with_motion(root, both), tmp_path / "rest.bvh"))
    assert found.first_frame_t_pose and found.frames == walk.frames


def test_bones_may_hang_on_one_another_a_thousandfold(tmp_path: Path) -> None:
    lines = (OWN_CLIPS / "walk.bvh").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if "JOINT Head" in line)
    tip = next(number for number in range(start, len(lines)) if "End Site" in lines[number])
    chain = [word for number in range(1500) for word in (f"JOINT hair{number}", "{", "OFFSET 0 0.1 0")]
    path = tmp_path / "hair.bvh"
    path.write_text("\n".join([*lines[:tip], *chain, *["}"] * 1500, *lines[tip + 4 :]]) + "\n")
    assert body_from_clip(read_clip(path)).plan.bones


def test_overrides_beat_the_guesses(tmp_path: Path) -> None:
    (tmp_path / "a.bvh").write_text(SMALL_BVH)
    clip = read_clip(tmp_path / "a.bvh", Overrides(up="z", scale=1.0, fps=50.0, skip_frames=1, loop=True))
    assert (clip.fps, clip.frames, clip.loop, clip.door.scale) == (50.0, 2, True, 1.0)
    assert not {"up", "scale"} & set(clip.door.assumed)
    assert clip.root[0, 2] == pytest.approx(-0.15)


def test_options_behind_a_clips_name_override_the_guesses_wherever_it_is_named(tmp_path: Path) -> None:
    assert load_clip("walk?fps=30&loop=yes&skip_frames=2").loop
    assert load_clip("walk?fps=30").duration == pytest.approx(2 * load_clip("walk").duration)
    walk = find_clip("walk")
    small = body_from_clip(read_clip(f"{walk}?scale=0.005")).plan.height
    assert small == pytest.approx(0.5 * body_from_clip(read_clip(walk)).plan.height)
    (tmp_path / "mine.bvh").write_bytes(walk.read_bytes())
    assert library.Library(beside=str(tmp_path)).located("mine.bvh?fps=30") == f"{tmp_path / 'mine.bvh'}?fps=30"
    assert library.Library(beside=str(tmp_path)).located("walk?fps=30") == "walk?fps=30"
    with pytest.raises(UnknownNameError, match="skip_frames"):
        load_clip("walk?skip_frame=2")
    with pytest.raises(StuntError, match="'fps'"):
        load_clip("walk?fps=fast")


def test_a_mapping_file_survives_and_complains_about_unknown_parts(tmp_path: Path) -> None:
    walk = load_clip("walk")
    guessed = guess_mapping(walk.skeleton)
    path = write_mapping(guessed, tmp_path / "map.yaml")
    assert read_mapping(path) == guessed
    assert body_from_clip(walk, parts=read_mapping(path).parts_of(walk.skeleton)).plan.bones[0].name == "pelvis"
    path.write_text(path.read_text().replace("l_thigh", "l_thighbone"))
    with pytest.raises(UnknownNameError, match="l_thigh"):
        read_mapping(path)
    path.write_text("joints:\n  hips: Nowhere\n")
    with pytest.raises(UnknownNameError, match="Nowhere"):
        read_mapping(path).parts_of(walk.skeleton)


@pytest.mark.parametrize("axes", [np.eye(3), -np.eye(3)[[1, 0, 2]], np.eye(3)[[1, 2]], np.array([[0.6, 0.8, 0.0]])])
def test_hinge_angles_make_the_turn_they_were_taken_from(axes: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    angles = rng.uniform(-1.2, 1.2, size=(50, len(axes)))
    turn = np.tile([1.0, 0, 0, 0], (50, 1))
    for column, axis in enumerate(axes):
        turn = multiply(turn, from_rotation_vector(angles[:, column : column + 1] * axis))
    assert np.allclose(hinge_angles(turn, axes), angles, atol=1e-6)


def _standing(body: str) -> Character:
    scene = mujoco.MjSpec()
    scene.attach(make_body(body, root="free"), prefix="a/", frame=scene.worldbody.add_frame())
    return Character(scene.compile(), "a")


@pytest.mark.parametrize("body", ["human38", "human39", "human47"])
def test_a_walk_retargeted_onto_a_built_in_body_keeps_its_limbs_directions(body: str) -> None:
    walk = load_clip("walk")
    character = _standing(body)
    moved = retarget(walk, character)
    model, data = character.model, mujoco.MjData(character.model)
    knee, ankle = walk.skeleton.joint("LeftLeg"), walk.skeleton.joint("LeftFoot")
    off = []
    for frame, qpos in enumerate(moved.qpos(character)):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        ours = walk.world.positions[frame, ankle] - walk.world.positions[frame, knee]
        theirs = data.xpos[character.body("l_foot")] - data.xpos[character.body("l_shank")]
        off.append(ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs))
    worst = np.degrees(np.arccos(np.clip(off, -1, 1))).max()
    print(f"{body}: shank off by at most {worst:.1f}°; cut: {dict(moved.cut)}")
    assert worst < 8.0 and body_parts(character)["hips"] == character.body("pelvis")
    assert 0.6 < moved.root[:, 2].min() < moved.root[:, 2].max() < 1.1


def test_a_clip_on_its_own_skeletons_body_is_found_again_by_retargeting() -> None:
    walk = load_clip("walk")
    body = body_from_clip(walk)
    scene = mujoco.MjSpec()
    scene.attach(body.spec, prefix="a/", frame=scene.worldbody.add_frame())
    character = Character(scene.compile(), "a")
    assert max(retarget(walk, character).left_over_deg.values()) < 1e-3


def test_clips_are_found_by_path_by_name_and_in_the_users_folder(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "mine.bvh").write_text(SMALL_BVH)
    assert find_clip("mine", [tmp_path]) == tmp_path / "mine.bvh"
    assert set(OWN) <= set(clip_entries())
    with pytest.raises(UnknownNameError, match="Did you mean 'walk'"):
        find_clip("wlak")
    fake = tmp_path / "humanoid3d_walk.txt"
    monkeypatch.setattr(library, "pybullet_clips", lambda: [fake])
    assert clip_entries()["pybullet:walk"].path == fake
