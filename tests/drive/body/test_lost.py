"""A body that lies, or looks elsewhere, has lost its clip, and is not said to follow it."""

from __future__ import annotations

import numpy as np
import pytest

import stunt
from stunt.drive.body.lost import off_clip
from stunt.maths.rotations import from_rotation_vector, multiply


def _root(height: float, heading_deg: float = 0.0, tilt_deg: float = 0.0) -> np.ndarray:
    turn = from_rotation_vector(np.array([0.0, 0.0, np.radians(heading_deg)]))
    lean = from_rotation_vector(np.array([np.radians(tilt_deg), 0.0, 0.0]))
    return np.array([0.3, -0.2, height, *multiply(turn, lean)])


@pytest.mark.parametrize(
    ("own", "wanted", "lost"),
    [
        (_root(0.95), _root(0.95), False),
        (_root(0.58), _root(0.95), False),
        (_root(0.55), _root(0.95), True),
        (_root(0.95, 29.0), _root(0.95), False),
        (_root(0.95, -31.0), _root(0.95), True),
        (_root(0.95, 170.0), _root(0.95, -170.0), False),
        (_root(0.08, 80.0, 90.0), _root(0.14, 0.0, 90.0), False),
    ],
)
def test_lost_is_forty_percent_too_low_or_thirty_degrees_aside(own, wanted, lost) -> None:
    assert bool(off_clip(own, wanted, 1.0) > 1.0) is lost


def test_a_body_turned_away_from_its_clip_is_lost_and_found_again() -> None:
    from stunt.drive.body.actor import follower_of
    from stunt.drive.body.lost import Watch
    from stunt.drive.motion.body_motion import motion_of_clip
    from stunt.stage.loop import StageLoop
    from stunt.stage.scene import CharacterSpec, Scene

    clip = stunt.load_clip("idle")
    stage = StageLoop(Scene({"ada": CharacterSpec(clip, root="free")}))
    actor = follower_of(stage, "ada", motion_of_clip(clip, stage.character("ada")))
    watch = Watch(actor)
    stage.advance(round(0.5 / stage.step_time))
    assert not watch.lost and not actor.log
    saved = watch.save()
    own = stage.data.qpos[actor.slices[0]]
    own[3:7] = multiply(from_rotation_vector(np.array([0.0, 0.0, 1.0])), own[3:7])
    stage.advance(round(0.8 / stage.step_time))
    assert [entry["state"] for entry in actor.log] == ["lost"] and watch.lost
    own = stage.data.qpos[actor.slices[0]]
    own[3:7] = multiply(from_rotation_vector(np.array([0.0, 0.0, -1.0])), own[3:7])
    stage.advance(round(0.8 / stage.step_time))
    assert [entry["state"] for entry in actor.log] == ["lost", "following"]
    watch.restore(saved)
    assert not watch.lost
