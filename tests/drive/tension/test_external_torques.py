"""What is felt in a state, and whether loose joints would hold there, with hinges, ball joints and things carried."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stunt
from stunt.control.tension.units import Tension
from stunt.drive.tension.external_torques import ExternalTorques, Load
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import ByJoint, TensionPart
from stunt.drive.tension.warnings import foresee
from stunt.stage.scene import Scene

DRAGON = str(Path(__file__).parents[2] / "character" / "models" / "dragon.xml")
# A pole on a ball joint, standing upright: gravity's torque grows by m·g·l = 2 · 9.81 · 0.5 per radian of tilt.
POLE = """
<mujoco><compiler angle="radian"/><worldbody><body name="pole"><joint name="ball" type="ball" range="0 2"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0 0 1" mass="2"/></body></worldbody></mujoco>
"""
TIPS = 2.0 * 9.81 * 0.5


@pytest.fixture
def pole(tmp_path: Path) -> str:
    path = tmp_path / "pole.xml"
    path.write_text(POLE)
    return str(path)


def numeric_gradient(weigher: ExternalTorques, model: mujoco.MjModel, qpos, dofs, loads, step=1e-5):
    """∂F/∂θ by central differences; a ball joint's torque is taken against its rotation vector, in its own frame."""
    columns = []
    for dof in dofs:
        sides = []
        for sign in (1.0, -1.0):
            moved, tangent = np.array(qpos), np.zeros(model.nv)
            tangent[dof] = sign * step
            mujoco.mj_integratePos(model, moved, tangent, 1.0)
            sides.append(weigher.torques(moved, loads)[dofs])
        columns.append((sides[0] - sides[1]) / (2.0 * step))
    return np.array(columns).T


@pytest.mark.parametrize("body", ["torso28", DRAGON])
def test_the_gradient_is_that_of_the_torques_with_what_is_carried(body: str) -> None:
    stage = stunt.Stage(Scene(characters={"it": stunt.CharacterSpec(body=body, at=(0, 0, 2))}, ground=False))
    model, rng, it = stage.model, np.random.default_rng(3), stage.character("it")
    tangent = np.zeros(model.nv)
    tangent[it.dofs] = rng.uniform(-0.4, 0.4, len(it.dofs))
    qpos = np.array(stage.data.qpos)
    mujoco.mj_integratePos(model, qpos, tangent, 1.0)
    dofs = [joint.dof + k for joint in it.joints.values() for k in range(joint.nv)]
    loads = [Load(model.nbody - 1, (0.1, 0.05, -0.02), 3.0)]
    weigher = ExternalTorques(model)
    exact = numeric_gradient(weigher, model, qpos, dofs, loads)
    weigher.torques(qpos, loads)
    ours = weigher.gradient(dofs)
    # A ball joint's own frame turns with it, which adds an antisymmetric part that stability does not see.
    exact = 0.5 * (exact + exact.T)
    assert np.abs(ours - exact).max() < 1e-4 * np.abs(exact).max()


@pytest.mark.parametrize(("tension", "falls"), [(0.7 * TIPS, True), (1.3 * TIPS, False)])
def test_a_ball_joint_too_loose_is_foreseen_and_falls(pole: str, tension: float, falls: bool) -> None:
    stage = stunt.Stage(Scene(characters={"it": stunt.CharacterSpec(body=pole)}, ground=False))
    stiff = ByJoint({"all": Tension(1e3, "stiffness")})
    performer = TensionPerformer(stage, "it", TensionPart(tension=stiff, steady=False))
    performer.play(
        stunt.Pose("up", {"ball": (1.0, 0.0, 0.0, 0.0)}), lasts=0.1, tension=Tension(tension, "stiffness"),
        update=ByJoint({"all": "prediction"}),
    )  # fmt: skip
    found = [finding for finding in foresee(performer, list(performer._waiting)) if finding.kind == "unstable"]
    assert bool(found) == falls
    if found:
        assert found[0].least == pytest.approx(TIPS, rel=0.01)
    stage.step(0.2)
    stage.data.qpos[:4] = math.cos(0.005), math.sin(0.005), 0.0, 0.0
    stage.step(12.0)
    tilt = 2.0 * math.acos(min(1.0, abs(float(stage.data.qpos[0]))))
    print(f"{tension:.1f} N·m/rad: {math.degrees(tilt):.2f}° after a touch of 0.57°")
    assert (tilt > 0.1) == falls


def test_what_will_be_carried_counts_before_it_is_taken() -> None:
    pose = {"angles": {"r_shoulder_flexion": 170}, "tension": "40 N·m/rad", "update": "prediction", "at": 1}
    data = {
        "characters": {"ada": {"body": "torso28", "start": {"r_shoulder_flexion": 170}}}, "seconds": 3,
        "props": {"bell": {"shape": "sphere", "radius": 0.05, "mass": 6, "at": [0.15, -0.2, 2.0]}},
        "performance": {"ada": {"tension_poses": {"poses": [pose]}}},
    }  # fmt: skip
    empty = stunt.Performance(stunt.script_from_data(data))
    taken = {**data, "events": [{"attach": "bell", "to": "ada/r_hand", "at": 0.5}]}
    loaded = stunt.Performance(stunt.script_from_data(taken))
    late = {**data, "events": [{"attach": "bell", "to": "ada/r_hand", "at": 2.9}]}
    too_loose = [
        [w for w in performance.warnings if "r_shoulder_flexion" in w and "tips" in w]
        for performance in (empty, loaded, stunt.Performance(stunt.script_from_data(late)))
    ]
    print(too_loose)
    assert [len(warnings) > 0 for warnings in too_loose] == [False, True, False]
