"""When a pose was really there: the moment of closest approach around a beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stunt.maths import rotations
from stunt.record.cast import CastJoint
from stunt.record.take import Take

WINDOW: Final = 0.25
"""How far around a beat its pose is looked for [s]."""
TOLERANCE_DEG: Final = 0.1
"""A beat whose error is within this of the closest approach counts as on time."""
_RESOLUTION = 0.0005  # [s] between the moments looked at
Floats = NDArray[np.float64]


def timing_error_ms(
    take: Take, joints: Mapping[str, CastJoint], beat: Mapping[str, Any], before: float, after: float
) -> float:
    """Return how far from its beat a pose came closest [ms]: negative is early, positive late.

    Args:
        take: The performance.
        joints: The character's joints, from the take's cast.
        beat: The beat's event.
        before: Time of the character's beat before it (0 where there is none) [s].
        after: Time of the one after it (infinite where there is none) [s].
    """
    targets = {name: target for name, target in beat.get("targets", {}).items() if name in joints}
    if not targets or take.time.size < 2:
        return 0.0
    due = float(beat["time"])
    times = _moments(take, due, before, after)
    if not times.size:
        return 0.0
    errors = np.max([_errors(take, joints[name], targets[name], times) for name in targets], axis=0)
    closest = int(np.argmin(errors))
    if float(beat["error_deg"]) <= errors[closest] + TOLERANCE_DEG:
        return 0.0
    return float(1000.0 * (times[closest] - due))


def _moments(take: Take, due: float, before: float, after: float) -> Floats:
    """Return the times to look at, the beat's own among them, nearer to it than to any other beat."""
    first = max(due - WINDOW, (before + due) / 2.0, float(take.time[0]))
    last = min(due + WINDOW, (due + after) / 2.0, float(take.time[-1]))
    early = np.arange(0.0, max(due - first, 0.0) + 1e-9, _RESOLUTION)
    late = np.arange(_RESOLUTION, max(last - due, 0.0) + 1e-9, _RESOLUTION)
    times: Floats = np.concatenate([due - early[::-1], due + late])
    return np.asarray(times[times <= take.time[-1] + 1e-9])


def _errors(take: Take, joint: CastJoint, target: Any, times: Floats) -> Floats:
    """Return how far a joint is from its target at each time [° or mm], (K,)."""
    if joint.kind == "ball":
        return _ball_errors(take, joint.qpos, target, times)
    scale = 1000.0 if joint.kind == "slide" else np.degrees(1.0)
    here = _between(take.time, take.qpos[:, joint.qpos], take.qvel[:, joint.dof], times)
    return np.asarray(scale * np.abs(here - float(target)))


def _between(frames: Floats, position: Floats, velocity: Floats, times: Floats) -> Floats:
    """Interpolate cubically: a straight line between frames would be off by more than the tolerance in a fast swing."""
    frame = np.clip(np.searchsorted(frames, times, side="right") - 1, 0, frames.size - 2)
    step = frames[frame + 1] - frames[frame]
    s = (times - frames[frame]) / step
    start = (1 + 2 * s) * (1 - s) ** 2 * position[frame] + s * (1 - s) ** 2 * step * velocity[frame]
    end = s**2 * (3 - 2 * s) * position[frame + 1] + s**2 * (s - 1) * step * velocity[frame + 1]
    return np.asarray(start + end)


def _ball_errors(take: Take, qpos: int, target: Any, times: Floats) -> Floats:
    missing = rotations.to_rotation_vector(
        rotations.multiply(rotations.conjugate(target), take.qpos[:, qpos : qpos + 4])
    )
    axes = [np.interp(times, take.time, missing[:, axis]) for axis in range(3)]
    return np.asarray(np.degrees(np.linalg.norm(axes, axis=0)))
