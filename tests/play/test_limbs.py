"""Gains and strengths of limbs, changed while somebody moves."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import stunt
from stunt.errors import StuntError

HOW: dict[str, dict] = {
    "world": {}, "beat": {"settings": stunt.ServoSettings(servo="beat")}, "own": {"root": stunt.RootSpring(kind="own")},
}  # fmt: skip


MORE = {"world": 5.0, "beat": 4.5, "own": 4.5}
"""So many times as far an arm gives."""
LEGS = {"world": 1.1, "beat": 1.1, "own": 3.0}
"""And so many times as far off legs may be: on own feet they carry the swing of the arm, 0.3° instead of 0.1°."""


def follower(how: str = "world") -> tuple[stunt.Stage, stunt.Actor]:
    stage = stunt.Stage({"ada": stunt.Body("idle", root="free")}, hz=240 if how == "own" else 120)
    ada = stage.actor("ada")
    ada.follow("idle", react=False, **HOW[how])
    return stage, ada


def answer(gain: float | dict[str, float] | None, how: str = "world") -> tuple[float, float]:
    """Return how far the right arm gives to a push away from the trunk [°], and the mean error of the legs [°]."""
    shown: dict[bool, np.ndarray] = {}
    for pushed in (False, True):
        stage, ada = follower(how)
        stage.step(0.3)
        if gain is not None:
            ada.stiffen(gain)
        if pushed:
            stage.push("ada/r_forearm", impulse=(0.0, -4.0, 0.0))
        rows, legs = [], []
        for _ in range(60):
            stage.step(1.0 / 120.0)
            rows.append(stage.data.qpos.copy())
            wanted = ada.body.wanted_at(stage.time)
            if wanted is None:  # on own feet the way there is the programme's: beside the body that is not pushed
                wanted = shown[False][len(rows) - 1][ada.body.slices[0]] if pushed else rows[-1][ada.body.slices[0]]
            for name, joint in ada.character.joints.items():
                if any(word in name for word in ("hip", "knee", "ankle")):
                    turn, first = np.zeros(3), ada.body.slices[0].start
                    own = slice(joint.qpos, joint.qpos + 4)
                    mujoco.mju_subQuat(turn, stage.data.qpos[own], wanted[joint.qpos - first : joint.qpos - first + 4])
                    legs.append(np.degrees(np.linalg.norm(turn)))
        shown[pushed] = np.array(rows)
    joint, turn, most = ada.character.joints["r_shoulder"], np.zeros(3), 0.0
    for one, two in zip(shown[True], shown[False], strict=True):
        mujoco.mju_subQuat(turn, one[joint.qpos : joint.qpos + 4], two[joint.qpos : joint.qpos + 4])
        most = max(most, float(np.degrees(np.linalg.norm(turn))))
    return most, float(np.mean(legs))


@pytest.mark.parametrize("how", HOW)
def test_an_arm_at_a_tenth_of_its_gain_gives_five_times_as_much_and_the_legs_follow_as_before(how: str) -> None:
    stiff, legs = answer(None, how)
    loose, others = answer({"r_arm": 0.1}, how)
    print(f"{how}: the arm gives {stiff:.1f}°, then {loose:.1f}°; legs {legs:.3f}° off, then {others:.3f}°")
    assert loose > MORE[how] * stiff and others < LEGS[how] * legs + 0.02


def scripted(gain: object, pushed: bool, **clips: object) -> stunt.Performance:
    """Return a performance of somebody who follows a clip as a script says it, and may be pushed on the forearm."""
    push = {"at": 0.3, "push": "ada/r_forearm", "impulse": [0.0, -4.0, 0.0]}
    data = {
        "rate": 240 if clips.get("assist") == "own" else 120, "seconds": 0.8, "events": [push] if pushed else [],
        "characters": {"ada": {"body": "idle", "root": "free"}},
        "performance": {"ada": {"clips": {"play": [{"clip": "idle"}], "react": False, "gain": gain, **clips}}},
    }  # fmt: skip
    script = stunt.script_from_data(data)
    assert stunt.script_from_data(stunt.script_to_data(script)) == script
    return stunt.Performance(script)


def given(gain: object, **clips: object) -> tuple[float, float]:
    """Return what `answer` does, of scripts."""
    plays = {pushed: scripted(gain, pushed, **clips) for pushed in (False, True)}
    takes = {pushed: play.run() for pushed, play in plays.items()}
    after = takes[True].time >= 0.3 - 1e-9
    joints, actor = plays[True].stage.characters["ada"].joints, plays[True].stage.actors["ada"]

    def apart(name: str, one: np.ndarray, two: np.ndarray) -> list[float]:
        own, turn, found = slice(joints[name].qpos, joints[name].qpos + 4), np.zeros(3), []
        for here, there in zip(one[after], two[after], strict=True):
            mujoco.mju_subQuat(turn, here[own], there[own])
            found.append(float(np.degrees(np.linalg.norm(turn))))
        return found

    own_feet = clips.get("assist") == "own"  # there the way is the programme's: beside the body that is not pushed
    asked = takes[False].qpos if own_feet else np.array([actor.wanted_at(time) for time in takes[True].time])
    legs = [apart(n, takes[True].qpos, asked) for n in joints if any(w in n for w in ("hip", "knee", "ankle"))]
    return max(apart("r_shoulder", takes[True].qpos, takes[False].qpos)), float(np.mean(legs))


@pytest.mark.parametrize("how", HOW)
def test_a_script_says_gains_by_limb_and_they_do_what_a_program_does(how: str) -> None:
    clips = {"world": {}, "beat": {"servo": "beat"}, "own": {"assist": "own"}}[how]
    stiff, legs = given(1.0, **clips)
    loose, others = given({"all": 1.0, "r_arm": 0.1}, **clips)
    print(f"{how}: the arm gives {stiff:.1f}°, then {loose:.1f}°; legs {legs:.3f}° off, then {others:.3f}°")
    assert loose > MORE[how] * stiff and others < LEGS[how] * legs + 0.02


def test_gains_of_limbs_stand_beside_what_a_program_says_and_end_with_their_settings() -> None:
    stage, ada = follower()
    usual = ada.body.program.k1.copy()
    loose = stunt.ServoSettings(gain={"all": 2.0, "r_arm": 0.5, "r_wris?": 3.0})
    ada.follow("idle", react=False, settings=loose)
    bodies = ada.character.bodies

    def share(body: str) -> float:
        return float(ada.body.program.k1[bodies[body]] / usual[bodies[body]])

    assert share("r_forearm") == pytest.approx(0.5) and share("l_shank") == pytest.approx(2.0)
    ada.stiffen({"r_arm": 0.2, "l_knee": 3.0})
    assert share("r_forearm") == pytest.approx(0.1) and share("l_shank") == pytest.approx(6.0)
    stage.step(0.05)
    ada.stiffen(1.0)
    assert share("r_forearm") == pytest.approx(0.5) and share("l_shank") == pytest.approx(2.0)
    ada.follow("idle", react=False, settings=stunt.ServoSettings(gain=2.0))
    np.testing.assert_allclose(ada.body.program.k1, usual)  # one factor on all is the servo's, not the bones'


@pytest.mark.parametrize("body", ["human39", "walk"])
def test_a_limb_of_a_character_is_as_strong_as_it_is_said(body: str) -> None:
    usual = stunt.Stage({"ada": stunt.Body(body, strength=2.0)}).character("ada")
    stage = stunt.Stage({"ada": stunt.Body(body, strength={"all": 2.0, "r_arm": 0.5, "l_knee*": 0.1})})
    shares = {"r_shoulder": 0.25, "r_elbow": 0.25, "r_wrist": 0.25, "l_knee": 0.05}
    for name, joint in stage.character("ada").joints.items():
        arm = name.startswith(("r_clavicle", "r_forearm"))
        share = next((value for limb, value in shares.items() if name.startswith(limb)), 0.25 if arm else 1.0)
        assert joint.strength == pytest.approx(share * usual.joints[name].strength), name
        assert stage.board.limit[joint.dof] == pytest.approx(joint.strength)
    if body == "human39":  # how heavy a joint's turning parts are, and how they fade, is the body's, not its strength's
        plain = stunt.Stage({"ada": stunt.Body(body)}).model
        np.testing.assert_allclose(stage.model.dof_armature, plain.dof_armature)


def test_an_arm_that_a_script_makes_weak_misses_within_its_own_strength() -> None:
    data = {
        "characters": {"ada": {"body": "human39", "strength": {"r_arm": 0.02}}}, "seconds": 0.7,
        "poses": {"up": {"l_shoulder_flexion": 90, "r_shoulder_flexion": 90}},
        "performance": {"ada": {"beats": [{"pose": "up", "at": 0.5}]}},
    }  # fmt: skip
    performance = stunt.Performance(stunt.script_from_data(data))
    take, joints = performance.run(), performance.stage.characters["ada"].joints
    at = int(np.argmin(np.abs(take.time - 0.5)))
    left, right = (abs(90.0 - np.degrees(take.qpos[at, joints[f"{s}_shoulder_flexion"].qpos])) for s in "lr")
    shoulder = joints["r_shoulder_flexion"]
    share = float(np.abs(take.torque[:, shoulder.dof]).max()) / shoulder.strength
    print(f"left {left:.2f}°, right {right:.1f}° off at {share:.3f} of its strength")
    assert left < 0.5 < 20.0 < right
    assert 0.98 < share <= 1.001 and performance.stage.strength_of("ada")["peak_share"] <= 1.001


@pytest.mark.parametrize(
    "key, said, complaint",
    [
        ("strength", {"tail": 1}, "tail"), ("strength", {"r_arm": 0}, "greater than 0"), ("strength", {}, "a number"),
        ("strength", {"r_arm": [1]}, "number"), ("gain", {"tail": 1}, "tail"), ("gain", {"r_arm": 0.001}, "0.01"),
        ("gain", {}, "a number"), ("gain", {"r_arm": 101}, "100"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("section", ["clips", "supervisor"])
def test_a_script_that_speaks_of_no_limb_or_of_no_factor_is_refused(
    section: str, key: str, said: object, complaint: str
) -> None:
    does = {"play": [{"clip": "idle"}]} if section == "clips" else {"clips": {"idle": {"loop": True}}}
    ada: dict[str, object] = {"body": "idle", "root": "free"}
    (ada if key == "strength" else does)[key] = said
    script = {"characters": {"ada": ada}, "seconds": 0.1, "performance": {"ada": {section: does}}}
    with pytest.raises(StuntError, match=complaint):
        stunt.Performance(stunt.script_from_data(script))


def test_gains_go_back_and_survive_a_restore() -> None:
    stage, ada = follower()
    stage.step(0.1)
    before = ada.body.program.k1.copy()
    ada.stiffen({"legs": 0.5, "l_knee": 2.0})
    bone = ada.character.bodies["l_shank"]
    assert ada.body.program.k1[bone] == pytest.approx(2.0 * before[bone])
    state = stage.save()
    ada.stiffen(1.0)
    np.testing.assert_allclose(ada.body.program.k1, before)
    stage.restore(state)
    assert ada.body.program.k1[ada.character.bodies["r_thigh"]] == pytest.approx(
        0.5 * before[ada.character.bodies["r_thigh"]]
    )


def test_a_weak_arm_misses_what_the_other_one_meets_until_it_is_strong_again() -> None:
    stage = stunt.Stage({"ada": stunt.Body("human39")}, hz=240)
    ada = stage.actor("ada")
    ada.strengthen({"r_arm": 0.02})
    both = stunt.Pose("up", {f"{side}_shoulder_flexion": np.radians(90.0) for side in "lr"})
    ada.key(both, after=0.5)
    stage.step(0.6)
    result = ada.results[-1]
    assert (
        abs(result.joint_errors_deg["l_shoulder_flexion"])
        < 0.5
        < 20.0
        < abs(result.joint_errors_deg["r_shoulder_flexion"])
    )
    ada.strengthen(1.0)
    ada.key(both, after=0.6)
    stage.step(0.7)
    assert ada.results[-1].error_deg < 0.5


@pytest.mark.parametrize("share", [{"tail": 1.0}, {"r_arm": -1.0}, {"r_arm": "much"}, 1e9])
def test_a_limb_that_is_not_there_and_a_share_that_is_none_are_refused(share: object) -> None:
    stage, ada = follower()
    limit, gains = stage.board.limit.copy(), ada.body.program.k1.copy()
    for verb in (ada.stiffen, ada.strengthen):
        with pytest.raises(StuntError):
            verb(share)  # type: ignore[arg-type]
    assert (stage.board.limit == limit).all() and (ada.body.program.k1 == gains).all()
