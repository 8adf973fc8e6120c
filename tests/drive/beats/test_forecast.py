"""Forecasts of beats: the dynamics behind them, what counts as feasible, and what is said about the rest."""

import math

import mujoco
import numpy as np
import pytest

import stunt
from stunt.character.character import Character
from stunt.drive.beats.forecast import (
    BeatForecast,
    _shares,
    forecast,
    inverse_dynamics,
    minimum_jerk_path,
    warnings_for,
)
from stunt.drive.beats.spec import ResolvedBeat
from stunt.errors import BeatOrderError, UnknownNameError
from stunt.maths import rotations
from stunt.motion.pose import Pose

ARM = """
<mujoco>
  <compiler angle="radian"/>
  <option integrator="discrete" timestep="0.01"/>
  <default><joint armature="0.01"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="ada/trunk" pos="0 0 0.2">ROOT
      <geom type="box" size="0.1 0.1 0.1" mass="10"/>
      <body name="ada/upper" pos="0 0 0.1">
        <joint name="ada/shoulder" type="hinge" axis="0 1 0" range="-2 2" actuatorfrcrange="-60 60" stiffness="500"
          damping="30"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04" mass="2"/>
        <body name="ada/lower" pos="0.3 0 0">
          <joint name="ada/elbow" type="hinge" axis="0 1 0" range="-0.1 2.5" actuatorfrcrange="-30 30"/>
          <geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.03" mass="1.2"/>
          <body name="ada/hand" pos="0.25 0 0">
            <joint name="ada/wrist" type="ball" range="0 1.2"/>
            <geom type="box" size="0.06 0.03 0.02" pos="0.08 0.01 0" mass="0.5"/>
          </body>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.3 0 0.3"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>
  </worldbody>
</mujoco>
"""


def arm(root=""):
    return mujoco.MjModel.from_xml_string(ARM.replace("ROOT", root))


def rest(model):
    return model.qpos0.copy(), np.zeros(model.nv)


def key(time, velocities=None, **angles):
    return ResolvedBeat(0, time, Pose("up", angles, velocities or {}), hold=0.5)


def test_inverse_dynamics_is_inertia_times_acceleration_plus_bias_in_spite_of_contacts_and_springs():
    model = arm()
    rng = np.random.default_rng(0)
    q, v, a = model.qpos0.copy(), rng.normal(size=model.nv), rng.normal(size=model.nv)
    q[2] = 2.4  # deep in contact
    force = inverse_dynamics(model, q[None], v[None], a[None])[0]
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    expected = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, expected, a)
    np.testing.assert_allclose(force, expected + data.qfrc_bias, atol=1e-9)
    assert data.ncon > 0 and model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE


def test_applying_the_forecast_forces_reproduces_the_path():
    model = arm()
    model.jnt_stiffness[:], model.dof_damping[:] = 0, 0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 0.01
    turn = tuple(rotations.from_rotation_vector([0.3, -0.5, 0.4]))
    keys = [key(0.4, {"shoulder": 1.0, "wrist": (1.0, 0.0, -1.0)}, shoulder=-1.0, elbow=1.2, wrist=turn)]
    path = minimum_jerk_path(Character(model, "ada"), *rest(model), keys)
    forces = inverse_dynamics(model, path.qpos, path.qvel, path.qacc)
    data = mujoco.MjData(model)
    for k in range(len(path.time) - 1):
        data.qfrc_applied[:] = 0.5 * (forces[k] + forces[k + 1])
        mujoco.mj_step(model, data)
    error = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, error, 1.0, data.qpos, path.qpos[-1])
    assert np.abs(error[:5]).max() < math.radians(0.5)


def test_path_passes_every_key_with_its_velocity_and_each_joint_keeps_its_own_keys():
    model = arm()
    character = Character(model, "ada")
    keys = [key(0.3, elbow=0.5), key(0.7, {"shoulder": 2.0}, shoulder=0.8), key(1.0, elbow=1.0, shoulder=0.2)]
    path = minimum_jerk_path(character, *rest(model), keys)
    shoulder, elbow = character.joint("shoulder"), character.joint("elbow")
    end = [np.flatnonzero(path.beat == i)[-1] for i in range(3)]
    np.testing.assert_allclose(path.qpos[end, elbow.qpos], [0.5, path.qpos[end[1], elbow.qpos], 1.0], atol=1e-12)
    np.testing.assert_allclose(path.qpos[end[1:], shoulder.qpos], [0.8, 0.2], atol=1e-12)
    np.testing.assert_allclose(path.qvel[end, shoulder.dof], [path.qvel[end[0], shoulder.dof], 2.0, 0.0], atol=1e-10)
    assert 0 < path.qpos[end[0], shoulder.qpos] < 0.8, "the shoulder is already on its way at the first beat"
    assert 0.5 < path.qpos[end[1], elbow.qpos] < 1.0


def test_a_joint_without_a_next_key_holds_still():
    model = arm()
    path = minimum_jerk_path(Character(model, "ada"), *rest(model), [key(0.3, elbow=0.5), key(0.6, shoulder=0.5)])
    late = path.beat == 1
    elbow = Character(model, "ada").joint("elbow")
    np.testing.assert_array_equal(path.qpos[late, elbow.qpos], 0.5)
    np.testing.assert_array_equal(path.qacc[late, elbow.dof], 0.0)


def test_a_slow_beat_is_feasible_and_a_sudden_one_is_not():
    model = arm()
    slow, sudden = (forecast(model, Character(model, "ada"), *rest(model), [key(t, shoulder=-1.5)]) for t in (2.0, 0.1))
    assert slow[0].feasible and 0 < slow[0].worst_share < 1
    assert not sudden[0].feasible and sudden[0].worst_joint == "shoulder" and sudden[0].worst_share > 1


def test_holding_still_costs_what_gravity_asks():
    model = arm()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    beat = forecast(model, Character(model, "ada"), *rest(model), [key(0.5, shoulder=0.0)])[0]
    assert beat.worst_share == pytest.approx(abs(data.qfrc_bias[0]) / 60, rel=1e-9)


def test_threshold_moves_the_verdict_but_not_the_share():
    model = arm()
    arguments = (model, Character(model, "ada"), *rest(model), [key(0.5, shoulder=0.0)])
    strict, loose = forecast(*arguments, threshold=0.1)[0], forecast(*arguments)[0]
    assert loose.feasible and not strict.feasible and strict.worst_share == loose.worst_share


def test_a_path_that_swings_past_a_limit_is_infeasible_by_that_much():
    model = arm()
    fast = {"elbow": 1.0}
    beat = forecast(model, Character(model, "ada"), *rest(model), [key(1.0, fast, elbow=-0.1)])[0]
    t = np.linspace(0, 1, 10001)
    s = -0.1 * (10 * t**3 - 15 * t**4 + 6 * t**5) + (-4 * t**3 + 7 * t**4 - 3 * t**5)
    assert not beat.feasible and beat.limit_joint == "elbow"
    assert beat.limit_excess_deg == pytest.approx(math.degrees(-0.1 - s.min()), abs=0.01)


def test_a_key_on_the_limit_itself_is_inside():
    model = arm()
    beat = forecast(model, Character(model, "ada"), *rest(model), [key(1.0, elbow=-0.1)])[0]
    assert beat.feasible and beat.limit_joint == ""


def test_a_ball_joint_is_limited_in_its_angle():
    model = arm()
    inside, beyond = (tuple(rotations.from_rotation_vector([0, 0, a])) for a in (1.1, 1.3))
    beats = forecast(model, Character(model, "ada"), *rest(model), [key(1.0, wrist=inside), key(2.0, wrist=beyond)])
    assert [beat.feasible for beat in beats] == [True, False]
    assert beats[1].limit_joint == "wrist" and beats[1].limit_excess_deg == pytest.approx(math.degrees(0.1))


def test_a_beat_answers_for_its_joints_whole_way_from_their_previous_keys():
    model = arm()
    swing = {"elbow": 3.0}
    keys = [key(0.5, shoulder=0.0), key(2.0, shoulder=0.0, elbow=0.0, velocities=swing)]
    character, (qpos, qvel) = Character(model, "ada"), rest(model)
    qvel[character.joint("elbow").dof] = -1.0  # swings past its limit before the first beat, on its way to the second
    first, second = forecast(model, character, qpos, qvel, keys)
    assert first.limit_joint == "elbow" and second.limit_joint == "elbow"
    assert second.limit_excess_deg >= first.limit_excess_deg


def test_a_free_root_is_held():
    fixed, free = arm(), arm('<freejoint name="ada/root"/>')
    keys = [key(0.4, shoulder=-1.0, elbow=1.0)]
    beats = [forecast(m, Character(m, "ada"), *rest(m), keys, threshold=0.9)[0] for m in (fixed, free)]
    assert beats[0].worst_share == pytest.approx(beats[1].worst_share)


def test_times_that_do_not_increase_and_unknown_joints_are_refused():
    model = arm()
    character = Character(model, "ada")
    with pytest.raises(BeatOrderError, match="must increase"):
        forecast(model, character, *rest(model), [key(0.5, elbow=0.1), key(0.5, elbow=0.2)])
    with pytest.raises(UnknownNameError, match="Did you mean 'elbow'"):
        forecast(model, character, *rest(model), [key(0.5, elbo=0.1)])


def test_no_beats_have_no_forecasts():
    model = arm()
    assert forecast(model, Character(model, "ada"), *rest(model), []) == ()


def test_joints_outside_the_part_are_not_judged():
    model = arm()
    arguments = (model, Character(model, "ada"), *rest(model), [key(0.2, elbow=2.0)])
    everyone, shoulder_only = forecast(*arguments)[0], forecast(*arguments, joints=("shoulder",))[0]
    assert everyone.worst_joint == "elbow" and shoulder_only.worst_joint == "shoulder"
    assert 0 < shoulder_only.worst_share < everyone.worst_share


def test_warnings_are_sentences_about_what_is_missing():
    fine = BeatForecast(0, 0.3, "low", True, "elbow", 0.2, "", 0.0)
    weak = BeatForecast(2, 1.2, "up", False, "r_shoulder_flexion", 1.354, "", 0.0)
    wide = BeatForecast(3, 1.5, "out", False, "elbow", 0.2, "elbow", 4.2)
    assert warnings_for([fine, weak, wide]) == [
        "beat 3 'up' at 1.20 s needs 135 % of r_shoulder_flexion's strength",
        "beat 4 'out' at 1.50 s: the smoothest way there takes elbow 4.2° past its limit",
    ]


def test_a_ball_joint_is_asked_for_the_length_of_its_torque():
    stage = stunt.Stage({"ada": stunt.Body("walk", at=(0.0, 0.0, 1.0))})
    hip = stage.character("ada").joints["l_hip"]
    forces = np.zeros((1, stage.model.nv))
    forces[0, hip.dof : hip.dof + 3] = 3.0, -4.0, 12.0
    assert hip.kind == "ball" and _shares([hip], forces)[0, 0] == pytest.approx(13.0 / hip.strength)
