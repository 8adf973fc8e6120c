"""A search for what to ask a body for beside its clip, under the same little help, so that it ends as the clip does.

Window by window: from each of the best states so far a body goes on with some vectors drawn at random (one of them
none), and is compared with its clip at the window's end; the best of these go on without anything for a moment more,
for what a window is worth is often told by the next one. The best states of all are kept. That is sampling-based
control (Liu, Yin, van de Panne, Shao and Xu 2010, "Sampling-based contact-rich motion control") over the servo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import mujoco
import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.control.servo.memory import ServoTargets, hip_height
from stunt.drive.beats.spec import Script
from stunt.drive.body.actor import BodyActor
from stunt.drive.body.reactions import DOWN
from stunt.drive.prepare.aside import WINDOW, AskedBeside
from stunt.errors import BlowUpError
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches
from stunt.script.performance import Performance

KEPT: Final = 10
"""States that go on after each window."""
DRAWN: Final = 60
"""Vectors drawn in each window, over all states."""
LOOK: Final = 0.25
"""How much longer the better ones go on without anything [s]."""
LONGEST: Final = 15.0
"""No clip longer than this is searched for [s]."""
MOST: Final = 3.0
"""Nothing is asked for beyond so many of its spreads."""
# What is as bad as one spread's worth: bones turned, on the mean, seen from the root, and in the world [rad], the root
# [rad], heights and places of the middle of mass [m], its velocity [m/s], and spin about it [rad/s], of a whole body.
_BONES, _POSE, _ROOT, _HEIGHT, _PLACE, _SPEED, _SPIN = 0.07, 0.15, 0.15, 0.05, 0.3, 0.55, 1.0
_PRICE = 0.03  # of a spread asked for, squared
_PAST, _NEXT = 0.4, 0.5  # how much the window before counts, and the moment after
_CLEAR, _FLIES, _PUSH = 0.04, 0.12, 0.12  # so high [m] and so long [s] is a flight; before it the ground is left [s]
_LOST = 500.0  # what it costs to be down
_ENDS = 0.04  # so long before its end the clip is looked at last [s]
_HIPS, _ACROSS = 0.9, 0.25  # height of a grown-up's hips, and how far its mass is from its middle [m]


@dataclass(frozen=True, eq=False)
class _Tried:
    """A state on the way.

    Attributes:
        worth: What it costs, all told.
        plan: What was asked for, (windows, n).
        state: The stage's.
    """

    worth: float
    plan: Floats
    state: Any


class BesideSearch:
    """One search.

    Attributes:
        possible: Whether there is a clip to search for, not too long, and a body with parts that can be asked.
        trials: Windows that were played so far.
    """

    def __init__(self, script: Script, name: str, seed: int = 0) -> None:
        """Put a script on a stage.

        Args:
            script: Where one character follows a clip.
            name: Who.
            seed: Of what is drawn.
        """
        self._stage = Performance(script, record_hz=1.0, foretell=False).stage
        self._body: BodyActor = self._stage.actors[name]
        self._stage.advance(1)
        self._asked = AskedBeside(self._stage.model, self._body.character)
        self._rng, self.trials = np.random.default_rng(seed), 0
        self._before: Floats | None = None
        rows, motion, control = self._body.rows, self._body.motion, self._stage.scene.control_hz
        self.possible = rows is not None and motion is not None and self._asked.size > 0 and motion.duration <= LONGEST
        if self.possible and rows is not None and motion is not None:
            self._rows, self._begin = rows, self._stage.save()
            self._clip = _Course(self._stage.model, self._body, rows, motion.duration)
            self._last = round((motion.duration - _ENDS) * control) * self._stage.steps_per_control

    def find(self, before: Floats | None = None) -> Floats | None:
        """Return the best plan, (windows, n); None where nobody is up at the end, or nothing can be asked for.

        Args:
            before: What an earlier search found: it is gone on from there.
        """
        if not self.possible:
            return None
        best = [_Tried(0.0, np.zeros((0, self._asked.size)), self._begin)]
        self._before = before
        control = round(self._stage.scene.control_hz * WINDOW) * self._stage.steps_per_control
        for window in range(-(-self._last // control)):
            until = min((window + 1) * control, self._last)
            found = sorted((one for start in best for one in self._from(start, until, DRAWN // len(best))), key=_worth)
            if not found:
                return None
            ahead = ((self._ahead(one), one) for one in found[: 3 * KEPT])
            best = [one for _, one in sorted(ahead, key=lambda pair: pair[0])[:KEPT]]
        return best[0].plan

    def _from(self, start: _Tried, until: int, count: int) -> list[_Tried]:
        """Return what comes of a state by the end of a window, with so many vectors."""
        found = []
        for number in range(count):
            plan = np.concatenate([start.plan, self._drawn(start.plan, number)[None]])
            cost = self._played(start.state, plan, until)
            if cost < _LOST:
                cost += _PAST * start.worth + _PRICE * float(((plan[-1] / self._asked.spread) ** 2).sum())
                found.append(_Tried(cost, plan, self._stage.save()))
        return found

    def _ahead(self, one: _Tried) -> float:
        """Return what a state costs with the moment after it."""
        tick = round(LOOK * self._stage.scene.control_hz) * self._stage.steps_per_control
        return one.worth + _NEXT * self._played(one.state, one.plan, tick, more=True)

    def _played(self, state: Any, plan: Floats, until: int, *, more: bool = False) -> float:
        """Go on from a state with a plan up to a tick, or by so many; return what is wrong then."""
        stage, body = self._stage, self._body
        stage.restore(state)
        until = min(stage.tick + until, self._last) if more else until
        body.change_rows(self._asked.beside(self._rows, plan))
        self.trials += 1
        try:
            if until > stage.tick:
                stage.advance(until - stage.tick)
        except BlowUpError:
            return _LOST
        return _LOST if body.rows is None or body.said == DOWN else self._clip.off(stage.time - body.started)

    def _drawn(self, plan: Floats, number: int) -> Floats:
        """Draw a vector: nothing, what was found before, or half of the body's parts at random around either."""
        rng, spread, found = self._rng, self._asked.spread, self._before
        known = np.zeros(len(spread)) if found is None or len(found) <= len(plan) else found[len(plan)]
        if number < 2:
            return np.asarray((0.0, 1.0)[number] * known)
        vector = rng.choice([0.0, 0.5, 0.8, 1.0]) * known
        if found is None and len(plan) and rng.random() < 0.7:
            vector = 0.5 * plan[-1]
        used = rng.random(self._asked.group[-1] + 1) < 0.5
        wide = rng.choice([0.3, 0.6, 1.0, 1.5] if found is None else [0.15, 0.3, 0.6, 1.0])
        noise = spread * rng.normal(size=len(spread)) * used[self._asked.group] * wide
        if len(self._asked.thrusts) > 1 and rng.random() < 0.5:  # legs are often stretched alike
            noise[self._asked.thrusts] = noise[self._asked.thrusts[0]]
        return np.asarray(np.clip(vector + noise, -MOST * spread, MOST * spread))


def _worth(one: _Tried) -> float:
    return one.worth


def _lowest(model: mujoco.MjModel, data: mujoco.MjData, geoms: NDArray[np.int64]) -> float:
    """Return how high the lowest point of the boxes around geoms is [m]."""
    down = data.geom_xmat[geoms].reshape(-1, 3, 3)[:, 2]
    middles = data.geom_xpos[geoms, 2] + (down * model.geom_aabb[geoms, :3]).sum(axis=1)
    return float((middles - (np.abs(down) * model.geom_aabb[geoms, 3:]).sum(axis=1)).min())


class _Course:
    """What a clip's body does: its bones in the world, the middle of mass, its velocity, and the spin about it."""

    def __init__(self, model: mujoco.MjModel, body: BodyActor, rows: ServoTargets, seconds: float) -> None:
        """Go through a clip's rows, so many seconds."""
        self._data, self._fps = body.stage.data, rows.fps
        self._model, self._root = model, body.character.root_body
        count = min(len(rows.path), round(seconds * rows.fps) + 1)
        frames = np.concatenate([rows.path[:count], rows.turns[:count, 0], rows.qpos[:count]], axis=1)
        self._asked = (rows.turns if rows.asked is None else rows.asked)[:count, 1:]
        own, self._bones = body.slices[0], slice(self._root, self._root + rows.turns.shape[1])
        masses = np.sqrt(model.body_mass[self._bones])
        self._shares = masses / masses.sum()
        self._size = hip_height(model, own.start) / _HIPS
        self._inertia = body.character.mass * (_ACROSS * self._size) ** 2
        data, before, after = mujoco.MjData(model), model.qpos0.copy(), model.qpos0.copy()
        speeds = np.zeros((count, model.nv))
        for k in range(count):
            one, two = max(k - 1, 0), min(k + 1, count - 1)
            before[own], after[own] = frames[one], frames[two]
            if two > one:
                mujoco.mj_differentiatePos(model, speeds[k], (two - one) / rows.fps, before, after)
        speeds = scipy.ndimage.gaussian_filter1d(speeds, 0.012 * rows.fps, axis=0, mode="nearest")
        geoms = np.array([geom for geom in sorted(body.character.geoms) if model.geom_contype[geom]])
        lowest = np.zeros(count)
        self._turns, self._whole = np.zeros((count, rows.turns.shape[1], 4)), np.zeros((count, 9))
        for k in range(count):
            data.qpos[own], data.qvel[:] = frames[k], speeds[k]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            self._turns[k], self._whole[k] = data.xquat[self._bones], self._as_whole(data)
            lowest[k] = _lowest(model, data, geoms)
        for start, end in stretches(lowest - body.floor > _CLEAR):
            if end - start >= _FLIES * rows.fps and 0 < start and end < count:
                self._fly(start, end, round(_PUSH * rows.fps))

    def _fly(self, start: int, end: int, push: int) -> None:
        """Make a flight one: from where it leaves the ground to where it lands a fall, with one spin all the way.

        Captures are made of poses: their middle of mass hovers, and their spin swells in the air. A body that leaves
        the ground as such a clip does turns too slowly. What the flight takes has to be there before that.
        """
        whole, seconds = self._whole, (end - start) / self._fps
        times = np.arange(end - start + 1)[:, None] / self._fps
        fall = self._model.opt.gravity
        leaves = whole[start, :3].copy()
        speed = (whole[end, :3] - leaves) / seconds - 0.5 * fall * seconds
        spin = whole[start:end, 6:].mean(axis=0)
        whole[start : end + 1, :3] = leaves + speed * times + 0.5 * fall * times**2
        whole[start : end + 1, 3:6] = speed + fall * times
        whole[start:end, 6:] = spin
        first = max(start - push, 0)
        share = np.linspace(0.0, 1.0, start - first + 1)[:-1, None]
        whole[first:start, 3:] += share * (np.concatenate([speed, spin]) - whole[first:start, 3:])

    def _as_whole(self, data: mujoco.MjData) -> Floats:
        mujoco.mj_subtreeVel(self._model, data)
        root = self._root
        return np.concatenate([data.subtree_com[root], data.subtree_linvel[root], data.subtree_angmom[root]])

    def off(self, time: float) -> float:
        """Return how far the body is from its clip at a time of it [s]."""
        k = min(max(round(time * self._fps), 0), len(self._turns) - 1)
        turns = self._data.xquat[self._bones]
        angles = 2.0 * np.arccos(np.abs((turns * self._turns[k]).sum(axis=-1)).clip(0.0, 1.0))
        apart = self._as_whole(self._data) - self._whole[k]
        apart[6:] /= self._inertia
        apart[:3] /= self._size
        apart[3:6] /= np.sqrt(self._size)
        seen = rotations.multiply(rotations.conjugate(turns[0]), turns[1:])
        bones = 2.0 * np.arccos(np.abs((seen * self._asked[k]).sum(axis=-1)).clip(0.0, 1.0))
        cost = (
            (bones.mean() / _BONES) ** 2
            + (self._shares * angles**2).sum() / _POSE**2
            + angles[0] ** 2 / _ROOT**2
            + apart[2] ** 2 / _HEIGHT**2
        )
        cost += (apart[:2] ** 2).sum() / _PLACE**2 + (apart[3:6] ** 2).sum() / _SPEED**2
        return float(cost + (apart[6:] ** 2).sum() / _SPIN**2)
