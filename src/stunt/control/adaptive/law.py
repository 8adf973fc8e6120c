"""Model-reference adaptive control of one coordinate (P1), compiled scalar functions.

The user gives one number, the settling time t_s. A reference model with the double pole λ = 4/t_s says how the
coordinate should move: ẍ_m = ẍ_d + 2λ(ẋ_d − ẋ_m) + λ²(x_d − x_m), the paper's −λ²x_m − 2λẋ_m + λ²r with
r = (q̈_d + 2λq̇_d + λ²q_d)/λ². Whoever wants another damping than the double pole's has 2ζλ for 2λ. What drives the
adaptation is y = λ²e + λė, e = x_m − x.

*Self-scaling form* (the default). Force and gains are in units of the inertia m the coordinate feels, time in units of
1/λ, and the regressor φ = (x, ẋ/λ, r, 1) is normalised, so that one set of numbers serves a finger and a waist:

    u = m·[ẍ_m + λ²e + 2λė + β·y + Σ Kᵢφᵢ],   K̇ᵢ = α·λ·y·φᵢ/(1 + |φ|²)

The first three terms are the gains that would be right for a free inertia m; the rest is learned. The constant 1 lets
it hold against gravity where x and r vanish; it learns faster than the others, and without the normalisation. Three
guards keep the gains from drifting: no learning inside a dead zone, a slow forgetting of all but the constant, and a
leak on any gain that has grown past a bound (switching σ-modification).

*Bare form*: the paper's u = K·x + K_r·r with K = α∫y·x + β·y·x, for comparison (its printed last line drops the x).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import scipy

from stunt.maths.compiled import compiled, inlined

SETTLING: Final = 4.0
"""t_s·λ: a double pole has settled to within 10 % of a step after four time constants (2 % after six)."""
BETA: Final = 48.0
"""Share of y that acts at once. (1 + β)λ² is the stiffness per unit inertia."""
ALPHA: Final = 4.0
"""Learning rate of the gains of x, ẋ and r, in units of λ."""
CONSTANT_ALPHA: Final = 160.0
"""Learning rate of the constant gain, in units of λ: what a load suddenly adds is carried within a settling time, and a
wrist, whose weight is large against its inertia, is held as well as a waist."""
CONSTANT_MOST: Final = 16.0
"""How much of y the constant gain takes up in one period at most: it acts a period late, and more of it beside a
stiffness of 1 + β would ring where the settling time is short against the period."""
REGRESSOR: Final = 4.0
"""Scale of the regressors: a quarter of a radian or of a metre weighs as much as the constant."""
BARE_ALPHA: Final = 10.0
BARE_BETA: Final = 1.0
DEAD_ZONE: Final = 1.0e-4
"""Errors below this [rad or m] teach nothing but the constant gain."""
GAIN_BOUND: Final = 20.0
"""Gains beyond this many λ² leak back."""
CONSTANT_BOUND: Final = 1000.0
"""The same for the constant gain: a load may accelerate a small joint that much, and the torque limit stops it too."""
FORGETTING: Final = 0.01
"""How fast gains other than the constant fade, in units of λ: periodic motion would let them drift for minutes."""
LEAK: Final = 2.0
"""How fast they do, in units of λ."""


def model_transition(lam: float, ratio: float, h: float) -> Any:
    """Return how the model's distance from its input and its rate, (e, ė), change in one period: exp(A·h), (4,).

    A = [[0, 1], [−λ², −2ζλ]]; row by row.

    Args:
        lam: λ [1/s].
        ratio: ζ: 1 is critical, less overshoots, more creeps.
        h: The period [s].
    """
    return scipy.linalg.expm(np.array([[0.0, 1.0], [-lam * lam, -2.0 * ratio * lam]]) * h).ravel()


@inlined
def model_step(x: float, v: float, xd: float, vd: float, ad: float, h: float, phi: Any) -> tuple[float, float]:
    """Return the reference model's position and velocity one period later, exactly.

    Args:
        x: Its position now.
        v: Its velocity.
        xd: Desired position now.
        vd: Desired velocity.
        ad: Desired acceleration, taken as constant over the period.
        h: The period [s].
        phi: Its transition (`model_transition`), (4,).
    """
    e, de = x - xd, v - vd
    later = xd + h * (vd + 0.5 * h * ad) + phi[0] * e + phi[1] * de
    return later, vd + h * ad + phi[2] * e + phi[3] * de


@inlined
def drive(e: float, de: float, lam: float) -> float:
    """Return y = λ²e + λė."""
    return lam * lam * e + lam * de


@inlined
def outside(y: float, lam: float) -> float:
    """Return y without its dead zone."""
    zone = DEAD_ZONE * lam * lam
    if y > zone:
        return y - zone
    return y + zone if y < -zone else 0.0


@inlined
def learn(k: Any, i: int, push: float, share: float, bound: float, forgetting: float) -> None:
    """Advance gain k[i] by one period.

    Args:
        k: Gains.
        i: Which.
        push: What it learns in a period.
        share: The period in units of 1/λ, λh.
        bound: A gain beyond this leaks back.
        forgetting: How fast it fades, in units of λ.
    """
    gain = k[i]
    change = push - share * forgetting * gain
    if abs(gain) > bound:
        change -= share * LEAK * (gain - math.copysign(bound, gain))
    k[i] = gain + change


@inlined
def adapt(k: Any, i: int, x: float, w: float, r: float, y: float, lam: float, h: float, frozen: bool) -> float:
    """Advance the four gains k[i:i+4] unless frozen; return Σ Kφ, the learned acceleration.

    Args:
        k: Gains of x, ẋ/λ, r and 1.
        i: Where they are.
        x: Position.
        w: Velocity over λ.
        r: The model's input.
        y: What drives the adaptation.
        lam: λ [1/s].
        h: The period [s].
        frozen: Whether the force is at its limit, where learning would wind up.
    """
    x, w, r = REGRESSOR * x, REGRESSOR * w, REGRESSOR * r
    norm = 1.0 + x * x + w * w + r * r
    if not frozen:
        share, square = lam * h, lam * lam
        felt = share * ALPHA * outside(y, lam) / norm
        learn(k, i, felt * x, share, GAIN_BOUND * square, FORGETTING)
        learn(k, i + 1, felt * w, share, GAIN_BOUND * square, FORGETTING)
        learn(k, i + 2, felt * r, share, GAIN_BOUND * square, FORGETTING)
        learn(k, i + 3, min(CONSTANT_ALPHA * share, CONSTANT_MOST) * y, share, CONSTANT_BOUND * square, 0.0)
    return k[i] * x + k[i + 1] * w + k[i + 2] * r + k[i + 3]


@compiled
def bare(k: Any, x: float, v: float, r: float, y: float, h: float, frozen: bool) -> float:
    """Advance the paper's three gains and return its u per unit inertia."""
    if not frozen:
        k[0] += h * BARE_ALPHA * y * x
        k[1] += h * BARE_ALPHA * y * v
        k[2] += h * BARE_ALPHA * y * r
    at_once = BARE_BETA * y * (x * x + v * v + r * r)
    return k[0] * x + k[1] * v + k[2] * r + at_once
