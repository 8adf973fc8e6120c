"""Small dense linear algebra and quaternions, compiled: of plain numbers, and on flat memory.

Quaternions are wxyz, as in `stunt.maths.rotations`, which does the same for whole arrays.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.maths.compiled import compiled, inlined

Quaternion = tuple[float, float, float, float]
Vector = tuple[float, float, float]


@compiled
def factor(a: Any, start: int, n: int) -> None:
    """Replace the n×n positive matrix at a[start:] by its Cholesky factor (lower half); tiny pivots are lifted."""
    for i in range(n):
        for j in range(i + 1):
            total = a[start + i * n + j]
            for k in range(j):
                total -= a[start + i * n + k] * a[start + j * n + k]
            if i == j:
                a[start + i * n + i] = math.sqrt(max(total, 1e-12))
            else:
                a[start + i * n + j] = total / a[start + j * n + j]


@compiled
def solve(a: Any, start: int, n: int, x: Any, first: int) -> None:
    """Solve with a factor from `factor`, in place at x[first:]."""
    for i in range(n):
        for k in range(i):
            x[first + i] -= a[start + i * n + k] * x[first + k]
        x[first + i] /= a[start + i * n + i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[first + i] -= a[start + k * n + i] * x[first + k]
        x[first + i] /= a[start + i * n + i]


@inlined
def cross(a: float, b: float, c: float, x: float, y: float, z: float) -> Vector:
    """Return the vector product (a, b, c) × (x, y, z)."""
    return b * z - c * y, c * x - a * z, a * y - b * x


@inlined
def product(a: float, b: float, c: float, d: float, w: float, x: float, y: float, z: float) -> Quaternion:
    """Return the Hamilton product (a, b, c, d) ⊗ (w, x, y, z): first the second, then the first."""
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


@inlined
def rotated(w: float, a: float, b: float, c: float, x: float, y: float, z: float) -> Vector:
    """Return the vector (x, y, z) turned by the quaternion (w, a, b, c)."""
    i, j, k = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return x + w * i + b * k - c * j, y + w * j + c * i - a * k, z + w * k + a * j - b * i


@inlined
def exponential(x: float, y: float, z: float) -> Quaternion:
    """Return the quaternion of a rotation vector [rad]."""
    angle = math.sqrt(x * x + y * y + z * z)
    share = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return math.cos(0.5 * angle), share * x, share * y, share * z


@inlined
def logarithm(w: float, x: float, y: float, z: float) -> Vector:
    """Return the rotation vector of a quaternion [rad], the short way round."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    share = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0
    return share * x, share * y, share * z


@inlined
def turn_between(a: float, b: float, c: float, x: float, y: float, z: float) -> Quaternion:
    """Return the shortest turn of the direction (a, b, c) into (x, y, z); neither needs unit length.

    Of opposite directions no turn is the shortest: what comes is a half turn about some axis across them.
    """
    scale = math.sqrt((a * a + b * b + c * c) * (x * x + y * y + z * z))
    i, j, k = b * z - c * y, c * x - a * z, a * y - b * x
    w = scale + a * x + b * y + c * z
    if w < 1e-12 * scale:  # opposite: about the axis of the world that is most across
        w = 0.0
        if abs(a) <= abs(b) and abs(a) <= abs(c):
            i, j, k = 0.0, c, -b
        elif abs(b) <= abs(c):
            i, j, k = -c, 0.0, a
        else:
            i, j, k = b, -a, 0.0
    size = math.sqrt(w * w + i * i + j * j + k * k)
    if size < 1e-150:
        return 1.0, 0.0, 0.0, 0.0
    return w / size, i / size, j / size, k / size


@compiled
def multiply_quaternions(a: Any, i: int, b: Any, j: int, out: Any, o: int) -> None:
    """Write a[i:i+4] ⊗ b[j:j+4] to out[o:o+4]."""
    out[o], out[o + 1], out[o + 2], out[o + 3] = product(
        a[i], a[i + 1], a[i + 2], a[i + 3], b[j], b[j + 1], b[j + 2], b[j + 3]
    )


@compiled
def mix_quaternions(a: Any, i: int, b: Any, j: int, share: float, out: Any, o: int) -> None:
    """Write the orientation a share of the way from a[i:i+4] to b[j:j+4] to out[o:o+4], the short way round."""
    dot = a[i] * b[j] + a[i + 1] * b[j + 1] + a[i + 2] * b[j + 2] + a[i + 3] * b[j + 3]
    rest, part = 1.0 - share, share if dot >= 0.0 else -share
    p, q = rest * a[i] + part * b[j], rest * a[i + 1] + part * b[j + 1]
    r, s = rest * a[i + 2] + part * b[j + 2], rest * a[i + 3] + part * b[j + 3]
    scale = 1.0 / math.sqrt(p * p + q * q + r * r + s * s)
    out[o], out[o + 1], out[o + 2], out[o + 3] = scale * p, scale * q, scale * r, scale * s


@compiled
def world_difference(goal: Any, g: int, start: Any, s: int, out: Any, o: int) -> None:
    """Write the rotation vector, in the world's frame, that turns orientation start[s:] into goal[g:]."""
    r, i, j, k = product(
        goal[g], goal[g + 1], goal[g + 2], goal[g + 3], start[s], -start[s + 1], -start[s + 2], -start[s + 3]
    )
    if r < 0.0:
        r, i, j, k = -r, -i, -j, -k
    square = i * i + j * j + k * k
    if square < 0.01:  # up to 11°: 2·asin(s)/s as a series, to 1e-13
        series = square * (15.0 / 336.0 + square * (105.0 / 3456.0 + square * (945.0 / 42240.0)))
        factor_ = 2.0 * (1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0 + series)))
    else:
        sine = math.sqrt(square)
        factor_ = 2.0 * math.atan2(sine, r) / sine
    out[o], out[o + 1], out[o + 2] = factor_ * i, factor_ * j, factor_ * k


@compiled
def turn(rotation: Any, r: int, quat: Any, q: int, scratch: Any, t: int) -> None:
    """Turn orientation quat[q:q+4], in place, by the world-frame rotation vector rotation[r:r+3]."""
    scratch[t], scratch[t + 1], scratch[t + 2], scratch[t + 3] = exponential(
        rotation[r], rotation[r + 1], rotation[r + 2]
    )
    multiply_quaternions(scratch, t, quat, q, quat, q)
