"""Drivers beside mechanics: what a motion takes, what a load weighs, where a warped pose is, beats between steps."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

import stunt
from stunt.drive.beats.performer import state_at
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.drive.prepare.feed_forward import foreseen_torques
from stunt.drive.tension.external_torques import ExternalTorques, Load
from stunt.drive.tension.performer import TensionPerformer
from stunt.library.names import load_clip
from stunt.motion.transition import preset
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

FPS = 60.0


def waving(stage: StageLoop) -> BodyMotion:
    """Somebody who stands still and turns one elbow to and fro."""
    character = stage.character("a")
    pose = motion_of_clip(load_clip("idle"), character).qpos[0]
    qpos = np.tile(pose, (121, 1))
    elbow = character.joint("l_elbow")
    at = elbow.qpos - character.root.qpos
    for k in range(len(qpos)):
        turn = np.array([0.0, -0.5 * np.sin(2.0 * np.pi * k / FPS), 0.0])
        mujoco.mju_quatIntegrate(qpos[k, at : at + 4], turn, 1.0)
    return BodyMotion("wave", FPS, qpos)


def test_what_a_motion_takes_is_newtons_law_and_the_ground_carries_the_rest() -> None:
    stage = StageLoop(Scene({"a": CharacterSpec("idle", root="free")}))
    model, motion, data = stage.model, waving(stage), mujoco.MjData(stage.model)
    found = foreseen_torques(model, stage.character("a"), motion)
    arm = [d for d in range(6, model.nv) if model.body(int(model.dof_bodyid[d])).name.split("/")[-1].startswith("l_")]
    arm = [d for d in arm if any(word in model.body(int(model.dof_bodyid[d])).name for word in ("forearm", "hand"))]
    wrong, size = 0.0, 0.0
    for k in range(20, 100, 10):
        paces = []
        for j in (k - 2, k, k + 2):
            pace = np.zeros(model.nv)
            mujoco.mj_differentiatePos(model, pace, 2.0 / FPS, motion.qpos[j - 1], motion.qpos[j + 1])
            paces.append(pace)
        data.qpos[:], data.qvel[:], data.qacc[:] = motion.qpos[k], paces[1], (paces[2] - paces[0]) * FPS / 4.0
        flags = int(model.opt.disableflags)
        model.opt.disableflags = flags | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        mujoco.mj_inverse(model, data)
        model.opt.disableflags = flags
        wrong = max(wrong, float(np.abs(found[k, np.array(arm) - 6] - data.qfrc_inverse[arm]).max()))
        size = max(size, float(np.abs(data.qfrc_inverse[arm]).max()))
    assert wrong < 0.1 * size and size > 0.5
    # Two legs that stand carry the trunk: without the ground's push the hips alone would have to hold all of it up.
    legs = [d for d in range(6, model.nv) if "thigh" in model.body(int(model.dof_bodyid[d])).name]
    assert np.abs(found[:, np.array(legs) - 6]).max() < 0.25 * stage.character("a").mass * 9.81 * 0.5


def test_what_weighs_on_joints_is_the_slope_of_potential_energy_with_what_is_carried() -> None:
    stage = stunt.Stage(Scene({"it": stunt.CharacterSpec("torso28")}, ground=False))
    model, rng = stage.model, np.random.default_rng(2)
    hand = stage.character("it").bodies["r_hand"]
    loads = [Load(hand, (0.05, 0.02, -0.08), 3.0)]
    qpos = stage.data.qpos + rng.uniform(-0.3, 0.3, model.nq)

    def energy(where: np.ndarray) -> float:
        data = mujoco.MjData(model)
        data.qpos[:] = where
        mujoco.mj_kinematics(model, data)
        held = data.xpos[hand] + data.xmat[hand].reshape(3, 3) @ np.array(loads[0].point)
        return float(9.81 * (model.body_mass @ data.xipos[:, 2] + 3.0 * held[2]))

    slope = [(energy(qpos + step) - energy(qpos - step)) / 2e-5 for step in 1e-5 * np.eye(model.nq)]
    assert ExternalTorques(model).torques(qpos, loads) == pytest.approx(-np.array(slope), abs=1e-4)


@pytest.mark.parametrize(("warp", "late"), [(2.0, True), (-2.0, False)])
def test_a_warped_pose_is_on_the_other_side_of_half_its_way_at_half_its_time(warp: float, late: bool) -> None:
    stage = stunt.Stage(Scene({"ada": stunt.CharacterSpec("torso28", self_collision=False)}, ground=False))
    performer = TensionPerformer(stage, "ada")
    pose = stunt.Pose.degrees("up", r_elbow_flexion=80)
    performer.play(pose, lasts=1.0, tension="firm", curve=preset("ease", warp))
    stage.step(0.5)
    joint = performer.character.joints["r_elbow_flexion"]
    row = performer.program.rows[joint.dof]
    assert (row["progress"] < 0.4) if late else (row["progress"] > 0.6)
    asked = np.degrees(stage.board.goal[joint.qpos])
    assert (asked < 35.0) if late else (asked > 45.0)


def test_a_moment_between_two_steps_is_on_the_line_between_them() -> None:
    stage = StageLoop(Scene({"a": CharacterSpec("idle", root="free")}))
    rng, model = np.random.default_rng(0), stage.model
    before = (0.10, stage.data.qpos.copy(), rng.normal(size=model.nv))
    after, turned = rng.normal(size=model.nv), stage.data.qpos.copy()
    way = rng.normal(0.0, 0.1, model.nv)
    mujoco.mj_integratePos(model, turned, way, 1.0)
    now = SimpleNamespace(time=0.12, model=model, data=SimpleNamespace(qpos=turned, qvel=after))
    for share in (0.25, 0.75):
        qpos, qvel = state_at(now, 0.10 + 0.02 * share, before)  # type: ignore[arg-type]
        there = before[1].copy()
        mujoco.mj_integratePos(model, there, way, share)
        assert qpos == pytest.approx(there, abs=1e-9)
        assert qvel == pytest.approx((1.0 - share) * before[2] + share * after)
