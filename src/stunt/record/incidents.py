"""What went wrong: whether a character fell and how much it was helped, and when a pose was really there.

It fell where it left its stand without meaning to. Who ducks, dives or rolls means to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.servo.memory import hip_height
from stunt.maths import rotations
from stunt.motion.clips.standing import stretches
from stunt.record.cast import CastJoint, CastMember
from stunt.record.take import Take

FALL_TILT_DEG: Final = 60.0
"""A free root that leans further than this from how it stood at the start has fallen."""
FALL_HEIGHT: Final = 0.5
"""So has one that is below this share of its height at the start."""
_STANDARD_GRAVITY = 9.81
Floats = NDArray[np.float64]


def down(take: Take, where: int, stood: Floats) -> NDArray[np.bool_]:
    """Return in which frames a free root has left its stand, (T,).

    Args:
        take: The performance.
        where: First index of the root in `qpos`.
        stood: How it stands: position [m] and quaternion, (7,).
    """
    height = take.qpos[:, where + 2]
    found = tilt_deg(take.qpos[:, where + 3 : where + 7], stood[3:7]) > FALL_TILT_DEG
    if stood[2] > 0.0:
        found |= height < FALL_HEIGHT * stood[2]
    return found


def tilt_deg(orientation: Floats, stood: Floats) -> Floats:
    """Return the angle between the direction that was up when it stood (4,) and the vertical [°], (T,)."""
    up = np.array([0.0, 0.0, 1.0])
    own_up = rotations.rotate(rotations.conjugate(stood), up)
    now = rotations.rotate(orientation, own_up)
    return np.asarray(np.degrees(np.arctan2(np.linalg.norm(now[:, :2], axis=1), now[:, 2])))


def assistance(take: Take, number: int, about: CastMember, model: mujoco.MjModel) -> dict[str, Any]:
    """Say how much force and torque a character got from outside its body, beyond contacts and pushes.

    Args:
        take: The performance.
        number: Which of the take's characters.
        about: The character, from the take's cast.
        model: The take's model.
    """
    # The first frame was not reached by a step, so nothing could act on the way to it.
    pull = np.linalg.norm(take.assistance[1:, number, :3], axis=1)
    twist = np.linalg.norm(take.assistance[1:, number, 3:], axis=1)
    gravity = float(np.linalg.norm(model.opt.gravity)) or _STANDARD_GRAVITY
    weight = about.mass * gravity
    root = about.root_qpos
    # As the root spring's own limit and meter have it; a fixed root has no hips that could sink.
    height = _centre_height(take, model, about.root_body) if root is None else hip_height(model, root)
    lever = weight * height
    return {
        "root": about.root,
        "force_mean": _mean(pull) / weight,
        "force_peak": float(pull.max(initial=0.0)) / weight,
        "torque_mean": _mean(twist) / lever,
        "torque_peak": float(twist.max(initial=0.0)) / lever,
        "impulse": float(pull @ np.diff(take.time)),
    }


def _centre_height(take: Take, model: mujoco.MjModel, root_body: int) -> float:
    """Return how high the centre of mass is at the start [m], at least a centimetre."""
    data = mujoco.MjData(model)
    data.qpos[:] = take.qpos[0]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return max(float(data.subtree_com[root_body, 2]), 0.01)


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else 0.0


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
    for first, end in stretches(~_upright(take, where)):
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
