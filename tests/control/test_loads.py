"""What is carried is felt as heavy as it is believed to be, by every law."""

import mujoco
import numpy as np
import pytest

import stunt
from stunt.control.core.board import COUPLINGS
from stunt.drive.tension.external_torques import ExternalTorques, Load

ONE, TWO = {"r_shoulder_flexion": 60, "r_elbow_flexion": 60}, {"r_shoulder_flexion": 20, "r_elbow_flexion": 90}


def performance(part, seconds=4.0, **load):
    ball = {"shape": "sphere", "radius": 0.05}
    data = {
        "rate": 480, "seconds": seconds,
        "characters": {"ada": {"body": "human39", "start": "one"}}, "poses": {"one": ONE, "two": TWO},
        "props": {"load": {"at": [0.45, -0.2, 1.2], "mass": 5, **(load if "shape" in load else ball | load)}},
        "performance": {"ada": part}, "events": [{"attach": "load", "to": "ada/r_hand", "at": 0}],
    }  # fmt: skip
    return stunt.Performance(stunt.script_from_data(data), foretell=False)


def beats(**part):
    return {**part, "beats": [{"pose": pose, "after": 1} for pose in ("one", "two", "one")]}


def at_end(take, pose=ONE):
    joints = take.cast.character("ada").joints
    return max(abs(np.degrees(take.qpos[-1, joints[name].qpos]) - angle) for name, angle in pose.items())


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_five_known_kilograms_cost_no_coupling_its_beats(coupling):
    take = performance(beats(coupling=coupling)).run()
    told = take.report()["characters"]["ada"]
    assert max(beat["error_deg"] for beat in told["beats"]) < 0.1 and at_end(take) < 1.0
    # What `local` leaves out, the pull of other limbs, sways a neck with or without a load.
    assert told["held_at_end"]["error_deg"] < (2.5 if coupling == "local" else 1.0)
    assert told["strength"]["peak_share"] < 1.0


def test_the_inertia_and_bias_felt_give_the_acceleration_asked_for():
    stage = performance(beats()).stage
    stage.step(1.2)
    before = stage.data.qvel.copy()
    stage.advance(1)
    joints = stage.characters["ada"].joints.values()
    dofs = [joint.dof + k for joint in joints for k in range(joint.nv)]
    measured = (stage.data.qvel - before)[dofs] / stage.step_time
    asked = stage.board.acceleration[dofs]
    assert np.abs(asked).max() > 3.0 and not stage.board.saturated.any()
    assert measured == pytest.approx(asked, abs=0.01 * np.abs(asked).max())


def test_the_bias_felt_is_that_of_a_rod_by_the_engines_jacobians():
    """In any state: Jᵀ·m(J̇·v − g) of its centre and Jᵀ·(I·J̇·v + ω × I·ω) of its turning."""
    rod = {"shape": "box", "size": [0.5, 0.1, 0.02], "at": [0.55, -0.25, 1.2]}
    stage = performance(beats(), **rod).stage
    stage.step(0.1)
    model, data, hand = stage.model, stage.data, stage.character("ada").bodies["r_hand"]
    body, rng = stage.built.props["load"].body, np.random.default_rng(5)
    data.qvel[: stage.character("ada").joints["l_hip_flexion"].dof] += rng.uniform(-4.0, 4.0, 21)
    mujoco.mj_forward(model, data)
    place, turn, velocity = data.xipos[body].copy(), data.ximat[body].reshape(3, 3).copy(), data.qvel.copy()
    jacobians = np.zeros((4, 3, model.nv))
    mujoco.mj_jac(model, data, *jacobians[:2], place, hand)
    mujoco.mj_jacDot(model, data, *jacobians[2:], place, hand)
    along, about, along_dot, about_dot = jacobians
    inertia, spin = turn @ np.diag(model.body_inertia[body]) @ turn.T, about @ velocity
    force = model.body_mass[body] * (along_dot @ velocity - model.opt.gravity)
    torque = inertia @ (about_dot @ velocity) + np.cross(spin, inertia @ spin)
    bias = data.qfrc_bias.copy()
    stage.advance(1)
    wanted = bias + along.T @ force + about.T @ torque
    assert np.abs(about.T @ np.cross(spin, inertia @ spin)).max() > 0.1
    assert stage.board.loaded_bias == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_what_is_believed_to_weigh_nothing_sags_by_what_its_weight_is_over_the_stiffness():
    show = performance(
        {"coupling": "composite", "beats": [{"pose": "one", "after": 1}]}, 6.0, mass=0.3, believed_mass=0
    )
    take, stage = show.run(), show.stage
    board, joints, hand = stage.board, stage.characters["ada"].joints, stage.model.body("ada/r_hand").id
    weigher = ExternalTorques(stage.model)
    held = Load(hand, weigher.local(stage.data.qpos, hand, stage.data.xipos[stage.built.props["load"].body]), 0.3)
    pull = weigher.torques(stage.data.qpos, [held]) - weigher.torques(stage.data.qpos)
    for name in ("r_shoulder_flexion", "r_elbow_flexion", "r_wrist_flexion"):
        joint = joints[name]
        sag = stage.data.qpos[joint.qpos] - board.goal[joint.qpos]
        assert sag == pytest.approx(pull[joint.dof] / board.stiffness[joint.dof], rel=0.1, abs=1e-3)
    told = take.report()
    assert told["characters"]["ada"]["held_at_end"]["error_deg"] > 5.0
    assert any("at the end" in sentence and "which holds" in sentence for sentence in told["warnings"])


@pytest.mark.parametrize("word", ["loose", "easy", "firm"])
def test_a_loose_arm_that_knows_its_load_is_tightened_and_stays_in_its_pose(word):
    poses = [
        {"pose": pose, "at": at, "lasts": 1, "tension": {"r_arm": word}}
        for at, pose in enumerate(("one", "two", "one"))
    ]
    show = performance({"tension_poses": {"tension": {"all": "firm", "r_arm": word}, "poses": poses}})
    take = show.run()
    raised = [event for event in take.events if event["kind"] == "tension_raised" and event.get("why") == "unstable"]
    assert at_end(take) < 5.0 and bool(raised) == (word != "firm")
