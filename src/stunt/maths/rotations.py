"""Quaternions and rotation vectors, vectorised over leading axes.

Quaternions are wxyz and turn vectors of the child's frame into the parent's. A rotation vector is an axis times an
angle [rad], along the shortest arc. Angular velocities are in the child's own frame, as MuJoCo's ball joints have them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# Below it [rad] the series of the exponential map's factors are used: their closed forms cancel there.
_SMALL_ANGLE = 1e-2


def multiply(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the Hamilton product: first b, then a. (..., 4) each."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.ndim == 1 and b.ndim == 1:  # one product: the same sums, without the price of four small arrays
        return np.array(_product(*a.tolist(), *b.tolist()))
    parts = (a[..., 0], a[..., 1], a[..., 2], a[..., 3], b[..., 0], b[..., 1], b[..., 2], b[..., 3])
    return np.stack(_product(*parts), axis=-1)


def _product(aw: Any, ax: Any, ay: Any, az: Any, bw: Any, bx: Any, by: Any, bz: Any) -> list[Any]:
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]


def conjugate(q: ArrayLike) -> Floats:
    """Return the inverse of a unit quaternion, (..., 4)."""
    result: Floats = np.asarray(q, float) * np.array([1.0, -1.0, -1.0, -1.0])
    return result


def normalise(q: ArrayLike) -> Floats:
    """Return q at unit length, (..., 4); a zero quaternion becomes the identity."""
    q = np.asarray(q, float)
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    nothing = length < 1e-15
    return np.where(nothing, np.array([1.0, 0.0, 0.0, 0.0]), q / np.where(nothing, 1.0, length))


def rotate(q: ArrayLike, vector: ArrayLike) -> Floats:
    """Turn a vector of the child's frame into the parent's, (..., 3)."""
    q, vector = np.asarray(q, float), np.asarray(vector, float)
    if q.ndim == 1 and vector.ndim == 1:
        return np.array(_turned(*q.tolist(), *vector.tolist()))
    parts = (q[..., 0], q[..., 1], q[..., 2], q[..., 3], vector[..., 0], vector[..., 1], vector[..., 2])
    return np.stack(_turned(*parts), axis=-1)


def _turned(w: Any, a: Any, b: Any, c: Any, x: Any, y: Any, z: Any) -> list[Any]:
    i, j, k = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return [x + w * i + (b * k - c * j), y + w * j + (c * i - a * k), z + w * k + (a * j - b * i)]


def from_rotation_vector(vector: ArrayLike) -> Floats:
    """Return the quaternion of a rotation vector (the exponential map), (..., 3) → (..., 4)."""
    vector = np.asarray(vector, float)
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    # np.sinc(x) is sin(πx)/(πx), exact at 0.
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vector], axis=-1)


def to_rotation_vector(q: ArrayLike) -> Floats:
    """Return the rotation vector of a quaternion (the logarithm), at most π long, (..., 4) → (..., 3)."""
    q = np.asarray(q, float)
    q = np.where(q[..., :1] < 0.0, -q, q)  # q and −q are the same rotation; w ≥ 0 is its shorter arc.
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    tiny = sine < 1e-150
    factor = 2.0 * np.arctan2(sine, q[..., :1]) / np.where(tiny, 1.0, sine)
    return np.where(tiny, 2.0, factor) * q[..., 1:]


def from_matrix(matrix: ArrayLike) -> Floats:
    """Return the quaternion (w ≥ 0) of a rotation matrix, (..., 3, 3) → (..., 4)."""
    m = np.asarray(matrix, float)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    wx, wy, wz = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    # Every row is 4 q_i q: all are multiples of q. The one with the largest q_i is the best conditioned.
    rows = np.stack(
        [
            np.stack([1 + xx + yy + zz, wx, wy, wz], axis=-1),
            np.stack([wx, 1 + xx - yy - zz, xy, xz], axis=-1),
            np.stack([wy, xy, 1 - xx + yy - zz, yz], axis=-1),
            np.stack([wz, xz, yz, 1 - xx - yy + zz], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), axis=-1)
    q = normalise(np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :])
    return np.where(q[..., :1] < 0.0, -q, q)


def to_matrix(q: ArrayLike) -> Floats:
    """Return the rotation matrix of a quaternion, (..., 4) → (..., 3, 3)."""
    q = np.asarray(q, float)
    return np.stack([rotate(q, axis) for axis in np.eye(3)], axis=-1)


def difference(target: ArrayLike, start: ArrayLike) -> Floats:
    """Return the rotation vector, in `start`'s own frame, that turns `start` into `target`, (..., 3).

    `mju_subQuat` and `mj_differentiatePos` have the same convention.
    """
    return to_rotation_vector(multiply(conjugate(start), target))


def integrate(q: ArrayLike, angular_velocity: ArrayLike, seconds: ArrayLike) -> Floats:
    """Turn q for some time at a constant angular velocity [rad/s] in its own frame, (..., 4)."""
    turned = np.asarray(angular_velocity, float) * np.asarray(seconds, float)[..., None]
    return multiply(q, from_rotation_vector(turned))


def slerp(a: ArrayLike, b: ArrayLike, share: ArrayLike) -> Floats:
    """Return the orientation a share (0: a, 1: b) of the shortest way from a to b, (..., 4)."""
    return integrate(a, difference(b, a), share)


def swing_twist(q: ArrayLike, axis: ArrayLike) -> tuple[Floats, Floats]:
    """Split q = swing · twist: the twist turns about the unit `axis` (..., 3), the swing about an axis across it.

    Where the swing is half a turn the twist is not determined; it is the identity then.
    """
    q, axis = np.asarray(q, float), np.asarray(axis, float)
    along = np.sum(q[..., 1:] * axis, axis=-1, keepdims=True)
    twist = normalise(np.concatenate([q[..., :1], along * axis], axis=-1))
    return multiply(q, conjugate(twist)), twist


def heading(q: ArrayLike) -> Floats:
    """Return the twist about the vertical z axis [rad], in −π…π, (...)."""
    _, twist = swing_twist(q, np.array([0.0, 0.0, 1.0]))
    result: Floats = to_rotation_vector(twist)[..., 2]
    return result


def angular_motion(vector: ArrayLike, rate: ArrayLike, second_rate: ArrayLike) -> tuple[Floats, Floats]:
    """Return angular velocity and acceleration of a moving rotation vector, in the turning frame, (..., 3) each.

    With r the vector and θ its length, ω = ṙ − b r×ṙ + c r×(r×ṙ), b = (1−cos θ)/θ², c = (θ−sin θ)/θ³ (the right
    Jacobian of the exponential map); the acceleration is its derivative.

    Args:
        vector: r [rad].
        rate: ṙ [rad/s].
        second_rate: r̈ [rad/s²].
    """
    r, d, dd = (np.asarray(x, float) for x in (vector, rate, second_rate))
    b, c, b_slope, c_slope = _exponential_factors(np.linalg.norm(r, axis=-1, keepdims=True))
    growth = np.sum(r * d, axis=-1, keepdims=True)  # θ θ̇
    across, across_rate = np.cross(r, d), np.cross(r, dd)
    twice = np.cross(r, across)
    velocity = d - b * across + c * twice
    acceleration = dd - b * across_rate + c * (np.cross(d, across) + np.cross(r, across_rate))
    return velocity, acceleration + growth * (c_slope * twice - b_slope * across)


def right_jacobian(vector: ArrayLike) -> Floats:
    """Return the matrix that turns a rotation vector's rate into angular velocity (..., 3, 3)."""
    vector = np.asarray(vector, float)
    columns = [angular_motion(vector, np.broadcast_to(e, vector.shape), np.zeros(3))[0] for e in np.eye(3)]
    return np.stack(columns, axis=-1)


def _exponential_factors(angle: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return b, c and their slopes b'/θ, c'/θ (see `angular_motion`) at an angle [rad]."""
    square = angle**2
    small = angle < _SMALL_ANGLE
    safe = np.where(small, 1.0, angle)
    sine = np.sin(safe) / safe
    b = np.where(small, 1 / 2 - square / 24 + square**2 / 720, 0.5 * np.sinc(0.5 * safe / np.pi) ** 2)
    c = np.where(small, 1 / 6 - square / 120 + square**2 / 5040, (1.0 - sine) / safe**2)
    b_slope = np.where(small, -1 / 12 + square / 180, (sine - 2.0 * b) / safe**2)
    c_slope = np.where(small, -1 / 60 + square / 1260, (b - 3.0 * c) / safe**2)
    return b, c, b_slope, c_slope
