"""The compiled kernel does what the laws say, on the real engine."""

import mujoco
import numpy as np
import pytest

from stunt.control.core.board import COUPLINGS, FULL, PASSIVE
from stunt.drive.beats.performer import Performer
from stunt.maths.flat import factor, solve
from stunt.motion.pose import Pose
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

HANGING = (0.0, 0.0, 0.5)


def stage_of(body="human39", hz=480.0, root="fixed", at=HANGING, **scene):
    spec = CharacterSpec(body, root=root, at=at, self_collision=False)
    return StageLoop(Scene(characters={"ada": spec}, physics_hz=hz, control_hz=hz, **scene))


def random_goal(stage, seed, share=0.5):
    rng = np.random.default_rng(seed)
    angles = {}
    for name, joint in stage.characters["ada"].joints.items():
        low, high = joint.range
        angles[name] = rng.uniform(share * low, share * high)
    return Pose("random", angles)


def test_full_coupling_gives_every_joint_exactly_the_acceleration_the_law_asks_for():
    stage = stage_of()
    performer = Performer(stage, "ada")
    performer.key(random_goal(stage, 0, 0.2), at=1.0)
    stage.advance(60)
    before = stage.data.qvel.copy()
    stage.advance(1)
    assert not stage.board.saturated.any()
    measured = (stage.data.qvel - before) / stage.step_time
    assert measured == pytest.approx(stage.board.acceleration, abs=1e-8)


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("root", ["fixed", "free"])
def test_no_coupling_level_blows_up_at_120_hz(coupling, root):
    stage = stage_of(hz=120.0, root=root, at=(0, 0, 0))
    performer = Performer(stage, "ada", coupling=coupling)
    for beat in range(4):
        performer.key(random_goal(stage, beat, 0.6), at=0.35 * (beat + 1))
    stage.step(2.0)  # raises where it blows up
    assert np.abs(stage.data.qvel).max() < 100.0


def test_torques_never_exceed_the_strength_under_full_coupling():
    stage = stage_of()
    performer = Performer(stage, "ada")
    performer.key(random_goal(stage, 1, 0.9), at=0.12)
    peak = np.zeros(stage.model.nv)
    for _ in range(80):
        stage.advance(1)
        peak = np.maximum(peak, np.abs(stage.board.torque))
    assert np.all(peak <= stage.board.limit + 1e-9)
    assert np.any(peak >= stage.board.limit - 1e-9)
    assert performer.results[0].saturated


def test_internal_torques_leave_the_momentum_of_a_falling_body_alone():
    stage = stage_of(root="free", at=(0, 0, 3.0), ground=False)
    performer = Performer(stage, "ada")
    performer.key(random_goal(stage, 2, 0.4), at=0.4)
    total = np.zeros(6)

    def momentum():
        mujoco.mj_forward(stage.model, stage.data)
        mujoco.mj_subtreeVel(stage.model, stage.data)
        root = stage.characters["ada"].root_body
        total[:3] = stage.data.subtree_linvel[root] * stage.characters["ada"].mass
        total[3:] = stage.data.subtree_angmom[root]
        return total.copy()

    start = momentum()
    stage.step(0.4)
    end = momentum()
    fall = stage.characters["ada"].mass * -9.81 * 0.4
    assert end[:3] == pytest.approx(start[:3] + [0, 0, fall], abs=0.05)
    assert end[3:] == pytest.approx(start[3:], abs=0.15)
    # A leaping body's joints still meet the beat: what nobody drives was eliminated, not assumed fixed.
    assert performer.results[0].error_deg < 0.3


def test_passive_joints_swing_while_the_others_arrive():
    stage = stage_of()
    performer = Performer(stage, "ada")
    character = stage.characters["ada"]
    loose = [name for name in character.joints if name.startswith("l_")]
    for name in loose:
        stage.board.law[character.joints[name].id] = PASSIVE
    performer.key(Pose.degrees("reach", r_shoulder_flexion=90, r_elbow_flexion=40, lumbar_rotation=20), at=0.5)
    stage.step(0.5)
    assert performer.results[0].error_deg < 0.05
    assert not np.any(stage.board.torque[[character.joints[name].dof for name in loose]])
    swung = [abs(stage.data.qpos[character.joints[name].qpos]) for name in loose]
    assert max(swung) > 0.01


def test_ball_joints_arrive_like_hinges():
    stage = StageLoop(Scene(characters={"ada": CharacterSpec("tests/character/models/dragon.xml", at=(0, 0, 2))}))
    character = stage.characters["ada"]
    balls = [character.joints[name] for name in ("wing_l", "wing_r")]
    assert all(joint.kind == "ball" for joint in balls)
    angle = 0.4
    pose = Pose("turned", {joint.name: (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0) for joint in balls})
    for coupling in COUPLINGS:
        stage = StageLoop(stage.built)
        performer = Performer(stage, "ada", coupling=coupling)
        performer.key(pose, at=0.5)
        stage.step(0.5)
        assert performer.results[0].error_deg < (2.0 if coupling == "local" else 0.5), coupling


def test_a_standing_body_holds_its_pose_on_its_own_feet():
    stage = stage_of(root="free", at=(0, 0, 0))
    Performer(stage, "ada", tension=0.4)
    stage.step(3.0)
    root = stage.characters["ada"].root
    assert stage.board.grounded.any()
    assert stage.data.qpos[root.qpos + 2] > 0.85
    assert stage.board.law[stage.characters["ada"].joints["l_ankle_flexion"].id] == FULL


def test_the_small_solver_solves():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(5, 5))
    a = a @ a.T + np.eye(5)
    b = rng.normal(size=5)
    x = b.copy()
    flat = a.ravel().copy()
    factor(flat, 0, 5)
    solve(flat, 0, 5, x, 0)
    assert a @ x == pytest.approx(b)


def test_control_slower_than_physics_still_arrives():
    scene = Scene(characters={"ada": CharacterSpec("human39", at=HANGING)}, physics_hz=960, control_hz=120)
    stage = StageLoop(scene)
    performer = Performer(stage, "ada")
    performer.key(Pose.degrees("reach", r_shoulder_flexion=90, r_elbow_flexion=40), at=0.5)
    stage.step(0.5)
    assert performer.results[0].error_deg < 0.3
