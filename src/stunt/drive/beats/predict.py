"""Where joints will be if their beats are met: what throws aim by, and what balance has to be ready for.

Under the beat law a joint's way is the same whatever happens but disturbances: following the law in steps of the
programme's period gives the very motion a body on its own feet will be asked for. Ball joints go along the shortest
turn between their keys. Legs that stand have to be on time too, but nobody asks them to be quick at first: theirs is
the smoothest way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Joint
from stunt.control.beat.law import TIME_CONSTANTS, approach, minimum_effort
from stunt.control.core.full_coupling import LANDING
from stunt.control.core.goals import hinge_error, time_constant
from stunt.drive.beats.forecast import minimum_jerk_path
from stunt.drive.beats.spec import ResolvedBeat, Script, resolve_beats
from stunt.maths import rotations
from stunt.maths.compiled import compiled
from stunt.maths.rotations import Floats
from stunt.motion.minimum_jerk import BallMinimumJerk, MinimumJerk
from stunt.stage.loop import StageLoop


class Foresight:
    """Predicts `qpos` at a later time, along minimum-jerk paths from now through the keys that are ahead."""

    def __init__(self, stage: StageLoop, script: Script) -> None:
        """Keep the script's beats.

        Args:
            stage: The stage; its state at the time of a call is where predictions start.
            script: Whose beats are expected to be met.
        """
        self._stage = stage
        self._beats = {name: resolve_beats(part) for name, part in script.parts.items() if part.beats}

    def __call__(self, character: str, time: float) -> NDArray[np.float64]:
        """Return the whole model's positions at `time`, with this character moved, (nq,)."""
        stage = self._stage
        now = stage.time
        ahead: Sequence[ResolvedBeat] = [b for b in self._beats.get(character, ()) if b.time > now + 1e-9]
        if not ahead or time <= now:
            return stage.data.qpos.copy()
        path = minimum_jerk_path(stage.character(character), stage.data.qpos, stage.data.qvel, ahead, start=now)
        index = int(np.argmin(np.abs(path.time - time)))
        return path.qpos[index].copy()


@compiled
def follow_keys(
    state: Any, keys: Any, limits: Any, ease: float, hold: float, effort: bool, begin: float, period: float, out: Any
) -> None:  # fmt: skip
    """Write where a degree of freedom is at each step, heading for one key after another.

    Args:
        state: Position, velocity, and the goal it holds until it sets out, (3,).
        keys: Of each key when it sets out at the earliest, when it is due [s], where, and how fast, (n, 4).
        limits: Of the joint, (2,).
        ease: Share of each approach over which its acceleration is gathered.
        hold: Time constant of a hold [s].
        effort: Whether it arrives with least effort.
        begin: When the first step is [s].
        period: Length of a step [s].
        out: Positions, (steps,).
    """
    q, w, goal = state[0], state[1], state[2]
    number, count, set_out = 0, len(keys), begin
    for k in range(len(out)):
        out[k] = q
        time = begin + k * period
        while number < count and keys[number, 1] <= time + 1e-9:
            goal, set_out = keys[number, 2], keys[number, 1]
            number += 1
        heading = number < count and keys[number, 0] <= time + 1e-9
        if not heading:
            urge = approach(goal - q, -w, hold, period)
        else:
            due = keys[number, 1]
            left, first = due - time, max(set_out, keys[number, 0])
            if (effort and left > 1e-9) or 0.999 * period < left < LANDING * period:
                urge = minimum_effort(keys[number, 2] - q, w, keys[number, 3], left, period)
            else:
                _, error, rate = hinge_error(q, w, keys[number, 2], keys[number, 3], left, limits[0], limits[1])
                urge = approach(error, rate, time_constant(time, due, hold, period, TIME_CONSTANTS), period)
            urge *= min(1.0, (time - first + period) / max(ease * (due - first), 1e-9))
        w += period * urge
        q += period * w


def joint_way(
    joint: Joint, qpos: Floats, speed: float, goal: Floats, keys: list[Any], how: tuple[float, float, bool],
    begin: float, period: float, steps: int,
) -> Floats:  # fmt: skip
    """Return where a joint will be, (steps, nq).

    Args:
        joint: Which.
        qpos: Where it is, (nq,).
        speed: How fast; of ball joints that is left out [rad/s, m/s].
        goal: What it holds, (nq,).
        keys: `Key` of each beat it has ahead, in order.
        how: Ease, time constant of holds [s], and whether it arrives with least effort.
        begin: Now [s].
        period: Length of a step [s].
        steps: How many.
    """
    ball, (ease, hold, effort) = joint.kind == "ball", how
    table = np.array([(key.start, key.time, n + 1.0, 0.0) if ball else (key.start, key.time, key.angle, key.velocity)
                      for n, key in enumerate(keys)], float).reshape(-1, 4)  # fmt: skip
    limits = np.array(joint.range if joint.range is not None and not ball else (-math.inf, math.inf), float)
    state = np.array([0.0, 0.0, 0.0] if ball else [qpos[0], speed, goal[0]])
    out = np.zeros(steps)
    follow_keys(state, table, limits, ease, hold, effort, begin, period, out)
    if not ball:
        return out[:, None]
    turns = np.array([qpos, *(key.angle for key in keys)], float)
    first = np.clip(out.astype(int), 0, max(len(turns) - 2, 0))
    return np.asarray(rotations.slerp(turns[first], turns[np.minimum(first + 1, len(turns) - 1)], out - first))


def smooth_way(
    joint: Joint, qpos: Floats, speed: Floats, keys: list[Any], begin: float, period: float, steps: int
) -> Floats:
    """Return where a joint will be that takes the smoothest way (minimum jerk) from key to key, (steps, nq)."""
    times = begin + period * np.arange(steps)
    out = np.tile(np.asarray(qpos, float), (steps, 1))
    kind, since, place, pace = BallMinimumJerk if joint.kind == "ball" else MinimumJerk, begin, qpos, speed
    for key in keys:
        if key.start > since:
            since, pace = key.start, np.zeros(joint.nv)
        goal, velocity = np.atleast_1d(np.asarray(key.angle, float)), np.atleast_1d(np.asarray(key.velocity, float))
        on_way = (times >= since - 1e-9) & (times <= key.time)
        if on_way.any():
            out[on_way] = kind.between(since, place, pace, key.time, goal, velocity).at(times[on_way]).position
        out[times > key.time] = goal
        since, place, pace = key.time, goal, velocity
    return out
