"""Joints that nobody drives swing out as their damping says, by limb, joint or pattern, on any body."""

import numpy as np
import pytest

import stunt
from stunt.errors import StuntError


@pytest.mark.parametrize("body", ["human39", "walk"])
def test_a_limbs_joints_have_the_damping_they_are_told_and_the_others_their_own(body):
    usual, stage = (
        stunt.Stage({"ada": stunt.Body(body)}),
        stunt.Stage({"ada": stunt.Body(body, damping={"r_arm": 2.5})}),
    )
    told = 0
    for name, joint in stage.character("ada").joints.items():
        own = slice(joint.dof, joint.dof + joint.nv)
        arm = name.startswith(("r_shoulder", "r_elbow", "r_wrist", "r_clavicle", "r_forearm"))
        told += arm
        expected = 2.5 if arm else usual.model.dof_damping[own]
        assert stage.model.dof_damping[own] == pytest.approx(expected), name
    assert told >= 4


def test_a_passive_forearm_swings_out_as_a_damped_pendulum_does():
    """Beside the closed form: θ̈ = −(d/m)·θ̇ without gravity, which fades as exp(−d·t/m)."""
    scene = stunt.Scene({"ada": stunt.Body("human39", damping={"*": 1e6, "r_elbow_flexion": 0.4}, self_collision=False,
                                           start={"r_elbow_flexion": 1.0}, at=(0, 0, 1))},
                        gravity=(0, 0, 0), physics_hz=2000, control_hz=2000)  # fmt: skip
    stage = stunt.Stage(scene)
    joint, data, model = stage.character("ada").joints["r_elbow_flexion"], stage.data, stage.model
    moment = data.M[model.M_rowadr[joint.dof] + model.M_rownnz[joint.dof] - 1]
    data.qvel[joint.dof] = 1.0
    stage.run(0.05)
    assert np.log(data.qvel[joint.dof]) == pytest.approx(-0.4 * 0.05 / moment, rel=0.03)


def test_a_script_says_it_too_and_what_it_cannot_mean():
    def script(**damping):
        data = {"characters": {"ada": {"body": "human39", "damping": damping}}, "seconds": 0.1}
        return stunt.script_from_data(data)

    one = script(arms=2, r_wrist_flexion=0.5)
    assert stunt.script_from_data(stunt.script_to_data(one)) == one
    stage = stunt.Performance(one).stage
    assert stage.model.dof_damping[stage.character("ada").joints["r_wrist_flexion"].dof] == pytest.approx(0.5)
    with pytest.raises(StuntError, match="r_amr"):
        stunt.Performance(script(r_amr=2))
    with pytest.raises(StuntError, match="least 0|0 or more"):
        script(arms=-1)
