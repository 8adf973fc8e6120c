"""The beat law (P0, "On the Beat"): which acceleration brings a joint to a key-frame on time.

A physical key-frame is (θ̂, ω̂, t̂). With T = t̂ − t the time left and λ = T/n, a critically damped pull toward the moving
point θ_ref(t) = θ̂ − ω̂T makes the error obey an Euler–Cauchy equation, e ~ T^p: position *and* velocity arrive at the
beat. The printed equation 4 pulls toward a fixed θ̂ and uses n = −1/ln f; both are corrected here (see `docs/p0.md`).

These are scalar functions compiled by numba: the control kernel and the tests call the same code.
"""

from __future__ import annotations

import math

from stunt.maths.compiled import compiled


def time_constants(fraction: float = 0.9) -> float:
    """Return n, how many time constants λ remove `fraction` of the error of a critically damped joint.

    Solves (1+n)·e^(−n) = 1−f, the free response of a critically damped pair. (P0 prints n = −1/ln f.)

    Args:
        fraction: f, between 0 and 1.
    """
    if not 0.0 < fraction < 1.0:
        raise ValueError(f"fraction must lie between 0 and 1, not {fraction}")
    n = 1.0 - math.log(1.0 - fraction)
    for _ in range(60):  # the fixed point n = ln(1+n) − ln(1−f), contracting for n > 0
        n = math.log1p(n) - math.log(1.0 - fraction)
    return n


TIME_CONSTANTS = time_constants(0.9)
"""n of the 90 % rule, 3.89: also above 2+√2, so that the acceleration stays bounded up to the beat."""


@compiled
def approach(error: float, error_rate: float, time_constant: float, period: float) -> float:
    """Acceleration of a critically damped pull, evaluated at the end of the control period.

    The implicit form of a = e/λ² + 2ė/λ: it solves a = e⁺/λ² + 2ė⁺/λ with e⁺ = e + hė − h²a, ė⁺ = ė − ha. It never
    overshoots however short λ gets against the period, where the explicit form explodes.

    Args:
        error: θ_ref − θ [rad].
        error_rate: ω_ref − ω [rad/s].
        time_constant: λ [s].
        period: Control period h [s].

    Returns:
        Acceleration [rad/s²].
    """
    w = 1.0 / time_constant
    return (w * w * (error + period * error_rate) + 2.0 * w * error_rate) / (1.0 + period * w) ** 2


@compiled
def minimum_effort(error: float, velocity: float, goal_velocity: float, time_left: float, period: float) -> float:
    """First acceleration of the least-squares way to arrive exactly in the periods that are left.

    The discrete twin of a = 6(θ̂−θ)/T² − (4ω+2ω̂)/T (the feedback form of a cubic Hermite). With N periods left the
    accelerations a_k = α + β(N−k) are the least in ∑a² that satisfy both end conditions of the semi-implicit step, so
    the last steps need no special case. With one period left the position wins.

    Args:
        error: θ̂ − θ [rad]; the goal itself, not the moving reference.
        velocity: ω [rad/s].
        goal_velocity: ω̂ [rad/s].
        time_left: T [s].
        period: Control period h [s].

    Returns:
        Acceleration [rad/s²].
    """
    n = max(1.0, math.floor(time_left / period + 0.5))
    # Positions and velocities to make up, in units of h² and h: ∑(N−k)a_k = p, ∑a_k = r, with weights N…1.
    p = (error - n * period * velocity) / (period * period)
    r = (goal_velocity - velocity) / period
    if n < 1.5:
        return p
    s0, s1, s2 = n, n * (n + 1.0) / 2.0, n * (n + 1.0) * (2.0 * n + 1.0) / 6.0
    determinant = s0 * s2 - s1 * s1
    alpha = (s2 * r - s1 * p) / determinant
    beta = (s0 * p - s1 * r) / determinant
    return alpha + beta * n


@compiled
def moving_reference(
    goal: float, goal_velocity: float, time_left: float, low: float, high: float
) -> tuple[float, float]:
    """Return θ_ref = θ̂ − ω̂T and ω_ref, kept inside the joint's limits.

    For a large ω̂T the reference would wind up far behind the key, through the joint's end stop; there it waits.
    """
    reference = goal - goal_velocity * time_left
    if reference < low:
        return low, 0.0
    if reference > high:
        return high, 0.0
    return reference, goal_velocity
