"""A body on its own feet: nothing but contacts and its joints moves it."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import stunt
from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import GAVE_UP, BodyActor, actor_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.own.follower import _pressures, check_strength
from stunt.errors import BodyError, StuntError
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def walker(clip: str, clock: str = "free", *, hz: float = 480.0, strength: float = 1.5) -> BodyActor:
    spec = CharacterSpec(clip, root="free", strength=strength)
    stage = StageLoop(Scene({"a": spec}, physics_hz=hz, control_hz=120.0))
    actor = actor_of(stage, "a", root=RootSpring(kind="own", clock=clock))  # type: ignore[arg-type]
    actor.begin(motion_of_clip(load_clip(clip), stage.character("a")))
    return actor


@pytest.mark.parametrize("clip", ["idle", "walk"])
def test_nothing_from_outside_and_no_joint_beyond_its_strength(clip: str) -> None:
    actor = walker(clip)
    stage, root = actor.stage, actor.character.root
    assert root is not None
    while stage.time < 2.0:
        stage.advance(1)
        assert not stage.data.qfrc_applied[root.dof : root.dof + 6].any() and not stage.data.xfrc_applied.any()
        for joint in actor.character.joints.values():
            torque = stage.data.qfrc_applied[joint.dof : joint.dof + joint.nv]
            assert np.linalg.norm(torque) <= joint.strength * (1.0 + 1e-9)
    assert actor.on_own_feet and actor.own.summary()["outside"] == 0.0
    assert actor.own.clip_time > 1.8
    help_ = actor.assistance()
    assert help_.torque_peak == help_.force_peak == help_.impulse == 0.0


def test_momentum_changes_by_contacts_and_gravity_alone() -> None:
    """Newton's law of the whole body, from the engine's states: what contacts gave is all there was."""
    actor = walker("walk")
    stage, mass = actor.stage, actor.character.mass
    model, data, body = stage.model, stage.data, actor.character.root_body
    stage.advance(40)
    left = []
    for _ in range(200):
        mujoco.mj_subtreeVel(model, data)
        before = mass * data.subtree_linvel[body].copy()
        stage.advance(1)
        contacts = np.zeros(3)
        wrench = np.zeros(6)
        for k in range(data.ncon):
            pair = [int(model.geom_bodyid[g]) for g in data.contact.geom[k]]
            if (model.body_treeid[pair[0]] < 0) == (model.body_treeid[pair[1]] < 0):
                continue
            mujoco.mj_contactForce(model, data, k, wrench)
            sign = 1.0 if model.body_treeid[pair[1]] >= 0 else -1.0
            contacts += sign * data.contact.frame[k].reshape(3, 3).T @ wrench[:3]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_subtreeVel(model, data)
        change = (mass * data.subtree_linvel[body] - before) / stage.step_time
        left.append(np.linalg.norm(change - contacts - mass * model.opt.gravity))
    assert np.median(left) < 0.02 * mass * 9.81


def test_a_saved_performance_goes_on_bit_for_bit() -> None:
    actor = walker("walk")
    stage = actor.stage
    stage.advance(150)  # between two ticks of the programme
    saved = stage.save()
    stage.advance(333)
    first, clock = stage.data.qpos.copy(), list(actor.own.clock)
    stage.restore(saved)
    stage.advance(333)
    assert (stage.data.qpos == first).all() and actor.own.clock == clock


def test_two_bodies_do_as_each_does_alone() -> None:
    """Memory of one is not taken for another's."""
    alone = walker("idle")
    alone.stage.advance(240)
    people = {
        n: CharacterSpec("idle", root="free", strength=1.5, at=(0.0, y, 0.0)) for n, y in (("a", 0.0), ("b", 3.0))
    }
    stage = StageLoop(Scene(people, physics_hz=480.0, control_hz=120.0))
    both = []
    for name in people:
        actor = actor_of(stage, name, root=RootSpring(kind="own"))
        motion = motion_of_clip(load_clip("idle"), stage.character(name))
        actor.begin(motion.placed((0.0, people[name].at[1]), 0.0))
        both.append(actor)
    stage.advance(240)
    for actor in both:
        assert actor.on_own_feet
        assert actor.here[7:] == pytest.approx(alone.here[7:], abs=1e-3)


def test_the_clips_clock_is_kept_where_it_is_asked_for() -> None:
    actor = walker("walk", "clip")
    actor.stage.advance(400)
    assert actor.own.clip_time == pytest.approx(actor.stage.time, abs=1.0 / 120.0 + 1e-9)
    assert actor.own.summary()["late_s"] == 0.0


@pytest.mark.parametrize(
    ("way", "impulse"), [((0.0, 1.0), 40.0), ((0.0, -1.0), 40.0), ((1.0, 0.0), 50.0), ((-0.6, -0.8), 40.0)]
)
def test_who_stands_catches_a_push_by_a_step(way: tuple[float, float], impulse: float) -> None:
    """To all sides; the impulse [N·s] is that of a body of 70 kg."""
    pushed = walker("idle")
    stage, chest = pushed.stage, pushed.character.bodies["thorax"]
    stage.advance(240)
    stage.data.xfrc_applied[chest, :2] = np.array(way) * impulse * pushed.character.mass / 70.0 / 0.1
    stage.advance(48)
    stage.data.xfrc_applied[chest] = 0.0
    stage.advance(480 * 3)
    assert pushed.on_own_feet and 1 <= int(pushed.own.summary()["recovery_steps"]) <= 8


def pushed_over_the_standing_foot(
    foot: int, impulse: float, *, stops: bool = True
) -> tuple[BodyActor, int, list[float]]:
    """Push a walker sideways while a foot swings, over the other; return how many ticks legs met, and slowest clocks.

    The clocks are those of ticks in which the capture point was off by more than 0.2 m to the side: nobody dawdles from
    0.16 m on, measured across the clip's way, which sways a little.
    """
    actor = walker("walk")
    actor.begin(replace(motion_of_clip(load_clip("walk"), actor.character), loop=True))
    stage, bodies = actor.stage, actor.character.bodies
    if not stops:  # the clip's own steps are all there is
        actor.own.program.gains["misses"] = np.inf
    stage.advance(480)
    while not (actor.own._memory["planned"][foot] == 0 and 0.2 < actor.own._memory["left"][foot] < 0.3):
        stage.advance(4)
    chest, legs = bodies["thorax"], [{bodies[f"{side}_{part}"] for part in ("thigh", "shank", "foot")} for side in "lr"]
    stage.data.xfrc_applied[chest, 1] = (2 * foot - 1) * impulse * actor.character.mass / 70.0 / 0.1
    met, clocks = 0, []
    for tick in range(240):
        stage.advance(4)
        if tick == 11:
            stage.data.xfrc_applied[chest] = 0.0
        pairs = [{int(b) for b in stage.model.geom_bodyid[geoms]} for geoms in stage.data.contact.geom]
        met += any(pair & legs[0] and pair & legs[1] for pair in pairs)
        who = actor.own._memory
        if abs(who["error"][1] + who["ahead_off"][1] - who["press_off"][1]) > 0.2:
            clocks.append(float(who["rate"]))
    return actor, met, clocks


def test_a_walker_pushed_over_the_standing_foot_does_not_step_through_its_leg() -> None:
    found = [pushed_over_the_standing_foot(foot, 15.0) for foot in (0, 1)]
    assert all(actor.on_own_feet for actor, _, _ in found)
    assert sum(met for _, met, _ in found) < 15


def test_a_walker_that_falls_to_the_side_does_not_dawdle() -> None:
    _, _, clocks = pushed_over_the_standing_foot(1, 30.0, stops=False)
    assert len(clocks) > 10 and min(clocks) >= 1.0


def test_a_walker_whom_its_next_step_does_not_catch_stops_for_others_and_walks_on() -> None:
    """Hardly pushed it does not; where only the clip's own steps are there, one of the two falls."""
    assert pushed_over_the_standing_foot(0, 1.0)[0].own.summary()["recovery_steps"] == 0
    for foot in (0, 1):
        actor, _, _ = pushed_over_the_standing_foot(foot, 40.0)
        assert actor.on_own_feet and actor.own.summary()["recovery_steps"] >= 1
        actor.stage.advance(480 * 2)
        went = actor.own.clip_time
        actor.stage.advance(480)
        assert actor.on_own_feet and actor.own._memory["halted"] == 0 and actor.own.clip_time > went + 0.8
    alone = [pushed_over_the_standing_foot(foot, 40.0, stops=False)[0] for foot in (0, 1)]
    for actor in alone:
        actor.stage.advance(480 * 2)
    assert not all(actor.on_own_feet for actor in alone)


def test_a_walker_beside_its_line_comes_back_to_it_step_by_step() -> None:
    actor = walker("walk_slow")
    actor.begin(replace(motion_of_clip(load_clip("walk_slow"), actor.character), loop=True))
    actor.stage.data.qpos[actor.character.root.qpos + 1] += 0.08
    mujoco.mj_forward(actor.stage.model, actor.stage.data)
    beside = []
    for _ in range(8):
        actor.stage.advance(240)
        beside.append(abs(float(actor.own._memory["press_off"][1])))
    assert beside[0] > 0.05 and max(beside[-3:]) < 0.02


def test_a_standing_foot_that_the_clip_turns_on_its_ball_is_where_the_clip_has_it() -> None:
    actor = walker("idle")
    actor.stage.advance(240)
    held = actor.own.stand(floor=0.0)
    places, turns = held.places.copy(), held.turns.copy()
    who, data = actor.own._memory, actor.stage.data
    points = [(who["point_owner"][n], who["point_at"][3 * n : 3 * n + 3]) for n in range(who["point_count"][0])]
    ball = np.mean([data.xpos[body] + data.xmat[body].reshape(3, 3) @ at for body, at in points], axis=0)
    turn = rotations.from_rotation_vector(np.array([0.0, 0.0, 0.5]))
    places[:, 0] = ball + rotations.rotate(turn, places[:, 0] - ball)
    turns[:, 0] = rotations.multiply(turn, turns[:, 0])
    actor.own.follow(replace(held, places=places, turns=turns), 0.0, floor=0.0, free_clock=True)
    actor.stage.advance(200)
    assert np.linalg.norm(who["off"][:2]) > 0.02 and np.linalg.norm(who["sole_off"][:2]) < 0.005


def test_feet_close_again_after_a_push() -> None:
    pushed = walker("idle")
    stage, chest = pushed.stage, pushed.character.bodies["thorax"]
    stage.advance(240)
    stage.data.xfrc_applied[chest, 0] = 60.0 * pushed.character.mass / 70.0 / 0.1
    stage.advance(48)
    stage.data.xfrc_applied[chest] = 0.0
    stage.advance(480)
    who = pushed.own.program.actors[pushed.own.number]
    apart = np.linalg.norm(who["off"].reshape(2, 2), axis=1).max()
    stage.advance(480 * 8)
    told = pushed.own.summary()
    assert pushed.on_own_feet and told["recovery_steps"] >= 1 and told["closing_steps"] >= 1
    assert np.linalg.norm(who["off"].reshape(2, 2), axis=1).max() < 0.06 < apart
    assert who["open"] == 0 and who["closing"] == 0  # and it leaves it at that


def test_pressure_to_come_is_weighed_the_sooner_the_more() -> None:
    """By the integral itself, summed over the frames until the stance ends that a foot is in or swings to."""
    actor = walker("walk")
    reference = actor.motions.reference_of(motion_of_clip(load_clip("walk"), actor.character))
    share, ahead = _pressures(reference)
    stands, fps = reference.stands, reference.motion.fps
    assert share.sum(axis=1)[stands.any(axis=1)] == pytest.approx(1.0)
    omega = np.sqrt(9.81 / np.median(reference.plan.com[:, 2] - reference.places[..., 2].min()))
    fades = np.exp(-omega * np.arange(len(share)) / fps) - np.exp(-omega * (np.arange(len(share)) + 1) / fps)
    for frame in range(0, len(share) - 1, 23):
        for foot in range(2):
            later = stands[frame:, foot]
            begins = int(np.argmax(later))
            gone = np.flatnonzero(~later[begins:])
            if not later.any() or not len(gone):
                continue  # to the end of the clip, and on
            end = begins + int(gone[0])
            wanted = (fades[:end] * share[frame : frame + end, foot]).sum()
            assert ahead[frame, foot] == pytest.approx(wanted, abs=1e-9)


def test_who_cannot_stay_up_gives_up_with_its_reason() -> None:
    actor = walker("idle")
    stage, chest = actor.stage, actor.character.bodies["thorax"]
    stage.advance(120)
    stage.data.xfrc_applied[chest, 1] = 4000.0
    stage.advance(96)
    stage.data.xfrc_applied[chest, 1] = 0.0
    stage.advance(480)
    told = [entry for entry in actor.log if entry["state"] == GAVE_UP]
    assert len(told) == 1 and told[0]["why"]
    assert not actor.on_own_feet and actor.broken_for == np.inf


def test_follow_takes_assistance_by_name_and_the_report_says_that_there_was_none() -> None:
    clip = stunt.load_clip("idle")
    stage = stunt.Stage({"ada": stunt.Body(clip, root="free", strength=1.5)})
    stage.actor("ada").follow(clip, assist="own")
    report = stage.run(1.0).report()["characters"]["ada"]
    assert report["assistance"]["torque_peak"] == report["assistance"]["force_peak"] == 0.0
    assert report["own_feet"]["outside"] == 0.0 and report["own_feet"]["ticks"] == 120
    assert report["error_deg_mean"] < 1.0
    with pytest.raises(StuntError, match="owl"):
        stage.actor("ada").follow(clip, assist="owl")


def test_what_an_arm_on_the_ribs_is_pushed_by_is_felt_and_met() -> None:
    """Right beside the shoulder a millimetre is some degrees: 6° off before. What is felt is the engine's own force."""
    actor = walker("idle")
    stage, arm = actor.stage, actor.character.joints["l_clavicle"]
    sleeve = stage.model.geom_bodyid == actor.character.bodies["l_upper_arm"]  # thick enough to rest on the ribs
    stage.model.geom_size[sleeve, 0] += 0.015
    stage.model.geom_rbound[sleeve] += 0.015
    stage.advance(480)
    names = {stage.model.body(int(b)).name for b in stage.model.geom_bodyid[stage.data.contact.geom].ravel()}
    assert any("l_upper_arm" in name for name in names)
    own = slice(arm.dof, arm.dof + 3)
    felt, pushed = actor.own.program._pushed[own], stage.data.qfrc_constraint[own]
    assert np.linalg.norm(pushed) > 1.0 and felt == pytest.approx(pushed, abs=0.25 * np.linalg.norm(pushed))
    legs = [actor.character.joints[name].dof for name in ("l_knee", "r_hip")]
    assert not actor.own.program._pushed[legs].any()


def test_what_cannot_be_is_said_beforehand() -> None:
    with pytest.raises(StuntError, match="240"):
        walker("idle", hz=120.0)
    with pytest.raises(StuntError, match="strength"):
        walker("idle", strength=0.0)
    actor = walker("idle")
    weak = replace(actor.character.joints["l_knee"], strength=0.0)
    actor.character.joints["l_knee"] = weak
    with pytest.raises(BodyError, match="l_knee"):
        check_strength(actor.character)


def standing(body: str = "human39") -> BodyActor:
    stage = StageLoop(Scene({"a": CharacterSpec(body, root="free", strength=1.5)}, physics_hz=480.0, control_hz=120.0))
    actor = actor_of(stage, "a", root=RootSpring(kind="own"))
    actor.own.stand(floor=0.0)
    return actor


def test_a_body_without_a_clip_stands_and_its_joints_do_what_they_are_asked() -> None:
    """An arm that is asked for a swing's accelerations swings; nothing holds the body meanwhile."""
    actor = standing()
    stage, arm = actor.stage, actor.character.joints["l_shoulder_flexion"]
    rate, off = 2.0 * np.pi * 0.7, []
    while stage.time < 2.0:
        swing = 0.6 * np.sin(rate * stage.time)
        pace, urge = 0.6 * rate * np.cos(rate * stage.time), -(rate**2) * swing
        here, speed = stage.data.qpos[arm.qpos], stage.data.qvel[arm.dof]
        actor.own.ask(arm.name, urge + 20.0**2 * (swing - here) + 40.0 * (pace - speed))
        stage.advance(4)
        off.append(here - swing)
    assert np.degrees(np.abs(off[60:])).max() < 2.0
    assert actor.on_own_feet and actor.own.summary()["recovery_steps"] == 0 and actor.own.summary()["outside"] == 0.0
    actor.own.free()
    stage.advance(480)
    assert abs(np.degrees(stage.data.qpos[arm.qpos])) < 2.0  # back in its stance


def test_tasks_of_joints_survive_a_restore() -> None:
    actor = standing()
    stage = actor.stage
    actor.own.ask("r_shoulder_flexion", 3.0)
    stage.advance(60)
    saved = stage.save()
    stage.advance(60)
    first = stage.data.qpos.copy()
    actor.own.free()
    stage.restore(saved)
    stage.advance(60)
    assert (stage.data.qpos == first).all()
