"""Knees and elbows of bodies from skeletons bend as a person's do, and nothing the clip asks for is in their way."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stunt.character.ligaments import OVERSTRETCH, TILT
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.names import clip_entries, find_clip
from stunt.library.read import read_clip
from stunt.maths import rotations
from stunt.motion.rig.skeleton_body import body_from_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def follower(clip: str) -> BodyActor:
    """Return a body of one of Stunt's own clips that follows it."""
    path = find_clip(clip)
    stage = StageLoop(Scene({"a": CharacterSpec(str(path), root="free")}, physics_hz=120, control_hz=120))
    return follower_of(stage, "a", motion_of_clip(read_clip(path), stage.character("a")))


def taut(model: mujoco.MjModel, data: mujoco.MjData) -> list[str]:
    """Return the joints and ligaments that are at their limits."""
    found = []
    for kind, number in zip(data.efc_type[: data.nefc], data.efc_id[: data.nefc], strict=True):
        if kind == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT:
            found.append(str(model.joint(int(number)).name))
        elif kind == mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON:
            found.append(str(model.tendon(int(number)).name))
    return found


@pytest.mark.parametrize("degrees", [0, 72, 144, 216, 288])
def test_a_rag_doll_bends_its_knees_backward_and_no_other_way(degrees: int) -> None:
    tracker = follower("idle")
    stage, bodies = tracker.stage, tracker.character.bodies
    stage.step(0.2)
    tracker.go_limp()
    way = np.radians(degrees)
    stage.data.qvel[:2] += 2.5 * np.array([np.cos(way), np.sin(way)])
    forward, aside, most = 0.0, 0.0, 0.0
    for _ in range(240):
        stage.advance(1)
        for side in ("l_", "r_"):
            thigh = stage.data.xmat[bodies[f"{side}thigh"]].reshape(3, 3)
            # In the own clips' stance the thigh's axes are forward, left and up.
            x, y, z = thigh.T @ (stage.data.xpos[bodies[f"{side}foot"]] - stage.data.xpos[bodies[f"{side}shank"]])
            far = float(np.linalg.norm([x, y, z]))
            forward = max(forward, float(np.degrees(np.arcsin(np.clip(x / far, -1.0, 1.0)))) if z < 0.0 else forward)
            aside, most = max(aside, abs(y) / far), max(most, float(np.degrees(np.arccos(-z / far))))
    print(f"{degrees}°: bent {most:.0f}°, forward {forward:.0f}°, to the side {np.degrees(np.arcsin(aside)):.0f}°")
    assert forward < np.degrees(OVERSTRETCH) + 12.0  # engine limits give a little under a blow
    assert np.degrees(np.arcsin(aside)) < np.degrees(TILT["shank"]) + 14.0


@pytest.mark.parametrize("name", sorted(clip_entries()))
def test_what_a_clip_does_is_inside_its_bodys_limits(name: str) -> None:
    body = body_from_clip(read_clip(find_clip(name)))
    model = body.spec.compile()
    data = mujoco.MjData(model)
    assert model.ntendon == 12 and model.jnt_limited[1:].any()
    for moment in np.linspace(0.0, body.clip.duration, 60):
        data.qpos[:] = body.qpos_at(moment)
        mujoco.mj_forward(model, data)
        assert not taut(model, data), moment


def test_ligaments_are_slack_while_a_walk_is_followed() -> None:
    tracker = follower("walk")
    for _ in range(100):
        tracker.stage.advance(1)
        assert not taut(tracker.stage.model, tracker.stage.data)


def test_bending_a_knee_stretches_no_collateral_ligament() -> None:
    body = body_from_clip(read_clip(find_clip("walk")))
    number = next(k for k, bone in enumerate(body.plan.bones) if bone.name == "l_shank")
    first, second, inner = [band for band in body.plan.ligaments if band.bone == number]
    bone = body.plan.bones[number]
    ends = [rotations.rotate(rotations.conjugate(bone.stance), band.above - bone.origin) for band in (first, second)]
    axis = (ends[0] - ends[1]) / np.linalg.norm(ends[0] - ends[1])
    for angle in np.radians([0.0, 40.0, 90.0, 140.0]):
        turn = rotations.from_rotation_vector(angle * axis)
        lengths = [np.linalg.norm(rotations.rotate(turn, band.below) - end)
                   for band, end in zip((first, second), ends, strict=True)]  # fmt: skip
        assert np.allclose(lengths, np.linalg.norm(first.below - ends[0]))
    start = rotations.rotate(rotations.conjugate(bone.stance), inner.above - bone.origin)
    lengths = [
        np.linalg.norm(rotations.rotate(rotations.from_rotation_vector(angle * axis), inner.below) - start)
        for angle in np.radians([-20.0, 0.0, 40.0])
    ]
    assert lengths[0] > inner.longest > lengths[1] > lengths[2]  # taut when it is bent the wrong way
