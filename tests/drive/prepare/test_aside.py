"""What is asked for beside a clip: whole limbs turned, evenly from window to window, errors measured as ever."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.control.servo.law import ServoSettings
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.prepare.aside import WINDOW, AskedBeside
from stunt.drive.prepare.pipeline import prepare
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.motion.rig.other_body import sole_geoms
from stunt.motion.rig.retarget import body_parts
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


@pytest.fixture(scope="module")
def asked():
    stage = StageLoop(Scene({"a": CharacterSpec("walk", root="free")}))
    character = stage.character("a")
    motion, soles = motion_of_clip(load_clip("walk"), character), sole_geoms(stage.model, character)

    def rows(plan=()):
        settings = ServoSettings(beside=tuple(map(tuple, plan)))
        return prepare(stage.model, character, motion, soles, settings)

    parts = {part: body - character.root_body for part, body in body_parts(character).items()}
    return AskedBeside(stage.model, character), rows, parts


def turned(before, after, body: int) -> np.ndarray:
    """How a body was turned, seen from the root, as rotation vectors [rad], (F, 3)."""
    change = rotations.multiply(after.turns[:, body], rotations.conjugate(before.turns[:, body]))
    return rotations.to_rotation_vector(change)


def test_nothing_asked_is_the_clip_alone(asked) -> None:
    beside, rows, _ = asked
    assert np.array_equal(rows(np.zeros((5, beside.size))).turns, rows().turns)


def test_a_hip_takes_its_leg_along_and_no_other_and_errors_stay_the_clips(asked) -> None:
    beside, rows, parts = asked
    plan = np.zeros((6, beside.size))
    plan[2, 2] = 0.2  # the first leg's hip, about the vertical
    before, after = rows(), rows(plan)
    at = round(3 * WINDOW * before.fps)
    for part in ("l_thigh", "l_shank", "l_foot"):
        found = turned(before, after, parts[part])
        assert found[at] == pytest.approx([0.0, 0.0, 0.2], abs=5e-3), part
        halfway = round(2.5 * WINDOW * before.fps)
        assert found[halfway] == pytest.approx([0.0, 0.0, 0.1], abs=0.01), "evenly from window to window"
        assert np.abs(found[: round(2 * WINDOW * before.fps)]).max() < 1e-7
        assert np.abs(found[round(4 * WINDOW * before.fps) + 1 :]).max() < 1e-7
    for part in ("r_thigh", "r_foot", "spine", "l_upper_arm"):
        assert np.array_equal(before.turns[:, parts[part]], after.turns[:, parts[part]]), part
    assert before.asked is not None and np.array_equal(after.asked, before.asked)


def test_a_leg_that_is_stretched_keeps_its_foot_as_it_was(asked) -> None:
    beside, rows, parts = asked
    plan = np.zeros((4, beside.size))
    plan[1, beside.thrusts[1]] = 0.3
    before, after = rows(), rows(plan)
    at = round(2 * WINDOW * before.fps)
    thigh, shank, foot = (turned(before, after, parts[f"r_{part}"])[at] for part in ("thigh", "shank", "foot"))
    assert thigh == pytest.approx([0.0, 0.3, 0.0], abs=5e-3) and shank == pytest.approx([0.0, -0.3, 0.0], abs=5e-3)
    assert np.abs(foot).max() < 1e-7


def test_a_body_without_known_parts_can_be_asked_for_nothing(tmp_path) -> None:
    path = tmp_path / "snake.xml"
    bodies = '<body name="b" pos="0.1 0 0"><joint name="j"/><geom size="0.05"/></body>'
    path.write_text(
        f'<mujoco><worldbody><body name="a"><freejoint/><geom size="0.05"/>{bodies}</body></worldbody></mujoco>'
    )
    stage = StageLoop(Scene({"a": CharacterSpec(str(path), root="free")}))
    assert AskedBeside(stage.model, stage.character("a")).size == 0
