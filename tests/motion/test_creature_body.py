"""A skeleton that is no person's becomes a body too: a capsule per bone, and says what was assumed."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from stunt.character.from_skeleton import Build
from stunt.character.notes import describe_body
from stunt.check.body import examine_body
from stunt.drive.beats.performer import Performer
from stunt.errors import BodyError
from stunt.library.read import read_clip
from stunt.motion.pose import Pose
from stunt.motion.rig.skeleton_body import SkeletonBody, body_from_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from tests.campaigns.first_try import first_try

LEGS = (("FL", 26, 9), ("FR", 26, -9), ("HL", -26, 9), ("HR", -26, -9))


def joint(name: str, offset: tuple[float, float, float], inside: str) -> str:
    channels = "CHANNELS 3 Zrotation Xrotation Yrotation"
    return f"JOINT {name}\n{{\nOFFSET {offset[0]} {offset[1]} {offset[2]}\n{channels}\n{inside}\n}}\n"


def end(x: float, y: float, z: float) -> str:
    return f"End Site\n{{\nOFFSET {x} {y} {z}\n}}"


@pytest.fixture
def dog(tmp_path: Path) -> Path:
    """A dog in centimetres, y up, that trots on the spot."""
    parts = joint("Neck0", (30, 8, 0), joint("Skull", (12, 14, 0), end(14, -2, 0)))
    for name, x, z in LEGS:
        parts += joint(f"{name}_a", (x, -4, z), joint(f"{name}_b", (0, -18, 0), end(2, -19, 0)))
    head = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    rows = []
    for frame in range(30):
        swing = 20 * math.sin(2 * math.pi * frame / 29)
        legs = [value for sign in (1, -1, -1, 1) for value in (sign * swing, 0, 0, 0, 0, 0)]
        rows.append(" ".join(f"{value:.4f}" for value in (0, 45, 0, 0, 0, 0, 0, 0, swing / 2, swing / 3, 0, 0, *legs)))
    text = f"HIERARCHY\nROOT Body\n{{\nOFFSET 0 0 0\n{head}\n{parts}}}\nMOTION\nFrames: 30\nFrame Time: 0.0333333\n"
    file = tmp_path / "dog.bvh"
    file.write_text(text + "\n".join(rows) + "\n")
    return file


def test_every_bone_becomes_one_with_its_name_and_stands_on_the_ground(dog: Path) -> None:
    made = body_from_clip(read_clip(dog))
    assert [bone.name for bone in made.plan.bones][:4] == ["Body", "Neck0", "Skull", "FL_a"]
    model = made.spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    capsules = model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE
    ends = data.geom_xmat.reshape(-1, 3, 3)[:, 2, 2]
    lowest = data.geom_xpos[:, 2] - model.geom_size[:, 0] - np.abs(ends) * model.geom_size[:, 1]
    assert capsules.all() and lowest.min() == pytest.approx(0.0, abs=1e-9)
    said = " ".join(describe_body(made.spec))
    assert "no person's skeleton" in said and "strength derived" in said and "--mapping" in said


def test_the_clip_moves_the_body_as_it_moves_its_skeleton(dog: Path) -> None:
    made: SkeletonBody = body_from_clip(read_clip(dog))
    model = made.spec.compile()
    data = mujoco.MjData(model)
    for time in (0.0, 0.3, 0.7):
        data.qpos[:] = made.qpos_at(time)
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(data.xpos[1:], made.world_at(time).positions, atol=1e-9)


def test_a_mass_can_be_given_and_strength_is_enough_to_hold_the_limbs(dog: Path) -> None:
    made = body_from_clip(read_clip(dog), Build(mass=20.0))
    assert made.spec.compile().body_mass.sum() == pytest.approx(20.0)
    found = examine_body(str(dog))
    assert found.usable and not found.weak and found.kind == "skeleton" and found.joints == {"ball": 10}


def test_legs_of_a_creature_carry_it_and_its_neck_does_not(dog: Path) -> None:
    model = body_from_clip(read_clip(dog)).spec.compile()
    strength = {model.joint(k).name: float(abs(model.jnt_actfrcrange[k]).max()) for k in range(model.njnt)}
    weight = float(model.body_mass.sum()) * 9.81
    for name, *_ in LEGS:
        # Two of four legs carry all of it, the foot half a leg's length aside of the joint.
        for joint_name, length in ((f"{name}_a", 0.37), (f"{name}_b", 0.19)):
            assert strength[joint_name] > 0.5 * weight * 0.5 * length * 1.8
    assert strength["Skull"] < 0.1 * strength["FL_a"]


def test_a_creature_keeps_to_its_clip_on_legs_that_carry_it(dog: Path) -> None:
    tried = first_try(dog)
    print(tried)
    assert tried.error_deg < 6.0  # 11° where legs are as strong as what hangs on them asks for


def test_a_creature_makes_its_marks(dog: Path) -> None:
    scene = Scene({"rex": CharacterSpec(str(dog), at=(0, 0, 0.2))}, physics_hz=120, control_hz=120)
    rex = Performer(StageLoop(scene), "rex")
    half = 0.5 * math.radians(40)
    rex.key(Pose("paw", {"FL_a": (math.cos(half), 0.0, math.sin(half), 0.0)}), at=0.5)
    rex.stage.step(0.5)
    print(f"{rex.results[0].error_deg:.4f}°")
    assert rex.results[0].error_deg < 0.5


def test_a_skeleton_without_bones_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "dot.bvh"
    file.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "End Site\n{\nOFFSET 0 1 0\n}\n}\n"
        "MOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n"
    )
    with pytest.raises(BodyError, match="no bones"):
        body_from_clip(read_clip(file))
