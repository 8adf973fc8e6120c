"""Knees, hands and backs in the floor: the body is raised, so that it begins and crawls on the ground."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.character.kinematics import pose_frames
from stunt.drive.feet import plant
from stunt.drive.feet.plant import FLESH, MOST_RAISED, raised_by
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.prepare.fit import fit_motion
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def on_stage(clip: str):
    stage = StageLoop(Scene({"a": CharacterSpec(clip, root="free")}))
    character = stage.character("a")
    return stage.model, character, motion_of_clip(load_clip(clip), character)


def lowest(model, character, motion, feet) -> np.ndarray:
    """Return the height of the lowest part but the feet in each frame [m], (F,)."""
    places, turns = pose_frames(model, character, motion.qpos)
    found = []
    for geom in character.geoms:
        if geom in feet or not model.geom_contype[geom]:
            continue
        body = int(model.geom_bodyid[geom]) - character.root_body
        points, radius = plant._surface(model, geom)
        for point in points:
            found.append(places[:, body, 2] + rotations.rotate(turns[:, body], point)[:, 2] - radius)
    return np.min(found, axis=0)


def test_who_gets_up_from_inside_the_floor_does_so_on_it() -> None:
    model, character, motion = on_stage("get_up_front")
    feet = set(sole_geoms(model, character))
    sunk = motion.lifted(np.full(len(motion.qpos), -0.08))
    up = raised_by(model, character, sunk, feet)
    deep, left = lowest(model, character, sunk, feet), lowest(model, character, sunk.lifted(up), feet)
    assert deep.min() < -0.06 and left.min() > -FLESH - 1e-3
    assert up.max() < MOST_RAISED and np.abs(np.diff(up)).max() * motion.fps < 1.0, "nobody is thrown"
    fitted = fit_motion(model, character, sunk).motion
    assert lowest(model, character, fitted, feet).min() > -FLESH - 1e-3, "planting its feet takes it down no more"


@pytest.mark.parametrize("clip", ["walk", "idle", "kick", "jump"])
def test_who_stands_is_left_alone(clip: str) -> None:
    model, character, motion = on_stage(clip)
    assert not raised_by(model, character, motion, set(sole_geoms(model, character))).any()


def test_another_floor_is_no_sinking() -> None:
    model, character, motion = on_stage("get_up_front")
    up = raised_by(model, character, motion.lifted(np.full(len(motion.qpos), -1.0)), set())
    assert up.max() <= MOST_RAISED + 1e-12
