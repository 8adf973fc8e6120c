"""A take at the times an export wants: positions between recorded frames, and where that puts every body."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.errors import ExportError
from stunt.export.options import Options
from stunt.record.take import Take

Floats = NDArray[np.float64]
MOST_FRAMES = 5_000_000
"""No export has more: eleven hours at 120 frames a second."""
_SAME = 1e-6  # A wanted time this close to a recorded one is that one [s].


@dataclass(frozen=True, eq=False)
class SampledTake:
    """A take at steady times. F frames."""

    model: mujoco.MjModel  #: The model that performed
    fps: float  #: Frames per second
    times: Floats  #: When, in the take's time [s], (F,)
    qpos: Floats  #: Positions, (F, nq)
    positions: Floats  #: Where the bodies are in the world [m], (F, nbody, 3)
    rotations: Floats  #: How they are turned, (F, nbody, 4)


def sample(take: Take, options: Options, fps: float) -> SampledTake:
    """Return a take at a steady rate, within the range asked for.

    Args:
        take: The take.
        options: Which range.
        fps: The rate, unless the options name one.
    """
    rate = fps if options.fps is None else options.fps
    return _motion(take, frame_times(take, options, rate), rate)


def as_recorded(take: Take, options: Options) -> SampledTake:
    """Return a take's own frames within the range asked for; at a steady rate where the options name one."""
    rate = recorded_rate(take)
    if options.fps is not None:
        return sample(take, options, rate)
    first, last = options.start or 0.0, np.inf if options.end is None else options.end
    chosen = (take.time >= first - _SAME) & (take.time <= last + _SAME)
    if not chosen.any():  # between two frames
        return sample(take, options, rate)
    return _motion(take, take.time[chosen], rate)


def _motion(take: Take, times: Floats, rate: float) -> SampledTake:
    model = take.model()
    qpos = positions_at(model, take, times)
    places, turns = _follow(model, qpos)
    return SampledTake(model, rate, times, qpos, places, turns)


def frame_times(take: Take, options: Options, fps: float) -> Floats:
    """Return the times of an export's frames [s], (F,): from its start, as many as fit before its end."""
    first = max(float(take.time[0]), options.start or 0.0)
    last = float(take.time[-1]) if options.end is None else min(float(take.time[-1]), options.end)
    count = int(np.floor((last - first) * fps + 1e-6)) + 1
    if count > MOST_FRAMES:
        raise ExportError(f"{count} frames are more than the {MOST_FRAMES} that are written; ask for fewer a second.")
    return first + np.arange(max(count, 1)) / fps


def recorded_rate(take: Take) -> float:
    """Return how many frames a second the take has [Hz]; 60 where a single frame does not tell."""
    if take.time.size < 2:
        return 60.0
    rate = 1.0 / float(np.median(np.diff(take.time)))
    return round(rate) if abs(rate - round(rate)) < 1e-3 else rate


def positions_at(model: mujoco.MjModel, take: Take, times: Floats) -> Floats:
    """Return the positions at times [s], (F, nq).

    Between two frames the way is the cubic that leaves and arrives with the recorded velocities, in the tangent space
    of the first, so that hinges, balls and free roots are alike.
    """
    low, share = _between(take.time, times)
    qpos = take.qpos[low].copy()
    step, way, moved = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nq)
    for frame in np.flatnonzero(share > 0.0):
        a, s = low[frame], share[frame]
        seconds = float(take.time[a + 1] - take.time[a])
        mujoco.mj_differentiatePos(model, way, 1.0, take.qpos[a], take.qpos[a + 1])
        step[:] = s * s * (3.0 - 2.0 * s) * way
        step += seconds * (s * (1.0 - s) ** 2 * take.qvel[a] - s * s * (1.0 - s) * take.qvel[a + 1])
        moved[:] = take.qpos[a]
        mujoco.mj_integratePos(model, moved, step, 1.0)
        qpos[frame] = moved
    return qpos


def rows_at(take: Take, rows: Floats, times: Floats) -> Floats:
    """Return recorded rows (T, …) at times [s], straight between frames, (F, …)."""
    low, share = _between(take.time, times)
    high = np.minimum(low + 1, len(rows) - 1)
    share = share.reshape(-1, *[1] * (rows.ndim - 1))
    return np.asarray(np.where(share > 0.0, (1.0 - share) * rows[low] + share * rows[high], rows[low]))


def _between(recorded: Floats, times: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the frame before each time and the share of the way to the next; 0 where a frame is right there."""
    low = np.clip(np.searchsorted(recorded, times + _SAME, side="right") - 1, 0, max(recorded.size - 2, 0))
    if recorded.size < 2:
        return np.zeros(len(times), np.int64), np.zeros(len(times))
    share = np.clip((times - recorded[low]) / (recorded[low + 1] - recorded[low]), 0.0, 1.0)
    share[np.abs(times - recorded[low]) <= _SAME] = 0.0
    there = np.abs(times - recorded[low + 1]) <= _SAME
    return np.asarray(low + there, np.int64), np.where(there, 0.0, share)


def _follow(model: mujoco.MjModel, qpos: Floats) -> tuple[Floats, Floats]:
    data = mujoco.MjData(model)
    places, turns = np.empty((len(qpos), model.nbody, 3)), np.empty((len(qpos), model.nbody, 4))
    for frame, row in enumerate(qpos):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        places[frame], turns[frame] = data.xpos, data.xquat
    return places, turns
