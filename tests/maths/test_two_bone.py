"""Two bones: the point is reached, the plane is kept, the reach has its limits."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.maths.rotations import multiply, rotate, to_rotation_vector
from stunt.maths.two_bone import EXACT, FOLDED, STRETCHED, bend, bend_frames, inner_angle, knee_along, knee_towards

RNG = np.random.default_rng(5)
AXIS = (0.0, 1.0, 0.0)


def unit(vector):
    return np.asarray(vector) / np.linalg.norm(vector)


def limbs(count=200):
    """Random limbs, each with a point within its reach."""
    for _ in range(count):
        upper, lower = RNG.normal(size=3) * 0.3, RNG.normal(size=3) * 0.3
        one, other = np.linalg.norm(upper), np.linalg.norm(lower)
        far = RNG.uniform(1.05 * abs(one - other), 0.98 * (one + other))
        yield upper, lower, far * unit(RNG.normal(size=3))


def bent(upper, lower, point, axis=AXIS):
    first, second = bend(*upper, *lower, *point, *axis)
    return np.array(first), np.array(second)


def test_a_point_within_reach_is_reached_exactly_and_bones_keep_their_length():
    for upper, lower, point in limbs():
        first, second = bent(upper, lower, point)
        np.testing.assert_allclose(rotate(first, upper) + rotate(second, lower), point, atol=1e-12)
        np.testing.assert_allclose([first @ first, second @ second], 1.0, atol=1e-12)


def test_the_middle_joint_turns_about_the_axis_it_is_bent_about():
    for upper, lower, point in limbs():
        first, second = bent(upper, lower, point)
        inner = multiply(first * [1.0, -1.0, -1.0, -1.0], second)  # of the second bone, seen from the first as it was
        turned = to_rotation_vector(inner)
        assert np.linalg.norm(np.cross(turned, unit(np.cross(upper, lower)))) < 1e-9


def test_a_limb_already_there_stays():
    for upper, lower, _ in limbs(50):
        first, second = bent(upper, lower, upper + lower)
        np.testing.assert_allclose([first[0], second[0]], 1.0, atol=1e-12)


def test_near_its_whole_length_a_limb_opens_evenly_and_hardly_misses():
    upper, lower = np.array([0.1, 0.0, -0.4]), np.array([-0.1, 0.0, -0.4])
    whole = np.linalg.norm(upper) + np.linalg.norm(lower)
    far = np.linspace(0.99, 1.01, 201) * whole
    angles = []
    for distance in far:
        first, second = bent(upper, lower, [0.0, 0.0, -distance])
        thigh, shank = rotate(first, upper), rotate(second, lower)
        angles.append(np.arccos(np.clip(unit(thigh) @ unit(shank), -1.0, 1.0)))
        assert abs(np.linalg.norm(thigh + shank) - min(distance, STRETCHED * whole)) < 2e-3 * whole
    pace = np.abs(np.diff(angles)) / np.diff(far)
    assert pace.max() < 60.0  # [rad/m]; exact reaching has no bound
    assert np.all(np.diff(angles) <= 1e-12)


@pytest.mark.parametrize("stretch", [0.9, 0.996, 0.9999, 1.0])
def test_a_limb_moved_by_nothing_stays_however_far_it_is_stretched(stretch):
    off = np.sqrt(1.0 - stretch**2)
    upper, lower = np.array([0.4 * off, 0.0, -0.4 * stretch]), np.array([-0.4 * off, 0.0, -0.4 * stretch])
    first, second = bent(upper, lower, upper + lower)
    np.testing.assert_allclose(np.abs([first[0], second[0]]), 1.0, atol=1e-12)


def test_there_and_back_the_end_is_where_it_was_and_the_knee_as_bent():
    for upper, lower, point in limbs(50):
        one, other, far = (float(np.linalg.norm(way)) for way in (upper, lower, upper + lower))
        if not FOLDED * abs(one - other) < far < EXACT * (one + other):  # nobody is bent back beyond the limits
            continue
        first, second = bent(upper, lower, point)
        back, again = bent(rotate(first, upper), rotate(second, lower), upper + lower)
        thigh, shank = rotate(multiply(back, first), upper), rotate(multiply(again, second), lower)
        np.testing.assert_allclose(thigh + shank, upper + lower, atol=1e-12)
        assert thigh @ shank == pytest.approx(upper @ lower, abs=1e-9)


def test_the_end_follows_the_point_at_its_own_pace():
    """Finite differences: moving the point by a little moves the end by as much, and the knee by not much more."""
    for upper, lower, point in limbs(50):
        step = 1e-6 * unit(RNG.normal(size=3))
        ends, knees = [], []
        for there in (point - step, point + step):
            first, second = bent(upper, lower, there)
            knees.append(rotate(first, upper))
            ends.append(knees[-1] + rotate(second, lower))
        np.testing.assert_allclose(ends[1] - ends[0], 2.0 * step, atol=1e-11)
        assert np.linalg.norm(knees[1] - knees[0]) < 1e-4


@pytest.mark.parametrize(("far", "least", "most"), [(10.0, STRETCHED, STRETCHED), (1e-3, 0.0, 0.3)])
def test_out_of_reach_it_points_there_and_keeps_to_its_limits(far, least, most):
    upper, lower = np.array([0.05, 0.0, -0.4]), np.array([-0.03, 0.0, -0.35])
    point = far * unit([0.3, 0.4, -0.8])
    first, second = bent(upper, lower, point)
    end = rotate(first, upper) + rotate(second, lower)
    whole, one, other = 0.0, np.linalg.norm(upper), np.linalg.norm(lower)
    whole = one + other
    np.testing.assert_allclose(unit(end), unit(point), atol=1e-9)
    assert least * whole - 1e-9 <= np.linalg.norm(end) <= most * whole + 1e-9
    assert np.linalg.norm(end) >= FOLDED * abs(one - other) - 1e-9


def test_a_straight_limb_bends_about_the_axis_it_is_given():
    upper = np.array([0.0, 0.0, -0.4])
    first, second = bent(upper, upper, [0.0, 0.0, -0.5])
    knee = rotate(first, upper)
    assert abs(knee[1]) < 1e-12
    assert knee[0] > 0.1  # about +y a hanging shank folds back, the knee comes forward
    np.testing.assert_allclose(knee + rotate(second, upper), [0.0, 0.0, -0.5], atol=1e-12)


def test_opposite_directions_are_turned_into_each_other():
    first, second = bent(np.array([0.0, 0.0, -0.4]), np.array([0.1, 0.0, -0.4]), [-0.09, 0.0, 0.72])
    end = rotate(first, [0.0, 0.0, -0.4]) + rotate(second, [0.1, 0.0, -0.4])
    np.testing.assert_allclose(end, [-0.09, 0.0, 0.72], atol=1e-9)


def test_the_side_says_where_the_middle_joint_is():
    for upper, lower, point in limbs():
        one, other = np.linalg.norm(upper), np.linalg.norm(lower)
        side = RNG.normal(size=3)
        knee, end = (np.array(x) for x in knee_towards(one, other, *point, *side, 0.0, 10.0))
        np.testing.assert_allclose(end, point, atol=1e-12)
        np.testing.assert_allclose([np.linalg.norm(knee), np.linalg.norm(end - knee)], [one, other], atol=1e-12)
        across = side - (side @ unit(point)) * unit(point)
        off = knee - (knee @ unit(point)) * unit(point)
        assert np.linalg.norm(np.cross(unit(off), unit(across))) < 1e-6
        assert off @ across > 0.0


def test_the_triangle_closes():
    along, off = knee_along(0.4, 0.3, 0.5)
    assert (along, off) == (pytest.approx(0.32), pytest.approx(0.24))
    assert inner_angle(0.4, 0.3, 0.5) == pytest.approx(np.pi / 2)


def test_many_frames_are_each_by_itself():
    some = list(limbs(20))
    hips = RNG.normal(size=(20, 3))
    knees = hips + [upper for upper, _, _ in some]
    ends = knees + [lower for _, lower, _ in some]
    targets = hips + [point for _, _, point in some]
    first, second = np.empty((20, 4)), np.empty((20, 4))
    bend_frames(hips, knees, ends, targets, np.tile(AXIS, (20, 1)), first, second)
    for number, limb in enumerate(some):
        np.testing.assert_allclose([first[number], second[number]], bent(*limb), atol=1e-9)
