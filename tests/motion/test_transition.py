"""Transitions' curves and paths beside what they are said to be: slopes by differences, balances by torques."""

import math

import numpy as np
import pytest

from papers.p4.equations import ball_share
from stunt.motion.minimum_jerk import MinimumJerk
from stunt.motion.transition import PRESETS, make_curve


@pytest.mark.parametrize("seed", range(5))
def test_a_curve_passes_its_knots_with_their_slopes(seed):
    rng = np.random.default_rng(seed)
    times = [0.0, float(rng.uniform(0.2, 0.4)), float(rng.uniform(0.6, 0.8)), 1.0]
    values = [0.0, *rng.normal(0.5, 0.5, 2).tolist(), 1.0]
    knots = tuple(zip(times, values, rng.normal(0.0, 2.0, 4).tolist(), strict=True))
    curve, h = make_curve(knots), 1e-6
    for time, value, slope in knots:
        assert float(curve.at(time)) == pytest.approx(value, abs=1e-9)
        for side in (-h, h):
            if 0.0 <= time + side <= 1.0:
                rise = float(curve.at(time + side)) - float(curve.at(time))
                assert rise / side == pytest.approx(slope, abs=1e-3)


def test_curves_do_as_they_are_called():
    share = np.linspace(0.0, 1.0, 201)
    passed = {name: np.asarray(curve.at(share)) for name, curve in PRESETS.items()}
    for name, path in passed.items():
        assert (path.max() > 1.02) == ("overshoot" in name), name
        assert (path.min() < -0.02) == ("recoil" in name), name


@pytest.mark.parametrize("angle", [0.3, 1.5, 3.0, 5.0])
@pytest.mark.parametrize("progress", [0.1, 0.5, 0.8])
def test_a_ball_joints_two_springs_balance_where_they_should(progress, angle):
    """Torque with the quaternion's vector part, sin of half the angle left; with the rotation vector, the angle."""
    share = ball_share(progress, angle, quaternion_torque=True)
    here = progress * angle
    assert share * math.sin(0.5 * (angle - here)) == pytest.approx((1.0 - share) * math.sin(0.5 * here))
    share = ball_share(progress, angle)
    assert share * (angle - here) == pytest.approx((1.0 - share) * here)


def test_a_path_sets_out_and_arrives_with_the_accelerations_it_is_told():
    path = MinimumJerk.between(1.0, 0.2, -0.5, 1.8, 1.0, 0.7, a0=3.0, a1=-4.0)
    begin, end = path.at(1.0), path.at(1.8)
    assert [float(x) for x in (begin.position, begin.velocity, begin.acceleration)] == pytest.approx([0.2, -0.5, 3.0])
    assert [float(x) for x in (end.position, end.velocity, end.acceleration)] == pytest.approx([1.0, 0.7, -4.0])
