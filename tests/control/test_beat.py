"""The beat law as a formula: constants, arrival, and what it promises at any step size."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from papers.p0.arrival import arrival_exponents
from stunt.control.beat.law import TIME_CONSTANTS, approach, minimum_effort, moving_reference, time_constants


def test_the_time_constants_remove_the_asked_share_of_a_critically_damped_error():
    for fraction in (0.5, 0.9, 0.99):
        n = time_constants(fraction)
        assert (1 + n) * math.exp(-n) == pytest.approx(1 - fraction, abs=1e-12)
    assert TIME_CONSTANTS == pytest.approx(3.8897, abs=1e-4)
    assert TIME_CONSTANTS > 2 + math.sqrt(2)  # so that the acceleration stays bounded up to the beat


def test_an_impossible_fraction_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        time_constants(1.0)


def test_the_shrinking_law_follows_its_euler_cauchy_exponents():
    # ë = −n²e/T² − 2nė/T has solutions T^p: started on the slow one, it stays on it.
    p, _ = arrival_exponents()
    n, total = TIME_CONSTANTS, 1.0

    def slope(t, y):
        left = total - t
        return [y[1], -(n**2) * y[0] / left**2 - 2 * n * y[1] / left]

    end = 0.9
    solution = solve_ivp(slope, (0, end), [1.0, -p / total], rtol=1e-10, atol=1e-14)
    assert solution.y[0, -1] == pytest.approx((1 - end) ** p, rel=1e-5)


def drive(law, q0, v0, goal, goal_velocity, duration, h):
    """Step a unit mass semi-implicitly under a law; return its end state and peak acceleration."""
    q, v, peak = q0, v0, 0.0
    steps = round(duration / h)
    for k in range(steps):
        left = duration - k * h
        a = law(q, v, goal, goal_velocity, left, h)
        peak = max(peak, abs(a))
        v += h * a
        q += h * v
    return q, v, peak


def critical(q, v, goal, goal_velocity, left, h):
    reference, rate = moving_reference(goal, goal_velocity, left, -math.inf, math.inf)
    return approach(reference - q, rate - v, max(left, h) / TIME_CONSTANTS, h)


def effort(q, v, goal, goal_velocity, left, h):
    return minimum_effort(goal - q, v, goal_velocity, left, h)


@pytest.mark.parametrize("goal_velocity", [0.0, 2.0, -3.0])
@pytest.mark.parametrize("v0", [0.0, 1.5])
def test_both_laws_arrive_with_position_and_velocity(goal_velocity, v0):
    for hz, allowed in ((120, 0.01), (480, 0.001)):
        q, v, _ = drive(critical, 0.2, v0, 1.2, goal_velocity, 0.4, 1 / hz)
        assert q == pytest.approx(1.2, abs=allowed)
        assert v == pytest.approx(goal_velocity, abs=60 * allowed)
        q, v, _ = drive(effort, 0.2, v0, 1.2, goal_velocity, 0.4, 1 / hz)
        assert q == pytest.approx(1.2, abs=1e-9)
        assert v == pytest.approx(goal_velocity, abs=1e-7)


def test_minimum_effort_needs_less_than_half_the_peak_of_the_critical_law():
    *_, stiff = drive(critical, 0.0, 0.0, 1.0, 0.0, 0.5, 1 / 960)
    *_, soft = drive(effort, 0.0, 0.0, 1.0, 0.0, 0.5, 1 / 960)
    assert soft == pytest.approx(6 / 0.5**2, rel=0.02)
    assert stiff == pytest.approx(TIME_CONSTANTS**2 / 0.5**2, rel=0.05)


def test_minimum_effort_tends_to_the_cubic_hermite_as_steps_shrink():
    error, v, goal_velocity, left = 0.7, 0.4, -0.3, 0.5
    exact = 6 * error / left**2 - (4 * v + 2 * goal_velocity) / left
    assert minimum_effort(error, v, goal_velocity, left, 1e-5) == pytest.approx(exact, rel=1e-3)


def test_approach_solves_its_implicit_equation_and_never_overshoots_however_short_the_time_constant():
    rng = np.random.default_rng(0)
    for _ in range(200):
        e, rate, lam, h = rng.normal(), rng.normal(), 10 ** rng.uniform(-4, 0), 10 ** rng.uniform(-3, -1.5)
        a = approach(e, rate, lam, h)
        after, rate_after = e + h * rate - h * h * a, rate - h * a
        assert a == pytest.approx(after / lam**2 + 2 * rate_after / lam, rel=1e-9, abs=1e-9)
        assert abs(e - h * h * approach(e, 0.0, lam, h)) <= abs(e)


def test_the_moving_reference_waits_at_the_limit_instead_of_winding_up_through_it():
    assert moving_reference(1.0, 2.0, 0.25, -1.0, 1.5) == (0.5, 2.0)
    assert moving_reference(1.0, 2.0, 3.0, -1.0, 1.5) == (-1.0, 0.0)
    assert moving_reference(1.0, -2.0, 3.0, -1.0, 1.5) == (1.5, 0.0)
