"""A performer hits its marks: from a script or from a user's own loop."""

import math

import numpy as np
import pytest

import stunt
from stunt.drive.beats.performer import Performer
from stunt.drive.beats.spec import Exit, MachineSpec, StateSpec
from stunt.drive.beats.state_machine import StateMachine
from stunt.errors import InvalidValueError, JointLimitError, UnknownNameError
from stunt.motion.pose import Pose
from stunt.stage.event_specs import Push, Throw
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

UP = Pose.degrees("up", r_shoulder_flexion=110, r_elbow_flexion=40)
DOWN = Pose.degrees("down", r_shoulder_flexion=10, r_elbow_flexion=80)


def ada(hz=480.0, props=None, **options):
    stage = StageLoop(
        Scene(characters={"ada": CharacterSpec("human39")}, physics_hz=hz, control_hz=hz, props=props or {})
    )
    return stage, Performer(stage, "ada", **options)


def test_a_beat_between_two_steps_is_measured_between_them():
    stage, performer = ada(hz=120.0)
    performer.key(UP, at=0.5037)  # no multiple of 1/120 s
    stage.step(0.6)
    assert performer.results[0].time == 0.5037
    assert performer.results[0].error_deg < 0.2


@pytest.mark.parametrize("arrival", ["critical", "minimum_effort"])
def test_a_key_with_velocity_is_passed_with_that_velocity(arrival):
    stage, performer = ada(arrival=arrival)
    swing = Pose("swing", {"r_shoulder_flexion": 1.0}, {"r_shoulder_flexion": 3.0})
    performer.key(swing, at=0.5)
    performer.key(Pose.degrees("on", r_shoulder_flexion=90), after=0.4)
    stage.step(0.5)
    joint = stage.characters["ada"].joints["r_shoulder_flexion"]
    assert stage.data.qvel[joint.dof] == pytest.approx(3.0, abs=0.05)
    assert performer.results[0].error_deg < 0.1
    stage.step(0.4)
    assert performer.results[1].error_deg < 0.1


def test_keys_can_be_added_while_it_runs_and_each_joint_heads_for_its_own():
    stage, performer = ada()
    performer.key(Pose.degrees("a", r_shoulder_flexion=80), at=0.8)
    stage.step(0.2)
    performer.key(Pose.degrees("b", l_elbow_flexion=90), at=0.5)
    performer.key(Pose.degrees("c", r_shoulder_flexion=40), at=0.6)  # before one that was asked for first
    stage.step(0.6)
    assert [result.pose for result in performer.results] == ["b", "c", "a"]
    assert max(result.error_deg for result in performer.results) < 0.1


def test_a_beat_with_a_duration_waits_before_it_sets_out():
    stage, performer = ada()
    performer.key(UP, at=1.0, duration=0.3)
    stage.step(0.69)
    joint = stage.characters["ada"].joints["r_shoulder_flexion"]
    assert abs(stage.data.qpos[joint.qpos]) < math.radians(0.5)
    stage.step(0.31)
    assert performer.results[0].error_deg < 0.1


def test_a_held_pose_comes_back_in_about_its_tension():
    for tension in (0.2, 0.6):
        stage, performer = ada(tension=tension)
        happenings = EventCrew(stage, [Push("ada/r_forearm", at=0.1, impulse=(2.0, 0.0, 0.0))])
        stage.crew.append(happenings)
        joint = stage.characters["ada"].joints["r_shoulder_flexion"]
        angles = []
        for _ in range(240):
            stage.advance(4)
            angles.append(abs(stage.data.qpos[joint.qpos]))
        peak = int(np.argmax(angles))
        later = peak + round(tension * 120)
        assert angles[peak] > math.radians(1.0)
        assert angles[later] < 0.2 * angles[peak]


def test_callbacks_tell_of_hits_and_missed_beats():
    ball = PropSpec("sphere", at=(2.0, -0.2, 1.2), radius=0.08, mass=0.5)
    stage, performer = ada(props={"ball": ball})
    stage.crew.append(EventCrew(stage, [Throw("ball", "ada/thorax", hits_at=0.3)]))
    hits, missed = [], []
    performer.on_hit(hits.append)
    performer.on_missed(missed.append)
    performer.key(Pose.degrees("too soon", r_shoulder_flexion=170, lumbar_flexion=60), at=0.1)
    stage.step(0.5)
    assert hits[0].character == "ada" and hits[0].by == "ball"
    assert missed[0].pose == "too soon" and missed[0].saturated


def test_bad_keys_are_refused_with_what_exists():
    stage, performer = ada()
    with pytest.raises(UnknownNameError, match="r_elbow_flexion"):
        performer.key(Pose.degrees("x", r_elbow_flexoin=10), at=1.0)
    with pytest.raises(JointLimitError, match="150"):
        performer.key(Pose.degrees("x", r_elbow_flexion=190), at=1.0)
    stage.step(0.5)
    with pytest.raises(InvalidValueError, match="later than now"):
        performer.key(UP, at=0.4)


def test_a_machine_goes_on_by_time_by_angle_and_by_contact():
    ball = PropSpec("sphere", at=(2.5, -0.2, 1.2), radius=0.08, mass=0.3)
    stage, performer = ada(props={"ball": ball})
    stage.crew.append(EventCrew(stage, [Throw("ball", "ada/thorax", at=0.8, hits_at=1.2, origin=(2.5, 0.0, 1.3))]))
    machine = StateMachine(
        performer,
        MachineSpec(
            "rest",
            {
                "rest": StateSpec(DOWN, 0.3, (Exit("rise", after=0.4),)),
                "rise": StateSpec(UP, 0.4, (Exit("wait", joint="r_shoulder_flexion", above=1.5),)),
                "wait": StateSpec(UP, 0.4, (Exit("flinch", contact="thorax", with_prop="ball"),)),
                "flinch": StateSpec(DOWN, 0.2),
            },
        ),
    )
    stage.step(1.6)
    assert [entry["state"] for entry in machine.log] == ["rest", "rise", "wait", "flinch"]
    times = [entry["time"] for entry in machine.log]
    assert times[1] == pytest.approx(0.4, abs=0.01)
    assert times[3] == pytest.approx(1.2, abs=0.02)
    assert performer.results[-1].pose == "down"


def test_cycles_play_the_beats_again():
    data = {
        "characters": {"ada": {"body": "human39"}},
        "poses": {"up": {"r_shoulder_flexion": 60}, "down": {"r_shoulder_flexion": 0}},
        "performance": {"ada": {"cycle": 3, "beats": [{"pose": "up", "after": 0.3}, {"pose": "down", "after": 0.3}]}},
    }
    performance = stunt.Performance(stunt.script_from_data(data))
    performance.run()
    results = performance.performers["ada"].results
    assert [result.pose for result in results] == ["up", "down"] * 3
    assert max(result.error_deg for result in results) < 0.1


def test_three_newton_seconds_on_the_forearm_bend_the_arm_but_not_the_beat():
    pose = Pose.degrees("reach", r_shoulder_flexion=75, r_elbow_flexion=60)

    def hand_path(impulse, left):
        stage, performer = ada()
        if impulse:
            stage.crew.append(EventCrew(stage, [Push("ada/r_forearm", at=0.7 - left, impulse=(0.0, impulse, 0.0))]))
        performer.key(pose, at=0.7)
        hand = stage.characters["ada"].bodies["r_hand"]
        path = []
        for _ in range(84):
            stage.advance(4)
            path.append(stage.data.xpos[hand].copy())
        return np.array(path), performer.results[0]

    quiet, _ = hand_path(0.0, 0.2)
    for left in (0.2, 0.3, 0.4):
        pushed, result = hand_path(3.0, left)
        gave_way = np.linalg.norm(pushed - quiet, axis=1).max()
        print(f"{left} s left: gave way by {100 * gave_way:.1f} cm, beat met to {result.error_deg:.3f}°")
        assert result.error_deg <= 2.0
        assert gave_way > 0.03
