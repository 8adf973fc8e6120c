"""Poses made by hand: dragged limbs reach, within their limits; a mirrored pose is the mirror image."""

import mujoco
import numpy as np
import pytest

from stunt.examples import example
from stunt.script.file import load_script
from stunt.script.performance import Performance
from stunt.studio.backstage.posing import Posing, mirrored

pytest.importorskip("mink", reason="the studio's extra is not installed")


@pytest.fixture(scope="module")
def posing():
    return Posing(Performance(load_script(example("ymca").path), foretell=False))


def place(posing, angles, body):
    return posing.poses(posing.qpos_of("dancer", angles))[posing.stage.character("dancer").body(body), :3]


GOALS = [("r_hand", (0.35, -0.25, 1.3)), ("l_hand", (0.1, 0.6, 1.5)), ("r_foot", (0.3, -0.15, 0.35))]


@pytest.mark.parametrize(("body", "goal"), GOALS)
def test_a_dragged_hand_or_foot_gets_where_it_is_dragged(posing, body, goal):
    angles = posing.reach("dancer", {}, body, (0.0, 0.0, 0.0), goal)
    off = np.linalg.norm(place(posing, angles, body) - goal)
    print(f"{body}: {1000 * off:.1f} mm off, {len(angles)} joints moved")
    assert off < 0.01
    assert all(name.startswith(body[:2]) for name in angles)  # the trunk and the other limbs keep still


def test_the_trunk_helps_where_the_arm_is_too_short(posing):
    goal = place(posing, {}, "r_hand") + [0.9, 0.0, 0.35]
    angles = posing.reach("dancer", {}, "r_hand", (0, 0, 0), goal)
    off = np.linalg.norm(place(posing, angles, "r_hand") - goal)
    print(f"{1000 * off:.0f} mm off, lumbar flexion {angles['lumbar_flexion']:.0f}°")
    assert "lumbar_flexion" in angles


def test_a_straight_arm_dragged_towards_its_shoulder_bends_at_the_elbow(posing):
    up = {"r_shoulder_abduction": 148.0, "r_elbow_flexion": 6.0, "lumbar_bend": 12.0}
    goal = place(posing, up, "r_hand") + [0.15, -0.15, -0.45]
    angles = posing.reach("dancer", up, "r_hand", (0, 0, 0), goal)
    assert np.linalg.norm(place(posing, angles, "r_hand") - goal) < 0.01
    assert angles["r_elbow_flexion"] > 40 and angles["lumbar_bend"] == 12.0


def test_limits_hold_where_the_goal_is_out_of_reach(posing):
    angles = posing.reach("dancer", {"r_elbow_flexion": 30.0}, "r_hand", (0, 0, 0), (3.0, -2.0, 3.0))
    joints = posing.stage.character("dancer").joints
    for name, angle in angles.items():
        low, high = np.degrees(joints[name].range)
        assert low - 0.1 <= angle <= high + 0.1, name


def test_a_mirrored_pose_is_the_mirror_image(posing):
    rng = np.random.default_rng(3)
    joints = posing.stage.character("dancer").joints
    pose = {n: float(np.degrees(rng.uniform(0.6 * j.range[0], 0.6 * j.range[1]))) for n, j in joints.items()}
    assert mirrored(mirrored(pose)) == pose
    for body in ("l_hand", "r_hand", "l_foot", "head"):
        other = {"l": "r", "r": "l"}.get(body[0], body[0]) + body[1:] if body[1] == "_" else body
        here, there = place(posing, pose, body), place(posing, mirrored(pose), other)
        assert here * [1, -1, 1] == pytest.approx(there, abs=1e-6), body


def test_posing_leaves_the_stage_alone(posing):
    before = posing.stage.data.qpos.copy()
    posing.reach("dancer", {}, "l_hand", (0, 0, 0), (0.3, 0.3, 1.2))
    assert np.array_equal(posing.stage.data.qpos, before)
    assert isinstance(posing.model, mujoco.MjModel)
