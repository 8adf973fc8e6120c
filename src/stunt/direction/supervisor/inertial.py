"""Going over to data from any state, continuous in position and velocity.

What the body is off by when the data begins — in position and in velocity — fades along a quintic to nothing; the data
itself goes on unchanged underneath. Cross-fading two motions would need the old one to go on; a body that was under
forces a moment ago has none.
"""

from __future__ import annotations

import numpy as np

from stunt import rotations
from stunt.direction.supervisor.layout import Layout
from stunt.rotations import Floats


def fade(offset: Floats, rate: Floats, share: Floats, seconds: float) -> Floats:
    """Return an offset that begins at a rate, without acceleration, and ends at rest at zero.

    Args:
        offset: At the beginning, (n,).
        rate: Its change at the beginning [1/s], (n,).
        share: Of the time, 0 to 1, (F,).
        seconds: How long it takes.

    Returns:
        (F, n).
    """
    s = share[:, None]
    # The quintic with value, slope and curvature given at 0 and all zero at 1.
    value = 1.0 - 10.0 * s**3 + 15.0 * s**4 - 6.0 * s**5
    slope = s - 6.0 * s**3 + 8.0 * s**4 - 3.0 * s**5
    return value * offset + slope * seconds * rate


def offsets_at_start(layout: Layout, qpos: Floats, qvel: Floats, frame: Floats, pace: Floats) -> tuple[Floats, Floats]:
    """Return by how much a state differs from data, and how fast that changes, in the data's tangent space, (nv,) each.

    Args:
        layout: Of the body.
        qpos: Where it is, (nq,).
        qvel: How fast it moves, (nv,).
        frame: Where the data is, (nq,).
        pace: How fast the data moves, (nv,).
    """
    off = layout.difference(qpos, frame)
    rate = qvel - pace
    turned = layout.spins(off)
    back = rotations.conjugate(rotations.from_rotation_vector(turned))
    # q = c·exp(x) turns at ω_q = exp(x)⁻¹ω_c + J_r(x)·ẋ.
    spin = layout.spins(qvel) - rotations.rotate(back, layout.spins(pace))
    layout.put_spins(rate, rate_of_vector(turned, spin))
    return off, rate


def rate_of_vector(vector: Floats, spin: Floats) -> Floats:
    """Return how rotation vectors change under angular velocities in the turning frame: J_r(x)⁻¹ω, (..., 3)."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    safe = np.maximum(angle, 1e-3)
    half = 0.5 * safe
    third = (1.0 - half / np.tan(half)) / safe**2  # 1/12 for small angles
    once = np.cross(vector, spin)
    return np.asarray(spin + 0.5 * once + third * np.cross(vector, once))


def blended_in(layout: Layout, qpos: Floats, qvel: Floats, frames: Floats, fps: float, seconds: float) -> Floats:
    """Return frames that begin in a given state and are the data's own after some seconds.

    Args:
        layout: Of the body.
        qpos: The state it comes from, (nq,).
        qvel: Its velocity, (nv,).
        frames: The data from now on, (F, nq + nv).
        fps: Its frame rate.
        seconds: How long the change takes.
    """
    data, pace = frames[:, : layout.nq], frames[:, layout.nq :]
    count = min(len(frames), round(seconds * fps) + 1)
    off, rate = offsets_at_start(layout, qpos, qvel, data[0], pace[0])
    share = np.minimum(np.arange(count) / max(seconds * fps, 1e-9), 1.0)
    out = frames.copy()
    out[:count, : layout.nq] = layout.moved(data[:count], fade(off, rate, share, seconds))
    last = min(count + 1, len(frames))
    out[:count, layout.nq :] = layout.velocities(out[:last, : layout.nq], fps)[:count]
    out[0, : layout.nq], out[0, layout.nq :] = qpos, qvel
    return out
