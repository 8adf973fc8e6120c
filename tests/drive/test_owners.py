"""Ways of moving that share a body: each joint has one owner, overlaps are refused or noted, each does its part."""

from itertools import combinations

import numpy as np
import pytest

import stunt
import stunt.errors
from stunt.record.report import make_report
from stunt.script.performance import Performance

TRUNK_AND_LEGS = ["*_hip_*", "*_knee_*", "*_ankle_*", "lumbar*", "thorax*"]
BEATS = [
    {"angles": {"r_shoulder_flexion": 70, "r_elbow_flexion": 80}, "at": 0.7},
    {"angles": {"r_shoulder_flexion": 20, "r_elbow_flexion": 30}, "at": 1.4},
]
BENT = {"l_shoulder_flexion": 60, "l_elbow_flexion": 50}
TENSION = {"poses": [{"angles": BENT, "at": 0.2, "lasts": 0.9, "tension": "firm"}]}
PATH = {"joints": {"neck_flexion": {"times": [0, 0.5, 1.5], "values": [0, 15, -10]}}}


def script(clip: str = "idle", joints: list[str] | None = None, **part: object) -> stunt.Script:
    clips: dict[str, object] = {"play": [{"clip": clip}]} | ({} if joints is None else {"joints": joints})
    return stunt.script_from_data({
        "seconds": 1.5, "physics_hz": 480, "control_hz": 480,
        "performance": {"ada": {"assist": "own", "clips": clips, **part}},
        "characters": {"ada": {"body": "human39", "root": "free", "strength": 1.5}},
    })  # fmt: skip


def standing() -> tuple[stunt.Stage, stunt.Actor]:
    stage = stunt.Stage({"ada": stunt.Body("human39", root="free")}, hz=480)
    return stage, stage.actor("ada")


@pytest.fixture(scope="module")
def together():
    performance = Performance(script("walk", TRUNK_AND_LEGS, beats=BEATS, tension_poses=TENSION, trajectories=PATH))
    start = performance.stage.data.qpos.copy()
    return performance, start, performance.run()


def test_four_ways_of_moving_do_their_part_at_once(together):
    performance, _, take = together
    report = make_report(take)["characters"]["ada"]
    assert not report["fell"] and [beat["missed"] for beat in report["beats"]] == [False, False]
    assert max(beat["error_deg"] for beat in report["beats"]) < 1.0
    (pose,) = [event for event in take.events if event["kind"] == "tension_pose"]
    (path,) = [event for event in take.events if event["kind"] == "trajectory"]
    assert pose["error_deg"] < 3.0 and path["rms"] < 2.0 and report["strength"]["peak_share"] < 1.05
    alone = make_report(stunt.perform(script("walk")))["characters"]["ada"]["error_deg"]
    shared = report["error_deg"]
    assert np.mean(list(shared.values())) < 1.2 * np.mean([alone[bone] for bone in shared])


def test_what_a_clip_leaves_to_others_is_where_they_have_it_from_the_first_frame_on(together):
    performance, start, take = together
    for name, joint in performance.stage.character("ada").joints.items():
        if name[2:].startswith(("shoulder", "elbow", "wrist", "forearm")):
            assert abs(start[joint.qpos]) < 0.02, name  # the clip's elbow is bent by 0.57
            assert abs(take.qpos[:4, joint.qpos]).max() < 0.05, name


def test_the_error_of_a_clip_is_that_of_its_own_bones(together):
    _, _, take = together
    told = make_report(take)["characters"]["ada"]["error_deg"]
    assert {"l_thigh", "r_foot", "lumbar", "thorax"} <= set(told)
    assert not {"head", "neck", "l_upper_arm", "r_forearm", "r_hand"} & set(told)


def test_whatever_two_ways_share_is_an_error_that_names_both_lines_or_a_hand_over():
    shoulder = "r_shoulder_flexion"
    ways = {
        "beats": [{"angles": {shoulder: 50}, "at": 0.4}],
        "tension_poses": {"poses": [{"angles": {shoulder: 20}, "at": 0.1, "lasts": 0.2, "tension": "firm"}]},
        "trajectories": {"joints": {shoulder: {"times": [0, 1], "values": [0, 15]}}},
        "clips": {"play": [{"clip": "idle"}], "joints": [*TRUNK_AND_LEGS, "r_*"]},
        "supervisor": {"clips": {"idle": "idle"}},
    }
    lines = {
        "beats": "performance.ada.beats[0]", "tension_poses": "performance.ada.tension_poses.poses[0]",
        "trajectories": f"performance.ada.trajectories.joints.{shoulder}", "clips": "performance.ada.clips",
        "supervisor": "performance.ada.supervisor",
    }  # fmt: skip
    for one, other in combinations(ways, 2):
        told = stunt.script_from_data({
            "seconds": 0.6, "characters": {"ada": {"body": "human39", "root": "free"}},
            "performance": {"ada": {one: ways[one], other: ways[other]}},
        })  # fmt: skip
        if {one, other} == {"beats", "tension_poses"}:
            events = [event for event in stunt.perform(told).events if event["kind"] == "hand_over"]
            assert [(e["time"], e["from"], e["to"], e["joints"]) for e in events] == [
                (0.1, "beats", "tension_poses", [shoulder])
            ]
            continue
        with pytest.raises(stunt.StuntError, match="two at once") as raised:
            Performance(told)
        assert f"`{one}` ({lines[one]})" in str(raised.value) and f"`{other}` ({lines[other]})" in str(raised.value)


def test_strings_on_a_body_that_follows_are_refused():
    with pytest.raises(stunt.StuntError, match=r"sites.r_palm: strings.*`clips` \(performance.ada.clips\)"):
        Performance(script(trajectories={"sites": {"r_palm": {"times": [0, 1], "position": [[0, 0, 1], [0, 0, 1]]}}}))


def test_legs_on_own_feet_are_followed_as_a_whole():
    with pytest.raises(stunt.errors.BodyError, match="joints:` lacks l_ankle"):
        Performance(script(joints=["*_hip_*", "*_knee_*"]))


@pytest.mark.parametrize("verb", ["key", "tense", "path"])
def test_a_program_is_refused_the_joints_of_what_is_followed_and_has_the_others(verb):
    stage, ada = standing()
    ada.follow("idle", assist="own", joints=TRUNK_AND_LEGS)
    stage.step(0.05)

    def tell(joint: str) -> None:
        if verb == "key":
            ada.key(stunt.Pose("bent", {joint: 0.5}), after=0.4)
        elif verb == "tense":
            ada.tense(stunt.Pose("bent", {joint: 0.5}), tension="firm", lasts=0.4)
        else:
            ada.path(joint, stunt.Trajectory.through([0.05, 0.45], [0.0, 0.5]))

    with pytest.raises(stunt.StuntError, match="'l_knee_flexion' of 'ada' is moved by what it follows"):
        tell("l_knee_flexion")
    tell("l_elbow_flexion")
    stage.step(0.41)
    assert abs(ada.state.angles["l_elbow_flexion"] - 0.5) < 0.06
    assert ada.state.doing == "follow" and ada.body.own.active


def test_a_clip_that_comes_takes_joints_from_beats_and_what_was_asked_of_them_is_forgotten():
    stage, ada = standing()
    ada.key(stunt.Pose("arms", {"r_shoulder_flexion": 0.5, "l_elbow_flexion": 0.6}), after=0.5)
    stage.step(0.1)
    ada.follow("idle", assist="own", joints=[*TRUNK_AND_LEGS, "r_*"])
    take = stage.run(0.5)
    given = [event for event in take.events if event["kind"] == "hand_over"]
    assert [(e["from"], e["to"], e["joints"]) for e in given] == [("beats", "clips", ["r_shoulder_flexion"])]
    (beat,) = ada.results
    assert set(beat.joint_errors_deg) == {"l_elbow_flexion"} and beat.error_deg < 1.0
    state = stage.save()
    ada.joints.owners.take("tension_poses", ["r_shoulder_flexion"])
    stage.restore(state)
    assert len(ada.joints.owners.log) == 1 and "r_shoulder_flexion" in ada.joints.owners.followed
