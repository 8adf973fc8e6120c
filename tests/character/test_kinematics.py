"""Forward kinematics over many frames agree with the engine's."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stunt.character.kinematics import box_corners, corners_over, pose_frames
from stunt.errors import InvalidValueError, StuntError
from stunt.stage.build import build
from stunt.stage.scene import CharacterSpec, Scene

RNG = np.random.default_rng(2)


def own_frames(character, count):
    """Random frames, joints within their limits; quaternions of any length, as the engine takes them."""
    root = character.root
    last = max(joint.qpos + joint.nq for joint in character.joints.values())
    frames = np.zeros((count, last - root.qpos))
    frames[:, :7] = RNG.normal(size=(count, 7))
    for joint in character.joints.values():
        columns = slice(joint.qpos - root.qpos, joint.qpos - root.qpos + joint.nq)
        frames[:, columns] = RNG.normal(size=(count, joint.nq))
    return frames


@pytest.mark.parametrize("body", ["human38", "walk"])
def test_places_turns_and_corners_are_the_engines(body):
    scene = Scene({"ada": CharacterSpec(body, root="free"), "bob": CharacterSpec(body, root="free", at=(1, 0, 0))})
    built = build(scene)
    model, bob = built.model, built.characters["bob"]  # the second: nothing of it begins at 0
    frames = own_frames(bob, 30)
    places, turns = pose_frames(model, bob, frames)
    geoms = sorted(bob.geoms)[:4]
    corners = corners_over(model, bob, geoms, places, turns)
    data, first = mujoco.MjData(model), bob.root_body
    for number, frame in enumerate(frames):
        data.qpos[bob.root.qpos : bob.root.qpos + len(frame)] = frame
        mujoco.mj_kinematics(model, data)
        end = first + places.shape[1]
        np.testing.assert_allclose(places[number], data.xpos[first:end], atol=1e-12)
        np.testing.assert_allclose(turns[number], data.xquat[first:end], atol=1e-12)
        box = model.geom_aabb[geoms[-1]]
        inside = (corners[number, -8:] - data.geom_xpos[geoms[-1]]) @ data.geom_xmat[geoms[-1]].reshape(3, 3)
        np.testing.assert_allclose(np.abs(inside - box[:3]), np.tile(box[3:], (8, 1)), atol=1e-12)


def test_only_the_wanted_bodies_are_posed():
    built = build(Scene({"ada": CharacterSpec("walk", root="free")}))
    ada = built.characters["ada"]
    frames = own_frames(ada, 3)
    whole, _ = pose_frames(built.model, ada, frames)
    wanted = np.zeros(whole.shape[1], np.bool_)
    body = ada.bodies["l_foot"]
    while body >= ada.root_body:
        wanted[body - ada.root_body] = True
        body = int(built.model.body_parentid[body])
    some, _ = pose_frames(built.model, ada, frames, wanted)
    np.testing.assert_array_equal(some[:, wanted], whole[:, wanted])
    assert not some[:, ~wanted].any()


def test_a_body_without_a_free_root_and_frames_too_short_are_refused():
    built = build(Scene({"ada": CharacterSpec("human38", root="fixed"), "bob": CharacterSpec("human38", root="free")}))
    with pytest.raises(StuntError, match="free root"):
        pose_frames(built.model, built.characters["ada"], np.zeros((1, 80)))
    with pytest.raises(InvalidValueError, match="coordinates"):
        pose_frames(built.model, built.characters["bob"], np.zeros((1, 9)))


def test_a_box_has_eight_corners_around_its_middle():
    built = build(Scene({"ada": CharacterSpec("human38", root="free")}))
    for geom in sorted(built.characters["ada"].geoms):
        corners = box_corners(built.model, geom)
        assert corners.shape == (8, 3)
        assert np.isfinite(corners).all()
