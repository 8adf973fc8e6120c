"""A small mannequin and a made-up performance, so that pictures and plots can be tested without simulating anything."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stunt.record.cast import Cast, CastJoint, CastMember
from stunt.record.take import Take

MANNEQUIN = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="ada/pelvis" pos="0 0 0.95">
      <freejoint name="ada/root"/>
      <geom type="ellipsoid" size=".11 .16 .12" rgba=".25 .35 .55 1"/>
      <body name="ada/thorax" pos="0 0 .14">
        <joint name="ada/lumbar_flexion" axis="0 1 0" range="-30 60"/>
        <geom type="capsule" fromto="0 -.08 .12 0 .08 .12" size=".13" rgba=".80 .36 .25 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 .1" size=".11" rgba=".80 .36 .25 1"/>
        <geom type="sphere" pos=".01 0 .47" size=".105" rgba=".86 .70 .58 1"/>
        <geom type="capsule" fromto="0 0 .25 0 0 .36" size=".05" rgba=".86 .70 .58 1"/>
        <body name="ada/l_upper_arm" pos="0 .2 .2">
          <joint name="ada/l_shoulder" type="ball"/>
          <geom type="capsule" fromto="0 .02 0 0 .04 -.27" size=".045" rgba=".80 .36 .25 1"/>
          <body name="ada/l_forearm" pos="0 .04 -.29">
            <joint name="ada/l_elbow_flexion" axis="0 -1 0" range="0 150"/>
            <geom type="capsule" fromto="0 0 0 0 0 -.24" size=".037" rgba=".86 .70 .58 1"/>
            <geom type="box" pos="0 0 -.33" size=".02 .04 .07" rgba=".86 .70 .58 1"/>
          </body>
        </body>
        <body name="ada/r_upper_arm" pos="0 -.2 .2">
          <joint name="ada/r_shoulder_abduction" axis="1 0 0" range="-30 180"/>
          <geom type="capsule" fromto="0 -.02 0 0 -.04 -.27" size=".045" rgba=".80 .36 .25 1"/>
          <body name="ada/r_forearm" pos="0 -.04 -.29">
            <joint name="ada/r_elbow_flexion" axis="0 -1 0" range="0 150"/>
            <geom type="capsule" fromto="0 0 0 0 0 -.24" size=".037" rgba=".86 .70 .58 1"/>
            <geom type="box" pos="0 0 -.33" size=".02 .04 .07" rgba=".86 .70 .58 1"/>
          </body>
        </body>
      </body>
      <geom type="capsule" fromto="0 .09 -.05 0 .1 -.43" size=".075" rgba=".25 .35 .55 1"/>
      <geom type="capsule" fromto="0 -.09 -.05 0 -.1 -.43" size=".075" rgba=".25 .35 .55 1"/>
      <geom type="capsule" fromto="0 .1 -.45 0 .1 -.83" size=".055" rgba=".25 .35 .55 1"/>
      <geom type="capsule" fromto="0 -.1 -.45 0 -.1 -.83" size=".055" rgba=".25 .35 .55 1"/>
      <geom type="box" pos=".05 .1 -.91" size=".13 .05 .04" rgba=".2 .2 .22 1"/>
      <geom type="box" pos=".05 -.1 -.91" size=".13 .05 .04" rgba=".2 .2 .22 1"/>
    </body>
    <body name="ball" pos=".6 .5 .12"><freejoint/><geom type="sphere" size=".12" rgba=".9 .6 .2 1"/></body>
  </worldbody>
</mujoco>
"""
HINGES = ("lumbar_flexion", "l_elbow_flexion", "r_shoulder_abduction", "r_elbow_flexion")
BEATS = ((0.4, "ready"), (0.8, "left up"), (1.2, "right up"), (1.6, "both up"))


def half_turn_share(angle: float) -> np.ndarray:
    """Return the rotation of the ball shoulder about x as a quaternion."""
    return np.array([np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0])


def mannequin_model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(MANNEQUIN)


def _move(model: mujoco.MjModel, time: np.ndarray) -> np.ndarray:
    qpos = np.tile(model.qpos0, (len(time), 1))
    wave = 0.5 - 0.5 * np.cos(np.pi * time / 0.8)
    qpos[:, model.joint("ada/l_shoulder").qposadr[0] :][:, :4] = [half_turn_share(2.5 * w) for w in wave]
    qpos[:, model.joint("ada/r_shoulder_abduction").qposadr[0]] = -2.5 * wave[::-1]
    qpos[:, model.joint("ada/r_elbow_flexion").qposadr[0]] = 1.2 * wave
    qpos[:, model.joint("ada/lumbar_flexion").qposadr[0]] = 0.3 * wave
    return qpos


def _character(model: mujoco.MjModel) -> CastMember:
    joints = {}
    for j in range(1, model.njnt - 1):
        name, ball = model.joint(j).name.removeprefix("ada/"), model.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL
        where, dof = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        joints[name] = CastJoint(name, "ball" if ball else "hinge", where, dof, strength=80.0)
    return CastMember("ada", "mannequin", "free", root_qpos=0, joints=joints)


def make_take(frames: int = 181, beats: tuple[tuple[float, str], ...] = BEATS) -> Take:
    model = mannequin_model()
    time = np.linspace(0.0, 1.8, frames)
    qpos = _move(model, time)
    target = qpos.copy()
    target[:, model.joint("ada/r_elbow_flexion").qposadr[0]] += np.radians(5.0)
    shoulder = model.joint("ada/l_shoulder").qposadr[0]
    for frame in range(frames):
        now = qpos[frame, shoulder : shoulder + 4]
        mujoco.mju_mulQuat(target[frame, shoulder : shoulder + 4], now, half_turn_share(0.1))
    target[:, :7] = np.nan
    shape = (frames, model.nv)
    gain = 20.0 + 400.0 * np.abs(np.sin(np.pi * time[:, None] / 0.4)) * np.linspace(0.1, 1.0, model.nv)
    raw = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, raw)
    return Take(
        time=time,
        qpos=qpos,
        qvel=np.zeros(shape),
        target=target,
        target_velocity=np.zeros(shape),
        torque=60.0 * np.sin(2 * np.pi * time)[:, None] * np.linspace(0.2, 1.0, model.nv),
        stiffness=gain,
        damping=gain / 10.0,
        saturated=np.zeros(shape, dtype=bool),
        assistance=np.zeros((frames, 1, 6)),
        contact_frame=np.empty(0, np.int32),
        contact_geoms=np.empty((0, 2), np.int32),
        contact_position=np.empty((0, 3)),
        contact_force=np.empty((0, 3)),
        model_bytes=raw,
        events=[
            {"kind": "beat", "time": t, "pose": pose, "character": "ada", "error_deg": 0.02 * (k + 1)}
            for k, (t, pose) in enumerate(beats)
        ],
        cast=Cast({"ada": _character(model)}),
        meta={"title": "Arms up", "mujoco": mujoco.__version__},
    )


@pytest.fixture()
def take() -> Take:
    return make_take()


@pytest.fixture()
def mannequin() -> mujoco.MjModel:
    return mannequin_model()
