"""Ball joints and roots on trajectories: by script and by program, within P1's accuracy, and no word too few."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stunt
from stunt.errors import StuntError
from stunt.library.names import load_clip
from stunt.maths.rotations import from_rotation_vector, multiply
from stunt.motion.rig.retarget import retarget
from stunt.motion.trajectory import Trajectory
from stunt.record.report import make_report
from stunt.script.file import script_to_data
from stunt.script.preview import Preview


def script(part: dict, body: str = "walk", root: str = "fixed", seconds: float = 2.0) -> stunt.Script:
    who = {"body": body, "root": root, "at": [0, 0, 1], "self_collision": False}
    return stunt.script_from_data(
        {"characters": {"ada": who}, "seconds": seconds, "performance": {"ada": {"trajectories": part}}}
    )


def turned(degrees: float, axis: tuple[float, float, float] = (1.0, 0.3, -0.5)) -> list[float]:
    return (degrees * np.array(axis) / np.linalg.norm(axis)).tolist()


@pytest.mark.parametrize("settling", [0.1, 0.2, 0.4])
def test_ball_joints_stay_on_their_paths_whatever_the_others_do(settling: float) -> None:
    """The bar is 0.5° rms at 0.2 s; every joint of a body goes its own way at once."""
    rng = np.random.default_rng(int(100 * settling))
    stage = stunt.Stage({"ada": stunt.Body("walk", at=(0.0, 0.0, 1.0), self_collision=False)})
    ada = stage.actor("ada")
    for name in ada.character.joints:
        axis, pace, far = rng.normal(size=3), rng.uniform(2.0, 5.0), rng.uniform(0.05, 0.12)
        axis *= 0.0 if "knee" in name or "elbow" in name else far / np.linalg.norm(axis)  # ligaments keep these

        def turn(t: float, axis: np.ndarray = axis, pace: float = pace) -> np.ndarray:
            return from_rotation_vector(axis * (1 - math.cos(pace * t)))

        ada.path(name, Trajectory.of(turn), settling=settling)
    take = stage.run(2.0)
    paths = make_report(take, wall_seconds=None)["characters"]["ada"]["trajectories"]
    assert {path["joint"] for path in paths} == set(ada.character.joints)
    worst = max(path["rms"] for path in paths)
    print(f"settling {settling} s: the worst ball joint is {worst:.4f}° rms off")
    assert worst < 0.1


def test_a_ball_joint_that_is_taken_in_the_air_does_not_sag() -> None:
    """What holds it there is in the law from its first step on, whichever way it is turned."""
    raised = stunt.Pose("raised", {"l_shoulder": from_rotation_vector(np.array([1.2, 0.3, 0.2]))})
    stage = stunt.Stage({"ada": stunt.Body("walk", at=(0.0, 0.0, 1.0), self_collision=False)}, hz=480)
    ada = stage.actor("ada")
    ada.put(pose=raised)
    still = {name: joint for name, joint in ada.character.joints.items() if joint.kind == "ball"}
    for name in still:
        ada.path(name, Trajectory.through([0.0], [ada.state.angles[name]]), settling=0.6)
    stage.run(0.2)
    off = [np.degrees(2.0 * np.linalg.norm(ada.state.angles[n][1:] - w[1:])) for n, w in raised.angles.items()]
    assert max(off) < 0.01


def test_a_root_goes_where_it_is_told_in_all_six_ways() -> None:
    """The bar is 5 mm: position and turn of a body whose limbs just hang."""
    stage = stunt.Stage({"ada": stunt.Body("human39", root="free", at=(0.0, 0.0, 1.0))})
    ada = stage.actor("ada")
    here, turn = stage.data.xpos[ada.character.root_body].copy(), stage.data.xquat[ada.character.root_body].copy()

    def place(t: float) -> np.ndarray:
        return here + [0.2 * math.sin(2 * t), 0.1 - 0.1 * math.cos(3 * t), 0.1 * math.sin(3 * t)]

    def way(t: float) -> np.ndarray:
        return multiply(from_rotation_vector(np.array([0, 0.1 * math.sin(2 * t), 0.5 - 0.5 * math.cos(2 * t)])), turn)

    ada.path("root", Trajectory.of(place), orientation=Trajectory.of(way))
    take = stage.run(3.0)
    root = ada.character.root
    off = np.linalg.norm(take.qpos[:, root.qpos : root.qpos + 3] - [place(t) for t in take.time], axis=1)
    told = next(p for p in make_report(take, wall_seconds=None)["characters"]["ada"]["trajectories"] if "site" in p)
    rms = np.sqrt((off**2).mean())
    print(f"root: {1000 * rms:.2f} mm rms, {1000 * off.max():.1f} mm at worst; {told['rms']:.2f} mm told")
    assert rms < 0.003 and off.max() < 0.02 and told["turn_rms_deg"] < 1.0
    assert told["rms"] == pytest.approx(1000 * rms, rel=0.1)
    assert told["string_impulse"] == pytest.approx(3.0 * ada.character.mass * 9.81, rel=0.1)


def test_a_script_says_the_same_and_is_written_as_it_was() -> None:
    part = {
        "joints": {
            "r_shoulder": {"times": [0, 1], "values": [{"rotvec": turned(0)}, {"rotvec": turned(20)}]},
            "neck": {"rotvec": [0, 0, 10]}, "r_elbow": [1, 0, 0, 0],
        },
        "sites": {"root": {"times": [0, 1], "position": [[0, 0, 0], [0.2, 0, 0.1]], "relative": True}},
    }  # fmt: skip
    one = script(part, root="free")
    assert stunt.script_from_data(script_to_data(one)) == one
    performance = stunt.Performance(one)
    take, ada = performance.run(), performance.stage.characters["ada"]
    joint, root = ada.joints["r_shoulder"], ada.root
    turn = 2.0 * math.degrees(math.acos(min(1.0, abs(take.qpos[-1, joint.qpos]))))
    moved = take.qpos[-1, root.qpos : root.qpos + 3] - take.qpos[0, root.qpos : root.qpos + 3]
    assert turn == pytest.approx(20.0, abs=0.2) and moved == pytest.approx([0.2, 0.0, 0.1], abs=0.004)


def test_a_clip_leads_ball_joints_too() -> None:
    performance = stunt.Performance(script({"clip": {"file": "punch", "at": 0.2}}, body="punch"))
    take, ada = performance.run(), performance.stage.characters["ada"]
    paths = make_report(take, wall_seconds=None)["characters"]["ada"]["trajectories"]
    assert {path["joint"] for path in paths} == {name for name, joint in ada.joints.items()}
    punch = retarget(load_clip("punch"), ada)
    joint = ada.joints["r_elbow"]
    frame = int(0.4 * punch.fps)
    now = int(np.argmin(np.abs(take.time - 0.2 - frame / punch.fps)))
    along = abs(take.qpos[now, joint.qpos : joint.qpos + 4] @ punch.angles["r_elbow"][frame])
    assert 2.0 * math.degrees(math.acos(min(1.0, along))) < 4.0


def test_a_preview_lays_ball_joints_and_the_root_where_they_are_led() -> None:
    part = {
        "joints": {"r_shoulder": {"times": [0, 1], "values": [{"rotvec": [0, 0, 0]}, {"rotvec": turned(30)}]}},
        "sites": {"root": {"times": [0, 1], "position": [[0, 0, 0], [0.2, 0, 0.1]], "relative": True}},
    }
    asked = script(part, root="free")
    view = Preview(asked)
    take, ada = view.take(30.0), view.stage.character("ada")
    joint, root = ada.joints["r_shoulder"], ada.root
    end = take.qpos[-1, joint.qpos : joint.qpos + 4]
    assert np.abs(end) == pytest.approx(np.abs(from_rotation_vector(np.radians(turned(30)))), abs=1e-6)
    moved = take.qpos[-1, root.qpos : root.qpos + 3] - take.qpos[0, root.qpos : root.qpos + 3]
    assert moved == pytest.approx([0.2, 0.0, 0.1], abs=0.005)


def test_saved_ball_joints_go_on_bit_for_bit_and_released_ones_swing() -> None:
    stage = stunt.Stage({"ada": stunt.Body("walk", at=(0.0, 0.0, 1.0), self_collision=False)})
    ada = stage.actor("ada")
    ada.path("r_shoulder", Trajectory.of(lambda t: from_rotation_vector(np.array([0.0, 0.3 * math.sin(3 * t), 0.0]))))
    stage.run(0.5)
    kept = stage.save()
    stage.run(0.5)
    first = stage.data.qpos.copy()
    stage.restore(kept)
    stage.run(0.5)
    assert np.array_equal(first, stage.data.qpos)
    ada.let_go("r_shoulder")
    joint = ada.character.joints["r_shoulder"]
    stage.run(0.1)
    assert not stage.board.torque[joint.dof : joint.dof + 3].any()


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"joints": {"r_shoulder": 10}}, "quaternion"),
        ({"joints": {"r_shoulder": [0.5, 0, 0, 0]}}, "length 1"),
        ({"joints": {"r_shoulder": {"rotvec": [0, 0, 10]}}, "form": "bare"}, "law as printed"),
        ({"sites": {"root": {"times": [0], "position": [[0, 0, 1]]}}}, "free root"),
        ({"sites": {"nose": {"times": [0], "position": [[0, 0, 1]]}}}, "root"),
    ],
)
def test_what_cannot_be_is_refused(part: dict, says: str) -> None:
    with pytest.raises(StuntError, match=says):
        stunt.Performance(script(part))
