"""Targets shaped while they are followed: absolute targets, feet on uneven ground, stuck limbs, clips in a row."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.body.over_ground import BEHIND, AbsoluteTargets, Feet, Shaper, window_of
from stunt.drive.body.stuck import bone_errors, limbs_of
from stunt.drive.feet.ground import Ground
from stunt.drive.feet.leg import legs_of
from stunt.drive.motion.body_motion import BodyMotion, make_rows, motion_of_clip
from stunt.library.names import find_clip, load_clip
from stunt.maths import rotations
from stunt.script.file import script_from_data, script_to_data
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

OWN = ("idle", "walk", "punch", "kick", "guard", "hook", "jump", "crossover")


def tracked(
    name: str = "walk", *, props: dict[str, PropSpec] | None = None, root: RootSpring | None = None
) -> BodyActor:
    body = CharacterSpec(str(find_clip(name)), root="free", strength=1.5)
    stage = StageLoop(Scene({"a": body}, props or {}, physics_hz=120.0, control_hz=120.0))
    motion = motion_of_clip(load_clip(name), stage.character("a"))
    return follower_of(stage, "a", motion, root=root or RootSpring(yaw=0.1))


def test_a_window_is_a_copy_of_the_rows_from_now_on() -> None:
    tracker = tracked()
    window = window_of(tracker.rows, 0.0, 0.5, 0.2)
    first = int((0.5 - BEHIND) * tracker.rows.fps)
    assert 0.45 < window.start < 0.5 and np.array_equal(window.rows.turns[0], tracker.rows.turns[first])
    window.rows.turns[:] = 0.0
    assert tracker.rows.turns.any()


def test_absolute_targets_do_not_turn_with_the_root() -> None:
    tracker = tracked("idle")
    stage, root = tracker.stage, tracker.character.root
    assert root is not None
    tilt = rotations.from_rotation_vector([0.3, -0.2, 0.5])
    stage.data.qpos[root.qpos + 3 : root.qpos + 7] = rotations.multiply(
        tilt, stage.data.qpos[root.qpos + 3 : root.qpos + 7]
    )
    window = window_of(tracker.rows, 0.0, 0.0)
    shaped = AbsoluteTargets(tracker).shape(window)
    lifted = rotations.multiply(stage.data.qpos[root.qpos + 3 : root.qpos + 7], shaped.rows.turns[0, 1:])
    wanted = rotations.multiply(window.rows.turns[0, 0], window.rows.turns[0, 1:])
    assert np.abs((lifted * wanted).sum(axis=-1)).min() > 1.0 - 1e-9


@pytest.mark.parametrize("targets", ["egocentric", "absolute"])
def test_both_kinds_of_target_follow_a_walk(targets: str) -> None:
    tracker = tracked()
    if targets == "absolute":
        Shaper(tracker, [AbsoluteTargets(tracker)])
    tracker.stage.step(1.0)
    error = bone_errors(tracker)[1:].mean()
    print(targets, f"mean error after a second {error:.2f}°")
    assert error < 4.0 and tracker.stage.data.qpos[2] > 0.8


@pytest.mark.parametrize("body", ["walk.bvh", "human39"])
def test_a_lifted_leg_puts_its_foot_that_much_higher_and_keeps_the_foot_turned(body: str) -> None:
    name = str(find_clip("walk")) if body == "walk.bvh" else body
    stage = StageLoop(Scene({"a": CharacterSpec(name, root="free")}, physics_hz=120.0, control_hz=120.0))
    character = stage.character("a")
    motion = motion_of_clip(load_clip("walk"), character)
    tracker = follower_of(stage, "a", motion)
    rows = make_rows(stage.model, character, motion, tracker.soles)
    for leg in legs_of(stage.model, character, tracker.soles):
        shift = np.tile([0.02, 0.0, 0.1], (len(rows.turns), 1))
        lifted = leg.lifted(rows.turns, shift)
        before, after = (leg.joints(rotations.to_matrix(turns))[:, -1] for turns in (rows.turns, lifted))
        assert np.allclose(after - before, shift, atol=2e-3)
        assert np.array_equal(lifted[:, leg.foot], rows.turns[:, leg.foot])
        # The chain is the engine's own: places agree with its kinematics.
        data = mujoco.MjData(stage.model)
        data.qpos[:7], data.qpos[3:7] = 0.0, [1.0, 0.0, 0.0, 0.0]
        data.qpos[7:] = motion.qpos[0, 7:]
        mujoco.mj_kinematics(stage.model, data)
        assert np.allclose(data.xpos[character.root_body + leg.foot], before[0], atol=1e-6)


def test_the_ground_is_felt_on_ramps_stairs_boxes_and_height_fields() -> None:
    props = {
        "ramp": PropSpec("ramp", at=(0.0, 0.0, 0.0), size=(2.0, 1.0, 0.4)),
        "stairs": PropSpec("stairs", at=(5.0, 0.0, 0.0), size=(0.3, 1.0, 0.1), steps=3),
        "box": PropSpec("box", at=(8.0, 0.0, 0.1), size=(0.5, 0.5, 0.2)),
        "field": PropSpec("heightfield", at=(12.0, 0.0, 0.0), size=(2.0, 2.0, 0.3), heights=((0.0, 1.0), (0.0, 1.0))),
        "ball": PropSpec("sphere", at=(8.0, 0.0, 1.0), radius=0.2, mass=1.0),
    }
    ground = Ground(StageLoop(Scene(props=props)))
    assert not ground.flat and Ground(StageLoop(Scene(props={"ball": props["ball"]}))).flat
    for x, wanted in ((0.5, 0.3), (5.0, 0.2), (5.3, 0.3), (8.0, 0.2), (9.0, 0.0), (12.5, 0.225)):
        assert ground.height(x, 0.0) == pytest.approx(wanted, abs=1e-6)
    assert ground.height(8.0, 0.0, below=0.15) == pytest.approx(0.0)


def test_a_step_is_climbed_by_lifted_feet_and_caught_on_by_others() -> None:
    block = {"block": PropSpec("box", at=(2.9, 0.0, 0.06), size=(4.0, 2.0, 0.12))}
    found = {}
    for feet in (True, False):
        body = CharacterSpec(str(find_clip("walk")), root="free", strength=1.5)
        stage = StageLoop(Scene({"a": body}, block, physics_hz=120.0, control_hz=120.0))
        motion = motion_of_clip(load_clip("walk"), stage.character("a"))
        motion = BodyMotion("walk", motion.fps, motion.qpos, loop=True)
        tracker = follower_of(stage, "a", motion, root=RootSpring(yaw=0.1))
        if feet:
            Shaper(tracker, [Feet(tracker)])
        stage.step(3.0)
        found[feet] = (round(float(stage.data.qpos[0]), 2), round(float(stage.data.qpos[2]), 2))
    print("after 3 s of walking up a step of 12 cm, x and height of the hips:", found)
    assert found[True][0] > 2.0 and found[True][1] > 0.93 and found[False][0] < 1.3


def falls_between(pairs: list[tuple[str, str]], start: float = 0.5, blend: float = 0.5) -> list[tuple[str, str]]:
    """Go over from one clip to another half a second in; return the pairs after which the body is down."""
    falls = []
    for first, second in pairs:
        tracker = tracked(first)
        stage = tracker.stage
        stage.step(start)
        tracker.follow(motion_of_clip(load_clip(second), tracker.character), blend=blend)
        stage.step(min(tracker.motion.duration, 2.4))
        if stage.data.qpos[2] < 0.6:
            falls.append((first, second))
    print(f"{len(pairs)} changes of clip, {len(falls)} falls: {falls}")
    return falls


def test_clips_go_over_to_quite_other_ones_without_a_fall() -> None:
    assert len(falls_between([(name, OWN[(3 * k + 1) % len(OWN)]) for k, name in enumerate(OWN)])) == 0


@pytest.mark.long
def test_every_clip_goes_over_to_every_other() -> None:
    pairs = [(first, second) for first in OWN for second in OWN if first != second]
    assert not falls_between(pairs)


@pytest.mark.long
def test_a_walk_goes_over_to_every_clip_from_any_moment_of_its_step() -> None:
    falls = []
    for second in OWN:
        for start in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            for blend in (0.3, 0.5):
                falls += falls_between([("walk", second)], start, blend) if second != "walk" else []
    assert not falls


def test_feet_step_to_a_stance_one_after_the_other_and_stand_meanwhile() -> None:
    tracker = tracked()
    tracker.stage.step(0.5)
    walked = tracker.rows
    tracker.follow(motion_of_clip(load_clip("guard"), tracker.character), blend=0.3)
    rows, legs = tracker.rows, legs_of(tracker.stage.model, tracker.character, tracker.soles)
    frames = round(0.56 * rows.fps)
    matrices = rotations.to_matrix(rows.turns[:frames])
    feet = [rows.path[:frames] + np.einsum("fij,fj->fi", matrices[:, 0], leg.joints(matrices)[:, -1]) for leg in legs]
    moved = np.array([np.abs(np.diff(foot[:, :2], axis=0)).max(axis=1) > 0.02 for foot in feet])
    print("frames in which each foot moves:", moved.sum(axis=1), "both:", (moved[0] & moved[1]).sum())
    assert moved.any(axis=1).all() and (moved[0] & moved[1]).sum() <= 2
    assert np.allclose(np.abs((rows.turns[0] * walked.turns[round(0.5 * walked.fps)]).sum(-1)), 1.0, atol=1e-3)


def test_going_over_to_another_walk_walks_on() -> None:
    tracker = tracked()
    tracker.stage.step(0.4)
    other = motion_of_clip(load_clip("walk_curve"), tracker.character)
    pace = float(np.linalg.norm(tracker.stage.data.qvel[:2]))
    tracker.follow(other, blend=0.3)
    rows = tracker.rows
    speed = np.linalg.norm(np.diff(rows.path[: round(0.4 * rows.fps), :2], axis=0), axis=1) * rows.fps
    print(f"walking at {pace:.2f} m/s, then at {speed.min():.2f} to {speed.max():.2f}")
    assert 0.5 * pace < speed.min() and speed.max() < 1.8 * pace
    ahead = round(0.8 * rows.fps)
    assert np.array_equal(rows.turns[ahead:, 1:], tracker.motions.targets_of(other).turns[ahead:, 1:])


def test_limbs_are_found_by_name_and_nothing_is_stuck_in_a_walk() -> None:
    tracker = tracked()
    limbs = {limb.name: len(limb.bones) for limb in limbs_of(tracker.stage.model, tracker.character)}
    assert limbs == {"l_arm": 3, "r_arm": 3, "l_leg": 4, "r_leg": 4}


def script(**part: object) -> dict[str, object]:
    return {
        "rate": 120,
        "characters": {"a": {"body": "skeleton", "root": "free", "strength": 1.5}},
        "props": {"block": {"shape": "box", "at": [0.9, 0, 0.03], "size": [0.3, 2, 0.06]}},
        "performance": {"a": {"clips": {"play": [{"clip": "walk"}, {"clip": "punch", "at": 0.6}], **part}}},
    }


def test_the_clips_section_survives_being_written() -> None:
    data = script(
        targets="absolute", look=0.03, repeat=True, toward="a", feet=True, free_limbs=False,
        react={"stun": 2.0, "delta": 0.1}, get_up={"front": "get_up_front", "back": "stand_up"},
    )  # fmt: skip
    made = script_from_data(data)
    again = script_from_data(script_to_data(made))
    assert again.parts["a"].sections == made.parts["a"].sections
    assert script_to_data(made)["performance"]["a"]["clips"]["react"] == {"stun": 2.0, "delta": 0.1}


@pytest.mark.parametrize("part", [{}, {"targets": "absolute"}, {"get_up": {"back": "stand_up"}}])
def test_a_performance_saved_in_the_middle_goes_on_identically(part: dict[str, object]) -> None:
    performance = Performance(script_from_data(script(yaw=0.1, **part)))
    stage = performance.stage
    stage.step(0.45)
    saved = stage.save()
    stage.step(0.5)
    first = stage.data.qpos.copy()
    stage.restore(saved)
    stage.step(0.5)
    assert np.array_equal(first, stage.data.qpos)
