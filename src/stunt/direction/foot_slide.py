"""How far standing feet slid: the doctor's measure of a clip, taken of a body that follows one.

A foot stands where the clip says it does (`stunt.motion.standing.planted`: slow, near its lowest, the person up), and
where its sole is on the ground. Of each foot the joint the doctor looks at counts: the ball, or the ankle where there
is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from stunt.direction.ground import Ground
from stunt.direction.motion_rows import Motion, repeated
from stunt.direction.tracker import Tracker
from stunt.motion.other_body import corners
from stunt.motion.retarget import body_parts
from stunt.motion.standing import FootJoints, feet_of, planted_places
from stunt.rotations import Floats

STANDING_GAP: Final = 0.01
"""A sole nearer to the ground than this is on it [m]."""


@dataclass(frozen=True)
class _Foot:
    """One foot: the body whose origin is looked at, and the geoms of its sole."""

    joint: int
    geoms: tuple[int, ...]


def foot_slide(tracker: Tracker, time: Floats, own: Floats) -> float:
    """Return how far standing feet slid over the ground in all [m].

    Args:
        tracker: Who followed.
        time: Times of the frames [s], (T,).
        own: The character's own coordinates in them, (T, nq).
    """
    feet = _feet(tracker)
    if not feet or len(time) < 2:
        return 0.0
    stands = _stance(tracker, feet, time)
    places, low = _places(tracker, feet, own)
    ground = Ground(tracker.stage)
    way = 0.0
    for number in range(len(feet)):
        there = np.array([p[2] - ground.height(p[0], p[1], below=p[2] + 0.2) < STANDING_GAP for p in low[:, number]])
        still = stands[:, number] & there
        steps = np.linalg.norm(np.diff(places[:, number, :2], axis=0), axis=-1)
        way += float(steps[still[1:] & still[:-1]].sum())
    return way


def _feet(tracker: Tracker) -> list[_Foot]:
    model, found = tracker.stage.model, []
    for foot in feet_of(body_parts(tracker.character)).values():
        bodies = (foot.ankle,) if foot.ball is None else (foot.ankle, foot.ball)
        geoms = tuple(geom for geom in tracker.soles if int(model.geom_bodyid[geom]) in bodies)
        if geoms:
            found.append(_Foot(_joint(foot), geoms))
    return found


def _joint(foot: FootJoints) -> int:
    return foot.ankle if foot.ball is None else foot.ball


def _stance(tracker: Tracker, feet: list[_Foot], time: Floats) -> np.ndarray:
    """Return whether each foot stands in what was followed, at every time, (T, feet)."""
    stands = np.zeros((len(time), len(feet)), dtype=bool)
    ends = [*(start for start, *_ in tracker.history[1:]), np.inf]
    for (start, motion, _), end in zip(tracker.history, ends, strict=True):
        now = (time >= start - 1e-9) & (time < end - 1e-9)
        if not now.any():
            continue
        whole = repeated(motion, float(time[now][-1]) - start)
        frames = np.clip(np.round((time[now] - start) * whole.fps).astype(int), 0, len(whole.qpos) - 1)
        stands[now] = _planted(tracker, feet, whole)[frames]
    return stands


def _planted(tracker: Tracker, feet: list[_Foot], motion: Motion) -> np.ndarray:
    places, _ = _places(tracker, feet, motion.qpos)
    height = motion.qpos[:, 2]
    return np.stack([planted_places(places[:, n], height, motion.fps) for n in range(len(feet))], axis=1)


def _places(tracker: Tracker, feet: list[_Foot], own: Floats) -> tuple[Floats, Floats]:
    """Return where each foot's joint is in every frame, and the lowest point of its sole, (T, feet, 3) each."""
    model, data, root = tracker.stage.model, mujoco.MjData(tracker.stage.model), tracker.character.root
    assert root is not None  # only free characters follow clips
    joints, low = np.zeros((len(own), len(feet), 3)), np.zeros((len(own), len(feet), 3))
    for number, frame in enumerate(own):
        data.qpos[root.qpos : root.qpos + len(frame)] = frame
        mujoco.mj_kinematics(model, data)
        for k, foot in enumerate(feet):
            joints[number, k] = data.xpos[foot.joint]
            points = np.concatenate([corners(model, data, geom) for geom in foot.geoms])
            low[number, k] = points[int(points[:, 2].argmin())]
    return joints, low
