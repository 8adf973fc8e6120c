"""Small dense linear algebra and quaternions on flat memory, compiled."""

from __future__ import annotations

import math
from typing import Any

from stunt.maths.compiled import compiled


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


@compiled
def multiply_quaternions(a: Any, i: int, b: Any, j: int, out: Any, o: int) -> None:
    """Write a[i:i+4] ⊗ b[j:j+4] to out[o:o+4]."""
    p, q, r, s = a[i], a[i + 1], a[i + 2], a[i + 3]
    w, x, y, z = b[j], b[j + 1], b[j + 2], b[j + 3]
    out[o] = p * w - q * x - r * y - s * z
    out[o + 1] = p * x + q * w + r * z - s * y
    out[o + 2] = p * y - q * z + r * w + s * x
    out[o + 3] = p * z + q * y - r * x + s * w


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
    a, b, c, d = goal[g], goal[g + 1], goal[g + 2], goal[g + 3]
    w, x, y, z = start[s], -start[s + 1], -start[s + 2], -start[s + 3]
    r = a * w - b * x - c * y - d * z
    i = a * x + b * w + c * z - d * y
    j = a * y - b * z + c * w + d * x
    k = a * z + b * y - c * x + d * w
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
    angle = math.sqrt(rotation[r] ** 2 + rotation[r + 1] ** 2 + rotation[r + 2] ** 2)
    share = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    scratch[t] = math.cos(0.5 * angle)
    for k in range(3):
        scratch[t + 1 + k] = share * rotation[r + k]
    multiply_quaternions(scratch, t, quat, q, quat, q)
