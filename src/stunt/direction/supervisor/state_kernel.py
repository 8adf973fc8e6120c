"""Differences and changes of whole states over many frames, compiled (see `layout`)."""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.compiled import compiled

_BLOCK: Final = 16  # so many differences are summed before the sum is looked at

@compiled
def difference_rows(later: Any, earlier: Any, sq: Any, sv: Any, tq: Any, tv: Any, out: Any) -> None:
    """Write the tangent vectors from earlier to later states, row by row; one row of `earlier` serves all."""
    for f in range(out.shape[0]):
        a, b = later[f], earlier[min(f, earlier.shape[0] - 1)]
        for k in range(sq.shape[0]):
            out[f, sv[k]] = a[sq[k]] - b[sq[k]]
        for k in range(tq.shape[0]):
            q, d = tq[k], tv[k]
            w0, x0, y0, z0 = b[q], -b[q + 1], -b[q + 2], -b[q + 3]
            w1, x1, y1, z1 = a[q], a[q + 1], a[q + 2], a[q + 3]
            w = w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1
            x = w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1
            y = w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1
            z = w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1
            if w < 0.0:
                w, x, y, z = -w, -x, -y, -z
            sine = math.sqrt(x * x + y * y + z * z)
            share = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0
            out[f, d], out[f, d + 1], out[f, d + 2] = share * x, share * y, share * z


@compiled
def move_rows(qpos: Any, change: Any, sq: Any, sv: Any, tq: Any, tv: Any, out: Any) -> None:
    """Write states moved by tangent vectors, row by row; one row of `qpos` serves all."""
    for f in range(out.shape[0]):
        a, c = qpos[min(f, qpos.shape[0] - 1)], change[f]
        for k in range(sq.shape[0]):
            out[f, sq[k]] = a[sq[k]] + c[sv[k]]
        for k in range(tq.shape[0]):
            q, d = tq[k], tv[k]
            angle = math.sqrt(c[d] * c[d] + c[d + 1] * c[d + 1] + c[d + 2] * c[d + 2])
            share = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
            w1, x1, y1, z1 = math.cos(0.5 * angle), share * c[d], share * c[d + 1], share * c[d + 2]
            w0, x0, y0, z0 = a[q], a[q + 1], a[q + 2], a[q + 3]
            out[f, q] = w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1
            out[f, q + 1] = w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1
            out[f, q + 2] = w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1
            out[f, q + 3] = w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1


@compiled
def dense_rows(
    frames: Any,
    way: Any,
    nq: int,
    seconds: float,
    factor: int,
    sq: Any,
    sv: Any,
    tq: Any,
    tv: Any,
    change: Any,
    out: Any,
) -> None:
    """Write frames with others between them, along cubic curves through positions and velocities."""
    nv = way.shape[1]
    for f in range(way.shape[0]):
        for k in range(factor):
            s, row = k / factor, f * factor + k
            rest, s2 = 1.0 - s, s * s
            for d in range(nv):
                v0, v1, x1 = frames[f, nq + d], frames[f + 1, nq + d], way[f, d]
                early, late = s * rest * rest * seconds * v0, s2 * (s - 1.0) * seconds * v1
                change[0, d] = early + s2 * (3.0 - 2.0 * s) * x1 + late
                out[row, nq + d] = (
                    6.0 * s * rest * x1 / seconds + (1.0 - 4.0 * s + 3.0 * s2) * v0 + (3.0 * s2 - 2.0 * s) * v1
                )
            move_rows(frames[f : f + 1], change, sq, sv, tq, tv, out[row : row + 1])


@compiled
def relative_turns(turns: Any, above: Any, out: Any) -> None:
    """Write how bodies are turned, seen from others (`above`, by number); the first stays as it is, (F, bodies, 4)."""
    for f in range(turns.shape[0]):
        for n in range(turns.shape[1]):
            a, b = turns[f, above[n]], turns[f, n]
            if n == 0:
                for k in range(4):
                    out[f, 0, k] = b[k]
                continue
            w0, x0, y0, z0 = a[0], -a[1], -a[2], -a[3]
            out[f, n, 0] = w0 * b[0] - x0 * b[1] - y0 * b[2] - z0 * b[3]
            out[f, n, 1] = w0 * b[1] + x0 * b[0] + y0 * b[3] - z0 * b[2]
            out[f, n, 2] = w0 * b[2] - x0 * b[3] + y0 * b[0] + z0 * b[1]
            out[f, n, 3] = w0 * b[3] + x0 * b[2] - y0 * b[1] + z0 * b[0]


@compiled
def write_features(qpos: Any, qvel: Any, sq: Any, sv: Any, tq: Any, tv: Any, out: Any) -> None:
    """Write states without place and heading: rotation vectors, then velocities (see `similarity`)."""
    nv = qvel.shape[1]
    for f in range(qpos.shape[0]):
        q, v = qpos[f], qvel[f]
        for k in range(sq.shape[0]):
            out[f, sv[k]] = q[sq[k]]
        size = math.sqrt(q[3] * q[3] + q[6] * q[6])
        c, s = (q[3] / size, -q[6] / size) if size > 1e-9 else (1.0, 0.0)
        for k in range(tq.shape[0]):
            p, d = tq[k], tv[k]
            w, x, y, z = q[p], q[p + 1], q[p + 2], q[p + 3]
            if k == 0:  # the root: its heading taken out, from the left
                w, x, y, z = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
            if w < 0.0:
                w, x, y, z = -w, -x, -y, -z
            sine = math.sqrt(x * x + y * y + z * z)
            share = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0
            out[f, d], out[f, d + 1], out[f, d + 2] = share * x, share * y, share * z
        for k in range(nv):
            out[f, nv + k] = v[k]
        cos, sin = c * c - s * s, 2.0 * c * s
        out[f, nv], out[f, nv + 1] = cos * v[0] - sin * v[1], sin * v[0] + cos * v[1]


@compiled
def nearest_row(features: Any, here: Any, within: float) -> tuple[int, float]:
    """Return the row with the smallest sum of absolute differences, and that sum; −1 where all exceed `within`."""
    best, least, width = -1, within, here.shape[0]
    for f in range(features.shape[0]):
        row, total, k = features[f], 0.0, 0
        while k < width and total <= least:
            end, part = min(k + _BLOCK, width), 0.0
            for n in range(k, end):
                part += abs(row[n] - here[n])
            total, k = total + part, end
        if total < least or (best < 0 and total <= least):
            best, least = f, total
    return best, least


@compiled
def velocity_rows(qpos: Any, fps: float, sq: Any, sv: Any, tq: Any, tv: Any, steps: Any, out: Any) -> None:
    """Write central differences of frames, one-sided at the ends, (F, nv); `steps` is scratch of (F − 1, nv)."""
    count, nv = qpos.shape[0], steps.shape[1]
    difference_rows(qpos[1:], qpos[:-1], sq, sv, tq, tv, steps)
    for f in range(min(out.shape[0], count)):
        # Both steps around a frame are in frames half a step apart: their mean is good to second order.
        low, high = max(f - 1, 0), min(f, count - 2)
        for d in range(nv):
            out[f, d] = 0.5 * fps * (steps[low, d] + steps[high, d])


@compiled
def start_offsets(
    qpos: Any, qvel: Any, data: Any, pace: Any, sq: Any, sv: Any, tq: Any, tv: Any, off: Any, rate: Any
) -> None:
    """Write by how much a state differs from data and how fast that changes (see `inertial.offsets_at_start`)."""
    difference_rows(qpos, data, sq, sv, tq, tv, off)
    for d in range(rate.shape[1]):
        rate[0, d] = qvel[0, d] - pace[0, d]
    for k in range(tv.shape[0]):
        d = tv[k]
        x, y, z = off[0, d], off[0, d + 1], off[0, d + 2]
        angle = math.sqrt(x * x + y * y + z * z)
        share = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
        # q = c·exp(x) turns at ω_q = exp(x)⁻¹ω_c + J_r(x)·ẋ.
        w, a, b, c = math.cos(0.5 * angle), -share * x, -share * y, -share * z
        p, q, r = pace[0, d], pace[0, d + 1], pace[0, d + 2]
        i, j, m = 2.0 * (b * r - c * q), 2.0 * (c * p - a * r), 2.0 * (a * q - b * p)
        p, q, r = p + w * i + b * m - c * j, q + w * j + c * i - a * m, r + w * m + a * j - b * i
        u, v, s = qvel[0, d] - p, qvel[0, d + 1] - q, qvel[0, d + 2] - r
        half = 0.5 * max(angle, 1e-3)
        third = (1.0 - half / math.tan(half)) / (4.0 * half * half)
        i, j, m = y * s - z * v, z * u - x * s, x * v - y * u
        rate[0, d] = u + 0.5 * i + third * (y * m - z * j)
        rate[0, d + 1] = v + 0.5 * j + third * (z * i - x * m)
        rate[0, d + 2] = s + 0.5 * m + third * (x * j - y * i)


@compiled
def fade_rows(off: Any, rate: Any, fps: float, seconds: float, out: Any) -> None:
    """Write an offset that begins at a rate and ends at rest at zero (see `inertial.fade`), (F, n)."""
    for f in range(out.shape[0]):
        s = min(f / (fps * seconds), 1.0)
        s3 = s * s * s
        value = 1.0 - s3 * (10.0 - 15.0 * s + 6.0 * s * s)
        slope = (s - s3 * (6.0 - 8.0 * s + 3.0 * s * s)) * seconds
        for d in range(out.shape[1]):
            out[f, d] = value * off[0, d] + slope * rate[0, d]


@compiled
def ground_speeds(places: Any, body: int, fps: float, out: Any) -> None:
    """Write how fast a body moves over the ground in every frame [m/s], (F,)."""
    last = places.shape[0] - 1
    for f in range(out.shape[0]):
        low, high = max(f - 1, 0), min(f + 1, last)
        x, y = places[high, body, 0] - places[low, body, 0], places[high, body, 1] - places[low, body, 1]
        out[f] = math.sqrt(x * x + y * y) * fps / max(high - low, 1)
