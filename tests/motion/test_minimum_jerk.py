"""Minimum-jerk paths: their ends, their derivatives, their peaks, and that nothing is smoother."""

import numpy as np
import pytest

from stunt.maths import rotations
from stunt.motion.minimum_jerk import BallMinimumJerk, MinimumJerk

RNG = np.random.default_rng(3)


def test_path_meets_position_velocity_and_zero_acceleration_at_both_ends():
    t0, q0, v0, q1, v1 = RNG.normal(size=(5, 12))
    t1 = t0 + RNG.uniform(0.2, 1.0, 12)
    path = MinimumJerk.between(t0, q0, v0, t1, q1, v1)
    for time, q, v in ((t0, q0, v0), (t1, q1, v1)):
        ends = [MinimumJerk(path.start[i], path.duration[i], path.coefficients[:, i]).at(time[i]) for i in range(12)]
        np.testing.assert_allclose([end.position for end in ends], q, atol=1e-12)
        np.testing.assert_allclose([end.velocity for end in ends], v, atol=1e-10)
        np.testing.assert_allclose([end.acceleration for end in ends], 0, atol=1e-9)


def test_velocity_and_acceleration_are_the_derivatives():
    path = MinimumJerk.between(0.5, [1.0, -2.0], [0.3, 4.0], 1.2, [0.0, 2.0], [-1.0, 0.5])
    times, h = np.linspace(0.5, 1.2, 41), 1e-5
    here, ahead, behind = path.at(times), path.at(times + h), path.at(times - h)
    assert here.position.shape == (41, 2)
    np.testing.assert_allclose(here.velocity, (ahead.position - behind.position) / (2 * h), atol=1e-7)
    np.testing.assert_allclose(here.acceleration, (ahead.velocity - behind.velocity) / (2 * h), atol=1e-6)


def test_rest_to_rest_peaks_at_the_known_multiples():
    distance, seconds = 1.7, 0.4
    motion = MinimumJerk.between(0.0, 0.0, 0.0, seconds, distance, 0.0).at(np.linspace(0, seconds, 20001))
    assert np.abs(motion.acceleration).max() == pytest.approx(10 / np.sqrt(3) * distance / seconds**2, rel=1e-6)
    assert motion.velocity.max() == pytest.approx(15 / 8 * distance / seconds, rel=1e-6)


def test_any_change_that_keeps_the_ends_has_more_jerk():
    t = np.linspace(0, 1, 2001)
    path = MinimumJerk.between(0.0, 0.2, -1.0, 1.0, 1.0, 2.0).at(t).position
    bump = 1e-2 * t**3 * (1 - t) ** 3 * np.sin(5 * t)  # vanishes at both ends with two derivatives

    def effort(q):
        return np.sum(np.diff(q, 3) ** 2)

    assert effort(path + bump) > effort(path)
    assert effort(path - bump) > effort(path)


def ball_path(v0, v1, angle=2.0):
    q0, axis = rotations.normalise(RNG.normal(size=4)), RNG.normal(size=3)
    q1 = rotations.integrate(q0, angle * axis / np.linalg.norm(axis), 1.0)
    return q0, q1, BallMinimumJerk.between(0.1, q0, v0, 0.7, q1, v1)


@pytest.mark.parametrize("angle", [0.0, 1e-3, 2.0, 3.1])
def test_ball_path_meets_orientation_velocity_and_zero_acceleration_at_both_ends(angle):
    v0, v1 = RNG.normal(size=(2, 3))
    q0, q1, path = ball_path(v0, v1, angle)
    for time, q, v in ((0.1, q0, v0), (0.7, q1, v1)):
        end = path.at(time)
        np.testing.assert_allclose(rotations.difference(end.position, q), 0, atol=1e-12)
        np.testing.assert_allclose(end.velocity, v, atol=1e-10)
        np.testing.assert_allclose(end.acceleration, 0, atol=1e-8)


def test_ball_velocity_and_acceleration_are_the_derivatives():
    _, _, path = ball_path(*RNG.normal(size=(2, 3)))
    times, h = np.linspace(0.1, 0.7, 31), 1e-5
    here, ahead, behind = path.at(times), path.at(times + h), path.at(times - h)
    velocity = rotations.difference(ahead.position, behind.position) / (2 * h)
    np.testing.assert_allclose(here.velocity, velocity, atol=1e-6)
    np.testing.assert_allclose(here.acceleration, (ahead.velocity - behind.velocity) / (2 * h), atol=1e-5)


def test_ball_path_about_one_axis_is_the_hinge_path():
    hinge = MinimumJerk.between(0.0, 0.4, 1.0, 0.5, -0.8, 2.0)
    turned = [rotations.from_rotation_vector([0, a, 0]) for a in (0.4, -0.8)]
    ball = BallMinimumJerk.between(0.0, turned[0], [0, 1.0, 0], 0.5, turned[1], [0, 2.0, 0])
    times = np.linspace(0, 0.5, 11)
    np.testing.assert_allclose(
        rotations.to_rotation_vector(ball.at(times).position)[:, 1], hinge.at(times).position, atol=1e-12
    )
    np.testing.assert_allclose(ball.at(times).acceleration[:, 1], hinge.at(times).acceleration, atol=1e-10)
