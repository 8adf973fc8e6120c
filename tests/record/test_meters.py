"""What a report measures of a take, beside the definitions: effort, work, help, falls and timing of any numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import stunt
from stunt.record.cast import CastJoint
from stunt.record.effort import effort
from stunt.record.incidents import assistance, down, tilt_deg, time_of_fall, timing_error_ms
from stunt.record.take import Take
from stunt.review.filmed import WHO, take_of_clip

FEW = settings(max_examples=10, deadline=None, derandomize=True, phases=[Phase.generate])
SEEDS = st.integers(0, 9999)
BASE = take_of_clip(stunt.load_clip("idle").trimmed(0.0, 1.0))


def random_take(seed: int) -> tuple[Take, np.random.Generator]:
    """Return a take whose times are uneven, and whose torques, velocities and help are any numbers."""
    rng, count = np.random.default_rng(seed), len(BASE.time)
    take = replace(
        BASE, time=np.cumsum(rng.uniform(0.005, 0.02, count)), torque=rng.normal(0.0, 30.0, BASE.torque.shape),
        qvel=rng.normal(size=BASE.qvel.shape), assistance=rng.normal(0.0, 50.0, (count, 1, 6)),
    )  # fmt: skip
    return take, rng


def with_strength(take: Take, strong: float) -> Take:
    """Return it with joints that have a strength."""
    about = take.cast.character(WHO)
    joints = {name: replace(joint, strength=strong + k) for k, (name, joint) in enumerate(about.joints.items())}
    return replace(take, cast=replace(take.cast, characters={WHO: replace(about, joints=joints)}))


@FEW
@given(seed=SEEDS)
def test_effort_is_the_mean_length_of_torques_over_strength_and_work_what_is_done_and_undone(seed: int) -> None:
    take = with_strength(random_take(seed)[0], 40.0)
    shares, work = [], 0.0
    for joint in take.cast.character(WHO).joints.values():
        for k in range(1, len(take.time)):
            torque, pace = (rows[k, joint.dof : joint.dof + joint.width] for rows in (take.torque, take.qvel))
            shares.append(float(np.sqrt(torque @ torque)) / joint.strength)
            work += float(sum(abs(torque * pace))) * (take.time[k] - take.time[k - 1])
    found = effort(take, WHO)
    assert found["effort"] == pytest.approx(np.mean(shares)) and found["work_j"] == pytest.approx(work)


@FEW
@given(seed=SEEDS)
def test_help_is_all_of_the_force_and_all_of_the_torque_from_outside(seed: int) -> None:
    take, _ = random_take(seed)
    about, model = take.cast.character(WHO), take.model()
    found = assistance(take, 0, about, model)
    weight, passed = about.mass * 9.81, np.diff(take.time)
    pulls = [float(np.sqrt((row[:3] ** 2).sum())) for row in take.assistance[1:, 0]]
    twists = [float(np.sqrt((row[3:] ** 2).sum())) for row in take.assistance[1:, 0]]
    lever = weight * model.qpos0[about.root_qpos + 2]
    assert found["force_mean"] == pytest.approx(np.mean(pulls) / weight)
    assert found["force_peak"] == pytest.approx(max(pulls) / weight)
    assert found["torque_mean"] == pytest.approx(np.mean(twists) / lever)
    assert found["torque_peak"] == pytest.approx(max(twists) / lever)
    assert found["impulse"] == pytest.approx(float(np.dot(pulls, passed)))


@FEW
@given(seed=SEEDS)
def test_a_tilt_is_the_angle_between_what_was_up_and_up_whatever_way_it_faces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stood, turns = Rotation.random(random_state=seed), Rotation.random(20, random_state=seed + 1)
    quat = lambda turn: np.roll(turn.as_quat(), 1, axis=-1)  # noqa: E731
    up = (turns * stood.inv()).apply([0.0, 0.0, 1.0])
    assert tilt_deg(quat(turns), quat(stood)) == pytest.approx(np.degrees(np.arccos(up[:, 2])), abs=1e-4)
    yaw = Rotation.from_rotvec([0.0, 0.0, rng.uniform(-3.0, 3.0)])
    assert tilt_deg(quat(yaw * turns), quat(stood)) == pytest.approx(tilt_deg(quat(turns), quat(stood)), abs=1e-4)


def leaning(degrees: float, sunk: float = 0.0) -> Take:
    """Somebody whose root tilts steadily to so much, and sinks by a share of its height."""
    share, qpos = np.linspace(0.0, 1.0, len(BASE.time)), np.tile(BASE.qpos[0], (len(BASE.time), 1))
    turn = Rotation.from_rotvec(np.outer(np.radians(degrees) * share, [0.6, 0.8, 0.0]))
    first = Rotation.from_quat(np.roll(BASE.qpos[0, 3:7], -1))
    qpos[:, 3:7] = np.roll((turn * first).as_quat(), 1, axis=1)
    qpos[:, 2] *= 1.0 - sunk * share
    return replace(BASE, qpos=qpos)


@pytest.mark.parametrize(("degrees", "sunk"), [(50.0, 0.0), (90.0, 0.0), (0.0, 0.45), (0.0, 0.8)])
def test_a_fall_is_when_the_root_passes_60_degrees_or_half_its_height(degrees: float, sunk: float) -> None:
    take = leaning(degrees, sunk)
    share = min(60.0 / max(degrees, 1e-9), 0.5 / max(sunk, 1e-9))
    fell = time_of_fall(take, WHO)
    assert (fell is None) == (share > 1.0)
    if fell is not None:
        assert fell == pytest.approx(take.time[0] + share * (take.time[-1] - take.time[0]), abs=0.05)
        assert down(take, 0, take.qpos[0, :7])[-1]


@pytest.mark.parametrize("late", [-0.06, 0.0, 0.02, 0.09])
def test_a_pose_that_comes_so_late_is_told_to_be_so_late(late: float) -> None:
    """A joint that swings by and is at its target so long after its beat, seen in a few frames a second."""
    time = np.arange(0.0, 2.0, 1.0 / 15.0)
    swing = 1.2 - 20.0 * (time - 1.0 - late) ** 2 + 9.0 * (time - 1.0 - late) ** 3
    pace = -40.0 * (time - 1.0 - late) + 27.0 * (time - 1.0 - late) ** 2
    qpos, qvel = np.zeros((len(time), BASE.qpos.shape[1])), np.zeros((len(time), BASE.qvel.shape[1]))
    qpos[:, 7], qvel[:, 6] = swing, pace
    take = replace(BASE, time=time, qpos=qpos, qvel=qvel)
    joint = CastJoint("j", "hinge", 7, 6)
    now = 1.2 - 20.0 * late**2 - 9.0 * late**3
    beat = {"time": 1.0, "targets": {"j": 1.2}, "error_deg": float(np.degrees(1.2 - now))}
    assert timing_error_ms(take, {"j": joint}, beat, 0.0, np.inf) == pytest.approx(1000.0 * late, abs=1.5)
