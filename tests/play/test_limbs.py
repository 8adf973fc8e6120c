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


MORE = {"world": 5.0, "beat": 4.5, "own": 1.8}
"""So many times as far: on own feet arms give more to begin with, and the whole body's momentum is braked with them."""


def follower(how: str = "world") -> tuple[stunt.Stage, stunt.Actor]:
    stage = stunt.Stage({"ada": stunt.Body("idle", root="free")}, hz=120)
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
    print(f"{how}: the arm gives {stiff:.1f}°, then {loose:.1f}°; legs {legs:.2f}° off, then {others:.2f}°")
    assert loose > MORE[how] * stiff and others < 1.1 * legs + 0.02


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
