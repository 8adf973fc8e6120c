"""Equations of the paper that performing does not need: what else two springs are like."""

from __future__ import annotations

import math


def isoangle_high(gain_low: float, force: float, angle: float, low: float, high: float) -> float:
    """Return the k_H that goes with a k_L on the isoangle line of `angle`; its slope does not depend on the force."""
    return (gain_low * (angle - low) - force) / (high - angle)


def equilibrium(gain_low: float, gain_high: float, force: float, low: float, high: float) -> float:
    """Return where the springs and an external torque balance [rad]."""
    return (gain_low * low + gain_high * high + force) / (gain_low + gain_high)


def pd_set_point(tension: float, force: float, angle: float) -> float:
    """Return the set-point θ_eq − F/K of the PD spring k_s = K with the same response [rad]."""
    return angle - force / tension


def ball_share(progress: float, angle: float, *, quaternion_torque: bool = False) -> float:
    """Return the share of tension the far spring of a ball joint needs for its balance to be at `progress`.

    Two springs pull toward the two ends of the transition. Where torque goes with the rotation vector the shares are
    the progress itself. Where it goes with the quaternion's vector part, sin of half the angle, they are
    sin(pθ)/(sin pθ + sin((1−p)θ)); the paper's erratum to its equation 9, sin(pθ)/sin θ, leaves [0, 1] for large spans.

    Args:
        progress: p, from 0 to 1.
        angle: The rotation angle between the two ends [rad], below 2π.
        quaternion_torque: Which of the two springs.
    """
    half = 0.5 * angle
    if not quaternion_torque or abs(math.sin(half)) < 1e-12:
        return progress
    near, far = math.sin((1.0 - progress) * half), math.sin(progress * half)
    return far / (far + near)
