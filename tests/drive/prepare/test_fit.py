"""A motion fitted to a body: inside its limits, limbs apart, feet on the floor, worked out once by its content."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest

from stunt.character.kinematics import corners_over, pose_frames
from stunt.control.servo.law import ServoSettings
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip, seen_from_root, with_bodies_turned
from stunt.drive.prepare import fit
from stunt.drive.prepare.apart import ENOUGH, FARTHEST, LOOKS, _least_turn, limbs_apart
from stunt.drive.prepare.content import digest
from stunt.drive.prepare.fit import fit_motion, within_limits
from stunt.drive.prepare.pipeline import prepare
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


@cache
def on_stage(clip: str, body: str = "", collides: bool = True) -> tuple[StageLoop, BodyMotion]:
    """Return a stage with one body, and a clip as its motion."""
    spec = CharacterSpec(body or clip, root="free", self_collision=collides)
    stage = StageLoop(Scene({"a": spec}, physics_hz=120.0, control_hz=120.0))
    return stage, motion_of_clip(load_clip(clip), stage.character("a"))


def turned(stage: StageLoop, motion: BodyMotion, joint: str, vectors: np.ndarray) -> BodyMotion:
    """Return a motion with one ball joint turned on by rotation vectors [rad], (F, 3)."""
    at, qpos = stage.character("a").joints[joint].qpos, motion.qpos.copy()
    qpos[:, at : at + 4] = rotations.multiply(qpos[:, at : at + 4], rotations.from_rotation_vector(vectors))
    return replace(motion, qpos=qpos)


def deepest(stage: StageLoop, motion: BodyMotion, one: str, other: str) -> np.ndarray:
    """Return by how much a body's shape is in another's in each frame [m], as the engine has it, (F,)."""
    model, data, character = stage.model, mujoco.MjData(stage.model), stage.character("a")
    own = [[g for g in character.geoms if model.geom_bodyid[g] == character.bodies[name]] for name in (one, other)]
    found = np.zeros(len(motion.qpos))
    for frame, qpos in enumerate(motion.qpos):
        data.qpos[: len(qpos)] = qpos
        mujoco.mj_kinematics(model, data)
        found[frame] = -min(mujoco.mj_geomDistance(model, data, a, b, 1.0, None) for a in own[0] for b in own[1])
    return found


def at_rest(stage: StageLoop, motion: BodyMotion) -> float:
    """Return by how much the left hand is in the thigh as the body was built [m]."""
    built = replace(motion, qpos=stage.model.qpos0[None, : motion.qpos.shape[1]])
    return max(0.0, float(deepest(stage, built, "l_hand", "l_thigh")[0]))


def with_hand_in_thigh(deep: float) -> tuple[StageLoop, BodyMotion, np.ndarray]:
    """Return a stance whose left hand goes through the thigh for a moment, and by how much [m]."""
    stage, idle = on_stage("idle")
    still = replace(idle, qpos=np.repeat(idle.qpos[:1], 150, axis=0))
    bump = np.exp(-0.5 * ((np.arange(150) - 75) / 12.0) ** 2)
    for angle in np.arange(0.0, 1.2, 0.02):
        for axis in ([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]):
            some = turned(stage, still, "l_shoulder", angle * np.outer(bump, axis))
            depth = deepest(stage, replace(some, qpos=some.qpos[75:76]), "l_hand", "l_thigh")
            if depth[0] > deep:
                return stage, some, deepest(stage, some, "l_hand", "l_thigh")
    raise AssertionError("the arm does not reach the thigh")


def test_a_hand_in_a_thigh_is_taken_out_of_it_and_nothing_else_is_touched() -> None:
    stage, motion, before = with_hand_in_thigh(0.03)
    found = limbs_apart(stage.model, stage.character("a"), motion)
    after = deepest(stage, found.motion, "l_hand", "l_thigh")
    print(
        f"deepest {100 * before.max():.1f} cm, then {100 * after.max():.1f} cm, turned {np.degrees(found.turned):.1f}°"
    )
    assert before.max() > 0.03 and after.max() < 2.0 * ENOUGH
    assert found.deepest == pytest.approx(before.max() - at_rest(stage, motion), abs=0.002)
    assert found.turned < np.radians(5.0) < FARTHEST  # no further than needed, though two shapes of the thigh ask
    changed = (found.motion.qpos != motion.qpos).any(axis=0)
    joints = stage.character("a").joints
    arm = np.zeros(len(changed), bool)
    for name in ("l_shoulder", "l_elbow"):
        arm[joints[name].qpos : joints[name].qpos + 4] = True
    moved = np.abs(found.motion.qpos - motion.qpos).max(axis=0)
    assert changed[arm].any() and moved[~arm].max() < 1e-12
    assert moved[arm].max() > 1e-3
    away = np.abs(np.arange(150) - 75) > 60  # long before and after, the clip is as it was
    assert np.abs(found.motion.qpos - motion.qpos)[away].max() < 1e-3
    jerk = np.abs(np.diff(found.motion.qpos - motion.qpos, n=2, axis=0)).max()
    assert jerk < 0.001  # and nothing jumps on the way


def test_what_was_changed_says_which_limbs_when_and_by_how_much() -> None:
    stage, motion, before = with_hand_in_thigh(0.03)
    found = fit_motion(stage.model, stage.character("a"), motion).changes
    worst = found.overlaps[0]
    inside = np.flatnonzero(before > at_rest(stage, motion) + ENOUGH) / motion.fps
    print(found.sentences())
    assert (worst.one, worst.other) == ("l_hand", "l_thigh") and worst.deep_cm == found.overlap_cm
    assert found.overlap_cm == pytest.approx(100.0 * (before.max() - at_rest(stage, motion)), abs=0.2)
    look = 1.0 / LOOKS
    assert inside[0] <= worst.start_s <= inside[0] + look and inside[-1] - look <= worst.end_s <= inside[-1]
    words = f"limbs {worst.deep_cm:.1f} cm inside each other between {worst.start_s:.2f} and {worst.end_s:.2f} s"
    assert f"{words} (l_hand in l_thigh)" in found.sentences()
    assert found.beyond == ()
    # The same of a motion that begins again, in the time of one round, though the rounds around it are looked at too.
    looped = fit_motion(stage.model, stage.character("a"), replace(motion, loop=True)).changes
    assert looped.overlaps[0].start_s == pytest.approx(worst.start_s, abs=look)
    assert len(looped.overlaps) == len(found.overlaps)
    whole = json.loads(json.dumps(found.to_data()))
    assert whole["overlaps"][0]["one"] == "l_hand" and whole["foot"] == found.foot and whole["beyond"] == []


def test_limits_and_feet_are_told_by_their_names() -> None:
    stage, idle = on_stage("idle")
    joints, qpos = stage.character("a").joints, np.repeat(idle.qpos[:1], 120, axis=0)
    elbow = joints["l_elbow"]
    assert elbow.range is not None
    beyond = rotations.from_rotation_vector(np.array([0.0, -elbow.range[1] - 0.2, 0.0]))
    qpos[20:100, elbow.qpos : elbow.qpos + 4] = beyond
    qpos[:, 2] += 0.015 * np.exp(-0.5 * ((np.arange(120) - 60) / 15.0) ** 2)  # it hovers for a while
    found = fit_motion(stage.model, stage.character("a"), replace(idle, qpos=qpos, fps=60.0)).changes
    print(found.sentences())
    assert found.beyond == ("l_elbow",) and found.limits_deg == pytest.approx(np.degrees(0.2), abs=1e-3)
    assert 1.0 < found.hips_cm < 1.6
    assert f"joints up to {np.degrees(0.2):.1f}° beyond their limits (l_elbow)" in found.sentences()
    assert found.sentences()[-1].endswith(f"hips by up to {found.hips_cm:.1f} cm") and found.foot.endswith("foot")
    still = fit_motion(stage.model, stage.character("a"), replace(idle, qpos=np.repeat(idle.qpos[:1], 9, axis=0)))
    assert still.changes.sentences() == []


def test_a_body_that_does_not_collide_with_itself_keeps_its_clip() -> None:
    _, motion, _ = with_hand_in_thigh(0.03)
    stage, _ = on_stage("idle", collides=False)
    found = limbs_apart(stage.model, stage.character("a"), motion)
    assert found.motion is motion and found.deepest == 0.0


def test_an_overlap_beyond_mending_turns_no_joint_further_than_it_may() -> None:
    stage, motion, before = with_hand_in_thigh(0.055)
    found = limbs_apart(stage.model, stage.character("a"), motion)
    assert found.turned <= FARTHEST + 1e-9 and found.left < found.deepest
    assert before.max() > 0.055


@pytest.mark.parametrize("seed", range(20))
def test_pairs_that_go_apart_together_are_not_pulled_back_one_for_another(seed: int) -> None:
    """Foot and foot, toe and foot, shank and shank ask for nearly the same turn, each for another size of it."""
    rng = np.random.default_rng(seed)
    way = rng.normal(size=12)
    lever = 0.5 * way / np.linalg.norm(way) + 0.01 * rng.normal(size=(6, 12))
    depths = rng.uniform(0.005, 0.05, 6)
    turn = _least_turn(lever, depths)
    assert (lever @ turn > depths - 1e-3).all()
    assert np.linalg.norm(turn) < 1.2 * depths.max() / 0.5  # what one pair alone would take; asked exactly, up to 10 ×


def test_what_a_joint_cannot_do_is_not_asked_of_it() -> None:
    stage, motion = on_stage("idle")
    character = stage.character("a")
    assert within_limits(character, motion) == (motion, {})
    knee = character.joints["l_knee"]
    assert knee.range is not None
    bent = motion.qpos.copy()
    vectors = np.outer(np.linspace(0.0, knee.range[1] + 0.2, len(bent)), [0.0, 1.0, 0.0])
    bent[:, knee.qpos : knee.qpos + 4] = rotations.from_rotation_vector(vectors)
    found, beyond = within_limits(character, replace(motion, qpos=bent))
    angles = np.linalg.norm(rotations.to_rotation_vector(found.qpos[:, knee.qpos : knee.qpos + 4]), axis=1)
    assert beyond == {"l_knee": pytest.approx(0.2, abs=1e-6)} and angles.max() == pytest.approx(knee.range[1])
    inside = np.linalg.norm(vectors, axis=1) <= knee.range[1]
    assert np.array_equal(found.qpos[inside], bent[inside])
    # A hinge's range has two ends.
    stage, motion = on_stage("walk", "human39")
    character = stage.character("a")
    elbow = next(joint for joint in character.joints.values() if "elbow" in joint.name)
    assert elbow.range is not None and elbow.kind == "hinge"
    for side, sign in ((0, -1.0), (1, 1.0)):
        wild = motion.qpos.copy()
        wild[3, elbow.qpos] = elbow.range[side] + sign * 0.3
        found, beyond = within_limits(character, replace(motion, qpos=wild))
        assert found.qpos[3, elbow.qpos] == elbow.range[side] and beyond == {elbow.name: pytest.approx(0.3)}


@pytest.mark.parametrize("body", ["", "human39"])
def test_bodies_turned_as_they_are_leave_the_motion_as_it_is(body: str) -> None:
    """Joints found from turns are the joints the turns came from, balls and hinges."""
    stage, motion = on_stage("walk", body)
    character = stage.character("a")
    turns = seen_from_root(pose_frames(stage.model, character, motion.qpos)[1])
    found = with_bodies_turned(character, motion, turns, range(1, turns.shape[1]))
    again = seen_from_root(pose_frames(stage.model, character, found.qpos)[1])
    off = 2.0 * np.arccos(np.abs((turns * again).sum(axis=-1)).clip(0.0, 1.0))
    assert np.degrees(off).max() < 0.05


@pytest.mark.parametrize(("clip", "body"), [("walk", ""), ("punch", ""), ("walk", "human39")])
def test_a_fitted_motion_is_all_but_fitted(clip: str, body: str) -> None:
    stage, motion = on_stage(clip, body)
    first = fit_motion(stage.model, stage.character("a"), motion)
    again = fit_motion(stage.model, stage.character("a"), first.motion)
    print(first.changes, again.changes)
    assert again.changes.feet_mean_cm < max(0.5 * first.changes.feet_mean_cm, 0.2)
    assert again.changes.limits_deg < 0.1 and again.changes.apart_deg < 1.0


@pytest.mark.parametrize("clip", ["walk", "hook", "box_forward"])
def test_a_clip_played_on_a_body_with_other_bones_has_its_feet_on_the_ground(clip: str) -> None:
    stage, motion = on_stage(clip, "human39")
    character = stage.character("a")
    soles = sole_geoms(stage.model, character)
    played = fit_motion(stage.model, character, motion, "out of the floor").motion
    heights = []
    for qpos in (motion.qpos, played.qpos):
        corners = corners_over(stage.model, character, soles, *pose_frames(stage.model, character, qpos))
        heights.append(np.abs(corners[..., 2].min(axis=1)))
    print("lowest sole off the floor [m], as retargeted and as played", [(h.max(), h.mean()) for h in heights])
    # In these clips a foot stands in every frame.
    assert heights[1].mean() < 0.5 * heights[0].mean() and heights[1].max() < 0.005


def test_a_looping_motion_is_fitted_to_a_round_that_goes_on_into_itself() -> None:
    stage, motion = on_stage("walk")
    loop = replace(motion, loop=True)
    found = fit_motion(stage.model, stage.character("a"), loop).motion
    assert found.loop and len(found.qpos) == len(loop.qpos)
    seam = np.abs(found.qpos[-1, 7:] - found.qpos[0, 7:]).max()
    raw = np.abs(loop.qpos[-1, 7:] - loop.qpos[0, 7:]).max()
    print("first and last frame differ by", seam, "and did by", raw)
    assert seam < raw + 0.01 and np.allclose(found.qpos[0, :2], loop.qpos[0, :2])


def test_two_bodies_alike_share_what_was_worked_out_and_other_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = fit._fitted_once
    monkeypatch.setattr(fit, "_fitted_once", lambda *args: calls.append(1) or real(*args))
    fit._KNOWN.clear()
    specs = {"a": CharacterSpec("idle", root="free"), "b": CharacterSpec("idle", root="free", at=(2.0, 0.0, 0.0))}
    stage = StageLoop(Scene({**specs, "c": CharacterSpec("idle", root="free", at=(4.0, 0.0, 0.0), mass=90.0)}))
    motions = [motion_of_clip(load_clip("idle"), stage.character(name)) for name in "abc"]
    found = [fit_motion(stage.model, stage.character(name), m) for name, m in zip("abc", motions, strict=True)]
    assert found[0] is found[1] and found[2] is not found[0] and len(calls) == 2
    a, b, c = (digest(stage.model, stage.character(name), motions[0]) for name in "abc")
    assert a == b != c
    assert digest(stage.model, stage.character("a"), motions[0].raised(0.001)) != a
    assert digest(stage.model, stage.character("a"), motions[0], "otherwise") != a


def test_settings_tell_prepared_motions_apart() -> None:
    stage, motion = on_stage("walk")
    character = stage.character("a")
    soles = sole_geoms(stage.model, character)
    steered, not_steered, raw = (
        prepare(stage.model, character, motion, soles, settings)
        for settings in (ServoSettings(), ServoSettings(steer=False), ServoSettings(plant=False))
    )
    assert steered.swing is not None and not_steered.swing is None and raw.asked is None
    assert not np.array_equal(raw.turns, steered.turns)
