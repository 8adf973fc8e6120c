"""Rotation maths against MuJoCo's and SciPy's, and against finite differences."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stunt.maths import rotations

RNG = np.random.default_rng(7)
QUATERNIONS = rotations.normalise(RNG.normal(size=(200, 4)))
OTHERS = rotations.normalise(RNG.normal(size=(200, 4)))
ANGLES = [0.0, 1e-300, 1e-160, 1e-12, 1e-7, 1e-3, 0.0099, 0.0101, 0.5, 3.0, np.pi - 1e-9, np.pi]


def same_rotation(a, b, tolerance=1e-12):
    return np.all(np.minimum(np.abs(a - b).max(-1), np.abs(a + b).max(-1)) < tolerance)


def scipy_of(q):
    return Rotation.from_quat(q, scalar_first=True)


def test_products_and_rotated_vectors_agree_with_scipy():
    product = (scipy_of(QUATERNIONS) * scipy_of(OTHERS)).as_quat(scalar_first=True)
    assert same_rotation(rotations.multiply(QUATERNIONS, OTHERS), product)
    vectors = RNG.normal(size=(200, 3))
    np.testing.assert_allclose(rotations.rotate(QUATERNIONS, vectors), scipy_of(QUATERNIONS).apply(vectors), atol=1e-12)


def test_a_quaternion_times_its_conjugate_is_the_identity():
    identity = rotations.multiply(QUATERNIONS, rotations.conjugate(QUATERNIONS))
    np.testing.assert_allclose(identity, np.tile([1.0, 0, 0, 0], (200, 1)), atol=1e-12)


def test_a_zero_quaternion_normalises_to_the_identity():
    np.testing.assert_array_equal(rotations.normalise([0.0, 0, 0, 0]), [1.0, 0, 0, 0])


@pytest.mark.parametrize("angle", ANGLES)
def test_rotation_vectors_survive_the_round_trip_from_tiny_to_half_turn(angle):
    axes = RNG.normal(size=(50, 3))
    vectors = angle * axes / np.linalg.norm(axes, axis=-1, keepdims=True)
    back = rotations.to_rotation_vector(rotations.from_rotation_vector(vectors))
    if angle == np.pi:  # both signs of the axis are right
        back = np.where(np.sum(back * vectors, -1, keepdims=True) < 0, -back, back)
    np.testing.assert_allclose(back, vectors, rtol=1e-12, atol=1e-15 * max(angle, 1e-300))


def test_logarithm_takes_the_shortest_arc():
    vectors = rotations.to_rotation_vector(QUATERNIONS)
    assert np.linalg.norm(vectors, axis=-1).max() <= np.pi
    np.testing.assert_allclose(vectors, scipy_of(QUATERNIONS).as_rotvec(), atol=1e-10)
    np.testing.assert_array_equal(vectors, rotations.to_rotation_vector(-QUATERNIONS))


def test_matrices_agree_with_scipy_both_ways():
    matrices = rotations.to_matrix(QUATERNIONS)
    np.testing.assert_allclose(matrices, scipy_of(QUATERNIONS).as_matrix(), atol=1e-12)
    assert same_rotation(rotations.from_matrix(matrices), QUATERNIONS)


def test_half_turns_survive_the_matrix():
    half_turns = np.eye(4)
    assert same_rotation(rotations.from_matrix(rotations.to_matrix(half_turns)), half_turns)


def test_difference_agrees_with_mujoco():
    expected = np.zeros((200, 3))
    for row, a, b in zip(expected, QUATERNIONS, OTHERS, strict=True):
        mujoco.mju_subQuat(row, a, b)
    np.testing.assert_allclose(rotations.difference(QUATERNIONS, OTHERS), expected, atol=1e-10)


def test_integration_agrees_with_mujoco_and_undoes_the_difference():
    rates = RNG.normal(size=(200, 3))
    expected = QUATERNIONS.copy()
    for row, rate in zip(expected, rates, strict=True):
        mujoco.mju_quatIntegrate(row, rate, 0.3)
    assert same_rotation(rotations.integrate(QUATERNIONS, rates, 0.3), expected)
    step = rotations.difference(OTHERS, QUATERNIONS)
    assert same_rotation(rotations.integrate(QUATERNIONS, step, 1.0), OTHERS)


def test_slerp_covers_the_arc_evenly():
    middle = rotations.slerp(QUATERNIONS, OTHERS, np.full(200, 0.25))
    whole = rotations.difference(OTHERS, QUATERNIONS)
    np.testing.assert_allclose(rotations.difference(middle, QUATERNIONS), 0.25 * whole, atol=1e-10)
    assert same_rotation(rotations.slerp(QUATERNIONS, OTHERS, 1.0), OTHERS)


def test_swing_and_twist_multiply_back_and_stay_on_their_axes():
    axis = np.array([0.6, 0.0, 0.8])
    swing, twist = rotations.swing_twist(QUATERNIONS, axis)
    assert same_rotation(rotations.multiply(swing, twist), QUATERNIONS)
    np.testing.assert_allclose(np.cross(twist[:, 1:], axis), 0, atol=1e-12)
    np.testing.assert_allclose(swing[:, 1:] @ axis, 0, atol=1e-12)


def test_heading_is_the_turn_about_the_vertical():
    yaw = np.linspace(-3.1, 3.1, 50)
    lean = rotations.from_rotation_vector([0.3, -0.4, 0.0])
    turn = rotations.from_rotation_vector(np.stack([0 * yaw, 0 * yaw, yaw], -1))
    np.testing.assert_allclose(rotations.heading(rotations.multiply(lean, turn)), yaw, atol=1e-12)
    np.testing.assert_allclose(rotations.heading(-turn), yaw, atol=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-4, 0.009, 0.011, 0.3, 2.0, 3.1])
def test_angular_motion_agrees_with_finite_differences(size):
    direction, rate, bend = RNG.normal(size=(3, 3))
    start = size * direction / np.linalg.norm(direction)

    def vector(t):
        return start + t * rate + 0.5 * t * t * bend

    def velocity(t, h=1e-5):
        ahead, behind = (rotations.from_rotation_vector(vector(t + s)) for s in (h, -h))
        return rotations.difference(ahead, behind) / (2 * h)

    omega, alpha = rotations.angular_motion(start, rate, bend)
    np.testing.assert_allclose(omega, velocity(0.0), atol=1e-8)
    np.testing.assert_allclose(omega, rotations.right_jacobian(start) @ rate, atol=1e-12)
    np.testing.assert_allclose(alpha, (velocity(1e-3) - velocity(-1e-3)) / 2e-3, atol=1e-4)


def test_angular_motion_has_no_seam_where_the_series_ends():
    direction, rate, bend = RNG.normal(size=(3, 3))
    direction /= np.linalg.norm(direction)
    below, above = (rotations.angular_motion(s * direction, rate, bend) for s in (0.01 - 1e-13, 0.01 + 1e-13))
    np.testing.assert_allclose(below, above, atol=1e-11)
