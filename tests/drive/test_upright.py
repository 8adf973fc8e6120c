"""Bodies whose joints are driven one by one and who stand: by their own feet, by a spring, or not at all."""

import dataclasses

import numpy as np
import pytest

import stunt
from papers.random_script import NAME, random_script
from stunt.character.kinematics import pose_frames
from stunt.control.servo.law import RootSpring
from stunt.drive.own.soles import two_feet
from stunt.drive.own.standing import planted_poses
from stunt.errors import BodyError, StuntError
from stunt.examples import example
from stunt.motion.rig.other_body import sole_geoms
from stunt.record.report import make_report
from stunt.script.performance import Performance


def ymca(root: str, assist: str = "") -> stunt.Script:
    """Return the dance with another root, and another assistance."""
    script = stunt.load_script(example("ymca").path)
    characters = {name: dataclasses.replace(one, root=root) for name, one in script.scene.characters.items()}
    parts = {name: dataclasses.replace(part, root=RootSpring(kind=assist)) for name, part in script.parts.items()}
    return dataclasses.replace(script, scene=dataclasses.replace(script.scene, characters=characters), parts=parts)


def told(*poses: dict[str, float], after: float = 1.0, **part) -> stunt.Script:
    """Return a script of one who stands, and is in poses on the beat."""
    beats = [{"angles": pose, "after": after} for pose in poses]
    data = {"physics_hz": 480, "characters": {"ada": {"body": "human39", "root": "free"}}}
    return stunt.script_from_data({**data, "performance": {"ada": {"beats": beats, **part}}})


def legs(**angles: float) -> dict[str, float]:
    return {side + name: value for name, value in angles.items() for side in ("l_", "r_")}


def played(script: stunt.Script, hz: float = 480.0):
    performance = Performance(script, record_hz=hz)
    take = performance.run()
    (found,) = make_report(take)["characters"].values()
    return performance, take, found


def restless(performance: Performance, take: stunt.Take, until: float = np.inf) -> float:
    """Return the mean change of a torque from step to step, of its joint's strength."""
    (character,) = performance.stage.built.characters.values()
    dofs = [dof for joint in character.joints.values() for dof in range(joint.dof, joint.dof + joint.nv)]
    torque = take.torque[take.time < until][:, dofs] / performance.stage.board.limit[dofs]
    return float(np.abs(np.diff(torque, axis=0)).mean())


@pytest.fixture(scope="module")
def standing():
    return played(ymca("free"))


def test_who_dances_with_a_free_root_stands_and_hits_every_beat_without_any_help(standing):
    _, _, found = standing
    assert not found["fell"] and len(found["beats"]) == 10
    assert max(beat["error_deg"] for beat in found["beats"]) <= 1.0
    assert found["assistance"]["force_peak"] == found["assistance"]["torque_peak"] == 0.0
    assert max(beat["held_error_deg"] for beat in found["beats"]) <= 5.0


def test_its_torques_are_hardly_less_calm_than_those_of_a_fixed_root(standing):
    performance, take, _ = standing
    fixed, still, _ = played(ymca("fixed"))
    assert restless(performance, take) <= 3.0 * restless(fixed, still)
    assert restless(performance, take, 0.46) <= 3.0 * restless(fixed, still, 0.46)


def test_its_torques_stay_within_its_strength_in_every_physics_step(standing):
    _, _, found = standing
    assert 0.2 < found["strength"]["peak_share"] <= 1.0 + 1e-6 and found["strength"]["share_of_time_over"] == 0.0


@pytest.mark.parametrize("assist", ["weak", "hook"])
def test_help_on_the_root_is_metered_and_hardly_needed_by_who_stands(assist):
    _, _, found = played(ymca("free", assist))
    assert not found["fell"] and max(beat["error_deg"] for beat in found["beats"]) <= 1.0
    assert 0.0 < found["assistance"]["torque_mean"] < 0.05


def test_without_feet_and_without_help_the_dance_ends_on_the_floor_and_no_beat_there_counts():
    _, _, found = played(ymca("free", "none"))
    assert found["fell"]
    after = [beat for beat in found["beats"] if beat["lying"]]
    assert after and all(beat["missed"] for beat in after)


@pytest.mark.parametrize(
    "poses",
    [
        (legs(hip_flexion=20, knee_flexion=40, ankle_flexion=20), legs(hip_flexion=0, knee_flexion=0, ankle_flexion=0)),
        ({"l_hip_abduction": 6, "r_hip_abduction": -6}, {"l_hip_abduction": -6, "r_hip_abduction": 6}),
        ({"lumbar_flexion": 40, "thorax_flexion": 20}, {"lumbar_flexion": 0, "thorax_flexion": 0}),
    ],
    ids=["knee bend", "weight shift", "bow"],
)
def test_bends_bows_and_shifts_of_weight_are_met_with_both_feet_where_they_are(poses):
    performance, take, found = played(told(*poses))
    assert not found["fell"] and max(beat["error_deg"] for beat in found["beats"]) <= 1.0
    own = performance.stage.actor("ada").body.own
    assert own.summary()["recovery_steps"] == 0
    bodies = [int(body) for body in own.program.actors[0]["foot_body"]]
    character = performance.stage.character("ada")
    places, _ = pose_frames(performance.stage.model, character, take.qpos[:, : len(character.joints) + 7])
    feet = places[:, [body - character.root_body for body in bodies]]
    assert np.linalg.norm(feet - feet[0], axis=2).max() < 0.02


def test_leg_angles_that_feet_cannot_have_are_changed_and_the_beat_says_by_how_much():
    _, take, found = played(told(legs(hip_flexion=30)))
    assert not found["fell"]
    (beat,) = found["beats"]
    assert beat["fitted_deg"] > 1.0
    assert next(e for e in take.events if e["kind"] == "beat")["fitted_deg"] == beat["fitted_deg"]


def test_planted_poses_keep_both_feet_where_they_stood():
    stage = stunt.Stage({"ada": stunt.Body("human39", root="free")})
    character = stage.character("ada")
    feet = two_feet(stage.model, character, sole_geoms(stage.model, character))
    bent, joints = np.tile(stage.data.qpos, (30, 1)), character.joints
    for side in ("l_", "r_"):
        for name, angle in (("hip_flexion", 0.5), ("knee_flexion", 1.0), ("ankle_flexion", 0.5)):
            bent[:, joints[side + name].qpos] = np.linspace(0.0, angle, 30)
    poses, share = planted_poses(stage.model, character, bent, feet)
    places, turns = pose_frames(stage.model, character, poses)
    for foot in feet:
        body = foot.body - character.root_body
        assert np.abs(places[:, body] - places[0, body]).max() < 1e-6
        assert np.abs(np.abs((turns[:, body] * turns[0, body]).sum(axis=1)) - 1.0).max() < 1e-9
    assert poses[-1, 2] < poses[0, 2] - 0.05 and (share == 0.5).all()


@pytest.mark.parametrize("seed", [300, 301])
def test_random_beats_of_arms_and_trunk_are_met_standing(seed):
    script = random_script(np.random.default_rng(seed), standing=True, seconds=(0.6, 1.2))
    assert not any("hip" in joint for beat in script.parts[NAME].beats for joint in beat.pose.angles)
    _, _, found = played(script, hz=120.0)
    assert not found["fell"] and max(beat["error_deg"] for beat in found["beats"]) <= 1.0


@pytest.mark.long
def test_of_twenty_random_scripts_eighteen_stand_and_hit_every_beat():
    good = 0
    for seed in range(400, 420):
        script = random_script(np.random.default_rng(seed), standing=True, seconds=(0.6, 1.2))
        _, _, found = played(script, hz=120.0)
        good += not found["fell"] and max(beat["error_deg"] for beat in found["beats"]) <= 1.0
    assert good >= 18


def test_a_saved_dance_goes_on_bit_for_bit():
    performance = Performance(ymca("free"))
    stage = performance.stage
    stage.advance(300)
    saved = stage.save()
    stage.advance(240)
    there = stage.data.qpos.copy()
    stage.restore(saved)
    stage.advance(240)
    assert np.array_equal(stage.data.qpos, there)


def test_an_actor_is_told_what_keeps_it_upright():
    stage = stunt.Stage({"ada": stunt.Body("human39", root="free")}, hz=480)
    ada = stage.actor("ada")
    ada.assist("weak", limit=0.1)
    ada.key(stunt.Pose("up", {"r_shoulder_abduction": 1.5}), at=0.5)
    stage.run(1.0)
    assert ada.results[0].error_deg < 1.0 and ada.body.holds_root and ada.body.root.limit == 0.1
    with pytest.raises(StuntError, match="unknown"):
        ada.assist("wings")
    with pytest.raises(BodyError, match="fixed root"):
        stunt.Stage({"ada": stunt.Body("human39")}).actor("ada").assist("own")


def test_who_is_not_on_the_ground_cannot_be_told_to_stand_there():
    with pytest.raises(BodyError, match="not on the ground"):
        start = {"l_hip_flexion": 80, "l_knee_flexion": 80}
        data = {"characters": {"ada": {"body": "human39", "root": "free", "start": start}}, "physics_hz": 480}
        beats = [{"angles": {"neck_flexion": 5}, "at": 1}]
        Performance(stunt.script_from_data({**data, "performance": {"ada": {"assist": "own", "beats": beats}}}))


def test_two_that_want_the_same_joint_are_told_both_lines():
    neck = {"joints": {"neck_flexion": {"times": [0, 1], "values": [0, 5]}}}
    with pytest.raises(StuntError, match=r"neck_flexion.*beats.*trajectories") as found:
        Performance(told({"neck_flexion": 5}, trajectories=neck))
    assert "performance.ada.beats[0]" in str(found.value) and "trajectories.joints.neck_flexion" in str(found.value)
    posed = {"poses": [{"angles": {"neck_flexion": 5}, "at": 0.5, "lasts": 0.5}]}
    with pytest.raises(StuntError, match=r"neck_flexion.*tension_poses.*trajectories"):
        Performance(told({"neck_bend": 5}, trajectories=neck, tension_poses=posed))
    clips = {"play": [{"clip": "walk"}]}
    with pytest.raises(StuntError, match=r"beats.*clips"):
        Performance(told({"neck_bend": 5}, clips=clips))
