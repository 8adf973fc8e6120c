"""Going over to data from any state, continuous in position and velocity.

What the body is off by when the data begins — in position and in velocity — fades along a quintic to nothing; the data
itself goes on unchanged underneath. Cross-fading two motions would need the old one to go on; a body that was under
forces a moment ago has none.
"""

from __future__ import annotations

import numpy as np

from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.state_kernel import fade_rows, start_offsets
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
    off, rate = np.empty((1, layout.nv)), np.empty((1, layout.nv))
    start_offsets(qpos[None], qvel[None], frame[None], pace[None], *layout.columns, off, rate)
    return off[0], rate[0]


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
    left = np.empty((count, layout.nv))
    fade_rows(off[None], rate[None], fps, seconds, left)
    out = frames.copy()
    out[:count, : layout.nq] = layout.moved(data[:count], left)
    last = min(count + 1, len(frames))
    out[:count, layout.nq :] = layout.velocities(out[:last, : layout.nq], fps)[:count]
    out[0, : layout.nq], out[0, layout.nq :] = qpos, qvel
    return out
