"""A push that is known is part of what is carried: held against like gravity, by beats and by tension."""

import mujoco
import numpy as np
import pytest

import stunt
from stunt.control.core.board import COUPLINGS

ONE, TWO = {"r_shoulder_flexion": 40, "r_elbow_flexion": 60}, {"r_shoulder_flexion": 20, "r_elbow_flexion": 90}


def pulled(part, *, known, seconds=2.5):
    """Perform a part while 20 N pull a hand forward and to the side."""
    script = stunt.script_from_data({
        "rate": 480, "seconds": seconds, "characters": {"ada": {"body": "human39", "start": "one"}},
        "poses": {"one": ONE, "two": TWO}, "performance": {"ada": part},
        "events": [{"push": "ada/r_hand", "force": [16, -12, 0], "point": [0, 0, -0.05], "at": 0.3, "duration": 9,
                    "known": known}],
    })  # fmt: skip
    assert stunt.script_from_data(stunt.script_to_data(script)) == script
    return stunt.Performance(script, foretell=False).run()


def off(take, pose):
    joints = take.cast.character("ada").joints
    return max(abs(np.degrees(take.qpos[-1, joints[name].qpos]) - angle) for name, angle in pose.items())


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_a_known_pull_costs_beats_nothing(coupling):
    beats = [{"pose": "two", "after": 1}, {"pose": "one", "after": 0.8}]
    found = {known: pulled({"coupling": coupling, "beats": beats}, known=known) for known in (True, False)}
    errors = {known: max(beat["error_deg"] for beat in take.report()["characters"]["ada"]["beats"])
              for known, take in found.items()}  # fmt: skip
    print(
        f"{coupling}: {errors[True]:.2f}° off at beats, {off(found[True], ONE):.2f}° held; unknown {errors[False]:.1f}°"
    )
    assert errors[True] < 1.0 and off(found[True], ONE) < 1.0
    assert off(found[False], ONE) > 3.0


def test_a_known_pull_costs_a_pose_under_tension_nothing():
    part = {"tension_poses": {"tension": "easy", "poses": [{"pose": "two", "at": 0.5, "lasts": 0.6}]}}
    known, unknown = (off(pulled(part, known=known, seconds=3.5), TWO) for known in (True, False))
    print(f"tension: {known:.2f}° off, unknown {unknown:.1f}°")
    assert known < 1.0 and unknown > 3.0


def test_the_bias_felt_is_less_by_the_pushs_joint_torques():
    stage = stunt.Stage({"ada": stunt.Body("human39")})
    ada, point = stage.actor("ada"), np.array([0.02, 0.01, -0.1])
    ada.key(stunt.Pose("wave", {"r_shoulder_flexion": 1.0, "lumbar_flexion": 0.2}), at=0.5)
    stage.push("ada/r_hand", force=(20, -10, 5), point=point, duration=1.0, known=True)
    stage.run(0.3)
    model, data, body = stage.model, stage.data, stage.character("ada").bodies["r_hand"]
    state = data.qpos.copy(), data.qvel.copy()
    stage.advance(1)
    seen = mujoco.MjData(model)
    seen.qpos[:], seen.qvel[:] = state
    with stage.board.own_springs(model):
        mujoco.mj_forward(model, seen)
    jacobian = np.zeros((3, model.nv))
    mujoco.mj_jac(model, seen, jacobian, None, seen.xpos[body] + seen.xmat[body].reshape(3, 3) @ point, body)
    assert stage.board.carried == pytest.approx(seen.qfrc_bias - jacobian.T @ [20, -10, 5], rel=1e-6, abs=1e-6) or (
        stage.board.loaded_bias == pytest.approx(seen.qfrc_bias - jacobian.T @ [20, -10, 5], rel=1e-6, abs=1e-6)
    )
    stage.run(1.0)
    assert not stage.board.known_push.any() and stage.board.counts["known"] == 0
