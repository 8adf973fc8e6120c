"""The readable recursion and the engine agree."""

import mujoco
import numpy as np
import pytest

from papers.p0.inertia import composite_inertias, inertia_matrix, joint_moments
from stunt.character.bodies import BUILT_IN, make_body

DRAGON = "tests/character/models/dragon.xml"


def random_pose(model, seed):
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    step = rng.normal(size=model.nv)
    mujoco.mj_integratePos(model, data.qpos, step, 1.0)
    mujoco.mj_forward(model, data)
    return data


def engine_matrix(model, data):
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    return full


@pytest.mark.parametrize("body", BUILT_IN)
@pytest.mark.parametrize("root", ["fixed", "free"])
def test_the_recursion_agrees_with_the_engines_inertia_matrix(body, root):
    if body == "torso28" and root == "free":
        pytest.skip("torso28 is fixed by design")
    model = make_body(body, root=root).compile()
    for seed in range(3):
        data = random_pose(model, seed)
        matrix = engine_matrix(model, data)
        assert np.abs(inertia_matrix(model, data) - matrix).max() < 1e-9
        assert np.abs(joint_moments(model, data) - np.diag(matrix)).max() < 1e-9


def test_ball_and_slide_joints_agree_too():
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><worldbody><body><joint type="slide" axis="1 0 1"/><geom size=".1" mass="2"/>
      <body pos=".3 0 0"><joint type="ball"/><geom type="box" size=".1 .2 .05" pos=".1 0 .2" mass="1.5"/>
        <body pos="0 .2 0"><joint axis="0 1 0" pos=".1 0 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 .1 0"/>
    </body></body></body></worldbody></mujoco>""")
    data = random_pose(model, 0)
    assert np.abs(inertia_matrix(model, data) - engine_matrix(model, data)).max() < 1e-9


def test_the_root_composite_is_the_whole_body():
    model = make_body("human39", root="free", mass=70).compile()
    data = random_pose(model, 1)
    whole = composite_inertias(model, data)[1]
    assert whole.mass == pytest.approx(70)
    assert whole.center == pytest.approx(data.subtree_com[1])


def test_a_bent_arm_is_easier_to_swing_and_the_own_link_is_only_part_of_it():
    model = make_body("human39").compile()
    data = mujoco.MjData(model)
    shoulder = model.joint("r_shoulder_flexion").dofadr[0]
    moments = {}
    for name, angle in (("straight", 0.0), ("bent", 2.0)):
        data.qpos[model.joint("r_elbow_flexion").qposadr[0]] = angle
        mujoco.mj_forward(model, data)
        moments[name] = joint_moments(model, data)[shoulder]
        assert joint_moments(model, data, composite=False)[shoulder] < moments[name]
    assert moments["bent"] < 0.6 * moments["straight"]
