"""Files as they are in the wild: read with what is there, mended by evidence, and said so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from stunt.errors import StuntError
from stunt.library.doctor import examine
from stunt.library.names import load_clip
from stunt.library.read import read_clip
from stunt.maths.rotations import difference, from_rotation_vector, multiply
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.edit import denser, resampled
from stunt.motion.formats.bvh_writer import write_bvh


@pytest.fixture(scope="module")
def walk_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_bvh(load_clip("walk"), tmp_path_factory.mktemp("walk") / "walk.bvh").read_text()


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "wild.bvh"
    path.write_text(text)
    return path


COUNTS: dict[str, tuple[Callable[[list[str]], list[str]], int]] = {
    "more lines than announced": (lambda lines: [*lines, lines[-1]], 1),
    "fewer lines than announced": (lambda lines: lines[:-5], -5),
    "a last line torn off": (lambda lines: [*lines[:-1], lines[-1][:40]], -1),
}


@pytest.mark.parametrize("what", COUNTS)
def test_a_file_with_other_frames_than_it_announces_is_read_with_a_warning(
    tmp_path: Path, walk_text: str, what: str
) -> None:
    change, more = COUNTS[what]
    announced = load_clip("walk").frames
    frames = announced + more
    path = _written(tmp_path, "\n".join(change(walk_text.splitlines())) + "\n")
    found = examine(path)
    assert found.frames == frames
    assert any(f"announces {announced} and has {frames}" in line for line in found.warnings)


def test_frames_that_go_over_several_lines_are_put_together(tmp_path: Path, walk_text: str) -> None:
    head, _, rows = walk_text.partition("Frame Time:")
    time, *lines = rows.strip().splitlines()
    cut = [part for line in lines for part in (" ".join(line.split()[:20]), " ".join(line.split()[20:]))]
    wild = read_clip(_written(tmp_path, f"{head}Frame Time: {time}\n" + "\n".join(cut)))
    np.testing.assert_array_equal(wild.rotations, load_clip("walk").with_motion(wild.root, wild.rotations).rotations)
    assert wild.frames == len(lines) and not wild.door.wrong


def test_a_frame_in_the_middle_with_too_few_values_is_refused_with_its_line(tmp_path: Path, walk_text: str) -> None:
    lines = walk_text.splitlines()
    lines[-10] = lines[-10].rsplit(" ", 1)[0]
    with pytest.raises(StuntError, match="values, but the skeleton has") as caught:
        read_clip(_written(tmp_path, "\n".join(lines)))
    assert caught.value.place.line == len(lines) - 8


def test_a_frame_time_of_nothing_is_taken_for_thirty_a_second(tmp_path: Path, walk_text: str) -> None:
    lines = ["Frame Time: 0" if line.startswith("Frame Time") else line for line in walk_text.splitlines()]
    found = examine(_written(tmp_path, "\n".join(lines)))
    assert found.fps == 30.0 and any("frame time: 0 s is not possible" in line for line in found.warnings)


# ---- rates


def test_few_frames_are_interpolated_smoothly_and_pass_through_the_frames_there_are(tmp_path: Path) -> None:
    few = resampled(load_clip("walk"), 5.0)
    wild = read_clip(write_bvh(few, tmp_path / "few.bvh"))
    assert wild.fps == 30.0 and "5 frames per second are few; 30 are interpolated" in wild.door.assumed["frame rate"]
    turned = difference(wild.rotations[::6], few.rotations[: len(wild.rotations[::6])])
    assert np.degrees(np.abs(turned)).max() < 0.01

    def jumps(clip: Clip) -> float:
        return float(np.abs(np.diff(clip.frame_velocities[1], n=1, axis=0)).max())

    assert jumps(denser(few, 480.0)) < 0.15 * jumps(resampled(few, 480.0)), "velocity goes on through every frame"


def test_what_stands_still_between_two_frames_stays_still() -> None:
    walk = load_clip("walk")
    still = np.repeat(walk.rotations[:2], 3, axis=0)
    clip = denser(walk.with_motion(np.repeat(walk.root[:2], 3, axis=0), still), 10.0 * walk.fps)
    np.testing.assert_allclose(clip.rotations[:20], np.repeat(still[:1], 20, axis=0), atol=1e-12)
    assert np.ptp(clip.root[:20], axis=0).max() == 0.0


def _jump(fps: float) -> Clip:
    return resampled(load_clip("jump"), fps)


@pytest.mark.parametrize(("true", "said"), [(60.0, 120.0), (60.0, 30.0), (120.0, 30.0)])
def test_a_wrong_frame_time_is_told_by_how_a_jump_falls(tmp_path: Path, true: float, said: float) -> None:
    wrong = _jump(true).with_motion(_jump(true).root, _jump(true).rotations, fps=said)
    path = write_bvh(wrong, tmp_path / "wrong.bvh")
    found = examine(path)
    assert found.fps == true and any(line.startswith(f"frame time: {true:g}") for line in found.warnings)
    assert read_clip(f"{path}?fps={said:g}").fps == said, "whoever says it is believed"


def test_a_right_frame_time_is_left_alone(tmp_path: Path) -> None:
    for fps in (30.0, 60.0, 120.0):
        assert read_clip(write_bvh(_jump(fps), tmp_path / f"{fps:g}.bvh")).fps == pytest.approx(fps)


# ---- poses and places


def test_a_first_frame_in_another_pose_is_left_out_whatever_pose_that_is(tmp_path: Path) -> None:
    walk = load_clip("walk")
    lean = walk.rotations[0].copy()
    for side, sign in (("l_", -1.0), ("r_", 1.0)):  # an A-pose: arms and legs spread, knees straight
        for part, turn in (
            ("clavicle", 0.2),
            ("upper_arm", 0.9),
            ("forearm", 0.4),
            ("thigh", 0.35),
            ("shank", 0.5),
            ("hand", 0.6),
        ):
            lean[walk.parts[side + part]] = from_rotation_vector(np.array([sign * turn, 0.5 * turn, 0.0]))
    lead = walk.with_motion(
        np.concatenate([walk.root[:1] * [0.0, 0.0, 1.0], walk.root]), np.concatenate([lean[None], walk.rotations])
    )
    wild = read_clip(write_bvh(lead, tmp_path / "lead.bvh"))
    assert wild.frames == walk.frames and "left out" in wild.door.assumed["skip_frames"]


def test_a_joint_that_flips_for_a_frame_or_two_is_bridged_and_said(tmp_path: Path) -> None:
    walk = load_clip("walk")
    rotations, knee, arm = walk.rotations.copy(), walk.parts["l_shank"], walk.parts["r_upper_arm"]
    rotations[20, knee] = multiply(rotations[20, knee], from_rotation_vector(np.array([0.0, 0.0, 2.5])))
    rotations[40:42, arm] = multiply(rotations[40:42, arm], from_rotation_vector(np.array([0.0, 1.5, 0.0])))
    path = write_bvh(walk.with_motion(walk.root, rotations), tmp_path / "flips.bvh")
    wild = read_clip(path)
    off = np.degrees(np.linalg.norm(difference(wild.rotations, walk.rotations), axis=-1))
    assert off.max() < 4.0, "back on the way that the walk takes"
    assert any("spikes, bridged" in line for line in examine(path).warnings)


@pytest.mark.parametrize("turns", [(2.4, -0.8, -1.0), (0.48, -2.4, 0.4)], ids=["by the hip", "by the knee"])
def test_a_leg_that_is_lost_for_four_frames_comes_back_with_all_of_its_joints(tmp_path: Path, turns) -> None:
    walk = load_clip("walk")
    rotations, leg = walk.rotations.copy(), [walk.parts["r_" + part] for part in ("thigh", "shank", "foot")]
    for joint, turn in zip(leg, turns, strict=True):  # as a solver that takes one leg for the other
        flip = from_rotation_vector(np.array([0.0, turn, 0.3 * turn]))
        rotations[30:34, joint] = multiply(rotations[30:34, joint], flip)
    wild = read_clip(write_bvh(walk.with_motion(walk.root, rotations), tmp_path / "lost.bvh"))
    off = np.degrees(np.linalg.norm(difference(wild.rotations, walk.rotations), axis=-1))
    others = np.setdiff1d(np.arange(len(walk.skeleton)), leg + [walk.parts["r_toe"]])
    assert off[:, leg].max() < 20.0, "a straight way over a sixth of a second of walking"
    assert off[:, others].max() < 0.01, "nothing else moved"


def test_hips_that_are_found_again_facing_elsewhere_turn_there_no_faster_than_anybody_can(tmp_path: Path) -> None:
    walk = load_clip("walk")
    rotations, root = walk.rotations.copy(), walk.rotations[:, 0]
    elsewhere = from_rotation_vector(np.array([0.0, 0.0, 1.0]))
    rotations[30:, 0] = multiply(np.broadcast_to(elsewhere, root[30:].shape), root[30:])
    wild = read_clip(write_bvh(walk.with_motion(walk.root, rotations), tmp_path / "elsewhere.bvh"))
    rate = np.linalg.norm(difference(wild.rotations[1:, 0], wild.rotations[:-1, 0]), axis=-1) * wild.fps
    assert rate.max() < 20.0 < np.linalg.norm(difference(rotations[30, 0], rotations[29, 0])) * wild.fps
    off = np.linalg.norm(difference(wild.rotations[40:, 0], rotations[40:, 0]), axis=-1)
    assert off.max() < 1e-3, "and is where the file has it after"


@pytest.mark.parametrize("height", [-0.3, 0.25])
def test_a_capture_above_or_below_the_floor_stands_on_it(tmp_path: Path, height: float) -> None:
    from stunt.motion.rig.skeleton_body import body_from_clip

    walk = load_clip("walk")
    wild = read_clip(write_bvh(walk.with_motion(walk.root + [0.0, 0.0, height], walk.rotations), tmp_path / "high.bvh"))
    there, here = body_from_clip(wild), body_from_clip(walk)
    assert there.floor - here.floor == pytest.approx(height, abs=2e-3)
    np.testing.assert_allclose(there.clip.root, here.clip.root, atol=2e-3)


def test_soles_tilted_through_a_whole_capture_are_level_on_its_body(tmp_path: Path) -> None:
    from stunt.motion.rig.skeleton_body import body_from_clip

    walk = load_clip("walk")
    rotations = walk.rotations.copy()
    tilt = from_rotation_vector(np.array([0.0, np.radians(15.0), 0.0]))
    for part in ("l_foot", "r_foot"):
        rotations[:, walk.parts[part]] = multiply(rotations[:, walk.parts[part]], tilt)
    bodies = [body_from_clip(walk), body_from_clip(walk.with_motion(walk.root, rotations))]
    normals = [
        {bone.name: bone.sole.normal for bone in body.plan.bones if bone.sole is not None and "foot" in bone.name}
        for body in bodies
    ]
    for name, level in normals[0].items():
        turned = np.degrees(np.arccos(np.clip(level @ normals[1][name], -1.0, 1.0)))
        assert turned == pytest.approx(15.0, abs=3.0), "the sole's plane in the foot's frame takes the tilt up"


# ---- walks in place


def test_a_walk_in_place_gets_its_travel_back(tmp_path: Path) -> None:
    walk = load_clip("walk")
    belt = (walk.root[-1] - walk.root[0]) * [1.0, 1.0, 0.0]
    share = np.arange(walk.frames)[:, None] / (walk.frames - 1)
    path = write_bvh(walk.with_motion(walk.root - share * belt, walk.rotations), tmp_path / "belt.bvh")
    wild, left = read_clip(path), read_clip(f"{path}?travel=false")
    way, wanted = (some.root[-1, :2] - some.root[0, :2] for some in (wild, walk))
    assert "given back" in wild.door.assumed["travel"]
    assert np.linalg.norm(way - wanted) < 0.12 * np.linalg.norm(wanted)
    assert np.linalg.norm((left.root[-1] - left.root[0])[:2]) < 0.05
    assert examine(path).foot_slide_m_s < 0.3 * examine(f"{path}?travel=false").foot_slide_m_s


@pytest.mark.parametrize("name", ["walk", "idle", "punch", "kick", "jump", "walk_turn", "box_left", "get_up_front"])
def test_who_travels_or_stands_is_not_taken_for_a_walk_in_place(name: str) -> None:
    assert not {"travel", "frame time", "spikes"} & set(load_clip(name).door.assumed)
