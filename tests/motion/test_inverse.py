"""Clips on bodies whose hinges in a row share a hip: all joints at once, soles on the floor where they stand."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stunt.character.character import Character
from stunt.character.kinematics import corners_over, pose_frames
from stunt.library.names import load_clip
from stunt.maths.rotations import from_rotation_vector, multiply, rotate
from stunt.motion.clips.clip_parts import WorldPose
from stunt.motion.rig.footprints import BodySole, ClipFoot, body_sole, lay_out
from stunt.motion.rig.other_body import retargeted_qpos
from stunt.motion.rig.retarget import retarget
from tests.captured import SHARED

ROBOTS = {name: SHARED / "assets" / "robots" / f"unitree_{name}" / f"{name}.xml" for name in ("g1", "h1")}
CLIPS = ("walk", "idle", "punch")
SHORTEST = 12  # frames of a stand that is looked at


def serial_robot(scale: float) -> mujoco.MjSpec:
    """A two-legged robot: hips of three hinges on three links, ankles of two, no arms to speak of."""

    def leg(side: str, sign: float) -> str:
        s = scale
        return f"""
        <body name="{side}_hip_yaw_link" pos="0 {sign * 0.1 * s} {-0.05 * s}">
         <joint name="{side}_hy" axis="0 0 1" range="-60 60"/>
         <geom size="{0.04 * s}" mass="1"/>
         <body name="{side}_hip_roll_link" pos="0 0 {-0.04 * s}"><joint name="{side}_hr" axis="1 0 0" range="-50 50"/>
          <geom size="{0.04 * s}" mass="1"/>
          <body name="{side}_hip_pitch_link"><joint name="{side}_hp" axis="0 1 0" range="-120 60"/>
           <geom type="capsule" fromto="0 0 0 0 0 {-0.4 * s}" size="{0.05 * s}" mass="4"/>
           <body name="{side}_knee_link" pos="0 0 {-0.4 * s}"><joint name="{side}_k" axis="0 1 0" range="-5 150"/>
            <geom type="capsule" fromto="0 0 0 0 0 {-0.38 * s}" size="{0.04 * s}" mass="3"/>
            <body name="{side}_ankle_pitch_link" pos="0 0 {-0.4 * s}">
             <joint name="{side}_ap" axis="0 1 0" range="-60 40"/>
             <geom size="{0.02 * s}" mass="0.1"/>
             <body name="{side}_ankle_roll_link"><joint name="{side}_ar" axis="1 0 0" range="-30 30"/>
              <geom type="box" pos="{0.04 * s} 0 {-0.05 * s}" size="{0.11 * s} {0.05 * s} {0.015 * s}" mass="0.8"/>
        </body></body></body></body></body></body>"""

    return mujoco.MjSpec.from_string(f"""
    <mujoco><worldbody><body name="a/pelvis" pos="0 0 {0.955 * scale}"><freejoint name="a/root"/>
      <geom type="box" size="{0.08 * scale} {0.12 * scale} {0.06 * scale}" mass="8"/>
      <body name="a/torso_link" pos="0 0 {0.1 * scale}"><joint name="a/waist" axis="0 0 1" range="-90 90"/>
        <geom type="capsule" fromto="0 0 0 0 0 {0.4 * scale}" size="{0.1 * scale}" mass="15"/></body>
      {leg("a/left", 1.0)}{leg("a/right", -1.0)}
    </body></worldbody></mujoco>""")


def character_of(body: str) -> Character:
    if body in ROBOTS:
        if not ROBOTS[body].exists():
            pytest.skip(f"{ROBOTS[body].name} is not here")
        from stunt.stage.build import build
        from stunt.stage.scene import CharacterSpec, Scene

        robot = CharacterSpec(str(ROBOTS[body]), root="free", self_collision=False)
        return build(Scene(characters={"a": robot})).characters["a"]
    return Character(serial_robot(float(body)).compile(), "a")


def soles_of(character: Character) -> list[list[int]]:
    model, found = character.model, []
    for side in ("left", "right"):
        foot = max(body for name, body in character.bodies.items() if name.startswith(side) and "ankle" in name)
        found.append([g for g in sorted(character.geoms) if model.geom_bodyid[g] == foot and model.geom_contype[g]])
    return found


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("body", ["g1", "h1", "0.6", "1.0", "1.7"])
def test_standing_soles_lie_on_the_floor_and_keep_their_place(body: str, clip: str):
    character = character_of(body)
    motion = load_clip(clip)
    qpos, planted = retargeted_qpos(motion, character)
    assert planted
    frames = pose_frames(character.model, character, qpos)
    soles = [corners_over(character.model, character, geoms, *frames) for geoms in soles_of(character)]
    low = np.stack([corners[..., 2].min(axis=1) for corners in soles])
    assert np.abs(low.min(axis=0)).max() < 0.005  # in these clips a foot stands in every frame
    for corners, height in zip(soles, low, strict=True):
        still = np.concatenate([[False], (np.abs(height) < 0.002)[1:] & (np.abs(height) < 0.002)[:-1], [False]])
        edges = np.flatnonzero(np.diff(still.astype(int)))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            if end - start >= SHORTEST:  # without the moments in which it is set down and lifted
                part = corners[start + 4 : end - 4, :, :2].mean(axis=1)
                assert np.linalg.norm(part - part[0], axis=1).max() < 0.02


@pytest.mark.parametrize("body", ["g1", "h1", "0.6", "1.7"])
def test_joints_keep_to_their_limits_and_hips_in_a_row_are_shared(body: str):
    character = character_of(body)
    found = retarget(load_clip("walk"), character)
    for name, joint in character.joints.items():
        assert joint.range is not None
        assert found.angles[name].min() > joint.range[0] - 1e-6 and found.angles[name].max() < joint.range[1] + 1e-6
    pitch = [name for name in character.joints if "hip_pitch" in name or name.endswith("_hp")]
    assert all(np.ptp(found.angles[name]) > 0.4 for name in pitch)  # rad: a walk swings its legs
    assert max(found.left_over_deg[name] for name in found.left_over_deg if "pelvis" in name) < 3.0


def foot(frames: int, stands: slice) -> ClipFoot:
    """A foot that creeps while it stands, tilted, and swings on."""
    time = np.linspace(0.0, 1.0, frames)
    middle = np.stack([np.where(time < 0.5, 0.02 * time, time), 0.1 + 0.0 * time, 0.05 * time], axis=1)
    flags = np.zeros(frames, bool)
    flags[stands] = True
    tilt = from_rotation_vector(np.array([0.1, 0.05, 0.3]) * np.ones((frames, 1)))
    return ClipFoot(middle, tilt, np.where(flags, 0.0, 0.05), flags)


def test_a_footprint_is_one_place_flat_on_the_floor_whatever_creeps():
    sole = BodySole(np.array([[x, y, z] for x in (-0.06, 0.16) for y in (-0.04, 0.04) for z in (-0.07, -0.02)]))
    path = lay_out(foot(60, slice(0, 30)), sole, 1.2, 0.05, 60.0)
    corners = path.places[:, None] + rotate(path.turns[:, None], sole.corners)
    assert np.ptp(corners[:30], axis=0).max() < 1e-12
    assert np.abs(np.sort(corners[:30, :, 2], axis=1)[:, :4]).max() < 1e-12
    assert corners[..., 2].min() > -1e-12 and corners[40:, :, 2].min() > 0.03  # and it swings clear of the floor
    assert np.abs(np.diff(path.places, axis=0)).max() < 1.2 * 0.5 + 0.05  # and goes over to the swing without a jump


@pytest.mark.parametrize("side", ["left", "right"])
def test_arms_go_round_the_hips_of_a_body_that_collides_with_itself(side: str):
    """What an arm would swing through is gone round; legs stay where they were."""
    found = []
    for wide in (True, False):
        spec = serial_robot(1.0)
        torso = spec.body("a/torso_link")
        arm = torso.add_body(name=f"a/{side}_shoulder_link", pos=[0.0, 0.2 if side == "left" else -0.2, 0.35])
        for axis in ("x", "y"):
            turn = arm.add_joint(name=f"a/{side}_shoulder_{axis}", range=[-150.0, 150.0])
            turn.axis = [axis == "x", axis == "y", 0.0]
        capsule = {"type": mujoco.mjtGeom.mjGEOM_CAPSULE, "size": [0.03, 0.0, 0.0], "mass": 2.0}
        arm.add_geom(fromto=[0.0, 0.0, 0.0, 0.0, 0.0, -0.25], **capsule)
        below = arm.add_body(name=f"a/{side}_elbow_link", pos=[0.0, 0.0, -0.28])
        below.add_joint(name=f"a/{side}_elbow", axis=[0.0, 1.0, 0.0], range=[-150.0, 5.0])
        below.add_geom(name="forearm", fromto=[0.0, 0.0, 0.0, 0.0, 0.0, -0.3], **capsule)
        bump = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [0.08, 0.0, 0.0], "mass": 0.1}
        where = [0.13, 0.22 if side == "left" else -0.22, 0.0]
        spec.body("a/pelvis").add_geom(name="bump", pos=where, contype=wide, conaffinity=wide, **bump)
        character = Character(spec.compile(), "a")
        qpos, _ = retargeted_qpos(load_clip("walk"), character)
        model, deep = character.model, []
        data = mujoco.MjData(model)
        for pose in qpos[::10]:
            data.qpos[:] = pose
            mujoco.mj_kinematics(model, data)
            deep.append(mujoco.mj_geomDistance(model, data, model.geom("bump").id, model.geom("forearm").id, 1.0, None))
        legs = [character.joints[name].qpos for name in character.joints if name.startswith(side) and "_h" in name[:7]]
        found.append((min(deep), qpos[:, legs]))
    (apart, legs), (through, freely) = found
    assert through < -0.01 and apart > 0.0
    assert np.abs(legs - freely).max() < np.radians(3.0)


@pytest.mark.parametrize(("roll", "pitch"), [(0.0, 0.0), (-0.36, 0.0), (0.36, 0.2), (0.1, -0.3)])
def test_a_foot_that_rests_on_an_edge_is_laid_flat_however_its_capsules_are_rolled(roll: float, pitch: float):
    rng = np.random.default_rng(3)
    turn = " ".join(map(str, multiply(from_rotation_vector([0, -pitch, 0]), from_rotation_vector([roll, 0, 0]))))
    legs = ""
    for side, y in (("l", 0.1), ("r", -0.1)):
        bars = ""
        for across in (-0.04, 0.04):  # two bars along the foot, each rolled about itself at random
            spun = multiply(from_rotation_vector([0, np.pi / 2, 0]), from_rotation_vector([0, 0, rng.uniform(-3, 3)]))
            quat = " ".join(map(str, spun))
            bars += f'<geom type="capsule" size="0.03 0.08" pos="0.05 {across} -0.05" quat="{quat}"/>'
        legs += f"""<body name="{side}_thigh" pos="0 {y} 0"><joint/><geom size="0.05"/>
          <body name="{side}_shank" pos="0 0 -0.4"><joint/><geom size="0.05"/>
          <body name="{side}_foot" pos="0 0 -0.4" quat="{turn}"><joint/>{bars}</body></body></body>"""
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><worldbody><body name="a/hips" pos="0 0 1"><freejoint/><geom size="0.1"/>{legs}</body></worldbody>'
        "</mujoco>"
    )
    for body in spec.bodies[1:]:
        body.name = body.name if body.name.startswith("a/") else f"a/{body.name}"
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    foot = model.body("a/l_foot").id
    found = body_sole(Character(model, "a"), WorldPose(data.xpos, data.xquat), {"l_foot": (0, foot)}, "l_")
    assert found is not None
    flat, sole = found
    np.testing.assert_allclose(rotate(flat, [0.0, 0.0, 1.0]), [0.0, 0.0, 1.0], atol=0.002)
    assert sole.depth == pytest.approx(0.08, abs=2e-4)  # not the corners of a box that stands on its edge
