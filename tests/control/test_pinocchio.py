"""Forward dynamics of our bodies against an implementation that shares no line with the engine."""

import mujoco
import numpy as np
import pytest

from stunt.character.bodies import make_body

pin = pytest.importorskip("pinocchio", reason="Pinocchio (`pip install pin`) is what forward dynamics is compared with")
FREE, HINGE = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_HINGE)


def placed(position, quaternion=(1.0, 0.0, 0.0, 0.0)):
    return pin.SE3(pin.Quaternion(*(float(x) for x in quaternion)).matrix(), np.asarray(position, float))


def twin(model):
    """Build the same tree, hinge by hinge: several hinges of one body become links without mass."""
    tree = pin.Model()
    tree.gravity.linear = np.array(model.opt.gravity)
    frames = {0: (0, pin.SE3.Identity())}  # of each body: the joint that carries it, and where it is from there
    for body in range(1, model.nbody):
        joint, offset = frames[int(model.body_parentid[body])]
        offset = offset * placed(model.body_pos[body], model.body_quat[body])
        for k in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            joint, offset = add_joint(tree, model, k, joint, offset)
        rotation = placed(np.zeros(3), model.body_iquat[body]).rotation
        about_centre = rotation @ np.diag(model.body_inertia[body]) @ rotation.T
        inertia = pin.Inertia(float(model.body_mass[body]), np.array(model.body_ipos[body]), about_centre)
        tree.appendBodyToJoint(joint, inertia, offset)
        frames[body] = (joint, offset)
    tree.armature = np.array(model.dof_armature)
    return tree


def add_joint(tree, model, k, parent, offset):
    if model.jnt_type[k] == FREE:
        return tree.addJoint(parent, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"joint {k}"), pin.SE3.Identity()
    assert model.jnt_type[k] == HINGE
    anchor, kind = placed(model.jnt_pos[k]), pin.JointModelRevoluteUnaligned(np.array(model.jnt_axis[k]))
    return tree.addJoint(parent, kind, offset * anchor, f"joint {k}"), anchor.inverse()


def acceleration(model, data, tree):
    """Return what Pinocchio makes of the engine's state and forces, in the engine's coordinates."""
    q, v, force = data.qpos - model.qpos0, data.qvel.copy(), data.qfrc_applied.copy()
    free = model.jnt_type[0] == FREE
    if free:  # velocity, force and acceleration of a free root are the body's own there, the world's here
        turn = placed(np.zeros(3), data.qpos[3:7]).rotation
        q[:7] = [*data.qpos[:3], *data.qpos[4:7], data.qpos[3]]
        v[:3], force[:3] = turn.T @ v[:3], turn.T @ force[:3]
    found = pin.aba(tree, tree.createData(), q, v, force)
    if free:
        found[:3] = turn @ (found[:3] + np.cross(v[3:6], v[:3]))
    return found


@pytest.mark.parametrize("body", ["human39", "human47"])
@pytest.mark.parametrize("root", ["fixed", "free"])
def test_forward_dynamics_agrees_with_pinocchio(body, root):
    model = make_body(body, root=root).compile()
    flags = mujoco.mjtDisableBit
    # Without what is not dynamics of the tree: contacts, limits, springs and dampers.
    for flag in (flags.mjDSBL_CONSTRAINT, flags.mjDSBL_SPRING, flags.mjDSBL_DAMPER):
        model.opt.disableflags |= flag
    tree, data, rng = twin(model), mujoco.MjData(model), np.random.default_rng(11)
    worst = 0.0
    for _ in range(50):
        data.qpos[:] = rng.uniform(-1.0, 1.0, model.nq)
        if root == "free":
            data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
        data.qvel[:] = rng.normal(size=model.nv)
        data.qfrc_applied[:] = 5.0 * rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        expected = acceleration(model, data, tree)
        worst = max(worst, float(np.abs(data.qacc - expected).max()))
    print(f"{body}, {root}: accelerations differ by {worst:.1e} rad/s² or m/s² at most")
    assert worst <= 1e-8
