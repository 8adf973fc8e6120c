"""The antagonistic actuator (P4, "Modeling tension and relaxation"): tension apart from position.

Two springs pull a joint toward fixed set-points past its limits, θ_L below and θ_H above:

    τ = k_L(θ_L − θ) + k_H(θ_H − θ) − k_d·θ̇

Their sum K = k_L + k_H is the joint's tension, their balance its angle of rest. Under an external torque F every pair
of gains on one straight line in the (k_L, k_H) plane, the isoangle line, rests at the same angle.

These are scalar functions compiled by numba: the control kernel, the planner and the tests call the same code. F counts
positive where it pushes the angle up (gravity on a raised arm is negative).
"""

from __future__ import annotations

import math
from typing import Any

from stunt.maths.compiled import compiled


@compiled
def least_tension(force: float, angle: float, low: float, high: float) -> float:
    """Return the least K with which two springs that only pull can rest at `angle` under `force` [N·m/rad].

    Args:
        force: External torque F [N·m].
        angle: Where to rest, θ_eq [rad], between the set-points.
        low: Set-point θ_L [rad].
        high: Set-point θ_H [rad].
    """
    if force > 0.0:
        return force / max(angle - low, 1e-9)
    return -force / max(high - angle, 1e-9)


@compiled
def ball_room(reach: float, turn: float) -> float:
    """Return how far a ball joint's springs can still be stretched when it is turned by `turn` [rad]."""
    return max(min(reach - turn, 2.5), 0.02)


@compiled
def gains(tension: float, force: float, angle: float, low: float, high: float) -> tuple[float, float]:
    """Return (k_L, k_H) that rest at `angle` under `force` with k_L + k_H = `tension` [N·m/rad]."""
    span = high - low
    return (tension * (high - angle) + force) / span, (tension * (angle - low) - force) / span


@compiled
def torque(gain_low: float, gain_high: float, low: float, high: float, angle: float) -> float:
    """Return what the two springs produce at an angle [N·m]; the damper comes on top."""
    return gain_low * (low - angle) + gain_high * (high - angle)


@compiled
def critical_share(tension: float, moment: float, ratio: float) -> float:
    """Return the damping k_d that is `ratio` of critical for a moment of inertia [N·m·s/rad]."""
    return 2.0 * ratio * math.sqrt(max(tension * moment, 0.0))


@compiled
def warped(u: float, warp: float) -> float:
    """Return time re-parameterised on [0, 1]: (e^(a·u) − 1)/(e^a − 1); a > 0 starts slowly, a < 0 fast."""
    if abs(warp) < 1e-9:
        return u
    return math.expm1(warp * u) / math.expm1(warp)


@compiled
def curve_progress(knots: Any, first: int, count: int, u: float) -> float:
    """Return the value of a cubic Hermite curve at u in [0, 1].

    Args:
        knots: Time, progress and slope of each knot, flat.
        first: Where the curve begins in `knots`.
        count: How many knots it has.
        u: Share of the transition's time.
    """
    k = 0
    while k < count - 2 and u > knots[first + 3 * (k + 1)]:
        k += 1
    a, b = first + 3 * k, first + 3 * (k + 1)
    width = knots[b] - knots[a]
    s = (u - knots[a]) / width
    rest = 1.0 - s
    # Bernstein form; the inner control points lie a third of the way along the slopes.
    return (
        rest * rest * rest * knots[a + 1]
        + 3.0 * rest * rest * s * (knots[a + 1] + width * knots[a + 2] / 3.0)
        + 3.0 * rest * s * s * (knots[b + 1] - width * knots[b + 2] / 3.0)
        + s * s * s * knots[b + 1]
    )
