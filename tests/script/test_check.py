"""What a script says of joints and bodies, checked against a built stage."""

import math

import mujoco
import pytest

from stunt import errors
from stunt.character.character import Character
from stunt.drive.beats.check import check_pose, matching_joints
from stunt.drive.beats.spec import Part
from stunt.motion.pose import Pose
from stunt.script.check import check_against_stage
from stunt.script.file import load_script, script_from_data

MODEL = """
<mujoco><compiler angle="degree"/><worldbody>
  <body name="ada/upper_arm">
    <geom size="0.1"/><joint name="ada/r_elbow_flexion" range="0 150"/><site name="ada/r_palm"/>
    <body name="ada/forearm"><geom size="0.1"/><joint name="ada/r_wrist" type="ball" range="0 60"/>
      <body name="ada/finger"><geom size="0.1"/><joint name="ada/finger_slide" type="slide" range="0 0.1"/>
        <body name="ada/tip"><geom size="0.1"/><joint name="ada/tip_turn" axis="1 0 0"/></body>
      </body></body></body>
</worldbody></mujoco>"""
TEXT = """\
characters:
  ada:
    body: arm.xml
    start: {start}
poses:
  rest: {{r_elbow_flexion: 10}}
  wave:
    like: rest
    {pose}
props:
  ball: {{shape: sphere, mass: 1, at: [1, 0, 1]}}
seconds: 2
performance:
  ada:
    joints:
      - {joints}
    beats:
      - {{pose: wave, after: 0.5}}
    machine:
      states:
        a:
          pose: rest
          within: 0.5
          next:
            - {exit}
events:
  - {event}
"""
GOOD = {
    "start": "rest",
    "pose": "tip_turn: 3",
    "joints": "'r_*'",
    "exit": "{contact: any, to: a}",
    "event": "{push: ada/forearm, impulse: [0, 1, 0], at: 1}",
}


@pytest.fixture(scope="module")
def ada() -> Character:
    return Character(mujoco.MjModel.from_xml_string(MODEL), "ada")


def script(tmp_path, **changes):
    path = tmp_path / "s.yaml"
    path.write_text(TEXT.format(**GOOD | changes))
    return load_script(path)


GOOD_CHANGES = [
    {},
    {"pose": "r_elbow_flexion: 150"},
    {"pose": "r_elbow_flexion: 150.00001"},
    {"pose": "r_wrist: {rotvec: [0, 60, 0]}"},
    {"pose": "finger_slide: 0.1 m"},
    {"pose": "tip_turn: 720"},
    {"start": "{r_elbow_flexion: 30}"},
    {"exit": "{contact: finger, with: ball, to: a}"},
    {"exit": "{joint: finger_slide, above: 0.05 m, to: a}"},
    {"event": "{push: ball, impulse: [0, 1, 0], at: 1}"},
    {"event": "{throw: ball, target: ada/r_palm, hits_at: 1}"},
    {"event": "{attach: ball, to: ada/finger, at: 1}"},
    {"event": "{attach: ball, to: ada/r_palm, at: 1}"},
]


@pytest.mark.parametrize("changes", GOOD_CHANGES)
def test_a_script_that_fits_its_stage_passes(tmp_path, ada, changes):
    check_against_stage(script(tmp_path, **changes), {"ada": ada})


UNKNOWN = [
    ("pose", "r_elbow_flexoin: 10", 9, "r_elbow_flexion"),
    ("start", "{r_elbow_flex: 10}", 4, "r_elbow_flexion"),
    ("joints", "'l_*'", 16, None),
    ("joints", "r_wirst", 16, "r_wrist"),
    ("exit", "{joint: tip_trun, above: 3, to: a}", 25, "tip_turn"),
    ("exit", "{contact: fingr, to: a}", 25, "finger"),
    ("event", "{push: ada/forarm, impulse: [0, 1, 0], at: 1}", 27, "forearm"),
    ("event", "{push: ada/r_palm, impulse: [0, 1, 0], at: 1}", 27, None),
    ("event", "{throw: ball, target: ada/r_plam, hits_at: 1}", 27, "r_palm"),
    ("event", "{attach: ball, to: ada/r_plam, at: 1}", 27, "r_palm"),
]


@pytest.mark.parametrize(("key", "value", "line", "suggestion"), UNKNOWN)
def test_a_joint_or_body_she_does_not_have_is_reported_with_its_line(tmp_path, ada, key, value, line, suggestion):
    with pytest.raises(errors.UnknownNameError) as caught:
        check_against_stage(script(tmp_path, **{key: value}), {"ada": ada})
    assert caught.value.place.line == line
    assert f"s.yaml:{line} (" in str(caught.value) and "'ada'" in str(caught.value)
    if suggestion is not None:
        assert caught.value.suggestion == suggestion


LIMITS = [
    ("pose", "r_elbow_flexion: 150.001", 9, 150.001),
    ("pose", "r_elbow_flexion: -1", 9, -1.0),
    ("pose", "r_wrist: {rotvec: [0, 0, 61]}", 9, 61.0),
    ("pose", "finger_slide: 0.2 m", 9, 0.2),
    ("start", "{r_elbow_flexion: 200}", 4, 200.0),
]


@pytest.mark.parametrize(("key", "value", "line", "asked"), LIMITS)
def test_a_key_outside_a_joints_limits_is_reported_with_its_line(tmp_path, ada, key, value, line, asked):
    with pytest.raises(errors.JointLimitError) as caught:
        check_against_stage(script(tmp_path, **{key: value}), {"ada": ada})
    assert caught.value.place.line == line
    assert caught.value.angle_deg == pytest.approx(asked)


KINDS = [
    ("pose", "r_wrist: 30", 9, "ball joint 'r_wrist'"),
    ("pose", "r_elbow_flexion: [1, 0, 0, 0]", 9, "hinge joint 'r_elbow_flexion'"),
    ("pose", "r_elbow_flexion: 1 m", 9, "given one angle in degrees"),
    ("pose", "finger_slide: 0.05", 9, "such as '0.05 m', but it is 0.05"),
    ("exit", "{joint: finger_slide, above: 3, to: a}", 25, "slide joint 'finger_slide'"),
    ("exit", "{joint: r_wrist, above: 3, to: a}", 25, "a hinge or slide"),
]


@pytest.mark.parametrize(("key", "value", "line", "words"), KINDS)
def test_a_value_of_another_kind_than_the_joint_is_reported_with_its_line(tmp_path, ada, key, value, line, words):
    with pytest.raises(errors.InvalidValueError) as caught:
        check_against_stage(script(tmp_path, **{key: value}), {"ada": ada})
    assert caught.value.place.line == line
    assert words in str(caught.value)


def test_a_pose_nobody_plays_must_still_name_joints_somebody_has(ada):
    data = {"characters": {"ada": "arm.xml"}, "seconds": 1, "poses": {"odd": {"tail": 3}}}
    with pytest.raises(errors.UnknownNameError, match=r"poses\.odd\.tail.*unknown joint 'tail'"):
        check_against_stage(script_from_data(data), {"ada": ada})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_pose_made_in_python_is_checked_for_finite_numbers_too(ada, value):
    for joint in ("r_elbow_flexion", "tip_turn"):
        with pytest.raises((errors.JointLimitError, errors.InvalidValueError)):
            check_pose(Pose("odd", {joint: value}), ada)
    with pytest.raises(errors.InvalidValueError, match="velocity"):
        check_pose(Pose("odd", {"tip_turn": 0.0}, {"tip_turn": value}), ada)


def test_patterns_give_joints_in_the_characters_own_order(ada):
    assert matching_joints(Part(joints=("tip_*", "r_*")), ada) == ("r_elbow_flexion", "r_wrist", "tip_turn")
    assert matching_joints(Part(), ada) == tuple(ada.joints)
