"""When a pose was really there: the moment of closest approach around a beat.

Whether a character fell: left its stand without meaning to. Who ducks, dives or rolls means to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stunt.maths import rotations
from stunt.record.cast import CastJoint
from stunt.record.footing import down, tilt_deg
from stunt.record.take import Take

UPRIGHT_DEG: Final = 25.0
UPRIGHT_HEIGHT: Final = 0.85
"""A root that leans less than this and is above this share of its standing height is up; what leads from there to
the ground belongs to one descent."""
Event = Mapping[str, Any]


def time_of_fall(take: Take, name: str) -> float | None:
    """Return when a character fell [s]; None if it did not, or if its root is fixed.

    A character without a supervisor fell when it first left its stand. Under a supervisor going down is a fall only
    where nobody meant it: on the way down somebody was in charge by forces who does not mean to be low, or one who
    does failed, or was interrupted by one who does not. Data goes where it is shown to.
    """
    where = take.cast.character(name).root_qpos
    if where is None:
        return None
    switches = switches_of(take, name)
    low = down(take, where, _stood(take, where, bool(switches)))
    if not switches:
        return float(take.time[np.argmax(low)]) if low.any() else None
    for first, end in _runs(~_upright(take, where)):
        fallen = np.flatnonzero(low[first:end])
        if len(fallen) and (found := _unmeant(take, switches, first, first + int(fallen[0]), end)) is not None:
            return found
    return None


def ends_lying(take: Take, name: str) -> bool:
    """Whether a character's free root is tilted or low in the last frame."""
    where = take.cast.character(name).root_qpos
    return where is not None and bool(down(take, where, _stood(take, where, bool(switches_of(take, name))))[-1])


def switches_of(take: Take, name: str) -> list[Event]:
    """Return the events by which somebody was put in charge of a character; none where it has no supervisor."""
    return [
        event
        for event in take.events
        if event["kind"] == "supervisor" and event.get("event") == "switch" and event.get("character") == name
    ]


def _stood(take: Take, where: int, supervised: bool) -> NDArray[np.float64]:
    """Return how a root stands, (7,): under a supervisor as the body was built, for a clip may begin lying."""
    return np.asarray(take.model().qpos0[where : where + 7] if supervised else take.qpos[0, where : where + 7])


def _upright(take: Take, where: int) -> NDArray[np.bool_]:
    stood = _stood(take, where, True)
    lean = tilt_deg(take.qpos[:, where + 3 : where + 7], stood[3:7])
    return np.asarray((lean < UPRIGHT_DEG) & (take.qpos[:, where + 2] > UPRIGHT_HEIGHT * stood[2]))


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and end of each stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _unmeant(take: Take, switches: Sequence[Event], first: int, fallen: int, end: int) -> float | None:
    """Return when going down from frame `first` on became a fall [s]; it was down at `fallen`, up again at `end`."""
    begins, down_at, up_at = (float(take.time[min(k, len(take.time) - 1)]) for k in (first, fallen, end))
    meant = True
    for event, after in zip(switches, [*switches[1:], None], strict=True):
        until = np.inf if after is None else float(after["time"])
        # What follows a dive that succeeded on the same way down is part of it, whoever catches the body.
        goes_on = meant and float(event["time"]) > begins and (event["cause"], event["ended"]) == ("ended", "succeeded")
        meant = _means_it(event) or goes_on
        if float(event["time"]) <= down_at and until > begins and not meant:
            return down_at
    for event in switches:
        lost = event["ended"] == "failed" or event["cause"] in ("interrupt", "hit", "removed")
        if begins < float(event["time"]) <= up_at and lost and not _means_it(event):
            return max(float(event["time"]), down_at)
    return None


def _means_it(event: Event) -> bool:
    """Whether who was put in charge plays data, or means to be low."""
    return bool(event.get("mode") == "kinematic" or event.get("low", False))


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
