"""What is done to a motion before it is followed: standing feet made to stand, torques foreseen."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np

from stunt.character.from_skeleton import GRIP
from stunt.character.kinematics import pose_frames
from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.body.measures import measure
from stunt.drive.feet.leg import Leg, legs_of
from stunt.drive.feet.plant import clear_feet, missing, near_floor, plant_feet, sole_points
from stunt.drive.motion.body_motion import BodyMotion, make_rows, motion_of_clip, seen_from_root
from stunt.drive.motion.sole_hold import BALL
from stunt.drive.prepare import pipeline
from stunt.drive.prepare.feed_forward import foreseen_torques
from stunt.drive.prepare.first_velocity import first_velocity
from stunt.library.names import find_clip
from stunt.library.read import read_clip
from stunt.maths import rotations
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


@cache
def on_stage(clip: str) -> tuple[StageLoop, BodyMotion]:
    """Return a stage with a body of one of the package's clips, and that clip as its motion."""
    path = find_clip(clip)
    stage = StageLoop(Scene({"a": CharacterSpec(str(path), root="free")}, physics_hz=120.0, control_hz=120.0))
    return stage, motion_of_clip(read_clip(path), stage.character("a"))


def test_standing_feet_are_put_on_the_floor_and_stay_where_they_are() -> None:
    stage, motion = on_stage("idle")
    model, character = stage.model, stage.character("a")
    sunk = motion.qpos.copy()  # a capture whose left knee is bent a little too much, now and then
    knee = character.joints["l_knee"].qpos
    wobble = 0.08 * np.sin(np.linspace(0.0, 12.0, len(sunk))) ** 2
    bend = rotations.from_rotation_vector(np.outer(wobble, [0.0, 1.0, 0.0]))
    sunk[:, knee : knee + 4] = rotations.multiply(sunk[:, knee : knee + 4], bend)
    before = replace(motion, qpos=sunk)
    legs = legs_of(model, character, sole_geoms(model, character))
    found = plant_feet(model, character, before, legs)
    steps = []
    for some in (before, found.motion):
        left, right = (points[..., 2].min(axis=1) for points in soles_of(stage, some, legs))
        steps.append(float(np.std(left - right)))
    print("how the feet differ in height before and after [m]:", steps)
    assert steps[1] < 0.3 * steps[0] and found.stands.mean() > 0.9
    slid = [np.ptp(points[..., :2].mean(axis=1), axis=0).max() for points in soles_of(stage, found.motion, legs)]
    assert max(slid) < 0.01


def soles_of(stage: StageLoop, motion: BodyMotion, legs: list[Leg]) -> list[np.ndarray]:
    """Return the corners of each leg's soles in the world [m], (F, points, 3)."""
    character = stage.character("a")
    turns = seen_from_root(pose_frames(stage.model, character, motion.qpos)[1])
    return [sole_points(stage.model, character.root_body, leg, turns, motion.qpos[:, :3]) for leg in legs]


def test_what_is_foreseen_of_standing_still_carries_the_weight() -> None:
    """With the foreseen torques and the weight on its feet, the body accelerates nowhere: statics."""
    stage, motion = on_stage("idle")
    model, character = stage.model, stage.character("a")
    still = replace(motion, qpos=np.repeat(motion.qpos[:1], 24, axis=0))
    torque = foreseen_torques(model, character, still)
    assert np.allclose(torque, torque[0], atol=1e-6)
    root = character.root
    assert root is not None
    data = mujoco.MjData(model)
    data.qpos[root.qpos : root.qpos + still.qpos.shape[1]] = still.qpos[0]
    mujoco.mj_forward(model, data)
    arms = [joint.dof for name, joint in character.joints.items() if "shoulder" in name or "elbow" in name]
    for dof in arms:  # nothing touches the arms: what is foreseen there is gravity alone
        assert np.allclose(torque[0, dof - 6 : dof - 3], data.qfrc_bias[dof : dof + 3], atol=0.05)


def test_foreseen_torques_lower_the_error_of_following() -> None:
    _, motion = on_stage("walk")
    errors = []
    for foresee in (False, True):
        path = find_clip("walk")
        stage = StageLoop(Scene({"a": CharacterSpec(str(path), root="free")}, physics_hz=120.0, control_hz=120.0))
        tracker = follower_of(stage, "a", motion, settings=ServoSettings(foresee=foresee), root=RootSpring())
        time, qpos = [], []
        for _ in range(100):
            stage.advance(2)
            time.append(stage.time)
            qpos.append(stage.data.qpos.copy())
        errors.append(measure(tracker, np.array(time), np.array(qpos))["error_deg_mean"])
    print("error without and with foreseen torques [°]:", errors)
    assert errors[1] < 0.9 * errors[0]


def test_a_motion_begins_with_the_velocity_of_its_course_and_not_of_its_noise() -> None:
    stage, motion = on_stage("idle")
    rng, root = np.random.default_rng(1), stage.character("a").root
    assert root is not None
    steady = np.repeat(motion.qpos[:1], 40, axis=0)
    steady[:, 0] += 0.8 * np.arange(40) / motion.fps
    noisy = steady.copy()
    noisy[1:, :3] += rng.normal(0.0, 0.002, (39, 3))
    qpos = stage.data.qpos.copy()
    qpos[root.qpos : root.qpos + motion.qpos.shape[1]] = noisy[0]
    found = first_velocity(stage.model, qpos, stage.character("a"), replace(motion, qpos=noisy))
    print("first velocity [m/s]:", found[root.dof : root.dof + 3])
    assert np.allclose(found[root.dof : root.dof + 3], [0.8, 0.0, 0.0], atol=0.15)


def test_swinging_feet_are_lifted_where_they_are_low_and_standing_ones_left_alone() -> None:
    stage, motion = on_stage("walk")
    character = stage.character("a")
    soles = sole_geoms(stage.model, character)
    for leg in legs_of(stage.model, character, soles):
        matrices = rotations.to_matrix(seen_from_root(pose_frames(stage.model, character, motion.qpos)[1]))
        wanted = missing(leg, matrices, motion.qpos[:, :3], motion.fps)
        after = clear_feet(stage.model, character, motion, [leg])
        foot = [pose_frames(stage.model, character, some.qpos)[0][:, leg.foot, 2] for some in (motion, after)]
        print(f"lifted by up to {1e3 * wanted.max():.0f} mm, in {np.mean(wanted > 1e-3):.0%} of the frames")
        assert wanted.max() > 0.003 and np.allclose(foot[1] - foot[0], wanted, atol=2e-3)
        still = wanted == 0.0
        assert np.allclose(after.qpos[still], motion.qpos[still], atol=1e-9)


def test_a_jerk_in_the_first_frames_does_not_set_the_whole_body_spinning() -> None:
    stage, motion = on_stage("idle")
    root = stage.character("a").root
    assert root is not None
    steady = np.repeat(motion.qpos[:1], 60, axis=0)
    jerk = 0.05 * np.exp(-np.arange(60) / motion.fps / 0.02)  # rad, gone after a few frames
    for frame, angle in enumerate(jerk):
        spin = rotations.from_rotation_vector(np.array([0.0, 0.0, angle]))
        steady[frame, 3:7] = rotations.multiply(spin, steady[frame, 3:7])
    qpos = stage.data.qpos.copy()
    qpos[root.qpos : root.qpos + motion.qpos.shape[1]] = steady[0]
    found = first_velocity(stage.model, qpos, stage.character("a"), replace(motion, qpos=steady))
    plain = (steady[1, 3:7] - steady[0, 3:7]) * motion.fps
    print("turning [rad/s]:", found[root.dof + 3 : root.dof + 6], "difference of frames:", 2.0 * np.linalg.norm(plain))
    assert np.linalg.norm(found[root.dof + 3 : root.dof + 6]) < 0.1 < np.linalg.norm(plain)


def turned_on_the_spot(motion: BodyMotion, angle: np.ndarray) -> BodyMotion:
    """Return a motion that holds its first frame and turns about the vertical [rad], (F,)."""
    qpos = np.repeat(motion.qpos[:1], len(angle), axis=0)
    spins = rotations.from_rotation_vector(angle[:, None] * [0.0, 0.0, 1.0])
    qpos[:, 3:7] = rotations.multiply(spins, qpos[:, 3:7])
    return replace(motion, qpos=qpos)


def test_a_foot_that_the_clip_turns_on_may_turn() -> None:
    stage, motion = on_stage("idle")
    character = stage.character("a")
    soles = sole_geoms(stage.model, character)
    time = np.arange(40) / motion.fps
    held = make_rows(stage.model, character, turned_on_the_spot(motion, 0.0 * time), soles).friction
    pivots = make_rows(stage.model, character, turned_on_the_spot(motion, 10.0 * time), soles).friction
    assert np.all(held > 0.8)
    assert np.all(pivots[5:-5] < 0.35)


def test_a_leg_that_is_all_but_straight_is_bent_about_its_knees_own_axis() -> None:
    """Not to the side: the clip's knees are hinges, and stay hinges."""
    stage, motion = on_stage("walk")
    character = stage.character("a")
    soles = sole_geoms(stage.model, character)
    rows = make_rows(stage.model, character, motion, soles)
    for leg in legs_of(stage.model, character, soles):
        thigh, shank = leg.chain[-3:-1]
        lifted = leg.lifted(rows.turns, np.tile([0.0, 0.0, 0.02], (len(rows.turns), 1)))
        knees = [
            rotations.multiply(rotations.conjugate(turns[:, thigh]), turns[:, shank]) for turns in (rows.turns, lifted)
        ]
        bent = rotations.to_rotation_vector(rotations.multiply(knees[1], rotations.conjugate(knees[0])))
        axis = np.linalg.svd(rotations.to_rotation_vector(knees[0]), full_matrices=False)[2][0]
        aside = np.linalg.norm(bent - np.outer(bent @ axis, axis), axis=1)
        print(f"bent by up to {np.degrees(np.abs(bent @ axis).max()):.0f}°, aside {np.degrees(aside.max()):.1f}°")
        assert np.abs(bent @ axis).max() > np.radians(5.0) and aside.max() < np.radians(3.0)


def test_what_is_prepared_does_not_depend_on_where_the_motion_was_played_before() -> None:
    """Else a take would depend on what was performed earlier in the same process."""
    stage, motion = on_stage("punch")
    model, character = stage.model, stage.character("a")
    soles = sole_geoms(model, character)
    placed = [motion.placed((3.0 * k, -k), 0.7 * k) for k in range(3)]
    found = []
    for order in ((0, 1, 2), (2, 1, 0)):
        pipeline._KNOWN.clear()
        rows = [pipeline.prepare(model, character, placed[k], soles, ServoSettings()) for k in order]
        found.append(rows[order.index(1)])
        assert all(one.torque is rows[0].torque for one in rows)  # and is worked out once
    for name in ("turns", "path", "friction", "torque", "swing"):
        assert np.array_equal(getattr(found[0], name), getattr(found[1], name))
    asked = found[0].asked
    assert asked is not None and np.allclose(found[0].path[0, :2], placed[1].qpos[0, :2])


def test_a_motion_that_differs_in_its_tilt_alone_takes_other_torques() -> None:
    stage, motion = on_stage("idle")
    lying = motion.qpos.copy()
    lying[:, 3:7] = rotations.multiply(rotations.from_rotation_vector([0.0, 1.2, 0.0]), lying[:, 3:7])
    one, two = (
        foreseen_torques(stage.model, stage.character("a"), some) for some in (motion, replace(motion, qpos=lying))
    )
    assert not np.allclose(one, two)


def test_a_foot_that_the_clip_turns_slowly_holds_its_place_and_gives_way_to_turning() -> None:
    stage, motion = on_stage("idle")
    character = stage.character("a")
    soles = sole_geoms(stage.model, character)
    time = np.arange(40) / motion.fps
    for rate, share in ((0.0, 1.0), (0.9, 1.0), (3.5, BALL)):
        rows = make_rows(stage.model, character, turned_on_the_spot(motion, rate * time), soles)
        assert rows.twist is not None
        assert np.allclose(rows.twist[5:-5], share)
    toes = [k for k, geom in enumerate(soles) if "toe" in stage.model.geom(geom).name]
    assert np.all(rows.friction[5:-5][:, toes] > 0.8)


def test_soles_have_the_friction_of_their_row_against_sliding_and_turning() -> None:
    tracker = walking()
    model, soles, rows = tracker.stage.model, tracker.soles, tracker.rows
    assert rows.twist is not None
    for _ in range(6):
        tracker.stage.step(0.1)
        frame = int((tracker.stage.time - tracker.stage.step_time) * rows.fps)
        sliding = rows.friction[frame]
        assert np.allclose(model.geom_friction[soles, 0], sliding)
        assert np.allclose(model.geom_friction[soles, 1], GRIP[1] * sliding / GRIP[0] * rows.twist[frame])


def test_rows_that_say_nothing_of_turning_hold_as_they_slide() -> None:
    tracker = walking()
    model, soles = tracker.stage.model, tracker.soles
    tracker.program.aim(tracker.number, replace(tracker.rows, twist=None), tracker.started)
    tracker.stage.step(0.4)
    friction = model.geom_friction[soles]
    assert np.allclose(friction[:, 1] / friction[:, 0], GRIP[1] / GRIP[0])


def walking() -> BodyActor:
    """Put a walker on a stage of its own."""
    path = find_clip("walk")
    stage = StageLoop(Scene({"a": CharacterSpec(str(path), root="free")}, physics_hz=120.0, control_hz=120.0))
    return follower_of(stage, "a", motion_of_clip(read_clip(path), stage.character("a")))


def test_a_motion_that_begins_in_mid_swing_and_a_rag_doll_have_soles_that_hold() -> None:
    """The friction of the moment is no sole's own: it used to stay with whatever came next."""
    tracker = walking()
    model, soles = tracker.stage.model, tracker.soles
    while model.geom_friction[soles, 0].min() > 0.1:
        tracker.stage.advance(1)
    idle = motion_of_clip(read_clip(find_clip("idle")), tracker.character)
    tracker.follow(idle, blend=0.2)
    assert np.allclose(tracker.rows.friction[-1], GRIP[0])
    tracker.go_limp()
    assert np.allclose(model.geom_friction[soles, :2], GRIP[:2])


def test_who_does_not_fall_is_carried_by_the_lowest_foot_even_if_it_seems_to_hover() -> None:
    """Whoever stands on tiptoe in a capture without tips of toes; whoever leaps is carried by none."""
    time = np.arange(120) / 120.0
    feet = [np.full((120, 8, 3), height) for height in (0.06, 0.3)]
    still, leap = np.full(120, 1.0), 1.0 + 3.0 * time - 0.5 * 9.81 * time**2
    assert [bool(near[40:80].all()) for near in near_floor(feet, still, 120.0)] == [True, False]
    assert not any(near[40:80].any() for near in near_floor(feet, leap, 120.0))
    assert not any(near.any() for near in near_floor([foot + 0.1 for foot in feet], still, 120.0))


def test_what_is_foreseen_at_one_rate_is_not_taken_for_another() -> None:
    import stunt

    def torques(hz: float, *before: float) -> np.ndarray:
        pipeline._KNOWN.clear()
        for other in (*before, hz):
            stage = stunt.Stage({"ada": stunt.Body("walk", root="free")}, hz=other)
            stage.actor("ada").follow(stunt.load_clip("walk"))
        return np.asarray(stage.actors["ada"].rows.torque)

    assert np.array_equal(torques(120.0), torques(120.0, 240.0))
    assert not np.array_equal(torques(120.0), torques(240.0))
